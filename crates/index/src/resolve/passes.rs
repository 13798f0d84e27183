//! Passes over one file, each repeating only what could come out differently; and rounds, which do the same.
//!
//! The one trick: every step (an expression, a decorated definition, a flow, a definition or name to publish) keeps what it
//! looked at and what it said. A later pass runs a step again only if something that it looked at changed since; the rest
//! would say the same again. What a step no longer says is taken back at the end of the pass.
//!
//! A later round starts from nothing as well, but only in principle. The first pass is kept ([`Ledger::keep`]) and followed
//! again ([`Ledger::follow`]): a step runs if other files say something new about what it looked at, or an earlier step
//! does. While that happens, a step sees what it would have seen in a first pass, which is what earlier steps said.

mod kept;
mod pool;
mod said;
mod spare;

use std::cell::RefCell;

use super::Sought;
use super::tables::Round;
use super::value::{Fact, Set};
use super::words::{Key, Word, WordMap};
use crate::model::Evidence;
use hashbrown::HashTable;

pub(super) use kept::Kept;
use kept::Settled;
use pool::{EMPTY, Pool};
use said::SaidBy;

/// A key that the file reads or contributes to.
struct Slot {
    key: Key,
    /// What the file itself says, as a list of the pool: in the pass before or in this one.
    own: u32,
    /// What the other files say, once somebody asked, or [`UNREAD`]: that stays the same for a whole round.
    others: u32,
    /// The first step that read it, or [`NOTHING`].
    reader: u32,
    /// Some step said something about it before that it may not say any more.
    touched: bool,
    /// It is in the journal.
    saved: bool,
}

/// Instead of a list of the pool: nobody asked.
const UNREAD: u32 = u32::MAX;

impl Slot {
    fn new(key: Key) -> Slot {
        Slot {
            key,
            own: EMPTY,
            others: UNREAD,
            reader: NOTHING,
            touched: false,
            saved: false,
        }
    }
}

/// What one step looked at and said when it ran last.
#[derive(Clone, Copy, Default)]
struct Trace {
    /// Run of [`Ledger::inputs`].
    inputs: (u32, u32),
    /// Run of [`Ledger::said`].
    said: (u32, u32),
    /// When it ran.
    at: u32,
}

/// What a slot takes when it is kept.
const KEPT_SLOT: usize = size_of::<Slot>() + size_of::<u32>();
/// No input: stands before those of each step.
const NOTHING: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Pass {
    /// Everything runs.
    #[default]
    First,
    /// The first pass of an earlier round is followed.
    Followed,
    /// What is stale runs.
    Later,
}

/// What a later pass changed.
enum Undo {
    Trace(u32, Trace),
    Value(u32, u32, u32),
    Slot(u32, u32, u32),
    Decorated(Word, Option<(u32, Set)>, u32),
}

/// What was found, read and said in one file, by expression, key and step.
#[derive(Default)]
pub(super) struct Ledger {
    /// By expression: its value, as a list of `pool`.
    sets: Vec<u32>,
    pool: Pool,
    /// By input: when it changed last. Inputs are all expressions by their number, then what all decorators make, then the slots.
    changed: Vec<u32>,
    /// Following, by input: it is not what it was when the pass was kept.
    news: Vec<bool>,
    /// Numbers of slots, by their key.
    numbers: HashTable<u32>,
    slots: Vec<Slot>,
    /// By step.
    traces: Vec<Trace>,
    inputs: RefCell<Vec<u32>>,
    /// Slot and list of `pool` for each contribution.
    said: Vec<(u32, u32)>,
    /// What is being said.
    saying: Vec<Fact>,
    /// What decorators make of each decorated definition, and the step that said so.
    decorated: WordMap<Word, (u32, Set)>,
    clock: u32,
    pass: Pass,
    /// The step that is running, if one is.
    running: bool,
    step: u32,
    /// Start of what it said.
    since: usize,
    /// The slots that are touched.
    touched: Vec<u32>,
    /// The steps that say something, or did: a tenth of all. A first pass lists them in order.
    sayers: Vec<u32>,
    /// Something changed after a step looked at it that this pass does not come to any more.
    restless: bool,
    restless_at_first: bool,
    /// By expression: an earlier step looks at it.
    late: Vec<bool>,
    /// The steps that look at something which can change, or at the value of such a step.
    open: Vec<u32>,
    is_open: Vec<bool>,
    /// Position in `open`.
    next: usize,
    any_news: bool,
    journal: Vec<Undo>,
    /// Following: who said what when the pass was kept, and who says it since.
    said_by: Option<SaidBy>,
    said_since: Vec<(u32, u32)>,
}

impl Ledger {
    pub(super) fn new(steps: usize, expressions: usize) -> Ledger {
        let mut ledger = Ledger::spare();
        ledger.sets.resize(expressions, EMPTY);
        ledger.changed.resize(expressions + 1, 0);
        ledger.late.resize(expressions, false);
        ledger.is_open.resize(steps, false);
        ledger.traces.resize(steps, Trace::default());
        ledger.inputs.get_mut().reserve(2 * steps);
        ledger
    }

    /// A kept first pass, ready to be followed after rounds in which other files said something new about `changed`; about
    /// anything if that is not known.
    pub(super) fn follow(kept: Kept, round: &Round, reader: u32, changed: Option<&Sought<'_>>) -> Ledger {
        let mut ledger = kept.unpack();
        ledger.refresh(round, reader, changed);
        ledger
    }

    fn refresh(&mut self, round: &Round, reader: u32, changed: Option<&Sought<'_>>) {
        let may_differ = |key: Key| changed.is_none_or(|changed| changed.is_by_others(key, reader));
        let news = &mut self.news[self.sets.len() + 1..];
        for (slot, news) in self.slots.iter_mut().zip(news) {
            if slot.others != UNREAD && may_differ(slot.key) {
                let mut now = Set::default();
                round.read(slot.key, reader, &mut now);
                let now = self.pool.number(now.facts());
                if slot.others != now {
                    *news = true;
                    self.any_news = true;
                    slot.others = now;
                }
            }
        }
    }

    /// Goes back to the end of the first pass and packs it, with what came of it.
    pub(super) fn keep(mut self) -> Kept {
        let settled = Settled::of(&self);
        while let Some(undo) = self.journal.pop() {
            match undo {
                Undo::Trace(step, trace) => self.traces[step as usize] = trace,
                Undo::Value(expression, set, changed) => {
                    self.sets[expression as usize] = set;
                    self.changed[expression as usize] = changed;
                }
                Undo::Slot(number, own, changed) => {
                    let slot = &mut self.slots[number as usize];
                    slot.own = own;
                    slot.saved = false;
                    *self.slot_changed(number) = changed;
                }
                Undo::Decorated(name, Some(known), at) => {
                    self.decorated.insert(name, known);
                    *self.decorated_at() = at;
                }
                Undo::Decorated(name, None, at) => {
                    self.decorated.remove(&name);
                    *self.decorated_at() = at;
                }
            }
        }
        let kept = Kept::new(&mut self, settled);
        self.retire();
        kept
    }

    /// About how much memory it takes when it is kept.
    pub(super) fn size(&self) -> usize {
        (self.sets.len() + 2 * self.open.len() + self.inputs.borrow().len() + 4 * self.said.len()) * size_of::<u32>()
            + self.pool.size()
            + self.slots.len() * KEPT_SLOT
            + self.journal.len() * size_of::<(u32, u32)>()
    }

    /// The next step that this pass has to run: one that would not say the same again.
    pub(super) fn next(&mut self) -> Option<usize> {
        let position = self.next;
        let found = match self.pass {
            Pass::First => (position < self.traces.len()).then_some(position),
            Pass::Followed if !self.any_news => None,
            Pass::Followed => self.next_open(position, |ledger, trace, inputs| ledger.has_news(trace, inputs)),
            Pass::Later => self.next_open(position, |ledger, trace, inputs| ledger.is_stale(trace, inputs)),
        };
        self.next = found? + 1;
        Some(match self.pass {
            Pass::First => found?,
            _ => self.open[found?] as usize,
        })
    }

    /// The position of the next open step that `runs`, given what it looked at.
    fn next_open(&self, position: usize, runs: impl Fn(&Ledger, &Trace, &[u32]) -> bool) -> Option<usize> {
        let inputs = self.inputs.borrow();
        let found = self.open.get(position..)?.iter().position(|&step| {
            let trace = &self.traces[step as usize];
            runs(self, trace, &inputs[trace.inputs.0 as usize..trace.inputs.1 as usize])
        });
        Some(position + found?)
    }

    /// Starts another pass.
    pub(super) fn begin_pass(&mut self) {
        self.restless = false;
    }

    /// Whether another pass could change anything.
    pub(super) fn is_restless(&self) -> bool {
        self.restless
    }

    /// Starts a step.
    pub(super) fn begin(&mut self, step: usize) {
        if self.pass == Pass::Later {
            self.journal.push(Undo::Trace(step as u32, self.traces[step]));
            self.clock += 1;
        } else {
            self.clock = step as u32 + 1;
        }
        self.running = true;
        self.step = step as u32;
        self.since = self.said.len();
        let inputs = self.inputs.get_mut();
        inputs.push(NOTHING);
        let trace = &mut self.traces[step];
        trace.at = self.clock;
        trace.inputs.0 = inputs.len() as u32;
    }

    /// Ends the step that was started.
    pub(super) fn end(&mut self) {
        self.running = false;
        let step = self.step as usize;
        let inputs = self.inputs.get_mut();
        let mut open = false;
        for &input in &inputs[self.traces[step].inputs.0 as usize..] {
            if input as usize >= self.sets.len() {
                open = true;
            } else if input >= self.step {
                self.late[input as usize] = true;
                open = true;
            } else {
                open |= self.is_open.get(input as usize).copied().unwrap_or_default();
            }
        }
        if open && self.pass == Pass::First {
            self.is_open[step] = true;
            self.open.push(self.step);
        }
        self.traces[step].inputs.1 = self.inputs.get_mut().len() as u32;
        let (before, now) = (self.traces[step].said, (self.since as u32, self.said.len() as u32));
        if self.run(before) == self.run(now) {
            self.said.truncate(self.since);
            return;
        }
        self.traces[step].said = now;
        if before.0 == before.1 {
            self.sayers.push(self.step);
        }
        for at in before.0..before.1 {
            self.touch(self.said[at as usize].0);
        }
        if self.pass == Pass::Followed {
            for at in now.0..now.1 {
                let slot = self.said[at as usize].0;
                self.touch(slot);
                self.said_since.push((slot, self.step));
            }
        }
    }

    fn touch(&mut self, slot: u32) {
        if self.pass == Pass::Followed {
            let input = self.slot_input(slot);
            self.news[input] = true;
        }
        let place = &mut self.slots[slot as usize];
        if !std::mem::replace(&mut place.touched, true) {
            self.touched.push(slot);
        }
        if self.pass == Pass::Followed {
            self.restless |= place.reader != NOTHING;
        }
    }

    fn run(&self, (start, end): (u32, u32)) -> &[(u32, u32)] {
        &self.said[start as usize..end as usize]
    }

    /// Whether something that a step looked at changed since it began.
    fn is_stale(&self, trace: &Trace, inputs: &[u32]) -> bool {
        inputs.iter().any(|&input| self.changed[input as usize] >= trace.at)
    }

    /// Whether something that a step looked at in the pass being followed is something else now.
    fn has_news(&self, _: &Trace, inputs: &[u32]) -> bool {
        inputs.iter().any(|&input| self.news[input as usize])
    }

    /// Ends a pass: what nobody says any more is forgotten.
    pub(super) fn end_pass(&mut self) {
        let first = self.pass != Pass::Later;
        self.clock = self.clock.max(self.traces.len() as u32) + 1;
        self.next = 0;
        if !self.touched.is_empty() {
            self.gather(first);
        }
        if first {
            self.pass = Pass::Later;
            self.restless_at_first = self.restless;
            self.is_open.clear();
            self.news = Vec::new();
        }
    }

    /// Remembers a slot as it was at the end of the first pass.
    fn save(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        if !std::mem::replace(&mut slot.saved, true) {
            let own = slot.own;
            let changed = *self.slot_changed(number);
            self.journal.push(Undo::Slot(number, own, changed));
        }
    }

    /// The value of an expression as the running step sees it.
    pub(super) fn value(&self, expression: usize) -> &[Fact] {
        let Some(&set) = self.sets.get(expression) else {
            return &[];
        };
        self.note(expression as u32);
        if self.pass == Pass::Followed && expression as u32 >= self.step {
            return &[];
        }
        self.pool.get(set)
    }

    /// Sets the value of the expression whose step is running.
    pub(super) fn set_value(&mut self, expression: usize, facts: &[Fact]) {
        let before = self.sets[expression];
        // Nearly all that runs again comes to the same, which is seen without looking for its number.
        if self.pool.get(before) == facts {
            return;
        }
        let now = self.pool.number(facts);
        self.restless |= self.late[expression];
        match self.pass {
            Pass::First => {}
            Pass::Followed => self.news[expression] = true,
            Pass::Later => {
                let undo = Undo::Value(expression as u32, before, self.changed[expression]);
                self.journal.push(undo);
            }
        }
        self.changed[expression] = self.clock;
        self.sets[expression] = now;
    }

    /// What decorators make of a definition as the running step sees it.
    pub(super) fn decorated(&self, name: Word) -> Option<&Set> {
        self.note(self.sets.len() as u32);
        let (step, set) = self.decorated.get(&name)?;
        let seen = self.pass != Pass::Followed || *step < self.step;
        seen.then_some(set)
    }

    /// Sets what decorators make of the definition whose step is running.
    pub(super) fn decorate(&mut self, name: Word, set: Set) {
        let known = self.decorated.get(&name);
        if known.map_or(!set.is_empty(), |(_, known)| *known != set) {
            if self.pass == Pass::Later {
                let known = known.cloned();
                let at = *self.decorated_at();
                self.journal.push(Undo::Decorated(name, known, at));
            }
            self.restless = true;
            if self.pass == Pass::Followed {
                self.news[self.sets.len()] = true;
            }
            let clock = self.clock;
            let at = self.decorated_at();
            *at = clock.max(*at);
            self.decorated.insert(name, (self.step, set));
        }
    }

    fn note(&self, input: u32) {
        if self.running {
            let mut inputs = self.inputs.borrow_mut();
            if inputs.last() != Some(&input) {
                inputs.push(input);
            }
        }
    }

    /// What all files say about `key`, as the running step sees it.
    pub(super) fn read(&mut self, key: Key, round: &Round, reader: u32) -> Set {
        let number = self.number(key);
        self.note(self.slot_input(number) as u32);
        let slot = &mut self.slots[number as usize];
        if self.running {
            slot.reader = slot.reader.min(self.step);
        }
        if slot.others == UNREAD {
            let mut others = Set::default();
            round.read(key, reader, &mut others);
            slot.others = self.pool.number(others.facts());
        }
        let (own, others) = (slot.own, slot.others);
        if self.pass == Pass::Followed {
            let said = own != EMPTY || slot.touched || self.since < self.said.len();
            let mut set = Set::copied(self.pool.get(others));
            if said {
                self.add_said_before(number, &mut set);
            }
            return set;
        }
        if own == EMPTY {
            return Set::copied(self.pool.get(others));
        }
        let mut set = Set::copied(self.pool.get(own));
        set.extend(self.pool.get(others));
        set
    }

    /// Says `facts` about `key`, believed for no better reason than `at_best`.
    pub(super) fn say(&mut self, key: Key, facts: &[Fact], at_best: Evidence) {
        let number = self.number(key);
        self.saying.clear();
        self.saying.extend(facts.iter().map(|fact| fact.at_best(at_best)));
        let list = self.pool.number(&self.saying);
        self.said.push((number, list));
        if self.pass == Pass::Followed {
            return;
        }
        if self.pass == Pass::Later {
            self.save(number);
        }
        let slot = &mut self.slots[number as usize];
        if slot.own == list {
            return;
        }
        let mut own = Set::copied(self.pool.get(slot.own));
        let mut grown = false;
        for &fact in &self.saying {
            grown |= own.grow(fact);
        }
        if grown {
            slot.own = self.pool.number(own.facts());
            self.restless |= slot.reader <= self.step;
            *self.slot_changed(number) = self.clock;
        }
    }

    /// The input that a slot is.
    fn slot_input(&self, slot: u32) -> usize {
        self.sets.len() + 1 + slot as usize
    }

    /// When what the file itself says about a slot changed last.
    fn slot_changed(&mut self, slot: u32) -> &mut u32 {
        let input = self.slot_input(slot);
        &mut self.changed[input]
    }

    /// When what decorators make changed last.
    fn decorated_at(&mut self) -> &mut u32 {
        &mut self.changed[self.sets.len()]
    }

    fn number(&mut self, key: Key) -> u32 {
        let slots = &self.slots;
        if let Some(&number) = self.numbers.find(key.0, |&number| slots[number as usize].key == key) {
            return number;
        }
        let next = slots.len() as u32;
        self.numbers
            .insert_unique(key.0, next, |&number| slots[number as usize].key.0);
        self.slots.push(Slot::new(key));
        self.changed.push(0);
        if self.pass == Pass::Followed {
            self.news.push(false);
        }
        next
    }

    /// Numbers all slots, of which none has a number yet.
    fn number_slots(&mut self) {
        let slots = &self.slots;
        let key_of = |number: &u32| slots[*number as usize].key.0;
        self.numbers.reserve(slots.len(), key_of);
        for (number, slot) in (0..).zip(slots) {
            self.numbers.insert_unique(slot.key.0, number, key_of);
        }
    }

    /// What the file contributes.
    pub(super) fn contributions(&self) -> Vec<(Key, &[Fact])> {
        let mut contributions = Vec::with_capacity(self.slots.len());
        let said = self.slots.iter().filter(|slot| slot.own != EMPTY);
        contributions.extend(said.map(|slot| (slot.key, self.pool.get(slot.own))));
        contributions
    }

    /// The keys that were read.
    pub(super) fn reads(&self) -> Vec<Key> {
        let mut keys = Vec::with_capacity(self.slots.len());
        let read = self.slots.iter().filter(|slot| slot.others != UNREAD);
        keys.extend(read.map(|slot| slot.key));
        keys
    }
}
