//! `lacon completions`: shell completions from the same definitions as the help.

use clap::CommandFactory;
use clap_complete::Shell;
use terminal::failure::Failure;
use terminal::output::Output;

use crate::cli::Cli;

/// Print the completion script of a shell
#[derive(clap::Args)]
#[command(after_help = "Example:\n  lacon completions bash > ~/.local/share/bash-completion/completions/lacon")]
pub(crate) struct Args {
    /// The shell to complete for
    shell: Shell,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lacon", &mut script);
    output.text(script);
    Ok(())
}
