//! `lacon index`: builds or updates the index of a tree and says what is in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use index::build::{BuildError, Indexer, Options, Progress, Report};
use index::snapshot::{EdgeKinds, FileFlags, ORIGINS, Snapshot};
use index::store::StoreError;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::json;
use terminal::failure::{Explain, Failure};
use terminal::output::Output;
use terminal::usage::{self, size};

use crate::workspace::repositories;

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
    /// The root of the tree
    #[arg(default_value = ".", value_name = "DIR")]
    pub(crate) root: PathBuf,

    /// Keep the index here instead of in `.lacon` inside the tree
    #[arg(long, value_name = "DIR", env = "LACON_DIR")]
    pub(crate) index_dir: Option<PathBuf>,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let repositories = repositories(std::slice::from_ref(&args.place.root), args.place.index_dir.as_deref())?;
    let mut summaries = Vec::new();
    for repository in &repositories {
        let place = Place {
            root: repository.root.clone(),
            index_dir: repository.index_dir.clone(),
        };
        let bar = progress_bar();
        let mut indexer = open(&place, args.threads, bar.clone())?;
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
pub(crate) fn open(place: &Place, threads: Option<usize>, bar: ProgressBar) -> Result<Indexer, Failure> {
    let options = Options {
        directory: place.index_dir.clone(),
        threads,
        progress: Some(Arc::new(move |progress| show(&bar, progress))),
        ..Options::default()
    };
    let opened = Indexer::open(&place.root, options);
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

/// What `--json` prints.
#[derive(Serialize)]
pub(crate) struct Summary {
    pub(crate) root: String,
    pub(crate) changed: bool,
    pub(crate) contents: Contents,
    /// Files that were read, parsed and resolved by this run.
    pub(crate) files_read: usize,
    pub(crate) files_parsed: usize,
    pub(crate) files_resolved: usize,
    pub(crate) notices: Vec<&'static str>,
    pub(crate) seconds: Seconds,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_memory_bytes: u64,
    pub(crate) disk_bytes: Disk,
}

#[derive(Serialize)]
pub(crate) struct Seconds {
    pub(crate) scan: f64,
    pub(crate) extract: f64,
    pub(crate) resolve: f64,
    pub(crate) write: f64,
    pub(crate) total: f64,
}

#[derive(Serialize, Clone, Copy)]
pub(crate) struct Disk {
    pub(crate) snapshot: u64,
    pub(crate) facts: u64,
}

/// What a snapshot holds, in numbers.
#[derive(Serialize)]
pub(crate) struct Contents {
    pub(crate) files: usize,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) symbols: usize,
    pub(crate) external_symbols: usize,
    pub(crate) edges: usize,
    pub(crate) edges_by_origin: serde_json::Map<String, serde_json::Value>,
    pub(crate) edges_by_kind: serde_json::Map<String, serde_json::Value>,
    pub(crate) symbols_by_kind: serde_json::Map<String, serde_json::Value>,
    pub(crate) unresolved_calls: u64,
    pub(crate) languages: Vec<Language>,
    pub(crate) skipped: serde_json::Map<String, serde_json::Value>,
    /// Files that were given up as a whole: too large, or too much work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_parsed: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct Language {
    pub(crate) name: String,
    pub(crate) files: u32,
    pub(crate) lines: u64,
    pub(crate) symbols: u64,
}

impl Summary {
    pub(crate) fn new(report: &Report, indexer: &Indexer) -> Summary {
        let time = report.time;
        let (snapshot, facts) = indexer.directory().disk_usage();
        let seconds = |time: Duration| time.as_secs_f64();
        Summary {
            root: indexer.root().display().to_string(),
            changed: report.changed,
            contents: Contents::new(&report.snapshot),
            files_read: report.read,
            files_parsed: report.extracted,
            files_resolved: report.resolved,
            notices: report.notices.iter().map(|notice| notice.message()).collect(),
            seconds: Seconds {
                scan: seconds(time.scan),
                extract: seconds(time.extract),
                resolve: seconds(time.resolve),
                write: seconds(time.write),
                total: seconds(time.total),
            },
            cpu_seconds: usage::cpu_seconds(),
            peak_memory_bytes: usage::peak_memory(),
            disk_bytes: Disk { snapshot, facts },
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for notice in &self.notices {
            text.push_str(&format!("note: {notice}\n"));
        }
        text.push_str(&self.contents.text());
        let state = match self.changed {
            true => format!(
                "read {}, parsed {}, resolved {} files",
                self.files_read, self.files_parsed, self.files_resolved
            ),
            false => "nothing changed".to_string(),
        };
        text.push_str(&format!(
            "\n{state} in {:.2} s (scan {:.2}, extract {:.2}, resolve {:.2}, write {:.2})\n",
            self.seconds.total, self.seconds.scan, self.seconds.extract, self.seconds.resolve, self.seconds.write
        ));
        text.push_str(&format!(
            "cpu {:.2} s, peak memory {}, on disk {} ({} snapshot, {} facts)",
            self.cpu_seconds,
            size(self.peak_memory_bytes),
            size(self.disk_bytes.snapshot + self.disk_bytes.facts),
            size(self.disk_bytes.snapshot),
            size(self.disk_bytes.facts)
        ));
        text
    }
}

impl Contents {
    pub(crate) fn new(snapshot: &Snapshot) -> Contents {
        let totals = snapshot.totals();
        let mut skipped = serde_json::Map::new();
        for file in snapshot.skipped() {
            let count = skipped.entry(file.reason.as_str()).or_insert(0.into());
            *count = (count.as_u64().unwrap_or(0) + 1).into();
        }
        let edges_by_origin = ORIGINS
            .iter()
            .map(|origin| {
                (
                    *origin,
                    totals
                        .edges
                        .iter()
                        .filter(|edge| edge.1 == *origin)
                        .map(|edge| edge.2)
                        .sum(),
                )
            })
            .filter(|(_, count): &(_, u64)| *count > 0)
            .map(|(origin, count)| (name_of(&origin), count.into()))
            .collect();
        let edges_by_kind = EdgeKinds::ALL
            .iter()
            .map(|kind| {
                (
                    kind,
                    totals
                        .edges
                        .iter()
                        .filter(|edge| edge.0 == kind)
                        .map(|edge| edge.2)
                        .sum(),
                )
            })
            .filter(|(_, count): &(_, u64)| *count > 0)
            .map(|(kind, count)| (name_of(&kind), count.into()))
            .collect();
        Contents {
            files: snapshot.file_count(),
            lines: totals.lines,
            bytes: totals.bytes,
            symbols: snapshot.symbol_count() - snapshot.file_count(),
            external_symbols: snapshot.external_count(),
            edges: snapshot.edge_count(),
            edges_by_origin,
            edges_by_kind,
            symbols_by_kind: totals
                .symbols
                .iter()
                .map(|(kind, count)| (name_of(kind), (*count).into()))
                .collect(),
            unresolved_calls: totals.unresolved_calls,
            languages: snapshot
                .languages()
                .map(|language| Language {
                    name: language.name().to_string(),
                    files: language.files(),
                    lines: language.lines(),
                    symbols: language.symbols(),
                })
                .collect(),
            skipped,
            not_parsed: snapshot
                .files()
                .filter(|file| file.flags().contains(FileFlags::UNPARSED))
                .map(|file| file.path().to_owned())
                .collect(),
        }
    }

    pub(crate) fn text(&self) -> String {
        if self.files == 0 {
            let skipped = match self.skipped.is_empty() {
                true => String::new(),
                false => format!(" (skipped: {})", listed(&self.skipped)),
            };
            return format!("files     0: nothing here is in a language that Lacon reads{skipped}");
        }
        let mut languages: Vec<&Language> = self.languages.iter().collect();
        languages.sort_by_key(|language| std::cmp::Reverse(language.lines));
        let mut shown: Vec<String> = languages
            .iter()
            .take(6)
            .map(|language| format!("{} {}", language.name, language.files))
            .collect();
        if languages.len() > 6 {
            shown.push(format!("{} more", languages.len() - 6));
        }
        let mut text = format!(
            "files     {} ({}), {} lines, {}\nsymbols   {}, and {} external\nedges     {} ({})",
            self.files,
            shown.join(", "),
            self.lines,
            size(self.bytes),
            self.symbols,
            self.external_symbols,
            self.edges,
            listed(&self.edges_by_origin)
        );
        text.push_str(&format!("\nunresolved calls  {}", self.unresolved_calls));
        if !self.skipped.is_empty() {
            text.push_str(&format!("\nskipped   {}", listed(&self.skipped)));
        }
        if !self.not_parsed.is_empty() {
            const NAMED: usize = 5;
            let named: Vec<&str> = self.not_parsed.iter().take(NAMED).map(String::as_str).collect();
            let more = match self.not_parsed.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            text.push_str(&format!(
                "\nnot parsed  {}: too large or too much work, so none of their symbols are known ({}{more})",
                self.not_parsed.len(),
                named.join(", ")
            ));
        }
        text
    }
}

fn listed(counts: &serde_json::Map<String, serde_json::Value>) -> String {
    let parts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    parts.join(", ")
}

/// The name that JSON gives a value.
pub(crate) fn name_of(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
