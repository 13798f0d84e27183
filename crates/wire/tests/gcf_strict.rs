//! What a reader must refuse, beyond the conformance fixtures: each of these is accepted or crashes in other implementations.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use serde_json::Value;
use wire::gcf::{self, Category, ConstantColumns, DecodeOptions};

#[track_caller]
fn refuses(body: &str, category: Category) {
    let text = format!("GCF profile=generic\n{body}");
    match gcf::from_str::<Value>(&text) {
        Ok(value) => panic!("accepted as {value}:\n{text}"),
        Err(error) => {
            assert_eq!(error.category(), category, "{error}\n{text}");
            assert!(error.line().is_some() && error.column().is_some(), "no place: {error}");
        }
    }
}

#[track_caller]
fn refuses_text(text: &str, category: Category) {
    match gcf::decode(text, &DecodeOptions::default()) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => assert_eq!(error.category(), category, "{error}\n{text}"),
    }
}

#[track_caller]
fn reads(body: &str, json: &str) {
    let text = format!("GCF profile=generic\n{body}");
    let value: Value = gcf::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(value, serde_json::from_str::<Value>(json).unwrap(), "{text}");
}

#[test]
fn row_numbers_must_be_the_rows() {
    refuses("## [2]{a,b}\n@0 1|^\n.b {}\n@0 2|^\n.b {}\n", Category::InvalidItemId);
    refuses("## [1]{a,b}\n@7 1|^\n.b {}\n", Category::InvalidItemId);
    refuses("## [1]{a,b}\n@00 1|^\n.b {}\n", Category::InvalidItemId);
    refuses("## [1]\n@+0 =x\n", Category::InvalidItemId);
}

#[test]
fn a_marker_without_a_row_number_is_not_dropped() {
    refuses("## [1]{a,b}\n1|^\n.b {}\n", Category::InvalidItemId);
    refuses("## [1]{a,b}\n1|^\n", Category::InvalidItemId);
}

#[test]
fn counts_are_plain_and_checked() {
    refuses("## a [+1]{x}\n1\n", Category::InvalidCount);
    refuses("## a [ 1]{x}\n1\n", Category::InvalidCount);
    refuses("## a []{x}\n1\n", Category::InvalidCount);
    refuses("## a [18446744073709551615]{x}\n1\n", Category::CountMismatch);
    refuses("## a [99999999999999999999999]{x}\n1\n", Category::CountMismatch);
    refuses("a[18446744073709551616]: 1\n", Category::CountMismatch);
    refuses("## a [1]{x}\n1\n2\n", Category::CountMismatch);
    refuses(
        "## [2]{a,b}\n@0 1|^\n.b [1]{x}\n    1\n    2\n",
        Category::CountMismatch,
    );
    refuses("## a [?]{x}\n1\n##! summary counts=x\n", Category::InvalidCount);
    refuses("## a [?]{x}\n1\n##! summary counts=a:1\n", Category::InvalidCount);
}

#[test]
fn numbers_stay_numbers_or_fail() {
    refuses("a=1e999\n", Category::OutOfRange);
    refuses("a=-1e999\n", Category::OutOfRange);
    refuses("a=9223372036854775808\n", Category::OutOfRange);
    refuses("## [1]{a}\n18446744073709551615\n", Category::OutOfRange);
    reads(
        "a=-9223372036854775808\nb=-0\nc=1E2\n",
        r#"{"a":-9223372036854775808,"b":0,"c":100.0}"#,
    );
}

#[test]
fn escapes_are_json_escapes() {
    refuses("a=\"\\u+041\"\n", Category::InvalidEscape);
    refuses("a=\"\\u123é\"\n", Category::InvalidEscape);
    refuses("a=\"\\u12\"\n", Category::InvalidEscape);
    refuses("a=\"\\\n", Category::UnterminatedQuote);
    refuses("a=\"\\ud800x\"\n", Category::InvalidSurrogate);
    refuses("a=\"\\ud800\\n\"\n", Category::InvalidSurrogate);
    refuses("a=\"tab\there\"\n", Category::InvalidEscape);
    reads("a=\"\\ud83d\\ude00\\/\"\n", r#"{"a":"😀/"}"#);
}

#[test]
fn space_around_cells_is_not_data() {
    reads("## [1]{a,b}\n1 | 2\n", r#"[{"a":1,"b":2}]"#);
    reads("a[2]: x , \"y\" \n", r#"{"a":["x","y"]}"#);
    reads("a= true\n", r#"{"a":true}"#);
}

#[test]
fn markers_mean_something_only_in_cells() {
    refuses("a=^{x,y}\n", Category::InvalidAttachmentMarker);
    refuses("a[1]: ^\n", Category::InvalidAttachmentMarker);
    refuses("=~\n", Category::InvalidMissing);
    refuses("## [1]\n@0 =~\n", Category::InvalidMissing);
    refuses("## [1]{a}\n@0 ^{1x}\n1\n", Category::InvalidAttachmentMarker);
    refuses("## [1]{a}\n@0 ^{}\n1\n", Category::InvalidAttachmentMarker);
    reads("## [1]{a}\n^{x\n", r#"[{"a":"^{x"}]"#);
    reads(
        "## [1]{a,b}\n@0 ^{x | ^{p,q} \n1|2\n",
        r#"[{"a":"^{x","b":{"p":1,"q":2}}]"#,
    );
}

#[test]
fn headers_are_strict() {
    refuses_text("", Category::MissingHeader);
    refuses_text("{}", Category::MissingHeader);
    refuses_text("GCF2 profile=generic\n", Category::UnknownVersion);
    refuses_text("GCF\n", Category::MissingProfile);
    refuses_text("GCF tool=x profile=generic\n", Category::MissingProfile);
    refuses_text("GCF profile=other\n", Category::UnknownProfile);
    refuses_text("GCF profile=generic tool=a tool=b\n", Category::DuplicateHeaderField);
    refuses_text("GCF profile=generic profile=generic\n", Category::DuplicateHeaderField);
    refuses_text("GCF profile=generic =x\n", Category::MalformedHeaderField);
    assert!(gcf::from_str::<Value>("GCF profile=generic later=unknown\n").is_ok());
}

#[test]
fn keys_are_bare_or_quoted() {
    refuses("a b=1\n", Category::InvalidKey);
    refuses("content-type=x\n", Category::InvalidKey);
    refuses("1a=x\n", Category::InvalidKey);
    refuses("a\n", Category::InvalidKey);
    refuses("## a b\n", Category::InvalidKey);
    refuses("## [1]{a b}\n1\n", Category::InvalidKey);
    refuses("## [1]{a=1,b}\n1\n", Category::InvalidKey);
    refuses("## [2:]{key,x}\n1|2\n2|3\n", Category::InvalidKey);
    reads("\"items[?]\"=1\n", r#"{"items[?]":1}"#);
}

#[test]
fn columns_inside_columns_are_refused() {
    refuses("## [1]{\"a>b\",\"a>b>c\"}\n1|2\n", Category::DuplicateFieldName);
    refuses("## [1]{\"a>b>c\",\"a>b\"}\n1|2\n", Category::DuplicateFieldName);
    refuses("## [1]{a,\"a>b\"}\n1|2\n", Category::DuplicateFieldName);
    refuses("## [1]{\"a>b\",\"a>b\"}\n1|2\n", Category::DuplicateFieldName);
}

#[test]
fn attachments_match_their_cells() {
    refuses("## [1]{a,b}\n1|2\n.b {}\n", Category::OrphanAttachment);
    refuses("## [1]{a,b}\n@0 1|^\n.a {}\n.b {}\n", Category::OrphanAttachment);
    refuses(
        "## [1]{a}\n@0 1\n.\"x>y\" =1\n.\"x>y\" =2\n",
        Category::DuplicateAttachment,
    );
    refuses("## [1]{a,b}\n@0 ^{x,y}|1\n1|2|3\n", Category::InlineWidthMismatch);
    refuses("## [1]{a,b}\n@0 ^{x,y}|1\n", Category::MissingAttachment);
    refuses(
        "## [2]{a}\n@0 ^\n.a [1]{x}\n    1\n@1 ^\n.a [1]\n    1|2\n",
        Category::RowWidthMismatch,
    );
}

#[test]
fn indentation_is_structure() {
    refuses("## a\n    b=1\n", Category::InvalidIndent);
    refuses("a=1\n  b=2\n", Category::InvalidIndent);
    refuses("## a\n b=1\n", Category::InvalidIndent);
    refuses("  a=1\n", Category::InvalidIndent);
    refuses("## a\n \tb=1\n", Category::TabIndentation);
    refuses("## [1]{a}\n  1\n", Category::InvalidIndent);
}

#[test]
fn nothing_follows_the_value() {
    refuses("=1\n=2\n", Category::UnexpectedContent);
    refuses("a=1\n##! summary counts=\nb=2\n", Category::UnexpectedContent);
    refuses("a=1\n## [1]: 2\n", Category::UnexpectedContent);
    refuses("a=\"x\" y\n", Category::TrailingCharacters);
    refuses("## a [1] x\n", Category::TrailingCharacters);
}

#[test]
fn graph_lines_are_strict() {
    let graph = |body: &str| format!("GCF profile=graph tool=t\n{body}");
    let cases = [
        ("## targets\n@0 fn a 0.50 x y\n", Category::InvalidNodeLine),
        ("## targets\n@0 fn a NaN x\n", Category::InvalidScore),
        ("## targets\n@0 fn a 0.5 x\n", Category::InvalidScore),
        ("## targets\n@0 fn a 1e2 x\n", Category::InvalidScore),
        (
            "## targets\n@0 fn a 0.50 x\n@0 fn b 0.50 x\n",
            Category::InvalidSymbolId,
        ),
        ("## targets\n@1 fn a 0.50 x\n", Category::InvalidSymbolId),
        ("## targets\n@0 fn a 0.50 x\n@1 fn a 0.50 x\n", Category::DuplicateKey),
        ("## targets\n@0  # previously transmitted\n", Category::UnknownReference),
        (
            "## targets\n@0 fn a 0.50 x\n## edges [1]\n< x\n",
            Category::InvalidEdgeSyntax,
        ),
        (
            "## targets\n@0 fn a 0.50 x\n## edges [1]\n@0< x\n",
            Category::InvalidEdgeSyntax,
        ),
        (
            "## targets\n@0 fn a 0.50 x\n## edges [1]\né0<@0 x\n",
            Category::InvalidEdgeSyntax,
        ),
        (
            "## targets\n@0 fn a 0.50 x\n## edges [1]\n@0<@0\n",
            Category::InvalidEdgeSyntax,
        ),
        ("@0 fn a 0.50 x\n", Category::UnexpectedContent),
        ("## nowhere\n", Category::UnexpectedContent),
        (
            "## targets\n@0 fn a 0.50 x\n##! summary symbols=2 edges=0 counts=1,0\n",
            Category::CountMismatch,
        ),
    ];
    for (body, category) in cases {
        refuses_text(&graph(body), category);
    }
    refuses_text(
        "GCF profile=graph symbols=2\n## targets\n@0 fn a 0.50 x\n",
        Category::CountMismatch,
    );
    refuses_text("GCF profile=graph symbols=x\n", Category::MalformedHeaderField);
}

#[test]
fn deltas_with_absurd_counts_reserve_nothing() {
    let text = "GCF profile=generic delta=true base_root=a new_root=b key=id\n## added [99999999999999999]{@id}\n1\n";
    refuses_text(text, Category::CountMismatch);
    let text = "GCF profile=generic delta=true base_root=a new_root=b key=id\n## added [1]{id,\"@x\"}\n1|2\n";
    assert!(gcf::decode(text, &DecodeOptions::default()).is_ok());
    let text = "GCF profile=generic delta=true base_root=a new_root=b key=id\n## added [1]{id,@x}\n1|2\n";
    refuses_text(text, Category::InvalidKey);
}

#[test]
fn constant_columns_only_when_asked_for() {
    let text = "GCF profile=generic\n## [2]{a=\"x,y}\",b=p q,c=-,d}\n1\n\"true\"\n";
    assert_eq!(
        gcf::from_str::<Value>(text).unwrap_err().category(),
        Category::InvalidKey
    );
    let options = DecodeOptions {
        constant_columns: ConstantColumns::Accept,
        ..DecodeOptions::default()
    };
    let value: Value = gcf::from_str_with(text, &options).unwrap();
    let expected = r#"[{"a":"x,y}","b":"p q","c":null,"d":1},{"a":"x,y}","b":"p q","c":null,"d":"true"}]"#;
    assert_eq!(value, serde_json::from_str::<Value>(expected).unwrap());
    let only_constants = "GCF profile=generic\n## [1000000000000000000]{a=1}\n";
    let error = gcf::from_str_with::<Value>(only_constants, &options).unwrap_err();
    assert_eq!(error.category(), Category::UnexpectedContent);
}

#[test]
fn errors_say_where_what_and_what_to_do() {
    let error = gcf::from_str::<Value>("GCF profile=generic\nname=é\n## rows [1]{id,name}\n1\n").unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(4), Some(1)));
    assert_eq!(
        error.to_string(),
        "row_width_mismatch at line 4 column 1: found 1 cells in `1`, expected 2 cells; \
         write one cell per declared column; quote cells that contain `|`"
    );
    let error = gcf::from_str::<Value>("GCF profile=generic\nname=\"é\"x\n").unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(2), Some(9)));
    let error = gcf::from_str::<Vec<u8>>("GCF profile=generic\n## [1]: x\n").unwrap_err();
    assert_eq!(error.category(), Category::TypeMismatch);
}
