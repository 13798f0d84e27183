//! Conversations over the real binary: clients that agree get references, others never do; a pack comes back as what changed.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{RoleClient, RunningService, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::process::{Child, Command};
use wire::session::SessionReader;
use wire::tokens::Tokenizer;

fn tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut many = String::from("from warehouse.shop import price\n\n\n");
    for number in 0..40 {
        many.push_str(&format!(
            "def caller_number_{number}(item):\n    return price(item)\n\n\n"
        ));
    }
    let shop = "def price(item):\n    return item.cost * 2\n\n\ndef total(items):\n    return sum(price(item) for item in items)\n";
    std::fs::create_dir(directory.path().join("warehouse")).unwrap();
    for (name, text) in [
        ("warehouse/__init__.py", ""),
        ("warehouse/shop.py", shop),
        ("warehouse/many.py", many.as_str()),
    ] {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let built = std::process::Command::new(env!("CARGO_BIN_EXE_lacon"))
        .arg("index")
        .arg(directory.path())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    directory
}

struct Server {
    client: RunningService<RoleClient, ClientConfig>,
    _process: Child,
}

impl Server {
    async fn start(root: &Path, experimental: Value, extra: &[&str]) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_lacon"))
            .arg("mcp")
            .arg(root)
            .args(extra)
            .env_remove("LACON_OUTPUT_FORMAT")
            .env_remove("LACON_SESSION")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let streams = (process.stdout.take().unwrap(), process.stdin.take().unwrap());
        let mut capabilities = ClientCapabilities::default();
        capabilities.experimental = serde_json::from_value(experimental).unwrap();
        let client = ClientConfig::new(capabilities, Implementation::new("test", "1"))
            .serve(streams)
            .await
            .unwrap();
        Server {
            client,
            _process: process,
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Vec<String> {
        let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
        let request = CallToolRequestParams::new(tool.to_string()).with_arguments(arguments);
        let result: CallToolResult = self.client.peer().call_tool(request).await.unwrap();
        assert_ne!(result.is_error, Some(true), "{result:?}");
        result
            .content
            .iter()
            .map(|block| block.as_text().unwrap().text.clone())
            .collect()
    }
}

#[tokio::test]
async fn references_only_for_clients_that_agree() {
    let tree = tree();
    let plain = Server::start(tree.path(), json!({}), &["--no-watch"]).await;
    let agreed = Server::start(tree.path(), json!({"lacon/session": {}}), &["--no-watch"]).await;
    let mut reader = SessionReader::new();
    let calls = [
        ("get_callers", json!({"id": "price"})),
        ("get_dependents", json!({"id": "price"})),
        ("find_usages", json!({"id": "price"})),
        ("get_editing_context", json!({"id": "price"})),
    ];
    let (mut whole, mut sent) = (0, 0);
    for (tool, arguments) in calls {
        let full = plain.call(tool, arguments.clone()).await;
        assert!(!full[0].contains("session"), "{}", full[0]);
        let value = wire::decode(&full[0]).unwrap();
        let texts = agreed.call(tool, arguments).await;
        let read = reader.read(&texts[0]).unwrap();
        assert!(wire::same(&read, &value), "{tool}: {}", texts[0]);
        whole += Tokenizer::O200k.count(&value.to_string());
        sent += texts.iter().map(|text| Tokenizer::O200k.count(text)).sum::<usize>();
    }
    assert!(sent * 5 < whole * 2, "{sent} of {whole}");
    // The same again is full again.
    let again = agreed.call("get_callers", json!({"id": "price"})).await;
    let read = SessionReader::new().read(&again[0]).unwrap();
    assert_eq!(read["total_nodes"], 42);
    let reset = agreed.call("session_reset", json!({"format": "json"})).await;
    assert!(reset[0].contains("\"reset\":true"), "{}", reset[0]);
}

#[tokio::test]
async fn a_number_is_taken_for_the_symbol_it_stands_for() {
    let tree = tree();
    let server = Server::start(
        tree.path(),
        json!({"output_format": {"format": "gcf"}}),
        &["--no-watch"],
    )
    .await;
    let found = server.call("search_symbols", json!({"query": "caller_number"})).await;
    let value = wire::decode(&found[0]).unwrap();
    let number = value["new"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["q"] == "caller_number_3")
        .unwrap()["n"]
        .as_u64()
        .unwrap();
    let source = server
        .call(
            "get_symbol_source",
            json!({"id": format!("@{number}"), "format": "json"}),
        )
        .await;
    assert!(source[0].contains("caller_number_3(item)"), "{}", source[0]);
}

#[tokio::test]
async fn a_pack_is_sent_again_as_what_changed() {
    use wire::gcf::graph;
    let tree = tree();
    let server = Server::start(tree.path(), json!({}), &[]).await;
    let ask = json!({"task": "`price` must not double the cost", "budget": 3000, "format": "gcf"});
    let before = server.call("context_for_task", ask.clone()).await;
    assert!(before.iter().map(|text| Tokenizer::O200k.count(text)).sum::<usize>() <= 3000);
    let base = graph::decode(&before[0]).unwrap();
    let mut again = ask.clone();
    again["pack_root"] = base.pack_root.clone().into();
    let same = server.call("context_for_task", again.clone()).await;
    assert!(same.len() == 1 && same[0].contains("unchanged=true"), "{same:?}");
    let path = tree.path().join("warehouse/shop.py");
    let text = std::fs::read_to_string(&path).unwrap().replace("* 2", "* 3");
    std::fs::write(&path, text).unwrap();
    let mut delta = Vec::new();
    for _ in 0..100 {
        delta = server.call("context_for_task", again.clone()).await;
        // Until the change is indexed, the source that the index knows is not there to be sent.
        if delta.get(1).is_some_and(|sources| sources.contains("item.cost * 3")) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(delta[0].contains("delta=true"), "{delta:?}");
    let applied = graph::apply(&base, &graph::decode_delta(&delta[0]).unwrap()).unwrap();
    assert_eq!(applied.symbols.len(), base.symbols.len());
    assert!(delta[1].contains("item.cost * 3"), "{}", delta[1]);
    let count = |texts: &[String]| texts.iter().map(|text| Tokenizer::O200k.count(text)).sum::<usize>();
    assert!(
        count(&delta) * 100 <= count(&before) * 25,
        "{} of {}",
        count(&delta),
        count(&before)
    );
}

#[tokio::test]
async fn savings_are_counted_and_printed() {
    let tree = tree();
    let server = Server::start(tree.path(), json!({}), &["--no-watch"]).await;
    server.call("get_callers", json!({"id": "price"})).await;
    let mut printed = String::new();
    for _ in 0..100 {
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_lacon"))
            .arg("savings")
            .arg(tree.path())
            .arg("--json")
            .output()
            .unwrap();
        printed = String::from_utf8(done.stdout).unwrap();
        if printed.contains("get_callers") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let answer: Value = serde_json::from_str(&printed).unwrap();
    let row = &answer["tools"][0];
    assert_eq!(row["tool"], "get_callers");
    assert!(row["sent"].as_u64().unwrap() < row["json"].as_u64().unwrap(), "{row}");
    assert!(row["files"].as_u64().unwrap() > 0, "{row}");
}
