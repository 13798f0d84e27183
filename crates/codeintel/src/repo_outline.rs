//! `get_repo_outline` and `graph_stats`: a repository at a glance, and its numbers.

use std::collections::BTreeMap;

use index::snapshot::{Snapshot, SymbolId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use syntax::facts::{Flags, Kind};
use wire::answers::{Community, LanguageShare, OutlineHotspot, RepoOutline};

use crate::context::most_used;
use crate::error::QuestionError;
use crate::kinds;
use crate::traverse::is_test;
use crate::workspace::Workspace;

/// What is asked of either: nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

const LANGUAGES: usize = 5;
const COMMUNITIES: usize = 5;
const HOTSPOTS: usize = 5;
const IMPORTED: usize = 10;
const ENTRIES: usize = 10;

/// The repositories at a glance.
pub fn repo_outline(workspace: &Workspace, _: &Nothing) -> Result<RepoOutline, QuestionError> {
    let mut outline = RepoOutline {
        incomplete: workspace.incomplete(),
        ..RepoOutline::default()
    };
    let mut languages: BTreeMap<String, u64> = BTreeMap::new();
    let (mut nodes, mut edges) = (0, 0);
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let snapshot = &repository.snapshot;
        nodes += snapshot.symbol_count() as u64;
        edges += snapshot.edge_count() as u64;
        for language in snapshot.languages() {
            *languages.entry(language.name().to_string()).or_default() += language.symbols();
        }
        outline.communities.extend(largest_communities(workspace, number));
        let hot = repository
            .hottest()
            .symbols
            .iter()
            .take(HOTSPOTS)
            .filter_map(|hot| Some((hot.score, snapshot.symbol(hot.symbol)?)));
        outline.hotspots.extend(hot.map(|(score, symbol)| OutlineHotspot {
            id: workspace.id(number, symbol),
            score,
        }));
        outline.most_imported.extend(
            repository
                .hottest()
                .imported
                .iter()
                .take(IMPORTED)
                .map(|path| workspace.path(number, path)),
        );
        let entries = snapshot
            .symbols()
            .filter(|symbol| symbol.flags().contains(Flags::ENTRY_POINT) && !is_test(*symbol));
        outline
            .entry_points
            .extend(entries.take(ENTRIES).map(|symbol| workspace.id(number, symbol)));
    }
    let mut shares: Vec<LanguageShare> = languages
        .into_iter()
        .map(|(name, nodes)| LanguageShare { name, nodes })
        .collect();
    shares.sort_by(|a, b| b.nodes.cmp(&a.nodes).then_with(|| a.name.cmp(&b.name)));
    shares.truncate(LANGUAGES);
    outline.languages = shares;
    outline.total_nodes = Some(nodes);
    outline.total_edges = Some(edges);
    Ok(outline)
}

/// The largest communities, each named by the folder that most of its members share; where two share one, by what is used most
/// in each as well.
fn largest_communities(workspace: &Workspace, number: usize) -> Vec<Community> {
    let repository = &workspace.repositories()[number];
    let (snapshot, found) = (&repository.snapshot, repository.communities());
    let mut groups = found.groups(3);
    groups.truncate(COMMUNITIES);
    let folder = |members: &[SymbolId]| -> &str {
        let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
        for symbol in members.iter().filter_map(|&member| snapshot.symbol(member)) {
            let path = symbol.path();
            *folders
                .entry(path.rsplit_once('/').map_or(path, |(folder, _)| folder))
                .or_default() += 1;
        }
        let most = folders
            .into_iter()
            .max_by_key(|&(name, count)| (count, std::cmp::Reverse(name)));
        most.map_or("", |(name, _)| name)
    };
    let folders: Vec<&str> = groups.iter().map(|(_, members)| folder(members)).collect();
    let rows = groups.iter().zip(&folders).map(|((label, members), folder)| {
        let is_shared = folders.iter().filter(|other| *other == folder).count() > 1;
        let heart = is_shared.then(|| heart(snapshot, members)).flatten();
        let name = workspace.path(number, folder);
        Community {
            id: u64::from(*label),
            name: heart.map_or(name.clone(), |heart| format!("{name} ({heart})")),
            size: members.len() as u64,
            modularity: (found.modularity() * 1000.0).round() / 1000.0,
        }
    });
    rows.collect()
}

/// The name of what is used most in a community, files and constructors aside.
fn heart(snapshot: &Snapshot, members: &[SymbolId]) -> Option<String> {
    let (used, ..) = most_used(snapshot, members);
    let mut symbols = used.into_iter().filter_map(|symbol| snapshot.symbol(symbol));
    symbols
        .find(|symbol| !symbol.is_file() && symbol.kind() != Kind::Constructor)
        .map(|symbol| symbol.qualified_name())
}

/// The numbers of the graph.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphStats {
    /// Files indexed.
    pub files: u64,
    /// Files seen and not indexed.
    pub skipped: u64,
    /// Lines of the indexed files.
    pub lines: u64,
    /// Symbols, files excluded.
    pub symbols: u64,
    /// Edges.
    pub edges: u64,
    /// Calls that found no target.
    pub unresolved_calls: u64,
    /// Symbols by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// Files by language.
    pub by_language: BTreeMap<String, u64>,
    /// Edges by kind.
    pub by_edge: BTreeMap<String, u64>,
    /// Edges by origin.
    pub by_origin: BTreeMap<String, u64>,
    /// What the index still lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// The numbers of the graph.
pub fn graph_stats(workspace: &Workspace, _: &Nothing) -> Result<GraphStats, QuestionError> {
    let mut stats = GraphStats {
        incomplete: workspace.incomplete(),
        ..GraphStats::default()
    };
    for repository in workspace.repositories() {
        let snapshot = &repository.snapshot;
        let totals = snapshot.totals();
        stats.files += snapshot.file_count() as u64;
        stats.skipped += snapshot.skipped().len() as u64;
        stats.lines += totals.lines;
        stats.unresolved_calls += totals.unresolved_calls;
        for (kind, count) in totals.symbols {
            stats.symbols += count;
            *stats.by_kind.entry(kinds::kind_name(kind).to_string()).or_default() += count;
        }
        for (kind, origin, count) in totals.edges {
            stats.edges += count;
            *stats.by_edge.entry(kinds::edge_name(kind).to_string()).or_default() += count;
            *stats
                .by_origin
                .entry(kinds::origin_name(origin).to_string())
                .or_default() += count;
        }
        for language in snapshot.languages() {
            *stats.by_language.entry(language.name().to_string()).or_default() += u64::from(language.files());
        }
    }
    Ok(stats)
}
