//! Questions that a compiler answers better than the graph, and that the graph answers while no compiler can.
//!
//! The rule of them all: the graph's answer is there at once; a language server that has read the project replaces it; one that
//! has not is waited for only if the caller says so. Every answer carries its [`Standing`]: which tier it is from, whether it is
//! complete, and if not, why.

mod call_hierarchy;
mod changes;
mod code;
mod confirmed;
mod cross_repo;
mod definition;
mod diagnostics;
mod enrich;
mod explore;
pub mod layouts;
mod levels;
mod memory;
mod pages;
mod place;
mod references;
mod symbols;
mod type_hierarchy;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lsp::{Place, Server, Servers, State, Texts};
use serde::Serialize;

pub use call_hierarchy::{CallHierarchy, FindCallers, call_hierarchy, find_callers};
pub use changes::{DetectChanges, detect_changes};
pub use code::{
    GetCompletions, Hover, SemanticTokens, SignatureHelp, SuggestFixes, get_completions, get_signature_help, hover,
    semantic_tokens, suggest_fixes,
};
pub use confirmed::Confirmed;
pub use cross_repo::{CrossRepo, cross_repo};
pub use definition::{GoTo, go_to_definition, implementation, type_definition};
pub use diagnostics::{GetDiagnostics, get_diagnostics};
pub use enrich::{Enrich, Enriched, edges_by_origin, enrich};
pub use explore::{Explore, explore_symbol};
pub use memory::Memory;
pub use place::{Pointed, Pointer, point};
pub use references::{FindReferences, find_references};
pub use symbols::{FindSymbol, ListSymbols, find_symbol, list_symbols};
pub use type_hierarchy::{TypeHierarchy, type_hierarchy};

use crate::error::QuestionError;
use crate::workspace::{Repository, Workspace};

/// The compilers that questions may be put to.
#[derive(Clone, Copy)]
pub struct Compilers<'a> {
    /// All of them.
    pub servers: &'a Servers,
    /// What they were told and what they said.
    pub memory: &'a Memory,
    /// Whether a question starts a server that it does not wait for, so that the next one finds it warm. A process that answers
    /// one question and ends should not.
    pub eager: bool,
}

/// How far to wait for a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Not for it to become ready; once it is, this long for its answer.
    Warm(Duration),
    /// This long in all.
    Ready(Duration),
}

/// How long a warm server may take for one answer.
const WARM: Duration = Duration::from_secs(10);
/// How long `wait: lsp` waits where the call does not say: a large project takes minutes to be read, and whoever waits no longer
/// cancels the call.
const PATIENCE: Duration = Duration::from_secs(180);
/// A server that became ready late still gets this long for its answer.
const ANSWER: Duration = Duration::from_secs(60);
/// Longest wait that can be asked for.
const MAX_PATIENCE: Duration = Duration::from_secs(600);

impl Wait {
    pub(crate) fn of(wait: Option<&str>, milliseconds: Option<u64>) -> Result<Wait, QuestionError> {
        let given = milliseconds.map(|wait| Duration::from_millis(wait).min(MAX_PATIENCE));
        match wait {
            None | Some("no") => Ok(Wait::Warm(given.unwrap_or(WARM))),
            Some("lsp") => Ok(Wait::Ready(given.unwrap_or(PATIENCE))),
            Some(other) => Err(QuestionError::Argument {
                name: "wait",
                problem: format!("expected `lsp` or nothing, not `{other}`"),
            }),
        }
    }
}

/// Where an answer comes from and how far it can be relied on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// `lsp`: a language server that has read the project. `graph`: the index alone.
    pub tier: &'static str,
    /// Which server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Whether nothing is missing that the tier could know.
    pub complete: bool,
    /// What is missing, and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Standing {
    /// A server's answer.
    pub(crate) fn compiler(compiler: &Compiler, workspace: &Workspace) -> Standing {
        let note = compiler.partial.clone().or_else(|| workspace.incomplete());
        Standing {
            tier: "lsp",
            server: Some(compiler.server.name().to_string()),
            complete: compiler.partial.is_none(),
            note,
        }
    }

    /// The graph's answer, because of this. It never counts as complete: the graph does not know types as a compiler does.
    pub(crate) fn graph(workspace: &Workspace, why: String) -> Standing {
        let note = match workspace.incomplete() {
            Some(missing) => format!("{why}; {missing}"),
            None => why,
        };
        Standing {
            tier: "graph",
            server: None,
            complete: false,
            note: Some(note),
        }
    }

    /// Adds a remark.
    pub(crate) fn remark(&mut self, remark: String) {
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note}; {remark}"),
            None => remark,
        });
    }
}

/// A server that is ready to be asked about one file.
pub(crate) struct Compiler {
    pub(crate) server: Server,
    pub(crate) deadline: Instant,
    /// Why it does not know the whole project, if it does not.
    pub(crate) partial: Option<String>,
}

impl Compilers<'_> {
    /// The compiler for a file of a repository, with the file open in it; or why there is none now.
    pub(crate) fn for_file(
        &self,
        repository: &Repository,
        path: &str,
        language: &str,
        wait: Wait,
    ) -> Result<Compiler, String> {
        let absolute = repository.root.join(path);
        let server = self
            .servers
            .server(&repository.root, language, Some(&absolute))
            .map_err(|state| state.to_string())?;
        let waits = matches!(wait, Wait::Ready(_));
        if !waits && !self.eager && server.state() == State::Idle {
            return Err(format!("{} was not asked; wait: lsp asks it", server.name()));
        }
        server
            .prepare(&absolute, language)
            .map_err(|error| format!("`{path}` cannot be opened in {}: {error}", server.name()))?;
        self.memory.tell_changes(&server, repository);
        let (Wait::Warm(patience) | Wait::Ready(patience)) = wait;
        let deadline = Instant::now() + patience;
        let state = if waits {
            server.wait_ready(deadline)
        } else {
            server.state()
        };
        match state {
            State::Ready { partial } => Ok(Compiler {
                server,
                deadline: if waits {
                    deadline.max(Instant::now() + ANSWER.min(patience))
                } else {
                    deadline
                },
                partial,
            }),
            State::Idle | State::Starting { .. } if waits => {
                Err(format!("{state} after {} s; ask again", patience.as_secs()))
            }
            State::Idle => Err(format!("{} is starting; wait: lsp waits for it", server.name())),
            State::Starting { .. } => Err(format!("{state}; wait: lsp waits for it")),
            state => Err(state.to_string()),
        }
    }
}

/// A path of the disk as answers give it: with its repository if it is in one, else as it is.
pub(crate) fn shown(workspace: &Workspace, path: &Path) -> (String, Option<(usize, String)>) {
    let inside = workspace
        .repositories()
        .iter()
        .enumerate()
        .find_map(|(number, repository)| {
            let inner = path.strip_prefix(&repository.root).ok()?;
            Some((number, inner.to_string_lossy().into_owned()))
        });
    match inside {
        Some((number, inner)) => (workspace.path(number, &inner), Some((number, inner))),
        None => (path.to_string_lossy().into_owned(), None),
    }
}

/// Writes places as answers give them: 1-based, in characters.
pub(crate) struct Writer<'a> {
    workspace: &'a Workspace,
    texts: Texts,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Writer<'a> {
        Writer {
            workspace,
            texts: Texts::default(),
        }
    }

    /// With the texts that a server has.
    pub(crate) fn of(workspace: &'a Workspace, server: &Server) -> Writer<'a> {
        Writer {
            workspace,
            texts: server.texts(),
        }
    }

    /// `line:column`. Files outside of the workspace are not read: there the server's own column stands.
    pub(crate) fn place(&mut self, path: &Path, place: Place) -> String {
        format!("{}:{}", place.line, self.column(path, place))
    }

    /// The column alone.
    pub(crate) fn column(&mut self, path: &Path, place: Place) -> u32 {
        match shown(self.workspace, path).1 {
            Some(_) => self.texts.of(path).character(place),
            None => place.column + 1,
        }
    }

    /// One line of a file of the workspace, without the space around it.
    pub(crate) fn line(&mut self, path: &Path, line: u32) -> String {
        const MAX_LINE: usize = 200;
        match shown(self.workspace, path).1 {
            Some(_) => self.texts.of(path).line(line).trim().chars().take(MAX_LINE).collect(),
            None => String::new(),
        }
    }
}

/// The absolute path of a file of a repository.
pub(crate) fn absolute(repository: &Repository, path: &str) -> PathBuf {
    repository.root.join(path)
}
