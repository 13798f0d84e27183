//! A graph as text: header, groups by distance, then edges by number.

use super::super::error::{Category, Error, Result};
use super::super::scalar::write_integer;
use super::{Edge, Graph, Names, Symbol, abbreviate, check_header_value, check_symbol, check_word, group_name};

/// Encodes a graph. Symbols come nearest first, then by falling score; edges by source, target and type.
pub fn encode(graph: &Graph) -> Result<String> {
    let order = output_order(&graph.symbols);
    let mut numbers = vec![0; order.len()];
    for (number, symbol) in order.iter().enumerate() {
        numbers[*symbol as usize] = number as u64;
    }
    write_graph(graph, &order, &numbers, None)
}

/// Indices of the symbols in the order they are written.
pub(super) fn output_order(symbols: &[Symbol]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..symbols.len() as u32).collect();
    order.sort_by(|left, right| {
        let (left, right) = (&symbols[*left as usize], &symbols[*right as usize]);
        left.distance
            .cmp(&right.distance)
            .then(right.score.total_cmp(&left.score))
    });
    order
}

/// How a symbol of a session is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// In full: the client does not hold it.
    Whole,
    /// By its number alone: all is as it was.
    Number,
    /// By its number, with its score now.
    Score,
    /// By its number, with its score and how it was found now.
    Provenance,
}

/// Writes a whole payload. `known` says which symbols the session has sent already; without a session there is none.
pub(super) fn write_graph(graph: &Graph, order: &[u32], numbers: &[u64], known: Option<&[Said]>) -> Result<String> {
    let names = Names::new(&graph.symbols)?;
    let mut edges = Vec::with_capacity(graph.edges.len());
    for edge in &graph.edges {
        check_edge(edge)?;
        let (source, target) = (names.source(edge)?, names.target(edge)?);
        edges.push((numbers[source as usize], numbers[target as usize], edge));
    }
    edges.sort_by(|left, right| (left.0, left.1, &left.2.edge_type).cmp(&(right.0, right.1, &right.2.edge_type)));

    let mut out = String::with_capacity(64 + graph.symbols.len() * 64 + edges.len() * 20);
    out.push_str("GCF profile=graph");
    write_header_text(&mut out, "tool", &graph.tool)?;
    write_header_count(&mut out, "budget", graph.token_budget);
    write_header_count(&mut out, "tokens", graph.tokens_used);
    out.push_str(" symbols=");
    write_integer(&mut out, graph.symbols.len());
    write_header_count(&mut out, "edges", edges.len() as u64);
    if known.is_some() {
        out.push_str(" session=true");
    }
    write_header_text(&mut out, "pack_root", &graph.pack_root)?;
    out.push('\n');

    let mut distance = None;
    for index in order {
        let symbol = &graph.symbols[*index as usize];
        if distance != Some(symbol.distance) {
            distance = Some(symbol.distance);
            out.push_str("## ");
            out.push_str(&group_name(symbol.distance));
            out.push('\n');
        }
        let number = numbers[*index as usize];
        let said = known.map_or(Said::Whole, |known| known[*index as usize]);
        if said == Said::Whole {
            write_node(&mut out, number, symbol)?;
            out.push('\n');
            continue;
        }
        check_symbol(symbol)?;
        out.push('@');
        write_integer(&mut out, number);
        // What follows the mark is a comment to a reader that knows only the specification: to it, the symbol is the one it holds.
        out.push_str("  # ");
        match said {
            Said::Whole | Said::Number => out.push_str("previously transmitted"),
            Said::Score => out.push_str(&score_text(symbol.score)),
            Said::Provenance => {
                out.push_str(&score_text(symbol.score));
                out.push(' ');
                out.push_str(&symbol.provenance);
            }
        }
        out.push('\n');
    }
    if !edges.is_empty() {
        out.push_str("## edges [");
        write_integer(&mut out, edges.len());
        out.push_str("]\n");
        for (source, target, edge) in edges {
            write_edge(&mut out, source, target, edge);
        }
    }
    Ok(out)
}

pub(crate) fn write_header_text(out: &mut String, name: &str, value: &str) -> Result<()> {
    check_header_value(value, name)?;
    if !value.is_empty() {
        out.push(' ');
        out.push_str(name);
        out.push('=');
        out.push_str(value);
    }
    Ok(())
}

pub(super) fn write_header_count(out: &mut String, name: &str, value: u64) {
    if value > 0 {
        out.push(' ');
        out.push_str(name);
        out.push('=');
        write_integer(out, value);
    }
}

/// `@id kind name score provenance`, without the line's end.
pub(super) fn write_node(out: &mut String, number: u64, symbol: &Symbol) -> Result<()> {
    check_symbol(symbol)?;
    out.push('@');
    write_integer(out, number);
    for word in [
        abbreviate(&symbol.kind),
        &symbol.qualified_name,
        &score_text(symbol.score),
        &symbol.provenance,
    ] {
        out.push(' ');
        out.push_str(word);
    }
    Ok(())
}

/// Two decimals, halves to even; minus zero is zero.
pub(super) fn score_text(score: f64) -> String {
    let text = format!("{score:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

pub(super) fn check_edge(edge: &Edge) -> Result<()> {
    check_word(&edge.edge_type, "edge type")?;
    check_header_value(&edge.status, "edge status")?;
    if edge.source.is_empty() || edge.target.is_empty() {
        return Err(Error::new(
            Category::InvalidName,
            "an edge without a name at its end",
            "two names",
        ));
    }
    Ok(())
}

pub(super) fn write_edge(out: &mut String, source: u64, target: u64, edge: &Edge) {
    out.push('@');
    write_integer(out, target);
    out.push_str("<@");
    write_integer(out, source);
    out.push(' ');
    out.push_str(&edge.edge_type);
    if !edge.status.is_empty() && edge.status != "unchanged" {
        out.push(' ');
        out.push_str(&edge.status);
    }
    out.push('\n');
}
