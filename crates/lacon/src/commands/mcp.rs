//! `lacon mcp`: answers questions about trees over the Model Context Protocol.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use gateway::config::HttpConfig;
use gateway::shutdown::Shutdown;
use server::editing::Workbench;
use server::mcp::{Follows, QuestionServer, Reach};
use server::project;
use server::tools::permissions::{Permissions, ToolChoice, Writes};
use server::tools::trees::Trees;
use server::tools::{Services, ShowSecrets, Toolset};
use terminal::failure::{Explain, Failure};
use terminal::output::Output;

use super::ending::{self, HangUp};
use super::http_access::{HttpAccess, announce};

/// Answer questions about the code over MCP
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon mcp
  lacon mcp ~/src/shop ~/src/shop-web --toolset core,edit
  lacon mcp workspace.toml               # [[repository]] name = \"shop\", path = \"services/shop\"
  lacon mcp --toolset all --read-only    # every question, no edit
  lacon mcp --http 127.0.0.1:8765        # at http://127.0.0.1:8765/mcp, with a token that is printed

The index is opened where it exists, built in the background where it does not, and kept up to date while files change.
The format of answers: the call's `format`, else the session's, else LACON_OUTPUT_FORMAT, else the shortest.")]
pub(crate) struct Args {
    /// The roots of the trees, or a TOML file that lists them [default: what the client says it works in, else the nearest index or
    /// repository above the current folder]
    #[arg(value_name = "DIR")]
    roots: Vec<PathBuf>,

    /// Keep the index here instead of in `.lacon` inside the tree
    #[arg(long, value_name = "DIR", env = "LACON_DIR")]
    index_dir: Option<PathBuf>,

    /// Which tools to list, one set or several separated by commas [default: core]. A tool that is not listed still answers, unless
    /// it writes
    #[arg(long, value_enum, value_delimiter = ',')]
    toolset: Vec<Toolset>,

    #[command(flatten)]
    choice: ToolChoice,

    #[command(flatten)]
    show_secrets: ShowSecrets,

    /// Serve streamable HTTP at /mcp instead of standard input and output. The token that is asked for is LACON_HTTP_TOKEN, or a new
    /// one that is printed; beyond loopback it must be named
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,

    /// Over HTTP: sessions at once; further ones are refused until one ends
    #[arg(long, value_name = "N", default_value_t = HttpConfig::default().max_sessions, requires = "http")]
    max_sessions: usize,

    /// Over HTTP: seconds without a request after which a session ends
    #[arg(long, value_name = "SECONDS", default_value_t = HttpConfig::default().session_idle_seconds, requires = "http")]
    session_idle: f64,

    /// Let this file be edited although other programs run it (a workflow, an editor's tasks, a shell's start-up file), or all of a
    /// folder; may be given several times. LACON_ALLOW_EDIT holds more of them, separated like PATH
    #[arg(long, value_name = "PATH")]
    allow_edit: Vec<String>,

    #[command(flatten)]
    access: HttpAccess,

    /// Answer from the index as it is: neither build nor follow changes
    #[arg(long)]
    no_watch: bool,

    /// In each conversation, refer to what was sent before instead of sending it again, even to clients that do not ask for it
    #[arg(long, env = "LACON_SESSION")]
    session: bool,
}

pub(crate) fn run(args: Args, _: &mut Output) -> Result<(), Failure> {
    server::memory::share_pools();
    let writes = match args.http.is_none() || args.access.allows_writes() {
        true => Writes::Offered,
        false => Writes::Refused,
    };
    let permissions = Permissions::new(&args.toolset, &args.choice, writes)?;
    // An index that is kept elsewhere is of one tree; over HTTP no client says which folders are read.
    let is_clients = args.roots.is_empty() && args.http.is_none() && args.index_dir.is_none();
    let trees = match (args.roots.as_slice(), project::around(Path::new("."))) {
        ([], Ok(project)) => Trees::open(&[project], args.index_dir.as_deref())?,
        // A client may still say where it works.
        ([], Err(why)) if is_clients => Trees::none(&why),
        ([], Err(why)) => return Err(project::failure(why)),
        (roots, _) => Trees::open(roots, args.index_dir.as_deref())?,
    };
    let trees = Arc::new(trees);
    let follows = match args.no_watch {
        true => Follows::Nothing,
        false => Follows::Changes,
    };
    let server = QuestionServer {
        trees: trees.clone(),
        reach: Arc::new(match is_clients {
            true => Reach::of_client(follows),
            false => Reach::default(),
        }),
        services: Arc::new(Services {
            workbench: Workbench::allowing(&args.allow_edit),
            credentials: args.show_secrets.into(),
            asks_user: args.http.is_none(),
            ..Services::default()
        }),
        permissions: Arc::new(permissions),
        format: usual_format()?,
        references: args.session,
        shutdown: Shutdown::default(),
    };
    let services = server.services.clone();
    if !is_clients {
        if let Some(directory) = trees.directory() {
            services.memory.ledger.open(&directory);
        }
        server::tools::lsp::enrich_in_background(&trees, &services);
    }
    let keep = {
        let trees = trees.clone();
        move || {
            // Nothing is written before it is known where.
            if !args.no_watch && !is_clients {
                trees.keep_up_to_date();
            }
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the asynchronous runtime")?;
    let served = runtime.block_on(async {
        let hang_up = match args.http {
            Some(_) => HangUp::Untouched,
            None => HangUp::Ends,
        };
        let server = QuestionServer {
            shutdown: ending::on_signal(hang_up),
            ..server
        };
        match args.http {
            Some(listen) => {
                let config = HttpConfig {
                    listen,
                    max_sessions: args.max_sessions,
                    session_idle_seconds: args.session_idle,
                    ..HttpConfig::default()
                };
                serve_http(server, config, &args.access, keep).await
            }
            None => {
                keep();
                let shutdown = server.shutdown.clone();
                Ok(gateway::stdio::serve(server, shutdown)
                    .await
                    .context("the client did not begin")?)
            }
        }
    });
    trees.stop();
    services.memory.ledger.close();
    // Reading standard input cannot be interrupted, and must not keep the process.
    runtime.shutdown_background();
    served
}

/// Until the process is told to stop. Who may come in is decided by the gateway's door.
async fn serve_http(
    server: QuestionServer,
    mut config: HttpConfig,
    access: &HttpAccess,
    keep: impl FnOnce(),
) -> Result<(), Failure> {
    let token = access.settle(&mut config).await?;
    let listener = gateway::http::listen(&config)
        .await
        .hint("give a loopback address, or set LACON_HTTP_TOKEN")?;
    let address = listener.local_addr().context("no local address")?;
    announce(address, &token, "lacon", server.permissions.offers_writes());
    // Nothing is built for a server that cannot be reached.
    keep();
    let shutdown = server.shutdown.clone();
    let served = gateway::http::serve_any(&config, listener, shutdown, move || server.clone()).await;
    Ok(served.context("HTTP stopped")?)
}

/// What the user's environment asks for.
fn usual_format() -> Result<wire::Format, Failure> {
    match std::env::var("LACON_OUTPUT_FORMAT") {
        Ok(name) => name
            .parse()
            .map_err(|error: String| anyhow!("LACON_OUTPUT_FORMAT: {error}"))
            .bad_input(),
        Err(_) => Ok(wire::Format::Auto),
    }
}
