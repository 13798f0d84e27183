//! `lacon man`: the manual page, from the same definitions as the help.

use std::path::PathBuf;

use anyhow::Context;
use clap::CommandFactory;
use terminal::failure::Failure;
use terminal::output::Output;

use crate::cli::Cli;

/// Print the manual page, or write one page per verb into a directory
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  lacon man | man -l -\n  lacon man --directory ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Write `lacon.1`, `lacon-encode.1`, … here instead of printing `lacon.1`
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    match args.directory {
        Some(directory) => {
            std::fs::create_dir_all(&directory).with_context(|| format!("cannot create `{}`", directory.display()))?;
            clap_mangen::generate_to(Cli::command(), &directory)
                .with_context(|| format!("cannot write manual pages to `{}`", directory.display()))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            output.text(page);
        }
    }
    Ok(())
}
