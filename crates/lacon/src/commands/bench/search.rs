//! `lacon bench search`: how good answers are and how fast they come, by words, by meaning and by both.
//!
//! Quality is measured through the whole pipeline: each function of the set becomes a file of a tree in a temporary directory, the
//! tree is indexed, and a question's rank is that of the file it belongs to. Speed is measured on trees given with `--tree`.

mod standard_bm25;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use codeintel::search_symbols::{Search, search_symbols};
use codeintel::{Repository, Workspace};
use comfy_table::Table;
use index::build::{Indexer, Options};
use index::search::{Embedder, Mode, Question, SearchIndex, built_in};
use index::snapshot::Snapshot;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::input::read_file;
use crate::output::Output;

use standard_bm25::StandardBm25;

/// Measure search: mean reciprocal rank and recall, embedding throughput, latency
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench search
  lacon bench search --tree ../django --tree ../sympy
  lacon bench search --pairs held-out/go.jsonl --json")]
pub(crate) struct Args {
    /// CoSQA: the functions, a JSON object from code to number
    #[arg(long, value_name = "FILE", default_value = "../shared/bench/search/code_idx_map.txt")]
    functions: PathBuf,

    /// CoSQA: the questions, a JSON list of `{doc, retrieval_idx}`
    #[arg(long, value_name = "FILE", default_value = "../shared/bench/search/cosqa-dev.json")]
    questions: PathBuf,

    /// Further sets: lines of `{doc, code}`, named after their language; the first thousand are asked
    #[arg(long, value_name = "FILE")]
    pairs: Vec<PathBuf>,

    /// Trees to time searches on; they are indexed in a temporary directory
    #[arg(long, value_name = "DIR")]
    tree: Vec<PathBuf>,

    /// Leave CoSQA out
    #[arg(long)]
    no_cosqa: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was measured.
#[derive(Default, Serialize)]
struct Scorecard {
    quality: Vec<Quality>,
    #[serde(skip_serializing_if = "Option::is_none")]
    documents_per_second: Option<u64>,
    speed: Vec<Speed>,
}

/// How good the answers to a set are.
#[derive(Serialize)]
struct Quality {
    set: String,
    functions: usize,
    questions: usize,
    mode: &'static str,
    mean_reciprocal_rank: f64,
    recall_at_10: f64,
    /// The mean reciprocal rank over that of standard BM25.
    over_standard_bm25: f64,
}

/// How fast a tree answers.
#[derive(Serialize)]
struct Speed {
    tree: String,
    lines: u64,
    source_bytes: u64,
    chunks: usize,
    index_bytes: u64,
    open_ms: f64,
    hybrid_p50_ms: f64,
    hybrid_p95_ms: f64,
    by_name_p50_ms: f64,
    by_name_p95_ms: f64,
}

/// Functions with the questions about them.
struct Set {
    name: String,
    extension: String,
    functions: Vec<String>,
    /// Question and number of the function that answers it.
    questions: Vec<(String, usize)>,
}

const MODES: [(&str, Mode); 3] = [
    ("vectors", Mode::Semantic),
    ("words (own BM25: stems, names weigh more)", Mode::Lexical),
    ("hybrid", Mode::Hybrid),
];

/// Questions of a set of pairs that are asked.
const ASKED: usize = 1000;
/// Hits that are looked at; a rank beyond counts as none.
const DEPTH: usize = 200;

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let mut scorecard = Scorecard::default();
    let mut sets = Vec::new();
    if !args.no_cosqa {
        sets.push(cosqa(&args.functions, &args.questions)?);
    }
    for path in &args.pairs {
        sets.push(pairs(path)?);
    }
    for set in &sets {
        scorecard.quality.extend(quality(set)?);
    }
    if let Some(set) = sets.first() {
        scorecard.documents_per_second = Some(throughput(&set.functions));
    }
    for tree in &args.tree {
        scorecard.speed.push(speed(tree)?);
    }
    match args.json {
        true => output.json(&scorecard)?,
        false => output.line(table(&scorecard)),
    }
    Ok(())
}

fn cosqa(functions: &Path, questions: &Path) -> Result<Set, Failure> {
    let numbers: HashMap<String, usize> = serde_json::from_str(&read_file(functions)?).context("the functions")?;
    let mut by_number: Vec<(usize, String)> = numbers.into_iter().map(|(code, number)| (number, code)).collect();
    by_number.sort_unstable();
    let asked: Vec<Value> = serde_json::from_str(&read_file(questions)?).context("the questions")?;
    let mut set = Set {
        name: "CoSQA development".to_string(),
        extension: "py".to_string(),
        functions: Vec::new(),
        questions: Vec::new(),
    };
    for question in &asked {
        let text = question["doc"].as_str().unwrap_or_default();
        let answer = question["retrieval_idx"].as_u64().unwrap_or(u64::MAX) as usize;
        let at = by_number
            .binary_search_by_key(&answer, |(number, _)| *number)
            .map_err(|_| anyhow!("no function has the number {answer}"))?;
        set.questions.push((text.to_string(), at));
    }
    set.functions = by_number.into_iter().map(|(_, code)| code).collect();
    Ok(set)
}

fn pairs(path: &Path) -> Result<Set, Failure> {
    let name = path.file_stem().map_or("pairs".into(), |name| name.to_string_lossy());
    let extension = match &*name {
        "python" => "py",
        "javascript" => "js",
        "typescript" => "ts",
        "rust" => "rs",
        "ruby" => "rb",
        other => other,
    };
    let mut set = Set {
        extension: extension.to_string(),
        name: name.to_string(),
        functions: Vec::new(),
        questions: Vec::new(),
    };
    for line in read_file(path)?.lines() {
        let pair: Value = serde_json::from_str(line).context("a pair")?;
        let text = |name: &str| pair[name].as_str().unwrap_or_default().to_string();
        if set.questions.len() < ASKED {
            set.questions.push((text("doc"), set.functions.len()));
        }
        // PHP is told from text by its tag.
        set.functions.push(match extension {
            "php" => format!("<?php\n{}", text("code")),
            _ => text("code"),
        });
    }
    Ok(set)
}

fn quality(set: &Set) -> Result<Vec<Quality>, Failure> {
    let directory = Scratch::new()?;
    let root = directory.path.join("tree");
    for (number, code) in set.functions.iter().enumerate() {
        let folder = root.join(format!("{:02}", number % 100));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("{number}.{}", set.extension)), code)?;
    }
    let snapshot = index_of(&root, &directory.path.join("index"))?;
    let index = snapshot.search_index();
    let standard = StandardBm25::new(&set.functions);
    let mut found = vec![measured(set, "words (standard BM25)", |text, answer| {
        standard.rank(text, answer).filter(|rank| *rank <= DEPTH as f64)
    })];
    for (name, mode) in MODES {
        found.push(measured(set, name, |text, answer| {
            rank_of(&snapshot, index, text, mode, answer).map(|rank| rank as f64)
        }));
    }
    let base = found[0].mean_reciprocal_rank.max(f64::MIN_POSITIVE);
    for quality in &mut found {
        quality.over_standard_bm25 = quality.mean_reciprocal_rank / base;
    }
    Ok(found)
}

/// The ranks of all answers of a set, summed up.
fn measured(set: &Set, mode: &'static str, rank: impl Fn(&str, usize) -> Option<f64>) -> Quality {
    let (mut reciprocal, mut in_ten) = (0.0, 0usize);
    for (text, answer) in &set.questions {
        let rank = rank(text, *answer);
        reciprocal += rank.map_or(0.0, |rank| 1.0 / rank);
        in_ten += usize::from(rank.is_some_and(|rank| rank <= 10.0));
    }
    let count = set.questions.len().max(1) as f64;
    Quality {
        set: set.name.clone(),
        functions: set.functions.len(),
        questions: set.questions.len(),
        mode,
        mean_reciprocal_rank: reciprocal / count,
        recall_at_10: in_ten as f64 / count,
        over_standard_bm25: 1.0,
    }
}

/// The rank of the first hit in the file of a function, files counted once.
fn rank_of(snapshot: &Snapshot, index: &SearchIndex, text: &str, mode: Mode, answer: usize) -> Option<usize> {
    let question = Question {
        text,
        limit: DEPTH,
        mode,
        accept: None,
    };
    let mut seen = Vec::new();
    for hit in index.search(snapshot, &question) {
        let file = snapshot.symbol(hit.symbol)?.file()?;
        if !seen.contains(&file.id()) {
            seen.push(file.id());
            let name = file.path().rsplit('/').next()?.split('.').next()?;
            if name.parse() == Ok(answer) {
                return Some(seen.len());
            }
        }
    }
    None
}

/// Documents of five hundred bytes that one core embeds in a second.
fn throughput(functions: &[String]) -> u64 {
    const BYTES: usize = 500;
    let text = functions.join("\n");
    let mut documents: Vec<&str> = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let mut end = (start + BYTES).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        documents.push(&text[start..end]);
        start = end;
    }
    let table = built_in();
    let (mut done, began) = (0, Instant::now());
    while began.elapsed() < Duration::from_secs(2) {
        let _vectors = std::hint::black_box(table.embed(&documents));
        done += documents.len();
    }
    (done as f64 / began.elapsed().as_secs_f64()) as u64
}

/// Asked of every tree: prose, phrases and identifiers as people type them.
const ASKED_OF_TREES: &[&str] = &[
    "parse a configuration file",
    "retry a request after a timeout",
    "where is the cache invalidated",
    "convert a string to a number",
    "validate user input",
    "open a database connection",
    "close idle connections",
    "write the result to a file",
    "compare two versions",
    "handle an error and log it",
    "serialize to json",
    "render a template",
    "check permissions of the current user",
    "sort by key",
    "simplify an expression",
    "compute the determinant of a matrix",
    "health check of a service",
    "http handler for the api",
    "watch for changes",
    "get_queryset",
    "NewClient",
    "toString",
];

fn speed(tree: &Path) -> Result<Speed, Failure> {
    let directory = Scratch::new()?;
    let place = directory.path.join("index");
    let snapshot = index_of(tree, &place)?;
    let index_bytes = std::fs::metadata(place.join("search")).map_or(0, |metadata| metadata.len());
    let began = Instant::now();
    let index = SearchIndex::beside(&snapshot);
    let open = began.elapsed();
    let mut hybrid = Vec::new();
    for _ in 0..5 {
        for text in ASKED_OF_TREES {
            let question = Question {
                text,
                limit: 10,
                mode: Mode::Hybrid,
                accept: None,
            };
            let began = Instant::now();
            std::hint::black_box(index.search(&snapshot, &question));
            hybrid.push(began.elapsed());
        }
    }
    let totals = snapshot.totals();
    let chunks = index.chunk_count();
    let names: Vec<String> = sampled_names(&snapshot);
    let workspace = Workspace::new(vec![Repository {
        name: "tree".to_string(),
        root: tree.to_path_buf(),
        snapshot: snapshot.into(),
        incomplete: None,
        derived: Default::default(),
    }]);
    let mut by_name = Vec::new();
    for query in names {
        let ask = Search {
            query,
            ..Search::default()
        };
        let began = Instant::now();
        let found = search_symbols(&workspace, &ask);
        by_name.push(began.elapsed());
        if found.is_ok_and(|found| found.results.is_empty()) {
            return Err(anyhow!("a name of the tree was not found: {}", ask.query).into());
        }
    }
    Ok(Speed {
        tree: tree.display().to_string(),
        lines: totals.lines,
        source_bytes: totals.bytes,
        chunks,
        index_bytes,
        open_ms: milliseconds(open),
        hybrid_p50_ms: percentile(&mut hybrid, 50),
        hybrid_p95_ms: percentile(&mut hybrid, 95),
        by_name_p50_ms: percentile(&mut by_name, 50),
        by_name_p95_ms: percentile(&mut by_name, 95),
    })
}

/// Names of the tree, whole, as their first half, and with a letter left out.
fn sampled_names(snapshot: &Snapshot) -> Vec<String> {
    let count = snapshot.name_count();
    let mut sampled = Vec::new();
    for number in (0..count).step_by((count / 200).max(1)) {
        let name = snapshot.name_text(number);
        if !name.is_ascii() || name.len() < 6 || name.contains(char::is_whitespace) || name.contains(':') {
            continue;
        }
        sampled.push(match sampled.len() % 3 {
            0 => name.to_string(),
            1 => name[..name.len() / 2 + 1].to_string(),
            _ => format!("{}{}", &name[..name.len() / 2], &name[name.len() / 2 + 1..]),
        });
    }
    sampled.retain(|name| name.chars().any(char::is_alphanumeric));
    sampled
}

fn index_of(root: &Path, place: &Path) -> Result<Snapshot, Failure> {
    let options = Options {
        directory: Some(place.to_path_buf()),
        ..Options::default()
    };
    Ok(Indexer::open(root, options)?.build()?.snapshot)
}

fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let at = times.len() * percent / 100;
    times
        .get(at.min(times.len().saturating_sub(1)))
        .map_or(0.0, |time| milliseconds(*time))
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

fn table(scorecard: &Scorecard) -> String {
    let mut text = String::new();
    if !scorecard.quality.is_empty() {
        let mut table = Table::new();
        table.set_header([
            "set",
            "functions",
            "questions",
            "by",
            "MRR",
            "recall@10",
            "MRR / standard BM25",
        ]);
        for row in &scorecard.quality {
            table.add_row([
                row.set.clone(),
                row.functions.to_string(),
                row.questions.to_string(),
                row.mode.to_string(),
                format!("{:.3}", row.mean_reciprocal_rank),
                format!("{:.3}", row.recall_at_10),
                format!("{:.2}", row.over_standard_bm25),
            ]);
        }
        text.push_str(&table.to_string());
        text.push('\n');
    }
    if let Some(rate) = scorecard.documents_per_second {
        text.push_str(&format!(
            "embeds {rate} documents of 500 bytes per second on one core\n"
        ));
    }
    if !scorecard.speed.is_empty() {
        let mut table = Table::new();
        table.set_header([
            "tree",
            "lines",
            "chunks",
            "index / source",
            "open ms",
            "hybrid p50 ms",
            "p95",
            "by name p50 ms",
            "p95",
        ]);
        for row in &scorecard.speed {
            table.add_row([
                row.tree.clone(),
                row.lines.to_string(),
                row.chunks.to_string(),
                format!("{:.2}", row.index_bytes as f64 / row.source_bytes.max(1) as f64),
                row.open_ms.to_string(),
                row.hybrid_p50_ms.to_string(),
                row.hybrid_p95_ms.to_string(),
                row.by_name_p50_ms.to_string(),
                row.by_name_p95_ms.to_string(),
            ]);
        }
        text.push_str(&table.to_string());
    }
    text.trim_end().to_string()
}

/// A directory that is gone afterwards.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> Result<Scratch, Failure> {
        let name = format!("lacon-bench-search-{}-{:?}", std::process::id(), Instant::now());
        let clean: String = name
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect();
        let path = std::env::temp_dir().join(clean);
        std::fs::create_dir_all(&path)?;
        Ok(Scratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is the system's to clean.
        drop(std::fs::remove_dir_all(&self.path));
    }
}
