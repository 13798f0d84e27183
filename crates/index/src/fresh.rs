//! Whether a snapshot is of the tree as it is now.
//!
//! Where a process follows the tree, it is asked: a reader leaves a small file in the index directory, which the writer watches
//! together with the tree. The system reports changes in their order, so whatever was changed before the file was made has been
//! taken up when the writer removes it (Watchman calls such a file a cookie). Where nobody follows the tree, it is compared with
//! what was last read, by size and time, and by content where these differ; where no folder and no file has another time than at the last
//! walk, without walking.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::build::{BuildError, stats_context};
use crate::scan::{Config, SkipReason, Stamp, read, unescape_path, walk};
use crate::snapshot::Snapshot;
use crate::store::{Directory, Known, Location, Stats, Walked, no_follow};
use crate::tree::is_manifest;

/// What came of asking the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The snapshot has all that was changed before.
    Fresh,
    /// Nobody follows the tree.
    NoWriter,
    /// The writer did not answer in time.
    Late,
}

const PREFIX: &str = "ask-";

/// A question that was put to whoever follows a tree.
pub struct Question {
    file: Option<PathBuf>,
    directory: PathBuf,
}

impl Question {
    /// Asks whether the snapshot is up to date, and does not wait for the answer; for somebody who answers, until then.
    pub fn put(location: &Location, somebody_until: Instant) -> Question {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let path = location.directory.join(name);
        while !has_writer(location) && Instant::now() < somebody_until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let made = has_writer(location)
            && no_follow(File::options().write(true).create_new(true))
                .open(&path)
                .is_ok();
        Question {
            file: made.then_some(path),
            directory: location.directory.clone(),
        }
    }

    /// Waits for the answer until then.
    pub fn wait(mut self, until: Instant) -> Asked {
        let Some(file) = self.file.take() else {
            return Asked::NoWriter;
        };
        let mut pause = Duration::from_micros(100);
        loop {
            if std::fs::symlink_metadata(&file).is_err() {
                // Gone with everything around it is no answer.
                return if self.directory.is_dir() {
                    Asked::Fresh
                } else {
                    Asked::Late
                };
            }
            if Instant::now() >= until {
                drop(std::fs::remove_file(&file));
                return Asked::Late;
            }
            std::thread::sleep(pause);
            pause = (pause * 3 / 2).min(Duration::from_millis(2));
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            drop(std::fs::remove_file(file));
        }
    }
}

/// Whether a path is a question that somebody asks the writer of this index.
pub(crate) fn is_question(path: &Path, index: &Path) -> bool {
    let is_named = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
    path.parent() == Some(index) && path.file_name().is_some_and(is_named)
}

/// Questions that lie in the index directory.
pub(crate) fn questions_in(index: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(index).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| is_question(path, index))
        .collect()
}

/// Whether a process holds the index for writing.
fn has_writer(location: &Location) -> bool {
    let opened = no_follow(File::options().read(true)).open(location.directory.join("lock"));
    // Shared, and only for a moment: a writer that starts meanwhile tries more than once.
    opened.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The files that are not as the snapshot has them: changed, new or gone, in path order.
pub fn newer(location: &Location, snapshot: &Snapshot) -> Result<Vec<String>, BuildError> {
    let root = &location.root;
    let config = Config::load(root)?;
    let context = stats_context(&config);
    let mut stats = Stats::load(&location.directory, context);
    let now = |path: &str| {
        // A whole path replaces the root.
        let at = root.join(unescape_path(path));
        std::fs::symlink_metadata(at).ok().map(|metadata| Stamp::of(&metadata))
    };
    if stats.is_as_walked(snapshot.tree_digest(), &now) {
        return Ok(Vec::new());
    }
    let began = SystemTime::now();
    let walked = walk(root, &config)?;
    let mut newer = Vec::new();
    let mut seen: HashSet<&str> = HashSet::with_capacity(walked.candidates.len());
    for candidate in &walked.candidates {
        let path = &*candidate.path;
        let known = snapshot.find_file(path);
        if known.is_some() {
            seen.insert(path);
        }
        let indexed = known.map(|file| *file.hash());
        let hash = match stats.get(path, &candidate.stamp) {
            Some(Known::Source { hash, .. }) => Some(*hash),
            Some(Known::Skipped(_)) => None,
            None => {
                let name = path.rsplit('/').next().unwrap_or(path);
                match read(root, candidate, &config) {
                    Ok(source) => {
                        let hash = *blake3::hash(&source.bytes).as_bytes();
                        if indexed == Some(hash) {
                            let language = source.language.name().into();
                            let converted = crate::scan::decode(&source.bytes).is_some_and(|decoded| decoded.converted);
                            stats.put(
                                path,
                                candidate.stamp,
                                Known::Source {
                                    hash,
                                    language,
                                    converted,
                                },
                            );
                        }
                        Some(hash)
                    }
                    Err(SkipReason::Vanished) => None,
                    Err(_) if is_manifest(name) => {
                        // Its content counts, and no snapshot keeps it.
                        newer.push(path.to_owned());
                        continue;
                    }
                    Err(reason) => {
                        if indexed.is_none() && reason != SkipReason::Unreadable {
                            stats.put(path, candidate.stamp, Known::Skipped(reason));
                        }
                        None
                    }
                }
            }
        };
        if hash != indexed {
            newer.push(path.to_owned());
        }
    }
    if seen.len() < snapshot.file_count() {
        let gone = snapshot.files().filter(|file| !seen.contains(file.path()));
        newer.extend(gone.map(|file| file.path().to_owned()));
    }
    // So that the next question need not walk.
    if newer.is_empty()
        && let Ok(directory) = Directory::create(location.clone())
        && let Ok(_lock) = directory.lock()
    {
        let there: HashSet<&str> = walked.candidates.iter().map(|candidate| &*candidate.path).collect();
        stats.retain(|path| there.contains(path));
        let digest = *snapshot.tree_digest();
        stats.note_walk(Walked::of(digest, walked.candidates.len(), walked.seen, began));
        // A cache that cannot be saved costs time later, nothing else.
        drop(stats.save(&directory));
    }
    newer.sort_unstable();
    newer.dedup();
    Ok(newer)
}
