//! `lacon bench wire`: what each format costs, whether it gives the value back, and how fast it is.
//!
//! Every number is measured in this run: sizes and round trips over the cases (built in, or those of a directory), speeds over
//! generated data, each against `serde_json` on the same data.

mod cases;
mod examples;
mod scorecard;
mod speed;

use std::path::PathBuf;

use clap::ValueEnum;
use terminal::failure::Failure;
use terminal::output::Output;

/// Compare JSON, GCX1, GCF, TOON and the automatic choice: bytes, tokens, gzip, round trip, speed
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench wire
  lacon bench wire --cases captured/ --format markdown
  lacon bench wire --format json --no-speed")]
pub(crate) struct Args {
    /// Measure the cases of this directory instead of the built-in ones: `*.json`, or `*.yaml` with `tool:` and `input: |`
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,

    /// How to print the scorecard
    #[arg(long, value_enum, default_value = "table")]
    format: Style,

    /// Print JSON: the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Leave out the speed measurements, which take a few seconds
    #[arg(long)]
    no_speed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Style {
    Table,
    Markdown,
    Json,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let cases = match &args.cases {
        Some(directory) => cases::load(directory)?,
        None => examples::cases()?,
    };
    let mut scorecard = scorecard::measure(&cases)?;
    if !args.no_speed {
        scorecard.speed = speed::measure()?;
    }
    match if args.json { Style::Json } else { args.format } {
        Style::Json => output.json(&scorecard)?,
        Style::Table => output.line(scorecard.render(comfy_table::presets::UTF8_FULL_CONDENSED)),
        Style::Markdown => output.line(scorecard.render(comfy_table::presets::ASCII_MARKDOWN)),
    }
    Ok(())
}
