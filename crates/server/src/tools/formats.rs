//! Every question about the graph, asked of real code through its tool, in every format: what a decoder reads equals the JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use codeintel::{Derived, Repository, Workspace};
use index::build::{Indexer, Options, open_snapshot};
use serde_json::{Map, Value, json};
use wire::Format;
use wire::tokens::Tokenizer;

use super::answer::answer;
use super::{Desk, Services, Tool, Wish, context, graph};

/// The sources of `wire` and `testkit`, as a workspace of two repositories.
fn workspace(index: &Path) -> Workspace {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let repository = |name: &str| {
        let root: PathBuf = crates.join(name).canonicalize().unwrap();
        let directory = index.join(name);
        let options = Options {
            directory: Some(directory.clone()),
            ..Options::default()
        };
        Indexer::open(&root, options).unwrap().build().unwrap();
        Repository {
            name: name.to_string(),
            snapshot: Arc::new(open_snapshot(&root, Some(&directory)).unwrap()),
            root,
            incomplete: None,
            derived: Derived::default(),
        }
    };
    Workspace::new(vec![repository("wire"), repository("testkit")])
}

/// What each tool is asked. A tool that is not here fails the test: it must be given a question.
fn questions(tool: &Tool) -> Vec<Value> {
    let symbol = "wire/src/format.rs::encode";
    match tool.name {
        "search_symbols" => vec![json!({"query": "decode"}), json!({"query": "nothing_is_called_so"})],
        "get_symbol_source" => vec![json!({"id": symbol})],
        "batch_symbols" => vec![json!({"ids": [symbol, "no_such_thing"], "include_source": true})],
        "find_usages" => vec![json!({"id": symbol}), json!({"id": "wire/src/lib.rs", "limit": 3})],
        "get_file_summary" => vec![json!({"path": "wire/src/layout.rs"})],
        "get_callers" | "get_call_chain" | "get_dependencies" | "get_dependents" => {
            vec![json!({"id": symbol}), json!({"id": symbol, "depth": 1, "limit": 2})]
        }
        "find_implementations" => vec![json!({"id": "wire/src/layout.rs::CellType"})],
        "get_editing_context" => vec![json!({"id": symbol})],
        "smart_context" => vec![json!({"task": "decode a GCX1 table whose header value has a space"})],
        "get_test_targets" => vec![json!({"ids": [symbol, "wire/src/dense.rs"]})],
        "contracts" => vec![json!({}), json!({"action": "check"})],
        "analyze" => vec![
            json!({"kind": "dead_code", "repo": "wire", "include_exported": true}),
            json!({"kind": "hotspots", "repo": "wire"}),
            json!({"kind": "cycles", "repo": "wire"}),
            json!({"kind": "help", "repo": "wire"}),
        ],
        "get_repo_outline" => vec![json!({"repo": "wire"})],
        "graph_stats" => vec![json!({"repo": ["*"]})],
        other => panic!("`{other}` is asked nothing here"),
    }
}

/// Cut at 200 places that follow from the text, and before its last line end: a reader never takes it for complete.
fn assert_a_cut_is_seen(text: &str) {
    let mut state = text.len() as u64 | 1;
    let mut places: Vec<usize> = (0..200)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % text.len()
        })
        .collect();
    places.push(text.len() - 1);
    for end in places.into_iter().filter(|end| text.is_char_boundary(*end)) {
        let read = wire::decode(&text[..end]);
        assert!(read.is_err(), "read as complete:\n{}", &text[..end]);
    }
}

#[test]
fn every_format_says_what_the_json_says() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(folder.path());
    let services = Services::default();
    let desk = Desk {
        workspace: &workspace,
        services: &services,
        caller: "test",
        wish: Wish::default(),
    };
    // What each answer takes of its JSON, in hundredths.
    let mut shares: Vec<usize> = Vec::new();
    for tool in graph::TOOLS {
        for question in questions(tool) {
            let say = |format: Format| {
                let mut arguments: Map<String, Value> = question.as_object().unwrap().clone();
                // Enough for every format, so that none is cut where another is not.
                arguments.insert("max_tokens".into(), 1_000_000.into());
                let said = answer(tool, &desk, arguments, format);
                said.unwrap_or_else(|refusal| panic!("{} {question}: {refusal:?}", tool.name))
            };
            let json = say(Format::Json).text;
            let expected: Value = serde_json::from_str(&json).unwrap();
            for format in [Format::Gcx, Format::Gcf, Format::Lcx, Format::Auto] {
                let text = say(format).text;
                assert_a_cut_is_seen(&text);
                let decoded =
                    wire::decode(&text).unwrap_or_else(|error| panic!("{} {format:?}: {error}\n{text}", tool.name));
                assert!(
                    wire::same(&decoded, &expected),
                    "{} {question} as {format:?}:\n{text}\n{decoded}\n{expected}",
                    tool.name
                );
                if format == Format::Auto {
                    let (tokens, most) = (Tokenizer::O200k.count(&text), Tokenizer::O200k.count(&json));
                    assert!(
                        tokens <= most,
                        "{} {question}: {tokens} tokens, JSON takes {most}",
                        tool.name
                    );
                    shares.push(tokens * 100 / most);
                }
            }
            assert!(!say(Format::Markdown).text.trim().is_empty(), "{}", tool.name);
        }
    }
    assert!(shares.len() > 20);
    shares.sort_unstable();
    assert!(shares[shares.len() / 2] <= 65, "{shares:?}");
}

/// Packs are filled for each format, so they differ; a cut one is seen, of several texts as of one.
#[test]
fn packs_and_several_answers_show_that_they_were_cut() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(folder.path());
    let services = Services::default();
    let desk = Desk {
        workspace: &workspace,
        services: &services,
        caller: "test",
        wish: Wish::default(),
    };
    let symbol = "wire/src/format.rs::encode";
    let questions = [
        (
            "context_for_task",
            json!({"task": "decode a GCX1 table whose header value has a space", "budget": 3000}),
        ),
        (
            "context_for_files",
            json!({"files": ["wire/src/layout.rs"], "budget": 2000}),
        ),
        ("blast_radius", json!({"symbols": [symbol]})),
        ("explain_symbol", json!({"id": symbol})),
        ("communities", json!({})),
        ("plan_turn", json!({"task": "decode a GCX1 table"})),
        ("get_callers", json!({"id": [symbol, "wire/src/format.rs::decode"]})),
        ("get_callers", json!({"id": [symbol, "no_such_thing"]})),
    ];
    for (name, question) in questions {
        let tool = graph::TOOLS
            .iter()
            .chain(context::TOOLS)
            .find(|tool| tool.name == name)
            .unwrap();
        for format in [Format::Json, Format::Gcx, Format::Gcf, Format::Lcx, Format::Auto] {
            let said = answer(tool, &desk, question.as_object().unwrap().clone(), format)
                .unwrap_or_else(|refusal| panic!("{name} {question}: {refusal:?}"));
            // The second text of a pack, or a remark.
            let rest = said
                .note
                .filter(|note| note.starts_with("sources "))
                .unwrap_or_default();
            let text = said.text + &rest;
            let read = wire::decode(&text);
            assert!(read.is_ok(), "{name} {question} as {format}: {read:?}\n{text}");
            assert_a_cut_is_seen(&text);
        }
    }
}
