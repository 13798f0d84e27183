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
use crate::{answers, dense, gcf, gcx, markdown, places};

/// How an answer is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Compact JSON.
    Json,
    /// GCX1: tab-separated rows.
    Gcx,
    /// GCF: lines and tables, generic profile.
    Gcf,
    /// Markdown, for people. It is not read back.
    Markdown,
    /// Plain text as a layout writes it ([`Layout::text`]): source with its line numbers, places as `path:first-last`. It is not read back.
    Text,
    /// The layout's own text where it has one; else whichever lossless form has the fewest tokens.
    #[default]
    Auto,
}

impl Format {
    /// All of them, in the order help lists them.
    pub const ALL: [Self; 6] = [Self::Auto, Self::Text, Self::Json, Self::Gcx, Self::Gcf, Self::Markdown];

    /// Its name as an argument.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Gcx => "gcx",
            Self::Gcf => "gcf",
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
    /// As GCX1.
    Gcx(gcx::Error),
    /// As GCF.
    Gcf(Box<gcf::Error>),
    /// Markdown and plain text are not read back.
    Markdown,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "JSON: {error}"),
            Self::Gcx(error) => write!(f, "GCX1: {error}"),
            Self::Gcf(error) => write!(f, "GCF: {error}"),
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
        Format::Gcx => gcx::to_string_with(layout, value)?,
        Format::Gcf => gcf::to_string(value)?,
        Format::Markdown | Format::Text => text(&serde_json::to_value(value)?, layout),
        Format::Auto => {
            let json = serde_json::to_string(value)?;
            return Ok(choose(&serde_json::to_value(value)?, json, layout, tokenizer));
        }
    };
    Ok(Encoded { format, text })
}

/// The same as [`encode`], for whoever has the value's compact JSON at hand: it is neither copied nor written again.
pub fn encode_with_json(
    value: &Value,
    json: &str,
    layout: &Layout,
    format: Format,
    tokenizer: Tokenizer,
) -> Result<Encoded, Error> {
    match format {
        Format::Auto => Ok(choose(value, json.to_string(), layout, tokenizer)),
        Format::Json => Ok(Encoded {
            format,
            text: json.to_string(),
        }),
        format => encode(value, layout, format, tokenizer),
    }
}

/// Reads a text in whatever lossless format it is in.
pub fn decode(text: &str) -> Result<Value, Error> {
    decode_from(text, detect(text))
}

/// Reads a text in a known format; `Auto` detects it.
pub fn decode_from(text: &str, format: Format) -> Result<Value, Error> {
    match format {
        Format::Json => Ok(serde_json::from_str(text)?),
        Format::Gcx => Ok(decode_gcx(text)?),
        Format::Gcf => decode_gcf(text),
        Format::Markdown | Format::Text => Err(Error::Markdown),
        Format::Auto => decode(text),
    }
}

/// The format of a text, by its first word. JSON when in doubt: its error messages serve best.
pub fn detect(text: &str) -> Format {
    let start = text.trim_start_matches(['\u{feff}', '\n', '\r', ' ']);
    if start.starts_with("GCF ") {
        Format::Gcf
    } else if start.starts_with("GCX") || start.starts_with('#') {
        Format::Gcx
    } else {
        Format::Json
    }
}

/// A GCF text of either profile: a graph with sources behind it is a pack or what changed in one.
fn decode_gcf(text: &str) -> Result<Value, Error> {
    let header = text.lines().next().unwrap_or_default();
    let says = |field: &str| header.split(' ').any(|word| word == field);
    if !says("profile=graph") {
        return Ok(gcf::from_str(text)?);
    }
    let (graph, sources) = match text.find("\nsources ") {
        Some(end) => (&text[..=end], Some(&text[end + 1..])),
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

/// A GCX1 text whose header is that of a known layout is read by it, so that its types are certain.
fn decode_gcx(text: &str) -> gcx::Result<Value> {
    match gcx::Reader::new(text).next_line()? {
        // Read as a table where it is none after all: a name may end like that by chance.
        Some(gcx::Line::Header(header)) if dense::opens(&header) => match dense::from_str(text) {
            Some(value) => Ok(value),
            None => gcx::from_str(text),
        },
        Some(gcx::Line::Header(header)) if places::opens(&header) => match places::from_str(text) {
            Some(value) => Ok(value),
            None => gcx::from_str(text),
        },
        Some(gcx::Line::Header(header)) => match answers::layout_for(&header) {
            Some(layout) => gcx::value_with(layout, text),
            None => gcx::from_str(text),
        },
        _ => gcx::from_str(text),
    }
}

/// Texts longer than this in all are estimated first, and counted only where the estimate leaves doubt.
const COUNT_ALL_BELOW: usize = 8 << 10;

/// Two estimates can mislead by no more than this: of texts this long, `lacon bench wire` shows none more than 10 % too low or
/// 15 % too high. (Of a few words an estimate may be off by a quarter; they are counted.)
const DOUBT: f64 = 0.35;

/// An answer by file or by place in less than this share of JSON's bytes is taken as it is: it says the same words as the other
/// forms and leaves more out, and counting them all would take longer than writing it.
const CLEARLY: (usize, usize) = (6, 10);

/// What is written to be read: as the layout says, else as Markdown.
fn text(value: &Value, layout: &Layout) -> String {
    match layout.text {
        Some(write) => write(value),
        None => markdown::to_string(value),
    }
}

fn choose(value: &Value, json: String, layout: &Layout, tokenizer: Tokenizer) -> Encoded {
    if let Some(write) = layout.text {
        return Encoded {
            format: Format::Text,
            text: write(value),
        };
    }
    let dense = dense::to_string(layout, value).or_else(|| places::to_string(layout, value));
    let is_short = |text: &String| text.len() * CLEARLY.1 < json.len() * CLEARLY.0;
    let dense = match dense {
        Some(text) if is_short(&text) && is_faithful(value, layout, Format::Gcx, &text) => {
            let format = Format::Gcx;
            return Encoded { format, text };
        }
        dense => dense,
    };
    let mut candidates = vec![(Format::Json, json)];
    // A form that cannot carry this value at all is no candidate.
    candidates.extend(gcx::to_string_with(layout, value).ok().map(|text| (Format::Gcx, text)));
    candidates.extend(gcf::to_string(value).ok().map(|text| (Format::Gcf, text)));
    candidates.extend(dense.map(|text| (Format::Gcx, text)));
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
        Format::Gcx => dense::from_str(text)
            .or_else(|| places::from_str(text))
            .or_else(|| gcx::value_with(layout, text).ok()),
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
