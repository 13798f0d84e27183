//! `lacon tokens`: what a text costs a model to read.

use serde::Serialize;
use terminal::failure::Failure;
use terminal::input::Input;
use terminal::output::Output;
use wire::tokens::Tokenizer;

/// Count the tokens of a text, exactly and offline
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon tokens answer.json
  lacon encode answer.json | lacon tokens
  lacon tokens --json README.md")]
pub(crate) struct Args {
    #[command(flatten)]
    input: Input,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Counts {
    bytes: usize,
    cl100k_base: usize,
    o200k_base: usize,
    estimate: usize,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let text = args.input.read()?;
    let counts = Counts {
        bytes: text.len(),
        cl100k_base: Tokenizer::Cl100k.count(&text),
        o200k_base: Tokenizer::O200k.count(&text),
        estimate: Tokenizer::O200k.estimate(&text),
    };
    if args.json {
        return output.json(&counts);
    }
    output.line(format!(
        "bytes        {}\ncl100k_base  {}\no200k_base   {}\nestimate     {} (of o200k_base)",
        counts.bytes, counts.cl100k_base, counts.o200k_base, counts.estimate
    ));
    Ok(())
}
