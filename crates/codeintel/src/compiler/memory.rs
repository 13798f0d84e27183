//! What the servers were told, so that each hears of every changed file once; and what they said, so that the graph knows it too.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use index::snapshot::Snapshot;
use lsp::{FileChange, Place, Server};

use super::absolute;
use super::confirmed::Confirmed;
use crate::workspace::{Repository, Workspace};

/// Kept for as long as the servers are.
#[derive(Default)]
pub struct Memory {
    /// When somebody last asked something that compilers answer.
    asked: Mutex<Option<Instant>>,
    told: Mutex<HashMap<(PathBuf, String), Arc<Snapshot>>>,
    said: Mutex<BTreeMap<PathBuf, Arc<Confirmed>>>,
}

impl Memory {
    /// Somebody asks: what is done in the background makes way.
    pub fn note_question(&self) {
        *lock(&self.asked) = Some(Instant::now());
    }

    /// Whether somebody has asked something, and nobody for this long.
    pub fn is_quiet(&self, time: Duration) -> bool {
        lock(&self.asked).is_some_and(|asked| asked.elapsed() >= time)
    }

    /// The same workspace, with what compilers said of each repository. Facts are kept in the tree's own index directory.
    pub fn enrich(&self, workspace: Workspace) -> Workspace {
        workspace.with_confirmed(|root| self.confirmed(root))
    }

    /// What compilers said of the tree at a root.
    pub(crate) fn confirmed(&self, root: &Path) -> Arc<Confirmed> {
        let mut said = lock(&self.said);
        let known = said.entry(root.to_path_buf()).or_insert_with(|| {
            // A directory that a repository brought along is not believed.
            let directory = index::store::Location::of(root, None).map(|location| location.directory);
            Arc::new(match directory {
                Ok(directory) if directory.is_dir() => Confirmed::open(&directory),
                _ => Confirmed::default(),
            })
        });
        known.clone()
    }

    /// Tells a server which files differ between the snapshot it last heard of and this one. Both list files in order of their
    /// paths, so one walk over both finds them.
    pub(crate) fn tell_changes(&self, server: &Server, repository: &Repository) {
        let key = (server.root().to_path_buf(), server.name().to_string());
        let now = &repository.snapshot;
        let before = lock(&self.told).insert(key, now.clone());
        // A server that was never told read the disk when it started.
        if let Some(before) = before.filter(|before| before.tree_digest() != now.tree_digest()) {
            let changes = differences(&before, now);
            let changes: Vec<(PathBuf, FileChange)> = changes
                .into_iter()
                .map(|(path, change)| (absolute(repository, &path), change))
                .collect();
            server.files_changed(&changes);
        }
    }

    /// Keeps a complete list of the mentions of the definition at a place.
    pub(crate) fn learn_mentions<'a>(
        &self,
        repository: &Repository,
        (path, place): (&Path, Place),
        mentions: impl Iterator<Item = (&'a Path, &'a [Place])>,
    ) {
        let inside = |path: &Path| Some(path.strip_prefix(&repository.root).ok()?.to_string_lossy().into_owned());
        let Some(path) = inside(path) else { return };
        let mentions = mentions.filter_map(|(path, places)| Some((inside(path)?, places.to_vec())));
        let confirmed = self.confirmed(&repository.root);
        confirmed.learn_mentions(
            &repository.root,
            &repository.snapshot,
            (&path, place),
            &mentions.collect(),
        );
    }

    /// Keeps what implements the definition at a place.
    pub(crate) fn learn_implementers<'a>(
        &self,
        repository: &Repository,
        (path, place): (&str, Place),
        implementers: impl Iterator<Item = (&'a Path, Place)>,
    ) {
        let inside = |path: &Path| Some(path.strip_prefix(&repository.root).ok()?.to_string_lossy().into_owned());
        let implementers: Vec<(String, Place)> = implementers
            .filter_map(|(path, place)| Some((inside(path)?, place)))
            .collect();
        let confirmed = self.confirmed(&repository.root);
        confirmed.learn_implementers(&repository.snapshot, (path, place), &implementers);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing here can leave half a value behind.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The files that differ, in order of their paths.
fn differences(before: &Snapshot, now: &Snapshot) -> Vec<(String, FileChange)> {
    let mut changes = Vec::new();
    let (mut old, mut new) = (before.files().peekable(), now.files().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return changes,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(old), Some(new)) => old.path().cmp(new.path()),
        };
        match order {
            std::cmp::Ordering::Less => {
                changes.extend(old.next().map(|file| (file.path().to_string(), FileChange::Deleted)));
            }
            std::cmp::Ordering::Greater => {
                changes.extend(new.next().map(|file| (file.path().to_string(), FileChange::Created)));
            }
            std::cmp::Ordering::Equal => {
                if let (Some(old), Some(new)) = (old.next(), new.next())
                    && old.hash() != new.hash()
                {
                    changes.push((new.path().to_string(), FileChange::Changed));
                }
            }
        }
    }
}
