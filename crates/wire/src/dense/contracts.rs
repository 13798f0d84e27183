//! Contracts with their two sides, one line each.
//!
//! ```text
//! LCX1 tool=contracts.list fields=contract,providers,consumers,service service=shop total=3 etag=75faf369
//! http:
//! GET /orders/{id}<TAB>shop/api/orders.py::show<TAB>web/api/client.ts::loadOrder
//! POST /orders<TAB>::create<TAB>::placeOrder, cart.ts::repeat
//! env:
//! SHOP_TOKEN<TAB><TAB>web/api/client.ts
//! ```
//!
//! An id is the type, the method and the path with colons between them, so the path stands for all three below a line that names the
//! type. A symbol without a path is in the file that the same column named last, and a path is said from that one's folder as
//! elsewhere ([`place`](super::place)). The service that most have is in the header; another stands in the last cell.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use super::cells::{entry, escaped, unescaped};
use super::objects;
use super::place::{is_plain_path, short_path, whole_path};
use super::whole::{self, Said, number, text};
use crate::gcx::Header;
use crate::lcx::{TAG, lines};

pub(super) const TOOL: &str = "contracts.list";

const ROWS: &str = "contracts";
const SERVICE: &str = "service";
/// A service that has no name, where the others have one.
const NAMELESS: &str = "-";
/// Between the symbols of one side.
const BETWEEN: &str = ", ";
/// Between the parts of an id.
const PARTS: &str = "::";
const SIDES: [&str; 2] = ["providers", "consumers"];
const WHOLE: &[Said] = &[
    number("total"),
    text("next_cursor"),
    text("etag"),
    text("inferred"),
    text("incomplete"),
];

pub(super) fn to_string(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let rows = objects(members.get(ROWS)?)?;
    let usual = usual_service(&rows);
    let mut out = format!("{TAG} tool={TOOL} fields=contract,providers,consumers,service");
    if !usual.is_empty() {
        write!(out, " {SERVICE}={}", entry(&usual.into())?).ok()?;
    }
    whole::put(&mut out, WHOLE, members, &[ROWS])?;
    let mut kind = "";
    let mut above = ["", ""];
    for row in rows {
        let text = |name: &str| row.get(name)?.as_str();
        let (of_kind, path, method) = (text("type")?, text("path")?, text("method"));
        let id = match method {
            Some(method) => format!("{of_kind}{PARTS}{method}{PARTS}{path}"),
            None => format!("{of_kind}{PARTS}{path}"),
        };
        let is_told = match method {
            Some(method) => !method.is_empty() && !method.contains(char::is_whitespace),
            None => !path.contains(' '),
        };
        if text("id")? != id || !is_told || of_kind.is_empty() || row.len() != 6 + usize::from(method.is_some()) {
            return None;
        }
        if of_kind != kind {
            writeln!(out, "{}:", escaped(of_kind).filter(|kind| !kind.contains('\\'))?).ok()?;
            kind = of_kind;
        }
        let method = method.map(|method| format!("{method} ")).unwrap_or_default();
        write!(out, "{}", escaped(&format!("{method}{path}"))?).ok()?;
        let mut cells = Vec::new();
        for (side, above) in SIDES.iter().zip(&mut above) {
            let ids = row.get(*side)?.as_array()?.iter().map(Value::as_str);
            let said: Option<Vec<String>> = ids.map(|id| said(id?, above)).collect();
            cells.push(said?.join(BETWEEN));
        }
        cells.push(match text(SERVICE)? {
            service if service == usual => String::new(),
            "" => NAMELESS.to_string(),
            NAMELESS => return None,
            service => escaped(service)?,
        });
        // A line without any tab names a type.
        let told = cells.iter().rposition(|cell| !cell.is_empty()).unwrap_or_default();
        for cell in &cells[..=told] {
            write!(out, "\t{cell}").ok()?;
        }
        out.push('\n');
    }
    Some(out)
}

pub(super) fn from_str(header: &Header, body: &str) -> Option<Value> {
    let mut answer = Map::new();
    let mut rows: Vec<Value> = Vec::new();
    let usual = header.entry(SERVICE).unwrap_or_default();
    let mut kind = "";
    let mut above = [String::new(), String::new()];
    for line in lines(body) {
        if whole::sentence(line, WHOLE, &mut answer)? {
            continue;
        }
        let Some((contract, sides)) = line.split_once('\t') else {
            kind = line.strip_suffix(':')?;
            continue;
        };
        let contract = unescaped(contract)?;
        let (method, path) = match contract.split_once(' ') {
            Some((method, path)) => (Some(method), path),
            None => (None, contract.as_str()),
        };
        let mut row = Map::new();
        let of_method = method.map(|method| format!("{method}{PARTS}")).unwrap_or_default();
        row.insert("id".into(), format!("{kind}{PARTS}{of_method}{path}").into());
        row.insert("type".into(), kind.into());
        if let Some(method) = method {
            row.insert("method".into(), method.into());
        }
        row.insert("path".into(), path.into());
        let mut cells = sides.split('\t');
        for (side, above) in SIDES.iter().zip(&mut above) {
            let ids = cells
                .next()
                .unwrap_or_default()
                .split(BETWEEN)
                .filter(|id| !id.is_empty());
            let ids: Vec<Value> = ids.map(|id| heard(id, above).into()).collect();
            row.insert((*side).into(), ids.into());
        }
        let service = match cells.next().unwrap_or_default() {
            "" => usual.to_string(),
            NAMELESS => String::new(),
            service => unescaped(service)?,
        };
        row.insert(SERVICE.into(), service.into());
        rows.push(row.into());
    }
    whole::read(header, WHOLE, &mut answer)?;
    answer.insert(ROWS.into(), rows.into());
    Some(Value::Object(answer))
}

/// The service that most contracts have, if it fits into a header.
fn usual_service<'v>(rows: &[&'v Map<String, Value>]) -> &'v str {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for service in rows.iter().filter_map(|row| row.get(SERVICE)?.as_str()) {
        *counts.entry(service).or_default() += 1;
    }
    let told = counts
        .into_iter()
        .filter(|(service, _)| entry(&(*service).into()).is_some());
    told.max_by_key(|(_, count)| *count).map_or("", |(service, _)| service)
}

/// A symbol or file, below the file that was said before it.
fn said<'v>(id: &'v str, above: &mut &'v str) -> Option<String> {
    let (path, symbol) = id
        .split_once(PARTS)
        .map_or((id, None), |(path, symbol)| (path, Some(symbol)));
    if !is_plain_path(path) || id.contains(BETWEEN) || id.contains(|c: char| c.is_control()) {
        return None;
    }
    let said = match symbol {
        Some(symbol) if path == *above => format!("{PARTS}{symbol}"),
        Some(symbol) => format!("{}{PARTS}{symbol}", short_path(path, above, "")),
        None => short_path(path, above, ""),
    };
    *above = path;
    Some(said)
}

/// The id that was said.
fn heard(said: &str, above: &mut String) -> String {
    let (path, symbol) = said
        .split_once(PARTS)
        .map_or((said, None), |(path, symbol)| (path, Some(symbol)));
    if !path.is_empty() {
        *above = whole_path(path, above, "");
    }
    match symbol {
        Some(symbol) => format!("{above}{PARTS}{symbol}"),
        None => above.clone(),
    }
}
