//! What is wrong with a file? Only what the server says of the very text it was given counts: an older answer is no answer.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Reader;
use crate::connection::RequestError;
use crate::documents::Published;
use crate::position::Range;
use crate::readiness::Readiness;
use crate::server::{Server, State};
use crate::uri;

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Where.
    pub range: Range,
    /// How bad.
    pub severity: Severity,
    /// The server's code for it.
    pub code: Option<String>,
    /// Which tool said so.
    pub source: Option<String>,
    /// What.
    pub message: String,
    /// As the server spelled it, to be given back when fixes are asked for.
    pub(crate) raw: Value,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The program is wrong.
    Error = 1,
    /// It may be.
    Warning = 2,
    /// To be known.
    Information = 3,
    /// A suggestion.
    Hint = 4,
}

impl Severity {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "information",
            Severity::Hint => "hint",
        }
    }

    fn of(number: Option<u64>) -> Severity {
        match number {
            Some(2) => Severity::Warning,
            Some(3) => Severity::Information,
            Some(4) => Severity::Hint,
            _ => Severity::Error,
        }
    }
}

/// A server that gives no versions may push twice for one text: the last word counts once it has been quiet for this long.
const QUIET: Duration = Duration::from_millis(300);
/// An empty list may only clear what was shown before: it counts after a longer silence.
const CLEARED: Duration = Duration::from_millis(1200);
/// One that comes after a document was closed most likely does: it counts where nothing else comes for this long.
const CLOSED: Duration = Duration::from_secs(5);

/// Whether a list without a version is what the server has to say, and not what it said before it had read the project.
fn is_last_word(published: &Published, readiness: &Readiness) -> bool {
    let quiet = match (published.clears, published.is_empty()) {
        (true, _) => CLOSED,
        (false, true) => CLEARED,
        (false, false) => QUIET,
    };
    published.at.elapsed() >= quiet && readiness.read_before(published.at, CLEARED)
}

impl Server {
    /// What is wrong with an open document, as its text is now.
    pub fn diagnostics(&self, path: &Path, deadline: Instant) -> Result<Vec<Diagnostic>, RequestError> {
        let _turn = self.turn("textDocument/diagnostic", deadline)?;
        self.diagnostics_in_turn(path, deadline)
    }

    pub(crate) fn diagnostics_in_turn(&self, path: &Path, deadline: Instant) -> Result<Vec<Diagnostic>, RequestError> {
        // Only a server that runs has said how it gives them.
        self.wait_running(deadline);
        let items = if !self.inner.adapter.tsserver_diagnostics.is_empty() {
            self.ask_tsserver(path, deadline)?
        } else if self.supports("textDocument/diagnostic") {
            let parameters = json!({"textDocument": {"uri": uri::of_path(path)}});
            let report = self.ask_in_turn("textDocument/diagnostic", |_| parameters.clone(), deadline)?;
            report["items"].clone()
        } else {
            self.pushed(path, deadline)?
        };
        Ok(self.read_diagnostics(path, &items))
    }

    /// Asks the compiler behind the server, and spells its answers as the protocol does.
    fn ask_tsserver(&self, path: &Path, deadline: Instant) -> Result<Value, RequestError> {
        let mut items = Vec::new();
        for request in &self.inner.adapter.tsserver_diagnostics {
            let parameters = json!({
                "command": "typescript.tsserverRequest",
                "arguments": [request, {"file": uri::of_path(path), "includeLinePosition": false}],
            });
            let answer = self.ask_in_turn("workspace/executeCommand", |_| parameters.clone(), deadline)?;
            let place = |place: &Value| {
                let number = |name: &str| place[name].as_u64().unwrap_or(1).saturating_sub(1);
                json!({"line": number("line"), "character": number("offset")})
            };
            items.extend(answer["body"].as_array().into_iter().flatten().map(|found| {
                let severity = match found["category"].as_str() {
                    Some("warning") => Severity::Warning,
                    Some("suggestion") => Severity::Hint,
                    _ => Severity::Error,
                };
                json!({
                    "range": {"start": place(&found["start"]), "end": place(&found["end"])},
                    "severity": severity as u8, "code": found["code"], "source": "typescript", "message": found["text"],
                })
            }));
        }
        Ok(Value::Array(items))
    }

    /// What the server has pushed about every file of the project so far, files in order.
    pub fn known_diagnostics(&self) -> Vec<(std::path::PathBuf, Vec<Diagnostic>)> {
        let mut pushed: Vec<(std::path::PathBuf, Value)> = {
            let life = self.inner.lock();
            let all = life.documents.all_diagnostics();
            all.map(|(path, published)| (path.to_path_buf(), published.items()))
                .collect()
        };
        pushed.sort_by(|a, b| a.0.cmp(&b.0));
        let read = |(path, items): (std::path::PathBuf, Value)| {
            let found = self.read_diagnostics(&path, &items);
            (path, found)
        };
        pushed.into_iter().map(read).collect()
    }

    fn wait_running(&self, deadline: Instant) {
        while matches!(self.state(), State::Starting { .. }) && self.process_group().is_none() {
            if Instant::now() >= deadline {
                return;
            }
            let life = self.inner.lock();
            drop(self.inner.wait(life, Duration::from_millis(50)));
        }
    }

    /// Waits for diagnostics of the present text.
    fn pushed(&self, path: &Path, deadline: Instant) -> Result<Value, RequestError> {
        let began = Instant::now();
        let mut life = self.inner.lock();
        loop {
            if let Some(published) = life.documents.diagnostics(path)
                && (published.version.is_some() || is_last_word(published, &life.readiness))
            {
                return Ok(published.items());
            }
            let now = Instant::now();
            if now >= deadline {
                life.given_up = Some(now);
                return Err(RequestError::Timeout {
                    method: "diagnostics".to_string(),
                    patience: began.elapsed(),
                });
            }
            life = self.inner.wait(life, (deadline - now).min(Duration::from_millis(50)));
        }
    }

    fn read_diagnostics(&self, path: &Path, items: &Value) -> Vec<Diagnostic> {
        let mut reader = Reader::new(self);
        let items = items.as_array().into_iter().flatten();
        let mut found: Vec<Diagnostic> = items
            .filter_map(|item| {
                Some(Diagnostic {
                    range: reader.range(path, &item["range"])?,
                    severity: Severity::of(item["severity"].as_u64()),
                    code: match &item["code"] {
                        Value::String(code) => Some(code.clone()),
                        Value::Number(code) => Some(code.to_string()),
                        _ => None,
                    },
                    source: item["source"].as_str().map(str::to_string),
                    message: item["message"].as_str()?.to_string(),
                    raw: item.clone(),
                })
            })
            .collect();
        found.sort_by(|a, b| (a.range, a.severity, &a.message).cmp(&(b.range, b.severity, &b.message)));
        found.dedup_by(|a, b| a.range == b.range && a.message == b.message);
        found
    }
}
