//! The source of a symbol in three sizes: its signature, its skeleton (what it declares, without bodies), its whole body.
//! Also the hash by which a pack tells that a symbol changed.

use std::collections::{BTreeMap, HashMap};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use index::model::FileId;
use index::snapshot::SymbolView;
use syntax::facts::Kind;

use crate::source::Source;
use crate::workspace::{SymbolKey, Workspace};

/// How much of a symbol is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Form {
    Signature,
    Skeleton,
    Body,
}

impl Form {
    pub(crate) const ALL: [Form; 3] = [Form::Signature, Form::Skeleton, Form::Body];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Signature => "signature",
            Form::Skeleton => "skeleton",
            Form::Body => "body",
        }
    }
}

/// Longest body that is ever shown, in lines; more is better asked for by itself.
const MOST_LINES: u32 = 400;
/// Most members of a skeleton.
const MOST_MEMBERS: usize = 60;

/// Fewer files are read one after the other.
const FEW_FILES: usize = 8;
/// Threads that read at most.
const MOST_THREADS: usize = 4;

/// Sources that were read for one question, each once. A file that changed since it was indexed has none.
pub(crate) struct Texts<'a> {
    workspace: &'a Workspace,
    files: HashMap<(usize, FileId), Option<Source>>,
}

impl<'a> Texts<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Texts<'a> {
        Texts {
            workspace,
            files: HashMap::new(),
        }
    }

    /// Reads the files of these symbols, several at a time.
    pub(crate) fn read_ahead(&mut self, keys: impl Iterator<Item = SymbolKey>) {
        let workspace = self.workspace;
        let symbols = keys.filter_map(|key| Some((key.repository, workspace.symbol(key)?)));
        let wanted: BTreeMap<(usize, FileId), SymbolView<'_>> = symbols
            .filter(|(_, symbol)| !symbol.is_file())
            .map(|(repository, symbol)| ((repository, symbol.file_id()), symbol))
            .filter(|(place, _)| !self.files.contains_key(place))
            .collect();
        let threads = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(MOST_THREADS);
        if threads < 2 || wanted.len() < FEW_FILES {
            return;
        }
        let wanted: Vec<_> = wanted.into_iter().collect();
        let read = |part: &[((usize, FileId), SymbolView<'_>)]| -> Vec<_> {
            let source = |(place, symbol): &((usize, FileId), SymbolView<'_>)| {
                (*place, Source::of(workspace, place.0, *symbol).ok())
            };
            part.iter().map(source).collect()
        };
        let parts = wanted.chunks(wanted.len().div_ceil(threads));
        std::thread::scope(|scope| {
            let started: Vec<_> = parts.map(|part| scope.spawn(move || read(part))).collect();
            for part in started {
                self.files.extend(part.join().unwrap_or_default());
            }
        });
    }

    fn source(&mut self, repository: usize, symbol: SymbolView<'_>) -> Option<&Source> {
        let read = || Source::of(self.workspace, repository, symbol).ok();
        self.files
            .entry((repository, symbol.file_id()))
            .or_insert_with(read)
            .as_ref()
    }

    /// The text of a symbol in a form; `None` where that form would add nothing to the smaller ones.
    pub(crate) fn text(&mut self, key: SymbolKey, form: Form) -> Option<String> {
        let symbol = self.workspace.symbol(key)?;
        match form {
            Form::Signature => Some(symbol.signature())
                .filter(|text| !text.is_empty() && !symbol.is_file())
                .map(str::to_string),
            Form::Skeleton if is_container(symbol) => skeleton(symbol, |member| Some(member.span().start_line)),
            Form::Skeleton => documented(self.source(key.repository, symbol)?, symbol),
            Form::Body => {
                let span = symbol.span();
                let lines = span.end_line.saturating_sub(span.start_line) + 1;
                if symbol.is_file() || lines > MOST_LINES {
                    return None;
                }
                let text = self
                    .source(key.repository, symbol)?
                    .lines(span.start_line, span.end_line);
                Some(text)
                    .filter(|text| text.trim() != symbol.signature())
                    .map(str::to_string)
            }
        }
    }

    /// Four letters that change when the symbol does: with its text, less the bodies of what it contains, which have letters of
    /// their own. Of a file only what it declares counts.
    pub(crate) fn hash(&mut self, key: SymbolKey) -> String {
        self.hash_as(key, str::to_string)
    }

    /// The letters that it would have if its text were read `as_if`.
    pub(crate) fn hash_as(&mut self, key: SymbolKey, as_if: impl Fn(&str) -> String) -> String {
        let Some(symbol) = self.workspace.symbol(key) else {
            return String::new();
        };
        let mut hasher = blake3::Hasher::new();
        let text = match symbol.is_file() {
            true => None,
            false => self
                .source(key.repository, symbol)
                .map(|source| own_text(source, symbol)),
        };
        // Where members stand is not what they are.
        let members = match is_container(symbol) {
            true => skeleton(symbol, |_| None),
            false => None,
        };
        if text.is_none() && members.is_none() {
            // Gone or changed since: what was indexed is what the pack is about.
            hasher.update(symbol.file().map_or(&[], |file| file.hash().as_slice()));
        }
        for part in [text, members].into_iter().flatten() {
            hasher.update(as_if(&part).as_bytes());
            hasher.update(&[0]);
        }
        // Letters cost fewer tokens than as many bits in digits.
        URL_SAFE_NO_PAD.encode(&hasher.finalize().as_bytes()[..3])
    }
}

/// The lines of a symbol without those of its members.
fn own_text(source: &Source, symbol: SymbolView<'_>) -> String {
    let span = symbol.span();
    if !is_container(symbol) {
        return source.lines(span.start_line, span.end_line).to_string();
    }
    let mut text = String::new();
    let mut next = span.start_line;
    let members = symbol.file().into_iter().flat_map(|file| file.symbols().skip(1));
    for member in members.filter(|member| member.parent().is_some_and(|parent| parent.id() == symbol.id())) {
        let inner = member.span();
        if inner.start_line > next {
            text.push_str(source.lines(next, inner.start_line - 1));
        }
        next = next.max(inner.end_line + 1);
    }
    if next <= span.end_line {
        text.push_str(source.lines(next, span.end_line));
    }
    text
}

/// Whether it is made of other symbols that can be shown by themselves.
pub(crate) fn is_container(symbol: SymbolView<'_>) -> bool {
    symbol.is_file()
        || matches!(
            symbol.kind(),
            Kind::Class | Kind::Struct | Kind::Interface | Kind::Trait | Kind::Module | Kind::Extension
        )
}

/// The signatures of what it contains, one line each, after the number that `line` gives.
fn skeleton(symbol: SymbolView<'_>, line: impl Fn(SymbolView<'_>) -> Option<u32>) -> Option<String> {
    let file = symbol.file()?;
    let mut lines: Vec<String> = Vec::new();
    if !symbol.is_file() && !symbol.signature().is_empty() {
        lines.push(symbol.signature().to_string());
    }
    let range = symbol.span();
    let mut members = 0usize;
    for member in file.symbols().skip(1) {
        let span = member.span();
        if member.id() == symbol.id() || member.signature().is_empty() {
            continue;
        }
        if !symbol.is_file() && (span.start < range.start || span.end > range.end) {
            continue;
        }
        if member.parent().is_none_or(|parent| parent.id() != symbol.id()) {
            continue;
        }
        members += 1;
        if members <= MOST_MEMBERS {
            lines.push(match line(member) {
                Some(line) => format!("{line}:{}", member.signature()),
                None => member.signature().to_string(),
            });
        }
    }
    if members > MOST_MEMBERS {
        lines.push(format!("… {} more", members - MOST_MEMBERS));
    }
    (members > 0).then(|| lines.join("\n"))
}

/// The signature with the documentation that goes with it.
fn documented(source: &Source, symbol: SymbolView<'_>) -> Option<String> {
    let span = symbol.doc_span()?;
    let text = source.bytes(span.start, span.end).trim();
    let lines = text.lines().count();
    // The first sentence would have done; a treatise costs more than the body.
    if text.is_empty() || lines > 30 {
        return None;
    }
    Some(format!("{}\n{text}", symbol.signature()))
}
