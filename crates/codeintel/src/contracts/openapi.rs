//! OpenAPI and Swagger documents: the routes they declare, from JSON or from the block style of YAML that they are written in.

use super::route::join;
use super::rules::VERBS;

/// One declared route: method, path, line.
pub(super) type Declared = (String, String, u32);

/// Whether a file may be such a document, by its first lines.
pub(super) fn is_document(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if !(name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml")) {
        return false;
    }
    let head: String = text.chars().take(2_000).collect();
    ["openapi:", "swagger:", "\"openapi\"", "\"swagger\"", "'openapi'"]
        .iter()
        .any(|word| head.contains(word))
        && text.contains("paths")
}

/// The routes of a document.
pub(super) fn routes(text: &str) -> Vec<Declared> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(document) => from_json(&document, text),
        Err(_) => from_yaml(text),
    }
}

fn from_json(document: &serde_json::Value, text: &str) -> Vec<Declared> {
    let base = document["basePath"]
        .as_str()
        .map(str::to_string)
        .or_else(|| document["servers"][0]["url"].as_str().map(path_of))
        .unwrap_or_default();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for method in item
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key.to_ascii_uppercase())
        {
            if VERBS.contains(&method.as_str()) {
                let at = text.find(&format!("\"{path}\"")).unwrap_or(0);
                let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() as u32 + 1;
                found.push((method, join(&base, path), line));
            }
        }
    }
    found
}

fn from_yaml(text: &str) -> Vec<Declared> {
    let mut found = Vec::new();
    let (mut base, mut path) = (String::new(), String::new());
    // What is being read: the section at the left edge, the indentation of paths.
    let (mut section, mut paths_at) = ("", None);
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let key = trimmed.split(':').next().unwrap_or("").trim_matches(['"', '\'']);
        if indent == 0 {
            section = key;
            if key == "basePath" {
                base = trimmed
                    .split_once(':')
                    .map_or("", |(_, value)| value.trim())
                    .trim_matches(['"', '\''])
                    .to_string();
            }
            continue;
        }
        match section {
            "servers" if base.is_empty() => {
                if let Some((_, url)) = trimmed.split_once("url:") {
                    base = path_of(url.trim().trim_matches(['"', '\'']));
                }
            }
            "paths" => {
                let outer = *paths_at.get_or_insert(indent);
                if indent <= outer {
                    // A path may hold colons only inside of braces or quotes, so the last one ends it.
                    let key = trimmed.rsplit_once(':').map_or(trimmed, |(key, _)| key);
                    path = key.trim_matches(['"', '\'']).to_string();
                    continue;
                }
                let method = key.to_ascii_uppercase();
                let is_direct = indent <= outer + 4 && trimmed.ends_with(':');
                if is_direct && VERBS.contains(&method.as_str()) && path.starts_with('/') {
                    found.push((method, join(&base, &path), number as u32 + 1));
                }
            }
            _ => {}
        }
    }
    found
}

/// The path of a server's address.
fn path_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    match (url.contains("://"), rest.find('/')) {
        (true, Some(at)) => rest[at..].to_string(),
        (true, None) => String::new(),
        (false, _) => rest.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_document, routes};

    #[test]
    fn yaml_and_json() {
        let yaml = "openapi: 3.0.0\nservers:\n  - url: https://api.example.com/v1\npaths:\n  /users/{id}:\n    get:\n      responses: {}\n    delete:\n      x: y\n  \"/items\":\n    post:\n      x: y\ncomponents:\n  get:\n    a: b\n";
        assert!(is_document("api/openapi.yaml", yaml));
        let say = |found: Vec<(String, String, u32)>| {
            found
                .into_iter()
                .map(|(method, path, line)| format!("{method} {path} {line}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            say(routes(yaml)),
            ["GET /v1/users/{id} 6", "DELETE /v1/users/{id} 8", "POST /v1/items 11"]
        );
        let json =
            "{\"swagger\": \"2.0\", \"basePath\": \"/v1\",\n\"paths\": {\n\"/a\": {\"get\": {}, \"parameters\": []}}}";
        assert_eq!(say(routes(json)), ["GET /v1/a 3"]);
    }
}
