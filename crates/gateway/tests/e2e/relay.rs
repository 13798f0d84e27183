//! What an upstream says or asks while a call runs reaches the client, and what the client says reaches the upstream, in
//! every combination of protocol eras.

use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ClientRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::json;

use crate::harness::*;

const ERAS: [Era; 2] = [Era::Session, Era::Stateless];

fn upstream(era: Era) -> gateway::config::UpstreamConfig {
    scripted(&["--era", if era == Era::Session { "session" } else { "stateless" }])
}

#[tokio::test]
async fn both_eras_meet_on_both_sides() {
    for (front, back) in ERAS.into_iter().flat_map(|front| ERAS.map(|back| (front, back))) {
        let setup = Setup::with(one(upstream(back)), Default::default(), front).await;
        assert_eq!(
            text(&setup.run("echo", json!({"text": "hi"})).await),
            "hi",
            "{front:?} → {back:?}"
        );
        let spoken = setup.gateway.status()[0].health.protocol.clone();
        let expected = if back == Era::Session {
            "2025-11-25"
        } else {
            "2026-07-28"
        };
        assert_eq!(spoken.as_deref(), Some(expected));
    }
}

#[tokio::test]
async fn a_question_reaches_the_user_whichever_way_each_side_asks() {
    for (front, back) in ERAS.into_iter().flat_map(|front| ERAS.map(|back| (front, back))) {
        let setup = Setup::with(one(upstream(back)), Default::default(), front).await;
        let answered = setup.run("ask", json!({})).await;
        assert_eq!(text(&answered), "accept: Ada", "{front:?} → {back:?}");
        assert_eq!(
            *setup.ears.questions.lock().unwrap(),
            ["What is your name?"],
            "{front:?} → {back:?}"
        );
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not() {
    for back in ERAS {
        let setup = Setup::new(one(upstream(back))).await;
        let (client, ears) = connect(&setup.gateway, Era::Session, false).await;
        let answered = execute(&client, &setup.id("ask").await, json!({})).await;
        assert_eq!(text(&answered), "decline: ", "{back:?}");
        assert!(ears.questions.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn progress_arrives_under_the_clients_own_token_and_in_order() {
    for (front, back) in ERAS.into_iter().flat_map(|front| ERAS.map(|back| (front, back))) {
        let setup = Setup::with(one(upstream(back)), Default::default(), front).await;
        assert_eq!(text(&setup.run("progress", json!({})).await), "done");
        eventually("all three reports are heard", async || {
            setup.ears.progress.lock().unwrap().len() == 3
        })
        .await;
        let heard = setup.ears.progress.lock().unwrap().clone();
        assert_eq!(
            heard.iter().map(|(progress, _)| *progress).collect::<Vec<_>>(),
            [1.0, 2.0, 3.0]
        );
        assert_eq!(heard[0].1.as_deref(), Some("step 1"));
    }
}

#[tokio::test]
async fn a_client_that_cancels_cancels_upstream() {
    let setup = Setup::new(one(upstream(Era::Session))).await;
    let arguments = object(json!({"tool_id": setup.id("hang").await, "args": {}}));
    let params = CallToolRequestParams::new("tool_execute").with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(params));
    let handle = setup
        .client
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    handle.cancel(Some("changed my mind".into())).await.unwrap();
    let id = setup.id("cancelled").await;
    eventually("the upstream hears of it", async || {
        text(&execute(&setup.client, &id, json!({})).await) != "[]"
    })
    .await;
}

#[tokio::test]
async fn pages_are_followed_to_the_end() {
    let mut config = one(scripted(&["--tools", "250", "--page", "7"]));
    config.browse.cluster_size = 500;
    let setup = Setup::new(config).await;
    assert_eq!(setup.gateway.status()[0].tools, 276);
    assert!(text(&setup.run("extra_tool_00249", json!({})).await).contains("UPSTREAM_ERROR"));
}

#[tokio::test]
async fn approval_is_asked_for_and_a_client_that_cannot_ask_is_refused() {
    use gateway::config::{PolicyAction, PolicyRule};
    let mut config = one(upstream(Era::Session));
    let reason = Some("it writes".to_owned());
    let rule = PolicyRule {
        action: PolicyAction::RequireApproval,
        tool: Some("echo".into()),
        reason,
        ..Default::default()
    };
    config.policy.rules.push(rule);
    for front in ERAS {
        let setup = Setup::with(config.clone(), Default::default(), front).await;
        assert_eq!(
            text(&setup.run("echo", json!({"text": "allowed"})).await),
            "allowed",
            "{front:?}"
        );
        let asked = setup.ears.questions.lock().unwrap().clone();
        assert!(asked.len() == 1 && asked[0].contains("it writes"), "{asked:?}");
        let (mute, _) = connect(&setup.gateway, front, false).await;
        let refused = error(&execute(&mute, &setup.id("echo").await, json!({"text": "x"})).await);
        assert_eq!(refused["error"], "PERMISSION_DENIED");
    }
}
