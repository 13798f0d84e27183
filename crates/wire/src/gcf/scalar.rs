//! Scalars as text: which strings need quotes, how numbers are spelled, and reading both back.
//!
//! One table of byte classes decides in a single pass whether a string can stand bare.

use super::error::{Category, Error, Result};

const QUOTE: u8 = 1;
const SUSPECT: u8 = 2;
const BRACKET: u8 = 4;

/// What one byte anywhere in a string says about quoting it.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        class[byte] = QUOTE;
        byte += 1;
    }
    class[b'"' as usize] = QUOTE;
    class[b'\\' as usize] = QUOTE;
    // Every known encoder quotes both delimiters in every context, and the fixtures pin it.
    class[b'|' as usize] = QUOTE;
    class[b',' as usize] = QUOTE;
    class[b']' as usize] = BRACKET;
    // Lead bytes of C1 controls and of Unicode white space; the characters themselves are looked at only then.
    class[0xC2] = SUSPECT;
    class[0xE1] = SUSPECT;
    class[0xE2] = SUSPECT;
    class[0xE3] = SUSPECT;
    class[0xEF] = SUSPECT;
    class
};

/// Whether a string would be read back as something else, or break its line, if written bare.
pub(crate) fn needs_quotes(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else {
        return true;
    };
    if last == b' ' {
        return true;
    }
    match first {
        b' ' | b'#' | b'@' | b'.' => return true,
        b'0' if bytes.get(1).is_some_and(u8::is_ascii_digit) => return true,
        b'0'..=b'9' if number_end(bytes) == Some(bytes.len()) => return true,
        b'-' | b'+' => match bytes.get(1) {
            None if first == b'-' => return true,
            Some(b'0'..=b'9') => return true,
            Some(b'.') if bytes.get(2).is_some_and(u8::is_ascii_digit) => return true,
            _ => {}
        },
        b'~' if bytes.len() == 1 => return true,
        b'^' if bytes.len() == 1 || (bytes[1] == b'{' && last == b'}') => return true,
        b't' if text == "true" => return true,
        b'f' if text == "false" => return true,
        _ => {}
    }
    let mut seen = 0;
    // Eight bytes at a time say whether any byte is remarkable at all; most strings have none.
    if let Some(tail) = bytes.last_chunk::<8>() {
        let mut remarkable = has_remarkable(*tail);
        for chunk in bytes.chunks_exact(8) {
            remarkable |= has_remarkable(chunk.try_into().unwrap_or(*tail));
        }
        if !remarkable {
            return false;
        }
    }
    for &byte in bytes {
        seen |= CLASS[usize::from(byte)];
    }
    seen != 0
        && (seen & QUOTE != 0
            || (seen & SUSPECT != 0 && has_odd_space(text))
            || (seen & BRACKET != 0 && has_count_shape(bytes)))
}

/// Whether one of eight bytes is not plain ASCII text: a superset of the bytes with a class.
#[inline]
fn has_remarkable(chunk: [u8; 8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(chunk);
    // The usual trick: subtracting one borrows through the high bit exactly where a byte was zero.
    let equals = |byte: u8| {
        let difference = word ^ (ONES * u64::from(byte));
        difference.wrapping_sub(ONES) & !difference
    };
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (word | controls | equals(b'"') | equals(b'\\') | equals(b'|') | equals(b',') | equals(b']')) & HIGHS != 0
}

/// C1 controls and white space beyond ASCII.
fn has_odd_space(text: &str) -> bool {
    text.chars().any(|character| {
        matches!(character, '\u{80}'..='\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{2028}' | '\u{2029}'
            | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{FEFF}')
    })
}

/// Whether `[…]:` occurs, which a line parser could take for an inline array.
fn has_count_shape(bytes: &[u8]) -> bool {
    let mut open = false;
    let mut position = 0;
    while position < bytes.len() {
        match bytes[position] {
            b'[' => open = true,
            b']' if open => {
                open = false;
                let after = bytes[position + 1..]
                    .iter()
                    .position(|byte| *byte != b' ')
                    .map(|skipped| position + 1 + skipped);
                match after {
                    Some(next) if bytes[next] == b':' => return true,
                    // Resume after the spaces, so that runs of them are read once.
                    Some(next) => {
                        position = next;
                        continue;
                    }
                    None => return false,
                }
            }
            _ => {}
        }
        position += 1;
    }
    false
}

/// Writes a string bare where it may stand bare, quoted otherwise.
#[inline]
pub(crate) fn write_text(out: &mut String, text: &str) {
    if needs_quotes(text) {
        write_quoted(out, text);
    } else {
        out.push_str(text);
    }
}

/// Writes a string in quotes with JSON escapes.
pub(crate) fn write_quoted(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    let mut plain = 0;
    for (position, &byte) in text.as_bytes().iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain..position]);
        plain = position + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => {
                out.push_str("\\u00");
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

/// Whether a key may stand bare: a letter or underscore, then letters, digits and underscores.
pub(crate) fn is_bare_key(key: &str) -> bool {
    let bytes = key.as_bytes();
    bytes.first().is_some_and(|first| !first.is_ascii_digit()) && bytes.iter().all(|byte| is_key_byte(*byte))
}

pub(crate) fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Writes a key or column name.
pub(crate) fn write_key(out: &mut String, key: &str) {
    if is_bare_key(key) {
        out.push_str(key);
    } else {
        write_quoted(out, key);
    }
}

pub(crate) fn write_integer(out: &mut String, value: impl itoa::Integer) {
    out.push_str(itoa::Buffer::new().format(value));
}

/// Writes a finite double in canonical form: plain within 1e-6 ≤ |x| < 2^53, else `d.ddde±N`; always the shortest digits.
pub(crate) fn write_float(out: &mut String, value: f64) {
    if value == 0.0 {
        out.push('0');
        return;
    }
    if write_short_decimal(out, value) {
        return;
    }
    let mut buffer = ryu::Buffer::new();
    let shortest = buffer.format_finite(value);
    let magnitude = value.abs();
    if (1e-5..9_007_199_254_740_992.0).contains(&magnitude) {
        out.push_str(shortest.strip_suffix(".0").unwrap_or(shortest));
        return;
    }
    // The digits and the decimal exponent, out of either spelling that `ryu` uses.
    if value < 0.0 {
        out.push('-');
    }
    let shortest = shortest.trim_start_matches('-');
    let (mantissa, exponent) = match shortest.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().unwrap_or(0)),
        None => (shortest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent + whole.len() as i32 - 1;
    let mut digits = String::with_capacity(20);
    digits.push_str(whole);
    digits.push_str(fraction);
    let digits = digits.trim_end_matches('0');
    if (1e-6..1.0).contains(&magnitude) {
        out.push_str("0.");
        for _ in 1..-exponent {
            out.push('0');
        }
        out.push_str(digits);
        return;
    }
    let (head, tail) = digits.split_at(1);
    out.push_str(head);
    if !tail.is_empty() {
        out.push('.');
        out.push_str(tail);
    }
    out.push('e');
    out.push(if exponent < 0 { '-' } else { '+' });
    write_integer(out, exponent.unsigned_abs());
}

/// Writes numbers with at most six decimals, which most are, without the general algorithm. With at most fifteen digits the
/// decimal found is the only one that short, so it is also the shortest.
fn write_short_decimal(out: &mut String, value: f64) -> bool {
    const SCALE: f64 = 1e6;
    let magnitude = value.abs();
    if magnitude >= 1e9 {
        return false;
    }
    let scaled = (magnitude * SCALE).round();
    if scaled == 0.0 || scaled / SCALE != magnitude {
        return false;
    }
    let (whole, mut fraction) = (scaled as u64 / 1_000_000, scaled as u64 % 1_000_000);
    if value < 0.0 {
        out.push('-');
    }
    write_integer(out, whole);
    if fraction > 0 {
        let mut digits = [b'0'; 6];
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (fraction % 10) as u8;
            fraction /= 10;
        }
        let end = digits
            .iter()
            .rposition(|digit| *digit != b'0')
            .map_or(0, |last| last + 1);
        out.push('.');
        out.extend(digits[..end].iter().map(|digit| char::from(*digit)));
    }
    true
}

/// Where the JSON number at the start of `bytes` ends, if there is one.
pub(crate) fn number_end(bytes: &[u8]) -> Option<usize> {
    let digits_from = |start: usize| bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = usize::from(bytes.first() == Some(&b'-'));
    match bytes.get(end) {
        Some(b'0') => end += 1,
        Some(b'1'..=b'9') => end += digits_from(end),
        _ => return None,
    }
    if bytes.get(end) == Some(&b'.') {
        let digits = digits_from(end + 1);
        if digits == 0 {
            return None;
        }
        end += 1 + digits;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let digits = digits_from(end + 1 + sign);
        if digits == 0 {
            return None;
        }
        end += 1 + sign + digits;
    }
    Some(end)
}

/// A number as the format sees it: an exact integer or a double, told apart by the token's shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    Float(f64),
}

/// Reads a token that [`number_end`] accepted in full.
pub(crate) fn parse_number(token: &str) -> Result<Number, &'static str> {
    let bytes = token.as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return token
            .parse()
            .map(Number::Integer)
            .map_err(|_| "an integer between -9223372036854775808 and 9223372036854775807");
    }
    match token.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number::Float(value)),
        _ => Err("a number within the range of a 64-bit float"),
    }
}

/// Reads the quoted string that starts at `start` (the opening quote). Returns the end (past the closing quote) and, if
/// the string has escapes, leaves its decoded form in `scratch`, past what was there.
pub(crate) fn read_quoted(text: &str, start: usize, line_end: usize, scratch: &mut String) -> Result<(usize, bool)> {
    let bytes = &text.as_bytes()[..line_end];
    let fail = |offset: usize, category, found: &str, expected: &str| {
        Err(Error::at(text.as_bytes(), offset, category, found, expected))
    };
    let mut position = start + 1;
    let mut plain = position;
    let mut escaped = false;
    loop {
        match bytes.get(position) {
            None => {
                return fail(
                    start,
                    Category::UnterminatedQuote,
                    "a string without end",
                    "a closing quote",
                );
            }
            Some(b'"') => {
                if escaped {
                    scratch.push_str(&text[plain..position]);
                }
                return Ok((position + 1, escaped));
            }
            Some(b'\\') => {
                scratch.push_str(&text[plain..position]);
                escaped = true;
                let Some(&letter) = bytes.get(position + 1) else {
                    return fail(
                        start,
                        Category::UnterminatedQuote,
                        "a string without end",
                        "a closing quote",
                    );
                };
                position += 2;
                match letter {
                    b'"' | b'\\' | b'/' => scratch.push(char::from(letter)),
                    b'b' => scratch.push('\u{8}'),
                    b'f' => scratch.push('\u{c}'),
                    b'n' => scratch.push('\n'),
                    b'r' => scratch.push('\r'),
                    b't' => scratch.push('\t'),
                    b'u' => {
                        let Some(unit) = hex4(bytes, position) else {
                            return fail(
                                position - 2,
                                Category::InvalidEscape,
                                "`\\u` without four hex digits",
                                "`\\uXXXX`",
                            );
                        };
                        position += 4;
                        let character = match unit {
                            0xD800..=0xDBFF => {
                                let low = (bytes.get(position) == Some(&b'\\')
                                    && bytes.get(position + 1) == Some(&b'u'))
                                .then(|| hex4(bytes, position + 2))
                                .flatten()
                                .filter(|low| (0xDC00..=0xDFFF).contains(low));
                                let Some(low) = low else {
                                    return fail(
                                        position - 6,
                                        Category::InvalidSurrogate,
                                        "a high surrogate alone",
                                        "a low surrogate after it",
                                    );
                                };
                                position += 6;
                                char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
                            }
                            _ => char::from_u32(unit),
                        };
                        let Some(character) = character else {
                            return fail(
                                position - 6,
                                Category::InvalidSurrogate,
                                "a low surrogate alone",
                                "a high surrogate before it",
                            );
                        };
                        scratch.push(character);
                    }
                    _ => {
                        return fail(
                            position - 2,
                            Category::InvalidEscape,
                            "an unknown escape",
                            "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
                        );
                    }
                }
                plain = position;
            }
            Some(byte) if *byte < 0x20 => {
                return fail(
                    position,
                    Category::InvalidEscape,
                    "a raw control character in a string",
                    "its escape",
                );
            }
            Some(_) => position += 1,
        }
    }
}

fn hex4(bytes: &[u8], start: usize) -> Option<u32> {
    let digits = bytes.get(start..start + 4)?;
    digits
        .iter()
        .try_fold(0, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}
