//! Measures the search index of a tree: what it costs, how large it is, how fast it answers.
//!
//! `cargo run --release -p index --example search_speed -- TREE INDEX_DIR QUERY…`

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for measuring by hand")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use index::build::{Indexer, Options};
use index::search::{Mode, Question, SearchIndex};

fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (root, directory) = (Path::new(&arguments[0]), PathBuf::from(&arguments[1]));
    let without_search = std::env::var_os("WITHOUT").is_some();
    let before = cpu();
    let start = Instant::now();
    let options = Options {
        directory: Some(directory.clone()),
        without_search,
        ..Options::default()
    };
    let mut indexer = Indexer::open(root, options).unwrap();
    let report = indexer.build().unwrap();
    println!(
        "build {:?} cpu {:.2}s peak {} MB extracted {}",
        start.elapsed(),
        cpu() - before,
        peak(),
        report.extracted
    );
    println!("{:?}", report.time);
    let snapshot = report.snapshot;
    drop(indexer);
    let totals = snapshot.totals();
    println!(
        "lines {} bytes {} symbols {}",
        totals.lines,
        totals.bytes,
        snapshot.symbol_count()
    );
    if without_search {
        return;
    }
    let size = std::fs::metadata(directory.join("search")).unwrap().len();
    let start = Instant::now();
    let index = SearchIndex::open(&directory, &snapshot);
    println!(
        "open {:?}; {} chunks, {} bytes, {:.2} of the source, snapshot {}",
        start.elapsed(),
        index.chunk_count(),
        size,
        size as f64 / totals.bytes as f64,
        snapshot.as_bytes().len()
    );
    for query in &arguments[2..] {
        for mode in [Mode::Hybrid, Mode::Semantic, Mode::Lexical] {
            let question = Question {
                text: query,
                limit: 10,
                mode,
                accept: None,
            };
            let mut times: Vec<_> = (0..20)
                .map(|_| {
                    let start = Instant::now();
                    std::hint::black_box(index.search(&snapshot, &question));
                    start.elapsed()
                })
                .collect();
            times.sort();
            println!("{mode:?} {query:?} p50 {:?}", times[10]);
            if mode == Mode::Hybrid {
                for hit in index.search(&snapshot, &question) {
                    println!(
                        "   {:.3} {} {:?}",
                        hit.score,
                        snapshot.symbol(hit.symbol).unwrap().id_string(),
                        hit.why
                    );
                }
            }
        }
    }
}
