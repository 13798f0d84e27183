//! The repositories a question is asked about, each with the snapshot it is answered from.
//!
//! A question sees one immutable [`Workspace`]: whoever follows changes makes a new one and swaps it. With several
//! repositories every id and path is prefixed by `<repository>/`; with one there is no prefix.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use index::search::TextFilter;
use index::snapshot::{EdgeKinds, EdgeView, FileView, Snapshot, SymbolId, SymbolView};
use index::store::Damage;

use crate::analyze::{Communities, Dead, Hottest, communities, dead, hottest};
use crate::compiler::Confirmed;
use crate::context::{PathWords, Recency};
use crate::contracts::Offers;
use crate::cross::{ContractLinks, CrossLinks};
use crate::find::FileKinds;
use crate::trace::links::Links as TraceLinks;
use crate::traverse::Direction;

/// One indexed repository.
#[derive(Clone)]
pub struct Repository {
    /// Its name in ids, paths and `repo` arguments.
    pub name: String,
    /// Where its files are.
    pub root: PathBuf,
    /// What is known of it.
    pub snapshot: Arc<Snapshot>,
    /// What the snapshot still lacks, in words, while the first indexing runs; `None` when it is complete.
    pub incomplete: Option<String>,
    /// What was computed from the snapshot so far; whoever keeps a snapshot keeps this beside it.
    pub derived: Derived,
}

/// What questions compute from a whole snapshot, once each, when it is first asked for. Belongs to one snapshot, except for what
/// is known of files by their times.
#[derive(Clone, Default)]
pub struct Derived {
    cells: Arc<Cells>,
    text: Arc<TextFilter>,
    confirmed: Option<Arc<Confirmed>>,
    /// Ends what is being computed.
    stop: Stop,
}

#[derive(Default)]
struct Cells {
    communities: Once<Communities>,
    hottest: Once<Hottest>,
    dead: Once<Vec<Dead>>,
    offers: Once<Offers>,
    trace_links: Once<TraceLinks>,
    recency: OnceLock<Recency>,
    path_words: OnceLock<PathWords>,
    file_kinds: OnceLock<FileKinds>,
}

/// Computed when it is first asked for. What was computed while nobody waited any more may be a part, and is forgotten.
struct Once<T> {
    value: OnceLock<T>,
    /// One computes, the others wait for it.
    turn: Mutex<()>,
}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once {
            value: OnceLock::new(),
            turn: Mutex::default(),
        }
    }
}

impl<T> Once<T> {
    /// The value, or `nothing` once stopped: the answer made of it is thrown away.
    fn get(&self, stop: &Stop, nothing: &'static T, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.value.get() {
            return value;
        }
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.value.get() {
            return value;
        }
        let made = (!stop.is_stopped()).then(make).filter(|_| !stop.is_stopped());
        let value = match made {
            Some(made) => self.value.get_or_init(|| made),
            None => nothing,
        };
        drop(turn);
        value
    }
}

impl Derived {
    /// For the next snapshot of the same tree: nothing computed yet, but what holds of files whatever the snapshot is kept.
    pub fn of_next(&self) -> Derived {
        Derived {
            text: self.text.clone(),
            ..Derived::default()
        }
    }
}

/// Longest file that is read as a manifest.
const MOST_TEXT: u64 = 16 << 20;

/// The text of a file of a tree: a regular one, not too long, that is reached through no link. Whatever else stands in its place leads
/// elsewhere, or never ends.
pub(crate) fn text_in(root: &Path, path: &str) -> Option<String> {
    String::from_utf8(index::scan::read_regular(root, path, MOST_TEXT).ok()?).ok()
}

impl Repository {
    /// The edges of a symbol, those that compilers confirmed, corrected or added included.
    pub(crate) fn edges(
        &self,
        symbol: SymbolId,
        direction: Direction,
        kinds: impl Into<EdgeKinds>,
    ) -> Box<dyn Iterator<Item = EdgeView> + '_> {
        let kinds = kinds.into();
        match (&self.derived.confirmed, direction) {
            (Some(confirmed), _) => Box::new(confirmed.edges(&self.snapshot, symbol, direction, kinds).into_iter()),
            (None, Direction::Incoming) => Box::new(self.snapshot.incoming(symbol, kinds)),
            (None, Direction::Outgoing) => Box::new(self.snapshot.outgoing(symbol, kinds)),
        }
    }

    /// The communities of its symbols.
    pub(crate) fn communities(&self) -> &Communities {
        static NOTHING: Communities = Communities::NOTHING;
        let (cell, stop) = (&self.derived.cells.communities, &self.derived.stop);
        cell.get(stop, &NOTHING, || communities(&self.snapshot, stop))
    }

    /// Its hotspots, hottest first.
    pub(crate) fn hottest(&self) -> &Hottest {
        static NOTHING: Hottest = Hottest::NOTHING;
        let (cell, stop) = (&self.derived.cells.hottest, &self.derived.stop);
        cell.get(stop, &NOTHING, || hottest(&self.snapshot, self.communities(), stop))
    }

    /// The words of its paths.
    pub(crate) fn path_words(&self) -> &PathWords {
        self.derived
            .cells
            .path_words
            .get_or_init(|| PathWords::of(&self.snapshot))
    }

    /// What sort of file each one is.
    pub(crate) fn file_kinds(&self) -> &FileKinds {
        let cell = &self.derived.cells.file_kinds;
        cell.get_or_init(|| FileKinds::of_tree(&self.snapshot))
    }

    /// Which files changed lately.
    pub(crate) fn recency(&self) -> &Recency {
        self.derived.cells.recency.get_or_init(|| Recency::of(&self.root))
    }

    /// Which texts its files cannot hold.
    pub(crate) fn text_filter(&self) -> &TextFilter {
        &self.derived.text
    }

    /// Its dead symbols, exported ones included.
    pub(crate) fn dead(&self) -> &[Dead] {
        static NOTHING: Vec<Dead> = Vec::new();
        let (cell, stop) = (&self.derived.cells.dead, &self.derived.stop);
        cell.get(stop, &NOTHING, || dead(self, stop))
    }

    /// The hops that calls alone do not show.
    pub(crate) fn trace_links(&self) -> &TraceLinks {
        static NOTHING: TraceLinks = TraceLinks::NOTHING;
        let (cell, stop) = (&self.derived.cells.trace_links, &self.derived.stop);
        cell.get(stop, &NOTHING, || TraceLinks::of(self, stop))
    }

    /// What it offers to other programs and uses of them.
    pub(crate) fn offers(&self) -> &Offers {
        static NOTHING: Offers = Offers::NOTHING;
        let (cell, stop) = (&self.derived.cells.offers, &self.derived.stop);
        cell.get(stop, &NOTHING, || Offers::of(self, stop))
    }
}

/// The repositories of one question.
#[derive(Clone, Default)]
pub struct Workspace {
    repositories: Vec<Repository>,
    prefixed: bool,
    stop: Stop,
    links: Arc<Links>,
    /// What whoever asked should know of how the question was understood.
    remarks: Arc<Mutex<Vec<String>>>,
}

/// What joins the repositories, found when it is first asked for.
#[derive(Default)]
struct Links {
    cross: OnceLock<CrossLinks>,
    contracts: OnceLock<ContractLinks>,
}

/// Tells a question that nobody waits for its answer any more. Long loops look at it and end early; what they return then is
/// thrown away.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the question to end.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A symbol of a workspace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolKey {
    /// Which repository.
    pub repository: usize,
    /// Which of its symbols.
    pub symbol: SymbolId,
}

impl Workspace {
    /// A workspace of these repositories, in this order. Names must differ.
    pub fn new(repositories: Vec<Repository>) -> Workspace {
        Workspace {
            prefixed: repositories.len() > 1,
            repositories,
            links: Arc::default(),
            stop: Stop::default(),
            remarks: Arc::default(),
        }
    }

    /// Ids carry the repository's name even if it is the only one: for a workspace of which the rest is not there yet.
    pub fn with_prefix(self) -> Workspace {
        Workspace { prefixed: true, ..self }
    }

    /// Only the repositories with these names, in the order of the workspace; ids keep their prefix.
    pub fn only(&self, names: &[&str]) -> Workspace {
        let kept = |repository: &&Repository| names.contains(&repository.name.as_str());
        Workspace {
            repositories: self.repositories.iter().filter(kept).cloned().collect(),
            prefixed: self.prefixed,
            links: Arc::default(),
            stop: self.stop.clone(),
            remarks: self.remarks.clone(),
        }
    }

    /// The same, for a question of its own: what is remarked of it reaches no other.
    pub fn with_own_remarks(&self) -> Workspace {
        Workspace {
            remarks: Arc::default(),
            ..self.clone()
        }
    }

    /// Notes how a question was understood, once.
    pub(crate) fn remark(&self, text: String) {
        // Poisoned by a panic of another thread: what is in it is whole all the same.
        let mut remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        if !remarks.contains(&text) {
            remarks.push(text);
        }
    }

    /// What was noted so far.
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same repositories, for a question that `stop` can end.
    pub fn with_stop(&self, stop: Stop) -> Workspace {
        let mut workspace = self.clone();
        for repository in &mut workspace.repositories {
            repository.derived.stop = stop.clone();
        }
        Workspace { stop, ..workspace }
    }

    /// Whether nobody waits for the answer any more.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// With what compilers said of each tree, where they said anything.
    pub(crate) fn with_confirmed(mut self, of: impl Fn(&Path) -> Arc<Confirmed>) -> Workspace {
        for repository in &mut self.repositories {
            let confirmed = of(&repository.root);
            repository.derived.confirmed = (!confirmed.is_empty()).then_some(confirmed);
        }
        self
    }

    /// All repositories.
    pub fn repositories(&self) -> &[Repository] {
        &self.repositories
    }

    /// The repository with this number.
    pub fn repository(&self, number: usize) -> Option<&Repository> {
        self.repositories.get(number)
    }

    /// Whether ids carry the repository's name.
    pub fn is_prefixed(&self) -> bool {
        self.prefixed
    }

    /// The externals of one repository that are symbols of another; `None` with one repository.
    pub(crate) fn cross_links(&self) -> Option<&CrossLinks> {
        (self.repositories.len() > 1).then(|| self.links.cross.get_or_init(|| CrossLinks::of(self)))
    }

    /// Who uses what whom provides; `None` with one repository.
    pub(crate) fn contract_links(&self) -> Option<&ContractLinks> {
        (self.repositories.len() > 1).then(|| self.links.contracts.get_or_init(|| ContractLinks::of(self)))
    }

    /// The symbol, if the key is of this workspace.
    pub fn symbol(&self, key: SymbolKey) -> Option<SymbolView<'_>> {
        self.repositories.get(key.repository)?.snapshot.symbol(key.symbol)
    }

    /// The lasting id of a symbol.
    pub fn id(&self, repository: usize, symbol: SymbolView<'_>) -> String {
        self.prefixed(repository, symbol.id_string())
    }

    /// The symbol with exactly this lasting id.
    pub fn find(&self, id: &str) -> Option<SymbolKey> {
        self.split(id).find_map(|(repository, id)| {
            let symbol = self.repositories[repository].snapshot.find(id)?.id();
            Some(SymbolKey { repository, symbol })
        })
    }

    /// A path as answers give it.
    pub fn path(&self, repository: usize, path: &str) -> String {
        self.prefixed(repository, path.to_string())
    }

    /// Splits an id or a path as answers give them into the repository and the rest. Without a known prefix every repository
    /// is possible, so all are given.
    pub fn split<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, &'a str)> + 'a {
        let named = self.is_prefixed().then(|| {
            self.repositories.iter().enumerate().find_map(|(number, repository)| {
                Some((number, text.strip_prefix(repository.name.as_str())?.strip_prefix('/')?))
            })
        });
        match named.flatten() {
            Some(found) => Box::new(std::iter::once(found)) as Box<dyn Iterator<Item = (usize, &'a str)>>,
            None => Box::new((0..self.repositories.len()).map(move |number| (number, text))),
        }
    }

    /// The file with this path.
    pub fn find_file(&self, path: &str) -> Option<(usize, FileView<'_>)> {
        self.split(path)
            .find_map(|(number, path)| Some((number, self.repositories[number].snapshot.find_file(path)?)))
    }

    /// What is still missing from the answer, in words; `None` when the index is complete.
    pub fn incomplete(&self) -> Option<String> {
        let parts: Vec<String> = self
            .repositories
            .iter()
            .filter_map(|repository| {
                let what = repository.incomplete.as_deref()?;
                Some(if self.is_prefixed() {
                    format!("{}: {what}", repository.name)
                } else {
                    what.to_string()
                })
            })
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// What of the index was found to be damaged so far. An answer that was made before this is `None` must not be given: what
    /// is damaged reads as if it were not there.
    pub fn damage(&self) -> Option<Damage> {
        let mut repositories = self.repositories.iter();
        repositories.find_map(|repository| repository.snapshot.damage())
    }

    /// Whether a path given by a caller stays inside the workspace once joined to a root.
    pub fn is_inside(path: &str) -> bool {
        let path = Path::new(path);
        path.components()
            .all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir))
    }

    fn prefixed(&self, repository: usize, text: String) -> String {
        match self.repositories.get(repository) {
            Some(found) if self.is_prefixed() => format!("{}/{text}", found.name),
            _ => text,
        }
    }
}
