//! Facts by content: a directory of packs that any number of processes share.
//!
//! A key is a hash of the content, the language and the version of extraction, so a record is right wherever it is found:
//! on another branch, in another work tree, after a revert. Each process appends to a pack of its own; nobody waits.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use syntax::FileFacts;

use super::directory::StoreError;
use super::disk::{self, Output};
use super::pack::{Opened, Pack, PackWriter, Record, decompress_record};
use crate::scan::DECODE_VERSION;

/// Name of a record: what the facts are of, and how they were made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FactsKey(pub(super) [u8; 32]);

impl FactsKey {
    /// The key of the facts of a content, by its BLAKE3, in a language.
    pub fn new(content: &[u8; 32], language: &str) -> FactsKey {
        let mut hasher = blake3::Hasher::new();
        hasher.update(content);
        hasher.update(&crate::EXTRACTION_VERSION.to_le_bytes());
        hasher.update(&DECODE_VERSION.to_le_bytes());
        hasher.update(language.as_bytes());
        FactsKey(*hasher.finalize().as_bytes())
    }
}

/// Something about the store that its owner should hear of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// Facts of another version were there and were dropped.
    OldFacts,
    /// Facts that cannot be read were there and were extracted again.
    DamagedFacts,
    /// The snapshot was of another version and was rebuilt.
    OldSnapshot,
    /// The snapshot could not be read and was rebuilt.
    DamagedSnapshot,
    /// A writer had been killed; what it had finished was kept.
    InterruptedWriter,
    /// The ignore files leave out the whole tree, so they were not heeded.
    IgnoredEverything,
}

impl Notice {
    /// The notice in words.
    pub fn message(self) -> &'static str {
        match self {
            Notice::OldFacts => "facts of another version were dropped",
            Notice::DamagedFacts => "damaged facts were found and extracted again",
            Notice::OldSnapshot => "the snapshot was of another version and was rebuilt",
            Notice::DamagedSnapshot => "the snapshot was damaged and was rebuilt",
            Notice::IgnoredEverything => "the ignore files leave out the whole tree, so they were not heeded",
            Notice::InterruptedWriter => "an interrupted run was found; what it had finished was kept",
        }
    }
}

/// The store of facts.
pub struct FactsStore {
    directory: PathBuf,
    packs: RwLock<Vec<(PathBuf, Arc<Pack>)>>,
    writer: Mutex<Option<Writer>>,
    damaged: AtomicBool,
}

/// The pack this process appends to. The lock on its file tells others that it is not abandoned.
struct Writer {
    pack: PackWriter,
    path: PathBuf,
    _lock: File,
}

/// A pack with fewer bytes stays open for more records when a build ends.
const SMALL_PACK: u64 = 4 << 20;
/// So many packs are merged into one.
const MANY_PACKS: usize = 12;
/// Facts beyond this many times what the tree needs are dropped, oldest first.
const KEEP_FACTOR: u64 = 4;
/// Nothing is dropped below this.
const KEEP_BYTES: u64 = 64 << 20;

impl FactsStore {
    /// Opens the packs of a directory that exists, and adopts those of writers that were killed.
    pub fn open(directory: &Path) -> Result<(FactsStore, Vec<Notice>), StoreError> {
        let store = FactsStore {
            directory: directory.to_path_buf(),
            packs: RwLock::default(),
            writer: Mutex::default(),
            damaged: AtomicBool::new(false),
        };
        let mut notices = store.adopt();
        let mut paths: Vec<PathBuf> = fs::read_dir(directory)
            .map_err(StoreError::io("read", directory))?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "pack"))
            .collect();
        // Names start with the time of their making: newer packs are looked at first.
        paths.sort_unstable();
        paths.reverse();
        let mut packs = Vec::new();
        for path in paths {
            match Pack::open(&path, crate::EXTRACTION_VERSION) {
                Ok(Opened::Pack(pack)) => packs.push((path, Arc::new(pack))),
                Ok(Opened::OtherVersion) => {
                    notices.push(Notice::OldFacts);
                    drop(disk::remove(&path));
                }
                Ok(Opened::Damaged) => {
                    notices.push(Notice::DamagedFacts);
                    drop(disk::remove(&path));
                }
                // Removed by another process that merged it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io("read", &path)(error)),
            }
        }
        *store.packs.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = packs;
        notices.sort_unstable();
        notices.dedup();
        Ok((store, notices))
    }

    /// Gives packs whose writer is gone their final name.
    fn adopt(&self) -> Vec<Notice> {
        let mut notices = Vec::new();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "open") {
                continue;
            }
            let abandoned = disk::open(&path).is_ok_and(|file| file.try_lock().is_ok());
            if abandoned && disk::rename(&path, &path.with_extension("pack")).is_ok() {
                notices.push(Notice::InterruptedWriter);
            }
        }
        notices
    }

    /// The facts of a key. Damaged ones count as missing, and [`FactsStore::take_notice`] tells of them.
    pub fn get(&self, key: &FactsKey) -> Option<FileFacts> {
        let bytes = self.bytes(key)?;
        match FileFacts::decode(&bytes) {
            Ok(facts) => Some(facts),
            Err(_) => {
                self.damaged.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    /// Whether there is a record of the key, as far as the indexes tell.
    pub fn contains(&self, key: &FactsKey) -> bool {
        self.packs().iter().any(|(_, pack)| pack.contains(key))
            || self.writer().as_ref().is_some_and(|writer| writer.pack.contains(key))
    }

    /// Keeps facts.
    pub fn put(&self, key: &FactsKey, facts: &FileFacts) -> Result<(), StoreError> {
        let record =
            PackWriter::encode(key, &facts.encode()).map_err(StoreError::io("compress facts in", &self.directory))?;
        let mut writer = self.writer();
        if writer.is_none() {
            *writer = Some(self.start()?);
        }
        match writer.as_mut() {
            Some(open) => open
                .pack
                .append(key, &record)
                .map_err(StoreError::io("write", &open.path)),
            None => Ok(()),
        }
    }

    /// Makes sure that all facts are in files, and closes the open pack once it is of some size.
    pub fn flush(&self) -> Result<(), StoreError> {
        let mut writer = self.writer();
        let Some(mut open) = writer.take() else { return Ok(()) };
        if open.pack.size() < SMALL_PACK {
            open.pack.flush().map_err(StoreError::io("write", &open.path))?;
            *writer = Some(open);
            return Ok(());
        }
        self.finish(open)
    }

    /// Closes the open pack.
    pub fn close(&self) -> Result<(), StoreError> {
        match self.writer().take() {
            Some(open) if open.pack.len() == 0 => {
                drop(disk::remove(&open.path));
                Ok(())
            }
            Some(open) => self.finish(open),
            None => Ok(()),
        }
    }

    /// What is to be told since the last call.
    pub fn take_notice(&self) -> Option<Notice> {
        self.damaged
            .swap(false, Ordering::Relaxed)
            .then_some(Notice::DamagedFacts)
    }

    /// Whether [`FactsStore::collect`] might have something to do.
    pub fn is_crowded(&self) -> bool {
        let packs = self.packs();
        packs.len() > MANY_PACKS || packs.iter().map(|(_, pack)| pack.size()).sum::<u64>() > KEEP_BYTES
    }

    /// Merges packs when there are many, and drops the oldest facts that the tree does not need when there is too much.
    pub fn collect(&self, live: &[FactsKey]) -> Result<(), StoreError> {
        let packs = self.packs().clone();
        let total: u64 = packs.iter().map(|(_, pack)| pack.size()).sum();
        if packs.len() <= MANY_PACKS && total <= KEEP_BYTES {
            return Ok(());
        }
        let live: hashbrown::HashSet<[u8; 32]> = live.iter().map(|key| key.0).collect();
        let mut needed = 0;
        for (path, pack) in &packs {
            let count = |_, record: Record<'_>| {
                needed += u64::from(live.contains(&record.key)) * record.length() as u64;
                Ok(())
            };
            pack.for_each_record(count).map_err(StoreError::io("read", path))?;
        }
        let budget = (needed * KEEP_FACTOR).max(KEEP_BYTES);
        if packs.len() <= MANY_PACKS && total <= budget {
            return Ok(());
        }
        let mut merged = self.start()?;
        let failed = StoreError::io("write", &merged.path);
        let copy = |merged: &mut Writer| {
            for (_, pack) in &packs {
                pack.for_each_record(|_, record| {
                    match live.contains(&record.key) || merged.pack.size() + record.length() as u64 <= budget {
                        true => merged.pack.append_record(&record),
                        false => Ok(()),
                    }
                })?;
            }
            Ok(())
        };
        if let Err(error) = copy(&mut merged) {
            drop(disk::remove(&merged.path));
            return Err(failed(error));
        }
        self.finish(merged)?;
        self.packs
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .retain(|(path, _)| !packs.iter().any(|(old, _)| old == path));
        for (path, _) in &packs {
            drop(disk::remove(path));
        }
        Ok(())
    }

    fn bytes(&self, key: &FactsKey) -> Option<Vec<u8>> {
        for (_, pack) in self.packs().iter() {
            match pack.get(key) {
                Some(Ok(bytes)) => return Some(bytes),
                Some(Err(())) => self.damaged.store(true, Ordering::Relaxed),
                None => {}
            }
        }
        let record = self.writer().as_ref()?.pack.get(key)?;
        record.ok().and_then(|record| decompress_record(&record))
    }

    fn start(&self) -> Result<Writer, StoreError> {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_millis());
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("{now:013}-{}-{serial}.open", std::process::id());
        let path = self.directory.join(name);
        let failed = |error| StoreError::io("create", &path)(error);
        let file = Output::new(&path).map_err(failed)?;
        let lock = file.file().try_clone().map_err(failed)?;
        // Where locks do not work, an abandoned pack is only adopted too early, which loses nothing that is in it.
        drop(lock.try_lock());
        Ok(Writer {
            pack: PackWriter::new(file, crate::EXTRACTION_VERSION),
            path,
            _lock: lock,
        })
    }

    fn finish(&self, writer: Writer) -> Result<(), StoreError> {
        let path = writer.path;
        writer.pack.finish().map_err(StoreError::io("write", &path))?;
        let finished = path.with_extension("pack");
        disk::rename(&path, &finished).map_err(StoreError::io("write", &finished))?;
        if let Opened::Pack(pack) =
            Pack::open(&finished, crate::EXTRACTION_VERSION).map_err(StoreError::io("read", &finished))?
        {
            self.packs
                .write()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .insert(0, (finished, Arc::new(pack)));
        }
        Ok(())
    }

    fn packs(&self) -> std::sync::RwLockReadGuard<'_, Vec<(PathBuf, Arc<Pack>)>> {
        self.packs.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for FactsStore {
    fn drop(&mut self) {
        // A pack that cannot be closed is adopted by the next process.
        drop(self.close());
    }
}
