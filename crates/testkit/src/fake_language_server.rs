//! A small language server that misbehaves on request, for tests of its clients.
//!
//! It serves the folder it is started in and reads `fake-server.json` there before each request, so that a test can change its
//! mind while it runs. Every message it gets is a line of `fake-server.log`. It answers by the text: the word at a position is
//! what is asked about, and every file that holds the word mentions it.
//!
//! ```json
//! {"faults": {"textDocument/references": "die"}, "once": true, "ready": "status", "child": true, "delay_ms": 0}
//! ```
//!
//! Faults: `die`, `hang` (this request and all after it), `ignore` (this request alone), `garbage`, `grow`, `refuse`, `short` (the
//! first answer of a process lacks its last row), `edit` (asks the client to empty the file `a.toy` first). With `once` a fault happens in the first process only. `ready` is `status` (the default) or `never`.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

/// Serves standard input and output until the input ends.
pub fn main() {
    let mut server = FakeServer {
        root: std::env::current_dir().unwrap_or_default(),
        was_short: false,
        // The protocol's stream, opened by name: printing is for answers of the product only.
        output: OpenOptions::new()
            .write(true)
            .open("/dev/stdout")
            .expect("stdout is there"),
        documents: Vec::new(),
        ballast: Vec::new(),
    };
    let mut input = BufReader::new(File::open("/dev/stdin").expect("stdin is there"));
    if server.script("child").as_bool() == Some(true) {
        // What a server starts must end with it.
        let child = Command::new("sleep").arg("3600").spawn();
        server.log(&format!("child {}", child.map_or(0, |child| child.id())));
    }
    server.log(&format!("started {}", std::process::id()));
    while let Some(message) = read(&mut input) {
        server.hear(&message);
    }
}

struct FakeServer {
    /// Whether an answer lacked a row.
    was_short: bool,
    root: PathBuf,
    output: File,
    documents: Vec<(String, String)>,
    ballast: Vec<Vec<u8>>,
}

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
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

impl FakeServer {
    fn hear(&mut self, message: &Value) {
        let method = message["method"].as_str().unwrap_or_default().to_string();
        let parameters = &message["params"];
        let version = &parameters["textDocument"]["version"];
        let subject = match (version, &parameters["id"]) {
            (Value::Number(version), _) => format!(" {} v{version}", parameters["textDocument"]["uri"]),
            (_, Value::Number(id)) => format!(" {id}"),
            _ => String::new(),
        };
        if method.is_empty() {
            self.log(&format!("answered {}", message["result"]));
            return;
        }
        self.log(&format!("{method}{subject}"));
        self.misbehave(&method);
        let Some(id) = message.get("id") else {
            self.notified(&method, parameters);
            return;
        };
        if self.fault(&method).as_deref() == Some("refuse") {
            self.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "refused as told"}}));
            return;
        }
        if self.fault(&method).as_deref() == Some("ignore") {
            return;
        }
        if self.fault(&method).as_deref() == Some("edit") {
            let uri = format!("file://{}", self.root.join("a.toy").display());
            let all = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
            let edit = json!({"changes": {uri: [{"range": all, "newText": ""}]}});
            self.send(
                &json!({"jsonrpc": "2.0", "id": "own", "method": "workspace/applyEdit", "params": {"edit": edit}}),
            );
        }
        if let Some(delay) = self.script("delay_ms").as_u64() {
            std::thread::sleep(Duration::from_millis(delay));
        }
        let mut result = self.answer(&method, parameters);
        if self.fault(&method).as_deref() == Some("short")
            && !std::mem::replace(&mut self.was_short, true)
            && let Some(rows) = result.as_array_mut()
        {
            rows.pop();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn answer(&self, method: &str, parameters: &Value) -> Value {
        match method {
            "initialize" => json!({"capabilities": {
                "positionEncoding": self.script("encoding").as_str().unwrap_or("utf-16"),
                "textDocumentSync": 1,
                "referencesProvider": true,
                "definitionProvider": true,
                "hoverProvider": true,
            }}),
            "textDocument/references" => self.mentions(parameters),
            "textDocument/definition" => self.mentions(parameters)[0].take(),
            "textDocument/hover" => json!({"contents": {"kind": "plaintext", "value": self.word(parameters)}}),
            _ => Value::Null,
        }
    }

    fn notified(&mut self, method: &str, parameters: &Value) {
        let document = &parameters["textDocument"];
        let uri = document["uri"].as_str().unwrap_or_default().to_string();
        match method {
            "initialized" if self.script("ready").as_str() != Some("never") => {
                let status = json!({"health": "ok", "quiescent": true});
                self.send(&json!({"jsonrpc": "2.0", "method": "experimental/serverStatus", "params": status}));
            }
            "textDocument/didOpen" | "textDocument/didChange" => {
                let text = document["text"]
                    .as_str()
                    .or(parameters["contentChanges"][0]["text"].as_str());
                let text = text.unwrap_or_default().to_string();
                self.documents.retain(|(open, _)| open != &uri);
                let found: Vec<Value> = text
                    .lines()
                    .enumerate()
                    .filter(|(_, line)| line.contains("WRONG"))
                    .map(|(number, line)| {
                        let at = |column: usize| json!({"line": number, "character": column});
                        json!({"range": {"start": at(0), "end": at(line.len())}, "severity": 1, "message": "this is wrong"})
                    })
                    .collect();
                let published = json!({"uri": uri, "version": document["version"], "diagnostics": found});
                self.documents.push((uri, text));
                self.send(&json!({
                    "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": published,
                }));
            }
            "textDocument/didClose" => self.documents.retain(|(open, _)| open != &uri),
            "exit" => std::process::exit(0),
            _ => {}
        }
    }

    /// The word at a position of an open document.
    fn word(&self, parameters: &Value) -> String {
        let uri = parameters["textDocument"]["uri"].as_str().unwrap_or_default();
        let Some((_, text)) = self.documents.iter().find(|(open, _)| open == uri) else {
            return String::new();
        };
        let number = |name: &str| parameters["position"][name].as_u64().unwrap_or(0) as usize;
        let line: Vec<u16> = text
            .lines()
            .nth(number("line"))
            .unwrap_or_default()
            .encode_utf16()
            .collect();
        let is_word = |unit: &u16| {
            char::from_u32(u32::from(*unit)).is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
        };
        let at = number("character").min(line.len());
        let start = line[..at]
            .iter()
            .rposition(|unit| !is_word(unit))
            .map_or(0, |before| before + 1);
        let end = line[at..]
            .iter()
            .position(|unit| !is_word(unit))
            .map_or(line.len(), |after| at + after);
        String::from_utf16_lossy(&line[start..end])
    }

    fn mentions(&self, parameters: &Value) -> Value {
        let word = self.word(parameters);
        let mut found = Vec::new();
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.root)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| !path.to_string_lossy().contains("fake-server"))
            .collect();
        files.sort();
        for path in files {
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            for (number, line) in text.lines().enumerate() {
                for (at, _) in line.match_indices(&word).filter(|_| !word.is_empty()) {
                    let units = |end: usize| line[..end].encode_utf16().count();
                    found.push(json!({
                        "uri": format!("file://{}", path.display()),
                        "range": {
                            "start": {"line": number, "character": units(at)},
                            "end": {"line": number, "character": units(at + word.len())},
                        },
                    }));
                }
            }
        }
        Value::Array(found)
    }

    /// The fault for a method, unless it has happened already and is to happen once.
    fn fault(&self, method: &str) -> Option<String> {
        let fault = self.script("faults")[method].as_str()?.to_string();
        let done = self.root.join("fake-server.done");
        if self.script("once").as_bool() == Some(true) {
            let mine = std::process::id().to_string();
            match std::fs::read_to_string(&done) {
                Ok(process) if process != mine => return None,
                Ok(_) => {}
                Err(_) => drop(std::fs::write(&done, mine)),
            }
        }
        Some(fault)
    }

    fn misbehave(&mut self, method: &str) {
        match self.fault(method).as_deref() {
            Some("die") => std::process::exit(3),
            Some("hang") => loop {
                std::thread::sleep(Duration::from_secs(60));
            },
            Some("garbage") => {
                // More than any client can be expected to read over.
                for _ in 0..40_000 {
                    if self
                        .output
                        .write_all(b"this is not the language server protocol\n")
                        .is_err()
                    {
                        std::process::exit(4);
                    }
                }
            }
            Some("grow") => {
                for _ in 0..300 {
                    // Written to, or the memory would not be resident.
                    self.ballast.push(vec![1; 1 << 20]);
                }
                std::thread::sleep(Duration::from_secs(60));
            }
            _ => {}
        }
    }

    fn script(&self, name: &str) -> Value {
        let text = std::fs::read_to_string(self.root.join("fake-server.json")).unwrap_or_default();
        serde_json::from_str::<Value>(&text).map_or(Value::Null, |mut script| script[name].take())
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        if self.output.write_all(framed.as_bytes()).is_err() {
            std::process::exit(4);
        }
    }

    fn log(&self, line: &str) {
        let path = self.root.join("fake-server.log");
        if let Ok(mut log) = OpenOptions::new().create(true).append(true).open(path) {
            drop(writeln!(log, "{line}"));
        }
    }
}

/// The log of a folder's server so far.
pub fn log(root: &Path) -> String {
    std::fs::read_to_string(root.join("fake-server.log")).unwrap_or_default()
}

/// The program, built as this example of the crate whose test runs. Names differ, since all crates share one folder of examples.
pub fn program(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let deps = test.parent().expect("a test is in a folder");
    let path = deps
        .parent()
        .expect("deps is in a folder")
        .join("examples")
        .join(example);
    assert!(path.is_file(), "no `{}`: run the whole crate's tests", path.display());
    path
}
