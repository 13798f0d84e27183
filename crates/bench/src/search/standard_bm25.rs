//! BM25 as textbooks have it, the yardstick of `lacon bench search`: identifiers split into words, no stemming, no stop words, no fields.

use std::collections::HashMap;

use index::search::words;

/// How soon more occurrences stop counting.
const SATURATION: f64 = 1.2;
/// How much a long document is held against itself.
const LENGTH_PENALTY: f64 = 0.75;

/// Documents by their words.
pub(super) struct StandardBm25 {
    /// Document and occurrences of each word.
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    average: f64,
}

impl StandardBm25 {
    pub(super) fn new(documents: &[&str]) -> StandardBm25 {
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut lengths = Vec::with_capacity(documents.len());
        for (number, document) in documents.iter().enumerate() {
            let found = words(document);
            lengths.push(found.len() as f64);
            for word in found {
                let list = postings.entry(word).or_default();
                match list.last_mut() {
                    Some((last, count)) if *last == number => *count += 1.0,
                    _ => list.push((number, 1.0)),
                }
            }
        }
        let average = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        StandardBm25 {
            postings,
            lengths,
            average: average.max(1.0),
        }
    }

    /// The rank of a document for a question, from 1; `None` where it shares no word. Documents that score the same share the middle of
    /// their places.
    pub(super) fn rank(&self, question: &str, answer: usize) -> Option<f64> {
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in words(question) {
            let Some(list) = self.postings.get(&word) else {
                continue;
            };
            let (all, with) = (self.lengths.len() as f64, list.len() as f64);
            let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
            for &(document, count) in list {
                let penalty = 1.0 - LENGTH_PENALTY + LENGTH_PENALTY * self.lengths[document] / self.average;
                *scores.entry(document).or_default() +=
                    rarity * count * (SATURATION + 1.0) / (count + SATURATION * penalty);
            }
        }
        let own = *scores.get(&answer)?;
        let better = scores.values().filter(|score| **score > own).count() as f64;
        let same = scores.values().filter(|score| **score == own).count() as f64;
        Some(better + (same + 1.0) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::StandardBm25;

    #[test]
    fn a_rare_word_outweighs_a_common_one() {
        let documents = ["read file", "read the socket", "read a file name", "close"];
        let index = StandardBm25::new(&documents);
        assert_eq!(index.rank("readSocket", 1), Some(1.0));
        assert_eq!(index.rank("read file", 0), Some(1.0));
        assert_eq!(index.rank("read file", 2), Some(2.0));
        assert_eq!(index.rank("read", 3), None);
        // Forms of a word do not meet.
        assert_eq!(index.rank("files", 0), None);
    }
}
