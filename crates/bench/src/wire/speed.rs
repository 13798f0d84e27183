//! Speed: typed data encoded and texts decoded, each as a ratio to `serde_json` on the same data in the same run.
//!
//! The fastest of several rounds is taken, with the formats alternating, so that a busy machine slows all of them alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;
use terminal::failure::Failure;

/// One format on one data set.
#[derive(Serialize)]
pub(crate) struct Speed {
    pub(crate) data: &'static str,
    pub(crate) format: &'static str,
    /// Megabytes of equivalent compact JSON per second.
    pub(crate) encode_mb_s: f64,
    pub(crate) encode_ratio: f64,
    pub(crate) decode_mb_s: f64,
    pub(crate) decode_ratio: f64,
}

const ROUNDS: usize = 25;

/// Measures every format on flat rows and on a nested code graph.
pub(crate) fn measure() -> Result<Vec<Speed>, Failure> {
    let mut speeds = measure_one("flat 10,000 × 8", &flat_rows(10_000))?;
    speeds.extend(measure_one("nested 2,000 nodes", &code_graph(2_000))?);
    Ok(speeds)
}

fn measure_one<T: Serialize>(data: &'static str, value: &T) -> Result<Vec<Speed>, Failure> {
    let json = serde_json::to_string(value)?;
    let gcx = wire::gcx::to_string("bench", value)?;
    let gcf = wire::gcf::to_string(value)?;
    let mut encode = [Duration::MAX; 3];
    let mut decode = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        time(&mut encode[0], || {
            serde_json::to_string(black_box(value)).map(|text| text.len()).ok()
        });
        time(&mut encode[1], || {
            wire::gcx::to_string("bench", black_box(value))
                .map(|text| text.len())
                .ok()
        });
        time(&mut encode[2], || {
            wire::gcf::to_string(black_box(value)).map(|text| text.len()).ok()
        });
        time(&mut decode[0], || serde_json::from_str::<Value>(black_box(&json)).ok());
        time(&mut decode[1], || wire::gcx::from_str(black_box(&gcx)).ok());
        time(&mut decode[2], || wire::gcf::from_str::<Value>(black_box(&gcf)).ok());
    }
    let rate = |time: Duration| json.len() as f64 / 1e6 / time.as_secs_f64();
    let ratio = |times: &[Duration; 3], at: usize| times[0].as_secs_f64() / times[at].as_secs_f64();
    let formats = ["JSON", "GCX1", "GCF"].into_iter().enumerate();
    Ok(formats
        .map(|(at, format)| Speed {
            data,
            format,
            encode_mb_s: rate(encode[at]),
            encode_ratio: ratio(&encode, at),
            decode_mb_s: rate(decode[at]),
            decode_ratio: ratio(&decode, at),
        })
        .collect())
}

/// Keeps the shortest time. The result is dropped outside of the measurement.
fn time<T>(best: &mut Duration, work: impl FnOnce() -> T) {
    let start = Instant::now();
    let result = black_box(work());
    *best = (*best).min(start.elapsed());
    drop(result);
}

#[derive(Serialize)]
struct FlatRow {
    id: String,
    kind: &'static str,
    name: String,
    path: String,
    line: u64,
    end_line: u64,
    score: f64,
    exported: bool,
}

fn flat_rows(count: u64) -> Vec<FlatRow> {
    (0..count)
        .map(|n| FlatRow {
            id: format!("internal/pkg{}/file{}.go::Handler.Method{n}", n % 40, n % 300),
            kind: ["function", "method", "type", "interface"][(n % 4) as usize],
            name: format!("Method{n}"),
            path: format!("internal/pkg{}/file{}.go", n % 40, n % 300),
            line: n % 1500 + 1,
            end_line: n % 1500 + 20,
            score: (n % 1000) as f64 / 1000.0,
            exported: n % 3 == 0,
        })
        .collect()
}

#[derive(Serialize)]
struct GraphNode {
    id: String,
    kind: &'static str,
    range: Range,
    meta: Meta,
    edges: Vec<GraphEdge>,
}

#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: u64,
    character: u64,
}

#[derive(Serialize)]
struct Meta {
    language: &'static str,
    exported: bool,
    doc: Option<String>,
    tags: Vec<&'static str>,
}

#[derive(Serialize)]
struct GraphEdge {
    to: String,
    kind: &'static str,
    confidence: f64,
}

fn code_graph(count: u64) -> Vec<GraphNode> {
    (0..count)
        .map(|n| GraphNode {
            id: format!("src/module{}/item{n}.rs::Item{n}.run", n % 25),
            kind: ["function", "method", "type"][(n % 3) as usize],
            range: Range {
                start: Position {
                    line: n % 900,
                    character: n % 40,
                },
                end: Position {
                    line: n % 900 + 12,
                    character: 1,
                },
            },
            meta: Meta {
                language: "rust",
                exported: n % 2 == 0,
                doc: (n % 3 == 0).then(|| format!("Runs item {n} and reports \"what\" it found.")),
                tags: ["async", "public", "deprecated"][..(n % 4).min(3) as usize].to_vec(),
            },
            edges: (0..n % 4)
                .map(|edge| GraphEdge {
                    to: format!("src/module{}/item{}.rs::Item{}.run", edge, n + edge, n + edge),
                    kind: ["calls", "references"][(edge % 2) as usize],
                    confidence: 0.5 + (edge as f64) / 10.0,
                })
                .collect(),
        })
        .collect()
}
