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
/// Methods whose callers are counted by name; of those beyond there is one number.
const MOST_NAMED: usize = 2;
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
    let mut left: Vec<Left> = Vec::new();
    for Above { relation, callers } in above {
        let base = relation.to;
        let shown = callers.len().min(room);
        if callers.len() > shown {
            left.extend(Left::of(workspace, base, callers.len() - shown, shown > 0));
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
    let left = above
        .iter()
        .filter_map(|above| Left::of(workspace, above.relation.to, above.callers.len(), false));
    said(&left.collect::<Vec<_>>())
}

/// Callers of an overridden method that an answer does not show.
struct Left {
    /// Which method.
    of: String,
    count: usize,
    /// Whether others are shown.
    is_rest: bool,
}

impl Left {
    fn of(workspace: &Workspace, base: SymbolKey, count: usize, is_rest: bool) -> Option<Left> {
        let of = workspace.id(base.repository, workspace.symbol(base)?);
        Some(Left { of, count, is_rest })
    }
}

/// One sentence about all of them, which names the nearest methods.
fn said(left: &[Left]) -> Option<String> {
    let (named, others) = left.split_at(left.len().min(MOST_NAMED));
    let callers = |count: usize, more: &str| match count {
        1 => format!("1 {more}caller"),
        count => format!("{count} {more}callers"),
    };
    let mut parts: Vec<String> = named
        .iter()
        .map(|left| {
            format!(
                "{} of {}",
                callers(left.count, if left.is_rest { "more " } else { "" }),
                left.of
            )
        })
        .collect();
    if !others.is_empty() {
        let count = others.iter().map(|left| left.count).sum();
        parts.push(format!(
            "{} of {} more method{}",
            callers(count, ""),
            others.len(),
            if others.len() == 1 { "" } else { "s" }
        ));
    }
    (!parts.is_empty()).then(|| format!("{} may run it, as an override", parts.join(", ")))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_methods_are_named() {
        let left = |of: &str, count, is_rest| Left {
            of: of.to_string(),
            count,
            is_rest,
        };
        let mut all = vec![left("a::A.run", 4, true), left("b::B.run", 1, false)];
        let two = "4 more callers of a::A.run, 1 caller of b::B.run";
        assert_eq!(said(&all), Some(format!("{two} may run it, as an override")));
        all.extend([left("c::C.run", 15, false), left("d::D.run", 1, false)]);
        let rest = "16 callers of 2 more methods";
        assert_eq!(said(&all), Some(format!("{two}, {rest} may run it, as an override")));
        assert_eq!(said(&[]), None);
    }
}
