//! `search_text`: the lines that contain a text, by file.

use crate::layout::Section;

row! {
    /// A line that matches.
    TextLine {
        path: String = "file path",
        line: u64 = "line",
        text: String = "the line, cut around the match where it is long",
        symbol: Option<String> = "what the line belongs to; absent where the file changed since it was indexed",
    }
}

answer! {
    /// The lines that match, in path order.
    TextFound = "search_text" {
        sections { matches: Vec<TextLine> => Section::many("", "matches", TextLine::COLUMNS).counted() }
        meta {
            total: u64 = "matching lines in all, returned or not",
            files: u64 = "files with matching lines",
            searched: u64 = "files that were searched",
            truncated: bool = "whether lines were left out",
            next_cursor: Option<String> = "pass it to get the next page",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            incomplete: Option<String> = "what was not searched, and why",
        }
    }
}
