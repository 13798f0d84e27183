//! Lists the tools of a toolset and answers calls. Questions are synchronous, so each runs on a thread that may block, and stops
//! when nobody waits for it any more.
//!
//! A session that asks for JSON gets output schemas and structured content. The others get neither: structured content is JSON,
//! and would be paid for on top of the compact text.

use std::sync::Arc;
use std::time::Duration;

use gateway::negotiation::output_format;
use gateway::shutdown::{SHUTTING_DOWN, Shutdown};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CompletionInfo,
    ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, Tool as Listed, ToolAnnotations,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use wire::Format;
use wire::protocol::Refusal;

use super::reach::Reach;
use super::{consent, prompts, resources};
use crate::asking::{REPAIRING, Work, ask_blocking};
use crate::sessions::Conversation;
use crate::tools::answer::{Said, refused};
use crate::tools::permissions::Permissions;
use crate::tools::sound::sound_answer;
use crate::tools::trees::Trees;
use crate::tools::{Desk, Services, Tool, Toolset, Wish, refusal};

/// One connection to a client, or one stateless request of it.
#[derive(Clone)]
pub struct QuestionServer {
    pub trees: Arc<Trees>,
    /// How the project is found that they are of.
    pub reach: Arc<Reach>,
    pub services: Arc<Services>,
    pub permissions: Arc<Permissions>,
    /// Where neither the call nor the session says.
    pub format: Format,
    /// Whether clients that say nothing take references to what they were sent.
    pub references: bool,
    /// When the server ends.
    pub shutdown: Shutdown,
}

/// What each of the first tools is for, in the words of the instructions.
const USES: [(&str, &str); 5] = [
    ("find", "where: words, an error, a name"),
    ("read", "source: symbol or path:10-50"),
    ("uses", "who calls or uses it"),
    ("trace", "how A reaches B"),
    ("change", "what an edit breaks, its tests"),
];

/// Clients that weigh instructions look at so many characters.
const MOST_INSTRUCTIONS: usize = 512;

/// When to call which of the tools that are listed, when to stop, and how to read rows.
fn instructions(permissions: &Permissions) -> String {
    let listed: Vec<&str> = permissions.listed().map(|tool| tool.name).collect();
    let uses: Vec<String> = USES
        .iter()
        .filter(|(name, _)| listed.contains(name))
        .map(|(name, what)| format!("{name} ({what})"))
        .collect();
    let first = match uses.is_empty() {
        true => String::new(),
        false => format!("Before grep and reading files use {}. ", uses.join(", ")),
    };
    let text = format!(
        "Code graph of this workspace, as its files are now. {first}`complete`: all uses are listed, search no further; else do what `next` says. \
         Rows: `8,9 Main.run` is lines 8 and 9 in Main.run, `21.load` line 21, owner as above, of the path above; `#4` is row 4, from 0."
    );
    debug_assert!(text.len() <= MOST_INSTRUCTIONS, "{} characters", text.len());
    text
}

/// How long a question waits for the first thing to answer from. Small trees are indexed by then, large ones have a part.
const FIRST_ANSWER: Duration = Duration::from_secs(10);
/// The same for a client that hears meanwhile how far it is.
const FIRST_ANSWER_TOLD: Duration = Duration::from_secs(45);
/// How often a question that waits looks again, and tells how far the index is.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The tools as `tools/list` gives them in a session of this format.
pub(crate) fn listed(permissions: &Permissions, several_repositories: bool, format: Format) -> Vec<Listed> {
    let list = |tool: &'static Tool| {
        let schema = Arc::new(tool.input_schema(several_repositories));
        let listed = Listed::new(tool.name, tool.about, schema)
            .with_title(tool.title())
            .with_annotations(ToolAnnotations::new().read_only(!tool.writes))
            .with_meta(about_tool(tool).into());
        match format {
            Format::Json => listed.with_raw_output_schema(Arc::new(tool.output_schema())),
            _ => listed,
        }
    };
    permissions.listed().map(list).collect()
}

/// Which repositories a tool is about; and that clients which load tools only when they are searched for should have the first
/// ones at hand.
fn about_tool(tool: &Tool) -> Map<String, Value> {
    let mut meta = Map::from_iter([("scope".to_string(), json!(tool.scope.as_str()))]);
    if tool.toolset == Toolset::Core {
        meta.insert("anthropic/alwaysLoad".to_string(), json!(true));
    }
    meta
}

/// Asks questions on behalf of one request.
pub(super) struct Asker {
    server: QuestionServer,
    format: Format,
    context: RequestContext<RoleServer>,
}

impl Asker {
    /// The answer to a question of the tables.
    pub(super) async fn ask(&self, tool: &str, arguments: Map<String, Value>) -> Result<Said, Refusal> {
        let tool = self.server.permissions.find(tool);
        let tool = tool.ok_or_else(|| refusal("not_permitted", "this server does not answer that"))?;
        self.put(tool, arguments).await
    }

    /// The tools that may be asked.
    pub(super) fn answered(&self) -> impl Iterator<Item = &'static Tool> {
        self.server.permissions.answered()
    }

    async fn put(&self, tool: &'static Tool, mut arguments: Map<String, Value>) -> Result<Said, Refusal> {
        self.server.settle(&self.context.peer).await;
        let trees = self.server.trees_of(&mut arguments)?;
        let asker = Asker {
            server: QuestionServer {
                trees,
                ..self.server.clone()
            },
            format: self.format,
            context: self.context.clone(),
        };
        asker.put_there(tool, arguments).await
    }

    async fn put_there(&self, tool: &'static Tool, arguments: Map<String, Value>) -> Result<Said, Refusal> {
        let answered = self.server.shutdown.answer(self.when_ready(tool, arguments)).await;
        answered.unwrap_or_else(|| Err(refusal("shutting_down", SHUTTING_DOWN)))
    }

    /// Asks, and while there is nothing to answer from yet, waits and tells how far it is.
    async fn when_ready(&self, tool: &'static Tool, arguments: Map<String, Value>) -> Result<Said, Refusal> {
        let waiting_since = tokio::time::Instant::now();
        let patience = match self.context.meta.get_progress_token() {
            Some(_) => FIRST_ANSWER_TOLD,
            None => FIRST_ANSWER,
        };
        let mut told = -1.0;
        loop {
            let said = self.once(tool, arguments.clone()).await;
            match said {
                Err(refusal)
                    if matches!(&*refusal.code, "index_building" | REPAIRING) && waiting_since.elapsed() < patience =>
                {
                    self.tell(&mut told).await;
                }
                said => {
                    // What writes is not done twice.
                    let again = !tool.writes && consent::ask(&self.server.services, &self.context).await;
                    return if again { self.once(tool, arguments).await } else { said };
                }
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                () = self.context.ct.cancelled() => return Err(cancelled()),
            }
        }
    }

    async fn once(&self, tool: &'static Tool, arguments: Map<String, Value>) -> Result<Said, Refusal> {
        let (services, format) = (self.server.services.clone(), self.format);
        let caller = gateway::server::caller(&self.context);
        let conversation = self.conversation();
        // Whoever waits for a language server computes nothing meanwhile.
        let work = match !tool.writes && tool.toolset != Toolset::Lsp {
            true => Work::Computes,
            false => Work::Waits,
        };
        let asked = ask_blocking(&self.server, work, move |workspace| {
            let desk = Desk {
                workspace,
                services: &services,
                caller: &caller,
                wish: Wish::in_conversation(conversation.as_deref()),
            };
            sound_answer(tool, &desk, arguments, format)
        });
        tokio::select! {
            said = asked => said,
            () = self.context.ct.cancelled() => Err(cancelled()),
        }
    }

    /// The conversation, of a client that takes references: it asks for them, or its session is in GCF, or the server was told.
    /// A client that says nothing gets everything in full.
    fn conversation(&self) -> Option<Arc<Conversation>> {
        let name = gateway::server::conversation(&self.context)?;
        let capability = self
            .context
            .client_capabilities()
            .and_then(|capabilities| capabilities.experimental)
            .and_then(|mut experimental| experimental.remove("lacon/session"));
        let wanted = match self.context.meta.0.0.get("lacon/session") {
            Some(Value::Bool(wanted)) => *wanted,
            Some(Value::String(_)) => true,
            _ => capability.is_some() || self.server.references || self.format == Format::Gcf,
        };
        wanted.then(|| self.server.services.memory.conversation(&name))
    }

    /// Says how far the index is, to a client that asked to hear it. What was told before is not told again.
    async fn tell(&self, told: &mut f64) {
        let Some(token) = self.context.meta.get_progress_token() else {
            return;
        };
        let Some((step, message)) = self.server.trees.progress() else {
            return;
        };
        let done = step.done as f64;
        if done <= *told {
            return;
        }
        *told = done;
        let mut progress = ProgressNotificationParam::new(token, done).with_message(message);
        if step.of > 0 {
            progress = progress.with_total(step.of as f64);
        }
        // A client that cannot be told is about to be gone.
        drop(self.context.peer.notify_progress(progress).await);
    }
}

fn cancelled() -> Refusal {
    refusal("cancelled", "the call was cancelled")
}

impl QuestionServer {
    fn asker(&self, format: Format, context: RequestContext<RoleServer>) -> Asker {
        Asker {
            server: self.clone(),
            format,
            context,
        }
    }

    /// What the session or the request says about the format.
    fn session_format(&self, context: &RequestContext<RoleServer>) -> Format {
        output_format(&Map::new(), context, self.format)
    }

    fn has_several(&self) -> bool {
        self.trees.count() > 1
    }
}

impl ServerHandler for QuestionServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("lacon", env!("CARGO_PKG_VERSION")))
            .with_instructions(instructions(&self.permissions))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let server = self.clone();
        // Asks the client, whose answer is read by whoever called this.
        tokio::spawn(async move { server.settle(&context.peer).await });
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        let server = self.clone();
        tokio::spawn(async move {
            server.reach.unsettle().await;
            server.settle(&context.peer).await;
        });
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let format = self.session_format(&context);
        let tools = listed(&self.permissions, self.has_several(), format);
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // One that may not be asked reads as one that does not exist.
        let Some(tool) = self.permissions.find(&request.name) else {
            let known: Vec<&str> = self.permissions.answered().map(|tool| tool.name).collect();
            let message = format!("no tool `{}`: there are {}", request.name, known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let session_format = self.session_format(&context);
        let arguments = request.arguments.unwrap_or_default();
        let refused_format = output_format(&arguments, &context, self.format);
        let said = self.asker(session_format, context).put(tool, arguments).await;
        let result = match said {
            Ok(said) => {
                // Schemas were listed, so the answer must come as a value too.
                let value = match session_format {
                    Format::Json => wire::decode(&said.text).ok().filter(Value::is_object),
                    _ => None,
                };
                let texts = std::iter::once(said.text).chain(said.note);
                let mut result = CallToolResult::success(texts.map(ContentBlock::text).collect());
                result.structured_content = value;
                result
            }
            Err(refusal) => CallToolResult::error(vec![ContentBlock::text(refused(&refusal, refused_format))]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = resources::list(&self.trees.names());
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let asker = self.asker(self.session_format(&context), context);
        let contents = resources::read(&request.uri, asker).await?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list(self.has_several())))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let asker = self.asker(self.session_format(&context), context);
        let given = request.arguments.unwrap_or_default();
        let prompt = prompts::get(&request.name, &given, self.has_several(), asker).await?;
        Ok(prompt.into())
    }

    /// Symbols for the addresses and prompts that take one, repositories for those that take one.
    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = request.argument.value.as_str();
        let values: Vec<String> = match request.argument.name.as_str() {
            "repo" => {
                let names = self.trees.names().into_iter();
                names.filter(|name| name.starts_with(begun)).collect()
            }
            "id" | "symbol" if !begun.is_empty() => {
                let arguments = Map::from_iter([("query".to_string(), json!(begun))]);
                let found = self.asker(Format::Json, context).ask("search_symbols", arguments).await;
                // Nothing to offer is no error.
                found.map(|said| ids(&said.text)).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let info = CompletionInfo::new(values).map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(info))
    }
}

/// The ids of the symbols found.
fn ids(answer: &str) -> Vec<String> {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let rows = answer["results"].as_array().into_iter().flatten();
    rows.filter_map(|row| Some(row.get("id")?.as_str()?.to_string()))
        .collect()
}
