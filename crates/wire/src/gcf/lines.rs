//! Lines with their indentation, one at a time; blank lines and comments never surface.

use super::error::{Category, Error, Result, shown};

/// One line: where its content begins and ends, and how deep it is indented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) level: usize,
}

/// A cursor over the lines of a text.
pub(crate) struct Lines<'a> {
    pub(crate) text: &'a str,
    next: usize,
    peeked: Option<Line>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str, start: usize) -> Self {
        Self {
            text,
            next: start,
            peeked: None,
        }
    }

    pub(crate) fn content(&self, line: Line) -> &'a str {
        &self.text[line.start..line.end]
    }

    /// The next line, without moving past it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<Line>> {
        if self.peeked.is_none() {
            self.peeked = self.read()?;
        }
        Ok(self.peeked)
    }

    pub(crate) fn advance(&mut self) {
        self.peeked = None;
    }

    fn read(&mut self) -> Result<Option<Line>> {
        let bytes = self.text.as_bytes();
        loop {
            let begin = self.next;
            if begin >= bytes.len() {
                return Ok(None);
            }
            let newline = memchr::memchr(b'\n', &bytes[begin..]).map_or(bytes.len(), |length| begin + length);
            self.next = newline + 1;
            let mut end = newline;
            if end > begin && bytes[end - 1] == b'\r' {
                end -= 1;
            }
            while end > begin && matches!(bytes[end - 1], b' ' | b'\t') {
                end -= 1;
            }
            let mut start = begin;
            while start < end && bytes[start] == b' ' {
                start += 1;
            }
            if start == end {
                continue;
            }
            if bytes[start] == b'\t' {
                return Err(Error::at(bytes, start, Category::TabIndentation, "a tab", "spaces"));
            }
            if bytes[start] == b'#' && bytes.get(start + 1) == Some(&b' ') {
                continue;
            }
            let spaces = start - begin;
            if spaces % 2 == 1 {
                let found = format!("{spaces} spaces before {}", shown(&self.text[start..end]));
                return Err(Error::at(
                    bytes,
                    begin,
                    Category::InvalidIndent,
                    found,
                    "two spaces per level",
                ));
            }
            return Ok(Some(Line {
                start,
                end,
                level: spaces / 2,
            }));
        }
    }
}
