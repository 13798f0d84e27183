//! `lacon gateway serve`: until the client leaves, or a signal says so.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use gateway::Status;
use gateway::policy::{PolicyAction, PolicyRule};
use gateway::runtime::Gateway;
use gateway::shutdown::Shutdown;
use server::tools::permissions::{ToolChoice, Writes};
use terminal::failure::Failure;
use terminal::output::Output;

use super::setup::{ConfigArgs, environment, mount_code_tools, options, runtime};
use crate::commands::ending::{self, HangUp};
use crate::commands::http_access::{HttpAccess, announce};
use crate::commands::page::Page;

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

    /// Also serve a page to look at in a browser: upstreams, calls as they pass, the catalog, routing; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:8767")]
    page: Option<String>,

    #[command(flatten)]
    access: HttpAccess,

    // Of Lacon's own code tools, where they are mounted.
    #[command(flatten)]
    choice: ToolChoice,
}

pub(crate) fn run(args: Args, _: &mut Output) -> Result<(), Failure> {
    let (path, mut config) = args.config.load()?;
    if let Some(Some(address)) = &args.http {
        config.http.listen.clone_from(address);
    }
    let over_http = args.http.is_some();
    let writes = match !over_http || args.access.allows_writes() {
        true => Writes::Offered,
        false => Writes::Refused,
    };
    let no_token = over_http && args.access.asks_for_no_token();
    if no_token {
        // Whoever need not say who he is may look, as far as upstreams say truly which of their tools only look.
        let rule = PolicyRule {
            action: PolicyAction::Deny,
            read_only: Some(false),
            ..PolicyRule::default()
        };
        config.policy.rules.insert(0, rule);
    }
    let mut options = options(&path)?;
    mount_code_tools(&config, &mut options, &args.choice, writes)?;
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        // Listening comes first: an address that cannot be had must not cost a start of every upstream.
        let page = match args.page {
            Some(address) => Some(Page::listen(address).await?),
            None => None,
        };
        let mut token = None;
        let listener = match over_http {
            true => {
                token = Some(args.access.settle(&mut config.http).await?);
                Some(gateway::http::listen(&config.http).await?)
            }
            false => None,
        };
        let follows = config.refresh.watch_config && !args.config.overrides_file() && !no_token;
        let shutdown = ending::on_signal(HangUp::Ends);
        let gateway = Gateway::start(config, options);
        if follows {
            tokio::spawn(follow(gateway.clone(), path));
        }
        if let Some(page) = page {
            tokio::spawn(show(page, gateway.clone(), shutdown.clone()));
        }
        let required = tokio::select! {
            required = require(&gateway) => required,
            () = shutdown.requested() => Ok(()),
        };
        let served = match (required, listener, token) {
            (Err(failure), _, _) => Err(failure),
            (Ok(()), Some(listener), Some(token)) => {
                let address = listener.local_addr().context("no local address")?;
                announce(address, &token, "gateway", !no_token);
                let served = gateway::http::serve(gateway.clone(), listener, shutdown).await;
                served.context("HTTP stopped").map_err(Failure::from)
            }
            (Ok(()), _, _) => gateway::server::serve_stdio(gateway.clone(), shutdown)
                .await
                .context("the client did not begin")
                .map_err(Failure::from),
        };
        gateway.stop().await;
        served
    });
    // Reading standard input cannot be interrupted, and must not keep the process.
    runtime.shutdown_background();
    served
}

/// Fails when an upstream the configuration calls required does not start.
async fn require(gateway: &Gateway) -> Result<(), Failure> {
    if gateway.config().upstreams.values().all(|upstream| !upstream.required) {
        return Ok(());
    }
    gateway.settled().await;
    for upstream in gateway.status().into_iter().filter(|upstream| upstream.required) {
        if let Status::Down { reason } = upstream.health.status {
            return Err(anyhow!("the required upstream `{}` is down: {reason}", upstream.name).into());
        }
    }
    Ok(())
}

async fn show(page: Page, gateway: Arc<Gateway>, shutdown: Shutdown) {
    let routes = |code| server::web::gateway_page(gateway, shutdown.clone(), code);
    if let Err(failure) = page.serve(routes, shutdown.clone()).await {
        tracing::warn!(error = %failure.error, "the page is gone");
    }
}

async fn follow(gateway: Arc<Gateway>, path: std::path::PathBuf) {
    if let Err(error) = gateway::reload::follow(gateway, path, environment()).await {
        tracing::warn!(%error, "changes of the configuration are not followed");
    }
}
