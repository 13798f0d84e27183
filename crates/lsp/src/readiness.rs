//! Whether a server has read its project, from what it says itself. A clock alone never makes a server ready.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::adapters::Signal;

/// How long nothing may have begun after a document's diagnostics before they count: the work that they announce is reported by
/// another thread of the server.
const SETTLED: Duration = Duration::from_millis(400);

/// What a server has said so far.
#[derive(Debug)]
pub(crate) struct Readiness {
    signal: Signal,
    /// The last notification of the kind that counts said yes.
    notified: bool,
    logged: bool,
    /// Work under way that counts: token to words.
    working: BTreeMap<String, String>,
    /// Such work has ended at least once.
    worked: bool,
    diagnosed: Option<Instant>,
    /// The server answered a question about an open document.
    answered: bool,
    /// Why it could not read the project, in its own words.
    trouble: Option<String>,
    /// When a signal last came.
    signalled: Option<Instant>,
}

impl Readiness {
    pub(crate) fn new(signal: Signal) -> Readiness {
        Readiness {
            signal,
            notified: false,
            logged: false,
            working: BTreeMap::new(),
            worked: false,
            diagnosed: None,
            answered: false,
            trouble: None,
            signalled: None,
        }
    }

    /// Hears a notification.
    pub(crate) fn notified(&mut self, method: &str, parameters: &Value) {
        let before = (self.notified, self.logged, self.worked);
        self.hear(method, parameters);
        if before != (self.notified, self.logged, self.worked) {
            self.signalled = Some(Instant::now());
        }
    }

    /// Whether the project had been read at a time, or has been for so long that what was said before still stands.
    pub(crate) fn read_before(&self, time: Instant, long: Duration) -> bool {
        self.signalled
            .is_none_or(|signalled| signalled <= time || signalled.elapsed() >= long)
    }

    fn hear(&mut self, method: &str, parameters: &Value) {
        match method {
            "$/progress" => self.progressed(parameters),
            "window/logMessage" => {
                let text = parameters["message"].as_str().unwrap_or_default();
                self.logged |= self.signal.log.iter().any(|pattern| contains(text, pattern));
            }
            "textDocument/publishDiagnostics" => self.diagnosed = Some(Instant::now()),
            _ => {}
        }
        if self.signal.notification.as_deref() == Some(method) {
            if let (Some(member), Some(trouble)) = (&self.signal.member, &self.signal.trouble)
                && parameters[member.as_str()].as_str() == Some(trouble)
            {
                let message = parameters["message"]
                    .as_str()
                    .unwrap_or("it could not read the project");
                self.trouble = Some(message.lines().next().unwrap_or_default().chars().take(200).collect());
            }
            self.notified = match (&self.signal.member, &self.signal.equals) {
                // One that says something else about another matter takes nothing back.
                (Some(member), Some(Value::String(wanted))) => {
                    self.notified || parameters[member.as_str()].as_str() == Some(wanted)
                }
                (Some(member), Some(wanted)) => &parameters[member.as_str()] == wanted,
                _ => true,
            };
        }
    }

    /// The server answered a question about an open document.
    pub(crate) fn answered(&mut self) {
        self.answered = true;
    }

    fn progressed(&mut self, parameters: &Value) {
        let token = match &parameters["token"] {
            Value::String(token) => token.clone(),
            other => other.to_string(),
        };
        let value = &parameters["value"];
        let words = |name: &str| value[name].as_str().unwrap_or_default();
        match value["kind"].as_str() {
            Some("begin") => {
                let counts = self
                    .signal
                    .progress
                    .iter()
                    .any(|start| token.starts_with(start.as_str()) || words("title").starts_with(start.as_str()));
                if counts || self.signal.is_silent() {
                    self.working.insert(token, words("title").to_string());
                }
            }
            Some("report") => {
                if let Some(known) = self.working.get_mut(&token) {
                    let percent = value["percentage"].as_u64().map(|percent| format!("{percent} %"));
                    let message = [words("message").to_string(), percent.unwrap_or_default()];
                    let message: Vec<String> = message.into_iter().filter(|part| !part.is_empty()).collect();
                    *known = message.join(", ").chars().take(80).collect();
                }
            }
            Some("end") => self.worked |= self.working.remove(&token).is_some(),
            _ => {}
        }
    }

    /// Whether the project has been read.
    pub(crate) fn is_ready(&self) -> bool {
        let signal = &self.signal;
        if !self.working.is_empty() {
            return false;
        }
        if signal.is_silent() {
            return self.answered;
        }
        let settled = signal.diagnostics && self.diagnosed.is_some_and(|at| at.elapsed() >= SETTLED);
        (signal.notification.is_none() || self.notified)
            && (signal.log.is_empty() || self.logged)
            && (signal.progress.is_empty() && !signal.diagnostics || self.worked || settled)
    }

    /// Why it could not read the project, if it said so.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// What it is doing, in words.
    pub(crate) fn doing(&self) -> String {
        match self.working.values().find(|words| !words.is_empty()) {
            Some(words) => format!("reading the project: {words}"),
            None => "reading the project".to_string(),
        }
    }
}

/// Whether a text contains the parts of a pattern one after the other.
fn contains(text: &str, pattern: &str) -> bool {
    let mut rest = Some(text);
    for part in pattern.split('*') {
        rest = rest.and_then(|rest| Some(rest.split_once(part)?.1));
    }
    rest.is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Readiness;
    use crate::adapters::{Signal, known};

    fn of(name: &str) -> Readiness {
        let adapter = known().iter().find(|adapter| adapter.name == name).unwrap();
        Readiness::new(adapter.ready.clone())
    }

    #[test]
    fn rust_analyzer_is_ready_when_it_says_quiescent_and_not_before() {
        let mut readiness = of("rust-analyzer");
        readiness.notified(
            "$/progress",
            &json!({"token": "x", "value": {"kind": "begin", "title": "Fetching"}}),
        );
        readiness.notified("$/progress", &json!({"token": "x", "value": {"kind": "end"}}));
        assert!(!readiness.is_ready(), "progress says nothing about it");
        readiness.notified(
            "experimental/serverStatus",
            &json!({"health": "ok", "quiescent": false}),
        );
        assert!(!readiness.is_ready());
        readiness.notified("experimental/serverStatus", &json!({"health": "ok", "quiescent": true}));
        assert!(readiness.is_ready());
        readiness.notified(
            "experimental/serverStatus",
            &json!({"health": "ok", "quiescent": false}),
        );
        assert!(!readiness.is_ready(), "it is reading again");
    }

    #[test]
    fn basedpyright_is_ready_when_it_has_found_the_files_not_when_it_looks_for_them() {
        for said in ["Found 83 source files", "Found 1 source file", "No source files found."] {
            let mut readiness = of("basedpyright");
            readiness.notified("window/logMessage", &json!({"message": "Searching for source files"}));
            assert!(!readiness.is_ready());
            readiness.notified("window/logMessage", &json!({"message": said}));
            assert!(readiness.is_ready(), "{said}");
        }
    }

    #[test]
    fn gopls_is_ready_when_its_workspace_is_set_up() {
        let mut readiness = of("gopls");
        assert!(!readiness.is_ready());
        let begin =
            json!({"token": "1", "value": {"kind": "begin", "title": "Setting up workspace", "message": "Loading"}});
        readiness.notified("$/progress", &begin);
        assert!(!readiness.is_ready());
        readiness.notified("$/progress", &json!({"token": 2, "value": {"kind": "end"}}));
        assert!(!readiness.is_ready(), "other work");
        readiness.notified("$/progress", &json!({"token": "1", "value": {"kind": "end"}}));
        assert!(readiness.is_ready());
    }

    #[test]
    fn a_silent_server_is_ready_after_its_first_answer() {
        let mut readiness = Readiness::new(Signal::default());
        assert!(!readiness.is_ready());
        readiness.answered();
        assert!(readiness.is_ready());
    }

    #[test]
    fn jdtls_stays_ready_through_other_messages() {
        let mut readiness = of("jdtls");
        readiness.notified("language/status", &json!({"type": "Starting"}));
        assert!(!readiness.is_ready());
        readiness.notified("language/status", &json!({"type": "ServiceReady"}));
        readiness.notified("language/status", &json!({"type": "Message"}));
        assert!(readiness.is_ready() && readiness.trouble().is_none());
        let failed = json!({"type": "Error", "message": "Failed to import projects\nat line 1"});
        readiness.notified("language/status", &failed);
        assert_eq!(readiness.trouble(), Some("Failed to import projects"));
        assert!(readiness.is_ready(), "it answers, of what it has read");
    }
}
