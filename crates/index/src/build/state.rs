//! What an indexer keeps between snapshots: the segment and the edges of each file, and the resolver.

use std::io::{self, Seek, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rayon::prelude::*;
use syntax::FileFacts;
use syntax::facts::{DefinitionId, Kind, Position};

use super::Progress;
use super::room::Room;
use super::survey::{Entry, Survey};
use crate::import::Imported;
use crate::model::{FileId, ResolvedFile};
use crate::resolve::ROUNDS;
use crate::scan::{decode, read_bytes};
use crate::snapshot::fold;
use crate::snapshot::names::Names;
use crate::snapshot::segment::{FileEdges, Segment};
use crate::snapshot::writer::{self, FileInput, Input};
use crate::store::{FactsStore, Location};
use crate::tree::{Change, Keep, Manifest, Resolve, Tree};

/// Everything that the next snapshot is assembled from.
pub(super) struct State {
    files: Vec<FileState>,
    manifests: Vec<Manifest>,
    names: Names,
    externals: Names,
    resolver: Box<dyn Resolve>,
    /// Whether the resolver knows the files.
    resolved: bool,
    /// What other tools resolved.
    imported: Imported,
    /// Digests of what `imported` was read from.
    imported_from: Vec<[u8; 32]>,
    /// See [`State::is_lacking`].
    lacking: AtomicBool,
}

/// For each modified file in order, where the symbols of its older version went.
type Moved = Vec<(FileId, Vec<Option<u32>>)>;

/// One file of the tree that was last applied.
struct FileState {
    entry: Entry,
    segment: Arc<Segment>,
    /// Numbers of the symbols' names.
    names: Box<[u32]>,
    edges: FileEdges,
}

impl State {
    /// Whether the next edit is cheap to follow.
    pub(super) fn follows(&self) -> bool {
        self.resolved && self.resolver.follows()
    }

    /// Whether the facts of some file could not be had: those in the store were damaged, and the file had changed since it was
    /// surveyed. What was made without them must not pass for what belongs to the tree.
    pub(super) fn is_lacking(&self) -> bool {
        self.lacking.load(Ordering::Relaxed)
    }

    pub(super) fn new(resolver: Box<dyn Resolve>) -> State {
        State {
            files: Vec::new(),
            manifests: Vec::new(),
            names: Names::new(fold::compare),
            externals: Names::new(|left, right| left.cmp(right)),
            resolver,
            resolved: false,
            imported: Imported::default(),
            imported_from: Vec::new(),
            lacking: AtomicBool::new(false),
        }
    }

    /// How many steps the last resolution took.
    pub(super) fn steps(&self) -> u64 {
        self.resolver.steps()
    }

    /// Moves on to a new survey and returns how many files were resolved.
    pub(super) fn apply(
        &mut self,
        survey: &mut Survey,
        location: &Location,
        facts: &FactsStore,
        keep: Keep,
        hear: &(dyn Fn(Progress) + Sync),
    ) -> usize {
        self.import(survey);
        let (change, moved) = self.exchange_files(survey, location, facts);
        let nothing = change == Change::default();
        // Imported edges are told by position, so a change of one file may concern the edges of any other.
        if !self.imported.is_empty() && !nothing {
            self.resolved = false;
        }
        let follows = keep == Keep::Nothing || self.resolver.follows();
        if self.resolved && nothing && follows {
            return 0;
        }
        if self.resolved {
            self.follow(&change, &moved);
        }
        self.resolve(&change, keep, location, facts, hear)
    }

    /// Reads the SCIP indexes of a survey unless they are the ones already read.
    fn import(&mut self, survey: &Survey) {
        let from: Vec<[u8; 32]> = survey.scip.iter().map(|(digest, _)| *digest).collect();
        if from == self.imported_from {
            return;
        }
        self.imported = Imported::default();
        for (_, bytes) in &survey.scip {
            // What was read before some damage is as good as the rest: each edge is checked on its own.
            let _damaged = self.imported.read(bytes);
        }
        self.imported_from = from;
        self.resolved = false;
    }

    /// Writes the snapshot of the survey that was last applied.
    pub(super) fn write(
        &mut self,
        survey: &Survey,
        digest: [u8; 32],
        out: &mut (impl Write + Seek + Send),
    ) -> io::Result<()> {
        let files: Vec<FileInput<'_>> = self
            .files
            .iter()
            .map(|file| FileInput {
                path: &file.entry.path,
                language: file.entry.language,
                hash: file.entry.hash,
                size: file.entry.size,
                segment: &file.segment,
                names: &file.names,
                edges: &file.edges,
            })
            .collect();
        let input = Input {
            tree: digest,
            files: &files,
            names: &mut self.names,
            externals: &mut self.externals,
            skipped: &survey.skipped,
        };
        writer::write(input, out)
    }

    /// Replaces the list of files. Returns what changed, and for each modified file where its symbols went.
    fn exchange_files(&mut self, survey: &mut Survey, location: &Location, facts: &FactsStore) -> (Change, Moved) {
        let mut change = Change {
            manifests: self.manifests != survey.manifests,
            ..Change::default()
        };
        self.manifests.clone_from(&survey.manifests);
        let mut old: Vec<Option<FileState>> = std::mem::take(&mut self.files).into_iter().map(Some).collect();
        let mut renumbered: Vec<Option<FileId>> = vec![None; old.len()];
        // For each new file the old one of the same path, if any: a merge of two sorted lists.
        let mut before: Vec<Option<usize>> = Vec::with_capacity(survey.files.len());
        let mut at = 0;
        for (number, entry) in (0..).map(FileId).zip(&survey.files) {
            let path_of = |at: usize| old[at].as_ref().map(|file| &*file.entry.path);
            while at < old.len() && path_of(at) < Some(&entry.path) {
                change.removed.push(FileId(at as u32));
                at += 1;
            }
            if at < old.len() && path_of(at) == Some(&entry.path) {
                renumbered[at] = Some(number);
                before.push(Some(at));
                at += 1;
            } else {
                change.added.push(number);
                before.push(None);
            }
        }
        change.removed.extend((at..old.len()).map(|at| FileId(at as u32)));
        if !change.added.is_empty() || !change.removed.is_empty() {
            change.renumbered = Some(renumbered);
        }

        let segments: Vec<Option<Arc<Segment>>> = survey
            .files
            .par_iter_mut()
            .enumerate()
            .map(|(number, entry)| {
                let segment = entry.segment.take();
                if is_kept(&before, &old, number, entry) {
                    return None;
                }
                Some(segment.unwrap_or_else(|| {
                    let facts = noted(facts_of(entry, location, facts), &self.lacking);
                    Segment::new(&facts, entry.size, entry.flags).into()
                }))
            })
            .collect();

        let mut moved = Vec::new();
        for (number, (entry, segment)) in survey.files.iter_mut().zip(segments).enumerate() {
            let facts = entry.facts.take();
            let previous = before[number].and_then(|at| old[at].take());
            let file = match (previous, segment) {
                (Some(file), None) => FileState {
                    entry: entry.clone(),
                    ..file
                },
                (previous, segment) => {
                    let Some(segment) = segment else { continue };
                    if let Some(previous) = previous {
                        change.modified.push(FileId(number as u32));
                        let kept = segment.kept_from(&previous.segment);
                        if let Some(table) = segment.moved_from(&previous.segment, &kept) {
                            moved.push((FileId(number as u32), table));
                        }
                        change.kept.push((FileId(number as u32), kept));
                    }
                    FileState {
                        entry: Entry { facts, ..entry.clone() },
                        names: segment.names().map(|name| self.names.number(name)).collect(),
                        segment,
                        edges: FileEdges::default(),
                    }
                }
            };
            self.files.push(file);
        }
        (change, moved)
    }

    /// Lets the edges of unchanged files follow files that were renumbered and symbols that moved.
    fn follow(&mut self, change: &Change, moved: &[(FileId, Vec<Option<u32>>)]) {
        if change.renumbered.is_none() && moved.is_empty() {
            return;
        }
        self.files.par_iter_mut().for_each(|file| {
            file.edges.follow(
                |old| change.renumber(old),
                |file| {
                    let at = moved.binary_search_by_key(&file, |(file, _)| *file).ok()?;
                    Some(&moved[at].1)
                },
            );
        });
    }

    fn resolve(
        &mut self,
        change: &Change,
        keep: Keep,
        location: &Location,
        facts: &FactsStore,
        hear: &(dyn Fn(Progress) + Sync),
    ) -> usize {
        let total = self.files.len();
        let follows = self.resolved && self.resolver.follows();
        let done = AtomicUsize::new(0);
        let externals = Mutex::new(std::mem::replace(
            &mut self.externals,
            Names::new(|_, _| std::cmp::Ordering::Equal),
        ));
        let results: Mutex<Vec<(FileId, FileEdges)>> = Mutex::default();
        let decoded: Vec<Option<Arc<FileFacts>>> = self.files.iter_mut().map(|file| file.entry.facts.take()).collect();
        let files = &self.files;
        let imported = &self.imported;
        let sink = |file: FileId, mut resolved: ResolvedFile| {
            let Some(state) = files.get(file.0 as usize) else {
                return;
            };
            if !imported.is_empty() {
                let own = noted(facts_of(&state.entry, location, facts), &self.lacking);
                imported.refine(&state.entry.path, &own, &mut resolved, |path, at, name| {
                    definition_at(files, path, at, name)
                });
            }
            let edges = FileEdges::new(
                file,
                &state.segment,
                &resolved,
                |target| files.get(target.0 as usize).map(|target| &*target.segment),
                |names| {
                    let mut externals = externals.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    names.iter().map(|name| externals.number(name)).collect()
                },
            );
            results
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .push((file, edges));
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            // What comes before is heard by the tree, as far as all files are gone through.
            let done = if follows {
                done
            } else {
                (ROUNDS * total + done) / (ROUNDS + 1)
            };
            if done.is_multiple_of(64) || done == total {
                hear(Progress::Resolved { done, total });
            }
        };
        let room = Room::of(total);
        let tree = StateTree {
            files,
            manifests: &self.manifests,
            location,
            facts,
            lacking: &self.lacking,
            decoded: decoded.into_iter().map(|facts| keep_in(&room, facts)).collect(),
            room,
            hear,
        };
        if follows {
            self.resolver.update(&tree, change, &sink);
        } else {
            self.resolver.resolve(&tree, keep, &sink);
            self.resolved = true;
        }
        let results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.externals = externals.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let count = results.len();
        for (file, edges) in results {
            self.files[file.0 as usize].edges = edges;
        }
        count
    }
}

/// Facts that were extracted just now, as the resolver finds them.
fn keep_in(room: &Room, facts: Option<Arc<FileFacts>>) -> OnceLock<Arc<FileFacts>> {
    facts
        .filter(|facts| room.take(facts))
        .map_or_else(OnceLock::new, OnceLock::from)
}

/// The definition of this name that stands at a place.
fn definition_at(files: &[FileState], path: &str, at: Position, name: &str) -> Option<(FileId, DefinitionId, Kind)> {
    let number = files.binary_search_by(|file| (*file.entry.path).cmp(path)).ok()?;
    let definition = files[number].segment.definition_at(at, name)?;
    Some((FileId(number as u32), definition.0, definition.1))
}

fn is_kept(before: &[Option<usize>], old: &[Option<FileState>], number: usize, entry: &Entry) -> bool {
    before[number]
        .and_then(|at| old[at].as_ref())
        .is_some_and(|file| file.entry.same_content(entry) && file.entry.flags == entry.flags)
}

/// The tree as the resolver sees it.
struct StateTree<'a> {
    files: &'a [FileState],
    manifests: &'a [Manifest],
    location: &'a Location,
    facts: &'a FactsStore,
    lacking: &'a AtomicBool,
    decoded: Vec<OnceLock<Arc<FileFacts>>>,
    room: Room,
    hear: &'a (dyn Fn(Progress) + Sync),
}

impl Tree for StateTree<'_> {
    fn file_count(&self) -> usize {
        self.files.len()
    }

    fn path(&self, file: FileId) -> &str {
        self.files.get(file.0 as usize).map_or("", |file| &file.entry.path)
    }

    fn language(&self, file: FileId) -> &str {
        self.files.get(file.0 as usize).map_or("", |file| file.entry.language)
    }

    fn facts(&self, file: FileId) -> Arc<FileFacts> {
        let number = file.0 as usize;
        let (Some(file), Some(decoded)) = (self.files.get(number), self.decoded.get(number)) else {
            return Arc::default();
        };
        if let Some(facts) = decoded.get() {
            return facts.clone();
        }
        let facts: Arc<FileFacts> = noted(facts_of(&file.entry, self.location, self.facts), self.lacking).into();
        if self.room.take(&facts) {
            // Another thread may have been faster; both have the same facts.
            drop(decoded.set(facts.clone()));
        }
        facts
    }

    fn manifests(&self) -> &[Manifest] {
        self.manifests
    }

    fn hear(&self, round: usize, done: usize) {
        let total = self.files.len();
        let done = (round * total + done) / (ROUNDS + 1);
        (self.hear)(Progress::Resolved { done, total });
    }
}

/// The facts of a file from the store, or from the file itself where the store's are damaged; `None` where the file changed
/// since it was surveyed.
pub(super) fn facts_of(entry: &Entry, location: &Location, store: &FactsStore) -> Option<FileFacts> {
    if let Some(facts) = store.get(&entry.key()) {
        return Some(facts);
    }
    let language = syntax::languages::by_name(entry.language)?;
    let facts = syntax::extract(language, &text_of(entry, location)?);
    // Kept for next time; a full disk is reported when the snapshot is written.
    drop(store.put(&entry.key(), &facts));
    Some(facts)
}

/// Facts, or none of a file whose facts are lacking.
fn noted(facts: Option<FileFacts>, lacking: &AtomicBool) -> FileFacts {
    facts.unwrap_or_else(|| {
        lacking.store(true, Ordering::Relaxed);
        FileFacts::default()
    })
}

/// The text of a file; `None` where it changed since it was surveyed.
pub(super) fn text_of(entry: &Entry, location: &Location) -> Option<String> {
    let bytes = read_bytes(&location.root, &entry.path, u64::MAX - 1).ok()?;
    let same = *blake3::hash(&bytes).as_bytes() == entry.hash;
    Some(decode(&bytes).filter(|_| same)?.text.into_owned())
}
