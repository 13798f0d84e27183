//! What a rename would leave behind: places that the server itself lists as mentions, or that the graph is sure of, where the old
//! name stands and no edit changes it. A rename that is a part of one breaks the code, and looks like a whole one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use codeintel::{Repository, SymbolKey};
use index::model::{EdgeKind, Origin};
use index::snapshot::EdgeKinds;
use lsp::edits::OnDisk;
use lsp::{Place, Range, Server, Step};
use wire::protocol::Refusal;

use crate::tools::refusal;

/// Places that a refusal names.
const NAMED: usize = 20;

/// What is renamed, and who was asked.
pub(super) struct Renamed<'a> {
    pub(super) repository: &'a Repository,
    pub(super) symbol: Option<SymbolKey>,
    pub(super) server: &'a Server,
    pub(super) file: &'a Path,
    pub(super) place: Place,
}

impl Renamed<'_> {
    /// Mentions that these steps do not change, as `path:line`.
    pub(super) fn left_by(&self, steps: &[Step], deadline: Instant) -> Result<Vec<String>, Refusal> {
        let Some(name) = word_at(&self.read(self.file), self.place) else {
            return Ok(Vec::new());
        };
        let mut mentions: BTreeSet<(PathBuf, u32, u32)> = BTreeSet::new();
        // One that cannot list mentions may rename all the same; the graph is asked in any case.
        match self.server.references(self.file, self.place, true, deadline) {
            Ok(found) => mentions.extend(found.into_iter().map(|location| {
                let start = location.range.start;
                (location.path, start.line, start.column)
            })),
            Err(lsp::RequestError::Unsupported { .. }) => {}
            Err(error) => {
                let said = format!("{} cannot say who mentions it: {error}", self.server.name());
                return Err(refusal("lsp_failed", said));
            }
        }
        mentions.extend(self.by_graph());
        let edits = edits(steps);
        let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
        let mut left = BTreeSet::new();
        for (path, line, column) in mentions {
            let Ok(inside) = path.strip_prefix(&self.repository.root) else {
                continue;
            };
            let place = Place { line, column };
            let covers = |range: &Range| range.start <= place && (place < range.end || place == range.start);
            if edits
                .get(path.as_path())
                .is_some_and(|edits| edits.iter().copied().any(covers))
            {
                continue;
            }
            let text = texts.entry(path.clone()).or_insert_with(|| self.read(&path));
            // An alias, or what the index remembers of an older text, is no mention by this name.
            if word_at(text, place).as_deref() == Some(name.as_str()) {
                left.insert(format!("{}:{line}", inside.display()));
            }
        }
        Ok(left.into_iter().collect())
    }

    fn by_graph(&self) -> Vec<(PathBuf, u32, u32)> {
        let Some(key) = self.symbol else {
            return Vec::new();
        };
        let snapshot = &self.repository.snapshot;
        let relations = EdgeKind::Contains | EdgeKind::Overrides | EdgeKind::Tests | EdgeKind::Provides;
        let kinds = EdgeKinds::ALL.without(relations | EdgeKind::Consumes);
        let sure = snapshot
            .incoming(key.symbol, kinds)
            .filter(|edge| edge.origin <= Origin::AstResolved);
        sure.filter_map(|edge| {
            let from = snapshot.symbol(edge.from)?;
            Some((self.repository.root.join(from.path()), edge.at.line, edge.at.column))
        })
        .collect()
    }

    fn read(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.repository.root).ok().and_then(Path::to_str);
        let read = inside.and_then(|inside| OnDisk::read(&self.repository.root, inside).ok());
        read.map(|read| read.text).unwrap_or_default()
    }
}

/// Places for a person, as many as one reads.
pub(super) fn listed(left: &[String]) -> String {
    let named = left
        .iter()
        .take(NAMED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match left.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// What is edited, by the names that files have now.
fn edits(steps: &[Step]) -> BTreeMap<&Path, Vec<&Range>> {
    let mut former: BTreeMap<&Path, &Path> = BTreeMap::new();
    let mut edits: BTreeMap<&Path, Vec<&Range>> = BTreeMap::new();
    for step in steps {
        match step {
            Step::Rename { from, to } => {
                former.insert(to, from);
            }
            Step::Edit { path, edits: ranges } => {
                let path = former.get(path.as_path()).copied().unwrap_or(path);
                edits
                    .entry(path)
                    .or_default()
                    .extend(ranges.iter().map(|(range, _)| range));
            }
            Step::Create(_) | Step::Delete(_) => {}
        }
    }
    edits
}

/// The word that begins at a place.
fn word_at(text: &str, place: Place) -> Option<String> {
    let line = text.lines().nth((place.line as usize).checked_sub(1)?)?;
    let (before, rest) = line.split_at_checked(place.column as usize)?;
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    if before.ends_with(is_part) {
        return None;
    }
    let word: String = rest.chars().take_while(|character| is_part(*character)).collect();
    (!word.is_empty()).then_some(word)
}
