//! The `lacon` binary: reads the command line, runs one verb, reports how it went.
//!
//! Everything a verb says goes through [`terminal::output::Output`]; everything that goes wrong ends here as one printed error.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod cli;
mod commands;

use std::process::ExitCode;

use server::{embedding, trust};
use terminal::{failure, output};

fn main() -> ExitCode {
    let cli = cli::Cli::read(commands::grep::with_invert(std::env::args_os()));
    output::log_to_stderr(cli.verbose);
    trust::settle(cli.trust);
    let mut output = output::Output::stdout(cli.color);
    let configured = embedding::configure().map_err(failure::Failure::from);
    match configured
        .and_then(|()| cli.command.run(&mut output))
        .and_then(|()| output.finish())
    {
        Ok(()) => output.exit_code(),
        Err(failure) => output::report(&failure, cli.color),
    }
}
