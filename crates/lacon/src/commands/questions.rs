//! The questions as verbs: `lacon callers X` asks the tool `get_callers` and prints the answer for a person, or in any format
//! that an agent would get. A verb's options are the tool's parameters, by the same names.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use serde::Serialize;
use serde_json::{Map, Value};
use server::project;
use server::tools::sound::{DAMAGED, sound_answer};
use server::tools::trees::{Trees, Unattended};
use server::tools::{self, Desk, Services, ShowSecrets, Wish, descriptors, failure, readable};
use terminal::failure::Failure;
use terminal::output::{Output, Reader, make_visible};
use wire::Format;

/// Where to ask and how to print.
#[derive(clap::Args)]
pub(crate) struct Asking {
    /// A folder of the tree, instead of the current one; several make a workspace
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,

    /// Where the index is kept, if not in `.lacon` inside the tree
    #[arg(long, value_name = "DIR", env = "LACON_DIR")]
    index_dir: Option<PathBuf>,

    /// Print what an agent would get: auto, json, gcx, gcf or markdown
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Print JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Tokens at most (o200k); with --format the tool's own limit holds where it is not given
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,

    #[command(flatten)]
    show_secrets: ShowSecrets,
}

/// A walk from a symbol.
#[derive(clap::Args, Serialize)]
pub(crate) struct Walk {
    /// Symbol: id, name, Owner.name or path:line
    #[arg(value_name = "SYMBOL")]
    id: String,

    /// Edges away at most
    #[arg(long, value_name = "N")]
    depth: Option<u32>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,

    #[command(flatten)]
    #[serde(flatten)]
    trust: Trust,
}

/// A symbol and its uses.
#[derive(clap::Args, Serialize)]
pub(crate) struct Uses {
    /// Symbol: id, name, Owner.name or path:line
    #[arg(value_name = "SYMBOL")]
    id: String,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,

    #[command(flatten)]
    #[serde(flatten)]
    trust: Trust,
}

/// What counts.
#[derive(clap::Args, Serialize)]
pub(crate) struct Trust {
    /// Weakest origin that counts: lsp_resolved, lsp_dispatch, ast_resolved, ast_inferred or text_matched
    #[arg(long, value_name = "ORIGIN")]
    min_tier: Option<String>,

    /// Leave out tests
    #[arg(long)]
    exclude_tests: bool,
}

/// A page of rows.
#[derive(clap::Args, Serialize)]
pub(crate) struct Page {
    /// Rows per page
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Go on where the page before ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// A symbol's text.
#[derive(clap::Args, Serialize)]
pub(crate) struct Text {
    /// Symbol: id, name, Owner.name or path:line
    #[arg(value_name = "SYMBOL")]
    id: String,

    /// Lines of context around it
    #[arg(long, value_name = "N")]
    context_lines: Option<u32>,

    /// Lines at most
    #[arg(long, value_name = "N")]
    max_lines: Option<u32>,
}

/// Words of a name.
#[derive(clap::Args, Serialize)]
pub(crate) struct Words {
    /// Name or words of it; `kind:`, `lang:` and `path:` filter
    query: String,

    /// Only this kind: function, method, type, interface, variable, …
    #[arg(long)]
    kind: Option<String>,

    /// Only paths that start with this
    #[arg(long, value_name = "PREFIX")]
    path: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

/// A file.
#[derive(clap::Args, Serialize)]
pub(crate) struct File {
    /// Path of the file, or the end of it
    path: String,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

/// A symbol to be edited.
#[derive(clap::Args, Serialize)]
pub(crate) struct Edited {
    /// Symbol: id, name, Owner.name or path:line
    #[arg(value_name = "SYMBOL")]
    id: String,

    /// Callers, dependencies and test files each at most
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

/// An analysis.
#[derive(clap::Args, Serialize)]
pub(crate) struct Kind {
    /// dead_code, hotspots, cycles, or help for what each does
    kind: String,

    /// Only paths that start with this
    #[arg(long, value_name = "PREFIX")]
    path: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,

    /// dead_code: also what is exported and used nowhere here
    #[arg(long)]
    include_exported: bool,

    /// Which repository, where there are several
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
}

/// A repository.
#[derive(clap::Args, Serialize)]
pub(crate) struct One {
    /// Which repository, where there are several
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
}

/// Any repositories.
#[derive(clap::Args, Serialize)]
pub(crate) struct Any {
    /// Which repositories, where there are several; `*` for all
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repo: Vec<String>,
}

/// A task.
#[derive(clap::Args, Serialize)]
pub(crate) struct Task {
    /// What is to be done, in words; names and paths in it count most
    task: String,

    #[command(flatten)]
    #[serde(flatten)]
    budget: Budget,
}

/// A budget of tokens.
#[derive(clap::Args, Serialize)]
pub(crate) struct Budget {
    /// Tokens at most (o200k), and nearly all are used
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    budget: u32,

    /// Say why each symbol is there
    #[arg(long)]
    explain: bool,
}

/// Some files.
#[derive(clap::Args, Serialize)]
pub(crate) struct Files {
    /// Paths, or ends of them
    #[arg(required = true)]
    files: Vec<String>,

    #[command(flatten)]
    #[serde(flatten)]
    budget: Budget,
}

/// A change.
#[derive(clap::Args, Serialize)]
pub(crate) struct Change {
    /// Branch or commit to compare with; without it the trunk, and on the trunk what is not committed
    base: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    budget: Budget,
}

/// What changes.
#[derive(clap::Args, Serialize)]
pub(crate) struct Changing {
    /// Symbols: ids, names, Owner.name or path:line
    #[arg(value_name = "SYMBOL", required_unless_present_any = ["files", "diff"])]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<String>,

    /// Files instead of symbols
    #[arg(long, value_name = "PATH", conflicts_with_all = ["symbols", "diff"])]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,

    /// What git says has changed since this branch or commit; "" for the trunk
    #[arg(long, value_name = "BASE", conflicts_with = "symbols")]
    diff: Option<String>,

    /// Uses away at most
    #[arg(long, value_name = "N")]
    depth: Option<u32>,

    #[command(flatten)]
    #[serde(flatten)]
    budget: Budget,
}

/// A symbol and its surroundings.
#[derive(clap::Args, Serialize)]
pub(crate) struct Surroundings {
    /// Symbol: id, name, Owner.name or path:line
    #[arg(value_name = "SYMBOL")]
    id: String,

    #[command(flatten)]
    #[serde(flatten)]
    budget: Budget,
}

/// A task, without a budget.
#[derive(clap::Args, Serialize)]
pub(crate) struct Intent {
    /// What is to be done, in words
    task: String,
}

/// Groups of symbols.
#[derive(clap::Args, Serialize)]
pub(crate) struct Groups {
    /// list, or for_symbol with --id
    #[arg(default_value = "list")]
    action: String,

    /// The symbol whose group is asked for
    #[arg(long, value_name = "SYMBOL")]
    id: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

/// A task to start on.
#[derive(clap::Args, Serialize)]
pub(crate) struct Started {
    /// What is to be done, in words
    task: String,

    /// Only paths that start with this
    #[arg(long, value_name = "PREFIX")]
    path: Option<String>,

    /// Symbols at most
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

/// What changed.
#[derive(clap::Args, Serialize)]
pub(crate) struct Changed {
    /// Symbols or files that changed
    #[arg(value_name = "SYMBOL", required = true)]
    ids: Vec<String>,

    /// Calls between a test and what changed, at most
    #[arg(long, value_name = "N")]
    depth: Option<u32>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

/// Both sides of contracts.
#[derive(clap::Args, Serialize)]
pub(crate) struct Sides {
    /// list: both sides of each; check: those with one side only
    #[arg(value_name = "ACTION")]
    action: Option<String>,

    /// Only http, grpc, graphql, topic or env
    #[arg(long = "type", value_name = "TYPE")]
    #[serde(rename = "type")]
    kind: Option<String>,

    /// Only routes, topics and names that start with this
    #[arg(long, value_name = "PREFIX")]
    path: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

/// Declares verbs: `module: Parameters => "tool"` makes a module with the `Args` and the `run` of a verb.
macro_rules! questions {
    ($($(#[$about:meta])* $module:ident: $parameters:ident => $tool:literal,)*) => {$(
        pub(crate) mod $module {
            #[derive(clap::Args)]
            $(#[$about])*
            pub(crate) struct Args {
                #[command(flatten)]
                parameters: super::$parameters,

                #[command(flatten)]
                asking: super::Asking,
            }

            pub(crate) fn run(
                args: Args,
                output: &mut terminal::output::Output,
            ) -> Result<(), terminal::failure::Failure> {
                super::ask($tool, &args.parameters, &args.asking, output).map(drop)
            }
        }
    )*};
}

pub(super) use questions;

questions! {
    /// Who calls a symbol, directly and through others
    #[command(after_help = "Examples:\n  lacon callers Client.send\n  lacon callers src/api.py:120 --depth 2 --exclude-tests")]
    callers: Walk => "get_callers",
    /// What a symbol calls, directly and through others
    #[command(after_help = "Examples:\n  lacon calls Client.send\n  lacon calls main --depth 3")]
    calls: Walk => "get_call_chain",
    /// Every use of a symbol
    #[command(after_help = "Examples:\n  lacon usages Cart.total\n  lacon usages Cart.total --limit 200 --json")]
    usages: Uses => "find_usages",
    /// What a symbol needs: calls, types, bases, variables, imports
    #[command(after_help = "Examples:\n  lacon dependencies Cart")]
    dependencies: Walk => "get_dependencies",
    /// What needs a symbol, directly and through others
    #[command(after_help = "Examples:\n  lacon dependents Cart --depth 2")]
    dependents: Walk => "get_dependents",
    /// What implements, extends or overrides a symbol
    #[command(after_help = "Examples:\n  lacon implementations Transport")]
    implementations: Walk => "find_implementations",
    /// The source text of a symbol
    #[command(after_help = "Examples:\n  lacon source Client.send\n  lacon source src/api.py:120 --context-lines 3")]
    source: Text => "get_symbol_source",
    /// Find symbols by name or words of it
    #[command(after_help = "Examples:\n  lacon symbols \"admin save\"\n  lacon symbols parse --kind function --path src/")]
    symbols: Words => "search_symbols",
    /// What one file declares
    #[command(after_help = "Examples:\n  lacon summary src/api.py")]
    summary: File => "get_file_summary",
    /// What to know before changing a symbol: callers, dependencies, tests
    #[command(after_help = "Examples:\n  lacon editing-context Client.send")]
    editing_context: Edited => "get_editing_context",
    /// A repository at a glance
    #[command(after_help = "Examples:\n  lacon outline")]
    outline: One => "get_repo_outline",
    /// How much is indexed
    #[command(after_help = "Examples:\n  lacon stats --json")]
    stats: Any => "graph_stats",
    /// Questions about the whole graph: dead_code, hotspots, cycles
    #[command(after_help = "Examples:\n  lacon analyze dead_code --path src/\n  lacon analyze hotspots --limit 10")]
    analyze: Kind => "analyze",
    /// Where to start on a task: what matters, with reasons
    #[command(after_help = "Examples:\n  lacon start \"redirects lose the authorization header\"")]
    start: Started => "smart_context",
    /// Tests that exercise what changed, and the commands that run them
    #[command(after_help = "Examples:\n  lacon tests Client.send\n  lacon tests src/api.py")]
    covering: Changed => "get_test_targets",
    /// What programs offer each other: routes, gRPC, GraphQL, topics, variables
    #[command(after_help = "Examples:\n  lacon contracts list --type http\n  lacon contracts check")]
    contracts: Sides => "contracts",
    /// What matters for a task, within a budget of tokens
    #[command(after_help = "Examples:\n  lacon context \"add a timeout to uploads\" --budget 4000")]
    context: Task => "context_for_task",
    /// What to know before working on some files
    #[command(after_help = "Examples:\n  lacon context-files src/api.py src/models.py")]
    context_files: Files => "context_for_files",
    /// What to know about the changes of this branch
    #[command(after_help = "Examples:\n  lacon context-pr\n  lacon context-pr --base origin/main")]
    context_pr: Change => "context_for_pr",
    /// What a change may break, by distance
    #[command(after_help = "Examples:\n  lacon blast-radius Client.send")]
    blast_radius: Changing => "blast_radius",
    /// One symbol and what surrounds it
    #[command(after_help = "Examples:\n  lacon explain Client.send --budget 3000")]
    explain: Surroundings => "explain_symbol",
    /// Which symbols belong together
    #[command(after_help = "Examples:\n  lacon communities\n  lacon communities for_symbol --id Client")]
    communities: Groups => "communities",
    /// Which questions to ask next for a task
    #[command(after_help = "Examples:\n  lacon plan \"why are cookies lost on redirects?\"")]
    plan: Intent => "plan_turn",
}

/// How long a process that follows the tree has to take up what changed.
const WRITER: Duration = Duration::from_secs(1);

/// Asks a tool and prints its answer, which is returned as an agent would get it.
pub(super) fn ask(
    tool: &str,
    parameters: &impl Serialize,
    asking: &Asking,
    output: &mut Output,
) -> Result<String, Failure> {
    let tool = tools::find(tool).ok_or_else(|| anyhow!("no tool `{tool}`"))?;
    let mut arguments = match serde_json::to_value(parameters)? {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    // A person reads as far as there is something to read; only what is meant for an agent, or read by both, keeps to the tool's limit.
    let for_agent = asking.format.is_some();
    let is_text = tool.is_read_as_text() && !asking.json;
    let max_tokens = asking
        .max_tokens
        .or((!for_agent && !is_text).then_some(u64::from(u32::MAX)));
    arguments.insert("max_tokens".into(), max_tokens.into());
    let trees = Trees::open(&project::indexed(&asking.root)?, asking.index_dir.as_deref())?;
    let fresh = trees.fresh_workspace(WRITER, Unattended::Updated);
    let workspace = fresh.map_err(failure)?;
    let desk = Desk {
        workspace: &workspace,
        services: &Services {
            one_shot: true,
            credentials: asking.show_secrets.into(),
            ..Services::default()
        },
        caller: "command line",
        wish: Wish::default(),
    };
    let min_tier = arguments.get("min_tier").and_then(Value::as_str).map(str::to_owned);
    let format = asking
        .format
        .unwrap_or(if is_text { Format::Text } else { Format::Json });
    let said = sound_answer(tool, &desk, arguments, format).map_err(|refusal| {
        let is_damaged = refusal.code == DAMAGED;
        if is_damaged {
            trees.give_up_damaged();
        }
        let mut failure = failure(refusal);
        if is_damaged {
            failure.hints.push("run `lacon index`, which makes it anew".to_owned());
        }
        failure
    })?;
    if for_agent || is_text {
        output.line(&said.text);
    } else {
        let mut value: Value = serde_json::from_str(&said.text)?;
        // Before it is painted, so that nothing in it passes for our own colours.
        if !asking.json && output.reader() == Reader::Terminal {
            make_visible(&mut value);
        }
        match asking.json {
            true => output.json(&value)?,
            false => match descriptors::markdown(tool.name, &value)
                .or_else(|| tools::search::readable(tool.name, &value, output.paint()))
                .or_else(|| tools::readable_packs::readable(tool.name, &value, output.paint()))
            {
                Some(text) => output.line(text),
                None => {
                    output.line(readable::text(&value, output.paint()));
                    if let Some(nothing) = readable::nothing(tool.name, &value, min_tier.as_deref()) {
                        output.line(nothing);
                    }
                }
            },
        }
    }
    match said.note {
        // What a program reads is JSON and nothing else.
        Some(note) if asking.json || asking.format == Some(Format::Json) => tracing::warn!("{note}"),
        Some(note) => output.line(note),
        None => {}
    }
    Ok(said.text)
}
