//! Symbols that nothing mentions.
//!
//! Silence is weak evidence, so whatever can be reached without a visible mention is left out: entry points, tests, what a
//! decorator hands to a framework, what dispatch reaches through a base, and, unless asked for, what is exported.

use index::model::EdgeKind;
use index::snapshot::{Snapshot, SymbolView};
use syntax::facts::{Flags, Kind, Visibility};
use wire::answers::{DeadCode, DeadSymbol};

use super::{Analyze, is_asked};
use crate::kinds;
use crate::page::{self, Page};
use crate::search_symbols::usage_kinds;
use crate::traverse::is_test;
use crate::workspace::Workspace;

pub(super) fn dead_code(workspace: &Workspace, ask: &Analyze, page: Page) -> DeadCode {
    let mut found: Vec<DeadSymbol> = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        for symbol in repository.snapshot.symbols().take_while(|_| !workspace.is_stopped()) {
            if !is_asked(ask, workspace, number, symbol.path()) {
                continue;
            }
            let Some(reason) = why_dead(&repository.snapshot, symbol, ask.include_exported) else {
                continue;
            };
            found.push(DeadSymbol {
                id: workspace.id(number, symbol),
                kind: kinds::kind(symbol).to_string(),
                name: symbol.name().to_string(),
                path: workspace.path(number, symbol.path()),
                line: u64::from(symbol.span().start_line),
                reason: reason.to_string(),
            });
        }
    }
    let total = found.len();
    let end = page.offset.saturating_add(page.limit);
    let more = end < total;
    DeadCode {
        symbols: page.take(found),
        total: total as u64,
        truncated: more,
        next_cursor: more.then(|| page::cursor(workspace, end)),
        etag: None,
        incomplete: workspace.incomplete(),
    }
}

/// Why a symbol counts as dead; `None` when it does not.
fn why_dead(snapshot: &Snapshot, symbol: SymbolView<'_>, include_exported: bool) -> Option<&'static str> {
    let judged = matches!(
        symbol.kind(),
        Kind::Function
            | Kind::Method
            | Kind::Class
            | Kind::Struct
            | Kind::Interface
            | Kind::Trait
            | Kind::Enum
            | Kind::Constant
            | Kind::Macro
    );
    if symbol.is_file() || !judged || is_test(symbol) {
        return None;
    }
    let flags = symbol.flags();
    if [Flags::ENTRY_POINT, Flags::DECLARATION, Flags::ABSTRACT, Flags::OVERRIDE]
        .into_iter()
        .any(|flag| flags.contains(flag))
    {
        return None;
    }
    let name = symbol.name();
    if name == "main" || name == "init" || name == "_" || (name.starts_with("__") && name.ends_with("__")) {
        return None;
    }
    // A recursive call does not keep a function alive.
    let mentioned = snapshot
        .incoming(symbol.id(), usage_kinds())
        .any(|edge| edge.from != symbol.id());
    if mentioned {
        return None;
    }
    let reachable = EdgeKind::Overrides | EdgeKind::Implements | EdgeKind::Decorated | EdgeKind::Provides;
    if snapshot.outgoing(symbol.id(), reachable).next().is_some() {
        return None;
    }
    // A type whose members are used is used.
    if snapshot.outgoing(symbol.id(), EdgeKind::Contains).any(|edge| {
        edge.to.symbol().is_some_and(|member| {
            snapshot
                .incoming(member, usage_kinds())
                .any(|use_| use_.from != symbol.id())
        })
    }) {
        return None;
    }
    let exported = flags.contains(Flags::EXPORTED);
    match (exported, symbol.visibility()) {
        (true, _) if include_exported => Some("exported, and nothing in this workspace mentions it"),
        (true, _) => None,
        (false, Visibility::Private) => Some("private, and nothing mentions it"),
        (false, Visibility::Internal) => Some("internal to its package, and nothing mentions it"),
        (false, Visibility::Protected) => Some("protected, and neither its class nor an heir mentions it"),
        (false, Visibility::Public) => Some("nothing in this workspace mentions it"),
    }
}
