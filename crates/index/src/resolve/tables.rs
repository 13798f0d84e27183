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

/// Not the number of any file.
const NOBODY: u32 = u32::MAX;

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

    /// Who reads something else about `key` once the `changed` files say what stands beside them.
    ///
    /// What is read is what all say together, so a fact makes no difference that others state as well, nor one beside which there
    /// is too much to be told apart. Whoever reads leaves out what it says itself: where nobody else feels a difference, those may
    /// without whom there would be one.
    pub(super) fn felt_by(&self, key: Key, changed: &[(u32, &[Fact])]) -> Felt {
        let contributors = self.contributors.get(key);
        let stays = |file: &u32| !changed.iter().any(|(known, _)| known == file);
        let together = |without: u32| {
            let mut set = Set::default();
            for &file in contributors.iter().filter(|file| **file != without && stays(file)) {
                set.extend(self.contributions[file as usize].get(key));
                if set.is_full() {
                    break;
                }
            }
            set
        };
        let differs = |rest: &Set, without: u32| {
            let (mut before, mut after) = (rest.clone(), rest.clone());
            for (file, now) in changed.iter().filter(|(file, _)| *file != without) {
                before.extend(self.contributions[*file as usize].get(key));
                after.extend(now);
            }
            before != after
        };
        let rest = together(NOBODY);
        if differs(&rest, NOBODY) {
            return Felt::All;
        }
        let mut alone: SmallVec<[u32; 2]> = changed.iter().map(|(file, _)| *file).collect();
        alone.retain(|file| differs(&rest, *file));
        let mut known = Set::default();
        for &file in contributors.iter().filter(|file| stays(file)) {
            let own = self.contributions[file as usize].get(key);
            let mut adds = false;
            for &fact in own {
                adds |= known.grow(fact);
            }
            if adds && differs(&together(file), file) {
                alone.push(file);
            }
            if known.is_full() {
                break;
            }
        }
        Felt::Alone(alone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Evidence;
    use crate::resolve::value::{MAX_SET, Place, Value};

    const KEY: Key = Key(7);

    fn class(id: u32) -> Fact {
        let place = Place { file: 0, id };
        Fact::new(Value::Class(place), Evidence::FollowedValue)
    }

    fn classes(ids: impl IntoIterator<Item = u32>) -> Vec<Fact> {
        ids.into_iter().map(class).collect()
    }

    /// A round in which each file says these about [`KEY`].
    fn round(said: &[&[Fact]]) -> Round {
        let mut round = Round::silent(said.len());
        for (file, facts) in (0..).zip(said).filter(|(_, facts)| !facts.is_empty()) {
            let contributions = Contributions::new(vec![(KEY, facts)]);
            let nothing = Contributions::default();
            round.contributors.replace(file, &nothing, &contributions);
            round.contributions[file as usize] = Arc::new(contributions);
        }
        round
    }

    fn alone(felt: Felt) -> Option<Vec<u32>> {
        match felt {
            Felt::All => None,
            Felt::Alone(few) => Some(few.into_vec()),
        }
    }

    #[test]
    fn what_nobody_else_states_is_felt_by_all() {
        let round = round(&[&classes([1]), &[]]);
        assert_eq!(alone(round.felt_by(KEY, &[(1, &classes([2]))])), None);
        assert_eq!(alone(round.felt_by(KEY, &[(0, &[])])), None);
    }

    #[test]
    fn what_one_other_states_is_felt_by_that_one() {
        let round = round(&[&classes([1]), &[], &[]]);
        assert_eq!(alone(round.felt_by(KEY, &[(1, &classes([1]))])), Some(vec![0]));
        // It moves from one file to another: both know it from the other now.
        let moved = round.felt_by(KEY, &[(0, &[]), (1, &classes([1]))]);
        assert_eq!(alone(moved), Some(vec![0, 1]));
    }

    #[test]
    fn what_two_others_state_is_felt_by_nobody() {
        let round = round(&[&classes([1]), &classes([1]), &[]]);
        assert_eq!(alone(round.felt_by(KEY, &[(2, &classes([1]))])), Some(vec![]));
    }

    #[test]
    fn one_more_of_too_many_is_felt_by_nobody() {
        let many = classes(1..=MAX_SET as u32 + 1);
        let others: Vec<&[Fact]> = many.chunks(1).chain([&many[..], &[][..]]).collect();
        let last = others.len() as u32 - 1;
        let round = round(&others);
        assert_eq!(alone(round.felt_by(KEY, &[(last, &classes([99]))])), Some(vec![]));
        let better = [Fact::new(class(99).value, Evidence::Lexical)];
        assert_eq!(alone(round.felt_by(KEY, &[(last, &better)])), None, "known directly");
    }
}
