//! The official conformance suite and the official inspector against the real binary, in both protocol eras.
//!
//! Much of the suite drives a reference server by the names of its test tools, prompts and resources. What needs those says so in
//! [`NOT_APPLICABLE`], with the reason; everything else must pass, and whatever begins to pass must leave the table.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

const FIXTURE: &str = "asks for a tool, prompt or resource of the suite's own reference server";
const NO_LOGGING: &str = "Lacon does not offer logging over the protocol";
const NO_SUBSCRIPTIONS: &str = "Lacon does not offer subscriptions to resources";
const NO_INPUT: &str = "no tool of Lacon's asks the client for input";
const NO_TASKS: &str = "an extension: no tool of Lacon's runs as a task";
const NO_HEADERS: &str = "no tool of Lacon's takes arguments from headers";

/// Scenarios, or single checks of a scenario, that ask for what Lacon does not offer. A prefix ends in `*`.
const NOT_APPLICABLE: &[(&str, &str)] = &[
    ("logging-set-level", NO_LOGGING),
    ("tools-call-with-logging", NO_LOGGING),
    ("server-stateless/sep-2575-server-no-log-without-loglevel", NO_LOGGING),
    ("tools-call-simple-text", FIXTURE),
    ("tools-call-image", FIXTURE),
    ("tools-call-audio", FIXTURE),
    ("tools-call-embedded-resource", FIXTURE),
    ("tools-call-mixed-content", FIXTURE),
    ("tools-call-error", FIXTURE),
    ("tools-call-with-progress", FIXTURE),
    ("json-schema-2020-12", FIXTURE),
    ("resources-read-*", FIXTURE),
    ("resources-templates-read", FIXTURE),
    ("prompts-get-*", FIXTURE),
    ("resources-subscribe", NO_SUBSCRIPTIONS),
    ("resources-unsubscribe", NO_SUBSCRIPTIONS),
    ("tools-call-sampling", NO_INPUT),
    ("tools-call-elicitation", NO_INPUT),
    ("elicitation-sep1034-defaults", NO_INPUT),
    ("elicitation-sep1330-enums", NO_INPUT),
    ("input-required-result-*", NO_INPUT),
    (
        "server-stateless/sep-2575-server-rejects-undeclared-capability",
        NO_INPUT,
    ),
    ("server-stateless/sep-2575-missing-capability-http-400", NO_INPUT),
    (
        "server-stateless/sep-2575-http-server-no-independent-requests-on-stream",
        NO_INPUT,
    ),
    ("tasks-*", NO_TASKS),
    ("http-custom-header-server-validation", NO_HEADERS),
];

/// Scenarios that must be among those that pass, so that a suite that skips everything does not.
const MUST_PASS: &[(&str, &[&str])] = &[
    (
        "2025-11-25",
        &[
            "server-initialize",
            "server-session-lifecycle",
            "ping",
            "completion-complete",
            "tools-list",
            "resources-list",
            "prompts-list",
            "server-sse-multiple-streams",
            "server-sse-polling",
            "dns-rebinding-protection",
        ],
    ),
    (
        "2026-07-28",
        &[
            "server-stateless",
            "completion-complete",
            "tools-list",
            "resources-list",
            "prompts-list",
            "sep-2164-resource-not-found",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
            "caching",
            "http-header-validation",
        ],
    ),
];

/// A tool of `.tools`, which `cargo xtask prepare` fills.
fn tool(name: &str) -> Command {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/node_modules/.bin");
    let path = tools.join(name);
    assert!(path.exists(), "no `{}`: run `cargo xtask prepare`", path.display());
    // The suite needs a newer Node than Debian's, which lies beside it.
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let search = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&inherited))).unwrap();
    let mut command = Command::new(path);
    command.env("PATH", search).stdin(Stdio::null());
    command
}

fn tree() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    std::fs::write(tree.path().join("a.py"), "def f():\n    pass\n\n\ndef g():\n    f()\n").unwrap();
    tree
}

struct Server {
    process: Child,
    url: String,
    _tree: tempfile::TempDir,
}

impl Server {
    fn start() -> Server {
        let tree = tree();
        let mut process = Command::new(env!("CARGO_BIN_EXE_lacon"))
            .args(["mcp", "--http", "127.0.0.1:0", "--no-token"])
            .arg(tree.path())
            .env_remove("LACON_HTTP_TOKEN")
            .env_remove("LACON_OUTPUT_FORMAT")
            .env_remove("LACON_DIR")
            .env("NO_COLOR", "1")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let url = line[line.find("http://").unwrap()..].trim().to_string();
        std::thread::spawn(move || lines.for_each(drop));
        Server {
            process,
            url,
            _tree: tree,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The failed checks of every scenario that the suite ran.
fn results(directory: &Path) -> BTreeMap<String, Vec<(String, String)>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // `server-<scenario>-2026-07-28T01-02-03-456Z`: cut by length, since `-20` may stand in a name and in the milliseconds.
        let scenario = name.strip_prefix("server-").unwrap();
        let (scenario, time) = scenario.split_at(scenario.len() - "-2026-07-28T01-02-03-456Z".len());
        assert!(
            time.starts_with("-20") && time.ends_with('Z'),
            "what the suite wrote: {name}"
        );
        let checks: Value = serde_json::from_slice(&std::fs::read(path.join("checks.json")).unwrap()).unwrap();
        let failed = checks
            .as_array()
            .unwrap()
            .iter()
            .filter(|check| check["status"] == "FAILURE");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let failed = failed.map(|check| (text(&check["id"]), text(&check["errorMessage"])));
        found.insert(scenario.to_string(), failed.collect());
    }
    found
}

fn is_excused(scenario: &str, check: &str) -> bool {
    NOT_APPLICABLE.iter().any(|(name, _)| match name.strip_suffix('*') {
        Some(prefix) => scenario.starts_with(prefix),
        None => *name == scenario || *name == format!("{scenario}/{check}"),
    })
}

#[test]
fn every_applicable_scenario_passes_in_both_eras() {
    let mut problems = Vec::new();
    let mut excused = Vec::new();
    for (era, must_pass) in MUST_PASS {
        let server = Server::start();
        let output = tempfile::tempdir().unwrap();
        let ran = tool("conformance")
            .args([
                "server",
                "--url",
                &server.url,
                "--requirements",
                era,
                "--timeout",
                "20000",
                "-o",
            ])
            .arg(output.path())
            .output()
            .unwrap();
        let results = results(output.path());
        assert!(
            results.len() > 20,
            "{era}: the suite ran {} scenarios\n{}",
            results.len(),
            String::from_utf8_lossy(&ran.stderr)
        );
        for name in *must_pass {
            if !results.contains_key(*name) {
                problems.push(format!("{era} {name}: was not run"));
            }
        }
        for (scenario, failed) in results {
            for (check, message) in failed {
                match is_excused(&scenario, &check) {
                    true => excused.push(format!("{scenario}/{check}")),
                    false => problems.push(format!("{era} {scenario}/{check}: {message}")),
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    for (name, reason) in NOT_APPLICABLE {
        let prefix = name.trim_end_matches('*');
        assert!(
            excused.iter().any(|excused| excused.starts_with(prefix)),
            "`{name}` is said not to apply ({reason}), and passes"
        );
    }
}

#[test]
fn the_inspector_reads_everything_over_both_transports() {
    let server = Server::start();
    let tree = tree();
    let home = tempfile::tempdir().unwrap();
    let stdio = [env!("CARGO_BIN_EXE_lacon"), "mcp", tree.path().to_str().unwrap()];
    let http = [server.url.as_str()];
    for target in [&stdio[..], &http[..]] {
        for (method, expected) in [
            (&["tools/list", "--strict"][..], "\"uses\""),
            (&["resources/list"], "lacon://outline"),
            (&["resources/templates/list"], "lacon://symbol/{+id}"),
            (&["resources/read", "--uri", "lacon://symbol/a.py::f"], "def f():"),
            (
                &["resources/read", "--uri", "lacon://tool_definitions"],
                "get_callers\\tworkspace",
            ),
            (&["prompts/list"], "before_change"),
            (
                &["prompts/get", "--prompt-name", "impact", "--prompt-args", "symbol=f"],
                "everything that needs the symbol",
            ),
            (
                &["tools/call", "--tool-name", "uses", "--tool-arg", "symbol=f"],
                "account: ",
            ),
        ] {
            let ran = tool("mcp-inspector")
                .arg("--cli")
                .args(target)
                .arg("--method")
                .args(method)
                .env("HOME", home.path())
                .env_remove("LACON_OUTPUT_FORMAT")
                .env_remove("LACON_DIR")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&ran.stdout);
            assert!(
                ran.status.success() && said.contains(expected),
                "{target:?} {method:?}: {said}{}",
                String::from_utf8_lossy(&ran.stderr)
            );
        }
    }
}
