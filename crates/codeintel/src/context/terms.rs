//! The words of a task: plain ones to search with, and the ones that are written as names or paths, which say what is meant.

use std::collections::BTreeMap;

use crate::search_symbols::words;

/// Longest task that is read.
pub(crate) const MAX_TASK: usize = 20_000;
/// Most distinct words that are searched for: a pasted log must not turn every question into a scan.
const MAX_TERMS: usize = 64;
/// Most names and paths that are looked up.
const MAX_NAMES: usize = 48;

/// A task, taken apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Terms {
    /// Stems with how often they occur, in order of the alphabet.
    pub(crate) stems: BTreeMap<String, u32>,
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
    let mut found = Terms::default();
    for (place, part) in task[..end].split('`').enumerate() {
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
                if found.stems.len() < MAX_TERMS || found.stems.contains_key(stem(&word)) {
                    *found.stems.entry(stem(&word).to_string()).or_default() += 1;
                }
            }
        }
    }
    for common in COMMON {
        found.stems.remove(*common);
    }
    found.about_tests = found.stems.contains_key("test");
    found
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
