//! A gateway with upstreams behind it and an SDK client in front of it, all in this process except the upstreams.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gateway::config::{GatewayConfig, UpstreamConfig};
use gateway::runtime::{Gateway, Options};
use gateway::server::GatewayServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RequestContext, RoleClient, RunningService, ServiceExt,
};
use rmcp::{ClientHandler, RoleServer, ServiceError};
use serde_json::{Map, Value, json};

/// No test waits longer than this for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Session,
    Stateless,
}

/// How far a call came, and what was said about it.
pub(crate) type Progress = (f64, Option<String>);

/// What the client heard.
#[derive(Clone, Default)]
pub(crate) struct Ears {
    pub(crate) progress: Arc<Mutex<Vec<Progress>>>,
    pub(crate) tool_changes: Arc<Mutex<u32>>,
    pub(crate) questions: Arc<Mutex<Vec<String>>>,
}

/// A client that answers every question with the name Ada.
#[derive(Clone)]
pub(crate) struct TestClient {
    pub(crate) ears: Ears,
    can_be_asked: bool,
}

impl ClientHandler for TestClient {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.can_be_asked {
            let mut elicitation = ElicitationCapability::default();
            elicitation.form = Some(FormElicitationCapability::default());
            capabilities.elicitation = Some(elicitation);
        }
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        self.ears.questions.lock().unwrap().push(message);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ada", "approve": true})))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.ears
            .progress
            .lock()
            .unwrap()
            .push((params.progress, params.message));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        *self.ears.tool_changes.lock().unwrap() += 1;
    }
}

pub(crate) type Client = RunningService<RoleClient, TestClient>;

/// A gateway and one client.
pub(crate) struct Setup {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) client: Client,
    pub(crate) ears: Ears,
}

impl Setup {
    pub(crate) async fn new(config: GatewayConfig) -> Setup {
        Setup::with(config, Options::default(), Era::Session).await
    }

    pub(crate) async fn with(config: GatewayConfig, options: Options, era: Era) -> Setup {
        log();
        let gateway = Gateway::start(config, options);
        tokio::time::timeout(PATIENCE, gateway.settled())
            .await
            .expect("the upstreams settle");
        let (client, ears) = connect(&gateway, era, true).await;
        Setup { gateway, client, ears }
    }

    /// Runs a tool by the end of its upstream name, as an agent would after browsing for it.
    pub(crate) async fn run(&self, name: &str, args: Value) -> CallToolResult {
        execute(&self.client, &self.id(name).await, args).await
    }

    /// The id of the only tool whose name is `name`.
    pub(crate) async fn id(&self, name: &str) -> String {
        let found = call(
            &self.client,
            "tool_browse",
            json!({"query": name, "top_k": 50, "format": "json"}),
        )
        .await;
        let cards: Vec<Value> = serde_json::from_str(text(&found)).expect("cards");
        let card = cards.iter().find(|card| card["name"] == name);
        card.unwrap_or_else(|| panic!("no card for {name} in {cards:?}"))["id"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// `LACON_LOG=debug` shows what went on in a test that fails.
pub(crate) fn log() {
    if let Ok(filter) = tracing_subscriber::EnvFilter::try_from_env("LACON_LOG") {
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_test_writer()
            .try_init();
    }
}

/// Connects a client in memory.
pub(crate) async fn connect(gateway: &Arc<Gateway>, era: Era, can_be_asked: bool) -> (Client, Ears) {
    let (server_end, client_end) = tokio::io::duplex(1 << 16);
    let server = GatewayServer::new(gateway.clone());
    tokio::spawn(async move {
        if let Ok(service) = ServiceExt::<RoleServer>::serve(server, server_end).await {
            let _ = service.waiting().await;
        }
    });
    let ears = Ears::default();
    let handler = TestClient {
        ears: ears.clone(),
        can_be_asked,
    };
    let client = handler
        .serve_with_lifecycle(client_end, lifecycle(era))
        .await
        .expect("the client connects");
    (client, ears)
}

pub(crate) fn lifecycle(era: Era) -> ClientLifecycleMode {
    match era {
        Era::Session => ClientLifecycleMode::Initialize,
        Era::Stateless => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    }
}

pub(crate) async fn call(client: &Client, name: &str, arguments: Value) -> CallToolResult {
    try_call(client, name, arguments).await.expect("the call is answered")
}

pub(crate) async fn try_call(client: &Client, name: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
    let params = CallToolRequestParams::new(name.to_owned()).with_arguments(object(arguments));
    tokio::time::timeout(PATIENCE * 2, client.call_tool(params))
        .await
        .expect("the call ends in time")
}

pub(crate) async fn execute(client: &Client, tool_id: &str, args: Value) -> CallToolResult {
    call(client, "tool_execute", json!({"tool_id": tool_id, "args": args})).await
}

pub(crate) async fn view(client: &Client, handle: &str, selector: Value) -> CallToolResult {
    call(client, "tool_view", json!({"handle": handle, "selector": selector})).await
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("not an object: {other}"),
    }
}

/// The first text block.
pub(crate) fn text(result: &CallToolResult) -> &str {
    result
        .content
        .iter()
        .find_map(|block| block.as_text())
        .map(|text| text.text.as_str())
        .unwrap_or_default()
}

/// The §3.4 object of a failed call.
pub(crate) fn error(result: &CallToolResult) -> Value {
    assert_eq!(result.is_error, Some(true), "{result:?}");
    serde_json::from_str(text(result)).unwrap_or_else(|_| panic!("not a gateway error: {}", text(result)))
}

/// The handle of the only thing kept aside.
pub(crate) fn handle(result: &CallToolResult) -> String {
    let meta = serde_json::to_value(&result.meta).unwrap();
    let artifacts = &meta["lacon/provenance"]["artifacts"];
    assert_eq!(artifacts.as_array().map(Vec::len), Some(1), "{meta}");
    artifacts[0]["handle"].as_str().unwrap().to_owned()
}

/// The server that misbehaves on request.
pub(crate) fn scripted(arguments: &[&str]) -> UpstreamConfig {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/servers/scripted.py");
    let mut args = vec![script.display().to_string()];
    args.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    UpstreamConfig {
        command: Some("python3".into()),
        args,
        ..UpstreamConfig::default()
    }
}

pub(crate) fn config(upstreams: Vec<(&str, UpstreamConfig)>) -> GatewayConfig {
    let upstreams: BTreeMap<String, UpstreamConfig> = upstreams
        .into_iter()
        .map(|(name, upstream)| (name.to_owned(), upstream))
        .collect();
    let mut config = GatewayConfig {
        upstreams,
        ..GatewayConfig::default()
    };
    config.refresh.debounce_seconds = 0.05;
    config
}

pub(crate) fn one(upstream: UpstreamConfig) -> GatewayConfig {
    config(vec![("scripted", upstream)])
}

/// Waits until `holds` does.
pub(crate) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let limit = tokio::time::Instant::now() + PATIENCE;
    while !holds().await {
        assert!(tokio::time::Instant::now() < limit, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Where `cargo xtask test` puts servers and clients of other projects.
pub(crate) fn tools() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools");
    // A Python environment finds its packages by the path it was started with, which must not go through `..`.
    directory.canonicalize().unwrap_or(directory)
}

/// A program that must have been installed.
pub(crate) fn tool(path: &str) -> String {
    let full = tools().join(path);
    assert!(
        full.exists(),
        "{} is missing: run `cargo xtask test`, which installs it",
        full.display()
    );
    full.display().to_string()
}
