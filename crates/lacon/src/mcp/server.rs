//! Lists the tools of a toolset and answers calls. Questions are synchronous, so each runs on a thread that may block.

use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as Listed, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError, ServiceExt};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use wire::Format;
use wire::protocol::Refusal;

use crate::tools::answer::{Said, answer, refused};
use crate::tools::trees::Trees;
use crate::tools::{self, Tool, Toolset, refusal};

/// One connection to a client, or one stateless request of it.
#[derive(Clone)]
pub(crate) struct QuestionServer {
    pub(crate) trees: Arc<Trees>,
    pub(crate) toolset: Toolset,
    /// Where neither the call nor the session says.
    pub(crate) format: Format,
}

const INSTRUCTIONS: &str = "Code graph of this workspace. Symbols: id, name, Owner.name or path:line. Ask here who calls, \
                            uses, implements or breaks; use text search for strings.";

/// Serves one client on this process's standard input and output, until the input ends or `shutdown`.
pub(crate) async fn serve_stdio(
    server: QuestionServer,
    shutdown: CancellationToken,
) -> Result<(), ServerInitializeError> {
    let Some(connection) = gateway::stdio::connection(&shutdown).await else {
        return Ok(());
    };
    let service = match server.serve_with_ct(connection, shutdown).await {
        Ok(service) => service,
        // A client that leaves before it says anything is no failure.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(error),
    };
    // However it ends, it has ended.
    let _ = service.waiting().await;
    Ok(())
}

/// The tools as `tools/list` gives them.
pub(crate) fn listed(toolset: Toolset, several_repositories: bool) -> Vec<Listed> {
    let annotations = || ToolAnnotations::new().read_only(true).open_world(false);
    toolset
        .tools()
        .map(|tool| {
            let schema = tool.input_schema(several_repositories);
            Listed::new(tool.name, tool.about, Arc::new(schema)).with_annotations(annotations())
        })
        .collect()
}

impl QuestionServer {
    fn call(&self, tool: &Tool, arguments: Map<String, Value>, format: Format) -> Result<Said, Refusal> {
        let workspace = self.trees.workspace()?;
        answer(tool, &workspace, arguments, format)
    }

    /// What the session or the request says about the format; an argument of the call comes before it.
    fn negotiated(&self, context: &RequestContext<RoleServer>) -> Format {
        let capability = context
            .client_capabilities()
            .and_then(|capabilities| capabilities.experimental)
            .and_then(|mut experimental| experimental.remove("output_format"))
            .map(Value::Object);
        let meta = &context.meta.0.0;
        [
            meta.get("output_format"),
            meta.get("lacon/output_format"),
            capability.as_ref(),
        ]
        .into_iter()
        .flatten()
        .find_map(format_named)
        .unwrap_or(self.format)
    }
}

fn format_named(value: &Value) -> Option<Format> {
    match value {
        Value::String(name) => name.parse().ok(),
        Value::Object(members) => members.get("format")?.as_str()?.parse().ok(),
        _ => None,
    }
}

impl ServerHandler for QuestionServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("lacon", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let several = self.trees.count() > 1;
        Ok(ListToolsResult::with_all_items(listed(self.toolset, several)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // A tool of another toolset is answered too: listing fewer saves tokens, it hides nothing.
        let Some(tool) = tools::find(&request.name) else {
            let known: Vec<&str> = tools::all().map(|tool| tool.name).collect();
            let message = format!("no tool `{}`: there are {}", request.name, known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let format = self.negotiated(&context);
        let arguments = request.arguments.unwrap_or_default();
        let refused_format = arguments.get("format").and_then(format_named).unwrap_or(format);
        let server = self.clone();
        let said = tokio::task::spawn_blocking(move || server.call(tool, arguments, format))
            .await
            .unwrap_or_else(|error| Err(refusal("internal_error", format!("the question failed: {error}"))));
        let result = match said {
            Ok(said) => {
                let texts = std::iter::once(said.text).chain(said.note);
                CallToolResult::success(texts.map(ContentBlock::text).collect())
            }
            Err(refusal) => CallToolResult::error(vec![ContentBlock::text(refused(&refusal, refused_format))]),
        };
        Ok(result.into())
    }
}
