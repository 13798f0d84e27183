//! A set of new file contents: what an edit, a rename or a whole refactoring comes to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::guarded::{Allowed, run_by};
use super::{EditError, OnDisk, TextEdit, apply, folder, io};

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The bytes that were there when the plan was made; `None` if there was no file.
    pub before: Option<Vec<u8>>,
    /// The bytes that will be there; `None` if the file goes.
    pub after: Option<Vec<u8>>,
}

impl FileChange {
    /// Identifies the bytes that were there.
    pub fn hash_before(&self) -> Option<[u8; 32]> {
        self.before.as_deref().map(|bytes| *blake3::hash(bytes).as_bytes())
    }
}

/// What becomes of several files, by path relative to the root. It happens whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(crate) root: PathBuf,
    pub(crate) files: BTreeMap<String, FileChange>,
    allowed: Allowed,
}

impl Plan {
    /// A plan that changes nothing under `root` yet.
    pub fn new(root: &Path) -> Plan {
        Plan {
            root: root.to_owned(),
            files: BTreeMap::new(),
            allowed: Allowed::default(),
        }
    }

    /// The same, and these files may be changed although other programs run them.
    pub fn allowing(self, allowed: Allowed) -> Plan {
        Plan { allowed, ..self }
    }

    /// The root of its paths.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What becomes of each file.
    pub fn files(&self) -> impl Iterator<Item = (&str, &FileChange)> {
        self.files.iter().map(|(path, change)| (path.as_str(), change))
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Edits a file. New lines get the line ends of the file; several calls for one file build on each other.
    pub fn edit(&mut self, path: &str, edits: &[TextEdit]) -> Result<(), EditError> {
        let now = self.read(path)?;
        let spelled: Vec<TextEdit> = edits
            .iter()
            .map(|edit| TextEdit {
                range: edit.range.clone(),
                text: now.with_line_ends(edit.range.clone(), &edit.text),
            })
            .collect();
        let text = apply(&now.text, &spelled)?;
        let bytes = now.encode(path, &text)?;
        self.set(path, Some(bytes))
    }

    /// Makes a file say `text`, in its own encoding and exactly as given; one that does not exist is created in UTF-8.
    pub fn write(&mut self, path: &str, text: &str) -> Result<(), EditError> {
        let place = super::confined(&self.root, path)?;
        let exists = match self.files.get(path) {
            Some(change) => change.after.is_some(),
            None => place.exists(),
        };
        let bytes = if exists {
            self.read(path)?.encode(path, text)?
        } else {
            text.as_bytes().to_vec()
        };
        self.set(path, Some(bytes))
    }

    /// Takes a file away.
    pub fn delete(&mut self, path: &str) -> Result<(), EditError> {
        self.set(path, None)
    }

    /// Gives a file another name, byte for byte.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), EditError> {
        let now = self.read(from)?;
        let bytes = now.encode(from, &now.text)?;
        let target = super::confined(&self.root, to)?;
        if target.exists() && !matches!(self.files.get(to), Some(FileChange { after: None, .. })) {
            return Err(EditError::Confined {
                path: to.to_owned(),
                reason: "there is a file with that name already",
            });
        }
        self.set(to, Some(bytes))?;
        self.set(from, None)
    }

    /// The file as the plan leaves it.
    pub fn read(&self, path: &str) -> Result<OnDisk, EditError> {
        match self.files.get(path) {
            Some(FileChange { after: Some(bytes), .. }) => OnDisk::decode(path, bytes),
            Some(FileChange { after: None, .. }) => Err(EditError::NotText {
                path: path.to_owned(),
                reason: "the plan deletes it",
            }),
            None => OnDisk::read(&self.root, path),
        }
    }

    fn set(&mut self, path: &str, after: Option<Vec<u8>>) -> Result<(), EditError> {
        let place = super::confined(&self.root, path)?;
        let before = match self.files.get(path) {
            Some(change) => change.before.clone(),
            None => folder::read(&self.root, &place).map_err(io(&place))?,
        };
        // By the name that was asked for, and by the one that a link leads to.
        let root = self.root.canonicalize().map_err(io(&self.root))?;
        let inside = place.strip_prefix(&root).unwrap_or(&place).to_string_lossy();
        for name in [path, &inside] {
            if let Some(by) = run_by(name, &self.allowed) {
                return Err(EditError::Guarded {
                    path: name.to_owned(),
                    by,
                });
            }
        }
        if before == after {
            self.files.remove(path);
        } else {
            self.files.insert(path.to_owned(), FileChange { before, after });
        }
        Ok(())
    }
}
