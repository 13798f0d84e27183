//! Resources and prompts as MCP itself has them, for the passthrough mode: listed as upstreams list them, read and rendered
//! where they are, their text through the firewall like any other.

use rmcp::model::{
    ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult, ErrorCode, ErrorData, GetPromptResponse,
    Prompt, ReadResourceResponse, Reference, Resource, ResourceContents, ResourceTemplate, ServerResult,
};
use secrets::{Doubt, redact, redact_value};
use serde_json::{Map, Value};

use crate::dispatch::caller::Caller;
use crate::dispatch::{Driven, Execution, upstream_error};
use crate::errors::GatewayError;
use crate::runtime::View;
use crate::session::Session;
use crate::upstream::Listing;

pub(crate) fn resources(view: &View) -> Vec<Resource> {
    listed(view, |listing| &listing.resources)
}

pub(crate) fn templates(view: &View) -> Vec<ResourceTemplate> {
    listed(view, |listing| &listing.resource_templates)
}

pub(crate) fn prompts(view: &View) -> Vec<Prompt> {
    listed(view, |listing| &listing.prompts)
}

/// Everything of one kind, in the order of the upstreams; what the SDK cannot type is left out.
fn listed<T: serde::de::DeserializeOwned>(view: &View, kind: impl Fn(&Listing) -> &Vec<Value>) -> Vec<T> {
    let mut all = Vec::new();
    for listing in view.listings.values() {
        all.extend(
            kind(listing)
                .iter()
                .filter_map(|entry| serde_json::from_value(entry.clone()).ok()),
        );
    }
    all
}

pub(crate) async fn read(
    view: &View,
    session: &Session,
    caller: &Caller,
    uri: &str,
) -> Result<ReadResourceResponse, ErrorData> {
    let server = owner(view, uri)
        .ok_or_else(|| ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, format!("no resource {uri}"), None))?;
    let execution = Execution { view, session, caller };
    match execution.resource(server, uri).await.map_err(protocol_error)? {
        Driven::InputRequired(required) => Ok(required.into()),
        Driven::Done(Err(failure)) => Err(protocol_error(upstream_error(failure))),
        Driven::Done(Ok(ServerResult::ReadResourceResult(mut result))) => {
            if view.config.firewall.redact_secrets {
                for contents in &mut result.contents {
                    if let ResourceContents::TextResourceContents { text, .. } = contents {
                        *text = redact(text, Doubt::Mask).into_owned();
                    }
                }
            }
            Ok(result.into())
        }
        Driven::Done(Ok(_)) => Err(ErrorData::internal_error(
            "the upstream's answer is not a resource",
            None,
        )),
    }
}

pub(crate) async fn get(
    view: &View,
    session: &Session,
    caller: &Caller,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<GetPromptResponse, ErrorData> {
    let unknown = || ErrorData::invalid_params(format!("no prompt {name}"), None);
    let server = lister(view, |listing| names(&listing.prompts, "name", name)).ok_or_else(unknown)?;
    let execution = Execution { view, session, caller };
    match execution
        .prompt(server, name, arguments)
        .await
        .map_err(protocol_error)?
    {
        Driven::InputRequired(required) => Ok(required.into()),
        Driven::Done(Err(failure)) => Err(protocol_error(upstream_error(failure))),
        Driven::Done(Ok(ServerResult::GetPromptResult(result))) => {
            let mut value = serde_json::to_value(&result).unwrap_or_default();
            if view.config.firewall.redact_secrets {
                redact_value(&mut value, Doubt::Mask);
            }
            serde_json::from_value::<rmcp::model::GetPromptResult>(value)
                .map(Into::into)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))
        }
        Driven::Done(Ok(_)) => Err(ErrorData::internal_error("the upstream's answer is not a prompt", None)),
    }
}

/// Completion is asked of the upstream that has the prompt or the resource.
pub(crate) async fn complete(
    view: &View,
    session: &Session,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let server = match &request.r#ref {
        Reference::Prompt(prompt) => lister(view, |listing| names(&listing.prompts, "name", &prompt.name)),
        Reference::Resource(resource) => lister(view, |listing| {
            names(&listing.resource_templates, "uriTemplate", &resource.uri)
                || names(&listing.resources, "uri", &resource.uri)
        }),
        _ => None,
    };
    let server = server.and_then(|name| view.upstreams.get(name));
    let Some(upstream) = server else {
        return Ok(CompleteResult::default());
    };
    let request = ClientRequest::CompleteRequest(CompleteRequest::new(request));
    match upstream.start(session.id, request).outcome().await {
        Ok(ServerResult::CompleteResult(result)) => Ok(result),
        // A completion is a convenience: none is an answer.
        _ => Ok(CompleteResult::default()),
    }
}

/// The upstream that lists a resource, or has a template whose fixed beginning leads to it.
fn owner<'a>(view: &'a View, uri: &str) -> Option<&'a str> {
    let leads = |template: &Value| {
        let template = template.get("uriTemplate").and_then(Value::as_str).unwrap_or_default();
        let fixed = template.split('{').next().unwrap_or_default();
        !fixed.is_empty() && uri.starts_with(fixed)
    };
    lister(view, |listing| names(&listing.resources, "uri", uri))
        .or_else(|| lister(view, |listing| listing.resource_templates.iter().any(leads)))
}

/// The first upstream whose listing has it.
fn lister(view: &View, has: impl Fn(&Listing) -> bool) -> Option<&str> {
    view.listings
        .iter()
        .find(|(_, listing)| has(listing))
        .map(|(name, _)| name.as_str())
}

fn names(entries: &[Value], key: &str, wanted: &str) -> bool {
    entries
        .iter()
        .any(|entry| entry.get(key).and_then(Value::as_str) == Some(wanted))
}

fn protocol_error(error: GatewayError) -> ErrorData {
    ErrorData::internal_error(error.message().to_owned(), Some(error.to_json()))
}
