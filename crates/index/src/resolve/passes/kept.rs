//! The first pass of an evaluation, packed until the next round follows it.
//!
//! The one trick: a first pass runs its steps in order, so that when each ran, which values are late and where every run
//! starts can be told from the order; and steps that look at nothing that can change need no trace at all.

use super::pool::{EMPTY, Pool};
use super::{KEPT_SLOT, Ledger, Pass, Slot, Trace, Undo};
use crate::resolve::value::Set;
use crate::resolve::words::{Word, WordMap};

/// Everything of a [`Ledger`] that cannot be told from the rest.
#[derive(Default)]
pub(in crate::resolve) struct Kept {
    steps: usize,
    /// By expression: its value, as a list of `pool`.
    values: Vec<u32>,
    pool: Pool,
    open: Vec<u32>,
    /// By open step: end of its inputs.
    input_ends: Vec<u32>,
    inputs: Vec<u32>,
    /// Steps that said something, and the end of it in `said`.
    sayers: Vec<(u32, u32)>,
    /// Slots, and what was said about them.
    said: Vec<(u32, u32)>,
    slots: Vec<Slot>,
    /// When what decorators make and what is said about each slot changed last.
    changed: Vec<u32>,
    decorated: WordMap<Word, (u32, Set)>,
    restless: bool,
    settled: Settled,
}

/// What later passes made of a first one, so that they need not be run again while nobody says anything new.
#[derive(Default)]
pub(super) struct Settled {
    /// Expressions, and what they were worth in the end.
    values: Vec<(u32, u32)>,
    /// Slots, and what the file said about them in the end.
    slots: Vec<(u32, u32)>,
    /// Decorators came to something else, which is not kept.
    decorated: bool,
}

impl Settled {
    pub(super) fn of(ledger: &Ledger) -> Settled {
        let mut settled = Settled::default();
        for undo in &ledger.journal {
            match *undo {
                Undo::Value(expression, ..) => settled.values.push((expression, ledger.sets[expression as usize])),
                Undo::Slot(slot, ..) => settled.slots.push((slot, ledger.slots[slot as usize].own)),
                Undo::Decorated(..) => settled.decorated = true,
                Undo::Trace(..) => {}
            }
        }
        settled.values.sort_unstable();
        settled.values.dedup();
        settled.values.shrink_to_fit();
        settled.slots.shrink_to_fit();
        settled
    }
}

impl Kept {
    /// Packs a ledger that was taken back to the end of its first pass. Everything is copied to where it just fits, since the
    /// ledger's own memory has room for more and is used again.
    pub(super) fn new(ledger: &mut Ledger, settled: Settled) -> Kept {
        let mut kept = Kept {
            steps: ledger.traces.len(),
            values: ledger.sets.clone(),
            pool: ledger.pool.pack(),
            input_ends: Vec::with_capacity(ledger.open.len()),
            open: ledger.open.clone(),
            changed: ledger.changed[ledger.sets.len()..].to_vec(),
            decorated: std::mem::take(&mut ledger.decorated),
            restless: ledger.restless_at_first,
            settled,
            ..Kept::default()
        };
        kept.slots.reserve_exact(ledger.slots.len());
        kept.slots.append(&mut ledger.slots);
        let inputs = ledger.inputs.get_mut();
        let length = |(start, end): (u32, u32)| (end - start) as usize;
        let runs = ledger.open.iter().map(|&step| ledger.traces[step as usize].inputs);
        kept.inputs.reserve_exact(runs.clone().map(length).sum());
        for (start, end) in runs {
            kept.inputs.extend_from_slice(&inputs[start as usize..end as usize]);
            kept.input_ends.push(kept.inputs.len() as u32);
        }
        // Steps that later passes made say something came last.
        ledger.sayers.sort_unstable();
        ledger.sayers.dedup();
        let said = ledger
            .sayers
            .iter()
            .map(|&step| (step, ledger.traces[step as usize].said))
            .filter(|(_, said)| said.0 < said.1);
        let (sayers, sum) = said
            .clone()
            .fold((0, 0), |(sayers, sum), (_, said)| (sayers + 1, sum + length(said)));
        kept.sayers.reserve_exact(sayers);
        kept.said.reserve_exact(sum);
        for (step, (start, end)) in said {
            kept.said.extend_from_slice(&ledger.said[start as usize..end as usize]);
            kept.sayers.push((step, kept.said.len() as u32));
        }
        kept
    }

    /// About how much memory it takes.
    pub(in crate::resolve) fn size(&self) -> usize {
        size_of_val(&self.values[..])
            + self.pool.size()
            + size_of_val(&self.open[..])
            + size_of_val(&self.input_ends[..])
            + size_of_val(&self.inputs[..])
            + size_of_val(&self.sayers[..])
            + size_of_val(&self.said[..])
            + self.slots.len() * KEPT_SLOT
            + size_of_val(&self.settled.values[..])
            + size_of_val(&self.settled.slots[..])
    }

    /// Whether [`Kept::settle`] can tell what came of it.
    pub(in crate::resolve) fn is_settled(&self) -> bool {
        !self.settled.decorated
    }

    /// The ledger at its end, for questions alone: no pass can be run with it, because what steps looked at is left out.
    pub(in crate::resolve) fn settle(mut self) -> Ledger {
        for (expression, set) in self.settled.values {
            self.values[expression as usize] = set;
        }
        for (slot, own) in self.settled.slots {
            self.slots[slot as usize].own = own;
        }
        let mut changed = vec![0; self.values.len()];
        changed.append(&mut self.changed);
        let mut ledger = Ledger {
            pass: Pass::Later,
            sets: self.values,
            changed,
            slots: self.slots,
            pool: self.pool,
            decorated: self.decorated,
            ..Ledger::default()
        };
        ledger.number_slots();
        ledger
    }

    /// The ledger again, about to be followed.
    pub(super) fn unpack(mut self) -> Ledger {
        let expressions = self.values.len();
        let mut ledger = Ledger::new(self.steps, expressions);
        ledger.pass = Pass::Followed;
        ledger.news = vec![false; expressions + self.changed.len()];
        ledger.restless_at_first = self.restless;
        ledger.restless = self.restless;
        ledger.decorated = self.decorated;
        ledger.is_open.clear();
        for ((at, value), changed) in (1..).zip(&self.values).zip(&mut ledger.changed) {
            if *value != EMPTY {
                *changed = at;
            }
        }
        ledger.changed.truncate(expressions);
        ledger.changed.append(&mut self.changed);
        ledger.sets.clone_from(&self.values);
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
                if (input as usize) < expressions && input >= step {
                    ledger.late[input as usize] = true;
                }
            }
            start = end;
        }
        ledger.open.clone_from(&self.open);
        ledger.inputs.get_mut().clone_from(&self.inputs);
        let mut start = 0;
        for (step, end) in self.sayers {
            ledger.traces[step as usize].said = (start, end);
            ledger.sayers.push(step);
            start = end;
        }
        ledger.said.clone_from(&self.said);
        ledger.slots.append(&mut self.slots);
        ledger.number_slots();
        ledger.pool.unpack(self.pool);
        ledger
    }
}
