//! `lacon status`: what the index of a tree holds, or of every tree of a workspace, and whether it is whole.

use std::collections::BTreeSet;

use anyhow::Context;
use index::scan::LeftOutBy;
use index::snapshot::{Snapshot, SnapshotError};
use index::store::{Directory, Location};
use serde::Serialize;
use server::summary::{Contents, Disk};
use server::workspace::repositories;
use terminal::failure::{Explain, Failure};
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
    /// Files in it, where it is a folder; no more than [`MOST_COUNTED`] are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<usize>,
    /// The rule that leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
}

/// Files of one folder that are counted.
const MOST_COUNTED: usize = 20_000;

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
        true => skipped(&snapshot, location)?,
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

/// Every file that was left out while reading, and what rules leave out, by path.
fn skipped(snapshot: &Snapshot, location: &Location) -> Result<Vec<Skipped>, Failure> {
    let root = &location.root;
    let config = index::scan::Config::load(root)?;
    let mut all: Vec<Skipped> = snapshot
        .skipped()
        .map(|file| Skipped {
            rule: index::scan::rule_of(root, &file.path, file.reason, &config),
            path: file.path.into_owned(),
            reason: file.reason.as_str(),
            bytes: file.size,
            files: None,
        })
        .collect();
    // A folder that a rule leaves out may hold files that git tracks: those are not left out.
    let met: BTreeSet<String> = snapshot
        .files()
        .map(|file| file.path().to_owned())
        .chain(all.iter().map(|file| file.path.clone()))
        .collect();
    let met_below = |folder: &str| {
        let folder = format!("{folder}/");
        met.range(folder.clone()..)
            .take_while(|path| path.starts_with(&folder))
            .count()
    };
    all.extend(index::scan::left_out(root, &config)?.into_iter().filter_map(|out| {
        let files = out
            .is_folder
            .then(|| index::scan::count_files(root, &out.path, MOST_COUNTED).saturating_sub(met_below(&out.path)));
        if out.by == LeftOutBy::Rule && files == Some(0) {
            return None;
        }
        let size = std::fs::symlink_metadata(root.join(index::scan::unescape_path(&out.path)));
        Some(Skipped {
            reason: out.by.as_str(),
            bytes: match out.is_folder {
                true => 0,
                false => size.map_or(0, |metadata| metadata.len()),
            },
            files,
            rule: out.rule,
            path: out.path.into(),
        })
    }));
    all.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(all)
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
