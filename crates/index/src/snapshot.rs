//! The snapshot: one immutable, memory-mapped file that answers every structural question about a tree.
//!
//! [`Snapshot::open`] checks the header and the bounds of the sections and nothing else, so it takes the same time for ten
//! symbols as for ten million. Every later access is checked where it happens; damaged data gives empty answers, and
//! [`Snapshot::verify`] tells for certain. Views borrow from the map: no accessor allocates unless it returns a `String`.
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

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::model::FileId;
use crate::search::{Hit, Mode, Question, SearchIndex};
use format::{Header, MAGIC, MAX_SECTIONS, SectionEntry, section};

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

/// An open snapshot. Cloning shares the map.
#[derive(Clone)]
pub struct Snapshot {
    bytes: Arc<Bytes>,
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
    #[error("the snapshot is damaged: {what}")]
    Damaged {
        /// What gave it away.
        what: &'static str,
    },
}

enum Bytes {
    Map(memmap2::Mmap),
    Memory(Vec<u8>),
}

impl Bytes {
    fn get(&self) -> &[u8] {
        match self {
            Bytes::Map(map) => map,
            Bytes::Memory(bytes) => bytes,
        }
    }
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
        let read = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::NotFound => SnapshotError::Missing {
                path: path.to_path_buf(),
            },
            _ => SnapshotError::Read {
                path: path.to_path_buf(),
                source,
            },
        };
        let file = File::open(path).map_err(read)?;
        if file.metadata().map_err(read)?.len() < size_of::<Header>() as u64 {
            return Err(SnapshotError::Damaged {
                what: "it is too short",
            });
        }
        #[expect(
            unsafe_code,
            reason = "a map is sound while nobody truncates the file: snapshots are only ever replaced by rename"
        )]
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(read)?;
        let mut snapshot = Snapshot::check(Bytes::Map(map))?;
        snapshot.path = Some(path.into());
        Ok(snapshot)
    }

    /// Reads a snapshot from memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Snapshot, SnapshotError> {
        Snapshot::check(Bytes::Memory(bytes))
    }

    fn check(bytes: Bytes) -> Result<Snapshot, SnapshotError> {
        let damaged = |what| SnapshotError::Damaged { what };
        let all = bytes.get();
        let (header, rest) = Header::read_from_prefix(all).map_err(|_| damaged("it is too short"))?;
        if header.magic != MAGIC {
            return Err(damaged("it does not start as a snapshot"));
        }
        if header.version.get() != SNAPSHOT_VERSION {
            return Err(SnapshotError::Version {
                found: header.version.get(),
            });
        }
        if header.file_length.get() != all.len() as u64 {
            return Err(damaged("its length is not the one announced"));
        }
        if header.section_count.get() > MAX_SECTIONS {
            return Err(damaged("it announces too many sections"));
        }
        let (table, _) = <[SectionEntry]>::ref_from_prefix_with_elems(rest, header.section_count.get() as usize)
            .map_err(|_| damaged("its section table is cut off"))?;
        if header_checksum(&header, table) != header.checksum {
            return Err(damaged("the checksum of its header is wrong"));
        }
        let mut sections = Vec::with_capacity(table.len());
        for entry in table {
            let (start, length) = (entry.offset.get() as usize, entry.length.get() as usize);
            let end = start
                .checked_add(length)
                .filter(|&end| end <= all.len())
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
        Ok(Snapshot {
            bytes: Arc::new(bytes),
            header,
            sections: sections.into(),
            known,
            path: None,
            search: Arc::default(),
        })
    }

    /// Compares every section with its checksum, in time proportional to the file.
    pub fn verify(&self) -> Result<(), SnapshotError> {
        let all = self.bytes.get();
        let rest = all.get(size_of::<Header>()..).unwrap_or_default();
        let table = <[SectionEntry]>::ref_from_prefix_with_elems(rest, self.header.section_count.get() as usize);
        let (table, _) = table.map_err(|_| SnapshotError::Damaged {
            what: "its section table is cut off",
        })?;
        for entry in table {
            let (start, length) = (entry.offset.get() as usize, entry.length.get() as usize);
            let content = all.get(start..start.saturating_add(length)).unwrap_or_default();
            if blake3::hash(content).as_bytes()[..16] != entry.checksum {
                return Err(SnapshotError::Damaged {
                    what: "the checksum of a section is wrong",
                });
            }
        }
        Ok(())
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

    /// The whole file as it is on disk.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get()
    }

    /// A section by its number, for layers that add their own (numbers from 64 on).
    pub fn section(&self, id: u32) -> Option<&[u8]> {
        let at = self.sections.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.bytes.get().get(self.sections[at].1.clone())
    }

    /// Size of every section in bytes, by number.
    pub fn section_sizes(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        self.sections.iter().map(|(id, range)| (*id, range.len()))
    }

    /// The records of a section; empty where the section does not fit them.
    fn records<T: FromBytes + Immutable + KnownLayout>(&self, range: &Range<usize>) -> &[T] {
        self.bytes
            .get()
            .get(range.clone())
            .and_then(|bytes| <[T]>::ref_from_bytes(bytes).ok())
            .unwrap_or_default()
    }

    /// The entry `index` of an offsets section and the one after it, as a range.
    fn run(&self, offsets: &Range<usize>, index: usize) -> Range<usize> {
        let offsets: &[U32] = self.records(offsets);
        match (offsets.get(index), offsets.get(index + 1)) {
            (Some(start), Some(end)) => start.get() as usize..end.get() as usize,
            _ => 0..0,
        }
    }

    /// The bytes of a section.
    fn bytes_of(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get().get(range.clone()).unwrap_or_default()
    }

    /// A stretch of a text section; empty where it is not text.
    fn text(&self, section: &Range<usize>, start: u64, length: usize) -> &str {
        let Ok(start) = usize::try_from(start) else { return "" };
        self.bytes
            .get()
            .get(section.clone())
            .and_then(|text| text.get(start..start.checked_add(length)?))
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or("")
    }

    /// The file that a symbol belongs to.
    fn file_of(&self, symbol: SymbolId) -> FileId {
        let files: &[U32] = self.records(&self.known.symbol_files);
        FileId(files.get(symbol.0 as usize).map_or(u32::MAX, |file| file.get()))
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

pub(crate) fn header_checksum(header: &Header, table: &[SectionEntry]) -> [u8; 32] {
    use zerocopy::IntoBytes;
    let mut hasher = blake3::Hasher::new();
    let fields = header.as_bytes();
    hasher.update(&fields[..fields.len() - header.checksum.len()]);
    hasher.update(table.as_bytes());
    *hasher.finalize().as_bytes()
}
