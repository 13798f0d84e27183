//! Which commits last changed some lines of a file. Git follows the lines back through what was inserted and removed above them.

use serde::{Deserialize, Serialize};

use crate::error::QuestionError;
use crate::git::Git;
use crate::naming;
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskHistory {
    /// Path of the file, or the end of it.
    pub path: String,
    /// First line, 1-based; without lines the whole file is asked about.
    pub first: Option<u32>,
    /// Last line, included.
    pub last: Option<u32>,
    /// Commits at most (default 10).
    pub limit: Option<usize>,
}

/// The commits, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LineHistory {
    /// The file.
    pub path: String,
    /// The newest commits that changed the lines as they were committed.
    pub commits: Vec<Commit>,
    /// Why there may be more than these, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A commit.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Commit {
    /// The beginning of its hash.
    pub id: String,
    /// Seconds since 1970.
    pub at: i64,
    /// Who wrote it.
    pub author: String,
    /// Its first line.
    pub subject: String,
}

/// Most commits of one answer.
const MOST_COMMITS: usize = 100;
/// Between the parts of a commit: nobody types it.
const BETWEEN: char = '\u{1f}';

/// The commits that last changed the lines.
pub fn line_history(workspace: &Workspace, ask: &AskHistory) -> Result<LineHistory, QuestionError> {
    let (number, file) = naming::find_file(workspace, &ask.path)?;
    let mut found = LineHistory {
        path: workspace.path(number, file.path()),
        ..LineHistory::default()
    };
    let Some(repository) = workspace.repository(number) else {
        return Ok(found);
    };
    let most = format!("-{}", ask.limit.unwrap_or(10).clamp(1, MOST_COMMITS));
    let mut arguments = vec!["log", "--no-show-signature", "--format=%h%x1f%ct%x1f%an%x1f%s", &most];
    let lines = match (ask.first, ask.last) {
        (Some(first), Some(last)) if first >= 1 && last >= first => Some(format!("-L{first},{last}:{}", file.path())),
        _ => None,
    };
    match &lines {
        Some(lines) => arguments.extend(["-s", lines]),
        None => arguments.extend(["--", file.path()]),
    }
    match Git::open(&repository.root).and_then(|git| git.run(&arguments)) {
        Ok(text) => found.commits = text.lines().filter_map(commit).collect(),
        Err(error) => found.note = Some(error.to_string()),
    }
    Ok(found)
}

fn commit(line: &str) -> Option<Commit> {
    let mut parts = line.splitn(4, BETWEEN).map(str::to_owned);
    Some(Commit {
        id: parts.next()?,
        at: parts.next()?.parse().ok()?,
        author: parts.next()?,
        subject: parts.next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_as_git_prints_it() {
        let read = commit("0a1b2c3\u{1f}1790000000\u{1f}Ada\u{1f}cart: a \u{1f} in the subject").unwrap();
        assert_eq!(
            (read.id.as_str(), read.at, read.author.as_str()),
            ("0a1b2c3", 1_790_000_000, "Ada")
        );
        assert_eq!(read.subject, "cart: a \u{1f} in the subject");
        assert_eq!(commit("diff --git a/x b/x"), None);
    }
}
