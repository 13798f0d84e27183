//! Round trips over arbitrary values, and no panic over arbitrary bytes.

use proptest::prelude::*;
use serde_json::{Map, Number, Value};
use wire::gcf::{self, Category, DecodeOptions, EncodeOptions, Rows};

/// Equal as the format sees it: `1.0` and `1` are one number.
fn same(left: &Value, right: &Value) -> bool {
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

const TRICKY: [&str; 30] = [
    "",
    " ",
    "-",
    "~",
    "^",
    "^{a}",
    "true",
    "false",
    "null",
    "0",
    "-0",
    "01",
    "1e5",
    "+1",
    ".5",
    "a|b",
    "a,b",
    "# x",
    "## a",
    "@0 x",
    ".a {}",
    "a=b",
    "[1]: x",
    "x[2] :y",
    "\"q\"",
    "back\\slash",
    "line\nbreak\r",
    "\u{85}",
    "\u{a0}x",
    "^{open",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z ]{0,8}",
        2 => prop::sample::select(&TRICKY[..]).prop_map(str::to_owned),
        1 => ".{0,6}",
        1 => "[-+.0-9eE~^]{1,4}",
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(&["a", "b", "c", "id", "key", "_key"][..]).prop_map(str::to_owned),
        1 => prop::sample::select(&["", ">", "a>b", "a b", "é", "a[1]", "x,y", "p|q"][..]).prop_map(str::to_owned),
        1 => ".{0,3}",
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        2 => (-100i64..100).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_filter_map("finite", |float| Number::from_f64(float).map(Value::Number)),
        1 => (-1_000_000i64..1_000_000).prop_map(|thousandths| Value::from(thousandths as f64 / 1000.0)),
        3 => text().prop_map(Value::from),
    ]
}

fn object(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((key(), values), 0..5).prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// Rows that mostly agree on their keys, which is where the format is clever.
fn rows(values: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let columns = prop::collection::vec(key(), 1..4);
    (
        columns,
        prop::collection::vec(prop::collection::vec((values, 0..8u8), 4), 1..5),
    )
        .prop_map(|(columns, rows)| {
            let row = |cells: Vec<(Value, u8)>| {
                let present = columns.iter().zip(cells).filter(|(_, (_, chance))| *chance > 0);
                Value::Object(
                    present
                        .map(|(column, (value, _))| (column.clone(), value))
                        .collect::<Map<_, _>>(),
                )
            };
            Value::Array(rows.into_iter().map(row).collect())
        })
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            2 => object(inner.clone()),
            3 => rows(inner.clone().boxed()),
            // Nested objects of one shape: what path columns and inline schemas are made of.
            1 => (scalar(), scalar(), scalar(), inner).prop_map(|(x, y, z, w)| {
                let nested = |first: &Value| serde_json::json!({"x": first, "y": {"p": y, "q": z}, "z": 1});
                serde_json::json!([{"n": nested(&x), "w": w}, {"n": nested(&Value::Null)}, {"n": null}, {"w": 2}])
            }),
        ]
    })
}

#[track_caller]
fn check_round_trip(value: &Value, options: &EncodeOptions) {
    let text = gcf::to_string_with(value, options).unwrap_or_else(|error| panic!("{error}\n{value}"));
    let back: Value = gcf::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{value}\n{text}"));
    assert!(same(&back, value), "{value}\n{text}\n{back}");
    assert!(
        !text.lines().any(|line| line.ends_with([' ', '\t'])),
        "trailing space:\n{text}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_survives(value in value()) {
        check_round_trip(&value, &EncodeOptions::default());
    }

    #[test]
    fn any_value_survives_without_flattening(value in value()) {
        check_round_trip(&value, &EncodeOptions::no_flatten());
    }

    #[test]
    fn json_text_and_value_encode_alike(value in value()) {
        let json = serde_json::to_string(&value).unwrap();
        let text = gcf::from_json(&json, &EncodeOptions::default()).unwrap();
        prop_assert_eq!(&text, &gcf::to_string(&value).unwrap());
        let json = gcf::to_json(&text, &DecodeOptions::default()).unwrap();
        prop_assert_eq!(&gcf::from_json(&json, &EncodeOptions::default()).unwrap(), &text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_one_by_one_are_the_rows(value in rows(value().boxed())) {
        let text = gcf::to_string(&value).unwrap();
        let options = DecodeOptions::default();
        let Ok(mut rows) = Rows::root(&text, &options) else {
            // Rows without columns are not a table.
            let is_table = text.lines().nth(1).unwrap_or("").contains("]{");
            prop_assert!(!is_table, "{}", text);
            return Ok(());
        };
        let rows: Vec<Value> = rows.iter().collect::<Result<_, _>>().unwrap();
        prop_assert!(same(&Value::from(rows), &value), "{}", text);
    }

    #[test]
    fn damaged_payloads_never_panic(value in value(), cuts in prop::collection::vec((any::<usize>(), any::<u8>(), 0..4u8), 1..6)) {
        let mut bytes = gcf::to_string(&value).unwrap().into_bytes();
        const SPICE: &[u8] = b"|,^~@.#[]{}:=\"\\> \n\t-0";
        for (place, byte, kind) in cuts {
            let place = place % bytes.len();
            match kind {
                0 => bytes[place] = byte,
                1 => bytes[place] = SPICE[usize::from(byte) % SPICE.len()],
                2 => { bytes.remove(place); }
                _ => bytes.insert(place, SPICE[usize::from(byte) % SPICE.len()]),
            }
            if bytes.is_empty() {
                return Ok(());
            }
        }
        if let Ok(value) = gcf::from_slice::<Value>(&bytes) {
            // What was understood can be said again.
            match gcf::to_string(&value) {
                Ok(text) => prop_assert!(same(&gcf::from_str::<Value>(&text).unwrap(), &value)),
                Err(error) => prop_assert!(matches!(error.category(), Category::TooSparse), "{}", error),
            }
        }
    }

    #[test]
    fn random_lines_never_panic(lines in prop::collection::vec("[ ]{0,5}[@.#a=|^~{}\\[\\]\"\\\\0-9:,>?<-]{0,12}", 0..12), graph in any::<bool>()) {
        let profile = if graph { "graph" } else { "generic" };
        let text = format!("GCF profile={profile}\n{}", lines.join("\n"));
        let _ = gcf::decode(&text, &DecodeOptions::default());
        let text = format!("GCF profile={profile} delta=true key=a\n{}", lines.join("\n"));
        let _ = gcf::decode(&text, &DecodeOptions::default());
        let text = format!("GCF profile=graph session=true\n## targets\n{}", lines.join("\n"));
        let _ = gcf::graph::SessionReader::new().decode(&text);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = gcf::from_slice::<Value>(&bytes);
        let _ = gcf::from_slice::<Value>(&[b"GCF profile=generic\n", bytes.as_slice()].concat());
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let _ = gcf::from_json(text, &EncodeOptions::default());
        }
    }
}
