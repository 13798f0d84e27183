//! The words of a question as the tree spells them. Identifiers are indexed by their parts, so someone who writes `Easymock` of what
//! the code calls `EasyMock` would find nothing: a word that is no part of anything is taken apart where two that are stand together.

use std::borrow::Cow;

use super::searcher::SearchIndex;
use super::words::{MAX_TERM, stem, words};

/// Unknown words of one text that are looked into.
const MOST_UNKNOWN: usize = 32;
/// Letters of the shorter part at least: fewer are in every other word.
const FEWEST_LETTERS: usize = 3;

impl SearchIndex {
    /// The text with every word that the tree does not know in the two words that it is made of, if the tree knows both and mostly
    /// has the rarer one beside the other.
    pub fn spelled<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut done = 0;
        let mut unknown = 0;
        let mut at = 0;
        while let Some(start) = text[at..].find(|c: char| c.is_ascii_alphabetic()) {
            let start = at + start;
            let length = text[start..].find(|c: char| !c.is_alphanumeric());
            let end = length.map_or(text.len(), |length| start + length);
            at = end;
            let word = &text[start..end];
            if word.len() < 2 * FEWEST_LETTERS || word.len() > MAX_TERM || self.knows(word) || unknown >= MOST_UNKNOWN {
                continue;
            }
            unknown += 1;
            if let Some(cut) = self.cut(&word.to_ascii_lowercase()) {
                out.push_str(&text[done..start + cut]);
                out.push(' ');
                done = start + cut;
            }
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// Whether a word is one of the tree's, or several in one that anyone can see.
    fn knows(&self, word: &str) -> bool {
        match words(word).as_slice() {
            [one] if one.is_ascii() => self.has_term(stem(one)),
            _ => true,
        }
    }

    /// Where an unknown word is two known ones, the pair that is found together most often.
    fn cut(&self, word: &str) -> Option<usize> {
        let places = FEWEST_LETTERS..=word.len() - FEWEST_LETTERS;
        let pairs = places.filter_map(|at| {
            let (one, other) = (stem(&word[..at]), stem(&word[at..]));
            if !self.has_term(one) || !self.has_term(other) {
                return None;
            }
            let (with_one, with_other) = (self.chunks_with(one), self.chunks_with(other));
            let both = with_one
                .iter()
                .filter(|chunk| with_other.binary_search(chunk).is_ok())
                .count();
            (both > 0 && both * 2 >= with_one.len().min(with_other.len())).then_some((both, at))
        });
        pairs.max().map(|(_, at)| at)
    }
}
