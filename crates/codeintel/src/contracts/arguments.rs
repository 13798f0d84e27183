//! Reads the arguments of a call from the source text behind the callee's name, in any of the deep languages.
//!
//! The facts know where a call is and what it calls, but keep interpolated strings only as "some text". Their parts are what a
//! route is made of, so the arguments are split from the text: brackets and quotes are the same almost everywhere.

/// Longest stretch of text that is looked at for one call.
const MAX_EXTENT: usize = 64 * 1024;
/// Deepest nesting of calls inside an argument that is looked into.
const MAX_NESTING: usize = 6;

/// The arguments of one call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arguments<'t> {
    /// In order.
    pub(super) items: Vec<Argument<'t>>,
    /// One past the last byte, a block that follows the call included.
    pub(super) end: usize,
}

/// One argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Argument<'t> {
    /// Its name, where it is passed by name.
    pub(super) name: Option<&'t str>,
    /// Its value as written.
    pub(super) value: &'t str,
}

/// A text with holes: what is known of a string that may be computed.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Template {
    /// Its parts in order.
    pub(super) parts: Vec<Part>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Known text.
    Text(String),
    /// Something computed, with a name for it where there is one.
    Hole(String),
}

/// The arguments that start at byte `from`, right behind the callee's name.
pub(super) fn read(text: &str, from: usize) -> Option<Arguments<'_>> {
    let limit = floor(text, from.saturating_add(MAX_EXTENT));
    let text = text.get(..limit)?;
    let mut at = skip_spaces(text, from);
    // Type arguments and the mark of a macro stand between the name and its arguments.
    for mark in ["::", "!"] {
        if text.get(at..)?.starts_with(mark) {
            at += mark.len();
        }
    }
    if text.get(at..)?.starts_with('<') {
        at = skip_spaces(text, closing(text, at)?);
    }
    let rest = text.get(at..)?;
    if rest.starts_with('(') {
        let close = closing(text, at)?;
        let inner = text.get(at + 1..close - 1)?;
        return Some(Arguments {
            items: split(inner),
            end: block_end(text, close),
        });
    }
    // A block alone, and arguments without brackets on the same line: `get '/x', to: 'y'`.
    if rest.starts_with('{') {
        return Some(Arguments {
            items: Vec::new(),
            end: closing(text, at)?,
        });
    }
    if at > from && rest.starts_with(['\'', '"', ':']) && !rest.starts_with("::") {
        let end = line_end(text, at);
        let line = text.get(at..end)?;
        let line = line.strip_suffix(" do").unwrap_or(line);
        let line = line.split(" do |").next().unwrap_or(line);
        return Some(Arguments {
            items: split(line),
            end,
        });
    }
    Some(Arguments {
        items: Vec::new(),
        end: at,
    })
}

impl<'t> Arguments<'t> {
    /// The value at a place: a position (`0`), a name (`methods`), or a member of an object at either (`0.url`).
    pub(super) fn get(&self, place: &str) -> Option<&'t str> {
        let (first, rest) = place.split_once('.').map_or((place, None), |(a, b)| (a, Some(b)));
        let value = match first.parse::<usize>() {
            Ok(position) => {
                let mut plain = self.items.iter().filter(|argument| argument.name.is_none());
                plain.nth(position)?.value
            }
            Err(_) => {
                self.items
                    .iter()
                    .find(|argument| argument.name.is_some_and(|name| name.eq_ignore_ascii_case(first)))?
                    .value
            }
        };
        match rest {
            None => Some(value),
            Some(member) => object(value)?
                .into_iter()
                .find(|entry| entry.name == Some(member))
                .map(|entry| entry.value),
        }
    }
}

/// The members of an object, dictionary or list as written; `None` when it is none.
pub(super) fn object(value: &str) -> Option<Vec<Argument<'_>>> {
    let value = value.trim();
    let open = value.find(['{', '['])?;
    // A name may stand before the bracket: `&Config{…}`, `new[] {…}`, `listOf(…)`.
    if value[..open].contains(['"', '\'', '(', '`']) {
        return None;
    }
    let close = closing(value, open)?;
    Some(split(value.get(open + 1..close - 1)?))
}

/// The strings of a value: one for a string, all for a list of them.
pub(super) fn strings(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    let bytes = value.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if matches!(bytes[at], b'"' | b'\'' | b'`')
            && let Some(end) = string_end(value, at)
        {
            if let Some(text) = value.get(at + 1..end - 1) {
                found.push(text.to_string());
            }
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

/// What is known of a value as text; `None` when nothing in it is a string. `constant` knows the values of names.
pub(super) fn template(value: &str, constant: &dyn Fn(&str) -> Option<String>) -> Option<Template> {
    let template = read_template(value, constant, 0)?;
    let known = template
        .parts
        .iter()
        .any(|part| matches!(part, Part::Text(text) if !text.is_empty()));
    known.then_some(template)
}

fn read_template(value: &str, constant: &dyn Fn(&str) -> Option<String>, depth: usize) -> Option<Template> {
    let value = value.trim().trim_start_matches(['&', '*']);
    if value.is_empty() || depth > MAX_NESTING {
        return None;
    }
    let mut parts = Vec::new();
    for term in terms(value) {
        let term = term.trim();
        if let Some(found) = string_parts(term) {
            parts.extend(found);
            continue;
        }
        // `"/users/%s" % id`
        if let Some(at) = term.find(['"', '\'']).and_then(|open| string_end(term, open))
            && term[at..].trim_start().starts_with('%')
            && let Some(found) = string_parts(&term[..at])
        {
            parts.extend(directives(found));
            continue;
        }
        if let Some(text) = constant(last_name(term)) {
            parts.push(Part::Text(text));
            continue;
        }
        // A function over a string: what it makes is taken to keep the words: `fmt.Sprintf("…")`, `URI.create("…")`.
        if let Some(open) = term.find('(')
            && let Some(close) = closing(term, open)
        {
            let inner = split(term.get(open + 1..close.saturating_sub(1)).unwrap_or(""));
            let formats = ["printf", "format", "Format"]
                .iter()
                .any(|word| term[..open].contains(word));
            if formats && let Some(first) = inner.iter().find(|argument| string_parts(argument.value).is_some()) {
                parts.extend(directives(string_parts(first.value).unwrap_or_default()));
                continue;
            }
            let nested = inner
                .iter()
                .find_map(|argument| read_template(argument.value, constant, depth + 1));
            if let Some(nested) = nested.filter(|nested| nested.parts.iter().any(|part| matches!(part, Part::Text(_))))
            {
                parts.extend(nested.parts);
                continue;
            }
        }
        parts.push(Part::Hole(last_name(term).to_string()));
    }
    Some(Template { parts })
}

/// `%s`, `%d` and `{}` become holes.
fn directives(parts: Vec<Part>) -> Vec<Part> {
    let mut found = Vec::new();
    for part in parts {
        let Part::Text(text) = part else {
            found.push(part);
            continue;
        };
        let mut plain = String::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let hole = match character {
                '%' => {
                    let mut letters = characters.clone();
                    let letter = letters.find(|letter| letter.is_alphabetic() || *letter == '%');
                    let is_verb = letter.is_some_and(|letter| "svdqxinfgtTu".contains(letter));
                    if is_verb {
                        characters = letters;
                    }
                    is_verb.then(String::new)
                }
                '{' => {
                    let name: String = characters.by_ref().take_while(|letter| *letter != '}').collect();
                    Some(name)
                }
                _ => None,
            };
            match hole {
                Some(name) => {
                    found.push(Part::Text(std::mem::take(&mut plain)));
                    found.push(Part::Hole(last_name(&name).to_string()));
                }
                None => plain.push(character),
            }
        }
        found.push(Part::Text(plain));
    }
    found
}

/// The parts of one string literal with its interpolations; `None` when `term` is not one.
fn string_parts(term: &str) -> Option<Vec<Part>> {
    let open = term.find(['"', '\'', '`'])?;
    let prefix = &term[..open];
    let is_prefix = prefix.len() <= 4 && prefix.chars().all(|letter| "fFrRbBuU$@#".contains(letter));
    if !is_prefix || string_end(term, open)? != term.len() {
        return None;
    }
    let quote = &term[open..open + 1];
    let triple = quote.repeat(3);
    let (start, end) = match term[open..].starts_with(&triple) && term.len() >= open + 6 {
        true => (open + 3, term.len() - 3),
        false => (open + 1, term.len() - 1),
    };
    let hashes = prefix.matches('#').count();
    let inner = term.get(start..end.saturating_sub(hashes))?;
    let braces = prefix.contains(['f', 'F']) || (prefix.contains('$') && quote == "\"");
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = inner;
    while let Some(character) = rest.chars().next() {
        let opening = if rest.starts_with("${") || rest.starts_with("#{") || rest.starts_with("{$") {
            Some(rest.find('{').unwrap_or(0))
        } else if braces && rest.starts_with('{') && !rest.starts_with("{{") {
            Some(0)
        } else {
            None
        };
        if let Some(brace) = opening
            && let Some(close) = closing(rest, brace)
        {
            let inside = &rest[brace + 1..close - 1];
            let inside = if braces {
                inside.split([':', '!']).next().unwrap_or(inside)
            } else {
                inside
            };
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Hole(last_name(inside).to_string()));
            rest = &rest[close..];
            continue;
        }
        // `$name` of PHP, Kotlin and shells.
        let dollar = rest.strip_prefix('$').filter(|_| quote != "'" && !braces);
        if let Some(after) =
            dollar.filter(|after| after.starts_with(|letter: char| letter.is_alphabetic() || letter == '_'))
        {
            let length = after
                .find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
                .unwrap_or(after.len());
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Hole(after[..length].to_string()));
            rest = &after[length..];
            continue;
        }
        plain.push(character);
        // Where braces are special, two stand for one.
        let is_doubled = braces && (rest.starts_with("{{") || rest.starts_with("}}"));
        rest = &rest[if is_doubled { 2 } else { character.len_utf8() }..];
    }
    parts.push(Part::Text(plain));
    Some(parts)
}

/// The terms of a concatenation: `a + "b" . c`.
fn terms(value: &str) -> Vec<&str> {
    let bytes = value.as_bytes();
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        at = match bytes[at] {
            b'"' | b'\'' | b'`' => string_end(value, at).unwrap_or(at + 1),
            b'(' | b'[' | b'{' => closing(value, at).unwrap_or(at + 1),
            b'+' => {
                found.push(&value[start..at]);
                start = at + 1;
                start
            }
            // PHP's dot has spaces around it, or a quote beside it.
            b'.' if at > start
                && (matches!(bytes[at - 1], b'"' | b'\'' | b' ')
                    || matches!(bytes.get(at + 1), Some(b'"' | b'\'' | b' '))) =>
            {
                found.push(&value[start..at]);
                start = at + 1;
                start
            }
            _ => at + 1,
        };
    }
    found.push(&value[start..]);
    found.retain(|term| !term.trim().is_empty());
    found
}

/// The last identifier of an expression: `user.id` is `id`, `String(userId)` is `userId`.
pub(super) fn last_name(text: &str) -> &str {
    let end = text
        .rfind(|letter: char| letter.is_alphanumeric() || letter == '_')
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    let start = text[..end]
        .rfind(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    &text[start..end]
}

/// Splits at the commas that stand in no bracket and no string.
pub(super) fn split(text: &str) -> Vec<Argument<'_>> {
    let bytes = text.as_bytes();
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        at = match bytes[at] {
            b'"' | b'\'' | b'`' => string_end(text, at).unwrap_or(at + 1),
            b'(' | b'[' | b'{' => closing(text, at).unwrap_or(at + 1),
            b',' => {
                found.push(argument(&text[start..at]));
                start = at + 1;
                start
            }
            b'/' if text[at..].starts_with("//") => line_break(text, at),
            b'#' if text[at..].starts_with("# ") => line_break(text, at),
            _ => at + 1,
        };
    }
    if !text[start..].trim().is_empty() {
        found.push(argument(&text[start..]));
    }
    found
}

fn argument(text: &str) -> Argument<'_> {
    let mut text = text.trim();
    // A comment may stand before an argument on a line of its own.
    while text.starts_with("//") || text.starts_with("# ") {
        text = text.split_once('\n').map_or("", |(_, rest)| rest).trim();
    }
    let quoted = text.strip_prefix(['"', '\'']).filter(|rest| {
        let length = rest.find(['"', '\'']).unwrap_or(0);
        length > 0 && rest[length + 1..].trim_start().starts_with([':', '='])
    });
    let (bare, offset) = match quoted {
        Some(rest) => (rest, 1),
        None => (text.trim_start_matches([':', '@', '$']), 0),
    };
    let length = bare
        .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-')))
        .unwrap_or(bare.len());
    let after = bare[length..].get(offset..).unwrap_or("").trim_start();
    let value = after
        .strip_prefix("=>")
        .or_else(|| after.strip_prefix('=').filter(|rest| !rest.starts_with(['=', '>'])))
        .or_else(|| after.strip_prefix(':').filter(|rest| !rest.starts_with([':', '='])));
    match value {
        Some(value) if length > 0 && !(after.starts_with("=>") && text.starts_with('(')) => Argument {
            name: Some(&bare[..length]),
            value: value.trim(),
        },
        _ => Argument {
            name: None,
            value: text,
        },
    }
}

/// One past the bracket that closes the one at `open`.
pub(super) fn closing(text: &str, open: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let angle = bytes.get(open) == Some(&b'<');
    let mut depth = 0usize;
    let mut at = open;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b'<' if angle => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'>' if angle => depth = depth.saturating_sub(1),
            b'"' | b'\'' | b'`' => {
                at = string_end(text, at).unwrap_or(at + 1);
                continue;
            }
            b'/' if text[at..].starts_with("//") && !text[..at].ends_with(':') => {
                at = line_break(text, at);
                continue;
            }
            b';' if angle => return None,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// One past the quote that closes the string opened at `open`; `None` for a lone quote (an apostrophe, a lifetime).
fn string_end(text: &str, open: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *bytes.get(open)?;
    let triple = bytes.get(open + 1) == Some(&quote) && bytes.get(open + 2) == Some(&quote) && quote != b'`';
    let mut at = open + if triple { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\n' if !triple && quote != b'`' => return None,
            byte if byte == quote && triple => {
                if bytes.get(at + 1) == Some(&quote) && bytes.get(at + 2) == Some(&quote) {
                    return Some(at + 3);
                }
                at += 1;
            }
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// One past the block that follows a call, or the call's own end.
fn block_end(text: &str, end: usize) -> usize {
    let after = skip_spaces(text, end);
    match text.as_bytes().get(after) {
        Some(b'{') => closing(text, after).unwrap_or(end),
        _ => end,
    }
}

fn skip_spaces(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or("");
    from + (rest.len() - rest.trim_start_matches([' ', '\t']).len())
}

/// Where a statement without brackets ends: its line, and the next ones while a comma ends them.
fn line_end(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let end = line_break(text, at);
        let line = text.get(at..end).unwrap_or("");
        if !line.trim_end().ends_with(',') || end >= text.len() {
            return end;
        }
        at = end + 1;
    }
}

fn line_break(text: &str, from: usize) -> usize {
    text.get(from..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |length| from + length)
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{Part, Template, read, strings, template};

    fn said(value: &str) -> String {
        let known = |name: &str| (name == "BASE").then(|| "/api".to_string());
        let Some(Template { parts }) = template(value, &known) else {
            return "none".to_string();
        };
        parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Hole(name) => format!("<{name}>"),
            })
            .collect()
    }

    #[test]
    fn strings_of_many_languages() {
        for (value, expected) in [
            ("'/a/b'", "/a/b"),
            ("`/users/${user.id}/x`", "/users/<id>/x"),
            ("f\"/users/{user_id:d}\"", "/users/<user_id>"),
            ("f\"/things{i}/{{id}}\"", "/things<i>/{id}"),
            ("$\"/users/{id}\"", "/users/<id>"),
            ("\"/users/#{id}\"", "/users/<id>"),
            ("\"/users/$id/x\"", "/users/<id>/x"),
            ("\"/users/\" + id + \"/x\"", "/users/<id>/x"),
            ("'/users/' . $id", "/users/<id>"),
            ("fmt.Sprintf(\"%s/users/%d\", base, id)", "<>/users/<>"),
            ("format!(\"{base}/users/{}\", id)", "<base>/users/<>"),
            ("URI.create(\"http://h/users\")", "http://h/users"),
            ("BASE + '/users'", "/api/users"),
            ("'/users/%s/x' % user", "/users/<>/x"),
            ("r'^users/$'", "^users/$"),
            ("url", "none"),
            ("compute(x)", "none"),
        ] {
            assert_eq!(said(value), expected, "{value}");
        }
    }

    #[test]
    fn arguments_by_place() {
        let text = "f('/x', methods=['GET', 'POST'], { url: '/y', method: \"PUT\" }) { inside }";
        let arguments = read(text, 1).unwrap();
        assert_eq!(arguments.end, text.len());
        assert_eq!(arguments.get("0"), Some("'/x'"));
        assert_eq!(strings(arguments.get("methods").unwrap()), ["GET", "POST"]);
        assert_eq!(arguments.get("1.url"), Some("'/y'"));
        assert_eq!(arguments.get("1.method"), Some("\"PUT\""));
        assert_eq!(arguments.get("2"), None);
    }

    #[test]
    fn statements_without_brackets() {
        let text = "get '/users', to: 'users#index',\n  as: :users\nput '/z'";
        let arguments = read(text, 3).unwrap();
        assert_eq!(arguments.get("0"), Some("'/users'"));
        assert_eq!(arguments.get("as"), Some(":users"));
        assert_eq!(&text[arguments.end..], "\nput '/z'");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[a-z'\"`(){}\\[\\]<>$#,.=:+ \\n\\\\é/]{0,60}", from in 0usize..30) {
            let from = super::floor(&text, from);
            if let Some(arguments) = read(&text, from) {
                for argument in arguments.items {
                    let _ = template(argument.value, &|_| None);
                    let _ = super::object(argument.value);
                }
            }
        }
    }
}
