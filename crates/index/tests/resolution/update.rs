//! An edit resolves only what it can affect, and gives what resolving from nothing would; one thread gives what many do.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::common::MemoryTree;
use index::model::{FileId, ResolvedFile};
use index::resolve::Resolver;
use index::tree::{Change, Keep, Resolve};

const FILES: &[(&str, &str)] = &[
    (
        "app.py",
        "from lib import make, Tool\nimport registry\n\ndef main():\n    make().run()\n    registry.add(main)\n    Tool().run()\n",
    ),
    (
        "lib.py",
        "from other import Thing\n\nclass Tool:\n    def run(self):\n        self.step()\n    def step(self): ...\n\ndef make():\n    return Thing()\n",
    ),
    (
        "other.py",
        "class Thing:\n    def run(self): ...\n\nclass Second:\n    def run(self): ...\n",
    ),
    (
        "registry.py",
        "ALL = []\ndef add(f):\n    ALL.append(f)\ndef run_all():\n    for f in ALL:\n        f()\n",
    ),
    ("unrelated.py", "def alone():\n    return 1\ndef also():\n    alone()\n"),
];

/// (file, its new text): bodies alone, then what other files can see.
const EDITS: &[(&str, &str)] = &[
    (
        "lib.py",
        "from other import Thing\n\nclass Tool:\n    def run(self):\n        pass\n    def step(self): ...\n\ndef make():\n    return Tool()\n",
    ),
    ("unrelated.py", "def alone():\n    return 2\ndef also():\n    pass\n"),
    (
        "app.py",
        "from lib import make, Tool\nimport registry\n\ndef main():\n    registry.add(make)\n    registry.run_all()\n",
    ),
    (
        "other.py",
        "class Before: ...\nclass Thing:\n    def run(self):\n        self.more()\n    def more(self): ...\n",
    ),
    (
        "lib.py",
        "from other import Thing\n\ndef make() -> Thing: ...\n\nclass Tool(Thing): ...\n",
    ),
    (
        "registry.py",
        "ALL = {}\ndef add(f):\n    ALL['x'] = f\ndef run_all():\n    ALL['x']()\n",
    ),
];

fn tree(files: &[(String, String)]) -> MemoryTree {
    MemoryTree::new(files.iter().cloned())
}

fn files() -> Vec<(String, String)> {
    FILES
        .iter()
        .map(|(path, text)| ((*path).to_string(), (*text).to_string()))
        .collect()
}

#[test]
fn an_update_gives_what_a_cold_resolution_gives() {
    let mut files = files();
    let mut resolver = Resolver::new();
    let resolved = Mutex::new(vec![ResolvedFile::default(); files.len()]);
    resolver.resolve(&tree(&files), Keep::ForUpdates, &|file, edges| {
        resolved.lock().unwrap()[file.0 as usize] = edges
    });
    for (path, text) in EDITS {
        let at = files.iter().position(|(known, _)| known == path).unwrap();
        files[at].1 = (*text).to_string();
        let edited = tree(&files);
        let change = Change {
            modified: vec![FileId(at as u32)],
            ..Change::default()
        };
        resolver.update(&edited, &change, &|file, edges| {
            resolved.lock().unwrap()[file.0 as usize] = edges
        });
        assert_eq!(*resolved.lock().unwrap(), edited.resolve(), "after the edit of {path}");
    }
}

#[test]
fn an_edit_of_a_body_leaves_unrelated_files_alone() {
    let mut files = files();
    let mut resolver = Resolver::new();
    resolver.resolve(&tree(&files), Keep::ForUpdates, &|_, _| {});
    files[4].1 = EDITS[1].1.to_string();
    let touched = Mutex::new(BTreeSet::new());
    let change = Change {
        modified: vec![FileId(4)],
        ..Change::default()
    };
    resolver.update(&tree(&files), &change, &|file, _| {
        touched.lock().unwrap().insert(file.0);
    });
    assert_eq!(*touched.lock().unwrap(), BTreeSet::from([4]));
}

#[test]
fn one_thread_gives_what_many_give() {
    let tree = tree(&files());
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| tree.resolve());
    let many = pool(4).install(|| tree.resolve());
    assert_eq!(one, many);
    assert!(one.iter().any(|file| !file.edges.is_empty()));
}

/// Where no edits are followed, a round starts from what the round before left; where they are, each starts anew.
#[test]
fn what_is_left_for_the_next_round_does_not_show() {
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/resolve");
    let mut all = files();
    for entry in ignore::Walk::new(&sources).flatten() {
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            let path = entry
                .path()
                .strip_prefix(&sources)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            all.push((path, std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
    assert!(all.len() > FILES.len() + 20, "no sources in {}", sources.display());
    let tree = tree(&all);
    let anew = Mutex::new(vec![ResolvedFile::default(); tree.files.len()]);
    Resolver::new().resolve(&tree, Keep::ForUpdates, &|file, edges| {
        anew.lock().unwrap()[file.0 as usize] = edges
    });
    assert_eq!(tree.resolve(), anew.into_inner().unwrap());
}
