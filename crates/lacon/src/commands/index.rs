//! `lacon index`: builds or updates the index of a tree and says what is in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use index::build::{BuildError, Indexer, Options, Progress};
use index::store::StoreError;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use server::project;
use server::summary::Summary;
use server::workspace::{Declared, repositories};
use terminal::failure::{Explain, Failure};
use terminal::output::Output;

/// Index a tree, or bring its index up to date
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon index
  lacon index ~/src/django --json
  lacon index --index-dir /tmp/index --threads 1
  lacon index workspace.toml      # every [[repository]] of it

What is left out: what .gitignore, .ignore and lacon.toml say, binaries, minified, generated and oversized files. In lacon.toml:
  [index]
  exclude = [\"third_party/\"]     # globs
  include = [\"src/**\"]           # only these; all where it is not given
  max_file_size = 2097152        # bytes
  generated = \"flag\"             # index and flag what says that it was generated
  ignore_files = false           # do not heed .gitignore and .ignore
  scip = [\"index.scip\"]          # what another tool resolved replaces what was inferred")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) place: Place,

    /// Number of threads instead of the number of cores
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// A tree and its index.
#[derive(clap::Args, Clone)]
pub(crate) struct Place {
    /// The tree [default: the nearest index or repository above the current folder]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,

    /// The same, as the questions take it
    #[arg(long, value_name = "DIR", conflicts_with = "directory", hide = true)]
    root: Option<PathBuf>,

    /// Keep the index here instead of in `.lacon` inside the tree
    #[arg(long, value_name = "DIR", env = "LACON_DIR")]
    pub(crate) index_dir: Option<PathBuf>,
}

impl Place {
    /// The tree whose index is written.
    pub(crate) fn to_write(&self) -> Result<PathBuf, Failure> {
        project::one(self.directory.as_deref().or(self.root.as_deref()))
    }

    /// The tree whose index is read: it may be that of a folder above.
    pub(crate) fn to_read(&self) -> Result<PathBuf, Failure> {
        project::one_indexed(self.directory.as_deref().or(self.root.as_deref()))
    }
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let repositories = repositories(&[args.place.to_write()?], args.place.index_dir.as_deref())?;
    let mut summaries = Vec::new();
    for repository in &repositories {
        let bar = progress_bar();
        let mut indexer = open(repository, args.threads, bar.clone())?;
        let report = indexer.build();
        bar.finish_and_clear();
        summaries.push(Summary::new(&report?, &indexer));
    }
    match (args.json, summaries.as_slice()) {
        (true, [summary]) => output.json(summary)?,
        (true, several) => output.json(&json!({"repositories": several}))?,
        (false, [summary]) => output.line(summary.text()),
        (false, several) => {
            for (repository, summary) in repositories.iter().zip(several) {
                output.line(output.paint().name(&repository.name));
                output.line(summary.text());
                output.text("\n");
            }
        }
    }
    Ok(())
}

/// Opens a tree for writing; progress goes to `bar`.
pub(crate) fn open(tree: &Declared, threads: Option<usize>, bar: ProgressBar) -> Result<Indexer, Failure> {
    let options = Options {
        directory: tree.index_dir.clone(),
        threads,
        progress: Some(Arc::new(move |progress| show(&bar, progress))),
        ..Options::default()
    };
    let opened = Indexer::open(&tree.root, options);
    let locked = matches!(opened, Err(BuildError::Store(StoreError::Locked { .. })));
    match locked {
        true => opened.hint("a `lacon watch` or `lacon index` is running there; its snapshots can be read meanwhile"),
        false => Ok(opened?),
    }
}

/// A bar on stderr, drawn only on a terminal.
pub(crate) fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{msg:>10} [{bar:32}] {pos}/{len} {elapsed}");
    bar.set_style(
        style
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> "),
    );
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn show(bar: &ProgressBar, progress: Progress) {
    let (message, done, total) = match progress {
        Progress::Found { files } => ("reading", 0, files),
        Progress::Extracted { done, total } => ("reading", done, total),
        Progress::Resolved { done, total } => ("resolving", done, total),
        Progress::Writing => {
            bar.set_message("writing");
            return;
        }
    };
    bar.set_message(message);
    bar.set_length(total as u64);
    bar.set_position(done as u64);
}
