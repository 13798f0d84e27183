//! The stat cache: size, times and inode of each file when it was last read, and what came of it, so that an unchanged file
//! is not read again.
//!
//! A file that changed so shortly before it was read that a second change could carry the same time is not trusted.
//!
//! On disk it is compressed, in path order, so that neighbours share most of their paths.

use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::directory::{Directory, StoreError};
use crate::scan::{SkipReason, Stamp};
use crate::tree::is_manifest;

/// What came of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Known {
    /// It is source.
    Source {
        /// BLAKE3 of its bytes.
        hash: [u8; 32],
        /// Key of its language.
        language: Box<str>,
        /// Whether its text is not simply its bytes.
        converted: bool,
    },
    /// It was left out.
    Skipped(SkipReason),
}

/// What is known of the files of a tree.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    /// Configuration and version under which the entries hold.
    context: [u8; 32],
    entries: HashMap<Box<str>, Entry>,
    walked: Walked,
}

/// What the last walk of the whole tree met: where nothing of it has changed, another walk would find the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Walked {
    /// The digest of the snapshot that was made of it.
    digest: [u8; 32],
    /// Candidates that it found.
    candidates: usize,
    /// Folders and files of rules, relative to the tree; indexes of git by their whole path.
    seen: Vec<(Box<str>, Stamp)>,
}

impl Walked {
    /// A walk that began then. Nothing is said of one that met what changed just before.
    pub(crate) fn of(digest: [u8; 32], candidates: usize, seen: Vec<(Box<str>, Stamp)>, began: SystemTime) -> Walked {
        let began = nanoseconds(began);
        let is_racy = |stamp: &Stamp| stamp.modified.max(stamp.changed) + RACY > began;
        match seen.iter().any(|(_, stamp)| is_racy(stamp)) {
            true => Walked::default(),
            false => Walked {
                digest,
                candidates,
                seen,
            },
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    stamp: Stamp,
    known: Known,
}

/// [`Stats`] as they are written: the context, then the files in path order, then the walk.
type Written<P, E, W> = ([u8; 32], Vec<(P, E)>, W);

const NAME: &str = "stats";
/// Largest content that is believed.
const MAX_CONTENT: usize = 1 << 30;
/// Times closer than this to the moment of reading are not trusted.
const RACY: i128 = 2_000_000_000;

impl Stats {
    /// Reads the cache; an empty one where there is none that holds in this context.
    pub(crate) fn load(directory: &Path, context: [u8; 32]) -> Stats {
        let empty = Stats {
            context,
            entries: HashMap::new(),
            walked: Walked::default(),
        };
        let Ok(bytes) = super::disk::read(&directory.join(NAME)) else {
            return empty;
        };
        let Some((checksum, content)) = bytes.split_at_checked(32) else {
            return empty;
        };
        if blake3::hash(content).as_bytes() != checksum {
            return empty;
        }
        match unpack(content) {
            Some((written_in, entries, walked)) if written_in == context => Stats {
                context,
                entries: entries.into_iter().collect(),
                walked,
            },
            _ => empty,
        }
    }

    /// Writes the cache.
    pub(crate) fn save(&self, directory: &Directory) -> Result<(), StoreError> {
        let mut entries: Vec<(&str, &Entry)> = self.entries.iter().map(|(path, entry)| (&**path, entry)).collect();
        entries.sort_unstable_by_key(|(path, _)| *path);
        let written: Written<&str, &Entry, &Walked> = (self.context, entries, &self.walked);
        let content = postcard::to_stdvec(&written).unwrap_or_default();
        directory.replace(NAME, |file| {
            let mut packed = (content.len() as u64).to_le_bytes().to_vec();
            packed.extend(zstd::bulk::compress(&content, 1)?);
            file.write_all(blake3::hash(&packed).as_bytes())?;
            file.write_all(&packed)
        })?;
        Ok(())
    }

    /// What is known of a file that has this stamp now.
    pub(crate) fn get(&self, path: &str, stamp: &Stamp) -> Option<&Known> {
        self.entries
            .get(path)
            .filter(|entry| entry.stamp == *stamp)
            .map(|entry| &entry.known)
    }

    /// Notes what came of a file that had this stamp before it was read.
    pub(crate) fn put(&mut self, path: &str, stamp: Stamp, known: Known) {
        let now = nanoseconds(SystemTime::now());
        if stamp.modified.max(stamp.changed) + RACY > now {
            self.entries.remove(path);
        } else {
            self.entries.insert(path.into(), Entry { stamp, known });
        }
    }

    /// Notes what a walk of the whole tree met.
    pub(crate) fn note_walk(&mut self, walked: Walked) {
        self.walked = walked;
    }

    /// Whether a walk would find what the last one found, and every file that matters as it was: then the snapshot that was made of it
    /// is current. `stamp` says how a path is now, relative to the tree or whole.
    pub(crate) fn is_as_walked(&self, digest: &[u8; 32], stamp: &(dyn Fn(&str) -> Option<Stamp> + Sync)) -> bool {
        use rayon::prelude::*;
        if self.walked.digest != *digest || self.walked.seen.is_empty() || self.walked.candidates != self.entries.len()
        {
            return false;
        }
        let files: Vec<(&str, &Stamp)> = self
            .entries
            .iter()
            .filter(|(path, entry)| entry.known.depends_on_content(path))
            .map(|(path, entry)| (&**path, &entry.stamp))
            .collect();
        let is_same = |path: &str, was: &Stamp| stamp(path).as_ref() == Some(was);
        const CHUNK: usize = 256;
        self.walked
            .seen
            .par_iter()
            .with_min_len(CHUNK)
            .all(|(path, was)| is_same(path, was))
            && files
                .par_iter()
                .with_min_len(CHUNK)
                .all(|(path, was)| is_same(path, was))
    }

    /// Forgets files that are not there any more.
    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.entries.retain(|path, _| keep(path));
    }
}

impl Known {
    /// Whether another content of a file could make it something else. One whose extension no grammar claims is not even opened.
    fn depends_on_content(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let has_extension = name.trim_start_matches('.').contains('.');
        *self != Known::Skipped(SkipReason::Unsupported) || !has_extension || is_manifest(name)
    }
}

fn nanoseconds(time: SystemTime) -> i128 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |elapsed| elapsed.as_nanos() as i128)
}

fn unpack(packed: &[u8]) -> Option<Written<Box<str>, Entry, Walked>> {
    let (length, compressed) = packed.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let content = zstd::bulk::decompress(compressed, length.min(MAX_CONTENT)).ok()?;
    postcard::from_bytes(&content).ok()
}
