//! What the edit tools are asked. Lines and columns count from one; columns count characters.

use codeintel::compiler::Pointer;
use lsp::edits::{Draft, Place, replace_once};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::protocol::Refusal;

use super::edit_refused;
use crate::tools::refusal;

/// One edit of one file: text that is replaced, or lines, or a whole new file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The file.
    pub(crate) path: String,
    /// Text to replace; it must occur once.
    #[serde(default)]
    pub(crate) old_text: Option<String>,
    /// Or the first line to replace; alone, text is inserted before it.
    #[serde(default)]
    pub(crate) start_line: Option<u32>,
    /// First column to replace (default the whole line).
    #[serde(default)]
    pub(crate) start_column: Option<u32>,
    /// Last line to replace.
    #[serde(default)]
    pub(crate) end_line: Option<u32>,
    /// First column that stays.
    #[serde(default)]
    pub(crate) end_column: Option<u32>,
    /// What takes its place. Without old_text and lines: the whole new file.
    pub(crate) new_text: String,
}

impl Edit {
    /// Makes it in a draft.
    pub(super) fn put(&self, draft: &mut Draft, path: &str) -> Result<(), Refusal> {
        let wrong = |problem: &str| Err(refusal("invalid_argument", problem.to_owned()));
        let place = self.start_line.map(|start_line| Place {
            start_line,
            start_column: self.start_column,
            end_line: self.end_line,
            end_column: self.end_column,
        });
        let edit = match (&self.old_text, place) {
            (Some(_), Some(_)) => return wrong("give `old_text` or `start_line`, not both"),
            (None, None) if self.end_line.is_some() => return wrong("argument `end_line` needs `start_line`"),
            (None, None) if draft.text(path).is_ok_and(|text| !text.is_empty()) => {
                return wrong("the file exists: give `old_text` or `start_line` to say what is replaced");
            }
            (None, None) => return draft.write(path, &self.new_text).map_err(edit_refused),
            (Some(old), None) => {
                let text = draft.text(path).map_err(edit_refused)?;
                replace_once(path, &text, old, &self.new_text)
            }
            (None, Some(place)) => {
                let text = draft.text(path).map_err(edit_refused)?;
                place.edit(path, &text, &self.new_text)
            }
        };
        let edit = edit.map_err(edit_refused)?;
        draft.edit(path, &[edit]).map_err(edit_refused)
    }
}

/// Which symbol is edited: by name, or by a place where it stands.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct Which {
    /// Symbol: id, name, Owner.name or path:line:column; with path and line, a name on that line.
    #[serde(default)]
    symbol: Option<String>,
    /// File, if not by symbol.
    #[serde(default)]
    path: Option<String>,
    /// 1-based.
    #[serde(default)]
    line: Option<u32>,
    /// 1-based, in characters.
    #[serde(default)]
    column: Option<u32>,
    /// Text in path instead of a position; @@ marks the place in it.
    #[serde(default)]
    snippet: Option<String>,
}

impl Which {
    pub(super) fn pointer(&self) -> Pointer<'_> {
        Pointer {
            symbol: self.symbol.as_deref(),
            path: self.path.as_deref(),
            line: self.line,
            column: self.column,
            snippet: self.snippet.as_deref(),
        }
    }
}

/// Where an edit goes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct Aim {
    /// Into this session instead of onto disk.
    #[serde(default)]
    pub(crate) session: Option<String>,
    /// Show the change, write nothing.
    #[serde(default)]
    pub(crate) dry_run: bool,
}

impl Aim {
    /// Into a session.
    pub(super) fn session(session: &str) -> Aim {
        Aim {
            session: Some(session.to_owned()),
            dry_run: false,
        }
    }
}

/// What `apply_edit` is asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct ApplyEdit {
    #[serde(flatten)]
    pub(crate) edit: Edit,
    #[serde(flatten)]
    pub(crate) aim: Aim,
}

/// What `replace_symbol_body` is asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct ReplaceSymbol {
    #[serde(flatten)]
    pub(crate) which: Which,
    /// The whole definition, signature and body; its comment above stays.
    pub(crate) new_text: String,
    #[serde(flatten)]
    pub(crate) aim: Aim,
}

/// What `insert_before_symbol` and `insert_after_symbol` are asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct InsertAtSymbol {
    #[serde(flatten)]
    pub(crate) which: Which,
    /// What is inserted; it is indented like the symbol.
    pub(crate) new_text: String,
    #[serde(flatten)]
    pub(crate) aim: Aim,
}

/// What `safe_delete_symbol` is asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Delete {
    #[serde(flatten)]
    pub(crate) which: Which,
    /// Even if something uses it.
    #[serde(default)]
    pub(crate) force: bool,
    #[serde(flatten)]
    pub(crate) aim: Aim,
}

/// What `create_session` is asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Open {
    /// A file of the repository, where there are several.
    #[serde(default)]
    pub(crate) path: Option<String>,
}

/// What `evaluate_session`, `commit_session` and `discard_session` are asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Session {
    /// As create_session gave it.
    pub(crate) session: String,
}

/// What `simulate_edit` is asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct SimulateEdit {
    /// As create_session gave it.
    pub(crate) session: String,
    #[serde(flatten)]
    pub(crate) edit: Edit,
}

/// What `simulate_chain` is asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chain {
    /// As create_session gave it.
    pub(crate) session: String,
    /// One after the other; all or none.
    pub(crate) edits: Vec<Edit>,
}

/// What `preview_edit` is asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Preview {
    #[serde(flatten)]
    pub(crate) edit: Edit,
}

/// What `rename_symbol` is asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Rename {
    #[serde(flatten)]
    pub(crate) which: Which,
    /// Its name from now on.
    pub(crate) new_name: String,
    /// Even if places that mention it keep the old name.
    #[serde(default)]
    pub(crate) force: bool,
    #[serde(flatten)]
    pub(crate) aim: Aim,
}

/// What `format_document` is asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Format {
    /// The file.
    pub(crate) path: String,
    /// Columns of a tab (default 4).
    #[serde(default)]
    pub(crate) tab_size: Option<u32>,
    /// Indent with tabs.
    #[serde(default)]
    pub(crate) tabs: bool,
    #[serde(flatten)]
    pub(crate) aim: Aim,
}
