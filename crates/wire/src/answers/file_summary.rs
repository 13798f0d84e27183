//! `get_file_summary`: what one file declares.

use crate::layout::Section;

row! {
    /// A symbol of the file.
    SummarySymbol {
        id: String = "symbol id",
        kind: String = "kind of symbol",
        name: String = "short name",
        line: u64 = "start line",
        sig: Option<String> = "signature",
    }
}

answer! {
    /// What one file declares.
    FileSummary = "get_file_summary" {
        sections { symbols: Vec<SummarySymbol> => Section::many("", "symbols", SummarySymbol::COLUMNS) }
        meta {
            total_nodes: u64 = "symbols of the file",
            total_edges: u64 = "edges that touch them",
            truncated: bool = "whether symbols were left out",
            next_cursor: Option<String> = "pass it to get the next page",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            incomplete: Option<String> = "what the index still lacks",
        }
    }
}
