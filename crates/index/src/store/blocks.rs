//! A file that is read block by block into memory of its own, each block compared with its checksum before anyone sees it.
//!
//! Why it is not mapped: what is mapped changes under its reader when another program writes the file in place (`cp`, `rsync
//! --inplace`, a restored backup), and the process is killed when the file is truncated or the disk fails. A check of mapped bytes holds
//! only until the next such write. Here bytes are checked once and then belong to this process; whatever happens to the file later, a
//! block is either what was written or not there, and an error of the disk is an error, not a signal. No handler of signals is
//! needed, and Windows and macOS behave alike. The price is that processes do not share what they have read, and that it counts
//! as memory of the process; what nobody asks for is never read.
//!
//! ```text
//! head     magic, versions, lengths; a checksum of itself and of the checksums at the end
//! body     what it is about, in blocks of 16 KiB
//! sums     XXH3 of each block
//! ```

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use memmap2::MmapRaw;
use twox_hash::XxHash3_64;

use super::disk;

/// Bytes that share a checksum and are read together: a question looks at a few places of a large file.
pub(crate) const BLOCK: usize = 16 << 10;
/// Most blocks that are read at once.
const RUN: usize = 16;
/// Bytes of a checksum in the file.
const SUM: usize = size_of::<u64>();

/// Something that is in a file of the index is not what was written, or cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{}` is damaged: {reason}", path.display())]
pub struct Damage {
    /// Which file; empty for one in memory.
    pub path: PathBuf,
    /// What gave it away.
    pub reason: String,
}

/// Where bytes come from, before anything is known of them.
pub(crate) struct Source {
    path: PathBuf,
    length: usize,
    bytes: Bytes,
}

enum Bytes {
    File(File),
    Memory(Vec<u8>),
}

impl Source {
    pub(crate) fn open(path: &Path) -> io::Result<Source> {
        let file = disk::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        Ok(Source {
            path: path.to_path_buf(),
            length,
            bytes: Bytes::File(file),
        })
    }

    pub(crate) fn memory(bytes: Vec<u8>) -> Source {
        Source {
            path: PathBuf::new(),
            length: bytes.len(),
            bytes: Bytes::Memory(bytes),
        }
    }

    /// How long it was when it was opened.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that nothing vouches for yet; fewer where the file ends.
    pub(crate) fn peek(&self, range: Range<usize>) -> io::Result<Vec<u8>> {
        let end = range.end.min(self.length);
        let mut bytes = vec![0; end.saturating_sub(range.start)];
        self.fill(&mut bytes, range.start)?;
        Ok(bytes)
    }

    fn fill(&self, into: &mut [u8], start: usize) -> io::Result<()> {
        match &self.bytes {
            Bytes::File(file) => disk::read_at(file, &self.path, into, start as u64),
            Bytes::Memory(bytes) => {
                let from = bytes.get(start..start + into.len());
                into.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

/// The checksum of a block.
pub(crate) fn checksum(block: &[u8]) -> u64 {
    XxHash3_64::oneshot(block)
}

/// Bytes of the checksums of a body.
pub(crate) fn sums_length(body: usize) -> usize {
    body.div_ceil(BLOCK) * SUM
}

/// Checksums of a body that is written bit by bit.
pub(crate) struct Summing {
    block: Vec<u8>,
    sums: Vec<u8>,
}

impl Summing {
    pub(crate) fn new() -> Summing {
        Summing {
            block: Vec::with_capacity(BLOCK),
            sums: Vec::new(),
        }
    }

    pub(crate) fn put(&mut self, mut bytes: &[u8]) {
        if !self.block.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.block.len()));
            self.block.extend_from_slice(now);
            bytes = later;
            if self.block.len() < BLOCK {
                return;
            }
            self.sums.extend_from_slice(&checksum(&self.block).to_le_bytes());
            self.block.clear();
        }
        let mut blocks = bytes.chunks_exact(BLOCK);
        for block in &mut blocks {
            self.sums.extend_from_slice(&checksum(block).to_le_bytes());
        }
        self.block.extend_from_slice(blocks.remainder());
    }

    /// The checksums as they stand in the file.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if !self.block.is_empty() {
            self.sums.extend_from_slice(&checksum(&self.block).to_le_bytes());
        }
        self.sums
    }
}

const ABSENT: u8 = 0;
const PRESENT: u8 = 1;
const DAMAGED: u8 = 2;

/// See the head of this file.
pub(crate) struct Blocks {
    source: Source,
    memory: MmapRaw,
    body: Range<usize>,
    sums: Box<[u64]>,
    /// By block: whether it has been read, and was as it was written.
    states: Box<[AtomicU8]>,
    /// Held while blocks are read.
    reading: Mutex<()>,
    damage: OnceLock<Damage>,
}

impl Blocks {
    /// A file whose head and checksums are known to be right: `head` and `sums` are what stands before and after the body.
    pub(crate) fn new(source: Source, head: &[u8], sums: &[u8]) -> io::Result<Blocks> {
        let memory = disk::memory(source.length, &source.path)?;
        let body = head.len()..source.length.saturating_sub(sums.len());
        let numbers = sums.chunks_exact(SUM).map(|sum| {
            let mut bytes = [0; SUM];
            bytes.copy_from_slice(sum);
            u64::from_le_bytes(bytes)
        });
        let sums_of_blocks: Box<[u64]> = numbers.collect();
        if body.start > body.end || sums.len() != sums_length(body.len()) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let blocks = Blocks {
            states: sums_of_blocks.iter().map(|_| AtomicU8::new(ABSENT)).collect(),
            sums: sums_of_blocks,
            memory,
            body,
            source,
            reading: Mutex::default(),
            damage: OnceLock::new(),
        };
        blocks.write(0, head);
        blocks.write(blocks.body.end, sums);
        Ok(blocks)
    }

    /// Puts what stands around the body into the memory, while nobody else knows of it.
    fn write(&self, start: usize, bytes: &[u8]) {
        #[expect(unsafe_code, reason = "fills memory that is handed out only once it is complete")]
        // Safe because the memory is as long as the file, and no reference to it exists yet.
        unsafe {
            let to = self.memory.as_mut_ptr().add(start);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
    }

    /// Bytes of the body, counted from the start of the file. `None` where they are not in it or not as they were written;
    /// [`Blocks::damage`] tells which.
    #[inline]
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        if range.start < self.body.start || range.end > self.body.end || range.start > range.end {
            return None;
        }
        if range.is_empty() {
            return Some(&[]);
        }
        let first = (range.start - self.body.start) / BLOCK;
        let last = (range.end - 1 - self.body.start) / BLOCK;
        let is_there = self.states[first].load(Ordering::Acquire) == PRESENT
            && (first == last || self.are_there(first + 1..last + 1));
        if !is_there && !self.read(first..last + 1) {
            return None;
        }
        Some(self.slice(range))
    }

    fn are_there(&self, blocks: Range<usize>) -> bool {
        self.states[blocks]
            .iter()
            .all(|state| state.load(Ordering::Acquire) == PRESENT)
    }

    /// Bytes of blocks that are there, or of what stands around the body.
    #[inline]
    fn slice(&self, range: Range<usize>) -> &[u8] {
        #[expect(
            unsafe_code,
            reason = "hands out memory whose blocks are complete and never written again"
        )]
        // Safe because the range lies in the memory, and blocks are written only before they are marked as present.
        unsafe {
            std::slice::from_raw_parts(self.memory.as_ptr().add(range.start), range.len())
        }
    }

    /// Reads those of the blocks that are not there yet; whether all are there now.
    #[cold]
    fn read(&self, blocks: Range<usize>) -> bool {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let mut at = blocks.start;
        while at < blocks.end {
            match self.states[at].load(Ordering::Acquire) {
                PRESENT => {
                    at += 1;
                    continue;
                }
                ABSENT => {}
                _ => return false,
            }
            let mut end = at + 1;
            while end < blocks.end.min(at + RUN) && self.states[end].load(Ordering::Acquire) == ABSENT {
                end += 1;
            }
            let range = self.bytes_of(at).start..self.bytes_of(end - 1).end;
            let mut right = [false; RUN];
            {
                #[expect(unsafe_code, reason = "fills memory that is handed out only once it is complete")]
                // Safe because the blocks are absent, so that nobody has a reference to them, and the lock is held.
                let bytes =
                    unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().add(range.start), range.len()) };
                if let Err(error) = self.source.fill(bytes, range.start) {
                    self.note(self.unreadable(&range, &error));
                    return false;
                }
                for (number, block) in bytes.chunks(BLOCK).enumerate() {
                    right[number] = checksum(block) == self.sums[at + number];
                }
            }
            for (block, right) in (at..end).zip(right) {
                self.states[block].store(if right { PRESENT } else { DAMAGED }, Ordering::Release);
                if !right {
                    self.note(self.wrong(block));
                }
            }
            if right[..end - at].contains(&false) {
                return false;
            }
            at = end;
        }
        true
    }

    /// Where the block ends that a place of the file lies in.
    pub(crate) fn end_of_block(&self, at: usize) -> usize {
        let from_start = at.saturating_sub(self.body.start);
        let blocks = (from_start / BLOCK).saturating_add(1);
        self.body.start.saturating_add(blocks.saturating_mul(BLOCK))
    }

    fn bytes_of(&self, block: usize) -> Range<usize> {
        let start = self.body.start + block * BLOCK;
        start..(start + BLOCK).min(self.body.end)
    }

    /// What was found to be damaged so far. An answer that was made before this is `None` must not be given.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.damage.get()
    }

    fn note(&self, damage: Damage) {
        // The first is as good as any other.
        let _second = self.damage.set(damage);
    }

    fn wrong(&self, block: usize) -> Damage {
        let Range { start, end } = self.bytes_of(block);
        Damage {
            path: self.source.path.clone(),
            reason: format!("the checksum of bytes {start} to {end} is wrong"),
        }
    }

    fn unreadable(&self, range: &Range<usize>, error: &io::Error) -> Damage {
        Damage {
            path: self.source.path.clone(),
            reason: match error.kind() {
                io::ErrorKind::UnexpectedEof => "it was cut off while it was in use".to_owned(),
                _ => format!("bytes {} to {} cannot be read: {error}", range.start, range.end),
            },
        }
    }

    /// Compares every block in the file with its checksum, and keeps none of them.
    pub(crate) fn verify(&self) -> Result<(), Damage> {
        let mut bytes = vec![0; (RUN * BLOCK).min(self.body.len())];
        for first in (0..self.sums.len()).step_by(RUN) {
            let last = (first + RUN).min(self.sums.len()) - 1;
            let range = self.bytes_of(first).start..self.bytes_of(last).end;
            let bytes = &mut bytes[..range.len()];
            if let Err(error) = self.source.fill(bytes, range.start) {
                return Err(self.unreadable(&range, &error));
            }
            for (block, bytes) in (first..).zip(bytes.chunks(BLOCK)) {
                if checksum(bytes) != self.sums[block] {
                    return Err(self.wrong(block));
                }
            }
        }
        Ok(())
    }

    /// All of the file; `None` where some of it is damaged.
    pub(crate) fn all(&self) -> Option<&[u8]> {
        self.get(self.body.clone())?;
        Some(self.slice(0..self.source.length))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;

    const HEAD: &[u8] = b"a head of some bytes";

    fn written(body: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut summing = Summing::new();
        // In pieces of all sizes, as writers put them.
        let (mut rest, mut size) = (body, 1);
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(rest.len().min(size));
            summing.put(piece);
            rest = later;
            size = size * 3 + 1;
        }
        let sums = summing.finish();
        ([HEAD, body, &sums].concat(), sums)
    }

    fn body(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
    }

    #[test]
    fn what_was_written_is_read_in_any_order() {
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 40 * BLOCK + 5] {
            let body = body(length);
            let (whole, sums) = written(&body);
            assert_eq!(sums.len(), sums_length(length));
            let blocks = Blocks::new(Source::memory(whole.clone()), HEAD, &sums).unwrap();
            for (start, end) in [
                (length / 2, length / 2 + 3),
                (0, 1),
                (length.saturating_sub(2), length),
                (0, length),
            ] {
                let (start, end) = (start.min(length), end.min(length));
                let bytes = blocks.get(HEAD.len() + start..HEAD.len() + end);
                assert_eq!(bytes, Some(&body[start..end]), "{start}..{end} of {length}");
            }
            assert_eq!(blocks.get(HEAD.len()..HEAD.len() + length + 1), None);
            assert_eq!(blocks.get(0..1), None);
            assert_eq!(blocks.all(), Some(&whole[..]));
            assert!(blocks.verify().is_ok() && blocks.damage().is_none());
        }
    }

    #[test]
    fn a_damaged_block_is_never_seen_and_the_others_are() {
        let body = body(5 * BLOCK);
        let (mut whole, sums) = written(&body);
        whole[HEAD.len() + 3 * BLOCK + 17] ^= 4;
        let blocks = Blocks::new(Source::memory(whole), HEAD, &sums).unwrap();
        let at = |block: usize| HEAD.len() + block * BLOCK..HEAD.len() + (block + 1) * BLOCK;
        assert_eq!(blocks.get(at(2)), Some(&body[2 * BLOCK..3 * BLOCK]));
        assert!(blocks.damage().is_none());
        assert_eq!(blocks.get(at(3)), None);
        assert_eq!(blocks.get(at(2).start..at(3).start + 1), None);
        assert_eq!(blocks.get(at(4)), Some(&body[4 * BLOCK..]));
        assert!(blocks.damage().is_some_and(|damage| damage.reason.contains("checksum")));
        assert!(blocks.verify().is_err() && blocks.all().is_none());
    }

    /// What other programs do to a file that is open: nothing that was read changes, nothing that was not is believed.
    #[test]
    fn a_file_that_is_written_in_place_or_cut_off_is_noticed() {
        let body = body(8 * BLOCK);
        let (whole, sums) = written(&body);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        for cut in [false, true] {
            std::fs::write(&path, &whole).unwrap();
            let blocks = Blocks::new(Source::open(&path).unwrap(), HEAD, &sums).unwrap();
            let first = blocks.get(HEAD.len()..HEAD.len() + BLOCK).unwrap();
            if cut {
                std::fs::write(&path, "").unwrap();
            } else {
                let mut file = File::options().write(true).open(&path).unwrap();
                file.seek(SeekFrom::Start(0)).unwrap();
                file.write_all(&vec![0; whole.len()]).unwrap();
            }
            assert_eq!(first, &body[..BLOCK]);
            assert_eq!(blocks.get(HEAD.len()..HEAD.len() + BLOCK), Some(&body[..BLOCK]));
            assert_eq!(blocks.get(HEAD.len() + BLOCK..HEAD.len() + 2 * BLOCK), None);
            let damage = blocks.damage().unwrap();
            assert_eq!(damage.path, path);
            assert_eq!(damage.reason.contains("cut off"), cut, "{damage}");
            assert!(blocks.verify().is_err());
        }
    }

    #[test]
    fn many_threads_read_the_same_blocks() {
        let body = body(64 * BLOCK);
        let (whole, sums) = written(&body);
        let blocks = Blocks::new(Source::memory(whole), HEAD, &sums).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (blocks, body) = (&blocks, &body);
                scope.spawn(move || {
                    for step in 0..500 {
                        let start = (step * 7919 + thread * 104_729) % (body.len() - 300);
                        let bytes = blocks.get(HEAD.len() + start..HEAD.len() + start + 300);
                        assert_eq!(bytes, Some(&body[start..start + 300]));
                    }
                });
            }
        });
    }

    #[test]
    fn a_pipe_or_a_link_is_no_file() {
        let directory = tempfile::tempdir().unwrap();
        assert!(Source::open(directory.path()).is_err());
        #[cfg(unix)]
        {
            let link = directory.path().join("link");
            std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
            assert!(Source::open(&link).is_err());
        }
    }
}
