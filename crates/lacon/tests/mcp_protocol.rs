//! What the protocol promises besides answers, on the wire of the real binary: progress, cancellation, both eras, formats, limits,
//! scopes over every tool, and answers that follow the files.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

fn lacon(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
    command
        .args(arguments)
        .env_remove("LACON_OUTPUT_FORMAT")
        .env_remove("LACON_HTTP_TOKEN")
        .env_remove("LACON_DIR")
        .env("NO_COLOR", "1");
    command
}

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client that sees every message.
struct Wire {
    _process: Process,
    input: ChildStdin,
    messages: Receiver<Value>,
    last: u64,
}

impl Wire {
    fn start(arguments: &[&str]) -> Wire {
        let mut all = vec!["mcp"];
        all.extend(arguments);
        let mut process = lacon(&all)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        Wire {
            _process: Process(process),
            input,
            messages,
            last: 0,
        }
    }

    fn in_session(arguments: &[&str], capabilities: Value) -> Wire {
        let mut wire = Wire::start(arguments);
        let parameters = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        let answer = wire.request("initialize", parameters);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        wire.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        wire
    }

    fn send(&mut self, message: Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn begin(&mut self, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        self.send(json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters}));
        self.last
    }

    /// The answer to a request, and the notifications before it.
    fn wait(&mut self, id: u64) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let message = self.messages.recv_timeout(PATIENCE).unwrap();
            if message["id"] == json!(id) {
                return (message, before);
            }
            before.push(message);
        }
    }

    fn request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.begin(method, parameters);
        self.wait(id).0
    }

    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        said(&self.request("tools/call", json!({"name": tool, "arguments": arguments})))
    }

    /// Asks until the answer holds a text.
    fn call_until(&mut self, tool: &str, arguments: Value, expected: &str) -> String {
        let limit = Instant::now() + PATIENCE;
        loop {
            let (said, _) = self.call(tool, arguments.clone());
            if said.contains(expected) && !said.contains("incomplete") {
                return said;
            }
            assert!(Instant::now() < limit, "{said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn said(answer: &Value) -> (String, bool) {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    (text.to_string(), answer["result"]["isError"] == json!(true))
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = tree.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    tree
}

fn path(tree: &tempfile::TempDir) -> &str {
    tree.path().to_str().unwrap()
}

const SMALL: &[(&str, &str)] = &[("a.py", "def f():\n    pass\n\n\ndef g():\n    f()\n")];

#[test]
fn answers_follow_the_files_while_another_process_watches() {
    let tree = tree(SMALL);
    let mut watching = lacon(&["watch", "--json", path(&tree)])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut events = BufReader::new(watching.stdout.take().unwrap()).lines();
    let _watching = Process(watching);
    let first: Value = serde_json::from_str(&events.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["files"], 1, "{first}");

    let mut wire = Wire::in_session(&[path(&tree)], json!({}));
    wire.call_until("get_callers", json!({"id": "f"}), "total_nodes=2");
    std::fs::write(
        tree.path().join("b.py"),
        "from a import f\n\n\ndef h():\n    f()\n\n\ndef i():\n    f()\n",
    )
    .unwrap();
    let edited = Instant::now();
    wire.call_until("get_callers", json!({"id": "f"}), "total_nodes=4");
    assert!(edited.elapsed() < Duration::from_secs(20), "{:?}", edited.elapsed());
    std::fs::rename(tree.path().join("b.py"), tree.path().join("c.py")).unwrap();
    wire.call_until("get_callers", json!({"id": "f"}), "c.py");
    std::fs::remove_file(tree.path().join("c.py")).unwrap();
    wire.call_until("get_callers", json!({"id": "f"}), "total_nodes=2");
}

/// A tree large enough that its first index takes longer than its first answer may.
fn large() -> tempfile::TempDir {
    let tree = tree(SMALL);
    for folder in 0..40 {
        let directory = tree.path().join(format!("part/folder{folder}"));
        std::fs::create_dir_all(&directory).unwrap();
        for number in 0..50 {
            let mut text = String::from("from a import f\n");
            for function in 0..2 {
                text.push_str(&format!(
                    "def f_{folder}_{number}_{function}(x):\n    f()\n    return x + {function}\n\n"
                ));
            }
            std::fs::write(directory.join(format!("m{number}.py")), text).unwrap();
        }
    }
    tree
}

#[test]
fn the_first_question_is_answered_from_a_part_and_told_how_far_the_whole_is() {
    let tree = large();
    let began = Instant::now();
    let mut wire = Wire::in_session(&[path(&tree)], json!({}));
    let to_begin = began.elapsed();
    assert!(to_begin < Duration::from_secs(5), "initialize took {to_begin:?}");
    let id = wire.begin(
        "tools/call",
        json!({"name": "get_callers", "arguments": {"id": "f", "limit": 3, "format": "json"}, "_meta": {"progressToken": "t"}}),
    );
    let (answer, before) = wire.wait(id);
    let (text, is_error) = said(&answer);
    assert!(!is_error, "{text}");
    let value: Value = serde_json::from_str(&text).unwrap();
    let lacks = value["incomplete"].as_str().unwrap_or_default();
    assert!(lacks.contains("only 400 of 2001 files are known yet"), "{text}");
    assert!(value["total_nodes"].as_u64().unwrap() < 4_002, "{text}");
    let steps: Vec<f64> = before
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| {
            assert_eq!(message["params"]["progressToken"], "t");
            message["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert!(!steps.is_empty() && steps.is_sorted(), "{before:?}");

    let whole = wire.call_until(
        "get_callers",
        json!({"id": "f", "limit": 3, "format": "json"}),
        "total_nodes",
    );
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["total_nodes"], 4_002);
    assert!(!tree.path().join(".lacon/glance").exists());
}

#[test]
fn a_cancelled_call_is_not_answered_and_the_next_one_is() {
    let tree = large();
    let mut wire = Wire::in_session(&[path(&tree)], json!({}));
    // There is nothing to answer from yet, so the call waits and can be cancelled at leisure.
    let ask = json!({"name": "get_callers", "arguments": {"id": "f"}});
    let cancelled = wire.begin("tools/call", ask);
    wire.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}));
    let next = wire.begin(
        "tools/call",
        json!({"name": "get_file_summary", "arguments": {"path": "a.py"}}),
    );
    let (answer, before) = wire.wait(next);
    assert!(said(&answer).0.contains("a.py"), "{answer}");
    assert!(before.is_empty(), "{before:?}");
    // Nothing of the cancelled call comes later.
    match wire.messages.recv_timeout(Duration::from_secs(1)) {
        Err(RecvTimeoutError::Timeout) => {}
        other => panic!("{}", other.unwrap()),
    }
}

/// The metadata of a request without a session.
fn stateless(experimental: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"experimental": experimental},
    })
}

#[test]
fn without_a_session_every_request_names_its_format_even_as_a_bare_word() {
    let tree = tree(SMALL);
    let mut wire = Wire::start(&[path(&tree)]);
    let ask = |format: Value| json!({"name": "get_callers", "arguments": {"id": "f"}, "_meta": stateless(json!({"output_format": format}))});
    for (format, start) in [
        (json!("gcx"), "GCX1 tool=get_callers.nodes"),
        (json!({"format": "json"}), "{\"nodes\":"),
        (json!("gcf"), "GCF profile="),
    ] {
        let limit = Instant::now() + PATIENCE;
        loop {
            let answer = wire.request("tools/call", ask(format.clone()));
            let (text, _) = said(&answer);
            if text.starts_with(start) {
                break;
            }
            assert!(Instant::now() < limit, "{format}: {answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_session_that_asks_for_json_gets_schemas_and_values() {
    let tree = tree(SMALL);
    let mut plain = Wire::in_session(&[path(&tree), "--toolset", "all"], json!({}));
    let tools = plain.request("tools/list", json!({}))["result"]["tools"].clone();
    assert!(
        tools
            .as_array()
            .unwrap()
            .iter()
            .all(|tool| tool.get("outputSchema").is_none())
    );
    drop(plain);
    let capabilities = json!({"experimental": {"output_format": "json"}});
    let mut wire = Wire::in_session(&[path(&tree), "--toolset", "all"], capabilities);
    let tools = wire.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["outputSchema"]["type"], "object", "{}", tool["name"]);
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{}", tool["name"]);
    }
    wire.call_until("get_callers", json!({"id": "f"}), "a.py::g");
    for (tool, arguments) in [
        ("get_callers", json!({"id": "f"})),
        ("get_symbol_source", json!({"id": "f"})),
        ("get_repo_outline", json!({})),
        ("get_callers", json!({"id": "f", "format": "gcx"})),
    ] {
        let answer = wire.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let value = &answer["result"]["structuredContent"];
        let listed = tools
            .as_array()
            .unwrap()
            .iter()
            .find(|listed| listed["name"] == tool)
            .unwrap();
        let properties = listed["outputSchema"]["properties"].as_object().unwrap();
        for (name, member) in value.as_object().unwrap() {
            let schema = properties
                .get(name)
                .unwrap_or_else(|| panic!("{tool} says nothing of `{name}`"));
            let kinds = match &schema["type"] {
                Value::Array(kinds) => kinds.clone(),
                Value::Null => continue,
                kind => vec![kind.clone()],
            };
            let kind = match member {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(number) if number.is_u64() && !kinds.contains(&json!("number")) => "integer",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            assert!(kinds.contains(&json!(kind)), "{tool}.{name}: {member} is not {kinds:?}");
        }
        if arguments.get("format").is_none() {
            let (text, _) = said(&answer);
            assert_eq!(&serde_json::from_str::<Value>(&text).unwrap(), value, "{tool}");
        }
    }
}

#[test]
fn scopes_hold_for_every_tool_of_a_workspace_file() {
    let base = tree(&[
        ("one/a.py", SMALL[0].1),
        ("two/b.py", "def h():\n    pass\n"),
        (
            "workspace.toml",
            "[[repository]]\nname = \"shop\"\npath = \"one\"\n\n[[repository]]\nname = \"web\"\npath = \"two\"\n",
        ),
    ]);
    let file = base.path().join("workspace.toml");
    let mut wire = Wire::in_session(&[file.to_str().unwrap(), "--toolset", "all"], json!({}));
    wire.call_until("get_callers", json!({"id": "shop/a.py::f"}), "total_nodes=2");
    wire.call_until("search_symbols", json!({"query": "h"}), "web/b.py");
    let read = wire.request("resources/read", json!({"uri": "lacon://tool_definitions"}));
    let definitions = read["result"]["contents"][0]["text"].as_str().unwrap();
    let definitions = wire::protocol::decode_tool_definitions(definitions).unwrap();
    let listed = wire.request("tools/list", json!({}))["result"]["tools"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(definitions.len(), listed);
    for definition in definitions {
        let (tool, scope) = (definition.name.as_str(), definition.scope.as_str());
        let refusals = match scope {
            "repo" => vec![
                (json!(null), "missing_repo"),
                (json!(["shop"]), "wrong_repo_shape"),
                (json!("nowhere"), "unknown_repo"),
            ],
            "fan-out" => vec![
                (json!(null), "missing_repo_list"),
                (json!("shop"), "wrong_repo_shape"),
                (json!(["shop", "nowhere"]), "unknown_repo"),
            ],
            _ => vec![(json!("shop"), "repo_not_allowed"), (json!(["*"]), "repo_not_allowed")],
        };
        for (repo, code) in refusals {
            let (text, is_error) = wire.call(tool, json!({"repo": repo}));
            let error =
                wire::protocol::decode_error(&text).unwrap_or_else(|error| panic!("{tool} {repo}: {error}: {text}"));
            assert!(is_error && error.code == code, "{tool} ({scope}) {repo}: {text}");
        }
    }
    let (outline, is_error) = wire.call("get_repo_outline", json!({"repo": "web"}));
    assert!(!is_error && outline.contains("python"), "{outline}");
    let resources = wire.request("resources/list", json!({}));
    assert!(resources.to_string().contains("lacon://outline/web"), "{resources}");
}

#[test]
fn over_http_sessions_are_limited_and_a_bare_format_is_understood() {
    let tree = tree(SMALL);
    let mut process = lacon(&[
        "mcp",
        "--http",
        "127.0.0.1:0",
        "--no-token",
        "--max-sessions",
        "2",
        path(&tree),
    ])
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let _process = Process(process);
    let line = lines.next().unwrap().unwrap();
    let address = line
        .split("http://")
        .nth(1)
        .unwrap()
        .trim_end_matches("/mcp")
        .to_string();
    std::thread::spawn(move || lines.for_each(drop));
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"experimental": {"output_format": "gcx"}},
        "clientInfo": {"name": "raw", "version": "1"}}});
    let begun = post(&address, "", &initialize);
    assert!(begun.starts_with("HTTP/1.1 200"), "{begun}");
    let session = begun
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("mcp-session-id: ").map(str::to_string))
        .unwrap();
    let headers = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    post(
        &address,
        &headers,
        &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    );
    let limit = Instant::now() + PATIENCE;
    loop {
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "get_callers", "arguments": {"id": "f"}}});
        let answer = post(&address, &headers, &call);
        if answer.contains("GCX1 tool=get_callers.nodes") {
            break;
        }
        assert!(Instant::now() < limit, "{answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(post(&address, "", &initialize).starts_with("HTTP/1.1 200"));
    let refused = post(&address, "", &initialize);
    assert!(
        refused.starts_with("HTTP/1.1 503") && refused.contains("too many sessions"),
        "{refused}"
    );
    // Requests without a session are not counted.
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "get_callers", "arguments": {"id": "f"}, "_meta": stateless(json!({"output_format": "gcf"}))}});
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: get_callers\r\n";
    let answer = post(&address, headers, &call);
    assert!(answer.contains("GCF profile="), "{answer}");
}

fn post(address: &str, headers: &str, body: &Value) -> String {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_file_that_is_gone_and_a_path_outside_are_refused_with_a_reason() {
    let tree = tree(SMALL);
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.py"), "SECRET = 1\n").unwrap();
    let mut wire = Wire::in_session(&[path(&tree)], json!({}));
    wire.call_until("get_callers", json!({"id": "f"}), "total_nodes=2");
    for path in [
        outside.path().join("secret.py"),
        Path::new("../secret.py").to_path_buf(),
    ] {
        let (text, is_error) = wire.call("get_file_summary", json!({"path": path}));
        assert!(
            is_error && text.contains("no_such_file") && !text.contains("SECRET"),
            "{text}"
        );
    }
    std::fs::remove_file(tree.path().join("a.py")).unwrap();
    let limit = Instant::now() + PATIENCE;
    loop {
        let (text, is_error) = wire.call("get_symbol_source", json!({"id": "a.py::f"}));
        // Whether the index has noticed yet or not, a body that is not there is never printed.
        assert!(is_error && !text.contains("def f"), "{text}");
        if text.contains("no_such_symbol") {
            break;
        }
        assert!(Instant::now() < limit, "{text}");
        std::thread::sleep(Duration::from_millis(50));
    }
    let refused = lacon(&["mcp", "no/such/place"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no directory `no/such/place`"));
}
