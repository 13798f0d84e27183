//! The searches as verbs: `lacon search "retry after a timeout"` asks `search_code`, `docs` asks `search_docs`.

use serde::Serialize;

use super::questions::{Asking, Page, ask};

/// What code does.
#[derive(clap::Args, Serialize)]
pub(crate) struct Meaning {
    /// What the code does, in words, or identifiers
    query: String,

    /// Only paths that start with this
    #[arg(long, value_name = "PREFIX")]
    path: Option<String>,

    /// Only this language
    #[arg(long)]
    language: Option<String>,

    /// Only this kind: function, method, type, interface, …
    #[arg(long)]
    kind: Option<String>,

    /// Lines of a snippet at most
    #[arg(long, value_name = "N")]
    snippet_lines: Option<u32>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

/// What a document says.
#[derive(clap::Args, Serialize)]
pub(crate) struct Prose {
    /// What the section says, in words
    query: String,

    /// Only paths that start with this
    #[arg(long, value_name = "PREFIX")]
    path: Option<String>,

    /// Lines of a snippet at most
    #[arg(long, value_name = "N")]
    snippet_lines: Option<u32>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

super::questions::questions! {
    /// Find code by what it does, in words, or by identifiers
    #[command(after_help = "Examples:\n  lacon search \"retry after a timeout\"\n  lacon search backoff --language python --path src/")]
    code: Meaning => "search_code",
    /// Find sections of documents by what they say
    #[command(after_help = "Examples:\n  lacon docs \"how to configure proxies\"")]
    docs: Prose => "search_docs",
}
