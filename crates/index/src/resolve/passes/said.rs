//! What the steps of a file say about a slot, put together.

use super::{Ledger, NOTHING};
use crate::resolve::value::Set;

/// The steps that say something about each slot, in order.
pub(super) struct SaidBy {
    /// By slot: where its steps end.
    ends: Vec<u32>,
    steps: Vec<u32>,
}

impl SaidBy {
    fn of(&self, slot: u32) -> &[u32] {
        let Some(&end) = self.ends.get(slot as usize) else {
            return &[];
        };
        let start = slot.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.steps[start as usize..end as usize]
    }
}

impl Ledger {
    /// Gathers what is said about the slots that were touched.
    pub(super) fn gather(&mut self, first: bool) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        let mut said: Vec<(Set, u32)> = vec![Default::default(); touched.len()];
        for &step in &self.sayers {
            let trace = &self.traces[step as usize];
            for &(slot, list) in &self.said[trace.said.0 as usize..trace.said.1 as usize] {
                if self.slots[slot as usize].touched
                    && let Ok(place) = touched.binary_search(&slot)
                {
                    let (set, last) = &mut said[place];
                    set.extend(self.pool.get(list));
                    *last = trace.at.max(*last);
                }
            }
        }
        for (&slot, (now, last)) in touched.iter().zip(said) {
            let number = slot as usize;
            let now = self.pool.number(now.facts());
            if !first && self.slots[number].own != now {
                self.save(slot);
            }
            let input = self.slot_input(slot);
            let slot = &mut self.slots[number];
            slot.touched = false;
            if first {
                self.changed[input] = last;
            } else if slot.own != now {
                self.changed[input] = self.clock;
                self.restless |= slot.reader != NOTHING;
            }
            slot.own = now;
        }
        touched.clear();
        self.touched = touched;
    }

    /// Adds what the steps before the running one, and this one so far, say about a slot.
    pub(super) fn add_said_before(&mut self, number: u32, set: &mut Set) {
        if self.said_by.is_none() {
            self.said_by = Some(self.said_by_slot());
        }
        let known = self.said_by.as_ref().map_or(&[][..], |said_by| said_by.of(number));
        let since = self.said_since.iter().filter(|(slot, _)| *slot == number);
        for &step in { known.iter() }
            .chain(since.map(|(_, step)| step))
            .filter(|step| **step < self.step)
        {
            self.add_said(self.run(self.traces[step as usize].said), number, set);
        }
        self.add_said(&self.said[self.since..], number, set);
    }

    fn said_by_slot(&self) -> SaidBy {
        let each = || {
            let steps = self.sayers.iter().copied();
            steps.flat_map(|step| {
                let said = self.run(self.traces[step as usize].said).iter();
                said.map(move |&(slot, _)| (slot, step))
            })
        };
        // First how many there are, then where they start, which becomes where they end as they are put in.
        let mut ends = vec![0; self.slots.len() + 1];
        each().for_each(|(slot, _)| ends[slot as usize + 1] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut steps = vec![0; sum as usize];
        for (slot, step) in each() {
            let next = &mut ends[slot as usize];
            steps[*next as usize] = step;
            *next += 1;
        }
        SaidBy { ends, steps }
    }

    fn add_said(&self, said: &[(u32, u32)], number: u32, set: &mut Set) {
        for &(_, list) in said.iter().filter(|(slot, _)| *slot == number) {
            set.extend(self.pool.get(list));
        }
    }
}
