//! Tables written as rows arrive: counts are `?` in the headers and come in a trailer at the end.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use serde::Serialize;

use super::encode::HEADER;
use super::error::{Category, Error, Result, shown};
use super::options::Limits;
use super::scalar::{write_float, write_integer, write_key, write_text};
use super::tape::{Builder, Node, Tape};

/// Writes a payload of scalars and tables in constant memory. Call [`Stream::finish`], or the payload has no trailer.
pub struct Stream<W: Write> {
    writer: W,
    builder: Builder,
    limits: Limits,
    names: HashSet<String>,
    section: Option<Section>,
    counts: Vec<u64>,
    is_anonymous: bool,
    buffer: String,
}

struct Section {
    columns: HashMap<String, usize, foldhash::fast::RandomState>,
    member_keys: Option<HashSet<String>>,
    /// The shape of the last row, and where each column is in it.
    layout: Option<(u32, Vec<Option<u32>>)>,
}

impl<W: Write> Stream<W> {
    /// Starts a payload.
    pub fn new(mut writer: W) -> Result<Self> {
        writer.write_all(HEADER.as_bytes())?;
        let limits = Limits::default();
        Ok(Self {
            writer,
            builder: Builder::new(&limits),
            limits,
            names: HashSet::new(),
            section: None,
            counts: Vec::new(),
            is_anonymous: false,
            buffer: String::new(),
        })
    }

    /// Writes `key=value` of the root object. Only before the first table, whose rows nothing else could end.
    pub fn member<T: Serialize>(&mut self, key: &str, value: &T) -> Result<()> {
        if !self.counts.is_empty() {
            return refuse("a member after a table", "members first");
        }
        self.claim(key)?;
        self.load(value)?;
        let (tape, root) = self.builder.peek();
        self.buffer.clear();
        write_key(&mut self.buffer, key);
        self.buffer.push('=');
        write_cell(&mut self.buffer, tape, root.unwrap_or(Node::Null))?;
        self.buffer.push('\n');
        Ok(self.writer.write_all(self.buffer.as_bytes())?)
    }

    /// Starts a table; `None` as name makes it the whole payload.
    pub fn table(&mut self, name: Option<&str>, columns: &[&str]) -> Result<()> {
        self.begin(name, columns, None)
    }

    /// Starts a keyed map, whose rows are written with [`Stream::keyed_row`].
    pub fn keyed_map(&mut self, name: Option<&str>, columns: &[&str]) -> Result<()> {
        self.begin(name, columns, Some(HashSet::new()))
    }

    fn begin(&mut self, name: Option<&str>, columns: &[&str], member_keys: Option<HashSet<String>>) -> Result<()> {
        if self.is_anonymous || (name.is_none() && !(self.names.is_empty() && self.counts.is_empty())) {
            return refuse("a table without a name beside other members", "a name");
        }
        if columns.is_empty() || columns.len() > self.limits.fields {
            return refuse("a table with no columns or too many", "columns");
        }
        if let Some(column) = columns.iter().find(|column| column.contains('>')) {
            // A reader would take it for a path.
            return Err(Error::new(
                Category::InvalidName,
                format!("the column {}", shown(column)),
                "no `>` in a stream",
            ));
        }
        match name {
            Some(name) => self.claim(name)?,
            None => self.is_anonymous = true,
        }
        let by_name: HashMap<String, usize, _> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| ((*column).to_owned(), place))
            .collect();
        if by_name.len() != columns.len() {
            return Err(Error::new(
                Category::DuplicateFieldName,
                "a column twice",
                "each column once",
            ));
        }
        self.buffer.clear();
        self.buffer.push_str("## ");
        if let Some(name) = name {
            write_key(&mut self.buffer, name);
            self.buffer.push(' ');
        }
        let mut separator = "";
        if member_keys.is_some() {
            self.buffer.push_str("[?:]{");
            let mut label = String::from("key");
            while by_name.contains_key(&label) {
                label.insert(0, '_');
            }
            self.buffer.push_str(&label);
            separator = ",";
        } else {
            self.buffer.push_str("[?]{");
        }
        for column in columns {
            self.buffer.push_str(separator);
            separator = ",";
            write_key(&mut self.buffer, column);
        }
        self.buffer.push_str("}\n");
        self.counts.push(0);
        self.section = Some(Section {
            columns: by_name,
            member_keys,
            layout: None,
        });
        Ok(self.writer.write_all(self.buffer.as_bytes())?)
    }

    /// Writes a row: an object whose members are all columns of the table, and scalars.
    pub fn row<T: Serialize>(&mut self, row: &T) -> Result<()> {
        if self
            .section
            .as_ref()
            .is_some_and(|section| section.member_keys.is_some())
        {
            return refuse("a row without a key", "`keyed_row`");
        }
        self.buffer.clear();
        self.write_row(row)
    }

    /// Writes a row of a keyed map.
    pub fn keyed_row<T: Serialize>(&mut self, key: &str, row: &T) -> Result<()> {
        let Some(keys) = self.section.as_mut().and_then(|section| section.member_keys.as_mut()) else {
            return refuse("a row with a key", "`row`");
        };
        if !keys.insert(key.to_owned()) {
            return Err(Error::new(
                Category::DuplicateKey,
                format!("the key {}", shown(key)),
                "each key once",
            ));
        }
        self.buffer.clear();
        write_text(&mut self.buffer, key);
        self.buffer.push('|');
        self.write_row(row)
    }

    fn write_row<T: Serialize>(&mut self, row: &T) -> Result<()> {
        self.load(row)?;
        let Some(section) = self.section.as_mut() else {
            return refuse("a row before a table", "`table` first");
        };
        let (tape, root) = self.builder.peek();
        let Some(Node::Object { first, shape }) = root else {
            return refuse("a row that is not an object", "an object");
        };
        if section.layout.as_ref().is_none_or(|(known, _)| *known != shape) {
            let mut places = vec![None; section.columns.len()];
            for (position, key) in tape.shapes.keys(shape).iter().enumerate() {
                let key = tape.keys.get(*key);
                let Some(place) = section.columns.get(key) else {
                    let found = format!("the member {}", shown(key));
                    return Err(Error::new(Category::InvalidValue, found, "only declared columns"));
                };
                places[*place] = Some(position as u32);
            }
            section.layout = Some((shape, places));
        }
        let values = tape.members(first, shape);
        for (index, place) in section.layout.iter().flat_map(|(_, places)| places).enumerate() {
            if index > 0 {
                self.buffer.push('|');
            }
            match place {
                None => self.buffer.push('~'),
                Some(position) => write_cell(&mut self.buffer, tape, values[*position as usize])?,
            }
        }
        self.buffer.push('\n');
        self.writer.write_all(self.buffer.as_bytes())?;
        if let Some(count) = self.counts.last_mut() {
            *count += 1;
        }
        Ok(())
    }

    /// Writes the trailer and hands the writer back.
    pub fn finish(mut self) -> Result<W> {
        self.buffer.clear();
        self.buffer.push_str("##! summary counts=");
        for (index, count) in self.counts.iter().enumerate() {
            if index > 0 {
                self.buffer.push(',');
            }
            write_integer(&mut self.buffer, *count);
        }
        self.buffer.push('\n');
        if !self.counts.is_empty() {
            self.writer.write_all(self.buffer.as_bytes())?;
        }
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn claim(&mut self, name: &str) -> Result<()> {
        if !self.names.insert(name.to_owned()) {
            return Err(Error::new(
                Category::DuplicateKey,
                format!("the key {}", shown(name)),
                "each key once",
            ));
        }
        Ok(())
    }

    /// Puts one value on the tape, in the place of the last.
    fn load<T: Serialize>(&mut self, value: &T) -> Result<()> {
        const MAX_SHAPES: usize = 65_536;
        self.builder.clear();
        if self.builder.peek().0.shapes.count() > MAX_SHAPES {
            // Rows that all differ must not fill the memory of an endless stream.
            self.builder = Builder::new(&self.limits);
            if let Some(section) = &mut self.section {
                section.layout = None;
            }
        }
        value.serialize(&mut self.builder)
    }
}

fn refuse<T>(found: &str, expected: &str) -> Result<T> {
    Err(Error::new(Category::InvalidValue, found, expected))
}

fn write_cell(out: &mut String, tape: &Tape, node: Node) -> Result<()> {
    match node {
        Node::Null => out.push('-'),
        Node::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Node::Integer(value) => write_integer(out, value),
        Node::Float(value) => write_float(out, value),
        Node::Text { start, len } => write_text(out, tape.text(start, len)),
        Node::Array { .. } | Node::Object { .. } => return refuse("a nested value in a stream", "scalars"),
    }
    Ok(())
}
