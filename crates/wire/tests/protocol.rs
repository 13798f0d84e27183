//! The protocol shapes: bytes, and the same rules both ways.

use wire::gcx::ErrorKind;
use wire::protocol::{
    EVERY_REPO, MISSING_REPO, MISSING_REPO_LIST, REPO_NOT_ALLOWED, Refusal, RequestError, Scope, Target, ToolRequest,
    UNKNOWN_REPO, WRONG_REPO_SHAPE, check_repos, decode_error, decode_tool_definitions, decode_tool_request,
    encode_error, encode_tool_definitions, encode_tool_request,
};

#[test]
fn tool_definitions_are_in_name_order_and_need_a_scope() {
    let text =
        encode_tool_definitions([("search", "repo"), ("audit", "fan-out"), ("list_repos", "workspace")]).unwrap();
    assert_eq!(
        text,
        "GCX1 tool=tool_definitions fields=name,scope\naudit\tfan-out\nlist_repos\tworkspace\nsearch\trepo\n"
    );
    let definitions = decode_tool_definitions(&text).unwrap();
    assert_eq!(
        definitions.iter().map(|d| d.scope).collect::<Vec<_>>(),
        [Scope::FanOut, Scope::Workspace, Scope::Repo]
    );
    for scope in ["", "global", "Repo"] {
        assert_eq!(
            encode_tool_definitions([("search", scope)]).unwrap_err().kind,
            ErrorKind::Schema
        );
        let text = format!("GCX1 tool=tool_definitions fields=name,scope\nsearch\t{scope}\n");
        let error = decode_tool_definitions(&text).unwrap_err();
        assert_eq!((error.kind, error.line, error.column), (ErrorKind::Schema, 2, 8));
    }
    assert_eq!(
        decode_tool_definitions("GCX1 tool=tool_definitions fields=name\nsearch\n")
            .unwrap_err()
            .kind,
        ErrorKind::Schema
    );
    assert_eq!(
        decode_tool_definitions("GCX1 tool=tool_definitions fields=name,scope\nsearch\n")
            .unwrap_err()
            .kind,
        ErrorKind::Schema
    );
}

#[test]
fn tool_requests_say_their_repositories_by_scope() {
    for (target, cell) in [
        (Target::Repo("gortex".into()), "repo\tgortex"),
        (Target::Workspace, "workspace\t"),
        (Target::FanOut(vec![EVERY_REPO.into()]), "fan-out\t[\"*\"]"),
        (
            Target::FanOut(vec!["gortex".into(), "gortex-cloud".into()]),
            "fan-out\t[\"gortex\",\"gortex-cloud\"]",
        ),
    ] {
        let request = ToolRequest {
            tool: "search_symbols".into(),
            target,
        };
        let text = encode_tool_request(&request).unwrap();
        assert_eq!(
            text,
            format!("GCX1 tool=tool_request fields=tool,scope,repo\nsearch_symbols\t{cell}\n")
        );
        assert_eq!(decode_tool_request(&text).unwrap(), request);
    }
}

#[test]
fn requests_that_break_the_rules_are_refused_with_the_named_code() {
    for (cells, code) in [
        ("repo\t", MISSING_REPO),
        ("repo\t[\"a\"]", WRONG_REPO_SHAPE),
        ("workspace\tgortex", REPO_NOT_ALLOWED),
        ("fan-out\t", MISSING_REPO_LIST),
        ("fan-out\t[]", MISSING_REPO_LIST),
        ("fan-out\tgortex", WRONG_REPO_SHAPE),
        ("fan-out\t[1]", WRONG_REPO_SHAPE),
    ] {
        let text = format!("GCX1 tool=tool_request fields=tool,scope,repo\nx\t{cells}\n");
        match decode_tool_request(&text).unwrap_err() {
            RequestError::Refused(refusal) => assert_eq!(refusal.code, code, "{cells}"),
            other => panic!("{cells}: {other}"),
        }
    }
    let refused = |target| {
        encode_tool_request(&ToolRequest {
            tool: "x".into(),
            target,
        })
        .unwrap_err()
    };
    assert!(matches!(refused(Target::Repo(String::new())), RequestError::Refused(r) if r.code == MISSING_REPO));
    assert!(matches!(refused(Target::FanOut(vec![])), RequestError::Refused(r) if r.code == MISSING_REPO_LIST));
    for text in [
        "GCX1 tool=tool_request fields=tool,scope,repo\n",
        "GCX1 tool=tool_request fields=tool,scope,repo\nx\tworkspace\t\ny\tworkspace\t\n",
        "GCX1 tool=tool_request fields=tool,scope,repo\nx\tplanet\t\n",
        "GCX1 tool=tool_request fields=tool,repo\nx\ty\n",
    ] {
        assert!(
            matches!(decode_tool_request(text).unwrap_err(), RequestError::Text(_)),
            "{text}"
        );
    }
    let request = ToolRequest {
        tool: "x".into(),
        target: Target::FanOut(vec!["here".into(), "gone".into()]),
    };
    let refusal = check_repos(&request, &["here"]).unwrap_err();
    assert_eq!((refusal.code.as_str(), refusal.detail.as_str()), (UNKNOWN_REPO, "gone"));
}

#[test]
fn errors_need_a_code_both_ways() {
    let refusal = Refusal {
        code: UNKNOWN_REPO.into(),
        message: "no such\nrepository".into(),
        detail: "a\tb".into(),
    };
    let text = encode_error(&refusal).unwrap();
    assert_eq!(
        text,
        "GCX1 tool=error fields=code,message,detail\nunknown_repo\tno such\\nrepository\ta\\tb\n"
    );
    assert_eq!(decode_error(&text).unwrap(), refusal);
    assert_eq!(
        encode_error(&Refusal {
            code: String::new(),
            ..refusal
        })
        .unwrap_err()
        .kind,
        ErrorKind::Schema
    );
    assert_eq!(
        decode_error("GCX1 tool=error fields=code,message,detail\n\tm\td\n")
            .unwrap_err()
            .kind,
        ErrorKind::Schema
    );
    assert_eq!(
        decode_error("GCX1 tool=error fields=code,message,detail\n")
            .unwrap_err()
            .kind,
        ErrorKind::RowCount
    );
}

/// A value under one of the three names is checked by whoever encodes or decodes it, not only by those who call the functions.
#[test]
fn encode_and_decode_check_the_shapes() {
    use serde_json::{Value, json};
    use wire::layout::Layout;
    use wire::tokens::Tokenizer;
    use wire::{Format, decode};
    let encode = |tool: &str, value: &Value| {
        let encoded = wire::encode(value, &Layout::generic(tool), Format::Gcx, Tokenizer::O200k);
        encoded.map(|encoded| encoded.text)
    };
    let definitions = json!([{"name": "search", "scope": "repo"}, {"scope": "fan-out", "name": "audit"}]);
    let text = encode("tool_definitions", &definitions).unwrap();
    assert_eq!(
        text,
        "GCX1 tool=tool_definitions fields=name,scope\naudit\tfan-out\nsearch\trepo\n"
    );
    assert_eq!(
        decode(&text).unwrap(),
        json!([{"name": "audit", "scope": "fan-out"}, {"name": "search", "scope": "repo"}])
    );
    for (value, cell) in [
        (json!({"tool": "f", "scope": "repo", "repo": "42"}), "42"),
        (json!({"tool": "f", "scope": "workspace"}), ""),
        (json!({"tool": "f", "scope": "fan-out", "repo": ["*"]}), "[\"*\"]"),
    ] {
        let text = encode("tool_request", &value).unwrap();
        let scope = value["scope"].as_str().unwrap();
        assert_eq!(
            text,
            format!("GCX1 tool=tool_request fields=tool,scope,repo\nf\t{scope}\t{cell}\n")
        );
        assert_eq!(decode(&text).unwrap(), value);
    }
    let error = json!({"detail": "web", "code": "unknown_repo", "message": "no such repository"});
    let text = encode("error", &error).unwrap();
    assert_eq!(
        text,
        "GCX1 tool=error fields=code,message,detail\nunknown_repo\tno such repository\tweb\n"
    );
    assert_eq!(decode(&text).unwrap(), error);
    for (tool, value) in [
        ("tool_definitions", json!([{"name": "search", "scope": "global"}])),
        ("tool_definitions", json!([{"name": "search"}])),
        ("tool_request", json!({"tool": "f", "scope": "repo"})),
        ("tool_request", json!({"tool": "f", "scope": "repo", "repo": ["a"]})),
        ("tool_request", json!({"tool": "f", "scope": "workspace", "repo": "a"})),
        (
            "tool_request",
            json!({"tool": "f", "scope": "fan-out", "repo": ["*", "a"]}),
        ),
        ("error", json!({"code": "", "message": "", "detail": ""})),
        ("error", json!({"code": "x", "why": ""})),
    ] {
        assert!(encode(tool, &value).is_err(), "{tool} {value}");
    }
    for text in [
        "GCX1 tool=tool_definitions fields=name,scope\nsearch\tglobal\n",
        "GCX1 tool=tool_definitions fields=name\nsearch\n",
        "GCX1 tool=tool_request fields=tool,scope,repo\nf\trepo\t\n",
        "GCX1 tool=tool_request fields=tool,scope,repo\nf\tfan-out\t[\"*\",\"a\"]\n",
        "GCX1 tool=error fields=code,message,detail\n\tx\ty\n",
        "GCX1 tool=error fields=code,detail,message\nx\ty\tz\n",
    ] {
        assert!(decode(text).is_err(), "{text}");
    }
}

/// `*` is every repository; beside other names it means nothing that both sides would agree on.
#[test]
fn every_repository_stands_alone() {
    let mixed = ToolRequest {
        tool: "audit".into(),
        target: Target::FanOut(vec![EVERY_REPO.into(), "web".into()]),
    };
    assert_eq!(check_repos(&mixed, &["web"]).unwrap_err().code, WRONG_REPO_SHAPE);
    match encode_tool_request(&mixed).unwrap_err() {
        RequestError::Refused(refusal) => assert_eq!(refusal.code, WRONG_REPO_SHAPE),
        RequestError::Text(error) => panic!("{error}"),
    }
}
