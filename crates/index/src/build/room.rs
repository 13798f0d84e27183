//! How much of the facts may stay decoded in memory between extraction and the end of resolution.
//!
//! Resolution asks for the facts of a file up to seven times. As many as there is room for stay, whoever comes first: in a scan
//! over a larger tree that keeps a fixed part, where evicting would keep nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use syntax::FileFacts;

/// How much may stay.
const BYTES: i64 = 96 << 20;
/// In a tree of more files that would be a small part of the facts, and memory is dear.
const MANY_FILES: usize = 20_000;

/// What is left of it.
pub(super) struct Room(AtomicI64);

impl Room {
    /// The room for a tree of so many files.
    pub(super) fn of(files: usize) -> Room {
        Room(AtomicI64::new(if files <= MANY_FILES { BYTES } else { 0 }))
    }

    /// Takes the room that facts need; whether there was enough.
    pub(super) fn take(&self, facts: &FileFacts) -> bool {
        let size = size_of_facts(facts);
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            (left >= size).then(|| left - size)
        });
        taken.is_ok()
    }

    /// Keeps facts that were just extracted, if there is room for them.
    pub(super) fn keep(&self, mut facts: FileFacts) -> Option<Arc<FileFacts>> {
        // Extraction guesses how much there will be.
        facts.expressions.shrink_to_fit();
        facts.definitions.shrink_to_fit();
        facts.bindings.shrink_to_fit();
        facts.references.shrink_to_fit();
        facts.flows.shrink_to_fit();
        facts.scopes.shrink_to_fit();
        facts.lists.shrink_to_fit();
        self.take(&facts).then(|| Arc::new(facts))
    }
}

/// About how much memory facts take.
fn size_of_facts(facts: &FileFacts) -> i64 {
    let bytes = size_of_val(&facts.expressions[..])
        + size_of_val(&facts.definitions[..])
        + size_of_val(&facts.bindings[..])
        + size_of_val(&facts.references[..])
        + size_of_val(&facts.flows[..])
        + size_of_val(&facts.scopes[..])
        + size_of_val(&facts.lists[..])
        + facts.strings.blob.len()
        + 4 * facts.strings.len();
    bytes as i64
}
