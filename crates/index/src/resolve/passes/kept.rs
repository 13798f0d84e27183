//! The first pass of an evaluation, packed until the next round follows it.
//!
//! The one trick: a first pass runs its steps in order, so that when each ran, which values are late and where every run
//! starts can be told from the order; and steps that look at nothing that can change need no trace at all.

use super::{DECORATED, Ledger, Pass, SLOT, Slot, Trace};
use crate::resolve::value::{Fact, Set};
use crate::resolve::words::{Key, Word, WordMap};

/// Everything of a [`Ledger`] that cannot be told from the rest.
#[derive(Default)]
pub(in crate::resolve) struct Kept {
    steps: usize,
    /// By expression: end of its value in `arena`.
    values: Vec<u32>,
    arena: Vec<Fact>,
    open: Vec<u32>,
    /// By open step: end of its inputs.
    input_ends: Vec<u32>,
    inputs: Vec<u32>,
    /// Steps that said something, and the end of it in `said`.
    sayers: Vec<(u32, u32)>,
    /// Slots, and the ends of what was said about them in `facts`.
    said: Vec<(u32, u32)>,
    facts: Vec<Fact>,
    slots: Vec<KeptSlot>,
    slot_facts: Vec<Fact>,
    decorated: WordMap<Word, (u32, Set)>,
    decorated_at: u32,
    restless: bool,
}

struct KeptSlot {
    key: Key,
    /// Ends of what it holds in [`Kept::slot_facts`].
    own: u32,
    others: u32,
    is_read: bool,
    changed: u32,
    reader: u32,
}

impl Kept {
    /// Packs a ledger that was taken back to the end of its first pass.
    pub(super) fn new(ledger: Ledger) -> Kept {
        let mut kept = Kept {
            steps: ledger.traces.len(),
            values: Vec::with_capacity(ledger.sets.len()),
            arena: Vec::with_capacity(ledger.sets.iter().map(|(start, end)| (end - start) as usize).sum()),
            input_ends: Vec::with_capacity(ledger.open.len()),
            slots: Vec::with_capacity(ledger.slots.len()),
            decorated_at: ledger.decorated_at,
            restless: ledger.restless_at_first,
            ..Kept::default()
        };
        for &(start, end) in &ledger.sets {
            kept.arena
                .extend_from_slice(&ledger.arena[start as usize..end as usize]);
            kept.values.push(kept.arena.len() as u32);
        }
        let inputs = ledger.inputs.borrow();
        for &step in &ledger.open {
            let (start, end) = ledger.traces[step as usize].inputs;
            kept.inputs.extend_from_slice(&inputs[start as usize..end as usize]);
            kept.input_ends.push(kept.inputs.len() as u32);
        }
        drop(inputs);
        for (step, trace) in (0..).zip(&ledger.traces) {
            for &(slot, start, end) in ledger.run(trace.said) {
                kept.facts
                    .extend_from_slice(&ledger.facts[start as usize..end as usize]);
                kept.said.push((slot, kept.facts.len() as u32));
            }
            if trace.said.0 < trace.said.1 {
                kept.sayers.push((step, kept.said.len() as u32));
            }
        }
        for slot in ledger.slots {
            kept.slot_facts.extend_from_slice(slot.own.facts());
            let own = kept.slot_facts.len() as u32;
            let others = slot.others.as_ref();
            kept.slot_facts.extend_from_slice(others.map_or(&[], Set::facts));
            kept.slots.push(KeptSlot {
                key: slot.key,
                own,
                others: kept.slot_facts.len() as u32,
                is_read: slot.others.is_some(),
                changed: slot.changed,
                reader: slot.reader,
            });
        }
        kept.open = ledger.open;
        kept.open.shrink_to_fit();
        kept.inputs.shrink_to_fit();
        kept.sayers.shrink_to_fit();
        kept.said.shrink_to_fit();
        kept.facts.shrink_to_fit();
        kept.slot_facts.shrink_to_fit();
        kept.decorated = ledger.decorated;
        kept
    }

    /// About how much memory it takes.
    pub(in crate::resolve) fn size(&self) -> usize {
        size_of_val(&self.values[..])
            + size_of_val(&self.arena[..])
            + size_of_val(&self.open[..])
            + size_of_val(&self.input_ends[..])
            + size_of_val(&self.inputs[..])
            + size_of_val(&self.sayers[..])
            + size_of_val(&self.said[..])
            + size_of_val(&self.facts[..])
            + size_of_val(&self.slots[..])
            + size_of_val(&self.slot_facts[..])
    }

    /// The ledger again, about to be followed.
    pub(super) fn unpack(self) -> Ledger {
        let expressions = self.values.len();
        let mut ledger = Ledger::new(self.steps, expressions);
        ledger.pass = Pass::Followed;
        ledger.news = vec![false; expressions];
        ledger.restless_at_first = self.restless;
        ledger.restless = self.restless;
        ledger.decorated_at = self.decorated_at;
        ledger.decorated = self.decorated;
        ledger.is_open = Vec::new();
        let mut start = 0;
        for (expression, end) in self.values.into_iter().enumerate() {
            if start < end {
                ledger.sets[expression] = (start, end);
                ledger.values[expression] = expression as u32 + 1;
            }
            start = end;
        }
        ledger.arena = self.arena;
        for (step, trace) in (1..).zip(&mut ledger.traces) {
            *trace = Trace {
                at: step,
                ..Trace::default()
            };
        }
        let mut start = 0;
        for (&step, end) in self.open.iter().zip(self.input_ends) {
            ledger.traces[step as usize].inputs = (start, end);
            for &input in &self.inputs[start as usize..end as usize] {
                if input & SLOT == 0 && input != DECORATED && input >= step {
                    ledger.late[input as usize] = true;
                }
            }
            start = end;
        }
        ledger.open = self.open;
        *ledger.inputs.get_mut() = self.inputs;
        let mut start = 0;
        for (step, end) in self.sayers {
            ledger.traces[step as usize].said = (start, end);
            start = end;
        }
        let mut start = 0;
        ledger.said.reserve(self.said.len());
        for (slot, end) in self.said {
            ledger.said.push((slot, start, end));
            start = end;
        }
        ledger.facts = self.facts;
        ledger.numbers.reserve(self.slots.len());
        ledger.slots.reserve(self.slots.len());
        let mut start = 0;
        for (number, slot) in (0..).zip(self.slots) {
            let (own, others) = (slot.own as usize, slot.others as usize);
            ledger.numbers.insert(slot.key, number);
            ledger.slots.push(Slot {
                own: Set::copied(&self.slot_facts[start..own]),
                others: slot.is_read.then(|| Set::copied(&self.slot_facts[own..others])),
                changed: slot.changed,
                reader: slot.reader,
                ..Slot::new(slot.key)
            });
            start = others;
        }
        ledger
    }
}
