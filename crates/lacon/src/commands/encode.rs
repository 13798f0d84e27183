//! `lacon encode`: JSON in, fewer tokens out.

use terminal::failure::Failure;
use terminal::input::Input;
use terminal::output::Output;
use wire::Format;

use crate::commands::convert::{self, Target};

/// Say a JSON value in few tokens
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  echo '[{\"id\":1,\"name\":\"a\"},{\"id\":2,\"name\":\"b\"}]' | lacon encode --to gcx --tool list
  lacon encode answer.json            # the shortest lossless form, by token count
  lacon encode --to markdown answer.json -o answer.md")]
pub(crate) struct Args {
    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    target: Target,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let text = args.input.read()?;
    let value = convert::parse(&text, Format::Json)?;
    convert::write(&value, &args.target, args.input.stem(), output)
}
