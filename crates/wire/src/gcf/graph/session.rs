//! Sessions: a symbol the client already holds is a number the second time.
//!
//! A reference says what a symbol is; where its score or provenance are other than those sent before, the new ones stand beside, so
//! nothing is lost by it. What was sent counts as held only once the caller commits the draft, that is, once it was delivered.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::super::error::Result;
use super::decode::{Known, read};
use super::encode::{Said, encode, output_order, write_graph};
use super::{Graph, Symbol, abbreviate, quantized};

/// When a session must start again from nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLimits {
    pub symbols: usize,
    pub idle: Duration,
    pub lifetime: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            symbols: 100_000,
            idle: Duration::from_secs(30 * 60),
            lifetime: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// The sender's side. One per client, conversation and producer: never share it.
#[derive(Debug)]
pub struct Session {
    limits: SessionLimits,
    sent: HashMap<Identity, Sent, foldhash::fast::RandomState>,
    next: u64,
    started: Instant,
    used: Instant,
}

type Identity = (String, String);

#[derive(Debug, Clone, PartialEq)]
struct Sent {
    number: u64,
    score: f64,
    provenance: String,
}

/// A payload that counts as delivered only when committed.
#[derive(Debug)]
#[must_use = "commit the draft once it was delivered, or later payloads repeat it"]
pub struct Draft {
    text: String,
    /// What the client will hold; `None` for a full payload outside the session.
    news: Option<Vec<(Identity, Sent)>>,
    next: u64,
    numbers: Vec<u64>,
}

impl Draft {
    /// The number of each symbol, in the order of the graph that was given.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// The payload to send.
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn identity(symbol: &Symbol) -> Identity {
    (abbreviate(&symbol.kind).to_owned(), symbol.qualified_name.clone())
}

impl Session {
    pub fn new(limits: SessionLimits, now: Instant) -> Self {
        Self {
            limits,
            sent: HashMap::default(),
            next: 0,
            started: now,
            used: now,
        }
    }

    /// How many symbols the client holds.
    pub fn len(&self) -> usize {
        self.sent.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// The qualified name of the symbol that has this number.
    pub fn name_of(&self, number: u64) -> Option<&str> {
        let held = self.sent.iter().find(|(_, sent)| sent.number == number);
        held.map(|((_, name), _)| name.as_str())
    }

    /// The number that the next new symbol gets.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Leaves out all numbers below `least`, which mean something else in this conversation.
    pub fn count_from(&mut self, least: u64) {
        self.next = self.next.max(least);
    }

    /// Forgets everything, as when the client lost its context.
    pub fn reset(&mut self, now: Instant) {
        *self = Self::new(self.limits.clone(), now);
    }

    /// Encodes a graph against what the client holds. Past a limit the payload is full, outside the session.
    pub fn prepare(&mut self, graph: &Graph, now: Instant) -> Result<Draft> {
        if now.duration_since(self.used) > self.limits.idle || now.duration_since(self.started) > self.limits.lifetime {
            self.reset(now);
        }
        let order = output_order(&graph.symbols);
        let mut numbers = vec![0; order.len()];
        let mut known = vec![Said::Whole; order.len()];
        let mut news = Vec::new();
        let mut next = self.next;
        for index in &order {
            let symbol = &graph.symbols[*index as usize];
            let identity = identity(symbol);
            let mut sent = Sent {
                number: next,
                score: quantized(symbol.score),
                provenance: symbol.provenance.clone(),
            };
            if let Some(earlier) = self.sent.get(&identity) {
                sent.number = earlier.number;
                known[*index as usize] = if earlier.provenance != sent.provenance {
                    Said::Provenance
                } else if earlier.score != sent.score {
                    Said::Score
                } else {
                    Said::Number
                };
            } else {
                next += 1;
            }
            numbers[*index as usize] = sent.number;
            if known[*index as usize] != Said::Number {
                news.push((identity, sent));
            }
        }
        if self.sent.len() + (next - self.next) as usize > self.limits.symbols {
            return Ok(Draft {
                text: encode(graph)?,
                news: None,
                next: self.next,
                numbers: (0..order.len() as u64).collect(),
            });
        }
        let text = write_graph(graph, &order, &numbers, Some(&known))?;
        Ok(Draft {
            text,
            news: Some(news),
            next,
            numbers,
        })
    }

    /// Records that a draft was delivered.
    pub fn commit(&mut self, draft: Draft, now: Instant) {
        self.used = now;
        let Some(news) = draft.news else {
            // The client got a payload outside the session, so its numbers mean nothing any more.
            self.reset(now);
            return;
        };
        self.next = draft.next;
        self.sent.extend(news);
    }

    /// Prepares and commits at once, for transports that cannot fail to deliver.
    pub fn encode(&mut self, graph: &Graph, now: Instant) -> Result<String> {
        let draft = self.prepare(graph, now)?;
        let text = draft.text.clone();
        self.commit(draft, now);
        Ok(text)
    }
}

/// The receiver's side: resolves references to symbols of earlier payloads.
#[derive(Debug, Default)]
pub struct SessionReader {
    held: Known,
}

impl SessionReader {
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a payload. On an error nothing of it is kept; ask for a full one.
    pub fn decode(&mut self, text: &str) -> Result<Graph> {
        self.decode_numbered(text).map(|(graph, _)| graph)
    }

    /// As [`SessionReader::decode`], with the number of each symbol.
    pub fn decode_numbered(&mut self, text: &str) -> Result<(Graph, Vec<u64>)> {
        let payload = read(text, &self.held)?;
        if !payload.session {
            self.held.clear();
            return Ok((payload.graph, payload.numbers));
        }
        for (number, symbol) in payload.numbers.iter().zip(&payload.graph.symbols) {
            self.held.insert(*number, symbol.clone());
        }
        Ok((payload.graph, payload.numbers))
    }
}
