//! Cells and entries of the header: one value each, on one line.

use serde_json::{Number, Value};

use super::place::usual_kind;
use crate::layout::{Column, Kind};

/// Stands for the symbol's own name in its signature, and for a stem in front of a name.
pub(super) const ELIDED: char = '…';

/// A value as an entry of the header, which holds no spaces.
pub(super) fn entry(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let is_plain =
                !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\');
            is_plain.then(|| text.clone())
        }
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A value as a cell; empty where it is absent, or a kind that goes without saying.
pub(super) fn cell(column: &Column, value: Option<&Value>, symbol: &str, name: &str) -> Option<String> {
    match value {
        None if column.optional => Some(String::new()),
        Some(Value::String(kind)) if column.name == "kind" && kind == usual_kind(symbol) => Some(String::new()),
        Some(Value::String(signature)) if column.name == "sig" => {
            escaped(&elided(signature, name)?).filter(|text| !text.is_empty())
        }
        Some(Value::String(text)) => escaped(text).filter(|text| !text.is_empty()),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
        _ => None,
    }
}

/// The value of a cell, and none where it is absent.
pub(super) fn read_cell(column: &Column, cell: &str, symbol: &str, name: &str) -> Option<Option<Value>> {
    match cell {
        "" if column.name == "kind" => Some(Some(usual_kind(symbol).into())),
        "" => column.optional.then_some(None),
        cell if column.name == "sig" => Some(Some(unescaped(cell)?.replacen(ELIDED, name, 1).into())),
        cell => read(column.kind, &unescaped(cell)?).map(Some),
    }
}

/// A signature without the name that its row begins with.
fn elided(signature: &str, name: &str) -> Option<String> {
    match name.is_empty() || signature.contains(ELIDED) {
        true => None,
        false => Some(signature.replacen(name, ELIDED.encode_utf8(&mut [0; 4]), 1)),
    }
}

/// The value of an entry.
pub(super) fn read(kind: Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::Text => Some(text.into()),
        Kind::Flag => text.parse::<bool>().ok().map(Value::Bool),
        Kind::Integer | Kind::Float => serde_json::from_str::<Number>(text).ok().map(Value::Number),
        Kind::List | Kind::Json | Kind::Names => None,
    }
}

/// A text in one cell of one line; nothing where it has characters that such a cell cannot hold.
pub(crate) fn escaped(text: &str) -> Option<String> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'[' | b']'..=b'~')) {
        return Some(text.to_string());
    }
    let is_told = |c: char| !c.is_control() || c == '\t' || c == '\n';
    text.chars()
        .all(is_told)
        .then(|| text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n"))
}

/// The text that a cell holds.
pub(crate) fn unescaped(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return Some(text.to_string());
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        out.push(match c {
            '\\' => match characters.next()? {
                't' => '\t',
                'n' => '\n',
                '\\' => '\\',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}
