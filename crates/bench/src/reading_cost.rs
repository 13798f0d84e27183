//! `lacon bench reading-cost`: how many tokens a reader takes in, from the top, until a line that the change needs has been shown.
//!
//! A task is what someone wrote about a change, and the lines that the change edited or put something next to, in the tree before it. Each
//! reader reads its answer line by line: `find` page by page, the hits of `search` opened one after the other, the sources of a context, what
//! ripgrep prints for the task's rarest words. Tokens are counted up to the line itself; what comes before it (lists, scores) is read too.

mod readers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use codeintel::Workspace;
use comfy_table::Table;
use serde::{Deserialize, Serialize};
use terminal::failure::Failure;
use terminal::output::Output;

use self::readers::{Gold, Reader, Shown};
use super::context::{Scratch, indexed};

/// Tokens read until a line that a change needs is shown, by find, search, context and ripgrep
#[derive(clap::Args)]
#[command(after_help = "\
A task: {\"repository\": \"owner/name\", \"commit\": \"…\", \"task\": 1, \"text\": \"…\", \"changed\": {\"path\": [[first, last], …]}}. DIR holds each
repository as owner+name/repo (a clone or a git directory), or laid out as owner+name-<12 digits of the commit>/tree.

Examples:
  lacon bench reading-cost clones --tasks tasks.json --keep trees
  lacon bench reading-cost clones --tasks tasks.json --only psf/requests --readers find,search --json")]
pub(crate) struct Args {
    /// Where the repositories are
    #[arg(value_name = "DIR")]
    repositories: PathBuf,

    /// A JSON list of tasks
    #[arg(long, value_name = "FILE")]
    tasks: PathBuf,

    /// Only tasks of these repositories
    #[arg(long, value_name = "OWNER/NAME", value_delimiter = ',')]
    only: Vec<String>,

    /// Only every Nth task of each repository
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,

    /// Which readers
    #[arg(long, value_delimiter = ',', default_value = "find,search,context,ripgrep")]
    readers: Vec<Reader>,

    /// Tokens of a page of find
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    page: u64,

    /// Keep trees and indexes here, to use them again
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Also list the best places of each task with the parts of their scores; implies --json
    #[arg(long, value_name = "N", default_value_t = 0)]
    evidence: usize,

    /// Print JSON, every task included
    #[arg(long)]
    json: bool,
}

/// A change as a task.
#[derive(Clone, Debug, Deserialize)]
struct Task {
    repository: String,
    commit: String,
    task: u64,
    text: String,
    /// By path, ranges of lines.
    changed: BTreeMap<String, Vec<(u32, u32)>>,
}

/// What a task cost each reader.
#[derive(Serialize)]
struct Row {
    repository: String,
    task: u64,
    words: usize,
    costs: BTreeMap<&'static str, Shown>,
    /// How long `find` took for its first page, in milliseconds.
    find_ms: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evidence: Vec<Evidence>,
}

/// A place and what speaks for it.
#[derive(Serialize)]
struct Evidence {
    #[serde(flatten)]
    place: codeintel::find::Weighed,
    is_changed: bool,
}

/// Up to how many tokens the share of tasks is told.
const MARKS: &[usize] = &[300, 600, 1_000, 1_500, 2_000, 3_000, 4_000];

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let text = terminal::input::read_file(&args.tasks)?;
    let tasks: Vec<Task> =
        serde_json::from_str(&text).with_context(|| format!("`{}` is no list of tasks", args.tasks.display()))?;
    let mut by_repository: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    for task in &tasks {
        if args.only.is_empty() || args.only.contains(&task.repository) {
            by_repository.entry(&task.repository).or_default().push(task);
        }
    }
    let scratch = Scratch::new()?;
    let keep = args.keep.clone().unwrap_or_else(|| scratch.path("trees"));
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for tasks in by_repository.values() {
        for task in tasks.iter().step_by(args.every.max(1)) {
            match laid_out(&args.repositories, &keep, task) {
                Ok(folder) => rows.push(ask(&args, task, &folder)?),
                Err(problem) => missing.push(format!("{} at {}: {problem}", task.repository, task.commit)),
            }
        }
    }
    if rows.is_empty() {
        return Err(anyhow!(
            "no tree of any task could be laid out from `{}`",
            args.repositories.display()
        )
        .into());
    }
    if args.json || args.evidence > 0 {
        return output.json(&rows);
    }
    output.line(format!(
        "{} tasks; {} whose tree is not there",
        rows.len(),
        missing.len()
    ));
    missing.iter().take(3).for_each(|problem| output.line(problem));
    output.line(table(&rows, &args.readers).to_string());
    let mut times: Vec<f64> = rows.iter().map(|row| row.find_ms).collect();
    times.sort_by(f64::total_cmp);
    output.line(format!(
        "find, first page: {:.1} ms (p50), {:.1} ms (p90)",
        at(&times, 0.5),
        at(&times, 0.9)
    ));
    Ok(())
}

fn at(sorted: &[f64], share: f64) -> f64 {
    sorted
        .get(((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0.0)
}

/// The folder with the tree of a task, laid out where it is not yet.
fn laid_out(repositories: &Path, keep: &Path, task: &Task) -> anyhow::Result<PathBuf> {
    let name = task.repository.replace('/', "+");
    let commit = task.commit.get(..12).context("the commit is too short")?;
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-_.".contains(&byte))
    };
    if !is_plain(&name) || !is_plain(commit) {
        return Err(anyhow!("expected a repository as owner/name, and a commit"));
    }
    let folder = keep.join(format!("{name}-{commit}"));
    let there = [folder.clone(), repositories.join(format!("{name}-{commit}"))];
    if let Some(known) = there.into_iter().find(|folder| folder.join("tree").is_dir()) {
        return Ok(known);
    }
    let sources = [format!("{name}/repo"), name.clone()].map(|name| repositories.join(name));
    let source = sources
        .iter()
        .find(|path| path.is_dir())
        .context("the repository is not there")?;
    codeintel::git::copy_at(source, &task.commit, &folder.join("tree")).inspect_err(|_| {
        // Half a tree would be taken for a whole one the next time.
        let _ = std::fs::remove_dir_all(&folder);
    })?;
    Ok(folder)
}

fn ask(args: &Args, task: &Task, folder: &Path) -> Result<Row, Failure> {
    let workspace = indexed(&folder.join("tree"), &folder.join("index"))?;
    let gold = Gold::of(&task.changed);
    // The first question opens the search index: what is measured is every other.
    let _ = codeintel::find::weighed(&workspace, "warm", 1);
    let mut costs = BTreeMap::new();
    for reader in &args.readers {
        costs.insert(reader.name(), reader.read(&workspace, &task.text, &gold, args.page)?);
    }
    let started = Instant::now();
    readers::first_page(&workspace, &task.text, args.page)?;
    Ok(Row {
        repository: task.repository.clone(),
        task: task.task,
        words: task.text.split_whitespace().count(),
        costs,
        find_ms: milliseconds(started.elapsed()),
        evidence: evidence(&workspace, task, &gold, args.evidence),
    })
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}

fn evidence(workspace: &Workspace, task: &Task, gold: &Gold, most: usize) -> Vec<Evidence> {
    let places = match most {
        0 => Vec::new(),
        most => codeintel::find::weighed(workspace, &task.text, most),
    };
    let with = |place: codeintel::find::Weighed| Evidence {
        is_changed: (place.first..=place.last).any(|line| gold.holds(&place.path, line)),
        place,
    };
    places.into_iter().map(with).collect()
}

fn table(rows: &[Row], readers: &[Reader]) -> Table {
    let mut table = Table::new();
    let marks = MARKS.iter().map(|mark| format!("≤ {mark}"));
    let heads = ["reader".to_owned()].into_iter().chain(marks);
    table.set_header(heads.chain(["median", "median where shown", "p90 where shown", "never"].map(str::to_owned)));
    for reader in readers {
        let costs: Vec<Option<usize>> = rows
            .iter()
            .map(|row| row.costs.get(reader.name()).and_then(|shown| shown.tokens))
            .collect();
        let share = |test: &dyn Fn(usize) -> bool| {
            costs.iter().flatten().filter(|cost| test(**cost)).count() as f64 / costs.len() as f64
        };
        let mut shown: Vec<usize> = costs.iter().flatten().copied().collect();
        shown.sort_unstable();
        let place = |list: &[usize], share: f64| {
            list.get(((list.len() as f64 * share) as usize).min(list.len().saturating_sub(1)))
                .map_or("-".to_owned(), usize::to_string)
        };
        // Over all: a task that is never shown costs more than any other.
        let middle = shown.get(costs.len() / 2).map_or("-".to_owned(), usize::to_string);
        let mut cells = vec![reader.name().to_owned()];
        cells.extend(MARKS.iter().map(|mark| format!("{:.3}", share(&|cost| cost <= *mark))));
        cells.extend([
            middle,
            place(&shown, 0.5),
            place(&shown, 0.9),
            format!("{:.3}", 1.0 - shown.len() as f64 / costs.len() as f64),
        ]);
        table.add_row(cells);
    }
    table
}
