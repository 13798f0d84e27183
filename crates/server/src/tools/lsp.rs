//! The questions that a compiler answers best: at once by the graph, by the language server as soon as it is ready.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use codeintel::compiler::{self, Compilers, layouts};
use codeintel::{QuestionError, Workspace};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wire::layout::Layout;
use wire::protocol::{Refusal, Scope};

use super::trees::Trees;
use super::{Cut, Desk, Reply, Services, Tool, Toolset, read, refused, schema, value};

/// One row; what differs between the tools is the question and how long its answer may be.
const fn tool(
    name: &'static str,
    about: &'static str,
    max_tokens: usize,
    cut: Cut,
    parameters: fn() -> Value,
    ask: fn(&Desk, Map<String, Value>) -> Result<Reply, Refusal>,
) -> Tool {
    Tool {
        name,
        about,
        toolset: Toolset::Lsp,
        scope: Scope::Workspace,
        max_tokens,
        cut,
        writes: false,
        parameters,
        ask,
    }
}

/// Which servers the user wants: `LACON_LSP=off` for none, else the file that `LACON_LSP_CONFIG` names or `lacon/lsp.toml` in the user's
/// configuration directory. A tree cannot say it: opening a repository must not choose what is run.
pub fn config() -> ::lsp::Config {
    let wanted = wanted();
    ::lsp::Config {
        trust: crate::trust::trust(),
        sandbox: wanted.sandbox && !crate::trust::sandbox_is_off(),
        ..wanted
    }
}

fn wanted() -> ::lsp::Config {
    if std::env::var("LACON_LSP").is_ok_and(|word| word == "off") {
        return ::lsp::Config {
            off: true,
            ..::lsp::Config::default()
        };
    }
    let named = std::env::var_os("LACON_LSP_CONFIG").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".config"));
    // A relative one would lie in the tree that this process was started in.
    let usual = || {
        let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        folder.filter(|folder| folder.is_absolute()).or_else(home)
    };
    let path = named.clone().or_else(|| Some(usual()?.join("lacon/lsp.toml")));
    let read = path.as_ref().map(std::fs::read_to_string);
    match (read, path) {
        (Some(Ok(text)), Some(path)) => ::lsp::Config::parse(&text).unwrap_or_else(|error| {
            tracing::warn!(path = %path.display(), %error, "the language servers' configuration does not read; the usual ones are used");
            ::lsp::Config::default()
        }),
        (Some(Err(error)), Some(path)) if named.is_some() => {
            tracing::warn!(path = %path.display(), %error, "the language servers' configuration cannot be read");
            ::lsp::Config::default()
        }
        _ => ::lsp::Config::default(),
    }
}

/// What compilers know.
pub(super) const TOOLS: &[Tool] = &[
    tool(
        "find_references",
        "Every mention of a symbol, by file.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::FindReferences>,
        |desk, arguments| put(layouts::FIND_REFERENCES, desk, arguments, compiler::find_references),
    ),
    tool(
        "go_to_definition",
        "Where what stands at a place is defined.",
        2_000,
        Cut::Rows,
        schema::of::<compiler::GoTo>,
        |desk, arguments| {
            put(
                layouts::targets("go_to_definition"),
                desk,
                arguments,
                compiler::go_to_definition,
            )
        },
    ),
    tool(
        "type_definition",
        "Where the type of what stands at a place is defined.",
        2_000,
        Cut::Rows,
        schema::of::<compiler::GoTo>,
        |desk, arguments| {
            put(
                layouts::targets("type_definition"),
                desk,
                arguments,
                compiler::type_definition,
            )
        },
    ),
    tool(
        "implementation",
        "What implements or overrides a symbol.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::GoTo>,
        |desk, arguments| {
            put(
                layouts::targets("implementation"),
                desk,
                arguments,
                compiler::implementation,
            )
        },
    ),
    tool(
        "hover",
        "Type, signature and documentation of what stands at a place.",
        4_000,
        Cut::Never,
        schema::of::<compiler::Hover>,
        |desk, arguments| put(Layout::generic("hover"), desk, arguments, compiler::hover),
    ),
    tool(
        "get_diagnostics",
        "Errors and warnings of the compiler, of the text as it is now.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::GetDiagnostics>,
        |desk, arguments| put(layouts::GET_DIAGNOSTICS, desk, arguments, compiler::get_diagnostics),
    ),
    tool(
        "list_symbols",
        "What a file declares, with signatures and lines.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::ListSymbols>,
        |desk, arguments| put(layouts::LIST_SYMBOLS, desk, arguments, compiler::list_symbols),
    ),
    tool(
        "find_symbol",
        "Symbols by name, as the compilers know them.",
        2_000,
        Cut::Rows,
        schema::of::<compiler::FindSymbol>,
        |desk, arguments| put(layouts::FIND_SYMBOL, desk, arguments, compiler::find_symbol),
    ),
    tool(
        "find_callers",
        "Who calls a symbol, with the place of every call.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::FindCallers>,
        |desk, arguments| put(layouts::calls("find_callers"), desk, arguments, compiler::find_callers),
    ),
    tool(
        "call_hierarchy",
        "Who calls a symbol and whom it calls, several calls away.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::CallHierarchy>,
        |desk, arguments| {
            put(
                layouts::calls("call_hierarchy"),
                desk,
                arguments,
                compiler::call_hierarchy,
            )
        },
    ),
    tool(
        "type_hierarchy",
        "What a type extends and what extends it.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::TypeHierarchy>,
        |desk, arguments| put(layouts::TYPE_HIERARCHY, desk, arguments, compiler::type_hierarchy),
    ),
    tool(
        "explore_symbol",
        "A symbol at a glance: what it is, source, callers, mentions, tests.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::Explore>,
        |desk, arguments| put(layouts::EXPLORE_SYMBOL, desk, arguments, compiler::explore_symbol),
    ),
    tool(
        "get_signature_help",
        "How what is called at a place is called.",
        2_000,
        Cut::Never,
        schema::of::<compiler::SignatureHelp>,
        |desk, arguments| {
            put(
                Layout::generic("get_signature_help"),
                desk,
                arguments,
                compiler::get_signature_help,
            )
        },
    ),
    tool(
        "get_completions",
        "What could be written at a place.",
        2_000,
        Cut::Rows,
        schema::of::<compiler::GetCompletions>,
        |desk, arguments| put(layouts::GET_COMPLETIONS, desk, arguments, compiler::get_completions),
    ),
    tool(
        "semantic_tokens",
        "What each word of a file is.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::SemanticTokens>,
        |desk, arguments| put(layouts::SEMANTIC_TOKENS, desk, arguments, compiler::semantic_tokens),
    ),
    tool(
        "suggest_fixes",
        "Fixes and refactorings that the compiler offers at a place.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::SuggestFixes>,
        |desk, arguments| {
            put(
                Layout::generic("suggest_fixes"),
                desk,
                arguments,
                compiler::suggest_fixes,
            )
        },
    ),
    tool(
        "cross_repo",
        "Who in the other repositories uses a symbol.",
        4_000,
        Cut::Rows,
        schema::of::<compiler::CrossRepo>,
        |desk, arguments| put(layouts::CROSS_REPO, desk, arguments, compiler::cross_repo),
    ),
    Tool {
        scope: Scope::Repo,
        ..tool(
            "detect_changes",
            "Which symbols differ from a commit, and how far that reaches.",
            4_000,
            Cut::Rows,
            schema::of::<compiler::DetectChanges>,
            |desk, arguments| put(layouts::DETECT_CHANGES, desk, arguments, compiler::detect_changes),
        )
    },
];

/// How long nobody must have asked before the servers are asked about the rest, and how often that is looked at.
const QUIET: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_secs(1);

/// Asks the servers that run about every symbol while nobody else asks, where the user's configuration says `enrich = true`. Starts
/// no server, and makes way for a question after the one under way.
pub fn enrich_in_background(trees: &Arc<Trees>, services: &Arc<Services>) {
    if !services.compilers.enriches() {
        return;
    }
    let (trees, services) = (Arc::downgrade(trees), Arc::downgrade(services));
    std::thread::spawn(move || {
        // The tree whose every symbol is known.
        let mut done = None;
        loop {
            std::thread::sleep(LOOK);
            let (Some(trees), Some(services)) = (trees.upgrade(), services.upgrade()) else {
                return;
            };
            let Ok(workspace) = trees.workspace() else { continue };
            let digests: Vec<[u8; 32]> = workspace
                .repositories()
                .iter()
                .map(|repository| *repository.snapshot.tree_digest())
                .collect();
            if !services.told.is_quiet(QUIET) || workspace.incomplete().is_some() || done.as_ref() == Some(&digests) {
                continue;
            }
            let compilers = Compilers {
                servers: &services.compilers,
                memory: &services.told,
                eager: false,
            };
            let stopped = std::cell::Cell::new(false);
            let stop = || {
                stopped.set(stopped.get() || !services.told.is_quiet(QUIET));
                stopped.get()
            };
            let ask = compiler::Enrich {
                seconds: Some(60),
                ..compiler::Enrich::default()
            };
            match compiler::enrich(&workspace, compilers, &ask, &stop) {
                Ok(found) => {
                    let asked: u64 = found.languages.iter().map(|row| row.asked).sum();
                    tracing::debug!(asked, seconds = found.seconds, "asked compilers in the background");
                    if asked == 0 && !stopped.get() {
                        done = Some(digests);
                    }
                }
                Err(error) => tracing::debug!(%error, "compilers could not be asked in the background"),
            }
        }
    });
}

type Question<P, A> = fn(&Workspace, Compilers<'_>, &P) -> Result<A, QuestionError>;

fn put<P: DeserializeOwned, A: Serialize>(
    layout: Layout<'static>,
    desk: &Desk,
    arguments: Map<String, Value>,
    question: Question<P, A>,
) -> Result<Reply, Refusal> {
    let compilers = Compilers {
        servers: &desk.services.compilers,
        memory: &desk.services.told,
        eager: !desk.services.one_shot,
    };
    desk.services.told.note_question();
    let found = question(desk.workspace, compilers, &read(arguments)?).map_err(refused)?;
    desk.services.told.note_question();
    Ok(Reply {
        value: value(&found)?,
        layout,
    })
}
