//! What changed between two graphs: worked out, written, read, and applied all or nothing.
//!
//! The receiver applies a delta to a copy, hashes the copy, and keeps it only if the hash is the one the sender named.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::super::decode_scalar::parse_count;
use super::super::error::{Category, Error, Result, shown};
use super::super::lines::Line;
use super::super::scalar::write_integer;
use super::decode::{open, parse_score};
use super::encode::{check_edge, encode, write_header_count, write_header_text, write_node};
use super::{Edge, Graph, Names, Symbol, abbreviate, check_word, expand, pack_root, quantized};

/// A symbol to remove.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SymbolName {
    pub kind: String,
    pub qualified_name: String,
}

/// The difference between two graphs. A symbol whose score or distance changed is removed and added.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GraphDelta {
    pub tool: String,
    pub base_root: String,
    pub new_root: String,
    pub removed: Vec<SymbolName>,
    pub added: Vec<Symbol>,
    pub removed_edges: Vec<Edge>,
    pub added_edges: Vec<Edge>,
    /// Tokens of the delta, for the header; 0 leaves them out.
    pub delta_tokens: u64,
    /// Tokens the full payload would have taken.
    pub full_tokens: u64,
}

/// Name and kind, with the score as it is sent: what must be equal for a symbol to count as unchanged.
fn same_symbol(left: &Symbol, right: &Symbol) -> bool {
    quantized(left.score) == quantized(right.score)
        && left.provenance == right.provenance
        && left.distance == right.distance
}

type EdgeKey<'a> = (u32, u32, &'a str);

/// Edges by name, unique, as numbers that are the same in both graphs.
fn edge_keys<'a>(graph: &'a Graph, numbers: &mut HashMap<(String, String), u32>) -> Result<Vec<EdgeKey<'a>>> {
    let names = Names::new(&graph.symbols)?;
    let mut seen = HashSet::new();
    let mut keys = Vec::with_capacity(graph.edges.len());
    for edge in &graph.edges {
        let mut end = |symbol: u32| {
            let symbol = &graph.symbols[symbol as usize];
            let next = numbers.len() as u32;
            *numbers
                .entry((abbreviate(&symbol.kind).to_owned(), symbol.qualified_name.clone()))
                .or_insert(next)
        };
        let (source, target) = (names.source(edge)?, names.target(edge)?);
        if names.kind_if_needed(source).is_some() || names.kind_if_needed(target).is_some() {
            let found = format!("an edge at {}, which several symbols are called", shown(&edge.source));
            return Err(Error::new(
                Category::DeltaInvalid,
                found,
                "names that belong to one symbol",
            ));
        }
        let key = (end(source), end(target), edge.edge_type.as_str());
        if !seen.insert(key) {
            return Err(Error::new(
                Category::DeltaInvalid,
                "the same edge twice",
                "each edge once",
            ));
        }
        keys.push(key);
    }
    Ok(keys)
}

/// Works out the delta from one graph to another. Fails where a delta cannot say it: then send the full payload.
pub fn diff(base: &Graph, new: &Graph) -> Result<GraphDelta> {
    let key = |symbol: &Symbol| (abbreviate(&symbol.kind).to_owned(), symbol.qualified_name.clone());
    let old: HashMap<_, &Symbol> = base.symbols.iter().map(|symbol| (key(symbol), symbol)).collect();
    let current: HashMap<_, &Symbol> = new.symbols.iter().map(|symbol| (key(symbol), symbol)).collect();
    let changed = |symbol: &Symbol, others: &HashMap<(String, String), &Symbol>| {
        others.get(&key(symbol)).is_none_or(|other| !same_symbol(symbol, other))
    };
    let removed = base.symbols.iter().filter(|symbol| changed(symbol, &current));
    let added = new.symbols.iter().filter(|symbol| changed(symbol, &old));
    let mut numbers = HashMap::new();
    let old_edges = edge_keys(base, &mut numbers)?;
    let new_edges = edge_keys(new, &mut numbers)?;
    let old_set: HashSet<_> = old_edges.iter().copied().collect();
    let new_set: HashSet<_> = new_edges.iter().copied().collect();
    let missing = |edges: &[Edge], keys: &[EdgeKey<'_>], set: &HashSet<EdgeKey<'_>>| {
        let changed = edges.iter().zip(keys).filter(|(_, key)| !set.contains(*key));
        changed.map(|(edge, _)| edge.clone()).collect::<Vec<_>>()
    };
    Ok(GraphDelta {
        tool: new.tool.clone(),
        base_root: pack_root(base)?,
        new_root: pack_root(new)?,
        removed: removed
            .map(|symbol| SymbolName {
                kind: symbol.kind.clone(),
                qualified_name: symbol.qualified_name.clone(),
            })
            .collect(),
        added: added.cloned().collect(),
        removed_edges: missing(&base.edges, &old_edges, &new_set),
        added_edges: missing(&new.edges, &new_edges, &old_set),
        delta_tokens: 0,
        full_tokens: 0,
    })
}

/// Writes a delta.
pub fn encode_delta(delta: &GraphDelta) -> Result<String> {
    let mut out = String::from("GCF profile=graph");
    write_header_text(&mut out, "tool", &delta.tool)?;
    out.push_str(" delta=true");
    write_header_text(&mut out, "base_root", &delta.base_root)?;
    write_header_text(&mut out, "new_root", &delta.new_root)?;
    write_header_count(&mut out, "tokens", delta.delta_tokens);
    write_savings(&mut out, delta.delta_tokens, delta.full_tokens);
    out.push('\n');
    section(&mut out, "removed", &delta.removed, |out, _, symbol| {
        check_word(&symbol.kind, "kind")?;
        check_word(&symbol.qualified_name, "name")?;
        out.push_str(abbreviate(&symbol.kind));
        out.push(' ');
        out.push_str(&symbol.qualified_name);
        Ok(())
    })?;
    section(&mut out, "added", &delta.added, |out, index, symbol| {
        write_node(out, index as u64, symbol)?;
        out.push(' ');
        write_integer(out, symbol.distance);
        Ok(())
    })?;
    section(&mut out, "edges_removed", &delta.removed_edges, write_delta_edge)?;
    section(&mut out, "edges_added", &delta.added_edges, write_delta_edge)?;
    Ok(out)
}

pub(crate) fn write_savings(out: &mut String, delta_tokens: u64, full_tokens: u64) {
    if full_tokens > 0 {
        let savings = 100.0 * (1.0 - delta_tokens as f64 / full_tokens as f64);
        out.push_str(&format!(" savings={savings:.0}%"));
    }
}

fn section<T>(
    out: &mut String,
    name: &str,
    items: &[T],
    write: impl Fn(&mut String, usize, &T) -> Result<()>,
) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    out.push_str("## ");
    out.push_str(name);
    out.push('\n');
    for (index, item) in items.iter().enumerate() {
        write(out, index, item)?;
        out.push('\n');
    }
    Ok(())
}

fn write_delta_edge(out: &mut String, _index: usize, edge: &Edge) -> Result<()> {
    check_edge(edge)?;
    check_word(&edge.source, "name")?;
    check_word(&edge.target, "name")?;
    if edge.source_kind.is_some() || edge.target_kind.is_some() {
        return Err(Error::new(
            Category::DeltaInvalid,
            "an edge that needs a kind",
            "names that belong to one symbol",
        ));
    }
    out.push_str(&format!("{} -> {} {}", edge.source, edge.target, edge.edge_type));
    Ok(())
}

/// Reads a delta.
pub fn decode_delta(text: &str) -> Result<GraphDelta> {
    let (header, mut lines) = open(text)?;
    if !header.is_true("delta") {
        return Err(Error::at(
            text.as_bytes(),
            4,
            Category::MalformedDelta,
            "a full payload",
            "`delta=true`",
        ));
    }
    let field = |name| header.get(name).unwrap_or_default().to_owned();
    let mut delta = GraphDelta {
        tool: field("tool"),
        base_root: field("base_root"),
        new_root: field("new_root"),
        delta_tokens: header.count(text, "tokens")?.unwrap_or(0),
        ..GraphDelta::default()
    };
    let mut current = "";
    let mut seen = Vec::new();
    while let Some(line) = lines.peek()? {
        lines.advance();
        let content = lines.content(line);
        let malformed = |line: Line, expected: &str| {
            Error::at(
                text.as_bytes(),
                line.start,
                Category::MalformedDelta,
                shown(content),
                expected,
            )
        };
        if line.level > 0 {
            return Err(malformed(line, "no indentation"));
        }
        if let Some(name) = content.strip_prefix("## ") {
            if !["removed", "added", "edges_removed", "edges_added"].contains(&name) || seen.contains(&name) {
                return Err(malformed(
                    line,
                    "removed, added, edges_removed or edges_added, each once",
                ));
            }
            seen.push(name);
            current = name;
            continue;
        }
        let words: Vec<&str> = content
            .split([' ', '\t'])
            .filter(|word| !word.is_empty())
            .take(7)
            .collect();
        match (current, words.as_slice()) {
            ("removed", [kind, name]) => {
                delta.removed.push(SymbolName {
                    kind: expand(kind).to_owned(),
                    qualified_name: (*name).to_owned(),
                });
            }
            ("added", [id, kind, name, score, provenance, distance]) => {
                let number = id.strip_prefix('@').and_then(parse_count);
                let distance = parse_count(distance).and_then(|distance| u32::try_from(distance).ok());
                let (Some(_), Some(score), Some(distance)) = (number, parse_score(score), distance) else {
                    return Err(malformed(line, "`@id kind name score provenance distance`"));
                };
                delta.added.push(Symbol {
                    kind: expand(kind).to_owned(),
                    qualified_name: (*name).to_owned(),
                    score,
                    provenance: (*provenance).to_owned(),
                    distance,
                });
            }
            ("edges_removed" | "edges_added", [source, "->", target, edge_type]) => {
                let edge = Edge {
                    source: (*source).to_owned(),
                    target: (*target).to_owned(),
                    edge_type: (*edge_type).to_owned(),
                    ..Edge::default()
                };
                if current == "edges_added" {
                    delta.added_edges.push(edge)
                } else {
                    delta.removed_edges.push(edge)
                }
            }
            ("", _) => return Err(malformed(line, "a section first")),
            ("removed", _) => return Err(malformed(line, "`kind name`")),
            ("added", _) => return Err(malformed(line, "`@id kind name score provenance distance`")),
            _ => return Err(malformed(line, "`source -> target type`")),
        }
    }
    Ok(delta)
}

/// Applies a delta to a graph, all or nothing: the result's hash must be the one the delta names.
pub fn apply(base: &Graph, delta: &GraphDelta) -> Result<Graph> {
    let invalid = |found: String, expected: &str| Err(Error::new(Category::DeltaInvalid, found, expected));
    let base_root = pack_root(base)?;
    if base_root != delta.base_root {
        let found = format!("a delta for {}", shown(&delta.base_root));
        return Err(Error::new(Category::BaseMismatch, found, base_root));
    }
    let key = |kind: &str, name: &str| (abbreviate(kind).to_owned(), name.to_owned());
    let mut removed = HashSet::new();
    for symbol in &delta.removed {
        if !removed.insert(key(&symbol.kind, &symbol.qualified_name)) {
            return invalid(
                format!("{} removed twice", shown(&symbol.qualified_name)),
                "each removal once",
            );
        }
    }
    let mut symbols = Vec::with_capacity(base.symbols.len() + delta.added.len());
    let mut present = HashSet::new();
    for symbol in &base.symbols {
        let key = key(&symbol.kind, &symbol.qualified_name);
        if !removed.remove(&key) {
            present.insert(key);
            symbols.push(symbol.clone());
        }
    }
    if !removed.is_empty() {
        return invalid(
            format!("{} removals of symbols the base lacks", removed.len()),
            "symbols of the base",
        );
    }
    for symbol in &delta.added {
        if !present.insert(key(&symbol.kind, &symbol.qualified_name)) {
            return invalid(
                format!("the symbol {} already exists", shown(&symbol.qualified_name)),
                "a new symbol",
            );
        }
        symbols.push(symbol.clone());
    }
    let edge_key = |edge: &Edge| (edge.source.clone(), edge.target.clone(), edge.edge_type.clone());
    let mut removed_edges = HashSet::new();
    for edge in &delta.removed_edges {
        if !removed_edges.insert(edge_key(edge)) {
            return invalid(
                format!("an edge of {} removed twice", shown(&edge.source)),
                "each removal once",
            );
        }
    }
    let mut edges = Vec::with_capacity(base.edges.len() + delta.added_edges.len());
    let mut present_edges = HashSet::new();
    for edge in &base.edges {
        let key = edge_key(edge);
        if !removed_edges.remove(&key) {
            present_edges.insert(key);
            edges.push(edge.clone());
        }
    }
    if !removed_edges.is_empty() {
        return invalid(
            format!("{} removals of edges the base lacks", removed_edges.len()),
            "edges of the base",
        );
    }
    for edge in &delta.added_edges {
        if !present_edges.insert(edge_key(edge)) {
            return invalid(
                format!("an edge of {} already exists", shown(&edge.source)),
                "a new edge",
            );
        }
        edges.push(edge.clone());
    }
    let mut graph = Graph {
        symbols,
        edges,
        ..base.clone()
    };
    let root = pack_root(&graph)?;
    if root != delta.new_root {
        let found = format!("{root} after the delta");
        return Err(Error::new(Category::RootMismatch, found, delta.new_root.clone()));
    }
    graph.pack_root = root;
    Ok(graph)
}

/// One of the three answers to a client that says which graph it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Header only: the client holds it already.
    Unchanged(String),
    Delta(String),
    Full(String),
}

impl Reply {
    pub fn text(&self) -> &str {
        match self {
            Reply::Unchanged(text) | Reply::Delta(text) | Reply::Full(text) => text,
        }
    }
}

/// Chooses the answer: unchanged; a delta if the base is known and it costs less than 60 % of the full payload; else full.
/// `echoed` is the hash the client sent, `base` the graph that had it, `measure` the cost of a text.
pub fn reply(
    echoed: Option<&str>,
    base: Option<&Graph>,
    current: &Graph,
    measure: impl Fn(&str) -> usize,
) -> Result<Reply> {
    let root = pack_root(current)?;
    if echoed == Some(root.as_str()) {
        let mut out = String::from("GCF profile=graph");
        write_header_text(&mut out, "tool", &current.tool)?;
        out.push_str(&format!(
            " unchanged=true pack_root={root} symbols={}\n",
            current.symbols.len()
        ));
        return Ok(Reply::Unchanged(out));
    }
    let full = encode(&Graph {
        pack_root: root,
        ..current.clone()
    })?;
    let (Some(echoed), Some(base)) = (echoed, base) else {
        return Ok(Reply::Full(full));
    };
    let Ok(mut delta) = diff(base, current) else {
        return Ok(Reply::Full(full));
    };
    if delta.base_root != echoed {
        return Ok(Reply::Full(full));
    }
    let full_cost = measure(&full);
    delta.full_tokens = full_cost as u64;
    delta.delta_tokens = measure(&encode_delta(&delta)?) as u64;
    if delta.delta_tokens * 10 >= full_cost as u64 * 6 {
        return Ok(Reply::Full(full));
    }
    Ok(Reply::Delta(encode_delta(&delta)?))
}
