//! The survey: what each file of the tree is by content, with the facts of all of them in the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use syntax::FileFacts;

use super::Progress;
use super::room::Room;
use crate::scan::{
    Candidate, Config, DECODE_VERSION, GitIndex, SkipReason, Skipped, Stamp, Walk, decode, escape_path, read,
    read_bytes, walk_to,
};
use crate::search::{self, Unit};
use crate::snapshot::segment::Segment;
use crate::snapshot::{FileFlags, SNAPSHOT_VERSION};
use crate::store::{FactsKey, FactsStore, Known, Location, Stats, StoreError};
use crate::tree::{MAX_MANIFEST, Manifest, is_manifest};

/// Files from this size on are read before all others.
const LARGE_FILE: u64 = 256 << 10;

/// A tree by content.
pub(super) struct Survey {
    /// In path order.
    pub(super) files: Vec<Entry>,
    /// In path order.
    pub(super) skipped: Vec<Skipped>,
    /// In path order.
    pub(super) manifests: Vec<Manifest>,
    /// SCIP indexes, by digest and content.
    pub(super) scip: Vec<([u8; 32], Arc<[u8]>)>,
    /// The indexes of git that said what is tracked.
    pub(super) indexes: Vec<GitIndex>,
    pub(super) read: usize,
    pub(super) extracted: usize,
    pub(super) extracted_bytes: u64,
}

/// A source file.
#[derive(Clone)]
pub(super) struct Entry {
    /// Shared with the survey before and with what is kept of the file: an update copies every entry.
    pub(super) path: Arc<str>,
    pub(super) language: &'static str,
    pub(super) hash: [u8; 32],
    pub(super) size: u64,
    pub(super) flags: FileFlags,
    /// Laid out on the way, where the facts were at hand.
    pub(super) segment: Option<Arc<Segment>>,
    /// Made on the way for the search index, likewise.
    pub(super) unit: Option<Arc<Unit>>,
    /// Those facts, as far as there is room: resolution asks for them next.
    pub(super) facts: Option<Arc<FileFacts>>,
}

impl Entry {
    pub(super) fn key(&self) -> FactsKey {
        FactsKey::new(&self.hash, self.language)
    }

    /// Whether the facts are the same.
    pub(super) fn same_content(&self, other: &Entry) -> bool {
        self.hash == other.hash && self.language == other.language
    }
}

/// What came of one candidate.
struct Surveyed {
    stamp: Stamp,
    path: Box<str>,
    outcome: Result<Entry, SkipReason>,
    manifest: Option<Manifest>,
    /// The outcome was not in the stat cache.
    fresh: bool,
    extracted: bool,
}

/// Surveys every candidate of a walk.
pub(super) fn survey_all(
    walk: Walk,
    location: &Location,
    config: &Config,
    facts: &FactsStore,
    stats: &mut Stats,
    searchable: bool,
    hear: &(dyn Fn(Progress) + Sync),
) -> Result<Survey, StoreError> {
    let total = walk.candidates.len();
    let done = AtomicUsize::new(0);
    let known = &*stats;
    let room = Room::of(total);
    let one = |at: usize| -> Result<(usize, Surveyed), StoreError> {
        let surveyed = survey_one(&walk.candidates[at], location, config, facts, known, searchable, &room)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(64) || done == total {
            hear(Progress::Extracted { done, total });
        }
        Ok((at, surveyed))
    };
    // A syntax tree is up to a hundred times the size of its file: those of large files come while nothing else takes memory.
    let (large, rest): (Vec<usize>, Vec<usize>) =
        (0..total).partition(|&at| walk.candidates[at].stamp.size >= LARGE_FILE);
    let mut surveyed: Vec<(usize, Surveyed)> = Vec::with_capacity(total);
    for part in [large, rest] {
        let part = part.into_par_iter().with_max_len(1).map(one);
        surveyed.extend(part.collect::<Result<Vec<_>, _>>()?);
    }
    surveyed.sort_unstable_by_key(|(at, _)| *at);
    let mut survey = Survey {
        files: Vec::with_capacity(surveyed.len()),
        skipped: walk.skipped,
        manifests: Vec::new(),
        scip: read_scip(location, config),
        indexes: walk.indexes,
        read: 0,
        extracted: 0,
        extracted_bytes: 0,
    };
    for (_, one) in surveyed {
        survey.add(one, stats);
    }
    survey.skipped.sort_unstable();
    let paths: hashbrown::HashSet<&str> = walk.candidates.iter().map(|candidate| &*candidate.path).collect();
    stats.retain(|path| paths.contains(path));
    Ok(survey)
}

/// Surveys the given paths and takes the rest as known. `None` where only a walk of everything can tell: a directory that was
/// not known, a file that says what is ignored.
pub(super) fn survey_some(
    known: &Survey,
    paths: &[PathBuf],
    location: &Location,
    config: &Config,
    facts: &FactsStore,
    stats: &mut Stats,
    searchable: bool,
) -> Result<Option<Survey>, StoreError> {
    let mut wanted: Vec<Box<str>> = Vec::with_capacity(paths.len());
    let mut new: Vec<PathBuf> = Vec::new();
    for path in paths {
        let relative = path.strip_prefix(&location.root).unwrap_or(path);
        if relative.is_absolute() {
            continue;
        }
        match known.classify(relative, location) {
            Classified::Known(path) => wanted.push(path),
            Classified::New => new.push(relative.to_path_buf()),
            Classified::Nothing => {}
            Classified::NeedsWalk => return Ok(None),
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    let mut survey = Survey {
        files: known.files.clone(),
        skipped: known.skipped.clone(),
        manifests: known.manifests.clone(),
        scip: known.scip.clone(),
        indexes: known.indexes.clone(),
        read: 0,
        extracted: 0,
        extracted_bytes: 0,
    };
    if survey.indexes.iter_mut().any(GitIndex::differs) {
        return Ok(None);
    }
    let mut candidates = Vec::with_capacity(wanted.len());
    for path in wanted {
        survey.remove(&path);
        let absolute = location.root.join(crate::scan::unescape_path(&path));
        match std::fs::symlink_metadata(absolute) {
            Ok(metadata) if metadata.is_file() => candidates.push(Candidate {
                path,
                stamp: Stamp::of(&metadata),
            }),
            Ok(_) => return Ok(None),
            Err(_) => {}
        }
    }
    if !new.is_empty() {
        // Whether a new file counts is for the rules of the directories above it to say.
        match walk_to(&location.root, config, &new) {
            Ok(Some(walk)) if walk.skipped.is_empty() => candidates.extend(walk.candidates),
            _ => return Ok(None),
        }
    }
    let cache = &*stats;
    let room = Room::of(survey.files.len());
    let surveyed: Vec<Surveyed> = candidates
        .par_iter()
        .with_max_len(1)
        .map(|candidate| survey_one(candidate, location, config, facts, cache, searchable, &room))
        .collect::<Result<_, _>>()?;
    for one in surveyed {
        survey.add(one, stats);
    }
    survey.files.sort_by(|left, right| left.path.cmp(&right.path));
    survey.skipped.sort_unstable();
    survey.manifests.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(Some(survey))
}

enum Classified {
    Known(Box<str>),
    /// A file that was not there, in a directory that was.
    New,
    Nothing,
    NeedsWalk,
}

impl Survey {
    /// Digest of all that a snapshot is made from.
    pub(super) fn digest(&self) -> [u8; 32] {
        // One large block is hashed several times faster than many small ones.
        let mut told: Vec<u8> = Vec::with_capacity(128 * self.files.len());
        for version in [
            SNAPSHOT_VERSION,
            crate::EXTRACTION_VERSION,
            DECODE_VERSION,
            crate::RESOLUTION_VERSION,
        ] {
            told.extend(version.to_le_bytes());
        }
        // Lengths go before texts, so that no two trees spell the same bytes.
        let text = |told: &mut Vec<u8>, text: &str| {
            told.extend((text.len() as u64).to_le_bytes());
            told.extend_from_slice(text.as_bytes());
        };
        told.extend((self.files.len() as u64).to_le_bytes());
        for file in &self.files {
            text(&mut told, &file.path);
            text(&mut told, file.language);
            told.extend_from_slice(&file.hash);
        }
        told.extend((self.skipped.len() as u64).to_le_bytes());
        for file in &self.skipped {
            text(&mut told, &file.path);
            told.extend(file.reason.code().to_le_bytes());
            told.extend(file.size.to_le_bytes());
        }
        for manifest in &self.manifests {
            text(&mut told, &manifest.path);
            text(&mut told, &manifest.text);
        }
        for (digest, _) in &self.scip {
            told.extend_from_slice(digest);
        }
        *blake3::hash(&told).as_bytes()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = FactsKey> + '_ {
        self.files.iter().map(Entry::key)
    }

    pub(super) fn skipped_by_reason(&self) -> Vec<(SkipReason, usize)> {
        SkipReason::ALL
            .into_iter()
            .map(|reason| (reason, self.skipped.iter().filter(|file| file.reason == reason).count()))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    fn add(&mut self, surveyed: Surveyed, stats: &mut Stats) {
        let Surveyed {
            stamp,
            path,
            outcome,
            manifest,
            fresh,
            extracted,
        } = surveyed;
        if fresh {
            self.read += 1;
            let known = match &outcome {
                Ok(entry) => Known::Source {
                    hash: entry.hash,
                    language: entry.language.into(),
                    converted: entry.flags.contains(FileFlags::DECODED),
                },
                Err(reason) => Known::Skipped(*reason),
            };
            // What could not be read may be readable next time without a change of its stamp.
            if !matches!(outcome, Err(SkipReason::Unreadable | SkipReason::Vanished)) {
                stats.put(&path, stamp, known);
            }
        }
        self.manifests.extend(manifest);
        match outcome {
            Ok(entry) => {
                if extracted {
                    self.extracted += 1;
                    self.extracted_bytes += entry.size;
                }
                self.files.push(entry);
            }
            // As if it had never been there.
            Err(SkipReason::Vanished) => {}
            Err(reason) => self.skipped.push(Skipped {
                path,
                reason,
                size: stamp.size,
            }),
        }
    }

    fn remove(&mut self, path: &str) {
        if let Ok(at) = self.files.binary_search_by(|file| (*file.path).cmp(path)) {
            self.files.remove(at);
        }
        self.skipped.retain(|file| *file.path != *path);
        self.manifests.retain(|manifest| *manifest.path != *path);
    }

    fn classify(&self, relative: &Path, location: &Location) -> Classified {
        let name = relative.file_name().unwrap_or_default().to_string_lossy();
        if matches!(&*name, ".gitignore" | ".ignore" | "lacon.toml" | ".git") || relative.ends_with(".git/info/exclude")
        {
            return Classified::NeedsWalk;
        }
        let path = escape_path(relative);
        let is_known = self.files.binary_search_by(|file| (*file.path).cmp(&path)).is_ok()
            || self.skipped.iter().any(|file| *file.path == *path)
            || self.manifests.iter().any(|manifest| *manifest.path == *path);
        if path.ends_with(".scip") {
            return Classified::NeedsWalk;
        }
        if is_known {
            return Classified::Known(path.into());
        }
        let below = format!("{path}/");
        let held_files = self
            .files
            .get(self.files.partition_point(|file| *file.path < *below))
            .is_some_and(|file| file.path.starts_with(&below));
        match std::fs::symlink_metadata(location.root.join(relative)) {
            // A directory reports the change of its entries, which report themselves.
            Ok(metadata) if metadata.is_dir() && held_files => Classified::Nothing,
            Ok(metadata) if metadata.is_file() => Classified::New,
            Ok(_) => Classified::NeedsWalk,
            Err(_) if held_files => Classified::NeedsWalk,
            Err(_) => Classified::Nothing,
        }
    }
}

fn survey_one(
    candidate: &Candidate,
    location: &Location,
    config: &Config,
    facts: &FactsStore,
    stats: &Stats,
    searchable: bool,
    room: &Room,
) -> Result<Surveyed, StoreError> {
    let path = &*candidate.path;
    let name = path.rsplit('/').next().unwrap_or(path);
    let manifest = is_manifest(name)
        .then(|| read_bytes(&location.root, path, MAX_MANIFEST).ok())
        .flatten()
        .and_then(|bytes| {
            Some(Manifest {
                path: path.into(),
                text: (*decode(&bytes)?.text).into(),
            })
        });
    let mut surveyed = Surveyed {
        stamp: candidate.stamp,
        path: path.into(),
        outcome: Err(SkipReason::Vanished),
        manifest,
        fresh: false,
        extracted: false,
    };
    match stats.get(path, &candidate.stamp) {
        Some(Known::Skipped(reason)) => {
            surveyed.outcome = Err(*reason);
            return Ok(surveyed);
        }
        Some(Known::Source {
            hash,
            language,
            converted,
        }) => {
            if let Some(language) = syntax::languages::by_name(language) {
                let entry = Entry {
                    path: path.into(),
                    language: language.name(),
                    hash: *hash,
                    size: candidate.stamp.size,
                    flags: file_flags(*converted),
                    segment: None,
                    unit: None,
                    facts: None,
                };
                if facts.contains(&entry.key()) {
                    surveyed.outcome = Ok(entry);
                    return Ok(surveyed);
                }
            }
        }
        None => {}
    }
    surveyed.fresh = true;
    surveyed.outcome = match read(&location.root, candidate, config) {
        Err(reason) => Err(reason),
        Ok(source) => {
            let mut entry = Entry {
                path: path.into(),
                language: source.language.name(),
                hash: *blake3::hash(&source.bytes).as_bytes(),
                size: source.bytes.len() as u64,
                flags: FileFlags::default(),
                segment: None,
                unit: None,
                facts: None,
            };
            match decode(&source.bytes) {
                None => Err(SkipReason::Binary),
                Some(decoded) => {
                    entry.flags = file_flags(decoded.converted);
                    let key = entry.key();
                    if !facts.contains(&key) {
                        let found = syntax::extract(source.language, &decoded.text);
                        facts.put(&key, &found)?;
                        let segment = Segment::new(&found, entry.size, entry.flags);
                        if searchable {
                            entry.unit = search::unit(path, &decoded.text, &found, &segment).map(Into::into);
                        }
                        entry.segment = Some(segment.into());
                        entry.facts = room.keep(found);
                        surveyed.extracted = true;
                    }
                    Ok(entry)
                }
            }
        }
    };
    Ok(surveyed)
}

/// Reads the SCIP indexes that the configuration names. One that is missing is as if it were empty: it is made by other
/// tools, at other times.
fn read_scip(location: &Location, config: &Config) -> Vec<([u8; 32], Arc<[u8]>)> {
    const MAX_SCIP: u64 = 4 << 30;
    config
        .scip
        .iter()
        .filter_map(|path| read_bytes(&location.root, path, MAX_SCIP).ok())
        .map(|bytes| (*blake3::hash(&bytes).as_bytes(), bytes.into()))
        .collect()
}

fn file_flags(converted: bool) -> FileFlags {
    match converted {
        true => FileFlags::DECODED,
        false => FileFlags::default(),
    }
}
