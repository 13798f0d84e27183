//! The gateway over streamable HTTP. Who may come in is decided here, before the protocol sees a request: the origin, the
//! token, the session's owner, and how many sessions there may be.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config::HttpConfig;
use crate::negotiation::with_format_as_object;
use crate::runtime::Gateway;
use crate::server::GatewayServer;
use crate::session::{Principal, lock};
use crate::upstream::seconds;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// The first protocol version without sessions.
const STATELESS: &str = "2026-07-28";
/// How long an answer is kept for a client that lost its connection while it came. The protocol's own minute is thousands of answers
/// on a busy server; who comes back comes back at once.
const KEPT_ANSWERS: Duration = Duration::from_secs(5);

/// Why the gateway cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("`{0}` is not an address; write it as 127.0.0.1:8765")]
    Address(String),
    #[error("`{0}` is not a loopback address: set http.tokens before listening on it")]
    OpenToAll(SocketAddr),
    #[error("cannot listen on {0}: {1}")]
    Bind(SocketAddr, io::Error),
}

/// Opens the port the configuration names. Without tokens only loopback will do.
pub async fn listen(config: &HttpConfig) -> Result<TcpListener, ListenError> {
    let mut addresses = tokio::net::lookup_host(&config.listen)
        .await
        .map_err(|_| ListenError::Address(config.listen.clone()))?;
    let address = addresses
        .next()
        .ok_or_else(|| ListenError::Address(config.listen.clone()))?;
    if config.tokens.is_empty() && !address.ip().is_loopback() {
        return Err(ListenError::OpenToAll(address));
    }
    TcpListener::bind(address)
        .await
        .map_err(|error| ListenError::Bind(address, error))
}

/// Serves until `shutdown`.
pub async fn serve(gateway: Arc<Gateway>, listener: TcpListener, shutdown: CancellationToken) -> io::Result<()> {
    let config = gateway.config().http.clone();
    serve_any(&config, listener, shutdown, move || {
        GatewayServer::over_http(gateway.clone())
    })
    .await
}

/// Serves any MCP server behind the same door, until `shutdown`; `make` makes one per session.
pub async fn serve_any<S: ServerHandler>(
    config: &HttpConfig,
    listener: TcpListener,
    shutdown: CancellationToken,
    make: impl Fn() -> S + Send + Sync + 'static,
) -> io::Result<()> {
    let router = router_of(config, shutdown.clone(), make);
    axum::serve(listener, router)
        .with_graceful_shutdown(async move { shutdown.cancelled().await })
        .await
}

/// The routes, for a caller that has its own server.
pub fn router(gateway: Arc<Gateway>, shutdown: CancellationToken) -> Router {
    let config = gateway.config().http.clone();
    router_of(&config, shutdown, move || GatewayServer::over_http(gateway.clone()))
}

fn router_of<S: ServerHandler>(
    config: &HttpConfig,
    shutdown: CancellationToken,
    make: impl Fn() -> S + Send + Sync + 'static,
) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(seconds(config.session_idle_seconds));
    sessions.session_config.completed_cache_ttl = KEPT_ANSWERS;
    let sessions = Arc::new(sessions);
    let mut protocol = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(config.max_body_bytes)
        .with_sse_retry(None)
        .with_cancellation_token(shutdown);
    if !config.tokens.is_empty() {
        // The host check defends servers without tokens against web pages; with tokens, any name may lead here.
        protocol = protocol.disable_allowed_hosts();
    }
    let door = Arc::new(Door::new(config, sessions.clone()));
    let service = StreamableHttpService::new(move || Ok(make()), sessions, protocol);
    Router::new()
        .route_service("/mcp", service.clone())
        // A client that writes the slash must not be sent round by a redirect.
        .route_service("/mcp/", service)
        .layer(from_fn_with_state(door, enter))
        .route("/health", get(|| async { "ok" }))
}

/// Who may come in.
struct Door {
    /// Hashes of the tokens: comparing them takes the same time whatever is presented.
    tokens: Vec<(blake3::Hash, Principal)>,
    origins: Vec<String>,
    most_sessions: usize,
    most_bytes: usize,
    sessions: Arc<LocalSessionManager>,
    /// Whose session is whose.
    owners: Mutex<HashMap<String, Principal>>,
}

impl Door {
    fn new(config: &HttpConfig, sessions: Arc<LocalSessionManager>) -> Door {
        let token = |(name, token): (&String, &String)| (blake3::hash(token.as_bytes()), Principal::named(name));
        Door {
            tokens: config.tokens.iter().map(token).collect(),
            origins: config
                .allowed_origins
                .iter()
                .map(|origin| origin.trim_end_matches('/').to_owned())
                .collect(),
            most_sessions: config.max_sessions,
            most_bytes: config.max_body_bytes,
            sessions,
            owners: Mutex::new(HashMap::new()),
        }
    }

    fn principal(&self, headers: &HeaderMap) -> Option<Principal> {
        if self.tokens.is_empty() {
            return Some(Principal::anonymous());
        }
        let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
        let presented = blake3::hash(token.trim().as_bytes());
        let known = self.tokens.iter().find(|(token, _)| *token == presented)?;
        scheme.eq_ignore_ascii_case("bearer").then(|| known.1.clone())
    }

    /// A browser always says where a page came from; only loopback pages and listed ones may call.
    fn allows_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else {
            return true;
        };
        let Ok(origin) = origin.to_str() else { return false };
        self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)) || is_loopback_origin(origin)
    }

    async fn has_room(&self) -> bool {
        self.sessions.sessions.read().await.len() < self.most_sessions
    }

    /// Notes who began a session, and forgets sessions that are over.
    async fn admit(&self, session: &HeaderValue, principal: Principal) {
        let Ok(session) = session.to_str() else { return };
        let alive = self.sessions.sessions.read().await;
        let mut owners = lock(&self.owners);
        if owners.len() > 2 * alive.len() + 16 {
            owners.retain(|id, _| alive.contains_key(id.as_str()));
        }
        owners.insert(session.to_owned(), principal);
    }

    fn owns(&self, session: &str, principal: &Principal) -> bool {
        lock(&self.owners).get(session).is_none_or(|owner| owner == principal)
    }
}

fn is_loopback_origin(origin: &str) -> bool {
    let Some(rest) = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"))
    else {
        return false;
    };
    let host = match rest.strip_prefix('[') {
        Some(ipv6) => ipv6.split_once(']').map_or("", |(host, _)| host),
        None => rest.split(':').next().unwrap_or_default(),
    };
    matches!(host, "localhost" | "127.0.0.1" | "::1")
}

async fn enter(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    if !door.allows_origin(headers) {
        return (StatusCode::FORBIDDEN, "this origin may not call here\n").into_response();
    }
    let Some(principal) = door.principal(headers) else {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge, "a bearer token is needed\n").into_response();
    };
    match headers
        .get(SESSION)
        .map(|id| id.to_str().unwrap_or_default().to_owned())
    {
        Some(session) => {
            if !door.owns(&session, &principal) {
                // Reads as an unknown session, so that nobody can probe for other people's.
                return (StatusCode::NOT_FOUND, "Not Found: Session not found").into_response();
            }
        }
        None => {
            let stateless = headers
                .get(VERSION)
                .is_some_and(|version| version.as_bytes() >= STATELESS.as_bytes());
            if request.method() == Method::POST && !stateless && !door.has_room().await {
                let later = [(header::RETRY_AFTER, "30")];
                return (StatusCode::SERVICE_UNAVAILABLE, later, "too many sessions\n").into_response();
            }
        }
    }
    request.extensions_mut().insert(principal.clone());
    let request = match respelled(request, door.most_bytes).await {
        Ok(request) => request,
        Err(refused) => return refused,
    };
    let response = next.run(request).await;
    if let Some(session) = response.headers().get(SESSION) {
        door.admit(session, principal).await;
    }
    response
}

/// The request with its output format spelled as the protocol reads it. Only a session's first message and requests without a
/// session can name one, so the others pass untouched.
async fn respelled(request: Request, most_bytes: usize) -> Result<Request, Response> {
    if request.method() != Method::POST || request.headers().contains_key(SESSION) {
        return Ok(request);
    }
    let (mut head, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, most_bytes).await else {
        return Err((StatusCode::PAYLOAD_TOO_LARGE, "the request is too large\n").into_response());
    };
    let bytes = match with_format_as_object(&bytes) {
        Some(spelled) => {
            head.headers
                .insert(header::CONTENT_LENGTH, HeaderValue::from(spelled.len()));
            spelled.into()
        }
        None => bytes,
    };
    Ok(Request::from_parts(head, bytes.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(tokens: &[(&str, &str)]) -> Door {
        let tokens = tokens
            .iter()
            .map(|(name, token)| ((*name).to_owned(), (*token).to_owned()))
            .collect();
        let config = HttpConfig {
            tokens,
            allowed_origins: vec!["https://app.example/".into()],
            ..HttpConfig::default()
        };
        Door::new(&config, Arc::new(LocalSessionManager::default()))
    }

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn a_token_names_its_principal() {
        let door = door(&[("ada", "secret-a"), ("bob", "secret-b")]);
        let bearer = |value: &str| door.principal(&headers(header::AUTHORIZATION, value));
        assert_eq!(bearer("Bearer secret-b"), Some(Principal::named("bob")));
        assert_eq!(bearer("bearer secret-a"), Some(Principal::named("ada")));
        assert_eq!(bearer("Bearer secret"), None);
        assert_eq!(bearer("Basic secret-a"), None);
        assert_eq!(door.principal(&HeaderMap::new()), None);
    }

    #[test]
    fn only_loopback_and_listed_pages_may_call() {
        let door = door(&[]);
        for origin in [
            "http://localhost:3000",
            "http://127.0.0.1",
            "http://[::1]:80",
            "https://app.example",
        ] {
            assert!(door.allows_origin(&headers(header::ORIGIN, origin)), "{origin}");
        }
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
        ] {
            assert!(!door.allows_origin(&headers(header::ORIGIN, origin)), "{origin}");
        }
        assert!(door.allows_origin(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn without_tokens_only_loopback_is_listened_on() {
        let open = HttpConfig {
            listen: "0.0.0.0:0".into(),
            ..HttpConfig::default()
        };
        assert!(matches!(listen(&open).await, Err(ListenError::OpenToAll(_))));
        let nonsense = HttpConfig {
            listen: "nowhere".into(),
            ..HttpConfig::default()
        };
        assert!(matches!(listen(&nonsense).await, Err(ListenError::Address(_))));
        let loopback = HttpConfig {
            listen: "127.0.0.1:0".into(),
            ..HttpConfig::default()
        };
        assert!(listen(&loopback).await.is_ok());
    }
}
