//! `batch_symbols`: several symbols by id, each found or with the reason why not.

use crate::layout::Section;

row! {
    /// A symbol that was asked for.
    BatchSymbol {
        id: String = "symbol id",
        kind: Option<String> = "kind of symbol",
        name: Option<String> = "short name",
        path: Option<String> = "file path",
        start_line: Option<u64> = "first line",
        end_line: Option<u64> = "last line",
        sig: Option<String> = "signature",
        source: Option<String> = "the source text, when asked for",
        error: Option<String> = "why there is no symbol",
    }
}

answer! {
    /// Several symbols by id, each found or with the reason why not.
    BatchSymbols = "batch_symbols" {
        sections { symbols: Vec<BatchSymbol> => Section::many("", "symbols", BatchSymbol::COLUMNS) }
        meta {
            total: u64 = "symbols asked for",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
        }
    }
}
