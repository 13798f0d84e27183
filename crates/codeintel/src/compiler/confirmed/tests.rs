//! What compilers said holds exactly as long as its inputs are the same.

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
