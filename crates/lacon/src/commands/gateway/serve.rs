//! `lacon gateway serve`: until the client leaves, or a signal says so.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use gateway::Status;
use gateway::runtime::Gateway;
use tokio_util::sync::CancellationToken;

use super::setup::{ConfigArgs, environment, mount_code_tools, options, runtime};
use crate::failure::Failure;
use crate::output::Output;

/// Serve the gateway (what `lacon gateway` does by itself)
#[derive(clap::Args)]
// `lacon gateway` takes these arguments too, next to a group of its own that would have the same name.
#[group(skip)]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigArgs,

    /// Serve streamable HTTP at /mcp instead of standard input and output [default address: the configuration's]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true)]
    http: Option<Option<String>>,
}

pub(crate) fn run(args: Args, _: &mut Output) -> Result<(), Failure> {
    let (path, mut config) = args.config.load()?;
    if let Some(Some(address)) = &args.http {
        config.http.listen.clone_from(address);
    }
    let mut options = options()?;
    mount_code_tools(&config, &mut options)?;
    runtime()?.block_on(async {
        // Listening comes first: an address that cannot be had must not cost a start of every upstream.
        let listener = match args.http {
            Some(_) => Some(gateway::http::listen(&config.http).await?),
            None => None,
        };
        let follows = config.refresh.watch_config && !args.config.overrides_file();
        let gateway = Gateway::start(config, options);
        let shutdown = CancellationToken::new();
        tokio::spawn(stop_on_signal(shutdown.clone()));
        if follows {
            tokio::spawn(follow(gateway.clone(), path));
        }
        require(&gateway).await?;
        let served = match listener {
            Some(listener) => {
                tracing::warn!(
                    "listening on http://{}/mcp",
                    listener.local_addr().context("no local address")?
                );
                gateway::http::serve(gateway.clone(), listener, shutdown)
                    .await
                    .context("HTTP stopped")
            }
            None => gateway::server::serve_stdio(gateway.clone(), shutdown)
                .await
                .context("the client did not begin"),
        };
        gateway.stop().await;
        Ok(served?)
    })
}

/// Fails when an upstream the configuration calls required does not start.
async fn require(gateway: &Gateway) -> Result<(), Failure> {
    if gateway.config().upstreams.values().all(|upstream| !upstream.required) {
        return Ok(());
    }
    gateway.settled().await;
    for upstream in gateway.status().into_iter().filter(|upstream| upstream.required) {
        if let Status::Down { reason } = upstream.health.status {
            gateway.stop().await;
            return Err(anyhow!("the required upstream `{}` is down: {reason}", upstream.name).into());
        }
    }
    Ok(())
}

async fn follow(gateway: Arc<Gateway>, path: std::path::PathBuf) {
    if let Err(error) = gateway::reload::follow(gateway, path, environment()).await {
        tracing::warn!(%error, "changes of the configuration are not followed");
    }
}

async fn stop_on_signal(shutdown: CancellationToken) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut terminate), Ok(mut hang_up)) = (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
        else {
            return;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
    shutdown.cancel();
    // Reading standard input cannot be interrupted, and must not keep the process: upstreams get their time to leave.
    tokio::time::sleep(Duration::from_secs(8)).await;
    std::process::exit(0);
}
