//! Uses that an edit leaves behind: what it no longer defines is still named in files that it does not touch.
//!
//! Compilers say so for most code. Where they do not (rust-analyzer resolves no paths by itself, some languages have no server
//! here), the graph knows who uses what is gone.

use std::collections::{BTreeMap, BTreeSet};

use codeintel::Repository;
use index::model::{EdgeKind, Origin};
use index::snapshot::EdgeKinds;
use lsp::Severity;
use lsp::edits::Found;

/// Uses that are named at most.
const MAX_USES: usize = 200;

/// Uses of what the changed texts no longer define, at lines where nothing was found yet. Texts by path; `None` is a deleted file.
pub(super) fn left_behind(
    repository: &Repository,
    changed: &BTreeMap<String, Option<String>>,
    found: &[Found],
) -> Vec<Found> {
    let mut defined: BTreeSet<String> = BTreeSet::new();
    for (path, text) in changed {
        let text = text.as_deref().unwrap_or_default();
        if let Some(language) = syntax::languages::detect(path, text.as_bytes()) {
            let facts = syntax::extract(language, text);
            defined.extend(
                facts
                    .definitions
                    .iter()
                    .map(|definition| facts.text(definition.name).to_string()),
            );
        }
    }
    let snapshot = &repository.snapshot;
    let told: BTreeSet<(&str, u32)> = found.iter().map(|found| (found.path.as_str(), found.line)).collect();
    let kinds = EdgeKinds::ALL.without(EdgeKind::Contains | EdgeKind::Tests);
    let mut uses: BTreeMap<(String, u32), (u32, String)> = BTreeMap::new();
    for file in changed.keys().filter_map(|path| snapshot.find_file(path)) {
        for symbol in file
            .symbols()
            .filter(|symbol| !symbol.is_file() && !defined.contains(symbol.name()))
        {
            for edge in snapshot.incoming(symbol.id(), kinds) {
                let Some(from) = snapshot.symbol(edge.from) else {
                    continue;
                };
                let is_sure = edge.origin <= Origin::AstResolved;
                if is_sure && !changed.contains_key(from.path()) && !told.contains(&(from.path(), edge.at.line)) {
                    uses.entry((from.path().to_string(), edge.at.line))
                        .or_insert_with(|| (edge.at.column + 1, symbol.name().to_string()));
                }
            }
        }
    }
    let finding = |((path, line), (column, name))| Found {
        path,
        line,
        column,
        severity: Severity::Warning as u8,
        code: "removed".to_string(),
        message: format!("`{name}` is used here, and the edit no longer defines it (by the graph)"),
    };
    uses.into_iter().take(MAX_USES).map(finding).collect()
}
