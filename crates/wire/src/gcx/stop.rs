//! Why the writer stopped: a real error, or the discovery that the value needs another shape.

use std::fmt;

use super::error::{Error, ErrorKind};

/// The serde error of every serializer in this module. Cheap to make, because a probe raises one per row.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A probe has seen enough: the value is an object.
    Object,
    /// These rows cannot be columns (an odd key, `null` beside absent, a sparse union): write each row as JSON.
    NotColumns,
    /// The value cannot be written at all.
    Error(Box<Error>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(Box::new(error))
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Error(error) => *error,
            // Both are answered inside the writer; reaching a caller would be a bug, which an error reports best.
            Stop::Object | Stop::NotColumns => Self::value(
                ErrorKind::Value,
                "a value that changed while it was written",
                "one that stays the same",
                "",
            ),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            other => write!(f, "{other:?}"),
        }
    }
}

impl std::error::Error for Stop {}

impl serde::ser::Error for Stop {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error::value(ErrorKind::Value, message.to_string(), "a value that serializes", "").into()
    }
}
