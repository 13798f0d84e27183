//! Who may come in, decided before the protocol sees a request: the origin, the token, the session's owner, how many sessions
//! there may be, and whether the body comes in time and is a message at all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::config::HttpConfig;
use crate::negotiation::with_format_as_object;
use crate::session::{Principal, lock};
use crate::shutdown::{SHUTTING_DOWN, Shutdown};
use crate::upstream::seconds;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// The first protocol version without sessions.
const STATELESS: &str = "2026-07-28";

/// Who may come in.
pub(super) struct Door {
    /// Hashes of the tokens: comparing them takes the same time whatever is presented.
    tokens: Vec<(blake3::Hash, Principal)>,
    /// Exactly these: another port of the same machine is another program's, or another user's.
    origins: Vec<String>,
    most_sessions: usize,
    most_bytes: usize,
    /// How long a request's body may take to come.
    body_time: Duration,
    sessions: Arc<LocalSessionManager>,
    /// Whose session is whose.
    owners: Mutex<HashMap<String, Principal>>,
    shutdown: Shutdown,
}

impl Door {
    pub(super) fn new(
        config: &HttpConfig,
        own_origins: Vec<String>,
        sessions: Arc<LocalSessionManager>,
        shutdown: Shutdown,
    ) -> Door {
        let token = |(name, token): (&String, &String)| (blake3::hash(token.as_bytes()), Principal::named(name));
        let configured = config
            .allowed_origins
            .iter()
            .map(|origin| origin.trim_end_matches('/').to_owned());
        Door {
            tokens: config.tokens.iter().map(token).collect(),
            origins: own_origins.into_iter().chain(configured).collect(),
            most_sessions: config.max_sessions,
            most_bytes: config.max_body_bytes,
            body_time: seconds(config.silence_seconds),
            sessions,
            owners: Mutex::new(HashMap::new()),
            shutdown,
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

    /// A browser always says where a page came from; only the server's own pages and listed ones may call.
    fn allows_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else {
            return true;
        };
        let Ok(origin) = origin.to_str() else { return false };
        self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
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

pub(super) async fn enter(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    if is_ambiguous(request.uri(), headers) {
        return (
            StatusCode::BAD_REQUEST,
            "the request says twice whom it is for, or from\n",
        )
            .into_response();
    }
    if !door.allows_origin(headers) {
        return (StatusCode::FORBIDDEN, "this origin may not call here\n").into_response();
    }
    let Some(principal) = door.principal(headers) else {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge, "a bearer token is needed\n").into_response();
    };
    if door.shutdown.is_requested() {
        let later = [(header::RETRY_AFTER, "1"), (header::CONNECTION, "close")];
        return (StatusCode::SERVICE_UNAVAILABLE, later, SHUTTING_DOWN).into_response();
    }
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
    let claims_json = headers_claim_json(request.headers());
    let (request, body) = match read(request, &door).await {
        Ok(read) => read,
        Err(refused) => return refused,
    };
    let response = next.run(request).await;
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && claims_json {
        // The SDK says so of any body that it cannot read; the media type is right, the message is not.
        return no_message(&body);
    }
    if let Some(session) = response.headers().get(SESSION) {
        door.admit(session, principal).await;
    }
    response
}

/// The request with its body read, in time, and its output format spelled as the protocol reads it. Only a session's first
/// message and requests without a session can name one, so the others pass as they are.
async fn read(request: Request, door: &Door) -> Result<(Request, Bytes), Response> {
    if request.method() != Method::POST {
        return Ok((request, Bytes::new()));
    }
    let (mut head, body) = request.into_parts();
    let bytes = match tokio::time::timeout(door.body_time, axum::body::to_bytes(body, door.most_bytes)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => return Err((StatusCode::PAYLOAD_TOO_LARGE, "the request is too large\n").into_response()),
        Err(_) => {
            let close = [(header::CONNECTION, "close")];
            return Err((StatusCode::REQUEST_TIMEOUT, close, "the request did not come in time\n").into_response());
        }
    };
    let names_format = !head.headers.contains_key(SESSION);
    let bytes: Bytes = match names_format.then(|| with_format_as_object(&bytes)).flatten() {
        Some(spelled) => {
            head.headers
                .insert(header::CONTENT_LENGTH, HeaderValue::from(spelled.len()));
            spelled.into()
        }
        None => bytes,
    };
    Ok((Request::from_parts(head, bytes.clone().into()), bytes))
}

/// Whether a request says two things of who it is for or from. What checks the first and what obeys the second would disagree.
pub(super) fn is_ambiguous(target: &Uri, headers: &HeaderMap) -> bool {
    let once = [header::HOST, header::ORIGIN, header::AUTHORIZATION];
    let session = HeaderName::from_static(SESSION);
    let is_repeated = |name: &HeaderName| headers.get_all(name).iter().nth(1).is_some();
    // A target that is a whole address names the host as well.
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
    let names_another = target
        .authority()
        .is_some_and(|authority| host.is_none_or(|host| !host.eq_ignore_ascii_case(authority.as_str().as_bytes())));
    once.iter().chain([&session]).any(is_repeated) || names_another
}

fn headers_claim_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|media_type| media_type.as_bytes().starts_with(b"application/json"))
}

/// What JSON-RPC says of a body that is no message.
fn no_message(body: &[u8]) -> Response {
    let (code, message) = match serde_json::from_slice::<IgnoredAny>(body) {
        Err(error) => (-32700, format!("the body is not JSON: {error}")),
        Ok(_) => (-32600, "the body is not one JSON-RPC message".to_owned()),
    };
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    let media_type = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_REQUEST, media_type, error.to_string()).into_response()
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
        let own = vec!["http://127.0.0.1:8765".to_owned(), "http://localhost:8765".to_owned()];
        Door::new(
            &config,
            own,
            Arc::new(LocalSessionManager::default()),
            Shutdown::default(),
        )
    }

    #[test]
    fn nobody_comes_under_two_names() {
        let headers = |pairs: &[(HeaderName, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(name, HeaderValue::from_static(value));
            }
            headers
        };
        let own = (header::HOST, "127.0.0.1:8765");
        let ambiguous = |target: &'static str, pairs: &[_]| is_ambiguous(&Uri::from_static(target), &headers(pairs));
        assert!(!ambiguous("/mcp", std::slice::from_ref(&own)));
        assert!(!ambiguous("http://127.0.0.1:8765/mcp", std::slice::from_ref(&own)));
        assert!(ambiguous("http://evil.example/mcp", std::slice::from_ref(&own)));
        assert!(ambiguous("http://evil.example/mcp", &[]));
        let evil = (header::HOST, "evil.example");
        assert!(ambiguous("/mcp", &[own.clone(), evil]));
        let pages = [
            (header::ORIGIN, "http://127.0.0.1:8765"),
            (header::ORIGIN, "https://evil.example"),
        ];
        assert!(ambiguous("/mcp", &pages));
        let tokens = [(header::AUTHORIZATION, "Bearer a"), (header::AUTHORIZATION, "Bearer b")];
        assert!(ambiguous("/mcp", &tokens));
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
    fn only_own_and_listed_pages_may_call() {
        let door = door(&[]);
        for origin in ["http://localhost:8765", "http://127.0.0.1:8765", "https://app.example"] {
            assert!(door.allows_origin(&headers(header::ORIGIN, origin)), "{origin}");
        }
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost:3000",
            "http://localhost",
            "https://localhost:8765",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
        ] {
            assert!(!door.allows_origin(&headers(header::ORIGIN, origin)), "{origin}");
        }
        assert!(door.allows_origin(&HeaderMap::new()));
    }
}
