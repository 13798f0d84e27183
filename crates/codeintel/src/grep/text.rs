//! Matching lines as plain text, below the definition around them.

use std::fmt::Write;

use serde_json::Value;
use wire::excerpt::write_heading;
use wire::layout::Layout;

use super::{GrepFound, Match, Shows};
use crate::uses::Count;

/// How the answer is written.
pub const LAYOUT: Layout<'static> = Layout::read_as("grep", text);

/// The line that stands for no match at all.
pub const NOTHING: &str = "no match";

/// Longest line that is shown, in characters.
const LONGEST: usize = 140;

fn text(value: &Value) -> String {
    match serde_json::from_value::<GrepFound>(value.clone()) {
        Ok(found) => written(&found),
        // An answer that is not modified says only that.
        Err(_) => value.to_string(),
    }
}

fn written(found: &GrepFound) -> String {
    let mut out = String::new();
    match found.shows {
        Shows::Lines => lines(&mut out, &found.matches),
        Shows::Files => found.matches.iter().for_each(|row| {
            let _ = writeln!(out, "{}", row.path);
        }),
        Shows::Counts => found.matches.iter().for_each(|row| {
            let _ = writeln!(out, "{}:{}", row.path, row.count);
        }),
    }
    if found.folded_tests > 0 {
        let _ = writeln!(
            out,
            "tests {}, folded (--tests): {}",
            found.folded_tests,
            listed(&found.test_files)
        );
    }
    if !found.left_out.is_empty() {
        let _ = writeln!(
            out,
            "left out of {} lines in {} files: {}",
            found.total,
            found.files,
            listed(&found.left_out)
        );
    }
    if let Some(cursor) = &found.next_cursor {
        let _ = writeln!(out, "next: --cursor {cursor}, or narrow it by a path");
    }
    for note in &found.notes {
        let _ = writeln!(out, "note: {note}");
    }
    if found.total == 0 {
        let _ = writeln!(out, "{NOTHING}");
    }
    out
}

fn lines(out: &mut String, rows: &[Match]) {
    let (mut path, mut within, mut before) = ("", (String::new(), 0), 0);
    for row in rows {
        if row.path != path || (&row.within, row.first) != (&within.0, within.1) {
            match row.within.is_empty() {
                true if row.path == path => out.push_str("…\n"),
                true => {
                    let _ = writeln!(out, "{}", row.path);
                }
                false => {
                    let shown = if row.path == path { "" } else { &row.path };
                    write_heading(out, shown, row.first, row.last, &row.within);
                }
            }
            path = &row.path;
            within = (row.within.clone(), row.first);
        }
        let text = row.text.trim();
        let cut = text.char_indices().nth(LONGEST).map_or(text.len(), |(end, _)| end);
        let more = if cut < text.len() { "…" } else { "" };
        let mark = if row.is_context { "-" } else { "" };
        let _ = writeln!(out, "{}{mark}\t{}{more}", row.line, &text[..cut]);
        before = row.line;
    }
    let _ = before;
}

fn listed(counts: &[Count]) -> String {
    let each: Vec<String> = counts
        .iter()
        .map(|count| format!("{} {}", count.of, count.count))
        .collect();
    each.join(", ")
}
