//! The questions that a compiler answers best as verbs: `lacon references Cart.add --wait` asks `find_references`. Without `--wait` the
//! graph answers and no language server is started.

use codeintel::compiler::{Compilers, Enrich, edges_by_origin, enrich as ask_all};
use serde::{Serialize, Serializer};
use serde_json::json;
use server::tools::trees::Trees;
use server::tools::{Services, readable};
use terminal::failure::Failure;
use terminal::output::Output;

use super::questions::{Asking, Page, ask, questions};

/// A symbol or a place.
#[derive(clap::Args, Serialize)]
pub(crate) struct Place {
    /// Symbol: id, name, Owner.name or path:line:column
    #[arg(value_name = "SYMBOL")]
    symbol: String,

    #[command(flatten)]
    #[serde(flatten)]
    patience: Patience,
}

/// A symbol or a place, and how many rows.
#[derive(clap::Args, Serialize)]
pub(crate) struct Listed {
    #[command(flatten)]
    #[serde(flatten)]
    place: Place,

    /// Rows at most
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

/// A symbol or a place, and a page of rows.
#[derive(clap::Args, Serialize)]
pub(crate) struct Paged {
    #[command(flatten)]
    #[serde(flatten)]
    place: Place,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

/// A file, a folder, or everything.
#[derive(clap::Args, Serialize)]
pub(crate) struct Files {
    /// Path of a file or of a folder; the whole workspace without it
    path: Option<String>,

    /// Least severity: error, warning, information or hint
    #[arg(long, value_name = "SEVERITY")]
    severity: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,

    #[command(flatten)]
    #[serde(flatten)]
    patience: Patience,
}

/// What to compare with.
#[derive(clap::Args, Serialize)]
pub(crate) struct Base {
    /// Commit or branch (default the trunk); HEAD for what is not committed
    base: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,

    /// Which repository, where there are several
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
}

/// How long to wait.
#[derive(clap::Args, Serialize)]
pub(crate) struct Patience {
    /// Wait until the language server has read the project, and answer with what it says
    #[arg(long)]
    #[serde(serialize_with = "as_word", skip_serializing_if = "std::ops::Not::not")]
    wait: bool,

    /// Milliseconds at most
    #[arg(long, value_name = "MS")]
    max_wait_ms: Option<u64>,
}

fn as_word<S: Serializer>(_: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("lsp")
}

questions! {
    /// Every mention of a symbol, by file
    #[command(after_help = "Examples:\n  lacon references Client.send\n  lacon references src/api.py:120:9 --wait")]
    references: Paged => "find_references",
    /// Where what stands at a place is defined
    #[command(after_help = "Examples:\n  lacon definition src/api.py:120:9")]
    definition: Paged => "go_to_definition",
    /// Type, signature and documentation of what stands at a place
    #[command(after_help = "Examples:\n  lacon hover src/api.py:120:9 --wait")]
    hover: Place => "hover",
    /// Errors and warnings of the compiler
    #[command(after_help = "Examples:\n  lacon diagnostics src/api.py --wait")]
    diagnostics: Files => "get_diagnostics",
    /// A symbol at a glance: what it is, source, callers, mentions, tests
    #[command(after_help = "Examples:\n  lacon explore Client.send")]
    explore: Listed => "explore_symbol",
    /// Fixes and refactorings that the compiler offers at a place
    #[command(after_help = "Examples:\n  lacon fixes src/api.py:120 --wait")]
    fixes: Listed => "suggest_fixes",
    /// Which symbols differ from a commit, and how far that reaches
    #[command(after_help = "Examples:\n  lacon changes\n  lacon changes HEAD")]
    changes: Base => "detect_changes",
}

pub(crate) mod enrich {
    /// Ask the language servers about every symbol and keep what they say with the index
    #[derive(clap::Args)]
    #[command(after_help = "Examples:\n  lacon enrich\n  lacon enrich --language python --path src/ --seconds 60")]
    pub(crate) struct Args {
        #[command(flatten)]
        pub(super) place: crate::commands::index::Place,

        /// Only this language
        #[arg(long, value_name = "LANGUAGE")]
        pub(super) language: Option<String>,

        /// Only paths that start with this
        #[arg(long, value_name = "PREFIX")]
        pub(super) path: Option<String>,

        /// Seconds at most
        #[arg(long, value_name = "N", default_value_t = 300)]
        pub(super) seconds: u64,

        /// Print JSON
        #[arg(long)]
        pub(super) json: bool,
    }

    pub(crate) fn run(args: Args, output: &mut super::Output) -> Result<(), super::Failure> {
        super::enrich_tree(args, output)
    }
}

fn enrich_tree(args: enrich::Args, output: &mut Output) -> Result<(), Failure> {
    let trees = Trees::open(&[args.place.to_read()?], args.place.index_dir.as_deref())?;
    let workspace = trees.workspace().map_err(server::tools::failure)?;
    let services = Services::default();
    let compilers = Compilers {
        servers: &services.compilers,
        memory: &services.told,
        eager: true,
    };
    let asked = Enrich {
        language: args.language,
        path: args.path,
        seconds: Some(args.seconds),
    };
    let before = edges_by_origin(&services.told.enrich((*workspace).clone()));
    let found = ask_all(&workspace, compilers, &asked, &|| false)
        .map_err(|error| server::tools::failure(server::tools::refused(error)))?;
    let mut value = serde_json::to_value(&found)?;
    let after = edges_by_origin(&services.told.enrich((*workspace).clone()));
    value["edges"] = after
        .iter()
        .map(|(origin, edges)| json!({"origin": origin, "edges": edges, "before": before.get(origin).unwrap_or(&0)}))
        .collect();
    match args.json {
        true => output.json(&value)?,
        false => output.line(readable::text(&value, output.paint())),
    }
    Ok(())
}
