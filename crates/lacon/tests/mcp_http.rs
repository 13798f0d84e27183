//! The real binary as an MCP server over streamable HTTP: the official client, and who is kept out.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rmcp::model::CallToolRequestParams;
use rmcp::service::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};

struct Server {
    process: Child,
    address: String,
    tree: tempfile::TempDir,
}

impl Server {
    fn start(token: &str) -> Server {
        let tree = tempfile::tempdir().unwrap();
        std::fs::write(tree.path().join("a.py"), "def f():\n    pass\n\n\ndef g():\n    f()\n").unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_lacon"))
            .args(["mcp", "--http", "127.0.0.1:0"])
            .arg(tree.path())
            .env("LACON_HTTP_TOKEN", token)
            .env_remove("LACON_OUTPUT_FORMAT")
            .env_remove("LACON_DIR")
            .env("NO_COLOR", "1")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let address = line
            .split("http://")
            .nth(1)
            .unwrap()
            .trim_end_matches("/mcp")
            .to_string();
        std::thread::spawn(move || lines.for_each(drop));
        Server { process, address, tree }
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
    let server = Server::start("");
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{}/mcp", server.address));
    let client = ().serve(transport).await.unwrap();
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
    let open = Server::start("");
    assert_eq!(open.status(""), "200");
    assert_eq!(open.status("Origin: https://evil.example\r\n"), "403");
    let guarded = Server::start("secret");
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
