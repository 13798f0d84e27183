//! `tool_execute` from the id to the result: hydrate, check the arguments, ask the policy, then the controls in their fixed
//! order: quota → dry run → cache → dispatch with retry → cache store.
//!
//! Invariant: nothing leaves for an upstream before hydration, validation, policy and quota have all agreed.

pub(crate) mod cache;
pub(crate) mod caller;
mod drive;
mod failure;

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ElicitRequest, ElicitRequestParams, ElicitationAction,
    GetPromptRequest, GetPromptRequestParams, InputRequest, InputRequiredResult, InputResponses, ReadResourceRequest,
    ReadResourceRequestParams, ServerResult,
};
use serde_json::{Map, Value, json};

use crate::catalog::Tool;
use crate::controls::{Counting, MetaTool, Quota, cache_key};
use crate::errors::{ErrorCode, GatewayError};
use crate::firewall::Raw;
use crate::policy::Decision;
use crate::runtime::View;
use crate::schema::normalize_arguments;
use crate::session::{Session, lock};
use crate::upstream::Upstream;
use caller::{Asking, Caller};
pub(crate) use drive::Driven;
pub(crate) use drive::Parked;
use drive::{Errand, Resume};
pub(crate) use failure::error as upstream_error;

/// The key under which approval is asked for.
const APPROVAL: &str = "approve";
const APPROVED: &str = "lacon/approved;";
/// Results larger than this are not cached: they would crowd out everything else.
const LARGEST_CACHED: usize = 1 << 20;

/// What a call gave, before it is shaped.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) raw: Raw,
    pub(crate) repairs: Vec<Value>,
    pub(crate) cache_hit: bool,
}

/// How `tool_execute` ends.
pub(crate) enum Executed {
    Delivered(Delivery),
    /// A report instead of a call.
    DryRun(Value),
    InputRequired(InputRequiredResult),
}

/// One call of a tool.
pub(crate) struct Execution<'a> {
    pub(crate) view: &'a View,
    pub(crate) session: &'a Session,
    pub(crate) caller: &'a Caller,
}

impl Execution<'_> {
    /// Executes `tool_id`. `arguments` is what the client sent, an object or a string that holds one.
    pub(crate) async fn tool(&self, tool_id: &str, arguments: Value, dry_run: bool) -> Result<Executed, GatewayError> {
        // A tool the policy denies is not in the catalog: it reads as unknown, so a caller cannot probe for it.
        let tool = self.view.tool(tool_id)?;
        let tool_id = tool.id();
        let (arguments, repairs) = checked(self.view, tool, arguments)?;
        let counting = if dry_run { Counting::Peek } else { Counting::Consume };
        // A client that comes back with answers continues a call that was counted.
        if self.caller.state.is_none() {
            self.quota(MetaTool::ToolExecute, Some(tool_id), counting)?;
        }
        if dry_run {
            return Ok(Executed::DryRun(report(tool)));
        }
        let key = self
            .cacheable(tool)
            .then(|| cache_key(tool_id, &Value::Object(arguments.clone())));
        if let Some(key) = &key
            && let Some(hit) = lock(&self.session.cache).get(Instant::now(), self.view.generation, key)
        {
            return Ok(Executed::Delivered(Delivery {
                cache_hit: true,
                ..Delivery::clone(&hit)
            }));
        }
        let (approved, state) = match self
            .caller
            .state
            .as_deref()
            .map(|state| (state.strip_prefix(APPROVED), state))
        {
            Some((Some(rest), _)) => (true, Some(rest)),
            Some((None, state)) => (false, Some(state)),
            None => (false, None),
        };
        if let Decision::RequireApproval { reason } = &tool.decision
            && !approved
            && let Some(required) = self.approval(tool, reason.as_deref()).await?
        {
            return Ok(Executed::InputRequired(required));
        }
        let upstream = self.view.upstream(&tool.spec.server)?;
        let name = tool.upstream_name().to_owned();
        let request = |responses: Option<InputResponses>, state: Option<String>| {
            let mut params = CallToolRequestParams::new(name.clone()).with_arguments(arguments.clone());
            params.input_responses = responses;
            params.request_state = state;
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        let resume = Resume::from_state(state.filter(|state| !state.is_empty()));
        match self.retried(upstream, &request, resume).await? {
            Driven::InputRequired(mut required) => {
                if matches!(tool.decision, Decision::RequireApproval { .. }) {
                    required.request_state = required.request_state.map(|state| format!("{APPROVED}{state}"));
                }
                Ok(Executed::InputRequired(required))
            }
            Driven::Done(result) => {
                let raw = tool_result(result.map_err(failure::error)?)?;
                let delivery = Delivery {
                    raw,
                    repairs,
                    cache_hit: false,
                };
                if let Some(key) = key
                    && !delivery.raw.is_error
                    && delivery.raw.bytes() <= LARGEST_CACHED
                {
                    lock(&self.session.cache).put(Instant::now(), self.view.generation, key, delivery.clone());
                }
                Ok(Executed::Delivered(delivery))
            }
        }
    }

    /// Reads a resource of an upstream.
    pub(crate) async fn resource(&self, server: &str, uri: &str) -> Result<Driven, GatewayError> {
        let upstream = self.view.upstream(server)?;
        let request = |responses: Option<InputResponses>, state: Option<String>| {
            let mut params = ReadResourceRequestParams::new(uri);
            params.input_responses = responses;
            params.request_state = state;
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        self.retried(upstream, &request, Resume::from_state(self.caller.state.as_deref()))
            .await
    }

    /// Gets a prompt of an upstream.
    pub(crate) async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Driven, GatewayError> {
        let upstream = self.view.upstream(server)?;
        let request = |responses: Option<InputResponses>, state: Option<String>| {
            let mut params = GetPromptRequestParams::new(name);
            params.arguments = Some(arguments.clone());
            params.input_responses = responses;
            params.request_state = state;
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        self.retried(upstream, &request, Resume::from_state(self.caller.state.as_deref()))
            .await
    }

    /// Fails when a limit is reached.
    pub(crate) fn quota(
        &self,
        meta_tool: MetaTool,
        tool_id: Option<&str>,
        counting: Counting,
    ) -> Result<(), GatewayError> {
        let now = self.session.clock();
        match lock(&self.session.quota).check(now, meta_tool, tool_id, counting) {
            Quota::Allowed => Ok(()),
            Quota::Exceeded { scope, retry_after } => {
                let error = GatewayError::new(ErrorCode::RateLimited, format!("the limit {scope} is reached"));
                let error = error.with_detail("scope", scope);
                Err(match retry_after {
                    Some(seconds) => error.with_detail("retry_after", (seconds * 100.0).round() / 100.0),
                    None => error,
                })
            }
        }
    }

    /// Sends the request, again after failures that the policy calls transient.
    async fn retried(
        &self,
        upstream: &Arc<Upstream>,
        request: &(dyn Fn(Option<InputResponses>, Option<String>) -> ClientRequest + Send + Sync),
        mut resume: Resume,
    ) -> Result<Driven, GatewayError> {
        let errand = Errand {
            upstream,
            session: self.session,
            caller: self.caller,
            request,
        };
        let retry = &self.view.config.retry;
        let mut attempts = 0;
        loop {
            let driven = errand.run(resume.clone()).await;
            attempts += 1;
            let Driven::Done(Err(failed)) = driven else {
                return Ok(driven);
            };
            let error = failure::error(failed);
            if !retry.retries(error.code, attempts) {
                tracing::debug!(upstream = upstream.name(), attempts, %error, "call failed");
                return Err(if attempts > 1 {
                    error.with_detail("attempts", attempts)
                } else {
                    error
                });
            }
            let pause = Duration::try_from_secs_f64(retry.delay(attempts - 1, random())).unwrap_or_default();
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.caller.gave_up() => return Err(error),
            }
            resume = Resume::Fresh;
        }
    }

    fn cacheable(&self, tool: &Tool) -> bool {
        let cache = &self.view.config.cache;
        let listed = cache
            .allow
            .as_ref()
            .is_none_or(|allow| allow.iter().any(|id| id == tool.id()));
        cache.read_only && listed && tool.spec.annotations.read_only == Some(true)
    }

    /// Asks the user whether the call may go ahead. `Some` when a stateless client must come back with the answer.
    async fn approval(&self, tool: &Tool, reason: Option<&str>) -> Result<Option<InputRequiredResult>, GatewayError> {
        let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        let message = format!("Allow a call of {}{reason}?", tool.id());
        let answer = match self.caller.asking() {
            Asking::Never => {
                let message = "this tool needs a person's approval, and the client cannot ask for it";
                return Err(GatewayError::new(ErrorCode::PermissionDenied, message));
            }
            Asking::Now => Some(self.caller.ask(question(message.clone())?).await),
            Asking::ByReturn => self.caller.response(APPROVAL),
        };
        match answer {
            None => {
                let request = InputRequest::Elicitation(ElicitRequest::new(question(message)?));
                let requests = [(APPROVAL.to_owned(), request)].into_iter().collect();
                Ok(Some(InputRequiredResult::new(
                    Some(requests),
                    Some("lacon/approval".to_owned()),
                )))
            }
            Some(answer) => {
                let agreed = answer
                    .content
                    .as_ref()
                    .and_then(|content| content.get(APPROVAL))
                    .and_then(Value::as_bool);
                if answer.action == ElicitationAction::Accept && agreed != Some(false) {
                    Ok(None)
                } else {
                    Err(GatewayError::new(
                        ErrorCode::PermissionDenied,
                        "the user did not approve this call",
                    ))
                }
            }
        }
    }
}

fn question(message: String) -> Result<ElicitRequestParams, GatewayError> {
    let params = json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {APPROVAL: {"type": "boolean", "title": "Approve", "default": false}},
            "required": [APPROVAL],
        },
    });
    serde_json::from_value(params)
        .map_err(|error| GatewayError::new(ErrorCode::PermissionDenied, format!("cannot ask for approval: {error}")))
}

/// The arguments as they may leave, with what was repaired. A single wrong one and nothing leaves.
pub(crate) fn checked(
    view: &View,
    tool: &Tool,
    arguments: Value,
) -> Result<(Map<String, Value>, Vec<Value>), GatewayError> {
    let (mut arguments, repairs) = match view.config.execute.tolerant_args {
        true => normalize_arguments(arguments, tool.spec.input_schema.as_ref()),
        false => (arguments, Vec::new()),
    };
    if let Value::Object(arguments) = &mut arguments {
        view.upstream(&tool.spec.server)?.spell(tool.upstream_name(), arguments);
    }
    tool.check_arguments(&arguments)?;
    let Value::Object(arguments) = arguments else {
        return Err(GatewayError::new(ErrorCode::ArgsInvalid, "`args` must be an object"));
    };
    let repairs = repairs
        .iter()
        .map(|repair| json!({"path": repair.path, "rule": repair.rule}))
        .collect();
    Ok((arguments, repairs))
}

/// The dry-run report: what would have been called, and which checks agreed.
pub(crate) fn report(tool: &Tool) -> Value {
    let mut annotations = tool.spec.annotations.raw.clone();
    annotations.insert("verified".into(), Value::Bool(false));
    let mut checks = vec![
        json!({"name": "schema_validation", "status": "pass"}),
        json!({"name": "rate_limit", "status": "pass"}),
    ];
    if matches!(tool.decision, Decision::RequireApproval { .. }) {
        checks.push(json!({"name": "approval", "status": "required"}));
    }
    json!({
        "dry_run": true,
        "tool_id": tool.id(),
        "upstream_name": tool.upstream_name(),
        "args_valid": true,
        "annotations": annotations,
        "checks": checks,
    })
}

/// The content of a tool's result, also where the SDK could not type it (one unknown content block is enough).
fn tool_result(result: ServerResult) -> Result<Raw, GatewayError> {
    match result {
        ServerResult::CallToolResult(result) => Ok(Raw {
            content: result.content,
            structured: result.structured_content,
            is_error: result.is_error.unwrap_or(false),
        }),
        other => {
            let value = serde_json::to_value(&other).unwrap_or_default();
            let Some(blocks) = value.get("content").and_then(Value::as_array) else {
                return Err(GatewayError::new(
                    ErrorCode::UpstreamError,
                    "the upstream's answer is not a tool result",
                ));
            };
            let block = |block: &Value| {
                serde_json::from_value(block.clone())
                    .unwrap_or_else(|_| rmcp::model::ContentBlock::text(block.to_string()))
            };
            Ok(Raw {
                content: blocks.iter().map(block).collect(),
                structured: value.get("structuredContent").cloned(),
                is_error: value.get("isError").and_then(Value::as_bool).unwrap_or(false),
            })
        }
    }
}

/// A number in 0..1 for jitter.
fn random() -> f64 {
    let mut bytes = [0; 4];
    // Jitter without randomness is no jitter, and nothing worse.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
}
