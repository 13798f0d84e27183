//! Sorts of relations: kind, origin and confidence together, named once in the header by their kind.
//!
//! `calls=ast_resolved/0.98 calls2=ast_inferred/0.6`: the commonest of a kind has no number. One sort is the usual one at a time: at
//! first the first of the header, then whichever stood last on a line of its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::cells::read;
use crate::gcx::Header;
use crate::layout::Kind;

/// The sorts of one answer, by name.
pub(super) struct Styles {
    sorts: Vec<Sort>,
}

#[derive(Clone, PartialEq)]
struct Sort {
    name: String,
    kind: String,
    /// Origin and confidence, as the header has them.
    trust: String,
}

/// More sorts than this and an answer has no dense form.
const MOST: usize = 40;
/// A sort becomes the usual one where so many rows in a row have it.
const LEAST_RUN: usize = 3;

impl Styles {
    /// The sorts of relations, and that of each.
    pub(super) fn of<'a>(
        relations: impl Iterator<Item = &'a Map<String, Value>>,
        kind_member: &str,
    ) -> Option<(Styles, Vec<usize>)> {
        let mut counts: Vec<(Sort, usize)> = Vec::new();
        let mut numbers = Vec::new();
        for relation in relations {
            let text = |name: &str| relation.get(name)?.as_str();
            let confidence = relation.get("confidence").filter(|value| value.is_number())?;
            let sort = Sort {
                name: String::new(),
                kind: text(kind_member)?.to_string(),
                trust: format!("{}/{confidence}", text("origin").filter(|origin| is_word(origin))?),
            };
            let number = match counts.iter().position(|(known, _)| *known == sort) {
                Some(number) => number,
                None if counts.len() < MOST && is_word(&sort.kind) => {
                    counts.push((sort, 0));
                    counts.len() - 1
                }
                None => return None,
            };
            counts[number].1 += 1;
            numbers.push(number);
        }
        let mut by_count: Vec<usize> = (0..counts.len()).collect();
        by_count.sort_by_key(|&number| std::cmp::Reverse(counts[number].1));
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for &number in &by_count {
            let sort = &mut counts[number].0;
            let taken = taken.entry(sort.kind.clone()).or_default();
            *taken += 1;
            sort.name = match *taken {
                1 => sort.kind.clone(),
                several => format!("{}{several}", sort.kind),
            };
        }
        let mut by_name: Vec<usize> = (0..counts.len()).collect();
        by_name.sort_by(|&one, &other| counts[one].0.name.cmp(&counts[other].0.name));
        let place = |number: usize| by_name.iter().position(|&other| other == number);
        let numbers = numbers.into_iter().map(place).collect::<Option<_>>()?;
        let sorts = by_name.iter().map(|&number| counts[number].0.clone()).collect();
        Some((Styles { sorts }, numbers))
    }

    /// The sorts that a header names: entries that mean nothing else and whose value is an origin and a confidence.
    pub(super) fn read(header: &Header, is_free: impl Fn(&str) -> bool) -> Styles {
        let sort = |(name, value): &(String, String)| {
            let (origin, confidence) = value.split_once('/')?;
            read(Kind::Float, confidence)?;
            (is_word(name.trim_end_matches(|c: char| c.is_ascii_digit())) && is_word(origin)).then(|| Sort {
                name: name.clone(),
                kind: name.trim_end_matches(|c: char| c.is_ascii_digit()).to_string(),
                trust: value.clone(),
            })
        };
        let mut sorts: Vec<Sort> = header
            .entries
            .iter()
            .filter(|(name, _)| is_free(name))
            .filter_map(sort)
            .collect();
        sorts.sort_by(|one, other| one.name.cmp(&other.name));
        Styles { sorts }
    }

    /// Puts them into the header; none where an entry of that name is there already.
    pub(super) fn put(&self, entries: &mut BTreeMap<String, String>) -> Option<()> {
        self.sorts
            .iter()
            .all(|sort| entries.insert(sort.name.clone(), sort.trust.clone()).is_none())
            .then_some(())
    }

    pub(super) fn name(&self, number: usize) -> &str {
        self.sorts.get(number).map_or("", |sort| &sort.name)
    }

    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.sorts.iter().position(|sort| sort.name == name)
    }

    /// Adds kind, origin and confidence to a relation.
    pub(super) fn fill(&self, number: usize, kind_member: &str, relation: &mut Map<String, Value>) -> Option<()> {
        let sort = self.sorts.get(number)?;
        let (origin, confidence) = sort.trust.split_once('/')?;
        relation.insert(kind_member.to_string(), sort.kind.as_str().into());
        relation.insert("origin".to_string(), origin.into());
        relation.insert("confidence".to_string(), read(Kind::Float, confidence)?);
        Some(())
    }
}

/// The usual sort at each row, from the sorts of the rows' first relations: it changes where several rows in a row agree.
pub(super) fn usual_at(styles: &[Option<usize>]) -> Vec<usize> {
    let mut usual = 0;
    let mut all = Vec::with_capacity(styles.len());
    for (at, style) in styles.iter().enumerate() {
        if let Some(style) = style.filter(|style| *style != usual) {
            let run = styles[at..].iter().flatten().take_while(|other| **other == style);
            if run.take(LEAST_RUN).count() == LEAST_RUN {
                usual = style;
            }
        }
        all.push(usual);
    }
    all
}

fn is_word(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    !text.is_empty() && text.chars().all(is_letter)
}
