//! Functions and classes of JavaScript that are values where they stand: `run(function each() {})`. Nobody outside can say such a name,
//! so that nobody does tells nothing. The facts do not tell them from declarations; the text before the name does.

use std::collections::HashMap;

use index::model::FileId;
use index::scan::read_source;
use index::snapshot::{Snapshot, SymbolId};

use crate::workspace::Repository;

/// Languages with named function expressions.
const LANGUAGES: &[&str] = &["javascript", "typescript", "tsx", "vue", "svelte"];

/// Words that an expression follows.
const BEFORE_VALUES: &[&str] = &[
    "return",
    "typeof",
    "void",
    "new",
    "delete",
    "yield",
    "await",
    "case",
    "in",
    "of",
    "throw",
    "instanceof",
];

/// Tells which symbols are such values; reads each file once.
#[derive(Default)]
pub(super) struct Expressions {
    texts: HashMap<FileId, Option<String>>,
}

impl Expressions {
    /// Whether the symbol is a value where it stands.
    pub(super) fn contains(&mut self, repository: &Repository, snapshot: &Snapshot, symbol: SymbolId) -> bool {
        let Some(symbol) = snapshot.symbol(symbol) else {
            return false;
        };
        if !symbol.file().is_some_and(|file| LANGUAGES.contains(&file.language())) {
            return false;
        }
        let read = || {
            read_source(&repository.root, symbol.path())
                .ok()
                .map(|(text, _)| text.to_string())
        };
        let text = self.texts.entry(symbol.file_id()).or_insert_with(read);
        let at = symbol.name_at();
        text.as_deref()
            .and_then(|text| before(text, at.line as usize, at.column as usize))
            .is_some_and(is_value)
    }
}

/// The text up to a place: 1-based line, column in bytes.
fn before(text: &str, line: usize, column: usize) -> Option<&str> {
    let start = match line {
        0 | 1 => 0,
        line => text.match_indices('\n').nth(line - 2)?.0 + 1,
    };
    text.get(..start + column)
}

/// Whether what stands before a name makes it the name of a value.
fn is_value(before: &str) -> bool {
    let Some(before) = without_word(before.trim_end().trim_end_matches('*'), &["function", "class"]) else {
        return false;
    };
    let before = without_word(before, &["async"]).unwrap_or(before).trim_end();
    let word = before
        .rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
        .next();
    match word.filter(|word| !word.is_empty()) {
        Some(word) => BEFORE_VALUES.contains(&word),
        None => before.ends_with(|c: char| "(,=:[?&|!+-~<>%^".contains(c)),
    }
}

/// The text without one of these words at its end.
fn without_word<'a>(text: &'a str, words: &[&str]) -> Option<&'a str> {
    let text = text.trim_end();
    words.iter().find_map(|word| {
        let rest = text.strip_suffix(word)?;
        let is_whole = !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        is_whole.then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::{before, is_value};

    #[test]
    fn values_are_told_from_declarations() {
        for text in [
            "run(function ",
            "run(1, async function ",
            "x = function* ",
            "return function ",
            "a => class ",
            "{ a: function ",
            "!function ",
            "const a = b ? c :\n  function ",
        ] {
            assert!(is_value(text), "{text}");
        }
        for text in [
            "function ",
            "}\nfunction ",
            "let a = 1\nfunction ",
            "export default function ",
            "export async function ",
            "a();\n\nclass ",
            "myfunction ",
            "{\n  add",
            "if (a) { function ",
        ] {
            assert!(!is_value(text), "{text}");
        }
        assert_eq!(before("ab\ncd\nef", 2, 1), Some("ab\nc"));
        assert_eq!(before("ab", 7, 1), None);
    }
}
