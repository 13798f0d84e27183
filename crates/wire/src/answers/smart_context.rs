//! `smart_context`: the symbols that matter for a task, ranked, each with the reason.

use crate::layout::{Column, Section};

row! {
    /// A symbol that matters.
    RelevantSymbol {
        id: String = "symbol id",
        kind: String = "kind of symbol",
        name: String = "short name",
        path: String = "file path",
        line: u64 = "start line",
        score: f64 = "how much it matters, 0 to 1",
        reason: String = "why it matters",
    }
}

const TASK: &[Column] = &[Column::text("task", "the task, as it was put")];

answer! {
    /// The symbols that matter for a task, ranked, each with the reason.
    SmartContext = "smart_context" {
        sections {
            task: String => Section::value(".task", "task", TASK),
            symbols: Vec<RelevantSymbol> => Section::many(".symbols", "symbols", RelevantSymbol::COLUMNS),
        }
        meta {
            truncated: bool = "whether symbols were left out",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            incomplete: Option<String> = "what the index still lacks",
        }
    }
}
