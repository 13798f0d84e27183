//! A file read again for what the snapshot does not keep: its text and its facts, known to be those that were indexed.

use index::scan::read_source;
use index::snapshot::{FileView, SymbolView};
use syntax::facts::{Definition, FileFacts};

use crate::error::QuestionError;
use crate::workspace::Workspace;

/// Text and facts of one file.
pub struct Reading {
    /// The text, decoded.
    pub text: String,
    /// What it declares and mentions.
    pub facts: FileFacts,
    /// Key of its language.
    pub language: String,
}

impl Reading {
    /// Reads `file`. Fails when it is gone or differs from what was indexed.
    pub fn of(workspace: &Workspace, repository: usize, file: FileView<'_>) -> Result<Reading, QuestionError> {
        let stale = || QuestionError::Stale {
            path: workspace.path(repository, file.path()),
        };
        let root = &workspace.repository(repository).ok_or_else(stale)?.root;
        let (text, hash) = read_source(root, file.path()).map_err(|_| stale())?;
        if &hash != file.hash() {
            return Err(stale());
        }
        let language = syntax::languages::by_name(file.language()).ok_or_else(stale)?;
        Ok(Reading {
            facts: syntax::extract(language, &text),
            language: file.language().to_string(),
            text,
        })
    }

    /// The definition that `symbol` stands for.
    pub fn definition(&self, symbol: SymbolView<'_>) -> Option<&Definition> {
        let span = symbol.span();
        self.facts.definitions.iter().find(|definition| {
            definition.span.start == span.start
                && definition.span.end == span.end
                && definition.name_at == symbol.name_at()
                && self.facts.text(definition.name) == symbol.name()
        })
    }

    /// The text of bytes `start` to `end`, cut to what is there.
    pub fn bytes(&self, start: u32, end: u32) -> &str {
        self.text
            .get(start as usize..(end as usize).min(self.text.len()))
            .unwrap_or("")
    }

    /// The same, with the indentation of its first line.
    pub fn whole_lines(&self, start: u32, end: u32) -> &str {
        let before = self.text.get(..start as usize).unwrap_or("");
        let indentation = before.len() - before.trim_end_matches([' ', '\t']).len();
        let is_first = before.len() == indentation || before[..before.len() - indentation].ends_with('\n');
        self.bytes(if is_first { start - indentation as u32 } else { start }, end)
    }

    /// Where the name of a definition starts in its text.
    pub fn name_offset(&self, definition: &Definition) -> Option<usize> {
        let name = self.facts.text(definition.name);
        let text = self.bytes(definition.span.start, definition.span.end);
        // The line and column of the name lead to it without counting decorators that may hold the same word.
        let lines_before = definition.name_at.line.checked_sub(definition.span.start_line)?;
        let mut start = 0;
        for _ in 0..lines_before {
            start += text[start..].find('\n')? + 1;
        }
        let line_start = match lines_before {
            0 => self.text[..definition.span.start as usize]
                .rfind('\n')
                .map_or(0, |at| at + 1),
            _ => definition.span.start as usize + start,
        };
        let at = (line_start + definition.name_at.column as usize).checked_sub(definition.span.start as usize)?;
        text.get(at..)?
            .starts_with(name)
            .then_some(at)
            .or_else(|| text.find(name))
    }

    /// The documentation comment of a definition, marks included; empty when there is none.
    pub fn comment(&self, definition: &Definition) -> &str {
        if let Some((start, end)) = definition.doc_span {
            return self.bytes(start, end);
        }
        match self.language.as_str() {
            "python" | "markdown" | "html" => "",
            _ => self.trailing_comment(definition),
        }
    }

    /// What stands behind a declaration on its own line: `int x; ///< text`, `x int // text`.
    fn trailing_comment(&self, definition: &Definition) -> &str {
        use syntax::facts::Kind;
        if !matches!(
            definition.kind,
            Kind::Field | Kind::EnumMember | Kind::Constant | Kind::Variable
        ) {
            return "";
        }
        let end = definition.span.end as usize;
        let rest = self.text.get(end..).unwrap_or("");
        let line = rest.split('\n').next().unwrap_or("");
        let behind = line.trim_start_matches([';', ',', ' ', '\t']);
        let is_comment = match self.language.as_str() {
            "go" | "rust" => behind.starts_with("//"),
            "ruby" => behind.starts_with('#'),
            _ => ["///<", "//!<", "/**<", "/*!<"]
                .iter()
                .any(|mark| behind.starts_with(mark)),
        };
        if is_comment { behind.trim_end() } else { "" }
    }
}
