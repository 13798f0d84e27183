//! Groups the tools of a crowded namespace: by the next part of a dotted name, else by the noun they share.
//! The same tools always give the same clusters.

use std::collections::BTreeMap;

use super::path::segment_of;
use super::words::{stem, words};

/// Tools that belong together, under one path segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    pub segment: String,
    pub members: Vec<usize>,
}

/// Words of tool names that say what is done, not to what.
const VERBS: [&str; 48] = [
    "add", "all", "archive", "assign", "by", "cancel", "check", "clear", "close", "copy", "create", "delete",
    "disable", "download", "edit", "enable", "execute", "export", "fetch", "find", "for", "from", "get", "import",
    "in", "insert", "list", "merge", "move", "new", "of", "open", "post", "query", "read", "remove", "run", "search",
    "send", "set", "start", "stop", "submit", "to", "update", "upload", "view", "write",
];

/// Clusters of at least two members. Tools in none of them are listed by themselves; when nothing is shared at all,
/// the tools are cut into parts in alphabetical order.
pub(super) fn split(labelled: &[(usize, &str)], depth: usize, part_size: usize) -> Vec<Cluster> {
    let candidates: Vec<Vec<String>> = labelled.iter().map(|(_, label)| nouns(label, depth)).collect();
    let mut frequency: BTreeMap<String, usize> = BTreeMap::new();
    for candidate in candidates.iter().flatten() {
        *frequency.entry(stem(candidate).to_owned()).or_default() += 1;
    }
    let mut groups: BTreeMap<&str, (Vec<usize>, BTreeMap<&str, usize>)> = BTreeMap::new();
    for ((position, _), candidates) in labelled.iter().zip(&candidates) {
        // The noun most others share; the first in the alphabet of several. One shared by all splits nothing.
        let useful = |candidate: &&String| {
            let count = frequency.get(stem(candidate)).copied().unwrap_or(0);
            count >= 2 && count < labelled.len()
        };
        let best = candidates.iter().filter(useful).max_by(|left, right| {
            let count = |candidate: &String| frequency.get(stem(candidate)).copied();
            count(left).cmp(&count(right)).then_with(|| right.cmp(left))
        });
        if let Some(best) = best {
            let (members, spellings) = groups.entry(stem(best)).or_default();
            members.push(*position);
            *spellings.entry(best.as_str()).or_default() += 1;
        }
    }
    let mut clusters: Vec<Cluster> = groups
        .into_values()
        .filter(|(members, _)| members.len() >= 2)
        .map(|(members, spellings)| {
            let commonest = spellings
                .iter()
                .max_by(|left, right| left.1.cmp(right.1).then_with(|| right.0.cmp(left.0)));
            Cluster {
                segment: segment_of(commonest.map_or("x", |(spelling, _)| spelling)),
                members,
            }
        })
        .collect();
    if clusters.is_empty() && labelled.len() > part_size {
        let parts = labelled
            .chunks(part_size.max(1))
            .enumerate()
            .map(|(number, part)| Cluster {
                segment: format!("part-{}", number + 1),
                members: part.iter().map(|(position, _)| *position).collect(),
            });
        clusters = parts.collect();
    }
    clusters.sort_by(|left, right| left.segment.cmp(&right.segment));
    clusters
}

/// What a tool may be grouped by at a depth below its namespace.
fn nouns(label: &str, depth: usize) -> Vec<String> {
    let parts: Vec<&str> = label.split(['.', '/']).filter(|part| !part.is_empty()).collect();
    if parts.len() > depth + 1 {
        let segment = segment_of(parts[depth]);
        return vec![segment];
    }
    let mut found: Vec<String> = words(parts.last().unwrap_or(&label))
        .into_iter()
        .filter(|word| word.is_ascii() && word.len() > 1 && VERBS.binary_search(&word.as_str()).is_err())
        .filter(|word| !word.bytes().all(|b| b.is_ascii_digit()))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(labels: &[&str], depth: usize) -> Vec<(String, usize)> {
        let labelled: Vec<(usize, &str)> = labels.iter().copied().enumerate().collect();
        split(&labelled, depth, 4)
            .into_iter()
            .map(|cluster| (cluster.segment, cluster.members.len()))
            .collect()
    }

    #[test]
    fn tools_group_by_noun_or_by_the_next_part_of_the_name() {
        let flat = [
            "create_issue",
            "listIssues",
            "get_issue",
            "merge_pull",
            "list_pulls",
            "ping",
        ];
        assert_eq!(segments(&flat, 0), [("issue".into(), 2 + 1), ("pull".into(), 2)]);
        let dotted = ["roles.create", "roles.assign", "users.create", "users.delete"];
        assert_eq!(segments(&dotted, 0), [("roles".into(), 2), ("users".into(), 2)]);
    }

    #[test]
    fn what_shares_nothing_is_cut_into_parts() {
        assert_eq!(
            segments(&["aa", "bb", "cc", "dd", "ee"], 0),
            [("part-1".into(), 4), ("part-2".into(), 1)]
        );
    }

    #[test]
    fn verbs_are_sorted() {
        assert!(VERBS.is_sorted());
    }
}
