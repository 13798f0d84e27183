//! `lacon bench`: the measurements behind the claims, one verb each.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod accuracy;
mod blast;
mod compilers;
mod context;
mod gateway;
mod index;
mod one_token_server;
mod peer;
mod reading_cost;
mod scale;
mod search;
mod server;
mod session;
mod wire;

use terminal::failure::Failure;
use terminal::output::Output;
use terminal::verbs;

/// Measure what Lacon claims
#[derive(clap::Args)]
pub struct Args {
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
        ReadingCost => reading_cost,
        Scale => scale,
        Search => search,
        Session => session,
        Server => server,
        Wire => wire,
    }
}

pub fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    args.bench.run(output)
}
