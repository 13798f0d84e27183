//! The tokens of generic-profile lines: keys, scalars, count brackets and lists of scalars.

use super::decode::Parser;
use super::document::Node;
use super::error::{Category, Result, shown};
use super::lines::Line;
use super::scalar::{Number, is_key_byte, number_end, parse_number, read_quoted};

/// Where a value token stands: only cells may be absent or attached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Value,
    Cell,
}

/// A count bracket: `[3]`, `[?]`, `[3:]`.
pub(crate) struct Bracket {
    /// `None` for `?`. Saturates, since no text holds that many items.
    pub(crate) count: Option<u64>,
    pub(crate) keyed: bool,
    /// Just past `]`.
    pub(crate) end: usize,
}

impl Parser<'_, '_> {
    /// A bare or quoted key, and where it ends.
    pub(crate) fn key(&mut self, start: usize, end: usize) -> Result<(Node, usize)> {
        let bytes = &self.text.as_bytes()[..end];
        if bytes.get(start) == Some(&b'"') {
            return self.quoted(start, end);
        }
        let length = bytes[start..].iter().take_while(|byte| is_key_byte(**byte)).count();
        if length == 0 || bytes[start].is_ascii_digit() {
            let found = shown(&self.text[start..end]);
            return Err(self.error(
                start,
                Category::InvalidKey,
                found,
                "a key: letters, digits and `_`, or quoted",
            ));
        }
        Ok((
            Node::Text {
                start: start as u32,
                len: length as u32,
            },
            start + length,
        ))
    }

    /// The quoted string at `start`, and where it ends.
    pub(crate) fn quoted(&mut self, start: usize, end: usize) -> Result<(Node, usize)> {
        let before = self.document.unescaped.len();
        let (after, escaped) = read_quoted(self.text, start, end, &mut self.document.unescaped)?;
        let node = if escaped {
            Node::Owned {
                start: before as u32,
                len: (self.document.unescaped.len() - before) as u32,
            }
        } else {
            Node::Text {
                start: start as u32 + 1,
                len: (after - start - 2) as u32,
            }
        };
        Ok((node, after))
    }

    /// The scalar that fills `start..end`.
    pub(crate) fn value(&mut self, start: usize, end: usize) -> Result<Node> {
        let (start, end) = self.trim(start, end);
        if self.text.as_bytes().get(start) == Some(&b'"') && start < end {
            let (node, after) = self.quoted(start, end)?;
            if after < end {
                let found = shown(&self.text[after..end]);
                return Err(self.error(
                    after,
                    Category::TrailingCharacters,
                    found,
                    "nothing after the closing quote",
                ));
            }
            return Ok(node);
        }
        self.bare(start, end, Place::Value)
    }

    #[inline]
    pub(crate) fn trim(&self, mut start: usize, mut end: usize) -> (usize, usize) {
        let bytes = self.text.as_bytes();
        while start < end && matches!(bytes[start], b' ' | b'\t') {
            start += 1;
        }
        while start < end && matches!(bytes[end - 1], b' ' | b'\t') {
            end -= 1;
        }
        (start, end)
    }

    /// A token without quotes and without space around it.
    #[inline]
    pub(crate) fn bare(&self, start: usize, end: usize, place: Place) -> Result<Node> {
        let token = &self.text.as_bytes()[start..end];
        let text = Node::Text {
            start: start as u32,
            len: (end - start) as u32,
        };
        match token.first() {
            Some(b'0'..=b'9') => self.number(token, start, text),
            Some(b'-') if token.len() == 1 => Ok(Node::Null),
            Some(b'-') => self.number(token, start, text),
            Some(b't') if token == b"true" => Ok(Node::Bool(true)),
            Some(b'f') if token == b"false" => Ok(Node::Bool(false)),
            Some(b'~') if token.len() == 1 => match place {
                Place::Cell => Ok(Node::Absent),
                Place::Value => Err(self.error(start, Category::InvalidMissing, "`~`", "a value")),
            },
            Some(b'^') if token.len() == 1 && place == Place::Cell => Ok(Node::Attached),
            Some(b'^') if token.len() == 1 || (token[1] == b'{' && token.ends_with(b"}")) => Err(self.error(
                start,
                Category::InvalidAttachmentMarker,
                shown(&self.text[start..end]),
                "a value",
            )),
            _ => Ok(text),
        }
    }

    #[inline]
    fn number(&self, token: &[u8], start: usize, text: Node) -> Result<Node> {
        // Most numbers are short integers: no need to look for points and exponents twice.
        if token.len() <= 18 && token[0] != b'-' && (token[0] != b'0' || token.len() == 1) {
            let mut value = 0;
            let mut plain = true;
            for byte in token {
                let digit = byte.wrapping_sub(b'0');
                plain &= digit < 10;
                value = value * 10 + i64::from(digit & 15);
            }
            if plain {
                return Ok(Node::Integer(value));
            }
        }
        if number_end(token) != Some(token.len()) {
            return Ok(text);
        }
        let token = &self.text[start..start + token.len()];
        match parse_number(token) {
            Ok(Number::Integer(value)) => Ok(Node::Integer(value)),
            Ok(Number::Float(value)) => Ok(Node::Float(value)),
            Err(expected) => Err(self.error(start, Category::OutOfRange, shown(token), expected)),
        }
    }

    /// The count bracket whose `[` is at `start`.
    pub(crate) fn bracket(&self, start: usize, end: usize) -> Result<Bracket> {
        let inner = &self.text[start + 1..end];
        let Some(length) = inner.find(']') else {
            return Err(self.error(
                start,
                Category::InvalidCount,
                shown(&self.text[start..end]),
                "`[count]`",
            ));
        };
        let (count, keyed) = match inner[..length].strip_suffix(':') {
            Some(count) => (count, true),
            None => (&inner[..length], false),
        };
        let count = match count {
            "?" => None,
            digits => match parse_count(digits) {
                Some(count) => Some(count),
                None => {
                    return Err(self.error(
                        start,
                        Category::InvalidCount,
                        shown(&inner[..length]),
                        "a plain decimal or `?`",
                    ));
                }
            },
        };
        if keyed && count == Some(0) {
            return Err(self.error(
                start,
                Category::InvalidCount,
                "a keyed map with zero count",
                "at least one member",
            ));
        }
        Ok(Bracket {
            count,
            keyed,
            end: start + 1 + length + 1,
        })
    }

    /// The values of an inline array, from just past its `:`.
    pub(crate) fn inline(&mut self, bracket: &Bracket, start: usize, line: Line) -> Result<Node> {
        let Some(count) = bracket.count else {
            return Err(self.error(
                start,
                Category::InvalidCount,
                "`?` before values",
                "the number of values",
            ));
        };
        // Scalars only, so they can go straight to their place.
        let base = self.document.nodes.len();
        let (mut position, end) = self.trim(start, line.end);
        if position < end {
            loop {
                let (node, after) = self.element(position, end, b',', Place::Value)?;
                self.document.nodes.push(node);
                match after {
                    Some(next) => position = next,
                    None => break,
                }
            }
        }
        let len = self.document.nodes.len() - base;
        if len as u64 != count {
            return Err(self.error(
                line.start,
                Category::CountMismatch,
                format!("{len} values"),
                &format!("{count}"),
            ));
        }
        Ok(Node::Array {
            first: base as u32,
            len: len as u32,
        })
    }

    /// One element of a delimited list, and where the next begins, if there is one.
    #[inline]
    pub(crate) fn element(
        &mut self,
        start: usize,
        end: usize,
        delimiter: u8,
        place: Place,
    ) -> Result<(Node, Option<usize>)> {
        let bytes = &self.text.as_bytes()[..end];
        let mut position = start;
        while position < end && matches!(bytes[position], b' ' | b'\t') {
            position += 1;
        }
        if position < end && bytes[position] == b'"' {
            let (node, mut after) = self.quoted(position, end)?;
            while after < end && matches!(bytes[after], b' ' | b'\t') {
                after += 1;
            }
            if after == end {
                return Ok((node, None));
            }
            if bytes[after] != delimiter {
                let found = shown(&self.text[after..end]);
                return Err(self.error(
                    after,
                    Category::TrailingCharacters,
                    found,
                    "a delimiter after the closing quote",
                ));
            }
            return Ok((node, Some(after + 1)));
        }
        let stop = bytes[position..]
            .iter()
            .position(|byte| *byte == delimiter)
            .map(|length| position + length);
        let mut token_end = stop.unwrap_or(end);
        while token_end > position && matches!(bytes[token_end - 1], b' ' | b'\t') {
            token_end -= 1;
        }
        Ok((self.bare(position, token_end, place)?, stop.map(|stop| stop + 1)))
    }
}

/// `0`, or digits without a leading zero. Saturates.
pub(crate) fn parse_count(digits: &str) -> Option<u64> {
    let bytes = digits.as_bytes();
    if bytes.is_empty() || !bytes.iter().all(u8::is_ascii_digit) || (bytes[0] == b'0' && bytes.len() > 1) {
        return None;
    }
    Some(digits.parse().unwrap_or(u64::MAX))
}
