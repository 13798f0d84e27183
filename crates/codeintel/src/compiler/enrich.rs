//! Asks a language server about many symbols in a row and keeps what it says, so that the graph's edges are the compiler's.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use index::model::Origin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::references::{by_compiler, by_graph, count};
use super::{Compilers, Wait, place};
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
    /// Symbols that the server answered about.
    pub asked: u64,
    /// Mentions that the graph had and the server confirmed.
    pub confirmed: u64,
    /// Mentions that only the server has.
    pub added: u64,
    /// Mentions that only the graph had.
    pub refuted: u64,
    /// Why not all were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Asks about every function, method and type, those with most users first.
pub fn enrich(workspace: &Workspace, compilers: Compilers<'_>, ask: &Enrich) -> Result<Enriched, QuestionError> {
    let began = Instant::now();
    let deadline = began + Duration::from_secs(ask.seconds.unwrap_or(300).min(24 * 3600));
    let mut languages: BTreeMap<String, EnrichedLanguage> = BTreeMap::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let snapshot = &repository.snapshot;
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
            let Some(file) = workspace.symbol(key).and_then(|symbol| symbol.file()) else {
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
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || workspace.is_stopped() {
                row.note.get_or_insert_with(|| "the time is over".to_string());
                continue;
            }
            // A language whose server does not work is not tried for each of its symbols.
            if row.asked == 0 && row.note.is_some() {
                continue;
            }
            let wait = Wait::Ready(left.min(Duration::from_secs(120)));
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
    Ok(())
}
