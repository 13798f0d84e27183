//! `lacon web`: a page in the browser over the same questions as `lacon mcp`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use gateway::config::HttpConfig;
use gateway::http::PageRoutes;
use gateway::shutdown::Shutdown;
use server::mcp::{QuestionServer, Reach};
use server::project;
use server::tools::permissions::{Permissions, ToolChoice, Writes};
use server::tools::trees::Trees;
use server::tools::{Services, ShowSecrets, Toolset};
use terminal::failure::{Explain, Failure};
use terminal::output::{self, Output};

use super::doctor;
use super::ending::{self, HangUp};
use super::http_access::{HttpAccess, Token};

/// Look at the code in a browser: search, symbols, graph, contexts, index, savings
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon web                              # then open the address that is printed
  lacon web ~/src/shop ~/src/shop-web --listen 127.0.0.1:9000
  lacon web workspace.toml

The address opens the page once, in one browser. Everything that the page shows can be had as JSON with the token that is printed:
  curl http://127.0.0.1:8766/api/ask/search_symbols -d '{\"query\": \"main\"}' \\
    -H \"Authorization: Bearer $TOKEN\"
Nothing is written, no language server is started, and nothing leaves this machine.")]
pub(crate) struct Args {
    /// The roots of the trees, or a TOML file that lists them [default: the nearest index or repository above the current folder]
    #[arg(value_name = "DIR")]
    roots: Vec<PathBuf>,

    /// Keep the index here instead of in `.lacon` inside the tree
    #[arg(long, value_name = "DIR", env = "LACON_DIR")]
    index_dir: Option<PathBuf>,

    /// Where to listen; port 0 takes a free one. Beyond loopback LACON_HTTP_TOKEN must name the token that is asked for
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8766")]
    listen: String,

    #[command(flatten)]
    show_secrets: ShowSecrets,

    /// Answer from the index as it is: neither build nor follow changes
    #[arg(long)]
    no_watch: bool,
}

pub(crate) fn run(mut args: Args, _: &mut Output) -> Result<(), Failure> {
    server::memory::share_pools();
    if args.roots.is_empty() {
        args.roots
            .push(project::around(Path::new(".")).map_err(project::failure)?);
    }
    let trees = Arc::new(Trees::open(&args.roots, args.index_dir.as_deref())?);
    let server = QuestionServer {
        trees: trees.clone(),
        reach: Arc::new(Reach::default()),
        services: Arc::new(Services {
            credentials: args.show_secrets.into(),
            ..Services::default()
        }),
        permissions: Arc::new(Permissions::new(
            &[Toolset::All],
            &ToolChoice::default(),
            Writes::Refused,
        )?),
        format: wire::Format::Json,
        references: false,
        shutdown: Shutdown::default(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the asynchronous runtime")?;
    let served = runtime.block_on(async {
        let server = QuestionServer {
            shutdown: ending::on_signal(HangUp::Untouched),
            ..server
        };
        serve(server, args).await
    });
    trees.stop();
    runtime.shutdown_background();
    served
}

async fn serve(server: QuestionServer, args: Args) -> Result<(), Failure> {
    let mut config = HttpConfig {
        listen: args.listen,
        ..HttpConfig::default()
    };
    let token = HttpAccess::default().settle(&mut config).await?;
    // A token that somebody named is no reason to be called by names of elsewhere.
    if gateway::http::is_loopback(&config).await? && config.allowed_hosts.is_empty() {
        config.allowed_hosts = gateway::http::loopback_hosts();
    }
    let listener = gateway::http::listen(&config)
        .await
        .hint("`--listen 127.0.0.1:0` takes a free port; beyond loopback set LACON_HTTP_TOKEN")?;
    let address = listener.local_addr().context("no local address")?;
    let code = gateway::http::new_token().context("no random numbers for a code")?;
    let mut text = format!("open      http://{address}/#enter={code}\n          (once; it lets one browser in)\n");
    match &token {
        Token::New(token) => text.push_str(&format!(
            "token     {token}\n          (for `curl`, and for further browsers; new at each start, LACON_HTTP_TOKEN names one that stays)\n"
        )),
        Token::Named | Token::None => text.push_str("token     LACON_HTTP_TOKEN\n"),
    }
    output::notice(&text);
    if !args.no_watch {
        server.trees.keep_up_to_date();
    }
    let root = args.roots.into_iter().next().unwrap_or_else(|| PathBuf::from("."));
    let index_dir = args.index_dir;
    let routes = PageRoutes {
        files: server::web::files(),
        questions: server::web::questions(
            server.clone(),
            Arc::new(move || doctor::examined(&root, index_dir.as_deref())),
        ),
        code,
    };
    let served = gateway::http::serve_pages(&config, listener, server.shutdown.clone(), routes).await;
    Ok(served.context("HTTP stopped")?)
}
