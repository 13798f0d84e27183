//! The questions that the graph alone answers.

use codeintel::analyze::{Analysis, Analyze, analyze};
use codeintel::contracts::{Contracts, Found, contracts};
use codeintel::editing_context::{Editing, editing_context};
use codeintel::file_summary::{Summary, file_summary};
use codeintel::neighbours::{Neighbours, call_chain, callers, dependencies, dependents, implementations};
use codeintel::repo_outline::{Nothing, graph_stats, repo_outline};
use codeintel::search_symbols::{Search, search_symbols};
use codeintel::smart_context::{Start, smart_context};
use codeintel::symbol_source::{Batch, GetSource, batch_symbols, symbol_source};
use codeintel::test_targets::{Targets, test_targets};
use codeintel::usages::{Usages, usages};
use serde_json::{Map, Value};
use wire::answers::{
    Answer, BatchSymbols, ContractsList, ContractsOrphans, Cycles, DeadCode, EditingContext, FileSummary, FindUsages,
    Hotspots, RepoOutline, SearchSymbols, SmartContext, SubGraph, SymbolSource,
};
use wire::layout::Layout;
use wire::protocol::{Refusal, Scope};

use super::{Cut, Desk, Reply, Tool, Toolset, put, read, refused, schema, value};

/// What the graph alone answers.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "search_symbols",
        about: "Find symbols by name or words of it, best first.",
        toolset: Toolset::Search,
        scope: Scope::Workspace,
        max_tokens: 2_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Search>,
        ask: |desk, arguments| put(desk, arguments, search_symbols, SearchSymbols::LAYOUT),
    },
    Tool {
        name: "get_symbol_source",
        about: "The source text of one symbol.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 8_000,
        cut: Cut::Lines,
        writes: false,
        parameters: schema::of::<GetSource>,
        ask: |desk, arguments| put(desk, arguments, symbol_source, SymbolSource::LAYOUT),
    },
    Tool {
        name: "batch_symbols",
        about: "Several symbols at once: place, signature and, if asked, source.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 8_000,
        cut: Cut::Symbols,
        writes: false,
        parameters: schema::of::<Batch>,
        ask: |desk, arguments| put(desk, arguments, batch_symbols, BatchSymbols::LAYOUT),
    },
    Tool {
        name: "find_usages",
        about: "Every use of a symbol: calls, reads, types, imports.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Usages>,
        ask: |desk, arguments| put(desk, arguments, usages, FindUsages::LAYOUT),
    },
    Tool {
        name: "get_file_summary",
        about: "What one file declares.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Summary>,
        ask: |desk, arguments| put(desk, arguments, file_summary, FileSummary::LAYOUT),
    },
    Tool {
        name: "get_callers",
        about: "Who calls a symbol, directly and through others, with the lines of the calls.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Neighbours>,
        ask: |desk, arguments| put(desk, arguments, callers, SubGraph::GET_CALLERS),
    },
    Tool {
        name: "get_call_chain",
        about: "What a symbol calls, directly and through others.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Neighbours>,
        ask: |desk, arguments| put(desk, arguments, call_chain, SubGraph::GET_CALL_CHAIN),
    },
    Tool {
        name: "get_dependencies",
        about: "What a symbol needs: calls, types, bases, variables, imports.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Neighbours>,
        ask: |desk, arguments| put(desk, arguments, dependencies, SubGraph::GET_DEPENDENCIES),
    },
    Tool {
        name: "get_dependents",
        about: "What needs a symbol, directly and through others: what a change may break.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Neighbours>,
        ask: |desk, arguments| put(desk, arguments, dependents, SubGraph::GET_DEPENDENTS),
    },
    Tool {
        name: "find_implementations",
        about: "What implements, extends or overrides a symbol.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Neighbours>,
        ask: |desk, arguments| put(desk, arguments, implementations, SubGraph::FIND_IMPLEMENTATIONS),
    },
    Tool {
        name: "get_editing_context",
        about: "What to know before changing a symbol: callers, dependencies, tests.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Editing>,
        ask: |desk, arguments| put(desk, arguments, editing_context, EditingContext::LAYOUT),
    },
    Tool {
        name: "smart_context",
        about: "Where to start on a task: what matters, ranked, with reasons, and its tests.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 2_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Start>,
        ask: |desk, arguments| put(desk, arguments, smart_context, SmartContext::LAYOUT),
    },
    Tool {
        name: "get_test_targets",
        about: "Tests that exercise what changed, and the commands that run them.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Targets>,
        ask: |desk, arguments| put(desk, arguments, test_targets, Layout::generic("get_test_targets")),
    },
    Tool {
        name: "contracts",
        about: "HTTP routes, gRPC, GraphQL, topics, variables: who provides, who uses, what has one side only.",
        toolset: Toolset::Graph,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Contracts>,
        ask: both_sides,
    },
    Tool {
        name: "analyze",
        about: "The whole graph: dead_code, hotspots, cycles.",
        toolset: Toolset::Graph,
        scope: Scope::Repo,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Analyze>,
        ask: analysis,
    },
    Tool {
        name: "get_repo_outline",
        about: "A repository at a glance: languages, communities, hotspots, entry points.",
        toolset: Toolset::Graph,
        scope: Scope::Repo,
        max_tokens: 2_000,
        cut: Cut::Never,
        writes: false,
        parameters: schema::of::<Nothing>,
        ask: |desk, arguments| put(desk, arguments, repo_outline, RepoOutline::LAYOUT),
    },
    Tool {
        name: "graph_stats",
        about: "How much is indexed: files, symbols, edges by kind, origin and language.",
        toolset: Toolset::Graph,
        scope: Scope::FanOut,
        max_tokens: 2_000,
        cut: Cut::Never,
        writes: false,
        parameters: schema::of::<Nothing>,
        ask: |desk, arguments| put(desk, arguments, graph_stats, Layout::generic("graph_stats")),
    },
];

/// Each kind of analysis has a layout of its own.
fn analysis(desk: &Desk, arguments: Map<String, Value>) -> Result<Reply, Refusal> {
    let found = analyze(desk.workspace, &read(arguments)?).map_err(refused)?;
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

/// Each action has a layout of its own.
fn both_sides(desk: &Desk, arguments: Map<String, Value>) -> Result<Reply, Refusal> {
    let found = contracts(desk.workspace, &read(arguments)?).map_err(refused)?;
    let layout = match &found {
        Found::List(_) => ContractsList::LAYOUT,
        Found::Orphans(_) => ContractsOrphans::LAYOUT,
    };
    Ok(Reply {
        value: value(&found)?,
        layout,
    })
}
