//! The ends of a trace: the functions that a name, a place, a route or some words mean. What was taken for what is a note that comes first.

use syntax::facts::Kind;

use crate::contracts;
use crate::descriptors::words;
use crate::error::QuestionError;
use crate::naming;
use crate::traverse::{self, Direction};
use crate::workspace::{SymbolKey, Workspace};
use index::model::EdgeKind;

/// Which end is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Start,
    End,
}

/// Functions that an end may mean, likeliest first, with what it costs to take them for it.
#[derive(Clone, Debug, Default)]
pub(super) struct End {
    pub(super) keys: Vec<(SymbolKey, u32)>,
    /// The symbol that was meant, where that is none that runs: a field, a type.
    pub(super) about: Option<SymbolKey>,
    /// As it was asked.
    pub(super) asked: String,
}

/// Hits of a search that words may mean.
const MOST_HITS: usize = 5;
/// Functions of one name that an end may mean, and what it costs to take one that is not the likeliest.
const MOST_NAMESAKES: usize = 40;
const OF_NAMESAKE: u32 = 2;
/// Functions that use a value or belong to a type.
const MOST_MEMBERS: usize = 200;

/// What `asked` means.
pub(super) fn resolve(
    workspace: &Workspace,
    asked: &str,
    side: Side,
    notes: &mut Vec<String>,
) -> Result<End, QuestionError> {
    if let Some(end) = route(workspace, asked, notes) {
        return Ok(end);
    }
    let is_words = asked.contains(char::is_whitespace) && !asked.contains(['(', '<']);
    if !is_words {
        match naming::best(workspace, asked) {
            Ok(meant) => {
                if !meant.others.is_empty() {
                    let id = workspace
                        .symbol(meant.key)
                        .map_or_else(String::new, |symbol| workspace.id(meant.key.repository, symbol));
                    notes.push(format!(
                        "`{asked}` was taken for {id}; also named so: {}",
                        meant.others.join(", ")
                    ));
                }
                return Ok(of_symbol(workspace, asked, meant.key, side, notes));
            }
            Err(error @ (QuestionError::Argument { .. } | QuestionError::Stale { .. })) => return Err(error),
            Err(error) => {
                if let Some(key) = naming::only_of_last_part(workspace, asked)
                    && let Some(symbol) = workspace.symbol(key)
                {
                    let id = workspace.id(key.repository, symbol);
                    notes.push(format!("no `{asked}`: taken for {id}, the only `{}`", symbol.name()));
                    return Ok(of_symbol(workspace, asked, key, side, notes));
                }
                // A single word that is no name may still be one of a flow; a path or a dotted name is not.
                if asked.contains(['.', ':', '/', '#', '\\']) {
                    return Err(error);
                }
                return of_words(workspace, asked, notes).ok_or(error);
            }
        }
    }
    of_words(workspace, asked, notes).ok_or_else(|| QuestionError::NoSuchSymbol {
        asked: asked.to_owned(),
        nearest: Vec::new(),
    })
}

/// The same for one of two ends: what has a name in common is told apart by what leads from one end to the other.
pub(super) fn resolve_one_of_two(
    workspace: &Workspace,
    asked: &str,
    side: Side,
    notes: &mut Vec<String>,
) -> Result<End, QuestionError> {
    let named: Vec<SymbolKey> = naming::by_likelihood(workspace, asked)
        .unwrap_or_default()
        .into_iter()
        .filter(|key| {
            let symbol = workspace.symbol(*key);
            symbol.is_some_and(|symbol| super::hops::runs(symbol) && !symbol.is_file() && !traverse::is_test(symbol))
        })
        .take(MOST_NAMESAKES)
        .collect();
    if named.len() < 2 {
        return resolve(workspace, asked, side, notes);
    }
    notes.push(format!(
        "`{asked}` names {} functions: taken is the one that is nearest to the other end",
        named.len()
    ));
    let cost = |at: usize| if at == 0 { 0 } else { OF_NAMESAKE };
    Ok(End {
        keys: named.into_iter().enumerate().map(|(at, key)| (key, cost(at))).collect(),
        about: None,
        asked: asked.to_owned(),
    })
}

/// The functions that a symbol stands for.
fn of_symbol(workspace: &Workspace, asked: &str, key: SymbolKey, side: Side, notes: &mut Vec<String>) -> End {
    let mut end = End {
        asked: asked.to_owned(),
        ..End::default()
    };
    let Some(symbol) = workspace.symbol(key) else {
        return end;
    };
    if super::hops::runs(symbol) && !symbol.is_file() {
        end.keys.push((key, 0));
        return end;
    }
    end.about = Some(key);
    let Some(repository) = workspace.repository(key.repository) else {
        return end;
    };
    let of = |symbol| SymbolKey {
        repository: key.repository,
        symbol,
    };
    if symbol.is_file() || words::is_type(symbol.kind()) || symbol.kind() == Kind::Module {
        end.keys.push((key, 0));
        let file = symbol.file();
        let members = file.into_iter().flat_map(|file| file.symbols());
        let members = members.filter(|member| member.parent().is_some_and(|parent| parent.id() == key.symbol));
        let functions = members.filter(|member| words::is_function(member.kind()) && !traverse::is_test(*member));
        end.keys.extend(functions.take(MOST_MEMBERS).map(|member| {
            let cost = if member.kind() == Kind::Constructor { 1 } else { 6 };
            (of(member.id()), cost)
        }));
        return end;
    }
    // A field, a variable, a constant: whoever writes it, or uses it.
    let users = |kind: EdgeKind| {
        let mut users: Vec<SymbolKey> = repository
            .edges(key.symbol, Direction::Incoming, kind)
            .map(|edge| of(edge.from))
            .filter(|user| workspace.symbol(*user).is_some_and(|user| !traverse::is_test(user)))
            .collect();
        users.sort_unstable();
        users.dedup();
        users.truncate(MOST_MEMBERS);
        users
    };
    let (first, second) = match side {
        Side::End => (EdgeKind::Writes, [EdgeKind::References, EdgeKind::Reads]),
        Side::Start => (EdgeKind::Reads, [EdgeKind::References, EdgeKind::Writes]),
    };
    let (mut found, mut word) = (users(first), if side == Side::End { "write" } else { "read" });
    if found.is_empty() {
        word = "mention";
        found = second.into_iter().flat_map(users).collect();
    }
    // A variable that holds a function is called itself.
    if found.is_empty()
        || repository
            .edges(key.symbol, Direction::Incoming, EdgeKind::Calls)
            .next()
            .is_some()
    {
        end.keys.push((key, 0));
    }
    if !found.is_empty() {
        notes.push(format!(
            "`{asked}` is a value: the {} functions that {word} it",
            found.len()
        ));
    }
    end.keys.extend(found.into_iter().map(|user| (user, 0)));
    end
}

/// The functions that words mean, by search.
fn of_words(workspace: &Workspace, asked: &str, notes: &mut Vec<String>) -> Option<End> {
    let mut hits: Vec<(f32, SymbolKey)> = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let found = repository.search(asked, 40);
        hits.extend(found.into_iter().map(|(symbol, score, _)| {
            let key = SymbolKey {
                repository: number,
                symbol,
            };
            (score, key)
        }));
    }
    hits.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    let is_code = |key: &SymbolKey| {
        workspace
            .symbol(*key)
            .is_some_and(|symbol| words::is_function(symbol.kind()) && !symbol.is_file() && !traverse::is_test(symbol))
    };
    let kept: Vec<SymbolKey> = hits
        .into_iter()
        .map(|(_, key)| key)
        .filter(is_code)
        .take(MOST_HITS)
        .collect();
    let id = |key: &SymbolKey| {
        let symbol = workspace.symbol(*key)?;
        Some(format!(
            "{}:{} {}",
            workspace.path(key.repository, symbol.path()),
            symbol.name_at().line,
            symbol.qualified_name()
        ))
    };
    let named: Vec<String> = kept.iter().filter_map(id).collect();
    let (first, others) = named.split_first()?;
    notes.push(match others {
        [] => format!("\"{asked}\" was taken for {first}"),
        others => format!("\"{asked}\" was taken for {first}; else {}", others.join(", ")),
    });
    Some(End {
        keys: kept
            .into_iter()
            .enumerate()
            .map(|(rank, key)| (key, rank as u32 * 6))
            .collect(),
        about: None,
        asked: asked.to_owned(),
    })
}

/// The functions that answer a route: `GET /users/:id`, `/users`.
fn route(workspace: &Workspace, asked: &str, notes: &mut Vec<String>) -> Option<End> {
    let (method, path) = match asked.split_once(char::is_whitespace) {
        Some((method, path)) => (Some(method), path.trim()),
        None => (None, asked),
    };
    let is_method = |word: &str| {
        matches!(
            word.to_ascii_uppercase().as_str(),
            "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" | "ANY"
        )
    };
    if !path.starts_with('/') || path.contains(char::is_whitespace) || method.is_some_and(|method| !is_method(method)) {
        return None;
    }
    if method.is_none() && naming::find_file(workspace, path.split(':').next().unwrap_or(path)).is_ok() {
        return None;
    }
    let handlers = contracts::handlers(workspace, method, path);
    if handlers.is_empty() {
        return None;
    }
    if handlers.len() > 1 {
        notes.push(format!("{} routes are spelled `{asked}`", handlers.len()));
    }
    Some(End {
        keys: handlers.into_iter().map(|key| (key, 0)).collect(),
        about: None,
        asked: asked.to_owned(),
    })
}
