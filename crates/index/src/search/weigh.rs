//! What the index says of weighted terms, by chunk and by file: for rankings that read the places themselves afterwards.
//!
//! One pass over the postings fills three arrays over all chunks: BM25, how much of the terms' rarity a chunk holds, and which terms these
//! are. Only what looks best by them is then worth reading.

use super::rank;
use super::searcher::SearchIndex;
use super::words::{MAX_TERM, for_each_word, is_stop_word, stem};
use crate::model::FileId;
use crate::snapshot::{Snapshot, SymbolId};

/// Most terms of one question that are looked up; each has a bit.
pub const MOST_TERMS: usize = 64;
/// BM25: how much a long chunk is held against itself, and a long file.
const CHUNK_LENGTH: f32 = 0.5;
const FILE_LENGTH: f32 = 0.4;

/// A term of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// As the index counts it ([`term_of`]).
    pub text: String,
    /// How much it counts beside its rarity.
    pub weight: f32,
    /// Chunks that have it.
    pub chunks: u32,
    /// How much a chunk tells by having it: its weight times its rarity.
    pub rarity: f32,
}

/// The evidence of some terms.
pub struct Weighed {
    /// Those that the tree has: the rarest, at most [`MOST_TERMS`]. Their places are the bits of a mask.
    pub terms: Vec<Term>,
    /// BM25 of every file as a share of the best.
    pub files: Vec<f32>,
    /// Sum of the rarities of all terms.
    pub rarity: f32,
    /// By chunk: BM25, the sum of the rarities that it holds, which terms it holds.
    scores: Vec<f32>,
    covered: Vec<f32>,
    held: Vec<u64>,
}

/// A chunk and what it holds.
#[derive(Clone, Copy, Debug)]
pub struct WeighedChunk {
    /// The definition or file that the chunk is of.
    pub symbol: SymbolId,
    /// Its file.
    pub file: FileId,
    /// Whatever the judge said.
    pub score: f32,
}

/// What a judge of chunks sees.
#[derive(Clone, Copy, Debug)]
pub struct ChunkEvidence {
    /// The file.
    pub file: FileId,
    /// BM25 as a share of the best.
    pub words: f32,
    /// The share of the terms' rarity that it holds.
    pub covered: f32,
    /// Which terms it holds.
    pub held: u64,
}

/// What a word counts as in the index; none where it says nothing.
pub fn term_of(word: &str) -> Option<&str> {
    (word.len() <= MAX_TERM && !is_stop_word(word)).then(|| stem(word))
}

/// The words of a text in lower case, those that say nothing included.
pub fn each_word(text: &str, hear: impl FnMut(&str)) {
    for_each_word(text, &mut String::new(), hear);
}

impl SearchIndex {
    /// Weighs every chunk and file by some terms, given with how much each counts; a term that is given twice counts as the larger.
    pub fn weigh(&self, snapshot: &Snapshot, asked: &[(String, f32)]) -> Weighed {
        let terms = self.known_terms(asked);
        let mut weighed = Weighed {
            rarity: terms.iter().map(|term| term.rarity).sum(),
            scores: vec![0.0; self.chunk_slots()],
            covered: vec![0.0; self.chunk_slots()],
            held: vec![0; self.chunk_slots()],
            files: vec![0.0; snapshot.file_count()],
            terms,
        };
        let lengths = self.file_lengths(snapshot.file_count());
        let files = lengths.iter().filter(|length| **length > 0).count() as f32;
        let (mean_chunk, mean_file) = self.mean_lengths(files);
        let mut in_file = vec![0u32; snapshot.file_count()];
        let mut found: Vec<u32> = Vec::new();
        for (bit, term) in weighed.terms.iter().enumerate() {
            found.clear();
            self.each_posting(&term.text, |posting| {
                let weight = posting.weight as f32;
                let length = 1.0 - CHUNK_LENGTH + CHUNK_LENGTH * posting.length as f32 / mean_chunk;
                weighed.scores[posting.chunk] += term.rarity * saturated(weight, length);
                weighed.covered[posting.chunk] += term.rarity;
                weighed.held[posting.chunk] |= 1 << bit;
                if let Some(sum) = in_file.get_mut(posting.file as usize) {
                    if *sum == 0 {
                        found.push(posting.file);
                    }
                    *sum += posting.weight.max(1);
                }
            });
            let rarity = term.weight * rarity(files, found.len() as f32);
            for &file in &found {
                let weight = std::mem::take(&mut in_file[file as usize]) as f32;
                let length = 1.0 - FILE_LENGTH + FILE_LENGTH * lengths[file as usize] as f32 / mean_file;
                weighed.files[file as usize] += rarity * saturated(weight, length);
            }
        }
        shares(&mut weighed.files);
        shares(&mut weighed.scores);
        weighed
    }

    /// The chunks that a judge finds best, at most `wanted`; those with a score of nothing or less are left out. Equals come in the order
    /// of the tree, whichever part of the index they are in.
    pub fn best_chunks(
        &self,
        snapshot: &Snapshot,
        weighed: &Weighed,
        wanted: usize,
        judge: impl Fn(ChunkEvidence) -> f32,
    ) -> Vec<WeighedChunk> {
        let mut best: Vec<(usize, f32)> = Vec::with_capacity(wanted * 2);
        let mut least = 0f32;
        let before = |left: &(usize, f32), right: &(usize, f32)| {
            let place = |chunk: usize| self.symbol_of(chunk, snapshot).map(|symbol| symbol.id());
            (right.1.total_cmp(&left.1)).then_with(|| place(left.0).cmp(&place(right.0)))
        };
        self.each_live_chunk(|chunk, file| {
            if weighed.held[chunk] == 0 {
                return;
            }
            let score = judge(ChunkEvidence {
                file: FileId(file),
                words: weighed.scores[chunk],
                covered: weighed.covered[chunk] / weighed.rarity.max(f32::MIN_POSITIVE),
                held: weighed.held[chunk],
            });
            if score <= 0.0 || score < least {
                return;
            }
            best.push((chunk, score));
            if best.len() == wanted * 2 {
                best.select_nth_unstable_by(wanted - 1, before);
                best.truncate(wanted);
                least = best[wanted - 1].1;
            }
        });
        best.sort_unstable_by(before);
        best.truncate(wanted);
        let of = |(chunk, score): (usize, f32)| {
            let symbol = self.symbol_of(chunk, snapshot)?;
            Some(WeighedChunk {
                symbol: symbol.id(),
                file: symbol.file_id(),
                score,
            })
        };
        best.into_iter().filter_map(of).collect()
    }

    /// The chunks that hold all of some words, at most: what cannot be more than the places of an identifier made of them.
    pub fn chunks_with_all(&self, stems: &[String]) -> usize {
        let Some((first, others)) = stems.split_first() else {
            return 0;
        };
        let mut common = self.chunks_with(first);
        for other in others {
            let with = self.chunks_with(other);
            common.retain(|chunk| with.binary_search(chunk).is_ok());
        }
        common.len()
    }

    /// The terms that the tree has, rarest first. Which of many are looked up is decided by the length of their lists, which counts nothing.
    fn known_terms(&self, asked: &[(String, f32)]) -> Vec<Term> {
        let mut weights: hashbrown::HashMap<&str, f32> = hashbrown::HashMap::new();
        for (text, weight) in asked {
            let known = weights.entry(text.as_str()).or_insert(0.0);
            *known = known.max(*weight);
        }
        let all = self.chunk_count() as f32;
        let sized = weights
            .into_iter()
            .map(|(text, weight)| (text, weight, self.postings_size(text)));
        let mut likely: Vec<(f32, &str, f32)> = sized
            .filter(|(_, _, size)| *size > 0)
            .map(|(text, weight, size)| (weight * rarity(all, size as f32), text, weight))
            .collect();
        likely.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
        likely.truncate(MOST_TERMS);
        let mut terms: Vec<Term> = Vec::with_capacity(likely.len());
        for (_, text, weight) in likely {
            let mut chunks = 0;
            self.each_posting(text, |_| chunks += 1);
            if chunks > 0 {
                terms.push(Term {
                    text: text.to_owned(),
                    weight,
                    chunks,
                    rarity: weight * rarity(all, chunks as f32),
                });
            }
        }
        terms.sort_by(|left, right| right.rarity.total_cmp(&left.rarity).then(left.text.cmp(&right.text)));
        terms
    }
}

/// BM25's part for one term.
fn saturated(weight: f32, length: f32) -> f32 {
    weight * (rank::SATURATION + 1.0) / (weight + rank::SATURATION * length)
}

/// How rare a term is that so many of all have.
pub fn rarity(all: f32, with: f32) -> f32 {
    (1.0 + ((all - with).max(0.0) + 0.5) / (with + 0.5)).ln()
}

fn shares(scores: &mut [f32]) {
    let best = scores.iter().fold(f32::MIN_POSITIVE, |best, &score| best.max(score));
    scores.iter_mut().for_each(|score| *score /= best);
}
