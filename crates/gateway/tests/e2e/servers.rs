//! The reference servers, installed from npm and PyPI, behind the gateway.

use std::path::Path;
use std::time::Duration;

use gateway::config::{GatewayConfig, UpstreamConfig};
use gateway::runtime::{Gateway, Options};
use serde_json::{Value, json};

use crate::harness::*;

fn program(command: String, arguments: &[&str]) -> UpstreamConfig {
    let args = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    UpstreamConfig {
        command: Some(command),
        args,
        connect_timeout_seconds: 30.0,
        ..UpstreamConfig::default()
    }
}

fn npm(name: &str, arguments: &[&str]) -> UpstreamConfig {
    program(tool(&format!("node_modules/.bin/mcp-server-{name}")), arguments)
}

fn pypi(name: &str, arguments: &[&str]) -> UpstreamConfig {
    program(tool(&format!("python/bin/mcp-server-{name}")), arguments)
}

fn git(directory: &Path, arguments: &[&str]) {
    let done = std::process::Command::new("git")
        .current_dir(directory)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(arguments)
        .output()
        .expect("git runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[tokio::test]
async fn five_reference_servers_behind_one_gateway() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let shown = root.display().to_string();
    std::fs::write(root.join("notes.txt"), "one line\n").unwrap();
    git(&root, &["init", "-q"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "first commit"]);
    let mut memory = npm("memory", &[]);
    memory.env.insert(
        "MEMORY_FILE_PATH".into(),
        root.join("memory.jsonl").display().to_string(),
    );
    let upstreams = vec![
        ("files", npm("filesystem", &[&shown])),
        ("everything", npm("everything", &["stdio"])),
        ("memory", memory),
        ("git", pypi("git", &["--repository", &shown])),
        ("time", pypi("time", &["--local-timezone", "Europe/Berlin"])),
    ];
    let setup = Setup::new(config(upstreams)).await;
    for status in setup.gateway.status() {
        assert_eq!(status.health.status, gateway::Status::Ready, "{status:?}");
        assert!(status.tools >= 2, "{status:?}");
    }

    let read = setup
        .run("read_text_file", json!({"path": root.join("notes.txt")}))
        .await;
    assert_eq!(text(&read).trim(), "one line");
    let outside = setup.run("read_text_file", json!({"path": "/etc/passwd"})).await;
    assert_eq!(outside.is_error, Some(true));

    assert_eq!(
        text(&setup.run("echo", json!({"message": "hello"})).await),
        "Echo: hello"
    );
    let image = setup.run("get-tiny-image", json!({})).await;
    assert!(
        image.content.iter().any(|block| block.as_image().is_some()),
        "images pass"
    );

    let entity = json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["writes programs"]}]});
    assert_ne!(setup.run("create_entities", entity).await.is_error, Some(true));
    assert!(text(&setup.run("search_nodes", json!({"query": "Ada"})).await).contains("writes programs"));

    let log = setup.run("git_log", json!({"repo_path": root, "max_count": 1})).await;
    assert!(text(&log).contains("first commit"), "{}", text(&log));

    let noon = json!({"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    assert!(text(&setup.run("convert_time", noon).await).contains("Asia/Tokyo"));
}

#[tokio::test]
async fn the_everything_server_asks_and_reports_through_the_gateway() {
    let setup = Setup::new(config(vec![("everything", npm("everything", &["stdio"]))])).await;
    let long = setup
        .run("trigger-long-running-operation", json!({"duration": 1, "steps": 2}))
        .await;
    assert!(text(&long).contains("completed"), "{}", text(&long));
    eventually("progress is heard", async || {
        !setup.ears.progress.lock().unwrap().is_empty()
    })
    .await;
    let listed = call(&setup.client, "resource_browse", json!({"path": "/"})).await;
    assert_ne!(listed.is_error, Some(true));
    let structured = setup
        .run("get-structured-content", json!({"location": "Chicago"}))
        .await;
    assert_eq!(
        (structured.content.len(), &structured.structured_content),
        (1, &None),
        "said once"
    );
}

/// A catalog of a thousand tools, remembered from an earlier run, answers before any upstream has started.
#[tokio::test]
async fn the_first_answer_does_not_wait_for_upstreams() {
    let state = tempfile::tempdir().unwrap();
    let options = Options {
        state_directory: Some(state.path().to_owned()),
        ..Options::default()
    };
    let asleep = state.path().join("asleep");
    let upstream = scripted(&[
        "--tools",
        "1000",
        "--page",
        "100",
        "--asleep-while",
        &asleep.display().to_string(),
    ]);
    let first = Setup::with(one(upstream.clone()), options.clone(), Era::Session).await;
    assert_eq!(first.gateway.status()[0].tools, 1026);
    first.gateway.stop().await;
    // From now on the server says nothing; the command is the same, so its tools are known.
    std::fs::write(&asleep, "").unwrap();
    let gateway = Gateway::start(one(upstream), options);
    let (client, _) = connect(&gateway, Era::Session, true).await;
    let found = call(&client, "tool_browse", json!({"query": "the thing number 742"})).await;
    assert!(text(&found).contains("extra_tool_00742"), "{}", text(&found));
}

/// A file that changes is followed: new servers appear, removed ones go, sessions and unchanged servers stay.
#[tokio::test]
async fn the_configuration_file_is_followed() {
    use gateway::reload::{Environment, follow, read_config};
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("gateway.toml");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/scripted.py");
    let entry = |name: &str, more: &str| {
        format!("[upstreams.{name}]\ncommand = \"python3\"\nargs = [\"{script}\", \"--name\", \"{name}\"]\n{more}\n")
    };
    std::fs::write(&path, entry("one", "")).unwrap();
    let environment: Environment = std::sync::Arc::new(|_: &str| None);
    let loaded: GatewayConfig = read_config(&path, &environment).unwrap().config;
    let setup = Setup::new(loaded).await;
    tokio::spawn(follow(setup.gateway.clone(), path.clone(), environment));
    let pid = text(&setup.run("pid", json!({})).await).to_owned();
    let handle = handle(&setup.run("rows", json!({"count": 2000})).await);
    tokio::time::sleep(Duration::from_millis(200)).await;

    std::fs::write(&path, "nonsense = [").unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(setup.gateway.status().len(), 1, "a broken file changes nothing");

    std::fs::write(&path, entry("one", "exclude = [\"die\"]") + &entry("two", "")).unwrap();
    eventually("the second server is there", async || {
        let found = call(&setup.client, "tool_browse", json!({"path": "/"})).await;
        text(&found).contains("two")
    })
    .await;
    let one = call(&setup.client, "tool_browse", json!({"path": "/one", "format": "json"})).await;
    let cards: Vec<Value> = serde_json::from_str(text(&one)).unwrap();
    assert!(cards.iter().all(|card| card["name"] != "die"), "the filter applies");
    let id = cards.iter().find(|card| card["name"] == "pid").unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        text(&execute(&setup.client, &id, json!({})).await),
        pid,
        "the same process as before"
    );
    let kept = view(&setup.client, &handle, json!({"path": "$[3].id"})).await;
    assert_eq!(text(&kept), "3", "the session kept what it had");

    std::fs::write(&path, entry("two", "")).unwrap();
    eventually("the first server is gone", async || !crate::faults::alive(&pid)).await;
}
