//! What files tell each other: per file the values it contributes to abstract places, per round the table of who
//! contributes where.
//!
//! A round reads only the previous round's table. Values stay in the file's own contributions; the table knows only the
//! contributors, so an edit touches the entries of one file.

use std::sync::Arc;

use smallvec::SmallVec;

use super::value::{Fact, Set};
use super::words::{Key, WordMap};

/// What one file says about places, its own and others'. Sorted by key; no set is empty.
#[derive(PartialEq, Eq, Default, Debug)]
pub struct Contributions {
    keys: Vec<(Key, u32)>,
    facts: Vec<Fact>,
}

impl Contributions {
    /// Packs what is said about each key, which is never nothing.
    pub fn new(mut sorted: Vec<(Key, &[Fact])>) -> Contributions {
        sorted.sort_unstable_by_key(|&(key, _)| key);
        let mut packed = Contributions {
            keys: Vec::with_capacity(sorted.len()),
            facts: Vec::with_capacity(sorted.iter().map(|(_, set)| set.len()).sum()),
        };
        for (key, set) in sorted {
            packed.facts.extend_from_slice(set);
            packed.keys.push((key, packed.facts.len() as u32));
        }
        packed
    }

    /// The facts contributed to `key`.
    pub fn get(&self, key: Key) -> &[Fact] {
        match self.keys.binary_search_by_key(&key, |&(key, _)| key) {
            Ok(found) => self.at(found),
            Err(_) => &[],
        }
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        self.keys.iter().map(|&(key, _)| key)
    }

    /// Calls `changed` for each key whose facts differ between the two.
    pub fn difference(&self, other: &Contributions, mut changed: impl FnMut(Key)) {
        let (mut left, mut right) = (0, 0);
        loop {
            match (self.keys.get(left), other.keys.get(right)) {
                (None, None) => return,
                (Some(&(key, _)), None) => {
                    changed(key);
                    left += 1;
                }
                (None, Some(&(key, _))) => {
                    changed(key);
                    right += 1;
                }
                (Some(&(mine, _)), Some(&(theirs, _))) => {
                    if mine < theirs {
                        changed(mine);
                        left += 1;
                    } else if theirs < mine {
                        changed(theirs);
                        right += 1;
                    } else {
                        if self.at(left) != other.at(right) {
                            changed(mine);
                        }
                        left += 1;
                        right += 1;
                    }
                }
            }
        }
    }

    fn at(&self, index: usize) -> &[Fact] {
        let start = if index == 0 { 0 } else { self.keys[index - 1].1 };
        &self.facts[start as usize..self.keys[index].1 as usize]
    }
}

/// Who contributes to each place, in order of file. Nearly always it is one file, so the table holds its number; several
/// are in a list of their own.
#[derive(Clone, Default)]
pub struct Contributors {
    table: WordMap<Key, u32>,
    lists: Vec<SmallVec<[u32; 4]>>,
    unused: Vec<u32>,
}

/// Marks a number in the table as that of a list.
const LIST: u32 = 1 << 31;

impl Contributors {
    /// The contributors to `key`.
    pub fn get(&self, key: Key) -> &[u32] {
        match self.table.get(&key) {
            None => &[],
            Some(number) if number & LIST == 0 => std::slice::from_ref(number),
            Some(number) => &self.lists[(number & !LIST) as usize],
        }
    }

    /// Replaces what `file` contributed before by what it contributes now.
    pub fn replace(&mut self, file: u32, before: &Contributions, now: &Contributions) {
        for key in before.keys() {
            if now.get(key).is_empty() {
                self.remove(key, file);
            }
        }
        for key in now.keys() {
            self.insert(key, file);
        }
    }

    fn remove(&mut self, key: Key, file: u32) {
        let Some(&number) = self.table.get(&key) else {
            return;
        };
        if number == file {
            self.table.remove(&key);
        } else if number & LIST != 0 {
            let list = &mut self.lists[(number & !LIST) as usize];
            list.retain(|contributor| *contributor != file);
            if let [] | [_] = list[..] {
                match list.pop() {
                    Some(last) => self.table.insert(key, last),
                    None => self.table.remove(&key),
                };
                self.unused.push(number & !LIST);
            }
        }
    }

    fn insert(&mut self, key: Key, file: u32) {
        let number = self.table.entry(key).or_insert(file);
        if *number == file {
            return;
        }
        if *number & LIST != 0 {
            let list = &mut self.lists[(*number & !LIST) as usize];
            if let Err(place) = list.binary_search(&file) {
                list.insert(place, file);
            }
            return;
        }
        let pair = [(*number).min(file), (*number).max(file)];
        let slot = self.unused.pop().unwrap_or_else(|| {
            self.lists.push(SmallVec::new());
            self.lists.len() as u32 - 1
        });
        self.lists[slot as usize] = SmallVec::from_slice(&pair);
        *number = slot | LIST;
    }
}

/// Who feels that a file says something else.
pub(super) enum Felt {
    /// Whoever reads it.
    All,
    /// These alone.
    Alone(SmallVec<[u32; 2]>),
}

/// What all files said in one round.
#[derive(Clone, Default)]
pub struct Round {
    /// By file.
    pub contributions: Vec<Arc<Contributions>>,
    /// By key.
    pub contributors: Contributors,
}

impl Round {
    /// The round before the first: nobody has said anything.
    pub fn silent(files: usize) -> Round {
        Round {
            contributions: vec![Arc::default(); files],
            contributors: Contributors::default(),
        }
    }

    /// Adds to `set` what the files other than `reader` say about `key`. What comes of it does not depend on their order.
    pub fn read(&self, key: Key, reader: u32, set: &mut Set) {
        for &file in self.contributors.get(key) {
            if file != reader {
                set.extend(self.contributions[file as usize].get(key));
                if set.is_full() {
                    return;
                }
            }
        }
    }

    /// Who reads something else about `key` when one of the sorted `files` says `now` instead of `before`.
    ///
    /// A fact that others state as well makes no difference: what is read is what all of them say together. Those others are two,
    /// because whoever reads leaves out what it says itself; where there is one, that one alone feels the difference.
    pub(super) fn felt_by(&self, key: Key, (before, now): (&[Fact], &[Fact]), files: &[u32]) -> Felt {
        let gone = before.iter().filter(|fact| !now.contains(fact));
        let come = now.iter().filter(|fact| !before.contains(fact));
        let mut alone = SmallVec::new();
        for fact in gone.chain(come) {
            let states = |file: &&u32| {
                let known = self.contributions[**file as usize].get(key).iter();
                files.binary_search(file).is_err() && { known }
                    .any(|known| known.value == fact.value && known.evidence <= fact.evidence)
            };
            let mut others = self.contributors.get(key).iter().filter(states);
            match (others.next(), others.next()) {
                (None, _) => return Felt::All,
                (Some(&one), None) => alone.push(one),
                (Some(_), Some(_)) => {}
            }
        }
        Felt::Alone(alone)
    }
}
