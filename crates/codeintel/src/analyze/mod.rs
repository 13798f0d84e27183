//! `analyze`: questions about the whole graph: what is dead, what is hot, what goes in circles.

mod breaking;
mod communities;
mod cycles;
mod dead_code;
mod expressions;
mod hotspots;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::{Cycles, DeadCode, Hotspots};

use crate::error::QuestionError;
use crate::page::Page;
use crate::workspace::Workspace;

pub use communities::Communities;
pub(crate) use communities::communities;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Analyze {
    /// dead_code, hotspots, cycles, or help for what each does.
    pub kind: String,
    /// Only paths that start with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Rows per page (default 50; hotspots 20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// dead_code: also what is exported and used nowhere here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub include_exported: bool,
}

/// The answer, by kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Analysis {
    /// For `dead_code`.
    DeadCode(DeadCode),
    /// For `hotspots`.
    Hotspots(Hotspots),
    /// For `cycles`.
    Cycles(Cycles),
    /// For `help`.
    Help(Help),
}

/// The kinds of analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Help {
    /// Each with what it does.
    pub kinds: Vec<HelpLine>,
}

/// One kind of analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HelpLine {
    /// Its name.
    pub kind: String,
    /// What it does.
    pub about: String,
}

const KINDS: &[(&str, &str)] = &[
    (
        "dead_code",
        "symbols that nothing mentions; tests, entry points, overrides, framework hooks and decorated symbols excepted, and exported ones unless include_exported",
    ),
    (
        "hotspots",
        "symbols that much of the code goes through: 2 × fan_in (callers) + 1.5 × fan_out (callees) + 3 × cross_cut (other communities they are in), the highest scaled to 100; those two deviations above the mean",
    ),
    (
        "cycles",
        "files that import each other in a circle and functions that call each other in a circle, each with the edge to cut and why",
    ),
];

/// Answers one analysis.
pub fn analyze(workspace: &Workspace, ask: &Analyze) -> Result<Analysis, QuestionError> {
    let page = |default| Page::of(workspace, ask.limit, ask.cursor.as_deref(), default);
    match ask.kind.as_str() {
        "dead_code" => Ok(Analysis::DeadCode(dead_code::dead_code(workspace, ask, page(50)?))),
        "hotspots" => Ok(Analysis::Hotspots(hotspots::hotspots(workspace, ask, page(20)?))),
        "cycles" => Ok(Analysis::Cycles(cycles::cycles(workspace, ask, page(50)?))),
        "help" => {
            let line = |&(kind, about): &(&str, &str)| HelpLine {
                kind: kind.to_string(),
                about: about.to_string(),
            };
            Ok(Analysis::Help(Help {
                kinds: KINDS.iter().map(line).collect(),
            }))
        }
        other => Err(QuestionError::Argument {
            name: "kind",
            problem: format!("no analysis `{other}`: expected dead_code, hotspots, cycles or help"),
        }),
    }
}

pub(crate) use dead_code::{Dead, dead};
pub(crate) use hotspots::{Hottest, hottest};

/// Whether a path is among those asked about.
fn is_asked(ask: &Analyze, workspace: &Workspace, repository: usize, path: &str) -> bool {
    ask.path
        .as_deref()
        .is_none_or(|prefix| workspace.path(repository, path).starts_with(prefix))
}
