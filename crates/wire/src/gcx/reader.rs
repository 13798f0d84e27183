//! Reading GCX1 line by line: sections with their headers and raw rows, borrowed from the text.

use std::borrow::Cow;

use super::error::{Error, ErrorKind, Result};
use super::text;

/// More columns than any table needs; each costs memory far beyond its bytes.
pub(crate) const MAX_FIELDS: usize = 16_384;

/// A section's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The tool or section name.
    pub tool: String,
    /// The column names; at least one.
    pub fields: Vec<String>,
    /// The other entries, in the order they stand, still in cell spelling.
    pub entries: Vec<(String, String)>,
    /// The line it stands on.
    pub line: usize,
}

impl Header {
    /// The raw value of an entry.
    pub fn entry(&self, name: &str) -> Option<&str> {
        self.entries
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// One line of a payload that carries data.
#[derive(Debug)]
pub enum Line<'a> {
    /// Opens a section.
    Header(Header),
    /// A row of the section under way, with its number.
    Row(&'a str, usize),
    /// A blank line, which no decoder counts as a row unless the header's `rows=` needs it.
    Blank(usize),
}

/// Pulls lines out of a text. Comments are skipped; nothing is copied but headers.
pub struct Reader<'a> {
    text: &'a str,
    /// Where the last line begins, and the next.
    begin: usize,
    next: usize,
    line: usize,
    started: bool,
}

impl<'a> Reader<'a> {
    /// Reads from the start of `text`.
    pub fn new(text: &'a str) -> Self {
        let begin = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self::at(text, begin, 1)
    }

    /// Reads from the header at the byte `start`, which is in line `line`.
    pub(crate) fn at(text: &'a str, start: usize, line: usize) -> Self {
        Self {
            text,
            begin: start,
            next: start,
            line: line - 1,
            started: false,
        }
    }

    /// The byte at which the last line begins.
    pub(crate) fn line_start(&self) -> usize {
        self.begin
    }

    /// The next line that carries data, or `None` at the end.
    pub fn next_line(&mut self) -> Result<Option<Line<'a>>> {
        while self.next < self.text.len() {
            self.begin = self.next;
            let length = memchr::memchr(b'\n', &self.text.as_bytes()[self.begin..]);
            let end = length.map_or(self.text.len(), |length| self.begin + length);
            self.next = end + 1;
            let line = &self.text[self.begin..end];
            self.line += 1;
            let line = line.strip_suffix('\r').unwrap_or(line);
            if line.is_empty() {
                if self.started {
                    return Ok(Some(Line::Blank(self.line)));
                }
            } else if line.starts_with('#') {
                continue;
            } else if !self.started {
                self.started = true;
                return self.first(line).map(Some);
            } else if is_header(line) {
                return Ok(Some(Line::Header(parse_header(line, self.line)?)));
            } else {
                return Ok(Some(Line::Row(line, self.line)));
            }
        }
        if self.started {
            return Ok(None);
        }
        Err(Error::at(
            ErrorKind::NotGcx,
            self.line.max(1),
            1,
            "nothing",
            "a line `GCX1 tool=… fields=…`",
            REMEDY_JSON,
        ))
    }

    fn first(&self, line: &str) -> Result<Line<'a>> {
        let tag = line.split(' ').next().unwrap_or_default();
        if tag == "GCX1" {
            return Ok(Line::Header(parse_header(line, self.line)?));
        }
        let version = tag.strip_prefix("GCX").is_some_and(|version| {
            !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        });
        if version && line.len() > tag.len() {
            return Err(Error::at(
                ErrorKind::UnknownVersion,
                self.line,
                1,
                format!("the unknown version `{tag}`"),
                "`GCX1`",
                REMEDY_JSON,
            ));
        }
        let found = format!("`{line}`");
        Err(Error::at(
            ErrorKind::NotGcx,
            self.line,
            1,
            found,
            "a line `GCX1 tool=… fields=…`",
            REMEDY_JSON,
        ))
    }
}

const REMEDY_JSON: &str = "ask again with format json";

/// Whether a line inside a payload opens a section. A row whose first cell merely begins with `GCX1` does not.
fn is_header(line: &str) -> bool {
    if !line.starts_with("GCX1 ") {
        return false;
    }
    line.starts_with("GCX1 tool=") || (!line.contains('\t') && line.contains(" tool=") && line.contains(" fields="))
}

/// The header that a line after its tag holds: `tool=`, `fields=` and entries.
pub(crate) fn parse_header(line: &str, number: usize) -> Result<Header> {
    let problem = |column: usize, found: String, expected: &str| {
        Error::at(
            ErrorKind::Header,
            number,
            column,
            found,
            expected,
            "write `GCX1 tool=<name> fields=<a>,<b> key=value`",
        )
    };
    let mut tool = None;
    let mut fields = None;
    let mut entries: Vec<(String, String)> = Vec::new();
    let mut column = "GCX1 ".len() + 1;
    for token in line.get("GCX1 ".len()..).unwrap_or_default().split(' ') {
        let start = column;
        column += token.len() + 1;
        match token.split_once('=') {
            _ if token.is_empty() => {}
            Some(("tool", value)) => tool = Some(text::unescape(value).0.into_owned()),
            Some(("fields", value)) => fields = Some((start, value)),
            Some((key, value)) => entries.push((text::unescape(key).0.into_owned(), value.to_owned())),
            // A value with a space in it, which strict decoders refuse.
            None => match entries.last_mut() {
                Some((_, value)) => {
                    value.push(' ');
                    value.push_str(token);
                }
                None => return Err(problem(start, format!("`{token}`"), "key=value")),
            },
        }
    }
    let Some(tool) = tool.filter(|tool| !tool.is_empty()) else {
        return Err(problem(1, "a header without a tool".to_owned(), "tool=<name>"));
    };
    let Some((_, fields)) = fields.filter(|(_, fields)| !fields.is_empty()) else {
        return Err(problem(1, "a header without fields".to_owned(), "fields=<a>,<b>,…"));
    };
    if memchr::memchr_iter(b',', fields.as_bytes()).count() >= MAX_FIELDS {
        return Err(problem(1, "too many fields".to_owned(), "at most 16384"));
    }
    let fields: Vec<String> = fields
        .split(',')
        .map(|field| text::unescape(field).0.into_owned())
        .collect();
    // A row would have two values for one member.
    let twice = |names: &mut Vec<&str>| {
        names.sort_unstable();
        names
            .windows(2)
            .find(|pair| pair[0] == pair[1])
            .map(|pair| pair[0].to_owned())
    };
    if let Some(name) = twice(&mut fields.iter().map(String::as_str).collect()) {
        return Err(problem(1, format!("the field `{name}` twice"), "each field once"));
    }
    if let Some(name) = twice(&mut entries.iter().map(|(name, _)| name.as_str()).collect()) {
        return Err(problem(1, format!("the entry `{name}` twice"), "each entry once"));
    }
    Ok(Header {
        tool,
        fields,
        entries,
        line: number,
    })
}

/// The cells of a row, as raw slices with the byte at which each begins.
pub(crate) fn cells(row: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let at = start;
        let cell = match memchr::memchr(b'\t', &row.as_bytes()[at..]) {
            Some(length) => {
                start = at + length + 1;
                &row[at..at + length]
            }
            None => {
                done = true;
                &row[at..]
            }
        };
        Some((at, cell))
    })
}

/// The values of a row as plain text, padded to `fields`; more values than fields are an error.
pub fn row_values<'a>(row: &'a str, line: usize, fields: usize) -> Result<Vec<Cow<'a, str>>> {
    let mut values = Vec::with_capacity(fields.min(row.len() + 1));
    for (at, raw) in cells(row) {
        if values.len() == fields {
            return Err(too_long(row, line, at, fields));
        }
        values.push(text::unescape(raw).0);
    }
    values.resize(fields, Cow::Borrowed(""));
    Ok(values)
}

pub(crate) fn too_long(row: &str, line: usize, at: usize, fields: usize) -> Error {
    let found = format!("{} values", cells(row).count());
    let expected = format!("at most {fields}, as the header has fields");
    Error::at(
        ErrorKind::RowTooLong,
        line,
        at + 1,
        found,
        expected,
        "escape a TAB inside a value as \\t",
    )
}
