//! The spelling of cells: escapes, numbers, and the needless escape that marks text.
//!
//! The one trick: every GCX1 decoder reads `\x` as `x` for any `x` but `\`, `t` and `n`, and no reference encoder writes
//! such an escape. A needless escape is therefore free to carry a meaning that old decoders never notice:
//! `\42` is the text `42`, not a number, and `\"…"` is a JSON string literal.

use std::borrow::Cow;

use serde::de::IgnoredAny;

/// How a cell must be read, as far as its escapes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// No needless escape: the reader infers the type.
    Plain,
    /// A needless escape: this is text whatever it looks like.
    Text,
    /// Begins with `\"`: a JSON string literal.
    Literal,
}

const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    table[b'\\' as usize] = true;
    table[b'\t' as usize] = true;
    table[b'\n' as usize] = true;
    table[b'\r' as usize] = true;
    table
};

/// Where the first byte that needs an escape is, if any.
#[inline]
pub(crate) fn first_special(bytes: &[u8]) -> Option<usize> {
    // Eight at a time without a branch between them; the exact place is found only where there is one.
    let mut chunks = bytes.chunks_exact(8);
    let mut at = 0;
    for chunk in &mut chunks {
        if chunk.iter().fold(false, |any, &byte| any | SPECIAL[usize::from(byte)]) {
            break;
        }
        at += 8;
    }
    bytes[at..]
        .iter()
        .position(|&byte| SPECIAL[usize::from(byte)])
        .map(|offset| at + offset)
}

/// Appends `text` with `\`, TAB and LF escaped and CR left out, which is all that the format defines.
pub(crate) fn escape_into(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some(at) = first_special(rest) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            _ => {}
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Undoes [`escape_into`]. Any other `\x` is `x`; a lone `\` at the end stays.
pub(crate) fn unescape(raw: &str) -> (Cow<'_, str>, Mark) {
    let Some(first) = memchr::memchr(b'\\', raw.as_bytes()) else {
        return (Cow::Borrowed(raw), Mark::Plain);
    };
    let mut mark = if raw.starts_with("\\\"") {
        Mark::Literal
    } else {
        Mark::Plain
    };
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(at) = next {
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let Some(escaped) = after.chars().next() else {
            text.push('\\');
            rest = after;
            break;
        };
        match escaped {
            '\\' => text.push('\\'),
            't' => text.push('\t'),
            'n' => text.push('\n'),
            other => {
                text.push(other);
                if mark == Mark::Plain {
                    mark = Mark::Text;
                }
            }
        }
        rest = &after[escaped.len_utf8()..];
        next = memchr::memchr(b'\\', rest.as_bytes());
    }
    text.push_str(rest);
    (Cow::Owned(text), mark)
}

/// Whether a reader that infers types would take this text for something else, so that it needs a mark.
pub(crate) fn looks_typed(text: &str) -> bool {
    match text.as_bytes() {
        [b'-' | b'0'..=b'9', ..] => is_number(text.as_bytes()),
        b"true" | b"false" => true,
        bytes @ ([b'[', .., b']'] | [b'{', .., b'}']) => serde_json::from_slice::<IgnoredAny>(bytes).is_ok(),
        _ => false,
    }
}

/// Appends `text`, which [`looks_typed`], with a needless escape. `\true` would read as a TAB, so `t` and `n` stay first.
pub(crate) fn mark_into(out: &mut Vec<u8>, text: &str) {
    if text == "true" {
        out.extend_from_slice(b"t\\rue");
    } else {
        out.push(b'\\');
        escape_into(out, text);
    }
}

/// Whether `bytes` are one JSON number.
pub(crate) fn is_number(bytes: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = bytes.strip_prefix(b"-").unwrap_or(bytes);
    match digits(rest) {
        0 => return false,
        count if count > 1 && rest[0] == b'0' => return false,
        count => rest = &rest[count..],
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        match digits(fraction) {
            0 => return false,
            count => rest = &fraction[count..],
        }
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = exponent
            .strip_prefix(b"+")
            .or(exponent.strip_prefix(b"-"))
            .unwrap_or(exponent);
        match digits(exponent) {
            0 => return false,
            count => rest = &exponent[count..],
        }
    }
    rest.is_empty()
}

/// Appends a float as Go's `FormatFloat(x, 'g', -1, 64)` spells it: `0.95`, `1`, `123456`, `1.234567e+06`, `1e-05`.
pub(crate) fn go_float_into(out: &mut Vec<u8>, number: f64) {
    let mut buffer = ryu::Buffer::new();
    let shortest = buffer.format_finite(number);
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
    if number.is_sign_negative() {
        out.push(b'-');
    }
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let all = format!("{whole}{fraction}");
    let leading = all.len() - all.trim_start_matches('0').len();
    let digits = all.trim_matches('0');
    if digits.is_empty() {
        out.push(b'0');
        return;
    }
    // The value is 0.DIGITS × 10^point.
    let point = whole.len() as i32 + exponent - leading as i32;
    let digits = digits.as_bytes();
    if !(-3..=6).contains(&point) {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        let scale = point - 1;
        out.extend_from_slice(if scale < 0 { b"e-" } else { b"e+" });
        out.extend_from_slice(format!("{:02}", scale.unsigned_abs()).as_bytes());
    } else if point <= 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + point.unsigned_abs() as usize, b'0');
        out.extend_from_slice(digits);
    } else {
        let point = point as usize;
        out.extend_from_slice(&digits[..point.min(digits.len())]);
        if digits.len() > point {
            out.push(b'.');
            out.extend_from_slice(&digits[point..]);
        } else {
            out.resize(out.len() + point - digits.len(), b'0');
        }
    }
}

/// Whether `name` can stand in a header as a tool, a field or a key without changing the header's meaning.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name
            .bytes()
            .any(|byte| matches!(byte, b' ' | b',' | b'\\' | b'\t' | b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_spelled_as_go_spells_them() {
        // Printed by Go 1.x: strconv.FormatFloat(x, 'g', -1, 64).
        for (number, spelled) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.95, "0.95"),
            (100.0, "100"),
            (100000.0, "100000"),
            (123456.0, "123456"),
            (123456.5, "123456.5"),
            (1234567.0, "1.234567e+06"),
            (1e6, "1e+06"),
            (1e21, "1e+21"),
            (1e100, "1e+100"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (0.000012345, "1.2345e-05"),
            (-87.4, "-87.4"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (1.0 / 3.0, "0.3333333333333333"),
        ] {
            let mut out = Vec::new();
            go_float_into(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), spelled);
            assert_eq!(spelled.parse::<f64>().unwrap(), number);
        }
    }

    #[test]
    fn a_needless_escape_marks_text_and_reads_the_same() {
        for text in ["42", "-1.5e3", "true", "false", "[]", "{\"a\":1}"] {
            assert!(looks_typed(text), "{text}");
            let mut out = Vec::new();
            mark_into(&mut out, text);
            let raw = String::from_utf8(out).unwrap();
            assert_eq!(unescape(&raw), (Cow::Owned(text.to_owned()), Mark::Text));
        }
        for text in [
            "", "null", "01", "1.", "+1", "[]string", "{id}", "True", "-", "1e", "0x10", "NaN",
        ] {
            assert!(!looks_typed(text), "{text}");
        }
    }

    #[test]
    fn escapes_round_trip_and_odd_escapes_are_kept() {
        let mut out = Vec::new();
        escape_into(&mut out, "a\\b\tc\nd\re");
        assert_eq!(out, b"a\\\\b\\tc\\nde");
        assert_eq!(unescape("a\\\\b\\tc\\nd").0, "a\\b\tc\nd");
        assert_eq!(unescape("tail\\").0, "tail\\");
        assert_eq!(unescape("\\é").0, "é");
    }
}
