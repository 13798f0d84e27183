//! What git tracks and rules name: git does not ask its ignore rules of what it tracks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use index::build::Indexer;
use index::scan::{Config, LeftOutBy, SkipReason, left_out};
use index::snapshot::Snapshot;
use proptest::prelude::*;

use crate::support::{Project, assert_same, cases};

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .current_dir(folder)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}

fn paths(snapshot: &Snapshot) -> Vec<String> {
    snapshot.files().map(|file| file.path().to_string()).collect()
}

fn tracked_paths(folder: &Path) -> Vec<String> {
    let done = Command::new("git")
        .current_dir(folder)
        .args(["ls-files", "-z"])
        .output()
        .unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    text.split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_string)
        .collect()
}

/// Every path that git tracks is indexed or has a reason: its own, or that of a folder it lies in.
#[track_caller]
fn assert_accounted(root: &Path, snapshot: &Snapshot) {
    let left_out = left_out(root, &Config::load(root).unwrap()).unwrap();
    for path in tracked_paths(root) {
        let is_indexed = snapshot.find_file(&path).is_some();
        let is_skipped = snapshot.skipped().any(|skipped| skipped.path == path);
        let has_reason = left_out
            .iter()
            .any(|out| *out.path == *path || (out.is_folder && path.starts_with(&format!("{}/", out.path))));
        let is_submodule = root.join(&path).join(".git").exists();
        assert!(
            is_indexed || is_skipped || has_reason || is_submodule,
            "`{path}` is neither in nor out"
        );
    }
}

#[test]
fn a_rule_does_not_hide_what_is_tracked() {
    let project = Project::new(&[
        (".gitignore", "*.gen.py\nbuild/\n"),
        ("packages/zod/.gitignore", "**/package.json\n"),
        ("packages/zod/package.json", "{\"name\": \"zod\"}"),
        ("packages/zod/index.ts", "export function f() {}\n"),
        ("a.gen.py", "def tracked(): pass\n"),
        ("b.gen.py", "def untracked(): pass\n"),
        ("build/deep/er/kept.py", "def kept(): pass\n"),
        ("build/deep/other.py", "def other(): pass\n"),
        ("node_modules/x/index.js", "function x() {}\n"),
        (".github/run.py", "def hidden(): pass\n"),
        ("gone.py", "def gone(): pass\n"),
    ]);
    git(&project.root(), &["init", "-q"]);
    git(
        &project.root(),
        &[
            "add",
            "-f",
            ".gitignore",
            "packages",
            "a.gen.py",
            "build/deep/er",
            "node_modules",
            ".github",
            "gone.py",
        ],
    );
    fs::remove_file(project.path("gone.py")).unwrap();
    let snapshot = project.build().snapshot;
    assert_eq!(
        paths(&snapshot),
        [
            "a.gen.py",
            "build/deep/er/kept.py",
            "packages/zod/index.ts",
            "packages/zod/package.json"
        ]
    );
    assert_accounted(&project.root(), &snapshot);
    let found = left_out(&project.root(), &Config::default()).unwrap();
    let of = |path: &str| found.iter().find(|out| *out.path == *path).unwrap();
    assert_eq!(of("b.gen.py").rule.as_deref(), Some("`*.gen.py` of .gitignore"));
    assert!(of("build").is_folder && of("build").by == LeftOutBy::Rule);
    assert_eq!(of("node_modules").by, LeftOutBy::Name);
    assert_eq!(of(".github").by, LeftOutBy::Hidden);
    assert_eq!(of("gone.py").by, LeftOutBy::Removed);
}

#[test]
fn manifests_are_read_without_git_too() {
    let project = Project::new(&[
        ("packages/zod/.gitignore", "**/package.json\n*.ts\n"),
        ("packages/zod/package.json", "{\"name\": \"zod\"}"),
        ("packages/zod/index.ts", "export function f() {}\n"),
        ("packages/zod/index.js", "function f() {}\n"),
    ]);
    assert_eq!(
        paths(&project.build().snapshot),
        ["packages/zod/index.js", "packages/zod/package.json"]
    );
}

#[test]
fn an_index_that_changes_is_followed() {
    let project = Project::new(&[
        (".gitignore", "*.gen.py\nout/\n"),
        ("a.py", "x = 1\n"),
        ("a.gen.py", "def a(): pass\n"),
    ]);
    project.write("out/b.py", "def b(): pass\n");
    git(&project.root(), &["init", "-q"]);
    git(&project.root(), &["add", "a.py"]);
    let mut indexer = project.indexer();
    assert_eq!(paths(&indexer.build().unwrap().snapshot), ["a.py"]);
    git(&project.root(), &["add", "-f", "a.gen.py", "out/b.py"]);
    let report = indexer.update(&[]).unwrap();
    assert_eq!(paths(&report.snapshot), ["a.gen.py", "a.py", "out/b.py"]);
    assert_same(&report.snapshot, &project.cold(1));
    git(&project.root(), &["rm", "-q", "--cached", "a.gen.py"]);
    let report = indexer.update(&[]).unwrap();
    assert_eq!(paths(&report.snapshot), ["a.py", "out/b.py"]);
    // Staging another content of what is tracked already is no reason to walk.
    project.write("a.py", "x = 2\n");
    git(&project.root(), &["add", "a.py"]);
    let report = indexer.update(&[project.path("a.py")]).unwrap();
    assert_eq!(report.read, 1);
    assert_same(&report.snapshot, &project.cold(2));
}

#[test]
fn a_folder_of_a_repository_knows_what_the_repository_tracks() {
    let project = Project::new(&[
        ("sub/.gitignore", "*.gen.py\n"),
        ("sub/a.gen.py", "x = 1\n"),
        ("sub/b.gen.py", "x = 1\n"),
    ]);
    git(&project.root(), &["init", "-q"]);
    git(&project.root(), &["add", "-f", "sub/a.gen.py"]);
    let index = tempfile::tempdir().unwrap();
    let options = index::build::Options {
        directory: Some(index.path().to_path_buf()),
        ..Default::default()
    };
    let snapshot = Indexer::open(&project.path("sub"), options)
        .unwrap()
        .build()
        .unwrap()
        .snapshot;
    assert_eq!(paths(&snapshot), ["a.gen.py"]);
}

/// A repository with ignored files that are tracked, at a folder.
fn library(at: &Path) {
    fs::create_dir_all(at.join("gen")).unwrap();
    fs::write(at.join(".gitignore"), "gen/\n").unwrap();
    fs::write(at.join("lib.py"), "def lib(): pass\n").unwrap();
    fs::write(at.join("gen/made.py"), "def made(): pass\n").unwrap();
    fs::write(at.join("gen/other.py"), "def other(): pass\n").unwrap();
    git(at, &["init", "-q", "-b", "main"]);
    git(at, &["add", "lib.py", ".gitignore"]);
    git(at, &["add", "-f", "gen/made.py"]);
    git(at, &["commit", "-q", "-m", "start"]);
}

#[test]
fn nested_repositories_submodules_and_work_trees() {
    let project = Project::new(&[(".gitignore", "/lib/lib.py\n"), ("main.py", "def main(): pass\n")]);
    let outside = tempfile::tempdir().unwrap();
    library(outside.path());
    library(&project.path("nested"));
    git(&project.root(), &["init", "-q", "-b", "main"]);
    let from = outside.path().to_str().unwrap();
    git(&project.root(), &["submodule", "--quiet", "add", from, "lib"]);
    git(&project.root(), &["add", "main.py", ".gitignore"]);
    git(&project.root(), &["commit", "-q", "-m", "start"]);
    let snapshot = project.build().snapshot;
    // What the outer repository ignores does not concern the submodule.
    let wanted = ["lib/gen/made.py", "lib/lib.py", "main.py"];
    // A clone that the outer repository knows nothing of is a project of its own, as is a work tree.
    let inside = project.path("inside");
    git(
        &project.root(),
        &["worktree", "add", "-q", "-b", "inside", inside.to_str().unwrap()],
    );
    assert_eq!(paths(&snapshot), wanted);
    assert_eq!(paths(&project.build().snapshot), wanted);
    let found = left_out(&project.root(), &Config::default()).unwrap();
    for name in ["inside", "nested"] {
        assert!(
            found
                .iter()
                .any(|out| &*out.path == name && out.by == LeftOutBy::Repository),
            "{found:?}"
        );
    }
    assert_accounted(&project.root(), &snapshot);
    assert_accounted(&project.path("lib"), &Project::build_at(&project.path("lib")));

    let tree: PathBuf = outside.path().join("work");
    git(
        outside.path(),
        &["worktree", "add", "-q", "-b", "other", tree.to_str().unwrap()],
    );
    let snapshot = Project::build_at(&tree);
    assert_eq!(paths(&snapshot), ["gen/made.py", "lib.py"]);
    assert_accounted(&tree, &snapshot);

    let clone = outside.path().join("clone");
    git(
        outside.path(),
        &["clone", "-q", project.root().to_str().unwrap(), clone.to_str().unwrap()],
    );
    let snapshot = Project::build_at(&clone);
    assert_accounted(&clone, &snapshot);
    let found = left_out(&clone, &Config::default()).unwrap();
    assert!(
        found
            .iter()
            .any(|out| &*out.path == "lib" && out.by == LeftOutBy::Submodule),
        "{found:?}"
    );
}

#[test]
fn sparse_checkouts_pointers_and_names_that_collide() {
    let project = Project::new(&[
        ("kept/a.py", "def a(): pass\n"),
        ("away/b.py", "def b(): pass\n"),
        ("away/deep/c.py", "def c(): pass\n"),
        (
            "model.py",
            "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 12345\n",
        ),
        ("Name.py", "def upper(): pass\n"),
    ]);
    let collides = !project.path("name.py").exists();
    if collides {
        project.write("name.py", "def lower(): pass\n");
    }
    git(&project.root(), &["init", "-q"]);
    git(&project.root(), &["add", "."]);
    git(&project.root(), &["commit", "-q", "-m", "start"]);
    for more in [&["--cone", "kept"][..], &["--cone", "--sparse-index", "kept"]] {
        git(&project.root(), &[&["sparse-checkout", "set"][..], more].concat());
        let snapshot = project.build().snapshot;
        let upper: &[&str] = if collides {
            &["Name.py", "kept/a.py", "name.py"]
        } else {
            &["Name.py", "kept/a.py"]
        };
        assert_eq!(paths(&snapshot), upper);
        assert_accounted(&project.root(), &snapshot);
        let found = left_out(&project.root(), &Config::default()).unwrap();
        let away: Vec<_> = found.iter().filter(|out| out.by == LeftOutBy::NotCheckedOut).collect();
        assert!(
            away.len() == 1 && &*away[0].path == "away" && away[0].is_folder,
            "{found:?}"
        );
        let pointer = snapshot.skipped().find(|skipped| skipped.path == "model.py").unwrap();
        assert_eq!(pointer.reason, SkipReason::LfsPointer);
    }
}

#[test]
fn a_tree_does_not_get_credentials_indexed() {
    let project = Project::new(&[
        (
            "lacon.toml",
            "[index]\nhidden = true\nignore_files = false\nmax_file_size = 9000000000\n",
        ),
        (".gitignore", "!.env\n"),
        (".env", "export TOKEN=secret\n"),
        (".envrc", "export TOKEN=secret\n"),
        (".aws/credentials.toml", "key = 'secret'\n"),
        (".tools/run.py", "def run(): pass\n"),
    ]);
    let snapshot = project.build().snapshot;
    assert_eq!(paths(&snapshot), [".tools/run.py", "lacon.toml"]);
    for path in [".env", ".envrc", ".aws/credentials.toml"] {
        let skipped = snapshot.skipped().find(|skipped| skipped.path == path);
        assert_eq!(skipped.unwrap().reason, SkipReason::Secret, "{path}");
    }
    assert_eq!(Config::load(&project.root()).unwrap().max_file_size, 64 << 20);
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_links_in_the_place_of_configuration_are_not_read() {
    let project = Project::new(&[("a.py", "x = 1\n"), ("sub/b.py", "x = 1\n")]);
    let pipe = |path: &str| {
        fs::create_dir_all(project.path(path).parent().unwrap()).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(project.path(path))
                .status()
                .unwrap()
                .success()
        );
    };
    for path in [
        ".gitignore",
        "sub/.ignore",
        ".git/info/exclude",
        ".git/HEAD",
        ".git/index",
    ] {
        pipe(path);
    }
    std::os::unix::fs::symlink("/dev/zero", project.path("sub/.gitignore")).unwrap();
    assert_eq!(paths(&project.build().snapshot), ["a.py", "sub/b.py"]);
    fs::remove_file(project.path(".git/HEAD")).unwrap();
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(paths(&project.build().snapshot), ["a.py", "sub/b.py"]);
    pipe("lacon.toml");
    let error = Indexer::open(&project.root(), Default::default()).err().unwrap();
    assert!(
        error.to_string().contains("lacon.toml` is not read (not_regular)"),
        "{error}"
    );
    fs::remove_file(project.path("lacon.toml")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", project.path("lacon.toml")).unwrap();
    assert!(Indexer::open(&project.root(), Default::default()).is_err());
}

#[derive(Clone, Debug)]
enum Step {
    Write(usize, u8),
    Remove(usize),
    Track(usize),
    Untrack(usize),
    Ignore(usize),
}

const FILES: &[&str] = &[
    "a.py",
    "gen/b.py",
    "gen/deep/c.py",
    "d.gen.py",
    "lib/e.py",
    "lib/package.json",
];
const RULES: &[&str] = &["", "gen/\n", "*.gen.py\n", "/*\n", "gen/*\n!gen/deep/\n", "lib/\n"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..FILES.len(), any::<u8>()).prop_map(|(file, text)| Step::Write(file, text)),
        (0..FILES.len()).prop_map(Step::Remove),
        (0..FILES.len()).prop_map(Step::Track),
        (0..FILES.len()).prop_map(Step::Untrack),
        (0..RULES.len()).prop_map(Step::Ignore),
    ]
}

proptest! {
    #![proptest_config(cases(6))]

    /// Whatever is written, tracked and ignored in whatever order, an update says what a cold build says.
    #[test]
    fn updates_equal_cold_builds_while_the_index_of_git_changes(steps in prop::collection::vec(step(), 1..14)) {
        let project = Project::new(&[("a.py", "def a(): pass\n")]);
        git(&project.root(), &["init", "-q"]);
        let mut indexer = project.indexer();
        indexer.build().unwrap();
        for step in steps {
            let changed = match step {
                Step::Write(file, text) => {
                    project.write(FILES[file], format!("def f{text}(): pass\n"));
                    FILES[file]
                }
                Step::Remove(file) => {
                    let _ = fs::remove_file(project.path(FILES[file]));
                    FILES[file]
                }
                Step::Track(file) => {
                    if project.path(FILES[file]).exists() {
                        git(&project.root(), &["add", "-f", FILES[file]]);
                    }
                    ".git/index"
                }
                Step::Untrack(file) => {
                    git(&project.root(), &["rm", "-q", "--cached", "--ignore-unmatch", FILES[file]]);
                    ".git/index"
                }
                Step::Ignore(rules) => {
                    project.write(".gitignore", RULES[rules]);
                    ".gitignore"
                }
            };
            let report = indexer.update(&[project.path(changed)]).unwrap();
            assert_same(&report.snapshot, &project.unseen_cold());
        }
    }
}
