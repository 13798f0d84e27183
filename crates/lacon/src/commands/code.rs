//! The tools of most sessions as verbs: `lacon read Client.send src/api.py:10-50`, `lacon uses Client.send`.

use serde::Serialize;

use super::questions::{Asking, Page, ask};

/// What is read.
#[derive(clap::Args, Serialize)]
pub(crate) struct Reading {
    /// Symbols (name, Owner.name, id), path, path:10-50 or path:10-30,80-95
    #[arg(required = true)]
    what: Vec<String>,

    /// Keep only the lines that serve these words
    #[arg(long, value_name = "WORDS")]
    goal: Option<String>,

    /// All lines of what is large, instead of its skeleton
    #[arg(long)]
    whole: bool,
}

/// What is used.
#[derive(clap::Args, Serialize)]
pub(crate) struct Used {
    /// Name, Owner.name, id or path:line; several are answered one below the other
    #[arg(required = true)]
    symbol: Vec<String>,

    /// Only calls, reads, writes, references, imports, implements, extends, overrides, decorates, configures, tests, strings, text (those
    /// and comments) or unresolved
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// List the uses in tests too
    #[arg(long)]
    tests: bool,

    /// Of subtypes, only those that define this member
    #[arg(long, value_name = "MEMBER")]
    defines: Option<String>,

    /// Only paths that start with this
    #[arg(long, value_name = "PREFIX")]
    path: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

/// What happens.
#[derive(clap::Args, Serialize)]
pub(crate) struct Traced {
    /// Where it starts: name, Owner.name, id, path:line, route, or words
    #[arg(value_name = "FROM", required_unless_present = "to")]
    from: Option<String>,

    /// Where it ends
    #[arg(value_name = "TO", conflicts_with = "to")]
    #[serde(rename = "to", skip_serializing_if = "Option::is_none")]
    end: Option<String>,

    /// Where it ends; without FROM, who leads there
    #[arg(long, value_name = "TO")]
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,

    /// Only chains through this
    #[arg(long, value_name = "NAME")]
    through: Option<String>,

    /// Calls deep at most
    #[arg(long, value_name = "N")]
    depth: Option<u32>,

    /// Tests too
    #[arg(long)]
    tests: bool,

    /// Steps at most where no TO cuts it
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

/// What changes.
#[derive(clap::Args, Serialize)]
pub(crate) struct Changing {
    /// Symbols that change (name, Owner.name, id, path:line); none: what git says has changed
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<String>,

    /// With what git compares: a branch or commit
    #[arg(long, value_name = "BASE")]
    base: Option<String>,

    /// Places at most
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

super::questions::questions! {
    /// What a change reaches: who must follow, and the tests to run
    #[command(after_help = "Examples:\n  lacon change\n  lacon change Client.send\n  lacon change --base origin/main")]
    change: Changing => "change",
    /// Source by symbol, path or lines, as it is now
    #[command(after_help = "Examples:\n  lacon read Client.send\n  lacon read src/api.py:10-30,80-95 Cart\n  lacon read src/models.py --goal \"where totals are rounded\"")]
    read: Reading => "read",
    /// What happens when …: a chain of calls between two ends, what runs from one on, or who leads to one
    #[command(after_help = "Examples:\n  lacon trace Client.send Connection.write\n  lacon trace handle_request\n  lacon trace --to Order.cancel")]
    trace: Traced => "trace",
    /// Every use of a symbol, with the account that shows none is missing
    #[command(after_help = "Examples:\n  lacon uses Client.send Client.close\n  lacon uses Client.send --kind calls --path src/\n  lacon uses Base --kind implements --defines run")]
    uses: Used => "uses",
}
