//! Who leads to a function: its callers with what guards each call, and the ways there from where a program is entered.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use index::model::{EdgeKind, Origin};
use index::snapshot::EdgeKinds;
use syntax::facts::Kind;

use super::chains::{kind_of, reached_by};
use super::ends::End;
use super::fold;
use super::hops::{Hop, Hops, Way};
use super::places::Places;
use super::{Chain, Folded, SURE, Step, TraceFound, count, step};
use crate::traverse::{self, Direction};
use crate::workspace::{SymbolKey, Workspace};

/// Ways from entry points that are shown.
const ENTRIES: usize = 3;
/// Functions that are gone through.
const MOST_SETTLED: usize = 8_000;
/// Entry points that are looked at.
const MOST_ENTRIES: usize = 200;

/// Puts who leads to the end into an answer.
pub(super) fn fill(workspace: &Workspace, end: &End, depth: u32, limit: usize, found: &mut TraceFound) {
    if let Some(value) = end.about.filter(|key| is_value(workspace, *key)) {
        return users(workspace, value, limit, found);
    }
    let hops = Hops::new(workspace, false);
    let ends: HashSet<SymbolKey> = end.keys.iter().map(|(key, _)| *key).collect();
    let mut callers: Vec<Hop> = Vec::new();
    let mut seen = HashSet::new();
    let mut tests = HashSet::new();
    for &(key, _) in &end.keys {
        callers.extend(
            hops.incoming(key)
                .into_iter()
                .filter(|hop| !ends.contains(&hop.from) && seen.insert((hop.from, hop.to))),
        );
        tests.extend(tested_by(workspace, key));
    }
    let aside = |key: SymbolKey| workspace.symbol(key).is_none_or(fold::is_aside);
    callers.sort_by_key(|hop| (aside(hop.from), hop.confidence < SURE, hop.from, hop.at));
    let ways = entries(&hops, end, depth);
    let shown = callers.len().min(limit.div_ceil(2));
    let mut places = Places::new(workspace);
    for hop in callers.iter().take(shown).chain(ways.iter().flat_map(|way| &way.hops)) {
        places.want(hop.from, hop.at);
    }
    places.read();
    let about = end.about.or(end.keys.first().map(|(key, _)| *key));
    let mut target = about.and_then(|key| step(workspace, key, 0)).unwrap_or_default();
    let mut folders: Vec<String> = Vec::new();
    for hop in callers.iter().skip(shown) {
        if let Some(symbol) = workspace.symbol(hop.from) {
            folders.push(symbol.qualified_name());
        }
    }
    let fold = |what: &str, names: Vec<String>, count: usize| Folded {
        what: what.to_owned(),
        count: count as u64,
        names,
    };
    let left = folders.len();
    if left > 0 {
        folders.truncate(5);
        target.folded.push(fold("more callers", folders, left));
    }
    if !tests.is_empty() {
        target.folded.push(fold("tests", Vec::new(), tests.len()));
    }
    found.steps.push(target);
    for hop in &callers[..shown] {
        if let Some(caller) = called_from(workspace, &places, hop) {
            count(&mut found.account.hops, kind_of(hop), 1);
            found.account.inferred += u64::from(hop.confidence < SURE);
            found.steps.push(caller);
        }
    }
    for way in &ways {
        let mut steps: Vec<Step> = step(workspace, way.entry, 0).into_iter().collect();
        if let Some(first) = steps.first_mut() {
            first.hop = way.kind.to_owned();
        }
        for (number, hop) in way.hops.iter().enumerate() {
            steps.extend(reached_by(workspace, &places, hop, &[], number as u32 + 1));
        }
        let same = |(left, right): &(&Step, &Step)| {
            (&left.path, left.line, &left.name) == (&right.path, right.line, &right.name)
        };
        let after = found.chains.first().map_or(0, |first| {
            first
                .steps
                .iter()
                .rev()
                .zip(steps.iter().rev())
                .take_while(same)
                .count()
                .min(steps.len().saturating_sub(1))
        });
        found.chains.push(Chain {
            steps,
            shared_before: 0,
            shared_after: after as u32,
        });
    }
    found.total = callers.len() as u64;
    found.truncated = left > 0;
    found.next = match (callers.is_empty(), left) {
        (true, _) => format!("`uses {}`: nothing calls it by an edge", end.asked),
        (_, 0) => "answer now".to_owned(),
        _ => format!("answer now; `uses {}` lists every place", end.asked),
    };
}

fn is_value(workspace: &Workspace, key: SymbolKey) -> bool {
    workspace.symbol(key).is_some_and(|symbol| {
        !symbol.is_file()
            && matches!(
                symbol.kind(),
                Kind::Field | Kind::Property | Kind::Variable | Kind::Constant | Kind::EnumMember
            )
    })
}

/// Who writes a value, place by place; who mentions it, where nobody does.
fn users(workspace: &Workspace, value: SymbolKey, limit: usize, found: &mut TraceFound) {
    let Some(repository) = workspace.repository(value.repository) else {
        return;
    };
    let places = |kinds: EdgeKinds, way: Way| -> Vec<Hop> {
        let edges = repository.edges(value.symbol, Direction::Incoming, kinds);
        let edges = edges.filter(|edge| edge.origin <= Origin::AstInferred);
        edges
            .map(|edge| Hop {
                from: SymbolKey {
                    repository: value.repository,
                    symbol: edge.from,
                },
                to: value,
                way,
                confidence: edge.confidence,
                at: edge.at,
            })
            .collect()
    };
    let mut hops = places(EdgeKind::Writes.into(), Way::Write);
    let is_written = !hops.is_empty();
    if !is_written {
        hops = places(EdgeKind::Reads | EdgeKind::References | EdgeKind::Calls, Way::Mention);
    }
    found.notes.retain(|note| !note.contains("is a value"));
    let is_test = |hop: &Hop| workspace.symbol(hop.from).is_none_or(traverse::is_test);
    let (tests, mut hops): (Vec<Hop>, Vec<Hop>) = hops.into_iter().partition(is_test);
    hops.sort_by_key(|hop| (hop.confidence < SURE, hop.from, hop.at));
    hops.dedup_by_key(|hop| (hop.from, hop.at.line));
    let shown = hops.len().min(limit);
    let mut places = Places::new(workspace);
    for hop in &hops[..shown] {
        places.want(hop.from, hop.at);
    }
    places.read();
    let mut target = step(workspace, value, 0).unwrap_or_default();
    target.hop = if is_written {
        "written by"
    } else {
        "never written; mentioned by"
    }
    .to_owned();
    for (what, count) in [("more places", hops.len() - shown), ("tests", tests.len())] {
        if count > 0 {
            target.folded.push(Folded {
                what: what.to_owned(),
                count: count as u64,
                names: Vec::new(),
            });
        }
    }
    found.steps.push(target);
    for hop in &hops[..shown] {
        if let Some(user) = called_from(workspace, &places, hop) {
            count(&mut found.account.hops, kind_of(hop), 1);
            found.account.inferred += u64::from(hop.confidence < SURE);
            found.steps.push(user);
        }
    }
    found.total = hops.len() as u64;
    found.truncated = shown < hops.len();
    found.next = match found.truncated {
        true => "answer now; `limit` shows more".to_owned(),
        false => "answer now".to_owned(),
    };
}

/// A caller as a step: where it is, and the line in it that calls.
fn called_from(workspace: &Workspace, places: &Places<'_>, hop: &Hop) -> Option<Step> {
    let caller = step(workspace, hop.from, 1)?;
    let reached = reached_by(workspace, places, hop, &[], 1)?;
    Some(Step {
        path: caller.path,
        line: caller.line,
        name: caller.name,
        ..reached
    })
}

/// The tests that call it.
fn tested_by(workspace: &Workspace, key: SymbolKey) -> Vec<SymbolKey> {
    let Some(repository) = workspace.repository(key.repository) else {
        return Vec::new();
    };
    let calls = repository.edges(
        key.symbol,
        Direction::Incoming,
        EdgeKind::Calls | EdgeKind::Instantiates,
    );
    calls
        .map(|edge| SymbolKey {
            repository: key.repository,
            symbol: edge.from,
        })
        .filter(|from| workspace.symbol(*from).is_some_and(traverse::is_test))
        .collect()
}

/// A way from where a program is entered.
struct Entry {
    entry: SymbolKey,
    kind: &'static str,
    hops: Vec<Hop>,
}

/// The best ways there from entry points: functions that nothing calls.
fn entries(hops: &Hops<'_>, end: &End, depth: u32) -> Vec<Entry> {
    let workspace = hops.workspace();
    let mut known: HashMap<SymbolKey, (u32, u32, Option<Hop>)> = HashMap::new();
    let mut queue: BinaryHeap<Reverse<(u32, SymbolKey)>> = BinaryHeap::new();
    for &(key, cost) in &end.keys {
        known.insert(key, (cost, 0, None));
        queue.push(Reverse((cost, key)));
    }
    let mut settled: HashSet<SymbolKey> = HashSet::new();
    let mut entries: Vec<(u32, SymbolKey, &'static str)> = Vec::new();
    while let Some(Reverse((cost, key))) = queue.pop() {
        if workspace.is_stopped() || settled.len() >= MOST_SETTLED || entries.len() >= MOST_ENTRIES {
            break;
        }
        if !settled.insert(key) {
            continue;
        }
        let length = known.get(&key).map_or(0, |known| known.1);
        let incoming = hops.incoming(key);
        let is_called = incoming
            .iter()
            .any(|hop| hop.from != key && matches!(hop.way, Way::Call | Way::Make | Way::Override));
        let is_handed = incoming.iter().any(|hop| matches!(hop.way, Way::Hand | Way::Request));
        if length > 0
            && let Some((kind, rank)) = entry_kind(workspace, key, is_called, is_handed)
        {
            entries.push((cost + rank, key, kind));
        }
        if length >= depth {
            continue;
        }
        for hop in incoming {
            if settled.contains(&hop.from) {
                continue;
            }
            let next = cost + hops.cost(&hop);
            if known.get(&hop.from).is_none_or(|known| next < known.0) {
                known.insert(hop.from, (next, length + 1, Some(hop)));
                queue.push(Reverse((next, hop.from)));
            }
        }
    }
    entries.sort_unstable();
    // Of several entries through one caller the best is enough.
    let mut through: HashSet<SymbolKey> = HashSet::new();
    let mut found = Vec::new();
    for (_, entry, kind) in entries {
        let mut way = Vec::new();
        let mut at = entry;
        while let Some((_, _, Some(hop))) = known.get(&at) {
            way.push(*hop);
            at = hop.to;
        }
        let last = way.last().map_or(entry, |hop| hop.from);
        if through.insert(last) && !way.is_empty() {
            found.push(Entry { entry, kind, hops: way });
        }
        if found.len() == ENTRIES {
            break;
        }
    }
    found
}

/// What sort of an entry point a function is, and how much less likely than others.
fn entry_kind(workspace: &Workspace, key: SymbolKey, is_called: bool, is_handed: bool) -> Option<(&'static str, u32)> {
    let symbol = workspace.symbol(key)?;
    if symbol.name() == "main" && !symbol.is_file() {
        return Some(("main", 0));
    }
    if is_called {
        return None;
    }
    if symbol.is_file() {
        return Some(("top of the file", 6));
    }
    let repository = workspace.repository(key.repository)?;
    let is_decorated = repository
        .edges(key.symbol, Direction::Outgoing, EdgeKind::Decorated)
        .next()
        .is_some();
    Some(match (is_handed, is_decorated) {
        (true, _) => ("registered", 0),
        (_, true) => ("decorated", 0),
        _ => ("called by nothing here", 12),
    })
}
