//! `lacon licenses`: the notices that the licences of what is built in ask for. They come with the binary, wherever it is copied to.

use terminal::failure::Failure;
use terminal::output::Output;

/// `THIRD-PARTY.md`, which a test compares with the dependencies.
const NOTICES: &str = include_str!("../../../../THIRD-PARTY.md");

/// Print what is built in, and under which licences
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  lacon licenses | less")]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, output: &mut Output) -> Result<(), Failure> {
    output.text(NOTICES);
    Ok(())
}
