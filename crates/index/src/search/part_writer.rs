//! Writes a part of the search index from units, and from what is still true of an older part.
//!
//! The result depends on the files alone: a part that was merged from an older one has the same bytes as one made from
//! nothing. Postings of unchanged files are renumbered, not computed anew.

use std::io::{self, Seek, SeekFrom, Write};

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromZeros, IntoBytes};

use super::embed::model_stamp;
use super::part::{ChunkRow, FileRow, Header, MAGIC, Part, TermRow, put_posting, versions};
use super::unit::Unit;
use super::vector::{PACKED, squares};
use crate::snapshot::names::Names;

/// One file of a part.
pub(crate) struct FileInput<'a> {
    pub(crate) path: &'a str,
    pub(crate) language: &'a str,
    pub(crate) hash: &'a [u8; 32],
    pub(crate) content: Content<'a>,
}

/// Where the chunks of a file come from.
pub(crate) enum Content<'a> {
    Unit(&'a Unit),
    /// This file of the older part.
    Old(usize),
}

/// Writes a part of these files, which must be in path order.
pub(crate) fn write(old: Option<&Part>, files: &[FileInput<'_>], out: &mut (impl Write + Seek)) -> io::Result<()> {
    let mut text: Vec<u8> = Vec::new();
    let mut rows: Vec<FileRow> = Vec::with_capacity(files.len() + 1);
    let mut chunks: Vec<ChunkRow> = Vec::new();
    let mut inverted = Inverted::new();
    // For each chunk of the older part its new number, one up; 0 where it is gone.
    let mut renumbered: Vec<u32> = vec![0; old.map_or(0, Part::chunk_count)];
    for file in files {
        let first_chunk = chunks.len() as u32;
        let mut package = "";
        match &file.content {
            Content::Unit(unit) => {
                package = &unit.package;
                inverted.add(unit, first_chunk);
                chunks.extend(unit.chunks.iter().map(|chunk| ChunkRow {
                    symbol: U32::new(chunk.symbol),
                    length: U16::new(u16::try_from(chunk.length).unwrap_or(u16::MAX)),
                }));
            }
            Content::Old(number) => {
                if let Some(old) = old {
                    package = old.file(*number).map_or("", |file| file.package);
                    let range = old.chunks_of(*number);
                    for (new, chunk) in (first_chunk..).zip(range.clone()) {
                        renumbered[chunk] = new + 1;
                    }
                    chunks.extend_from_slice(old.chunk_rows().get(range).unwrap_or_default());
                }
            }
        }
        let start = text.len();
        let package = cut(package, usize::from(u16::MAX));
        for part in [file.path, package, file.language] {
            text.extend_from_slice(part.as_bytes());
        }
        rows.push(FileRow {
            text_start: U32::new(start as u32),
            path_length: U32::new(file.path.len() as u32),
            package_length: U16::new(package.len() as u16),
            language_length: U16::new(file.language.len() as u16),
            first_chunk: U32::new(first_chunk),
            hash: *file.hash,
        });
    }
    rows.push(FileRow {
        first_chunk: U32::new(chunks.len() as u32),
        ..FromZeros::new_zeroed()
    });

    let lists = merge(inverted, old, &renumbered);
    // The terms' texts come first, so that the end of one is the start of the next.
    let total = lists.text.len() as u64 + text.len() as u64;
    if total >= u64::from(u32::MAX) || lists.postings.len() as u64 >= u64::from(u32::MAX) {
        return Err(io::Error::other(
            "the search index would exceed four gigabytes of terms",
        ));
    }
    let shift = lists.text.len() as u32;
    for row in &mut rows {
        row.text_start += shift;
    }

    let mut sink = Sink::new(out)?;
    sink.put(rows.as_bytes())?;
    sink.put(chunks.as_bytes())?;
    let mut block: Vec<U16> = Vec::new();
    for_each_vectors(old, files, |vectors| {
        block.clear();
        let of = |vector: &[u8]| U16::new(squares(vector) as u16);
        block.extend(vectors.chunks_exact(PACKED).map(of));
        sink.put(block.as_bytes())
    })?;
    for_each_vectors(old, files, |vectors| sink.put(vectors))?;
    sink.put(lists.terms.as_bytes())?;
    sink.put(&lists.postings)?;
    sink.put(&lists.text)?;
    sink.put(&text)?;
    sink.finish(Header {
        magic: MAGIC,
        versions: versions(),
        file_length: U64::new(0),
        checksum: [0; 32],
        files: U32::new(files.len() as u32),
        chunks: U32::new(chunks.len() as u32),
        terms: U32::new(lists.terms.len() as u32),
        model: U32::new(model_stamp()),
        postings: U64::new(lists.postings.len() as u64),
        text: U64::new(total),
    })
}

fn for_each_vectors(
    old: Option<&Part>,
    files: &[FileInput<'_>],
    mut hear: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    for file in files {
        match (&file.content, old) {
            (Content::Unit(unit), _) => hear(&unit.vectors)?,
            (Content::Old(number), Some(old)) => {
                let range = old.chunks_of(*number);
                let bytes = range.start * PACKED..range.end * PACKED;
                hear(old.vectors().get(bytes).unwrap_or_default())?;
            }
            (Content::Old(_), None) => {}
        }
    }
    Ok(())
}

/// Postings by term, from units that come in order.
struct Inverted {
    terms: Names,
    lists: Vec<List>,
}

#[derive(Default)]
struct List {
    bytes: Vec<u8>,
    next: u32,
}

impl Inverted {
    fn new() -> Inverted {
        Inverted {
            terms: Names::new(|left, right| left.cmp(right)),
            lists: Vec::new(),
        }
    }

    fn add(&mut self, unit: &Unit, first_chunk: u32) {
        let numbers: Vec<u32> = unit.terms().map(|term| self.terms.number(term)).collect();
        self.lists.resize_with(self.terms.len(), List::default);
        for (at, chunk) in (0..unit.chunks.len()).zip(first_chunk..) {
            for (term, weight) in unit.postings(at) {
                let list = &mut self.lists[numbers[term as usize] as usize];
                put_posting(&mut list.bytes, list.next, chunk, weight);
                list.next = chunk + 1;
            }
        }
    }
}

/// The terms with their postings, in order.
struct Lists {
    terms: Vec<TermRow>,
    postings: Vec<u8>,
    text: Vec<u8>,
}

impl Lists {
    fn end(&mut self, term: &str, start: usize) {
        if self.postings.len() > start {
            self.text.extend_from_slice(term.as_bytes());
            self.terms.push(TermRow {
                text_end: U32::new(self.text.len() as u32),
                postings_end: U32::new(self.postings.len() as u32),
            });
        }
    }
}

fn merge(mut inverted: Inverted, old: Option<&Part>, renumbered: &[u32]) -> Lists {
    let mut lists = Lists {
        terms: Vec::new(),
        postings: Vec::new(),
        text: Vec::new(),
    };
    let order = inverted.terms.ordered().to_vec();
    let mut new = order.iter().map(|&number| number as usize).peekable();
    let mut both: Vec<(u32, u32)> = Vec::new();
    for rank in 0..old.map_or(0, Part::term_count) {
        let Some(old) = old else { break };
        let term = old.term(rank);
        while let Some(number) = new.next_if(|&number| inverted.terms.text(number as u32) < term) {
            let start = lists.postings.len();
            lists.postings.append(&mut inverted.lists[number].bytes);
            lists.end(inverted.terms.text(number as u32), start);
        }
        both.clear();
        let kept = old.postings(rank).filter_map(|(chunk, weight)| {
            let new = *renumbered.get(chunk as usize)?;
            Some((new.checked_sub(1)?, weight))
        });
        both.extend(kept);
        if let Some(number) = new.next_if(|&number| inverted.terms.text(number as u32) == term) {
            let bytes = std::mem::take(&mut inverted.lists[number].bytes);
            both.extend(super::part::Postings::new(&bytes));
        }
        both.sort_unstable();
        let start = lists.postings.len();
        let mut next = 0;
        for &(chunk, weight) in &both {
            put_posting(&mut lists.postings, next, chunk, weight);
            next = chunk + 1;
        }
        lists.end(term, start);
    }
    for number in new {
        let start = lists.postings.len();
        let bytes = std::mem::take(&mut inverted.lists[number].bytes);
        lists.postings.extend_from_slice(&bytes);
        lists.end(inverted.terms.text(number as u32), start);
    }
    lists
}

fn cut(text: &str, limit: usize) -> &str {
    match text
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .take_while(|&end| end <= limit)
        .last()
    {
        Some(end) if text.len() > limit => &text[..end],
        _ => text,
    }
}

/// Writes what follows the header, then the header.
struct Sink<'w, W: Write + Seek> {
    out: io::BufWriter<&'w mut W>,
    hasher: blake3::Hasher,
    length: u64,
}

impl<'w, W: Write + Seek> Sink<'w, W> {
    fn new(out: &'w mut W) -> io::Result<Self> {
        let mut sink = Sink {
            out: io::BufWriter::with_capacity(1 << 18, out),
            hasher: blake3::Hasher::new(),
            length: size_of::<Header>() as u64,
        };
        sink.out.write_all(&[0; size_of::<Header>()])?;
        Ok(sink)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn finish(mut self, header: Header) -> io::Result<()> {
        let header = Header {
            file_length: U64::new(self.length),
            checksum: *self.hasher.finalize().as_bytes(),
            ..header
        };
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(header.as_bytes())?;
        self.out.flush()
    }
}
