//! Everything that can go wrong with GCF, as one error: where, which rule, what was found, what was expected, what to do.
//!
//! The parser works with byte offsets only; line and column are counted once, when an error is made.

use std::fmt;

/// The rule that was broken. Codes are those of the specification's strict mode (section 16.5) where it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Category {
    // Header.
    MissingHeader,
    UnknownVersion,
    MissingProfile,
    UnknownProfile,
    MalformedHeaderField,
    DuplicateHeaderField,
    // Scalars.
    UnterminatedQuote,
    InvalidEscape,
    TrailingCharacters,
    InvalidMissing,
    InvalidAttachmentMarker,
    InvalidSurrogate,
    InvalidUtf8,
    OutOfRange,
    // Structure.
    InvalidKey,
    DuplicateKey,
    DuplicateFieldName,
    RowWidthMismatch,
    CountMismatch,
    InvalidCount,
    TabIndentation,
    InvalidIndent,
    InvalidItemId,
    OrphanAttachment,
    OrphanInlineAttachment,
    MissingAttachment,
    DuplicateAttachment,
    InlineWidthMismatch,
    UnexpectedContent,
    // Graph profile, sessions and deltas.
    InvalidNodeLine,
    InvalidSymbolId,
    InvalidScore,
    InvalidEdgeSyntax,
    UnknownEdgeReference,
    UnknownReference,
    InvalidName,
    MalformedDelta,
    DeltaInvalid,
    BaseMismatch,
    RootMismatch,
    // Limits.
    TooDeep,
    TooLarge,
    TooManyFields,
    TooSparse,
    // Values and the world.
    InvalidJson,
    InvalidValue,
    TypeMismatch,
    Io,
}

impl Category {
    /// The stable code, as the specification and its fixtures spell it.
    pub fn code(self) -> &'static str {
        self.describe().0
    }

    /// What a caller can do about it.
    pub fn advice(self) -> &'static str {
        self.describe().1
    }

    fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::MissingHeader => (
                "missing_header",
                "start the payload with `GCF profile=generic` or `GCF profile=graph`",
            ),
            Self::UnknownVersion => ("unknown_version", "ask the producer for version `GCF`, or for JSON"),
            Self::MissingProfile => (
                "missing_profile",
                "put `profile=generic` or `profile=graph` first in the header",
            ),
            Self::UnknownProfile => ("unknown_profile", "use the decoder of that profile"),
            Self::MalformedHeaderField => ("malformed_header_field", "write header fields as `name=value`"),
            Self::DuplicateHeaderField => ("duplicate_header_field", "give each header field once"),
            Self::UnterminatedQuote => ("unterminated_quote", "close the string with `\"` on the same line"),
            Self::InvalidEscape => ("invalid_escape", "use only the escapes of JSON strings"),
            Self::TrailingCharacters => (
                "trailing_characters",
                "end the value after its closing quote or bracket",
            ),
            Self::InvalidMissing => ("invalid_missing", "quote `~`, or leave the member out"),
            Self::InvalidAttachmentMarker => (
                "invalid_attachment_marker",
                "quote the value, or write the nested value in a tabular row",
            ),
            Self::InvalidSurrogate => (
                "invalid_surrogate",
                "pair the surrogate escapes, or write the character itself",
            ),
            Self::InvalidUtf8 => ("invalid_utf8", "send UTF-8"),
            Self::OutOfRange => ("out_of_range", "send the number as a string"),
            Self::InvalidKey => ("invalid_key", "quote keys that are not letters, digits and underscores"),
            Self::DuplicateKey => ("duplicate_key", "give each key once"),
            Self::DuplicateFieldName => (
                "duplicate_field_name",
                "give each column once, and no column inside another",
            ),
            Self::RowWidthMismatch => (
                "row_width_mismatch",
                "write one cell per declared column; quote cells that contain `|`",
            ),
            Self::CountMismatch => ("count_mismatch", "the payload is cut or padded: ask for it again"),
            Self::InvalidCount => (
                "invalid_count",
                "write counts as plain decimals without leading zeros, or `?`",
            ),
            Self::TabIndentation => ("tab_indentation", "indent with two spaces per level"),
            Self::InvalidIndent => (
                "invalid_indent",
                "indent with two spaces per level, one level at a time",
            ),
            Self::InvalidItemId => ("invalid_item_id", "number items and rows from 0 in order"),
            Self::OrphanAttachment => ("orphan_attachment", "mark the cell of that column with `^`"),
            Self::OrphanInlineAttachment => (
                "orphan_inline_attachment",
                "mark a cell with `^{…}` for every positional body",
            ),
            Self::MissingAttachment => ("missing_attachment", "write one attachment for every `^` cell"),
            Self::DuplicateAttachment => ("duplicate_attachment", "write one attachment for every `^` cell"),
            Self::InlineWidthMismatch => (
                "inline_width_mismatch",
                "write one value per field of the inline schema",
            ),
            Self::UnexpectedContent => (
                "unexpected_content",
                "remove the line, or write it as one of the forms expected here",
            ),
            Self::InvalidNodeLine => ("invalid_node_line", "write `@id kind name score provenance`"),
            Self::InvalidSymbolId => ("invalid_symbol_id", "number symbols from 0 in order"),
            Self::InvalidScore => ("invalid_score", "write scores with exactly two decimals"),
            Self::InvalidEdgeSyntax => ("invalid_edge_syntax", "write `@target<@source type`"),
            Self::UnknownEdgeReference => ("unknown_edge_reference", "declare both symbols before the edge"),
            Self::UnknownReference => (
                "unknown_reference",
                "ask for the full payload: the session does not hold that symbol",
            ),
            Self::InvalidName => (
                "invalid_name",
                "use the generic profile for names with spaces or non-ASCII characters",
            ),
            Self::MalformedDelta => ("malformed_delta", "ask for the full payload"),
            Self::DeltaInvalid => ("delta_invalid", "send or ask for the full payload"),
            Self::BaseMismatch => (
                "base_mismatch",
                "ask for the full payload: the delta is for another base",
            ),
            Self::RootMismatch => ("root_mismatch", "keep the base and ask for the full payload"),
            Self::TooDeep => ("too_deep", "flatten the value, or send it as JSON"),
            Self::TooLarge => ("too_large", "split the value, raise the limit, or send it as JSON"),
            Self::TooManyFields => ("too_many_fields", "raise the limit, or send it as JSON"),
            Self::TooSparse => (
                "too_sparse",
                "send it as JSON: its objects share too few keys for a table",
            ),
            Self::InvalidJson => ("invalid_json", "send JSON"),
            Self::InvalidValue => ("invalid_value", "send only values that JSON has"),
            Self::TypeMismatch => ("type_mismatch", "decode into a type that fits the value"),
            Self::Io => ("io", "check where the text is written to"),
        }
    }
}

/// A GCF error. One pointer wide, so the success path stays cheap.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Details>);

#[derive(Clone, PartialEq, Eq)]
struct Details {
    category: Category,
    /// Line and column, from 1; absent when the fault is in a value rather than in a text.
    place: Option<(usize, usize)>,
    found: String,
    expected: String,
}

/// Shorthand for this module's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A fault in a value, which has no line.
    pub(crate) fn new(category: Category, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self(Box::new(Details {
            category,
            place: None,
            found: found.into(),
            expected: expected.into(),
        }))
    }

    /// A fault at a byte offset of `text`.
    #[cold]
    pub(crate) fn at(
        text: &[u8],
        offset: usize,
        category: Category,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let before = &text[..offset.min(text.len())];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        // Characters, not bytes: a continuation byte does not start one.
        let column = before[start..].iter().filter(|byte| (**byte & 0xC0) != 0x80).count() + 1;
        Self(Box::new(Details {
            category,
            place: Some((line, column)),
            found: found.into(),
            expected: expected.into(),
        }))
    }

    /// The rule that was broken.
    pub fn category(&self) -> Category {
        self.0.category
    }

    /// The line, from 1, when the fault is in a text.
    pub fn line(&self) -> Option<usize> {
        self.0.place.map(|(line, _)| line)
    }

    /// The column in characters, from 1, when the fault is in a text.
    pub fn column(&self) -> Option<usize> {
        self.0.place.map(|(_, column)| column)
    }

    /// What was there.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// What should have been there.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        self.0.category.advice()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = &*self.0;
        formatter.write_str(details.category.code())?;
        if let Some((line, column)) = details.place {
            write!(formatter, " at line {line} column {column}")?;
        }
        write!(formatter, ": found {}", details.found)?;
        if !details.expected.is_empty() {
            write!(formatter, ", expected {}", details.expected)?;
        }
        write!(formatter, "; {}", self.advice())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Error({self})")
    }
}

impl std::error::Error for Error {}

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Category::InvalidValue, message.to_string(), "")
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Category::TypeMismatch, message.to_string(), "")
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::new(Category::Io, error.to_string(), "")
    }
}

/// Quotes a piece of input for a message, cut so that a hostile line cannot become a hostile message.
pub(crate) fn shown(text: &str) -> String {
    const MAX_CHARACTERS: usize = 60;
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
