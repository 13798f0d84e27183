//! `trace`: what happens when … A chain from one function to another, what runs from one on in the order of the source, or who leads to one.
//!
//! One step is one line: where the function is defined, the line that calls it with its text, how it is reached if not by a plain call, and
//! the condition that guards it. Bodies are never shown.

mod chains;
mod ends;
mod flow;
mod fold;
mod hops;
pub(crate) mod links;
mod origins;
mod places;
mod text;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use text::LAYOUT;

use crate::error::QuestionError;
use crate::uses::Count;
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Where it starts: name, Owner.name, id, path:line, route, or words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Where it ends. Without `from`: who leads there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Only chains through this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    /// Calls deep at most (default 4 without `to`, else 24).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Tests too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tests: bool,
    /// Steps at most where no `to` cuts it (default 20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What happens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceFound {
    /// What the reader must know first: what a name was taken for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The chains between both ends, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chains: Vec<Chain>,
    /// What runs, in the order of the source; or, where only an end was asked for, who calls it and the ways there from entry points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Functions that are reached in all, shown or folded.
    pub total: u64,
    /// Whether steps were left out because of the limit or the depth.
    pub truncated: bool,
    /// How the hops are known, and where they stop.
    pub account: TraceAccount,
    /// What the index still lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// What to ask now.
    pub next: String,
}

/// One way from the first end to the second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// Its steps, both ends included.
    pub steps: Vec<Step>,
    /// Steps at its beginning that the first chain has too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared_before: u32,
    /// Steps at its end that the first chain has too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared_after: u32,
}

/// One function that runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How many calls deep; the start is 0.
    pub depth: u32,
    /// Its file.
    pub path: String,
    /// The line of its definition.
    pub line: u32,
    /// `Owner.name`.
    pub name: String,
    /// The line of the call, in the file of the caller.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub call: u32,
    /// What that line says; empty where the file changed since it was indexed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// How it is reached, if not by a plain call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hop: String,
    /// What must hold for it to be reached.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub when: String,
    /// Where else the caller calls it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<CallSite>,
    /// Whether the hop is inferred and may be wrong.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub likely: bool,
    /// Whether it is listed above already, or calls itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// Calls of it that are not listed one by one, by what they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<Folded>,
}

/// One of several calls of a function by another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite {
    /// Its line.
    pub line: u32,
    /// What must hold for it to be reached.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub when: String,
}

/// Calls that stand in one line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folded {
    /// What they are: `log and metrics`, `getters`, `errors`, `external`, `more`.
    pub what: String,
    /// How many.
    pub count: u64,
    /// The names of some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// How the hops shown are known, and where they stop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceAccount {
    /// Hops of each kind.
    pub hops: Vec<Count>,
    /// Of those, how many are inferred.
    pub inferred: u64,
    /// Where it goes no further, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<Count>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Deepest walk.
const MAX_DEPTH: u32 = 40;
/// Calls deep where only a start is asked for.
const DEPTH: u32 = 4;
/// Steps of a chain at most.
const LONGEST_CHAIN: u32 = 24;
/// Steps where no end cuts them.
const STEPS: usize = 20;
/// Below this a hop is marked, in hundredths.
const SURE: u8 = 85;

/// What happens.
pub fn trace(workspace: &Workspace, ask: &Trace) -> Result<TraceFound, QuestionError> {
    let given = |text: &Option<String>| {
        text.as_deref()
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let depth = match ask.depth {
        Some(depth) if !(1..=MAX_DEPTH).contains(&depth) => {
            return Err(QuestionError::Argument {
                name: "depth",
                problem: format!("expected 1 to {MAX_DEPTH}, not {depth}"),
            });
        }
        other => other,
    };
    let limit = crate::page::limit(ask.limit, STEPS)?;
    let mut found = TraceFound {
        incomplete: workspace.incomplete(),
        ..TraceFound::default()
    };
    if workspace
        .repositories()
        .iter()
        .any(|repository| repository.trace_links().incomplete)
    {
        let note =
            "not all lines were searched for events, queues and names in strings: some hops of those may be missing";
        found.notes.push(note.to_owned());
    }
    match (given(&ask.from), given(&ask.to)) {
        (None, None) => Err(QuestionError::Argument {
            name: "from",
            problem: "name where it starts, where it ends, or both".to_owned(),
        }),
        (Some(from), Some(to)) => {
            let through = given(&ask.through);
            let asked = chains::Asked {
                from: ends::resolve_one_of_two(workspace, &from, ends::Side::Start, &mut found.notes)?,
                through: match &through {
                    Some(through) => Some(ends::resolve(workspace, through, ends::Side::Start, &mut found.notes)?),
                    None => None,
                },
                to: ends::resolve_one_of_two(workspace, &to, ends::Side::End, &mut found.notes)?,
                depth: depth.unwrap_or(LONGEST_CHAIN),
                tests: ask.tests,
            };
            chains::fill(workspace, &asked, &mut found);
            Ok(found)
        }
        (Some(from), None) => {
            if ask.through.is_some() {
                return Err(QuestionError::Argument {
                    name: "through",
                    problem: "needs `from` and `to`".to_owned(),
                });
            }
            let start = ends::resolve(workspace, &from, ends::Side::Start, &mut found.notes)?;
            flow::fill(workspace, &start, depth.unwrap_or(DEPTH), limit, ask.tests, &mut found);
            Ok(found)
        }
        (None, Some(to)) => {
            let end = ends::resolve(workspace, &to, ends::Side::End, &mut found.notes)?;
            origins::fill(workspace, &end, depth.unwrap_or(LONGEST_CHAIN), limit, &mut found);
            Ok(found)
        }
    }
}

/// A symbol as a step, without how it is reached.
fn step(workspace: &Workspace, key: SymbolKey, depth: u32) -> Option<Step> {
    let symbol = workspace.symbol(key)?;
    Some(Step {
        depth,
        path: workspace.path(key.repository, symbol.path()),
        line: symbol.name_at().line.max(symbol.span().start_line).max(1),
        name: match symbol.is_file() {
            true => String::new(),
            false => symbol.qualified_name(),
        },
        ..Step::default()
    })
}

/// Counts what is seen, in the order of first sight.
fn count(counts: &mut Vec<Count>, of: &str, by: u64) {
    if by == 0 {
        return;
    }
    match counts.iter_mut().find(|count| count.of == of) {
        Some(count) => count.count += by,
        None => counts.push(Count {
            of: of.to_owned(),
            count: by,
        }),
    }
}
