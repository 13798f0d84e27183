//! How often the right tool is found by words: floors that a change in ranking must not break.
//!
//! Measured on the catalog that ships with the program, and on larger data where `LACON_SHARED` names it. Ranking is tuned on
//! one half of the queries; the other half says whether that helped anything but itself.

#![expect(clippy::print_stdout, reason = "shows the scorecard when asked for with --nocapture")]
#![expect(clippy::unwrap_used, reason = "a failed setup is a failed test")]

use gateway::bench::{Query, Scorecard, enlarge, measure, own};
use gateway::catalog::{CatalogOptions, Source, source_from_file};

fn score(sources: &[Source], queries: &[Query]) -> Scorecard {
    let score = measure(sources, queries, &CatalogOptions::default(), None, 1).unwrap();
    println!("{score:#?}");
    score
}

/// Queries in other words are more than a third of both halves: words alone cannot find all of those.
#[test]
fn four_hundred_tools_of_fifty_servers() {
    let sources = own::sources().unwrap();
    let queries = own::queries().unwrap();
    let tuning = score(&sources, &queries.tuning);
    assert!(tuning.recall_at_5 >= 0.64, "{}", tuning.recall_at_5);
    assert!(tuning.mean_reciprocal_rank >= 0.59, "{}", tuning.mean_reciprocal_rank);
    let held_out = score(&sources, &queries.held_out);
    assert!(held_out.recall_at_5 >= 0.59, "{}", held_out.recall_at_5);
    assert!(
        held_out.mean_reciprocal_rank >= 0.575,
        "{}",
        held_out.mean_reciprocal_rank
    );
    for score in [tuning, held_out] {
        assert!(score.tokens_per_card <= 25.0, "{}", score.tokens_per_card);
        assert!(score.meta_tool_tokens <= 200, "{}", score.meta_tool_tokens);
    }
}

/// Bounds so wide that only a change of complexity breaks them; `lacon bench gateway` gives the real figures.
#[test]
fn ten_thousand_tools_are_still_quick() {
    let sources = enlarge(&own::sources().unwrap(), 10_000);
    let score = score(&sources, &own::queries().unwrap().all());
    assert_eq!(score.tools, 10_000);
    assert!(score.build_milliseconds < 10_000.0, "{}", score.build_milliseconds);
    assert!(
        score.route_p50_microseconds < 50_000.0,
        "{}",
        score.route_p50_microseconds
    );
}

#[test]
fn larger_catalogs_with_near_duplicates() {
    let Some(folder) = testkit::shared("bench/gateway") else {
        return;
    };
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let queries: Vec<Query> = serde_json::from_str(&read("queries.json")).unwrap();
    let shared = |name: &str| {
        let source = source_from_file(serde_json::from_str(&read(name)).unwrap());
        score(&[source], &queries)
    };
    let thousand = shared("catalog_1000.json");
    assert_eq!((thousand.tools, thousand.queries), (1000, 100));
    assert!(thousand.recall_at_5 >= 0.70, "{}", thousand.recall_at_5);
    assert!(
        thousand.mean_reciprocal_rank >= 0.62,
        "{}",
        thousand.mean_reciprocal_rank
    );
    assert!(thousand.tokens_per_card <= 25.0, "{}", thousand.tokens_per_card);
    let small = shared("catalog_83.json");
    assert!(small.recall_at_5 >= 0.75, "{}", small.recall_at_5);
    assert!(small.mean_reciprocal_rank >= 0.62, "{}", small.mean_reciprocal_rank);
}
