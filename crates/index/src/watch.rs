//! Keeps a snapshot up to date while files change: collects events until the tree is quiet, then updates once.
//!
//! Events only say where to look. What is there is read from the disk, so a lost or doubled event cannot make the snapshot
//! wrong: where the system says that it lost some, the whole tree is looked at. Where it reports none at all, it is looked at
//! now and then. Whoever asks whether the snapshot is up to date (`fresh`) is answered after what was reported before is in it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use notify::{EventKind, RecursiveMode, Watcher};

use crate::build::{BuildError, Indexer, Report};
use crate::fresh::{is_question, questions_in};
use crate::store::Place;

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
    /// Where the system does not report changes, the tree is looked at this often, or more rarely where that takes long.
    pub poll: Duration,
    /// An index that was removed is made anew when nothing happened for this long: the whole tree may be about to go.
    pub settle: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            quiet: Duration::from_millis(20),
            at_most: Duration::from_millis(250),
            ready: Duration::from_secs(300),
            poll: Duration::from_secs(2),
            settle: Duration::from_secs(2),
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
    /// The system does not report every change, for this reason: the tree is looked at now and then.
    Polling(String),
}

/// Why a watch cannot go on.
#[derive(thiserror::Error, Debug)]
pub enum WatchError {
    /// The first build failed.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// There is nothing to follow any more.
    #[error("`{}` was moved or removed: start again where it is now", path.display())]
    Gone {
        /// The tree.
        path: PathBuf,
    },
}

/// Looking again takes at most one part in this many of the time.
const POLL_SHARE: u32 = 20;

/// Builds, then follows changes until `hear` says to stop.
pub fn watch(
    indexer: &mut Indexer,
    patience: Patience,
    mut hear: impl FnMut(Watched) -> ControlFlow<()>,
) -> Result<(), WatchError> {
    let root = indexer.root().to_path_buf();
    let index = indexer.directory().location().directory.clone();
    let (sender, receiver) = channel();
    // Watching starts before the first build, so that no change falls between the two. Where it cannot, there is an index all the same.
    let watcher = start(&root, &index, sender.clone());
    let mut polling = None;
    let _watcher = match watcher {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            polling = Some(Polling::new(patience));
            if hear(Watched::Polling(explained(&error))).is_break() {
                return Ok(());
            }
            None
        }
    };
    // Those that were asked before anything was watched.
    let early = questions_in(&index);
    let report = indexer.build()?;
    if let Some(polling) = &mut polling {
        polling.looked(report.time.total);
    }
    if hear(Watched::Built(Box::new(report))).is_break() {
        return Ok(());
    }
    answer(&early);
    // Most servers answer for hours about a tree that nobody edits: until the first change they pay for none.
    indexer.rest();
    if hear(Watched::Rested).is_break() {
        return Ok(());
    }
    let mut changed: Option<Instant> = None;
    let mut index_gone: Option<Instant> = None;
    let mut asked: Vec<PathBuf> = Vec::new();
    loop {
        // Those of the round before are answered unless its update failed.
        asked.clear();
        let mut collected = collect(&receiver, &root, &index, patience, &mut asked);
        if polling.is_some() || matches!(collected, Collected::Everything) {
            // The whole tree is looked at after this, so nothing that was changed before can be missed.
            asked.extend(questions_in(&index));
        }
        if matches!(collected, Collected::Paths(_) | Collected::Everything) {
            changed = Some(Instant::now());
        }
        match indexer.directory().place() {
            Place::TreeGone => return Err(WatchError::Gone { path: root }),
            Place::IndexGone => {
                // Whoever removes the whole tree starts somewhere: nothing is written while anything goes on.
                let since = *index_gone.get_or_insert_with(Instant::now);
                let last = changed.map_or(since, |changed| changed.max(since));
                if last.elapsed() < patience.settle || is_empty(&root, &index) {
                    if hear(Watched::Idle).is_break() {
                        return Ok(());
                    }
                    continue;
                }
                indexer.reopen()?;
                collected = Collected::Everything;
            }
            Place::Same => {}
        }
        index_gone = None;
        // Git replaces its index where nobody watches: beside a linked work tree, above the root of a part.
        if matches!(collected, Collected::Nothing) && indexer.git_is_written() {
            collected = Collected::Paths(Vec::new());
        }
        // What is not reported is looked for when somebody asks.
        if let (Collected::Nothing | Collected::Paths(_), Some(polling)) = (&collected, &polling)
            && (polling.is_due() || !asked.is_empty())
        {
            collected = Collected::Everything;
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
            Collected::Unwatched(reason) => {
                polling.get_or_insert_with(|| Polling::new(patience));
                Watched::Polling(reason)
            }
            Collected::Paths(paths) => match indexer.update(&paths) {
                Ok(report) if report.changed => Watched::Built(Box::new(report)),
                Ok(_) => {
                    answer(&asked);
                    continue;
                }
                Err(error) => Watched::Failed(error),
            },
            Collected::Everything => {
                let built = indexer.build();
                if let (Some(polling), Ok(report)) = (&mut polling, &built) {
                    polling.looked(report.time.total);
                }
                match built {
                    Ok(report) if report.changed => Watched::Built(Box::new(report)),
                    Ok(_) => Watched::Idle,
                    Err(error) => Watched::Failed(error),
                }
            }
        };
        let has_failed = matches!(step, Watched::Failed(_));
        if hear(step).is_break() {
            return Ok(());
        }
        // After everybody has heard of it.
        if !has_failed {
            answer(&asked);
        }
    }
}

/// Tells those who asked that the snapshot is up to date.
fn answer(asked: &[PathBuf]) {
    for question in asked {
        // One that is gone was not waited for any longer.
        drop(std::fs::remove_file(question));
    }
}

fn start(
    root: &Path,
    index: &Path,
    sender: Sender<notify::Result<notify::Event>>,
) -> notify::Result<notify::RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(sender)?;
    watcher.watch(root, RecursiveMode::Recursive)?;
    if !index.starts_with(root) {
        watcher.watch(index, RecursiveMode::NonRecursive)?;
    }
    Ok(watcher)
}

/// Why the system does not report changes, and what to do about it.
fn explained(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the limit of watched folders is reached (`sysctl fs.inotify.max_user_watches` raises it)".to_string()
        }
        // More instances than a user may have.
        notify::ErrorKind::Io(error) if error.raw_os_error() == Some(24) => {
            "the limit of watchers is reached (`sysctl fs.inotify.max_user_instances` raises it)".to_string()
        }
        _ => error.to_string(),
    }
}

/// When a tree that cannot be watched is looked at next.
struct Polling {
    least: Duration,
    next: Instant,
}

impl Polling {
    fn new(patience: Patience) -> Polling {
        Polling {
            least: patience.poll,
            next: Instant::now(),
        }
    }

    fn looked(&mut self, took: Duration) {
        self.next = Instant::now() + self.least.max(took * POLL_SHARE);
    }

    fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }
}

/// Whether a tree has nothing but its index left.
fn is_empty(root: &Path, index: &Path) -> bool {
    let mut entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    !entries.any(|entry| entry.path() != index)
}

enum Collected {
    Nothing,
    Paths(Vec<PathBuf>),
    Everything,
    /// Further changes are not reported.
    Unwatched(String),
    Closed,
}

/// Waits for events and gathers their paths until the tree is quiet, or somebody asks.
fn collect(
    receiver: &Receiver<notify::Result<notify::Event>>,
    root: &Path,
    index: &Path,
    patience: Patience,
    asked: &mut Vec<PathBuf>,
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
                if matches!(event.kind, EventKind::Create(_)) {
                    asked.extend(event.paths.iter().filter(|path| is_question(path, index)).cloned());
                }
                let relevant = event.paths.into_iter().filter(|path| concerns(path, root, index));
                let before = paths.len();
                paths.extend(relevant);
                if everything || paths.len() > before {
                    began.get_or_insert_with(Instant::now);
                }
                // All that was changed before has been reported.
                if !asked.is_empty() {
                    break;
                }
            }
            // Folders that were made since have no watch.
            Ok(Err(error)) if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) => {
                return Collected::Unwatched(explained(&error));
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
    !is_private || relative.ends_with(".git/info/exclude") || relative.ends_with(".git")
}
