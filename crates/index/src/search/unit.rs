//! One file's share of the search index: the weighted terms and the vector of each of its chunks.
//!
//! A unit depends on the file alone (its path and its text), so units are made in parallel while files are parsed. Each
//! distinct word of a file is stemmed and taken apart into tokens once, however often it occurs.

use super::chunk::CodeChunk;
use super::embed::{MAX_WORDS, Table};
use super::rank::field;
use super::vector::{PACKED, pack};
use super::words::{MAX_TERM, for_each_word, stem};
use crate::snapshot::names::Names;

/// Most words of one chunk that are indexed. More is data, not code; names are found by the index of names all the same.
const MAX_INDEXED_WORDS: usize = 4096;

/// The searchable part of one file.
#[derive(Debug, Default)]
pub(crate) struct Unit {
    /// The package that its chunks belong to.
    pub(crate) package: Box<str>,
    pub(crate) chunks: Box<[UnitChunk]>,
    /// Terms of the file, one after the other.
    terms: Box<str>,
    term_ends: Box<[u32]>,
    /// Number of the term, then eight bits of weight; chunk by chunk.
    postings: Box<[u32]>,
    /// [`PACKED`] bytes a chunk.
    pub(crate) vectors: Box<[u8]>,
}

/// One chunk of a unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitChunk {
    /// Number of the symbol in its file.
    pub(crate) symbol: u32,
    /// Sum of the weights of its terms.
    pub(crate) length: u32,
    /// End of its postings.
    end: u32,
}

impl Unit {
    /// Weighs the words of chunks and makes their vectors.
    pub(crate) fn new(chunks: &[CodeChunk<'_>], table: &Table) -> Unit {
        let mut maker = Maker::new(table);
        let mut unit = Unit {
            package: chunks.first().map_or("", |chunk| &chunk.package).into(),
            ..Unit::default()
        };
        let mut made = Vec::with_capacity(chunks.len());
        let mut postings = Vec::new();
        let mut vectors = Vec::with_capacity(chunks.len() * PACKED);
        for chunk in chunks {
            maker.add(chunk);
            vectors.extend_from_slice(&maker.take_vector());
            let length = maker.take_postings(&mut postings);
            made.push(UnitChunk {
                symbol: chunk.symbol,
                length,
                end: postings.len() as u32,
            });
        }
        let mut text = String::new();
        let mut ends = Vec::with_capacity(maker.terms.len());
        for number in 0..maker.terms.len() as u32 {
            text.push_str(maker.terms.text(number));
            ends.push(text.len() as u32);
        }
        unit.chunks = made.into();
        unit.terms = text.into();
        unit.term_ends = ends.into();
        unit.postings = postings.into();
        unit.vectors = vectors.into();
        unit
    }

    /// The terms of the file; their numbers are their positions.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.term_ends.iter().copied());
        starts
            .zip(&self.term_ends)
            .map(|(start, &end)| &self.terms[start as usize..end as usize])
    }

    /// The terms of a chunk with their weights.
    pub(crate) fn postings(&self, chunk: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let start = chunk.checked_sub(1).map_or(0, |before| self.chunks[before].end);
        self.postings[start as usize..self.chunks[chunk].end as usize]
            .iter()
            .map(|posting| (posting >> 8, posting & 255))
    }
}

/// What is known of a distinct word of the file.
struct Word {
    /// Number of its term; `u32::MAX` where it is none.
    term: u32,
    /// Its tokens, as a range of [`Maker::pieces`].
    pieces: (u32, u32),
}

struct Maker<'t> {
    table: &'t Table,
    words: Names,
    known: Vec<Word>,
    pieces: Vec<u16>,
    terms: Names,
    bag: super::embed::Bag,
    /// Weight of each term in the current chunk, and the terms that have one.
    weights: Vec<u32>,
    weighted: Vec<u32>,
    /// How often each word occurs in what the vector is made of, and the words that do.
    counts: Vec<u32>,
    counted: Vec<u32>,
    buffer: String,
}

/// Terms of a file that can be numbered in the 24 bits that a posting has for it.
const MAX_TERMS: usize = 1 << 24;

impl<'t> Maker<'t> {
    fn new(table: &'t Table) -> Maker<'t> {
        Maker {
            table,
            words: Names::new(|left, right| left.cmp(right)),
            known: Vec::new(),
            pieces: Vec::new(),
            terms: Names::new(|left, right| left.cmp(right)),
            bag: table.bag(),
            weights: Vec::new(),
            weighted: Vec::new(),
            counts: Vec::new(),
            counted: Vec::new(),
            buffer: String::new(),
        }
    }

    fn add(&mut self, chunk: &CodeChunk<'_>) {
        let (owner, members) = (chunk.metadata("owner"), chunk.metadata("members"));
        let mut indexed = MAX_INDEXED_WORDS;
        self.add_field(chunk.name, field::NAME, &mut indexed, &mut 0);
        self.add_field(chunk.signature, field::SIGNATURE, &mut indexed, &mut 0);
        self.add_field(chunk.file_path, field::PATH, &mut indexed, &mut 0);
        let mut embedded = MAX_WORDS;
        self.add_field(owner, field::OWNER, &mut indexed, &mut embedded);
        self.add_field(chunk.docstring, field::DOCSTRING, &mut indexed, &mut embedded);
        self.add_field(&chunk.code, field::CODE, &mut indexed, &mut embedded);
        self.add_field(members, field::CODE, &mut indexed, &mut embedded);
    }

    /// Counts the words of a text: as terms of this weight while `indexed` lasts, for the vector while `embedded` does.
    fn add_field(&mut self, text: &str, weight: u32, indexed: &mut usize, embedded: &mut usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for_each_word(text, &mut buffer, |word| {
            if *indexed == 0 {
                return;
            }
            *indexed -= 1;
            let number = self.number(word);
            let term = self.known[number].term;
            if term != u32::MAX && weight > 0 {
                let sum = &mut self.weights[term as usize];
                if *sum == 0 {
                    self.weighted.push(term);
                }
                *sum += weight;
            }
            if *embedded > 0 {
                *embedded -= 1;
                let count = &mut self.counts[number];
                if *count == 0 {
                    self.counted.push(number as u32);
                }
                *count += 1;
            }
        });
        self.buffer = buffer;
    }

    fn number(&mut self, word: &str) -> usize {
        let number = self.words.number(word) as usize;
        if number == self.known.len() {
            let start = self.pieces.len() as u32;
            self.table.pieces(word, &mut self.pieces);
            let mut term = u32::MAX;
            if word.len() <= MAX_TERM && self.terms.len() < MAX_TERMS {
                term = self.terms.number(stem(word));
                if term as usize == self.weights.len() {
                    self.weights.push(0);
                }
            }
            self.known.push(Word {
                term,
                pieces: (start, self.pieces.len() as u32),
            });
            self.counts.push(0);
        }
        number
    }

    fn take_vector(&mut self) -> [u8; PACKED] {
        for word in self.counted.drain(..) {
            let count = std::mem::take(&mut self.counts[word as usize]);
            let (start, end) = self.known[word as usize].pieces;
            for &token in &self.pieces[start as usize..end as usize] {
                self.bag.add(token, count);
            }
        }
        pack(&self.table.sum(&mut self.bag))
    }

    /// Moves the weights of the current chunk to `postings` and returns their sum.
    fn take_postings(&mut self, postings: &mut Vec<u32>) -> u32 {
        let mut length = 0;
        for term in self.weighted.drain(..) {
            let weight = std::mem::take(&mut self.weights[term as usize]);
            length += weight;
            postings.push(term << 8 | weight.min(255));
        }
        length
    }
}
