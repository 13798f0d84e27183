//! Which tools may be used: rules in order, the first that matches decides. A denied tool is left out of every answer and
//! reads as unknown, so that nobody can probe for it.

use globset::{Glob, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::controls::MetaTool;

/// The rules, and what holds when none matches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyConfig {
    /// Used when no rule matches.
    pub default: PolicyAction,
    /// Tried in order.
    pub rules: Vec<PolicyRule>,
}

/// What a rule decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyAction {
    #[default]
    Allow,
    /// The tool does not exist as far as the agent can tell.
    Deny,
    /// The agent sees the tool; a person must agree to each call.
    RequireApproval,
}

/// A rule matches when everything it names matches; one that names nothing matches every tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyRule {
    /// What it decides.
    pub action: PolicyAction,
    /// Only for this meta-tool.
    pub meta_tool: Option<MetaTool>,
    /// Configured name of the upstream.
    pub server: Option<String>,
    /// Namespace of the tool's id.
    pub namespace: Option<String>,
    /// Glob over the tool id or the upstream's name for the tool.
    pub tool: Option<String>,
    /// All of these tags.
    pub tags: Vec<String>,
    /// Whether the tool declares itself read-only. An unverified claim: do not allow on this alone.
    pub read_only: Option<bool>,
    /// Told to the person who is asked to approve.
    pub reason: Option<String>,
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug)]
pub struct PolicySubject<'a> {
    pub tool_id: &'a str,
    pub server: &'a str,
    pub namespace: &'a str,
    /// The upstream's name for the tool.
    pub name: &'a str,
    pub tags: &'a [String],
    pub read_only: bool,
}

/// The decision for one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    Deny,
    RequireApproval { reason: Option<String> },
}

/// Compiled rules.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    default: PolicyAction,
    rules: Vec<(PolicyRule, Option<GlobMatcher>)>,
}

impl PolicyConfig {
    /// Rules that cannot be compiled, by place.
    pub fn problems(&self) -> Vec<(String, String)> {
        let globs = self
            .rules
            .iter()
            .enumerate()
            .filter_map(|(position, rule)| Some((position, rule.tool.as_ref()?)));
        globs
            .filter_map(|(position, glob)| {
                let error = Glob::new(glob).err()?;
                Some((format!("policy.rules[{position}].tool"), error.to_string()))
            })
            .collect()
    }
}

impl Policy {
    /// Compiles rules that loading has checked. A glob that still fails matches nothing if its rule allows, and everything
    /// if it restricts: on doubt the policy is closed.
    pub fn new(config: &PolicyConfig) -> Policy {
        let compile = |rule: &PolicyRule| match rule.tool.as_deref().map(Glob::new) {
            None => Some((rule.clone(), None)),
            Some(Ok(glob)) => Some((rule.clone(), Some(glob.compile_matcher()))),
            Some(Err(_)) if rule.action == PolicyAction::Allow => None,
            Some(Err(_)) => Some((rule.clone(), None)),
        };
        Policy {
            default: config.default,
            rules: config.rules.iter().filter_map(compile).collect(),
        }
    }

    pub fn decide(&self, meta_tool: MetaTool, subject: PolicySubject<'_>) -> Decision {
        let matched = self
            .rules
            .iter()
            .find(|(rule, glob)| matches(rule, glob.as_ref(), meta_tool, subject));
        match matched.map_or(self.default, |(rule, _)| rule.action) {
            PolicyAction::Allow => Decision::Allow,
            PolicyAction::Deny => Decision::Deny,
            PolicyAction::RequireApproval => Decision::RequireApproval {
                reason: matched.and_then(|(rule, _)| rule.reason.clone()),
            },
        }
    }

    /// Whether an agent may know that the tool exists: it can be browsed, and calling it is not denied either.
    pub fn shows(&self, subject: PolicySubject<'_>) -> bool {
        self.decide(MetaTool::ToolBrowse, subject) != Decision::Deny
            && self.decide(MetaTool::ToolExecute, subject) != Decision::Deny
    }
}

fn matches(rule: &PolicyRule, glob: Option<&GlobMatcher>, meta_tool: MetaTool, subject: PolicySubject<'_>) -> bool {
    rule.meta_tool.is_none_or(|wanted| wanted == meta_tool)
        && rule.server.as_deref().is_none_or(|server| server == subject.server)
        && rule
            .namespace
            .as_deref()
            .is_none_or(|namespace| namespace == subject.namespace)
        && glob.is_none_or(|glob| glob.is_match(subject.tool_id) || glob.is_match(subject.name))
        && rule.tags.iter().all(|tag| subject.tags.contains(tag))
        && rule.read_only.is_none_or(|read_only| read_only == subject.read_only)
}
