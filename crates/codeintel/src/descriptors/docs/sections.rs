//! Sections with a heading: docstrings in the styles of Google, NumPy and reST, and the headings of rustdoc.

use super::{Documentation, Documented, prose};

/// What a section speaks of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Description,
    Parameters,
    Returns,
    Throws,
    Properties,
    Examples,
    See,
    Deprecated,
}

/// Reads the lines of a docstring or of rustdoc.
pub(super) fn parse(language: &str, lines: &[String]) -> Documentation {
    let mut found = Documentation::default();
    let mut current = (About::Description, Vec::new());
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].as_str();
        let heading = match language {
            "rust" => rust_heading(line).map(|about| (about, 1)),
            _ => python_heading(lines, at),
        };
        match heading {
            Some((about, taken)) => {
                let (about_before, block) = std::mem::replace(&mut current, (about, Vec::new()));
                read(language, about_before, &block, &mut found);
                at += taken;
            }
            None => {
                current.1.push(line);
                at += 1;
            }
        }
    }
    read(language, current.0, &current.1, &mut found);
    found
}

fn rust_heading(line: &str) -> Option<About> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').trim();
    word_heading(heading)
}

/// Google's `Args:` takes one line, NumPy's underlined heading two.
fn python_heading(lines: &[String], at: usize) -> Option<(About, usize)> {
    let line = lines[at].as_str();
    let underline = lines.get(at + 1).map(|next| next.trim()).unwrap_or("");
    if underline.len() >= 3 && underline.bytes().all(|byte| byte == b'-' || byte == b'=') {
        return word_heading(line.trim()).map(|about| (about, 2));
    }
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let heading = line.trim_end().strip_suffix(':')?;
    word_heading(heading).map(|about| (about, 1))
}

fn word_heading(heading: &str) -> Option<About> {
    Some(match heading.to_ascii_lowercase().as_str() {
        "args" | "arguments" | "parameters" | "params" | "keyword args" | "keyword arguments" | "other parameters" => {
            About::Parameters
        }
        "returns" | "return" | "yields" | "yield" | "return value" => About::Returns,
        "raises" | "errors" | "error" | "panics" | "throws" | "warns" | "except" | "exceptions" => About::Throws,
        "attributes" | "fields" | "members" => About::Properties,
        "example" | "examples" => About::Examples,
        "see also" | "references" => About::See,
        "deprecated" => About::Deprecated,
        "note" | "notes" | "safety" | "warning" | "warnings" => About::Description,
        _ => return None,
    })
}

fn read(language: &str, about: About, block: &[&str], found: &mut Documentation) {
    match about {
        About::Description if language == "python" => fields(block, found),
        About::Description => {
            let text = prose(block.iter().copied());
            if !text.is_empty() {
                add(&mut found.description, &text, "\n\n");
            }
        }
        About::Parameters => found.parameters.extend(items(language, block)),
        About::Properties => found.properties.extend(items(language, block)),
        About::Returns if language == "python" => found.returns.extend(results(block)),
        About::Throws if language == "python" => {
            for item in items(language, block) {
                found.throws.push(Documented {
                    type_: item.name,
                    description: item.description,
                    ..Documented::default()
                });
            }
        }
        About::Returns | About::Throws => {
            let description = prose(block.iter().copied());
            if !description.is_empty() {
                let of = if about == About::Returns {
                    &mut found.returns
                } else {
                    &mut found.throws
                };
                of.push(Documented {
                    description,
                    ..Documented::default()
                });
            }
        }
        About::Examples => {
            let code: Vec<&str> = block
                .iter()
                .copied()
                .filter(|line| !line.trim().starts_with("```"))
                .collect();
            let code = code.join("\n");
            if !code.trim().is_empty() {
                found.examples.push(code.trim().to_string());
            }
        }
        About::See => found.see.extend(
            block
                .iter()
                .map(|line| line.trim().to_string())
                .filter(|line| !line.is_empty()),
        ),
        About::Deprecated => found.deprecated = Some(prose(block.iter().copied())),
    }
}

/// Items of a section: `name (type): text`, NumPy's `name : type` with the text below, rustdoc's ``* `name` - text``.
fn items(language: &str, block: &[&str]) -> Vec<Documented> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let least = block
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| indentation(line))
        .min()
        .unwrap_or(0);
    let mut entries: Vec<Vec<&str>> = Vec::new();
    for line in block.iter().copied() {
        let starts = match language {
            "rust" => line.trim_start().starts_with(['*', '-']),
            _ => indentation(line) == least && !line.trim().is_empty(),
        };
        match entries.last_mut() {
            _ if starts => entries.push(vec![line]),
            Some(entry) => entry.push(line),
            None => {}
        }
    }
    entries.iter().flat_map(|entry| item(language, entry)).collect()
}

fn item(language: &str, entry: &[&str]) -> Vec<Documented> {
    let Some((first, rest)) = entry.split_first() else {
        return Vec::new();
    };
    let first = first.trim();
    if language == "rust" {
        let body = first.trim_start_matches(['*', '-']).trim_start();
        let (name, text) = match body.strip_prefix('`').and_then(|body| body.split_once('`')) {
            Some(split) => split,
            None => body.split_once([':', ' ']).unwrap_or((body, "")),
        };
        let text = text.trim_start_matches([':', '-', '–', '—', ' ']);
        let lines = std::iter::once(text).chain(rest.iter().copied());
        return vec![Documented {
            name: name.trim().to_string(),
            description: prose(lines),
            ..Documented::default()
        }];
    }
    // NumPy puts blanks around the colon and the text below; Google neither.
    let (head, type_, text) = match first.split_once(" : ") {
        Some((head, type_)) => (head, type_, ""),
        None => match split_colon(first) {
            Some((head, text)) => match head.split_once('(') {
                Some((name, type_)) => (name, type_.trim_end().trim_end_matches(')'), text),
                None => (head, "", text),
            },
            None => (first, "", ""),
        },
    };
    let type_ = type_
        .trim()
        .trim_end_matches("optional")
        .trim_end()
        .trim_end_matches(',')
        .trim();
    let type_ = type_.split(", default").next().unwrap_or(type_);
    let description = prose(std::iter::once(text.trim()).chain(rest.iter().copied()));
    head.split(',')
        .map(|name| name.trim().trim_start_matches('*').trim_matches('`'))
        .filter(|name| !name.is_empty())
        .map(|name| Documented {
            name: name.to_string(),
            type_: type_.to_string(),
            description: description.clone(),
            ..Documented::default()
        })
        .collect()
}

/// At the first colon outside of brackets.
fn split_colon(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0i32;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ':' if depth == 0 => return Some((&text[..at], text[at + 1..].trim_start())),
            _ => {}
        }
    }
    None
}

/// `type: text`, NumPy's `name : type` or `type` with the text below, or text alone.
fn results(block: &[&str]) -> Vec<Documented> {
    let lines: Vec<&str> = block.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    let Some(first) = lines.first() else { return Vec::new() };
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let least = indentation(first);
    let is_numpy = lines.len() > 1 && lines[1..].iter().any(|line| indentation(line) > least) && least == 0
        || first.contains(" : ");
    if is_numpy {
        let mut all: Vec<Documented> = Vec::new();
        let mut below: Vec<&str> = Vec::new();
        for line in lines {
            if indentation(line) > least {
                below.push(line);
                continue;
            }
            if let Some(last) = all.last_mut() {
                last.description = prose(below.drain(..));
            }
            let (name, type_) = line.split_once(" : ").unwrap_or(("", line));
            all.push(Documented {
                name: name.trim().to_string(),
                type_: type_.trim().to_string(),
                ..Documented::default()
            });
        }
        if let Some(last) = all.last_mut() {
            last.description = prose(below);
        }
        return all;
    }
    let text = prose(lines);
    let (type_, description) = match split_colon(&text) {
        // A type is one word, or has brackets; a sentence with a colon in it is not one.
        Some((type_, rest)) if !type_.trim().contains(' ') || type_.contains('[') => (type_.trim(), rest),
        _ => ("", text.as_str()),
    };
    vec![Documented {
        type_: type_.to_string(),
        description: description.to_string(),
        ..Documented::default()
    }]
}

/// Prose of a docstring with reST's fields: `:param int x: text`, `:returns: text`, `:rtype: type`.
fn fields(block: &[&str], found: &mut Documentation) {
    let first = block
        .iter()
        .position(|line| field(line).is_some())
        .unwrap_or(block.len());
    let text = prose(block[..first].iter().copied());
    if !text.is_empty() {
        add(&mut found.description, &text, "\n\n");
    }
    let mut at = first;
    while at < block.len() {
        let end = (at + 1..block.len())
            .find(|&next| field(block[next]).is_some())
            .unwrap_or(block.len());
        if let Some((name, rest)) = field(block[at]) {
            let text = prose(std::iter::once(rest).chain(block[at + 1..end].iter().copied()));
            rest_field(name, text, found);
        }
        at = end;
    }
}

/// `:name arguments: text`.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim_start().strip_prefix(':')?.split_once(':')?;
    let known = name.split_whitespace().next()?;
    matches!(
        known,
        "param"
            | "parameter"
            | "arg"
            | "argument"
            | "key"
            | "keyword"
            | "type"
            | "return"
            | "returns"
            | "rtype"
            | "raise"
            | "raises"
            | "except"
            | "exception"
            | "var"
            | "ivar"
            | "cvar"
            | "vartype"
            | "yields"
            | "deprecated"
    )
    .then_some((name, rest.trim()))
}

fn rest_field(name: &str, text: String, found: &mut Documentation) {
    let mut words = name.split_whitespace();
    let kind = words.next().unwrap_or("");
    let words: Vec<&str> = words.collect();
    let Some((last, type_)) = words.split_last() else {
        match kind {
            "return" | "returns" | "yields" => result(found).description = text,
            "rtype" => result(found).type_ = text,
            "deprecated" => found.deprecated = Some(text),
            _ => {}
        }
        return;
    };
    let last = last.trim_start_matches('*').trim_start_matches("\\*");
    match kind {
        "type" => one(&mut found.parameters, last).type_ = text,
        "vartype" => one(&mut found.properties, last).type_ = text,
        "raise" | "raises" | "except" | "exception" => found.throws.push(Documented {
            type_: last.to_string(),
            description: text,
            ..Documented::default()
        }),
        "var" | "ivar" | "cvar" => one(&mut found.properties, last).description = text,
        _ => {
            let parameter = one(&mut found.parameters, last);
            parameter.description = text;
            if !type_.is_empty() {
                parameter.type_ = type_.join(" ");
            }
        }
    }
}

fn result(found: &mut Documentation) -> &mut Documented {
    if found.returns.is_empty() {
        found.returns.push(Documented::default());
    }
    &mut found.returns[0]
}

fn one<'a>(of: &'a mut Vec<Documented>, name: &str) -> &'a mut Documented {
    let at = of.iter().position(|known| known.name == name).unwrap_or_else(|| {
        of.push(Documented {
            name: name.to_string(),
            ..Documented::default()
        });
        of.len() - 1
    });
    &mut of[at]
}

fn add(to: &mut String, text: &str, gap: &str) {
    if !to.is_empty() {
        to.push_str(gap);
    }
    to.push_str(text);
}
