//! `explain_symbol`: one symbol, what it is for, and what surrounds it.

use index::model::EdgeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::ContextPack;

use super::fill::{Room, fill};
use super::{counted, material, rank};
use crate::error::QuestionError;
use crate::naming;
use crate::traverse::is_test;
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// Symbol: id, name, Owner.name or path:line.
    pub id: String,
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

/// One symbol and its surroundings.
pub fn explain_symbol(workspace: &Workspace, ask: &Explain, room: &Room<'_>) -> Result<ContextPack, QuestionError> {
    let key = naming::likeliest(workspace, &ask.id)?;
    let ranked = rank::for_symbols(workspace, &[key]);
    let mut material = material(workspace, ranked, &[key], ask.explain);
    material.note = says(workspace, key);
    fill(workspace, material, room)
}

/// Its documentation and its uses, in words.
fn says(workspace: &Workspace, key: crate::SymbolKey) -> Option<String> {
    let repository = workspace.repository(key.repository)?;
    let symbol = repository.snapshot.symbol(key.symbol)?;
    let calls = EdgeKind::Calls | EdgeKind::Instantiates;
    let mut callers: Vec<_> = repository
        .snapshot
        .incoming(key.symbol, calls)
        .map(|edge| edge.from)
        .collect();
    callers.sort_unstable();
    callers.dedup();
    let tests = callers
        .iter()
        .filter(|caller| repository.snapshot.symbol(**caller).is_some_and(is_test))
        .count();
    let mut text = match callers.len() {
        0 => "no callers known".to_string(),
        count => format!("called by {}, {tests} of them in tests", counted(count, "symbol")),
    };
    if repository.recency().of_file(symbol.path()) > 0.0 {
        text.push_str("; its file changed lately");
    }
    if !symbol.doc().is_empty() {
        text.push_str(&format!("; {}", symbol.doc()));
    }
    Some(text)
}
