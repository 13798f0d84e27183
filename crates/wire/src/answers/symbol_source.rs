//! `get_symbol_source`: one symbol with its source text. The answer itself is the row.

use crate::answers::Answer;
use crate::layout::{Layout, Section};

row! {
    /// One symbol with its source text.
    SymbolSource {
        id: String = "symbol id",
        kind: String = "kind of symbol",
        name: String = "short name",
        path: String = "file path",
        start_line: u64 = "first line of the symbol",
        end_line: u64 = "last line of the symbol",
        from_line: u64 = "first line of the source given, which may precede the symbol",
        sig: Option<String> = "signature",
        etag: String = "content hash, for if_none_match",
        source: String = "the source text",
    }
}

impl Answer for SymbolSource {
    const LAYOUT: Layout<'static> = Layout {
        tool: "get_symbol_source",
        about: "One symbol with its source text.",
        sections: &[Section::one("", "", Self::COLUMNS)],
        meta: &[],
        text: None,
    };
}
