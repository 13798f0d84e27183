//! The edges of a symbol as the graph has them and compilers know better: confirmed, added, or gone where a compiler listed every
//! mention and this is none.

use std::collections::BTreeSet;

use index::model::{EdgeKind, Origin};
use index::snapshot::{EdgeEnd, EdgeView, FileView, Snapshot, SymbolId};
use syntax::facts::Position;

use super::answers::{Answer, Spot, State, definition_at, short, spot_of, tree};

/// Trust in what a compiler names as one of several receivers, in hundredths.
const DISPATCH: u8 = 90;

impl State {
    pub(super) fn incoming(&self, snapshot: &Snapshot, symbol: SymbolId, edges: Vec<EdgeView>) -> Vec<EdgeView> {
        let Some(target) = snapshot.symbol(symbol) else {
            return edges;
        };
        let spot = spot_of(target);
        let answer = self.answer(snapshot, &spot);
        let mut kept = Vec::with_capacity(edges.len());
        let mut seen: BTreeSet<(String, u32, u32)> = BTreeSet::new();
        for edge in edges {
            if let Some(from) = snapshot.symbol(edge.from) {
                seen.insert((from.path().to_string(), edge.at.line, edge.at.column));
            }
            kept.extend(self.judged(snapshot, edge, &spot, answer));
        }
        let files = answer.and_then(|answer| answer.mentions.as_ref()).into_iter().flatten();
        for (path, in_file) in files {
            let Some(file) = snapshot.find_file(path).filter(|file| short(*file) == in_file.hash) else {
                continue;
            };
            for &(line, column, called) in &in_file.at {
                if seen.contains(&(path.clone(), line, column)) {
                    continue;
                }
                kept.extend(added(snapshot, file, symbol, (line, column, called)));
            }
        }
        for (implementer, hash) in answer.iter().flat_map(|answer| answer.implementers.iter().flatten()) {
            let same = snapshot
                .find_file(&implementer.path)
                .is_some_and(|file| short(file) == *hash);
            if let Some(from) = definition_at(snapshot, implementer).filter(|_| same) {
                relate(snapshot, &mut kept, from, symbol);
            }
        }
        kept
    }

    pub(super) fn outgoing(&self, snapshot: &Snapshot, symbol: SymbolId, edges: Vec<EdgeView>) -> Vec<EdgeView> {
        let Some(source) = snapshot.symbol(symbol) else {
            return edges;
        };
        let Some(file) = source.file() else { return edges };
        let mut kept = Vec::with_capacity(edges.len());
        for edge in edges {
            let target = edge.to.symbol().and_then(|target| snapshot.symbol(target));
            match target.map(spot_of) {
                Some(spot) => kept.extend(self.judged(snapshot, edge, &spot, self.answer(snapshot, &spot))),
                None => kept.push(edge),
            }
        }
        for base in self.implemented_by.get(&spot_of(source)).into_iter().flatten() {
            let Some(answer) = self.answer(snapshot, base) else {
                continue;
            };
            let implementers = answer.implementers.iter().flatten();
            let named = implementers
                .into_iter()
                .any(|(spot, hash)| *spot == spot_of(source) && *hash == short(file));
            if let Some(target) = definition_at(snapshot, base).filter(|_| named) {
                relate(snapshot, &mut kept, symbol, target);
            }
        }
        // What compilers say this file mentions, where the graph has something else or nothing.
        for spot in self.mentioned_by.get(file.path()).into_iter().flatten() {
            let Some(answer) = self.answer(snapshot, spot) else {
                continue;
            };
            let in_file = answer.mentions.as_ref().and_then(|files| files.get(file.path()));
            let Some(in_file) = in_file.filter(|in_file| in_file.hash == short(file)) else {
                continue;
            };
            let Some(target) = definition_at(snapshot, spot) else {
                continue;
            };
            for &(line, column, called) in &in_file.at {
                let at = Position { line, column };
                let known = kept
                    .iter()
                    .any(|edge| edge.at == at && edge.to == EdgeEnd::Symbol(target));
                if known || snapshot.symbol_at(file.id(), line).map(|around| around.id()) != Some(symbol) {
                    continue;
                }
                kept.retain(|edge| edge.at != at || !is_use(edge.kind) || edge.origin <= Origin::LspDispatch);
                kept.extend(added(snapshot, file, target, (line, column, called)));
            }
        }
        kept
    }

    /// An edge to a definition: confirmed, left as it is, or gone where the compiler listed every mention and this is none.
    fn judged(&self, snapshot: &Snapshot, edge: EdgeView, spot: &Spot, answer: Option<&Answer>) -> Option<EdgeView> {
        let source = snapshot.symbol(edge.from)?;
        let file = source.file()?;
        if let Some(answer) = answer {
            let implementers = answer.implementers.iter().flatten();
            let names_it = |(implementer, hash): &(Spot, u64)| *implementer == spot_of(source) && *hash == short(file);
            let is_relation = matches!(
                edge.kind,
                EdgeKind::Overrides | EdgeKind::Implements | EdgeKind::Extends
            );
            if answer.says(file, edge.at) || is_relation && implementers.into_iter().any(names_it) {
                return Some(EdgeView {
                    origin: Origin::LspResolved,
                    confidence: 100,
                    ..edge
                });
            }
        }
        // A call through a base or an interface mentions that one; the compiler named this one as a receiver.
        for base in self.implemented_by.get(spot).into_iter().flatten() {
            if self
                .answer(snapshot, base)
                .is_some_and(|answer| answer.says(file, edge.at))
            {
                return Some(EdgeView {
                    origin: edge.origin.min(Origin::LspDispatch),
                    confidence: edge.confidence.max(DISPATCH),
                    ..edge
                });
            }
        }
        let listed = answer.is_some_and(|answer| answer.mentions.is_some() && answer.tree == tree(snapshot));
        let may_dispatch = edge.to.symbol().is_some_and(|target| {
            snapshot
                .outgoing(target, EdgeKind::Overrides | EdgeKind::Implements)
                .next()
                .is_some()
        });
        // Of a file in which no server ever mentioned anything, it may know nothing at all.
        let is_read = self.mentioned_by.contains_key(file.path());
        let refuted = listed && is_read && is_use(edge.kind) && edge.origin > Origin::LspDispatch && !may_dispatch;
        (!refuted).then_some(edge)
    }
}

fn added(
    snapshot: &Snapshot,
    file: FileView<'_>,
    target: SymbolId,
    (line, column, called): (u32, u32, bool),
) -> Option<EdgeView> {
    let from = snapshot.symbol_at(file.id(), line)?;
    Some(EdgeView {
        from: from.id(),
        to: EdgeEnd::Symbol(target),
        kind: if called { EdgeKind::Calls } else { EdgeKind::References },
        origin: Origin::LspResolved,
        confidence: 100,
        at: Position { line, column },
    })
}

/// Adds that one definition implements another, unless the graph has it.
fn relate(snapshot: &Snapshot, edges: &mut Vec<EdgeView>, from: SymbolId, to: SymbolId) {
    let known = |edge: &EdgeView| {
        let relates = matches!(
            edge.kind,
            EdgeKind::Overrides | EdgeKind::Implements | EdgeKind::Extends
        );
        relates && edge.from == from && edge.to == EdgeEnd::Symbol(to)
    };
    if from == to || edges.iter().any(known) {
        return;
    }
    let (Some(source), Some(target)) = (snapshot.symbol(from), snapshot.symbol(to)) else {
        return;
    };
    let kind = match (crate::kinds::kind(source), crate::kinds::kind(target)) {
        ("method" | "function", _) => EdgeKind::Overrides,
        (_, "interface") => EdgeKind::Implements,
        _ => EdgeKind::Extends,
    };
    edges.push(EdgeView {
        from,
        to: EdgeEnd::Symbol(to),
        kind,
        origin: Origin::LspResolved,
        confidence: 100,
        at: source.name_at(),
    });
}

/// The kinds of edges that are mentions.
fn is_use(kind: EdgeKind) -> bool {
    matches!(
        kind,
        EdgeKind::Calls | EdgeKind::Instantiates | EdgeKind::References | EdgeKind::Reads | EdgeKind::Writes
    )
}
