//! Tags: PHPDoc, JSDoc and TSDoc, Javadoc, KDoc, YARD and Doxygen are one notation with different orders of name and type.

use super::{Documentation, Documented, prose};

/// Reads lines whose tags start with `@` (or `\` in C and C++).
pub(super) fn parse(language: &str, lines: &[String]) -> Documentation {
    let mut found = Documentation::default();
    let mut blocks: Vec<(String, Vec<&str>)> = vec![(String::new(), Vec::new())];
    for line in lines {
        match tag(language, line.trim_start()) {
            Some((name, rest)) => blocks.push((name.to_string(), vec![rest])),
            // In the kernel's notation an empty line ends what is said of a parameter.
            None if line.is_empty()
                && blocks
                    .last()
                    .is_some_and(|(_, block)| block[..].first().is_some_and(|rest| rest.starts_with(':'))) =>
            {
                blocks.push((String::new(), Vec::new()));
            }
            None => {
                if let Some((_, block)) = blocks.last_mut() {
                    block.push(line);
                }
            }
        }
    }
    let mut description: Vec<String> = Vec::new();
    for (name, block) in &blocks {
        read(language, name, block, &mut found, &mut description);
    }
    found.description = description.join("\n\n");
    found
}

/// The tag that a line starts with, and what follows it.
fn tag<'a>(language: &str, line: &'a str) -> Option<(&'a str, &'a str)> {
    if matches!(language, "c" | "cpp") && (line.starts_with("Return:") || line.starts_with("Returns:")) {
        return Some(line.split_at(line.find(':')?)).map(|(_, rest)| ("return", rest));
    }
    let body = match line.strip_prefix('@') {
        Some(body) => body,
        None if matches!(language, "c" | "cpp") => line.strip_prefix('\\')?,
        None => return None,
    };
    let end = body
        .find(|letter: char| !letter.is_alphanumeric() && letter != '-' && letter != '_')
        .unwrap_or(body.len());
    (end > 0).then(|| body.split_at(end))
}

fn read(language: &str, tag: &str, block: &[&str], found: &mut Documentation, description: &mut Vec<String>) {
    let text = || inline(&prose(block.iter().copied()));
    match tag {
        "" | "brief" | "details" | "remarks" | "summary" | "description" | "desc" | "short" | "note" | "overload" => {
            let text = text();
            if !text.is_empty() {
                description.push(text);
            }
        }
        "param" | "arg" | "argument" | "tparam" | "psalm-param" | "phpstan-param" | "yieldparam" => {
            let one = parameter(language, &text());
            // A tool's own tag refines the type of the plain one.
            match found
                .parameters
                .iter_mut()
                .find(|known| known.name == one.name && !one.name.is_empty())
            {
                Some(known) if !one.type_.is_empty() => known.type_ = one.type_,
                Some(_) => {}
                None => found.parameters.push(one),
            }
        }
        "option" => found.parameters.extend(option(&text())),
        "return" | "returns" | "retval" | "result" | "phpstan-return" | "psalm-return" => {
            found.returns.push(typed(language, &text()));
        }
        "throws" | "throw" | "exception" | "raise" | "raises" | "except" => {
            let text = text();
            let mut one = typed(language, &text);
            if one.type_.is_empty() {
                let (type_, rest) = word(&text);
                one = Documented {
                    type_: type_.to_string(),
                    description: rest.to_string(),
                    ..Documented::default()
                };
            }
            found.throws.push(one);
        }
        "var" | "type" => {
            let text = text();
            let (type_, rest) = match language {
                "php" => type_first(&text),
                _ => braced(&text).unwrap_or((text.as_str(), "")),
            };
            found.type_ = type_.to_string();
            // `@var string $name text` names the variable itself first.
            let rest = match rest.strip_prefix('$') {
                Some(named) => word(named).1,
                None => rest,
            };
            if !rest.is_empty() {
                description.push(rest.to_string());
            }
        }
        "property" | "property-read" | "property-write" | "prop" | "attr" | "attr_reader" | "attr_writer" => {
            found.properties.push(parameter(language, &text()));
        }
        "deprecated" => found.deprecated = Some(text()),
        "example" | "code" => {
            let code: Vec<&str> = block
                .iter()
                .copied()
                .skip_while(|line| line.trim().is_empty())
                .collect();
            found.examples.push(code.join("\n").trim().to_string());
        }
        "see" | "link" | "sa" => found.see.push(text().trim_start_matches(':').trim().to_string()),
        "since" | "version" => found.since = text(),
        // The kernel's notation: `@size: how many bytes`.
        name if matches!(language, "c" | "cpp") && block.first().is_some_and(|rest| rest.starts_with(':')) => {
            found.parameters.push(Documented {
                name: name.to_string(),
                description: text().trim_start_matches(':').trim().to_string(),
                ..Documented::default()
            });
        }
        _ => {}
    }
}

/// `type $name text`, `{type} [name=default] - text`, `[Type] name text`, `name [Type] text`, `[in] name text`, `name text`.
fn parameter(language: &str, text: &str) -> Documented {
    let mut text = text.trim();
    let mut one = Documented::default();
    if matches!(language, "c" | "cpp") && text.starts_with('[') {
        text = text.split_once(']').map_or("", |(_, rest)| rest).trim_start();
    }
    if language == "php" {
        let at = text.find('$');
        let (before, after) = at.map_or(("", text), |at| (&text[..at], &text[at + 1..]));
        // Without a dollar it is `type text`, of which only the type is sure.
        if at.is_none() {
            let (type_, rest) = type_first(text);
            return Documented {
                type_: type_.to_string(),
                description: rest.to_string(),
                ..one
            };
        }
        let type_ = before.trim_end().trim_end_matches("...").trim_end_matches('&').trim();
        one.type_ = type_.to_string();
        let (name, rest) = word(after);
        one.name = name.to_string();
        one.description = rest.to_string();
        return one;
    }
    if let Some((type_, rest)) = braced(text) {
        one.type_ = type_.trim_start_matches("...").trim_end_matches('=').to_string();
        text = rest;
    }
    if language == "ruby"
        && let Some((type_, rest)) = bracketed(text)
    {
        one.type_ = type_.to_string();
        text = rest;
    } else if matches!(language, "kotlin")
        && let Some((name, rest)) = bracketed(text)
    {
        one.name = name.to_string();
        one.description = undash(rest).to_string();
        return one;
    } else if text.starts_with('[')
        && let Some((inside, rest)) = bracketed(text)
    {
        let (name, default) = inside.split_once('=').unwrap_or((inside, ""));
        one.name = name.trim().to_string();
        one.default = default.trim().to_string();
        one.description = undash(rest).to_string();
        return one;
    }
    let (name, rest) = word(text);
    one.name = name
        .trim_matches(['<', '>', ':', '`'])
        .trim_start_matches(['*', '&', '$'])
        .to_string();
    let mut rest = rest;
    if language == "ruby"
        && let Some((type_, after)) = bracketed(rest)
    {
        one.type_ = type_.to_string();
        rest = after;
    }
    one.description = undash(rest).to_string();
    one
}

/// YARD's `@option opts [Type] :key (default) text`.
fn option(text: &str) -> Option<Documented> {
    let (of, rest) = word(text);
    let (type_, rest) = bracketed(rest).unwrap_or(("", rest));
    let (key, mut rest) = word(rest);
    let mut default = "";
    if let Some(after) = rest.strip_prefix('(')
        && let Some((inside, after)) = after.split_once(')')
    {
        (default, rest) = (inside, after.trim_start());
    }
    (!key.is_empty()).then(|| Documented {
        name: format!("{of}[{key}]"),
        type_: type_.to_string(),
        description: rest.to_string(),
        default: default.to_string(),
    })
}

/// `type text`, `{type} text` or `[type] text`; where the notation has no types, the text alone.
fn typed(language: &str, text: &str) -> Documented {
    let text = text.trim().trim_start_matches(':').trim_start();
    let (type_, rest) = match language {
        "php" => type_first(text),
        "ruby" => bracketed(text).unwrap_or(("", text)),
        "javascript" | "typescript" | "tsx" | "vue" | "svelte" => braced(text).unwrap_or(("", text)),
        _ => ("", text),
    };
    Documented {
        type_: type_.to_string(),
        description: undash(rest).to_string(),
        ..Documented::default()
    }
}

/// A type that may hold blanks inside brackets, and what follows it.
fn type_first(text: &str) -> (&str, &str) {
    let mut depth = 0i32;
    let mut end = text.len();
    let mut previous = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth -= 1,
            // `callable(int): string` goes on after the colon.
            ' ' | '\t' if depth <= 0 && !matches!(previous, ':' | '|' | '&' | ',') => {
                end = at;
                break;
            }
            _ => {}
        }
        previous = letter;
    }
    (&text[..end], text[end..].trim_start())
}

fn braced(text: &str) -> Option<(&str, &str)> {
    enclosed(text, '{', '}')
}

fn bracketed(text: &str) -> Option<(&str, &str)> {
    enclosed(text, '[', ']')
}

/// What stands between a pair at the start of `text`, and what follows it.
fn enclosed(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if !text.starts_with(open) {
        return None;
    }
    let mut depth = 0usize;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return Some((text[1..at].trim(), text[at + 1..].trim_start()));
            }
        }
    }
    None
}

fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn undash(text: &str) -> &str {
    text.strip_prefix("- ")
        .or_else(|| text.strip_prefix("– "))
        .unwrap_or(text)
        .trim()
}

/// `{@link X}` and `{@code x}` as what they show; paragraph marks of HTML gone.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{@") {
        out.push_str(&rest[..at]);
        let Some((inside, after)) = enclosed(&rest[at..], '{', '}') else {
            break;
        };
        let (_, shown) = word(inside);
        // `{@link target label}` and `{@link target|label}` show the label.
        let shown = shown.split_once('|').map_or(shown, |(_, label)| label);
        out.push_str(shown.trim());
        let gap = rest[at..].len() - after.len();
        if rest[at..gap + at].ends_with(char::is_whitespace) {
            out.push(' ');
        }
        rest = after;
    }
    out.push_str(rest);
    plain(&out)
}

/// Tags of HTML that lay prose out, as Javadoc has them: items of lists become lines, the others go. Anything else in angle brackets is
/// left as it is, because it may be a type.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(end) = rest.find('>') else { break };
        let inside = rest[1..end].trim_start_matches('/').trim_end_matches('/').trim();
        let name = inside
            .split(char::is_whitespace)
            .next()
            .unwrap_or("")
            .to_ascii_lowercase();
        let is_layout =
            LAYOUT_TAGS.contains(&name.as_str()) || (name == "a" && inside.len() > 1 || rest.starts_with("</a"));
        match () {
            () if name == "li" && !rest.starts_with("</") => {
                out.truncate(out.trim_end().len());
                out.push_str("\n- ");
                rest = rest[end + 1..].trim_start();
                continue;
            }
            () if is_layout => {}
            () => out.push_str(&rest[..=end]),
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    if text.contains('<') {
        out.truncate(out.trim_end().len());
    }
    for (entity, letter) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ] {
        out = out.replace(entity, letter);
    }
    out
}

const LAYOUT_TAGS: &[&str] = &[
    "p",
    "br",
    "ul",
    "ol",
    "li",
    "b",
    "i",
    "em",
    "strong",
    "code",
    "pre",
    "tt",
    "blockquote",
    "h1",
    "h2",
    "h3",
    "h4",
    "sup",
    "sub",
    "table",
    "tr",
    "td",
    "th",
    "tbody",
    "thead",
    "caption",
    "dl",
    "dt",
    "dd",
    "hr",
    "div",
    "span",
];
