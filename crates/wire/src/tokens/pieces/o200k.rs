//! The pieces of `o200k_base`.

use super::{Class, class_at, contraction, digits, punctuation, run, white_space};

/// What punctuation takes along: `[\r\n/]*`.
const AFTER: &[u8] = b"\r\n/";

/// The length of the first piece of a text that is not empty.
pub(in crate::tokens) fn length(text: &str) -> usize {
    let Some((class, next)) = class_at(text, 0) else {
        return 0;
    };
    match class {
        Class::Upper | Class::Lower | Class::Letter => word(text, 0).unwrap_or(next),
        // By itself it begins a word, so one is always found.
        Class::Mark => ends_small(text, next)
            .or_else(|| ends_small(text, 0))
            .map_or(next, |end| contraction(text, end).unwrap_or(end)),
        Class::Number => digits(text, next),
        Class::LineEnd => white_space(text),
        Class::Space => word(text, next)
            .or_else(|| text.starts_with(' ').then(|| punctuation(text, next, AFTER)).flatten())
            .unwrap_or_else(|| white_space(text)),
        Class::Other => word(text, next).or_else(|| punctuation(text, 0, AFTER)).unwrap_or(next),
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
    Some(contraction(text, end).unwrap_or(end))
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
