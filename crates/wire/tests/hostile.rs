//! Hostile input: a typed error or a right value, in time and memory that grow with the input and no faster.

mod counting;
mod mutations;

use counting::bounded;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

fn decoders(text: &str) -> [(&'static str, Result<Value, String>); 3] {
    [
        ("gcx", wire::gcx::from_str(text).map_err(|error| error.to_string())),
        ("gcf", wire::gcf::from_str(text).map_err(|error| error.to_string())),
        ("any", wire::decode(text).map_err(|error| error.to_string())),
    ]
}

#[test]
fn a_million_brackets() {
    let deep = format!(
        "GCX1 tool=t fields=a,b\n{}{}\t1\n",
        "[".repeat(1_000_000),
        "]".repeat(1_000_000)
    );
    let value = bounded("gcx deep cell", deep.len(), || wire::gcx::from_str(&deep)).unwrap();
    // Too deep to be read as JSON, so it is text, all of it.
    assert_eq!(value["a"].as_str().map(str::len), Some(2_000_000));
    let deep = format!("GCF profile=generic\n{}", "a=[1]:".repeat(1_000_000));
    let _ = bounded("gcf deep line", deep.len(), || wire::gcf::from_str::<Value>(&deep)).is_ok();
    let mut nested = String::from("GCF profile=generic\n");
    (0..2_000).for_each(|depth| nested.push_str(&format!("{}## a\n", "  ".repeat(depth))));
    bounded("gcf deep sections", nested.len(), || {
        wire::gcf::from_str::<Value>(&nested)
    })
    .unwrap_err();
}

#[test]
fn a_value_nested_too_deep_is_refused_when_written() {
    let mut value = json!(1);
    (0..300).for_each(|_| value = json!([value.take()]));
    let error = wire::gcx::to_string("t", &value).unwrap_err();
    assert_eq!(error.kind, wire::gcx::ErrorKind::TooDeep);
    wire::gcf::to_string(&value).unwrap_err();
}

#[test]
fn declared_counts_reserve_nothing() {
    for text in [
        "GCX1 tool=t fields=a rows=1000000000000000000\nx\n",
        "GCX1 tool=t fields=a,b rows=1000000000000000000\nx\ty\n",
        "GCF profile=generic\n## [1000000000000000000]{a,b}\n1|2\n",
        "GCF profile=generic\n## a [1000000000000000000]{a,b}\n1|2\n",
    ] {
        for (name, result) in bounded("counts", text.len(), || decoders(text)) {
            assert!(result.is_err() || name == "any", "{name}: {text}");
        }
    }
    let wide = format!("GCX1 tool=t fields=a{}\n1\n", ",b".repeat(500_000));
    bounded("wide header", wide.len(), || wire::gcx::from_str(&wide)).unwrap_err();
    // As many columns as are allowed still round-trip; one more is written another way.
    for count in [16_384, 16_385] {
        let value: Value = (0..count)
            .map(|n| (format!("k{n}"), json!(n)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        assert_eq!(
            wire::gcx::from_str(&wire::gcx::to_string("t", &value).unwrap()).unwrap(),
            value
        );
    }
}

#[test]
fn rows_with_nothing_in_common_do_not_multiply() {
    let rows: Value = (0..4000).map(|n| json!({format!("key{n}"): n})).collect();
    let json = rows.to_string();
    assert!(json.len() > 58_000);
    // The vocabulary is loaded once per process and is no part of what the value costs.
    wire::tokens::Tokenizer::Cl100k.count("");
    for form in ["gcx", "gcf", "auto"] {
        let text = bounded(form, json.len(), || match form {
            "gcx" => wire::gcx::to_string("t", &rows).ok(),
            "gcf" => wire::gcf::to_string(&rows).ok(),
            _ => {
                let layout = wire::layout::Layout::generic("t");
                wire::encode(&rows, &layout, wire::Format::Auto, wire::tokens::Tokenizer::Cl100k)
                    .ok()
                    .map(|e| e.text)
            }
        });
        // Refusing is allowed to GCF, which has no other shape; growing is allowed to none.
        if let Some(text) = text {
            assert!(text.len() < 4 * json.len(), "{form}: {} bytes", text.len());
            assert!(wire::same(&wire::decode(&text).unwrap(), &rows), "{form}");
        } else {
            assert_eq!(form, "gcf");
        }
    }
}

#[test]
fn ten_megabytes_on_one_line() {
    let long = "x\\t".repeat(3_400_000);
    let text = format!("GCX1 tool=t fields=a,b\n{long}\ty\n");
    let value = bounded("gcx long line", text.len(), || wire::gcx::from_str(&text)).unwrap();
    assert_eq!(value["a"].as_str().map(str::len), Some(6_800_000));
    let text = format!("GCX1 tool=t fields=a{} rows=1\n", " x".repeat(2_000_000));
    bounded("gcx long header", text.len(), || wire::gcx::from_str(&text)).unwrap_err();
    let text = format!("GCF profile=generic\na={}\n", "y".repeat(10_000_000));
    bounded("gcf long line", text.len(), || wire::gcf::from_str::<Value>(&text)).unwrap();
    let tabs = format!("GCX1 tool=t fields=a,b\n{}\n", "\t".repeat(10_000_000));
    let error = bounded("gcx tabs", tabs.len(), || wire::gcx::from_str(&tabs)).unwrap_err();
    assert_eq!(error.kind, wire::gcx::ErrorKind::RowTooLong);
}

/// What is held is the text: however small the cells, and however much a value of them would take.
#[test]
fn tables_of_small_cells_are_read_in_memory_that_follows_the_text() {
    let fields: Vec<String> = (0..50).map(|n| format!("c{n}")).collect();
    let wide = format!(
        "GCX1 tool=t fields={} rows=8200\n{}",
        fields.join(","),
        format!("{}7\n", "7\t".repeat(49)).repeat(8_200)
    );
    let thin = format!("GCX1 tool=t fields=a rows=300000\n{}", "1\n".repeat(300_000));
    let nested = format!("GCX1 tool=t fields=a,b\n{}", "{\"a\":[{}]}\t[[],[]]\n".repeat(60_000));
    let sections = "GCX1 tool=a fields=a\n".repeat(50_000);
    for (name, text) in [
        ("wide", wide),
        ("thin", thin),
        ("nested", nested),
        ("sections", sections),
    ] {
        let json = bounded(name, text.len(), || {
            serde_json::to_string(&wire::gcx::Document::parse(&text).unwrap()).unwrap()
        });
        assert_eq!(
            serde_json::from_str::<Value>(&json).unwrap(),
            wire::decode(&text).unwrap(),
            "{name}"
        );
    }
}

/// What Lacon writes it reads, whatever its size.
#[test]
fn what_is_written_is_never_refused() {
    let wide: Value = (0..8_200)
        .map(|row| {
            (0..50)
                .map(|column| (format!("c{column}"), json!(row * column)))
                .collect::<serde_json::Map<_, _>>()
        })
        .map(Value::Object)
        .collect();
    let thin: Value = (0..300_000).map(|row| json!({"a": row % 10})).collect();
    // Names far longer than what stands below them: no table says that in few bytes.
    let long = "n".repeat(40_000);
    let named: Value = (0..4_000).map(|row| json!({&long: row})).collect();
    for value in [wide, thin, named] {
        let text = wire::gcx::to_string("t", &value).unwrap();
        assert!(wire::decode(&text).unwrap() == value, "{}", &text[..60]);
    }
    // The same from a stranger is refused before anything is built.
    let text = format!("GCX1 tool=t fields={long}\n{}", "1\n".repeat(400_000));
    let error = bounded("names", text.len(), || wire::gcx::from_str(&text)).unwrap_err();
    assert_eq!(error.kind, wire::gcx::ErrorKind::TooLarge);
}

#[test]
fn invalid_utf8_and_lone_surrogates_are_errors() {
    wire::gcx::from_slice(b"GCX1 tool=t fields=a\n\xed\xa0\x80\n").unwrap_err();
    wire::gcf::from_slice::<Value>(b"GCF profile=generic\na=\xff\n").unwrap_err();
    // In a cell, JSON that is not valid is text; nothing is half-read.
    let value = wire::gcx::from_str("GCX1 tool=t fields=a,b\n[\"\\\\ud800\"]\t1\n").unwrap();
    assert_eq!(value["a"], json!("[\"\\ud800\"]"));
    wire::gcf::from_str::<Value>("GCF profile=generic\na=\"\\ud800\"\n").unwrap_err();
}

/// Texts near the formats: valid pieces in random order, with random bytes between.
fn near_miss() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "GCX1 tool=t fields=a,b", "GCX1 tool=t.x fields=value rows=2", "GCX1 ", "GCX2 ", " rows=1", " null=a", " empty=b",
            " eol=crlf", " sections=1", "\n", "\n\n", "\t", "\t\t", "\\", "\\\"", "\\\"\"", "#", "[1,2]", "{\"a\":1}", "_", ",_",
            "GCF profile=generic\n", "GCF profile=graph", "## a [2]{x,y}\n", "## [1]{a}\n", "1|2\n", "@0 ", "@0 fn a 0.5 x\n",
            "a=1\n", "a=\"x\"\n", "\"\\u12", "^", "^{a,b}", "~", "-", "@0<@1 calls\n", "## edges [1]\n", "\"a>b\"", "18446744073709551615",
        ]).prop_map(str::to_owned),
        2 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

#[test]
fn no_text_makes_a_decoder_panic_and_what_it_reads_it_can_say_again() {
    let config = ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    TestRunner::new(config)
        .run(&near_miss(), |text| {
            for (_, result) in decoders(&text) {
                if let Ok(value) = result {
                    let again = wire::gcx::to_string("t", &value).unwrap();
                    prop_assert_eq!(wire::gcx::from_str(&again).unwrap(), value);
                }
            }
            let _ = wire::protocol::decode_tool_definitions(&text).is_ok();
            let _ = wire::protocol::decode_tool_request(&text).is_ok();
            let _ = wire::protocol::decode_error(&text).is_ok();
            for layout in wire::answers::LAYOUTS {
                let _ = wire::gcx::value_with(layout, &text).is_ok();
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn no_bytes_make_a_decoder_panic() {
    let config = ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let bytes = prop::collection::vec(any::<u8>(), 0..200);
    TestRunner::new(config)
        .run(&bytes, |tail| {
            for head in [
                &b"GCX1 tool=t fields=a,b\n"[..],
                b"GCF profile=generic\n",
                b"GCF profile=graph\n",
                b"",
            ] {
                let input = [head, &tail].concat();
                let _ = wire::gcx::from_slice(&input).is_ok();
                let _ = wire::gcf::from_slice::<Value>(&input).is_ok();
            }
            Ok(())
        })
        .unwrap();
}
