//! The stat cache: size, times and inode of each file when it was last read, and what came of it, so that an unchanged file
//! is not read again.
//!
//! A file that changed so shortly before it was read that a second change could carry the same time is not trusted.
//!
//! On disk it is compressed, in path order, so that neighbours share most of their paths.

use std::io::Write;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::directory::{Directory, StoreError};
use crate::scan::{SkipReason, Stamp};

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
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    stamp: Stamp,
    known: Known,
}

/// [`Stats`] as they are written: the context, then the files in path order.
type Written<P, E> = ([u8; 32], Vec<(P, E)>);

const NAME: &str = "stats";
/// Largest content that is believed.
const MAX_CONTENT: usize = 1 << 30;
/// Times closer than this to the moment of reading are not trusted.
const RACY: i128 = 2_000_000_000;

impl Stats {
    /// Reads the cache; an empty one where there is none that holds in this context.
    pub(crate) fn load(directory: &Directory, context: [u8; 32]) -> Stats {
        let empty = Stats {
            context,
            entries: HashMap::new(),
        };
        let Ok(bytes) = super::disk::read(&directory.location().directory.join(NAME)) else {
            return empty;
        };
        let Some((checksum, content)) = bytes.split_at_checked(32) else {
            return empty;
        };
        if blake3::hash(content).as_bytes() != checksum {
            return empty;
        }
        match unpack(content) {
            Some((written_in, entries)) if written_in == context => Stats {
                context,
                entries: entries.into_iter().collect(),
            },
            _ => empty,
        }
    }

    /// Writes the cache.
    pub(crate) fn save(&self, directory: &Directory) -> Result<(), StoreError> {
        let mut entries: Vec<(&str, &Entry)> = self.entries.iter().map(|(path, entry)| (&**path, entry)).collect();
        entries.sort_unstable_by_key(|(path, _)| *path);
        let written: Written<&str, &Entry> = (self.context, entries);
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
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_nanos() as i128);
        if stamp.modified.max(stamp.changed) + RACY > now {
            self.entries.remove(path);
        } else {
            self.entries.insert(path.into(), Entry { stamp, known });
        }
    }

    /// Forgets files that are not there any more.
    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.entries.retain(|path, _| keep(path));
    }
}

fn unpack(packed: &[u8]) -> Option<Written<Box<str>, Entry>> {
    let (length, compressed) = packed.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let content = zstd::bulk::decompress(compressed, length.min(MAX_CONTENT)).ok()?;
    postcard::from_bytes(&content).ok()
}
