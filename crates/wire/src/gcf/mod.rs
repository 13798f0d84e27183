//! GCF, specification 3.5.3: any value as lines and tables, and code graphs as numbered nodes and edges.

pub mod bench;
mod de;
mod decode;
mod decode_scalar;
mod decode_table;
mod document;
mod encode;
mod error;
pub mod graph;
mod header;
mod json;
pub mod keyed_set;
mod lines;
mod options;
mod rows;
mod scalar;
mod ser;
mod stream;
mod table;
mod tape;

use std::io;

use serde::{Deserialize, Serialize};

pub use document::Document;
pub use error::{Category, Error, Result};
pub use header::{Profile, profile};
pub use options::{ConstantColumns, DecodeOptions, EncodeOptions, Limits, MAX_DEPTH, Nesting};
pub use rows::Rows;
pub use stream::Stream;

pub(crate) use scalar::number_end;
use tape::Builder;

/// Encodes a value in the generic profile.
pub fn to_string<T: ?Sized + Serialize>(value: &T) -> Result<String> {
    to_string_with(value, &EncodeOptions::default())
}

/// As [`to_string`], with options.
pub fn to_string_with<T: ?Sized + Serialize>(value: &T, options: &EncodeOptions) -> Result<String> {
    let mut builder = Builder::new(&options.limits);
    value.serialize(&mut builder)?;
    encode_built(builder, options)
}

/// Encodes a value and writes it. Nothing is written unless the whole value can be encoded.
pub fn to_writer<W: io::Write, T: ?Sized + Serialize>(writer: W, value: &T) -> Result<()> {
    to_writer_with(writer, value, &EncodeOptions::default())
}

/// As [`to_writer`], with options.
pub fn to_writer_with<W: io::Write, T: ?Sized + Serialize>(
    mut writer: W,
    value: &T,
    options: &EncodeOptions,
) -> Result<()> {
    let text = to_string_with(value, options)?;
    writer.write_all(text.as_bytes()).map_err(Error::from)
}

/// Encodes JSON text. Unlike a detour through `serde_json::Value`, it refuses duplicate keys and integers that do not fit.
pub fn from_json(json: &str, options: &EncodeOptions) -> Result<String> {
    let mut builder = Builder::new(&options.limits);
    json::read(json, &mut builder)?;
    encode_built(builder, options)
}

fn encode_built(builder: Builder, options: &EncodeOptions) -> Result<String> {
    let (tape, root, stack) = builder.finish()?;
    let text = encode::encode(&tape, root, options);
    tape.recycle(stack);
    text
}

/// Decodes a generic payload into a type.
pub fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T> {
    from_str_with(text, &DecodeOptions::default())
}

/// As [`from_str`], with options.
pub fn from_str_with<'a, T: Deserialize<'a>>(text: &'a str, options: &DecodeOptions) -> Result<T> {
    let document = parse(text, options)?;
    let value = document.deserialize();
    document.recycle();
    value
}

/// As [`from_str`], from bytes that must be UTF-8.
pub fn from_slice<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    from_slice_with(bytes, &DecodeOptions::default())
}

/// As [`from_slice`], with options.
pub fn from_slice_with<'a, T: Deserialize<'a>>(bytes: &'a [u8], options: &DecodeOptions) -> Result<T> {
    from_str_with(decode::utf8(bytes)?, options)
}

/// Decodes and checks a generic payload without choosing a type for it yet.
pub fn parse<'a>(text: &'a str, options: &DecodeOptions) -> Result<Document<'a>> {
    decode::decode(text, options)
}

/// A generic payload as compact JSON text.
pub fn to_json(text: &str, options: &DecodeOptions) -> Result<String> {
    let document = parse(text, options)?;
    serde_json::to_string(&document).map_err(|error| Error::new(Category::InvalidValue, error.to_string(), "JSON"))
}

/// A payload of any kind, told apart by its header.
pub enum Payload<'a> {
    /// A value in the generic profile.
    Value(Document<'a>),
    Graph(graph::Graph),
    GraphDelta(graph::GraphDelta),
    SetDelta(keyed_set::SetDelta),
    /// The client's copy, known by this hash, is still right.
    Unchanged {
        pack_root: String,
    },
}

/// What a reply says that is its header alone because the client's copy is still right: `unchanged`, its root and its size.
pub fn unchanged(text: &str) -> Option<serde_json::Value> {
    let header = header::Header::parse(text)
        .ok()
        .filter(|header| header.is_true("unchanged"))?;
    let mut members = serde_json::Map::new();
    members.insert("unchanged".to_owned(), true.into());
    for name in ["pack_root", "symbols", "count"] {
        if let Some(value) = header.get(name) {
            let number = value.parse::<u64>().ok().filter(|_| name != "pack_root");
            members.insert(
                name.to_owned(),
                number.map_or_else(|| value.into(), serde_json::Value::from),
            );
        }
    }
    Some(members.into())
}

/// Whether a text says what changed in rows.
pub(crate) fn is_set_delta(text: &str) -> bool {
    header::Header::parse(text).is_ok_and(|header| header.profile == Profile::Generic && header.is_true("delta"))
}

/// Whether a text says what changed in a graph.
pub(crate) fn is_graph_delta(text: &str) -> bool {
    header::Header::parse(text).is_ok_and(|header| header.profile == Profile::Graph && header.is_true("delta"))
}

/// Decodes a payload of any kind. Payloads of a session need its [`graph::SessionReader`].
pub fn decode<'a>(text: &'a str, options: &DecodeOptions) -> Result<Payload<'a>> {
    let header = header::Header::parse(text)?;
    if header.is_true("unchanged") {
        return Ok(Payload::Unchanged {
            pack_root: header.get("pack_root").unwrap_or_default().to_owned(),
        });
    }
    match (header.profile, header.is_true("delta")) {
        (Profile::Generic, false) => parse(text, options).map(Payload::Value),
        (Profile::Generic, true) => keyed_set::decode_delta(text, options).map(Payload::SetDelta),
        (Profile::Graph, false) => graph::decode(text).map(Payload::Graph),
        (Profile::Graph, true) => graph::decode_delta(text).map(Payload::GraphDelta),
    }
}
