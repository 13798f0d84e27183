//! A client that adds nothing to what it measures: one line out, one line in, on the pipes of a real `lacon mcp`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// A running server.
pub(crate) struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

/// Whether the server keeps the index up to date, which costs memory of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follows {
    Changes,
    Nothing,
}

/// What came back, and when.
pub(crate) struct Answered {
    pub(crate) result: Value,
    pub(crate) time: Duration,
}

impl Client {
    /// Starts a server and begins a session.
    pub(crate) fn start(root: &Path, follows: Follows) -> Result<Client> {
        let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
        command.arg("mcp").arg(root);
        if follows == Follows::Nothing {
            command.arg("--no-watch");
        }
        let mut process = command
            .env_remove("LACON_OUTPUT_FORMAT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the server")?;
        let input = process.stdin.take().context("no pipe to the server")?;
        let output = BufReader::new(process.stdout.take().context("no pipe from the server")?);
        let mut client = Client {
            process,
            input,
            output,
            last: 0,
        };
        let capabilities = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "lacon bench", "version": env!("CARGO_PKG_VERSION")}});
        client.request("initialize", &capabilities)?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// Asks a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answered> {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Answered> {
        self.last += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        let began = Instant::now();
        self.send(&message)?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line).context("cannot read the answer")? == 0 {
                bail!("the server left before it answered {method}");
            }
            let time = began.elapsed();
            let mut answer: Value = serde_json::from_str(&line).context("the answer is not JSON")?;
            if answer["id"] != json!(self.last) {
                continue;
            }
            if let Some(error) = answer.get("error") {
                bail!("{method} failed: {error}");
            }
            return Ok(Answered {
                result: answer["result"].take(),
                time,
            });
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.input
            .write_all(&line)
            .and_then(|()| self.input.flush())
            .context("cannot write to the server")
    }

    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may be gone already.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The text of an answer, and whether it is a refusal.
pub(crate) fn text(result: &Value) -> (String, bool) {
    let blocks = result["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    (texts.join("\n"), result["isError"] == json!(true))
}

/// Memory of a process that is resident, in bytes; 0 where the system does not tell.
pub(crate) fn resident(process: u32) -> u64 {
    status_of(process, "VmRSS:")
}

/// The part of it that no file backs.
pub(super) fn heap(process: u32) -> u64 {
    status_of(process, "RssAnon:")
}

fn status_of(process: u32, entry: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(entry));
    line.and_then(|value| value.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .map_or(0, |kilobytes| kilobytes * 1024)
}
