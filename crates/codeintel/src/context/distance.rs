//! How many edges, of any kind and in either direction, a symbol is away from the nearest target.
//!
//! The walk goes two steps out from the targets, and only the symbols that are shown look one step back: three steps are told
//! exactly without visiting the rest of the graph, which in a large tree is nearly all of it.

use std::cell::RefCell;
use std::collections::HashMap;

use index::snapshot::{EdgeKinds, Snapshot, SymbolId};

use crate::workspace::{SymbolKey, Workspace};

/// Distances from some targets.
pub(crate) struct Distances<'a> {
    workspace: &'a Workspace,
    /// Per repository and symbol, [`UNSEEN`] or at most [`STEPS`]; empty where no target is.
    near: Vec<Vec<u8>>,
    told: RefCell<HashMap<SymbolKey, u32>>,
}

const UNSEEN: u8 = u8::MAX;
/// Steps of the walk.
const STEPS: u8 = 2;
/// Most edges that the walk looks at after its first step, and that one symbol looks back along.
const MOST_EDGES: usize = 24_000;
const MOST_OF_ONE: usize = 4_000;

/// What is not connected, or farther than can be told.
pub(crate) const FARTHER: u32 = STEPS as u32 + 2;

impl<'a> Distances<'a> {
    /// From `targets`, by the graph.
    pub(crate) fn from(workspace: &'a Workspace, targets: &[SymbolKey]) -> Distances<'a> {
        let near = workspace.repositories().iter().enumerate().map(|(number, repository)| {
            let here = targets.iter().filter(|key| key.repository == number);
            walk(&repository.snapshot, here.map(|key| key.symbol).collect())
        });
        Distances {
            workspace,
            near: near.collect(),
            told: RefCell::default(),
        }
    }

    /// Those that the question found itself.
    pub(crate) fn given(workspace: &'a Workspace, distances: HashMap<SymbolKey, u32>) -> Distances<'a> {
        Distances {
            workspace,
            near: Vec::new(),
            told: RefCell::new(distances),
        }
    }

    /// Whether it is one of the targets, without looking for it.
    pub(crate) fn is_target(&self, key: SymbolKey) -> bool {
        let near = self.near.get(key.repository);
        let steps = near.and_then(|near| near.get(key.symbol.0 as usize));
        steps == Some(&0) || self.told.borrow().get(&key) == Some(&0)
    }

    /// How far a symbol is; [`FARTHER`] where no path was found.
    pub(crate) fn of(&self, key: SymbolKey) -> u32 {
        let known = self.told.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let found = self.look(key).unwrap_or(FARTHER);
            self.told.borrow_mut().insert(key, found);
            found
        })
    }

    fn look(&self, key: SymbolKey) -> Option<u32> {
        let near = self.near.get(key.repository).filter(|near| !near.is_empty())?;
        let of = |symbol: SymbolId| near.get(symbol.0 as usize).copied().filter(|steps| *steps != UNSEEN);
        if let Some(steps) = of(key.symbol) {
            return Some(u32::from(steps));
        }
        // The first step of the walk is complete, so whatever has a neighbour there is exactly one farther.
        let snapshot = &self.workspace.repository(key.repository)?.snapshot;
        let around = around(snapshot, key.symbol).take(MOST_OF_ONE);
        around.filter_map(of).min().map(|steps| u32::from(steps) + 1)
    }
}

fn walk(snapshot: &Snapshot, targets: Vec<SymbolId>) -> Vec<u8> {
    if targets.is_empty() {
        return Vec::new();
    }
    let mut near = vec![UNSEEN; snapshot.symbol_count()];
    let mut level = targets;
    for symbol in &level {
        if let Some(steps) = near.get_mut(symbol.0 as usize) {
            *steps = 0;
        }
    }
    for steps in 1..=STEPS {
        let mut next = Vec::new();
        let mut looked = 0;
        for symbol in level {
            for other in around(snapshot, symbol) {
                looked += 1;
                if let Some(known) = near.get_mut(other.0 as usize).filter(|known| **known == UNSEEN) {
                    *known = steps;
                    next.push(other);
                }
            }
            if steps > 1 && looked > MOST_EDGES {
                break;
            }
        }
        level = next;
    }
    near
}

fn around(snapshot: &Snapshot, symbol: SymbolId) -> impl Iterator<Item = SymbolId> + '_ {
    let outgoing = snapshot.outgoing(symbol, EdgeKinds::ALL);
    let incoming = snapshot.incoming(symbol, EdgeKinds::ALL).map(|edge| edge.from);
    outgoing.filter_map(|edge| edge.to.symbol()).chain(incoming)
}
