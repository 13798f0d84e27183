//! BM25 over the parts of a definition. Every term's contribution to every document is computed when the index is built, so
//! a query only adds up numbers.

use foldhash::HashMap;

use super::words::{for_each_word, is_stop_word, stem};

/// What of one definition is searched, by how much a match there says about it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Searchable<'a> {
    pub name: &'a str,
    pub title: &'a str,
    pub description: &'a str,
    pub tags: &'a [String],
    pub server: &'a str,
    /// The input schema's properties: names and descriptions.
    pub parameters: Option<&'a serde_json::Map<String, serde_json::Value>>,
}

/// A match in the name says most; parameters are many and mention everything. Round numbers, not fitted to any data set.
const NAME_WEIGHT: f32 = 2.0;
const PROSE_WEIGHT: f32 = 1.0;
const SERVER_WEIGHT: f32 = 0.5;
const PARAMETER_NAME_WEIGHT: f32 = 0.5;
const PARAMETER_TEXT_WEIGHT: f32 = 0.25;
/// The usual values of BM25.
const K1: f32 = 1.2;
const B: f32 = 0.75;
/// Words of a description that are searched: a flood must not make one tool match everything, nor slow the build.
const TEXT_LIMIT: usize = 2000;
const PARAMETERS_LIMIT: usize = 64;
/// How much a related word counts beside the word itself.
const RELATED_WEIGHT: f32 = 0.4;

/// The inverted index of one shelf.
#[derive(Clone, Debug, Default)]
pub(crate) struct LexicalIndex {
    terms: HashMap<Box<str>, u32>,
    /// Terms in alphabetical order, for words that are only known by their beginning.
    sorted: Vec<(Box<str>, u32)>,
    /// By term: `(document, contribution)`.
    postings: Vec<Vec<(u32, f32)>>,
    documents: usize,
}

impl LexicalIndex {
    pub(crate) fn build<'a>(documents: impl ExactSizeIterator<Item = Searchable<'a>>) -> LexicalIndex {
        let count = documents.len();
        let mut builder = Builder::default();
        let mut lengths = Vec::with_capacity(count);
        for (document, searchable) in documents.enumerate() {
            lengths.push(builder.add(document as u32, searchable));
        }
        builder.finish(&lengths)
    }

    /// A score for every document; zero where nothing matches.
    pub(crate) fn scores(&self, query: &str) -> Vec<f32> {
        let mut scores = vec![0.0; self.documents];
        for (term, weight) in self.query_terms(query) {
            for (document, contribution) in &self.postings[term as usize] {
                scores[*document as usize] += weight * contribution;
            }
        }
        scores
    }

    /// The known terms of a query, each once, with their weights.
    fn query_terms(&self, query: &str) -> Vec<(u32, f32)> {
        let mut found: Vec<(u32, f32)> = Vec::new();
        let mut add = |term: u32, weight: f32| match found.iter_mut().find(|(known, _)| *known == term) {
            Some((_, strongest)) => *strongest = strongest.max(weight),
            None => found.push((term, weight)),
        };
        let mut seen = 0;
        for_each_word(query, &mut String::new(), |word| {
            seen += 1;
            if seen > MAX_QUERY_WORDS || is_stop_word(word) {
                return;
            }
            match self.terms.get(stem(word)) {
                Some(term) => add(*term, 1.0),
                None => self.terms_beginning_like(stem(word), |term| add(term, RELATED_WEIGHT)),
            }
            for related in related_words(word) {
                if let Some(term) = self.terms.get(stem(related)) {
                    add(*term, RELATED_WEIGHT);
                }
            }
        });
        found
    }

    /// For a word nobody uses: terms that begin with it, or that it begins with (`config`, `configuration`).
    fn terms_beginning_like(&self, word: &str, mut each: impl FnMut(u32)) {
        if word.chars().count() < MIN_PREFIX {
            return;
        }
        let start = self.sorted.partition_point(|(term, _)| term.as_ref() < word);
        self.sorted[start..]
            .iter()
            .take_while(|(term, _)| term.starts_with(word))
            .take(8)
            .for_each(|(_, id)| each(*id));
        let shorter = self.sorted[..start].iter().rev().take(64);
        let beginning = shorter.filter(|(term, _)| term.len() >= MIN_PREFIX && word.starts_with(term.as_ref()));
        beginning.take(2).for_each(|(_, id)| each(*id));
    }
}

const MAX_QUERY_WORDS: usize = 64;
const MIN_PREFIX: usize = 4;

/// The verbs of tool names, by what they do. An agent says "remove", the tool says "delete".
fn related_words(word: &str) -> &'static [&'static str] {
    const GROUPS: [&[&str]; 8] = [
        &["create", "add", "new", "make", "insert", "open"],
        &["delete", "remove", "destroy", "drop", "erase"],
        &["update", "edit", "modify", "change", "set", "patch"],
        &["get", "fetch", "read", "retrieve", "show", "view"],
        &["list", "enumerate", "browse"],
        &["search", "find", "query", "lookup"],
        &["send", "post", "publish", "notify"],
        &["run", "execute", "start", "launch", "trigger", "invoke"],
    ];
    let same = |member: &&str| stem(member) == stem(word);
    GROUPS.into_iter().find(|group| group.iter().any(same)).unwrap_or(&[])
}

/// Stands for a word that is not searched.
const STOPPED: u32 = u32::MAX;

#[derive(Default)]
struct Builder {
    terms: HashMap<Box<str>, u32>,
    /// Raw word to term: stemming and hashing once per distinct word.
    words: HashMap<Box<str>, u32>,
    /// By term: `(document, weighted frequency)`.
    frequencies: Vec<Vec<(u32, f32)>>,
    buffer: String,
}

impl Builder {
    /// Adds one document and returns its weighted length.
    fn add(&mut self, document: u32, searchable: Searchable<'_>) -> f32 {
        let mut length = self.text(document, searchable.name, NAME_WEIGHT);
        length += self.text(document, searchable.title, PROSE_WEIGHT);
        length += self.text(document, searchable.description, PROSE_WEIGHT);
        for tag in searchable.tags {
            length += self.text(document, tag, PROSE_WEIGHT);
        }
        length += self.text(document, searchable.server, SERVER_WEIGHT);
        for (name, schema) in searchable.parameters.into_iter().flatten().take(PARAMETERS_LIMIT) {
            length += self.text(document, name, PARAMETER_NAME_WEIGHT);
            if let Some(description) = schema.get("description").and_then(serde_json::Value::as_str) {
                length += self.text(document, description, PARAMETER_TEXT_WEIGHT);
            }
        }
        length
    }

    fn text(&mut self, document: u32, text: &str, weight: f32) -> f32 {
        let mut end = text.len().min(TEXT_LIMIT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut length = 0.0;
        let Builder {
            terms,
            words,
            frequencies,
            buffer,
        } = self;
        for_each_word(&text[..end], buffer, |word| {
            let term = match words.get(word) {
                Some(term) => *term,
                None => {
                    let term = if is_stop_word(word) {
                        STOPPED
                    } else {
                        let stemmed = stem(word);
                        match terms.get(stemmed) {
                            Some(term) => *term,
                            None => {
                                let term = frequencies.len() as u32;
                                terms.insert(stemmed.into(), term);
                                frequencies.push(Vec::new());
                                term
                            }
                        }
                    };
                    words.insert(word.into(), term);
                    term
                }
            };
            if term == STOPPED {
                return;
            }
            length += weight;
            match frequencies[term as usize].last_mut() {
                Some((last, frequency)) if *last == document => *frequency += weight,
                _ => frequencies[term as usize].push((document, weight)),
            }
        });
        length
    }

    fn finish(self, lengths: &[f32]) -> LexicalIndex {
        let documents = lengths.len();
        let average = (lengths.iter().sum::<f32>() / documents.max(1) as f32).max(f32::MIN_POSITIVE);
        let mut postings = self.frequencies;
        for list in &mut postings {
            let matching = list.len() as f32;
            let rarity = (1.0 + (documents as f32 - matching + 0.5) / (matching + 0.5)).ln();
            for (document, value) in list.iter_mut() {
                let norm = K1 * (1.0 - B + B * lengths[*document as usize] / average);
                *value = rarity * (*value * (K1 + 1.0)) / (*value + norm);
            }
            list.shrink_to_fit();
        }
        let mut sorted: Vec<(Box<str>, u32)> = Vec::with_capacity(self.terms.len());
        sorted.extend(self.terms.iter().map(|(term, id)| (term.clone(), *id)));
        sorted.sort_unstable();
        LexicalIndex {
            terms: self.terms,
            sorted,
            postings,
            documents,
        }
    }
}
