//! Names by any part of them, and names that are nearly the one asked for.
//!
//! The one trick: the distinct names lie in lower case one after the other in the snapshot, about a megabyte for a million
//! lines of code, so one sweep of a vectorised substring search over all of them takes a fifth of a millisecond. An index of
//! trigrams would be larger than what it indexes and not faster.

use memchr::memmem;
use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use crate::snapshot::format::section;
use crate::snapshot::{Snapshot, partition};

/// The distinct names of a snapshot in lower case, by number.
#[derive(Clone, Copy)]
pub struct FoldedNames<'a> {
    lines: &'a [u8],
    ends: &'a [U32],
}

impl<'a> FoldedNames<'a> {
    /// The names of a snapshot.
    pub fn of(snapshot: &'a Snapshot) -> FoldedNames<'a> {
        let ends = snapshot.section(section::FOLDED_NAME_ENDS).unwrap_or_default();
        FoldedNames {
            lines: snapshot.section(section::FOLDED_NAMES).unwrap_or_default(),
            ends: <[U32]>::ref_from_bytes(ends).unwrap_or_default(),
        }
    }

    /// One name; empty where there is none of this number.
    pub fn get(&self, number: usize) -> &'a str {
        let (start, end) = (self.start(number), self.start(number + 1).saturating_sub(1));
        let bytes = self.lines.get(start..end).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or("")
    }

    /// The numbers of the names that contain `part`, which must be in lower case, in order.
    pub fn containing(self, part: &str) -> impl Iterator<Item = usize> + 'a {
        let finder = memmem::Finder::new(part.as_bytes()).into_owned();
        let can_be_found = !part.is_empty() && !part.contains('\n');
        let mut at = 0;
        std::iter::from_fn(move || {
            if !can_be_found {
                return None;
            }
            let found = at + finder.find(self.lines.get(at..)?)?;
            let number = partition(self.ends.len(), |number| self.ends[number].get() as usize <= found);
            at = self.start(number + 1).max(found + 1);
            Some(number)
        })
    }

    /// The numbers of the names that are at most `limit` edits away from `name`, with the edits, nearest first.
    pub fn near(&self, name: &str, limit: u32) -> Vec<(u32, usize)> {
        let Some(pattern) = Pattern::new(&name.to_lowercase()) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut start = 0;
        for (number, end) in self.ends.iter().enumerate() {
            let end = end.get() as usize;
            let line = self.lines.get(start..end.saturating_sub(1)).unwrap_or_default();
            start = end;
            if line.len().abs_diff(pattern.length) <= limit as usize {
                let edits = pattern.distance(line);
                if edits <= limit {
                    found.push((edits, number));
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn start(&self, number: usize) -> usize {
        match number.checked_sub(1) {
            None => 0,
            Some(before) => self.ends.get(before).map_or(self.lines.len(), |end| end.get() as usize),
        }
    }
}

/// A name prepared for Myers' algorithm: one column of the edit table is two wide words, so a name costs one step per byte.
struct Pattern {
    length: usize,
    places: [u128; 256],
}

impl Pattern {
    /// `None` for what is longer than a word has bits.
    fn new(name: &str) -> Option<Pattern> {
        let length = name.len();
        if !(1..=128).contains(&length) {
            return None;
        }
        let mut places = [0; 256];
        for (at, byte) in name.bytes().enumerate() {
            places[usize::from(byte)] |= 1 << at;
        }
        Some(Pattern { length, places })
    }

    fn distance(&self, text: &[u8]) -> u32 {
        let last = 1u128 << (self.length - 1);
        let (mut more, mut less) = (!0u128, 0u128);
        let mut edits = self.length as u32;
        for &byte in text {
            let equal = self.places[usize::from(byte)];
            let vertical = equal | less;
            let horizontal = (((equal & more).wrapping_add(more)) ^ more) | equal;
            let mut up = less | !(horizontal | more);
            let mut down = more & horizontal;
            edits += u32::from(up & last != 0);
            edits -= u32::from(down & last != 0);
            up = up << 1 | 1;
            down <<= 1;
            more = down | !(vertical | up);
            less = up & vertical;
        }
        edits
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names<'a>(lines: &'a str, ends: &'a [U32]) -> FoldedNames<'a> {
        FoldedNames {
            lines: lines.as_bytes(),
            ends,
        }
    }

    #[test]
    fn names_are_found_by_a_part_once_each() {
        let lines = "parse\nparse_parse\nurl\n\nxparse\n";
        let ends: Vec<U32> = [6, 18, 22, 23, 30].map(U32::new).to_vec();
        let names = names(lines, &ends);
        let found = |part: &str| names.containing(part).collect::<Vec<_>>();
        assert_eq!(found("parse"), [0, 1, 4]);
        assert_eq!(found("rl"), [2]);
        assert!(found("").is_empty() && found("e\np").is_empty() && found("zzz").is_empty());
        assert_eq!((names.get(1), names.get(3), names.get(9)), ("parse_parse", "", ""));
        assert_eq!(names.near("parze", 1), [(1, 0)]);
        assert_eq!(names.near("Xparse", 1), [(0, 4), (1, 0)]);
    }

    fn plain_distance(left: &[u8], right: &[u8]) -> u32 {
        let mut row: Vec<u32> = (0..=right.len() as u32).collect();
        for (i, a) in left.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = i as u32 + 1;
            for (j, b) in right.iter().enumerate() {
                let replaced = diagonal + u32::from(a != b);
                diagonal = row[j + 1];
                row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
            }
        }
        row[right.len()]
    }

    proptest! {
        #[test]
        fn edits_are_counted_as_the_table_does(left in "[a-d]{1,128}", right in "[a-d]{0,40}") {
            let pattern = Pattern::new(&left).unwrap();
            prop_assert_eq!(pattern.distance(right.as_bytes()), plain_distance(left.as_bytes(), right.as_bytes()));
        }
    }
}
