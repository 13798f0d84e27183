//! Whose code is run: what a user says, who asks the user, and what an answer says of it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::fake_language_server::program;

/// A repository with a language server that has no mode without trust.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        let project = Project {
            folder: tempfile::Builder::new().prefix("lacon-").tempdir().unwrap(),
        };
        let root = project.root();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::write(root.join("fake-server.json"), "{}").unwrap();
        std::fs::write(root.join("lib.py"), "def greet(name):\n    return name\n\n\ngreet(1)\n").unwrap();
        // It keeps its log in the tree.
        let config = format!(
            "sandbox = false\n[[server]]\nname = \"fake\"\nlanguages = {{ python = \"python\" }}\ncommands = [[{:?}]]\n\
             ready = {{ notification = \"experimental/serverStatus\", member = \"quiescent\", equals = true }}\n",
            program("faulty_language_server")
        );
        std::fs::write(project.folder.path().join("lsp.toml"), config).unwrap();
        project
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("tree")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn lacon(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
        command
            .args(arguments)
            .current_dir(self.root())
            .env("LACON_LSP_CONFIG", self.folder.path().join("lsp.toml"))
            .env("LACON_STATE_DIR", self.state())
            .env("PATH", "/usr/bin:/bin")
            .env_remove("LACON_TRUST")
            .env_remove("LACON_DIR");
        command
    }

    fn says(&self, arguments: &[&str]) -> String {
        let output = self.lacon(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8(text).unwrap()
    }

    fn tier(&self, arguments: &[&str]) -> String {
        let all = [&["references", "greet", "--wait", "--json"], arguments].concat();
        let output = self.lacon(&all).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        found["tier"].as_str().unwrap().to_string()
    }
}

#[test]
fn a_repository_is_trusted_shown_and_revoked() {
    let project = Project::new();
    project.says(&["index"]);
    assert_eq!(project.tier(&[]), "graph");
    assert!(project.says(&["trust", "--show"]).contains("not trusted"));
    assert_eq!(project.tier(&["--trust"]), "lsp", "for one run");
    assert_eq!(project.tier(&[]), "graph");
    assert!(project.says(&["trust"]).contains(project.root().to_str().unwrap()));
    assert_eq!(project.tier(&[]), "lsp");
    assert!(project.says(&["doctor"]).contains("is trusted"));
    assert!(project.says(&["trust", "--revoke"]).contains("no longer trusted"));
    assert_eq!(project.tier(&[]), "graph");
}

#[test]
fn the_variable_for_a_run_trusts_and_says_no() {
    let project = Project::new();
    project.says(&["index"]);
    for (value, tier) in [("1", "lsp"), ("true", "lsp"), ("0", "graph"), ("", "graph")] {
        let output = project
            .lacon(&["references", "greet", "--wait", "--json"])
            .env("LACON_TRUST", value)
            .output()
            .unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["tier"], tier, "{value}");
    }
    assert!(!project.state().exists(), "nothing is kept");
}

/// A client whose user answers what it is asked.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: i64,
    user_says: &'static str,
    asked: Vec<String>,
}

impl Client {
    fn start(project: &Project, user_says: &'static str) -> Client {
        let mut child = project
            .lacon(&["mcp", "--toolset", "all"])
            .env("LACON_OUTPUT_FORMAT", "json")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut client = Client {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            next: 0,
            user_says,
            asked: Vec::new(),
        };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "t", "version": "1"}});
        client.request("initialize", hello);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let deadline = Instant::now() + Duration::from_secs(30);
        while client.ask("graph_stats", json!({})).get("error").is_some() {
            assert!(Instant::now() < deadline, "the index is not there");
            std::thread::sleep(Duration::from_millis(50));
        }
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }

    fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "lacon ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "elicitation/create" {
                let question = message["params"]["message"].as_str().unwrap().to_string();
                self.asked.push(question);
                let mut answer = json!({"action": self.user_says});
                if self.user_says == "accept" {
                    answer["content"] = json!({});
                }
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}));
            } else if message["id"] == json!(id) && message.get("method").is_none() {
                return message["result"].clone();
            }
        }
    }

    fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {result}"))
    }

    fn references(&mut self) -> Value {
        self.ask("find_references", json!({"symbol": "greet", "wait": "lsp"}))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn names(question: &str, root: &Path) -> bool {
    question.contains(root.to_str().unwrap()) && question.contains("trust")
}

#[test]
fn a_user_who_says_yes_is_asked_once_and_for_good() {
    let project = Project::new();
    let mut client = Client::start(&project, "accept");
    assert_eq!(client.references()["tier"], "lsp");
    assert_eq!(client.references()["tier"], "lsp");
    assert_eq!(client.asked.len(), 1, "{:?}", client.asked);
    assert!(names(&client.asked[0], &project.root()), "{:?}", client.asked);
    drop(client);
    let mut client = Client::start(&project, "decline");
    assert_eq!(client.references()["tier"], "lsp");
    assert!(client.asked.is_empty());
}

#[test]
fn a_user_who_says_no_is_not_asked_again_and_answers_say_why() {
    for says in ["decline", "cancel"] {
        let project = Project::new();
        let mut client = Client::start(&project, says);
        for _ in 0..2 {
            let found = client.references();
            assert_eq!(found["tier"], "graph");
            let note = found["note"].as_str().unwrap();
            assert_eq!(note, "untrusted: fake was not asked; `lacon trust` allows it");
        }
        assert_eq!(client.asked.len(), 1, "{says}");
        // A word given elsewhere counts from the next question on, and taken back from the one after.
        project.says(&["trust"]);
        assert_eq!(client.references()["tier"], "lsp");
        project.says(&["trust", "--revoke"]);
        assert_eq!(client.references()["tier"], "graph");
    }
}

#[test]
fn questions_that_need_no_trust_ask_nobody_and_say_nothing_of_it() {
    let project = Project::new();
    let mut client = Client::start(&project, "accept");
    for (tool, arguments) in [
        ("search_symbols", json!({"query": "greet"})),
        ("get_callers", json!({"id": "greet"})),
        ("search_text", json!({"query": "greet"})),
    ] {
        let found = client.ask(tool, arguments);
        assert!(!found.to_string().contains("trust"), "{tool}: {found}");
    }
    assert!(client.asked.is_empty());
}

/// Files of credentials are hidden or ignored, so that no list of the index names them.
#[test]
fn what_holds_credentials_is_not_read_out() {
    let project = Project::new();
    let root = project.root();
    for name in [".env", ".git/config", "sub/.env.production"] {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), "password = kept-to-oneself\n").unwrap();
    }
    std::fs::write(root.join(".gitignore"), ".env*\n").unwrap();
    std::fs::write(root.join("notes.txt"), "told-to-all\n").unwrap();
    project.says(&["index"]);
    assert!(project.says(&["read", "notes.txt"]).contains("told-to-all"));
    for name in [
        ".env",
        "./.env",
        ".git/config",
        ".GIT/config",
        "sub/.env.production",
        ".env:1-5",
    ] {
        let said = project.says(&["read", name]);
        assert!(
            !said.contains("kept-to-oneself") && said.contains("error"),
            "{name}: {said}"
        );
    }
    let found = project.says(&["grep", "kept-to"]);
    assert!(!found.contains("kept-to-oneself"), "{found}");
}
