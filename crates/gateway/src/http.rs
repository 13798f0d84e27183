//! MCP over streamable HTTP: where it listens, how it is served, and how it ends. Who may come in is decided in `door`, how many
//! and for how long in `connections`.

mod connections;
mod door;
mod pages;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config::HttpConfig;
use crate::runtime::Gateway;
use crate::server::GatewayServer;
use crate::shutdown::Shutdown;
use crate::upstream::seconds;
use connections::{Connections, Limits};
use door::{Door, enter};
pub use pages::{PageRoutes, serve_pages};

/// How long an answer is kept for a client that lost its connection while it came. The protocol's own minute is thousands of answers
/// on a busy server; who comes back comes back at once.
const KEPT_ANSWERS: Duration = Duration::from_secs(5);
/// How long the last answers may take to be sent, and connections to be closed, when the server ends.
const LAST_ANSWERS: Duration = Duration::from_millis(300);
const LAST_CONNECTIONS: Duration = Duration::from_millis(200);
/// Random bytes of a token that nobody named.
const TOKEN_BYTES: usize = 24;

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

/// A new token that nobody can guess: 192 bits from the system, as letters, digits, `-` and `_`.
pub fn new_token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The names by which a server on loopback is reached from the same machine.
pub fn loopback_hosts() -> Vec<String> {
    ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into()
}

/// Opens the port the configuration names. Without tokens only loopback will do.
pub async fn listen(config: &HttpConfig) -> Result<TcpListener, ListenError> {
    let address = address(config).await?;
    if config.tokens.is_empty() && !address.ip().is_loopback() {
        return Err(ListenError::OpenToAll(address));
    }
    TcpListener::bind(address)
        .await
        .map_err(|error| ListenError::Bind(address, error))
}

/// Whether the address that the configuration names is reached from this machine alone.
pub async fn is_loopback(config: &HttpConfig) -> Result<bool, ListenError> {
    Ok(address(config).await?.ip().is_loopback())
}

async fn address(config: &HttpConfig) -> Result<SocketAddr, ListenError> {
    let unknown = || ListenError::Address(config.listen.clone());
    let mut addresses = tokio::net::lookup_host(&config.listen).await.map_err(|_| unknown())?;
    addresses.next().ok_or_else(unknown)
}

/// Serves until `shutdown`, and for the moment that the last answers take.
pub async fn serve(gateway: Arc<Gateway>, listener: TcpListener, shutdown: Shutdown) -> io::Result<()> {
    let config = gateway.config().http.clone();
    let ending = shutdown.clone();
    let make = move || GatewayServer::over_http(gateway.clone(), ending.clone());
    serve_any(&config, listener, shutdown, make).await
}

/// Serves any MCP server behind the same door, until `shutdown`; `make` makes one per session. The server itself must answer its
/// calls when they are overdue.
pub async fn serve_any<S: ServerHandler>(
    config: &HttpConfig,
    listener: TcpListener,
    shutdown: Shutdown,
    make: impl Fn() -> S + Send + Sync + 'static,
) -> io::Result<()> {
    let (protocol, end) = (CancellationToken::new(), CancellationToken::new());
    // Whoever gives up this future gives up its connections.
    let _ends_with_this = (protocol.clone().drop_guard(), end.clone().drop_guard());
    let origins = own_origins(listener.local_addr()?);
    let router = router(config, origins, &shutdown, protocol.clone(), make);
    serve_router(config, listener, shutdown, router, (protocol, end)).await
}

/// Serves connections until `shutdown`; then the protocol's streams are ended, and the connections after them.
async fn serve_router(
    config: &HttpConfig,
    listener: TcpListener,
    shutdown: Shutdown,
    router: Router,
    (protocol, end): (CancellationToken, CancellationToken),
) -> io::Result<()> {
    let connections = Arc::new(Connections::default());
    let limits = Limits::new(config.max_connections, seconds(config.silence_seconds));
    tokio::select! {
        () = connections::accept(listener, router, limits, connections.clone(), end.clone()) => {}
        () = shutdown.requested() => {}
    }
    shutdown.drain().await;
    connections.answered(LAST_ANSWERS).await;
    protocol.cancel();
    end.cancel();
    connections.closed(LAST_CONNECTIONS).await;
    Ok(())
}

/// The origins of pages that this server itself would serve.
fn own_origins(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    let mut origins = vec![format!("http://{address}")];
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        origins.push(format!("http://localhost:{port}"));
        origins.push(format!("http://{}", SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
        origins.push(format!("http://{}", SocketAddr::from((Ipv6Addr::LOCALHOST, port))));
    }
    origins
}

fn router<S: ServerHandler>(
    config: &HttpConfig,
    own_origins: Vec<String>,
    shutdown: &Shutdown,
    end: CancellationToken,
    make: impl Fn() -> S + Send + Sync + 'static,
) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(seconds(config.session_idle_seconds));
    sessions.session_config.completed_cache_ttl = KEPT_ANSWERS;
    let sessions = Arc::new(sessions);
    let mut protocol = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(config.max_body_bytes)
        .with_sse_retry(None)
        .with_cancellation_token(end);
    if !config.allowed_hosts.is_empty() {
        protocol = protocol.with_allowed_hosts(config.allowed_hosts.iter().cloned());
    } else if !config.tokens.is_empty() {
        // The host check defends servers without tokens against web pages; with tokens, any name may lead here.
        protocol = protocol.disable_allowed_hosts();
    }
    let door = Arc::new(Door::new(config, own_origins, sessions.clone(), shutdown.clone()));
    let service = StreamableHttpService::new(move || Ok(make()), sessions, protocol);
    Router::new()
        .route_service("/mcp", service.clone())
        // A client that writes the slash must not be sent round by a redirect.
        .route_service("/mcp/", service)
        .layer(from_fn_with_state(door, enter))
        .route("/health", get(|| async { "ok" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_long() {
        let (one, other) = (new_token().unwrap(), new_token().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), TOKEN_BYTES * 4 / 3);
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
