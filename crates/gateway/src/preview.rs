//! What an agent will see of a configuration, and what it costs in tokens: the numbers behind `lacon gateway check`.

use serde::Serialize;

use crate::modes;
use crate::runtime::Gateway;
use crate::tokens;

/// What a session starts with, against the same tools shown directly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preview {
    /// Tools in `tools/list`.
    pub listed: usize,
    /// Tokens of `tools/list`, as JSON.
    pub listed_tokens: usize,
    /// Upstream tools the agent can reach.
    pub reachable: usize,
    /// Tokens of `tools/list` if every upstream tool were in it with its schema.
    pub direct_tokens: usize,
    /// Tokens of one card, on average.
    pub card_tokens: f64,
    pub resources: usize,
    pub prompts: usize,
    /// What was set right or left out while the catalog was built.
    pub problems: Vec<String>,
}

/// Counts what the gateway shows now.
pub fn preview(gateway: &Gateway) -> Preview {
    let view = gateway.view();
    let catalog = &view.catalog;
    let count = |tools: &[rmcp::model::Tool]| tokens::count(&serde_json::to_string(tools).unwrap_or_default());
    let listed = modes::list(&view);
    let entries = catalog.tools().entries();
    let definitions: Vec<String> = entries
        .iter()
        .filter_map(|entry| Some(catalog.tool(&entry.id).ok()?.spec.to_definition().to_string()))
        .collect();
    let cards: usize = entries
        .iter()
        .map(|entry| entry.card(view.config.browse.card_tokens).tokens())
        .sum();
    Preview {
        listed: listed.len(),
        listed_tokens: count(&listed),
        reachable: entries.len(),
        direct_tokens: tokens::count(&format!("[{}]", definitions.join(","))),
        card_tokens: if entries.is_empty() {
            0.0
        } else {
            cards as f64 / entries.len() as f64
        },
        resources: catalog.resources().len(),
        prompts: catalog.prompts().len(),
        problems: catalog
            .problems()
            .iter()
            .map(|problem| format!("{} {}: {}", problem.server, problem.name, problem.message))
            .collect(),
    }
}
