//! `lacon convert`: from one format to another, and the steps that `encode` and `decode` are made of.

use std::path::{Path, PathBuf};

use serde_json::Value;
use terminal::failure::{Explain, Failure};
use terminal::input::Input;
use terminal::output::{self, Output};
use wire::Format;
use wire::layout::Layout;
use wire::tokens::Tokenizer;

/// Convert a text from one format to another
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon convert --from gcx --to json answer.gcx
  curl -s https://example.org/data.json | lacon convert --to gcf
  lacon convert --to markdown answer.gcf -o answer.md")]
pub(crate) struct Args {
    #[command(flatten)]
    input: Input,

    /// The format of the input; detected by its first word when left out
    #[arg(long, value_name = "FORMAT", default_value_t = Format::Auto)]
    from: Format,

    #[command(flatten)]
    target: Target,
}

/// What to write, and where.
#[derive(clap::Args)]
pub(crate) struct Target {
    /// The format to write: auto, json, gcx, gcf or markdown
    #[arg(long, value_name = "FORMAT", default_value_t = Format::Auto)]
    to: Format,

    /// The tool named in a GCX1 header; picks the tool's layout where the value fits it
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,

    /// The tokenizer that `auto` counts with: o200k or cl100k
    #[arg(long, value_name = "NAME", default_value = "o200k")]
    tokenizer: Tokenizer,

    /// GCF as specification 3.6 writes it: a column that is the same in every row stands in the header
    #[arg(long)]
    constant_columns: bool,

    #[command(flatten)]
    destination: Destination,
}

/// Where an answer goes.
#[derive(clap::Args)]
pub(crate) struct Destination {
    /// Write to this file instead of stdout; it is replaced whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let text = args.input.read()?;
    let value = parse(&text, args.from)?;
    write(&value, &args.target, args.input.stem(), output)
}

/// Reads `text` in `format`.
pub(crate) fn parse(text: &str, format: Format) -> Result<Value, Failure> {
    refused(wire::decode_from(text, format), format)
}

/// What a text said, or why it is refused and what to do.
pub(crate) fn refused<T>(result: Result<T, wire::Error>, format: Format) -> Result<T, Failure> {
    let unknown_version = matches!(&result, Err(wire::Error::Gcx(error)) if error.is_unknown_version());
    let result = result.bad_input();
    match (unknown_version, format) {
        (true, _) => result.hint("this GCX version is not known here: ask the sender for JSON"),
        (false, Format::Auto) => result.hint("say what the input is with --from json, gcx, gcf or lcx"),
        (false, _) => result,
    }
}

/// Writes `value` as `target` says. `name` stands in for a missing `--tool`.
pub(crate) fn write(value: &Value, target: &Target, name: Option<String>, output: &mut Output) -> Result<(), Failure> {
    let tool = target.tool.clone().or(name).unwrap_or_else(|| "value".to_owned());
    let laid_out = wire::answers::layout_of(&tool).filter(|layout| wire::gcx::to_string_with(layout, value).is_ok());
    let generic = Layout::generic(&tool);
    let layout = laid_out.unwrap_or(&generic);
    if target.constant_columns {
        if target.to != Format::Gcf {
            return Err(anyhow::anyhow!("--constant-columns is about GCF: add --to gcf").into());
        }
        let text = wire::gcf::to_string_with(value, &wire::gcf::EncodeOptions::constant_columns()).bad_input()?;
        return target.destination.put(&text, output);
    }
    let encoded = wire::encode(value, layout, target.to, target.tokenizer).bad_input()?;
    target.destination.put(&encoded.text, output)
}

impl Destination {
    /// Puts `text` into the file, or on stdout with a newline at its end.
    pub(crate) fn put(&self, text: &str, output: &mut Output) -> Result<(), Failure> {
        match &self.output {
            Some(path) => output::write_file(Path::new(path), text.as_bytes()),
            None => {
                output.line(text);
                Ok(())
            }
        }
    }
}
