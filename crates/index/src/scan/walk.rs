//! The walk: every path beneath the root that no rule leaves out, in byte order of its text, whatever the thread count.
//!
//! Git does not ask its ignore rules of what it tracks. So where a rule matches, git's index is asked: a file that is tracked is
//! found although a rule names it, and so is what is tracked below a folder that is ignored.

use std::fs::{FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::config::Globs;
use super::left_out::{LeftOut, LeftOutBy, NEVER, is_secret};
use super::rules::{Present, Rules, Verdict};
use super::{Config, ConfigError, SkipReason, Skipped, escape_path};
use crate::git::{NoRepository, Repository, Tracked, TrackedKind};
use crate::tree::is_manifest;

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
    /// The indexes of git that were consulted.
    pub(crate) indexes: Vec<GitIndex>,
    /// What it met that decides what is found: folders, files of rules, indexes of git, each as it was before it was read.
    pub(crate) seen: Vec<(Box<str>, Stamp)>,
    /// What rules left out, where that was asked for. In path order.
    pub(crate) left_out: Vec<LeftOut>,
    /// Something was found that no ignore rule names.
    has_free: bool,
}

/// Walks the tree under `root`, on the threads of the current pool.
///
/// Source packages of distributions come with an ignore file that says `/*`, for the packager's own repository. Whoever
/// indexes such a tree wants its files, so where that rule leaves nothing, ignore files are not heeded.
pub(crate) fn walk(root: &Path, config: &Config) -> Result<Walk, ConfigError> {
    walk_as(root, config, Account::None)
}

/// As [`walk`], and says what rules left out.
pub(crate) fn walk_with_account(root: &Path, config: &Config) -> Result<Walk, ConfigError> {
    walk_as(root, config, Account::Full)
}

fn walk_as(root: &Path, config: &Config, account: Account) -> Result<Walk, ConfigError> {
    let found = Walker::new(root, config, config.ignore_files, account)?.walk();
    if config.ignore_files && !found.has_free && ignores_everything(root) {
        let found = Walker::new(root, config, false, account)?.walk();
        return Ok(Walk {
            unheeded: true,
            ..found
        });
    }
    Ok(found)
}

/// Walks to these files alone, given relative to the root: what a walk of the whole tree would find of them. `None` where only
/// that could tell which rules are heeded.
pub(crate) fn walk_to(root: &Path, config: &Config, files: &[PathBuf]) -> Result<Option<Walk>, ConfigError> {
    if config.ignore_files && ignores_everything(root) {
        return Ok(None);
    }
    let walker = Walker::new(root, config, config.ignore_files, Account::None)?;
    let mut walk = Walk::default();
    for file in files {
        let path = escape_path(file);
        let mut found = walker.go_to(file);
        // On the way to a file that is tracked below an ignored folder, its neighbours are met too.
        found.candidates.retain(|candidate| *candidate.path == *path);
        found.skipped.retain(|skipped| *skipped.path == *path);
        walk.append(found);
    }
    walk.sort();
    Ok(Some(walk))
}

fn ignores_everything(root: &Path) -> bool {
    [".gitignore", ".ignore"].iter().any(|name| {
        let bytes = super::read_bytes(root, name, 1 << 20).unwrap_or_default();
        bytes
            .split(|&byte| byte == b'\n')
            .any(|line| matches!(line.trim_ascii(), b"*" | b"/*" | b"**"))
    })
}

/// Whether a walk notes what rules leave out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Account {
    None,
    Full,
}

struct Walker<'a> {
    root: &'a Path,
    globs: Globs,
    hidden: bool,
    heed: bool,
    account: Account,
}

/// A folder on the way.
struct Folder {
    /// Relative to the root.
    path: PathBuf,
    rules: Option<Arc<Rules>>,
    /// The repository it is in.
    repository: Option<Arc<InRepository>>,
}

impl Walker<'_> {
    fn new<'a>(root: &'a Path, config: &Config, heed: bool, account: Account) -> Result<Walker<'a>, ConfigError> {
        Ok(Walker {
            root,
            globs: config.globs()?,
            hidden: config.hidden,
            heed,
            account,
        })
    }

    fn walk(&self) -> Walk {
        let found = Mutex::new(Walk::default());
        let top = Folder {
            path: PathBuf::new(),
            rules: None,
            repository: None,
        };
        rayon::scope(|scope| self.enter(top, &found, scope));
        let mut walk = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        walk.sort();
        walk
    }

    /// Lists a folder; those inside of it are entered by whoever has time.
    fn enter<'s>(&'s self, mut folder: Folder, all: &'s Mutex<Walk>, scope: &rayon::Scope<'s>) {
        let mut walk = Walk::default();
        let mut entries = Vec::new();
        let mut present = Present::default();
        walk.see(self.root, &folder.path);
        match std::fs::read_dir(self.root.join(&folder.path)) {
            Ok(listed) => {
                for entry in listed {
                    match entry {
                        Ok(entry) => {
                            present.note(&entry.file_name());
                            entries.push(entry);
                        }
                        Err(error) => walk.note_error(&folder.path, &error),
                    }
                }
            }
            Err(error) => walk.note_error(&folder.path, &error),
        }
        if self.is_other(&folder, present) {
            self.leave_out_other(&folder, &mut walk);
            all.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).append(walk);
            return;
        }
        let rules = [
            (present.gitignore, ".gitignore"),
            (present.ignore, ".ignore"),
            (present.git, ".git/info/exclude"),
        ];
        for (_, name) in rules.into_iter().filter(|(is_there, _)| *is_there) {
            walk.see(self.root, &folder.path.join(name));
        }
        self.arrive(&mut folder, present, &mut walk);
        for entry in entries {
            let Ok(kind) = entry.file_type() else { continue };
            let path = folder.path.join(entry.file_name());
            if self.visit(&folder, &path, kind, &|| entry.metadata(), &mut walk) {
                let below = Folder {
                    path,
                    rules: folder.rules.clone(),
                    repository: folder.repository.clone(),
                };
                scope.spawn(move |scope| self.enter(below, all, scope));
            }
        }
        all.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).append(walk);
    }

    /// Goes down to one file, as far as a walk would.
    fn go_to(&self, file: &Path) -> Walk {
        let mut walk = Walk::default();
        let mut folder = Folder {
            path: PathBuf::new(),
            rules: None,
            repository: None,
        };
        for part in file.components() {
            let present = Present::look(&self.root.join(&folder.path));
            if self.is_other(&folder, present) {
                break;
            }
            self.arrive(&mut folder, present, &mut walk);
            let path = folder.path.join(part);
            let look = || std::fs::symlink_metadata(self.root.join(&path));
            let is_entered =
                look().is_ok_and(|metadata| self.visit(&folder, &path, metadata.file_type(), &look, &mut walk));
            if !is_entered {
                break;
            }
            folder.path = path;
        }
        walk
    }

    /// Whether a folder is another project than the tree: a clone or a linked work tree in a repository that knows nothing of it, or
    /// a work tree of a repository that the walk meets anyway. A submodule is part of the tree.
    fn is_other(&self, folder: &Folder, present: Present) -> bool {
        if !present.git || folder.path.as_os_str().is_empty() {
            return false;
        }
        let own = Repository::at(&self.root.join(&folder.path));
        match (&folder.repository, own) {
            (_, Err(NoRepository::Missing { .. })) => false,
            (Some(around), _) => !around.has(&folder.path) && around.below(&folder.path).next().is_none(),
            (None, Ok(own)) => own.directory != own.common && own.common.starts_with(self.root),
            (None, Err(_)) => false,
        }
    }

    fn leave_out_other(&self, folder: &Folder, walk: &mut Walk) {
        if self.account == Account::Full {
            walk.left_out.push(LeftOut {
                path: escape_path(&folder.path).into(),
                is_folder: true,
                by: LeftOutBy::Repository,
                rule: None,
            });
        }
    }

    /// Takes up the rules and the repository of a folder.
    fn arrive(&self, folder: &mut Folder, present: Present, walk: &mut Walk) {
        let at = self.root.join(&folder.path);
        let is_top = folder.path.as_os_str().is_empty();
        let repository = match (present.git, is_top) {
            (true, _) => Repository::at(&at).ok(),
            // Part of a larger work tree: its index knows what is tracked here.
            (false, true) => Repository::around(&at).ok(),
            (false, false) => None,
        };
        let own = repository.as_ref().filter(|repository| repository.work_tree == at);
        if self.heed {
            let above = folder.rules.take();
            folder.rules = Rules::of(self.root, &folder.path, above, present, own);
        }
        if let Some(repository) = repository {
            let stamp = stamp_of(&repository.index());
            let tracked = repository.tracked();
            if let Some(stamp) = stamp {
                walk.seen.push((repository.index().to_string_lossy().into(), stamp));
            }
            walk.indexes.push(GitIndex {
                path: repository.index(),
                directory: repository.directory.clone(),
                stamp,
                digest: tracked.digest(),
            });
            let base = match at.strip_prefix(&repository.work_tree) {
                Ok(inside) if !inside.as_os_str().is_empty() => Base::Above(bytes_of(inside)),
                _ => Base::Below(bytes_of(&folder.path)),
            };
            folder.repository = Some(Arc::new(InRepository { tracked, base }));
        }
    }

    /// Looks at one entry of a folder; says whether it is a folder to go into.
    fn visit(
        &self,
        folder: &Folder,
        path: &Path,
        kind: FileType,
        metadata: &dyn Fn() -> io::Result<Metadata>,
        walk: &mut Walk,
    ) -> bool {
        let Some(name) = path.file_name() else { return false };
        let name = name.to_string_lossy();
        if NEVER.contains(&&*name) {
            self.leave_out(folder, path, kind, LeftOutBy::Name, walk);
            return false;
        }
        let is_folder = kind.is_dir();
        let verdict = match &folder.rules {
            Some(rules) => rules.verdict(path, is_folder),
            None => Verdict::Silent,
        };
        let mut is_free = true;
        if verdict == Verdict::Ignored {
            if is_folder {
                self.keep_tracked(folder, path, walk);
                self.leave_out(folder, path, kind, LeftOutBy::Rule, walk);
                return false;
            }
            is_free = folder.repository.as_ref().is_some_and(|known| known.has(path));
            // How packages are laid out decides what thousands of imports mean.
            if !is_free && !is_manifest(&name) {
                self.leave_out(folder, path, kind, LeftOutBy::Rule, walk);
                return false;
            }
        }
        if !self.hidden && verdict != Verdict::Kept && name.starts_with('.') {
            self.leave_out(folder, path, kind, LeftOutBy::Hidden, walk);
            return false;
        }
        let shown = escape_path(path);
        if is_folder {
            let is_admitted = self.globs.admit_directory(&shown);
            if !is_admitted {
                self.leave_out(folder, path, kind, LeftOutBy::Configuration, walk);
            }
            return is_admitted;
        }
        if !self.globs.admit_file(&shown) {
            self.leave_out(folder, path, kind, LeftOutBy::Configuration, walk);
            return false;
        }
        walk.has_free |= is_free;
        walk.take(shown, kind, metadata);
        false
    }

    /// What git tracks below a folder that is ignored: git does not ask the rules of what it tracks.
    fn keep_tracked(&self, folder: &Folder, path: &Path, walk: &mut Walk) {
        let Some(known) = &folder.repository else { return };
        for inside in known.below(path) {
            let parts = || inside.components().map(|part| part.as_os_str().to_string_lossy());
            let is_out = |name: &str| NEVER.contains(&name) || (!self.hidden && name.starts_with('.'));
            let shown = escape_path(&inside);
            let folders = shown.match_indices('/').map(|(at, _)| &shown[..at]);
            if parts().any(|name| is_out(&name))
                || !folders.into_iter().all(|folder| self.globs.admit_directory(folder))
                || !self.globs.admit_file(&shown)
            {
                continue;
            }
            let look = || std::fs::symlink_metadata(self.root.join(&inside));
            // What is tracked and not there is no file of this tree.
            if let Ok(metadata) = look()
                && !metadata.is_dir()
            {
                walk.has_free = true;
                walk.take(shown, metadata.file_type(), &look);
            }
        }
    }

    fn leave_out(&self, folder: &Folder, path: &Path, kind: FileType, by: LeftOutBy, walk: &mut Walk) {
        if self.account == Account::None {
            return;
        }
        let rule = match by {
            LeftOutBy::Rule => folder.rules.as_ref().and_then(|rules| rules.rule(path, kind.is_dir())),
            _ => None,
        };
        walk.left_out.push(LeftOut {
            path: escape_path(path).into(),
            is_folder: kind.is_dir(),
            by,
            rule,
        });
    }
}

impl Walk {
    fn append(&mut self, mut other: Walk) {
        self.candidates.append(&mut other.candidates);
        self.skipped.append(&mut other.skipped);
        self.indexes.append(&mut other.indexes);
        self.seen.append(&mut other.seen);
        self.left_out.append(&mut other.left_out);
        self.has_free |= other.has_free;
    }

    fn sort(&mut self) {
        self.candidates
            .sort_unstable_by(|left, right| left.path.cmp(&right.path));
        self.candidates.dedup_by(|left, right| left.path == right.path);
        self.skipped.sort_unstable();
        self.skipped.dedup();
        self.indexes.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        self.indexes.dedup_by(|left, right| left.path == right.path);
        self.left_out.sort_unstable();
    }

    /// Notes how something is that decides what is found.
    fn see(&mut self, root: &Path, path: &Path) {
        if let Some(stamp) = stamp_of(&root.join(path)) {
            self.seen.push((escape_path(path).into(), stamp));
        }
    }

    /// Takes what is no folder for source, or says why not.
    fn take(&mut self, path: String, kind: FileType, metadata: &dyn Fn() -> io::Result<Metadata>) {
        let mut skip = |path: String, reason| {
            self.skipped.push(Skipped {
                path: path.into(),
                reason,
                size: 0,
            });
        };
        if kind.is_symlink() {
            return skip(path, SkipReason::Symlink);
        }
        if !kind.is_file() {
            return skip(path, SkipReason::NotRegular);
        }
        if is_secret(&path) {
            return skip(path, SkipReason::Secret);
        }
        match metadata() {
            Ok(metadata) => self.candidates.push(Candidate {
                path: path.into(),
                stamp: Stamp::of(&metadata),
            }),
            // Gone between the listing and the look: as if it had never been there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => skip(path, SkipReason::Unreadable),
        }
    }

    /// Records a folder that cannot be listed.
    fn note_error(&mut self, folder: &Path, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound && !folder.as_os_str().is_empty() {
            self.skipped.push(Skipped {
                path: escape_path(folder).into(),
                reason: SkipReason::Unreadable,
                size: 0,
            });
        }
    }
}

/// An index of git, and how it looked when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitIndex {
    path: PathBuf,
    directory: PathBuf,
    stamp: Option<Stamp>,
    digest: [u8; 32],
}

impl GitIndex {
    /// Whether other paths are tracked now. A new stamp of the same paths is noted, so that it is not looked at twice.
    pub(crate) fn differs(&mut self) -> bool {
        let stamp = stamp_of(&self.path);
        if stamp == self.stamp {
            return false;
        }
        self.stamp = stamp;
        Tracked::read(&self.directory).digest() != self.digest
    }

    /// Whether it was written since it was last looked at.
    pub(crate) fn is_written(&self) -> bool {
        stamp_of(&self.path) != self.stamp
    }
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    std::fs::symlink_metadata(path)
        .ok()
        .map(|metadata| Stamp::of(&metadata))
}

/// A repository, as seen from the root of the walk.
struct InRepository {
    tracked: Tracked,
    base: Base,
}

enum Base {
    /// Its top is this folder of the tree.
    Below(Vec<u8>),
    /// The tree is this folder of it.
    Above(Vec<u8>),
}

impl InRepository {
    /// Whether a path of the tree is tracked.
    fn has(&self, path: &Path) -> bool {
        self.inside(path).is_some_and(|path| self.tracked.contains(&path))
    }

    /// The files of the tree that are tracked below a folder of it.
    fn below(&self, folder: &Path) -> impl Iterator<Item = PathBuf> {
        let inside = self.inside(folder);
        let prefix = match &self.base {
            Base::Below(prefix) | Base::Above(prefix) if prefix.is_empty() => 0,
            Base::Below(prefix) | Base::Above(prefix) => prefix.len() + 1,
        };
        inside.into_iter().flat_map(move |inside| {
            let found = self.tracked.below(&inside);
            let files = found.filter(|(_, kind)| matches!(kind, TrackedKind::File | TrackedKind::Link));
            let paths: Vec<PathBuf> = files
                .map(|(name, _)| match &self.base {
                    Base::Below(base) if base.is_empty() => path_of(name),
                    Base::Below(base) => path_of(base).join(path_of(name)),
                    Base::Above(_) => path_of(&name[prefix..]),
                })
                .collect();
            paths
        })
    }

    /// What the repository calls a path of the tree.
    fn inside(&self, path: &Path) -> Option<Vec<u8>> {
        let path = bytes_of(path);
        match &self.base {
            Base::Below(base) if base.is_empty() => Some(path),
            Base::Below(base) => Some(path.strip_prefix(&base[..])?.strip_prefix(b"/")?.to_vec()),
            Base::Above(base) => Some([base, &b"/"[..], &path].concat()),
        }
    }
}

/// A path as git writes it.
fn bytes_of(path: &Path) -> Vec<u8> {
    let parts: Vec<&[u8]> = path
        .components()
        .map(|part| part.as_os_str().as_encoded_bytes())
        .collect();
    parts.join(&b'/')
}

/// The path that git writes as these bytes.
fn path_of(name: &[u8]) -> PathBuf {
    super::escape::from_bytes(name.to_vec())
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
