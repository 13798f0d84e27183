//! The methods that a caller cannot tell from one: those that stand for it in the types that implement or extend its owner, and those
//! that it stands for in what its owner implements or extends.
//!
//! Where types satisfy interfaces without saying so, no edge joins the methods; the edge between the types does.

use std::collections::HashSet;

use index::model::EdgeKind;
use index::snapshot::{EdgeKinds, Snapshot, SymbolId, SymbolView};
use syntax::facts::Kind;

/// A method that may run for another.
pub(super) struct Counterpart {
    pub(super) symbol: SymbolId,
    /// Whether it is the one that is declared above: an interface's, a base's.
    pub(super) is_above: bool,
}

/// Types and methods that are looked at, at most.
const MOST_TYPES: usize = 400;
const MOST_METHODS: usize = 4_000;
/// Counterparts at most.
const MOST: usize = 200;

/// The counterparts of a method; none for anything else. Siblings, which implement the same, are not among them.
pub(super) fn counterparts(snapshot: &Snapshot, symbol: SymbolView<'_>) -> Vec<Counterpart> {
    if symbol.kind() != Kind::Method {
        return Vec::new();
    }
    let Some(owner) = owner(snapshot, symbol) else {
        return Vec::new();
    };
    let above = related(snapshot, owner, true);
    let below = related(snapshot, owner, false);
    if above.is_empty() && below.is_empty() {
        return Vec::new();
    }
    let namesakes = snapshot.named(symbol.name()).take(MOST_METHODS);
    let others = namesakes.filter(|other| other.kind() == Kind::Method && other.id() != symbol.id());
    let found = others.filter_map(|other| {
        let owner = self::owner(snapshot, other)?;
        let is_above = above.contains(&owner);
        (is_above || below.contains(&owner)).then_some(Counterpart {
            symbol: other.id(),
            is_above,
        })
    });
    found.take(MOST).collect()
}

/// All that a type implements or extends, or all that implements or extends it.
fn related(snapshot: &Snapshot, owner: SymbolId, above: bool) -> HashSet<SymbolId> {
    let kinds: EdgeKinds = EdgeKind::Implements | EdgeKind::Extends;
    let mut seen: HashSet<SymbolId> = HashSet::new();
    let mut open = vec![owner];
    while let Some(next) = open.pop() {
        let around: Vec<SymbolId> = match above {
            true => snapshot
                .outgoing(next, kinds)
                .filter_map(|edge| edge.to.symbol())
                .collect(),
            false => snapshot.incoming(next, kinds).map(|edge| edge.from).collect(),
        };
        for other in around {
            if other != owner && seen.len() < MOST_TYPES && seen.insert(other) {
                open.push(other);
            }
        }
    }
    seen
}

/// The type that a method belongs to, also where it stands in another file of the folder.
fn owner(snapshot: &Snapshot, method: SymbolView<'_>) -> Option<SymbolId> {
    let is_type = |symbol: &SymbolView<'_>| {
        !symbol.is_file()
            && matches!(
                symbol.kind(),
                Kind::Class | Kind::Struct | Kind::Interface | Kind::Trait | Kind::Enum | Kind::TypeAlias
            )
    };
    if let Some(parent) = method.parent().filter(is_type) {
        return Some(parent.id());
    }
    let name = method
        .named_owner()
        .rsplit('.')
        .next()
        .filter(|name| !name.is_empty())?;
    let folder = |path: &str| {
        path.rsplit_once('/')
            .map_or(String::new(), |(folder, _)| folder.to_string())
    };
    let here = folder(method.path());
    snapshot
        .named(name)
        .filter(is_type)
        .find(|found| folder(found.path()) == here)
        .map(|found| found.id())
}
