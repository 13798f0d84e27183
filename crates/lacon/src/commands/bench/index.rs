//! `lacon bench index`: what indexing costs, next to bare parsing of the same files and to universal-ctags.
//!
//! The tree is copied, so that the edits of the last rows touch nobody's files. Whatever is measured for CPU and memory runs
//! in a process of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use comfy_table::Table;
use index::build::{Indexer, Options};
use index::scan::{Config, each_source, unescape_path};
use index::snapshot::{EdgeKinds, Snapshot};
use serde::{Deserialize, Serialize};

use crate::commands::index::{size, usage};
use crate::failure::Failure;
use crate::output::Output;

/// Measure indexing: CPU, memory, disk, warm start, one-file edits
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench index ~/src/django
  lacon bench index ~/src/linux --edits 0 --json")]
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

    /// Where the copy and the index go, instead of the system's temporary directory
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Parse the files and do nothing else: what the benchmark compares with
    #[arg(long, hide = true)]
    only_parse: bool,
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
    parse: Cost,
    cold: Cost,
    /// CPU of the cold index over CPU of bare parsing.
    cold_over_parse: f64,
    phases: serde_json::Value,
    ctags: Option<Cost>,
    unchanged: Cost,
    warm_open_milliseconds: f64,
    first_answer_milliseconds: f64,
    snapshot_bytes: u64,
    facts_bytes: u64,
    disk_over_source: f64,
    /// A statement added to a function.
    body_edit: Option<Percentiles>,
    /// A function added before all others of a file.
    definition_edit: Option<Percentiles>,
    /// A function renamed, so that whoever used it no longer finds it.
    rename_edit: Option<Percentiles>,
    watcher_peak_memory_bytes: u64,
}

#[derive(Serialize, Deserialize, Clone, Copy, Default)]
struct Cost {
    wall_seconds: f64,
    cpu_seconds: f64,
    peak_memory_bytes: u64,
}

#[derive(Serialize)]
struct Percentiles {
    p50_milliseconds: f64,
    p95_milliseconds: f64,
    max_milliseconds: f64,
    /// On average.
    files_resolved: usize,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    if args.only_parse {
        return only_parse(&args, output);
    }
    let scratch = Scratch::new(args.scratch.as_deref())?;
    let tree = scratch.path.join("tree");
    copy_sources(&args.root, &tree)?;
    let measured = measure(&args, &tree, &scratch.path.join("index"))?;
    match args.json {
        true => output.json(&measured)?,
        false => output.line(measured.table()),
    }
    Ok(())
}

fn measure(args: &Args, tree: &Path, index_directory: &Path) -> Result<Measured, Failure> {
    let threads = args
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let threads_text = threads.to_string();
    let tree_text = tree.display().to_string();
    let directory_text = index_directory.display().to_string();
    // The first reading warms the page cache for all that follow.
    run_self(&["bench", "index", &tree_text, "--only-parse", "--threads", &threads_text])?;
    let parsed = run_self(&["bench", "index", &tree_text, "--only-parse", "--threads", &threads_text])?;
    let parse: Cost = serde_json::from_value(parsed)?;
    let index = [
        "index",
        &tree_text,
        "--index-dir",
        &directory_text,
        "--threads",
        &threads_text,
        "--json",
    ];
    let first = run_self(&index)?;
    let again = run_self(&index)?;
    let number = |value: &serde_json::Value, at: &str| value.pointer(at).and_then(|value| value.as_u64()).unwrap_or(0);
    let cost = |value: &serde_json::Value| Cost {
        wall_seconds: value
            .pointer("/seconds/total")
            .and_then(|value| value.as_f64())
            .unwrap_or(0.0),
        cpu_seconds: value["cpu_seconds"].as_f64().unwrap_or(0.0),
        peak_memory_bytes: value["peak_memory_bytes"].as_u64().unwrap_or(0),
    };

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
    let ctags = run_ctags(tree, &paths)?;
    drop(snapshot);
    let (body_edit, definition_edit, rename_edit) = match args.edits {
        0 => (None, None, None),
        count => {
            let options = Options {
                directory: Some(index_directory.to_path_buf()),
                threads: Some(threads),
                ..Options::default()
            };
            let mut indexer = Indexer::open(tree, options)?;
            indexer.prepare()?;
            let body = time_edits(&mut indexer, count, &paths, add_statement)?;
            let rename = time_edits(&mut indexer, count, &paths, rename_definition)?;
            let definition = time_edits(&mut indexer, count, &paths, add_definition)?;
            (Some(body), Some(definition), Some(rename))
        }
    };
    let (snapshot_bytes, facts_bytes) = (
        number(&first, "/disk_bytes/snapshot"),
        number(&first, "/disk_bytes/facts"),
    );
    let source_bytes = number(&first, "/contents/bytes");
    let cold = cost(&first);
    Ok(Measured {
        files: number(&first, "/contents/files"),
        lines: number(&first, "/contents/lines"),
        source_bytes,
        symbols: number(&first, "/contents/symbols"),
        edges: number(&first, "/contents/edges"),
        threads,
        parse,
        cold,
        cold_over_parse: cold.cpu_seconds / parse.cpu_seconds.max(0.01),
        phases: first["seconds"].clone(),
        ctags,
        unchanged: cost(&again),
        warm_open_milliseconds: median(&mut opens),
        first_answer_milliseconds: median(&mut answers),
        snapshot_bytes,
        facts_bytes,
        disk_over_source: (snapshot_bytes + facts_bytes) as f64 / source_bytes.max(1) as f64,
        body_edit,
        definition_edit,
        rename_edit,
        watcher_peak_memory_bytes: usage::peak_memory(),
    })
}

/// Parses every source file, in this process.
fn only_parse(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.unwrap_or(0))
        .stack_size(16 << 20)
        .build()?;
    let (files, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let nanoseconds = AtomicU64::new(0);
    let began = Instant::now();
    pool.install(|| {
        each_source(&args.root, &Config::load(&args.root)?, &|_, language, text| {
            let before = thread_cpu();
            files.fetch_add(1, Ordering::Relaxed);
            if !syntax::parse_only(language, text) {
                failed.fetch_add(1, Ordering::Relaxed);
            }
            nanoseconds.fetch_add((thread_cpu() - before).as_nanos() as u64, Ordering::Relaxed);
        })
    })?;
    output.json(&Cost {
        wall_seconds: began.elapsed().as_secs_f64(),
        cpu_seconds: nanoseconds.into_inner() as f64 / 1e9,
        peak_memory_bytes: usage::peak_memory(),
    })
}

/// CPU time of this thread, so that the bound holds parsing alone and not the reading of files.
fn thread_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A question that touches names, symbols and edges.
fn first_answer(snapshot: &Snapshot) -> usize {
    let symbol = snapshot.with_prefix("g").next();
    symbol.map_or(0, |symbol| {
        snapshot.incoming(symbol.id(), EdgeKinds::ALL).count() + symbol.id_string().len()
    })
}

/// Edits files spread over the tree one at a time and times the way to the new snapshot.
fn time_edits(
    indexer: &mut Indexer,
    count: usize,
    paths: &[String],
    edit: fn(&str, &str, usize) -> Option<String>,
) -> Result<Percentiles, Failure> {
    let root = indexer.root().to_path_buf();
    let (mut times, mut resolved) = (Vec::new(), 0);
    let mut number = 0;
    let step = (paths.len() / (count * 2)).max(1);
    for path in paths.iter().step_by(step) {
        let absolute = root.join(unescape_path(path));
        let text = fs::read_to_string(&absolute).unwrap_or_default();
        let Some(edited) = edit(path, &text, number) else {
            continue;
        };
        fs::write(&absolute, edited)?;
        let began = Instant::now();
        let report = indexer.update(&[absolute])?;
        times.push(milliseconds(began.elapsed()));
        resolved += report.resolved;
        if !report.changed {
            Err(anyhow::anyhow!("the edit of `{path}` did not change the snapshot"))?;
        }
        number += 1;
        if number == count {
            break;
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let last = times.len().saturating_sub(1);
        times.get((last as f64 * part).round() as usize).copied().unwrap_or(0.0)
    };
    Ok(Percentiles {
        p50_milliseconds: at(0.5),
        p95_milliseconds: at(0.95),
        max_milliseconds: at(1.0),
        files_resolved: resolved / number.max(1),
    })
}

/// Adds a function to the end of a file.
fn add_definition(path: &str, text: &str, number: usize) -> Option<String> {
    let function = match path.rsplit('.').next()? {
        "py" => "\n\ndef lacon_added_NUMBER(value):\n    return str(value)\n",
        "go" => "\nfunc laconAddedNUMBER(value int) int { return value + 1 }\n",
        "js" | "ts" | "tsx" | "jsx" => "\nfunction laconAddedNUMBER(value) { return String(value); }\n",
        "rs" => "\nfn lacon_added_NUMBER(value: u32) -> u32 { value + 1 }\n",
        "c" => "\nstatic int lacon_added_NUMBER(int value) { return value + 1; }\n",
        _ => return None,
    };
    // Before the others, so that all of them move.
    let at = first_function(path, text).map_or(text.len(), |(line, _)| line);
    let function = function.replace("NUMBER", &number.to_string());
    Some(format!("{}{function}{}", &text[..at], &text[at..]))
}

fn rename_definition(path: &str, text: &str, number: usize) -> Option<String> {
    let (_, name) = first_function(path, text)?;
    let rest = &text[name..];
    let end = name + rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    (end > name).then(|| format!("{}_renamed{number}{}", &text[..end], &text[end..]))
}

/// Where the line of the first function at the top of a file starts, and where its name does.
fn first_function(path: &str, text: &str) -> Option<(usize, usize)> {
    let word = match path.rsplit('.').next()? {
        "py" => "\ndef ",
        "go" => "\nfunc ",
        "js" | "ts" | "tsx" | "jsx" => "\nfunction ",
        "rs" => "\nfn ",
        _ => return None,
    };
    let at = text.find(word)?;
    Some((at + 1, at + word.len()))
}

fn add_statement(path: &str, text: &str, number: usize) -> Option<String> {
    let (starts, ends, statement) = match path.rsplit('.').next()? {
        "py" => (["def ", "    def "], "):", "print(len(\"NUMBER\"))"),
        "go" => (["func ", "func "], "{", "println(len(\"NUMBER\"))"),
        "js" | "ts" | "tsx" | "jsx" => (["function ", "export function "], "{", "console.log(\"NUMBER\");"),
        "rs" => (["fn ", "    pub fn "], "{", "drop(\"NUMBER\");"),
        "c" => (["{", "{"], "{", "printk(\"NUMBER\");"),
        _ => return None,
    };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let trimmed = line.trim_end();
        if starts.iter().any(|start| line.starts_with(start)) && trimmed.ends_with(ends) {
            let indent = " ".repeat(line.len() - line.trim_start().len() + 4);
            let statement = statement.replace("NUMBER", &number.to_string());
            return Some(format!("{}{indent}{statement}\n{}", &text[..at], &text[at..]));
        }
    }
    None
}

fn run_ctags(tree: &Path, paths: &[String]) -> Result<Option<Cost>, Failure> {
    let installed = Command::new("ctags")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !installed.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let list = tree.with_file_name("files");
    fs::write(&list, paths.join("\n"))?;
    let before = children_cpu();
    let began = Instant::now();
    let status = Command::new("ctags")
        .current_dir(tree)
        .args(["-f", "/dev/null", "-L"])
        .arg(&list)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let cost = Cost {
        wall_seconds: began.elapsed().as_secs_f64(),
        cpu_seconds: children_cpu() - before,
        peak_memory_bytes: 0,
    };
    Ok(status.success().then_some(cost))
}

/// CPU of the children that ended so far.
fn children_cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|field| field.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(13) + ticks(14)) / 100.0
}

fn run_self(arguments: &[&str]) -> Result<serde_json::Value, Failure> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let result = Command::new(program).args(arguments).stdin(Stdio::null()).output()?;
    if !result.status.success() {
        bail_child(arguments, &result.stderr)?;
    }
    Ok(serde_json::from_slice(&result.stdout)?)
}

fn bail_child(arguments: &[&str], stderr: &[u8]) -> anyhow::Result<()> {
    bail!(
        "`lacon {}` failed: {}",
        arguments.join(" "),
        String::from_utf8_lossy(stderr).trim()
    )
}

/// A directory that goes away with the benchmark.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new(parent: Option<&Path>) -> Result<Scratch, Failure> {
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

/// Copies what would be indexed, and the manifests.
fn copy_sources(root: &Path, to: &Path) -> Result<(), Failure> {
    let failed = std::sync::Mutex::new(None);
    let copy = |path: &str| {
        let relative = unescape_path(path);
        let target = to.join(&relative);
        let parent = target.parent().unwrap_or(to);
        fs::create_dir_all(parent).and_then(|()| fs::copy(root.join(&relative), &target))
    };
    fs::create_dir_all(to)?;
    let root = root
        .canonicalize()
        .with_context(|| format!("cannot read `{}`", root.display()))?;
    each_source(&root, &Config::load(&root)?, &|path, _, _| {
        if let Err(error) = copy(path)
            && let Ok(mut failed) = failed.lock()
        {
            *failed = Some(error);
        }
    })?;
    match failed.into_inner() {
        Ok(Some(error)) => Err(anyhow::Error::new(error).context("cannot copy the tree"))?,
        _ => Ok(()),
    }
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
        row(
            "cold index",
            format!("{} = {:.2}x bare parsing", cost(&self.cold), self.cold_over_parse),
        );
        row(
            "universal-ctags",
            self.ctags.as_ref().map_or("not installed".to_string(), cost),
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
        let edits = [
            ("edit of a body", &self.body_edit),
            ("new definition", &self.definition_edit),
            ("renamed definition", &self.rename_edit),
        ];
        for (what, edit) in edits {
            if let Some(edit) = edit {
                row(
                    what,
                    format!(
                        "p50 {:.0} ms, p95 {:.0} ms, max {:.0} ms; {} files resolved on average",
                        edit.p50_milliseconds, edit.p95_milliseconds, edit.max_milliseconds, edit.files_resolved
                    ),
                );
            }
        }
        row("memory of a watcher", size(self.watcher_peak_memory_bytes));
        table.to_string()
    }
}
