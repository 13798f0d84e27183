//! The codec as its callers use it: typed values both ways, rows, streams, sessions, deltas.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::gcf::graph::{self, Edge, Graph, Reply, Session, SessionLimits, SessionReader, Symbol};
use wire::gcf::keyed_set::{self, KeyedSet};
use wire::gcf::{self, Category, DecodeOptions, EncodeOptions, Rows, Stream, bench};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Unit,
    Newtype(i64),
    Tuple(i64, String),
    Struct { width: f32, label: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Everything {
    shapes: Vec<Shape>,
    map: BTreeMap<u32, Vec<bool>>,
    pair: (char, f64),
    none: Option<u8>,
    some: Option<Box<Everything>>,
    unit: (),
    bytes: Vec<u8>,
    small: i8,
    big: i64,
}

fn everything() -> Everything {
    let inner = Everything {
        shapes: vec![],
        map: BTreeMap::new(),
        pair: ('|', -0.5),
        none: None,
        some: None,
        unit: (),
        bytes: vec![],
        small: -128,
        big: i64::MIN,
    };
    Everything {
        shapes: vec![
            Shape::Unit,
            Shape::Newtype(-3),
            Shape::Tuple(1, "a,b".into()),
            Shape::Struct {
                width: 0.1,
                label: Some("x".into()),
            },
            Shape::Struct {
                width: 2.0,
                label: None,
            },
        ],
        map: BTreeMap::from([(7, vec![true]), (9, vec![])]),
        pair: ('é', 1e300),
        none: None,
        some: Some(Box::new(inner)),
        unit: (),
        bytes: vec![0, 255],
        small: 127,
        big: i64::MAX,
    }
}

#[test]
fn types_survive() {
    let value = vec![everything(), everything()];
    for options in [EncodeOptions::default(), EncodeOptions::no_flatten()] {
        let text = gcf::to_string_with(&value, &options).unwrap();
        let back: Vec<Everything> = gcf::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(back, value);
    }
    let rows = bench::flat_rows(50);
    assert_eq!(
        gcf::from_str::<Vec<bench::FlatRow>>(&gcf::to_string(&rows).unwrap()).unwrap(),
        rows
    );
    let graph = bench::code_graph(60);
    assert_eq!(
        gcf::from_str::<bench::CodeGraph>(&gcf::to_string(&graph).unwrap()).unwrap(),
        graph
    );
}

#[test]
fn typed_and_json_values_encode_alike() {
    let graph = bench::code_graph(40);
    let value = serde_json::to_value(&graph).unwrap();
    assert_eq!(gcf::to_string(&graph).unwrap(), gcf::to_string(&value).unwrap());
}

#[test]
fn strings_are_borrowed_from_the_text() {
    #[derive(Deserialize)]
    struct Person<'a> {
        name: &'a str,
    }
    let people: Vec<Person<'_>> = gcf::from_str("GCF profile=generic\n## [1]{name}\n\"Ada, L\"\n").unwrap();
    assert_eq!(people[0].name, "Ada, L");
}

#[test]
fn values_json_has_not_are_refused() {
    let category = |result: gcf::Result<String>| result.unwrap_err().category();
    assert_eq!(category(gcf::to_string(&u64::MAX)), Category::OutOfRange);
    assert_eq!(category(gcf::to_string(&i128::MIN)), Category::OutOfRange);
    assert_eq!(category(gcf::to_string(&f64::NAN)), Category::InvalidValue);
    assert_eq!(category(gcf::to_string(&[f32::INFINITY])), Category::InvalidValue);
    assert_eq!(
        category(gcf::from_json(r#"{"a":1,"a":2}"#, &EncodeOptions::default())),
        Category::DuplicateKey
    );
    let raw: Box<serde_json::value::RawValue> = serde_json::from_str("[100000000000000000000]").unwrap();
    assert_eq!(category(gcf::to_string(&raw)), Category::OutOfRange);
    let raw: Box<serde_json::value::RawValue> = serde_json::from_str(r#"{"a": [1, 2.50]}"#).unwrap();
    assert_eq!(gcf::to_string(&raw).unwrap(), "GCF profile=generic\na[2]: 1,2.5\n");
}

#[test]
fn nothing_is_written_when_encoding_fails() {
    let mut written = Vec::new();
    assert!(gcf::to_writer(&mut written, &json!({"a": 1, "b": u64::MAX})).is_err());
    assert!(written.is_empty());
    gcf::to_writer(&mut written, &json!({"a": 1})).unwrap();
    assert_eq!(written, b"GCF profile=generic\na=1\n");
}

#[test]
fn rows_come_one_at_a_time() {
    let value = json!({"total": 3, "rows": [{"id": 1, "tags": ["a"]}, {"id": 2}, {"id": 3, "tags": []}]});
    let text = gcf::to_string(&value).unwrap();
    let options = DecodeOptions::default();
    let mut rows = Rows::section(&text, "rows", &options).unwrap();
    let rows: Vec<Value> = rows.iter().collect::<Result<_, _>>().unwrap();
    assert_eq!(Value::from(rows), value["rows"]);
    assert!(Rows::section(&text, "other", &options).is_err());
    assert!(Rows::root(&text, &options).is_err());
    let mut members = Rows::root("GCF profile=generic\n## [2:]{key,x}\na|1\nb|2\n", &options).unwrap();
    assert_eq!(
        members.next_member::<Value>().unwrap(),
        Some((Some("a".to_owned()), json!({"x": 1})))
    );
    let mut cut = Rows::root("GCF profile=generic\n## [2]{x}\n1\n", &options).unwrap();
    let rows: Vec<_> = cut.iter::<Value>().collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].as_ref().unwrap_err().category(), Category::CountMismatch);
}

#[test]
fn streams_decode_as_what_was_written() {
    let mut stream = Stream::new(Vec::new()).unwrap();
    stream.member("title", &"a,b").unwrap();
    stream.table(Some("users"), &["id", "full name"]).unwrap();
    stream.row(&json!({"id": 1, "full name": "Ada | L"})).unwrap();
    stream.row(&json!({"full name": null})).unwrap();
    assert_eq!(
        stream.row(&json!({"id": 1, "extra": 2})).unwrap_err().category(),
        Category::InvalidValue
    );
    assert_eq!(
        stream.row(&json!({"id": [1]})).unwrap_err().category(),
        Category::InvalidValue
    );
    stream.keyed_map(Some("servers"), &["key"]).unwrap();
    stream.keyed_row("web", &json!({"key": true})).unwrap();
    assert_eq!(
        stream.keyed_row("web", &json!({})).unwrap_err().category(),
        Category::DuplicateKey
    );
    assert_eq!(
        stream.table(Some("x"), &["a>b"]).unwrap_err().category(),
        Category::InvalidName
    );
    let text = String::from_utf8(stream.finish().unwrap()).unwrap();
    assert_eq!(
        text,
        "GCF profile=generic\ntitle=\"a,b\"\n## users [?]{id,\"full name\"}\n1|\"Ada | L\"\n~|-\n\
         ## servers [?:]{_key,key}\nweb|true\n##! summary counts=2,1\n"
    );
    let expected = json!({"title": "a,b", "users": [{"id": 1, "full name": "Ada | L"}, {"full name": null}], "servers": {"web": {"key": true}}});
    assert_eq!(gcf::from_str::<Value>(&text).unwrap(), expected);
    let cut = text.split("##!").next().unwrap();
    let options = DecodeOptions::default();
    assert!(gcf::parse(cut, &options).unwrap().missing_trailer());
}

fn symbol(kind: &str, name: &str, score: f64, distance: u32) -> Symbol {
    Symbol {
        qualified_name: name.into(),
        kind: kind.into(),
        score,
        provenance: "lsp".into(),
        distance,
    }
}

fn edge(source: &str, target: &str) -> Edge {
    Edge {
        source: source.into(),
        target: target.into(),
        edge_type: "calls".into(),
        ..Edge::default()
    }
}

fn sample(size: usize) -> Graph {
    let symbols = (0..size).map(|index| {
        symbol(
            "function",
            &format!("pkg.f{index}"),
            0.7834 - index as f64 / 1000.0,
            index as u32 % 3,
        )
    });
    let edges = (1..size).map(|index| edge(&format!("pkg.f{index}"), &format!("pkg.f{}", index / 2)));
    Graph {
        tool: "t".into(),
        symbols: symbols.collect(),
        edges: edges.collect(),
        ..Graph::default()
    }
}

#[test]
fn one_name_for_two_kinds_keeps_both() {
    let edge = Edge {
        target_kind: Some("type".into()),
        ..edge("a.F", "a.X")
    };
    let graph = Graph {
        symbols: vec![
            symbol("function", "a.X", 0.5, 0),
            symbol("type", "a.X", 0.4, 0),
            symbol("function", "a.F", 0.3, 0),
        ],
        edges: vec![edge.clone()],
        ..Graph::default()
    };
    let text = graph::encode(&graph).unwrap();
    assert!(text.contains("@1<@2 calls"), "{text}");
    assert_eq!(graph::decode(&text).unwrap(), graph);
    let vague = Graph {
        edges: vec![Edge {
            target_kind: None,
            ..edge
        }],
        ..graph
    };
    assert_eq!(
        graph::encode(&vague).unwrap_err().category(),
        Category::UnknownEdgeReference
    );
}

#[test]
fn names_cannot_break_lines() {
    for name in ["a b", "a\nb", "", "é", "a\tb"] {
        let graph = Graph {
            symbols: vec![symbol("function", name, 0.5, 0)],
            ..Graph::default()
        };
        assert_eq!(
            graph::encode(&graph).unwrap_err().category(),
            Category::InvalidName,
            "{name:?}"
        );
    }
    let graph = Graph {
        tool: "x session=true".into(),
        ..Graph::default()
    };
    assert_eq!(graph::encode(&graph).unwrap_err().category(), Category::InvalidName);
}

#[test]
fn sessions_refer_only_to_what_was_delivered_unchanged() {
    let start = Instant::now();
    let limits = SessionLimits {
        symbols: 4,
        ..SessionLimits::default()
    };
    let mut session = Session::new(limits, start);
    let mut reader = SessionReader::new();
    let lost = session.prepare(&sample(2), start).unwrap();
    drop(lost);
    let text = session.encode(&sample(2), start).unwrap();
    assert!(
        !text.contains("previously"),
        "an uncommitted draft was never delivered: {text}"
    );
    reader.decode(&text).unwrap();
    let mut changed = sample(3);
    changed.symbols[0].score = 0.9;
    changed.symbols[1].distance = 2;
    let text = session.encode(&changed, start).unwrap();
    assert_eq!(text.matches("previously").count(), 1, "{text}");
    let back = reader.decode(&text).unwrap();
    let names = |graph: &Graph| {
        graph
            .symbols
            .iter()
            .map(|symbol| (symbol.qualified_name.clone(), symbol.distance))
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(names(&back), names(&changed));
    assert_eq!(
        back.symbols
            .iter()
            .find(|symbol| symbol.qualified_name == "pkg.f0")
            .unwrap()
            .score,
        0.9
    );
    assert_eq!(
        SessionReader::new().decode(&text).unwrap_err().category(),
        Category::UnknownReference
    );
    let full = session.encode(&sample(9), start).unwrap();
    assert!(!full.contains("session=true"), "past the limit: {full}");
    assert!(session.is_empty());
    session.encode(&sample(2), start).unwrap();
    let late = session.encode(&sample(2), start + Duration::from_secs(86_400)).unwrap();
    assert!(!late.contains("previously"), "idle too long: {late}");
}

#[test]
fn replies_are_unchanged_delta_or_full() {
    let base = sample(60);
    let root = graph::pack_root(&base).unwrap();
    let mut next = base.clone();
    next.symbols[5].score = 0.11;
    next.symbols.push(symbol("type", "pkg.New", 0.333, 1));
    next.edges.push(edge("pkg.New", "pkg.f0"));
    next.edges.remove(0);
    let measure = |text: &str| text.len();
    assert!(matches!(
        graph::reply(Some(&root), Some(&base), &base, measure).unwrap(),
        Reply::Unchanged(_)
    ));
    assert!(matches!(
        graph::reply(None, Some(&base), &next, measure).unwrap(),
        Reply::Full(_)
    ));
    assert!(matches!(
        graph::reply(Some("sha256:other"), Some(&base), &next, measure).unwrap(),
        Reply::Full(_)
    ));
    let Reply::Delta(text) = graph::reply(Some(&root), Some(&base), &next, measure).unwrap() else {
        panic!("no delta")
    };
    // The client holds what the text carried, two decimals.
    let held = graph::decode(&graph::encode(&base).unwrap()).unwrap();
    let applied = graph::apply(&held, &graph::decode_delta(&text).unwrap()).unwrap();
    assert_eq!(applied.pack_root, graph::pack_root(&next).unwrap());
    let twice = graph::apply(&applied, &graph::decode_delta(&text).unwrap());
    assert_eq!(twice.unwrap_err().category(), Category::BaseMismatch);
    let mut wrong = graph::decode_delta(&text).unwrap();
    wrong.added.clear();
    assert!(matches!(
        graph::apply(&held, &wrong).unwrap_err().category(),
        Category::UnknownEdgeReference | Category::RootMismatch
    ));
    let mut wrong = graph::decode_delta(&text).unwrap();
    wrong.added.push(symbol("function", "pkg.f0", 0.1, 0));
    assert_eq!(
        graph::apply(&held, &wrong).unwrap_err().category(),
        Category::DeltaInvalid
    );
}

#[test]
fn keyed_sets_follow_changes() {
    let rows = |status: &str, count: usize| -> Vec<Value> {
        (0..count).map(|id| json!({"id": format!("n{id}"), "status": if id == 0 { status } else { "ok" }, "load": id as f64 / 8.0})).collect()
    };
    let base = KeyedSet::from_rows("nodes", "id", &rows("ok", 200)).unwrap();
    let next = KeyedSet::from_rows("nodes", "id", &rows("down, soon", 201)).unwrap();
    let options = DecodeOptions::default();
    let full = keyed_set::encode(&base, "status").unwrap();
    let held = keyed_set::decode(&full, &options).unwrap();
    assert_eq!(held.pack_root().unwrap(), base.pack_root().unwrap());
    assert_eq!(
        gcf::from_str::<Value>(&full).unwrap()["nodes"]
            .as_array()
            .unwrap()
            .len(),
        200,
        "readable without deltas"
    );
    let root = base.pack_root().unwrap();
    let reply = keyed_set::reply(Some(&root), Some(&base), &next, "status", str::len).unwrap();
    let Reply::Delta(text) = reply else { panic!("{reply:?}") };
    let applied = keyed_set::apply(&held, &keyed_set::decode_delta(&text, &options).unwrap()).unwrap();
    assert_eq!(applied.pack_root().unwrap(), next.pack_root().unwrap());
    let forged = full.replace("ok", "no");
    assert_eq!(
        keyed_set::decode(&forged, &options).unwrap_err().category(),
        Category::RootMismatch
    );
    let twice = vec![json!({"id": 1}), json!({"id": 1})];
    assert_eq!(
        KeyedSet::from_rows("x", "id", &twice).unwrap_err().category(),
        Category::DeltaInvalid
    );
    let nested = KeyedSet::from_rows("x", "id", &[json!({"id": 1, "v": [1]})]).unwrap();
    assert_eq!(
        keyed_set::encode(&nested, "").unwrap_err().category(),
        Category::DeltaInvalid
    );
}

#[test]
fn speeds_can_be_measured() {
    let speeds = bench::speeds(Duration::from_millis(1)).unwrap();
    assert_eq!(speeds.len(), 4);
    assert!(
        speeds
            .iter()
            .all(|speed| speed.ratio > 0.0 && speed.gcf_bytes < speed.json_bytes)
    );
}
