//! One section's rows as JSON values: cells typed by a layout's columns, or by what they look like.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::error::{Error, ErrorKind, Result};
use super::reader::{self, Header, Line, Reader};
use super::text::{self, Mark};
use crate::layout::{Column, Kind, Rows};

/// A decoded value may take this much memory whatever the text's length…
const MEMORY_FLOOR: usize = 48 << 20;
/// …and this many bytes per byte of text beyond that.
const MEMORY_PER_BYTE: usize = 16;

/// A section with its rows decoded: objects, or bare values when there is one column `value`.
pub(crate) struct DecodedSection {
    pub(crate) header: Header,
    pub(crate) rows: Vec<Value>,
    padded: bool,
}

/// What a section's cells are, when a layout says so.
pub(crate) type Typed = Option<(&'static [Column], Rows)>;

/// Reads all sections. `typed` looks up the columns of a header.
pub(crate) fn read(payload: &str, typed: impl Fn(&Header) -> Typed) -> Result<Vec<DecodedSection>> {
    let mut reader = Reader::new(payload);
    let mut budget = MEMORY_FLOOR.max(payload.len().saturating_mul(MEMORY_PER_BYTE));
    let mut sections = Vec::new();
    let mut current: Option<SectionReader> = None;
    while let Some(line) = reader.next_line()? {
        match (line, &mut current) {
            (Line::Header(header), _) => {
                if let Some(done) = current.take() {
                    sections.push(done.finish()?);
                }
                let typed = typed(&header);
                current = Some(SectionReader::new(header, typed)?);
            }
            (Line::Row(row, number), Some(section)) => section.row(row, number, &mut budget)?,
            (Line::Blank(number), Some(section)) => section.blank(number, &mut budget)?,
            (_, None) => {}
        }
    }
    if let Some(done) = current {
        sections.push(done.finish()?);
    }
    Ok(sections)
}

impl DecodedSection {
    /// The only row as an object; what is absent was null.
    pub(crate) fn into_object(self) -> Value {
        let value = self.rows.into_iter().next().unwrap_or(Value::Null);
        let fields = if self.padded {
            &self.header.fields[..1]
        } else {
            &self.header.fields[..]
        };
        let Value::Object(mut members) = value else {
            return value;
        };
        if fields.len() == 1 && fields[0] == "value" {
            return Value::Object(members);
        }
        for field in fields {
            members.entry(field.clone()).or_insert(Value::Null);
        }
        Value::Object(members)
    }
}

struct SectionReader {
    header: Header,
    typed: Typed,
    rows: Vec<Value>,
    /// Rows declared by `rows=`.
    declared: Option<u64>,
    /// Columns whose empty cells are null, or the empty string; absent otherwise.
    empty: Vec<Empty>,
    crlf: bool,
    padded: bool,
    /// Places of blank lines in a section of one column, which are empty cells if the declared count needs them.
    blanks: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Empty {
    Absent,
    Null,
    Text,
}

impl SectionReader {
    fn new(mut header: Header, typed: Typed) -> Result<Self> {
        let declared = match header.entry("rows") {
            None => None,
            Some(raw) => Some(raw.parse().map_err(|_| {
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
            rows: Vec::new(),
            declared,
            empty,
            crlf,
            padded,
            blanks: Vec::new(),
        })
    }

    fn spend(&self, budget: &mut usize, bytes: usize, line: usize) -> Result<()> {
        *budget = budget.checked_sub(bytes).ok_or_else(|| {
            let expected = format!("at most {MEMORY_PER_BYTE} bytes of memory per byte of text");
            Error::at(
                ErrorKind::TooLarge,
                line,
                1,
                "rows that would take far more memory",
                expected,
                "send fewer rows per payload",
            )
        })?;
        Ok(())
    }

    fn row(&mut self, row: &str, line: usize, budget: &mut usize) -> Result<()> {
        let fields = self.header.fields.len();
        self.spend(budget, 160 + fields.min(row.len() + 1) * 120 + row.len(), line)?;
        let value = match self.typed {
            Some((columns, rows)) => self.typed_row(row, line, columns, rows)?,
            None => self.inferred_row(row, line)?,
        };
        self.rows.push(value);
        Ok(())
    }

    fn blank(&mut self, line: usize, budget: &mut usize) -> Result<()> {
        if self.header.fields.len() == 1 && self.declared.is_some() && !self.padded {
            self.spend(budget, 32, line)?;
            self.blanks.push(self.rows.len());
        }
        Ok(())
    }

    fn typed_row(&self, row: &str, line: usize, columns: &'static [Column], rows: Rows) -> Result<Value> {
        let mut members = Map::with_capacity(columns.len());
        let mut at = 0;
        for (start, raw) in reader::cells(row) {
            let Some(column) = columns.get(at) else {
                if self.padded && at == 1 && raw.is_empty() {
                    continue;
                }
                return Err(reader::too_long(row, line, start, columns.len()));
            };
            at += 1;
            self.typed_cell(&mut members, raw, column, line, start)?;
        }
        for column in columns.get(at..).unwrap_or_default() {
            self.typed_cell(&mut members, "", column, line, row.len())?;
        }
        Ok(match rows {
            Rows::Many | Rows::One => Value::Object(members),
            Rows::Values | Rows::Value => members.into_iter().next().map_or(Value::Null, |(_, value)| value),
        })
    }

    fn typed_cell(
        &self,
        members: &mut Map<String, Value>,
        raw: &str,
        column: &Column,
        line: usize,
        start: usize,
    ) -> Result<()> {
        if raw.is_empty() && column.optional {
            return Ok(());
        }
        let (text, mark) = text::unescape(raw);
        members.insert(
            column.name.to_owned(),
            typed_text(text, mark, column, line, start + 1, self.crlf)?,
        );
        Ok(())
    }

    fn inferred_row(&self, row: &str, line: usize) -> Result<Value> {
        let fields = &self.header.fields;
        let escaped = memchr::memchr(b'\\', row.as_bytes()).is_some();
        if let [only] = &fields[..]
            && only == "value"
        {
            if let Some((start, _)) = reader::cells(row).nth(1) {
                return Err(reader::too_long(row, line, start, 1));
            }
            return Ok(self.inferred_cell(row, escaped));
        }
        if self.padded && fields[0] == "value" {
            let Some(raw) = row.strip_suffix('\t') else {
                return Ok(self.inferred_cell(row, escaped));
            };
            return match (raw.is_empty(), self.empty[0]) {
                (true, Empty::Text) => Ok(Value::String(String::new())),
                (true, _) => Ok(Value::Null),
                (false, _) => Ok(self.inferred_cell(raw, escaped)),
            };
        }
        let mut members = Map::with_capacity(fields.len().min(row.len() + 1));
        let mut at = 0;
        for (start, raw) in reader::cells(row) {
            let Some(field) = fields.get(at) else {
                return Err(reader::too_long(row, line, start, fields.len()));
            };
            let value = match (raw.is_empty(), self.empty[at]) {
                (false, _) => self.inferred_cell(raw, escaped),
                (true, Empty::Null) => Value::Null,
                (true, Empty::Text) => Value::String(String::new()),
                (true, Empty::Absent) => {
                    at += 1;
                    continue;
                }
            };
            members.insert(field.clone(), value);
            at += 1;
        }
        Ok(Value::Object(members))
    }

    fn inferred_cell(&self, raw: &str, escaped: bool) -> Value {
        if !escaped {
            return infer(raw).unwrap_or_else(|| Value::String(self.line_ends(raw.to_owned())));
        }
        let (text, mark) = text::unescape(raw);
        match mark {
            Mark::Plain => {
                if let Some(value) = infer(&text) {
                    return value;
                }
            }
            Mark::Literal => return literal(&text),
            Mark::Text => {}
        }
        Value::String(self.line_ends(text.into_owned()))
    }

    fn line_ends(&self, text: String) -> String {
        if self.crlf { text.replace('\n', "\r\n") } else { text }
    }

    /// Ends the section: blank lines become rows where the count needs them, and the count is checked.
    fn finish(mut self) -> Result<DecodedSection> {
        let Some(declared) = self.declared else {
            return Ok(DecodedSection {
                header: self.header,
                rows: self.rows,
                padded: self.padded,
            });
        };
        let found = self.rows.len() as u64;
        if found < declared && (self.blanks.len() as u64) >= declared - found {
            let missing = (declared - found) as usize;
            let places: Vec<usize> = self.blanks.drain(..).take(missing).collect();
            let mut rows = Vec::with_capacity(self.rows.len() + missing);
            let mut places = places.into_iter().peekable();
            for (at, row) in std::mem::take(&mut self.rows).into_iter().enumerate() {
                while places.next_if_eq(&at).is_some() {
                    rows.push(self.blank_row());
                }
                rows.push(row);
            }
            rows.extend(places.map(|_| self.blank_row()));
            self.rows = rows;
        }
        if self.rows.len() as u64 != declared {
            let (found, expected) = (format!("{} rows", self.rows.len()), format!("rows={declared}"));
            return Err(Error::at(
                ErrorKind::RowCount,
                self.header.line,
                1,
                found,
                expected,
                "the payload was cut: ask again",
            ));
        }
        Ok(DecodedSection {
            header: self.header,
            rows: self.rows,
            padded: self.padded,
        })
    }

    fn blank_row(&self) -> Value {
        match self.typed {
            Some((_, Rows::Values | Rows::Value)) => Value::String(String::new()),
            None if self.header.fields[0] == "value" => Value::String(String::new()),
            _ => Value::Object(Map::from_iter([(
                self.header.fields[0].clone(),
                Value::String(String::new()),
            )])),
        }
    }
}

/// The value a plain cell looks like, unless it is text.
#[inline]
pub(crate) fn infer(text: &str) -> Option<Value> {
    match text.as_bytes() {
        [b'-' | b'0'..=b'9', ..] => number(text).map(Value::Number),
        b"true" => Some(Value::Bool(true)),
        b"false" => Some(Value::Bool(false)),
        [b'[', .., b']'] | [b'{', .., b'}'] => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// A JSON number; whole ones stay whole as far as 64 bits go.
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
    if !text::is_number(bytes) {
        return None;
    }
    if !bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) && text != "-0" {
        if let Ok(number) = text.parse::<i64>() {
            return Some(number.into());
        }
        if let Ok(number) = text.parse::<u64>() {
            return Some(number.into());
        }
    }
    text.parse().ok().and_then(Number::from_f64)
}

/// A JSON string literal, as the encoder writes text with CR or an empty text where an empty cell means something else.
fn literal(text: &str) -> Value {
    // Text that only begins like a literal was written by hand; it says what it says.
    Value::String(serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()))
}

/// The value of a cell whose column's type is known.
pub(crate) fn typed_text(
    text: Cow<'_, str>,
    mark: Mark,
    column: &Column,
    line: usize,
    at: usize,
    crlf: bool,
) -> Result<Value> {
    let wrong = || {
        let expected = format!("{} in the column `{}`", column.kind.name(), column.name);
        Error::at(
            ErrorKind::Cell,
            line,
            at,
            format!("`{text}`"),
            expected,
            "check that the columns are in order",
        )
    };
    match column.kind {
        Kind::Text if mark == Mark::Literal => Ok(literal(&text)),
        Kind::Text if crlf => Ok(Value::String(text.replace('\n', "\r\n"))),
        Kind::Text => Ok(Value::String(text.into_owned())),
        Kind::Integer => match number(&text) {
            Some(number) if !number.is_f64() => Ok(Value::Number(number)),
            _ => Err(wrong()),
        },
        Kind::Float => {
            let float = text
                .parse::<f64>()
                .ok()
                .filter(|_| !text.is_empty())
                .and_then(Number::from_f64);
            float.map(Value::Number).ok_or_else(wrong)
        }
        Kind::Flag => match &*text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(wrong()),
        },
        Kind::List if text.is_empty() => Ok(Value::Array(Vec::new())),
        Kind::List => {
            if text.starts_with('[')
                && let Ok(list) = serde_json::from_str::<Vec<Value>>(&text)
            {
                return Ok(Value::Array(list));
            }
            Ok(text.split(',').map(Value::from).collect())
        }
        Kind::Json => serde_json::from_str(&text).map_err(|_| wrong()),
    }
}
