//! The words of a task: plain ones to search with, and the ones that are written as names or paths, which say what is meant.

use std::collections::{BTreeMap, BTreeSet};

use crate::search_symbols::words;

/// Longest task that is read.
pub(crate) const MAX_TASK: usize = 20_000;
/// Most distinct words that are searched for: a pasted log must not turn every question into a scan.
const MAX_TERMS: usize = 64;
/// Most words that are looked up among names and paths.
const MAX_WORDS: usize = 512;
/// Most names and paths that are looked up.
const MAX_NAMES: usize = 48;

/// A task, taken apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Terms {
    /// The task as far as it is read, without what are only numbers of commits.
    pub(crate) text: String,
    /// Its first line.
    pub(crate) title: String,
    /// Its words as the words of paths are counted, and whole.
    pub(crate) path_words: BTreeSet<String>,
    /// Words that may be the name of something but are not written like one.
    pub(crate) plain: BTreeSet<String>,
    /// Stems with the word that the task first has of each, in order of the alphabet.
    pub(crate) stems: BTreeMap<String, String>,
    /// What is written as an identifier: `parse_url`, `HttpClient`, `Owner.name`, anything in backticks.
    pub(crate) names: Vec<String>,
    /// What is written as a path or a file name.
    pub(crate) paths: Vec<String>,
    /// Whether tests are what the task is about.
    pub(crate) about_tests: bool,
}

/// Takes a task apart.
pub(crate) fn terms(task: &str) -> Terms {
    let mut end = task.len().min(MAX_TASK);
    while !task.is_char_boundary(end) {
        end -= 1;
    }
    let text = without_hashes(&task[..end]);
    let mut found = Terms {
        title: text
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("")
            .to_string(),
        path_words: super::files::stems(&text).collect(),
        ..Terms::default()
    };
    for (place, _) in text.match_indices("()") {
        let before = &text[..place];
        let start = before.rfind(|c: char| !is_part(c)).map_or(0, |at| at + 1);
        push(&mut found.names, before.get(start..).unwrap_or_default());
    }
    found.names.retain(|name| name.len() > 2);
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        if word.len() > 2 && found.path_words.len() < MAX_WORDS {
            found.path_words.insert(word.to_lowercase());
        }
        if word.len() > 3 && found.plain.len() < MAX_WORDS && !is_identifier(word) {
            found.plain.insert(word.to_string());
        }
    }
    for (place, part) in text.split('`').enumerate() {
        for token in part.split(|c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    '"' | '\'' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '=' | '!' | '?'
                )
        }) {
            let token = token.trim_matches(|c: char| matches!(c, '.' | ':' | '-' | '*' | '#' | '/'));
            if token.is_empty() {
                continue;
            }
            if is_path(token) {
                push(&mut found.paths, token);
            } else if place % 2 == 1 || is_identifier(token) {
                push(&mut found.names, token);
            }
            for word in words(token) {
                if word.len() < 2 || word.bytes().all(|byte| byte.is_ascii_digit()) {
                    continue;
                }
                if found.stems.len() < MAX_TERMS && !found.stems.contains_key(stem(&word)) {
                    found.stems.insert(stem(&word).to_string(), word);
                }
            }
        }
    }
    for common in COMMON {
        found.stems.remove(*common);
    }
    found.about_tests = found.stems.contains_key("test");
    found.text = text;
    found
}

/// The text without hashes of commits: their letters are no words, and some of them look like `md5`.
fn without_hashes(text: &str) -> String {
    let is_hash = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.len() >= 7
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let words = text.split_inclusive(char::is_whitespace);
    words.filter(|word| !is_hash(word)).collect()
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':')
}

/// Words of English that say nothing about code, as stems.
const COMMON: &[&str] = &[
    "the", "a", "an", "and", "or", "of", "to", "in", "is", "it", "on", "at", "by", "be", "as", "for", "with", "that",
    "thi", "from", "are", "wa", "not", "when", "if", "we", "you", "can", "do", "doe", "so", "but", "have", "ha",
    "should", "will", "which", "there", "their", "they", "also", "than", "then", "would", "could", "our", "its",
    "into", "been", "now", "only", "some", "such", "these", "those", "was", "were", "what", "where", "while", "who",
    "why", "how", "all", "any", "both", "e.g", "i.e", "etc", "via", "instead", "because", "since", "however", "may",
    "might", "must", "about", "after", "before", "more", "most", "other", "over", "same", "under", "very", "just",
    "did", "had", "he", "she", "i", "me", "my", "no",
];

/// Without the ending that a plural or a tense adds, so that `parsing` finds `parse` and `parser`.
pub(crate) fn stem(word: &str) -> &str {
    let long = |rest: &str| rest.len() >= 3 && rest.is_ascii();
    for ending in [
        "ations", "ation", "ings", "ing", "ers", "er", "ies", "ied", "ed", "es", "s", "e", "y",
    ] {
        if let Some(rest) = word.strip_suffix(ending).filter(|rest| long(rest)) {
            let bytes = rest.as_bytes();
            let doubled = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
            return if doubled && ending.len() > 1 {
                &rest[..rest.len() - 1]
            } else {
                rest
            };
        }
    }
    word
}

fn push(list: &mut Vec<String>, text: &str) {
    if list.len() < MAX_NAMES && text.len() < 200 && !list.iter().any(|known| known == text) {
        list.push(text.to_string());
    }
}

fn is_path(token: &str) -> bool {
    let last = token.rsplit('/').next().unwrap_or(token);
    let has_extension = last.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'+')
            && syntax::languages::detect(last, &[]).is_some()
    });
    has_extension || (token.contains('/') && !token.contains("://") && token.split('/').all(|part| part.len() > 1))
}

/// Not a plain word: mixed case inside, an underscore, a qualified name, letters next to digits.
fn is_identifier(token: &str) -> bool {
    let inner_capital = token
        .chars()
        .zip(token.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let is_word = token
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '#'));
    is_word && (inner_capital || token.contains('_') || token.contains("::") || is_dotted(token)) && token.len() > 2
}

fn is_dotted(token: &str) -> bool {
    token.split('.').count() > 1
        && token
            .split('.')
            .all(|part| part.len() > 1 && part.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::{stem, terms};

    #[test]
    fn names_paths_and_words_are_told_apart() {
        let found = terms(
            "Fix `retry` in django/db/models/query.py: QuerySet.filter drops _hints when the parse_url fails e.g. twice",
        );
        assert_eq!(found.names, ["retry", "QuerySet.filter", "_hints", "parse_url"]);
        assert_eq!(found.paths, ["django/db/models/query.py"]);
        assert!(found.stems.contains_key("queri") || found.stems.contains_key("quer"));
        assert!(!found.stems.contains_key("the") && !found.about_tests);
    }

    #[test]
    fn hashes_are_no_words_and_calls_are_names() {
        let found = terms("Fix the race in sshsigdie()\n\nBroken-by: 1058096b8c53, see ssh(1)");
        assert_eq!(found.title, "Fix the race in sshsigdie()");
        assert_eq!(found.names, ["sshsigdie"]);
        assert!(!found.text.contains("8c53") && !found.stems.contains_key("1058096b8c53"));
        assert!(found.plain.contains("race") && found.path_words.contains("sshsigdie"));
    }

    #[test]
    fn forms_of_a_word_meet() {
        for (one, other) in [
            ("parsing", "parse"),
            ("parser", "parsed"),
            ("queries", "query"),
            ("stopped", "stop"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
    }
}
