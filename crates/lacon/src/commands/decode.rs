//! `lacon decode`: any of the formats in, JSON out.

use serde::Serialize;
use terminal::failure::Failure;
use terminal::input::Input;
use terminal::output::Output;
use wire::Format;

use crate::commands::convert::{self, Destination};

/// Read GCX1, LCX1, GCF or JSON and print JSON
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

fn json(value: &impl Serialize, pretty: bool) -> Result<String, Failure> {
    Ok(match pretty {
        true => serde_json::to_string_pretty(value)?,
        false => serde_json::to_string(value)?,
    })
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let text = args.input.read()?;
    let json = match args.from {
        Format::Auto | Format::Gcx if wire::detect(&text) == Format::Gcx || args.from == Format::Gcx => {
            // Straight from the text: the value of a large table takes many times its memory.
            json(&convert::refused(wire::check_gcx(&text), args.from)?, args.pretty)?
        }
        from => json(&convert::parse(&text, from)?, args.pretty)?,
    };
    args.destination.put(&json, output)
}
