//! What the tests of descriptors share: a fixture copied to a folder of its own and indexed there.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use codeintel::{Derived, Repository, Workspace};
use index::build::{Indexer, Options, open_snapshot};

/// The fixture `name`, copied and indexed.
pub(crate) fn indexed_copy(name: &str) -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    copy(&fixture, folder.path());
    let workspace = indexed(folder.path());
    (folder, workspace)
}

/// The tree at `root`, indexed.
pub(crate) fn indexed(root: &Path) -> Workspace {
    let mut indexer = Indexer::open(root, Options::default()).unwrap();
    indexer.build().unwrap();
    drop(indexer);
    Workspace::new(vec![Repository {
        name: "fixture".to_string(),
        root: root.to_path_buf(),
        snapshot: Arc::new(open_snapshot(root, None).unwrap()),
        incomplete: None,
        derived: Derived::default(),
    }])
}

fn copy(from: &Path, to: &Path) {
    let mut copied = 0;
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
        copied += 1;
    }
    assert!(copied > 0, "the fixture `{}` is empty", from.display());
}
