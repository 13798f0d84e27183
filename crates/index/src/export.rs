//! The graph for other tools, streamed: JSON lines, SCIP, DOT, Mermaid.
//!
//! One pass over the files in path order; nothing is collected, so a kernel exports in the memory of one file.

mod draw;
mod jsonl;
mod protobuf;
mod scip;

use std::io::{self, Write};

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::model::Origin;
use crate::snapshot::{EdgeEnd, EdgeKinds, EdgeView, FileView, Snapshot};

pub(crate) use protobuf::{Malformed, Value as ProtobufValue, fields as protobuf_fields, packed as protobuf_packed};
pub use scip::symbol_of as scip_symbol;

/// How the graph is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One JSON object per line: every symbol, then every edge of each file.
    Jsonl,
    /// The SCIP protocol buffer, for code browsers.
    Scip,
    /// Graphviz.
    Dot,
    /// Mermaid.
    Mermaid,
}

/// What is exported.
#[derive(Clone, Debug)]
pub struct Filter {
    paths: Option<GlobSet>,
    /// Kinds of edges.
    pub kinds: EdgeKinds,
    /// The least trusted origin that still counts.
    pub min_origin: Origin,
    /// Least confidence in hundredths.
    pub min_confidence: u8,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter {
            paths: None,
            kinds: EdgeKinds::ALL,
            min_origin: Origin::TextMatched,
            min_confidence: 0,
        }
    }
}

impl Filter {
    /// Only symbols in files that one of the globs matches, and edges that start in them.
    pub fn paths<'g>(mut self, globs: impl IntoIterator<Item = &'g str>) -> Result<Filter, globset::Error> {
        let mut builder = GlobSetBuilder::new();
        let mut any = false;
        for glob in globs {
            any = true;
            builder.add(Glob::new(glob)?);
        }
        self.paths = match any {
            true => Some(builder.build()?),
            false => None,
        };
        Ok(self)
    }

    fn files<'a>(&'a self, snapshot: &'a Snapshot) -> impl Iterator<Item = FileView<'a>> {
        snapshot
            .files()
            .filter(|file| self.paths.as_ref().is_none_or(|paths| paths.is_match(file.path())))
    }

    fn edges<'a>(&'a self, snapshot: &'a Snapshot, file: FileView<'a>) -> impl Iterator<Item = EdgeView> + use<'a> {
        snapshot
            .edges_of_file(file.id(), self.kinds)
            .filter(|edge| self.admits(edge))
    }

    fn edges_with_lambdas<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        file: FileView<'a>,
    ) -> impl Iterator<Item = EdgeView> + use<'a> {
        snapshot
            .edges_of_file_with_lambdas(file.id(), self.kinds)
            .filter(|edge| self.admits(edge))
    }

    fn admits(&self, edge: &EdgeView) -> bool {
        edge.origin <= self.min_origin && edge.confidence >= self.min_confidence
    }
}

/// Writes the part of a snapshot that `filter` lets through. `root` is the tree's place, which SCIP names.
pub fn export(
    snapshot: &Snapshot,
    root: &std::path::Path,
    format: Format,
    filter: &Filter,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Jsonl => jsonl::write(snapshot, filter, out),
        Format::Scip => scip::write(snapshot, root, filter, out),
        Format::Dot => draw::dot(snapshot, filter, out),
        Format::Mermaid => draw::mermaid(snapshot, filter, out),
    }
}

/// The lasting id of what an edge ends in.
fn end_id(snapshot: &Snapshot, end: EdgeEnd) -> String {
    match end {
        EdgeEnd::Symbol(symbol) => snapshot
            .symbol(symbol)
            .map_or_else(String::new, |symbol| symbol.id_string()),
        EdgeEnd::External(external) => snapshot.external(external).to_string(),
    }
}
