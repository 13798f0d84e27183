//! The format's own fixtures, where `LACON_SHARED` has them: every file, exact error categories, every encoding decoded back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use wire::gcf::graph::{
    self, Graph, GraphDelta, GraphStream, GraphStreamOptions, Reply, Session, SessionLimits, TrailerCounts,
};
use wire::gcf::keyed_set::{self, DeltaSession, KeyedSet, Reanchor, SetDelta};
use wire::gcf::{self, Category, DecodeOptions, EncodeOptions, Error, Payload};

use super::gcf::same;

#[derive(Deserialize)]
struct Fixture {
    operation: String,
    #[serde(default)]
    input: Option<Box<RawValue>>,
    #[serde(default, rename = "inputBase64")]
    input_base64: Option<String>,
    #[serde(default)]
    expected: Option<Box<RawValue>>,
    #[serde(default, rename = "expectedError")]
    expected_error: Option<String>,
}

fn fixture_files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for directory in std::fs::read_dir(root).unwrap() {
        let directory = directory.unwrap().path();
        files.extend(std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()));
    }
    files.sort();
    files
}

#[test]
fn every_fixture_passes() {
    let Some(root) = testkit::shared("conformance/gcf") else {
        return;
    };
    let files = fixture_files(&root);
    assert_eq!(
        files.len(),
        216,
        "fixtures were added to or lost from `{}`",
        root.display()
    );
    let mut passed: BTreeMap<String, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let fixture: Fixture = serde_json::from_str(&text).unwrap();
        let operation = fixture.operation.clone();
        let directory = file.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        match std::panic::catch_unwind(|| run(&directory, &fixture, &text)) {
            Ok(()) => *passed.entry(operation).or_default() += 1,
            Err(panic) => {
                let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                failures.push(format!("{}: {message}", file.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert_eq!(passed.values().sum::<usize>(), 216, "{passed:?}");
}

fn run(directory: &str, fixture: &Fixture, text: &str) {
    let is_graph = directory.starts_with("graph-");
    match fixture.operation.as_str() {
        "encode" if is_graph => encode_graph(fixture),
        "encode" | "roundtrip" => encode(fixture),
        "encode-error" => {
            let error = gcf::from_json(fixture.input(), &EncodeOptions::default()).unwrap_err();
            fixture.check_error(&error);
        }
        "decode" => match gcf::decode(&fixture.input_text(), &DecodeOptions::default()).unwrap() {
            Payload::Value(document) => assert_eq!(document.deserialize::<Value>().unwrap(), fixture.expected_value()),
            Payload::Graph(graph) => assert_eq!(graph, fixture.expected()),
            _ => panic!("neither a value nor a graph"),
        },
        "roundtrip-wire" => {
            let value = decode(&fixture.input_text()).unwrap();
            assert_eq!(gcf::to_string(&value).unwrap(), fixture.expected_text());
        }
        "error" => {
            let error = match &fixture.input_base64 {
                Some(encoded) => gcf::from_slice::<Value>(&base64(encoded)).unwrap_err(),
                None => match gcf::decode(&fixture.input_text(), &DecodeOptions::default()) {
                    Ok(_) => panic!("accepted"),
                    Err(error) => error,
                },
            };
            fixture.check_error(&error);
        }
        "pack-root" => {
            let graph: Graph = serde_json::from_str(fixture.input()).unwrap();
            let whole: Value = serde_json::from_str(text).unwrap();
            assert_eq!(
                graph::canonical_records(&graph).unwrap(),
                whole["canonicalBytes"].as_str().unwrap()
            );
            assert_eq!(graph::pack_root(&graph).unwrap(), fixture.expected_text());
        }
        "graph-stream-encode" => stream_graph(fixture, text),
        "session" => session(text),
        "delta" | "delta-verify" => graph_delta(fixture, text),
        "generic-pack-root" => {
            let set = keyed_set(&serde_json::from_str(fixture.input()).unwrap());
            assert_eq!(set.pack_root().unwrap(), fixture.expected_text());
        }
        "generic-delta" => {
            let delta = set_delta(&serde_json::from_str(fixture.input()).unwrap());
            let text = fixture.expected_text();
            assert_eq!(keyed_set::encode_delta(&delta).unwrap(), text);
            let back = keyed_set::decode_delta(&text, &DecodeOptions::default()).unwrap();
            assert_eq!(
                keyed_set::encode_delta(&SetDelta {
                    delta_tokens: delta.delta_tokens,
                    full_tokens: delta.full_tokens,
                    ..back
                })
                .unwrap(),
                text
            );
        }
        "generic-delta-verify" => {
            let input: Value = serde_json::from_str(fixture.input()).unwrap();
            let result = keyed_set::apply(&keyed_set(&input["base"]), &set_delta(&input["delta"])).unwrap();
            assert_eq!(result.pack_root().unwrap(), fixture.expected_text());
        }
        "generic-delta-decode" => {
            let input: Value = serde_json::from_str(fixture.input()).unwrap();
            let decoded = keyed_set::decode_delta(input["wire"].as_str().unwrap(), &DecodeOptions::default());
            fixture.check_error(&decoded.unwrap_err());
        }
        "generic-delta-session" => delta_session(fixture),
        other => panic!("{directory}: unknown operation {other}"),
    }
}

impl Fixture {
    fn input(&self) -> &str {
        // `"input": null` is a value too; serde reads it as an absent option.
        self.input.as_ref().map_or("null", |input| input.get())
    }

    fn input_text(&self) -> String {
        serde_json::from_str(self.input()).expect("a text as input")
    }

    fn expected_text(&self) -> String {
        serde_json::from_str(self.expected.as_ref().expect("an expectation").get()).unwrap()
    }

    fn expected<T: serde::de::DeserializeOwned>(&self) -> T {
        serde_json::from_str(self.expected.as_ref().expect("an expectation").get()).unwrap()
    }

    fn expected_value(&self) -> Value {
        serde_json::from_str(self.expected.as_ref().map_or("null", |value| value.get())).unwrap()
    }

    fn check_error(&self, error: &Error) {
        let expected = self.expected_error.as_deref().expect("an expected error");
        // A few fixtures give a phrase instead of a code.
        let code = match expected {
            "duplicate member key" => Category::DuplicateKey.code(),
            "at least two fields" => Category::UnexpectedContent.code(),
            "zero count" => Category::InvalidCount.code(),
            code => code,
        };
        assert_eq!(error.category().code(), code, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

fn encode(fixture: &Fixture) {
    let expected = fixture.expected_text();
    let options = EncodeOptions::default();
    assert_eq!(gcf::from_json(fixture.input(), &options).unwrap(), expected);
    let value: Value = serde_json::from_str(fixture.input()).unwrap();
    assert_eq!(gcf::to_string(&value).unwrap(), expected, "typed");
    let back = decode(&expected).unwrap();
    assert!(same(&back, &value), "decoded back: {back}");
    let attached = gcf::to_string_with(&value, &EncodeOptions::no_flatten()).unwrap();
    let back = decode(&attached).unwrap_or_else(|error| panic!("{error}\n{attached}"));
    assert!(same(&back, &value), "decoded back: {back}\n{attached}");
    let json: Value = serde_json::from_str(&gcf::to_json(&expected, &DecodeOptions::default()).unwrap()).unwrap();
    assert!(same(&json, &value), "as JSON: {json}");
}

fn encode_graph(fixture: &Fixture) {
    let graph: Graph = serde_json::from_str(fixture.input()).unwrap();
    let text = graph::encode(&graph).unwrap();
    assert_eq!(text, fixture.expected_text());
    let back = graph::decode(&text).unwrap();
    assert_eq!(graph::encode(&back).unwrap(), text);
    assert_eq!(
        graph::pack_root(&back).unwrap(),
        graph::pack_root(&graph).unwrap(),
        "the hash survives the text"
    );
}

fn stream_graph(fixture: &Fixture, text: &str) {
    let graph: Graph = serde_json::from_str(fixture.input()).unwrap();
    let whole: Value = serde_json::from_str(text).unwrap();
    let labeled = whole["options"]["labeledTrailerCounts"] == Value::Bool(true);
    let options = GraphStreamOptions {
        tool: graph.tool.clone(),
        token_budget: graph.token_budget,
        counts: if labeled {
            TrailerCounts::Labeled
        } else {
            TrailerCounts::Positional
        },
    };
    let mut stream = GraphStream::new(Vec::new(), &options).unwrap();
    for symbol in &graph.symbols {
        stream.symbol(symbol).unwrap();
    }
    for edge in &graph.edges {
        stream.edge(edge).unwrap();
    }
    let text = String::from_utf8(stream.finish().unwrap()).unwrap();
    assert_eq!(text, fixture.expected_text());
    assert_eq!(graph::decode(&text).unwrap(), graph);
}

fn session(text: &str) {
    #[derive(Deserialize)]
    struct Calls {
        calls: Vec<Call>,
    }
    #[derive(Deserialize)]
    struct Call {
        input: Graph,
        expected: String,
    }
    let now = std::time::Instant::now();
    let mut session = Session::new(SessionLimits::default(), now);
    let mut reader = graph::SessionReader::new();
    for call in serde_json::from_str::<Calls>(text).unwrap().calls {
        let text = session.encode(&call.input, now).unwrap();
        assert_eq!(text, call.expected);
        assert_eq!(reader.decode(&text).unwrap(), call.input);
    }
}

fn graph_delta(fixture: &Fixture, text: &str) {
    #[derive(Deserialize)]
    struct Snapshots {
        base_snapshot: Graph,
        expected_snapshot: Option<Graph>,
        new_root: Option<String>,
    }
    let Ok(snapshots) = serde_json::from_str::<Snapshots>(text) else {
        let delta: GraphDelta = serde_json::from_str(fixture.input()).unwrap();
        let text = graph::encode_delta(&delta).unwrap();
        assert_eq!(text, fixture.expected_text());
        assert_eq!(
            graph::encode_delta(&GraphDelta {
                full_tokens: delta.full_tokens,
                ..graph::decode_delta(&text).unwrap()
            })
            .unwrap(),
            text
        );
        return;
    };
    let delta = graph::decode_delta(&fixture.input_text()).unwrap();
    match (
        graph::apply(&snapshots.base_snapshot, &delta),
        snapshots.expected_snapshot,
    ) {
        (Ok(graph), Some(expected)) => {
            assert_eq!((&graph.symbols, &graph.edges), (&expected.symbols, &expected.edges));
            assert_eq!(graph.pack_root, snapshots.new_root.unwrap());
            let again = graph::diff(&snapshots.base_snapshot, &expected).unwrap();
            assert_eq!(graph::apply(&snapshots.base_snapshot, &again).unwrap(), graph);
        }
        (Err(error), None) => fixture.check_error(&error),
        (result, _) => panic!("{result:?}"),
    }
}

fn rows(objects: &Value, fields: &[String]) -> Vec<Vec<Value>> {
    let objects = objects.as_array().map_or(&[][..], Vec::as_slice);
    objects
        .iter()
        .map(|row| fields.iter().map(|field| row[field].clone()).collect())
        .collect()
}

fn keyed_set(input: &Value) -> KeyedSet {
    let fields: Vec<String> = serde_json::from_value(input["fields"].clone()).unwrap();
    KeyedSet {
        name: input["name"].as_str().unwrap_or_default().to_owned(),
        key: input["key"].as_str().unwrap().to_owned(),
        rows: rows(&input["rows"], &fields),
        fields,
    }
}

fn set_delta(input: &Value) -> SetDelta {
    let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
    let fields: Vec<String> = serde_json::from_value(input["fields"].clone()).unwrap();
    SetDelta {
        tool: text("tool"),
        key: text("key"),
        base_root: text("baseRoot"),
        new_root: text("newRoot"),
        added: rows(&input["added"], &fields),
        changed: rows(&input["changed"], &fields),
        removed: input["removed"].as_array().cloned().unwrap_or_default(),
        delta_tokens: input["deltaTokens"].as_u64().unwrap_or(0),
        full_tokens: input["fullTokens"].as_u64().unwrap_or(0),
        fields,
    }
}

fn delta_session(fixture: &Fixture) {
    let input: Value = serde_json::from_str(fixture.input()).unwrap();
    let expected = fixture.expected_value();
    let policy = match input["policy"]["mode"].as_str().unwrap() {
        "fixedN" => Reanchor::Every(input["policy"]["n"].as_u64().unwrap() as u32),
        "sizeGuard" => Reanchor::BySize,
        other => panic!("unknown policy {other}"),
    };
    let tool = input["tool"].as_str().unwrap();
    let (mut session, full) = DeltaSession::new(keyed_set(&input["base"]), tool, policy).unwrap();
    assert_eq!(full, expected["initialFull"].as_str().unwrap());
    let mut held = keyed_set::decode(&full, &DecodeOptions::default()).unwrap();
    let updates = input["updates"].as_array().unwrap();
    let emissions = expected["emissions"].as_array().unwrap();
    assert_eq!(updates.len(), emissions.len());
    for (update, emission) in updates.iter().zip(emissions) {
        let update = keyed_set(update);
        let reply = session.next(update.clone()).unwrap();
        assert_eq!(reply.text(), emission["wire"].as_str().unwrap());
        assert_eq!(matches!(reply, Reply::Full(_)), emission["isFull"].as_bool().unwrap());
        held = match &reply {
            Reply::Full(text) => keyed_set::decode(text, &DecodeOptions::default()).unwrap(),
            reply => {
                let delta = keyed_set::decode_delta(reply.text(), &DecodeOptions::default()).unwrap();
                keyed_set::apply(&held, &delta).unwrap()
            }
        };
        assert_eq!(
            held.pack_root().unwrap(),
            update.pack_root().unwrap(),
            "the receiver follows"
        );
    }
}

fn decode(text: &str) -> Result<Value, Error> {
    gcf::from_str(text)
}

fn base64(encoded: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = 0u32;
    let mut count = 0;
    let mut bytes = Vec::new();
    for symbol in encoded.bytes().filter(|symbol| *symbol != b'=') {
        bits = bits << 6 | ALPHABET.iter().position(|letter| *letter == symbol).unwrap() as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xFF) as u8);
        }
    }
    bytes
}
