//! `get_callers`, `get_call_chain`, `get_dependencies`, `get_dependents`, `find_implementations`: five walks, one shape.

use std::collections::HashMap;

use index::model::{EdgeKind, Origin};
use index::snapshot::EdgeKinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::SubGraph;

use crate::error::QuestionError;
use crate::page::Page;
use crate::syntax_errors::beside;
use crate::traverse::{self, Direction, MAX_DEPTH, Walk};
use crate::workspace::{SymbolKey, Workspace};
use crate::{kinds, naming, overridden};

/// What a traversal is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Neighbours {
    /// Symbol: id, name, Owner.name or path:line.
    pub id: String,
    /// Edges away at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Symbols per page (default 50).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Weakest origin followed: lsp_resolved, lsp_dispatch, ast_resolved, ast_inferred (default) or text_matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_tier: Option<String>,
    /// Leave out tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclude_tests: bool,
}

const CALLS: &[EdgeKind] = &[EdgeKind::Calls, EdgeKind::Instantiates];
const NEEDS: &[EdgeKind] = &[
    EdgeKind::Calls,
    EdgeKind::Instantiates,
    EdgeKind::References,
    EdgeKind::Reads,
    EdgeKind::Writes,
    EdgeKind::Extends,
    EdgeKind::Implements,
    EdgeKind::Decorated,
    EdgeKind::Imports,
    EdgeKind::Consumes,
];

/// Who calls it, directly and through others. A caller's line is that of its (first) call, which is where a reader wants to go; an
/// edge names its lines only where there is more to say. After them come a few who call what it overrides.
pub fn callers(workspace: &Workspace, ask: &Neighbours) -> Result<SubGraph, QuestionError> {
    let (start, page, how) = asked(workspace, ask, Direction::Incoming, CALLS, 2)?;
    let mut reached = traverse::walk(workspace, &[start], &how);
    let others = overridden::add_callers(workspace, start, &how, &mut reached);
    let mut graph = traverse::subgraph(workspace, &[start], &reached, page);
    graph.incomplete = beside(graph.incomplete, others);
    graph.account = crate::account::line(workspace, start);
    let mut called: HashMap<&str, u64> = HashMap::new();
    for edge in &graph.edges {
        let first = edge
            .label
            .as_deref()
            .and_then(|lines| lines.split(',').next()?.parse().ok());
        if let Some(first) = first {
            called.entry(edge.from.as_str()).or_insert(first);
        }
    }
    for node in graph.nodes.iter_mut().skip(1) {
        if let Some(&line) = called.get(node.id.as_str()) {
            node.line = line;
        }
    }
    let single: Vec<bool> = graph
        .edges
        .iter()
        .map(|edge| {
            let line = called.get(edge.from.as_str()).map(u64::to_string);
            edge.from != edge.to && line.is_some() && edge.label == line
        })
        .collect();
    for (edge, is_single) in graph.edges.iter_mut().zip(single) {
        if is_single {
            edge.label = None;
        }
    }
    // By callee, then by the place of the caller, as all walks are told.
    let places: HashMap<String, (usize, String, u64)> = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (node.id.clone(), (at, node.path.clone(), node.line)))
        .collect();
    graph.edges.sort_by_cached_key(|edge| {
        let near = places.get(&edge.to).map_or(usize::MAX, |place| place.0);
        let (far, path, line) = places.get(&edge.from).cloned().unwrap_or_default();
        (near, path, line, far)
    });
    Ok(graph)
}

/// What it calls, directly and through others.
pub fn call_chain(workspace: &Workspace, ask: &Neighbours) -> Result<SubGraph, QuestionError> {
    answer(workspace, ask, Direction::Outgoing, CALLS, 4)
}

/// What it needs: calls, types, bases, variables, imports.
pub fn dependencies(workspace: &Workspace, ask: &Neighbours) -> Result<SubGraph, QuestionError> {
    answer(workspace, ask, Direction::Outgoing, NEEDS, 2)
}

/// What needs it.
pub fn dependents(workspace: &Workspace, ask: &Neighbours) -> Result<SubGraph, QuestionError> {
    answer(workspace, ask, Direction::Incoming, NEEDS, 3)
}

/// What implements, extends or overrides it.
pub fn implementations(workspace: &Workspace, ask: &Neighbours) -> Result<SubGraph, QuestionError> {
    answer(
        workspace,
        ask,
        Direction::Incoming,
        &[EdgeKind::Implements, EdgeKind::Extends, EdgeKind::Overrides],
        MAX_DEPTH,
    )
}

fn answer(
    workspace: &Workspace,
    ask: &Neighbours,
    direction: Direction,
    edges: &[EdgeKind],
    depth: u32,
) -> Result<SubGraph, QuestionError> {
    let (start, page, how) = asked(workspace, ask, direction, edges, depth)?;
    let reached = traverse::walk(workspace, &[start], &how);
    let mut graph = traverse::subgraph(workspace, &[start], &reached, page);
    if direction == Direction::Incoming {
        graph.account = crate::account::line(workspace, start);
    }
    Ok(graph)
}

/// Where a walk starts, which page of it is wanted, and how it goes.
fn asked(
    workspace: &Workspace,
    ask: &Neighbours,
    direction: Direction,
    edges: &[EdgeKind],
    depth: u32,
) -> Result<(SymbolKey, Page, Walk), QuestionError> {
    let start = naming::likeliest(workspace, &ask.id)?;
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let how = Walk {
        direction,
        kinds: edges.iter().copied().collect::<EdgeKinds>(),
        depth: checked_depth(ask.depth, depth)?,
        min_tier: tier(ask.min_tier.as_deref())?,
        exclude_tests: ask.exclude_tests,
    };
    Ok((start, page, how))
}

/// The weakest origin that is followed: what was asked, else everything but bare matches of text.
pub fn tier(asked: Option<&str>) -> Result<Origin, QuestionError> {
    let Some(asked) = asked else {
        return Ok(Origin::AstInferred);
    };
    kinds::origin_of(asked).ok_or_else(|| QuestionError::Argument {
        name: "min_tier",
        problem: format!(
            "no tier `{asked}`: expected lsp_resolved, lsp_dispatch, ast_resolved, ast_inferred or text_matched"
        ),
    })
}

fn checked_depth(asked: Option<u32>, default: u32) -> Result<u32, QuestionError> {
    match asked {
        None => Ok(default),
        Some(depth @ 1..=MAX_DEPTH) => Ok(depth),
        Some(other) => Err(QuestionError::Argument {
            name: "depth",
            problem: format!("expected 1 to {MAX_DEPTH}, not {other}"),
        }),
    }
}
