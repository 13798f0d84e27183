//! An answer for a person at a terminal: rows under the file they are in, as `name:line`.
//!
//! It reads the answer's JSON, so every tool has it: lists whose rows have a place are grouped, source is shown as it is, and
//! the rest is laid out in columns.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};
use terminal::output::Paint;

use super::readable_values;

/// `value` as text.
pub fn text(value: &Value, paint: Paint) -> String {
    let Some(members) = value.as_object() else {
        return wire::markdown::to_string(value);
    };
    let mut out = String::new();
    if let Some(source) = members.get("source").and_then(Value::as_str) {
        source_text(&mut out, members, source, paint);
    } else if let (Some(nodes), Some(edges)) = (list(members, "nodes"), list(members, "edges")) {
        graph(&mut out, nodes, edges, paint);
    } else {
        sections(&mut out, members, paint);
    }
    ending(&mut out, members, paint);
    out
}

/// What is said where a question found nothing, which a bare list does not tell from a mistake. `min_tier` is the weakest origin that
/// was asked for.
pub fn nothing(tool: &str, value: &Value, min_tier: Option<&str>) -> Option<String> {
    let members = value.as_object()?;
    let is_empty = |name: &str| list(members, name).is_some_and(Vec::is_empty);
    if !is_empty("edges") && !is_empty("usages") {
        return None;
    }
    let what = match tool {
        "get_callers" => "no callers known",
        "get_call_chain" => "it calls nothing that is known",
        "get_dependencies" => "it needs nothing that is known",
        "get_dependents" => "nothing known needs it",
        "find_implementations" => "no implementations known",
        "find_usages" => "no uses known",
        _ => return None,
    };
    let origins = match min_tier {
        Some(origin) => format!("of origin {origin} or better"),
        None => "of any origin".to_string(),
    };
    let account = string(members, "account");
    let whole = match string(members, "incomplete") {
        // Mentions that nobody could resolve may be uses: a template is not linked, a name is put together at run time.
        "" if !account.is_empty() && !account.ends_with("complete") => {
            "; but not all mentions of the name are resolved"
        }
        "" => "; every file of the index was looked at",
        _ => "",
    };
    Some(format!("{what}, {origins}{whole}"))
}

fn source_text(out: &mut String, members: &Map<String, Value>, source: &str, paint: Paint) {
    let begins = || string(members, "lines").split(':').next()?.parse().ok();
    let first = number(members, "from_line").or_else(begins).unwrap_or(1);
    let kind = match string(members, "kind") {
        "" => String::new(),
        kind => format!(" ({kind})"),
    };
    line(out, format_args!("{}{kind}", paint.name(string(members, "id"))));
    let last = first + source.lines().count() as u64;
    let width = last.to_string().len();
    for (at, text) in source.lines().enumerate() {
        let number = format!("{:>width$}", first + at as u64);
        line(out, format_args!("{}  {text}", paint.line(&number)));
    }
    // Who uses it, where the answer says that too.
    let lists = members
        .iter()
        .filter(|(_, value)| value.as_array().is_some_and(|rows| !rows.is_empty()));
    let lists: Map<String, Value> = lists.map(|(name, rows)| (name.clone(), rows.clone())).collect();
    if !lists.is_empty() {
        sections(out, &lists, paint);
    }
}

/// Symbols by file; under each, what it is related to and where it says so.
fn graph(out: &mut String, nodes: &[Value], edges: &[Value], paint: Paint) {
    let mut related: BTreeMap<&str, Vec<&Map<String, Value>>> = BTreeMap::new();
    for edge in edges.iter().filter_map(Value::as_object) {
        related.entry(string(edge, "from")).or_default().push(edge);
    }
    let rows: Vec<&Map<String, Value>> = nodes.iter().filter_map(Value::as_object).collect();
    by_file(out, &rows, paint, |out, row| {
        line(out, format_args!("  {}", place(row, paint)));
        for edge in related.get(string(row, "id")).into_iter().flatten() {
            let lines = match string(edge, "label") {
                "" => String::new(),
                lines => format!(" at {lines}"),
            };
            let to = string(edge, "to").rsplit("::").next().unwrap_or_default();
            let doubt = match string(edge, "origin") {
                "ast_inferred" | "text_matched" => "?",
                _ => "",
            };
            let kind = format!("{}{doubt}", string(edge, "kind"));
            line(out, format_args!("    {} {to}{}", paint.dim(&kind), paint.line(&lines)));
        }
    });
}

fn sections(out: &mut String, members: &Map<String, Value>, paint: Paint) {
    let mut rest = Map::new();
    for (name, value) in members {
        match value {
            Value::Array(rows) if rows.iter().all(is_placed) && !rows.is_empty() => {
                if members.values().filter(|value| value.is_array()).count() > 1 {
                    line(out, format_args!("{name}:"));
                }
                let rows: Vec<&Map<String, Value>> = rows.iter().filter_map(Value::as_object).collect();
                by_file(out, &rows, paint, |out, row| {
                    line(out, format_args!("  {}{}", place(row, paint), paint.dim(&remark(row))));
                });
            }
            Value::Array(rows) if rows.is_empty() => {}
            _ if !is_bookkeeping(name) => {
                rest.insert(name.clone(), value.clone());
            }
            _ => {}
        }
    }
    if rest.is_empty() && out.is_empty() {
        line(out, format_args!("nothing found"));
    }
    if !rest.is_empty() {
        readable_values::object(out, &rest, 0, paint);
    }
}

fn by_file(
    out: &mut String,
    rows: &[&Map<String, Value>],
    paint: Paint,
    mut each: impl FnMut(&mut String, &Map<String, Value>),
) {
    let mut files: BTreeMap<&str, Vec<&Map<String, Value>>> = BTreeMap::new();
    for row in rows {
        files.entry(path(row)).or_default().push(row);
    }
    for (file, rows) in files {
        line(out, format_args!("{}", paint.file(file)));
        for row in rows {
            each(out, row);
        }
    }
}

/// What was left out, and what is not sure.
fn ending(out: &mut String, members: &Map<String, Value>, paint: Paint) {
    let total = ["total", "total_nodes"].iter().find_map(|name| number(members, name));
    let shown = ["nodes", "usages", "results", "symbols", "cycles"]
        .iter()
        .find_map(|name| list(members, name))
        .map(Vec::len);
    // One symbol without edges is the one that was asked about.
    let is_alone = list(members, "edges").is_some_and(Vec::is_empty) && total == Some(1);
    if let (Some(total), Some(shown)) = (total, shown.filter(|_| !is_alone)) {
        match string(members, "next_cursor") {
            "" => line(out, format_args!("{shown} of {total}")),
            cursor => line(out, format_args!("{shown} of {total}; the next with --cursor {cursor}")),
        }
    }
    let account = string(members, "account");
    if !account.is_empty() {
        line(out, format_args!("{} {account}", paint.dim("account:")));
    }
    let incomplete = string(members, "incomplete");
    if !incomplete.is_empty() {
        line(out, format_args!("{} {incomplete}", paint.warn("incomplete:")));
    }
}

fn is_bookkeeping(name: &str) -> bool {
    matches!(
        name,
        "total" | "truncated" | "next_cursor" | "etag" | "incomplete" | "total_nodes" | "total_edges" | "account"
    )
}

fn is_placed(row: &Value) -> bool {
    row.as_object()
        .is_some_and(|row| !path(row).is_empty() && (row.contains_key("line") || row.contains_key("from_line")))
}

/// The file of a row: said, or the part of an id before `::`.
fn path(row: &Map<String, Value>) -> &str {
    let said = ["path", "from_path"]
        .iter()
        .map(|name| string(row, name))
        .find(|path| !path.is_empty());
    said.unwrap_or_else(|| string(row, "id").split_once("::").map_or("", |(path, _)| path))
}

fn place(row: &Map<String, Value>, paint: Paint) -> String {
    let said = ["id", "from", "name"].iter().map(|name| string(row, name));
    let id = said.into_iter().find(|said| !said.is_empty()).unwrap_or_default();
    let name = id.split_once("::").map_or(id, |(_, name)| name);
    let at = number(row, "line").or_else(|| number(row, "from_line"));
    match at {
        Some(at) if name.is_empty() => paint.line(&at.to_string()),
        Some(at) => format!("{}:{}", paint.name(name), paint.line(&at.to_string())),
        None => paint.name(name),
    }
}

fn remark(row: &Map<String, Value>) -> String {
    let said = ["edge_kind", "sig", "reason", "score", "kind"]
        .iter()
        .find_map(|name| row.get(*name));
    match said {
        Some(Value::String(text)) => format!("  {}", text.lines().next().unwrap_or_default()),
        Some(value) => format!("  {value}"),
        None => String::new(),
    }
}

fn list<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Vec<Value>> {
    members.get(name)?.as_array()
}

fn string<'a>(members: &'a Map<String, Value>, name: &str) -> &'a str {
    members.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn number(members: &Map<String, Value>, name: &str) -> Option<u64> {
    members.get(name)?.as_u64()
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use terminal::output::Paint;

    #[test]
    fn callers_stand_under_their_file() {
        let value = json!({
            "nodes": [
                {"id": "b.py::g", "kind": "function", "name": "g", "path": "b.py", "line": 3},
                {"id": "a.py::C.f", "kind": "method", "name": "f", "path": "a.py", "line": 7},
            ],
            "edges": [{"from": "a.py::C.f", "to": "b.py::g", "kind": "calls", "origin": "ast_resolved", "confidence": 1.0, "label": "8,9"}],
            "total_nodes": 5, "total_edges": 4, "truncated": true, "next_cursor": "xyz",
        });
        expect![[r#"
            a.py
              C.f:7
                calls g at 8,9
            b.py
              g:3
            2 of 5; the next with --cursor xyz
        "#]]
        .assert_eq(&super::text(&value, Paint::default()));
    }

    #[test]
    fn nothing_found_is_said() {
        let value = json!({
            "nodes": [{"id": "b.py::g", "kind": "function", "name": "g", "path": "b.py", "line": 3}], "edges": [],
            "total_nodes": 1, "total_edges": 0, "truncated": false,
        });
        assert_eq!(super::text(&value, Paint::default()), "b.py\n  g:3\n");
        let said = |min_tier| super::nothing("get_callers", &value, min_tier).unwrap();
        assert_eq!(
            said(None),
            "no callers known, of any origin; every file of the index was looked at"
        );
        assert_eq!(
            said(Some("ast_resolved")),
            "no callers known, of origin ast_resolved or better; every file of the index was looked at"
        );
        assert_eq!(super::nothing("get_callers", &json!({"edges": [1]}), None), None);
        // A name in a template that is not linked may be a use.
        let open =
            json!({"usages": [], "account": "`show` stands 2× in 1 file = 1 definition + 1 unresolved (a.vue:1)"});
        assert_eq!(
            super::nothing("find_usages", &open, None).unwrap(),
            "no uses known, of any origin; but not all mentions of the name are resolved"
        );
    }

    #[test]
    fn source_is_shown_with_its_lines() {
        let value = json!({"id": "a.py::f", "kind": "function", "from_line": 9, "source": "def f():\n    pass"});
        expect![[r#"
            a.py::f (function)
             9  def f():
            10      pass
        "#]]
        .assert_eq(&super::text(&value, Paint::default()));
    }
}
