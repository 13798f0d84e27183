//! A part of the search index: one file of terms, postings and vectors, for some of the files of a tree.
//!
//! ```text
//! header      magic, versions, lengths, checksum
//! files       path, package, language, hash and first chunk of each, in path order
//! chunks      symbol and length of each
//! squares     of each vector
//! vectors     128 bytes a chunk
//! signs       32 bytes a chunk, in blocks; in a large part alone
//! terms       ends of the texts and of the postings, in order of the texts
//! postings    for each term: steps from chunk to chunk, and weights
//! text        terms, then what files refer to
//! sums        of each block of all that follows the header; see [`Blocks`]
//! ```
//!
//! As with the snapshot, opening checks the header and the table of checksums alone; the rest is compared with them when it is
//! first read. What is damaged reads as if it were not there, and [`Part::damage`] says so. A posting is the step to its chunk, doubled, plus one where a byte of weight above 1 follows.

use std::io;
use std::ops::Range;
use std::path::Path;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::embed::model_stamp;
use super::signs;
use super::vector::PACKED;
use crate::scan::DECODE_VERSION;
use crate::snapshot::SNAPSHOT_VERSION;
use crate::store::{Blocks, Damage, Source, sums_length};

/// First bytes of every part.
pub(super) const MAGIC: [u8; 8] = *b"LACONSE\n";
/// Version of the layout and of what is counted. Raise it when the same file gives other terms or vectors.
pub(super) const SEARCH_VERSION: u32 = 3;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
pub(super) struct Header {
    pub(super) magic: [u8; 8],
    /// See [`versions`].
    pub(super) versions: [U32; 4],
    pub(super) file_length: U64,
    /// See [`Header::sum`].
    pub(super) checksum: [u8; 32],
    pub(super) files: U32,
    pub(super) chunks: U32,
    pub(super) terms: U32,
    /// See [`model_stamp`].
    pub(super) model: U32,
    /// Blocks of signs: of all chunks, or none.
    pub(super) sign_blocks: U32,
    pub(super) postings: U64,
    pub(super) text: U64,
}

impl Header {
    /// BLAKE3 of the other fields and of the checksums at the end.
    pub(super) fn sum(&self, sums: &[u8]) -> [u8; 32] {
        let mut fields = *self;
        fields.checksum = [0; 32];
        let mut hasher = blake3::Hasher::new();
        hasher.update(fields.as_bytes());
        hasher.update(sums);
        *hasher.finalize().as_bytes()
    }
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
pub(super) struct FileRow {
    /// In the text: path, then package, then language.
    pub(super) text_start: U32,
    pub(super) path_length: U32,
    pub(super) package_length: U16,
    pub(super) language_length: U16,
    pub(super) first_chunk: U32,
    pub(super) hash: [u8; 32],
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
pub(super) struct ChunkRow {
    pub(super) symbol: U32,
    pub(super) length: U16,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
pub(super) struct TermRow {
    /// In the text.
    pub(super) text_end: U32,
    pub(super) postings_end: U32,
}

/// What the numbers of symbols and the terms of a part depend on besides the files.
pub(super) fn versions() -> [U32; 4] {
    [
        SEARCH_VERSION,
        SNAPSHOT_VERSION,
        crate::EXTRACTION_VERSION,
        DECODE_VERSION,
    ]
    .map(U32::new)
}

/// An open part.
pub(crate) struct Part {
    blocks: Blocks,
    files: Range<usize>,
    chunks: Range<usize>,
    squares: Range<usize>,
    vectors: Range<usize>,
    signs: Range<usize>,
    terms: Range<usize>,
    postings: Range<usize>,
    text: Range<usize>,
}

/// A file of a part.
#[derive(Clone, Copy)]
pub(crate) struct PartFile<'a> {
    pub(crate) path: &'a str,
    pub(crate) package: &'a str,
    pub(crate) language: &'a str,
    pub(crate) hash: &'a [u8; 32],
}

impl Part {
    /// Opens a part; `None` where there is none, or one of another version.
    pub(crate) fn open(path: &Path) -> Result<Option<Part>, Damage> {
        let damaged = |reason: String| Damage {
            path: path.to_path_buf(),
            reason,
        };
        let unreadable = |error: io::Error| damaged(format!("it cannot be read: {error}"));
        let source = match Source::open(path) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let head = source.peek(0..size_of::<Header>()).map_err(unreadable)?;
        let header = Header::read_from_bytes(&head).map_err(|_| damaged("it is too short".to_owned()))?;
        if header.magic != MAGIC {
            return Err(damaged("it does not start as a search index".to_owned()));
        }
        if header.versions != versions() || header.model.get() != model_stamp() {
            return Ok(None);
        }
        let wrong_length = || damaged("its length is not the one announced".to_owned());
        if header.file_length.get() != source.length() as u64 {
            return Err(wrong_length());
        }
        let mut at = head.len();
        let mut section = |count: u64, size: usize| {
            let length = usize::try_from(count).ok()?.checked_mul(size)?;
            let range = at..at.checked_add(length).filter(|&end| end <= source.length())?;
            at = range.end;
            Some(range)
        };
        let (chunks, terms) = (u64::from(header.chunks.get()), u64::from(header.terms.get()));
        let mut sections = || {
            Some([
                section(u64::from(header.files.get()) + 1, size_of::<FileRow>())?,
                section(chunks, size_of::<ChunkRow>())?,
                section(chunks, size_of::<U16>())?,
                section(chunks, PACKED)?,
                section(u64::from(header.sign_blocks.get()), signs::BLOCK)?,
                section(terms, size_of::<TermRow>())?,
                section(header.postings.get(), 1)?,
                section(header.text.get(), 1)?,
            ])
        };
        let [files, chunks, squares, vectors, signs, terms, postings, text] = sections().ok_or_else(wrong_length)?;
        let end = text.end;
        if end.checked_add(sums_length(end - head.len())) != Some(source.length()) {
            return Err(wrong_length());
        }
        let sums = source.peek(end..source.length()).map_err(unreadable)?;
        if header.sum(&sums) != header.checksum {
            return Err(damaged("the checksum of its header is wrong".to_owned()));
        }
        Ok(Some(Part {
            blocks: Blocks::new(source, &head, &sums).map_err(unreadable)?,
            files,
            chunks,
            squares,
            vectors,
            signs,
            terms,
            postings,
            text,
        }))
    }

    /// Whether every byte on disk is as it was written.
    pub(crate) fn is_whole(&self) -> bool {
        self.blocks.verify().is_ok()
    }

    /// What was found to be damaged so far.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.blocks.damage()
    }

    pub(crate) fn file_count(&self) -> usize {
        (self.files.len() / size_of::<FileRow>()).saturating_sub(1)
    }

    pub(crate) fn chunk_count(&self) -> usize {
        self.chunks.len() / size_of::<ChunkRow>()
    }

    pub(crate) fn file(&self, number: usize) -> Option<PartFile<'_>> {
        let row: &FileRow = self.row(&self.files, number).filter(|_| number < self.file_count())?;
        let start = row.text_start.get() as usize;
        let path_end = start.checked_add(row.path_length.get() as usize)?;
        let package_end = path_end + usize::from(row.package_length.get());
        Some(PartFile {
            path: self.text(start..path_end),
            package: self.text(path_end..package_end),
            language: self.text(package_end..package_end + usize::from(row.language_length.get())),
            hash: &row.hash,
        })
    }

    /// The chunks of a file.
    pub(crate) fn chunks_of(&self, file: usize) -> Range<usize> {
        let row = |number: usize| self.row::<FileRow>(&self.files, number);
        match (row(file), row(file + 1)) {
            (Some(row), Some(next)) => {
                let limit = self.chunk_count();
                let end = (next.first_chunk.get() as usize).min(limit);
                (row.first_chunk.get() as usize).min(end)..end
            }
            _ => 0..0,
        }
    }

    pub(crate) fn chunk_rows(&self) -> &[ChunkRow] {
        self.rows(&self.chunks)
    }

    pub(crate) fn squares(&self) -> &[U16] {
        self.rows(&self.squares)
    }

    pub(crate) fn vectors(&self) -> &[u8] {
        self.blocks.get(self.vectors.clone()).unwrap_or_default()
    }

    /// The signs of all vectors, where this part has them.
    pub(crate) fn signs(&self) -> Option<&[u8]> {
        let whole = self.signs.len() == signs::blocks(self.chunk_count()) * signs::BLOCK;
        whole.then(|| self.blocks.get(self.signs.clone())).flatten()
    }

    pub(crate) fn term_count(&self) -> usize {
        self.terms.len() / size_of::<TermRow>()
    }

    /// A term by its rank.
    pub(crate) fn term(&self, rank: usize) -> &str {
        let end = |rank: usize| self.row::<TermRow>(&self.terms, rank);
        let start = rank.checked_sub(1).and_then(end);
        let start = start.map_or(0, |row| row.text_end.get() as usize);
        self.text(start..end(rank).map_or(0, |row| row.text_end.get() as usize))
    }

    /// The rank of a term.
    pub(crate) fn find_term(&self, term: &str) -> Option<usize> {
        let at = crate::snapshot::partition(self.term_count(), |rank| self.term(rank) < term);
        (at < self.term_count() && self.term(at) == term).then_some(at)
    }

    /// The chunks of the term with this rank, with their weights.
    pub(crate) fn postings(&self, rank: usize) -> Postings<'_> {
        let end = |rank: usize| self.row::<TermRow>(&self.terms, rank);
        let start = rank.checked_sub(1).and_then(end);
        let start = start.map_or(0, |row| row.postings_end.get() as usize);
        let end = end(rank).map_or(0, |row| row.postings_end.get() as usize);
        Postings::new(self.bytes_in(&self.postings, start..end).unwrap_or_default())
    }

    fn rows<T: FromBytes + Immutable + KnownLayout>(&self, section: &Range<usize>) -> &[T] {
        let bytes = self.blocks.get(section.clone()).unwrap_or_default();
        <[T]>::ref_from_bytes(bytes).unwrap_or_default()
    }

    fn row<T: FromBytes + Immutable + KnownLayout>(&self, section: &Range<usize>, number: usize) -> Option<&T> {
        let start = number.checked_mul(size_of::<T>())?;
        T::ref_from_bytes(self.bytes_in(section, start..start.checked_add(size_of::<T>())?)?).ok()
    }

    fn bytes_in(&self, section: &Range<usize>, range: Range<usize>) -> Option<&[u8]> {
        if range.start > range.end || range.end > section.len() {
            return None;
        }
        self.blocks.get(section.start + range.start..section.start + range.end)
    }

    fn text(&self, range: Range<usize>) -> &str {
        let bytes = self.bytes_in(&self.text, range).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or("")
    }
}

/// Chunks of a term and its weight in each.
pub(crate) struct Postings<'a> {
    bytes: &'a [u8],
    next: u32,
}

impl<'a> Postings<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Postings<'a> {
        Postings { bytes, next: 0 }
    }

    /// Bytes that are left: about as many as chunks.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }
}

impl Iterator for Postings<'_> {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        let mut step = 0u64;
        let mut shift = 0;
        loop {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            step |= u64::from(byte & 127) << shift;
            if byte < 128 {
                break;
            }
            shift += 7;
            if shift > 35 {
                return None;
            }
        }
        let chunk = u32::try_from(u64::from(self.next) + (step >> 1)).ok()?;
        self.next = chunk.checked_add(1)?;
        let weight = match step & 1 {
            0 => 1,
            _ => {
                let (&weight, rest) = self.bytes.split_first()?;
                self.bytes = rest;
                u32::from(weight)
            }
        };
        Some((chunk, weight))
    }
}

/// A part whose body is another of the same length, with checksums that are right, for tests.
#[cfg(test)]
pub(crate) fn forged(part: &[u8], change: impl FnOnce(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let start = size_of::<Header>();
    // As many bytes as there can be before their own checksums.
    let body = (start..part.len())
        .find(|end| end + sums_length(end - start) == part.len())
        .map_or(0, |end| end - start);
    let body = change(&part[start..start + body]);
    let mut summing = crate::store::Summing::new();
    summing.put(&body);
    let sums = summing.finish();
    let mut header = Header::read_from_bytes(&part[..start]).unwrap_or_else(|_| zerocopy::FromZeros::new_zeroed());
    header.checksum = header.sum(&sums);
    [header.as_bytes(), &body, &sums].concat()
}

/// Appends a posting. `next` is one past the chunk of the posting before, 0 at the start of a list.
pub(super) fn put_posting(bytes: &mut Vec<u8>, next: u32, chunk: u32, weight: u32) {
    let heavy = weight != 1;
    let mut step = u64::from(chunk.saturating_sub(next)) << 1 | u64::from(heavy);
    while step >= 128 {
        bytes.push(step as u8 | 128);
        step >>= 7;
    }
    bytes.push(step as u8);
    if heavy {
        bytes.push(weight.min(255) as u8);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn postings_are_read_back(mut chunks in prop::collection::btree_map(any::<u32>().prop_map(|n| n >> 1), 1u32..=255, 0..50)) {
            chunks.insert(u32::MAX - 1, 1);
            let mut bytes = Vec::new();
            let mut next = 0;
            for (&chunk, &weight) in &chunks {
                put_posting(&mut bytes, next, chunk, weight);
                next = chunk + 1;
            }
            let read: Vec<_> = Postings { bytes: &bytes, next: 0 }.collect();
            prop_assert_eq!(read, chunks.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn damaged_postings_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let count = Postings { bytes: &bytes, next: 0 }.count();
            prop_assert!(count <= bytes.len());
        }
    }
}
