//! What compilers have said about the graph: mentions they confirmed, corrected or added, kept beside the index.
//!
//! The one trick is what each fact is tied to. A mention holds while the file it stands in and the file it points to are the
//! same, byte for byte. That something is *not* mentioned holds only while nothing at all has changed. So facts survive restarts
//! and edits elsewhere, and one whose inputs changed is as if it had never been said.

mod answers;
mod edges;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use index::snapshot::{EdgeKinds, EdgeView, Snapshot, SymbolId};
use lsp::{Place, Texts};

use self::answers::{Answer, InFile, Spot, State, short, tree};
use crate::traverse::Direction;

/// What compilers said of one tree.
#[derive(Default)]
pub struct Confirmed {
    /// Where it is kept; in memory only where `None`.
    path: Option<PathBuf>,
    state: RwLock<State>,
}

/// Where the facts lie in an index directory.
const FILE: &str = "compiler.jsonl";
/// Most answers that are kept.
const MAX_ANSWERS: usize = 100_000;

impl Confirmed {
    /// Reads what is kept in an index directory. Lines that do not read are left out.
    pub fn open(directory: &Path) -> Confirmed {
        let path = directory.join(FILE);
        Confirmed {
            state: RwLock::new(State::read(&path)),
            path: Some(path),
        }
    }

    /// Whether a server has listed the mentions of the definition at a place, of the tree as it is.
    pub(crate) fn knows(&self, snapshot: &Snapshot, (path, place): (&str, Place)) -> bool {
        let spot = Spot {
            path: path.to_string(),
            line: place.line,
            column: place.column,
        };
        self.read(|state| {
            let answer = state.answer(snapshot, &spot);
            answer.is_some_and(|answer| answer.mentions.is_some() && answer.tree == tree(snapshot))
        })
    }

    /// How many facts there are that still hold: mentions, and implementers.
    pub fn holding(&self, snapshot: &Snapshot) -> (u64, u64) {
        self.read(|state| {
            let mut holding = (0, 0);
            let same = |path: &str, hash: u64| snapshot.find_file(path).is_some_and(|file| short(file) == hash);
            for answer in state
                .answers
                .values()
                .filter(|answer| same(&answer.of.path, answer.hash))
            {
                let files = answer.mentions.iter().flatten();
                let mentions = files.filter(|(path, in_file)| same(path, in_file.hash));
                holding.0 += mentions.map(|(_, in_file)| in_file.at.len() as u64).sum::<u64>();
                let implementers = answer.implementers.iter().flatten();
                holding.1 += implementers.filter(|(spot, hash)| same(&spot.path, *hash)).count() as u64;
            }
            holding
        })
    }

    /// How many definitions were asked about.
    pub fn len(&self) -> usize {
        self.read(|state| state.answers.len())
    }

    /// Whether nothing was ever said.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps a server's complete list of mentions of the definition at a place. Paths are inside of the tree.
    pub(crate) fn learn_mentions(
        &self,
        root: &Path,
        snapshot: &Snapshot,
        (path, place): (&str, Place),
        mentions: &BTreeMap<String, Vec<Place>>,
    ) {
        let Some(mut answer) = Answer::begin(snapshot, path, place) else {
            return;
        };
        let mut texts = Texts::default();
        let mut files = BTreeMap::new();
        for (path, places) in mentions {
            let Some(file) = snapshot.find_file(path) else { continue };
            let text = texts.of(&root.join(path));
            let is_called = |place: &Place| {
                let rest = text.line(place.line).get(place.column as usize..).unwrap_or_default();
                let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
                rest[end.unwrap_or(rest.len())..].trim_start().starts_with('(')
            };
            let at: Vec<(u32, u32, bool)> = places
                .iter()
                .filter(|place| {
                    (path.as_str(), place.line, place.column)
                        != (answer.of.path.as_str(), answer.of.line, answer.of.column)
                })
                .map(|place| (place.line, place.column, is_called(place)))
                .collect();
            if !at.is_empty() {
                files.insert(path.clone(), InFile { hash: short(file), at });
            }
        }
        answer.mentions = Some(files);
        self.keep(answer);
    }

    /// Keeps what a server says implements or overrides the definition at a place.
    pub(crate) fn learn_implementers(
        &self,
        snapshot: &Snapshot,
        (path, place): (&str, Place),
        implementers: &[(String, Place)],
    ) {
        let Some(mut answer) = Answer::begin(snapshot, path, place) else {
            return;
        };
        let known = implementers.iter().filter_map(|(path, place)| {
            let file = snapshot.find_file(path)?;
            let spot = Spot {
                path: path.clone(),
                line: place.line,
                column: place.column,
            };
            Some((spot, short(file)))
        });
        answer.implementers = Some(known.filter(|(spot, _)| *spot != answer.of).collect());
        self.keep(answer);
    }

    /// The edges of a symbol in one direction, as the graph has them and compilers know better.
    pub(crate) fn edges(
        &self,
        snapshot: &Snapshot,
        symbol: SymbolId,
        direction: Direction,
        kinds: EdgeKinds,
    ) -> Vec<EdgeView> {
        let all: Vec<EdgeView> = match direction {
            Direction::Incoming => snapshot.incoming(symbol, EdgeKinds::ALL).collect(),
            Direction::Outgoing => snapshot.outgoing(symbol, EdgeKinds::ALL).collect(),
        };
        let mut edges = self.read(|state| match direction {
            Direction::Incoming => state.incoming(snapshot, symbol, all),
            Direction::Outgoing => state.outgoing(snapshot, symbol, all),
        });
        edges.retain(|edge| kinds.contains(edge.kind));
        edges
    }

    fn keep(&self, answer: Answer) {
        let line = answer.line().unwrap_or_default();
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.answers.len() >= MAX_ANSWERS || !state.keep(answer) {
            return;
        }
        drop(state);
        if let Some(path) = &self.path {
            // Kept for the next start; without a place to write, this one still knows.
            let mut options = std::fs::OpenOptions::new();
            let file = index::store::no_follow(options.create(true).append(true)).open(path);
            let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
        }
    }

    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests;
