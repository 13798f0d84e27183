//! Names as they may be shown: what a terminal obeys, what turns a line around and what ends one are written out, so that nothing
//! that a file calls itself or its symbols can speak for the answer that they are in.
//!
//! The escapes are those of `terminal`: `\x1b`, `\u{202e}`.

use std::fmt::Write;

/// What becomes of line ends and tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// They stay, as in a literal of several lines.
    Kept,
    /// They are written out, as in a name.
    Shown,
}

/// Whether a character shows what stands around it in another order, or begins a line where most readers see none.
pub fn is_deceptive(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Adds a text with every control character and every deceptive one written out.
pub(crate) fn push_visible(out: &mut String, text: &str, line_ends: LineEnds) {
    // Nearly every name is plain: ASCII that prints.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        out.push_str(text);
        return;
    }
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_line_end = matches!(letter, '\n' | '\t') || letter == '\r' && letters.peek() == Some(&'\n');
        let is_plain = match is_line_end {
            true => line_ends == LineEnds::Kept,
            false => !letter.is_control() && !is_deceptive(letter),
        };
        // Writing to a string cannot fail.
        let _ = match (is_plain, u32::from(letter)) {
            (true, _) => out.write_char(letter),
            (false, code @ 0..0x80) => write!(out, "\\x{code:02x}"),
            (false, code) => write!(out, "\\u{{{code:x}}}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(text: &str, line_ends: LineEnds) -> String {
        let mut out = String::new();
        push_visible(&mut out, text, line_ends);
        out
    }

    #[test]
    fn what_deceives_is_written_out() {
        let name = |text| visible(text, LineEnds::Shown);
        assert_eq!(name("\u{1b}]52;c;aGk=\u{7}"), "\\x1b]52;c;aGk=\\x07");
        assert_eq!(
            name("gpj.\u{202e}exe\u{2028}\u{85}"),
            "gpj.\\u{202e}exe\\u{2028}\\u{85}"
        );
        assert_eq!(name("t\r\nlib.py:3 x"), "t\\x0d\\x0alib.py:3 x");
        for plain in ["send", "größe", "日本", "a b"] {
            assert_eq!(name(plain), plain);
        }
    }

    #[test]
    fn a_literal_keeps_its_lines() {
        let literal = |text| visible(text, LineEnds::Kept);
        assert_eq!(literal("a\r\n\tb\n"), "a\r\n\tb\n");
        assert_eq!(literal("a\rb\u{1b}"), "a\\x0db\\x1b");
    }
}
