//! What the symbols of a pack are called now. An id that is gone and a new one that differs in a single name are the same symbol
//! where the text is the same but for that name: the hash that the pack carries tells, so nothing else need be remembered.
//!
//! One rename stands for all that is in it: the members of a type, the declarations of a file.

use std::collections::{BTreeMap, HashSet};

use index::snapshot::SymbolView;
use wire::answers::{ContextPack, PackSymbol, Renamed, renamed_id, with_word};

use super::fill::graph_kind;
use super::forms::Texts;
use crate::workspace::{SymbolKey, Workspace};

/// Renames that are told at most.
const MOST_RENAMES: usize = 16;
/// Symbols of one name or shape that are compared with one that is gone.
const MOST_COMPARED: usize = 64;

/// The names that changed since `base` was made, the outermost first.
pub fn renames(workspace: &Workspace, base: &ContextPack) -> Vec<Renamed> {
    let is_gone = |symbol: &&PackSymbol| workspace.find(&symbol.id).is_none();
    let mut gone: Vec<&PackSymbol> = base.symbols.iter().filter(is_gone).collect();
    if gone.is_empty() {
        return Vec::new();
    }
    gone.sort_by_key(|symbol| (symbol.id.len(), symbol.id.as_str()));
    let held: HashSet<&str> = base.symbols.iter().map(|symbol| symbol.id.as_str()).collect();
    let mut search = Search {
        workspace,
        texts: Texts::new(workspace),
        held,
    };
    let mut found: Vec<Renamed> = Vec::new();
    // Renames that a symbol would have, had its text changed too: what is inside of it may bear witness.
    let mut perhaps: BTreeMap<(String, String), (usize, Renamed)> = BTreeMap::new();
    for symbol in &gone {
        if found.len() >= MOST_RENAMES {
            break;
        }
        if workspace.find(&renamed_id(&symbol.id, &found)).is_some() {
            continue;
        }
        match search.of(symbol) {
            Match::Certain(row) => found.push(row),
            Match::Perhaps(rows) => {
                for row in rows {
                    let entry = perhaps.entry((row.from.clone(), row.to.clone())).or_insert((0, row));
                    entry.0 += 1;
                }
            }
        }
    }
    for (count, row) in perhaps.into_values() {
        let inside = gone.iter().filter(|symbol| row.of(&symbol.id).is_some()).count();
        let is_known = found.iter().any(|known| known.of(&row.from).is_some());
        if count * 2 > inside && !is_known && found.len() < MOST_RENAMES {
            found.push(row);
        }
    }
    found.sort_by(|a, b| b.from.len().cmp(&a.from.len()).then(a.from.cmp(&b.from)));
    found
}

enum Match {
    /// The same text but for the name.
    Certain(Renamed),
    /// The same name inside of something that is called otherwise.
    Perhaps(Vec<Renamed>),
}

struct Search<'a> {
    workspace: &'a Workspace,
    texts: Texts<'a>,
    held: HashSet<&'a str>,
}

impl Search<'_> {
    fn of(&mut self, symbol: &PackSymbol) -> Match {
        let Some((path, name)) = symbol.id.split_once("::") else {
            return Match::Perhaps(Vec::new());
        };
        match self.workspace.find_file(path) {
            Some(_) => self.in_file(symbol, path, name),
            None => self.elsewhere(symbol, path, name),
        }
    }

    /// In the same file, one part of the name being other.
    fn in_file(&mut self, symbol: &PackSymbol, path: &str, name: &str) -> Match {
        let Some((repository, file)) = self.workspace.find_file(path) else {
            return Match::Perhaps(Vec::new());
        };
        let parts: Vec<&str> = name.split('.').collect();
        let mut perhaps = Vec::new();
        let mut compared = 0;
        for other in file.symbols().skip(1) {
            if graph_kind(other) != symbol.kind || compared >= MOST_COMPARED {
                continue;
            }
            let id = self.workspace.id(repository, other);
            let Some((_, now)) = id.split_once("::") else { continue };
            let others: Vec<&str> = now.split('.').collect();
            let Some(at) = only_difference(&parts, &others).filter(|_| !self.held.contains(id.as_str())) else {
                continue;
            };
            compared += 1;
            let mut row = Renamed {
                from: format!("{path}::{}", parts[..=at].join(".")),
                to: format!("{path}::{}", others[..=at].join(".")),
            };
            // What something is in may be there still: then it alone went elsewhere.
            let is_inside = at + 1 < parts.len() && self.workspace.find(&row.from).is_none();
            if !is_inside {
                row = Renamed {
                    from: symbol.id.clone(),
                    to: id.clone(),
                };
            }
            let key = SymbolKey {
                repository,
                symbol: other.id(),
            };
            // A repeat is numbered in the id only.
            let word = |part: &str| part.split('~').next().unwrap_or(part).to_string();
            let (before, after) = (word(parts[at]), word(others[at]));
            let hash = self.texts.hash_as(key, |text| with_word(text, &after, &before));
            if is_hash_of(symbol, &hash) {
                return Match::Certain(row);
            }
            if is_inside {
                perhaps.push(row);
            }
        }
        Match::Perhaps(perhaps)
    }

    /// In another file that the pack did not know.
    fn elsewhere(&mut self, symbol: &PackSymbol, path: &str, name: &str) -> Match {
        let last = name.rsplit('.').next().unwrap_or(name);
        let last = last.split('~').next().unwrap_or(last);
        for (repository, held) in self.workspace.repositories().iter().enumerate() {
            let named: Vec<SymbolView<'_>> = held.snapshot.named(last).take(MOST_COMPARED).collect();
            for other in named {
                let id = self.workspace.id(repository, other);
                let to = self.workspace.path(repository, other.path());
                let same_name = id.strip_prefix(to.as_str()) == symbol.id.strip_prefix(path);
                if graph_kind(other) != symbol.kind || !same_name || self.held.contains(id.as_str()) {
                    continue;
                }
                let key = SymbolKey {
                    repository,
                    symbol: other.id(),
                };
                if is_hash_of(symbol, &self.texts.hash(key)) {
                    let from = path.to_string();
                    return Match::Certain(Renamed { from, to });
                }
            }
        }
        Match::Perhaps(Vec::new())
    }
}

fn is_hash_of(symbol: &PackSymbol, hash: &str) -> bool {
    !hash.is_empty() && symbol.provenance.rsplit('~').next() == Some(hash)
}

/// Where two names of as many parts differ, if that is in one part.
fn only_difference(one: &[&str], other: &[&str]) -> Option<usize> {
    if one.len() != other.len() {
        return None;
    }
    let mut differences = (0..one.len()).filter(|&at| one[at] != other[at]);
    let first = differences.next()?;
    differences.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_one_part_are_compared() {
        assert_eq!(only_difference(&["A", "b"], &["B", "b"]), Some(0));
        assert_eq!(only_difference(&["A", "b"], &["A", "c"]), Some(1));
        assert_eq!(only_difference(&["A", "b"], &["B", "c"]), None);
        assert_eq!(only_difference(&["A", "b"], &["A", "b"]), None);
        assert_eq!(only_difference(&["A"], &["A", "b"]), None);
    }
}
