//! How good answers are: questions that people asked, functions that answer them, and a floor under the ranks.
//!
//! The questions are every third of CoSQA's development set, the candidates their answers and every third of its other functions.
//! `tests/data/search_ranks.csv` is the committed table of ranks; `UPDATE_EXPECT=1` rewrites it. `FULL=1` asks everything of
//! everything and prints, which is what `lacon bench search` measures.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use index::build::{Indexer, Options};
use index::search::{Mode, Question};
use index::snapshot::Snapshot;

const MODES: [(&str, Mode, f64); 3] = [
    // Below this the search has become worse.
    ("vectors", Mode::Semantic, VECTORS_FLOOR),
    ("words", Mode::Lexical, WORDS_FLOOR),
    ("hybrid", Mode::Hybrid, HYBRID_FLOOR),
];
const VECTORS_FLOOR: f64 = 0.57;
const WORDS_FLOOR: f64 = 0.41;
const HYBRID_FLOOR: f64 = 0.575;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/search")
}

/// Functions by number, and questions with the number of their answer.
fn cosqa(step: usize) -> (BTreeMap<u64, String>, Vec<(String, u64)>) {
    let functions: BTreeMap<String, u64> =
        serde_json::from_str(&fs::read_to_string(data().join("code_idx_map.txt")).unwrap()).unwrap();
    let questions: Vec<serde_json::Value> =
        serde_json::from_str(&fs::read_to_string(data().join("cosqa-dev.json")).unwrap()).unwrap();
    let questions: Vec<(String, u64)> = questions
        .iter()
        .step_by(step)
        .map(|question| {
            (
                question["doc"].as_str().unwrap().to_string(),
                question["retrieval_idx"].as_u64().unwrap(),
            )
        })
        .collect();
    let functions = functions
        .into_iter()
        .map(|(code, number)| (number, code))
        .filter(|(number, _)| {
            (*number as usize).is_multiple_of(step) || questions.iter().any(|(_, answer)| answer == number)
        })
        .collect();
    (functions, questions)
}

fn index(functions: &BTreeMap<u64, String>, root: &Path) -> Snapshot {
    for (number, code) in functions {
        let folder = root.join(format!("tree/{:02}", number % 100));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{number}.py")), code).unwrap();
    }
    let options = Options {
        directory: Some(root.join("index")),
        ..Options::default()
    };
    Indexer::open(&root.join("tree"), options)
        .unwrap()
        .build()
        .unwrap()
        .snapshot
}

/// The rank of the first hit in the file of the answer, 0 where it is not among the first two hundred.
fn rank(snapshot: &Snapshot, text: &str, mode: Mode, answer: u64) -> usize {
    let question = Question {
        text,
        limit: 200,
        mode,
        accept: None,
    };
    let mut files = Vec::new();
    for hit in snapshot.search_index().search(snapshot, &question) {
        let path = snapshot.symbol(hit.symbol).unwrap().path();
        if !files.contains(&path) {
            files.push(path);
            if path.ends_with(&format!("/{answer}.py")) {
                return files.len();
            }
        }
    }
    0
}

#[test]
fn ranks_stay_above_the_floor() {
    let full = std::env::var_os("FULL").is_some();
    let (functions, questions) = cosqa(if full { 1 } else { 3 });
    let directory = tempfile::tempdir().unwrap();
    let snapshot = index(&functions, directory.path());
    let mut table = String::from("vectors,words,hybrid,question\n");
    let mut sums = [(0.0, 0usize); MODES.len()];
    for (text, answer) in &questions {
        for ((_, mode, _), (sum, in_ten)) in MODES.iter().zip(&mut sums) {
            let rank = rank(&snapshot, text, *mode, *answer);
            if rank > 0 {
                *sum += 1.0 / rank as f64;
                *in_ten += usize::from(rank <= 10);
            }
            table.push_str(&format!("{rank},"));
        }
        table.push_str(&format!("{text}\n"));
    }
    let count = questions.len() as f64;
    for ((name, _, floor), (sum, in_ten)) in MODES.iter().zip(sums) {
        let mean = sum / count;
        eprintln!(
            "{name}: MRR {mean:.4}, recall@10 {:.3} of {count} questions",
            in_ten as f64 / count
        );
        // The floors are of the smaller set.
        assert!(full || mean >= *floor, "{name}: MRR {mean:.4} fell below {floor}");
    }
    if full {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/search_ranks.csv");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &table).unwrap();
    }
    // Rounding may differ from one machine to another, which moves a few ranks; a change of the ranking moves many.
    let committed = fs::read_to_string(&path).unwrap();
    let moved = table
        .lines()
        .zip(committed.lines())
        .filter(|(now, then)| now != then)
        .count();
    assert!(
        committed.lines().count() == table.lines().count() && moved <= questions.len() / 10,
        "{moved} ranks moved: look at them with UPDATE_EXPECT=1 and git diff, and commit the table if they are better"
    );
}
