//! What went wrong, what to do about it, and the exit code that says whose problem it is.

use std::fmt::Display;

/// Why a verb stopped. `?` on any error makes one with [`Exit::Failed`]; the methods of [`Explain`] say more.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub error: anyhow::Error,
    pub hints: Vec<String>,
}

/// Exit codes. `0` is success and `2` is a command line that does not parse (clap's own).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The world did not cooperate: a missing file, a full disk, a server that is down.
    Failed = 1,
    /// What ripgrep says of any error, for the verb that stands for it.
    Trouble = 2,
    /// The input was read and is not what it was said to be.
    BadInput = 3,
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self {
            exit: Exit::Failed,
            error: error.into(),
            hints: Vec::new(),
        }
    }
}

/// Adds to an error what only the caller knows.
pub trait Explain<T> {
    /// Adds a line `hint: …` that says what the user can do.
    fn hint(self, hint: impl Display) -> Result<T, Failure>;
    /// Marks the error as the input's fault ([`Exit::BadInput`]).
    fn bad_input(self) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> Explain<T> for Result<T, E> {
    fn hint(self, hint: impl Display) -> Result<T, Failure> {
        self.map_err(|error| {
            let mut failure = error.into();
            failure.hints.push(hint.to_string());
            failure
        })
    }

    fn bad_input(self) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            exit: Exit::BadInput,
            ..error.into()
        })
    }
}
