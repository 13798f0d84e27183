//! `context_for_task` and its kin: scored symbols by their distance from what was asked, the edges between them, and as much
//! of their source as the budget holds. Several tools, one type.
//!
//! In GCF a pack is two texts: the graph profile, which carries symbols and edges, and the sources, whose lines stand as they
//! are in the file. Each part is counted in lines, so nothing in a source can be taken for anything else.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::pack_names::Renamed;
use crate::counted::counted_parts;
use crate::gcf::{self, Category, graph};
use crate::layout::{Column, Layout, Section};

row! {
    /// A symbol of the pack.
    PackSymbol {
        id: String = "symbol id",
        kind: String = "function, type, method, interface, var, const, class, field, file, …",
        score: f64 = "how much it matters, 0 to 1, two decimals",
        provenance: String = "how it was found, `~` and a hash of its source",
        distance: u64 = "edges from what was asked; 0 is what was asked",
    }
}

row! {
    /// An edge between two symbols of the pack.
    PackEdge {
        from: String = "id of the source",
        to: String = "id of the target",
        kind: String = "calls, references, implements, …",
    }
}

row! {
    /// Source text of a symbol.
    PackSource {
        id: String = "symbol id",
        form: String = "signature, skeleton or body",
        line: u64 = "line of the file where the symbol starts",
        text: String = "the text",
    }
}

row! {
    /// Why a symbol is there.
    PackReason {
        id: String = "symbol id",
        reason: String = "the evidence",
    }
}

/// Scored symbols, their edges and their sources, within a budget of tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextPack {
    /// The symbols, nearest first, then by falling score.
    pub symbols: Vec<PackSymbol>,
    /// Edges between them.
    pub edges: Vec<PackEdge>,
    /// Sources, in the order of the symbols.
    pub sources: Vec<PackSource>,
    /// Why each is there, where asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<PackReason>,
    /// Tokens that were allowed.
    pub budget: u64,
    /// Tokens that the pack takes, in the format it is sent in.
    pub tokens: u64,
    /// `gcf-pack-root-v1` of symbols and edges: send it back to get what changed.
    pub pack_root: String,
    /// Symbols that were found, returned or not.
    pub total: u64,
    /// Whether any was left out.
    pub truncated: bool,
    /// What the question wants said besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the index still lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// Names that changed since the pack that the client holds. No part of the pack itself: a delta says them.
    #[serde(skip)]
    pub renamed: Vec<Renamed>,
}

const SECTIONS: &[Section] = &[
    Section::many(".symbols", "symbols", PackSymbol::COLUMNS),
    Section::many(".edges", "edges", PackEdge::COLUMNS),
    Section::many(".sources", "sources", PackSource::COLUMNS),
];

const META: &[Column] = &[
    Column::of::<u64>("budget", "tokens that were allowed"),
    Column::of::<u64>("tokens", "tokens that the pack takes"),
    Column::of::<String>("pack_root", "send it back to get what changed"),
    Column::of::<u64>("total", "symbols found, returned or not"),
    Column::of::<bool>("truncated", "whether any was left out"),
    Column::of::<Option<serde_json::Value>>("reasons", "why each symbol is there, where asked for"),
    Column::of::<Option<String>>("note", "what else must be said"),
    Column::of::<Option<String>>("incomplete", "what the index still lacks"),
];

const fn layout(tool: &'static str, about: &'static str) -> Layout<'static> {
    Layout {
        tool,
        about,
        sections: SECTIONS,
        meta: META,
        text: None,
    }
}

impl ContextPack {
    /// What matters for a task.
    pub const CONTEXT_FOR_TASK: Layout<'static> = layout("context_for_task", "What matters for a task.");
    /// What matters for files.
    pub const CONTEXT_FOR_FILES: Layout<'static> = layout("context_for_files", "What matters for some files.");
    /// What matters for a change.
    pub const CONTEXT_FOR_PR: Layout<'static> = layout("context_for_pr", "What matters for the changes of a branch.");
    /// What a change may break.
    pub const BLAST_RADIUS: Layout<'static> = layout("blast_radius", "What a change may break.");
    /// What belongs together.
    pub const COMMUNITIES: Layout<'static> = layout("communities", "The symbols that belong together with one.");
    /// One symbol and its surroundings.
    pub const EXPLAIN_SYMBOL: Layout<'static> = layout("explain_symbol", "One symbol and what surrounds it.");

    /// Symbols and edges in the graph profile's own type.
    pub fn graph(&self, tool: &str) -> graph::Graph {
        graph::Graph {
            tool: tool.to_string(),
            token_budget: self.budget,
            tokens_used: self.tokens,
            pack_root: self.pack_root.clone(),
            symbols: self.symbols.iter().map(PackSymbol::to_graph).collect(),
            edges: self.edges.iter().map(PackEdge::to_graph).collect(),
        }
    }

    /// The hash of symbols (through their provenance, of their sources too) and edges.
    pub fn root(&self) -> gcf::Result<String> {
        graph::pack_root(&self.graph(""))
    }

    /// Everything that the graph profile has no place for, as text. `numbers` are those of the symbols in the graph's text;
    /// `is_held` says which texts the client has already: only their names are written.
    pub fn sources_text(&self, numbers: &[u64], is_held: impl Fn(&PackSource) -> bool) -> String {
        let places: HashMap<&str, u64> = self
            .symbols
            .iter()
            .zip(numbers)
            .map(|(symbol, number)| (symbol.id.as_str(), *number))
            .collect();
        let label = |id: &str| {
            places
                .get(id)
                .map_or_else(|| to_word(id), |number| format!("@{number}"))
        };
        let mut out = sources_head(self.total, self.truncated, &self.note, &self.incomplete);
        for source in &self.sources {
            let count = source.text.split('\n').count();
            match is_held(source) {
                true => out.push_str(&format!("{} {} {} sent\n", label(&source.id), source.form, source.line)),
                false => {
                    out.push_str(&format!(
                        "{} {} {} {count}\n",
                        label(&source.id),
                        source.form,
                        source.line
                    ));
                    out.push_str(&source.text);
                    out.push('\n');
                }
            }
        }
        for reason in &self.reasons {
            out.push_str(&format!(
                "{} why {}\n",
                label(&reason.id),
                reason.reason.replace('\n', " ")
            ));
        }
        out
    }

    /// The two texts of a pack in GCF. Symbols must be in the order of the graph's text: nearest first, then by score.
    pub fn to_gcf(&self, tool: &str) -> gcf::Result<[String; 2]> {
        let numbers: Vec<u64> = (0..self.symbols.len() as u64).collect();
        let graph = graph::encode(&self.graph(tool))?;
        Ok(counted_parts(graph, self.sources_text(&numbers, |_| false)))
    }

    /// Reads the two texts back. `numbers` are those of the graph's symbols; texts that were only named (`sent`) are looked
    /// up with `held`, by id and form.
    pub fn from_gcf(
        graph: graph::Graph,
        numbers: &[u64],
        sources: &str,
        held: impl Fn(&str, &str) -> Option<String>,
    ) -> gcf::Result<ContextPack> {
        let broken = |found: &str| gcf::Error::new(Category::UnexpectedContent, found.to_string(), "a part of a pack");
        let mut lines = sources.split('\n');
        let head = lines
            .next()
            .and_then(|line| line.strip_prefix("sources "))
            .ok_or_else(|| broken("no head"))?;
        let mut pack = ContextPack {
            symbols: graph.symbols.iter().map(PackSymbol::from).collect(),
            edges: graph.edges.iter().map(PackEdge::from).collect(),
            budget: graph.token_budget,
            tokens: graph.tokens_used,
            pack_root: graph.pack_root.clone(),
            ..ContextPack::default()
        };
        read_head(head, &mut pack).ok_or_else(|| broken(head))?;
        while let Some(line) = lines.next() {
            let words: Vec<&str> = line.splitn(4, ' ').collect();
            let symbol = |word: &str| {
                // A symbol without a number goes by its name.
                let Some(digits) = word.strip_prefix('@') else {
                    return Some(from_word(word));
                };
                let number: u64 = digits.parse().ok()?;
                let place = numbers.iter().position(|other| *other == number)?;
                graph.symbols.get(place).map(|symbol| from_word(&symbol.qualified_name))
            };
            match words.as_slice() {
                [""] => {}
                [number, "why", ..] => pack.reasons.push(PackReason {
                    id: symbol(number).ok_or_else(|| broken(line))?,
                    reason: line.splitn(3, ' ').nth(2).unwrap_or_default().to_string(),
                }),
                [number, form, at, count] => {
                    let id = symbol(number).ok_or_else(|| broken(line))?;
                    let text = match *count {
                        "sent" => held(&id, form).ok_or_else(|| broken(line))?,
                        count => {
                            let count: usize = count.parse().map_err(|_| broken(line))?;
                            let taken: Vec<&str> = lines.by_ref().take(count).collect();
                            if taken.len() != count {
                                return Err(broken("a source that is cut off"));
                            }
                            taken.join("\n")
                        }
                    };
                    pack.sources.push(PackSource {
                        id,
                        form: (*form).to_string(),
                        line: at.parse().map_err(|_| broken(line))?,
                        text,
                    });
                }
                _ => return Err(broken(line)),
            }
        }
        Ok(pack)
    }
}

impl PackSymbol {
    pub(super) fn to_graph(&self) -> graph::Symbol {
        graph::Symbol {
            qualified_name: to_word(&self.id),
            kind: self.kind.clone(),
            score: self.score,
            provenance: self.provenance.clone(),
            distance: u32::try_from(self.distance).unwrap_or(u32::MAX),
        }
    }
}

impl From<&graph::Symbol> for PackSymbol {
    fn from(symbol: &graph::Symbol) -> PackSymbol {
        PackSymbol {
            id: from_word(&symbol.qualified_name),
            kind: symbol.kind.clone(),
            score: symbol.score,
            provenance: symbol.provenance.clone(),
            distance: u64::from(symbol.distance),
        }
    }
}

impl PackEdge {
    pub(super) fn to_graph(&self) -> graph::Edge {
        graph::Edge {
            source: to_word(&self.from),
            target: to_word(&self.to),
            edge_type: self.kind.clone(),
            ..graph::Edge::default()
        }
    }
}

impl From<&graph::Edge> for PackEdge {
    fn from(edge: &graph::Edge) -> PackEdge {
        PackEdge {
            from: from_word(&edge.source),
            to: from_word(&edge.target),
            kind: edge.edge_type.clone(),
        }
    }
}

/// The first line of the sources: what holds for the whole.
pub(super) fn sources_head(total: u64, truncated: bool, note: &Option<String>, incomplete: &Option<String>) -> String {
    let mut out = format!("sources total={total} truncated={truncated}");
    for (name, said) in [("note", note), ("incomplete", incomplete)] {
        if let Some(said) = said {
            out.push_str(&format!(" {name}={}", serde_json::Value::from(said.as_str())));
        }
    }
    out.push('\n');
    out
}

pub(super) fn read_head(head: &str, pack: &mut ContextPack) -> Option<()> {
    let mut rest = head;
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let mut values = serde_json::Deserializer::from_str(after).into_iter::<serde_json::Value>();
        let value = values.next()?.ok()?;
        rest = after.get(values.byte_offset()..)?.trim_start();
        match name {
            "total" => pack.total = value.as_u64()?,
            "truncated" => pack.truncated = value.as_bool()?,
            "note" => pack.note = Some(value.as_str()?.to_string()),
            "incomplete" => pack.incomplete = Some(value.as_str()?.to_string()),
            _ => {}
        }
    }
    Some(())
}

/// An id as one printable word of ASCII: other bytes as `%` and two digits.
pub(super) fn to_word(id: &str) -> String {
    let mut word = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'%' | 0..=b' ' | 0x7f.. => word.push_str(&format!("%{byte:02X}")),
            byte => word.push(char::from(byte)),
        }
    }
    word
}

pub(crate) fn from_word(word: &str) -> String {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match code
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .filter(|_| *first == b'%')
        {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
