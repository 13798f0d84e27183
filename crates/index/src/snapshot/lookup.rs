//! Finding: files by path, symbols by lasting id, by name, by prefix and by place.

use zerocopy::little_endian::U32;

use super::fold;
use super::views::MAX_OWNERS;
use super::{FileView, Snapshot, SymbolId, SymbolView};
use crate::model::FileId;

impl Snapshot {
    /// The file with exactly this path.
    pub fn find_file(&self, path: &str) -> Option<FileView<'_>> {
        let at = self.first_path_not_below(path);
        self.file(FileId(at as u32)).filter(|file| file.path() == path)
    }

    /// The files whose path starts with `prefix`, in path order.
    pub fn files_under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = FileView<'a>> {
        let first = self.first_path_not_below(prefix);
        (first..self.file_count())
            .filter_map(|number| self.file(FileId(number as u32)))
            .take_while(move |file| file.path().starts_with(prefix))
    }

    /// The symbol with this lasting id: `<path>::<Owner.name>`, `~2` for the second of that name, or the path alone.
    pub fn find(&self, id: &str) -> Option<SymbolView<'_>> {
        if let Some(file) = self.find_file(id) {
            return file.symbol();
        }
        // A path may hold `::` itself, and so may a name, so every split is tried; the file must exist for one to count.
        id.match_indices("::").find_map(|(at, _)| {
            let file = self.find_file(&id[..at])?;
            let wanted = &id[at + 2..];
            self.find_in(file, wanted, 1).or_else(|| {
                let (name, repeat) = wanted.rsplit_once('~')?;
                self.find_in(file, name, repeat.parse().ok().filter(|&repeat| repeat > 1)?)
            })
        })
    }

    /// The symbols of exactly this name, in path and source order.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = SymbolView<'a>> {
        let count = self.name_count();
        let at = partition(count, |number| fold::compare(self.name_text(number), name).is_lt());
        let found = (at < count && self.name_text(at) == name).then_some(at);
        found.into_iter().flat_map(|number| self.symbols_of_name(number))
    }

    /// The symbols of this name, whatever the case of its letters.
    pub fn named_ignoring_case<'a>(&'a self, name: &'a str) -> impl Iterator<Item = SymbolView<'a>> {
        let first = partition(self.name_count(), |number| {
            fold::compare_folded(self.name_text(number), name).is_lt()
        });
        (first..self.name_count())
            .take_while(move |&number| fold::compare_folded(self.name_text(number), name).is_eq())
            .flat_map(|number| self.symbols_of_name(number))
    }

    /// The symbols whose name starts with `prefix`, whatever the case of its letters, in order of name.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = SymbolView<'a>> {
        let first = partition(self.name_count(), |number| {
            fold::compare_prefix(self.name_text(number), prefix).is_lt()
        });
        (first..self.name_count())
            .take_while(move |&number| fold::compare_prefix(self.name_text(number), prefix).is_eq())
            .flat_map(|number| self.symbols_of_name(number))
    }

    /// The distinct names of all symbols (files excluded) with the number of symbols that have them, in folded order.
    pub fn names(&self) -> impl Iterator<Item = (&str, usize)> {
        (0..self.name_count())
            .filter(|&number| self.symbols_of_name(number).next().is_some())
            .map(|number| (self.name_text(number), self.run(&self.known.name_offsets, number).len()))
    }

    /// The innermost symbol of a file whose lines hold `line`; the file itself where no definition does.
    pub fn symbol_at(&self, file: FileId, line: u32) -> Option<SymbolView<'_>> {
        let file = self.file(file)?;
        // Definitions come in source order, so the last one that starts before the line and holds it is the innermost.
        let mut innermost = file.symbol();
        for symbol in file.symbols().skip(1) {
            let span = symbol.span();
            if span.start_line > line {
                break;
            }
            if line <= span.end_line {
                innermost = Some(symbol);
            }
        }
        innermost
    }

    fn first_path_not_below(&self, path: &str) -> usize {
        partition(self.file_count(), |number| {
            self.file(FileId(number as u32)).is_some_and(|file| file.path() < path)
        })
    }

    fn find_in<'a>(&'a self, file: FileView<'a>, qualified_name: &str, repeat: u32) -> Option<SymbolView<'a>> {
        file.symbols_and_lambdas()
            .skip(1)
            .find(|symbol| symbol.repeat() == repeat && is_named(*symbol, qualified_name))
    }

    /// How many distinct names there are; they are numbered in folded order.
    pub fn name_count(&self) -> usize {
        self.count::<U32>(&self.known.name_offsets).saturating_sub(1)
    }

    /// A distinct name as its first symbol writes it.
    pub fn name_text(&self, number: usize) -> &str {
        self.symbols_of_name(number).next().map_or("", |symbol| symbol.name())
    }

    /// The symbols of a distinct name, in path and source order.
    pub fn symbols_of_name(&self, number: usize) -> impl Iterator<Item = SymbolView<'_>> {
        let run = self.run(&self.known.name_offsets, number);
        let symbols: &[U32] = self.records_in(&self.known.name_symbols, run).unwrap_or_default();
        symbols
            .iter()
            .filter_map(|symbol| self.symbol(SymbolId(symbol.get())))
            .filter(|symbol| !symbol.is_lambda())
    }
}

/// Folders that hold what was made from the sources beside them.
const BUILT: [&str; 6] = ["build", "dist", "es", "lib", "out", "target"];
/// Folders between those and what lies in the sources: `build/modern/index.js` is made from `src/index.ts`.
const MOST_BETWEEN: usize = 3;

impl<'a> FileView<'a> {
    /// The file that this one was made from, as far as places and names tell: it lies in a folder of built files whose neighbour
    /// `src` holds one of the same name.
    pub fn source(&self) -> Option<FileView<'a>> {
        let path = self.path();
        let mut end = 0;
        for part in path.split('/') {
            let start = end;
            end += part.len() + 1;
            if !BUILT.contains(&part) || end > path.len() {
                continue;
            }
            let mut below = &path[end..];
            for _ in 0..=MOST_BETWEEN {
                // Up to the first dot of the name: `index.d.ts`, `index.js.map`, `index.min.js`.
                let name = below.rfind('/').map_or(0, |at| at + 1);
                let stem = below[name..].find('.').map_or(below.len(), |at| name + at + 1);
                let wanted = format!("{}src/{}", &path[..start], &below[..stem]);
                let first = FileId(self.snapshot.first_path_not_below(&wanted) as u32);
                let is_it = |file: &FileView<'_>| {
                    let rest = file.path().strip_prefix(wanted.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || wanted.ends_with('.') && !rest.contains('/'))
                };
                if let Some(source) = self.snapshot.file(first).filter(is_it) {
                    return Some(source);
                }
                let Some((_, after)) = below.split_once('/') else { break };
                below = after;
            }
        }
        None
    }
}

/// The first of `count` numbers for which `before` is false, given that it is true up to there.
pub(crate) fn partition(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Compares a qualified name from its end, without building it.
fn is_named(symbol: SymbolView<'_>, qualified_name: &str) -> bool {
    let mut rest = qualified_name;
    let mut current = symbol;
    for _ in 0..MAX_OWNERS {
        let Some(before) = rest.strip_suffix(current.name()) else {
            return false;
        };
        rest = before;
        if !current.named_owner().is_empty() {
            let Some(before) = rest
                .strip_suffix('.')
                .and_then(|rest| rest.strip_suffix(current.named_owner()))
            else {
                return false;
            };
            rest = before;
        }
        match current.parent().filter(|parent| !parent.is_file()) {
            None => return rest.is_empty(),
            Some(parent) => {
                let Some(before) = rest.strip_suffix('.') else {
                    return false;
                };
                rest = before;
                current = parent;
            }
        }
    }
    false
}
