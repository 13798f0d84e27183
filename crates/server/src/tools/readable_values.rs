//! Any JSON value for a person at a terminal: members as `name  value`, rows of objects as columns, lists of words in a line.

use std::fmt::Write;

use serde_json::{Map, Value};
use terminal::output::Paint;

/// Widest column but the last, in characters.
const WIDEST: usize = 60;
/// A list of words that is longer has a line for each.
const LINE: usize = 100;

/// The members of an object, those that are one value first.
pub(super) fn object(out: &mut String, members: &Map<String, Value>, indent: usize, paint: Paint) {
    let short: Vec<(&String, String)> = members
        .iter()
        .filter_map(|(name, value)| Some((name, in_a_line(value)?)))
        .collect();
    let width = short.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in short.iter().filter(|(_, value)| !value.is_empty()) {
        // Padded before it is painted: colours have no width.
        let name = format!("{:<width$}", words(name));
        line(out, indent, &format!("{}  {value}", paint.dim(&name)));
    }
    for (name, value) in members {
        if in_a_line(value).is_some() {
            continue;
        }
        line(out, indent, &paint.dim(&format!("{}:", words(name))));
        match value {
            Value::Object(inner) => object(out, inner, indent + 2, paint),
            Value::Array(items) => list(out, items, indent + 2, paint),
            Value::String(text) => {
                for text in text.lines() {
                    line(out, indent + 2, text);
                }
            }
            other => line(out, indent + 2, &other.to_string()),
        }
    }
}

fn list(out: &mut String, items: &[Value], indent: usize, paint: Paint) {
    let rows: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
    let is_table = rows.len() == items.len()
        && rows
            .iter()
            .all(|row| row.values().all(|value| in_a_line(value).is_some()));
    if is_table {
        return table(out, &rows, indent, paint);
    }
    for item in items {
        match item {
            Value::Object(members) => {
                object(out, members, indent, paint);
                out.push('\n');
            }
            Value::Array(inner) => list(out, inner, indent + 2, paint),
            other => line(out, indent, &in_a_line(other).unwrap_or_else(|| other.to_string())),
        }
    }
    if out.ends_with("\n\n") {
        out.pop();
    }
}

fn table(out: &mut String, rows: &[&Map<String, Value>], indent: usize, paint: Paint) {
    let mut names: Vec<&String> = Vec::new();
    for name in rows.iter().flat_map(|row| row.keys()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let cell = |row: &Map<String, Value>, name: &str| row.get(name).and_then(in_a_line).unwrap_or_default();
    // A column that says nothing is none.
    names.retain(|name| rows.iter().any(|row| !cell(row, name).is_empty()));
    let width = |name: &str| {
        let cells = rows.iter().map(|row| cell(row, name).chars().count());
        cells.chain([name.len()]).max().unwrap_or(0).min(WIDEST)
    };
    let widths: Vec<usize> = names.iter().map(|name| width(name)).collect();
    let is_number = |name: &str| rows.iter().all(|row| row.get(name).is_none_or(Value::is_number));
    let laid_out = |cells: Vec<String>| -> String {
        let mut text = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let pad = widths[at].saturating_sub(cell.chars().count());
            let is_last = at + 1 == cells.len();
            match is_number(names[at]) {
                true => text.push_str(&format!("{}{cell}", " ".repeat(pad))),
                false if is_last => text.push_str(cell),
                false => text.push_str(&format!("{cell}{}", " ".repeat(pad))),
            }
            if !is_last {
                text.push_str("  ");
            }
        }
        text.trim_end().to_string()
    };
    line(
        out,
        indent,
        &paint.dim(&laid_out(names.iter().map(|name| words(name)).collect())),
    );
    for row in rows {
        line(
            out,
            indent,
            &laid_out(names.iter().map(|name| cell(row, name)).collect()),
        );
    }
}

/// A value that one line holds; empty where it says nothing.
fn in_a_line(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(truth) => Some(if *truth { "yes" } else { "no" }.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => (!text.contains('\n')).then(|| text.clone()),
        Value::Array(items) if items.is_empty() => Some(String::new()),
        Value::Array(items) => {
            let words: Option<Vec<String>> = items
                .iter()
                .map(|item| match item {
                    Value::Array(_) | Value::Object(_) => None,
                    other => in_a_line(other),
                })
                .collect();
            words
                .map(|words| words.join(", "))
                .filter(|line| line.chars().count() <= LINE)
        }
        Value::Object(members) => members.is_empty().then(String::new),
    }
}

/// A member's name as words.
fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn line(out: &mut String, indent: usize, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{:indent$}{text}", "");
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;
    use terminal::output::Paint;

    #[test]
    fn values_are_laid_out_without_marks() {
        let value = json!({
            "tier": "graph", "complete": true, "reason": null, "labels": ["a", "b"],
            "edges": [
                {"origin": "ast_resolved", "edges": 12, "note": ""},
                {"origin": "lsp", "edges": 3, "note": ""},
            ],
            "docs": "First.\nSecond.",
            "nested": {"deep_name": [{"of": {"x": 1}}]},
        });
        let mut out = String::new();
        super::object(&mut out, value.as_object().unwrap(), 0, Paint::default());
        expect![[r#"
            tier      graph
            complete  yes
            labels    a, b
            edges:
              origin        edges
              ast_resolved     12
              lsp               3
            docs:
              First.
              Second.
            nested:
              deep name:
                of:
                  x  1
        "#]]
        .assert_eq(&out);
    }
}
