//! `get_code_context`: lines of a file with some around them, and the symbol that they stand in.

use index::snapshot::SymbolView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::QuestionError;
use crate::source::Source;
use crate::type_definition::OutputFormat;
use crate::workspace::Workspace;
use crate::{kinds, naming};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeContext {
    /// Path of the file, or the end of it.
    pub file_path: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// Lines before and after (default 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_lines: Option<u32>,
    /// Lines at most (default all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u32>,
    /// markdown (default) or json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
}

/// The lines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Lines {
    /// The innermost symbol that holds the lines asked for; the file where none does.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// The file.
    pub path: String,
    /// Key of its language.
    pub language: String,
    /// First line asked for.
    pub start_line: u32,
    /// Last line asked for.
    pub end_line: u32,
    /// First line given.
    pub from_line: u32,
    /// Last line given.
    pub to_line: u32,
    /// Lines of the file.
    pub total_lines: u32,
    /// Whether lines were left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The text.
    pub source: String,
}

/// Lines around that are given where the call does not say.
const CONTEXT: u32 = 5;
/// Most lines around.
const MAX_CONTEXT: u32 = 500;

/// The lines that are asked for.
pub fn code_context(workspace: &Workspace, ask: &CodeContext) -> Result<Lines, QuestionError> {
    let (repository, file) = naming::find_file(workspace, &ask.file_path)?;
    let wrong = |problem: String| QuestionError::Argument {
        name: "start_line",
        problem,
    };
    let whole = file.symbol().ok_or_else(|| QuestionError::Stale {
        path: ask.file_path.clone(),
    })?;
    let source = Source::of(workspace, repository, whole)?;
    let total = source.line_count().max(1);
    if ask.start_line == 0 || ask.start_line > ask.end_line {
        return Err(wrong(format!(
            "expected lines from 1 on, the first not after the last; not {} to {}",
            ask.start_line, ask.end_line
        )));
    }
    if ask.start_line > total {
        return Err(wrong(format!(
            "`{}` has {total} lines",
            workspace.path(repository, file.path())
        )));
    }
    let end = ask.end_line.min(total);
    let context = ask.context_lines.unwrap_or(CONTEXT).min(MAX_CONTEXT);
    let from = ask.start_line.saturating_sub(context).max(1);
    let wanted = end.saturating_add(context).min(total);
    let to = match ask.max_lines {
        Some(most) => wanted.min(from.saturating_add(most.max(1)) - 1),
        None => wanted,
    };
    let truncated = to < wanted;
    let holds = |symbol: &SymbolView<'_>| symbol.span().start_line <= ask.start_line && end <= symbol.span().end_line;
    let innermost = file.symbols().skip(1).filter(holds).last().unwrap_or(whole);
    let source = source.lines(from, to).to_string();
    // Empty lines at the end are not given, so they are not counted either.
    let to = from + source.lines().count().max(1) as u32 - 1;
    Ok(Lines {
        id: workspace.id(repository, innermost),
        kind: kinds::kind(innermost).to_string(),
        path: workspace.path(repository, file.path()),
        language: file.language().to_string(),
        start_line: ask.start_line,
        end_line: end,
        from_line: from,
        to_line: to,
        total_lines: total,
        truncated,
        source,
    })
}
