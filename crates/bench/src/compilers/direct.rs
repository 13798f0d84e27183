//! A language server asked directly, with nothing of Lacon in between but its command line and settings: the measure that answers
//! through Lacon are held against.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lsp::{Adapter, uri};
use serde_json::{Value, json};

/// File, line and column: the last two as the protocol counts, from zero and in UTF-16 units.
pub(super) type Spot = (PathBuf, u64, u64);

/// A running server.
pub(super) struct Direct {
    process: Child,
    input: ChildStdin,
    heard: Receiver<Value>,
    adapter: Adapter,
    opened: BTreeSet<PathBuf>,
    last: u64,
}

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(120);

impl Direct {
    /// Starts a server on a tree.
    pub(super) fn start(
        adapter: &Adapter,
        (program, arguments): &(PathBuf, Vec<String>),
        root: &Path,
    ) -> Result<Direct> {
        let mut process = Command::new(program)
            .args(adapter.arguments(arguments, root))
            .current_dir(root)
            // Relative folders lead into the tree.
            .env(
                "PATH",
                guardian::programs::search_path(&std::env::var_os("PATH").unwrap_or_default(), &[]),
            )
            .envs(&adapter.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start `{}`", program.display()))?;
        let input = process.stdin.take().context("no pipe to the server")?;
        let output = process.stdout.take().context("no pipe from the server")?;
        let (say, heard) = channel();
        std::thread::spawn(move || listen(output, &say));
        let mut direct = Direct {
            process,
            input,
            heard,
            adapter: adapter.clone(),
            opened: BTreeSet::new(),
            last: 0,
        };
        let folder = uri::of_path(root);
        direct.ask(
            "initialize",
            &json!({
                "processId": std::process::id(), "rootUri": folder, "rootPath": root,
                "workspaceFolders": [{"uri": folder, "name": "root"}],
                "initializationOptions": adapter.initialization,
                "capabilities": {
                    "textDocument": {"definition": {"linkSupport": true}},
                    "workspace": {"configuration": true, "workspaceFolders": true},
                    "window": {"workDoneProgress": true},
                },
            }),
        )?;
        direct.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}))?;
        let settings = json!({"settings": adapter.settings});
        direct.send(&json!({"jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": settings}))?;
        Ok(direct)
    }

    /// Where it says that what stands at a place is mentioned, the declaration included.
    pub(super) fn references(&mut self, spot: &Spot, language: &str) -> Result<BTreeSet<Spot>> {
        self.places("textDocument/references", spot, language)
    }

    /// Where it says that what stands at a place is defined.
    pub(super) fn definition(&mut self, spot: &Spot, language: &str) -> Result<BTreeSet<Spot>> {
        self.places("textDocument/definition", spot, language)
    }

    fn places(&mut self, method: &str, (path, line, column): &Spot, language: &str) -> Result<BTreeSet<Spot>> {
        self.open(path, language)?;
        let found = self.ask(
            method,
            &json!({"textDocument": {"uri": uri::of_path(path)}, "position": {"line": line, "character": column},
                "context": {"includeDeclaration": true}}),
        )?;
        let found = match found {
            Value::Array(found) => found,
            Value::Null => Vec::new(),
            one => vec![one],
        };
        let spot = |place: &Value| {
            let (uri, range) = match place.get("targetUri") {
                Some(uri) => (uri, place.get("targetSelectionRange")?),
                None => (place.get("uri")?, place.get("range")?),
            };
            let start = &range["start"];
            Some((
                uri::to_path(uri.as_str()?)?,
                start["line"].as_u64()?,
                start["character"].as_u64()?,
            ))
        };
        Ok(found.iter().filter_map(spot).collect())
    }

    fn open(&mut self, path: &Path, language: &str) -> Result<()> {
        if !self.opened.insert(path.to_path_buf()) {
            return Ok(());
        }
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let identifier = self.adapter.languages.get(language).map_or(language, String::as_str);
        let document = json!({"uri": uri::of_path(path), "languageId": identifier, "version": 1, "text": text});
        self.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}))
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut message = self
                .heard
                .recv_timeout(left)
                .with_context(|| format!("no answer to {method}"))?;
            match (
                message.get("method").and_then(Value::as_str),
                message.get("id").cloned(),
            ) {
                (Some(asked), Some(their)) => {
                    let answer = self.answer(asked, &message["params"]);
                    self.send(&json!({"jsonrpc": "2.0", "id": their, "result": answer}))?;
                }
                (None, Some(their)) if their == json!(id) => match message.get("error") {
                    Some(error) => bail!("{method}: {error}"),
                    None => return Ok(message["result"].take()),
                },
                _ => {}
            }
        }
    }

    fn answer(&self, method: &str, parameters: &Value) -> Value {
        match method {
            "workspace/configuration" => {
                let items = parameters["items"].as_array().into_iter().flatten();
                items
                    .map(|item| self.adapter.setting(item["section"].as_str().unwrap_or_default()))
                    .collect()
            }
            _ => Value::Null,
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len())
            .and_then(|()| self.input.flush())
            .context("cannot write to the server")
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        // It leaves by itself when told so, with whatever it has started; if not, it is ended.
        self.last += 1;
        let shutdown = json!({"jsonrpc": "2.0", "id": self.last, "method": "shutdown"});
        drop(self.send(&shutdown));
        drop(self.send(&json!({"jsonrpc": "2.0", "method": "exit"})));
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline && matches!(self.process.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Passes on every message until the server's output ends.
fn listen(output: ChildStdout, say: &Sender<Value>) {
    let mut output = BufReader::new(output);
    loop {
        let mut headers: BTreeMap<String, String> = BTreeMap::new();
        loop {
            let mut line = String::new();
            match output.read_line(&mut line) {
                Ok(1..) => {}
                _ => return,
            }
            let line = line.trim();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.insert(name.to_ascii_lowercase(), value.trim().to_string());
            }
        }
        let Some(length) = headers
            .get("content-length")
            .and_then(|length| length.parse::<usize>().ok())
        else {
            continue;
        };
        let mut body = Vec::new();
        let read = output.by_ref().take(length as u64).read_to_end(&mut body);
        let Ok(message) = serde_json::from_slice(&body) else {
            continue;
        };
        if read.is_err() || say.send(message).is_err() {
            return;
        }
    }
}
