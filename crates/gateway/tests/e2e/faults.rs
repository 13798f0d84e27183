//! Upstreams that die, hang, flood, lie and change their minds: each costs its own caller an error and nobody anything else.

use std::time::{Duration, Instant};

use gateway::Status;
use serde_json::json;

use crate::harness::*;

#[tokio::test]
async fn killed_in_the_middle_of_a_call_it_is_reported_at_once_and_restarted() {
    let mut upstream = scripted(&[]);
    upstream.restart.base_delay_seconds = 0.1;
    let setup = Setup::new(one(upstream)).await;
    let pid = text(&setup.run("pid", json!({})).await).to_owned();
    let began = Instant::now();
    let failed = error(&setup.run("die", json!({})).await);
    assert_eq!(failed["error"], "UPSTREAM_UNAVAILABLE", "{failed}");
    assert_eq!(failed["retryable"], true);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let id = setup.id("pid").await;
    eventually("the upstream is back", async || {
        let again = execute(&setup.client, &id, json!({})).await;
        again.is_error != Some(true) && text(&again) != pid
    })
    .await;
}

#[tokio::test]
async fn a_hung_call_times_out_is_cancelled_and_blocks_nobody() {
    let mut upstream = scripted(&[]);
    upstream.timeout_seconds = 2.0;
    let setup = Setup::new(one(upstream)).await;
    let (hang, echo) = (setup.id("hang").await, setup.id("echo").await);
    let hanging = async { (execute(&setup.client, &hang, json!({})).await, Instant::now()) };
    let echoing = async {
        let answered = execute(&setup.client, &echo, json!({"text": "meanwhile"})).await;
        assert_eq!(text(&answered), "meanwhile");
        Instant::now()
    };
    let ((hung, given_up), meanwhile) = tokio::join!(hanging, echoing);
    let failed = error(&hung);
    assert_eq!(failed["error"], "UPSTREAM_TIMEOUT");
    assert_eq!(failed["retryable"], true);
    assert!(meanwhile < given_up, "the other call waited for the one that hangs");
    let cancelled = setup.run("cancelled", json!({})).await;
    assert_ne!(text(&cancelled), "[]", "the upstream was told");
}

#[tokio::test]
async fn one_that_hangs_again_and_again_is_refused_then_restarted_then_trusted() {
    let mut upstream = scripted(&[]);
    upstream.timeout_seconds = 0.2;
    upstream.restart.circuit_failures = 2;
    upstream.restart.circuit_open_seconds = 1.5;
    upstream.restart.base_delay_seconds = 0.05;
    let setup = Setup::new(one(upstream)).await;
    let (hang, echo) = (setup.id("hang").await, setup.id("echo").await);
    for _ in 0..2 {
        assert_eq!(
            error(&execute(&setup.client, &hang, json!({})).await)["error"],
            "UPSTREAM_TIMEOUT"
        );
    }
    let refused = error(&execute(&setup.client, &echo, json!({"text": "x"})).await);
    assert_eq!(refused["error"], "UPSTREAM_UNAVAILABLE", "{refused}");
    assert!(refused["details"]["retry_after"].as_f64().unwrap() > 0.0);
    eventually("it is trusted again", async || {
        execute(&setup.client, &echo, json!({"text": "x"})).await.is_error != Some(true)
    })
    .await;
    assert_eq!(setup.gateway.status()[0].health.status, Status::Ready);
}

#[tokio::test]
async fn a_flood_is_dropped_at_its_size_and_memory_stays_small() {
    let setup = Setup::new(one(scripted(&[]))).await;
    let before = resident_megabytes();
    let failed = error(&setup.run("flood", json!({"megabytes": 100})).await);
    assert_eq!(failed["error"], "UPSTREAM_ERROR", "{failed}");
    assert!(failed["message"].as_str().unwrap().contains("32 MiB"), "{failed}");
    let grown = resident_megabytes().saturating_sub(before);
    assert!(grown < 120, "grew by {grown} MB");
    assert_eq!(
        text(&setup.run("echo", json!({"text": "still here"})).await),
        "still here"
    );
}

#[tokio::test]
async fn megabytes_within_the_limit_become_a_digest() {
    let setup = Setup::new(one(scripted(&[]))).await;
    let result = setup.run("flood", json!({"megabytes": 5})).await;
    assert!(text(&result).len() < 4000);
    let part = view(&setup.client, &handle(&result), json!({"bytes": [4999990, 5000010]})).await;
    assert_eq!(text(&part), "xxxxxxxxxx");
}

#[tokio::test]
async fn an_answer_that_is_not_json_fails_its_own_call_at_once() {
    let setup = Setup::new(one(scripted(&[]))).await;
    let began = Instant::now();
    let failed = error(&setup.run("garbage", json!({})).await);
    assert_eq!(failed["error"], "UPSTREAM_ERROR");
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(text(&setup.run("noise", json!({})).await), "after noise");
}

#[tokio::test]
async fn tools_that_change_during_a_call_neither_disturb_it_nor_get_lost() {
    let setup = Setup::new(one(scripted(&[]))).await;
    let echo = setup.id("echo").await;
    assert_eq!(text(&setup.run("change", json!({})).await), "changed");
    eventually("the new tool can be called", async || {
        let found = call(&setup.client, "tool_browse", json!({"query": "added later"})).await;
        text(&found).contains("added_later")
    })
    .await;
    assert_eq!(text(&setup.run("added_later", json!({})).await), "I am new");
    assert_eq!(
        setup.gateway.status()[0].tools,
        26,
        "one went, one came, the others stayed"
    );
    let gone = error(&execute(&setup.client, &echo, json!({"text": "x"})).await);
    assert_eq!(gone["error"], "HYDRATE_FAILED", "a removed tool fails closed");
}

#[tokio::test]
async fn a_burst_of_changes_is_gathered_and_the_last_one_counts() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let setup = Setup::new(one(scripted(&["--log", &log.display().to_string()]))).await;
    assert_eq!(text(&setup.run("burst", json!({})).await), "burst");
    eventually("the last change is seen", async || {
        let found = call(&setup.client, "tool_browse", json!({"query": "burst_49", "top_k": 50})).await;
        text(&found).contains("burst_49")
    })
    .await;
    let listings = std::fs::read_to_string(log)
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("tools/list"))
        .count();
    assert!((2..=6).contains(&listings), "{listings} listings for 50 changes");
}

#[tokio::test]
async fn retry_is_for_transport_failures_and_never_for_results() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mut upstream = scripted(&["--log", &log.display().to_string()]);
    upstream.timeout_seconds = 0.2;
    let mut config = one(upstream);
    config.retry.max_attempts = 3;
    config.retry.base_delay = 0.01;
    let setup = Setup::new(config).await;
    let attempts = |name: &str| {
        std::fs::read_to_string(&log)
            .unwrap()
            .lines()
            .filter(|line| *line == format!("tools/call {name}"))
            .count()
    };
    let failed = error(&setup.run("hang", json!({})).await);
    assert_eq!(
        (failed["error"].as_str(), failed["details"]["attempts"].as_u64()),
        (Some("UPSTREAM_TIMEOUT"), Some(3))
    );
    assert_eq!(attempts("hang"), 3);
    let result = setup.run("tool_error", json!({})).await;
    assert_eq!(
        (result.is_error, text(&result)),
        (Some(true), "the thing does not exist")
    );
    assert_eq!(attempts("tool_error"), 1);
    assert_eq!(
        error(&setup.run("rpc_error", json!({})).await)["error"],
        "UPSTREAM_ERROR"
    );
    assert_eq!(attempts("rpc_error"), 1);
}

#[tokio::test]
async fn failures_are_classified_by_what_happened() {
    let setup = Setup::new(one(scripted(&[]))).await;
    let code = async |message: &str| error(&setup.run("rpc_error", json!({"message": message})).await)["error"].clone();
    assert_eq!(code("error 4012 rows").await, "UPSTREAM_ERROR");
    assert_eq!(code("401 Unauthorized").await, "AUTH_FAILED");
    assert_eq!(code("429 too many requests").await, "RATE_LIMITED");
    let failed = error(&setup.run("secret_error", json!({})).await);
    assert!(
        failed["message"].as_str().unwrap().contains("[redacted: github token]"),
        "{failed}"
    );
}

#[tokio::test]
async fn an_upstream_that_cannot_start_leaves_the_others_alone() {
    let mut missing = scripted(&[]);
    missing.command = Some("no-such-program-anywhere".into());
    let setup = Setup::new(config(vec![("good", scripted(&[])), ("missing", missing)])).await;
    assert_eq!(text(&setup.run("echo", json!({"text": "fine"})).await), "fine");
    let status = setup.gateway.status();
    assert!(
        matches!(&status[1].health.status, Status::Down { .. } | Status::Connecting),
        "{status:?}"
    );
}

#[tokio::test]
async fn no_process_is_left_when_the_gateway_stops() {
    let setup = Setup::new(one(scripted(&["--ignore-eof"]))).await;
    let server = text(&setup.run("pid", json!({})).await).to_owned();
    let grandchild = text(&setup.run("spawn", json!({})).await).to_owned();
    assert!(alive(&server) && alive(&grandchild));
    setup.gateway.stop().await;
    eventually("both are gone", async || !alive(&server) && !alive(&grandchild)).await;
}

/// Whether a process exists and is not just waiting to be reaped.
pub(crate) fn alive(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    !stat
        .rsplit_once(')')
        .is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

fn resident_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1000
}

#[tokio::test]
async fn nothing_found_names_the_upstreams_that_have_not_told_their_tools_yet() {
    // Starts and never says a word.
    let silent = gateway::config::UpstreamConfig {
        command: Some("sleep".into()),
        args: vec!["30".into()],
        ..gateway::config::UpstreamConfig::default()
    };
    let gateway = gateway::runtime::Gateway::start(one(silent), gateway::runtime::Options::default());
    let (client, _ears) = connect(&gateway, Era::Session, true).await;
    let answer = call(&client, "tool_browse", json!({"query": "anything"})).await;
    assert_eq!(
        text(&answer),
        "nothing found; no tools known yet, connecting or down: scripted"
    );
    gateway.stop().await;
}
