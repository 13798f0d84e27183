//! `lacon bench gateway`: how often browsing finds the right tool, how fast, and what it costs in tokens.
//!
//! Every number is measured in this run: on the catalog and the queries that ship with the program, or on those given.

pub(super) mod calls;

use std::path::PathBuf;
use std::sync::Arc;

use ::gateway::bench::{Query, Scorecard, enlarge, measure, own};
use ::gateway::browse::Embedder;
use ::gateway::catalog::{CatalogOptions, Source, source_from_file};
use anyhow::Context;
use clap::ValueEnum;
use comfy_table::Table;
use serde::Serialize;
use server::embedding::ToolEmbedder;
use terminal::failure::{Explain, Failure};
use terminal::input::read_file;
use terminal::output::Output;

/// Measure the gateway: recall, mean reciprocal rank, latency, build time, tokens per card, answer and call
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench gateway
  lacon bench gateway --tools 10000
  lacon bench gateway --catalog tools.json --queries questions.json --format json")]
pub(crate) struct Args {
    /// Catalogs to use instead of the built-in one: each a JSON list of tool definitions, or an object with `tools`
    #[arg(long, value_name = "FILE", requires = "queries")]
    catalog: Vec<PathBuf>,

    /// Questions to ask instead of the built-in ones: a JSON list of `{"query": …, "expected": [tool names]}`
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,

    /// Repeat the last catalog's tools under other names up to this many, for timing
    #[arg(long, value_name = "COUNT")]
    tools: Option<usize>,

    /// How often each query is timed
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,

    /// Rank by words alone, without the built-in vectors
    #[arg(long)]
    words_only: bool,

    /// Calls to time through a gateway and directly; 0 leaves them out
    #[arg(long, value_name = "COUNT", default_value_t = 300, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    calls: u16,

    /// How to print the scorecard
    #[arg(long, value_enum, default_value = "table")]
    format: Style,

    /// Print JSON: the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Style {
    Table,
    Markdown,
    Json,
}

/// A catalog with what it is asked.
struct Set {
    name: &'static str,
    sources: Vec<Source>,
    queries: Vec<Query>,
}

/// What was measured on a set.
#[derive(Serialize)]
struct Measured {
    queries_of: &'static str,
    #[serde(flatten)]
    scorecard: Scorecard,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let mut sets = sets(&args)?;
    if let (Some(count), Some(last)) = (args.tools, sets.last()) {
        sets.push(Set {
            name: last.name,
            sources: enlarge(&last.sources, count),
            queries: last.queries.clone(),
        });
    }
    let options = CatalogOptions::default();
    let embedder = (!args.words_only).then(|| Arc::new(ToolEmbedder) as Arc<dyn Embedder>);
    let mut scorecards = Vec::with_capacity(sets.len());
    for Set { name, sources, queries } in sets {
        let measured = measure(
            &sources,
            &queries,
            &options,
            embedder.as_ref(),
            usize::from(args.rounds),
        );
        scorecards.push(Measured {
            queries_of: name,
            scorecard: measured.bad_input()?,
        });
    }
    let cost = match args.calls {
        0 => None,
        calls => Some(calls::measure(usize::from(calls))?),
    };
    let preset = match if args.json { Style::Json } else { args.format } {
        Style::Json => return output.json(&serde_json::json!({"browsing": scorecards, "calls": cost})),
        Style::Table => comfy_table::presets::UTF8_FULL_CONDENSED,
        Style::Markdown => comfy_table::presets::ASCII_MARKDOWN,
    };
    output.line(render(&scorecards, preset));
    if let Some(cost) = cost {
        output.line(format!(
            "\n{} calls of a tool that says one word, directly and through the gateway in turn:\n\
             overhead {} tokens; p50 {:.0} µs directly, {:.0} µs through, {:.0} µs added",
            cost.calls,
            cost.overhead_tokens,
            cost.direct_p50_microseconds,
            cost.through_p50_microseconds,
            cost.added_p50_microseconds
        ));
    }
    Ok(())
}

/// The built-in catalog with both halves of its queries, or what is given.
fn sets(args: &Args) -> Result<Vec<Set>, Failure> {
    let given = |path: &PathBuf| -> Result<Vec<Query>, Failure> {
        let text = read_file(path).hint("`--queries` names a JSON file; without it the built-in queries are asked")?;
        serde_json::from_str(&text)
            .with_context(|| format!("cannot read the queries in `{}`", path.display()))
            .bad_input()
            .hint("the queries are a list of objects with `query` and `expected`")
    };
    let queries = args.queries.as_ref().map(given).transpose()?;
    if args.catalog.is_empty() {
        let sources = own::sources().context("the built-in catalog")?;
        let set = |name, queries| Set {
            name,
            sources: sources.clone(),
            queries,
        };
        return Ok(match queries {
            Some(queries) => vec![set(GIVEN, queries)],
            None => {
                let own = own::queries().context("the built-in queries")?;
                vec![set("tuning", own.tuning), set("held out", own.held_out)]
            }
        });
    }
    let set = |path: &PathBuf| {
        let text = read_file(path).hint("`--catalog` names a JSON file; without it the built-in catalog is used")?;
        let file = serde_json::from_str(&text)
            .with_context(|| format!("cannot read the catalog in `{}`", path.display()))
            .bad_input()?;
        Ok(Set {
            name: GIVEN,
            sources: vec![source_from_file(file)],
            queries: queries.clone().unwrap_or_default(),
        })
    };
    args.catalog.iter().map(set).collect()
}

/// Where queries come from that are not built in.
const GIVEN: &str = "given";

fn render(scorecards: &[Measured], preset: comfy_table::TableStyle) -> String {
    let mut table = Table::new();
    table.load_style(preset);
    let titles = scorecards.iter().map(|measured| match measured.queries_of {
        GIVEN => format!("{} tools", measured.scorecard.tools),
        half => format!("{} tools, {half}", measured.scorecard.tools),
    });
    table.set_header(std::iter::once("what".to_owned()).chain(titles));
    type Row = (&'static str, fn(&Scorecard) -> String);
    let rows: [Row; 12] = [
        ("queries", |card| card.queries.to_string()),
        ("recall@1", |card| format!("{:.3}", card.recall_at_1)),
        ("recall@5", |card| format!("{:.3}", card.recall_at_5)),
        ("mean reciprocal rank", |card| {
            format!("{:.3}", card.mean_reciprocal_rank)
        }),
        ("route p50, µs", |card| format!("{:.1}", card.route_p50_microseconds)),
        ("route p95, µs", |card| format!("{:.1}", card.route_p95_microseconds)),
        ("build, ms", |card| format!("{:.1}", card.build_milliseconds)),
        ("rebuild, nothing changed, ms", |card| {
            format!("{:.1}", card.rebuild_milliseconds)
        }),
        ("tokens per card", |card| format!("{:.1}", card.tokens_per_card)),
        ("tokens per browse", |card| format!("{:.1}", card.tokens_per_browse)),
        ("cards per browse", |card| format!("{:.1}", card.cards_per_browse)),
        ("the three meta-tools, tokens", |card| card.meta_tool_tokens.to_string()),
    ];
    for (name, value) in rows {
        table.add_row(
            std::iter::once(name.to_owned()).chain(scorecards.iter().map(|measured| value(&measured.scorecard))),
        );
    }
    table.to_string()
}
