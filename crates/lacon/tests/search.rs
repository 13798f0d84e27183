//! The searches from the command line, and an embedding model behind an endpoint.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the way tests do")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assert_cmd::Command;
use serde_json::{Value, json};

const FILES: &[(&str, &str)] = &[
    (
        "shop.py",
        "def refund(order):\n    \"\"\"Gives the money back.\"\"\"\n    return -order.total\n\n\ndef ship(order):\n    return order.address\n",
    ),
    ("guide.md", "# Guide\n\n## Returns\n\nCustomers get their money back.\n"),
];

fn tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        fs::write(directory.path().join(path), text).unwrap();
    }
    directory
}

fn lacon(root: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
    for name in [
        "LACON_EMBEDDING_URL",
        "LACON_EMBEDDING_MODEL",
        "LACON_EMBEDDING_KEY",
        "LACON_DIR",
    ] {
        command.env_remove(name);
    }
    let output = command
        .current_dir(root)
        .args(arguments)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn verbs_find_code_documents_and_lines() {
    let directory = tree();
    let ask = |arguments: &[&str]| lacon(directory.path(), arguments, &[]);
    ask(&["index"]);
    let found = ask(&["search", "give money back"]);
    assert!(found.starts_with("shop.py:1 refund"), "{found}");
    let found = ask(&["docs", "money back"]);
    assert!(found.starts_with("guide.md:3 Guide.Returns"), "{found}");
    let found = ask(&["grep", "-e", r"order\.\w+$"]);
    assert!(found.contains("  refund\n3\treturn -order.total\n"), "{found}");
    let json: Value = serde_json::from_str(&ask(&["search", "refund", "--json"])).unwrap();
    let first = &json["results"][0];
    assert_eq!(
        (first["id"].as_str(), first["location"]["start_line"].as_u64()),
        (Some("shop.py::refund"), Some(1))
    );
    for format in ["gcx", "gcf", "markdown"] {
        assert!(
            ask(&["search", "refund", "--format", format]).contains("refund"),
            "{format}"
        );
    }
}

/// Answers as an OpenAI-compatible server does: one direction for texts about parcels, another for the rest.
fn endpoint() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(
                (body["model"].as_str(), body["dimensions"].as_u64()),
                (Some("tiny"), Some(256))
            );
            let texts = body["input"].as_array().unwrap();
            count.fetch_add(texts.len(), Ordering::Relaxed);
            let data: Vec<Value> = texts
                .iter()
                .enumerate()
                .map(|(index, text)| {
                    match ["address", "parcel"]
                        .iter()
                        .any(|word| text.as_str().unwrap().contains(word))
                    {
                        true => json!({"index": index, "embedding": [1.0, 0.0, 0.5]}),
                        false => json!({"index": index, "embedding": [0.0, 1.0, 0.0]}),
                    }
                })
                .collect();
            let answer = json!({ "data": data }).to_string();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{answer}", answer.len()).unwrap();
        }
    });
    (url, asked)
}

#[test]
fn a_configured_endpoint_makes_the_vectors() {
    let directory = tree();
    let (url, asked) = endpoint();
    let environment = [("LACON_EMBEDDING_URL", url.as_str()), ("LACON_EMBEDDING_MODEL", "tiny")];
    lacon(directory.path(), &["index"], &environment);
    let chunks = asked.load(Ordering::Relaxed);
    assert!(chunks >= 5, "{chunks} texts were embedded");
    // No word of the question is in the code: only the endpoint can know.
    let found = lacon(
        directory.path(),
        &["search", "parcel", "--path", "shop.py"],
        &environment,
    );
    assert!(found.starts_with("shop.py:6 ship"), "{found}");
    assert_eq!(asked.load(Ordering::Relaxed), chunks + 1);
    // Without it the index is made again, and nobody is asked.
    lacon(directory.path(), &["index"], &[]);
    lacon(directory.path(), &["search", "money"], &[]);
    assert_eq!(asked.load(Ordering::Relaxed), chunks + 1);
}
