//! `get_editing_context`: what to know before changing a symbol: who calls it, what it needs, which tests reach it.

use std::collections::BTreeSet;

use index::model::{EdgeKind, Origin};
use index::snapshot::EdgeKinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::{EditingContext, EditingTarget, Node};

use crate::error::QuestionError;
use crate::source::etag;
use crate::traverse::{self, Direction, Walk};
use crate::workspace::{SymbolKey, Workspace};
use crate::{kinds, naming, syntax_errors};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Editing {
    /// Symbol: id, name, Owner.name or path:line.
    pub id: String,
    /// Callers, dependencies and test files each at most (default 20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What to know before changing it.
pub fn editing_context(workspace: &Workspace, ask: &Editing) -> Result<EditingContext, QuestionError> {
    let key = naming::likeliest(workspace, &ask.id)?;
    let limit = ask.limit.unwrap_or(20).clamp(1, 1000) as usize;
    let symbol = workspace.symbol(key).ok_or_else(|| QuestionError::NoSuchSymbol {
        asked: ask.id.clone(),
        nearest: Vec::new(),
    })?;
    let calls = EdgeKind::Calls | EdgeKind::Instantiates;
    let uses =
        calls | EdgeKind::References | EdgeKind::Reads | EdgeKind::Writes | EdgeKind::Extends | EdgeKind::Implements;
    let mut callers = direct(workspace, key, Direction::Incoming, calls);
    // A function that is handed on, a type or a variable is used without a call: whoever does breaks just the same.
    for user in direct(workspace, key, Direction::Incoming, uses) {
        if !callers.iter().any(|caller| caller.id == user.id) {
            callers.push(user);
        }
    }
    let dependencies = direct(workspace, key, Direction::Outgoing, uses);
    let tests = tests_reaching(workspace, key);
    let file_hash = symbol.file().map(|file| *file.hash()).unwrap_or_default();
    let unread = symbol
        .file()
        .and_then(|file| syntax_errors::of_file(workspace, key.repository, file));
    let span = symbol.span();
    let id = workspace.id(key.repository, symbol);
    let counts = [callers.len(), dependencies.len(), tests.len()];
    let truncated = counts.iter().any(|count| *count > limit);
    let [total_callers, total_dependencies, total_tests] = counts.map(|count| truncated.then_some(count as u64));
    Ok(EditingContext {
        target: Some(EditingTarget {
            etag: etag(&[
                id.as_bytes(),
                &file_hash,
                &span.start.to_le_bytes(),
                &span.end.to_le_bytes(),
            ]),
            id,
            kind: kinds::kind(symbol).to_string(),
            name: symbol.name().to_string(),
            path: workspace.path(key.repository, symbol.path()),
            start_line: u64::from(span.start_line),
            end_line: u64::from(span.end_line),
            sig: (!symbol.signature().is_empty()).then(|| symbol.signature().to_string()),
        }),
        callers: callers.into_iter().take(limit).collect(),
        dependencies: dependencies.into_iter().take(limit).collect(),
        tests: tests.into_iter().take(limit).collect(),
        total_callers,
        total_dependencies,
        total_tests,
        truncated,
        etag: None,
        incomplete: syntax_errors::beside(workspace.incomplete(), unread),
    })
}

fn direct(workspace: &Workspace, key: SymbolKey, direction: Direction, kinds: EdgeKinds) -> Vec<Node> {
    let how = Walk {
        direction,
        kinds,
        depth: 1,
        min_tier: Origin::AstInferred,
        exclude_tests: direction == Direction::Incoming,
    };
    let reached = traverse::walk(workspace, &[key], &how);
    reached
        .symbols
        .iter()
        .filter_map(|(key, _)| traverse::node(workspace, *key))
        .collect()
}

/// Files of the tests that reach a symbol through at most three calls.
fn tests_reaching(workspace: &Workspace, key: SymbolKey) -> Vec<String> {
    let how = Walk {
        direction: Direction::Incoming,
        kinds: EdgeKind::Calls | EdgeKind::Instantiates | EdgeKind::Tests,
        depth: 3,
        min_tier: Origin::AstInferred,
        exclude_tests: false,
    };
    let reached = traverse::walk(workspace, &[key], &how);
    let files: BTreeSet<String> = reached
        .symbols
        .iter()
        .filter_map(|(key, _)| workspace.symbol(*key).map(|symbol| (key.repository, symbol)))
        .filter(|(_, symbol)| traverse::is_test(*symbol))
        .map(|(repository, symbol)| workspace.path(repository, symbol.path()))
        .collect();
    files.into_iter().collect()
}
