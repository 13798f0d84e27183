//! `lacon apply`: an answer and what changed in it give the answer as it is now.

use std::path::PathBuf;

use terminal::failure::{Explain, Failure};
use terminal::output::Output;

use crate::commands::convert::{self, Target};

/// Apply a delta to the answer that it is about
///
/// Deltas of every kind: those of packs (two texts or one), of graphs and of rows, in any format. The texts of one answer stand behind each
/// other, as they were sent. The result is checked against the hash that the delta names; where it does not fit, nothing is printed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon apply pack.gcf delta.gcf
  lacon apply rows.json delta.gcf --to gcf -o rows.gcf")]
pub(crate) struct Args {
    /// The answer as it was sent before
    base: PathBuf,

    /// What changed since
    delta: PathBuf,

    #[command(flatten)]
    target: Target,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let read = |path: &PathBuf| terminal::input::read_file(path);
    let value = wire::apply::apply(&read(&args.base)?, &read(&args.delta)?)
        .bad_input()
        .hint("ask for the whole answer again")?;
    convert::write(&value, &args.target, None, output)
}
