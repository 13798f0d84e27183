//! The head of a declaration, read from its text: parameters with type and default, results, modifiers.
//!
//! The facts know what resolution needs; a descriptor gives what the author wrote. The one trick: brackets and quotes are
//! skipped by one scanner ([`scan`]), after which a parameter is split by where its language puts the name: before the
//! type (`name: Type`), after it (`Type name`), or alone.

mod go;
mod modifiers;
mod named_first;
mod scan;
#[cfg(test)]
mod tests;
mod typed_first;

use super::schema::{ParamDescriptor, ReturnDescriptor};
pub(super) use modifiers::unannotated;
use modifiers::{modifiers_cut, type_before};
use named_first::named_first;
use scan::{find_top, matching, split_top};
use typed_first::{PHP_MODIFIERS, typed_first};

/// What a head says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// In order, receivers excluded.
    pub(super) parameters: Vec<ParamDescriptor>,
    /// Types of the result as written.
    pub(super) returns: Vec<ReturnDescriptor>,
    /// The receiver of Go, as written.
    pub(super) receiver: String,
}

/// Longest text that is read as a head.
const MAX_HEAD: usize = 16 * 1024;

/// Reads the head of the function whose definition is `text` and whose name ends at `name_end` in it. `None` where there is no
/// list of parameters.
pub(super) fn parse(language: &str, text: &str, name_start: usize, name_end: usize) -> Option<Head> {
    let text = super::docs::cut(text, MAX_HEAD);
    let before = text.get(..name_start)?;
    let after = text.get(name_end..)?;
    let (inside, rest) = list_after(language, after)?;
    let mut head = Head {
        parameters: parameters(language, inside),
        ..Head::default()
    };
    match language {
        "go" => {
            head.receiver = before
                .find('(')
                .and_then(|open| Some(&before[open + 1..matching(language, before, open)?]))
                .map(|inside| inside.split_whitespace().next_back().unwrap_or("").to_string())
                .unwrap_or_default();
            head.returns = go::results(rest);
        }
        "java" | "c" | "cpp" | "csharp" => {
            let type_ = type_before(language, before);
            let trailing = rest
                .trim_start()
                .strip_prefix("->")
                .map(|rest| until_body(language, rest));
            head.returns.extend(trailing.or(type_).as_deref().map(returned));
        }
        _ => {
            let mark = if matches!(language, "rust" | "python") {
                "->"
            } else {
                ":"
            };
            let type_ = rest
                .trim_start()
                .strip_prefix(mark)
                .map(|rest| until_body(language, rest));
            head.returns
                .extend(type_.as_deref().filter(|type_| !type_.is_empty()).map(returned));
        }
    }
    Some(head)
}

/// Type and default of the variable `name` declared by `text`.
pub(super) fn variable(language: &str, text: &str, name: &str) -> (String, String) {
    let text = super::docs::cut(text, MAX_HEAD).trim().trim_end_matches(';');
    match language {
        "java" | "c" | "cpp" | "csharp" => {
            let text = accessors_cut(text);
            let declarators = split_top(language, text, ',');
            let first = declarators.first().copied().unwrap_or(text);
            let own = declarators
                .iter()
                .copied()
                .find(|part| typed_first(language, part).name == name)
                .unwrap_or(first);
            let mut found = typed_first(language, own);
            // `int a, *b`: what is shared stands before the first name.
            if own != first {
                let shared = typed_first(language, first).type_;
                let shared = shared.trim_end_matches(['*', '&']).trim_end();
                found.type_ = format!(
                    "{shared}{}",
                    if found.type_.is_empty() {
                        String::new()
                    } else {
                        format!(" {}", found.type_)
                    }
                );
            }
            (modifiers_cut(language, &found.type_).to_string(), found.default)
        }
        "php" => {
            let found = typed_first(language, text);
            let type_ = found
                .type_
                .split_whitespace()
                .filter(|word| !PHP_MODIFIERS.contains(word));
            (type_.collect::<Vec<_>>().join(" "), found.default)
        }
        "go" => {
            let text = text.split('`').next().unwrap_or(text).trim();
            let (left, default) = assigned(language, text);
            let left = left.trim_start_matches("var ").trim_start_matches("const ");
            // `A, B string`
            let type_ = split_top(language, left, ',')
                .last()
                .and_then(|last| last.trim().split_once(char::is_whitespace));
            (
                type_.map(|(_, type_)| type_.trim().to_string()).unwrap_or_default(),
                default.to_string(),
            )
        }
        "ruby" => (String::new(), assigned(language, text).1.to_string()),
        _ => {
            let (left, default) = assigned(language, text);
            let type_ = find_top(language, left, ':').map(|at| left[at + 1..].trim().to_string());
            let default = if text.starts_with("self.") { "" } else { default };
            (type_.unwrap_or_default(), default.to_string())
        }
    }
}

/// The list of parameters after a name: what is inside, and what follows.
fn list_after<'a>(language: &str, after: &'a str) -> Option<(&'a str, &'a str)> {
    let mut rest = after.trim_start();
    loop {
        let first = rest.chars().next()?;
        match first {
            '(' => {
                let close = matching(language, rest, 0)?;
                return Some((&rest[1..close], &rest[close + 1..]));
            }
            '<' | '[' => {
                let close = matching(language, rest, 0)?;
                rest = rest[close + 1..].trim_start();
            }
            // `name = async (…) =>`, `name: Type = function name(…)`
            '=' | ':' | '?' | '!' if matches!(language, "javascript" | "typescript" | "tsx" | "vue" | "svelte") => {
                let equals = match first {
                    '=' => 0,
                    _ => find_top(language, rest, '=').or_else(|| find_top(language, rest, '('))?,
                };
                rest = rest[equals..].trim_start_matches('=').trim_start();
                rest = rest.strip_prefix("async ").unwrap_or(rest).trim_start();
                if let Some(function) = rest.strip_prefix("function") {
                    rest = &function[function.find(['(', '<'])?..];
                }
                if !rest.starts_with(['(', '<']) {
                    // One parameter without parentheses: `x => …`.
                    let (name, after) = rest.split_once("=>")?;
                    let name = name.trim();
                    let is_name = name
                        .chars()
                        .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$'));
                    return (is_name && !name.is_empty()).then_some((name, after));
                }
            }
            _ if language == "ruby" => {
                let line = rest.lines().next().unwrap_or("");
                let line = line.split(';').next().unwrap_or(line);
                let same_line = after.starts_with(' ') || after.starts_with('\t');
                return same_line.then_some((line.trim(), ""));
            }
            _ => return None,
        }
    }
}

fn parameters(language: &str, inside: &str) -> Vec<ParamDescriptor> {
    let parts = split_top(language, inside, ',');
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    match language {
        "go" => go::parameters(&parts.collect::<Vec<_>>()),
        "java" | "c" | "cpp" | "csharp" | "php" => parts
            .filter(|part| *part != "void")
            .map(|part| typed_first(language, part))
            .collect(),
        _ => {
            let mut keyword = false;
            parts
                .filter_map(|part| named_first(language, part, &mut keyword))
                .collect()
        }
    }
}

/// `int Size { get; set; } = 3` without its accessors.
fn accessors_cut(text: &str) -> &str {
    text.find('{').map_or(text, |at| text[..at].trim_end())
}

/// Both sides of the first assignment outside of brackets.
fn assigned<'a>(language: &str, text: &'a str) -> (&'a str, &'a str) {
    match scan::find_assignment(language, text) {
        Some(at) => (text[..at].trim_end_matches(':').trim_end(), text[at + 1..].trim()),
        None => (text, ""),
    }
}

/// What stands before the body: a block, an arrow, an assignment, a clause.
fn until_body(language: &str, rest: &str) -> String {
    let end = scan::body_start(language, rest);
    rest[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

fn returned(type_: &str) -> ReturnDescriptor {
    ReturnDescriptor {
        type_: type_.to_string(),
        source_hint: "type_hint".to_string(),
        ..ReturnDescriptor::default()
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$' || letter == '@'
}
