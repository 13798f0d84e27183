//! What a page about a gateway asks. It only looks: no tool of an upstream is called, and neither arguments nor results of calls are
//! shown.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use gateway::errors::{ErrorCode, GatewayError};
use gateway::http::PageRoutes;
use gateway::preview::preview;
use gateway::runtime::Gateway;
use gateway::shutdown::Shutdown;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::protocol::Refusal;

use super::{LOOK_AGAIN, answered, files, not_answered};
use crate::tools::refusal;

/// Cards at most that a task is routed to.
const MOST_CARDS: usize = 50;

#[derive(Clone)]
struct Watched {
    gateway: Arc<Gateway>,
    shutdown: Shutdown,
}

/// The page about a gateway that runs in this process; `code` lets one browser in.
pub fn gateway_page(gateway: Arc<Gateway>, shutdown: Shutdown, code: String) -> PageRoutes {
    let questions = Router::new()
        .route("/api/gateway", get(overview))
        .route("/api/gateway/calls", get(calls))
        .route("/api/gateway/tools", get(tools))
        .route("/api/gateway/tool/{id}", get(definition))
        .route("/api/gateway/route", get(route))
        .route("/api/gateway/try/{id}", post(examine))
        .route("/api/events", get(events))
        .with_state(Watched { gateway, shutdown });
    PageRoutes {
        files: files::router(),
        questions,
        code,
    }
}

/// Upstreams and sessions.
async fn overview(State(watched): State<Watched>) -> Response {
    answered(&watched.gateway.overview())
}

#[derive(Deserialize)]
struct After {
    #[serde(default)]
    after: u64,
}

/// The calls that passed, oldest first.
async fn calls(State(watched): State<Watched>, Query(asked): Query<After>) -> Response {
    answered(&json!({"calls": watched.gateway.calls_after(asked.after)}))
}

/// The catalog, and what a session begins with: the same as `lacon gateway check --json` says of it.
async fn tools(State(watched): State<Watched>) -> Response {
    let gateway = watched.gateway.clone();
    let found = tokio::task::spawn_blocking(move || {
        let (tools, total) = gateway.tools();
        json!({"tools": tools, "total": total, "preview": preview(&gateway)})
    });
    match found.await {
        Ok(found) => answered(&found),
        Err(error) => not_answered(&refusal("internal_error", error.to_string())),
    }
}

async fn definition(State(watched): State<Watched>, Path(id): Path<String>) -> Response {
    match watched.gateway.definition(&id) {
        Ok(found) => answered(&found),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
struct Task {
    #[serde(default)]
    task: String,
    top_k: Option<usize>,
}

/// Which tools a task leads to.
async fn route(State(watched): State<Watched>, Query(asked): Query<Task>) -> Response {
    let gateway = watched.gateway.clone();
    let found = tokio::task::spawn_blocking(move || {
        let (tools, total) = gateway.route(&asked.task, asked.top_k.unwrap_or(10).clamp(1, MOST_CARDS));
        json!({"tools": tools, "total": total})
    });
    match found.await {
        Ok(found) => answered(&found),
        Err(error) => not_answered(&refusal("internal_error", error.to_string())),
    }
}

/// What a call would be told before it leaves. It does not leave.
async fn examine(State(watched): State<Watched>, Path(id): Path<String>, body: Bytes) -> Response {
    let arguments: Value = match body.is_empty() {
        true => json!({}),
        false => match serde_json::from_slice(&body) {
            Ok(arguments) => arguments,
            Err(error) => {
                return not_answered(&refusal("invalid_argument", format!("the body is no JSON: {error}")));
            }
        },
    };
    let gateway = watched.gateway.clone();
    let found = tokio::task::spawn_blocking(move || gateway.examine(&id, arguments)).await;
    match found {
        Ok(Ok(found)) => answered(&found),
        Ok(Err(error)) => refused(&error),
        Err(error) => not_answered(&refusal("internal_error", error.to_string())),
    }
}

fn refused(error: &GatewayError) -> Response {
    let said = error.to_json();
    let code = match error.code {
        ErrorCode::HydrateFailed => "no_such_tool",
        ErrorCode::ArgsInvalid => "invalid_argument",
        code => code.as_str(),
    };
    not_answered(&Refusal {
        detail: said.get("details").map(Value::to_string).unwrap_or_default(),
        ..refusal(code, said["message"].as_str().unwrap_or_default())
    })
}

/// Says what the gateway is like, at once and whenever that changes.
async fn events(State(watched): State<Watched>) -> Response {
    let changes = futures::stream::unfold((watched, None::<String>), |(watched, before)| async move {
        loop {
            if watched.shutdown.is_requested() {
                return None;
            }
            let seen = watched.gateway.overview();
            let states: Vec<Value> = seen
                .upstreams
                .iter()
                .map(|upstream| json!({"name": upstream.name, "state": upstream.state}))
                .collect();
            let now = json!({
                "repositories": [],
                "gateway": {"upstreams": states, "generation": watched.gateway.generation(), "calls": seen.calls, "sessions": seen.sessions.len()},
            })
            .to_string();
            if before.as_ref() != Some(&now) {
                let event = Event::default().event("gateway").data(&now);
                return Some((Ok::<_, Infallible>(event), (watched, Some(now))));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    });
    Sse::new(changes).keep_alive(KeepAlive::default()).into_response()
}
