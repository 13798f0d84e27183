//! What leaves and what may be done, through the real binary: tools that are not permitted, credentials in code, and what a terminal
//! would obey.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail, in its helpers too"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Shaped like a key, and nobody's.
const AWS: &str = "AKIAQ3EXAMPLEKEYS7ZZ";
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
}

impl Server {
    fn start(root: &Path, flags: &[&str]) -> Server {
        let mut child = lacon(&["mcp"])
            .args(flags)
            .arg(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut server = Server {
            child,
            output,
            requests: 0,
        };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        server.request("initialize", hello);
        server.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
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
