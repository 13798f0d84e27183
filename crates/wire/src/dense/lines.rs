//! Lines of text that match, by file.
//!
//! ```text
//! GCX1 tool=search_text.by_file fields=line,text,symbol etag=75faf369 searched=3399 total=3
//! shop/cart.py
//! 12<TAB>def add(self, item):<TAB>Cart.add
//! 14<TAB>self.add(item.parent)<TAB>"
//! ./views.py
//! 88<TAB>cart.add(item)
//! ```
//!
//! A symbol that is the one above is a quotation mark, none is an empty cell. Files are counted by the reader where all are there.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::{SUFFIX, below_path, entry, escaped, unescaped, whole_path};
use crate::gcx::{Header, Line, Reader};

pub(super) const TOOL: &str = "search_text";

const ROWS: &str = "matches";
/// The symbol of the row above.
const SAME: &str = "\"";
/// What is said of the whole answer, and whether it is a number.
const WHOLE: [(&str, bool); 6] = [
    ("total", true),
    ("files", true),
    ("searched", true),
    ("next_cursor", false),
    ("etag", false),
    ("incomplete", false),
];

pub(super) fn to_string(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let rows = members.get(ROWS)?.as_array()?;
    let truncated = members.get("truncated")?.as_bool()?;
    let mut out = format!("GCX1 tool={TOOL}{SUFFIX} fields=line,text,symbol");
    let mut body = String::new();
    for (name, value) in members {
        let told = WHOLE.iter().any(|(whole, _)| whole == name);
        if name == ROWS
            || name == "truncated"
            || (name == "files" && !truncated && value.as_u64() == Some(files(rows) as u64))
        {
            continue;
        }
        match (entry(value), value) {
            (Some(text), _) if told => write!(out, " {name}={text}").ok()?,
            (None, Value::String(text)) if told => writeln!(body, "\t{name}\t{}", escaped(text)?).ok()?,
            _ => return None,
        }
    }
    if truncated {
        out.push_str(" truncated=true");
    }
    out.push('\n');
    let (mut under, mut above) = ("", None);
    for row in rows {
        let row = row.as_object()?;
        let text = |name: &str| row.get(name)?.as_str();
        let path = text("path")?;
        let is_plain = !path.is_empty()
            && !path.starts_with(['#', '.', '\t'])
            && !path.starts_with("GCX1")
            && !path.contains(|c: char| c.is_control() || c == '\\');
        let symbol = text("symbol");
        if !is_plain || symbol == Some(SAME) || row.len() != 3 + usize::from(symbol.is_some()) {
            return None;
        }
        if path != under {
            writeln!(body, "{}", below_path(path, under)).ok()?;
            (under, above) = (path, None);
        }
        write!(body, "{}\t{}", row.get("line")?.as_u64()?, escaped(text("text")?)?).ok()?;
        match symbol {
            Some(symbol) if above == Some(symbol) => write!(body, "\t{SAME}").ok()?,
            Some(symbol) => write!(body, "\t{}", escaped(symbol).filter(|symbol| !symbol.is_empty())?).ok()?,
            None => {}
        }
        above = symbol;
        body.push('\n');
    }
    out.push_str(&body);
    Some(out)
}

pub(super) fn from_lines(header: &Header, mut reader: Reader<'_>) -> Option<Value> {
    let mut answer = Map::new();
    let mut rows: Vec<Value> = Vec::new();
    let (mut path, mut above) = (String::new(), None::<String>);
    while let Some(line) = reader.next_line().ok()? {
        let Line::Row(line, _) = line else { return None };
        let Some((first, rest)) = line.split_once('\t') else {
            path = whole_path(line, &path);
            above = None;
            continue;
        };
        if first.is_empty() {
            let (name, text) = rest.split_once('\t')?;
            WHOLE.iter().find(|(whole, is_number)| *whole == name && !is_number)?;
            answer.insert(name.into(), unescaped(text)?.into());
            continue;
        }
        let mut cells = rest.split('\t');
        let mut row = Map::new();
        row.insert("path".into(), path.as_str().into());
        row.insert("line".into(), first.parse::<u64>().ok()?.into());
        row.insert("text".into(), unescaped(cells.next()?)?.into());
        above = match cells.next() {
            None => None,
            Some(SAME) => Some(above?),
            Some(symbol) => Some(unescaped(symbol)?),
        };
        if let Some(symbol) = &above {
            row.insert("symbol".into(), symbol.as_str().into());
        }
        rows.push(Value::Object(row));
    }
    let truncated = header.entry("truncated").is_some();
    for (name, is_number) in WHOLE {
        if let Some(text) = header.entry(name) {
            let value = match is_number {
                true => text.parse::<u64>().ok()?.into(),
                false => text.into(),
            };
            answer.insert(name.into(), value);
        }
    }
    if !truncated && !answer.contains_key("files") {
        answer.insert("files".into(), files(&rows).into());
    }
    answer.insert("truncated".into(), truncated.into());
    answer.insert(ROWS.into(), rows.into());
    Some(Value::Object(answer))
}

/// How many files the rows are in.
fn files(rows: &[Value]) -> usize {
    rows.chunk_by(|one, other| one.get("path") == other.get("path")).count()
}
