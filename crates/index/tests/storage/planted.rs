//! What a repository brings along in the place of an index: links are not followed, what git tracks is not believed.

use std::fs;
use std::path::Path;
use std::process::Command;

use index::build::{Indexer, Options};
use index::store::{Directory, Location, Place, StoreError};

use crate::support::Project;

fn files_below(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[track_caller]
fn refused(project: &Project) -> String {
    let error = Indexer::open(&project.root(), Options::default()).err().unwrap();
    let text = error.to_string();
    assert!(text.contains("so the index there is not used: remove it"), "{text}");
    text
}

#[cfg(unix)]
#[test]
fn a_link_below_the_index_directory_leads_nowhere() {
    use std::os::unix::fs::symlink;
    for name in [
        ".gitignore",
        "lock",
        "facts",
        "undo",
        "savings.jsonl",
        "snapshot.partial",
        "facts/x.pack",
        "deep/er/link",
    ] {
        let project = Project::new(&[("a.py", "def a(): pass\n")]);
        let outside = tempfile::tempdir().unwrap();
        let link = project.path(".lacon").join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        // Also one that leads to what is not there yet: it would be made.
        symlink(outside.path().join("target"), &link).unwrap();
        assert!(refused(&project).contains("is a symbolic link"), "{name}");
        assert_eq!(files_below(outside.path()), Vec::<String>::new(), "{name}");
        fs::remove_dir_all(project.path(".lacon")).unwrap();
        project.build();
    }
    let project = Project::new(&[("a.py", "def a(): pass\n")]);
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), project.path(".lacon")).unwrap();
    assert!(refused(&project).contains("a link is not followed"));
    let project = Project::new(&[("a.py", "def a(): pass\n"), (".lacon/x", "")]);
    assert!(
        Command::new("mkfifo")
            .arg(project.path(".lacon/lock"))
            .status()
            .unwrap()
            .success()
    );
    assert!(refused(&project).contains("is a pipe"));
}

#[cfg(unix)]
#[test]
fn links_among_shared_facts_are_not_followed() {
    use std::os::unix::fs::symlink;
    for name in ["lacon", "lacon/facts", "lacon/facts/x.pack"] {
        let project = Project::new(&[("a.py", "def a(): pass\n"), (".git/HEAD", "ref: refs/heads/main\n")]);
        let outside = tempfile::tempdir().unwrap();
        let link = project.path(".git").join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(outside.path(), &link).unwrap();
        assert!(project.build().snapshot.find("a.py::a").is_some());
        assert_eq!(files_below(outside.path()), Vec::<String>::new(), "{name}");
        assert!(!files_below(&project.path(".lacon/facts")).is_empty());
    }
}

#[test]
fn an_index_that_git_tracks_is_refused() {
    let project = Project::new(&[("a.py", "def a(): pass\n"), ("sub/b.py", "def b(): pass\n")]);
    project.build();
    Indexer::open(&project.path("sub"), Options::default())
        .unwrap()
        .build()
        .unwrap();
    let git = |arguments: &[&str]| {
        let status = Command::new("git")
            .current_dir(project.root())
            .args(arguments)
            .status()
            .unwrap();
        assert!(status.success());
    };
    git(&["init", "-q"]);
    project.build();
    for version in ["2", "4"] {
        git(&["add", "-f", ".lacon/snapshot", "sub/.lacon/snapshot"]);
        git(&["update-index", "--index-version", version]);
        assert!(refused(&project).contains(".lacon` is tracked by git"));
        let error = Location::of(&project.path("sub"), None).unwrap_err();
        assert!(matches!(error, StoreError::Planted { .. }), "{error}");
        // The index can be kept elsewhere, as the message says.
        let elsewhere = tempfile::tempdir().unwrap();
        Location::of(&project.root(), Some(elsewhere.path())).unwrap();
        git(&["rm", "-q", "-r", "--cached", ".lacon", "sub/.lacon"]);
        project.build();
    }
}

#[test]
fn a_directory_knows_whether_it_is_still_there() {
    let project = Project::new(&[("a.py", "def a(): pass\n")]);
    let location = Location::of(&project.root(), None).unwrap();
    let directory = Directory::create(location.clone()).unwrap();
    assert_eq!(directory.place(), Place::Same);
    fs::rename(project.path(".lacon"), project.path("old")).unwrap();
    assert_eq!(directory.place(), Place::IndexGone);
    fs::create_dir(project.path(".lacon")).unwrap();
    assert_eq!(directory.place(), Place::IndexGone);
    fs::rename(project.root(), project.root().with_file_name("moved")).unwrap();
    assert_eq!(directory.place(), Place::TreeGone);
    // What is being removed does not come back.
    assert!(Directory::create(location).is_err());
    assert!(!project.root().exists());
}

#[test]
fn probes_of_processes_that_were_killed_are_swept() {
    let project = Project::new(&[("a.py", "def a(): pass\n")]);
    project.build();
    let probe = project.path(".lacon/facts/probe-1");
    let file = fs::File::create(&probe).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(600))
        .unwrap();
    let fresh = project.path(".lacon/facts/probe-2");
    fs::write(&fresh, "").unwrap();
    project.build();
    assert!(!probe.exists() && fresh.exists());
}
