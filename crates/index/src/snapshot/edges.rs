//! Edges in both directions. Outgoing edges are stored; incoming ones are the numbers of outgoing edges, sorted by target.
//! [`edge_blocks`](super::edge_blocks) has their bytes.
//!
//! Lambdas are seen through: what one does counts for the symbol around it, and nobody asks who runs it. Only
//! [`Snapshot::edges_of_file_with_lambdas`] tells them apart, for exports.

use std::ops::{BitOr, Range};

use syntax::facts::Position;
use zerocopy::little_endian::U32;

use super::edge_blocks::{Edge, EdgeReader, Rising, Stored, rising_count};
use super::format::{EDGE_KINDS, TextRecord};
use super::{ExternalId, Snapshot, SymbolId};
use crate::model::{EdgeKind, FileId, Origin};

/// What an edge ends in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EdgeEnd {
    /// A symbol of the tree.
    Symbol(SymbolId),
    /// A symbol of an external package.
    External(ExternalId),
}

impl EdgeEnd {
    /// The symbol, if it is one of the tree.
    pub fn symbol(self) -> Option<SymbolId> {
        match self {
            EdgeEnd::Symbol(symbol) => Some(symbol),
            EdgeEnd::External(_) => None,
        }
    }
}

impl From<SymbolId> for EdgeEnd {
    fn from(symbol: SymbolId) -> EdgeEnd {
        EdgeEnd::Symbol(symbol)
    }
}

impl From<ExternalId> for EdgeEnd {
    fn from(external: ExternalId) -> EdgeEnd {
        EdgeEnd::External(external)
    }
}

/// A set of kinds of edges: `EdgeKind::Calls | EdgeKind::Instantiates`, `EdgeKinds::ALL`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdgeKinds(u32);

impl EdgeKinds {
    /// Every kind.
    pub const ALL: EdgeKinds = EdgeKinds(u32::MAX);
    /// None.
    pub const NONE: EdgeKinds = EdgeKinds(0);

    /// Whether `kind` is one of them.
    pub fn contains(self, kind: EdgeKind) -> bool {
        self.0 >> (kind as u32) & 1 == 1
    }

    /// All but `kinds`.
    pub fn without(self, kinds: impl Into<EdgeKinds>) -> EdgeKinds {
        EdgeKinds(self.0 & !kinds.into().0)
    }

    /// The kinds of the set.
    pub fn iter(self) -> impl Iterator<Item = EdgeKind> {
        EDGE_KINDS.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl From<EdgeKind> for EdgeKinds {
    fn from(kind: EdgeKind) -> EdgeKinds {
        EdgeKinds(1 << kind as u32)
    }
}

impl FromIterator<EdgeKind> for EdgeKinds {
    fn from_iter<I: IntoIterator<Item = EdgeKind>>(kinds: I) -> EdgeKinds {
        kinds.into_iter().fold(EdgeKinds::NONE, |set, kind| set | kind)
    }
}

impl<T: Into<EdgeKinds>> BitOr<T> for EdgeKinds {
    type Output = EdgeKinds;
    fn bitor(self, other: T) -> EdgeKinds {
        EdgeKinds(self.0 | other.into().0)
    }
}

impl BitOr for EdgeKind {
    type Output = EdgeKinds;
    fn bitor(self, other: EdgeKind) -> EdgeKinds {
        EdgeKinds::from(self) | other
    }
}

/// One edge of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdgeView {
    /// Where it starts.
    pub from: SymbolId,
    /// Where it ends.
    pub to: EdgeEnd,
    /// What it says.
    pub kind: EdgeKind,
    /// How it is known.
    pub origin: Origin,
    /// In hundredths.
    pub confidence: u8,
    /// Where it is said, in the file of `from`. Columns past 131071 are cut to that.
    pub at: Position,
}

/// Iterator over edges; see [`Snapshot::outgoing`] and [`Snapshot::incoming`].
pub struct Edges<'a> {
    snapshot: &'a Snapshot,
    reader: EdgeReader<'a, &'a Snapshot>,
    numbers: Numbers<'a>,
    kinds: EdgeKinds,
    /// Lambdas are symbols of their own.
    lambdas: bool,
}

enum Numbers<'a> {
    Out {
        from: SymbolId,
        run: Range<u32>,
    },
    /// The edges of a symbol and of the lambdas in it.
    Merged {
        from: SymbolId,
        run: std::vec::IntoIter<Edge>,
    },
    In(Rising<'a>),
    All {
        from: u32,
        run: Range<u32>,
    },
}

impl Iterator for Edges<'_> {
    type Item = EdgeView;

    fn next(&mut self) -> Option<EdgeView> {
        let snapshot = self.snapshot;
        loop {
            let (number, from) = match &mut self.numbers {
                Numbers::Out { from, run } => (run.next()?, Some(*from)),
                Numbers::Merged { from, run } => {
                    let (edge, from) = (run.next()?, *from);
                    match self.view(edge, from) {
                        Some(view) => return Some(view),
                        None => continue,
                    }
                }
                Numbers::In(entries) => (entries.next()?, None),
                Numbers::All { from, run } => {
                    let number = run.next()?;
                    let end = |from: u32| snapshot.record::<U32>(&snapshot.known.out_offsets, from as usize + 1);
                    while end(*from).is_some_and(|end| end.get() <= number) {
                        *from += 1;
                    }
                    (number, Some(SymbolId(*from)))
                }
            };
            let Some(edge) = self.reader.get(number) else {
                continue;
            };
            if !self.kinds.contains(edge.bits.kind()) {
                continue;
            }
            let from = match from {
                Some(from) => from,
                None => snapshot.source_of(number)?,
            };
            if let Some(view) = self.view(edge, from) {
                return Some(view);
            }
        }
    }
}

impl Edges<'_> {
    /// An edge as it is shown; `None` where it is not.
    fn view(&self, edge: Edge, mut from: SymbolId) -> Option<EdgeView> {
        if !self.kinds.contains(edge.bits.kind()) {
            return None;
        }
        let to = self.snapshot.end(edge.target);
        if !self.lambdas {
            let is_lambda = |symbol: SymbolId| self.snapshot.symbol(symbol).is_some_and(|symbol| symbol.is_lambda());
            if to.symbol().is_some_and(is_lambda) {
                return None;
            }
            from = self.snapshot.named_around(from);
        }
        Some(EdgeView {
            from,
            to,
            kind: edge.bits.kind(),
            origin: edge.bits.origin(),
            confidence: edge.bits.confidence(),
            at: Position {
                line: edge.line,
                column: edge.bits.column(),
            },
        })
    }
}

impl Snapshot {
    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        // A damaged number must not make anyone count to four thousand million.
        (self.edge_end() as usize).min(self.edge_reader().capacity())
    }

    /// The edges that start in a symbol, by kind, target and place.
    pub fn outgoing(&self, from: SymbolId, kinds: impl Into<EdgeKinds>) -> Edges<'_> {
        let count = self.edge_count() as u32;
        let run_of = |symbol: SymbolId| {
            let run = self.run(&self.known.out_offsets, symbol.0 as usize);
            (run.start as u32).min(count)..(run.end as u32).min(count)
        };
        let run = run_of(from);
        let mut inside = self.lambdas_in(from).peekable();
        let numbers = if inside.peek().is_some() {
            let mut reader = self.edge_reader();
            let numbers = run.chain(inside.flat_map(run_of));
            let mut edges: Vec<Edge> = numbers.filter_map(|number| reader.get(number)).collect();
            edges.sort_by_key(|edge| (edge.bits.kind(), edge.target, edge.line, edge.bits));
            Numbers::Merged {
                from,
                run: edges.into_iter(),
            }
        } else {
            Numbers::Out { from, run }
        };
        self.edges_of(numbers, kinds.into())
    }

    /// The edges that end in a symbol, by source, in path and source order.
    pub fn incoming(&self, to: impl Into<EdgeEnd>, kinds: impl Into<EdgeKinds>) -> Edges<'_> {
        let target = match to.into() {
            EdgeEnd::Symbol(symbol) if (symbol.0 as usize) < self.symbol_count() => symbol.0 as usize,
            EdgeEnd::Symbol(_) => usize::MAX - 1,
            EdgeEnd::External(external) => self.symbol_count() + external.0 as usize,
        };
        self.edges_of(Numbers::In(Rising::new(self.incoming_bytes(target))), kinds.into())
    }

    /// How many edges of any kind end in a symbol, without looking at them.
    pub fn incoming_count(&self, to: SymbolId) -> usize {
        rising_count(self.incoming_bytes(to.0 as usize))
    }

    /// The numbers of the edges that end in a target.
    fn incoming_bytes(&self, target: usize) -> &[u8] {
        let run = self.run(&self.known.in_offsets, target);
        self.bytes_in(&self.known.in_edges, run).unwrap_or_default()
    }

    /// All edges, by source.
    pub fn edges(&self, kinds: impl Into<EdgeKinds>) -> Edges<'_> {
        let run = 0..self.edge_count() as u32;
        self.edges_of(Numbers::All { from: 0, run }, kinds.into())
    }

    /// The edges that start in a file, by source.
    pub fn edges_of_file(&self, file: FileId, kinds: impl Into<EdgeKinds>) -> Edges<'_> {
        let (from, run) = self
            .file(file)
            .map_or((0, 0..0), |file| (file.symbol_range().start, file.edge_range()));
        let run = run.start..run.end.min(self.edge_count() as u32);
        self.edges_of(Numbers::All { from, run }, kinds.into())
    }

    /// The edges that start in a file, by source, where a lambda is a source and a target of its own.
    pub fn edges_of_file_with_lambdas(&self, file: FileId, kinds: impl Into<EdgeKinds>) -> Edges<'_> {
        Edges {
            lambdas: true,
            ..self.edges_of_file(file, kinds)
        }
    }

    fn edges_of<'a>(&'a self, numbers: Numbers<'a>, kinds: EdgeKinds) -> Edges<'a> {
        Edges {
            snapshot: self,
            reader: self.edge_reader(),
            numbers,
            kinds,
            lambdas: false,
        }
    }

    fn edge_reader(&self) -> EdgeReader<'_, &Snapshot> {
        EdgeReader::new(self, self.records(&self.known.edge_forms))
    }

    /// Number of external symbols.
    pub fn external_count(&self) -> usize {
        self.count::<TextRecord>(&self.known.externals)
    }

    /// The names of all external symbols (`npm:react::useState`), in byte order.
    pub fn externals(&self) -> impl Iterator<Item = (ExternalId, &str)> {
        (0..self.external_count() as u32).map(|number| (ExternalId(number), self.external(ExternalId(number))))
    }

    /// The name of an external symbol; empty for a number that is not one.
    pub fn external(&self, id: ExternalId) -> &str {
        let record: Option<&TextRecord> = self.record(&self.known.externals, id.0 as usize);
        record.map_or("", |record| {
            self.text(&self.known.misc_text, record.start.get(), record.length.get() as usize)
        })
    }

    /// The external symbol of exactly this name.
    pub fn find_external(&self, name: &str) -> Option<ExternalId> {
        let count = self.external_count();
        let at = super::lookup::partition(count, |number| self.external(ExternalId(number as u32)) < name);
        (at < count && self.external(ExternalId(at as u32)) == name).then_some(ExternalId(at as u32))
    }

    fn end(&self, target: u32) -> EdgeEnd {
        match (target as usize).checked_sub(self.symbol_count()) {
            None => EdgeEnd::Symbol(SymbolId(target)),
            Some(external) => EdgeEnd::External(ExternalId(external as u32)),
        }
    }

    /// The symbol whose run holds an edge: first the file, by a table that fits the cache, then the symbol inside it.
    fn source_of(&self, edge: u32) -> Option<SymbolId> {
        let files = self.file_count();
        let after = super::lookup::partition(files, |number| {
            self.file(FileId(number as u32))
                .is_some_and(|file| file.edge_range().start <= edge)
        });
        let file = self.file(FileId(after.checked_sub(1)? as u32))?;
        let symbols = file.symbol_range();
        let offsets: &[U32] = self.records_in(&self.known.out_offsets, symbols.start as usize..symbols.end as usize)?;
        let after = offsets.partition_point(|start| start.get() <= edge);
        Some(SymbolId(symbols.start + after.checked_sub(1)? as u32))
    }
}

impl<'a> Stored<'a> for &'a Snapshot {
    fn block_count(&self) -> usize {
        self.count::<U32>(&self.known.edge_blocks)
    }

    fn block(&self, number: usize) -> Option<usize> {
        let start: &U32 = self.record(&self.known.edge_blocks, number)?;
        Some(start.get() as usize)
    }

    fn bytes(&self, at: usize, at_least: usize) -> &'a [u8] {
        let section = &self.known.edges;
        let start = section.start.saturating_add(at);
        let end = self
            .blocks
            .end_of_block(start.saturating_add(at_least))
            .min(section.end);
        self.blocks.get(start..end).unwrap_or_default()
    }
}
