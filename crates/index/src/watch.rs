//! Keeps a snapshot up to date while files change: collects events until the tree is quiet, then updates once.
//!
//! Events only say where to look. What is there is read from the disk, so a lost or doubled event cannot make the snapshot
//! wrong: where the system says that it lost some, the whole tree is looked at.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{EventKind, RecursiveMode, Watcher};

use crate::build::{BuildError, Indexer, Report};

/// How patient a watch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// An update starts when nothing happened for this long …
    pub quiet: Duration,
    /// … or when it has been waited for this long.
    pub at_most: Duration,
    /// What makes updates fast is held in memory for this long after the last change. The change after a longer rest is
    /// resolved anew.
    pub ready: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            quiet: Duration::from_millis(20),
            at_most: Duration::from_millis(250),
            ready: Duration::from_secs(300),
        }
    }
}

/// Something that happened to a watched tree.
pub enum Watched {
    /// The snapshot is up to date, for the first time or again.
    Built(Box<Report>),
    /// An update failed; the previous snapshot is in place and the next change tries again.
    Failed(BuildError),
    /// Nothing happened for a while: a chance to stop.
    Idle,
    /// What was held for updates has been let go.
    Rested,
}

/// Why a watch cannot go on.
#[derive(thiserror::Error, Debug)]
pub enum WatchError {
    /// The first build failed.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The system does not report changes.
    #[error("cannot watch `{}`", path.display())]
    Notify {
        /// The tree.
        path: PathBuf,
        /// Why.
        source: notify::Error,
    },
}

/// Builds, then follows changes until `hear` says to stop.
pub fn watch(
    indexer: &mut Indexer,
    patience: Patience,
    mut hear: impl FnMut(Watched) -> ControlFlow<()>,
) -> Result<(), WatchError> {
    let root = indexer.root().to_path_buf();
    let index = indexer.directory().location().directory.clone();
    let failed = |source| WatchError::Notify {
        path: root.clone(),
        source,
    };
    let (sender, receiver) = channel();
    // Watching starts before the first build, so that no change falls between the two.
    let mut watcher = notify::recommended_watcher(sender).map_err(failed)?;
    watcher.watch(&root, RecursiveMode::Recursive).map_err(failed)?;
    let report = indexer.build()?;
    if hear(Watched::Built(Box::new(report))).is_break() {
        return Ok(());
    }
    // Most servers answer for hours about a tree that nobody edits: until the first change they pay for none.
    indexer.rest();
    if hear(Watched::Rested).is_break() {
        return Ok(());
    }
    let mut changed: Option<Instant> = None;
    loop {
        let collected = collect(&receiver, &root, &index, patience);
        if matches!(collected, Collected::Paths(_) | Collected::Everything) {
            changed = Some(Instant::now());
        }
        let step = match collected {
            Collected::Nothing if changed.is_some_and(|changed| changed.elapsed() >= patience.ready) => {
                changed = None;
                indexer.rest();
                Watched::Rested
            }
            Collected::Nothing => match indexer.mend() {
                Ok(None) => Watched::Idle,
                Ok(Some(report)) => {
                    changed = Some(Instant::now());
                    Watched::Built(Box::new(report))
                }
                Err(error) => Watched::Failed(error),
            },
            Collected::Closed => return Ok(()),
            Collected::Paths(paths) => match indexer.update(&paths) {
                Ok(report) if report.changed => Watched::Built(Box::new(report)),
                Ok(_) => continue,
                Err(error) => Watched::Failed(error),
            },
            Collected::Everything => match indexer.build() {
                Ok(report) if report.changed => Watched::Built(Box::new(report)),
                Ok(_) => continue,
                Err(error) => Watched::Failed(error),
            },
        };
        if hear(step).is_break() {
            return Ok(());
        }
    }
}

enum Collected {
    Nothing,
    Paths(Vec<PathBuf>),
    Everything,
    Closed,
}

/// Waits for events and gathers their paths until the tree is quiet.
fn collect(
    receiver: &Receiver<notify::Result<notify::Event>>,
    root: &Path,
    index: &Path,
    patience: Patience,
) -> Collected {
    const IDLE: Duration = Duration::from_millis(500);
    let mut paths = BTreeSet::new();
    let mut everything = false;
    let mut began: Option<Instant> = None;
    let since = Instant::now();
    loop {
        let wait = match began {
            // Since it was begun: reading the index makes events, too, and they must not put off the moment of idleness for ever.
            None if since.elapsed() >= IDLE => break,
            None => IDLE - since.elapsed().min(IDLE),
            Some(began) if began.elapsed() >= patience.at_most => break,
            Some(_) => patience.quiet,
        };
        match receiver.recv_timeout(wait) {
            Ok(Ok(event)) => {
                if event.need_rescan() {
                    everything = true;
                } else if matches!(event.kind, EventKind::Access(_)) {
                    continue;
                }
                let relevant = event.paths.into_iter().filter(|path| concerns(path, root, index));
                let before = paths.len();
                paths.extend(relevant);
                if everything || paths.len() > before {
                    began.get_or_insert_with(Instant::now);
                }
            }
            Ok(Err(_)) => {
                everything = true;
                began.get_or_insert_with(Instant::now);
            }
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return Collected::Closed,
        }
    }
    match (everything, paths.is_empty()) {
        (true, _) => Collected::Everything,
        (false, true) => Collected::Nothing,
        (false, false) => Collected::Paths(paths.into_iter().collect()),
    }
}

/// Whether a change there can matter. What git and the index itself write does not.
fn concerns(path: &Path, root: &Path, index: &Path) -> bool {
    if path.starts_with(index) {
        return false;
    }
    let Ok(relative) = path.strip_prefix(root) else {
        return false;
    };
    let is_private = relative.components().any(|component| {
        matches!(
            component.as_os_str().to_str(),
            Some(".git" | ".lacon" | "node_modules" | "__pycache__")
        )
    });
    !is_private || relative.ends_with(".git/info/exclude")
}
