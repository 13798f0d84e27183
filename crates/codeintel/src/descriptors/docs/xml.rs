//! XML documentation: `<summary>`, `<param name="x">`, `<returns>`. Read forgivingly: an element ends where its end stands, and
//! broken markup is text.

use super::{Documentation, Documented, prose};

/// Reads lines of XML documentation.
pub(super) fn parse(lines: &[String]) -> Documentation {
    let text = lines.join("\n");
    let mut found = Documentation::default();
    let mut loose = String::new();
    let mut description: Vec<String> = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('<') {
        loose.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(element) = element(rest) else {
            loose.push('<');
            rest = &rest[1..];
            continue;
        };
        let said = plain(element.inside);
        let about = |name: &str| Documented {
            name: attribute(element.head, name).to_string(),
            description: said.clone(),
            ..Documented::default()
        };
        let typed = || Documented {
            type_: reference(element.head).to_string(),
            description: said.clone(),
            ..Documented::default()
        };
        match element.name {
            "summary" => description.insert(0, said),
            "remarks" | "para" => description.push(said),
            "param" => found.parameters.push(about("name")),
            "returns" | "value" => found.returns.push(about("")),
            "exception" => found.throws.push(typed()),
            "example" => found.examples.push(said),
            "see" | "seealso" => found.see.push(reference(element.head).to_string()),
            _ => {}
        }
        rest = element.after;
    }
    loose.push_str(rest);
    let loose = prose(loose.lines());
    if description.is_empty() && !loose.is_empty() {
        description.push(loose);
    }
    description.retain(|part| !part.is_empty());
    found.description = description.join("\n\n");
    found
}

struct Element<'a> {
    name: &'a str,
    /// Between `<` and `>`.
    head: &'a str,
    inside: &'a str,
    after: &'a str,
}

/// The element at the start of `text`.
fn element(text: &str) -> Option<Element<'_>> {
    let close = text.find('>')?;
    let head = text[1..close].trim();
    let name_end = head
        .find(|letter: char| letter.is_whitespace() || letter == '/')
        .unwrap_or(head.len());
    let name = &head[..name_end];
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let after_head = &text[close + 1..];
    if head.ends_with('/') {
        return Some(Element {
            name,
            head,
            inside: "",
            after: after_head,
        });
    }
    let ending = format!("</{name}");
    let (inside, after) = match after_head.find(&ending) {
        Some(at) => {
            let tail = &after_head[at..];
            (&after_head[..at], tail.find('>').map_or("", |end| &tail[end + 1..]))
        }
        None => (after_head, ""),
    };
    Some(Element {
        name,
        head,
        inside,
        after,
    })
}

fn attribute<'a>(head: &'a str, name: &str) -> &'a str {
    if name.is_empty() {
        return "";
    }
    let Some(at) = head.find(&format!("{name}=")) else {
        return "";
    };
    let value = &head[at + name.len() + 1..];
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''));
    match quote {
        Some(quote) => value[1..].split(quote).next().unwrap_or(""),
        None => value.split_whitespace().next().unwrap_or(""),
    }
}

/// What an element points to, without the letter that says its kind (`T:System.String`).
fn reference(head: &str) -> &str {
    let found = ["cref", "name", "langword", "href"]
        .into_iter()
        .map(|name| attribute(head, name))
        .find(|value| !value.is_empty())
        .unwrap_or("");
    match found.as_bytes() {
        [kind, b':', ..] if kind.is_ascii_uppercase() => &found[2..],
        _ => found,
    }
}

/// Text with its inner elements replaced by what they show.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(close) = rest.find('>') else { break };
        let head = rest[1..close].trim();
        if head.ends_with('/') {
            out.push_str(reference(head));
        } else if head == "para" || head == "/para" {
            out.push_str("\n\n");
        }
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    let text = prose(out.lines());
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}
