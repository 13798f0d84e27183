//! Source text of symbols, read from disk and checked against the snapshot: a body is given as it was indexed or not at all.

use index::scan::read_source;
use index::snapshot::SymbolView;

use crate::error::QuestionError;
use crate::workspace::Workspace;

/// Lines of a file, known to be the ones that were indexed.
pub struct Source {
    text: String,
    starts: Vec<usize>,
}

impl Source {
    /// Reads the file that holds `symbol`. Fails when it is gone or differs from what was indexed.
    pub fn of(workspace: &Workspace, repository: usize, symbol: SymbolView<'_>) -> Result<Source, QuestionError> {
        let stale = || QuestionError::Stale {
            path: workspace.path(repository, symbol.path()),
        };
        let file = symbol.file().ok_or_else(stale)?;
        let root = &workspace.repository(repository).ok_or_else(stale)?.root;
        let (text, hash) = read_source(root, symbol.path()).map_err(|_| stale())?;
        if &hash != file.hash() {
            return Err(stale());
        }
        let mut starts = Vec::with_capacity(file.lines() as usize + 2);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        Ok(Source { text, starts })
    }

    /// Lines `first` to `last`, 1-based, both included, without the last line's end.
    pub fn lines(&self, first: u32, last: u32) -> &str {
        let start = self.start(first.max(1));
        let end = self.start(last.saturating_add(1)).max(start);
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// Number of lines.
    pub fn line_count(&self) -> u32 {
        let ends_with_line = self.text.ends_with('\n');
        (self.starts.len() - usize::from(ends_with_line)) as u32
    }

    /// Bytes `start` to `end`, cut to what is there.
    pub fn bytes(&self, start: u32, end: u32) -> &str {
        self.text
            .get(start as usize..(end as usize).min(self.text.len()))
            .unwrap_or("")
    }

    /// The byte of a place.
    pub(crate) fn offset(&self, at: syntax::facts::Position) -> u32 {
        (self.start(at.line.max(1)) as u32).saturating_add(at.column)
    }

    fn start(&self, line: u32) -> usize {
        self.starts.get(line as usize - 1).copied().unwrap_or(self.text.len())
    }
}

/// A short hash of an answer's content, for `etag`.
pub fn etag(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex()[..16].to_string()
}
