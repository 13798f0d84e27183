//! Edits of the code, tried or made: what the edit tools and `lacon undo` do.
//!
//! Every edit goes to a draft. Without a session the draft is written at once, through the journal of its repository; with one
//! it stays a draft until the session is committed. A place is found in the text as the draft has it, so an index that lags
//! behind never moves an edit to the wrong lines.

mod evaluate;
mod find;
mod left;
mod parameters;
mod refactor;
mod removed;
mod unused;
mod written;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use codeintel::{Repository, Workspace};
use lsp::edits::{Allowed, Draft, Drafts, EditError, Journal, line_counts, unified_diff};
use lsp::{FileChange, Servers};
use serde::Serialize;
use wire::protocol::Refusal;

use crate::tools::refusal;
pub(crate) use evaluate::evaluate;
use parameters::Aim;
pub(crate) use parameters::{
    ApplyEdit, Chain, Delete, Format, InsertAtSymbol, Open, Preview, Rename, ReplaceSymbol, Session, SimulateEdit,
};
pub(crate) use refactor::{format_document, rename_symbol};
pub(crate) use written::{recover, take_notices};

/// Said of an edit that changes nothing.
const NOTHING: &str = "nothing changes: the text is already like that";
/// Lines of context around a change that is shown.
const CONTEXT: usize = 2;

/// Files that may be edited although other programs run them, as paths separated like those of `PATH`.
const ALLOW_EDIT: &str = "LACON_ALLOW_EDIT";

/// The drafts of all clients of this process.
pub struct Workbench {
    drafts: Mutex<Drafts>,
    /// Said by whoever started this process, never by a call: the model that calls reads what a hostile repository says.
    allowed: Allowed,
    /// What the index may not have seen yet.
    written: Mutex<Vec<written::Written>>,
}

impl Default for Workbench {
    fn default() -> Workbench {
        Workbench::allowing(&[])
    }
}

impl Workbench {
    /// With these files, and those that the environment names, free to be edited although other programs run them.
    pub fn allowing(paths: &[String]) -> Workbench {
        let variable = std::env::var_os(ALLOW_EDIT).unwrap_or_default();
        let named = std::env::split_paths(&variable).map(|path| path.to_string_lossy().into_owned());
        Workbench {
            drafts: Mutex::default(),
            allowed: Allowed::new(named.chain(paths.iter().cloned())),
            written: Mutex::default(),
        }
    }
}

/// Whose drafts and which code.
pub(crate) struct Editor<'a> {
    pub(crate) bench: &'a Workbench,
    pub(crate) workspace: &'a Workspace,
    pub(crate) servers: &'a Servers,
    /// Who asks; nobody else sees its sessions.
    pub(crate) owner: &'a str,
}

/// What an edit did, or would do.
#[derive(Debug, Serialize)]
pub(crate) struct Edited {
    /// Whether the files were written.
    pub(crate) written: bool,
    /// What `lacon undo` takes to take it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) undo: Option<String>,
    /// The session that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    pub(crate) files: Vec<EditedFile>,
    /// Why nothing was written, and what a crash had left to be put right first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// What would change; left out of what was written, since whoever wrote it knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct EditedFile {
    pub(crate) path: String,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// A session that was opened or closed.
#[derive(Debug, Serialize)]
pub(crate) struct SessionState {
    pub(crate) session: String,
    pub(crate) state: &'static str,
}

/// One change of a draft.
type Change<'c> = &'c dyn Fn(&mut Draft) -> Result<(), Refusal>;

impl Editor<'_> {
    pub(crate) fn apply_edit(&self, ask: &ApplyEdit) -> Result<Edited, Refusal> {
        let (repository, path) = find::file(self.workspace, &ask.edit.path)?;
        let change = |draft: &mut Draft| ask.edit.put(draft, &path);
        self.make(repository, &ask.aim, &format!("apply_edit {path}"), &change)
    }

    pub(crate) fn replace_symbol_body(&self, ask: &ReplaceSymbol) -> Result<Edited, Refusal> {
        let target = find::symbol(self.workspace, &ask.which)?;
        let change =
            |draft: &mut Draft| target.change(draft, |definition, text| definition.replace(text, &ask.new_text));
        let about = format!("replace_symbol_body {}", target.asked);
        self.make(target.repository, &ask.aim, &about, &change)
    }

    pub(crate) fn insert_before_symbol(&self, ask: &InsertAtSymbol) -> Result<Edited, Refusal> {
        let target = find::symbol(self.workspace, &ask.which)?;
        let change =
            |draft: &mut Draft| target.change(draft, |definition, text| definition.before(text, &ask.new_text));
        let about = format!("insert_before_symbol {}", target.asked);
        self.make(target.repository, &ask.aim, &about, &change)
    }

    pub(crate) fn insert_after_symbol(&self, ask: &InsertAtSymbol) -> Result<Edited, Refusal> {
        let target = find::symbol(self.workspace, &ask.which)?;
        let change = |draft: &mut Draft| target.change(draft, |definition, text| definition.after(text, &ask.new_text));
        let about = format!("insert_after_symbol {}", target.asked);
        self.make(target.repository, &ask.aim, &about, &change)
    }

    /// Deletes a symbol that nothing else uses. What uses it is named otherwise, and nothing is written.
    pub(crate) fn safe_delete_symbol(&self, ask: &Delete, patience: Duration) -> Result<Edited, Refusal> {
        let target = find::symbol(self.workspace, &ask.which)?;
        let change = |draft: &mut Draft| target.change(draft, |definition, text| definition.delete(text));
        let looked = match ask.force {
            true => None,
            false => {
                let mut without = self.draft_of(&target.repository.root);
                change(&mut without)?;
                let looked = unused::refuse_if_used(self.workspace, self.servers, &target, &without, patience)?;
                Some(looked)
            }
        };
        let about = format!("safe_delete_symbol {}", target.asked);
        let mut edited = self.make(target.repository, &ask.aim, &about, &change)?;
        let notes: Vec<String> = looked.into_iter().chain(edited.note.take()).collect();
        edited.note = (!notes.is_empty()).then(|| notes.join("; "));
        Ok(edited)
    }

    pub(crate) fn create_session(&self, ask: &Open) -> Result<SessionState, Refusal> {
        let root = match (&ask.path, self.workspace.repositories()) {
            (Some(path), _) => find::file(self.workspace, path)?.0.root.clone(),
            (None, [only]) => only.root.clone(),
            (None, _) => {
                return Err(refusal(
                    "invalid_argument",
                    "argument `path`: name a file of the repository that the session is about",
                ));
            }
        };
        let session = self.drafts().open(self.owner, self.draft_of(&root));
        let session = session.map_err(edit_refused)?;
        Ok(SessionState { session, state: "open" })
    }

    pub(crate) fn simulate_edit(&self, ask: &SimulateEdit) -> Result<Edited, Refusal> {
        let (repository, path) = find::file(self.workspace, &ask.edit.path)?;
        let change = |draft: &mut Draft| ask.edit.put(draft, &path);
        self.make(repository, &Aim::session(&ask.session), "", &change)
    }

    /// All edits of a chain, or none of them.
    pub(crate) fn simulate_chain(&self, ask: &Chain) -> Result<Edited, Refusal> {
        let Some(first) = ask.edits.first() else {
            return Err(refusal(
                "invalid_argument",
                "argument `edits`: expected at least one edit",
            ));
        };
        let (repository, _) = find::file(self.workspace, &first.path)?;
        let change = |draft: &mut Draft| {
            ask.edits.iter().try_for_each(|edit| {
                let (_, path) = find::file(self.workspace, &edit.path)?;
                edit.put(draft, &path)
            })
        };
        self.make(repository, &Aim::session(&ask.session), "", &change)
    }

    /// A draft of one edit, for looking at: no session, nothing written.
    pub(crate) fn preview(&self, ask: &Preview) -> Result<Draft, Refusal> {
        let (repository, path) = find::file(self.workspace, &ask.edit.path)?;
        let mut draft = self.draft_of(&repository.root);
        ask.edit.put(&mut draft, &path)?;
        Ok(draft)
    }

    /// What a session holds, as it is now.
    pub(crate) fn draft(&self, session: &str) -> Result<Draft, Refusal> {
        self.drafts()
            .get(self.owner, session)
            .cloned()
            .ok_or_else(|| no_session(session))
    }

    /// Writes what a session holds, whole or not at all, and ends it.
    pub(crate) fn commit_session(&self, ask: &Session) -> Result<Edited, Refusal> {
        let draft = self.draft(&ask.session)?;
        let edited = self.write(&draft, &format!("commit_session {}", ask.session))?;
        self.drafts().close(self.owner, &ask.session);
        Ok(edited)
    }

    pub(crate) fn discard_session(&self, ask: &Session) -> Result<SessionState, Refusal> {
        match self.drafts().close(self.owner, &ask.session) {
            Some(_) => Ok(SessionState {
                session: ask.session.clone(),
                state: "discarded",
            }),
            None => Err(no_session(&ask.session)),
        }
    }

    /// What a draft would change.
    pub(crate) fn described(&self, draft: &Draft, session: Option<&str>) -> Result<Edited, Refusal> {
        let mut diff = String::new();
        let files = self.files(draft, &mut |path, before, after| {
            diff.push_str(&unified_diff(path, before, after, CONTEXT));
        })?;
        Ok(Edited {
            written: false,
            undo: None,
            session: session.map(str::to_owned),
            note: files.is_empty().then(|| NOTHING.to_owned()),
            files,
            diff: Some(diff),
        })
    }

    fn make(&self, repository: &Repository, aim: &Aim, about: &str, change: Change) -> Result<Edited, Refusal> {
        let Some(session) = aim.session.as_deref() else {
            let mut draft = self.draft_of(&repository.root);
            change(&mut draft)?;
            return match aim.dry_run {
                true => self.described(&draft, None),
                false => self.write(&draft, about),
            };
        };
        let mut drafts = self.drafts();
        let held = drafts.get(self.owner, session).ok_or_else(|| no_session(session))?;
        if held.root() != repository.root {
            return Err(refusal(
                "invalid_argument",
                format!(
                    "session `{session}` is about {}, not {}",
                    held.root().display(),
                    repository.root.display()
                ),
            ));
        }
        // On a copy, so that a chain that fails halfway leaves the session as it was.
        let mut draft = held.clone();
        change(&mut draft)?;
        if !aim.dry_run {
            *held = draft.clone();
        }
        drop(drafts);
        self.described(&draft, Some(session))
    }

    /// A draft in which only what may be edited is.
    fn draft_of(&self, root: &Path) -> Draft {
        Draft::new(root).allowing(self.bench.allowed.clone())
    }

    fn write(&self, draft: &Draft, about: &str) -> Result<Edited, Refusal> {
        let files = self.files(draft, &mut |_, _, _| {})?;
        if files.is_empty() {
            // What was wanted is the case: no reason for whoever asked to stop.
            return Ok(Edited {
                written: false,
                undo: None,
                session: None,
                files,
                note: Some(NOTHING.to_owned()),
                diff: None,
            });
        }
        let journal = Journal::open(draft.root(), &journal_directory(draft.root())?).map_err(edit_refused)?;
        let committed = journal.commit(draft.plan(), about).map_err(edit_refused)?;
        self.bench.note_written(draft.plan());
        self.tell_servers(draft);
        let notes: Vec<String> = committed.recovered.iter().map(ToString::to_string).collect();
        Ok(Edited {
            written: true,
            undo: Some(committed.id),
            session: None,
            files,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            diff: None,
        })
    }

    /// Servers hear of a write at once: the next question may be about it, and the index follows only later.
    fn tell_servers(&self, draft: &Draft) {
        let changes: Vec<(PathBuf, FileChange)> = draft
            .plan()
            .files()
            .map(|(path, change)| {
                let kind = match (&change.before, &change.after) {
                    (None, _) => FileChange::Created,
                    (_, None) => FileChange::Deleted,
                    _ => FileChange::Changed,
                };
                (draft.root().join(path), kind)
            })
            .collect();
        for server in self.servers.all() {
            let its: Vec<(PathBuf, FileChange)> = changes
                .iter()
                .filter(|(path, _)| path.starts_with(server.root()))
                .cloned()
                .collect();
            server.files_changed(&its);
        }
    }

    fn files(&self, draft: &Draft, see: &mut dyn FnMut(&str, &str, &str)) -> Result<Vec<EditedFile>, Refusal> {
        let number = self
            .workspace
            .repositories()
            .iter()
            .position(|repository| repository.root == draft.root());
        let mut files = Vec::new();
        for (path, after) in draft.changed().map_err(edit_refused)? {
            let before = draft.original(&path).map_err(edit_refused)?;
            let after = after.unwrap_or_default();
            let (added, removed) = line_counts(&before, &after);
            see(&path, &before, &after);
            files.push(EditedFile {
                path: number.map_or_else(|| path.clone(), |number| self.workspace.path(number, &path)),
                added,
                removed,
            });
        }
        Ok(files)
    }

    fn drafts(&self) -> MutexGuard<'_, Drafts> {
        self.bench.drafts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the journal of a repository is kept: with its index.
pub fn journal_directory(root: &Path) -> Result<PathBuf, Refusal> {
    let location =
        index::store::Location::of(root, None).map_err(|error| refusal("internal_error", error.to_string()))?;
    Ok(location.directory.join("undo"))
}

pub(crate) fn edit_refused(error: EditError) -> Refusal {
    let code = match &error {
        EditError::Confined { .. } => "path_outside_roots",
        EditError::Guarded { .. } => "edit_not_allowed",
        EditError::ReadOnly { .. } => "read_only_file",
        EditError::Changed { .. } => "file_changed",
        EditError::Overlap { .. } | EditError::OutOfRange { .. } | EditError::NoLine { .. } => "invalid_argument",
        EditError::NotOnce { .. } => "text_not_unique",
        EditError::Unwritable { .. } | EditError::NotText { .. } => "not_editable",
        EditError::NothingToUndo(_) => "nothing_to_undo",
        EditError::TooMuch(_) => "limit_reached",
        EditError::Io { .. } | EditError::Lost { .. } => "io_error",
    };
    refusal(code, error.to_string())
}

fn no_session(session: &str) -> Refusal {
    refusal(
        "unknown_session",
        format!(
            "no edit session `{session}`: it was committed, discarded, or unused for half an hour; open one with create_session"
        ),
    )
}
