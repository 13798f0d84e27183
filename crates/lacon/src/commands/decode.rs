//! `lacon decode`: any of the formats in, JSON out.

use terminal::failure::Failure;
use terminal::input::Input;
use terminal::output::Output;
use wire::Format;

use crate::commands::convert::{self, Destination};

/// Read GCX1, GCF or JSON and print JSON
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon decode answer.gcx
  lacon encode answer.json | lacon decode --pretty")]
pub(crate) struct Args {
    #[command(flatten)]
    input: Input,

    /// The format of the input; detected by its first word when left out
    #[arg(long, value_name = "FORMAT", default_value_t = Format::Auto)]
    from: Format,

    /// Indent the JSON
    #[arg(long)]
    pretty: bool,

    #[command(flatten)]
    destination: Destination,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let text = args.input.read()?;
    let value = convert::parse(&text, args.from)?;
    let json = if args.pretty {
        serde_json::to_string_pretty(&value)?
    } else {
        serde_json::to_string(&value)?
    };
    args.destination.put(&json, output)
}
