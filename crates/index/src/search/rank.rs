//! What makes one hit better than another: every weight of the search, in one place.
//!
//! A chunk's score is a fixed blend of how near its vector is to the question's and how many of the question's rare words it
//! holds, for all chunks. The best of them, and whatever is named exactly as the question says, are then judged by
//! what the graph knows. The weights of fields were chosen on CoSQA's development questions; the blend and what identifiers in a
//! question add on those and on development packages of seven languages (`models/code-embedding`); the rest by reading answers about Django,
//! SymPy and Consul, never on test data.

use super::chunk::is_document;
use crate::model::EdgeKind;
use crate::snapshot::{EdgeKinds, FileFlags, Snapshot, SymbolView};
use syntax::facts::{Flags, Kind};

/// How much one occurrence of a word counts, by the field it stands in. A name and a signature stand in the code as well: their
/// weights come on top, and a signature needs none.
pub(crate) mod field {
    pub(crate) const NAME: u32 = 3;
    pub(crate) const OWNER: u32 = 1;
    pub(crate) const SIGNATURE: u32 = 0;
    pub(crate) const DOCSTRING: u32 = 1;
    pub(crate) const PATH: u32 = 1;
    pub(crate) const CODE: u32 = 1;
}

/// BM25: how soon more occurrences stop counting.
pub(crate) const SATURATION: f32 = 1.2;
/// BM25: how much a long chunk is held against itself.
pub(crate) const LENGTH_PENALTY: f32 = 0.75;

/// Share of the words, the rest being the vector's, in a question in prose. On CoSQA .05 to .2 differ by noise (MRR .488 to .499); on packages .2
/// is worse than .1 in every language but Go (mean MRR of seven .700 and .711).
const WORDS_IN_PROSE: f32 = 0.1;
/// The same where the question is an identifier: what is spelled is meant. In between by the share of identifiers among the words, because a
/// paragraph that mentions one is still prose.
const WORDS_IN_IDENTIFIERS: f32 = 0.5;

/// Hits that are judged one by one.
pub(crate) const POOL: usize = 200;

/// Added where the question is the name, letters of either case being equal. Where an identifier in it is, times the root of the
/// identifiers' share of the words.
const NAME_IS_ASKED: f32 = 0.5;
/// Added where it is spelled exactly so.
const NAME_IS_SPELLED: f32 = 0.1;
/// Added in proportion to the share of the question's words that the path holds.
const PATH_OVERLAP: f32 = 0.03;
/// Added for each doubling of the number of places that use it, up to [`MOST_DOUBLINGS`].
const USED: f32 = 0.006;
const MOST_DOUBLINGS: u32 = 8;
/// Added in proportion to the scores of the other definitions of the file that are hits, up to this.
const COHERENCE: f32 = 0.04;

/// Times this for tests, unless the question speaks of them.
const TEST: f32 = 0.7;
/// Times this for generated files, by what they say of themselves or by the sources beside them.
const GENERATED: f32 = 0.7;
/// Times this for copies of other projects.
const VENDORED: f32 = 0.7;
/// Times this for what is declared here and defined elsewhere.
const DECLARATION: f32 = 0.85;
/// Times this for what is left of a file outside of its definitions, where it has any: a script is no remainder.
const FILE: f32 = 0.85;
/// Times this for documents, where code is asked for: prose says what code does in the question's own words, and always looks nearer.
const DOCUMENT: f32 = 0.7;

/// Why a hit is where it is: the parts of its score.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Why {
    /// Nearness of meaning: the cosine of the vectors.
    pub semantic: f32,
    /// Shared words: BM25 as a share of the best hit's.
    pub lexical: f32,
    /// Added for the name and the path.
    pub name: f32,
    /// Added for being used.
    pub used: f32,
    /// Added for other hits in the same file.
    pub coherence: f32,
    /// What the sum was multiplied by: tests, generated and vendored files, declarations.
    pub factor: f32,
}

impl Why {
    /// The score that the parts make.
    pub fn score(&self, words_share: f32) -> f32 {
        let blend = blend(self.semantic, self.lexical, words_share);
        (blend + self.name + self.used + self.coherence) * self.factor
    }
}

/// What is asked, as far as the ranking looks at it.
pub(crate) struct Aspects {
    /// The words, stemmed, stop words left out.
    pub(crate) terms: Vec<String>,
    /// The parts that may be names: the whole question and every identifier in it.
    pub(crate) names: Vec<String>,
    pub(crate) words_share: f32,
    /// How much it counts that a name is asked for.
    named: f32,
    speaks_of_tests: bool,
}

impl Aspects {
    pub(crate) fn new(question: &str, terms: Vec<String>) -> Aspects {
        let question = question.trim();
        let single = !question.contains(char::is_whitespace);
        let mut names: Vec<String> = Vec::new();
        for part in question.split_whitespace().take(MAX_NAMES) {
            let part = part.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            // `User.save`, `User::save` and `user->save` name `save`.
            let last = part.rsplit(['.', ':', '>', '#', '\\', '/']).next().unwrap_or(part);
            if !last.is_empty() && (single || is_identifier(part)) {
                names.push(last.to_string());
            }
        }
        let words = question.split_whitespace().count().max(1);
        let share = names.len() as f32 / words as f32;
        Aspects {
            words_share: WORDS_IN_PROSE + (WORDS_IN_IDENTIFIERS - WORDS_IN_PROSE) * share,
            named: share.sqrt(),
            speaks_of_tests: terms
                .iter()
                .any(|term| matches!(term.as_str(), "test" | "spec" | "mock" | "fixtur")),
            terms,
            names,
        }
    }
}

/// Most identifiers of a question that are looked up as names.
const MAX_NAMES: usize = 16;

/// Whether a word of a question can only be code: `snake_case`, `camelCase`, `a.b`, `a::b`, `name()`.
fn is_identifier(word: &str) -> bool {
    let inner_capital = word
        .chars()
        .zip(word.chars().skip(1))
        .any(|(before, after)| before.is_lowercase() && after.is_uppercase());
    let joined = word
        .char_indices()
        .any(|(at, c)| at > 0 && matches!(c, '_' | '.' | ':' | '#' | '\\'));
    inner_capital || joined || word.ends_with("()")
}

/// How alike in meaning and words.
pub(crate) fn blend(semantic: f32, lexical: f32, words_share: f32) -> f32 {
    (1.0 - words_share) * semantic + words_share * lexical
}

/// Judges one hit by all but its file's other hits.
pub(crate) fn judge(why: &mut Why, aspects: &Aspects, snapshot: &Snapshot, symbol: SymbolView<'_>) {
    let name = symbol.name();
    let spelled = aspects.names.iter().any(|asked| asked == name);
    if spelled || aspects.names.iter().any(|asked| asked.eq_ignore_ascii_case(name)) {
        why.name += NAME_IS_ASKED * aspects.named;
    }
    if spelled {
        why.name += NAME_IS_SPELLED * aspects.named;
    }
    why.name += PATH_OVERLAP * overlap(&aspects.terms, symbol.path());

    let uses = EdgeKinds::ALL.without(EdgeKind::Contains);
    let count = snapshot.incoming(symbol.id(), uses).take(1 << MOST_DOUBLINGS).count() as u32;
    why.used = USED * ((count + 1).ilog2().min(MOST_DOUBLINGS)) as f32;

    why.factor = 1.0;
    if is_test(symbol) && !aspects.speaks_of_tests {
        why.factor *= TEST;
    }
    if symbol
        .file()
        .is_some_and(|file| file.flags().contains(FileFlags::GENERATED) || file.source().is_some())
    {
        why.factor *= GENERATED;
    }
    if is_vendored(symbol.path()) {
        why.factor *= VENDORED;
    }
    if symbol.flags().contains(Flags::DECLARATION) {
        why.factor *= DECLARATION;
    }
    let document = symbol.file().is_some_and(|file| is_document(file.language()));
    if document || symbol.kind() == Kind::Section {
        why.factor *= DOCUMENT;
    } else if symbol.is_file() && symbol.file().is_some_and(|file| file.symbol_range().len() > 1) {
        why.factor *= FILE;
    }
}

/// What a hit gains from its file, of which the other hits' scores are given.
pub(crate) fn coherence(others: f32) -> f32 {
    COHERENCE * (others / (1.0 + others)).clamp(0.0, 1.0)
}

/// The share of the terms that the text holds.
fn overlap(terms: &[String], text: &str) -> f32 {
    if terms.is_empty() {
        return 0.0;
    }
    let mut held = 0u64;
    let mut buffer = String::new();
    super::words::for_each_word(text, &mut buffer, |word| {
        let term = super::words::stem(word);
        if let Some(at) = terms.iter().take(64).position(|asked| asked == term) {
            held |= 1 << at;
        }
    });
    held.count_ones() as f32 / terms.len().min(64) as f32
}

/// Marked as a test, or lying where tests lie.
pub fn is_test(symbol: SymbolView<'_>) -> bool {
    if symbol.flags().contains(Flags::TEST) {
        return true;
    }
    let path = symbol.path();
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let directory = path[..path.len() - name.len()].split('/').any(|part| {
        matches!(
            part,
            "test" | "tests" | "__tests__" | "testing" | "testdata" | "spec" | "specs" | "fixtures"
        )
    });
    directory
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || (stem.ends_with("Test") || stem.ends_with("Tests"))
        || name.contains(".test.")
        || name.contains(".spec.")
}

fn is_vendored(path: &str) -> bool {
    path.split('/').any(|part| {
        matches!(
            part,
            "vendor" | "vendored" | "_vendor" | "third_party" | "thirdparty" | "node_modules" | "external" | "extern"
        )
    })
}
