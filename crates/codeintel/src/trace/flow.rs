//! What runs from one function on: a tree in the order of the source, grown where most happens until the limit is reached. What is left
//! stands folded at the function that calls it, counted and named.

use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use syntax::facts::{Flags, Position};

use super::chains::{kind_of, reached_by};
use super::ends::End;
use super::fold::{self, Side};
use super::hops::{Hop, Hops, Way, runs};
use super::places::Places;
use super::{Folded, SURE, TraceFound, count, step};
use crate::workspace::{SymbolKey, Workspace};

/// Starts that are followed, where what was asked for is a value or a type.
const MOST_STARTS: usize = 3;
/// Implementations of one call that are steps of their own.
const MOST_IMPLEMENTATIONS: usize = 2;
/// What the importance of the largest functions comes to.
const MOST_IMPORTANT: f64 = 4.0;
/// Short functions that pass a call on, one to the next.
const MOST_PASSED: u32 = 3;
/// Names of a folded line.
const MOST_NAMES: usize = 5;

/// A function of the tree.
struct Node {
    key: SymbolKey,
    hop: Option<Hop>,
    /// The method of an interface or base that is called for it.
    through: Option<SymbolKey>,
    /// Where else the caller calls it.
    further: Vec<Position>,
    depth: u32,
    children: Vec<usize>,
    shown: bool,
    again: bool,
    opened: bool,
    folded: BTreeMap<&'static str, (u64, Vec<String>)>,
}

/// What a function calls, and where.
struct Row {
    hop: Hop,
    through: Option<SymbolKey>,
    further: Vec<Position>,
}

/// Puts what runs into an answer.
pub(super) fn fill(workspace: &Workspace, start: &End, depth: u32, limit: usize, tests: bool, found: &mut TraceFound) {
    let hops = Hops::new(workspace, tests);
    let mut tree = Tree {
        hops: &hops,
        nodes: Vec::new(),
        queue: BinaryHeap::new(),
        depth,
        external: 0,
        at_depth: 0,
    };
    let starts = match start.about {
        None => 1,
        Some(_) => MOST_STARTS,
    };
    let calls = |key: SymbolKey| !hops.outgoing(key).is_empty();
    let roots: Vec<SymbolKey> = start
        .keys
        .iter()
        .map(|(key, _)| *key)
        .filter(|key| calls(*key))
        .take(starts)
        .collect();
    let roots = match (roots.is_empty(), start.keys.first()) {
        (true, Some((key, _))) => vec![*key],
        _ => roots,
    };
    let mut seen: HashSet<SymbolKey> = HashSet::new();
    for key in roots {
        seen.insert(key);
        let root = tree.add(key, None, None, 0);
        tree.nodes[root].shown = true;
        tree.open(root, 1.0);
    }
    let mut shown = 0;
    while shown < limit
        && let Some(Candidate { node, weight }) = tree.queue.pop()
    {
        if workspace.is_stopped() {
            return;
        }
        shown += 1;
        tree.nodes[node].shown = true;
        match seen.insert(tree.nodes[node].key) {
            true => tree.open(node, weight),
            false => tree.nodes[node].again = true,
        }
    }
    tree.write(workspace, found);
    found.next = next(found, start);
}

fn next(found: &TraceFound, start: &End) -> String {
    if found.steps.len() <= 1 {
        return format!("`uses {}`: it leads nowhere by an edge", start.asked);
    }
    match found.truncated {
        true => "answer now; `to` leads to one place of it, `limit` and `depth` show more".to_owned(),
        false => "answer now".to_owned(),
    }
}

/// What may be shown next.
#[derive(PartialEq)]
struct Candidate {
    weight: f64,
    node: usize,
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> std::cmp::Ordering {
        self.weight.total_cmp(&other.weight).then(other.node.cmp(&self.node))
    }
}

struct Tree<'h, 'w> {
    hops: &'h Hops<'w>,
    nodes: Vec<Node>,
    queue: BinaryHeap<Candidate>,
    depth: u32,
    external: u64,
    at_depth: u64,
}

impl Tree<'_, '_> {
    fn add(&mut self, key: SymbolKey, hop: Option<Hop>, through: Option<SymbolKey>, depth: u32) -> usize {
        self.nodes.push(Node {
            key,
            hop,
            through,
            further: Vec::new(),
            depth,
            children: Vec::new(),
            shown: false,
            again: false,
            opened: false,
            folded: BTreeMap::new(),
        });
        self.nodes.len() - 1
    }

    /// Looks at what a function calls: what may be shown, and what is folded at once.
    fn open(&mut self, parent: usize, weight: f64) {
        let (key, depth) = (self.nodes[parent].key, self.nodes[parent].depth);
        let mut outside: Vec<(Position, String)> = Vec::new();
        let mut hops = self
            .hops
            .outgoing_with(key, &mut |found| outside.push((found.at, found.name)));
        hops.sort_by_key(|hop| (hop.at, hop.to));
        outside.sort();
        outside.dedup();
        if depth >= self.depth {
            self.at_depth += u64::from(!hops.is_empty());
            return;
        }
        self.nodes[parent].opened = true;
        self.external += outside.len() as u64;
        for (_, name) in &outside {
            let what = if fold::is_logging(name) {
                Side::Logging.word()
            } else {
                "external"
            };
            let name = name.rsplit("::").next().unwrap_or(name).to_owned();
            self.fold(parent, what, name);
        }
        let mut known: HashSet<SymbolKey> = HashSet::new();
        let mut rows: Vec<Row> = Vec::new();
        let mut at = 0;
        while at < hops.len() {
            let end = hops[at..]
                .iter()
                .position(|hop| hop.at != hops[at].at)
                .map_or(hops.len(), |more| at + more);
            let group: Vec<Hop> = hops[at..end].to_vec();
            at = end;
            self.group(parent, &group, &mut known, &mut rows);
        }
        let share = 0.45 + 0.5 / rows.len().max(1) as f64;
        for row in rows {
            let hop = row.hop;
            let node = self.add(hop.to, Some(hop), row.through, depth + 1);
            self.nodes[node].further = row.further;
            self.nodes[parent].children.push(node);
            // What is near comes before what is far, however much happens there.
            let weight = weight * share * (self.importance(&hop) / MOST_IMPORTANT).min(1.0);
            self.queue.push(Candidate { weight, node });
        }
    }

    /// The hops of one place: an interface gives way to what implements it, many implementations are one line.
    fn group(&mut self, parent: usize, group: &[Hop], known: &mut HashSet<SymbolKey>, rows: &mut Vec<Row>) {
        let workspace = self.hops.workspace();
        let is_abstract = |key: SymbolKey| {
            workspace.symbol(key).is_some_and(|symbol| {
                let flags = symbol.flags();
                flags.contains(Flags::ABSTRACT) || flags.contains(Flags::DECLARATION)
            })
        };
        let base = group.iter().find(|hop| is_abstract(hop.to)).copied();
        let others: Vec<Hop> = group.iter().filter(|hop| !is_abstract(hop.to)).copied().collect();
        let several = others.len() > MOST_IMPLEMENTATIONS;
        let kept = match (base, several) {
            (Some(base), true) => vec![base],
            (None, true) if group.iter().all(|hop| hop.way == Way::Override) => Vec::new(),
            (None, true) => others[..1].to_vec(),
            _ if others.is_empty() => group.to_vec(),
            _ => others.clone(),
        };
        let shown = if base.is_none() { kept.len() } else { 0 };
        for hop in kept {
            let Some(symbol) = workspace.symbol(hop.to) else {
                continue;
            };
            if !known.insert(hop.to) {
                if let Some(row) = rows.iter_mut().find(|row| row.hop.to == hop.to) {
                    row.further.push(hop.at);
                }
                continue;
            }
            if !runs(symbol) && hop.way != Way::Make {
                continue;
            }
            if let Some(side) =
                fold::side(symbol).filter(|side| *side != Side::Getters || !self.goes_on(hop.to, MOST_PASSED))
            {
                self.fold(parent, side.word(), symbol.name().to_owned());
                continue;
            }
            let through = base.filter(|base| base.to != hop.to).map(|base| base.to);
            rows.push(Row {
                hop,
                through,
                further: Vec::new(),
            });
        }
        if several {
            for hop in &others[shown..] {
                if let Some(symbol) = workspace.symbol(hop.to) {
                    self.fold(parent, "implementations", symbol.qualified_name());
                }
            }
        }
    }

    /// Whether a short function passes the call on to one that is more than short, over at most so many others.
    fn goes_on(&self, key: SymbolKey, others: u32) -> bool {
        let workspace = self.hops.workspace();
        let calls = self.hops.outgoing(key).into_iter();
        let mut called = calls
            .filter(|hop| matches!(hop.way, Way::Call | Way::Link(..)))
            .filter_map(|hop| Some((hop.to, workspace.symbol(hop.to)?)));
        called.any(|(key, symbol)| {
            runs(symbol)
                && match fold::side(symbol) {
                    None => true,
                    Some(Side::Getters) => others > 0 && self.goes_on(key, others - 1),
                    Some(_) => false,
                }
        })
    }

    fn fold(&mut self, parent: usize, what: &'static str, name: String) {
        let (count, names) = self.nodes[parent].folded.entry(what).or_default();
        *count += 1;
        if names.len() < MOST_NAMES && !names.contains(&name) {
            names.push(name);
        }
    }

    /// How much happens in the function at the end of a hop, and how much of it is of this flow.
    fn importance(&self, hop: &Hop) -> f64 {
        let workspace = self.hops.workspace();
        let (Some(symbol), Some(repository)) = (workspace.symbol(hop.to), workspace.repository(hop.to.repository))
        else {
            return 0.0;
        };
        let span = symbol.span();
        let lines = f64::from(span.end_line.saturating_sub(span.start_line) + 1).min(200.0);
        let calls = repository
            .snapshot
            .outgoing(hop.to.symbol, index::model::EdgeKind::Calls)
            .take(60)
            .filter(|edge| edge.to.symbol().is_some())
            .count() as f64;
        let used = repository.snapshot.incoming_count(hop.to.symbol) as f64;
        let size = (1.0 + lines / 6.0 + calls).ln();
        let own = 1.0 / (1.0 + (1.0 + used).log2() / 4.0);
        let way = match hop.way {
            // It may only be compared with.
            Way::Hand => 0.6,
            Way::Override => 0.8,
            _ => 1.0,
        };
        let sure = if hop.confidence < SURE { 0.7 } else { 1.0 };
        let aside = if fold::is_aside(symbol) { 0.4 } else { 1.0 };
        let bare = if symbol.is_file() || hop.way == Way::Make {
            0.4
        } else {
            1.0
        };
        size * own * way * sure * aside * bare
    }

    /// Writes the tree in the order of the source.
    fn write(mut self, workspace: &Workspace, found: &mut TraceFound) {
        let mut places = Places::new(workspace);
        for node in self.nodes.iter().filter(|node| node.shown) {
            if let Some(hop) = &node.hop {
                places.want(hop.from, hop.at);
                node.further.iter().for_each(|&at| places.want(hop.from, at));
            }
        }
        places.read();
        let mut unresolved: HashMap<(usize, index::model::FileId), u64> = HashMap::new();
        let mut left: u64 = 0;
        let roots: Vec<usize> = (0..self.nodes.len())
            .filter(|&at| self.nodes[at].hop.is_none())
            .collect();
        let mut stack: Vec<usize> = roots.into_iter().rev().collect();
        while let Some(at) = stack.pop() {
            if let Some(hop) = &self.nodes[at].hop
                && places.is_compared(hop)
            {
                continue;
            }
            let children = std::mem::take(&mut self.nodes[at].children);
            let (shown, hidden): (Vec<usize>, Vec<usize>) =
                children.into_iter().partition(|&child| self.nodes[child].shown);
            for child in hidden {
                let name = workspace
                    .symbol(self.nodes[child].key)
                    .map_or_else(String::new, |symbol| symbol.qualified_name());
                left += 1;
                self.fold(at, "more", name);
            }
            stack.extend(shown.into_iter().rev());
            let node = &self.nodes[at];
            let made = match &node.hop {
                None => step(workspace, node.key, 0),
                Some(hop) => {
                    count(&mut found.account.hops, kind_of(hop), 1);
                    found.account.inferred += u64::from(hop.confidence < SURE);
                    reached_by(workspace, &places, hop, &node.further, node.depth)
                }
            };
            let Some(mut made) = made else { continue };
            if let Some(base) = node.through.and_then(|base| workspace.symbol(base)) {
                let through = format!("through {}", base.qualified_name());
                made.hop = match made.hop.is_empty() {
                    true => through,
                    false => format!("{}, {through}", made.hop),
                };
            }
            made.again = node.again;
            made.folded = node
                .folded
                .iter()
                .map(|(what, (count, names))| Folded {
                    what: (*what).to_owned(),
                    count: *count,
                    names: names.clone(),
                })
                .collect();
            if node.opened
                && let Some(file) = workspace.symbol(node.key).and_then(|symbol| symbol.file())
            {
                unresolved.insert((node.key.repository, file.id()), u64::from(file.unresolved_calls()));
            }
            found.steps.push(made);
        }
        found.total = found.steps.len() as u64 + left;
        found.truncated = left > 0 || self.at_depth > 0;
        let stops = &mut found.account.stops;
        count(stops, "external calls", self.external);
        count(stops, "functions not opened (limit)", left);
        count(stops, "functions not opened (depth)", self.at_depth);
        count(stops, "unresolved calls in these files", unresolved.values().sum());
    }
}
