//! How the answers of this family become columns: one table per tool, the place first, so that a row reads as `where, what`.

use wire::layout::{Column, Layout, Section};

const PATH: Column = Column::text("path", "the file");
const LINE: Column = Column::integer("line", "first line, 1-based");
const COLUMN: Column = Column::integer("column", "1-based, in characters");
const NAME: Column = Column::text("name", "name");
const KIND: Column = Column::text("kind", "function, method, type, …");
const DEPTH: Column = Column::integer("depth", "steps away");

/// A layout whose header holds the standing, the totals and these members.
macro_rules! layout {
    ($constant:ident, $tool:literal, $about:literal, [$($section:expr),* $(,)?], [$($member:expr),* $(,)?]) => {
        #[doc = $about]
        pub const $constant: Layout<'static> = Layout {
            tool: $tool,
            about: $about,
            sections: &[$($section),*],
            meta: &[
                $($member,)*
                Column::text("tier", "lsp or graph"),
                Column::text("server", "which language server").optional(),
                Column::flag("complete", "whether nothing is missing"),
                Column::text("note", "what is missing, and how to get it").optional(),
                Column::integer("total", "in all, returned or not").optional(),
                Column::flag("truncated", "whether something was left out").optional(),
                Column::text("next_cursor", "pass it to get the next page").optional(),
                Column::text("etag", "pass it as if_none_match to skip an unchanged answer").optional(),
            ],
            text: None,
        };
    };
}

const OF: Column = Column::text("of", "what was understood: path, line and column");

layout!(
    FIND_REFERENCES,
    "find_references",
    "Every mention of a symbol, one row per file.",
    [Section::many(
        "",
        "references",
        &[
            PATH,
            Column::list("at", "line:column of each mention"),
            Column::text("origin", "how they are known, where tiers are mixed").optional(),
        ]
    )],
    [
        OF,
        Column::text("account", "how the mentions of the name add up to a plain word search").optional(),
    ]
);

const TARGETS: &[Section] = &[Section::many(
    "",
    "places",
    &[
        PATH,
        LINE,
        COLUMN,
        Column::text("text", "the line as written").optional(),
    ],
)];

/// The places of one of the three tools that go somewhere.
pub const fn targets(tool: &'static str) -> Layout<'static> {
    Layout {
        tool,
        sections: TARGETS,
        ..FIND_REFERENCES
    }
}

layout!(
    GET_DIAGNOSTICS,
    "get_diagnostics",
    "What the compiler finds wrong.",
    [Section::many(
        "",
        "diagnostics",
        &[
            PATH,
            Column::text("at", "line:column"),
            Column::text("severity", "error, warning, information or hint"),
            Column::text("code", "the compiler's code").optional(),
            Column::text("message", "what is wrong"),
        ]
    )],
    [
        Column::integer("errors", "errors in all"),
        Column::integer("warnings", "warnings in all")
    ]
);

layout!(
    LIST_SYMBOLS,
    "list_symbols",
    "What a file declares.",
    [Section::many(
        "",
        "symbols",
        &[
            NAME,
            KIND,
            Column::text("lines", "start:end"),
            Column::text("sig", "signature or type").optional(),
        ]
    )],
    [PATH]
);

layout!(
    FIND_SYMBOL,
    "find_symbol",
    "What has a name.",
    [Section::many(
        "",
        "symbols",
        &[NAME, KIND, PATH, Column::text("at", "line:column")]
    )],
    []
);

const CALLS: &[Section] = &[Section::many(
    "",
    "calls",
    &[
        NAME,
        KIND,
        PATH,
        LINE,
        Column::list("calls", "line:column of the calls, in the caller's file"),
        Column::text("direction", "incoming or outgoing"),
        DEPTH,
    ],
)];

/// The rows of one of the two tools that follow calls.
pub const fn calls(tool: &'static str) -> Layout<'static> {
    Layout {
        tool,
        sections: CALLS,
        ..FIND_REFERENCES
    }
}

layout!(
    TYPE_HIERARCHY,
    "type_hierarchy",
    "What a type extends and what extends it.",
    [Section::many(
        "",
        "types",
        &[NAME, KIND, PATH, LINE, Column::text("direction", "super or sub"), DEPTH]
    )],
    [OF]
);

layout!(
    EXPLORE_SYMBOL,
    "explore_symbol",
    "A symbol at a glance.",
    [
        Section::one(
            "",
            "",
            &[
                Column::text(
                    "about",
                    "signature and documentation, where the source does not say them"
                )
                .optional(),
                Column::text("source", "its source").optional(),
            ]
        ),
        Section::many(".files", "files", &[PATH, Column::integer("count", "mentions in it")]),
        Section::many(
            ".callers",
            "callers",
            &[NAME, PATH, LINE, Column::list("calls", "line:column of the calls")]
        ),
    ],
    [
        OF,
        Column::text("id", "its id").optional(),
        Column::text("lines", "start:end of its definition").optional(),
        Column::integer("references", "mentions in all"),
        Column::integer("test_references", "mentions in tests"),
        Column::integer("callers_total", "callers in all"),
    ]
);

layout!(
    GET_COMPLETIONS,
    "get_completions",
    "What could be written at a place.",
    [Section::many(
        "",
        "completions",
        &[
            Column::text("label", "what is written"),
            KIND,
            Column::text("detail", "its type or origin").optional(),
        ]
    )],
    [OF]
);

layout!(
    SEMANTIC_TOKENS,
    "semantic_tokens",
    "What each word of a file is.",
    [Section::many(
        "",
        "tokens",
        &[LINE, Column::list("words", "column word kind of each")]
    )],
    [PATH]
);

layout!(
    CROSS_REPO,
    "cross_repo",
    "Who in other repositories uses a symbol.",
    [Section::many(
        "",
        "uses",
        &[
            Column::text("repo", "the repository"),
            PATH,
            Column::list("at", "line:column of each use"),
            Column::text("package", "the package it was taken from"),
            Column::text("origin", "lsp_resolved, ast_resolved or text_matched"),
        ]
    )],
    [OF]
);

layout!(
    DETECT_CHANGES,
    "detect_changes",
    "Which symbols differ from a commit.",
    [
        Section::many(
            "",
            "symbols",
            &[
                Column::text("risk", "high, medium or low"),
                Column::text("id", "its id"),
                KIND,
                Column::text("lines", "start:end"),
                Column::integer("users", "symbols that use it"),
                Column::integer("tests", "tests that use it"),
            ]
        ),
        Section::values(".files", "files", &[PATH]),
        Section::values(".removed", "removed", &[PATH]),
    ],
    [Column::text("base", "the commit it is compared with")]
);
