//! Counting tokens: exactly, with the vocabularies of two public tokenizers embedded, and approximately, fifty times faster.
//!
//! The one trick of the estimate: split text roughly as the tokenizers' own first step does (words at case changes, digits in
//! threes, runs of punctuation) and charge each class what it cost on average over a calibration set.

mod pieces;
mod slots;
mod vocabulary;

use std::cell::RefCell;
use std::collections::HashMap;
use std::str::FromStr;

use vocabulary::Vocabulary;

/// Bytes of the longest token of both vocabularies.
pub const LONGEST_TOKEN: usize = 128;

/// A public vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tokenizer {
    /// `cl100k_base`, of GPT-4.
    Cl100k,
    /// `o200k_base`, of GPT-4o and later.
    #[default]
    O200k,
}

impl Tokenizer {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Cl100k, Self::O200k];

    /// Its usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cl100k => "cl100k_base",
            Self::O200k => "o200k_base",
        }
    }

    /// The exact number of tokens of `text`. Both vocabularies are at hand at once.
    pub fn count(self, text: &str) -> usize {
        self.vocabulary().count(text)
    }

    /// The same, unless that is more than `limit`. Stops as soon as it is known, so that a flood costs nothing.
    pub fn count_up_to(self, text: &str, limit: usize) -> Option<usize> {
        if text.len() > limit.saturating_mul(LONGEST_TOKEN) {
            return None;
        }
        self.vocabulary().count_up_to(text, limit)
    }

    fn vocabulary(self) -> &'static Vocabulary {
        match self {
            Self::Cl100k => &vocabulary::CL100K,
            Self::O200k => &vocabulary::O200K,
        }
    }

    /// About the number of tokens of `text`; `lacon bench wire` prints how far it is off.
    pub fn estimate(self, text: &str) -> usize {
        let weights = match self {
            Self::Cl100k => &CL100K,
            Self::O200k => &O200K,
        };
        let cost: f64 = features(text)
            .iter()
            .zip(weights)
            .map(|(count, weight)| count * weight)
            .sum();
        cost.max(0.0).round() as usize
    }
}

/// Counts texts that are mostly alike, each part of them once: what a pack of context takes is counted for every plan that is
/// tried, and its sources stay the same.
///
/// The counts are exact. Both vocabularies first split a text into pieces, and no piece goes on from the end of a line to an `@`,
/// nor from a digit to what is not one: so the rows that start with a number (`@12 body …`) can be counted by themselves, and
/// apart from their number, which is another one in every plan.
#[derive(Debug, Default)]
pub struct Counter {
    tokenizer: Tokenizer,
    counted: RefCell<HashMap<Box<str>, usize, foldhash::fast::RandomState>>,
}

/// From so many new bytes on, two threads count; parts of fewer are left to whoever needs them.
const MANY_BYTES: usize = 16 * 1024;
const FEW_BYTES: usize = 64;

impl Counter {
    pub fn new(tokenizer: Tokenizer) -> Counter {
        Counter {
            tokenizer,
            ..Counter::default()
        }
    }

    /// The same as [`Tokenizer::count`].
    pub fn count(&self, text: &str) -> usize {
        let mut parts: Vec<&str> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find("\n@").map_or(rest.len(), |at| at + 1);
            let (row, after) = rest.split_at(end);
            let digits = match row.strip_prefix('@') {
                Some(row) => row.bytes().take_while(u8::is_ascii_digit).count(),
                None => 0,
            };
            // Digits of other scripts go on where these end.
            let goes_on = row[digits..].chars().nth(1).is_some_and(char::is_numeric);
            let digits = if goes_on { 0 } else { digits };
            let (number, words) = row.split_at(if digits == 0 { 0 } else { digits + 1 });
            parts.extend([number, words]);
            rest = after;
        }
        self.count_ahead(&parts);
        parts.into_iter().map(|part| self.part(part)).sum()
    }

    /// Counts what is new among the parts on two threads, where that is much.
    fn count_ahead(&self, parts: &[&str]) {
        let mut counted = self.counted.borrow_mut();
        let mut new: Vec<&str> = parts
            .iter()
            .copied()
            .filter(|part| part.len() > FEW_BYTES && !counted.contains_key(*part))
            .collect();
        new.sort_unstable();
        new.dedup();
        let bytes: usize = new.iter().map(|part| part.len()).sum();
        if bytes < MANY_BYTES {
            return;
        }
        let mut seen = 0;
        let half = new
            .iter()
            .position(|part| {
                seen += part.len();
                seen * 2 >= bytes
            })
            .unwrap_or(0);
        let (one, other) = new.split_at(half);
        let tokenizer = self.tokenizer;
        let count = move |parts: &[&str]| -> Vec<usize> { parts.iter().map(|part| tokenizer.count(part)).collect() };
        let (first, second) = std::thread::scope(|scope| {
            let beside = scope.spawn(move || count(other));
            (count(one), beside.join().unwrap_or_default())
        });
        let pairs = one.iter().zip(first).chain(other.iter().zip(second));
        counted.extend(pairs.map(|(part, tokens)| (Box::from(*part), tokens)));
    }

    fn part(&self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        let mut counted = self.counted.borrow_mut();
        if let Some(tokens) = counted.get(text) {
            return *tokens;
        }
        let tokens = self.tokenizer.count(text);
        counted.insert(text.into(), tokens);
        tokens
    }
}

impl FromStr for Tokenizer {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|tokenizer| tokenizer.name() == name || tokenizer.name().strip_suffix("_base") == Some(name))
            .ok_or_else(|| format!("no tokenizer `{name}`: there are cl100k and o200k"))
    }
}

/// What the estimate charges for.
pub const FEATURES: [&str; 8] = [
    "words",
    "letters past the fifth of a word",
    "groups of three digits",
    "runs of punctuation",
    "punctuation past the first of a run",
    "line ends",
    "runs of spaces and tabs that no word absorbs",
    "bytes beyond ASCII",
];

/// Fitted by `cargo run -p wire --example calibrate_tokens -- FILE…` over the benchmark's cases in every format, Rust sources and
/// Markdown.
const CL100K: [f64; 8] = [1.088, 0.086, 1.587, 0.402, 0.172, 0.660, 0.592, 0.622];
const O200K: [f64; 8] = [1.084, 0.095, 1.624, 0.421, 0.171, 0.665, 0.547, 0.597];

/// How often each of [`FEATURES`] occurs in `text`.
pub fn features(text: &str) -> [f64; 8] {
    let bytes = text.as_bytes();
    let mut counts = [0u32; 8];
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'a'..=b'z' | b'A'..=b'Z' => {
                at += 1;
                // A word ends where a capital follows a small letter.
                while at < bytes.len()
                    && bytes[at].is_ascii_alphabetic()
                    && !(bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase())
                {
                    at += 1;
                }
                counts[0] += 1;
                counts[1] += (at - start).saturating_sub(5) as u32;
            }
            b'0'..=b'9' => {
                while at < bytes.len() && bytes[at].is_ascii_digit() {
                    at += 1;
                }
                counts[2] += (at - start).div_ceil(3) as u32;
            }
            b'\n' | b'\r' => {
                while at < bytes.len() && matches!(bytes[at], b'\n' | b'\r') {
                    at += 1;
                }
                counts[5] += 1;
            }
            b' ' | b'\t' => {
                while at < bytes.len() && matches!(bytes[at], b' ' | b'\t') {
                    at += 1;
                }
                // One space or tab before a letter belongs to the word.
                if at - start > 1 || !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
                    counts[6] += 1;
                }
            }
            byte if byte >= 0x80 => {
                while at < bytes.len() && bytes[at] >= 0x80 {
                    at += 1;
                }
                counts[7] += (at - start) as u32;
            }
            _ => {
                while at < bytes.len() && bytes[at].is_ascii_graphic() && !bytes[at].is_ascii_alphanumeric() {
                    at += 1;
                }
                at = at.max(start + 1);
                counts[3] += 1;
                counts[4] += (at - start - 1) as u32;
            }
        }
    }
    counts.map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_public_tokenizers() {
        // As tiktoken prints them.
        assert_eq!(Tokenizer::Cl100k.count("hello world"), 2);
        assert_eq!(Tokenizer::O200k.count("hello world"), 2);
        assert_eq!(Tokenizer::Cl100k.count("tiktoken is great!"), 6);
        assert_eq!(Tokenizer::O200k.count("tiktoken is great!"), 6);
        assert_eq!(Tokenizer::Cl100k.count(""), 0);
    }

    #[test]
    fn a_number_may_go_on_in_another_script() {
        for tokenizer in Tokenizer::ALL {
            let text = "@0000᧐00 ";
            assert_eq!(Counter::new(tokenizer).count(text), tokenizer.count(text));
        }
    }

    proptest::proptest! {
        #[test]
        fn parts_add_up_to_the_whole(text in "([@\n/ ]|@[0-9]{1,5}|[a-zA-Z]{1,6}|[0-9]{1,4}|\n@| ->|\\PC|\r|\t|'s){0,60}") {
            for tokenizer in Tokenizer::ALL {
                let counter = Counter::new(tokenizer);
                proptest::prop_assert_eq!(counter.count(&text), tokenizer.count(&text));
                proptest::prop_assert_eq!(counter.count(&text), tokenizer.count(&text));
            }
        }
    }

    #[test]
    fn two_threads_count_as_one() {
        let row = |number: usize| {
            format!(
                "@{number} body {} 2\nfn part{number}(count: u32) -> u32 {{\n    count * {number} // {}\n}}\n",
                number * 7,
                "é ".repeat(number % 9)
            )
        };
        let text: String = (0..600).map(row).collect();
        assert!(text.len() > 2 * MANY_BYTES);
        let counter = Counter::new(Tokenizer::O200k);
        assert_eq!(counter.count(&text), Tokenizer::O200k.count(&text));
        let longer = format!("{text}{}", row(1_000));
        assert_eq!(counter.count(&longer), Tokenizer::O200k.count(&longer));
    }

    #[test]
    fn the_estimate_never_panics_and_is_zero_for_nothing() {
        for text in ["", "\u{0}\u{1}", "é\u{1f600}", "\t\t\n \r\n", "aB9_.."] {
            for tokenizer in Tokenizer::ALL {
                let estimate = tokenizer.estimate(text);
                assert_eq!(estimate == 0, text.is_empty(), "{text:?}: {estimate}");
            }
        }
    }
}
