//! What people see of a running gateway: its upstreams, the calls that passed, the catalog, how a task is routed, and what a call would
//! be told. It only looks: nothing here reaches an upstream, and neither arguments nor results are kept.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmcp::model::{CallToolResponse, ContentBlock, ErrorData};
use secrets::{Doubt, redact};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::artifacts::HeldArtifact;
use crate::browse::words::{for_each_word, is_stop_word, stem};
use crate::card::Safety;
use crate::config::Mode;
use crate::controls::UsedLimit;
use crate::dispatch::{checked, report};
use crate::errors::GatewayError;
use crate::modes::PROVENANCE;
use crate::policy::Decision;
use crate::runtime::Gateway;
use crate::session::lock;
use crate::upstream::Status;

/// Calls that are remembered.
const MOST_CALLS: usize = 500;
/// Characters of what a call was about.
const MOST_ABOUT: usize = 160;
/// Tools that are listed at once.
const MOST_TOOLS: usize = 5_000;

/// One call that was answered.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PassedCall {
    /// Counts the calls of this run, from 1.
    pub number: u64,
    /// Milliseconds since 1970 when it was answered.
    pub at: u64,
    /// Tells sessions of this run apart.
    pub session: u64,
    /// Whose token came with it; empty for nobody in particular.
    pub principal: String,
    /// What was called of `tools/list`.
    pub tool: String,
    /// The tool, resource or prompt behind it, or what was browsed for; credentials are masked.
    pub about: String,
    /// The upstream it went to; empty where it went to none.
    pub upstream: String,
    pub outcome: Outcome,
    /// The code of an error of the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
    pub milliseconds: f64,
    /// Bytes of text that were sent to the client.
    pub sent_bytes: usize,
    /// What the firewall kept aside instead of sending it.
    pub kept_aside: usize,
    pub kept_bytes: u64,
    /// Places where a credential was masked.
    pub masked: usize,
    /// Arguments that were set right before they left.
    pub repaired: usize,
    /// Answered from what the session was answered before.
    pub cached: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    #[default]
    Answered,
    /// The upstream answered with an error.
    Failed,
    /// The gateway answered with an error.
    Refused,
    /// The client has to bring something first.
    Asked,
}

/// The newest calls.
#[derive(Debug, Default)]
pub(crate) struct CallLog {
    passed: Mutex<Passed>,
}

#[derive(Debug, Default)]
struct Passed {
    count: u64,
    newest: VecDeque<PassedCall>,
}

impl CallLog {
    pub(crate) fn note(&self, mut call: PassedCall) {
        let mut passed = lock(&self.passed);
        passed.count += 1;
        call.number = passed.count;
        if passed.newest.len() >= MOST_CALLS {
            passed.newest.pop_front();
        }
        passed.newest.push_back(call);
    }
}

/// What a call was about: an id as it came, with nothing in it that is a credential.
pub(crate) fn about(text: &str) -> String {
    let line: String = text.chars().take(MOST_ABOUT).collect();
    redact(&line, Doubt::Mask).into_owned()
}

/// What became of a call.
pub(crate) fn passed(
    answered: &Result<CallToolResponse, ErrorData>,
    refused: Option<&GatewayError>,
    took: Duration,
) -> PassedCall {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut call = PassedCall {
        at: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        milliseconds: (took.as_secs_f64() * 1e5).round() / 100.0,
        ..PassedCall::default()
    };
    let result = match answered {
        Ok(CallToolResponse::Complete(result)) => result,
        Ok(_) => {
            call.outcome = Outcome::Asked;
            return call;
        }
        Err(_) => {
            call.outcome = Outcome::Refused;
            return call;
        }
    };
    call.error = refused.map(|error| error.code.as_str());
    call.outcome = match (refused, result.is_error) {
        (Some(_), _) => Outcome::Refused,
        (None, Some(true)) => Outcome::Failed,
        (None, _) => Outcome::Answered,
    };
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    for text in texts {
        call.sent_bytes += text.len();
        call.masked += secrets::masks_in(text).count();
    }
    let provenance = result.meta.as_ref().and_then(|meta| meta.0.get(PROVENANCE));
    if let Some(provenance) = provenance {
        let count = |key: &str| provenance[key].as_array().map_or(0, Vec::len);
        call.kept_aside = count("artifacts");
        call.repaired = count("arg_repairs");
        call.cached = provenance["cache_hit"] == true;
        let kept = provenance["artifacts"].as_array().into_iter().flatten();
        call.kept_bytes = kept.filter_map(|kept| kept["size_bytes"].as_u64()).sum();
    }
    call
}

/// How the gateway is doing.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    pub mode: Mode,
    pub upstreams: Vec<SeenUpstream>,
    pub sessions: Vec<SeenSession>,
    /// Calls of this run that were answered.
    pub calls: u64,
}

/// One upstream.
#[derive(Clone, Debug, Serialize)]
pub struct SeenUpstream {
    pub name: String,
    pub state: &'static str,
    /// Why it is down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    pub required: bool,
    pub tools: usize,
    pub resources: usize,
    pub prompts: usize,
    /// Requests that were sent to it, and those that it did not answer.
    pub calls: u64,
    pub failures: u64,
    /// Of its newest calls: how many, the median and the 95th percentile in milliseconds.
    pub measured: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_ms: Option<f64>,
}

/// One session.
#[derive(Clone, Debug, Serialize)]
pub struct SeenSession {
    pub id: u64,
    pub principal: String,
    pub age_seconds: u64,
    pub idle_seconds: u64,
    /// What was kept aside for it; its handles are its own.
    pub artifacts: Vec<HeldArtifact>,
    pub limits: Vec<UsedLimit>,
}

/// One tool of the catalog.
#[derive(Clone, Debug, Serialize)]
pub struct SeenTool {
    pub id: String,
    pub name: String,
    pub description: String,
    pub namespace: String,
    pub server: String,
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Safety::is_unknown")]
    pub safety: Safety,
    pub approval: bool,
    pub card_tokens: usize,
}

/// A tool that a task leads to.
#[derive(Clone, Debug, Serialize)]
pub struct Routed {
    pub id: String,
    pub server: String,
    pub score: f64,
    /// The line that an agent sees.
    pub card: String,
    /// Words of the task, each with the parts of the tool that have it. What has none was found by related words, or by meaning.
    pub because: BTreeMap<String, Vec<&'static str>>,
}

impl Gateway {
    /// How upstreams and sessions are doing.
    pub fn overview(&self) -> Overview {
        let view = self.view();
        let passed = lock(&view.calls.passed);
        let mut took: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for call in passed
            .newest
            .iter()
            .filter(|call| !call.upstream.is_empty() && !call.cached)
        {
            took.entry(&call.upstream).or_default().push(call.milliseconds);
        }
        for times in took.values_mut() {
            times.sort_by(f64::total_cmp);
        }
        let at = |times: &[f64], share: f64| {
            times
                .get(((times.len() as f64 - 1.0) * share).round() as usize)
                .copied()
        };
        let upstreams = self.status().into_iter().map(|upstream| {
            let times = took.get(upstream.name.as_str()).map(Vec::as_slice).unwrap_or_default();
            let (state, reason) = match upstream.health.status {
                Status::Connecting => ("connecting", None),
                Status::Ready => ("ready", None),
                Status::Refusing => ("pausing", None),
                Status::Down { reason } => ("down", Some(redact(&reason, Doubt::Mask).into_owned())),
                Status::Stopped => ("stopped", None),
            };
            SeenUpstream {
                state,
                reason,
                protocol: upstream.health.protocol,
                required: upstream.required,
                tools: upstream.tools,
                resources: upstream.resources,
                prompts: upstream.prompts,
                calls: upstream.health.calls,
                failures: upstream.health.failures,
                measured: times.len(),
                median_ms: at(times, 0.5),
                slow_ms: at(times, 0.95),
                name: upstream.name,
            }
        });
        Overview {
            mode: view.config.mode,
            upstreams: upstreams.collect(),
            sessions: self.sessions().iter().map(|session| session.seen()).collect(),
            calls: passed.count,
        }
    }

    /// The newest calls after a number, oldest first.
    pub fn calls_after(&self, number: u64) -> Vec<PassedCall> {
        let view = self.view();
        let passed = lock(&view.calls.passed);
        passed
            .newest
            .iter()
            .filter(|call| call.number > number)
            .cloned()
            .collect()
    }

    /// The tools that sessions reach, by id, and how many there are.
    pub fn tools(&self) -> (Vec<SeenTool>, usize) {
        let view = self.view();
        let entries = view.catalog.tools().entries();
        let tools = entries.iter().take(MOST_TOOLS).map(|entry| {
            let card = entry.card(view.config.browse.card_tokens);
            let tool = view.catalog.tool(&entry.id).ok();
            SeenTool {
                id: entry.id.clone(),
                name: entry.name.clone(),
                description: card.description.clone(),
                namespace: entry.namespace.clone(),
                server: entry.server.clone(),
                tags: entry.tags.clone(),
                safety: card.safety,
                approval: tool.is_some_and(|tool| matches!(tool.decision, Decision::RequireApproval { .. })),
                card_tokens: card.tokens(),
            }
        });
        (tools.collect(), entries.len())
    }

    /// Where a task leads, best first, and why; and how many tools match it at all.
    pub fn route(&self, task: &str, top_k: usize) -> (Vec<Routed>, usize) {
        let view = self.view();
        let shelf = view.catalog.tools();
        let answer = shelf.query(task, top_k);
        let wanted = stems(task);
        let routed = answer.cards.into_iter().map(|card| {
            let entry = shelf.get(&card.id);
            let mut because: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
            if let Some(entry) = entry {
                let parts = [
                    ("name", stems(&entry.name)),
                    ("title", stems(&entry.title)),
                    ("description", stems(&entry.description)),
                    ("tags", stems(&entry.tags.join(" "))),
                    ("server", stems(&entry.server)),
                ];
                for (stem, word) in &wanted {
                    let having: Vec<&'static str> = parts
                        .iter()
                        .filter(|(_, stems)| stems.contains_key(stem))
                        .map(|(part, _)| *part)
                        .collect();
                    if !having.is_empty() {
                        because.insert(word.clone(), having);
                    }
                }
            }
            Routed {
                server: entry.map_or(String::new(), |entry| entry.server.clone()),
                score: card.score.unwrap_or_default(),
                card: card.line(),
                id: card.id,
                because,
            }
        });
        (routed.collect(), answer.total)
    }

    /// The definition of a tool as its upstream gave it, under its id.
    pub fn definition(&self, tool_id: &str) -> Result<Value, GatewayError> {
        Ok(self.view().tool(tool_id)?.hydrate())
    }

    /// What a call with these arguments would be told before anything leaves: what a dry run says, what was set right, and the
    /// arguments as they would be sent. No quota is asked, for this is nobody's session.
    pub fn examine(&self, tool_id: &str, arguments: Value) -> Result<Value, GatewayError> {
        let view = self.view();
        let tool = view.tool(tool_id)?;
        let (arguments, repairs) = checked(&view, tool, arguments)?;
        let mut said = match report(tool) {
            Value::Object(said) => said,
            _ => Map::new(),
        };
        if let Some(Value::Array(checks)) = said.get_mut("checks") {
            checks.retain(|check| check["name"] != "rate_limit");
        }
        said.insert("arguments".to_owned(), Value::Object(arguments));
        said.insert("repairs".to_owned(), json!(repairs));
        Ok(Value::Object(said))
    }
}

/// The stems of a text, each with the word it was found in.
fn stems(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for_each_word(text, &mut String::new(), |word| {
        if !is_stop_word(word) {
            found.entry(stem(word).to_owned()).or_insert_with(|| word.to_owned());
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_calls_are_kept_and_each_has_its_number() {
        let log = CallLog::default();
        for _ in 0..MOST_CALLS + 3 {
            log.note(PassedCall::default());
        }
        let passed = lock(&log.passed);
        assert_eq!(passed.newest.len(), MOST_CALLS);
        assert_eq!(passed.newest.front().unwrap().number, 4);
        assert_eq!(passed.count, MOST_CALLS as u64 + 3);
    }

    #[test]
    fn what_a_call_was_about_holds_no_credential() {
        let said = about("look up AKIAQ3EXAMPLEKEYS7ZZ please");
        assert!(!said.contains("AKIAQ3EXAMPLEKEYS7ZZ"), "{said}");
        assert_eq!(about(&"x".repeat(1000)).len(), MOST_ABOUT);
    }
}
