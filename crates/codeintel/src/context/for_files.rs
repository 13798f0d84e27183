//! `context_for_files`: what matters for someone about to work on some files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::ContextPack;

use super::fill::{Room, fill};
use super::{material, rank};
use crate::error::QuestionError;
use crate::naming;
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForFiles {
    /// Paths, or ends of them (at most 50).
    pub files: Vec<String>,
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

/// Most files of one question.
const MOST_FILES: usize = 50;
/// Most symbols of one file that count as asked for.
const MOST_OF_FILE: usize = 40;

/// What matters for the files.
pub fn context_for_files(workspace: &Workspace, ask: &ForFiles, room: &Room<'_>) -> Result<ContextPack, QuestionError> {
    if ask.files.is_empty() || ask.files.len() > MOST_FILES {
        return Err(QuestionError::Argument {
            name: "files",
            problem: format!("expected 1 to {MOST_FILES} paths, not {}", ask.files.len()),
        });
    }
    let mut asked: Vec<SymbolKey> = Vec::new();
    for path in &ask.files {
        asked.extend(symbols_of(workspace, path)?);
    }
    asked.dedup();
    let ranked = rank::for_symbols(workspace, &asked);
    fill(workspace, material(workspace, ranked, &asked, ask.explain), room)
}

/// The symbols that a file declares, its members only where it declares little else.
pub(super) fn symbols_of(workspace: &Workspace, path: &str) -> Result<Vec<SymbolKey>, QuestionError> {
    let (repository, file) = naming::find_file(workspace, path)?;
    let snapshot = &workspace.repositories()[repository].snapshot;
    let mut symbols: Vec<_> = file.symbols().skip(1).collect();
    // What others use most is what a reader must know first.
    symbols.sort_by_key(|symbol| (std::cmp::Reverse(snapshot.incoming_count(symbol.id())), symbol.id()));
    symbols.truncate(MOST_OF_FILE);
    symbols.sort_by_key(|symbol| symbol.id());
    let symbols = file.symbol().into_iter().chain(symbols);
    Ok(symbols
        .map(|symbol| SymbolKey {
            repository,
            symbol: symbol.id(),
        })
        .collect())
}
