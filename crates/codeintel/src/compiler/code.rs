//! `hover`, `get_signature_help`, `get_completions`, `semantic_tokens` and `suggest_fixes`: what the compiler says about one place.

use index::model::Origin;
use index::snapshot::EdgeKinds;
use lsp::{Place, Range};
use serde::Serialize;

use super::pages::Pages;
use super::place::{self, Spot, located};
use super::{Compilers, Standing, Writer, absolute, shown};
use crate::error::QuestionError;
use crate::kinds;
use crate::naming;
use crate::workspace::Workspace;

located! {
    /// What `hover` is asked.
    Hover {}
}

located! {
    /// What `get_signature_help` is asked.
    SignatureHelp {}
}

located! {
    /// What `get_completions` is asked.
    GetCompletions {
        /// Completions per page (default 30).
        limit: Option<u32>,
        /// next_cursor of the page before.
        cursor: Option<String>,
    }
}

located! {
    /// What `semantic_tokens` is asked. Without a line, all of the file.
    SemanticTokens {
        /// Last line, if from line on.
        end_line: Option<u32>,
        /// Rows per page, one per line of the file (default 200).
        limit: Option<u32>,
        /// next_cursor of the page before.
        cursor: Option<String>,
    }
}

located! {
    /// What `suggest_fixes` is asked.
    SuggestFixes {
        /// Last line of the range, if it is more than a place.
        end_line: Option<u32>,
        /// Fixes at most (default 20).
        limit: Option<u32>,
    }
}

/// What something is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hovered {
    /// What was understood: path, line and column.
    pub of: String,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Markdown; empty where there is nothing to say.
    pub text: String,
}

/// What something is: signature and documentation.
pub fn hover(workspace: &Workspace, compilers: Compilers<'_>, ask: &Hover) -> Result<Hovered, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let (text, standing) = described(workspace, compilers, &spot, ask.patience()?);
    Ok(Hovered {
        of: spot.shown(workspace),
        standing,
        text,
    })
}

/// Signature and documentation, from the best tier at hand.
pub(crate) fn described(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    spot: &Spot,
    wait: super::Wait,
) -> (String, Standing) {
    let repository = &workspace.repositories()[spot.repository];
    let path = absolute(repository, &spot.path);
    let answered = compilers
        .for_file(repository, &spot.path, &spot.language, wait)
        .and_then(|compiler| {
            let text = compiler
                .server
                .hover(&path, spot.place, compiler.deadline)
                .map_err(|error| error.to_string())?;
            let mut standing = Standing::compiler(&compiler, workspace);
            standing.complete = true;
            match text {
                Some(text) => Ok((text, standing)),
                None => Err(format!("{} says nothing of this place", compiler.server.name())),
            }
        });
    answered.unwrap_or_else(|why| {
        let told = spot
            .symbols
            .iter()
            .filter_map(|key| workspace.symbol(*key))
            .map(|symbol| {
                let parts = [symbol.signature(), symbol.doc()];
                let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                parts.join("\n")
            });
        let text: Vec<String> = told.collect();
        (text.join("\n\n"), Standing::graph(workspace, why))
    })
}

/// How something is called.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Signatures {
    /// What was understood: path, line and column.
    pub of: String,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// The ways to call it.
    pub signatures: Vec<SignatureRow>,
}

/// One way to call it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SignatureRow {
    /// As written.
    pub label: String,
    /// The parameter at the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// What it does.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doc: String,
}

/// How what is called at a place is called.
pub fn get_signature_help(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &SignatureHelp,
) -> Result<Signatures, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let repository = &workspace.repositories()[spot.repository];
    let path = absolute(repository, &spot.path);
    // A name was pointed at, and its arguments are meant: behind the parenthesis that follows it.
    let inside = after_parenthesis(&spot);
    let answered = compilers
        .for_file(repository, &spot.path, &spot.language, ask.patience()?)
        .and_then(|compiler| {
            let found = compiler
                .server
                .signatures(&path, inside, compiler.deadline)
                .map_err(|error| error.to_string())?;
            let mut standing = Standing::compiler(&compiler, workspace);
            standing.complete = true;
            match found.is_empty() {
                true => Err(format!("{} sees no call at this place", compiler.server.name())),
                false => Ok((found, standing)),
            }
        });
    let (signatures, standing) = match answered {
        Ok((found, standing)) => {
            let rows = found.into_iter().map(|signature| SignatureRow {
                parameter: signature
                    .active
                    .and_then(|number| signature.parameters.get(number).cloned()),
                label: signature.label,
                doc: signature.documentation,
            });
            (rows.collect(), standing)
        }
        Err(why) => {
            let symbols = spot.symbols.iter().filter_map(|key| workspace.symbol(*key));
            let rows = symbols.map(|symbol| SignatureRow {
                label: symbol.signature().to_string(),
                parameter: None,
                doc: symbol.doc().to_string(),
            });
            (rows.collect(), Standing::graph(workspace, why))
        }
    };
    Ok(Signatures {
        of: spot.shown(workspace),
        standing,
        signatures,
    })
}

fn after_parenthesis(spot: &Spot) -> Place {
    let line = spot.text.line(spot.place.line);
    let mut column = (spot.place.column as usize).min(line.len());
    while !line.is_char_boundary(column) {
        column -= 1;
    }
    let rest = &line[column..];
    let name = rest
        .find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .unwrap_or(rest.len());
    match rest[name..].starts_with('(') {
        true => Place {
            column: (column + name + 1) as u32,
            ..spot.place
        },
        false => spot.place,
    }
}

/// What could be written at a place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Completions {
    /// What was understood: path, line and column.
    pub of: String,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Completions in all.
    pub total: u64,
    /// Whether completions were left out.
    pub truncated: bool,
    /// For the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Best first.
    pub completions: Vec<CompletionRow>,
}

/// One completion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompletionRow {
    /// What is written.
    pub label: String,
    /// function, method, field, keyword, …
    pub kind: &'static str,
    /// Its type or origin.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What could be written at a place.
pub fn get_completions(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &GetCompletions,
) -> Result<Completions, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 30)?;
    let repository = &workspace.repositories()[spot.repository];
    let path = absolute(repository, &spot.path);
    let answered = compilers
        .for_file(repository, &spot.path, &spot.language, ask.patience()?)
        .and_then(|compiler| {
            let found = compiler.server.completions(&path, spot.place, compiler.deadline);
            let (found, more) = found.map_err(|error| error.to_string())?;
            let mut standing = Standing::compiler(&compiler, workspace);
            standing.complete = !more;
            Ok((found, standing))
        });
    let (completions, standing): (Vec<CompletionRow>, Standing) = match answered {
        Ok((found, standing)) => {
            let rows = found.into_iter().map(|completion| CompletionRow {
                kind: completion.word(),
                detail: completion.detail,
                label: completion.label,
            });
            (rows.collect(), standing)
        }
        Err(why) => {
            // Without types only names can be offered: those that the file declares and begin as what is written.
            let line = spot.text.line(spot.place.line);
            let written = line.get(..spot.place.column as usize).unwrap_or_default();
            let begun = written
                .rsplit(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
                .next();
            let begun = begun.unwrap_or_default();
            let file = repository.snapshot.find_file(&spot.path);
            let declared = file
                .into_iter()
                .flat_map(|file| file.symbols().skip(1).collect::<Vec<_>>());
            let mut rows: Vec<CompletionRow> = declared
                .filter(|symbol| symbol.name().starts_with(begun))
                .map(|symbol| CompletionRow {
                    label: symbol.name().to_string(),
                    kind: kinds::kind(symbol),
                    detail: symbol.signature().to_string(),
                })
                .collect();
            rows.sort_by(|a, b| a.label.cmp(&b.label));
            rows.dedup_by(|a, b| a.label == b.label);
            let why = format!("{why}; only names that this file declares");
            (rows, Standing::graph(workspace, why))
        }
    };
    let cut = pages.cut(&standing, completions)?;
    Ok(Completions {
        of: spot.shown(workspace),
        standing,
        total: cut.total,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        completions: cut.rows,
    })
}

/// What each word of a file is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tokens {
    /// The file.
    pub path: String,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Words in all.
    pub total: u64,
    /// Whether words were left out.
    pub truncated: bool,
    /// For the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// One row per line of the file.
    pub tokens: Vec<TokenRow>,
}

/// The words of one line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TokenRow {
    /// 1-based.
    pub line: u32,
    /// `column word kind` of each, with its modifiers after dots.
    pub words: Vec<String>,
}

/// What each word of a file is.
pub fn semantic_tokens(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &SemanticTokens,
) -> Result<Tokens, QuestionError> {
    let (repository, path) = match (&ask.path, &ask.symbol) {
        (Some(path), _) => {
            let (repository, file) = naming::find_file(workspace, path)?;
            (repository, file.path().to_string())
        }
        _ => {
            let spot = place::find(workspace, ask.pointer())?;
            (spot.repository, spot.path)
        }
    };
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 200)?;
    let first = ask.line.unwrap_or(1);
    let last = ask
        .end_line
        .unwrap_or(if ask.line.is_some() { first } else { u32::MAX });
    let of = &workspace.repositories()[repository];
    let absolute = absolute(of, &path);
    let Some(file) = of.snapshot.find_file(&path) else {
        return Err(QuestionError::Stale { path });
    };
    let text = lsp::Texts::default().of(&absolute);
    let answered = compilers
        .for_file(of, &path, file.language(), ask.patience()?)
        .and_then(|compiler| {
            let found = compiler
                .server
                .tokens(&absolute, compiler.deadline)
                .map_err(|error| error.to_string())?;
            let mut standing = Standing::compiler(&compiler, workspace);
            standing.complete = true;
            let words = found.into_iter().map(|token| {
                let line = text.line(token.start.line);
                let end = (token.start.column + token.length) as usize;
                let word = line
                    .get(token.start.column as usize..end)
                    .unwrap_or_default()
                    .to_string();
                let mut kind = token.kind;
                for modifier in token.modifiers {
                    kind = format!("{kind}.{modifier}");
                }
                (token.start, word, kind)
            });
            Ok((words.collect::<Vec<_>>(), standing))
        });
    let (words, standing) = match answered {
        Ok(answered) => answered,
        Err(why) => {
            let mut words = Vec::new();
            for symbol in file.symbols().skip(1) {
                let at = symbol.name_at();
                let place = Place {
                    line: at.line,
                    column: at.column,
                };
                words.push((
                    place,
                    symbol.name().to_string(),
                    format!("{}.definition", kinds::kind(symbol)),
                ));
            }
            let edges = of.snapshot.edges_of_file(file.id(), EdgeKinds::ALL);
            for edge in edges.filter(|edge| edge.origin <= Origin::AstInferred) {
                let Some(target) = edge.to.symbol().and_then(|symbol| of.snapshot.symbol(symbol)) else {
                    continue;
                };
                let place = Place {
                    line: edge.at.line,
                    column: edge.at.column,
                };
                if text
                    .line(place.line)
                    .get(place.column as usize..)
                    .is_some_and(|rest| rest.starts_with(target.name()))
                {
                    words.push((place, target.name().to_string(), kinds::kind(target).to_string()));
                }
            }
            words.sort();
            words.dedup_by(|a, b| a.0 == b.0);
            let why = format!("{why}; only names that the graph knows");
            (words, Standing::graph(workspace, why))
        }
    };
    let mut rows: Vec<TokenRow> = Vec::new();
    let mut total = 0;
    for (place, word, kind) in words
        .into_iter()
        .filter(|(place, ..)| (first..=last).contains(&place.line))
    {
        total += 1;
        let words = format!("{} {word} {kind}", text.character(place));
        match rows.last_mut() {
            Some(row) if row.line == place.line => row.words.push(words),
            _ => rows.push(TokenRow {
                line: place.line,
                words: vec![words],
            }),
        }
    }
    let cut = pages.cut(&standing, rows)?;
    Ok(Tokens {
        path: workspace.path(repository, &path),
        standing,
        total,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        tokens: cut.rows,
    })
}

/// What the compiler would change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fixes {
    /// What was understood: path, line and column.
    pub of: String,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Fixes in all.
    pub total: u64,
    /// Whether fixes were left out.
    pub truncated: bool,
    /// The preferred first.
    pub fixes: Vec<Fix>,
}

/// One fix.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fix {
    /// What it does.
    pub title: String,
    /// quickfix, refactor.extract, …
    pub kind: String,
    /// The server's choice.
    pub preferred: bool,
    /// What it would fix.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
    /// `path:start-end` of what it replaces, and by what.
    pub edits: Vec<String>,
}

/// Fixes and refactorings at a place, with what each would change.
pub fn suggest_fixes(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &SuggestFixes,
) -> Result<Fixes, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let limit = ask.limit.unwrap_or(20).max(1) as usize;
    let repository = &workspace.repositories()[spot.repository];
    let path = absolute(repository, &spot.path);
    // A line alone means all of it.
    let whole_line = ask.column.is_none() && ask.snippet.is_none() && ask.symbol.is_none();
    let last = ask.end_line.unwrap_or(spot.place.line);
    let end = Place {
        line: last,
        column: spot.text.line(last).len() as u32,
    };
    let range = match whole_line || ask.end_line.is_some() {
        true => Range {
            start: Place {
                column: 0,
                ..spot.place
            },
            end,
        },
        false => Range {
            start: spot.place,
            end: spot.place,
        },
    };
    let answered = compilers
        .for_file(repository, &spot.path, &spot.language, ask.patience()?)
        .and_then(|compiler| {
            let server = &compiler.server;
            let findings = server
                .findings_in(&path, range, compiler.deadline)
                .map_err(|error| error.to_string())?;
            let actions = server.code_actions(&path, range, &findings, compiler.deadline);
            let mut actions = actions.map_err(|error| error.to_string())?;
            actions.sort_by_key(|action| (!action.preferred, action.fixes.is_empty()));
            let total = actions.len();
            let mut writer = Writer::of(workspace, server);
            let mut fixes = Vec::new();
            for action in actions.into_iter().take(limit) {
                // An action without an edit runs a command at the server; it is listed, and changes nothing here.
                let edit = server.resolve(&action, compiler.deadline).unwrap_or_default();
                let mut edits = Vec::new();
                for step in server.read_steps(&edit) {
                    let lsp::Step::Edit { path, edits: replaced } = step else {
                        edits.push(format!("{step:?}"));
                        continue;
                    };
                    for (range, text) in replaced {
                        let (start, end) = (writer.place(&path, range.start), writer.place(&path, range.end));
                        edits.push(format!("{}:{start}-{end} {text:?}", shown(workspace, &path).0));
                    }
                }
                fixes.push(Fix {
                    title: action.title,
                    kind: action.kind,
                    preferred: action.preferred,
                    of: action.fixes,
                    edits,
                });
            }
            let mut standing = Standing::compiler(&compiler, workspace);
            standing.complete = true;
            Ok((fixes, total, standing))
        });
    let (fixes, total, standing) = answered.unwrap_or_else(|why| {
        let why = format!("{why}; fixes need a compiler");
        (Vec::new(), 0, Standing::graph(workspace, why))
    });
    Ok(Fixes {
        of: spot.shown(workspace),
        standing,
        total: total as u64,
        truncated: total > limit,
        fixes,
    })
}
