//! The questions that search answers: by meaning, by words, in documents, in the text itself.

use std::fmt::Write;

use codeintel::search_code::{SearchCode, SearchDocs, hybrid_search, search_code, search_docs};
use codeintel::search_text::{SearchText, search_text};
use serde_json::Value;
use terminal::output::Paint;
use wire::answers::{Answer, TextFound};
use wire::layout::Layout;
use wire::protocol::Scope;

use super::{Cut, Tool, Toolset, put, schema};

/// What search answers.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "search_code",
        about: "Find code by what it does, in words.",
        toolset: Toolset::Search,
        scope: Scope::Workspace,
        max_tokens: 3_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<SearchCode>,
        ask: |desk, arguments| put(desk, arguments, search_code, Layout::generic("search_code")),
    },
    Tool {
        name: "hybrid_search",
        about: "The same as search_code, with the parts of each score.",
        toolset: Toolset::Search,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<SearchCode>,
        ask: |desk, arguments| put(desk, arguments, hybrid_search, Layout::generic("hybrid_search")),
    },
    Tool {
        name: "search_docs",
        about: "Find sections of Markdown and HTML documents by what they say.",
        toolset: Toolset::Search,
        scope: Scope::Workspace,
        max_tokens: 3_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<SearchDocs>,
        ask: |desk, arguments| put(desk, arguments, search_docs, Layout::generic("search_docs")),
    },
    Tool {
        name: "search_text",
        about: "Find lines that contain a text or match a regular expression, with the symbol each is in.",
        toolset: Toolset::Search,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<SearchText>,
        ask: |desk, arguments| put(desk, arguments, search_text, TextFound::LAYOUT),
    },
];

/// Hits for a person at a terminal: in order of rank, each with its place and its snippet. `None` for other answers.
pub fn readable(tool: &str, value: &Value, paint: Paint) -> Option<String> {
    let mut out = String::new();
    match tool {
        "search_code" | "hybrid_search" | "search_docs" => hits(&mut out, value, paint),
        "search_text" => lines(&mut out, value, paint),
        _ => return None,
    }
    let said = |name: &str| value[name].as_str().filter(|text| !text.is_empty());
    let shown = ["results", "matches"].iter().find_map(|name| value[name].as_array());
    let ending = match said("next_cursor") {
        Some(cursor) => format!("; the next with --cursor {cursor}"),
        None => String::new(),
    };
    let looked_at = match said("searched") {
        Some(chunks) => format!(" in {chunks}"),
        None => format!(" in {} of {} files", value["files"], value["searched"]),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{} of {}{looked_at}{ending}",
        shown.map_or(0, Vec::len),
        value["total"]
    );
    if let Some(missing) = said("incomplete") {
        let _ = writeln!(out, "{} {missing}", paint.warn("incomplete:"));
    }
    Some(out)
}

fn hits(out: &mut String, value: &Value, paint: Paint) {
    for hit in value["results"].as_array().into_iter().flatten() {
        let text = |name: &str| hit[name].as_str().unwrap_or_default();
        let (path, name) = text("id").split_once("::").unwrap_or((text("id"), ""));
        let line = hit["location"]["start_line"].to_string();
        let place = format!("{}:{}", paint.file(path), paint.line(&line));
        let _ = writeln!(
            out,
            "{place} {}  {}",
            paint.name(name),
            paint.dim(&hit["score"].to_string())
        );
        for line in text("snippet").lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
}

fn lines(out: &mut String, value: &Value, paint: Paint) {
    let mut file = "";
    for line in value["matches"].as_array().into_iter().flatten() {
        let text = |name: &str| line[name].as_str().unwrap_or_default();
        if text("path") != file {
            file = text("path");
            let _ = writeln!(out, "{}", paint.file(file));
        }
        let number = line["line"].to_string();
        let _ = writeln!(
            out,
            "  {}: {}  {}",
            paint.line(&number),
            text("text"),
            paint.dim(text("symbol"))
        );
    }
}
