//! What git knows: which files changed lately, and which lines differ between a base and the files as they are now.
//!
//! The `git` command is run for a few seconds at most, as [`crate::git`] runs it: nothing that the repository names is started.

use std::collections::HashMap;
use std::path::Path;

use index::git::{Repository, TrackedKind};

use crate::error::QuestionError;
use crate::git::{Git, GitError};

/// Submodules at most that are looked into.
const MOST_SUBMODULES: usize = 50;
/// Commits that count as recent.
const RECENT: usize = 300;

/// How lately each file changed: 1 for the newest commit, falling with age; files that did not are missing.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Recency {
    files: HashMap<String, f32>,
}

impl Recency {
    /// From the newest commits of the repository at `root`; empty where there is none.
    pub(crate) fn of(root: &Path) -> Recency {
        let limit = format!("-n{RECENT}");
        let arguments = [
            "log",
            &limit,
            "--format=%x01",
            "--name-only",
            "--no-renames",
            "--relative",
            "-z",
        ];
        let Ok(text) = Git::open(root).and_then(|git| git.run(&arguments)) else {
            return Recency::default();
        };
        let mut files: HashMap<String, f32> = HashMap::new();
        let mut commit = 0usize;
        for part in text.split(['\0', '\n']) {
            if part.starts_with('\u{1}') {
                commit += 1;
            } else if !part.is_empty() {
                let age = commit.saturating_sub(1) as f32 / RECENT as f32;
                files.entry(part.to_string()).or_insert((1.0 - age).powi(2));
            }
        }
        Recency { files }
    }

    pub(crate) fn of_file(&self, path: &str) -> f32 {
        self.files.get(path).copied().unwrap_or(0.0)
    }
}

/// What differs between a base and the files as they are now.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Change {
    /// The commit it is compared with.
    pub(crate) base: String,
    /// The files that are still there, with the lines that are new or next to what was removed.
    pub(crate) files: Vec<(String, Vec<(u32, u32)>)>,
    /// The files that are gone.
    pub(crate) removed: Vec<String>,
    /// The files that bear another name: before and now.
    pub(crate) renamed: Vec<(String, String)>,
    /// Whether git knows no commit that both sides come from, so that they are compared as they are.
    pub(crate) is_apart: bool,
}

/// Branches that others' work is usually merged into, in the order they are tried.
const TRUNKS: &[&str] = &[
    "origin/HEAD",
    "origin/main",
    "origin/master",
    "upstream/main",
    "main",
    "master",
    "trunk",
];

/// From the merge base with `base` to the files as they are now, new files included.
pub(crate) fn change(root: &Path, base: Option<&str>) -> Result<Change, QuestionError> {
    let wrong = |problem: String| QuestionError::Argument { name: "base", problem };
    let failed = |error: GitError| wrong(error.to_string());
    let git = Git::open(root).map_err(failed)?;
    let commit = |name: &str| {
        let name = format!("{name}^{{commit}}");
        let text = git
            .run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name])
            .ok()?;
        Some(text.trim().to_string()).filter(|hash| !hash.is_empty())
    };
    let head = commit("HEAD").ok_or_else(|| wrong("the repository has no commit yet".to_string()))?;
    let start = match base {
        Some(base) => commit(base).ok_or_else(|| wrong(format!("git knows no commit `{base}`")))?,
        // On the trunk itself, only what is not committed yet is the change.
        None => TRUNKS
            .iter()
            .find_map(|trunk| commit(trunk))
            .unwrap_or_else(|| head.clone()),
    };
    let merge_base = git
        .run(&["merge-base", &start, &head])
        .map(|text| text.trim().to_string());
    let is_apart = merge_base.is_err();
    let from = merge_base.unwrap_or(start);
    let mut change = difference(&git, &from).map_err(failed)?;
    submodules(&git, root, &from, &mut change);
    change.base = from;
    change.is_apart = is_apart;
    let untracked = git
        .run(&["ls-files", "--others", "--exclude-standard", "-z"])
        .unwrap_or_default();
    for path in untracked
        .split('\0')
        .filter(|path| !path.is_empty() && !path.starts_with(".lacon/"))
    {
        change.files.push((path.to_string(), vec![(1, u32::MAX)]));
    }
    change.files.sort();
    Ok(change)
}

/// From a commit to the files as they are now. Git itself would start processes in submodules, by their configuration.
fn difference(git: &Git, from: &str) -> Result<Change, GitError> {
    let diff = git.run(&[
        "diff",
        "--unified=0",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--find-renames",
        "--ignore-submodules=all",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--relative",
        from,
        "--",
    ])?;
    Ok(read_diff(&diff))
}

/// What changed in the submodules that are checked out, each from the commit that the repository had it at.
fn submodules(git: &Git, root: &Path, from: &str, change: &mut Change) {
    let top = &git.repository().work_tree;
    let tracked = git.repository().tracked();
    let here = tracked
        .below(b"")
        .filter(|(_, kind)| *kind == TrackedKind::Submodule)
        .filter_map(|(name, _)| std::str::from_utf8(name).ok());
    for name in here.take(MOST_SUBMODULES) {
        let folder = top.join(name);
        let Some(shown) = root
            .canonicalize()
            .ok()
            .and_then(|root| Some(folder.strip_prefix(root).ok()?.to_string_lossy().into_owned()))
        else {
            continue;
        };
        // One whose repository does not point back is not looked into, nor what a link of the tree leads to.
        let is_here = folder.canonicalize().is_ok_and(|real| real == folder);
        if !is_here || Repository::at(&folder).is_err() {
            continue;
        }
        let wanted = format!("{from}:{name}");
        let inside = git
            .run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])
            .and_then(|commit| difference(&Git::open(&folder)?, commit.trim()));
        let Ok(inside) = inside else { continue };
        let below = |path: String| format!("{shown}/{path}");
        change
            .files
            .extend(inside.files.into_iter().map(|(path, lines)| (below(path), lines)));
        change.removed.extend(inside.removed.into_iter().map(below));
        change
            .renamed
            .extend(inside.renamed.into_iter().map(|(old, new)| (below(old), below(new))));
    }
}

/// Reads a unified diff without context.
pub(crate) fn read_diff(diff: &str) -> Change {
    let mut change = Change::default();
    let mut old = String::new();
    // Lines of a hunk that are still to come; they may look like anything.
    let mut body = 0u32;
    let mut is_removed = false;
    for line in diff.lines() {
        if body > 0 && line.starts_with(['+', '-']) {
            body -= 1;
            continue;
        }
        body = 0;
        if let Some(path) = line.strip_prefix("rename from ") {
            old = unquoted(path, "");
        } else if let Some(path) = line.strip_prefix("rename to ") {
            change.renamed.push((std::mem::take(&mut old), unquoted(path, "")));
        } else if let Some(path) = line.strip_prefix("--- ") {
            old = unquoted(path, "a/");
        } else if let Some(path) = line.strip_prefix("+++ ") {
            is_removed = path.trim_end() == "/dev/null";
            match path.trim_end() {
                "/dev/null" => change.removed.push(std::mem::take(&mut old)),
                path => change.files.push((unquoted(path, "b/"), Vec::new())),
            }
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            let Some((removed, added)) = hunk_ranges(hunk) else {
                continue;
            };
            body = removed.1 + added.1;
            if let Some((_, ranges)) = change.files.last_mut().filter(|_| !is_removed) {
                // A pure removal touches the line before and the line after.
                let last = match added.1 {
                    0 => added.0.saturating_add(1),
                    count => added.0.saturating_add(count - 1),
                };
                ranges.push((added.0.max(1), last));
            }
        }
    }
    change
}

/// `-12,3 +14,0 @@`: start and count on either side.
fn hunk_ranges(hunk: &str) -> Option<((u32, u32), (u32, u32))> {
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse::<u32>().ok()?))
    };
    let mut parts = hunk.split(' ');
    let removed = range(parts.next()?.strip_prefix('-')?)?;
    let added = range(parts.next()?.strip_prefix('+')?)?;
    Some((removed, added))
}

fn unquoted(path: &str, prefix: &str) -> String {
    let path = path.trim_end_matches(['\t', '\r']).trim_matches('"');
    path.strip_prefix(prefix).unwrap_or(path).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::{change, read_diff};

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
            .args(arguments)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    fn repository(folder: &Path) {
        std::fs::create_dir(folder).unwrap();
        git(folder, &["init", "-q"]);
        std::fs::write(folder.join("a.py"), "a = 1\n").unwrap();
        git(folder, &["add", "."]);
        git(folder, &["commit", "-q", "-m", "start"]);
    }

    /// A repository tracks a submodule at a path that a link of the tree leads away from.
    #[test]
    fn a_submodule_behind_a_link_is_not_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, library) = (folder.path().join("tree"), folder.path().join("library"));
        repository(&tree);
        repository(&library);
        git(
            &tree,
            &[
                "submodule",
                "--quiet",
                "add",
                library.to_str().unwrap(),
                "parts/library",
            ],
        );
        git(&tree, &["commit", "-q", "-m", "with a submodule"]);
        std::fs::write(tree.join("parts/library/a.py"), "a = 2\n").unwrap();
        let files = |change: super::Change| -> Vec<String> { change.files.into_iter().map(|(path, _)| path).collect() };
        assert_eq!(files(change(&tree, None).unwrap()), ["parts/library/a.py"]);
        std::fs::remove_dir_all(tree.join("parts")).unwrap();
        std::os::unix::fs::symlink(folder.path(), tree.join("parts")).unwrap();
        std::fs::write(library.join("a.py"), "a = 3\n").unwrap();
        let found = files(change(&tree, None).unwrap());
        assert!(!found.iter().any(|path| path.contains("a.py")), "{found:?}");
    }

    #[test]
    fn a_diff_names_files_and_lines() {
        let change = read_diff(
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -3 +3,2 @@ def f\n-x\n+y\n+--- z\n@@ -9,2 +9,0 @@\n-a\n-b\n\
             diff --git a/gone.py b/gone.py\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        );
        assert_eq!(change.files, [("a.py".to_string(), vec![(3, 4), (9, 10)])]);
        assert_eq!(change.removed, ["gone.py"]);
    }

    #[test]
    fn a_file_that_was_renamed_is_changed_where_it_is_other() {
        let change = read_diff(
            "diff --git a/old.py b/new.py\nsimilarity index 90%\nrename from old.py\nrename to new.py\n--- a/old.py\n+++ b/new.py\n\
             @@ -3 +3 @@\n-x\n+y\ndiff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n",
        );
        assert_eq!(change.files, [("new.py".to_string(), vec![(3, 3)])]);
        let name = |old: &str, new: &str| (old.to_string(), new.to_string());
        assert_eq!(change.renamed, [name("old.py", "new.py"), name("a.py", "b.py")]);
        assert!(change.removed.is_empty());
    }
}
