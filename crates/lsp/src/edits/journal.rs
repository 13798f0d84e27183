//! Writes plans so that they can be taken back, and takes them back.
//!
//! The one trick: before the first file is touched, the old contents are on disk in the journal, with the hash of the new ones.
//! Whoever looks after a crash ([`Journal::recover`]) finds an entry that was begun and not finished. Where every file has its new
//! contents the change is kept; else the old ones are put back, so that the tree is all new or all old.
//!
//! Looking ([`Journal::open`], [`Journal::entries`], [`Journal::interrupted`]) changes nothing.

mod recovery;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::folder::{Folder, Missing};
use super::{EditError, Plan, confined, io};
pub use recovery::{Outcome, Recovered};

/// Changes that can be undone at most; older ones are forgotten.
const ENTRIES_LIMIT: usize = 100;
/// Bytes of old contents kept at most.
const BYTES_LIMIT: u64 = 256 << 20;
/// The journal of one repository.
pub struct Journal {
    root: PathBuf,
    directory: PathBuf,
}

/// One change that was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Its name; later ones sort after earlier ones, and none is given twice.
    pub id: String,
    /// What it was, in words.
    pub about: String,
    /// When, in seconds since 1970.
    pub time: u64,
    /// The files.
    pub files: Vec<Touched>,
    /// What the names of its temporary files begin with: nobody else can guess it, and a recovery finds them by it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    token: String,
    /// Folders that it made, outer ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders: Vec<String>,
}

/// One file of a change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Touched {
    /// Relative to the root.
    pub path: String,
    /// Hash of the old bytes; `None` if there was no file.
    before: Option<String>,
    /// Hash of the new bytes; `None` if the file went.
    after: Option<String>,
    /// Permissions of the old file.
    mode: Option<u32>,
}

/// A change that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// For [`Journal::undo`].
    pub id: String,
    /// What had to be put right first.
    pub recovered: Vec<Recovered>,
}

/// What an undo did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The change that was taken back.
    pub id: String,
    /// What it was.
    pub about: String,
    /// The files that are as they were before it.
    pub files: Vec<String>,
}

const ENTRY: &str = "entry.json";
/// An entry with this file in it happened whole.
const DONE: &str = "done";
/// What `DONE` is called while the entry is taken back.
const UNDOING: &str = "undoing";
/// What a mark is called until it is on disk.
const MARK: &str = "mark";
/// The number of the latest entry there ever was.
const LAST: &str = "last";
/// Folders of entries that are still being described.
const PARTIAL: &str = "partial";

/// What a file is like beside an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Now {
    Before,
    After,
    /// Changed by somebody else.
    Other,
}

impl Journal {
    /// The journal kept in `directory`. Nothing is read or made yet.
    pub fn open(root: &Path, directory: &Path) -> Result<Journal, EditError> {
        Ok(Journal {
            root: root.canonicalize().map_err(io(root))?,
            directory: directory.to_owned(),
        })
    }

    /// The changes that can be undone, latest first.
    pub fn entries(&self) -> Result<Vec<Entry>, EditError> {
        let mut entries = self.entries_in_any_state()?;
        entries.retain(|entry| self.place(&entry.id).join(DONE).exists());
        entries.reverse();
        Ok(entries)
    }

    /// Changes that were begun and not finished: of a process that works on them now, or of one that was killed.
    pub fn interrupted(&self) -> Result<Vec<Entry>, EditError> {
        let mut entries = self.entries_in_any_state()?;
        entries.retain(|entry| !self.place(&entry.id).join(DONE).exists());
        Ok(entries)
    }

    /// Makes all changes of a plan, or none, and remembers how to take them back.
    pub fn commit(&self, plan: &Plan, about: &str) -> Result<Committed, EditError> {
        let folder = self.folder()?;
        let _lock = self.lock(&folder)?;
        let recovered = self.recover_locked(&folder)?;
        if plan.root.canonicalize().map_err(io(&plan.root))? != self.root {
            return Err(EditError::Confined {
                path: plan.root.display().to_string(),
                reason: "it is another repository's root",
            });
        }
        let tree = self.tree()?;
        let mut entry = Entry {
            id: self.next_id(&folder)?,
            about: about.to_owned(),
            time: seconds_since_1970(),
            files: Vec::with_capacity(plan.files.len()),
            token: token(),
            folders: Vec::new(),
        };
        let mut folders = BTreeSet::new();
        for (path, change) in &plan.files {
            let place = self.inside(path)?;
            let (now, mode) = match tree.parent_of(&place, Missing::Refuse) {
                Ok((parent, name)) => {
                    let now = parent.read(name).map_err(io(&place))?;
                    if now.is_some() && now == change.before && !parent.is_writable(name) {
                        return Err(EditError::ReadOnly { path: path.clone() });
                    }
                    (now, parent.mode(name))
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    folders.extend(missing_folders(&tree, &place));
                    (None, None)
                }
                Err(error) => return Err(io(&place)(error)),
            };
            if now != change.before {
                return Err(EditError::Changed { path: path.clone() });
            }
            entry.files.push(Touched {
                path: path.clone(),
                before: change.before.as_deref().map(hash),
                after: change.after.as_deref().map(hash),
                mode,
            });
        }
        entry.folders = folders.into_iter().collect();
        self.begin(&folder, &entry, plan)?;
        let written = self
            .write_all(&tree, &entry, plan)
            .and_then(|()| self.mark(&folder, &entry.id, DONE));
        if let Err(error) = written {
            // The old contents are at hand; a second failure leaves the entry for the next start.
            self.put_back(&tree, &folder, &entry)?;
            self.forget(&entry.id)?;
            return Err(error);
        }
        // The change is made: that old ones could not be forgotten is no reason to say otherwise.
        if let Err(error) = self.prune() {
            tracing::warn!(%error, "old changes are not forgotten");
        }
        Ok(Committed {
            id: entry.id,
            recovered,
        })
    }

    /// Takes back the change `id`, or the latest one. Refuses if one of its files has changed since.
    pub fn undo(&self, id: Option<&str>) -> Result<Undone, EditError> {
        let nothing = |count: usize| {
            EditError::NothingToUndo(match id {
                Some(id) => format!("no change `{id}` among the {count} that can be undone"),
                None => "there is no change to undo".to_owned(),
            })
        };
        if self.entries()?.is_empty() {
            return Err(nothing(0));
        }
        let folder = self.folder()?;
        let _lock = self.lock(&folder)?;
        let entries = self.entries()?;
        let entry = match id {
            Some(id) => entries.iter().find(|entry| entry.id == id),
            None => entries.first(),
        };
        let entry = entry.ok_or_else(|| nothing(entries.len()))?;
        let (tree, own) = (self.tree()?, self.folder_of(&folder, &entry.id)?);
        for file in &entry.files {
            if self.now(&tree, file)? != Now::After {
                return Err(EditError::Changed {
                    path: file.path.clone(),
                });
            }
            if file.after.is_some() && !self.is_writable(&tree, file)? {
                return Err(EditError::ReadOnly {
                    path: file.path.clone(),
                });
            }
        }
        // From here on a crash is finished by the next start.
        own.rename(DONE, UNDOING).map_err(io(self.place(&entry.id)))?;
        if let Err(error) = self.put_back(&tree, &folder, entry) {
            // As long as every file has the new contents the change simply stays; else the next start goes on.
            if self.all_are(&tree, entry, Now::After) {
                self.sweep(&tree, entry)?;
                own.rename(UNDOING, DONE).map_err(io(self.place(&entry.id)))?;
            }
            return Err(error);
        }
        self.forget(&entry.id)?;
        Ok(Undone {
            id: entry.id.clone(),
            about: entry.about.clone(),
            files: entry.files.iter().map(|file| file.path.clone()).collect(),
        })
    }

    /// Old contents and what will be there, on disk before anything is touched.
    fn begin(&self, folder: &Folder, entry: &Entry, plan: &Plan) -> Result<(), EditError> {
        let describe = || -> std::io::Result<()> {
            let partial = format!("{}.{PARTIAL}", entry.id);
            folder.make(&partial)?;
            let own = folder.inside(&partial)?;
            for (number, change) in plan.files.values().enumerate() {
                if let Some(before) = &change.before {
                    own.create(&number.to_string(), before, Some(0o600))?;
                }
            }
            own.create(ENTRY, &serde_json::to_vec(entry)?, Some(0o600))?;
            own.sync();
            folder.rename(&partial, &entry.id)?;
            folder.sync();
            Ok(())
        };
        describe().map_err(|error| {
            drop(std::fs::remove_dir_all(self.place(&entry.id).with_extension(PARTIAL)));
            io(self.place(&entry.id))(error)
        })
    }

    fn write_all(&self, tree: &Folder, entry: &Entry, plan: &Plan) -> Result<(), EditError> {
        // Everything that can fail for want of room or rights is tried before the first file is replaced.
        let mut ready = Vec::with_capacity(entry.files.len());
        for (number, (file, change)) in entry.files.iter().zip(plan.files.values()).enumerate() {
            let place = self.inside(&file.path)?;
            let missing = match change.after {
                Some(_) => Missing::Make,
                None => Missing::Refuse,
            };
            let (parent, name) = tree.parent_of(&place, missing).map_err(io(&place))?;
            let temporary = entry.temporary(number);
            if let Some(bytes) = &change.after {
                parent.create(&temporary, bytes, file.mode).map_err(io(&place))?;
            }
            ready.push((parent, name.to_owned(), temporary, (&file.path, change)));
        }
        for (parent, name, temporary, (path, change)) in &ready {
            // Whoever wrote the file since it was read has the last word.
            if parent.read(name).map_err(io(self.root.join(path)))? != change.before {
                return Err(EditError::Changed { path: (*path).clone() });
            }
            let put = match change.after {
                Some(_) => parent.rename(temporary, name),
                None => parent.remove(name),
            };
            put.map_err(io(self.root.join(path)))?;
        }
        for (parent, ..) in &ready {
            parent.sync();
        }
        Ok(())
    }

    fn now(&self, tree: &Folder, file: &Touched) -> Result<Now, EditError> {
        let place = self.inside(&file.path)?;
        let bytes = match tree.parent_of(&place, Missing::Refuse) {
            Ok((parent, name)) => parent.read(name).map_err(io(&place))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(io(&place)(error)),
        };
        let now = bytes.as_deref().map(hash);
        Ok(match now {
            now if now == file.before => Now::Before,
            now if now == file.after => Now::After,
            _ => Now::Other,
        })
    }

    fn all_are(&self, tree: &Folder, entry: &Entry, wanted: Now) -> bool {
        entry
            .files
            .iter()
            .all(|file| self.now(tree, file).is_ok_and(|now| now == wanted))
    }

    fn is_writable(&self, tree: &Folder, file: &Touched) -> Result<bool, EditError> {
        let place = self.inside(&file.path)?;
        let (parent, name) = tree.parent_of(&place, Missing::Refuse).map_err(io(&place))?;
        Ok(parent.is_writable(name))
    }

    fn mark(&self, folder: &Folder, id: &str, name: &str) -> Result<(), EditError> {
        let own = self.folder_of(folder, id)?;
        // In one step, so that a failure leaves no mark.
        let put = || {
            if own.has(MARK) {
                own.remove(MARK)?;
            }
            own.create(MARK, b"", Some(0o600))?;
            own.rename(MARK, name)
        };
        put().map_err(io(self.place(id)))?;
        own.sync();
        Ok(())
    }

    fn forget(&self, id: &str) -> Result<(), EditError> {
        // Under a name that means nothing any more, in one step: what is left of it after a crash is only swept.
        let (place, partial) = (self.place(id), self.place(id).with_extension(PARTIAL));
        super::faults::step().map_err(io(&place))?;
        std::fs::rename(&place, &partial).map_err(io(&place))?;
        super::faults::step().map_err(io(&place))?;
        std::fs::remove_dir_all(&partial).map_err(io(&place))
    }

    /// Drops the oldest entries beyond the limits; the latest always stays.
    fn prune(&self) -> Result<(), EditError> {
        let mut bytes = 0;
        for (number, entry) in self.entries()?.iter().enumerate() {
            bytes += self.size(&entry.id);
            if number >= ENTRIES_LIMIT || (number > 0 && bytes > BYTES_LIMIT) {
                self.forget(&entry.id)?;
            }
        }
        Ok(())
    }

    fn size(&self, id: &str) -> u64 {
        let Ok(files) = std::fs::read_dir(self.place(id)) else {
            return 0;
        };
        let sizes = files.flatten().filter_map(|file| file.metadata().ok());
        sizes.map(|metadata| metadata.len()).sum()
    }

    /// What lies in the journal's folder, in order; nothing where there is none.
    fn listed(&self) -> Result<Vec<String>, EditError> {
        let is_link = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
        if is_link(&self.directory) || self.directory.parent().is_some_and(is_link) {
            return Err(EditError::Confined {
                path: self.directory.display().to_string(),
                reason: "the folder for undoing changes is a link: remove it",
            });
        }
        match std::fs::read_dir(&self.directory) {
            Ok(listed) => {
                let mut names: Vec<String> = listed
                    .flatten()
                    .filter_map(|file| file.file_name().into_string().ok())
                    .collect();
                names.sort_unstable();
                Ok(names)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(io(&self.directory)(error)),
        }
    }

    /// Every entry whose description can be read, oldest first.
    fn entries_in_any_state(&self) -> Result<Vec<Entry>, EditError> {
        let names = self.listed()?;
        let mut entries = Vec::new();
        if names.is_empty() {
            return Ok(entries);
        }
        let folder = Folder::open(&self.directory).map_err(io(&self.directory))?;
        for name in names.iter().filter(|name| is_id(name)) {
            let read = || folder.inside(name).and_then(|own| own.read(ENTRY));
            let Ok(Some(text)) = read() else {
                continue;
            };
            let Ok(entry) = serde_json::from_slice::<Entry>(&text) else {
                continue;
            };
            // The name decides where the contents are, and temporary files are named by the token: a description that says otherwise, or
            // whose token leads elsewhere, is not ours.
            if entry.id == *name && entry.token.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                entries.push(entry);
            }
        }
        entries.sort_by(|left, right| left.id.cmp(&right.id));
        Ok(entries)
    }

    /// A number that no entry had before, be it undone or forgotten since.
    fn next_id(&self, folder: &Folder) -> Result<String, EditError> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let noted = folder.read(LAST).ok().flatten();
        let noted = noted.and_then(|bytes| number(std::str::from_utf8(&bytes).ok()?));
        let listed = self.listed()?;
        let listed = listed.iter().filter_map(|name| number(name.split('.').next()?)).max();
        let next = noted.max(listed).unwrap_or(0) + 1;
        let temporary = format!("{TEMPORARY}{}", token());
        let note = || {
            folder.create(&temporary, next.to_string().as_bytes(), Some(0o600))?;
            folder.rename(&temporary, LAST)
        };
        note().map_err(|error| {
            drop(folder.remove(&temporary));
            io(&self.directory)(error)
        })?;
        Ok(format!("{next:08}"))
    }

    fn place(&self, id: &str) -> PathBuf {
        self.directory.join(id)
    }

    fn tree(&self) -> Result<Folder, EditError> {
        Folder::open(&self.root).map_err(io(&self.root))
    }

    /// Where a path leads, relative to the root: its links were followed, and lead nowhere outside.
    fn inside(&self, path: &str) -> Result<PathBuf, EditError> {
        let place = confined(&self.root, path)?;
        Ok(place.strip_prefix(&self.root).map_or(place.clone(), Path::to_path_buf))
    }

    /// The journal's folder, made if it is not there. No link below the index directory is followed, nor that itself if it is one.
    fn folder(&self) -> Result<Folder, EditError> {
        self.listed()?;
        let failed = || io(self.directory.clone());
        let parent = self.directory.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(failed())?;
        let parent = Folder::open(parent).map_err(failed())?;
        let inner = Path::new(self.directory.file_name().unwrap_or_default()).join(LAST);
        let (folder, _) = parent.parent_of(&inner, Missing::Make).map_err(failed())?;
        // What can be undone is nobody's to commit, also where no index stands around it yet.
        if !folder.has(".gitignore") {
            folder.create(".gitignore", b"*\n", None).map_err(failed())?;
        }
        Ok(folder)
    }

    fn folder_of(&self, folder: &Folder, id: &str) -> Result<Folder, EditError> {
        folder.inside(id).map_err(io(self.place(id)))
    }

    /// One writer at a time, over all processes.
    fn lock(&self, folder: &Folder) -> Result<File, EditError> {
        let path = self.directory.join("lock");
        let file = folder.lock_file("lock").map_err(io(&path))?;
        file.lock().map_err(io(&path))?;
        Ok(file)
    }
}

impl Entry {
    /// The name of the file that becomes its file `number`.
    fn temporary(&self, number: usize) -> String {
        format!("{TEMPORARY}{}-{number}", self.token)
    }
}

/// What the names of temporary files begin with.
const TEMPORARY: &str = ".lacon-";

fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY)
}

fn is_partial(place: &Path) -> bool {
    place.extension().is_some_and(|extension| extension == PARTIAL)
}

fn is_id(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Folders above a path that are not there, outer ones first.
fn missing_folders(tree: &Folder, place: &Path) -> Vec<String> {
    let folders = place
        .ancestors()
        .skip(1)
        .filter(|folder| !folder.as_os_str().is_empty());
    let missing = folders.filter(|folder| {
        let found = tree.parent_of(folder, Missing::Refuse);
        !found.is_ok_and(|(parent, name)| parent.has(name))
    });
    missing.filter_map(Path::to_str).map(str::to_owned).collect()
}

/// 128 bits that nobody outside of this process can guess: the system's random numbers seed the hasher.
fn token() -> String {
    let state = RandomState::new();
    format!("{:016x}{:016x}", state.hash_one(0), state.hash_one(1))
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn seconds_since_1970() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs())
}
