//! The questions that a compiler answers best, asked of the real binary: at once and by the graph while the server cannot, by the
//! server when it can, and with a reason whatever the server does.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::fake_language_server::{log, program};
use testkit::tools::path_with_tools;
use wire::tokens::Tokenizer;

/// A running `lacon mcp`.
struct Lacon {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: i64,
}

impl Lacon {
    fn start(root: &Path, config: &Path) -> Lacon {
        Lacon::start_on(&[root], config, path_with_tools())
    }

    fn start_on(roots: &[&Path], config: &Path, path: OsString) -> Lacon {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lacon"))
            .arg("mcp")
            .args(roots)
            .env("LACON_LSP_CONFIG", config)
            .env("LACON_TRUST", "1")
            .env("PATH", path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut lacon = Lacon {
            child,
            input,
            output,
            next: 0,
        };
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        lacon.request("initialize", hello);
        lacon.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let deadline = Instant::now() + Duration::from_secs(60);
        while lacon
            .ask(
                "graph_stats",
                json!({"repo": if roots.len() > 1 { json!(["*"]) } else { Value::Null }}),
            )
            .get("error")
            .is_some()
        {
            assert!(Instant::now() < deadline, "the index is not there");
            std::thread::sleep(Duration::from_millis(50));
        }
        lacon
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "lacon ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message["result"].clone();
            }
        }
    }

    /// The text of an answer.
    fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        result["content"][0]["text"].as_str().unwrap_or_default().to_string()
    }

    /// The answer as JSON.
    fn ask(&mut self, tool: &str, mut arguments: Value) -> Value {
        arguments["format"] = "json".into();
        let text = self.text(tool, arguments);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

impl Drop for Lacon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A project, and a configuration under which Python is read by the faulty server.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new(script: &str) -> Project {
        let folder = tempfile::Builder::new().prefix("lacon-").tempdir().unwrap();
        let project = Project { folder };
        let root = project.root();
        std::fs::create_dir(&root).unwrap();
        project.script(script);
        std::fs::write(root.join("lib.py"), "def greet(name):\n    return name\n").unwrap();
        std::fs::write(
            root.join("app.py"),
            "from lib import greet\n\n\ndef main():\n    greet(1)\n",
        )
        .unwrap();
        let config = format!(
            "hung_seconds = 1\nsandbox = false\n[[server]]\nname = \"fake\"\nlanguages = {{ python = \"python\" }}\ncommands = [[{:?}]]\n\
             memory_mb = 150\n\
             ready = {{ notification = \"experimental/serverStatus\", member = \"quiescent\", equals = true }}\n",
            program("faulty_language_server")
        );
        std::fs::write(project.config(), config).unwrap();
        project
    }

    fn script(&self, script: &str) {
        std::fs::write(self.root().join("fake-server.json"), script).unwrap();
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("tree")
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("lsp.toml")
    }

    fn start(&self) -> Lacon {
        Lacon::start(&self.root(), &self.config())
    }

    /// Processes that the server's log names.
    fn processes(&self) -> Vec<u32> {
        let log = log(&self.root());
        let named = log
            .lines()
            .filter_map(|line| line.strip_prefix("started ").or(line.strip_prefix("child ")));
        named.filter_map(|number| number.parse().ok()).collect()
    }
}

fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn wait_dead(processes: Vec<u32>) {
    let deadline = Instant::now() + Duration::from_secs(10);
    for process in processes {
        while is_alive(process) {
            assert!(Instant::now() < deadline, "process {process} is still there");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_cold_question_is_answered_by_the_graph_at_once() {
    let project = Project::new(r#"{"ready": "never"}"#);
    let mut lacon = project.start();
    let found = lacon.ask("find_references", json!({"symbol": "greet"}));
    assert_eq!(
        (&found["tier"], &found["complete"]),
        (&json!("graph"), &json!(false)),
        "{found}"
    );
    assert_eq!(found["total"], 2, "never none: {found}");
    assert!(found["note"].as_str().unwrap().contains("wait: lsp"), "{found}");
}

#[test]
fn a_ready_server_answers_and_a_symbol_a_place_and_a_snippet_mean_the_same() {
    let project = Project::new("{}");
    let mut lacon = project.start();
    let whole = lacon.ask(
        "find_references",
        json!({"symbol": "greet", "wait": "lsp", "include_declaration": true}),
    );
    assert_eq!(
        (&whole["tier"], &whole["complete"], &whole["total"]),
        (&json!("lsp"), &json!(true), &json!(3)),
        "{whole}"
    );
    for pointer in [
        json!({"symbol": "lib.py:1:5"}),
        json!({"path": "lib.py", "line": 1, "column": 6}),
        json!({"path": "lib.py", "line": 1, "symbol": "greet"}),
        json!({"path": "lib.py", "snippet": "def @@greet"}),
        json!({"path": "lib.py", "symbol": "greet"}),
    ] {
        let mut ask = pointer.clone();
        ask["include_declaration"] = true.into();
        let found = lacon.ask("find_references", ask);
        assert_eq!(found["references"], whole["references"], "{pointer}");
    }
    let wrong = lacon.ask(
        "find_references",
        json!({"path": "lib.py", "snippet": "nothing like it"}),
    );
    assert_eq!(wrong["error"]["code"], "invalid_argument");
}

/// Whatever the server does, the call returns in time with the graph's answer and the reason; and once the server behaves, the
/// answer is the server's again.
#[test]
fn a_faulty_server_is_a_reason_and_comes_back() {
    for (fault, reason) in [
        ("die", "exit status: 3"),
        ("hang", "took longer"),
        ("garbage", "not the language server"),
        ("grow", "MB"),
    ] {
        let project = Project::new(&format!(
            r#"{{"faults": {{"textDocument/references": "{fault}"}}, "child": true}}"#
        ));
        let mut lacon = project.start();
        let began = Instant::now();
        let mut ask = json!({"symbol": "greet", "wait": "lsp", "max_wait_ms": 8000});
        if fault == "hang" {
            ask["max_wait_ms"] = 1500.into();
        }
        let found = lacon.ask("find_references", ask);
        assert!(
            began.elapsed() < Duration::from_secs(12),
            "{fault}: {:?}",
            began.elapsed()
        );
        assert_eq!(
            (&found["tier"], &found["total"]),
            (&json!("graph"), &json!(2)),
            "{fault}: {found}"
        );
        let note = found["note"].as_str().unwrap();
        assert!(note.contains(reason), "{fault}: {note}");
        project.script("{}");
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let found = lacon.ask(
                "find_references",
                json!({"symbol": "greet", "wait": "lsp", "max_wait_ms": 5000}),
            );
            if found["tier"] == "lsp" {
                break;
            }
            assert!(Instant::now() < deadline, "{fault}: {found}");
        }
        let processes = project.processes();
        lacon.child.kill().unwrap();
        lacon.child.wait().unwrap();
        wait_dead(processes);
    }
}

#[test]
fn no_server_outlives_lacon_however_it_ends() {
    for signal in ["KILL", "TERM", "INT"] {
        let project = Project::new(r#"{"child": true}"#);
        let mut lacon = project.start();
        lacon.ask("hover", json!({"symbol": "greet", "wait": "lsp"}));
        let processes = project.processes();
        assert_eq!(processes.len(), 2, "a server and its child");
        let killed = Command::new("kill")
            .args(["-s", signal, &lacon.child.id().to_string()])
            .status();
        assert!(killed.unwrap().success());
        wait_dead(processes);
    }
    let project = Project::new(r#"{"child": true}"#);
    let mut lacon = project.start();
    lacon.ask("hover", json!({"symbol": "greet", "wait": "lsp"}));
    let processes = project.processes();
    // The end of the conversation.
    drop(lacon.input.take());
    wait_dead(processes);
}

/// A real server corrects the graph; what it said is known after a restart, and forgotten when the code changes.
#[test]
fn what_the_compiler_said_is_kept_until_its_inputs_change() {
    let folder = tempfile::Builder::new().prefix("lacon-").tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let config = root.join("lsp.toml");
    std::fs::write(&config, "").unwrap();
    std::fs::write(
        root.join("lib.py"),
        "class Greeter:\n    def greet(self, name: str) -> str:\n        return name\n",
    )
    .unwrap();
    // The graph cannot follow this: the class comes out of a dictionary of strings.
    let app = "import lib\n\n\ndef pick(which: str) -> 'lib.Greeter':\n    return getattr(lib, which)()\n\n\n\
               def main():\n    pick('Greeter').greet('x')\n";
    std::fs::write(root.join("app.py"), app).unwrap();
    let origins = |lacon: &mut Lacon| -> Vec<(String, String)> {
        let found = lacon.ask("find_usages", json!({"id": "Greeter.greet"}));
        let rows = found["usages"].as_array().unwrap().iter();
        rows.map(|row| {
            let text = |name: &str| row[name].as_str().unwrap().to_string();
            (text("from"), text("origin"))
        })
        .collect()
    };
    let mut lacon = Lacon::start(&root, &config);
    let found = lacon.ask("find_references", json!({"symbol": "Greeter.greet", "wait": "lsp"}));
    assert_eq!((&found["tier"], &found["total"]), (&json!("lsp"), &json!(1)), "{found}");
    let confirmed = vec![("app.py::main".to_string(), "lsp_resolved".to_string())];
    assert_eq!(origins(&mut lacon), confirmed);
    drop(lacon);
    let mut lacon = Lacon::start(&root, &config);
    assert_eq!(origins(&mut lacon), confirmed, "after a restart, with no server");
    std::fs::write(root.join("app.py"), app.replace("def main", "def other")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while origins(&mut lacon).iter().any(|(_, origin)| origin == "lsp_resolved") {
        assert!(Instant::now() < deadline, "an edited file keeps no facts");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Asks about every symbol from the command line: edges are confirmed and added, known after a restart, not asked again, and gone
/// when their files change.
#[test]
fn enriching_confirms_and_adds_edges_until_their_files_change() {
    let folder = tempfile::Builder::new().prefix("lacon-").tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(
        root.join("lib.py"),
        "class Base:\n    def greet(self) -> str:\n        return ''\n\n\nclass Child(Base):\n    def greet(self) -> str:\n        return 'x'\n",
    )
    .unwrap();
    // What the standard library gives back, only the compiler knows.
    let app = "import random\nimport lib\n\n\ndef pick(which: str) -> 'lib.Base':\n    return getattr(lib, which)()\n\n\n\
               def main():\n    pick('Child').greet()\n    random.choice([lib.Child()]).greet()\n";
    std::fs::write(root.join("app.py"), app).unwrap();
    let run = |arguments: &[&str]| -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_lacon"))
            .args(arguments)
            .arg(&root)
            .env("PATH", path_with_tools())
            .env("LACON_TRUST", "1")
            .env_remove("LACON_LSP_CONFIG")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    };
    run(&["index"]);
    let edges = |value: &Value, when: &str| -> u64 {
        let rows = value["edges"].as_array().unwrap().iter();
        rows.filter(|row| row["origin"] == "lsp_resolved")
            .map(|row| row[when].as_u64().unwrap())
            .sum()
    };
    let first = run(&["enrich", "--json"]);
    assert_eq!(edges(&first, "before"), 0, "{first}");
    assert!(edges(&first, "edges") > 0, "{first}");
    let row = &first["languages"][0];
    assert!(
        row["asked"].as_u64() > Some(3) && row["confirmed"].as_u64() > Some(0) && row["added"].as_u64() > Some(0),
        "{first}"
    );
    assert_eq!(row["refuted"], 0, "a base is named where the server says: {first}");
    assert!(row["implementers"].as_u64() > Some(0), "{first}");
    let again = run(&["enrich", "--json"]);
    let row = &again["languages"][0];
    assert_eq!((&row["asked"], &row["known"]), (&json!(0), &row["symbols"]), "{again}");
    assert_eq!(
        edges(&again, "before"),
        edges(&first, "edges"),
        "what was said is known after a restart"
    );
    for file in ["app.py", "lib.py"] {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        std::fs::write(root.join(file), format!("{text}\n\nmore = 1\n")).unwrap();
    }
    run(&["index"]);
    let changed = run(&["enrich", "--json", "--seconds", "0"]);
    assert_eq!(
        edges(&changed, "before"),
        0,
        "facts of files that changed do not hold: {changed}"
    );
}

/// With `enrich = true` a server that a question started is asked about the rest, once nobody asks.
#[test]
fn a_quiet_server_is_asked_in_the_background_where_the_user_wants_it() {
    let folder = tempfile::Builder::new().prefix("lacon-").tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let config = root.join("lsp.toml");
    std::fs::write(&config, "enrich = true\n").unwrap();
    std::fs::write(
        root.join("lib.py"),
        "def one():\n    two()\n\n\ndef two():\n    three()\n\n\ndef three():\n    one()\n",
    )
    .unwrap();
    let mut lacon = Lacon::start(&root, &config);
    let kept = || std::fs::read_to_string(root.join(".lacon/compiler.jsonl")).unwrap_or_default();
    lacon.ask("hover", json!({"symbol": "one", "wait": "lsp"}));
    let deadline = Instant::now() + Duration::from_secs(60);
    while kept().lines().count() < 3 {
        assert!(Instant::now() < deadline, "nobody asked: {}", kept());
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Few tokens: at least three tenths less than compact JSON of the same facts on lists, a fifth on mixed answers.
#[test]
fn answers_cost_fewer_tokens_than_compact_json() {
    let folder = tempfile::Builder::new().prefix("lacon-").tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let config = root.join("lsp.toml");
    std::fs::write(&config, "").unwrap();
    let mut library =
        String::from("class Store:\n    def save(self, key: str, value: int) -> bool:\n        return bool(value)\n");
    for number in 0..30 {
        library.push_str(&format!(
            "\n\ndef read_{number}(path: str, limit: int = {number}) -> list[str]:\n    return [path] * limit\n"
        ));
    }
    std::fs::create_dir(root.join("services")).unwrap();
    std::fs::write(root.join("services/storage.py"), library).unwrap();
    for number in 0..12 {
        let text = format!(
            "from services.storage import Store\n\n\ndef handle_{number}(store: Store) -> None:\n    store.save('a', {number})\n    \
             store.save('b', 'wrong')\n    if store.save('c', 3):\n        store.missing()\n"
        );
        std::fs::write(root.join(format!("services/handler_{number}.py")), text).unwrap();
    }
    let broken = "import nowhere\n\n\ndef broken(count: int) -> str:\n    first = missing_one\n    second = missing_two\n    \
                  count.nothing\n    count()\n    for item in count:\n        print(item, third)\n    return count\n";
    std::fs::write(root.join("services/broken.py"), broken).unwrap();
    let mut lacon = Lacon::start(&root, &config);
    lacon.ask("hover", json!({"symbol": "Store.save", "wait": "lsp"}));
    for (tool, arguments, least) in [
        ("list_symbols", json!({"path": "services/storage.py"}), 0.30),
        ("find_references", json!({"symbol": "Store.save"}), 0.30),
        ("get_diagnostics", json!({"path": "services/broken.py"}), 0.20),
        ("explore_symbol", json!({"symbol": "Store.save"}), 0.20),
    ] {
        let json = lacon.ask(tool, arguments.clone());
        assert_eq!(json["tier"], "lsp", "{json}");
        let (own, sent) = (json.to_string(), lacon.text(tool, arguments));
        let count = |text: &str| Tokenizer::O200k.count(text) as f64;
        let saved = 1.0 - count(&sent) / count(&own);
        eprintln!(
            "{tool}: {} tokens; {} as JSON, {:.1} % fewer",
            count(&sent),
            count(&own),
            saved * 100.0
        );
        assert!(saved >= least, "{tool}: {saved:.3}\n{sent}\n{own}");
    }
}

/// Every list comes in pages that add up to the whole, whoever answers.
#[test]
fn pages_of_a_list_add_up_to_the_whole() {
    let project = Project::new("{}");
    let root = project.root();
    let calls = "def first():\n    greet(1)\n\n\ndef second():\n    greet(2)\n\n\ndef third():\n    greet(3)\n";
    std::fs::write(root.join("calls.py"), format!("from lib import greet\n\n\n{calls}")).unwrap();
    std::fs::write(
        root.join("shapes.py"),
        "class Shape:\n    pass\n\n\nclass Round(Shape):\n    pass\n\n\nclass Flat(Shape):\n    pass\n\n\nclass Oval(Round):\n    pass\n",
    )
    .unwrap();
    std::fs::write(project.config(), "off = true\n").unwrap();
    let mut lacon = project.start();
    for (tool, rows, question) in [
        ("find_references", "references", json!({"symbol": "greet"})),
        ("find_callers", "calls", json!({"symbol": "greet"})),
        ("call_hierarchy", "calls", json!({"symbol": "greet", "depth": 2})),
        ("type_hierarchy", "types", json!({"symbol": "Shape"})),
        ("implementation", "places", json!({"symbol": "Shape"})),
        ("find_symbol", "symbols", json!({"query": "ir"})),
        ("list_symbols", "symbols", json!({"path": "calls.py"})),
        (
            "get_completions",
            "completions",
            json!({"path": "calls.py", "line": 1, "column": 1}),
        ),
        ("semantic_tokens", "tokens", json!({"path": "calls.py"})),
    ] {
        let whole = lacon.ask(tool, question.clone());
        let all = whole[rows]
            .as_array()
            .unwrap_or_else(|| panic!("{tool}: {whole}"))
            .clone();
        assert!(all.len() > 1, "{tool} has a second page: {whole}");
        assert_eq!(
            (&whole["truncated"], whole.get("next_cursor")),
            (&json!(false), None),
            "{tool}"
        );
        let (mut paged, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut ask = question.clone();
            ask["limit"] = 1.into();
            ask["cursor"] = cursor.clone();
            let page = lacon.ask(tool, ask);
            assert_eq!(page["total"], whole["total"], "{tool}: {page}");
            paged.extend(
                page[rows]
                    .as_array()
                    .unwrap_or_else(|| panic!("{tool}: {page}"))
                    .clone(),
            );
            assert_eq!(
                page["truncated"] == true,
                page.get("next_cursor").is_some(),
                "{tool}: {page}"
            );
            match page.get("next_cursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
        assert_eq!(paged, all, "{tool}");
        let mut wrong = question.clone();
        wrong["cursor"] = "AAAAAAAAAAA".into();
        assert_eq!(lacon.ask(tool, wrong)["error"]["code"], "invalid_argument", "{tool}");
    }
}

/// A real server leads from one repository into the other; where it cannot be asked, the packages still say it.
#[test]
fn uses_in_another_repository_are_confirmed_by_its_server() {
    let folder = tempfile::Builder::new().prefix("lacon-").tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let write = |path: &str, text: &str| {
        let path = base.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "shoplib/pyproject.toml",
        "[project]\nname = \"shoplib\"\nversion = \"1\"\n",
    );
    write("shoplib/shoplib/__init__.py", "");
    write(
        "shoplib/shoplib/prices.py",
        "def with_tax(net: float) -> float:\n    return net * 1.2\n",
    );
    write(
        "web/pyproject.toml",
        "[project]\nname = \"web\"\nversion = \"1\"\ndependencies = [\"shoplib\"]\n",
    );
    write("web/pyrightconfig.json", "{\"extraPaths\": [\"../shoplib\"]}");
    write(
        "web/cart.py",
        "from shoplib.prices import with_tax\n\n\ndef total(nets):\n    return sum(with_tax(net) for net in nets)\n",
    );
    let config = base.join("lsp.toml");
    write("lsp.toml", "");
    let (library, web) = (base.join("shoplib"), base.join("web"));
    let mut lacon = Lacon::start_on(&[&library, &web], &config, path_with_tools());
    let at_once = lacon.ask("cross_repo", json!({"symbol": "with_tax"}));
    assert_eq!(at_once["tier"], "graph", "{at_once}");
    assert_eq!(at_once["uses"][0]["repo"], "web", "{at_once}");
    let found = lacon.ask("cross_repo", json!({"symbol": "with_tax", "wait": "lsp"}));
    assert_eq!(
        (&found["tier"], &found["server"]),
        (&json!("lsp"), &json!("basedpyright")),
        "{found}"
    );
    let uses = found["uses"].as_array().unwrap();
    assert!(
        uses.iter()
            .all(|row| row["origin"] == "lsp_resolved" && row["path"] == "web/cart.py"),
        "{found}"
    );
    let places: Vec<&str> = uses
        .iter()
        .flat_map(|row| row["at"].as_array().unwrap())
        .filter_map(Value::as_str)
        .collect();
    assert!(places.contains(&"5:16"), "the call: {found}");
}

/// A real server that is killed, stops, prints garbage or grows: the call returns, its answer is never the part that a server has
/// read so far, the server is back, and no process is left behind.
#[test]
fn a_real_server_may_fail_in_every_way() {
    let folder = tempfile::Builder::new().prefix("lacon-").tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let root = base.join("tree");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("lib.py"), "def greet(name):\n    return name\n").unwrap();
    for number in 0..20 {
        std::fs::write(
            root.join(format!("app{number}.py")),
            "from lib import greet\n\ngreet(1)\n",
        )
        .unwrap();
    }
    // In place of the server, a script that starts it, and misbehaves when a file says so.
    let real = std::env::split_paths(&path_with_tools())
        .map(|folder| folder.join("basedpyright-langserver"))
        .find(|program| program.is_file())
        .expect("basedpyright is installed by `cargo xtask test`");
    let bin = base.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let wrapper = bin.join("basedpyright-langserver");
    let script = format!(
        "#!/bin/sh\ncd {0:?}\necho $$ >> processes\n( while kill -0 $$ 2>/dev/null; do\n\
         if [ -e garbage ]; then rm garbage; head -c 2000000 /dev/zero | tr '\\0' x; fi\n\
         if [ -e grow ]; then rm grow; python3 -c 'import time; x = b\"x\" * (900 << 20); time.sleep(60)' & fi\n\
         sleep 0.05; done ) &\ncd {1:?}\nexec {2:?} \"$@\"\n",
        base, root, real
    );
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let config = base.join("lsp.toml");
    std::fs::write(&config, "hung_seconds = 1\nmemory_mb = 800\nsandbox = false\n").unwrap();
    let mut folders = vec![bin];
    folders.extend(std::env::split_paths(&path_with_tools()));
    let mut lacon = Lacon::start_on(&[&root], &config, std::env::join_paths(folders).unwrap());
    let processes = || -> Vec<u32> {
        let listed = std::fs::read_to_string(base.join("processes")).unwrap_or_default();
        listed.lines().filter_map(|line| line.parse().ok()).collect()
    };
    let signal = |name: &str| {
        let group = format!("-{}", processes().last().unwrap());
        let sent = Command::new("kill").args(["-s", name, "--", &group]).status();
        assert!(sent.unwrap().success());
    };
    for fault in ["none", "killed", "stopped", "garbage", "grown"] {
        let before = processes().len();
        match fault {
            "killed" => signal("KILL"),
            "stopped" => signal("STOP"),
            "garbage" => std::fs::write(base.join("garbage"), "").unwrap(),
            "grown" => std::fs::write(base.join("grow"), "").unwrap(),
            _ => {}
        }
        let began = Instant::now();
        // Until another server answers, or the same one in spite of it.
        loop {
            let asked = Instant::now();
            let found = lacon.ask("find_references", json!({"symbol": "greet", "max_wait_ms": 2000}));
            let took = asked.elapsed();
            assert!(took < Duration::from_secs(8), "{fault}: {took:?}");
            assert_eq!(found["total"], 40, "{fault}: never a part: {found}");
            let is_over = match fault {
                // What is printed between two messages is skipped, unless it is very much.
                "garbage" => !base.join("garbage").exists() && began.elapsed() > Duration::from_secs(1),
                _ => processes().len() > before,
            };
            if found["tier"] == "lsp" && is_over {
                break;
            }
            let note = found["note"].as_str().unwrap_or_default();
            let has_reason = note.contains("basedpyright") || note.contains("took longer");
            assert!(found["tier"] == "lsp" || has_reason, "{fault}: {found}");
            assert!(began.elapsed() < Duration::from_secs(60), "{fault}: {found}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    assert!(processes().len() >= 4, "three faults ended a server: {:?}", processes());
    lacon.child.kill().unwrap();
    lacon.child.wait().unwrap();
    wait_dead(processes());
}
