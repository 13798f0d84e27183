//! `lacon savings`: what answers cost, against the same facts as JSON and against reading the files, from what was counted.

use serde_json::Value;
use server::sessions::savings;
use terminal::failure::Failure;
use terminal::output::Output;

use super::index::Place;

/// What Lacon's answers saved here, by tool and by conversation
#[derive(clap::Args)]
#[command(after_help = "\
Counted while `lacon mcp` serves, in o200k tokens: what was sent, the same facts as compact JSON, and the whole of the files
that the answers speak of (40 at most for each answer). The books are kept in the index directory and hold the last few thousand
calls; nothing leaves this machine.")]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,

    /// Conversations to list, newest first
    #[arg(long, value_name = "N", default_value_t = 5)]
    sessions: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let location = index::store::Location::of(&args.place.to_read()?, args.place.index_dir.as_deref())?;
    let answer = savings(&location.directory, args.sessions);
    if args.json {
        return output.json(&answer);
    }
    if answer["all"].is_null() {
        output.line("nothing was counted yet: answers are counted while `lacon mcp` serves");
        return Ok(());
    }
    for (title, name) in [("tools", "tool"), ("sessions", "session")] {
        output.line(format!(
            "{name:<24}{:>8}{:>12}{:>12}{:>8}{:>12}{:>8}",
            "calls", "sent", "as JSON", "saved", "files", "saved"
        ));
        for row in answer[title].as_array().into_iter().flatten() {
            output.line(line(row[name].as_str().unwrap_or_default(), row));
        }
    }
    output.line(line("all", &answer["all"]));
    Ok(())
}

fn line(name: &str, row: &Value) -> String {
    let share = |key: &str| {
        row[key]
            .as_f64()
            .map_or("-".to_string(), |share| format!("{share:.1}%"))
    };
    // A JSON value heeds no width.
    let number = |key: &str| row[key].to_string();
    format!(
        "{name:<24}{:>8}{:>12}{:>12}{:>8}{:>12}{:>8}",
        number("calls"),
        number("sent"),
        number("json"),
        share("saved_against_json"),
        number("files"),
        share("saved_against_files")
    )
}
