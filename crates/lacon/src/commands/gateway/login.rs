//! `lacon gateway login`: a person signs in to an upstream once; the tokens are kept and renewed from then on.

use anyhow::{Context, anyhow};
use gateway::runtime::Gateway;
use terminal::failure::{Explain, Failure};
use terminal::output::Output;

use super::setup::{ConfigArgs, options, runtime};

/// Sign in to an HTTP upstream that asks for it
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The upstream, by its name in the configuration
    upstream: String,

    #[command(flatten)]
    config: ConfigArgs,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let (path, mut config) = args.config.load()?;
    // Only this one is needed, and it need not be up to be signed in to.
    config.upstreams.retain(|name, _| *name == args.upstream);
    let options = options(&path)?;
    runtime()?.block_on(async {
        let gateway = Gateway::start(config, options);
        let authorizer = gateway
            .authorizer(&args.upstream)
            .ok_or_else(|| anyhow!("`{}` is not an HTTP upstream with an `oauth` section", args.upstream))
            .hint("add [upstreams.NAME.oauth] to the configuration")?;
        let show = |url: &str| tracing::warn!("open this address to sign in:\n{url}");
        let signed_in = authorizer.sign_in(show).await.context("signing in failed");
        gateway.stop().await;
        Ok::<(), Failure>(signed_in?)
    })?;
    output.line(format!("signed in to {}", args.upstream));
    Ok(())
}
