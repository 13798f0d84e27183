//! `get_symbol_source` and `batch_symbols`: symbols with their text, as indexed or not at all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::{BatchSymbol, BatchSymbols, SymbolSource};

use crate::error::QuestionError;
use crate::source::{Source, etag};
use crate::workspace::{SymbolKey, Workspace};
use crate::{kinds, naming};

/// What `get_symbol_source` is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetSource {
    /// Symbol: id, name, Owner.name or path:line.
    pub id: String,
    /// Lines of context around it (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_lines: Option<u32>,
    /// Lines at most (default all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u32>,
}

/// What `batch_symbols` is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Symbols: ids, names, Owner.name or path:line (at most 100).
    pub ids: Vec<String>,
    /// With their source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub include_source: bool,
}

/// Most symbols of one batch.
const MAX_BATCH: usize = 100;
/// Most lines of context.
const MAX_CONTEXT: u32 = 200;

/// One symbol with its source.
pub fn symbol_source(workspace: &Workspace, ask: &GetSource) -> Result<SymbolSource, QuestionError> {
    let key = naming::likeliest(workspace, &ask.id)?;
    text_of(
        workspace,
        key,
        ask.context_lines.unwrap_or(0).min(MAX_CONTEXT),
        ask.max_lines,
    )
}

/// Several symbols, each found or with the reason why not.
pub fn batch_symbols(workspace: &Workspace, ask: &Batch) -> Result<BatchSymbols, QuestionError> {
    if ask.ids.is_empty() || ask.ids.len() > MAX_BATCH {
        return Err(QuestionError::Argument {
            name: "ids",
            problem: format!("expected 1 to {MAX_BATCH} symbols, not {}", ask.ids.len()),
        });
    }
    let symbols: Vec<BatchSymbol> = ask
        .ids
        .iter()
        .map(|asked| {
            one(workspace, asked, ask.include_source).unwrap_or_else(|error| BatchSymbol {
                id: asked.clone(),
                error: Some(error.to_string()),
                ..BatchSymbol::default()
            })
        })
        .collect();
    Ok(BatchSymbols {
        total: symbols.len() as u64,
        symbols,
        etag: None,
    })
}

fn one(workspace: &Workspace, asked: &str, with_source: bool) -> Result<BatchSymbol, QuestionError> {
    let key = naming::likeliest(workspace, asked)?;
    let symbol = workspace.symbol(key).ok_or_else(|| QuestionError::NoSuchSymbol {
        asked: asked.to_string(),
        nearest: Vec::new(),
    })?;
    let source = if with_source {
        Some(text_of(workspace, key, 0, None)?.source)
    } else {
        None
    };
    Ok(BatchSymbol {
        id: workspace.id(key.repository, symbol),
        kind: Some(kinds::kind(symbol).to_string()),
        name: Some(symbol.name().to_string()),
        path: Some(workspace.path(key.repository, symbol.path())),
        start_line: Some(u64::from(symbol.span().start_line)),
        end_line: Some(u64::from(symbol.span().end_line)),
        sig: (!symbol.signature().is_empty()).then(|| symbol.signature().to_string()),
        source,
        error: None,
    })
}

fn text_of(
    workspace: &Workspace,
    key: SymbolKey,
    context: u32,
    max_lines: Option<u32>,
) -> Result<SymbolSource, QuestionError> {
    let symbol = workspace.symbol(key).ok_or_else(|| QuestionError::NoSuchSymbol {
        asked: String::new(),
        nearest: Vec::new(),
    })?;
    let source = Source::of(workspace, key.repository, symbol)?;
    let (start, end) = match symbol.is_file() {
        true => (1, source.line_count()),
        false => (symbol.span().start_line, symbol.span().end_line),
    };
    let from = start.saturating_sub(context).max(1);
    let mut to = end.saturating_add(context).min(source.line_count().max(1));
    if let Some(most) = max_lines {
        to = to.min(from.saturating_add(most.max(1)) - 1);
    }
    let text = source.lines(from, to).to_string();
    let id = workspace.id(key.repository, symbol);
    Ok(SymbolSource {
        etag: etag(&[id.as_bytes(), &from.to_le_bytes(), text.as_bytes()]),
        kind: kinds::kind(symbol).to_string(),
        name: symbol.name().to_string(),
        path: workspace.path(key.repository, symbol.path()),
        start_line: u64::from(start),
        end_line: u64::from(end),
        from_line: u64::from(from),
        sig: (!symbol.signature().is_empty()).then(|| symbol.signature().to_string()),
        source: text,
        id,
    })
}
