//! How much work resolution does, in steps: one for each thing that a lookup looks at. Unlike seconds, steps are the same on every machine
//! and under every load, so a test can say how they grow with a tree.
//!
//! Each thread counts for itself; whoever ends a piece of work adds what its thread counted.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Counts steps of this thread.
pub(super) fn count(steps: usize) {
    TAKEN.with(|taken| taken.set(taken.get() + steps as u64));
}

/// Steps of all threads.
#[derive(Default)]
pub(super) struct Steps(AtomicU64);

impl Steps {
    /// Adds what this thread counted since it was last asked.
    pub(super) fn add(&self) {
        self.0.fetch_add(TAKEN.take(), Ordering::Relaxed);
    }

    /// All that was added.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
