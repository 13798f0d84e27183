//! Links files together before any value is followed: imports to modules, names to definitions, members to types, types to
//! their bases.
//!
//! Everything here is a pure function of the files' [`Links`] and paths, computed file by file; lookups go through a
//! [`View`]. What each file adds to the tables of all is kept as its [`Part`], so that an edit exchanges parts
//! ([`super::relink`]).

use std::sync::Arc;

use rayon::prelude::*;
use smallvec::SmallVec;
use syntax::facts::{BaseKind, Expression, FileFacts, Flags, ImportForm, Kind, Name};

use super::calls::receiver_index;
use super::languages::{ALL, BaseOrder, Compiled, policy_of};
use super::links::{DefinitionLink, Links, ModuleTarget, NONE, NameLink, has_parts, is_of_tests, is_type, shapes};
use super::merged::Merged;
use super::modules::{ImportSite, Maps, Modules, Registry, Site};
use super::satisfaction::Shapes;
use super::stars::Stars;
use super::steps::Steps;
use super::value::{Place, Value};
use super::view::{Notes, Stage, View};
use super::words::{Externals, Key, Word, WordMap, mix};
use crate::model::FileId;
use crate::packages::Packages;
use crate::tree::Tree;

/// Below the word of a package: its members by name, whatever their owner.
pub(super) const MEMBERS: Word = Word(7);

/// What the extensions of a package are filed under, beside its names.
pub(super) const EXTENSIONS: Word = Word(8);

/// Longest chain of re-exports that is followed.
pub(super) const MAX_CHAIN: u8 = 12;

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Something fixed.
    Value(Value),
    /// A variable of a file: its values are contributed under this name.
    Variable(u32, Word),
    /// An export of a file: its values are contributed under this name.
    Export(u32, Word),
    /// A member of what a file exports as a whole (`module.exports = …`).
    ExportMember(u32, Word),
}

/// Several of them; nearly always one.
pub type Names = SmallVec<[Found; 2]>;

/// One base of a class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BaseLink {
    /// The class, or what is known of it.
    pub value: Value,
    /// In which way it is taken.
    pub kind: BaseKind,
}

impl BaseLink {
    /// The class, where it is one of the tree.
    pub(super) fn class(self) -> Option<Place> {
        match self.value {
            Value::Class(class) | Value::Function(class) => Some(class),
            _ => None,
        }
    }
}

/// A class and its ancestors in the order of lookup.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ancestry {
    /// The class itself first.
    pub classes: Box<[Place]>,
    /// Some ancestor is not in the tree, so a member that is not found may still exist.
    pub open: bool,
}

/// All files linked.
pub struct Linker {
    /// By file.
    pub links: Vec<Arc<Links>>,
    /// Modules and packages.
    pub maps: Maps,
    /// By position in [`ALL`].
    pub policies: Vec<Compiled>,
    /// Texts of external names.
    pub externals: Externals,
    /// Names of packages that span files.
    pub(super) package_names: WordMap<(Word, Word), SmallVec<[Place; 1]>>,
    /// Types by their qualified name, in languages whose types nest as packages do.
    pub(super) qualified_types: WordMap<Word, SmallVec<[Place; 1]>>,
    /// The qualified name of each part of a namespace or of a partial type.
    pub(super) namespaces: WordMap<u64, Word>,
    /// What the parts of namespaces and partial types have in common.
    pub(super) merged: Merged,
    /// Imports of everything.
    pub(super) stars: Stars,
    /// How many steps lookups took so far.
    pub(super) steps: Steps,
    /// Members written outside of their owner.
    pub(super) outside_members: WordMap<(u64, Word), SmallVec<[Place; 1]>>,
    /// Bases as written, by class, with the file that says so.
    pub(super) bases: WordMap<u64, Vec<(u32, BaseLink)>>,
    pub(super) ancestries: WordMap<u64, Ancestry>,
    /// How many files assign a member of each name: other names need not be looked up among contributed values.
    pub(super) fields: WordMap<Word, u32>,
    /// Direct heirs, by class, with the file that says so.
    pub(super) heirs: WordMap<u64, Vec<(u32, Place)>>,
    /// (type, interface) for what types implement without saying so, sorted, and both directions of it.
    pub(super) pairs: Vec<(Place, Place)>,
    pub(super) satisfied: WordMap<u64, Vec<Place>>,
    pub(super) implementers: WordMap<u64, Vec<Place>>,
    /// By file; empty when no edits are followed.
    pub(super) shapes: Vec<Shapes>,
    /// By file.
    pub(super) parts: Vec<Part>,
    /// Whether edits will be followed, so that lookups must be noted.
    pub(super) follows: bool,
}

/// What one file adds to the tables, and what it looked at to find it.
#[derive(Default, Clone)]
pub(super) struct Part {
    /// Where the file is; `None` of a slot without a file.
    pub(super) path: Option<Word>,
    pub(super) import_notes: Box<[Key]>,
    /// Definitions with an owner: (number, owner, whether it is written outside of it).
    pub(super) owners: Vec<(u32, Place, bool)>,
    /// Members written outside of their owner: ((owner, name), member).
    pub(super) outside: Vec<((Place, Word), Place)>,
    /// Bases by class, in source order.
    pub(super) bases: Vec<(Place, Vec<BaseLink>)>,
    pub(super) owner_notes: Box<[Key]>,
    pub(super) base_notes: Box<[Key]>,
}

/// A place as a key of a [`WordMap`], which does no hashing of its own.
pub fn packed(place: Place) -> u64 {
    mix(u64::from(place.file), u64::from(place.id))
}

impl Linker {
    /// Links all files of `tree`. `follows`: edits will be asked for.
    pub fn new(tree: &dyn Tree, packages: &Packages, follows: bool) -> Linker {
        let files = tree.file_count() as u32;
        let externals = Externals::default();
        let policies: Vec<Compiled> = ALL.iter().map(|policy| Compiled::new(policy, &externals)).collect();
        // Shared by all slots without a file.
        let empty: Arc<Links> = Arc::default();
        let mut links: Vec<Arc<Links>> = (0..files)
            .into_par_iter()
            .map(|file| {
                if tree.path(FileId(file)).is_empty() {
                    return empty.clone();
                }
                let facts = tree.facts(FileId(file));
                let mut links = Links::new(&facts, policy_of(tree.language(FileId(file))));
                links.has_tests |= is_of_tests(tree.path(FileId(file)));
                if follows {
                    links.shapes = shapes(&facts);
                }
                Arc::new(links)
            })
            .collect();
        let maps = register_all(tree, packages, &links, follows);
        let noted: Vec<Box<[Key]>> = links
            .par_iter_mut()
            .enumerate()
            .map(|(file, links)| {
                if tree.path(FileId(file as u32)).is_empty() {
                    return Box::default();
                }
                let notes = Notes::default();
                let modules = Modules {
                    maps: &maps,
                    externals: &externals,
                    tree,
                    packages,
                    notes: follows.then_some(&notes),
                };
                let facts = tree.facts(FileId(file as u32));
                resolve_imports(&modules, Arc::make_mut(links), &facts, file as u32);
                notes.into_keys([])
            })
            .collect();
        let mut linker = Linker {
            parts: vec![Part::default(); links.len()],
            links,
            maps,
            policies,
            externals,
            package_names: WordMap::default(),
            qualified_types: WordMap::default(),
            namespaces: WordMap::default(),
            merged: Merged::default(),
            stars: Stars::default(),
            steps: Steps::default(),
            outside_members: WordMap::default(),
            bases: WordMap::default(),
            ancestries: WordMap::default(),
            heirs: WordMap::default(),
            fields: WordMap::default(),
            pairs: Vec::new(),
            satisfied: WordMap::default(),
            implementers: WordMap::default(),
            shapes: Vec::new(),
            follows,
        };
        for (file, (part, notes)) in (0..).zip(linker.parts.iter_mut().zip(noted)) {
            let path = Some(tree.path(FileId(file))).filter(|path| !path.is_empty());
            part.path = path.map(Word::of);
            part.import_notes = notes;
        }
        linker.gather_names();
        linker.gather_merged();
        linker.gather_stars();
        linker.gather_owners(tree);
        linker.gather_bases(tree);
        linker.gather_satisfied();
        linker
    }

    /// A view of everything, for the evaluation of a file.
    pub fn view<'a>(&'a self, notes: &'a Notes) -> View<'a> {
        View::new(self, Stage::Linked, self.follows.then_some(notes))
    }

    /// Whether there is a file of this number.
    pub(super) fn is_file(&self, file: u32) -> bool {
        self.parts[file as usize].path.is_some()
    }

    /// The policy of a file's language.
    pub fn policy(&self, file: u32) -> &Compiled {
        &self.policies[self.links[file as usize].language as usize]
    }

    /// What is known of a definition.
    pub fn definition(&self, place: Place) -> Option<&DefinitionLink> {
        self.links.get(place.file as usize)?.definition(place.id)
    }

    /// The bases of a class as written.
    pub(super) fn bases(&self, class: Place) -> impl Iterator<Item = BaseLink> + '_ {
        let bases = self.bases.get(&packed(class));
        bases.into_iter().flatten().map(|&(_, base)| base)
    }

    /// The classes that name `class` as base.
    pub(super) fn heirs(&self, class: Place) -> impl Iterator<Item = Place> + '_ {
        let heirs = self.heirs.get(&packed(class));
        heirs.into_iter().flatten().map(|&(_, heir)| heir)
    }

    fn gather_names(&mut self) {
        for (file, links) in self.links.iter().enumerate() {
            let file = file as u32;
            for &name in &links.fields {
                *self.fields.entry(name).or_default() += 1;
            }
            for (key, place) in self.package_part(file, links) {
                self.package_names.entry(key).or_default().push(place);
            }
            for (word, place) in self.qualified_part(file, links) {
                self.qualified_types.entry(word).or_default().push(place);
                if links.definition(place.id).is_some_and(has_parts) {
                    self.namespaces.insert(packed(place), word);
                }
            }
        }
    }

    /// The names that a file adds to its package.
    pub(super) fn package_part(&self, file: u32, links: &Links) -> Vec<((Word, Word), Place)> {
        if let Some(home) = self.maps.macros_of(file) {
            let macros = links.names.iter().filter_map(|&(name, link)| match link {
                NameLink::Definition(id) => Some((name, id)),
                _ => None,
            });
            let is_macro = |id: u32| links.definition(id).is_some_and(|link| link.kind == Kind::Macro);
            let macros = macros.filter(|&(_, id)| is_macro(id));
            return macros.map(|(name, id)| ((home, name), Place { file, id })).collect();
        }
        let Some(package) = self.maps.package_of(file) else {
            return Vec::new();
        };
        // What is private to a file is no one else's, unless the file is there to be included; nor are its macros, and its
        // declarations of what another file or library defines.
        let open = !self.policies[links.language as usize].policy.links_by_name || self.maps.is_header(file);
        let is_shared = |link: &DefinitionLink| {
            !link.private && link.kind != Kind::Macro && !link.flags.contains(Flags::DECLARATION)
        };
        let seen = |id: u32| open || links.definition(id).is_some_and(is_shared);
        let names = links.names.iter().filter_map(|&(name, link)| match link {
            NameLink::Definition(id) if seen(id) => Some(((package, name), Place { file, id })),
            _ => None,
        });
        let mut part: Vec<_> = names.collect();
        // One that is written in a type, with the type it extends before its name, is for the code of that type and for those
        // who import it from there.
        let extensions = links.extensions.iter().filter_map(|&(id, _)| {
            let link = links.definition(id)?;
            let given = receiver_index(links.parameters_of(id)).is_some();
            let home = if given || link.parent == NONE {
                package
            } else {
                qualified(links, package, link.parent)?
            };
            Some(((home.then(EXTENSIONS), link.name), Place { file, id }))
        });
        part.extend(extensions);
        // Where receivers are seldom known, methods are looked up by their name alone at last.
        if self.policies[links.language as usize].policy.guesses_members > 0 {
            let members = links.members.iter().filter(|&&(_, _, id)| {
                let kind = links.definition(id).map(|link| link.kind);
                matches!(kind, Some(Kind::Method | Kind::Property))
            });
            part.extend(members.map(|&(_, name, id)| ((package.then(MEMBERS), name), Place { file, id })));
        }
        part
    }

    /// Every type under the word of its qualified name, nested ones under those of their owners.
    pub(super) fn qualified_part(&self, file: u32, links: &Links) -> Vec<(Word, Place)> {
        let mut part = Vec::new();
        let package = self.maps.package_of(file).or(self.maps.container_of(file));
        let Some(package) = package.filter(|_| self.policies[links.language as usize].policy.packages_visible) else {
            return part;
        };
        // A definition comes after the one that contains it, so the owner's word is known.
        let mut words: Vec<Option<Word>> = Vec::with_capacity(links.definitions.len());
        for (position, definition) in links.definitions.iter().enumerate() {
            let outer = match definition.parent {
                NONE => Some(package),
                parent => words.get(links.numbers.position(parent)).copied().flatten(),
            };
            let id = links.numbers.of(position as u32);
            let path = links.paths.binary_search_by_key(&id, |(known, _)| *known);
            let path = path.map_or(&[][..], |found| &links.paths[found].1);
            let outer = outer.map(|outer| path.iter().fold(outer, |word, &name| word.then(name)));
            let word = outer
                .filter(|_| is_type(definition.kind))
                .map(|outer| outer.then(definition.name));
            if let Some(word) = word {
                part.push((word, Place { file, id }));
            }
            words.push(word);
        }
        part
    }
}

/// Name under which a file contributes what its decorators make of a definition, besides the definition itself.
pub fn decorated_name(place: Place) -> Word {
    Word(u64::from(place.id)).then(Word(4))
}

/// Most things that one name is said to stand for, and most members of one name that a type is said to have: far more than
/// the values that are told apart.
pub(super) const MAX_NAMES: usize = 64;

pub(super) fn push(found: &mut Names, name: Found) {
    if found.len() < MAX_NAMES && !found.contains(&name) {
        found.push(name);
    }
}

/// Files every file of the tree under the modules and packages that it is part of; `follows` where files will come and go.
fn register_all(tree: &dyn Tree, packages: &Packages, links: &[Arc<Links>], follows: bool) -> Maps {
    let mut maps = Maps::new(links.len(), follows);
    for (file, links) in (0..).zip(links) {
        register(&mut maps, tree, packages, file, links);
    }
    maps.settle();
    let paths = (0..links.len() as u32).map(|file| tree.path(FileId(file)));
    maps.set_projects(packages.projects(), paths);
    maps
}

/// Files one file under the modules and packages that it is part of, which depend on its path and its own package alone.
pub(super) fn register(maps: &mut Maps, tree: &dyn Tree, packages: &Packages, file: u32, links: &Links) {
    let path = tree.path(FileId(file));
    // A slot without a file.
    if path.is_empty() {
        return;
    }
    let policy = &ALL[links.language as usize];
    let mut registry = Registry {
        file,
        prefix: policy.prefix,
        maps,
        packages,
    };
    let package = links.package.as_deref();
    (policy.register)(&mut registry, &Site { file, path, package });
}

pub(super) fn resolve_imports(modules: &Modules<'_>, links: &mut Links, facts: &FileFacts, file: u32) {
    let policy = &ALL[links.language as usize];
    let path = modules.tree.path(FileId(file)).to_string();
    let package = links.package.clone();
    for (import, link) in facts.imports.iter().zip(&mut links.imports) {
        let text = |name: Option<Name>| name.map_or("", |name| facts.text(name));
        let module = facts.text(import.module);
        let mut site = ImportSite {
            file,
            path: &path,
            package: package.as_deref(),
            module,
            member: text(import.member),
            level: import.level,
            prefix: policy.prefix,
        };
        link.target = (policy.module)(modules, &site);
        link.rest = Box::default();
        if let ModuleTarget::Within { file, consumed, .. } = link.target {
            link.target = ModuleTarget::File(file);
            link.rest = module.split("::").skip(usize::from(consumed)).map(Word::of).collect();
        }
        link.binds_first = None;
        if import.form == ImportForm::Module
            && let Some((first, _)) = module.split_once('.')
            && text(import.alias) == first
            && policy.order == BaseOrder::C3
        {
            site.module = first;
            link.binds_first = Some((policy.module)(modules, &site));
        }
    }
    links.text_modules.clear();
    for expression in &facts.expressions {
        if let Expression::Module(name) = *expression {
            let site = ImportSite {
                file,
                path: &path,
                package: package.as_deref(),
                module: facts.text(name),
                member: "",
                level: 0,
                prefix: policy.prefix,
            };
            let target = match (policy.module)(modules, &site) {
                ModuleTarget::Within { word, .. } => ModuleTarget::Package(word),
                target => target,
            };
            links.text_modules.push((Word::of(site.module), target));
        }
    }
}

/// Whether a definition takes no receiver although it is a member.
pub fn is_static(flags: Flags) -> bool {
    flags.contains(Flags::STATIC)
}

/// Most types that are written in each other.
const MAX_NESTING: usize = 8;

/// The word of a type by its package and the types around it.
fn qualified(links: &Links, package: Word, type_: u32) -> Option<Word> {
    let mut names: SmallVec<[Word; MAX_NESTING]> = SmallVec::new();
    let mut around = type_;
    while around != NONE {
        let link = links.definition(around).filter(|link| is_type(link.kind))?;
        if names.len() == MAX_NESTING {
            return None;
        }
        names.push(link.name);
        around = link.parent;
    }
    Some(names.iter().rev().fold(package, |word, &name| word.then(name)))
}
