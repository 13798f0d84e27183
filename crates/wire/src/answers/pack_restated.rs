//! What is other about symbols that a client holds, by their places in its pack. An edit that cuts a symbol off moves all that was near
//! it: said with ids, that would take as much as the pack; a place takes two tokens.
//!
//! A place counts from 0, in the order in which the pack was sent; what a delta adds goes to the end.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::context_pack::{ContextPack, PackSource, PackSymbol};
use super::pack_names::with_word;

/// What is other about what the client holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Restated {
    /// Places of symbols that are no longer part of the pack, with their edges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<u64>,
    /// Edges that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<Cut>,
    /// Symbols that are farther or nearer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<AtDistance>,
    /// Symbols that matter more or less.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<WithScore>,
    /// Symbols whose source is other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hashes: Vec<WithHash>,
    /// Words that are other throughout the texts of a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Reworded>,
}

/// The edges from each of `from` to `to`, of whatever kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    pub to: u64,
    pub from: Vec<u64>,
}

/// Symbols that are now at this distance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AtDistance {
    pub distance: u64,
    pub symbols: Vec<u64>,
}

/// Symbols that now have this score.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WithScore {
    pub score: f64,
    pub symbols: Vec<u64>,
}

/// The hash that a symbol's source now has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WithHash {
    pub symbol: u64,
    pub hash: String,
}

/// In the texts of this file `to` stands wherever `from` stood as a word.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reworded {
    pub path: String,
    pub from: String,
    pub to: String,
}

impl Restated {
    pub(super) fn is_empty(&self) -> bool {
        *self == Restated::default()
    }

    /// What is other about the symbols of `base` in `pack`, every name as it is. A symbol that was found otherwise or is of another kind
    /// is left for the delta to say.
    pub(super) fn between(base: &ContextPack, pack: &ContextPack) -> Restated {
        let mut restated = Restated::default();
        let now: HashMap<&str, &PackSymbol> = pack.symbols.iter().map(|symbol| (symbol.id.as_str(), symbol)).collect();
        let mut distances: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut scores: BTreeMap<u64, (f64, Vec<u64>)> = BTreeMap::new();
        for (place, old) in (0u64..).zip(&base.symbols) {
            let Some(new) = now.get(old.id.as_str()) else {
                restated.dropped.push(place);
                continue;
            };
            let ((found, before), (found_now, after)) = (parts(&old.provenance), parts(&new.provenance));
            if found != found_now || old.kind != new.kind {
                continue;
            }
            if old.distance != new.distance {
                distances.entry(new.distance).or_default().push(place);
            }
            if old.score != new.score {
                let group = scores.entry(new.score.to_bits()).or_insert((new.score, Vec::new()));
                group.1.push(place);
            }
            if before != after {
                restated.hashes.push(WithHash {
                    symbol: place,
                    hash: after.to_string(),
                });
            }
        }
        let grouped = distances.into_iter();
        restated.distances = grouped
            .map(|(distance, symbols)| AtDistance { distance, symbols })
            .collect();
        let grouped = scores.into_values();
        restated.scores = grouped.map(|(score, symbols)| WithScore { score, symbols }).collect();
        restated.cut = cuts(base, pack, &restated.dropped);
        restated
    }

    /// The rows that say it.
    pub(super) fn rows(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, first: String, places: &[u64]| {
            let places: Vec<String> = places.iter().map(u64::to_string).collect();
            let words = [first, places.join(" ")];
            let words: Vec<&str> = words
                .iter()
                .map(String::as_str)
                .filter(|word| !word.is_empty())
                .collect();
            out.push_str(&format!("% {name} {}\n", words.join(" ")));
        };
        if !self.dropped.is_empty() {
            row("dropped", String::new(), &self.dropped);
        }
        for Cut { to, from } in &self.cut {
            row("cut", to.to_string(), from);
        }
        for AtDistance { distance, symbols } in &self.distances {
            row("distance", distance.to_string(), symbols);
        }
        for WithScore { score, symbols } in &self.scores {
            row("score", score.to_string(), symbols);
        }
        if !self.hashes.is_empty() {
            let pairs = self.hashes.iter().map(|pair| format!("{} {}", pair.symbol, pair.hash));
            row("hash", pairs.collect::<Vec<_>>().join(" "), &[]);
        }
        for Reworded { path, from, to } in &self.words {
            row(
                "words",
                format!("{} {from} {to}", super::context_pack::to_word(path)),
                &[],
            );
        }
        out
    }

    /// Reads a row, the `%` taken off; `None` for any other.
    pub(super) fn read(&mut self, words: &[&str]) -> Option<()> {
        let numbers = |words: &[&str]| -> Option<Vec<u64>> { words.iter().map(|word| word.parse().ok()).collect() };
        match words {
            ["dropped", places @ ..] => self.dropped.extend(numbers(places)?),
            ["cut", to, from @ ..] => self.cut.push(Cut {
                to: to.parse().ok()?,
                from: numbers(from)?,
            }),
            ["distance", distance, symbols @ ..] => self.distances.push(AtDistance {
                distance: distance.parse().ok()?,
                symbols: numbers(symbols)?,
            }),
            ["score", score, symbols @ ..] => self.scores.push(WithScore {
                score: score.parse().ok()?,
                symbols: numbers(symbols)?,
            }),
            ["hash", pairs @ ..] if pairs.len().is_multiple_of(2) => {
                for pair in pairs.chunks_exact(2) {
                    self.hashes.push(WithHash {
                        symbol: pair[0].parse().ok()?,
                        hash: pair[1].to_string(),
                    });
                }
            }
            ["words", path, from, to] => self.words.push(Reworded {
                path: super::context_pack::from_word(path),
                from: (*from).to_string(),
                to: (*to).to_string(),
            }),
            _ => return None,
        }
        Some(())
    }
}

impl ContextPack {
    /// The pack with what is other about its symbols, and the texts with their words; `None` where a place is not one of its own.
    /// Texts and reasons of what is dropped stay: a new one may be a copy of them.
    pub fn restated(&self, restated: &Restated) -> Option<ContextPack> {
        if restated.is_empty() {
            return Some(self.clone());
        }
        let mut pack = self.clone();
        for AtDistance { distance, symbols } in &restated.distances {
            for place in symbols {
                at(&mut pack.symbols, *place)?.distance = *distance;
            }
        }
        for WithScore { score, symbols } in &restated.scores {
            for place in symbols {
                at(&mut pack.symbols, *place)?.score = *score;
            }
        }
        for WithHash { symbol, hash } in &restated.hashes {
            let symbol = at(&mut pack.symbols, *symbol)?;
            symbol.provenance = format!("{}~{hash}", parts(&symbol.provenance).0);
        }
        let id = |place: &u64| Some(self.symbols.get(usize::try_from(*place).ok()?)?.id.as_str());
        let mut gone: BTreeSet<(&str, &str)> = BTreeSet::new();
        for Cut { to, from } in &restated.cut {
            for from in from {
                gone.insert((id(from)?, id(to)?));
            }
        }
        let dropped: BTreeSet<&str> = restated.dropped.iter().map(id).collect::<Option<_>>()?;
        pack.symbols.retain(|symbol| !dropped.contains(symbol.id.as_str()));
        pack.edges.retain(|edge| {
            let (from, to) = (edge.from.as_str(), edge.to.as_str());
            !gone.contains(&(from, to)) && !dropped.contains(from) && !dropped.contains(to)
        });
        for source in &mut pack.sources {
            reword(source, &restated.words);
        }
        pack.pack_root = pack.root().ok()?;
        Some(pack)
    }
}

/// The text of a source with the words of its file that are other.
pub(super) fn reword(source: &mut PackSource, words: &[Reworded]) {
    for Reworded { path, from, to } in words {
        if source.id.split("::").next() == Some(path.as_str()) {
            source.text = with_word(&source.text, from, to);
        }
    }
}

fn at(symbols: &mut [PackSymbol], place: u64) -> Option<&mut PackSymbol> {
    symbols.get_mut(usize::try_from(place).ok()?)
}

/// How a symbol was found, and the hash of its source.
fn parts(provenance: &str) -> (&str, &str) {
    provenance.rsplit_once('~').unwrap_or((provenance, ""))
}

/// The edges between symbols that stay which are gone, every kind of them.
fn cuts(base: &ContextPack, pack: &ContextPack, dropped: &[u64]) -> Vec<Cut> {
    let places: HashMap<&str, u64> = base.symbols.iter().map(|symbol| symbol.id.as_str()).zip(0..).collect();
    let still: BTreeSet<(&str, &str)> = pack
        .edges
        .iter()
        .map(|edge| (edge.from.as_str(), edge.to.as_str()))
        .collect();
    let mut cuts: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for edge in &base.edges {
        let (from, to) = (edge.from.as_str(), edge.to.as_str());
        if let (Some(&source), Some(&target)) = (places.get(from), places.get(to))
            && !still.contains(&(from, to))
            && !dropped.contains(&source)
            && !dropped.contains(&target)
        {
            cuts.entry(target).or_default().insert(source);
        }
    }
    let cut = |(to, from): (u64, BTreeSet<u64>)| Cut {
        to,
        from: from.into_iter().collect(),
    };
    cuts.into_iter().map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::PackEdge;

    fn pack(symbols: &[(&str, u64, &str)], edges: &[(&str, &str)]) -> ContextPack {
        let mut pack = ContextPack {
            symbols: symbols
                .iter()
                .map(|(id, distance, hash)| PackSymbol {
                    id: (*id).to_string(),
                    kind: "function".to_string(),
                    score: 0.5,
                    provenance: format!("words~{hash}"),
                    distance: *distance,
                })
                .collect(),
            edges: edges
                .iter()
                .map(|(from, to)| PackEdge {
                    from: (*from).to_string(),
                    to: (*to).to_string(),
                    kind: "calls".to_string(),
                })
                .collect(),
            ..ContextPack::default()
        };
        pack.pack_root = pack.root().unwrap();
        pack
    }

    #[test]
    fn what_is_other_is_said_by_places_and_read_back() {
        let base = pack(
            &[
                ("a.py::a", 0, "AAAA"),
                ("a.py::b", 1, "BBBB"),
                ("a.py::c", 2, "CCCC"),
                ("a.py::d", 1, "DDDD"),
            ],
            &[("a.py::b", "a.py::a"), ("a.py::c", "a.py::b"), ("a.py::d", "a.py::a")],
        );
        let after = pack(
            &[("a.py::a", 0, "AAAA"), ("a.py::b", 3, "EEEE"), ("a.py::c", 3, "CCCC")],
            &[("a.py::c", "a.py::b")],
        );
        let restated = Restated::between(&base, &after);
        let rows = restated.rows();
        assert_eq!(rows, "% dropped 3\n% cut 0 1\n% distance 3 1 2\n% hash 1 EEEE\n");
        let mut read = Restated::default();
        for row in rows.lines() {
            let words: Vec<&str> = row.split(' ').skip(1).collect();
            read.read(&words).unwrap();
        }
        assert_eq!(read, restated);
        assert_eq!(base.restated(&read).unwrap().pack_root, after.pack_root);
    }

    #[test]
    fn places_that_the_pack_has_not_are_refused() {
        let base = pack(&[("a.py::a", 0, "AAAA")], &[]);
        for row in [
            "dropped 1",
            "cut 0 1",
            "cut 1 0",
            "distance 2 1",
            "score 0.1 9",
            "hash 7 AAAA",
        ] {
            let mut restated = Restated::default();
            restated.read(&row.split(' ').collect::<Vec<_>>()).unwrap();
            assert_eq!(base.restated(&restated), None, "{row}");
        }
        for row in [
            "dropped x",
            "hash 1",
            "cut",
            "words a.py b",
            "other 1",
            "distance",
            "score x 1",
        ] {
            assert_eq!(
                Restated::default().read(&row.split(' ').collect::<Vec<_>>()),
                None,
                "{row}"
            );
        }
    }
}
