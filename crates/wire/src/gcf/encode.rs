//! A tape as generic-profile text: scalars, objects, and the choice among the four forms of an array.
//!
//! Tables, the form that saves the tokens, are in `table.rs`.

use super::error::{Category, Error, Result};
use super::options::EncodeOptions;
use super::scalar::{write_float, write_integer, write_key, write_text};
use super::table::{Rows, Scratch};
use super::tape::{Node, Tape};

/// The payload's first line.
pub(crate) const HEADER: &str = "GCF profile=generic\n";

/// Writes the whole payload.
pub(crate) fn encode(tape: &Tape, root: Node, options: &EncodeOptions) -> Result<String> {
    let limits = &options.limits;
    let ceiling = tape
        .weight
        .saturating_mul(limits.growth)
        .saturating_add(64 * 1024)
        .min(limits.output_bytes);
    let mut encoder = Encoder {
        tape,
        out: String::with_capacity(HEADER.len() + tape.weight / 2),
        options,
        ceiling,
        scratch: Scratch::new(tape),
    };
    encoder.out.push_str(HEADER);
    match root {
        Node::Array { first, len } => encoder.array(Lead::Root, 0, first, len)?,
        Node::Object { first, shape } => {
            if !encoder.keyed_map(Lead::Root, 0, first, shape)? {
                encoder.members(first, shape, 0)?;
            }
        }
        scalar => {
            encoder.out.push('=');
            encoder.scalar(scalar);
            encoder.end_line()?;
        }
    }
    Ok(encoder.out)
}

/// What stands before a count bracket, which also says how deep the body is.
#[derive(Clone, Copy)]
pub(crate) enum Lead {
    /// `## [N]`
    Root,
    /// `## key [N]`
    Named(u32),
    /// `.key [N]`, under a table row
    Attached(u32),
    /// `@i [N]`, in an expanded array
    Item(usize),
}

impl Lead {
    /// How many levels deeper than its own line the body is.
    fn body_offset(self) -> usize {
        match self {
            Lead::Root | Lead::Named(_) => 0,
            Lead::Attached(_) => 2,
            Lead::Item(_) => 1,
        }
    }
}

pub(crate) struct Encoder<'a> {
    pub(crate) tape: &'a Tape,
    pub(crate) out: String,
    pub(crate) options: &'a EncodeOptions,
    ceiling: usize,
    pub(crate) scratch: Scratch,
}

impl Encoder<'_> {
    #[inline]
    pub(crate) fn scalar(&mut self, node: Node) {
        match node {
            Node::Null => self.out.push('-'),
            Node::Bool(true) => self.out.push_str("true"),
            Node::Bool(false) => self.out.push_str("false"),
            Node::Integer(value) => write_integer(&mut self.out, value),
            Node::Float(value) => write_float(&mut self.out, value),
            Node::Text { start, len } => write_text(&mut self.out, self.tape.text(start, len)),
            Node::Array { .. } | Node::Object { .. } => debug_assert!(false, "containers are not cells"),
        }
    }

    pub(crate) fn key(&mut self, key: u32) {
        write_key(&mut self.out, self.tape.keys.get(key));
    }

    pub(crate) fn indent(&mut self, level: usize) {
        for _ in 0..level {
            self.out.push_str("  ");
        }
    }

    #[inline]
    pub(crate) fn end_line(&mut self) -> Result<()> {
        self.out.push('\n');
        if self.out.len() > self.ceiling {
            Err(self.too_large())
        } else {
            Ok(())
        }
    }

    #[cold]
    fn too_large(&self) -> Error {
        Error::new(
            Category::TooLarge,
            format!("output of more than {} bytes", self.ceiling),
            "a value that encodes compactly",
        )
    }

    pub(crate) fn lead(&mut self, lead: Lead, level: usize) {
        self.indent(level);
        match lead {
            Lead::Root => self.out.push_str("## "),
            Lead::Named(key) => {
                self.out.push_str("## ");
                self.key(key);
                self.out.push(' ');
            }
            Lead::Attached(key) => {
                self.out.push('.');
                self.key(key);
                self.out.push(' ');
            }
            Lead::Item(index) => {
                self.out.push('@');
                write_integer(&mut self.out, index);
                self.out.push(' ');
            }
        }
    }

    /// The members of an object, one line or section each.
    pub(crate) fn members(&mut self, first: u32, shape: u32, level: usize) -> Result<()> {
        let tape = self.tape;
        let keys = tape.shapes.keys(shape);
        for (key, value) in keys.iter().zip(tape.members(first, shape)) {
            match *value {
                Node::Object { first, shape } => {
                    if !self.keyed_map(Lead::Named(*key), level, first, shape)? {
                        self.indent(level);
                        self.out.push_str("## ");
                        self.key(*key);
                        self.end_line()?;
                        self.members(first, shape, level + 1)?;
                    }
                }
                Node::Array { first, len } => self.array(Lead::Named(*key), level, first, len)?,
                scalar => {
                    self.indent(level);
                    self.key(*key);
                    self.out.push('=');
                    self.scalar(scalar);
                    self.end_line()?;
                }
            }
        }
        Ok(())
    }

    /// An array in the first form that fits: empty, inline, table, expanded.
    pub(crate) fn array(&mut self, lead: Lead, level: usize, first: u32, len: u32) -> Result<()> {
        let tape = self.tape;
        let items = tape.children(first, len);
        if items.is_empty() {
            self.lead(lead, level);
            self.out.push_str("[0]");
            return self.end_line();
        }
        if !items.iter().any(|item| item.is_container()) {
            return self.inline(lead, level, items);
        }
        let body = level + lead.body_offset();
        if items.iter().all(|item| matches!(item, Node::Object { .. }))
            && self.table(lead, level, body, Rows::Array(items))?
        {
            return Ok(());
        }
        self.lead(lead, level);
        self.count(items.len());
        self.end_line()?;
        for (index, item) in items.iter().enumerate() {
            match *item {
                Node::Object { first, shape } => {
                    if !self.keyed_map(Lead::Item(index), body, first, shape)? {
                        self.lead(Lead::Item(index), body);
                        self.out.push_str("{}");
                        self.end_line()?;
                        self.members(first, shape, body + 1)?;
                    }
                }
                Node::Array { first, len } => self.array(Lead::Item(index), body, first, len)?,
                scalar => {
                    self.lead(Lead::Item(index), body);
                    self.out.push('=');
                    self.scalar(scalar);
                    self.end_line()?;
                }
            }
        }
        Ok(())
    }

    fn inline(&mut self, lead: Lead, level: usize, items: &[Node]) -> Result<()> {
        if let Lead::Named(key) = lead {
            // The one lead without `##`: a short line reads as `name[2]: a,b`.
            self.indent(level);
            self.key(key);
        } else {
            self.lead(lead, level);
        }
        self.count(items.len());
        self.out.push_str(": ");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.scalar(*item);
        }
        self.end_line()
    }

    /// Writes an object of at least two objects as a table keyed by member name, if it can be one.
    pub(crate) fn keyed_map(&mut self, lead: Lead, level: usize, first: u32, shape: u32) -> Result<bool> {
        let tape = self.tape;
        let values = tape.members(first, shape);
        if values.len() < 2 || !values.iter().all(|value| matches!(value, Node::Object { .. })) {
            return Ok(false);
        }
        self.table(
            lead,
            level,
            level + lead.body_offset(),
            Rows::Map {
                keys: tape.shapes.keys(shape),
                values,
            },
        )
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.out.push('[');
        write_integer(&mut self.out, count);
        self.out.push(']');
    }
}
