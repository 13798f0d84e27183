//! Counts the tokens of a vocabulary from a table that the build script wrote: nothing is read or built at run time.
//!
//! Most pieces of a text are tokens. The others are joined as the vocabulary says: of all neighbours, the pair whose token has the
//! lowest number first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use smallvec::SmallVec;

use super::{pieces, slots};

/// A vocabulary as it lies in the program.
pub(super) struct Vocabulary {
    /// See [`slots`].
    slots: &'static [u8],
    /// Where each token begins in `tokens`; the last number is its end.
    starts: &'static [u8],
    tokens: &'static [u8],
    /// The length of the first piece of a text that is not empty.
    first_piece: fn(&str) -> usize,
}

macro_rules! vocabulary {
    ($name:literal, $first_piece:expr) => {
        Vocabulary {
            slots: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".slots")),
            starts: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".starts")),
            tokens: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".tokens")),
            first_piece: $first_piece,
        }
    };
}

pub(super) static CL100K: Vocabulary = vocabulary!("cl100k", pieces::cl100k::length);
pub(super) static O200K: Vocabulary = vocabulary!("o200k", pieces::o200k::length);

/// Looking at all pairs for each join takes time by the square of the length, which is fast for words. Beyond this many bytes (a
/// line of dashes, a key), the pairs lie in a heap.
const LONG: usize = 256;

/// No token: sorts after all of them.
const NONE: u32 = u32::MAX;

impl Vocabulary {
    /// The number of tokens of a text.
    pub(super) fn count(&self, text: &str) -> usize {
        self.pieces(text).map(|piece| self.count_piece(piece)).sum()
    }

    /// The same, unless it is more than a limit. Stops as soon as that is known.
    pub(super) fn count_up_to(&self, text: &str, limit: usize) -> Option<usize> {
        let mut counted: usize = 0;
        for piece in self.pieces(text) {
            let least = piece.len().div_ceil(super::LONGEST_TOKEN);
            if counted + least > limit {
                return None;
            }
            counted += self.count_piece(piece);
        }
        (counted <= limit).then_some(counted)
    }

    fn pieces<'t>(&self, mut text: &'t str) -> impl Iterator<Item = &'t [u8]> {
        let first_piece = self.first_piece;
        std::iter::from_fn(move || {
            if text.is_empty() {
                return None;
            }
            let (piece, rest) = text.split_at(first_piece(text));
            text = rest;
            Some(piece.as_bytes())
        })
    }

    fn count_piece(&self, piece: &[u8]) -> usize {
        if piece.len() <= 1 || self.token(piece).is_some() {
            1
        } else if piece.len() <= LONG {
            self.join(piece)
        } else {
            self.join_long(piece)
        }
    }

    /// How many tokens are left when no neighbours can be joined any more.
    fn join(&self, piece: &[u8]) -> usize {
        // Where each part begins, and the token that it and the next one would be. The last part stands for the end.
        let mut parts: SmallVec<[(usize, u32); 64]> = (0..=piece.len()).map(|start| (start, NONE)).collect();
        let joined = |parts: &[(usize, u32)], at: usize| match parts.get(at + 2) {
            Some(after) => self.token(&piece[parts[at].0..after.0]).unwrap_or(NONE),
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

    /// The same with the pairs in a heap, by token and then by place.
    ///
    /// A part is known by where it begins; `next` and `previous` lead to its neighbours. A pair in the heap is of the past if its
    /// first part is gone or has grown, or its second one has.
    fn join_long(&self, piece: &[u8]) -> usize {
        const GONE: usize = usize::MAX;
        let end = piece.len();
        let mut next: Vec<usize> = (1..=end).collect();
        let mut previous: Vec<usize> = (0..end).map(|at| at.wrapping_sub(1)).collect();
        // The token, where the pair begins and where it ends.
        let mut pairs: BinaryHeap<Reverse<(u32, usize, usize)>> = BinaryHeap::new();
        let pair = |first: usize, end: usize| {
            let token = self.token(&piece[first..end])?;
            Some(Reverse((token, first, end)))
        };
        pairs.extend((0..end - 1).filter_map(|at| pair(at, at + 2)));
        let mut parts = end;
        while let Some(Reverse((_, first, pair_end))) = pairs.pop() {
            let second = next[first];
            if second == GONE || second == end || next[second] != pair_end {
                continue;
            }
            next[first] = pair_end;
            next[second] = GONE;
            parts -= 1;
            if pair_end < end {
                previous[pair_end] = first;
                pairs.extend(pair(first, next[pair_end]));
            }
            let before = previous[first];
            if before != GONE {
                pairs.extend(pair(before, pair_end));
            }
        }
        parts
    }

    /// The number of the token with these bytes.
    fn token(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > super::LONGEST_TOKEN {
            return None;
        }
        let slots = self.slots.len() / size_of::<u32>();
        let (mut slot, mark) = slots::place(bytes, slots);
        loop {
            let entry = number(self.slots, slot);
            let token = (entry & slots::NUMBERS).checked_sub(1)?;
            if entry & !slots::NUMBERS == mark && self.bytes(token as usize) == bytes {
                return Some(token);
            }
            slot = slots::next(slot, slots);
        }
    }

    fn bytes(&self, token: usize) -> &'static [u8] {
        &self.tokens[number(self.starts, token) as usize..number(self.starts, token + 1) as usize]
    }
}

fn number(of: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([of[4 * at], of[4 * at + 1], of[4 * at + 2], of[4 * at + 3]])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CL100K, LONG, O200K, Vocabulary};

    /// Each vocabulary with the crate that has been compared with OpenAI's own.
    fn both() -> [(&'static Vocabulary, &'static bpe_openai::Tokenizer); 2] {
        [(&CL100K, bpe_openai::cl100k_base()), (&O200K, bpe_openai::o200k_base())]
    }

    fn check(text: &str) {
        for (own, theirs) in both() {
            let count = own.count(text);
            assert_eq!(count, theirs.count(text), "{text:?}");
            assert_eq!(own.count_up_to(text, count), Some(count), "{text:?}");
            if let Some(less) = count.checked_sub(1) {
                assert_eq!(own.count_up_to(text, less), None, "{text:?}");
            }
        }
    }

    #[test]
    fn every_token_is_that_of_the_tokenizer() {
        for (own, theirs) in both() {
            let count = own.starts.len() / 4 - 1;
            assert_eq!(count, theirs.bpe.num_tokens());
            for token in 0..count {
                let bytes = own.bytes(token);
                assert_eq!(bytes, theirs.bpe.token_bytes(token as u32));
                assert!(bytes.len() <= crate::tokens::LONGEST_TOKEN);
                assert_eq!(own.token(bytes), Some(token as u32));
                if let Ok(text) = std::str::from_utf8(bytes) {
                    assert_eq!(own.count(text), theirs.count(text), "{text:?}");
                }
            }
        }
    }

    /// Sources and documents of this repository, whole and by line, and what they are in other scripts.
    #[test]
    fn texts_count_as_the_tokenizer_says() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        for path in ["README.md", "Cargo.lock", "crates/wire/src/tokens.rs", "CHANGELOG.md"] {
            let text = std::fs::read_to_string(format!("{root}/{path}")).unwrap();
            check(&text);
            text.lines().for_each(check);
        }
        for text in [
            "Ünïcödé ǅungla ῼ, don't DON'T we'LL it'ſ 's 'S 'save 've're",
            "東京タワーは高いABCdeひらがな",
            "e\u{301}\u{301}A\u{301} \u{301}\u{301} \u{301}x 1\u{301}",
            "الرقم ١٢٣٤٥ हिन्दी ½Ⅷ",
            "\u{a0}\u{2003} x\u{85}y\u{2028}z \t\r\n \n  \n/ //\n//x !\n/\n/a",
            "👩‍👩‍👧 🇩🇪 ok",
        ] {
            check(text);
        }
    }

    #[test]
    fn a_flood_is_counted_in_time() {
        for part in ["-=", "-", "x", " ", "é", "QmFz"] {
            check(&part.repeat(LONG));
            check(&part.repeat(100_000));
        }
        // Known to be too long without being counted.
        let flood = "-".repeat(10_000_000);
        assert_eq!(O200K.count_up_to(&flood, 50), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn any_text_counts_as_the_tokenizer_says(text in "([a-zA-Z]{1,12}|[0-9]{1,7}|[ \\t]{1,4}|[\r\n]{1,3}|[!-/:-@\\[-`{-~]{1,6}|'(s|T|re|LL|x)|\\p{L}{1,4}|\\p{M}{1,2}|\\p{N}{1,2}|\\p{Z}|\\PC{1,3}|.){0,30}") {
            check(&text);
        }

        /// Both ways to join are one.
        #[test]
        fn long_pieces_are_joined_as_short_ones(piece in "([a-z]{1,9}|[A-Za-z0-9+/=]{1,60}|-{1,70}|\\p{L}{1,5}){1,24}") {
            for vocabulary in [&CL100K, &O200K] {
                prop_assert_eq!(vocabulary.join_long(piece.as_bytes()), vocabulary.join(piece.as_bytes()));
            }
        }
    }
}
