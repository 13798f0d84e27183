//! Asks the parts of the search index: scores every chunk by words and by vector, then ranks the best.
//!
//! The one trick: scores are kept in plain arrays over all chunks. Counting documents exactly (only those whose file is still
//! as it was), blending and choosing are then single passes, and a hundred thousand chunks take about two milliseconds. In a large
//! tree the vectors' scores are estimates from their signs, and the best are compared once more.

use std::path::Path;

use super::embed::{built_in, chosen};
use super::part::Part;
use super::rank::{self, Aspects, Why};
use super::signs::{APPROXIMATE_FROM, Estimate, REFINED, Signs};
use super::vector::{Asked, PACKED};
use super::words::{MAX_TERM, for_each_word, is_stop_word, stem};
use crate::model::FileId;
use crate::snapshot::{Snapshot, SymbolId, SymbolView};
use crate::store::Damage;

/// Which evidence of the text counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Words, meaning and the graph.
    #[default]
    Hybrid,
    /// Meaning alone.
    Semantic,
    /// Words alone.
    Lexical,
}

/// How the nearest vectors are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scan {
    /// Every vector is compared.
    #[default]
    Exact,
    /// The signs of every vector are, and then the vectors of those that look best.
    Approximate,
}

/// What is asked.
pub struct Question<'a> {
    /// In words or identifiers.
    pub text: &'a str,
    /// Hits at most.
    pub limit: usize,
    /// What counts.
    pub mode: Mode,
    /// Which symbols may be hits; all where there is none.
    pub accept: Option<&'a dyn Fn(SymbolView<'_>) -> bool>,
}

/// A symbol that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Which.
    pub symbol: SymbolId,
    /// Higher is better; comparable within one answer alone.
    pub score: f32,
    /// What it is made of.
    pub why: Why,
}

/// The search index as of one snapshot.
#[derive(Default)]
pub struct SearchIndex {
    parts: Vec<LivePart>,
    chunks: usize,
    /// Chunks whose file is as it was, and the sum of their lengths.
    live: usize,
    length: u64,
    /// Where each file of the snapshot is: part and file of the part.
    places: Vec<Option<(u32, u32)>>,
    missing: usize,
    scan: Scan,
    /// Of a part that could not be opened at all.
    damage: Option<Damage>,
}

/// A chunk that has a term.
pub(super) struct Posting {
    pub(super) chunk: usize,
    pub(super) file: u32,
    pub(super) weight: u32,
    /// Sum of the weights of the chunk's terms.
    pub(super) length: u32,
}

struct LivePart {
    part: Part,
    /// The signs of its vectors where they are scanned and the part does not hold them.
    signs: Signs,
    /// Number of its first chunk among those of all parts.
    first: usize,
    /// For each chunk its file in the snapshot, or [`GONE`].
    files: Vec<u32>,
}

const GONE: u32 = u32::MAX;

/// Most distinct terms of a question that are looked up.
const MAX_TERMS: usize = 64;
/// How much a long file is held against itself as a whole.
const FILE_LENGTH_PENALTY: f32 = 0.3;
/// Most distinct terms of a long text that are counted to find the rarest.
const MOST_COUNTED: usize = 512;

impl SearchIndex {
    /// Opens the parts that lie in an index directory and finds out what of them is true of the snapshot.
    pub fn open(directory: &Path, snapshot: &Snapshot) -> SearchIndex {
        let mut index = SearchIndex {
            places: vec![None; snapshot.file_count()],
            ..SearchIndex::default()
        };
        for name in super::keeper::PARTS {
            match Part::open(&directory.join(name)) {
                Ok(Some(part)) => index.add(part, snapshot),
                Ok(None) => {}
                Err(damage) => index.damage = Some(damage),
            }
        }
        index.missing = index.places.iter().filter(|place| place.is_none()).count();
        // By what is true of the snapshot alone: the answer is the same however its chunks lie in parts.
        index.use_scan(match index.live < APPROXIMATE_FROM {
            true => Scan::Exact,
            false => Scan::Approximate,
        });
        index
    }

    /// Finds vectors this way from now on, instead of the way that fits the size.
    pub fn use_scan(&mut self, scan: Scan) {
        self.scan = scan;
        for part in &mut self.parts {
            part.signs = Signs::default();
            if scan == Scan::Approximate && part.part.signs().is_none() {
                part.signs.add(part.part.vectors());
            }
        }
    }

    /// What was found to be damaged so far; see [`Snapshot::damage`].
    pub fn damage(&self) -> Option<Damage> {
        let parts = self.parts.iter().filter_map(|part| part.part.damage());
        parts.chain(&self.damage).next().cloned()
    }

    /// How vectors are found.
    pub fn scan(&self) -> Scan {
        self.scan
    }

    /// Opens what lies beside a snapshot's file.
    pub fn beside(snapshot: &Snapshot) -> SearchIndex {
        match snapshot.path().and_then(Path::parent) {
            Some(directory) => SearchIndex::open(directory, snapshot),
            None => SearchIndex {
                missing: snapshot.file_count(),
                ..SearchIndex::default()
            },
        }
    }

    /// Number of chunks that are searched.
    pub fn chunk_count(&self) -> usize {
        self.live
    }

    /// Number of files of the snapshot that cannot be found by their text yet.
    pub fn missing_files(&self) -> usize {
        self.missing
    }

    /// The package that a file belongs to; empty where it is not known.
    pub fn package(&self, file: FileId) -> &str {
        let place = self.places.get(file.0 as usize).copied().flatten();
        place
            .and_then(|(part, file)| self.parts.get(part as usize)?.part.file(file as usize))
            .map_or("", |file| file.package)
    }

    fn add(&mut self, part: Part, snapshot: &Snapshot) {
        let mut files = vec![GONE; part.chunk_count()];
        let number = self.parts.len() as u32;
        let mut candidates = snapshot.files().peekable();
        for at in 0..part.file_count() {
            let Some(file) = part.file(at) else { continue };
            while candidates.next_if(|candidate| candidate.path() < file.path).is_some() {}
            let Some(candidate) = candidates.peek() else { break };
            let same =
                candidate.path() == file.path && candidate.hash() == file.hash && candidate.language() == file.language;
            let place = &mut self.places[candidate.id().0 as usize];
            // A file that both parts have is taken from the first.
            if !same || place.is_some() {
                continue;
            }
            *place = Some((number, at as u32));
            let range = part.chunks_of(at);
            files[range.clone()].fill(candidate.id().0);
            self.live += range.len();
            let rows = part.chunk_rows().get(range).unwrap_or_default();
            self.length += rows.iter().map(|row| u64::from(row.length.get())).sum::<u64>();
        }
        self.parts.push(LivePart {
            signs: Signs::default(),
            first: self.chunks,
            files,
            part,
        });
        self.chunks += self.parts[number as usize].files.len();
    }

    /// The symbols that answer best, best first.
    pub fn search(&self, snapshot: &Snapshot, question: &Question<'_>) -> Vec<Hit> {
        let terms = terms(question.text);
        let mut aspects = Aspects::new(question.text, terms);
        match question.mode {
            Mode::Hybrid => {}
            Mode::Semantic => aspects.words_share = 0.0,
            Mode::Lexical => aspects.words_share = 1.0,
        }
        let lexical = match question.mode {
            Mode::Semantic => vec![0.0; self.chunks],
            _ => self.lexical(&aspects.terms),
        };
        let asked = match question.mode {
            Mode::Lexical => None,
            _ => asked(question.text),
        };
        let mut semantic = vec![0.0; self.chunks];
        if let Some(asked) = &asked {
            self.compare(asked, &mut semantic);
        }
        let accept = |symbol: SymbolView<'_>| question.accept.is_none_or(|accept| accept(symbol));
        let wanted = question.limit.max(rank::POOL);
        let mut best = match self.scan {
            Scan::Exact => self.best(&lexical, &semantic, aspects.words_share, snapshot, question, wanted),
            Scan::Approximate => {
                let likely = wanted * (REFINED / rank::POOL);
                let mut best = self.best(&lexical, &semantic, aspects.words_share, snapshot, question, likely);
                for (chunk, score) in &mut best {
                    semantic[*chunk] = self.exact(asked.as_ref(), *chunk);
                    *score = rank::blend(semantic[*chunk], lexical[*chunk], aspects.words_share);
                }
                self.order(&mut best, snapshot);
                best
            }
        };
        best.truncate(wanted);
        let mut pool: Vec<Hit> = Vec::new();
        for (chunk, _) in best {
            if let Some(symbol) = self.symbol_of(chunk, snapshot) {
                pool.push(hit(symbol.id(), semantic[chunk], lexical[chunk]));
            }
        }
        if question.mode != Mode::Hybrid {
            pool.iter_mut().for_each(|hit| {
                hit.why.factor = 1.0;
                hit.score = hit.why.score(aspects.words_share);
            });
            pool.truncate(question.limit);
            return pool;
        }
        for name in &aspects.names {
            for symbol in snapshot
                .named_ignoring_case(name)
                .take(MOST_NAMESAKES)
                .filter(|symbol| accept(*symbol))
            {
                if !pool.iter().any(|hit| hit.symbol == symbol.id()) {
                    // A constant or a field has no chunk of its own: it is about what the chunk around it is about.
                    let around = std::iter::successors(Some(symbol), |inner| inner.parent());
                    let chunk = around.take(MOST_OWNERS).find_map(|symbol| self.chunk_of(symbol));
                    let (meaning, words) =
                        chunk.map_or((0.0, 0.0), |chunk| (self.exact(asked.as_ref(), chunk), lexical[chunk]));
                    pool.push(hit(symbol.id(), meaning, words));
                }
            }
        }
        for hit in &mut pool {
            if let Some(symbol) = snapshot.symbol(hit.symbol) {
                rank::judge(&mut hit.why, &aspects, snapshot, symbol);
                hit.score = hit.why.score(aspects.words_share);
            }
        }
        add_coherence(&mut pool, snapshot, aspects.words_share);
        pool.sort_by(|left, right| right.score.total_cmp(&left.score).then(left.symbol.cmp(&right.symbol)));
        pool.truncate(question.limit);
        pool
    }

    /// BM25 of every chunk, as a share of the best.
    fn lexical(&self, terms: &[String]) -> Vec<f32> {
        let mut scores = vec![0f32; self.chunks];
        if self.live == 0 {
            return scores;
        }
        let average = (self.length as f32 / self.live as f32).max(1.0);
        let mut found: Vec<(usize, u32, u16)> = Vec::new();
        for term in terms {
            found.clear();
            for part in &self.parts {
                let Some(rank) = part.part.find_term(term) else {
                    continue;
                };
                let rows = part.part.chunk_rows();
                for (chunk, weight) in part.part.postings(rank) {
                    let chunk = chunk as usize;
                    let is_live = part.files.get(chunk).is_some_and(|&file| file != GONE);
                    if let Some(row) = rows.get(chunk).filter(|_| is_live) {
                        found.push((part.first + chunk, weight, row.length.get()));
                    }
                }
            }
            let (all, with) = (self.live as f32, found.len() as f32);
            let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
            for &(chunk, weight, length) in &found {
                let weight = weight as f32;
                let penalty = 1.0 - rank::LENGTH_PENALTY + rank::LENGTH_PENALTY * f32::from(length) / average;
                scores[chunk] += rarity * weight * (rank::SATURATION + 1.0) / (weight + rank::SATURATION * penalty);
            }
        }
        let best = scores.iter().fold(0f32, |best, &score| best.max(score));
        if best > 0.0 {
            scores.iter_mut().for_each(|score| *score /= best);
        }
        scores
    }

    /// BM25 of every file as a whole, as a share of the best: what a question says in many words is often spread over a file. A
    /// word that is said again counts more, and length counts little: what is changed most is long.
    pub fn files(&self, snapshot: &Snapshot, text: &str) -> Vec<f32> {
        let mut scores = vec![0f32; snapshot.file_count()];
        let lengths = self.file_lengths(snapshot.file_count());
        let all = lengths.iter().filter(|length| **length > 0).count() as f32;
        let average = (self.length as f32 / all.max(1.0)).max(1.0);
        let mut weights = vec![0u32; snapshot.file_count()];
        let mut found: Vec<u32> = Vec::new();
        for (term, said) in self.rarest(text) {
            found.clear();
            for part in &self.parts {
                let Some(rank) = part.part.find_term(&term) else {
                    continue;
                };
                for (chunk, weight) in part.part.postings(rank) {
                    let Some(&file) = part.files.get(chunk as usize).filter(|file| **file != GONE) else {
                        continue;
                    };
                    if weights[file as usize] == 0 {
                        found.push(file);
                    }
                    weights[file as usize] += weight.max(1);
                }
            }
            let with = found.len() as f32;
            let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln() * (1.0 + (said as f32).ln());
            for &file in &found {
                let weight = std::mem::take(&mut weights[file as usize]) as f32;
                let length = lengths[file as usize] as f32 / average;
                let penalty = 1.0 - FILE_LENGTH_PENALTY + FILE_LENGTH_PENALTY * length;
                scores[file as usize] +=
                    rarity * weight * (rank::SATURATION + 1.0) / (weight + rank::SATURATION * penalty);
            }
        }
        let best = scores.iter().fold(f32::MIN_POSITIVE, |best, &score| best.max(score));
        scores.iter_mut().for_each(|score| *score /= best);
        scores
    }

    /// Calls `hear` with every live chunk that has the term.
    pub(super) fn each_posting(&self, term: &str, mut hear: impl FnMut(Posting)) {
        for part in &self.parts {
            let Some(rank) = part.part.find_term(term) else {
                continue;
            };
            let rows = part.part.chunk_rows();
            for (chunk, weight) in part.part.postings(rank) {
                let chunk = chunk as usize;
                let file = part.files.get(chunk).copied().unwrap_or(GONE);
                if let Some(row) = rows.get(chunk).filter(|_| file != GONE) {
                    hear(Posting {
                        chunk: part.first + chunk,
                        file,
                        weight,
                        length: u32::from(row.length.get()),
                    });
                }
            }
        }
    }

    /// Bytes of the lists of the chunks that have a term: about as many as chunks.
    pub(super) fn postings_size(&self, term: &str) -> usize {
        let parts = self.parts.iter().map(|part| &part.part);
        let sizes = parts.filter_map(|part| part.find_term(term).map(|rank| part.postings(rank).size()));
        sizes.sum()
    }

    /// Calls `hear` with every live chunk and its file.
    pub(super) fn each_live_chunk(&self, mut hear: impl FnMut(usize, u32)) {
        for part in &self.parts {
            for (at, &file) in part.files.iter().enumerate().filter(|(_, file)| **file != GONE) {
                hear(part.first + at, file);
            }
        }
    }

    /// Places for chunks, those that no longer count included.
    pub(super) fn chunk_slots(&self) -> usize {
        self.chunks
    }

    /// Sum of the weights of the terms of each file.
    pub(super) fn file_lengths(&self, files: usize) -> Vec<u32> {
        let mut lengths = vec![0u32; files];
        for part in &self.parts {
            for (row, &file) in part.part.chunk_rows().iter().zip(&part.files) {
                if let Some(length) = lengths.get_mut(file as usize) {
                    *length += u32::from(row.length.get());
                }
            }
        }
        lengths
    }

    /// The mean length of a chunk, and of one of so many files.
    pub(super) fn mean_lengths(&self, files: f32) -> (f32, f32) {
        let length = self.length as f32;
        (
            (length / (self.live as f32).max(1.0)).max(1.0),
            (length / files.max(1.0)).max(1.0),
        )
    }

    /// Whether any chunk has the term.
    pub(super) fn has_term(&self, term: &str) -> bool {
        self.parts.iter().any(|part| part.part.find_term(term).is_some())
    }

    /// The chunks that have the term, in order.
    pub(super) fn chunks_with(&self, term: &str) -> Vec<usize> {
        let mut found = Vec::new();
        for part in &self.parts {
            let Some(rank) = part.part.find_term(term) else {
                continue;
            };
            let chunks = part.part.postings(rank).map(|(chunk, _)| chunk as usize);
            let live = chunks.filter(|chunk| part.files.get(*chunk).is_some_and(|&file| file != GONE));
            found.extend(live.map(|chunk| part.first + chunk));
        }
        found
    }

    /// The rarest terms of a text with how often it says them: common ones cost most and tell least.
    fn rarest(&self, text: &str) -> Vec<(String, u32)> {
        let mut counts: hashbrown::HashMap<String, u32> = hashbrown::HashMap::new();
        for_each_term(text, |term| {
            if counts.len() < MOST_COUNTED || counts.contains_key(term) {
                *counts.entry_ref(term).or_default() += 1;
            }
        });
        let sized = counts
            .into_iter()
            .map(|(term, said)| (self.postings_size(&term), term, said));
        let mut sized: Vec<(usize, String, u32)> = sized.filter(|(size, _, _)| *size > 0).collect();
        sized.sort_unstable();
        sized.truncate(MAX_TERMS);
        sized.into_iter().map(|(_, term, said)| (term, said)).collect()
    }

    /// The cosine of every chunk with the question, or an estimate of it.
    fn compare(&self, asked: &Asked, scores: &mut [f32]) {
        let estimate = (self.scan == Scan::Approximate).then(|| Estimate::new(asked));
        for part in &self.parts {
            let scores = &mut scores[part.first..part.first + part.files.len()];
            match &estimate {
                None => asked.compare(part.part.vectors(), part.part.squares(), scores),
                Some(estimate) => estimate.compare(part.part.signs().unwrap_or(part.signs.bytes()), scores),
            }
        }
    }

    /// The cosine of one chunk.
    fn exact(&self, asked: Option<&Asked>, chunk: usize) -> f32 {
        let part = self.parts.iter().rev().find(|part| part.first <= chunk);
        let (Some(asked), Some(part)) = (asked, part) else {
            return 0.0;
        };
        let at = chunk - part.first;
        let vector = part.part.vectors().get(at * PACKED..(at + 1) * PACKED);
        let square = part.part.squares().get(at..=at);
        let mut score = [0.0];
        if let (Some(vector), Some(square)) = (vector, square) {
            asked.compare(vector, square, &mut score);
        }
        score[0]
    }

    /// The chunks with the best blend, best first.
    fn best(
        &self,
        lexical: &[f32],
        semantic: &[f32],
        words_share: f32,
        snapshot: &Snapshot,
        question: &Question<'_>,
        wanted: usize,
    ) -> Vec<(usize, f32)> {
        let mut best: Vec<(usize, f32)> = Vec::with_capacity(wanted * 2);
        let mut least = 0f32;
        for part in &self.parts {
            for (at, &file) in part.files.iter().enumerate() {
                let chunk = part.first + at;
                let score = rank::blend(semantic[chunk], lexical[chunk], words_share);
                // As good as the last one is good enough: which of equals stay is not for this pass to say.
                if score < least || score <= 0.0 || file == GONE {
                    continue;
                }
                if let Some(accept) = question.accept
                    && !self.symbol_of(chunk, snapshot).is_some_and(accept)
                {
                    continue;
                }
                best.push((chunk, score));
                if best.len() == wanted * 2 {
                    best.select_nth_unstable_by(wanted - 1, |left, right| self.cmp(*left, *right, snapshot));
                    best.truncate(wanted);
                    least = best[wanted - 1].1;
                }
            }
        }
        self.order(&mut best, snapshot);
        best.truncate(wanted);
        best
    }

    fn order(&self, chunks: &mut [(usize, f32)], snapshot: &Snapshot) {
        chunks.sort_unstable_by(|left, right| self.cmp(*left, *right, snapshot));
    }

    /// Better scores first; equals in the order of the files, whichever part they are in.
    fn cmp(&self, left: (usize, f32), right: (usize, f32), snapshot: &Snapshot) -> std::cmp::Ordering {
        let place = |chunk: usize| self.symbol_of(chunk, snapshot).map(|symbol| symbol.id());
        right
            .1
            .total_cmp(&left.1)
            .then_with(|| place(left.0).cmp(&place(right.0)))
    }

    pub(super) fn symbol_of<'s>(&self, chunk: usize, snapshot: &'s Snapshot) -> Option<SymbolView<'s>> {
        let part = self.parts.iter().rev().find(|part| part.first <= chunk)?;
        let at = chunk - part.first;
        let file = snapshot.file(FileId(*part.files.get(at).filter(|&&file| file != GONE)?))?;
        let number = part.part.chunk_rows().get(at)?.symbol.get();
        let symbols = file.symbol_range();
        let id = symbols.start.checked_add(number).filter(|id| symbols.contains(id))?;
        snapshot.symbol(SymbolId(id))
    }

    fn chunk_of(&self, symbol: SymbolView<'_>) -> Option<usize> {
        let file = symbol.file()?;
        let (part, at) = (*self.places.get(file.id().0 as usize)?)?;
        let part = self.parts.get(part as usize)?;
        let number = symbol.id().0.checked_sub(file.symbol_range().start)?;
        let range = part.part.chunks_of(at as usize);
        let rows = part.part.chunk_rows().get(range.clone())?;
        let found = rows.binary_search_by_key(&number, |row| row.symbol.get()).ok()?;
        Some(part.first + range.start + found)
    }
}

/// The vector of a question; none where it is about nothing, or the model does not answer: then words alone do.
fn asked(text: &str) -> Option<Asked> {
    let embedder = chosen().unwrap_or(built_in());
    embedder.embed(&[text]).ok()?.first().and_then(Asked::new)
}

/// Most owners of a symbol that are looked at.
const MOST_OWNERS: usize = 64;
/// Most symbols of one name that are taken into the pool.
const MOST_NAMESAKES: usize = 64;

fn hit(symbol: SymbolId, semantic: f32, lexical: f32) -> Hit {
    let why = Why {
        semantic,
        lexical,
        ..Why::default()
    };
    Hit {
        symbol,
        score: 0.0,
        why,
    }
}

/// Hits of a file support each other.
fn add_coherence(pool: &mut [Hit], snapshot: &Snapshot, words_share: f32) {
    let file_of = |hit: &Hit| {
        snapshot
            .symbol(hit.symbol)
            .map_or(FileId(u32::MAX), |symbol| symbol.file_id())
    };
    // What is left of a file outside of its definitions says little about them.
    let counts = |hit: &Hit| match snapshot.symbol(hit.symbol) {
        Some(symbol) if !symbol.is_file() => hit.score.max(0.0),
        _ => 0.0,
    };
    let mut sums: hashbrown::HashMap<FileId, f32> = hashbrown::HashMap::new();
    for hit in pool.iter() {
        *sums.entry(file_of(hit)).or_default() += counts(hit);
    }
    for hit in pool {
        let others = sums.get(&file_of(hit)).copied().unwrap_or_default() - counts(hit);
        hit.why.coherence = rank::coherence(others);
        hit.score = hit.why.score(words_share);
    }
}

/// Calls `hear` with every term of a text, stop words left out.
pub fn for_each_term(text: &str, mut hear: impl FnMut(&str)) {
    let mut buffer = String::new();
    for_each_word(text, &mut buffer, |word| {
        if word.len() <= MAX_TERM && !is_stop_word(word) {
            hear(stem(word));
        }
    });
}

/// The terms of a question, each once, without stop words unless there is nothing else.
fn terms(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut stops: Vec<String> = Vec::new();
    let mut buffer = String::new();
    for_each_word(text, &mut buffer, |word| {
        if word.len() > MAX_TERM || found.len() >= MAX_TERMS {
            return;
        }
        let list = match is_stop_word(word) {
            true => &mut stops,
            false => &mut found,
        };
        let term = stem(word);
        if list.len() < MAX_TERMS && !list.iter().any(|known| known == term) {
            list.push(term.to_string());
        }
    });
    if found.is_empty() { stops } else { found }
}

const _: () = assert!(PACKED * 2 == super::vector::DIMENSIONS);
