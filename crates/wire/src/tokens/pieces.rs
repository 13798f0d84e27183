//! The first step of a vocabulary: a text as pieces that are encoded by themselves (a word with what stands before it, three
//! digits, a run of punctuation, white space).
//!
//! A vocabulary defines its pieces by a regular expression. Here is the same by hand, each branch named by the alternative that
//! it stands for; building the expression's automaton took longer than most answers.

pub(super) mod cl100k;
pub(super) mod o200k;

/// What the expression tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// `\p{Lu}` and `\p{Lt}`.
    Upper,
    /// `\p{Ll}`.
    Lower,
    /// `\p{Lm}` and `\p{Lo}`: at home in both halves of a word.
    Letter,
    /// `\p{M}`: as a letter inside of a word, but as punctuation before it.
    Mark,
    /// `\p{N}`.
    Number,
    /// `\r` and `\n`.
    LineEnd,
    /// The rest of `\s`.
    Space,
    /// Everything else.
    Other,
}

/// Every class beyond ASCII but `Other`, sorted.
static CLASSES: &[(char, char, Class)] = &include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// The class of the character at a place, and where the next one is; nothing at the end.
fn class_at(text: &str, at: usize) -> Option<(Class, usize)> {
    let class = match *text.as_bytes().get(at)? {
        b'a'..=b'z' => Class::Lower,
        b'A'..=b'Z' => Class::Upper,
        b'0'..=b'9' => Class::Number,
        b'\r' | b'\n' => Class::LineEnd,
        b' ' | b'\t' | 0x0b | 0x0c => Class::Space,
        byte if byte.is_ascii() => Class::Other,
        _ => {
            let character = text[at..].chars().next()?;
            let range = CLASSES.partition_point(|(_, last, _)| *last < character);
            let class = match CLASSES.get(range) {
                Some((first, _, class)) if *first <= character => *class,
                _ => Class::Other,
            };
            return Some((class, at + character.len_utf8()));
        }
    };
    Some((class, at + 1))
}

/// The end of the run of characters of these classes.
fn run(text: &str, from: usize, takes: impl Fn(Class) -> bool) -> usize {
    let mut at = from;
    while let Some((class, next)) = class_at(text, at) {
        if !takes(class) {
            break;
        }
        at = next;
    }
    at
}

/// The end of `\p{N}{1,3}`, of which the first ends at `next`.
fn digits(text: &str, next: usize) -> usize {
    let number = |at: usize| class_at(text, at).filter(|(class, _)| *class == Class::Number);
    let second = number(next);
    let third = second.and_then(|(_, at)| number(at));
    third.or(second).map_or(next, |(_, end)| end)
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
fn contraction(text: &str, from: usize) -> Option<usize> {
    let rest = text.as_bytes()[from..].strip_prefix(b"'")?;
    let letter = |at: usize| rest.get(at).map_or(0, u8::to_ascii_lowercase);
    match (letter(0), letter(1)) {
        (b's' | b't' | b'm' | b'd', _) => Some(from + 2),
        (b'r' | b'v', b'e') | (b'l', b'l') => Some(from + 3),
        // The long s is an `s` to whoever ignores case.
        _ if text[from + 1..].starts_with('\u{17f}') => Some(from + 1 + '\u{17f}'.len_utf8()),
        _ => None,
    }
}

/// `[^\s\p{L}\p{N}]+` and then any number of some bytes.
fn punctuation(text: &str, from: usize, then: &[u8]) -> Option<usize> {
    let end = run(text, from, |class| matches!(class, Class::Other | Class::Mark));
    let more = text.as_bytes()[end..].iter().take_while(|byte| then.contains(byte));
    (end > from).then(|| end + more.count())
}

/// `\s*[\r\n]+|\s+$|\s+(?!\S)|\s+`
fn white_space(text: &str) -> usize {
    let (mut at, mut last, mut line_end) = (0, 0, None);
    while let Some((class, next)) = class_at(text, at) {
        match class {
            Class::LineEnd => line_end = Some(next),
            Class::Space => {}
            _ => break,
        }
        (last, at) = (at, next);
    }
    match line_end {
        Some(end) => end,
        None if at == text.len() || last == 0 => at,
        None => last,
    }
}
