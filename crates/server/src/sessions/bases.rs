//! Answers that clients may still hold, so that a later one can be said as what changed. Bounded in number and size, and each
//! principal finds only its own.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use wire::answers::ContextPack;

/// Something that a delta can be made from.
#[derive(Clone)]
pub(crate) enum Base {
    Pack(Arc<ContextPack>),
    /// An answer of rows, as compact JSON: its values would take many times the memory, and few are ever asked for again.
    Rows(Arc<str>),
}

/// The answers of all callers, newest last.
#[derive(Default)]
pub(crate) struct Bases {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: VecDeque<Entry>,
    bytes: usize,
}

struct Entry {
    caller: String,
    root: String,
    base: Base,
    bytes: usize,
}

const MOST_ENTRIES: usize = 512;
const MOST_BYTES: usize = 32 << 20;

impl Bases {
    /// The answer of `root` that this caller was sent.
    pub(crate) fn find(&self, caller: &str, root: &str) -> Option<Base> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept
            .entries
            .iter()
            .position(|entry| entry.caller == caller && entry.root == root)?;
        // Used again: it goes last.
        let entry = kept.entries.remove(place)?;
        let base = entry.base.clone();
        kept.entries.push_back(entry);
        Some(base)
    }

    /// Keeps an answer; the oldest make room.
    pub(crate) fn keep(&self, caller: &str, root: &str, base: Base) {
        let bytes = size(&base);
        if bytes > MOST_BYTES / 8 {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = kept
            .entries
            .iter()
            .position(|entry| entry.caller == caller && entry.root == root)
            && let Some(old) = kept.entries.remove(place)
        {
            kept.bytes -= old.bytes;
        }
        kept.bytes += bytes;
        kept.entries.push_back(Entry {
            caller: caller.to_string(),
            root: root.to_string(),
            base,
            bytes,
        });
        while kept.entries.len() > MOST_ENTRIES || kept.bytes > MOST_BYTES {
            let Some(old) = kept.entries.pop_front() else { break };
            kept.bytes -= old.bytes;
        }
    }
}

/// About the memory it takes.
fn size(base: &Base) -> usize {
    match base {
        Base::Pack(pack) => {
            let symbols: usize = pack.symbols.iter().map(|symbol| symbol.id.len() + 120).sum();
            let edges: usize = pack.edges.iter().map(|edge| edge.from.len() + edge.to.len() + 90).sum();
            let texts: usize = pack
                .sources
                .iter()
                .map(|source| source.text.len() + source.id.len() + 90)
                .sum();
            symbols + edges + texts
        }
        Base::Rows(json) => json.len(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wire::answers::{ContextPack, PackSource};

    use super::{Base, Bases, MOST_BYTES, MOST_ENTRIES};

    fn pack(bytes: usize) -> Base {
        let source = PackSource {
            text: "x".repeat(bytes),
            ..PackSource::default()
        };
        Base::Pack(Arc::new(ContextPack {
            sources: vec![source],
            ..ContextPack::default()
        }))
    }

    #[test]
    fn a_base_is_found_by_whom_it_was_sent_to_and_by_nobody_else() {
        let bases = Bases::default();
        bases.keep("alice", "sha256:1", pack(10));
        assert!(bases.find("alice", "sha256:1").is_some());
        assert!(bases.find("bob", "sha256:1").is_none());
        assert!(bases.find("alice", "sha256:2").is_none());
    }

    #[test]
    fn the_store_is_bounded_and_keeps_what_is_used() {
        let bases = Bases::default();
        bases.keep("alice", "first", pack(10));
        for number in 0..MOST_ENTRIES - 1 {
            bases.keep("alice", &number.to_string(), pack(10));
        }
        assert!(bases.find("alice", "first").is_some());
        bases.keep("alice", "one more", pack(10));
        assert!(bases.find("alice", "first").is_some() && bases.find("alice", "0").is_none());
        for number in 0..20 {
            bases.keep("alice", &format!("large{number}"), pack(MOST_BYTES / 9));
        }
        assert!(bases.kept.lock().unwrap().bytes <= MOST_BYTES);
        bases.keep("alice", "too large", pack(MOST_BYTES));
        assert!(bases.find("alice", "too large").is_none());
    }
}
