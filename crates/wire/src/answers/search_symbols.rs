//! `search_symbols`: the symbols that match a query, best first.

use crate::layout::Section;

row! {
    /// A symbol that matched.
    FoundSymbol {
        id: String = "symbol id",
        kind: String = "function, method, type, interface, variable, contract, …",
        name: String = "short name",
        path: String = "file path",
        line: u64 = "start line",
        sig: Option<String> = "signature",
    }
}

answer! {
    /// The symbols that match a query, best first.
    SearchSymbols = "search_symbols" {
        sections { results: Vec<FoundSymbol> => Section::many("", "results", FoundSymbol::COLUMNS).counted() }
        meta {
            total: u64 = "matches in all, returned or not",
            truncated: bool = "whether matches were left out",
            next_cursor: Option<String> = "pass it to get the next page",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            incomplete: Option<String> = "what the index still lacks",
        }
    }
}
