//! The automatic choice: what it picks for which data, small and large.

use serde_json::{Value, json};
use wire::layout::Layout;
use wire::tokens::Tokenizer;
use wire::{Encoded, Format};

fn choose(value: &Value) -> Encoded {
    let encoded =
        wire::encode(value, &Layout::generic("tool"), Format::Auto, Tokenizer::O200k).expect("the value encodes");
    assert!(Tokenizer::O200k.count(&encoded.text) <= Tokenizer::O200k.count(&value.to_string()));
    assert!(wire::same(
        &wire::decode(&encoded.text).expect("the text decodes"),
        value
    ));
    encoded
}

/// What the server says of a copy that is still right is no empty answer.
#[test]
fn unchanged_is_read_as_unchanged() {
    let root = format!("sha256:{}", "a".repeat(64));
    let graph = format!("GCF profile=graph tool=context_for_task unchanged=true pack_root={root} symbols=17\n");
    assert_eq!(
        wire::decode(&graph).unwrap(),
        json!({"unchanged": true, "pack_root": root, "symbols": 17})
    );
    let rows = format!("GCF profile=generic tool=get_callers unchanged=true pack_root={root} count=3\n");
    assert_eq!(
        wire::decode(&rows).unwrap(),
        json!({"unchanged": true, "pack_root": root, "count": 3})
    );
}

#[test]
fn search_text_says_the_same_in_every_format() {
    let value = json!({"matches": [{"path": "a.py", "line": 3, "text": "def f():", "symbol": "f"}], "total": 1, "files": 1,
        "searched": 9, "truncated": false});
    let layout = wire::answers::layout_of("search_text").expect("a layout");
    for format in [Format::Json, Format::Gcx, Format::Gcf, Format::Lcx, Format::Auto] {
        let text = wire::encode(&value, layout, format, Tokenizer::O200k).unwrap().text;
        assert!(wire::same(&wire::decode(&text).unwrap(), &value), "{text}");
    }
}

#[test]
fn tiny_and_sparse_answers_stay_json() {
    assert_eq!(choose(&json!({"not_modified": true})).format, Format::Json);
    assert_eq!(choose(&json!([])).format, Format::Json);
    assert_eq!(choose(&json!("text")).format, Format::Json);
    let sparse: Value = (0..50).map(|n| json!({format!("key{n}"): n})).collect();
    assert_eq!(choose(&sparse).format, Format::Json);
}

#[test]
fn rows_become_a_table_and_cost_a_quarter_less() {
    for count in [20, 5_000] {
        let rows: Value = (0..count)
            .map(|n| json!({"id": format!("a/b{}.go::F{n}", n % 7), "kind": "function", "line": n, "exported": n % 2 == 0}))
            .collect();
        let encoded = choose(&rows);
        assert_ne!(encoded.format, Format::Json);
        let (saved, json) = (
            Tokenizer::O200k.count(&encoded.text),
            Tokenizer::O200k.count(&rows.to_string()),
        );
        assert!(saved * 4 < json * 3, "{saved} of {json}");
    }
}

#[test]
fn values_no_compact_form_can_carry_stay_json() {
    // GCF has no integers past i64, and says so; the choice goes on without it.
    let value = json!([{"id": u64::MAX, "name": "a"}, {"id": 1, "name": "b"}]);
    assert_ne!(choose(&value).format, Format::Gcf);
}

#[test]
fn a_format_is_detected_by_its_first_word() {
    assert_eq!(wire::detect("GCX1 tool=t fields=a\n"), Format::Gcx);
    assert_eq!(wire::detect("GCX2 tool=t fields=a\n"), Format::Gcx);
    assert_eq!(wire::detect("# comment\nGCX1 tool=t fields=a\n"), Format::Gcx);
    assert_eq!(wire::detect("GCF profile=generic\n"), Format::Gcf);
    assert_eq!(wire::detect(" {\"a\":1}"), Format::Json);
    assert!(matches!(
        wire::decode_from("# x", Format::Markdown),
        Err(wire::Error::Markdown)
    ));
    assert!(
        matches!(wire::decode("GCX2 tool=t fields=a\n"), Err(wire::Error::Gcx(error)) if error.is_unknown_version())
    );
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
}

/// What a tool sends says how many lines it has: a text that was cut anywhere is refused, in every format.
#[test]
fn a_sent_answer_that_was_cut_is_refused() {
    let object = json!({"name": "a", "size": 3, "about": "# no comment", "lines_below": 7});
    let list = json!([{"id": "a", "line": 1}, {"id": "b", "line": 20}]);
    let lists = json!({"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"from": "a", "to": "b"}], "total": 2, "note": "two words"});
    for value in [object, list, lists, json!({"rows": []}), json!({})] {
        for format in [Format::Json, Format::Gcx, Format::Gcf, Format::Lcx, Format::Auto] {
            let layout = Layout::generic("tool");
            let json = value.to_string();
            let text = wire::encode_answer(&value, &json, &layout, format, Tokenizer::O200k)
                .unwrap()
                .text;
            let read = wire::decode(&text).unwrap();
            assert!(wire::same(&read, &value), "{read} of {text}");
            // A client may put a line between texts.
            let spaced = if text.starts_with('{') || text.starts_with('[') {
                text.clone()
            } else {
                text.clone() + "\n"
            };
            assert!(wire::same(&wire::decode(&spaced).unwrap(), &value), "{spaced}");
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                assert!(wire::decode(&text[..end]).is_err(), "{}", &text[..end]);
            }
        }
    }
}

#[test]
fn several_answers_are_one_text() {
    let layout = wire::answers::layout_of("search_symbols").unwrap();
    let value = |name: &str| {
        json!({"results": [{"id": format!("a.py::{name}"), "kind": "function", "name": name, "path": "a.py", "line": 3}],
            "total": 1, "truncated": false})
    };
    let text = |name: &str| wire::encode(&value(name), layout, Format::Lcx, Tokenizer::O200k).unwrap();
    let texts = [text("f"), text("g")];
    assert!(texts.iter().all(|text| text.format == Format::Lcx), "{texts:?}");
    let joined = wire::joined(&texts.map(|text| text.text));
    let expected =
        json!([{"tool": "search_symbols", "answer": value("f")}, {"tool": "search_symbols", "answer": value("g")}]);
    assert!(wire::same(&wire::decode(&joined).unwrap(), &expected), "{joined}");
    for end in (0..joined.len()).filter(|end| joined.is_char_boundary(*end)) {
        assert!(wire::decode(&joined[..end]).is_err(), "{}", &joined[..end]);
    }
}
