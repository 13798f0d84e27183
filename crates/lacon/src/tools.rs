//! Every question as a tool: one row of [`TOOLS`] says what it is called, what it is for, how far it reaches and how many
//! tokens it may cost. The server, the command line and the reference page all read this one table.

pub(crate) mod answer;
pub(crate) mod readable;
mod schema;
mod scope;
pub(crate) mod trees;

use codeintel::analyze::{Analysis, Analyze, analyze};
use codeintel::editing_context::{Editing, editing_context};
use codeintel::file_summary::{Summary, file_summary};
use codeintel::neighbours::{Neighbours, call_chain, callers, dependencies, dependents, implementations};
use codeintel::repo_outline::{Nothing, graph_stats, repo_outline};
use codeintel::search_symbols::{Search, search_symbols};
use codeintel::symbol_source::{Batch, GetSource, batch_symbols, symbol_source};
use codeintel::usages::{Usages, usages};
use codeintel::{QuestionError, Workspace};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wire::answers::{
    Answer, BatchSymbols, Cycles, DeadCode, EditingContext, FileSummary, FindUsages, Hotspots, RepoOutline,
    SearchSymbols, SubGraph, SymbolSource,
};
use wire::layout::Layout;
use wire::protocol::{Refusal, Scope};

/// One question as a tool.
pub(crate) struct Tool {
    /// As in the wire formats.
    pub(crate) name: &'static str,
    /// What it is for, in one line.
    pub(crate) about: &'static str,
    /// The smallest set that lists it.
    pub(crate) toolset: Toolset,
    /// Which repositories of a workspace it is about.
    pub(crate) scope: Scope,
    /// Tokens at most where a call does not say.
    pub(crate) max_tokens: usize,
    /// What makes its answer smaller.
    pub(crate) cut: Cut,
    parameters: fn() -> Value,
    ask: fn(&Workspace, Map<String, Value>) -> Result<Reply, Refusal>,
}

/// A set of tools that a client may list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Toolset {
    /// What most tasks need
    Core,
    /// Core, and every walk and analysis of the graph
    Graph,
    /// All tools
    All,
}

/// How an answer that costs too much is made smaller. All but the last ask the same question again with less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Fewer rows on the page: the argument `limit`.
    Rows,
    /// Fewer lines of source: the argument `max_lines`.
    Lines,
    /// Fewer of the symbols asked for: the argument `ids`.
    Symbols,
    /// It cannot be cut.
    Never,
}

/// An answer and the table that lays it out.
pub(crate) struct Reply {
    pub(crate) value: Value,
    pub(crate) layout: Layout<'static>,
}

/// Every tool, in the order they are listed.
pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "search_symbols",
        about: "Find symbols by name or words of it, best first.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 2_000,
        cut: Cut::Rows,
        parameters: schema::of::<Search>,
        ask: |workspace, arguments| put(workspace, arguments, search_symbols, SearchSymbols::LAYOUT),
    },
    Tool {
        name: "get_symbol_source",
        about: "The source text of one symbol.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 8_000,
        cut: Cut::Lines,
        parameters: schema::of::<GetSource>,
        ask: |workspace, arguments| put(workspace, arguments, symbol_source, SymbolSource::LAYOUT),
    },
    Tool {
        name: "batch_symbols",
        about: "Several symbols at once: place, signature and, if asked, source.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 8_000,
        cut: Cut::Symbols,
        parameters: schema::of::<Batch>,
        ask: |workspace, arguments| put(workspace, arguments, batch_symbols, BatchSymbols::LAYOUT),
    },
    Tool {
        name: "find_usages",
        about: "Every use of a symbol: calls, reads, types, imports.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        parameters: schema::of::<Usages>,
        ask: |workspace, arguments| put(workspace, arguments, usages, FindUsages::LAYOUT),
    },
    Tool {
        name: "get_file_summary",
        about: "What one file declares.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        parameters: schema::of::<Summary>,
        ask: |workspace, arguments| put(workspace, arguments, file_summary, FileSummary::LAYOUT),
    },
    Tool {
        name: "get_callers",
        about: "Who calls a symbol, directly and through others, with the lines of the calls.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        parameters: schema::of::<Neighbours>,
        ask: |workspace, arguments| put(workspace, arguments, callers, SubGraph::GET_CALLERS),
    },
    Tool {
        name: "get_call_chain",
        about: "What a symbol calls, directly and through others.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        parameters: schema::of::<Neighbours>,
        ask: |workspace, arguments| put(workspace, arguments, call_chain, SubGraph::GET_CALL_CHAIN),
    },
    Tool {
        name: "get_dependencies",
        about: "What a symbol needs: calls, types, bases, variables, imports.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        parameters: schema::of::<Neighbours>,
        ask: |workspace, arguments| put(workspace, arguments, dependencies, SubGraph::GET_DEPENDENCIES),
    },
    Tool {
        name: "get_dependents",
        about: "What needs a symbol, directly and through others: what a change may break.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        parameters: schema::of::<Neighbours>,
        ask: |workspace, arguments| put(workspace, arguments, dependents, SubGraph::GET_DEPENDENTS),
    },
    Tool {
        name: "find_implementations",
        about: "What implements, extends or overrides a symbol.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        parameters: schema::of::<Neighbours>,
        ask: |workspace, arguments| put(workspace, arguments, implementations, SubGraph::FIND_IMPLEMENTATIONS),
    },
    Tool {
        name: "get_editing_context",
        about: "What to know before changing a symbol: callers, dependencies, tests.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        parameters: schema::of::<Editing>,
        ask: |workspace, arguments| put(workspace, arguments, editing_context, EditingContext::LAYOUT),
    },
    Tool {
        name: "analyze",
        about: "The whole graph: dead_code, hotspots, cycles.",
        toolset: Toolset::Graph,
        scope: Scope::Repo,
        max_tokens: 4_000,
        cut: Cut::Rows,
        parameters: schema::of::<Analyze>,
        ask: analysis,
    },
    Tool {
        name: "get_repo_outline",
        about: "A repository at a glance: languages, communities, hotspots, entry points.",
        toolset: Toolset::Core,
        scope: Scope::Repo,
        max_tokens: 2_000,
        cut: Cut::Never,
        parameters: schema::of::<Nothing>,
        ask: |workspace, arguments| put(workspace, arguments, repo_outline, RepoOutline::LAYOUT),
    },
    Tool {
        name: "graph_stats",
        about: "How much is indexed: files, symbols, edges by kind, origin and language.",
        toolset: Toolset::Graph,
        scope: Scope::FanOut,
        max_tokens: 2_000,
        cut: Cut::Never,
        parameters: schema::of::<Nothing>,
        ask: |workspace, arguments| put(workspace, arguments, graph_stats, Layout::generic("graph_stats")),
    },
];

impl Toolset {
    /// The tools it lists.
    pub(crate) fn tools(self) -> impl Iterator<Item = &'static Tool> {
        TOOLS.iter().filter(move |tool| tool.toolset as u8 <= self as u8)
    }
}

/// The tool with this name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Tool {
    /// The JSON Schema of its arguments, those that every tool takes included.
    pub(crate) fn input_schema(&self, several_repositories: bool) -> Map<String, Value> {
        schema::input(self, several_repositories)
    }
}

/// Reads the parameters, asks, and keeps the answer with its layout.
fn put<P: DeserializeOwned, A: Serialize>(
    workspace: &Workspace,
    arguments: Map<String, Value>,
    question: fn(&Workspace, &P) -> Result<A, QuestionError>,
    layout: Layout<'static>,
) -> Result<Reply, Refusal> {
    let parameters = read(arguments)?;
    let found = question(workspace, &parameters).map_err(refused)?;
    Ok(Reply {
        value: value(&found)?,
        layout,
    })
}

/// Each kind of analysis has a layout of its own.
fn analysis(workspace: &Workspace, arguments: Map<String, Value>) -> Result<Reply, Refusal> {
    let found = analyze(workspace, &read(arguments)?).map_err(refused)?;
    let layout = match &found {
        Analysis::DeadCode(_) => DeadCode::LAYOUT,
        Analysis::Hotspots(_) => Hotspots::LAYOUT,
        Analysis::Cycles(_) => Cycles::LAYOUT,
        Analysis::Help(_) => Layout::generic("analyze.help"),
    };
    Ok(Reply {
        value: value(&found)?,
        layout,
    })
}

fn read<P: DeserializeOwned>(arguments: Map<String, Value>) -> Result<P, Refusal> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| refusal("invalid_argument", error.to_string()))
}

fn value(found: &impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(found).map_err(|error| refusal("internal_error", error.to_string()))
}

fn refused(error: QuestionError) -> Refusal {
    let detail = match &error {
        QuestionError::Scope { detail, .. } => detail.clone(),
        _ => String::new(),
    };
    Refusal {
        code: error.code().to_string(),
        message: error.to_string(),
        detail,
    }
}

pub(crate) fn refusal(code: &str, message: impl Into<String>) -> Refusal {
    Refusal {
        code: code.to_string(),
        message: message.into(),
        detail: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;
    use serde_json::Value;

    use super::{Cut, TOOLS, Tool, Toolset};

    #[test]
    fn names_differ_and_sets_grow() {
        let mut names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TOOLS.len());
        let count = |set: Toolset| set.tools().count();
        assert!(count(Toolset::Core) < count(Toolset::Graph) && count(Toolset::Graph) <= count(Toolset::All));
        assert_eq!(count(Toolset::All), TOOLS.len());
    }

    /// What can be cut must have the argument that cuts it.
    #[test]
    fn every_cut_has_its_argument() {
        for tool in TOOLS {
            let argument = match tool.cut {
                Cut::Rows => "limit",
                Cut::Lines => "max_lines",
                Cut::Symbols => "ids",
                Cut::Never => continue,
            };
            assert!(properties(tool).contains_key(argument), "{}", tool.name);
        }
    }

    /// Run with `UPDATE_EXPECT=1` after changing a tool.
    #[test]
    fn the_reference_page_is_up_to_date() {
        let mut page = String::from(
            "# The tools\n\nGenerated from the table in `crates/lacon/src/tools.rs`. Every tool also takes `format` (auto, json, gcx, \
             gcf, markdown), `max_tokens` (o200k tokens of the text sent, never exceeded) and `if_none_match` (the etag of an \
             earlier answer). In a workspace of several repositories a tool of scope `repo` needs `repo` as a name and one of \
             scope `fan-out` as a list of names or `[\"*\"]`; one of scope `workspace` refuses it.\n\n\
             | tool | toolset | scope | max_tokens | says |\n|---|---|---|---|---|\n",
        );
        for tool in TOOLS {
            page.push_str(&format!(
                "| [{0}](#{0}) | {1} | {2} | {3} | {4} |\n",
                tool.name,
                format!("{:?}", tool.toolset).to_lowercase(),
                tool.scope.as_str(),
                tool.max_tokens,
                tool.about
            ));
        }
        for tool in TOOLS {
            page.push_str(&format!("\n## {}\n\n{}\n", tool.name, tool.about));
            let (properties, required) = (properties(tool), required(tool));
            if properties.is_empty() {
                continue;
            }
            page.push_str("\n| argument | type | says |\n|---|---|---|\n");
            for (name, schema) in &properties {
                let needed = if required.contains(name) { ", required" } else { "" };
                let text = |key: &str| {
                    schema
                        .get(key)
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .replace('|', "\\|")
                };
                page.push_str(&format!(
                    "| {name} | {}{needed} | {} |\n",
                    text("type"),
                    text("description")
                ));
            }
        }
        expect_file!["../../../docs/reference/tools.md"].assert_eq(&page);
    }

    fn properties(tool: &Tool) -> serde_json::Map<String, Value> {
        let schema = (tool.parameters)();
        schema
            .get("properties")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    }

    fn required(tool: &Tool) -> Vec<String> {
        let schema = (tool.parameters)();
        let required = schema.get("required").cloned().unwrap_or_default();
        serde_json::from_value(required).unwrap_or_default()
    }
}
