//! The approximate scan of vectors from the outside: what it changes, which is nothing where everything that looks likely is compared.

use std::fs;

use index::build::{Indexer, Options};
use index::search::{Hit, Mode, Question, Scan, SearchIndex};

/// A tree with fewer chunks than are compared exactly, whose last files are in the small part.
#[test]
fn all_that_is_refined_is_as_exact_finds_it() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("tree");
    let verbs = ["open", "close", "read", "write", "parse", "send", "merge", "count"];
    let things = ["socket", "file", "tree", "request", "header", "cache", "user", "matrix"];
    let put = |number: usize, verb: &str| {
        let functions = things.map(|thing| format!("def {verb}_{thing}(x):\n    return x.{thing}.{verb}({number})\n"));
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join(format!("{verb}{number}.py")), functions.join("\n")).unwrap();
    };
    verbs
        .iter()
        .for_each(|verb| (0..3).for_each(|number| put(number, verb)));
    let options = Options {
        directory: Some(directory.path().join("index")),
        ..Options::default()
    };
    let mut indexer = Indexer::open(&root, options).unwrap();
    indexer.build().unwrap();
    put(9, "sort");
    let snapshot = indexer.build().unwrap().snapshot;
    let mut index = SearchIndex::beside(&snapshot);
    assert_eq!(index.missing_files(), 0);
    assert_eq!(index.scan(), Scan::Exact, "a small tree needs no approximation");
    for text in [
        "open a socket",
        "sort the cache",
        "write header to file",
        "count_user",
        "?!",
    ] {
        for mode in [Mode::Hybrid, Mode::Semantic, Mode::Lexical] {
            let mut ask = |scan: Scan| {
                index.use_scan(scan);
                assert_eq!(index.scan(), scan);
                let question = Question {
                    text,
                    limit: 20,
                    mode,
                    accept: None,
                };
                index.search(&snapshot, &question)
            };
            let (exact, approximate) = (ask(Scan::Exact), ask(Scan::Approximate));
            assert_eq!(exact.is_empty(), text == "?!", "{text}");
            match mode {
                // How much hits of a file support each other depends on the worst of the pool, which may be others.
                Mode::Hybrid => {
                    let symbols = |hits: &[Hit]| hits.iter().take(10).map(|hit| hit.symbol).collect::<Vec<_>>();
                    assert_eq!(symbols(&exact), symbols(&approximate), "{text}");
                }
                Mode::Semantic | Mode::Lexical => assert_eq!(exact, approximate, "{text}, {mode:?}"),
            }
        }
    }
}
