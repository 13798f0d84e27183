//! What is wrong with a GCX1 text or with a value that was to become one: where, what was found, what was expected,
//! and what to do about it.

use std::fmt;

/// The result of reading or writing GCX1.
pub type Result<T> = std::result::Result<T, Error>;

/// One problem, placed. `line` and `column` count from 1 (columns in bytes); both are 0 when a value could not be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What class of problem it is; match on this.
    pub kind: ErrorKind,
    /// The line of the text, from 1.
    pub line: usize,
    /// The byte within the line, from 1.
    pub column: usize,
    /// What is there.
    pub found: String,
    /// What should be there.
    pub expected: String,
    /// What the caller can do.
    pub remedy: &'static str,
}

/// The classes of problems a caller may want to tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is GCX of another version (`GCX2`): ask again for JSON.
    UnknownVersion,
    /// The text does not begin with a GCX header.
    NotGcx,
    /// A header lacks `tool=` or `fields=`, or cannot be split.
    Header,
    /// A row has more values than the header has fields.
    RowTooLong,
    /// A section does not hold the rows that its header declares.
    RowCount,
    /// A cell does not hold a value of its column's type.
    Cell,
    /// The sections, columns or values are not those of the layout.
    Schema,
    /// The value nests deeper than the format can carry.
    TooDeep,
    /// The decoded value would take far more memory than the text.
    TooLarge,
    /// The bytes are not UTF-8.
    Utf8,
    /// The value's own `Serialize` or `Deserialize` refused.
    Value,
}

impl Error {
    pub(crate) fn at(
        kind: ErrorKind,
        line: usize,
        column: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
        remedy: &'static str,
    ) -> Self {
        Self {
            kind,
            line,
            column,
            found: shorten(found.into()),
            expected: expected.into(),
            remedy,
        }
    }

    /// A problem of the value, not of a text.
    pub(crate) fn value(
        kind: ErrorKind,
        found: impl Into<String>,
        expected: impl Into<String>,
        remedy: &'static str,
    ) -> Self {
        Self::at(kind, 0, 0, found, expected, remedy)
    }

    /// Whether the text is of a GCX version this decoder does not know, so that the caller should ask again for JSON.
    pub fn is_unknown_version(&self) -> bool {
        self.kind == ErrorKind::UnknownVersion
    }
}

/// Keeps hostile input out of logs and terminals: at most 60 characters, no control characters.
fn shorten(text: String) -> String {
    let mut short: String = text
        .chars()
        .take(60)
        .map(|c| if c.is_control() { '·' } else { c })
        .collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}, column {}: ", self.line, self.column)?;
        }
        write!(f, "found {}, expected {}", self.found, self.expected)?;
        if !self.remedy.is_empty() {
            write!(f, " ({})", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
