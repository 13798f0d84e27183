//! Numbers for files that survive files that come and go.
//!
//! Files are numbered by the rank of their path, and every rank after a new file shifts. What is kept between updates (values,
//! keys, links) names files by number, so inside of a resolution that follows edits numbers leave gaps: a slot without a file
//! reads as an empty file without a path. A new file takes a slot between its neighbours, one that goes leaves its slot empty,
//! and every other number stays. Resolution uses only the order of numbers, which is that of the ranks, so gaps cannot
//! be seen in its results.

use std::sync::Arc;

use syntax::facts::{FileFacts, Scope, ScopeKind};

use crate::model::{FileId, ResolvedFile, SymbolRef, Target};
use crate::tree::{Change, Manifest, Tree};

/// No file.
const EMPTY: u32 = u32::MAX;
/// About how many empty slots there are in all, and how many there are at least and at most after each file.
const SPARE: usize = 1 << 15;
const GAPS: (usize, usize) = (4, 16);

/// Which file is in which slot.
pub(super) struct Slots {
    /// By slot, the rank of its file or [`EMPTY`].
    ranks: Vec<u32>,
    /// By rank.
    numbers: Vec<u32>,
}

impl Slots {
    /// Slots for so many files, with gaps between all of them.
    pub(super) fn spread(files: usize) -> Slots {
        let gap = (SPARE / files.max(1)).clamp(GAPS.0, GAPS.1);
        let numbers = (0..files).map(|rank| (rank * (gap + 1) + gap) as u32).collect();
        Slots::new(numbers, files * (gap + 1) + gap)
    }

    fn new(numbers: Vec<u32>, slots: usize) -> Slots {
        let mut ranks = vec![EMPTY; slots];
        for (rank, &number) in (0..).zip(&numbers) {
            ranks[number as usize] = rank;
        }
        Slots { ranks, numbers }
    }

    /// The slots after a change that leaves `files` files, and the change told by slots: what came and went counts as modified
    /// too. `None` where a gap is used up.
    pub(super) fn follow(&self, change: &Change, files: usize) -> Option<(Slots, Change)> {
        let mut numbers = vec![EMPTY; files];
        for (rank, &number) in (0..).map(FileId).zip(&self.numbers) {
            if let Some(place) = change.renumber(rank).and_then(|rank| numbers.get_mut(rank.0 as usize)) {
                *place = number;
            }
        }
        let mut rank = 0;
        while rank < files {
            let run = numbers[rank..].iter().take_while(|number| **number == EMPTY).count();
            if run > 0 {
                let low = rank.checked_sub(1).map_or(0, |before| numbers[before] as usize + 1);
                let high = numbers
                    .get(rank + run)
                    .map_or(self.ranks.len(), |&number| number as usize);
                // A slot that was left just now is not taken at once, so that nobody mistakes the one file for the other.
                let free: Vec<usize> = (low..high).filter(|&number| self.ranks[number] == EMPTY).collect();
                if free.len() < run {
                    return None;
                }
                for at in 0..run {
                    numbers[rank + at] = free[(2 * at + 1) * free.len() / (2 * run)] as u32;
                }
            }
            rank += run + 1;
        }
        let number = |file: &FileId| numbers.get(file.0 as usize).map(|&number| FileId(number));
        let added: Vec<FileId> = change.added.iter().filter_map(number).collect();
        let removed: Vec<FileId> = change
            .removed
            .iter()
            .filter_map(|file| self.numbers.get(file.0 as usize).map(|&number| FileId(number)))
            .collect();
        let mut modified: Vec<FileId> = change.modified.iter().filter_map(number).collect();
        modified.extend(added.iter().chain(&removed));
        modified.sort_unstable();
        let kept = change
            .kept
            .iter()
            .filter_map(|(file, kept)| Some((number(file)?, kept.clone())));
        let told = Change {
            modified,
            added,
            removed,
            renumbered: None,
            manifests: change.manifests,
            kept: kept.collect(),
        };
        Some((Slots::new(numbers, self.ranks.len()), told))
    }

    fn rank(&self, number: FileId) -> Option<FileId> {
        let rank = self.ranks.get(number.0 as usize).copied();
        rank.filter(|&rank| rank != EMPTY).map(FileId)
    }

    /// What was resolved in a slot, told by ranks; `None` of an empty slot.
    pub(super) fn told(&self, number: FileId, mut resolved: ResolvedFile) -> Option<(FileId, ResolvedFile)> {
        let file = self.rank(number)?;
        let place = |symbol: &mut SymbolRef| {
            let rank = self.rank(symbol.file);
            symbol.file = rank.unwrap_or(symbol.file);
            rank.is_some()
        };
        resolved.edges.retain_mut(|edge| match &mut edge.to {
            Target::Symbol(symbol) => place(symbol),
            Target::External(_) => true,
        });
        Some((file, resolved))
    }
}

/// A tree as it looks by slots.
pub(super) struct SlottedTree<'a> {
    tree: &'a dyn Tree,
    slots: &'a Slots,
    nothing: Arc<FileFacts>,
}

impl<'a> SlottedTree<'a> {
    pub(super) fn new(tree: &'a dyn Tree, slots: &'a Slots) -> SlottedTree<'a> {
        let mut nothing = FileFacts::default();
        nothing.scopes.push(Scope {
            parent: None,
            definition: None,
            kind: ScopeKind::File,
        });
        SlottedTree {
            tree,
            slots,
            nothing: Arc::new(nothing),
        }
    }
}

impl Tree for SlottedTree<'_> {
    fn file_count(&self) -> usize {
        self.slots.ranks.len()
    }

    fn path(&self, file: FileId) -> &str {
        self.slots.rank(file).map_or("", |file| self.tree.path(file))
    }

    fn language(&self, file: FileId) -> &str {
        self.slots.rank(file).map_or("", |file| self.tree.language(file))
    }

    fn facts(&self, file: FileId) -> Arc<FileFacts> {
        match self.slots.rank(file) {
            Some(file) => self.tree.facts(file),
            None => self.nothing.clone(),
        }
    }

    fn manifests(&self) -> &[Manifest] {
        self.tree.manifests()
    }

    fn hear(&self, round: usize, done: usize) {
        self.tree.hear(round, done);
    }

    fn find(&self, path: &str) -> Option<FileId> {
        let rank = self.tree.find(path)?;
        self.slots.numbers.get(rank.0 as usize).map(|&number| FileId(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(added: &[u32], removed: &[u32], old: usize) -> Change {
        let files = old + added.len() - removed.len();
        let stay: Vec<u32> = (0..old as u32).filter(|file| !removed.contains(file)).collect();
        let places: Vec<u32> = (0..files as u32).filter(|file| !added.contains(file)).collect();
        let mut renumbered = vec![None; old];
        for (&from, &to) in stay.iter().zip(&places) {
            renumbered[from as usize] = Some(FileId(to));
        }
        Change {
            added: added.iter().copied().map(FileId).collect(),
            removed: removed.iter().copied().map(FileId).collect(),
            renumbered: Some(renumbered),
            ..Change::default()
        }
    }

    #[test]
    fn numbers_stay_when_files_come_and_go() {
        let before = Slots::spread(4);
        // The second file goes; three come: first of all, between the last two, and last of all.
        let (after, told) = before.follow(&change(&[0, 3, 5], &[1], 4), 6).unwrap();
        let kept = [(1, 0), (2, 2), (4, 3)];
        for (new, old) in kept {
            assert_eq!(after.numbers[new], before.numbers[old]);
        }
        assert!(
            after.numbers.is_sorted_by(|one, next| one < next),
            "{:?}",
            after.numbers
        );
        assert_eq!(told.removed, [FileId(before.numbers[1])]);
        assert_eq!(told.modified.len(), 4);
        assert_eq!(after.rank(FileId(before.numbers[1])), None);
    }

    #[test]
    fn a_slot_is_not_taken_in_the_change_that_left_it() {
        let before = Slots::spread(1);
        let (after, told) = before.follow(&change(&[0], &[0], 1), 1).unwrap();
        assert_ne!(after.numbers[0], before.numbers[0]);
        assert_eq!(told.modified.len(), 2);
    }

    #[test]
    fn a_gap_that_is_used_up_is_said() {
        let before = Slots::spread(2);
        let many: Vec<u32> = (1..=GAPS.1 as u32 + 1).collect();
        assert!(before.follow(&change(&many[1..], &[], 2), 2 + GAPS.1).is_some());
        assert!(before.follow(&change(&many, &[], 2), 3 + GAPS.1).is_none());
    }
}
