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
//!
//! A repository must not bring one along. What is below it is written by name, so a link that was planted there would lead the
//! index outside of the tree, and what git tracks there would be believed: both are refused. A tree that cannot be written has
//! its index in the user's cache folder.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
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
    /// The repository brought it along, or something in it.
    #[error(
        "`{}` {reason}, so the index there is not used: remove it (`rm -r .lacon`, and `git rm -r --cached .lacon` where git tracks it), \
         or keep the index elsewhere with --index-dir", path.display()
    )]
    Planted {
        /// What is in the way.
        path: PathBuf,
        /// What it is.
        reason: &'static str,
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
        let root = plain(root.canonicalize().map_err(refuse)?);
        if !root.is_dir() {
            return Err(refuse(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        let Some(directory) = directory else {
            return Location::inside(root);
        };
        refuse_planted(directory)?;
        Ok(Location {
            facts: directory.join("facts"),
            directory: directory.to_path_buf(),
            root,
        })
    }

    /// `.lacon` inside the tree, unless a repository brought it along; in the user's cache where the tree cannot be written.
    fn inside(root: PathBuf) -> Result<Location, StoreError> {
        let directory = root.join(NAME);
        let Ok(metadata) = fs::symlink_metadata(&directory) else {
            return Ok(match cache_of(&root).filter(|_| !is_writable(&root)) {
                Some(directory) => Location {
                    facts: directory.join("facts"),
                    directory,
                    root,
                },
                None => Location {
                    facts: facts_of(&root, &directory),
                    directory,
                    root,
                },
            });
        };
        let refused = |reason| StoreError::Planted {
            path: directory.clone(),
            reason,
        };
        if !metadata.is_dir() {
            return Err(refused("is no directory (a link is not followed)"));
        }
        if Repository::around(&root).is_ok_and(|repository| repository.tracks_below(&directory)) {
            return Err(refused("is tracked by git"));
        }
        refuse_planted(&directory)?;
        Ok(Location {
            facts: facts_of(&root, &directory),
            directory,
            root,
        })
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
    identity: Identity,
}

/// What became of an index directory that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is there.
    Same,
    /// It was removed or replaced; the tree is there.
    IndexGone,
    /// The tree was moved, removed or replaced.
    TreeGone,
}

/// What tells a folder from another of the same path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    root: Option<(u64, u64)>,
    directory: Option<(u64, u64)>,
}

impl Identity {
    fn of(location: &Location) -> Identity {
        Identity {
            root: identity(&location.root),
            directory: identity(&location.directory),
        }
    }
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
        refuse_planted(directory)?;
        // The tree itself is never made: what is being removed must not come back.
        let parent = match directory.strip_prefix(&location.root) {
            Ok(inside) if inside == Path::new(NAME) => fs::create_dir(directory),
            _ => fs::create_dir_all(directory),
        };
        match parent {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(StoreError::io("create", directory)(error));
            }
            _ => {}
        }
        let ignore = directory.join(".gitignore");
        match File::options().write(true).create_new(true).open(&ignore) {
            Ok(mut file) => file.write_all(b"*\n").map_err(StoreError::io("write", &ignore))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::io("write", &ignore)(error)),
        }
        // A git directory that cannot be written (a sandbox, another owner), or where something was planted, is no reason not to index.
        if prepare_facts(&location).is_err() {
            location.facts = location.directory.join("facts");
            fs::create_dir_all(&location.facts).map_err(StoreError::io("create", &location.facts))?;
        }
        sweep(&location.facts);
        Ok(Directory {
            identity: Identity::of(&location),
            location,
        })
    }

    /// Whether the tree and its index are still those that were opened.
    pub fn place(&self) -> Place {
        let now = Identity::of(&self.location);
        match (now.root == self.identity.root, now.directory == self.identity.directory) {
            (false, _) => Place::TreeGone,
            (true, false) => Place::IndexGone,
            (true, true) => Place::Same,
        }
    }

    /// Where everything lies.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Becomes the one writer, and removes what a writer that was killed left half written.
    pub fn lock(&self) -> Result<WriterLock, StoreError> {
        let path = self.location.directory.join("lock");
        let file = no_follow(File::options().create(true).truncate(false).read(true).write(true))
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        let mut attempts = 0;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                // A process that is being started holds every lock of this one for a moment, until it is another program.
                Err(TryLockError::WouldBlock) if attempts < 5 => {
                    attempts += 1;
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Locked {
                        path: self.location.directory.clone(),
                    });
                }
                Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", &path)(error)),
            }
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

/// Makes the folder of facts that all work trees of a repository share.
fn prepare_facts(location: &Location) -> Result<(), StoreError> {
    let facts = &location.facts;
    if let Some(above) = facts.parent().filter(|above| !location.directory.starts_with(above)) {
        if fs::symlink_metadata(above).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(StoreError::Planted {
                path: above.to_path_buf(),
                reason: "is a symbolic link",
            });
        }
        refuse_planted(above)?;
    }
    let failed = StoreError::io("create", facts);
    fs::create_dir_all(facts).map_err(failed)?;
    let probe = facts.join(format!("{PROBE}{}", std::process::id()));
    // Permissions do not tell of a sandbox or of a file system that is mounted for reading.
    let written = File::options().write(true).create_new(true).open(&probe);
    drop(fs::remove_file(&probe));
    written.map(drop).map_err(StoreError::io("write", &probe))
}

const PROBE: &str = "probe-";

/// Removes what a process that was killed in between left behind.
fn sweep(facts: &Path) {
    const OLD: std::time::Duration = std::time::Duration::from_secs(60);
    for entry in fs::read_dir(facts).into_iter().flatten().flatten() {
        let is_old = || {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > OLD))
        };
        if entry.file_name().to_string_lossy().starts_with(PROBE) && is_old() {
            // What cannot be removed now is in nobody's way.
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Name of the index directory inside a tree.
const NAME: &str = ".lacon";

fn facts_of(root: &Path, directory: &Path) -> PathBuf {
    match Repository::at(root) {
        Ok(repository) => repository.common.join("lacon").join("facts"),
        Err(_) => directory.join("facts"),
    }
}

/// Refuses a directory of Lacon's that holds a link, a pipe or a device: Lacon makes none, so somebody planted it.
fn refuse_planted(directory: &Path) -> Result<(), StoreError> {
    const DEEPEST: usize = 8;
    let mut waiting = vec![(directory.to_path_buf(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let reason = match kind {
                kind if kind.is_file() => continue,
                kind if kind.is_dir() && depth < DEEPEST => {
                    waiting.push((entry.path(), depth + 1));
                    continue;
                }
                kind if kind.is_dir() => "is deeper than anything Lacon makes",
                kind if kind.is_symlink() => "is a symbolic link",
                _ => "is a pipe, a socket or a device",
            };
            return Err(StoreError::Planted {
                path: entry.path(),
                reason,
            });
        }
    }
    Ok(())
}

/// Windows gives canonical paths the prefix of long ones (`\\?\C:\tree`), which many programs do not understand. A short one means the
/// same without it.
fn plain(path: PathBuf) -> PathBuf {
    const LONG: usize = 248;
    let short = path
        .to_str()
        .filter(|_| cfg!(windows))
        .and_then(|path| path.strip_prefix(r"\\?\"));
    match short {
        Some(short) if short.as_bytes().get(1) == Some(&b':') && short.len() < LONG => PathBuf::from(short),
        _ => path,
    }
}

/// Opens no link, and waits for no pipe.
pub fn no_follow(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

/// Where the index of a tree that cannot be written is kept: in the user's cache folder, by the tree's path.
fn cache_of(root: &Path) -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("LOCALAPPDATA"))
        .or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let name = root.file_name().map_or("root".into(), |name| name.to_string_lossy());
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    Some(cache.join("lacon/indexes").join(format!("{name}-{}", &hash[..16])))
}

#[cfg(target_os = "linux")]
fn is_writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn is_writable(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|metadata| !metadata.permissions().readonly())
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).is_ok().then_some((0, 0))
}
