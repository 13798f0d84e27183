//! Views of files, symbols, languages and skipped files: a reference into the map and a number, read field by field.

use std::borrow::Cow;
use std::ops::Range;

use syntax::facts::{Flags, Kind, Position, Span, Visibility};
use zerocopy::FromBytes;

use super::format::{
    EDGE_KINDS, FILE_KIND, FileRecord, KINDS, LanguageRecord, ORIGINS, SkippedRecord, SymbolRecord, TotalsRecord,
    kind_of, section, visibility_of,
};
use super::symbol_row::{SymbolRow, WideSymbol};
use super::{Snapshot, SymbolId};
use crate::model::{EdgeKind, FileId, Origin};
use crate::scan::SkipReason;

/// Yes-or-no facts of a file, as a bit set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FileFlags(pub u16);

impl FileFlags {
    /// The file says of itself that it was generated.
    pub const GENERATED: FileFlags = FileFlags(1);
    /// Its bytes are not UTF-8 (or carry a byte order mark): offsets count in the decoded text.
    pub const DECODED: FileFlags = FileFlags(1 << 1);
    /// It was given up as a whole, because of its size or of the work it takes: none of its symbols are known.
    pub const UNPARSED: FileFlags = FileFlags(1 << 2);

    /// Whether all bits of `other` are set.
    pub fn contains(self, other: FileFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the bits of `other`.
    pub fn insert(&mut self, other: FileFlags) {
        self.0 |= other.0;
    }
}

/// A file of a snapshot.
#[derive(Clone, Copy)]
pub struct FileView<'a> {
    pub(super) snapshot: &'a Snapshot,
    record: &'a FileRecord,
    next: &'a FileRecord,
    id: FileId,
}

impl<'a> FileView<'a> {
    /// Its number in this snapshot.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Path relative to the root, with `/`; odd bytes escaped as [`crate::scan::escape_path`] does.
    pub fn path(&self) -> &'a str {
        let record = self.record;
        self.snapshot.text(
            &self.snapshot.known.text,
            record.text_start.get(),
            record.path_length.get() as usize,
        )
    }

    /// First sentence of the file's own documentation, empty when there is none.
    pub fn doc(&self) -> &'a str {
        let record = self.record;
        let start = record.text_start.get() + u64::from(record.path_length.get());
        self.snapshot
            .text(&self.snapshot.known.text, start, record.doc_length.get() as usize)
    }

    /// Key of its language.
    pub fn language(&self) -> &'a str {
        self.snapshot
            .languages()
            .nth(self.record.language.get() as usize)
            .map_or("", |language| language.name())
    }

    /// BLAKE3 of its bytes on disk.
    pub fn hash(&self) -> &'a [u8; 32] {
        &self.record.hash
    }

    /// Number of lines.
    pub fn lines(&self) -> u32 {
        self.record.lines.get()
    }

    /// Size on disk in bytes.
    pub fn size(&self) -> u64 {
        self.record.size.get()
    }

    /// Yes-or-no facts.
    pub fn flags(&self) -> FileFlags {
        FileFlags(self.record.flags.get())
    }

    /// How many of its calls found no target at all.
    pub fn unresolved_calls(&self) -> u32 {
        self.record.unresolved_calls.get()
    }

    /// How many places of it could not be read by the grammar.
    pub fn problems(&self) -> u32 {
        self.record.problems.get()
    }

    /// The file itself as a symbol, which carries its imports and top-level calls.
    pub fn symbol(&self) -> Option<SymbolView<'a>> {
        self.snapshot.symbol(SymbolId(self.record.symbol_start.get()))
    }

    /// Its symbols in source order, the file itself first. Lambdas are not among them: what they do counts for the symbol
    /// around them, in edges as well.
    pub fn symbols(&self) -> impl DoubleEndedIterator<Item = SymbolView<'a>> + use<'a> {
        self.symbols_and_lambdas().filter(|symbol| !symbol.is_lambda())
    }

    /// Its symbols in source order with the lambdas among them, as exports tell them apart.
    pub fn symbols_and_lambdas(&self) -> impl DoubleEndedIterator<Item = SymbolView<'a>> + use<'a> {
        let snapshot = self.snapshot;
        self.symbol_range()
            .filter_map(move |number| snapshot.symbol(SymbolId(number)))
    }

    /// The numbers of its symbols, no more than there are: a damaged record must not be walked for four thousand million of them.
    pub fn symbol_range(&self) -> Range<u32> {
        let count = self.snapshot.symbol_count() as u32;
        self.record.symbol_start.get()..self.next.symbol_start.get().min(count)
    }

    /// The numbers of the edges that start in it, no more than there are.
    pub(super) fn edge_range(&self) -> Range<u32> {
        let count = self.snapshot.edge_count() as u32;
        self.record.edge_start.get()..self.next.edge_start.get().min(count)
    }

    fn symbol_text_start(&self) -> u64 {
        let record = self.record;
        record
            .text_start
            .get()
            .saturating_add(u64::from(record.path_length.get()))
            .saturating_add(u64::from(record.doc_length.get()))
    }
}

/// A symbol of a snapshot.
#[derive(Clone, Copy)]
pub struct SymbolView<'a> {
    snapshot: &'a Snapshot,
    row: &'a SymbolRow,
    id: SymbolId,
}

impl<'a> SymbolView<'a> {
    /// Its number in this snapshot.
    pub fn id(&self) -> SymbolId {
        self.id
    }

    /// Whether it is a file as a whole.
    pub fn is_file(&self) -> bool {
        self.row.kind() == FILE_KIND
    }

    /// Whether it is a function without a name.
    pub fn is_lambda(&self) -> bool {
        self.row.kind() == Kind::Lambda as u8
    }

    /// What it is; [`Kind::Module`] for a file.
    pub fn kind(&self) -> Kind {
        kind_of(self.row.kind())
    }

    /// Its own name; the last part of the path for a file.
    pub fn name(&self) -> &'a str {
        if self.is_file() {
            let path = self.path();
            return path.rsplit('/').next().unwrap_or(path);
        }
        let record = self.record();
        self.text(&record, u32::from(record.name_start.get()), record.name_length.get())
    }

    /// One line as written, without the body.
    pub fn signature(&self) -> &'a str {
        let record = self.record();
        self.text(&record, 0, record.signature_length.get())
    }

    /// First sentence of its documentation, empty when there is none.
    pub fn doc(&self) -> &'a str {
        if self.is_file() {
            return self.file().map_or("", |file| file.doc());
        }
        let record = self.record();
        self.text(
            &record,
            u32::from(record.signature_length.get()),
            record.doc_length.get(),
        )
    }

    /// The owner's name where the definition names it itself and the owner is not in the same file (Go receivers, `impl`,
    /// `A::b` outside of `A`), as dotted names; empty otherwise.
    pub fn named_owner(&self) -> &'a str {
        let record = self.record();
        let start = u32::from(record.signature_length.get()) + u32::from(record.doc_length.get());
        self.text(&record, start, record.owner_length.get())
    }

    /// Who may use it.
    pub fn visibility(&self) -> Visibility {
        visibility_of(self.row.visibility())
    }

    /// Yes-or-no facts.
    pub fn flags(&self) -> Flags {
        Flags(self.record().flags.get())
    }

    /// The whole definition, in bytes of the decoded text and in lines. For a file, all of it.
    pub fn span(&self) -> Span {
        let record = self.record();
        Span {
            start: record.span_start.get(),
            end: record.span_end.get(),
            start_line: record.start_line.get(),
            end_line: record.end_line.get(),
        }
    }

    /// Where its name stands.
    pub fn name_at(&self) -> Position {
        let record = self.record();
        Position {
            line: record
                .start_line
                .get()
                .saturating_add(u32::from(record.name_line.get())),
            column: u32::from(record.name_column.get()),
        }
    }

    /// Bytes of its whole documentation comment in the decoded text.
    pub fn doc_span(&self) -> Option<Range<u32>> {
        let record = self.record();
        let (start, length) = (record.doc_start.get(), record.doc_bytes.get());
        (length > 0).then(|| start..start.saturating_add(length))
    }

    /// The file it stands in.
    pub fn file(&self) -> Option<FileView<'a>> {
        self.snapshot.file(self.file_id())
    }

    /// The number of the file it stands in.
    pub fn file_id(&self) -> FileId {
        self.snapshot.file_of(self.id)
    }

    /// Path of the file it stands in.
    pub fn path(&self) -> &'a str {
        self.file().map_or("", |file| file.path())
    }

    /// The symbol that contains it, in the same file: its owner where that is known, else the definition around it, else
    /// the file. `None` for a file.
    pub fn parent(&self) -> Option<SymbolView<'a>> {
        let parent = self.record().parent.get();
        if self.is_file() {
            return None;
        }
        let first = self.file()?.record.symbol_start.get();
        // A parent must differ from its child, or a damaged file would make a caller walk in circles of length one.
        self.snapshot
            .symbol(SymbolId(first.checked_add(parent)?))
            .filter(|found| found.id != self.id)
    }

    /// The names of its owners from the outermost in, the file excluded, then its own: `Owner.name`.
    pub fn qualified_name(&self) -> String {
        if self.is_file() {
            return self.name().to_string();
        }
        let mut parts: Vec<&str> = Vec::new();
        let mut current = Some(*self);
        while let Some(symbol) = current.filter(|symbol| !symbol.is_file()) {
            parts.push(symbol.name());
            if !symbol.named_owner().is_empty() {
                parts.push(symbol.named_owner());
            }
            if parts.len() > MAX_OWNERS {
                break;
            }
            current = symbol.parent();
        }
        parts.reverse();
        parts.join(".")
    }

    /// The lasting id: `<path>::<Owner.name>`, with `~2`, `~3` … for repeats; the path alone for a file.
    pub fn id_string(&self) -> String {
        if self.is_file() {
            return self.path().to_string();
        }
        let mut id = format!("{}::{}", self.path(), self.qualified_name());
        let repeat = self.record().repeat.get();
        if repeat > 0 {
            id.push_str(&format!("~{}", u64::from(repeat) + 1));
        }
        id
    }

    /// Which definition of its id it is: 1 for the first.
    pub fn repeat(&self) -> u32 {
        self.record().repeat.get().saturating_add(1)
    }

    /// All that its row tells, or its wide record.
    #[inline(always)]
    fn record(&self) -> SymbolRecord {
        match self.row.is_wide() {
            false => self.row.record(),
            true => self.snapshot.wide_symbol(self.id),
        }
    }

    fn text(&self, record: &SymbolRecord, offset: u32, length: u16) -> &'a str {
        let Some(file) = self.file() else { return "" };
        let start = file
            .symbol_text_start()
            .saturating_add(u64::from(record.text_start.get()))
            .saturating_add(u64::from(offset));
        self.snapshot
            .text(&self.snapshot.known.text, start, usize::from(length))
    }
}

/// Longest chain of owners that a name spells out. Deeper nesting is an attack or a data file, and damaged parents could go
/// round in circles.
pub(super) const MAX_OWNERS: usize = 256;

/// One language of a tree.
#[derive(Clone, Copy)]
pub struct LanguageView<'a> {
    snapshot: &'a Snapshot,
    record: &'a LanguageRecord,
}

impl<'a> LanguageView<'a> {
    /// Its key.
    pub fn name(&self) -> &'a str {
        self.snapshot.text(
            &self.snapshot.known.misc_text,
            self.record.start.get(),
            self.record.length.get() as usize,
        )
    }

    /// How many files are written in it.
    pub fn files(&self) -> u32 {
        self.record.files.get()
    }

    /// How many lines they have.
    pub fn lines(&self) -> u64 {
        self.record.lines.get()
    }

    /// How many symbols they define, files included.
    pub fn symbols(&self) -> u64 {
        self.record.symbols.get()
    }

    /// How many bytes they have.
    pub fn bytes(&self) -> u64 {
        self.record.bytes.get()
    }
}

/// A file that was seen and not indexed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkippedView<'a> {
    /// Its path.
    pub path: Cow<'a, str>,
    /// Why.
    pub reason: SkipReason,
    /// Its size in bytes, 0 where it is unknown.
    pub size: u64,
}

/// Sums over the whole tree.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Symbols by kind, files excluded; kinds that do not occur are left out.
    pub symbols: Vec<(Kind, u64)>,
    /// Edges by kind and origin; pairs that do not occur are left out.
    pub edges: Vec<(EdgeKind, Origin, u64)>,
    /// Calls that found no target at all.
    pub unresolved_calls: u64,
    /// Lines of all indexed files.
    pub lines: u64,
    /// Bytes of all indexed files.
    pub bytes: u64,
}

impl Snapshot {
    /// Number of files.
    pub fn file_count(&self) -> usize {
        self.count::<FileRecord>(&self.known.files).saturating_sub(1)
    }

    /// All files in path order.
    pub fn files(&self) -> impl DoubleEndedIterator<Item = FileView<'_>> {
        (0..self.file_count() as u32).filter_map(|number| self.file(FileId(number)))
    }

    /// One file.
    pub fn file(&self, id: FileId) -> Option<FileView<'_>> {
        let number = id.0 as usize;
        let both = self.records_in(&self.known.files, number..number.checked_add(2)?)?;
        let [record, next] = both else { return None };
        Some(FileView {
            snapshot: self,
            record,
            next,
            id,
        })
    }

    /// Number of symbols, files included.
    pub fn symbol_count(&self) -> usize {
        self.count::<SymbolRow>(&self.known.symbols)
    }

    /// All symbols by file and source order, files included, lambdas not.
    pub fn symbols(&self) -> impl DoubleEndedIterator<Item = SymbolView<'_>> {
        let rows: &[SymbolRow] = self.records(&self.known.symbols);
        let views = rows.iter().enumerate().map(move |(number, row)| SymbolView {
            snapshot: self,
            row,
            id: SymbolId(number as u32),
        });
        views.filter(|symbol| !symbol.is_lambda())
    }

    /// One symbol.
    pub fn symbol(&self, id: SymbolId) -> Option<SymbolView<'_>> {
        let row = self.record(&self.known.symbols, id.0 as usize)?;
        Some(SymbolView {
            snapshot: self,
            row,
            id,
        })
    }

    /// The languages of the tree, by name.
    pub fn languages(&self) -> impl Iterator<Item = LanguageView<'_>> {
        let records = self
            .section(section::LANGUAGES)
            .and_then(|bytes| <[LanguageRecord]>::ref_from_bytes(bytes).ok())
            .unwrap_or_default();
        records
            .iter()
            .map(move |record| LanguageView { snapshot: self, record })
    }

    /// The files that were seen and not indexed, in path order.
    pub fn skipped(&self) -> impl ExactSizeIterator<Item = SkippedView<'_>> {
        let records = self
            .section(section::SKIPPED)
            .and_then(|bytes| <[SkippedRecord]>::ref_from_bytes(bytes).ok())
            .unwrap_or_default();
        records.iter().map(move |record| SkippedView {
            path: self
                .text(&self.known.misc_text, record.start.get(), record.length.get() as usize)
                .into(),
            reason: SkipReason::from_code(record.reason.get()),
            size: record.size.get(),
        })
    }

    /// Sums over the whole tree, kept in the file: reading them costs nothing.
    pub fn totals(&self) -> Totals {
        let Some((record, _)) = self
            .section(section::TOTALS)
            .and_then(|bytes| TotalsRecord::ref_from_prefix(bytes).ok())
        else {
            return Totals::default();
        };
        let symbols = KINDS
            .iter()
            .map(|&kind| (kind, record.symbols[kind as usize].get()))
            .filter(|(_, count)| *count > 0)
            .collect();
        let edges = EDGE_KINDS
            .iter()
            .flat_map(|&kind| ORIGINS.iter().map(move |&origin| (kind, origin)))
            .map(|(kind, origin)| (kind, origin, record.edges[kind as usize][origin as usize].get()))
            .filter(|(_, _, count)| *count > 0)
            .collect();
        Totals {
            symbols,
            edges,
            unresolved_calls: record.unresolved_calls.get(),
            lines: record.lines.get(),
            bytes: record.bytes.get(),
        }
    }

    /// The lambdas that stand directly in a symbol.
    pub(super) fn lambdas_in(&self, symbol: SymbolId) -> impl Iterator<Item = SymbolId> {
        let first = self
            .file(self.file_of(symbol))
            .map_or(symbol.0, |file| file.symbol_range().start);
        let end = self.symbol(symbol).map_or(0, |symbol| symbol.record().span_end.get());
        // What a symbol holds comes after it and starts before it ends.
        (symbol.0.saturating_add(1)..)
            .map_while(move |number| self.symbol(SymbolId(number)))
            .take_while(move |inside| !inside.is_file() && inside.record().span_start.get() < end)
            .filter(move |inside| {
                inside.is_lambda() && first.checked_add(inside.record().parent.get()) == Some(symbol.0)
            })
            .map(|inside| inside.id)
    }

    /// The symbol that counts for what `symbol` does: the one around a lambda.
    pub(super) fn named_around(&self, symbol: SymbolId) -> SymbolId {
        match self.symbol(symbol).filter(|symbol| symbol.is_lambda()) {
            Some(lambda) => lambda.parent().map_or(symbol, |parent| parent.id),
            None => symbol,
        }
    }

    /// One past the last edge, as the files tell.
    pub(super) fn edge_end(&self) -> u32 {
        let last: Option<&FileRecord> = self.record(&self.known.files, self.file_count());
        last.map_or(0, |end| end.edge_start.get())
    }

    /// The record of a symbol whose row is wide; empty where there is none.
    #[cold]
    fn wide_symbol(&self, id: SymbolId) -> SymbolRecord {
        let section = &self.known.wide_symbols;
        let wide = |at: usize| self.record::<WideSymbol>(section, at);
        let at = super::partition(self.count::<WideSymbol>(section), |at| {
            wide(at).is_some_and(|symbol| symbol.number.get() < id.0)
        });
        let found = wide(at).filter(|symbol| symbol.number.get() == id.0);
        found.map_or_else(zerocopy::FromZeros::new_zeroed, |symbol| symbol.record)
    }
}
