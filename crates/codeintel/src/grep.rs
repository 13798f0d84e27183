//! `grep`: ripgrep's lines, read with the graph: grouped under the definition around them, definitions first, tests folded, at most a
//! screenful with what was left out by folder.
//!
//! The same lines as `rg` finds: indexed files and those that no grammar reads, hidden ones left out, patterns as regular expressions.

mod search;
mod text;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use text::{LAYOUT, NOTHING};

use self::search::Hit;
pub(crate) use self::search::looks_like_expression;
use crate::error::QuestionError;
use crate::page::{self, Page};
use crate::traverse;
use crate::uses::{Count, counted};
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grep {
    /// Regular expressions, any of which may match.
    pub patterns: Vec<String>,
    /// The patterns are plain text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
    /// Letters of either case are equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignore_case: bool,
    /// Equal unless a pattern has a capital.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub smart_case: bool,
    /// Only whole words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub word: bool,
    /// Lines that do not match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invert: bool,
    /// Only below these folders or files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Only files that match a glob; with `!` in front, none that do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub globs: Vec<String>,
    /// Only files of these languages or extensions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Lines shown before each match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u32>,
    /// Lines shown after each match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// Matching lines of each file at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_count: Option<u32>,
    /// Only the files with a match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files: bool,
    /// Only how many lines of each file match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count: bool,
    /// List matches in tests even where others are there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tests: bool,
    /// Also hidden files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Matches per page (default 50).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What matches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GrepFound {
    /// Matching lines, with those around them that were asked for; for `files` and `count` one for each file.
    pub matches: Vec<Match>,
    /// Matching lines in all.
    pub total: u64,
    /// Files with a match.
    pub files: u64,
    /// Matching lines in tests that are not listed.
    pub folded_tests: u64,
    /// Where those are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_files: Vec<Count>,
    /// Where those beyond this page are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Count>,
    /// For the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How the patterns were understood, what was not searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether lines are meant, or files, or counts.
    pub shows: Shows,
}

/// What rows are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shows {
    /// Lines.
    #[default]
    Lines,
    /// Files.
    Files,
    /// Files with how many lines match.
    Counts,
}

/// A line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// The file.
    pub path: String,
    /// The line; 0 for a file as a whole.
    #[serde(default, skip_serializing_if = "is_none")]
    pub line: u32,
    /// What it says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The definition around it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub within: String,
    /// First line of that.
    #[serde(default, skip_serializing_if = "is_none")]
    pub first: u32,
    /// Last line of that.
    #[serde(default, skip_serializing_if = "is_none")]
    pub last: u32,
    /// Whether it is shown for a match beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_context: bool,
    /// Matching lines of the file.
    #[serde(default, skip_serializing_if = "is_none")]
    pub count: u32,
}

fn is_none(number: &u32) -> bool {
    *number == 0
}

/// Matches per page.
const PAGE: usize = 50;

/// What matches.
pub fn grep(workspace: &Workspace, ask: &Grep) -> Result<GrepFound, QuestionError> {
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), PAGE)?;
    let searched = search::search(workspace, ask)?;
    let mut found = GrepFound {
        total: searched.hits.len() as u64,
        notes: searched.notes,
        shows: match (ask.files, ask.count) {
            (true, _) => Shows::Files,
            (_, true) => Shows::Counts,
            _ => Shows::Lines,
        },
        ..GrepFound::default()
    };
    let mut hits = searched.hits;
    let mut files: Vec<(&str, u32)> = Vec::new();
    for hit in &hits {
        match files.last_mut().filter(|(path, _)| *path == hit.path) {
            Some((_, count)) => *count += 1,
            None => files.push((&hit.path, 1)),
        }
    }
    found.files = files.len() as u64;
    if found.shows != Shows::Lines {
        let end = page.offset.saturating_add(page.limit.max(MOST_FILES)).min(files.len());
        found.left_out = counted(files[end..].iter().map(|(path, _)| folder(path)));
        found.next_cursor = (end < files.len()).then(|| page::cursor(workspace, end));
        found.matches = files[page.offset.min(end)..end]
            .iter()
            .map(|&(path, count)| Match {
                path: path.to_owned(),
                count,
                ..Match::default()
            })
            .collect();
        return Ok(found);
    }
    let is_test = |hit: &Hit| traverse::is_test_path(&hit.path);
    // A folder of tests that was asked for is no reason to fold what is in it.
    let folds = !ask.tests
        && !ask
            .paths
            .iter()
            .any(|path| traverse::is_test_path(&format!("{}/x", path.trim_end_matches('/'))));
    if folds && hits.iter().any(|hit| !is_test(hit)) {
        let (tests, others): (Vec<Hit>, Vec<Hit>) = hits.into_iter().partition(is_test);
        hits = others;
        found.folded_tests = tests.len() as u64;
        found.test_files = counted(tests.iter().map(|hit| hit.path.as_str()));
    }
    // Files that define what is looked for come first, in them the order of lines.
    let defining: std::collections::BTreeSet<String> = hits
        .iter()
        .filter(|hit| hit.defines)
        .map(|hit| hit.path.clone())
        .collect();
    hits.sort_by_cached_key(|hit| (!defining.contains(&hit.path), hit.order));
    let end = page.offset.saturating_add(page.limit).min(hits.len());
    found.left_out = counted(hits[end..].iter().map(|hit| folder(&hit.path)));
    found.next_cursor = (end < hits.len()).then(|| page::cursor(workspace, end));
    let shown = &hits[page.offset.min(end)..end];
    found.matches = search::with_context(workspace, shown, ask.before.unwrap_or(0), ask.after.unwrap_or(0));
    Ok(found)
}

/// Files per page where only files are listed.
const MOST_FILES: usize = 200;

fn folder(path: &str) -> &str {
    path.rfind('/').map_or("./", |at| &path[..=at])
}
