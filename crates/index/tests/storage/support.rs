//! A tree in a temporary directory, and snapshots of it.

use std::fs;
use std::path::{Path, PathBuf};

use index::build::{Indexer, Options, Report};
use index::snapshot::Snapshot;
use proptest::prelude::ProptestConfig;

pub(crate) struct Project {
    directory: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Project {
        let project = Project {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(project.root()).unwrap();
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("tree")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn indexer(&self) -> Indexer {
        Indexer::open(&self.root(), Options::default()).unwrap()
    }

    /// Builds with whatever index there is.
    pub(crate) fn build(&self) -> Report {
        self.indexer().build().unwrap()
    }

    /// Builds the index of some other tree.
    pub(crate) fn build_at(root: &Path) -> Snapshot {
        let mut indexer = Indexer::open(root, Options::default()).unwrap();
        indexer.build().unwrap().snapshot
    }

    /// As [`Project::cold`], where the build may have something to say besides.
    pub(crate) fn unseen_cold(&self) -> Snapshot {
        let directory = tempfile::tempdir().unwrap();
        let options = Options {
            directory: Some(directory.path().join("index")),
            ..Options::default()
        };
        let report = Indexer::open(&self.root(), options).unwrap().build().unwrap();
        report.snapshot
    }

    /// The snapshot of the tree as it is, built from nothing.
    pub(crate) fn cold(&self, threads: usize) -> Snapshot {
        cold(&self.root(), threads)
    }
}

pub(crate) fn cold(root: &Path, threads: usize) -> Snapshot {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        directory: Some(directory.path().join("index")),
        threads: Some(threads),
        ..Options::default()
    };
    let report = Indexer::open(root, options).unwrap().build().unwrap();
    assert!(report.notices.is_empty(), "{:?}", report.notices);
    report.snapshot
}

/// How a property is tried: on so many cases, or on as many as `cargo xtask fuzz` asks for.
pub(crate) fn cases(few: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => asked,
        None => ProptestConfig { cases: few, ..asked },
    }
}

/// Everything a snapshot says, as lines: easier to read in a failure than bytes.
pub(crate) fn describe(snapshot: &Snapshot) -> Vec<String> {
    let mut lines = Vec::new();
    for file in snapshot.files() {
        lines.push(format!("file {} {} {}", file.path(), file.language(), file.lines()));
        for symbol in file.symbols() {
            lines.push(format!(
                "symbol {} {:?} {}",
                symbol.id_string(),
                symbol.kind(),
                symbol.signature()
            ));
        }
    }
    for edge in snapshot.edges(index::snapshot::EdgeKinds::ALL) {
        let from = snapshot.symbol(edge.from).unwrap().id_string();
        let to = match edge.to {
            index::snapshot::EdgeEnd::Symbol(symbol) => snapshot.symbol(symbol).unwrap().id_string(),
            index::snapshot::EdgeEnd::External(external) => snapshot.external(external).to_string(),
        };
        lines.push(format!(
            "edge {from} {:?} {to} {:?} {} {:?}",
            edge.kind, edge.origin, edge.confidence, edge.at
        ));
    }
    for skipped in snapshot.skipped() {
        lines.push(format!(
            "skipped {} {:?} {}",
            skipped.path, skipped.reason, skipped.size
        ));
    }
    lines
}

#[track_caller]
pub(crate) fn assert_same(left: &Snapshot, right: &Snapshot) {
    if let Some(difference) = difference(left, right) {
        panic!("{difference}");
    }
}

/// What one snapshot says and the other does not; `None` when they are the same, byte for byte.
pub(crate) fn difference(left: &Snapshot, right: &Snapshot) -> Option<String> {
    if left.as_bytes() == right.as_bytes() {
        return None;
    }
    let (left, right) = (describe(left), describe(right));
    let only_left: Vec<_> = left.iter().filter(|line| !right.contains(line)).collect();
    let only_right: Vec<_> = right.iter().filter(|line| !left.contains(line)).collect();
    Some(format!(
        "snapshots differ\nonly in the first: {only_left:#?}\nonly in the second: {only_right:#?}"
    ))
}
