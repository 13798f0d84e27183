//! Lines of text that match, by file.
//!
//! ```text
//! LCX1 tool=search_text fields=line+text,symbol etag=75faf369 searched=3399
//! shop/cart.py
//! 12 def add(self, item):<TAB>Cart.add
//! 14 self.add(item.parent)<TAB>"
//! views.py
//! 88 cart.add(item)
//! ```
//!
//! A symbol that is the one above is a quotation mark, none is an empty cell. Lines and files are counted by the reader where all are
//! there.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::cells::{escaped, unescaped};
use super::names::row_of;
use super::objects;
use super::place::{Paths, is_plain_path};
use super::whole::{self, Said, number, text};
use crate::gcx::Header;
use crate::lcx::{self, TAG};

pub(super) const TOOL: &str = "search_text";

const ROWS: &str = "matches";
/// The symbol of the row above.
const SAME: &str = "\"";
const WHOLE: &[Said] = &[
    number("total"),
    number("files"),
    number("searched"),
    text("next_cursor"),
    text("etag"),
    text("incomplete"),
];

pub(super) fn to_string(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let rows = members.get(ROWS)?;
    let mut elsewhere = vec![ROWS];
    for (name, count) in counted(rows.as_array()?) {
        let is_derived =
            members.get("truncated")?.as_bool() == Some(false) && members.get(name)?.as_u64() == Some(count);
        elsewhere.extend(is_derived.then_some(name));
    }
    let rows = objects(rows)?;
    let mut paths = Paths::of(rows.iter().filter_map(|row| row.get("path")?.as_str()));
    let mut out = format!("{TAG} tool={TOOL} fields=line+text,symbol{}", paths.entry());
    whole::put(&mut out, WHOLE, members, &elsewhere)?;
    let mut above = None;
    for row in rows {
        let text = |name: &str| row.get(name)?.as_str();
        let path = text("path")?;
        let symbol = text("symbol");
        if !is_plain_path(path) || symbol == Some(SAME) || row.len() != 3 + usize::from(symbol.is_some()) {
            return None;
        }
        if let Some(line) = paths.say(path) {
            writeln!(out, "{line}").ok()?;
            above = None;
        }
        write!(out, "{} {}", row.get("line")?.as_u64()?, escaped(text("text")?)?).ok()?;
        match symbol {
            Some(symbol) if above == Some(symbol) => write!(out, "\t{SAME}").ok()?,
            Some(symbol) => write!(out, "\t{}", escaped(symbol).filter(|symbol| !symbol.is_empty())?).ok()?,
            None => {}
        }
        above = symbol;
        out.push('\n');
    }
    Some(out)
}

pub(super) fn from_str(header: &Header, body: &str) -> Option<Value> {
    let mut answer = Map::new();
    let mut rows: Vec<Value> = Vec::new();
    let mut paths = Paths::read(header);
    let mut above = None::<String>;
    for line in lcx::lines(body) {
        if whole::sentence(line, WHOLE, &mut answer)? {
            continue;
        }
        let Some((number, rest)) = row_of(line) else {
            paths.hear(line);
            above = None;
            continue;
        };
        let mut cells = rest.strip_prefix(' ')?.split('\t');
        let mut row = Map::new();
        row.insert("path".into(), paths.path().into());
        row.insert("line".into(), number.parse::<u64>().ok()?.into());
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
    whole::read(header, WHOLE, &mut answer)?;
    if answer.get("truncated") == Some(&Value::Bool(false)) {
        for (name, count) in counted(&rows) {
            answer.entry(name).or_insert_with(|| count.into());
        }
    }
    answer.insert(ROWS.into(), rows.into());
    Some(Value::Object(answer))
}

/// How many rows there are, and files that they are in.
fn counted(rows: &[Value]) -> [(&'static str, u64); 2] {
    let files = rows.chunk_by(|one, other| one.get("path") == other.get("path")).count();
    [("total", rows.len() as u64), ("files", files as u64)]
}
