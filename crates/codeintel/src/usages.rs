//! `find_usages`: every place where a symbol is used, one row each, and how they add up.

use index::model::EdgeKind;
use index::snapshot::EdgeKinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::{FindUsages, Usage};

use crate::error::QuestionError;
use crate::neighbours::tier;
use crate::page::{self, Page};
use crate::syntax_errors::beside;
use crate::traverse::{self, Direction, Walk};
use crate::workspace::Workspace;
use crate::{kinds, naming, overridden};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usages {
    /// Symbol: id, name, Owner.name or path:line.
    pub id: String,
    /// Uses per page (default 50).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Weakest origin counted: lsp_resolved, lsp_dispatch, ast_resolved, ast_inferred (default) or text_matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_tier: Option<String>,
    /// Leave out tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclude_tests: bool,
}

/// Where a symbol is used.
pub fn usages(workspace: &Workspace, ask: &Usages) -> Result<FindUsages, QuestionError> {
    let target = naming::likeliest(workspace, &ask.id)?;
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let how = Walk {
        direction: Direction::Incoming,
        // A `tests` edge stands beside the call or instantiation it comes from: the same place twice is one use.
        kinds: EdgeKinds::ALL.without(EdgeKind::Contains | EdgeKind::Tests),
        depth: 1,
        min_tier: tier(ask.min_tier.as_deref())?,
        exclude_tests: ask.exclude_tests,
    };
    let mut found = traverse::relations(workspace, target, &how);
    if ask.exclude_tests {
        found.retain(|relation| !workspace.symbol(relation.from).is_some_and(traverse::is_test));
    }
    // Who never names it may run it all the same: said where the answer would read as "nobody".
    let is_called = found.iter().any(|relation| relation.kind == EdgeKind::Calls);
    let others = (!is_called)
        .then(|| overridden::note(workspace, target, &how))
        .flatten();
    // One row for each line that says it; a relation without lines (the far side of a contract) has one of its own.
    let rows: Vec<(&traverse::Relation, Option<u32>)> = found
        .iter()
        .flat_map(|relation| {
            let lines = relation.lines.iter().map(|&line| Some(line));
            let bare = relation.lines.is_empty().then_some(None);
            lines.chain(bare).map(move |line| (relation, line))
        })
        .collect();
    let total = rows.len();
    let end = page.offset.saturating_add(page.limit);
    let more = end < total;
    let usages: Vec<Usage> = page
        .take(rows)
        .into_iter()
        .filter_map(|(relation, line)| {
            let (from, to) = (workspace.symbol(relation.from)?, workspace.symbol(relation.to)?);
            Some(Usage {
                from: workspace.id(relation.from.repository, from),
                to: workspace.id(relation.to.repository, to),
                edge_kind: kinds::edge_name(relation.kind).to_string(),
                origin: kinds::origin_name(relation.origin).to_string(),
                confidence: f64::from(relation.confidence) / 100.0,
                from_name: from.name().to_string(),
                from_path: workspace.path(relation.from.repository, from.path()),
                // Where a reader wants to go. The column's name is the layout's.
                from_line: u64::from(line.unwrap_or(from.span().start_line)),
            })
        })
        .collect();
    let nothing = usages.is_empty();
    Ok(FindUsages {
        usages,
        total: total as u64,
        truncated: more,
        next_cursor: more.then(|| page::cursor(workspace, end)),
        etag: None,
        incomplete: beside(workspace.incomplete(), others),
        symbol: workspace
            .symbol(target)
            .filter(|_| nothing)
            .map(|symbol| workspace.id(target.repository, symbol)),
        account: crate::account::line(workspace, target),
    })
}
