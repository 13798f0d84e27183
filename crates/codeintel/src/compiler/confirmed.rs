//! What compilers have said about the graph: mentions they confirmed, corrected or added, kept beside the index.
//!
//! The one trick is what each fact is tied to. A mention holds while the file it stands in and the file it points to are the
//! same, byte for byte. That something is *not* mentioned holds only while nothing at all has changed. So facts survive restarts
//! and edits elsewhere, and one whose inputs changed is as if it had never been said.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use index::model::{EdgeKind, Origin};
use index::snapshot::{EdgeEnd, EdgeKinds, EdgeView, FileView, Snapshot, SymbolId, SymbolView};
use lsp::{Place, Texts};
use serde::{Deserialize, Serialize};
use syntax::facts::Position;

use crate::traverse::Direction;

/// What compilers said of one tree.
#[derive(Default)]
pub struct Confirmed {
    /// Where it is kept; in memory only where `None`.
    path: Option<PathBuf>,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    /// By the place of the definition that was asked about.
    answers: BTreeMap<Spot, Answer>,
    /// Which definitions a file mentions.
    mentioned_by: HashMap<String, BTreeSet<Spot>>,
    /// Which definitions another implements, by the implementing one's place.
    implemented_by: HashMap<Spot, BTreeSet<Spot>>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Spot {
    path: String,
    line: u32,
    column: u32,
}

/// What a server said about one definition. One line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Answer {
    of: Spot,
    /// The file of the definition.
    hash: u64,
    /// The whole tree.
    tree: u64,
    /// Every mention, by file.
    #[serde(default)]
    mentions: Option<BTreeMap<String, InFile>>,
    /// What implements or overrides it, with the hash of each file.
    #[serde(default)]
    implementers: Option<Vec<(Spot, u64)>>,
}

/// Mentions in one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct InFile {
    hash: u64,
    /// Line, column in bytes, and whether it is called there.
    at: Vec<(u32, u32, bool)>,
}

/// Where the facts lie in an index directory.
const FILE: &str = "compiler.jsonl";
/// Most answers that are kept, and most of the file that is read.
const MAX_ANSWERS: usize = 100_000;
const MAX_FILE: u64 = 64 << 20;
/// Trust in what a compiler names as one of several receivers, in hundredths.
const DISPATCH: u8 = 90;

impl Confirmed {
    /// Reads what is kept in an index directory. Lines that do not read are left out.
    pub fn open(directory: &Path) -> Confirmed {
        let path = directory.join(FILE);
        let mut state = State::default();
        let mut lines = 0;
        if let Ok(file) = std::fs::File::open(&path) {
            let mut file = std::io::BufReader::new(file).take(MAX_FILE);
            let mut line = Vec::new();
            while file.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                lines += 1;
                if let Ok(answer) = serde_json::from_slice(&line) {
                    state.keep(answer);
                }
                line.clear();
            }
        }
        if lines > 2 * state.answers.len() + 1000 {
            // Most of it was said anew since; where it cannot be written, it stays as it is.
            let _ = state.write_anew(&path);
        }
        Confirmed {
            path: Some(path),
            state: RwLock::new(state),
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
        let Some(mut answer) = begin(snapshot, path, place) else {
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
        let Some(mut answer) = begin(snapshot, path, place) else {
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
        let line = serde_json::to_string(&answer).unwrap_or_default();
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.answers.len() >= MAX_ANSWERS || !state.keep(answer) {
            return;
        }
        drop(state);
        if let Some(path) = &self.path {
            // Kept for the next start; without a place to write, this one still knows.
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        }
    }

    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    /// Writes what is known beside the file and puts it in its place.
    fn write_anew(&self, path: &Path) -> std::io::Result<()> {
        let beside = path.with_extension("jsonl.new");
        let mut file = std::io::BufWriter::new(std::fs::File::create(&beside)?);
        for answer in self.answers.values() {
            serde_json::to_writer(&mut file, answer)?;
            file.write_all(b"\n")?;
        }
        file.into_inner()?.sync_all()?;
        std::fs::rename(&beside, path)
    }

    /// Keeps an answer, joined with what is known of the same definition. Says whether anything is new.
    fn keep(&mut self, mut answer: Answer) -> bool {
        let spot = answer.of.clone();
        if let Some(known) = self.answers.get(&spot)
            && known.hash == answer.hash
        {
            let same_tree = known.tree == answer.tree;
            answer.mentions = answer.mentions.or_else(|| known.mentions.clone().filter(|_| same_tree));
            answer.implementers = answer.implementers.or_else(|| known.implementers.clone());
            if *known == answer {
                return false;
            }
        }
        for path in answer.mentions.iter().flat_map(|files| files.keys()) {
            self.mentioned_by.entry(path.clone()).or_default().insert(spot.clone());
        }
        for (implementer, _) in answer.implementers.iter().flatten() {
            self.implemented_by
                .entry(implementer.clone())
                .or_default()
                .insert(spot.clone());
        }
        self.answers.insert(spot, answer);
        true
    }

    /// What was said about a definition, if its file is still the same.
    fn answer(&self, snapshot: &Snapshot, spot: &Spot) -> Option<&Answer> {
        let answer = self.answers.get(spot)?;
        (short(snapshot.find_file(&spot.path)?) == answer.hash).then_some(answer)
    }

    fn incoming(&self, snapshot: &Snapshot, symbol: SymbolId, edges: Vec<EdgeView>) -> Vec<EdgeView> {
        let Some(target) = snapshot.symbol(symbol) else {
            return edges;
        };
        let spot = spot_of(target);
        let answer = self.answer(snapshot, &spot);
        let mut kept = Vec::with_capacity(edges.len());
        let mut seen: BTreeSet<(String, u32, u32)> = BTreeSet::new();
        for edge in edges {
            if let Some(from) = snapshot.symbol(edge.from) {
                seen.insert((from.path().to_string(), edge.at.line, edge.at.column));
            }
            kept.extend(self.judged(snapshot, edge, &spot, answer));
        }
        let files = answer.and_then(|answer| answer.mentions.as_ref()).into_iter().flatten();
        for (path, in_file) in files {
            let Some(file) = snapshot.find_file(path).filter(|file| short(*file) == in_file.hash) else {
                continue;
            };
            for &(line, column, called) in &in_file.at {
                if seen.contains(&(path.clone(), line, column)) {
                    continue;
                }
                kept.extend(added(snapshot, file, symbol, (line, column, called)));
            }
        }
        for (implementer, hash) in answer.iter().flat_map(|answer| answer.implementers.iter().flatten()) {
            let same = snapshot
                .find_file(&implementer.path)
                .is_some_and(|file| short(file) == *hash);
            if let Some(from) = definition_at(snapshot, implementer).filter(|_| same) {
                relate(snapshot, &mut kept, from, symbol);
            }
        }
        kept
    }

    fn outgoing(&self, snapshot: &Snapshot, symbol: SymbolId, edges: Vec<EdgeView>) -> Vec<EdgeView> {
        let Some(source) = snapshot.symbol(symbol) else {
            return edges;
        };
        let Some(file) = source.file() else { return edges };
        let mut kept = Vec::with_capacity(edges.len());
        for edge in edges {
            let target = edge.to.symbol().and_then(|target| snapshot.symbol(target));
            match target.map(spot_of) {
                Some(spot) => kept.extend(self.judged(snapshot, edge, &spot, self.answer(snapshot, &spot))),
                None => kept.push(edge),
            }
        }
        for base in self.implemented_by.get(&spot_of(source)).into_iter().flatten() {
            let Some(answer) = self.answer(snapshot, base) else {
                continue;
            };
            let implementers = answer.implementers.iter().flatten();
            let named = implementers
                .into_iter()
                .any(|(spot, hash)| *spot == spot_of(source) && *hash == short(file));
            if let Some(target) = definition_at(snapshot, base).filter(|_| named) {
                relate(snapshot, &mut kept, symbol, target);
            }
        }
        // What compilers say this file mentions, where the graph has something else or nothing.
        for spot in self.mentioned_by.get(file.path()).into_iter().flatten() {
            let Some(answer) = self.answer(snapshot, spot) else {
                continue;
            };
            let in_file = answer.mentions.as_ref().and_then(|files| files.get(file.path()));
            let Some(in_file) = in_file.filter(|in_file| in_file.hash == short(file)) else {
                continue;
            };
            let Some(target) = definition_at(snapshot, spot) else {
                continue;
            };
            for &(line, column, called) in &in_file.at {
                let at = Position { line, column };
                let known = kept
                    .iter()
                    .any(|edge| edge.at == at && edge.to == EdgeEnd::Symbol(target));
                if known || snapshot.symbol_at(file.id(), line).map(|around| around.id()) != Some(symbol) {
                    continue;
                }
                kept.retain(|edge| edge.at != at || !is_use(edge.kind) || edge.origin <= Origin::LspDispatch);
                kept.extend(added(snapshot, file, target, (line, column, called)));
            }
        }
        kept
    }

    /// An edge to a definition: confirmed, left as it is, or gone where the compiler listed every mention and this is none.
    fn judged(&self, snapshot: &Snapshot, edge: EdgeView, spot: &Spot, answer: Option<&Answer>) -> Option<EdgeView> {
        let source = snapshot.symbol(edge.from)?;
        let file = source.file()?;
        if let Some(answer) = answer {
            let implementers = answer.implementers.iter().flatten();
            let names_it = |(implementer, hash): &(Spot, u64)| *implementer == spot_of(source) && *hash == short(file);
            let is_relation = matches!(
                edge.kind,
                EdgeKind::Overrides | EdgeKind::Implements | EdgeKind::Extends
            );
            if answer.says(file, edge.at) || is_relation && implementers.into_iter().any(names_it) {
                return Some(EdgeView {
                    origin: Origin::LspResolved,
                    confidence: 100,
                    ..edge
                });
            }
        }
        // A call through a base or an interface mentions that one; the compiler named this one as a receiver.
        for base in self.implemented_by.get(spot).into_iter().flatten() {
            if self
                .answer(snapshot, base)
                .is_some_and(|answer| answer.says(file, edge.at))
            {
                return Some(EdgeView {
                    origin: edge.origin.min(Origin::LspDispatch),
                    confidence: edge.confidence.max(DISPATCH),
                    ..edge
                });
            }
        }
        let listed = answer.is_some_and(|answer| answer.mentions.is_some() && answer.tree == tree(snapshot));
        let may_dispatch = edge.to.symbol().is_some_and(|target| {
            snapshot
                .outgoing(target, EdgeKind::Overrides | EdgeKind::Implements)
                .next()
                .is_some()
        });
        // Of a file in which no server ever mentioned anything, it may know nothing at all.
        let is_read = self.mentioned_by.contains_key(file.path());
        let refuted = listed && is_read && is_use(edge.kind) && edge.origin > Origin::LspDispatch && !may_dispatch;
        (!refuted).then_some(edge)
    }
}

impl Answer {
    /// Whether this place of a file is one of the mentions, and the file is still the same.
    fn says(&self, file: FileView<'_>, at: Position) -> bool {
        let in_file = self.mentions.as_ref().and_then(|files| files.get(file.path()));
        in_file.is_some_and(|in_file| {
            in_file.hash == short(file)
                && in_file
                    .at
                    .iter()
                    .any(|&(line, column, _)| (line, column) == (at.line, at.column))
        })
    }
}

fn begin(snapshot: &Snapshot, path: &str, place: Place) -> Option<Answer> {
    let file = snapshot.find_file(path)?;
    Some(Answer {
        of: Spot {
            path: path.to_string(),
            line: place.line,
            column: place.column,
        },
        hash: short(file),
        tree: tree(snapshot),
        mentions: None,
        implementers: None,
    })
}

fn added(
    snapshot: &Snapshot,
    file: FileView<'_>,
    target: SymbolId,
    (line, column, called): (u32, u32, bool),
) -> Option<EdgeView> {
    let from = snapshot.symbol_at(file.id(), line)?;
    Some(EdgeView {
        from: from.id(),
        to: EdgeEnd::Symbol(target),
        kind: if called { EdgeKind::Calls } else { EdgeKind::References },
        origin: Origin::LspResolved,
        confidence: 100,
        at: Position { line, column },
    })
}

/// Adds that one definition implements another, unless the graph has it.
fn relate(snapshot: &Snapshot, edges: &mut Vec<EdgeView>, from: SymbolId, to: SymbolId) {
    let known = |edge: &EdgeView| {
        let relates = matches!(
            edge.kind,
            EdgeKind::Overrides | EdgeKind::Implements | EdgeKind::Extends
        );
        relates && edge.from == from && edge.to == EdgeEnd::Symbol(to)
    };
    if from == to || edges.iter().any(known) {
        return;
    }
    let (Some(source), Some(target)) = (snapshot.symbol(from), snapshot.symbol(to)) else {
        return;
    };
    let kind = match (crate::kinds::kind(source), crate::kinds::kind(target)) {
        ("method" | "function", _) => EdgeKind::Overrides,
        (_, "interface") => EdgeKind::Implements,
        _ => EdgeKind::Extends,
    };
    edges.push(EdgeView {
        from,
        to: EdgeEnd::Symbol(to),
        kind,
        origin: Origin::LspResolved,
        confidence: 100,
        at: source.name_at(),
    });
}

fn definition_at(snapshot: &Snapshot, spot: &Spot) -> Option<SymbolId> {
    let at = Position {
        line: spot.line,
        column: spot.column,
    };
    let mut symbols = snapshot.find_file(&spot.path)?.symbols().skip(1);
    symbols.find(|symbol| symbol.name_at() == at).map(|symbol| symbol.id())
}

fn spot_of(symbol: SymbolView<'_>) -> Spot {
    let at = symbol.name_at();
    Spot {
        path: symbol.path().to_string(),
        line: at.line,
        column: at.column,
    }
}

/// The kinds of edges that are mentions.
fn is_use(kind: EdgeKind) -> bool {
    matches!(
        kind,
        EdgeKind::Calls | EdgeKind::Instantiates | EdgeKind::References | EdgeKind::Reads | EdgeKind::Writes
    )
}

fn short(file: FileView<'_>) -> u64 {
    first_bytes(file.hash())
}

fn tree(snapshot: &Snapshot) -> u64 {
    first_bytes(snapshot.tree_digest())
}

fn first_bytes(hash: &[u8; 32]) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use index::build::{Indexer, Options, open_snapshot};
    use index::model::{EdgeKind, Origin};
    use index::snapshot::{EdgeKinds, Snapshot};
    use lsp::Place;

    use super::Confirmed;
    use crate::traverse::Direction;

    const LIBRARY: &str = "class Base:\n    def run(self):\n        pass\n\n\nclass Child(Base):\n    def run(self):\n        pass\n\n\n\
                           def helper():\n    pass\n";
    const USER: &str = "from library import Base, helper\n\n\ndef first(base: Base):\n    base.run()\n\n\ndef second(thing):\n    \
                        helper()\n    thing.anything()\n";

    fn build(root: &Path) -> Snapshot {
        Indexer::open(root, Options::default()).unwrap().build().unwrap();
        open_snapshot(root, None).unwrap()
    }

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("library.py"), LIBRARY).unwrap();
        std::fs::write(folder.path().join("user.py"), USER).unwrap();
        folder
    }

    fn place(line: u32, column: u32) -> Place {
        Place { line, column }
    }

    /// Users of a symbol by name, with the origin of each edge that is a use.
    fn users(confirmed: &Confirmed, snapshot: &Snapshot, id: &str) -> Vec<(String, Origin)> {
        let symbol = snapshot.find(id).unwrap();
        let kinds = EdgeKinds::ALL.without(EdgeKind::Contains | EdgeKind::Imports | EdgeKind::Overrides);
        let edges = confirmed.edges(snapshot, symbol.id(), Direction::Incoming, kinds);
        let name = |from| snapshot.symbol(from).unwrap().qualified_name();
        let mut users: Vec<(String, Origin)> = edges.iter().map(|edge| (name(edge.from), edge.origin)).collect();
        users.sort();
        users
    }

    fn mentions(places: &[(u32, u32)]) -> BTreeMap<String, Vec<Place>> {
        let places = places.iter().map(|&(line, column)| place(line, column)).collect();
        BTreeMap::from([("user.py".to_string(), places)])
    }

    #[test]
    fn mentions_are_confirmed_added_and_refuted() {
        let folder = tree();
        let snapshot = build(folder.path());
        let confirmed = Confirmed::default();
        let helper = ("library.py", place(11, 4));
        let before = users(&confirmed, &snapshot, "library.py::helper");
        assert_eq!(before.len(), 1);
        assert!(before[0].1 > Origin::LspDispatch, "{before:?}");
        // The call of `thing.anything` is the compiler's to know.
        confirmed.learn_mentions(folder.path(), &snapshot, helper, &mentions(&[(9, 4), (10, 10)]));
        let after = users(&confirmed, &snapshot, "library.py::helper");
        assert_eq!(
            after,
            [
                ("second".to_string(), Origin::LspResolved),
                ("second".to_string(), Origin::LspResolved)
            ]
        );
        confirmed.learn_mentions(folder.path(), &snapshot, helper, &mentions(&[]));
        assert_eq!(
            users(&confirmed, &snapshot, "library.py::helper"),
            [],
            "the compiler lists all, and there is none"
        );
    }

    #[test]
    fn both_directions_agree() {
        let folder = tree();
        let snapshot = build(folder.path());
        let confirmed = Confirmed::default();
        confirmed.learn_mentions(
            folder.path(),
            &snapshot,
            ("library.py", place(11, 4)),
            &mentions(&[(9, 4), (10, 10)]),
        );
        let second = snapshot.find("user.py::second").unwrap();
        let helper = snapshot.find("library.py::helper").unwrap();
        let edges = confirmed.edges(&snapshot, second.id(), Direction::Outgoing, EdgeKind::Calls.into());
        let to_helper = edges.iter().filter(|edge| edge.to.symbol() == Some(helper.id()));
        assert!(to_helper.clone().all(|edge| edge.origin == Origin::LspResolved));
        assert_eq!(to_helper.count(), 2);
    }

    #[test]
    fn a_call_through_the_base_is_a_dispatch_to_what_the_compiler_names() {
        let folder = tree();
        let snapshot = build(folder.path());
        let confirmed = Confirmed::default();
        let base = ("library.py", place(2, 8));
        let before = users(&confirmed, &snapshot, "library.py::Child.run");
        confirmed.learn_mentions(folder.path(), &snapshot, base, &mentions(&[(5, 9)]));
        let implementers = [("library.py".to_string(), place(7, 8))];
        confirmed.learn_implementers(&snapshot, base, &implementers);
        assert_eq!(
            users(&confirmed, &snapshot, "library.py::Base.run"),
            [("first".to_string(), Origin::LspResolved)]
        );
        let after = users(&confirmed, &snapshot, "library.py::Child.run");
        assert_eq!(after.len(), before.len());
        assert!(
            after.iter().all(|(_, origin)| *origin == Origin::LspDispatch),
            "{before:?} {after:?}"
        );
    }

    #[test]
    fn facts_survive_a_restart_and_end_with_their_inputs() {
        let folder = tree();
        let snapshot = build(folder.path());
        let directory = folder.path().join(".lacon");
        let helper = ("library.py", place(11, 4));
        Confirmed::open(&directory).learn_mentions(folder.path(), &snapshot, helper, &mentions(&[(9, 4)]));
        let confirmed = Confirmed::open(&directory);
        let known = [("second".to_string(), Origin::LspResolved)];
        assert_eq!(users(&confirmed, &snapshot, "library.py::helper"), known);
        // An edit elsewhere changes nothing of it.
        std::fs::write(
            folder.path().join("other.py"),
            "from library import helper\n\n\ndef third():\n    helper()\n",
        )
        .unwrap();
        let snapshot = build(folder.path());
        let now = users(&confirmed, &snapshot, "library.py::helper");
        assert_eq!(now.len(), 2, "a new caller is no refuted one: {now:?}");
        assert!(now.contains(&known[0]));
        std::fs::write(folder.path().join("user.py"), USER.replace("def first", "def one")).unwrap();
        let snapshot = build(folder.path());
        let now = users(&confirmed, &snapshot, "library.py::helper");
        assert!(now.iter().all(|(_, origin)| *origin > Origin::LspDispatch), "{now:?}");
    }

    #[test]
    fn a_damaged_line_costs_itself_alone() {
        let folder = tree();
        let snapshot = build(folder.path());
        let directory = folder.path().join(".lacon");
        Confirmed::open(&directory).learn_mentions(
            folder.path(),
            &snapshot,
            ("library.py", place(11, 4)),
            &mentions(&[(9, 4)]),
        );
        let path = directory.join(super::FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{{\"of\": 1}}\n\u{1}garbage\n{text}{{\"of\"")).unwrap();
        assert_eq!(Confirmed::open(&directory).len(), 1);
    }
}
