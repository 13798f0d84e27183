//! Measures browsing on any catalog: how often the right tool is found, how fast, and what it costs in tokens.
//! Plain functions; the caller reads the files and prints the card.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::browse::{BrowseRequest, Embedder};
use crate::card;
use crate::catalog::{Catalog, CatalogError, CatalogOptions, Source, source_from_file};
use crate::meta_tools::{Surface, meta_tools};
use crate::tokens;

/// A question and the tools that answer it, by upstream name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Query {
    pub query: String,
    pub expected: Vec<String>,
}

/// What was measured on one catalog. Times are wall-clock on this machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scorecard {
    pub tools: usize,
    pub queries: usize,
    /// Share of the expected tools among the first cards, averaged over queries.
    pub recall_at_1: f64,
    pub recall_at_5: f64,
    /// Mean of one over the rank of the first expected tool; zero beyond rank ten.
    pub mean_reciprocal_rank: f64,
    pub route_p50_microseconds: f64,
    pub route_p95_microseconds: f64,
    /// From definitions in memory to a catalog that answers: the fastest of five.
    pub build_milliseconds: f64,
    /// The same again with nothing changed.
    pub rebuild_milliseconds: f64,
    /// On the text that is really sent, headers included.
    pub tokens_per_card: f64,
    pub tokens_per_browse: f64,
    pub cards_per_browse: f64,
    /// The three meta-tools in `tools/list`.
    pub meta_tool_tokens: usize,
}

/// How deep ranks are looked at.
const DEPTH: usize = 10;

/// Builds a catalog from a file's contents and asks it every query, by meaning too where there is an `embedder`. `rounds` repeats the timing, not the scoring.
pub fn measure(
    file: Value,
    queries: &[Query],
    options: &CatalogOptions,
    embedder: Option<&Arc<dyn Embedder>>,
    rounds: usize,
) -> Result<Scorecard, CatalogError> {
    let source = source_from_file(file);
    let (catalog, build_milliseconds) = fastest_build(&source, options, embedder, None)?;
    let (_, rebuild_milliseconds) = fastest_build(&source, options, embedder, Some(&catalog))?;

    let mut totals = Totals::default();
    for query in queries {
        totals.add(&catalog, query);
    }
    let latencies = route_latencies(&catalog, queries, rounds);
    let listed = serde_json::to_string(&meta_tools(Surface::Gateway, false, false)).unwrap_or_default();
    let mean = |total: f64| {
        if queries.is_empty() {
            0.0
        } else {
            total / queries.len() as f64
        }
    };
    Ok(Scorecard {
        tools: catalog.tools().len(),
        queries: queries.len(),
        recall_at_1: mean(totals.recall_at_1),
        recall_at_5: mean(totals.recall_at_5),
        mean_reciprocal_rank: mean(totals.reciprocal_rank),
        route_p50_microseconds: percentile(&latencies, 0.50),
        route_p95_microseconds: percentile(&latencies, 0.95),
        build_milliseconds,
        rebuild_milliseconds,
        tokens_per_card: if totals.cards == 0 {
            0.0
        } else {
            totals.tokens as f64 / totals.cards as f64
        },
        tokens_per_browse: mean(totals.tokens as f64),
        cards_per_browse: mean(totals.cards as f64),
        meta_tool_tokens: tokens::count(&listed),
    })
}

/// A catalog of `count` tools for timing: the given tools repeated under other names.
pub fn enlarge(file: Value, count: usize) -> Value {
    let tools = source_from_file(file).tools;
    let copies = tools
        .iter()
        .cycle()
        .take(if tools.is_empty() { 0 } else { count })
        .enumerate();
    let renamed = copies.map(|(position, tool)| {
        let mut tool = tool.clone();
        let round = position / tools.len();
        if let (Value::Object(fields), true) = (&mut tool, round > 0) {
            let name = fields
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            fields.insert("name".into(), format!("{name}.v{}", 1000 + round).into());
        }
        tool
    });
    serde_json::json!({ "tools": renamed.collect::<Vec<_>>() })
}

/// The fastest of a few builds: whatever else the machine does only ever adds time.
fn fastest_build(
    source: &Source,
    options: &CatalogOptions,
    embedder: Option<&Arc<dyn Embedder>>,
    previous: Option<&Catalog>,
) -> Result<(Catalog, f64), CatalogError> {
    let mut fastest = f64::INFINITY;
    let mut built = None;
    for _ in 0..BUILDS {
        let sources = vec![source.clone()];
        let started = Instant::now();
        let mut catalog = Catalog::build(sources, options, previous)?;
        if let Some(embedder) = embedder {
            catalog = catalog.with_vectors(embedder.clone(), previous);
        }
        fastest = fastest.min(started.elapsed().as_secs_f64() * 1000.0);
        built = Some(catalog);
    }
    Ok((built.unwrap_or_default(), fastest))
}

const BUILDS: usize = 5;

#[derive(Default)]
struct Totals {
    recall_at_1: f64,
    recall_at_5: f64,
    reciprocal_rank: f64,
    tokens: usize,
    cards: usize,
}

impl Totals {
    fn add(&mut self, catalog: &Catalog, query: &Query) {
        let hits = catalog.tools().route(&query.query, DEPTH);
        let names: Vec<&str> = hits
            .iter()
            .map(|hit| catalog.tools().entries()[hit.position].name.as_str())
            .collect();
        let expected = |name: &&str| query.expected.iter().any(|wanted| wanted == name);
        let found = |depth: usize| names.iter().take(depth).filter(|name| expected(name)).count();
        let recall = |depth: usize| found(depth) as f64 / query.expected.len().max(1) as f64;
        self.recall_at_1 += recall(1);
        self.recall_at_5 += recall(5);
        self.reciprocal_rank += names
            .iter()
            .position(expected)
            .map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
        let request = BrowseRequest::Query {
            text: query.query.clone(),
            top_k: BROWSE_CARDS,
        };
        if let Ok(answer) = catalog.tools().browse(&request) {
            self.tokens += tokens::count(&card::lines(&answer.cards, answer.total));
            self.cards += answer.cards.len();
        }
    }
}

/// Cards of one browse, as by default.
const BROWSE_CARDS: usize = 8;

fn route_latencies(catalog: &Catalog, queries: &[Query], rounds: usize) -> Vec<f64> {
    let mut latencies = Vec::with_capacity(queries.len() * rounds);
    for _ in 0..rounds {
        for query in queries {
            let started = Instant::now();
            let hits = catalog.tools().route(&query.query, DEPTH);
            latencies.push(started.elapsed().as_secs_f64() * 1e6);
            std::hint::black_box(hits);
        }
    }
    latencies.sort_unstable_by(f64::total_cmp);
    latencies
}

fn percentile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((last as f64 * share).round() as usize)
        .copied()
        .unwrap_or(0.0)
}
