//! An MCP server as a child process, spoken to in plain lines: no SDK stands between the clock and the server.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, anyhow};
use serde_json::{Value, json};

/// A server that was greeted and answers. It ends when this is dropped.
pub(crate) struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl Peer {
    /// Starts the server and greets it.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Peer> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{}`", command.get_program().display()))?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut peer = Peer {
            input: child.stdin.take(),
            child,
            output: BufReader::new(output),
            requests: 0,
        };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "lacon-bench", "version": env!("CARGO_PKG_VERSION")},
        });
        peer.ask("initialize", &hello)?;
        peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(peer)
    }

    /// The result of one request.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err(anyhow!("the server ended before it answered `{method}`"));
            }
            // Notifications and questions of the server are not what is waited for.
            let mut message: Value = serde_json::from_str(&line).context("the server wrote a line that is not JSON")?;
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(anyhow!("`{method}` failed: {error}")),
                    None => Ok(message["result"].take()),
                };
            }
        }
    }

    /// Calls a tool and gives the text of its answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<String> {
        let result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let blocks = result["content"].as_array().context("a result without content")?;
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let text = texts.join("\n");
        match result["isError"].as_bool() {
            Some(true) => Err(anyhow!("`{tool}` refused: {text}")),
            _ => Ok(text),
        }
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the server's input is closed")?;
        let mut line = message.to_string();
        line.push('\n');
        input.write_all(line.as_bytes())?;
        Ok(input.flush()?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of its input is how a server is told to leave; one that does not is not waited for.
        self.input = None;
        for _ in 0..50 {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
