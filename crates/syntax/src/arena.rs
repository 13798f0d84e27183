//! Memory for syntax trees: taken piece by piece, given back all at once.
//!
//! A tree is tens of thousands of small blocks that live exactly as long as the extraction of one file. Finding and freeing
//! them one by one through the system's allocator is a sixth of parsing. Here a block is the next bytes of a chunk, or one that
//! was freed before and has the same size; when the file is done the tree is forgotten and the chunks are used again.
//!
//! What the parser allocates while no arena is current comes from the system, marked as such, so that either kind may be freed
//! at any time. A process that began with bare parsing keeps tree-sitter's own allocator throughout: see [`Memory`].
//!
//! Each use of an arena has a number, which is in the head of every block: a block that is freed while another use is current (of
//! the same arena later, or of one on another thread) is left alone, or two owners would have it. What is made of blocks does not leave
//! [`within`]: only what [`Outlives`] is returned.

#![expect(unsafe_code, reason = "an allocator hands out raw memory; C code is its only user")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where tree-sitter's memory comes from, decided once per process: memory of one kind must not be freed as the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// From an arena per file, as extraction wants it.
    Arena,
    /// From the system, as tree-sitter comes: what extraction is compared with.
    System,
}

impl Memory {
    /// What the process uses; `self` if nobody asked before.
    pub(crate) fn settle(self) -> Memory {
        static SETTLED: OnceLock<Memory> = OnceLock::new();
        *SETTLED.get_or_init(|| {
            if self == Memory::Arena {
                let allocator = tree_sitter::Allocator {
                    malloc: allocate,
                    calloc: allocate_zeroed,
                    realloc: reallocate,
                    free: release,
                };
                // Safe because parsers are made only by those who called this, and all others wait here for the first.
                unsafe { tree_sitter::set_allocator(Some(allocator)) };
            }
            self
        })
    }
}

/// What holds no memory of an arena: no tree, node, cursor or parser.
pub(crate) trait Outlives {}

impl Outlives for (crate::facts::FileFacts, Vec<crate::word_kind::WordKind>) {}
impl Outlives for Vec<crate::guards::Surroundings> {}
impl Outlives for () {}

/// Runs `inside` with an arena for what tree-sitter allocates on this thread. Nothing of it may be used afterwards: `inside`
/// returns what outlives it, and forgets or drops the rest.
pub(crate) fn within<T: Outlives>(inside: impl FnOnce() -> T) -> T {
    if !CURRENT.get().is_null() {
        return inside();
    }
    let _current = Current::begin();
    inside()
}

/// First part of every block, right before what its user sees.
type Head = u64;
const HEAD: usize = size_of::<Head>();
/// What `malloc` promises to align to.
const ALIGNMENT: usize = 16;
/// In a head, the class of the block.
const CLASS: Head = 0xff;
/// In the head of a block from the system.
const FROM_SYSTEM: Head = 1 << 8;
/// Where the number of the use of an arena starts in a head.
const USE_SHIFT: u32 = 16;
/// Blocks up to this size, head included, are sorted into classes by steps of [`ALIGNMENT`], larger ones by powers of two.
const SMALL: usize = 1024;
const SMALL_CLASSES: usize = SMALL / ALIGNMENT;
const CLASSES: usize = SMALL_CLASSES + usize::BITS as usize;
/// How much is taken from the system at a time.
const CHUNK: usize = 512 << 10;
/// How many chunks a thread keeps between files.
const KEPT_CHUNKS: usize = 6;
/// How much is taken at a time for a file that fills those chunks and as many again. So large a block is mapped by every
/// allocator on its own: only what is written takes memory, and all of it goes back to the system with the tree of that file,
/// where smaller blocks would stay between those of others.
const LARGE_CHUNK: usize = 48 << 20;

thread_local! {
    static CURRENT: Cell<*mut Arena> = const { Cell::new(ptr::null_mut()) };
    static SPARE: RefCell<Option<Box<Arena>>> = const { RefCell::new(None) };
}

/// The arena that is current until this is dropped.
struct Current(Option<Box<Arena>>);

impl Current {
    fn begin() -> Current {
        static USES: AtomicU64 = AtomicU64::new(1);
        let mut arena = SPARE.take().unwrap_or_default();
        // In 48 bits: a million files a second take nine years.
        arena.used_as = USES.fetch_add(1, Ordering::Relaxed) << USE_SHIFT;
        CURRENT.set(&mut *arena);
        Current(Some(arena))
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.set(ptr::null_mut());
        if let Some(mut arena) = self.0.take() {
            arena.reset();
            SPARE.set(Some(arena));
        }
    }
}

struct Arena {
    /// Where the next head goes, and the end of the current chunk.
    next: *mut u8,
    end: *mut u8,
    /// By class, blocks that were freed, each holding the address of the one before.
    free: [*mut u8; CLASSES],
    chunks: Vec<Chunk>,
    /// How many chunks are in use.
    used: usize,
    /// The number of this use, as it stands in heads.
    used_as: Head,
}

impl Default for Arena {
    fn default() -> Arena {
        Arena {
            next: ptr::null_mut(),
            end: ptr::null_mut(),
            free: [ptr::null_mut(); CLASSES],
            chunks: Vec::new(),
            used: 0,
            used_as: 0,
        }
    }
}

impl Arena {
    #[inline]
    fn take(&mut self, class: usize) -> *mut u8 {
        let freed = self.free[class];
        if !freed.is_null() {
            // Safe because a block in the list is unused, large enough, and was linked by `put`.
            self.free[class] = unsafe { freed.cast::<*mut u8>().read() };
            return freed;
        }
        let size = size_of_class(class);
        if (self.end as usize) - (self.next as usize) < size {
            self.next_chunk(size);
        }
        // Safe because the chunk has `size` bytes left, and its start is aligned so that what follows a head is.
        unsafe {
            let block = self.next.add(HEAD);
            self.next = self.next.add(size);
            block.sub(HEAD).cast::<Head>().write(class as Head | self.used_as);
            block
        }
    }

    #[inline]
    fn put(&mut self, block: *mut u8, class: usize) {
        // Safe because the smallest block holds an address, and nobody uses this one.
        unsafe { block.cast::<*mut u8>().write(self.free[class]) };
        self.free[class] = block;
    }

    #[cold]
    fn next_chunk(&mut self, size: usize) {
        let needed = size + ALIGNMENT;
        let fits = |chunk: &Chunk| chunk.layout.size() >= needed;
        if !self.chunks.get(self.used).is_some_and(fits) {
            let usual = if self.used < 2 * KEPT_CHUNKS {
                CHUNK
            } else {
                LARGE_CHUNK
            };
            self.chunks.insert(self.used, Chunk::new(needed.max(usual)));
        }
        let chunk = &self.chunks[self.used];
        self.used += 1;
        // Safe because a chunk is longer than its first few bytes. Heads stand before multiples of the alignment.
        unsafe {
            self.next = chunk.start.as_ptr().add(ALIGNMENT - HEAD);
            self.end = chunk.start.as_ptr().add(chunk.layout.size());
        }
    }

    fn reset(&mut self) {
        // Whoever still uses a block should not find what it left there.
        #[cfg(debug_assertions)]
        for chunk in self.chunks.iter().take(self.used) {
            // Safe because a chunk is as long as its layout, and nobody uses it.
            unsafe { chunk.start.as_ptr().write_bytes(0xdd, chunk.layout.size().min(CHUNK)) };
        }
        self.chunks.retain(|chunk| chunk.layout.size() == CHUNK);
        self.chunks.truncate(KEPT_CHUNKS);
        self.used = 0;
        self.next = ptr::null_mut();
        self.end = ptr::null_mut();
        self.free = [ptr::null_mut(); CLASSES];
    }
}

struct Chunk {
    start: NonNull<u8>,
    layout: Layout,
}

impl Chunk {
    fn new(size: usize) -> Chunk {
        let layout = layout_of(size);
        Chunk {
            start: from_system(layout),
            layout,
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // Safe because it was allocated with this layout, and whoever resets an arena says that nobody uses it.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// The class of blocks with room for `size` bytes.
#[inline]
fn class_of(size: usize) -> usize {
    let Some(size) = size.checked_add(HEAD) else {
        handle_alloc_error(Layout::new::<Head>());
    };
    if size <= SMALL {
        size.div_ceil(ALIGNMENT).max(2) - 1
    } else {
        SMALL_CLASSES + (size - 1).ilog2() as usize
    }
}

/// How long a block of a class is, its head included.
#[inline]
fn size_of_class(class: usize) -> usize {
    match class.checked_sub(SMALL_CLASSES) {
        None => (class + 1) * ALIGNMENT,
        // What does not fit into memory is refused by the system.
        Some(power) => 1usize.checked_shl(power as u32 + 1).unwrap_or(usize::MAX / 2),
    }
}

fn layout_of(size: usize) -> Layout {
    Layout::from_size_align(size, ALIGNMENT).unwrap_or_else(|_| handle_alloc_error(Layout::new::<Head>()))
}

fn from_system(layout: Layout) -> NonNull<u8> {
    // Safe because no layout here is empty.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// A block from the system: as from an arena, with a mark in its head.
#[cold]
fn take_from_system(class: usize) -> *mut u8 {
    let start = from_system(layout_of(size_of_class(class) + ALIGNMENT - HEAD)).as_ptr();
    // Safe because the head lies between the start and what the user sees.
    unsafe {
        let block = start.add(ALIGNMENT);
        block.sub(HEAD).cast::<Head>().write(class as Head | FROM_SYSTEM);
        block
    }
}

unsafe extern "C" fn allocate(size: usize) -> *mut c_void {
    let class = class_of(size);
    let arena = CURRENT.get();
    let block = if arena.is_null() {
        take_from_system(class)
    } else {
        // Safe because the current arena is owned by a `Current` of this thread, and no other reference to it is alive.
        unsafe { (*arena).take(class) }
    };
    block.cast()
}

unsafe extern "C" fn allocate_zeroed(count: usize, size: usize) -> *mut c_void {
    let size = count.saturating_mul(size);
    // Safe because the block has room for `size` bytes.
    unsafe {
        let block = allocate(size);
        block.cast::<u8>().write_bytes(0, size);
        block
    }
}

unsafe extern "C" fn reallocate(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() {
        // Safe as any allocation is.
        return unsafe { allocate(size) };
    }
    // Safe because every block has a head, and both blocks have room for what is copied.
    unsafe {
        let class = (head_of(block) & CLASS) as usize;
        let room = size_of_class(class) - HEAD;
        if size <= room {
            return block;
        }
        let larger = allocate(size);
        ptr::copy_nonoverlapping(block.cast::<u8>(), larger.cast::<u8>(), room);
        release(block);
        larger
    }
}

unsafe extern "C" fn release(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // Safe because every block has a head that says where it came from.
    unsafe {
        let head = head_of(block);
        let class = (head & CLASS) as usize;
        if head & FROM_SYSTEM != 0 {
            let layout = layout_of(size_of_class(class) + ALIGNMENT - HEAD);
            dealloc(block.cast::<u8>().sub(ALIGNMENT), layout);
            return;
        }
        // Another arena's block, or one of an earlier use, goes with that arena.
        let arena = CURRENT.get();
        if !arena.is_null() && (*arena).used_as == head & !(CLASS | FROM_SYSTEM) {
            (*arena).put(block.cast(), class);
        }
    }
}

#[inline]
unsafe fn head_of(block: *mut c_void) -> Head {
    // Safe because callers pass blocks that were allocated here.
    unsafe { block.cast::<u8>().sub(HEAD).cast::<Head>().read() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_room_and_are_aligned() {
        for size in (0..5000).chain([1 << 16, (1 << 20) + 1]) {
            let class = class_of(size);
            assert!(size_of_class(class) - HEAD >= size, "{size}");
            assert!(class < CLASSES);
        }
        within(|| {
            let sizes = [0, 1, 8, 24, 25, 100, 1016, 1017, 4096, CHUNK, 3 * CHUNK, 7];
            // Safe because each block is written within the size it was asked for.
            let blocks: Vec<(*mut u8, usize)> = sizes
                .iter()
                .map(|&size| unsafe {
                    let block = allocate(size).cast::<u8>();
                    block.write_bytes(size as u8, size);
                    (block, size)
                })
                .collect();
            for &(block, size) in &blocks {
                assert_eq!(block as usize % ALIGNMENT, 0);
                let bytes = unsafe { std::slice::from_raw_parts(block, size) };
                assert!(bytes.iter().all(|&byte| byte == size as u8), "{size}");
            }
            let (block, size) = blocks[5];
            let grown = unsafe { reallocate(block.cast(), 3000).cast::<u8>() };
            let bytes = unsafe { std::slice::from_raw_parts(grown, size) };
            assert!(bytes.iter().all(|&byte| byte == size as u8));
            // What was freed is what the next of the same size gets.
            assert_eq!(unsafe { allocate(size) }.cast::<u8>(), block);
        });
    }

    /// Two arenas on two threads: what one has given out is not given out by the other, whoever frees it.
    #[test]
    fn a_block_of_another_arena_is_left_alone() {
        struct Sent(*mut c_void);
        // Safe because the thread that allocated the block waits until the other is done with it.
        unsafe impl Send for Sent {}
        within(|| {
            let mine = unsafe { allocate(200) };
            unsafe { mine.cast::<u8>().write_bytes(5, 200) };
            let sent = Sent(mine);
            std::thread::spawn(move || {
                let Sent(block) = { sent };
                within(|| unsafe {
                    release(block);
                    assert_ne!(allocate(200), block, "freed here and in use there");
                    let larger = reallocate(block, 2000).cast::<u8>();
                    assert_eq!(larger.add(199).read(), 5);
                });
            })
            .join()
            .unwrap();
            let bytes = unsafe { std::slice::from_raw_parts(mine.cast::<u8>(), 200) };
            assert!(bytes.iter().all(|&byte| byte == 5));
            unsafe { release(mine) };
            assert_eq!(unsafe { allocate(200) }, mine);
        });
    }

    /// The chunks of an arena are used again for the next file. A late free of the file before must not put a block in use on the list.
    #[test]
    fn a_block_of_an_earlier_use_is_left_alone() {
        let mut early = ptr::null_mut();
        within(|| early = unsafe { allocate(300) });
        within(|| {
            // Some block before, so that the same address is inside of one in use, with a head of another use right before it.
            let now = unsafe { allocate(300) };
            assert_eq!(now, early, "the chunk is used again");
            let other = unsafe { allocate(300) };
            // The head says which use it is: as it was written then.
            let head = unsafe { head_of(now) };
            unsafe {
                now.cast::<u8>().sub(HEAD).cast::<Head>().write(head - (1 << USE_SHIFT));
                release(now);
                now.cast::<u8>().sub(HEAD).cast::<Head>().write(head);
            }
            let third = unsafe { allocate(300) };
            assert!(third != now && third != other);
        });
    }

    #[test]
    fn blocks_from_the_system_may_be_freed_inside_an_arena() {
        // Safe because the block is used as allocated and freed once.
        unsafe {
            let block = allocate(100);
            block.cast::<u8>().write_bytes(7, 100);
            within(|| {
                let larger = reallocate(block, 10_000);
                assert_eq!(larger.cast::<u8>().add(99).read(), 7);
                release(larger);
            });
        }
    }
}
