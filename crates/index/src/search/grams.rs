//! Which files can hold a text at all: the three-byte sequences of each file, in a filter that says "no" for certain.
//!
//! The one trick: a filter folds. Every file is hashed into the same large table, which is then halved, one half laid over the
//! other, until it is no larger than what is in it deserves. Letters are lowered on the way in, so one filter serves every case.
//!
//! A filter holds for a file as long as size, times and inode are those of when it was read; another file is read again.

use std::cmp::Ordering;
use std::sync::{PoisonError, RwLock};

use regex_syntax::hir::{Hir, HirKind};

use crate::scan::Stamp;

/// The filters of the files of a tree, filled as files are read. Outlives snapshots.
///
/// In path order, as files are searched: whoever goes through a tree finds each beside the one before, where a table of hashes would
/// have to fetch every one from another place in memory.
#[derive(Default)]
pub struct TextFilter {
    pub(super) files: RwLock<Vec<(Box<str>, Seen)>>,
}

/// A place among the filters, which goes on with the paths that are asked for.
pub(super) struct Finder<'a> {
    left: &'a [(Box<str>, Seen)],
}

impl<'a> Finder<'a> {
    /// The first path that will be asked for is `first`; no later one comes before it.
    pub(super) fn new(files: &'a [(Box<str>, Seen)], first: &str) -> Finder<'a> {
        let start = files.partition_point(|(path, _)| **path < *first);
        Finder { left: &files[start..] }
    }

    /// What is known of a file, which comes after those that were asked for.
    pub(super) fn find(&mut self, path: &str) -> Option<&'a Seen> {
        while let [(next, seen), after @ ..] = self.left {
            match (**next).cmp(path) {
                Ordering::Greater => return None,
                Ordering::Equal => return Some(seen),
                Ordering::Less => self.left = after,
            }
        }
        None
    }
}

/// What was in a file when it had this stamp.
pub(super) struct Seen {
    pub(super) stamp: Stamp,
    /// Of its bytes.
    pub(super) hash: [u8; 32],
    /// Whether its bytes are its text.
    pub(super) is_plain: bool,
    pub(super) grams: Grams,
}

impl TextFilter {
    /// Notes what was in the files that were read, given in path order, as far as there is room. Files that are gone make room first.
    pub(super) fn note(&self, seen: Vec<(&str, Seen)>, is_there: impl Fn(&str) -> bool) {
        if seen.is_empty() {
            return;
        }
        // Poisoned by a panic of another search: what is in it is whole all the same.
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        let more: usize = seen.iter().map(|(_, seen)| seen.grams.size()).sum();
        let held = |files: &[(Box<str>, Seen)]| files.iter().map(|(_, seen)| seen.grams.size()).sum::<usize>();
        if held(&files) + more > MOST_BYTES {
            files.retain(|(path, _)| is_there(path));
        }
        let mut room = MOST_BYTES.saturating_sub(held(&files));
        let kept = seen.into_iter().take_while(|(_, seen)| {
            let size = seen.grams.size();
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        });
        // Before what was known of the same file, of which only the first is left.
        let mut both: Vec<(Box<str>, Seen)> = kept.map(|(path, seen)| (path.into(), seen)).collect();
        both.append(&mut files);
        // Two runs in order, which this sort merges.
        both.sort_by(|(one, _), (other, _)| one.cmp(other));
        both.dedup_by(|(later, _), (first, _)| later == first);
        both.shrink_to_fit();
        *files = both;
    }
}

/// Memory for all filters of a tree; files beyond it are read each time.
const MOST_BYTES: usize = 32 << 20;

/// What else is kept of a file, in bytes: its path, stamp and hash, and their place in the table of files.
const BESIDE: usize = 168;

/// Bits of the table before it is folded, as a power of two.
const TABLE: u32 = 16;
/// Bits for each sequence that is in a filter, at least: one in so many answers "maybe" is wrong.
const ROOM: usize = 4;

/// The three-byte sequences of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grams {
    /// Bits, a power of two of them; none where nothing can be said.
    words: Box<[u64]>,
}

impl Grams {
    pub(super) fn of(text: &str) -> Grams {
        let bytes = text.as_bytes();
        // The only letters outside ASCII that are equal to one in it when case is ignored: the sign of kelvin and the long s.
        let folds_oddly = memchr::memmem::find(bytes, "\u{212a}".as_bytes()).is_some()
            || memchr::memmem::find(bytes, "\u{17f}".as_bytes()).is_some();
        if folds_oddly {
            return Grams { words: Box::default() };
        }
        let mut table = vec![0u64; 1 << (TABLE - 6)];
        for_each_gram(bytes, |gram| {
            let bit = hash(gram);
            table[bit >> 6] |= 1 << (bit & 63);
        });
        let held: usize = table.iter().map(|word| word.count_ones() as usize).sum();
        while table.len() > 1 && table.len() * 64 / 2 >= held * ROOM {
            let half = table.split_off(table.len() / 2);
            for (word, folded) in table.iter_mut().zip(half) {
                *word |= folded;
            }
        }
        Grams {
            words: table.into_boxed_slice(),
        }
    }

    /// Whether the text may hold this one.
    fn may_hold(&self, needle: &Needle) -> bool {
        let Some(last) = (self.words.len() * 64).checked_sub(1) else {
            return true;
        };
        needle.hashes.iter().all(|hash| {
            let bit = hash & last;
            self.words[bit >> 6] & (1 << (bit & 63)) != 0
        })
    }

    fn size(&self) -> usize {
        self.words.len() * 8 + BESIDE
    }
}

fn for_each_gram(bytes: &[u8], mut take: impl FnMut(u32)) {
    let mut gram = 0u32;
    for (at, byte) in bytes.iter().enumerate() {
        gram = (gram << 8 | u32::from(byte.to_ascii_lowercase())) & 0xff_ffff;
        if at >= 2 {
            take(gram);
        }
    }
}

/// The low bits are those that folding keeps, so they must depend on the whole.
fn hash(gram: u32) -> usize {
    let mixed = gram.wrapping_mul(0x9e37_79b1);
    ((mixed ^ mixed >> 16) & ((1 << TABLE) - 1)) as usize
}

/// A text that must be there.
#[derive(Debug, Clone, Default)]
struct Needle {
    hashes: Vec<usize>,
}

/// What a file must hold for a pattern to match in it: of each list, one at least.
#[derive(Debug, Clone, Default)]
pub(super) struct Needs {
    all: Vec<Vec<Needle>>,
}

impl Needs {
    /// What an expression cannot do without. `ignores_case` where letters of either case are equal throughout.
    pub(super) fn of(expression: &str, ignores_case: bool) -> Needs {
        let parsed = regex_syntax::ParserBuilder::new()
            .utf8(false)
            .nest_limit(100)
            .build()
            .parse(expression);
        let texts = parsed.map(|hir| required(&hir)).unwrap_or_default();
        let needle = |text: &Vec<u8>| {
            let mut hashes = Vec::new();
            for_each_gram(text, |gram| {
                // Letters outside ASCII have other forms that are not lowered here.
                let is_plain = !ignores_case || gram & 0x80_8080 == 0;
                hashes.extend(is_plain.then(|| hash(gram)));
            });
            (!hashes.is_empty()).then_some(Needle { hashes })
        };
        let all = texts
            .iter()
            .filter_map(|any| any.iter().map(needle).collect::<Option<Vec<Needle>>>());
        Needs { all: all.collect() }
    }

    /// Whether a file with these sequences may match.
    pub(super) fn may_be_in(&self, grams: &Grams) -> bool {
        self.all
            .iter()
            .all(|any| any.iter().any(|needle| grams.may_hold(needle)))
    }
}

/// Most branches of an alternative that are looked for.
const MOST_BRANCHES: usize = 32;

/// Texts that every match holds: of each list, one.
fn required(hir: &Hir) -> Vec<Vec<Vec<u8>>> {
    match hir.kind() {
        HirKind::Literal(literal) => vec![vec![literal.0.to_vec()]],
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().flat_map(required).collect(),
        HirKind::Alternation(branches) if branches.len() <= MOST_BRANCHES => {
            // Of each branch what is longest where it is shortest; a branch without any leaves nothing to look for.
            let shortest = |any: &Vec<Vec<u8>>| any.iter().map(Vec::len).min().unwrap_or(0);
            let best = |branch: &Hir| required(branch).into_iter().max_by_key(shortest);
            let each: Option<Vec<Vec<Vec<u8>>>> = branches.iter().map(best).collect();
            each.map(|any| vec![any.concat()]).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(expression: &str, ignores_case: bool, text: &str) -> bool {
        let needs = Needs::of(expression, ignores_case);
        needs.may_be_in(&Grams::of(text))
    }

    #[test]
    fn what_is_there_is_never_ruled_out_and_most_else_is() {
        let text = "fn Reader::read_line(&mut self) -> Result<Line>;\nÄrger mit Straßen";
        for expression in [
            "read_line",
            "Reader",
            "read_.*self",
            "(Line|Page)",
            "r?",
            "fn",
            "Ä",
            "Ärger",
        ] {
            assert!(may(expression, false, text), "{expression}");
        }
        assert!(may("reader", true, text) && may("READ_LINE", true, text) && may("ärger", true, text));
        for expression in ["write_line", "read_.*other", "(Page|Book)", "xyzw+", "(?:abc)+d"] {
            assert!(!may(expression, false, text), "{expression}");
        }
        assert!(!may("writer", true, text));
    }

    #[test]
    fn what_cannot_be_told_is_not_ruled_out() {
        for expression in [
            "(?i)writer",
            "ab",
            "[xyz]{9}",
            "(page|)",
            "(page)*",
            "(page|x.)",
            "wri(ter",
        ] {
            assert!(may(expression, false, "nothing of the sort"), "{expression}");
        }
        // The sign of kelvin is a k where case is ignored.
        assert!(may("kelvin", true, "\u{212a}elvin"));
        assert!(may("sss", true, "s\u{17f}s"));
    }

    #[test]
    fn a_small_text_has_a_small_filter() {
        assert_eq!(Grams::of("abcdef").size(), BESIDE + 8);
        let long: String = (0..20_000).map(|number| format!("{number:x} ")).collect();
        assert!(Grams::of(&long).size() <= BESIDE + (1 << TABLE) / 8);
    }

    #[test]
    fn the_filters_of_a_tree_stay_within_their_room() {
        let filter = TextFilter::default();
        let stamp = Stamp {
            size: 1,
            modified: 1,
            changed: 1,
            inode: 1,
        };
        let words = vec![u64::MAX; 1 << (TABLE - 6)].into_boxed_slice();
        let mut names: Vec<String> = (0..5000).map(|number| number.to_string()).collect();
        names.sort();
        let seen = |name| {
            let seen = Seen {
                stamp,
                hash: [0; 32],
                is_plain: true,
                grams: Grams { words: words.clone() },
            };
            (name, seen)
        };
        filter.note(names.iter().map(|name| seen(name.as_str())).collect(), |_| true);
        let held = filter.files.read().unwrap().len();
        assert!(held > 3000 && held < 5000, "{held}");
        filter.note(vec![seen("another")], |path| path == "1");
        assert_eq!(filter.files.read().unwrap().len(), 2);
    }

    #[test]
    fn files_are_found_in_path_order_and_the_newest_counts() {
        let seen = |inode| Seen {
            stamp: Stamp {
                size: 1,
                modified: 1,
                changed: 1,
                inode,
            },
            hash: [0; 32],
            is_plain: true,
            grams: Grams { words: Box::default() },
        };
        let filter = TextFilter::default();
        filter.note(vec![("a", seen(1)), ("c", seen(3)), ("e", seen(5))], |_| true);
        filter.note(vec![("b", seen(2)), ("c", seen(30))], |_| true);
        let files = filter.files.read().unwrap();
        let inode = |found: Option<&Seen>| found.map(|seen| seen.stamp.inode);
        let mut finder = Finder::new(&files, "a");
        let found = ["a", "b", "bb", "c", "d", "e", "f"].map(|path| inode(finder.find(path)));
        assert_eq!(found, [Some(1), Some(2), None, Some(30), None, Some(5), None]);
        assert_eq!(inode(Finder::new(&files, "bb").find("c")), Some(30));
    }
}
