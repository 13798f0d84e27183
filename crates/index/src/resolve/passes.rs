//! Passes over one file, each repeating only what could come out differently.
//!
//! The one trick: every step (an expression, a decorated definition, a flow, a definition or name to publish) keeps what it
//! looked at and what it said. A later pass runs a step again only if something that it looked at changed since; the rest
//! would say the same again. What a step no longer says is taken back at the end of the pass.

use std::cell::RefCell;

use super::tables::Round;
use super::value::{Fact, Set};
use super::words::{Key, WordMap};
use crate::model::Evidence;

/// A key that the file reads or contributes to.
struct Slot {
    key: Key,
    /// What the file itself says: in the pass before or in this one.
    own: Set,
    /// What the other files say, once somebody asked: that stays the same for a whole round.
    others: Option<Set>,
    /// When `own` changed last.
    changed: u32,
    /// Some step said something about it in the pass before that it may not say any more.
    touched: bool,
}

/// What one step looked at and said when it ran last.
#[derive(Clone, Copy, Default)]
struct Trace {
    /// Run of [`Ledger::inputs`].
    inputs: (u32, u32),
    /// Run of [`Ledger::said`].
    said: (u32, u32),
    /// When it ran; never before the first pass.
    at: u32,
}

/// An input that is a slot; the rest of the number says which.
const SLOT: u32 = 1 << 31;
/// The input that stands for what all decorators make.
const DECORATED: u32 = SLOT - 1;
/// No input: stands before those of each step.
const NOTHING: u32 = u32::MAX;

/// What was read and said in one file, by key and by step.
#[derive(Default)]
pub(super) struct Ledger {
    numbers: WordMap<Key, u32>,
    slots: Vec<Slot>,
    /// By step.
    traces: Vec<Trace>,
    inputs: RefCell<Vec<u32>>,
    /// Slot and run of `facts` for each contribution.
    said: Vec<(u32, u32, u32)>,
    facts: Vec<Fact>,
    /// By expression: when its value changed last.
    values: Vec<u32>,
    decorated: u32,
    clock: u32,
    /// Whether a step is running.
    running: bool,
    any_touched: bool,
}

impl Ledger {
    pub(super) fn new(steps: usize, expressions: usize) -> Ledger {
        Ledger {
            traces: vec![Trace::default(); steps],
            values: vec![0; expressions],
            inputs: RefCell::new(Vec::with_capacity(2 * steps)),
            ..Ledger::default()
        }
    }

    /// Starts a step; false when it would say the same again.
    pub(super) fn begin(&mut self, step: usize) -> bool {
        if !self.is_stale(self.traces[step]) {
            return false;
        }
        self.clock += 1;
        self.running = true;
        self.inputs.get_mut().push(NOTHING);
        self.traces[step].at = self.clock;
        self.traces[step].inputs = (self.inputs.get_mut().len() as u32, 0);
        true
    }

    /// Ends the step that was started; `since` is what [`Ledger::mark`] gave when it was.
    pub(super) fn end(&mut self, step: usize, since: usize) {
        self.running = false;
        let trace = &mut self.traces[step];
        trace.inputs.1 = self.inputs.get_mut().len() as u32;
        let (before, now) = (trace.said, (since as u32, self.said.len() as u32));
        if self.says_same(before, now) {
            let facts = self
                .said
                .get(since)
                .map_or(self.facts.len(), |&(_, start, _)| start as usize);
            self.facts.truncate(facts);
            self.said.truncate(since);
            return;
        }
        self.traces[step].said = now;
        for &(slot, _, _) in &self.said[before.0 as usize..before.1 as usize] {
            self.slots[slot as usize].touched = true;
            self.any_touched = true;
        }
    }

    /// Where the next contribution will be.
    pub(super) fn mark(&self) -> usize {
        self.said.len()
    }

    fn says_same(&self, before: (u32, u32), now: (u32, u32)) -> bool {
        let (before, now) = (self.run(before), self.run(now));
        let facts = |&(_, start, end): &(u32, u32, u32)| &self.facts[start as usize..end as usize];
        let same = |(one, other): (&(u32, u32, u32), &(u32, u32, u32))| one.0 == other.0 && facts(one) == facts(other);
        before.len() == now.len() && before.iter().zip(now).all(same)
    }

    fn run(&self, (start, end): (u32, u32)) -> &[(u32, u32, u32)] {
        &self.said[start as usize..end as usize]
    }

    /// Whether a step never ran, or something that it looked at changed since it began.
    fn is_stale(&self, trace: Trace) -> bool {
        if trace.at == 0 {
            return true;
        }
        let inputs = self.inputs.borrow();
        inputs[trace.inputs.0 as usize..trace.inputs.1 as usize]
            .iter()
            .any(|&input| {
                let changed = match input {
                    DECORATED => self.decorated,
                    input if input & SLOT != 0 => self.slots[(input & !SLOT) as usize].changed,
                    input => self.values[input as usize],
                };
                changed >= trace.at
            })
    }

    /// Ends a pass: what nobody says any more is forgotten.
    pub(super) fn end_pass(&mut self) {
        if !std::mem::take(&mut self.any_touched) {
            return;
        }
        self.clock += 1;
        let mut said: WordMap<u64, Set> = WordMap::default();
        for trace in &self.traces {
            for &(slot, start, end) in &self.said[trace.said.0 as usize..trace.said.1 as usize] {
                if self.slots[slot as usize].touched {
                    let set = said.entry(u64::from(slot)).or_default();
                    set.extend(&self.facts[start as usize..end as usize]);
                }
            }
        }
        for (number, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.touched) {
            slot.touched = false;
            let now = said.remove(&(number as u64)).unwrap_or_default();
            if slot.own != now {
                slot.own = now;
                slot.changed = self.clock;
            }
        }
    }

    /// Notes that the running step looked at the value of an expression.
    pub(super) fn look(&self, expression: u32) {
        self.note(expression);
    }

    /// Notes that the running step looked at what decorators make of some definition.
    pub(super) fn look_at_decorated(&self) {
        self.note(DECORATED);
    }

    fn note(&self, input: u32) {
        if self.running {
            let mut inputs = self.inputs.borrow_mut();
            if inputs.last() != Some(&input) {
                inputs.push(input);
            }
        }
    }

    /// Notes that the value of an expression changed.
    pub(super) fn value_changed(&mut self, expression: usize) {
        self.values[expression] = self.clock;
    }

    /// Notes that decorators make something else of some definition.
    pub(super) fn decorated_changed(&mut self) {
        self.decorated = self.clock;
    }

    /// What all files say about `key`.
    pub(super) fn read(&mut self, key: Key, round: &Round, reader: u32) -> Set {
        let number = self.number(key);
        self.note(number | SLOT);
        let slot = &mut self.slots[number as usize];
        let others = slot.others.get_or_insert_with(|| {
            let mut set = Set::default();
            round.read(key, reader, &mut set);
            set
        });
        if slot.own.is_empty() {
            return others.clone();
        }
        let mut set = slot.own.clone();
        set.extend(others.facts());
        set
    }

    /// Says `facts` about `key`, believed for no better reason than `at_best`.
    pub(super) fn say(&mut self, key: Key, facts: &[Fact], at_best: Evidence) {
        let number = self.number(key);
        let start = self.facts.len();
        self.facts.extend(facts.iter().map(|fact| fact.at_best(at_best)));
        self.said.push((number, start as u32, self.facts.len() as u32));
        let slot = &mut self.slots[number as usize];
        for &fact in &self.facts[start..] {
            if slot.own.grow(fact) {
                slot.changed = self.clock;
            }
        }
    }

    fn number(&mut self, key: Key) -> u32 {
        let next = self.slots.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.slots.push(Slot {
                key,
                own: Set::default(),
                others: None,
                changed: 0,
                touched: false,
            });
        }
        number
    }

    /// What the file contributes, and the keys that it read.
    pub(super) fn finish(self) -> (Vec<(Key, Set)>, Vec<Key>) {
        let mut contributions = Vec::with_capacity(self.slots.len());
        let mut reads = Vec::with_capacity(self.slots.len());
        for slot in self.slots {
            if slot.others.is_some() {
                reads.push(slot.key);
            }
            if !slot.own.is_empty() {
                contributions.push((slot.key, slot.own));
            }
        }
        (contributions, reads)
    }
}
