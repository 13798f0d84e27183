//! Circles: files that import each other, and functions that call each other. Tarjan's components over each graph, without
//! recursion, and for each that is shown the edge whose removal looks cheapest.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use index::model::{EdgeKind, Origin};
use index::snapshot::{Snapshot, SymbolId};
use wire::answers::{Cycle, CycleCut, Cycles};

use super::breaking::cutting;
use super::{Analyze, is_asked};
use crate::page::{self, Page};
use crate::workspace::Workspace;

pub(super) fn cycles(workspace: &Workspace, ask: &Analyze, page: Page) -> Cycles {
    let graphs: Vec<(usize, Graph, &str)> = workspace
        .repositories()
        .iter()
        .enumerate()
        .flat_map(|(number, repository)| {
            let snapshot = &repository.snapshot;
            [(number, imports(snapshot), "high"), (number, calls(snapshot), "low")]
        })
        .collect();
    let mut found: Vec<Circle> = Vec::new();
    for (at, (number, graph, severity)) in graphs.iter().enumerate() {
        if workspace.is_stopped() {
            return Cycles::default();
        }
        let snapshot = &workspace.repositories()[*number].snapshot;
        for members in components(graph) {
            let inside = members
                .iter()
                .filter_map(|&id| snapshot.symbol(id))
                .any(|symbol| is_asked(ask, workspace, *number, symbol.path()));
            if inside {
                found.push(Circle {
                    graph: at,
                    is_high: *severity == "high",
                    members,
                });
            }
        }
    }
    found.sort_by_key(|circle| {
        (
            !circle.is_high,
            std::cmp::Reverse(circle.members.len()),
            circle.graph,
            circle.members.first().copied(),
        )
    });
    let total = found.len();
    let end = page.offset.saturating_add(page.limit);
    let more = end < total;
    let mut answer = Cycles {
        total: total as u64,
        truncated: more,
        next_cursor: more.then(|| page::cursor(workspace, end)),
        incomplete: workspace.incomplete(),
        ..Cycles::default()
    };
    for circle in page.take(found) {
        if workspace.is_stopped() {
            break;
        }
        let (number, graph, severity) = &graphs[circle.graph];
        let walk = shortest_circle(graph, &circle.members);
        answer
            .cycles
            .push(row(workspace, *number, &circle.members, &walk, severity));
        let snapshot = &workspace.repositories()[*number].snapshot;
        if let Some(cut) = cutting(snapshot, graph, &circle.members, &walk) {
            let id = |symbol| {
                snapshot
                    .symbol(symbol)
                    .map_or(String::new(), |symbol| workspace.id(*number, symbol))
            };
            let lines: Vec<String> = cut.lines.iter().map(u32::to_string).collect();
            answer.cuts.push(CycleCut {
                cycle: answer.cycles.len() as u64,
                from: id(cut.from),
                to: id(cut.to),
                lines: lines.join(","),
                why: cut.why,
            });
        }
    }
    answer
}

/// A circle before it is said.
struct Circle {
    graph: usize,
    is_high: bool,
    members: Vec<SymbolId>,
}

/// Who needs whom.
pub(super) type Graph = BTreeMap<SymbolId, BTreeSet<SymbolId>>;

/// File to file.
fn imports(snapshot: &Snapshot) -> Graph {
    let mut graph = Graph::new();
    let file_of = |symbol: SymbolId| snapshot.symbol(symbol)?.file()?.symbol().map(|file| file.id());
    for edge in snapshot.edges(EdgeKind::Imports) {
        let (Some(from), Some(to)) = (file_of(edge.from), edge.to.symbol().and_then(file_of)) else {
            continue;
        };
        if from != to && edge.origin <= Origin::AstInferred {
            graph.entry(from).or_default().insert(to);
        }
    }
    graph
}

/// Function to function, as far as it is certain: a guessed call would make circles that are not there.
fn calls(snapshot: &Snapshot) -> Graph {
    let mut graph = Graph::new();
    for edge in snapshot.edges(EdgeKind::Calls) {
        if let Some(to) = edge
            .to
            .symbol()
            .filter(|&to| to != edge.from && edge.origin <= Origin::AstResolved)
        {
            graph.entry(edge.from).or_default().insert(to);
        }
    }
    graph
}

fn row(workspace: &Workspace, number: usize, component: &[SymbolId], walk: &[SymbolId], severity: &str) -> Cycle {
    let snapshot = &workspace.repositories()[number].snapshot;
    let id = |symbol: SymbolId| {
        snapshot
            .symbol(symbol)
            .map(|symbol| workspace.id(number, symbol))
            .unwrap_or_default()
    };
    // Listed as a walk: each member needs the next, and the last needs the first.
    let is_one_crate = component
        .iter()
        .filter_map(|&member| snapshot.symbol(member)?.file())
        .all(|file| file.language() == "rust");
    let on_walk: BTreeSet<SymbolId> = walk.iter().copied().collect();
    let rest = component.iter().copied().filter(|member| !on_walk.contains(member));
    Cycle {
        size: component.len() as u64,
        severity: match (severity, is_one_crate) {
            // Modules of a crate are compiled as one, so their circles cost understanding, not builds.
            ("high", true) => "medium".to_string(),
            (severity, _) => severity.to_string(),
        },
        nodes: walk.iter().copied().chain(rest).map(id).collect(),
    }
}

/// A shortest circle through the first member of the component.
fn shortest_circle(graph: &Graph, component: &[SymbolId]) -> Vec<SymbolId> {
    let members: BTreeSet<SymbolId> = component.iter().copied().collect();
    let Some(&start) = component.first() else {
        return Vec::new();
    };
    let mut before: BTreeMap<SymbolId, SymbolId> = BTreeMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &next in graph
            .get(&node)
            .into_iter()
            .flatten()
            .filter(|next| members.contains(next))
        {
            if next == start {
                let mut walk = vec![node];
                let mut at = node;
                while let Some(&previous) = before.get(&at) {
                    walk.push(previous);
                    at = previous;
                }
                walk.reverse();
                return walk;
            }
            if let Entry::Vacant(unseen) = before.entry(next) {
                unseen.insert(node);
                queue.push_back(next);
            }
        }
    }
    component.to_vec()
}

/// Strongly connected components of at least two members, each sorted, in order of their first member.
pub(super) fn components(graph: &Graph) -> Vec<Vec<SymbolId>> {
    struct State {
        index: BTreeMap<SymbolId, (u32, u32)>,
        on_stack: BTreeSet<SymbolId>,
        stack: Vec<SymbolId>,
        found: Vec<Vec<SymbolId>>,
    }
    let mut state = State {
        index: BTreeMap::new(),
        on_stack: BTreeSet::new(),
        stack: Vec::new(),
        found: Vec::new(),
    };
    let empty = BTreeSet::new();
    for &root in graph.keys() {
        if state.index.contains_key(&root) {
            continue;
        }
        // (node, neighbours still to visit): a stack of our own, since call chains are deeper than threads' stacks.
        let mut work = vec![(root, graph.get(&root).unwrap_or(&empty).iter())];
        let mut next_index = state.index.len() as u32;
        state.index.insert(root, (next_index, next_index));
        state.on_stack.insert(root);
        state.stack.push(root);
        while let Some((node, neighbours)) = work.last_mut() {
            let node = *node;
            match neighbours.next() {
                Some(&next) => match state.index.get(&next).copied() {
                    None => {
                        next_index = state.index.len() as u32;
                        state.index.insert(next, (next_index, next_index));
                        state.on_stack.insert(next);
                        state.stack.push(next);
                        work.push((next, graph.get(&next).unwrap_or(&empty).iter()));
                    }
                    Some((index, _)) if state.on_stack.contains(&next) => {
                        if let Some(entry) = state.index.get_mut(&node) {
                            entry.1 = entry.1.min(index);
                        }
                    }
                    Some(_) => {}
                },
                None => {
                    work.pop();
                    let (index, low) = state.index[&node];
                    if let Some((parent, _)) = work.last()
                        && let Some(entry) = state.index.get_mut(parent)
                    {
                        entry.1 = entry.1.min(low);
                    }
                    if index == low {
                        let mut component = Vec::new();
                        while let Some(member) = state.stack.pop() {
                            state.on_stack.remove(&member);
                            component.push(member);
                            if member == node {
                                break;
                            }
                        }
                        if component.len() > 1 {
                            component.sort_unstable();
                            state.found.push(component);
                        }
                    }
                }
            }
        }
    }
    state.found.sort();
    state.found
}
