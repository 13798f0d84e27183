//! Reading GCX1 back into JSON values: types are inferred from the cells, or taken from a layout.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::encode::{NOTES, NOTES_COLUMNS, RESERVED};
use super::error::{Error, ErrorKind, Result};
use super::reader::Header;
use super::section::{DecodedSection, infer, read, typed_text};
use super::text::{self, Mark};
use crate::layout::{Layout, Rows, Section};

/// Reads a payload whose shape was found from the value (see [`super::to_string`]), or any other GCX1 text, by inferring
/// types: numbers, `true`, `false` and nested JSON are what they look like unless a needless escape marks them as text.
pub fn from_str(payload: &str) -> Result<Value> {
    let sections = read(payload, |_| None)?;
    assemble(sections)
}

/// Reads bytes that should be UTF-8; see [`from_str`].
pub fn from_slice(payload: &[u8]) -> Result<Value> {
    from_str(as_text(payload)?)
}

/// The text of `payload`, or an error that says where it stops being UTF-8.
pub(crate) fn as_text(payload: &[u8]) -> Result<&str> {
    std::str::from_utf8(payload).map_err(|error| {
        let good = &payload[..error.valid_up_to()];
        let line = memchr::memchr_iter(b'\n', good).count() + 1;
        let column = good.len() - memchr::memrchr(b'\n', good).map_or(0, |at| at + 1) + 1;
        let found = format!(
            "the byte 0x{:02x}",
            payload.get(good.len()).copied().unwrap_or_default()
        );
        Error::at(ErrorKind::Utf8, line, column, found, "UTF-8", "send the text as UTF-8")
    })
}

/// Reads a payload by its layout into the answer type.
pub fn from_str_with<T: DeserializeOwned>(layout: &Layout, payload: &str) -> Result<T> {
    let value = value_with(layout, payload)?;
    serde_json::from_value(value).map_err(|error| {
        let expected = format!("an answer of `{}`", layout.tool);
        Error::at(
            ErrorKind::Value,
            1,
            1,
            error.to_string(),
            expected,
            "check that the payload is whole",
        )
    })
}

/// Reads a payload by its layout into the JSON value that the answer's serde form has.
pub fn value_with(layout: &Layout, payload: &str) -> Result<Value> {
    if layout.is_generic() {
        return from_str(payload);
    }
    let mut seen = vec![false; layout.sections.len()];
    let sections = read(payload, |header| match find_section(layout, header) {
        Some(at) => Some((layout.sections[at].columns, layout.sections[at].rows)),
        None if is_notes(layout, header) => Some((NOTES_COLUMNS, Rows::Many)),
        None => None,
    })?;
    let mut root = Map::new();
    let mut list = None;
    for section in sections {
        let header = &section.header;
        if is_notes(layout, header) {
            for note in &section.rows {
                let (key, raw) = (
                    note["key"].as_str().unwrap_or_default(),
                    note["value"].as_str().unwrap_or_default(),
                );
                if let Some(column) = layout.meta.iter().find(|column| column.name == key) {
                    root.insert(
                        key.to_owned(),
                        typed_text(raw.into(), Mark::Plain, column, header.line, 1, false)?,
                    );
                }
            }
            continue;
        }
        let Some(at) = find_section(layout, header) else {
            let expected: Vec<String> = layout
                .sections
                .iter()
                .map(|s| format!("{}{}", layout.tool, s.suffix))
                .collect();
            let (found, expected) = (format!("the section `{}`", header.tool), expected.join(", "));
            return Err(Error::at(
                ErrorKind::Schema,
                header.line,
                1,
                found,
                expected,
                "decode it without a layout",
            ));
        };
        let described = &layout.sections[at];
        check_columns(described, header)?;
        seen[at] = true;
        for (key, raw) in &header.entries {
            if let Some(column) = layout.meta.iter().find(|column| column.name == key) {
                let (text, mark) = text::unescape(raw);
                root.insert(key.clone(), typed_text(text, mark, column, header.line, 1, false)?);
            }
        }
        let rows = section.rows;
        if described.rows == Rows::One && rows.len() > 1 {
            let found = format!("{} rows", rows.len());
            return Err(Error::at(
                ErrorKind::RowCount,
                header.line,
                1,
                found,
                "one row",
                "send one answer per payload",
            ));
        }
        match (described.member, described.rows) {
            ("", Rows::One) => match rows.into_iter().next() {
                Some(Value::Object(row)) => root.extend(row),
                _ => return Err(missing_row(header)),
            },
            ("", _) => list = Some(Value::Array(rows)),
            (member, Rows::Many | Rows::Values) => _ = root.insert(member.to_owned(), Value::Array(rows)),
            (_, Rows::Value) if rows.is_empty() => return Err(missing_row(header)),
            (member, Rows::One | Rows::Value) => {
                root.insert(member.to_owned(), rows.into_iter().next().unwrap_or_default());
            }
        }
    }
    if let Some(at) = seen.iter().position(|seen| !seen) {
        let expected = format!("a section `{}{}`", layout.tool, layout.sections[at].suffix);
        return Err(Error::at(
            ErrorKind::Schema,
            1,
            1,
            "the end of the text",
            expected,
            "the payload was cut: ask again",
        ));
    }
    Ok(list.unwrap_or(Value::Object(root)))
}

fn missing_row(header: &Header) -> Error {
    Error::at(
        ErrorKind::RowCount,
        header.line,
        1,
        "no row",
        "one row",
        "the payload was cut: ask again",
    )
}

fn find_section(layout: &Layout, header: &Header) -> Option<usize> {
    let suffix = header.tool.strip_prefix(layout.tool)?;
    layout.sections.iter().position(|section| section.suffix == suffix)
}

fn is_notes(layout: &Layout, header: &Header) -> bool {
    header.tool.strip_prefix(layout.tool) == Some(NOTES) && find_section(layout, header).is_none()
}

/// Whether a text that begins with `header` follows `layout`.
pub(crate) fn opens(layout: &Layout, header: &Header) -> bool {
    let first = layout.sections.first();
    first.is_some_and(|first| header.tool.strip_prefix(layout.tool) == Some(first.suffix) && has_columns(first, header))
}

/// Whether the header's columns are those of the layout (a `_` at the end is padding).
fn has_columns(section: &Section, header: &Header) -> bool {
    let fields = match &header.fields[..] {
        [fields @ .., padding] if padding == "_" && fields.len() == section.columns.len() => fields,
        fields => fields,
    };
    fields.len() == section.columns.len()
        && fields
            .iter()
            .zip(section.columns)
            .all(|(field, column)| field == column.name)
}

fn check_columns(section: &Section, header: &Header) -> Result<()> {
    if has_columns(section, header) {
        return Ok(());
    }
    let expected = section
        .columns
        .iter()
        .map(|column| column.name)
        .collect::<Vec<_>>()
        .join(",");
    let found = format!("the fields {}", header.fields.join(","));
    Err(Error::at(
        ErrorKind::Schema,
        header.line,
        1,
        found,
        expected,
        "decode it without a layout",
    ))
}

/// Puts inferred sections together again; the rules are the encoder's, read backwards.
fn assemble(mut sections: Vec<DecodedSection>) -> Result<Value> {
    if sections.len() == 1 {
        let section = &sections[0];
        let named = section
            .header
            .entries
            .iter()
            .any(|(key, _)| !RESERVED.contains(&key.as_str()));
        let sectioned = section.header.entry("sections").is_some();
        if section.header.entry("rows").is_some() && !named {
            return Ok(Value::Array(sections.remove(0).rows));
        }
        if section.rows.len() == 1 && !named && !sectioned {
            return Ok(sections.remove(0).into_object());
        }
    }
    let leading = match &sections[..] {
        [first, second, ..] => second
            .header
            .tool
            .rsplit_once('.')
            .is_some_and(|(tool, _)| tool == first.header.tool),
        _ => false,
    };
    let mut root = Map::new();
    for (at, section) in sections.into_iter().enumerate() {
        for (key, raw) in &section.header.entries {
            if RESERVED.contains(&key.as_str()) {
                continue;
            }
            let (text, mark) = text::unescape(raw);
            let value = if mark == Mark::Plain { infer(&text) } else { None };
            let value = value.unwrap_or_else(|| Value::String(text.into_owned()));
            // Only the first header carries the answer's own entries; another's belong to its section.
            let key = if at == 0 {
                key.clone()
            } else {
                format!("{}.{key}", section.header.tool)
            };
            root.insert(key, value);
        }
        if at == 0 && leading && section.rows.len() == 1 {
            if let Value::Object(members) = section.into_object() {
                root.extend(members);
            }
            continue;
        }
        let key = section
            .header
            .tool
            .rsplit_once('.')
            .map_or("rows", |(_, key)| key)
            .to_owned();
        root.insert(key, Value::Array(section.rows));
    }
    Ok(Value::Object(root))
}
