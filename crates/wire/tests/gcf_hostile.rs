//! Input made to hurt: each ends in a typed error or the right value, soon, and in memory that follows the input.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]
mod counting;

use counting::bounded;
use serde::de::IgnoredAny;
use serde_json::Value;
use wire::gcf::{self, Category, DecodeOptions, EncodeOptions, Rows};

#[track_caller]
fn decode_fails(text: &str, category: Category) {
    let error = bounded("gcf", text.len(), || gcf::from_str::<IgnoredAny>(text)).unwrap_err();
    assert_eq!(error.category(), category, "{error}");
    assert!(
        error.to_string().len() < 1000,
        "a message is not a place for the payload"
    );
}

#[track_caller]
fn json_fails(json: &str, category: Category) {
    let error = bounded("gcf", json.len(), || gcf::from_json(json, &EncodeOptions::default())).unwrap_err();
    assert_eq!(error.category(), category, "{error}");
}

#[test]
fn a_million_levels() {
    let deep = 1_000_000;
    json_fails(&"[".repeat(deep), Category::TooDeep);
    json_fails(&"{\"a\":".repeat(deep), Category::TooDeep);
    let mut nested = String::from("GCF profile=generic\n");
    let mut items = String::from("GCF profile=generic\n## [1]\n");
    for level in 0..2_000 {
        nested.push_str(&format!("{:indent$}## a\n", "", indent = level * 2));
        items.push_str(&format!("{:indent$}@0 [1]\n", "", indent = level * 2));
    }
    decode_fails(&nested, Category::TooDeep);
    decode_fails(&items, Category::TooDeep);
    decode_fails(
        &format!("GCF profile=generic\n## [1]{{\"{}a\"}}\n1\n", "a>".repeat(deep)),
        Category::TooDeep,
    );
    decode_fails(
        &format!("GCF profile=generic\n{}a=1\n", " ".repeat(deep)),
        Category::InvalidIndent,
    );
}

#[test]
fn the_deepest_allowed_value_survives() {
    for (open, close) in [
        ("[", "]"),
        ("{\"a\":", "}"),
        ("[{\"a\":", "}]"),
        ("{\"a\":{\"x\":1},\"b\":", "}"),
    ] {
        let levels = gcf::MAX_DEPTH / open.matches(['[', '{']).count().min(2) / if open.contains('x') { 2 } else { 1 };
        let json = format!("{}1{}", open.repeat(levels), close.repeat(levels));
        let text =
            gcf::from_json(&json, &EncodeOptions::default()).unwrap_or_else(|error| panic!("{error} for {open}"));
        let back = gcf::to_json(&text, &DecodeOptions::default()).unwrap_or_else(|error| panic!("{error} for {open}"));
        assert_eq!(back, json);
    }
}

#[test]
fn counts_of_ten_to_the_eighteen() {
    for header in [
        "## [1000000000000000000]{a}\n1",
        "## a [1000000000000000000]\n@0 =1",
        "a[1000000000000000000]: 1",
        "## [1000000000000000000:]{key,a}\nx|1",
    ] {
        decode_fails(&format!("GCF profile=generic\n{header}\n"), Category::CountMismatch);
    }
    let graph = "GCF profile=graph symbols=1000000000000000000 edges=1000000000000000000\n## targets\n@0 fn a 0.50 x\n";
    assert_eq!(
        gcf::graph::decode(graph).unwrap_err().category(),
        Category::CountMismatch
    );
}

#[test]
fn objects_that_share_no_key() {
    let objects: Vec<String> = (0..4_000).map(|row| format!("{{\"k{row}\":{row}}}")).collect();
    let json = format!("[{}]", objects.join(","));
    assert!(json.len() > 55_000);
    json_fails(&json, Category::TooSparse);
    // The same hidden one level down, where path columns would spread it.
    let objects: Vec<String> = (0..300)
        .map(|row| format!("{{\"k{row}\":{{\"a\":1,\"b\":2,\"c\":3}}}}"))
        .collect();
    json_fails(&format!("[{}]", objects.join(",")), Category::TooSparse);
    let map: Vec<String> = (0..4_000).map(|row| format!("\"m{row}\":{{\"k{row}\":1}}")).collect();
    json_fails(&format!("{{{}}}", map.join(",")), Category::TooSparse);
}

#[test]
fn many_small_sparse_tables() {
    let table: Vec<String> = (0..60).map(|row| format!("{{\"k{row}\":1}}")).collect();
    let json = format!("[{}]", vec![format!("[{}]", table.join(",")); 200].join(","));
    match bounded("gcf", json.len(), || gcf::from_json(&json, &EncodeOptions::default())) {
        Ok(text) => assert_eq!(gcf::to_json(&text, &DecodeOptions::default()).unwrap(), json),
        Err(error) => assert!(
            matches!(error.category(), Category::TooLarge | Category::TooSparse),
            "{error}"
        ),
    }
}

#[test]
fn long_chains_in_many_rows() {
    // Cubic in depth elsewhere: 42 seconds for 146 KB.
    let chain = format!("{}1{}", "{\"a\":".repeat(110), "}".repeat(110));
    let json = format!("[{}]", vec![format!("{{\"x\":{chain}}}"); 200].join(","));
    let text = bounded("gcf", json.len(), || gcf::from_json(&json, &EncodeOptions::default())).unwrap();
    assert_eq!(
        bounded("gcf", json.len(), || gcf::to_json(&text, &DecodeOptions::default())).unwrap(),
        json
    );
    let chain = format!("{}[]{}", "{\"a\":{},\"b\":".repeat(55), "}".repeat(55));
    let json = format!("[{}]", vec![format!("{{\"x\":{chain}}}"); 100].join(","));
    match bounded("gcf", json.len(), || gcf::from_json(&json, &EncodeOptions::default())) {
        Ok(text) => assert_eq!(gcf::to_json(&text, &DecodeOptions::default()).unwrap(), json),
        Err(error) => assert_eq!(error.category(), Category::TooLarge, "{error}"),
    }
}

#[test]
fn ten_megabytes_in_one_line() {
    let size = 10 << 20;
    let text = format!("GCF profile=generic\na={}\n", "x".repeat(size));
    let value: Value = bounded("gcf", text.len(), || gcf::from_str(&text)).unwrap();
    assert_eq!(value["a"].as_str().map(str::len), Some(size));
    let text = format!("GCF profile=generic\na={}\n", "\\".repeat(size));
    assert!(bounded("gcf", text.len(), || gcf::from_str::<IgnoredAny>(&text)).is_ok());
    decode_fails(
        &format!("GCF profile=generic\na=\"{}\n", "\\n".repeat(size / 2)),
        Category::UnterminatedQuote,
    );
    decode_fails(
        &format!("GCF profile=generic\n{}\n", "x".repeat(size)),
        Category::InvalidKey,
    );
    decode_fails(
        &format!("GCF profile=generic {}\n", "x".repeat(size)),
        Category::MalformedHeaderField,
    );
    let values = vec!["1"; size / 8].join(",");
    let text = format!("GCF profile=generic\na[{}]: {values}\n", size / 8);
    assert!(bounded("gcf", text.len(), || gcf::from_str::<IgnoredAny>(&text)).is_ok());
    let json = format!("\"{}\"", "[".repeat(size));
    assert!(bounded("gcf", json.len(), || gcf::from_json(&json, &EncodeOptions::default())).is_ok());
    let json = format!("\"{}\"", "] ".repeat(size / 2));
    assert!(bounded("gcf", json.len(), || gcf::from_json(&json, &EncodeOptions::default())).is_ok());
}

#[test]
fn bytes_that_are_not_text() {
    for bytes in [
        &b"GCF profile=generic\na=\xff\n"[..],
        b"\xff",
        b"GCF profile=generic\na=\xed\xa0\x80\n",
        b"GCF profile=generic\na=\xc3",
    ] {
        assert_eq!(
            gcf::from_slice::<Value>(bytes).unwrap_err().category(),
            Category::InvalidUtf8
        );
    }
    for escape in ["\\ud800", "\\udc00", "\\ud800\\ud800", "\\ud83d\\u0041", "\\ud83d"] {
        decode_fails(
            &format!("GCF profile=generic\na=\"{escape}\"\n"),
            Category::InvalidSurrogate,
        );
        json_fails(&format!("\"{escape}\""), Category::InvalidSurrogate);
    }
}

#[test]
fn rows_of_one_cell() {
    let rows = 500_000;
    let text = format!("GCF profile=generic\n## [{rows}]{{a}}\n{}", "1\n".repeat(rows));
    assert!(bounded("gcf", text.len(), || gcf::from_str::<IgnoredAny>(&text)).is_ok());
    let options = DecodeOptions::default();
    let sum: u64 = bounded("gcf", 100_000, || {
        #[derive(serde::Deserialize)]
        struct Row {
            a: u64,
        }
        let mut table = Rows::root(&text, &options).unwrap();
        table.iter::<Row>().map(|row| row.unwrap().a).sum()
    });
    assert_eq!(sum, rows as u64);
}

#[test]
fn rows_that_unfold() {
    // Two bytes a row, 120 objects each.
    let text = format!(
        "GCF profile=generic\n## [100000]{{\"{}a\"}}\n{}",
        "a>".repeat(120),
        "1\n".repeat(100_000)
    );
    decode_fails(&text, Category::TooLarge);
}

#[test]
fn many_distinct_keys_and_headers() {
    let mut members = String::from("GCF profile=generic\n");
    let mut sections = String::from("GCF profile=generic\n");
    for index in 0..100_000 {
        members.push_str(&format!("k{index}=1\n"));
        sections.push_str(&format!("## s{index} [1]{{c{index}}}\n1\n"));
    }
    for text in [&members, &sections] {
        assert!(bounded("gcf", text.len(), || gcf::from_str::<IgnoredAny>(text)).is_ok());
    }
    members.push_str("k77=2\n");
    decode_fails(&members, Category::DuplicateKey);
    let keys: Vec<String> = (0..60_000).map(|column| format!("\"c{column}\":1")).collect();
    let json = format!("[{{{}}}]", keys.join(","));
    let text = bounded("gcf", json.len(), || gcf::from_json(&json, &EncodeOptions::default())).unwrap();
    assert!(bounded("gcf", text.len(), || gcf::from_str::<IgnoredAny>(&text)).is_ok());
    let keys: Vec<String> = (0..70_000).map(|column| format!("\"c{column}\":1")).collect();
    json_fails(&format!("[{{{}}}]", keys.join(",")), Category::TooManyFields);
}

#[test]
fn graphs_with_one_name_for_everything() {
    let mut text = String::from("GCF profile=graph\n## targets\n");
    for index in 0..20_000 {
        text.push_str(&format!("@{index} k{index} same 0.50 x\n"));
    }
    text.push_str("## edges\n");
    for index in 0..20_000 {
        text.push_str(&format!("@{index}<@{} calls\n", 19_999 - index));
    }
    let graph = bounded("gcf", text.len(), || gcf::graph::decode(&text)).unwrap();
    let again = bounded("gcf", text.len(), || gcf::graph::encode(&graph)).unwrap();
    assert_eq!(gcf::graph::decode(&again).unwrap().edges.len(), 20_000);
}
