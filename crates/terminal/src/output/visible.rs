//! Text of a repository on a terminal: whatever a terminal would obey, or would show in another order, is shown as an escape instead.
//! A file can hold codes that rename the window, fill the clipboard, or hide the line above.

use std::borrow::Cow;

use serde_json::Value;

/// The colours that `Paint` uses; no others pass.
const OWN_COLOURS: [&str; 7] = ["0", "1", "2", "31;1", "32", "33", "35"];

/// `text` with every control character and every mark of direction written out: `\x1b`, `\u{202e}`.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |_| 0, push_escaped)
}

/// The same for text that was painted: our own colours pass.
pub(crate) fn visible_painted(text: &str) -> Cow<'_, str> {
    escaped(text, own_colour, push_escaped)
}

/// The same inside of JSON, where an escape is another spelling of the same text.
pub(crate) fn visible_json(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |_| 0,
        |out, letter| out.push_str(&format!("\\u{:04x}", u32::from(letter))),
    )
}

/// Every text of a value.
pub fn make_visible(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(escaped) = visible(text) {
                *text = escaped;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_visible),
        Value::Object(members) => members.values_mut().for_each(make_visible),
        _ => {}
    }
}

fn escaped(text: &str, passes: impl Fn(&str) -> usize, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    let mut out = String::new();
    let mut written = 0;
    for (at, letter) in text.char_indices() {
        // What passes is copied with what stands before the next escape.
        if at < written || !is_obeyed(letter, &text[at..]) || passes(&text[at..]) > 0 {
            continue;
        }
        out.push_str(&text[written..at]);
        escape(&mut out, letter);
        written = at + letter.len_utf8();
    }
    match written {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + &text[written..]),
    }
}

/// Whether a terminal does something else with a character than to show it. The ends of lines of a file from Windows are let be.
fn is_obeyed(letter: char, from_here: &str) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\r' => !from_here.starts_with("\r\n"),
        letter => letter.is_control() || is_deceptive(letter),
    }
}

/// A mark of direction, or a separator of lines that not everything takes for one.
fn is_deceptive(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Bytes of the colour of our own that stands here; 0 where none does.
fn own_colour(text: &str) -> usize {
    let rest = text.strip_prefix("\u{1b}[").unwrap_or_default();
    let codes = OWN_COLOURS
        .iter()
        .find(|codes| rest.strip_prefix(**codes).is_some_and(|rest| rest.starts_with('m')));
    codes.map_or(0, |codes| codes.len() + 3)
}

fn push_escaped(out: &mut String, letter: char) {
    match u32::from(letter) {
        code if code < 0x80 => out.push_str(&format!("\\x{code:02x}")),
        code => out.push_str(&format!("\\u{{{code:x}}}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        assert_eq!(visible("\u{1b}]52;c;aGk=\u{7} a\rb"), "\\x1b]52;c;aGk=\\x07 a\\x0db");
        assert_eq!(visible("\u{9b}2J gpj.\u{202e}exe"), "\\u{9b}2J gpj.\\u{202e}exe");
        for plain in ["größe\tü\n", "a\r\nb\r\n", "\\x1b"] {
            assert!(matches!(visible(plain), Cow::Borrowed(same) if same == plain));
        }
    }

    #[test]
    fn our_own_colours_pass_and_no_others() {
        let painted = "\u{1b}[31;1mbad\u{1b}[0m \u{1b}[8mhidden\u{1b}[2J";
        assert_eq!(
            visible_painted(painted),
            "\u{1b}[31;1mbad\u{1b}[0m \\x1b[8mhidden\\x1b[2J"
        );
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"a\u{202e}": "\u{9b}\u{7f}x"});
        let text = serde_json::to_string(&value).unwrap();
        let shown = visible_json(&text);
        assert_eq!(shown, r#"{"a\u202e":"\u009b\u007fx"}"#);
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }
}
