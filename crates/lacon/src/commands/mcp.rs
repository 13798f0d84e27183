//! `lacon mcp`: answers questions about trees over the Model Context Protocol.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use tokio_util::sync::CancellationToken;

use crate::failure::{Explain, Failure};
use crate::mcp::{QuestionServer, serve_stdio};
use crate::output::Output;
use crate::tools::Toolset;
use crate::tools::trees::Trees;

/// Answer questions about the code over MCP, on standard input and output
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon mcp
  lacon mcp ~/src/shop ~/src/shop-web --toolset all

The index is opened where it exists, built in the background where it does not, and kept up to date while files change.
The format of answers: the call's `format`, else the session's, else LACON_OUTPUT_FORMAT, else the shortest.")]
pub(crate) struct Args {
    /// The roots of the trees
    #[arg(default_value = ".", value_name = "DIR")]
    roots: Vec<PathBuf>,

    /// Keep the index here instead of in `.lacon` inside the tree
    #[arg(long, value_name = "DIR", env = "LACON_DIR")]
    index_dir: Option<PathBuf>,

    /// Which tools to list; a tool that is not listed still answers
    #[arg(long, value_enum, default_value = "core")]
    toolset: Toolset,

    /// Answer from the index as it is: neither build nor follow changes
    #[arg(long)]
    no_watch: bool,
}

pub(crate) fn run(args: Args, _: &mut Output) -> Result<(), Failure> {
    let trees = Arc::new(Trees::open(&args.roots, args.index_dir.as_deref())?);
    let server = QuestionServer {
        trees: trees.clone(),
        toolset: args.toolset,
        format: usual_format()?,
    };
    if !args.no_watch {
        trees.keep_up_to_date();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the asynchronous runtime")?;
    let served = runtime.block_on(serve_stdio(server, CancellationToken::new()));
    trees.stop();
    // Reading standard input cannot be interrupted, and must not keep the process.
    runtime.shutdown_background();
    Ok(served.context("the client did not begin")?)
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
