//! Subtypes and overrides at any depth, and members that only subtypes define: `uses Base --kind implements --defines run`, `uses Base.run`.

use std::collections::BTreeSet;

use index::model::EdgeKind;
use index::snapshot::SymbolId;

use super::{Row, Use, Uses, UsesFound, fill, heading, word};
use crate::account;
use crate::error::QuestionError;
use crate::naming::{self, Meant};
use crate::page::Page;
use crate::traverse::{self, Direction};
use crate::workspace::{SymbolKey, Workspace};

/// What makes a hierarchy.
pub(super) const KINDS: &[EdgeKind] = &[EdgeKind::Implements, EdgeKind::Extends, EdgeKind::Overrides];

/// Most subtypes that are gone through.
const MOST: usize = 20_000;

/// A subtype or override.
struct Below {
    key: SymbolKey,
    kind: EdgeKind,
    /// Steps down from where the walk began.
    depth: u32,
}

/// What implements, extends or overrides a symbol, at any depth.
pub(super) fn subtypes(
    workspace: &Workspace,
    meant: &Meant,
    ask: &Uses,
    page: &Page,
) -> Result<UsesFound, QuestionError> {
    let below = below(workspace, meant.key);
    let mut found = heading(workspace, meant);
    let rows = match ask.defines.as_deref() {
        Some(member) => {
            found.note = Some(format!(
                "{} subtypes in all; those that define `{member}`:",
                below.len()
            ));
            defining(workspace, &below, member)
        }
        None => below
            .iter()
            .filter_map(|below| row(workspace, below.key, label(below)))
            .collect(),
    };
    let rows = rows
        .into_iter()
        .filter(|row: &Row| ask.path.as_deref().is_none_or(|path| row.path.starts_with(path)))
        .collect();
    fill(workspace, &mut found, rows, !ask.tests, page);
    found.account = account::account(workspace, meant.key).account;
    found.next = super::next(&found, ask);
    Ok(found)
}

/// `Base.member` where `Base` neither defines nor inherits the member: the subtypes that define it.
pub(super) fn of_missing_member(workspace: &Workspace, ask: &Uses, page: &Page) -> Option<UsesFound> {
    let (owner, member) = ask.symbol.trim().rsplit_once(['.', '#', ':'])?;
    let meant = naming::best(workspace, owner.trim_end_matches(':')).ok()?;
    let below = below(workspace, meant.key);
    let rows = defining(workspace, &below, member);
    if rows.is_empty() {
        return None;
    }
    let mut found = heading(workspace, &meant);
    found.note = Some(format!(
        "{} has no `{member}`; {} of its {} subtypes define it:",
        found.name,
        rows.len(),
        below.len()
    ));
    fill(workspace, &mut found, rows, false, page);
    found.next = format!(
        "uses of one: name it, as {}.{member}",
        found.uses.first().map_or("Sub", |row| {
            row.within
                .rsplit_once('.')
                .map_or(row.within.as_str(), |(owner, _)| owner)
        })
    );
    Some(found)
}

/// Everything below a symbol, nearest first.
fn below(workspace: &Workspace, start: SymbolKey) -> Vec<Below> {
    let mut found: Vec<Below> = Vec::new();
    let mut seen: BTreeSet<SymbolKey> = BTreeSet::from([start]);
    let mut level = vec![start];
    let mut depth = 0;
    while !level.is_empty() && found.len() < MOST {
        depth += 1;
        let mut next = Vec::new();
        for key in level {
            let Some(repository) = workspace.repository(key.repository) else {
                continue;
            };
            let kinds: index::snapshot::EdgeKinds = KINDS.iter().copied().collect();
            for edge in repository.edges(key.symbol, Direction::Incoming, kinds) {
                let far = SymbolKey {
                    repository: key.repository,
                    symbol: edge.from,
                };
                if seen.insert(far) {
                    found.push(Below {
                        key: far,
                        kind: edge.kind,
                        depth,
                    });
                    next.push(far);
                }
            }
        }
        next.sort_unstable();
        level = next;
    }
    found
}

fn label(below: &Below) -> String {
    match below.depth {
        1 => word(below.kind).to_owned(),
        _ => "further down".to_owned(),
    }
}

/// The members of this name that the types define themselves.
fn defining(workspace: &Workspace, types: &[Below], member: &str) -> Vec<Row> {
    let owners: BTreeSet<(usize, SymbolId)> = types
        .iter()
        .map(|below| (below.key.repository, below.key.symbol))
        .collect();
    let mut rows = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        for symbol in repository.snapshot.named(member) {
            let is_of_them = symbol
                .parent()
                .is_some_and(|owner| owners.contains(&(number, owner.id())));
            let key = SymbolKey {
                repository: number,
                symbol: symbol.id(),
            };
            if is_of_them {
                rows.extend(row(workspace, key, format!("define {member}")));
            }
        }
    }
    rows
}

/// A definition as a row: its place, and the line of its name.
fn row(workspace: &Workspace, key: SymbolKey, kind: String) -> Option<Row> {
    let symbol = workspace.symbol(key)?;
    let path = workspace.path(key.repository, symbol.path());
    Some(Row {
        order: (u8::from(kind == "further down"), kind.clone()),
        repository: key.repository,
        file: symbol.file_id(),
        path: path.clone(),
        is_test: traverse::is_test(symbol),
        row: Use {
            kind,
            path,
            line: symbol.name_at().line,
            within: symbol.qualified_name(),
            first: symbol.span().start_line,
            last: symbol.span().end_line,
            ..Use::default()
        },
    })
}
