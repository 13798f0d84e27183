//! Text to tree to facts: in the memory of an [`arena`], with bounds on size and work.
//!
//! Work is counted in operations of the parser and in bytes that it reads, never in seconds: facts are kept by content, so they must
//! come out the same on a slow machine, under load, and in a process that was stopped for a minute in between.

use crate::arena::{self, Memory};
use crate::conditionals;
use crate::engine;
use crate::export_macros;
use crate::facts::{FileFacts, Problem};
use crate::fragments::Fragments;
use crate::languages::{Embedding, Language};
use crate::word_kind::{WordKind, word_kinds_in};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, Parser, Range, Tree};

/// Longest text that is parsed. Beyond, a tree costs more memory than its facts are worth.
pub const MAX_SOURCE: usize = 12 << 20;

/// How a message begins that says why nothing of a file was read.
pub(crate) const NOT_PARSED: &str = "not parsed";

/// Most bytes that the lexer may be handed for one file: of those it needs anyway, and beyond. Sound code is read about once, and a few
/// times where the grammar tries several readings; a text in which every token is looked for up to the end would be read as
/// often as it has tokens.
const MAX_LEXED: usize = 256 << 20;
const MAX_LEXED_TIMES: usize = 32;
/// How much the lexer is handed at a time.
const LEXED_AT_ONCE: usize = 8 << 10;

/// What is left of the work that one file may take.
struct Work {
    lexed: Cell<usize>,
}

impl Work {
    fn of(text: &str) -> Work {
        Work {
            lexed: Cell::new(MAX_LEXED + MAX_LEXED_TIMES * text.len()),
        }
    }

    /// The next bytes for the lexer; nothing when there was too much already, so that it comes to an end.
    fn bytes<'t>(&self, text: &'t [u8], offset: usize) -> &'t [u8] {
        let rest = text.get(offset..).unwrap_or(&[]);
        let bytes = &rest[..rest.len().min(LEXED_AT_ONCE)];
        match self.lexed.get().checked_sub(bytes.len()) {
            Some(left) => {
                self.lexed.set(left);
                bytes
            }
            None => {
                self.lexed.set(0);
                &[]
            }
        }
    }

    fn is_used_up(&self) -> bool {
        self.lexed.get() == 0
    }
}

thread_local! {
    static PARSERS: RefCell<Vec<(&'static str, Parser)>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn extract(language: &'static Language, text: &str) -> FileFacts {
    extract_with(language, text, &[]).0
}

/// The facts, and what the words that start at the given bytes are part of.
pub(crate) fn extract_with(language: &'static Language, text: &str, places: &[usize]) -> (FileFacts, Vec<WordKind>) {
    let mut facts = FileFacts {
        language: language.name().to_owned(),
        lines: count_lines(text),
        ..FileFacts::default()
    };
    let unread = || vec![WordKind::Unread; places.len()];
    if text.len() > MAX_SOURCE {
        let message = format!("{NOT_PARSED}: {} bytes, more than {MAX_SOURCE}", text.len());
        facts.problems.push(Problem { line: 1, message });
        return (engine::empty(facts), unread());
    }
    let text = visible_text(language, text);
    let work = Work::of(&text);
    match Memory::Arena.settle() {
        Memory::System => lower(
            language,
            &text,
            facts,
            places,
            |text, parts| parse(language, text, parts, &work),
            drop,
        ),
        Memory::Arena => arena::within(|| {
            // The parser goes with the arena; making one is some ten allocations. The memory of the tree goes all at once.
            let parser = RefCell::new(new_parser(language));
            let parse = |text: &str, parts: &[Range]| parse_with(parser.borrow_mut().as_mut()?, text, parts, &work);
            lower(language, &text, facts, places, parse, std::mem::forget)
        }),
    }
}

/// The facts of what `parse` reads, and the kind of text at `places`; the tree goes to `dispose` when they are there.
fn lower(
    language: &'static Language,
    text: &str,
    mut facts: FileFacts,
    places: &[usize],
    parse: impl Fn(&str, &[Range]) -> Option<Tree>,
    dispose: fn(Tree),
) -> (FileFacts, Vec<WordKind>) {
    let Some(mut tree) = parse(text, &[]) else {
        let message = format!("{NOT_PARSED}: it takes too much work");
        facts.problems.push(Problem { line: 1, message });
        return (engine::empty(facts), vec![WordKind::Unread; places.len()]);
    };
    if tree.root_node().has_error()
        && let Some(other_text) = language.hooks.second_reading(text)
        && let Some(mut other) = parse(&other_text, &[])
    {
        if unread(&other) < unread(&tree) {
            std::mem::swap(&mut tree, &mut other);
        }
        dispose(other);
    }
    let fragments = match language.embedding {
        Embedding::Macros => Fragments::find(text, &tree, |range| parse(text, &[range])),
        _ => Fragments::default(),
    };
    let facts = engine::lower_file(language, text, &tree, &fragments, facts);
    let word_kinds = word_kinds_in(&tree, text, places);
    drop(fragments);
    dispose(tree);
    (facts, word_kinds)
}

/// How much of a text the grammar could not make sense of: bytes inside errors, and what it had to imagine.
fn unread(tree: &Tree) -> usize {
    let mut cursor = tree.walk();
    let mut sum = 0;
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            sum += node.byte_range().len().max(1);
        }
        let goes_down = node.has_error() && !node.is_error() && cursor.goto_first_child();
        while !goes_down && !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return sum;
            }
        }
    }
}

/// Parses `text` and throws the tree away: the lower bound that benchmarks compare [`extract`](crate::extract) with. In a
/// process that extracts nothing before, tree-sitter runs as it comes, with the system's allocator and one parser for
/// all files of a language. Returns whether there was a tree.
pub fn parse_only(language: &'static Language, text: &str) -> bool {
    Memory::System.settle();
    text.len() <= MAX_SOURCE && parse(language, &visible_text(language, text), &[], &Work::of(text)).is_some()
}

/// The tree of all of `text`, as it is.
pub(crate) fn whole(language: &'static Language, text: &str) -> Option<Tree> {
    parse(language, text, &[], &Work::of(text))
}

/// The same with a parser that goes with the arena around it.
pub(crate) fn whole_once(language: &'static Language, text: &str) -> Option<Tree> {
    parse_with(&mut new_parser(language)?, text, &[], &Work::of(text))
}

/// As [`parse_with`], with the thread's parser of this language.
fn parse(language: &'static Language, text: &str, parts: &[Range], work: &Work) -> Option<Tree> {
    PARSERS.with_borrow_mut(|parsers| {
        let at = match parsers.iter().position(|(name, _)| *name == language.name()) {
            Some(at) => at,
            None => {
                parsers.push((language.name(), new_parser(language)?));
                parsers.len() - 1
            }
        };
        parse_with(&mut parsers[at].1, text, parts, work)
    })
}

fn new_parser(language: &'static Language) -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    Some(parser)
}

/// Parses the given parts of `text` as one text, or all of it where none are given.
fn parse_with(parser: &mut Parser, text: &str, parts: &[Range], work: &Work) -> Option<Tree> {
    parser.set_included_ranges(parts).ok()?;
    // The callback comes every hundred operations; sound code needs well under one operation per byte.
    let mut left = 20_000 + text.len() / 16;
    let mut progress = |_: &tree_sitter::ParseState| {
        left = left.saturating_sub(1);
        if left == 0 || work.is_used_up() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let bytes = text.as_bytes();
    let tree = parser.parse_with_options(
        &mut |offset, _| work.bytes(bytes, offset),
        None,
        Some(ParseOptions::new().progress_callback(&mut progress)),
    );
    if tree.is_none() {
        parser.reset();
    }
    // Of a text that the lexer did not get to the end of, there is no tree.
    tree.filter(|_| !work.is_used_up())
}

fn count_lines(text: &str) -> u32 {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let open = usize::from(!text.is_empty() && !text.ends_with('\n'));
    u32::try_from(breaks + open).unwrap_or(u32::MAX)
}

/// The part of `text` that the grammar reads. Components (`.vue`, `.svelte`) keep their scripts in place and get blanks
/// everywhere else, so that every byte offset and line stays right.
fn visible_text<'a>(language: &Language, text: &'a str) -> Cow<'a, str> {
    match language.embedding {
        Embedding::Whole | Embedding::Macros => Cow::Borrowed(text),
        Embedding::Settled => conditionals::settled(text, &[]),
        Embedding::Undecorated => {
            let undefined: &[&str] = if language.name() == "c" { &["__cplusplus"] } else { &[] };
            match conditionals::settled(text, undefined) {
                Cow::Borrowed(text) => export_macros::blanked(text),
                Cow::Owned(text) => Cow::Owned(export_macros::blanked(&text).into_owned()),
            }
        }
        Embedding::Scripts => Cow::Owned(blank_outside_scripts(text)),
    }
}

fn blank_outside_scripts(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut blanked: Vec<u8> = bytes
        .iter()
        .map(|&byte| if byte == b'\n' || byte == b'\r' { byte } else { b' ' })
        .collect();
    let mut from = 0;
    while let Some(open) = memchr::memmem::find(&bytes[from..], b"<script") {
        let Some(start) = memchr::memchr(b'>', &bytes[from + open..]) else {
            break;
        };
        let start = from + open + start + 1;
        let end = memchr::memmem::find(&bytes[start..], b"</script").map_or(bytes.len(), |end| start + end);
        blanked[start..end].copy_from_slice(&bytes[start..end]);
        from = end;
    }
    // Scripts are cut at ASCII bytes, so what was copied is whole characters.
    String::from_utf8(blanked).unwrap_or_default()
}
