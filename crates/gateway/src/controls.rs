//! The dispatch controls as plain arithmetic: back-off delays, call quotas and cache keys. Time is an argument, so each
//! of them can be tested without waiting.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::errors::ErrorCode;
use crate::identity::canonical_json;

/// How a transient upstream failure is tried again. One attempt, the default, means never.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// Attempts in all, the first included.
    #[schemars(range(min = 1, max = 20))]
    pub max_attempts: u32,
    /// Seconds before the second attempt; each further delay doubles.
    #[schemars(range(min = 0))]
    pub base_delay: f64,
    /// Longest delay, in seconds.
    #[schemars(range(min = 0))]
    pub max_delay: f64,
    /// Share of the delay that is random, 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub jitter: f64,
    /// Codes worth another attempt.
    pub retryable_codes: Vec<ErrorCode>,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy {
            max_attempts: 1,
            base_delay: 0.1,
            max_delay: 5.0,
            jitter: 0.0,
            retryable_codes: vec![ErrorCode::UpstreamTimeout, ErrorCode::UpstreamUnavailable],
        }
    }
}

impl RetryPolicy {
    /// Why the policy makes no sense, if it does not.
    pub fn problem(&self) -> Option<&'static str> {
        let finite = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
        if self.max_attempts < 1 {
            Some("retry.max_attempts must be at least 1")
        } else if !finite(self.base_delay) || !finite(self.max_delay) {
            Some("retry delays must be finite and not negative")
        } else if !(0.0..=1.0).contains(&self.jitter) {
            Some("retry.jitter must be between 0 and 1")
        } else {
            None
        }
    }

    pub fn retries(&self, code: ErrorCode, attempts_made: u32) -> bool {
        attempts_made < self.max_attempts && self.retryable_codes.contains(&code)
    }

    /// Seconds to wait after attempt `attempt_index` (from 0). `random` is in 0..1 and matters only with jitter.
    pub fn delay(&self, attempt_index: u32, random: f64) -> f64 {
        let doubled = self.base_delay * 2f64.powi(attempt_index.min(64) as i32);
        doubled.min(self.max_delay) * (1.0 - self.jitter * random)
    }
}

/// Quotas of one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    /// Calls of `tool_browse`.
    pub tool_browse: Option<CallLimit>,
    /// Calls of `tool_execute`, whatever the tool.
    pub tool_execute: Option<CallLimit>,
    /// Calls of `tool_view`.
    pub tool_view: Option<CallLimit>,
    /// By tool id.
    pub per_tool: BTreeMap<String, CallLimit>,
}

/// How many calls are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CallLimit {
    /// In any 60 seconds.
    pub max_calls_per_minute: Option<u32>,
    /// In the life of a session.
    pub max_calls_per_session: Option<u32>,
}

/// Which of the gateway's own tools is being called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MetaTool {
    ToolBrowse,
    ToolExecute,
    ToolView,
}

impl MetaTool {
    pub fn as_str(self) -> &'static str {
        match self {
            MetaTool::ToolBrowse => "tool_browse",
            MetaTool::ToolExecute => "tool_execute",
            MetaTool::ToolView => "tool_view",
        }
    }
}

/// Whether a call is within its quota.
#[derive(Clone, Debug, PartialEq)]
pub enum Quota {
    Allowed,
    Exceeded {
        /// Which limit: `tool_execute/minute`, `tool:<id>/session`.
        scope: String,
        /// Seconds until the same call is allowed; `None` when it never will be in this session.
        retry_after: Option<f64>,
    },
}

/// Whether an allowed call is counted. A dry run asks without using anything up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    Consume,
    Peek,
}

/// How much of a limit is used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UsedLimit {
    /// As in [`Quota::Exceeded`].
    pub scope: String,
    pub used: u32,
    pub most: u32,
}

/// Counts the calls of one session.
#[derive(Clone, Debug, Default)]
pub struct RateLimiter {
    limits: RateLimits,
    counters: BTreeMap<String, Counter>,
}

#[derive(Clone, Debug, Default)]
struct Counter {
    session_calls: u32,
    recent: VecDeque<f64>,
}

const WINDOW_SECONDS: f64 = 60.0;

impl RateLimiter {
    pub fn new(limits: RateLimits) -> RateLimiter {
        RateLimiter {
            limits,
            counters: BTreeMap::new(),
        }
    }

    /// Checks a call at `now` (seconds on any steady clock) and counts it when every limit allows it.
    pub fn check(&mut self, now: f64, meta_tool: MetaTool, tool_id: Option<&str>, counting: Counting) -> Quota {
        let own = match meta_tool {
            MetaTool::ToolBrowse => self.limits.tool_browse,
            MetaTool::ToolExecute => self.limits.tool_execute,
            MetaTool::ToolView => self.limits.tool_view,
        };
        let mut scopes: Vec<(String, CallLimit)> = Vec::with_capacity(2);
        scopes.extend(own.map(|limit| (meta_tool.as_str().to_owned(), limit)));
        scopes.extend(tool_id.and_then(|id| self.limits.per_tool.get(id).map(|limit| (format!("tool:{id}"), *limit))));
        for (scope, limit) in &scopes {
            let counter = self.counters.entry(scope.clone()).or_default();
            if let Some(exceeded) = counter.exceeded(now, scope, *limit) {
                return exceeded;
            }
        }
        if counting == Counting::Consume {
            for (scope, limit) in &scopes {
                let counter = self.counters.entry(scope.clone()).or_default();
                counter.session_calls = counter.session_calls.saturating_add(1);
                if limit.max_calls_per_minute.is_some() {
                    counter.recent.push_back(now);
                }
            }
        }
        Quota::Allowed
    }

    /// How much of each limit is used up at `now`.
    pub fn used(&self, now: f64) -> Vec<UsedLimit> {
        let own = [
            (MetaTool::ToolBrowse, self.limits.tool_browse),
            (MetaTool::ToolExecute, self.limits.tool_execute),
            (MetaTool::ToolView, self.limits.tool_view),
        ];
        let own = own
            .into_iter()
            .filter_map(|(tool, limit)| Some((tool.as_str().to_owned(), limit?)));
        let of_tools = self
            .limits
            .per_tool
            .iter()
            .map(|(id, limit)| (format!("tool:{id}"), *limit));
        let mut used = Vec::new();
        for (scope, limit) in own.chain(of_tools) {
            let counter = self.counters.get(&scope);
            if let Some(most) = limit.max_calls_per_minute {
                let recent = counter.map_or(0, |counter| {
                    counter
                        .recent
                        .iter()
                        .filter(|called| now - **called < WINDOW_SECONDS)
                        .count()
                });
                used.push(UsedLimit {
                    scope: format!("{scope}/minute"),
                    used: recent as u32,
                    most,
                });
            }
            if let Some(most) = limit.max_calls_per_session {
                used.push(UsedLimit {
                    scope: format!("{scope}/session"),
                    used: counter.map_or(0, |counter| counter.session_calls),
                    most,
                });
            }
        }
        used
    }
}

impl Counter {
    fn exceeded(&mut self, now: f64, scope: &str, limit: CallLimit) -> Option<Quota> {
        if limit
            .max_calls_per_session
            .is_some_and(|most| self.session_calls >= most)
        {
            return Some(Quota::Exceeded {
                scope: format!("{scope}/session"),
                retry_after: None,
            });
        }
        let most = limit.max_calls_per_minute?;
        while self.recent.front().is_some_and(|called| now - called >= WINDOW_SECONDS) {
            self.recent.pop_front();
        }
        if self.recent.len() < most as usize {
            return None;
        }
        let retry_after = self.recent.front().map(|called| called + WINDOW_SECONDS - now);
        Some(Quota::Exceeded {
            scope: format!("{scope}/minute"),
            retry_after,
        })
    }
}

/// The key of a cached result: the same for the same tool and the same arguments in any order.
pub fn cache_key(tool_id: &str, arguments: &Value) -> String {
    let mut hasher = Sha256::new();
    hasher.update(tool_id.as_bytes());
    hasher.update([0]);
    hasher.update(canonical_json(arguments).as_bytes());
    crate::identity::hex(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_leaves_the_window_after_sixty_seconds() {
        let limit = CallLimit {
            max_calls_per_minute: Some(1),
            max_calls_per_session: None,
        };
        let mut limiter = RateLimiter::new(RateLimits {
            tool_execute: Some(limit),
            ..RateLimits::default()
        });
        let mut call = |now| limiter.check(now, MetaTool::ToolExecute, Some("a:b@1"), Counting::Consume);
        assert_eq!(call(0.0), Quota::Allowed);
        assert_eq!(
            call(59.0),
            Quota::Exceeded {
                scope: "tool_execute/minute".into(),
                retry_after: Some(1.0)
            }
        );
        assert_eq!(call(60.0), Quota::Allowed);
    }

    #[test]
    fn peeking_uses_nothing_up() {
        let limit = CallLimit {
            max_calls_per_minute: None,
            max_calls_per_session: Some(1),
        };
        let per_tool = BTreeMap::from([("a:b@1".to_owned(), limit)]);
        let mut limiter = RateLimiter::new(RateLimits {
            per_tool,
            ..RateLimits::default()
        });
        for _ in 0..3 {
            assert_eq!(
                limiter.check(0.0, MetaTool::ToolExecute, Some("a:b@1"), Counting::Peek),
                Quota::Allowed
            );
        }
        assert_eq!(
            limiter.check(0.0, MetaTool::ToolExecute, Some("a:b@1"), Counting::Consume),
            Quota::Allowed
        );
        assert_eq!(
            limiter.check(0.0, MetaTool::ToolExecute, Some("a:b@1"), Counting::Consume),
            Quota::Exceeded {
                scope: "tool:a:b@1/session".into(),
                retry_after: None
            }
        );
    }

    #[test]
    fn argument_order_does_not_change_the_cache_key() {
        let one: Value = serde_json::from_str(r#"{"a":{"x":1,"y":2},"b":[1]}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"b":[1],"a":{"y":2,"x":1}}"#).unwrap();
        assert_eq!(cache_key("t", &one), cache_key("t", &two));
        assert_ne!(cache_key("t", &one), cache_key("u", &one));
    }
}
