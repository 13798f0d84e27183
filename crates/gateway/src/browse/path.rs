//! Paths: `/` lists namespaces, `/namespace` its tools, deeper segments its clusters, and a tool's name one card.
//!
//! Nothing is kept but the entries: a node is worked out when it is asked for.

use serde_json::Value;

use super::clusters::{Cluster, split};
use super::{BrowseAnswer, Shelf};
use crate::card::{CardKind, ChoiceCard};
use crate::errors::{ErrorCode, GatewayError};
use crate::identity::is_namespace;

const SEGMENT_LIMIT: usize = 64;

/// Splits a path into its segments, the final `*` included.
pub fn parse_path(path: &str) -> Result<Vec<&str>, GatewayError> {
    let invalid = |message: String| Err(GatewayError::new(ErrorCode::PathInvalid, message).with_path(shown(path)));
    if path.is_empty() {
        return invalid("the path is empty; `/` lists the namespaces".to_owned());
    }
    let Some(rest) = path.strip_prefix('/') else {
        return invalid("a path starts with `/`".to_owned());
    };
    if rest.is_empty() {
        return Ok(Vec::new());
    }
    if rest.ends_with('/') {
        return invalid("a path does not end with `/`".to_owned());
    }
    let segments: Vec<&str> = rest.split('/').collect();
    for (position, segment) in segments.iter().enumerate() {
        let last = position + 1 == segments.len();
        match *segment {
            "" => return invalid(format!("segment {position} is empty")),
            "*" if last => {}
            "*" => return invalid("`*` may only be the last segment".to_owned()),
            namespace if position == 0 && !is_namespace(namespace) => {
                return invalid(format!("`{namespace}` is not a namespace: [a-z][a-z0-9_-]{{0,63}}"));
            }
            segment if !is_segment(segment) => {
                return invalid(format!("`{segment}` is not a segment: [a-z0-9][a-z0-9_-]{{0,63}}"));
            }
            _ => {}
        }
    }
    Ok(segments)
}

/// The same for an argument that may not even be text.
pub fn parse_path_value(path: &Value) -> Result<Vec<&str>, GatewayError> {
    match path.as_str() {
        Some(path) => parse_path(path),
        None => Err(GatewayError::new(ErrorCode::PathInvalid, "the path must be a string")),
    }
}

fn is_segment(text: &str) -> bool {
    text.len() <= SEGMENT_LIMIT
        && text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && text
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

/// A name as a path segment: lower case, with `-` for what the grammar refuses. Several names may share one.
pub(super) fn segment_of(name: &str) -> String {
    let mapped = name.chars().map(|c| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9' | '_' | '-') => c,
        _ => '-',
    });
    let text: String = mapped
        .skip_while(|c| matches!(c, '_' | '-'))
        .take(SEGMENT_LIMIT)
        .collect();
    if text.is_empty() { "x".to_owned() } else { text }
}

/// Errors repeat the path, but not a flood.
fn shown(path: &str) -> String {
    path.chars().take(SEGMENT_LIMIT * 4).collect()
}

impl Shelf {
    /// The children of a path.
    pub(super) fn list(&self, path: &str) -> Result<BrowseAnswer, GatewayError> {
        let mut segments = parse_path(path)?;
        let all = segments.last() == Some(&"*");
        if all {
            segments.pop();
        }
        let not_found = || {
            let message = "nothing at this path; `/` lists the namespaces";
            GatewayError::new(ErrorCode::PathNotFound, message).with_path(shown(path))
        };
        let Some((namespace, below)) = segments.split_first() else {
            return Ok(self.namespaces());
        };
        let mut members = self.members(namespace);
        if members.is_empty() {
            return Err(not_found());
        }
        let mut place = format!("/{namespace}");
        for (depth, segment) in below.iter().enumerate() {
            let named: Vec<usize> = members
                .iter()
                .copied()
                .filter(|position| self.segment(*position) == *segment)
                .collect();
            let cluster = self
                .clusters(&members, depth)
                .into_iter()
                .find(|cluster| cluster.segment == *segment);
            place = format!("{place}/{segment}");
            members = match cluster {
                Some(Cluster {
                    members: mut inside, ..
                }) => {
                    // A tool called like the cluster must stay reachable by its own path.
                    inside.extend(named);
                    inside.sort_unstable();
                    inside.dedup();
                    inside
                }
                None if depth + 1 == below.len() && !named.is_empty() && !all => return Ok(self.cards(&named)),
                None => return Err(not_found()),
            };
        }
        Ok(self.children(&members, &place, below.len()))
    }

    /// Entries, or clusters of them when there are too many.
    fn children(&self, members: &[usize], place: &str, depth: usize) -> BrowseAnswer {
        if members.len() <= self.options.cluster_size {
            return self.cards(members);
        }
        let clusters = self.clusters(members, depth);
        let mut clustered: Vec<usize> = clusters
            .iter()
            .flat_map(|cluster| cluster.members.iter().copied())
            .collect();
        clustered.sort_unstable();
        let loose: Vec<usize> = members
            .iter()
            .copied()
            .filter(|position| clustered.binary_search(position).is_err())
            .collect();
        let nodes = clusters.iter().map(|cluster| {
            let names = cluster
                .members
                .iter()
                .map(|position| self.entries[*position].label.as_str());
            self.node(
                format!("{place}/{}", cluster.segment),
                &cluster.segment,
                cluster.members.len(),
                names,
            )
        });
        let mut cards: Vec<ChoiceCard> = nodes.collect();
        cards.extend(self.cards(&loose).cards);
        BrowseAnswer {
            total: cards.len(),
            cards,
        }
    }

    fn cards(&self, members: &[usize]) -> BrowseAnswer {
        let card = |position: &usize| self.entries[*position].card(self.options.card_tokens).clone();
        BrowseAnswer {
            cards: members.iter().map(card).collect(),
            total: members.len(),
        }
    }

    /// One card per namespace. Worked out once: nothing in it depends on the caller.
    fn namespaces(&self) -> BrowseAnswer {
        let cards = self.roots.get_or_init(|| {
            let mut names: Vec<&str> = self.entries.iter().map(|entry| entry.namespace.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            names
                .into_iter()
                .map(|namespace| self.namespace_card(namespace))
                .collect()
        });
        BrowseAnswer {
            cards: cards.clone(),
            total: cards.len(),
        }
    }

    fn namespace_card(&self, namespace: &str) -> ChoiceCard {
        let members = self.members(namespace);
        let path = format!("/{namespace}");
        if members.len() > self.options.cluster_size {
            let clusters = self.clusters(&members, 0);
            let names = clusters.iter().map(|cluster| cluster.segment.as_str());
            return self.node(path, namespace, members.len(), names);
        }
        let names = members.iter().map(|position| self.entries[*position].label.as_str());
        self.node(path, namespace, members.len(), names)
    }

    /// A card that stands for several: how many, and the first names that fit.
    fn node<'a>(&self, path: String, name: &str, count: usize, names: impl Iterator<Item = &'a str>) -> ChoiceCard {
        let noun = match self.entries.first().map(|entry| entry.kind) {
            Some(CardKind::Resource) => "resource",
            Some(CardKind::Prompt) => "prompt",
            _ => "tool",
        };
        let plural = if count == 1 { "" } else { "s" };
        let listed: Vec<&str> = names.take(16).collect();
        let card = ChoiceCard {
            id: path,
            name: name.to_owned(),
            description: format!("{count} {noun}{plural}: {}", listed.join(", ")),
            kind: CardKind::Internal,
            ..ChoiceCard::default()
        };
        card.clone().fit(self.options.card_tokens).unwrap_or(ChoiceCard {
            description: String::new(),
            ..card
        })
    }

    /// Positions of a namespace's entries. They lie together: ids begin with the namespace (after the kind's prefix).
    fn members(&self, namespace: &str) -> Vec<usize> {
        let within = |(position, entry): (usize, &std::sync::Arc<super::Entry>)| {
            (entry.namespace == namespace).then_some(position)
        };
        self.entries.iter().enumerate().filter_map(within).collect()
    }

    fn segment(&self, position: usize) -> String {
        segment_of(&self.entries[position].label)
    }

    fn clusters(&self, members: &[usize], depth: usize) -> Vec<Cluster> {
        let labelled: Vec<(usize, &str)> = members
            .iter()
            .map(|position| (*position, self.entries[*position].label.as_str()))
            .collect();
        split(&labelled, depth, self.options.cluster_size)
    }
}
