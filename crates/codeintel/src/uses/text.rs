//! The uses of a symbol as plain text: kind by kind, file by file, every place as a numbered line below the function around it.

use std::fmt::Write;

use serde_json::Value;
use wire::excerpt::write_heading;
use wire::layout::Layout;

use super::{Count, UsesFound};

/// How the answer is written.
pub const LAYOUT: Layout<'static> = Layout::read_as("uses", text);

/// Kinds whose lines say nothing that their place does not.
const BARE: &[&str] = &["imports"];

/// Up to so many places, the functions around them are told with their ranges.
const MOST_WITH_RANGES: usize = 20;

fn text(value: &Value) -> String {
    match serde_json::from_value::<UsesFound>(value.clone()) {
        Ok(found) => written(&found),
        // An answer that is not modified says only that.
        Err(_) => value.to_string(),
    }
}

fn written(found: &UsesFound) -> String {
    let mut out = String::new();
    write_heading(&mut out, &found.path, found.first, found.last, &found.name);
    if !found.also_named.is_empty() {
        let _ = writeln!(out, "also named so: {}", found.also_named.join(", "));
    }
    if let Some(note) = &found.note {
        let _ = writeln!(out, "{note}");
    }
    let is_long = found.uses.len() > MOST_WITH_RANGES;
    let mut kind = "";
    let (mut path, mut within) = ("", ("", 0));
    for row in &found.uses {
        if row.kind != kind {
            let count = found.counts.iter().find(|count| count.of == row.kind);
            let _ = writeln!(out, "\n{} {}", row.kind, count.map_or(0, |count| count.count));
            kind = &row.kind;
            (path, within) = ("", ("", 0));
        }
        if BARE.contains(&kind) {
            let _ = writeln!(out, "{}:{}", row.path, row.line);
            continue;
        }
        // The file once; further functions of it by their lines.
        let is_new_file = row.path != path;
        let is_new_function = is_new_file || (row.within.as_str(), row.first) != within;
        path = &row.path;
        within = (&row.within, row.first);
        let is_named = is_new_function && !row.within.is_empty();
        if is_new_file && is_long || is_new_function && !is_named {
            let _ = writeln!(out, "{path}");
        }
        if is_named && !is_long {
            let shown = if is_new_file { path } else { "" };
            write_heading(&mut out, shown, row.first, row.last, &row.within);
        }
        let _ = match is_named && is_long {
            true => write!(out, "{}\t{}: {}", row.line, row.within, row.text),
            false => write!(out, "{}\t{}", row.line, row.text),
        };
        if row.times > 1 {
            let _ = write!(out, "  (×{})", row.times);
        }
        if row.likely {
            out.push_str("  (likely)");
        }
        out.push('\n');
    }
    out.push('\n');
    if found.uses.is_empty() {
        out.push_str("no such use\n");
    }
    if found.folded_tests > 0 {
        let _ = writeln!(
            out,
            "tests {}, folded (tests=true lists them): {}",
            found.folded_tests,
            listed(&found.test_files)
        );
    }
    if found.truncated {
        let _ = writeln!(out, "left out: {}", listed(&found.left_out));
    }
    if let Some(account) = &found.account {
        let _ = writeln!(out, "account: {}", account.to_line());
    }
    let _ = writeln!(out, "next: {}", found.next);
    out
}

fn listed(counts: &[Count]) -> String {
    let each: Vec<String> = counts
        .iter()
        .map(|count| format!("{} {}", count.of, count.count))
        .collect();
    each.join(", ")
}
