//! What stands for a result that is too large to pass: its shape, its first rows, what went wrong in it. Enough to know
//! whether to look closer, and where.

use std::fmt::Write as _;

use serde_json::Value;

use super::tokens;
use crate::view::kind;
use crate::view::table::{Table, json_rows};

/// Longest line or string shown in a digest, in characters.
const LONGEST_LINE: usize = 160;
/// Rows, lines and complaints shown, before the token budget cuts further.
const SAMPLE_ROWS: usize = 3;
const HEAD_LINES: usize = 12;
const TAIL_LINES: usize = 6;
const COMPLAINTS: usize = 6;
/// Keys of an object named in a shape.
const SHAPE_KEYS: usize = 24;

/// A digest of at most `budget` tokens, and in a few words what the content is.
pub(crate) struct Digest {
    pub(crate) what: String,
    pub(crate) text: String,
}

/// Digests JSON. `encode` says a sample the way the session reads values.
pub(crate) fn of_value(value: &Value, budget: usize, encode: &dyn Fn(&Value) -> String) -> Digest {
    let mut lines = Vec::new();
    let what = match value {
        Value::Array(items) => {
            lines.push(format!("each: {}", shape(items.first().unwrap_or(&Value::Null), 2)));
            format!("array of {}", items.len())
        }
        Value::Object(fields) => {
            for (key, field) in fields.iter().take(SHAPE_KEYS) {
                lines.push(format!("{key}: {}", scalar_or_shape(field)));
            }
            if fields.len() > SHAPE_KEYS {
                lines.push(format!("… {} more keys", fields.len() - SHAPE_KEYS));
            }
            format!("object of {} keys", fields.len())
        }
        Value::String(text) => return of_text(text, budget, encode),
        other => kind(other),
    };
    if let Some(rows) = json_rows(value).filter(|rows| !rows.is_empty()) {
        let sample: Vec<Value> = rows.iter().take(SAMPLE_ROWS).map(|row| shortened(row, 3)).collect();
        let count = sample.len();
        lines.push(format!(
            "first {count} of {}:\n{}",
            rows.len(),
            encode(&Value::Array(sample))
        ));
    }
    Digest {
        what,
        text: fit(lines, budget),
    }
}

/// Digests text: a table by its first rows, anything else by its beginning, its end, and the lines that complain.
pub(crate) fn of_text(text: &str, budget: usize, encode: &dyn Fn(&Value) -> String) -> Digest {
    if let Some(table) = Table::detect(text) {
        let columns: Vec<usize> = (0..table.columns.len()).collect();
        let head = table.to_value(&table.rows[..table.rows.len().min(SAMPLE_ROWS)], &columns);
        let lines = vec![
            format!("columns: {}", clip(&table.columns.join(", "))),
            format!(
                "first {}:\n{}",
                table.rows.len().min(SAMPLE_ROWS),
                encode(&shortened(&head, 3))
            ),
        ];
        return Digest {
            what: format!("table of {} rows", table.rows.len()),
            text: fit(lines, budget),
        };
    }
    let all: Vec<&str> = text.lines().collect();
    let mut lines = Vec::new();
    let head = all.len().min(HEAD_LINES);
    let tail_start = all.len().saturating_sub(TAIL_LINES).max(head);
    // Complaints before the beginning: they are what a reader of a long log looks for.
    for (number, line) in all
        .iter()
        .enumerate()
        .take(tail_start)
        .skip(head)
        .filter(|(_, line)| complains(line))
        .take(COMPLAINTS)
    {
        lines.push(format!("{}: {}", number + 1, clip(line.trim())));
    }
    if !lines.is_empty() {
        lines.insert(0, "complaints:".to_owned());
    }
    let mut ends: Vec<String> = all[..head].iter().map(|line| clip(line)).collect();
    if tail_start > head {
        ends.push(format!("… {} lines …", tail_start - head));
    }
    ends.extend(all[tail_start..].iter().map(|line| clip(line)));
    lines.extend(ends);
    Digest {
        what: format!("{} lines", all.len()),
        text: fit(lines, budget),
    }
}

/// Whether a line reports a failure.
fn complains(line: &str) -> bool {
    const WORDS: [&str; 7] = ["error", "fail", "panic", "exception", "fatal", "traceback", "denied"];
    let start: String = line.chars().take(400).collect::<String>().to_lowercase();
    WORDS.iter().any(|word| start.contains(word))
}

/// The type of a value, with the keys of objects and the first element of arrays, to some depth.
fn shape(value: &Value, depth: usize) -> String {
    match value {
        Value::Object(fields) if depth > 0 => {
            let mut text = String::from("{");
            for (position, (key, field)) in fields.iter().take(SHAPE_KEYS).enumerate() {
                let comma = if position > 0 { ", " } else { "" };
                let _ = write!(text, "{comma}{}: {}", clip(key), shape(field, depth - 1));
            }
            text.push_str(if fields.len() > SHAPE_KEYS { ", …}" } else { "}" });
            text
        }
        Value::Array(items) if depth > 0 && !items.is_empty() => {
            format!("[{} × {}]", items.len(), shape(&items[0], depth - 1))
        }
        Value::String(_) => "string".into(),
        other => kind(other),
    }
}

fn scalar_or_shape(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => shape(value, 3),
        Value::String(text) if text.chars().count() > LONGEST_LINE => format!("string[{}] {}", text.len(), clip(text)),
        scalar => scalar.to_string(),
    }
}

/// The value with long strings, long arrays and deep branches cut, for a sample.
fn shortened(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) => Value::from(clip(text)),
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::from(kind(value)),
        Value::Array(items) => Value::Array(
            items
                .iter()
                .take(SAMPLE_ROWS)
                .map(|item| shortened(item, depth - 1))
                .collect(),
        ),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .take(SHAPE_KEYS)
                .map(|(key, field)| (clip(key), shortened(field, depth - 1)))
                .collect(),
        ),
        other => other.clone(),
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// As many of the lines as the budget holds; the first always gets its share of it.
fn fit(lines: Vec<String>, budget: usize) -> String {
    let mut text = String::new();
    let mut left = budget;
    for line in lines {
        let cost = tokens::count(&line) + 1;
        if cost > left {
            if text.is_empty() {
                text = tokens::prefix(&line, budget.saturating_sub(1)).to_owned();
            }
            text.push('…');
            return text;
        }
        left -= cost;
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn json_text(value: &Value) -> String {
        value.to_string()
    }

    #[test]
    fn an_array_shows_its_shape_and_first_rows() {
        let rows: Vec<Value> = (0..500)
            .map(|id| json!({"id": id, "name": format!("n{id}"), "tags": ["a", "b"], "body": "x".repeat(500)}))
            .collect();
        let digest = of_value(&Value::Array(rows), 400, &json_text);
        assert_eq!(digest.what, "array of 500");
        assert!(
            digest
                .text
                .starts_with("each: {id: number, name: string, tags: [2 × string], body: string}")
        );
        assert!(digest.text.contains("first 3 of 500:"));
        assert!(tokens::count(&digest.text) <= 400);
    }

    #[test]
    fn an_object_shows_its_scalars_and_sizes() {
        let rows: Vec<Value> = (0..50).map(|id| json!({"id": id})).collect();
        let digest = of_value(&json!({"total": 50, "error": null, "items": rows}), 400, &json_text);
        assert_eq!(digest.what, "object of 3 keys");
        assert!(
            digest
                .text
                .starts_with("total: 50\nerror: null\nitems: [50 × {id: number}]\nfirst 3 of 50:")
        );
    }

    #[test]
    fn a_log_shows_its_ends_and_its_complaints() {
        let mut log: Vec<String> = (0..400).map(|line| format!("step {line} ok")).collect();
        log[200] = "ERROR: disk full".into();
        let digest = of_text(&log.join("\n"), 400, &json_text);
        assert_eq!(digest.what, "400 lines");
        assert!(digest.text.starts_with("complaints:\n201: ERROR: disk full\nstep 0 ok"));
        assert!(digest.text.ends_with("step 399 ok"));
        assert!(digest.text.contains("… 382 lines …"));
    }

    #[test]
    fn a_budget_is_kept_even_by_one_endless_line() {
        let digest = of_text(&"word ".repeat(100_000), 50, &json_text);
        assert!(tokens::count(&digest.text) <= 51, "{}", digest.text);
        let table = format!("a,b\n{}", "1,2\n".repeat(1000));
        assert_eq!(of_text(&table, 100, &json_text).what, "table of 1000 rows");
    }
}
