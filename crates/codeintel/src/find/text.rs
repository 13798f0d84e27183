//! Places as plain text: each under its heading with numbered lines, then names alone, then how to go on. Lines that were left out are seen
//! by the numbers.

use std::fmt::Write;

use serde_json::Value;
use wire::excerpt::write_heading;
use wire::layout::Layout;

use super::{Found, Place};

/// How the answer is written.
pub const LAYOUT: Layout<'static> = Layout::read_as("find", text);

fn text(value: &Value) -> String {
    match serde_json::from_value::<Found>(value.clone()) {
        Ok(found) => written(&found),
        // An answer that is not modified says only that.
        Err(_) => value.to_string(),
    }
}

pub(super) fn written(found: &Found) -> String {
    let mut out = String::new();
    if let Some(note) = &found.note {
        let _ = writeln!(out, "{note}\n");
    }
    if found.places.is_empty() {
        out.push_str("nothing found\n");
    }
    for (number, place) in found.places.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        write_place(&mut out, place);
    }
    if !found.more.is_empty() {
        out.push_str("\nmore:\n");
        found.more.iter().for_each(|place| write_place(&mut out, place));
    }
    if found.folded_tests > 0 {
        let files: Vec<&str> = found.test_files.iter().map(|count| count.of.as_str()).collect();
        let _ = writeln!(
            out,
            "\ntests, folded: {} places, best in {}",
            found.folded_tests,
            files.join(", ")
        );
    }
    if let Some(cursor) = &found.next_cursor {
        let _ = writeln!(out, "\nnext page: cursor {cursor}");
    }
    out
}

/// A heading and numbered lines.
pub(super) fn write_place(out: &mut String, place: &Place) {
    write_heading(out, &place.path, place.first, place.last, &place.name);
    for line in &place.lines {
        let _ = writeln!(out, "{}\t{}", line.line, line.text);
    }
    match place.alike.as_slice() {
        [] => {}
        [one] => {
            let _ = writeln!(out, "(alike: {one})");
        }
        [one, others @ ..] => {
            let _ = writeln!(out, "(alike: {one} and {} more)", others.len());
        }
    }
}
