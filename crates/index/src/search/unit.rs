//! One file's share of the search index: the weighted terms and the vector of each of its chunks.
//!
//! A unit depends on the file alone (its path and its text), so units are made in parallel while files are parsed. Each
//! thread keeps a [`Lexicon`]: a word is stemmed and taken apart into tokens when it is first met, not in every file.

use std::cell::RefCell;
use std::hash::BuildHasher;

use hashbrown::HashTable;

use super::chunk::{CodeChunk, is_document};
use super::embed::{Bag, MAX_WORDS, Table, place};
use super::rank::field;
use super::vector::{PACKED, pack};
use super::words::{MAX_TERM, for_each_word, stem};

thread_local! {
    static MAKER: RefCell<Option<Maker>> = const { RefCell::new(None) };
}

/// Most words of one chunk that are indexed. More is data, not code; names are found by the index of names all the same.
const MAX_INDEXED_WORDS: usize = 4096;

/// Most words of documentation that a vector is made of: the first say what it is about.
const MAX_PROSE_WORDS: usize = 128;
/// How much documentation counts in the vector of a chunk, next to its code: on CoSQA's development questions MRR .478 for 1, .487 for 2.
const PROSE: f32 = 2.0;
/// Where the owner of a definition, and the members of a type, count as standing.
const OWNER_WORD: usize = 64;

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
    pub(crate) fn new(chunks: &[CodeChunk<'_>], table: &'static Table) -> Unit {
        MAKER.with_borrow_mut(|maker| maker.get_or_insert_with(|| Maker::new(table)).unit(chunks))
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

/// What is known of a word, whatever the file.
#[derive(Clone, Copy)]
struct Word {
    /// Where its text starts in [`Lexicon::blob`].
    start: u32,
    length: u8,
    /// How many tokens it has, and where they start in [`Lexicon::pieces`].
    pieces: u8,
    first_piece: u32,
    /// The word that spells its stem.
    stem: u32,
}

/// The words that a thread has met. The texts of stems are words like any other.
#[derive(Default)]
struct Lexicon {
    blob: String,
    words: Vec<Word>,
    table: HashTable<u32>,
    pieces: Vec<u16>,
    hasher: foldhash::fast::RandomState,
}

/// A lexicon with more words starts anew with the next file, so that its memory stays bounded.
const MANY_WORDS: usize = 1 << 17;

impl Lexicon {
    fn text(&self, number: u32) -> &str {
        text_of(&self.blob, &self.words[number as usize])
    }

    /// The number of a word of at most [`MAX_TERM`] bytes.
    fn number(&mut self, word: &str, table: &Table) -> u32 {
        let hash = self.hasher.hash_one(word);
        if let Some(&number) = self.table.find(hash, |&number| self.text(number) == word) {
            return number;
        }
        let number = self.words.len() as u32;
        let (start, first_piece) = (self.blob.len() as u32, self.pieces.len());
        self.blob.push_str(word);
        table.pieces(word, &mut self.pieces);
        self.words.push(Word {
            start,
            length: word.len() as u8,
            pieces: (self.pieces.len() - first_piece) as u8,
            first_piece: first_piece as u32,
            stem: number,
        });
        let (blob, words, hasher) = (&self.blob, &self.words, &self.hasher);
        let rehash = |&number: &u32| hasher.hash_one(text_of(blob, &words[number as usize]));
        self.table.insert_unique(hash, number, rehash);
        let stem = stem(word);
        if stem.len() < word.len() {
            self.words[number as usize].stem = self.number(stem, table);
        }
        number
    }

    fn pieces(&self, number: u32) -> &[u16] {
        let word = &self.words[number as usize];
        &self.pieces[word.first_piece as usize..word.first_piece as usize + usize::from(word.pieces)]
    }
}

fn text_of<'a>(blob: &'a str, word: &Word) -> &'a str {
    &blob[word.start as usize..word.start as usize + usize::from(word.length)]
}

/// What a word of the lexicon is in the current file.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The last file of which it was a term, and its number there.
    file: u32,
    term: u32,
    /// Where it occurs in what the current chunk's vector is made of.
    here: Occurrences,
}

#[derive(Clone, Copy, Default)]
struct Occurrences {
    prose: u16,
    code: u16,
    place: u8,
    named: bool,
}

/// What a field is to the vector.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Nothing,
    Name,
    Prose,
    /// Code, whose first word is the one of this number.
    Code(usize),
}

struct Maker {
    table: &'static Table,
    lexicon: Lexicon,
    /// One for each word of the lexicon.
    seen: Vec<Seen>,
    /// Number of the current file among those of this thread.
    file: u32,
    /// The terms of the file as words of the lexicon.
    terms: Vec<u32>,
    bag: Bag,
    /// Weight of each term in the current chunk, and the terms that have one.
    weights: Vec<u32>,
    weighted: Vec<u32>,
    /// The words that the vector of the current chunk is made of.
    counted: Vec<u32>,
    buffer: String,
}

/// Terms of a file that can be numbered in the 24 bits that a posting has for it.
const MAX_TERMS: usize = 1 << 24;

impl Maker {
    fn new(table: &'static Table) -> Maker {
        Maker {
            table,
            lexicon: Lexicon::default(),
            seen: Vec::new(),
            file: 0,
            terms: Vec::new(),
            bag: table.bag(),
            weights: Vec::new(),
            weighted: Vec::new(),
            counted: Vec::new(),
            buffer: String::new(),
        }
    }

    fn unit(&mut self, chunks: &[CodeChunk<'_>]) -> Unit {
        if self.lexicon.words.len() > MANY_WORDS || self.file == u32::MAX {
            *self = Maker::new(self.table);
        }
        self.file += 1;
        self.terms.clear();
        self.weights.clear();
        let mut made = Vec::with_capacity(chunks.len());
        let mut postings = Vec::new();
        let mut vectors = Vec::with_capacity(chunks.len() * PACKED);
        for chunk in chunks {
            self.add(chunk);
            vectors.extend_from_slice(&self.take_vector());
            let length = self.take_postings(&mut postings);
            made.push(UnitChunk {
                symbol: chunk.symbol,
                length,
                end: postings.len() as u32,
            });
        }
        let mut text = String::new();
        let mut ends = Vec::with_capacity(self.terms.len());
        for &term in &self.terms {
            text.push_str(self.lexicon.text(term));
            ends.push(text.len() as u32);
        }
        Unit {
            package: chunks.first().map_or("", |chunk| &chunk.package).into(),
            chunks: made.into(),
            terms: text.into(),
            term_ends: ends.into(),
            postings: postings.into(),
            vectors: vectors.into(),
        }
    }

    fn add(&mut self, chunk: &CodeChunk<'_>) {
        let (owner, members) = (chunk.metadata("owner"), chunk.metadata("members"));
        // What is left of a file is seldom about what the file is called: that is the definition of the same name.
        let name = if chunk.kind == "file" {
            Role::Nothing
        } else {
            Role::Name
        };
        let (code, code_words) = match is_document(chunk.language) {
            true => (Role::Prose, MAX_PROSE_WORDS),
            false => (Role::Code(0), MAX_WORDS),
        };
        let mut indexed = MAX_INDEXED_WORDS;
        self.add_field(chunk.name, field::NAME, &mut indexed, name, MAX_WORDS);
        self.add_field(chunk.signature, field::SIGNATURE, &mut indexed, Role::Nothing, 0);
        self.add_field(chunk.file_path, field::PATH, &mut indexed, Role::Nothing, 0);
        self.add_field(owner, field::OWNER, &mut indexed, Role::Code(OWNER_WORD), MAX_WORDS);
        self.add_field(
            chunk.docstring,
            field::DOCSTRING,
            &mut indexed,
            Role::Prose,
            MAX_PROSE_WORDS,
        );
        self.add_field(&chunk.code, field::CODE, &mut indexed, code, code_words);
        self.add_field(members, field::CODE, &mut indexed, Role::Code(OWNER_WORD), MAX_WORDS);
    }

    /// Counts the words of a text: as terms of this weight while `indexed` lasts, and the first `embedded` for the vector.
    fn add_field(&mut self, text: &str, weight: u32, indexed: &mut usize, role: Role, embedded: usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut at = 0;
        for_each_word(text, &mut buffer, |word| {
            if *indexed == 0 {
                return;
            }
            *indexed -= 1;
            let counts = at < embedded && role != Role::Nothing;
            at += usize::from(counts);
            // Data: neither a term nor known to the table.
            if word.len() > MAX_TERM {
                return;
            }
            let number = self.lexicon.number(word, self.table);
            self.seen.resize(self.lexicon.words.len(), Seen::default());
            if weight > 0
                && let Some(term) = self.term(self.lexicon.words[number as usize].stem)
            {
                let sum = &mut self.weights[term as usize];
                if *sum == 0 {
                    self.weighted.push(term);
                }
                *sum += weight;
            }
            if counts {
                let here = &mut self.seen[number as usize].here;
                if here.is_none() {
                    self.counted.push(number);
                }
                here.add(role, at - 1);
            }
        });
        self.buffer = buffer;
    }

    /// The number that a stem has in the file.
    fn term(&mut self, stem: u32) -> Option<u32> {
        let seen = &mut self.seen[stem as usize];
        if seen.file != self.file {
            if self.terms.len() >= MAX_TERMS {
                return None;
            }
            (seen.file, seen.term) = (self.file, self.terms.len() as u32);
            self.terms.push(stem);
            self.weights.push(0);
        }
        Some(seen.term)
    }

    fn take_vector(&mut self) -> [u8; PACKED] {
        for word in self.counted.drain(..) {
            let here = std::mem::take(&mut self.seen[word as usize].here);
            for &token in self.lexicon.pieces(word) {
                if here.prose > 0 {
                    self.bag.add_prose(token, here.prose);
                }
                if here.code > 0 {
                    self.bag.add_code(token, here.code, here.place);
                }
                if here.named {
                    self.bag.add_name(token);
                }
            }
        }
        pack(&self.table.sum(&mut self.bag, PROSE))
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

impl Occurrences {
    fn is_none(&self) -> bool {
        self.prose == 0 && self.code == 0 && !self.named
    }

    /// Adds the word of number `at` of a field.
    fn add(&mut self, role: Role, at: usize) {
        match role {
            Role::Nothing => {}
            Role::Name => self.named = true,
            Role::Prose => self.prose = self.prose.saturating_add(1),
            Role::Code(first) => {
                let place = place(first + at);
                self.place = if self.code == 0 { place } else { self.place.min(place) };
                self.code = self.code.saturating_add(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::embed::built_in;
    use super::super::vector::DIMENSIONS;
    use super::*;

    /// The vector of a definition is the one that the training would make of its name, documentation and code.
    #[test]
    fn vectors_of_chunks_are_those_of_the_training() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/embedding.json");
        let samples: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let samples = samples["chunks"].as_array().unwrap();
        assert_eq!(samples.len(), 2);
        for sample in samples {
            let text = |field: &str| sample[field].as_str().unwrap();
            let chunk = CodeChunk {
                kind: "function",
                name: text("name"),
                package: "".into(),
                language: "python",
                file_path: "a.py",
                uri: String::new(),
                start_line: 1,
                end_line: 1,
                selection_start_line: 1,
                selection_end_line: 1,
                signature: "",
                docstring: text("doc"),
                code: text("code").into(),
                metadata: Vec::new(),
                symbol: 1,
            };
            // A second time with the lexicon and the bag that the first one left.
            for _ in 0..2 {
                let packed = Unit::new(std::slice::from_ref(&chunk), built_in()).vectors;
                let mut expected = [0.0; DIMENSIONS];
                for (to, value) in expected.iter_mut().zip(sample["vector"].as_array().unwrap()) {
                    *to = value.as_f64().unwrap() as f32;
                }
                let expected = pack(&expected);
                let other = packed
                    .iter()
                    .zip(&expected)
                    .filter(|(ours, theirs)| ours != theirs)
                    .count();
                // Where a value lies between two steps, its last digit decides.
                assert!(other <= 4, "{}: {other} of {PACKED} bytes differ", text("name"));
            }
        }
    }
}
