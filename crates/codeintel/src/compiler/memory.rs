//! What the servers have been told, so that each hears of every changed file once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use index::snapshot::Snapshot;
use lsp::{FileChange, Server};

use super::absolute;
use crate::workspace::Repository;

/// Kept for as long as the servers are.
#[derive(Default)]
pub struct Memory {
    told: Mutex<HashMap<(PathBuf, String), Arc<Snapshot>>>,
}

impl Memory {
    /// Tells a server which files differ between the snapshot it last heard of and this one. Both list files in order of their
    /// paths, so one walk over both finds them.
    pub(crate) fn tell_changes(&self, server: &Server, repository: &Repository) {
        let key = (server.root().to_path_buf(), server.name().to_string());
        let now = &repository.snapshot;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let before = told.insert(key, now.clone());
        drop(told);
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
