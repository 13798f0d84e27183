//! Writes a part of the search index from units, and from what is still true of an older part.
//!
//! The result depends on the files alone: a part that was merged from an older one has the same bytes as one made from
//! nothing. Postings of unchanged files are renumbered, not computed anew.

use std::io::{self, Seek, SeekFrom, Write};

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromZeros, IntoBytes};

use super::embed::model_stamp;
use super::part::{ChunkRow, FileRow, Header, MAGIC, Part, TermRow, put_posting, versions};
use super::signs::{APPROXIMATE_FROM, Signs, blocks};
use super::unit::Unit;
use super::vector::{PACKED, squares};
use crate::snapshot::names::Names;
use crate::store::Summing;

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
    write_with(old, files, APPROXIMATE_FROM, out)
}

/// The same, with signs from so many chunks on.
fn write_with(
    old: Option<&Part>,
    files: &[FileInput<'_>],
    signs_from: usize,
    out: &mut (impl Write + Seek),
) -> io::Result<()> {
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
    let mut sign_blocks = 0;
    if chunks.len() >= signs_from {
        let mut signs = Signs::default();
        for_each_vectors(old, files, |vectors| {
            signs.add(vectors);
            sink.put(signs.take_full().as_slice())
        })?;
        sink.put(signs.bytes())?;
        sign_blocks = blocks(chunks.len());
    }
    sink.put(lists.terms.as_bytes())?;
    sink.put(&lists.postings)?;
    sink.put(&lists.text)?;
    sink.put(&text)?;
    // What was copied from the older part must have been right, or the damage would get a checksum of its own.
    if let Some(damage) = old.and_then(Part::damage) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, damage.clone()));
    }
    sink.finish(Header {
        magic: MAGIC,
        versions: versions(),
        file_length: U64::new(0),
        checksum: [0; 32],
        files: U32::new(files.len() as u32),
        chunks: U32::new(chunks.len() as u32),
        terms: U32::new(lists.terms.len() as u32),
        model: U32::new(model_stamp()),
        sign_blocks: U32::new(sign_blocks as u32),
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
    sums: Summing,
    length: u64,
}

impl<'w, W: Write + Seek> Sink<'w, W> {
    fn new(out: &'w mut W) -> io::Result<Self> {
        let mut sink = Sink {
            out: io::BufWriter::with_capacity(1 << 18, out),
            sums: Summing::new(),
            length: size_of::<Header>() as u64,
        };
        sink.out.write_all(&[0; size_of::<Header>()])?;
        Ok(sink)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sums.put(bytes);
        self.length += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn finish(mut self, header: Header) -> io::Result<()> {
        let sums = self.sums.finish();
        self.out.write_all(&sums)?;
        let mut header = Header {
            file_length: U64::new(self.length + sums.len() as u64),
            ..header
        };
        header.checksum = header.sum(&sums);
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(header.as_bytes())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::chunk::CodeChunk;
    use super::super::embed::built_in;
    use super::*;

    fn unit(name: &str, chunks: u32) -> Unit {
        let code: Vec<String> = (0..chunks)
            .map(|at| format!("def {name}_{at}(): return read({at})"))
            .collect();
        let chunks: Vec<CodeChunk<'_>> = (0..)
            .zip(&code)
            .map(|(symbol, code)| CodeChunk {
                kind: "function",
                name,
                package: "".into(),
                language: "python",
                file_path: name,
                uri: String::new(),
                start_line: 1,
                end_line: 1,
                selection_start_line: 1,
                selection_end_line: 1,
                signature: "",
                docstring: "",
                code: code.as_str().into(),
                metadata: Vec::new(),
                symbol,
            })
            .collect();
        Unit::new(&chunks, built_in())
    }

    fn written(old: Option<&Part>, files: &[(&str, Content<'_>)], signs_from: usize) -> Vec<u8> {
        let inputs: Vec<FileInput<'_>> = files
            .iter()
            .map(|(path, content)| FileInput {
                path,
                language: "python",
                hash: &[7; 32],
                content: match content {
                    Content::Unit(unit) => Content::Unit(unit),
                    Content::Old(number) => Content::Old(*number),
                },
            })
            .collect();
        let mut out = Cursor::new(Vec::new());
        write_with(old, &inputs, signs_from, &mut out).unwrap();
        out.into_inner()
    }

    fn opened(bytes: &[u8]) -> Part {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("search");
        std::fs::write(&path, bytes).unwrap();
        Part::open(&path).unwrap().unwrap()
    }

    #[test]
    fn signs_are_there_from_the_threshold_on() {
        let (left, right) = (unit("open_socket", 40), unit("close_file", 33));
        let files = [("a.py", Content::Unit(&left)), ("b.py", Content::Unit(&right))];
        assert!(opened(&written(None, &files, 74)).signs().is_none());
        let part = opened(&written(None, &files, 73));
        let mut signs = Signs::default();
        signs.add(part.vectors());
        assert_eq!(part.signs(), Some(signs.bytes()));
    }

    /// Merged from an older part, whether that had signs or not, or made from nothing.
    #[test]
    fn signs_depend_on_the_files_alone() {
        let (left, right, more) = (unit("open_socket", 40), unit("close_file", 33), unit("parse", 5));
        let cold = [
            ("a.py", Content::Unit(&left)),
            ("b.py", Content::Unit(&more)),
            ("c.py", Content::Unit(&right)),
        ];
        let cold = written(None, &cold, 50);
        for signs_before in [1, 1000] {
            let before = [("a.py", Content::Unit(&left)), ("c.py", Content::Unit(&right))];
            let old = opened(&written(None, &before, signs_before));
            let files = [
                ("a.py", Content::Old(0)),
                ("b.py", Content::Unit(&more)),
                ("c.py", Content::Old(1)),
            ];
            assert!(written(Some(&old), &files, 50) == cold);
        }
    }
}
