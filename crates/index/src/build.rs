//! From a tree to a snapshot: scan, extract what the store does not have, resolve, assemble.
//!
//! A cold build and an update after one edit are the same four steps; they differ in how many files each step touches. What
//! an [`Indexer`] keeps between snapshots is position-independent (segments and edges told by file), so after an edit the
//! files that did not change are copied, not computed. A build from nothing gives the same bytes.

mod glance;
mod mend;
mod room;
mod state;
mod survey;
#[cfg(test)]
mod sweep;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::scan::{Config, ConfigError, SkipReason, Stamp, walk};
use crate::search::{Keeper, TreeFile};
use crate::snapshot::segment::Segment;
use crate::snapshot::{Snapshot, SnapshotError};
use crate::store::{
    Directory, FactsKey, FactsStore, Location, Notice, Place, Stats, StoreError, Walked, WriterLock, repair,
};
use crate::tree::{Keep, Resolve};
pub use glance::{Glance, glance};
use state::State;
use survey::{Survey, survey_all, survey_some};

/// How to build.
#[derive(Clone, Default)]
pub struct Options {
    /// Where to keep the index instead of the default place.
    pub directory: Option<PathBuf>,
    /// What to index instead of what `lacon.toml` says.
    pub config: Option<Config>,
    /// Number of threads; the number of cores where it is not given.
    pub threads: Option<usize>,
    /// Leaves the search index alone, neither made nor removed.
    pub without_search: bool,
    /// Hears how far the build is.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

/// How far a build is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The walk found this many candidates.
    Found {
        /// Candidates.
        files: usize,
    },
    /// Files read or recognised, of those found.
    Extracted {
        /// So far.
        done: usize,
        /// Of.
        total: usize,
    },
    /// Files resolved.
    Resolved {
        /// So far.
        done: usize,
        /// Of; an update may resolve fewer.
        total: usize,
    },
    /// The snapshot is being written.
    Writing,
}

/// Why a build failed. The previous snapshot is still in place.
#[derive(thiserror::Error, Debug)]
pub enum BuildError {
    /// The index directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The snapshot that was just written cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Threads cannot be started.
    #[error("cannot start threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// What a build did.
#[derive(Clone, Debug)]
pub struct Report {
    /// The result.
    pub snapshot: Snapshot,
    /// Whether the snapshot is a new one.
    pub changed: bool,
    /// Files that were read from disk.
    pub read: usize,
    /// Files that were parsed, because the store had no facts of them.
    pub extracted: usize,
    /// Bytes that were parsed.
    pub extracted_bytes: u64,
    /// Files whose edges were computed.
    pub resolved: usize,
    /// Steps that this took: unlike seconds, the same on every machine.
    pub steps: u64,
    /// Files left out, by reason.
    pub skipped: Vec<(SkipReason, usize)>,
    /// What the owner of the index should hear.
    pub notices: Vec<Notice>,
    /// Where the time went.
    pub time: Times,
}

/// Where the time of a build went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Walking the tree.
    pub scan: Duration,
    /// Reading, hashing, parsing and storing.
    pub extract: Duration,
    /// Bringing the search index up to date, beyond what was done while reading.
    pub search: Duration,
    /// Resolving names.
    pub resolve: Duration,
    /// Assembling and writing the snapshot.
    pub write: Duration,
    /// All of it.
    pub total: Duration,
}

/// The one writer of an index, alive between snapshots.
pub struct Indexer {
    options: Options,
    config: Config,
    directory: Directory,
    _lock: WriterLock,
    facts: FactsStore,
    stats: Stats,
    pool: rayon::ThreadPool,
    make_resolver: fn() -> Box<dyn Resolve>,
    search: Keeper,
    survey: Option<Survey>,
    state: Option<State>,
    snapshot: Option<Snapshot>,
    /// The file of the snapshot as it was opened.
    stamp: Option<Stamp>,
    /// When mending failed last.
    not_mended: Option<Instant>,
    notices: Vec<Notice>,
    /// Updates so far.
    updates: u32,
}

/// After so many updates, facts that nobody needs are looked for.
const UPDATES_UNTIL_COLLECTION: u32 = 64;

impl Indexer {
    /// Opens the index of `root` for writing.
    pub fn open(root: &Path, options: Options) -> Result<Indexer, BuildError> {
        Indexer::with_resolver(root, options, || Box::new(crate::resolve::Resolver::new()))
    }

    /// As [`Indexer::open`], with another resolution.
    pub fn with_resolver(
        root: &Path,
        options: Options,
        make_resolver: fn() -> Box<dyn Resolve>,
    ) -> Result<Indexer, BuildError> {
        let location = Location::of(root, options.directory.as_deref())?;
        let config = match &options.config {
            Some(config) => config.clone(),
            None => Config::load(&location.root)?,
        };
        let directory = Directory::create(location)?;
        let lock = directory.lock()?;
        // All that a reader can have found is looked at below.
        repair::begin(directory.location());
        let (facts, mut notices) = FactsStore::open(&directory.location().facts)?;
        let stats = Stats::load(&directory.location().directory, stats_context(&config));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads.unwrap_or(0))
            .stack_size(16 << 20)
            .build()?;
        let stamp = stamp_of(&directory.location().snapshot());
        let snapshot = match Snapshot::open(&directory.location().snapshot()) {
            Ok(snapshot) => match snapshot.verify() {
                Ok(()) => Some(snapshot),
                Err(_) => {
                    notices.push(Notice::DamagedSnapshot);
                    None
                }
            },
            Err(SnapshotError::Missing { .. }) => None,
            Err(SnapshotError::Version { .. }) => {
                notices.push(Notice::OldSnapshot);
                None
            }
            Err(_) => {
                notices.push(Notice::DamagedSnapshot);
                None
            }
        };
        let search = match options.without_search {
            true => Keeper::default(),
            false => Keeper::open(&directory.location().directory),
        };
        Ok(Indexer {
            search,
            options,
            config,
            directory,
            _lock: lock,
            facts,
            stats,
            pool,
            make_resolver,
            survey: None,
            state: None,
            snapshot,
            stamp,
            not_mended: None,
            notices,
            updates: 0,
        })
    }

    /// Brings the snapshot up to date with the whole tree.
    pub fn build(&mut self) -> Result<Report, BuildError> {
        let start = Instant::now();
        if self.options.config.is_none() {
            let config = Config::load(self.root())?;
            if config != self.config {
                self.stats = Stats::load(&self.directory.location().directory, stats_context(&config));
                self.config = config;
            }
        }
        let (root, config) = (self.directory.location().root.as_path(), &self.config);
        let began = SystemTime::now();
        let mut walk = self.pool.install(|| walk(root, config))?;
        let (seen, candidates) = (std::mem::take(&mut walk.seen), walk.candidates.len());
        let scan = start.elapsed();
        if walk.unheeded {
            self.notices.push(Notice::IgnoredEverything);
        }
        self.progress(Progress::Found {
            files: walk.candidates.len(),
        });
        let survey = self.pool.install(|| {
            survey_all(
                walk,
                self.directory.location(),
                &self.config,
                &self.facts,
                &mut self.stats,
                !self.options.without_search,
                &|progress| self.options.progress.iter().for_each(|hear| hear(progress)),
            )
        })?;
        // Whoever builds again will go on doing so.
        let keep = match self.survey {
            Some(_) => Keep::ForUpdates,
            None => Keep::Nothing,
        };
        let report = self.finish(survey, keep, start, scan)?;
        let digest = *report.snapshot.tree_digest();
        self.stats.note_walk(Walked::of(digest, candidates, seen, began));
        self.stats.save(&self.directory)?;
        let live: Vec<FactsKey> = self.survey.iter().flat_map(|survey| survey.keys()).collect();
        self.facts.collect(&live)?;
        Ok(report)
    }

    /// Brings the snapshot up to date with files that may have changed, given by absolute path or relative to the root.
    /// Looks at these alone where that is enough, and at the whole tree where it is not.
    pub fn update(&mut self, paths: &[PathBuf]) -> Result<Report, BuildError> {
        let start = Instant::now();
        let Some(known) = &self.survey else {
            return self.build();
        };
        let survey = self.pool.install(|| {
            survey_some(
                known,
                paths,
                self.directory.location(),
                &self.config,
                &self.facts,
                &mut self.stats,
                !self.options.without_search,
            )
        })?;
        let Some(survey) = survey else {
            return self.build();
        };
        let report = self.finish(survey, Keep::ForUpdates, start, Duration::ZERO)?;
        // A server that follows edits for weeks stores facts of every version of a file.
        self.updates += 1;
        if self.updates.is_multiple_of(UPDATES_UNTIL_COLLECTION) && self.facts.is_crowded() {
            let live: Vec<FactsKey> = self.survey.iter().flat_map(|survey| survey.keys()).collect();
            self.facts.collect(&live)?;
        }
        Ok(report)
    }

    /// Whether an index of git was written since it was last looked at: other files may be tracked.
    pub fn git_is_written(&self) -> bool {
        let mut indexes = self.survey.iter().flat_map(|survey| &survey.indexes);
        indexes.any(crate::scan::GitIndex::is_written)
    }

    /// Makes the index directory anew, where it was removed. The next build writes everything.
    pub fn reopen(&mut self) -> Result<(), BuildError> {
        let root = self.root().to_path_buf();
        *self = Indexer::with_resolver(&root, self.options.clone(), self.make_resolver)?;
        Ok(())
    }

    /// Computes what an update needs, so that the first one is as fast as the others. A build that found nothing to do
    /// leaves it out.
    pub fn prepare(&mut self) -> Result<(), BuildError> {
        if self.survey.is_none() {
            self.build()?;
        }
        let follows = self.state.as_ref().is_some_and(State::follows);
        if let (false, Some(survey)) = (follows, &mut self.survey) {
            let state = self.state.get_or_insert_with(|| State::new((self.make_resolver)()));
            let location = self.directory.location();
            self.pool
                .install(|| state.apply(survey, location, &self.facts, Keep::ForUpdates, &|_| ()));
        }
        Ok(())
    }

    /// Lets go of what [`Indexer::prepare`] computes. The next update resolves everything and holds it again.
    pub fn rest(&mut self) {
        self.state = None;
    }

    /// The newest snapshot, if there is one.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref()
    }

    /// The index directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The tree.
    pub fn root(&self) -> &Path {
        &self.directory.location().root
    }

    fn finish(&mut self, mut survey: Survey, keep: Keep, start: Instant, scan: Duration) -> Result<Report, BuildError> {
        self.facts.flush()?;
        let mut time = Times {
            scan,
            extract: start.elapsed() - scan,
            ..Times::default()
        };
        let digest = survey.digest();
        // Whatever happened to the file since it was written here, it was not this process: it is written again.
        if self.stamp != stamp_of(&self.directory.location().snapshot()) {
            self.snapshot = None;
        }
        let began = Instant::now();
        if !self.options.without_search {
            self.update_search(&mut survey)?;
        }
        time.search = began.elapsed();
        let current = self
            .snapshot
            .as_ref()
            .filter(|snapshot| *snapshot.tree_digest() == digest)
            .cloned();
        let (mut resolved, mut steps) = (0, 0);
        let changed = current.is_none();
        let snapshot = match current {
            Some(snapshot) => {
                // The numbers of a living state must stay those of the survey, so it follows even when nothing is written.
                if let Some(state) = &mut self.state {
                    let location = self.directory.location();
                    self.pool
                        .install(|| state.apply(&mut survey, location, &self.facts, Keep::Nothing, &|_| ()));
                }
                snapshot
            }
            None => {
                let hear = |progress| self.options.progress.iter().for_each(|hear| hear(progress));
                let began = Instant::now();
                let state = self.state.get_or_insert_with(|| State::new((self.make_resolver)()));
                let location = self.directory.location();
                resolved = self
                    .pool
                    .install(|| state.apply(&mut survey, location, &self.facts, keep, &hear));
                steps = state.steps();
                time.resolve = began.elapsed();
                hear(Progress::Writing);
                let began = Instant::now();
                let (pool, directory) = (&self.pool, &self.directory);
                // A digest that no tree has: the next build resolves again.
                let digest = if state.is_lacking() { [0; 32] } else { digest };
                let path = pool.install(|| directory.replace("snapshot", |file| state.write(&survey, digest, file)))?;
                self.stamp = stamp_of(&path);
                time.write = began.elapsed();
                Snapshot::open(&path)?
            }
        };
        if self.state.as_ref().is_some_and(State::is_lacking) {
            self.state = None;
        }
        self.facts.flush()?;
        self.notices.extend(self.facts.take_notice());
        time.total = start.elapsed();
        let report = Report {
            snapshot: snapshot.clone(),
            changed,
            read: survey.read,
            extracted: survey.extracted,
            extracted_bytes: survey.extracted_bytes,
            resolved,
            steps,
            skipped: survey.skipped_by_reason(),
            notices: std::mem::take(&mut self.notices),
            time,
        };
        // Resolution has had them, or was not needed.
        survey.files.iter_mut().for_each(|entry| entry.facts = None);
        self.survey = Some(survey);
        self.snapshot = Some(snapshot);
        Ok(report)
    }

    /// Brings the search index up to date before the snapshot, so that a reader of the snapshot finds what it tells of.
    fn update_search(&mut self, survey: &mut Survey) -> Result<(), StoreError> {
        let units: Vec<_> = survey.files.iter_mut().map(|entry| entry.unit.take()).collect();
        let files: Vec<TreeFile<'_>> = survey
            .files
            .iter()
            .zip(units)
            .map(|(entry, unit)| TreeFile {
                path: &entry.path,
                language: entry.language,
                hash: &entry.hash,
                unit,
            })
            .collect();
        let (location, facts) = (self.directory.location(), &self.facts);
        let make = |number: usize| {
            let entry = &survey.files[number];
            let text = state::text_of(entry, location)?;
            let facts = state::facts_of(entry, location, facts)?;
            let segment = Segment::new(&facts, entry.size, entry.flags);
            crate::search::unit(&entry.path, &text, &facts, &segment)
        };
        let keeper = &mut self.search;
        self.pool.install(|| keeper.update(&self.directory, &files, &make))
    }

    fn progress(&self, progress: Progress) {
        if let Some(hear) = &self.options.progress {
            hear(progress);
        }
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        // A cache that cannot be saved costs time later, nothing else. What took the place of this index is not touched.
        if self.survey.is_some() && self.directory.place() == Place::Same {
            drop(self.stats.save(&self.directory));
        }
    }
}

/// Opens the current snapshot of a tree for reading.
pub fn open_snapshot(root: &Path, directory: Option<&Path>) -> Result<Snapshot, BuildError> {
    let location = Location::of(root, directory)?;
    Ok(Snapshot::open(&location.snapshot())?)
}

/// A reader that follows the writer: holds a snapshot and notices when a newer one is in place.
pub struct Follower {
    location: Location,
    stamp: Option<Stamp>,
    snapshot: Snapshot,
}

impl Follower {
    /// Opens the current snapshot of a tree.
    pub fn open(root: &Path, directory: Option<&Path>) -> Result<Follower, BuildError> {
        let location = Location::of(root, directory)?;
        let stamp = stamp_of(&location.snapshot());
        let snapshot = Snapshot::open(&location.snapshot())?;
        Ok(Follower {
            location,
            stamp,
            snapshot,
        })
    }

    /// The snapshot as of the last [`Follower::refresh`].
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The tree that is followed.
    pub fn root(&self) -> &Path {
        &self.location.root
    }

    /// Moves on to the newest snapshot; says whether there was a newer one. Costs one look at the file when there is not.
    pub fn refresh(&mut self) -> Result<bool, BuildError> {
        let path = self.location.snapshot();
        let stamp = stamp_of(&path);
        if stamp == self.stamp {
            return Ok(false);
        }
        self.snapshot = Snapshot::open(&path)?;
        self.stamp = stamp;
        Ok(true)
    }

    /// Whether the file is on disk as it was indexed.
    pub fn is_current(&self, path: &str) -> bool {
        let file = self.snapshot.find_file(path);
        let read = crate::scan::read_regular(&self.location.root, path, crate::scan::MOST_MAX_FILE_SIZE);
        match (file, read) {
            (Some(file), Ok(bytes)) => blake3::hash(&bytes).as_bytes() == file.hash(),
            _ => false,
        }
    }
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    std::fs::metadata(path).ok().map(|metadata| Stamp::of(&metadata))
}

/// What the entries of the stat cache depend on besides the files.
pub(crate) fn stats_context(config: &Config) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&config.digest());
    hasher.update(&crate::scan::DECODE_VERSION.to_le_bytes());
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    // A new grammar makes files source that were not, and detection may change with the facts.
    for language in syntax::languages::all() {
        hasher.update(language.name().as_bytes());
    }
    hasher.update(&crate::EXTRACTION_VERSION.to_le_bytes());
    *hasher.finalize().as_bytes()
}
