//! Walks the graph from a set of symbols, level by level.
//!
//! Filters act inside the walk: an edge below `min_tier` is not followed and what lies behind it is not counted, so limits
//! and totals count exactly what is returned. The walk is complete (up to [`MAX_VISITED`]) before a page is cut from it.

use std::collections::{BTreeMap, HashMap, HashSet};

use index::model::{EdgeKind, Origin};
use index::snapshot::{EdgeEnd, EdgeKinds, EdgeView, SymbolView};
use syntax::facts::Flags;
use wire::answers::{Edge, Node, SubGraph};

use crate::kinds;
use crate::page::{self, Page};
use crate::workspace::{SymbolKey, Workspace};

/// Which end of an edge is walked to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From uses to what they use.
    Outgoing,
    /// From what is used to its users.
    Incoming,
}

/// What to follow and how far.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    /// Which way.
    pub direction: Direction,
    /// Which edges.
    pub kinds: EdgeKinds,
    /// How many edges away at most.
    pub depth: u32,
    /// The weakest origin that is followed.
    pub min_tier: Origin,
    /// Whether symbols of tests are left out.
    pub exclude_tests: bool,
}

/// Most symbols that one walk visits; an answer that hits it says so.
pub const MAX_VISITED: usize = 200_000;
/// Deepest walk.
pub const MAX_DEPTH: u32 = 20;

/// One relation found by a walk: all mentions of `to` by `from` of one kind, as one.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The user.
    pub from: SymbolKey,
    /// The used.
    pub to: SymbolKey,
    /// How.
    pub kind: EdgeKind,
    /// The most trusted origin among its mentions.
    pub origin: Origin,
    /// The highest confidence among them, in hundredths.
    pub confidence: u8,
    /// Lines of the mentions in the file of `from`, in order.
    pub lines: Vec<u32>,
}

/// What a walk reached.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// The symbols with their distance, nearest first, then by path and line; the start is not among them.
    pub symbols: Vec<(SymbolKey, u32)>,
    /// The relations that were followed, by the distance of their far end.
    pub relations: Vec<Relation>,
    /// Whether [`MAX_VISITED`] stopped the walk.
    pub stopped: bool,
}

/// Walks from `start`.
pub fn walk(workspace: &Workspace, start: &[SymbolKey], how: &Walk) -> Reached {
    let mut distance: HashMap<SymbolKey, u32> = start.iter().map(|&key| (key, 0)).collect();
    let mut reached = Reached::default();
    let mut level: Vec<SymbolKey> = start.to_vec();
    for depth in 1..=how.depth.min(MAX_DEPTH) {
        let mut next = Vec::new();
        for &key in &level {
            if workspace.is_stopped() {
                return reached;
            }
            for relation in relations(workspace, key, how) {
                let far = match how.direction {
                    Direction::Outgoing => relation.to,
                    Direction::Incoming => relation.from,
                };
                if how.exclude_tests && workspace.symbol(far).is_some_and(is_test) {
                    continue;
                }
                if !distance.contains_key(&far) {
                    if distance.len() >= MAX_VISITED {
                        reached.stopped = true;
                        continue;
                    }
                    distance.insert(far, depth);
                    next.push(far);
                }
                reached.relations.push(relation);
            }
        }
        // Symbol numbers follow path and source order, so sorting keys sorts by path and line.
        next.sort_unstable();
        reached.symbols.extend(next.iter().map(|&key| (key, depth)));
        if next.is_empty() {
            break;
        }
        level = next;
    }
    reached
}

/// The relations of one symbol, mentions of the same pair merged, in order of the far end. In a workspace of several
/// repositories they reach into the others, through packages and contracts.
pub fn relations(workspace: &Workspace, key: SymbolKey, how: &Walk) -> Vec<Relation> {
    let Some(repository) = workspace.repository(key.repository) else {
        return Vec::new();
    };
    let mut merged = Merged::default();
    let cross = workspace.cross_links();
    match how.direction {
        Direction::Outgoing => {
            for edge in repository.edges(key.symbol, Direction::Outgoing, how.kinds) {
                let to = match edge.to {
                    EdgeEnd::Symbol(symbol) => Some(SymbolKey {
                        repository: key.repository,
                        symbol,
                    }),
                    EdgeEnd::External(external) => cross.and_then(|cross| cross.symbol(key.repository, external)),
                };
                merged.add(how, &edge, key, to);
            }
        }
        Direction::Incoming => {
            let mut add = |number: usize, edge: EdgeView| {
                let from = SymbolKey {
                    repository: number,
                    symbol: edge.from,
                };
                merged.add(how, &edge, from, Some(key));
            };
            for edge in repository.edges(key.symbol, Direction::Incoming, how.kinds) {
                add(key.repository, edge);
            }
            for &(number, external) in cross.map_or(&[][..], |cross| cross.externals(key)) {
                if let Some(other) = workspace.repository(number) {
                    for edge in other.snapshot.incoming(external, how.kinds) {
                        add(number, edge);
                    }
                }
            }
        }
    }
    if how.kinds.contains(EdgeKind::Consumes)
        && let Some(links) = workspace.contract_links()
    {
        let others = match how.direction {
            Direction::Outgoing => links.providers(key),
            Direction::Incoming => links.consumers(key),
        };
        for &other in others {
            let (from, to) = match how.direction {
                Direction::Outgoing => (key, other),
                Direction::Incoming => (other, key),
            };
            merged.contract(how, from, to);
        }
    }
    merged.by_far_end.into_values().collect()
}

/// Relations while they are gathered.
#[derive(Default)]
struct Merged {
    by_far_end: BTreeMap<(SymbolKey, EdgeKind), Relation>,
}

/// How sure it is that two ends of a contract mean each other, in hundredths: their names agree.
const CONTRACT_CONFIDENCE: u8 = 70;

impl Merged {
    fn add(&mut self, how: &Walk, edge: &EdgeView, from: SymbolKey, to: Option<SymbolKey>) {
        let Some(to) = to.filter(|_| edge.origin <= how.min_tier) else {
            return;
        };
        let far = if how.direction == Direction::Outgoing { to } else { from };
        let relation = self.by_far_end.entry((far, edge.kind)).or_insert_with(|| Relation {
            from,
            to,
            kind: edge.kind,
            origin: edge.origin,
            confidence: edge.confidence,
            lines: Vec::new(),
        });
        relation.origin = relation.origin.min(edge.origin);
        relation.confidence = relation.confidence.max(edge.confidence);
        if relation.lines.last() != Some(&edge.at.line) {
            relation.lines.push(edge.at.line);
        }
    }

    fn contract(&mut self, how: &Walk, from: SymbolKey, to: SymbolKey) {
        let far = if how.direction == Direction::Outgoing { to } else { from };
        if Origin::AstInferred <= how.min_tier {
            self.by_far_end
                .entry((far, EdgeKind::Consumes))
                .or_insert_with(|| Relation {
                    from,
                    to,
                    kind: EdgeKind::Consumes,
                    origin: Origin::AstInferred,
                    confidence: CONTRACT_CONFIDENCE,
                    lines: Vec::new(),
                });
        }
    }
}

/// Whether a symbol is a test or stands in a test file.
pub fn is_test(symbol: SymbolView<'_>) -> bool {
    symbol.flags().contains(Flags::TEST) || is_test_path(symbol.path())
}

/// Whether a path is one where tests live, by the conventions of all runners.
pub fn is_test_path(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    folders.split('/').any(|folder| {
        matches!(
            folder,
            "test" | "tests" | "__tests__" | "spec" | "specs" | "testing" | "testdata"
        )
    }) || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || name.contains(".test.")
        || name.contains(".spec.")
        || (stem.ends_with("Test") || stem.ends_with("Tests")) && name.contains('.')
}

/// One page of what a walk reached, as the answer of a traversal tool.
pub fn subgraph(workspace: &Workspace, start: &[SymbolKey], reached: &Reached, page: Page) -> SubGraph {
    let shown = reached.symbols.iter().skip(page.offset).take(page.limit);
    let mut nodes: Vec<Node> = Vec::with_capacity(page.limit.min(reached.symbols.len()) + start.len());
    let mut keep: HashSet<SymbolKey> = HashSet::new();
    for key in start.iter().chain(shown.map(|(key, _)| key)) {
        if let Some(node) = node(workspace, *key) {
            keep.insert(*key);
            nodes.push(node);
        }
    }
    let edges = reached
        .relations
        .iter()
        .filter(|relation| keep.contains(&relation.from) && keep.contains(&relation.to))
        .filter_map(|relation| edge(workspace, relation))
        .collect();
    let end = page.offset.saturating_add(page.limit);
    let more = end < reached.symbols.len();
    let stopped = reached
        .stopped
        .then(|| format!("the walk stopped after {MAX_VISITED} symbols"));
    SubGraph {
        nodes,
        edges,
        total_nodes: (reached.symbols.len() + start.len()) as u64,
        total_edges: reached.relations.len() as u64,
        truncated: more || reached.stopped,
        next_cursor: more.then(|| page::cursor(workspace, end)),
        etag: None,
        incomplete: stopped.or_else(|| workspace.incomplete()),
        account: None,
    }
}

/// A symbol as a node of an answer.
pub fn node(workspace: &Workspace, key: SymbolKey) -> Option<Node> {
    let symbol = workspace.symbol(key)?;
    Some(Node {
        id: workspace.id(key.repository, symbol),
        kind: kinds::kind(symbol).to_string(),
        name: symbol.name().to_string(),
        path: workspace.path(key.repository, symbol.path()),
        line: u64::from(symbol.span().start_line),
    })
}

/// Lines of one edge that are named; of the others the number is said, as in `3,9,+120`.
const MOST_LINES: usize = 20;

fn edge(workspace: &Workspace, relation: &Relation) -> Option<Edge> {
    let mut lines: Vec<String> = relation.lines.iter().take(MOST_LINES).map(u32::to_string).collect();
    if relation.lines.len() > MOST_LINES {
        lines.push(format!("+{}", relation.lines.len() - MOST_LINES));
    }
    Some(Edge {
        from: workspace.id(relation.from.repository, workspace.symbol(relation.from)?),
        to: workspace.id(relation.to.repository, workspace.symbol(relation.to)?),
        kind: kinds::edge_name(relation.kind).to_string(),
        origin: kinds::origin_name(relation.origin).to_string(),
        confidence: f64::from(relation.confidence) / 100.0,
        label: (!lines.is_empty()).then(|| lines.join(",")),
    })
}
