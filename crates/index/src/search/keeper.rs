//! Keeps the search index up to date with the tree: knows what its two parts hold, makes units of what is missing, and writes.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::part::Part;
use super::part_writer::{Content, FileInput, write};
use super::unit::Unit;
use crate::scan::Stamp;
use crate::store::{Directory, StoreError};

/// The large part, and the small one for what changed since.
pub(super) const PARTS: [&str; 2] = ["search", "search.recent"];

/// The small part is merged into the large one when it has more chunks than this, and more than one in
/// [`RECENT_SHARE`] of those in the large one.
const RECENT_CHUNKS: usize = 1000;
const RECENT_SHARE: usize = 16;

/// A file as the keeper sees it.
pub(crate) struct TreeFile<'a> {
    pub(crate) path: &'a str,
    pub(crate) language: &'a str,
    pub(crate) hash: &'a [u8; 32],
    /// Made on the way, where the text was at hand.
    pub(crate) unit: Option<Arc<Unit>>,
}

/// The writer's side of the search index.
#[derive(Default)]
pub(crate) struct Keeper {
    large: Option<Part>,
    /// The file of the large part as it was opened.
    stamp: Option<Stamp>,
    /// Files that the large part does not have, in path order, as the small part on disk has them.
    recent: Vec<Recent>,
}

#[derive(Clone)]
struct Recent {
    path: Box<str>,
    language: Box<str>,
    hash: [u8; 32],
    unit: Arc<Unit>,
}

impl Keeper {
    /// Takes over what lies in a directory. What is damaged or of another version is as if it were not there.
    pub(crate) fn open(directory: &Path) -> Keeper {
        let path = directory.join(PARTS[0]);
        Keeper {
            stamp: stamp_of(&path),
            large: Part::open(&path).ok().flatten().filter(Part::is_whole),
            ..Keeper::default()
        }
    }

    /// Whether the large part is the file that was written or opened here.
    pub(crate) fn is_as_written(&self, directory: &Path) -> bool {
        self.large.is_none() || self.stamp == stamp_of(&directory.join(PARTS[0]))
    }

    /// Makes the parts on disk cover these files, which are in path order. `make` gives the unit of a file by its number;
    /// none where the file changed in the meantime, which the next update sees.
    pub(crate) fn update(
        &mut self,
        directory: &Directory,
        files: &[TreeFile<'_>],
        make: &(dyn Fn(usize) -> Option<Unit> + Sync),
    ) -> Result<(), StoreError> {
        // Whatever happened to the file since it was written here, it was not this process.
        if !self.is_as_written(&directory.location().directory) {
            *self = Keeper::open(&directory.location().directory);
        }
        let updated = self.try_update(directory, files, make);
        if self.large.as_ref().is_none_or(|large| large.damage().is_none()) {
            return updated;
        }
        // What was taken over from it cannot be told from what was not.
        *self = Keeper::default();
        self.try_update(directory, files, make)
    }

    fn try_update(
        &mut self,
        directory: &Directory,
        files: &[TreeFile<'_>],
        make: &(dyn Fn(usize) -> Option<Unit> + Sync),
    ) -> Result<(), StoreError> {
        let kept = self.kept(files);
        let missing: Vec<usize> = (0..files.len()).filter(|&at| kept[at].is_none()).collect();
        if self.has_recent(directory, files, &missing) {
            return Ok(());
        }
        let recent: Vec<(usize, Recent)> = missing
            .into_par_iter()
            .filter_map(|at| Some((at, self.recent(&files[at], || make(at))?)))
            .collect();
        let chunks: usize = recent.iter().map(|(_, recent)| recent.unit.chunks.len()).sum();
        let large = self.large.as_ref().map_or(0, Part::chunk_count);
        let merge = chunks > RECENT_CHUNKS.max(large / RECENT_SHARE) || self.large.is_none();
        if merge {
            return self.merge(directory, files, &kept, &recent);
        }
        self.recent = recent.into_iter().map(|(_, recent)| recent).collect();
        if self.recent.is_empty() {
            // Not there already, or in nobody's way: what it holds is checked by whoever reads it.
            drop(fs::remove_file(directory.location().directory.join(PARTS[1])));
        } else {
            let inputs: Vec<FileInput<'_>> = self.recent.iter().map(Recent::input).collect();
            directory.replace(PARTS[1], |file| write(None, &inputs, file))?;
        }
        Ok(())
    }

    /// Whether the small part on disk holds exactly these files.
    fn has_recent(&self, directory: &Directory, files: &[TreeFile<'_>], missing: &[usize]) -> bool {
        let part = Part::open(&directory.location().directory.join(PARTS[1]));
        // A damaged one is there, and not as it should be.
        let Ok(part) = part else { return false };
        match (self.large.as_ref(), part) {
            (None, _) => false,
            (Some(_), None) => missing.is_empty(),
            (Some(_), Some(part)) => {
                !missing.is_empty()
                    && part.file_count() == missing.len()
                    && missing.iter().enumerate().all(|(number, &at)| {
                        part.file(number)
                            .is_some_and(|old| files[at].is(old.path, old.language, old.hash))
                    })
                    && part.is_whole()
            }
        }
    }

    /// Writes the large part anew, with everything.
    fn merge(
        &mut self,
        directory: &Directory,
        files: &[TreeFile<'_>],
        kept: &[Option<usize>],
        recent: &[(usize, Recent)],
    ) -> Result<(), StoreError> {
        let mut recent = recent.iter().peekable();
        let mut inputs: Vec<FileInput<'_>> = Vec::with_capacity(files.len());
        for (at, (file, kept)) in files.iter().zip(kept).enumerate() {
            let content = match (kept, recent.next_if(|(number, _)| *number == at)) {
                (Some(old), _) => Content::Old(*old),
                (None, Some((_, recent))) => Content::Unit(&recent.unit),
                (None, None) => continue,
            };
            inputs.push(FileInput {
                path: file.path,
                language: file.language,
                hash: file.hash,
                content,
            });
        }
        let path = directory.replace(PARTS[0], |file| write(self.large.as_ref(), &inputs, file))?;
        drop(fs::remove_file(directory.location().directory.join(PARTS[1])));
        self.stamp = stamp_of(&path);
        self.large = Part::open(&path).ok().flatten();
        self.recent.clear();
        Ok(())
    }

    /// For each file its number in the large part, where that has it with the same content.
    fn kept(&self, files: &[TreeFile<'_>]) -> Vec<Option<usize>> {
        let Some(large) = &self.large else {
            return vec![None; files.len()];
        };
        let mut at = 0;
        let mut kept = Vec::with_capacity(files.len());
        for file in files {
            let mut found = None;
            while let Some(old) = large.file(at).filter(|_| at < large.file_count()) {
                if old.path > file.path {
                    break;
                }
                if file.is(old.path, old.language, old.hash) {
                    found = Some(at);
                }
                at += 1;
            }
            kept.push(found);
        }
        kept
    }

    fn recent(&self, file: &TreeFile<'_>, make: impl FnOnce() -> Option<Unit>) -> Option<Recent> {
        let known = self
            .recent
            .binary_search_by(|recent| (*recent.path).cmp(file.path))
            .ok()
            .map(|at| &self.recent[at])
            .filter(|recent| file.is(&recent.path, &recent.language, &recent.hash));
        if let Some(recent) = known {
            return Some(recent.clone());
        }
        let unit = match &file.unit {
            Some(unit) => unit.clone(),
            None => Arc::new(make()?),
        };
        Some(Recent {
            path: file.path.into(),
            language: file.language.into(),
            hash: *file.hash,
            unit,
        })
    }
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    fs::symlink_metadata(path).ok().map(|metadata| Stamp::of(&metadata))
}

impl TreeFile<'_> {
    fn is(&self, path: &str, language: &str, hash: &[u8; 32]) -> bool {
        self.path == path && self.language == language && self.hash == hash
    }
}

impl Recent {
    fn input(&self) -> FileInput<'_> {
        FileInput {
            path: &self.path,
            language: &self.language,
            hash: &self.hash,
            content: Content::Unit(&self.unit),
        }
    }
}
