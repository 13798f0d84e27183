//! Counts the tokens of `o200k_base` from a table that the build script wrote: nothing is read or built at run time, where the
//! tokenizer's own crate takes 50 ms and 60 MB to begin.
//!
//! Most pieces of a text are tokens. The others are joined as the vocabulary says: of all neighbours, the pair whose token has the
//! lowest number first.

use smallvec::SmallVec;

use super::{pieces, slots};

/// See [`slots`].
static SLOTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.slots"));
/// Where each token begins in [`TOKENS`]; the last number is its end.
static STARTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.starts"));
static TOKENS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.tokens"));

/// Joining takes time by the square of the length. Beyond this many bytes (a line of dashes, a key), the tokenizer's own crate is
/// asked, whose time is linear.
const LONG: usize = 512;

/// The number of tokens of a text.
pub(super) fn count(text: &str) -> usize {
    let mut rest = text;
    let mut tokens = 0;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(pieces::length(rest));
        tokens += count_piece(piece.as_bytes());
        rest = after;
    }
    tokens
}

fn count_piece(piece: &[u8]) -> usize {
    if piece.len() <= 1 || token(piece).is_some() {
        return 1;
    }
    if piece.len() > LONG {
        return bpe_openai::o200k_base().bpe.count(piece);
    }
    join(piece)
}

/// No token: sorts after all of them.
const NONE: u32 = u32::MAX;

/// How many tokens are left when no neighbours can be joined any more.
fn join(piece: &[u8]) -> usize {
    // Where each part begins, and the token that it and the next one would be. The last part stands for the end.
    let mut parts: SmallVec<[(usize, u32); 64]> = (0..=piece.len()).map(|start| (start, NONE)).collect();
    let joined = |parts: &[(usize, u32)], at: usize| match parts.get(at + 2) {
        Some(after) => token(&piece[parts[at].0..after.0]).unwrap_or(NONE),
        None => NONE,
    };
    for at in 0..piece.len() {
        parts[at].1 = joined(&parts, at);
    }
    loop {
        // The first of equals, as the tokenizer does.
        let lowest = (0..parts.len()).min_by_key(|at| parts[*at].1).unwrap_or_default();
        if parts[lowest].1 == NONE {
            return parts.len() - 1;
        }
        parts.remove(lowest + 1);
        parts[lowest].1 = joined(&parts, lowest);
        if let Some(before) = lowest.checked_sub(1) {
            parts[before].1 = joined(&parts, before);
        }
    }
}

/// The number of the token with these bytes.
fn token(bytes: &[u8]) -> Option<u32> {
    let (mut slot, mark) = slots::place(bytes);
    loop {
        let entry = number(SLOTS, slot);
        let token = (entry & slots::NUMBERS).checked_sub(1)?;
        if entry & !slots::NUMBERS == mark && self::bytes(token as usize) == bytes {
            return Some(token);
        }
        slot = slots::next(slot);
    }
}

fn bytes(token: usize) -> &'static [u8] {
    &TOKENS[number(STARTS, token) as usize..number(STARTS, token + 1) as usize]
}

fn number(of: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([of[4 * at], of[4 * at + 1], of[4 * at + 2], of[4 * at + 3]])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LONG, STARTS, bytes, count};

    fn theirs(text: &str) -> usize {
        bpe_openai::o200k_base().count(text)
    }

    #[test]
    fn every_token_counts_as_the_tokenizer_says() {
        for token in 0..STARTS.len() / 4 - 1 {
            if let Ok(text) = std::str::from_utf8(bytes(token)) {
                assert_eq!(count(text), theirs(text), "{text:?}");
            }
        }
    }

    /// Sources and documents of this repository, whole and by line, and what they are in other scripts.
    #[test]
    fn texts_count_as_the_tokenizer_says() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        for path in ["README.md", "Cargo.lock", "crates/wire/src/tokens.rs", "CHANGELOG.md"] {
            let text = std::fs::read_to_string(format!("{root}/{path}")).unwrap();
            assert_eq!(count(&text), theirs(&text), "{path}");
            for line in text.lines() {
                assert_eq!(count(line), theirs(line), "{line:?}");
            }
        }
        for text in [
            "Ünïcödé ǅungla ῼ, don't DON'T we'LL it'ſ 's 'S",
            "東京タワーは高いABCdeひらがな",
            "e\u{301}\u{301}A\u{301} \u{301}\u{301} \u{301}x 1\u{301}",
            "الرقم ١٢٣٤٥ हिन्दी ½Ⅷ",
            "\u{a0}\u{2003} x\u{85}y\u{2028}z \t\r\n \n  \n/ //\n//x !\n/\n/a",
            "👩‍👩‍👧 🇩🇪 ok",
        ] {
            assert_eq!(count(text), theirs(text), "{text:?}");
        }
        let long = "-=".repeat(LONG);
        assert_eq!(count(&long), theirs(&long));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn any_text_counts_as_the_tokenizer_says(text in "([a-zA-Z]{1,12}|[0-9]{1,7}|[ \\t]{1,4}|[\r\n]{1,3}|[!-/:-@\\[-`{-~]{1,6}|'(s|T|re|LL|x)|\\p{L}{1,4}|\\p{M}{1,2}|\\p{N}{1,2}|\\p{Z}|\\PC{1,3}|.){0,30}") {
            prop_assert_eq!(count(&text), theirs(&text));
        }
    }
}
