//! What leaves and what may be done, through the real binary: tools that are not permitted, credentials in code, what a terminal
//! would obey, which project is answered about, and that answers are of the tree as it is.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail, in its helpers too"
)]

#[path = "web/mod.rs"]
mod web;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Shaped like a key, and nobody's.
const AWS: &str = "AKIAQ3RZ7WN2TKVB5HXC";
const GITHUB: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
const PASSWORD: &str = "h8fKq2xP";
const KEY_LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

fn settings() -> String {
    format!(
        "AWS_KEY = \"{AWS}\"\nDSN = \"postgres://app:{PASSWORD}@db/x\"\n\n\ndef settings(user, password):\n    \
         \"\"\"Reads the settings.\"\"\"\n    token = \"{GITHUB}\"\n    url = f\"postgres://{{user}}:{{password}}@db/x\"\n    \
         return token, url\n\n\nPEM = \"\"\"-----BEGIN PRIVATE KEY-----\n{KEY_LINE}\nAb3=\n-----END PRIVATE KEY-----\"\"\"\n"
    )
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        std::fs::write(directory.path().join(path), text).unwrap();
    }
    let indexed = lacon(&["index"]).arg(directory.path()).output().unwrap();
    assert!(indexed.status.success(), "{}", String::from_utf8_lossy(&indexed.stderr));
    directory
}

fn lacon(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
    command.args(arguments).env("NO_COLOR", "1");
    for name in [
        "LACON_OUTPUT_FORMAT",
        "LACON_DIR",
        "LACON_SHOW_SECRETS",
        "LACON_READ_ONLY",
        "LACON_ALLOW_TOOLS",
        "LACON_DENY_TOOLS",
    ] {
        command.env_remove(name);
    }
    command
}

/// `lacon mcp` on a tree.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    requests: u64,
    roots: Vec<Value>,
}

const PATIENCE: Duration = Duration::from_secs(30);

impl Server {
    fn start(root: &Path, flags: &[&str]) -> Server {
        let mut command = lacon(&["mcp"]);
        command.args(flags).arg(root);
        Server::of(command, None)
    }

    /// A server that nobody tells its project, of a client that says its roots or has none.
    fn start_in(folder: &Path, home: &Path, roots: Option<&[&Path]>) -> Server {
        let mut command = lacon(&["mcp"]);
        command.current_dir(folder).env("HOME", home);
        Server::of(command, roots)
    }

    fn of(mut command: Command, roots: Option<&[&Path]>) -> Server {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let addresses = |roots: &[&Path]| -> Vec<Value> {
            let addresses = roots.iter().map(|root| format!("file://{}", root.display()));
            addresses.map(|uri| json!({"uri": uri})).collect()
        };
        let mut server = Server {
            child,
            output,
            requests: 0,
            roots: roots.map(addresses).unwrap_or_default(),
        };
        let capabilities = match roots {
            Some(_) => json!({"roots": {"listChanged": true}}),
            None => json!({}),
        };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"}});
        server.request("initialize", hello);
        server.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    /// The text of an answer, asked for until there is an index.
    fn text(&mut self, tool: &str, arguments: Value) -> String {
        let limit = Instant::now() + PATIENCE;
        loop {
            let answer = self.call(tool, arguments.clone());
            let parts = answer["result"]["content"].as_array().cloned().unwrap_or_default();
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            let text = texts.join("\n");
            if !["index_building", "incomplete"].iter().any(|word| text.contains(word)) {
                return text;
            }
            assert!(Instant::now() < limit, "{text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn send(&mut self, message: Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "roots/list" {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": self.roots}});
                self.send(answer);
                continue;
            }
            if message["id"] == id {
                return message;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    fn listed(&mut self) -> Vec<String> {
        let listed = self.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_string()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

const WRITES: [&str; 8] = [
    "apply_edit",
    "replace_symbol_body",
    "insert_before_symbol",
    "insert_after_symbol",
    "safe_delete_symbol",
    "rename_symbol",
    "format_document",
    "commit_session",
];

#[test]
fn what_is_not_permitted_is_unknown() {
    let root = tree(&[("a.py", "def f():\n    pass\n")]);
    // Not asked for, and refused though asked for.
    for flags in [
        &[][..],
        &["--toolset", "all", "--read-only"],
        &["--toolset", "core,edit", "--read-only"],
    ] {
        let mut server = Server::start(root.path(), flags);
        let listed = server.listed();
        for tool in WRITES {
            assert!(!listed.contains(&tool.to_string()), "{tool} {flags:?}");
            let answer = server.call(tool, json!({"path": "a.py", "old_text": "pass", "new_text": "return"}));
            let message = answer["error"]["message"]
                .as_str()
                .unwrap_or_else(|| panic!("{answer}"));
            assert!(message.starts_with(&format!("no tool `{tool}`")), "{message}");
            assert!(!message["no tool ``".len() + tool.len()..].contains(tool), "{message}");
        }
        let shown = server.call(
            "preview_edit",
            json!({"path": "a.py", "old_text": "pass", "new_text": "return"}),
        );
        assert!(
            shown.get("result").is_some(),
            "what writes nothing is answered: {shown}"
        );
    }
    let mut some = Server::start(
        root.path(),
        &[
            "--allow-tool",
            "search_text,get_symbol_source",
            "--deny-tool",
            "search_text",
        ],
    );
    assert_eq!(some.listed(), ["get_symbol_source"]);
    assert!(some.call("search_text", json!({"query": "f"}))["error"].is_object());
    assert!(some.call("get_callers", json!({"id": "f"}))["error"].is_object());
    // Addresses and prompts are questions, too.
    let read = |server: &mut Server, uri: &str| server.request("resources/read", json!({"uri": uri}));
    assert!(read(&mut some, "lacon://symbol/f")["result"].is_object());
    assert!(read(&mut some, "lacon://file/a.py")["error"].is_object());
    assert!(some.request("prompts/get", json!({"name": "orient"}))["error"].is_object());
    let definitions = read(&mut some, "lacon://tool_definitions").to_string();
    assert!(
        definitions.contains("get_symbol_source") && !definitions.contains("get_callers"),
        "{definitions}"
    );
    let several = Server::start(root.path(), &["--toolset", "search,edit"]).listed();
    assert!(several.contains(&"search_docs".to_string()) && several.contains(&"apply_edit".to_string()));

    let misspelt = lacon(&["mcp", "--deny-tool", "aply_edit"])
        .arg(root.path())
        .output()
        .unwrap();
    assert_eq!(misspelt.status.code(), Some(3));
    let refused = String::from_utf8_lossy(&misspelt.stderr).into_owned();
    assert!(refused.contains("no tool `aply_edit`"), "{refused}");
}

#[test]
fn no_credential_leaves_in_any_format() {
    let root = tree(&[("settings.py", &settings())]);
    let mut server = Server::start(root.path(), &[]);
    let questions = [
        ("search_text", json!({"query": "AKIA"})),
        ("search_text", json!({"query": "postgres"})),
        ("search_code", json!({"query": "reads the settings"})),
        ("get_symbol_source", json!({"id": "settings"})),
        ("get_symbol_source", json!({"id": "AWS_KEY"})),
        (
            "get_code_context",
            json!({"file_path": "settings.py", "start_line": 1, "end_line": 15}),
        ),
        ("context_for_task", json!({"task": "read the settings and the token"})),
        ("explain_symbol", json!({"id": "settings"})),
        ("get_file_summary", json!({"path": "settings.py"})),
    ];
    let mut masks = 0;
    for (tool, arguments) in &questions {
        for format in ["json", "gcx", "gcf", "markdown", "auto"] {
            let mut arguments = arguments.clone();
            arguments["format"] = format.into();
            let answer = server.call(tool, arguments).to_string();
            assert!(!answer.contains("isError\":true"), "{tool} {format}: {answer}");
            for secret in [AWS, GITHUB, PASSWORD, KEY_LINE] {
                assert!(!answer.contains(secret), "{tool} {format}: {answer}");
            }
            masks += usize::from(answer.contains("[redacted: "));
        }
    }
    assert!(masks >= 30, "most of the answers show where a credential is: {masks}");
    let resource = server
        .request("resources/read", json!({"uri": "lacon://symbol/settings"}))
        .to_string();
    assert!(
        resource.contains("[redacted: github token]") && !resource.contains(GITHUB),
        "{resource}"
    );
    assert!(
        resource.contains("{user}:{password}@db"),
        "a template is no password: {resource}"
    );
    for verb in [
        &["grep", "AKIA"][..],
        &["source", "settings"],
        &["grep", "AKIA", "--json"],
        &["search", "settings token"],
    ] {
        let said = |more: &[&str]| {
            let output = lacon(verb)
                .args(["--root"])
                .arg(root.path())
                .args(more)
                .output()
                .unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let (masked, shown) = (said(&[]), said(&["--show-secrets"]));
        assert!(masked.contains("[redacted: "), "{verb:?}: {masked}");
        assert!(!masked.contains(AWS) && !masked.contains(GITHUB), "{verb:?}: {masked}");
        assert!(shown.contains(AWS) || shown.contains(GITHUB), "{verb:?}: {shown}");
    }
}

#[test]
fn a_mask_is_never_written() {
    let root = tree(&[("settings.py", &settings())]);
    let file = root.path().join("settings.py");
    let mut server = Server::start(root.path(), &["--toolset", "edit"]);
    let masked = "AWS_KEY = \"[redacted: aws key]\"";
    let edit =
        |old: &str, new: &str| json!({"path": "settings.py", "old_text": old, "new_text": new, "format": "json"});
    let session = server.call("create_session", json!({"format": "json"}));
    let session: Value = serde_json::from_str(session["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    let mut tried = edit("AWS_KEY = ", masked);
    tried["session"] = session["session"].clone();
    for (tool, arguments) in [
        ("apply_edit", edit(masked, "AWS_KEY = \"\"")),
        ("apply_edit", edit("AWS_KEY", masked)),
        ("simulate_edit", tried),
        (
            "replace_symbol_body",
            json!({"id": "settings", "new_text": "def settings():\n    return \"[redacted: github token]\"\n"}),
        ),
    ] {
        let refused = server.call(tool, arguments).to_string();
        assert!(
            refused.contains("masked_text") && refused.contains("--show-secrets"),
            "{tool}: {refused}"
        );
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), settings());
    // Around it, edits are as ever, and what they show is masked, too.
    let done = server.call("apply_edit", edit("AWS_KEY = ", "AWS_ID = ")).to_string();
    assert!(!done.contains("isError\":true") && !done.contains(AWS), "{done}");
    assert!(
        std::fs::read_to_string(&file)
            .unwrap()
            .contains(&format!("AWS_ID = \"{AWS}\""))
    );
}

/// What a verb writes to a terminal.
#[cfg(target_os = "linux")]
fn on_a_terminal(root: &Path, verb: &[&str]) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = std::fs::OpenOptions::new().read(true).write(true).open(name).unwrap();
    let mut child = lacon(verb)
        .arg("--root")
        .arg(root)
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .stdout(theirs)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let reader = std::thread::spawn(move || {
        let mut seen = Vec::new();
        // The terminal is gone with its last writer, which reads as an error.
        let _ = std::fs::File::from(ours).read_to_end(&mut seen);
        String::from_utf8_lossy(&seen).into_owned()
    });
    assert!(child.wait().unwrap().success());
    drop(child);
    reader.join().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_is_not_commanded_by_text() {
    let text = "# IGNORE \u{1b}]52;c;cm0gLXJm\u{7} \u{1b}[8mhidden \u{9b}2J \u{202e}gnihtyna\ndef f():\n    return \"\u{1b}[2J\"\n";
    let root = tree(&[("a.py", text), ("gpj.\u{202e}yp.py", "def IGNORE_too():\n    pass\n")]);
    for verb in [
        &["grep", "IGNORE"][..],
        &["source", "f"],
        &["search", "IGNORE"],
        &["grep", "IGNORE", "--json"],
        &["grep", "IGNORE", "--format", "gcf"],
    ] {
        let seen = on_a_terminal(root.path(), verb);
        let obeyed = |seen: &str| -> Vec<String> {
            let codes = seen.split('\u{1b}').skip(1);
            codes.map(|rest| rest.chars().take(4).collect()).collect()
        };
        let ours = ["[0m", "[1m", "[2m", "[32m", "[33m", "[35m"];
        for code in obeyed(&seen) {
            assert!(
                ours.iter().any(|own| code.starts_with(own)),
                "{verb:?}: {code:?} in {seen:?}"
            );
        }
        assert!(!seen.contains(['\u{7}', '\u{9b}', '\u{202e}']), "{verb:?}: {seen:?}");
    }
    let piped = |verb: &[&str]| {
        let output = lacon(verb).arg("--root").arg(root.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(
        piped(&["grep", "IGNORE"]).contains("\u{1b}]52;"),
        "a program gets text as it is"
    );
    for verb in [
        &["grep", "IGNORE_too"][..],
        &["grep", "IGNORE_too", "--format", "gcx"],
        &["symbols", "IGNORE_too", "--json"],
    ] {
        let said = piped(verb);
        let name = said.contains("gpj.\\xe2\\x80\\xaeyp.py") || said.contains("gpj.\\\\xe2\\\\x80\\\\xaeyp.py");
        assert!(name && !said.contains('\u{202e}'), "a name shows its marks: {said}");
    }
}

const LIB: &str = "def load():\n    pass\n";

fn callers_of_load(folder: &Path) -> String {
    let asked = lacon(&["callers", "load"]).current_dir(folder).output().unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    String::from_utf8_lossy(&asked.stdout).into_owned()
}

#[test]
fn the_command_line_answers_from_the_tree_as_it_is() {
    let root = tree(&[
        ("lib.py", LIB),
        ("a.py", "from lib import load\n\ndef one():\n    load()\n"),
    ]);
    let deep = root.path().join("deep/er");
    std::fs::create_dir_all(&deep).unwrap();
    assert!(callers_of_load(&deep).contains("one"), "the index above is found");
    let write = |name: &str, caller: &str| {
        let text = format!("from lib import load\n\ndef {caller}():\n    load()\n");
        std::fs::write(root.path().join(name), text).unwrap();
    };
    write("a.py", "renamed");
    write("deep/b.py", "two");
    let said = callers_of_load(root.path());
    assert!(
        said.contains("renamed") && said.contains("two") && !said.contains("one"),
        "{said}"
    );
    std::fs::remove_file(root.path().join("a.py")).unwrap();
    let said = callers_of_load(root.path());
    assert!(!said.contains("renamed") && said.contains("two"), "{said}");
    // While another process keeps the index, that one is asked.
    let mut server = Server::start(root.path(), &[]);
    server.text("get_callers", json!({"symbol": "load"}));
    for number in 0..5 {
        write("deep/b.py", &format!("by_{number}"));
        let said = callers_of_load(root.path());
        assert!(
            said.contains(&format!("by_{number}")) && !said.contains("incomplete"),
            "{said}"
        );
    }
}

#[test]
fn a_server_answers_from_the_tree_as_it_is() {
    let root = tree(&[("lib.py", LIB)]);
    let mut server = Server::start(root.path(), &[]);
    server.text("get_callers", json!({"symbol": "load"}));
    for number in 0..30 {
        let name = format!("user_{}.py", number % 7);
        let text = format!("from lib import load\n\ndef by_{number}():\n    load()\n");
        std::fs::write(root.path().join(&name), text).unwrap();
        // At once, and no second try.
        let answer = server.call("uses", json!({"symbol": "load"})).to_string();
        assert!(answer.contains(&format!("by_{number}")), "{number}: {answer}");
        assert!(!answer.contains("incomplete"), "{answer}");
        if number >= 7 {
            assert!(!answer.contains(&format!("by_{}:", number - 7)), "{answer}");
        }
    }
    std::fs::write(root.path().join("lib.py"), "def store():\n    pass\n").unwrap();
    let answer = server.call("uses", json!({"symbol": "load"})).to_string();
    assert!(answer.contains("no_such_symbol"), "{answer}");
}

/// A home with two repositories and a folder that is none.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, symbol) in [("src/shop", "sell"), ("src/web", "serve")] {
        let repository = home.path().join(name);
        std::fs::create_dir_all(repository.join("lib")).unwrap();
        let made = Command::new("git")
            .args(["init", "-q"])
            .arg(&repository)
            .status()
            .unwrap();
        assert!(made.success());
        std::fs::write(repository.join("lib/code.py"), format!("def {symbol}():\n    pass\n")).unwrap();
    }
    home
}

fn is_written(folder: &Path) -> bool {
    folder.join(".lacon").exists()
}

#[test]
fn no_home_and_no_folder_of_many_is_indexed_unless_it_is_named() {
    let home = home();
    let src = home.path().join("src");
    for (folder, why) in [
        (home.path(), "is a home folder"),
        (Path::new("/"), "is a folder of the system"),
        (src.as_path(), "holds several repositories"),
    ] {
        let asked = lacon(&["index"])
            .current_dir(folder)
            .env("HOME", home.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&asked.stderr).into_owned();
        assert_eq!(asked.status.code(), Some(3), "{said}");
        assert!(said.contains(why) && said.contains("hint"), "{said}");
        let mut server = Server::start_in(folder, home.path(), None);
        let answer = server.call("uses", json!({"symbol": "sell"})).to_string();
        assert!(answer.contains("no_project") && answer.contains(why), "{answer}");
        assert!(!is_written(folder) && !is_written(home.path()));
        // A path in the call says which.
        let shop = src.join("shop");
        let named = server.text("uses", json!({"symbol": "sell", "root": shop.join("lib")}));
        assert!(named.contains("lib/code.py"), "{named}");
        assert!(is_written(&shop) && !is_written(&shop.join("lib")));
        std::fs::remove_dir_all(shop.join(".lacon")).unwrap();
    }
}

#[test]
fn the_roots_of_a_client_are_used_and_followed() {
    let home = home();
    let (shop, web) = (home.path().join("src/shop"), home.path().join("src/web"));
    let lib = shop.join("lib");
    let mut server = Server::start_in(home.path(), home.path(), Some(&[&lib]));
    assert!(server.text("uses", json!({"symbol": "sell"})).contains("lib/code.py"));
    assert!(is_written(&shop) && !is_written(home.path()) && !is_written(&web));
    server.roots = vec![json!({"uri": format!("file://{}", web.display())})];
    server.send(json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    let limit = Instant::now() + PATIENCE;
    while !server.text("uses", json!({"symbol": "serve"})).contains("lib/code.py") {
        assert!(Instant::now() < limit);
        std::thread::sleep(Duration::from_millis(20));
    }
    // Where both are open, both are answered about.
    drop(server);
    let mut both = Server::start_in(home.path(), home.path(), Some(&[&shop, &web]));
    assert!(
        both.text("uses", json!({"symbol": "serve"}))
            .contains("web/lib/code.py")
    );
    // Only the home is open.
    let mut none = Server::start_in(&shop, home.path(), Some(&[home.path()]));
    let answer = none.call("uses", json!({"symbol": "sell"})).to_string();
    assert!(answer.contains("no_project"), "{answer}");
    assert!(!is_written(home.path()));
}

#[test]
fn an_empty_tree_says_that_it_is() {
    let root = tree(&[]);
    let mut server = Server::start(root.path(), &[]);
    let answer = server.text("uses", json!({"symbol": "anything"}));
    assert!(
        answer.contains("has no file in a language that Lacon reads"),
        "{answer}"
    );
}

#[test]
fn five_tools_are_listed_and_several_symbols_are_answered() {
    let root = tree(&[("lib.py", "def load():\n    pass\n\n\ndef store():\n    load()\n")]);
    let mut server = Server::start(root.path(), &[]);
    let listed = server.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in listed.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(["find", "read", "uses", "trace", "change"].contains(&name), "{name}");
        assert!(
            tool["title"].is_string() && tool["_meta"]["scope"].is_string(),
            "{tool}"
        );
        assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true);
    }
    let tokens = wire::tokens::Tokenizer::O200k.count(&listed.to_string());
    assert!(tokens <= 200 * listed.as_array().unwrap().len(), "{tokens}");
    let both = server.text("uses", json!({"symbol": ["load", "store"], "limit": "5"}));
    assert!(both.contains("load") && both.contains("`store` stands"), "{both}");
    let all = Server::start(root.path(), &["--toolset", "all"]).request("tools/list", json!({}));
    let tokens = wire::tokens::Tokenizer::O200k.count(&all["result"]["tools"].to_string());
    assert!(tokens <= 9_000, "{tokens}");
}
