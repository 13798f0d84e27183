//! GCX1 byte for byte: what the reference writes, what it reads, and what it loses and we keep.

use serde_json::{Value, json};
use wire::gcx::{self, ErrorKind};

/// Text that must come out of the value, and the value that must come back.
fn check(value: Value, text: &str) {
    assert_eq!(gcx::to_string("t", &value).unwrap(), text);
    assert_eq!(gcx::from_str(text).unwrap(), value);
}

/// How a strict reader of the format, without any of our conventions, reads the rows of a text.
fn as_old_decoders_read(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut fields = 0;
    for line in text.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(header) = line.strip_prefix("GCX1") {
            let list = header
                .split(' ')
                .find_map(|token| token.strip_prefix("fields="))
                .expect("fields=");
            assert!(header.split(' ').skip(1).all(|token| token.contains('=')), "{header}");
            fields = list.split(',').count();
            continue;
        }
        let mut row: Vec<String> = line.split('\t').map(unescape).collect();
        assert!(row.len() <= fields, "{line}");
        row.resize(fields, String::new());
        rows.push(row);
    }
    rows
}

fn unescape(raw: &str) -> String {
    let mut text = String::new();
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, false) => text.push(character),
            _ => match characters.next() {
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
        }
    }
    text
}

#[test]
fn the_generic_fallback_is_the_references() {
    check(
        json!([{"b": "x", "a": 1}, {"a": 2.5}]),
        "GCX1 tool=t fields=a,b rows=2\n1\tx\n2.5\t\n",
    );
    check(
        json!({"b": [1, {"d": 2, "c": "<&>"}], "a": true}),
        "GCX1 tool=t fields=a,b\ntrue\t[1,{\"c\":\"\\\\u003c\\\\u0026\\\\u003e\",\"d\":2}]\n",
    );
    check(json!([]), "GCX1 tool=t fields=value rows=0\n");
    check(json!(["x", 1, [2]]), "GCX1 tool=t fields=value rows=3\nx\n1\n[2]\n");
    check(json!([{"a": 1}, 2]), "GCX1 tool=t fields=value rows=2\n{\"a\":1}\n2\n");
    check(json!("a\tb\\c\nd"), "GCX1 tool=t fields=value\na\\tb\\\\c\\nd\n");
    check(json!(3), "GCX1 tool=t fields=value\n3\n");
}

#[test]
fn lists_inside_an_object_become_sections() {
    check(
        json!({"total": 2, "nodes": [{"id": "a"}, {"id": "b"}], "edges": [], "tests": ["x"]}),
        "GCX1 tool=t.nodes fields=id total=2\na\nb\nGCX1 tool=t.edges fields=value\nGCX1 tool=t.tests fields=value\nx\n",
    );
    check(
        json!({"task": "two words", "nodes": [{"id": "a"}]}),
        "GCX1 tool=t fields=task\ntwo words\nGCX1 tool=t.nodes fields=id\na\n",
    );
    check(
        json!({"nodes": [{"id": "a"}]}),
        "GCX1 tool=t.nodes fields=id sections=1\na\n",
    );
    let value = json!({"nodes": [{"id": "a"}], "n": 1});
    let one = gcx::to_string_in_one_section("t", &value).unwrap();
    assert_eq!(one, "GCX1 tool=t fields=n,nodes\n1\t[{\"id\":\"a\"}]\n");
    assert_eq!(gcx::from_str(&one).unwrap(), value);
}

#[test]
fn what_the_reference_loses_is_kept_and_old_decoders_read_the_same_words() {
    for (value, text, read) in [
        // The first cell begins like a comment or like a header.
        (
            json!([{"a": "# x", "b": 1}]),
            "GCX1 tool=t fields=a,b rows=1\n\\# x\t1\n",
            vec![vec!["# x", "1"]],
        ),
        (
            json!([{"a": "GCX1 x", "b": 1}]),
            "GCX1 tool=t fields=a,b rows=1\n\\GCX1 x\t1\n",
            vec![vec!["GCX1 x", "1"]],
        ),
        // A lone empty cell would be a blank line.
        (
            json!(["", "x"]),
            "GCX1 tool=t fields=value,_ empty=value rows=2\n\t\nx\t\n",
            vec![vec!["", ""], vec!["x", ""]],
        ),
        (
            json!([{"a": 1}, {}]),
            "GCX1 tool=t fields=a,_ rows=2\n1\t\n\t\n",
            vec![vec!["1", ""], vec!["", ""]],
        ),
        // Text that looks like another type.
        (
            json!(["1.0", "true", "false", "[]"]),
            "GCX1 tool=t fields=value rows=4\n\\1.0\nt\\rue\n\\false\n\\[]\n",
            vec![vec!["1.0"], vec!["true"], vec!["false"], vec!["[]"]],
        ),
        // Null, absent and empty.
        (
            json!([{"a": null, "b": ""}]),
            "GCX1 tool=t fields=a,b empty=b null=a rows=1\n\t\n",
            vec![vec!["", ""]],
        ),
        // Windows line ends.
        (
            json!({"a": "x\r\ny\r\n", "b": 1}),
            "GCX1 tool=t fields=a,b eol=crlf\nx\\ny\\n\t1\n",
            vec![vec!["x\ny\n", "1"]],
        ),
    ] {
        check(value, text);
        assert_eq!(as_old_decoders_read(text), read);
    }
    // A CR that no header can imply is spelled in JSON, as the format spells every nested value.
    check(
        json!({"a": "x\ry", "b": 1}),
        "GCX1 tool=t fields=a,b\n\\\"x\\\\ry\"\t1\n",
    );
}

#[test]
fn both_spellings_are_read() {
    // As the reference writes them.
    let rows = json!(["", "x"]);
    assert_eq!(gcx::from_str("GCX1 tool=t fields=value rows=2\n\nx\n").unwrap(), rows);
    assert_eq!(
        gcx::from_str("GCX1 tool=t fields=a,b rows=1\nGCX1 is a format\t1\n").unwrap(),
        json!([{"a": "GCX1 is a format", "b": 1}])
    );
    // A header value with a space, entries before fields, comments, CRLF lines, a short row.
    let text = "# found\r\nGCX1 tool=t note=two words rows=1 fields=a,b\r\n# a comment\r\n\r\nx\r\n";
    assert_eq!(
        gcx::from_str(text).unwrap(),
        json!({"note": "two words", "rows": [{"a": "x"}]})
    );
    // Sections of an unknown tool, with counts.
    let text = "GCX1 tool=x.nodes fields=id rows=1 total=9\na\nGCX1 tool=x.edges fields=from,to rows=1\na\tb\n";
    assert_eq!(
        gcx::from_str(text).unwrap(),
        json!({"total": 9, "nodes": [{"id": "a"}], "edges": [{"from": "a", "to": "b"}]})
    );
}

/// Sections that do not belong together are answers of their own, and none is lost.
#[test]
fn texts_behind_each_other_are_all_kept() {
    for (text, value) in [
        (
            "GCX1 tool=x fields=a\n1\nGCX1 tool=y fields=a\n2\n",
            json!([{"tool": "x", "answer": {"a": 1}}, {"tool": "y", "answer": {"a": 2}}]),
        ),
        (
            "GCX1 tool=x.rows fields=a\n1\nGCX1 tool=x.rows fields=a\n2\n",
            json!([{"tool": "x.rows", "answer": {"a": 1}}, {"tool": "x.rows", "answer": {"a": 2}}]),
        ),
        (
            "GCX1 tool=x.a fields=n\n1\nGCX1 tool=x.b fields=n\n2\nGCX1 tool=y.a fields=n\n3\nGCX1 tool=y.b fields=n\n",
            json!([
                {"tool": "x", "answer": {"a": [{"n": 1}], "b": [{"n": 2}]}},
                {"tool": "y", "answer": {"a": [{"n": 3}], "b": []}},
            ]),
        ),
        (
            "GCX1 tool=x fields=value\nlead\nGCX1 tool=x.a fields=n\n2\n",
            json!({"value": "lead", "a": [{"n": 2}]}),
        ),
    ] {
        assert_eq!(gcx::from_str(text).unwrap(), value, "{text}");
        assert_eq!(wire::decode(text).unwrap(), value, "{text}");
    }
    // Answers of tools with a layout keep its types.
    let one =
        "GCX1 tool=contracts.orphans fields=contract_id,side,repo,symbol total=1 truncated=false\nc\tprovider\t42\ts\n";
    let two = wire::decode(&[one, one].concat()).unwrap();
    assert_eq!(
        (two[1]["tool"].as_str(), two[1]["answer"]["orphans"][0]["repo"].as_str()),
        (Some("contracts.orphans"), Some("42"))
    );
    // What would have to be dropped is refused instead.
    for text in [
        "GCX1 tool=x fields=a,b,a\n1\t2\t3\n",
        "GCX1 tool=x fields=a total=1 total=2\n1\n",
        "GCX1 tool=x.a fields=n a=1\n1\n",
        "GCX1 tool=x fields=a\n1\nGCX1 tool=x.a fields=n\n2\n",
    ] {
        assert!(gcx::from_str(text).is_err(), "{text}");
    }
}

/// An empty cell is an absent member wherever it is, unless the header says that it is null or the empty text.
#[test]
fn an_empty_cell_means_one_thing() {
    for (text, value) in [
        ("GCX1 tool=t fields=a,b\n1\t\n", json!({"a": 1})),
        ("GCX1 tool=t fields=a,b rows=1\n1\t\n", json!([{"a": 1}])),
        ("GCX1 tool=t fields=a,b rows=1\n1\n", json!([{"a": 1}])),
        ("GCX1 tool=t fields=a rows=2\n\n1\n", json!([{}, {"a": 1}])),
        ("GCX1 tool=t fields=a,b null=b\n1\t\n", json!({"a": 1, "b": null})),
        ("GCX1 tool=t fields=a,b empty=b\n1\n", json!({"a": 1, "b": ""})),
        (
            "GCX1 tool=t fields=a rows=2 null=a\n\n1\n",
            json!([{"a": null}, {"a": 1}]),
        ),
    ] {
        assert_eq!(gcx::from_str(text).unwrap(), value, "{text}");
    }
}

/// A number that would be rounded and JSON with a key twice stay the text that they are.
#[test]
fn cells_that_no_value_holds_are_text() {
    let text = "GCX1 tool=t fields=a,b,c\n12345678901234567890123\t{\"a\":1,\"a\":2}\t[12345678901234567890123]\n";
    assert_eq!(
        gcx::from_str(text).unwrap(),
        json!({"a": "12345678901234567890123", "b": "{\"a\":1,\"a\":2}", "c": "[12345678901234567890123]"})
    );
}

/// A counted section whose last line has no end was cut, wherever in the line.
#[test]
fn a_text_cut_inside_its_last_row_is_refused() {
    let text = "GCX1 tool=t fields=a,b rows=2\n1\tx\n22\tyy\n";
    assert!(gcx::from_str(text).is_ok());
    for end in 0..text.len() {
        assert!(gcx::from_str(&text[..end]).is_err(), "{:?}", &text[..end]);
    }
}

#[test]
fn errors_say_where_what_and_what_to_do() {
    for (text, kind, message) in [
        (
            "GCX2 tool=t fields=a\n1\n",
            ErrorKind::UnknownVersion,
            "line 1, column 1: found the unknown version `GCX2`, expected `GCX1` (ask again with format json)",
        ),
        (
            "{}",
            ErrorKind::NotGcx,
            "line 1, column 1: found `{}`, expected a line `GCX1 tool=… fields=…` (ask again with format json)",
        ),
        (
            "",
            ErrorKind::NotGcx,
            "line 1, column 1: found nothing, expected a line `GCX1 tool=… fields=…` (ask again with format json)",
        ),
        (
            "GCX1 fields=a\n",
            ErrorKind::Header,
            "line 1, column 1: found a header without a tool, expected tool=<name> (write `GCX1 tool=<name> fields=<a>,<b> key=value`)",
        ),
        (
            "GCX1 tool=t\n",
            ErrorKind::Header,
            "line 1, column 1: found a header without fields, expected fields=<a>,<b>,… (write `GCX1 tool=<name> fields=<a>,<b> key=value`)",
        ),
        (
            "GCX1 oops tool=t fields=a\n",
            ErrorKind::Header,
            "line 1, column 6: found `oops`, expected key=value (write `GCX1 tool=<name> fields=<a>,<b> key=value`)",
        ),
        (
            "GCX1 tool=t fields=a,b\nx\ty\n1\t2\t3\n",
            ErrorKind::RowTooLong,
            "line 3, column 5: found 3 values, expected at most 2, as the header has fields (escape a TAB inside a value as \\t)",
        ),
        (
            "GCX1 tool=t fields=a rows=3\nx\n",
            ErrorKind::RowCount,
            "line 1, column 1: found 1 rows, expected rows=3 (the payload was cut: ask again)",
        ),
        (
            "GCX1 tool=t fields=a rows=many\nx\n",
            ErrorKind::Header,
            "line 1, column 1: found rows=many, expected rows=<count>",
        ),
    ] {
        let error = gcx::from_str(text).unwrap_err();
        assert_eq!((error.kind, error.to_string().as_str()), (kind, message));
        assert_eq!(error.is_unknown_version(), kind == ErrorKind::UnknownVersion);
    }
    let error = gcx::from_slice(b"GCX1 tool=t fields=a\nab\xffc\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2, column 3: found the byte 0xff, expected UTF-8 (send the text as UTF-8)"
    );
}

#[test]
fn names_that_would_corrupt_a_header_are_refused_or_kept_in_cells() {
    assert_eq!(
        gcx::to_string("two words", &json!(1)).unwrap_err().kind,
        ErrorKind::Schema
    );
    for key in ["a,b", "a b", "a\\b", "", "a\tb"] {
        let value = json!([{key: 1, "x": 2}]);
        let text = gcx::to_string("t", &value).unwrap();
        assert!(text.starts_with("GCX1 tool=t fields=value rows=1\n{"), "{text}");
        assert_eq!(gcx::from_str(&text).unwrap(), value);
    }
    // Entries that have a meaning of their own are never taken for metadata.
    for key in ["tool", "fields", "rows", "null", "empty", "eol", "sections"] {
        let value = json!({key: "x", "list": [{"a": 1}]});
        assert_eq!(gcx::from_str(&gcx::to_string("t", &value).unwrap()).unwrap(), value);
    }
}

#[test]
fn the_hand_writer_and_the_reader_agree() {
    let mut writer = gcx::Writer::new();
    writer
        .section("t", &["a", "b"], &[("total", "2"), ("etag", "x\\y")])
        .unwrap();
    writer.comment("two\nrows");
    writer.row(&["#1", "a\tb"]).unwrap();
    writer.row(&["2"]).unwrap();
    assert_eq!(writer.row(&["1", "2", "3"]).unwrap_err().kind, ErrorKind::RowTooLong);
    assert_eq!(
        writer.section("t", &["a"], &[("note", "two words")]).unwrap_err().kind,
        ErrorKind::Schema
    );
    assert_eq!(
        writer.section("t", &["a"], &[("tool", "x")]).unwrap_err().kind,
        ErrorKind::Schema
    );
    let text = writer.finish();
    assert_eq!(
        text,
        "GCX1 tool=t fields=a,b etag=x\\\\y total=2\n# two rows\n\\#1\ta\\tb\n2\t\n"
    );
    let mut reader = gcx::Reader::new(&text);
    let Some(gcx::Line::Header(header)) = reader.next_line().unwrap() else {
        panic!("a header comes first")
    };
    assert_eq!((header.tool.as_str(), header.entry("total")), ("t", Some("2")));
    let Some(gcx::Line::Row(row, line)) = reader.next_line().unwrap() else {
        panic!("then a row")
    };
    assert_eq!(
        (gcx::row_values(row, line, 2).unwrap(), line),
        (vec!["#1".into(), "a\tb".into()], 3)
    );
}
