//! A server inside the process, mounted as one more upstream.

use std::collections::BTreeMap;

use gateway::Mount;
use gateway::config::GatewayConfig;
use gateway::runtime::Options;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;

use crate::harness::*;

struct Adder;

impl ServerHandler for Adder {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let definition = json!({
            "name": "sum",
            "description": "Adds numbers.",
            "inputSchema": {"type": "object", "properties": {"numbers": {"type": "array", "items": {"type": "number"}}}},
        });
        let tool: Tool = serde_json::from_value(definition).unwrap();
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let numbers = request.arguments.unwrap_or_default();
        let sum: f64 = numbers["numbers"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|number| number.as_f64())
            .sum();
        Ok(CallToolResult::success(vec![ContentBlock::text(sum.to_string())]).into())
    }
}

#[tokio::test]
async fn a_mounted_server_is_an_upstream_like_any_other() {
    for era in [Era::Session, Era::Stateless] {
        let mounts = BTreeMap::from([("lacon".to_owned(), Mount::new(|| Adder))]);
        let options = Options {
            mounts,
            ..Options::default()
        };
        let setup = Setup::with(GatewayConfig::default(), options, era).await;
        assert!(setup.id("sum").await.starts_with("lacon:sum"));
        assert_eq!(text(&setup.run("sum", json!({"numbers": [1, 2, 3.5]})).await), "6.5");
        assert_eq!(
            error(&setup.run("sum", json!({"numbers": "no"})).await)["error"],
            "ARGS_INVALID"
        );
    }
}
