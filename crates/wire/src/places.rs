//! Answers about places, said by file: the same facts as a layout's own sections, without what the reader can derive.
//!
//! Compilers answer with long lists of `line:column`, and with source text. Here a folder and a file are named once, places that
//! share a column share its spelling (`12,40:5` is 12:5 and 40:5), the long path of a library is said once, a file beside the one
//! asked about needs no folder and that file itself no name, what goes without saying is left out of the header (an answer of a
//! server is complete, nothing was cut, the total is the number of rows), and texts stand at the end as they are, line by line: an
//! escaped line break, tab or quote costs a token each.
//!
//! The text is LCX1 ([`crate::lcx`]); its header says under `text=` how many lines of which member follow the rows. Whatever does
//! not fit the shape is no error: [`to_string`] gives nothing and the answer is said otherwise.

mod folder;
mod rows;

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::gcx::Header;
use crate::layout::Layout;
use crate::lcx::{self, TAG};

/// One tool's answers.
struct Shape {
    tool: &'static str,
    body: Body,
    /// Members that go without saying, see [`usual`].
    usual: &'static [&'static str],
}

/// What the rows of an answer say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// `references`: file, places, origin.
    Mentions,
    /// `symbols`: name, kind, lines, signature.
    Declared,
    /// `diagnostics`: file, place, severity, code, message.
    Findings,
    /// `files` and `callers`: how often each file mentions a symbol, and who calls it there.
    Callers,
}

const SHAPES: &[Shape] = &[
    Shape {
        tool: "find_references",
        body: Body::Mentions,
        usual: &["tier", "complete", "total", "truncated"],
    },
    Shape {
        tool: "list_symbols",
        body: Body::Declared,
        usual: &["tier", "complete", "total", "truncated"],
    },
    Shape {
        tool: "get_diagnostics",
        body: Body::Findings,
        usual: &["tier", "complete", "total", "truncated", "errors", "warnings"],
    },
    Shape {
        tool: "explore_symbol",
        body: Body::Callers,
        usual: &["tier", "complete", "references", "test_references", "callers_total"],
    },
];

/// Members of the header that are numbers, and those that are `true` or `false`; the others are texts.
const NUMBERS: &[&str] = &[
    "total",
    "errors",
    "warnings",
    "references",
    "test_references",
    "callers_total",
];
const FLAGS: &[&str] = &["complete", "truncated"];

/// Whether answers of this tool are said by place.
pub(crate) fn has(tool: &str) -> bool {
    shape_of(tool).is_some()
}

/// The answer by file, if it has that form.
pub(crate) fn to_string(layout: &Layout, value: &Value) -> Option<String> {
    let shape = SHAPES.iter().find(|shape| shape.tool == layout.tool)?;
    let mut members = value.as_object()?.clone();
    let here = file_of(&members).to_string();
    let rows = rows::write(shape.body, &here, &mut members)?;
    if shape.usual.iter().any(|name| !members.contains_key(*name)) {
        return None;
    }
    let mut entries = rows.entries;
    // The file of the symbol is in its id already.
    if let (Some(id), Some(of)) = (text_of(&members, "id"), text_of(&members, "of"))
        && let Some(at) = of.strip_prefix(path_of(id)).and_then(|rest| rest.strip_prefix(':'))
    {
        entries.push(("at".to_string(), at.to_string()));
        members.remove("of");
    }
    let mut texts: Vec<(&str, &str)> = Vec::new();
    for (name, value) in &members {
        if shape.usual.contains(&name.as_str()) && usual(name, shape.body, &rows.rows, &members) == Some(value.clone())
        {
            continue;
        }
        match value {
            Value::Number(number) if NUMBERS.contains(&name.as_str()) => {
                entries.push((name.clone(), number.to_string()));
            }
            Value::Bool(flag) if FLAGS.contains(&name.as_str()) => entries.push((name.clone(), flag.to_string())),
            Value::String(_) if NUMBERS.contains(&name.as_str()) || FLAGS.contains(&name.as_str()) => return None,
            Value::String(text) if is_word(text) => entries.push((name.clone(), text.clone())),
            Value::String(text) if is_word(name) && !name.contains([':', ',']) => texts.push((name, text)),
            _ => return None,
        }
    }
    // Names are single words of ours; the order is the alphabet's, as in any header.
    entries.sort();
    let mut out = format!("{TAG} tool={} fields={}", shape.tool, rows.fields);
    for (name, value) in &entries {
        write!(out, " {name}={value}").ok()?;
    }
    if !texts.is_empty() {
        let counted: Vec<String> = texts
            .iter()
            .map(|(name, text)| format!("{name}:{}", text.split('\n').count()))
            .collect();
        write!(out, " text={}", counted.join(",")).ok()?;
    }
    out.push('\n');
    for line in rows
        .lines
        .iter()
        .map(String::as_str)
        .chain(texts.iter().map(|(_, text)| *text))
    {
        out.push_str(line);
        out.push('\n');
    }
    Some(out)
}

/// The answer that such a text says, if it is one.
pub(crate) fn from_str(header: &Header, body: &str) -> Option<Value> {
    let shape = shape_of(&header.tool)?;
    let lines: Vec<&str> = lcx::lines(body).collect();
    let mut texts: Vec<(&str, usize)> = Vec::new();
    for counted in header.entry("text").into_iter().flat_map(|entry| entry.split(',')) {
        let (name, count) = counted.split_once(':')?;
        texts.push((
            name,
            count.parse().ok().filter(|count| *count > 0 && *count <= lines.len())?,
        ));
    }
    let of_texts: usize = texts.iter().map(|(_, count)| count).sum();
    let (row_lines, mut text_lines) = lines.split_at_checked(lines.len().checked_sub(of_texts)?)?;
    let mut members = Map::new();
    for (name, value) in &header.entries {
        let value = match name.as_str() {
            "text" | "at" | "rows" => continue,
            name if name.contains('.') => continue,
            name if NUMBERS.contains(&name) => Value::from(value.parse::<u64>().ok()?),
            name if FLAGS.contains(&name) => Value::from(value.parse::<bool>().ok()?),
            _ => Value::from(value.as_str()),
        };
        members.insert(name.clone(), value);
    }
    if let Some(at) = header.entry("at") {
        let of = format!("{}:{at}", path_of(text_of(&members, "id")?));
        members.insert("of".to_string(), of.into());
    }
    for (name, count) in texts {
        let (these, rest) = text_lines.split_at_checked(count)?;
        members.insert(name.to_string(), these.join("\n").into());
        text_lines = rest;
    }
    let rows = rows::read(shape.body, header, file_of(&members), row_lines)?;
    for name in shape.usual {
        if !members.contains_key(*name) {
            members.insert((*name).to_string(), usual(name, shape.body, &rows, &members)?);
        }
    }
    members.extend(rows);
    Some(Value::Object(members))
}

fn shape_of(tool: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.tool == tool)
}

/// What a member is where the header does not say, from the rows and the other members.
fn usual(name: &str, body: Body, rows: &Map<String, Value>, members: &Map<String, Value>) -> Option<Value> {
    let list = |name: &str| rows.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let severe = |word: &str| list("diagnostics").iter().filter(|row| row["severity"] == word).count();
    let places = |row: &Value| row["at"].as_array().map_or(0, Vec::len);
    let count = match (name, body) {
        ("tier", _) => return members.contains_key("server").then(|| "lsp".into()),
        ("complete", _) => return Some(true.into()),
        ("truncated", _) => return Some(false.into()),
        ("test_references", _) => 0,
        ("references", Body::Callers) => {
            let counts = list("files").iter().filter_map(|row| row["count"].as_u64());
            return Some(counts.fold(0, u64::saturating_add).into());
        }
        ("callers_total", _) => list("callers").len(),
        ("errors", _) => severe("error"),
        ("warnings", _) => severe("warning"),
        ("total", Body::Mentions) => list("references").iter().map(places).sum(),
        ("total", Body::Declared) => list("symbols").len(),
        ("total", Body::Findings) => list("diagnostics").len(),
        _ => return None,
    };
    Some(count.into())
}

fn text_of<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    members.get(name)?.as_str()
}

/// The file of what was asked about; empty where none is named.
fn file_of(members: &Map<String, Value>) -> &str {
    let of = text_of(members, "of").unwrap_or_default();
    of.rsplitn(3, ':').nth(2).unwrap_or_default()
}

/// The file of an id.
fn path_of(id: &str) -> &str {
    id.split_once("::").map_or(id, |(path, _)| path)
}

/// Whether a text can stand in a header as it is.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::layout::Layout;
    use crate::lcx::{from_str, to_string};

    /// The text, after making sure that it says the same.
    fn said(tool: &str, value: Value) -> String {
        let text = to_string(&Layout::generic(tool), &value).unwrap();
        assert_eq!(from_str(&text).unwrap(), value, "{text}");
        text
    }

    #[test]
    fn mentions_name_folders_files_and_columns_once() {
        let text = said(
            "find_references",
            json!({"of": "a/b.py:1:5", "tier": "lsp", "server": "x", "complete": true, "total": 6, "truncated": false,
                "references": [
                    {"path": "a/b.py", "at": ["2:5", "3:9", "40:5"]}, {"path": "a/c.py", "at": ["7:1"]},
                    {"path": "main.py", "at": ["1:1"]}, {"path": "z/y/x.py", "at": ["1:1"]}]}),
        );
        assert_eq!(
            text,
            "LCX1 tool=find_references fields=lines:column of=a/b.py:1:5 server=x rows=5\n\
             \t2,40:5 3:9\nc.py\t7:1\n./\nmain.py\t1:1\nz/y/x.py\t1:1\n"
        );
        said(
            "find_references",
            json!({"of": "a.py:1:5", "tier": "graph", "complete": false, "note": "why: so it is", "total": 9, "truncated": true,
                "next_cursor": "abc", "references": [
                    {"path": "a.py", "at": ["2:5"], "origin": "ast_resolved"}, {"path": "a.py", "at": ["7:1"], "origin": "ast_inferred"}]}),
        );
    }

    #[test]
    fn symbols_leave_out_what_their_names_say() {
        let text = said(
            "list_symbols",
            json!({"path": "a.py", "tier": "lsp", "server": "x", "complete": true, "total": 4, "truncated": false, "symbols": [
                {"name": "A", "kind": "type", "lines": "1:9"}, {"name": "A.f", "kind": "method", "lines": "2:4", "sig": "f(a)\t"},
                {"name": "A.x", "kind": "variable", "lines": "3:3"}, {"name": "g", "kind": "function", "lines": "11:12"}]}),
        );
        assert_eq!(
            text,
            "LCX1 tool=list_symbols fields=name,lines,kind,sig path=a.py server=x rows=4\n\
             A\t1:9\ttype\nA.f\t2:4\t\tf(a)\\t\n.x\t3\tvariable\ng\t11:12\n"
        );
    }

    #[test]
    fn findings_that_say_the_same_are_said_once() {
        let finding = |at: &str, message: &str| json!({"path": "a.py", "at": at, "severity": "error", "code": "no", "message": message});
        let rows = json!([
            finding("1:2", "is not"),
            finding("3:1", "other\nline"),
            finding("7:2", "is not")
        ]);
        let text = said(
            "get_diagnostics",
            json!({"tier": "lsp", "server": "x", "complete": true, "errors": 3, "warnings": 0, "total": 3, "truncated": false,
                "diagnostics": rows}),
        );
        assert_eq!(
            text,
            "LCX1 tool=get_diagnostics fields=severity,code,message,lines:column server=x rows=3\n\
             a.py\nerror\tno\tis not\t1,7:2\nerror\tno\tother\\nline\t3:1\n"
        );
        // In an order that places do not give, each stands alone.
        let rows = json!([finding("7:2", "is not"), finding("1:2", "is not")]);
        said(
            "get_diagnostics",
            json!({"tier": "lsp", "server": "x", "complete": true, "errors": 9, "warnings": 1, "total": 2, "truncated": false,
                "diagnostics": rows}),
        );
    }

    #[test]
    fn texts_stand_as_they_are() {
        let source = "def f():\n\tif \"x\":\n\n\t\treturn 1\nGCX1 tool=x fields=y\n# \\n";
        let text = said(
            "explore_symbol",
            json!({"of": "a/b.py:3:5", "id": "a/b.py::f", "tier": "lsp", "server": "x", "complete": true, "about": "",
                "lines": "3:9", "source": source, "references": 4, "test_references": 0,
                "files": [{"path": "z.py", "count": 3}, {"path": "a/b.py", "count": 1}], "callers_total": 2,
                "callers": [{"name": "g", "path": "a/b.py", "line": 20, "calls": ["21:1", "22:1"]},
                    {"name": "h", "path": "c.py", "line": 1, "calls": []}]}),
        );
        // Files that are not among the first, and more mentions than those of the first.
        said(
            "explore_symbol",
            json!({"of": "a/b.py:3:5", "id": "a/b.py::f", "tier": "lsp", "server": "x", "complete": true, "about": "",
                "lines": "3:9", "source": source, "references": 40, "test_references": 0,
                "files": [{"path": "z.py", "count": 30}], "callers_total": 1,
                "callers": [{"name": "g", "path": "a/b.py", "line": 20, "calls": ["21:1", "22:1"]}]}),
        );
        assert_eq!(
            text,
            format!(
                "LCX1 tool=explore_symbol fields=caller,line,lines:column at=3:5 id=a/b.py::f lines=3:9 \
                 server=x text=about:1,source:6 rows=13\n\t1\ng\t20\t21,22:1\n./\nc.py\nh\t1\t\nz.py\t3\n\n{source}\n"
            )
        );
    }

    #[test]
    fn what_does_not_fit_is_not_said() {
        let wrong = [
            json!({"of": "x", "references": []}),
            json!({"of": "a:1:1", "tier": "lsp", "server": "x", "complete": true, "total": 0, "truncated": false, "references": [{"path": "#a", "at": []}]}),
            json!({"of": "a:1:1", "tier": "lsp", "server": "x", "complete": true, "total": 0, "truncated": false, "references": [{"path": "a", "at": ["7"]}]}),
        ];
        for value in wrong {
            assert_eq!(to_string(&Layout::generic("find_references"), &value), None);
        }
        for text in [
            "LCX1 tool=find_references fields=a text=note:99 rows=0\n",
            "LCX1 tool=find_references fields=a text=note:18446744073709551615 rows=0\n",
            "LCX1 tool=find_references fields=a total=x rows=0\n",
            "LCX1 tool=explore_symbol fields=a at=1:1 rows=0\n",
        ] {
            assert!(from_str(text).is_err(), "{text}");
        }
    }
}
