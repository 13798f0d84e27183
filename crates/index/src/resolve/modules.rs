//! Where files stand among modules and packages, and how import texts find them.
//!
//! Every language files its modules in one map: (container, name) → module. A container is a word: a directory, a dotted
//! package, a crate's module path; which one is the language's own business.

use super::Keys;
use super::links::ModuleTarget;
use super::view::Notes;
use super::words::{Externals, Key, Word, WordMap};
use crate::packages::{Packages, Projects};
use crate::tree::Tree;

/// A file as [`super::languages::Policy::register`] sees it.
pub struct Site<'a> {
    /// Its number.
    pub file: u32,
    /// Its path.
    pub path: &'a str,
    /// The package that it declares, as written.
    pub package: Option<&'a str>,
}

/// An import as [`super::languages::Policy::module`] sees it.
pub struct ImportSite<'a> {
    /// The importing file.
    pub file: u32,
    /// Its path.
    pub path: &'a str,
    /// The package that it declares, as written.
    pub package: Option<&'a str>,
    /// The module as written.
    pub module: &'a str,
    /// The member taken from it, or empty.
    pub member: &'a str,
    /// Leading dots of a relative Python import.
    pub level: u8,
    /// Prefix of the importing file's language.
    pub prefix: &'static str,
}

/// What has been registered, being filled.
pub struct Registry<'a> {
    pub(super) prefix: &'static str,
    pub(super) maps: &'a mut Maps,
    /// The manifests of the tree.
    pub packages: &'a Packages,
}

/// The registered modules.
#[derive(Default, PartialEq)]
pub struct Maps {
    children: WordMap<(Word, Word), ModuleTarget>,
    parents: WordMap<Word, u32>,
    containers: Vec<Option<Word>>,
    packages: Vec<Option<Word>>,
    /// By file, as far as languages ask for it.
    directories: Vec<Box<[Word]>>,
    headers: Vec<bool>,
    /// By file, as far as languages ask for it: where its macros are seen, and where it sees macros, nearest first.
    macros: Vec<(Option<Word>, Box<[Word]>)>,
    projects: Projects,
    /// By file: its project, and whether the language loads it by itself. Empty when there are no projects.
    standings: Vec<(u32, bool)>,
}

impl Maps {
    /// Room for `files` files.
    pub fn new(files: usize) -> Maps {
        Maps {
            containers: vec![None; files],
            packages: vec![None; files],
            ..Maps::default()
        }
    }

    /// The lookups that another set of maps answers differently, or `None` where a file that is in both, not among the sorted
    /// `moved`, stands elsewhere.
    pub(super) fn difference(&self, other: &Maps, moved: &[u32]) -> Option<Keys> {
        let files = self.containers.len().max(other.containers.len()) as u32;
        let stands = |maps: &Maps, file: u32| {
            let standing = maps.standings.get(file as usize).copied();
            (
                maps.container_of(file),
                maps.package_of(file),
                maps.is_header(file),
                maps.macros_of(file),
                standing,
            )
        };
        let stays = |file: u32| {
            moved.binary_search(&file).is_ok()
                || (stands(self, file) == stands(other, file)
                    && self.directories_of(file) == other.directories_of(file)
                    && self.macros_seen(file) == other.macros_seen(file))
        };
        if !(0..files).all(stays) {
            return None;
        }
        let mut keys = Keys::default();
        for (one, twin) in [(self, other), (other, self)] {
            let children = one.children.iter();
            let differ = children.filter(|(at, target)| twin.children.get(at) != Some(target));
            keys.extend(differ.map(|(&(container, name), _)| Key::child(container, name)));
            let parents = one.parents.keys().filter(|at| !twin.parents.contains_key(at));
            keys.extend(parents.map(|&container| Key::children(container)));
        }
        Some(keys)
    }

    /// Tells which project each of the files belongs to.
    pub fn set_projects<'p>(&mut self, projects: &Projects, paths: impl Iterator<Item = &'p str>) {
        if !projects.is_empty() {
            self.projects = projects.clone();
            self.standings = paths.map(|path| projects.of(path)).collect();
        }
    }

    /// How far the code of `to` is from `from` as far as manifests tell; 0 is nearest.
    pub fn distance(&self, from: u32, to: u32) -> u8 {
        match (self.standings.get(from as usize), self.standings.get(to as usize)) {
            (Some(&(from, _)), Some(&(to, loads))) => 2 * self.projects.distance(from, to) + u8::from(!loads),
            _ => 0,
        }
    }

    /// Where the macros of the file are seen.
    pub fn macros_of(&self, file: u32) -> Option<Word> {
        self.macros.get(file as usize)?.0
    }

    /// Where the file sees macros, nearest first.
    pub fn macros_seen(&self, file: u32) -> &[Word] {
        self.macros.get(file as usize).map_or(&[], |(_, seen)| seen)
    }

    /// Whether manifests say anything of distances.
    pub fn has_projects(&self) -> bool {
        !self.standings.is_empty()
    }

    /// What `container` has under `name`.
    pub fn child(&self, container: Word, name: Word) -> Option<ModuleTarget> {
        self.children.get(&(container, name)).copied()
    }

    /// The container whose modules are members of the file.
    pub fn container_of(&self, file: u32) -> Option<Word> {
        self.containers.get(file as usize).copied().flatten()
    }

    /// The directories that the file is in, outermost first; empty unless its language says so.
    pub fn directories_of(&self, file: u32) -> &[Word] {
        self.directories
            .get(file as usize)
            .map_or(&[], |directories| directories)
    }

    /// Whether the file is there to be included.
    pub fn is_header(&self, file: u32) -> bool {
        self.headers.get(file as usize) == Some(&true)
    }

    /// The package whose names the file shares.
    pub fn package_of(&self, file: u32) -> Option<Word> {
        self.packages.get(file as usize).copied().flatten()
    }
}

impl Registry<'_> {
    /// The word of a directory of the tree, apart for each family of languages.
    pub fn directory(&self, path: &str) -> Word {
        Word::of(self.prefix).then(Word::of(path))
    }

    /// Files `target` under `name` in `container`. A file wins over a package, the first file over a later one.
    pub fn submodule(&mut self, container: Word, name: Word, target: ModuleTarget) {
        *self.maps.parents.entry(container).or_default() += 1;
        let known = self.maps.children.entry((container, name)).or_insert(target);
        if matches!(known, ModuleTarget::Package(_)) && matches!(target, ModuleTarget::File(_)) {
            *known = target;
        }
    }

    /// Says that what is filed in `container` are members of `file`.
    pub fn container(&mut self, file: u32, container: Word) {
        self.maps.containers[file as usize] = Some(container);
    }

    /// Remembers where the file is, for languages where nearness counts.
    pub fn place(&mut self, file: u32, path: &str) {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let parts = directory
            .split('/')
            .filter(|part| !part.is_empty())
            .map(Word::of)
            .collect();
        let directories = &mut self.maps.directories;
        directories.resize_with(directories.len().max(file as usize + 1), Box::default);
        directories[file as usize] = parts;
    }

    /// Says that the macros of `file` are seen in `home`, and that it sees those of `seen`, nearest first.
    pub fn macros(&mut self, file: u32, home: Word, seen: Box<[Word]>) {
        let macros = &mut self.maps.macros;
        macros.resize_with(macros.len().max(file as usize + 1), Default::default);
        macros[file as usize] = (Some(home), seen);
    }

    /// Says that the file is there to be included, so that even its private names are seen by others.
    pub fn header(&mut self, file: u32) {
        let headers = &mut self.maps.headers;
        headers.resize(headers.len().max(file as usize + 1), false);
        headers[file as usize] = true;
    }

    /// Says that the top-level names of `file` are visible in all files of `package`, and members of it.
    pub fn package(&mut self, file: u32, package: Word) {
        self.maps.packages[file as usize] = Some(package);
    }
}

/// Everything an import can be looked up in.
pub struct Modules<'a> {
    pub(super) maps: &'a Maps,
    pub(super) externals: &'a Externals,
    /// The files, by path.
    pub tree: &'a dyn Tree,
    /// The manifests of the tree.
    pub packages: &'a Packages,
    /// Where lookups are noted; nowhere when no edits are followed.
    pub(super) notes: Option<&'a Notes>,
}

impl Modules<'_> {
    fn note(&self, key: impl FnOnce() -> Key) {
        if let Some(notes) = self.notes {
            notes.add(key());
        }
    }

    /// The word of a directory, as [`Registry::directory`] gives it.
    pub fn directory(&self, site: &ImportSite<'_>, path: &str) -> Word {
        Word::of(site.prefix).then(Word::of(path))
    }

    /// What `container` has under `name`.
    pub fn child(&self, container: Word, name: Word) -> Option<ModuleTarget> {
        self.note(|| Key::child(container, name));
        self.maps.child(container, name)
    }

    /// Whether anything is filed in `container`.
    pub fn has_children(&self, container: Word) -> bool {
        self.note(|| Key::children(container));
        self.maps.parents.contains_key(&container)
    }

    /// The container whose modules are members of the file.
    pub fn container_of(&self, file: u32) -> Option<Word> {
        self.maps.container_of(file)
    }

    /// The word of an external module: `prefix:name`.
    pub fn external(&self, site: &ImportSite<'_>, name: &str) -> Word {
        self.externals.intern(&format!("{}:{name}", site.prefix))
    }

    /// The file at `path`, after `.` and `..` are taken out.
    pub fn file(&self, path: &str) -> Option<u32> {
        self.note(|| Key::path(Word::of(path)));
        self.tree.find(path).map(|file| file.0)
    }
}

/// `directory` joined with the relative `path`; `None` when it leaves the tree.
pub fn join(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
