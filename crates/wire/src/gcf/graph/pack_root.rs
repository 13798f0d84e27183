//! `gcf-pack-root-v1`: the hash that says "the same graph", whatever the order of its lines.

use sha2::{Digest, Sha256};

use super::super::error::Result;
use super::super::scalar::{write_float, write_integer};
use super::{Graph, Names, abbreviate, quantized};

/// `sha256:` and the hash of [`canonical_records`].
pub fn pack_root(graph: &Graph) -> Result<String> {
    Ok(hash(&canonical_records(graph)?))
}

pub(crate) fn hash(records: &str) -> String {
    use std::fmt::Write;
    let mut root = String::from("sha256:");
    for byte in Sha256::digest(records.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(root, "{byte:02x}");
    }
    root
}

/// The text that is hashed: symbols, then edges, each sorted by bytes. Scores are those the payload carries.
pub fn canonical_records(graph: &Graph) -> Result<String> {
    let names = Names::new(&graph.symbols)?;
    let mut symbols = Vec::with_capacity(graph.symbols.len());
    for symbol in &graph.symbols {
        let mut record = format!("S\t{}\t{}\t", abbreviate(&symbol.kind), symbol.qualified_name);
        write_float(&mut record, quantized(symbol.score));
        record.push('\t');
        record.push_str(&symbol.provenance);
        record.push('\t');
        write_integer(&mut record, symbol.distance);
        record.push('\n');
        symbols.push(record);
    }
    let mut edges = Vec::with_capacity(graph.edges.len());
    for edge in &graph.edges {
        let source = &graph.symbols[names.source(edge)? as usize];
        let target = &graph.symbols[names.target(edge)? as usize];
        edges.push(format!(
            "E\t{}\t{}\t{}\t{}\t{}\n",
            abbreviate(&source.kind),
            source.qualified_name,
            abbreviate(&target.kind),
            target.qualified_name,
            edge.edge_type
        ));
    }
    symbols.sort_unstable();
    edges.sort_unstable();
    Ok(symbols.concat() + &edges.concat())
}
