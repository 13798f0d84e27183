//! `search_symbols`: symbols by name, best first.
//!
//! Each distinct name is judged once, however many symbols bear it: exactly, regardless of case, as a prefix, by its words
//! (`parse url` finds `parseRequestUrl`), as a part. What uses a symbol and what kind of thing it is order equals.

use index::model::EdgeKind;
use index::snapshot::{EdgeKinds, SymbolView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use syntax::facts::{Flags, Kind};
use wire::answers::{FoundSymbol, SearchSymbols};

use crate::error::QuestionError;
use crate::kinds;
use crate::page::{self, Page};
use crate::traverse::is_test;
use crate::workspace::Workspace;

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

/// Longest query.
const MAX_QUERY: usize = 512;

/// The symbols that match, best first.
pub fn search_symbols(workspace: &Workspace, ask: &Search) -> Result<SearchSymbols, QuestionError> {
    let filter = Filter::of(ask)?;
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 20)?;
    let mut hits: Vec<(u32, usize, SymbolView<'_>)> = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let snapshot = &repository.snapshot;
        for (name, _) in snapshot.names().take_while(|_| !workspace.is_stopped()) {
            let Some(likeness) = filter.likeness(name) else {
                continue;
            };
            let fitting = snapshot
                .named(name)
                .filter(|symbol| filter.accepts(*symbol, &repository.name));
            hits.extend(fitting.map(|symbol| (rank(likeness, symbol, snapshot), number, symbol)));
        }
    }
    // Ties go by repository and place, so equal questions give equal answers.
    hits.sort_unstable_by_key(|(rank, number, symbol)| (std::cmp::Reverse(*rank), *number, symbol.id()));
    let total = hits.len();
    let end = page.offset.saturating_add(page.limit);
    let more = end < total;
    let results = page
        .take(hits)
        .into_iter()
        .map(|(_, number, symbol)| FoundSymbol {
            id: workspace.id(number, symbol),
            kind: kinds::kind(symbol).to_string(),
            name: symbol.name().to_string(),
            path: workspace.path(number, symbol.path()),
            line: u64::from(symbol.span().start_line),
            sig: (!symbol.signature().is_empty()).then(|| symbol.signature().to_string()),
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
                problem: format!("expected a name or words of one, at most {MAX_QUERY} bytes"),
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
        Ok(filter)
    }

    /// How alike a name is, 1 to 9; `None` when it does not match.
    fn likeness(&self, name: &str) -> Option<u32> {
        if name == self.text {
            return Some(9);
        }
        if name.len() == self.text.len() && name.eq_ignore_ascii_case(&self.text) {
            return Some(8);
        }
        let prefix = name
            .get(..self.text.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(&self.text));
        if prefix {
            return Some(6);
        }
        // Cheap test first: every name of the tree comes through here.
        if self.words.len() == 1 && !contains_folded(name, &self.words[0]) {
            return None;
        }
        let have = words(name);
        let all =
            |fits: fn(&str, &str) -> bool| self.words.iter().all(|word| have.iter().any(|other| fits(other, word)));
        if have == self.words {
            Some(7)
        } else if all(|other, word| other == word) {
            Some(5)
        } else if all(|other, word| other.starts_with(word)) {
            Some(4)
        } else if contains_folded(name, &self.folded) {
            Some(3)
        } else {
            None
        }
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

fn contains_folded(name: &str, part: &str) -> bool {
    name.len() >= part.len()
        && name
            .as_bytes()
            .windows(part.len())
            .any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

/// The words of an identifier or a phrase, in lower case: `parseHTTPRequest_v2` is parse, http, request, v, 2.
pub(crate) fn words(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut found: Vec<String> = Vec::new();
    let mut open = false;
    for (at, &c) in characters.iter().enumerate() {
        if !c.is_alphanumeric() {
            open = false;
            continue;
        }
        let before = at.checked_sub(1).map(|before| characters[before]);
        let after = characters.get(at + 1);
        let starts = match before {
            Some(before) if before.is_alphanumeric() => {
                before.is_numeric() != c.is_numeric()
                    || (c.is_uppercase() && (before.is_lowercase() || after.is_some_and(|after| after.is_lowercase())))
            }
            _ => true,
        };
        if starts || !open {
            found.push(String::new());
        }
        open = true;
        if let Some(word) = found.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    found
}

/// Uses of a symbol that count as evidence of its importance.
pub(crate) fn usage_kinds() -> EdgeKinds {
    EdgeKinds::ALL.without(EdgeKind::Contains)
}
