//! Texts by number, in the order they were first seen, with their sorted order kept up as new ones come.
//!
//! A living process assembles one snapshot after another: sorting all names each time would cost more than everything
//! else, so only new names are sorted and merged in.

use std::cmp::Ordering;

use hashbrown::HashTable;
use rayon::slice::ParallelSliceMut;

/// A growing table of distinct texts.
pub(crate) struct Names {
    blob: String,
    /// Start of each text in `blob`, and the end of the last.
    starts: Vec<usize>,
    table: HashTable<u32>,
    /// Numbers in order of their texts; behind the table until [`Names::ordered`] is asked.
    order: Vec<u32>,
    compare: fn(&str, &str) -> Ordering,
    hasher: foldhash::fast::RandomState,
}

impl Names {
    /// An empty table whose order is `compare`, under which only equal texts may be equal.
    pub(crate) fn new(compare: fn(&str, &str) -> Ordering) -> Names {
        Names {
            blob: String::new(),
            starts: vec![0],
            table: HashTable::new(),
            order: Vec::new(),
            compare,
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    /// The number of a text, new or known.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        use std::hash::BuildHasher;
        let Names {
            blob, starts, hasher, ..
        } = self;
        let hash = hasher.hash_one(text);
        let text_of = |number: u32| &blob[starts[number as usize]..starts[number as usize + 1]];
        let entry = self.table.entry(
            hash,
            |&number| text_of(number) == text,
            |&number| hasher.hash_one(text_of(number)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(entry) => *entry.get(),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let number = (starts.len() - 1) as u32;
                entry.insert(number);
                self.blob.push_str(text);
                self.starts.push(self.blob.len());
                number
            }
        }
    }

    /// The text of a number.
    pub(crate) fn text(&self, number: u32) -> &str {
        &self.blob[self.starts[number as usize]..self.starts[number as usize + 1]]
    }

    /// How many texts there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// All numbers in order of their texts.
    pub(crate) fn ordered(&mut self) -> &[u32] {
        let known = self.order.len();
        if known < self.len() {
            let mut new: Vec<u32> = (known as u32..self.len() as u32).collect();
            let compare = |left: &u32, right: &u32| (self.compare)(self.text(*left), self.text(*right));
            new.par_sort_unstable_by(compare);
            let mut merged = Vec::with_capacity(self.len());
            let mut old = self.order.as_slice();
            for number in new {
                let before = old.partition_point(|known| compare(known, &number).is_lt());
                merged.extend_from_slice(&old[..before]);
                merged.push(number);
                old = &old[before..];
            }
            merged.extend_from_slice(old);
            self.order = merged;
        }
        &self.order
    }

    /// The numbers in order, as of the last [`Names::ordered`].
    pub(crate) fn in_order(&self) -> &[u32] {
        &self.order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_as_texts_come() {
        let mut names = Names::new(|left, right| left.cmp(right));
        for text in ["m", "c", "x", "m"] {
            names.number(text);
        }
        assert_eq!(names.len(), 3);
        names.ordered();
        for text in ["a", "n", "z", "c"] {
            names.number(text);
        }
        let order = names.ordered().to_vec();
        let texts: Vec<&str> = order.iter().map(|&number| names.text(number)).collect();
        assert_eq!(texts, ["a", "c", "m", "n", "x", "z"]);
    }
}
