//! Symbols below one another: `12 Cart.add`, then `30.remove`. What several have in common is said once.
//!
//! A symbol that begins with a dot has the owner of the row above. Where many names begin alike, the beginning stands on a line of
//! its own (`TestVaultCAProvider_…`) and the names have an ellipsis in its place (`192 …Configure`). In a conversation, a symbol that
//! an earlier answer put in its file is said by its name alone, after a star.

use super::Known;
use super::cells::ELIDED;
use super::place::{EARLIER, Place, WHOLE_FILE};

/// A shorter beginning is not worth an ellipsis.
const LEAST_STEM: usize = 8;
/// Characters that a stem must save beyond its own line. A token has about four.
const LEAST_GAIN: usize = 12;
/// Rows that one search for a stem looks at.
const MOST_ROWS: usize = 100;

/// What the rows above say of those below.
#[derive(Default)]
pub(super) struct Above {
    owner: String,
    stem: String,
}

impl Above {
    /// How a symbol is said below these rows, with what parts it from the line number.
    pub(super) fn say(&mut self, place: Place<'_>, known: &Known) -> String {
        let owner = place.owner().unwrap_or_default();
        let below_owner = match owner == self.owner && !owner.is_empty() {
            true => &place.symbol[owner.len()..],
            false => place.symbol,
        };
        let below_stem = self.below_stem(place.symbol);
        self.owner = owner.to_string();
        match below_stem {
            _ if known.holds(place) => format!(" {EARLIER}{}", place.symbol),
            Some(rest) if rest.len() < below_owner.len() => format!(" {ELIDED}{rest}"),
            _ if below_owner.starts_with('.') => below_owner.to_string(),
            _ => format!(" {}", place.symbol),
        }
    }

    /// What is left of a symbol behind the stem.
    fn below_stem<'a>(&self, symbol: &'a str) -> Option<&'a str> {
        let rest = symbol
            .strip_prefix(self.stem.as_str())
            .filter(|_| !self.stem.is_empty());
        rest.filter(|rest| !rest.is_empty())
    }

    /// Takes over the stem that a line says.
    pub(super) fn set_stem(&mut self, stem: &str) {
        self.stem = stem.to_string();
    }

    /// The symbol that is said, and its path where that is not the one above.
    pub(super) fn hear<'k>(&mut self, said: &str, known: &'k Known) -> Option<(String, Option<&'k str>)> {
        let (symbol, path) = match said.strip_prefix(' ') {
            None if said == WHOLE_FILE => (said.to_string(), None),
            None if self.owner.is_empty() => return None,
            None => (format!("{}{said}", self.owner), None),
            Some(said) => match (said.strip_prefix(EARLIER), said.strip_prefix(ELIDED)) {
                (Some(symbol), _) => (symbol.to_string(), Some(known.path_of(symbol)?)),
                (_, Some(rest)) => (format!("{}{rest}", self.stem), None),
                _ => (said.to_string(), None),
            },
        };
        let place = Place {
            path: "",
            symbol: &symbol,
        };
        self.owner = place.owner().unwrap_or_default().to_string();
        Some((symbol, path))
    }

    /// A new list: nothing stands above.
    pub(super) fn clear(&mut self) {
        self.owner.clear();
    }
}

/// Where a row begins: its lines and the rest, or none where the line is no row.
pub(super) fn row_of(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|c: char| !c.is_ascii_digit() && c != ',')?;
    let is_row = line.starts_with(|c: char| c.is_ascii_digit()) && line[end..].starts_with([' ', '.']);
    is_row.then(|| line.split_at(end))
}

/// The stem that a line says.
pub(super) fn stem_of(line: &str) -> Option<&str> {
    line.strip_suffix(ELIDED).filter(|stem| !stem.is_empty())
}

/// Before which rows a stem is worth its line, and how long it is.
pub(super) fn stems(places: &[Place<'_>], known: &Known) -> Vec<Option<usize>> {
    let mut found = vec![None; places.len()];
    let mut stem = "";
    let mut at = 0;
    while at < places.len() {
        let symbol = places[at].symbol;
        let is_said = !stem.is_empty() && symbol.starts_with(stem);
        let best = if is_said { None } else { stem_at(&places[at..], known) };
        match best {
            Some((length, rows)) => {
                found[at] = Some(length);
                stem = &symbol[..length];
                at += rows;
            }
            None => at += 1,
        }
    }
    found
}

/// The best stem of the first rows: its length, and how many rows have it.
fn stem_at(places: &[Place<'_>], known: &Known) -> Option<(usize, usize)> {
    let first = places.first().filter(|place| is_plain(**place, known))?;
    let mut length = first.symbol.len();
    let mut best: Option<(usize, usize)> = None;
    let mut best_gain = LEAST_GAIN;
    // What the rows would take without it, and what their symbols take in all.
    let mut whole = first.symbol.len();
    let mut symbols = first.symbol.len();
    let mut owner_above = first.owner();
    for (at, place) in places.iter().enumerate().take(MOST_ROWS).skip(1) {
        if !is_plain(*place, known) {
            break;
        }
        length = shared(first.symbol, place.symbol, length);
        if length < LEAST_STEM {
            break;
        }
        let owner = place.owner();
        let repeated = owner.filter(|owner| owner_above == Some(owner)).map_or(0, str::len);
        owner_above = owner;
        whole += place.symbol.len() - repeated;
        symbols += place.symbol.len();
        let rows = at + 1;
        let said = symbols - length * rows;
        let gain = whole.saturating_sub(said + length + 4 * rows + 8);
        if gain > best_gain {
            (best, best_gain) = (Some((length, rows)), gain);
        }
    }
    best
}

fn is_plain(place: Place<'_>, known: &Known) -> bool {
    place.symbol != WHOLE_FILE && !place.symbol.contains(ELIDED) && !known.holds(place)
}

/// How much two symbols share, up to where a word of both ends.
fn shared(one: &str, other: &str, most: usize) -> usize {
    let (a, b) = (one.as_bytes(), other.as_bytes());
    let mut length = a.iter().zip(b).take(most).take_while(|(a, b)| a == b).count();
    let ends_word = |length: usize| {
        let before = a[length - 1];
        let after = |text: &[u8]| text.get(length).is_some_and(u8::is_ascii_uppercase);
        before.is_ascii()
            && (before == b'_' || before == b'.' || (!before.is_ascii_uppercase() && after(a) && after(b)))
    };
    while length > 0 && (length >= a.len().min(b.len()) || !ends_word(length)) {
        length -= 1;
    }
    length
}
