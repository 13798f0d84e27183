//! Lets every call of the store that the disk may refuse fail once, in a build and in an update, and kills the process at each: the old
//! index answers meanwhile, nothing wrong is left, and the next build is the one made from nothing.
//!
//! `LACON_FAULTS=1 cargo test -p index --lib sweep` tries each of them in every way instead of some.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{BuildError, Indexer, Options};
use crate::snapshot::{Snapshot, SnapshotError};
use crate::store::faults::{Armed, Fault};

struct Tree {
    directory: tempfile::TempDir,
}

const EDITED: &str = "from shop import price\n\ndef pay(item):\n    return price(item) + price(item)\n";

impl Tree {
    fn new() -> Tree {
        let tree = Tree {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(tree.directory.path().join("tree")).unwrap();
        tree.write("shop.py", "def price(item):\n    return item.cost * 2\n");
        tree.write(
            "pay.py",
            "from shop import price\n\ndef pay(item):\n    return price(item)\n",
        );
        tree.write("web.js", "export function show(cart) { return cart.total() }\n");
        tree
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("tree").canonicalize().unwrap()
    }

    fn index(&self) -> PathBuf {
        self.root().join(".lacon")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.directory.path().join("tree").join(name), text).unwrap();
    }

    fn indexer(&self) -> Result<Indexer, BuildError> {
        Indexer::open(&self.root(), options())
    }

    /// The bytes of the snapshot that lies there, read now; `None` where there is none. Any other state is a failure.
    fn snapshot(&self, context: &str) -> Option<Vec<u8>> {
        match Snapshot::open(&self.index().join("snapshot")) {
            Ok(snapshot) => {
                assert!(snapshot.verify().is_ok(), "{context}: what lies there is not whole");
                Some(snapshot.as_bytes().to_vec())
            }
            Err(SnapshotError::Missing { .. }) => None,
            Err(error) => panic!("{context}: {error}"),
        }
    }

    /// Builds without faults and compares with `truth`, and what is searched as well.
    fn check(&self, truth: &[u8], context: &str) {
        let mut indexer = self.indexer().unwrap_or_else(|error| panic!("{context}: {error}"));
        let snapshot = indexer
            .build()
            .unwrap_or_else(|error| panic!("{context}: {error}"))
            .snapshot;
        assert!(snapshot.as_bytes() == truth, "{context}: the next build differs");
        assert_eq!(snapshot.search_index().missing_files(), 0, "{context}");
        assert!(snapshot.search_index().damage().is_none(), "{context}");
        let left: Vec<_> = fs::read_dir(self.index())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        let is_partial = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".partial");
        assert!(!left.iter().any(is_partial), "{context}: {left:?}");
    }
}

fn options() -> Options {
    Options {
        threads: Some(1),
        ..Options::default()
    }
}

/// The snapshots of the tree before and after the edit, made from nothing.
fn truths() -> (Vec<u8>, Vec<u8>) {
    let tree = Tree::new();
    let cold = || {
        let directory = tempfile::tempdir().unwrap();
        let options = Options {
            directory: Some(directory.path().join("index")),
            ..options()
        };
        let snapshot = Indexer::open(&tree.root(), options).unwrap().build().unwrap().snapshot;
        snapshot.as_bytes().to_vec()
    };
    let before = cold();
    tree.write("pay.py", EDITED);
    (before, cold())
}

fn all() -> bool {
    std::env::var_os("LACON_FAULTS").is_some()
}

const FAULTS: [Fault; 4] = [
    Fault::Error(ErrorKind::StorageFull),
    Fault::Error(ErrorKind::Other),
    Fault::Error(ErrorKind::Interrupted),
    Fault::Short,
];

/// What is done while calls fail.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Cold,
    /// A build over an index that is there, by a new process.
    Again,
    Update,
}

/// Does it on a tree whose call number `at` fails; whether there was such a call, and what came of it.
fn attempt(tree: &Tree, doing: Doing, at: usize, fault: Fault) -> (bool, Result<(), BuildError>) {
    // What was written is read when calls do not fail any more.
    let built = |_: super::Report| ();
    if doing == Doing::Update {
        let mut indexer = tree.indexer().unwrap();
        indexer.build().unwrap();
        tree.write("pay.py", EDITED);
        let armed = Armed::new(&tree.index(), at, fault);
        let result = indexer.update(&[tree.root().join("pay.py")]).map(built);
        // What fails once may be tried again by the same process.
        if result.is_err() {
            let again = indexer.update(&[tree.root().join("pay.py")]).map(built);
            assert!(again.is_ok(), "{doing:?} {at} {fault:?}: {:?}", again.err());
        }
        drop(indexer);
        return (armed.happened().is_some(), result);
    }
    if doing == Doing::Again {
        tree.indexer().unwrap().build().unwrap();
        tree.write("pay.py", EDITED);
    }
    let armed = Armed::new(&tree.index(), at, fault);
    let result = tree.indexer().and_then(|mut indexer| indexer.build()).map(built);
    (armed.happened().is_some(), result)
}

fn sweep(doing: Doing) {
    let (before, after) = truths();
    let truth = if doing == Doing::Cold { &before } else { &after };
    let (mut tried, mut refused) = (0, 0);
    for (number, fault) in FAULTS.into_iter().enumerate() {
        // The full disk at every call; the others at some, unless all are asked for.
        let step = if number == 0 || all() { 1 } else { 5 };
        for at in (number..).step_by(step) {
            let context = format!("{doing:?}, call {at}, {fault:?}");
            let tree = Tree::new();
            let (happened, result) = attempt(&tree, doing, at, fault);
            if !happened {
                assert!(at > 10, "{context}: fewer calls than a build makes");
                break;
            }
            tried += 1;
            let lies = tree.snapshot(&context);
            match result {
                Ok(()) => assert!(lies.as_ref() == Some(truth), "{context}: the build differs"),
                Err(error) => {
                    refused += 1;
                    assert!(!error.to_string().is_empty());
                    // The old one answers, or the one that was tried for again.
                    assert!(
                        lies.as_ref().is_none_or(|lies| *lies == before || *lies == after),
                        "{context}: neither the old one nor the new one"
                    );
                    assert!(doing == Doing::Cold || lies.is_some(), "{context}: the old one is gone");
                }
            }
            tree.check(truth, &context);
        }
    }
    println!("{doing:?}: {tried} calls failed, {refused} were told as errors, the others were survived");
    assert!(tried > 30 && refused > 3);
}

#[test]
fn every_call_of_a_first_build_fails_once() {
    sweep(Doing::Cold);
}

#[test]
fn every_call_of_a_later_build_fails_once() {
    sweep(Doing::Again);
}

#[test]
fn every_call_of_an_update_fails_once() {
    sweep(Doing::Update);
}

/// Run as a child by the test below, and nothing without it.
#[test]
fn child() {
    let Some(root) = std::env::var_os("LACON_SWEEP_ROOT") else {
        return;
    };
    let at: usize = std::env::var("LACON_SWEEP_AT").unwrap().parse().unwrap();
    let root = Path::new(&root);
    let mut indexer = None;
    if std::env::var_os("LACON_SWEEP_UPDATE").is_some() {
        let opened = indexer.insert(Indexer::open(root, options()).unwrap());
        opened.build().unwrap();
        fs::write(root.join("pay.py"), EDITED).unwrap();
    }
    let armed = Armed::new(&root.join(".lacon"), at, Fault::Abort);
    match &mut indexer {
        Some(indexer) => indexer.update(&[root.join("pay.py")]).unwrap(),
        None => indexer.insert(Indexer::open(root, options()).unwrap()).build().unwrap(),
    };
    drop(indexer);
    // There was no such call.
    assert!(armed.calls() <= at);
    std::process::exit(77);
}

#[test]
fn killed_at_every_call_the_next_build_is_right() {
    let (before, after) = truths();
    let mut killed = 0;
    for update in [false, true] {
        let step = if all() { 1 } else { 6 };
        for at in (0..).step_by(step) {
            let context = format!("killed at call {at}, update: {update}");
            let tree = Tree::new();
            let mut command = Command::new(std::env::current_exe().unwrap());
            command
                .args(["--exact", "build::sweep::child", "--test-threads=1"])
                .env("LACON_SWEEP_ROOT", tree.root())
                .env("LACON_SWEEP_AT", at.to_string())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            if update {
                command.env("LACON_SWEEP_UPDATE", "1");
            }
            if command.status().unwrap().code() == Some(77) {
                break;
            }
            killed += 1;
            let lies = tree.snapshot(&context);
            let is_known = |lies: &Vec<u8>| *lies == before || (update && *lies == after);
            assert!(
                lies.as_ref().is_none_or(is_known),
                "{context}: neither the old one nor the new one"
            );
            assert!(!update || lies.is_some(), "{context}: the old one is gone");
            tree.check(if update { &after } else { &before }, &context);
        }
    }
    println!("killed {killed} times");
    assert!(killed >= 10);
}
