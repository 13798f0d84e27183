//! "Peak memory" as a number and not a guess: an allocator that counts what the asking thread holds.
//!
//! The counters are the thread's own, so tests that run beside a measurement cannot disturb it. The codecs start no threads.

#![expect(
    unsafe_code,
    reason = "an allocator that counts can only be written with the unsafe allocator trait"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The system's allocator, and a count of the bytes that are alive.
struct Counting;

thread_local! {
    // Signed: a thread may free what another one made.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    let live = LIVE.get() + change;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
}

fn signed(size: usize) -> isize {
    isize::try_from(size).unwrap_or(isize::MAX)
}

// SAFETY: every call goes to the system allocator unchanged; only counters are added, and they allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Large blocks are moved by their pages, not copied, so only the new size counts.
        count(signed(new_size) - signed(layout.size()));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `work` and fails when it holds more than 20 times the input's bytes (past 1 MiB) or takes far longer than an
/// unoptimised build on a busy machine needs.
#[track_caller]
pub(crate) fn bounded<T>(name: &str, input_bytes: usize, work: impl FnOnce() -> T) -> T {
    let before = LIVE.get();
    PEAK.set(before);
    let start = Instant::now();
    let result = work();
    let time = start.elapsed();
    let peak = usize::try_from(PEAK.get() - before).unwrap_or(0);
    let allowed = Duration::from_secs(10) + Duration::from_secs(3) * u32::try_from(input_bytes >> 20).unwrap_or(0);
    assert!(time < allowed, "{name}: {time:?} for {input_bytes} bytes of input");
    assert!(
        peak <= 20 * input_bytes + (1 << 20),
        "{name}: peak {peak} bytes for {input_bytes} bytes of input"
    );
    result
}
