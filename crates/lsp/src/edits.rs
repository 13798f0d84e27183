//! Changing files without ever losing one: exact text edits, plans over several files that happen whole or not at all, and a
//! journal that undoes them.
//!
//! `text` edits one text, `place` says where, `on_disk` knows how a file spells its text (encoding, line ends, permissions), `plan` is a set of
//! new file contents, `journal` writes a plan and takes it back, `folder` is how it reaches files, `guarded` says which files are not
//! edited like others, `drafts` holds edits that are only tried, `compare` says which
//! diagnostics an edit made and which it cured.
//!
//! Invariants: nothing outside the root is written; a file that changed since it was read is not overwritten; a crash at any
//! moment leaves either all old contents or all new ones, once [`Journal::recover`] has run. Nothing is written through a link that
//! was not resolved before, and no name is written to that somebody could have put something at.

mod compare;
mod diff;
mod drafts;
mod faults;
mod folder;
mod guarded;
mod journal;
mod on_disk;
mod place;
mod plan;
mod text;

pub use compare::{Comparison, Found, LineMap, compare};
pub use diff::{line_counts, unified_diff};
pub use drafts::{Draft, Drafts};
pub use guarded::Allowed;
pub use journal::{Committed, Entry, Journal, Outcome, Recovered, Undone};
pub use on_disk::{OnDisk, confined};
pub use place::{Definition, Place};
pub use plan::{FileChange, Plan};
pub use text::{TextEdit, apply, replace_once};

use std::path::PathBuf;

/// Why a change was not made. Nothing was written unless the text says so.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The path leaves the root, or points at something that is not to be edited.
    #[error("`{path}` is not edited: {reason}")]
    Confined { path: String, reason: &'static str },
    /// The file is not what it was when it was read.
    #[error("`{path}` changed since it was read; read it again and repeat the edit")]
    Changed { path: String },
    /// Other programs run the file by themselves, and nobody allowed edits of it.
    #[error(
        "`{path}` is not edited: {by}; whoever starts Lacon allows it with --allow-edit {path} (or LACON_ALLOW_EDIT)"
    )]
    Guarded { path: String, by: &'static str },
    /// The file may not be written.
    #[error("`{path}` is read-only; make it writable first (chmod u+w), or leave it as it is")]
    ReadOnly { path: String },
    /// What the journal kept of a file is not what it was.
    #[error("`{path}` cannot be put back: change `{id}` of the journal is damaged")]
    Lost { path: String, id: String },
    /// Two edits touch the same text, or one lies outside it.
    #[error("edits {first} and {second} overlap; give them one after the other")]
    Overlap { first: usize, second: usize },
    /// A range that is not inside the text, ends before it begins, or splits a character.
    #[error("edit {number} lies outside the text, or ends before it begins; lines and columns count from 1")]
    OutOfRange { number: usize },
    /// A line that the file does not have.
    #[error("line {line} is past the end of `{path}`, which has {last} lines")]
    NoLine { path: String, line: u32, last: u32 },
    /// The text to be replaced is not there, or there more than once.
    #[error("the text to replace occurs {count} times in `{path}`; give text that occurs once")]
    NotOnce { path: String, count: usize },
    /// The new text cannot be written in the encoding of the file.
    #[error("`{path}` is {encoding}, which has no `{character}`; convert the file or leave that character out")]
    Unwritable {
        path: String,
        encoding: &'static str,
        character: char,
    },
    /// The file is not text.
    #[error("`{path}` is not text that can be edited: {reason}")]
    NotText { path: String, reason: &'static str },
    /// There is nothing to undo, or no entry with this id.
    #[error("{0}")]
    NothingToUndo(String),
    /// A limit on number or size was reached.
    #[error("{0}")]
    TooMuch(String),
    /// The operating system refused.
    #[error("`{}`: {source}", .path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> EditError {
    let path = path.into();
    move |source| EditError::Io { path, source }
}
