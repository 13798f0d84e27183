//! One section: what its header says of its cells, whether its rows fit, and each row as a value.
//!
//! Rows are looked at twice. The first look checks them and builds nothing; the second says them to a serializer, straight from the
//! text, so a section takes no memory beyond its header.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Number;

use super::error::{Error, ErrorKind, Result};
use super::reader::{self, Header};
use super::text::{self, Mark};
use super::transcode::{self, Transcoded};
use crate::exact;
use crate::layout::{Column, Kind, Rows};

/// What a section's cells are, when a layout says so.
pub(crate) type Typed = Option<(&'static [Column], Rows)>;

/// A header, and what follows from it for the cells below.
pub(crate) struct Section {
    pub(crate) header: Header,
    pub(crate) typed: Typed,
    /// Rows declared by `rows=`.
    pub(crate) declared: Option<usize>,
    /// What the empty cells of each column mean.
    empty: Vec<Empty>,
    pub(crate) crlf: bool,
    /// Whether the last column is `_`, which only keeps a row of one empty cell from being a blank line.
    padded: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Empty {
    Absent,
    Null,
    Text,
}

impl Section {
    pub(crate) fn new(mut header: Header, typed: Typed) -> Result<Self> {
        let declared = match header.entry("rows") {
            None => None,
            Some(raw) => Some(raw.parse::<u64>().map_err(|_| {
                let found = format!("rows={raw}");
                Error::at(ErrorKind::Header, header.line, 1, found, "rows=<count>", "")
            })?),
        };
        let padded = header.fields.len() == 2 && header.fields[1] == "_";
        let mut empty = vec![Empty::Absent; header.fields.len()];
        for (entry, meaning) in [("null", Empty::Null), ("empty", Empty::Text)] {
            for name in header.entry(entry).unwrap_or_default().split(',') {
                if let Some(at) = header.fields.iter().position(|field| field == name) {
                    empty[at] = meaning;
                }
            }
        }
        // `_` with a meaning of its own is data.
        let padded = padded && empty[1] == Empty::Absent;
        if padded && typed.is_some() {
            header.fields.truncate(1);
        }
        let crlf = header.entry("eol") == Some("crlf");
        Ok(Self {
            header,
            typed,
            // No text holds more lines than a pointer can count.
            declared: declared.map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
            empty,
            crlf,
            padded,
        })
    }

    /// Whether a blank line may be a row, which it is if the declared count needs it.
    pub(crate) fn counts_blanks(&self) -> bool {
        self.header.fields.len() == 1 && self.declared.is_some() && !self.padded
    }

    /// The names of the columns that hold data.
    pub(crate) fn names(&self) -> &[String] {
        &self.header.fields[..if self.padded { 1 } else { self.header.fields.len() }]
    }

    /// Whether each row is a value and no object.
    pub(crate) fn holds_values(&self) -> bool {
        match self.typed {
            Some((_, rows)) => matches!(rows, Rows::Values | Rows::Value),
            None => self.header.fields[0] == "value" && (self.header.fields.len() == 1 || self.padded),
        }
    }

    /// Checks that a row has no more cells than columns, and that each is of its column's type.
    pub(crate) fn check(&self, row: &str, line: usize) -> Result<()> {
        if let Some((columns, _)) = self.typed {
            let mut cells = reader::cells(row);
            for column in columns {
                let (start, raw) = cells.next().unwrap_or((row.len(), ""));
                if !raw.is_empty() || !column.optional {
                    check_cell(raw, column, line, start)?;
                }
            }
            return match cells.next() {
                Some((_, "")) if self.padded && cells.next().is_none() => Ok(()),
                Some((start, _)) => Err(reader::too_long(row, line, start, columns.len())),
                None => Ok(()),
            };
        }
        let fields = self.header.fields.len();
        match memchr::memchr_iter(b'\t', row.as_bytes()).nth(fields - 1) {
            Some(tab) => Err(reader::too_long(row, line, tab + 1, fields)),
            None => Ok(()),
        }
    }

    /// A row as a value; a blank line is a row of one empty cell.
    pub(crate) fn row<'s>(&'s self, row: &'s str) -> Row<'s> {
        Row { section: self, row }
    }

    fn only_cell<'s>(&'s self, row: &'s str) -> Cell<'s> {
        let raw = match self.padded {
            true => row.strip_suffix('\t').unwrap_or(row),
            false => row,
        };
        match (raw.is_empty(), self.empty.first()) {
            (true, Some(Empty::Null)) => Cell::Null,
            (true, _) => Cell::Text(""),
            (false, _) => Cell::Inferred(raw, self.crlf),
        }
    }

    fn typed_cell<'s>(&self, raw: &'s str, column: &'static Column) -> Option<Cell<'s>> {
        (!raw.is_empty() || !column.optional).then_some(Cell::Typed(raw, column, self.crlf))
    }
}

/// One row, to be serialized.
pub(crate) struct Row<'s> {
    section: &'s Section,
    row: &'s str,
}

impl Row<'_> {
    /// Says the members of the row as members of the object around it; what is absent is left out.
    pub(crate) fn members_into<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        let section = self.section;
        let mut cells = reader::cells(self.row).map(|(_, raw)| raw);
        if let Some((columns, _)) = section.typed {
            for column in columns {
                if let Some(cell) = section.typed_cell(cells.next().unwrap_or_default(), column) {
                    map.serialize_entry(column.name, &cell)?;
                }
            }
            return Ok(());
        }
        for (name, empty) in section.header.fields.iter().zip(&section.empty) {
            let cell = match (cells.next(), empty) {
                (Some(raw), _) if !raw.is_empty() => Cell::Inferred(raw, section.crlf),
                (_, Empty::Absent) => continue,
                (_, Empty::Null) => Cell::Null,
                (_, Empty::Text) => Cell::Text(""),
            };
            map.serialize_entry(name, &cell)?;
        }
        Ok(())
    }
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let section = self.section;
        if section.holds_values() {
            return match section.typed {
                Some(([column, ..], _)) => {
                    let raw = reader::cells(self.row).next().map_or("", |(_, raw)| raw);
                    match section.typed_cell(raw, column) {
                        Some(cell) => cell.serialize(serializer),
                        None => serializer.serialize_unit(),
                    }
                }
                _ => section.only_cell(self.row).serialize(serializer),
            };
        }
        let mut map = serializer.serialize_map(None)?;
        self.members_into(&mut map)?;
        map.end()
    }
}

/// One cell, to be serialized.
enum Cell<'s> {
    Null,
    Text(&'s str),
    /// Of the type it looks like. The flag says that line ends are CRLF.
    Inferred(&'s str, bool),
    /// Of its column's type, which was checked.
    Typed(&'s str, &'static Column, bool),
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match *self {
            Cell::Null => serializer.serialize_unit(),
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Inferred(raw, crlf) => {
                let (text, mark) = text::unescape(raw);
                match mark {
                    Mark::Plain => match Inferred::of(&text) {
                        Some(inferred) => inferred.serialize(serializer),
                        None => serializer.serialize_str(&line_ends(text, crlf)),
                    },
                    Mark::Literal => serializer.serialize_str(&literal(&text)),
                    Mark::Text => serializer.serialize_str(&line_ends(text, crlf)),
                }
            }
            Cell::Typed(raw, column, crlf) => {
                let (text, mark) = text::unescape(raw);
                serialize_typed(serializer, text, mark, column, crlf)
            }
        }
    }
}

fn line_ends(text: Cow<'_, str>, crlf: bool) -> Cow<'_, str> {
    if crlf && text.contains('\n') {
        Cow::Owned(text.replace('\n', "\r\n"))
    } else {
        text
    }
}

/// What a plain cell or entry is, where it is no text.
pub(crate) enum Inferred<'t> {
    Flag(bool),
    Number(Number),
    /// A JSON list or object.
    Nested(&'t str),
}

impl<'t> Inferred<'t> {
    #[inline]
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        match text.as_bytes() {
            [b'-' | b'0'..=b'9', ..] => number(text).map(Self::Number),
            b"true" => Some(Self::Flag(true)),
            b"false" => Some(Self::Flag(false)),
            [b'[', .., b']'] | [b'{', .., b'}'] => transcode::is_exact(text).then_some(Self::Nested(text)),
            _ => None,
        }
    }
}

impl Serialize for Inferred<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => number.serialize(serializer),
            Self::Nested(json) => Transcoded(json).serialize(serializer),
        }
    }
}

/// A JSON number that can be held as it is spelled; any other text that looks like one stays text.
fn number(text: &str) -> Option<Number> {
    let bytes = text.as_bytes();
    if matches!(bytes.len(), 1..=18) && bytes.iter().all(u8::is_ascii_digit) {
        if bytes[0] == b'0' && bytes.len() > 1 {
            return None;
        }
        return Some(
            bytes
                .iter()
                .fold(0u64, |number, byte| number * 10 + u64::from(byte - b'0'))
                .into(),
        );
    }
    // One that would be rounded is kept as the text that it is.
    if !text::is_number(bytes) || (bytes.len() > 15 && !exact::is_exact(text)) {
        return None;
    }
    if !bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) && text != "-0" {
        let wide = || text.parse::<u64>().ok().map(Number::from);
        return text.parse::<i64>().ok().map(Number::from).or_else(wide);
    }
    text.parse().ok().and_then(Number::from_f64)
}

/// A JSON string literal, as the encoder writes text with CR or an empty text where an empty cell means something else.
fn literal(text: &str) -> Cow<'_, str> {
    // Text that only begins like a literal was written by hand; it says what it says.
    serde_json::from_str::<String>(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The text of a cell in a column of texts.
pub(crate) fn cell_text(raw: &str, crlf: bool) -> Cow<'_, str> {
    match text::unescape(raw) {
        (text, Mark::Literal) => Cow::Owned(literal(&text).into_owned()),
        (text, _) => line_ends(text, crlf),
    }
}

/// Checks a cell, or the text of a header's entry, against the type of its column.
pub(crate) fn check_cell(raw: &str, column: &Column, line: usize, start: usize) -> Result<()> {
    let (text, mark) = match column.kind {
        Kind::Text | Kind::List | Kind::Names => return Ok(()),
        _ => text::unescape(raw),
    };
    let fits = match column.kind {
        Kind::Text | Kind::List | Kind::Names => true,
        Kind::Integer => number(&text).is_some_and(|number| !number.is_f64()),
        Kind::Float => float(&text).is_some(),
        Kind::Flag => matches!(&*text, "true" | "false"),
        Kind::Json => mark != Mark::Literal && transcode::is_exact(&text),
    };
    if fits {
        return Ok(());
    }
    let expected = format!("{} in the column `{}`", column.kind.name(), column.name);
    Err(Error::at(
        ErrorKind::Cell,
        line,
        start + 1,
        format!("`{text}`"),
        expected,
        "check that the columns are in order",
    ))
}

fn float(text: &str) -> Option<Number> {
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

/// Says a checked cell as its column has it.
pub(crate) fn serialize_typed<S: Serializer>(
    serializer: S,
    text: Cow<'_, str>,
    mark: Mark,
    column: &Column,
    crlf: bool,
) -> std::result::Result<S::Ok, S::Error> {
    match column.kind {
        Kind::Text if mark == Mark::Literal => serializer.serialize_str(&literal(&text)),
        Kind::Text => serializer.serialize_str(&line_ends(text, crlf)),
        Kind::Integer => number(&text).serialize(serializer),
        Kind::Float => float(&text).serialize(serializer),
        Kind::Flag => serializer.serialize_bool(text == "true"),
        Kind::List if text.is_empty() => serializer.collect_seq(std::iter::empty::<&str>()),
        Kind::List if text.starts_with('[') && transcode::is_list(&text) => Transcoded(&text).serialize(serializer),
        Kind::List => serializer.collect_seq(text.split(',')),
        Kind::Names if text.starts_with('[') && transcode::is_list(&text) => Transcoded(&text).serialize(serializer),
        Kind::Names => serializer.serialize_str(&line_ends(text, crlf)),
        Kind::Json => Transcoded(&text).serialize(serializer),
    }
}
