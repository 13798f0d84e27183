//! Graphs written as they are found: symbols nearest first, then edges, then a trailer with the counts.

use std::collections::HashMap;
use std::io::Write;

use super::super::error::{Category, Error, Result};
use super::super::scalar::write_integer;
use super::encode::{check_edge, write_edge, write_header_count, write_header_text, write_node};
use super::{Edge, Symbol, abbreviate, group_name};

/// How the trailer spells its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrailerCounts {
    /// `counts=2,1,3`
    #[default]
    Positional,
    /// `counts=targets:2,related:1,edges:3`, which small models read better.
    Labeled,
}

/// Header fields and form of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphStreamOptions {
    pub tool: String,
    pub token_budget: u64,
    pub counts: TrailerCounts,
}

/// Writes a graph in pieces. Call [`GraphStream::finish`], or the payload has no trailer.
pub struct GraphStream<W: Write> {
    writer: W,
    counts: TrailerCounts,
    /// Per name, the number of a symbol that has it, and how many do.
    by_name: HashMap<String, (u64, u32), foldhash::fast::RandomState>,
    by_identity: HashMap<(String, String), u64, foldhash::fast::RandomState>,
    next: u64,
    groups: Vec<(u32, u64)>,
    edges: u64,
    buffer: String,
}

impl<W: Write> GraphStream<W> {
    pub fn new(mut writer: W, options: &GraphStreamOptions) -> Result<Self> {
        let mut header = String::from("GCF profile=graph");
        write_header_text(&mut header, "tool", &options.tool)?;
        write_header_count(&mut header, "budget", options.token_budget);
        header.push('\n');
        writer.write_all(header.as_bytes())?;
        Ok(Self {
            writer,
            counts: options.counts,
            by_name: HashMap::default(),
            by_identity: HashMap::default(),
            next: 0,
            groups: Vec::new(),
            edges: 0,
            buffer: String::new(),
        })
    }

    /// Writes a symbol. Distances may only grow, and no symbol may follow an edge.
    pub fn symbol(&mut self, symbol: &Symbol) -> Result<()> {
        if self.edges > 0
            || self
                .groups
                .last()
                .is_some_and(|(distance, _)| *distance > symbol.distance)
        {
            let found = format!("{} at distance {}", symbol.qualified_name, symbol.distance);
            return Err(Error::new(
                Category::InvalidValue,
                found,
                "symbols nearest first, before all edges",
            ));
        }
        let identity = (abbreviate(&symbol.kind).to_owned(), symbol.qualified_name.clone());
        if self.by_identity.contains_key(&identity) {
            return Err(Error::new(
                Category::DuplicateKey,
                format!("{} twice", symbol.qualified_name),
                "each symbol once",
            ));
        }
        self.buffer.clear();
        if self
            .groups
            .last()
            .is_none_or(|(distance, _)| *distance != symbol.distance)
        {
            self.groups.push((symbol.distance, 0));
            self.buffer.push_str("## ");
            self.buffer.push_str(&group_name(symbol.distance));
            self.buffer.push('\n');
        }
        write_node(&mut self.buffer, self.next, symbol)?;
        self.buffer.push('\n');
        self.by_name
            .entry(symbol.qualified_name.clone())
            .or_insert((self.next, 0))
            .1 += 1;
        self.by_identity.insert(identity, self.next);
        self.next += 1;
        if let Some((_, count)) = self.groups.last_mut() {
            *count += 1;
        }
        Ok(self.writer.write_all(self.buffer.as_bytes())?)
    }

    /// Writes an edge between symbols already written.
    pub fn edge(&mut self, edge: &Edge) -> Result<()> {
        check_edge(edge)?;
        let source = self.find(&edge.source, edge.source_kind.as_deref())?;
        let target = self.find(&edge.target, edge.target_kind.as_deref())?;
        self.buffer.clear();
        if self.edges == 0 {
            self.buffer.push_str("## edges [?]\n");
        }
        write_edge(&mut self.buffer, source, target, edge);
        self.edges += 1;
        Ok(self.writer.write_all(self.buffer.as_bytes())?)
    }

    fn find(&self, name: &str, kind: Option<&str>) -> Result<u64> {
        let number = match kind {
            Some(kind) => self
                .by_identity
                .get(&(abbreviate(kind).to_owned(), name.to_owned()))
                .copied(),
            None => self
                .by_name
                .get(name)
                .filter(|(_, count)| *count == 1)
                .map(|(number, _)| *number),
        };
        number.ok_or_else(|| {
            Error::new(
                Category::UnknownEdgeReference,
                format!("an edge to {name}"),
                "one symbol written before",
            )
        })
    }

    /// Writes the trailer and hands the writer back.
    pub fn finish(mut self) -> Result<W> {
        let mut trailer = String::from("##! summary symbols=");
        write_integer(&mut trailer, self.next);
        trailer.push_str(" edges=");
        write_integer(&mut trailer, self.edges);
        trailer.push_str(" counts=");
        for (distance, count) in &self.groups {
            if self.counts == TrailerCounts::Labeled {
                trailer.push_str(&group_name(*distance));
                trailer.push(':');
            }
            write_integer(&mut trailer, *count);
            trailer.push(',');
        }
        if self.counts == TrailerCounts::Labeled {
            trailer.push_str("edges:");
        }
        write_integer(&mut trailer, self.edges);
        trailer.push('\n');
        self.writer.write_all(trailer.as_bytes())?;
        self.writer.flush()?;
        Ok(self.writer)
    }
}
