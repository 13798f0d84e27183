//! The gateway as an MCP server: one handler for both protocol eras and both transports. It finds the session a request
//! belongs to and leaves the answer to the mode.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, Peer, RequestContext, RoleServer, ServerInitializeError, SubscriptionContext,
};
use tokio_util::sync::CancellationToken;

use crate::config::Mode;
use crate::dispatch::caller::Caller;
use crate::modes::{self, Call};
use crate::native;
use crate::negotiation;
use crate::runtime::{FIRST_LISTING, Gateway, View};
use crate::session::{Principal, Session};
use crate::shutdown::{SHUTTING_DOWN, Shutdown};

/// How long a list of meta-tools waits to learn whether there are resources and prompts.
const META_PATIENCE: Duration = Duration::from_millis(1500);

/// One connection to a client, or one stateless request of it.
pub struct GatewayServer {
    gateway: Arc<Gateway>,
    /// The session of a connection; over HTTP it begins with the first request that needs one.
    own: OnceLock<Arc<Session>>,
    transport: Transport,
    shutdown: Shutdown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Transport {
    Stdio,
    Http,
}

impl GatewayServer {
    /// A server for one client on stdio, or on any other stream that is one client's alone.
    pub fn new(gateway: Arc<Gateway>) -> GatewayServer {
        let session = gateway.session(Principal::anonymous());
        GatewayServer {
            gateway,
            own: OnceLock::from(session),
            transport: Transport::Stdio,
            shutdown: Shutdown::default(),
        }
    }

    pub(crate) fn over_http(gateway: Arc<Gateway>, shutdown: Shutdown) -> GatewayServer {
        GatewayServer {
            gateway,
            own: OnceLock::new(),
            transport: Transport::Http,
            shutdown,
        }
    }

    /// Runs a call; where the server ends before it does, its caller hears that.
    async fn answer<T>(&self, call: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
        let ended = || Err(ErrorData::internal_error(SHUTTING_DOWN, None));
        self.shutdown.answer(call).await.unwrap_or_else(ended)
    }

    /// The session of a request. A stateless request over HTTP has none of its own: its principal's is used.
    fn session(&self, context: &RequestContext<RoleServer>) -> Arc<Session> {
        let stateless = context
            .protocol_version()
            .is_some_and(|version| !version.has_initialize());
        if self.transport == Transport::Http && stateless {
            return self
                .gateway
                .stateless_sessions
                .of(&principal(context), &self.gateway.config());
        }
        let session = self.own.get_or_init(|| self.gateway.session(principal(context)));
        session.touch();
        session.clone()
    }

    async fn listed_view(&self) -> Arc<View> {
        let patience = if self.gateway.mode() == Mode::Gateway {
            META_PATIENCE
        } else {
            FIRST_LISTING
        };
        self.gateway.first_view(patience).await
    }

    fn passes_through(&self) -> bool {
        self.gateway.mode() == Mode::Passthrough
    }

    fn refuse<T>(&self, method: &str) -> Result<T, ErrorData> {
        Err(ErrorData::new(
            rmcp::model::ErrorCode::METHOD_NOT_FOUND,
            method.to_owned(),
            None,
        ))
    }
}

/// Serves one client on this process's standard input and output, until the input ends or `shutdown`.
pub async fn serve_stdio(gateway: Arc<Gateway>, shutdown: Shutdown) -> Result<(), ServerInitializeError> {
    let server = GatewayServer {
        shutdown: shutdown.clone(),
        ..GatewayServer::new(gateway)
    };
    crate::stdio::serve(server, shutdown).await
}

/// Who sends a request, as a name that nobody else has: the principal, and its session where the transport has one. On a stream
/// of its own there is only one client.
pub fn caller(context: &RequestContext<RoleServer>) -> String {
    let parts = context.extensions.get::<axum::http::request::Parts>();
    let session = parts.and_then(|parts| parts.headers.get("mcp-session-id"));
    let session = session.and_then(|value| value.to_str().ok()).unwrap_or_default();
    format!("{}\n{session}", principal(context).name())
}

/// The conversation that a request belongs to, as a name that no other has; `None` for a request that stands alone. A stream of
/// its own is one conversation, so is a session of the transport, and so are the requests of a principal that carry the same
/// key under `lacon/session` in their metadata.
pub fn conversation(context: &RequestContext<RoleServer>) -> Option<String> {
    let key = context.meta.0.0.get("lacon/session").and_then(|key| key.as_str());
    let over_http = context.extensions.get::<axum::http::request::Parts>();
    let is_alone = over_http.is_some_and(|parts| !parts.headers.contains_key("mcp-session-id"));
    match (key, is_alone) {
        (None, true) => None,
        (key, _) => Some(format!("{}\n{}", caller(context), key.unwrap_or_default())),
    }
}

fn principal(context: &RequestContext<RoleServer>) -> Principal {
    let parts = context.extensions.get::<axum::http::request::Parts>();
    let named = parts.and_then(|parts| parts.extensions.get::<Principal>()).cloned();
    named.unwrap_or_else(Principal::anonymous)
}

impl ServerHandler for GatewayServer {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        if self.passes_through() {
            // Announced even while nothing is listed yet: an upstream may bring them later.
            let mut native = ServerCapabilities::builder()
                .enable_resources()
                .enable_resources_list_changed()
                .enable_prompts()
                .enable_prompts_list_changed()
                .enable_completions()
                .build();
            capabilities.resources = native.resources.take();
            capabilities.prompts = native.prompts.take();
            capabilities.completions = native.completions.take();
        }
        ServerConfig::new(capabilities).with_server_info(Implementation::new("lacon", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let view = self.listed_view().await;
        Ok(ListToolsResult::with_all_items(modes::list(&view)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let view = self.gateway.first_view(FIRST_LISTING).await;
        let session = self.session(&context);
        let arguments = request.arguments.unwrap_or_default();
        let format = negotiation::output_format(&arguments, &context, self.gateway.output_format());
        let caller = Caller::new(context, request.input_responses, request.request_state);
        let call = modes::call(Call {
            view,
            session: &session,
            caller: &caller,
            format,
            name: &request.name,
            arguments,
        });
        self.answer(call).await
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        match self.passes_through() {
            true => Ok(ListResourcesResult::with_all_items(native::resources(
                &*self.listed_view().await,
            ))),
            false => self.refuse("resources/list"),
        }
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        match self.passes_through() {
            true => Ok(ListResourceTemplatesResult::with_all_items(native::templates(
                &*self.listed_view().await,
            ))),
            false => self.refuse("resources/templates/list"),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        match self.passes_through() {
            true => Ok(ListPromptsResult::with_all_items(native::prompts(
                &*self.listed_view().await,
            ))),
            false => self.refuse("prompts/list"),
        }
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if !self.passes_through() {
            return self.refuse("resources/read");
        }
        let view = self.listed_view().await;
        let session = self.session(&context);
        let caller = Caller::new(context, request.input_responses, request.request_state);
        self.answer(native::read(&view, &session, &caller, &request.uri)).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if !self.passes_through() {
            return self.refuse("prompts/get");
        }
        let view = self.listed_view().await;
        let session = self.session(&context);
        let caller = Caller::new(context, request.input_responses, request.request_state);
        let arguments = request.arguments.unwrap_or_default();
        self.answer(native::get(&view, &session, &caller, &request.name, arguments))
            .await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        if !self.passes_through() {
            return self.refuse("completion/complete");
        }
        let session = self.session(&context);
        self.answer(native::complete(&self.gateway.view(), &session, request))
            .await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let changes = Changes::new(&self.gateway);
        tokio::spawn(announce(
            changes,
            context.peer,
            self.passes_through(),
            self.gateway.stopping(),
        ));
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        if self.passes_through() {
            accepted.prompts_list_changed = requested.prompts_list_changed;
            accepted.resources_list_changed = requested.resources_list_changed;
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = Changes::new(&self.gateway);
        let accepted = context.accepted().clone();
        let stop = self.gateway.stopping();
        loop {
            let changed = tokio::select! {
                changed = changes.next() => changed,
                () = context.cancelled() => return Ok(()),
                () = stop.cancelled() => return Ok(()),
            };
            let Some(changed) = changed else { return Ok(()) };
            let sink = context.sink();
            let mut sent = Ok(());
            if changed.tools && accepted.tools_list_changed == Some(true) {
                sent = sink.notify_tool_list_changed().await;
            }
            if changed.resources && accepted.resources_list_changed == Some(true) && sent.is_ok() {
                sent = sink.notify_resource_list_changed().await;
            }
            if changed.prompts && accepted.prompts_list_changed == Some(true) && sent.is_ok() {
                sent = sink.notify_prompt_list_changed().await;
            }
            if sent.is_err() {
                return Ok(());
            }
        }
    }
}

/// Tells a client with a session about changes, for as long as it is there.
async fn announce(mut changes: Changes, peer: Peer<RoleServer>, native: bool, stop: CancellationToken) {
    loop {
        let changed = tokio::select! {
            changed = changes.next() => changed,
            () = stop.cancelled() => return,
            // A connection that ended tells nobody; looking now and then is enough.
            () = tokio::time::sleep(Duration::from_secs(30)) => Some(Changed::default()),
        };
        let Some(changed) = changed else { return };
        if peer.is_transport_closed() {
            return;
        }
        let mut sent = Ok(());
        if changed.tools {
            sent = peer.notify_tool_list_changed().await;
        }
        if native && changed.resources && sent.is_ok() {
            sent = peer.notify_resource_list_changed().await;
        }
        if native && changed.prompts && sent.is_ok() {
            sent = peer.notify_prompt_list_changed().await;
        }
        if sent.is_err() {
            return;
        }
    }
}

/// What a client would see differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Changed {
    tools: bool,
    resources: bool,
    prompts: bool,
}

/// Follows the catalog and says what changed in what is *listed*: a new catalog behind the same three meta-tools is no news.
struct Changes {
    gateway: std::sync::Weak<Gateway>,
    views: tokio::sync::watch::Receiver<u64>,
    last: [u64; 3],
}

impl Changes {
    fn new(gateway: &Arc<Gateway>) -> Changes {
        let views = gateway.views();
        Changes {
            gateway: Arc::downgrade(gateway),
            views,
            last: gateway.view().fingerprints(fingerprints),
        }
    }

    /// The next change; `None` when the gateway is gone.
    async fn next(&mut self) -> Option<Changed> {
        loop {
            self.views.changed().await.ok()?;
            let now = self.gateway.upgrade()?.view().fingerprints(fingerprints);
            let before = std::mem::replace(&mut self.last, now);
            let changed = Changed {
                tools: now[0] != before[0],
                resources: now[1] != before[1],
                prompts: now[2] != before[2],
            };
            if changed != Changed::default() {
                return Some(changed);
            }
        }
    }
}

fn fingerprints(view: &View) -> [u64; 3] {
    let hash = |value: Result<Vec<u8>, serde_json::Error>| {
        let digest = blake3::hash(&value.unwrap_or_default());
        u64::from_le_bytes(std::array::from_fn(|at| digest.as_bytes()[at]))
    };
    [
        hash(serde_json::to_vec(&modes::list(view))),
        hash(serde_json::to_vec(&native::resources(view))),
        hash(serde_json::to_vec(&native::prompts(view))),
    ]
}
