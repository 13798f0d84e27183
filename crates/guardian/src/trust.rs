//! Which repositories the user has said may have their own code run. Everything else is hostile until its owner says otherwise.
//!
//! The list is a file in the user's state folder, never in a tree. An entry names a folder by its path and by what the file
//! system knows it by (number and time of birth), so that another clone put in the same place is not trusted with it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::files;

/// Longest list that is read.
const MAX_LIST: u64 = 4 << 20;
const LIST: &str = "trust.toml";

/// Why the list cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Neither a home nor another folder for what the user has decided.
    #[error("there is no folder for the list of trusted repositories: set HOME, XDG_STATE_HOME or LACON_STATE_DIR")]
    NoPlace,
    #[error("`{}` is not a folder: {error}", path.display())]
    NoFolder { path: PathBuf, error: io::Error },
    /// The list is a text file.
    #[error("`{}` is not valid Unicode, so it cannot be listed", path.display())]
    NoText { path: PathBuf },
    #[error("the list of trusted repositories `{}` cannot be used: {why}", path.display())]
    List { path: PathBuf, why: String },
}

/// The list on disk.
#[derive(Clone, Debug)]
pub struct List {
    folder: PathBuf,
}

/// One entry: a folder that is trusted with all below it, other repositories excepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Canonical.
    pub path: String,
    /// The number of the folder in its file system.
    inode: u64,
    /// When it was made, in nanoseconds since 1970, where the file system keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born: Option<String>,
    /// The number of the file system, where it does not: not lasting for all, so that trust may have to be given again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device: Option<u64>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    trusted: Vec<Entry>,
}

impl Entry {
    fn of(folder: &Path) -> Result<Entry, TrustError> {
        let meta = fs::metadata(folder).map_err(|error| TrustError::NoFolder {
            path: folder.to_path_buf(),
            error,
        })?;
        if !meta.is_dir() {
            return Err(TrustError::NoFolder {
                path: folder.to_path_buf(),
                error: io::ErrorKind::NotADirectory.into(),
            });
        }
        let born = meta
            .created()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let path = folder.to_str().ok_or_else(|| TrustError::NoText {
            path: folder.to_path_buf(),
        })?;
        let known = files::identity(folder, &meta).map_err(|error| TrustError::NoFolder {
            path: folder.to_path_buf(),
            error,
        })?;
        Ok(Entry {
            path: path.to_string(),
            inode: known.number,
            born: born.map(|time| time.as_nanos().to_string()),
            device: born.is_none().then_some(known.device),
        })
    }
}

impl List {
    /// The list in this folder, which need not exist yet.
    pub fn in_folder(folder: &Path) -> List {
        List {
            folder: folder.to_path_buf(),
        }
    }

    /// The file that holds it.
    pub fn file(&self) -> PathBuf {
        self.folder.join(LIST)
    }

    /// The entries whose folders are still what they were.
    pub fn entries(&self) -> Result<Vec<Entry>, TrustError> {
        let mut entries = self.read()?;
        entries.retain(holds);
        Ok(entries)
    }

    /// The entry by which a tree is trusted: its own, or that of a folder above it, up to the repository it is part of.
    pub fn entry_for(&self, tree: &Path) -> Result<Option<Entry>, TrustError> {
        let tree = canonical(tree)?;
        let entries = self.read()?;
        let found = tree_of(&tree).find_map(|folder| {
            let entry = entries.iter().find(|entry| Path::new(&entry.path) == folder)?;
            holds(entry).then(|| entry.clone())
        });
        // A list that lies in the tree is the tree's own word.
        if let (Some(entry), Ok(list)) = (&found, self.folder.canonicalize())
            && (list.starts_with(&entry.path) || list.starts_with(&tree))
        {
            return Err(self.unusable("it lies inside the tree"));
        }
        Ok(found)
    }

    /// Trusts the repository around a folder, or the folder itself where there is none. Says which folder that is.
    pub fn grant(&self, tree: &Path) -> Result<PathBuf, TrustError> {
        let tree = canonical(tree)?;
        let around = repository_around(&tree).filter(|around| !is_of_another(&around.join(".git"), &tree));
        let folder = around.unwrap_or(tree);
        let entry = Entry::of(&folder)?;
        let place = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
        if place.starts_with(&folder) {
            return Err(self.unusable(&format!("it lies inside `{}`", folder.display())));
        }
        self.change(|entries| {
            entries.retain(|other| other.path != entry.path && Path::new(&other.path).exists());
            entries.push(entry);
            entries.sort_by(|one, other| one.path.cmp(&other.path));
        })?;
        Ok(folder)
    }

    /// Takes every entry away by which a tree is trusted. Says which those were.
    pub fn revoke(&self, tree: &Path) -> Result<Vec<PathBuf>, TrustError> {
        // One that is gone can be taken off the list too.
        let tree = tree.canonicalize().unwrap_or_else(|_| tree.to_path_buf());
        let folders: Vec<PathBuf> = tree_of(&tree).map(Path::to_path_buf).collect();
        let mut gone = Vec::new();
        self.change(|entries| {
            let (kept, taken): (Vec<Entry>, Vec<Entry>) = std::mem::take(entries)
                .into_iter()
                .partition(|entry| !folders.iter().any(|folder| folder == Path::new(&entry.path)));
            *entries = kept;
            gone = taken.into_iter().map(|entry| PathBuf::from(entry.path)).collect();
        })?;
        Ok(gone)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Entry>)) -> Result<(), TrustError> {
        let failed = |error: io::Error| self.unusable(&error.to_string());
        files::make_private(&self.folder).map_err(failed)?;
        // Held until the end of this function: two who change it do not lose each other's word.
        let lock = files::open_private(&self.folder.join("trust.lock"), |options| {
            options.create(true).truncate(false)
        })
        .map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut trusted = self.read()?;
        change(&mut trusted);
        let text = toml::to_string(&Table { trusted }).map_err(|error| self.unusable(&error.to_string()))?;
        let head = "# Repositories whose own code Lacon may run. Written by `lacon trust`.\n\n";
        let next = self.folder.join("trust.toml.next");
        // Only the holder of the lock writes it: what is there was left by one that died.
        match fs::remove_file(&next) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let mut file = files::open_private(&next, |options| options.create_new(true)).map_err(failed)?;
        file.write_all(format!("{head}{text}").as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        fs::rename(&next, self.file()).map_err(failed)
    }

    fn read(&self) -> Result<Vec<Entry>, TrustError> {
        let path = self.file();
        let opened = files::open_itself(&path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.unusable(&error.to_string())),
        };
        let meta = file.metadata().map_err(|error| self.unusable(&error.to_string()))?;
        if !files::is_ours(&meta) {
            return Err(self.unusable("others may write it: it must be a file of yours with mode 600"));
        }
        let mut text = String::new();
        file.take(MAX_LIST)
            .read_to_string(&mut text)
            .map_err(|error| self.unusable(&error.to_string()))?;
        let table: Table = toml::from_str(&text).map_err(|error| self.unusable(error.message()))?;
        Ok(table.trusted)
    }

    fn unusable(&self, why: &str) -> TrustError {
        TrustError::List {
            path: self.file(),
            why: why.to_string(),
        }
    }
}

fn canonical(tree: &Path) -> Result<PathBuf, TrustError> {
    tree.canonicalize().map_err(|error| TrustError::NoFolder {
        path: tree.to_path_buf(),
        error,
    })
}

/// Whether the folder of an entry is the one that was trusted.
fn holds(entry: &Entry) -> bool {
    Entry::of(Path::new(&entry.path)).is_ok_and(|now| now == *entry)
}

/// A tree and the folders above it as far as they are the same repository. One that lies in another one's tree is on its own.
fn tree_of(tree: &Path) -> impl Iterator<Item = &Path> {
    let mut is_over = false;
    tree.ancestors().take_while(move |folder| {
        let goes_on = !is_over;
        is_over |= is_repository(folder);
        goes_on
    })
}

/// The folder of the repository that a canonical path is in.
pub fn repository_around(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .find(|folder| is_repository(folder))
        .map(Path::to_path_buf)
}

/// Whether a repository belongs neither to this user, nor to the system's, nor to whoever owns the tree in it: in `/tmp` everybody may
/// make one around everybody's folders, and would be trusted with them.
fn is_of_another(repository: &Path, tree: &Path) -> bool {
    match (fs::symlink_metadata(repository), fs::symlink_metadata(tree)) {
        (Ok(of_repository), Ok(of_tree)) => files::is_of_another(&of_repository, &of_tree),
        _ => true,
    }
}

fn is_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// Whom this process trusts: everyone, those on the list, and those that were trusted for as long as it runs. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    everything: bool,
    list: Option<List>,
    /// Repositories whose user was asked and did not say yes.
    declined: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Trust {
    /// Every tree, because the user said so for this process.
    pub fn everything() -> Trust {
        Trust {
            everything: true,
            ..Trust::default()
        }
    }

    /// Those on the list; nobody without one.
    pub fn listed(list: Option<List>) -> Trust {
        Trust {
            list,
            ..Trust::default()
        }
    }

    /// Whether the code of a tree may be run. The list is read anew, so that a word given elsewhere counts at once.
    pub fn covers(&self, tree: &Path) -> bool {
        if self.everything {
            return true;
        }
        let Some(list) = &self.list else { return false };
        list.entry_for(tree).map_or_else(
            |error| {
                tracing::warn!(%error, "nothing is trusted");
                false
            },
            |entry| entry.is_some(),
        )
    }

    /// Whether everything is trusted for as long as this process runs.
    pub fn is_everything(&self) -> bool {
        self.everything
    }

    /// The list.
    pub fn list(&self) -> Result<&List, TrustError> {
        self.list.as_ref().ok_or(TrustError::NoPlace)
    }

    /// Notes that the user is asked about a tree. Says whether this is the first time, so that nobody is asked twice.
    pub fn asks_first_time(&self, tree: &Path) -> bool {
        let folder = repository_around(tree).unwrap_or_else(|| tree.to_path_buf());
        self.declined().insert(folder)
    }

    fn declined(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.declined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use super::{List, Trust};

    struct Place {
        _folder: tempfile::TempDir,
        base: PathBuf,
        list: List,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["one/.git", "one/part/deep", "one/vendor/two/.git", "plain/sub"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        let list = List::in_folder(&base.join("state"));
        Place {
            _folder: folder,
            base,
            list,
        }
    }

    #[test]
    fn a_repository_is_trusted_with_its_parts_and_without_others_in_it() {
        let Place { base, list, _folder } = place();
        let trusts = |name: &str| list.entry_for(&base.join(name)).unwrap().is_some();
        assert!(!trusts("one"));
        // Said in a part of it, it is about the whole.
        assert_eq!(list.grant(&base.join("one/part")).unwrap(), base.join("one"));
        assert!(trusts("one") && trusts("one/part/deep"));
        assert!(!trusts("one/vendor/two") && !trusts("plain"));
        assert_eq!(list.revoke(&base.join("one/part")).unwrap(), [base.join("one")]);
        assert!(!trusts("one"));
        assert!(list.revoke(&base.join("one")).unwrap().is_empty());
    }

    #[test]
    fn a_folder_outside_of_any_repository_is_trusted_with_what_is_below() {
        let Place { base, list, _folder } = place();
        assert_eq!(list.grant(&base.join("plain")).unwrap(), base.join("plain"));
        assert!(list.entry_for(&base.join("plain/sub")).unwrap().is_some());
    }

    #[test]
    fn what_somebody_else_puts_around_a_folder_is_not_trusted_with_it() {
        use std::os::unix::fs::chown;
        let Place { base, list, _folder } = place();
        std::fs::create_dir_all(base.join("shared/.git")).unwrap();
        std::fs::create_dir_all(base.join("shared/mine")).unwrap();
        if chown(base.join("shared/.git"), Some(65534), None).is_err() {
            testkit::skipped("guardian trust: another owner", "only the superuser gives files away");
            return;
        }
        let mine = base.join("shared/mine");
        assert_eq!(list.grant(&mine).unwrap(), mine);
        assert!(list.entry_for(&base.join("shared/theirs")).is_err());
        std::fs::create_dir(base.join("shared/theirs")).unwrap();
        assert!(list.entry_for(&base.join("shared/theirs")).unwrap().is_none());
        chown(base.join("shared/.git"), Some(0), None).unwrap();
        assert_eq!(list.grant(&mine).unwrap(), base.join("shared"));
    }

    #[test]
    fn another_folder_in_the_same_place_is_not_trusted() {
        let Place { base, list, _folder } = place();
        let one = base.join("one");
        list.grant(&one).unwrap();
        std::fs::rename(&one, base.join("away")).unwrap();
        std::fs::create_dir_all(one.join(".git")).unwrap();
        assert!(list.entry_for(&one).unwrap().is_none());
        assert!(list.entries().unwrap().is_empty());
        // Nor is the old one elsewhere, nor a link to it from the old place.
        assert!(list.entry_for(&base.join("away")).unwrap().is_none());
        std::fs::remove_dir_all(&one).unwrap();
        symlink(base.join("away"), &one).unwrap();
        assert!(list.entry_for(&one).unwrap().is_none());
    }

    #[test]
    fn a_list_that_others_may_write_or_that_lies_in_the_tree_counts_for_nothing() {
        let Place { base, list, _folder } = place();
        list.grant(&base.join("one")).unwrap();
        let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(base.join("state")), mode(list.file())), (0o700, 0o600));
        std::fs::set_permissions(list.file(), std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(list.entry_for(&base.join("one")).is_err());
        assert!(!Trust::listed(Some(list)).covers(&base.join("one")));

        let inside = List::in_folder(&base.join("one/.config"));
        assert!(inside.grant(&base.join("one")).is_err());
        let elsewhere = List::in_folder(&base.join("elsewhere"));
        elsewhere.grant(&base.join("one")).unwrap();
        std::fs::create_dir(base.join("one/.config")).unwrap();
        std::fs::copy(elsewhere.file(), inside.file()).unwrap();
        assert!(inside.entry_for(&base.join("one")).is_err());
    }

    #[test]
    fn two_who_trust_at_once_lose_nothing() {
        let Place { base, list, _folder } = place();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (list, tree) = (&list, base.join(format!("many/{number}")));
                scope.spawn(move || {
                    std::fs::create_dir_all(&tree).unwrap();
                    list.grant(&tree).unwrap();
                });
            }
        });
        assert_eq!(list.entries().unwrap().len(), 8);
    }

    #[test]
    fn a_user_is_asked_once() {
        let Place { base, list, _folder } = place();
        let trust = Trust::listed(Some(list));
        assert!(trust.asks_first_time(&base.join("one")));
        assert!(!trust.clone().asks_first_time(&base.join("one/part")));
        assert!(trust.asks_first_time(&base.join("plain")));
        assert!(!trust.covers(&base.join("plain")));
        assert!(Trust::everything().covers(&base.join("plain")));
        assert!(!Trust::default().covers(&base.join("plain")));
    }
}
