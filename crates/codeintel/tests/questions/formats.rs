//! Every question about the graph, asked of this project's own code, in every format: what a decoder reads equals the JSON.

use std::path::Path;
use std::sync::Arc;

use codeintel::analyze::{Analysis, Analyze, analyze};
use codeintel::contracts::{Contracts, Found, contracts};
use codeintel::editing_context::{Editing, editing_context};
use codeintel::file_summary::{Summary, file_summary};
use codeintel::neighbours::{self, Neighbours};
use codeintel::repo_outline::{Nothing, graph_stats, repo_outline};
use codeintel::search_symbols::{Search, search_symbols};
use codeintel::smart_context::{Start, smart_context};
use codeintel::symbol_source::{Batch, GetSource, batch_symbols, symbol_source};
use codeintel::test_targets::{Targets, test_targets};
use codeintel::usages::{Usages, usages};
use codeintel::{Derived, Repository, Workspace};
use index::build::{Indexer, Options, open_snapshot};
use serde::Serialize;
use serde_json::Value;
use wire::Format;
use wire::answers::{
    Answer, BatchSymbols, ContractsList, ContractsOrphans, Cycles, DeadCode, EditingContext, FileSummary, FindUsages,
    Hotspots, RepoOutline, SearchSymbols, SmartContext, SubGraph, SymbolSource,
};
use wire::layout::Layout;
use wire::tokens::Tokenizer;

/// The sources of `wire` and `testkit`, as a workspace of two repositories.
fn workspace(index: &Path) -> Workspace {
    let repository = |name: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(name)
            .canonicalize()
            .unwrap();
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

/// Tokens of the compact JSON and of the automatic choice, for every answer that was checked.
#[derive(Default)]
struct Checked {
    tokens: Vec<(usize, usize)>,
}

impl Checked {
    fn check(&mut self, layout: &Layout, answer: &impl Serialize) {
        let expected: Value = serde_json::to_value(answer).unwrap();
        let say = |format| wire::encode(&expected, layout, format, Tokenizer::O200k).unwrap().text;
        let json = say(Format::Json);
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), expected);
        for format in [Format::Gcx, Format::Gcf, Format::Auto] {
            let text = say(format);
            let decoded =
                wire::decode(&text).unwrap_or_else(|error| panic!("{} {format:?}: {error}\n{text}", layout.tool));
            assert!(
                wire::same(&decoded, &expected),
                "{} as {format:?}:\n{text}\n{decoded}\n{expected}",
                layout.tool
            );
        }
        assert!(!say(Format::Markdown).trim().is_empty(), "{}", layout.tool);
        let (auto, most) = (
            Tokenizer::O200k.count(&say(Format::Auto)),
            Tokenizer::O200k.count(&json),
        );
        assert!(auto <= most, "{}: {auto} tokens, JSON takes {most}", layout.tool);
        self.tokens.push((most, auto));
    }
}

#[test]
fn every_format_says_what_the_json_says() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = &workspace(folder.path());
    let symbol = "wire/src/format.rs::encode".to_string();
    let mut checked = Checked::default();

    for query in ["decode", "nothing_is_called_so"] {
        let ask = Search {
            query: query.to_string(),
            ..Search::default()
        };
        checked.check(&SearchSymbols::LAYOUT, &search_symbols(workspace, &ask).unwrap());
    }
    let ask = GetSource {
        id: symbol.clone(),
        ..GetSource::default()
    };
    checked.check(&SymbolSource::LAYOUT, &symbol_source(workspace, &ask).unwrap());
    let ask = Batch {
        ids: vec![symbol.clone(), "no_such_thing".to_string()],
        include_source: true,
    };
    checked.check(&BatchSymbols::LAYOUT, &batch_symbols(workspace, &ask).unwrap());
    for id in [symbol.as_str(), "wire/src/layout.rs"] {
        let ask = Usages {
            id: id.to_string(),
            ..Usages::default()
        };
        checked.check(&FindUsages::LAYOUT, &usages(workspace, &ask).unwrap());
    }
    let ask = Summary {
        path: "wire/src/layout.rs".to_string(),
        ..Summary::default()
    };
    checked.check(&FileSummary::LAYOUT, &file_summary(workspace, &ask).unwrap());

    for limit in [None, Some(2)] {
        let ask = |id: &str| Neighbours {
            id: id.to_string(),
            limit,
            ..Neighbours::default()
        };
        let walk = &ask(&symbol);
        checked.check(&SubGraph::GET_CALLERS, &neighbours::callers(workspace, walk).unwrap());
        checked.check(
            &SubGraph::GET_CALL_CHAIN,
            &neighbours::call_chain(workspace, walk).unwrap(),
        );
        checked.check(
            &SubGraph::GET_DEPENDENCIES,
            &neighbours::dependencies(workspace, walk).unwrap(),
        );
        checked.check(
            &SubGraph::GET_DEPENDENTS,
            &neighbours::dependents(workspace, walk).unwrap(),
        );
        let trait_ = &ask("wire/src/layout.rs::CellType");
        checked.check(
            &SubGraph::FIND_IMPLEMENTATIONS,
            &neighbours::implementations(workspace, trait_).unwrap(),
        );
    }

    let ask = Editing {
        id: symbol.clone(),
        ..Editing::default()
    };
    checked.check(&EditingContext::LAYOUT, &editing_context(workspace, &ask).unwrap());
    let ask = Start {
        task: "decode a GCX1 table whose header value has a space".to_string(),
        ..Start::default()
    };
    checked.check(&SmartContext::LAYOUT, &smart_context(workspace, &ask).unwrap());
    let ask = Targets {
        ids: vec![symbol, "wire/src/dense.rs".to_string()],
        ..Targets::default()
    };
    checked.check(
        &Layout::generic("get_test_targets"),
        &test_targets(workspace, &ask).unwrap(),
    );
    for action in ["list", "check"] {
        let ask = Contracts {
            action: Some(action.to_string()),
            ..Contracts::default()
        };
        match contracts(workspace, &ask).unwrap() {
            Found::List(list) => checked.check(&ContractsList::LAYOUT, &list),
            Found::Orphans(orphans) => checked.check(&ContractsOrphans::LAYOUT, &orphans),
        }
    }
    for kind in ["dead_code", "hotspots", "cycles", "help"] {
        let ask = Analyze {
            kind: kind.to_string(),
            include_exported: true,
            ..Analyze::default()
        };
        match analyze(workspace, &ask).unwrap() {
            Analysis::DeadCode(answer) => checked.check(&DeadCode::LAYOUT, &answer),
            Analysis::Hotspots(answer) => checked.check(&Hotspots::LAYOUT, &answer),
            Analysis::Cycles(answer) => checked.check(&Cycles::LAYOUT, &answer),
            Analysis::Help(answer) => checked.check(&Layout::generic("analyze.help"), &answer),
        }
    }
    checked.check(&RepoOutline::LAYOUT, &repo_outline(workspace, &Nothing {}).unwrap());
    checked.check(
        &Layout::generic("graph_stats"),
        &graph_stats(workspace, &Nothing {}).unwrap(),
    );

    // The point of the formats: half of the answers cost at most two thirds of their JSON.
    let mut shares: Vec<usize> = checked.tokens.iter().map(|(json, auto)| auto * 100 / json).collect();
    shares.sort_unstable();
    assert!(shares[shares.len() / 2] <= 65, "{shares:?}");
}
