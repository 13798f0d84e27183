//! Ends the processes that Lacon started when Lacon ends, even when Lacon itself is killed outright.
//!
//! A group is a child with all that it starts in turn, known by the number of the child's process. On Unix it is a process group;
//! on Windows a job object. Language servers and upstreams are under the same guard.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use std::process::Command;

/// Has a child start in a group of its own.
pub fn of_its_own(command: &mut Command) {
    system::of_its_own(command);
}

/// Puts a group under guard.
pub fn watch(group: u32) {
    system::watch(group);
}

/// Takes a group that has ended off the list: its number may be given to a stranger.
pub fn forget(group: u32) {
    system::forget(group);
}

/// Asks a group to end. Windows has no such request: who reads from us ends when we close what it reads.
pub fn terminate(group: u32) {
    system::terminate(group);
}

/// Ends a group now. One that is empty is the usual case after a crash, and no error.
pub fn kill(group: u32) {
    system::kill(group);
}

/// Resident memory of a group in bytes; 0 where the system does not say.
pub fn memory(group: u32) -> u64 {
    system::memory(group)
}

/// Whether there is a process with this number.
pub fn is_running(process: u32) -> bool {
    system::is_running(process)
}
