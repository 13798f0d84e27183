//! The edges of a pack: those that the question found itself, or a few for each symbol, the kinds that say most first. What the
//! client holds already is kept, so that a pack that is asked for again differs only where the code does.

use std::collections::{BTreeMap, HashMap, HashSet};

use index::snapshot::EdgeKinds;
use wire::answers::{ContextPack, PackEdge};

use super::spread::outgoing_weight;
use crate::kinds;
use crate::workspace::{SymbolKey, Workspace};

/// Most edges that lead away from one symbol.
const MOST_OF_ONE: usize = 3;
/// Edges of one symbol that are looked at.
const MOST_LOOKED_AT: usize = 512;

/// The edges that the client holds, as pairs of ids with their kinds.
#[derive(Default)]
pub(super) struct HeldEdges<'a> {
    kinds: HashMap<(&'a str, &'a str), &'a str>,
    symbols: HashSet<&'a str>,
}

impl<'a> HeldEdges<'a> {
    pub(super) fn of(base: Option<&'a ContextPack>) -> HeldEdges<'a> {
        let Some(base) = base else { return HeldEdges::default() };
        HeldEdges {
            kinds: base
                .edges
                .iter()
                .map(|edge| ((edge.from.as_str(), edge.to.as_str()), edge.kind.as_str()))
                .collect(),
            symbols: base.symbols.iter().map(|symbol| symbol.id.as_str()).collect(),
        }
    }

    /// 0 for what the client holds, 1 for what is new to it because an end is, 2 for what it could have been sent and was not.
    fn place(&self, from: &str, to: &str, kind: &str) -> u8 {
        match self.kinds.get(&(from, to)) {
            Some(held) if *held == kind => 0,
            _ if self.symbols.contains(from) && self.symbols.contains(to) => 2,
            _ => 1,
        }
    }
}

/// Of the edges that the question found, those between the symbols of the pack.
pub(super) fn given(
    workspace: &Workspace,
    edges: &[(SymbolKey, SymbolKey, &str)],
    keys: &[SymbolKey],
) -> Vec<PackEdge> {
    let kept: HashSet<SymbolKey> = keys.iter().copied().collect();
    let id = |key: SymbolKey| workspace.symbol(key).map(|symbol| workspace.id(key.repository, symbol));
    let edges = edges
        .iter()
        .filter(|(from, to, _)| kept.contains(from) && kept.contains(to));
    edges
        .filter_map(|(from, to, kind)| {
            Some(PackEdge {
                from: id(*from)?,
                to: id(*to)?,
                kind: (*kind).to_string(),
            })
        })
        .collect()
}

/// The edges among the symbols, whose ids are `ids`.
pub(super) fn between(workspace: &Workspace, keys: &[SymbolKey], ids: &[&str], held: &HeldEdges<'_>) -> Vec<PackEdge> {
    let places: HashMap<SymbolKey, usize> = keys.iter().enumerate().map(|(place, key)| (*key, place)).collect();
    let mut edges: Vec<PackEdge> = Vec::new();
    for (key, from) in keys.iter().zip(ids) {
        let Some(repository) = workspace.repository(key.repository) else {
            continue;
        };
        let mut found: BTreeMap<(u8, i32, usize), &'static str> = BTreeMap::new();
        for edge in repository
            .snapshot
            .outgoing(key.symbol, EdgeKinds::ALL)
            .take(MOST_LOOKED_AT)
        {
            let to = edge.to.symbol().map(|symbol| SymbolKey {
                repository: key.repository,
                symbol,
            });
            let Some(&place) = to.as_ref().and_then(|to| places.get(to)) else {
                continue;
            };
            if to == Some(*key) {
                continue;
            }
            let kind = kinds::edge_name(edge.kind);
            let weight = (outgoing_weight(edge.kind) * 100.0) as i32;
            found
                .entry((held.place(from, ids[place], kind), -weight, place))
                .or_insert(kind);
        }
        let mut ends: HashSet<usize> = HashSet::new();
        for ((_, _, place), kind) in found {
            if ends.len() >= MOST_OF_ONE {
                break;
            }
            if ends.insert(place) {
                edges.push(PackEdge {
                    from: (*from).to_string(),
                    to: ids[place].to_string(),
                    kind: kind.to_string(),
                });
            }
        }
    }
    edges
}
