//! Gives memory back to the system after a question that took much of it, and whenever nobody asks for a moment.
//!
//! The allocator keeps what was freed for the next time. Reading a whole repository for contracts takes a hundred megabytes for a
//! second, and a server that lives for days should not hold them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A question shorter than this has not taken much.
pub(crate) const LONG: Duration = Duration::from_millis(20);
/// Resident bytes beyond those at the last time that are worth the effort.
const MUCH: u64 = 16 << 20;

/// The same once nobody asks.
const SOME: u64 = 1 << 20;
/// Nobody asks, if nobody did for so long.
const REST: Duration = Duration::from_millis(400);

/// Bytes that were resident after memory was last given back.
static RESIDENT: AtomicU64 = AtomicU64::new(0);
/// Questions so far.
static ASKED: AtomicU64 = AtomicU64::new(0);
/// Whether somebody waits for the rest that comes next.
static IS_WAITED_FOR: AtomicBool = AtomicBool::new(false);

/// Called after a long question; gives memory back where much has gathered.
pub(crate) fn tidy() {
    tidy_beyond(MUCH);
}

/// Called after every question, inside the asynchronous runtime; gives memory back when no other follows for a moment.
pub(crate) fn rest_after_this() {
    ASKED.fetch_add(1, Ordering::Relaxed);
    if IS_WAITED_FOR.swap(true, Ordering::Relaxed) {
        return;
    }
    tokio::spawn(async {
        loop {
            let asked = ASKED.load(Ordering::Relaxed);
            tokio::time::sleep(REST).await;
            if ASKED.load(Ordering::Relaxed) == asked {
                break;
            }
        }
        IS_WAITED_FOR.store(false, Ordering::Relaxed);
        drop(tokio::task::spawn_blocking(|| tidy_beyond(SOME)));
    });
}

fn tidy_beyond(bytes: u64) {
    if resident() < RESIDENT.load(Ordering::Relaxed).saturating_add(bytes) {
        return;
    }
    give_back();
    RESIDENT.store(resident(), Ordering::Relaxed);
}

/// Bytes of this process that are resident; 0 where the system does not tell.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}

/// Called before a server starts its threads. The allocator gives threads pools of their own, up to eight for each processor, and
/// what is free in one is of no use to the others: a hundred sessions filled them all, one after the other, and half of it was free.
pub fn share_pools() {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    limit_pools(processors.max(2));
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn limit_pools(most: usize) {
    /// `M_ARENA_MAX` of `malloc.h`.
    const MOST_POOLS: i32 = -8;
    #[expect(unsafe_code, reason = "two numbers, and nothing in Rust passes them on")]
    unsafe {
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        // An allocator that does not know it goes on as it is.
        let _ = mallopt(MOST_POOLS, i32::try_from(most).unwrap_or(i32::MAX));
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn limit_pools(_: usize) {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back() {
    #[expect(
        unsafe_code,
        reason = "a call without arguments that matter; nothing in Rust does it"
    )]
    unsafe {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> i32;
        }
        // Whether anything was given back changes nothing here.
        let _ = malloc_trim(0);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}
