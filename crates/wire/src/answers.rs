//! The answers of the tools that GCX1 lays out by hand, one file each: plain serde types with their table beside them.
//!
//! Another crate adds an answer the same way: [`row!`](crate::row) for the rows, [`answer!`](crate::answer) for the whole, or
//! a hand-written [`Layout`] constant for a type it cannot change.

mod analyze;
mod batch_symbols;
mod context_pack;
mod contracts;
mod editing_context;
mod file_summary;
mod find_usages;
mod pack_delta;
mod pack_names;
mod pack_restated;
mod repo_outline;
mod search_symbols;
mod search_text;
mod smart_context;
mod subgraph;
mod symbol_source;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::gcx;
use crate::layout::{Column, Layout, Rows, Section};

pub use analyze::{Cycle, CycleCut, Cycles, DeadCode, DeadSymbol, Hotspot, Hotspots};
pub use batch_symbols::{BatchSymbol, BatchSymbols};
pub(crate) use context_pack::from_word;
pub use context_pack::{ContextPack, PackEdge, PackReason, PackSource, PackSymbol};
pub use contracts::{Contract, ContractsList, ContractsOrphans, Orphan};
pub use editing_context::{EditingContext, EditingTarget};
pub use file_summary::{FileSummary, SummarySymbol};
pub use find_usages::{FindUsages, Usage};
pub use pack_delta::{Moved, PackDelta, PackName, SourceChange};
pub use pack_names::{Renamed, renamed_id, with_word};
pub use pack_restated::{AtDistance, Cut, Restated, Reworded, WithHash, WithScore};
pub use repo_outline::{Community, LanguageShare, OutlineHotspot, RepoOutline};
pub use search_symbols::{FoundSymbol, SearchSymbols};
pub use search_text::{TextFound, TextLine};
pub use smart_context::{RelevantSymbol, SmartContext};
pub use subgraph::{Edge, Node, SubGraph};
pub use symbol_source::SymbolSource;

/// A type that is the answer of one tool.
pub trait Answer: Serialize + DeserializeOwned {
    /// How it becomes GCX1.
    const LAYOUT: Layout<'static>;
}

const DEFINITION: &[Column] = &[
    Column::text("name", "the tool's name"),
    Column::text("scope", "repo, workspace or fan-out"),
];
const REQUEST: &[Column] = &[
    Column::text("tool", "the tool called"),
    Column::text("scope", "the tool's scope"),
    Column::names(
        "repo",
        "a name for `repo`, a list for `fan-out`, nothing for `workspace`",
    )
    .optional(),
];
const REFUSAL: &[Column] = &[
    Column::text("code", "what class of problem it is; never empty"),
    Column::text("message", "what went wrong"),
    Column::text("detail", "more about it"),
];

/// The registry of tools: a row each, in the order of their names.
const TOOL_DEFINITIONS: Layout<'static> = Layout {
    about: "Which tools there are, and how far each reaches.",
    sections: &[Section::many("", "", DEFINITION)],
    ..Layout::generic("tool_definitions")
};

/// One call.
const TOOL_REQUEST: Layout<'static> = Layout {
    about: "What one call is about: the repository, or the repositories, that its tool's scope asks for.",
    sections: &[Section::one("", "", REQUEST)],
    ..Layout::generic("tool_request")
};

/// A refusal.
const ERROR: Layout<'static> = Layout {
    about: "Why a call was refused, in place of its answer.",
    sections: &[Section::one("", "", REFUSAL)],
    ..Layout::generic("error")
};

/// Every layout, in the order of the reference page.
pub const LAYOUTS: &[&Layout<'static>] = &[
    &SearchSymbols::LAYOUT,
    &TextFound::LAYOUT,
    &SymbolSource::LAYOUT,
    &BatchSymbols::LAYOUT,
    &FindUsages::LAYOUT,
    &FileSummary::LAYOUT,
    &SubGraph::GET_CALLERS,
    &SubGraph::GET_CALL_CHAIN,
    &SubGraph::GET_DEPENDENCIES,
    &SubGraph::GET_DEPENDENTS,
    &SubGraph::FIND_IMPLEMENTATIONS,
    &EditingContext::LAYOUT,
    &SmartContext::LAYOUT,
    &ContextPack::CONTEXT_FOR_TASK,
    &ContextPack::CONTEXT_FOR_FILES,
    &ContextPack::CONTEXT_FOR_PR,
    &ContextPack::BLAST_RADIUS,
    &ContextPack::COMMUNITIES,
    &ContextPack::EXPLAIN_SYMBOL,
    &DeadCode::LAYOUT,
    &Hotspots::LAYOUT,
    &Cycles::LAYOUT,
    &ContractsList::LAYOUT,
    &ContractsOrphans::LAYOUT,
    &RepoOutline::LAYOUT,
    &TOOL_DEFINITIONS,
    &TOOL_REQUEST,
    &ERROR,
];

/// The layout of `tool`, if it has one.
pub fn layout_of(tool: &str) -> Option<&'static Layout<'static>> {
    LAYOUTS.iter().copied().find(|layout| layout.tool == tool)
}

/// The layout that a text with this first header follows: the section must be the layout's first, column for column.
pub(crate) fn layout_for(header: &gcx::Header) -> Option<&'static Layout<'static>> {
    LAYOUTS.iter().copied().find(|layout| gcx::opens(layout, header))
}

/// The reference page: every table, in Markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "# GCX1 layouts\n\nGenerated from the tables in `crates/wire/src/answers/`. The columns of a section are fixed; \
         facts about the whole answer travel in the first header.\n",
    );
    for layout in LAYOUTS {
        page.push_str(&format!("\n## {}\n\n{}\n", layout.tool, layout.about.trim()));
        for section in layout.sections {
            let rows = match section.rows {
                Rows::Many => "one row each",
                Rows::One => "at most one row",
                Rows::Values => "one value per row",
                Rows::Value => "one value",
            };
            let member = match section.member {
                "" => "the answer itself".to_owned(),
                member => format!("JSON member `{member}`"),
            };
            page.push_str(&format!(
                "\n### `{}{}`\n\n{member}, {rows}.\n\n",
                layout.tool, section.suffix
            ));
            page.push_str(&columns_table("field", section.columns));
        }
        if !layout.meta.is_empty() {
            page.push_str("\nHeader:\n\n");
            page.push_str(&columns_table("entry", layout.meta));
        }
    }
    page
}

fn columns_table(heading: &str, columns: &[Column]) -> String {
    let mut table = format!("| {heading} | type | says |\n|---|---|---|\n");
    for column in columns {
        let optional = if column.optional { ", optional" } else { "" };
        table.push_str(&format!(
            "| {} | {}{optional} | {} |\n",
            column.name,
            column.kind.name(),
            column.about
        ));
    }
    table
}
