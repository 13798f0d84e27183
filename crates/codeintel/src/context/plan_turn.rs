//! `plan_turn`: which questions to ask next for a task, and what each is likely to cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::for_task::checked;
use super::rank::{self, Evidence};
use super::targets::targets;
use crate::error::QuestionError;
use crate::kinds;
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanTurn {
    /// What is to be done, in words.
    pub task: String,
}

/// Questions worth asking, the first first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnPlan {
    /// The questions.
    pub steps: Vec<Step>,
    /// What the index still lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Why.
    pub why: String,
}

/// Tokens of the context that the plan is about.
const USUAL_BUDGET: usize = 5_000;
/// Symbols that get a question of their own.
const SYMBOLS: usize = 3;

/// The questions that the evidence suggests.
pub fn plan_turn(workspace: &Workspace, ask: &PlanTurn) -> Result<TurnPlan, QuestionError> {
    let task = checked(&ask.task)?;
    let ranked = rank::for_task(workspace, task, &[]);
    let targets = targets(workspace, &ranked, USUAL_BUDGET, None);
    let mut steps = Vec::new();
    let mut step = |tool: &str, arguments: Value, why: String| {
        steps.push(Step {
            tool: tool.to_string(),
            arguments,
            why,
        });
    };
    for key in targets.iter().take(SYMBOLS) {
        let (Some(symbol), Some(item)) = (workspace.symbol(*key), ranked.iter().find(|item| item.key == *key)) else {
            continue;
        };
        let id = workspace.id(key.repository, symbol);
        let (tool, why) = match (&item.evidence, symbol.is_file(), kinds::kind(symbol)) {
            (_, true, _) => ("get_file_summary", "what the file declares"),
            (Evidence::Named(_), _, "function" | "method") => (
                "get_editing_context",
                "callers, dependencies and tests of what the task names",
            ),
            (_, _, "interface") => ("find_implementations", "what a change of it reaches"),
            _ => ("explain_symbol", "the symbol and what surrounds it"),
        };
        let arguments = if symbol.is_file() {
            json!({"path": id})
        } else {
            json!({"id": id})
        };
        step(tool, arguments, format!("{why}: {}", item.reason(workspace)));
    }
    match targets.is_empty() {
        true => step(
            "get_repo_outline",
            json!({}),
            "nothing here shares a word with the task".to_string(),
        ),
        false => {
            step(
                "context_for_task",
                json!({"task": task}),
                "the same evidence with sources, in one answer".to_string(),
            );
            let ids: Vec<String> = targets
                .iter()
                .take(SYMBOLS)
                .filter_map(|key| Some(workspace.id(key.repository, workspace.symbol(*key)?)))
                .collect();
            step(
                "blast_radius",
                json!({"symbols": ids}),
                "what a change of these may break".to_string(),
            );
        }
    }
    Ok(TurnPlan {
        steps,
        incomplete: workspace.incomplete(),
    })
}
