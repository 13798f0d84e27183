//! A sender that follows one keyed set through time, and repeats it whole often enough that a model need not follow a long
//! chain of deltas.

use super::{KeyedSet, Reply, Result, diff, encode, encode_delta};

/// When a sender repeats everything, so that a model need not follow a long chain of deltas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reanchor {
    /// Every so many turns.
    Every(u32),
    /// Once the deltas since the last full payload are as long as a full one.
    BySize,
}

impl Default for Reanchor {
    fn default() -> Self {
        Self::Every(15)
    }
}

/// A sender that follows one set through time.
#[derive(Debug, Clone)]
pub struct DeltaSession {
    current: KeyedSet,
    tool: String,
    policy: Reanchor,
    turns: u32,
    delta_bytes: usize,
}

impl DeltaSession {
    /// Starts a session; the second value is the full payload to send first.
    pub fn new(base: KeyedSet, tool: &str, policy: Reanchor) -> Result<(Self, String)> {
        let text = encode(&base, tool)?;
        Ok((
            Self {
                current: base,
                tool: tool.to_owned(),
                policy,
                turns: 0,
                delta_bytes: 0,
            },
            text,
        ))
    }

    /// What to send now that the set has changed: a delta, or by policy or need the full payload.
    pub fn next(&mut self, next: KeyedSet) -> Result<Reply> {
        self.turns += 1;
        let full = encode(&next, &self.tool)?;
        let delta = match diff(&self.current, &next) {
            Ok(delta) => Some(encode_delta(&delta)?),
            Err(_) => None,
        };
        self.current = next;
        match delta {
            Some(delta) if !self.must_reanchor(&delta, &full) => {
                self.delta_bytes += delta.len();
                Ok(Reply::Delta(delta))
            }
            _ => {
                self.turns = 0;
                self.delta_bytes = 0;
                Ok(Reply::Full(full))
            }
        }
    }

    fn must_reanchor(&self, delta: &str, full: &str) -> bool {
        match self.policy {
            Reanchor::Every(turns) => self.turns >= turns,
            Reanchor::BySize => self.delta_bytes + delta.len() >= full.len(),
        }
    }
}
