//! The walk: every path beneath the root that no rule leaves out, in byte order of its text, whatever the thread count.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::config::Globs;
use super::{Config, ConfigError, SkipReason, Skipped, escape_path};

/// A regular file that may be source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Escaped, relative to the root.
    pub(crate) path: Box<str>,
    pub(crate) stamp: Stamp,
}

/// What tells whether a file changed without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    /// Nanoseconds since the epoch of the last change of the content, and of the file's own record.
    pub(crate) modified: i128,
    pub(crate) changed: i128,
    pub(crate) inode: u64,
}

/// What a walk found.
#[derive(Default)]
pub(crate) struct Walk {
    /// In path order.
    pub(crate) candidates: Vec<Candidate>,
    /// What was left out by its kind alone.
    pub(crate) skipped: Vec<Skipped>,
    /// The ignore files left nothing, and were not heeded.
    pub(crate) unheeded: bool,
}

/// Directories that hold no source of the tree even where no ignore file says so.
const NEVER: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".lacon",
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    ".tox",
];

/// Walks the tree under `root`.
///
/// Source packages of distributions come with an ignore file that says `/*`, for the packager's own repository. Whoever
/// indexes such a tree wants its files, so where that rule leaves nothing, ignore files are not heeded.
pub(crate) fn walk(root: &Path, config: &Config) -> Result<Walk, ConfigError> {
    let walk = walk_once(root, config, config.ignore_files, None)?;
    if config.ignore_files && walk.candidates.is_empty() && ignores_everything(root) {
        let walk = walk_once(root, config, false, None)?;
        return Ok(Walk { unheeded: true, ..walk });
    }
    Ok(walk)
}

/// Walks to these files alone, given relative to the root: what a walk of the whole tree would find of them. `None` where only
/// that could tell which rules are heeded.
pub(crate) fn walk_to(root: &Path, config: &Config, files: &[PathBuf]) -> Result<Option<Walk>, ConfigError> {
    if config.ignore_files && ignores_everything(root) {
        return Ok(None);
    }
    walk_once(root, config, config.ignore_files, Some(files)).map(Some)
}

fn ignores_everything(root: &Path) -> bool {
    [".gitignore", ".ignore"].iter().any(|name| {
        let bytes = super::read_bytes(root, name, 1 << 20).unwrap_or_default();
        bytes
            .split(|&byte| byte == b'\n')
            .any(|line| matches!(line.trim_ascii(), b"*" | b"/*" | b"**"))
    })
}

fn walk_once(root: &Path, config: &Config, heed: bool, only: Option<&[PathBuf]>) -> Result<Walk, ConfigError> {
    let globs = config.globs()?;
    let found = Mutex::new(Walk::default());
    let threads = match only {
        Some(_) => 1,
        None => std::thread::available_parallelism().map_or(1, usize::from).min(8),
    };
    let only: Option<Vec<PathBuf>> = only.map(|files| files.iter().map(|file| root.join(file)).collect());
    WalkBuilder::new(root)
        .follow_links(false)
        .hidden(!config.hidden)
        .parents(false)
        .git_global(false)
        .git_exclude(heed)
        .git_ignore(heed)
        .ignore(heed)
        .require_git(false)
        .threads(threads)
        .filter_entry(move |entry| {
            let leads = |files: &Vec<PathBuf>| files.iter().any(|file| file.starts_with(entry.path()));
            !entry.file_name().to_str().is_some_and(|name| NEVER.contains(&name)) && only.as_ref().is_none_or(leads)
        })
        .build_parallel()
        .run(|| {
            let mut batch = Batch {
                walk: Walk::default(),
                all: &found,
            };
            let globs = &globs;
            Box::new(move |entry| {
                match entry {
                    Ok(entry) => return visit(root, globs, &entry, &mut batch.walk),
                    Err(error) => note_error(root, &error, &mut batch.walk),
                }
                WalkState::Continue
            })
        });
    let mut walk = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    walk.candidates
        .sort_unstable_by(|left, right| left.path.cmp(&right.path));
    walk.candidates.dedup_by(|left, right| left.path == right.path);
    walk.skipped.sort_unstable();
    walk.skipped.dedup();
    Ok(walk)
}

/// What one thread found, handed over when the thread is done.
struct Batch<'a> {
    walk: Walk,
    all: &'a Mutex<Walk>,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.candidates.append(&mut self.walk.candidates);
        all.skipped.append(&mut self.walk.skipped);
    }
}

fn visit(root: &Path, globs: &Globs, entry: &DirEntry, walk: &mut Walk) -> WalkState {
    if let Some(error) = entry.error() {
        note_error(root, error, walk);
    }
    let Ok(relative) = entry.path().strip_prefix(root) else {
        return WalkState::Continue;
    };
    if relative.as_os_str().is_empty() {
        return WalkState::Continue;
    }
    let path = escape_path(relative);
    let Some(kind) = entry.file_type() else {
        return WalkState::Continue;
    };
    if kind.is_dir() {
        return match globs.admit_directory(&path) {
            true => WalkState::Continue,
            false => WalkState::Skip,
        };
    }
    if !globs.admit_file(&path) {
        return WalkState::Continue;
    }
    let mut skip = |reason, size| {
        walk.skipped.push(Skipped {
            path: path.as_str().into(),
            reason,
            size,
        });
    };
    if kind.is_symlink() {
        skip(SkipReason::Symlink, 0);
    } else if !kind.is_file() {
        skip(SkipReason::NotRegular, 0);
    } else {
        match entry.metadata() {
            Ok(metadata) => walk.candidates.push(Candidate {
                path: path.into(),
                stamp: Stamp::of(&metadata),
            }),
            // Gone between the listing and the look: as if it had never been there.
            Err(error)
                if error
                    .io_error()
                    .is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound) => {}
            Err(_) => skip(SkipReason::Unreadable, 0),
        }
    }
    WalkState::Continue
}

/// Records a directory that cannot be listed. Malformed ignore files are not the tree's problem and say nothing here.
fn note_error(root: &Path, error: &ignore::Error, walk: &mut Walk) {
    let unreadable = error
        .io_error()
        .is_some_and(|error| error.kind() != std::io::ErrorKind::NotFound);
    let path = path_of(error).and_then(|path| path.strip_prefix(root).ok().map(escape_path));
    if let Some(path) = path.filter(|path| unreadable && !path.is_empty()) {
        walk.skipped.push(Skipped {
            path: path.into(),
            reason: SkipReason::Unreadable,
            size: 0,
        });
    }
}

fn path_of(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        ignore::Error::Loop { child, .. } => Some(child.clone()),
        _ => None,
    }
}

impl Stamp {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Stamp {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Stamp {
            size: metadata.len(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Stamp {
        let since_epoch = |time: std::io::Result<std::time::SystemTime>| {
            time.ok()
                .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(0, |elapsed| elapsed.as_nanos() as i128)
        };
        Stamp {
            size: metadata.len(),
            modified: since_epoch(metadata.modified()),
            changed: since_epoch(metadata.created()),
            inode: 0,
        }
    }
}
