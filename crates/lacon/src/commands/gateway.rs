//! `lacon gateway`: other people's MCP servers behind a few tools. Without a further verb it serves.

pub(crate) mod check;
pub(crate) mod login;
pub(crate) mod serve;
mod setup;

use terminal::failure::Failure;
use terminal::output::Output;
use terminal::verbs;

/// Put any number of MCP servers behind a few tools
///
/// Serves MCP on standard input and output, or over HTTP with `--http`. The servers behind it come from a TOML file,
/// or from the `mcpServers` JSON of another MCP client.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  lacon gateway check\n  lacon gateway --config gateway.toml\n  lacon gateway login NAME"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    serve: serve::Args,
}

verbs! {
    /// What to do with a gateway.
    Verb {
        Serve => serve,
        Check => check,
        Login => login,
    }
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    match args.verb {
        Some(verb) => verb.run(output),
        None => serve::run(args.serve, output),
    }
}
