//! What `find` is asked, taken apart: words with how much they count, identifiers in any spelling, paths, lines of stack traces.
//!
//! The first line says what is meant, what follows explains it and counts less. A stack trace's lines are places and no words, and of what
//! is pasted with it the message counts.

use std::collections::BTreeSet;

use index::search::{each_word, term_of};

use super::frames::{self, Frame};
use super::messages::{logged, thrown};
use crate::context::terms;

/// Most of a question that is read, in bytes: its beginning, and its end, where a stack trace has its message.
const MOST_BEGINNING: usize = 12 << 10;
const MOST_END: usize = 4 << 10;
/// Most distinct words that are looked up.
const MOST_WORDS: usize = 512;
/// Most words in a row that are compared with lines.
const MOST_IN_ROW: usize = 400;
/// How much the words after the first line count.
const BODY: f32 = 0.2;
/// How much a word counts that is part of an identifier, beside the identifier itself.
const PART: f32 = 0.7;
/// How much more an identifier counts than a word as rare.
const NAME: f32 = 1.3;
/// Most identifiers.
const MOST_NAMES: usize = 24;

/// A question, taken apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Query {
    /// As far as it is read, without frames.
    pub(super) text: String,
    /// Words as the index counts them, with how much each counts.
    pub(super) words: Vec<(String, f32)>,
    /// All words in a row, in lower case: for lines that say the same.
    pub(super) in_row: Vec<String>,
    pub(super) names: Vec<Name>,
    pub(super) paths: Vec<String>,
    pub(super) frames: Vec<Frame>,
    /// What stands before the colon of the first line, or in its brackets: `llm` of `llm: retry`.
    pub(super) scopes: BTreeSet<String>,
    pub(super) wants_tests: bool,
    pub(super) wants_documents: bool,
    pub(super) wants_configuration: bool,
    /// It is one identifier or path and nothing else.
    pub(super) is_name: bool,
}

/// An identifier.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Name {
    /// As it was asked, the last part of a dotted one.
    pub(super) text: String,
    /// Letters in lower case, without what joins its parts.
    pub(super) folded: String,
    /// Its words as the index counts them.
    pub(super) stems: Vec<String>,
    pub(super) weight: f32,
}

impl Query {
    pub(super) fn of(asked: &str) -> Query {
        let text = readable(asked);
        let text: Vec<&str> = text.lines().map(logged).collect();
        let text = text.join("\n");
        let mut query = Query::default();
        let mut kept: Vec<&str> = Vec::new();
        for line in text.lines() {
            match frames::of_line(line) {
                Some(frame) => query.frames.push(frame),
                None => {
                    query.frames.extend(frames::in_prose(line));
                    kept.push(line);
                }
            }
        }
        frames::innermost_first(&mut query.frames, &text);
        // Of a trace, what was thrown: what else is between its lines is code of the frames.
        if query.frames.len() > 1 {
            kept.retain(|line| !line.starts_with("    ") && !line.trim().is_empty() && !frames::is_heading(line));
        }
        query.text = kept.join("\n");
        let parts = terms(&query.text);
        let text = query.text.clone();
        let (title, body) = title_and_body(&text);
        let title = query.scoped(title);
        match thrown(title) {
            Some((kind, message)) => {
                query.add_words(message, 1.0);
                query.add_words(kind, BODY);
            }
            None => query.add_words(title, 1.0),
        }
        query.add_words(body, BODY);
        for path in &parts.paths {
            query.paths.push(path.clone());
        }
        let is_single = !query.text.trim().contains(char::is_whitespace);
        for name in &parts.names {
            let weight = if title.contains(name.as_str()) { 1.0 } else { BODY };
            query.add_name(name, weight);
        }
        if is_single && parts.paths.is_empty() {
            query.add_name(text.trim(), 1.0);
        }
        query.is_name = is_single || parts.names.iter().any(|name| name == query.text.trim());
        let says = |query: &Query, words: &[&str]| {
            let mut title = query.words.iter().filter(|(_, weight)| *weight > BODY);
            title.any(|(known, _)| words.contains(&known.as_str()))
        };
        query.wants_tests = says(&query, &["test", "spec", "fixtur", "mock"]);
        query.wants_documents = says(&query, &["readm", "changelog", "documentation", "doc", "docstr"]);
        query.wants_configuration = query.scopes.iter().any(|scope| CONFIGURED.contains(&scope.as_str()))
            || says(&query, CONFIGURED)
            || query.is_name;
        query
    }

    /// Takes the scope off a title. The kinds of conventional commits are none.
    fn scoped<'t>(&mut self, title: &'t str) -> &'t str {
        let (before, after) = match title.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some(parts) => parts,
            None => match title.split_once(':') {
                Some((before, after)) if after.starts_with(' ') => (before, after),
                _ => return title,
            },
        };
        if before.len() > LONGEST_SCOPE || before.split_whitespace().count() > 2 || after.trim().is_empty() {
            return title;
        }
        let mut is_kind = false;
        for part in before.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-') {
            let part = part.to_lowercase();
            match COMMIT_KINDS.contains(&part.as_str()) {
                true => is_kind = true,
                false if part.len() > 1 => {
                    self.scopes.insert(part);
                }
                false => {}
            }
        }
        // A scope is a word of the title as well; a kind says nothing of the code.
        if is_kind { after } else { title }
    }

    fn add_words(&mut self, text: &str, weight: f32) {
        each_word(text, |word| {
            if self.in_row.len() < MOST_IN_ROW {
                self.in_row.push(word.to_owned());
            }
            if COMMON.binary_search(&word).is_ok() || word.len() < 2 && !word.bytes().all(|b| b.is_ascii_digit()) {
                return;
            }
            if let Some(term) = term_of(word).filter(|_| self.words.len() < MOST_WORDS) {
                self.words.push((term.to_owned(), weight));
            }
        });
        // Nothing but common words is still a question.
        if self.words.is_empty() && weight == 1.0 {
            each_word(text, |word| {
                self.words.extend(term_of(word).map(|term| (term.to_owned(), 1.0)))
            });
        }
        self.words.truncate(MOST_WORDS);
    }

    fn add_name(&mut self, asked: &str, weight: f32) {
        let asked = asked.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let asked = asked.split_once('(').map_or(asked, |(name, _)| name);
        let last = asked
            .rsplit(['.', ':', '#', '>', '\\', '/', '$'])
            .next()
            .unwrap_or(asked);
        let folded = folded(last);
        let is_known = self.names.iter().any(|name| name.folded == folded);
        if folded.len() < 3 || is_known || self.names.len() >= MOST_NAMES || last.len() > LONGEST_NAME {
            return;
        }
        let mut stems = Vec::new();
        each_word(last, |word| stems.extend(term_of(word).map(str::to_owned)));
        stems.sort();
        stems.dedup();
        if stems.is_empty() {
            return;
        }
        if stems.len() > 1 {
            for (word, part) in &mut self.words {
                if stems.contains(word) {
                    *part *= PART;
                }
            }
        }
        self.names.push(Name {
            text: last.to_owned(),
            folded,
            stems,
            weight: weight * NAME,
        });
    }
}

const LONGEST_SCOPE: usize = 40;
const LONGEST_NAME: usize = 120;

/// An identifier without what joins its parts: `max_body`, `maxBody` and `MAX-BODY` are one.
pub(super) fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The beginning and the end of what is long, control characters as blanks.
fn readable(asked: &str) -> String {
    let cut = |at: usize| (0..=at).rev().find(|&at| asked.is_char_boundary(at)).unwrap_or(0);
    let kept = match asked.len() > MOST_BEGINNING + MOST_END {
        true => {
            let (end, start) = (cut(MOST_BEGINNING), cut(asked.len() - MOST_END));
            format!("{}\n{}", &asked[..end], &asked[start..])
        }
        false => asked.to_owned(),
    };
    let mut text = String::with_capacity(kept.len());
    let mut letters = kept.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' && letters.next_if_eq(&'[').is_some() {
            // A colour of a pasted terminal: its parameters, and the letter that ends them.
            while letters.next_if(|c| matches!(c, '0'..='?')).is_some() {}
            letters.next_if(char::is_ascii_alphabetic);
            text.push(' ');
        } else if letter.is_control() && letter != '\n' {
            text.push(' ');
        } else {
            text.push(letter);
        }
    }
    text
}

/// The first line with words, and what follows it.
fn title_and_body(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once('\n')
        .map_or((text, ""), |(title, body)| (title.trim(), body))
}

/// Words, as the index counts them, of who asks about builds, checks and machines.
const CONFIGURED: &[&str] = &[
    "appveyor",
    "build",
    "bump",
    "cargo",
    "ci",
    "configur",
    "dependenc",
    "docker",
    "gradl",
    "lint",
    "makefil",
    "manifest",
    "npm",
    "packag",
    "pipelin",
    "releas",
    "trav",
    "workflow",
    "yaml",
    "yml",
];

/// Kinds of conventional commits.
const COMMIT_KINDS: &[&str] = &[
    "build", "bug", "bugfix", "chore", "ci", "docs", "feat", "feature", "fix", "hotfix", "perf", "refactor", "revert",
    "style", "test", "tests", "wip",
];

/// Words of English and of commits that say nothing about where.
pub(super) const COMMON: &[&str] = &[
    "about",
    "above",
    "across",
    "actually",
    "add",
    "added",
    "adding",
    "adds",
    "after",
    "again",
    "all",
    "allow",
    "allowed",
    "allowing",
    "allows",
    "almost",
    "along",
    "already",
    "also",
    "although",
    "always",
    "am",
    "among",
    "an",
    "and",
    "another",
    "any",
    "anymore",
    "are",
    "around",
    "as",
    "at",
    "avoid",
    "avoids",
    "back",
    "be",
    "because",
    "been",
    "before",
    "behind",
    "being",
    "below",
    "better",
    "between",
    "both",
    "bug",
    "but",
    "by",
    "can",
    "cannot",
    "cause",
    "caused",
    "causes",
    "causing",
    "change",
    "changed",
    "changes",
    "cleanup",
    "correct",
    "correctly",
    "could",
    "currently",
    "did",
    "didn",
    "do",
    "does",
    "doesn",
    "doing",
    "don",
    "done",
    "due",
    "during",
    "each",
    "either",
    "else",
    "ensure",
    "ensures",
    "etc",
    "even",
    "every",
    "everything",
    "expected",
    "few",
    "fix",
    "fixed",
    "fixes",
    "fixing",
    "for",
    "from",
    "further",
    "get",
    "gets",
    "getting",
    "give",
    "given",
    "gives",
    "go",
    "goes",
    "going",
    "good",
    "got",
    "had",
    "handle",
    "handled",
    "handles",
    "handling",
    "has",
    "have",
    "having",
    "he",
    "hence",
    "her",
    "here",
    "his",
    "how",
    "however",
    "if",
    "implement",
    "implemented",
    "implements",
    "improve",
    "improved",
    "improves",
    "in",
    "instead",
    "into",
    "introduce",
    "introduced",
    "is",
    "isn",
    "issue",
    "issues",
    "it",
    "its",
    "just",
    "keep",
    "know",
    "leads",
    "less",
    "let",
    "like",
    "longer",
    "look",
    "made",
    "make",
    "makes",
    "making",
    "many",
    "may",
    "maybe",
    "me",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "need",
    "needed",
    "needs",
    "never",
    "no",
    "non",
    "not",
    "nothing",
    "now",
    "of",
    "off",
    "on",
    "once",
    "one",
    "only",
    "onto",
    "or",
    "other",
    "others",
    "otherwise",
    "our",
    "out",
    "over",
    "own",
    "per",
    "please",
    "pr",
    "prevent",
    "prevents",
    "previously",
    "problem",
    "properly",
    "provide",
    "provided",
    "provides",
    "rather",
    "really",
    "refactor",
    "remove",
    "removed",
    "removes",
    "removing",
    "same",
    "see",
    "seems",
    "should",
    "shouldn",
    "simple",
    "simplify",
    "since",
    "so",
    "some",
    "something",
    "still",
    "such",
    "support",
    "supported",
    "supports",
    "sure",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "therefore",
    "these",
    "they",
    "thing",
    "things",
    "this",
    "those",
    "though",
    "through",
    "thus",
    "to",
    "together",
    "too",
    "trying",
    "two",
    "under",
    "unless",
    "until",
    "up",
    "update",
    "updated",
    "updates",
    "upon",
    "us",
    "use",
    "used",
    "uses",
    "using",
    "usually",
    "very",
    "via",
    "want",
    "was",
    "wasn",
    "way",
    "we",
    "well",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whole",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "won",
    "work",
    "working",
    "works",
    "would",
    "wouldn",
    "wrong",
    "yet",
    "you",
    "your",
];

#[cfg(test)]
mod tests {
    use super::{COMMON, Query, folded};

    #[test]
    fn common_words_are_in_order() {
        assert!(COMMON.is_sorted());
    }

    #[test]
    fn identifiers_scopes_and_words_are_told_apart() {
        let query = Query::of("fix(router): retry drops `max_body` when parseUrl fails\n\nThe body explains it.");
        assert_eq!(query.scopes.iter().collect::<Vec<_>>(), ["router"]);
        let names: Vec<&str> = query.names.iter().map(|name| name.folded.as_str()).collect();
        assert_eq!(names, ["maxbody", "parseurl"]);
        let weight = |word: &str| {
            query
                .words
                .iter()
                .find(|(known, _)| known == word)
                .map(|(_, weight)| *weight)
        };
        assert_eq!(
            (weight("retr"), weight("drop"), weight("explain")),
            (Some(1.0), Some(1.0), Some(0.2))
        );
        assert_eq!(weight("fix"), None);
        assert!(!query.wants_tests && !query.is_name && !query.wants_configuration);
        assert!(Query::of("ci: run travis with go 1.8").wants_configuration);
        assert_eq!(folded("Max-BODY_size"), "maxbodysize");
        assert!(Query::of("globalConfig").is_name);
        assert!(Query::of("the test of redirects").wants_tests);
    }

    #[test]
    fn hostile_text_is_read_as_far_as_it_means_something() {
        assert_eq!(Query::of("").words, []);
        assert_eq!(Query::of(" \n\u{0}\u{1b}[31m\u{7f}").names, []);
        let huge = "word_of_many ".repeat(1 << 18);
        assert!(Query::of(&huge).text.len() < 20 << 10);
        // Words that no index keeps.
        assert_eq!(Query::of("the when of").words, []);
        Query::of(&"ä".repeat(40_000));
        Query::of(&"(:".repeat(40_000));
    }
}
