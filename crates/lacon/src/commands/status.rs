//! `lacon status`: what the index of a tree holds, or of every tree of a workspace, and whether it is whole.

use index::snapshot::Snapshot;
use index::store::Location;
use server::status::{Look, MOST_COUNTED, Status, status};
use server::workspace::repositories;
use terminal::failure::Failure;
use terminal::output::Output;
use terminal::usage::size;

use super::index::Place;

/// Show what the index of a tree or a workspace holds
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon status
  lacon status --skipped
  lacon status --verify --json")]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,

    /// List every file and folder that was left out, with the reason and the rule
    #[arg(long)]
    skipped: bool,

    /// Compare every byte with its checksum
    #[arg(long)]
    verify: bool,

    /// Say in one line what an agent at work should know of it
    #[arg(long, conflicts_with_all = ["skipped", "verify", "json"])]
    brief: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let declared = repositories(&[args.place.to_read()?], args.place.index_dir.as_deref())?;
    let locations: Vec<Location> = declared
        .iter()
        .map(|repository| Location::of(&repository.root, repository.index_dir.as_deref()))
        .collect::<Result<_, _>>()?;
    if args.brief {
        let known: Vec<Snapshot> = locations
            .iter()
            .filter_map(|location| Snapshot::open(&location.snapshot()).ok())
            .collect();
        output.line(brief(&known));
        return Ok(());
    }
    let look = Look {
        verify: args.verify,
        skipped: args.skipped,
    };
    let told: Vec<Status> = locations
        .iter()
        .map(|location| status(location, look))
        .collect::<Result<_, _>>()?;
    match (args.json, told.as_slice()) {
        (true, [only]) => return output.json(only),
        (true, several) => return output.json(&several),
        (false, _) => {}
    }
    for status in &told {
        output.line(format!(
            "root      {}\nindex     {} ({} snapshot, {} facts), written {} s ago, opened in {:.1} ms{}",
            status.root,
            status.index,
            size(status.disk_bytes.snapshot),
            size(status.disk_bytes.facts),
            status.age_seconds,
            status.open_milliseconds,
            if args.verify { ", every checksum right" } else { "" }
        ));
        output.line(status.contents.text());
        for file in &status.skipped_files {
            let much = match file.files {
                Some(MOST_COUNTED) => format!("≥{MOST_COUNTED} files"),
                Some(count) => format!("{count} files"),
                None => size(file.bytes),
            };
            let rule = file.rule.as_ref().map(|rule| format!(": {rule}")).unwrap_or_default();
            output.line(format!("  {:<15} {much:>12}  {}{rule}", file.reason, file.path));
        }
    }
    Ok(())
}

/// What the hook of a session says: what is here, and when asking pays.
fn brief(known: &[Snapshot]) -> String {
    let files: usize = known.iter().map(Snapshot::file_count).sum();
    let symbols: usize = known.iter().map(Snapshot::symbol_count).sum();
    let known = match files {
        1.. => format!("{} symbols of {files} files", symbols - files),
        0 => "this repository (indexed when it is first asked)".to_string(),
    };
    format!(
        "The MCP server `lacon` knows the symbol graph of {known}. Where, source, who uses, how it flows, what a change breaks: ask it \
         before searching text or reading files."
    )
}
