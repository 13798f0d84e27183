//! `search_code`, `hybrid_search` and `search_docs`: code and documents by what they mean and say.
//!
//! One search with three faces: `search_code` gives descriptors with snippets, `hybrid_search` also says why each hit is where
//! it is, `search_docs` looks at sections of Markdown and HTML alone. A snippet is the stretch of a hit that holds most of the
//! question's words, read from the file and checked: a file that changed since it was indexed gives none.

use index::model::FileId;
use index::search::{Hit, Mode, Question, Why, is_document, words};
use index::snapshot::SymbolView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use syntax::facts::Kind;

use crate::descriptors::{Homes, SymbolDescriptor, symbol};
use crate::error::QuestionError;
use crate::kinds;
use crate::page::{self, Page};
use crate::source::Source;
use crate::type_definition::OutputFormat;
use crate::workspace::{Repository, Workspace};

/// What is asked. Its schema is part of the default list of tools, so it says little.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchCode {
    /// Words or identifiers.
    pub query: String,
    /// Path prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// As `python`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// As `method`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Default 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet_lines: Option<u32>,
    /// Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// markdown or json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub output_format: Option<OutputFormat>,
}

/// What is asked of documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchDocs {
    /// What the section says, in words.
    pub query: String,
    /// Only paths that start with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Lines of a snippet at most (default 5; 0 for none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet_lines: Option<u32>,
    /// Hits per page (default 10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// markdown or json: the same as format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
}

/// The hits, best first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CodeFound {
    /// On this page.
    pub results: Vec<FoundCode>,
    /// Hits that were ranked: the best of each repository, at most [`MAX_RANKED`].
    pub total: usize,
    /// Whether there are more on other pages.
    pub truncated: bool,
    /// Where to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What was looked at.
    pub searched: String,
    /// What to know before trusting the hits: that none of them has a word of the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// What the index still lacks, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// A hit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundCode {
    /// Its lasting id.
    pub id: String,
    /// What it is.
    #[serde(flatten)]
    pub symbol: SymbolDescriptor,
    /// The lines that fit best.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub snippet: String,
    /// First line of the snippet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet_line: Option<u32>,
    /// Higher is better, within one answer.
    pub score: f64,
    /// What the score is made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Reasons>,
}

/// The parts of a score: `(blend of semantic and lexical + name + used + coherence) × factor`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reasons {
    /// Nearness of meaning, -1 to 1.
    pub semantic: f64,
    /// Shared words, 0 to 1.
    pub lexical: f64,
    /// Added for the name and the path.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub name: f64,
    /// Added for being used in many places.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub used: f64,
    /// Added for other hits in the same file, and for its whole text and its name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub coherence: f64,
    /// Below 1 for tests, generated and vendored files, declarations, documents.
    pub factor: f64,
}

/// Longest query, in bytes.
pub const MAX_QUERY: usize = 16 * 1024;
/// Most hits that are ranked in each repository.
pub const MAX_RANKED: usize = 200;
/// Lines of a snippet where a call does not say, and at most.
const SNIPPET_LINES: u32 = 5;
const MOST_SNIPPET_LINES: u32 = 50;
/// Longest line of a snippet, in characters.
const SNIPPET_WIDTH: usize = 160;

/// What a hit gains at most from the words of its whole file, and from those of the file's name. Chosen on 129 changes in 18 repositories (files by
/// NDCG@10: .659 without, .682 so, .673 and .674 with .1 and .1, .2 and .15); on 128 others .691 without and .731 so.
const FILE_WORDS: f32 = 0.15;
const FILE_NAME: f32 = 0.05;

/// Said where no hit shares a word with the query.
const NOWHERE: &str = "no word of the query is anywhere in what was searched: these are only the nearest in meaning, likely none of them is meant";

/// Code and documents that answer, best first.
pub fn search_code(workspace: &Workspace, ask: &SearchCode) -> Result<CodeFound, QuestionError> {
    search(workspace, ask, Face::Code)
}

/// The same, with the parts of each score.
pub fn hybrid_search(workspace: &Workspace, ask: &SearchCode) -> Result<CodeFound, QuestionError> {
    search(workspace, ask, Face::Hybrid)
}

/// Sections of documents that answer, best first.
pub fn search_docs(workspace: &Workspace, ask: &SearchDocs) -> Result<CodeFound, QuestionError> {
    let ask = SearchCode {
        query: ask.query.clone(),
        path: ask.path.clone(),
        snippet_lines: ask.snippet_lines,
        limit: ask.limit,
        cursor: ask.cursor.clone(),
        ..SearchCode::default()
    };
    search(workspace, &ask, Face::Documents)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Face {
    Code,
    Hybrid,
    Documents,
}

fn search(workspace: &Workspace, ask: &SearchCode, face: Face) -> Result<CodeFound, QuestionError> {
    if ask.query.trim().is_empty() || ask.query.len() > MAX_QUERY {
        return Err(QuestionError::Argument {
            name: "query",
            problem: match ask.query.trim() {
                "" => "is empty: say in words what the code does, or name identifiers".to_string(),
                _ => format!("{} bytes are too many: at most {MAX_QUERY}", ask.query.len()),
            },
        });
    }
    let filter = Filter::of(workspace, ask, face)?;
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 10)?;
    let mut hits = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let accept = |symbol: SymbolView<'_>| filter.accepts(symbol, &repository.name);
        let mut found = repository.ask_search(&Question {
            text: &ask.query,
            limit: MAX_RANKED,
            mode: Mode::Hybrid,
            accept: filter.is_needed().then_some(&accept),
        });
        add_file_evidence(repository, &ask.query, &mut found);
        hits.extend(found.into_iter().map(|hit| (number, hit)));
    }
    hits.sort_by(|(left_number, left), (right_number, right)| {
        let place = (left_number, left.symbol).cmp(&(right_number, right.symbol));
        right.score.total_cmp(&left.score).then(place)
    });
    // A word that is nowhere still is near something; whoever asks for it must not take that for an answer.
    let is_found = hits.iter().any(|(_, hit)| hit.why.lexical > 0.0 || hit.why.name > 0.0);
    let remark = (!hits.is_empty() && !is_found).then(|| NOWHERE.to_string());
    let total = hits.len();
    let end = page.offset.saturating_add(page.limit);
    let truncated = end < total;
    let asked = words(&ask.query);
    let snippet_lines = ask.snippet_lines.unwrap_or(SNIPPET_LINES).min(MOST_SNIPPET_LINES);
    let mut homes = Homes::new(workspace);
    let mut results = Vec::new();
    for (number, hit) in page.take(hits) {
        let Some(found) = workspace.repositories()[number].snapshot.symbol(hit.symbol) else {
            continue;
        };
        let (snippet_line, snippet) = snippet(workspace, number, found, &asked, snippet_lines).unzip();
        results.push(FoundCode {
            id: workspace.id(number, found),
            symbol: symbol(workspace, number, found, &mut homes),
            snippet: snippet.unwrap_or_default(),
            snippet_line,
            score: rounded(hit.score),
            why: (face == Face::Hybrid).then(|| reasons(&hit.why)),
        });
    }
    Ok(CodeFound {
        results,
        total,
        truncated,
        next_cursor: truncated.then(|| page::cursor(workspace, end)),
        searched: searched(workspace, face),
        remark,
        incomplete: incomplete(workspace),
    })
}

/// Adds what the files of hits say as wholes: what a question tells in many words is often spread over a file.
fn add_file_evidence(repository: &Repository, query: &str, hits: &mut [Hit]) {
    let snapshot = &repository.snapshot;
    let whole = repository.search_index().files(snapshot, query);
    let (names, _) = repository.path_words().shares(&words(query).into_iter().collect());
    let of = |shares: &[f32], file: FileId| shares.get(file.0 as usize).copied().unwrap_or(0.0);
    for hit in hits {
        let Some(file) = snapshot.symbol(hit.symbol).map(|symbol| symbol.file_id()) else {
            continue;
        };
        let fits = FILE_WORDS * of(&whole, file) + FILE_NAME * of(&names, file);
        hit.why.coherence += fits;
        hit.score += fits * hit.why.factor;
    }
}

fn searched(workspace: &Workspace, face: Face) -> String {
    let (mut chunks, mut files) = (0, 0);
    for repository in workspace.repositories() {
        chunks += repository.search_index().chunk_count();
        files += repository.snapshot.file_count() - repository.search_index().missing_files();
    }
    let what = match face {
        Face::Documents => "sections of Markdown and HTML among ",
        Face::Code | Face::Hybrid => "",
    };
    format!("{what}{chunks} chunks of {files} files")
}

/// What the snapshot lacks, and what the search index lacks beyond it.
fn incomplete(workspace: &Workspace) -> Option<String> {
    let missing: usize = workspace
        .repositories()
        .iter()
        .map(|repository| repository.search_index().missing_files())
        .sum();
    let unsearched =
        (missing > 0).then(|| format!("{missing} files are not in the search index yet: run `lacon index`"));
    match (workspace.incomplete(), unsearched) {
        (Some(left), Some(right)) => Some(format!("{left}; {right}")),
        (left, right) => left.or(right),
    }
}

fn reasons(why: &Why) -> Reasons {
    Reasons {
        semantic: rounded(why.semantic),
        lexical: rounded(why.lexical),
        name: rounded(why.name),
        used: rounded(why.used),
        coherence: rounded(why.coherence),
        factor: rounded(why.factor),
    }
}

/// Three digits: more are noise, and tokens.
fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1000.0).round() / 1000.0
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The stretch of a hit that holds most of the words asked for, the first of equals.
fn snippet(
    workspace: &Workspace,
    repository: usize,
    symbol: SymbolView<'_>,
    asked: &[String],
    most: u32,
) -> Option<(u32, String)> {
    if most == 0 {
        return None;
    }
    let source = Source::of(workspace, repository, symbol).ok()?;
    let (first, last) = match symbol.is_file() {
        true => (1, source.line_count()),
        false => (
            symbol.span().start_line,
            symbol.span().end_line.min(source.line_count()),
        ),
    };
    let text = source.lines(first, last);
    let lines: Vec<&str> = text.lines().take(MOST_LINES_LOOKED_AT).collect();
    let fits: Vec<u64> = lines
        .iter()
        .map(|line| {
            let held = words(line);
            let has = |word: &String| held.iter().any(|other| other.starts_with(word.as_str()));
            (asked.iter().take(64).enumerate()).fold(0, |fits, (at, word)| fits | u64::from(has(word)) << at)
        })
        .collect();
    let length = (most as usize).min(lines.len());
    let score = |start: usize| {
        let stretch = &fits[start..start + length];
        let distinct = stretch.iter().fold(0, |all, fits| all | fits).count_ones();
        (distinct, stretch.iter().map(|fits| fits.count_ones()).sum::<u32>())
    };
    let best = (0..=lines.len() - length).max_by_key(|&start| (score(start), std::cmp::Reverse(start)))?;
    let kept: Vec<String> = lines[best..best + length].iter().map(|line| narrow(line)).collect();
    Some((first + best as u32, kept.join("\n").trim_end().to_string()))
}

const MOST_LINES_LOOKED_AT: usize = 1000;

fn narrow(line: &str) -> String {
    match line.char_indices().nth(SNIPPET_WIDTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_string(),
    }
}

struct Filter<'a> {
    path: Option<&'a str>,
    language: Option<&'a str>,
    kinds: Option<&'static [Kind]>,
    documents: bool,
}

impl<'a> Filter<'a> {
    fn of(workspace: &Workspace, ask: &'a SearchCode, face: Face) -> Result<Filter<'a>, QuestionError> {
        let kinds = match ask.kind.as_deref() {
            None => None,
            Some(word) => Some(kinds::kinds_of(word).ok_or_else(|| QuestionError::Argument {
                name: "kind",
                problem: format!(
                    "no kind `{word}`: expected function, method, type, interface, class, section or another kind of symbol"
                ),
            })?),
        };
        if let Some(language) = ask.language.as_deref() {
            let mut known: Vec<&str> = workspace
                .repositories()
                .iter()
                .flat_map(|repository| repository.snapshot.languages().map(|language| language.name()))
                .collect();
            known.sort_unstable();
            known.dedup();
            if !known.contains(&language) {
                return Err(QuestionError::Argument {
                    name: "language",
                    problem: format!("no file is written in `{language}`: there is {}", known.join(", ")),
                });
            }
        }
        Ok(Filter {
            path: ask.path.as_deref().map(|path| path.trim_start_matches("./")),
            language: ask.language.as_deref(),
            kinds,
            documents: face == Face::Documents,
        })
    }

    fn is_needed(&self) -> bool {
        self.path.is_some() || self.language.is_some() || self.kinds.is_some() || self.documents
    }

    fn accepts(&self, symbol: SymbolView<'_>, repository: &str) -> bool {
        let in_path = |path: &str| {
            let bare = path.strip_prefix(repository).and_then(|rest| rest.strip_prefix('/'));
            symbol.path().starts_with(path) || bare.is_some_and(|bare| symbol.path().starts_with(bare))
        };
        let language = || symbol.file().map_or("", |file| file.language());
        self.kinds
            .is_none_or(|kinds| !symbol.is_file() && kinds.contains(&symbol.kind()))
            && self.path.is_none_or(in_path)
            && self.language.is_none_or(|wanted| language() == wanted)
            && (!self.documents || is_document(language()))
    }
}
