//! What servers said, by the definition they were asked about, and which of it still holds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, Read, Write};
use std::path::Path;

use index::snapshot::{FileView, Snapshot, SymbolId, SymbolView};
use lsp::Place;
use serde::{Deserialize, Serialize};
use syntax::facts::Position;

#[derive(Default)]
pub(super) struct State {
    /// By the place of the definition that was asked about.
    pub(super) answers: BTreeMap<Spot, Answer>,
    /// Which definitions a file mentions.
    pub(super) mentioned_by: HashMap<String, BTreeSet<Spot>>,
    /// Which definitions another implements, by the implementing one's place.
    pub(super) implemented_by: HashMap<Spot, BTreeSet<Spot>>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Spot {
    pub(super) path: String,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// What a server said about one definition. One line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) of: Spot,
    /// The file of the definition.
    pub(super) hash: u64,
    /// The whole tree.
    pub(super) tree: u64,
    /// Every mention, by file.
    #[serde(default)]
    pub(super) mentions: Option<BTreeMap<String, InFile>>,
    /// What implements or overrides it, with the hash of each file.
    #[serde(default)]
    pub(super) implementers: Option<Vec<(Spot, u64)>>,
}

/// Mentions in one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct InFile {
    pub(super) hash: u64,
    /// Line, column in bytes, and whether it is called there.
    pub(super) at: Vec<(u32, u32, bool)>,
}

/// Most of the file that is read.
const MAX_FILE: u64 = 64 << 20;

impl State {
    /// Reads what is kept. Lines that are not what was written are left out.
    pub(super) fn read(path: &Path) -> State {
        let mut state = State::default();
        let mut lines = 0;
        if let Ok(file) = std::fs::File::open(path) {
            let mut file = std::io::BufReader::new(file).take(MAX_FILE);
            let mut line = Vec::new();
            while file.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                lines += 1;
                if let Some(answer) = Answer::read(&line) {
                    state.keep(answer);
                }
                line.clear();
            }
        }
        if lines > 2 * state.answers.len() + 1000 {
            // Most of it was said anew since; where it cannot be written, it stays as it is.
            let _ = state.write_anew(path);
        }
        state
    }

    /// Writes what is known beside the file and puts it in its place.
    fn write_anew(&self, path: &Path) -> std::io::Result<()> {
        let beside = path.with_extension("jsonl.new");
        // What another run left half written; a new file is nobody's link.
        let _ = std::fs::remove_file(&beside);
        let mut file = std::io::BufWriter::new(std::fs::File::create_new(&beside)?);
        for answer in self.answers.values() {
            file.write_all(answer.line()?.as_bytes())?;
        }
        file.into_inner()?.sync_all()?;
        std::fs::rename(&beside, path)
    }

    /// Keeps an answer, joined with what is known of the same definition. Says whether anything is new.
    pub(super) fn keep(&mut self, mut answer: Answer) -> bool {
        let spot = answer.of.clone();
        if let Some(known) = self.answers.get(&spot)
            && known.hash == answer.hash
        {
            let same_tree = known.tree == answer.tree;
            answer.mentions = answer.mentions.or_else(|| known.mentions.clone().filter(|_| same_tree));
            answer.implementers = answer.implementers.or_else(|| known.implementers.clone());
            if *known == answer {
                return false;
            }
        }
        for path in answer.mentions.iter().flat_map(|files| files.keys()) {
            self.mentioned_by.entry(path.clone()).or_default().insert(spot.clone());
        }
        for (implementer, _) in answer.implementers.iter().flatten() {
            self.implemented_by
                .entry(implementer.clone())
                .or_default()
                .insert(spot.clone());
        }
        self.answers.insert(spot, answer);
        true
    }

    /// What was said about a definition, if its file is still the same.
    pub(super) fn answer(&self, snapshot: &Snapshot, spot: &Spot) -> Option<&Answer> {
        let answer = self.answers.get(spot)?;
        (short(snapshot.find_file(&spot.path)?) == answer.hash).then_some(answer)
    }
}

/// Digits of the checksum that a line starts with.
const SUM: usize = 16;

impl Answer {
    /// It as a line of the file, behind a checksum: a number that a failing disk changed would be a place like any other.
    pub(super) fn line(&self) -> serde_json::Result<String> {
        let json = serde_json::to_string(self)?;
        Ok(format!("{} {json}\n", sum(json.as_bytes())))
    }

    /// The answer of such a line; `None` where it is not what was written.
    fn read(line: &[u8]) -> Option<Answer> {
        let line = line.strip_suffix(b"\n")?;
        let (told, rest) = line.split_at_checked(SUM)?;
        let json = rest.strip_prefix(b" ")?;
        (sum(json).as_bytes() == told).then(|| serde_json::from_slice(json).ok())?
    }

    /// About the definition at a place, with nothing said yet.
    pub(super) fn begin(snapshot: &Snapshot, path: &str, place: Place) -> Option<Answer> {
        let file = snapshot.find_file(path)?;
        Some(Answer {
            of: Spot {
                path: path.to_string(),
                line: place.line,
                column: place.column,
            },
            hash: short(file),
            tree: tree(snapshot),
            mentions: None,
            implementers: None,
        })
    }

    /// Whether this place of a file is one of the mentions, and the file is still the same.
    pub(super) fn says(&self, file: FileView<'_>, at: Position) -> bool {
        let in_file = self.mentions.as_ref().and_then(|files| files.get(file.path()));
        in_file.is_some_and(|in_file| {
            in_file.hash == short(file)
                && in_file
                    .at
                    .iter()
                    .any(|&(line, column, _)| (line, column) == (at.line, at.column))
        })
    }
}

/// The symbol whose name stands at a place.
pub(super) fn definition_at(snapshot: &Snapshot, spot: &Spot) -> Option<SymbolId> {
    let at = Position {
        line: spot.line,
        column: spot.column,
    };
    let mut symbols = snapshot.find_file(&spot.path)?.symbols().skip(1);
    symbols.find(|symbol| symbol.name_at() == at).map(|symbol| symbol.id())
}

/// Where a symbol's name stands.
pub(super) fn spot_of(symbol: SymbolView<'_>) -> Spot {
    let at = symbol.name_at();
    Spot {
        path: symbol.path().to_string(),
        line: at.line,
        column: at.column,
    }
}

/// A file's content.
pub(super) fn short(file: FileView<'_>) -> u64 {
    first_bytes(file.hash())
}

/// The content of the whole tree.
pub(super) fn tree(snapshot: &Snapshot) -> u64 {
    first_bytes(snapshot.tree_digest())
}

fn first_bytes(hash: &[u8; 32]) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(bytes)
}

fn sum(json: &[u8]) -> String {
    blake3::hash(json).to_hex()[..SUM].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_changed_is_no_answer() {
        let answer = Answer {
            of: Spot {
                path: "a.py".to_owned(),
                line: 3,
                column: 4,
            },
            hash: 5,
            tree: 6,
            mentions: Some(
                [(
                    "b.py".to_owned(),
                    InFile {
                        hash: 7,
                        at: vec![(8, 9, true)],
                    },
                )]
                .into(),
            ),
            implementers: None,
        };
        let line = answer.line().unwrap().into_bytes();
        assert_eq!(Answer::read(&line), Some(answer));
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut damaged = line.clone();
                damaged[at] ^= 1 << bit;
                assert_eq!(Answer::read(&damaged), None, "byte {at}, bit {bit}");
            }
        }
    }
}
