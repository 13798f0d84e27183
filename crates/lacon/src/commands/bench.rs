//! `lacon bench`: the measurements behind the claims, one verb each.

pub(crate) mod accuracy;
pub(crate) mod blast;
pub(crate) mod compilers;
pub(crate) mod context;
pub(crate) mod gateway;
pub(crate) mod index;
pub(crate) mod one_token_server;
mod peer;
pub(crate) mod search;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod wire;

use terminal::failure::Failure;
use terminal::output::Output;
use terminal::verbs;

/// Measure what Lacon claims
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    bench: Bench,
}

verbs! {
    /// The benchmarks.
    Bench {
        Accuracy => accuracy,
        Blast => blast,
        Compilers => compilers,
        Gateway => gateway,
        Context => context,
        Index => index,
        OneTokenServer => one_token_server,
        Search => search,
        Session => session,
        Server => server,
        Wire => wire,
    }
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    args.bench.run(output)
}
