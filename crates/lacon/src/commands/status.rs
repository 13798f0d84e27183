//! `lacon status`: what the index of a tree holds, or of every tree of a workspace, and whether it is whole.

use anyhow::Context;
use index::snapshot::{Snapshot, SnapshotError};
use index::store::{Directory, Location};
use serde::Serialize;

use super::index::{Contents, Disk, Place, size};
use crate::failure::{Explain, Failure};
use crate::output::Output;
use crate::workspace::repositories;

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

    /// List every file that was left out, with the reason
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

#[derive(Serialize)]
struct Status {
    root: String,
    index: String,
    /// Seconds since the snapshot was written.
    age_seconds: u64,
    open_milliseconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    contents: Contents,
    disk_bytes: Disk,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped_files: Vec<Skipped>,
}

#[derive(Serialize)]
struct Skipped {
    path: String,
    reason: &'static str,
    bytes: u64,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let declared = repositories(std::slice::from_ref(&args.place.root), args.place.index_dir.as_deref())?;
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
    let told: Vec<Status> = locations
        .iter()
        .map(|location| status(location, &args))
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
            output.line(format!("  {:<12} {:>10}  {}", file.reason, size(file.bytes), file.path));
        }
    }
    Ok(())
}

/// The status of one tree.
fn status(location: &Location, args: &Args) -> Result<Status, Failure> {
    let began = std::time::Instant::now();
    let snapshot = match Snapshot::open(&location.snapshot()) {
        Err(error @ SnapshotError::Missing { .. }) => return Err(error).hint("run `lacon index` first"),
        Err(error) => return Err(error).hint("run `lacon index`: it rebuilds what is damaged or old"),
        Ok(snapshot) => snapshot,
    };
    let open_milliseconds = began.elapsed().as_secs_f64() * 1e3;
    if args.verify {
        snapshot
            .verify()
            .hint("run `lacon index`: it rebuilds what is damaged")?;
    }
    let written = std::fs::metadata(location.snapshot())
        .and_then(|metadata| metadata.modified())
        .context("cannot tell when the snapshot was written")?;
    let disk = Directory::create(location.clone())?.disk_usage();
    let skipped_files = match args.skipped {
        false => Vec::new(),
        true => snapshot
            .skipped()
            .map(|file| Skipped {
                path: file.path.into_owned(),
                reason: file.reason.as_str(),
                bytes: file.size,
            })
            .collect(),
    };
    let contents = Contents::new(&snapshot);
    if let Some(damage) = snapshot.damage() {
        return Err(damage).hint("run `lacon index`: it rebuilds what is damaged");
    }
    Ok(Status {
        root: location.root.display().to_string(),
        index: location.directory.display().to_string(),
        age_seconds: written.elapsed().map_or(0, |age| age.as_secs()),
        open_milliseconds,
        verified: args.verify.then_some(true),
        contents,
        disk_bytes: Disk {
            snapshot: disk.0,
            facts: disk.1,
        },
        skipped_files,
    })
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
        "The MCP server `lacon` knows the symbol graph of {known}. Who calls, uses, implements or breaks: ask it (get_callers, \
         find_usages, find_implementations, get_dependents) before searching text; search text for strings and comments."
    )
}
