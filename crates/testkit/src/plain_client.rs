//! The plainest possible client of a language server: asks one thing at a time and counts as the protocol's default says. What a
//! server answers it is what the server itself says, with nothing of Lacon in between.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A running server.
pub struct PlainClient {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    next: i64,
}

/// File, 0-based line, 0-based UTF-16 column.
pub type Spot = (PathBuf, u64, u64);

impl PlainClient {
    /// Starts a server on a folder.
    pub fn start(command: &[&str], root: &Path) -> PlainClient {
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start `{}`: {error}", command[0]));
        let input = child.stdin.take().expect("stdin is piped");
        let mut output = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut client = PlainClient {
            child,
            input,
            messages,
            next: 0,
        };
        let uri = format!("file://{}", root.display());
        client.request(
            "initialize",
            json!({
                "processId": std::process::id(), "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": "root"}],
                "capabilities": {
                    "textDocument": {"references": {}, "definition": {"linkSupport": true}},
                    "workspace": {"configuration": true, "workspaceFolders": true},
                    "window": {"workDoneProgress": true},
                },
            }),
        );
        client.notify("initialized", json!({}));
        client
    }

    /// Opens a file.
    pub fn open(&mut self, path: &Path, language: &str) {
        let text = std::fs::read_to_string(path).expect("a fixture is readable");
        let uri = format!("file://{}", path.display());
        let document = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// References or definitions of what stands at a 0-based place. A server that is still reading answers too little, so the
    /// question is asked until three answers in a row are equal and have as much as can be expected, or for half a minute.
    pub fn places(&mut self, method: &str, path: &Path, line: u64, column: u64, expected: usize) -> Vec<Spot> {
        let deadline = Instant::now() + Duration::from_secs(30);
        let (mut last, mut same) = (Vec::new(), 0);
        while same < 3 && Instant::now() < deadline {
            let found = self.request(
                method,
                json!({
                    "textDocument": {"uri": format!("file://{}", path.display())},
                    "position": {"line": line, "character": column},
                    "context": {"includeDeclaration": true},
                }),
            );
            let spots = read_spots(&found);
            same = if spots == last && spots.len() >= expected {
                same + 1
            } else {
                0
            };
            last = spots;
            std::thread::sleep(Duration::from_millis(200));
        }
        last
    }

    fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(mut message) = self.messages.recv_timeout(left) else {
                panic!("no answer to {method}");
            };
            match (message.get("method").is_some(), message.get("id").cloned()) {
                (true, Some(asked)) => {
                    let items = message["params"]["items"].as_array().map_or(0, Vec::len);
                    let result = match message["method"].as_str() {
                        Some("workspace/configuration") => json!(vec![Value::Null; items]),
                        _ => Value::Null,
                    };
                    self.send(&json!({"jsonrpc": "2.0", "id": asked, "result": result}));
                }
                (false, Some(answered)) if answered == json!(id) => return message["result"].take(),
                _ => {}
            }
        }
    }

    fn notify(&mut self, method: &str, parameters: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": parameters}));
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let written = write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len());
        written.and_then(|()| self.input.flush()).expect("the server reads");
    }
}

impl Drop for PlainClient {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn read_spots(found: &Value) -> Vec<Spot> {
    let one = [found.clone()];
    let list = found.as_array().map_or(&one[..], Vec::as_slice);
    let mut spots: Vec<Spot> = list
        .iter()
        .filter_map(|place| {
            let (uri, range) = match place.get("targetUri") {
                Some(uri) => (uri, &place["targetSelectionRange"]),
                None => (&place["uri"], &place["range"]),
            };
            let path = uri.as_str()?.strip_prefix("file://")?;
            let start = &range["start"];
            Some((
                PathBuf::from(path),
                start["line"].as_u64()?,
                start["character"].as_u64()?,
            ))
        })
        .collect();
    spots.sort();
    spots.dedup();
    spots
}

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" if length > 0 => break,
            header => {
                if let Some(value) = header.strip_prefix("Content-Length:") {
                    length = value.trim().parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
