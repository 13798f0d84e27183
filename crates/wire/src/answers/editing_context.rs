//! `get_editing_context`: a symbol about to be edited, with who calls it, what it needs and which tests cover it.

use crate::answers::Node;
use crate::layout::{Column, Section};

row! {
    /// The symbol to edit.
    EditingTarget {
        id: String = "symbol id",
        kind: String = "kind of symbol",
        name: String = "short name",
        path: String = "file path",
        start_line: u64 = "first line",
        end_line: u64 = "last line",
        sig: Option<String> = "signature",
        etag: String = "content hash of the symbol's source",
    }
}

const TESTS: &[Column] = &[Column::text("path", "a test file")];

answer! {
    /// A symbol about to be edited, with who calls it, what it needs and which tests cover it.
    EditingContext = "get_editing_context" {
        sections {
            target: Option<EditingTarget> => Section::one(".target", "target", EditingTarget::COLUMNS),
            callers: Vec<Node> => Section::many(".callers", "callers", Node::COLUMNS),
            dependencies: Vec<Node> => Section::many(".dependencies", "dependencies", Node::COLUMNS),
            tests: Vec<String> => Section::values(".tests", "tests", TESTS),
        }
        meta {
            total_callers: Option<u64> = "callers there are, where something was left out",
            total_dependencies: Option<u64> = "dependencies there are, where something was left out",
            total_tests: Option<u64> = "test files there are, where something was left out",
            truncated: bool = "whether callers, dependencies or tests were left out",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            incomplete: Option<String> = "what the index still lacks",
        }
    }
}
