//! `get_test_targets`: which tests exercise what changed, and the commands that run just those in the repository's own runner.
//!
//! Tests are found by walking the graph backwards from what changed; where no call leads to one, the test files that import
//! the changed file stand in, and the answer says so.

mod commands;
mod quoting;
mod runner;

use std::collections::{BTreeMap, BTreeSet};

use index::model::{EdgeKind, Origin};
use index::snapshot::{EdgeKinds, SymbolView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use syntax::facts::{Flags, Kind};

use crate::error::QuestionError;
use crate::naming;
use crate::page::{self, Page};
use crate::traverse::{self, Direction, MAX_DEPTH, Walk, is_test, is_test_path};
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// What changed: symbols (id, name, Owner.name, path:line) or files.
    pub ids: Vec<String>,
    /// Calls between a test and what changed, at most (default 3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Test files per page (default 50).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// The tests to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestTargets {
    /// Test files, those nearest to the change first.
    pub targets: Vec<TestTarget>,
    /// What runs them, from the root of the repository.
    pub commands: Vec<TestCommand>,
    /// What changed and no test reaches.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub uncovered: Vec<String>,
    /// Names that were asked and the ids they stand for, where they differ.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub resolved: BTreeMap<String, String>,
    /// Test files in all, returned or not.
    pub total: u64,
    /// Whether test files were left out.
    pub truncated: bool,
    /// Pass it to get the next page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
    /// What the index still lacks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub incomplete: Option<String>,
}

/// Tests of one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestTarget {
    /// The file.
    pub file: String,
    /// The tests in it by qualified name; empty for all of them.
    pub tests: Vec<String>,
    /// Calls from the nearest of them to what changed; 0 where the file only imports it.
    pub distance: u64,
}

/// A command that runs tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestCommand {
    /// cargo, go, pytest, jest, …
    pub runner: String,
    /// As typed in a POSIX shell at the root of the repository.
    pub command: String,
    /// The repository, where there are several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repo: Option<String>,
}

/// Tests of one file while they are gathered.
#[derive(Debug, Clone, Default)]
struct Group {
    tests: BTreeSet<SymbolKey>,
    distance: u32,
    whole: bool,
}

/// Most things that may have changed.
const MAX_CHANGED: usize = 500;

/// The tests that exercise what changed.
pub fn test_targets(workspace: &Workspace, ask: &Targets) -> Result<TestTargets, QuestionError> {
    if ask.ids.is_empty() || ask.ids.len() > MAX_CHANGED {
        return Err(QuestionError::Argument {
            name: "ids",
            problem: format!("expected 1 to {MAX_CHANGED} symbols or files, not {}", ask.ids.len()),
        });
    }
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let mut answer = TestTargets {
        incomplete: workspace.incomplete(),
        ..TestTargets::default()
    };
    let mut groups: BTreeMap<(usize, String), Group> = BTreeMap::new();
    for asked in &ask.ids {
        let changed = changed(workspace, asked)?;
        if let Some(symbol) = changed
            .first()
            .and_then(|key| workspace.symbol(*key).map(|symbol| (key.repository, symbol)))
        {
            let id = workspace.id(symbol.0, symbol.1);
            if id != *asked {
                answer.resolved.insert(asked.clone(), id);
            }
        }
        if !reach(workspace, &changed, ask.depth.unwrap_or(3), &mut groups) {
            answer.uncovered.push(asked.clone());
        }
    }
    let mut found: Vec<((usize, String), Group)> = groups.into_iter().collect();
    // A file that only imports what changed comes last.
    let far = |group: &Group| if group.distance == 0 { u32::MAX } else { group.distance };
    found.sort_by(|a, b| far(&a.1).cmp(&far(&b.1)).then_with(|| a.0.cmp(&b.0)));
    let total = found.len();
    let end = page.offset.saturating_add(page.limit);
    let more = end < total;
    let shown = page.take(found);
    answer.commands = runner::commands(workspace, &shown);
    answer.targets = shown
        .into_iter()
        .map(|((repository, path), group)| TestTarget {
            file: workspace.path(repository, &path),
            tests: match group.whole {
                true => Vec::new(),
                false => names(workspace, &group.tests),
            },
            distance: u64::from(group.distance),
        })
        .collect();
    answer.total = total as u64;
    answer.truncated = more;
    answer.next_cursor = more.then(|| page::cursor(workspace, end));
    Ok(answer)
}

fn names(workspace: &Workspace, tests: &BTreeSet<SymbolKey>) -> Vec<String> {
    tests
        .iter()
        .filter_map(|key| Some(workspace.symbol(*key)?.qualified_name()))
        .collect()
}

/// The symbols that something asked for stands for: one, or all of a file.
fn changed(workspace: &Workspace, asked: &str) -> Result<Vec<SymbolKey>, QuestionError> {
    if let Some((repository, file)) = workspace.find_file(asked.trim().trim_start_matches("./")) {
        let keys = file.symbols().map(|symbol| SymbolKey {
            repository,
            symbol: symbol.id(),
        });
        return Ok(keys.collect());
    }
    Ok(vec![naming::likeliest(workspace, asked)?])
}

/// Adds the tests that reach what changed; whether there are any.
fn reach(
    workspace: &Workspace,
    changed: &[SymbolKey],
    depth: u32,
    groups: &mut BTreeMap<(usize, String), Group>,
) -> bool {
    let mut start: Vec<SymbolKey> = changed.to_vec();
    // A change of a type is a change of what it holds.
    for key in changed {
        let members = workspace
            .repository(key.repository)
            .into_iter()
            .flat_map(|repository| repository.snapshot.outgoing(key.symbol, EdgeKind::Contains));
        start.extend(members.filter_map(|edge| edge.to.symbol()).map(|symbol| SymbolKey {
            repository: key.repository,
            symbol,
        }));
    }
    start.sort_unstable();
    start.dedup();
    let how = Walk {
        direction: Direction::Incoming,
        kinds: EdgeKinds::ALL
            .without(EdgeKind::Contains)
            .without(EdgeKind::Imports)
            .without(EdgeKind::Writes),
        depth: depth.clamp(1, MAX_DEPTH),
        min_tier: Origin::AstInferred,
        exclude_tests: false,
    };
    let mut any = false;
    // What changed may be a test itself.
    let own = start.iter().map(|&key| (key, 0));
    for (key, distance) in own.chain(traverse::walk(workspace, &start, &how).symbols) {
        let Some(symbol) = workspace.symbol(key).filter(|symbol| is_test(*symbol)) else {
            continue;
        };
        let group = groups
            .entry((key.repository, symbol.path().to_string()))
            .or_insert_with(|| Group {
                distance: u32::MAX,
                ..Group::default()
            });
        group.distance = group.distance.min(distance.max(1));
        if runs(symbol) {
            any = true;
            group.tests.insert(key);
        } else if symbol.is_file() {
            // Tests written as calls (`it(…)`, `describe(…)`) have no names of their own.
            any = true;
            group.whole = true;
        }
    }
    groups.retain(|_, group| group.whole || !group.tests.is_empty());
    if any {
        return true;
    }
    for key in changed {
        any |= importers(workspace, *key, groups);
    }
    any
}

/// Test files that import the file of a symbol.
fn importers(workspace: &Workspace, key: SymbolKey, groups: &mut BTreeMap<(usize, String), Group>) -> bool {
    let Some((repository, symbol)) = workspace.repository(key.repository).zip(workspace.symbol(key)) else {
        return false;
    };
    let snapshot = &repository.snapshot;
    let file = symbol.file().and_then(|file| file.symbol());
    let mut any = false;
    for target in [Some(symbol), file].into_iter().flatten() {
        for edge in snapshot.incoming(target.id(), EdgeKind::Imports) {
            let Some(from) = snapshot.symbol(edge.from).filter(|from| is_test_path(from.path())) else {
                continue;
            };
            let group = groups.entry((key.repository, from.path().to_string())).or_default();
            group.whole = true;
            any = true;
        }
    }
    any
}

/// Whether a runner can run it by name.
fn runs(symbol: SymbolView<'_>) -> bool {
    let callable = matches!(symbol.kind(), Kind::Function | Kind::Method);
    let named =
        symbol.name().starts_with("test") || symbol.name().starts_with("Test") || symbol.name().ends_with("Test");
    callable && !symbol.is_file() && (symbol.flags().contains(Flags::TEST) || named)
}
