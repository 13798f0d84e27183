//! Following a tree where things go wrong: no watches, an index that is removed, a tree that is moved or removed.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use index::build::{Indexer, Options};
use index::fresh::{Asked, Question};
use index::snapshot::Snapshot;
use index::store::Location;
use index::watch::{Patience, WatchError, Watched, watch};

use crate::support::{Project, assert_same};

const PATIENCE: Duration = Duration::from_secs(30);

enum Heard {
    Built(Box<index::snapshot::Snapshot>),
    Polling,
    Ended(Result<(), WatchError>),
}

/// Follows a tree in a thread that ends with the receiver.
fn followed(root: PathBuf) -> Receiver<Heard> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut indexer = Indexer::open(&root, Options::default()).unwrap();
        let patience = Patience {
            poll: Duration::from_millis(50),
            settle: Duration::from_millis(600),
            ..Patience::default()
        };
        let ended = watch(&mut indexer, patience, |event| {
            let heard = match event {
                Watched::Built(report) => sender.send(Heard::Built(Box::new(report.snapshot))),
                Watched::Polling(_) => sender.send(Heard::Polling),
                _ => Ok(()),
            };
            match heard {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        let _ = sender.send(Heard::Ended(ended));
    });
    receiver
}

#[track_caller]
fn built(receiver: &Receiver<Heard>) -> index::snapshot::Snapshot {
    match receiver.recv_timeout(PATIENCE).unwrap() {
        Heard::Built(snapshot) => *snapshot,
        Heard::Polling => panic!("it can be watched"),
        Heard::Ended(ended) => panic!("it ended: {ended:?}"),
    }
}

#[test]
fn an_index_that_is_removed_comes_back() {
    let project = Project::new(&[("a.py", "def a(): pass\n")]);
    let receiver = followed(project.root());
    built(&receiver);
    fs::remove_dir_all(project.path(".lacon")).unwrap();
    built(&receiver);
    assert!(project.path(".lacon/snapshot").exists());
    project.write("b.py", "def b(): pass\n");
    assert_same(&built(&receiver), &project.cold(1));
}

#[test]
fn a_tree_that_is_removed_stays_removed() {
    for _ in 0..5 {
        let project = Project::new(&[]);
        for number in 0..300 {
            project.write(&format!("d{number}/f.py"), "def f(): pass\n");
        }
        let receiver = followed(project.root());
        built(&receiver);
        // Fails where somebody writes into it meanwhile.
        fs::remove_dir_all(project.root()).unwrap();
        let ended = loop {
            match receiver.recv_timeout(PATIENCE).unwrap() {
                Heard::Ended(ended) => break ended,
                _ => continue,
            }
        };
        assert!(matches!(ended, Err(WatchError::Gone { .. })), "{ended:?}");
        assert!(!project.root().exists());
    }
}

#[test]
fn a_tree_that_is_moved_ends_the_watch() {
    let project = Project::new(&[("a.py", "def a(): pass\n")]);
    let receiver = followed(project.root());
    built(&receiver);
    let moved = project.root().with_file_name("moved");
    fs::rename(project.root(), &moved).unwrap();
    let Heard::Ended(ended) = receiver.recv_timeout(PATIENCE).unwrap() else {
        panic!("it goes on");
    };
    assert!(ended.unwrap_err().to_string().contains("start again where it is now"));
    assert!(!project.root().exists());
}

/// Run as a child by the test below, in a world where nothing can be watched.
#[test]
fn unwatched() {
    let Some(root) = std::env::var_os("LACON_TEST_UNWATCHED") else {
        return;
    };
    let root = PathBuf::from(root);
    let receiver = followed(root.clone());
    assert!(matches!(receiver.recv_timeout(PATIENCE).unwrap(), Heard::Polling));
    assert!(built(&receiver).find("d1/a.py::a").is_some());
    fs::write(root.join("d1/b.py"), "def b(): pass\n").unwrap();
    assert!(built(&receiver).find("d1/b.py::b").is_some());
}

#[cfg(target_os = "linux")]
#[test]
fn where_nothing_can_be_watched_the_tree_is_looked_at() {
    let project = Project::new(&[]);
    for number in 0..40 {
        project.write(&format!("d{number}/a.py"), "def a(): pass\n");
    }
    let script =
        "echo 20 > /proc/sys/user/max_inotify_watches && exec \"$0\" --exact following::unwatched --test-threads=1";
    let limited = Command::new("unshare")
        .args(["-Ur", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("LACON_TEST_UNWATCHED", project.root())
        .output();
    match limited {
        Ok(done) if done.status.success() => {}
        // No namespaces here, or no such limit: nothing can be tried.
        Ok(done) if !String::from_utf8_lossy(&done.stdout).contains("panicked") && done.status.code() != Some(101) => {}
        Err(_) => {}
        Ok(done) => panic!("{}", String::from_utf8_lossy(&done.stdout)),
    }
}

#[test]
fn facts_are_collected_while_following() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let mut indexer = project.indexer();
    indexer.build().unwrap();
    drop(indexer);
    // A pack for each of many runs: merged by the builds of old, and now while one process goes on.
    let mut indexer = project.indexer();
    indexer.build().unwrap();
    let facts = project.path(".lacon/facts");
    let packs = || {
        let entries = fs::read_dir(&facts).unwrap().flatten();
        entries
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "pack"))
            .count()
    };
    for number in 0..20 {
        // What other work trees of the repository leave there.
        let other = Project::new(&[("b.py", &format!("def b{number}(): pass\n"))]);
        other.build();
        for entry in fs::read_dir(other.path(".lacon/facts")).unwrap().flatten() {
            fs::copy(entry.path(), facts.join(entry.file_name())).unwrap();
        }
    }
    drop(indexer);
    let mut indexer = project.indexer();
    // The first update builds.
    indexer.update(&[]).unwrap();
    for number in 0..130 {
        project.write("a.py", format!("x{number} = 1\n"));
        indexer.update(&[project.path("a.py")]).unwrap();
    }
    assert!(packs() <= 12, "{}", packs());
}

/// The files that are newer than the index, asked for twice: the second answer may come from what the first one noted.
fn newer(project: &Project) -> Vec<String> {
    let location = Location::of(&project.root(), None).unwrap();
    let snapshot = Snapshot::open(&location.snapshot()).unwrap();
    let first = index::fresh::newer(&location, &snapshot).unwrap();
    assert_eq!(index::fresh::newer(&location, &snapshot).unwrap(), first);
    first
}

#[test]
fn what_is_newer_than_the_index_is_named() {
    let project = Project::new(&[
        ("a.py", "def a(): pass\n"),
        ("deep/b.py", "def b(): pass\n"),
        ("note.txt", "x\n"),
    ]);
    drop(project.build());
    assert!(newer(&project).is_empty());
    // From then on times are trusted, and nothing is walked.
    std::thread::sleep(Duration::from_millis(2_100));
    drop(project.build());
    assert!(newer(&project).is_empty());
    project.write("a.py", "def other(): pass\n");
    assert_eq!(newer(&project), ["a.py"]);
    project.write("deep/er/c.py", "def c(): pass\n");
    project.write("note.txt", "y\n");
    assert_eq!(newer(&project), ["a.py", "deep/er/c.py"]);
    fs::remove_file(project.path("deep/b.py")).unwrap();
    assert_eq!(newer(&project), ["a.py", "deep/b.py", "deep/er/c.py"]);
    drop(project.build());
    assert!(newer(&project).is_empty());
    project.write(".gitignore", "deep/\n");
    assert_eq!(newer(&project), ["deep/er/c.py"]);
}

#[test]
fn whoever_asks_is_answered_after_what_was_written_before() {
    let project = Project::new(&[("a.py", "def a(): pass\n")]);
    let location = Location::of(&project.root(), None).unwrap();
    let soon = || Instant::now() + Duration::from_secs(20);
    drop(project.build());
    assert_eq!(Question::put(&location, Instant::now()).wait(soon()), Asked::NoWriter);
    let (stop, stopped) = channel::<()>();
    std::thread::scope(|scope| {
        let project = &project;
        scope.spawn(move || {
            let mut indexer = project.indexer();
            let followed = watch(&mut indexer, Patience::default(), |_| match stopped.try_recv() {
                Err(std::sync::mpsc::TryRecvError::Empty) => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            });
            followed.unwrap();
        });
        for number in 0..20 {
            project.write(&format!("f{}.py", number % 3), format!("def by_{number}(): pass\n"));
            assert_eq!(Question::put(&location, soon()).wait(soon()), Asked::Fresh);
            let snapshot = Snapshot::open(&location.snapshot()).unwrap();
            assert!(snapshot.named(&format!("by_{number}")).next().is_some(), "{number}");
        }
        drop(stop);
    });
}
