//! Whose turn it is: questions about files as they are share a server, a question about edited files has it alone. Waiting has a
//! deadline, so that nobody hangs behind another.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The turns of one server.
#[derive(Default)]
pub(crate) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    sharing: usize,
    alone: bool,
    /// How many wait to be alone; newcomers let them go first.
    waiting: usize,
}

/// A turn; dropping it ends it.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    alone: bool,
}

impl Turns {
    /// Beside others who share.
    pub(crate) fn share(&self, deadline: Instant) -> Option<Turn<'_>> {
        let mut state = self.lock();
        while state.alone || state.waiting > 0 {
            state = self.wait(state, deadline)?;
        }
        state.sharing += 1;
        Some(Turn {
            turns: self,
            alone: false,
        })
    }

    /// With nobody else.
    pub(crate) fn alone(&self, deadline: Instant) -> Option<Turn<'_>> {
        let mut state = self.lock();
        state.waiting += 1;
        while state.alone || state.sharing > 0 {
            match self.wait(state, deadline) {
                Some(woken) => state = woken,
                None => {
                    self.lock().waiting -= 1;
                    self.changed.notify_all();
                    return None;
                }
            }
        }
        state.waiting -= 1;
        state.alone = true;
        Some(Turn {
            turns: self,
            alone: true,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>, deadline: Instant) -> Option<MutexGuard<'a, State>> {
        let left = deadline.checked_duration_since(Instant::now())?;
        let (state, _) = self
            .changed
            .wait_timeout(state, left)
            .unwrap_or_else(PoisonError::into_inner);
        Some(state)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.lock();
        if self.alone {
            state.alone = false;
        } else {
            state.sharing -= 1;
        }
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Turns;

    #[test]
    fn one_alone_keeps_others_out_until_it_ends() {
        let turns = Turns::default();
        let soon = || Instant::now() + Duration::from_millis(30);
        let (first, second) = (turns.share(soon()), turns.share(soon()));
        assert!(first.is_some() && second.is_some());
        assert!(turns.alone(soon()).is_none());
        assert!(turns.share(soon()).is_some(), "one who gave up does not block");
        drop((first, second));
        let alone = turns.alone(soon());
        assert!(alone.is_some() && turns.share(soon()).is_none() && turns.alone(soon()).is_none());
        drop(alone);
        assert!(turns.share(soon()).is_some());
    }
}
