//! Finding a tool: by a query, ranked over every definition at once, or by a path through namespaces and clusters.
//!
//! A shelf is an immutable set of entries of one kind with everything that is computed from all of them together.

mod clusters;
mod duplicates;
mod lexical;
mod path;
mod semantic;
pub(crate) mod words;

use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashMapExt};
use serde_json::{Map, Value};

use crate::card::{CardKind, ChoiceCard, Safety, card_name, card_tags};
use crate::errors::{ErrorCode, GatewayError};
use lexical::{LexicalIndex, Searchable};

pub use path::{parse_path, parse_path_value};
pub use semantic::{Embedder, VectorTable};
#[cfg(test)]
pub(crate) use words::words_that_count;

/// Most cards a query may ask for.
pub const MAX_TOP_K: usize = 50;

/// What is known about one definition of any kind, ready to be shown and found.
#[derive(Debug, Default)]
pub struct Entry {
    /// The catalog key: a canonical id, or one with `~N`.
    pub id: String,
    pub namespace: String,
    /// The name part of the id.
    pub label: String,
    /// What the upstream (or a rename) calls it.
    pub name: String,
    pub title: String,
    pub description: String,
    pub tags: Vec<String>,
    pub server: String,
    pub kind: CardKind,
    pub has_schema: bool,
    pub cost_hint: f64,
    pub side_effects: bool,
    pub(crate) card: OnceLock<ChoiceCard>,
}

impl Entry {
    /// The card without a score, cut to `card_tokens` once and kept.
    pub fn card(&self, card_tokens: usize) -> &ChoiceCard {
        self.card.get_or_init(|| {
            let tags = card_tags(&self.tags);
            let description = if self.description.is_empty() {
                &self.title
            } else {
                &self.description
            };
            let card = ChoiceCard {
                id: self.id.clone(),
                name: card_name(&self.name),
                description: description.clone(),
                safety: Safety::from_tags(&self.tags),
                tags,
                kind: self.kind,
                namespace: self.namespace.clone(),
                has_schema: self.has_schema,
                score: None,
                cost_hint: self.cost_hint,
                side_effects: self.side_effects,
            };
            // The catalog gave it an id that fits, so the fallback is never needed for entries of a catalog.
            card.clone().fit(card_tokens).unwrap_or(ChoiceCard {
                description: String::new(),
                ..card
            })
        })
    }
}

/// How a shelf answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShelfOptions {
    /// Tokens a card aims at.
    pub card_tokens: usize,
    /// Entries a node lists before it is listed as clusters.
    pub cluster_size: usize,
}

impl Default for ShelfOptions {
    fn default() -> ShelfOptions {
        ShelfOptions {
            card_tokens: 25,
            cluster_size: 100,
        }
    }
}

/// All entries of one kind, in id order.
#[derive(Debug, Default)]
pub struct Shelf {
    entries: Vec<Arc<Entry>>,
    positions: HashMap<String, u32>,
    index: LexicalIndex,
    families: Vec<u32>,
    vectors: Option<VectorTable>,
    options: ShelfOptions,
    roots: OnceLock<Vec<ChoiceCard>>,
}

/// One ranked entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub position: usize,
    pub score: f32,
}

/// What a browse asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowseRequest {
    Query { text: String, top_k: usize },
    Path { path: String },
}

/// Cards in order, and how many there would be without a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowseAnswer {
    pub cards: Vec<ChoiceCard>,
    pub total: usize,
}

impl BrowseRequest {
    /// Reads the arguments of `tool_browse`: exactly one of `query` and `path`, and an optional `top_k`.
    pub fn from_arguments(arguments: &Map<String, Value>, default_top_k: usize) -> Result<BrowseRequest, GatewayError> {
        let invalid = |message: &str| GatewayError::new(ErrorCode::ArgsInvalid, message);
        let given = |key| arguments.get(key).filter(|value| !value.is_null());
        match (given("query"), given("path")) {
            (Some(_), Some(_)) => Err(invalid("give `query` or `path`, not both")),
            (None, None) => Err(invalid("give `query` or `path`; `/` lists the namespaces")),
            (None, Some(path)) => match path.as_str() {
                Some(path) => Ok(BrowseRequest::Path { path: path.to_owned() }),
                None => Err(invalid("`path` must be a string")),
            },
            (Some(query), None) => {
                let Some(text) = query.as_str() else {
                    return Err(invalid("`query` must be a string"));
                };
                let top_k = match given("top_k") {
                    None => default_top_k,
                    Some(value) => value
                        .as_u64()
                        .filter(|top_k| (1..=MAX_TOP_K as u64).contains(top_k))
                        .ok_or_else(|| invalid("`top_k` must be a whole number from 1 to 50"))?
                        as usize,
                };
                Ok(BrowseRequest::Query {
                    text: text.to_owned(),
                    top_k,
                })
            }
        }
    }
}

impl Shelf {
    /// Puts entries on a shelf. Ids must be unique; `parameters` gives the input properties of an entry by its id.
    pub fn build<'a>(
        mut entries: Vec<Arc<Entry>>,
        options: ShelfOptions,
        parameters: impl Fn(&str) -> Option<&'a Map<String, Value>>,
    ) -> Shelf {
        entries.sort_unstable_by(|left, right| left.id.cmp(&right.id));
        let mut positions = HashMap::with_capacity(entries.len());
        for (position, entry) in entries.iter().enumerate() {
            positions.insert(entry.id.clone(), position as u32);
        }
        let index = LexicalIndex::build(entries.iter().map(|entry| Searchable {
            name: &entry.name,
            title: &entry.title,
            description: &entry.description,
            tags: &entry.tags,
            server: if entry.server.is_empty() {
                &entry.namespace
            } else {
                &entry.server
            },
            parameters: parameters(&entry.id),
        }));
        let families = duplicates::families(entries.iter().map(|entry| {
            (
                entry.namespace.as_str(),
                entry.name.as_str(),
                entry.description.as_str(),
            )
        }));
        Shelf {
            entries,
            positions,
            index,
            families,
            vectors: None,
            options,
            roots: OnceLock::new(),
        }
    }

    /// Adds ranking by meaning. Takes what it can from the shelf that this one replaces.
    pub fn with_vectors(mut self, embedder: Arc<dyn Embedder>, previous: Option<&Shelf>) -> Shelf {
        let text = |entry: &Arc<Entry>| format!("{} {} {}", entry.name, entry.title, entry.description);
        let previous = previous.and_then(|shelf| shelf.vectors.as_ref());
        self.vectors = Some(VectorTable::build(embedder, self.entries.iter().map(text), previous));
        self
    }

    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    pub fn get(&self, id: &str) -> Option<&Arc<Entry>> {
        self.positions.get(id).map(|position| &self.entries[*position as usize])
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Answers a browse.
    pub fn browse(&self, request: &BrowseRequest) -> Result<BrowseAnswer, GatewayError> {
        match request {
            BrowseRequest::Query { text, top_k } => Ok(self.query(text, *top_k)),
            BrowseRequest::Path { path } => self.list(path),
        }
    }

    /// The best `top_k` cards for a query: fewer when fewer match, never padded.
    pub fn query(&self, text: &str, top_k: usize) -> BrowseAnswer {
        let (hits, total) = self.rank(text, top_k);
        let cards = hits
            .into_iter()
            .map(|hit| {
                let mut card = self.entries[hit.position].card(self.options.card_tokens).clone();
                card.score = Some((f64::from(hit.score) * 1000.0).round() / 1000.0);
                card
            })
            .collect();
        BrowseAnswer { cards, total }
    }

    /// The ranking behind `query`: by descending score, then by id; near-duplicates only when nothing else is left.
    pub fn route(&self, text: &str, top_k: usize) -> Vec<Hit> {
        self.rank(text, top_k).0
    }

    fn rank(&self, text: &str, top_k: usize) -> (Vec<Hit>, usize) {
        let lexical = self.index.scores(text);
        let scores = match &self.vectors {
            Some(vectors) => semantic::fuse(&lexical, &vectors.similarities(text)),
            None => lexical,
        };
        let mut best_of_family: Vec<u32> = vec![u32::MAX; self.entries.len()];
        let mut matching = 0;
        for (position, score) in scores.iter().enumerate().filter(|(_, score)| **score > 0.0) {
            matching += 1;
            let best = &mut best_of_family[self.families[position] as usize];
            if *best == u32::MAX || scores[*best as usize] < *score {
                *best = position as u32;
            }
        }
        let hit = |position: u32| Hit {
            position: position as usize,
            score: scores[position as usize],
        };
        let leaders: Vec<Hit> = best_of_family
            .iter()
            .filter(|best| **best != u32::MAX)
            .map(|best| hit(*best))
            .collect();
        let missing = top_k.saturating_sub(leaders.len());
        let mut hits = head(leaders, top_k);
        if missing > 0 && matching > hits.len() {
            let is_leader = |position: usize| best_of_family[self.families[position] as usize] as usize == position;
            let others = (0..scores.len()).filter(|position| scores[*position] > 0.0 && !is_leader(*position));
            hits.extend(head(others.map(|position| hit(position as u32)).collect(), missing));
        }
        // Cards are ordered by score, so a duplicate that was let in goes where its score puts it.
        hits.sort_by(by_rank);
        (hits, matching)
    }
}

/// Entries are in id order, so the position breaks ties as the id would.
fn by_rank(left: &Hit, right: &Hit) -> std::cmp::Ordering {
    right
        .score
        .total_cmp(&left.score)
        .then_with(|| left.position.cmp(&right.position))
}

/// The best `count`, in order.
fn head(mut hits: Vec<Hit>, count: usize) -> Vec<Hit> {
    if count == 0 {
        return Vec::new();
    }
    if hits.len() > count {
        hits.select_nth_unstable_by(count - 1, by_rank);
        hits.truncate(count);
    }
    hits.sort_unstable_by(by_rank);
    hits
}
