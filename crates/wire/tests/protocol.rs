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
