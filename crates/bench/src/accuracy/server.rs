//! The smallest language-server client that can ask who calls a function: one request at a time over stdio.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Longest message that is read.
const MAX_MESSAGE: usize = 64 << 20;

/// A running server.
pub(crate) struct Server {
    process: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    next: i64,
}

/// A place as the server names it: file, 0-based line, and column in UTF-16 units. What is in no file has its address instead.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct CallSite {
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The line where it ends: some servers name whole definitions with their comments.
    #[serde(default)]
    pub(crate) end_line: u32,
}

impl CallSite {
    /// The start of a range of the protocol, and the line where it ends.
    fn of(path: String, range: &Value) -> CallSite {
        let number = |end: &str, name: &str| range[end][name].as_u64().unwrap_or(0) as u32;
        CallSite {
            path,
            line: number("start", "line"),
            column: number("start", "character"),
            end_line: number("end", "line"),
        }
    }
}

impl Server {
    /// Starts `command` and shakes hands about `root`.
    pub(crate) fn start(command: &[String], root: &Path) -> anyhow::Result<Server> {
        let (program, arguments) = command.split_first().context("no server command")?;
        let mut process = Command::new(program)
            .args(arguments)
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start `{program}`"))?;
        let input = process.stdin.take().context("the server has no stdin")?;
        let output = process.stdout.take().context("the server has no stdout")?;
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(output);
            while let Ok(message) = read_message(&mut reader) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut server = Server {
            process,
            input,
            messages,
            next: 0,
        };
        let uri = uri_of(root);
        let folders = json!([{"uri": uri, "name": "root"}]);
        server.request(
            "initialize",
            &json!({
                "processId": std::process::id(),
                "rootUri": uri,
                "workspaceFolders": folders,
                "initializationOptions": {
                    // We read what any feature of a crate brings, so rust-analyzer must too.
                    "cargo": {"features": "all"},
                    // TypeScript's would answer from one file alone until it has read the others.
                    "tsserver": {"useSyntaxServer": "never"},
                    // Java's would not say that something is in a library.
                    "extendedClientCapabilities": {"classFileContentsSupport": true},
                },
                "capabilities": {
                    "textDocument": {"callHierarchy": {"dynamicRegistration": false}, "references": {}, "definition": {}},
                    "workspace": {"configuration": true, "workspaceFolders": true},
                    "window": {"workDoneProgress": true},
                },
            }),
            Duration::from_secs(120),
        )?;
        server.notify("initialized", &json!({}))?;
        Ok(server)
    }

    /// Answers what the server asks for a while, so that it can read its configuration and list its files.
    pub(crate) fn settle(&mut self, time: Duration) -> anyhow::Result<()> {
        let deadline = std::time::Instant::now() + time;
        loop {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(message) => self.answer(&message)?,
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => bail!("the server ended before it was asked anything"),
            }
        }
    }

    /// Opens a document.
    pub(crate) fn open(&mut self, path: &Path, language: &str, text: &str) -> anyhow::Result<()> {
        let document = json!({"uri": uri_of(path), "languageId": language, "version": 1, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}))
    }

    /// Closes a document.
    pub(crate) fn close(&mut self, path: &Path) -> anyhow::Result<()> {
        self.notify("textDocument/didClose", &json!({"textDocument": {"uri": uri_of(path)}}))
    }

    /// Every call of what stands at the position; `None` when the server knows no such thing.
    pub(crate) fn incoming_calls(
        &mut self,
        path: &Path,
        line: u32,
        column: u32,
        patience: Duration,
    ) -> anyhow::Result<Option<Vec<CallSite>>> {
        let position = json!({"textDocument": {"uri": uri_of(path)}, "position": {"line": line, "character": column}});
        let items = self.request("textDocument/prepareCallHierarchy", &position, patience)?;
        let Some(item) = items.as_array().and_then(|items| items.first()) else {
            return Ok(None);
        };
        let calls = self.request("callHierarchy/incomingCalls", &json!({"item": item}), patience)?;
        let mut sites = Vec::new();
        for call in calls.as_array().into_iter().flatten() {
            let Some(path) = call["from"]["uri"].as_str().and_then(path_of) else {
                continue;
            };
            for range in call["fromRanges"].as_array().into_iter().flatten() {
                sites.push(CallSite::of(path.clone(), range));
            }
        }
        sites.sort();
        sites.dedup();
        Ok(Some(sites))
    }

    /// Where what is mentioned at the position is defined.
    pub(crate) fn definitions(
        &mut self,
        path: &Path,
        line: u32,
        column: u32,
        patience: Duration,
    ) -> anyhow::Result<Vec<CallSite>> {
        let question = json!({"textDocument": {"uri": uri_of(path)}, "position": {"line": line, "character": column}});
        let found = self.request("textDocument/definition", &question, patience)?;
        let places = match &found {
            Value::Array(places) => places.as_slice(),
            Value::Object(_) => std::slice::from_ref(&found),
            _ => &[],
        };
        let mut sites = Vec::new();
        for place in places {
            let (uri, range) = match place.get("targetUri") {
                Some(uri) => (uri, &place["targetSelectionRange"]),
                None => (&place["uri"], &place["range"]),
            };
            if let Some(path) = uri.as_str().map(|uri| path_of(uri).unwrap_or_else(|| uri.to_string())) {
                sites.push(CallSite::of(path, range));
            }
        }
        Ok(sites)
    }

    /// Every mention of what stands at the position, its declaration left out.
    pub(crate) fn references(
        &mut self,
        path: &Path,
        line: u32,
        column: u32,
        patience: Duration,
    ) -> anyhow::Result<Option<Vec<CallSite>>> {
        let question = json!({
            "textDocument": {"uri": uri_of(path)},
            "position": {"line": line, "character": column},
            "context": {"includeDeclaration": false},
        });
        let found = self.request("textDocument/references", &question, patience)?;
        let mut sites = Vec::new();
        for place in found.as_array().into_iter().flatten() {
            let Some(path) = place["uri"].as_str().and_then(path_of) else {
                continue;
            };
            sites.push(CallSite::of(path, &place["range"]));
        }
        sites.sort();
        sites.dedup();
        Ok(Some(sites))
    }

    fn request(&mut self, method: &str, parameters: &Value, patience: Duration) -> anyhow::Result<Value> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}))?;
        let deadline = std::time::Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            let mut message = match self.messages.recv_timeout(left) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => bail!("`{method}` took longer than {} s", patience.as_secs()),
                Err(RecvTimeoutError::Disconnected) => bail!("the server ended during `{method}`"),
            };
            if message.get("method").is_some() {
                self.answer(&message)?;
            } else if message["id"] == json!(id) {
                if let Some(error) = message.get("error") {
                    bail!("`{method}` failed: {error}");
                }
                return Ok(message["result"].take());
            }
        }
    }

    /// Answers what a server asks its client, with as little as it accepts.
    fn answer(&mut self, message: &Value) -> anyhow::Result<()> {
        let Some(id) = message.get("id") else { return Ok(()) };
        let result = match message["method"].as_str() {
            Some("workspace/configuration") => {
                let count = message["params"]["items"].as_array().map_or(0, Vec::len);
                Value::Array(vec![Value::Null; count])
            }
            _ => Value::Null,
        };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn notify(&mut self, method: &str, parameters: &Value) -> anyhow::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": parameters}))
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        self.input.flush()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Best effort: the measurement is over either way.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn read_message(reader: &mut impl BufRead) -> anyhow::Result<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            bail!("end of stream");
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = Some(value.trim().parse::<usize>()?);
        }
    }
    let length = length.context("a message without length")?;
    if length > MAX_MESSAGE {
        bail!("a message of {length} bytes");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// A column in bytes as servers count, in units of UTF-16; `line` is 0-based.
pub(crate) fn column_in_units(text: &str, line: u32, column: u32) -> u32 {
    let line = text.lines().nth(line as usize).unwrap_or_default();
    let before = line.get(..column as usize).unwrap_or(line);
    before.encode_utf16().count() as u32
}

/// A server's column in bytes.
pub(crate) fn column_in_bytes(text: &str, line: u32, units: u32) -> u32 {
    let line = text.lines().nth(line as usize).unwrap_or_default();
    let mut left = units as usize;
    let characters = line.chars().take_while(|character| {
        let before = left > 0;
        left = left.saturating_sub(character.len_utf16());
        before
    });
    characters.map(char::len_utf8).sum::<usize>() as u32
}

fn uri_of(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

fn path_of(uri: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = uri.strip_prefix("file://")?.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?.to_string();
            bytes.push(u8::from_str_radix(&digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
