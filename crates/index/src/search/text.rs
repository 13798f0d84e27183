//! Exact text and regular expressions over the files of a snapshot, as they are on disk now.
//!
//! Nothing is indexed for this. The first search reads every file and notes which three-byte sequences are in it; a later one
//! reads only the files that hold those of its pattern, and those that changed meanwhile, which their times tell. Files are read
//! beneath the root alone. A file that changed since it was indexed is searched as it is and said to be changed: its lines are
//! true, its symbols may not be.
//!
//! Time is bounded three times: the engine is linear in the text, the compiled pattern has a size limit, and the whole search
//! has a deadline, looked at every few lines, after which it says how far it came.

use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use rayon::prelude::*;
use regex::bytes::{Regex, RegexBuilder};

use super::grams::{Finder, Grams, Needs, Seen, TextFilter};
use crate::model::FileId;
use crate::scan::{Folders, decode};
use crate::snapshot::{FileView, Snapshot};

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    needs: Needs,
}

/// Letters of either case being equal or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// Equal unless the pattern has a capital letter.
    #[default]
    Smart,
    /// Different.
    Sensitive,
    /// Equal.
    Ignored,
}

/// Longest pattern, in bytes.
pub const MAX_PATTERN: usize = 4096;
/// Memory that a compiled pattern may take, and its cache.
const MAX_PROGRAM: usize = 1 << 19;
/// Bytes between two looks at the clock, up to the end of a line; no match spans two such stretches.
const STRETCH: usize = 32 << 10;

/// Why a pattern cannot be looked for.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// There is nothing to look for.
    #[error("the pattern is empty")]
    Empty,
    /// It is too long.
    #[error("the pattern has {0} bytes, at most {MAX_PATTERN} are allowed")]
    Long(usize),
    /// It is not a regular expression.
    #[error("not a regular expression: {0}")]
    Wrong(String),
    /// It is one, and a huge one.
    #[error("the regular expression is too large when compiled: use smaller repetitions")]
    Large,
    /// It would match between any two characters.
    #[error("the regular expression matches the empty text, so it matches everywhere")]
    MatchesNothing,
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMatch {
    /// From 1.
    pub line: u32,
    /// Bytes before the match in its line, in characters.
    pub column: u32,
    /// The line without its end.
    pub text: String,
    /// Matches in the line.
    pub count: u32,
    /// Where each of them starts, in bytes of the line.
    pub at: Vec<u32>,
}

/// The lines of a file that match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatches {
    /// Which file.
    pub file: FileId,
    /// In order.
    pub lines: Vec<LineMatch>,
    /// Matching lines in all, kept or not.
    pub total: usize,
    /// The file is not the one that was indexed.
    pub changed: bool,
}

/// What was found and how far the search came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextMatches {
    /// In path order.
    pub files: Vec<FileMatches>,
    /// Matching lines in all.
    pub total: usize,
    /// Files looked at.
    pub searched: usize,
    /// Files that were to be looked at.
    pub of: usize,
    /// Files that are gone or cannot be read as text.
    pub unreadable: usize,
    /// The deadline came first.
    pub timed_out: bool,
}

/// Bounds of a search.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Lines that are kept, in path order; all are counted.
    pub lines: usize,
    /// Bytes that are kept of a line.
    pub line_length: usize,
    /// When to give up.
    pub time: Duration,
}

impl Pattern {
    /// The text itself.
    pub fn literal(text: &str, case: Case, whole_word: bool) -> Result<Pattern, PatternError> {
        Pattern::compile(&regex::escape(text), text, case, whole_word)
    }

    /// A regular expression, matched line by line.
    pub fn regex(text: &str, case: Case, whole_word: bool) -> Result<Pattern, PatternError> {
        Pattern::compile(text, text, case, whole_word)
    }

    fn compile(expression: &str, asked: &str, case: Case, whole_word: bool) -> Result<Pattern, PatternError> {
        if asked.is_empty() {
            return Err(PatternError::Empty);
        }
        if asked.len() > MAX_PATTERN {
            return Err(PatternError::Long(asked.len()));
        }
        let ignores_case = match case {
            Case::Smart => !asked.chars().any(char::is_uppercase),
            Case::Sensitive => false,
            Case::Ignored => true,
        };
        let build = |expression: &str| {
            RegexBuilder::new(expression)
                .multi_line(true)
                .crlf(true)
                .case_insensitive(ignores_case)
                .size_limit(MAX_PROGRAM)
                .dfa_size_limit(MAX_PROGRAM)
                .nest_limit(100)
                .build()
        };
        // Alone first, so that what is wrong is said of what was written.
        let mut regex = build(expression).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => PatternError::Large,
            error => PatternError::Wrong(reason(&error)),
        })?;
        if regex.is_match(b"") {
            return Err(PatternError::MatchesNothing);
        }
        if whole_word {
            // As `rg -w` bounds it: no letter of a word beside the match, whatever it begins and ends with.
            let bounded = format!(r"\b{{start-half}}(?:{expression})\b{{end-half}}");
            regex = build(&bounded).map_err(|_| PatternError::Large)?;
        }
        Ok(Pattern {
            regex,
            needs: Needs::of(expression, ignores_case),
        })
    }

    /// The matching lines of a text, within bounds of which the time does not count.
    pub fn lines_of(&self, bytes: &[u8], bounds: Bounds) -> Vec<LineMatch> {
        self.lines(bytes, bounds, &|| false)
            .map_or_else(Vec::new, |(lines, _)| lines)
    }

    /// The matching lines of a text, and how many there are; `None` where the time is over.
    fn lines(&self, bytes: &[u8], bounds: Bounds, is_over: &dyn Fn() -> bool) -> Option<(Vec<LineMatch>, usize)> {
        let mut found = Found {
            bytes,
            bounds,
            lines: Vec::new(),
            total: 0,
            last: None,
            counted: (0, 1),
        };
        let (mut at, mut limit) = (0, 0);
        while limit < bytes.len() {
            if is_over() {
                return None;
            }
            let from = (limit + STRETCH).min(bytes.len());
            limit = memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |length| from + length + 1);
            while at <= limit {
                let Some(one) = self.regex.find_at(&bytes[..limit], at) else {
                    break;
                };
                found.add(one.start());
                at = one.end().max(one.start() + 1);
            }
            at = at.max(limit);
        }
        Some((found.lines, found.total))
    }
}

/// Lines that match, as matches come in order.
struct Found<'t> {
    /// UTF-8, which is looked at only where a line is kept.
    bytes: &'t [u8],
    bounds: Bounds,
    lines: Vec<LineMatch>,
    total: usize,
    /// Start of the last line that matched.
    last: Option<usize>,
    /// Where a line starts, and its number: line ends are counted from there.
    counted: (usize, u32),
}

impl Found<'_> {
    fn add(&mut self, at: usize) {
        let bytes = self.bytes;
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
        if self.last == Some(start) {
            let kept = self.lines.len() == self.total;
            if let Some(line) = self.lines.last_mut().filter(|_| kept) {
                line.count += 1;
                line.at.push((at - start) as u32);
            }
            return;
        }
        self.last = Some(start);
        self.total += 1;
        if self.lines.len() >= self.bounds.lines {
            return;
        }
        let (from, number) = self.counted;
        let number = number + memchr::memchr_iter(b'\n', &bytes[from..start]).count() as u32;
        self.counted = (start, number);
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let before = String::from_utf8_lossy(&bytes[start..at]).chars().count();
        let line = String::from_utf8_lossy(&bytes[start..end]);
        self.lines.push(LineMatch {
            line: number,
            column: before as u32 + 1,
            text: cut(line.trim_end_matches('\r'), at - start, self.bounds.line_length),
            count: 1,
            at: vec![(at - start) as u32],
        });
    }
}

/// The last line of the engine's message says what is wrong; those before draw it.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_string()
}

/// A long line is cut around its match.
fn cut(line: &str, at: usize, limit: usize) -> String {
    if line.len() <= limit {
        return line.to_string();
    }
    let mut start = at.saturating_sub(limit / 4).min(line.len() - limit);
    while !line.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (start + limit).min(line.len());
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let (before, after) = (
        if start > 0 { "…" } else { "" },
        if end < line.len() { "…" } else { "" },
    );
    format!("{before}{}{after}", &line[start..end])
}

/// Files that are searched side by side; lines beyond those asked for are then no longer kept. What is often found has filled a page
/// after the first of them, what is rare need not wait for the slowest file of each block.
const FIRST_BLOCK: usize = 1024;
const BLOCK: usize = 16 << 10;
/// Files that one thread looks at in a row, so that those of a folder are found from there.
const ROW: usize = 64;
/// A file that changed so shortly before it was read may have changed again with the same time, in nanoseconds.
const RACY: i128 = 2_000_000_000;

/// Where a search looks.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// Where the files are.
    pub root: &'a Path,
    /// Which files there are.
    pub snapshot: &'a Snapshot,
    /// What earlier searches learned of them.
    pub filter: &'a TextFilter,
}

/// Looks for a pattern in the files that `accept` lets through, until `is_stopped`.
pub fn search_text(
    tree: Tree<'_>,
    pattern: &Pattern,
    accept: &(dyn Fn(FileView<'_>) -> bool + Sync),
    bounds: Bounds,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> TextMatches {
    let wanted: Vec<FileView<'_>> = tree.snapshot.files().filter(|file| accept(*file)).collect();
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seen = tree.filter.files.read().unwrap_or_else(PoisonError::into_inner);
    let search = Search {
        root: tree.root,
        seen: &seen,
        pattern,
        deadline: Instant::now() + bounds.time,
        is_stopped,
        now: since_epoch.map_or(0, |since| since.as_nanos() as i128),
        late: AtomicBool::new(false),
        searched: AtomicUsize::new(0),
        unreadable: AtomicUsize::new(0),
    };
    let mut files: Vec<FileMatches> = Vec::new();
    let mut learned: Vec<(&str, Seen)> = Vec::new();
    let mut left = bounds.lines;
    let (first, others) = wanted.split_at(wanted.len().min(FIRST_BLOCK));
    for block in std::iter::once(first).chain(others.chunks(BLOCK)) {
        let bounds = Bounds { lines: left, ..bounds };
        let looked: Vec<Looked<'_>> = block
            .par_chunks(ROW)
            .flat_map_iter(|row| search.row(row, bounds))
            .collect();
        for file in looked {
            learned.extend(file.learned.map(|seen| (file.path, seen)));
            if let Some(mut found) = file.found {
                found.lines.truncate(left);
                left -= found.lines.len();
                files.push(found);
            }
        }
    }
    let found = TextMatches {
        total: files.iter().map(|file| file.total).sum(),
        files,
        searched: search.searched.into_inner(),
        of: wanted.len(),
        unreadable: search.unreadable.into_inner(),
        timed_out: search.late.into_inner(),
    };
    drop(seen);
    let is_there = |path: &str| tree.snapshot.find_file(path).is_some();
    tree.filter.note(learned, is_there);
    found
}

/// One search, as its threads see it.
struct Search<'a> {
    root: &'a Path,
    seen: &'a [(Box<str>, Seen)],
    pattern: &'a Pattern,
    deadline: Instant,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// When it began, in nanoseconds since the epoch.
    now: i128,
    late: AtomicBool,
    searched: AtomicUsize,
    unreadable: AtomicUsize,
}

/// A file that was read.
struct Looked<'a> {
    path: &'a str,
    found: Option<FileMatches>,
    learned: Option<Seen>,
}

impl Search<'_> {
    /// Looks at files that lie near each other.
    fn row<'s>(&self, files: &[FileView<'s>], bounds: Bounds) -> Vec<Looked<'s>> {
        if self.is_over() {
            return Vec::new();
        }
        let mut folders = Folders::new(self.root);
        let mut finder = Finder::new(self.seen, files.first().map_or("", FileView::path));
        // What is known of all of them comes first: path, name and filter of each are misses of the cache, and those of several
        // files overlap only as long as no system call stands between.
        let candidates: Vec<Candidate<'_, 's>> = files
            .iter()
            .map(|file| {
                let path = file.path();
                let known = finder.find(path);
                let is_ruled_out = known.is_some_and(|known| !self.pattern.needs.may_be_in(&known.grams));
                Candidate {
                    file: *file,
                    path,
                    known,
                    is_ruled_out,
                }
            })
            .collect();
        let mut bytes = Vec::new();
        let mut looked = Vec::new();
        for candidate in &candidates {
            match self.file(candidate, &mut folders, &mut bytes, bounds) {
                Ok(Some(file)) => looked.push(file),
                Ok(None) => {}
                Err(NotSearched::Unreadable) => drop(self.unreadable.fetch_add(1, Ordering::Relaxed)),
                Err(NotSearched::Late) => break,
            }
            self.searched.fetch_add(1, Ordering::Relaxed);
        }
        looked
    }

    /// Reads a file, unless it is known to hold nothing that is looked for.
    fn file<'s>(
        &self,
        candidate: &Candidate<'_, 's>,
        folders: &mut Folders<'_>,
        bytes: &mut Vec<u8>,
        bounds: Bounds,
    ) -> Result<Option<Looked<'s>>, NotSearched> {
        let Candidate { file, path, known, .. } = *candidate;
        let is_same = |known: &Seen| folders.stamp(path) == Some(known.stamp);
        if candidate.is_ruled_out && known.is_some_and(is_same) {
            return Ok(None);
        }
        if self.is_over() {
            return Err(NotSearched::Late);
        }
        // Twice the indexed size: a file that has grown beyond is another file.
        let limit = file.size().saturating_mul(2).saturating_add(1 << 20);
        let stamp = folders.read(path, limit, bytes).map_err(|_| NotSearched::Unreadable)?;
        let is_over = || self.is_over();
        let mut learned = None;
        // What was learned of a file that is the same still is not found out again: neither its hash nor that it is UTF-8.
        let (lines, hash) = match known.filter(|known| known.stamp == stamp) {
            Some(known) if known.is_plain => (self.pattern.lines(bytes, bounds, &is_over), known.hash),
            known => {
                let decoded = decode(bytes).ok_or(NotSearched::Unreadable)?;
                let text = decoded.text;
                let hash = known.map_or_else(|| *blake3::hash(bytes).as_bytes(), |known| known.hash);
                let is_settled = self.now - stamp.modified.max(stamp.changed) > RACY;
                learned = (known.is_none() && is_settled).then(|| Seen {
                    stamp,
                    hash,
                    is_plain: !decoded.converted,
                    grams: Grams::of(&text),
                });
                (self.pattern.lines(text.as_bytes(), bounds, &is_over), hash)
            }
        };
        let found = lines.filter(|(_, total)| *total > 0).map(|(lines, total)| FileMatches {
            file: file.id(),
            lines,
            total,
            changed: hash != *file.hash(),
        });
        Ok(Some(Looked { path, found, learned }))
    }

    fn is_over(&self) -> bool {
        let is_over = self.late.load(Ordering::Relaxed) || (self.is_stopped)() || Instant::now() > self.deadline;
        if is_over {
            self.late.store(true, Ordering::Relaxed);
        }
        is_over
    }
}

/// A file that is to be looked at, with what is known of it.
struct Candidate<'k, 's> {
    file: FileView<'s>,
    path: &'s str,
    known: Option<&'k Seen>,
    /// It held nothing that is looked for when it was read.
    is_ruled_out: bool,
}

/// Why a file was not searched.
enum NotSearched {
    /// Gone, or no text.
    Unreadable,
    /// The time is over.
    Late,
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        lines: 10,
        line_length: 40,
        time: Duration::from_secs(5),
    };

    fn found(pattern: &Pattern, text: &str) -> Vec<(u32, u32, String)> {
        let (lines, total) = pattern.lines(text.as_bytes(), BOUNDS, &|| false).unwrap();
        assert_eq!(lines.len(), total.min(BOUNDS.lines));
        lines
            .into_iter()
            .map(|line| (line.line, line.column, line.text))
            .collect()
    }

    #[test]
    fn lines_are_found_with_their_places() {
        let text = "one\r\nTwo two\n\nä two\n";
        let pattern = Pattern::literal("two", Case::Smart, false).unwrap();
        assert_eq!(
            found(&pattern, text),
            [(2, 1, "Two two".into()), (4, 3, "ä two".into())]
        );
        let pattern = Pattern::literal("Two", Case::Smart, false).unwrap();
        assert_eq!(found(&pattern, text), [(2, 1, "Two two".into())]);
        let pattern = Pattern::regex("^o.e$", Case::Sensitive, false).unwrap();
        assert_eq!(found(&pattern, text), [(1, 1, "one".into())]);
        let pattern = Pattern::literal("tw", Case::Ignored, true).unwrap();
        assert!(found(&pattern, text).is_empty());
        let pattern = Pattern::literal("a.b", Case::Smart, false).unwrap();
        assert!(found(&pattern, "axb").is_empty());
    }

    #[test]
    fn a_long_line_is_cut_around_its_match() {
        let text = format!("{}needle{}", "ä".repeat(100), "x".repeat(100));
        let line = &found(&Pattern::literal("needle", Case::Smart, false).unwrap(), &text)[0].2;
        assert!(line.contains("needle") && line.len() < 60, "{line}");
        assert!(line.starts_with('…') && line.ends_with('…'));
    }

    #[test]
    fn what_cannot_be_looked_for_is_said() {
        let wrong = |text: &str| Pattern::regex(text, Case::Smart, false).unwrap_err();
        assert_eq!(wrong(""), PatternError::Empty);
        assert_eq!(wrong(&"a".repeat(5000)), PatternError::Long(5000));
        assert!(matches!(wrong("a(b"), PatternError::Wrong(reason) if reason.contains("unclosed")));
        assert_eq!(wrong("(a{1000}){1000}"), PatternError::Large);
        assert_eq!(wrong("x*"), PatternError::MatchesNothing);
        assert!(matches!(wrong(&"(".repeat(2000)), PatternError::Wrong(_)));
    }

    /// The engine is linear: what takes a backtracking one the age of the universe takes no time.
    #[test]
    fn hostile_patterns_end() {
        let pattern = Pattern::regex("(a+)+$", Case::Smart, false).unwrap();
        let start = Instant::now();
        let is_over = || start.elapsed() > Duration::from_secs(1);
        pattern.lines(format!("{}!", "a".repeat(20_000)).as_bytes(), BOUNDS, &is_over);
        // Many states over a text that nearly matches everywhere: the clock ends it.
        let pattern = Pattern::regex("(a|aa|aaa){50}[^a]x", Case::Smart, false).unwrap();
        let text = format!("{}\n", "a".repeat(200)).repeat(20_000);
        pattern.lines(text.as_bytes(), BOUNDS, &is_over);
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn matches_are_found_across_stretches() {
        let pattern = Pattern::regex(r"^needle \d+$", Case::Smart, false).unwrap();
        let filler = "hay\n".repeat(STRETCH / 3);
        let text = format!("needle 1\n{filler}needle 2\n{filler}{filler}needle 3");
        let lines: Vec<u32> = found(&pattern, &text).into_iter().map(|(line, _, _)| line).collect();
        let one = STRETCH as u32 / 3;
        assert_eq!(lines, [1, one + 2, 3 * one + 3]);
    }
}
