//! The different lists of facts that come up in one file, each kept once and told by a number.
//!
//! Names of one variable, mentions of one class, receivers of one method are worth the same: a file has a few lists for every
//! hundred expressions. So a value is four bytes, two values are compared by their numbers, and a whole evaluation is small
//! enough to be kept until the next round.

use hashbrown::HashTable;

use crate::resolve::value::Fact;
use crate::resolve::words::mix;

/// The number of the list without facts.
pub(super) const EMPTY: u32 = 0;

/// Lists of facts by number.
#[derive(Default)]
pub(super) struct Pool {
    facts: Vec<Fact>,
    /// By number: where the list ends; the one without facts has no entry.
    ends: Vec<u32>,
    numbers: HashTable<u32>,
}

impl Pool {
    /// The list of this number.
    pub(super) fn get(&self, number: u32) -> &[Fact] {
        list(&self.facts, &self.ends, number)
    }

    /// The number of a list.
    pub(super) fn number(&mut self, wanted: &[Fact]) -> u32 {
        if wanted.is_empty() {
            return EMPTY;
        }
        let wanted_hash = hash(wanted);
        let (facts, ends) = (&self.facts, &self.ends);
        let found = self
            .numbers
            .find(wanted_hash, |&number| list(facts, ends, number) == wanted);
        if let Some(&number) = found {
            return number;
        }
        self.facts.extend_from_slice(wanted);
        self.ends.push(self.facts.len() as u32);
        let number = self.ends.len() as u32;
        let (facts, ends) = (&self.facts, &self.ends);
        self.numbers
            .insert_unique(wanted_hash, number, |&number| hash(list(facts, ends, number)));
        number
    }

    /// The same lists by the same numbers, in no more memory than they need; these go on without.
    pub(super) fn pack(&mut self) -> Pool {
        Pool {
            facts: self.facts.clone(),
            ends: self.ends.clone(),
            numbers: std::mem::take(&mut self.numbers),
        }
    }

    /// Takes over what was packed.
    pub(super) fn unpack(&mut self, packed: Pool) {
        self.facts.clone_from(&packed.facts);
        self.ends.clone_from(&packed.ends);
        self.numbers = packed.numbers;
    }

    /// Forgets all lists, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.facts.clear();
        self.ends.clear();
        self.numbers = HashTable::new();
    }

    /// About how much memory it takes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&self.facts[..]) + size_of_val(&self.ends[..]) + self.numbers.capacity() * 5
    }
}

fn list<'a>(facts: &'a [Fact], ends: &[u32], number: u32) -> &'a [Fact] {
    let Some(last) = number.checked_sub(1) else {
        return &[];
    };
    let start = last.checked_sub(1).map_or(0, |before| ends[before as usize]);
    &facts[start as usize..ends[last as usize] as usize]
}

fn hash(facts: &[Fact]) -> u64 {
    facts.iter().fold(0, |hash, fact| {
        let [one, other] = fact.bits();
        mix(hash ^ one, other)
    })
}
