//! `lacon export`: the graph for other tools, streamed.

use std::io::Write;

use anyhow::Context;
use clap::ValueEnum;
use index::export::{Filter, Format, export};
use index::snapshot::{EDGE_KINDS, EdgeKinds, ORIGINS, Snapshot};
use index::store::Location;
use server::summary::name_of;
use terminal::failure::{Explain, Failure};
use terminal::output::Output;

use super::index::Place;

/// Write every symbol and every edge, whole or filtered
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon export > graph.jsonl
  lacon export --format scip > index.scip
  lacon export --format dot --path 'src/**' --kind calls | dot -Tsvg > calls.svg
  lacon export --format mermaid --path 'src/cart/*' --min-origin ast_resolved

A line of JSONL is a symbol, an external symbol or an edge:
  {\"type\":\"edge\",\"from\":\"a.py::f\",\"to\":\"b.py::g\",\"kind\":\"calls\",\"origin\":\"ast_resolved\",\"confidence\":0.98,
   \"path\":\"a.py\",\"line\":3,\"column\":4}")]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,

    /// How to write it
    #[arg(long, value_enum, default_value_t = Written::Jsonl)]
    format: Written,

    /// Only symbols in files that the glob matches, and edges that start there; may be given several times
    #[arg(long, value_name = "GLOB")]
    path: Vec<String>,

    /// Only edges of this kind (calls, references, extends, …); may be given several times
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,

    /// Only edges of this origin or a more trusted one
    #[arg(long, value_name = "ORIGIN")]
    min_origin: Option<String>,

    /// Only edges of at least this confidence, from 0 to 1
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0)]
    min_confidence: f64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Written {
    Jsonl,
    Scip,
    Dot,
    Mermaid,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let location = Location::of(&args.place.to_read()?, args.place.index_dir.as_deref())?;
    let snapshot = Snapshot::open(&location.snapshot()).hint("run `lacon index` first")?;
    // What is damaged reads as if it were not there, and what was written cannot be taken back.
    snapshot
        .verify()
        .hint("run `lacon index`: it rebuilds what is damaged")?;
    let mut filter = Filter::default()
        .paths(args.path.iter().map(String::as_str))
        .context("a glob of --path is not valid")
        .bad_input()?;
    if !args.kind.is_empty() {
        filter.kinds = EdgeKinds::NONE;
        for name in &args.kind {
            let kind = EDGE_KINDS.into_iter().find(|kind| name_of(kind) == *name);
            let known: Vec<String> = EDGE_KINDS.iter().map(name_of).collect();
            let kind = kind
                .with_context(|| format!("no kind of edge is called `{name}`"))
                .bad_input()
                .hint(format!("known kinds: {}", known.join(", ")))?;
            filter.kinds = filter.kinds | kind;
        }
    }
    if let Some(name) = &args.min_origin {
        let known: Vec<String> = ORIGINS.iter().map(name_of).collect();
        filter.min_origin = ORIGINS
            .into_iter()
            .find(|origin| name_of(origin) == *name)
            .with_context(|| format!("no origin is called `{name}`"))
            .bad_input()
            .hint(format!("known origins: {}", known.join(", ")))?;
    }
    filter.min_confidence = (args.min_confidence * 100.0).clamp(0.0, 100.0) as u8;
    let format = match args.format {
        Written::Jsonl => Format::Jsonl,
        Written::Scip => Format::Scip,
        Written::Dot => Format::Dot,
        Written::Mermaid => Format::Mermaid,
    };
    output.stream(|stdout| {
        let mut buffered = std::io::BufWriter::with_capacity(1 << 16, stdout);
        export(&snapshot, &location.root, format, &filter, &mut buffered)?;
        buffered.flush()
    })
}
