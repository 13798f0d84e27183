//! The graph profile: code symbols in groups by distance, each with a number, and edges between the numbers.
//!
//! A symbol is known by kind and name together; edges name their ends, and give the kind too where a name has several.

mod decode;
mod delta;
mod encode;
mod pack_root;
mod session;
mod stream;

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use decode::decode;
pub(super) use delta::write_savings;
pub use delta::{GraphDelta, Reply, SymbolName, apply, decode_delta, diff, encode_delta, reply};
pub use encode::encode;
pub(super) use encode::write_header_text;
pub(super) use pack_root::hash as hash_records;
pub use pack_root::{canonical_records, pack_root};
pub use session::{Draft, Session, SessionLimits, SessionReader};
pub use stream::{GraphStream, GraphStreamOptions, TrailerCounts};

use super::error::{Category, Error, Result, shown};

/// A graph payload. Empty strings and zeros stand for header fields that are not there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Graph {
    /// The tool that produced it.
    pub tool: String,
    /// Tokens the client asked for.
    pub token_budget: u64,
    /// Tokens the payload takes.
    pub tokens_used: u64,
    /// The hash of the content, when the client may ask for what changed since.
    pub pack_root: String,
    pub symbols: Vec<Symbol>,
    pub edges: Vec<Edge>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Symbol {
    pub qualified_name: String,
    /// The full word, such as `function`; the text carries the abbreviation.
    pub kind: String,
    /// Relevance. The text carries two decimals.
    pub score: f64,
    /// How the symbol was found.
    pub provenance: String,
    /// Steps from what was asked for.
    pub distance: u32,
}

/// A directed edge between two symbols of the payload.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Edge {
    /// Qualified name of the symbol that calls, imports, …
    pub source: String,
    /// Qualified name of the symbol that is called, imported, …
    pub target: String,
    pub edge_type: String,
    /// `added` or `removed` in payloads about a change, else empty.
    pub status: String,
    /// Kind of the source, needed only when its name belongs to several symbols.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_kind: Option<String>,
    /// Kind of the target, needed only when its name belongs to several symbols.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_kind: Option<String>,
}

/// Kinds and what the text writes for them.
const KINDS: [(&str, &str); 16] = [
    ("function", "fn"),
    ("type", "type"),
    ("method", "method"),
    ("interface", "iface"),
    ("var", "var"),
    ("const", "const"),
    ("resource", "resource"),
    ("table", "table"),
    ("class", "class"),
    ("selector", "selector"),
    ("field", "field"),
    ("route_handler", "route"),
    ("external", "ext"),
    ("file", "file"),
    ("package", "pkg"),
    ("service", "svc"),
];

/// The short form of a kind; unknown kinds are their own.
pub fn abbreviate(kind: &str) -> &str {
    KINDS
        .iter()
        .find(|(full, _)| *full == kind)
        .map_or(kind, |(_, short)| short)
}

/// The full word of an abbreviation; unknown ones are their own.
pub fn expand(abbreviation: &str) -> &str {
    KINDS
        .iter()
        .find(|(_, short)| *short == abbreviation)
        .map_or(abbreviation, |(full, _)| full)
}

fn group_name(distance: u32) -> Cow<'static, str> {
    match distance {
        0 => "targets".into(),
        1 => "related".into(),
        2 => "extended".into(),
        other => format!("distance_{other}").into(),
    }
}

fn group_distance(name: &str) -> Option<u32> {
    match name {
        "targets" => Some(0),
        "related" => Some(1),
        "extended" => Some(2),
        other => other
            .strip_prefix("distance_")
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?
            .parse()
            .ok(),
    }
}

/// The score as the text can carry it. Hashes use it too, or no client could ever verify one.
fn quantized(score: f64) -> f64 {
    format!("{score:.2}").parse().unwrap_or(score)
}

/// A word of the format: printable ASCII without space. Anything else could break the line it is put in.
fn check_word(word: &str, what: &str) -> Result<()> {
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::new(
            Category::InvalidName,
            format!("the {what} {}", shown(word)),
            "printable ASCII without spaces",
        ));
    }
    Ok(())
}

/// A header value may be missing, but not broken.
fn check_header_value(value: &str, what: &str) -> Result<()> {
    if value.is_empty() {
        Ok(())
    } else {
        check_word(value, what)
    }
}

fn check_symbol(symbol: &Symbol) -> Result<()> {
    check_word(&symbol.qualified_name, "name")?;
    check_word(&symbol.kind, "kind")?;
    check_word(&symbol.provenance, "provenance")?;
    if symbol.kind.starts_with('#') || !symbol.score.is_finite() {
        let found = format!("kind {} with score {}", shown(&symbol.kind), symbol.score);
        return Err(Error::new(Category::InvalidValue, found, "a word and a finite score"));
    }
    Ok(())
}

/// Symbols by name, to find the ends of edges.
struct Names<'a> {
    /// Per name, one symbol that has it, and how many do.
    by_name: HashMap<&'a str, (u32, u32), foldhash::fast::RandomState>,
    by_identity: HashMap<(&'a str, &'a str), u32, foldhash::fast::RandomState>,
    symbols: &'a [Symbol],
}

impl<'a> Names<'a> {
    /// Fails if two symbols have the same kind and name.
    fn new(symbols: &'a [Symbol]) -> Result<Self> {
        let mut names = Self {
            by_name: HashMap::default(),
            by_identity: HashMap::default(),
            symbols,
        };
        for (index, symbol) in symbols.iter().enumerate() {
            let name = symbol.qualified_name.as_str();
            names.by_name.entry(name).or_insert((index as u32, 0)).1 += 1;
            if names
                .by_identity
                .insert((abbreviate(&symbol.kind), name), index as u32)
                .is_some()
            {
                let found = format!("the {} {} twice", symbol.kind, shown(name));
                return Err(Error::new(Category::DuplicateKey, found, "each symbol once"));
            }
        }
        Ok(names)
    }

    /// The symbol an edge means.
    fn find(&self, name: &str, kind: Option<&str>) -> Result<u32> {
        if let Some(symbol) = kind.and_then(|kind| self.by_identity.get(&(abbreviate(kind), name))) {
            return Ok(*symbol);
        }
        let found = match (kind, self.by_name.get(name)) {
            (None, Some((symbol, 1))) => return Ok(*symbol),
            (None, Some(_)) => format!("an edge to {}, which several symbols are called", shown(name)),
            _ => format!("an edge to {}, which is not among the symbols", shown(name)),
        };
        Err(Error::new(
            Category::UnknownEdgeReference,
            found,
            "the name, and where needed the kind, of a symbol",
        ))
    }

    fn source(&self, edge: &Edge) -> Result<u32> {
        self.find(&edge.source, edge.source_kind.as_deref())
    }

    fn target(&self, edge: &Edge) -> Result<u32> {
        self.find(&edge.target, edge.target_kind.as_deref())
    }

    /// The kind to write beside a name, if the name alone would not do.
    fn kind_if_needed(&self, symbol: u32) -> Option<String> {
        let symbol = &self.symbols[symbol as usize];
        let shared = self
            .by_name
            .get(symbol.qualified_name.as_str())
            .is_some_and(|(_, count)| *count > 1);
        shared.then(|| symbol.kind.clone())
    }
}
