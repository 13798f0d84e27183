//! `context_for_pr`: what matters for the changes of a branch, from its merge base to the files as they are now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::ContextPack;

use super::fill::{Room, fill};
use super::history::{self, Change};
use super::{material, rank};
use crate::error::QuestionError;
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForPr {
    /// Branch or commit to compare with (default: the trunk; on the trunk, what is not committed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
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

/// What matters for the changes.
pub fn context_for_pr(workspace: &Workspace, ask: &ForPr, room: &Room<'_>) -> Result<ContextPack, QuestionError> {
    let (changed, note) = changed_symbols(workspace, ask.base.as_deref())?;
    let ranked = rank::for_symbols(workspace, &changed);
    let mut material = material(workspace, ranked, &changed, ask.explain);
    material.note = Some(note);
    fill(workspace, material, room)
}

/// The symbols that a change touches, and the change in words.
pub(crate) fn changed_symbols(
    workspace: &Workspace,
    base: Option<&str>,
) -> Result<(Vec<SymbolKey>, String), QuestionError> {
    let mut found: Vec<SymbolKey> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    let mut failed = None;
    for (number, repository) in workspace.repositories().iter().enumerate() {
        match history::change(&repository.root, base) {
            Ok(change) => {
                found.extend(touched(workspace, number, &change));
                notes.push(said(workspace, number, &change));
            }
            // In a workspace, one repository without git does not hide the others.
            Err(error) => failed = Some(error),
        }
    }
    match (notes.is_empty(), failed) {
        (true, Some(error)) => Err(error),
        _ => {
            found.sort_unstable();
            found.dedup();
            Ok((found, notes.join("; ")))
        }
    }
}

fn touched(workspace: &Workspace, repository: usize, change: &Change) -> Vec<SymbolKey> {
    let snapshot = &workspace.repositories()[repository].snapshot;
    let mut found = Vec::new();
    for (path, ranges) in &change.files {
        let Some(file) = snapshot.find_file(path) else { continue };
        let last = file.lines().max(1);
        for symbol in file.symbols().skip(1) {
            let span = symbol.span();
            let hit = ranges
                .iter()
                .any(|(start, end)| span.start_line <= *end && *start <= span.end_line);
            if !hit {
                continue;
            }
            // The innermost definition is what was changed; those around it only contain the change.
            let is_inside = file.symbols().skip(1).any(|other| {
                let inner = other.span();
                other.id() != symbol.id()
                    && span.start <= inner.start
                    && inner.end <= span.end
                    && (span.start, span.end) != (inner.start, inner.end)
                    && ranges.iter().all(|(start, end)| {
                        let (start, end) = (*start, (*end).min(last));
                        !(span.start_line <= end && start <= span.end_line)
                            || (inner.start_line <= start && end <= inner.end_line)
                    })
            });
            if !is_inside {
                found.push(SymbolKey {
                    repository,
                    symbol: symbol.id(),
                });
            }
        }
        // Lines outside of every definition are the file's own.
        if let Some(symbol) = file.symbol()
            && ranges.iter().any(|(start, _)| {
                snapshot
                    .symbol_at(file.id(), (*start).min(last))
                    .is_some_and(|at| at.is_file())
            })
        {
            found.push(SymbolKey {
                repository,
                symbol: symbol.id(),
            });
        }
    }
    found
}

fn said(workspace: &Workspace, repository: usize, change: &Change) -> String {
    let short = change.base.get(..12).unwrap_or(&change.base);
    let is_other = |path: &String| change.files.iter().any(|(other, _)| other == path);
    let only_renamed = change.renamed.iter().filter(|(_, now)| !is_other(now)).count();
    let mut text = format!(
        "{} files changed since {short}",
        change.files.len() + change.removed.len() + only_renamed
    );
    if change.is_apart {
        text.push_str("; git knows no common commit (a shallow clone?), so what differs there counts too");
    }
    let paths = |paths: &[String]| {
        let shown: Vec<String> = paths
            .iter()
            .take(10)
            .map(|path| workspace.path(repository, path))
            .collect();
        shown.join(", ")
    };
    if !change.removed.is_empty() {
        text.push_str(&format!("; removed: {}", paths(&change.removed)));
    }
    if !change.renamed.is_empty() {
        let names: Vec<String> = change
            .renamed
            .iter()
            .map(|(old, new)| format!("{old} → {new}"))
            .collect();
        text.push_str(&format!("; renamed: {}", paths(&names)));
    }
    let snapshot = &workspace.repositories()[repository].snapshot;
    let unknown: Vec<String> = change
        .files
        .iter()
        .map(|(path, _)| path.clone())
        .filter(|path| snapshot.find_file(path).is_none())
        .collect();
    if !unknown.is_empty() {
        text.push_str(&format!("; not indexed: {}", paths(&unknown)));
    }
    text
}
