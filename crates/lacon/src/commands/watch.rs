//! `lacon watch`: keeps the index of a tree, or of every tree of a workspace, up to date until it is stopped.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use index::build::Report;
use index::watch::{Patience, Watched, watch};
use serde::Serialize;
use server::workspace::{Declared, repositories};
use terminal::failure::Failure;
use terminal::output::Output;

use super::index::{Place, open, progress_bar};

/// Keep the index of a tree or a workspace up to date while files change
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon watch
  lacon watch ~/src/django --json
  lacon watch ~/src/workspace.toml")]
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
    /// Of which repository, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    files: usize,
    symbols: usize,
    edges: usize,
    parsed: usize,
    resolved: usize,
    milliseconds: f64,
}

/// What one tree says.
enum Said {
    Built(Event),
    Ended(Failure),
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let declared = repositories(&[args.place.to_write()?], args.place.index_dir.as_deref())?;
    let is_over = AtomicBool::new(false);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for repository in &declared {
            let (sender, is_over, threads) = (sender.clone(), &is_over, args.threads);
            let name = (declared.len() > 1).then(|| repository.name.clone());
            scope.spawn(move || {
                let tell = |said| match sender.send(said) {
                    Ok(()) if !is_over.load(Ordering::Relaxed) => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                };
                if let Err(failure) = follow(repository, name, threads, is_over, &tell) {
                    let _ = tell(Said::Ended(failure));
                }
            });
        }
        drop(sender);
        let mut failed = Ok(());
        for said in receiver {
            let heard = match said {
                Said::Built(event) => {
                    output.line(args.text(&event));
                    output.finish()
                }
                Said::Ended(failure) => Err(failure),
            };
            if let Err(failure) = heard {
                // The others end at their next look around; the first failure is the one that is told.
                is_over.store(true, Ordering::Relaxed);
                failed = failed.and(Err(failure));
            }
        }
        failed
    })
}

/// Follows one tree until it is over.
fn follow(
    repository: &Declared,
    name: Option<String>,
    threads: Option<usize>,
    is_over: &AtomicBool,
    tell: &dyn Fn(Said) -> ControlFlow<()>,
) -> Result<(), Failure> {
    let bar = progress_bar();
    let mut indexer = open(repository, threads, bar.clone())?;
    watch(&mut indexer, Patience::default(), |event| match event {
        Watched::Idle if is_over.load(Ordering::Relaxed) => ControlFlow::Break(()),
        Watched::Idle | Watched::Rested => ControlFlow::Continue(()),
        Watched::Polling(why) => {
            tracing::warn!("changes are looked for every few seconds: {why}");
            ControlFlow::Continue(())
        }
        Watched::Failed(error) => {
            tracing::warn!("{error}");
            ControlFlow::Continue(())
        }
        Watched::Built(report) => {
            bar.finish_and_clear();
            tell(Said::Built(Event::new(name.clone(), &report)))
        }
    })?;
    Ok(())
}

impl Event {
    fn new(repository: Option<String>, report: &Report) -> Event {
        let snapshot = &report.snapshot;
        Event {
            repository,
            files: snapshot.file_count(),
            symbols: snapshot.symbol_count() - snapshot.file_count(),
            edges: snapshot.edge_count(),
            parsed: report.extracted,
            resolved: report.resolved,
            milliseconds: report.time.total.as_secs_f64() * 1e3,
        }
    }
}

impl Args {
    fn text(&self, event: &Event) -> String {
        if let (true, Ok(text)) = (self.json, serde_json::to_string(event)) {
            return text;
        }
        let name = event.repository.as_ref().map(|name| format!("{name}: "));
        format!(
            "{}{} files, {} symbols, {} edges: parsed {}, resolved {} in {:.0} ms",
            name.unwrap_or_default(),
            event.files,
            event.symbols,
            event.edges,
            event.parsed,
            event.resolved,
            event.milliseconds
        )
    }
}
