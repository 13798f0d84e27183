//! `lacon bench index`: what indexing costs, next to bare parsing of the same files and to universal-ctags.
//!
//! The tree is copied, so that the edits of the last rows touch nobody's files. Whatever is measured for CPU and memory runs
//! in a process of its own, several times over: the least counts, because whatever else runs on the machine only adds.

mod edits;
mod runs;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use comfy_table::Table;
use edits::Edits;
use index::scan::{Config, list_files, unescape_path};
use index::snapshot::{EdgeKinds, Snapshot};
use runs::{Cost, Indexed, run_ctags, run_self};
use serde::Serialize;
use terminal::failure::Failure;
use terminal::output::Output;
use terminal::usage::{self, size};

/// Measure indexing: CPU, memory, disk, warm start, one-file edits
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench index ~/src/django
  lacon bench index ~/src/linux --edits 0 --rounds 1 --json")]
pub(crate) struct Args {
    /// The tree; it is copied, never changed
    #[arg(value_name = "DIR")]
    root: PathBuf,

    /// Number of threads instead of the number of cores
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// How many one-file edits are timed
    #[arg(long, value_name = "N", default_value_t = 40)]
    edits: usize,

    /// How often parsing and indexing are measured; the least CPU counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,

    /// Where the copy and the index go, instead of the system's temporary directory
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Parse the files and do nothing else: what the benchmark compares with
    #[arg(long, hide = true)]
    only_parse: bool,

    /// Index the files into this directory and do nothing else
    #[arg(long, hide = true, value_name = "DIR")]
    only_index: Option<PathBuf>,

    /// Without the search index
    #[arg(long, hide = true)]
    without_search: bool,
}

/// Everything measured.
#[derive(Serialize)]
struct Measured {
    files: u64,
    lines: u64,
    source_bytes: u64,
    symbols: u64,
    edges: u64,
    threads: usize,
    rounds: usize,
    parse: Cost,
    cold: Indexed,
    cold_without_search: Indexed,
    ratios: Ratios,
    ctags: Option<Cost>,
    unchanged: Cost,
    warm_open_milliseconds: f64,
    first_answer_milliseconds: f64,
    snapshot_bytes: u64,
    facts_bytes: u64,
    disk_over_source: f64,
    edits: Option<Edits>,
    watcher_peak_memory_bytes: u64,
}

/// CPU over the CPU of bare parsing.
#[derive(Serialize)]
struct Ratios {
    /// Everything, search and vectors included.
    total: f64,
    /// Everything but search and vectors.
    without_search: f64,
    /// Of that, up to facts in the store; 1 of it is the parsing.
    extract: f64,
    /// Of that, linking and resolving.
    resolve: f64,
    /// Of that, writing the snapshot.
    write: f64,
    /// universal-ctags over bare parsing.
    ctags: Option<f64>,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    if args.only_parse {
        return runs::only_parse(&args.root, args.threads, output);
    }
    if let Some(directory) = &args.only_index {
        return runs::only_index(&args.root, directory, args.threads, args.without_search, output);
    }
    let scratch = Scratch::new(args.scratch.as_deref())?;
    let tree = scratch.path.join("tree");
    copy_tree(&args.root, &tree)?;
    let measured = measure(&args, &tree, &scratch.path)?;
    match args.json {
        true => output.json(&measured)?,
        false => output.line(measured.table()),
    }
    Ok(())
}

fn measure(args: &Args, tree: &Path, scratch: &Path) -> Result<Measured, Failure> {
    let threads = args
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let index_directory = scratch.join("index");
    let mut parse: Option<Cost> = None;
    let (mut cold, mut cold_without): (Option<Indexed>, Option<Indexed>) = (None, None);
    let mut summary = serde_json::Value::Null;
    // The first reading warms the page cache for all that follow.
    bare_parsing(tree, threads)?;
    for _ in 0..args.rounds.max(1) {
        let round = bare_parsing(tree, threads)?;
        parse = parse
            .into_iter()
            .chain([round])
            .min_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds));
        let without = cold_index(tree, &scratch.join("without"), threads, true)?.0;
        cold_without = least(cold_without, without);
        drop(fs::remove_dir_all(&index_directory));
        let (with, told) = cold_index(tree, &index_directory, threads, false)?;
        cold = least(cold, with);
        summary = told;
    }
    drop(fs::remove_dir_all(scratch.join("without")));
    let (parse, cold, cold_without) = (
        parse.unwrap_or_default(),
        cold.unwrap_or_default(),
        cold_without.unwrap_or_default(),
    );
    let (unchanged, _) = cold_index(tree, &index_directory, threads, false)?;
    let number = |at: &str| summary.pointer(at).and_then(|value| value.as_u64()).unwrap_or(0);

    let snapshot_path = index_directory.join("snapshot");
    let mut opens = Vec::new();
    let mut answers = Vec::new();
    for _ in 0..15 {
        let began = Instant::now();
        let snapshot = Snapshot::open(&snapshot_path)?;
        opens.push(milliseconds(began.elapsed()));
        first_answer(&snapshot);
        answers.push(milliseconds(began.elapsed()));
    }
    let snapshot = Snapshot::open(&snapshot_path)?;
    let paths: Vec<String> = snapshot.files().map(|file| file.path().to_string()).collect();
    drop(snapshot);
    let ctags = run_ctags(tree, &paths)?;
    let edits = match args.edits {
        0 => None,
        count => Some(edits::measure(tree, &index_directory, threads, count, &paths)?),
    };
    let (snapshot_bytes, facts_bytes) = (number("/disk_bytes/snapshot"), number("/disk_bytes/facts"));
    let source_bytes = number("/contents/bytes");
    let over_parse = |seconds: f64| seconds / parse.cpu_seconds.max(0.01);
    Ok(Measured {
        files: number("/contents/files"),
        lines: number("/contents/lines"),
        source_bytes,
        symbols: number("/contents/symbols"),
        edges: number("/contents/edges"),
        threads,
        rounds: args.rounds.max(1),
        parse,
        cold,
        cold_without_search: cold_without,
        ratios: Ratios {
            total: over_parse(cold.cost.cpu_seconds),
            without_search: over_parse(cold_without.cost.cpu_seconds),
            extract: over_parse(cold_without.cpu.extract),
            resolve: over_parse(cold_without.cpu.resolve),
            write: over_parse(cold_without.cpu.write),
            ctags: ctags.map(|ctags| over_parse(ctags.cpu_seconds)),
        },
        ctags,
        unchanged: unchanged.cost,
        warm_open_milliseconds: median(&mut opens),
        first_answer_milliseconds: median(&mut answers),
        snapshot_bytes,
        facts_bytes,
        disk_over_source: (snapshot_bytes + facts_bytes) as f64 / source_bytes.max(1) as f64,
        edits,
        watcher_peak_memory_bytes: usage::peak_memory(),
    })
}

fn bare_parsing(tree: &Path, threads: usize) -> Result<Cost, Failure> {
    let tree = tree.display().to_string();
    let parsed = run_self(&[
        "bench",
        "index",
        &tree,
        "--only-parse",
        "--threads",
        &threads.to_string(),
    ])?;
    Ok(serde_json::from_value(parsed)?)
}

/// Indexes into a directory; what it cost, and what it said of the tree.
pub(crate) fn cold_index(
    tree: &Path,
    directory: &Path,
    threads: usize,
    without_search: bool,
) -> Result<(Indexed, serde_json::Value), Failure> {
    if without_search {
        drop(fs::remove_dir_all(directory));
    }
    let (tree, directory, threads) = (
        tree.display().to_string(),
        directory.display().to_string(),
        threads.to_string(),
    );
    let mut arguments = vec![
        "bench",
        "index",
        &tree,
        "--only-index",
        &directory,
        "--threads",
        &threads,
    ];
    if without_search {
        arguments.push("--without-search");
    }
    Ok(serde_json::from_value(run_self(&arguments)?)?)
}

fn least(known: Option<Indexed>, round: Indexed) -> Option<Indexed> {
    let both = known.into_iter().chain([round]);
    both.min_by(|left, right| left.cost.cpu_seconds.total_cmp(&right.cost.cpu_seconds))
}

/// A question that touches names, symbols and edges.
fn first_answer(snapshot: &Snapshot) -> usize {
    let symbol = snapshot.with_prefix("g").next();
    symbol.map_or(0, |symbol| {
        snapshot.incoming(symbol.id(), EdgeKinds::ALL).count() + symbol.id_string().len()
    })
}

/// A directory that goes away with the benchmark.
pub(crate) struct Scratch {
    pub(crate) path: PathBuf,
}

impl Scratch {
    pub(crate) fn new(parent: Option<&Path>) -> Result<Scratch, Failure> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let path = parent.join(format!("lacon-bench-{}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("cannot create `{}`", path.display()))?;
        Ok(Scratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.path));
    }
}

/// Copies every file that a walk finds, so that the copy is the same tree to the index: sources, manifests and what is skipped.
fn copy_tree(root: &Path, to: &Path) -> Result<(), Failure> {
    let root = root
        .canonicalize()
        .with_context(|| format!("cannot read `{}`", root.display()))?;
    fs::create_dir_all(to)?;
    for path in list_files(&root, &Config::load(&root)?)? {
        let relative = unescape_path(&path);
        let target = to.join(&relative);
        let copied =
            fs::create_dir_all(target.parent().unwrap_or(to)).and_then(|()| fs::copy(root.join(&relative), &target));
        copied.with_context(|| format!("cannot copy `{path}`"))?;
    }
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

impl Measured {
    fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        let mut row = |what: &str, value: String| {
            table.add_row([what.to_string(), value]);
        };
        row(
            "tree",
            format!(
                "{} files, {} lines, {}; {} symbols, {} edges",
                self.files,
                self.lines,
                size(self.source_bytes),
                self.symbols,
                self.edges
            ),
        );
        let cost = |cost: &Cost| {
            let memory = match cost.peak_memory_bytes {
                0 => String::new(),
                bytes => format!(", peak {}", size(bytes)),
            };
            format!("{:.2} s CPU, {:.2} s wall{memory}", cost.cpu_seconds, cost.wall_seconds)
        };
        row("bare parsing", cost(&self.parse));
        let ratios = &self.ratios;
        row(
            "cold index",
            format!("{} = {:.2}x bare parsing", cost(&self.cold.cost), ratios.total),
        );
        row(
            "without search",
            format!(
                "{} = {:.2}x: extract {:.2}x, resolve {:.2}x, write {:.2}x",
                cost(&self.cold_without_search.cost),
                ratios.without_search,
                ratios.extract,
                ratios.resolve,
                ratios.write
            ),
        );
        let ctags = self.ctags.as_ref().zip(ratios.ctags);
        row(
            "universal-ctags",
            ctags.map_or("not installed".to_string(), |(ctags, ratio)| {
                format!("{} = {ratio:.2}x bare parsing", cost(ctags))
            }),
        );
        row("nothing changed", cost(&self.unchanged));
        row(
            "warm open",
            format!(
                "{:.2} ms, first answer {:.2} ms",
                self.warm_open_milliseconds, self.first_answer_milliseconds
            ),
        );
        row(
            "on disk",
            format!(
                "{} snapshot + {} facts = {:.2}x source",
                size(self.snapshot_bytes),
                size(self.facts_bytes),
                self.disk_over_source
            ),
        );
        let edits = self.edits.iter().flat_map(|edits| {
            [
                ("edit of a body", &edits.body),
                ("new definition", &edits.definition),
                ("renamed definition", &edits.rename),
                ("added file", &edits.added),
                ("removed file", &edits.removed),
            ]
        });
        for (what, edit) in edits {
            row(
                what,
                format!(
                    "p50 {:.0} ms, p95 {:.0} ms, max {:.0} ms; {} files resolved on average",
                    edit.p50_milliseconds, edit.p95_milliseconds, edit.max_milliseconds, edit.files_resolved
                ),
            );
        }
        row("memory of a watcher", size(self.watcher_peak_memory_bytes));
        table.to_string()
    }
}
