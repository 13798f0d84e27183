//! Reading GCX1 back into JSON values: types are inferred from the cells, or taken from a layout.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::document::Document;
use super::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// Reads a payload whose shape was found from the value (see [`super::to_string`]), or any other GCX1 text, by inferring
/// types: numbers, `true`, `false` and nested JSON are what they look like unless a needless escape marks them as text.
///
/// A value of a table takes many times the memory of its text, as any JSON value does; [`Document`] says the same without building it.
pub fn from_str(payload: &str) -> Result<Value> {
    to_value(&Document::inferred(payload)?)
}

/// The value that a checked text says.
pub(crate) fn to_value(document: &Document<'_>) -> Result<Value> {
    serde_json::to_value(document)
        .map_err(|error| Error::value(ErrorKind::Value, error.to_string(), "values that JSON has", ""))
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
    to_value(&Document::of(layout, payload)?)
}
