//! Where files stand among modules and packages, and how import texts find them.
//!
//! Every language files its modules in one map: (container, name) → module. A container is a word: a directory, a dotted
//! package, a crate's module path; which one is the language's own business.

use std::collections::hash_map::Entry;

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
    /// The file that is being registered.
    pub(super) file: u32,
    pub(super) prefix: &'static str,
    pub(super) maps: &'a mut Maps,
    /// The manifests of the tree.
    pub packages: &'a Packages,
}

/// A name in a container.
type Child = (Word, Word);

/// The registered modules.
#[derive(Default)]
pub struct Maps {
    children: WordMap<Child, ModuleTarget>,
    /// Where files come and go: whatever files say about each child, in their order.
    claims: Option<WordMap<Child, Vec<(u32, ModuleTarget)>>>,
    /// Children about which something else is said since they were settled.
    unsettled: Vec<Child>,
    /// How many children each container has.
    parents: WordMap<Word, u32>,
    containers: Vec<Option<Word>>,
    packages: Vec<Option<Word>>,
    /// By file, as far as languages ask for it.
    directories: Vec<Box<[Word]>>,
    /// By file, as far as languages ask for it: its name, and the name of what a generator makes of it.
    titles: Vec<(Word, Option<Word>)>,
    headers: Vec<bool>,
    /// By file, as far as languages ask for it: where its macros are seen, and where it sees macros, nearest first.
    macros: Vec<(Option<Word>, Box<[Word]>)>,
    projects: Projects,
    /// By file: its project, and whether the language loads it by itself. Empty when there are no projects.
    standings: Vec<(u32, bool)>,
}

impl Maps {
    /// Room for `files` files; `follows` where some of them will come and go.
    pub fn new(files: usize, follows: bool) -> Maps {
        Maps {
            claims: follows.then(WordMap::default),
            containers: vec![None; files],
            packages: vec![None; files],
            ..Maps::default()
        }
    }

    /// Takes out what the files of these sorted numbers said, before they are registered anew or are gone.
    pub(super) fn withdraw(&mut self, files: &[u32]) {
        let (Some(&first), Some(&last), Some(claims)) = (files.first(), files.last(), &mut self.claims) else {
            return;
        };
        // Nearly all are told by who says the first thing and the last.
        let may_be = |claims: &[(u32, ModuleTarget)]| {
            let ends = claims.first().zip(claims.last());
            ends.is_some_and(|((from, _), (to, _))| *from <= last && *to >= first)
        };
        let concerned = claims.iter_mut().filter_map(|(&child, claims)| {
            let before = claims.len();
            if may_be(claims) {
                claims.retain(|(file, _)| files.binary_search(file).is_err());
            }
            (claims.len() < before).then_some(child)
        });
        self.unsettled.extend(concerned);
        for file in files.iter().map(|&file| file as usize) {
            self.containers[file] = None;
            self.packages[file] = None;
            if let Some(directories) = self.directories.get_mut(file) {
                *directories = Box::default();
            }
            if let Some(title) = self.titles.get_mut(file) {
                *title = (Word(0), None);
            }
            if let Some(header) = self.headers.get_mut(file) {
                *header = false;
            }
            if let Some(macros) = self.macros.get_mut(file) {
                *macros = Default::default();
            }
        }
    }

    /// Finds what the children are about which something else is said now. Returns the lookups that are answered differently.
    pub(super) fn settle(&mut self) -> Keys {
        let mut keys = Keys::default();
        let Some(all) = &mut self.claims else {
            return keys;
        };
        let mut unsettled = std::mem::take(&mut self.unsettled);
        unsettled.sort_unstable();
        unsettled.dedup();
        for child in unsettled {
            let mut claims = all.get(&child).into_iter().flatten().map(|&(_, target)| target);
            let now = claims.next().map(|first| claims.fold(first, preferred));
            let before = match now {
                Some(now) => self.children.insert(child, now),
                None => {
                    all.remove(&child);
                    self.children.remove(&child)
                }
            };
            if before == now {
                continue;
            }
            let (container, name) = child;
            keys.insert(Key::child(container, name));
            keys.insert(Key::star(name));
            let count = self.parents.entry(container).or_default();
            *count = *count + u32::from(before.is_none()) - u32::from(now.is_none());
            if *count == 0 {
                self.parents.remove(&container);
            }
            if before.is_none() != now.is_none() {
                keys.insert(Key::children(container));
            }
        }
        keys
    }

    /// Tells which project each of the files belongs to.
    pub fn set_projects<'p>(&mut self, projects: &Projects, paths: impl Iterator<Item = &'p str>) {
        if !projects.is_empty() {
            self.projects = projects.clone();
            self.standings = paths.map(|path| projects.of(path)).collect();
        }
    }

    /// As [`Maps::set_projects`], for one file that came or went.
    pub(super) fn set_project(&mut self, file: u32, path: &str) {
        if let Some(standing) = self.standings.get_mut(file as usize) {
            *standing = self.projects.of(path);
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

    /// All children, in no order.
    pub(super) fn children(&self) -> impl Iterator<Item = (Word, Word)> + '_ {
        self.children.keys().copied()
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

    /// Whether a generator makes `made` of `template`: `lexer.cc` of the `lexer.in.cc` beside it.
    pub fn is_template(&self, template: u32, made: u32) -> bool {
        let title = |file: u32| self.titles.get(file as usize);
        let makes = title(template).and_then(|&(_, makes)| makes);
        makes.is_some()
            && title(made).is_some_and(|&(name, _)| makes == Some(name))
            && self.directories_of(template) == self.directories_of(made)
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
        let child = (container, name);
        if let Some(claims) = &mut self.maps.claims {
            let claims = claims.entry(child).or_default();
            let at = claims.partition_point(|&(file, _)| file <= self.file);
            claims.insert(at, (self.file, target));
            self.maps.unsettled.push(child);
            return;
        }
        match self.maps.children.entry(child) {
            Entry::Occupied(mut known) => *known.get_mut() = preferred(*known.get(), target),
            Entry::Vacant(place) => {
                place.insert(target);
                *self.maps.parents.entry(container).or_default() += 1;
            }
        }
    }

    /// Says that what is filed in `container` are members of `file`.
    pub fn container(&mut self, file: u32, container: Word) {
        self.maps.containers[file as usize] = Some(container);
    }

    /// Remembers where the file is, for languages where nearness counts.
    pub fn place(&mut self, file: u32, path: &str) {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let makes = name.rsplit_once('.').and_then(|(stem, extension)| {
            let stem = stem.strip_suffix(".in")?;
            Some(Word::of(&format!("{stem}.{extension}")))
        });
        let titles = &mut self.maps.titles;
        titles.resize(titles.len().max(file as usize + 1), (Word(0), None));
        titles[file as usize] = (Word::of(name), makes);
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

/// Which of two things that a child is said to be counts.
fn preferred(known: ModuleTarget, next: ModuleTarget) -> ModuleTarget {
    match (known, next) {
        (ModuleTarget::Package(_), ModuleTarget::File(_)) => next,
        _ => known,
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
