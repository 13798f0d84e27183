//! The gateway mode: find a tool, run it, look at what it gave. Schemas stay here until an argument is wrong.

use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, EmbeddedResource, GetPromptResult, ReadResourceResult, Role,
    ServerResult, Tool,
};
use serde_json::{Map, Value, json};
use wire::Format;

use super::{Call, Refusal};
use crate::browse::{BrowseAnswer, BrowseRequest, Shelf};
use crate::card::{self, ChoiceCard};
use crate::controls::{Counting, MetaTool};
use crate::dispatch::{Driven, Execution, upstream_error};
use crate::errors::{ErrorCode, GatewayError};
use crate::firewall::{Raw, Structured, Volume, tokens};
use crate::meta_tools::{Surface, meta_tools};
use crate::runtime::View;
use crate::session::lock;
use crate::upstream::Status;
use crate::view::{Selector, Slice, select, unknown_handle};

pub(crate) fn list(view: &View) -> Vec<Tool> {
    let catalog = &view.catalog;
    let definitions = meta_tools(
        Surface::Gateway,
        !catalog.resources().is_empty(),
        !catalog.prompts().is_empty(),
    );
    definitions.into_iter().filter_map(super::tool).collect()
}

pub(crate) async fn call(call: &Call<'_>) -> Result<CallToolResponse, Refusal> {
    match call.name {
        "tool_browse" => {
            execution(call).quota(MetaTool::ToolBrowse, None, Counting::Consume)?;
            Ok(browse(call, call.view.catalog.tools())?.into())
        }
        _ => shared(call).await,
    }
}

/// What the gateway and the proxy have in common.
pub(crate) async fn shared(call: &Call<'_>) -> Result<CallToolResponse, Refusal> {
    let catalog = &call.view.catalog;
    match call.name {
        "tool_execute" => Ok(execute(call).await?),
        "tool_view" => Ok(view(call)?.into()),
        "resource_browse" if !catalog.resources().is_empty() => Ok(browse(call, catalog.resources())?.into()),
        "prompt_browse" if !catalog.prompts().is_empty() => Ok(browse(call, catalog.prompts())?.into()),
        "resource_read" if !catalog.resources().is_empty() => Ok(resource(call).await?),
        "prompt_get" if !catalog.prompts().is_empty() => Ok(prompt(call).await?),
        _ => Err(Refusal::NoSuchTool),
    }
}

fn execution<'a>(call: &'a Call<'_>) -> Execution<'a> {
    Execution {
        view: &call.view,
        session: call.session,
        caller: call.caller,
    }
}

fn browse(call: &Call<'_>, shelf: &Shelf) -> Result<CallToolResult, GatewayError> {
    let request = BrowseRequest::from_arguments(&call.arguments, call.view.config.browse.top_k)?;
    let BrowseAnswer { mut cards, total } = shelf.browse(&request)?;
    if call.view.config.browse.cache_stable {
        cards = lock(&call.session.seen).arrange(cards);
    }
    let mut text = say_cards(&cards, total, call.format);
    if cards.is_empty() && call.format == Format::Auto {
        text.push_str(&not_listed_yet(&call.view));
    }
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
}

/// "Nothing" is only said of what was looked at: upstreams that have not told their tools yet are named.
fn not_listed_yet(view: &View) -> String {
    let waiting: Vec<&str> = view
        .upstreams
        .iter()
        .filter(|(_, upstream)| upstream.health().status != Status::Ready && upstream.listing().tools.is_empty())
        .map(|(name, _)| name.as_str())
        .collect();
    match waiting.as_slice() {
        [] => String::new(),
        names => format!("; no tools known yet, connecting or down: {}", names.join(", ")),
    }
}

/// Cards in few tokens: a line each. JSON carries every field instead.
fn say_cards(cards: &[ChoiceCard], total: usize, format: Format) -> String {
    match format {
        Format::Json => serde_json::to_string(cards).unwrap_or_default(),
        Format::Gcf | Format::Gcx | Format::Markdown => {
            let rows: Vec<_> = cards.iter().map(ChoiceCard::row).collect();
            super::encode(&serde_json::to_value(rows).unwrap_or_default(), format)
        }
        // Bare lines are shorter than any of them.
        Format::Auto | Format::Text | Format::Lcx => card::lines(cards, total),
    }
}

async fn execute(call: &Call<'_>) -> Result<CallToolResponse, GatewayError> {
    let tool_id = call.text_argument("tool_id")?;
    let arguments = call.arguments.get("args").cloned().unwrap_or_else(|| json!({}));
    let dry_run = match call.arguments.get("dry_run") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(dry_run)) => *dry_run,
        // Taking a wrong type for "no" would run a call that was not meant to run.
        Some(_) => {
            return Err(GatewayError::new(
                ErrorCode::ArgsInvalid,
                "`dry_run` must be true or false",
            ));
        }
    };
    let executed = execution(call).tool(tool_id, arguments, dry_run).await?;
    Ok(call.finish(executed, Volume::Digest, Structured::Fold))
}

fn view(call: &Call<'_>) -> Result<CallToolResult, GatewayError> {
    execution(call).quota(MetaTool::ToolView, None, Counting::Consume)?;
    let handle = call.text_argument("handle")?;
    let selector = Selector::parse(call.arguments.get("selector"))?;
    let now = std::time::Instant::now();
    let artifact = lock(&call.session.artifacts)
        .get(now, handle)
        .ok_or_else(|| unknown_handle(handle))?;
    let text = match select(&artifact, &selector)? {
        Slice::Text(text) => text,
        Slice::Value(Value::String(text)) => text,
        Slice::Value(value) => call.say(&value),
    };
    let mut shown = capped(&text, call.view.config.firewall.view_tokens);
    if artifact.is_cut() {
        shown.push_str(&format!(
            "\n[only the first {} of {} bytes were kept]",
            artifact.body.len(),
            artifact.original_length
        ));
    }
    Ok(CallToolResult::success(vec![ContentBlock::text(shown)]))
}

/// At most `limit` tokens, cut at a line where there is one, saying how much is missing.
fn capped(text: &str, limit: usize) -> String {
    if tokens::fits(text, limit) {
        return text.to_owned();
    }
    let prefix = tokens::prefix(text, limit.saturating_sub(24));
    let end = prefix
        .rfind('\n')
        .filter(|end| *end > prefix.len() / 2)
        .unwrap_or(prefix.len());
    let shown = &text[..end];
    format!(
        "{shown}\n[cut: {} of {} bytes shown; ask for a smaller part]",
        shown.len(),
        text.len()
    )
}

async fn resource(call: &Call<'_>) -> Result<CallToolResponse, GatewayError> {
    let item = call.view.catalog.resource(call.text_argument("resource_id")?)?;
    match execution(call).resource(&item.spec.server, &item.spec.uri).await? {
        Driven::InputRequired(required) => Ok(CallToolResponse::InputRequired(required)),
        Driven::Done(Err(failure)) => Err(upstream_error(failure)),
        Driven::Done(Ok(ServerResult::ReadResourceResult(ReadResourceResult { contents, .. }))) => {
            let content = contents
                .into_iter()
                .map(|contents| ContentBlock::Resource(EmbeddedResource::new(contents)));
            Ok(delivered(call, content.map(plain).collect()))
        }
        Driven::Done(Ok(_)) => Err(GatewayError::new(
            ErrorCode::UpstreamError,
            "the answer is not a resource",
        )),
    }
}

/// A text file as plain text: its address is what the client asked for.
fn plain(block: ContentBlock) -> ContentBlock {
    match block {
        ContentBlock::Resource(embedded) => match embedded.resource {
            rmcp::model::ResourceContents::TextResourceContents { text, .. } => ContentBlock::text(text),
            resource => ContentBlock::resource(resource),
        },
        other => other,
    }
}

async fn prompt(call: &Call<'_>) -> Result<CallToolResponse, GatewayError> {
    let item = call.view.catalog.prompt(call.text_argument("prompt_id")?)?;
    let arguments = match call.arguments.get("args") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(fields)) => fields.clone(),
        Some(_) => return Err(GatewayError::new(ErrorCode::ArgsInvalid, "`args` must be an object")),
    };
    item.check_arguments(&Value::Object(arguments.clone()))?;
    match execution(call)
        .prompt(&item.spec.server, &item.spec.name, arguments)
        .await?
    {
        Driven::InputRequired(required) => Ok(CallToolResponse::InputRequired(required)),
        Driven::Done(Err(failure)) => Err(upstream_error(failure)),
        Driven::Done(Ok(ServerResult::GetPromptResult(GetPromptResult { messages, .. }))) => {
            let only = messages.len() == 1;
            let mut content = Vec::new();
            for message in messages {
                let role = if message.role == Role::Assistant {
                    "assistant"
                } else {
                    "user"
                };
                match message.content {
                    ContentBlock::Text(text) if only => content.push(ContentBlock::text(text.text)),
                    ContentBlock::Text(text) => content.push(ContentBlock::text(format!("{role}: {}", text.text))),
                    other => content.push(other),
                }
            }
            Ok(delivered(call, content))
        }
        Driven::Done(Ok(_)) => Err(GatewayError::new(
            ErrorCode::UpstreamError,
            "the answer is not a prompt",
        )),
    }
}

fn delivered(call: &Call<'_>, content: Vec<ContentBlock>) -> CallToolResponse {
    let raw = Raw {
        content,
        structured: None,
        is_error: false,
    };
    super::result(call.shape(raw, Volume::Digest, Structured::Fold), Map::new()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_capped_at_a_line() {
        let text = "a line of words here\n".repeat(2000);
        let shown = capped(&text, 200);
        assert!(tokens::count(&shown) <= 200, "{}", tokens::count(&shown));
        assert!(shown.ends_with("bytes shown; ask for a smaller part]"));
        assert_eq!(capped("short", 200), "short");
    }
}
