//! One value, four projections, and the choice between them.
//!
//! The one trick of [`Format::Auto`]: compact JSON is always a candidate, so a form that would cost more tokens than JSON can
//! never win, and the winner is decoded and compared before it is used, so neither can a form that would lose a fact.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;

use crate::answers::{ContextPack, PackDelta};
use crate::layout::Layout;
use crate::tokens::Tokenizer;
use crate::{counted, exact, gcf, gcx, lcx, markdown, protocol};

/// How an answer is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Compact JSON.
    Json,
    /// GCX1: tab-separated rows.
    Gcx,
    /// GCF: lines and tables, generic profile.
    Gcf,
    /// LCX1: by file or by place, where the tool has such a form; what [`Format::Auto`] chooses elsewhere.
    Lcx,
    /// Markdown, for people. It is not read back.
    Markdown,
    /// Plain text as a layout writes it ([`Layout::text`]): source with its line numbers, places as `path:first-last`. It is not read back.
    Text,
    /// The layout's own text where it has one; else whichever lossless form has the fewest tokens.
    #[default]
    Auto,
}

impl Format {
    /// Those that are asked for by name, in the order help lists them. (`lcx` is read; it is written where `auto` finds it shortest.)
    pub const ALL: [Self; 6] = [Self::Auto, Self::Text, Self::Json, Self::Gcx, Self::Gcf, Self::Markdown];

    /// Its name as an argument.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Gcx => "gcx",
            Self::Gcf => "gcf",
            Self::Lcx => "lcx",
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Auto => "auto",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "gcx1" => Ok(Self::Gcx),
            "lcx" | "lcx1" => Ok(Self::Lcx),
            "md" => Ok(Self::Markdown),
            _ => Self::ALL
                .into_iter()
                .find(|format| format.name() == name)
                .ok_or_else(|| format!("no format `{name}`: there are auto, text, json, gcx, gcf and markdown")),
        }
    }
}

/// A text and the format it turned out to be in, which is never [`Format::Auto`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The format.
    pub format: Format,
    /// The text.
    pub text: String,
}

/// Why a value could not be written or a text not be read.
#[derive(Debug)]
pub enum Error {
    /// As JSON.
    Json(serde_json::Error),
    /// As JSON that is to lose nothing.
    Exact(exact::Error),
    /// As GCX1.
    Gcx(gcx::Error),
    /// As GCF.
    Gcf(Box<gcf::Error>),
    /// As LCX1.
    Lcx(gcx::Error),
    /// A request that must be refused.
    Refused(protocol::Refusal),
    /// Markdown and plain text are not read back.
    Markdown,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "JSON: {error}"),
            Self::Exact(error) => write!(f, "JSON: {error}"),
            Self::Gcx(error) => write!(f, "GCX1: {error}"),
            Self::Gcf(error) => write!(f, "GCF: {error}"),
            Self::Lcx(error) => write!(f, "LCX1: {error}"),
            Self::Refused(refusal) => write!(f, "GCX1: {refusal}"),
            Self::Markdown => f.write_str("Markdown and plain text are written to be read and cannot be decoded"),
        }
    }
}

impl std::error::Error for Error {}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl From<protocol::RequestError> for Error {
    fn from(error: protocol::RequestError) -> Self {
        match error {
            protocol::RequestError::Text(error) => Self::Gcx(error),
            protocol::RequestError::Refused(refusal) => Self::Refused(refusal),
        }
    }
}

impl From<exact::Error> for Error {
    fn from(error: exact::Error) -> Self {
        Self::Exact(error)
    }
}

impl From<gcx::Error> for Error {
    fn from(error: gcx::Error) -> Self {
        Self::Gcx(error)
    }
}

impl From<gcf::Error> for Error {
    fn from(error: gcf::Error) -> Self {
        Self::Gcf(Box::new(error))
    }
}

/// Says `value` in `format`. `layout` shapes GCX1 ([`Layout::generic`] lets the value decide); `Auto` counts tokens with
/// `tokenizer`.
pub fn encode<T: Serialize + ?Sized>(
    value: &T,
    layout: &Layout,
    format: Format,
    tokenizer: Tokenizer,
) -> Result<Encoded, Error> {
    let text = match format {
        Format::Json => serde_json::to_string(value)?,
        Format::Gcx => write_gcx(value, layout)?,
        Format::Gcf => gcf::to_string(value)?,
        Format::Lcx => {
            let value = serde_json::to_value(value)?;
            match lcx::to_string(layout, &value) {
                Some(text) => text,
                None => {
                    let json = value.to_string();
                    return Ok(choose(&value, json, layout, tokenizer, |text| text));
                }
            }
        }
        Format::Markdown | Format::Text => text(&serde_json::to_value(value)?, layout),
        Format::Auto => {
            let json = serde_json::to_string(value)?;
            return Ok(choose(&serde_json::to_value(value)?, json, layout, tokenizer, |text| {
                text
            }));
        }
    };
    Ok(Encoded { format, text })
}

/// The same for an answer that is sent: its header says how many lines it has, so that whoever reads it sees when it was cut. `json` is
/// the compact JSON of the value, which is not written again.
pub fn encode_answer(
    value: &Value,
    json: &str,
    layout: &Layout,
    format: Format,
    tokenizer: Tokenizer,
) -> Result<Encoded, Error> {
    let text = match format {
        Format::Json => json.to_string(),
        Format::Lcx => match lcx::to_string(layout, value) {
            Some(text) => text,
            None => return Ok(choose(value, json.to_string(), layout, tokenizer, counted::counted)),
        },
        Format::Auto => return Ok(choose(value, json.to_string(), layout, tokenizer, counted::counted)),
        format => counted::counted(encode(value, layout, format, tokenizer)?.text),
    };
    Ok(Encoded { format, text })
}

/// Reads a text in whatever lossless format it is in.
pub fn decode(text: &str) -> Result<Value, Error> {
    decode_from(text, detect(text))
}

/// Reads a text in a known format; `Auto` detects it.
pub fn decode_from(text: &str, format: Format) -> Result<Value, Error> {
    match format {
        Format::Json => Ok(exact::from_json(text)?),
        Format::Gcx => decode_gcx(text),
        Format::Gcf => decode_gcf(text),
        Format::Lcx => lcx::from_str(text).map_err(Error::Lcx),
        Format::Markdown | Format::Text => Err(Error::Markdown),
        Format::Auto => decode(text),
    }
}

/// The format of a text, by its first word. JSON when in doubt: its error messages serve best.
pub fn detect(text: &str) -> Format {
    let start = text.trim_start_matches(['\u{feff}', '\n', '\r', ' ']);
    if start.starts_with("GCF ") {
        Format::Gcf
    } else if start.starts_with("LCX") {
        Format::Lcx
    } else if start.starts_with("GCX") || start.starts_with('#') {
        Format::Gcx
    } else {
        Format::Json
    }
}

/// A value in GCX1. One under the name of a shape of the protocol must have that shape.
fn write_gcx<T: Serialize + ?Sized>(value: &T, layout: &Layout) -> Result<String, Error> {
    match protocol::layout(layout.tool) {
        Some(layout) => Ok(protocol::encode(layout, serde_json::to_value(value)?)?),
        None => Ok(gcx::to_string_with(layout, value)?),
    }
}

/// The value of a GCX1 text, whose shapes of the protocol must have their shape.
fn decode_gcx(text: &str) -> Result<Value, Error> {
    Ok(gcx::to_value(&check_gcx(text)?)?)
}

/// A GCX1 text that keeps all rules, those of the protocol's shapes too. It can be serialized without building its value.
pub fn check_gcx(text: &str) -> Result<gcx::Document<'_>, Error> {
    let document = gcx::Document::parse(text)?;
    for (tool, part) in document.parts() {
        protocol::check(&tool, part)?;
    }
    Ok(document)
}

/// A GCF text of either profile: a graph with sources behind it is a pack or what changed in one.
fn decode_gcf(text: &str) -> Result<Value, Error> {
    let sources = text.find("\nsources ").map(|end| end + 1);
    if let Some(counted::Missing { found, expected }) = counted::missing(text, sources) {
        return Err(gcf::Error::new(gcf::Category::CountMismatch, found, expected).into());
    }
    if let Some(unchanged) = gcf::unchanged(text) {
        // The graph is as it was; lines of sources may have moved.
        return match (sources, unchanged.get("pack_root").and_then(Value::as_str)) {
            (Some(at), Some(root)) => {
                let same = gcf::graph::GraphDelta {
                    base_root: root.to_owned(),
                    new_root: root.to_owned(),
                    ..gcf::graph::GraphDelta::default()
                };
                Ok(serde_json::to_value(PackDelta::from_gcf(&same, &text[at..])?)?)
            }
            _ => Ok(unchanged),
        };
    }
    let header = text.lines().next().unwrap_or_default();
    let says = |field: &str| header.split(' ').any(|word| word == field);
    if !says("profile=graph") {
        return Ok(gcf::from_str_with(text, &gcf::DecodeOptions::accepting())?);
    }
    let (graph, sources) = match sources {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    };
    Ok(match (says("delta=true"), sources) {
        (true, None) => serde_json::to_value(gcf::graph::decode_delta(graph)?),
        (true, Some(sources)) => serde_json::to_value(PackDelta::from_gcf(&gcf::graph::decode_delta(graph)?, sources)?),
        (false, None) => serde_json::to_value(gcf::graph::decode(graph)?),
        (false, Some(sources)) => {
            let graph = gcf::graph::decode(graph)?;
            let numbers: Vec<u64> = (0..graph.symbols.len() as u64).collect();
            serde_json::to_value(ContextPack::from_gcf(graph, &numbers, sources, |_, _| None)?)
        }
    }?)
}

/// Texts longer than this in all are estimated first, and counted only where the estimate leaves doubt.
const COUNT_ALL_BELOW: usize = 8 << 10;

/// Two estimates can mislead by no more than this: of texts this long, `lacon bench wire` shows none more than 10 % too low or
/// 15 % too high. (Of a few words an estimate may be off by a quarter; they are counted.)
const DOUBT: f64 = 0.35;

/// An LCX1 text in less than this share of JSON's bytes is taken as it is: it says the same words as the other
/// forms and leaves more out, and counting them all would take longer than writing it.
const CLEARLY: (usize, usize) = (6, 10);

/// What is written to be read: as the layout says, else as Markdown.
fn text(value: &Value, layout: &Layout) -> String {
    match layout.text {
        Some(write) => write(value),
        None => markdown::to_string(value),
    }
}

/// `finish` is what is done to a text in GCX1 or GCF before it is compared and sent.
fn choose(
    value: &Value,
    json: String,
    layout: &Layout,
    tokenizer: Tokenizer,
    finish: impl Fn(String) -> String,
) -> Encoded {
    if let Some(write) = layout.text {
        return Encoded {
            format: Format::Text,
            text: write(value),
        };
    }
    let is_short = |text: &String| text.len() * CLEARLY.1 < json.len() * CLEARLY.0;
    let own = match lcx::to_string(layout, value) {
        Some(text) if is_short(&text) && is_faithful(value, layout, Format::Lcx, &text) => {
            let format = Format::Lcx;
            return Encoded { format, text };
        }
        own => own,
    };
    let mut candidates = vec![(Format::Json, json)];
    // A form that cannot carry this value at all is no candidate.
    candidates.extend(write_gcx(value, layout).ok().map(|text| (Format::Gcx, finish(text))));
    candidates.extend(gcf::to_string(value).ok().map(|text| (Format::Gcf, finish(text))));
    candidates.extend(own.map(|text| (Format::Lcx, text)));
    let mut costs: Vec<usize> = if candidates.iter().map(|(_, text)| text.len()).sum::<usize>() < COUNT_ALL_BELOW {
        candidates.iter().map(|(_, text)| tokenizer.count(text)).collect()
    } else {
        let estimates: Vec<usize> = candidates.iter().map(|(_, text)| tokenizer.estimate(text)).collect();
        let least = estimates.iter().copied().min().unwrap_or_default();
        let in_doubt = |estimate: usize| (estimate as f64) < least as f64 * (1.0 + DOUBT);
        // JSON is counted whenever anything is, since nothing may cost more than it.
        let any = estimates.iter().filter(|&&estimate| in_doubt(estimate)).count() > 1;
        let count = |(&estimate, (_, text)): (&usize, &(Format, String))| match any && in_doubt(estimate) {
            true => tokenizer.count(text),
            // Out of the race: never below one that was counted.
            false => estimate.max(if any { usize::MAX / 2 } else { 0 }),
        };
        estimates.iter().zip(&candidates).map(count).collect()
    };
    while candidates.len() > 1 {
        // The first of equals wins, and JSON comes first.
        let best = (0..costs.len()).min_by_key(|&at| costs[at]).unwrap_or_default();
        let (format, text) = &candidates[best];
        if *format == Format::Json || is_faithful(value, layout, *format, text) {
            break;
        }
        candidates.remove(best);
        costs.remove(best);
    }
    let best = (0..costs.len()).min_by_key(|&at| costs[at]).unwrap_or_default();
    let (format, text) = candidates.swap_remove(best);
    Encoded { format, text }
}

/// Whether the text decodes to the same facts. Formats may spell a number differently (`1.0` as `1`), never change it.
fn is_faithful(value: &Value, layout: &Layout, format: Format, text: &str) -> bool {
    let decoded = match format {
        Format::Gcx => gcx::value_with(layout, text).ok(),
        Format::Lcx => lcx::from_str(text).ok(),
        Format::Gcf => gcf::from_str(text).ok(),
        Format::Json | Format::Markdown | Format::Text | Format::Auto => return format == Format::Json,
    };
    decoded.is_some_and(|decoded| same(&decoded, value))
}

/// Whether two values state the same facts: as `==`, except that a number is compared by what it is, not by how it is stored.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b
                || (a.is_f64() != b.is_f64()
                    && a.as_f64() == b.as_f64()
                    && a.as_f64().is_some_and(|n| n.abs() < 9.0e15))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}
