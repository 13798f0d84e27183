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
//!    whatever the order, the thread count and the history; a file is evaluated again only if something that it read changed.
//! 3. **Emit** ([`emit`]). Each mention becomes edges to what its expression is worth, with the evidence that the value
//!    carries. What stays unknown stays unresolved.
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
//! 4. Test it with caret fixtures in `tests/resolve_<name>.rs` (see `tests/resolve_python.rs`): a missing edge and an extra
//!    edge both fail.
//! 5. Measure with `lacon bench accuracy DIR --language <name>`.

mod bases;
mod bindings;
mod builtins;
mod calls;
mod containers;
mod emit;
pub mod evaluate;
pub mod languages;
mod linkage;
pub mod linker;
pub mod links;
mod members;
pub mod modules;
mod names;
mod overloads;
mod publish;
mod satisfaction;
mod static_values;
pub mod tables;
pub mod value;
pub mod words;

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use rayon::prelude::*;

use crate::model::{FileId, ResolvedFile};
use crate::packages::Packages;
use crate::tree::{Change, Resolve, Tree};
use evaluate::Evaluation;
use linker::Linker;
use tables::{Contributions, Round};
use words::{Identity, Key};

/// How many rounds values have to travel between files.
pub const ROUNDS: usize = 3;

/// Up to this many files, edges found early are kept until it is sure that they are final.
const MAX_KEPT: usize = 20_000;

type Keys = HashSet<Key, BuildHasherDefault<Identity>>;

/// Resolution of one tree, with what is needed to follow its edits.
#[derive(Default)]
pub struct Resolver {
    state: Option<State>,
}

/// Everything that the last resolution said. Replaying an edit round by round against it gives, by construction, what
/// resolving from nothing would.
struct State {
    linker: Linker,
    /// After each round, what each file had said by then.
    rounds: Vec<History>,
}

struct History {
    said: Vec<Arc<Said>>,
    round: Round,
}

/// What one file said in a round, and what it had read to say it.
#[derive(Default)]
struct Said {
    contributions: Arc<Contributions>,
    reads: Vec<Key>,
}

impl Resolver {
    /// A resolver that has seen nothing.
    pub fn new() -> Resolver {
        Resolver::default()
    }
}

impl Resolve for Resolver {
    fn resolve(&mut self, tree: &dyn Tree, sink: &(dyn Fn(FileId, ResolvedFile) + Sync)) {
        let packages = Packages::read(tree.manifests());
        let linker = Linker::new(tree, &packages);
        let files = tree.file_count();
        let mut kept: Vec<Option<ResolvedFile>> = vec![None; files];
        let mut rounds: Vec<History> = Vec::with_capacity(ROUNDS);
        let mut before = History::silent(files);
        let mut changed: Option<Keys> = None;
        for number in 0..ROUNDS {
            let keep = number > 0 && files <= MAX_KEPT;
            let next: Vec<Option<(Said, Option<ResolvedFile>)>> = (0..files)
                .into_par_iter()
                .map(|file| {
                    let affected = changed
                        .as_ref()
                        .is_none_or(|changed| before.said[file].has_read(changed));
                    affected.then(|| say(tree, &linker, &before.round, file as u32, keep))
                })
                .collect();
            let mut after = before.clone_for_next();
            for (file, next) in next.into_iter().enumerate() {
                if let Some((said, edges)) = next {
                    kept[file] = edges;
                    after.replace(file as u32, Arc::new(said));
                }
            }
            changed = Some(after.difference(&before));
            rounds.push(std::mem::replace(&mut before, after));
        }
        rounds.push(before);
        let last = &rounds[ROUNDS];
        let changed = changed.unwrap_or_default();
        kept.into_par_iter().enumerate().for_each(|(file, edges)| {
            let edges = edges.filter(|_| !last.said[file].has_read(&changed));
            sink(
                FileId(file as u32),
                edges.unwrap_or_else(|| emit(tree, &linker, &last.round, file as u32)),
            );
        });
        self.state = Some(State { linker, rounds });
    }

    fn update(&mut self, tree: &dyn Tree, change: &Change, sink: &(dyn Fn(FileId, ResolvedFile) + Sync)) {
        let renumbered = change.renumbered.is_some() || !change.added.is_empty() || !change.removed.is_empty();
        let state = match self.state.take() {
            Some(state) if !renumbered && !change.manifests && state.links_hold(tree, &change.modified) => state,
            _ => return self.resolve(tree, sink),
        };
        let State { linker, rounds: old } = state;
        let modified: HashSet<u32> = change.modified.iter().map(|file| file.0).collect();
        let files = tree.file_count();
        let mut rounds: Vec<History> = vec![History::silent(files)];
        // Keys on which the new and the old history differ after the round before.
        let mut diverged = Keys::default();
        for number in 1..=ROUNDS {
            let before = &rounds[number - 1];
            let progress = match number {
                1 => None,
                _ => Some(before.difference(&rounds[number - 2])),
            };
            let next: Vec<Option<Arc<Said>>> = (0..files)
                .into_par_iter()
                .map(|file| {
                    let known = &old[number].said[file];
                    let dirty = modified.contains(&(file as u32));
                    if !dirty && !known.has_read(&diverged) {
                        return Some(known.clone());
                    }
                    let moved = progress.as_ref().is_none_or(|keys| before.said[file].has_read(keys));
                    moved.then(|| Arc::new(say(tree, &linker, &before.round, file as u32, false).0))
                })
                .collect();
            let mut after = History {
                said: before.said.clone(),
                round: old[number].round.clone(),
            };
            for (file, next) in next.into_iter().enumerate() {
                let said = next.unwrap_or_else(|| before.said[file].clone());
                after.said[file] = old[number].said[file].clone();
                after.replace(file as u32, said);
            }
            diverged = after.difference(&old[number]);
            rounds.push(after);
        }
        let last = &rounds[ROUNDS];
        (0..files as u32).into_par_iter().for_each(|file| {
            if modified.contains(&file) || last.said[file as usize].has_read(&diverged) {
                sink(FileId(file), emit(tree, &linker, &last.round, file));
            }
        });
        self.state = Some(State { linker, rounds });
    }
}

impl State {
    /// Whether the modified files still tell other files the same: then links, bases and ancestries hold for all.
    fn links_hold(&self, tree: &dyn Tree, modified: &[FileId]) -> bool {
        modified.par_iter().all(|&file| self.linker.links_hold(tree, file))
    }
}

impl Said {
    fn has_read(&self, keys: &Keys) -> bool {
        !keys.is_empty() && self.reads.iter().any(|key| keys.contains(key))
    }
}

impl History {
    fn silent(files: usize) -> History {
        History {
            said: (0..files).map(|_| Arc::default()).collect(),
            round: Round::silent(files),
        }
    }

    fn clone_for_next(&self) -> History {
        History {
            said: self.said.clone(),
            round: self.round.clone(),
        }
    }

    fn replace(&mut self, file: u32, said: Arc<Said>) {
        let before = &self.said[file as usize];
        if Arc::ptr_eq(before, &said) {
            return;
        }
        self.round
            .contributors
            .replace(file, &before.contributions, &said.contributions);
        self.round.contributions[file as usize] = said.contributions.clone();
        self.said[file as usize] = said;
    }

    /// The keys about which somebody says something else in the other round.
    fn difference(&self, other: &History) -> Keys {
        let mut keys = Keys::default();
        for (mine, theirs) in self.said.iter().zip(&other.said) {
            if !Arc::ptr_eq(mine, theirs) {
                mine.contributions.difference(&theirs.contributions, |key| {
                    keys.insert(key);
                });
            }
        }
        keys
    }
}

/// Evaluates a file against the round before; `keep` asks for its edges as well.
fn say(tree: &dyn Tree, linker: &Linker, round: &Round, file: u32, keep: bool) -> (Said, Option<ResolvedFile>) {
    let facts = tree.facts(FileId(file));
    let mut evaluation = Evaluation::new(linker, round, file, &facts);
    let edges = keep.then(|| emit::edges(&mut evaluation));
    let (contributions, reads) = evaluation.finish();
    let contributions = Arc::new(Contributions::new(contributions));
    (Said { contributions, reads }, edges)
}

fn emit(tree: &dyn Tree, linker: &Linker, round: &Round, file: u32) -> ResolvedFile {
    let facts = tree.facts(FileId(file));
    emit::edges(&mut Evaluation::new(linker, round, file, &facts))
}
