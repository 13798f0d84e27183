//! What strace saw of Lacon and of all that it started: the second witness beside markers, where `LACON_TEST_TRACE` is set.
//!
//! The one trick: `strace -y` writes beside each number of a file which path it is, so that what was really opened is read from the
//! results of calls, through whatever links it was reached.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const CALLS: &str = "trace=execve,execveat,open,openat,openat2,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,\
                     mkdir,mkdirat,rmdir,truncate,connect";
/// Calls that change names.
const CHANGES: &[&str] = &[
    "creat", "rename", "link", "symlink", "unlink", "mkdir", "rmdir", "truncate",
];

/// Where things lie.
pub(crate) struct Places<'a> {
    pub(crate) tree: &'a Path,
    /// Everything that a stage is made of.
    pub(crate) base: &'a Path,
    /// What Lacon may write and read outside of the tree.
    pub(crate) own: &'a [PathBuf],
}

/// Whether traces are wanted, and can be had.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os("LACON_TEST_TRACE").is_some()
}

/// The same program under strace. Its traces lie in `folder`, a file for each process.
pub(crate) fn traced(program: &str, folder: &Path) -> Command {
    std::fs::create_dir_all(folder).unwrap();
    let number = std::fs::read_dir(folder).unwrap().count();
    let mut command = Command::new("strace");
    command
        .args(["-ff", "-qq", "-y", "-s", "4096", "-e", CALLS, "-e", "signal=none", "-o"])
        .arg(folder.join(format!("{number}-trace")))
        .arg(program);
    command
}

/// What should not have happened, each kind of it once.
pub(crate) fn judged(folder: &Path, places: &Places<'_>) -> Vec<String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap();
        for line in String::from_utf8_lossy(&bytes).lines() {
            if let Some(what) = wrong(line, places) {
                *found.entry(what).or_default() += 1;
            }
        }
    }
    found.into_keys().collect()
}

/// What is wrong about one call, if it succeeded.
fn wrong(line: &str, places: &Places<'_>) -> Option<String> {
    let (call, result) = line.rsplit_once(" = ")?;
    if result.starts_with('-') || result.starts_with('?') {
        return None;
    }
    let (name, arguments) = call.split_once('(')?;
    // Beside the stage, git gets folders whose names nobody can guess.
    let is_own = |path: &Path| match path.starts_with(places.base) {
        true => places.own.iter().any(|own| path.starts_with(own)),
        false => path.starts_with(std::env::temp_dir()),
    };
    let is_elsewhere = |path: &Path| !path.starts_with(places.tree) && !is_own(path);
    if name.starts_with("execve") {
        let path = PathBuf::from(quoted(arguments).into_iter().next()?);
        // A name that is not whole is one that somebody looked up in the current folder.
        let is_of_tree = !path.is_absolute() || path.canonicalize().is_ok_and(|path| path.starts_with(places.tree));
        return is_of_tree.then(|| format!("executed {}", path.display()));
    }
    if name == "connect" {
        return Some(format!("connected {arguments}"));
    }
    if name.starts_with("open") {
        let path = PathBuf::from(result.split_once('<')?.1.strip_suffix('>')?);
        // It says what a path is, and gives nothing to read.
        if arguments.contains("O_PATH") || !is_elsewhere(&path) {
            return None;
        }
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
            .iter()
            .any(|flag| arguments.contains(flag));
        if writes && !path.starts_with("/dev") && !path.starts_with("/proc") {
            return Some(format!("opened for writing {}", path.display()));
        }
        return (path.starts_with(places.base) && path.is_file()).then(|| format!("read {}", path.display()));
    }
    let changes = CHANGES.iter().any(|change| name.starts_with(change));
    let path = quoted(arguments)
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_absolute() && is_elsewhere(path));
    path.filter(|_| changes)
        .map(|path| format!("{name} {}", path.display()))
}

/// The texts in quotation marks, without what follows a target: `symlink` takes what a link says before where it is.
fn quoted(arguments: &str) -> Vec<String> {
    arguments.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn calls_are_read() {
    let places = Places {
        tree: Path::new("/x/tree"),
        base: Path::new("/x"),
        own: &[PathBuf::from("/x/home/.cache/lacon")],
    };
    let is_wrong = |line: &str| wrong(line, &places).is_some();
    for line in [
        r#"execve("./node", ["node"], 0x7 /* 9 vars */) = 0"#,
        r#"openat(AT_FDCWD</x/tree>, "../home/.bashrc", O_WRONLY|O_CREAT|O_CLOEXEC, 0666) = 5</x/home/.bashrc>"#,
        r#"openat2(5</x/tree>, "kept/new", {flags=O_RDWR|O_CREAT}, 24) = 6</x/bait/new>"#,
        r#"rename("/x/tree/a", "/x/bait/b") = 0"#,
        r#"mkdirat(AT_FDCWD</x/tree>, "/x/bait/index", 0777) = 0"#,
        r#"connect(5<TCP:[1]>, {sa_family=AF_INET, sin_port=htons(9)}, 16) = 0"#,
    ] {
        assert!(is_wrong(line), "{line}");
    }
    for line in [
        r#"execve("./node", ["node"], 0x7 /* 9 vars */) = -1 EACCES (Permission denied)"#,
        r#"execve("/bin/sh", ["sh"], 0x7 /* 9 vars */) = 0"#,
        r#"openat(AT_FDCWD</x/tree>, "a.py", O_WRONLY|O_CREAT, 0666) = 5</x/tree/a.py>"#,
        r#"openat(AT_FDCWD</x/tree>, "/x/home/.cache/lacon/x", O_WRONLY|O_CREAT, 0666) = 5</x/home/.cache/lacon/x>"#,
        r#"openat(AT_FDCWD</x/tree>, "/dev/null", O_RDWR) = 5</dev/null<char 1:3>>"#,
        r#"openat(AT_FDCWD</x/tree>, "/x/bait", O_RDONLY|O_CLOEXEC|O_PATH) = 5</x/bait>"#,
    ] {
        assert!(!is_wrong(line), "{line}");
    }
}
