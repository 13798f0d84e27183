//! `find_usages`: where a symbol is used, one row per place.

use crate::layout::Section;

row! {
    /// One use.
    Usage {
        from: String = "id of the using symbol",
        to: String = "id of the used symbol",
        edge_kind: String = "calls, references, implements, …",
        origin: String = "lsp_resolved, lsp_dispatch, ast_resolved, ast_inferred or text_matched",
        confidence: f64 = "0 to 1",
        from_name: String = "short name of the using symbol",
        from_path: String = "its file",
        from_line: u64 = "the line of the use",
    }
}

answer! {
    /// Where a symbol is used, one row per place.
    FindUsages = "find_usages" {
        sections { usages: Vec<Usage> => Section::many("", "usages", Usage::COLUMNS) }
        meta {
            total: u64 = "uses in all, returned or not",
            truncated: bool = "whether uses were left out",
            next_cursor: Option<String> = "pass it to get the next page",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            incomplete: Option<String> = "what the index still lacks",
            symbol: Option<String> = "the symbol that was asked about, where no row names it",
            account: Option<String> = "how the mentions of the name add up to a plain word search",
        }
    }
}
