//! `detect_changes`: which symbols differ from a commit, who depends on each, and how far that reaches.

use std::collections::BTreeMap;

use index::model::EdgeKind;
use index::snapshot::EdgeKinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pages::Pages;
use super::{Compilers, Standing};
use crate::context::history;
use crate::error::QuestionError;
use crate::kinds;
use crate::traverse::{self, Direction, Walk};
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DetectChanges {
    /// Commit or branch to compare with (default the trunk); HEAD for what is not committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Symbols per page (default 100).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changes {
    /// The commit it is compared with.
    pub base: String,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Files that changed.
    pub files: Vec<String>,
    /// Files that are gone.
    pub removed: Vec<String>,
    /// Symbols in all.
    pub total: u64,
    /// Whether symbols were left out.
    pub truncated: bool,
    /// For the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The riskiest first.
    pub symbols: Vec<Changed>,
}

/// One changed symbol.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changed {
    /// high: used in other folders. medium: in other files. low: in its own file or nowhere.
    pub risk: &'static str,
    /// Its id.
    pub id: String,
    /// function, method, type, …
    pub kind: &'static str,
    /// `start:end`.
    pub lines: String,
    /// Symbols that use it, tests left out.
    pub users: u64,
    /// Tests that use it.
    pub tests: u64,
}

/// Which symbols changed, and how far that reaches.
pub fn detect_changes(workspace: &Workspace, _: Compilers<'_>, ask: &DetectChanges) -> Result<Changes, QuestionError> {
    let Some(repository) = workspace.repositories().first() else {
        return Err(QuestionError::Argument {
            name: "base",
            problem: "there is no repository to compare".to_string(),
        });
    };
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 100)?;
    let change = history::change(&repository.root, ask.base.as_deref())?;
    let snapshot = &repository.snapshot;
    let mut keys: BTreeMap<SymbolKey, ()> = BTreeMap::new();
    for (path, ranges) in &change.files {
        let Some(file) = snapshot.find_file(path) else { continue };
        for symbol in file.symbols().skip(1) {
            let span = symbol.span();
            let touched = |&(first, last): &(u32, u32)| first <= span.end_line && span.start_line <= last;
            // What only contains a changed symbol is not changed itself.
            let is_inner = ranges.iter().filter(|range| touched(range)).any(|&(first, last)| {
                let inner = |other: index::snapshot::SymbolView<'_>| {
                    let (outer, inside) = (span, other.span());
                    inside.start > outer.start.saturating_sub(1)
                        && inside.end <= outer.end
                        && other.id() != symbol.id()
                        && inside.start_line <= first
                        && last.min(file.lines()) <= inside.end_line
                };
                !file.symbols().skip(1).any(inner)
            });
            if is_inner {
                let key = SymbolKey {
                    repository: 0,
                    symbol: symbol.id(),
                };
                keys.insert(key, ());
            }
        }
    }
    let mut symbols: Vec<Changed> = keys.into_keys().filter_map(|key| changed(workspace, key)).collect();
    let order = |risk: &str| ["high", "medium", "low"].iter().position(|word| *word == risk);
    symbols.sort_by(|a, b| {
        let rank = |symbol: &Changed| (order(symbol.risk), std::cmp::Reverse(symbol.users));
        rank(a).cmp(&rank(b)).then_with(|| a.id.cmp(&b.id))
    });
    let why = "users by the graph; find_references asks the compiler";
    let standing = Standing::graph(workspace, why.to_string());
    let cut = pages.cut(&standing, symbols)?;
    Ok(Changes {
        base: change.base.chars().take(12).collect(),
        standing,
        files: change.files.iter().map(|(path, _)| workspace.path(0, path)).collect(),
        removed: change.removed.iter().map(|path| workspace.path(0, path)).collect(),
        total: cut.total,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        symbols: cut.rows,
    })
}

fn changed(workspace: &Workspace, key: SymbolKey) -> Option<Changed> {
    let symbol = workspace.symbol(key)?;
    let how = Walk {
        direction: Direction::Incoming,
        kinds: EdgeKinds::ALL.without(EdgeKind::Contains),
        depth: 1,
        min_tier: index::model::Origin::AstInferred,
        exclude_tests: false,
    };
    let (mut users, mut tests) = (0, 0);
    let (mut other_file, mut other_folder) = (false, false);
    let folder = |path: &str| {
        path.rsplit_once('/')
            .map(|(folder, _)| folder.to_string())
            .unwrap_or_default()
    };
    let mut last = None;
    for relation in traverse::relations(workspace, key, &how) {
        let Some(user) = workspace.symbol(relation.from) else {
            continue;
        };
        other_file |= user.path() != symbol.path();
        other_folder |= folder(user.path()) != folder(symbol.path());
        // Relations of one pair follow each other, one for each kind.
        if last.replace(relation.from) == Some(relation.from) {
            continue;
        }
        match traverse::is_test(user) {
            true => tests += 1,
            false => users += 1,
        }
    }
    Some(Changed {
        risk: match (other_folder, other_file) {
            (true, _) => "high",
            (false, true) => "medium",
            (false, false) => "low",
        },
        id: workspace.id(key.repository, symbol),
        kind: kinds::kind(symbol),
        lines: format!("{}:{}", symbol.span().start_line, symbol.span().end_line),
        users,
        tests,
    })
}
