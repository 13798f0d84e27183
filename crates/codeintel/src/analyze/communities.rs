//! Symbols that belong together: label moving by modularity (the first level of Louvain), then the same over communities.
//!
//! Deterministic: symbols are visited in their order, ties go to the lower label, and the number of rounds is fixed.

use std::collections::BTreeMap;

use index::model::{EdgeKind, Origin};
use index::snapshot::{Snapshot, SymbolId};

use crate::workspace::Stop;

/// A partition of the symbols of one snapshot.
pub struct Communities {
    of: Vec<u32>,
    count: u32,
    modularity: f64,
}

impl Communities {
    /// The partition of nothing.
    pub(crate) const NOTHING: Communities = Communities {
        of: Vec::new(),
        count: 0,
        modularity: 0.0,
    };

    /// The community of a symbol.
    pub fn of(&self, symbol: SymbolId) -> u32 {
        self.of.get(symbol.0 as usize).copied().unwrap_or(u32::MAX)
    }

    /// How many there are, single symbols included.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How good the partition is, −0.5 to 1.
    pub fn modularity(&self) -> f64 {
        self.modularity
    }

    /// The members of every community with at least `least` of them, largest first.
    pub fn groups(&self, least: usize) -> Vec<(u32, Vec<SymbolId>)> {
        let mut members: BTreeMap<u32, Vec<SymbolId>> = BTreeMap::new();
        for (symbol, &community) in self.of.iter().enumerate() {
            members.entry(community).or_default().push(SymbolId(symbol as u32));
        }
        let mut groups: Vec<(u32, Vec<SymbolId>)> =
            members.into_iter().filter(|(_, group)| group.len() >= least).collect();
        groups.sort_by_key(|(label, group)| (std::cmp::Reverse(group.len()), *label));
        groups
    }
}

/// How strongly an edge binds its ends; 0 for those that do not.
fn weight(kind: EdgeKind) -> f32 {
    match kind {
        EdgeKind::Calls => 3.0,
        EdgeKind::Contains | EdgeKind::Implements | EdgeKind::Extends | EdgeKind::Overrides => 2.0,
        EdgeKind::References | EdgeKind::Reads | EdgeKind::Writes => 1.5,
        EdgeKind::Instantiates => 1.0,
        EdgeKind::Imports => 0.5,
        EdgeKind::Decorated | EdgeKind::Tests | EdgeKind::Provides | EdgeKind::Consumes => 0.0,
    }
}

const ROUNDS: usize = 6;
const LEVELS: usize = 3;

/// Partitions the symbols of a snapshot; once stopped, not well.
pub(crate) fn communities(snapshot: &Snapshot, stop: &Stop) -> Communities {
    let mut graph = Graph::of(snapshot);
    let mut of: Vec<u32> = (0..snapshot.symbol_count() as u32).collect();
    let mut modularity = 0.0;
    for _ in 0..LEVELS {
        let (labels, count) = graph.partition(stop);
        for label in &mut of {
            *label = labels[*label as usize];
        }
        modularity = graph.modularity(&labels);
        if count == graph.len() || stop.is_stopped() {
            break;
        }
        graph = graph.folded(&labels, count);
    }
    let count = of.iter().copied().max().map_or(0, |most| most + 1);
    Communities { of, count, modularity }
}

/// An undirected weighted graph, neighbours of each node in one run.
struct Graph {
    starts: Vec<u32>,
    ends: Vec<(u32, f32)>,
    /// Weight of loops, counted twice as modularity wants it.
    loops: Vec<f32>,
    degrees: Vec<f64>,
    total: f64,
}

impl Graph {
    fn of(snapshot: &Snapshot) -> Graph {
        let pairs = snapshot.edges(index::snapshot::EdgeKinds::ALL).filter_map(|edge| {
            let weight = if edge.origin <= Origin::AstInferred {
                weight(edge.kind)
            } else {
                0.0
            };
            let to = edge.to.symbol()?;
            (weight > 0.0 && to != edge.from).then_some((edge.from.0, to.0, weight))
        });
        Graph::from_pairs(
            snapshot.symbol_count(),
            pairs.collect(),
            vec![0.0; snapshot.symbol_count()],
        )
    }

    fn from_pairs(nodes: usize, mut pairs: Vec<(u32, u32, f32)>, loops: Vec<f32>) -> Graph {
        let mirrored: Vec<(u32, u32, f32)> = pairs.iter().map(|&(from, to, weight)| (to, from, weight)).collect();
        pairs.extend(mirrored);
        pairs.sort_unstable_by_key(|&(from, to, _)| (from, to));
        pairs.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let mut starts = vec![0u32; nodes + 1];
        for &(from, _, _) in &pairs {
            starts[from as usize + 1] += 1;
        }
        for at in 0..nodes {
            starts[at + 1] += starts[at];
        }
        let mut degrees: Vec<f64> = loops.iter().map(|&weight| f64::from(weight)).collect();
        for &(from, _, weight) in &pairs {
            degrees[from as usize] += f64::from(weight);
        }
        let total = degrees.iter().sum::<f64>();
        Graph {
            starts,
            ends: pairs.into_iter().map(|(_, to, weight)| (to, weight)).collect(),
            loops,
            degrees,
            total,
        }
    }

    fn len(&self) -> usize {
        self.degrees.len()
    }

    fn neighbours(&self, node: usize) -> &[(u32, f32)] {
        &self.ends[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Moves nodes to the neighbouring label that gains most, then numbers the labels from 0 in order of first use.
    fn partition(&self, stop: &Stop) -> (Vec<u32>, usize) {
        let mut labels: Vec<u32> = (0..self.len() as u32).collect();
        let mut volume = self.degrees.clone();
        let mut towards: BTreeMap<u32, f64> = BTreeMap::new();
        for _ in 0..ROUNDS {
            let mut moved = 0usize;
            for node in 0..self.len() {
                let own = labels[node];
                towards.clear();
                for &(other, weight) in self.neighbours(node) {
                    *towards.entry(labels[other as usize]).or_default() += f64::from(weight);
                }
                if towards.is_empty() {
                    continue;
                }
                volume[own as usize] -= self.degrees[node];
                let gain = |label: u32, shared: f64| shared - volume[label as usize] * self.degrees[node] / self.total;
                let stay = gain(own, towards.get(&own).copied().unwrap_or(0.0));
                let mut best = (own, stay + 1e-9);
                for (&label, &shared) in &towards {
                    let gained = gain(label, shared);
                    if gained > best.1 {
                        best = (label, gained);
                    }
                }
                volume[best.0 as usize] += self.degrees[node];
                if best.0 != own {
                    labels[node] = best.0;
                    moved += 1;
                }
            }
            if moved * 200 < self.len() || stop.is_stopped() {
                break;
            }
        }
        let mut numbers = vec![u32::MAX; self.len()];
        let mut next = 0;
        for label in &mut labels {
            let number = &mut numbers[*label as usize];
            if *number == u32::MAX {
                *number = next;
                next += 1;
            }
            *label = *number;
        }
        (labels, next as usize)
    }

    fn modularity(&self, labels: &[u32]) -> f64 {
        if self.total == 0.0 {
            return 0.0;
        }
        let count = labels.iter().copied().max().map_or(0, |most| most as usize + 1);
        let (mut inside, mut volume) = (vec![0.0f64; count], vec![0.0f64; count]);
        for node in 0..self.len() {
            let label = labels[node] as usize;
            volume[label] += self.degrees[node];
            inside[label] += f64::from(self.loops[node]);
            let own = self
                .neighbours(node)
                .iter()
                .filter(|(other, _)| labels[*other as usize] as usize == label);
            inside[label] += own.map(|(_, weight)| f64::from(*weight)).sum::<f64>();
        }
        inside
            .iter()
            .zip(&volume)
            .map(|(inside, volume)| inside / self.total - (volume / self.total).powi(2))
            .sum()
    }

    /// The graph whose nodes are the labels.
    fn folded(&self, labels: &[u32], count: usize) -> Graph {
        let mut loops = vec![0.0f32; count];
        let mut pairs: Vec<(u32, u32, f32)> = Vec::new();
        for node in 0..self.len() {
            loops[labels[node] as usize] += self.loops[node];
            for &(other, weight) in self.neighbours(node) {
                let (from, to) = (labels[node], labels[other as usize]);
                if from == to {
                    loops[from as usize] += weight;
                } else if from < to {
                    pairs.push((from, to, weight));
                }
            }
        }
        Graph::from_pairs(count, pairs, loops)
    }
}
