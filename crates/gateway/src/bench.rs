//! Measures browsing on any catalog: how often the right tool is found, how fast, and what it costs in tokens.
//! Plain functions; the caller reads the files and prints the card.

pub mod own;

use std::sync::Arc;
use std::time::Instant;

use crate::browse::{BrowseRequest, Embedder, Entry};
use crate::card;
use crate::catalog::{Catalog, CatalogError, CatalogOptions, Source};
use crate::meta_tools::{Surface, meta_tools};
use crate::tokens;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question and the tools that answer it: by upstream name, with the server's before it (`jira.search_issues`) where the
/// tool is of one.
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

/// Builds a catalog of what servers or a file list and asks it every query, by meaning too where there is an `embedder`. `rounds`
/// repeats the timing, not the scoring.
pub fn measure(
    sources: &[Source],
    queries: &[Query],
    options: &CatalogOptions,
    embedder: Option<&Arc<dyn Embedder>>,
    rounds: usize,
) -> Result<Scorecard, CatalogError> {
    let (catalog, build_milliseconds) = fastest_build(sources, options, embedder, None)?;
    let (_, rebuild_milliseconds) = fastest_build(sources, options, embedder, Some(&catalog))?;

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

/// As many servers' listings as make `count` tools, for timing: the given tools repeated under other names.
pub fn enlarge(sources: &[Source], count: usize) -> Vec<Source> {
    let mut enlarged: Vec<Source> = sources
        .iter()
        .map(|source| Source {
            tools: Vec::new(),
            ..source.clone()
        })
        .collect();
    let each = sources
        .iter()
        .enumerate()
        .flat_map(|(server, source)| source.tools.iter().map(move |tool| (server, tool)));
    let given = each.clone().count();
    for (position, (server, tool)) in each.cycle().take(if given == 0 { 0 } else { count }).enumerate() {
        let mut tool = tool.clone();
        let round = position / given;
        if let (Some(Value::String(name)), true) = (tool.get_mut("name"), round > 0) {
            name.push_str(&format!(".v{}", 1000 + round));
        }
        enlarged[server].tools.push(tool);
    }
    enlarged
}

/// The fastest of a few builds: whatever else the machine does only ever adds time.
fn fastest_build(
    sources: &[Source],
    options: &CatalogOptions,
    embedder: Option<&Arc<dyn Embedder>>,
    previous: Option<&Catalog>,
) -> Result<(Catalog, f64), CatalogError> {
    let mut fastest = f64::INFINITY;
    let mut built = None;
    for _ in 0..BUILDS {
        let sources = sources.to_vec();
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
        let found: Vec<&Entry> = hits
            .iter()
            .map(|hit| catalog.tools().entries()[hit.position].as_ref())
            .collect();
        let expected = |entry: &&Entry| query.expected.iter().any(|wanted| is_named(entry, wanted));
        let found_in = |depth: usize| found.iter().take(depth).filter(|entry| expected(entry)).count();
        let recall = |depth: usize| found_in(depth) as f64 / query.expected.len().max(1) as f64;
        self.recall_at_1 += recall(1);
        self.recall_at_5 += recall(5);
        self.reciprocal_rank += found
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

/// Whether `wanted` is the entry's upstream name, alone or after its server's.
fn is_named(entry: &Entry, wanted: &str) -> bool {
    let of_server = wanted
        .strip_prefix(entry.server.as_str())
        .and_then(|rest| rest.strip_prefix('.'));
    wanted == entry.name || (!entry.server.is_empty() && of_server == Some(entry.name.as_str()))
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
