//! `smart_context`: where to start on a task: the symbols that matter, best first, each with the reason, and the tests that will tell
//! whether it works.
//!
//! The ranking is the one that context packs are filled by; here only places and reasons are given, so that many fit
//! into few tokens.

use std::collections::HashSet;

use index::model::{EdgeKind, Origin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::{RelevantSymbol, SmartContext};

use crate::context;
use crate::error::QuestionError;
use crate::kinds;
use crate::traverse::{self, Direction, Walk, is_test};
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// What is to be done, in words; names and paths in it count most.
    pub task: String,
    /// Symbols at most (default 20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only paths that start with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Most symbols of one answer.
const MAX_SYMBOLS: usize = 200;
/// One of this many is a test, where there are tests.
const TESTS_EACH: usize = 5;
/// Longest task that is given back.
const MAX_TASK: usize = 400;

/// Where to start on a task.
pub fn smart_context(workspace: &Workspace, ask: &Start) -> Result<SmartContext, QuestionError> {
    let task = ask.task.trim();
    if task.is_empty() {
        return Err(QuestionError::Argument {
            name: "task",
            problem: "expected what is to be done, in words".to_string(),
        });
    }
    let limit = (ask.limit.unwrap_or(20) as usize).clamp(1, MAX_SYMBOLS);
    let within = |key: SymbolKey| {
        let Some(prefix) = ask.path.as_deref() else { return true };
        workspace
            .symbol(key)
            .is_some_and(|symbol| workspace.path(key.repository, symbol.path()).starts_with(prefix))
    };
    let ranked = context::ranked_for_task(workspace, task, &[]);
    let fitting: Vec<_> = ranked.into_iter().filter(|item| within(item.key)).collect();
    let total = fitting.len();
    let tests = limit / TESTS_EACH;
    let mut symbols: Vec<RelevantSymbol> = Vec::with_capacity(limit);
    let mut given: HashSet<SymbolKey> = HashSet::new();
    for item in fitting.iter().take(limit - tests) {
        given.insert(item.key);
        symbols.extend(row(workspace, item.key, item.score, item.reason(workspace)));
    }
    // Tests of what matters most come with it, whatever they are called.
    let mut added = 0;
    for item in fitting.iter().take(limit) {
        for test in tests_of(workspace, item.key) {
            if added < tests && given.insert(test) {
                let of = workspace.symbol(item.key).map_or("", |symbol| symbol.name());
                symbols.extend(row(workspace, test, item.score * 0.5, format!("a test of `{of}`")));
                added += 1;
            }
        }
    }
    for item in fitting.iter().skip(limit - tests) {
        if symbols.len() >= limit {
            break;
        }
        if given.insert(item.key) {
            symbols.extend(row(workspace, item.key, item.score, item.reason(workspace)));
        }
    }
    symbols.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(SmartContext {
        task: cut(task),
        truncated: total > symbols.len(),
        symbols,
        etag: None,
        incomplete: workspace.incomplete(),
    })
}

fn row(workspace: &Workspace, key: SymbolKey, score: f64, reason: String) -> Option<RelevantSymbol> {
    let symbol = workspace.symbol(key)?;
    Some(RelevantSymbol {
        id: workspace.id(key.repository, symbol),
        kind: kinds::kind(symbol).to_string(),
        name: symbol.name().to_string(),
        path: workspace.path(key.repository, symbol.path()),
        line: u64::from(symbol.span().start_line),
        score: (score * 100.0).round() / 100.0,
        reason,
    })
}

/// The tests that call a symbol themselves or through one other.
fn tests_of(workspace: &Workspace, key: SymbolKey) -> Vec<SymbolKey> {
    const MOST: usize = 2;
    let how = Walk {
        direction: Direction::Incoming,
        kinds: EdgeKind::Calls | EdgeKind::Instantiates | EdgeKind::Tests,
        depth: 1,
        min_tier: Origin::AstInferred,
        exclude_tests: false,
    };
    let reached = traverse::walk(workspace, &[key], &how);
    let tests = reached.symbols.into_iter().map(|(key, _)| key);
    tests
        .filter(|key| {
            workspace
                .symbol(*key)
                .is_some_and(|symbol| !symbol.is_file() && is_test(symbol))
        })
        .take(MOST)
        .collect()
}

fn cut(task: &str) -> String {
    let mut end = task.len().min(MAX_TASK);
    while !task.is_char_boundary(end) {
        end -= 1;
    }
    task[..end].to_string()
}
