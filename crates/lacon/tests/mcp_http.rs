//! The real binary as an MCP server over streamable HTTP: the official client, and who is kept out.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rmcp::model::CallToolRequestParams;
use rmcp::service::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};

struct Server {
    process: Child,
    address: String,
    /// The token that was made, where one was.
    token: Option<String>,
    /// What the server said when it began.
    said: String,
    tree: tempfile::TempDir,
}

impl Server {
    fn start(token: &str, more: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
        command.args(["mcp", "--http", "127.0.0.1:0"]).args(more);
        Server::run(command, token)
    }

    /// Starts a server on a small tree, which is the last argument.
    fn run(mut command: Command, token: &str) -> Server {
        let tree = tempfile::tempdir().unwrap();
        std::fs::write(tree.path().join("a.py"), "def f():\n    pass\n\n\ndef g():\n    f()\n").unwrap();
        let mut process = command
            .arg(tree.path())
            .env("LACON_HTTP_TOKEN", token)
            .env_remove("LACON_OUTPUT_FORMAT")
            .env_remove("LACON_DIR")
            .env("NO_COLOR", "1")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut said = String::new();
        // The configuration for clients is said last, or before what is not offered.
        while !said.contains("client configuration: ") {
            said.push_str(&lines.next().unwrap().unwrap());
            said.push('\n');
        }
        let first = said.lines().next().unwrap();
        let address = first
            .split("http://")
            .nth(1)
            .unwrap()
            .trim_end_matches("/mcp")
            .to_string();
        let token = said.split("token: ").nth(1);
        let token = token.map(|rest| rest.split_whitespace().next().unwrap().to_string());
        std::thread::spawn(move || lines.for_each(drop));
        Server {
            process,
            address,
            token,
            said,
            tree,
        }
    }

    /// A client of the official SDK, with the token that was printed.
    async fn client(&self) -> rmcp::service::RunningService<rmcp::RoleClient, ()> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", self.address));
        if let Some(token) = &self.token {
            config = config.auth_header(token);
        }
        ().serve(StreamableHttpClientTransport::from_config(config))
            .await
            .unwrap()
    }

    /// What comes back for one message, and the session that it names.
    fn posted(&self, session: &str, message: &Value) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let (body, token) = (message.to_string(), self.token.clone().unwrap_or_default());
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nAuthorization: Bearer {token}\r\n{session}Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let session = text.lines().find(|line| line.starts_with("mcp-session-id: "));
        let session = session.map(|line| format!("{line}\r\n")).unwrap_or_default();
        (text, session)
    }

    /// The status of a bare request with these headers.
    fn status(&self, headers: &str) -> String {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}})
        .to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        String::from_utf8_lossy(&start[9..]).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn callers_over_http() {
    let server = Server::start("", &[]);
    let client = server.client().await;
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        let Value::Object(arguments) = json!({"id": "f", "format": "json"}) else {
            unreachable!()
        };
        let request = CallToolRequestParams::new("get_callers").with_arguments(arguments);
        let result = client.call_tool(request).await.unwrap();
        let text = result.content[0].as_text().unwrap().text.clone();
        if text.contains("a.py::g") {
            break;
        }
        assert!(Instant::now() < limit, "{text}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[test]
fn strangers_are_kept_out() {
    let open = Server::start("", &["--no-token", "--allow-origin", "https://app.example"]);
    assert_eq!(open.token, None);
    assert_eq!(open.status(""), "200");
    // A page of another program on this machine is a stranger, too.
    for origin in [
        "https://evil.example",
        "http://localhost:9999",
        "http://127.0.0.1:1",
        "null",
    ] {
        assert_eq!(open.status(&format!("Origin: {origin}\r\n")), "403", "{origin}");
    }
    for origin in [format!("http://{}", open.address), "https://app.example".to_string()] {
        assert_eq!(open.status(&format!("Origin: {origin}\r\n")), "200", "{origin}");
    }
    let guarded = Server::start("secret", &[]);
    assert_eq!(guarded.token, None, "{}", guarded.said);
    assert_eq!(guarded.status(""), "401");
    assert_eq!(guarded.status("Authorization: Bearer wrong\r\n"), "401");
    assert_eq!(guarded.status("Authorization: Bearer secret\r\n"), "200");

    let refused = Command::new(env!("CARGO_BIN_EXE_lacon"))
        .args(["mcp", "--http", "0.0.0.0:0"])
        .current_dir(open.tree.path())
        .env_remove("LACON_HTTP_TOKEN")
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("hint: give a loopback address, or set LACON_HTTP_TOKEN")
    );
}

#[test]
fn a_token_is_made_and_printed_with_what_a_client_needs() {
    let server = Server::start("", &[]);
    let token = server.token.clone().expect("it is printed");
    assert!(token.len() >= 22, "at least 128 bits: {token}");
    assert_eq!(server.status(""), "401");
    assert_eq!(server.status(&format!("Authorization: Bearer {token}\r\n")), "200");
    let line = server.said.split("client configuration: ").nth(1).unwrap();
    let configuration: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    let entry = &configuration["mcpServers"]["lacon"];
    assert_eq!(entry["url"], format!("http://{}/mcp", server.address));
    assert_eq!(entry["headers"]["Authorization"], format!("Bearer {token}"));
    assert_ne!(Server::start("", &[]).token, Some(token));
}

/// Whoever is asked whether a repository is trusted says so for everybody who uses the server: over HTTP nobody is asked.
#[test]
fn nobody_is_asked_for_trust_over_http() {
    let state = tempfile::tempdir().unwrap();
    let servers = state.path().join("servers.toml");
    // One that has no mode without trust.
    let table = "[[server]]\nname = \"own\"\nlanguages = { python = \"python\" }\ncommands = [[\"/bin/cat\"]]\n";
    std::fs::write(&servers, table).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
    command
        .args(["mcp", "--http", "127.0.0.1:0"])
        .env("LACON_STATE_DIR", state.path())
        .env("LACON_LSP_CONFIG", &servers)
        // Without the servers that tests install, which have such a mode.
        .env("PATH", "/usr/bin:/bin")
        .env_remove("LACON_TRUST");
    let server = Server::run(command, "");
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "t", "version": "1"}});
    let (_, session) = server.posted(
        "",
        &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
    );
    assert!(!session.is_empty());
    server.posted(
        &session,
        &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    );
    let limit = Instant::now() + Duration::from_secs(60);
    let ask = json!({"name": "find_references", "arguments": {"symbol": "f", "wait": "lsp", "format": "json"}});
    let said = loop {
        let (said, _) = server.posted(
            &session,
            &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": ask}),
        );
        if !said.contains("index_building") {
            break said;
        }
        assert!(Instant::now() < limit, "{said}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(!said.contains("elicitation"), "{said}");
    assert!(said.contains("untrusted: own was not asked"), "{said}");
    assert!(!state.path().join("trust.toml").exists());
}

#[test]
fn a_name_that_leads_here_from_outside_is_refused() {
    let server = Server::start("", &[]);
    let token = server.token.clone().unwrap();
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: \
         application/json, text/event-stream\r\nAuthorization: Bearer {token}\r\nContent-Length: 2\r\n\r\n{{}}"
    )
    .unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    assert_eq!(&start[9..], b"403");
}

/// What a call of `apply_edit` on the tree's file comes to.
async fn edited(server: &Server) -> Result<String, String> {
    let client = server.client().await;
    let Value::Object(arguments) = json!({"path": "a.py", "old_text": "pass", "new_text": "return 1"}) else {
        unreachable!()
    };
    let request = CallToolRequestParams::new("apply_edit").with_arguments(arguments);
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        let result = client
            .call_tool(request.clone())
            .await
            .map_err(|error| error.to_string())?;
        let text = result.content[0].as_text().unwrap().text.clone();
        if !text.contains("index_building") {
            return Ok(text);
        }
        assert!(Instant::now() < limit, "{text}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn nothing_writes_over_http_unless_asked_for() {
    for flags in [
        &["--toolset", "all"][..],
        &["--no-token", "--toolset", "edit"],
        &["--allow-writes"],
        &["--allow-writes", "--toolset", "all", "--read-only"],
        &["--allow-writes", "--toolset", "all", "--deny-tool", "apply_edit"],
    ] {
        let server = Server::start("", flags);
        let listed = server.client().await.list_all_tools().await.unwrap();
        assert!(!listed.iter().any(|tool| tool.name == "apply_edit"), "{flags:?}");
        let refused = edited(&server).await.unwrap_err();
        assert!(refused.contains("no tool `apply_edit`"), "{flags:?}: {refused}");
        let text = std::fs::read_to_string(server.tree.path().join("a.py")).unwrap();
        assert!(text.contains("pass"), "{flags:?}");
    }
    let server = Server::start("", &["--allow-writes", "--toolset", "core,edit"]);
    edited(&server).await.unwrap();
    let text = std::fs::read_to_string(server.tree.path().join("a.py")).unwrap();
    assert!(text.contains("return 1"), "{text}");
}

/// Connections that say nothing, half of them in the middle of a request, do not keep a new client from its answer: with files for
/// all of them, and with so few that most must go.
#[test]
#[cfg(unix)]
fn a_crowd_of_silent_connections_keeps_nobody_out() {
    for files in [4096, 256] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")]);
        command.args([env!("CARGO_BIN_EXE_lacon"), "mcp", "--http", "127.0.0.1:0"]);
        let server = Server::run(command, "");
        let header = format!("Authorization: Bearer {}\r\n", server.token.clone().unwrap());
        assert_eq!(server.status(&header), "200");
        let mut crowd = Vec::new();
        let mut slowest = Duration::ZERO;
        for number in 0..1000 {
            let mut stream = TcpStream::connect(&server.address).unwrap();
            if number % 2 == 0 {
                // One that was closed to make room cannot be written to, which is what is wanted.
                drop(write!(stream, "POST /mcp HTTP/1.1\r\nHost: {}\r\nX-", server.address));
            }
            crowd.push(stream);
            if number % 100 == 99 {
                let began = Instant::now();
                assert_eq!(server.status(&header), "200", "after {} connections", number + 1);
                slowest = slowest.max(began.elapsed());
            }
        }
        assert!(slowest < Duration::from_secs(1), "{slowest:?} with {files} files");
        eprintln!("{files} files, 1000 silent connections: slowest new client {slowest:?}");
    }
}
