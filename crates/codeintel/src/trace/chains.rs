//! Chains between two ends: a search from both at once over the hops, by what they cost. Of further chains, each avoids what those before it
//! go through, so that it is another way and not the same one with a detour.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use syntax::facts::Position;

use super::ends::End;
use super::hops::{Hop, Hops, Way};
use super::links::Family;
use super::places::Places;
use super::{CallSite, Chain, SURE, Step, TraceFound, count, step};
use crate::traverse;
use crate::workspace::{SymbolKey, Workspace};

/// What is searched.
pub(super) struct Asked {
    pub(super) from: End,
    pub(super) through: Option<End>,
    pub(super) to: End,
    pub(super) depth: u32,
    pub(super) tests: bool,
}

/// Chains that are shown.
const CHAINS: usize = 3;
/// Functions that are settled on each side at most.
const MOST_SETTLED: usize = 40_000;
/// What it costs another chain to go through what one before it goes through.
const USED: u32 = 14;
/// Searches at most that are made again, since a name was compared with something and not handed over.
const MOST_COMPARED: usize = 12;
/// Further calls of one function by another that are shown.
const MOST_CALL_SITES: usize = 4;
/// Functions that are named where there is no chain.
const MOST_NEAR: usize = 6;

/// Puts the chains into an answer.
pub(super) fn fill(workspace: &Workspace, asked: &Asked, found: &mut TraceFound) {
    let hops = Hops::new(workspace, asked.tests);
    let mut ways: Vec<Vec<Hop>> = Vec::new();
    let mut best = 0;
    let mut used: HashMap<SymbolKey, u32> = HashMap::new();
    let mut places = Places::new(workspace);
    let mut reached = 0;
    for _ in 0..CHAINS + MOST_COMPARED {
        if ways.len() == CHAINS {
            break;
        }
        let searched = match &asked.through {
            None => search(&hops, &asked.from.keys, &asked.to.keys, asked.depth, &used),
            Some(through) => {
                let first = search(&hops, &asked.from.keys, &through.keys, asked.depth, &used);
                let middle = first
                    .way
                    .as_ref()
                    .and_then(|way| way.last())
                    .map(|hop| vec![(hop.to, 0)]);
                let middle = middle.unwrap_or_else(|| through.keys.clone());
                let second = search(&hops, &middle, &asked.to.keys, asked.depth, &used);
                first.and(second)
            }
        };
        let searched = match (&searched.way, ways.is_empty() && asked.through.is_none()) {
            (None, true) => returning(&hops, &asked.from.keys, &asked.to.keys, asked.depth),
            _ => searched,
        };
        reached = reached.max(searched.reached);
        let Some(way) = searched.way else { break };
        way.iter().for_each(|hop| places.want(said_in(hop), hop.at));
        places.read();
        let no_hops: Vec<&Hop> = way.iter().filter(|hop| places.is_compared(hop)).collect();
        if !no_hops.is_empty() {
            no_hops.into_iter().for_each(|hop| hops.rule_out(hop));
            continue;
        }
        // What is much longer is no other answer to the same question.
        let cost: u32 = way.iter().map(|hop| hops.cost(hop)).sum();
        if !ways.is_empty() && cost > best * 3 / 2 + 12 {
            break;
        }
        let known: HashSet<SymbolKey> = ways.iter().flatten().map(|hop| hop.to).collect();
        let is_new = way.iter().any(|hop| !known.contains(&hop.to));
        for hop in &way {
            *used.entry(hop.to).or_default() += USED;
        }
        if ways.is_empty() {
            best = cost;
        } else if !is_new {
            continue;
        }
        ways.push(way);
        if workspace.is_stopped() {
            return;
        }
    }
    found.total = reached as u64;
    if ways.is_empty() {
        return nothing(workspace, &hops, asked, found);
    }
    let mut further: HashMap<(SymbolKey, SymbolKey), Vec<Position>> = HashMap::new();
    for hop in ways.iter().flatten() {
        places.want(said_in(hop), hop.at);
        let others = further
            .entry((hop.from, hop.to))
            .or_insert_with(|| hops.other_calls(hop));
        others.iter().for_each(|&at| places.want(said_in(hop), at));
    }
    places.read();
    for way in &ways {
        let start = way
            .first()
            .map(|hop| hop.from)
            .or(asked.from.keys.first().map(|(key, _)| *key));
        let mut steps: Vec<Step> = start.and_then(|key| step(workspace, key, 0)).into_iter().collect();
        for (number, hop) in way.iter().enumerate() {
            let others = further.get(&(hop.from, hop.to)).map_or(&[][..], Vec::as_slice);
            steps.extend(reached_by(workspace, &places, hop, others, number as u32 + 1));
            count(&mut found.account.hops, kind_of(hop), 1);
            found.account.inferred += u64::from(hop.confidence < SURE);
        }
        let (mut before, mut after) = (0, 0);
        if let Some(first) = found.chains.first() {
            let same = |(left, right): &(&Step, &Step)| {
                (&left.path, left.line, &left.name) == (&right.path, right.line, &right.name)
            };
            before = first.steps.iter().zip(&steps).take_while(same).count();
            let most = first.steps.len().min(steps.len()) - before;
            after = first
                .steps
                .iter()
                .rev()
                .zip(steps.iter().rev())
                .take_while(same)
                .count()
                .min(most);
        }
        found.chains.push(Chain {
            steps,
            shared_before: before as u32,
            shared_after: after as u32,
        });
    }
    found.next = match found.account.inferred {
        0 => "answer now; `read` shows a body".to_owned(),
        _ => "answer now; `read` the lines of what is likely".to_owned(),
    };
}

/// The function in which a hop is written: the caller, also where it is gone back to.
pub(super) fn said_in(hop: &Hop) -> SymbolKey {
    match hop.way {
        Way::Return => hop.to,
        _ => hop.from,
    }
}

/// The word for a hop.
pub(super) fn kind_of(hop: &Hop) -> &'static str {
    match hop.way {
        Way::Call => "calls",
        Way::Make => "constructs",
        Way::Hand => "hands over",
        Way::Override => "overrides",
        Way::Request => "requests",
        Way::Link(Family::ByName, _) => "by name",
        Way::Link(Family::Event, _) => "events",
        Way::Link(Family::Queue, _) => "queues",
        Way::Link(Family::Log, _) => "command logs",
        Way::Link(Family::Container, _) => "containers",
        Way::Return => "returns",
        Way::Write => "writes",
        Way::Mention => "mentions",
    }
}

/// The step at the end of a hop, which the caller also takes at `further` places.
pub(super) fn reached_by(
    workspace: &Workspace,
    places: &Places<'_>,
    hop: &Hop,
    further: &[Position],
    depth: u32,
) -> Option<Step> {
    let mut step = step(workspace, hop.to, depth)?;
    let place = places.at(said_in(hop), hop.at);
    step.call = hop.at.line;
    step.text = place.text;
    step.when = place.around.conditions.join(", ");
    let further = further.iter().filter(|at| at.line != hop.at.line);
    step.also = further
        .take(MOST_CALL_SITES)
        .map(|&at| CallSite {
            line: at.line,
            when: places.at(said_in(hop), at).around.conditions.join(", "),
        })
        .collect();
    step.likely = hop.confidence < SURE;
    let name = workspace.symbol(hop.to).map_or("", |symbol| symbol.name());
    let mut words: Vec<String> = Vec::new();
    match hop.way {
        Way::Call => {
            if !place.around.deferred.is_empty() {
                words.push(place.around.deferred.to_owned());
            }
            // Somebody else runs it: a library, or whatever is called by another name.
            if !place.word.is_empty() && place.word != name && hop.confidence <= SURE {
                words.push(format!("by {}", place.word));
            }
        }
        Way::Make => words.push("constructs".to_owned()),
        Way::Hand => words.push(match place.around.argument_of.is_empty() {
            true => "handed over".to_owned(),
            false => format!("handed to {}", place.around.argument_of),
        }),
        Way::Override => words.push("overrides it".to_owned()),
        Way::Request => words.push("answers its request".to_owned()),
        Way::Return => words.push("gives it back".to_owned()),
        Way::Write | Way::Mention => {}
        Way::Link(family, number) => {
            let link = workspace
                .repository(hop.from.repository)
                .and_then(|repository| repository.trace_links().get(number));
            if let Some(link) = link {
                words.push(match family {
                    Family::ByName => format!("by name \"{}\"", link.shared),
                    Family::Event => format!("event \"{}\", heard at {}", link.shared, link.received),
                    Family::Queue => format!("via {}, taken at {}", link.shared, link.received),
                    Family::Log => format!("via {}, chosen at {}", link.shared, link.received),
                    Family::Container => format!("{} from a container", link.shared),
                });
            }
        }
    }
    if !place.around.given_to.is_empty() {
        words.push(format!("in a closure for {}", place.around.given_to));
    }
    step.hop = words.join(", ");
    Some(step)
}

/// What a search came to.
struct Searched {
    way: Option<Vec<Hop>>,
    reached: usize,
}

impl Searched {
    fn and(self, after: Searched) -> Searched {
        let way = self.way.zip(after.way).map(|(mut first, second)| {
            first.extend(second);
            first
        });
        Searched {
            way,
            reached: self.reached + after.reached,
        }
    }
}

/// One side of a search.
#[derive(Default)]
struct Half {
    /// What it costs to get to a function, how many hops that are, and the last of them.
    known: HashMap<SymbolKey, (u32, u32, Option<Hop>)>,
    queue: BinaryHeap<Reverse<(u32, SymbolKey)>>,
    settled: HashSet<SymbolKey>,
}

impl Half {
    fn of(ends: &[(SymbolKey, u32)]) -> Half {
        let mut half = Half::default();
        for &(key, cost) in ends {
            let known = half.known.entry(key).or_insert((cost, 0, None));
            known.0 = known.0.min(cost);
            half.queue.push(Reverse((cost, key)));
        }
        half
    }

    /// The next function to settle, without settling it.
    fn nearest(&mut self) -> Option<u32> {
        while let Some(&Reverse((cost, key))) = self.queue.peek() {
            if !self.settled.contains(&key) {
                return Some(cost);
            }
            self.queue.pop();
        }
        None
    }

    fn improve(&mut self, key: SymbolKey, cost: u32, length: u32, hop: Hop) -> bool {
        let is_better = self.known.get(&key).is_none_or(|known| cost < known.0);
        if is_better {
            self.known.insert(key, (cost, length, Some(hop)));
            self.queue.push(Reverse((cost, key)));
        }
        is_better
    }
}

/// The cheapest way between two sets of functions.
fn search(
    hops: &Hops<'_>,
    from: &[(SymbolKey, u32)],
    to: &[(SymbolKey, u32)],
    depth: u32,
    used: &HashMap<SymbolKey, u32>,
) -> Searched {
    let (mut ahead, mut back) = (Half::of(from), Half::of(to));
    let mut best: Option<(u32, SymbolKey)> = None;
    let meet = |one: &Half, other: &Half, key: SymbolKey, best: &mut Option<(u32, SymbolKey)>| {
        if let (Some(one), Some(other)) = (one.known.get(&key), other.known.get(&key))
            && one.1 + other.1 <= depth
        {
            let cost = one.0 + other.0;
            // A start that is the end as well is no chain.
            if one.1 + other.1 > 0 && best.is_none_or(|best| (cost, key) < best) {
                *best = Some((cost, key));
            }
        }
    };
    for &(key, _) in from {
        meet(&ahead, &back, key, &mut best);
    }
    let workspace = hops.workspace();
    let price = |hop: &Hop| hops.cost(hop) + used.get(&hop.to).copied().unwrap_or(0);
    loop {
        if workspace.is_stopped() {
            break;
        }
        let (Some(near), Some(far)) = (ahead.nearest(), back.nearest()) else {
            break;
        };
        if best.is_some_and(|best| near + far >= best.0) {
            break;
        }
        // The side with less before it goes on.
        let goes_ahead = ahead.queue.len() <= back.queue.len();
        let (half, other) = match goes_ahead {
            true => (&mut ahead, &back),
            false => (&mut back, &ahead),
        };
        if half.settled.len() >= MOST_SETTLED {
            break;
        }
        let Some(Reverse((cost, key))) = half.queue.pop() else {
            break;
        };
        if !half.settled.insert(key) {
            continue;
        }
        let length = half.known.get(&key).map_or(0, |known| known.1);
        if length >= depth {
            continue;
        }
        let found = match goes_ahead {
            true => hops.outgoing(key),
            false => hops.incoming(key),
        };
        for hop in found {
            let next = if goes_ahead { hop.to } else { hop.from };
            if half.settled.contains(&next) {
                continue;
            }
            if half.improve(next, cost + price(&hop), length + 1, hop) {
                meet(half, other, next, &mut best);
            }
        }
    }
    let reached = ahead.known.len() + back.known.len();
    let way = best.map(|(_, middle)| {
        let mut way: Vec<Hop> = Vec::new();
        let mut at = middle;
        while let Some((_, _, Some(hop))) = ahead.known.get(&at) {
            way.push(*hop);
            at = hop.from;
        }
        way.reverse();
        let mut at = middle;
        while let Some((_, _, Some(hop))) = back.known.get(&at) {
            way.push(*hop);
            at = hop.to;
        }
        way
    });
    Searched { way, reached }
}

/// The cheapest way where what was taken from a queue is given back to callers, which go on with it: from the start alone, since few
/// functions take from queues.
fn returning(hops: &Hops<'_>, from: &[(SymbolKey, u32)], to: &[(SymbolKey, u32)], depth: u32) -> Searched {
    type State = (SymbolKey, bool);
    /// Cost, depth, and the step that led there.
    type Known = (u32, u32, Option<(State, Hop)>);
    let mut known: HashMap<State, Known> = HashMap::new();
    let mut queue: BinaryHeap<Reverse<(u32, State)>> = BinaryHeap::new();
    for &(key, cost) in from {
        known.insert((key, false), (cost, 0, None));
        queue.push(Reverse((cost, (key, false))));
    }
    let ends: HashSet<SymbolKey> = to.iter().map(|(key, _)| *key).collect();
    let mut settled: HashSet<State> = HashSet::new();
    let mut last = None;
    while let Some(Reverse((cost, state))) = queue.pop() {
        if hops.workspace().is_stopped() || settled.len() >= MOST_SETTLED {
            break;
        }
        if !settled.insert(state) {
            continue;
        }
        let (key, returns) = state;
        let length = known.get(&state).map_or(0, |known| known.1);
        if ends.contains(&key) && length > 0 {
            last = Some(state);
            break;
        }
        if length >= depth {
            continue;
        }
        let mut next: Vec<(State, Hop)> = hops
            .outgoing(key)
            .into_iter()
            .map(|hop| ((hop.to, matches!(hop.way, Way::Link(Family::Queue, _))), hop))
            .collect();
        if returns {
            let callers = hops.incoming(key).into_iter();
            let callers =
                callers.filter(|hop| matches!(hop.way, Way::Call | Way::Link(Family::ByName | Family::Container, _)));
            next.extend(callers.map(|hop| {
                let back = Hop {
                    from: hop.to,
                    to: hop.from,
                    way: Way::Return,
                    ..hop
                };
                ((hop.from, true), back)
            }));
        }
        for (next, hop) in next {
            let price = cost + hops.cost(&hop);
            if !settled.contains(&next) && known.get(&next).is_none_or(|known| price < known.0) {
                known.insert(next, (price, length + 1, Some((state, hop))));
                queue.push(Reverse((price, next)));
            }
        }
    }
    let way = last.map(|mut at| {
        let mut way = Vec::new();
        while let Some((_, _, Some((before, hop)))) = known.get(&at) {
            way.push(*hop);
            at = *before;
        }
        way.reverse();
        way
    });
    Searched {
        way,
        reached: known.len(),
    }
}

/// Where there is no chain: how far both sides come, and who calls the end, which is usually the next hop.
fn nothing(workspace: &Workspace, hops: &Hops<'_>, asked: &Asked, found: &mut TraceFound) {
    let mut places = Places::new(workspace);
    let mut before: Vec<Hop> = Vec::new();
    for &(key, _) in asked.to.keys.iter().take(MOST_NEAR) {
        let mut seen = HashSet::new();
        let callers = hops.incoming(key).into_iter().filter(|hop| seen.insert(hop.from));
        before.extend(callers.take(MOST_NEAR));
    }
    before.truncate(MOST_NEAR);
    for hop in &before {
        places.want(hop.from, hop.at);
    }
    places.read();
    let to = asked.to.keys.first().and_then(|&(key, _)| step(workspace, key, 0));
    found.steps.extend(to);
    for hop in &before {
        let Some(mut caller) = reached_by(workspace, &places, hop, &[], 1) else {
            continue;
        };
        let Some(from) = step(workspace, hop.from, 1) else {
            continue;
        };
        (caller.path, caller.line, caller.name) = (from.path, from.line, from.name);
        found.steps.push(caller);
    }
    found.notes.push(format!(
        "no chain from `{}` to `{}` in {} functions that both sides reach: below, who leads to the end",
        asked.from.asked, asked.to.asked, found.total
    ));
    let is_test = |key: SymbolKey| workspace.symbol(key).is_some_and(traverse::is_test);
    let tests = asked.to.keys.iter().filter(|(key, _)| is_test(*key)).count();
    if tests > 0 && !asked.tests {
        found
            .notes
            .push("the end stands in a test: tests=true follows them".to_owned());
    }
    found.next = match before.first().and_then(|hop| workspace.symbol(hop.from)) {
        Some(caller) => format!(
            "trace from `{}` to `{}`, or from the start without an end to see where it stops",
            asked.from.asked,
            caller.qualified_name()
        ),
        None => format!("`uses {}`: nothing calls it by an edge", asked.to.asked),
    };
}
