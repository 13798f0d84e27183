//! JSON lines. A line is a symbol or an edge, told apart by `type`; ids are the lasting ones. A lambda is a symbol here
//! (`main.py::run.<lambda1>`), so that whoever scores or draws the graph sees who calls it and what it calls.

use std::io::{self, Write};

use serde::Serialize;
use syntax::facts::{Kind, Visibility};

use super::{Filter, end_id};
use crate::model::{EdgeKind, Origin};
use crate::snapshot::{EdgeEnd, Snapshot, SymbolId};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Symbol {
        id: &'a str,
        kind: KindName,
        name: &'a str,
        path: &'a str,
        line: u32,
        column: u32,
        start_line: u32,
        end_line: u32,
        language: &'a str,
        visibility: Visibility,
        #[serde(skip_serializing_if = "str::is_empty")]
        signature: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        doc: &'a str,
    },
    External {
        id: &'a str,
    },
    Edge {
        from: &'a str,
        to: &'a str,
        kind: EdgeKind,
        origin: Origin,
        confidence: f64,
        path: &'a str,
        line: u32,
        column: u32,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum KindName {
    File(&'static str),
    Definition(Kind),
}

pub(super) fn write(snapshot: &Snapshot, filter: &Filter, out: &mut dyn Write) -> io::Result<()> {
    for file in filter.files(snapshot) {
        for symbol in file.symbols_and_lambdas() {
            let id = symbol.id_string();
            let (span, at) = (symbol.span(), symbol.name_at());
            line(
                out,
                &Line::Symbol {
                    id: &id,
                    kind: match symbol.is_file() {
                        true => KindName::File("file"),
                        false => KindName::Definition(symbol.kind()),
                    },
                    name: symbol.name(),
                    path: file.path(),
                    line: at.line,
                    column: at.column,
                    start_line: span.start_line,
                    end_line: span.end_line,
                    language: file.language(),
                    visibility: symbol.visibility(),
                    signature: symbol.signature(),
                    doc: symbol.doc(),
                },
            )?;
        }
    }
    for (_, name) in snapshot.externals() {
        line(out, &Line::External { id: name })?;
    }
    for file in filter.files(snapshot) {
        // Edges come by source: its id is spelt out once.
        let mut from: Option<(SymbolId, String)> = None;
        for edge in filter.edges_with_lambdas(snapshot, file) {
            if from.as_ref().is_none_or(|(symbol, _)| *symbol != edge.from) {
                from = Some((edge.from, end_id(snapshot, EdgeEnd::Symbol(edge.from))));
            }
            let to = end_id(snapshot, edge.to);
            line(
                out,
                &Line::Edge {
                    from: from.as_ref().map_or("", |(_, id)| id),
                    to: &to,
                    kind: edge.kind,
                    origin: edge.origin,
                    confidence: f64::from(edge.confidence) / 100.0,
                    path: file.path(),
                    line: edge.at.line,
                    column: edge.at.column,
                },
            )?;
        }
    }
    Ok(())
}

fn line(out: &mut dyn Write, line: &Line<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
