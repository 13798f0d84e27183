//! Contexts: the symbols that matter for a task, some files or a change, with as much of their source as a budget of tokens
//! holds. One file per question; below them `rank` says what matters, `fill` what fits.
//!
//! All of them give a [`ContextPack`]: targets first, then what lies one edge away, two, and so on.

mod blast_radius;
mod communities;
mod dispatch;
mod distance;
mod edges;
mod explain_symbol;
mod files;
mod fill;
mod for_files;
mod for_pr;
mod for_task;
mod forms;
pub(crate) mod history;
mod plan;
mod plan_turn;
mod rank;
mod renames;
mod spread;
mod targets;
mod terms;

pub use blast_radius::{BlastRadius, blast_radius};
pub use communities::{CommunitiesAnswer, CommunityRow, CommunityTable, GetCommunities, communities};
pub use explain_symbol::{Explain, explain_symbol};
pub use fill::{FEWEST_TOKENS, Room};
pub use for_files::{ForFiles, context_for_files};
pub use for_pr::{ForPr, context_for_pr};
pub use for_task::{ForTask, context_for_task, ranked_files, ranked_symbols};
pub use plan_turn::{PlanTurn, Step, TurnPlan, plan_turn};
pub use renames::renames;
pub use wire::answers::ContextPack;

pub(crate) use communities::most_used;
pub(crate) use files::PathWords;
pub(crate) use for_pr::changed_symbols;
pub(crate) use history::Recency;
pub(crate) use rank::for_task as ranked_for_task;
pub(crate) use terms::terms;

use crate::workspace::{SymbolKey, Workspace};
use distance::Distances;
use fill::Material;
use rank::Ranked;

/// Ranked symbols as material: distances from `targets` by the graph.
fn material<'a>(
    workspace: &'a Workspace,
    ranked: Vec<Ranked>,
    targets: &[SymbolKey],
    with_reasons: bool,
) -> Material<'a> {
    Material {
        distances: Distances::from(workspace, targets),
        ranked,
        with_sources: true,
        with_reasons,
        note: None,
        total: None,
        pinned: Vec::new(),
        edges: None,
    }
}

/// A number of things in words.
fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}
