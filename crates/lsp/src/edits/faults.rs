//! Where a test may break a write: every call that changes the disk passes [`step`] first.
//!
//! A test counts the steps of an undisturbed run and repeats it once per step, each time failing there or dying there. Dying is a
//! panic that nobody below catches: like a kill, it leaves whatever the steps before it left.

#[cfg(not(test))]
pub(crate) fn step() -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(crate) use planned::{Fault, Killed, plan, step, steps};

#[cfg(test)]
mod planned {
    use std::cell::Cell;
    use std::io;

    /// What happens at a step.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) enum Fault {
        /// The call fails once.
        Fails,
        /// The process ends before the call.
        Dies,
    }

    /// What a death unwinds with.
    pub(crate) struct Killed;

    thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
        static PLAN: Cell<Option<(usize, Fault)>> = const { Cell::new(None) };
    }

    /// Counts from zero again, with this to happen at step `at`.
    pub(crate) fn plan(at: Option<(usize, Fault)>) {
        STEPS.set(0);
        PLAN.set(at);
    }

    /// Steps since the last plan.
    pub(crate) fn steps() -> usize {
        STEPS.get()
    }

    pub(crate) fn step() -> io::Result<()> {
        let number = STEPS.get();
        STEPS.set(number + 1);
        match PLAN.get() {
            Some((at, Fault::Fails)) if at == number => {
                PLAN.set(None);
                Err(io::Error::from(io::ErrorKind::StorageFull))
            }
            Some((at, Fault::Dies)) if at == number => {
                PLAN.set(None);
                std::panic::resume_unwind(Box::new(Killed))
            }
            _ => Ok(()),
        }
    }
}
