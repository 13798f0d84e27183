//! What git knows: which files changed lately, and which lines differ between a base and the files as they are now.
//!
//! The `git` command is run for a few seconds at most, without hooks, helpers, pagers, filters or prompts, and reads only.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::QuestionError;

/// Longest run of one command.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most output that is read.
const MOST_OUTPUT: u64 = 32 << 20;
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
        let Ok(text) = git(root, &arguments) else {
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
    if let Err(problem) = git(root, &["rev-parse", "--git-dir"]) {
        // A repository of someone else's, or no git at all: git says so itself.
        return Err(wrong(match problem.contains("not a git repository") {
            true => format!("`{}` is not in a git repository", root.display()),
            false => problem,
        }));
    }
    let commit = |name: &str| {
        let name = format!("{name}^{{commit}}");
        let text = git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).ok()?;
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
    let merge_base = git(root, &["merge-base", &start, &head]).map(|text| text.trim().to_string());
    let is_apart = merge_base.is_err();
    let from = merge_base.unwrap_or(start);
    let diff = git(
        root,
        &[
            "diff",
            "--unified=0",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--find-renames",
            "--submodule=diff",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--relative",
            &from,
            "--",
        ],
    )
    .map_err(wrong)?;
    let mut change = read_diff(&diff);
    change.base = from;
    change.is_apart = is_apart;
    let untracked = git(root, &["ls-files", "--others", "--exclude-standard", "-z"]).unwrap_or_default();
    for path in untracked
        .split('\0')
        .filter(|path| !path.is_empty() && !path.starts_with(".lacon/"))
    {
        change.files.push((path.to_string(), vec![(1, u32::MAX)]));
    }
    change.files.sort();
    Ok(change)
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

/// Runs git at `root` and gives what it prints. The error is what it says.
fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut child = Command::new("git")
        .current_dir(root)
        .args([
            "--no-pager",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.quotePath=false",
        ])
        .args([
            "-c",
            "diff.external=",
            "-c",
            "log.showSignature=false",
            "-c",
            "core.pager=cat",
        ])
        .args(arguments)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        // The empty tree: no attribute of the repository can name a filter to run.
        .env("GIT_ATTR_SOURCE", "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let reader = std::thread::spawn(move || read_all(output));
    let complaints = std::thread::spawn(move || read_all(errors));
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if started.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            _ => break None,
        }
    };
    if status.is_none() {
        // Already gone is as good.
        let _ = child.kill();
        let _ = child.wait();
    }
    let text = reader.join().unwrap_or_default();
    let complaint = complaints.join().unwrap_or_default();
    match status {
        Some(status) if status.success() => Ok(text),
        Some(_) => Err(format!("git: {}", complaint.lines().next().unwrap_or("it failed"))),
        None => Err(format!("git took longer than {} seconds", PATIENCE.as_secs())),
    }
}

fn read_all(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // What was read before an error is still what git said.
        let _ = stream.take(MOST_OUTPUT).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::read_diff;

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
