//! The snapshot: one immutable file that answers every structural question about a tree.
//!
//! [`Snapshot::open`] checks the header, the bounds of the sections and the table of checksums and nothing else, so it takes about
//! the same time for ten symbols as for ten million. The rest is read in blocks when it is first used, and compared with its
//! checksums then: see [`Blocks`]. What is damaged reads as if it were not there, and [`Snapshot::damage`] says so: **an answer
//! must be thrown away when it is set after the answer was made**. Views borrow from what was read: no accessor allocates
//! unless it returns a `String`.
//!
//! | to get | call |
//! |---|---|
//! | files | [`Snapshot::files`], [`Snapshot::file`], [`Snapshot::find_file`], [`Snapshot::files_under`] |
//! | symbols | [`Snapshot::symbols`], [`Snapshot::symbol`], [`FileView::symbols`], [`Snapshot::symbol_at`] |
//! | a symbol by its lasting id | [`Snapshot::find`] |
//! | symbols by name | [`Snapshot::named`], [`Snapshot::named_ignoring_case`], [`Snapshot::with_prefix`] |
//! | edges | [`Snapshot::outgoing`], [`Snapshot::incoming`], [`Snapshot::edges`] |
//! | symbols by words and meaning | [`Snapshot::search`], [`Snapshot::search_index`] |
//! | external symbols | [`Snapshot::externals`], [`Snapshot::external`], [`Snapshot::find_external`] |
//! | what is missing | [`Snapshot::skipped`], [`FileView::unresolved_calls`], [`FileView::problems`] |
//! | sums | [`Snapshot::totals`], [`Snapshot::languages`] |
//! | whether it can be believed | [`Snapshot::damage`], [`Snapshot::verify`] |

mod edge_blocks;
pub(crate) mod edges;
pub(crate) mod fold;
pub(crate) mod format;
mod lookup;
pub(crate) mod names;
pub(crate) mod segment;
mod symbol_row;
mod views;
pub(crate) mod writer;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::model::FileId;
use crate::search::{Hit, Mode, Question, SearchIndex};
use crate::store::{Blocks, Damage, Source, sums_length};
use format::{Header, MAGIC, MAX_SECTIONS, SectionEntry, head_length, section};

pub use edges::{EdgeEnd, EdgeKinds, EdgeView, Edges};
pub use format::{EDGE_KINDS, KINDS, ORIGINS, SNAPSHOT_VERSION};
pub(crate) use lookup::partition;
pub use views::{FileFlags, FileView, LanguageView, SkippedView, SymbolView, Totals};

/// A symbol of one snapshot. The number means nothing outside of it: keep [`SymbolView::id_string`] instead.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolId(pub u32);

/// A symbol of an external package, in one snapshot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExternalId(pub u32);

/// An open snapshot. Cloning shares what was read of it.
#[derive(Clone)]
pub struct Snapshot {
    blocks: Arc<Blocks>,
    header: Header,
    sections: Arc<[(u32, Range<usize>)]>,
    known: Known,
    path: Option<Arc<Path>>,
    search: Arc<OnceLock<SearchIndex>>,
}

/// Why a snapshot cannot be used.
#[derive(thiserror::Error, Debug)]
pub enum SnapshotError {
    /// It is not there.
    #[error("there is no index at `{}`", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read the snapshot `{}`", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It was written by another version.
    #[error("the snapshot has format {found}, this version reads format {SNAPSHOT_VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// Its bytes are not what was written.
    #[error(transparent)]
    Damaged(#[from] Damage),
}

/// Ranges of the sections that every accessor needs, looked up once.
#[derive(Clone, Debug, Default)]
struct Known {
    files: Range<usize>,
    symbols: Range<usize>,
    symbol_files: Range<usize>,
    out_offsets: Range<usize>,
    edges: Range<usize>,
    edge_blocks: Range<usize>,
    edge_forms: Range<usize>,
    wide_symbols: Range<usize>,
    in_offsets: Range<usize>,
    in_edges: Range<usize>,
    externals: Range<usize>,
    name_offsets: Range<usize>,
    name_symbols: Range<usize>,
    text: Range<usize>,
    misc_text: Range<usize>,
}

impl Snapshot {
    /// Opens a snapshot file.
    pub fn open(path: &Path) -> Result<Snapshot, SnapshotError> {
        let source = Source::open(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => SnapshotError::Missing {
                path: path.to_path_buf(),
            },
            _ => unreadable(path, source),
        })?;
        let mut snapshot = Snapshot::check(source)?;
        snapshot.path = Some(path.into());
        Ok(snapshot)
    }

    /// Reads a snapshot from memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Snapshot, SnapshotError> {
        Snapshot::check(Source::memory(bytes))
    }

    fn check(source: Source) -> Result<Snapshot, SnapshotError> {
        let path = source.path().to_path_buf();
        let damaged = |reason: &str| {
            SnapshotError::Damaged(Damage {
                path: path.clone(),
                reason: reason.to_owned(),
            })
        };
        let read = |range: Range<usize>| source.peek(range).map_err(|error| unreadable(&path, error));
        // As long as the head of every snapshot of this version, so that there is one read.
        let first = read(0..head_length(writer::SECTIONS))?;
        let (header, _) = Header::read_from_prefix(&first).map_err(|_| damaged("it is too short"))?;
        if header.magic != MAGIC {
            return Err(damaged("it does not start as a snapshot"));
        }
        if header.version.get() != SNAPSHOT_VERSION {
            return Err(SnapshotError::Version {
                found: header.version.get(),
            });
        }
        if header.file_length.get() != source.length() as u64 {
            return Err(damaged("its length is not the one announced"));
        }
        if header.section_count.get() > MAX_SECTIONS {
            return Err(damaged("it announces too many sections"));
        }
        let sections = header.section_count.get() as usize;
        let head = match head_length(sections) {
            length if length == first.len() => first,
            length => read(0..length)?,
        };
        let (_, table) = Header::ref_from_prefix(&head).map_err(|_| damaged("it is too short"))?;
        let (table, _) = <[SectionEntry]>::ref_from_prefix_with_elems(table, sections)
            .map_err(|_| damaged("its section table is cut off"))?;
        let body = usize::try_from(header.body_length.get()).ok().and_then(|length| {
            let end = head.len().checked_add(length)?;
            (end.checked_add(sums_length(length))? == source.length()).then_some(head.len()..end)
        });
        let body = body.ok_or(damaged("its length is not the one announced"))?;
        let sums = read(body.end..source.length())?;
        if header_checksum(&header, &head[size_of::<Header>()..], &sums) != header.checksum {
            return Err(damaged("the checksum of its header is wrong"));
        }
        let mut sections = Vec::with_capacity(table.len());
        for entry in table {
            let (start, length) = (entry.offset.get() as usize, entry.length.get() as usize);
            let end = start
                .checked_add(length)
                .filter(|&end| start >= body.start && end <= body.end)
                .ok_or(damaged("a section lies outside of the file"))?;
            if entry.item_size.get() == 0 || length % entry.item_size.get() as usize != 0 {
                return Err(damaged("a section holds a broken record"));
            }
            sections.push((entry.id.get(), start..end));
        }
        sections.sort_by_key(|(id, _)| *id);
        let find = |id| {
            sections
                .binary_search_by_key(&id, |(id, _)| *id)
                .map(|at| sections[at].1.clone())
                .map_err(|_| damaged("a section is missing"))
        };
        let known = Known {
            files: find(section::FILES)?,
            symbols: find(section::SYMBOLS)?,
            symbol_files: find(section::SYMBOL_FILES)?,
            out_offsets: find(section::OUT_OFFSETS)?,
            edges: find(section::EDGES)?,
            edge_blocks: find(section::EDGE_BLOCKS)?,
            edge_forms: find(section::EDGE_FORMS)?,
            wide_symbols: find(section::WIDE_SYMBOLS)?,
            in_offsets: find(section::IN_OFFSETS)?,
            in_edges: find(section::IN_EDGES)?,
            externals: find(section::EXTERNALS)?,
            name_offsets: find(section::NAME_OFFSETS)?,
            name_symbols: find(section::NAME_SYMBOLS)?,
            text: find(section::TEXT)?,
            misc_text: find(section::MISC_TEXT)?,
        };
        let blocks = Blocks::new(source, &head, &sums).map_err(|error| unreadable(&path, error))?;
        Ok(Snapshot {
            blocks: Arc::new(blocks),
            header,
            sections: sections.into(),
            known,
            path: None,
            search: Arc::default(),
        })
    }

    /// Compares every byte on disk with its checksum, in time proportional to the file, and keeps none in memory.
    pub fn verify(&self) -> Result<(), SnapshotError> {
        Ok(self.blocks.verify()?)
    }

    /// What was found to be damaged so far, here or in the search index beside it. Whoever answers looks at this when the answer
    /// is made, and gives it only if there is nothing: what is damaged reads as if it were not there.
    pub fn damage(&self) -> Option<Damage> {
        let search = || self.search.get().and_then(SearchIndex::damage);
        self.blocks.damage().cloned().or_else(search)
    }

    /// Digest of all that the snapshot was made from: same digest, same tree, same snapshot.
    pub fn tree_digest(&self) -> &[u8; 32] {
        &self.header.tree
    }

    /// The file it was opened from.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The search index that lies beside the file, opened when it is first asked for.
    pub fn search_index(&self) -> &SearchIndex {
        self.search.get_or_init(|| SearchIndex::beside(self))
    }

    /// The symbols that answer a question in words or identifiers, best first.
    pub fn search(&self, question: &str, limit: usize) -> Vec<Hit> {
        let question = Question {
            text: question,
            limit,
            mode: Mode::Hybrid,
            accept: None,
        };
        self.search_index().search(self, &question)
    }

    /// The whole file as it was written; nothing where it is damaged.
    pub fn as_bytes(&self) -> &[u8] {
        self.blocks.all().unwrap_or_default()
    }

    /// A section by its number, for layers that add their own (numbers from 64 on).
    pub fn section(&self, id: u32) -> Option<&[u8]> {
        let at = self.sections.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.blocks.get(self.sections[at].1.clone())
    }

    /// Size of every section in bytes, by number.
    pub fn section_sizes(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        self.sections.iter().map(|(id, range)| (*id, range.len()))
    }

    /// All records of a section; empty where the section does not fit them. Reads all of it, so that those who want a few ask
    /// for [`Snapshot::record`] or [`Snapshot::records_in`].
    fn records<T: FromBytes + Immutable + KnownLayout>(&self, section: &Range<usize>) -> &[T] {
        self.blocks
            .get(section.clone())
            .and_then(|bytes| <[T]>::ref_from_bytes(bytes).ok())
            .unwrap_or_default()
    }

    /// How many records a section has.
    fn count<T>(&self, section: &Range<usize>) -> usize {
        section.len() / size_of::<T>()
    }

    /// One record of a section.
    #[inline]
    fn record<T: FromBytes + Immutable + KnownLayout + Unaligned>(
        &self,
        section: &Range<usize>,
        number: usize,
    ) -> Option<&T> {
        if number >= self.count::<T>(section) {
            return None;
        }
        let start = section.start + number * size_of::<T>();
        T::ref_from_bytes(self.blocks.get(start..start + size_of::<T>())?).ok()
    }

    /// Some records of a section.
    fn records_in<T: FromBytes + Immutable + KnownLayout>(
        &self,
        section: &Range<usize>,
        numbers: Range<usize>,
    ) -> Option<&[T]> {
        if numbers.start > numbers.end || numbers.end > self.count::<T>(section) {
            return None;
        }
        let of = |number: usize| section.start + number * size_of::<T>();
        <[T]>::ref_from_bytes(self.blocks.get(of(numbers.start)..of(numbers.end))?).ok()
    }

    /// The entry `index` of an offsets section and the one after it, as a range.
    fn run(&self, offsets: &Range<usize>, index: usize) -> Range<usize> {
        let both = index
            .checked_add(2)
            .and_then(|end| self.records_in::<U32>(offsets, index..end));
        match both {
            Some([start, end]) => start.get() as usize..end.get() as usize,
            _ => 0..0,
        }
    }

    /// Some bytes of a section.
    fn bytes_in(&self, section: &Range<usize>, range: Range<usize>) -> Option<&[u8]> {
        if range.start > range.end || range.end > section.len() {
            return None;
        }
        self.blocks.get(section.start + range.start..section.start + range.end)
    }

    /// A stretch of a text section; empty where it is not text.
    fn text(&self, section: &Range<usize>, start: u64, length: usize) -> &str {
        let Ok(start) = usize::try_from(start) else { return "" };
        start
            .checked_add(length)
            .and_then(|end| self.bytes_in(section, start..end))
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or("")
    }

    /// The file that a symbol belongs to.
    fn file_of(&self, symbol: SymbolId) -> FileId {
        let file: Option<&U32> = self.record(&self.known.symbol_files, symbol.0 as usize);
        FileId(file.map_or(u32::MAX, |file| file.get()))
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Snapshot")
            .field("files", &self.file_count())
            .field("symbols", &self.symbol_count())
            .field("edges", &self.edge_count())
            .finish()
    }
}

fn unreadable(path: &Path, source: std::io::Error) -> SnapshotError {
    SnapshotError::Read {
        path: path.to_path_buf(),
        source,
    }
}

/// The checksum of what a header says, of the section table and of the checksums of the body.
pub(crate) fn header_checksum(header: &Header, table: &[u8], sums: &[u8]) -> [u8; 32] {
    use zerocopy::IntoBytes;
    let mut hasher = blake3::Hasher::new();
    let fields = header.as_bytes();
    hasher.update(&fields[..fields.len() - header.checksum.len()]);
    hasher.update(table);
    hasher.update(sums);
    *hasher.finalize().as_bytes()
}
