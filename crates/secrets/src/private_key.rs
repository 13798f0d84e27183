//! Private keys in code: whole blocks, and parts of them where an answer was cut. Code also speaks of such blocks, with names and not
//! with keys between the marks; only what holds a line of a key is masked.

use std::borrow::Cow;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const MARK: &str = "PRIVATE KEY-----";
/// Longer than any name, shorter than a line of any key.
const LINE: usize = 40;

/// `text` with every key replaced by `mask`.
pub(super) fn masked<'a>(text: &'a str, mask: &str) -> Cow<'a, str> {
    let mut out = String::new();
    let mut written = 0;
    let mut at = 0;
    while let Some((begins, mark)) = next_mark(text, at) {
        at = mark.end;
        let (from, to) = match begins {
            true => {
                let body = &text[mark.end..];
                let next = body.find("-----").map_or(text.len(), |next| mark.end + next);
                match closing(text, next) {
                    Some(end) if holds_line(&text[mark.end..next]) => (mark.start, end),
                    _ => match lines_after(body) {
                        0 => continue,
                        length => (mark.start, mark.end + length),
                    },
                }
            }
            // Its beginning was cut off.
            false => match lines_before(&text[written..mark.start]) {
                0 => continue,
                length => (mark.start - length, mark.end),
            },
        };
        out.push_str(&text[written..from]);
        out.push_str(mask);
        written = to;
        at = to;
    }
    match written {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + &text[written..]),
    }
}

/// The next mark from `at` on, and whether it begins a key.
fn next_mark(text: &str, at: usize) -> Option<(bool, std::ops::Range<usize>)> {
    let mut from = at;
    loop {
        let start = from + text[from..].find("-----")?;
        for (word, begins) in [(BEGIN, true), (END, false)] {
            if let Some(end) = marked(text, start, word) {
                return Some((begins, start..end));
            }
        }
        from = start + 1;
    }
}

/// Where the mark ends that begins at `start`.
fn marked(text: &str, start: usize, word: &str) -> Option<usize> {
    let kind = text[start..].strip_prefix(word)?;
    let length = kind.find(MARK)?;
    let is_kind = kind[..length]
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte == b' ');
    (is_kind && length <= 32).then(|| start + word.len() + length + MARK.len())
}

fn closing(text: &str, at: usize) -> Option<usize> {
    marked(text, at, END)
}

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// What stands between the lines of a key: in a file, in a string, in a list of strings.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'+' | b'.' | b'|')
}

fn holds_line(body: &str) -> bool {
    body.as_bytes()
        .split(|byte| !is_of_key(*byte))
        .any(|run| run.len() >= LINE)
}

/// How much of the beginning of `body` are lines of a key, with what stands between them.
fn lines_after(body: &str) -> usize {
    let bytes = body.as_bytes();
    let mut length = 0;
    loop {
        let between = between(&bytes[length..]);
        let line = bytes[length + between..]
            .iter()
            .take_while(|byte| is_of_key(**byte))
            .count();
        if line < LINE {
            return length;
        }
        length += between + line;
    }
}

/// Bytes between two lines, an escaped end of a line (`\\n`) included, whose letter is not the line's.
fn between(bytes: &[u8]) -> usize {
    let mut length = 0;
    while let Some(byte) = bytes.get(length) {
        match byte {
            b'\\' if matches!(bytes.get(length + 1), Some(b'n' | b'r' | b't')) => length += 2,
            byte if is_between(*byte) => length += 1,
            _ => break,
        }
    }
    length
}

/// How much of the end of `body` are lines of a key. The last line may be short.
fn lines_before(body: &str) -> usize {
    let mut kept = 0;
    let mut length = 0;
    let mut lines = 0;
    for line in body.split_inclusive('\n').rev() {
        let bare =
            line.trim_matches(|letter: char| u8::try_from(letter).is_ok_and(|byte| is_between(byte) && byte != b'+'));
        length += line.len();
        if bare.is_empty() && lines == 0 {
            continue;
        }
        let is_line = bare.bytes().all(is_of_key) && (bare.len() >= LINE || lines == 0);
        if !is_line {
            break;
        }
        lines += 1;
        if bare.len() >= LINE {
            kept = length;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::masked;

    const LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

    fn check(text: &str, expected: &str) {
        assert_eq!(masked(text, "[key]"), expected);
    }

    #[test]
    fn a_block_is_masked_as_a_whole() {
        let block = format!("-----BEGIN PRIVATE KEY-----\n{LINE}\n{LINE}\nAb3=\n-----END PRIVATE KEY-----");
        check(&format!("a\n{block}\nb\n{block}"), "a\n[key]\nb\n[key]");
        let escaped = format!(r#"k = "-----BEGIN EC PRIVATE KEY-----\n{LINE}\nAb3=\n-----END EC PRIVATE KEY-----\n""#);
        check(&escaped, r#"k = "[key]\n""#);
        let encrypted = format!(
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n{LINE}\n-----END RSA PRIVATE KEY-----"
        );
        check(&encrypted, "[key]");
    }

    #[test]
    fn a_part_of_a_block_is_masked() {
        check(&format!("x\n-----BEGIN PRIVATE KEY-----\n{LINE}\n{LINE}"), "x\n[key]");
        check(
            &format!("{LINE}\n{LINE}\nAb3=\n-----END PRIVATE KEY-----\nx"),
            "[key]\nx",
        );
        check(
            &format!("def f():\n{LINE}\n-----END PRIVATE KEY-----"),
            "def f():\n[key]",
        );
    }

    #[test]
    fn a_certificate_and_a_mention_are_not() {
        for text in [
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            "match -----BEGIN PRIVATE KEY----- and read_the_rest_of_it(until the end)",
            "a -----END PRIVATE KEY----- b",
        ] {
            check(text, text);
        }
        check(
            &format!(
                "if x == '-----BEGIN PRIVATE KEY-----':\n    f()\n-----BEGIN PRIVATE KEY-----\n{LINE}\n-----END PRIVATE KEY-----"
            ),
            "if x == '-----BEGIN PRIVATE KEY-----':\n    f()\n[key]",
        );
    }
}
