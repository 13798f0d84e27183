//! What the index of a tree holds, whether it is whole, and what was left out of it: what `lacon status` prints and the page shows.

use std::collections::BTreeSet;

use anyhow::Context;
use index::scan::LeftOutBy;
use index::snapshot::{Snapshot, SnapshotError};
use index::store::{Directory, Location};
use serde::Serialize;
use terminal::failure::{Explain, Failure};

use crate::summary::{Contents, Disk};

/// The state of one index.
#[derive(Serialize)]
pub struct Status {
    pub root: String,
    pub index: String,
    /// Seconds since the snapshot was written.
    pub age_seconds: u64,
    pub open_milliseconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    pub contents: Contents,
    pub disk_bytes: Disk,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped_files: Vec<Skipped>,
}

/// A file or folder that was left out.
#[derive(Serialize)]
pub struct Skipped {
    pub path: String,
    pub reason: &'static str,
    pub bytes: u64,
    /// Files in it, where it is a folder; no more than [`MOST_COUNTED`] are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// The rule that leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What is looked at besides the numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Every byte, compared with its checksum.
    pub verify: bool,
    /// Every file and folder that was left out.
    pub skipped: bool,
}

/// Files of one folder that are counted.
pub const MOST_COUNTED: usize = 20_000;

/// The status of one tree.
pub fn status(location: &Location, look: Look) -> Result<Status, Failure> {
    let began = std::time::Instant::now();
    let snapshot = match Snapshot::open(&location.snapshot()) {
        Err(error @ SnapshotError::Missing { .. }) => return Err(error).hint("run `lacon index` first"),
        Err(error) => return Err(error).hint("run `lacon index`: it rebuilds what is damaged or old"),
        Ok(snapshot) => snapshot,
    };
    let open_milliseconds = began.elapsed().as_secs_f64() * 1e3;
    if look.verify {
        snapshot
            .verify()
            .hint("run `lacon index`: it rebuilds what is damaged")?;
    }
    let written = std::fs::metadata(location.snapshot())
        .and_then(|metadata| metadata.modified())
        .context("cannot tell when the snapshot was written")?;
    let disk = Directory::create(location.clone())?.disk_usage();
    let skipped_files = match look.skipped {
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
        verified: look.verify.then_some(true),
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
