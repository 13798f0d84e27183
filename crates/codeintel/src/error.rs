//! Why a question has no answer, in words an agent can act on: what was asked, what is wrong with it, what to try instead.

use serde::Serialize;

/// A question that cannot be answered as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum QuestionError {
    /// There is no such symbol.
    #[error("no symbol `{asked}`{}", nearest_or_search(nearest))]
    NoSuchSymbol {
        /// As it was asked.
        asked: String,
        /// Ids of symbols with similar names, nearest first. They are suggestions, never answers.
        nearest: Vec<String>,
    },
    /// It is defined in a package that is not indexed.
    #[error("`{asked}` is defined outside of what is indexed ({}): `search_text` finds its mentions", external.join(", "))]
    Outside {
        /// As it was asked.
        asked: String,
        /// The names it goes by.
        external: Vec<String>,
    },
    /// Several symbols fit.
    #[error("`{asked}` names {total} symbols: ask for one by id{}", list(" — ", &candidates.iter().map(|candidate| candidate.id.clone()).collect::<Vec<_>>()))]
    Ambiguous {
        /// As it was asked.
        asked: String,
        /// The symbols that fit, at most [`MAX_CANDIDATES`].
        candidates: Vec<Candidate>,
        /// How many fit in all.
        total: usize,
    },
    /// There is no such file in the index.
    #[error("no file `{path}` in the index{}{}", hint(why), list(" — nearest: ", nearest))]
    NoSuchFile {
        /// As it was asked.
        path: String,
        /// Why it is not there, when known (skipped as binary, too large, …).
        why: Option<String>,
        /// Similar paths.
        nearest: Vec<String>,
    },
    /// The file changed since it was indexed, so its lines cannot be trusted.
    #[error("`{path}` changed since it was indexed: run `lacon index`, or wait for the watcher, and ask again")]
    Stale {
        /// The file.
        path: String,
    },
    /// An argument makes no sense.
    #[error("argument `{name}`: {problem}")]
    Argument {
        /// Which.
        name: &'static str,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A request about repositories breaks the rule of the tool's scope.
    #[error("{message}")]
    Scope {
        /// One of the five codes of the wire protocol.
        code: &'static str,
        /// What is wrong and what would be right.
        message: String,
        /// The names in question.
        detail: String,
    },
}

/// A symbol that an ambiguous name may mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: &'static str,
    /// Its first line.
    pub line: u32,
}

/// Most candidates that are listed.
pub const MAX_CANDIDATES: usize = 10;

impl QuestionError {
    /// A short name of the kind of error, stable for programs.
    pub fn code(&self) -> &'static str {
        match self {
            QuestionError::NoSuchSymbol { .. } | QuestionError::Outside { .. } => "no_such_symbol",
            QuestionError::Ambiguous { .. } => "ambiguous_symbol",
            QuestionError::NoSuchFile { .. } => "no_such_file",
            QuestionError::Stale { .. } => "stale_file",
            QuestionError::Argument { .. } => "invalid_argument",
            QuestionError::Scope { code, .. } => code,
        }
    }
}

fn list(lead: &str, items: &[String]) -> String {
    match items {
        [] => String::new(),
        items => format!("{lead}{}", items.join(", ")),
    }
}

/// Where there is nothing to suggest, how to look for it is said.
fn nearest_or_search(nearest: &[String]) -> String {
    match nearest {
        [] => ": `find` takes parts of names and words about what the code does".to_string(),
        nearest => list(" — nearest: ", nearest),
    }
}

fn hint(why: &Option<String>) -> String {
    why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default()
}
