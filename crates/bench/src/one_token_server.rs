//! `lacon bench one-token-server`: the upstream that `lacon bench gateway` puts behind a gateway.

use anyhow::Context;
use terminal::failure::Failure;
use terminal::output::Output;

use super::gateway::calls;

/// Serve one tool that says one word, over MCP on standard input and output
#[derive(clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {}

pub(crate) fn run(_: Args, _: &mut Output) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the asynchronous runtime")?;
    let served = runtime.block_on(calls::serve());
    // Reading standard input cannot be interrupted, and must not keep the process.
    runtime.shutdown_background();
    Ok(served?)
}
