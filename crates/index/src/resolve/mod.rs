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

mod bindings;
mod calls;
mod emit;
pub mod evaluate;
pub mod languages;
pub mod linker;
pub mod links;
mod members;
pub mod modules;
mod satisfaction;
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

type Keys = HashSet<Key, BuildHasherDefault<Identity>>;

/// Resolution of one tree. Keeps nothing between calls yet beyond what makes the next one cheaper.
#[derive(Default)]
pub struct Resolver {}

impl Resolver {
    /// A resolver that has seen nothing.
    pub fn new() -> Resolver {
        Resolver::default()
    }
}

/// What one file said in a round, and what it had read to say it.
struct Said {
    contributions: Arc<Contributions>,
    reads: Vec<Key>,
}

impl Resolve for Resolver {
    fn resolve(&mut self, tree: &dyn Tree, sink: &(dyn Fn(FileId, ResolvedFile) + Sync)) {
        let packages = Packages::read(tree.manifests());
        let linker = Linker::new(tree, &packages, |_| None);
        let files = tree.file_count();
        let mut round = Round::silent(files);
        let mut said: Vec<Said> = (0..files)
            .map(|_| Said {
                contributions: Arc::default(),
                reads: Vec::new(),
            })
            .collect();
        let mut changed: Option<Keys> = None;
        for _ in 0..ROUNDS {
            let next: Vec<Option<Said>> = (0..files)
                .into_par_iter()
                .map(|file| {
                    let affected = match &changed {
                        None => true,
                        Some(changed) => said[file].reads.iter().any(|key| changed.contains(key)),
                    };
                    affected.then(|| say(tree, &linker, &round, file as u32))
                })
                .collect();
            let mut keys = Keys::default();
            for (file, next) in next.into_iter().enumerate() {
                let Some(next) = next else {
                    continue;
                };
                next.contributions.difference(&said[file].contributions, |key| {
                    keys.insert(key);
                });
                round
                    .contributors
                    .replace(file as u32, &said[file].contributions, &next.contributions);
                round.contributions[file] = next.contributions.clone();
                said[file] = next;
            }
            if keys.is_empty() {
                break;
            }
            changed = Some(keys);
        }
        drop(said);
        (0..files).into_par_iter().for_each(|file| {
            let facts = tree.facts(FileId(file as u32));
            let mut evaluation = Evaluation::new(&linker, &round, file as u32, &facts);
            sink(FileId(file as u32), emit::edges(&mut evaluation));
        });
    }

    fn update(&mut self, tree: &dyn Tree, _change: &Change, sink: &(dyn Fn(FileId, ResolvedFile) + Sync)) {
        self.resolve(tree, sink);
    }
}

fn say(tree: &dyn Tree, linker: &Linker, round: &Round, file: u32) -> Said {
    let facts = tree.facts(FileId(file));
    let (contributions, reads) = Evaluation::new(linker, round, file, &facts).finish();
    Said {
        contributions: Arc::new(Contributions::new(contributions)),
        reads,
    }
}
