//! `search_text`: exact text and regular expressions in the indexed files, as they are on disk now.

use std::time::Duration;

use index::search::text::{self, Bounds, Case, MAX_PATTERN, Pattern, PatternError, Tree};
use index::snapshot::FileView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::answers::{TextFound, TextLine};

use crate::error::QuestionError;
use crate::grep::looks_like_expression;
use crate::page::{self, Page};
use crate::type_definition::OutputFormat;
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchText {
    /// Text, or a regular expression with regex.
    pub query: String,
    /// Whether query is a regular expression.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub regex: bool,
    /// smart (default: exact if query has a capital), sensitive or ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseWord>,
    /// Only whole words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_word: bool,
    /// Only paths that start with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Only this language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Lines per page (default 50).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// markdown or json: the same as format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
}

/// Letters of either case being equal or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CaseWord {
    /// Equal unless the query has a capital.
    #[default]
    Smart,
    /// Different.
    Sensitive,
    /// Equal.
    Ignored,
}

/// Longest line that is given whole, in bytes.
const LINE_LENGTH: usize = 240;
/// When a search gives up and says how far it came.
const TIME: Duration = Duration::from_secs(10);

/// The lines that match.
pub fn search_text(workspace: &Workspace, ask: &SearchText) -> Result<TextFound, QuestionError> {
    let case = match ask.case.unwrap_or_default() {
        CaseWord::Smart => Case::Smart,
        CaseWord::Sensitive => Case::Sensitive,
        CaseWord::Ignored => Case::Ignored,
    };
    let pattern = match ask.regex {
        true => Pattern::regex(&ask.query, case, ask.whole_word),
        false => Pattern::literal(&ask.query, case, ask.whole_word),
    };
    let pattern = pattern.map_err(|error| QuestionError::Argument {
        name: "query",
        problem: match error {
            PatternError::Wrong(_) => format!("{error}; leave out `regex` to look for the text itself"),
            PatternError::Empty => format!("is empty: give a text of 1 to {MAX_PATTERN} bytes"),
            error => error.to_string(),
        },
    })?;
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let end = page.offset.saturating_add(page.limit);
    let mut found = TextFound::default();
    let mut lines: Vec<TextLine> = Vec::new();
    let mut notes: Vec<String> = workspace.incomplete().into_iter().collect();
    let (mut unreadable, mut changed, mut of) = (0, 0, 0);
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let accept = |file: FileView<'_>| {
            ask.path
                .as_deref()
                .is_none_or(|path| fits(path, &repository.name, file.path()))
                && ask
                    .language
                    .as_deref()
                    .is_none_or(|language| file.language() == language)
        };
        let bounds = Bounds {
            lines: end.saturating_sub(lines.len()),
            line_length: LINE_LENGTH,
            time: TIME,
        };
        let tree = Tree {
            root: &repository.root,
            snapshot: &repository.snapshot,
            filter: repository.text_filter(),
        };
        let matches = text::search_text(tree, &pattern, &accept, bounds, &|| workspace.is_stopped());
        found.total += matches.total as u64;
        found.files += matches.files.len() as u64;
        found.searched += matches.searched as u64;
        unreadable += matches.unreadable;
        of += matches.of;
        if matches.timed_out {
            notes.push(format!(
                "stopped after {} seconds at {} of {} files: narrow it with path",
                TIME.as_secs(),
                matches.searched,
                matches.of
            ));
        }
        for file in matches.files {
            changed += usize::from(file.changed);
            let Some(view) = repository.snapshot.file(file.file) else {
                continue;
            };
            for line in file.lines {
                let symbol = (!file.changed)
                    .then(|| repository.snapshot.symbol_at(file.file, line.line))
                    .flatten();
                lines.push(TextLine {
                    path: workspace.path(number, view.path()),
                    line: u64::from(line.line),
                    text: line.text.trim().to_string(),
                    symbol: symbol
                        .filter(|symbol| !symbol.is_file())
                        .map(|symbol| symbol.qualified_name()),
                });
            }
        }
    }
    if of == 0 {
        return Err(nothing_there(workspace, ask));
    }
    if !ask.regex && found.total == 0 && looks_like_expression(&ask.query) {
        notes.push("the query was taken literally: with regex=true it is a regular expression".to_owned());
    }
    if unreadable > 0 {
        notes.push(format!("{unreadable} files are gone or no longer text"));
    }
    if changed > 0 {
        notes.push(format!(
            "{changed} files changed since they were indexed: their lines are as they are now"
        ));
    }
    found.matches = page.take(lines);
    found.truncated = (end as u64) < found.total;
    found.next_cursor = found.truncated.then(|| page::cursor(workspace, end));
    found.incomplete = (!notes.is_empty()).then(|| notes.join("; "));
    Ok(found)
}

fn fits(path: &str, repository: &str, file: &str) -> bool {
    let path = path.trim_start_matches("./");
    let bare = path.strip_prefix(repository).and_then(|rest| rest.strip_prefix('/'));
    file.starts_with(path) || bare.is_some_and(|bare| file.starts_with(bare))
}

/// Why no file was searched at all.
fn nothing_there(workspace: &Workspace, ask: &SearchText) -> QuestionError {
    if let Some(path) = &ask.path {
        let asked = path.trim_start_matches("./");
        let why = workspace.split(asked).find_map(|(number, rest)| {
            let snapshot = &workspace.repositories()[number].snapshot;
            let skipped = snapshot.skipped().find(|skipped| skipped.path.starts_with(rest))?;
            Some(format!("skipped: {}", skipped.reason.as_str()))
        });
        return QuestionError::NoSuchFile {
            path: path.clone(),
            why,
            nearest: Vec::new(),
        };
    }
    let language = ask.language.as_deref().unwrap_or_default();
    QuestionError::Argument {
        name: "language",
        problem: format!("no file is written in `{language}`"),
    }
}
