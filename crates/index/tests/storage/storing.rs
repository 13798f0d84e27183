//! The store: what is reused, what is shared, what damage does, and who may write.

use std::fs;
use std::path::Path;
use std::process::Command;

use index::build::{BuildError, Follower, Indexer, Options};
use index::snapshot::Snapshot;
use index::store::{Location, Notice, StoreError};

use crate::support::{Project, assert_same};

fn sample() -> Project {
    Project::new(&[
        ("a.py", "def a(): pass\n"),
        ("b.py", "from a import a\n\ndef b():\n    a()\n"),
        ("c.js", "function c() {}\n"),
    ])
}

#[test]
fn nothing_is_parsed_twice() {
    let project = sample();
    let first = project.build();
    assert_eq!((first.extracted, first.changed), (3, true));
    let second = project.build();
    assert_eq!((second.extracted, second.changed, second.resolved), (0, false, 0));
    assert_same(&first.snapshot, &second.snapshot);
    project.write("b.py", "def b(): pass\n");
    assert_eq!(project.build().extracted, 1);
    // A revert finds its facts by content.
    project.write("b.py", "from a import a\n\ndef b():\n    a()\n");
    let third = project.build();
    assert_eq!((third.extracted, third.changed), (0, true));
    assert_same(&first.snapshot, &third.snapshot);
}

#[test]
fn unchanged_files_are_not_read() {
    let project = sample();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
    for name in ["a.py", "b.py", "c.js"] {
        let file = fs::File::options().write(true).open(project.path(name)).unwrap();
        file.set_modified(old).unwrap();
    }
    // The time of the inode's own change cannot be set back: wait until it is old enough to be trusted.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    assert_eq!(project.build().read, 3);
    assert_eq!(project.build().read, 0);
    project.write("a.py", "def a(): return 1\n");
    assert_eq!(project.build().read, 1);
}

#[test]
fn an_edit_that_keeps_size_and_time_is_seen() {
    let project = sample();
    let first = project.build().snapshot;
    let modified = fs::metadata(project.path("a.py")).unwrap().modified().unwrap();
    project.write("a.py", "def z(): pass\n");
    fs::File::options()
        .write(true)
        .open(project.path("a.py"))
        .unwrap()
        .set_modified(modified)
        .unwrap();
    let second = project.build().snapshot;
    assert!(first.find("a.py::a").is_some() && second.find("a.py::z").is_some());
}

#[test]
fn damage_is_said_and_repaired() {
    let project = sample();
    // A copy: the damage below is done to the mapped file itself, which no writer does.
    let first = Snapshot::from_bytes(project.build().snapshot.as_bytes().to_vec()).unwrap();
    let location = Location::of(&project.root(), None).unwrap();
    let damage = |path: &Path, at: usize| {
        let mut bytes = fs::read(path).unwrap();
        let at = at.min(bytes.len() - 1);
        bytes[at] ^= 0x55;
        fs::write(path, bytes).unwrap();
    };

    // In the first record, behind the header and the table of sections; further on it might be padding.
    damage(&location.snapshot(), 720);
    let report = project.build();
    assert_eq!(report.notices, [Notice::DamagedSnapshot]);
    assert_same(&first, &report.snapshot);

    let mut old = fs::read(location.snapshot()).unwrap();
    old[8] = 77;
    fs::write(location.snapshot(), old).unwrap();
    let report = project.build();
    assert_eq!(report.notices, [Notice::OldSnapshot]);
    assert_same(&first, &report.snapshot);

    for pack in fs::read_dir(&location.facts).unwrap() {
        damage(&pack.unwrap().path(), 100);
    }
    fs::remove_file(location.snapshot()).unwrap();
    let report = project.build();
    assert_eq!(report.notices, [Notice::DamagedFacts]);
    assert_same(&first, &report.snapshot);

    for pack in fs::read_dir(&location.facts).unwrap() {
        fs::write(pack.unwrap().path(), "garbage that is longer than a header").unwrap();
    }
    fs::remove_file(location.snapshot()).unwrap();
    let report = project.build();
    assert_eq!((report.notices, report.extracted), (vec![Notice::DamagedFacts], 3));
    assert_same(&first, &report.snapshot);

    fs::write(location.directory.join("stats"), "garbage").unwrap();
    assert_same(&first, &project.build().snapshot);
}

#[test]
fn one_writes_and_the_others_follow() {
    let project = sample();
    let mut writer = project.indexer();
    writer.build().unwrap();
    let second = Indexer::open(&project.root(), Options::default());
    assert!(matches!(
        second.err(),
        Some(BuildError::Store(StoreError::Locked { .. }))
    ));

    let mut follower = Follower::open(&project.root(), None).unwrap();
    assert!(!follower.refresh().unwrap());
    let old = follower.snapshot().clone();
    project.write("a.py", "def renamed(): pass\n");
    writer.update(&[project.path("a.py")]).unwrap();
    assert!(follower.refresh().unwrap());
    assert!(follower.snapshot().find("a.py::renamed").is_some());
    assert!(follower.is_current("a.py"));
    // Whoever still holds the old snapshot keeps reading it.
    assert!(old.find("a.py::a").is_some() && old.verify().is_ok());
    drop(writer);
    assert!(Indexer::open(&project.root(), Options::default()).is_ok());
}

#[test]
fn the_index_directory_ignores_itself_and_is_not_indexed() {
    let project = sample();
    project.build();
    assert_eq!(fs::read_to_string(project.path(".lacon/.gitignore")).unwrap(), "*\n");
    assert!(
        project
            .build()
            .snapshot
            .files()
            .all(|file| !file.path().starts_with(".lacon"))
    );
}

fn git(directory: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .current_dir(directory)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
}

#[test]
fn work_trees_share_facts_and_not_answers() {
    let project = sample();
    git(&project.root(), &["init", "-q"]);
    git(&project.root(), &["add", "."]);
    git(&project.root(), &["commit", "-qm", "first"]);
    assert_eq!(project.build().extracted, 3);
    let other = project.root().with_file_name("other");
    git(
        &project.root(),
        &["worktree", "add", "-q", "-b", "side", other.to_str().unwrap()],
    );
    fs::write(other.join("a.py"), "def only_here(): pass\n").unwrap();
    let report = Indexer::open(&other, Options::default()).unwrap().build().unwrap();
    assert_eq!(report.extracted, 1);
    assert!(report.snapshot.find("a.py::only_here").is_some());
    let first = Follower::open(&project.root(), None).unwrap();
    assert!(first.snapshot().find("a.py::only_here").is_none() && first.snapshot().find("a.py::a").is_some());
    // A switch of branches finds everything by content.
    git(&other, &["checkout", "-q", "--", "a.py"]);
    let report = Indexer::open(&other, Options::default()).unwrap().build().unwrap();
    assert_eq!(report.extracted, 0);
    assert_same(&report.snapshot, first.snapshot());
}

#[test]
fn a_git_file_that_points_elsewhere_is_not_believed() {
    let project = sample();
    let victim = tempfile::tempdir().unwrap();
    fs::write(victim.path().join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(victim.path().join("commondir"), ".\n").unwrap();
    fs::write(victim.path().join("gitdir"), "/somewhere/else/.git\n").unwrap();
    project.write(".git", format!("gitdir: {}\n", victim.path().display()));
    project.build();
    assert!(!victim.path().join("lacon").exists());
    assert!(project.path(".lacon/facts").exists());
}
