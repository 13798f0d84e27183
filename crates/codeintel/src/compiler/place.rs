//! Where a question points: a symbol's name, a place, or a snippet of the text. Models miscount columns, so each of them is enough
//! alone, and answers say what was understood.

use index::snapshot::{EdgeKinds, FileView, SymbolView};
use lsp::{Encoding, Place, Text};
use syntax::facts::Position;

use crate::error::QuestionError;
use crate::naming;
use crate::workspace::{SymbolKey, Workspace, text_in};

/// Declares the parameters of a question that points somewhere: the ways to point and to wait, then its own.
macro_rules! located {
    ($(#[$about:meta])* $name:ident { $($(#[$field_about:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Symbol: id, name, Owner.name or path:line:column; with path and line, a name on that line.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub symbol: Option<String>,
            /// File, if not by symbol.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub path: Option<String>,
            /// 1-based.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub line: Option<u32>,
            /// 1-based, in characters.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub column: Option<u32>,
            /// Text in path instead of a position; @@ marks the place in it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub snippet: Option<String>,
            $($(#[$field_about])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $field: $type,)*
            /// lsp: wait until the language server is ready.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub wait: Option<String>,
            /// How long at most (default 180000).
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub max_wait_ms: Option<u64>,
        }

        impl $name {
            pub(crate) fn pointer(&self) -> $crate::compiler::place::Pointer<'_> {
                $crate::compiler::place::Pointer {
                    symbol: self.symbol.as_deref(),
                    path: self.path.as_deref(),
                    line: self.line,
                    column: self.column,
                    snippet: self.snippet.as_deref(),
                }
            }

            pub(crate) fn patience(&self) -> Result<$crate::compiler::Wait, $crate::error::QuestionError> {
                $crate::compiler::Wait::of(self.wait.as_deref(), self.max_wait_ms)
            }
        }
    };
}
pub(crate) use located;

/// The ways to point: a symbol alone, or a file with a line and column, a name on a line, or a snippet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pointer<'a> {
    /// Id, name, `Owner.name` or `path:line:column`.
    pub symbol: Option<&'a str>,
    /// The file.
    pub path: Option<&'a str>,
    /// 1-based.
    pub line: Option<u32>,
    /// 1-based, in characters.
    pub column: Option<u32>,
    /// Text of the file; `@@` marks the place in it.
    pub snippet: Option<&'a str>,
}

/// What was pointed at, for those who edit it.
#[derive(Clone, Debug)]
pub struct Pointed {
    /// Which repository of the workspace.
    pub repository: usize,
    /// The file, inside of the repository.
    pub path: String,
    /// Where, in its name.
    pub place: Place,
    /// The symbol that the graph takes it for; a local variable is none.
    pub symbol: Option<SymbolKey>,
    /// As it was asked for: the symbol's name, or `path:line:column`.
    pub shown: String,
}

/// Finds what is pointed at.
pub fn point(workspace: &Workspace, pointer: Pointer<'_>) -> Result<Pointed, QuestionError> {
    let spot = find(workspace, pointer)?;
    Ok(Pointed {
        repository: spot.repository,
        place: spot.place,
        symbol: spot.symbols.first().copied(),
        shown: match (pointer.path, pointer.symbol) {
            (None, Some(symbol)) => symbol.to_string(),
            _ => spot.shown(workspace),
        },
        path: spot.path,
    })
}

/// What was pointed at.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) repository: usize,
    /// Inside of the repository.
    pub(crate) path: String,
    pub(crate) language: String,
    pub(crate) place: Place,
    pub(crate) text: Text,
    /// The symbols that the graph takes it for: the one defined there, or those mentioned there.
    pub(crate) symbols: Vec<SymbolKey>,
}

impl Spot {
    /// `path:line:column`.
    pub(crate) fn shown(&self, workspace: &Workspace) -> String {
        let path = workspace.path(self.repository, &self.path);
        format!("{path}:{}:{}", self.place.line, self.text.character(self.place))
    }

    /// The one symbol that it is, for questions that only the graph can answer.
    pub(crate) fn symbol(&self, workspace: &Workspace) -> Result<SymbolKey, QuestionError> {
        match self.symbols.as_slice() {
            [] => Err(QuestionError::Argument {
                name: "line",
                problem: format!(
                    "the graph knows no symbol at {}: give `symbol` by name",
                    self.shown(workspace)
                ),
            }),
            [first, ..] => Ok(*first),
        }
    }

    /// Whether it is the name of a definition.
    pub(crate) fn is_definition(&self, workspace: &Workspace) -> bool {
        let symbol = self.symbols.first().and_then(|key| workspace.symbol(*key));
        symbol.is_some_and(|symbol| symbol.path() == self.path && symbol.name_at().line == self.place.line)
    }
}

/// Finds what is pointed at.
pub(crate) fn find(workspace: &Workspace, pointer: Pointer<'_>) -> Result<Spot, QuestionError> {
    match (pointer.path, pointer.symbol) {
        (Some(path), _) => in_file(workspace, path, pointer),
        (None, Some(symbol)) => by_symbol(workspace, symbol),
        (None, None) => Err(QuestionError::Argument {
            name: "symbol",
            problem: "give `symbol`, or `path` with `line` and `column` or with `snippet`".to_string(),
        }),
    }
}

/// The place of a symbol's own name.
pub(crate) fn of_symbol(workspace: &Workspace, key: SymbolKey) -> Option<Spot> {
    let symbol = workspace.symbol(key)?;
    let file = symbol.file()?;
    let text = read(workspace, key.repository, file)?;
    let at = symbol.name_at();
    Some(Spot {
        repository: key.repository,
        path: file.path().to_string(),
        language: file.language().to_string(),
        place: Place {
            line: at.line,
            column: at.column,
        },
        text,
        symbols: vec![key],
    })
}

fn by_symbol(workspace: &Workspace, asked: &str) -> Result<Spot, QuestionError> {
    if let Some((path, line, column)) = exact_place(asked)
        && naming::find_file(workspace, path).is_ok()
    {
        let pointer = Pointer {
            line: Some(line),
            column: Some(column),
            ..Pointer::default()
        };
        return in_file(workspace, path, pointer);
    }
    let key = naming::find(workspace, asked)?;
    of_symbol(workspace, key).ok_or_else(|| QuestionError::Stale {
        path: asked.to_string(),
    })
}

/// `path:line:column`, where a column is meant.
fn exact_place(asked: &str) -> Option<(&str, u32, u32)> {
    let (rest, column) = asked.trim().rsplit_once(':')?;
    let (path, line) = rest.rsplit_once(':')?;
    Some((path, line.parse().ok()?, column.parse().ok()?))
}

fn in_file(workspace: &Workspace, path: &str, pointer: Pointer<'_>) -> Result<Spot, QuestionError> {
    let (repository, file) = naming::find_file(workspace, path)?;
    let text = read(workspace, repository, file).ok_or_else(|| QuestionError::Stale { path: path.to_string() })?;
    if let Some(line) = pointer.line
        && (line == 0 || line > text.line_count())
    {
        return Err(QuestionError::Argument {
            name: "line",
            problem: format!("`{path}` has lines 1 to {}, not {line}", text.line_count()),
        });
    }
    let place = match (pointer.snippet, pointer.line, pointer.column, pointer.symbol) {
        (Some(snippet), line, ..) => in_text(&text, snippet, line)?,
        (None, Some(line), Some(column), _) => Place {
            line,
            column: Encoding::Utf32.to_bytes(text.line(line), column.max(1) - 1),
        },
        (None, Some(line), None, Some(symbol)) => on_line(&text, line, symbol)?,
        (None, Some(line), None, None) => first_on_line(workspace, repository, file, &text, line),
        (None, None, _, Some(symbol)) => {
            let id = format!("{}::{symbol}", workspace.path(repository, file.path()));
            return by_symbol(workspace, &id);
        }
        (None, None, _, None) => {
            return Err(QuestionError::Argument {
                name: "line",
                problem: "give `line` and `column`, `snippet` or `symbol` beside `path`".to_string(),
            });
        }
    };
    Ok(spot(workspace, repository, file, text, place))
}

/// The place that a snippet marks: where `@@` stands in it, else its first name.
fn in_text(text: &Text, snippet: &str, line: Option<u32>) -> Result<Place, QuestionError> {
    let wrong = |problem: String| QuestionError::Argument {
        name: "snippet",
        problem,
    };
    let (before, after) = snippet.split_once("@@").unwrap_or(("", snippet));
    let whole = format!("{before}{after}");
    if whole.trim().is_empty() {
        return Err(wrong("it is empty".to_string()));
    }
    let found: Vec<usize> = text
        .as_str()
        .match_indices(&whole)
        .map(|(at, _)| at)
        .filter(|&at| line.is_none_or(|line| text.place(at).line == line))
        .take(6)
        .collect();
    let at = match found.as_slice() {
        [] => return Err(wrong(format!("`{whole}` is not in the file{}", on(line)))),
        [at] => *at,
        several => {
            let lines: Vec<String> = several.iter().map(|&at| text.place(at).line.to_string()).collect();
            return Err(wrong(format!(
                "`{whole}` is on lines {}: give `line` too",
                lines.join(", ")
            )));
        }
    };
    let inner = match snippet.contains("@@") {
        true => before.len(),
        false => whole.find(is_name_start).unwrap_or(0),
    };
    Ok(text.place(at + inner))
}

fn on(line: Option<u32>) -> String {
    line.map(|line| format!(" on line {line}")).unwrap_or_default()
}

/// A name on a line, where it stands as a whole word.
fn on_line(text: &Text, line: u32, name: &str) -> Result<Place, QuestionError> {
    let name = name.rsplit(['.', ':', '#']).next().unwrap_or(name);
    let written = text.line(line);
    let found = written
        .match_indices(name)
        .map(|(at, _)| at)
        .find(|&at| is_whole(written, at, name));
    match found {
        Some(column) => Ok(Place {
            line,
            column: column as u32,
        }),
        None => Err(QuestionError::Argument {
            name: "symbol",
            problem: format!("`{name}` is not on line {line}, which reads `{}`", written.trim()),
        }),
    }
}

/// Whether a name that stands somewhere goes on neither before nor after it. `save!`, `<=>` and `empty?` are names too.
fn is_whole(written: &str, at: usize, name: &str) -> bool {
    let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let (before, after) = (&written[..at], &written[at + name.len()..]);
    let goes_on_before = is_part(name.chars().next()) && is_part(before.chars().next_back());
    let goes_on_after = is_part(name.chars().next_back()) && is_part(after.chars().next());
    !goes_on_before && !goes_on_after
}

/// The definition on a line, else the first mention that the graph knows, else the first name.
fn first_on_line(workspace: &Workspace, repository: usize, file: FileView<'_>, text: &Text, line: u32) -> Place {
    let defined = file
        .symbols()
        .skip(1)
        .map(|symbol| symbol.name_at())
        .find(|at| at.line == line);
    let snapshot = &workspace.repositories()[repository].snapshot;
    let mentioned = || {
        let edges = snapshot.edges_of_file(file.id(), EdgeKinds::ALL);
        edges.map(|edge| edge.at).filter(|at| at.line == line).min()
    };
    let written = || Position {
        line,
        column: text.line(line).find(is_name_start).unwrap_or(0) as u32,
    };
    let at = defined.or_else(mentioned).unwrap_or_else(written);
    Place {
        line: at.line,
        column: at.column,
    }
}

fn spot(workspace: &Workspace, repository: usize, file: FileView<'_>, text: Text, place: Place) -> Spot {
    let start = word_around(text.line(place.line), place.column as usize).0 as u32;
    let at = Position {
        line: place.line,
        column: start,
    };
    let key = |symbol| SymbolKey { repository, symbol };
    let defined = |symbol: &SymbolView<'_>| symbol.name_at() == at;
    let mut symbols: Vec<SymbolKey> = file
        .symbols()
        .skip(1)
        .filter(defined)
        .map(|symbol| key(symbol.id()))
        .collect();
    if symbols.is_empty() {
        let snapshot = &workspace.repositories()[repository].snapshot;
        let edges = snapshot
            .edges_of_file(file.id(), EdgeKinds::ALL)
            .filter(|edge| edge.at == at);
        let mut mentioned: Vec<(index::model::Origin, SymbolKey)> = edges
            .filter_map(|edge| Some((edge.origin, key(edge.to.symbol()?))))
            .collect();
        mentioned.sort();
        symbols = mentioned.into_iter().map(|(_, key)| key).collect();
        symbols.dedup();
    }
    Spot {
        repository,
        path: file.path().to_string(),
        language: file.language().to_string(),
        place,
        text,
        symbols,
    }
}

fn read(workspace: &Workspace, repository: usize, file: FileView<'_>) -> Option<Text> {
    let repository = workspace.repository(repository)?;
    text_in(&repository.root, file.path()).map(Text::new)
}

/// Start and end of the name that touches a column.
fn word_around(line: &str, column: usize) -> (usize, usize) {
    let mut column = column.min(line.len());
    while !line.is_char_boundary(column) {
        column -= 1;
    }
    let is_name = |character: char| character.is_alphanumeric() || character == '_' || character == '$';
    let before = line[..column]
        .char_indices()
        .rev()
        .take_while(|(_, character)| is_name(*character));
    let start = before.last().map_or(column, |(at, _)| at);
    let after = line[column..]
        .char_indices()
        .find(|(_, character)| !is_name(*character));
    (start, after.map_or(line.len(), |(at, _)| column + at))
}

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

#[cfg(test)]
mod tests {
    use lsp::{Place, Text};

    use super::{in_text, on_line, word_around};

    #[test]
    fn a_snippet_marks_a_place() {
        let text = Text::new("a.b(c)\nx.b(d)\n");
        assert_eq!(in_text(&text, "x.@@b(", None).unwrap(), Place { line: 2, column: 2 });
        assert_eq!(in_text(&text, "(d", None).unwrap(), Place { line: 2, column: 4 });
        assert!(
            in_text(&text, "b(", None)
                .unwrap_err()
                .to_string()
                .contains("lines 1, 2")
        );
        assert_eq!(in_text(&text, ".@@b(", Some(1)).unwrap(), Place { line: 1, column: 2 });
        assert!(in_text(&text, "nothing", None).is_err() && in_text(&text, "@@", None).is_err());
    }

    #[test]
    fn a_name_is_found_as_a_whole_word() {
        let text = Text::new("greeter.greet(é)\n");
        assert_eq!(on_line(&text, 1, "Greeter.greet").unwrap().column, 8);
        assert!(on_line(&text, 1, "gree").is_err());
        assert_eq!(word_around("aé_b c", 4), (0, 5));
    }
}
