//! What a task is about, as far as the ranking can tell. Distances are counted from here.
//!
//! A client that holds a pack was told its targets, and they stay while any of them is left, under whatever name: else one edit could
//! move every distance.

use std::collections::HashSet;

use wire::answers::ContextPack;

use super::plan::most_targets;
use super::rank::{Evidence, Ranked};
use crate::workspace::{SymbolKey, Workspace};

/// Most targets.
const MOST: usize = 10;

/// Those that the client was told while any is left of them, else the best, while they are nearly as good. A small budget has
/// few, so that all are part of its pack.
pub(super) fn targets(
    workspace: &Workspace,
    ranked: &[Ranked],
    budget: usize,
    base: Option<&ContextPack>,
) -> Vec<SymbolKey> {
    let most = MOST.min(most_targets(budget));
    let told: HashSet<SymbolKey> = base
        .into_iter()
        .flat_map(|base| &base.symbols)
        .filter(|symbol| symbol.distance == 0)
        .filter_map(|symbol| workspace.find(&symbol.id))
        .collect();
    let known: HashSet<SymbolKey> = ranked
        .iter()
        .map(|item| item.key)
        .filter(|key| told.contains(key))
        .collect();
    let mut others: Vec<SymbolKey> = told.difference(&known).copied().collect();
    others.sort_unstable();
    let left = ranked.iter().map(|item| item.key).filter(|key| told.contains(key));
    let left: Vec<SymbolKey> = left.chain(others).take(most).collect();
    if !left.is_empty() {
        return left;
    }
    // What the task writes out is what it is about; words and meaning only where it writes nothing out.
    let written = |item: &&Ranked| matches!(item.evidence, Evidence::Named(_) | Evidence::Told | Evidence::Path(_));
    let has_written = ranked.iter().any(|item| written(&item));
    let seeds: Vec<&Ranked> = ranked
        .iter()
        .filter(|item| match has_written {
            true => written(item),
            false => !matches!(item.evidence, Evidence::Edge(..)),
        })
        .collect();
    let best = seeds.first().map_or(0.0, |item| item.score);
    let near = seeds.iter().take_while(|item| item.score >= best * 0.5);
    near.take(most).map(|item| item.key).collect()
}
