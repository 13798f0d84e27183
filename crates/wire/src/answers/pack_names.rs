//! Names that changed under a pack that a client holds. A type that is called otherwise changes the id of every member, and a file
//! that moved the ids of all it declares: one row says that, and what the client holds is read under the new names.
//!
//! The row stands for its whole prefix: `a.py::Shop` is also the `a.py::Shop` of `a.py::Shop.sell`, never that of `a.py::Shopping`.

use serde::{Deserialize, Serialize};

use super::context_pack::{ContextPack, PackEdge, PackReason, PackSource, PackSymbol};

/// What was called `from`, and everything in it, is now called `to`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renamed {
    pub from: String,
    pub to: String,
}

impl Renamed {
    /// The new id of what had this one, where the row is about it.
    pub fn of(&self, id: &str) -> Option<String> {
        let rest = id.strip_prefix(self.from.as_str())?;
        let is_part = |next: char| next.is_alphanumeric() || next == '_';
        (!self.from.is_empty() && !rest.starts_with(is_part)).then(|| format!("{}{rest}", self.to))
    }
}

/// The id after the renames, of which the first that is about it counts.
pub fn renamed_id(id: &str, renames: &[Renamed]) -> String {
    let now = renames.iter().find_map(|row| row.of(id));
    now.unwrap_or_else(|| id.to_string())
}

/// The text with another word wherever `word` stands as a whole.
pub fn with_word(text: &str, word: &str, instead: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word).filter(|_| !word.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        out.push_str(before);
        let is_whole = !out.ends_with(is_part) && !after.starts_with(is_part);
        out.push_str(if is_whole { instead } else { word });
        rest = after;
    }
    out.push_str(rest);
    out
}

impl ContextPack {
    /// The pack with the new names: ids in symbols, edges, sources and reasons. Texts stay as they are. The root is that of the
    /// new names, or empty where two symbols would have one name.
    pub fn under(&self, renames: &[Renamed]) -> ContextPack {
        let id = |id: &String| renamed_id(id, renames);
        let mut pack = ContextPack {
            symbols: self
                .symbols
                .iter()
                .map(|symbol| PackSymbol {
                    id: id(&symbol.id),
                    ..symbol.clone()
                })
                .collect(),
            edges: self
                .edges
                .iter()
                .map(|edge| PackEdge {
                    from: id(&edge.from),
                    to: id(&edge.to),
                    kind: edge.kind.clone(),
                })
                .collect(),
            sources: self
                .sources
                .iter()
                .map(|source| PackSource {
                    id: id(&source.id),
                    ..source.clone()
                })
                .collect(),
            reasons: self
                .reasons
                .iter()
                .map(|reason| PackReason {
                    id: id(&reason.id),
                    ..reason.clone()
                })
                .collect(),
            renamed: renames.to_vec(),
            ..self.clone()
        };
        if !renames.is_empty() {
            pack.pack_root = pack.root().unwrap_or_default();
        }
        pack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert_eq!(
            with_word("Shop(Shopping, a.Shop)", "Shop", "Store"),
            "Store(Shopping, a.Store)"
        );
        assert_eq!(with_word("unShop Shop_", "Shop", "Store"), "unShop Shop_");
        assert_eq!(with_word("any", "", "Store"), "any");
    }

    #[test]
    fn a_row_is_about_the_whole_name_and_what_is_in_it() {
        let row = Renamed {
            from: "a.py::Shop".into(),
            to: "a.py::Store".into(),
        };
        assert_eq!(row.of("a.py::Shop").as_deref(), Some("a.py::Store"));
        assert_eq!(row.of("a.py::Shop.sell~2").as_deref(), Some("a.py::Store.sell~2"));
        assert_eq!(row.of("a.py::Shop~2").as_deref(), Some("a.py::Store~2"));
        assert_eq!(row.of("a.py::Shopping"), None);
        assert_eq!(row.of("a.py::Shop_2"), None);
        assert_eq!(Renamed::default().of("a.py"), None);
    }
}
