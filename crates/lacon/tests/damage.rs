//! The real binary on an index that is damaged, cut off or removed: a server answers rightly or says so, and the command line names the
//! file and the remedy.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

struct Tree {
    directory: tempfile::TempDir,
}

impl Tree {
    fn new() -> Tree {
        let directory = tempfile::tempdir().unwrap();
        for number in 0..40 {
            let text = format!(
                "from shop{} import pay{}\n\nclass Cart{number}:\n    def total(self):\n        return pay{number}(self)\n\ndef pay{number}(item):\n    return \
                 pay{}(item)\n",
                (number + 1) % 40,
                (number + 1) % 40,
                (number + 1) % 40
            );
            std::fs::write(directory.path().join(format!("shop{number}.py")), text).unwrap();
        }
        let tree = Tree { directory };
        assert!(tree.run(&["index"]).status.success());
        tree
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn index(&self, name: &str) -> PathBuf {
        self.root().join(".lacon").join(name)
    }

    fn run(&self, arguments: &[&str]) -> std::process::Output {
        lacon(self.root())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

fn lacon(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
    command
        .current_dir(root)
        .env_remove("LACON_DIR")
        .env_remove("LACON_OUTPUT_FORMAT");
    command
}

/// A server on its standard input and output.
struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    fn start(root: &Path, arguments: &[&str]) -> Server {
        let mut process = lacon(root)
            .arg("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut server = Server {
            process,
            input,
            output: BufReader::new(output),
            next: 0,
        };
        let client = json!({"name": "test", "version": "1"});
        server.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        );
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(id) {
                return message["result"].clone();
            }
        }
    }

    /// The answer of a tool; `Err` with what was refused.
    fn ask(&mut self, tool: &str, mut arguments: Value) -> Result<Value, String> {
        arguments["format"] = json!("json");
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        match result["isError"] == json!(true) {
            true => Err(text),
            false => Ok(serde_json::from_str(&text).unwrap()),
        }
    }

    /// The names of the callers of a function, once the index is up to date.
    fn callers(&mut self, name: &str) -> Result<Vec<String>, String> {
        let since = Instant::now();
        loop {
            let answer = self.ask("get_callers", json!({"id": name}))?;
            if answer.get("incomplete").is_some_and(|incomplete| !incomplete.is_null()) {
                assert!(since.elapsed() < Duration::from_secs(30), "{answer}");
                std::thread::sleep(Duration::from_millis(50));
                continue;
            }
            let mut ids: Vec<String> = Vec::new();
            collect_ids(&answer, &mut ids);
            ids.sort();
            ids.dedup();
            return Ok(ids);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn collect_ids(value: &Value, ids: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if name == "id" || name == "from" => ids.push(text.clone()),
                    _ => collect_ids(value, ids),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect_ids(value, ids)),
        _ => {}
    }
}

/// What other programs do to a file of the index in place.
fn damages(path: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let whole = std::fs::read(path).unwrap();
    let mut zeros = whole.clone();
    let from = (whole.len() / 4).max(1100).min(whole.len());
    zeros[from..].fill(0);
    vec![
        ("cut to nothing", Vec::new()),
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("zeros", zeros),
    ]
}

#[test]
fn a_server_survives_what_happens_to_its_files_and_mends_them() {
    let tree = Tree::new();
    let mut server = Server::start(tree.root(), &["."]);
    let truth = server.callers("pay7").unwrap();
    assert!(truth.len() >= 2, "{truth:?}");
    for name in ["snapshot", "search"] {
        for (what, bytes) in damages(&tree.index(name)) {
            std::fs::write(tree.index(name), bytes).unwrap();
            for number in [7, 8, 23, 39] {
                let context = format!("{what} {name}, pay{number}");
                let answer = server.callers(&format!("pay{number}"));
                let answer = answer.unwrap_or_else(|refused| panic!("{context}: {refused}"));
                let expected = format!("shop{number}.py::Cart{number}.total");
                assert!(answer.contains(&expected), "{context}: {answer:?}");
            }
            let found = server.ask("search_code", json!({"query": "total of cart 7"}));
            let found = found.unwrap_or_else(|refused| panic!("{what} {name}: {refused}"));
            assert!(found.to_string().contains("Cart7"), "{what} {name}: {found}");
            // The server keeps the index: what is wrong with its files is mended by itself.
            let since = Instant::now();
            while !tree.run(&["status", "--verify"]).status.success()
                || !tree.run(&["callers", "pay7"]).status.success()
            {
                assert!(since.elapsed() < Duration::from_secs(20), "{what} {name} is not mended");
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
    assert_eq!(server.callers("pay7").unwrap(), truth);
}

/// Nobody keeps the index: a wrong answer for ever would be the worst of all.
#[test]
fn without_a_keeper_damage_is_said() {
    let tree = Tree::new();
    let truth = tree.run(&["callers", "pay7", "--json"]);
    assert!(truth.status.success());
    for (what, bytes) in damages(&tree.index("snapshot")) {
        let mut server = Server::start(tree.root(), &[".", "--no-watch"]);
        std::fs::write(tree.index("snapshot"), bytes).unwrap();
        let answered = server.callers("pay7");
        if let Ok(answer) = &answered {
            assert!(
                answer.contains(&"shop7.py::Cart7.total".to_owned()),
                "{what}: {answer:?}"
            );
        }
        let refused = Server::start(tree.root(), &[".", "--no-watch"])
            .callers("pay7")
            .unwrap_err();
        assert!(
            refused.contains("lacon index") && refused.contains("damaged"),
            "{what}: {refused}"
        );
        let output = tree.run(&["callers", "pay7", "--json"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{what}: {said}");
        assert!(
            said.contains("damaged") && said.contains("lacon index"),
            "{what}: {said}"
        );
        let mended = tree.run(&["index"]);
        assert!(mended.status.success());
        assert_eq!(tree.run(&["callers", "pay7", "--json"]).stdout, truth.stdout, "{what}");
    }
}

#[test]
fn a_file_that_is_not_parsed_is_named() {
    let tree = Tree::new();
    std::fs::write(tree.root().join("lacon.toml"), "[index]\nmax_file_size = 60000000\n").unwrap();
    let many: String = (0..700_000).map(|number| format!("def f{number}(): pass\n")).collect();
    std::fs::write(tree.root().join("million.py"), many).unwrap();
    let output = tree.run(&["index"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("not parsed  1") && said.contains("million.py"), "{said}");
    let said = String::from_utf8(tree.run(&["status"]).stdout).unwrap();
    assert!(said.contains("million.py"), "{said}");
}
