//! Scanning, storage and the snapshot, tested on real directories through the public interface.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the way tests do")]

mod damage;
mod edits;
mod equality;
mod exchanging;
mod following;
mod histories;
mod hostile;
mod planted;
mod scanning;
mod snapshots;
mod storing;
mod support;
mod tracked;
