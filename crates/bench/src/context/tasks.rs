//! Tasks from history: what was written about a change, and which files it touched. What tools added to the words (trailers,
//! links, lists of files) is taken out, or the answer would stand in the question.

use std::path::Path;

use anyhow::Context;
use codeintel::Workspace;
use terminal::failure::Failure;

/// One change.
pub(super) struct Task {
    /// The commit or the patch file.
    pub(super) name: String,
    /// What was written about it.
    pub(super) text: String,
    /// The files it touched that were there before.
    pub(super) files: Vec<String>,
    /// What it changed in them.
    pub(super) hunks: Vec<Hunk>,
}

/// Lines as they were, and which of them the change took out or put something next to.
pub(super) struct Hunk {
    path: String,
    before: Vec<String>,
    changed: Vec<usize>,
}

/// The symbols that a change touched, of those that the tree has: a hunk counts where its lines stand in the tree as they are.
pub(super) fn symbols(workspace: &Workspace, task: &Task) -> Vec<String> {
    let repository = &workspace.repositories()[0];
    let mut found: Vec<String> = Vec::new();
    for hunk in &task.hunks {
        let Some(file) = repository.snapshot.find_file(&hunk.path) else {
            continue;
        };
        let Ok((text, _)) = index::scan::read_source(&repository.root, &hunk.path) else {
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        let mut windows = lines.windows(hunk.before.len().max(1));
        let Some(start) = windows.position(|window| window.iter().eq(&hunk.before)) else {
            continue;
        };
        for place in &hunk.changed {
            let line = (start + place + 1) as u32;
            let symbol = repository
                .snapshot
                .symbol_at(file.id(), line)
                .filter(|symbol| !symbol.is_file());
            if let Some(id) = symbol.map(|symbol| workspace.id(0, symbol))
                && !found.contains(&id)
            {
                found.push(id);
            }
        }
    }
    found
}

/// Commits that are looked at.
const MOST_COMMITS: &str = "--max-count=3000";

/// The commits after `since`, newest first, merges left out.
pub(super) fn from_commits(repository: &Path, since: &str) -> Result<Vec<Task>, Failure> {
    let range = format!("{since}..HEAD");
    let text = git(
        repository,
        &[
            "log",
            "--no-merges",
            "--no-renames",
            MOST_COMMITS,
            "--patch",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--format=%x01%h%x02%B%x02",
            "--end-of-options",
            &range,
            "--",
        ],
    )?;
    let mut tasks = Vec::new();
    for commit in text.split('\u{1}').skip(1) {
        let mut parts = commit.split('\u{2}');
        let (Some(name), Some(message), Some(list)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        tasks.push(Task {
            name: name.to_string(),
            text: words(message),
            files: touched(list),
            hunks: hunks(list),
        });
    }
    tasks.retain(|task| !task.text.is_empty());
    Ok(tasks)
}

/// The patch files of a directory, in the order of their names.
pub(super) fn from_patches(directory: &Path) -> Result<Vec<Task>, Failure> {
    let mut paths = Vec::new();
    collect(directory, &mut paths).with_context(|| format!("cannot read `{}`", directory.display()))?;
    paths.sort();
    let mut tasks = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Without words of a person there is no task, only a file name.
        let (head, body) = split(&text);
        let task = Task {
            name,
            text: words(&head),
            files: touched(body),
            hunks: hunks(body),
        };
        if task.text.split_whitespace().count() >= 3 {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

/// The lines of a file.
pub(super) fn from_lines(path: &Path) -> Result<Vec<Task>, Failure> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let lines = text.lines().map(str::trim).enumerate();
    let task = |(number, line): (usize, &str)| Task {
        name: format!("line {}", number + 1),
        text: line.to_string(),
        files: Vec::new(),
        hunks: Vec::new(),
    };
    Ok(lines.filter(|(_, line)| !line.is_empty()).map(task).collect())
}

fn collect(directory: &Path, paths: &mut Vec<std::path::PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "patch" || extension == "diff")
        {
            paths.push(path);
        }
    }
    Ok(())
}

/// The head that a person wrote, and the diff.
fn split(patch: &str) -> (String, &str) {
    let starts = ["\ndiff ", "\n--- ", "\nIndex: "];
    let end = starts
        .iter()
        .filter_map(|start| patch.find(start))
        .min()
        .unwrap_or(patch.len());
    (patch[..end].to_string(), &patch[end..])
}

/// The files that a diff changes, one leading component taken off; one that is new was not there to be found.
fn touched(diff: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in diff.lines().filter_map(|line| line.strip_prefix("--- ")) {
        let path = line.split('\t').next().unwrap_or(line).trim();
        if path != "/dev/null"
            && let Some((_, rest)) = path.split_once('/')
            && !files.iter().any(|known| known == rest)
        {
            files.push(rest.to_string());
        }
    }
    files
}

/// The hunks of a diff, one leading component taken off the paths.
fn hunks(diff: &str) -> Vec<Hunk> {
    let mut found: Vec<Hunk> = Vec::new();
    let mut path = String::new();
    let mut open = false;
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("--- ") {
            let name = name.split('\t').next().unwrap_or(name).trim();
            path = name.split_once('/').map_or("", |(_, rest)| rest).to_string();
            open = false;
        } else if line.starts_with("@@ -") {
            open = true;
            found.push(Hunk {
                path: path.clone(),
                before: Vec::new(),
                changed: Vec::new(),
            });
        } else if let Some(hunk) = found.last_mut().filter(|_| open) {
            match line.split_at_checked(1) {
                Some((" ", text)) => hunk.before.push(text.to_string()),
                Some(("-", text)) => {
                    hunk.changed.push(hunk.before.len());
                    hunk.before.push(text.to_string());
                }
                // What is put in belongs to what stands before it.
                Some(("+", _)) => hunk.changed.push(hunk.before.len().saturating_sub(1)),
                // Mail programs take the space off an empty line.
                None => hunk.before.push(String::new()),
                Some(_) => open = false,
            }
        }
    }
    for hunk in &mut found {
        while hunk.before.last().is_some_and(String::is_empty) {
            hunk.before.pop();
        }
        let most = hunk.before.len();
        hunk.changed.retain(|place| *place < most);
        hunk.changed.dedup();
    }
    found.retain(|hunk| !hunk.changed.is_empty());
    found
}

/// Headers that say who and when, not what.
const HEADERS: &[&str] = &[
    "from",
    "date",
    "author",
    "bug",
    "bug-debian",
    "bug-ubuntu",
    "origin",
    "forwarded",
    "applied-upstream",
    "last-update",
    "reviewed-by",
    "signed-off-by",
    "acked-by",
    "tested-by",
    "reported-by",
    "cc",
    "change-id",
    "co-authored-by",
    "git-svn-id",
    "patch-name",
    "gbp-pq",
    "upstream",
    "closes",
    "fixes",
    "see-also",
    "link",
    "message-id",
    "cherry-picked-from",
    "suggested-by",
    "debian-bug",
    "upstream-bug",
    "commit",
    "index",
    "backported-by",
    "in-reply-to",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "part-of",
];

/// What a person wrote, without headers, trailers, links, and file statistics.
fn words(message: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    for line in message.lines() {
        let line = line.trim();
        let (name, rest) = line.split_once(':').unwrap_or(("", line));
        let header = name.to_ascii_lowercase();
        if HEADERS.contains(&header.as_str()) || line == "---" || is_envelope(line) || is_export(line) {
            continue;
        }
        // `file.c | 12 ++--` and `2 files changed` list the answer.
        if line.contains(" | ") && line.ends_with(['+', '-'])
            || line.contains("files changed")
            || line.contains("file changed,")
        {
            continue;
        }
        if line.starts_with("(cherry picked") || line.starts_with("create mode") || line.starts_with("delete mode") {
            continue;
        }
        let line = match header.as_str() {
            "subject" | "description" => rest.trim(),
            _ => line,
        };
        let line = line
            .split_whitespace()
            .filter(|word| !word.contains("://") && !word.contains('@'));
        kept.push(line.collect::<Vec<_>>().join(" "));
    }
    let text = kept.join("\n");
    let text = text.trim();
    // `[PATCH 2/7]`, as mail has it.
    let numbered = text
        .strip_prefix("[PATCH")
        .and_then(|rest| rest.split_once(']'))
        .filter(|(number, _)| number.len() < 16);
    numbered.map_or(text, |(_, rest)| rest).trim().to_string()
}

/// `From 1d38781d… Mon Sep 17 00:00:00 2001`: the line by which a mailbox tells mails apart.
fn is_envelope(line: &str) -> bool {
    let hash = line.strip_prefix("From ").and_then(|rest| rest.split(' ').next());
    hash.is_some_and(|hash| hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// `# User …`: what Mercurial writes above the message of a changeset.
fn is_export(line: &str) -> bool {
    let rest = line.strip_prefix("# ").map(str::trim_start);
    let heads = ["HG changeset patch", "User ", "Date ", "Branch ", "Node ID ", "Parent "];
    let is_time = |rest: &str| {
        let words: Vec<&str> = rest.split(' ').collect();
        matches!(words.as_slice(), [_, _, _, clock, year, zone]
            if clock.contains(':') && year.len() == 4 && zone.starts_with(['+', '-']))
    };
    rest.is_some_and(|rest| heads.iter().any(|head| rest.starts_with(head)) || is_time(rest))
}

/// A copy of the repository at a commit, with the history up to it and nothing later.
pub(super) fn checkout(repository: &Path, commit: &str, target: &Path) -> Result<(), Failure> {
    Ok(codeintel::git::copy_at(repository, commit, target)?)
}

fn git(directory: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let git = codeintel::git::Git::open(directory)?.with_patience(std::time::Duration::from_secs(600));
    Ok(git.run(arguments)?)
}

#[cfg(test)]
mod tests {
    use super::{hunks, split, touched, words};

    #[test]
    fn a_patch_is_its_words_and_its_files() {
        let patch = "From 1d38781da934809e6ce0b8c3718c4b3bccdfe1d2 Mon Sep 17 00:00:00 2001\n\
                     From: A <a@example.org>\nDate: Mon\nSubject: [PATCH 1/2] Fix the parser\n\nIt lost a token.\nBug: https://x.org/1\n\
                     Signed-off-by: A <a@example.org>\n---\n src/parse.c | 12 ++--\n 1 file changed, 2 insertions(+)\n\n\
                     diff --git a/src/parse.c b/src/parse.c\n--- a/src/parse.c\n+++ b/src/parse.c\n@@ -1 +1 @@\n-a\n+b\n\
                     --- /dev/null\n+++ b/new.c\n";
        let (head, body) = split(patch);
        assert_eq!(words(&head), "Fix the parser\n\nIt lost a token.");
        assert_eq!(touched(body), ["src/parse.c"]);
        let hunks = hunks(body);
        assert_eq!((hunks.len(), hunks[0].path.as_str()), (1, "src/parse.c"));
        assert_eq!(
            (&hunks[0].before[..], &hunks[0].changed[..]),
            (&["a".to_string()][..], &[0][..])
        );
    }

    #[test]
    fn what_mercurial_writes_above_a_message_is_no_task() {
        let head = "# HG changeset patch\n# User A <a@example.org>\n# Date 1649671433 -7200\n#      Mon Apr 11 12:03:53 2022 +0200\n\
                    # Node ID d3df32e12246208fc8bb9507ff921099348c6783\n# Parent  5005928cac60a43d98d88523713983efdc204d50\n\
                    tests: silence warnings\n\n# a remark of the author\n";
        assert_eq!(words(head), "tests: silence warnings\n\n# a remark of the author");
    }
}
