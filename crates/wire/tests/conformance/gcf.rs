//! Our own cases of GCF, in `tests/fixtures/gcf`: the kinds of a case's blocks say what is done with them.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use wire::gcf::graph::{
    self, Graph, GraphDelta, GraphStream, GraphStreamOptions, Reply, Session, SessionLimits, SessionReader,
    TrailerCounts,
};
use wire::gcf::keyed_set::{self, DeltaSession, KeyedSet, Reanchor, SetDelta};
use wire::gcf::{self, DecodeOptions, EncodeOptions, Error, Payload, Stream};

use super::pages::{self, Case};

/// At least as many cases a page as the format's own fixtures have for what it is about.
const FLOOR: &[(&str, usize)] = &[
    ("arrays", 9),
    ("attachments", 5),
    ("containers", 8),
    ("decoding", 4),
    ("flattening", 19),
    ("graph-decoding", 4),
    ("graph-deltas", 3),
    ("graph-encoding", 2),
    ("graph-pack-roots", 3),
    ("graph-sessions", 2),
    ("inline-schemas", 11),
    ("keyed-maps", 25),
    ("keys", 12),
    ("numbers", 16),
    ("refusals", 36),
    ("roots", 9),
    ("scalars", 25),
    ("set-deltas", 5),
    ("set-pack-roots", 4),
    ("set-sessions", 3),
    ("streaming", 10),
    ("whitespace", 1),
];

#[test]
fn every_case_of_gcf_holds() {
    pages::check("gcf", FLOOR, run);
}

fn run(case: &Case) {
    let kinds = case.kinds();
    match kinds.as_slice() {
        ["json", "gcf"] => encodes(case.text(0), case.text(1)),
        ["json", "attached"] => {
            let value: Value = json(case, 0);
            let text = gcf::to_string_with(&value, &EncodeOptions::no_flatten()).unwrap();
            assert_eq!(text, case.text(1));
            reads(&text, case.text(0));
        }
        ["json", "error"] => refused(gcf::from_json(case.text(0), &EncodeOptions::default()), case.text(1)),
        ["gcf", "json"] => reads(case.text(0), case.text(1)),
        ["gcf", "gcf"] => {
            let value: Value = gcf::from_str(case.text(0)).unwrap();
            assert_eq!(gcf::to_string(&value).unwrap(), case.text(1));
        }
        ["gcf", "error"] => refused(decode_bytes(&case.blocks[0].content), case.text(1)),
        ["graph", "gcf"] => encodes_graph(&json(case, 0), case.text(1)),
        ["graph", "error"] => refused(graph::encode(&json(case, 0)), case.text(1)),
        ["gcf", "graph"] => assert_eq!(graph::decode(case.text(0)).unwrap(), json::<Graph>(case, 1)),
        ["graph", "records", "root"] => {
            let graph: Graph = json(case, 0);
            assert_eq!(graph::canonical_records(&graph).unwrap(), case.text(1));
            assert_eq!(graph::pack_root(&graph).unwrap(), root(case, 1, 2));
        }
        ["graph", "stream"] => streams_graph(&json(case, 0), TrailerCounts::Positional, case.text(1)),
        ["graph", "labeled stream"] => streams_graph(&json(case, 0), TrailerCounts::Labeled, case.text(1)),
        ["tables", "stream"] => streams_tables(&json(case, 0), case.text(1)),
        ["call", ..] => follows_a_session(case),
        ["graph delta", "gcf"] => {
            let delta: GraphDelta = json(case, 0);
            assert_eq!(graph::encode_delta(&delta).unwrap(), case.text(1));
            let back = graph::decode_delta(case.text(1)).unwrap();
            // How many tokens the whole would take is not sent, only what was saved.
            let full_tokens = delta.full_tokens;
            assert_eq!(GraphDelta { full_tokens, ..back }, delta);
        }
        ["base", "gcf", "graph"] => {
            let (base, new): (Graph, Graph) = (json(case, 0), json(case, 2));
            let applied = graph::apply(&base, &graph::decode_delta(case.text(1)).unwrap()).unwrap();
            assert_eq!((&applied.symbols, &applied.edges), (&new.symbols, &new.edges));
            assert_eq!(applied.pack_root, graph::pack_root(&new).unwrap());
            let again = graph::diff(&base, &new).unwrap();
            assert_eq!(graph::apply(&base, &again).unwrap().pack_root, applied.pack_root);
        }
        ["base", "gcf", "error"] => refused(
            graph::apply(&json(case, 0), &graph::decode_delta(case.text(1)).unwrap()),
            case.text(2),
        ),
        ["set", "gcf"] => {
            let set = set(case, 0);
            assert_eq!(keyed_set::encode(&set, "").unwrap(), case.text(1));
            assert_eq!(keyed_set::decode(case.text(1), &DecodeOptions::default()).unwrap(), set);
        }
        ["set", "records", "root"] => assert_eq!(set(case, 0).pack_root().unwrap(), root(case, 1, 2)),
        ["set", "error"] => refused(keyed_set::encode(&set(case, 0), ""), case.text(1)),
        ["set delta", "gcf"] => {
            let delta = set_delta(case, 0);
            assert_eq!(keyed_set::encode_delta(&delta).unwrap(), case.text(1));
            let back = keyed_set::decode_delta(case.text(1), &DecodeOptions::default()).unwrap();
            assert_eq!(
                (back.added, back.changed, back.removed),
                (delta.added, delta.changed, delta.removed)
            );
        }
        ["set", "gcf", "set"] => {
            let delta = keyed_set::decode_delta(case.text(1), &DecodeOptions::default()).unwrap();
            assert_eq!(keyed_set::apply(&set(case, 0), &delta).unwrap(), set(case, 2));
        }
        ["set", "gcf", "error"] => {
            let delta = keyed_set::decode_delta(case.text(1), &DecodeOptions::default()).unwrap();
            refused(keyed_set::apply(&set(case, 0), &delta), case.text(2));
        }
        ["policy", "set", "full", ..] => follows_a_set(case),
        other => panic!("no test has the blocks {other:?}"),
    }
}

fn json<T: DeserializeOwned>(case: &Case, block: usize) -> T {
    serde_json::from_str(case.text(block)).unwrap()
}

/// That something failed, and that the message begins as said: the code, and the line where there is one.
#[track_caller]
fn refused<T>(result: Result<T, Error>, expected: &str) {
    let Err(error) = result else { panic!("accepted") };
    let (message, expected) = (error.to_string(), expected.trim_end());
    let rest = message.strip_prefix(expected);
    assert!(
        rest.is_some_and(|rest| rest.starts_with([' ', ':'])),
        "{message}\nexpected: {expected}"
    );
}

fn decode_bytes(bytes: &[u8]) -> Result<Payload<'_>, Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => gcf::decode(text, &DecodeOptions::default()),
        Err(_) => Err(gcf::from_slice::<Value>(bytes).unwrap_err()),
    }
}

/// A value's text, and the value back: by every way in and out, with nested objects flattened and not.
fn encodes(json: &str, expected: &str) {
    let value: Value = serde_json::from_str(json).unwrap();
    assert_eq!(gcf::from_json(json, &EncodeOptions::default()).unwrap(), expected);
    assert_eq!(gcf::to_string(&value).unwrap(), expected, "as a typed value");
    let back: Value = gcf::from_str(expected).unwrap();
    assert!(same(&back, &value), "decoded: {back}");
    // The order of members survives too: what was read is written as before.
    let json = gcf::to_json(expected, &DecodeOptions::default()).unwrap();
    assert_eq!(
        gcf::from_json(&json, &EncodeOptions::default()).unwrap(),
        expected,
        "{json}"
    );
    let attached = gcf::to_string_with(&value, &EncodeOptions::no_flatten()).unwrap();
    let back: Value = gcf::from_str(&attached).unwrap();
    assert!(same(&back, &value), "not flattened: {back}\n{attached}");
}

fn reads(text: &str, json: &str) {
    let value: Value = gcf::from_str(text).unwrap();
    let expected: Value = serde_json::from_str(json).unwrap();
    assert!(same(&value, &expected), "{value}");
    let told = gcf::to_json(text, &DecodeOptions::default()).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told.to_string(), value.to_string(), "members in the same order");
}

fn encodes_graph(graph: &Graph, expected: &str) {
    let text = graph::encode(graph).unwrap();
    assert_eq!(text, expected);
    let back = graph::decode(&text).unwrap();
    assert_eq!(graph::encode(&back).unwrap(), text);
    assert_eq!(graph::pack_root(&back).unwrap(), graph::pack_root(graph).unwrap());
}

/// The root that a case gives, which must be the hash of the records it gives.
fn root(case: &Case, records: usize, root: usize) -> String {
    let digest = Sha256::digest(&case.blocks[records].content);
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let root = case.text(root).trim_end();
    assert_eq!(root, format!("sha256:{hash}"), "the root is not that of the records");
    root.to_owned()
}

fn streams_graph(graph: &Graph, counts: TrailerCounts, expected: &str) {
    let options = GraphStreamOptions {
        tool: graph.tool.clone(),
        token_budget: graph.token_budget,
        counts,
    };
    let mut stream = GraphStream::new(Vec::new(), &options).unwrap();
    for symbol in &graph.symbols {
        stream.symbol(symbol).unwrap();
    }
    for edge in &graph.edges {
        stream.edge(edge).unwrap();
    }
    let text = String::from_utf8(stream.finish().unwrap()).unwrap();
    assert_eq!(text, expected);
    assert_eq!(graph::decode(&text).unwrap(), *graph);
}

/// What a stream of tables is given, and the value it must be read back as.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[serde(default)]
    members: serde_json::Map<String, Value>,
    tables: Vec<Table>,
    value: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: Option<String>,
    columns: Vec<String>,
    #[serde(default)]
    rows: Vec<Value>,
    /// Instead of rows: the members of a keyed map.
    map: Option<serde_json::Map<String, Value>>,
}

fn streams_tables(given: &Tables, expected: &str) {
    let mut stream = Stream::new(Vec::new()).unwrap();
    for (key, value) in &given.members {
        stream.member(key, value).unwrap();
    }
    for table in &given.tables {
        let columns: Vec<&str> = table.columns.iter().map(String::as_str).collect();
        let name = table.name.as_deref();
        if let Some(map) = &table.map {
            stream.keyed_map(name, &columns).unwrap();
            for (key, row) in map {
                stream.keyed_row(key, row).unwrap();
            }
        } else {
            stream.table(name, &columns).unwrap();
            for row in &table.rows {
                stream.row(row).unwrap();
            }
        }
    }
    let text = String::from_utf8(stream.finish().unwrap()).unwrap();
    assert_eq!(text, expected);
    let back: Value = gcf::from_str(&text).unwrap();
    assert!(same(&back, &given.value), "{back}");
}

/// Calls of one conversation, in turn: what is to be said, and what is sent.
fn follows_a_session(case: &Case) {
    let now = std::time::Instant::now();
    let mut session = Session::new(SessionLimits::default(), now);
    let mut reader = SessionReader::new();
    for (at, pair) in case.kinds().chunks(2).enumerate() {
        assert_eq!(pair, ["call", "gcf"], "calls and what is sent, in turn");
        let graph: Graph = json(case, at * 2);
        let text = session.encode(&graph, now).unwrap();
        assert_eq!(text, case.text(at * 2 + 1));
        assert_eq!(reader.decode(&text).unwrap(), graph, "the reader has the whole graph");
    }
}

/// A keyed set as cases give it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    #[serde(default)]
    name: String,
    key: String,
    fields: Vec<String>,
    rows: Vec<Vec<Value>>,
}

fn set(case: &Case, block: usize) -> KeyedSet {
    let Set {
        name,
        key,
        fields,
        rows,
    } = json(case, block);
    KeyedSet {
        name,
        key,
        fields,
        rows,
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
struct Delta {
    tool: String,
    key: String,
    fields: Vec<String>,
    base_root: String,
    new_root: String,
    added: Vec<Vec<Value>>,
    changed: Vec<Vec<Value>>,
    removed: Vec<Value>,
    delta_tokens: u64,
    full_tokens: u64,
}

fn set_delta(case: &Case, block: usize) -> SetDelta {
    let delta: Delta = json(case, block);
    SetDelta {
        tool: delta.tool,
        key: delta.key,
        fields: delta.fields,
        base_root: delta.base_root,
        new_root: delta.new_root,
        added: delta.added,
        changed: delta.changed,
        removed: delta.removed,
        delta_tokens: delta.delta_tokens,
        full_tokens: delta.full_tokens,
    }
}

/// One set through time: what is sent first, then for each state the delta, or the whole again.
fn follows_a_set(case: &Case) {
    let policy = match case.text(0).trim_end() {
        "by size" => Reanchor::BySize,
        every => Reanchor::Every(every.strip_prefix("every ").expect("every N").parse().unwrap()),
    };
    let options = DecodeOptions::default();
    let (mut session, text) = DeltaSession::new(set(case, 1), "", policy).unwrap();
    assert_eq!(text, case.text(2));
    let mut held = keyed_set::decode(&text, &options).unwrap();
    let kinds = case.kinds();
    for at in (3..kinds.len()).step_by(2) {
        assert_eq!(kinds[at], "set");
        let next = set(case, at);
        let reply = session.next(next.clone()).unwrap();
        assert_eq!(reply.text(), case.text(at + 1));
        held = match (kinds[at + 1], &reply) {
            ("full", Reply::Full(text)) => keyed_set::decode(text, &options).unwrap(),
            ("delta", Reply::Delta(text)) => {
                keyed_set::apply(&held, &keyed_set::decode_delta(text, &options).unwrap()).unwrap()
            }
            (kind, reply) => panic!("{kind} and {reply:?}"),
        };
        assert_eq!(
            held.pack_root().unwrap(),
            next.pack_root().unwrap(),
            "the receiver follows"
        );
    }
}

/// Equal as the format sees it: `1.0` and `1` are one number.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        (left, right) => left == right,
    }
}
