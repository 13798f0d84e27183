//! What a crash left of a change, put right: kept where it had been written whole, taken back where not.

use super::super::folder::{Folder, Missing};
use super::super::{EditError, io};
use super::{DONE, ENTRY, Entry, Journal, Now, UNDOING, hash, is_id, is_partial, is_temporary};

/// Files that stayed as they are that a report names.
const NAMED: usize = 5;

/// An interrupted change that was put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Its id.
    pub id: String,
    /// What it was.
    pub about: String,
    /// What it came to.
    pub outcome: Outcome,
    /// How many files it is about.
    pub files: usize,
    /// Files that somebody changed since, which stay as they are.
    pub left: Vec<String>,
}

/// What became of an interrupted change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It had been written whole, and stays.
    Kept,
    /// It had been written in part or not at all, and no file has it any more.
    TakenBack,
    /// It was being undone, and that was finished.
    Undone,
}

impl std::fmt::Display for Recovered {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Recovered { id, about, files, .. } = self;
        let files = match files {
            1 => "1 file".to_owned(),
            files => format!("{files} files"),
        };
        match self.outcome {
            Outcome::Kept => write!(
                formatter,
                "an interrupted change had been written whole and stays: {about} ({files}; `lacon undo {id}` takes it back)"
            ),
            Outcome::TakenBack => write!(formatter, "an interrupted change was taken back: {about} ({files})"),
            Outcome::Undone => write!(formatter, "an interrupted undo was finished: {about} ({files})"),
        }?;
        if self.left.is_empty() {
            return Ok(());
        }
        let named: Vec<&str> = self.left.iter().take(NAMED).map(String::as_str).collect();
        let more = match self.left.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        write!(
            formatter,
            "; changed by others since and left alone: {}{more}",
            named.join(", ")
        )
    }
}

impl Journal {
    /// Puts right what a crash left: a change that was written whole is kept, any other is taken back. Where there is nothing to do,
    /// which a look at the journal's folder tells, nothing is locked and nothing made.
    pub fn recover(&self) -> Result<Vec<Recovered>, EditError> {
        if !self.is_disturbed()? {
            return Ok(Vec::new());
        }
        let folder = self.folder()?;
        let _lock = self.lock(&folder)?;
        self.recover_locked(&folder)
    }

    /// Whether an entry is neither done nor gone, or half described.
    fn is_disturbed(&self) -> Result<bool, EditError> {
        Ok(self.listed()?.iter().any(|name| {
            let place = self.directory.join(name);
            is_partial(&place) || is_temporary(name) || is_id(name) && !place.join(DONE).exists()
        }))
    }

    pub(super) fn recover_locked(&self, folder: &Folder) -> Result<Vec<Recovered>, EditError> {
        for name in self.listed()? {
            let place = self.directory.join(&name);
            if is_partial(&place) {
                // No file was touched for it yet.
                drop(std::fs::remove_dir_all(&place));
            } else if is_temporary(&name) {
                drop(folder.remove(&name));
            } else if is_id(&name) && !place.join(ENTRY).exists() {
                // What was being forgotten.
                drop(std::fs::remove_dir_all(&place));
            }
        }
        let mut recovered = Vec::new();
        for entry in self.interrupted()? {
            let tree = self.tree()?;
            let own = self.folder_of(folder, &entry.id)?;
            let is_undo = own.has(UNDOING);
            let mut left = Vec::new();
            let (mut old, mut new) = (0, 0);
            for file in &entry.files {
                match self.now(&tree, file)? {
                    Now::Before => old += 1,
                    Now::After => new += 1,
                    Now::Other => left.push(file.path.clone()),
                }
            }
            let outcome = if !is_undo && old == 0 && new > 0 {
                self.sweep(&tree, &entry)?;
                self.mark(folder, &entry.id, DONE)?;
                Outcome::Kept
            } else {
                self.put_back(&tree, folder, &entry)?;
                self.forget(&entry.id)?;
                if is_undo { Outcome::Undone } else { Outcome::TakenBack }
            };
            let report = Recovered {
                id: entry.id,
                about: entry.about,
                outcome,
                files: entry.files.len(),
                left,
            };
            tracing::warn!("{report}");
            recovered.push(report);
        }
        Ok(recovered)
    }

    /// Puts the old contents back wherever the new ones are, and sweeps away what the writing left. What is neither old nor new was
    /// changed by someone else and stays.
    pub(super) fn put_back(&self, tree: &Folder, folder: &Folder, entry: &Entry) -> Result<(), EditError> {
        self.sweep(tree, entry)?;
        let own = self.folder_of(folder, &entry.id)?;
        let mut ready = Vec::new();
        for (number, file) in entry.files.iter().enumerate() {
            if self.now(tree, file)? != Now::After {
                continue;
            }
            let place = self.inside(&file.path)?;
            let missing = match file.before {
                Some(_) => Missing::Make,
                None => Missing::Refuse,
            };
            let (parent, name) = tree.parent_of(&place, missing).map_err(io(&place))?;
            let temporary = entry.temporary(number);
            if file.before.is_some() {
                let kept = own.read(&number.to_string()).map_err(io(self.place(&entry.id)))?;
                // What the journal holds must be what it says: nothing else is written over a file.
                let kept = kept.filter(|bytes| Some(hash(bytes)) == file.before);
                let kept = kept.ok_or_else(|| EditError::Lost {
                    path: file.path.clone(),
                    id: entry.id.clone(),
                })?;
                let mode = file.mode.or(Some(0o644));
                if let Err(error) = parent.create(&temporary, &kept, mode) {
                    self.sweep(tree, entry)?;
                    return Err(io(place)(error));
                }
            }
            ready.push((parent, name.to_owned(), temporary, file));
        }
        for (parent, name, temporary, file) in &ready {
            let put = match file.before {
                Some(_) => parent.rename(temporary, name),
                None => parent.remove(name),
            };
            put.map_err(io(self.root.join(&file.path)))?;
        }
        for (parent, ..) in &ready {
            parent.sync();
        }
        for made in entry.folders.iter().rev() {
            // One that is not empty holds what somebody else put there. A journal may have come with the tree, and name anything.
            let Ok(place) = self.inside(made) else { continue };
            if let Ok((parent, name)) = tree.parent_of(&place, Missing::Refuse) {
                drop(parent.remove_folder(name));
            }
        }
        Ok(())
    }

    /// Takes away the temporary files of an entry.
    pub(super) fn sweep(&self, tree: &Folder, entry: &Entry) -> Result<(), EditError> {
        for (number, file) in entry.files.iter().enumerate() {
            let place = self.inside(&file.path)?;
            let Ok((parent, _)) = tree.parent_of(&place, Missing::Refuse) else {
                continue;
            };
            let temporary = entry.temporary(number);
            if parent.has(&temporary) {
                parent.remove(&temporary).map_err(io(&place))?;
            }
        }
        Ok(())
    }
}
