//! Places that are shown as one: small functions of one file that stand near each other, and near-copies, of which one is shown.

use std::collections::{BTreeMap, HashMap};

use index::scan::read_source;

use super::rank::{Place, Ranking};
use crate::workspace::Workspace;

/// Functions of at most so many lines, at most so far from each other, are one place, at most so many.
const SMALL: u32 = 7;
const NEAR: u32 = 25;
const MOST: usize = 4;
/// Places that are looked at for this.
const LOOKED_AT: usize = 40;
/// How many ranks a place may be brought forward.
const FORWARD: usize = 12;
/// Places are alike that share this much of their lines, if they have enough of them.
const ALIKE: f32 = 0.8;
const FEWEST_LINES: usize = 4;

/// Places that are shown as one, as numbers of the ranking, the best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    pub(super) places: Vec<usize>,
    /// Near-copies of it that are not shown.
    pub(super) alike: Vec<usize>,
}

/// All places in groups, in their order.
pub(super) fn groups(workspace: &Workspace, ranking: &Ranking) -> Vec<Group> {
    let places = &ranking.places;
    let copies = copies(workspace, ranking);
    let mut taken = vec![false; places.len()];
    let mut found: Vec<Group> = Vec::new();
    for at in 0..places.len() {
        if taken[at] || copies.contains_key(&at) {
            continue;
        }
        taken[at] = true;
        let mut group = Group {
            places: vec![at],
            alike: Vec::new(),
        };
        if at < LOOKED_AT && is_small(&places[at]) {
            for other in at + 1..places.len().min(at + FORWARD) {
                let near = group.places.iter().any(|&one| is_near(&places[one], &places[other]));
                if group.places.len() < MOST
                    && !taken[other]
                    && !copies.contains_key(&other)
                    && is_small(&places[other])
                    && near
                {
                    taken[other] = true;
                    group.places.push(other);
                }
            }
        }
        found.push(group);
    }
    for (copy, of) in copies {
        if let Some(group) = found.iter_mut().find(|group| group.places.contains(&of)) {
            group.alike.push(copy);
        }
    }
    found.iter_mut().for_each(|group| group.alike.sort_unstable());
    found
}

fn is_small(place: &Place) -> bool {
    place.region.is_function && place.region.last - place.region.first < SMALL && place.line.is_none()
}

fn is_near(one: &Place, other: &Place) -> bool {
    (one.repository, one.file) == (other.repository, other.file)
        && one.region.first.abs_diff(other.region.first) <= NEAR
}

/// Places that say nearly the same as a better one, with that one.
fn copies(workspace: &Workspace, ranking: &Ranking) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::new();
    let mut kept: Vec<(usize, Vec<u64>)> = Vec::new();
    let mut texts: HashMap<(usize, index::model::FileId), Vec<u64>> = HashMap::new();
    for (at, place) in ranking.places.iter().enumerate().take(LOOKED_AT) {
        let lines = texts
            .entry((place.repository, place.file))
            .or_insert_with(|| hashes(workspace, place).unwrap_or_default());
        let range = place.region.first as usize - 1..(place.region.last as usize).min(lines.len());
        let mut own: Vec<u64> = lines
            .get(range)
            .unwrap_or_default()
            .iter()
            .copied()
            .filter(|hash| *hash != 0)
            .collect();
        own.sort_unstable();
        if own.len() < FEWEST_LINES || place.is_exact {
            continue;
        }
        match kept.iter().find(|(_, other)| is_alike(&own, other)) {
            Some((of, _)) => {
                found.insert(at, *of);
            }
            None => kept.push((at, own)),
        }
    }
    found
}

/// Of each line of a place's file, a number that is the same for the same words; 0 for lines without any.
fn hashes(workspace: &Workspace, place: &Place) -> Option<Vec<u64>> {
    let repository = workspace.repository(place.repository)?;
    let file = repository.snapshot.file(place.file)?;
    let (text, _) = read_source(&repository.root, file.path()).ok()?;
    let hash = |line: &str| {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut is_word = false;
        for byte in line.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
            is_word |= byte.is_ascii_alphanumeric();
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if is_word { hash.max(1) } else { 0 }
    };
    Some(text.lines().map(hash).collect())
}

/// Whether two sorted lists share most of what they hold.
fn is_alike(one: &[u64], other: &[u64]) -> bool {
    let (mut left, mut right, mut both) = (0, 0, 0);
    while left < one.len() && right < other.len() {
        match one[left].cmp(&other[right]) {
            std::cmp::Ordering::Less => left += 1,
            std::cmp::Ordering::Greater => right += 1,
            std::cmp::Ordering::Equal => {
                both += 1;
                left += 1;
                right += 1;
            }
        }
    }
    both as f32 >= ALIKE * one.len().max(other.len()) as f32
}
