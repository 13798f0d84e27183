//! CodeChunk: a piece of code that means something by itself, and the only thing that is written to the search index.
//!
//! Each byte of a file belongs to exactly one chunk, the innermost: a class holds its own lines and the names of its methods,
//! not their bodies, and what stands in no definition belongs to the chunk of the file. So nothing is counted twice, and the
//! work is one pass over the text however deep the code nests.

use std::borrow::Cow;
use std::ops::Range;

use syntax::FileFacts;
use syntax::facts::{Flags, Kind};

use crate::snapshot::format::{FILE_KIND, SymbolRecord, kind_of, visibility_of};
use crate::snapshot::segment::Segment;

/// A semantically meaningful piece of a file: a definition, a section of a document, or what is left of the file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CodeChunk<'a> {
    /// `function`, `method`, `type`, `interface`, `section` or `file`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The symbol's name, or the base name of the file.
    pub name: &'a str,
    /// The package or module, as the language spells it.
    pub package: Cow<'a, str>,
    /// Key of the language.
    pub language: &'a str,
    /// Path relative to the root.
    pub file_path: &'a str,
    /// The same as a URI relative to the root.
    pub uri: String,
    /// First line of the definition, from 1.
    pub start_line: u32,
    /// Last line of the definition.
    pub end_line: u32,
    /// First line of its name.
    pub selection_start_line: u32,
    /// Last line of its name.
    pub selection_end_line: u32,
    /// One line as written, without the body.
    pub signature: &'a str,
    /// The whole documentation comment as written.
    pub docstring: &'a str,
    /// Its own text: the definition without its documentation and without the chunks inside.
    pub code: Cow<'a, str>,
    /// What the language adds: `kind`, `owner`, `visibility`, `members`, `test`.
    pub metadata: Vec<(&'static str, Cow<'a, str>)>,
    /// Number of the symbol in its file; 0 is the file.
    #[serde(skip)]
    pub symbol: u32,
}

impl CodeChunk<'_> {
    /// The text that is embedded: documentation, signature and code, as far as they are there.
    pub(crate) fn text(&self) -> String {
        let parts = [self.docstring, self.signature, &*self.code];
        let said: Vec<&str> = parts.into_iter().filter(|part| !part.trim().is_empty()).collect();
        said.join("\n\n")
    }

    /// A value of the metadata, empty where it is not there.
    pub fn metadata(&self, name: &str) -> &str {
        let found = self.metadata.iter().find(|(key, _)| *key == name);
        found.map_or("", |(_, value)| value)
    }
}

/// The chunks of a file, in source order, the file's own first.
pub(crate) fn chunks<'a>(
    path: &'a str,
    text: &'a str,
    facts: &'a FileFacts,
    segment: &'a Segment,
) -> Vec<CodeChunk<'a>> {
    let package = package(path, facts);
    let uri = uri(path);
    let mut places: Vec<u32> = vec![0];
    let mut chunk_of: Vec<Option<u32>> = vec![None; segment.symbols.len()];
    chunk_of[0] = Some(0);
    for (number, symbol) in segment.symbols.iter().enumerate().skip(1) {
        if is_chunk(kind_of(symbol.kind), &facts.language) {
            chunk_of[number] = Some(places.len() as u32);
            places.push(number as u32);
        }
    }
    let own = own_text(text, segment, &places);
    let mut chunks: Vec<CodeChunk<'a>> = Vec::with_capacity(places.len());
    for (&number, code) in places.iter().zip(own) {
        let symbol = &segment.symbols[number as usize];
        let code = match facts.language.as_str() {
            "html" => Cow::Owned(without_tags(&code)),
            _ => code,
        };
        let span = symbol.start_line.get()..symbol.end_line.get();
        let name_line = span.start.saturating_add(u32::from(symbol.name_line.get()));
        let mut chunk = CodeChunk {
            kind: kind_word(symbol),
            name: path.rsplit('/').next().unwrap_or(path),
            package: package.clone(),
            language: &facts.language,
            file_path: path,
            uri: uri.clone(),
            start_line: span.start,
            end_line: span.end,
            selection_start_line: name_line,
            selection_end_line: name_line,
            signature: "",
            docstring: doc_range(symbol).and_then(|range| text.get(range)).unwrap_or(""),
            code,
            metadata: Vec::new(),
            symbol: number,
        };
        if number > 0 {
            chunk.name = segment.name(symbol);
            chunk.signature = segment.signature(symbol);
            chunk.metadata = metadata(segment, symbol);
        }
        chunks.push(chunk);
    }
    add_members(segment, &chunk_of, &mut chunks);
    chunks
}

/// What is a chunk of its own. Fields, variables and the like belong to the chunk around them; keys of data files do too.
fn is_chunk(kind: Kind, language: &str) -> bool {
    match kind {
        Kind::Function
        | Kind::Method
        | Kind::Constructor
        | Kind::Class
        | Kind::Struct
        | Kind::Union
        | Kind::Interface
        | Kind::Trait
        | Kind::Enum
        | Kind::TypeAlias
        | Kind::Macro => true,
        Kind::Section => is_document(language),
        Kind::EnumMember
        | Kind::Field
        | Kind::Property
        | Kind::Variable
        | Kind::Constant
        | Kind::Module
        | Kind::Extension
        | Kind::Lambda => false,
    }
}

/// Languages whose sections are prose.
pub fn is_document(language: &str) -> bool {
    matches!(language, "markdown" | "html")
}

fn kind_word(symbol: &SymbolRecord) -> &'static str {
    if symbol.kind == FILE_KIND {
        return "file";
    }
    match kind_of(symbol.kind) {
        Kind::Method | Kind::Constructor => "method",
        Kind::Interface | Kind::Trait => "interface",
        Kind::Class | Kind::Struct | Kind::Union | Kind::Enum | Kind::TypeAlias => "type",
        Kind::Section => "section",
        _ => "function",
    }
}

fn metadata<'a>(segment: &'a Segment, symbol: &SymbolRecord) -> Vec<(&'static str, Cow<'a, str>)> {
    let mut metadata: Vec<(&'static str, Cow<'a, str>)> = Vec::new();
    let word = |value: serde_json::Value| match value {
        serde_json::Value::String(word) => Cow::Owned(word),
        _ => Cow::Borrowed(""),
    };
    metadata.push(("kind", kind_name(kind_of(symbol.kind)).into()));
    let owner = owner(segment, symbol);
    if !owner.is_empty() {
        metadata.push(("owner", owner));
    }
    let visibility = visibility_of(symbol.visibility);
    if visibility != syntax::facts::Visibility::Public {
        metadata.push(("visibility", serde_json::to_value(visibility).map_or("".into(), word)));
    }
    if Flags(symbol.flags.get()).contains(Flags::TEST) {
        metadata.push(("test", "true".into()));
    }
    metadata
}

/// The finer kind, which `type` folds together.
pub(crate) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Function => "function",
        Kind::Method => "method",
        Kind::Constructor => "constructor",
        Kind::Class => "class",
        Kind::Struct => "struct",
        Kind::Union => "union",
        Kind::Interface => "interface",
        Kind::Trait => "trait",
        Kind::Enum => "enum",
        Kind::EnumMember => "enum_member",
        Kind::TypeAlias => "type_alias",
        Kind::Field => "field",
        Kind::Property => "property",
        Kind::Variable => "variable",
        Kind::Constant => "constant",
        Kind::Module => "module",
        Kind::Extension => "extension",
        Kind::Macro => "macro",
        Kind::Lambda => "lambda",
        Kind::Section => "section",
    }
}

/// The owner as the definition names it, or the name of what contains it.
fn owner<'a>(segment: &'a Segment, symbol: &SymbolRecord) -> Cow<'a, str> {
    let named = segment.owner(symbol);
    if !named.is_empty() {
        return named.into();
    }
    match symbol.parent.get() {
        0 => "".into(),
        parent => segment
            .symbols
            .get(parent as usize)
            .map_or("".into(), |parent| segment.name(parent).into()),
    }
}

/// Most names of members that a type's chunk lists.
const MAX_MEMBERS: usize = 200;

/// A type is about what its members are called, wherever in the file they stand.
fn add_members(segment: &Segment, chunk_of: &[Option<u32>], chunks: &mut [CodeChunk<'_>]) {
    let mut members: Vec<(u32, u32)> = Vec::new();
    for chunk in chunks.iter().skip(1) {
        let parent = segment.symbols[chunk.symbol as usize].parent.get() as usize;
        if let Some(Some(around)) = chunk_of.get(parent)
            && matches!(chunks[*around as usize].kind, "type" | "interface")
        {
            members.push((*around, chunk.symbol));
        }
    }
    members.sort_unstable();
    for group in members.chunk_by(|left, right| left.0 == right.0) {
        let names: Vec<&str> = group
            .iter()
            .take(MAX_MEMBERS)
            .map(|(_, member)| segment.name(&segment.symbols[*member as usize]))
            .collect();
        chunks[group[0].0 as usize]
            .metadata
            .push(("members", names.join(" ").into()));
    }
}

fn doc_range(symbol: &SymbolRecord) -> Option<Range<usize>> {
    let (start, length) = (symbol.doc_start.get() as usize, symbol.doc_bytes.get() as usize);
    (length > 0).then(|| start..start.saturating_add(length))
}

/// The text of each chunk, without that of the chunks inside and without documentation, which is a field of its own.
fn own_text<'a>(text: &'a str, segment: &Segment, places: &[u32]) -> Vec<Cow<'a, str>> {
    let mut own: Vec<Cow<'a, str>> = vec![Cow::Borrowed(""); places.len()];
    // Where a stretch starts and ends, and the chunk it belongs to; documentation belongs to none.
    let mut stretches: Vec<(usize, usize, Option<usize>)> = Vec::with_capacity(places.len() * 2);
    for (chunk, &number) in places.iter().enumerate() {
        let symbol = &segment.symbols[number as usize];
        if number > 0 {
            let (start, mut end) = (symbol.span_start.get() as usize, symbol.span_end.get() as usize);
            if is_heading(text, start) {
                // The section is what follows, up to the next one.
                let next = places
                    .get(chunk + 1)
                    .map(|&next| segment.symbols[next as usize].span_start.get());
                end = next.map_or(text.len(), |next| (next as usize).max(end));
            }
            stretches.push((start, end, Some(chunk)));
        }
        stretches.extend(doc_range(symbol).map(|range| (range.start, range.end, None)));
    }
    // The outer of two that start together comes first.
    stretches.sort_by_key(|&(start, end, chunk)| (start, std::cmp::Reverse(end), chunk.is_none()));
    let mut add = |chunk: Option<usize>, range: Range<usize>| {
        if let (Some(chunk), false) = (chunk, range.is_empty())
            && let Some(piece) = text.get(range)
        {
            match own[chunk].is_empty() {
                true => own[chunk] = Cow::Borrowed(piece),
                false => own[chunk].to_mut().push_str(piece),
            }
        }
    };
    let mut open: Vec<(usize, Option<usize>)> = vec![(text.len(), Some(0))];
    let mut at = 0;
    for (start, end, chunk) in stretches {
        let start = start.min(text.len());
        while let Some(&(close, inner)) = open.last()
            && close <= start
            && open.len() > 1
        {
            add(inner, at..close);
            at = at.max(close);
            open.pop();
        }
        let Some(&(limit, around)) = open.last() else { break };
        add(around, at..start);
        at = at.max(start);
        open.push((end.min(limit), chunk));
    }
    while let Some((close, inner)) = open.pop() {
        add(inner, at..close);
        at = at.max(close);
    }
    own
}

/// Whether a heading of a page stands here.
fn is_heading(text: &str, at: usize) -> bool {
    let start = text.as_bytes().get(at..).unwrap_or_default();
    matches!(
        start,
        [b'<', b'h' | b'H', b'1'..=b'6', b'>' | b' ' | b'\t' | b'\r' | b'\n', ..]
    )
}

/// The text of a page: its tags say how it looks, not what it is about.
fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    for (number, piece) in html.split('<').enumerate() {
        match piece.split_once('>') {
            Some((_, after)) if number > 0 => {
                text.push(' ');
                text.push_str(after);
            }
            _ if number == 0 => text.push_str(piece),
            _ => {}
        }
    }
    text
}

/// What the file declares, or else the directory it lies in, spelled with dots for Python and as a path elsewhere.
fn package<'a>(path: &'a str, facts: &'a FileFacts) -> Cow<'a, str> {
    if let Some(package) = facts.package {
        return facts.text(package).into();
    }
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    match facts.language.as_str() {
        "python" => directory.replace('/', ".").into(),
        _ => directory.into(),
    }
}

/// A relative URI reference: what is not unreserved is percent-encoded.
pub fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte as char),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::FileFlags;

    fn check(path: &str, text: &str, look: impl FnOnce(&[CodeChunk<'_>])) {
        let language = syntax::languages::detect(path, text.as_bytes()).unwrap();
        let facts = syntax::extract(language, text);
        let segment = Segment::new(&facts, text.len() as u64, FileFlags::default());
        look(&chunks(path, text, &facts, &segment));
    }

    fn names<'a>(chunks: &'a [CodeChunk<'_>]) -> Vec<(&'static str, &'a str)> {
        chunks.iter().map(|chunk| (chunk.kind, chunk.name)).collect()
    }

    #[test]
    fn every_field_is_filled() {
        let text = "package shop\n\nimport \"fmt\"\n\n// Cart is what a customer buys.\ntype Cart struct {\n\titems int\n}\n\n\
                    // Total sums it up.\nfunc (c *Cart) Total(tax int) int {\n\tfmt.Println(tax)\n\treturn c.items\n}\n";
        check("src/my cart.go", text, |chunks| {
            assert_eq!(
                names(chunks),
                [("file", "my cart.go"), ("type", "Cart"), ("method", "Total")]
            );
            let total = &chunks[2];
            assert_eq!((&*total.package, total.language), ("shop", "go"));
            assert_eq!(
                (total.file_path, total.uri.as_str()),
                ("src/my cart.go", "src/my%20cart.go")
            );
            assert_eq!((total.start_line, total.end_line), (11, 14));
            assert_eq!((total.selection_start_line, total.selection_end_line), (11, 11));
            assert_eq!(total.signature, "func (c *Cart) Total(tax int) int");
            assert_eq!(total.docstring, "// Total sums it up.");
            assert!(
                total.code.starts_with("func (c *Cart) Total") && total.code.ends_with('}'),
                "{}",
                total.code
            );
            assert_eq!((total.metadata("kind"), total.metadata("owner")), ("method", "Cart"));
            assert_eq!(chunks[1].metadata("members"), "Total");
            // What belongs to the file is what belongs to nothing else.
            let rest: Vec<&str> = chunks[0].code.split_whitespace().collect();
            assert_eq!(rest[..4], ["package", "shop", "import", "\"fmt\""]);
            assert!(!chunks[0].code.contains("Cart") && !chunks[0].code.contains("items"));
        });
    }

    #[test]
    fn each_byte_belongs_to_one_chunk() {
        let text = "LIMIT = 3\n\nclass Outer:\n    \"\"\"Holds.\"\"\"\n    size = 1\n\n    def inner(self):\n        \"\"\"Says.\"\"\"\n\
                    \x20       def deep():\n            return 'deep'\n        return deep\n\nprint(LIMIT)\n";
        check("a.py", text, |chunks| {
            assert_eq!(
                names(chunks),
                [
                    ("file", "a.py"),
                    ("type", "Outer"),
                    ("method", "inner"),
                    ("function", "deep")
                ]
            );
            assert!(chunks[0].code.contains("LIMIT = 3") && chunks[0].code.contains("print(LIMIT)"));
            assert!(chunks[1].code.contains("size = 1") && !chunks[1].code.contains("def inner"));
            assert!(chunks[2].code.contains("return deep") && !chunks[2].code.contains("'deep'"));
            assert!(chunks[1].docstring.contains("Holds.") && !chunks[1].code.contains("Holds."));
            let counted: usize = chunks
                .iter()
                .map(|chunk| chunk.code.len() + chunk.docstring.len())
                .sum();
            assert_eq!(counted, text.len());
        });
    }

    #[test]
    fn sections_of_documents_are_chunks_and_keys_of_data_are_not() {
        check(
            "guide.md",
            "# Guide\n\nFirst.\n\n## Install\n\nRun it.\n\n## Use\n\nCall it.\n",
            |chunks| {
                assert_eq!(
                    names(chunks),
                    [
                        ("file", "guide.md"),
                        ("section", "Guide"),
                        ("section", "Install"),
                        ("section", "Use")
                    ]
                );
                assert!(chunks[2].code.contains("Run it.") && !chunks[1].code.contains("Run it."));
            },
        );
        check(
            "page.html",
            "<html><body><h1>Title</h1><p>Text.</p><h2>More</h2></body></html>\n",
            |chunks| {
                assert_eq!(
                    names(chunks),
                    [("file", "page.html"), ("section", "Title"), ("section", "More")]
                );
                assert_eq!(
                    chunks[1].code.split_whitespace().collect::<Vec<_>>(),
                    ["Title", "Text."]
                );
            },
        );
        check("data.json", "{\"key\": {\"inner\": 1}}\n", |chunks| {
            assert_eq!(names(chunks), [("file", "data.json")])
        });
    }
}
