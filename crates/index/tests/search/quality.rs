//! How good answers are: questions in words, the code that answers them, and a floor under the ranks.
//!
//! Ours are `tests/data/questions.toml` about the code in `tests/data/corpus`, small pieces of programs in several languages with
//! near-duplicates among them. Where `LACON_SHARED` names larger data, every third question of CoSQA's development set is asked in
//! addition, of its answers and every third of its other functions; with `FULL=1` everything is asked of everything and printed,
//! which is what `lacon bench search` measures.
//!
//! `tests/data/search_ranks*.csv` are the committed tables of ranks; `UPDATE_EXPECT=1` rewrites them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use index::build::{Indexer, Options};
use index::search::{Mode, Question};
use index::snapshot::{Snapshot, SymbolView};

const MODES: [(&str, Mode); 3] = [
    ("vectors", Mode::Semantic),
    ("words", Mode::Lexical),
    ("hybrid", Mode::Hybrid),
];

/// How many hits are looked at; an answer beyond has the rank 0.
const DEPTH: usize = 200;

/// A question and what answers it, as symbol ids or as paths.
struct Asked {
    text: String,
    answers: Vec<String>,
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The files of the corpus: those of each text begin with `//- path`.
fn corpus() -> Vec<(String, String)> {
    let mut texts: Vec<PathBuf> = fs::read_dir(data("corpus"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    texts.sort();
    let mut files: Vec<(String, String)> = Vec::new();
    for path in texts {
        for line in fs::read_to_string(path).unwrap().lines() {
            match (line.strip_prefix("//- "), files.last_mut()) {
                (Some(path), _) => files.push((path.to_string(), String::new())),
                (None, Some((_, text))) => {
                    text.push_str(line);
                    text.push('\n');
                }
                (None, None) => panic!("text before the first file"),
            }
        }
    }
    files
}

fn questions() -> BTreeMap<String, Vec<Asked>> {
    let halves: BTreeMap<String, BTreeMap<String, Vec<String>>> =
        toml::from_str(&fs::read_to_string(data("questions.toml")).unwrap()).unwrap();
    let half = |asked: BTreeMap<String, Vec<String>>| {
        let asked = asked.into_iter().map(|(text, answers)| Asked { text, answers });
        asked.collect()
    };
    halves.into_iter().map(|(name, asked)| (name, half(asked))).collect()
}

/// CoSQA: one file per function, and questions with the path of their answer.
fn cosqa(folder: &Path, step: usize) -> (Vec<(String, String)>, Vec<Asked>) {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let functions: BTreeMap<String, u64> = serde_json::from_str(&read("code_idx_map.txt")).unwrap();
    let questions: Vec<serde_json::Value> = serde_json::from_str(&read("cosqa-dev.json")).unwrap();
    let path = |number: u64| format!("{:02}/{number}.py", number % 100);
    let questions: Vec<Asked> = questions
        .iter()
        .step_by(step)
        .map(|question| Asked {
            text: question["doc"].as_str().unwrap().to_string(),
            answers: vec![path(question["retrieval_idx"].as_u64().unwrap())],
        })
        .collect();
    let answer = |number: u64| questions.iter().any(|question| question.answers[0] == path(number));
    let mut functions: Vec<(u64, String)> = functions
        .into_iter()
        .map(|(code, number)| (number, code))
        .filter(|(number, _)| (*number as usize).is_multiple_of(step) || answer(*number))
        .collect();
    functions.sort();
    let files = functions.into_iter().map(|(number, code)| (path(number), code));
    (files.collect(), questions)
}

fn index(files: &[(String, String)], root: &Path) -> Snapshot {
    for (path, text) in files {
        let path = root.join("tree").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
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

/// The rank of the first answer, 0 where none is among the hits that are looked at. `place` says what of a hit is counted once.
fn rank(snapshot: &Snapshot, asked: &Asked, mode: Mode, place: fn(SymbolView<'_>) -> String) -> usize {
    let question = Question {
        text: &asked.text,
        limit: DEPTH,
        mode,
        accept: None,
    };
    let mut places = Vec::new();
    for hit in snapshot.search_index().search(snapshot, &question) {
        let found = place(snapshot.symbol(hit.symbol).unwrap());
        if !places.contains(&found) {
            if asked.answers.contains(&found) {
                return places.len() + 1;
            }
            places.push(found);
        }
    }
    0
}

/// Ranks every question by every mode: the rows of a table, and the mean reciprocal rank by mode.
fn ranks(
    snapshot: &Snapshot,
    name: &str,
    questions: &[Asked],
    place: fn(SymbolView<'_>) -> String,
) -> (String, [f64; MODES.len()]) {
    let mut table = String::new();
    let mut sums = [(0.0, 0usize); MODES.len()];
    for asked in questions {
        for ((_, mode), (sum, in_ten)) in MODES.iter().zip(&mut sums) {
            let rank = rank(snapshot, asked, *mode, place);
            if rank > 0 {
                *sum += 1.0 / rank as f64;
                *in_ten += usize::from(rank <= 10);
            }
            table.push_str(&format!("{rank},"));
        }
        table.push_str(&format!("{}\n", asked.text));
    }
    let count = questions.len() as f64;
    for ((mode, _), (sum, in_ten)) in MODES.iter().zip(sums) {
        eprintln!(
            "{name}, {mode}: MRR {:.4}, recall@10 {:.3} of {count} questions",
            sum / count,
            in_ten as f64 / count
        );
    }
    (table, sums.map(|(sum, _)| sum / count))
}

fn above(name: &str, means: [f64; MODES.len()], floors: [f64; MODES.len()]) {
    for (((mode, _), mean), floor) in MODES.iter().zip(means).zip(floors) {
        assert!(mean >= floor, "{name}, {mode}: MRR {mean:.4} fell below {floor}");
    }
}

/// Compares a table with the committed one.
fn as_committed(file: &str, rows: &str) {
    let table = format!("vectors,words,hybrid,question\n{rows}");
    let path = data(file);
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
        committed.lines().count() == table.lines().count() && moved <= rows.lines().count() / 10,
        "{moved} ranks moved: look at them with UPDATE_EXPECT=1 and git diff, and commit the table if they are better"
    );
}

#[test]
fn ranks_stay_above_the_floor() {
    let directory = tempfile::tempdir().unwrap();
    let snapshot = index(&corpus(), directory.path());
    let questions = questions();
    let unknown: Vec<&String> = questions
        .values()
        .flatten()
        .flat_map(|asked| &asked.answers)
        .filter(|answer| snapshot.find(answer).is_none())
        .collect();
    assert!(unknown.is_empty(), "no such symbols: {unknown:#?}");
    let (tuning, means) = ranks(&snapshot, "tuning", &questions["tuning"], |symbol| symbol.id_string());
    above("tuning", means, [0.82, 0.635, 0.82]);
    let (held_out, means) = ranks(&snapshot, "held out", &questions["held_out"], |symbol| {
        symbol.id_string()
    });
    above("held out", means, [0.71, 0.5, 0.715]);
    as_committed("search_ranks.csv", &(tuning + &held_out));
}

#[test]
fn ranks_of_cosqa_stay_above_the_floor() {
    let Some(folder) = testkit::shared("bench/search") else {
        return;
    };
    let full = std::env::var_os("FULL").is_some();
    let (files, questions) = cosqa(&folder, if full { 1 } else { 3 });
    let directory = tempfile::tempdir().unwrap();
    let snapshot = index(&files, directory.path());
    let (table, means) = ranks(&snapshot, "CoSQA", &questions, |symbol| symbol.path().to_string());
    // The floors and the table are of the smaller set.
    if !full {
        above("CoSQA", means, [0.57, 0.41, 0.575]);
        as_committed("search_ranks_cosqa.csv", &table);
    }
}
