//! `get_test_targets`: which tests exercise what changed, and the commands that run just those in the repository's own runner.
//!
//! Tests are found by walking the graph backwards from what changed; where no call leads to one, tests that say its name do, else the test
//! files that import the changed file, and the answer says so. What a runner collects is in `discovery`.

mod commands;
mod discovery;
mod quoting;
mod runner;

use std::collections::BTreeMap;
use std::time::Duration;

use index::model::{EdgeKind, FileId, Origin};
use index::search::text::{Bounds, Case, FileMatches, Pattern, Tree, search_text};
use index::snapshot::{EdgeKinds, FileView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use syntax::facts::Kind;

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
    /// The tests in it by qualified name, the nearest first; empty for all of them.
    pub tests: Vec<String>,
    /// Calls from the nearest of them to what changed; 0 where they only name it, or the file imports it.
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
    /// With the calls between each and what changed.
    tests: BTreeMap<SymbolKey, u32>,
    distance: u32,
    whole: bool,
}

impl Group {
    fn add(&mut self, test: SymbolKey, distance: u32) {
        let known = self.tests.entry(test).or_insert(distance);
        *known = distance.min(*known);
    }

    /// The nearest tests first, equals in the order of the file.
    fn in_order(&self) -> Vec<SymbolKey> {
        let mut tests: Vec<(u32, SymbolKey)> = self.tests.iter().map(|(&key, &distance)| (distance, key)).collect();
        tests.sort_unstable();
        tests.into_iter().map(|(_, key)| key).collect()
    }
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
                false => names(workspace, &group.in_order()),
            },
            distance: u64::from(group.distance),
        })
        .collect();
    answer.total = total as u64;
    answer.truncated = more;
    answer.next_cursor = more.then(|| page::cursor(workspace, end));
    Ok(answer)
}

fn names(workspace: &Workspace, tests: &[SymbolKey]) -> Vec<String> {
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
        let repository = workspace.repository(key.repository);
        let symbol = workspace.symbol(key).filter(|symbol| is_test(*symbol));
        let Some((repository, symbol)) = repository.zip(symbol) else {
            continue;
        };
        let group = groups
            .entry((key.repository, symbol.path().to_string()))
            .or_insert_with(|| Group {
                distance: u32::MAX,
                ..Group::default()
            });
        group.distance = group.distance.min(distance.max(1));
        if let Some(test) = discovery::test_of(repository, symbol) {
            any = true;
            let symbol = test.id();
            group.add(SymbolKey { symbol, ..key }, distance);
        } else if symbol.is_file() && discovery::is_collected_file(symbol.path()) {
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
        any |= mentions(workspace, *key, groups);
    }
    if any {
        return true;
    }
    for key in changed {
        any |= importers(workspace, *key, groups);
    }
    any
}

/// Tests that say the name of a symbol, and of the type around it, where no call leads to them: what is called through something that
/// nobody knows the type of, and what is called from a text.
fn mentions(workspace: &Workspace, key: SymbolKey, groups: &mut BTreeMap<(usize, String), Group>) -> bool {
    let Some((repository, symbol)) = workspace.repository(key.repository).zip(workspace.symbol(key)) else {
        return false;
    };
    if symbol.is_file() || symbol.name().len() < SHORTEST_NAME {
        return false;
    }
    let owner = symbol
        .parent()
        .filter(|owner| owner.kind() != Kind::Module && !owner.is_file());
    let in_tests = |name: &str| -> BTreeMap<FileId, Vec<u32>> {
        let Ok(pattern) = Pattern::literal(name, Case::Sensitive, true) else {
            return BTreeMap::new();
        };
        let tree = Tree {
            root: &repository.root,
            snapshot: &repository.snapshot,
            filter: repository.text_filter(),
        };
        let accept = |file: FileView<'_>| is_test_path(file.path()) && discovery::is_collected_file(file.path());
        let found = search_text(tree, &pattern, &accept, MENTIONS, &|| workspace.is_stopped());
        let lines = |file: FileMatches| (file.file, file.lines.iter().map(|line| line.line).collect());
        found.files.into_iter().map(lines).collect()
    };
    let mut files = in_tests(symbol.name());
    if let Some(owner) = owner.filter(|_| !files.is_empty()) {
        let with_owner = in_tests(owner.name());
        files.retain(|file, _| with_owner.contains_key(file));
    }
    let any = !files.is_empty();
    for (file, lines) in files {
        let Some(path) = repository.snapshot.file(file).map(|file| file.path().to_owned()) else {
            continue;
        };
        let group = groups.entry((key.repository, path)).or_default();
        let around = lines
            .iter()
            .filter_map(|&line| repository.snapshot.symbol_at(file, line));
        for test in around.filter_map(|symbol| discovery::test_of(repository, symbol)) {
            let symbol = test.id();
            group.add(SymbolKey { symbol, ..key }, 0);
        }
        group.whole = group.tests.is_empty();
    }
    any
}

/// A shorter name says nothing by itself.
const SHORTEST_NAME: usize = 4;
/// How much is searched for one name.
const MENTIONS: Bounds = Bounds {
    lines: 2_000,
    line_length: 1,
    time: Duration::from_secs(2),
};

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
            let Some(from) = snapshot
                .symbol(edge.from)
                .filter(|from| is_test_path(from.path()) && discovery::is_collected_file(from.path()))
            else {
                continue;
            };
            let group = groups.entry((key.repository, from.path().to_string())).or_default();
            group.whole = true;
            any = true;
        }
    }
    any
}
