//! What ignore files say: `.ignore`, `.gitignore` and `.git/info/exclude`, the nearest folder first.
//!
//! They are read here and not by the `ignore` crate, which opens whatever bears their name: a pipe would be waited for, a device
//! read without end, a link followed. What a line means is still for the crate to say.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{escape_path, read_bytes};
use crate::git::Repository;

/// Longest ignore file that is read.
const MAX_FILE: u64 = 1 << 20;
/// Most lines of it that count.
const MAX_LINES: usize = 20_000;

/// The rules of a folder and of those above it.
pub(super) struct Rules {
    above: Option<Arc<Rules>>,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
    /// What git ignores above a repository does not concern what is inside of it.
    is_repository: bool,
}

/// What the rules say of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    Silent,
    /// It is named as an exception.
    Kept,
    /// It is ignored.
    Ignored,
}

impl Rules {
    /// The rules of a folder below those `above`, given which files it has. `None` above and nothing new is `None`.
    pub(super) fn of(
        root: &Path,
        folder: &Path,
        above: Option<Arc<Rules>>,
        present: Present,
        repository: Option<&Repository>,
    ) -> Option<Arc<Rules>> {
        let file = |name: &str, is_present: bool| match is_present {
            true => parse(
                read_bytes(root, &escape_path(&folder.join(name)), MAX_FILE),
                folder,
                name,
            ),
            false => Gitignore::empty(),
        };
        let ignore = file(".ignore", present.ignore);
        let gitignore = file(".gitignore", present.gitignore);
        let exclude = match repository {
            Some(repository) => {
                let name = "info/exclude";
                parse(
                    read_bytes(&repository.common, name, MAX_FILE),
                    folder,
                    ".git/info/exclude",
                )
            }
            None => Gitignore::empty(),
        };
        let is_repository = repository.is_some() && above.is_some();
        if ignore.is_empty() && gitignore.is_empty() && exclude.is_empty() && !is_repository {
            return above;
        }
        Some(Arc::new(Rules {
            above,
            ignore,
            gitignore,
            exclude,
            is_repository,
        }))
    }

    /// What they say of a path, given relative to the root.
    pub(super) fn verdict(&self, path: &Path, is_folder: bool) -> Verdict {
        match self.find(path, is_folder) {
            Match::None => Verdict::Silent,
            Match::Whitelist(_) => Verdict::Kept,
            Match::Ignore(_) => Verdict::Ignored,
        }
    }

    /// The rule that a path is ignored by, in words.
    pub(super) fn rule(&self, path: &Path, is_folder: bool) -> Option<String> {
        let Match::Ignore(glob) = self.find(path, is_folder) else {
            return None;
        };
        let from = glob.from().map(escape_path).unwrap_or_default();
        Some(format!("`{}` of {from}", glob.original()))
    }

    /// Rules of one kind outweigh those of the next, wherever they stand; within a kind the nearest folder speaks.
    fn find(&self, path: &Path, is_folder: bool) -> Match<&ignore::gitignore::Glob> {
        type Kind = fn(&Rules) -> &Gitignore;
        let kinds: [(Kind, bool); 3] = [
            (|rules| &rules.ignore, false),
            (|rules| &rules.gitignore, true),
            (|rules| &rules.exclude, true),
        ];
        for (kind, is_of_git) in kinds {
            let mut at = Some(self);
            while let Some(rules) = at {
                let files = kind(rules);
                if !files.is_empty() {
                    let found = files.matched(path, is_folder);
                    if !found.is_none() {
                        return found;
                    }
                }
                at = match is_of_git && rules.is_repository {
                    true => None,
                    false => rules.above.as_deref(),
                };
            }
        }
        Match::None
    }
}

/// Which of the files that matter a folder has.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Present {
    pub(super) ignore: bool,
    pub(super) gitignore: bool,
    pub(super) git: bool,
}

impl Present {
    /// Takes note of one entry of the folder.
    pub(super) fn note(&mut self, name: &std::ffi::OsStr) {
        match name.as_encoded_bytes() {
            b".ignore" => self.ignore = true,
            b".gitignore" => self.gitignore = true,
            b".git" => self.git = true,
            _ => {}
        }
    }

    /// Looks for them one by one.
    pub(super) fn look(folder: &Path) -> Present {
        let is_there = |name: &str| std::fs::symlink_metadata(folder.join(name)).is_ok();
        Present {
            ignore: is_there(".ignore"),
            gitignore: is_there(".gitignore"),
            git: is_there(".git"),
        }
    }
}

fn parse(bytes: Result<Vec<u8>, super::SkipReason>, folder: &Path, name: &str) -> Gitignore {
    let Ok(bytes) = bytes else {
        return Gitignore::empty();
    };
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let from: PathBuf = folder.join(name);
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.split(|&byte| byte == b'\n').take(MAX_LINES) {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        // A line that is no pattern says nothing, as in git.
        drop(builder.add_line(Some(from.clone()), &line).map(|_| ()));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
