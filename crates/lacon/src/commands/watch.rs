//! `lacon watch`: keeps the index of a tree up to date until it is stopped.

use std::ops::ControlFlow;

use index::watch::{Patience, Watched, watch};
use serde::Serialize;

use super::index::{Place, open, progress_bar};
use crate::failure::Failure;
use crate::output::Output;

/// Keep the index of a tree up to date while files change
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon watch
  lacon watch ~/src/django --json")]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,

    /// Number of threads instead of the number of cores
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print one JSON object per new snapshot
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Event {
    files: usize,
    symbols: usize,
    edges: usize,
    parsed: usize,
    resolved: usize,
    milliseconds: f64,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let bar = progress_bar();
    let mut indexer = open(&args.place, args.threads, bar.clone())?;
    let mut failure = None;
    let watched = watch(&mut indexer, Patience::default(), |event| {
        let said = match event {
            Watched::Idle => return ControlFlow::Continue(()),
            Watched::Failed(error) => {
                tracing::warn!("{error}");
                return ControlFlow::Continue(());
            }
            Watched::Built(report) => {
                bar.finish_and_clear();
                let snapshot = &report.snapshot;
                let event = Event {
                    files: snapshot.file_count(),
                    symbols: snapshot.symbol_count(),
                    edges: snapshot.edge_count(),
                    parsed: report.extracted,
                    resolved: report.resolved,
                    milliseconds: report.time.total.as_secs_f64() * 1e3,
                };
                match (args.json, serde_json::to_string(&event)) {
                    (true, Ok(text)) => output.line(text),
                    _ => output.line(format!(
                        "{} files, {} symbols, {} edges: parsed {}, resolved {} in {:.0} ms",
                        event.files, event.symbols, event.edges, event.parsed, event.resolved, event.milliseconds
                    )),
                }
                output.finish()
            }
        };
        match said {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    watched?;
    failure.map_or(Ok(()), Err)
}
