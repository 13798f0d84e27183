//! Interns texts of one file without copying them: a text is a slice of the source until the facts are finished.

use crate::facts::Name;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Texts by number, and numbers by text.
pub(crate) struct Names<'t> {
    source: &'t str,
    /// What is not a slice of the source: cleaned documentation, normalised signatures.
    own: String,
    /// Start and length; starts at [`OWN`] and above are in `own`.
    entries: Vec<(u32, u32)>,
    table: HashTable<u32>,
    hasher: FixedState,
}

const OWN: u32 = 1 << 31;

impl<'t> Names<'t> {
    pub(crate) fn new(source: &'t str) -> Names<'t> {
        let guess = source.len() / 64 + 16;
        Names {
            source,
            own: String::new(),
            entries: Vec::with_capacity(guess),
            table: HashTable::with_capacity(guess),
            hasher: FixedState::default(),
        }
    }

    /// The name of `source[start..end]`.
    pub(crate) fn slice(&mut self, start: usize, end: usize) -> Name {
        let text = self.source.get(start..end).unwrap_or("");
        self.intern_at(text, start as u32)
    }

    /// The name of any text; copies it only when it is new.
    pub(crate) fn intern(&mut self, text: &str) -> Name {
        let hash = self.hasher.hash_one(text);
        if let Some(&id) = self.table.find(hash, |&id| {
            resolve(self.source, &self.own, self.entries[id as usize]) == text
        }) {
            return Name(id);
        }
        let start = OWN + self.own.len() as u32;
        self.own.push_str(text);
        self.insert(hash, (start, text.len() as u32))
    }

    pub(crate) fn get(&self, name: Name) -> &str {
        self.entries
            .get(name.index())
            .map_or("", |&entry| resolve(self.source, &self.own, entry))
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn intern_at(&mut self, text: &'t str, start: u32) -> Name {
        let hash = self.hasher.hash_one(text);
        if let Some(&id) = self.table.find(hash, |&id| {
            resolve(self.source, &self.own, self.entries[id as usize]) == text
        }) {
            return Name(id);
        }
        self.insert(hash, (start, text.len() as u32))
    }

    fn insert(&mut self, hash: u64, entry: (u32, u32)) -> Name {
        let id = self.entries.len() as u32;
        self.entries.push(entry);
        let (source, own, entries, hasher) = (self.source, &self.own, &self.entries, &self.hasher);
        self.table.insert_unique(hash, id, |&id| {
            hasher.hash_one(resolve(source, own, entries[id as usize]))
        });
        Name(id)
    }
}

fn resolve<'a>(source: &'a str, own: &'a str, (start, len): (u32, u32)) -> &'a str {
    let (text, start) = if start >= OWN {
        (own, start - OWN)
    } else {
        (source, start)
    };
    text.get(start as usize..(start + len) as usize).unwrap_or("")
}
