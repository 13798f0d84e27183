//! Rows one at a time: a table decoded without holding more of it than the row at hand.

use std::sync::Arc;

use serde::Deserialize;

use super::decode::{Parser, TableKind};
use super::decode_scalar::Bracket;
use super::decode_table::Schemas;
use super::document::Table;
use super::error::{Category, Error, Result};
use super::lines::Line;
use super::options::DecodeOptions;

/// A table being read. Counts and the stream's trailer are checked when the last row has been read.
pub struct Rows<'a, 'o> {
    parser: Parser<'a, 'o>,
    header: Line,
    bracket: Bracket,
    table: u32,
    shape: Arc<Table>,
    schemas: Schemas,
    index: u64,
    /// Whether the table is the whole payload, so that nothing may follow it.
    is_root: bool,
    /// What the header itself put into the document; everything past it belongs to one row.
    kept: (usize, usize),
}

impl<'a, 'o> Rows<'a, 'o> {
    /// The table that is the whole payload: `## [N]{…}` or `## [N:]{…}`.
    pub fn root(text: &'a str, options: &'o DecodeOptions) -> Result<Self> {
        Self::find(text, None, options)
    }

    /// The table that is a member of the root object: `## name [N]{…}`. Lines before it are skipped, not checked.
    pub fn section(text: &'a str, name: &str, options: &'o DecodeOptions) -> Result<Self> {
        Self::find(text, Some(name), options)
    }

    fn find(text: &'a str, name: Option<&str>, options: &'o DecodeOptions) -> Result<Self> {
        let mut parser = Parser::open(text, options)?;
        while let Some(line) = parser.lines.peek()? {
            parser.lines.advance();
            if let Some(start) = bracket_start(&mut parser, line, name)? {
                let bracket = parser.bracket(start, line.end)?;
                let kind = if bracket.keyed {
                    TableKind::Keyed
                } else {
                    TableKind::Array
                };
                let table = parser.table_header(bracket.end, line.end, kind)?;
                let shape = Arc::clone(&parser.document.tables[table as usize]);
                parser.enter(line.start)?;
                parser.enter(line.start)?;
                parser.check_depth(shape.height, line.start)?;
                let kept = (parser.document.nodes.len(), parser.document.unescaped.len());
                return Ok(Self {
                    parser,
                    header: line,
                    bracket,
                    table,
                    shape,
                    schemas: Schemas::default(),
                    index: 0,
                    is_root: name.is_none(),
                    kept,
                });
            }
            if name.is_none() {
                break;
            }
        }
        let expected = name.map_or("`## [N]{…}`".to_owned(), |name| format!("`## {name} [N]{{…}}`"));
        Err(Error::at(
            text.as_bytes(),
            text.len(),
            Category::UnexpectedContent,
            "no such table",
            expected,
        ))
    }

    /// The next row, or `None` after the last. Named apart from `Iterator::next` because the row's type is the caller's.
    pub fn next_row<T: Deserialize<'a>>(&mut self) -> Result<Option<T>> {
        Ok(self.next_member()?.map(|(_, row)| row))
    }

    /// The next row with its key, for keyed maps; other tables have no key.
    pub fn next_member<T: Deserialize<'a>>(&mut self) -> Result<Option<(Option<String>, T)>> {
        let line = match self.bracket.count {
            Some(count) if self.index >= count => None,
            _ => self.parser.next_row(self.header.level)?,
        };
        let Some(line) = line else {
            self.finish()?;
            return Ok(None);
        };
        self.parser.document.nodes.truncate(self.kept.0);
        self.parser.document.unescaped.truncate(self.kept.1);
        self.parser.stack.clear();
        let row = self.parser.row(
            line,
            self.table,
            &self.shape,
            self.index,
            self.bracket.keyed,
            &mut self.schemas,
        )?;
        self.index += 1;
        let document = &self.parser.document;
        let key = match self.parser.stack.as_slice() {
            [key] => document.string(*key).map(str::to_owned),
            _ => None,
        };
        T::deserialize(document.at(row)).map(|row| Some((key, row)))
    }

    /// All remaining rows as an iterator.
    pub fn iter<T: Deserialize<'a>>(&mut self) -> impl Iterator<Item = Result<T>> + use<'_, 'a, 'o, T> {
        let mut failed = false;
        std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let next = self.next_row().transpose();
            failed = matches!(next, Some(Err(_)));
            next
        })
    }

    fn finish(&mut self) -> Result<()> {
        self.parser.check_count(&self.bracket, self.index, self.header)?;
        if self.is_root {
            self.parser
                .end_of_root_table(self.bracket.count.is_none().then_some(self.index as usize))?;
        }
        Ok(())
    }
}

/// Where the count bracket is, if this line heads the table looked for.
fn bracket_start(parser: &mut Parser<'_, '_>, line: Line, name: Option<&str>) -> Result<Option<usize>> {
    let content = parser.lines.content(line);
    if line.level > 0 || !content.starts_with("## ") {
        return Ok(None);
    }
    let Some(name) = name else {
        return Ok(content.starts_with("## [").then_some(line.start + 3));
    };
    if content.starts_with("## [") {
        return Ok(None);
    }
    let (key, after) = parser.key(line.start + 3, line.end)?;
    let is_it = parser.document.string(key) == Some(name) && parser.text[after..line.end].starts_with(" [");
    Ok(is_it.then_some(after + 1))
}
