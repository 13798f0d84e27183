//! The door of a page in a browser. Its files are for everyone who reaches the server by a name of its own; what they ask is
//! answered to whoever shows a token.
//!
//! A browser cannot be given a header, so the address that is printed holds a code behind its `#`, where no log and no other server
//! ever sees it. The page exchanges it for a token of this run; a code opens once. A cookie would not do: other ports of this
//! machine, which may be other users', would be sent it too.

use std::io;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::door::is_ambiguous;
use super::{new_token, own_origins, serve_router};
use crate::config::HttpConfig;
use crate::session::lock;
use crate::shutdown::Shutdown;
use crate::upstream::seconds;

/// Browsers that one code and its successors may let in; the oldest is forgotten.
const MOST_ENTERED: usize = 64;

/// What is served.
pub struct PageRoutes {
    /// The page's files: no secret is in them.
    pub files: Router,
    /// What the page asks, answered to whoever shows a token.
    pub questions: Router,
    /// Lets one browser in.
    pub code: String,
}

struct PageDoor {
    /// Hashes, so that comparing takes the same time whatever is presented.
    tokens: Vec<blake3::Hash>,
    code: Mutex<Option<blake3::Hash>>,
    /// Tokens that the code was exchanged for.
    entered: Mutex<Vec<blake3::Hash>>,
    origins: Vec<String>,
    /// Names that this server goes by; any, where there are none.
    hosts: Vec<String>,
    most_bytes: usize,
    body_time: std::time::Duration,
}

/// Serves a page until `shutdown`.
pub async fn serve_pages(
    config: &HttpConfig,
    listener: TcpListener,
    shutdown: Shutdown,
    routes: PageRoutes,
) -> io::Result<()> {
    let (streams, end) = (CancellationToken::new(), CancellationToken::new());
    let _ends_with_this = (streams.clone().drop_guard(), end.clone().drop_guard());
    let configured = config.allowed_origins.iter();
    let configured = configured.map(|origin| origin.trim_end_matches('/').to_owned());
    let door = Arc::new(PageDoor {
        tokens: config
            .tokens
            .values()
            .map(|token| blake3::hash(token.as_bytes()))
            .collect(),
        code: Mutex::new(Some(blake3::hash(routes.code.as_bytes()))),
        entered: Mutex::default(),
        origins: own_origins(listener.local_addr()?)
            .into_iter()
            .chain(configured)
            .collect(),
        hosts: config.allowed_hosts.clone(),
        most_bytes: config.max_body_bytes,
        body_time: seconds(config.silence_seconds),
    });
    let questions = routes.questions.layer(from_fn_with_state(door.clone(), ask));
    let router = Router::new()
        .route("/api/enter", post(exchange).with_state(door.clone()))
        .merge(questions)
        .merge(routes.files)
        .layer(from_fn_with_state(door, reach));
    serve_router(config, listener, shutdown, router, (streams, end)).await
}

/// For every request: it names this server, and if a page sent it, the page is this server's.
async fn reach(State(door): State<Arc<PageDoor>>, request: Request, next: Next) -> Response {
    if is_ambiguous(request.uri(), request.headers()) {
        return (
            StatusCode::BAD_REQUEST,
            "the request says twice whom it is for, or from\n",
        )
            .into_response();
    }
    if !door.is_named(request.headers(), request.uri()) {
        // Another name that leads here is how a page of elsewhere would read the answers.
        return (StatusCode::FORBIDDEN, "this server goes by another name\n").into_response();
    }
    if !door.allows_origin(request.headers()) {
        return (StatusCode::FORBIDDEN, "this origin may not call here\n").into_response();
    }
    next.run(request).await
}

/// For every question: a token, and a body that comes in time and is not too large.
async fn ask(State(door): State<Arc<PageDoor>>, request: Request, next: Next) -> Response {
    if !door.knows(request.headers()) {
        return unauthorized("a token is needed: open the address that `lacon web` prints");
    }
    let (head, body) = request.into_parts();
    let body = match door.read(body).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    next.run(Request::from_parts(head, body.into())).await
}

/// A code for a token, once.
async fn exchange(State(door): State<Arc<PageDoor>>, body: Body) -> Response {
    let code = match door.read(body).await {
        Ok(body) => blake3::hash(&body),
        Err(refused) => return refused,
    };
    let is_right = {
        let mut expected = lock(&door.code);
        let is_right = expected.as_ref() == Some(&code);
        if is_right {
            *expected = None;
        }
        is_right
    };
    if !is_right {
        return unauthorized("this address was opened before, or is of an earlier run");
    }
    let Ok(token) = new_token() else {
        return (StatusCode::INTERNAL_SERVER_ERROR, "no random numbers\n").into_response();
    };
    let mut entered = lock(&door.entered);
    if entered.len() >= MOST_ENTERED {
        entered.remove(0);
    }
    entered.push(blake3::hash(token.as_bytes()));
    let kind = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (kind, json!({ "token": token }).to_string()).into_response()
}

fn unauthorized(why: &str) -> Response {
    let headers = [
        (header::WWW_AUTHENTICATE, "Bearer"),
        (header::CONTENT_TYPE, "application/json"),
    ];
    let error = json!({"error": {"code": "unauthorized", "message": why}});
    (StatusCode::UNAUTHORIZED, headers, error.to_string()).into_response()
}

impl PageDoor {
    fn is_named(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        if self.hosts.is_empty() {
            return true;
        }
        let named = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let Some(named) = named.or_else(|| uri.authority().map(|authority| authority.as_str())) else {
            return false;
        };
        let host = match named.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => named,
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    fn allows_origin(&self, headers: &HeaderMap) -> bool {
        match headers.get(header::ORIGIN).map(|origin| origin.to_str()) {
            None => true,
            Some(Ok(origin)) => self.origins.iter().any(|own| own.eq_ignore_ascii_case(origin)),
            Some(Err(_)) => false,
        }
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        let presented = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some((scheme, token)) = presented.and_then(|value| value.split_once(' ')) else {
            return false;
        };
        let presented = blake3::hash(token.trim().as_bytes());
        let is_known = self.tokens.contains(&presented) || lock(&self.entered).contains(&presented);
        scheme.eq_ignore_ascii_case("bearer") && is_known
    }

    async fn read(&self, body: Body) -> Result<Bytes, Response> {
        match tokio::time::timeout(self.body_time, axum::body::to_bytes(body, self.most_bytes)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(_)) => Err((StatusCode::PAYLOAD_TOO_LARGE, "the request is too large\n").into_response()),
            Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the request did not come in time\n").into_response()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door() -> PageDoor {
        PageDoor {
            tokens: vec![blake3::hash(b"secret")],
            code: Mutex::new(Some(blake3::hash(b"code"))),
            entered: Mutex::default(),
            origins: vec!["http://127.0.0.1:8766".to_owned()],
            hosts: super::super::loopback_hosts(),
            most_bytes: 100,
            body_time: std::time::Duration::from_secs(1),
        }
    }

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn only_names_of_this_machine_lead_here() {
        let door = door();
        let named = |host: &str| door.is_named(&headers(header::HOST, host), &Uri::from_static("/"));
        assert!(named("localhost:8766") && named("127.0.0.1") && named("[::1]:8766") && named("LOCALHOST"));
        assert!(!named("evil.example:8766") && !named("127.0.0.1.evil.example") && !named(""));
        assert!(!door.is_named(&HeaderMap::new(), &Uri::from_static("/")));
    }

    #[test]
    fn only_its_own_page_calls() {
        let door = door();
        assert!(door.allows_origin(&headers(header::ORIGIN, "http://127.0.0.1:8766")));
        assert!(!door.allows_origin(&headers(header::ORIGIN, "http://127.0.0.1:9999")));
        assert!(!door.allows_origin(&headers(header::ORIGIN, "null")));
    }

    #[tokio::test]
    async fn a_code_lets_in_once() {
        let door = Arc::new(door());
        let token_of = async |code: &'static str| {
            let answer = exchange(State(door.clone()), Body::from(code)).await;
            let is_in = answer.status() == StatusCode::OK;
            let body = axum::body::to_bytes(answer.into_body(), 1000).await.unwrap();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            is_in.then(|| body["token"].as_str().unwrap().to_owned())
        };
        assert_eq!(token_of("guess").await, None);
        let token = token_of("code").await.unwrap();
        assert_eq!(token_of("code").await, None, "it was used");
        let bearer = |token: &str| headers(header::AUTHORIZATION, &format!("Bearer {token}"));
        assert!(door.knows(&bearer(&token)) && door.knows(&bearer("secret")));
        assert!(!door.knows(&bearer("code")) && !door.knows(&HeaderMap::new()));
    }
}
