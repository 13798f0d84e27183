//! The trees a server answers about: opens their indexes, follows the newest snapshots, and keeps them up to date.
//!
//! The one trick: whoever writes an index and whoever reads it share nothing but the snapshot file. A thread of this process
//! builds and watches unless another process already does; before each answer it is asked whether the newest snapshot has all that
//! was changed so far (`index::fresh`), and what it does not have in time is said.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use codeintel::{Derived, Repository, Workspace};
use index::build::{BuildError, Follower, Indexer, Options, Progress, glance};
use index::fresh::{Asked, Question};
use index::snapshot::{Snapshot, SnapshotError};
use index::store::{Location, StoreError, ask_for_repair};
use index::watch::{Patience, Watched, watch};
use terminal::failure::Failure;
use wire::protocol::Refusal;

use super::refusal;
use crate::project::NoProject;
use crate::workspace::{Declared, repositories};

/// What is done about changes of a tree that no process follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unattended {
    /// They are taken up before the answer.
    Updated,
    /// They are named in the answer.
    Told,
}

/// How a snapshot compares with its tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Currency {
    /// It was not compared.
    #[default]
    Unknown,
    /// It has all that was changed.
    Current,
    /// It lacks what these words say.
    Behind(String),
}

/// The trees of one server.
pub struct Trees {
    state: Mutex<State>,
    /// Whether this process sees to it that the indexes follow the files.
    kept: AtomicBool,
}

struct State {
    trees: Vec<Tree>,
    /// Why there are none.
    none: Option<Refusal>,
    /// Ends the threads that keep these trees.
    stopping: Arc<AtomicBool>,
    workspace: Arc<Workspace>,
    /// What the trees were like when the workspace was made.
    notes: Vec<Option<String>>,
}

struct Tree {
    name: String,
    root: PathBuf,
    index_dir: Option<PathBuf>,
    follower: Option<Follower>,
    /// A part of the tree, while there is no index of the whole, and which part it is in words.
    part: Option<(Arc<Snapshot>, String)>,
    /// What was computed from the snapshot at hand.
    derived: Derived,
    /// How the snapshot compared with the tree when it was last asked for.
    currency: Currency,
    /// A thread of this process keeps it.
    is_kept: bool,
    told: Arc<Mutex<Told>>,
}

/// What the thread that builds an index tells of it.
#[derive(Default)]
struct Told {
    /// What the index still lacks, in words.
    note: Option<String>,
    /// Why nothing more is to be expected, and what to do, while that is so.
    ended: Option<String>,
    /// This process keeps the index up to date.
    kept: bool,
    /// There is an index to answer from, however old.
    built: bool,
    /// How far the build is.
    step: Step,
    /// A part to answer from meanwhile, and which part it is in words.
    part: Option<(Snapshot, String)>,
}

/// How far the first build is. Only ever grows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Step {
    pub(crate) done: usize,
    /// 0 while it is not known.
    pub(crate) of: usize,
}

impl Trees {
    /// The trees at these paths, or that the files at these paths list. An index that is not there yet is no error: it may be
    /// built.
    pub fn open(paths: &[PathBuf], index_dir: Option<&Path>) -> Result<Trees, Failure> {
        Ok(Trees::of(State::of(repositories(paths, index_dir)?)))
    }

    /// None yet, for this reason: [`Trees::adopt`] may bring some.
    pub fn none(why: &NoProject) -> Trees {
        Trees::of(State {
            none: Some(none(why)),
            ..State::of(Vec::new())
        })
    }

    fn of(state: State) -> Trees {
        Trees {
            state: Mutex::new(state),
            kept: AtomicBool::default(),
        }
    }

    /// Answers about the trees at these paths from now on. Says whether they are others than before.
    pub fn adopt(&self, paths: &[PathBuf]) -> Result<bool, Failure> {
        let declared = repositories(paths, None)?;
        let mut state = lock(&self.state);
        let roots = state.trees.iter().map(|tree| &tree.root);
        if roots.eq(declared.iter().map(|repository| &repository.root)) {
            return Ok(false);
        }
        state.stopping.store(true, Ordering::Relaxed);
        *state = State::of(declared);
        drop(state);
        if self.are_kept() {
            self.keep_up_to_date();
        }
        Ok(true)
    }

    /// Answers about no tree from now on, for this reason.
    pub fn give_up(&self, why: &NoProject) {
        let mut state = lock(&self.state);
        state.stopping.store(true, Ordering::Relaxed);
        *state = State {
            none: Some(none(why)),
            ..State::of(Vec::new())
        };
    }

    /// Their roots, in order.
    pub fn roots(&self) -> Vec<PathBuf> {
        lock(&self.state).trees.iter().map(|tree| tree.root.clone()).collect()
    }

    /// The index directory of the first: what is not about one tree is kept there.
    pub fn directory(&self) -> Option<PathBuf> {
        let state = lock(&self.state);
        let tree = state.trees.first()?;
        let location = index::store::Location::of(&tree.root, tree.index_dir.as_deref()).ok()?;
        Some(location.directory)
    }

    /// Where each is, and what its index lacks, in words.
    pub(crate) fn places(&self) -> Vec<(String, PathBuf, Option<PathBuf>, Option<String>)> {
        let state = lock(&self.state);
        let place = |tree: &Tree| {
            let note = lock(&tree.told).note.clone();
            (tree.name.clone(), tree.root.clone(), tree.index_dir.clone(), note)
        };
        state.trees.iter().map(place).collect()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        lock(&self.state).trees.len()
    }

    /// Their names, in order.
    pub fn names(&self) -> Vec<String> {
        lock(&self.state).trees.iter().map(|tree| tree.name.clone()).collect()
    }

    /// Builds the indexes and keeps them up to date, each in a thread of its own.
    pub fn keep_up_to_date(&self) {
        self.kept.store(true, Ordering::Relaxed);
        let mut state = lock(&self.state);
        let stopping = state.stopping.clone();
        for tree in state.trees.iter_mut().filter(|tree| !tree.is_kept) {
            tree.is_kept = true;
            lock(&tree.told).note = Some("the index is being checked for changes".to_string());
            let (root, index_dir, told) = (tree.root.clone(), tree.index_dir.clone(), tree.told.clone());
            let stopping = stopping.clone();
            std::thread::spawn(move || keep(&root, index_dir, &told, &stopping));
        }
    }

    /// Whether they are kept up to date.
    pub fn are_kept(&self) -> bool {
        self.kept.load(Ordering::Relaxed)
    }

    /// Tells the threads to end; a build that is under way is not waited for, since what it leaves is whole.
    pub fn stop(&self) {
        lock(&self.state).stopping.store(true, Ordering::Relaxed);
    }

    /// How far the first build is that is not done, and what it does.
    pub(crate) fn progress(&self) -> Option<(Step, String)> {
        let state = lock(&self.state);
        state.trees.iter().find_map(|tree| {
            let told = lock(&tree.told);
            Some((told.step, told.note.clone()?))
        })
    }

    /// Lets go of snapshots that were found to be damaged, so that the next question opens what is there then, and has them made anew
    /// by whoever keeps them. Whether that is this process.
    pub fn give_up_damaged(&self) -> bool {
        let mut state = lock(&self.state);
        let mut is_kept = false;
        for tree in &mut state.trees {
            let is_damaged = |follower: &Follower| follower.snapshot().damage().is_some();
            if tree.follower.as_ref().is_some_and(is_damaged) {
                tree.follower = None;
                tree.derived = tree.derived.of_next();
                is_kept |= lock(&tree.told).kept;
                tree.ask_for_repair();
            }
        }
        // So that the workspace is put together again.
        state.notes.clear();
        is_kept
    }

    /// The snapshots of all trees as they are now. What takes longer than `patience` to take up is said in the answers.
    pub fn fresh_workspace(&self, patience: Duration, unattended: Unattended) -> Result<Arc<Workspace>, Refusal> {
        let until = Instant::now() + patience;
        let places: Vec<Option<(Location, bool)>> = {
            let state = lock(&self.state);
            let place = |tree: &Tree| {
                let location = Location::of(&tree.root, tree.index_dir.as_deref()).ok()?;
                let is_coming = tree.is_kept && lock(&tree.told).ended.is_none();
                // Without a snapshot there is nothing to compare yet.
                location.snapshot().exists().then_some((location, is_coming))
            };
            state.trees.iter().map(place).collect()
        };
        let put = |(location, is_coming): (Location, bool)| {
            // The thread that keeps the index may be about to open it.
            let question = Question::put(&location, if is_coming { until } else { Instant::now() });
            (location, question)
        };
        let questions: Vec<Option<(Location, Question)>> = places.into_iter().map(|place| place.map(put)).collect();
        let mut states: Vec<Option<Currency>> = Vec::new();
        for question in questions {
            states.push(question.map(|(location, question)| match question.wait(until) {
                Asked::Fresh => Currency::Current,
                Asked::Late => compared(&location, Unattended::Told),
                Asked::NoWriter => compared(&location, unattended),
            }));
        }
        {
            let mut state = lock(&self.state);
            for (tree, currency) in state.trees.iter_mut().zip(states) {
                tree.currency = currency.unwrap_or_default();
            }
        }
        self.workspace()
    }

    /// The newest snapshots of all trees. Fails while there is none at all.
    pub fn workspace(&self) -> Result<Arc<Workspace>, Refusal> {
        let mut state = lock(&self.state);
        if let Some(none) = &state.none {
            return Err(none.clone());
        }
        let mut changed = false;
        for tree in &mut state.trees {
            changed |= tree.refresh();
        }
        let notes: Vec<Option<String>> = state.trees.iter().map(Tree::note).collect();
        if changed || notes != state.notes {
            state.workspace = Arc::new(together(&state.trees, &notes));
            state.notes = notes;
        }
        match state.workspace.repositories() {
            [] => Err(missing(&state.trees, &state.notes)),
            _ => Ok(state.workspace.clone()),
        }
    }
}

impl State {
    fn of(declared: Vec<Declared>) -> State {
        let tree = |repository: Declared| Tree {
            name: repository.name,
            root: repository.root,
            index_dir: repository.index_dir,
            follower: None,
            part: None,
            derived: Derived::default(),
            currency: Currency::default(),
            is_kept: false,
            told: Arc::default(),
        };
        State {
            trees: declared.into_iter().map(tree).collect(),
            none: None,
            stopping: Arc::default(),
            workspace: Arc::default(),
            notes: Vec::new(),
        }
    }
}

/// What a question is told where no project is meant.
fn none(why: &NoProject) -> Refusal {
    refusal(
        "no_project",
        format!("{why}: give the absolute path of the project as `root` with the call, or start `lacon mcp DIR` there"),
    )
}

/// The snapshot has all but these files, in words.
fn said_newer(newer: &[String]) -> String {
    const NAMED: usize = 5;
    let named: Vec<&str> = newer.iter().take(NAMED).map(String::as_str).collect();
    let more = match newer.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("changed since the index was made: {}{more}", named.join(", "))
}

/// Files of a tree that are brought up to date before an answer where nobody follows them: what a few seconds suffice for.
const SMALL: usize = 4_000;

/// Compares an index with its tree, and brings it up to date where that is wanted.
fn compared(location: &Location, unattended: Unattended) -> Currency {
    let Ok(snapshot) = Snapshot::open(&location.snapshot()) else {
        // Damage is for the first question that meets it.
        return Currency::Unknown;
    };
    let newer = match index::fresh::newer(location, &snapshot) {
        Ok(newer) => newer,
        Err(error) => return Currency::Behind(format!("the index cannot be compared with the files: {error}")),
    };
    if snapshot.damage().is_some() {
        return Currency::Unknown;
    }
    if newer.is_empty() {
        return Currency::Current;
    }
    if unattended == Unattended::Told {
        return Currency::Behind(said_newer(&newer));
    }
    let said = format!("{}; `lacon index` takes them up", said_newer(&newer));
    if snapshot.file_count() > SMALL {
        return Currency::Behind(said);
    }
    let options = Options {
        directory: Some(location.directory.clone()).filter(|directory| !is_usual(location, directory)),
        ..Options::default()
    };
    let built = Indexer::open(&location.root, options).and_then(|mut indexer| indexer.build());
    match built {
        Ok(_) => Currency::Current,
        Err(error) => {
            tracing::debug!(%error, "the index was not brought up to date");
            Currency::Behind(said)
        }
    }
}

/// Whether an index lies where it would without being asked to.
fn is_usual(location: &Location, directory: &Path) -> bool {
    Location::of(&location.root, None).is_ok_and(|usual| usual.directory == directory)
}

impl Tree {
    /// What the index still lacks, in words.
    fn note(&self) -> Option<String> {
        let told = lock(&self.told);
        match &self.currency {
            Currency::Unknown => told.note.clone(),
            // Whatever is being done to it.
            Currency::Current => told.ended.clone(),
            Currency::Behind(late) => {
                let parts: Vec<&str> = std::iter::once(late.as_str()).chain(told.note.as_deref()).collect();
                Some(parts.join("; "))
            }
        }
    }

    /// Moves on to the newest snapshot there is, of the whole or of a part; says whether there was a newer one.
    fn refresh(&mut self) -> bool {
        let is_newer = match &mut self.follower {
            // What was read of the one at hand is still good; one that cannot be read is replaced, if somebody knows.
            Some(follower) => follower.refresh().unwrap_or_else(|error| {
                if let BuildError::Snapshot(SnapshotError::Damaged(_)) = error {
                    self.ask_for_repair();
                }
                false
            }),
            None => {
                self.follower = match Follower::open(&self.root, self.index_dir.as_deref()) {
                    Ok(follower) => Some(follower),
                    Err(BuildError::Snapshot(SnapshotError::Damaged(_))) => {
                        self.ask_for_repair();
                        None
                    }
                    Err(_) => None,
                };
                let part = lock(&self.told).part.take();
                match (&self.follower, part) {
                    (Some(_), _) => self.part = None,
                    (None, Some((part, which))) => self.part = Some((Arc::new(part), which)),
                    (None, None) => return false,
                }
                true
            }
        };
        if is_newer {
            self.derived = self.derived.of_next();
        }
        is_newer
    }

    fn ask_for_repair(&self) {
        if let Ok(location) = Location::of(&self.root, self.index_dir.as_deref()) {
            ask_for_repair(&location);
        }
    }

    fn snapshot(&self) -> Option<Arc<Snapshot>> {
        match &self.follower {
            Some(follower) => Some(Arc::new(follower.snapshot().clone())),
            None => self.part.as_ref().map(|(part, _)| part.clone()),
        }
    }

    /// What the snapshot at hand lacks, in words.
    fn lacks(&self, note: Option<&String>) -> Option<String> {
        let part = match &self.follower {
            Some(_) => None,
            None => self.part.as_ref().map(|(_, which)| which),
        };
        let parts: Vec<&str> = part.into_iter().chain(note).map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn together(trees: &[Tree], notes: &[Option<String>]) -> Workspace {
    let mut repositories = Vec::new();
    let mut missing = Vec::new();
    for (tree, note) in trees.iter().zip(notes) {
        match tree.snapshot() {
            Some(snapshot) => repositories.push(Repository {
                name: tree.name.clone(),
                root: tree.root.clone(),
                snapshot,
                incomplete: tree.lacks(note.as_ref()),
                derived: tree.derived.clone(),
            }),
            None => missing.push(format!("{} is not indexed yet", tree.name)),
        }
    }
    // What a whole repository lacks can only be said beside one that is there.
    if let (Some(first), false) = (repositories.first_mut(), missing.is_empty()) {
        missing.extend(first.incomplete.take());
        first.incomplete = Some(missing.join("; "));
    }
    let workspace = Workspace::new(repositories);
    match trees.len() {
        0 | 1 => workspace,
        _ => workspace.with_prefix(),
    }
}

fn missing(trees: &[Tree], notes: &[Option<String>]) -> Refusal {
    let name = trees.first().map_or("", |tree| tree.name.as_str());
    // Whoever is told to ask again does so: only where something will come.
    if let Some(ended) = trees.iter().find_map(|tree| lock(&tree.told).ended.clone()) {
        return refusal("no_index", format!("`{name}`: {ended}"));
    }
    match notes.iter().flatten().next() {
        Some(note) => refusal("index_building", format!("`{name}`: {note}; ask again in a moment")),
        None => match trees.first().and_then(unreadable) {
            // It was there when this process took it over, so that something happened to it since: that is mended.
            Some(error) if trees.first().is_some_and(|tree| lock(&tree.told).kept) => refusal(
                "index_building",
                format!("the index of `{name}` cannot be used ({error}) and is being made anew; ask again in a moment"),
            ),
            Some(error) => {
                let message = format!("the index of `{name}` cannot be used ({error}): run `lacon index` there");
                refusal("no_index", message)
            }
            None => refusal("no_index", format!("`{name}` has no index: run `lacon index` there")),
        },
    }
}

/// Why the index that a tree has cannot be used: made by another version, or damaged.
fn unreadable(tree: &Tree) -> Option<String> {
    let location = index::store::Location::of(&tree.root, tree.index_dir.as_deref()).ok()?;
    if !location.snapshot().exists() {
        return None;
    }
    Follower::open(&tree.root, tree.index_dir.as_deref())
        .err()
        .map(|error| error.to_string())
}

/// How long to wait before looking again whether the writer of an index has gone.
const TAKE_OVER: Duration = Duration::from_secs(5);

/// Files of a tree that are indexed first, where there is no index yet and the tree is much larger.
const GLANCE: usize = 400;

/// How long to wait before trying again what failed.
const TRY_AGAIN: Duration = Duration::from_secs(15);

/// Writes the index of a tree for as long as nobody else does. What fails is said, and tried again now and then: a tree that was
/// moved may come back, a disk may have room again.
fn keep(root: &Path, index_dir: Option<PathBuf>, told: &Arc<Mutex<Told>>, stopping: &AtomicBool) {
    let pause = |time: Duration| {
        let until = Instant::now() + time;
        while !stopping.load(Ordering::Relaxed) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(250));
        }
    };
    while !stopping.load(Ordering::Relaxed) {
        let hearer = told.clone();
        let options = Options {
            directory: index_dir.clone(),
            progress: Some(Arc::new(move |progress| hear(&mut lock(&hearer), progress))),
            ..Options::default()
        };
        match Indexer::open(root, options) {
            Ok(mut indexer) => {
                {
                    let mut told = lock(told);
                    (told.kept, told.built) = (true, indexer.directory().location().snapshot().exists());
                    told.ended = None;
                }
                look_first(&indexer, told);
                let followed = follow(&mut indexer, root, told, stopping);
                lock(told).kept = false;
                match followed {
                    Ok(()) => return,
                    Err(error) => end(told, root, &format!("the index is not kept up to date: {error}")),
                }
                drop(indexer);
                pause(TRY_AGAIN);
            }
            // Another process keeps it: its snapshots are followed.
            Err(BuildError::Store(StoreError::Locked { .. })) => {
                let mut told = lock(told);
                (told.note, told.ended) = (None, None);
                drop(told);
                pause(TAKE_OVER);
            }
            Err(error) => {
                let gone = !root.is_dir();
                end(
                    told,
                    root,
                    &match gone {
                        true => format!("`{}` was moved or removed: start again where it is now", root.display()),
                        false => format!("the index cannot be kept up to date: {error}"),
                    },
                );
                pause(TRY_AGAIN);
            }
        }
    }
}

/// Notes that nothing more is to be expected.
fn end(told: &Mutex<Told>, root: &Path, why: &str) {
    let mut told = lock(told);
    if told.ended.as_deref() != Some(why) {
        tracing::warn!(root = %root.display(), "{why}");
    }
    (told.note, told.ended) = (Some(why.to_string()), Some(why.to_string()));
}

/// Builds the index and follows changes until the process stops, or nothing is left to follow.
fn follow(
    indexer: &mut Indexer,
    root: &Path,
    told: &Mutex<Told>,
    stopping: &AtomicBool,
) -> Result<(), index::watch::WatchError> {
    let mut failed = false;
    watch(indexer, Patience::default(), |event| {
        match event {
            Watched::Failed(error) => {
                failed = true;
                lock(told).note = Some(format!("the last update failed: {error}"));
            }
            Watched::Rested => crate::memory::tidy(),
            Watched::Polling(why) => {
                tracing::warn!(root = %root.display(), "changes are looked for every few seconds: {why}");
            }
            Watched::Idle if failed => {}
            Watched::Built(_) | Watched::Idle => {
                failed = false;
                let mut told = lock(told);
                (told.note, told.built, told.ended) = (None, true, None);
            }
        }
        match stopping.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })
}

/// Where nothing is known of a large tree yet, indexes a part of it to answer from while the whole is built. The part has a
/// directory of its own, so that nobody takes it for the whole.
fn look_first(indexer: &Indexer, told: &Mutex<Told>) {
    let location = indexer.directory().location();
    if location.snapshot().exists() {
        return;
    }
    let own = location.directory.join("glance");
    let hear = |progress| hear(&mut lock(told), progress);
    match glance(indexer.root(), &own, GLANCE, &hear) {
        Ok(Some(part)) => {
            let which = format!("only {} of {} files are known yet", part.files, part.of);
            lock(told).part = Some((part.snapshot, which));
        }
        Ok(None) => {}
        // Whatever is wrong, the build of the whole meets it too and says so.
        Err(error) => tracing::debug!(%error, "no first look"),
    }
    // The snapshot stays mapped for as long as it is used.
    drop(std::fs::remove_dir_all(&own));
}

fn hear(told: &mut Told, progress: Progress) {
    let doing = match told.built {
        true => "brought up to date",
        false => "built",
    };
    let say = |what: String| Some(format!("the index is being {doing}: {what}"));
    let (note, step) = match progress {
        Progress::Found { files } => (say(format!("{files} files found")), Step { done: 0, of: 2 * files }),
        Progress::Extracted { done, total } => (
            say(format!("{done} of {total} files read")),
            Step { done, of: 2 * total },
        ),
        Progress::Resolved { done, total } => (
            say(format!("{done} of {total} files resolved")),
            Step {
                done: total + done,
                of: 2 * total,
            },
        ),
        Progress::Writing => (say("writing".to_string()), told.step),
    };
    told.note = note;
    // Threads may tell out of order.
    if step.done >= told.step.done {
        told.step = step;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing here can leave half a value behind.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_is_there_is_not_said_to_be_built() {
        let mut told = Told::default();
        hear(&mut told, Progress::Found { files: 3 });
        assert_eq!(told.note.as_deref(), Some("the index is being built: 3 files found"));
        told.built = true;
        hear(&mut told, Progress::Extracted { done: 1, total: 3 });
        let note = "the index is being brought up to date: 1 of 3 files read";
        assert_eq!(told.note.as_deref(), Some(note));
    }
}
