//! The trees a server answers about: opens their indexes, follows the newest snapshots, and keeps them up to date.
//!
//! The one trick: whoever writes an index and whoever reads it share nothing but the snapshot file. A thread of this process
//! builds and watches unless another process already does; questions look for a newer file before each answer.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;
use codeintel::{Derived, Repository, Workspace};
use index::build::{BuildError, Follower, Indexer, Options, Progress};
use index::store::StoreError;
use index::watch::{Patience, Watched, watch};
use wire::protocol::Refusal;

use super::refusal;
use crate::failure::{Explain, Failure};

/// The trees of one server.
pub(crate) struct Trees {
    state: Mutex<State>,
    stopping: Arc<AtomicBool>,
}

struct State {
    trees: Vec<Tree>,
    workspace: Arc<Workspace>,
    /// What the trees were like when the workspace was made.
    notes: Vec<Option<String>>,
}

struct Tree {
    name: String,
    root: PathBuf,
    index_dir: Option<PathBuf>,
    follower: Option<Follower>,
    /// What was computed from the follower's snapshot.
    derived: Derived,
    /// What the index still lacks, in words; told by the thread that builds it.
    note: Arc<Mutex<Option<String>>>,
}

impl Trees {
    /// The trees at these paths. An index that is not there yet is no error: it may be built.
    pub(crate) fn open(roots: &[PathBuf], index_dir: Option<&Path>) -> Result<Trees, Failure> {
        let mut trees: Vec<Tree> = Vec::new();
        for root in roots {
            let root = root
                .canonicalize()
                .with_context(|| format!("no directory `{}`", root.display()))
                .bad_input()?;
            if !root.is_dir() {
                return Err(anyhow::anyhow!("`{}` is not a directory", root.display())).bad_input();
            }
            if trees.iter().any(|tree| tree.root == root) {
                continue;
            }
            let name = free_name(&root, &trees);
            trees.push(Tree {
                name,
                root,
                index_dir: index_dir.map(Path::to_path_buf),
                follower: None,
                derived: Derived::default(),
                note: Arc::default(),
            });
        }
        if index_dir.is_some() && trees.len() > 1 {
            return Err(anyhow::anyhow!(
                "--index-dir holds the index of one tree, not of {}",
                trees.len()
            ))
            .bad_input();
        }
        Ok(Trees {
            state: Mutex::new(State {
                trees,
                workspace: Arc::default(),
                notes: Vec::new(),
            }),
            stopping: Arc::default(),
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        lock(&self.state).trees.len()
    }

    /// Builds the indexes and keeps them up to date, each in a thread of its own.
    pub(crate) fn keep_up_to_date(&self) {
        let mut state = lock(&self.state);
        for tree in &mut state.trees {
            *lock(&tree.note) = Some("the index is being checked for changes".to_string());
            let (root, index_dir, note) = (tree.root.clone(), tree.index_dir.clone(), tree.note.clone());
            let stopping = self.stopping.clone();
            std::thread::spawn(move || keep(&root, index_dir, &note, &stopping));
        }
    }

    /// Tells the threads to end; a build that is under way is not waited for, since what it leaves is whole.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// The newest snapshots of all trees. Fails while there is none at all.
    pub(crate) fn workspace(&self) -> Result<Arc<Workspace>, Refusal> {
        let mut state = lock(&self.state);
        let mut changed = false;
        for tree in &mut state.trees {
            let is_newer = match &mut tree.follower {
                // A snapshot that cannot be read is on its way to be replaced; the one at hand is still good.
                Some(follower) => follower.refresh().unwrap_or(false),
                None => {
                    tree.follower = Follower::open(&tree.root, tree.index_dir.as_deref()).ok();
                    tree.follower.is_some()
                }
            };
            if is_newer {
                tree.derived = Derived::default();
                changed = true;
            }
        }
        let notes: Vec<Option<String>> = state.trees.iter().map(|tree| lock(&tree.note).clone()).collect();
        if changed || notes != state.notes {
            state.workspace = Arc::new(together(&state.trees, &notes));
            state.notes = notes;
        }
        match state.workspace.repositories() {
            [] => Err(missing(&state.trees, &state.notes)),
            _ => Ok(state.workspace.clone()),
        }
    }
}

/// The last part of the path, with a number where another tree has the same.
fn free_name(root: &Path, trees: &[Tree]) -> String {
    let base = root.file_name().map_or("root".into(), |name| name.to_string_lossy());
    let mut name = base.to_string();
    let mut number = 1;
    while trees.iter().any(|tree| tree.name == name) {
        number += 1;
        name = format!("{base}-{number}");
    }
    name
}

fn together(trees: &[Tree], notes: &[Option<String>]) -> Workspace {
    let mut repositories = Vec::new();
    let mut missing = Vec::new();
    for (tree, note) in trees.iter().zip(notes) {
        match &tree.follower {
            Some(follower) => repositories.push(Repository {
                name: tree.name.clone(),
                root: tree.root.clone(),
                snapshot: Arc::new(follower.snapshot().clone()),
                incomplete: note.clone(),
                derived: tree.derived.clone(),
            }),
            None => missing.push(format!("{} is not indexed yet", tree.name)),
        }
    }
    // What a whole repository lacks can only be said beside one that is there.
    if let (Some(first), false) = (repositories.first_mut(), missing.is_empty()) {
        missing.extend(first.incomplete.take());
        first.incomplete = Some(missing.join("; "));
    }
    let workspace = Workspace::new(repositories);
    match trees.len() {
        0 | 1 => workspace,
        _ => workspace.with_prefix(),
    }
}

fn missing(trees: &[Tree], notes: &[Option<String>]) -> Refusal {
    let name = trees.first().map_or("", |tree| tree.name.as_str());
    match notes.iter().flatten().next() {
        Some(note) => refusal("index_building", format!("`{name}`: {note}; ask again in a moment")),
        None => refusal("no_index", format!("`{name}` has no index: run `lacon index` there")),
    }
}

/// How long to wait before looking again whether the writer of an index has gone.
const TAKE_OVER: Duration = Duration::from_secs(5);

/// Writes the index of a tree for as long as nobody else does.
fn keep(root: &Path, index_dir: Option<PathBuf>, note: &Arc<Mutex<Option<String>>>, stopping: &AtomicBool) {
    while !stopping.load(Ordering::Relaxed) {
        let hearer = note.clone();
        let options = Options {
            directory: index_dir.clone(),
            progress: Some(Arc::new(move |progress| *lock(&hearer) = Some(told(progress)))),
            ..Options::default()
        };
        match Indexer::open(root, options) {
            Ok(mut indexer) => {
                let mut failed = false;
                let watched = watch(&mut indexer, Patience::default(), |event| {
                    match event {
                        Watched::Failed(error) => {
                            failed = true;
                            *lock(note) = Some(format!("the last update failed: {error}"));
                        }
                        Watched::Idle if failed => {}
                        Watched::Built(_) | Watched::Idle => {
                            failed = false;
                            *lock(note) = None;
                        }
                    }
                    match stopping.load(Ordering::Relaxed) {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                });
                if let Err(error) = watched {
                    tracing::warn!(%error, root = %root.display(), "the index is not kept up to date");
                    *lock(note) = Some(format!("the index is not kept up to date: {error}"));
                }
                return;
            }
            // Another process keeps it: its snapshots are followed.
            Err(BuildError::Store(StoreError::Locked { .. })) => *lock(note) = None,
            Err(error) => {
                tracing::warn!(%error, root = %root.display(), "the index cannot be written");
                *lock(note) = Some(format!("the index cannot be kept up to date: {error}"));
                return;
            }
        }
        std::thread::sleep(TAKE_OVER);
    }
}

fn told(progress: Progress) -> String {
    match progress {
        Progress::Found { files } => format!("the index is being built: {files} files found"),
        Progress::Extracted { done, total } => format!("the index is being built: {done} of {total} files read"),
        Progress::Resolved { done, total } => format!("the index is being built: {done} of {total} files resolved"),
        Progress::Writing => "the index is being built: writing".to_string(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing here can leave half a value behind.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
