//! `get_file_summary`: what one file declares, in source order.

use index::model::EdgeKind;
use index::snapshot::EdgeKinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::{FileSummary, SummarySymbol};

use crate::error::QuestionError;
use crate::page::{self, Page};
use crate::workspace::Workspace;
use crate::{kinds, naming, syntax_errors};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Path of the file, or the end of it.
    pub path: String,
    /// Symbols per page (default all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What the file declares.
pub fn file_summary(workspace: &Workspace, ask: &Summary) -> Result<FileSummary, QuestionError> {
    let (repository, file) = naming::find_file(workspace, &ask.path)?;
    let snapshot = &workspace.repositories()[repository].snapshot;
    let declared = || file.symbols().filter(|symbol| !symbol.is_file());
    let count = declared().count();
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), count)?;
    let end = page.offset.saturating_add(page.limit);
    let more = end < count;
    let symbols = declared()
        .skip(page.offset)
        .take(page.limit)
        .map(|symbol| SummarySymbol {
            id: workspace.id(repository, symbol),
            kind: kinds::kind(symbol).to_string(),
            name: symbol.name().to_string(),
            line: u64::from(symbol.span().start_line),
            sig: (!symbol.signature().is_empty()).then(|| symbol.signature().to_string()),
        });
    // What comes in is only counted, since a popular file has tens of thousands of edges; those that start inside are told apart
    // where they start.
    let (mut outgoing, mut inside) = (0, 0);
    for edge in snapshot.edges_of_file(file.id(), EdgeKinds::ALL) {
        let to = edge.to.symbol().and_then(|to| snapshot.symbol(to));
        outgoing += usize::from(edge.kind != EdgeKind::Contains);
        inside += usize::from(to.is_some_and(|to| to.file_id() == file.id()));
    }
    let ending: usize = file.symbols().map(|symbol| snapshot.incoming_count(symbol.id())).sum();
    Ok(FileSummary {
        total_nodes: count as u64,
        total_edges: (outgoing + ending.saturating_sub(inside)) as u64,
        truncated: more,
        next_cursor: more.then(|| page::cursor(workspace, end)),
        etag: None,
        incomplete: syntax_errors::beside(
            workspace.incomplete(),
            syntax_errors::of_file(workspace, repository, file),
        ),
        symbols: symbols.collect(),
    })
}
