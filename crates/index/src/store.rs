//! What is kept on disk: facts by content, the stat cache, the current snapshot, and the lock that lets one process write.
//!
//! Everything here can be made again from the tree, so the answer to damage is to say so and rebuild. Readers need no lock:
//! a snapshot is replaced by renaming a finished file over it, and stays as it was for those who have it open.

mod blocks;
mod directory;
mod disk;
mod facts;
mod pack;
pub(crate) mod repair;
mod replace;
mod stats;

pub use blocks::Damage;
pub use directory::{Directory, Location, Place, StoreError, WriterLock, no_follow};
pub use facts::{FactsKey, FactsStore, Notice};
pub use repair::ask_for_repair;

pub(crate) use blocks::{Blocks, Source, Summing, sums_length};
#[cfg(test)]
pub(crate) use disk::faults;
pub(crate) use stats::{Known, Stats, Walked};
