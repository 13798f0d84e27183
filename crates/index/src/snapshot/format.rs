//! The bytes of a snapshot: a header, a table of sections, sections that are arrays of fixed little-endian records, and the
//! checksums of all blocks of the sections (see [`crate::store::Blocks`]).
//!
//! Records have alignment 1 and every bit pattern is a valid value, so a section can be viewed in place without copying. Numbers
//! inside records are checked where they are used all the same: what is damaged reads as if it were not there.

use syntax::facts::{Kind, Visibility};
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::model::{EdgeKind, Origin};

/// First bytes of every snapshot.
pub(crate) const MAGIC: [u8; 8] = *b"LACONSN\n";
/// Version of the layout. A file of any other version is rebuilt, not read.
pub const SNAPSHOT_VERSION: u32 = 5;
/// Most sections a header may announce.
pub(crate) const MAX_SECTIONS: u32 = 256;

macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy, Debug)]
        #[repr(C)]
        pub(crate) struct $name { $($(#[$field_doc])* pub(crate) $field: $type,)* }
    };
}

record! {
    /// What the file starts with.
    Header {
        magic: [u8; 8],
        version: U32,
        section_count: U32,
        /// Length of the whole file, so that a truncated one is told at once.
        file_length: U64,
        /// Bytes between the section table and the checksums at the end.
        body_length: U64,
        /// Digest of everything the snapshot was made from.
        tree: [u8; 32],
        /// BLAKE3 of the fields above, of the section table and of the checksums at the end.
        checksum: [u8; 32],
    }
}

record! {
    /// Where a section lies.
    SectionEntry {
        id: U32,
        /// Size of one record; 1 for text.
        item_size: U32,
        offset: U64,
        length: U64,
    }
}

/// Sections start at multiples of this.
pub(crate) const ALIGNMENT: usize = 64;

/// Bytes of the header and of the table of so many sections, up to where the first one starts.
pub(crate) fn head_length(sections: usize) -> usize {
    (size_of::<Header>() + sections * size_of::<SectionEntry>()).next_multiple_of(ALIGNMENT)
}

record! {
    /// One file. The records are in path order, one more than there are files: the last closes every range.
    FileRecord {
        /// Where its text starts in [`section::TEXT`]: path, then documentation, then the texts of its symbols.
        text_start: U64,
        path_length: U32,
        doc_length: U32,
        /// Its first symbol, which is the file itself.
        symbol_start: U32,
        edge_start: U32,
        lines: U32,
        size: U64,
        unresolved_calls: U32,
        problems: U32,
        /// Rank in [`section::LANGUAGES`].
        language: U16,
        /// [`crate::snapshot::FileFlags`].
        flags: U16,
        /// BLAKE3 of the bytes on disk.
        hash: [u8; 32],
    }
}

record! {
    /// One symbol, as segments hold it; on disk it is a [`super::symbol_row::SymbolRow`]. Offsets are relative to its file, so that a
    /// file's records do not change with other files.
    SymbolRecord {
        /// Relative to the end of the file's own texts: signature, documentation, owner, and the name where the
        /// signature does not contain it.
        text_start: U32,
        signature_length: U16,
        doc_length: U16,
        owner_length: U16,
        /// Relative to `text_start`.
        name_start: U16,
        name_length: U16,
        kind: u8,
        visibility: u8,
        flags: U32,
        /// Relative to the file's first symbol; 0 is the file itself.
        parent: U32,
        span_start: U32,
        span_end: U32,
        start_line: U32,
        end_line: U32,
        /// Relative to `start_line`.
        name_line: U16,
        name_column: U16,
        /// How many symbols of the same id come before it in the file.
        repeat: U32,
        doc_start: U32,
        doc_bytes: U32,
    }
}

record! {
    /// A text of [`section::MISC_TEXT`]. Used for external symbols.
    TextRecord {
        start: U64,
        length: U32,
    }
}

record! {
    /// A file that was not indexed.
    SkippedRecord {
        start: U64,
        length: U32,
        reason: U32,
        size: U64,
    }
}

record! {
    /// One language of the tree.
    LanguageRecord {
        start: U64,
        length: U32,
        files: U32,
        lines: U64,
        symbols: U64,
        bytes: U64,
    }
}

record! {
    /// Sums over the whole tree.
    TotalsRecord {
        symbols: [U64; 32],
        /// Edges by kind, then origin.
        edges: [[U64; 8]; 32],
        unresolved_calls: U64,
        lines: U64,
        bytes: U64,
    }
}

/// Section numbers. Those from 64 on belong to other layers (search, vectors), which add them by number.
pub(crate) mod section {
    pub(crate) const TOTALS: u32 = 1;
    pub(crate) const FILES: u32 = 2;
    pub(crate) const SYMBOLS: u32 = 3;
    /// File of each symbol.
    pub(crate) const SYMBOL_FILES: u32 = 4;
    /// First edge of each symbol, and the end.
    pub(crate) const OUT_OFFSETS: u32 = 5;
    /// Edges by source, kind, target and place; see [`super::super::edge_blocks`].
    pub(crate) const EDGES: u32 = 6;
    /// First byte of [`IN_EDGES`] of each symbol and external symbol, and the end.
    pub(crate) const IN_OFFSETS: u32 = 7;
    /// Numbers of edges by target.
    pub(crate) const IN_EDGES: u32 = 8;
    pub(crate) const EXTERNALS: u32 = 9;
    /// First entry of [`NAME_SYMBOLS`] of each distinct name, and the end. Names are in folded order.
    pub(crate) const NAME_OFFSETS: u32 = 10;
    /// Symbols by name. A name's text is that of its first symbol.
    pub(crate) const NAME_SYMBOLS: u32 = 11;
    pub(crate) const TEXT: u32 = 12;
    pub(crate) const MISC_TEXT: u32 = 13;
    pub(crate) const SKIPPED: u32 = 14;
    pub(crate) const LANGUAGES: u32 = 15;
    /// The distinct names in lower case, in order, each followed by a line end: names are searched in one sweep over it.
    pub(crate) const FOLDED_NAMES: u32 = 16;
    /// Where each of them ends, its line end included.
    pub(crate) const FOLDED_NAME_ENDS: u32 = 17;
    /// First byte of [`EDGES`] of each block.
    pub(crate) const EDGE_BLOCKS: u32 = 18;
    /// Kinds, origins and confidences of edges that occur.
    pub(crate) const EDGE_FORMS: u32 = 19;
    /// The symbols that do not fit their rows, by number.
    pub(crate) const WIDE_SYMBOLS: u32 = 20;
}

/// Kind, origin, confidence and column of an edge in 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct EdgeBits(pub(crate) u32);

/// Columns from here on are stored as this.
pub(crate) const MAX_COLUMN: u32 = (1 << 17) - 1;

impl EdgeBits {
    pub(crate) fn new(kind: EdgeKind, origin: Origin, confidence: u8, column: u32) -> EdgeBits {
        EdgeBits(
            (kind as u32) << 27 | (origin as u32) << 24 | u32::from(confidence.min(100)) << 17 | column.min(MAX_COLUMN),
        )
    }

    pub(crate) fn kind(self) -> EdgeKind {
        EDGE_KINDS
            .get((self.0 >> 27) as usize)
            .copied()
            .unwrap_or(EdgeKind::References)
    }

    pub(crate) fn origin(self) -> Origin {
        ORIGINS
            .get((self.0 >> 24 & 7) as usize)
            .copied()
            .unwrap_or(Origin::TextMatched)
    }

    pub(crate) fn confidence(self) -> u8 {
        (self.0 >> 17 & 127) as u8
    }

    pub(crate) fn column(self) -> u32 {
        self.0 & MAX_COLUMN
    }
}

/// Every kind of edge, by its code.
pub const EDGE_KINDS: [EdgeKind; 14] = [
    EdgeKind::Calls,
    EdgeKind::Instantiates,
    EdgeKind::References,
    EdgeKind::Reads,
    EdgeKind::Writes,
    EdgeKind::Extends,
    EdgeKind::Implements,
    EdgeKind::Overrides,
    EdgeKind::Imports,
    EdgeKind::Contains,
    EdgeKind::Decorated,
    EdgeKind::Tests,
    EdgeKind::Provides,
    EdgeKind::Consumes,
];

/// Every origin, by its code, in falling trust.
pub const ORIGINS: [Origin; 5] = [
    Origin::LspResolved,
    Origin::LspDispatch,
    Origin::AstResolved,
    Origin::AstInferred,
    Origin::TextMatched,
];

/// Every kind of symbol, by its code.
pub const KINDS: [Kind; 20] = [
    Kind::Function,
    Kind::Method,
    Kind::Constructor,
    Kind::Class,
    Kind::Struct,
    Kind::Union,
    Kind::Interface,
    Kind::Trait,
    Kind::Enum,
    Kind::EnumMember,
    Kind::TypeAlias,
    Kind::Field,
    Kind::Property,
    Kind::Variable,
    Kind::Constant,
    Kind::Module,
    Kind::Extension,
    Kind::Macro,
    Kind::Lambda,
    Kind::Section,
];

/// Code of the symbol that is the file itself.
pub(crate) const FILE_KIND: u8 = 31;

pub(crate) fn kind_of(code: u8) -> Kind {
    KINDS.get(code as usize).copied().unwrap_or(Kind::Module)
}

pub(crate) fn visibility_of(code: u8) -> Visibility {
    match code {
        0 => Visibility::Public,
        1 => Visibility::Internal,
        2 => Visibility::Protected,
        _ => Visibility::Private,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_positions() {
        for (code, kind) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, code);
        }
        for (code, kind) in EDGE_KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, code);
        }
        for (code, origin) in ORIGINS.iter().enumerate() {
            assert_eq!(*origin as usize, code);
        }
        for visibility in [
            Visibility::Public,
            Visibility::Internal,
            Visibility::Protected,
            Visibility::Private,
        ] {
            assert_eq!(visibility_of(visibility as u8), visibility);
        }
    }

    #[test]
    fn edge_bits_keep_their_parts() {
        for kind in EDGE_KINDS {
            for origin in ORIGINS {
                let bits = EdgeBits::new(kind, origin, 87, 1234);
                assert_eq!(
                    (bits.kind(), bits.origin(), bits.confidence(), bits.column()),
                    (kind, origin, 87, 1234)
                );
            }
        }
        assert_eq!(
            EdgeBits::new(EdgeKind::Consumes, Origin::TextMatched, 255, u32::MAX).column(),
            MAX_COLUMN
        );
    }
}
