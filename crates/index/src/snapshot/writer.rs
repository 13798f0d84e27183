//! Assembles a snapshot from the segments of its files and streams it out, section by section.
//!
//! Nothing here depends on the history of a build: the same files give the same bytes. Memory beyond the segments is some
//! seven bytes per edge and twenty per symbol.

use std::io::{self, Seek, SeekFrom, Write};

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromZeros, IntoBytes};

use super::edge_blocks::{Edge, EdgeWriter, Forms, put_rising};
use super::format::{
    ALIGNMENT, EdgeBits, FILE_KIND, FileRecord, Header, LanguageRecord, MAGIC, SNAPSHOT_VERSION, SectionEntry,
    SkippedRecord, TextRecord, TotalsRecord, head_length, section,
};
use super::header_checksum;
use super::names::Names;
use super::segment::{EXTERNAL, FileEdge, FileEdges, Segment};
use super::symbol_row::{SymbolRow, WideSymbol};
use crate::scan::Skipped;
use crate::store::Summing;

/// All that a snapshot is made from.
pub(crate) struct Input<'a> {
    /// Digest of the tree.
    pub(crate) tree: [u8; 32],
    /// In path order.
    pub(crate) files: &'a [FileInput<'a>],
    /// The names that [`FileInput::names`] count in.
    pub(crate) names: &'a mut Names,
    /// The names that external edges count in.
    pub(crate) externals: &'a mut Names,
    /// In path order.
    pub(crate) skipped: &'a [Skipped],
}

/// One file of a snapshot.
pub(crate) struct FileInput<'a> {
    pub(crate) path: &'a str,
    pub(crate) language: &'a str,
    pub(crate) hash: [u8; 32],
    pub(crate) size: u64,
    pub(crate) segment: &'a Segment,
    /// Number of the name of each symbol but the first, which is the file.
    pub(crate) names: &'a [u32],
    pub(crate) edges: &'a FileEdges,
}

/// Number of sections that [`write`] makes.
pub(crate) const SECTIONS: usize = 20;
/// How much is written at a time.
const BUFFER: usize = 1 << 18;

/// Writes a whole snapshot.
pub(crate) fn write(input: Input<'_>, out: &mut (impl Write + Seek + Send)) -> io::Result<()> {
    let mut sink = Sink::new(out)?;
    let mut assembly = Assembly::new(&input)?;
    assembly.write_all(&mut sink, input.externals, input.names)?;
    assembly.write_totals(&mut sink)?;
    assembly.write_misc(&mut sink)?;
    sink.finish(input.tree)
}

/// Running sums while the sections are written.
struct Assembly<'a> {
    files: &'a [FileInput<'a>],
    skipped: &'a [Skipped],
    /// First symbol of each file, and the end.
    symbol_bases: Vec<u32>,
    /// Languages in use, sorted.
    languages: Vec<&'a str>,
    totals: Box<TotalsRecord>,
    misc: Vec<u8>,
    externals: Vec<TextRecord>,
}

impl<'a> Assembly<'a> {
    fn new(input: &Input<'a>) -> io::Result<Assembly<'a>> {
        let mut symbol_bases = Vec::with_capacity(input.files.len() + 1);
        let (mut symbols, mut edges) = (0u64, 0u64);
        for file in input.files {
            symbol_bases.push(symbols as u32);
            symbols += file.segment.symbols.len() as u64;
            edges += file.edges.edges.len() as u64;
        }
        symbol_bases.push(symbols as u32);
        // External symbols share the numbers above the symbols, and each has an edge.
        if symbols.saturating_add(edges) >= u64::from(u32::MAX) {
            return Err(io::Error::other(
                "the tree has more than four thousand million symbols and edges",
            ));
        }
        let mut languages: Vec<&str> = input.files.iter().map(|file| file.language).collect();
        languages.sort_unstable();
        languages.dedup();
        Ok(Assembly {
            files: input.files,
            skipped: input.skipped,
            symbol_bases,
            languages,
            totals: Box::new(FromZeros::new_zeroed()),
            misc: Vec::new(),
            externals: Vec::new(),
        })
    }

    fn symbol_count(&self) -> u32 {
        self.symbol_bases[self.files.len()]
    }

    fn write_files(&mut self, sink: &mut Sink<'_, impl Write + Seek>) -> io::Result<()> {
        sink.begin(section::FILES, size_of::<FileRecord>())?;
        let (mut text_start, mut edge_start) = (0u64, 0u32);
        for (number, file) in self.files.iter().enumerate() {
            let segment = file.segment;
            let language = self.languages.partition_point(|name| *name < file.language);
            let record = FileRecord {
                text_start: U64::new(text_start),
                path_length: U32::new(file.path.len() as u32),
                doc_length: U32::new(segment.doc.len() as u32),
                symbol_start: U32::new(self.symbol_bases[number]),
                edge_start: U32::new(edge_start),
                lines: U32::new(segment.lines),
                size: U64::new(file.size),
                unresolved_calls: U32::new(file.edges.unresolved_calls),
                problems: U32::new(segment.problems),
                language: U16::new(language as u16),
                flags: U16::new(segment.flags.0),
                hash: file.hash,
            };
            sink.put(record.as_bytes())?;
            text_start += (file.path.len() + segment.doc.len() + segment.text.len()) as u64;
            edge_start += file.edges.edges.len() as u32;
            self.totals.unresolved_calls += u64::from(file.edges.unresolved_calls);
            self.totals.lines += u64::from(segment.lines);
            self.totals.bytes += file.size;
        }
        let end: FileRecord = FileRecord {
            text_start: U64::new(text_start),
            symbol_start: U32::new(self.symbol_count()),
            edge_start: U32::new(edge_start),
            ..FromZeros::new_zeroed()
        };
        sink.put(end.as_bytes())?;
        sink.end()
    }

    fn write_symbols(&mut self, sink: &mut Sink<'_, impl Write + Seek>) -> io::Result<()> {
        sink.begin(section::SYMBOLS, size_of::<SymbolRow>())?;
        let (mut rows, mut wide) = (Vec::new(), Vec::new());
        for (file, &base) in self.files.iter().zip(&self.symbol_bases) {
            rows.clear();
            for (number, symbol) in (base..).zip(&file.segment.symbols) {
                if symbol.kind != FILE_KIND {
                    self.totals.symbols[usize::from(symbol.kind & 31)] += 1;
                }
                let row = SymbolRow::new(symbol);
                if row.is_wide() {
                    wide.push(WideSymbol {
                        number: U32::new(number),
                        record: *symbol,
                    });
                }
                rows.push(row);
            }
            sink.put(rows.as_bytes())?;
        }
        sink.end()?;
        sink.whole(section::WIDE_SYMBOLS, size_of::<WideSymbol>(), wide.as_bytes())?;
        sink.begin(section::SYMBOL_FILES, 4)?;
        let mut column = Vec::new();
        for (number, file) in self.files.iter().enumerate() {
            column.clear();
            column.resize(file.segment.symbols.len(), U32::new(number as u32));
            sink.put(column.as_bytes())?;
        }
        sink.end()
    }

    /// Writes files, symbols, texts, edges and names. Incoming edges and names are laid out while the others are written.
    fn write_all(
        &mut self,
        sink: &mut Sink<'_, impl Write + Seek + Send>,
        externals: &mut Names,
        names: &mut Names,
    ) -> io::Result<()> {
        let files = self.files;
        let all = files.iter().flat_map(|file| &file.edges.edges);
        let (used, forms) = rayon::join(
            || used_externals(files, externals.len()),
            || Forms::of(all.map(|edge| EdgeBits(edge.bits))),
        );
        for (bits, count) in forms.counted() {
            self.totals.edges[bits.kind() as usize][bits.origin() as usize] += u64::from(count);
        }
        let targets = Targets {
            externals: self.rank_externals(externals, used),
            bases: &self.symbol_bases.clone(),
            symbols: self.symbol_count(),
        };
        let ends = self.symbol_count() as usize + self.externals.len();
        let (written, (incoming, names)) = rayon::join(
            || {
                self.write_files(sink)?;
                self.write_symbols(sink)?;
                self.write_text(sink)?;
                sink.whole(section::EDGE_FORMS, 2, forms.table().as_bytes())?;
                write_outgoing(files, &targets, forms, sink)
            },
            || {
                rayon::join(
                    || Incoming::new(files, &targets, ends),
                    || NameTable::new(files, targets.bases, names),
                )
            },
        );
        written?;
        sink.whole(section::IN_EDGES, 1, &incoming.bytes)?;
        sink.numbers(section::IN_OFFSETS, &incoming.starts)?;
        sink.whole(section::EXTERNALS, size_of::<TextRecord>(), self.externals.as_bytes())?;
        names.write(sink)
    }

    /// Lays out the names of the externals that are used and returns the rank of each number of the table.
    fn rank_externals(&mut self, externals: &mut Names, used: Vec<bool>) -> Vec<u32> {
        let mut ranks = vec![u32::MAX; externals.len()];
        let order = externals.ordered().to_vec();
        for number in order {
            if used[number as usize] {
                ranks[number as usize] = self.externals.len() as u32;
                let text = externals.text(number);
                self.externals.push(TextRecord {
                    start: U64::new(self.misc.len() as u64),
                    length: U32::new(text.len() as u32),
                });
                self.misc.extend_from_slice(text.as_bytes());
            }
        }
        ranks
    }

    fn write_text(&mut self, sink: &mut Sink<'_, impl Write + Seek>) -> io::Result<()> {
        sink.begin(section::TEXT, 1)?;
        for file in self.files {
            sink.put(file.path.as_bytes())?;
            sink.put(file.segment.doc.as_bytes())?;
            sink.put(file.segment.text.as_bytes())?;
        }
        sink.end()
    }

    fn write_totals(&mut self, sink: &mut Sink<'_, impl Write + Seek>) -> io::Result<()> {
        sink.whole(section::TOTALS, size_of::<TotalsRecord>(), self.totals.as_bytes())
    }

    fn write_misc(&mut self, sink: &mut Sink<'_, impl Write + Seek>) -> io::Result<()> {
        let misc = &mut self.misc;
        let mut languages: Vec<LanguageRecord> = Vec::with_capacity(self.languages.len());
        for name in &self.languages {
            languages.push(LanguageRecord {
                start: U64::new(misc.len() as u64),
                length: U32::new(name.len() as u32),
                ..FromZeros::new_zeroed()
            });
            misc.extend_from_slice(name.as_bytes());
        }
        for file in self.files {
            let language = &mut languages[self.languages.partition_point(|name| *name < file.language)];
            language.files += 1;
            language.lines += u64::from(file.segment.lines);
            language.symbols += file.segment.symbols.len() as u64;
            language.bytes += file.size;
        }
        let mut skipped: Vec<SkippedRecord> = Vec::with_capacity(self.skipped.len());
        for file in self.skipped {
            skipped.push(SkippedRecord {
                start: U64::new(misc.len() as u64),
                length: U32::new(file.path.len() as u32),
                reason: U32::new(file.reason.code()),
                size: U64::new(file.size),
            });
            misc.extend_from_slice(file.path.as_bytes());
        }
        sink.whole(section::LANGUAGES, size_of::<LanguageRecord>(), languages.as_bytes())?;
        sink.whole(section::SKIPPED, size_of::<SkippedRecord>(), skipped.as_bytes())?;
        sink.whole(section::MISC_TEXT, 1, misc)
    }
}

/// What edges end in, as the snapshot numbers it.
struct Targets<'a> {
    bases: &'a [u32],
    /// By number of the name in the build's table.
    externals: Vec<u32>,
    symbols: u32,
}

impl Targets<'_> {
    fn of(&self, edge: &FileEdge) -> u32 {
        match edge.file {
            EXTERNAL => self.symbols + self.externals[edge.to as usize],
            file => self.bases[file as usize] + edge.to,
        }
    }
}

/// Which externals some edge ends in.
fn used_externals(files: &[FileInput<'_>], externals: usize) -> Vec<bool> {
    let mut used = vec![false; externals];
    for file in files {
        for edge in file.edges.edges.iter().filter(|edge| edge.file == EXTERNAL) {
            used[edge.to as usize] = true;
        }
    }
    used
}

fn write_outgoing(
    files: &[FileInput<'_>],
    targets: &Targets<'_>,
    forms: Forms,
    sink: &mut Sink<'_, impl Write + Seek>,
) -> io::Result<()> {
    let mut offsets = Vec::with_capacity(targets.symbols as usize + 1);
    let mut writer = EdgeWriter::new(forms);
    let mut bytes = Vec::new();
    sink.begin(section::EDGES, 1)?;
    for file in files {
        bytes.clear();
        let mut edges = file.edges.edges.iter().peekable();
        for symbol in 0..file.segment.symbols.len() as u32 {
            offsets.push(U32::new(writer.count()));
            while let Some(edge) = edges.next_if(|edge| edge.from <= symbol) {
                let (target, line, bits) = (targets.of(edge), edge.line, EdgeBits(edge.bits));
                writer.append(Edge { target, line, bits }, &mut bytes);
            }
        }
        sink.put(&bytes)?;
    }
    sink.end()?;
    if writer.length() >= u64::from(u32::MAX) {
        return Err(io::Error::other("the edges of the tree exceed four gigabytes"));
    }
    sink.whole(section::EDGE_BLOCKS, 4, writer.blocks.as_bytes())?;
    offsets.push(U32::new(writer.count()));
    sink.whole(section::OUT_OFFSETS, 4, offsets.as_bytes())
}

/// The numbers of the edges that end in each target.
struct Incoming {
    bytes: Vec<u8>,
    /// Where the bytes of each target start, and the end.
    starts: Vec<u32>,
}

impl Incoming {
    fn new(files: &[FileInput<'_>], targets: &Targets<'_>, ends: usize) -> Incoming {
        let edges = || files.iter().flat_map(|file| &file.edges.edges);
        // `starts[target + 1]` counts first and is then summed up to where each target's run starts.
        let mut starts = vec![0u32; ends + 1];
        let mut count = 0;
        for edge in edges() {
            starts[targets.of(edge) as usize + 1] += 1;
            count += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut numbers = vec![0u32; count];
        for (number, edge) in (0..).zip(edges()) {
            let cursor = &mut starts[targets.of(edge) as usize];
            numbers[*cursor as usize] = number;
            *cursor += 1;
        }
        // Each cursor stands at the end of its run now, where the next one starts.
        let mut bytes = Vec::with_capacity(2 * count);
        let mut start = 0;
        for end in &mut starts {
            let length = bytes.len() as u32;
            put_rising(&mut bytes, numbers.get(start..*end as usize).unwrap_or_default());
            start = *end as usize;
            *end = length;
        }
        Incoming { bytes, starts }
    }
}

/// The symbols of each name, and the names as they are searched.
struct NameTable {
    offsets: Vec<U32>,
    symbols: Vec<U32>,
    folded: String,
    folded_ends: Vec<U32>,
}

impl NameTable {
    fn new(files: &[FileInput<'_>], symbol_bases: &[u32], names: &mut Names) -> NameTable {
        let mut counts = vec![0u32; names.len()];
        for file in files {
            for &name in file.names {
                counts[name as usize] += 1;
            }
        }
        // From here on `counts` holds where the next symbol of each name goes.
        let mut offsets = Vec::new();
        let mut total = 0u32;
        names.ordered();
        let (mut folded, mut folded_ends) = (String::new(), Vec::new());
        for &name in names.in_order() {
            let count = std::mem::replace(&mut counts[name as usize], total);
            if count > 0 {
                offsets.push(U32::new(total));
                total += count;
                super::fold::push_line(names.text(name), &mut folded);
                folded_ends.push(U32::new(folded.len() as u32));
            }
        }
        offsets.push(U32::new(total));
        let mut symbols = vec![U32::new(0); total as usize];
        for (file, &base) in files.iter().zip(symbol_bases) {
            for (symbol, &name) in (base + 1..).zip(file.names) {
                let cursor = &mut counts[name as usize];
                symbols[*cursor as usize] = U32::new(symbol);
                *cursor += 1;
            }
        }
        NameTable {
            offsets,
            symbols,
            folded,
            folded_ends,
        }
    }

    fn write(&self, sink: &mut Sink<'_, impl Write + Seek>) -> io::Result<()> {
        sink.whole(section::NAME_OFFSETS, 4, self.offsets.as_bytes())?;
        sink.whole(section::NAME_SYMBOLS, 4, self.symbols.as_bytes())?;
        sink.whole(section::FOLDED_NAMES, 1, self.folded.as_bytes())?;
        sink.whole(section::FOLDED_NAME_ENDS, 4, self.folded_ends.as_bytes())
    }
}

/// Writes sections one after the other and keeps their table.
struct Sink<'w, W: Write + Seek> {
    out: &'w mut W,
    /// What is not written yet.
    buffer: Vec<u8>,
    sums: Summing,
    position: u64,
    sections: Vec<SectionEntry>,
}

impl<'w, W: Write + Seek> Sink<'w, W> {
    fn new(out: &'w mut W) -> io::Result<Self> {
        let mut sink = Sink {
            out,
            buffer: Vec::with_capacity(BUFFER),
            sums: Summing::new(),
            position: 0,
            sections: Vec::with_capacity(SECTIONS),
        };
        let head = head_length(SECTIONS);
        sink.out.write_all(&vec![0; head])?;
        sink.position = head as u64;
        Ok(sink)
    }

    fn begin(&mut self, id: u32, item_size: usize) -> io::Result<()> {
        let padding = self.position.next_multiple_of(ALIGNMENT as u64) - self.position;
        self.put(&[0; ALIGNMENT][..padding as usize])?;
        self.sections.push(SectionEntry {
            id: U32::new(id),
            item_size: U32::new(item_size as u32),
            offset: U64::new(self.position),
            length: U64::new(0),
        });
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        if self.buffer.len() + bytes.len() > BUFFER {
            self.write_buffer()?;
        }
        if bytes.len() > BUFFER {
            self.sums.put(bytes);
            return self.out.write_all(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        self.sums.put(&self.buffer);
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some(entry) = self.sections.last_mut() {
            entry.length = U64::new(self.position - entry.offset.get());
        }
        Ok(())
    }

    fn whole(&mut self, id: u32, item_size: usize, bytes: &[u8]) -> io::Result<()> {
        self.begin(id, item_size)?;
        self.put(bytes)?;
        self.end()
    }

    fn numbers(&mut self, id: u32, numbers: &[u32]) -> io::Result<()> {
        self.begin(id, 4)?;
        let mut block = Vec::with_capacity(1 << 14);
        for chunk in numbers.chunks(1 << 14) {
            block.clear();
            block.extend(chunk.iter().map(|&number| U32::new(number)));
            self.put(block.as_bytes())?;
        }
        self.end()
    }

    fn finish(mut self, tree: [u8; 32]) -> io::Result<()> {
        debug_assert_eq!(self.sections.len(), SECTIONS);
        self.write_buffer()?;
        let sums = self.sums.finish();
        self.out.write_all(&sums)?;
        let mut header = Header {
            magic: MAGIC,
            version: U32::new(SNAPSHOT_VERSION),
            section_count: U32::new(self.sections.len() as u32),
            file_length: U64::new(self.position + sums.len() as u64),
            body_length: U64::new(self.position - head_length(SECTIONS) as u64),
            tree,
            checksum: [0; 32],
        };
        let mut table = self.sections.as_bytes().to_vec();
        table.resize(head_length(SECTIONS) - size_of::<Header>(), 0);
        header.checksum = header_checksum(&header, &table, &sums);
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(header.as_bytes())?;
        self.out.write_all(&table)?;
        self.out.flush()
    }
}
