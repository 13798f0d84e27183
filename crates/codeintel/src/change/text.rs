//! What a change reaches as plain text.

use std::fmt::Write;

use serde_json::Value;
use wire::excerpt::write_heading;
use wire::layout::Layout;

use super::{ChangeFound, Place};
use crate::uses::Count;

/// How the answer is written.
pub const LAYOUT: Layout<'static> = Layout::read_as("change", text);

fn text(value: &Value) -> String {
    match serde_json::from_value::<ChangeFound>(value.clone()) {
        Ok(found) => written(&found),
        // An answer that is not modified says only that.
        Err(_) => value.to_string(),
    }
}

fn written(found: &ChangeFound) -> String {
    let mut out = String::new();
    let _ = match &found.note {
        Some(note) => writeln!(out, "changes {} ({note})", found.changed_total),
        None => writeln!(out, "changes {}", found.changed_total),
    };
    for changed in &found.changed {
        heading(&mut out, changed);
    }
    more(&mut out, found.changed_total, found.changed.len(), "");
    let mut kind = "";
    for follower in &found.followers {
        if follower.kind != kind {
            let _ = writeln!(out, "\n{}", follower.kind);
            kind = &follower.kind;
        }
        let place = &follower.place;
        let lines: Vec<String> = follower.lines.iter().map(u32::to_string).collect();
        let of = match follower.of.is_empty() {
            true => String::new(),
            false => format!("  of {}", follower.of),
        };
        let mut line = String::new();
        heading(&mut line, place);
        let _ = writeln!(out, "{}  at {}{of}", line.trim_end(), lines.join(","));
    }
    more(
        &mut out,
        found.followers_total,
        found.followers.len(),
        &listed(&found.left_out),
    );
    if !found.further.is_empty() {
        let _ = writeln!(out, "\nfurther, who uses those: {}", listed(&found.further));
    }
    if !found.tests.is_empty() {
        let _ = writeln!(out, "\ntests in {} files: {}", found.tests_total, found.tests.join(" "));
        more(&mut out, found.tests_total, found.tests.len(), "");
    }
    if !found.untested.is_empty() {
        let _ = writeln!(out, "no test reaches: {}", found.untested.join(", "));
    }
    for command in &found.commands {
        let _ = writeln!(out, "run: {}", command.command);
    }
    for account in &found.accounts {
        let _ = writeln!(out, "account: {account}");
    }
    if let Some(incomplete) = &found.incomplete {
        let _ = writeln!(out, "incomplete: {incomplete}");
    }
    if found.changed_total == 0 {
        let _ = writeln!(out, "next: nothing changes: name symbols, or a base to compare with");
        return out;
    }
    out.push_str(match found.followers.is_empty() {
        true => "next: nothing outside of tests is known to follow",
        false => "next: edit who must follow",
    });
    if found.in_doubt > 0 {
        let _ = write!(out, ", judge the {} unresolved (`uses` lists them)", found.in_doubt);
    }
    out.push_str(match found.commands.is_empty() {
        true => "\n",
        false => ", then run the command above\n",
    });
    out
}

fn heading(out: &mut String, place: &Place) {
    match place.name.is_empty() {
        true => {
            let _ = writeln!(out, "{}", place.path);
        }
        false => write_heading(out, &place.path, place.first, place.last, &place.name),
    }
}

fn more(out: &mut String, total: u64, shown: usize, folders: &str) {
    let left = total.saturating_sub(shown as u64);
    if left > 0 {
        let _ = writeln!(
            out,
            "left out: {left}{}{folders}",
            if folders.is_empty() { "" } else { ": " }
        );
    }
}

fn listed(counts: &[Count]) -> String {
    let each: Vec<String> = counts
        .iter()
        .map(|count| format!("{} {}", count.of, count.count))
        .collect();
    each.join(", ")
}
