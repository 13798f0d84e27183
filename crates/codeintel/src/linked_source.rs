//! Lines of a file with every name that the graph resolves: what a page needs to make them links.
//!
//! An edge says at which line and byte it is said; the word that begins there is the link. Where several edges are said by one
//! word, the strongest counts: a call says more than a read.

use std::collections::BTreeMap;

use index::model::EdgeKind;
use index::snapshot::{EdgeEnd, EdgeKinds};
use serde::{Deserialize, Serialize};

use crate::error::QuestionError;
use crate::source::Source;
use crate::traverse::Direction;
use crate::workspace::Workspace;
use crate::{kinds, naming};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskLines {
    /// Path of the file, or the end of it.
    pub path: String,
    /// First line, 1-based (default 1).
    pub first: Option<u32>,
    /// Last line, included (default: the most that are given).
    pub last: Option<u32>,
}

/// The lines, and what is known of the names in them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LinkedSource {
    /// The file.
    pub path: String,
    /// Key of its language.
    pub language: String,
    /// First line given.
    pub first: u32,
    /// Lines of the file.
    pub total: u32,
    /// The lines.
    pub lines: Vec<String>,
    /// Lines of which only the beginning is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<u32>,
    /// Names that lead somewhere, by place.
    pub links: Vec<Link>,
    /// Definitions that begin in these lines, by place.
    pub definitions: Vec<Definition>,
}

/// A name that the graph resolves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Link {
    /// 1-based.
    pub line: u32,
    /// 0-based, in UTF-16 units, as browsers count.
    pub column: u32,
    /// In UTF-16 units.
    pub length: u32,
    /// Id of the symbol, or the name of an external one.
    pub to: String,
    /// What the edge says.
    pub kind: &'static str,
    /// How it is known.
    pub origin: &'static str,
    /// From 0 to 1.
    pub confidence: f64,
    /// Whether it is defined in a package that is not indexed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
}

/// A definition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Definition {
    /// Line of its name.
    pub line: u32,
    /// 0-based, in UTF-16 units.
    pub column: u32,
    /// In UTF-16 units.
    pub length: u32,
    /// Id of the symbol.
    pub id: String,
    /// Its kind.
    pub kind: &'static str,
}

/// Most lines of one answer.
pub const MOST_LINES: u32 = 5_000;
/// Most bytes of a line: what is longer is no source that anyone reads.
const LONGEST_LINE: usize = 2_000;

/// Kinds of edges that a word says, strongest first.
const SAID: [EdgeKind; 10] = [
    EdgeKind::Calls,
    EdgeKind::Instantiates,
    EdgeKind::Extends,
    EdgeKind::Implements,
    EdgeKind::Decorated,
    EdgeKind::Imports,
    EdgeKind::Writes,
    EdgeKind::Reads,
    EdgeKind::References,
    EdgeKind::Consumes,
];

/// The lines that are asked for.
pub fn linked_source(workspace: &Workspace, ask: &AskLines) -> Result<LinkedSource, QuestionError> {
    let (number, file) = naming::find_file(workspace, &ask.path)?;
    let stale = || QuestionError::Stale { path: ask.path.clone() };
    let repository = workspace.repository(number).ok_or_else(stale)?;
    let snapshot = &repository.snapshot;
    let source = Source::of(workspace, number, file.symbol().ok_or_else(stale)?)?;
    let total = source.line_count();
    let first = ask.first.unwrap_or(1).max(1);
    let last = ask
        .last
        .unwrap_or(u32::MAX)
        .min(first.saturating_add(MOST_LINES - 1))
        .min(total);
    let mut found = LinkedSource {
        path: workspace.path(number, file.path()),
        language: file.language().to_string(),
        first,
        total,
        ..LinkedSource::default()
    };
    for line in first..=last {
        let text = source.lines(line, line);
        let shown = shortened(text);
        if shown.len() < text.len() {
            found.cut.push(line);
        }
        found.lines.push(shown.to_string());
    }
    let is_shown = |line: u32| (first..=last).contains(&line);
    let mut links: BTreeMap<(u32, u32), (usize, Link)> = BTreeMap::new();
    for symbol in file.symbols() {
        for edge in repository.edges(symbol.id(), Direction::Outgoing, EdgeKinds::ALL) {
            let Some(strength) = SAID.iter().position(|kind| *kind == edge.kind) else {
                continue;
            };
            if !is_shown(edge.at.line) {
                continue;
            }
            let Some((column, length)) = word_at(shortened(source.lines(edge.at.line, edge.at.line)), edge.at.column)
            else {
                continue;
            };
            let (to, external) = match edge.to {
                EdgeEnd::Symbol(to) => match snapshot.symbol(to) {
                    Some(to) => (workspace.id(number, to), false),
                    None => continue,
                },
                EdgeEnd::External(to) => (snapshot.external(to).to_string(), true),
            };
            let link = Link {
                line: edge.at.line,
                column,
                length,
                to,
                kind: kinds::edge_name(edge.kind),
                origin: kinds::origin_name(edge.origin),
                confidence: f64::from(edge.confidence) / 100.0,
                external,
            };
            let place = links.entry((link.line, column)).or_insert((usize::MAX, link.clone()));
            // What is indexed says more than the name of a package.
            if (external, strength) < (place.1.external, place.0) {
                *place = (strength, link);
            }
        }
        let at = symbol.name_at();
        if symbol.is_file() || !is_shown(at.line) {
            continue;
        }
        if let Some((column, length)) = word_at(shortened(source.lines(at.line, at.line)), at.column) {
            found.definitions.push(Definition {
                line: at.line,
                column,
                length,
                id: workspace.id(number, symbol),
                kind: kinds::kind(symbol),
            });
        }
    }
    found.links = links.into_values().map(|(_, link)| link).collect();
    found
        .definitions
        .sort_by_key(|definition| (definition.line, definition.column));
    Ok(found)
}

/// The beginning of a line that is too long, whole characters.
fn shortened(line: &str) -> &str {
    if line.len() <= LONGEST_LINE {
        return line;
    }
    let end = (0..=LONGEST_LINE).rev().find(|at| line.is_char_boundary(*at));
    &line[..end.unwrap_or_default()]
}

/// The word that begins at a byte of a line, as a place and a length in UTF-16 units; `None` where no word begins.
fn word_at(line: &str, column: u32) -> Option<(u32, u32)> {
    let (before, rest) = line.split_at_checked(column as usize)?;
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '@' | '#');
    let word = &rest[..rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len())];
    let units = |text: &str| text.encode_utf16().count() as u32;
    (!word.is_empty()).then(|| (units(before), units(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_counted_as_browsers_count() {
        assert_eq!(word_at("let 𝒳 = call(1)", 11), Some((9, 4)));
        assert_eq!(word_at("a.b", 1), None);
        assert_eq!(word_at("a", 7), None);
        assert_eq!(word_at("é", 1), None, "inside of a character");
    }

    #[test]
    fn a_long_line_ends_between_characters() {
        let line = format!("{}é", "x".repeat(LONGEST_LINE - 1));
        assert_eq!(shortened(&line).len(), LONGEST_LINE - 1);
        assert_eq!(shortened("short"), "short");
    }
}
