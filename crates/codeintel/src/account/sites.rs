//! Where a symbol is used: one site per place, however many edges say so, and through which base or interface it is reached.

use std::collections::BTreeMap;

use index::model::{EdgeKind, FileId, Origin};
use index::snapshot::{EdgeKinds, EdgeView, SymbolId};
use syntax::facts::Flags;

use crate::traverse::{self, Direction};
use crate::workspace::{SymbolKey, Workspace};

/// One place where a symbol is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Which repository the place is in.
    pub repository: usize,
    /// Which file.
    pub file: FileId,
    /// 1-based.
    pub line: u32,
    /// 0-based, in bytes.
    pub column: u32,
    /// The definition around it.
    pub from: SymbolId,
    /// What is done there.
    pub kind: EdgeKind,
    /// How that is known.
    pub origin: Origin,
    /// In hundredths.
    pub confidence: u8,
    /// The method of a base or interface that is called there; the symbol runs as an override of it.
    pub through: Option<SymbolKey>,
    /// Whether it stands in a test.
    pub is_test: bool,
}

/// Methods above one that are looked at.
const MOST_ABOVE: usize = 16;

/// A place: repository, file, line, column.
pub(super) type Place = (usize, FileId, u32, u32);

/// What counts as a use: what contains it does not use it, and a test uses it by the call that stands beside.
fn use_kinds() -> EdgeKinds {
    EdgeKinds::ALL.without(EdgeKind::Contains | EdgeKind::Tests)
}

/// Every place where `key` is used, in order.
pub(crate) fn of(workspace: &Workspace, key: SymbolKey) -> Vec<Site> {
    let mut sites: BTreeMap<Place, Site> = BTreeMap::new();
    for target in twins(workspace, key) {
        for (repository, edge) in incoming(workspace, target) {
            add(workspace, &mut sites, repository, edge, None);
        }
    }
    for base in above(workspace, key) {
        for (repository, edge) in incoming(workspace, base) {
            if !matches!(edge.kind, EdgeKind::Calls | EdgeKind::References) || edge.origin > Origin::AstInferred {
                continue;
            }
            let caller = SymbolKey {
                repository,
                symbol: edge.from,
            };
            // What overrides the base too goes up to it by its call, and nowhere else.
            if edge.kind == EdgeKind::Calls && !overrides(workspace, caller).contains(&base) {
                add(workspace, &mut sites, repository, edge, Some(base));
            }
        }
    }
    sites.into_values().collect()
}

fn add(
    workspace: &Workspace,
    sites: &mut BTreeMap<Place, Site>,
    repository: usize,
    edge: EdgeView,
    through: Option<SymbolKey>,
) {
    if edge.origin > Origin::AstInferred {
        return;
    }
    let Some(from) = workspace.symbol(SymbolKey {
        repository,
        symbol: edge.from,
    }) else {
        return;
    };
    let place = (repository, from.file_id(), edge.at.line, edge.at.column);
    let site = sites.entry(place).or_insert_with(|| Site {
        repository,
        file: from.file_id(),
        line: edge.at.line,
        column: edge.at.column,
        from: edge.from,
        kind: edge.kind,
        origin: edge.origin,
        confidence: edge.confidence,
        through,
        is_test: traverse::is_test(from),
    });
    if rank(edge.kind) < rank(site.kind) {
        site.kind = edge.kind;
        site.from = edge.from;
    }
    if site.through.is_none() {
        site.through = through;
    }
    site.origin = site.origin.min(edge.origin);
    site.confidence = site.confidence.max(edge.confidence);
}

/// Which of several relations at one place says most.
pub(crate) fn rank(kind: EdgeKind) -> u8 {
    match kind {
        EdgeKind::Calls => 0,
        EdgeKind::Instantiates => 1,
        EdgeKind::Overrides => 2,
        EdgeKind::Implements => 3,
        EdgeKind::Extends => 4,
        EdgeKind::Decorated => 5,
        EdgeKind::Imports => 6,
        EdgeKind::Writes => 7,
        EdgeKind::Reads => 8,
        EdgeKind::References => 9,
        EdgeKind::Consumes => 10,
        EdgeKind::Provides => 11,
        EdgeKind::Tests | EdgeKind::Contains => 12,
    }
}

/// The edges that end in a symbol, those from other repositories included.
fn incoming(workspace: &Workspace, key: SymbolKey) -> Vec<(usize, EdgeView)> {
    let Some(repository) = workspace.repository(key.repository) else {
        return Vec::new();
    };
    let own = repository.edges(key.symbol, Direction::Incoming, use_kinds());
    let mut edges: Vec<(usize, EdgeView)> = own.map(|edge| (key.repository, edge)).collect();
    if let Some(cross) = workspace.cross_links() {
        for &(number, external) in cross.externals(key) {
            if let Some(other) = workspace.repository(number) {
                edges.extend(
                    other
                        .snapshot
                        .incoming(external, use_kinds())
                        .map(|edge| (number, edge)),
                );
            }
        }
    }
    edges
}

/// The symbol, and its prototypes or bodies of the same full name: to whoever asks they are one thing.
pub(super) fn twins(workspace: &Workspace, key: SymbolKey) -> Vec<SymbolKey> {
    let mut twins = vec![key];
    let (Some(symbol), Some(repository)) = (workspace.symbol(key), workspace.repository(key.repository)) else {
        return twins;
    };
    let language = symbol.file().map_or("", |file| file.language());
    if !matches!(language, "c" | "cpp") {
        return twins;
    }
    let is_declaration = |flags: Flags| flags.contains(Flags::DECLARATION);
    let full = symbol.qualified_name();
    let own = is_declaration(symbol.flags());
    for other in repository.snapshot.named(symbol.name()) {
        let is_pair = own || is_declaration(other.flags());
        if other.id() != key.symbol && is_pair && other.kind() == symbol.kind() && other.qualified_name() == full {
            twins.push(SymbolKey {
                repository: key.repository,
                symbol: other.id(),
            });
        }
    }
    twins
}

/// The methods that this one overrides, nearest first.
pub(super) fn above(workspace: &Workspace, key: SymbolKey) -> Vec<SymbolKey> {
    let mut found = vec![key];
    let mut next = 0;
    while next < found.len() && found.len() <= MOST_ABOVE {
        for base in overrides(workspace, found[next]) {
            if !found.contains(&base) {
                found.push(base);
            }
        }
        next += 1;
    }
    found.split_off(1)
}

fn overrides(workspace: &Workspace, key: SymbolKey) -> Vec<SymbolKey> {
    let Some(repository) = workspace.repository(key.repository) else {
        return Vec::new();
    };
    let edges = repository.edges(key.symbol, Direction::Outgoing, EdgeKind::Overrides);
    let bases = edges.filter_map(|edge| edge.to.symbol());
    bases
        .map(|symbol| SymbolKey {
            repository: key.repository,
            symbol,
        })
        .collect()
}
