//! Drawings: the graph without containment, which the boxes of DOT show instead.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::Filter;
use crate::model::EdgeKind;
use crate::snapshot::{EdgeEnd, EdgeView, Snapshot};

pub(super) fn dot(snapshot: &Snapshot, filter: &Filter, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "digraph lacon {{\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];"
    )?;
    for file in filter.files(snapshot) {
        let drawn = drawn_symbols(snapshot, filter, file);
        if drawn.is_empty() {
            continue;
        }
        writeln!(
            out,
            "  subgraph \"cluster_{}\" {{\n    label=\"{}\";",
            file.id().0,
            quoted(file.path())
        )?;
        for number in drawn {
            if let Some(symbol) = snapshot.symbol(crate::snapshot::SymbolId(number)) {
                writeln!(out, "    s{number} [label=\"{}\"];", quoted(&symbol.qualified_name()))?;
            }
        }
        writeln!(out, "  }}")?;
    }
    for file in filter.files(snapshot) {
        for edge in drawn_edges(snapshot, filter, file) {
            let style = match edge.confidence {
                80.. => "solid",
                50.. => "dashed",
                _ => "dotted",
            };
            writeln!(
                out,
                "  s{} -> {} [label=\"{}\", style={style}];",
                edge.from.0,
                node(edge.to),
                kind_name(edge.kind)
            )?;
        }
    }
    for (external, name) in snapshot.externals() {
        if snapshot.incoming(external, filter.kinds).next().is_some() {
            writeln!(
                out,
                "  {} [label=\"{}\", style=dashed];",
                node(external.into()),
                quoted(name)
            )?;
        }
    }
    writeln!(out, "}}")
}

pub(super) fn mermaid(snapshot: &Snapshot, filter: &Filter, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "graph LR")?;
    let mut named = BTreeSet::new();
    for file in filter.files(snapshot) {
        for edge in drawn_edges(snapshot, filter, file) {
            for end in [EdgeEnd::Symbol(edge.from), edge.to] {
                if named.insert(end) {
                    writeln!(out, "  {}[\"{}\"]", node(end), entity(&super::end_id(snapshot, end)))?;
                }
            }
            writeln!(
                out,
                "  s{} -->|{}| {}",
                edge.from.0,
                kind_name(edge.kind),
                node(edge.to)
            )?;
        }
    }
    Ok(())
}

/// One line per pair and kind, however often it is said.
fn drawn_edges<'a>(
    snapshot: &'a Snapshot,
    filter: &'a Filter,
    file: crate::snapshot::FileView<'a>,
) -> impl Iterator<Item = EdgeView> + use<'a> {
    let mut last = None;
    filter
        .edges(snapshot, file)
        .filter(|edge| edge.kind != EdgeKind::Contains)
        .filter(move |edge| {
            let key = (edge.from, edge.kind, edge.to);
            last.replace(key) != Some(key)
        })
}

/// The symbols of a file that some drawn edge touches.
fn drawn_symbols(snapshot: &Snapshot, filter: &Filter, file: crate::snapshot::FileView<'_>) -> BTreeSet<u32> {
    let kinds = filter.kinds.without(EdgeKind::Contains);
    file.symbols()
        .map(|symbol| symbol.id())
        .filter(|&symbol| {
            snapshot.outgoing(symbol, kinds).next().is_some() || snapshot.incoming(symbol, kinds).next().is_some()
        })
        .map(|symbol| symbol.0)
        .collect()
}

fn node(end: EdgeEnd) -> String {
    match end {
        EdgeEnd::Symbol(symbol) => format!("s{}", symbol.0),
        EdgeEnd::External(external) => format!("x{}", external.0),
    }
}

fn kind_name(kind: EdgeKind) -> String {
    serde_json::to_value(kind)
        .ok()
        .and_then(|value| value.as_str().map(str::to_string))
        .unwrap_or_default()
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn entity(text: &str) -> String {
    text.replace('&', "#amp;")
        .replace('"', "#quot;")
        .replace('<', "#lt;")
        .replace('>', "#gt;")
}
