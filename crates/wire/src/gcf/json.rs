//! JSON text straight into a tape, keeping what a `serde_json::Value` loses: integers beyond 64 bits are an error here, not a
//! rounded double, and a key given twice is an error, not a silent overwrite.

use super::error::{Category, Error, Result, shown};
use super::scalar::{Number, number_end, parse_number, read_quoted};
use super::tape::{Builder, Node};

/// Reads one JSON value and adds it to `builder`.
pub(crate) fn read(text: &str, builder: &mut Builder) -> Result<()> {
    let mut reader = Reader {
        text,
        position: 0,
        builder,
        scratch: String::new(),
    };
    reader.skip_space();
    reader.value()?;
    reader.skip_space();
    if reader.position < text.len() {
        return reader.fail(Category::InvalidJson, "the end of the text");
    }
    Ok(())
}

struct Reader<'a, 'b> {
    text: &'a str,
    position: usize,
    builder: &'b mut Builder,
    scratch: String,
}

impl Reader<'_, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.position += 1;
        }
    }

    fn fail<T>(&self, category: Category, expected: &str) -> Result<T> {
        let found = match self.text[self.position..].chars().next() {
            Some(character) => format!("{character:?}"),
            None => "the end of the text".to_owned(),
        };
        Err(Error::at(
            self.text.as_bytes(),
            self.position,
            category,
            found,
            expected,
        ))
    }

    /// The builder's own errors know no place; here there is one.
    fn placed<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| {
            Error::at(
                self.text.as_bytes(),
                self.position,
                error.category(),
                error.found(),
                error.expected(),
            )
        })
    }

    fn value(&mut self) -> Result<()> {
        match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Node::Bool(true)),
            Some(b'f') => self.word("false", Node::Bool(false)),
            Some(b'n') => self.word("null", Node::Null),
            _ => self.fail(Category::InvalidJson, "a JSON value"),
        }
    }

    fn word(&mut self, word: &str, node: Node) -> Result<()> {
        if !self.text[self.position..].starts_with(word) {
            return self.fail(Category::InvalidJson, "a JSON value");
        }
        self.position += word.len();
        self.builder.scalar(node);
        Ok(())
    }

    fn number(&mut self) -> Result<()> {
        let Some(length) = number_end(&self.text.as_bytes()[self.position..]) else {
            return self.fail(Category::InvalidJson, "a JSON number");
        };
        let token = &self.text[self.position..self.position + length];
        let node = match parse_number(token) {
            Ok(Number::Integer(value)) => Node::Integer(value),
            Ok(Number::Float(value)) => Node::Float(value),
            Err(expected) => {
                let bytes = self.text.as_bytes();
                return Err(Error::at(
                    bytes,
                    self.position,
                    Category::OutOfRange,
                    shown(token),
                    expected,
                ));
            }
        };
        self.position += length;
        self.builder.scalar(node);
        Ok(())
    }

    fn string(&mut self) -> Result<()> {
        let start = self.position;
        self.scratch.clear();
        let (end, escaped) = read_quoted(self.text, start, self.text.len(), &mut self.scratch)?;
        self.position = end;
        let result = self.builder.text(if escaped {
            &self.scratch
        } else {
            &self.text[start + 1..end - 1]
        });
        self.placed(result)
    }

    fn object(&mut self) -> Result<()> {
        let opened = self.builder.open();
        let mut open = self.placed(opened)?;
        self.position += 1;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.position += 1;
            return self.builder.close_object(&open);
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.fail(Category::InvalidJson, "a quoted key");
            }
            let start = self.position;
            self.scratch.clear();
            let (end, escaped) = read_quoted(self.text, start, self.text.len(), &mut self.scratch)?;
            self.position = end;
            self.builder.key(
                &mut open,
                if escaped {
                    &self.scratch
                } else {
                    &self.text[start + 1..end - 1]
                },
            )?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return self.fail(Category::InvalidJson, "`:`");
            }
            self.position += 1;
            self.skip_space();
            self.value()?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.position += 1,
                Some(b'}') => {
                    self.position += 1;
                    let closed = self.builder.close_object(&open);
                    return self.placed(closed);
                }
                _ => return self.fail(Category::InvalidJson, "`,` or `}`"),
            }
            self.skip_space();
        }
    }

    fn array(&mut self) -> Result<()> {
        let opened = self.builder.open();
        let open = self.placed(opened)?;
        self.position += 1;
        self.skip_space();
        if self.peek() == Some(b']') {
            self.position += 1;
            return self.builder.close_array(&open);
        }
        loop {
            self.value()?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.position += 1,
                Some(b']') => {
                    self.position += 1;
                    return self.builder.close_array(&open);
                }
                _ => return self.fail(Category::InvalidJson, "`,` or `]`"),
            }
            self.skip_space();
        }
    }
}
