//! How fast a tree answers, and what the approximate scan of its vectors gains and loses.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use codeintel::search_symbols::{Search, search_symbols};
use codeintel::{Repository, Workspace};
use comfy_table::Table;
use index::search::{Mode, Question, Scan, SearchIndex};
use index::snapshot::{Snapshot, SymbolId};
use serde::Serialize;
use terminal::failure::Failure;

use super::{Scratch, index_of};

/// How fast a tree answers.
#[derive(Serialize)]
pub(super) struct Speed {
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
    scans: Scans,
}

/// Both ways to find the nearest vectors, one after the other with the same questions, by meaning alone.
#[derive(Serialize)]
struct Scans {
    /// The way that a tree of this size is searched.
    used: &'static str,
    exact_p50_ms: f64,
    approximate_p50_ms: f64,
    /// The share of the exact scan's ten best that the approximate one finds.
    approximate_recall_at_10: f64,
    questions: usize,
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

/// Indexes a tree, in `keep` where that is given, and asks.
pub(super) fn measure(tree: &Path, keep: Option<&Path>) -> Result<Speed, Failure> {
    let directory = Scratch::new()?;
    let place = match keep {
        Some(keep) => keep.join(tree.canonicalize()?.file_name().unwrap_or_default()),
        None => directory.path.join("index"),
    };
    let snapshot = index_of(tree, &place)?;
    let index_bytes = std::fs::metadata(place.join("search")).map_or(0, |metadata| metadata.len());
    let began = Instant::now();
    let mut index = SearchIndex::beside(&snapshot);
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
    let scans = scans(&snapshot, &mut index, &names);
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
        scans,
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

/// Asks by meaning with either scan.
fn scans(snapshot: &Snapshot, index: &mut SearchIndex, names: &[String]) -> Scans {
    let used = index.scan();
    let questions: Vec<&str> = ASKED_OF_TREES
        .iter()
        .copied()
        .chain(names.iter().map(String::as_str))
        .collect();
    let mut ask = |scan: Scan| {
        index.use_scan(scan);
        let mut times = Vec::new();
        let mut found: Vec<Vec<SymbolId>> = Vec::new();
        for text in &questions {
            let question = Question {
                text,
                limit: 10,
                mode: Mode::Semantic,
                accept: None,
            };
            let began = Instant::now();
            let hits = index.search(snapshot, &question);
            times.push(began.elapsed());
            found.push(hits.into_iter().map(|hit| hit.symbol).collect());
        }
        (percentile(&mut times, 50), found)
    };
    let (exact_p50_ms, exact) = ask(Scan::Exact);
    let (approximate_p50_ms, approximate) = ask(Scan::Approximate);
    index.use_scan(used);
    let all: usize = exact.iter().map(Vec::len).sum();
    let both = exact.iter().zip(&approximate);
    let kept: usize = both
        .map(|(exact, found)| exact.iter().filter(|symbol| found.contains(symbol)).count())
        .sum();
    Scans {
        used: match used {
            Scan::Exact => "exact",
            Scan::Approximate => "approximate",
        },
        exact_p50_ms,
        approximate_p50_ms,
        approximate_recall_at_10: kept as f64 / all.max(1) as f64,
        questions: questions.len(),
    }
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

/// All trees for a person, and below them the two scans.
pub(super) fn table(speeds: &[Speed]) -> String {
    let mut answers = Table::new();
    answers.set_header([
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
    let mut scans = Table::new();
    scans.set_header([
        "tree",
        "chunks",
        "scan of vectors in use",
        "exact p50 ms",
        "approximate p50 ms",
        "its recall@10",
    ]);
    for row in speeds {
        answers.add_row([
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
        scans.add_row([
            row.tree.clone(),
            row.chunks.to_string(),
            row.scans.used.to_string(),
            row.scans.exact_p50_ms.to_string(),
            row.scans.approximate_p50_ms.to_string(),
            format!("{:.3}", row.scans.approximate_recall_at_10),
        ]);
    }
    format!("{answers}\n{scans}")
}
