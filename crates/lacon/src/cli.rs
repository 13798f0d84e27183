//! The command line. Every verb is one line of [`Command`] and one file of `commands/` with an `Args` and a `run`.

use clap::Parser;

use crate::commands;
use crate::failure::Failure;
use crate::output::Output;

/// Much meaning, few words: code knowledge and tools for coding agents, in as few tokens as the facts allow.
#[derive(Parser)]
#[command(
    name = "lacon",
    version,
    propagate_version = true,
    max_term_width = 110,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    /// Say more on stderr; give twice for everything
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Declares a set of verbs: `Variant => module` makes `lacon variant` parse `module::Args` and call `module::run`.
/// The help text of a verb is the doc comment of its `Args`.
macro_rules! verbs {
    ($(#[$meta:meta])* $name:ident { $($variant:ident => $module:ident),* $(,)? }) => {
        $(#[$meta])*
        #[derive(clap::Subcommand)]
        pub(crate) enum $name {
            $($variant($module::Args),)*
        }

        impl $name {
            pub(crate) fn run(self, output: &mut Output) -> Result<(), Failure> {
                match self {
                    $(Self::$variant(args) => $module::run(args, output),)*
                }
            }
        }
    };
}
pub(crate) use verbs;

use commands::{bench, completions, convert, decode, encode, man, tokens};

verbs! {
    /// The verbs, in the order `--help` lists them.
    Command {
        Encode => encode,
        Decode => decode,
        Convert => convert,
        Tokens => tokens,
        Bench => bench,
        Completions => completions,
        Man => man,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}
