//! Scanning, storage and the snapshot, tested on real directories through the public interface.

mod equality;
mod exchanging;
mod hostile;
mod scanning;
mod snapshots;
mod storing;
mod support;
