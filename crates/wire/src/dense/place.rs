//! Where a symbol is: a path on a line of its own, and a symbol below it.

use serde_json::{Map, Value};

use super::cells::ELIDED;

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

/// Before a path that is in the folder of the one above, or below it.
const SAME_FOLDER: &str = "./";

/// A path, below another.
pub(super) fn below_path<'a>(path: &'a str, above: &str) -> std::borrow::Cow<'a, str> {
    let folder = above.rfind('/').map(|at| &above[..=at]);
    match folder.and_then(|folder| path.strip_prefix(folder)) {
        Some(rest) => format!("{SAME_FOLDER}{rest}").into(),
        None => path.into(),
    }
}

/// The path that a line says, below another.
pub(super) fn whole_path(said: &str, above: &str) -> String {
    match (said.strip_prefix(SAME_FOLDER), above.rfind('/')) {
        (Some(rest), Some(at)) => format!("{}{rest}", &above[..=at]),
        _ => said.to_string(),
    }
}

/// Whether a path can stand on a line of its own, where it is taken for nothing else.
pub(super) fn is_plain_path(path: &str) -> bool {
    is_plain(path)
        && !path.starts_with(SAME_FOLDER)
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
