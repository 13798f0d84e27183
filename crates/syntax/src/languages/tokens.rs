//! Words and marks of a text in a language of C's family, for readings that come before the grammar's.
//!
//! Comments and blanks are passed over, and a text in quotes is one token. Nothing is checked: whoever reads a text this way only
//! wants to write a few bytes of it differently, and the grammar judges the result.

/// A word, a mark, or a whole text, which counts as its quote.
#[derive(Clone, Copy)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    /// Before the first one.
    pub(super) const NONE: Token = Token { start: 0, end: 0 };

    /// The word; nothing where it is not one.
    pub(super) fn word(self, bytes: &[u8]) -> &[u8] {
        let text = &bytes[self.start..self.end];
        match text.first() {
            Some(&first) if is_letter(first) => text,
            _ => &[],
        }
    }

    /// The mark; `None` where it is a word or there is no token.
    pub(super) fn mark(self, bytes: &[u8]) -> Option<u8> {
        let first = bytes[self.start..self.end].first().copied();
        first.filter(|byte| !is_letter(*byte))
    }
}

/// The tokens of a text from a place on. Regular expressions are taken for marks.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    /// Whether comments hold comments.
    pub(super) nested_comments: bool,
}

impl Tokens<'_> {
    pub(super) fn next(&mut self) -> Option<Token> {
        let start = self.skip_blanks()?;
        let rest = &self.bytes[start..];
        let length = match rest[0] {
            b'"' if rest.starts_with(b"\"\"\"") => memchr::memmem::find(&rest[3..], b"\"\"\"").map(|found| found + 6),
            quote @ (b'"' | b'\'' | b'`') => quoted(rest, quote),
            first if is_letter(first) => rest.iter().position(|&byte| !is_letter(byte)),
            _ => Some(1),
        };
        self.at = start + length.unwrap_or(rest.len());
        Some(Token { start, end: self.at })
    }

    /// The mark that comes next.
    pub(super) fn peek_mark(mut self) -> Option<u8> {
        let bytes = self.bytes;
        self.next().and_then(|token| token.mark(bytes))
    }

    /// Skips to the end of what a parenthesis opened.
    pub(super) fn skip_to_close(&mut self) -> Option<usize> {
        let mut depth = 1;
        while depth > 0 {
            match self.next()?.mark(self.bytes) {
                Some(b'(') => depth += 1,
                Some(b')') => depth -= 1,
                _ => {}
            }
        }
        Some(self.at)
    }

    /// The next place that is neither blank nor comment.
    fn skip_blanks(&mut self) -> Option<usize> {
        loop {
            let rest = self.bytes.get(self.at..)?;
            let skipped = match *rest {
                [byte, ..] if byte.is_ascii_whitespace() => 1,
                [b'/', b'/', ..] => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                [b'/', b'*', ..] if self.nested_comments => nested_comment(rest),
                [b'/', b'*', ..] => memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |found| found + 4),
                [] => return None,
                _ => return Some(self.at),
            };
            self.at += skipped;
        }
    }
}

/// The length of a comment with the comments that it holds.
fn nested_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (1usize, 2);
    while depth > 0 {
        let Some(found) = memchr::memchr2(b'/', b'*', rest.get(at..).unwrap_or_default()) else {
            return rest.len();
        };
        at += found;
        let step = match rest[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
    }
    at
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// The length of a text that ends with `quote`, or with its line: only one in backquotes goes over lines.
fn quoted(rest: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        at += match byte {
            b'\\' => 2,
            b'\n' if quote != b'`' => return Some(at),
            _ if byte == quote => return Some(at + 1),
            _ => 1,
        };
    }
    None
}
