//! A file in regions, the places that `find` ranks and shows: its outermost functions with the comments above them, and what is between
//! them in pieces of at most forty lines, named after the type around them. A long function that holds others is taken apart.

use index::snapshot::{FileView, SymbolId, SymbolView};
use syntax::facts::Kind;

/// Longest piece of what is in no function, in lines.
const LONGEST_GAP: u32 = 40;
/// A function with more lines that holds at least two others is taken apart.
const LONG_FUNCTION: u32 = 120;
/// Lines above a function that are looked at for its comment.
const MOST_COMMENT: u32 = 60;

/// A stretch of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Region {
    pub(super) first: u32,
    pub(super) last: u32,
    /// The line with the name; the first one where there is none.
    pub(super) head: u32,
    /// The function that it is, or the type around it.
    pub(super) symbol: Option<SymbolId>,
    pub(super) is_function: bool,
}

/// A definition that regions are made of.
struct Outline {
    first: u32,
    last: u32,
    head: u32,
    symbol: SymbolId,
}

impl Outline {
    fn of(symbol: SymbolView<'_>) -> Outline {
        let span = symbol.span();
        Outline {
            first: span.start_line,
            last: span.end_line,
            head: symbol
                .name_at()
                .line
                .clamp(span.start_line, span.end_line.max(span.start_line)),
            symbol: symbol.id(),
        }
    }
}

pub(super) fn is_function(kind: Kind) -> bool {
    matches!(kind, Kind::Function | Kind::Method | Kind::Constructor | Kind::Macro)
}

fn is_type(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Class
            | Kind::Struct
            | Kind::Union
            | Kind::Interface
            | Kind::Trait
            | Kind::Enum
            | Kind::Module
            | Kind::Section
    )
}

/// The regions of a file in order, from its definitions and its lines as they are now.
pub(super) fn regions(file: FileView<'_>, lines: &[&str], is_as_indexed: bool) -> Vec<Region> {
    let count = lines.len() as u32;
    let (mut functions, mut types) = (Vec::new(), Vec::new());
    if is_as_indexed {
        for symbol in file.symbols().filter(|symbol| !symbol.is_file()) {
            match symbol.kind() {
                kind if is_function(kind) => functions.push(Outline::of(symbol)),
                kind if is_type(kind) => types.push(Outline::of(symbol)),
                _ => {}
            }
        }
    }
    functions.retain(|one| one.first > 0 && one.first <= one.last && one.last <= count);
    types.retain(|one| one.first > 0 && one.first <= one.last && one.last <= count);
    functions.sort_by_key(|one| (one.first, std::cmp::Reverse(one.last)));
    let outermost = outermost(&functions);
    let mut found = Vec::new();
    let mut next = 1;
    for function in outermost {
        if function.first < next {
            continue;
        }
        let first = with_comment(lines, function.first, next);
        gaps(lines, next, first - 1, &types, &mut found);
        found.push(Region {
            first,
            last: function.last,
            head: function.head,
            symbol: Some(function.symbol),
            is_function: true,
        });
        next = function.last + 1;
    }
    gaps(lines, next, count, &types, &mut found);
    found
}

/// Functions in no other, and those in a long one that holds several instead of it.
fn outermost(functions: &[Outline]) -> Vec<&Outline> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(function) = functions.get(at) {
        let inside = functions[at + 1..]
            .iter()
            .take_while(|other| other.first <= function.last)
            .count();
        let is_long = function.last - function.first >= LONG_FUNCTION && inside >= 2;
        if is_long {
            at += 1;
            continue;
        }
        found.push(function);
        at += 1 + inside;
    }
    found
}

/// The line where the comment and the attributes above a function begin.
fn with_comment(lines: &[&str], first: u32, least: u32) -> u32 {
    let mut at = first;
    while at > least && first - at < MOST_COMMENT {
        let above = lines.get(at as usize - 2).map_or("", |line| line.trim());
        let is_part = above.starts_with("//")
            || above.starts_with("/*")
            || above.starts_with('*')
            || above.starts_with('@')
            || above.starts_with("#[")
            || above.starts_with("# ")
            || above == "#"
            || above.starts_with("--")
            || above.ends_with("*/");
        if !is_part {
            break;
        }
        at -= 1;
    }
    at
}

/// What is between functions, in pieces that end where a type begins or a blank line is.
fn gaps(lines: &[&str], first: u32, last: u32, types: &[Outline], found: &mut Vec<Region>) {
    let mut next = first;
    while next <= last {
        let text = |line: u32| lines.get(line as usize - 1).copied().unwrap_or("");
        if text(next).trim().is_empty() {
            next += 1;
            continue;
        }
        let mut end = last.min(next + LONGEST_GAP - 1);
        let starts = |line: u32| types.iter().any(|one| one.first == line);
        // A type begins a piece of its own, with the comment above it.
        if let Some(start) = (next + 1..=end).find(|&line| starts(line)) {
            let above = with_comment(lines, start, next);
            end = if above > next {
                above - 1
            } else {
                end.min(later(types, start, end))
            };
        }
        if end < last && end >= next + LONGEST_GAP - 1 {
            // Better between two paragraphs than in one.
            end = (next + LONGEST_GAP / 2..=end)
                .rev()
                .find(|&line| text(line).trim().is_empty())
                .unwrap_or(end);
        }
        let says_something = (next..=end).any(|line| text(line).chars().any(char::is_alphanumeric));
        if says_something {
            let mut trimmed = end;
            while trimmed > next && text(trimmed).trim().is_empty() {
                trimmed -= 1;
            }
            let around = types.iter().filter(|one| one.first <= trimmed && next <= one.last);
            let around = around.min_by_key(|one| (one.last - one.first, one.first));
            found.push(Region {
                first: next,
                last: trimmed,
                head: around
                    .filter(|one| (next..=trimmed).contains(&one.head))
                    .map_or(next, |one| one.head),
                symbol: around.map(|one| one.symbol),
                is_function: false,
            });
        }
        next = end + 1;
    }
}

/// Where a piece that begins with a comment ends whose type starts at `start`: before the next type.
fn later(types: &[Outline], start: u32, end: u32) -> u32 {
    let next = types.iter().map(|one| one.first).filter(|first| *first > start).min();
    next.map_or(end, |next| end.min(next - 1).max(start))
}
