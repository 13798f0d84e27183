//! How much of a walk that starts at the seeds and keeps coming back to them passes through each symbol: personalised
//! PageRank by pushing, so that the work depends on what is near and not on the size of the tree.
//!
//! Mass is pushed in the order it arrives, so the same seeds give the same numbers.

use std::collections::VecDeque;

use index::model::{EdgeKind, Origin};
use index::snapshot::{EdgeKinds, Snapshot, SymbolId};

/// What a walk found at one symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub(crate) mass: f32,
    /// The edge that brought most of the mass: its kind, and the symbol at the other end.
    pub(crate) by: Option<(EdgeKind, Origin, SymbolId)>,
}

/// The part of the mass that stays where it is.
const STAY: f32 = 0.3;
/// Less mass than this is not pushed on.
const LEAST: f32 = 2e-4;
/// Most pushes, and most edges looked at.
const MOST_PUSHES: usize = 3_000;
const MOST_EDGES: usize = 120_000;
/// Most edges of one symbol that are followed each way; a symbol that half of the tree uses says little about any one user.
const MOST_OF_ONE: usize = 96;

/// Walks from `seeds`, whose masses should add up to 1. Symbols come in the order they were first reached.
pub(crate) fn spread(snapshot: &Snapshot, seeds: &[(SymbolId, f32)]) -> Vec<(SymbolId, Reach)> {
    let mut places: Vec<u32> = vec![UNSEEN; snapshot.symbol_count()];
    let mut nodes: Vec<Node> = Vec::new();
    let mut queue: VecDeque<usize> = VecDeque::new();
    for &(symbol, mass) in seeds {
        let Some(place) = place_of(&mut places, &mut nodes, symbol) else {
            continue;
        };
        nodes[place].waiting += mass;
        if !nodes[place].queued {
            nodes[place].queued = true;
            queue.push_back(place);
        }
    }
    let (mut pushes, mut looked) = (0, 0);
    let mut around: Vec<(SymbolId, f32, EdgeKind, Origin)> = Vec::new();
    while let Some(place) = queue.pop_front() {
        nodes[place].queued = false;
        let mass = std::mem::take(&mut nodes[place].waiting);
        if pushes >= MOST_PUSHES || looked >= MOST_EDGES {
            nodes[place].mass += mass;
            continue;
        }
        pushes += 1;
        nodes[place].mass += mass * STAY;
        let all = neighbours(snapshot, nodes[place].symbol, &mut around);
        looked += around.len();
        let moving = mass * (1.0 - STAY);
        let total: f32 = around.iter().map(|(_, weight, _, _)| weight).sum();
        if total <= 0.0 {
            nodes[place].mass += moving;
            continue;
        }
        // What would go to edges that are not followed stays.
        nodes[place].mass += moving * (1.0 - all);
        let from = nodes[place].symbol;
        for &(to, weight, kind, origin) in &around {
            let share = moving * all * weight / total;
            let Some(target) = place_of(&mut places, &mut nodes, to) else {
                continue;
            };
            let node = &mut nodes[target];
            node.waiting += share;
            if share > node.most {
                node.most = share;
                node.by = Some((kind, origin, from));
            }
            if node.waiting >= LEAST && !node.queued {
                node.queued = true;
                queue.push_back(target);
            }
        }
    }
    let reach = |node: Node| Reach {
        mass: node.mass + node.waiting * STAY,
        by: node.by,
    };
    nodes.into_iter().map(|node| (node.symbol, reach(node))).collect()
}

struct Node {
    symbol: SymbolId,
    mass: f32,
    waiting: f32,
    most: f32,
    by: Option<(EdgeKind, Origin, SymbolId)>,
    queued: bool,
}

/// A symbol that the walk has not come to.
const UNSEEN: u32 = u32::MAX;

/// The place of a symbol among the nodes; `None` for a number that no symbol has.
fn place_of(places: &mut [u32], nodes: &mut Vec<Node>, symbol: SymbolId) -> Option<usize> {
    let place = places.get_mut(symbol.0 as usize)?;
    if *place == UNSEEN {
        *place = nodes.len() as u32;
        nodes.push(Node {
            symbol,
            mass: 0.0,
            waiting: 0.0,
            most: 0.0,
            by: None,
            queued: false,
        });
    }
    Some(*place as usize)
}

/// The neighbours of a symbol with the weight of each edge; gives the part of its edges that these are.
fn neighbours(snapshot: &Snapshot, symbol: SymbolId, around: &mut Vec<(SymbolId, f32, EdgeKind, Origin)>) -> f32 {
    around.clear();
    let trusted = |confidence: u8, origin: Origin| {
        let tier = if origin == Origin::TextMatched { 0.3 } else { 1.0 };
        f32::from(confidence) / 100.0 * tier
    };
    for edge in snapshot.outgoing(symbol, EdgeKinds::ALL).take(MOST_OF_ONE * 2) {
        if let Some(to) = edge.to.symbol().filter(|to| *to != symbol) {
            let weight = outgoing_weight(edge.kind) * trusted(edge.confidence, edge.origin);
            around.push((to, weight, edge.kind, edge.origin));
        }
    }
    let incoming = snapshot.incoming_count(symbol);
    for edge in snapshot.incoming(symbol, EdgeKinds::ALL).take(MOST_OF_ONE) {
        if edge.from != symbol {
            let weight = incoming_weight(edge.kind) * trusted(edge.confidence, edge.origin);
            around.push((edge.from, weight, edge.kind, edge.origin));
        }
    }
    let followed = around.len() as f32;
    let all = followed + incoming.saturating_sub(MOST_OF_ONE) as f32;
    if all == 0.0 { 0.0 } else { followed / all }
}

/// How much a symbol says about what it points to.
pub(crate) fn outgoing_weight(kind: EdgeKind) -> f32 {
    match kind {
        EdgeKind::Calls => 1.0,
        EdgeKind::Implements | EdgeKind::Extends | EdgeKind::Overrides => 0.8,
        EdgeKind::Instantiates | EdgeKind::Provides | EdgeKind::Consumes => 0.7,
        EdgeKind::Tests => 0.6,
        EdgeKind::References | EdgeKind::Contains => 0.5,
        EdgeKind::Reads | EdgeKind::Writes => 0.4,
        EdgeKind::Imports | EdgeKind::Decorated => 0.3,
    }
}

/// How much a symbol says about who points to it.
fn incoming_weight(kind: EdgeKind) -> f32 {
    match kind {
        EdgeKind::Contains => 0.6,
        EdgeKind::Tests => 0.2,
        EdgeKind::Imports => 0.15,
        other => outgoing_weight(other) * 0.6,
    }
}
