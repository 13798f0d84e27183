//! `change`: what a change to some symbols, or of the working tree, reaches: who must follow, nearest first, and the tests to run.
//!
//! Short on purpose: every place that uses what changes is named, what lies further away is counted by folder.

mod text;

use std::collections::{BTreeMap, BTreeSet};

use index::model::EdgeKind;
use index::snapshot::EdgeKinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use text::LAYOUT;

use crate::account;
use crate::context::changed_symbols;
use crate::error::QuestionError;
use crate::naming;
use crate::neighbours::tier;
use crate::test_targets::{Targets, TestCommand, test_targets};
use crate::traverse::{self, Direction, Walk};
use crate::uses::Count;
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Symbols that change (name, Owner.name, id, path:line); none: what git says has changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<String>,
    /// With what git compares: a branch or commit (default what is not committed, else the trunk).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Places at most (default 40).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What a change reaches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeFound {
    /// What changes.
    pub changed: Vec<Place>,
    /// How many symbols change, named or not.
    pub changed_total: u64,
    /// What git compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who uses it directly, tests left out.
    pub followers: Vec<Follower>,
    /// How many there are, named or not.
    pub followers_total: u64,
    /// Folders of those that are not named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Count>,
    /// Who uses those, by folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Count>,
    /// Test files that reach it, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// How many there are, named or not.
    pub tests_total: u64,
    /// What runs them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<TestCommand>,
    /// What changes and no test reaches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untested: Vec<String>,
    /// The account of each symbol that was asked for, in one line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<String>,
    /// Mentions of their names that nobody could resolve: they may have to follow too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_doubt: u64,
    /// What the index still lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A definition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its file.
    pub path: String,
    /// Its first line.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// `Owner.name`; empty for a file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// A definition that uses what changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follower {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// How it uses it: `calls`, `overrides`, `calls through Base.run`.
    pub kind: String,
    /// Lines of the uses.
    pub lines: Vec<u32>,
    /// What it uses, where several things change.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
}

/// Symbols of one call.
const MOST_SYMBOLS: usize = 50;
/// Changed symbols that are named.
const MOST_CHANGED: usize = 20;
/// Changed symbols whose uses are looked up.
const MOST_LOOKED_UP: usize = 300;
/// Followers that are named.
const FOLLOWERS: usize = 40;
/// Test files that are named.
const MOST_TESTS: usize = 8;
/// Changed symbols without tests that are named.
const MOST_UNTESTED: usize = 8;
/// Symbols whose names are accounted for.
const MOST_ACCOUNTS: usize = 3;

/// What the change reaches.
pub fn change(workspace: &Workspace, ask: &Change) -> Result<ChangeFound, QuestionError> {
    if ask.symbols.len() > MOST_SYMBOLS {
        return Err(QuestionError::Argument {
            name: "symbols",
            problem: format!("expected at most {MOST_SYMBOLS}, not {}", ask.symbols.len()),
        });
    }
    let limit = crate::page::limit(ask.limit, FOLLOWERS)?;
    let mut found = ChangeFound {
        incomplete: workspace.incomplete(),
        ..ChangeFound::default()
    };
    let mut changed: Vec<SymbolKey> = Vec::new();
    for asked in &ask.symbols {
        changed.push(naming::best(workspace, asked)?.key);
    }
    if ask.symbols.is_empty() {
        let (symbols, note) = changed_symbols(workspace, ask.base.as_deref().filter(|base| !base.is_empty()))?;
        changed = symbols;
        found.note = Some(note);
    }
    changed.sort_unstable();
    changed.dedup();
    found.changed_total = changed.len() as u64;
    found.changed = changed
        .iter()
        .take(MOST_CHANGED)
        .filter_map(|key| place(workspace, *key))
        .collect();
    changed.truncate(MOST_LOOKED_UP);
    followers(workspace, &changed, limit, &mut found);
    tests(workspace, &changed, &mut found);
    if !ask.symbols.is_empty() {
        let accounted = changed.iter().take(MOST_ACCOUNTS);
        for account in accounted.filter_map(|key| account::account(workspace, *key).account) {
            found.in_doubt += account.unresolved;
            found.accounts.push(account.to_line());
        }
    }
    Ok(found)
}

fn place(workspace: &Workspace, key: SymbolKey) -> Option<Place> {
    let symbol = workspace.symbol(key)?;
    Some(Place {
        path: workspace.path(key.repository, symbol.path()),
        first: symbol.span().start_line,
        last: symbol.span().end_line,
        name: match symbol.is_file() {
            true => String::new(),
            false => symbol.qualified_name(),
        },
    })
}

/// Who uses something: how near that is, in which way, and the symbol.
type User = (u8, String, SymbolKey);

/// What a user uses, and where.
#[derive(Default)]
struct Used {
    lines: BTreeSet<u32>,
    of: BTreeSet<String>,
}

/// Who uses what changes, and who uses those.
fn followers(workspace: &Workspace, changed: &[SymbolKey], limit: usize, found: &mut ChangeFound) {
    let mut users: BTreeMap<User, Used> = BTreeMap::new();
    for &key in changed {
        let name = workspace
            .symbol(key)
            .map_or_else(String::new, |symbol| symbol.qualified_name());
        for site in account::sites_of(workspace, key) {
            let from = SymbolKey {
                repository: site.repository,
                symbol: site.from,
            };
            // What changes itself is at hand already; an import follows where what it brings is used.
            if site.is_test || site.kind == EdgeKind::Imports || changed.contains(&from) {
                continue;
            }
            let through = site.through.and_then(|base| workspace.symbol(base));
            let word = match through {
                Some(base) => format!("{} through {}", word(site.kind), base.qualified_name()),
                None => word(site.kind).to_owned(),
            };
            let used = users.entry((account::rank(site.kind), word, from)).or_default();
            used.lines.insert(site.line);
            used.of.insert(name.clone());
        }
    }
    found.followers_total = users.len() as u64;
    let near: BTreeSet<SymbolKey> = users.keys().map(|(_, _, from)| *from).collect();
    let beyond: Vec<String> = users
        .keys()
        .skip(limit)
        .filter_map(|(_, _, from)| place(workspace, *from))
        .map(|place| folder(&place.path))
        .collect();
    found.left_out = crate::uses::counted(beyond.iter().map(String::as_str));
    found.followers = users
        .into_iter()
        .take(limit)
        .filter_map(|((_, kind, from), used)| {
            Some(Follower {
                place: place(workspace, from)?,
                kind,
                lines: used.lines.into_iter().collect(),
                of: match changed.len() {
                    1 => String::new(),
                    _ => used.of.into_iter().collect::<Vec<_>>().join(", "),
                },
            })
        })
        .collect();
    let Ok(min_tier) = tier(None) else { return };
    let how = Walk {
        direction: Direction::Incoming,
        kinds: EdgeKinds::ALL.without(EdgeKind::Contains | EdgeKind::Tests | EdgeKind::Imports),
        depth: 1,
        min_tier,
        exclude_tests: true,
    };
    let mut second: BTreeSet<SymbolKey> = BTreeSet::new();
    for &user in near.iter().take(MOST_LOOKED_UP) {
        let relations = traverse::relations(workspace, user, &how);
        second.extend(relations.into_iter().map(|relation| relation.from));
    }
    let is_new = |key: &&SymbolKey| !near.contains(key) && !changed.contains(key);
    let is_code = |key: &&SymbolKey| workspace.symbol(**key).is_some_and(|symbol| !traverse::is_test(symbol));
    let folders: Vec<String> = second
        .iter()
        .filter(is_new)
        .filter(is_code)
        .filter_map(|key| place(workspace, *key))
        .map(|place| folder(&place.path))
        .collect();
    found.further = crate::uses::counted(folders.iter().map(String::as_str));
}

/// What a user does to what it uses.
fn word(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Overrides => "overrides",
        EdgeKind::Implements => "implements",
        EdgeKind::Extends => "extends",
        EdgeKind::Decorated => "is decorated by",
        other => crate::kinds::edge_name(other),
    }
}

fn folder(path: &str) -> String {
    path.rsplit_once('/')
        .map_or_else(|| "./".to_owned(), |(folder, _)| format!("{folder}/"))
}

/// The tests that reach what changes, and what runs them.
fn tests(workspace: &Workspace, changed: &[SymbolKey], found: &mut ChangeFound) {
    let ids: Vec<String> = changed
        .iter()
        .filter_map(|key| Some(workspace.id(key.repository, workspace.symbol(*key)?)))
        .collect();
    let targets = Targets {
        ids,
        limit: Some(MOST_TESTS as u32),
        ..Targets::default()
    };
    let Ok(targets) = test_targets(workspace, &targets) else {
        return;
    };
    found.tests = targets.targets.into_iter().map(|target| target.file).collect();
    found.tests_total = targets.total;
    found.commands = targets.commands;
    found.untested = targets.uncovered;
    found.untested.truncate(MOST_UNTESTED);
}
