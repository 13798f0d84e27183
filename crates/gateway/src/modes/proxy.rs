//! The transparent proxy: every tool is listed, none with its schema. Schemas come by `tool_hydrate`, calls go through
//! `tool_execute`.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, Tool};
use serde_json::json;

use super::{Call, Refusal, gateway, sentinel_schema};
use crate::card::truncate_description;
use crate::errors::{ErrorCode, GatewayError};
use crate::meta_tools::{Surface, meta_tools};
use crate::runtime::View;
use crate::session::lock;

pub(crate) fn list(view: &View) -> Vec<Tool> {
    let catalog = &view.catalog;
    let budget = view.config.browse.card_tokens;
    let mut listed: Vec<Tool> = meta_tools(
        Surface::Proxy,
        !catalog.resources().is_empty(),
        !catalog.prompts().is_empty(),
    )
    .into_iter()
    .filter_map(super::tool)
    .collect();
    for (name, id) in view.names.listed() {
        let Some(entry) = catalog.tools().get(id) else { continue };
        let description = truncate_description(&entry.description, budget as i64);
        let stripped = json!({"name": name, "description": description, "inputSchema": sentinel_schema()});
        listed.extend(super::tool(stripped));
    }
    listed
}

pub(crate) async fn call(call: &Call<'_>) -> Result<CallToolResponse, Refusal> {
    if call.name == "tool_hydrate" {
        let tool = call.view.tool(call.text_argument("tool_id")?)?;
        let card = tool.entry.card(call.view.config.browse.card_tokens).clone();
        lock(&call.session.seen).record(card);
        // A schema must be read as it is: it is not re-encoded.
        let definition = tool.hydrate().to_string();
        return Ok(CallToolResult::success(vec![ContentBlock::text(definition)]).into());
    }
    if call.view.names.id(call.name).is_some() {
        let message = format!(
            "call it as tool_execute with tool_id `{}`; tool_hydrate gives its schema",
            call.name
        );
        return Err(GatewayError::new(ErrorCode::ArgsInvalid, message).into());
    }
    gateway::shared(call).await
}
