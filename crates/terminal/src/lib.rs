//! What every verb of the command line shares: its input, its output, its failures and the macro that lists verbs. Only
//! [`output`] writes to stdout, so an answer leaves when its verb has succeeded and never in part.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod failure;
pub mod input;
pub mod output;
pub mod usage;

/// Declares a set of verbs: `Variant => module` makes `lacon variant` parse `module::Args` and call `module::run`.
/// The help text of a verb is the doc comment of its `Args`.
#[macro_export]
macro_rules! verbs {
    ($(#[$meta:meta])* $name:ident { $($variant:ident => $module:ident),* $(,)? }) => {
        $(#[$meta])*
        #[derive(clap::Subcommand)]
        pub(crate) enum $name {
            $($variant($module::Args),)*
        }

        impl $name {
            pub(crate) fn run(self, output: &mut $crate::output::Output) -> Result<(), $crate::failure::Failure> {
                match self {
                    $(Self::$variant(args) => $module::run(args, output),)*
                }
            }
        }
    };
}
