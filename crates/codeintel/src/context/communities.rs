//! `communities`: which symbols belong together: a table of the groups, or the group of one symbol by distance from it.

use std::collections::{BTreeMap, HashSet};

use index::model::Origin;
use index::snapshot::{EdgeKinds, Snapshot, SymbolId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::ContextPack;

use super::fill::{Room, fill};
use super::rank::{Evidence, Ranked};
use super::{counted, material, rank};
use crate::error::QuestionError;
use crate::naming;
use crate::page::{self, Page};
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCommunities {
    /// list (default): all of them; for_symbol: the one of `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// for_symbol: id, name, Owner.name or path:line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// list: rows per page (default 20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// for_symbol: tokens at most (default 5000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// for_symbol: pack_root of an earlier answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack_root: Option<String>,
}

/// The answer, by action.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CommunitiesAnswer {
    /// For `list`.
    Table(CommunityTable),
    /// For `for_symbol`.
    Pack(Box<ContextPack>),
}

/// All communities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommunityTable {
    /// The largest first.
    pub communities: Vec<CommunityRow>,
    /// How good the partition is, −0.5 to 1.
    pub modularity: f64,
    /// Communities in all.
    pub total: u64,
    /// Whether rows were left out.
    pub truncated: bool,
    /// Pass it to get the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What the index still lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// One community.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommunityRow {
    /// Its number; it lasts as long as the code stays as it is.
    pub community: u64,
    /// Symbols in it.
    pub size: u64,
    /// The part of its edges that stay inside, 0 to 1.
    pub cohesion: f64,
    /// The directory that most of it lies in.
    pub directory: String,
    /// The symbols that most others of it use.
    pub top: Vec<String>,
}

/// Smaller groups are not communities.
const LEAST: usize = 3;

/// The communities, or one of them.
pub fn communities(
    workspace: &Workspace,
    ask: &GetCommunities,
    room: &Room<'_>,
) -> Result<CommunitiesAnswer, QuestionError> {
    match (ask.action.as_deref().unwrap_or("list"), &ask.id) {
        ("list", _) => table(workspace, ask).map(CommunitiesAnswer::Table),
        ("for_symbol", Some(id)) => of_symbol(workspace, id, room).map(|pack| CommunitiesAnswer::Pack(Box::new(pack))),
        ("for_symbol", None) => Err(QuestionError::Argument {
            name: "id",
            problem: "for_symbol needs a symbol".to_string(),
        }),
        (other, _) => Err(QuestionError::Argument {
            name: "action",
            problem: format!("no action `{other}`: expected list or for_symbol"),
        }),
    }
}

fn table(workspace: &Workspace, ask: &GetCommunities) -> Result<CommunityTable, QuestionError> {
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 20)?;
    let mut groups: Vec<(usize, u32, Vec<SymbolId>)> = Vec::new();
    let mut modularity = 0.0;
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let found = repository.communities();
        modularity = found.modularity();
        groups.extend(
            found
                .groups(LEAST)
                .into_iter()
                .map(|(label, members)| (number, label, members)),
        );
    }
    groups.sort_by_key(|(number, label, members)| (std::cmp::Reverse(members.len()), *number, *label));
    let total = groups.len();
    let end = page.offset.saturating_add(page.limit);
    let more = end < total;
    let shown = page.take(groups);
    Ok(CommunityTable {
        communities: shown
            .iter()
            .map(|(number, label, members)| row(workspace, *number, *label, members))
            .collect(),
        modularity: (modularity * 1000.0).round() / 1000.0,
        total: total as u64,
        truncated: more,
        next_cursor: more.then(|| page::cursor(workspace, end)),
        incomplete: workspace.incomplete(),
    })
}

fn row(workspace: &Workspace, repository: usize, label: u32, members: &[SymbolId]) -> CommunityRow {
    let snapshot = &workspace.repositories()[repository].snapshot;
    let (most, own, all) = most_used(snapshot, members);
    let mut folders: BTreeMap<&str, u64> = BTreeMap::new();
    for symbol in members.iter().filter_map(|member| snapshot.symbol(*member)) {
        let path = symbol.path();
        *folders
            .entry(path.rsplit_once('/').map_or("", |(folder, _)| folder))
            .or_default() += 1;
    }
    let folder = folders
        .iter()
        .max_by_key(|(name, count)| (**count, std::cmp::Reverse(**name)));
    CommunityRow {
        community: u64::from(label),
        size: members.len() as u64,
        cohesion: (own as f64 / all.max(1) as f64 * 100.0).round() / 100.0,
        directory: folder.map_or(String::new(), |(name, _)| workspace.path(repository, name)),
        top: most
            .iter()
            .take(5)
            .filter_map(|symbol| Some(workspace.id(repository, snapshot.symbol(*symbol)?)))
            .collect(),
    }
}

/// The members that the others use, most used first; how many of all uses stay inside, and how many there are.
pub(crate) fn most_used(snapshot: &Snapshot, members: &[SymbolId]) -> (Vec<SymbolId>, u64, u64) {
    let inside: HashSet<SymbolId> = members.iter().copied().collect();
    let (mut own, mut all) = (0u64, 0u64);
    let mut uses: BTreeMap<SymbolId, u64> = BTreeMap::new();
    for member in members {
        for edge in snapshot
            .outgoing(*member, EdgeKinds::ALL)
            .filter(|edge| edge.origin <= Origin::AstInferred)
        {
            let Some(to) = edge.to.symbol() else { continue };
            all += 1;
            if inside.contains(&to) {
                own += 1;
                *uses.entry(to).or_default() += 1;
            }
        }
    }
    let mut most: Vec<(u64, SymbolId)> = uses.into_iter().map(|(symbol, count)| (count, symbol)).collect();
    most.sort_by_key(|(count, symbol)| (std::cmp::Reverse(*count), *symbol));
    (most.into_iter().map(|(_, symbol)| symbol).collect(), own, all)
}

fn of_symbol(workspace: &Workspace, id: &str, room: &Room<'_>) -> Result<ContextPack, QuestionError> {
    let key = naming::likeliest(workspace, id)?;
    let repository = &workspace.repositories()[key.repository];
    let communities = repository.communities();
    let label = communities.of(key.symbol);
    let near: std::collections::HashMap<SymbolKey, f64> = rank::for_symbols(workspace, &[key])
        .into_iter()
        .map(|item| (item.key, item.score))
        .collect();
    let members = repository
        .snapshot
        .symbols()
        .map(|symbol| symbol.id())
        .filter(|symbol| communities.of(*symbol) == label);
    let mut ranked: Vec<Ranked> = members
        .map(|symbol| {
            let member = SymbolKey {
                repository: key.repository,
                symbol,
            };
            let uses = repository.snapshot.incoming_count(symbol) as f64;
            Ranked {
                key: member,
                // What is near the symbol first, then what most others use.
                score: if member == key {
                    1.0
                } else {
                    near.get(&member).copied().unwrap_or(0.0) * 0.8 + 0.2 * uses / (uses + 20.0)
                },
                evidence: if member == key {
                    Evidence::Asked
                } else {
                    Evidence::Edge(index::model::EdgeKind::Contains, Origin::AstResolved, key)
                },
            }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
    let count = ranked.len();
    let mut material = material(workspace, ranked, &[key], false);
    material.with_sources = false;
    material.note = Some(format!("community {label} of {}", counted(count, "symbol")));
    fill(workspace, material, room)
}
