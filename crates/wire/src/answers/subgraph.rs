//! `get_callers`, `get_call_chain`, `get_dependencies`, `get_dependents`, `find_implementations`: a part of the graph.
//! Five tools, one type, one table; only the tool's name differs.

use serde::{Deserialize, Serialize};

use crate::layout::{Column, Layout, Section};

row! {
    /// A symbol of the part.
    Node {
        id: String = "symbol id",
        kind: String = "kind of symbol",
        name: String = "short name",
        path: String = "file path",
        line: u64 = "start line; of a caller, the line of its first call",
    }
}

row! {
    /// A relation between two symbols.
    Edge {
        from: String = "id of the source",
        to: String = "id of the target",
        kind: String = "calls, references, implements, …",
        origin: String = "lsp_resolved, lsp_dispatch, ast_resolved, ast_inferred or text_matched",
        confidence: f64 = "0 to 1",
        label: Option<String> = "lines of its mentions; +n stands for n more",
    }
}

/// The symbols reached and the edges between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SubGraph {
    /// The symbols.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// Symbols in all, returned or not.
    pub total_nodes: u64,
    /// Edges in all, returned or not.
    pub total_edges: u64,
    /// Whether anything was left out.
    pub truncated: bool,
    /// Pass it to get the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Pass it as `if_none_match` to skip an unchanged answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// What the index still lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// How the mentions of the name asked about add up to a plain word search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl SubGraph {
    /// Who calls a symbol.
    pub const GET_CALLERS: Layout<'static> = layout("get_callers", "Who calls a symbol, directly and through others.");
    /// What a symbol calls.
    pub const GET_CALL_CHAIN: Layout<'static> =
        layout("get_call_chain", "What a symbol calls, directly and through others.");
    /// What a symbol needs.
    pub const GET_DEPENDENCIES: Layout<'static> = layout("get_dependencies", "What a symbol needs.");
    /// What needs a symbol.
    pub const GET_DEPENDENTS: Layout<'static> = layout("get_dependents", "What needs a symbol.");
    /// What implements an interface.
    pub const FIND_IMPLEMENTATIONS: Layout<'static> =
        layout("find_implementations", "What implements an interface or a trait.");
}

const SECTIONS: &[Section] = &[
    Section::many(".nodes", "nodes", Node::COLUMNS),
    Section::many(".edges", "edges", Edge::COLUMNS),
];

const META: &[Column] = &[
    Column::of::<u64>("total_nodes", "symbols in all, returned or not"),
    Column::of::<u64>("total_edges", "edges in all, returned or not"),
    Column::of::<bool>("truncated", "whether anything was left out"),
    Column::of::<Option<String>>("next_cursor", "pass it to get the next page"),
    Column::of::<Option<String>>("etag", "pass it as if_none_match to skip an unchanged answer"),
    Column::of::<Option<String>>("incomplete", "what the index still lacks"),
    Column::of::<Option<String>>("account", "how the mentions of the name add up to a plain word search"),
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
