//! A page in the browser: its files, and the questions that it asks as JSON.
//!
//! Everything the page shows is an answer of a tool (`/api/ask/<tool>`), or of a question that only a page has: lines with links, the
//! map of a folder, the state of the indexes. A page about a gateway has questions of its own (`web/upstreams.rs`). It writes nothing and starts no language server. Who may ask is decided by
//! `gateway::http::serve_pages`.

mod files;
mod upstreams;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use codeintel::find_files::{AskFiles, find_files};
use codeintel::folder_map::{AskFolder, folder_map};
use codeintel::line_history::{AskHistory, line_history};
use codeintel::linked_source::{AskLines, LinkedSource, linked_source};
use codeintel::{QuestionError, Workspace};
use gateway::http::PageRoutes;
use index::store::Location;
use serde::Serialize;
use serde_json::{Map, Value, json};
use wire::Format;
use wire::protocol::Refusal;

use crate::asking::{REPAIRING, Work, ask_blocking};
use crate::mcp::QuestionServer;
use crate::sessions::savings;
use crate::status::{Look, status};
use crate::tools::sound::{DAMAGED, sound_answer};
use crate::tools::{Credentials, Desk, Tool, Toolset, Wish, refusal, refused};
pub use upstreams::gateway_page;

/// Who asks, as far as tools want to know.
const CALLER: &str = "page";
/// How often the indexes are looked at for those who follow them.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Conversations in the answer about savings.
const MOST_CONVERSATIONS: usize = 50;

/// What is asked of the system, which only the binary knows: the same as `lacon doctor --json`.
pub type Doctor = Arc<dyn Fn() -> Value + Send + Sync>;

#[derive(Clone)]
struct Page {
    server: QuestionServer,
    doctor: Doctor,
}

/// The page about code; `code` lets one browser in. Needs a Tokio runtime.
pub fn code_page(server: QuestionServer, doctor: Doctor, code: String) -> PageRoutes {
    tokio::spawn(warm(server.clone()));
    let questions = Router::new()
        .route("/api/tools", get(tools))
        .route("/api/ask/{tool}", post(ask))
        .route("/api/lines", get(lines))
        .route("/api/folder", get(folder))
        .route("/api/files", get(files_found))
        .route("/api/history", get(history))
        .route("/api/status", get(state))
        .route("/api/savings", get(saved))
        .route("/api/doctor", get(health))
        .route("/api/events", get(events))
        .with_state(Page { server, doctor });
    PageRoutes {
        files: files::router(),
        questions,
        code,
    }
}

/// Asks once what the first view asks, as soon as there is an index: what is computed for it is kept, and nobody has to wait for it then.
async fn warm(server: QuestionServer) {
    while !server.shutdown.is_requested() {
        let (trees, services) = (server.trees.clone(), server.services.clone());
        let is_there = tokio::task::spawn_blocking(move || trees.workspace().is_ok()).await;
        if !matches!(is_there, Ok(true)) {
            tokio::time::sleep(LOOK_AGAIN).await;
            continue;
        }
        let Some(tool) = server.permissions.find("get_repo_outline") else {
            return;
        };
        let asked = ask_blocking(&server, Work::Computes, move |workspace| {
            let desk = Desk {
                workspace,
                services: &services,
                caller: CALLER,
                wish: Wish::default(),
            };
            sound_answer(tool, &desk, Map::new(), Format::Json)
        });
        // Whoever asks next hears why it failed.
        drop(asked.await);
        return;
    }
}

/// Whether the page may ask it: it reads, keeps nothing, and starts no program.
fn is_for_pages(tool: &Tool) -> bool {
    !tool.writes && !matches!(tool.toolset, Toolset::Lsp | Toolset::Edit) && tool.name != "session_reset"
}

async fn tools(State(page): State<Page>) -> Response {
    let several = page.server.trees.count() > 1;
    let list = |tool: &'static Tool| json!({"name": tool.name, "about": tool.about, "max_tokens": tool.max_tokens, "schema": tool.input_schema(several)});
    let tools: Vec<Value> = page
        .server
        .permissions
        .answered()
        .filter(|tool| is_for_pages(tool))
        .map(list)
        .collect();
    answered(&json!({ "tools": tools }))
}

/// The answer of a tool: JSON unless the call asks for another format.
async fn ask(State(page): State<Page>, Path(name): Path<String>, body: Bytes) -> Response {
    let found = page.server.permissions.find(&name).filter(|tool| is_for_pages(tool));
    let Some(tool) = found else {
        return not_answered(&refusal(
            "no_such_tool",
            format!("no tool `{name}`: GET /api/tools lists them"),
        ));
    };
    let arguments: Map<String, Value> = match body.is_empty() {
        true => Map::new(),
        false => match serde_json::from_slice(&body) {
            Ok(arguments) => arguments,
            Err(error) => {
                return not_answered(&refusal(
                    "invalid_argument",
                    format!("the body is no JSON object: {error}"),
                ));
            }
        },
    };
    let services = page.server.services.clone();
    let said = ask_blocking(&page.server, Work::Computes, move |workspace| {
        let desk = Desk {
            workspace,
            services: &services,
            caller: CALLER,
            wish: Wish::default(),
        };
        sound_answer(tool, &desk, arguments, Format::Json)
    });
    match said.await {
        Ok(said) => {
            let kind = match said.format {
                Format::Json => "application/json",
                _ => "text/plain; charset=utf-8",
            };
            sent(StatusCode::OK, kind, said.text)
        }
        Err(refusal) => not_answered(&refusal),
    }
}

/// Lines of a file, with links.
async fn lines(State(page): State<Page>, Query(asked): Query<AskLines>) -> Response {
    let shows = page.server.services.credentials == Credentials::Shown;
    let found = of_page(&page, move |workspace| {
        linked_source(workspace, &asked).map(|found| if shows { found } else { masked(found) })
    });
    found.await
}

/// Credentials are masked here as in every answer. A line that a mask changed has no links, since its columns moved.
fn masked(mut found: LinkedSource) -> LinkedSource {
    let text = found.lines.join("\n");
    let shown = secrets::redact(&text, secrets::Doubt::Show);
    if shown == text {
        return found;
    }
    let lines: Vec<String> = shown.split('\n').map(str::to_owned).collect();
    let same_count = lines.len() == found.lines.len();
    let (first, before) = (found.first, std::mem::replace(&mut found.lines, lines));
    let is_same = |line: u32| {
        let at = (line - first) as usize;
        same_count && before.get(at) == found.lines.get(at)
    };
    found.links.retain(|link| is_same(link.line));
    found.definitions.retain(|definition| is_same(definition.line));
    found
}

/// The parts of a folder.
async fn folder(State(page): State<Page>, Query(asked): Query<AskFolder>) -> Response {
    of_page(&page, move |workspace| folder_map(workspace, &asked)).await
}

/// Files by parts of their paths.
async fn files_found(State(page): State<Page>, Query(asked): Query<AskFiles>) -> Response {
    of_page(&page, move |workspace| find_files(workspace, &asked)).await
}

/// The commits that changed some lines.
async fn history(State(page): State<Page>, Query(asked): Query<AskHistory>) -> Response {
    of_page(&page, move |workspace| line_history(workspace, &asked)).await
}

/// A question that only a page has.
async fn of_page<T: Serialize + Send + 'static>(
    page: &Page,
    question: impl FnOnce(&Workspace) -> Result<T, QuestionError> + Send + 'static,
) -> Response {
    let services = page.server.services.clone();
    let found = ask_blocking(&page.server, Work::Computes, move |workspace| {
        let workspace = services.told.enrich(workspace.clone());
        let found = question(&workspace).map_err(refused);
        match workspace.damage() {
            Some(damage) => Err(refusal(DAMAGED, damage.to_string())),
            None => found,
        }
    });
    match found.await {
        Ok(found) => answered(&found),
        Err(refusal) => not_answered(&refusal),
    }
}

/// What the indexes hold: for each repository the same as `lacon status --skipped --json`, or why that cannot be said.
async fn state(State(page): State<Page>) -> Response {
    let places = page.server.trees.places();
    let are_kept = page.server.trees.are_kept();
    let of_place = move |(name, root, index_dir, note): (String, PathBuf, Option<PathBuf>, Option<String>)| {
        let look = Look {
            verify: false,
            skipped: true,
        };
        let found = Location::of(&root, index_dir.as_deref())
            .map_err(|error| error.to_string())
            .and_then(|location| status(&location, look).map_err(|failure| format!("{:#}", failure.error)));
        let mut entry = json!({"name": name, "watched": are_kept, "note": note});
        match found {
            Ok(status) => entry["status"] = json!(status),
            Err(error) => entry["error"] = json!(error),
        }
        entry
    };
    let found = tokio::task::spawn_blocking(move || places.into_iter().map(of_place).collect::<Vec<Value>>()).await;
    match found {
        Ok(repositories) => answered(&json!({"version": env!("CARGO_PKG_VERSION"), "repositories": repositories})),
        Err(error) => not_answered(&refusal("internal_error", error.to_string())),
    }
}

/// What answers saved: the same as `lacon savings --json`.
async fn saved(State(page): State<Page>) -> Response {
    let directory = page.server.trees.directory();
    let found = tokio::task::spawn_blocking(move || directory.map(|place| savings(&place, MOST_CONVERSATIONS))).await;
    answered(&found.ok().flatten())
}

/// The same as `lacon doctor --json`.
async fn health(State(page): State<Page>) -> Response {
    let found = tokio::task::spawn_blocking(move || (page.doctor)()).await;
    match found {
        Ok(found) => answered(&found),
        Err(error) => not_answered(&refusal("internal_error", error.to_string())),
    }
}

/// Says what the indexes are like, at once and whenever that changes.
async fn events(State(page): State<Page>) -> Response {
    let changes = futures::stream::unfold((page.server, None::<String>), |(server, before)| async move {
        loop {
            if server.shutdown.is_requested() {
                return None;
            }
            let trees = server.trees.clone();
            let now = tokio::task::spawn_blocking(move || described(&trees.workspace()))
                .await
                .ok()?;
            if before.as_ref() != Some(&now) {
                let event = Event::default().event("index").data(&now);
                return Some((Ok::<_, Infallible>(event), (server, Some(now))));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    });
    Sse::new(changes).keep_alive(KeepAlive::default()).into_response()
}

/// What changes when an index does.
fn described(workspace: &Result<Arc<Workspace>, Refusal>) -> String {
    let described = match workspace {
        Ok(workspace) => {
            let repositories = workspace.repositories().iter().map(|repository| {
                let snapshot = &repository.snapshot;
                let digest: String = snapshot.tree_digest()[..8]
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                json!({
                    "name": repository.name, "digest": digest, "files": snapshot.file_count(),
                    "symbols": snapshot.symbol_count() - snapshot.file_count(), "incomplete": repository.incomplete,
                })
            });
            json!({"repositories": repositories.collect::<Vec<Value>>(), "prefixed": workspace.is_prefixed()})
        }
        Err(refusal) => json!({"repositories": [], "missing": refusal.message}),
    };
    described.to_string()
}

fn answered(value: &impl Serialize) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => sent(StatusCode::OK, "application/json", text),
        Err(error) => not_answered(&refusal("internal_error", error.to_string())),
    }
}

fn not_answered(refusal: &Refusal) -> Response {
    let status = match refusal.code.as_str() {
        "index_building" | REPAIRING | "shutting_down" => StatusCode::SERVICE_UNAVAILABLE,
        "internal_error" => StatusCode::INTERNAL_SERVER_ERROR,
        code if code.starts_with("no_such") || code == "no_index" => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    };
    let mut error = BTreeMap::from([("code", &refusal.code), ("message", &refusal.message)]);
    if !refusal.detail.is_empty() {
        error.insert("detail", &refusal.detail);
    }
    sent(status, "application/json", json!({ "error": error }).to_string())
}

fn sent(status: StatusCode, kind: &'static str, text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        // An answer that is opened as a page must not become one.
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, Body::from(text)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_writes_nothing_and_starts_nothing() {
        let asked: Vec<&str> = crate::tools::all()
            .filter(|tool| is_for_pages(tool))
            .map(|tool| tool.name)
            .collect();
        assert!(asked.contains(&"search_symbols") && asked.contains(&"context_for_task"));
        assert!(!asked.contains(&"apply_edit") && !asked.contains(&"hover") && !asked.contains(&"create_session"));
    }

    #[test]
    fn a_masked_line_has_no_links() {
        let link = |line| codeintel::linked_source::Link {
            line,
            column: 0,
            length: 3,
            to: "a.py::f".to_owned(),
            kind: "calls",
            origin: "ast_resolved",
            confidence: 1.0,
            external: false,
        };
        let key = format!("AKIA{}", "Q3EGR5PNBKXTS7ZW");
        let found = LinkedSource {
            first: 7,
            lines: vec!["f()".to_owned(), format!("k = \"{key}\"")],
            links: vec![link(7), link(8)],
            ..LinkedSource::default()
        };
        let shown = masked(found);
        assert!(!shown.lines[1].contains(&key), "{:?}", shown.lines);
        assert_eq!(shown.links, vec![link(7)]);
    }
}
