//! The real binary as an MCP server, asked over its real standard input and output by the official client.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::process::{Child, Command};
use wire::tokens::Tokenizer;

const SHOP: &str = "\
def price(item):
    return item.cost * 2


def total(items):
    return sum(price(item) for item in items)


class Cart:
    def total(self):
        return total(self.items)
";

const CHECKOUT: &str = "\
from shop import Cart, price


def pay(item):
    price(item)
    price(item)
    return Cart().total()
";

/// A tree with a class of many methods beside the two small files.
fn tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut many = String::from("from shop import price\n\n\n");
    for number in 0..120 {
        many.push_str(&format!(
            "def caller_number_{number}(item):\n    return price(item)\n\n\n"
        ));
    }
    for (name, text) in [("shop.py", SHOP), ("checkout.py", CHECKOUT), ("many.py", &many)] {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

struct Server {
    client: RunningService<RoleClient, ()>,
    _process: Child,
}

impl Server {
    async fn start(arguments: &[&Path]) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_lacon"))
            .arg("mcp")
            .args(arguments)
            .env_remove("LACON_OUTPUT_FORMAT")
            .env_remove("LACON_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (output, input) = (process.stdout.take().unwrap(), process.stdin.take().unwrap());
        Server {
            client: ().serve((output, input)).await.unwrap(),
            _process: process,
        }
    }

    async fn ask(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object")
        };
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        self.client.call_tool(request).await.unwrap()
    }

    /// Asks until the index is there and says no more that it is not complete.
    async fn ask_when_ready(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let limit = Instant::now() + Duration::from_secs(60);
        loop {
            let result = self.ask(tool, arguments.clone()).await;
            if !is_early(&text(&result)) {
                return result;
            }
            assert!(Instant::now() < limit, "{}", text(&result));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn is_early(text: &str) -> bool {
    ["index_building", "no_index", "incomplete"]
        .iter()
        .any(|word| text.contains(word))
}

fn text(result: &CallToolResult) -> String {
    let parts = result.content.iter().filter_map(|block| block.as_text());
    parts.map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn is_error(result: &CallToolResult) -> bool {
    result.is_error == Some(true)
}

#[tokio::test]
async fn the_index_is_built_and_callers_are_answered_alike_in_every_format() {
    let tree = tree();
    let server = Server::start(&[tree.path()]).await;
    let ask = |format: &str| json!({"id": "price", "depth": 1, "limit": 5, "format": format});
    let json_text = text(&server.ask_when_ready("get_callers", ask("json")).await);
    let expected: Value = serde_json::from_str(&json_text).unwrap();
    assert_eq!(expected["total_nodes"], 123);
    assert_eq!(expected["truncated"], true);
    let edge = &expected["edges"][0];
    assert_eq!(
        (&edge["from"], &edge["to"], &edge["label"]),
        (&json!("checkout.py::pay"), &json!("shop.py::price"), &json!("5,6"))
    );
    for format in ["auto", "gcx", "gcf"] {
        let said = text(&server.ask("get_callers", ask(format)).await);
        let value = wire::decode(&said).unwrap();
        assert!(wire::same(&value, &expected), "{format}: {said}");
    }
    let auto = text(&server.ask("get_callers", ask("auto")).await);
    assert!(
        Tokenizer::O200k.count(&auto) * 2 < Tokenizer::O200k.count(&json_text),
        "{auto}"
    );
}

#[tokio::test]
async fn every_answer_keeps_to_its_tokens_and_pages_join_to_the_whole() {
    let tree = tree();
    let server = Server::start(&[tree.path()]).await;
    server.ask_when_ready("get_callers", json!({"id": "price"})).await;
    let mut found: Vec<String> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let ask = json!({"id": "price", "depth": 1, "max_tokens": 300, "cursor": cursor});
        let result = server.ask("get_callers", ask).await;
        let said = text(&result);
        assert!(!is_error(&result), "{said}");
        assert!(Tokenizer::O200k.count(&said) <= 300, "{said}");
        let page = wire::decode(&said).unwrap();
        let nodes = page["nodes"].as_array().unwrap();
        assert!(nodes.len() > 5, "a page that small wastes its tokens: {said}");
        found.extend(
            nodes
                .iter()
                .skip(1)
                .map(|node| node["id"].as_str().unwrap().to_string()),
        );
        assert_eq!(page["total_nodes"], 123);
        assert_eq!(page["truncated"], page.get("next_cursor").is_some());
        match page.get("next_cursor") {
            Some(next) => cursor = next.as_str().map(str::to_string),
            None => break,
        }
    }
    assert_eq!(found.len(), 122);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 122);

    let result = server
        .ask("get_symbol_source", json!({"id": "many.py", "max_tokens": 200}))
        .await;
    let said = text(&result);
    assert!(said.contains("cut after line"), "{said}");
    assert!(Tokenizer::O200k.count(&said) <= 201, "{said}");
}

#[tokio::test]
async fn an_answer_the_client_has_is_not_sent_again_until_it_changes() {
    let tree = tree();
    let server = Server::start(&[tree.path()]).await;
    let first = text(
        &server
            .ask_when_ready("get_callers", json!({"id": "total", "format": "json"}))
            .await,
    );
    // Two functions are called so: one is answered for, and the answer says which.
    assert!(first.contains(r#""id":"shop.py::total""#), "{first}");
    let ask = |etag: Option<&Value>| json!({"id": "shop.py::total", "format": "json", "if_none_match": etag});
    let first: Value = serde_json::from_str(&text(&server.ask("get_callers", ask(None)).await)).unwrap();
    let again = text(&server.ask("get_callers", ask(Some(&first["etag"]))).await);
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again, json!({"not_modified": true, "etag": first["etag"]}));

    std::fs::write(
        tree.path().join("new.py"),
        "from shop import total\n\n\ndef fresh():\n    return total([])\n",
    )
    .unwrap();
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        let said = text(&server.ask("get_callers", ask(Some(&first["etag"]))).await);
        if said.contains("new.py::fresh") {
            break;
        }
        assert!(Instant::now() < limit, "{said}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_with_its_remedy() {
    let tree = tree();
    let server = Server::start(&[tree.path()]).await;
    server.ask_when_ready("get_callers", json!({"id": "price"})).await;
    for (tool, arguments, expected) in [
        (
            "get_callers",
            json!({"id": "pricey"}),
            "no_such_symbol\tno symbol `pricey` — nearest: shop.py::price",
        ),
        ("get_callers", json!({}), "argument `id` is missing"),
        (
            "get_callers",
            json!({"id": "price", "depht": 2}),
            "argument `depht`: `get_callers` takes no such argument, did you mean `depth`?",
        ),
        (
            "get_callers",
            json!({"id": "price", "depth": "two"}),
            "argument `depth`: invalid type: string \"two\"",
        ),
        (
            "get_callers",
            json!({"id": "price", "format": "xml"}),
            "no format `xml`",
        ),
        (
            "get_callers",
            json!({"id": "price", "max_tokens": 3}),
            "expected 50 or more",
        ),
        ("get_file_summary", json!({"path": "../../etc/passwd"}), "no_such_file"),
        ("get_repo_outline", json!({"repo": "elsewhere"}), "unknown_repo"),
    ] {
        let result = server.ask(tool, arguments.clone()).await;
        let said = text(&result);
        assert!(is_error(&result), "{arguments}: {said}");
        assert!(said.contains(expected), "{arguments}: {said}");
    }
    let request = CallToolRequestParams::new("no_such_tool").with_arguments(Map::new());
    let error = server.client.call_tool(request).await.unwrap_err().to_string();
    assert!(error.contains("no tool `no_such_tool`"), "{error}");
}

#[tokio::test]
async fn scopes_hold_in_a_workspace_of_two() {
    let (one, other) = (tree(), tree());
    let server = Server::start(&[one.path(), other.path()]).await;
    let name = one.path().file_name().unwrap().to_string_lossy().into_owned();
    let id = format!("{name}/shop.py::price");
    let found = text(
        &server
            .ask_when_ready("get_callers", json!({"id": id, "limit": 3}))
            .await,
    );
    // The folder is said once.
    assert!(
        found.contains(&format!("{name}/shop.py\n")) && found.contains("\ncheckout.py\n"),
        "{found}"
    );
    for (tool, repo, code) in [
        ("get_repo_outline", json!(null), "missing_repo\t"),
        ("get_repo_outline", json!(""), "missing_repo\t"),
        ("get_repo_outline", json!(["*"]), "wrong_repo_shape"),
        ("graph_stats", json!(["*", name]), "wrong_repo_shape"),
        ("graph_stats", json!([""]), "wrong_repo_shape"),
        ("get_repo_outline", json!("nowhere"), "unknown_repo"),
        ("graph_stats", json!(null), "missing_repo_list"),
        ("graph_stats", json!(name), "wrong_repo_shape"),
        ("graph_stats", json!(["nowhere"]), "unknown_repo"),
        ("search_symbols", json!(name), "repo_not_allowed"),
    ] {
        let arguments = match tool {
            "search_symbols" => json!({"query": "price", "repo": repo}),
            _ => json!({"repo": repo}),
        };
        let result = server.ask(tool, arguments).await;
        let said = text(&result);
        assert!(
            is_error(&result) && said.starts_with("GCX1 tool=error") && said.contains(code),
            "{tool} {repo}: {said}"
        );
    }
    let files = |repo: Value| json!({"repo": repo, "format": "json"});
    let both: Value = serde_json::from_str(&text(&server.ask("graph_stats", files(json!(["*"]))).await)).unwrap();
    let single: Value = serde_json::from_str(&text(&server.ask("graph_stats", files(json!([name]))).await)).unwrap();
    assert_eq!((&both["files"], &single["files"]), (&json!(6), &json!(3)));
    // The same said as the wire protocol does.
    let request = |tool: &str, scope: &str, cell: &str| {
        let text = format!("GCX1 tool=tool_request fields=tool,scope,repo\n{tool}\t{scope}\t{cell}\n");
        json!({"tool_request": text, "format": "json"})
    };
    let list = format!("[\"{name}\"]");
    let said = text(
        &server
            .ask("graph_stats", request("graph_stats", "fan-out", &list))
            .await,
    );
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), single);
    for (given, code) in [
        (request("graph_stats", "fan-out", ""), "missing_repo_list"),
        (request("graph_stats", "repo", &name), "invalid_argument"),
        (request("search_symbols", "fan-out", &list), "invalid_argument"),
        (request("graph_stats", "everywhere", &list), "invalid_argument"),
    ] {
        let result = server.ask("graph_stats", given).await;
        assert!(is_error(&result) && text(&result).contains(code), "{}", text(&result));
    }
}

#[tokio::test]
async fn the_default_list_of_tools_is_small() {
    let tree = tree();
    let server = Server::start(&[tree.path()]).await;
    let tools = server.client.list_all_tools().await.unwrap();
    let tokens = Tokenizer::O200k.count(&serde_json::to_string(&json!({"tools": tools})).unwrap());
    assert!(tokens <= 2_500, "{tokens} tokens for {} tools", tools.len());
    for tool in &tools {
        assert!(
            tool.description.as_ref().is_some_and(|about| !about.contains('\n')),
            "{}",
            tool.name
        );
        assert!(tool.input_schema.contains_key("properties"), "{}", tool.name);
    }
}
