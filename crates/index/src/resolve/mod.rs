//! Resolution: from the facts of single files to edges between their definitions.
//!
//! # How it works
//!
//! 1. **Link** ([`linker`]). Every file's [`links::Links`] (names, members, parameters, imports) are gathered; imports find
//!    their modules, members their owners, classes their bases. No values yet: names, imports and members alone.
//! 2. **Rounds** ([`evaluate`]). An abstract evaluator gives each expression of a file a small set of
//!    [`value::Value`]s: functions, classes, instances, bound methods, modules, containers, externals. What leaves a file
//!    (results, fields, variables, arguments) is *contributed* under a [`words::Key`]; the next round of every other file
//!    reads it ([`tables`]). There are [`ROUNDS`] rounds, each reading only the round before, so the result is the same
//!    whatever the order, the thread count and the history; a file is evaluated again only if something that it read changed,
//!    and of such a file only the steps that looked at it ([`passes`]).
//! 3. **Emit** ([`emit`]). Each mention becomes edges to what its expression is worth, with the evidence that the value
//!    carries. What stays unknown stays unresolved.
//!
//! # Edits
//!
//! What a file reads is noted under [`words::Key`]s: what others contribute, and every lookup in the links ([`view`]). An edit
//! exchanges what the file adds to the links ([`relink`]), which says the keys that are answered differently now, and then
//! replays the rounds for those alone who read such a key. Definitions go by [`numbers`] that survive insertions, and files
//! by [`slots`] that survive files that come and go, so that what did not change also looks unchanged.
//!
//! # Adding a language
//!
//! 1. Write `languages/<name>.rs` with one `pub(super) const NAME: Policy = Policy { …, ..Policy::PLAIN }` and list it in
//!    [`languages::ALL`]. Each column of [`languages::Policy`] is documented there; most languages set a dozen.
//! 2. `register` says where a file stands. Call `registry.submodule(container, name, target)` for languages whose modules nest
//!    (Python, Rust), `registry.package(file, package)` for languages whose files share one namespace (Go, Java, C#, PHP,
//!    Kotlin). Containers and packages are any [`words::Word`]; `registry.directory(path)` makes one from a directory.
//! 3. `module` turns the text of an import into a [`links::ModuleTarget`]: a file, a package, a definition, or
//!    `External(modules.external(site, name))`. Never answer a same-named local for something external.
//! 4. Test it with caret fixtures in `tests/resolution/<name>.rs` (see `tests/resolution/python.rs`): a missing edge and an extra
//!    edge both fail.
//! 5. Measure with `lacon bench accuracy DIR --language <name>`.

mod argument_types;
mod bases;
mod bindings;
mod builtins;
mod calls;
mod containers;
mod emit;
pub mod evaluate;
mod extensions;
mod fits;
pub mod languages;
mod linkage;
pub mod linker;
pub mod links;
mod members;
mod merged;
pub mod modules;
mod names;
mod numbers;
mod overloads;
mod passes;
mod publish;
mod relink;
mod satisfaction;
mod scopes;
mod slots;
mod stars;
mod static_values;
mod steps;
pub mod tables;
mod type_names;
pub mod value;
pub mod view;
pub mod words;

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use crate::model::{FileId, ResolvedFile};
use crate::packages::Packages;
use crate::tree::{Change, Keep, Resolve, Tree};
use evaluate::{Evaluation, Left};
use linker::Linker;
use slots::{Slots, SlottedTree};
use smallvec::SmallVec;
use syntax::FileFacts;
use tables::{Contributions, Felt, Round};
use value::Fact;
use view::{Notes, View};
use words::{Identity, Key, WordMap};

pub(crate) use numbers::keep_order;

/// How many rounds values have to travel between files.
pub const ROUNDS: usize = 3;

/// Up to this many files, edges found early are kept until it is sure that they are final.
const MAX_KEPT: usize = 20_000;

/// How much memory may hold what evaluations leave for the next round.
const SHELF_BYTES: i64 = 96 << 20;

pub(crate) type Keys = HashSet<Key, BuildHasherDefault<Identity>>;

/// Keys about which something else is said now, each with the one file that says so, or [`MANY`].
type Changed = WordMap<Key, u32>;

/// Not one file alone.
const MANY: u32 = u32::MAX;

/// Resolution of one tree, with what is needed to follow its edits.
#[derive(Default)]
pub struct Resolver {
    state: Option<(Slots, State)>,
    /// What the last resolution took.
    steps: u64,
}

/// Everything that the last resolution said. Replaying an edit round by round against it gives, by construction, what
/// resolving from nothing would.
struct State {
    packages: Packages,
    linker: Linker,
    /// After each round, what each file had said by then.
    rounds: Vec<History>,
    /// What each file had read when its edges were found.
    read: Vec<Arc<[Key]>>,
}

struct History {
    said: Vec<Arc<Said>>,
    round: Round,
}

/// What one file said in a round, and what it had read to say it.
struct Said {
    contributions: Arc<Contributions>,
    /// Sorted where edits are followed.
    reads: Arc<[Key]>,
}

impl Resolver {
    /// A resolver that has seen nothing.
    pub fn new() -> Resolver {
        Resolver::default()
    }
}

impl Resolve for Resolver {
    fn resolve(&mut self, tree: &dyn Tree, keep: Keep, sink: &(dyn Fn(FileId, ResolvedFile) + Sync)) {
        self.state = None;
        if keep == Keep::Nothing {
            self.steps = resolve_all(tree, keep, sink).1;
            return;
        }
        let slots = Slots::spread(tree.file_count());
        let (state, steps) = resolve_all(&SlottedTree::new(tree, &slots), keep, &by_rank(&slots, sink));
        self.steps = steps;
        self.state = state.map(|state| (slots, state));
    }

    fn follows(&self) -> bool {
        self.state.is_some()
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn update(&mut self, tree: &dyn Tree, change: &Change, sink: &(dyn Fn(FileId, ResolvedFile) + Sync)) {
        if !self.try_update(tree, change, sink) {
            self.resolve(tree, Keep::ForUpdates, sink);
        }
    }
}

impl Resolver {
    /// Follows a change if what is kept is enough for it. Otherwise nothing of use is kept any more.
    fn try_update(&mut self, tree: &dyn Tree, change: &Change, sink: &(dyn Fn(FileId, ResolvedFile) + Sync)) -> bool {
        let Some((slots, mut state)) = self.state.take().filter(|_| !change.manifests) else {
            return false;
        };
        let Some((slots, mut change)) = slots.follow(change, tree.file_count()) else {
            return false;
        };
        let slotted = SlottedTree::new(tree, &slots);
        let Some(relinked) = state.linker.update(&slotted, &state.packages, &mut change) else {
            return false;
        };
        let before = state.linker.steps.get();
        state.replay(&slotted, &change, relinked, &by_rank(&slots, sink));
        self.steps = state.linker.steps.get() - before;
        self.state = Some((slots, state));
        true
    }
}

/// A sink of slots that hands on to a sink of files.
fn by_rank<'a>(
    slots: &'a Slots,
    sink: &'a (dyn Fn(FileId, ResolvedFile) + Sync),
) -> impl Fn(FileId, ResolvedFile) + Sync + 'a {
    move |slot, resolved| {
        if let Some((file, resolved)) = slots.told(slot, resolved) {
            sink(file, resolved);
        }
    }
}

/// Resolves every file; returns what updates need, if they are to come, and how many steps it took.
fn resolve_all(tree: &dyn Tree, keep: Keep, sink: &(dyn Fn(FileId, ResolvedFile) + Sync)) -> (Option<State>, u64) {
    let packages = Packages::read(tree.manifests());
    let follows = keep == Keep::ForUpdates;
    let linker = Linker::new(tree, &packages, follows);
    let files = tree.file_count();
    let is_file: Vec<bool> = (0..files).map(|file| linker.is_file(file as u32)).collect();
    let known = is_file.iter().filter(|is_file| **is_file).count();
    let nothing: Arc<[Key]> = Arc::new([]);
    let mut kept: Vec<Option<ResolvedFile>> = vec![None; files];
    let mut rounds: Vec<History> = Vec::new();
    let mut before = History::silent(files);
    let mut changed: Option<Changed> = None;
    // Where edits are followed, every round must note on its own what it looked at.
    let shelf = Shelf::new(if follows { 0 } else { files }, SHELF_BYTES);
    for number in 0..ROUNDS {
        let keep_edges = number > 0 && known <= MAX_KEPT;
        let sought = changed.as_ref().map(Sought::new);
        let done = AtomicUsize::new(0);
        let next: Vec<Option<(Said, Option<ResolvedFile>)>> = (0..files)
            .into_par_iter()
            .map(|file| {
                if is_file[file] {
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    if done.is_multiple_of(64) {
                        tree.hear(number, done);
                    }
                }
                let affected = is_file[file]
                    && sought
                        .as_ref()
                        .is_none_or(|sought| sought.is_in_any_order(&before.said[file].reads, file as u32));
                affected.then(|| {
                    say(
                        tree,
                        &linker,
                        &before.round,
                        file as u32,
                        keep_edges,
                        sought.as_ref(),
                        &shelf,
                    )
                })
            })
            .collect();
        let old = follows.then(|| before.clone());
        let mut keys = Changed::default();
        for (file, next) in next.into_iter().enumerate() {
            if let Some((said, edges)) = next {
                kept[file] = edges;
                before.replace(file as u32, Arc::new(said), &mut keys);
            }
        }
        changed = Some(keys);
        rounds.extend(old);
    }
    let last = &before;
    let changed = changed.unwrap_or_default();
    let sought = Sought::new(&changed);
    let read: Vec<Arc<[Key]>> = kept
        .into_par_iter()
        .enumerate()
        .map(|(file, edges)| {
            if !is_file[file] {
                return nothing.clone();
            }
            let said = &last.said[file];
            let (edges, reads) = if sought.is_in_any_order(&said.reads, file as u32) {
                emit(tree, &linker, &last.round, file as u32, Some(&sought), &shelf)
            } else {
                let edges = edges.or_else(|| emit_settled(tree, &linker, &last.round, file as u32, &shelf));
                match edges {
                    Some(edges) => (edges, said.reads.clone()),
                    None => emit(tree, &linker, &last.round, file as u32, Some(&sought), &shelf),
                }
            };
            sink(FileId(file as u32), edges);
            reads
        })
        .collect();
    let steps = linker.steps.get();
    let state = follows.then(|| {
        rounds.push(before);
        State {
            packages,
            linker,
            rounds,
            read,
        }
    });
    (state, steps)
}

impl State {
    /// Evaluates again, round by round, whoever reads something on which the new and the old history differ.
    fn replay(
        &mut self,
        tree: &dyn Tree,
        change: &Change,
        relinked: Keys,
        sink: &(dyn Fn(FileId, ResolvedFile) + Sync),
    ) {
        let modified: HashSet<u32> = change.modified.iter().map(|file| file.0).collect();
        let count = tree.file_count() as u32;
        let is_known = |file: u32, alone: &[u32]| modified.contains(&file) || alone.binary_search(&file).is_ok();
        let shelf = Shelf::new(tree.file_count(), SHELF_BYTES);
        let relinked = by_nobody(&relinked);
        // Keys on which the histories differ after the round before.
        let mut diverged = relinked.clone();
        // Those who feel a difference that is none to all others, sorted.
        let mut alone: Vec<u32> = Vec::new();
        for number in 1..=ROUNDS {
            let (done, rest) = self.rounds.split_at_mut(number);
            let (before, after) = (&done[number - 1], &mut rest[0]);
            let sought = Sought::new(&diverged);
            let reads = |file: u32| &after.said[file as usize].reads;
            let files: Vec<u32> = (0..count)
                .into_par_iter()
                .filter(|&file| is_known(file, &alone) || sought.is_in(reads(file), file))
                .collect();
            let said: Vec<Said> = files
                .par_iter()
                .map(|&file| say(tree, &self.linker, &before.round, file, false, None, &shelf).0)
                .collect();
            diverged.clone_from(&relinked);
            alone = after.exchange(&files, said, &mut diverged);
        }
        let last = &self.rounds[ROUNDS];
        let sought = Sought::new(&diverged);
        let files: Vec<u32> = (0..count)
            .into_par_iter()
            .filter(|&file| is_known(file, &alone) || sought.is_in(&self.read[file as usize], file))
            .collect();
        let read: Vec<Arc<[Key]>> = files
            .par_iter()
            .map(|&file| {
                let (edges, reads) = emit(tree, &self.linker, &last.round, file, None, &shelf);
                sink(FileId(file), edges);
                reads
            })
            .collect();
        for (&file, read) in files.iter().zip(read) {
            self.read[file as usize] = read;
        }
    }
}

fn add_changed(changed: &mut Changed, key: Key, file: u32) {
    let by = changed.entry(key).or_insert(file);
    if *by != file {
        *by = MANY;
    }
}

/// Keys that are looked for among what every file has read. A small table of bits that fits into the nearest memory says of
/// nearly all others at once that they are none of them.
struct Sought<'a> {
    keys: &'a Changed,
    sieve: Box<[u64]>,
}

impl<'a> Sought<'a> {
    /// Bits of the sieve for one key.
    const BITS: usize = 16;
    /// Least and most words of it.
    const WORDS: (usize, usize) = (16, 1 << 15);

    fn new(keys: &'a Changed) -> Sought<'a> {
        let words = (keys.len() * Self::BITS / 64)
            .next_power_of_two()
            .clamp(Self::WORDS.0, Self::WORDS.1);
        let mut sieve = vec![0; words].into_boxed_slice();
        // In which order bits are set cannot be seen.
        keys.keys().for_each(|key| {
            let (word, bit) = Self::place(*key, words);
            sieve[word] |= bit;
        });
        Sought { keys, sieve }
    }

    /// Keys are hashes, so any bits of them will do.
    fn place(key: Key, words: usize) -> (usize, u64) {
        ((key.0 >> 6) as usize & (words - 1), 1 << (key.0 & 63))
    }

    /// Whether one of the sorted `reads` of `reader` is said differently by others: what a file says itself it knows anyway.
    fn is_in(&self, reads: &[Key], reader: u32) -> bool {
        if self.keys.len() < reads.len() / 64 {
            let mut keys = self.keys.iter();
            return keys.any(|(key, &by)| by != reader && reads.binary_search(key).is_ok());
        }
        self.is_in_any_order(reads, reader)
    }

    /// As [`Sought::is_in`], where nobody sorted the `reads`.
    fn is_in_any_order(&self, reads: &[Key], reader: u32) -> bool {
        !self.keys.is_empty() && reads.iter().any(|&key| self.is_by_others(key, reader))
    }

    /// Whether the key is said differently by others than `reader`.
    fn is_by_others(&self, key: Key, reader: u32) -> bool {
        let (word, bit) = Self::place(key, self.sieve.len());
        self.sieve[word] & bit != 0 && self.keys.get(&key).is_some_and(|&by| by != reader)
    }
}

/// Keys that someone is said to have changed, as if nobody in particular had.
fn by_nobody(keys: &Keys) -> Changed {
    keys.iter().map(|&key| (key, MANY)).collect()
}

impl Default for Said {
    fn default() -> Said {
        Said {
            contributions: Arc::default(),
            reads: Arc::new([]),
        }
    }
}

impl History {
    fn silent(files: usize) -> History {
        let nothing = Arc::new(Said::default());
        History {
            said: vec![nothing; files],
            round: Round::silent(files),
        }
    }

    fn clone(&self) -> History {
        History {
            said: self.said.clone(),
            round: self.round.clone(),
        }
    }

    /// Replaces what a file said, and adds the keys about which it says something else now.
    fn replace(&mut self, file: u32, said: Arc<Said>, changed: &mut Changed) {
        let before = &self.said[file as usize];
        said.contributions
            .difference(&before.contributions, |key| add_changed(changed, key, file));
        self.put(file, said);
    }

    /// Replaces what the sorted `files` said, and adds the keys about which something else is known now. Returns the files, sorted,
    /// that know something else about further keys because the others have it from them alone.
    fn exchange(&mut self, files: &[u32], said: Vec<Said>, changed: &mut Changed) -> Vec<u32> {
        // By key, the files that say something else about it, by their position.
        let mut keys: Vec<(Key, u32)> = Vec::new();
        for (at, (&file, now)) in (0..).zip(files.iter().zip(&said)) {
            let before = &self.said[file as usize].contributions;
            now.contributions.difference(before, |key| keys.push((key, at)));
        }
        keys.sort_unstable();
        let by_key: Vec<&[(Key, u32)]> = keys.chunk_by(|one, next| one.0 == next.0).collect();
        let felt: Vec<Felt> = by_key
            .par_iter()
            .map(|by| {
                let now = |&(key, at): &(Key, u32)| (files[at as usize], said[at as usize].contributions.get(key));
                let changed: SmallVec<[(u32, &[Fact]); 2]> = by.iter().map(now).collect();
                self.round.felt_by(by[0].0, &changed)
            })
            .collect();
        let mut alone = Vec::new();
        for (by, felt) in by_key.into_iter().zip(felt) {
            match felt {
                Felt::All => by
                    .iter()
                    .for_each(|&(key, at)| add_changed(changed, key, files[at as usize])),
                Felt::Alone(few) => alone.extend(few),
            }
        }
        for (&file, said) in files.iter().zip(said) {
            self.put(file, Arc::new(said));
        }
        alone.sort_unstable();
        alone.dedup();
        alone
    }

    fn put(&mut self, file: u32, said: Arc<Said>) {
        let before = &self.said[file as usize];
        self.round
            .contributors
            .replace(file, &before.contributions, &said.contributions);
        self.round.contributions[file as usize] = said.contributions.clone();
        self.said[file as usize] = said;
    }
}

/// What evaluations leave for the next round, as far as there is room: starting from it is cheaper and gives the same.
struct Shelf {
    left: Vec<Mutex<Option<Box<Left>>>>,
    room: AtomicI64,
}

impl Shelf {
    fn new(files: usize, room: i64) -> Shelf {
        Shelf {
            left: (0..files).map(|_| Mutex::default()).collect(),
            room: AtomicI64::new(room),
        }
    }

    fn take(&self, file: u32) -> Option<Box<Left>> {
        let place = self.left.get(file as usize)?;
        let left = place.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        self.room.fetch_add(left.size() as i64, Ordering::Relaxed);
        Some(left)
    }

    /// As [`Shelf::take`], if what is there can be asked as it is.
    fn take_settled(&self, file: u32) -> Option<Box<Left>> {
        let mut place = self
            .left
            .get(file as usize)?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let left = place.take_if(|left| left.is_settled())?;
        self.room.fetch_add(left.size() as i64, Ordering::Relaxed);
        Some(left)
    }

    fn has_room(&self, file: u32, evaluation: &Evaluation<'_>) -> bool {
        (file as usize) < self.left.len() && self.room.load(Ordering::Relaxed) >= evaluation.size() as i64
    }

    fn put(&self, file: u32, left: Left) {
        self.room.fetch_sub(left.size() as i64, Ordering::Relaxed);
        if let Some(place) = self.left.get(file as usize) {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(left));
        }
    }
}

/// Evaluates a file against the round before; `keep` asks for its edges as well, unless the evaluation is left for the next
/// round. What was left by an earlier one is gone through again: where `changed` says what others said since, for that alone.
fn say(
    tree: &dyn Tree,
    linker: &Linker,
    round: &Round,
    file: u32,
    keep: bool,
    changed: Option<&Sought<'_>>,
    shelf: &Shelf,
) -> (Said, Option<ResolvedFile>) {
    let facts = tree.facts(FileId(file));
    let notes = Notes::default();
    let left = shelf.take(file);
    let before = left.as_ref().map(|left| left.reads.clone());
    let mut evaluation = evaluate(linker.view(&notes), round, file, &facts, left, changed);
    let stays = shelf.has_room(file, &evaluation);
    let edges = (keep && !stays).then(|| emit::edges(&mut evaluation));
    let contributions = Arc::new(evaluation.contributions());
    let reads = evaluation.reads();
    let left = match stays {
        true => Some(evaluation.leave()),
        false => {
            evaluation.retire();
            None
        }
    };
    let reads = all_reads(linker, notes, before, reads);
    if let Some(mut left) = left {
        left.reads = reads.clone();
        shelf.put(file, left);
    }
    linker.steps.add();
    let said = Said { contributions, reads };
    (said, edges)
}

fn emit(
    tree: &dyn Tree,
    linker: &Linker,
    round: &Round,
    file: u32,
    changed: Option<&Sought<'_>>,
    shelf: &Shelf,
) -> (ResolvedFile, Arc<[Key]>) {
    let facts = tree.facts(FileId(file));
    let notes = Notes::default();
    let left = shelf.take(file);
    let before = left.as_ref().map(|left| left.reads.clone());
    let mut evaluation = evaluate(linker.view(&notes), round, file, &facts, left, changed);
    let edges = emit::edges(&mut evaluation);
    let reads = evaluation.reads();
    evaluation.retire();
    linker.steps.add();
    (edges, all_reads(linker, notes, before, reads))
}

/// The edges of a file about which nobody has said anything new since it was evaluated, if that evaluation is on the shelf.
fn emit_settled(tree: &dyn Tree, linker: &Linker, round: &Round, file: u32, shelf: &Shelf) -> Option<ResolvedFile> {
    let left = shelf.take_settled(file)?;
    let facts = tree.facts(FileId(file));
    let notes = Notes::default();
    let mut evaluation = Evaluation::settled(linker.view(&notes), round, file, &facts, *left);
    Some(emit::edges(&mut evaluation))
}

fn evaluate<'a>(
    view: View<'a>,
    round: &'a Round,
    file: u32,
    facts: &'a FileFacts,
    left: Option<Box<Left>>,
    changed: Option<&Sought<'_>>,
) -> Evaluation<'a> {
    match left {
        Some(left) => Evaluation::resume(view, round, file, facts, *left, changed),
        None => Evaluation::new(view, round, file, facts),
    }
}

/// What an evaluation looked at, sorted where edits are followed. One that was resumed repeats only some of its steps, so what it had looked at before
/// counts as well: that may be more than needed, which costs time after an edit and never changes a result.
fn all_reads(linker: &Linker, notes: Notes, before: Option<Arc<[Key]>>, reads: Vec<Key>) -> Arc<[Key]> {
    match before {
        _ if !linker.follows => reads.into(),
        Some(before) => notes.into_keys(reads.into_iter().chain(before.iter().copied())).into(),
        None => notes.into_keys(reads).into(),
    }
}
