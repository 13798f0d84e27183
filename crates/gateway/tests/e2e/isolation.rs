//! The controls on calls, and that nothing of one session is ever another's.

use std::sync::Arc;

use gateway::config::{CallLimit, PolicyAction, PolicyRule};
use serde_json::{Value, json};

use crate::harness::*;

#[tokio::test]
async fn a_small_result_costs_nothing_and_a_second_one_is_never_the_first() {
    let setup = Setup::new(one(scripted(&[]))).await;
    let three = setup.run("add", json!({"a": 1, "b": 2})).await;
    assert_eq!(
        (text(&three), three.content.len(), &three.structured_content),
        ("3", 1, &None)
    );
    assert_eq!(text(&setup.run("add", json!({"a": 40, "b": 2})).await), "42");
    let on_the_wire = serde_json::to_string(&three).unwrap();
    assert_eq!(on_the_wire, r#"{"content":[{"type":"text","text":"3"}]}"#);
}

#[tokio::test]
async fn wrong_arguments_never_leave() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mut config = one(scripted(&["--log", &log.display().to_string()]));
    let setup = Setup::new(config.clone()).await;
    let refused = error(&setup.run("add", json!({"a": "1", "b": 2})).await);
    assert_eq!(refused["error"], "ARGS_INVALID", "{refused}");
    assert!(!std::fs::read_to_string(&log).unwrap().contains("tools/call"));

    config.execute.tolerant_args = true;
    let setup = Setup::new(config).await;
    let repaired = setup.run("add", json!({"a": "1", "b": 2})).await;
    assert_eq!(text(&repaired), "3");
    let meta = serde_json::to_value(&repaired.meta).unwrap();
    assert_eq!(
        meta["lacon/provenance"]["arg_repairs"],
        json!([{"path": "$.a", "rule": "str_to_integer"}])
    );
    let id = setup.id("add").await;
    let stringified = call(
        &setup.client,
        "tool_execute",
        json!({"tool_id": id, "args": "{\"a\": 2, \"b\": 2}"}),
    )
    .await;
    assert_eq!(text(&stringified), "4", "a stringified object is reachable over MCP");
}

#[tokio::test]
async fn a_dry_run_checks_everything_and_calls_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mut config = one(scripted(&["--log", &log.display().to_string()]));
    config.rate_limits.tool_execute = Some(CallLimit {
        max_calls_per_minute: None,
        max_calls_per_session: Some(1),
    });
    let setup = Setup::new(config).await;
    let id = setup.id("add").await;
    for _ in 0..3 {
        let args = json!({"tool_id": id, "args": {"a": 1, "b": 2}, "dry_run": true});
        let report: Value = serde_json::from_str(text(&call(&setup.client, "tool_execute", args).await)).unwrap();
        assert_eq!(report["upstream_name"], "add");
        assert_eq!(report["annotations"], json!({"readOnlyHint": true, "verified": false}));
        assert_eq!(report["checks"][1], json!({"name": "rate_limit", "status": "pass"}));
    }
    assert!(!std::fs::read_to_string(&log).unwrap().contains("tools/call"));
    let wrong = json!({"tool_id": id, "args": {}, "dry_run": true});
    assert_eq!(
        error(&call(&setup.client, "tool_execute", wrong).await)["error"],
        "ARGS_INVALID"
    );
    assert_eq!(text(&execute(&setup.client, &id, json!({"a": 1, "b": 2})).await), "3");
    let limited = error(&execute(&setup.client, &id, json!({"a": 1, "b": 2})).await);
    assert_eq!(
        (limited["error"].as_str(), limited["details"]["scope"].as_str()),
        (Some("RATE_LIMITED"), Some("tool_execute/session"))
    );
    let (other, _) = connect(&setup.gateway, Era::Session, true).await;
    assert_eq!(
        text(&execute(&other, &id, json!({"a": 1, "b": 2})).await),
        "3",
        "another session has its own quota"
    );
}

#[tokio::test]
async fn only_read_only_results_are_cached_and_only_for_their_session() {
    let mut config = one(scripted(&[]));
    config.cache.read_only = true;
    let setup = Setup::new(config).await;
    let id = setup.id("count").await;
    let first = text(&execute(&setup.client, &id, json!({})).await).to_owned();
    let again = execute(&setup.client, &id, json!({})).await;
    assert_eq!(text(&again), first);
    assert_eq!(
        serde_json::to_value(&again.meta).unwrap()["lacon/provenance"]["cache_hit"],
        true
    );
    let (other, _) = connect(&setup.gateway, Era::Session, true).await;
    assert_ne!(text(&execute(&other, &id, json!({})).await), first);
}

#[tokio::test]
async fn secrets_are_masked_in_results_and_in_what_is_kept() {
    let setup = Setup::new(one(scripted(&[]))).await;
    assert_eq!(
        text(&setup.run("leak", json!({})).await),
        "token [redacted: github token]"
    );
}

#[tokio::test]
async fn artifacts_belong_to_their_session() {
    let setup = Setup::new(one(scripted(&[]))).await;
    let result = setup.run("rows", json!({"count": 2000})).await;
    let kept = handle(&result);
    assert!(
        text(&result).contains(&kept) && text(&result).contains("array of 2000"),
        "{}",
        text(&result)
    );
    let row = view(&setup.client, &kept, json!({"path": "$[1999].name"})).await;
    assert_eq!(text(&row), "row 1999");
    let rows = view(&setup.client, &kept, json!({"rows": [0, 2], "columns": ["id"]})).await;
    assert!(rows.is_error != Some(true) && text(&rows).len() < 40, "{}", text(&rows));
    let whole = view(&setup.client, &kept, json!({"head": 1000000})).await;
    assert!(
        text(&whole).len() < 40_000 && text(&whole).contains("[cut:"),
        "views are capped"
    );
    let (other, _) = connect(&setup.gateway, Era::Session, true).await;
    assert_eq!(
        error(&view(&other, &kept, json!({"head": 1})).await)["error"],
        "VIEW_FAILED"
    );
}

#[tokio::test]
async fn a_denied_tool_reads_as_unknown() {
    let mut config = one(scripted(&[]));
    let rule = PolicyRule {
        action: PolicyAction::Deny,
        tool: Some("die".into()),
        ..Default::default()
    };
    config.policy.rules.push(rule);
    let open = Setup::new(one(scripted(&[]))).await;
    let id = open.id("die").await;
    let setup = Setup::new(config).await;
    let denied = error(&execute(&setup.client, &id, json!({})).await);
    let unknown = error(&execute(&setup.client, "scripted:nothing#00000000", json!({})).await);
    assert_eq!(denied["error"], unknown["error"]);
    let found = call(
        &setup.client,
        "tool_browse",
        json!({"query": "ends the process", "top_k": 50}),
    )
    .await;
    assert!(!text(&found).contains(&id));
}

#[tokio::test]
async fn two_hundred_sessions_at_once_each_get_their_own_answers() {
    let mut upstream = scripted(&[]);
    upstream.max_concurrency = 32;
    let setup = Setup::new(one(upstream)).await;
    let id: Arc<str> = setup.id("rows").await.into();
    let mut sessions = tokio::task::JoinSet::new();
    for number in 0..200u64 {
        let (gateway, id) = (setup.gateway.clone(), id.clone());
        sessions.spawn(async move {
            let (client, _) = connect(
                &gateway,
                if number % 2 == 0 { Era::Session } else { Era::Stateless },
                true,
            )
            .await;
            let result = execute(&client, &id, json!({"count": 400 + number})).await;
            let last = view(&client, &handle(&result), json!({"path": "$[-1].id"})).await;
            assert_eq!(text(&last), (399 + number).to_string());
        });
    }
    while let Some(ended) = sessions.join_next().await {
        ended.unwrap();
    }
}
