//! `lacon bench context`: how well a context finds what a change touched, from the history of a repository, beside plain BM25.
//!
//! A task is what someone wrote about a change (a commit's message, or the head of a patch file); the answer is the files and
//! symbols that the change touched. The tree is searched as it was before any of the changes. The same run counts how well budgets are
//! filled, how long a question takes, and what a second question costs after one file was edited.

mod bm25;
mod edits;
mod tasks;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, anyhow};
use codeintel::context::{ranked_files, ranked_symbols};
use codeintel::{Derived, Repository, Workspace};
use index::build::{Indexer, Options, open_snapshot};
use serde_json::{Map, Value, json};
use server::tools::answer::answer;
use server::tools::{self, Desk, Services, Wish, failure};
use terminal::failure::Failure;
use terminal::output::Output;
use wire::Format;
use wire::tokens::Tokenizer;

use self::bm25::Bm25;
pub(super) use self::edits::read_pack;
use self::tasks::Task;

/// Recall, budgets, latency and deltas of contexts, on the history of a repository
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench context ~/src/shop --since v2.0             # commits after v2.0, on the tree of v2.0
  lacon bench context exim4-4.96 --patches debian/patches  # patch files, on the tree they apply to
  lacon bench context kubernetes --texts notes.txt         # a task a line: budgets, latency and deltas alone

A tree that is given is edited for the deltas, and every edit is taken back.")]
pub(crate) struct Args {
    /// A git repository, or with --patches a tree
    #[arg(value_name = "DIR")]
    root: PathBuf,

    /// The commit whose tree is searched; the commits after it are the tasks
    #[arg(long, value_name = "COMMIT", required_unless_present_any = ["patches", "texts"])]
    since: Option<String>,

    /// Take tasks from the patch files in this directory instead of from git
    #[arg(long, value_name = "DIR", conflicts_with = "since")]
    patches: Option<PathBuf>,

    /// Take tasks from this file, one a line; what they should find is not known
    #[arg(long, value_name = "FILE", conflicts_with_all = ["since", "patches"])]
    texts: Option<PathBuf>,

    /// Tasks at most
    #[arg(long, value_name = "N", default_value_t = 200)]
    tasks: usize,

    /// Re-queries after an edit of one file, at most; five kinds of edits in turn
    #[arg(long, value_name = "N", default_value_t = 20)]
    edits: usize,

    /// Which tasks and places are edited: another number, other edits (0: the tasks in turn)
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Budgets to fill for each task
    #[arg(
        long,
        value_name = "TOKENS",
        value_delimiter = ',',
        default_value = "1000,5000,10000,20000"
    )]
    budgets: Vec<u64>,

    /// Keep the index of the tree here, to use it again
    #[arg(long, value_name = "DIR")]
    keep_index: Option<PathBuf>,

    /// Print JSON, every task included
    #[arg(long)]
    json: bool,
}

/// Files that count as found.
const FIRST: usize = 10;

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let (tree, mut tasks) = match (&args.patches, &args.texts, &args.since) {
        (Some(patches), _, _) => (args.root.clone(), tasks::from_patches(patches)?),
        (None, Some(texts), _) => (args.root.clone(), tasks::from_lines(texts)?),
        (None, None, Some(since)) => {
            let tree = scratch.path("tree");
            tasks::checkout(&args.root, since, &tree)?;
            (tree, tasks::from_commits(&args.root, since)?)
        }
        (None, None, None) => return Err(anyhow!("give --since, --patches or --texts").into()),
    };
    let index = args.keep_index.clone().unwrap_or_else(|| scratch.path("index"));
    let started = Instant::now();
    let workspace = indexed(&tree, &index)?;
    let indexing = started.elapsed();
    let snapshot = &workspace.repositories()[0].snapshot;
    for task in &mut tasks {
        task.files.retain(|path| snapshot.find_file(path).is_some());
    }
    if args.texts.is_none() {
        tasks.retain(|task| !task.files.is_empty() && task.files.len() <= FIRST);
    }
    tasks.truncate(args.tasks);
    if tasks.is_empty() {
        return Err(anyhow!("no change touches an indexed file of the tree")).map_err(Failure::from);
    }
    let found = match args.texts {
        Some(_) => Value::Null,
        None => retrieval(&workspace, &Bm25::of(&workspace), &tasks)?,
    };
    let budgets = budgets(&workspace, &tasks, &args.budgets)?;
    let deltas = edits::deltas(&tree, &index, &tasks, args.edits, args.seed)?;
    let totals = snapshot.totals();
    let answer = json!({
        "lines": totals.lines, "files": snapshot.file_count(), "tasks": tasks.len(), "indexing_seconds": indexing.as_secs_f64().round(),
        "retrieval": found, "budgets": budgets, "deltas": deltas,
    });
    if args.json {
        return output.json(&answer);
    }
    let show = |value: &Value| value.as_f64().map_or("-".to_string(), |number| format!("{number:.3}"));
    output.line(format!(
        "{} tasks, {} lines in {} files",
        tasks.len(),
        totals.lines,
        snapshot.file_count()
    ));
    if !found.is_null() {
        output.line(format!(
            "recall@{FIRST} of files: {} (plain BM25 {}, {} times as much); mean reciprocal rank {} ({})",
            show(&found["recall"]),
            show(&found["recall_bm25"]),
            show(&found["times"]),
            show(&found["mrr"]),
            show(&found["mrr_bm25"])
        ));
        output.line(format!(
            "recall of symbols: {} among the first {FIRST}, {} among the first {FIRST_SYMBOLS}, over {} tasks",
            show(&found["symbol_recall_10"]),
            show(&found["symbol_recall_30"]),
            found["symbol_tasks"]
        ));
    }
    for row in budgets.as_array().into_iter().flatten() {
        output.line(format!(
            "budget {:>6}: used {} at least, {} on average; exceeded {} times; under 90 % {} times; {} ms (p50), {} ms (p99)",
            row["budget"], show(&row["least"]), show(&row["mean"]), row["exceeded"], row["underfilled"], show(&row["p50_ms"]), show(&row["p99_ms"])
        ));
    }
    if args.edits > 0 {
        output.line(
            "re-query after an edit of one file, as a share of the whole pack (every delta was applied and compared):",
        );
        let kinds = deltas["kinds"].as_array().into_iter().flatten();
        for row in kinds.chain([&deltas]) {
            output.line(format!(
                "  {:<14} {} on average, {} (p95), {} at most; {} of {} above 15 %",
                row["edit"].as_str().unwrap_or("all"),
                show(&row["mean"]),
                show(&row["p95"]),
                show(&row["most"]),
                row["above_15_percent"],
                row["edits"]
            ));
        }
    }
    Ok(())
}

/// Brings the index of a tree up to date and opens it.
pub(super) fn indexed(tree: &Path, index: &Path) -> Result<Workspace, Failure> {
    let options = Options {
        directory: Some(index.to_path_buf()),
        ..Options::default()
    };
    let mut indexer = Indexer::open(tree, options)?;
    indexer.build()?;
    drop(indexer);
    Ok(Workspace::new(vec![Repository {
        name: "tree".to_string(),
        root: tree.canonicalize()?,
        snapshot: std::sync::Arc::new(open_snapshot(tree, Some(index))?),
        incomplete: None,
        derived: Derived::default(),
    }]))
}

/// Symbols that count as found.
const FIRST_SYMBOLS: usize = 30;

/// Recall of both rankings over the same tasks.
fn retrieval(workspace: &Workspace, bm25: &Bm25, tasks: &[Task]) -> Result<Value, Failure> {
    let (mut ours, mut plain, mut symbols) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows = Vec::new();
    for task in tasks {
        let found = ranked_files(workspace, &task.text, FIRST).map_err(|error| anyhow!("{error}"))?;
        let baseline = bm25.search(&task.text, FIRST);
        let first = |files: &[String]| {
            let place = files.iter().position(|path| task.files.contains(path));
            place.map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
        };
        ours.push((share(&task.files, &found), first(&found)));
        plain.push((share(&task.files, &baseline), first(&baseline)));
        let changed = tasks::symbols(workspace, task);
        if !changed.is_empty() {
            let ranked = ranked_symbols(workspace, &task.text, FIRST_SYMBOLS).map_err(|error| anyhow!("{error}"))?;
            let first = ranked.get(..FIRST.min(ranked.len())).unwrap_or_default();
            symbols.push((share(&changed, first), share(&changed, &ranked)));
        }
        rows.push(json!({
            "task": task.name, "files": task.files, "recall": share(&task.files, &found),
            "recall_bm25": share(&task.files, &baseline), "found": found, "symbols": changed,
        }));
    }
    let mean = |list: &[(f64, f64)], part: fn(&(f64, f64)) -> f64| {
        list.iter().map(part).sum::<f64>() / list.len().max(1) as f64
    };
    let (recall, recall_bm25) = (mean(&ours, |one| one.0), mean(&plain, |one| one.0));
    Ok(json!({
        "recall": recall, "recall_bm25": recall_bm25, "times": recall / recall_bm25.max(1e-9),
        "mrr": mean(&ours, |one| one.1), "mrr_bm25": mean(&plain, |one| one.1),
        "symbol_tasks": symbols.len(), "symbol_recall_10": mean(&symbols, |one| one.0),
        "symbol_recall_30": mean(&symbols, |one| one.1), "tasks": rows,
    }))
}

/// The part of `all` that is among `found`.
fn share(all: &[String], found: &[String]) -> f64 {
    all.iter().filter(|one| found.contains(one)).count() as f64 / all.len().max(1) as f64
}

/// How well each budget is filled, and how long that takes.
fn budgets(workspace: &Workspace, tasks: &[Task], budgets: &[u64]) -> Result<Value, Failure> {
    let services = Services::default();
    let desk = desk(workspace, &services);
    // The first question opens the search index: what is measured is every other.
    ask(&desk, &tasks[0].text, 1_000, None)?;
    let mut rows = Vec::new();
    for &budget in budgets {
        let (mut shares, mut times, mut exceeded) = (Vec::new(), Vec::new(), 0);
        for task in tasks {
            let started = Instant::now();
            let texts = ask(&desk, &task.text, budget, None)?;
            times.push(started.elapsed().as_secs_f64() * 1000.0);
            let used = tokens(&texts);
            exceeded += usize::from(used as u64 > budget);
            shares.push(used as f64 / budget as f64);
        }
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() as f64 * share) as usize).min(times.len() - 1)];
        rows.push(json!({
            "budget": budget, "least": shares.iter().copied().fold(1.0, f64::min), "exceeded": exceeded,
            "mean": shares.iter().sum::<f64>() / shares.len() as f64,
            "underfilled": shares.iter().filter(|share| **share < 0.9).count(), "p50_ms": at(0.5), "p99_ms": at(0.99),
        }));
    }
    Ok(rows.into())
}

fn desk<'a>(workspace: &'a Workspace, services: &'a Services) -> Desk<'a> {
    Desk {
        workspace,
        services,
        caller: "bench",
        wish: Wish::default(),
    }
}

/// The texts of a context in GCF.
fn ask(desk: &Desk, task: &str, budget: u64, root: Option<&str>) -> Result<Vec<String>, Failure> {
    let tool = tools::find("context_for_task").ok_or_else(|| anyhow!("no tool for contexts"))?;
    let mut arguments = Map::from_iter([("task".to_string(), task.into()), ("budget".to_string(), budget.into())]);
    if let Some(root) = root {
        arguments.insert("pack_root".into(), root.into());
    }
    let said = answer(tool, desk, arguments, Format::Gcf).map_err(failure)?;
    Ok(std::iter::once(said.text).chain(said.note).collect())
}

fn tokens(texts: &[String]) -> usize {
    texts.iter().map(|text| Tokenizer::O200k.count(text)).sum()
}

/// A directory that goes with the run.
pub(super) struct Scratch {
    directory: PathBuf,
}

impl Scratch {
    pub(super) fn new() -> Result<Scratch, Failure> {
        let directory = std::env::temp_dir().join(format!("lacon-bench-{}", std::process::id()));
        std::fs::create_dir_all(&directory).with_context(|| format!("cannot make `{}`", directory.display()))?;
        Ok(Scratch { directory })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: what is left lies among temporary files.
        drop(std::fs::remove_dir_all(&self.directory));
    }
}
