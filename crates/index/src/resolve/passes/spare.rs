//! The memory of a ledger that is done, for the next one of the same thread.
//!
//! The one trick: its lists have thousands of entries each, and every file of every round has a ledger. To find room for them,
//! let them grow and free them again is a tenth of resolution, and leaves the system's allocator with free pieces of all sizes.

use std::cell::Cell;

use super::Ledger;

/// Most steps of a ledger whose memory is used again.
const MAX_SPARE: usize = 1 << 17;

thread_local! {
    static SPARE: Cell<Option<Box<Ledger>>> = const { Cell::new(None) };
}

impl Ledger {
    /// An empty ledger, in memory that another one has left.
    pub(super) fn spare() -> Ledger {
        SPARE.take().map_or_else(Ledger::default, |spare| *spare)
    }

    /// Leaves the memory for the next ledger of this thread.
    pub(in crate::resolve) fn retire(mut self) {
        if self.traces.len() > MAX_SPARE {
            return;
        }
        self.sets.clear();
        self.changed.clear();
        self.late.clear();
        self.is_open.clear();
        self.traces.clear();
        self.inputs.get_mut().clear();
        self.slots.clear();
        self.said.clear();
        self.saying.clear();
        self.numbers.clear();
        self.sayers.clear();
        self.touched.clear();
        self.open.clear();
        self.journal.clear();
        self.pool.clear();
        SPARE.set(Some(Box::new(Ledger {
            sets: self.sets,
            changed: self.changed,
            late: self.late,
            is_open: self.is_open,
            traces: self.traces,
            inputs: self.inputs,
            slots: self.slots,
            said: self.said,
            saying: self.saying,
            numbers: self.numbers,
            sayers: self.sayers,
            touched: self.touched,
            open: self.open,
            journal: self.journal,
            pool: self.pool,
            ..Ledger::default()
        })));
    }
}
