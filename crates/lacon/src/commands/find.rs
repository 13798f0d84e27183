//! `lacon find`: where something is, asked in words, names, or what a program printed.

use std::io::Read;

use anyhow::Context;
use serde_json::{Map, Value};
use terminal::failure::Failure;
use terminal::output::Output;

use super::questions::{Asking, ask};

/// Where something is: a task, a symptom, an error message, a stack trace, a name or a path
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon find retries are not counted when the body is empty
  lacon find maxBodySize
  lacon find src/api.py:120
  cargo test 2>&1 | lacon find -")]
pub(crate) struct Args {
    /// Words, which need no quotes; `-` reads standard input
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,

    /// Only paths that start with this
    #[arg(long, value_name = "PREFIX")]
    path: Option<String>,

    /// Go on where the page before ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

    #[command(flatten)]
    asking: Asking,
}

/// Bytes of standard input that are read: what is longer is a log, of which the beginning is asked about.
const MOST_INPUT: u64 = 1 << 20;

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let query = match args.query.as_slice() {
        [one] if one == "-" => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().take(MOST_INPUT).read_to_end(&mut bytes);
            read.context("cannot read stdin")?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        words => words.join(" "),
    };
    let mut parameters: Map<String, Value> = Map::new();
    parameters.insert("query".to_owned(), query.into());
    parameters.extend(args.path.map(|path| ("path".to_owned(), path.into())));
    parameters.extend(args.cursor.map(|cursor| ("cursor".to_owned(), cursor.into())));
    ask("find", &parameters, &args.asking, output).map(drop)
}
