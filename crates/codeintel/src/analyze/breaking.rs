//! Which edge of a circle to cut: the one whose removal frees most of it, and of those the one that is said least often.

use std::collections::{BTreeMap, BTreeSet};

use index::model::EdgeKind;
use index::snapshot::{Snapshot, SymbolId};

use super::cycles::{Graph, components};
use crate::search_symbols::usage_kinds;

/// An edge to cut.
pub(super) struct Cutting {
    pub(super) from: SymbolId,
    pub(super) to: SymbolId,
    /// Lines of `from`'s file where it is said.
    pub(super) lines: Vec<u32>,
    pub(super) why: String,
}

/// From one member to another.
type Edge = (SymbolId, SymbolId);

/// Above this many edges only those of the walk are tried.
const MAX_TRIED: usize = 120;

/// The edge to cut of a circle; `walk` is a shortest way round it.
pub(super) fn cutting(
    snapshot: &Snapshot,
    graph: &Graph,
    component: &[SymbolId],
    walk: &[SymbolId],
) -> Option<Cutting> {
    let members: BTreeSet<SymbolId> = component.iter().copied().collect();
    let inside: Vec<Edge> = component
        .iter()
        .flat_map(|&from| graph.get(&from).into_iter().flatten().map(move |&to| (from, to)))
        .filter(|(_, to)| members.contains(to))
        .collect();
    let round = walk
        .iter()
        .zip(walk.iter().cycle().skip(1))
        .map(|(&from, &to)| (from, to));
    let tried: Vec<Edge> = match inside.len() <= MAX_TRIED {
        true => inside.clone(),
        false => round.collect(),
    };
    let mut best: Option<(usize, usize, Edge, Vec<u32>)> = None;
    for edge in tried {
        let left = match inside.len() <= MAX_TRIED {
            true => still_in_circles(&inside, edge),
            false => component.len(),
        };
        let (uses, lines) = uses(snapshot, edge.0, edge.1);
        let better = best
            .as_ref()
            .is_none_or(|(least, fewest, known, _)| (left, uses, edge) < (*least, *fewest, *known));
        if better {
            best = Some((left, uses, edge, lines));
        }
    }
    let (left, uses, (from, to), lines) = best?;
    let times = if uses == 1 {
        "once".to_string()
    } else {
        format!("{uses} times")
    };
    let why = match left {
        0 => format!("used {times}; without it the circle is gone"),
        left if left < component.len() => {
            format!(
                "used {times}; without it {left} of {} are still in circles",
                component.len()
            )
        }
        _ => format!(
            "used {times}, least of the shortest way round; {} other edges keep the circle",
            inside.len() - 1
        ),
    };
    Some(Cutting { from, to, lines, why })
}

/// How many are still in circles without one edge.
fn still_in_circles(inside: &[Edge], without: Edge) -> usize {
    let mut graph: Graph = BTreeMap::new();
    for &(from, to) in inside.iter().filter(|edge| **edge != without) {
        graph.entry(from).or_default().insert(to);
    }
    components(&graph).iter().map(Vec::len).sum()
}

/// How often one member uses another, and the lines of its imports or calls.
fn uses(snapshot: &Snapshot, from: SymbolId, to: SymbolId) -> (usize, Vec<u32>) {
    let Some((from_view, to_view)) = snapshot.symbol(from).zip(snapshot.symbol(to)) else {
        return (0, Vec::new());
    };
    let is_file = from_view.is_file() && to_view.is_file();
    let target = to_view.file_id();
    let kinds = if is_file { usage_kinds() } else { EdgeKind::Calls.into() };
    let edges = match is_file {
        true => snapshot.edges_of_file(from_view.file_id(), kinds),
        false => snapshot.outgoing(from, kinds),
    };
    let mut lines: Vec<u32> = Vec::new();
    let mut count = 0;
    for edge in edges {
        let hits = match (is_file, edge.to.symbol()) {
            (true, Some(end)) => snapshot.symbol(end).is_some_and(|end| end.file_id() == target),
            (false, end) => end == Some(to),
            (true, None) => false,
        };
        if !hits {
            continue;
        }
        // An import makes the rest possible: it is where the cut is made, not one more use.
        if !is_file || edge.kind == EdgeKind::Imports {
            lines.push(edge.at.line);
        }
        count += usize::from(!is_file || edge.kind != EdgeKind::Imports);
    }
    lines.sort_unstable();
    lines.dedup();
    (count.max(1), lines)
}
