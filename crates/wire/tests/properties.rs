//! Whatever the value, decoding what was encoded gives it back. Compared as values, over thousands of random ones.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Texts that formats get wrong: what looks like another type, line ends, separators, escapes, header words.
fn nasty_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("GCX1 tool=x fields=a"),
        Just("GCX1"),
        Just("#"),
        Just("\\"),
        Just("\t"),
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("\""),
        Just("true"),
        Just("false"),
        Just("null"),
        Just("0"),
        Just("-1.5e3"),
        Just("[]"),
        Just("{}"),
        Just("[1]"),
        Just("{\"a\":1}"),
        Just(","),
        Just(" "),
        Just("="),
        Just("é"),
        Just("\u{2028}"),
        Just("<&>"),
        Just("|"),
        Just("~"),
        Just("-"),
        Just("^"),
        Just("@"),
        Just("."),
        Just(":"),
        Just("a"),
        Just("name"),
        Just("\u{1f600}"),
        Just("\u{0}"),
        Just("\u{7f}"),
        Just("\u{feff}"),
        Just("_"),
    ];
    prop_oneof![
        4 => prop::collection::vec(pieces, 0..4).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
        2 => "[a-z]{0,8}",
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        2 => any::<i64>().prop_map(Value::from),
        2 => (-20i64..20).prop_map(Value::from),
        1 => any::<f64>().prop_filter("JSON has no other floats", |f| f.is_finite()).prop_map(Value::from),
        1 => (-8i32..8).prop_map(|n| Value::from(f64::from(n) / 4.0)),
        6 => nasty_text().prop_map(Value::from),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec!["id", "name", "line", "value", "rows", "_", "null", "empty", "tool", "A", "eol", "sections"])
            .prop_map(str::to_owned),
        1 => nasty_text(),
    ]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = scalar();
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key(), inner.clone()), 0..5).prop_map(object),
            // Tables: rows that share most keys, which is what the formats are for.
            (
                prop::collection::vec(key(), 1..5),
                prop::collection::vec(prop::collection::vec(scalar(), 5), 0..5)
            )
                .prop_map(table),
            (
                key(),
                prop::collection::vec(key(), 1..4),
                prop::collection::vec(prop::collection::vec(inner, 4), 0..4),
                scalar()
            )
                .prop_map(|(name, keys, rows, extra)| json!({name: table((keys, rows)), "total": extra})),
        ]
    })
}

fn object(members: Vec<(String, Value)>) -> Value {
    Value::Object(members.into_iter().collect::<Map<_, _>>())
}

fn table((keys, rows): (Vec<String>, Vec<Vec<Value>>)) -> Value {
    rows.into_iter()
        .map(|row| object(keys.iter().cloned().zip(row).collect()))
        .collect()
}

#[test]
fn gcx_gives_back_any_json_value() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&json_value(), |value| {
            for text in [
                wire::gcx::to_string("tool", &value).unwrap(),
                wire::gcx::to_string("analyze.kind", &value).unwrap(),
                wire::gcx::to_string_in_one_section("tool", &value).unwrap(),
            ] {
                let back = wire::gcx::from_str(&text);
                prop_assert!(
                    back.as_ref().is_ok_and(|back| *back == value),
                    "{text:?}\n  gave {back:?}\n  of {value}"
                );
            }
            Ok(())
        })
        .unwrap();
}
