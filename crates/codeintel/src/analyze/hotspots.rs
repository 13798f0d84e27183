//! Symbols that much of the code goes through.

use std::collections::{HashMap, HashSet};

use index::model::{EdgeKind, FileId, Origin};
use index::snapshot::{Snapshot, SymbolId};
use syntax::facts::Kind;
use wire::answers::{Hotspot, Hotspots};

use super::{Analyze, Communities, is_asked};
use crate::page::{self, Page};
use crate::traverse::is_test;
use crate::workspace::{Stop, Workspace};

pub(super) fn hotspots(workspace: &Workspace, ask: &Analyze, page: Page) -> Hotspots {
    let mut found: Vec<(f64, Hotspot)> = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        for hot in &repository.hottest().symbols {
            let Some(symbol) = repository.snapshot.symbol(hot.symbol) else {
                continue;
            };
            if !is_asked(ask, workspace, number, symbol.path()) {
                continue;
            }
            let row = Hotspot {
                id: workspace.id(number, symbol),
                name: symbol.name().to_string(),
                path: workspace.path(number, symbol.path()),
                line: u64::from(symbol.span().start_line),
                fan_in: hot.fan_in,
                fan_out: hot.fan_out,
                cross_cut: hot.cross_cut,
                score: hot.score,
            };
            found.push((hot.score, row));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    let total = found.len();
    let end = page.offset.saturating_add(page.limit);
    let more = end < total;
    Hotspots {
        symbols: page.take(found).into_iter().map(|(_, row)| row).collect(),
        total: total as u64,
        truncated: more,
        next_cursor: more.then(|| page::cursor(workspace, end)),
        etag: None,
        incomplete: workspace.incomplete(),
        formula: Some(formula(workspace)),
    }
}

/// How scores come about, with the number that they are scaled by.
fn formula(workspace: &Workspace) -> String {
    let scale = |repository: &crate::workspace::Repository| {
        let scale = (repository.hottest().highest * 10.0).round() / 10.0;
        match workspace.is_prefixed() {
            true => format!("{}:{scale}", repository.name),
            false => scale.to_string(),
        }
    };
    let scales: Vec<String> = workspace.repositories().iter().map(scale).collect();
    format!("(2*fan_in+1.5*fan_out+3*cross_cut)*100/{}", scales.join(","))
}

/// One hot symbol.
pub(crate) struct Hot {
    pub(crate) symbol: SymbolId,
    fan_in: u64,
    fan_out: u64,
    cross_cut: u64,
    pub(crate) score: f64,
}

/// What much of a repository goes through.
pub(crate) struct Hottest {
    /// Hottest first.
    pub(crate) symbols: Vec<Hot>,
    /// The raw score that counts as 100.
    pub(crate) highest: f64,
    /// Paths of the files, and of the folders that are packages, that most other files import.
    pub(crate) imported: Vec<String>,
}

/// Paths of what is imported that are kept.
const IMPORTED: usize = 20;

impl Hottest {
    /// Of nothing.
    pub(crate) const NOTHING: Hottest = Hottest {
        symbols: Vec::new(),
        highest: 0.0,
        imported: Vec::new(),
    };
}

/// The functions and methods whose score lies at least two standard deviations above the mean, hottest first.
pub(crate) fn hottest(snapshot: &Snapshot, communities: &Communities, stop: &Stop) -> Hottest {
    let calls = EdgeKind::Calls | EdgeKind::Instantiates;
    let mut all: Vec<Hot> = Vec::new();
    for symbol in snapshot.symbols() {
        if stop.is_stopped() {
            return Hottest::NOTHING;
        }
        if !matches!(symbol.kind(), Kind::Function | Kind::Method | Kind::Constructor)
            || symbol.is_file()
            || is_test(symbol)
        {
            continue;
        }
        let sure = |edge: &index::snapshot::EdgeView| edge.origin <= Origin::AstInferred;
        let users: HashSet<SymbolId> = snapshot
            .incoming(symbol.id(), calls)
            .filter(sure)
            .map(|edge| edge.from)
            .collect();
        let used: HashSet<SymbolId> = snapshot
            .outgoing(symbol.id(), calls)
            .filter(sure)
            .filter_map(|edge| edge.to.symbol())
            .collect();
        if users.is_empty() && used.is_empty() {
            continue;
        }
        let own = communities.of(symbol.id());
        let crossed: HashSet<u32> = users
            .iter()
            .chain(&used)
            .map(|other| communities.of(*other))
            .filter(|other| *other != own)
            .collect();
        let raw = 2.0 * users.len() as f64 + 1.5 * used.len() as f64 + 3.0 * crossed.len() as f64;
        all.push(Hot {
            symbol: symbol.id(),
            fan_in: users.len() as u64,
            fan_out: used.len() as u64,
            cross_cut: crossed.len() as u64,
            score: raw,
        });
    }
    let count = all.len().max(1) as f64;
    let mean = all.iter().map(|hot| hot.score).sum::<f64>() / count;
    let deviation = (all.iter().map(|hot| (hot.score - mean).powi(2)).sum::<f64>() / count).sqrt();
    let highest = all.iter().map(|hot| hot.score).fold(0.0, f64::max);
    all.retain(|hot| hot.score >= mean + 2.0 * deviation && hot.score > 0.0);
    for hot in &mut all {
        hot.score = (hot.score / highest * 1000.0).round() / 10.0;
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.symbol.cmp(&b.symbol)));
    Hottest {
        symbols: all,
        highest,
        imported: most_imported(snapshot),
    }
}

/// Paths of the files that most other files import, most of all first. Go imports packages, not files: there, of the folders whose
/// symbols most files of other folders use.
fn most_imported(snapshot: &Snapshot) -> Vec<String> {
    let mut importers: HashMap<&str, HashSet<FileId>> = HashMap::new();
    let file_of = |symbol: SymbolId| snapshot.symbol(symbol)?.file();
    let imports = EdgeKind::Imports | EdgeKind::Calls | EdgeKind::References | EdgeKind::Instantiates;
    for edge in snapshot
        .edges(imports)
        .filter(|edge| edge.origin <= Origin::AstInferred)
    {
        let (Some(from), Some(to)) = (file_of(edge.from), edge.to.symbol().and_then(file_of)) else {
            continue;
        };
        let folder = |path: &'_ str| path.rfind('/').unwrap_or(0);
        let imported = match (edge.kind, to.language()) {
            (EdgeKind::Imports, _) if from.id() != to.id() => to.path(),
            (EdgeKind::Imports, _) => continue,
            (_, "go") => {
                let package = &to.path()[..folder(to.path())];
                if from.language() != "go" || package.is_empty() || package == &from.path()[..folder(from.path())] {
                    continue;
                }
                package
            }
            _ => continue,
        };
        importers.entry(imported).or_default().insert(from.id());
    }
    let mut counted: Vec<(usize, &str)> = importers.into_iter().map(|(path, from)| (from.len(), path)).collect();
    counted.sort_unstable_by_key(|&(count, path)| (std::cmp::Reverse(count), path));
    counted.truncate(IMPORTED);
    counted.into_iter().map(|(_, path)| path.to_string()).collect()
}
