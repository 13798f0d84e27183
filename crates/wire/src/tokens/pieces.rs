//! The first step of `o200k_base`: a text as pieces that are encoded by themselves (a word with what stands before it, three
//! digits, a run of punctuation, white space).
//!
//! The vocabulary defines pieces by a regular expression. This is the same by hand, each branch below named by the alternative that
//! it stands for; building the expression's automaton took longer than most answers.

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

/// The length of the first piece of a text that is not empty.
pub(super) fn length(text: &str) -> usize {
    let Some((class, next)) = class_at(text, 0) else {
        return 0;
    };
    match class {
        Class::Upper | Class::Lower | Class::Letter => word(text, 0).unwrap_or(next),
        // By itself it begins a word, so one is always found.
        Class::Mark => ends_small(text, next)
            .or_else(|| ends_small(text, 0))
            .map_or(next, |end| with_contraction(text, end)),
        // `\p{N}{1,3}`
        Class::Number => {
            let second = class_at(text, next).filter(|(class, _)| *class == Class::Number);
            let third = second.and_then(|(_, at)| class_at(text, at).filter(|(class, _)| *class == Class::Number));
            third.or(second).map_or(next, |(_, end)| end)
        }
        Class::LineEnd => white_space(text),
        Class::Space => word(text, next)
            .or_else(|| text.starts_with(' ').then(|| punctuation(text, next)).flatten())
            .unwrap_or_else(|| white_space(text)),
        Class::Other => word(text, next).or_else(|| punctuation(text, 0)).unwrap_or(next),
    }
}

/// A word from here on: `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` or, where there is none, the same with `+` and
/// `*`; and a contraction after it.
fn word(text: &str, from: usize) -> Option<usize> {
    let capitals = || {
        let end = run(text, from, |class| {
            matches!(class, Class::Upper | Class::Letter | Class::Mark)
        });
        (end > from).then_some(end)
    };
    let end = ends_small(text, from).or_else(capitals)?;
    Some(with_contraction(text, end))
}

/// The first of the two kinds of words.
fn ends_small(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    let mut last_of_both = None;
    while let Some((class, next)) = class_at(text, at) {
        match class {
            Class::Upper => {}
            Class::Letter | Class::Mark => last_of_both = Some(next),
            Class::Lower => {
                let small = |class| matches!(class, Class::Lower | Class::Letter | Class::Mark);
                return Some(run(text, at, small));
            }
            _ => break,
        }
        at = next;
    }
    // Without a small letter, the first half gives back as little as it can.
    last_of_both
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
fn with_contraction(text: &str, end: usize) -> usize {
    let Some(rest) = text.as_bytes()[end..].strip_prefix(b"'") else {
        return end;
    };
    let letter = |at: usize| rest.get(at).map_or(0, u8::to_ascii_lowercase);
    match (letter(0), letter(1)) {
        (b's' | b't' | b'm' | b'd', _) => end + 2,
        (b'r' | b'v', b'e') | (b'l', b'l') => end + 3,
        // The long s is an `s` to whoever ignores case.
        _ if text[end + 1..].starts_with('\u{17f}') => end + 1 + '\u{17f}'.len_utf8(),
        _ => end,
    }
}

/// `[^\s\p{L}\p{N}]+[\r\n/]*`
fn punctuation(text: &str, from: usize) -> Option<usize> {
    let end = run(text, from, |class| matches!(class, Class::Other | Class::Mark));
    let line_ends = text.as_bytes()[end..]
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/'));
    (end > from).then(|| end + line_ends.count())
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
