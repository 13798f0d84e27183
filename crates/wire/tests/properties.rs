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

/// GCF spells `1.0` as `1`, so numbers are compared by what they are; what it must refuse (integers past 64 bits, rows with
/// nothing in common) is refused, never changed.
#[test]
fn gcf_gives_back_any_json_value() {
    let config = ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let refused = std::cell::Cell::new(0);
    proptest::test_runner::TestRunner::new(config)
        .run(&json_value(), |value| {
            match wire::gcf::to_string(&value) {
                Ok(text) => {
                    let back = wire::gcf::from_str::<Value>(&text);
                    let equal = back.as_ref().is_ok_and(|back| wire::same(back, &value));
                    prop_assert!(equal, "{text:?}\n  gave {back:?}\n  of {value}");
                }
                Err(_) => refused.set(refused.get() + 1),
            }
            Ok(())
        })
        .unwrap();
    assert!(refused.get() < 100, "{} of 10,000 values refused", refused.get());
}

#[test]
fn the_automatic_choice_is_never_longer_than_json_and_never_loses() {
    let config = ProptestConfig {
        cases: 1_500,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest::test_runner::TestRunner::new(config)
        .run(&json_value(), |value| {
            let layout = wire::layout::Layout::generic("tool");
            let tokenizer = wire::tokens::Tokenizer::O200k;
            let encoded = wire::encode(&value, &layout, wire::Format::Auto, tokenizer).unwrap();
            prop_assert!(tokenizer.count(&encoded.text) <= tokenizer.count(&value.to_string()));
            let back = wire::decode_from(&encoded.text, encoded.format).unwrap();
            prop_assert!(
                wire::same(&back, &value),
                "{} {:?}\n  gave {back}\n  of {value}",
                encoded.format,
                encoded.text
            );
            Ok(())
        })
        .unwrap();
}

/// A value that fits `layout`, with texts that are hard to carry.
fn answer_of(layout: &'static wire::layout::Layout<'static>) -> impl Strategy<Value = Value> {
    let texts = prop::collection::vec(nasty_text(), 12);
    let numbers = prop::collection::vec((0u64..5_000_000, any::<f64>(), any::<bool>()), 12);
    (texts, numbers, prop::collection::vec(0usize..4, layout.sections.len())).prop_map(
        move |(texts, numbers, sizes)| {
            let mut at = 0;
            let mut cell = |column: &wire::layout::Column| {
                at += 1;
                let (text, (whole, float, flag)) = (&texts[at % 12], numbers[at % 12]);
                // Every third optional value is absent.
                if column.optional && at % 3 == 0 {
                    return None;
                }
                Some(match column.kind {
                    wire::layout::Kind::Text => json!(text),
                    wire::layout::Kind::Integer => json!(whole),
                    wire::layout::Kind::Float => json!(if float.is_finite() { float } else { 0.5 }),
                    wire::layout::Kind::Flag => json!(flag),
                    wire::layout::Kind::List => json!(texts[..at % 4].to_vec()),
                    wire::layout::Kind::Json => json!({"k": text}),
                    wire::layout::Kind::Names => json!([text]),
                })
            };
            let mut row = |columns: &[wire::layout::Column]| -> Map<String, Value> {
                columns
                    .iter()
                    .filter_map(|column| Some((column.name.to_owned(), cell(column)?)))
                    .collect()
            };
            let mut root = row(layout.meta);
            for (section, size) in layout.sections.iter().zip(sizes) {
                let mut scalar = || {
                    row(section.columns)
                        .into_iter()
                        .next()
                        .map_or(json!(""), |(_, value)| value)
                };
                let value: Value = match section.rows {
                    wire::layout::Rows::Values => (0..size).map(|_| scalar()).collect(),
                    wire::layout::Rows::Value => scalar(),
                    wire::layout::Rows::Many => (0..size).map(|_| Value::Object(row(section.columns))).collect(),
                    wire::layout::Rows::One if section.member.is_empty() => {
                        root.extend(row(section.columns));
                        continue;
                    }
                    wire::layout::Rows::One if size == 0 => Value::Null,
                    wire::layout::Rows::One => Value::Object(row(section.columns)),
                };
                root.insert(section.member.to_owned(), value);
            }
            Value::Object(root)
        },
    )
}

#[test]
fn every_typed_answer_comes_back_in_every_format() {
    // The shapes of the protocol allow only certain values: `tests/protocol.rs` has those.
    let is_shape = |tool: &str| ["tool_definitions", "tool_request", "error"].contains(&tool);
    for layout in wire::answers::LAYOUTS.iter().filter(|layout| !is_shape(layout.tool)) {
        let config = ProptestConfig {
            cases: 600,
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        proptest::test_runner::TestRunner::new(config)
            .run(&answer_of(layout), |value| {
                let text = wire::gcx::to_string_with(layout, &value).unwrap();
                let back = wire::gcx::value_with(layout, &text);
                let equal = back.as_ref().is_ok_and(|back| wire::same(back, &value));
                prop_assert!(equal, "{text:?}\n  gave {back:?}\n  of {value}");
                // Found from the header alone, too.
                prop_assert!(wire::same(&wire::decode(&text).unwrap(), &value));
                let text = wire::gcf::to_string(&value).unwrap();
                prop_assert!(
                    wire::same(&wire::gcf::from_str(&text).unwrap(), &value),
                    "{text:?} of {value}"
                );
                Ok(())
            })
            .unwrap();
    }
}
