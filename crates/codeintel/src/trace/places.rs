//! The lines of calls and what guards them: files are read once a question, as far as they are those that were indexed, and each function
//! is parsed once for all its calls.

use std::collections::{BTreeMap, HashMap};

use index::model::FileId;
use syntax::facts::{Kind, Position};
use syntax::languages::by_name;
use syntax::{Surroundings, surroundings};

use super::hops::{Hop, Way};
use crate::descriptors::words;
use crate::source::Source;
use crate::workspace::{SymbolKey, Workspace};

/// Longest text of a line, in characters.
const LONGEST: usize = 90;
/// Longest definition that is parsed for its conditions, in bytes.
const LARGEST: u32 = 400_000;

/// What is known of a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// The line, trimmed and cut.
    pub(super) text: String,
    /// The name at the place itself.
    pub(super) word: String,
    /// Whether it is only compared with something.
    pub(super) is_compared: bool,
    pub(super) around: Surroundings,
}

/// The places of one question.
pub(super) struct Places<'w> {
    workspace: &'w Workspace,
    sources: HashMap<(usize, FileId), Option<Source>>,
    /// Where to look, by the definition that is parsed for it.
    wanted: BTreeMap<SymbolKey, Vec<Position>>,
    found: HashMap<(SymbolKey, Position), Place>,
}

impl<'w> Places<'w> {
    pub(super) fn new(workspace: &'w Workspace) -> Places<'w> {
        Places {
            workspace,
            sources: HashMap::new(),
            wanted: BTreeMap::new(),
            found: HashMap::new(),
        }
    }

    /// Notes that a place will be asked for.
    pub(super) fn want(&mut self, of: SymbolKey, at: Position) {
        if at.line > 0 {
            self.wanted.entry(of).or_default().push(at);
        }
    }

    /// Reads what is wanted.
    pub(super) fn read(&mut self) {
        for (key, mut places) in std::mem::take(&mut self.wanted) {
            places.sort_unstable();
            places.dedup();
            places.retain(|at| !self.found.contains_key(&(key, *at)));
            if !places.is_empty() {
                self.read_one(key, &places);
            }
        }
    }

    fn read_one(&mut self, key: SymbolKey, places: &[Position]) {
        let workspace = self.workspace;
        let Some(symbol) = workspace.symbol(key) else { return };
        let Some(file) = symbol.file() else { return };
        let source = self
            .sources
            .entry((key.repository, file.id()))
            .or_insert_with(|| Source::of(workspace, key.repository, symbol).ok());
        let Some(source) = source else { return };
        let span = symbol.span();
        let (text, start) = match symbol.is_file() {
            true => (source.bytes(0, u32::MAX), 0),
            false => (source.bytes(span.start, span.end), span.start),
        };
        let offsets: Vec<usize> = places
            .iter()
            .map(|at| (source.offset(*at) as usize).wrapping_sub(start as usize))
            .collect();
        let is_member = matches!(
            symbol.kind(),
            Kind::Method | Kind::Constructor | Kind::Property | Kind::Field
        ) || symbol.parent().is_some_and(|parent| words::is_type(parent.kind()));
        let around = match by_name(file.language()).filter(|_| text.len() <= LARGEST as usize) {
            Some(language) => surroundings(language, text, is_member, &offsets),
            None => vec![Surroundings::default(); places.len()],
        };
        for ((&at, around), offset) in places.iter().zip(around).zip(offsets) {
            let line = source.lines(at.line, at.line);
            let place = Place {
                text: cut(line.trim()),
                word: word_at(text, offset).to_owned(),
                is_compared: is_compared(text, offset),
                around,
            };
            self.found.insert((key, at), place);
        }
    }

    /// Whether a hop by a function's name is no hand-over, since the name is only compared with something. It must have been read.
    pub(super) fn is_compared(&self, hop: &Hop) -> bool {
        hop.way == Way::Hand && self.at(hop.from, hop.at).is_compared
    }

    /// What was read of a place.
    pub(super) fn at(&self, of: SymbolKey, at: Position) -> Place {
        self.found.get(&(of, at)).cloned().unwrap_or_default()
    }
}

/// Whether the name at a place stands beside `==` or `!=`.
fn is_compared(text: &str, offset: usize) -> bool {
    let name = word_at(text, offset);
    let is_sign = |sign: Option<&str>| sign.is_some_and(|sign| matches!(sign, "==" | "!="));
    let before = text.get(..offset).map_or("", |before| {
        before.trim_end_matches(|letter: char| letter == '&' || letter.is_whitespace())
    });
    let after = text
        .get(offset.saturating_add(name.len())..)
        .map_or("", str::trim_start);
    is_sign(before.get(before.len().saturating_sub(2)..)) || is_sign(after.get(..2))
}

fn word_at(text: &str, offset: usize) -> &str {
    let rest = text.get(offset..).unwrap_or("");
    let end = rest
        .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '$' | '?' | '!')))
        .unwrap_or(rest.len());
    &rest[..end]
}

fn cut(line: &str) -> String {
    let line = line.trim_end_matches(['{', ' ']);
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
