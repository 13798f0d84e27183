//! Who may run a method through the one that it overrides: `self.step()` in the base runs the heir's `step`.
//!
//! The graph keeps such a call once, at the method it names, and the override as an edge beside it. Here both are put together, and
//! what is told is no more than they say: the caller calls the base's method, which this one overrides.

use std::collections::{HashSet, VecDeque};

use index::model::{EdgeKind, Origin};

use crate::traverse::{self, Direction, Reached, Relation, Walk};
use crate::workspace::{SymbolKey, Workspace};

/// Callers that an answer shows together with the direct ones: beyond them a number says more.
const SHOWN: usize = 10;
/// Methods above one that are looked at, nearest first.
const MOST_ABOVE: usize = 8;

/// A method that is overridden, and who calls it.
struct Above {
    /// The override.
    relation: Relation,
    /// The calls, by caller.
    callers: Vec<Relation>,
}

/// Adds the callers of what `start` overrides to those it has, as long as they are few; says who else there is.
pub(crate) fn add_callers(
    workspace: &Workspace,
    start: SymbolKey,
    how: &Walk,
    reached: &mut Reached,
) -> Option<String> {
    let above = above(workspace, start, how);
    let mut known: HashSet<SymbolKey> = reached.symbols.iter().map(|(key, _)| *key).chain([start]).collect();
    let direct = reached.symbols.iter().filter(|(_, distance)| *distance == 1).count();
    let mut room = SHOWN.saturating_sub(direct);
    let mut left: Vec<String> = Vec::new();
    for Above { relation, callers } in above {
        let base = relation.to;
        let shown = callers.len().min(room);
        if callers.len() > shown {
            left.extend(callers_of(workspace, base, callers.len() - shown, shown > 0));
        }
        if shown == 0 {
            continue;
        }
        room -= shown;
        for key in [base]
            .into_iter()
            .chain(callers.iter().take(shown).map(|call| call.from))
        {
            if known.insert(key) {
                reached.symbols.push((key, 1));
            }
        }
        reached.relations.push(relation);
        let told: HashSet<(SymbolKey, SymbolKey, EdgeKind)> = reached
            .relations
            .iter()
            .map(|edge| (edge.from, edge.to, edge.kind))
            .collect();
        let new = |call: &Relation| !told.contains(&(call.from, call.to, call.kind));
        reached.relations.extend(callers.into_iter().take(shown).filter(new));
    }
    said(&left)
}

/// How many callers of what a method overrides may run it; for answers that list none of them.
pub(crate) fn note(workspace: &Workspace, of: SymbolKey, how: &Walk) -> Option<String> {
    let above = above(workspace, of, how);
    let counted = above
        .iter()
        .filter_map(|above| callers_of(workspace, above.relation.to, above.callers.len(), false));
    said(&counted.collect::<Vec<_>>())
}

fn said(callers: &[String]) -> Option<String> {
    (!callers.is_empty()).then(|| format!("{} may run it, as an override", callers.join(", ")))
}

fn callers_of(workspace: &Workspace, base: SymbolKey, count: usize, more: bool) -> Option<String> {
    let id = workspace.id(base.repository, workspace.symbol(base)?);
    let callers = match (count, more) {
        (1, false) => "1 caller".to_string(),
        (1, true) => "1 more caller".to_string(),
        (count, false) => format!("{count} callers"),
        (count, true) => format!("{count} more callers"),
    };
    Some(format!("{callers} of {id}"))
}

/// The methods that this one overrides and that anybody calls, nearest first. That a call of theirs runs this one is inferred, so there
/// are none where only what is known is asked for.
fn above(workspace: &Workspace, start: SymbolKey, how: &Walk) -> Vec<Above> {
    if how.min_tier < Origin::AstInferred {
        return Vec::new();
    }
    let overrides = Walk {
        direction: Direction::Outgoing,
        kinds: EdgeKind::Overrides.into(),
        ..*how
    };
    let calls = Walk {
        direction: Direction::Incoming,
        kinds: EdgeKind::Calls.into(),
        ..*how
    };
    let mut found = Vec::new();
    let mut seen = HashSet::from([start]);
    let mut next = VecDeque::from([start]);
    while let Some(method) = next.pop_front() {
        for relation in traverse::relations(workspace, method, &overrides) {
            let base = relation.to;
            if seen.len() > MOST_ABOVE || !seen.insert(base) {
                continue;
            }
            next.push_back(base);
            let mut callers = traverse::relations(workspace, base, &calls);
            callers.retain(|call| may_dispatch(workspace, call, &overrides, how));
            if !callers.is_empty() {
                found.push(Above { relation, callers });
            }
        }
    }
    found
}

/// Whether a call may end in an override: one by another override goes up to the base, and nowhere else.
fn may_dispatch(workspace: &Workspace, call: &Relation, overrides: &Walk, how: &Walk) -> bool {
    if how.exclude_tests && workspace.symbol(call.from).is_some_and(traverse::is_test) {
        return false;
    }
    let above = traverse::relations(workspace, call.from, overrides);
    !above.iter().any(|relation| relation.to == call.to)
}
