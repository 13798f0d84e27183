//! Walks outward from a start, level by level, each thing once: how calls and types are followed, by servers and in the graph.

use std::collections::BTreeSet;

/// What is reached in at most `depth` steps, nearest first, with its distance. `step` gives what is next to a thing at a distance;
/// things with the same `key` are the same.
pub(super) fn walk<N: Clone, K: Ord, E>(
    start: &[N],
    depth: u32,
    key: impl Fn(&N) -> K,
    mut step: impl FnMut(&N, u32) -> Result<Vec<N>, E>,
) -> Result<Vec<(u32, N)>, E> {
    let mut seen: BTreeSet<K> = start.iter().map(&key).collect();
    let mut reached: Vec<(u32, N)> = Vec::new();
    let mut level = start.to_vec();
    for away in 1..=depth {
        let mut next = Vec::new();
        for item in &level {
            let others = step(item, away)?;
            next.extend(others.into_iter().filter(|other| seen.insert(key(other))));
        }
        reached.extend(next.iter().map(|other| (away, other.clone())));
        level = next;
    }
    Ok(reached)
}

#[cfg(test)]
mod tests {
    use super::walk;

    #[test]
    fn each_is_reached_once_at_its_least_distance() {
        let next = |number: &u32, _: u32| Ok::<_, ()>(vec![number * 2, number * 3]);
        let reached = walk(&[1], 2, |number| *number, next);
        assert_eq!(reached, Ok(vec![(1, 2), (1, 3), (2, 4), (2, 6), (2, 9)]));
        assert_eq!(
            walk(&[1], 3, |number| *number, |_, _| Err::<Vec<u32>, _>("no")),
            Err("no")
        );
    }
}
