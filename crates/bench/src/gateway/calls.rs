//! What one call costs through the gateway, over the same call made directly: tokens and time, with real processes.
//!
//! The upstream answers with one token, so that everything beyond it is overhead. Direct calls and calls through the gateway
//! take turns: whatever else the machine does slows both.

use std::process::Command;
use std::time::Instant;

use ::gateway::shutdown::Shutdown;
use anyhow::Context;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Serialize;
use serde_json::{Map, json};
use wire::tokens::Tokenizer;

use crate::peer::Peer;

/// The name of the upstream's only tool.
const TOOL: &str = "answer";
/// What it says: one token.
const ANSWER: &str = "ok";
/// Calls that are not counted: caches fill and the first connection is made.
const WARM_UP: usize = 20;

/// Medians over calls that took turns.
#[derive(Serialize)]
pub(super) struct CallCost {
    pub(super) calls: usize,
    /// cl100k tokens of the answer beyond the upstream's own.
    pub(super) overhead_tokens: usize,
    pub(super) direct_p50_microseconds: f64,
    pub(super) through_p50_microseconds: f64,
    pub(super) added_p50_microseconds: f64,
}

/// Starts the upstream twice, once behind a gateway, and calls both in turn.
pub(super) fn measure(calls: usize) -> anyhow::Result<CallCost> {
    let lacon = std::env::current_exe().context("where is this program?")?;
    let directory = std::env::temp_dir().join(format!("lacon-bench-gateway-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let measured = (|| {
        let config = directory.join("gateway.json");
        let upstream = json!({"command": lacon, "args": ["bench", "one-token-server"]});
        std::fs::write(&config, json!({"mcpServers": {"one": upstream}}).to_string())?;
        let mut direct = Peer::start(Command::new(&lacon).args(["bench", "one-token-server"]))?;
        let mut gateway = Command::new(&lacon);
        gateway
            .args(["gateway", "--config"])
            .arg(&config)
            .env("XDG_STATE_HOME", &directory);
        let mut through = Peer::start(&mut gateway)?;
        let tool_id = find(&mut through)?;
        let execute = json!({"tool_id": tool_id, "args": {}});
        let (mut direct_times, mut through_times) = (Vec::with_capacity(calls), Vec::with_capacity(calls));
        let mut overhead_tokens = 0;
        for round in 0..calls + WARM_UP {
            let start = Instant::now();
            let said = direct.call(TOOL, &json!({}))?;
            let direct_time = start.elapsed();
            let start = Instant::now();
            let said_through = through.call("tool_execute", &execute)?;
            let through_time = start.elapsed();
            let beyond = Tokenizer::Cl100k
                .count(&said_through)
                .saturating_sub(Tokenizer::Cl100k.count(&said));
            overhead_tokens = overhead_tokens.max(beyond);
            if round >= WARM_UP {
                direct_times.push(direct_time.as_secs_f64() * 1e6);
                through_times.push(through_time.as_secs_f64() * 1e6);
            }
        }
        let (direct_p50, through_p50) = (median(direct_times), median(through_times));
        Ok(CallCost {
            calls,
            overhead_tokens,
            direct_p50_microseconds: direct_p50,
            through_p50_microseconds: through_p50,
            added_p50_microseconds: through_p50 - direct_p50,
        })
    })();
    // A directory that stays behind is a nuisance, not a wrong figure.
    drop(std::fs::remove_dir_all(&directory));
    measured
}

/// The id of the only tool, once the gateway has listed its upstream.
fn find(gateway: &mut Peer) -> anyhow::Result<String> {
    for _ in 0..100 {
        let cards = gateway
            .call("tool_browse", &json!({"path": "/one", "format": "json"}))
            .unwrap_or_default();
        let cards: serde_json::Value = serde_json::from_str(&cards).unwrap_or_default();
        if let Some(id) = cards[0]["id"].as_str() {
            return Ok(id.to_owned());
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    Err(anyhow::anyhow!(
        "the gateway did not list its upstream within five seconds"
    ))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Serves the one tool on standard input and output, until the input ends.
pub(crate) async fn serve() -> anyhow::Result<()> {
    ::gateway::stdio::serve(OneToken, Shutdown::default())
        .await
        .context("the client did not begin")
}

struct OneToken;

impl ServerHandler for OneToken {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        Ok(ListToolsResult::with_all_items(vec![Tool::new(
            TOOL,
            "Says one word.",
            std::sync::Arc::new(schema),
        )]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(ANSWER)]).into())
    }
}
