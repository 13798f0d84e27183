//! Trees made to break an indexer, in bounded versions: it finishes or says what it skipped, and the next run is right.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use index::build::{Indexer, Options};
use index::scan::SkipReason;
use index::snapshot::Snapshot;
use index::store::Location;

use crate::support::{Project, assert_same, cold};

fn reason(snapshot: &Snapshot, path: &str) -> Option<SkipReason> {
    snapshot
        .skipped()
        .find(|skipped| skipped.path == path)
        .map(|skipped| skipped.reason)
}

#[test]
fn sizes_and_depths() {
    let project = Project::new(&[("ok.py", "def ok(): pass\n")]);
    let huge = fs::File::create(project.path("huge.py")).unwrap();
    huge.set_len(200 << 20).unwrap();
    project.write("line.js", format!("x = '{}'", "a".repeat(10 << 20)));
    project.write(
        "parentheses.py",
        format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000)),
    );
    project.write(
        "braces.js",
        format!("{}{}", "{\n".repeat(100_000), "}\n".repeat(100_000)),
    );
    let nested: String = (0..1500)
        .map(|depth| format!("{}def f():\n", " ".repeat(depth)))
        .collect();
    project.write("functions.py", nested);
    let name = "n".repeat(100_000);
    project.write("name.py", format!("def {name}(): pass\n"));
    let same = "def same(): pass\n".repeat(20_000);
    project.write("same.py", same);
    let began = Instant::now();
    let snapshot = project.build().snapshot;
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!(reason(&snapshot, "huge.py"), Some(SkipReason::TooLarge));
    assert!(reason(&snapshot, "line.js").is_some());
    assert!(snapshot.find("ok.py::ok").is_some());
    for path in ["parentheses.py", "braces.js", "functions.py", "name.py"] {
        assert!(
            snapshot.find(path).is_some() || reason(&snapshot, path).is_some(),
            "`{path}` is neither in nor out"
        );
    }
    assert!(snapshot.find("same.py::same~20000").is_some());
    for symbol in snapshot.symbols() {
        assert!(!symbol.id_string().is_empty());
    }
    assert_same(&snapshot, &project.cold(1));
}

#[cfg(unix)]
#[test]
fn names_links_pipes_and_permissions() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    let project = Project::new(&[("ok.py", "def ok(): pass\n"), ("closed/in.py", "def closed(): pass\n")]);
    project.write("new\nline.py", "def newline(): pass\n");
    fs::write(
        project.root().join(OsStr::from_bytes(b"bad\xff.py")),
        "def bad(): pass\n",
    )
    .unwrap();
    symlink("/", project.path("root")).unwrap();
    symlink("..", project.path("loop")).unwrap();
    symlink("/etc/passwd", project.path("passwd.py")).unwrap();
    symlink("nowhere", project.path("dangling.py")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(project.path("pipe.py"))
            .status()
            .unwrap()
            .success()
    );
    fs::set_permissions(project.path("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let is_closed = fs::read_dir(project.path("closed")).is_err();
    let snapshot = project.build().snapshot;
    fs::set_permissions(project.path("closed"), fs::Permissions::from_mode(0o755)).unwrap();

    assert!(snapshot.find("new\\x0aline.py::newline").is_some());
    assert!(snapshot.find("bad\\xff.py::bad").is_some());
    for path in ["root", "loop", "passwd.py", "dangling.py"] {
        assert_eq!(reason(&snapshot, path), Some(SkipReason::Symlink), "{path}");
    }
    assert_eq!(reason(&snapshot, "pipe.py"), Some(SkipReason::NotRegular));
    // The superuser may read anything, so there is nothing to skip.
    match is_closed {
        true => assert_eq!(reason(&snapshot, "closed"), Some(SkipReason::Unreadable)),
        false => assert!(snapshot.find("closed/in.py::closed").is_some()),
    }
    assert!(
        snapshot
            .files()
            .all(|file| !file.path().contains("passwd") && !file.path().starts_with("root/"))
    );
}

#[test]
fn thousands_of_tiny_files() {
    let project = Project::new(&[]);
    for number in 0..2000 {
        project.write(
            &format!("d{}/f{number}.py", number % 50),
            format!("def f{number}(): pass\n"),
        );
    }
    let mut indexer = project.indexer();
    let report = indexer.build().unwrap();
    assert_eq!(report.snapshot.file_count(), 2000);
    assert!(report.snapshot.find("d7/f1957.py::f1957").is_some());
}

/// Run as a child by the tests below: builds the index of the tree in the variable, and nothing without it.
#[test]
fn child() {
    let Some(root) = std::env::var_os("LACON_TEST_TREE") else {
        return;
    };
    let result = Indexer::open(root.as_ref(), Options::default()).and_then(|mut indexer| indexer.build());
    if let Err(error) = result {
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        fs::write(std::env::var_os("LACON_TEST_ERROR").unwrap(), text).unwrap();
        std::process::exit(9);
    }
}

fn big() -> Project {
    let project = Project::new(&[]);
    for number in 0..120 {
        let mut text = String::from("import os\n");
        for function in 0..40 {
            text.push_str(&format!("class C{function}:\n    def m{number}(self, a, b):\n        '''Does it.'''\n        return os.path.join(a, b) + self.m{number}(a)\n\n"));
        }
        project.write(&format!("p{}/m{number}.py", number % 10), text);
    }
    project
}

#[test]
fn killed_at_any_moment_the_next_run_is_right() {
    let project = big();
    let truth = project.cold(2);
    // Every other kill hits a first build, the rest an update of a finished index.
    for (attempt, delay) in [3, 15, 40, 80, 120, 200, 320, 500].into_iter().enumerate() {
        if attempt % 2 == 0 {
            drop(fs::remove_dir_all(project.path(".lacon")));
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "hostile::child", "--test-threads=1"])
            .env("LACON_TEST_TREE", project.root())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        // Whatever is in place is whole, before anyone repairs it.
        let location = Location::of(&project.root(), None).unwrap();
        if let Ok(snapshot) = Snapshot::open(&location.snapshot()) {
            snapshot.verify().unwrap();
        }
        let report = project.build();
        assert_same(&report.snapshot, &truth);
        let left: Vec<_> = fs::read_dir(&location.directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| name.to_string_lossy().ends_with(".partial"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Facts are kept by content for ever, so that a result which time cut short would be wrong for ever. `LACON_TEST_PAUSE=35` pauses for
/// longer than any clock that was ever looked at.
#[cfg(unix)]
#[test]
fn a_pause_changes_nothing() {
    let pause: u64 = std::env::var("LACON_TEST_PAUSE").map_or(1, |seconds| seconds.parse().unwrap());
    let project = Project::new(&[]);
    let many: String = (0..20_000)
        .map(|number| format!("def function_{number}(item):\n    return item + {number}\n"))
        .collect();
    project.write("many.py", many);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hostile::child", "--test-threads=1"])
        .env("LACON_TEST_TREE", project.root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let signal = |name: &str| {
        let status = Command::new("kill").args([name, &child.id().to_string()]).status();
        assert!(status.unwrap().success());
    };
    std::thread::sleep(Duration::from_millis(250));
    signal("-STOP");
    std::thread::sleep(Duration::from_secs(pause));
    signal("-CONT");
    assert!(child.wait().unwrap().success());
    let report = project.build();
    assert_eq!(report.extracted, 0, "what the child extracted is there");
    assert!(report.snapshot.find("many.py::function_19999").is_some());
    assert_same(&report.snapshot, &project.cold(1));
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_said_and_leaves_the_old_snapshot() {
    let project = big();
    let first = project.build().snapshot;
    project.write("p1/new.py", "def new(): pass\n".repeat(3000));
    let error_file = project.root().with_file_name("error");
    // A limit on the size of files fails writes as a full disk does, and needs no privileges.
    let blocks = |count: u32| {
        let status = Command::new("sh")
            .arg("-c")
            .arg(format!(
                "trap '' XFSZ; ulimit -f {count}; exec \"$0\" --exact hostile::child --test-threads=1"
            ))
            .arg(std::env::current_exe().unwrap())
            .env("LACON_TEST_TREE", project.root())
            .env("LACON_TEST_ERROR", &error_file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        status.code()
    };
    assert_eq!(blocks(64), Some(9));
    let message = fs::read_to_string(&error_file).unwrap();
    assert!(message.contains("cannot write"), "{message}");
    let location = Location::of(&project.root(), None).unwrap();
    let kept = Snapshot::open(&location.snapshot()).unwrap();
    kept.verify().unwrap();
    assert_same(&kept, &first);
    assert_same(&project.build().snapshot, &cold(&project.root(), 2));
}

#[test]
fn files_that_come_and_go_while_they_are_read() {
    let project = Project::new(&[("stay.py", "def stay(): pass\n")]);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                number += 1;
                let name = format!("t{}.py", number % 40);
                project.write(&name, format!("def f{number}(): pass\n"));
                let _ = fs::remove_file(project.path(&format!("t{}.py", (number + 20) % 40)));
            }
        });
        let mut indexer = project.indexer();
        for _ in 0..30 {
            let report = indexer.build().unwrap();
            assert!(report.snapshot.find("stay.py::stay").is_some());
            report.snapshot.verify().unwrap();
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_same(&project.build().snapshot, &project.cold(2));
}
