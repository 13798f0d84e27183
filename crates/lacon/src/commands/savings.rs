//! `lacon savings`: what answers cost, against the same facts as JSON and against reading the files, from what was counted.

use serde_json::{Value, json};
use server::sessions::{Saved, by, read_savings};
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
    let saved = read_savings(&location.directory);
    let tools = by(&saved, |one| &one.tool);
    let sessions = by(&saved, |one| &one.session);
    let mut newest: Vec<(&str, &(u64, Saved))> = sessions.iter().map(|(name, sum)| (*name, sum)).collect();
    newest.sort_by_key(|(name, (_, sum))| (std::cmp::Reverse(sum.at), *name));
    newest.truncate(args.sessions);
    let rows = |sums: Vec<(&str, &(u64, Saved))>, name: &str| -> Vec<Value> {
        sums.into_iter()
            .map(|(key, (calls, sum))| row(name, key, *calls, sum))
            .collect()
    };
    let all = by(&saved, |_| "");
    let answer = json!({
        "tools": rows(tools.iter().map(|(name, sum)| (*name, sum)).collect(), "tool"),
        "sessions": rows(newest, "session"),
        "all": all.get("").map(|(calls, sum)| row("since", &sum.at.to_string(), *calls, sum)),
    });
    if args.json {
        return output.json(&answer);
    }
    if saved.is_empty() {
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

fn row(name: &str, key: &str, calls: u64, sum: &Saved) -> Value {
    let share = |against: u64| (against > 0).then(|| percent(sum.sent, against));
    json!({
        name: key, "calls": calls, "sent": sum.sent, "json": sum.json, "saved_against_json": share(sum.json),
        "files": sum.files, "saved_against_files": share(sum.files),
    })
}

fn percent(sent: u64, against: u64) -> f64 {
    ((1.0 - sent as f64 / against as f64) * 1000.0).round() / 10.0
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
