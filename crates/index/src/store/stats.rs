//! The stat cache: size, times and inode of each file when it was last read, and what came of it, so that an unchanged file
//! is not read again.
//!
//! A file that changed so shortly before it was read that a second change could carry the same time is not trusted.

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
#[derive(Debug, Default, Serialize, Deserialize)]
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

const NAME: &str = "stats";
/// Times closer than this to the moment of reading are not trusted.
const RACY: i128 = 2_000_000_000;

impl Stats {
    /// Reads the cache; an empty one where there is none that holds in this context.
    pub(crate) fn load(directory: &Directory, context: [u8; 32]) -> Stats {
        let empty = Stats {
            context,
            entries: HashMap::new(),
        };
        let Ok(bytes) = std::fs::read(directory.location().directory.join(NAME)) else {
            return empty;
        };
        let Some((checksum, content)) = bytes.split_at_checked(32) else {
            return empty;
        };
        if blake3::hash(content).as_bytes() != checksum {
            return empty;
        }
        match postcard::from_bytes::<Stats>(content) {
            Ok(stats) if stats.context == context => stats,
            _ => empty,
        }
    }

    /// Writes the cache.
    pub(crate) fn save(&self, directory: &Directory) -> Result<(), StoreError> {
        let content = postcard::to_stdvec(self).unwrap_or_default();
        directory.replace(NAME, |file| {
            file.write_all(blake3::hash(&content).as_bytes())?;
            file.write_all(&content)
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
