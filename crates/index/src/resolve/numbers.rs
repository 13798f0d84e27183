//! Numbers for the definitions and expressions of a file that survive edits of it.
//!
//! What others remember of a file (values, keys, edges) names its definitions by number. Positions would shift with every
//! insertion, so numbers leave gaps: an insertion takes numbers out of a gap and every other one stays. Numbers always rise
//! in source order, and resolution uses nothing but that order and identity, so gaps cannot be seen in its results.

/// Numbers by position.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Numbers {
    /// Without `explicit`, the number of a position is the position after it shifted by this, so that there is a gap before
    /// the first as well.
    shift: u8,
    count: u32,
    /// Rising; empty as long as no edit was followed.
    explicit: Box<[u32]>,
}

/// Bits of a definition's number: the objects that belong to a definition use the three above.
pub(super) const DEFINITION_BITS: u32 = 29;
/// Bits of an expression's number.
pub(super) const EXPRESSION_BITS: u32 = 31;
const GAP_BITS: u32 = 8;

impl Numbers {
    /// Numbers for `count` positions, all below `1 << bits` where that is possible at all.
    pub fn fresh(count: usize, bits: u32) -> Numbers {
        let used = usize::BITS - (count + 1).leading_zeros();
        Numbers {
            shift: bits.saturating_sub(used + 1).min(GAP_BITS) as u8,
            count: count as u32,
            explicit: Box::default(),
        }
    }

    /// The number of a position.
    pub fn of(&self, position: u32) -> u32 {
        match self.explicit.get(position as usize) {
            Some(&number) => number,
            None => (position + 1) << self.shift,
        }
    }

    /// The position of a number; some position past the end for one that is not in use.
    pub fn position(&self, number: u32) -> usize {
        if !self.explicit.is_empty() {
            return self.explicit.binary_search(&number).unwrap_or(usize::MAX);
        }
        match number & ((1 << self.shift) - 1) {
            0 => ((number >> self.shift) as usize).wrapping_sub(1),
            _ => usize::MAX,
        }
    }

    /// Numbers for a newer version: `kept[position]` is the older position of what is still there, rising. `None` when the
    /// gaps are used up.
    pub fn follow(&self, kept: &[Option<u32>], bits: u32) -> Option<Numbers> {
        if kept.len() == self.count as usize && kept.iter().enumerate().all(|(at, old)| *old == Some(at as u32)) {
            return Some(self.clone());
        }
        let mut numbers = Vec::with_capacity(kept.len());
        let mut at = 0;
        while at < kept.len() {
            if let Some(old) = kept[at] {
                numbers.push(self.of(old));
                at += 1;
                continue;
            }
            let run = kept[at..].iter().take_while(|old| old.is_none()).count();
            let low = numbers.last().map_or(-1, |&number| i64::from(number));
            let high = kept.get(at + run).copied().flatten().map(|old| i64::from(self.of(old)));
            let step = match high {
                Some(high) => (high - low) / (run as i64 + 1),
                None => ((1i64 << bits) - 1 - low) / (run as i64 + 1),
            }
            .min(1 << GAP_BITS);
            if step < 1 {
                return None;
            }
            numbers.extend((1..=run as i64).map(|offset| (low + offset * step) as u32));
            at += run;
        }
        Some(Numbers {
            shift: 0,
            count: kept.len() as u32,
            explicit: numbers.into(),
        })
    }
}

/// For each position of `newer` the position in `older` of the same thing, as far as both ends of the lists agree.
pub(super) fn match_ends<T: PartialEq>(older: &[T], newer: &[T]) -> Vec<Option<u32>> {
    let shorter = older.len().min(newer.len());
    let head = older.iter().zip(newer).take_while(|(old, new)| old == new).count();
    let tail = older[head..]
        .iter()
        .rev()
        .zip(newer[head..].iter().rev())
        .take(shorter - head)
        .take_while(|(old, new)| old == new)
        .count();
    let shift = older.len() as i64 - newer.len() as i64;
    (0..newer.len())
        .map(|at| match at {
            at if at < head => Some(at as u32),
            at if at >= newer.len() - tail => Some((at as i64 + shift) as u32),
            _ => None,
        })
        .collect()
}

/// The longest rising part of `old`: entries out of order become `None`.
pub(crate) fn keep_order(old: &mut [Option<u32>]) {
    // Positions of `old` at which a rising run of each length ends, lowest value first; `before` links the runs.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; old.len()];
    for at in 0..old.len() {
        let Some(value) = old[at] else { continue };
        let place = ends.partition_point(|&end| old[end].is_some_and(|known| known < value));
        before[at] = place.checked_sub(1).map(|place| ends[place]);
        match ends.get_mut(place) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut next = ends.last().copied();
    for at in (0..old.len()).rev() {
        if next == Some(at) {
            next = before[at];
        } else {
            old[at] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_insertions_and_removals() {
        let first = Numbers::fresh(4, DEFINITION_BITS);
        let kept = [Some(0), None, None, Some(1), Some(3), None];
        let second = first.follow(&kept, DEFINITION_BITS).unwrap();
        let all: Vec<u32> = (0..6).map(|at| second.of(at)).collect();
        assert!(all.is_sorted_by(|one, next| one < next), "{all:?}");
        assert_eq!((all[0], all[3], all[4]), (first.of(0), first.of(1), first.of(3)));
        for (at, &number) in all.iter().enumerate() {
            assert_eq!(second.position(number), at);
        }
        assert_eq!(second.position(first.of(2)), usize::MAX);
        assert_eq!(first.position(1), usize::MAX);
    }

    #[test]
    fn what_comes_before_the_first_takes_no_number_from_others() {
        let first = Numbers::fresh(2, DEFINITION_BITS);
        let second = first.follow(&[None, Some(0), Some(1)], DEFINITION_BITS).unwrap();
        assert_eq!((second.of(1), second.of(2)), (first.of(0), first.of(1)));
        assert!(second.of(0) < first.of(0));
    }

    #[test]
    fn a_gap_that_is_used_up_is_said() {
        let first = Numbers::fresh(2, DEFINITION_BITS);
        let mut kept = vec![None; 300];
        kept[0] = Some(0);
        kept[299] = Some(1);
        assert_eq!(first.follow(&kept, DEFINITION_BITS), None);
    }

    #[test]
    fn both_ends_are_matched() {
        assert_eq!(
            match_ends(b"abcd", b"abxcd"),
            [Some(0), Some(1), None, Some(2), Some(3)]
        );
        assert_eq!(match_ends(b"aaa", b"aa"), [Some(0), Some(1)]);
        assert_eq!(match_ends(b"", b"a"), [None]);
        assert_eq!(match_ends(b"ab", b"ab"), [Some(0), Some(1)]);
    }

    #[test]
    fn what_moved_backwards_is_new() {
        let mut old = [Some(2), None, Some(0), Some(1), Some(3)];
        keep_order(&mut old);
        assert_eq!(old, [None, None, Some(0), Some(1), Some(3)]);
    }
}
