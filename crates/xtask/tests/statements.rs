//! Keeps `docs/formats/statements.md` and the tests together: each statement has a test that is there, a decision or a dated "not yet".

use std::collections::HashMap;
use std::path::Path;

/// How many statements each of the five documents makes.
const STATEMENTS: [(&str, usize); 5] = [
    ("GCX1", 44),
    ("GCF from language servers", 22),
    ("GCF over MCP", 21),
    ("Gateway", 138),
    ("Index and descriptors", 16),
];

#[test]
fn every_statement_has_a_test_that_is_there_or_says_why_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/formats/statements.md")).unwrap();
    let mut sources: HashMap<String, String> = HashMap::new();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut kinds = [0; 3];
    let mut document = "";
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            document = title;
        }
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, _, held] = cells[..] else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        let count = counts.entry(document).or_default();
        *count += 1;
        assert_eq!(number, *count, "{document}: out of order");
        if let Some(test) = held.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
            kinds[0] += 1;
            let (file, name) = test
                .split_once("::")
                .unwrap_or_else(|| panic!("{document} {number}: {held}"));
            let source = sources.entry(file.to_owned()).or_insert_with(|| {
                let path = root.join("crates").join(file);
                std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{document} {number}: {file}: {error}"))
            });
            let is_there = source.contains(&format!("fn {name}("));
            assert!(is_there, "{document} {number}: no test `{name}` in {file}");
        } else if held.starts_with("Decision: ") {
            kinds[1] += 1;
        } else {
            let dated = held.strip_prefix("Not yet (").and_then(|rest| rest.split_once("): "));
            let is_dated = dated.is_some_and(|(date, reason)| date.len() == "2026-01-31".len() && !reason.is_empty());
            assert!(is_dated, "{document} {number}: neither test, decision nor date: {held}");
            kinds[2] += 1;
        }
    }
    for (document, expected) in STATEMENTS {
        assert_eq!(counts.get(document), Some(&expected), "{document}");
    }
    let [tests, decisions, others] = kinds;
    let summary = format!("{tests} with a test, {decisions} decided otherwise, {others} not yet");
    assert!(page.contains(&summary), "the page counts otherwise: {summary}");
}
