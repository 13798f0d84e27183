//! Places in text. Lacon counts 1-based lines and 0-based bytes; servers count 0-based lines and, unless another unit was
//! negotiated, UTF-16 units. Converting needs the text of the line, so it is done here and nowhere else.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

/// A place in a file: 1-based line, 0-based column in UTF-8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place {
    /// 1-based.
    pub line: u32,
    /// 0-based, in bytes.
    pub column: u32,
}

/// From the first place up to, but without, the second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Range {
    /// Where it begins.
    pub start: Place,
    /// Where it has ended.
    pub end: Place,
}

/// A range of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Location {
    /// Absolute.
    pub path: PathBuf,
    /// Where in it.
    pub range: Range,
}

/// The unit in which a server counts columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// The protocol's default.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The encodings offered to servers, best first: bytes need no text to convert.
    pub const OFFERED: [&'static str; 3] = ["utf-8", "utf-32", "utf-16"];

    /// What a server chose.
    pub fn named(name: &str) -> Encoding {
        match name {
            "utf-8" => Encoding::Utf8,
            "utf-32" => Encoding::Utf32,
            _ => Encoding::Utf16,
        }
    }

    /// Bytes to this unit. A column past the end is the end; one inside a character is its start.
    pub fn from_bytes(self, line: &str, column: u32) -> u32 {
        let mut end = (column as usize).min(line.len());
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let before = &line[..end];
        match self {
            Encoding::Utf8 => end as u32,
            Encoding::Utf16 => before.chars().map(|character| character.len_utf16() as u32).sum(),
            Encoding::Utf32 => before.chars().count() as u32,
        }
    }

    /// This unit to bytes. A column past the end is the end; one inside a character is its start.
    pub fn to_bytes(self, line: &str, column: u32) -> u32 {
        if self == Encoding::Utf8 {
            return column.min(line.len() as u32);
        }
        let mut counted = 0;
        for (at, character) in line.char_indices() {
            let width = match self {
                Encoding::Utf32 => 1,
                _ => character.len_utf16() as u32,
            };
            if counted + width > column {
                return at as u32;
            }
            counted += width;
        }
        line.len() as u32
    }
}

/// A text with its lines, cheap to share.
#[derive(Clone, Debug, Default)]
pub struct Text {
    text: Arc<str>,
    starts: Arc<[u32]>,
}

impl Text {
    /// Finds the lines of a text. A line ends after `\n`, `\r\n` or a lone `\r`, as the protocol says.
    pub fn new(text: impl Into<Arc<str>>) -> Text {
        let text = text.into();
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' || byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at as u32 + 1);
            }
        }
        Text {
            starts: starts.into(),
            text,
        }
    }

    /// All of it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Number of lines; a text that ends in a line's end has an empty last one.
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// A 1-based line without its end; empty where there is none.
    pub fn line(&self, line: u32) -> &str {
        let Some(index) = (line as usize).checked_sub(1) else {
            return "";
        };
        let Some(&start) = self.starts.get(index) else {
            return "";
        };
        let end = self
            .starts
            .get(index + 1)
            .map_or(self.text.len(), |&next| next as usize);
        self.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// The byte offset of a place, cut to what is there.
    pub fn offset(&self, place: Place) -> usize {
        let index = (place.line.max(1) - 1) as usize;
        match self.starts.get(index) {
            Some(&start) => start as usize + (place.column as usize).min(self.line(place.line).len()),
            None => self.text.len(),
        }
    }

    /// The place of a byte offset.
    pub fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len()) as u32;
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        Place {
            line: line as u32,
            column: offset - start,
        }
    }

    /// A place as a server spells it.
    pub fn spell(&self, place: Place, encoding: Encoding) -> Value {
        let column = encoding.from_bytes(self.line(place.line), place.column);
        json!({"line": place.line.saturating_sub(1), "character": column})
    }

    /// 1-based column in characters, as people and models count.
    pub fn character(&self, place: Place) -> u32 {
        Encoding::Utf32.from_bytes(self.line(place.line), place.column) + 1
    }
}

/// Texts of files by path, read once each: what a server said about a file is converted with the text the server has.
#[derive(Default)]
pub struct Texts {
    known: HashMap<PathBuf, Text>,
}

/// Largest file whose text is read to convert a column.
const MAX_FILE: u64 = 16 << 20;

impl Texts {
    /// With these texts instead of what is on disk.
    pub fn with(known: HashMap<PathBuf, Text>) -> Texts {
        Texts { known }
    }

    /// The text of a file; empty where it cannot be read.
    pub fn of(&mut self, path: &Path) -> Text {
        if let Some(text) = self.known.get(path) {
            return text.clone();
        }
        let is_small = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_FILE);
        let bytes = if is_small { std::fs::read(path) } else { Ok(Vec::new()) };
        let text = Text::new(String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned());
        self.known.insert(path.to_path_buf(), text.clone());
        text
    }

    /// A place as a server spelled it.
    pub fn place(&mut self, path: &Path, position: &Value, encoding: Encoding) -> Option<Place> {
        let number = |name: &str| {
            position
                .get(name)?
                .as_u64()
                .map(|number| number.min(u64::from(u32::MAX - 1)) as u32)
        };
        let (line, column) = (number("line")? + 1, number("character")?);
        let column = match encoding {
            Encoding::Utf8 => column,
            _ => encoding.to_bytes(self.of(path).line(line), column),
        };
        Some(Place { line, column })
    }

    /// A range as a server spelled it.
    pub fn range(&mut self, path: &Path, range: &Value, encoding: Encoding) -> Option<Range> {
        Some(Range {
            start: self.place(path, range.get("start")?, encoding)?,
            end: self.place(path, range.get("end")?, encoding)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Encoding, Place, Text};

    #[test]
    fn units_differ_after_wide_characters() {
        let line = "é😀x";
        let x = line.find('x').unwrap() as u32;
        assert_eq!(Encoding::Utf8.from_bytes(line, x), 6);
        assert_eq!(Encoding::Utf16.from_bytes(line, x), 3);
        assert_eq!(Encoding::Utf32.from_bytes(line, x), 2);
        assert_eq!(Encoding::Utf16.to_bytes(line, 2), 2, "inside of a pair is its start");
    }

    #[test]
    fn lines_end_as_the_protocol_says() {
        let text = Text::new("a\r\nb\rc\n");
        assert_eq!(
            (1..=5).map(|line| text.line(line)).collect::<Vec<_>>(),
            ["a", "b", "c", "", ""]
        );
        assert_eq!(text.place(5), Place { line: 3, column: 0 });
    }

    proptest! {
        #[test]
        fn every_place_survives_every_unit(text in "[a-zé😀\r\n]{0,40}", at in 0usize..60) {
            let text = Text::new(text);
            let mut at = at.min(text.as_str().len());
            while !text.as_str().is_char_boundary(at) { at -= 1; }
            let place = text.place(at);
            let line = text.line(place.line);
            if place.column as usize <= line.len() {
                prop_assert_eq!(text.offset(place), at);
                for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                    let there = encoding.from_bytes(line, place.column);
                    prop_assert_eq!(encoding.to_bytes(line, there), place.column);
                }
            }
        }
    }
}
