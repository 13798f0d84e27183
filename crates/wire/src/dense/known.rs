//! Where the symbols of earlier answers are, by name: a name that stood for one file only needs no path the next time.

use std::collections::HashMap;

use serde_json::Value;

use super::place::{Place, WHOLE_FILE};

/// The symbols that a reader was told, each with its file; none where several files have a symbol of that name.
#[derive(Debug, Default, Clone)]
pub(crate) struct Known {
    paths: HashMap<String, Option<String>, foldhash::fast::RandomState>,
}

/// Most symbols that are remembered; the reader stops where the sender does.
const MOST: usize = 50_000;

/// Members that name symbols.
const NAMING: &[&str] = &["id", "from", "to"];

impl Known {
    /// Notes the symbols of an answer that was told.
    pub(crate) fn note(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.note(item)),
            Value::Object(members) => {
                for (name, member) in members {
                    match member {
                        Value::String(id) if NAMING.contains(&name.as_str()) => self.add(id),
                        Value::Array(_) | Value::Object(_) => self.note(member),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, id: &str) {
        let Some((path, symbol)) = id.split_once("::") else {
            return;
        };
        let is_full = self.paths.len() >= MOST;
        match self.paths.get_mut(symbol) {
            Some(known) if known.as_deref() != Some(path) => *known = None,
            None if !is_full => drop(self.paths.insert(symbol.to_string(), Some(path.to_string()))),
            _ => {}
        }
    }

    /// The one file that has this symbol.
    pub(super) fn path_of(&self, symbol: &str) -> Option<&str> {
        self.paths.get(symbol)?.as_deref()
    }

    /// Whether the name alone says where it is.
    pub(super) fn holds(&self, place: Place<'_>) -> bool {
        place.symbol != WHOLE_FILE && self.path_of(place.symbol) == Some(place.path)
    }
}
