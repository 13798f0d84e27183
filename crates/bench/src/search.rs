//! `lacon bench search`: how good answers are and how fast they come, by words, by meaning and by both.
//!
//! Quality is measured through the whole pipeline: a set's files are written into a temporary directory, the tree is indexed, and a
//! question's rank is that of the symbol or file that answers it. Speed is measured on trees given with `--tree`, and on each of them
//! how the approximate scan of vectors compares with the exact one.

mod sets;
mod speed;
mod standard_bm25;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use comfy_table::Table;
use index::build::{Indexer, Options};
use index::search::{Embedder, Mode, Question, built_in};
use index::snapshot::Snapshot;
use serde::Serialize;
use terminal::failure::Failure;
use terminal::output::Output;

use sets::{Asked, Set};
use speed::Speed;
use standard_bm25::StandardBm25;

/// Measure search: mean reciprocal rank and recall, embedding throughput, latency
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench search
  lacon bench search --functions code_idx_map.txt --questions cosqa-dev.json
  lacon bench search --no-questions --tree ../django --tree ../sympy
  lacon bench search --pairs held-out/go.jsonl --json")]
pub(crate) struct Args {
    /// CoSQA instead of the built-in questions: its functions, a JSON object from code to number
    #[arg(long, value_name = "FILE", requires = "questions")]
    functions: Option<PathBuf>,

    /// CoSQA: the questions, a JSON list of `{doc, retrieval_idx}`
    #[arg(long, value_name = "FILE", requires = "functions")]
    questions: Option<PathBuf>,

    /// Sets instead of the built-in questions: lines of `{doc, code}`, named after their language; the first thousand are asked
    #[arg(long, value_name = "FILE")]
    pairs: Vec<PathBuf>,

    /// Trees to time searches on; they are indexed in a temporary directory
    #[arg(long, value_name = "DIR")]
    tree: Vec<PathBuf>,

    /// Keep the indexes of the trees here, one directory each, and use what is there
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Measure speed alone: ask no questions
    #[arg(long, conflicts_with_all = ["functions", "pairs"])]
    no_questions: bool,

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

const MODES: [(&str, Mode); 3] = [
    ("vectors", Mode::Semantic),
    ("words (own BM25: stems, names weigh more)", Mode::Lexical),
    ("hybrid", Mode::Hybrid),
];

/// Hits that are looked at; a rank beyond counts as none.
const DEPTH: usize = 200;

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let mut scorecard = Scorecard::default();
    let mut sets = Vec::new();
    if let (Some(functions), Some(questions)) = (&args.functions, &args.questions) {
        sets.push(sets::cosqa(functions, questions)?);
    }
    for path in &args.pairs {
        sets.push(sets::pairs(path)?);
    }
    if sets.is_empty() && !args.no_questions {
        sets = sets::built_in()?;
    }
    for set in &sets {
        scorecard.quality.extend(quality(set)?);
    }
    if let Some(set) = sets.first() {
        scorecard.documents_per_second = Some(throughput(&set.files));
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

fn quality(set: &Set) -> Result<Vec<Quality>, Failure> {
    let directory = Scratch::new()?;
    let root = directory.path.join("tree");
    for (path, text) in &set.files {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)?;
    }
    let snapshot = index_of(&root, &directory.path.join("index"))?;
    let documents = sets::documents(set, &snapshot);
    let texts: Vec<&str> = documents.iter().map(|(_, text)| &**text).collect();
    let standard = StandardBm25::new(&texts);
    let mut found = vec![measured(set, documents.len(), "words (standard BM25)", |asked| {
        let answers = documents
            .iter()
            .enumerate()
            .filter(|(_, (place, _))| asked.answers.contains(place));
        let ranks = answers.filter_map(|(number, _)| standard.rank(&asked.text, number));
        ranks.min_by(f64::total_cmp).filter(|rank| *rank <= DEPTH as f64)
    })];
    for (name, mode) in MODES {
        found.push(measured(set, documents.len(), name, |asked| {
            rank_of(&snapshot, set, asked, mode).map(|rank| rank as f64)
        }));
    }
    let base = found[0].mean_reciprocal_rank.max(f64::MIN_POSITIVE);
    for quality in &mut found {
        quality.over_standard_bm25 = quality.mean_reciprocal_rank / base;
    }
    Ok(found)
}

/// The ranks of all answers of a set, summed up.
fn measured(set: &Set, functions: usize, mode: &'static str, rank: impl Fn(&Asked) -> Option<f64>) -> Quality {
    let (mut reciprocal, mut in_ten) = (0.0, 0usize);
    for asked in &set.questions {
        let rank = rank(asked);
        reciprocal += rank.map_or(0.0, |rank| 1.0 / rank);
        in_ten += usize::from(rank.is_some_and(|rank| rank <= 10.0));
    }
    let count = set.questions.len().max(1) as f64;
    Quality {
        set: set.name.clone(),
        functions,
        questions: set.questions.len(),
        mode,
        mean_reciprocal_rank: reciprocal / count,
        recall_at_10: in_ten as f64 / count,
        over_standard_bm25: 1.0,
    }
}

/// The rank of the first hit that answers a question, symbols or files counted once.
fn rank_of(snapshot: &Snapshot, set: &Set, asked: &Asked, mode: Mode) -> Option<usize> {
    let question = Question {
        text: &asked.text,
        limit: DEPTH,
        mode,
        accept: None,
    };
    let mut seen = Vec::new();
    for hit in snapshot.search_index().search(snapshot, &question) {
        let place = set.answered_by.place(snapshot.symbol(hit.symbol)?);
        if !seen.contains(&place) {
            if asked.answers.contains(&place) {
                return Some(seen.len() + 1);
            }
            seen.push(place);
        }
    }
    None
}

/// Documents of five hundred bytes that one core embeds in a second.
fn throughput(files: &[(String, String)]) -> u64 {
    const BYTES: usize = 500;
    let text = files.iter().map(|(_, text)| &**text).collect::<Vec<_>>().join("\n");
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
