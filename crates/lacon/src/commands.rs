//! One file per verb: its `Args` (parsed by clap, whose doc comment is the help) and its `run`.

pub(crate) mod completions;
pub(crate) mod man;
