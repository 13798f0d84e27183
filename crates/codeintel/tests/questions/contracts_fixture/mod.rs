//! Small trees on disk, indexed as a user's would be, and what is found on both sides.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use codeintel::contracts::{Contracts, Found, contracts};
use codeintel::{Derived, Repository, Workspace};
use expect_test::Expect;
use index::build::{Indexer, Options, open_snapshot};

/// Writes files, whose path begins with their repository, and indexes them.
pub(crate) fn indexed(folder: &Path, files: &[(&str, &str)]) -> Workspace {
    let mut names: Vec<&str> = Vec::new();
    for (path, text) in files {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        let name = path.split('/').next().unwrap();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let repositories = names.iter().map(|name| {
        let root = folder.join(name);
        Indexer::open(&root, Options::default()).unwrap().build().unwrap();
        Repository {
            name: name.to_string(),
            snapshot: Arc::new(open_snapshot(&root, None).unwrap()),
            root,
            incomplete: None,
            derived: Derived::default(),
        }
    });
    Workspace::new(repositories.collect())
}

/// Checks what is found in the files of a fixture; `//- path` starts one.
pub(crate) fn check(fixture: &str, expected: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<(&str, &str)> = fixture
        .split("//- ")
        .skip(1)
        .map(|part| part.split_once('\n').unwrap())
        .collect();
    let workspace = indexed(folder.path(), &files);
    let Found::List(list) = contracts(&workspace, &Contracts::default()).unwrap() else {
        panic!("a list")
    };
    let mut said = String::new();
    for contract in &list.contracts {
        said.push_str(&format!(
            "{} [{}] <- [{}]\n",
            contract.id,
            contract.providers.join(" "),
            contract.consumers.join(" ")
        ));
    }
    if let Some(inferred) = &list.inferred {
        said.push_str(&format!("({inferred})\n"));
    }
    if let Some(incomplete) = &list.incomplete {
        said.push_str(&format!("({incomplete})\n"));
    }
    assert_eq!(list.total as usize, list.contracts.len());
    expected.assert_eq(&said);
}
