//! `blast_radius`: what a change of some symbols, files or the working tree may break, by how many uses away it is.

use std::collections::{HashMap, HashSet};

use index::model::{EdgeKind, Origin};
use index::snapshot::{EdgeKinds, SymbolView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use syntax::facts::Flags;
use wire::answers::ContextPack;

use super::counted;
use super::dispatch::counterparts;
use super::distance::Distances;
use super::fill::{Material, Room, fill};
use super::for_files::symbols_of;
use super::for_pr::changed_symbols;
use super::rank::{Evidence, Ranked};
use crate::error::QuestionError;
use crate::neighbours::tier;
use crate::traverse::{self, Direction, MAX_DEPTH, Walk, is_test};
use crate::workspace::{SymbolKey, Workspace};
use crate::{kinds, naming};

/// What is asked: one of `symbols`, `files` and `diff`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlastRadius {
    /// Symbols that change: ids, names, Owner.name or path:line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<String>,
    /// Files that change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What git says has changed since this branch or commit; "" for the trunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Uses away at most (default 3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Weakest origin followed (default ast_inferred).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_tier: Option<String>,
    /// Tokens at most (default 5000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// pack_root of an earlier answer: get what changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack_root: Option<String>,
    /// Say why each symbol is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
}

/// Uses that a change can break.
const USES: &[EdgeKind] = &[
    EdgeKind::Calls,
    EdgeKind::Instantiates,
    EdgeKind::References,
    EdgeKind::Reads,
    EdgeKind::Writes,
    EdgeKind::Extends,
    EdgeKind::Implements,
    EdgeKind::Overrides,
    EdgeKind::Decorated,
    EdgeKind::Imports,
    EdgeKind::Tests,
    EdgeKind::Consumes,
];

/// Most symbols that are asked about at once.
const MOST_ASKED: usize = 200;

/// What the change may break, nearest first, the surest first among equals.
pub fn blast_radius(workspace: &Workspace, ask: &BlastRadius, room: &Room<'_>) -> Result<ContextPack, QuestionError> {
    let (start, mut notes) = changed(workspace, ask)?;
    let how = Walk {
        direction: Direction::Incoming,
        kinds: USES.iter().copied().collect::<EdgeKinds>(),
        depth: match ask.depth {
            None => 3,
            Some(depth @ 1..=MAX_DEPTH) => depth,
            Some(other) => {
                return Err(QuestionError::Argument {
                    name: "depth",
                    problem: format!("expected 1 to {MAX_DEPTH}, not {other}"),
                });
            }
        },
        min_tier: tier(ask.min_tier.as_deref())?,
        exclude_tests: false,
    };
    let mut reached = traverse::walk(workspace, &start, &how);
    let others = match how.min_tier >= Origin::AstInferred {
        true => through_dispatch(workspace, &start, &how, &mut reached),
        false => Vec::new(),
    };
    // How sure it is that a change arrives: the best chain of edges, each with its confidence.
    let mut sure: HashMap<SymbolKey, (f64, Evidence)> =
        start.iter().map(|key| (*key, (1.0, Evidence::Asked))).collect();
    for (other, of, _) in &others {
        let evidence = Evidence::Edge(EdgeKind::Overrides, Origin::AstInferred, *of);
        sure.entry(*other).or_insert((DISPATCHED, evidence));
    }
    for relation in &reached.relations {
        let Some(&(before, _)) = sure.get(&relation.to) else {
            continue;
        };
        let here = before * f64::from(relation.confidence) / 100.0;
        let evidence = Evidence::Edge(relation.kind, relation.origin, relation.to);
        let entry = sure.entry(relation.from).or_insert((0.0, evidence.clone()));
        if here > entry.0 {
            *entry = (here, evidence);
        }
    }
    let mut distances: HashMap<SymbolKey, u32> = start.iter().map(|key| (*key, 0)).collect();
    distances.extend(reached.symbols.iter().copied());
    let all = start.iter().copied().chain(reached.symbols.iter().map(|(key, _)| *key));
    let mut ranked: Vec<Ranked> = all
        .filter_map(|key| {
            let (score, evidence) = sure.get(&key)?.clone();
            Some(Ranked { key, score, evidence })
        })
        .collect();
    ranked.sort_by(|a, b| {
        let near = |item: &Ranked| distances.get(&item.key).copied().unwrap_or(u32::MAX);
        near(a)
            .cmp(&near(b))
            .then(b.score.total_cmp(&a.score))
            .then(a.key.cmp(&b.key))
    });
    let tests = ranked
        .iter()
        .filter(|item| workspace.symbol(item.key).is_some_and(is_test))
        .count();
    notes.push(format!(
        "{} reached, {} of them in tests",
        counted(reached.symbols.len(), "symbol"),
        tests
    ));
    if reached.stopped {
        notes.push(format!("the walk stopped after {} symbols", traverse::MAX_VISITED));
    }
    let mut edges: Vec<(SymbolKey, SymbolKey, &str)> = reached
        .relations
        .iter()
        .map(|edge| (edge.from, edge.to, kinds::edge_name(edge.kind)))
        .collect();
    for (other, of, is_above) in &others {
        let (from, to) = if *is_above { (*of, *other) } else { (*other, *of) };
        edges.push((from, to, kinds::edge_name(EdgeKind::Overrides)));
    }
    let mut seen = HashSet::new();
    edges.retain(|edge| seen.insert(*edge));
    let material = Material {
        total: Some(ranked.len()),
        ranked,
        distances: Distances::given(workspace, distances),
        with_sources: false,
        with_reasons: ask.explain,
        note: Some(notes.join("; ")),
        pinned: Vec::new(),
        edges: Some(edges),
    };
    fill(workspace, material, room)
}

/// How sure it is that a change of a method arrives where another may run in its place.
const DISPATCHED: f64 = 0.6;

/// Adds what uses the methods that a caller cannot tell from those of the start: to change an interface's method is to change those
/// that implement it, and who calls through the interface may run any of them. Gives these methods, with the one each is about and
/// whether it is declared above that.
fn through_dispatch(
    workspace: &Workspace,
    start: &[SymbolKey],
    how: &Walk,
    reached: &mut traverse::Reached,
) -> Vec<(SymbolKey, SymbolKey, bool)> {
    let mut others: Vec<(SymbolKey, SymbolKey, bool)> = Vec::new();
    for key in start {
        let Some((repository, symbol)) = workspace.repository(key.repository).zip(workspace.symbol(*key)) else {
            continue;
        };
        for found in counterparts(&repository.snapshot, symbol) {
            let other = SymbolKey {
                symbol: found.symbol,
                ..*key
            };
            if !start.contains(&other) && others.iter().all(|(known, ..)| *known != other) {
                others.push((other, *key, found.is_above));
            }
        }
    }
    if others.is_empty() {
        return others;
    }
    let keys: Vec<SymbolKey> = others.iter().map(|(key, ..)| *key).collect();
    let beside = beside(workspace, &others, how);
    let mut distances: HashMap<SymbolKey, u32> = reached.symbols.iter().copied().collect();
    let near = keys.iter().map(|key| (*key, 1)).chain(beside.symbols);
    for (key, distance) in near.filter(|(key, _)| !start.contains(key)) {
        let known = distances.entry(key).or_insert(distance);
        *known = distance.min(*known);
    }
    reached.symbols = distances.into_iter().collect();
    reached.symbols.sort_by_key(|(key, distance)| (*distance, *key));
    let known: HashSet<(SymbolKey, SymbolKey, EdgeKind)> = reached
        .relations
        .iter()
        .map(|row| (row.from, row.to, row.kind))
        .collect();
    let new = beside
        .relations
        .into_iter()
        .filter(|row| !known.contains(&(row.from, row.to, row.kind)));
    reached.relations.extend(new.map(|row| traverse::Relation {
        origin: row.origin.max(Origin::AstInferred),
        ..row
    }));
    reached.stopped |= beside.stopped;
    others
}

/// What uses these methods. Of one that is declared above, only who calls it: those that stand for it beside the changed one do not
/// notice.
fn beside(workspace: &Workspace, others: &[(SymbolKey, SymbolKey, bool)], how: &Walk) -> traverse::Reached {
    let keys = |above: bool| -> Vec<SymbolKey> {
        let those = others.iter().filter(|(.., is_above)| *is_above == above);
        those.map(|(key, ..)| *key).collect()
    };
    let heirs = [EdgeKind::Overrides, EdgeKind::Implements, EdgeKind::Extends];
    let called = Walk {
        kinds: USES.iter().copied().filter(|kind| !heirs.contains(kind)).collect(),
        ..*how
    };
    let mut found = traverse::walk(workspace, &keys(false), how);
    let above = traverse::walk(workspace, &keys(true), &called);
    found.symbols.extend(above.symbols);
    found.relations.extend(above.relations);
    found.stopped |= above.stopped;
    found
}

fn changed(workspace: &Workspace, ask: &BlastRadius) -> Result<(Vec<SymbolKey>, Vec<String>), QuestionError> {
    let given = [!ask.symbols.is_empty(), !ask.files.is_empty(), ask.diff.is_some()];
    let count = ask.symbols.len() + ask.files.len();
    if given.iter().filter(|given| **given).count() != 1 || count > MOST_ASKED {
        return Err(QuestionError::Argument {
            name: "symbols",
            problem: format!("give one of `symbols`, `files` (at most {MOST_ASKED}) and `diff`"),
        });
    }
    if let Some(base) = &ask.diff {
        let base = Some(base.as_str()).filter(|base| !base.is_empty());
        let (changed, note) = changed_symbols(workspace, base)?;
        return Ok((changed, vec![note]));
    }
    let mut start: Vec<SymbolKey> = Vec::new();
    for asked in &ask.symbols {
        start.push(naming::likeliest(workspace, asked)?);
    }
    for path in &ask.files {
        start.extend(symbols_of(workspace, path)?);
    }
    start.extend(start.clone().into_iter().flat_map(|key| same_thing(workspace, key)));
    start.sort_unstable();
    start.dedup();
    Ok((start, Vec::new()))
}

/// The other definitions that a caller cannot tell from this one: the prototype of a body, the signatures of an overloaded
/// function, the other branch of a conditional definition.
fn same_thing(workspace: &Workspace, key: SymbolKey) -> Vec<SymbolKey> {
    let Some((symbol, file)) = workspace
        .symbol(key)
        .and_then(|symbol| Some((symbol, symbol.file()?)))
        .filter(|(symbol, _)| !symbol.is_file())
    else {
        return Vec::new();
    };
    let owner = |symbol: SymbolView<'_>| symbol.parent().map(|parent| parent.id());
    let is_declared = |symbol: SymbolView<'_>| symbol.flags().contains(Flags::DECLARATION);
    let same = file.symbols().filter(|other| {
        other.id() != symbol.id()
            && other.name() == symbol.name()
            && other.kind() == symbol.kind()
            && owner(*other) == owner(symbol)
            && (is_declared(*other) || is_declared(symbol) || !has_overloads(file.language()))
    });
    let key_of = |other: SymbolView<'_>| SymbolKey {
        symbol: other.id(),
        ..key
    };
    same.map(key_of).collect()
}

/// Whether two functions of one name can be two things, told apart by their parameters.
fn has_overloads(language: &str) -> bool {
    matches!(
        language,
        "java" | "kotlin" | "csharp" | "cpp" | "scala" | "swift" | "dart" | "groovy"
    )
}
