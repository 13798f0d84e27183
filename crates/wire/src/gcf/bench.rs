//! How fast the codec is, against `serde_json` on the same data in the same run: the figures behind the project's claims.
//!
//! Data is generated from a counter, so every run measures the same bytes. The best of several runs counts: noise only adds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A flat row with eight columns, as searches return them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlatRow {
    pub id: u64,
    pub name: String,
    pub kind: String,
    pub file: String,
    pub line: u32,
    pub score: f64,
    pub exported: bool,
    pub signature: String,
}

/// A symbol with everything nested that a code graph has: ranges, call sites, tags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NestedSymbol {
    pub id: String,
    pub kind: String,
    pub location: Location,
    pub calls: Vec<CallSite>,
    pub tags: Vec<String>,
    pub documentation: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Location {
    pub file: String,
    pub start: Position,
    pub end: Position,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallSite {
    pub target: String,
    pub line: u32,
    pub origin: String,
    pub confidence: f64,
}

/// A code graph as one object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CodeGraph {
    pub repository: String,
    pub symbols: Vec<NestedSymbol>,
}

const WORDS: [&str; 8] = [
    "parse", "render", "index", "resolve", "encode", "session", "gateway", "symbol",
];

/// `count` flat rows.
pub fn flat_rows(count: usize) -> Vec<FlatRow> {
    (0..count)
        .map(|row| {
            let (verb, noun) = (WORDS[row % 8], WORDS[row / 8 % 8]);
            FlatRow {
                id: row as u64 * 7919 % 1_000_003,
                name: format!("{verb}_{noun}_{}", row % 97),
                kind: ["function", "method", "type", "const"][row % 4].to_owned(),
                file: format!("crates/{noun}/src/{verb}.rs"),
                line: (row * 37 % 2000) as u32 + 1,
                score: (row * 31 % 1000) as f64 / 1000.0,
                exported: row % 3 == 0,
                signature: format!("fn {verb}_{noun}(input: &str) -> Result<{noun}>"),
            }
        })
        .collect()
}

/// A code graph of `count` symbols with up to five calls each.
pub fn code_graph(count: usize) -> CodeGraph {
    let symbols = (0..count).map(|row| {
        let (verb, noun) = (WORDS[row % 8], WORDS[row / 8 % 8]);
        NestedSymbol {
            id: format!("crates/{noun}/src/{verb}.rs::{verb}_{row}"),
            kind: ["function", "method", "type"][row % 3].to_owned(),
            location: Location {
                file: format!("crates/{noun}/src/{verb}.rs"),
                start: Position {
                    line: row as u32 % 900 + 1,
                    column: 1,
                },
                end: Position {
                    line: row as u32 % 900 + 24,
                    column: 2,
                },
            },
            calls: (0..row % 6)
                .map(|call| CallSite {
                    target: format!("crates/{verb}/src/{noun}.rs::{noun}_{}", row * 13 + call),
                    line: (row + call * 3) as u32,
                    origin: ["lsp_resolved", "ast_resolved", "ast_inferred"][call % 3].to_owned(),
                    confidence: 1.0 - call as f64 / 10.0,
                })
                .collect(),
            tags: (0..row % 3).map(|tag| WORDS[(row + tag) % 8].to_owned()).collect(),
            documentation: (row % 2 == 0).then(|| format!("Turns a {noun} into what {verb} needs, or says why not.")),
        }
    });
    CodeGraph {
        repository: "lacon".to_owned(),
        symbols: symbols.collect(),
    }
}

/// One comparison with `serde_json`. Speeds count bytes of compact JSON, whichever format is meant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Speed {
    pub what: &'static str,
    pub json_bytes: usize,
    pub gcf_bytes: usize,
    pub json_megabytes_per_second: f64,
    pub gcf_megabytes_per_second: f64,
    /// GCF's speed over JSON's.
    pub ratio: f64,
    /// The ratio the project promises.
    pub target: f64,
}

/// Measures encoding of typed values and decoding into JSON values, flat and nested, spending about `per_measure` on each
/// side of each comparison.
pub fn speeds(per_measure: Duration) -> super::Result<Vec<Speed>> {
    let mut speeds = Vec::new();
    compare(
        &mut speeds,
        ["encode flat rows", "decode flat rows"],
        [0.6, 0.8],
        &flat_rows(10_000),
        per_measure,
    )?;
    compare(
        &mut speeds,
        ["encode code graph", "decode code graph"],
        [0.35, 0.5],
        &code_graph(2_000),
        per_measure,
    )?;
    Ok(speeds)
}

fn compare<T: Serialize + DeserializeOwned>(
    speeds: &mut Vec<Speed>,
    names: [&'static str; 2],
    targets: [f64; 2],
    value: &T,
    per_measure: Duration,
) -> super::Result<()> {
    let json_error = |error: serde_json::Error| -> super::Error { serde::ser::Error::custom(error) };
    let json = serde_json::to_string(value).map_err(json_error)?;
    let gcf = super::to_string(value)?;
    let mut push = |what, target, json_time: Duration, gcf_time: Duration| {
        let speed = |time: Duration| json.len() as f64 / 1e6 / time.as_secs_f64();
        speeds.push(Speed {
            what,
            json_bytes: json.len(),
            gcf_bytes: gcf.len(),
            json_megabytes_per_second: speed(json_time),
            gcf_megabytes_per_second: speed(gcf_time),
            ratio: json_time.as_secs_f64() / gcf_time.as_secs_f64(),
            target,
        });
    };
    let (json_time, gcf_time) = race(
        per_measure,
        || black_box(serde_json::to_string(value)).is_ok(),
        || black_box(super::to_string(value)).is_ok(),
    );
    push(names[0], targets[0], json_time, gcf_time);
    let (json_time, gcf_time) = race(
        per_measure,
        || black_box(serde_json::from_str::<Value>(&json)).is_ok(),
        || black_box(super::from_str::<Value>(&gcf)).is_ok(),
    );
    push(names[1], targets[1], json_time, gcf_time);
    Ok(())
}

/// The best time of each, taking turns so that both meet the same noise.
fn race(budget: Duration, mut left: impl FnMut() -> bool, mut right: impl FnMut() -> bool) -> (Duration, Duration) {
    let begin = Instant::now();
    let mut best = (Duration::MAX, Duration::MAX);
    let timed = |run: &mut dyn FnMut() -> bool| {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    };
    while begin.elapsed() < budget * 2 || best.0 == Duration::MAX {
        best.0 = best.0.min(timed(&mut left));
        best.1 = best.1.min(timed(&mut right));
    }
    best
}
