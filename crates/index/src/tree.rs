//! The seam between storage and resolution: the tree as resolution sees it, and what changed in it.
//!
//! Storage gives facts on demand and never keeps them all decoded; resolution hands back one [`ResolvedFile`] at a time
//! through a sink, so neither side holds the edges of a whole kernel as fat structs.

use std::sync::Arc;

use syntax::facts::FileFacts;

use crate::model::{FileId, ResolvedFile};

/// A scanned tree. Files are numbered by the rank of their path in byte order.
pub trait Tree: Sync {
    /// Number of files. Every [`FileId`] below it is valid.
    fn file_count(&self) -> usize;

    /// Path relative to the root, `/` between components, odd bytes escaped.
    fn path(&self, file: FileId) -> &str;

    /// Key of the file's language in `syntax::languages` (`python`, `typescript`, …).
    fn language(&self, file: FileId) -> &str;

    /// The facts of a file, decoded on each call (about 300 MB/s): keep what is needed, drop the rest. Facts that cannot be
    /// read back are extracted again, so this never fails; a file that is gone by then has empty facts.
    fn facts(&self, file: FileId) -> Arc<FileFacts>;

    /// Package manifests and the like (see [`is_manifest`]), in path order.
    fn manifests(&self) -> &[Manifest];

    /// Hears that in round `round` of [`crate::resolve::ROUNDS`] so many files have been gone through, before the first file is handed back.
    fn hear(&self, _round: usize, _done: usize) {}

    /// The file with exactly this path.
    fn find(&self, path: &str) -> Option<FileId> {
        let (mut low, mut high) = (0, self.file_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.path(FileId(middle as u32)).cmp(path) {
                std::cmp::Ordering::Equal => return Some(FileId(middle as u32)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// A file that tells how packages are laid out, with its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Manifest {
    /// As in [`Tree::path`].
    pub path: Box<str>,
    /// Its whole text, at most [`MAX_MANIFEST`] bytes.
    pub text: Arc<str>,
}

/// Longest manifest that is read.
pub const MAX_MANIFEST: u64 = 1 << 20;

/// Whether a file of this name is handed to resolution as a [`Manifest`].
pub fn is_manifest(file_name: &str) -> bool {
    const NAMES: &[&str] = &[
        "Cargo.toml",
        "go.mod",
        "go.work",
        "package.json",
        "deno.json",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "composer.json",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
        "Gemfile",
        "pubspec.yaml",
        "compile_flags.txt",
        "pnpm-workspace.yaml",
    ];
    NAMES.contains(&file_name)
        || ((file_name.starts_with("tsconfig") || file_name.starts_with("jsconfig")) && file_name.ends_with(".json"))
        || [".csproj", ".sln", ".gemspec", ".fsproj", ".vbproj"]
            .iter()
            .any(|suffix| file_name.ends_with(suffix))
}

/// What happened to a tree between two snapshots of one living process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Change {
    /// Files whose facts differ, by their number in the new tree.
    pub modified: Vec<FileId>,
    /// Files that are new, by their number in the new tree.
    pub added: Vec<FileId>,
    /// Files that are gone, by their number in the old tree.
    pub removed: Vec<FileId>,
    /// Where every file of the old tree went; `None` when no number changed (nothing added, nothing removed).
    pub renumbered: Option<Vec<Option<FileId>>>,
    /// A manifest came, went or changed.
    pub manifests: bool,
    /// For modified files, the older position of each definition that was there before, rising. A file that is not listed is
    /// new throughout.
    pub kept: Vec<(FileId, Vec<Option<u32>>)>,
}

impl Change {
    /// The new number of a file of the old tree.
    pub fn renumber(&self, old: FileId) -> Option<FileId> {
        match &self.renumbered {
            None => Some(old),
            Some(table) => table.get(old.0 as usize).copied().flatten(),
        }
    }
}

/// What resolution keeps in memory when it is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// Nothing: no edit will be followed.
    Nothing,
    /// Everything that makes [`Resolve::update`] cheap.
    ForUpdates,
}

/// What the build expects of resolution. `resolve::Resolver` implements it; tests may use a smaller one.
///
/// The sink may be called from any thread and in any order, once per file. After `update`, files for which it was not
/// called keep the edges they had, renumbered by [`Change::renumber`] (an edge into a removed file or a changed
/// definition is the resolver's to notice: it must then resolve the file that holds the edge again).
pub trait Resolve: Send {
    /// Resolves every file, forgetting everything known before.
    fn resolve(&mut self, tree: &dyn Tree, keep: Keep, sink: &(dyn Fn(FileId, ResolvedFile) + Sync));

    /// Whether enough is kept for an update to be cheap.
    fn follows(&self) -> bool;

    /// How many steps the last resolution took, where they are counted.
    fn steps(&self) -> u64 {
        0
    }

    /// Resolves the files that `change` could have affected.
    fn update(&mut self, tree: &dyn Tree, change: &Change, sink: &(dyn Fn(FileId, ResolvedFile) + Sync));
}
