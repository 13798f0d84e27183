//! `lacon web`: a page in the browser over the same questions as `lacon mcp`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use gateway::shutdown::Shutdown;
use server::mcp::{QuestionServer, Reach};
use server::project;
use server::tools::permissions::{Permissions, ToolChoice, Writes};
use server::tools::trees::Trees;
use server::tools::{Services, ShowSecrets, Toolset};
use terminal::failure::Failure;
use terminal::output::Output;

use super::doctor;
use super::ending::{self, HangUp};
use super::page::Page;

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
    let page = Page::listen(args.listen).await?;
    // Nothing is built for a page that cannot be reached.
    if !args.no_watch {
        server.trees.keep_up_to_date();
    }
    let root = args.roots.into_iter().next().unwrap_or_else(|| PathBuf::from("."));
    let index_dir = args.index_dir;
    let doctor = Arc::new(move || doctor::examined(&root, index_dir.as_deref()));
    let shutdown = server.shutdown.clone();
    page.serve(|code| server::web::code_page(server, doctor, code), shutdown)
        .await
}
