//! One symbol with its source, whose lines stand as they are: an escaped line break, tab or quote costs a token each.
//!
//! ```text
//! LCX1 tool=get_symbol_source fields=symbol,lines,kind etag=2da912f8 sig=21 source=2
//! shop/cart.py
//! Cart.add<TAB>12:13
//!     def add(self, item):
//!         self.items.append(item)
//! ```
//!
//! `source` is the number of lines of the source, which end the text, so that nothing in them can be taken for anything else.
//! `sig` is the length of the signature where the source begins with it; another stands in the row. `from` is the line of the
//! first, where that is not the symbol's.

use serde_json::{Map, Value};

use super::cells::{entry, escaped, unescaped};
use super::place::{Place, usual_kind};
use crate::gcx::Header;
use crate::lcx::TAG;

pub(super) const TOOL: &str = "get_symbol_source";

pub(super) fn to_string(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let text = |name: &str| members.get(name)?.as_str();
    let number = |name: &str| members.get(name)?.as_u64();
    let place = Place::of_id(text("id")?)?;
    let (source, signature, etag) = (text("source")?, text("sig"), members.get("etag"));
    let is_whole = members.len() == 8 + usize::from(signature.is_some()) + usize::from(etag.is_some());
    if !is_whole || text("path")? != place.path || text("name")? != place.name() {
        return None;
    }
    let (start, from) = (number("start_line")?, number("from_line")?);
    let mut row = vec![
        place.symbol.to_string(),
        format!("{start}:{}", number("end_line")?),
        match text("kind")? {
            kind if kind == usual_kind(place.symbol) => String::new(),
            kind => escaped(kind).filter(|kind| !kind.is_empty())?,
        },
    ];
    let mut header = format!("{TAG} tool={TOOL} fields=symbol,lines,kind");
    if let Some(etag) = etag {
        header.push_str(&format!(" etag={}", entry(etag)?));
    }
    if from != start {
        header.push_str(&format!(" from={from}"));
    }
    match signature {
        Some(signature) if source.trim_start().starts_with(signature) => {
            header.push_str(&format!(" sig={}", signature.len()));
        }
        Some(signature) => row.push(escaped(signature)?),
        None => {}
    }
    header.push_str(&format!(" source={}", source.split('\n').count()));
    while row.last().is_some_and(String::is_empty) {
        row.pop();
    }
    Some(format!("{header}\n{}\n{}\n{source}\n", place.path, row.join("\t")))
}

pub(super) fn from_str(header: &Header, body: &str) -> Option<Value> {
    // Other lines than these two are source, whatever they look like.
    let mut parts = body.strip_suffix('\n')?.splitn(3, '\n');
    let (path, row, source) = (parts.next()?, parts.next()?, parts.next()?);
    if source.split('\n').count() != header.entry("source")?.parse::<usize>().ok()? {
        return None;
    }
    let mut cells = row.split('\t');
    let (symbol, lines) = (cells.next()?, cells.next()?);
    let (start, end) = lines.split_once(':')?;
    let (start, end): (u64, u64) = (start.parse().ok()?, end.parse().ok()?);
    let place = Place { path, symbol };
    let kind = match cells.next() {
        None | Some("") => usual_kind(symbol).to_string(),
        Some(kind) => unescaped(kind)?,
    };
    let signature = match (header.entry("sig"), cells.next()) {
        (Some(length), None) => Some(source.trim_start().get(..length.parse().ok()?)?.to_string()),
        (None, Some(signature)) => Some(unescaped(signature)?),
        (None, None) => None,
        (Some(_), Some(_)) => return None,
    };
    let from: u64 = match header.entry("from") {
        Some(from) => from.parse().ok()?,
        None => start,
    };
    let mut answer = Map::new();
    answer.insert("id".into(), place.id().into());
    answer.insert("kind".into(), kind.into());
    answer.insert("name".into(), place.name().into());
    answer.insert("path".into(), path.into());
    answer.insert("start_line".into(), start.into());
    answer.insert("end_line".into(), end.into());
    answer.insert("from_line".into(), from.into());
    answer.extend(signature.map(|signature| ("sig".to_string(), signature.into())));
    answer.extend(header.entry("etag").map(|etag| ("etag".to_string(), etag.into())));
    answer.insert("source".into(), source.into());
    Some(Value::Object(answer))
}
