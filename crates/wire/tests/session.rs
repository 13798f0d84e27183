//! Sessions over every tool: what the reader puts together is what was said, and no reference is made to what was not sent.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use wire::gcf::graph::{SessionLimits, SessionReader as GraphReader};
use wire::session::{Session, SessionReader};
use wire::tokens::Tokenizer;

fn session() -> Session {
    Session::new(SessionLimits::default(), Instant::now())
}

/// Prepares, sends through a format, reads and expands.
fn sent(session: &mut Session, reader: &mut SessionReader, value: &Value) -> (Value, usize, usize) {
    let now = Instant::now();
    let Some(draft) = session.prepare(value, now) else {
        return (value.clone(), 0, 0);
    };
    let text = wire::encode(
        draft.value(),
        &wire::layout::Layout::generic("x"),
        wire::Format::Auto,
        Tokenizer::O200k,
    )
    .unwrap()
    .text;
    let references = draft.references();
    session.commit(draft, now);
    let read = wire::decode(&text).unwrap();
    (reader.expand(&read).unwrap(), references, Tokenizer::O200k.count(&text))
}

fn node(number: u32, line: u32) -> Value {
    json!({"id": format!("src/shop/f{}.rs::Cart.add{number}", number % 3), "kind": "method", "name": format!("add{number}"),
           "path": format!("src/shop/f{}.rs", number % 3), "line": line})
}

#[test]
fn the_second_time_a_symbol_is_a_number() {
    let (mut session, mut reader) = (session(), SessionReader::new());
    let first = json!({"nodes": (0..20).map(|n| node(n, 10 + n)).collect::<Vec<_>>(), "total": 20});
    let (value, references, tokens) = sent(&mut session, &mut reader, &first);
    assert!(wire::same(&value, &first) && references == 0);
    let second = json!({
        "nodes": (5..20).map(|n| node(n, 10 + n)).collect::<Vec<_>>(),
        "edges": [{"from": "src/shop/f1.rs::Cart.add7", "to": "src/shop/f2.rs::Cart.add8", "kind": "calls", "confidence": 0.95}],
        "total": 15,
    });
    let (value, references, fewer) = sent(&mut session, &mut reader, &second);
    assert!(wire::same(&value, &second), "{value}");
    assert_eq!(references, 15);
    assert!(fewer * 3 < tokens, "{fewer} {tokens}");
}

#[test]
fn a_changed_symbol_is_said_again() {
    let (mut session, mut reader) = (session(), SessionReader::new());
    sent(&mut session, &mut reader, &json!({"nodes": [node(1, 10)]}));
    let changed = json!({"nodes": [node(1, 11)]});
    let (value, references, _) = sent(&mut session, &mut reader, &changed);
    assert!(wire::same(&value, &changed) && references == 0);
}

#[test]
fn what_was_not_delivered_is_not_referred_to() {
    let (mut session, mut reader) = (session(), SessionReader::new());
    let value = json!({"nodes": [node(1, 10)]});
    drop(session.prepare(&value, Instant::now()));
    let (read, references, _) = sent(&mut session, &mut reader, &value);
    assert!(wire::same(&read, &value) && references == 0);
}

#[test]
fn an_idle_session_starts_again() {
    let now = Instant::now();
    let limits = SessionLimits {
        idle: Duration::from_secs(5),
        ..SessionLimits::default()
    };
    let mut session = Session::new(limits, now);
    let value = json!({"nodes": [node(1, 10)]});
    let draft = session.prepare(&value, now).unwrap();
    session.commit(draft, now);
    assert_eq!(
        session
            .prepare(&value, now + Duration::from_secs(4))
            .unwrap()
            .references(),
        1
    );
    assert_eq!(
        session
            .prepare(&value, now + Duration::from_secs(6))
            .unwrap()
            .references(),
        0
    );
}

/// Numbers of graph payloads and of tables never mean two things.
#[test]
fn graphs_and_tables_share_the_numbers() {
    use wire::gcf::graph::{Graph, Symbol};
    let now = Instant::now();
    let mut session = session();
    let draft = session
        .prepare(&json!({"nodes": [node(1, 10), node(2, 11)]}), now)
        .unwrap();
    session.commit(draft, now);
    let symbol = |name: &str| Symbol {
        qualified_name: name.to_string(),
        kind: "function".to_string(),
        score: 0.5,
        provenance: "named".to_string(),
        distance: 0,
    };
    let graph = Graph {
        tool: "context_for_task".to_string(),
        symbols: vec![symbol("a.py::f"), symbol("a.py::g")],
        ..Graph::default()
    };
    let draft = session.graph().prepare(&graph, now).unwrap();
    let numbers = draft.numbers().to_vec();
    let mut reader = GraphReader::new();
    assert_eq!(reader.decode(draft.text()).unwrap().symbols, graph.symbols);
    session.graph().commit(draft, now);
    session.graph_was_sent(now);
    let draft = session.prepare(&json!({"nodes": [node(3, 12)]}), now).unwrap();
    let new = draft.value()["new"][0]["n"].as_u64().unwrap();
    assert!(
        numbers.iter().all(|number| *number > 2 && *number < new),
        "{numbers:?} {new}"
    );
}

/// Rows as tools make them, with columns that come and go, ids that are paths, and names that do not follow from the id.
fn rows() -> impl Strategy<Value = Value> {
    let row =
        (0u32..8, 0u32..3, any::<bool>(), any::<bool>(), 0u32..4).prop_map(|(number, line, with_sig, odd, extra)| {
            let path = format!("src/f{}.rs", number % 3);
            let id = match number {
                7 => path.clone(),
                _ => format!("{path}::A.m{number}~2"),
            };
            let mut row = json!({"id": id, "path": path, "line": line});
            if with_sig {
                row["sig"] = json!(format!("fn m{number}({line})"));
            }
            match extra {
                0 => row["name"] = json!(if odd { "other".to_string() } else { format!("m{number}") }),
                1 => row["score"] = json!(f64::from(line) / 4.0),
                2 => row["to"] = json!(format!("src/f0.rs::B.n{line}")),
                _ => {}
            }
            row
        });
    proptest::collection::vec(row, 0..6).prop_map(Value::from)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_of_a_conversation_comes_back(answers in proptest::collection::vec((rows(), rows()), 1..6), resets in any::<u8>()) {
        let (mut session, mut reader) = (session(), SessionReader::new());
        for (turn, (left, right)) in answers.into_iter().enumerate() {
            if resets >> turn & 1 == 1 && turn > 2 {
                session.reset(Instant::now());
                reader = SessionReader::new();
            }
            let value = json!({"left": left, "right": right, "total": 3});
            let (read, ..) = sent(&mut session, &mut reader, &value);
            prop_assert!(wire::same(&read, &value), "{read} {value}");
        }
    }
}
