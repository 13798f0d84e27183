//! Generic-profile text into a [`Document`]: roots, objects and arrays. Tokens are in `decode_scalar.rs`, rows and attachments
//! in `decode_table.rs`.
//!
//! One pass, no lookahead beyond a line. Nothing is reserved because a header says so, and recursion is counted.

use std::collections::HashMap;

use super::decode_scalar::{Bracket, parse_count};
use super::document::{Document, Node};
use super::error::{Category, Error, Result, shown};
use super::header::{Header, Profile};
use super::lines::{Line, Lines};
use super::options::{DecodeOptions, Limits};

/// Decodes a whole generic payload.
pub(crate) fn decode<'a>(text: &'a str, options: &DecodeOptions) -> Result<Document<'a>> {
    let mut parser = Parser::open(text, options)?;
    let root = parser.root()?;
    parser.document.root = root;
    Ok(parser.document)
}

/// Checks that bytes are UTF-8, and says where they stop being it.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        let found = bytes
            .get(offset)
            .map_or_else(|| "a cut character".to_owned(), |byte| format!("the byte 0x{byte:02X}"));
        Error::at(bytes, offset, Category::InvalidUtf8, found, "UTF-8")
    })
}

pub(crate) struct Parser<'a, 'o> {
    pub(crate) text: &'a str,
    pub(crate) lines: Lines<'a>,
    pub(crate) document: Document<'a>,
    /// Values waiting for their container to end.
    pub(crate) stack: Vec<Node>,
    pub(crate) options: &'o DecodeOptions,
    depth: usize,
    pub(crate) max_depth: usize,
    /// Tables by the text of their header, so that equal headers are read once.
    pub(crate) known_tables: HashMap<(&'a str, TableKind), u32, foldhash::fast::RandomState>,
    /// The column marked `@` in keyed sets that take part in deltas.
    pub(crate) identity: Option<&'a str>,
    /// Actual counts of the sections that declared `?`, in order.
    deferred: Vec<usize>,
    /// How many values rows may still expand to.
    pub(crate) values_left: usize,
    /// How many nested objects headers may still declare.
    pub(crate) groups_left: usize,
    /// Whether the last row read had a positional body: then a stray line is one body too many.
    pub(crate) last_row_was_inline: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TableKind {
    Array,
    Keyed,
    /// `^{…}`: names only, `>` means nothing.
    Inline,
}

impl<'a, 'o> Parser<'a, 'o> {
    /// Reads the header and stands before the body.
    pub(crate) fn open(text: &'a str, options: &'o DecodeOptions) -> Result<Self> {
        check_size(text, &options.limits)?;
        let header = Header::parse(text)?;
        if header.profile != Profile::Generic {
            return Err(Error::at(
                text.as_bytes(),
                4,
                Category::UnknownProfile,
                "`profile=graph`",
                "`profile=generic`",
            ));
        }
        if header.is_true("delta") {
            return Err(Error::at(
                text.as_bytes(),
                4,
                Category::MalformedDelta,
                "a delta",
                "a full payload",
            ));
        }
        Ok(Self::new(text, header.body, header.get("key"), options))
    }

    pub(crate) fn new(text: &'a str, body: usize, identity: Option<&'a str>, options: &'o DecodeOptions) -> Self {
        Self {
            text,
            lines: Lines::new(text, body),
            document: Document::new(text),
            stack: Vec::new(),
            options,
            depth: 0,
            max_depth: options.limits.effective_depth(),
            known_tables: HashMap::default(),
            identity,
            deferred: Vec::new(),
            values_left: text
                .len()
                .saturating_mul(options.limits.expansion)
                .saturating_add(65_536),
            groups_left: 16_384 + text.len() / 16,
            last_row_was_inline: false,
        }
    }

    #[cold]
    pub(crate) fn error(&self, offset: usize, category: Category, found: impl Into<String>, expected: &str) -> Error {
        Error::at(self.text.as_bytes(), offset, category, found, expected)
    }

    pub(crate) fn unexpected(&self, line: Line, expected: &str) -> Error {
        self.error(
            line.start,
            Category::UnexpectedContent,
            shown(self.lines.content(line)),
            expected,
        )
    }

    fn root(&mut self) -> Result<Node> {
        let Some(line) = self.lines.peek()? else {
            return Ok(self.empty_map());
        };
        if line.level > 0 {
            return Err(self.error(
                line.start,
                Category::InvalidIndent,
                "an indented line",
                "no indentation here",
            ));
        }
        let content = self.lines.content(line);
        let root = if content.starts_with('=') {
            self.lines.advance();
            self.value(line.start + 1, line.end)?
        } else if content.starts_with("## [") {
            self.lines.advance();
            self.depth += 1;
            self.array(line.start + 3, line, 0, None)?.0
        } else {
            self.members(0)?
        };
        self.trailer()?;
        if let Some(line) = self.lines.peek()? {
            if content.starts_with("## [") {
                return Err(self.surplus(line));
            }
            return Err(self.unexpected(line, "the end of the payload"));
        }
        Ok(root)
    }

    /// A line that a counted section should have ended before.
    pub(crate) fn surplus(&self, line: Line) -> Error {
        let (category, expected) = if self.last_row_was_inline && !self.lines.content(line).starts_with(['@', '.']) {
            (
                Category::OrphanInlineAttachment,
                "as many positional bodies as `^` cells",
            )
        } else {
            (Category::CountMismatch, "as many items as declared")
        };
        self.error(line.start, category, shown(self.lines.content(line)), expected)
    }

    /// The `##! summary` line of a stream, checked against what was read.
    fn trailer(&mut self) -> Result<()> {
        let Some(line) = self.lines.peek()? else {
            self.document.missing_trailer = !self.deferred.is_empty();
            return Ok(());
        };
        let Some(fields) = self.lines.content(line).strip_prefix("##! summary") else {
            return Ok(());
        };
        if line.level > 0 {
            return Err(self.error(
                line.start,
                Category::InvalidIndent,
                "an indented trailer",
                "no indentation here",
            ));
        }
        self.lines.advance();
        if self.deferred.is_empty() {
            // Redundant: every section has given its count already.
            return Ok(());
        }
        let counts = fields
            .split(' ')
            .find_map(|field| field.strip_prefix("counts="))
            .unwrap_or("");
        let mut declared = Vec::new();
        for count in counts.split(',').filter(|count| !count.is_empty()) {
            match parse_count(count) {
                Some(count) => declared.push(count),
                None => return Err(self.error(line.start, Category::InvalidCount, shown(count), "a count")),
            }
        }
        let actual: Vec<u64> = self.deferred.iter().map(|count| *count as u64).collect();
        if declared != actual {
            let found = format!("counts={counts} after sections of {actual:?} items");
            return Err(self.error(
                line.start,
                Category::CountMismatch,
                found,
                "the counts of the sections marked `?`",
            ));
        }
        Ok(())
    }

    /// The end of a table read row by row: the trailer, then nothing.
    pub(crate) fn end_of_root_table(&mut self, deferred: Option<usize>) -> Result<()> {
        self.deferred = deferred.into_iter().collect();
        self.trailer()?;
        match self.lines.peek()? {
            Some(line) => Err(self.surplus(line)),
            None => Ok(()),
        }
    }

    /// Counts a level of nesting. Pair with [`Parser::leave`].
    pub(crate) fn enter(&mut self, offset: usize) -> Result<()> {
        self.depth += 1;
        self.check_depth(0, offset)
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn check_depth(&self, more: usize, offset: usize) -> Result<()> {
        if self.depth + more > self.max_depth {
            let found = format!("more than {} levels of nesting", self.max_depth);
            return Err(self.error(offset, Category::TooDeep, found, "a shallower value"));
        }
        Ok(())
    }

    fn empty_map(&self) -> Node {
        Node::Map {
            first: self.document.nodes.len() as u32,
            len: 0,
        }
    }

    /// Moves what is on the stack above `base` to its place.
    pub(crate) fn settle(&mut self, base: usize) -> u32 {
        let first = self.document.nodes.len() as u32;
        self.document.nodes.extend_from_slice(&self.stack[base..]);
        self.stack.truncate(base);
        first
    }

    /// The members of an object indented by `level`.
    pub(crate) fn members(&mut self, level: usize) -> Result<Node> {
        let base = self.stack.len();
        let mut after_table = false;
        let mut last = self.text.len();
        while let Some(line) = self.lines.peek()? {
            if line.level < level {
                break;
            }
            if line.level > level {
                return Err(self.error(
                    line.start,
                    Category::InvalidIndent,
                    "a line indented too far",
                    "the level of its object",
                ));
            }
            let content = self.lines.content(line);
            if level == 0 && content.starts_with("##!") {
                break;
            }
            if base == self.stack.len() {
                self.enter(line.start)?;
            }
            last = line.start;
            self.lines.advance();
            match self.member(line) {
                Ok(is_table) => after_table = is_table,
                // Rows past the declared count look like bad members.
                Err(error)
                    if after_table
                        && matches!(error.category(), Category::InvalidKey | Category::UnexpectedContent) =>
                {
                    return Err(self.surplus(line));
                }
                Err(error) => return Err(error),
            }
        }
        if base == self.stack.len() {
            return Ok(self.empty_map());
        }
        self.leave();
        self.document.check_unique(&self.stack[base..], "key", last)?;
        let len = (self.stack.len() - base) as u32 / 2;
        Ok(Node::Map {
            first: self.settle(base),
            len,
        })
    }

    /// One member: pushes key and value. True if it was a table.
    fn member(&mut self, line: Line) -> Result<bool> {
        let content = self.lines.content(line);
        if let Some(rest) = content.strip_prefix("##") {
            if !rest.starts_with(' ') || rest.starts_with(" [") {
                return Err(self.unexpected(line, "`## name`"));
            }
            let (key, after) = self.key(line.start + 3, line.end)?;
            self.stack.push(key);
            let rest = &self.text[after..line.end];
            let (value, table) = if rest.is_empty() {
                (self.members(line.level + 1)?, None)
            } else if rest.starts_with(" [") {
                self.enter(line.start)?;
                let array = self.array(after + 1, line, line.level, None)?;
                self.leave();
                array
            } else {
                return Err(self.error(
                    after,
                    Category::InvalidKey,
                    shown(rest),
                    "the end of the line or ` [count]`",
                ));
            };
            self.stack.push(value);
            return Ok(table.is_some());
        }
        let (key, after) = self.key(line.start, line.end)?;
        self.stack.push(key);
        let value = match self.text.as_bytes().get(after) {
            Some(b'=') if after < line.end => self.value(after + 1, line.end)?,
            Some(b'[') if after < line.end => {
                self.enter(line.start)?;
                let bracket = self.bracket(after, line.end)?;
                if bracket.keyed || self.text.as_bytes().get(bracket.end) != Some(&b':') || bracket.end >= line.end {
                    return Err(self.error(
                        bracket.end,
                        Category::UnexpectedContent,
                        shown(content),
                        "`name[count]: values`",
                    ));
                }
                let array = self.inline(&bracket, bracket.end + 1, line)?;
                self.leave();
                array
            }
            _ => return Err(self.error(after, Category::InvalidKey, shown(content), "`key=value`")),
        };
        self.stack.push(value);
        Ok(false)
    }

    /// The array whose count bracket is at `start` of `line`; its body is indented by `body`. Also returns its table, if any.
    pub(crate) fn array(
        &mut self,
        start: usize,
        line: Line,
        body: usize,
        shared: Option<u32>,
    ) -> Result<(Node, Option<u32>)> {
        let bracket = self.bracket(start, line.end)?;
        let rest = &self.text[bracket.end..line.end];
        if rest.starts_with(':') && !bracket.keyed {
            return Ok((self.inline(&bracket, bracket.end + 1, line)?, None));
        }
        let nested = body > line.level;
        self.last_row_was_inline = false;
        let deferred = bracket.count.is_none().then(|| {
            self.deferred.push(0);
            self.deferred.len() - 1
        });
        let (node, table) = if rest.starts_with('{') {
            let kind = if bracket.keyed {
                TableKind::Keyed
            } else {
                TableKind::Array
            };
            let table = self.table_header(bracket.end, line.end, kind)?;
            (self.rows(table, &bracket, body, line)?, Some(table))
        } else if !rest.is_empty() {
            return Err(self.error(
                bracket.end,
                Category::TrailingCharacters,
                shown(rest),
                "`{columns}`, `: values` or nothing",
            ));
        } else if bracket.keyed {
            return Err(self.error(
                bracket.end,
                Category::UnexpectedContent,
                "a keyed map without columns",
                "at least two fields",
            ));
        } else if let Some(table) = shared
            && bracket.count != Some(0)
            && !self.looks_expanded(body)?
        {
            (self.rows(table, &bracket, body, line)?, Some(table))
        } else {
            (self.expanded(&bracket, body, line)?, None)
        };
        if let Some(index) = deferred {
            self.deferred[index] = self.document.count(node);
        }
        if nested
            && let Some(next) = self.lines.peek()?
            && next.level >= body
        {
            return Err(self.surplus(next));
        }
        Ok((node, table))
    }

    /// Whether the body is items rather than rows under a shared header. Both are written `.f [N]`; only items begin so.
    fn looks_expanded(&mut self, body: usize) -> Result<bool> {
        let Some(line) = self.lines.peek()? else {
            return Ok(false);
        };
        let item = self.lines.content(line).strip_prefix("@0 ");
        Ok(line.level == body
            && item.is_some_and(|item| item.starts_with('=') || item == "{}" || item.starts_with('[')))
    }

    /// The items of an expanded array.
    fn expanded(&mut self, bracket: &Bracket, body: usize, header: Line) -> Result<Node> {
        let base = self.stack.len();
        let mut index = 0;
        while bracket.count.is_none_or(|count| index < count) {
            let Some(line) = self.lines.peek()? else { break };
            if line.level < body || self.lines.content(line).starts_with("##") {
                break;
            }
            if line.level > body {
                return Err(self.error(
                    line.start,
                    Category::InvalidIndent,
                    "an item indented too far",
                    "the level of its array",
                ));
            }
            if !self.lines.content(line).starts_with('@') {
                break;
            }
            let after = self.item_id(line, index)?;
            self.lines.advance();
            let item = &self.text[after..line.end];
            let node = if item.starts_with('=') {
                self.value(after + 1, line.end)?
            } else if item == "{}" {
                self.members(body + 1)?
            } else if item.starts_with('[') {
                self.enter(line.start)?;
                let (node, _) = self.array(after, line, body + 1, None)?;
                self.leave();
                node
            } else {
                return Err(self.unexpected(line, "an item: `@0 =value`, `@0 {}` or `@0 [count]`"));
            };
            self.stack.push(node);
            index += 1;
        }
        self.check_count(bracket, index, header)?;
        Ok(Node::Array {
            len: index as u32,
            first: self.settle(base),
        })
    }

    pub(crate) fn check_count(&mut self, bracket: &Bracket, actual: u64, header: Line) -> Result<()> {
        match bracket.count {
            Some(count) if count != actual => {
                let found = format!("{actual} items under {}", shown(self.lines.content(header)));
                Err(self.error(header.start, Category::CountMismatch, found, &format!("{count}")))
            }
            _ => Ok(()),
        }
    }

    /// Checks `@i ` at the start of a line and returns where the rest begins.
    pub(crate) fn item_id(&self, line: Line, index: u64) -> Result<usize> {
        let content = &self.text[line.start + 1..line.end];
        let length = content.find(' ').unwrap_or(content.len());
        if parse_count(&content[..length]) != Some(index) || length == content.len() {
            let found = shown(self.lines.content(line));
            return Err(self.error(line.start, Category::InvalidItemId, found, &format!("`@{index} …`")));
        }
        Ok(line.start + 1 + length + 1)
    }
}

pub(crate) fn check_size(text: &str, limits: &Limits) -> Result<()> {
    let limit = limits.input_bytes.min(u32::MAX as usize / 2);
    if text.len() > limit {
        return Err(Error::new(
            Category::TooLarge,
            format!("a text of {} bytes", text.len()),
            format!("at most {limit}"),
        ));
    }
    Ok(())
}
