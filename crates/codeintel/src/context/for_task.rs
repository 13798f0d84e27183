//! `context_for_task`: what matters for a task put in words.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::ContextPack;

use super::fill::{Room, fill};
use super::rank::Evidence;
use super::targets::targets;
use super::terms::MAX_TASK;
use super::{material, rank};
use crate::error::QuestionError;
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForTask {
    /// What is to be done, in words; names and paths in it count most.
    pub task: String,
    /// Tokens at most, and nearly all are used (default 5000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// pack_root of an earlier answer: get what changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack_root: Option<String>,
    /// Say why each symbol is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
}

/// What matters for a task.
pub fn context_for_task(workspace: &Workspace, ask: &ForTask, room: &Room<'_>) -> Result<ContextPack, QuestionError> {
    let mut ranked = rank::for_task(workspace, checked(&ask.task)?, &told_as_named(workspace, room.base));
    let targets = targets(workspace, &ranked, room.budget, room.base);
    let is_vague = |item: &rank::Ranked| matches!(item.evidence, Evidence::Meaning | Evidence::Edge(..));
    let only_vague = ranked.iter().all(is_vague);
    let ranks: HashSet<SymbolKey> = ranked.iter().map(|item| item.key).collect();
    // What the client holds is true while the symbol is there: one that nothing leads to any more is only the first to make room.
    let held = room.base.into_iter().flat_map(|base| &base.symbols);
    ranked.extend(held.filter_map(|symbol| {
        let key = workspace.find(&symbol.id).filter(|key| !ranks.contains(key))?;
        Some(rank::Ranked {
            key,
            score: symbol.score,
            evidence: Evidence::Asked,
        })
    }));
    let mut material = material(workspace, ranked, &targets, ask.explain);
    material.pinned = targets;
    if only_vague {
        material.note =
            Some("nothing here shares a word with the task; what is here is near in meaning only: name a symbol, a file or a term of the code".to_string());
    }
    fill(workspace, material, room)
}

/// What the client holds because the task names it.
fn told_as_named(workspace: &Workspace, base: Option<&ContextPack>) -> Vec<SymbolKey> {
    let held = base.into_iter().flat_map(|base| &base.symbols);
    let named = held.filter(|symbol| symbol.provenance.split('~').next() == Some("named"));
    named.filter_map(|symbol| workspace.find(&symbol.id)).collect()
}

/// The files that matter for a task, best first.
pub fn ranked_files(workspace: &Workspace, task: &str, limit: usize) -> Result<Vec<String>, QuestionError> {
    let mut files: Vec<String> = Vec::new();
    for item in rank::for_task(workspace, checked(task)?, &[]) {
        let Some(symbol) = workspace.symbol(item.key) else {
            continue;
        };
        let path = workspace.path(item.key.repository, symbol.path());
        if !files.contains(&path) {
            files.push(path);
        }
        if files.len() >= limit {
            break;
        }
    }
    Ok(files)
}

/// The symbols that matter for a task, best first, files as a whole left out.
pub fn ranked_symbols(workspace: &Workspace, task: &str, limit: usize) -> Result<Vec<String>, QuestionError> {
    let ranked = rank::for_task(workspace, checked(task)?, &[]);
    let symbols = ranked
        .iter()
        .filter_map(|item| Some((item.key.repository, workspace.symbol(item.key)?)));
    let named = symbols.filter(|(_, symbol)| !symbol.is_file());
    Ok(named
        .take(limit)
        .map(|(repository, symbol)| workspace.id(repository, symbol))
        .collect())
}

/// A task that can be searched for.
pub(super) fn checked(task: &str) -> Result<&str, QuestionError> {
    match task.trim() {
        "" => Err(QuestionError::Argument {
            name: "task",
            problem: format!("expected what is to be done, in words (the first {MAX_TASK} bytes are read)"),
        }),
        task => Ok(task),
    }
}
