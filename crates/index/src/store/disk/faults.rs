//! Lets the n-th call of the store in a directory fail, be interrupted, write less than it was given, or end the process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::Call;

/// What happens at a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The error that the system would give.
    Error(io::ErrorKind),
    /// Half of what was to be written is.
    Short,
    /// As if the process were killed.
    Abort,
}

/// Armed until it is dropped. Tests run side by side in one process, so only calls below `directory` count.
pub(crate) struct Armed {
    directory: PathBuf,
}

struct State {
    directory: PathBuf,
    /// Calls so far, and the one at which `fault` happens.
    calls: usize,
    at: usize,
    fault: Fault,
    happened: Option<Call>,
}

static STATES: Mutex<Vec<State>> = Mutex::new(Vec::new());

impl Armed {
    /// From now on the call number `at`, counted from 0, below `directory` fails. A number that is never reached only counts.
    pub(crate) fn new(directory: &Path, at: usize, fault: Fault) -> Armed {
        let directory = directory.to_path_buf();
        STATES.lock().unwrap().push(State {
            directory: directory.clone(),
            calls: 0,
            at,
            fault,
            happened: None,
        });
        Armed { directory }
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> usize {
        self.of(|state| state.calls)
    }

    /// The call that failed, if it has been reached.
    pub(crate) fn happened(&self) -> Option<Call> {
        self.of(|state| state.happened)
    }

    fn of<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        let states = STATES.lock().unwrap();
        read(states.iter().find(|state| state.directory == self.directory).unwrap())
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        STATES.lock().unwrap().retain(|state| state.directory != self.directory);
    }
}

/// How much may be written, where that is less than asked.
pub(super) fn step(call: Call, path: &Path) -> io::Result<Option<usize>> {
    let mut states = STATES.lock().unwrap();
    let Some(state) = states.iter_mut().find(|state| path.starts_with(&state.directory)) else {
        return Ok(None);
    };
    let number = state.calls;
    state.calls += 1;
    if number != state.at {
        return Ok(None);
    }
    state.happened = Some(call);
    match state.fault {
        Fault::Error(kind) => Err(kind.into()),
        Fault::Short => Ok(Some(7)),
        Fault::Abort => std::process::abort(),
    }
}
