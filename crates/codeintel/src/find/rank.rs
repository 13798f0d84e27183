//! Which places answer a question, best first: every weight of `find` is in this file.
//!
//! A place is a region of a file. What speaks for it is a sum of parts, each a share of its best: BM25 over regions, how much of the question's
//! rarity it holds, what the search and the context say of its symbols, its file's words and name. The index says which two hundred chunks are
//! worth reading; those are read, and their lines counted.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use index::model::FileId;
use index::scan::read_source;
use index::search::{Mode, Question, Weighed, rarity};
use index::snapshot::{SymbolId, SymbolView};
use rayon::prelude::*;

use super::kinds::FileKind;
use super::lines::{Asked, LineEvidence, bits};
use super::query::{Query, folded};
use super::regions::{Region, is_function, regions};
use crate::context::ranked_for_task;
use crate::traverse;
use crate::workspace::{Repository, Workspace};

/// Parts of the sum.
const WORDS: f32 = 2.0;
const COVERED: f32 = 2.0;
const SEARCH: f32 = 2.0;
const CONTEXT: f32 = 2.0;
const FILE_WORDS: f32 = 1.5;
const FILE_NAME: f32 = 2.5;
/// Added where a line says what the question says, word by word, in proportion to how much of it.
const ROW: f32 = 3.0;
/// Added where a line quotes a text that the question says with values filled in, in proportion to how much of it beyond a part.
const QUOTED: f32 = 6.0;
const QUOTED_BEYOND: f32 = 0.3;
/// A question is a message where so much of it is quoted.
const MESSAGE: f32 = 0.6;
/// Added where an identifier of the question is defined, shared among its definitions; and for the scope of a title in the path.
const DEFINES: f32 = 2.0;
const SCOPE: f32 = 0.6;

/// Taken off for what is in no function, and for each place of a file after its best ones, times the logarithm of their number. These two, the shares
/// of files and of length were chosen together on 385 changes in 18 repositories; either half of the repositories alone gains as much.
const BETWEEN: f32 = 0.4;
const FURTHER: f32 = 0.35;
/// Taken off for what is seldom meant.
const TEST: f32 = 2.6;
const DOCUMENT: f32 = 3.4;
const COPIED: f32 = 1.8;
const EXAMPLE: f32 = 1.0;
const CONFIGURATION: f32 = 1.2;

/// BM25 over regions, their lines as counts.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.5;
const MEAN_LENGTH: f32 = 20.0;
/// Lines that a word of the name counts as, and one of the owner's.
const NAME_LINES: f32 = 2.0;
const OWNER_LINES: f32 = 1.0;

/// How much shorter places come first.
const SHORTER: f32 = 0.4;
/// Lines of a place that are read at most.
const READ: u32 = 10;

/// Chunks that are read, hits of the search and of the context that are looked at, files that are read.
const CHUNKS: usize = 250;
const HITS: usize = 200;
const CONTEXT_HITS: usize = 120;
const FILES: usize = 120;
/// Largest file that is read, in bytes.
const LARGEST: u64 = 2 << 20;
/// Definitions of one name that count.
const MOST_NAMESAKES: usize = 40;

/// A place that may be meant.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) repository: usize,
    pub(super) file: FileId,
    pub(super) region: Region,
    /// The sum of the evidence.
    pub(super) score: f32,
    /// What places are ordered by.
    pub(super) order: f32,
    pub(super) is_test: bool,
    /// It is what the question names.
    pub(super) is_exact: bool,
    /// It holds an identifier of the question.
    pub(super) holds_name: bool,
    /// The line that the question points at.
    pub(super) line: Option<u32>,
    pub(super) parts: Parts,
}

/// What speaks for a place.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Parts {
    pub(super) words: f32,
    pub(super) covered: f32,
    pub(super) search: f32,
    pub(super) context: f32,
    pub(super) file_words: f32,
    pub(super) file_name: f32,
    pub(super) row: f32,
    pub(super) quoted: f32,
    pub(super) defines: f32,
    pub(super) scope: f32,
    pub(super) less: f32,
    pub(super) lines: f32,
}

impl Parts {
    /// Each part by its name.
    pub(super) fn named(&self, is_function: bool, is_test: bool) -> Vec<(&'static str, f32)> {
        vec![
            ("words", self.words),
            ("covered", self.covered),
            ("search", self.search),
            ("context", self.context),
            ("file_words", self.file_words),
            ("file_name", self.file_name),
            ("row", self.row),
            ("quoted", self.quoted),
            ("defines", self.defines),
            ("scope", self.scope),
            ("less", self.less),
            ("lines", self.lines),
            ("function", f32::from(u8::from(is_function))),
            ("test", f32::from(u8::from(is_test))),
        ]
    }
}

/// The places, best first, and what lines are compared with.
pub(super) struct Ranking {
    pub(super) places: Vec<Place>,
    /// Tests are what is asked for.
    pub(super) wants_tests: bool,
    /// By repository.
    pub(super) terms: Vec<Vec<String>>,
    pub(super) rarity: Vec<Vec<f32>>,
    pub(super) name_rarity: Vec<Vec<f32>>,
}

/// What one repository says of the question.
struct Evidence<'w> {
    number: usize,
    repository: &'w Repository,
    weighed: Weighed,
    hits: HashMap<SymbolId, f32>,
    context: HashMap<SymbolId, f32>,
    file_name: Vec<f32>,
    defines: HashMap<SymbolId, f32>,
    name_rarity: Vec<f32>,
    name_bits: Vec<u64>,
    total_rarity: f32,
}

/// The places of all repositories that fit, best first.
pub(super) fn ranking(workspace: &Workspace, query: &Query) -> Ranking {
    let mut context: Vec<HashMap<SymbolId, f32>> = vec![HashMap::new(); workspace.repositories().len()];
    if !query.text.trim().is_empty() {
        for ranked in ranked_for_task(workspace, &query.text, &[])
            .into_iter()
            .take(CONTEXT_HITS)
        {
            context[ranked.key.repository].insert(ranked.key.symbol, ranked.score as f32);
        }
    }
    let mut all = Vec::new();
    for ((number, repository), context) in workspace.repositories().iter().enumerate().zip(context) {
        all.push(evidence(number, repository, query, context));
    }
    let best_hit = all
        .iter()
        .flat_map(|one| one.hits.values())
        .fold(f32::MIN_POSITIVE, |best, hit| best.max(*hit));
    let mut places: Vec<Place> = all.iter().flat_map(|one| places(one, query, best_hit)).collect();
    let best_words = places
        .iter()
        .fold(f32::MIN_POSITIVE, |best, place| best.max(place.parts.words));
    // Who pastes a message that code says does not ask for the test that says it too.
    let is_message = places
        .iter()
        .any(|place| !place.is_test && place.parts.quoted >= MESSAGE);
    let wants_tests = query.wants_tests && !is_message;
    for place in &mut places {
        if place.is_test && query.wants_tests && !wants_tests {
            place.parts.less += TEST;
        }
        place.parts.words /= best_words;
        place.score = score(&place.parts);
    }
    put_further_behind(&mut places);
    for place in &mut places {
        place.order = place.score - SHORTER * (3.0 + place.parts.lines.min(READ as f32)).ln();
    }
    places.sort_by(|left, right| {
        let key = |place: &Place| (place.repository, place.file, place.region.first);
        right
            .order
            .total_cmp(&left.order)
            .then_with(|| key(left).cmp(&key(right)))
    });
    Ranking {
        places,
        wants_tests,
        terms: all
            .iter()
            .map(|one| one.weighed.terms.iter().map(|term| term.text.clone()).collect())
            .collect(),
        rarity: all
            .iter()
            .map(|one| one.weighed.terms.iter().map(|term| term.rarity).collect())
            .collect(),
        name_rarity: all.into_iter().map(|one| one.name_rarity).collect(),
    }
}

/// Lets the second place of a file, the third and so on count less: another file is more likely than all of them.
fn put_further_behind(places: &mut [Place]) {
    places.sort_by(|left, right| {
        let key = |place: &Place| (place.repository, place.file, place.region.first);
        right
            .score
            .total_cmp(&left.score)
            .then_with(|| key(left).cmp(&key(right)))
    });
    let mut of_file: HashMap<(usize, FileId), f32> = HashMap::new();
    for place in places {
        let count = of_file.entry((place.repository, place.file)).or_insert(0.0);
        *count += 1.0;
        place.score -= FURTHER * count.ln();
    }
}

fn score(parts: &Parts) -> f32 {
    WORDS * parts.words
        + COVERED * parts.covered
        + SEARCH * parts.search
        + CONTEXT * parts.context
        + FILE_WORDS * parts.file_words
        + FILE_NAME * parts.file_name
        + ROW * parts.row
        + QUOTED * (parts.quoted - QUOTED_BEYOND).max(0.0)
        + DEFINES * parts.defines
        + SCOPE * parts.scope
        - parts.less
}

fn evidence<'w>(
    number: usize,
    repository: &'w Repository,
    query: &Query,
    context: HashMap<SymbolId, f32>,
) -> Evidence<'w> {
    let snapshot = &repository.snapshot;
    let search = snapshot.search_index();
    let weighed = search.weigh(snapshot, &query.words);
    let hits = repository.ask_search(&Question {
        text: &query.text,
        limit: HITS,
        mode: Mode::Hybrid,
        accept: None,
    });
    let all = search.chunk_count() as f32;
    let (mut defines, mut name_rarity, mut name_bits) = (HashMap::new(), Vec::new(), Vec::new());
    for name in &query.names {
        let with = search.chunks_with_all(&name.stems) as f32;
        name_rarity.push(if with > 0.0 {
            name.weight * rarity(all, with)
        } else {
            0.0
        });
        let bit = |stem: &String| weighed.terms.iter().position(|term| &term.text == stem);
        let bits: Option<u64> = name
            .stems
            .iter()
            .map(|stem| bit(stem).map(|bit| 1u64 << bit))
            .try_fold(0u64, |mask, bit| Some(mask | bit?));
        name_bits.push(bits.unwrap_or(0));
        let named: Vec<SymbolView<'_>> = definitions(repository, &name.text, &name.folded);
        for symbol in &named {
            let share = name.weight.min(1.0) / (named.len() as f32).sqrt();
            let known = defines.entry(symbol.id()).or_insert(0f32);
            *known = known.max(share);
        }
    }
    let path_words: BTreeSet<String> = query
        .words
        .iter()
        .filter(|(_, weight)| *weight > 0.5)
        .map(|(word, _)| word.clone())
        .collect();
    Evidence {
        number,
        repository,
        total_rarity: weighed.rarity + name_rarity.iter().sum::<f32>(),
        weighed,
        hits: hits.into_iter().map(|hit| (hit.symbol, hit.score)).collect(),
        context,
        file_name: repository.path_words().shares(&path_words).0,
        defines,
        name_rarity,
        name_bits,
    }
}

/// What has a name, however its parts are joined.
fn definitions<'a>(repository: &'a Repository, asked: &'a str, folded_name: &'a str) -> Vec<SymbolView<'a>> {
    let snapshot = &repository.snapshot;
    let mut found: Vec<SymbolView<'_>> = snapshot.named(asked).take(MOST_NAMESAKES).collect();
    if found.is_empty() {
        found = snapshot.named_ignoring_case(asked).take(MOST_NAMESAKES).collect();
    }
    if found.is_empty() {
        found = snapshot.named_ignoring_case(folded_name).take(MOST_NAMESAKES).collect();
    }
    found.retain(|symbol| folded(symbol.name()) == folded_name);
    found
}

/// What is taken off for the kind of file.
fn less(kind: FileKind, query: &Query) -> f32 {
    let mut less = 0.0;
    if kind.is_test && !query.wants_tests {
        less += TEST;
    }
    if kind.is_document && !query.wants_documents {
        less += DOCUMENT;
    }
    if kind.is_copy {
        less += COPIED;
    }
    if kind.is_example {
        less += EXAMPLE;
    }
    if kind.is_configuration && !query.wants_configuration {
        less += CONFIGURATION;
    }
    less
}

/// The places of a repository with all of their parts; words not yet as a share.
fn places(evidence: &Evidence<'_>, query: &Query, best_hit: f32) -> Vec<Place> {
    let snapshot = &evidence.repository.snapshot;
    let kinds = evidence.repository.file_kinds();
    let off = |file: FileId| less(kinds.of(file), query);
    let of_file = |values: &[f32], file: FileId| values.get(file.0 as usize).copied().unwrap_or(0.0);
    // What the index alone can say.
    let names = |held: u64| -> f32 {
        let held = evidence.name_bits.iter().map(|bits| *bits != 0 && held & bits == *bits);
        held.zip(&evidence.name_rarity)
            .filter(|(held, _)| *held)
            .map(|(_, rarity)| rarity)
            .sum()
    };
    let total = evidence.total_rarity.max(f32::MIN_POSITIVE);
    let chunks = snapshot
        .search_index()
        .best_chunks(snapshot, &evidence.weighed, CHUNKS, |chunk| {
            let covered = (chunk.covered * evidence.weighed.rarity + names(chunk.held)) / total;
            10.0 + WORDS * chunk.words
                + 2.0 * COVERED * covered
                + FILE_WORDS * of_file(&evidence.weighed.files, chunk.file)
                + FILE_NAME * of_file(&evidence.file_name, chunk.file)
                - off(chunk.file)
        });
    // Per file the symbols that are worth reading, and how good the best is.
    let mut wanted: BTreeMap<FileId, (f32, Vec<SymbolId>)> = BTreeMap::new();
    let mut want = |symbol: SymbolId, file: FileId, score: f32| {
        let entry = wanted.entry(file).or_insert((0.0, Vec::new()));
        entry.0 = entry.0.max(score);
        entry.1.push(symbol);
    };
    for chunk in &chunks {
        want(chunk.symbol, chunk.file, chunk.score);
    }
    let said = evidence
        .hits
        .iter()
        .map(|(symbol, score)| (*symbol, 10.0 + SEARCH * score / best_hit));
    let said = said.chain(
        evidence
            .context
            .iter()
            .map(|(symbol, score)| (*symbol, 10.0 + CONTEXT * score)),
    );
    let said = said.chain(
        evidence
            .defines
            .iter()
            .map(|(symbol, share)| (*symbol, 12.0 + DEFINES * share)),
    );
    let mut said: Vec<(SymbolId, f32)> = said.collect();
    said.sort_by(|left, right| left.0.cmp(&right.0).then(left.1.total_cmp(&right.1)));
    for (symbol, score) in said {
        if let Some(file) = snapshot.symbol(symbol).map(|symbol| symbol.file_id()) {
            want(symbol, file, score - off(file));
        }
    }
    let mut files: Vec<(FileId, f32, Vec<SymbolId>)> = wanted
        .into_iter()
        .map(|(file, (score, symbols))| (file, score, symbols))
        .collect();
    files.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    files.truncate(FILES);
    let terms: Vec<String> = evidence.weighed.terms.iter().map(|term| term.text.clone()).collect();
    let rarity: Vec<f32> = evidence.weighed.terms.iter().map(|term| term.rarity).collect();
    let asked = Asked::new(query, &terms, &rarity, &evidence.name_rarity);
    let read = |(file, _, symbols): &(FileId, f32, Vec<SymbolId>)| {
        of_one_file(evidence, query, &asked, *file, symbols, off(*file), best_hit)
    };
    files.par_iter().flat_map_iter(read).collect()
}

/// The places of one file that some of its symbols lie in.
fn of_one_file(
    evidence: &Evidence<'_>,
    query: &Query,
    asked: &Asked<'_>,
    file: FileId,
    symbols: &[SymbolId],
    off: f32,
    best_hit: f32,
) -> Vec<Place> {
    let snapshot = &evidence.repository.snapshot;
    let Some(view) = snapshot.file(file).filter(|view| view.size() <= LARGEST) else {
        return Vec::new();
    };
    let Ok((text, hash)) = read_source(&evidence.repository.root, view.path()) else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.lines().collect();
    let regions = regions(view, &lines, &hash == view.hash());
    if regions.is_empty() {
        return Vec::new();
    }
    // Which regions the symbols lie in, with what is said of them: a function's is one, a type's are its pieces.
    let mut said: Vec<Option<(f32, f32, f32)>> = vec![None; regions.len()];
    for symbol in symbols.iter().collect::<BTreeSet<_>>() {
        let Some(symbol) = snapshot.symbol(*symbol) else {
            continue;
        };
        let search = evidence.hits.get(&symbol.id()).copied().unwrap_or(0.0) / best_hit;
        let context = evidence.context.get(&symbol.id()).copied().unwrap_or(0.0);
        let defines = evidence.defines.get(&symbol.id()).copied().unwrap_or(0.0);
        let is_whole =
            symbol.is_file() || !is_function(symbol.kind()) && symbol.span().end_line > symbol.span().start_line;
        let (first, last) = match symbol.is_file() {
            true => (1, lines.len() as u32),
            false => (symbol.span().start_line, symbol.span().end_line),
        };
        let line = symbol.name_at().line;
        let from = regions.partition_point(|region| region.last < first);
        for (region, said) in regions.iter().zip(&mut said).skip(from) {
            if region.first > last {
                break;
            }
            let holds = region.first <= line && line <= region.last && !symbol.is_file();
            if !(holds || is_whole && !region.is_function) {
                continue;
            }
            let entry = said.get_or_insert((0.0, 0.0, 0.0));
            entry.0 = entry.0.max(search.max(0.0));
            entry.1 = entry.1.max(context);
            entry.2 = entry.2.max(if holds { defines } else { 0.0 });
        }
    }
    let total = evidence.total_rarity.max(f32::MIN_POSITIVE);
    let scope = scope(view.path(), query);
    let is_test_file = evidence.repository.file_kinds().of(file).is_test;
    let mut found = Vec::new();
    for (region, said) in regions.into_iter().zip(said) {
        let Some((search, context, defines)) = said else {
            continue;
        };
        let symbol = region.symbol.and_then(|symbol| snapshot.symbol(symbol));
        let range = region.first as usize - 1..(region.last as usize).min(lines.len());
        let counted: Vec<LineEvidence> = lines[range].iter().map(|line| asked.evidence(line)).collect();
        let (words, covered, row, quoted) = counts(asked, &counted, symbol);
        let is_test = is_test_file || symbol.is_some_and(traverse::is_test);
        let more_off = if is_test && !is_test_file && !query.wants_tests {
            TEST
        } else {
            0.0
        };
        found.push(Place {
            repository: evidence.number,
            file,
            score: 0.0,
            order: 0.0,
            is_test,
            is_exact: false,
            holds_name: counted.iter().any(|line| line.names != 0),
            line: None,
            parts: Parts {
                words,
                covered: covered / total,
                search,
                context,
                file_words: evidence.weighed.files.get(file.0 as usize).copied().unwrap_or(0.0),
                file_name: evidence.file_name.get(file.0 as usize).copied().unwrap_or(0.0),
                row: (row / total).min(1.0),
                quoted: (quoted / total).min(1.0),
                defines,
                scope,
                less: off + more_off + if region.is_function { 0.0 } else { BETWEEN },
                lines: (region.last - region.first + 1) as f32,
            },
            region,
        });
    }
    found
}

/// BM25 of a region, how much rarity it holds, the best row of words and the best quoted text.
fn counts(asked: &Asked<'_>, lines: &[LineEvidence], symbol: Option<SymbolView<'_>>) -> (f32, f32, f32, f32) {
    let mut with = [0f32; 64];
    let (mut terms, mut names, mut row, mut quoted) = (0u64, 0u32, 0f32, 0f32);
    for line in lines {
        terms |= line.terms;
        names |= line.names;
        row = row.max(line.row);
        quoted = quoted.max(line.quoted);
        for bit in bits(line.terms) {
            with[bit] += 1.0;
        }
    }
    if let Some(symbol) = symbol {
        let name = asked.evidence(symbol.name());
        terms |= name.terms;
        bits(name.terms).for_each(|bit| with[bit] += NAME_LINES);
        if let Some(owner) = symbol.parent().filter(|owner| !owner.is_file()) {
            bits(asked.evidence(owner.name()).terms).for_each(|bit| with[bit] += OWNER_LINES);
        }
    }
    let length = lines.iter().filter(|line| !line.is_blank).count() as f32;
    let penalty = SATURATION * (1.0 - LENGTH + LENGTH * length / MEAN_LENGTH);
    let words = asked
        .rarity
        .iter()
        .zip(with)
        .map(|(rarity, with)| rarity * with * (SATURATION + 1.0) / (with + penalty));
    let named = bits(u64::from(names)).map(|bit| asked.name_rarity[bit]).sum::<f32>();
    let covered = bits(terms).map(|bit| asked.rarity[bit]).sum::<f32>() + named;
    (words.sum::<f32>() + named, covered, row, quoted)
}

/// Whether the path is one that the title's scope names.
fn scope(path: &str, query: &Query) -> f32 {
    let parts = || path.split(['/', '.', '_', '-']).map(str::to_lowercase);
    let is_named = |scope: &String| parts().any(|part| &part == scope || folded(scope) == part);
    if query.scopes.iter().any(is_named) { 1.0 } else { 0.0 }
}
