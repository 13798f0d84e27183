//! A part of the search index: one mapped file of terms, postings and vectors, for some of the files of a tree.
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
//! ```
//!
//! As with the snapshot, opening checks the header alone; every later access is checked where it happens, so damage gives
//! fewer answers, never a panic. A posting is the step to its chunk, doubled, plus one where a byte of weight above 1 follows.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::embed::model_stamp;
use super::signs;
use super::vector::PACKED;
use crate::scan::DECODE_VERSION;
use crate::snapshot::SNAPSHOT_VERSION;

/// First bytes of every part.
pub(super) const MAGIC: [u8; 8] = *b"LACONSE\n";
/// Version of the layout and of what is counted. Raise it when the same file gives other terms or vectors.
pub(super) const SEARCH_VERSION: u32 = 2;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
pub(super) struct Header {
    pub(super) magic: [u8; 8],
    /// See [`versions`].
    pub(super) versions: [U32; 4],
    pub(super) file_length: U64,
    /// BLAKE3 of all that follows the header.
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
    map: memmap2::Mmap,
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
    /// Opens a part; `None` where there is none, or one of another version, or something else.
    pub(crate) fn open(path: &Path) -> Option<Part> {
        let file = File::open(path).ok()?;
        #[expect(
            unsafe_code,
            reason = "a map is sound while nobody truncates the file: parts are only ever replaced by rename"
        )]
        let map = unsafe { memmap2::Mmap::map(&file) }.ok()?;
        let (header, _) = Header::read_from_prefix(&map[..]).ok()?;
        if header.magic != MAGIC
            || header.versions != versions()
            || header.model.get() != model_stamp()
            || header.file_length.get() != map.len() as u64
        {
            return None;
        }
        let mut at = size_of::<Header>();
        let mut section = |count: u64, size: usize| {
            let length = usize::try_from(count).ok()?.checked_mul(size)?;
            let end = at.checked_add(length).filter(|&end| end <= map.len())?;
            let range = at..end;
            at = end;
            Some(range)
        };
        let (chunks, terms) = (u64::from(header.chunks.get()), u64::from(header.terms.get()));
        let files = section(u64::from(header.files.get()) + 1, size_of::<FileRow>())?;
        let chunk_rows = section(chunks, size_of::<ChunkRow>())?;
        let squares = section(chunks, size_of::<U16>())?;
        let vectors = section(chunks, PACKED)?;
        let signs = section(u64::from(header.sign_blocks.get()), signs::BLOCK)?;
        let term_rows = section(terms, size_of::<TermRow>())?;
        let postings = section(header.postings.get(), 1)?;
        let text = section(header.text.get(), 1)?;
        (text.end == map.len()).then_some(Part {
            files,
            chunks: chunk_rows,
            squares,
            vectors,
            signs,
            terms: term_rows,
            postings,
            text,
            map,
        })
    }

    /// Whether every byte is as it was written.
    pub(crate) fn is_whole(&self) -> bool {
        Header::read_from_prefix(&self.map[..])
            .is_ok_and(|(header, rest)| *blake3::hash(rest).as_bytes() == header.checksum)
    }

    pub(crate) fn file_count(&self) -> usize {
        self.file_rows().len().saturating_sub(1)
    }

    pub(crate) fn chunk_count(&self) -> usize {
        self.chunk_rows().len()
    }

    pub(crate) fn file(&self, number: usize) -> Option<PartFile<'_>> {
        let row = self.file_rows().get(number)?;
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
        let rows = self.file_rows();
        match (rows.get(file), rows.get(file + 1)) {
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
        &self.map[self.vectors.clone()]
    }

    /// The signs of all vectors, where this part has them.
    pub(crate) fn signs(&self) -> Option<&[u8]> {
        let whole = self.signs.len() == signs::blocks(self.chunk_count()) * signs::BLOCK;
        whole.then(|| &self.map[self.signs.clone()])
    }

    pub(crate) fn term_count(&self) -> usize {
        self.term_rows().len()
    }

    /// A term by its rank.
    pub(crate) fn term(&self, rank: usize) -> &str {
        let rows = self.term_rows();
        let start = rank.checked_sub(1).and_then(|before| rows.get(before));
        let start = start.map_or(0, |row| row.text_end.get() as usize);
        let end = rows.get(rank).map_or(0, |row| row.text_end.get() as usize);
        self.text(start..end)
    }

    /// The rank of a term.
    pub(crate) fn find_term(&self, term: &str) -> Option<usize> {
        let at = crate::snapshot::partition(self.term_count(), |rank| self.term(rank) < term);
        (at < self.term_count() && self.term(at) == term).then_some(at)
    }

    /// The chunks of the term with this rank, with their weights.
    pub(crate) fn postings(&self, rank: usize) -> Postings<'_> {
        let rows = self.term_rows();
        let start = rank.checked_sub(1).and_then(|before| rows.get(before));
        let start = start.map_or(0, |row| row.postings_end.get() as usize);
        let end = rows.get(rank).map_or(0, |row| row.postings_end.get() as usize);
        Postings::new(self.map[self.postings.clone()].get(start..end).unwrap_or_default())
    }

    fn rows<T: FromBytes + Immutable + KnownLayout>(&self, range: &Range<usize>) -> &[T] {
        let bytes = &self.map[range.clone()];
        <[T]>::ref_from_bytes(bytes).unwrap_or_default()
    }

    fn file_rows(&self) -> &[FileRow] {
        self.rows(&self.files)
    }

    fn term_rows(&self) -> &[TermRow] {
        self.rows(&self.terms)
    }

    fn text(&self, range: Range<usize>) -> &str {
        let bytes = self.map[self.text.clone()].get(range).unwrap_or_default();
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
