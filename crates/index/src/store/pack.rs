//! A pack: many compressed records in one file, found by key.
//!
//! Records are appended with a checksum each; a finished pack ends in a sorted index of keys. A pack whose writer was killed
//! has no index: its records are then read one after the other, up to the first that is not whole, so nothing that reached
//! the disk is lost. Packs are never changed once finished, so any number of processes may read them. What a pack holds is
//! checked whenever it is read: the index when the pack is opened, a record each time.
//!
//! Why not an embedded database: facts are written once and read by key, several work trees write at the same time, and
//! page-based stores round each large value up to whole pages. A pack is as big as its records.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};
use zstd::bulk::{Compressor, Decompressor};

use super::disk::{self, Output};
use super::facts::FactsKey;

const MAGIC: [u8; 8] = *b"LACONPK\n";
const INDEX_MAGIC: [u8; 8] = *b"LACONIX\n";
const VERSION: u32 = 2;
/// Compression: a quarter smaller than LZ4 on real facts. Higher levels gain 3 % more for twice the time.
const LEVEL: i32 = 1;
thread_local! {
    // A context is a quarter of a megabyte to set up, and most records are a few kilobytes.
    static COMPRESSOR: RefCell<Compressor<'static>> = RefCell::new(Compressor::new(LEVEL).unwrap_or_default());
    static DECOMPRESSOR: RefCell<Decompressor<'static>> = RefCell::new(Decompressor::new().unwrap_or_default());
}
/// Largest record that is believed, compressed or not.
const MAX_RECORD: usize = 1 << 30;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
struct Head {
    magic: [u8; 8],
    version: U32,
    /// Version of the facts inside.
    facts_version: U32,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
struct RecordHead {
    key: [u8; 32],
    compressed: U32,
    raw: U32,
    /// First bytes of the BLAKE3 of the compressed bytes.
    checksum: [u8; 8],
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
struct IndexEntry {
    key: [u8; 32],
    /// Where the record's head starts.
    offset: U64,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
struct Trailer {
    index_offset: U64,
    entries: U64,
    /// BLAKE3 of the index.
    checksum: [u8; 32],
    magic: [u8; 8],
}

/// What opening a pack found.
pub(super) enum Opened {
    /// It can be read.
    Pack(Pack),
    /// It was written by another version.
    OtherVersion,
    /// It is not a pack.
    Damaged,
}

/// A pack. Its index is in memory; records are read when they are asked for, so that facts passing through do not stay.
pub(super) struct Pack {
    file: File,
    path: PathBuf,
    length: usize,
    index: Index,
    /// End of the last whole record.
    end: usize,
}

enum Index {
    /// The sorted index as it stands in the file.
    Sorted(Vec<u8>),
    /// Found by reading the records.
    Found(HashMap<[u8; 32], u64>),
}

impl Pack {
    /// Opens a pack of the given version of facts.
    pub(super) fn open(path: &Path, facts_version: u32) -> io::Result<Opened> {
        let file = disk::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut pack = Pack {
            file,
            path: path.to_path_buf(),
            length,
            index: Index::Found(HashMap::new()),
            end: length,
        };
        if length < size_of::<Head>() {
            return Ok(Opened::Damaged);
        }
        let Ok(head) = Head::read_from_bytes(&pack.bytes(0, size_of::<Head>())?) else {
            return Ok(Opened::Damaged);
        };
        if head.magic != MAGIC {
            return Ok(Opened::Damaged);
        }
        if head.version.get() != VERSION || head.facts_version.get() != facts_version {
            return Ok(Opened::OtherVersion);
        }
        match pack.read_index()? {
            Some((index, start)) => (pack.index, pack.end) = (Index::Sorted(index), start),
            None => {
                let mut found = HashMap::new();
                pack.end = pack.for_each_record(|at, record| {
                    found.insert(record.key, at as u64);
                    Ok(())
                })?;
                pack.index = Index::Found(found);
            }
        }
        Ok(Opened::Pack(pack))
    }

    /// The index at the end of the file and where it starts; `None` where there is none that is whole.
    fn read_index(&self) -> io::Result<Option<(Vec<u8>, usize)>> {
        let Some(at) = self.length.checked_sub(size_of::<Trailer>()) else {
            return Ok(None);
        };
        let trailer = self.bytes(at, size_of::<Trailer>())?;
        let range = Trailer::read_from_bytes(&trailer).ok().and_then(|trailer| {
            let start = usize::try_from(trailer.index_offset.get()).ok()?;
            let entries = usize::try_from(trailer.entries.get()).ok()?;
            let length = entries.checked_mul(size_of::<IndexEntry>())?;
            let fits = trailer.magic == INDEX_MAGIC && start.checked_add(length)? == at;
            fits.then_some((start, length, trailer.checksum))
        });
        let Some((start, length, checksum)) = range else {
            return Ok(None);
        };
        let index = self.bytes(start, length)?;
        Ok((*blake3::hash(&index).as_bytes() == checksum).then_some((index, start)))
    }

    fn bytes(&self, start: usize, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        disk::read_at(&self.file, &self.path, &mut bytes, start as u64)?;
        Ok(bytes)
    }

    /// The record of a key, decompressed. `Err` where it is there and not whole.
    pub(super) fn get(&self, key: &FactsKey) -> Option<Result<Vec<u8>, ()>> {
        let offset = self.offset(key)?;
        let bytes = self.read(offset).unwrap_or_default();
        let whole = read_record(&bytes, 0).filter(|record| record.key == key.0);
        Some(whole.ok_or(()).and_then(|record| record.decompress().ok_or(())))
    }

    /// The bytes of the record at `offset`: mostly one read, a second one for what is larger than usual.
    fn read(&self, offset: usize) -> io::Result<Vec<u8>> {
        const USUAL: usize = 8 << 10;
        let rest = self.end.saturating_sub(offset);
        let mut bytes = vec![0; rest.min(USUAL)];
        disk::read_at(&self.file, &self.path, &mut bytes, offset as u64)?;
        if let Ok((head, _)) = RecordHead::read_from_prefix(&bytes[..]) {
            let length = size_of::<RecordHead>() + head.compressed.get() as usize;
            let known = bytes.len();
            if length > known && length <= rest {
                bytes.resize(length, 0);
                disk::read_at(&self.file, &self.path, &mut bytes[known..], (offset + known) as u64)?;
            }
        }
        Ok(bytes)
    }

    /// Whether the key is in the index.
    pub(super) fn contains(&self, key: &FactsKey) -> bool {
        self.offset(key).is_some()
    }

    /// Hears all whole records in the order of the file, still compressed, and where they are. Returns where they end.
    pub(super) fn for_each_record(
        &self,
        mut hear: impl FnMut(usize, Record<'_>) -> io::Result<()>,
    ) -> io::Result<usize> {
        let (mut at, mut buffer, mut buffer_at) = (size_of::<Head>(), Vec::new(), size_of::<Head>());
        while at < self.end {
            let known = at - buffer_at;
            if let Some(record) = read_record(&buffer, known) {
                let length = record.length();
                hear(at, record)?;
                at += length;
                continue;
            }
            // Not all of it has been read, unless it is damaged or cut off.
            let needed = match RecordHead::ref_from_prefix(buffer.get(known..).unwrap_or_default()) {
                Ok((head, _)) => size_of::<RecordHead>() + head.compressed.get() as usize,
                Err(_) => size_of::<RecordHead>(),
            };
            let rest = self.end - at;
            if needed > rest || (needed <= buffer.len().saturating_sub(known) && !buffer.is_empty()) {
                break;
            }
            buffer = self.bytes(at, rest.min(needed.max(PENDING)))?;
            buffer_at = at;
        }
        Ok(at)
    }

    /// Size of the file.
    pub(super) fn size(&self) -> u64 {
        self.length as u64
    }

    fn offset(&self, key: &FactsKey) -> Option<usize> {
        match &self.index {
            Index::Found(records) => records.get(&key.0).map(|&offset| offset as usize),
            Index::Sorted(bytes) => {
                let index = <[IndexEntry]>::ref_from_bytes(bytes).ok()?;
                let at = index.binary_search_by(|entry| entry.key.cmp(&key.0)).ok()?;
                usize::try_from(index[at].offset.get()).ok()
            }
        }
    }
}

/// A record, still compressed.
pub(super) struct Record<'a> {
    pub(super) key: [u8; 32],
    raw: usize,
    compressed: &'a [u8],
}

impl Record<'_> {
    /// Bytes of head and content.
    pub(super) fn length(&self) -> usize {
        size_of::<RecordHead>() + self.compressed.len()
    }

    fn decompress(&self) -> Option<Vec<u8>> {
        DECOMPRESSOR
            .with_borrow_mut(|decompressor| decompressor.decompress(self.compressed, self.raw))
            .ok()
            .filter(|bytes| bytes.len() == self.raw)
    }
}

/// A record read back from a file that is still being written.
pub(super) fn decompress_record(bytes: &[u8]) -> Option<Vec<u8>> {
    read_record(bytes, 0)?.decompress()
}

fn read_record(bytes: &[u8], offset: usize) -> Option<Record<'_>> {
    let (head, rest) = RecordHead::read_from_prefix(bytes.get(offset..)?).ok()?;
    let (compressed, raw) = (head.compressed.get() as usize, head.raw.get() as usize);
    if compressed > MAX_RECORD || raw > MAX_RECORD {
        return None;
    }
    let compressed = rest.get(..compressed)?;
    (checksum(compressed) == head.checksum).then_some(Record {
        key: head.key,
        raw,
        compressed,
    })
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    short
}

/// Appends records to a file and closes it with an index.
pub(super) struct PackWriter {
    file: Output,
    /// Not yet in the file.
    pending: Vec<u8>,
    /// Length of what is in the file.
    written: u64,
    records: HashMap<[u8; 32], (u64, u32)>,
}

/// Pending bytes are written when they reach this.
const PENDING: usize = 1 << 20;

impl PackWriter {
    /// Starts a pack in an empty file.
    pub(super) fn new(file: Output, facts_version: u32) -> PackWriter {
        let head = Head {
            magic: MAGIC,
            version: U32::new(VERSION),
            facts_version: U32::new(facts_version),
        };
        PackWriter {
            file,
            pending: head.as_bytes().to_vec(),
            written: 0,
            records: HashMap::new(),
        }
    }

    /// The bytes of a record, which [`PackWriter::append`] takes. Apart from it so that the work happens without a lock.
    pub(super) fn encode(key: &FactsKey, raw: &[u8]) -> io::Result<Vec<u8>> {
        let compressed = COMPRESSOR.with_borrow_mut(|compressor| compressor.compress(raw))?;
        let head = RecordHead {
            key: key.0,
            compressed: U32::new(compressed.len() as u32),
            raw: U32::new(raw.len() as u32),
            checksum: checksum(&compressed),
        };
        let mut record = Vec::with_capacity(size_of::<RecordHead>() + compressed.len());
        record.extend_from_slice(head.as_bytes());
        record.extend_from_slice(&compressed);
        Ok(record)
    }

    /// Adds an encoded record unless its key is there.
    pub(super) fn append(&mut self, key: &FactsKey, record: &[u8]) -> io::Result<()> {
        if self.records.contains_key(&key.0) {
            return Ok(());
        }
        let offset = self.written + self.pending.len() as u64;
        self.pending.extend_from_slice(record);
        self.records.insert(key.0, (offset, record.len() as u32));
        if self.pending.len() >= PENDING {
            self.flush()?;
        }
        Ok(())
    }

    pub(super) fn append_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        let head = RecordHead {
            key: record.key,
            compressed: U32::new(record.compressed.len() as u32),
            raw: U32::new(record.raw as u32),
            checksum: checksum(record.compressed),
        };
        let mut bytes = Vec::with_capacity(record.length());
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(record.compressed);
        self.append(&FactsKey(record.key), &bytes)
    }

    /// Number of records.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Bytes so far.
    pub(super) fn size(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    pub(super) fn contains(&self, key: &FactsKey) -> bool {
        self.records.contains_key(&key.0)
    }

    /// The record of a key that was appended.
    pub(super) fn get(&self, key: &FactsKey) -> Option<io::Result<Vec<u8>>> {
        let &(offset, length) = self.records.get(&key.0)?;
        let read = || {
            if let Some(at) = offset.checked_sub(self.written) {
                let at = at as usize;
                return Ok(self.pending[at..at + length as usize].to_vec());
            }
            let mut bytes = vec![0; length as usize];
            disk::read_at(self.file.file(), self.file.path(), &mut bytes, offset)?;
            Ok(bytes)
        };
        Some(read())
    }

    /// Writes out what is pending, so that a kill from here on loses nothing.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        // Where the last attempt failed, some of it may be there already.
        self.file.seek(SeekFrom::Start(self.written))?;
        self.file.write_all(&self.pending)?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Adds the index.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        let mut entries: Vec<IndexEntry> = Vec::with_capacity(self.records.len());
        for (key, (offset, _)) in &self.records {
            entries.push(IndexEntry {
                key: *key,
                offset: U64::new(*offset),
            });
        }
        entries.sort_unstable_by_key(|entry| entry.key);
        let trailer = Trailer {
            index_offset: U64::new(self.written),
            entries: U64::new(entries.len() as u64),
            checksum: *blake3::hash(entries.as_bytes()).as_bytes(),
            magic: INDEX_MAGIC,
        };
        self.pending.extend_from_slice(entries.as_bytes());
        self.pending.extend_from_slice(trailer.as_bytes());
        self.flush()
    }
}
