//! Browsing by query and by path, for catalogs of every shape.

#![expect(clippy::unwrap_used, reason = "a failed setup is a failed test")]

use std::sync::Arc;

use gateway::browse::{BrowseRequest, Embedder, Shelf, ShelfOptions};
use gateway::card::{CardKind, HARD_CAP_TOKENS, PREAMBLE_TOKENS, Safety, lines};
use gateway::catalog::{Catalog, CatalogOptions, Source};
use gateway::errors::ErrorCode;
use gateway::tokens;
use serde_json::{Value, json};

fn catalog(tools: Vec<Value>) -> Catalog {
    Catalog::build(
        vec![Source {
            tools,
            ..Source::default()
        }],
        &CatalogOptions::default(),
        None,
    )
    .unwrap()
}

fn named(names: &[&str]) -> Catalog {
    catalog(names.iter().map(|name| json!({"name": name})).collect())
}

fn list(catalog: &Catalog, path: &str) -> Vec<String> {
    let request = BrowseRequest::Path { path: path.to_owned() };
    let answer = catalog
        .tools()
        .browse(&request)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    answer
        .cards
        .iter()
        .map(|card| {
            if card.kind == CardKind::Internal {
                card.id.clone()
            } else {
                card.name.clone()
            }
        })
        .collect()
}

fn failure(catalog: &Catalog, path: &str) -> ErrorCode {
    catalog
        .tools()
        .browse(&BrowseRequest::Path { path: path.to_owned() })
        .unwrap_err()
        .code
}

fn query(catalog: &Catalog, text: &str, top_k: usize) -> Vec<String> {
    catalog
        .tools()
        .query(text, top_k)
        .cards
        .iter()
        .map(|card| card.name.clone())
        .collect()
}

#[test]
fn a_small_catalog_has_namespaces_too() {
    let catalog = named(&["github.create_issue", "github.list_issues", "slack.post"]);
    assert_eq!(list(&catalog, "/"), ["/github", "/slack"]);
    assert_eq!(list(&catalog, "/*"), ["/github", "/slack"]);
    assert_eq!(list(&catalog, "/github"), ["github.create_issue", "github.list_issues"]);
    assert_eq!(list(&catalog, "/github/create_issue"), ["github.create_issue"]);
    assert_eq!(failure(&catalog, "/gitlab"), ErrorCode::PathNotFound);
    assert_eq!(failure(&catalog, "/github/nope"), ErrorCode::PathNotFound);
    assert_eq!(failure(&catalog, "/github/create_issue/*"), ErrorCode::PathNotFound);
    assert_eq!(failure(&catalog, "/github/create_issue/x"), ErrorCode::PathNotFound);
    assert_eq!(failure(&catalog, "/GitHub"), ErrorCode::PathInvalid);
}

#[test]
fn a_namespace_with_many_tools_is_found_under_its_name() {
    let names: Vec<String> = (0..60).map(|i| format!("github.do_{i}_thing")).collect();
    let catalog = catalog(names.iter().map(|name| json!({"name": name})).collect());
    assert_eq!(list(&catalog, "/github").len(), 60);
}

#[test]
fn many_namespaces_are_listed_one_by_one() {
    let catalog = catalog((0..40).map(|i| json!({"name": format!("space{i}.t")})).collect());
    assert_eq!(list(&catalog, "/").len(), 40);
}

#[test]
fn a_crowded_namespace_is_listed_as_clusters_and_every_tool_is_reachable() {
    let nouns = ["issue", "pull", "branch", "label", "user"];
    let mut names: Vec<String> = nouns
        .iter()
        .flat_map(|noun| (0..30).map(move |i| format!("github.create_{noun}_kind{}", ["a", "b"][i % 2].repeat(i + 1))))
        .collect();
    names.push("github.ping".to_owned());
    let catalog = catalog(names.iter().map(|name| json!({"name": name})).collect());
    let top = list(&catalog, "/github");
    assert!(top.iter().any(|path| path == "/github/issue"), "{top:?}");
    assert!(
        top.iter().any(|name| name == "github.ping"),
        "what is in no cluster is listed: {top:?}"
    );
    let mut found = Vec::new();
    walk(&catalog, "/github", &mut found, 0);
    found.sort();
    found.dedup();
    names.sort();
    assert_eq!(found, names);
}

fn walk(catalog: &Catalog, path: &str, found: &mut Vec<String>, depth: usize) {
    assert!(depth < 8, "{path}");
    for child in list(catalog, path) {
        if child.starts_with('/') {
            walk(catalog, &child, found, depth + 1)
        } else {
            found.push(child)
        }
    }
}

#[test]
fn tools_that_share_nothing_are_cut_into_parts() {
    let word =
        |i: usize| ((b'a' + (i / 26) as u8) as char).to_string() + &((b'a' + (i % 26) as u8) as char).to_string() + "q";
    let catalog = catalog((0..250).map(|i| json!({"name": format!("ns.{}", word(i))})).collect());
    assert_eq!(list(&catalog, "/ns"), ["/ns/part-1", "/ns/part-2", "/ns/part-3"]);
    assert_eq!(list(&catalog, "/ns/part-3").len(), 50);
}

#[test]
fn odd_names_have_paths() {
    let catalog = named(&["ns._hidden", "ns.Create.Issue", "ns.x.y"]);
    assert_eq!(list(&catalog, "/ns/hidden"), ["ns._hidden"]);
    assert_eq!(list(&catalog, "/ns/create-issue"), ["ns.Create.Issue"]);
}

#[test]
fn two_versions_of_one_name_are_both_shown() {
    let versioned = |version: &str| json!({"name": "ns.get", "_meta": {"version": version}});
    let catalog = catalog(vec![versioned("1"), json!({"name": "ns.Get"})]);
    let answer = catalog
        .tools()
        .browse(&BrowseRequest::Path { path: "/ns/get".into() })
        .unwrap();
    assert_eq!(answer.cards.len(), 2);
}

#[test]
fn exactly_one_of_query_and_path() {
    let read = |value: Value| BrowseRequest::from_arguments(value.as_object().unwrap(), 8);
    assert_eq!(
        read(json!({"query": "x"})).unwrap(),
        BrowseRequest::Query {
            text: "x".into(),
            top_k: 8
        }
    );
    assert_eq!(
        read(json!({"query": "x", "path": null, "top_k": 30})).unwrap(),
        BrowseRequest::Query {
            text: "x".into(),
            top_k: 30
        }
    );
    for wrong in [
        json!({}),
        json!({"query": "x", "path": "/"}),
        json!({"query": 1}),
        json!({"path": 5}),
        json!({"query": "x", "top_k": 0}),
        json!({"query": "x", "top_k": 51}),
        json!({"query": "x", "top_k": "9"}),
    ] {
        assert_eq!(read(wrong.clone()).unwrap_err().code, ErrorCode::ArgsInvalid, "{wrong}");
    }
}

#[test]
fn as_many_cards_as_asked_for_and_no_padding() {
    let mut tools: Vec<Value> = (0..40)
        .map(|i| json!({"name": format!("files.read_{}", "x".repeat(i + 1))}))
        .collect();
    tools.push(json!({"name": "mail.send"}));
    let catalog = catalog(tools);
    assert_eq!(query(&catalog, "read a file", 30).len(), 30);
    assert_eq!(query(&catalog, "send mail", 10), ["mail.send"]);
    assert!(query(&catalog, "zebra", 10).is_empty());
    assert!(query(&catalog, "", 10).is_empty());
    assert!(query(&catalog, "the of to", 10).is_empty());
}

#[test]
fn parameters_titles_tags_and_camel_case_are_searched() {
    let catalog = catalog(vec![
        json!({"name": "a.one", "inputSchema": {"properties": {"invoiceNumber": {"description": "As printed"}}}}),
        json!({"name": "a.two", "inputSchema": {"properties": {"x": {"description": "Currency of the ledger"}}}}),
        json!({"name": "a.three", "title": "Weather forecast"}),
        json!({"name": "a.four", "tags": ["kubernetes"]}),
        json!({"name": "a.fiveHundredMiles"}),
        json!({"name": "a.東京の天気"}),
    ]);
    for (text, name) in [
        ("invoice", "a.one"),
        ("ledgers", "a.two"),
        ("forecasting", "a.three"),
        ("Kubernetes", "a.four"),
        ("hundred", "a.fiveHundredMiles"),
        ("天気", "a.東京の天気"),
    ] {
        assert_eq!(query(&catalog, text, 1), [name], "{text}");
    }
}

#[test]
fn an_unknown_word_finds_what_begins_like_it() {
    let catalog = named(&["sys.configuration", "sys.reboot"]);
    assert_eq!(query(&catalog, "config", 5), ["sys.configuration"]);
}

#[test]
fn near_duplicates_wait_until_nothing_else_is_left() {
    let mut tools: Vec<Value> = (1..9)
        .map(|i| json!({"name": format!("log.export.v{i}"), "description": "Export the audit log"}))
        .collect();
    tools.push(json!({"name": "log.audit", "description": "Query the audit log"}));
    let catalog = catalog(tools);
    let two = query(&catalog, "export audit log", 2);
    assert!(two.contains(&"log.audit".to_owned()) && two.len() == 2, "{two:?}");
    assert_eq!(query(&catalog, "export audit log", 9).len(), 9, "they are still there");
    assert_eq!(
        query(&catalog, "log export v7", 1),
        ["log.export.v7"],
        "and can be asked for"
    );
}

#[test]
fn cards_are_ordered_by_score_then_id() {
    let catalog = named(&["y.ping", "x.ping", "z.pong"]);
    let answer = catalog.tools().query("ping", 10);
    let ranked: Vec<(&str, Option<f64>)> = answer
        .cards
        .iter()
        .map(|card| (card.name.as_str(), card.score))
        .collect();
    assert_eq!(ranked[0].0, "x.ping");
    assert_eq!(ranked[1].0, "y.ping");
    assert_eq!(ranked[0].1, ranked[1].1);
}

#[test]
fn an_answer_stays_within_its_token_budget() {
    let text = "Create a thing and then describe it at length without any end in sight ".repeat(30);
    let tools = (0..30).map(|i| {
        let annotations = json!({"destructiveHint": i % 2 == 0, "readOnlyHint": i % 3 == 0, "costHint": 0.5});
        json!({"name": format!("server.tool_number_{}", "n".repeat(i)), "description": text, "annotations": annotations})
    });
    let catalog = catalog(tools.collect());
    let answer = catalog.tools().query("create thing", 30);
    let cost = tokens::count(&lines(&answer.cards, answer.total));
    assert!(cost <= HARD_CAP_TOKENS * answer.cards.len() + PREAMBLE_TOKENS, "{cost}");
    let short: Vec<_> = answer
        .cards
        .iter()
        .filter(|card| tokens::count(&card.id) <= 10)
        .collect();
    assert!(
        !short.is_empty() && short.iter().all(|card| card.tokens() <= 25),
        "{:?}",
        short[0].line()
    );
}

#[test]
fn a_destructive_tool_is_marked_whatever_else_it_claims() {
    let annotations = json!({"destructiveHint": true, "readOnlyHint": true});
    let tags = json!(["a1", "a2", "a3", "a4", "a5", "a6"]);
    let catalog = catalog(vec![
        json!({"name": "db.drop", "annotations": annotations, "tags": tags}),
    ]);
    let card = catalog.tools().query("drop", 1).cards.remove(0);
    assert_eq!(card.safety, Safety::Destructive);
    assert!(card.tags.contains(&"destructive".to_owned()) && card.tags.len() == 5);
    assert!(card.line().ends_with("destructive"));
}

#[test]
fn no_schema_ever_reaches_a_card() {
    let schema = json!({"type": "object", "properties": {"secret_parameter": {"type": "string"}}});
    let catalog = catalog(vec![json!({
        "name": "a.b", "description": "d", "inputSchema": schema, "outputSchema": schema, "_meta": {"x": "meta_value"},
        "annotations": {"title": "t", "custom": "annotation_value"},
    })]);
    let card = catalog.tools().query("b", 1).cards.remove(0);
    let sent = serde_json::to_string(&card).unwrap() + &card.line();
    for banned in [
        "secret_parameter",
        "inputSchema",
        "outputSchema",
        "meta_value",
        "annotation_value",
    ] {
        assert!(!sent.contains(banned), "{banned} in {sent}");
    }
    assert!(card.has_schema);
}

/// Two words mean the same when they start with the same letter.
struct FirstLetters;

impl Embedder for FirstLetters {
    fn embed(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; 26];
        for word in text
            .split(|c: char| !c.is_ascii_alphabetic())
            .filter(|word| !word.is_empty())
        {
            vector[(word.as_bytes()[0].to_ascii_lowercase() - b'a') as usize] += 1.0;
        }
        vector
    }
}

#[test]
fn vectors_find_what_words_do_not() {
    let plain = named(&["mail.deliver", "disk.erase"]);
    assert!(query(&plain, "mmm ddd", 5).is_empty());
    let entries = plain.tools().entries().to_vec();
    let shelf = Shelf::build(entries, ShelfOptions::default(), |_| None).with_vectors(Arc::new(FirstLetters), None);
    let found = shelf.query("mmm ddd", 5);
    assert_eq!(found.cards[0].name, "mail.deliver");
    let both = shelf.query("erase d", 5);
    assert_eq!(both.cards[0].name, "disk.erase", "a match in both rankings comes first");
    let rebuilt = Shelf::build(plain.tools().entries().to_vec(), ShelfOptions::default(), |_| None)
        .with_vectors(Arc::new(FirstLetters), Some(&shelf));
    assert_eq!(rebuilt.query("mmm ddd", 5), found);
}

#[test]
fn resources_and_prompts_have_shelves_of_their_own() {
    let source = Source {
        tools: vec![json!({"name": "docs.search"})],
        resources: vec![json!({"uri": "file:///docs/readme.md", "name": "README docs"})],
        prompts: vec![json!({"name": "docs.summarize"})],
        ..Source::default()
    };
    let catalog = Catalog::build(vec![source], &CatalogOptions::default(), None).unwrap();
    for (shelf, kind) in [
        (catalog.tools(), CardKind::Tool),
        (catalog.resources(), CardKind::Resource),
        (catalog.prompts(), CardKind::Prompt),
    ] {
        let cards = shelf.query("docs", 5).cards;
        assert_eq!(cards.len(), 1);
        assert_eq!(cards[0].kind, kind);
        assert_eq!(
            shelf
                .browse(&BrowseRequest::Path { path: "/".into() })
                .unwrap()
                .cards
                .len(),
            1
        );
    }
}
