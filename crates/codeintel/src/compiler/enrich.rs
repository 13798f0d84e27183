//! Asks a language server about many symbols in a row and keeps what it says, so that the graph's edges are the compiler's.
//!
//! Symbols with most users come first, what is known of the tree as it is is not asked again, and whoever started it may stop it
//! after any symbol: what was said until then is kept.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use index::model::{EdgeKind, Origin};
use index::snapshot::EdgeKinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::references::{by_compiler, by_graph, count};
use super::{Compiler, Compilers, Wait, absolute, place};
use crate::error::QuestionError;
use crate::kinds;
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Enrich {
    /// Only this language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Only paths that start with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Seconds at most (default 300).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

/// What came of it, one row per language.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Enriched {
    /// Seconds it took.
    pub seconds: f64,
    /// By language.
    pub languages: Vec<EnrichedLanguage>,
}

/// What came of it for one language.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct EnrichedLanguage {
    /// The language.
    pub language: String,
    /// Symbols that there are.
    pub symbols: u64,
    /// Symbols that the server had answered about before.
    pub known: u64,
    /// Symbols that the server answered about now.
    pub asked: u64,
    /// Mentions that the graph had and the server confirmed.
    pub confirmed: u64,
    /// Mentions that only the server has.
    pub added: u64,
    /// Mentions that only the graph had.
    pub refuted: u64,
    /// Implementers that the server named.
    pub implementers: u64,
    /// Why not all were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Asks about every function, method and type, those with most users first. `stop` is looked at before each.
pub fn enrich(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &Enrich,
    stop: &dyn Fn() -> bool,
) -> Result<Enriched, QuestionError> {
    let began = Instant::now();
    let deadline = began + Duration::from_secs(ask.seconds.unwrap_or(300).min(24 * 3600));
    let mut languages: BTreeMap<String, EnrichedLanguage> = BTreeMap::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let snapshot = &repository.snapshot;
        let confirmed = compilers.memory.confirmed(&repository.root);
        let mut symbols: Vec<(usize, SymbolKey)> = snapshot
            .symbols()
            .filter(|symbol| matches!(kinds::kind(*symbol), "function" | "method" | "type" | "interface"))
            .filter(|symbol| ask.path.as_deref().is_none_or(|start| symbol.path().starts_with(start)))
            .map(|symbol| {
                let key = SymbolKey {
                    repository: number,
                    symbol: symbol.id(),
                };
                (snapshot.incoming_count(symbol.id()), key)
            })
            .collect();
        symbols.sort_by_key(|(users, key)| (std::cmp::Reverse(*users), *key));
        for (_, key) in symbols {
            let Some((symbol, file)) = workspace.symbol(key).and_then(|symbol| Some((symbol, symbol.file()?))) else {
                continue;
            };
            let language = file.language();
            if ask.language.as_deref().is_some_and(|only| only != language) {
                continue;
            }
            let row = languages
                .entry(language.to_string())
                .or_insert_with(|| EnrichedLanguage {
                    language: language.to_string(),
                    ..EnrichedLanguage::default()
                });
            row.symbols += 1;
            let at = symbol.name_at();
            let place = lsp::Place {
                line: at.line,
                column: at.column,
            };
            if confirmed.knows(snapshot, (symbol.path(), place)) {
                row.known += 1;
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || workspace.is_stopped() || stop() {
                row.note.get_or_insert_with(|| "the time is over".to_string());
                continue;
            }
            // A language whose server does not work is not tried for each of its symbols.
            if row.asked == 0 && row.note.is_some() {
                continue;
            }
            let wait = match compilers.eager {
                true => Wait::Ready(left.min(Duration::from_secs(120))),
                false => Wait::Warm(left.min(Duration::from_secs(30))),
            };
            if let Err(why) = one(workspace, compilers, key, wait, row) {
                row.note.get_or_insert(why);
            }
        }
    }
    Ok(Enriched {
        seconds: began.elapsed().as_secs_f64(),
        languages: languages.into_values().collect(),
    })
}

/// How many edges between symbols there are of each origin, what compilers said included.
pub fn edges_by_origin(workspace: &Workspace) -> BTreeMap<&'static str, u64> {
    let mut edges = BTreeMap::new();
    let kinds = EdgeKinds::ALL.without(EdgeKind::Contains);
    for repository in workspace.repositories() {
        for symbol in repository.snapshot.symbols() {
            for edge in repository.edges(symbol.id(), crate::traverse::Direction::Outgoing, kinds) {
                if edge.to.symbol().is_some() {
                    *edges.entry(kinds::origin_name(edge.origin)).or_default() += 1;
                }
            }
        }
    }
    edges
}

fn one(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    key: SymbolKey,
    wait: Wait,
    row: &mut EnrichedLanguage,
) -> Result<(), String> {
    let Some(spot) = place::of_symbol(workspace, key) else {
        return Ok(());
    };
    let repository = &workspace.repositories()[key.repository];
    let compiler = compilers.for_file(repository, &spot.path, &spot.language, wait)?;
    if let Some(partial) = &compiler.partial {
        return Err(partial.clone());
    }
    let (said, _) = by_compiler(workspace, compilers, &compiler, &spot, false)?;
    let drawn = by_graph(workspace, key, false);
    row.asked += 1;
    let mut confirmed = 0;
    for ((path, _), places) in &drawn {
        let known = said.get(&(path.clone(), None));
        confirmed += places
            .iter()
            .filter(|place| known.is_some_and(|known| known.contains(place)))
            .count();
    }
    row.confirmed += confirmed as u64;
    row.added += count(&said).saturating_sub(confirmed) as u64;
    row.refuted += (count(&drawn) - confirmed) as u64;
    debug_assert!(
        drawn
            .keys()
            .all(|(_, origin)| origin.is_some_and(|origin| origin <= Origin::AstInferred))
    );
    if may_be_implemented(workspace, key) {
        row.implementers += implementers(workspace, compilers, &compiler, &spot)?;
    }
    Ok(())
}

/// Whether it is worth asking what implements a symbol: an interface, or something the graph sees extended or overridden.
fn may_be_implemented(workspace: &Workspace, key: SymbolKey) -> bool {
    let (Some(repository), Some(symbol)) = (workspace.repository(key.repository), workspace.symbol(key)) else {
        return false;
    };
    let kinds = EdgeKind::Implements | EdgeKind::Extends | EdgeKind::Overrides;
    kinds::kind(symbol) == "interface" || repository.snapshot.incoming(key.symbol, kinds).next().is_some()
}

fn implementers(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    compiler: &Compiler,
    spot: &place::Spot,
) -> Result<u64, String> {
    if !compiler.server.supports("textDocument/implementation") {
        return Ok(0);
    }
    let repository = &workspace.repositories()[spot.repository];
    let path = absolute(repository, &spot.path);
    let found = compiler.server.implementation(&path, spot.place, compiler.deadline);
    // A server may be able to in general and not for this; what it said of mentions stands.
    let Ok(found) = found else { return Ok(0) };
    let places = found
        .iter()
        .map(|location| (location.path.as_path(), location.range.start));
    compilers
        .memory
        .learn_implementers(repository, (&spot.path, spot.place), places);
    Ok(found.len() as u64)
}
