//! A reader that finds damage leaves a mark, and whoever keeps the index up to date makes it anew: readers write nothing else.

use std::fs::File;

use super::directory::Location;
use super::disk;

const MARK: &str = "damaged";

/// Tells whoever writes the index of a tree that some of it is damaged. Where nobody does, the next build finds out by itself.
pub fn ask_for_repair(location: &Location) {
    // Not through a link that lies there already; and where nothing can be written, nobody could repair it either.
    let _refused = File::options()
        .write(true)
        .create_new(true)
        .open(location.directory.join(MARK));
}

/// Whether a reader asked for repair.
pub(crate) fn is_asked_for(location: &Location) -> bool {
    std::fs::symlink_metadata(location.directory.join(MARK)).is_ok()
}

/// The repair has begun: damage that is found from now on is asked for again.
pub(crate) fn begin(location: &Location) {
    drop(disk::remove(&location.directory.join(MARK)));
}
