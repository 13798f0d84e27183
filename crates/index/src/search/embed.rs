//! From text to vector: a table of token vectors that is part of the binary, and the seam for other models.
//!
//! A vector is the weighted sum of its tokens' vectors: nothing runs but additions. In prose a token weighs more the more often it
//! occurs; in code also by where it stands first, and most of all in the name. How much was trained with the table and
//! lies in its file. The tokens are those of `models/code-embedding/tokenize_text.py`.

use std::borrow::Cow;
use std::sync::OnceLock;

use hashbrown::HashTable;

use super::vector::DIMENSIONS;
use super::words::for_each_word;

/// Turns texts into vectors of [`DIMENSIONS`] numbers. Same text, same vector.
pub trait Embedder: Send + Sync {
    /// What made the vectors: vectors of different models are never compared.
    fn model(&self) -> Cow<'_, str>;

    /// One vector for each text, all zeros where the model knows nothing of it.
    fn embed(&self, texts: &[&str]) -> Result<Vec<[f32; DIMENSIONS]>, EmbedError>;
}

/// Why a model gave no vectors: it lies elsewhere, and elsewhere did not answer.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
#[error("no vectors: {0}")]
pub struct EmbedError(pub String);

static CHOSEN: OnceLock<Box<dyn Embedder>> = OnceLock::new();

/// Lets another model than the built-in table make all vectors of this process, of files and of questions. Says whether it was the
/// first to be chosen; later ones are not heeded, because vectors of two models cannot be compared.
pub fn choose_embedder(embedder: Box<dyn Embedder>) -> bool {
    CHOSEN.set(embedder).is_ok()
}

/// The model that was chosen instead of the built-in table.
pub(crate) fn chosen() -> Option<&'static dyn Embedder> {
    CHOSEN.get().map(|embedder| &**embedder)
}

/// A number that tells vectors of one model from those of another.
pub(crate) fn model_stamp() -> u32 {
    chosen().map_or(BUILT_IN_STAMP, |embedder| {
        let hash = blake3::hash(embedder.model().as_bytes());
        u32::from_le_bytes([
            hash.as_bytes()[0],
            hash.as_bytes()[1],
            hash.as_bytes()[2],
            hash.as_bytes()[3],
        ]) | 1
    })
}

/// The stamp of the built-in table: even, and another one whenever the table or the way it is used changes.
const BUILT_IN_STAMP: u32 = 2;

/// Most words of a text that count; the model was trained with the same limit.
pub(crate) const MAX_WORDS: usize = 512;
/// Longest word that is taken apart, in characters.
const MAX_PIECED: usize = 40;

/// The table that comes with the binary.
pub fn built_in() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    static BYTES: &[u8] = include_bytes!("../../../../models/code-embedding/code-embedding.bin");
    TABLE.get_or_init(|| Table::read(BYTES).unwrap_or_else(Table::empty))
}

/// A table of token vectors.
pub struct Table {
    /// One token after the other, without separators.
    vocabulary: Box<str>,
    starts: Box<[u32]>,
    tokens: HashTable<u16>,
    hasher: foldhash::fast::FixedState,
    weights: Weights,
    scales: Box<[f32]>,
    rows: &'static [u8],
}

/// What an occurrence of a token weighs, as trained with the table.
#[derive(Clone, Copy)]
struct Weights {
    /// For each power of e that a count has, in prose and in code.
    repeated_in_prose: f32,
    repeated_in_code: f32,
    /// Added where the token is part of the name.
    name: f32,
    /// Times this in code, by [`place`].
    places: [f32; PLACES],
}

const PLACES: usize = 8;
/// Bytes of the weights in the file.
const WEIGHTS: usize = 4 * (3 + PLACES);

/// Where in the code a word stands, the first being 0: words 0–1, 2–3, 4–7, 8–15 and so on, all from 128 on being one.
pub(crate) fn place(word: usize) -> u8 {
    (usize::BITS - (word >> 1).leading_zeros()).min(PLACES as u32 - 1) as u8
}

/// Counts of tokens in one text or chunk, reused from one to the next.
pub(crate) struct Bag {
    tokens: Vec<Counted>,
    /// In order of first appearance, so that sums are added up in an order that depends on the text alone.
    seen: Vec<u16>,
}

#[derive(Clone, Copy, Default)]
struct Counted {
    prose: u16,
    code: u16,
    place: u8,
    named: bool,
}

impl Table {
    /// Reads the layout `LCE2`; `None` where the bytes are not one.
    fn read(bytes: &'static [u8]) -> Option<Table> {
        let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
        if bytes.get(..4)? != b"LCE2" || number(8)? != DIMENSIONS {
            return None;
        }
        let (count, length) = (number(4)?, number(12)?);
        let floats = |range: std::ops::Range<usize>| -> Option<Box<[f32]>> {
            let fours = bytes.get(range)?.chunks_exact(4);
            Some(
                fours
                    .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                    .collect(),
            )
        };
        let weights = floats(16..16 + WEIGHTS)?;
        let (&[repeated_in_prose, repeated_in_code, name], places) = weights.split_first_chunk()?;
        let weights = Weights {
            repeated_in_prose,
            repeated_in_code,
            name,
            places: places.try_into().ok()?,
        };
        let start = 16 + WEIGHTS;
        let words = std::str::from_utf8(bytes.get(start..start + length)?).ok()?;
        let scales = floats(start + length..start + length + 4 * count)?;
        let rows = bytes.get(start + length + 4 * count..)?;
        if rows.len() != count * DIMENSIONS || count > usize::from(u16::MAX) {
            return None;
        }
        let mut table = Table {
            weights,
            scales,
            rows,
            ..Table::empty()
        };
        let mut vocabulary = String::with_capacity(words.len());
        let mut starts = vec![0];
        table.tokens.reserve(count, |_| 0);
        for (number, token) in words.lines().take(count).enumerate() {
            let hash = hash(&table.hasher, token.as_bytes());
            vocabulary.push_str(token);
            starts.push(vocabulary.len() as u32);
            // All are distinct and room is reserved, so no hash is ever computed anew.
            table.tokens.insert_unique(hash, number as u16, |_| 0);
        }
        table.vocabulary = vocabulary.into();
        table.starts = starts.into();
        Some(table)
    }

    /// A table that knows no token.
    fn empty() -> Table {
        Table {
            vocabulary: "".into(),
            starts: Box::new([0]),
            tokens: HashTable::new(),
            hasher: foldhash::fast::FixedState::with_seed(7),
            weights: Weights {
                repeated_in_prose: 0.0,
                repeated_in_code: 0.0,
                name: 0.0,
                places: [0.0; PLACES],
            },
            scales: Box::default(),
            rows: &[],
        }
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether it knows no token.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    pub(crate) fn bag(&self) -> Bag {
        Bag {
            tokens: vec![Counted::default(); self.len()],
            seen: Vec::new(),
        }
    }

    fn find(&self, token: &[u8]) -> Option<u16> {
        let of = |number: u16| {
            let number = usize::from(number);
            &self.vocabulary.as_bytes()[self.starts[number] as usize..self.starts[number + 1] as usize]
        };
        let found = self
            .tokens
            .find(hash(&self.hasher, token), |&number| of(number) == token);
        found.copied()
    }

    /// The tokens of a word in lower case: itself, or its longest pieces from the left; none where a part is unknown.
    pub(crate) fn pieces(&self, word: &str, pieces: &mut Vec<u16>) {
        let before = pieces.len();
        if let Some(token) = self.find(word.as_bytes()) {
            pieces.push(token);
            return;
        }
        // The vocabulary is ASCII, so any other word has an unknown part.
        if word.len() > MAX_PIECED || !word.is_ascii() {
            return;
        }
        let mut marked = [b'#'; MAX_PIECED + 2];
        marked[2..2 + word.len()].copy_from_slice(word.as_bytes());
        let mut start = 0;
        while start < word.len() {
            let found = (start + 1..=word.len()).rev().find_map(|end| {
                let token = match start {
                    0 => self.find(&word.as_bytes()[..end]),
                    // The two marks stand where the part before was.
                    _ => self.find(&marked[start..2 + end]),
                };
                Some((token?, end))
            });
            let Some((token, end)) = found else {
                pieces.truncate(before);
                return;
            };
            pieces.push(token);
            marked[end..end + 2].copy_from_slice(b"##");
            start = end;
        }
    }

    /// The vector of what is in the bag, which is empty afterwards; what is prose in it counts times `prose`.
    pub(crate) fn sum(&self, bag: &mut Bag, prose: f32) -> [f32; DIMENSIONS] {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "the processor was just asked whether it has the feature")]
            // SAFETY: AVX2 is there.
            return unsafe { self.sum_avx2(bag, prose) };
        }
        self.sum_plain(bag, prose)
    }

    /// The same loop, compiled for wider registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn sum_avx2(&self, bag: &mut Bag, prose: f32) -> [f32; DIMENSIONS] {
        self.sum_plain(bag, prose)
    }

    #[inline(always)]
    fn sum_plain(&self, bag: &mut Bag, prose: f32) -> [f32; DIMENSIONS] {
        let mut vector = [0f32; DIMENSIONS];
        for &token in &bag.seen {
            let at = usize::from(token);
            let counted = std::mem::take(&mut bag.tokens[at]);
            let weight = self.weights.of(counted, prose) * self.scales[at];
            let row = &self.rows[at * DIMENSIONS..(at + 1) * DIMENSIONS];
            for (sum, &value) in vector.iter_mut().zip(row) {
                *sum += weight * f32::from(value as i8);
            }
        }
        bag.seen.clear();
        vector
    }
}

impl Weights {
    fn of(&self, counted: Counted, prose: f32) -> f32 {
        let repeated = |count: u16, by: f32| match count {
            1 => 1.0,
            _ => 1.0 + by * f32::from(count).ln(),
        };
        let mut weight = 0.0;
        if counted.prose > 0 {
            weight += prose * repeated(counted.prose, self.repeated_in_prose);
        }
        if counted.code > 0 {
            weight += self.places[usize::from(counted.place)] * repeated(counted.code, self.repeated_in_code);
        }
        if counted.named {
            weight += self.name;
        }
        weight
    }
}

impl Bag {
    fn get(&mut self, token: u16) -> &mut Counted {
        let known = &mut self.tokens[usize::from(token)];
        if known.prose == 0 && known.code == 0 && !known.named {
            self.seen.push(token);
        }
        known
    }

    /// Adds occurrences in prose.
    pub(crate) fn add_prose(&mut self, token: u16, count: u16) {
        let known = self.get(token);
        known.prose = known.prose.saturating_add(count);
    }

    /// Adds occurrences in code, the first of which is in this [`place`].
    pub(crate) fn add_code(&mut self, token: u16, count: u16, place: u8) {
        let known = self.get(token);
        known.place = match known.code {
            0 => place,
            _ => known.place.min(place),
        };
        known.code = known.code.saturating_add(count);
    }

    /// Says that the token is part of the name.
    pub(crate) fn add_name(&mut self, token: u16) {
        self.get(token).named = true;
    }
}

impl Embedder for Table {
    fn model(&self) -> Cow<'_, str> {
        "lacon-code-256-2".into()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<[f32; DIMENSIONS]>, EmbedError> {
        let mut bag = self.bag();
        let (mut buffer, mut pieces) = (String::new(), Vec::new());
        let mut embed_one = |text: &&str| {
            let mut left = MAX_WORDS;
            for_each_word(text, &mut buffer, |word| {
                if left > 0 {
                    left -= 1;
                    pieces.clear();
                    self.pieces(word, &mut pieces);
                    pieces.iter().for_each(|&token| bag.add_prose(token, 1));
                }
            });
            self.sum(&mut bag, 1.0)
        };
        Ok(texts.iter().map(&mut embed_one).collect())
    }
}

fn hash(hasher: &foldhash::fast::FixedState, token: &[u8]) -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let mut state = hasher.build_hasher();
    state.write(token);
    state.finish()
}
