//! Brackets, quotes and comments of any deep language: where a pair ends, where a list is split, where a body starts.

/// Walks `text` from `from` and calls `visit` with each byte's place, the byte and its depth in brackets, strings and comments left
/// out. Ends when `visit` says so.
fn walk(language: &str, text: &str, from: usize, visit: &mut dyn FnMut(usize, u8, usize) -> bool) {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut at = from;
    while at < bytes.len() {
        let byte = bytes[at];
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        match byte {
            b'/' if next == b'/' && !matches!(language, "python" | "ruby") => {
                at = line_end(bytes, at);
                continue;
            }
            b'/' if next == b'*' => {
                at = text
                    .get(at + 2..)
                    .and_then(|rest| rest.find("*/"))
                    .map_or(bytes.len(), |end| at + end + 4);
                continue;
            }
            b'#' if matches!(language, "python" | "ruby") || (language == "php" && next != b'[') => {
                at = line_end(bytes, at);
                continue;
            }
            b'"' | b'`' => {
                at = string_end(bytes, at, byte);
                continue;
            }
            // A quote may start a lifetime, which has no end.
            b'\'' if language != "rust" || is_character(bytes, at) => {
                at = string_end(bytes, at, byte);
                continue;
            }
            b'(' | b'[' | b'{' => {
                if visit(at, byte, depth) {
                    return;
                }
                depth += 1;
            }
            b'<' if has_generics(language) && opens_generic(bytes, at) => {
                if visit(at, byte, depth) {
                    return;
                }
                depth += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if visit(at, byte, depth) {
                    return;
                }
            }
            b'>' if has_generics(language)
                && depth > 0
                && !matches!(at.checked_sub(1).map(|at| bytes[at]), Some(b'-' | b'=')) =>
            {
                depth -= 1;
                if visit(at, byte, depth) {
                    return;
                }
            }
            _ => {
                if visit(at, byte, depth) {
                    return;
                }
            }
        }
        at += 1;
    }
}

/// Where the pair that opens at `open` closes.
pub(super) fn matching(language: &str, text: &str, open: usize) -> Option<usize> {
    let mut found = None;
    walk(language, text, open, &mut |at, byte, depth| {
        let closes = at > open && depth == 0 && matches!(byte, b')' | b']' | b'}' | b'>');
        if closes {
            found = Some(at);
        }
        closes
    });
    found
}

/// The parts of `text` between the `by`s outside of brackets.
pub(super) fn split_top<'a>(language: &str, text: &'a str, by: char) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut start = 0;
    walk(language, text, 0, &mut |at, byte, depth| {
        if depth == 0 && char::from(byte) == by {
            parts.push(&text[start..at]);
            start = at + 1;
        }
        false
    });
    parts.push(&text[start..]);
    parts
}

/// The first `wanted` outside of brackets; a double colon does not count as colons.
pub(super) fn find_top(language: &str, text: &str, wanted: char) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut found = None;
    walk(language, text, 0, &mut |at, byte, depth| {
        let is_double = byte == b':' && (bytes.get(at + 1) == Some(&b':') || at > 0 && bytes[at - 1] == b':');
        let hit = depth == 0 && char::from(byte) == wanted && !is_double;
        if hit {
            found = Some(at);
        }
        hit
    });
    found
}

/// The first `=` outside of brackets that is an assignment.
pub(super) fn find_assignment(language: &str, text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut found = None;
    walk(language, text, 0, &mut |at, byte, depth| {
        let before = at.checked_sub(1).map_or(b' ', |at| bytes[at]);
        let after = bytes.get(at + 1).copied().unwrap_or(b' ');
        let hit =
            depth == 0 && byte == b'=' && !matches!(before, b'=' | b'!' | b'<' | b'>') && !matches!(after, b'=' | b'>');
        if hit {
            found = Some(at);
        }
        hit
    });
    found
}

/// Where the body starts: a brace, an arrow, a colon (Python), an assignment, a semicolon or a clause.
pub(super) fn body_start(language: &str, text: &str) -> usize {
    let mut end = text.len();
    let bytes = text.as_bytes();
    let mut started = false;
    walk(language, text, 0, &mut |at, byte, depth| {
        if depth > 0 {
            return false;
        }
        let hit = match byte {
            // A type may itself be an object: `: { a: number } {`.
            b'{' => started || !matches!(language, "typescript" | "tsx"),
            b';' => true,
            b':' => language == "python",
            b'=' if bytes.get(at + 1) == Some(&b'>') => {
                !matches!(language, "typescript" | "tsx") || !is_function_type(&text[..at])
            }
            b'=' => true,
            b'\n' => matches!(language, "kotlin" | "go") && started,
            b'w' => text[at..].starts_with("where") && text[..at].ends_with(char::is_whitespace),
            _ => false,
        };
        started |= !byte.is_ascii_whitespace();
        if hit {
            end = at;
        }
        hit
    });
    end
}

/// `(x: number) => void` is a type; `): void => {` ends one.
fn is_function_type(before: &str) -> bool {
    let before = before.trim();
    before.starts_with('(') && before.ends_with(')')
}

fn has_generics(language: &str) -> bool {
    matches!(
        language,
        "rust" | "typescript" | "tsx" | "java" | "csharp" | "cpp" | "kotlin" | "scala" | "vue" | "svelte" | "swift"
    )
}

/// Whether `<` opens a list of types: comparisons and shifts have a blank or a second `<` after it.
fn opens_generic(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map_or(b' ', |at| bytes[at]);
    let after = bytes.get(at + 1).copied().unwrap_or(b' ');
    before != b'<' && !matches!(after, b'<' | b'=' | b' ')
}

fn is_character(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + 1) == Some(&b'\\') || bytes.get(at + 2) == Some(&b'\'')
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end)
}

/// One past the end of the string that starts at `at`; of a tripled quote, past its tripled end.
fn string_end(bytes: &[u8], at: usize, quote: u8) -> usize {
    let is_tripled = bytes[at..].starts_with(&[quote, quote, quote]);
    let mut end = at + if is_tripled { 3 } else { 1 };
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 1,
            byte if byte == quote => {
                if !is_tripled {
                    return end + 1;
                }
                if bytes[end..].starts_with(&[quote, quote, quote]) {
                    return end + 3;
                }
            }
            _ => {}
        }
        end += 1;
    }
    bytes.len()
}
