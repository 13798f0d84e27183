//! Which symbols matter, from the repository's own evidence: names and paths that the task writes out, words that it shares
//! with symbols, and what a walk from those reaches. Every item keeps the evidence that brought it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use index::model::{EdgeKind, FileId, Origin};
use index::search::{Hit, Mode, Question};
use index::snapshot::{FileFlags, Snapshot, SymbolId, SymbolView};
use syntax::facts::{Flags, Kind};

use super::files::{FileEvidence, file_scores};
use super::spread::{Reach, spread};
use super::terms::{Terms, terms};
use crate::kinds;
use crate::naming;
use crate::traverse::is_test;
use crate::workspace::{Repository, SymbolKey, Workspace};

/// A symbol that matters.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) key: SymbolKey,
    /// 0 to 1.
    pub(crate) score: f64,
    pub(crate) evidence: Evidence,
}

/// Why a symbol is there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Evidence {
    /// Asked for by id, file or change.
    Asked,
    /// The task writes its name.
    Named(String),
    /// The task wrote the name that it had when the client was told.
    Told,
    /// The task writes its path.
    Path(String),
    /// It shares words with the task; which ones is seen where someone asks.
    Words(Arc<Terms>),
    /// It means something like the task.
    Meaning,
    /// An edge from something that matters.
    Edge(EdgeKind, Origin, SymbolKey),
}

impl Ranked {
    /// Why it is there, in a sentence.
    pub(crate) fn reason(&self, workspace: &Workspace) -> String {
        let shared = match (&self.evidence, workspace.symbol(self.key)) {
            (Evidence::Words(terms), Some(symbol)) => shared(symbol, terms),
            _ => Vec::new(),
        };
        match shared.is_empty() {
            true => self.evidence.reason(workspace),
            false => format!("shares words with the task: {}", shared.join(", ")),
        }
    }
}

impl Evidence {
    /// In one word, for the wire.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Evidence::Asked => "asked",
            Evidence::Named(_) | Evidence::Told => "named",
            Evidence::Path(_) => "path",
            Evidence::Words(_) => "words",
            Evidence::Meaning => "meaning",
            Evidence::Edge(kind, _, _) => kinds::edge_name(*kind),
        }
    }

    /// In a sentence, whatever symbol it is about.
    fn reason(&self, workspace: &Workspace) -> String {
        match self {
            Evidence::Asked => "asked for".to_string(),
            Evidence::Named(name) => format!("the task names `{name}`"),
            Evidence::Told => "the task names what it was called before".to_string(),
            Evidence::Path(path) => format!("the task names the path `{path}`"),
            Evidence::Words(_) => "its body shares words with the task".to_string(),
            Evidence::Meaning => "means something like the task".to_string(),
            Evidence::Edge(kind, origin, other) => {
                let id = workspace
                    .symbol(*other)
                    .map(|symbol| workspace.id(other.repository, symbol));
                let (kind, origin) = (kinds::edge_name(*kind), kinds::origin_name(*origin));
                format!("{kind} ({origin}) between it and {}", id.unwrap_or_default())
            }
        }
    }
}

/// Symbols that a walk starts from, at most.
const SEEDS: usize = 40;
/// Chunks that are looked at, by words and by meaning each.
const CHUNKS: usize = 600;
/// Symbols that words alone can bring in, and half as many by meaning.
const BY_TEXT: usize = 300;
/// Share of the words, the rest being the meaning's.
const WORDS: f64 = 0.65;
/// Symbols that one written name may mean.
const NAMESAKES: usize = 12;
/// A plain word that names no more symbols than this may mean them, this much.
const FEW: usize = 3;
const PERHAPS: f32 = 0.3;

/// The symbols that matter for a task, best first. `told` are those that the client was told as named by it: they still are, whatever
/// they are called now.
pub(crate) fn for_task(workspace: &Workspace, task: &str, told: &[SymbolKey]) -> Vec<Ranked> {
    let terms = Arc::new(terms(task));
    let mut all = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let snapshot = &repository.snapshot;
        let search = snapshot.search_index();
        let (text, title) = (search.spelled(&terms.text), search.spelled(&terms.title));
        let chunks = |mode: Mode| {
            let question = Question {
                text: &text,
                limit: CHUNKS,
                mode,
                accept: None,
            };
            search.search(snapshot, &question)
        };
        // Meaning is looked for beside words: neither waits for the other.
        let (lexical, semantic) = std::thread::scope(|scope| {
            let semantic = scope.spawn(|| chunks(Mode::Semantic));
            (chunks(Mode::Lexical), semantic.join().unwrap_or_default())
        });
        let written = Written::of(workspace, number, &terms, told);
        let evidence = FileEvidence {
            terms: &terms,
            path_words: repository.path_words(),
            whole: search.files(snapshot, &text),
            title: match terms.title.len() < terms.text.len() {
                true => search.files(snapshot, &title),
                false => Vec::new(),
            },
            lexical: &lexical,
            semantic: &semantic,
            defining: written.defining(snapshot, &terms),
            meant: written.paths.iter().map(|(_, files)| files.clone()).collect(),
        };
        let files = file_scores(snapshot, &evidence);
        let seeds = seeds(snapshot, &written, &evidence, &terms, &files);
        all.extend(around(repository, number, seeds, &terms, &files));
    }
    ordered(all)
}

/// What a task writes out, looked up.
struct Written<'a> {
    names: Vec<(&'a str, Vec<SymbolView<'a>>)>,
    /// What none of the names means any more.
    told: Vec<SymbolView<'a>>,
    paths: Vec<(&'a str, Vec<FileId>)>,
}

impl<'a> Written<'a> {
    fn of(workspace: &'a Workspace, number: usize, terms: &'a Terms, told: &[SymbolKey]) -> Written<'a> {
        let snapshot = &workspace.repositories()[number].snapshot;
        let symbols_of = |name: &'a String| {
            let last = name.rsplit(['.', ':', '#']).next().unwrap_or(name);
            let meant = naming::named(workspace, name).into_iter();
            let mut fits: Vec<SymbolView<'_>> = meant
                .filter(|key| key.repository == number)
                .filter_map(|key| snapshot.symbol(key.symbol))
                .collect();
            if fits.is_empty() {
                fits = snapshot.named(last).collect();
            }
            if fits.is_empty() {
                fits = snapshot.named_ignoring_case(last).collect();
            }
            // A name that half of the tree bears points nowhere.
            if fits.len() > NAMESAKES {
                fits.sort_by_key(|symbol| {
                    let used = snapshot.incoming_count(symbol.id());
                    (is_test(*symbol), std::cmp::Reverse(used), symbol.id())
                });
                fits.truncate(NAMESAKES);
            }
            (name.as_str(), fits)
        };
        let files_of = |path: &'a String| {
            let end = path.trim_start_matches("./");
            let is_end = |whole: &str, end: &str| {
                let rest = whole.strip_suffix(end);
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            let fits = snapshot
                .files()
                .filter(|file| is_end(file.path(), end) || is_end(end, file.path()));
            (path.as_str(), fits.take(NAMESAKES).map(|file| file.id()).collect())
        };
        let names: Vec<(&str, Vec<SymbolView<'_>>)> = terms.names.iter().map(symbols_of).collect();
        let is_named = |view: &SymbolView<'_>| names.iter().flat_map(|(_, fits)| fits).any(|fit| fit.id() == view.id());
        let told = told.iter().filter(|key| key.repository == number);
        Written {
            told: told
                .filter_map(|key| snapshot.symbol(key.symbol))
                .filter(|view| !is_named(view))
                .collect(),
            names,
            paths: terms.paths.iter().map(files_of).collect(),
        }
    }

    /// Per name, how much it counts and the files that define it: what is written as a name, and plain words that happen to
    /// be the name of few things.
    fn defining(&self, snapshot: &Snapshot, terms: &Terms) -> Vec<(f32, Vec<FileId>)> {
        let files = |symbols: &[SymbolView<'_>]| symbols.iter().map(|symbol| symbol.file_id()).collect();
        let mut lists: Vec<(f32, Vec<FileId>)> = self.names.iter().map(|(_, symbols)| (1.0, files(symbols))).collect();
        lists.extend(self.told.iter().map(|symbol| (1.0, files(&[*symbol]))));
        for word in &terms.plain {
            let named = snapshot.named(word).filter(|symbol| !symbol.is_file());
            let symbols: Vec<SymbolView<'_>> = named.take(FEW + 1).collect();
            if symbols.len() <= FEW {
                lists.push((PERHAPS, files(&symbols)));
            }
        }
        lists
    }
}

/// The symbols that matter for some others, best first; those come with the score 1.
pub(crate) fn for_symbols(workspace: &Workspace, asked: &[SymbolKey]) -> Vec<Ranked> {
    let mut all = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let seeds = asked
            .iter()
            .filter(|key| key.repository == number)
            .map(|key| (key.symbol, 1.0, Evidence::Asked))
            .collect();
        all.extend(around(repository, number, seeds, &Terms::default(), &[]));
    }
    ordered(all)
}

fn ordered(mut all: Vec<Ranked>) -> Vec<Ranked> {
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
    all
}

type Seed = (SymbolId, f64, Evidence);

/// What the task itself points to, with how strongly: 1 for what it writes out, less for shared words.
fn seeds(
    snapshot: &Snapshot,
    written: &Written<'_>,
    evidence: &FileEvidence<'_>,
    terms: &Arc<Terms>,
    files: &[f32],
) -> Vec<Seed> {
    let mut found: BTreeMap<SymbolId, (f64, Evidence)> = BTreeMap::new();
    let mut add = |symbol: SymbolId, score: f64, evidence: Evidence| {
        let entry = found.entry(symbol).or_insert((0.0, evidence.clone()));
        if score > entry.0 || (entry.1 == Evidence::Meaning && evidence != Evidence::Meaning) {
            entry.1 = evidence;
        }
        // Two kinds of evidence are more than either.
        entry.0 = entry.0.max(score) + 0.25 * entry.0.min(score);
    };
    for (symbol, score, evidence) in by_text(terms, evidence.lexical, evidence.semantic) {
        add(symbol, score * 0.8, evidence);
    }
    for (file, share) in best_files(files) {
        if let Some(symbol) = snapshot.file(file).and_then(|file| file.symbol()) {
            let has_words = evidence.whole.get(file.0 as usize).is_some_and(|words| *words > 0.0);
            let evidence = match has_words || !shared(symbol, terms).is_empty() {
                true => Evidence::Words(Arc::clone(terms)),
                false => Evidence::Meaning,
            };
            add(symbol.id(), f64::from(share) * 0.5, evidence);
        }
    }
    for (name, fits) in &written.names {
        let share = 1.0 / (1.0 + (fits.len() as f64 - 1.0).max(0.0) / 3.0);
        for symbol in fits {
            add(symbol.id(), 0.4 + 0.6 * share, Evidence::Named((*name).to_string()));
        }
    }
    for symbol in &written.told {
        add(symbol.id(), 1.0, Evidence::Told);
    }
    for (path, meant) in &written.paths {
        let share = 1.0 / meant.len().max(1) as f64;
        for file in meant {
            if let Some(symbol) = snapshot.file(*file).and_then(|file| file.symbol()) {
                add(symbol.id(), 0.4 + 0.6 * share, Evidence::Path((*path).to_string()));
            }
        }
    }
    let mut seeds: Vec<Seed> = found
        .into_iter()
        .map(|(symbol, (score, evidence))| (symbol, score, evidence))
        .collect();
    for (symbol, score, _) in &mut seeds {
        if let Some(view) = snapshot.symbol(*symbol) {
            *score *= worth(view, terms);
        }
    }
    seeds.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    seeds
}

/// Symbols by the words they share with the task and by what their text means, fused; the best has the score 1.
fn by_text(terms: &Arc<Terms>, lexical: &[Hit], semantic: &[Hit]) -> Vec<Seed> {
    let mut fused: BTreeMap<SymbolId, (f64, f64)> = BTreeMap::new();
    for hit in lexical.iter().take(BY_TEXT) {
        fused.entry(hit.symbol).or_default().0 = f64::from(hit.why.lexical);
    }
    let near = &semantic[..semantic.len().min(BY_TEXT / 2)];
    // Cosines lie close together: what counts is how much nearer than the last one.
    let (most, least) = (
        near.first().map_or(1.0, |hit| hit.why.semantic),
        near.last().map_or(0.0, |hit| hit.why.semantic),
    );
    for hit in near {
        let share = (hit.why.semantic - least) / (most - least).max(f32::MIN_POSITIVE);
        fused.entry(hit.symbol).or_default().1 = f64::from(share);
    }
    let score = |words: f64, meaning: f64| WORDS * words + (1.0 - WORDS) * meaning;
    let best = fused
        .values()
        .map(|(words, meaning)| score(*words, *meaning))
        .fold(f64::MIN_POSITIVE, f64::max);
    let seed = |(symbol, (words, meaning)): (SymbolId, (f64, f64))| {
        let evidence = match words > 0.0 {
            true => Evidence::Words(Arc::clone(terms)),
            false => Evidence::Meaning,
        };
        (symbol, score(words, meaning) / best, evidence)
    };
    fused.into_iter().map(seed).collect()
}

/// The words that a symbol's head shares with the task, as the task has them; its body may share others.
fn shared(symbol: SymbolView<'_>, terms: &Terms) -> Vec<String> {
    let mut have: HashSet<String> = HashSet::new();
    for text in [symbol.name(), symbol.path(), symbol.doc(), symbol.signature()] {
        for word in crate::search_symbols::words(text) {
            have.insert(super::terms::stem(&word).to_string());
        }
    }
    let both = terms.stems.iter().filter(|(stem, _)| have.contains(stem.as_str()));
    both.take(4).map(|(_, word)| word.clone()).collect()
}

/// The seeds and what a walk from them reaches, scored.
fn around(repository: &Repository, number: usize, seeds: Vec<Seed>, terms: &Terms, files: &[f32]) -> Vec<Ranked> {
    let snapshot = &repository.snapshot;
    let starts: Vec<&Seed> = seeds
        .iter()
        .take(SEEDS.max(seeds.iter().filter(|seed| seed.2 == Evidence::Asked).count()))
        .collect();
    let total: f64 = starts.iter().map(|seed| seed.1).sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let masses: Vec<(SymbolId, f32)> = starts.iter().map(|seed| (seed.0, (seed.1 / total) as f32)).collect();
    let reached = spread(snapshot, &masses);
    let most = reached
        .iter()
        .map(|(_, reach)| reach.mass)
        .fold(f32::MIN_POSITIVE, f32::max);
    let mut scores: BTreeMap<SymbolId, (f64, Evidence)> = BTreeMap::new();
    let strongest = seeds.first().map_or(1.0, |seed| seed.1).max(f64::MIN_POSITIVE);
    for (symbol, score, evidence) in seeds {
        scores.insert(symbol, (0.6 * score / strongest, evidence));
    }
    for (symbol, Reach { mass, by }) in reached {
        let walked = 0.4 * f64::from(mass / most).sqrt();
        match scores.get_mut(&symbol) {
            Some((score, _)) => *score += walked,
            None => {
                let Some((kind, origin, from)) = by else { continue };
                let from = SymbolKey {
                    repository: number,
                    symbol: from,
                };
                let view = snapshot.symbol(symbol);
                let worth = view.map_or(0.0, |view| worth(view, terms));
                scores.insert(symbol, (walked * worth, Evidence::Edge(kind, origin, from)));
            }
        }
    }
    let by_file = files_of(snapshot, &scores);
    let recency = repository.recency();
    let score_of = |symbol: SymbolId, score: f64| {
        let Some(view) = snapshot.symbol(symbol) else {
            return 0.0;
        };
        let (best, gathered) = by_file.get(&view.file_id()).copied().unwrap_or_default();
        let score = match files.get(view.file_id().0 as usize) {
            // A symbol of a task is no better than its file, and the best one of a file is as good. The others fall off quickly, or
            // one file would fill the pack.
            Some(file) => f64::from(*file) * (0.25 + 0.75 * score / best.max(f64::MIN_POSITIVE)),
            None => score * 0.75 + gathered * 0.25 * score.powf(0.3),
        };
        // What was changed lately matters a little more.
        score * (0.95 + 0.05 * f64::from(recency.of_file(view.path())))
    };
    let found: Vec<Ranked> = scores
        .into_iter()
        .map(|(symbol, (score, evidence))| Ranked {
            key: SymbolKey {
                repository: number,
                symbol,
            },
            score: match evidence {
                Evidence::Asked => 1.0,
                _ => score_of(symbol, score).min(1.0),
            },
            evidence,
        })
        .collect();
    found
}

/// Per file the score of its best symbol, and how much matters in it: that one and, less and less, the next ones; 1 for the file
/// with the most.
fn files_of(snapshot: &Snapshot, scores: &BTreeMap<SymbolId, (f64, Evidence)>) -> HashMap<FileId, (f64, f64)> {
    let mut lists: BTreeMap<FileId, Vec<f64>> = BTreeMap::new();
    for (symbol, (score, _)) in scores {
        if let Some(view) = snapshot.symbol(*symbol) {
            lists.entry(view.file_id()).or_default().push(*score);
        }
    }
    let mut sums: Vec<(FileId, f64, f64)> = Vec::with_capacity(lists.len());
    for (file, mut list) in lists {
        list.sort_by(|a, b| b.total_cmp(a));
        let parts = list.iter().take(6).enumerate();
        let sum = parts.map(|(place, score)| score / (1 << place) as f64).sum();
        sums.push((file, list.first().copied().unwrap_or_default(), sum));
    }
    let most = sums.iter().map(|(_, _, sum)| *sum).fold(f64::MIN_POSITIVE, f64::max);
    sums.into_iter()
        .map(|(file, best, sum)| (file, (best, sum / most)))
        .collect()
}

/// What a symbol is, as a factor: definitions before mentions, code before tests and what was generated.
fn worth(symbol: SymbolView<'_>, terms: &Terms) -> f64 {
    let kind = match symbol.kind() {
        _ if symbol.is_file() => 0.75,
        Kind::Class | Kind::Struct | Kind::Interface | Kind::Trait | Kind::Enum | Kind::Function | Kind::Method => 1.0,
        Kind::Constructor | Kind::TypeAlias | Kind::Macro | Kind::Union => 0.9,
        Kind::Constant | Kind::Module | Kind::Extension => 0.8,
        Kind::Section => 0.4,
        _ => 0.6,
    };
    let declared = if symbol.flags().contains(Flags::DECLARATION) {
        0.7
    } else {
        1.0
    };
    let tested = if is_test(symbol) && !terms.about_tests {
        0.45
    } else {
        1.0
    };
    let generated = symbol
        .file()
        .is_some_and(|file| file.flags().contains(FileFlags::GENERATED) || file.source().is_some());
    kind * declared * tested * if generated { 0.3 } else { 1.0 }
}

/// Files that count as seeds as a whole.
const BEST_FILES: usize = 20;

/// The files that fit best, each with its share of the best.
fn best_files(files: &[f32]) -> Vec<(FileId, f32)> {
    let mut best: Vec<(FileId, f32)> = files
        .iter()
        .enumerate()
        .filter(|(_, share)| **share > 0.0)
        .map(|(file, share)| (FileId(file as u32), *share))
        .collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    best.truncate(BEST_FILES);
    best
}
