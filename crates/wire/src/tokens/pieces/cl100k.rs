//! The pieces of `cl100k_base`.

use super::{Class, class_at, contraction, digits, punctuation, run, white_space};

/// What punctuation takes along: `[\r\n]*`.
const AFTER: &[u8] = b"\r\n";

/// The length of the first piece of a text that is not empty.
pub(in crate::tokens) fn length(text: &str) -> usize {
    let Some((class, next)) = class_at(text, 0) else {
        return 0;
    };
    match class {
        Class::Upper | Class::Lower | Class::Letter => run(text, next, is_letter),
        Class::Number => digits(text, next),
        Class::LineEnd => white_space(text),
        Class::Space => letters(text, next)
            .or_else(|| text.starts_with(' ').then(|| punctuation(text, next, AFTER)).flatten())
            .unwrap_or_else(|| white_space(text)),
        Class::Mark | Class::Other => contraction(text, 0)
            .or_else(|| letters(text, next))
            .or_else(|| punctuation(text, 0, AFTER))
            .unwrap_or(next),
    }
}

/// `\p{L}+`
fn letters(text: &str, from: usize) -> Option<usize> {
    let end = run(text, from, is_letter);
    (end > from).then_some(end)
}

fn is_letter(class: Class) -> bool {
    matches!(class, Class::Upper | Class::Lower | Class::Letter)
}
