//! Writes plans so that they can be taken back, and takes them back.
//!
//! The one trick: before the first file is touched, the old contents are on disk in the journal, with the hash of the new ones.
//! Whoever opens the journal after a crash finds an entry that was begun and not finished, and puts the old contents back.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{EditError, Plan, confined, io};

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
    /// Its name; later ones sort after earlier ones.
    pub id: String,
    /// What it was, in words.
    pub about: String,
    /// When, in seconds since 1970.
    pub time: u64,
    /// The files.
    pub files: Vec<Touched>,
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

impl Journal {
    /// The journal kept in `directory`. A change that a crash interrupted is taken back first.
    pub fn open(root: &Path, directory: &Path) -> Result<Journal, EditError> {
        let journal = Journal {
            root: root.canonicalize().map_err(io(root))?,
            directory: directory.to_owned(),
        };
        let _lock = journal.lock()?;
        for entry in journal.entries_in_any_state()? {
            if !journal.place(&entry.id).join(DONE).exists() {
                tracing::warn!(
                    id = entry.id,
                    about = entry.about,
                    "an interrupted change is taken back"
                );
                journal.restore(&entry)?;
                journal.forget(&entry.id)?;
            }
        }
        Ok(journal)
    }

    /// The changes that can be undone, latest first.
    pub fn entries(&self) -> Result<Vec<Entry>, EditError> {
        let mut entries = self.entries_in_any_state()?;
        entries.retain(|entry| self.place(&entry.id).join(DONE).exists());
        entries.reverse();
        Ok(entries)
    }

    /// Makes all changes of a plan, or none, and remembers how to take them back. Gives the id for [`Journal::undo`].
    pub fn commit(&self, plan: &Plan, about: &str) -> Result<String, EditError> {
        let _lock = self.lock()?;
        if plan.root.canonicalize().map_err(io(&plan.root))? != self.root {
            return Err(EditError::Confined {
                path: plan.root.display().to_string(),
                reason: "it is another repository's root",
            });
        }
        let mut entry = Entry {
            id: self.next_id()?,
            about: about.to_owned(),
            time: seconds_since_1970(),
            files: Vec::with_capacity(plan.files.len()),
        };
        for (path, change) in &plan.files {
            let place = confined(&self.root, path)?;
            if current(&place)? != change.before {
                return Err(EditError::Changed { path: path.clone() });
            }
            entry.files.push(Touched {
                path: path.clone(),
                before: change.before.as_deref().map(hash),
                after: change.after.as_deref().map(hash),
                mode: mode_of(&place),
            });
        }
        self.begin(&entry, plan)?;
        if let Err(error) = self.write_all(&entry, plan) {
            // The old contents are at hand; a second failure leaves the entry for the next start.
            self.restore(&entry)?;
            self.forget(&entry.id)?;
            return Err(error);
        }
        self.finish(&entry.id)?;
        self.prune()?;
        Ok(entry.id)
    }

    /// Takes back the change `id`, or the latest one. Refuses if one of its files has changed since.
    pub fn undo(&self, id: Option<&str>) -> Result<Undone, EditError> {
        let _lock = self.lock()?;
        let entries = self.entries()?;
        let entry = match id {
            Some(id) => entries.iter().find(|entry| entry.id == id),
            None => entries.first(),
        };
        let Some(entry) = entry else {
            return Err(EditError::NothingToUndo(match id {
                Some(id) => format!("no change `{id}` among the {} that can be undone", entries.len()),
                None => "there is no change to undo".to_owned(),
            }));
        };
        for file in &entry.files {
            let place = confined(&self.root, &file.path)?;
            if current(&place)?.as_deref().map(hash) != file.after {
                return Err(EditError::Changed {
                    path: file.path.clone(),
                });
            }
        }
        // From here on a crash is finished by the next start: what is not done is taken back.
        let done = self.place(&entry.id).join(DONE);
        std::fs::remove_file(&done).map_err(io(&done))?;
        self.restore(entry)?;
        self.forget(&entry.id)?;
        Ok(Undone {
            id: entry.id.clone(),
            about: entry.about.clone(),
            files: entry.files.iter().map(|file| file.path.clone()).collect(),
        })
    }

    /// Old contents and what will be there, on disk before anything is touched.
    fn begin(&self, entry: &Entry, plan: &Plan) -> Result<(), EditError> {
        let place = self.place(&entry.id);
        let partial = place.with_extension("partial");
        std::fs::create_dir_all(&partial).map_err(io(&partial))?;
        for (number, change) in plan.files.values().enumerate() {
            if let Some(before) = &change.before {
                write_synced(&partial.join(number.to_string()), before, None)?;
            }
        }
        let text = serde_json::to_vec(entry).map_err(|error| io(&partial)(error.into()))?;
        write_synced(&partial.join(ENTRY), &text, None)?;
        std::fs::rename(&partial, &place).map_err(io(&place))?;
        sync_directory(&self.directory);
        Ok(())
    }

    fn write_all(&self, entry: &Entry, plan: &Plan) -> Result<(), EditError> {
        // Everything that can fail for want of room or rights is tried before the first file is replaced.
        let mut ready = Vec::with_capacity(entry.files.len());
        let prepared: Result<(), EditError> =
            entry
                .files
                .iter()
                .zip(plan.files.values())
                .try_for_each(|(file, change)| {
                    let place = confined(&self.root, &file.path)?;
                    let partial = match &change.after {
                        Some(bytes) => {
                            if let Some(parent) = place.parent() {
                                std::fs::create_dir_all(parent).map_err(io(parent))?;
                            }
                            let partial = partial_name(&place, &entry.id);
                            ready.push((place, Some(partial.clone())));
                            return write_synced(&partial, bytes, file.mode);
                        }
                        None => None,
                    };
                    ready.push((place, partial));
                    Ok(())
                });
        let written = prepared.and_then(|()| {
            ready.iter().try_for_each(|(place, partial)| match partial {
                Some(partial) => std::fs::rename(partial, place).map_err(io(place)),
                None => std::fs::remove_file(place).map_err(io(place)),
            })
        });
        for (place, partial) in &ready {
            if let Some(partial) = partial {
                // Still there only where the rename did not happen.
                drop(std::fs::remove_file(partial));
            }
            if let Some(parent) = place.parent() {
                sync_directory(parent);
            }
        }
        written
    }

    /// Puts the old contents back wherever the new ones are. What is neither was changed by someone else and stays.
    fn restore(&self, entry: &Entry) -> Result<(), EditError> {
        for (number, file) in entry.files.iter().enumerate() {
            let place = confined(&self.root, &file.path)?;
            drop(std::fs::remove_file(partial_name(&place, &entry.id)));
            let now = current(&place)?.as_deref().map(hash);
            if now == file.before || now != file.after {
                continue;
            }
            match &file.before {
                Some(_) => {
                    let kept = self.place(&entry.id).join(number.to_string());
                    let bytes = std::fs::read(&kept).map_err(io(&kept))?;
                    let partial = partial_name(&place, &entry.id);
                    if let Some(parent) = place.parent() {
                        std::fs::create_dir_all(parent).map_err(io(parent))?;
                    }
                    write_synced(&partial, &bytes, file.mode)?;
                    std::fs::rename(&partial, &place).map_err(io(&place))?;
                }
                None => std::fs::remove_file(&place).map_err(io(&place))?,
            }
        }
        Ok(())
    }

    fn finish(&self, id: &str) -> Result<(), EditError> {
        write_synced(&self.place(id).join(DONE), b"", None)
    }

    fn forget(&self, id: &str) -> Result<(), EditError> {
        let place = self.place(id);
        std::fs::remove_dir_all(&place).map_err(io(&place))
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

    /// Every entry whose description can be read, oldest first. Half-made ones are swept away.
    fn entries_in_any_state(&self) -> Result<Vec<Entry>, EditError> {
        let mut entries = Vec::new();
        let listed = match std::fs::read_dir(&self.directory) {
            Ok(listed) => listed,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(entries),
            Err(source) => {
                return Err(EditError::Io {
                    path: self.directory.clone(),
                    source,
                });
            }
        };
        for place in listed.flatten().map(|file| file.path()) {
            if place.extension().is_some_and(|extension| extension == "partial") {
                drop(std::fs::remove_dir_all(&place));
                continue;
            }
            let Ok(text) = std::fs::read(place.join(ENTRY)) else {
                continue;
            };
            let Ok(entry) = serde_json::from_slice::<Entry>(&text) else {
                continue;
            };
            // The name decides where the contents are: a description that says otherwise is not ours.
            if place.file_name().and_then(|name| name.to_str()) == Some(entry.id.as_str()) {
                entries.push(entry);
            }
        }
        entries.sort_by(|left, right| left.id.cmp(&right.id));
        Ok(entries)
    }

    fn next_id(&self) -> Result<String, EditError> {
        let last = self
            .entries_in_any_state()?
            .last()
            .and_then(|entry| entry.id.parse::<u64>().ok());
        Ok(format!("{:08}", last.unwrap_or(0) + 1))
    }

    fn place(&self, id: &str) -> PathBuf {
        self.directory.join(id)
    }

    /// One writer at a time, over all processes.
    fn lock(&self) -> Result<File, EditError> {
        std::fs::create_dir_all(&self.directory).map_err(io(&self.directory))?;
        // What can be undone is nobody's to commit, also where no index stands around it yet.
        let ignore = self.directory.join(".gitignore");
        if !ignore.exists() {
            std::fs::write(&ignore, "*\n").map_err(io(&ignore))?;
        }
        let path = self.directory.join("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(io(&path))?;
        file.lock().map_err(io(&path))?;
        Ok(file)
    }
}

fn current(place: &Path) -> Result<Option<Vec<u8>>, EditError> {
    match std::fs::read(place) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(EditError::Io {
            path: place.to_owned(),
            source,
        }),
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// A name beside the file, so that the rename stays on one file system.
fn partial_name(place: &Path, id: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    name.push(format!(".lacon-{id}"));
    place.with_file_name(name)
}

fn write_synced(path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<(), EditError> {
    let mut file = File::create(path).map_err(io(path))?;
    file.write_all(bytes).map_err(io(path))?;
    set_mode(&file, mode).map_err(io(path))?;
    file.sync_all().map_err(io(path))
}

/// Makes a rename or a removal last. Not every file system can; then there is nothing better to do.
fn sync_directory(path: &Path) {
    if let Ok(directory) = File::open(path) {
        drop(directory.sync_all());
    }
}

#[cfg(unix)]
fn mode_of(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .ok()
        .map(|metadata| metadata.permissions().mode())
}

#[cfg(not(unix))]
fn mode_of(_: &Path) -> Option<u32> {
    None
}

#[cfg(unix)]
fn set_mode(file: &File, mode: Option<u32>) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match mode {
        Some(mode) => file.set_permissions(std::fs::Permissions::from_mode(mode)),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: Option<u32>) -> std::io::Result<()> {
    Ok(())
}

fn seconds_since_1970() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::edits::TextEdit;

    struct Scene {
        root: tempfile::TempDir,
        kept: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Scene {
            Scene {
                root: tempfile::tempdir().unwrap(),
                kept: tempfile::tempdir().unwrap(),
            }
        }

        fn journal(&self) -> Journal {
            Journal::open(self.root.path(), &self.kept.path().join("undo")).unwrap()
        }

        fn write(&self, path: &str, text: &str) {
            std::fs::write(self.root.path().join(path), text).unwrap();
        }

        fn read(&self, path: &str) -> Option<String> {
            std::fs::read_to_string(self.root.path().join(path)).ok()
        }

        /// Changes `a`, creates `new/b`, deletes `c`.
        fn plan(&self) -> Plan {
            let mut plan = Plan::new(self.root.path());
            let range = 0..3;
            plan.edit(
                "a",
                &[TextEdit {
                    range,
                    text: "ONE".into(),
                }],
            )
            .unwrap();
            plan.write("new/b", "made\n").unwrap();
            plan.delete("c").unwrap();
            plan
        }

        fn fill(&self) {
            self.write("a", "one\r\n");
            self.write("c", "gone soon");
            std::fs::set_permissions(self.root.path().join("a"), std::fs::Permissions::from_mode(0o750)).unwrap();
        }

        fn assert_old(&self) {
            assert_eq!(self.read("a").as_deref(), Some("one\r\n"));
            assert_eq!(self.read("new/b"), None);
            assert_eq!(self.read("c").as_deref(), Some("gone soon"));
            let mode = std::fs::metadata(self.root.path().join("a"))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o750);
        }
    }

    #[test]
    fn a_change_is_made_and_undone_whole() {
        let scene = Scene::new();
        scene.fill();
        let journal = scene.journal();
        let id = journal.commit(&scene.plan(), "try").unwrap();
        assert_eq!(scene.read("a").as_deref(), Some("ONE\r\n"));
        assert_eq!(scene.read("new/b").as_deref(), Some("made\n"));
        assert_eq!(scene.read("c"), None);
        let mode = std::fs::metadata(scene.root.path().join("a"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o750);
        assert_eq!(journal.undo(None).unwrap().id, id);
        scene.assert_old();
        assert!(matches!(journal.undo(None), Err(EditError::NothingToUndo(_))));
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_neither_overwritten_nor_undone() {
        let scene = Scene::new();
        scene.fill();
        let journal = scene.journal();
        let plan = scene.plan();
        scene.write("c", "someone was here");
        assert!(matches!(journal.commit(&plan, "try"), Err(EditError::Changed { path }) if path == "c"));
        assert_eq!(scene.read("a").as_deref(), Some("one\r\n"), "nothing was written");

        journal.commit(&scene.plan(), "try").unwrap();
        scene.write("a", "and here");
        assert!(matches!(journal.undo(None), Err(EditError::Changed { path }) if path == "a"));
        assert_eq!(scene.read("new/b").as_deref(), Some("made\n"), "nothing was taken back");
    }

    /// Every prefix of the renames that a crash can leave behind is put right by the next start.
    #[test]
    fn a_crash_at_any_step_is_taken_back() {
        for steps in 0..=3 {
            let scene = Scene::new();
            scene.fill();
            let journal = scene.journal();
            let plan = scene.plan();
            journal.commit(&plan, "try").unwrap();
            let id = journal.entries().unwrap()[0].id.clone();
            // As if only the first `steps` files had been replaced when the power went.
            std::fs::remove_file(journal.place(&id).join(DONE)).unwrap();
            for (path, change) in plan.files().skip(steps) {
                match &change.before {
                    Some(bytes) => std::fs::write(scene.root.path().join(path), bytes).unwrap(),
                    None => std::fs::remove_file(scene.root.path().join(path)).unwrap(),
                }
            }
            drop(journal);
            let journal = scene.journal();
            scene.assert_old();
            assert!(journal.entries().unwrap().is_empty());
        }
    }

    #[test]
    fn old_entries_are_forgotten() {
        let scene = Scene::new();
        let journal = scene.journal();
        for round in 0..ENTRIES_LIMIT + 5 {
            let mut plan = Plan::new(scene.root.path());
            plan.write("f", &round.to_string()).unwrap();
            journal.commit(&plan, "count").unwrap();
        }
        assert_eq!(journal.entries().unwrap().len(), ENTRIES_LIMIT);
        journal.undo(None).unwrap();
        assert_eq!(scene.read("f").unwrap(), (ENTRIES_LIMIT + 3).to_string());
    }

    #[test]
    fn one_failure_leaves_everything_as_it_was() {
        let scene = Scene::new();
        scene.fill();
        let journal = scene.journal();
        let mut plan = scene.plan();
        // `c` becomes a directory's name: its new content cannot be put there.
        plan.write("z/file", "x").unwrap();
        scene.write("z", "a file where a directory is needed");
        assert!(journal.commit(&plan, "try").is_err());
        scene.assert_old();
        assert!(journal.entries().unwrap().is_empty());
    }
}
