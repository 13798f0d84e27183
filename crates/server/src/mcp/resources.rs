//! What can be read by address: the outline of a repository, a symbol, a file, and which tool is about which repositories.
//! Each address is a question with its arguments, so a resource and a tool never say different things.

use rmcp::model::{ErrorData, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Map, Value, json};
use wire::Format;
use wire::protocol::Refusal;

use super::server::Asker;
use crate::tools;
use crate::tools::answer::Said;

const OUTLINE: &str = "lacon://outline";
const DEFINITIONS: &str = "lacon://tool_definitions";
const SYMBOL: &str = "lacon://symbol/";
const FILE: &str = "lacon://file/";

/// What is listed: one outline for each repository.
pub(super) fn list(repositories: &[String]) -> Vec<Resource> {
    let outline = |uri: String, name: String| {
        Resource::new(uri, name).with_description("Languages, communities, hotspots and entry points")
    };
    let mut listed: Vec<Resource> = match repositories {
        [_] => vec![outline(OUTLINE.to_string(), "outline".to_string())],
        several => several
            .iter()
            .map(|name| outline(format!("{OUTLINE}/{}", encoded(name)), format!("outline of {name}")))
            .collect(),
    };
    listed.push(
        Resource::new(DEFINITIONS, "tool_definitions")
            .with_description("The scope of every tool: repo, workspace or fan-out")
            .with_mime_type("text/plain"),
    );
    listed
}

/// What can be read besides.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{SYMBOL}{{+id}}"), "symbol")
            .with_description("The source of a symbol: id, name, Owner.name or path:line"),
        ResourceTemplate::new(format!("{FILE}{{+path}}"), "file").with_description("What a file declares"),
    ]
}

/// What is at an address.
pub(super) async fn read(uri: &str, asker: Asker) -> Result<ResourceContents, ErrorData> {
    let not_found = || ErrorData::resource_not_found(format!("no resource `{uri}`"), Some(json!({"uri": uri})));
    if uri == DEFINITIONS {
        let text = tools::definitions(asker.answered()).map_err(|refusal| refused(uri, &refusal))?;
        return Ok(ResourceContents::text(text, uri).with_mime_type("text/plain"));
    }
    let (tool, arguments) = question(uri).ok_or_else(not_found)?;
    let said = asker
        .ask(tool, arguments)
        .await
        .map_err(|refusal| refused(uri, &refusal))?;
    let mime_type = mime_type(said.format);
    Ok(ResourceContents::text(whole(said), uri).with_mime_type(mime_type))
}

/// An answer and what was said about it, as one text.
pub(super) fn whole(said: Said) -> String {
    match said.note {
        Some(note) => format!("{}\n{note}", said.text),
        None => said.text,
    }
}

fn question(uri: &str) -> Option<(&'static str, Map<String, Value>)> {
    let one = |name: &str, value: &str| {
        let value = decoded(value)?;
        (!value.is_empty()).then(|| Map::from_iter([(name.to_string(), Value::String(value))]))
    };
    if uri == OUTLINE {
        return Some(("get_repo_outline", Map::new()));
    }
    if let Some(repository) = uri.strip_prefix(OUTLINE).and_then(|rest| rest.strip_prefix('/')) {
        return Some(("get_repo_outline", one("repo", repository)?));
    }
    if let Some(id) = uri.strip_prefix(SYMBOL) {
        return Some(("get_symbol_source", one("id", id)?));
    }
    let path = uri.strip_prefix(FILE)?;
    Some(("get_file_summary", one("path", path)?))
}

/// What is not there is not found; the rest is the server's state.
fn refused(uri: &str, refusal: &Refusal) -> ErrorData {
    let data = Some(json!({"uri": uri, "code": refusal.code}));
    match refusal.code.as_str() {
        "internal_error" | "index_building" | "no_index" | "cancelled" => {
            ErrorData::internal_error(refusal.message.clone(), data)
        }
        _ => ErrorData::resource_not_found(refusal.message.clone(), data),
    }
}

fn mime_type(format: Format) -> &'static str {
    match format {
        Format::Json => "application/json",
        Format::Markdown => "text/markdown",
        Format::Auto | Format::Text | Format::Gcx | Format::Gcf | Format::Lcx => "text/plain",
    }
}

/// `%2F` and the like as what they stand for; `None` when they do not spell UTF-8.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hexadecimal(*high).zip(hexadecimal(*low)),
            _ => None,
        };
        rest = match escaped {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                &tail[2..]
            }
            None => {
                bytes.push(*first);
                tail
            }
        };
    }
    String::from_utf8(bytes).ok()
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

/// A name as part of an address.
fn encoded(name: &str) -> String {
    name.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_question() {
        let asked = |uri: &str| question(uri).map(|(tool, arguments)| (tool, Value::Object(arguments)));
        assert_eq!(asked("lacon://outline"), Some(("get_repo_outline", json!({}))));
        assert_eq!(
            asked("lacon://outline/a%20b"),
            Some(("get_repo_outline", json!({"repo": "a b"})))
        );
        assert_eq!(
            asked("lacon://symbol/src/a.py::C.f"),
            Some(("get_symbol_source", json!({"id": "src/a.py::C.f"})))
        );
        assert_eq!(
            asked("lacon://symbol/src%2Fa.py%3A%3AC.f"),
            Some(("get_symbol_source", json!({"id": "src/a.py::C.f"})))
        );
        for nothing in [
            "lacon://symbol/",
            "lacon://nowhere",
            "file:///etc/passwd",
            "lacon://file/%FF",
        ] {
            assert_eq!(asked(nothing), None, "{nothing}");
        }
        assert_eq!(decoded(&encoded("ä/b %")).as_deref(), Some("ä/b %"));
    }
}
