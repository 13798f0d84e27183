//! What was read as plain text: heading, numbered lines, and how to go on.

use std::fmt::Write;

use serde_json::Value;
use wire::excerpt::write_heading;
use wire::layout::Layout;

use super::ReadFound;

/// How the answer is written.
pub const LAYOUT: Layout<'static> = Layout::read_as("read", text);

fn text(value: &Value) -> String {
    let Ok(found) = serde_json::from_value::<ReadFound>(value.clone()) else {
        // An answer that is not modified says only that.
        return value.to_string();
    };
    let mut out = String::new();
    for shown in &found.excerpts {
        if !out.is_empty() {
            out.push('\n');
        }
        write_heading(&mut out, &shown.path, shown.first, shown.last, &shown.name);
        if let Some(note) = &shown.note {
            let _ = writeln!(out, "({note})");
        }
        out.push_str(&shown.source);
    }
    for problem in &found.problems {
        let _ = writeln!(out, "\nnot read: {problem}");
    }
    if !found.left_out.is_empty() {
        let _ = writeln!(out, "\nnext: over the ceiling, read {}", found.left_out.join(" "));
    }
    out
}
