//! Everything an upstream offers, read page by page to the end, with bounds on both pages and entries.

use std::collections::HashSet;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, ErrorCode, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::{CallFailure, failure};

const MOST_PAGES: usize = 1000;
const MOST_ENTRIES: usize = 100_000;

/// The definitions of one upstream, as it declares them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Value>,
    pub(crate) resources: Vec<Value>,
    pub(crate) resource_templates: Vec<Value>,
    pub(crate) prompts: Vec<Value>,
    /// What the upstream says about its use, if anything.
    pub(crate) instructions: Option<String>,
    /// How long the upstream says the tools stay as they are.
    #[serde(skip)]
    pub(crate) fresh_for: Option<Duration>,
}

/// Lists all that the upstream says it has. A kind it does not know counts as empty.
pub(super) async fn list(peer: &Peer<RoleClient>, page_timeout: Duration) -> Result<Listing, CallFailure> {
    let info = peer.peer_info();
    let capabilities = info.as_ref().map(|info| info.capabilities.clone()).unwrap_or_default();
    let mut listing = Listing {
        instructions: info.as_ref().and_then(|info| info.instructions.clone()),
        ..Listing::default()
    };
    // Tools are asked for even when not announced: some servers forget to.
    let (tools, fresh_for) = pages(peer, page_timeout, Kind::Tools).await?;
    listing.tools = tools;
    listing.fresh_for = fresh_for;
    if capabilities.resources.is_some() {
        listing.resources = pages(peer, page_timeout, Kind::Resources).await?.0;
        listing.resource_templates = pages(peer, page_timeout, Kind::ResourceTemplates).await?.0;
    }
    if capabilities.prompts.is_some() {
        listing.prompts = pages(peer, page_timeout, Kind::Prompts).await?.0;
    }
    Ok(listing)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tools,
    Resources,
    ResourceTemplates,
    Prompts,
}

async fn pages(
    peer: &Peer<RoleClient>,
    page_timeout: Duration,
    kind: Kind,
) -> Result<(Vec<Value>, Option<Duration>), CallFailure> {
    let mut entries = Vec::new();
    let mut fresh_for = None;
    let mut cursor = None;
    let mut seen = HashSet::new();
    for _ in 0..MOST_PAGES {
        let request = kind.request(cursor);
        let options = PeerRequestOptions::with_timeout(page_timeout);
        let handle = peer.send_request_with_option(request, options).await.map_err(failure)?;
        let result = match handle.await_response().await.map_err(failure) {
            Err(CallFailure::Rpc(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => break,
            result => result?,
        };
        let page = kind.page(result);
        fresh_for = page.fresh_for.or(fresh_for);
        entries.extend(page.entries);
        entries.truncate(MOST_ENTRIES);
        // An empty cursor is a cursor. One that comes again would go round for ever.
        let Some(next) = page
            .next
            .filter(|next| entries.len() < MOST_ENTRIES && seen.insert(next.clone()))
        else {
            break;
        };
        cursor = Some(next);
    }
    Ok((entries, fresh_for))
}

struct Page {
    entries: Vec<Value>,
    next: Option<String>,
    fresh_for: Option<Duration>,
}

impl Kind {
    fn request(self, cursor: Option<String>) -> ClientRequest {
        let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        macro_rules! request {
            ($variant:ident, $type:ident) => {
                ClientRequest::$variant($type {
                    method: Default::default(),
                    params,
                    extensions: Default::default(),
                })
            };
        }
        match self {
            Kind::Tools => request!(ListToolsRequest, ListToolsRequest),
            Kind::Resources => request!(ListResourcesRequest, ListResourcesRequest),
            Kind::ResourceTemplates => request!(ListResourceTemplatesRequest, ListResourceTemplatesRequest),
            Kind::Prompts => request!(ListPromptsRequest, ListPromptsRequest),
        }
    }

    fn key(self) -> &'static str {
        match self {
            Kind::Tools => "tools",
            Kind::Resources => "resources",
            Kind::ResourceTemplates => "resourceTemplates",
            Kind::Prompts => "prompts",
        }
    }

    /// One page as plain JSON. A page the SDK cannot type (one malformed entry is enough) arrives as a bare value and is
    /// read entry by entry, so that the others survive.
    fn page(self, result: ServerResult) -> Page {
        let value = serde_json::to_value(&result).unwrap_or_default();
        let Value::Object(mut fields) = value else {
            return Page {
                entries: Vec::new(),
                next: None,
                fresh_for: None,
            };
        };
        let entries = match fields.remove(self.key()) {
            Some(Value::Array(entries)) => entries,
            _ => Vec::new(),
        };
        Page {
            entries,
            next: fields.get("nextCursor").and_then(Value::as_str).map(str::to_owned),
            fresh_for: fields
                .get("ttlMs")
                .and_then(Value::as_u64)
                .filter(|milliseconds| *milliseconds > 0)
                .map(Duration::from_millis),
        }
    }
}
