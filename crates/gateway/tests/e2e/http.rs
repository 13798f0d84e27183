//! Streamable HTTP: who may come in, whose is what, and the official Python client in both eras. Upstream HTTP too.

use std::collections::BTreeMap;
use std::sync::Arc;

use gateway::config::{GatewayConfig, HttpConfig, OAuthConfig, OAuthGrant, UpstreamConfig};
use gateway::runtime::{Gateway, Options};
use gateway::shutdown::Shutdown;
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, ORIGIN};
use serde_json::{Value, json};

use crate::harness::*;

struct Served {
    gateway: Arc<Gateway>,
    url: String,
    stop: Shutdown,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.request();
    }
}

async fn serve(mut config: GatewayConfig) -> Served {
    log();
    config.http.listen = "127.0.0.1:0".into();
    let listener = gateway::http::listen(&config.http).await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let gateway = Gateway::start(config, Options::default());
    gateway.settled().await;
    let stop = Shutdown::default();
    tokio::spawn(gateway::http::serve(gateway.clone(), listener, stop.clone()));
    Served { gateway, url, stop }
}

fn tokens(names: &[&str]) -> BTreeMap<String, String> {
    names
        .iter()
        .map(|name| ((*name).to_owned(), format!("token-of-{name}")))
        .collect()
}

fn post(url: &str, body: &Value) -> reqwest::RequestBuilder {
    reqwest::Client::new()
        .post(url)
        .header(ACCEPT, "application/json, text/event-stream")
        .header(CONTENT_TYPE, "application/json")
        .body(body.to_string())
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"},
    }})
}

/// A call in the stateless era.
async fn stateless(url: &str, token: &str, name: &str, arguments: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    });
    let params = json!({"name": name, "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let response = post(url, &body)
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", name)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let text = response.text().await.unwrap();
    let data = text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .find(|data| data.contains("\"result\""));
    serde_json::from_str(data.unwrap_or(&text).trim()).unwrap_or_else(|_| panic!("{text}"))
}

async fn python_client(arguments: &[&str]) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/python_client.py");
    let mut command = tokio::process::Command::new(tool("python/bin/python"));
    command.arg(script).args(arguments).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE * 2, command.output())
        .await
        .expect("it ends in time")
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

#[tokio::test]
async fn the_python_client_works_in_both_eras() {
    let served = serve(one(scripted(&[]))).await;
    for mode in ["legacy", "2026-07-28", "auto"] {
        let seen = python_client(&[mode, &served.url]).await;
        assert_eq!(seen["tools"][0], "tool_browse", "{mode}: {seen}");
        assert_eq!(seen["echo"], "héllo", "{mode}");
        assert_eq!(seen["ask"], "accept: Ada", "{mode}");
        assert_eq!(seen["progress"], json!([1.0, 2.0, 3.0]), "{mode}");
    }
}

#[tokio::test]
async fn a_token_is_needed_and_pages_from_elsewhere_are_refused() {
    let mut config = one(scripted(&[]));
    config.http.tokens = tokens(&["ada"]);
    let served = serve(config).await;
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status();
    assert_eq!(status(post(&served.url, &initialize())).await, StatusCode::UNAUTHORIZED);
    let wrong = post(&served.url, &initialize()).header(AUTHORIZATION, "Bearer token-of-eve");
    assert_eq!(status(wrong).await, StatusCode::UNAUTHORIZED);
    let authorized = || post(&served.url, &initialize()).header(AUTHORIZATION, "Bearer token-of-ada");
    assert_eq!(status(authorized()).await, StatusCode::OK);
    assert_eq!(
        status(authorized().header(ORIGIN, "https://evil.example")).await,
        StatusCode::FORBIDDEN
    );
    // Another port of this machine is another program's.
    let elsewhere = authorized().header(ORIGIN, "http://localhost:3000");
    assert_eq!(status(elsewhere).await, StatusCode::FORBIDDEN);
    let own = served.url.trim_end_matches("/mcp").to_owned();
    assert_eq!(status(authorized().header(ORIGIN, own)).await, StatusCode::OK);
    let slash = post(&format!("{}/", served.url), &initialize()).header(AUTHORIZATION, "Bearer token-of-ada");
    assert_eq!(status(slash).await, StatusCode::OK, "no redirect for a trailing slash");
    let seen = python_client(&["legacy", &served.url, "token-of-ada"]).await;
    assert_eq!(seen["echo"], "héllo");
}

#[tokio::test]
async fn bodies_and_sessions_are_limited() {
    let mut config = one(scripted(&[]));
    config.http = HttpConfig {
        max_body_bytes: 10_000,
        max_sessions: 2,
        ..HttpConfig::default()
    };
    let served = serve(config).await;
    let huge = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y".repeat(20_000)}});
    assert_eq!(
        post(&served.url, &huge).send().await.unwrap().status(),
        StatusCode::PAYLOAD_TOO_LARGE
    );
    for expected in [StatusCode::OK, StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE] {
        assert_eq!(
            post(&served.url, &initialize()).send().await.unwrap().status(),
            expected
        );
    }
}

#[tokio::test]
async fn one_session_cannot_use_anothers() {
    let mut config = one(scripted(&[]));
    config.http.tokens = tokens(&["ada", "eve"]);
    let served = serve(config).await;
    let opened = post(&served.url, &initialize())
        .header(AUTHORIZATION, "Bearer token-of-ada")
        .send()
        .await
        .unwrap();
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    let as_eve = post(&served.url, &ping)
        .header(AUTHORIZATION, "Bearer token-of-eve")
        .header("mcp-session-id", &session);
    assert_eq!(as_eve.send().await.unwrap().status(), StatusCode::NOT_FOUND);

    let found = stateless(
        &served.url,
        "token-of-ada",
        "tool_browse",
        json!({"query": "rows", "format": "json"}),
    )
    .await;
    let cards: Vec<Value> = serde_json::from_str(found["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    let id = cards.iter().find(|card| card["name"] == "rows").unwrap()["id"].clone();
    let rows = json!({"tool_id": id, "args": {"count": 2000}});
    let result = stateless(&served.url, "token-of-ada", "tool_execute", rows).await;
    let handle = result["result"]["_meta"]["lacon/provenance"]["artifacts"][0]["handle"].clone();
    let look = json!({"handle": handle, "selector": {"path": "$[7].name"}});
    let mine = stateless(&served.url, "token-of-ada", "tool_view", look.clone()).await;
    assert_eq!(
        mine["result"]["content"][0]["text"], "row 7",
        "the principal finds its own again"
    );
    let theirs = stateless(&served.url, "token-of-eve", "tool_view", look).await;
    assert_eq!(theirs["result"]["isError"], true, "{theirs}");
}

/// What is under way when the server is told to end is answered: with its result where that comes soon, else with an error.
#[tokio::test]
async fn calls_under_way_are_answered_when_the_server_ends() {
    for (seconds, expected) in [(0.3, "\"result\""), (30.0, "shutting down")] {
        let mut inner = one(scripted(&[]));
        inner.mode = gateway::config::Mode::Passthrough;
        let served = serve(inner).await;
        let opened = post(&served.url, &initialize()).send().await.unwrap();
        let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": "slow", "arguments": {"seconds": seconds}}});
        let request = post(&served.url, &call).header("mcp-session-id", &session);
        let answer = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        let began = std::time::Instant::now();
        served.stop.request();
        let answer = answer.await.unwrap();
        assert!(
            answer.contains(expected) && answer.contains("\"id\":7"),
            "{seconds}: {answer}"
        );
        assert!(began.elapsed().as_secs_f64() < 2.0, "{:?}", began.elapsed());
    }
}

#[tokio::test]
async fn what_is_no_message_is_a_bad_request() {
    let served = serve(one(scripted(&[]))).await;
    let send = async |body: &'static str, media_type: &'static str| {
        let request = reqwest::Client::new()
            .post(&served.url)
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, media_type)
            .body(body);
        let response = request.send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    };
    let json = "application/json";
    let (status, text) = send("{\"jsonrpc\": ", json).await;
    assert!(
        status == StatusCode::BAD_REQUEST && text.contains("-32700"),
        "{status} {text}"
    );
    let (status, text) = send("[]", json).await;
    assert!(
        status == StatusCode::BAD_REQUEST && text.contains("-32600"),
        "{status} {text}"
    );
    let (status, _) = send("{}", "text/plain").await;
    assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

/// A body that never comes, a request that never begins, and a client that comes after them.
#[tokio::test]
async fn whoever_says_nothing_is_let_go() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut config = one(scripted(&[]));
    config.http = HttpConfig {
        silence_seconds: 0.5,
        max_connections: 20,
        ..HttpConfig::default()
    };
    let served = serve(config).await;
    let address = served.url["http://".len()..].trim_end_matches("/mcp").to_owned();
    let mut silent = Vec::new();
    for part in [
        "",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Content-Length: 10\r\n\r\n{",
    ] {
        let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
        stream.write_all(part.as_bytes()).await.unwrap();
        silent.push((part, stream));
    }
    for (part, mut stream) in silent {
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(std::time::Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "{part:?} is still there");
        let expected = if part.ends_with('{') { "HTTP/1.1 408" } else { "" };
        assert!(String::from_utf8_lossy(&rest).starts_with(expected), "{part:?}");
    }
    // More than may be: the newest is answered all the same.
    let mut crowd = Vec::new();
    for _ in 0..50 {
        crowd.push(tokio::net::TcpStream::connect(&address).await.unwrap());
    }
    let began = std::time::Instant::now();
    let response = post(&served.url, &initialize()).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert!(began.elapsed().as_secs_f64() < 1.0, "{:?}", began.elapsed());
}

/// A gateway behind a gateway: the upstream is streamable HTTP, in whichever era it is asked for.
#[tokio::test]
async fn http_upstreams_work_in_both_eras() {
    use gateway::config::ProtocolChoice;
    let mut inner = one(scripted(&[]));
    inner.mode = gateway::config::Mode::Passthrough;
    inner.http.tokens = tokens(&["outer"]);
    let inner = serve(inner).await;
    for (protocol, spoken) in [
        (ProtocolChoice::Auto, "2026-07-28"),
        (ProtocolChoice::Session, "2025-11-25"),
        (ProtocolChoice::Stateless, "2026-07-28"),
    ] {
        let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer token-of-outer".to_owned())]);
        let upstream = UpstreamConfig {
            url: Some(inner.url.clone()),
            headers,
            protocol,
            ..UpstreamConfig::default()
        };
        let setup = Setup::new(config(vec![("inner", upstream)])).await;
        assert_eq!(setup.gateway.status()[0].health.protocol.as_deref(), Some(spoken));
        assert_eq!(
            text(&setup.run("echo", json!({"text": "through two"})).await),
            "through two"
        );
        assert_eq!(text(&setup.run("ask", json!({})).await), "accept: Ada", "{protocol:?}");
        assert_eq!(text(&setup.run("progress", json!({})).await), "done");
        eventually("progress comes through", async || {
            setup.ears.progress.lock().unwrap().len() == 3
        })
        .await;
        setup.run("change", json!({})).await;
        eventually("so do changes", async || {
            text(&call(&setup.client, "tool_browse", json!({"query": "added later"})).await).contains("added_later")
        })
        .await;
        // The scripted server keeps its changes: start over with a new one.
        let mut fresh = (*inner.gateway.config()).clone();
        let scripted = fresh.upstreams.get_mut("scripted").unwrap();
        scripted.env.insert("AGAIN".into(), format!("{protocol:?}"));
        inner.gateway.apply(fresh).await;
        inner.gateway.settled().await;
    }
    let wrong = BTreeMap::from([("Authorization".to_owned(), "Bearer wrong".to_owned())]);
    let upstream = UpstreamConfig {
        url: Some(inner.url.clone()),
        headers: wrong,
        ..UpstreamConfig::default()
    };
    let refused = Gateway::start(config(vec![("inner", upstream)]), Options::default());
    refused.settled().await;
    assert!(
        matches!(refused.status()[0].health.status, gateway::Status::Down { .. }),
        "{:?}",
        refused.status()
    );
}

/// A token endpoint in front of a protected gateway: tokens are fetched, sent, and renewed when rejected.
#[tokio::test]
async fn client_credentials_are_exchanged_and_renewed() {
    use axum::extract::State;
    use axum::routing::post as on_post;
    use std::sync::atomic::{AtomicUsize, Ordering};

    let mut inner = one(scripted(&[]));
    inner.mode = gateway::config::Mode::Passthrough;
    inner.http.tokens = BTreeMap::from([("lacon".to_owned(), "access-2".to_owned())]);
    let inner = serve(inner).await;

    let issued = Arc::new(AtomicUsize::new(0));
    let token = async |State(issued): State<Arc<AtomicUsize>>, body: String| {
        assert!(
            body.contains("grant_type=client_credentials") && body.contains("client_id=me"),
            "{body}"
        );
        // The first token is one the server does not know, as if it had been revoked.
        let number = issued.fetch_add(1, Ordering::SeqCst) + 1;
        axum::Json(json!({"access_token": format!("access-{number}"), "token_type": "Bearer", "expires_in": 3600}))
    };
    let router = axum::Router::new()
        .route("/token", on_post(token))
        .with_state(issued.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let token_url = format!("http://{}/token", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });

    let oauth = OAuthConfig {
        grant: OAuthGrant::ClientCredentials,
        client_id: Some("me".into()),
        client_secret: Some("secret".into()),
        token_url: Some(token_url),
        ..OAuthConfig::default()
    };
    let upstream = UpstreamConfig {
        url: Some(inner.url.clone()),
        oauth: Some(oauth),
        ..UpstreamConfig::default()
    };
    let state = tempfile::tempdir().unwrap();
    let options = Options {
        state_directory: Some(state.path().to_owned()),
        ..Options::default()
    };
    let setup = Setup::with(config(vec![("inner", upstream)]), options, Era::Session).await;
    assert_eq!(
        text(&setup.run("echo", json!({"text": "with a token"})).await),
        "with a token"
    );
    assert_eq!(issued.load(Ordering::SeqCst), 2, "one rejected, one renewed, then kept");
}

#[tokio::test]
async fn a_person_signs_in_with_pkce_and_the_token_is_refreshed() {
    use axum::extract::{Query, State};
    use axum::routing::{get, post as on_post};
    use std::sync::Mutex;

    type Log = Arc<Mutex<Vec<String>>>;
    let log: Log = Arc::default();
    let token = async |State(log): State<Log>, body: String| {
        let refreshed = body.contains("grant_type=refresh_token");
        log.lock().unwrap().push(body);
        let access = if refreshed {
            "access-after-refresh"
        } else {
            "access-first"
        };
        axum::Json(json!({
            "access_token": access, "token_type": "Bearer", "refresh_token": "refresh-1", "expires_in": 3600,
        }))
    };
    let authorize = async |Query(query): Query<BTreeMap<String, String>>| {
        assert_eq!(query["code_challenge_method"], "S256");
        let target = format!("{}?code=the-code&state={}", query["redirect_uri"], query["state"]);
        axum::response::Redirect::to(&target)
    };
    let router = axum::Router::new()
        .route("/token", on_post(token))
        .route("/authorize", get(authorize))
        .with_state(log.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });

    let mut inner = one(scripted(&[]));
    inner.http.tokens = BTreeMap::from([("lacon".to_owned(), "access-after-refresh".to_owned())]);
    inner.mode = gateway::config::Mode::Passthrough;
    let inner = serve(inner).await;
    let oauth = OAuthConfig {
        client_id: Some("me".into()),
        authorization_url: Some(format!("{address}/authorize")),
        token_url: Some(format!("{address}/token")),
        ..OAuthConfig::default()
    };
    let upstream = UpstreamConfig {
        url: Some(inner.url.clone()),
        oauth: Some(oauth),
        ..UpstreamConfig::default()
    };
    let state = tempfile::tempdir().unwrap();
    let options = Options {
        state_directory: Some(state.path().to_owned()),
        ..Options::default()
    };
    let configuration = config(vec![("inner", upstream)]);
    let before = Gateway::start(configuration.clone(), options.clone());
    before.settled().await;
    assert!(
        matches!(before.status()[0].health.status, gateway::Status::Down { .. }),
        "nobody has signed in"
    );

    let authorizer = before.authorizer("inner").unwrap();
    let browser = |url: &str| {
        let url = url.to_owned();
        tokio::spawn(async move { reqwest::get(url).await });
    };
    tokio::time::timeout(PATIENCE, authorizer.sign_in(browser))
        .await
        .unwrap()
        .unwrap();
    let exchange = log.lock().unwrap()[0].clone();
    assert!(
        exchange.contains("code_verifier=") && exchange.contains("code=the-code"),
        "{exchange}"
    );

    let setup = Setup::with(configuration, options, Era::Session).await;
    assert_eq!(
        text(&setup.run("echo", json!({"text": "signed in"})).await),
        "signed in"
    );
    assert!(
        log.lock()
            .unwrap()
            .iter()
            .any(|body| body.contains("refresh_token=refresh-1")),
        "the rejected token was refreshed"
    );
    let file = std::fs::read_dir(state.path().join("tokens"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

/// Nothing is configured but the address: the protected resource names its authorization server, which describes its
/// endpoints and registers Lacon as a client it has never heard of.
#[tokio::test]
async fn endpoints_are_discovered_and_the_client_registers_itself() {
    use axum::body::{Body, to_bytes};
    use axum::extract::{Query, Request, State};
    use axum::routing::{any, get, post as on_post};
    use std::sync::Mutex;

    #[derive(Clone)]
    struct World {
        address: String,
        inner: String,
        log: Arc<Mutex<Vec<String>>>,
    }

    let mut inner = one(scripted(&[]));
    inner.http.tokens = BTreeMap::from([("lacon".to_owned(), "access-1".to_owned())]);
    inner.mode = gateway::config::Mode::Passthrough;
    let inner = serve(inner).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let world = World {
        address: address.clone(),
        inner: inner.url.clone(),
        log: Arc::default(),
    };

    let resource = async |State(world): State<World>| {
        axum::Json(json!({
            "resource": format!("{}/mcp", world.address), "authorization_servers": [format!("{}/issuer", world.address)],
        }))
    };
    let server = async |State(world): State<World>| {
        let at = |path: &str| format!("{}/issuer{path}", world.address);
        axum::Json(json!({
            "issuer": at(""), "authorization_endpoint": at("/authorize"), "token_endpoint": at("/token"),
            "registration_endpoint": at("/register"), "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
        }))
    };
    let register = async |State(world): State<World>, body: String| {
        let asked: Value = serde_json::from_str(&body).unwrap();
        world
            .log
            .lock()
            .unwrap()
            .push(format!("register {}", asked["client_name"]));
        let mut answer = asked;
        answer["client_id"] = "client-77".into();
        (axum::http::StatusCode::CREATED, axum::Json(answer))
    };
    let authorize = async |Query(query): Query<BTreeMap<String, String>>| {
        assert_eq!(
            (query["client_id"].as_str(), query["code_challenge_method"].as_str()),
            ("client-77", "S256")
        );
        let target = format!("{}?code=the-code&state={}", query["redirect_uri"], query["state"]);
        axum::response::Redirect::to(&target)
    };
    let token = async |State(world): State<World>, body: String| {
        world.log.lock().unwrap().push(body);
        axum::Json(json!({"access_token": "access-1", "token_type": "Bearer", "expires_in": 3600}))
    };
    let protected = async |State(world): State<World>, request: Request| {
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, 1 << 20).await.unwrap();
        let mut headers = parts.headers;
        headers.remove("host");
        let forwarded = reqwest::Client::new()
            .request(parts.method, &world.inner)
            .headers(headers)
            .body(body);
        let answer = forwarded.send().await.unwrap();
        let mut reply = axum::http::Response::builder().status(answer.status());
        for (name, value) in answer
            .headers()
            .iter()
            .filter(|(name, _)| name.as_str() != "www-authenticate")
        {
            reply = reply.header(name, value);
        }
        if answer.status() == 401 {
            let where_to = format!("{}/.well-known/oauth-protected-resource/mcp", world.address);
            reply = reply.header("www-authenticate", format!("Bearer resource_metadata=\"{where_to}\""));
        }
        reply.body(Body::from_stream(answer.bytes_stream())).unwrap()
    };
    let router = axum::Router::new()
        .route("/mcp", any(protected))
        .route("/.well-known/oauth-protected-resource/mcp", get(resource))
        .route("/.well-known/oauth-authorization-server/issuer", get(server))
        .route("/issuer/register", on_post(register))
        .route("/issuer/authorize", get(authorize))
        .route("/issuer/token", on_post(token))
        .with_state(world.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });

    let upstream = UpstreamConfig {
        url: Some(format!("{address}/mcp")),
        oauth: Some(OAuthConfig::default()),
        ..UpstreamConfig::default()
    };
    let state = tempfile::tempdir().unwrap();
    let options = Options {
        state_directory: Some(state.path().to_owned()),
        ..Options::default()
    };
    let configuration = config(vec![("inner", upstream)]);
    let before = Gateway::start(configuration.clone(), options.clone());
    before.settled().await;
    let authorizer = before.authorizer("inner").unwrap();
    let browser = |url: &str| {
        let url = url.to_owned();
        tokio::spawn(async move { reqwest::get(url).await });
    };
    tokio::time::timeout(PATIENCE, authorizer.sign_in(browser))
        .await
        .unwrap()
        .unwrap();
    let log = world.log.lock().unwrap().clone();
    assert_eq!(log[0], "register \"Lacon\"");
    assert!(
        log[1].contains("client_id=client-77") && log[1].contains("code_verifier="),
        "{log:?}"
    );
    // A later run knows the client and the token from the file.
    let setup = Setup::with(configuration, options, Era::Session).await;
    assert_eq!(
        text(&setup.run("echo", json!({"text": "discovered"})).await),
        "discovered"
    );
    assert_eq!(
        world.log.lock().unwrap().len(),
        2,
        "neither registered nor signed in again"
    );
}
