//! `search_symbols`: symbols by name, best first.
//!
//! Each distinct name is judged once, however many symbols bear it: exactly, regardless of case, as a prefix, by its words
//! (`parse url` finds `parseRequestUrl`), as a part. Of several words the owners and the path may hold some (`admin save` finds
//! `ModelAdmin.save_model`): with its owner a name is judged like a name that holds them all, so that a test that is named after both
//! is not the only answer. Only where nothing fits are names a few edits away taken. What uses a symbol and what kind of thing it is
//! order equals.

use index::model::EdgeKind;
use index::search::FoldedNames;
pub(crate) use index::search::words;
use index::snapshot::{EdgeKinds, SymbolView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use syntax::facts::{Flags, Kind};
use wire::answers::{FoundSymbol, SearchSymbols};

use crate::descriptors::words::signature;
use crate::error::QuestionError;
use crate::kinds;
use crate::page::{self, Page};
use crate::traverse::is_test;
use crate::workspace::{Repository, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Name or words of it; `kind:`, `lang:` and `path:` filter.
    pub query: String,
    /// Only this kind: function, method, type, interface, variable, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Only paths that start with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Symbols per page (default 20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Most words of a query.
const MAX_WORDS: usize = 32;
/// Longest query.
const MAX_QUERY: usize = 512;

/// The symbols that match, best first.
pub fn search_symbols(workspace: &Workspace, ask: &Search) -> Result<SearchSymbols, QuestionError> {
    let filter = Filter::of(ask)?;
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 20)?;
    let mut hits: Vec<(u32, usize, SymbolView<'_>)> = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let snapshot = &repository.snapshot;
        let names = FoldedNames::of(snapshot);
        for name in names.containing(filter.rarest()) {
            if let Some(likeness) = filter.likeness(names.get(name), snapshot.name_text(name)) {
                take(&mut hits, likeness, number, repository, name, &filter);
            }
        }
    }
    if filter.words.len() > 1 {
        for (number, repository) in workspace.repositories().iter().enumerate() {
            take_by_owner(&mut hits, number, repository, &filter);
        }
    }
    if hits.is_empty() {
        for (number, repository) in workspace.repositories().iter().enumerate() {
            let near = FoldedNames::of(&repository.snapshot).near(&filter.text, filter.edits());
            for (edits, name) in near.into_iter().take(MOST_NEAR) {
                let likeness = if edits == 1 { NEARLY } else { NEARBY };
                take(&mut hits, likeness, number, repository, name, &filter);
            }
        }
    }
    if hits.is_empty() && filter.text.contains(' ') {
        return Err(QuestionError::Argument {
            name: "query",
            problem: format!(
                "no symbol's name, owner and path hold all the words of `{}`: `search_code` finds code by what it does",
                filter.text
            ),
        });
    }
    // Ties go by repository and place, so equal questions give equal answers.
    let order =
        |(rank, number, symbol): &(u32, usize, SymbolView<'_>)| (std::cmp::Reverse(*rank), *number, symbol.id());
    let total = hits.len();
    let end = page.offset.saturating_add(page.limit);
    let more = end < total;
    if more {
        // A common word has thousands of hits, and only those up to this page need an order.
        hits.select_nth_unstable_by_key(end, order);
        hits.truncate(end);
    }
    hits.sort_unstable_by_key(order);
    let results = page
        .take(hits)
        .into_iter()
        .map(|(_, number, symbol)| FoundSymbol {
            id: workspace.id(number, symbol),
            kind: kinds::kind(symbol).to_string(),
            name: symbol.name().to_string(),
            path: workspace.path(number, symbol.path()),
            line: u64::from(symbol.span().start_line),
            sig: Some(signature(symbol))
                .filter(|text| !text.is_empty())
                .map(str::to_string),
        })
        .collect();
    Ok(SearchSymbols {
        results,
        total: total as u64,
        truncated: more,
        next_cursor: more.then(|| page::cursor(workspace, end)),
        etag: None,
        incomplete: workspace.incomplete(),
    })
}

/// Likeness of a name that is one edit away, and of one that is more.
const NEARLY: u32 = 2;
const NEARBY: u32 = 1;
/// Likeness of an owner and a name that are exactly the words.
const OWNER_AND_NAME: u32 = 7;
/// Likeness of a name that holds all the words together with its owners; of one with which they begin; of one that needs the path, too.
const WITH_OWNER: u32 = 5;
const BEGUN_WITH_OWNER: u32 = 4;
const WITH_PATH: u32 = 1;
/// Most symbols whose owners are looked at.
const MOST_OWNED: usize = 30_000;
/// Most owners of a symbol that are looked at.
const MOST_OWNERS: usize = 16;
/// Most names that are taken where none fits.
const MOST_NEAR: usize = 50;

fn take<'a>(
    hits: &mut Vec<(u32, usize, SymbolView<'a>)>,
    likeness: u32,
    number: usize,
    repository: &'a Repository,
    name: usize,
    filter: &Filter,
) {
    let snapshot = &*repository.snapshot;
    let fitting = snapshot
        .symbols_of_name(name)
        .filter(|symbol| filter.accepts(*symbol, &repository.name));
    hits.extend(fitting.map(|symbol| (rank(likeness, symbol, snapshot), number, symbol)));
}

/// Takes the symbols whose names hold some of the words and whose owners or path hold the others.
fn take_by_owner<'a>(
    hits: &mut Vec<(u32, usize, SymbolView<'a>)>,
    number: usize,
    repository: &'a Repository,
    filter: &Filter,
) {
    let snapshot = &*repository.snapshot;
    let names = FoldedNames::of(snapshot);
    let mut left = MOST_OWNED;
    for (at, word) in filter.words.iter().enumerate() {
        for name in names.containing(word) {
            // Found by an earlier word already, or by its name alone.
            let folded = names.get(name);
            let is_known = filter.words[..at]
                .iter()
                .any(|earlier| folded.contains(earlier.as_str()))
                || filter.likeness(folded, snapshot.name_text(name)).is_some();
            if is_known {
                continue;
            }
            for symbol in snapshot.symbols_of_name(name).take(left) {
                left -= 1;
                if !filter.accepts(symbol, &repository.name) {
                    continue;
                }
                if let Some(likeness) = filter.likeness_with_owner(symbol) {
                    hits.push((rank(likeness, symbol, snapshot), number, symbol));
                }
            }
        }
    }
}

/// Name likeness first, then how much the symbol is used and what it is.
fn rank(likeness: u32, symbol: SymbolView<'_>, snapshot: &index::snapshot::Snapshot) -> u32 {
    let uses = snapshot.incoming_count(symbol.id()) as u32;
    let used = (u32::BITS - uses.leading_zeros()).min(12) * 4;
    let sort = match symbol.kind() {
        Kind::Class | Kind::Struct | Kind::Interface | Kind::Trait | Kind::Enum => 40,
        Kind::Function | Kind::Method | Kind::Macro | Kind::TypeAlias => 30,
        Kind::Constant | Kind::Variable | Kind::Module => 20,
        _ => 0,
    };
    let declared = if symbol.flags().contains(Flags::DECLARATION) {
        0
    } else {
        10
    };
    let production = if is_test(symbol) { 0 } else { 60 };
    likeness * 1000 + used + sort + declared + production
}

struct Filter {
    text: String,
    folded: String,
    words: Vec<String>,
    kinds: Option<&'static [Kind]>,
    language: Option<String>,
    path: Option<String>,
}

impl Filter {
    fn of(ask: &Search) -> Result<Filter, QuestionError> {
        let mut filter = Filter {
            text: String::new(),
            folded: String::new(),
            words: Vec::new(),
            kinds: None,
            language: None,
            path: ask.path.clone(),
        };
        let mut kind = ask.kind.clone();
        let mut rest: Vec<&str> = Vec::new();
        for part in ask.query.split_whitespace() {
            match part.split_once(':') {
                Some(("kind", value)) => kind = Some(value.to_string()),
                Some(("lang" | "language", value)) => filter.language = Some(value.to_string()),
                Some(("path", value)) => filter.path = Some(value.to_string()),
                _ => rest.push(part),
            }
        }
        filter.text = rest.join(" ");
        if filter.text.is_empty() || ask.query.len() > MAX_QUERY {
            return Err(QuestionError::Argument {
                name: "query",
                problem: match filter.text.as_str() {
                    "" => "is empty: give a name or words of one".to_string(),
                    _ => format!("{} bytes are too many for a name: at most {MAX_QUERY}", ask.query.len()),
                },
            });
        }
        if let Some(kind) = kind {
            filter.kinds = Some(kinds::kinds_of(&kind).ok_or_else(|| QuestionError::Argument {
                name: "kind",
                problem: format!("no kind `{kind}`: expected function, method, type, interface, class, field, variable, constant, module or macro"),
            })?);
        }
        filter.folded = filter.text.to_lowercase();
        filter.words = words(&filter.text);
        filter.words.truncate(MAX_WORDS);
        Ok(filter)
    }

    /// What every fitting name contains, and as few others as possible.
    fn rarest(&self) -> &str {
        let longest = self.words.iter().max_by_key(|word| word.len());
        longest.unwrap_or(&self.folded)
    }

    /// How many edits away a name may be.
    fn edits(&self) -> u32 {
        (self.text.chars().count() as u32 / 4).min(3)
    }

    /// How alike a name is, 3 to 9; `None` when it does not match. Most names that come through here fit, so nothing is
    /// allocated.
    fn likeness(&self, folded: &str, name: &str) -> Option<u32> {
        if name == self.text {
            return Some(9);
        }
        if folded == self.folded {
            return Some(8);
        }
        if folded.starts_with(&self.folded) {
            return Some(6);
        }
        let (mut whole, mut begun, mut count, mut in_order) = (0u64, 0u64, 0usize, true);
        index::search::for_each_word(name, &mut String::new(), |word| {
            in_order &= self.words.get(count).is_some_and(|asked| asked == word);
            count += 1;
            for (at, asked) in self.words.iter().enumerate() {
                whole |= u64::from(asked == word) << at;
                begun |= u64::from(word.starts_with(asked.as_str())) << at;
            }
        });
        let all = (1u64 << self.words.len()) - 1;
        match () {
            () if self.words.is_empty() => folded.contains(&self.folded).then_some(3),
            () if in_order && count == self.words.len() => Some(7),
            () if whole == all => Some(5),
            () if begun == all => Some(4),
            () => folded.contains(&self.folded).then_some(3),
        }
    }

    /// How alike a symbol is with all that it is in; `None` where a word is missing, or nothing but the path holds any.
    fn likeness_with_owner(&self, symbol: SymbolView<'_>) -> Option<u32> {
        let mut buffer = String::new();
        // The words that a text holds as they are, those that its words begin with, and whether it goes on with the words in order.
        let mut next = 0;
        let mut held_by = |text: &str, whole: &mut u64, begun: &mut u64, next: &mut usize| {
            index::search::for_each_word(text, &mut buffer, |word| {
                *next = match self.words.get(*next) {
                    Some(asked) if asked == word => *next + 1,
                    _ => usize::MAX,
                };
                for (at, asked) in self.words.iter().enumerate() {
                    *whole |= u64::from(asked == word) << at;
                    *begun |= u64::from(word.starts_with(asked.as_str())) << at;
                }
            });
        };
        let (mut whole, mut begun, mut ignored) = (0, 0, 0);
        held_by(symbol.name(), &mut whole, &mut begun, &mut ignored);
        if begun == 0 {
            return None;
        }
        let owners = std::iter::successors(symbol.parent(), |owner| owner.parent());
        let owners = owners.take(MOST_OWNERS).filter(|owner| !owner.is_file());
        for (at, owner) in owners
            .map(|owner| owner.name())
            .chain([symbol.named_owner()])
            .enumerate()
        {
            let next = if at == 0 { &mut next } else { &mut ignored };
            held_by(owner, &mut whole, &mut begun, next);
        }
        held_by(symbol.name(), &mut whole, &mut begun, &mut next);
        let all = (1u64 << self.words.len()) - 1;
        if next == self.words.len() {
            return Some(OWNER_AND_NAME);
        }
        if whole == all {
            return Some(WITH_OWNER);
        }
        if begun == all {
            return Some(BEGUN_WITH_OWNER);
        }
        held_by(symbol.path(), &mut whole, &mut begun, &mut ignored);
        (begun == all).then_some(WITH_PATH)
    }

    fn accepts(&self, symbol: SymbolView<'_>, repository: &str) -> bool {
        self.kinds.is_none_or(|kinds| kinds.contains(&symbol.kind()))
            && self.path.as_deref().is_none_or(|path| {
                let bare = path
                    .strip_prefix(repository)
                    .and_then(|rest| rest.strip_prefix('/'))
                    .unwrap_or(path);
                symbol.path().starts_with(bare)
            })
            && self
                .language
                .as_deref()
                .is_none_or(|language| symbol.file().is_some_and(|file| file.language() == language))
    }
}

/// Uses of a symbol that count as evidence of its importance.
pub(crate) fn usage_kinds() -> EdgeKinds {
    EdgeKinds::ALL.without(EdgeKind::Contains)
}
