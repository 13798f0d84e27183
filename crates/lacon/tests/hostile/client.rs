//! A client that asks every tool about every language of a hostile repository, from what the tools' own schemas say.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::stage::{ASKED, Asked, Stage};

/// How long a call may take in all.
const LIMIT: Duration = Duration::from_secs(300);

pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: i64,
}

/// Tools that start language servers: these are asked about each language, the others about one.
const OF_COMPILERS: &[&str] = &["find_references", "get_diagnostics", "hover"];

impl Client {
    /// A client of a server on the repository; none where the server refuses to open it.
    pub(crate) fn start(stage: &Stage, variables: &[(&str, &str)]) -> Option<Client> {
        let mut child = stage
            .lacon()
            .envs(variables.iter().copied())
            .args(["mcp", "--toolset", "all"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Client {
            child,
            input,
            output,
            next: 0,
        };
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        if client.asked("initialize", hello).is_none() {
            // It says why and leaves; a crash has no code.
            let code = client.child.wait().unwrap().code();
            assert!(matches!(code, Some(1..=3)), "{code:?}");
            return None;
        }
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        Some(client)
    }

    pub(crate) fn ask_everything(&mut self, stage: &Stage) {
        let listed = self.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        assert!(tools.len() > 40, "{}", tools.len());
        let deadline = Instant::now() + LIMIT;
        while self.call("graph_stats", json!({})).contains("index_building") {
            assert!(Instant::now() < deadline, "the index is not there");
            std::thread::sleep(Duration::from_millis(50));
        }
        for tool in &tools {
            let name = tool["name"].as_str().unwrap();
            // Where no real server is there, those of all languages may be planted.
            let all = OF_COMPILERS.contains(&name) && stage.patience_ms < 1000;
            let about = if all { ASKED } else { std::slice::from_ref(&stage.asked) };
            for asked in about {
                let said = self.call(name, arguments(&tool["inputSchema"], asked, stage.patience_ms));
                stage.heard(name, &said);
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        result.to_string()
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        // One that has left is noticed when it does not answer.
        drop(writeln!(input, "{message}").and_then(|()| input.flush()));
    }

    fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.asked(method, parameters).expect("lacon ended")
    }

    /// The answer; none where the server has left.
    fn asked(&mut self, method: &str, parameters: Value) -> Option<Value> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(id) && message.get("method").is_none() {
                return Some(message);
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The end of its input ends it in order, with its servers.
        drop(self.input.take());
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Arguments by what they are called; whatever waits for a language server does.
fn arguments(schema: &Value, asked: &Asked, patience_ms: u64) -> Value {
    let (symbol, path) = (asked.symbol, asked.path);
    let mut arguments = Map::new();
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, about) in schema["properties"].as_object().into_iter().flatten() {
        let value = match name.as_str() {
            "wait" => json!("lsp"),
            "format" => json!("json"),
            "symbol" | "id" => json!(symbol),
            "base" => json!("HEAD"),
            _ if !required.contains(&name.as_str()) => continue,
            "ids" | "symbols" => json!([symbol]),
            "path" | "file" => json!(path),
            "paths" | "files" => json!([path]),
            "line" | "start_line" | "end_line" => json!(1),
            "column" => json!(5),
            "new_name" => json!("renamed"),
            "old_text" | "search" => json!(symbol),
            "new_text" | "replace" | "text" | "code" | "content" => json!("x"),
            _ => match about["type"].as_str() {
                Some("integer" | "number") => json!(1),
                Some("boolean") => json!(false),
                Some("array") => json!([]),
                Some("object") => json!({}),
                _ => json!(symbol),
            },
        };
        arguments.insert(name.clone(), value);
    }
    // Taken by every tool that waits, and listed by none.
    if arguments.contains_key("wait") {
        arguments.insert("max_wait_ms".to_owned(), json!(patience_ms));
    }
    Value::Object(arguments)
}
