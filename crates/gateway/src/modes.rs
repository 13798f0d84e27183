//! How upstream tools are shown to a client: three meta-tools ([`gateway`]), stripped entries ([`proxy`]), or as they are
//! ([`passthrough`]). Each mode is two questions: what is listed, and what a call does.

pub(crate) mod gateway;
pub(crate) mod passthrough;
pub(crate) mod proxy;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData, MetaObject, Tool};
use serde_json::{Map, Value, json};
use wire::Format;
use wire::layout::Layout;
use wire::tokens::Tokenizer;

use crate::catalog::Catalog;
use crate::config::Mode;
use crate::dispatch::caller::Caller;
use crate::dispatch::{Delivery, Executed};
use crate::errors::{ErrorCode, GatewayError};
use crate::firewall::{Firewall, Shaped, Structured, Volume};
use crate::identity::hash8;
use crate::observe::{self, PassedCall};
use crate::runtime::View;
use crate::session::{Session, lock};

/// Where Lacon says in a result's `_meta` what it did to it. Clients keep `_meta` from the model, so it costs no tokens.
pub(crate) const PROVENANCE: &str = "lacon/provenance";

/// One `tools/call`.
pub(crate) struct Call<'a> {
    pub(crate) view: Arc<View>,
    pub(crate) session: &'a Session,
    pub(crate) caller: &'a Caller,
    pub(crate) format: Format,
    pub(crate) name: &'a str,
    pub(crate) arguments: Map<String, Value>,
}

/// What `tools/list` shows.
pub(crate) fn list(view: &View) -> Vec<Tool> {
    match view.config.mode {
        Mode::Gateway => gateway::list(view),
        Mode::Proxy => proxy::list(view),
        Mode::Passthrough => passthrough::list(view),
    }
}

/// Answers a `tools/call`. What the model can act on is a result marked as error; the rest is a protocol error.
pub(crate) async fn call(call: Call<'_>) -> Result<CallToolResponse, ErrorData> {
    let began = Instant::now();
    let answered = match call.view.config.mode {
        Mode::Gateway => gateway::call(&call).await,
        Mode::Proxy => proxy::call(&call).await,
        Mode::Passthrough => passthrough::call(&call).await,
    };
    let (response, refused) = match answered {
        Ok(response) => (Ok(response), None),
        Err(Refusal::NoSuchTool) => {
            let unknown = ErrorData::invalid_params(format!("unknown tool: {}", call.name), None);
            (Err(unknown), None)
        }
        Err(Refusal::Error(error)) => (Ok(error_result(&error).into()), Some(error)),
    };
    call.view.calls.note(PassedCall {
        session: call.session.id,
        principal: call.session.principal().name().to_owned(),
        tool: observe::about(call.name),
        about: call.target().map(observe::about).unwrap_or_default(),
        upstream: call.upstream().unwrap_or_default(),
        ..observe::passed(&response, refused.as_ref(), began.elapsed())
    });
    response
}

/// Why a call gave no result.
pub(crate) enum Refusal {
    /// There is no tool of that name in `tools/list`: the client's mistake, not the model's.
    NoSuchTool,
    Error(GatewayError),
}

impl From<GatewayError> for Refusal {
    fn from(error: GatewayError) -> Refusal {
        Refusal::Error(error)
    }
}

impl Call<'_> {
    /// What it is about, as far as that is a name: an id, a task, a path.
    fn target(&self) -> Option<&str> {
        let text = |key: &str| self.arguments.get(key).and_then(Value::as_str);
        match self.name {
            "tool_execute" => text("tool_id"),
            "resource_read" => text("resource_id"),
            "prompt_get" => text("prompt_id"),
            "tool_browse" | "resource_browse" | "prompt_browse" => text("query").or_else(|| text("path")),
            "tool_view" => None,
            name => self.view.names.id(name),
        }
    }

    /// The upstream that it goes to.
    fn upstream(&self) -> Option<String> {
        let (catalog, target) = (&self.view.catalog, self.target()?);
        match self.name {
            "resource_read" => catalog.resource(target).ok().map(|item| item.spec.server.clone()),
            "prompt_get" => catalog.prompt(target).ok().map(|item| item.spec.server.clone()),
            "tool_view" | "tool_browse" | "resource_browse" | "prompt_browse" => None,
            _ => self.view.tool(target).ok().map(|tool| tool.spec.server.clone()),
        }
    }

    /// Says a value in the session's format.
    fn say(&self, value: &Value) -> String {
        encode(value, self.format)
    }

    fn text_argument(&self, key: &str) -> Result<&str, GatewayError> {
        let missing = || GatewayError::new(ErrorCode::ArgsInvalid, format!("`{key}` must be a string"));
        self.arguments.get(key).and_then(Value::as_str).ok_or_else(missing)
    }

    /// Shapes what an execution gave.
    fn finish(&self, executed: Executed, volume: Volume, structured: Structured) -> CallToolResponse {
        match executed {
            Executed::InputRequired(required) => CallToolResponse::InputRequired(required),
            Executed::DryRun(report) => CallToolResult::success(vec![ContentBlock::text(report.to_string())]).into(),
            Executed::Delivered(delivery) => {
                let Delivery {
                    raw,
                    repairs,
                    cache_hit,
                } = delivery;
                let shaped = self.shape(raw, volume, structured);
                let mut provenance = Map::new();
                if !repairs.is_empty() {
                    provenance.insert("arg_repairs".into(), Value::Array(repairs));
                }
                if cache_hit {
                    provenance.insert("cache_hit".into(), Value::Bool(true));
                }
                result(shaped, provenance).into()
            }
        }
    }

    fn shape(&self, raw: crate::firewall::Raw, volume: Volume, structured: Structured) -> Shaped {
        let encode = |value: &Value| self.say(value);
        let resource_id = |uri: &str| match volume {
            Volume::Digest => self.view.resource_id(uri),
            Volume::Whole => None,
        };
        let config = &self.view.config.firewall;
        let firewall = Firewall {
            config,
            encode: &encode,
            volume,
            structured,
            resource_id: &resource_id,
        };
        firewall.shape(raw, &mut lock(&self.session.artifacts))
    }
}

/// Says a value in a format. Never fails: what a format cannot carry is said in JSON.
pub(crate) fn encode(value: &Value, format: Format) -> String {
    static LAYOUT: Layout = Layout::generic("tool_execute");
    match wire::encode(value, &LAYOUT, format, Tokenizer::default()) {
        Ok(encoded) => encoded.text,
        Err(_) => value.to_string(),
    }
}

fn result(shaped: Shaped, mut provenance: Map<String, Value>) -> CallToolResult {
    let mut result = CallToolResult::success(shaped.content);
    result.is_error = shaped.is_error.then_some(true);
    result.structured_content = shaped.structured;
    if !shaped.artifacts.is_empty() {
        let artifacts = shaped.artifacts.iter().map(|kept| kept.to_json()).collect();
        provenance.insert("artifacts".into(), Value::Array(artifacts));
    }
    if !provenance.is_empty() {
        let fields = Map::from_iter([(PROVENANCE.to_owned(), Value::Object(provenance))]);
        result.meta = Some(MetaObject(fields));
    }
    result
}

/// An error as a result the model reads.
pub(crate) fn error_result(error: &GatewayError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.to_json().to_string())])
}

/// A definition as the SDK's type.
fn tool(definition: Value) -> Option<Tool> {
    serde_json::from_value(definition)
        .inspect_err(|error| tracing::warn!(%error, "a tool cannot be listed"))
        .ok()
}

/// The names `tools/list` shows in the modes that show upstream tools, and the ids behind them.
#[derive(Debug, Default)]
pub(crate) struct ShownNames {
    ids: HashMap<String, String>,
    /// In the order they are listed.
    listed: Vec<(String, String)>,
}

/// Clients and model APIs accept no longer names.
const LONGEST_NAME: usize = 64;

impl ShownNames {
    pub(crate) fn new(mode: Mode, catalog: &Catalog) -> ShownNames {
        let mut names = ShownNames::default();
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for entry in catalog.tools().entries() {
            let wanted = match mode {
                Mode::Gateway => return names,
                Mode::Proxy => strict_name(&entry.id),
                Mode::Passthrough => entry.name.clone(),
            };
            let name = match taken.contains_key(&wanted) {
                false => wanted,
                // Two servers with a tool of one name: the later one carries its namespace.
                true => strict_name(&format!("{}_{}", entry.namespace, entry.name)),
            };
            let count = taken.entry(name.clone()).or_default();
            *count += 1;
            let name = if *count > 1 {
                strict_name(&format!("{name}_{count}"))
            } else {
                name
            };
            names.ids.insert(name.clone(), entry.id.clone());
            names.listed.push((name, entry.id.clone()));
        }
        names
    }

    /// The id behind a shown name.
    pub(crate) fn id(&self, name: &str) -> Option<&str> {
        self.ids.get(name).map(String::as_str)
    }

    /// Names and ids as listed.
    pub(crate) fn listed(&self) -> &[(String, String)] {
        &self.listed
    }
}

/// A name that every client accepts: letters, digits, `_` and `-`, at most 64. A cut one ends in a hash of the whole.
fn strict_name(text: &str) -> String {
    let name: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '-'
            }
        })
        .collect();
    if name.len() <= LONGEST_NAME {
        return name;
    }
    format!("{}-{}", &name[..LONGEST_NAME - 9], hash8(text, ""))
}

/// The stub schema of a stripped entry.
fn sentinel_schema() -> Value {
    json!({"type": "object"})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_names_are_accepted_everywhere() {
        assert_eq!(
            strict_name("github:create_issue#ab12cd34"),
            "github-create_issue-ab12cd34"
        );
        assert_eq!(strict_name("weather:get@2024.05"), "weather-get-2024-05");
        let long = strict_name(&format!("ns:{}#ab12cd34", "x".repeat(120)));
        assert_eq!(long.len(), LONGEST_NAME);
        assert_ne!(long, strict_name(&format!("ns:{}#ab12cd35", "x".repeat(120))));
        assert!(strict_name("ns:é").is_ascii());
    }
}
