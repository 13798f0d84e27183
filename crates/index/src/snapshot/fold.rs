//! The order of names: by their lower-case form, then as written, so that one binary search serves exact, case-blind and
//! prefix look-ups.

use std::cmp::Ordering;

/// Compares by lower-case form, then by bytes.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    compare_folded(left, right).then_with(|| left.cmp(right))
}

/// Compares by lower-case form alone.
pub(crate) fn compare_folded(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        let lower = |byte: u8| byte.to_ascii_lowercase();
        return left.bytes().map(lower).cmp(right.bytes().map(lower));
    }
    folded(left).cmp(folded(right))
}

/// Compares the beginning of `text` with `prefix`, by lower-case form: `Equal` means that it starts so.
pub(crate) fn compare_prefix(text: &str, prefix: &str) -> Ordering {
    let mut text = folded(text);
    for wanted in folded(prefix) {
        match text.next() {
            None => return Ordering::Less,
            Some(found) => match found.cmp(&wanted) {
                Ordering::Equal => {}
                unequal => return unequal,
            },
        }
    }
    Ordering::Equal
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

/// Appends the lower-case form as one line.
pub(crate) fn push_line(text: &str, lines: &mut String) {
    let start = lines.len();
    match text.is_ascii() {
        true => {
            lines.push_str(text);
            lines[start..].make_ascii_lowercase();
        }
        false => lines.extend(folded(text)),
    }
    if memchr::memchr2(b'\n', b'\r', &lines.as_bytes()[start..]).is_some() {
        let flat = lines[start..].replace(['\n', '\r'], " ");
        lines.truncate(start);
        lines.push_str(&flat);
    }
    lines.push('\n');
}
