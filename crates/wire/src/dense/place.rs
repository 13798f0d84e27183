//! Where a symbol is: a path on a line of its own, and a symbol below it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::cells::ELIDED;
use crate::gcx::Header;

/// The two halves of a symbol's id.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) path: &'a str,
    /// `Owner.name`, or [`WHOLE_FILE`].
    pub(super) symbol: &'a str,
}

/// Stands for a file itself, whose id is its path.
pub(super) const WHOLE_FILE: &str = ".";

/// Before a symbol that an earlier answer put in its file.
pub(super) const EARLIER: char = '*';

/// Before a path below the folder of the one above. A name alone is in that folder, and needs it only where it looks like a row.
const SAME_FOLDER: &str = "./";
/// Before a path from the root that would be taken for another without it.
const FROM_ROOT: char = '/';
/// The entry of the header that names this folder.
const UNDER: &str = "under";
/// Characters that the entry must save beyond its own.
const LEAST_GAIN: usize = 16;

/// The paths of an answer, each on a line of its own above its rows.
pub(super) struct Paths {
    /// The folder that most are below, with its slash; empty where it is not worth an entry.
    base: String,
    above: String,
}

impl Paths {
    /// For these paths, in their order.
    pub(super) fn of<'a>(paths: impl Iterator<Item = &'a str>) -> Paths {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut above, mut lines) = ("", 0);
        for path in paths.filter(|path| is_plain_path(path)) {
            if !path.starts_with(folder_of(above)) || above.is_empty() {
                lines += 1;
                for (at, _) in path.match_indices('/') {
                    *counts.entry(&path[..=at]).or_default() += 1;
                }
            }
            above = path;
        }
        let gain = |(folder, count): (&str, usize)| {
            let cost = UNDER.len() + 2 + folder.len() + (lines - count) * 4;
            (folder.len() * count).saturating_sub(cost)
        };
        let is_told = |folder: &str| !folder.contains(|c: char| c.is_whitespace());
        let best = counts
            .into_iter()
            .filter(|(folder, _)| is_told(folder))
            .max_by_key(|counted| gain(*counted));
        Paths {
            base: best
                .filter(|counted| gain(*counted) >= LEAST_GAIN)
                .map_or("", |(folder, _)| folder)
                .to_string(),
            above: String::new(),
        }
    }

    /// As the header has it.
    pub(super) fn read(header: &Header) -> Paths {
        Paths {
            base: header.entry(UNDER).unwrap_or_default().to_string(),
            above: String::new(),
        }
    }

    /// The entry of the header, if there is one.
    pub(super) fn entry(&self) -> String {
        match self.base.as_str() {
            "" => String::new(),
            base => format!(" {UNDER}={base}"),
        }
    }

    /// The line of a path, if it is not the one above.
    pub(super) fn say(&mut self, path: &str) -> Option<String> {
        if path == self.above {
            return None;
        }
        let line = short_path(path, &self.above, &self.base);
        self.above = path.to_string();
        Some(line)
    }

    /// Takes over the path that a line says.
    pub(super) fn hear(&mut self, line: &str) {
        self.above = whole_path(line, &self.above, &self.base);
    }

    /// The path above.
    pub(super) fn path(&self) -> &str {
        &self.above
    }
}

/// The shortest way to say a path below another, where `base` stands before those that begin at neither folder nor root.
pub(super) fn short_path(path: &str, above: &str, base: &str) -> String {
    let plain = match path.strip_prefix(base) {
        Some(rest) if is_plain_path(rest) && (above.is_empty() || rest.contains('/')) => rest.to_string(),
        _ => format!("{FROM_ROOT}{path}"),
    };
    if above.is_empty() {
        return plain;
    }
    let folder = folder_of(above);
    let below = match path.strip_prefix(folder) {
        Some(name) if !name.contains('/') && is_plain_path(name) => name.to_string(),
        Some(rest) => format!("{SAME_FOLDER}{rest}"),
        None => return plain,
    };
    match below.len() < plain.len() {
        true => below,
        false => plain,
    }
}

/// The path that a line says: the inverse of [`short_path`].
pub(super) fn whole_path(said: &str, above: &str, base: &str) -> String {
    let folder = folder_of(above);
    if let Some(path) = said.strip_prefix(FROM_ROOT) {
        return path.to_string();
    }
    if let Some(rest) = said.strip_prefix(SAME_FOLDER) {
        return format!("{folder}{rest}");
    }
    match said.contains('/') || above.is_empty() {
        true => format!("{base}{said}"),
        false => format!("{folder}{said}"),
    }
}

/// The folder of a path, with its slash; empty for the root.
fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

/// Whether a path can stand on a line of its own, where it is taken for nothing else.
pub(super) fn is_plain_path(path: &str) -> bool {
    is_plain(path)
        && !path.starts_with(SAME_FOLDER)
        && !path.starts_with(FROM_ROOT)
        && !path.starts_with(|c: char| c.is_ascii_digit())
        && !path.ends_with([':', ELIDED])
}

fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('#')
        && !text.starts_with("GCX1")
        && !text.contains(|c: char| c.is_control() || c == '\\')
}

impl<'a> Place<'a> {
    /// The place of a row whose other members repeat its path.
    pub(super) fn of(id: &str, path: &str, row: &'a Map<String, Value>) -> Option<Place<'a>> {
        let place = Place::of_id(row.get(id)?.as_str()?)?;
        let repeats = path.is_empty() || row.get(path)?.as_str()? == place.path;
        repeats.then_some(place)
    }

    /// The place that an id names, where both halves fit into lines of their own.
    pub(super) fn of_id(id: &'a str) -> Option<Place<'a>> {
        let (path, symbol) = id.split_once("::").unwrap_or((id, WHOLE_FILE));
        let is_whole = symbol == WHOLE_FILE || !symbol.starts_with(WHOLE_FILE);
        let is_told = is_whole && !symbol.starts_with([EARLIER, ELIDED, ' ']) && is_plain(symbol);
        (is_told && is_plain_path(path)).then_some(Place { path, symbol })
    }

    /// What comes before the last dot.
    pub(super) fn owner(self) -> Option<&'a str> {
        let owner = self.symbol.rsplit_once('.').map(|(owner, _)| owner);
        owner.filter(|owner| !owner.is_empty())
    }

    pub(super) fn id(self) -> String {
        match self.symbol {
            WHOLE_FILE => self.path.to_string(),
            symbol => format!("{}::{symbol}", self.path),
        }
    }

    /// The last part of the symbol, without the number of a second definition.
    pub(super) fn name(self) -> &'a str {
        if self.symbol == WHOLE_FILE {
            return self.path.rsplit('/').next().unwrap_or(self.path);
        }
        let last = self.symbol.rsplit('.').next().unwrap_or(self.symbol);
        match last.rsplit_once('~') {
            Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => last,
        }
    }
}

/// The kind that goes without saying.
pub(super) fn usual_kind(symbol: &str) -> &'static str {
    match symbol {
        WHOLE_FILE => "file",
        symbol if symbol.contains('.') => "method",
        _ => "function",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{is_plain_path, short_path, whole_path};

    #[test]
    fn a_path_is_said_from_what_is_above_it() {
        for (path, above, base, said) in [
            ("app/a.py", "", "", "app/a.py"),
            ("app/b.py", "app/a.py", "", "b.py"),
            ("app/sub/b.py", "app/a.py", "", "./sub/b.py"),
            ("pkg/long/sub/b.py", "pkg/long/a.py", "", "./sub/b.py"),
            ("pkg/long/b.py", "pkg/long/sub/a.py", "pkg/long/", "/pkg/long/b.py"),
            ("main.py", "app/a.py", "", "/main.py"),
            ("app/0001_initial.py", "app/a.py", "", "./0001_initial.py"),
            ("test/a.go", "pkg/x/a.go", "pkg/", "/test/a.go"),
        ] {
            assert_eq!(short_path(path, above, base), said);
            assert_eq!(whole_path(said, above, base), path);
        }
    }

    proptest! {
        #[test]
        fn what_is_said_is_heard(path in "[a-c0]{1,2}(/[a-c0.]{1,2}){0,4}", above in "|[a-c0]{1,2}(/[a-c0.]{1,2}){0,4}",
            base in "|([a-c]{1,2}/){1,2}")
        {
            prop_assume!(is_plain_path(&path));
            let said = short_path(&path, &above, &base);
            prop_assert_eq!(whole_path(&said, &above, &base), path);
            prop_assert!(!said.starts_with(|c: char| c.is_ascii_digit()), "{} is taken for a row", said);
        }
    }
}
