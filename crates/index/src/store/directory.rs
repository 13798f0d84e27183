//! The index directory: where it lies, who may write, and how files in it are replaced.
//!
//! ```text
//! .lacon/
//!   .gitignore   "*": the directory ignores itself
//!   lock         held by the process that writes
//!   snapshot     the current snapshot, replaced by rename
//!   stats        sizes and times of the files as they were when last read
//!   facts/       packs of facts by content (in a git work tree: `<common dir>/lacon/facts`, shared by all work trees)
//! ```

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::git::Repository;

/// Where the parts of an index lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The tree.
    pub root: PathBuf,
    /// Snapshot, stat cache and lock.
    pub directory: PathBuf,
    /// Packs of facts.
    pub facts: PathBuf,
}

/// Why the store cannot be used.
#[derive(thiserror::Error, Debug)]
pub enum StoreError {
    /// The root is not a directory that can be read.
    #[error("cannot index `{}`", path.display())]
    Root {
        /// The root.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something in the index directory cannot be read or written.
    #[error("cannot {action} `{}`{}", path.display(), advice(source))]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Another process writes.
    #[error("another process is writing the index `{}`", path.display())]
    Locked {
        /// The index directory.
        path: PathBuf,
    },
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            " (the disk is full: the previous snapshot is still in place)"
        }
        _ => "",
    }
}

impl StoreError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError + use<> {
        let path = path.to_path_buf();
        move |source| StoreError::Io { action, path, source }
    }

    /// Whether the disk is full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, StoreError::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }
}

impl Location {
    /// The place of the index of `root`: `.lacon` inside it, with the facts shared between the work trees of one git
    /// repository; all in `directory` where one is given.
    pub fn of(root: &Path, directory: Option<&Path>) -> Result<Location, StoreError> {
        let refuse = |source| StoreError::Root {
            path: root.to_path_buf(),
            source,
        };
        let root = root.canonicalize().map_err(refuse)?;
        if !root.is_dir() {
            return Err(refuse(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        let location = match directory {
            Some(directory) => Location {
                facts: directory.join("facts"),
                directory: directory.to_path_buf(),
                root,
            },
            None => {
                let directory = root.join(".lacon");
                let facts = match Repository::at(&root) {
                    Ok(repository) => repository.common.join("lacon").join("facts"),
                    Err(_) => directory.join("facts"),
                };
                Location { root, directory, facts }
            }
        };
        Ok(location)
    }

    /// The current snapshot.
    pub fn snapshot(&self) -> PathBuf {
        self.directory.join("snapshot")
    }
}

/// An index directory that exists.
#[derive(Clone, Debug)]
pub struct Directory {
    location: Location,
}

/// Held while writing; the lock goes with the process, however it ends.
#[derive(Debug)]
pub struct WriterLock {
    _file: File,
}

impl Directory {
    /// Creates what is missing.
    pub fn create(mut location: Location) -> Result<Directory, StoreError> {
        let directory = &location.directory;
        // A link here would make the index write wherever the tree says.
        if fs::symlink_metadata(directory).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(StoreError::Io {
                action: "use",
                path: directory.clone(),
                source: io::Error::new(io::ErrorKind::InvalidInput, "the index directory is a symbolic link"),
            });
        }
        fs::create_dir_all(directory).map_err(StoreError::io("create", directory))?;
        let ignore = directory.join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "*\n").map_err(StoreError::io("write", &ignore))?;
        }
        // A git directory that cannot be written (a sandbox, another owner) is no reason not to index.
        if fs::create_dir_all(&location.facts).is_err() || is_read_only(&location.facts) {
            location.facts = location.directory.join("facts");
            fs::create_dir_all(&location.facts).map_err(StoreError::io("create", &location.facts))?;
        }
        Ok(Directory { location })
    }

    /// Where everything lies.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Becomes the one writer, and removes what a writer that was killed left half written.
    pub fn lock(&self) -> Result<WriterLock, StoreError> {
        let path = self.location.directory.join("lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked {
                    path: self.location.directory.clone(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", &path)(error)),
        }
        for entry in fs::read_dir(&self.location.directory).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().ends_with(".partial") {
                // What cannot be removed now is in nobody's way.
                drop(fs::remove_file(entry.path()));
            }
        }
        Ok(WriterLock { _file: file })
    }

    /// Bytes on disk: snapshot and the like, and facts.
    pub fn disk_usage(&self) -> (u64, u64) {
        let directory = usage(&self.location.directory);
        match self.location.facts.starts_with(&self.location.directory) {
            true => {
                let facts = usage(&self.location.facts);
                (directory.saturating_sub(facts), facts)
            }
            false => (directory, usage(&self.location.facts)),
        }
    }
}

fn usage(directory: &Path) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes += usage(&entry.path()),
            Ok(metadata) => bytes += metadata.len(),
            Err(_) => {}
        }
    }
    bytes
}

fn is_read_only(directory: &Path) -> bool {
    let probe = directory.join(format!("probe-{}", std::process::id()));
    let writable = File::create(&probe).is_ok();
    drop(fs::remove_file(&probe));
    !writable
}
