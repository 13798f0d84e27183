//! `lacon bench search`: how good answers are and how fast they come, by words, by meaning and by both.
//!
//! Quality is measured through the whole pipeline: each function of the set becomes a file of a tree in a temporary directory, the
//! tree is indexed, and a question's rank is that of the file it belongs to. Speed is measured on trees given with `--tree`, and on each
//! of them how the approximate scan of vectors compares with the exact one.

mod speed;
mod standard_bm25;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use comfy_table::Table;
use index::build::{Indexer, Options};
use index::search::{Embedder, Mode, Question, SearchIndex, built_in};
use index::snapshot::Snapshot;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::input::read_file;
use crate::output::Output;

use speed::Speed;
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

    /// Keep the indexes of the trees here, one directory each, and use what is there
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

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
        scorecard.speed.push(speed::measure(tree, args.keep.as_deref())?);
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

fn index_of(root: &Path, place: &Path) -> Result<Snapshot, Failure> {
    let options = Options {
        directory: Some(place.to_path_buf()),
        ..Options::default()
    };
    Ok(Indexer::open(root, options)?.build()?.snapshot)
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
        text.push_str(&speed::table(&scorecard.speed));
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
