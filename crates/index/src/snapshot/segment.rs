//! One file's part of the snapshot, made from its facts alone and position-independent, so that assembling a new snapshot
//! after an edit copies every other file's bytes as they are.

use hashbrown::HashMap;
use syntax::facts::{Definition, DefinitionId, Expression, ExpressionId, FileFacts, Kind, Name, Position};
use zerocopy::little_endian::{U16, U32};

use super::format::{EdgeBits, FILE_KIND, SymbolRecord};
use super::views::FileFlags;
use crate::model::{EdgeKind, Evidence, FileId, ResolvedFile, Target};
use crate::resolve::keep_order;

/// Longest name kept whole, in bytes. Longer ones are cut at a character.
const MAX_NAME: usize = 512;
/// Longest owner kept whole, in bytes.
const MAX_OWNER: usize = 512;

/// The symbols and texts of one file.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The file itself first, then its definitions in source order.
    pub(crate) symbols: Box<[SymbolRecord]>,
    /// First sentence of the file's documentation.
    pub(crate) doc: Box<str>,
    /// What the records' text offsets count in.
    pub(crate) text: Box<str>,
    /// For each definition the symbol that stands for it: itself, or the nearest around an extension.
    pub(crate) definitions: Box<[u32]>,
    /// What each definition is called inside its file, as a hash: two versions of a file are matched by it.
    pub(crate) identities: Box<[u64]>,
    pub(crate) lines: u32,
    pub(crate) problems: u32,
    pub(crate) flags: FileFlags,
}

/// An edge whose ends are still told by file, so that it survives the renumbering of symbols.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileEdge {
    /// Symbol of this file.
    pub(crate) from: u32,
    /// [`EXTERNAL`] or the number of a file.
    pub(crate) file: u32,
    /// Symbol of that file, or number of the external name in the build's table.
    pub(crate) to: u32,
    pub(crate) line: u32,
    /// What makes the record's [`EdgeBits`].
    pub(crate) bits: u32,
}

/// [`FileEdge::file`] of an edge that leaves the tree; sorts behind every file.
pub(crate) const EXTERNAL: u32 = u32::MAX;

/// The edges that start in one file.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct FileEdges {
    /// In order of (from, kind, target, place).
    pub(crate) edges: Box<[FileEdge]>,
    pub(crate) unresolved_calls: u32,
}

impl Segment {
    /// Lays out the symbols of a file.
    pub(crate) fn new(facts: &FileFacts, size: u64, mut flags: FileFlags) -> Segment {
        if facts.generated {
            flags.insert(FileFlags::GENERATED);
        }
        if facts.is_unparsed() {
            flags.insert(FileFlags::UNPARSED);
        }
        let mut layout = Layout::new(facts);
        layout.place_definitions();
        layout.find_owners();
        layout.emit(size, flags)
    }

    /// The symbol that stands for a definition; the file for one that does not exist.
    pub(crate) fn symbol_of(&self, definition: Option<DefinitionId>) -> u32 {
        definition
            .and_then(|definition| self.definitions.get(definition.index()).copied())
            .unwrap_or(0)
    }

    /// The definition of this name that stands at a place.
    pub(crate) fn definition_at(&self, at: Position, name: &str) -> Option<(DefinitionId, Kind)> {
        let mut symbols = self.symbols.iter().skip(1).zip(self.names());
        let symbol = symbols.position(|(symbol, own)| {
            own == name
                && symbol
                    .start_line
                    .get()
                    .saturating_add(u32::from(symbol.name_line.get()))
                    == at.line
                && u32::from(symbol.name_column.get()) == at.column
        })? + 1;
        // Several definitions stand for a symbol where it holds extensions; the first is the symbol itself.
        let definition = self.definitions.iter().position(|&number| number as usize == symbol)?;
        Some((
            DefinitionId(definition as u32),
            super::format::kind_of(self.symbols[symbol].kind),
        ))
    }

    /// The name of one of its symbols, the file excepted.
    pub(crate) fn name(&self, symbol: &SymbolRecord) -> &str {
        self.stretch(symbol, symbol.name_start.get().into(), symbol.name_length.get())
    }

    /// The signature of one of its symbols.
    pub(crate) fn signature(&self, symbol: &SymbolRecord) -> &str {
        self.stretch(symbol, 0, symbol.signature_length.get())
    }

    /// The owner of one of its symbols, where the definition names it and the file does not have it.
    pub(crate) fn owner(&self, symbol: &SymbolRecord) -> &str {
        let start = usize::from(symbol.signature_length.get()) + usize::from(symbol.doc_length.get());
        self.stretch(symbol, start, symbol.owner_length.get())
    }

    fn stretch(&self, symbol: &SymbolRecord, offset: usize, length: u16) -> &str {
        let start = symbol.text_start.get() as usize + offset;
        self.text.get(start..start + usize::from(length)).unwrap_or("")
    }

    /// The names of all symbols but the first, which is the file.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.symbols.iter().skip(1).map(|symbol| {
            let start = symbol.text_start.get() as usize + usize::from(symbol.name_start.get());
            &self.text[start..start + usize::from(symbol.name_length.get())]
        })
    }

    /// For each definition its position in an older version of the same file, as far as it was there; rising, so what moved
    /// past others counts as new.
    pub(crate) fn kept_from(&self, older: &Segment) -> Vec<Option<u32>> {
        let positions: HashMap<u64, u32> = older.identities.iter().copied().zip(0..).collect();
        let mut kept: Vec<Option<u32>> = self
            .identities
            .iter()
            .map(|identity| positions.get(identity).copied())
            .collect();
        keep_order(&mut kept);
        kept
    }

    /// For each symbol of an older version of the same file, its number in this one, rising; `None` when no number changed.
    pub(crate) fn moved_from(&self, older: &Segment, kept: &[Option<u32>]) -> Option<Vec<Option<u32>>> {
        if self.identities == older.identities {
            return None;
        }
        let mut moved = vec![None; older.symbols.len()];
        moved[0] = Some(0);
        // Symbols are numbered in order of definition, so one that is no lambda has a higher number than all before.
        let (mut last, mut last_older) = (0, vec![0; older.definitions.len() + 1]);
        for (at, &symbol) in older.definitions.iter().enumerate() {
            last_older[at + 1] = last_older[at].max(symbol);
        }
        for (&symbol, old) in self.definitions.iter().zip(kept) {
            let is_symbol = symbol > last;
            last = last.max(symbol);
            if let Some(old) = *old
                && is_symbol
            {
                let old = old as usize;
                if older.definitions[old] > last_older[old] {
                    moved[older.definitions[old] as usize] = Some(symbol);
                }
            }
        }
        Some(moved)
    }
}

/// What is known of a definition while the symbols are laid out.
struct Place {
    /// The symbol for it, or around it where it is none itself.
    symbol: u32,
    is_symbol: bool,
    /// What stands in it hangs on what is around it: a lambda.
    is_transparent: bool,
    /// Symbol that contains it.
    parent: u32,
    /// Hash of the qualified name.
    identity: u64,
    /// Owner as written between `parent` and the name.
    owner: String,
}

struct Layout<'a> {
    facts: &'a FileFacts,
    places: Vec<Place>,
    /// First type-like symbol of each qualified name.
    owners: HashMap<u64, u32>,
    symbols: u32,
}

/// Identity of the file itself, where chains of names start.
const FILE_IDENTITY: u64 = 0x6c61_636f_6e00_0001;

impl<'a> Layout<'a> {
    fn new(facts: &'a FileFacts) -> Layout<'a> {
        Layout {
            facts,
            places: Vec::with_capacity(facts.definitions.len()),
            owners: HashMap::new(),
            symbols: 1,
        }
    }

    /// Numbers the symbols and computes what each is called. Parents come before their children.
    fn place_definitions(&mut self) {
        for (number, definition) in self.facts.definitions.iter().enumerate() {
            // A parent after its child would be a defect of extraction or of the stored bytes: then the file is the parent.
            let parent = self.holder(number).map(|parent| &self.places[parent]);
            let (around, mut identity, mut owner) = match parent {
                None => (0, FILE_IDENTITY, String::new()),
                Some(place) if place.is_symbol => (place.symbol, place.identity, String::new()),
                Some(place) => (place.symbol, place.identity, place.owner.clone()),
            };
            let named_owner = self.owner_text(definition);
            if !named_owner.is_empty() {
                for part in named_owner.split('.') {
                    identity = extend_identity(identity, part);
                }
                if !owner.is_empty() {
                    owner.push('.');
                }
                owner.push_str(&named_owner);
            }
            let is_symbol = definition.kind != Kind::Extension;
            let mut symbol = around;
            if is_symbol {
                identity = extend_identity(identity, self.facts.text(definition.name));
                symbol = self.symbols;
                self.symbols += 1;
                if can_own(definition.kind) {
                    self.owners.entry(identity).or_insert(symbol);
                }
            }
            self.places.push(Place {
                symbol,
                is_symbol,
                is_transparent: definition.kind == Kind::Lambda,
                parent: around,
                identity,
                owner,
            });
        }
    }

    /// The definition that `number` hangs on: the nearest around it that is no lambda.
    fn holder(&self, number: usize) -> Option<usize> {
        let above = |number: usize| {
            let parent = self.facts.definitions[number].parent?.index();
            (parent < number).then_some(parent)
        };
        let mut at = above(number)?;
        while self.places[at].is_transparent {
            at = above(at)?;
        }
        Some(at)
    }

    /// Where a definition names its owner and the file has it, that owner becomes the parent and the text is not needed.
    fn find_owners(&mut self) {
        let mut owner_identity: Vec<u64> = Vec::with_capacity(self.places.len());
        for number in 0..self.places.len() {
            let definition = &self.facts.definitions[number];
            let base = self.holder(number).map_or(FILE_IDENTITY, |parent| {
                let place = &self.places[parent];
                if place.is_symbol {
                    place.identity
                } else {
                    owner_identity[parent]
                }
            });
            let identity = self
                .owner_text(definition)
                .split('.')
                .filter(|part| !part.is_empty())
                .fold(base, extend_identity);
            owner_identity.push(identity);
            let place = &mut self.places[number];
            if !place.owner.is_empty()
                && let Some(&owner) = self.owners.get(&identity)
                && owner != place.symbol
            {
                place.parent = owner;
                place.owner.clear();
            }
        }
    }

    /// The owner that a definition itself names, as dotted names; empty where it names none.
    fn owner_text(&self, definition: &Definition) -> String {
        if let Some(owner) = definition.owner {
            let mut text = String::new();
            dotted(self.facts, owner, &mut text, 0);
            if !text.is_empty() {
                return cut(&text, MAX_OWNER).to_string();
            }
        }
        match definition.kind {
            Kind::Extension => cut(self.facts.text(definition.name), MAX_OWNER).to_string(),
            _ => String::new(),
        }
    }

    fn emit(self, size: u64, flags: FileFlags) -> Segment {
        let facts = self.facts;
        let mut symbols = Vec::with_capacity(self.symbols as usize);
        let mut identities = Vec::with_capacity(self.places.len());
        let mut text = String::new();
        symbols.push(SymbolRecord {
            kind: FILE_KIND,
            span_end: U32::new(u32::try_from(size).unwrap_or(u32::MAX)),
            start_line: U32::new(1),
            end_line: U32::new(facts.lines.max(1)),
            ..empty_symbol()
        });
        let mut repeats: HashMap<u64, u32> = HashMap::new();
        // Symbols that are written alike (`def setUp(self):`, several variables of one declaration) share the bytes.
        let mut shared: HashMap<Name, u32> = HashMap::new();
        for (definition, place) in facts.definitions.iter().zip(&self.places) {
            if !place.is_symbol {
                let repeat = repeats.entry(!place.identity).or_insert(0);
                identities.push(repeated(!place.identity, *repeat));
                *repeat += 1;
                continue;
            }
            let repeat = repeats.entry(place.identity).or_insert(0);
            let name = cut(facts.text(definition.name), MAX_NAME);
            let signature = facts.text(definition.signature);
            let signature = cut(signature, syntax::facts::MAX_SIGNATURE);
            let doc = cut(definition.doc.map_or("", |doc| facts.text(doc)), syntax::facts::MAX_DOC);
            let found = find_word(signature, name);
            let plain = doc.is_empty() && place.owner.is_empty() && found.is_some();
            let known = shared.get(&definition.signature).copied().filter(|_| plain);
            let start = known.unwrap_or(text.len() as u32);
            let mut name_start = found.unwrap_or(0);
            if known.is_none() {
                shared.insert(definition.signature, start);
                text.push_str(signature);
                text.push_str(doc);
                text.push_str(&place.owner);
                if found.is_none() {
                    name_start = text.len() - start as usize;
                    text.push_str(name);
                }
            }
            let span = definition.span;
            let (doc_start, doc_bytes) = definition
                .doc_span
                .map_or((0, 0), |(start, end)| (start, end.saturating_sub(start)));
            symbols.push(SymbolRecord {
                text_start: U32::new(start),
                signature_length: U16::new(signature.len() as u16),
                doc_length: U16::new(doc.len() as u16),
                owner_length: U16::new(place.owner.len() as u16),
                name_start: U16::new(name_start as u16),
                name_length: U16::new(name.len() as u16),
                kind: definition.kind as u8,
                visibility: definition.visibility as u8,
                flags: U32::new(definition.flags.0),
                parent: U32::new(place.parent),
                span_start: U32::new(span.start),
                span_end: U32::new(span.end),
                start_line: U32::new(span.start_line),
                end_line: U32::new(span.end_line),
                name_line: U16::new(saturate(definition.name_at.line.saturating_sub(span.start_line))),
                name_column: U16::new(saturate(definition.name_at.column)),
                repeat: U32::new(*repeat),
                doc_start: U32::new(doc_start),
                doc_bytes: U32::new(doc_bytes),
            });
            identities.push(repeated(place.identity, *repeat));
            *repeat += 1;
        }
        Segment {
            symbols: symbols.into(),
            doc: cut(facts.doc.map_or("", |doc| facts.text(doc)), syntax::facts::MAX_DOC).into(),
            text: text.into(),
            definitions: self.places.iter().map(|place| place.symbol).collect(),
            identities: identities.into(),
            lines: facts.lines,
            problems: u32::try_from(facts.problems.len()).unwrap_or(u32::MAX),
            flags,
        }
    }
}

impl FileEdge {
    /// The order of edges in a snapshot.
    fn order(&self) -> (u32, EdgeKind, u32, u32, u32, u32) {
        let kind = EdgeBits(self.bits).kind();
        (self.from, kind, self.file, self.to, self.line, self.bits)
    }
}

impl FileEdges {
    /// Turns what resolution says of a file into edges between symbols, and adds containment. `intern` numbers the external
    /// names of the file, which it gets in byte order.
    pub(crate) fn new<'s>(
        file: FileId,
        segment: &Segment,
        resolved: &ResolvedFile,
        segment_of: impl Fn(FileId) -> Option<&'s Segment>,
        intern: impl FnOnce(&[&str]) -> Vec<u32>,
    ) -> FileEdges {
        // Few names are mentioned often, so they are told apart before they are sorted.
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut mentioned: Vec<u32> = Vec::new();
        for edge in &resolved.edges {
            if let Target::External(name) = &edge.to {
                let next = known.len() as u32;
                mentioned.push(*known.entry(&**name).or_insert(next));
            }
        }
        let mut sorted: Vec<(&str, u32)> = known.into_iter().collect();
        sorted.sort_unstable();
        let externals: Vec<&str> = sorted.iter().map(|&(name, _)| name).collect();
        let mut ranks = vec![0; sorted.len()];
        for (rank, &(_, number)) in (0..).zip(&sorted) {
            ranks[number as usize] = rank;
        }
        let mut mentioned = mentioned.into_iter().map(|number| ranks[number as usize]);
        let mut edges = Vec::with_capacity(resolved.edges.len() + segment.symbols.len());
        for edge in &resolved.edges {
            // Until the edges are sorted, an external name goes by its rank in the file: numbers of the table depend on who
            // came first.
            let (target_file, to) = match &edge.to {
                Target::External(_) => (EXTERNAL, mentioned.next().unwrap_or_default()),
                Target::Symbol(symbol) => match segment_of(symbol.file) {
                    Some(target) => (symbol.file.0, target.symbol_of(symbol.definition)),
                    None => continue,
                },
            };
            // Containment is told by the symbols themselves, below.
            if edge.kind == EdgeKind::Contains && target_file == file.0 {
                continue;
            }
            edges.push(FileEdge {
                from: segment.symbol_of(edge.from),
                file: target_file,
                to,
                line: edge.at.line,
                bits: EdgeBits::new(edge.kind, edge.origin, edge.confidence, edge.at.column).0,
            });
        }
        let (origin, confidence) = Evidence::Structure.weigh(1);
        for (number, symbol) in (0..).zip(&segment.symbols).skip(1) {
            let line = symbol
                .start_line
                .get()
                .saturating_add(u32::from(symbol.name_line.get()));
            edges.push(FileEdge {
                from: symbol.parent.get(),
                file: file.0,
                to: number,
                line,
                bits: EdgeBits::new(
                    EdgeKind::Contains,
                    origin,
                    confidence,
                    u32::from(symbol.name_column.get()),
                )
                .0,
            });
        }
        // Two rising runs at best, which this sort merges.
        edges.sort_by_key(FileEdge::order);
        edges.dedup();
        let numbers = intern(&externals);
        for edge in edges.iter_mut().filter(|edge| edge.file == EXTERNAL) {
            edge.to = numbers[edge.to as usize];
        }
        FileEdges {
            edges: edges.into(),
            unresolved_calls: resolved.unresolved_calls,
        }
    }

    /// Follows files that were renumbered and symbols that moved inside their file. An edge into something that is gone is
    /// dropped; resolution was to replace it anyway.
    pub(crate) fn follow<'t>(
        &mut self,
        renumber: impl Fn(FileId) -> Option<FileId>,
        moved: impl Fn(FileId) -> Option<&'t Vec<Option<u32>>>,
    ) {
        // Files and symbols keep their order among themselves, so the edges do too.
        let mut edges = std::mem::take(&mut self.edges).into_vec();
        edges.retain_mut(|edge| {
            if edge.file == EXTERNAL {
                return true;
            }
            let Some(file) = renumber(FileId(edge.file)) else {
                return false;
            };
            edge.file = file.0;
            match moved(file) {
                None => true,
                Some(table) => {
                    let to = table.get(edge.to as usize).copied().flatten();
                    edge.to = to.unwrap_or(edge.to);
                    to.is_some()
                }
            }
        });
        self.edges = edges.into_boxed_slice();
    }
}

/// The identity of the definition that is called like `repeat` others before it.
fn repeated(identity: u64, repeat: u32) -> u64 {
    identity.wrapping_add(u64::from(repeat).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn empty_symbol() -> SymbolRecord {
    zerocopy::FromZeros::new_zeroed()
}

fn can_own(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Class
            | Kind::Struct
            | Kind::Union
            | Kind::Interface
            | Kind::Trait
            | Kind::Enum
            | Kind::TypeAlias
            | Kind::Module
            | Kind::Function
            | Kind::Constructor
            | Kind::Variable
            | Kind::Constant
    )
}

/// Hash of a qualified name, one part at a time. 64 bits of BLAKE3: the file is not trusted, and a collision would make two
/// symbols share an id.
fn extend_identity(owner: u64, name: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&owner.to_le_bytes());
    hasher.update(name.as_bytes());
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// Writes the dotted names of an expression that names a type.
fn dotted(facts: &FileFacts, expression: ExpressionId, text: &mut String, depth: u32) {
    if depth > 32 {
        return;
    }
    match *facts.expression(expression) {
        Expression::Bound { binding, .. } => {
            if let Some(binding) = facts.bindings.get(binding.index()) {
                push_part(text, facts.text(binding.name));
            }
        }
        Expression::Free { name, .. } => push_part(text, facts.text(name)),
        Expression::Member { object, name } => {
            dotted(facts, object, text, depth + 1);
            // `Foo.prototype.bar` belongs to `Foo`.
            if facts.text(name) != "prototype" {
                push_part(text, facts.text(name));
            }
        }
        Expression::Definition(definition) => {
            if let Some(definition) = facts.definitions.get(definition.index()) {
                push_part(text, facts.text(definition.name));
            }
        }
        Expression::Generic { base: inner, .. }
        | Expression::Wrapped(inner)
        | Expression::Typed(inner)
        | Expression::Unwrap(inner)
        | Expression::Element(inner) => dotted(facts, inner, text, depth + 1),
        _ => {}
    }
}

fn push_part(text: &mut String, part: &str) {
    if !text.is_empty() && !part.is_empty() {
        text.push('.');
    }
    text.push_str(part);
}

/// Where `name` stands as a whole word in `signature`, preferring its first such place.
fn find_word(signature: &str, name: &str) -> Option<usize> {
    if name.is_empty() {
        return Some(0);
    }
    memchr::memmem::find(signature.as_bytes(), name.as_bytes())
}

/// The longest beginning of `text` of at most `limit` bytes that ends between characters.
fn cut(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let end = (0..=limit).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

fn saturate(number: u32) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
