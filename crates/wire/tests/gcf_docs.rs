//! The examples of `docs/formats/gcf.md`, run.

use serde_json::Value;
use wire::gcf::{self, DecodeOptions, EncodeOptions};

/// Fenced blocks: the word after the fence, and the content.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => open = Some((info.to_owned(), String::new())),
            (None, Some((_, content))) => {
                content.push_str(line);
                content.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

#[test]
fn every_example_holds() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/gcf.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let blocks = blocks(&page);
    let mut ran = 0;
    for (index, (info, content)) in blocks.iter().enumerate() {
        match info.split_once(' ').unwrap_or((info, "")) {
            ("json", _) => {
                let (kind, expected) = &blocks[index + 1];
                assert_eq!(kind, "gcf", "a json block is followed by its gcf block");
                assert_eq!(gcf::from_json(content, &EncodeOptions::default()).unwrap(), *expected);
                let value: Value = serde_json::from_str(content).unwrap();
                assert_eq!(gcf::to_string(&value).unwrap(), *expected);
                assert_eq!(gcf::from_str::<Value>(expected).unwrap(), value);
                let attached = gcf::to_string_with(&value, &EncodeOptions::no_flatten()).unwrap();
                assert_eq!(gcf::from_str::<Value>(&attached).unwrap(), value);
            }
            ("gcf", _) => {}
            ("gcf-graph", _) => assert_eq!(
                gcf::graph::encode(&gcf::graph::decode(content).unwrap()).unwrap(),
                *content
            ),
            ("gcf-error", code) => match gcf::decode(content, &DecodeOptions::default()) {
                Ok(_) => panic!("accepted:\n{content}"),
                Err(error) => assert_eq!(error.category().code(), code, "{error}"),
            },
            other => panic!("unknown block {other:?}"),
        }
        ran += 1;
    }
    assert!(ran >= 20, "only {ran} blocks found");
}
