//! How often the right tool is found, on the shared queries: floors that a change in ranking must not break.

#![expect(clippy::print_stdout, reason = "shows the scorecard when asked for with --nocapture")]
#![expect(clippy::unwrap_used, reason = "a failed setup is a failed test")]

use std::path::Path;

use gateway::bench::{Query, Scorecard, enlarge, measure};
use gateway::catalog::CatalogOptions;
use serde_json::Value;

fn shared(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/bench/gateway")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn score(catalog: &str) -> Scorecard {
    let file: Value = serde_json::from_str(&shared(catalog)).unwrap();
    let queries: Vec<Query> = serde_json::from_str(&shared("queries.json")).unwrap();
    let score = measure(file, &queries, &CatalogOptions::default(), None, 1).unwrap();
    println!("{score:#?}");
    score
}

#[test]
fn a_thousand_tools_with_near_duplicates() {
    let score = score("catalog_1000.json");
    assert_eq!((score.tools, score.queries), (1000, 100));
    assert!(score.recall_at_5 >= 0.70, "{}", score.recall_at_5);
    assert!(score.mean_reciprocal_rank >= 0.62, "{}", score.mean_reciprocal_rank);
    assert!(score.tokens_per_card <= 25.0, "{}", score.tokens_per_card);
    assert!(score.meta_tool_tokens <= 200, "{}", score.meta_tool_tokens);
}

#[test]
fn eighty_three_tools() {
    let score = score("catalog_83.json");
    assert!(score.recall_at_5 >= 0.75, "{}", score.recall_at_5);
    assert!(score.mean_reciprocal_rank >= 0.62, "{}", score.mean_reciprocal_rank);
}

/// Bounds so wide that only a change of complexity breaks them; `lacon bench gateway` gives the real figures.
#[test]
fn ten_thousand_tools_are_still_quick() {
    let file = enlarge(serde_json::from_str(&shared("catalog_1000.json")).unwrap(), 10_000);
    let queries: Vec<Query> = serde_json::from_str(&shared("queries.json")).unwrap();
    let score = measure(file, &queries, &CatalogOptions::default(), None, 1).unwrap();
    println!("{score:#?}");
    assert_eq!(score.tools, 10_000);
    assert!(score.build_milliseconds < 10_000.0, "{}", score.build_milliseconds);
    assert!(
        score.route_p50_microseconds < 50_000.0,
        "{}",
        score.route_p50_microseconds
    );
}
