//! The projection for people: headings for parts, tables for rows, lists for the rest. Written, never read.

use serde_json::{Map, Value};

/// Headings go no deeper; what is below is shown as JSON.
const DEEPEST: usize = 4;

/// `value` as Markdown.
pub fn to_string(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 2);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn write(out: &mut String, value: &Value, level: usize) {
    match value {
        Value::Object(members) => object(out, members, level),
        Value::Array(elements) => list(out, elements),
        scalar => {
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
}

/// Short facts first, as a list; then each part under its heading.
fn object(out: &mut String, members: &Map<String, Value>, level: usize) {
    let is_part = |value: &&Value| match value {
        Value::Object(members) => !members.is_empty() && level <= DEEPEST,
        Value::Array(elements) => !elements.is_empty() && level <= DEEPEST,
        Value::String(text) => text.contains('\n'),
        _ => false,
    };
    for (key, value) in members.iter().filter(|(_, value)| !is_part(value)) {
        out.push_str(&format!("- **{}**: {}\n", escape(key), inline(value)));
    }
    for (key, value) in members.iter().filter(|(_, value)| is_part(value)) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("{} {}\n\n", "#".repeat(level), escape(key)));
        match value {
            Value::String(text) => code_block(out, text),
            value => write(out, value, level + 1),
        }
    }
}

fn list(out: &mut String, elements: &[Value]) {
    let rows: Option<Vec<&Map<String, Value>>> = elements.iter().map(Value::as_object).collect();
    match rows {
        Some(rows) if !rows.is_empty() => table(out, &rows),
        _ if elements.is_empty() => out.push_str("*none*\n"),
        _ => {
            for element in elements {
                out.push_str(&format!("- {}\n", inline(element)));
            }
        }
    }
}

fn table(out: &mut String, rows: &[&Map<String, Value>]) {
    let mut columns: Vec<&str> = Vec::new();
    let mut seen = hashbrown::HashSet::<&str, foldhash::fast::RandomState>::default();
    for row in rows {
        columns.extend(row.keys().map(String::as_str).filter(|key| seen.insert(key)));
    }
    // Unlike rows would make a table of mostly nothing, as wide as it is long.
    let cells: usize = rows.iter().map(|row| row.len()).sum();
    if rows.len() * columns.len() > 4 * cells + 64 {
        for row in rows {
            out.push_str(&format!(
                "- {}\n",
                code_span(&Value::Object((*row).clone()).to_string())
            ));
        }
        return;
    }
    line(out, columns.iter().map(|column| escape(column)));
    line(out, columns.iter().map(|_| "---".to_owned()));
    for row in rows {
        line(
            out,
            columns
                .iter()
                .map(|column| row.get(*column).map_or(String::new(), inline)),
        );
    }
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    for cell in cells {
        out.push_str("| ");
        out.push_str(&cell);
        out.push(' ');
    }
    out.push_str("|\n");
}

/// A value within a line or a table cell.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => escape(text).replace("\r\n", "<br>").replace(['\n', '\r'], "<br>"),
        Value::Array(elements)
            if elements
                .iter()
                .all(|element| element.is_string() || element.is_number()) =>
        {
            elements.iter().map(inline).collect::<Vec<_>>().join(", ")
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        nested => code_span(&nested.to_string()),
    }
}

/// Keeps text from being read as markup. Underscores inside words are left alone, as Markdown does.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '`' | '*' | '|' | '<' | '[' | ']') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// Code within a line, fenced with more backticks than it holds; `|` would end a table cell even there.
fn code_span(code: &str) -> String {
    let fence = "`".repeat(longest_run(code) + 1);
    format!("{fence}{}{fence}", code.replace('|', "\\|"))
}

fn code_block(out: &mut String, code: &str) {
    let fence = "`".repeat((longest_run(code) + 1).max(3));
    out.push_str(&format!("{fence}\n{}\n{fence}\n", code.trim_end_matches('\n')));
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn rows_become_a_table_and_parts_get_headings() {
        let answer = json!({
            "total": 2,
            "note": "a|b",
            "nodes": [{"id": "a.go::F", "line": 3}, {"id": "b.go::G", "tags": ["x", "y"], "range": {"start": 1}}],
            "tests": ["a_test.go"],
            "source": "fn f() {\n}\n",
        });
        expect![[r#"
            - **total**: 2
            - **note**: a\|b

            ## nodes

            | id | line | tags | range |
            | --- | --- | --- | --- |
            | a.go::F | 3 |  |  |
            | b.go::G |  | x, y | `{"start":1}` |

            ## tests

            - a_test.go

            ## source

            ```
            fn f() {
            }
            ```
        "#]]
        .assert_eq(&super::to_string(&answer));
    }
}
