//! The real binary as a gateway: the official Python client on standard input and output, in both protocol eras, and what is
//! left behind when the binary is killed.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail, in its helpers too"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

fn gateway_tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../gateway/tests/servers")
        .canonicalize()
        .expect("the gateway's test servers")
}

/// A configuration with the scripted server as its only upstream.
fn configuration(directory: &Path, arguments: &str) -> PathBuf {
    let path = directory.join("gateway.toml");
    let script = gateway_tests().join("scripted.py");
    let text = format!(
        "[upstreams.scripted]\ncommand = \"python3\"\nargs = [{:?}{arguments}]\n",
        script.display().to_string()
    );
    std::fs::write(&path, text).unwrap();
    path
}

fn lacon(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
    command
        .env("XDG_STATE_HOME", directory)
        .env_remove("LACON_OUTPUT_FORMAT");
    command
}

#[test]
fn the_python_client_works_over_stdio_in_both_eras() {
    let directory = tempfile::tempdir().unwrap();
    let config = configuration(directory.path(), "");
    let python = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../.tools")
        .canonicalize()
        .unwrap_or_default()
        .join("python/bin/python");
    assert!(
        python.exists(),
        "{} is missing: run `cargo xtask test`, which installs it",
        python.display()
    );
    for mode in ["legacy", "2026-07-28"] {
        let output = Command::new(&python)
            .arg(gateway_tests().join("python_client.py"))
            .args([mode, "stdio", env!("CARGO_BIN_EXE_lacon"), "gateway", "--config"])
            .arg(&config)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let seen: Value = serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{mode}: {text}{}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!(seen["echo"], "héllo", "{mode}");
        assert_eq!(seen["ask"], "accept: Ada", "{mode}");
        assert_eq!(seen["progress"], json!([1.0, 2.0, 3.0]), "{mode}");
    }
}

#[test]
fn check_says_what_an_agent_will_see_and_what_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let config = configuration(directory.path(), "");
    let output = lacon(directory.path())
        .args(["gateway", "check", "--json", "--config"])
        .arg(&config)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["upstreams"][0]["ready"], true, "{report}");
    assert_eq!(report["preview"]["listed"], 7, "{report}");
    assert!(report["preview"]["listed_tokens"].as_u64() < report["preview"]["direct_tokens"].as_u64());

    std::fs::write(&config, "[upstreams.x]\ncomand = \"y\"\n").unwrap();
    let output = lacon(directory.path())
        .args(["gateway", "check", "--config"])
        .arg(&config)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `command`?"));

    std::fs::write(&config, "[upstreams.x]\ncommand = \"no-such-program-anywhere\"\n").unwrap();
    let output = lacon(directory.path())
        .args(["gateway", "check", "--config"])
        .arg(&config)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("down: cannot start"));
}

/// Killed outright, the binary cannot clean up: its guardian does.
#[test]
fn upstreams_end_even_when_the_gateway_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let config = configuration(directory.path(), ", \"--ignore-eof\"");
    let mut gateway = lacon(directory.path())
        .args(["gateway", "--mode", "passthrough", "--config"])
        .arg(&config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(gateway.stdout.take().unwrap()).lines();
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}});
    send(
        &mut gateway,
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
    );
    lines.next().unwrap().unwrap();
    send(
        &mut gateway,
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    );
    let mut pids = Vec::new();
    for (id, name) in [(2, "pid"), (3, "spawn")] {
        send(
            &mut gateway,
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": {}}}),
        );
        let answer = lines
            .by_ref()
            .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
            .find(|message| message["id"] == id);
        pids.push(
            answer.unwrap()["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
    }
    assert!(pids.iter().all(|pid| alive(pid)));
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    let limit = Instant::now() + Duration::from_secs(10);
    while pids.iter().any(|pid| alive(pid)) {
        assert!(Instant::now() < limit, "still running: {pids:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn send(gateway: &mut Child, message: Value) {
    writeln!(gateway.stdin.as_mut().unwrap(), "{message}").unwrap();
}

/// Whether a process exists and is not just waiting to be reaped.
fn alive(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    !stat
        .rsplit_once(')')
        .is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// Lacon's own questions, browsed and asked like any other upstream's.
#[test]
fn code_tools_are_mounted_as_one_more_upstream() {
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(
        tree.join("shop.py"),
        "def price():\n    return 1\n\n\ndef total():\n    return price()\n",
    )
    .unwrap();
    let config = directory.path().join("gateway.toml");
    std::fs::write(&config, "mount_code_tools = true\n").unwrap();
    let indexed = lacon(directory.path())
        .arg("index")
        .current_dir(&tree)
        .output()
        .unwrap();
    assert!(indexed.status.success(), "{}", String::from_utf8_lossy(&indexed.stderr));
    let mut child = lacon(directory.path())
        .args(["gateway", "serve", "--config"])
        .arg(&config)
        .current_dir(&tree)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |id: u32, method: &str, params: Value| -> Value {
        writeln!(
            input,
            "{}",
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        )
        .unwrap();
        loop {
            let message: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message["result"].clone();
            }
        }
    };
    let client = json!({"name": "test", "version": "1"});
    ask(
        1,
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
    );
    let began = Instant::now();
    let id = loop {
        let found = ask(
            2,
            "tools/call",
            json!({"name": "tool_browse", "arguments": {"query": "who calls a symbol"}}),
        );
        let text = found["content"][0]["text"].as_str().unwrap().to_owned();
        if let Some(id) = text
            .split_whitespace()
            .find(|word| word.starts_with("lacon:get_callers"))
        {
            break id.to_owned();
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{text}");
        std::thread::sleep(Duration::from_millis(100));
    };
    // The listed name, the seed's, and what models make of it.
    for args in [
        json!({"symbol": "price"}),
        json!({"id": "price"}),
        json!({"name": ["price"]}),
    ] {
        let arguments = json!({"tool_id": id, "args": args});
        let answer = ask(3, "tools/call", json!({"name": "tool_execute", "arguments": arguments}));
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("total"), "{text}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A gateway over HTTP; dropped, it ends.
struct Served {
    process: Child,
    said: String,
}

impl Served {
    fn start(directory: &Path, config: &Path, flags: &[&str]) -> Served {
        let mut process = lacon(directory)
            .args(["gateway", "--http=127.0.0.1:0", "--mode", "passthrough"])
            .args(flags)
            .arg("--config")
            .arg(config)
            .current_dir(directory)
            .env_remove("LACON_HTTP_TOKEN")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut said = String::new();
        while !said.contains("client configuration: ") {
            said.push_str(&lines.next().unwrap().unwrap());
            said.push('\n');
        }
        std::thread::spawn(move || lines.for_each(drop));
        Served { process, said }
    }

    /// What a client makes of the configuration that was printed.
    fn entry(&self) -> Value {
        let line = self.said.split("client configuration: ").nth(1).unwrap();
        let configuration: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
        configuration["mcpServers"]["gateway"].clone()
    }

    async fn client(&self) -> Result<rmcp::service::RunningService<rmcp::RoleClient, ()>, String> {
        use rmcp::service::ServiceExt;
        use rmcp::transport::StreamableHttpClientTransport;
        use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
        let entry = self.entry();
        let mut config = StreamableHttpClientTransportConfig::with_uri(entry["url"].as_str().unwrap());
        if let Some(header) = entry["headers"]["Authorization"].as_str() {
            config = config.auth_header(header.trim_start_matches("Bearer "));
        }
        let client = ().serve(StreamableHttpClientTransport::from_config(config)).await;
        client.map_err(|error| error.to_string())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn names(client: &rmcp::service::RunningService<rmcp::RoleClient, ()>) -> Vec<String> {
    let tools = client.list_all_tools().await.unwrap();
    tools.into_iter().map(|tool| tool.name.into_owned()).collect()
}

#[tokio::test]
async fn over_http_a_token_is_asked_for_and_without_one_only_readers_are_shown() {
    let directory = tempfile::tempdir().unwrap();
    let config = configuration(directory.path(), "");
    let guarded = Served::start(directory.path(), &config, &[]);
    let header = guarded.entry()["headers"]["Authorization"].as_str().unwrap().to_owned();
    assert!(header.len() >= "Bearer ".len() + 22, "{header}");
    assert!(
        names(&guarded.client().await.unwrap())
            .await
            .contains(&"echo".to_owned())
    );
    let mut stranger =
        std::net::TcpStream::connect(guarded.entry()["url"].as_str().unwrap()[7..].trim_end_matches("/mcp")).unwrap();
    write!(
        stranger,
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    BufReader::new(stranger).read_line(&mut answer).unwrap();
    assert!(answer.contains("401"), "{answer}");

    let open = Served::start(directory.path(), &config, &["--no-token"]);
    assert!(open.entry().get("headers").is_none());
    let client = open.client().await.unwrap();
    let shown = names(&client).await;
    assert!(
        shown.contains(&"add".to_owned()) && !shown.contains(&"echo".to_owned()),
        "{shown:?}"
    );
    let hidden = client.call_tool(rmcp::model::CallToolRequestParams::new("pid")).await;
    let refused = hidden.map_or(true, |result| result.is_error == Some(true));
    assert!(refused, "what does not say that it only reads is unknown");
}

#[tokio::test]
async fn mounted_code_tools_write_only_where_they_may() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.py"), "def f():\n    pass\n").unwrap();
    let config = directory.path().join("gateway.toml");
    std::fs::write(&config, "mount_code_tools = true\n").unwrap();
    for (flags, writes) in [
        (&[][..], false),
        (&["--allow-writes"], true),
        (&["--allow-writes", "--read-only"], false),
        (&["--allow-writes", "--deny-tool", "apply_edit"], false),
    ] {
        let served = Served::start(directory.path(), &config, flags);
        let shown = names(&served.client().await.unwrap()).await;
        assert!(shown.iter().any(|name| name == "get_callers"), "{flags:?}: {shown:?}");
        assert_eq!(shown.iter().any(|name| name == "apply_edit"), writes, "{flags:?}");
    }
}
