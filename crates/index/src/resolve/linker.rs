//! Links files together before any value is followed: imports to modules, names to definitions, members to types, types to
//! their bases.
//!
//! Everything here is a pure function of the files' [`Links`] and paths, computed file by file and then read only.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use rayon::prelude::*;
use smallvec::SmallVec;
use syntax::facts::{BaseKind, Expression, FileFacts, Flags, ImportForm, Kind, Name};

use super::languages::{ALL, BaseOrder, Compiled, policy_of};
use super::links::{
    ExportLink, ImportLink, Links, ModuleTarget, NONE, NameLink, is_function, is_type, is_variable, member_name,
};
use super::modules::{ImportSite, Maps, Modules, Registry, Site};
use super::value::{Place, Value};
use super::words::{Externals, Identity, Word, WordMap, mix};
use crate::model::FileId;
use crate::packages::Packages;
use crate::tree::Tree;

/// Longest chain of re-exports that is followed.
const MAX_CHAIN: u8 = 12;

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
    /// The qualified name of each part of a namespace.
    namespaces: WordMap<u64, Word>,
    /// Members written outside of their owner.
    pub(super) outside_members: WordMap<(u64, Word), SmallVec<[Place; 1]>>,
    /// Bases as written, by class.
    pub(super) bases: WordMap<u64, Vec<BaseLink>>,
    pub(super) ancestries: WordMap<u64, Ancestry>,
    /// Every name that some file assigns as a member: other names need not be looked up among contributed values.
    pub(super) fields: HashSet<Word, BuildHasherDefault<Identity>>,
    /// Direct heirs, by class.
    pub(super) heirs: WordMap<u64, Vec<Place>>,
    /// Interfaces that a type implements without saying so.
    pub(super) satisfied: WordMap<u64, Vec<Place>>,
}

/// A place as a key of a [`WordMap`], which does no hashing of its own.
pub fn packed(place: Place) -> u64 {
    mix(u64::from(place.file), u64::from(place.id))
}

impl Linker {
    /// Links all files of `tree`.
    pub fn new(tree: &dyn Tree, packages: &Packages) -> Linker {
        let files = tree.file_count() as u32;
        let externals = Externals::default();
        let policies: Vec<Compiled> = ALL.iter().map(|policy| Compiled::new(policy, &externals)).collect();
        let mut links: Vec<Arc<Links>> = (0..files)
            .into_par_iter()
            .map(|file| {
                let language = policy_of(tree.language(FileId(file)));
                let overloads = ALL[language as usize].overloads;
                Arc::new(Links::new(&tree.facts(FileId(file)), language, overloads))
            })
            .collect();
        let mut maps = Maps::new(links.len());
        for (file, links) in links.iter().enumerate() {
            let policy = &ALL[links.language as usize];
            let mut registry = Registry {
                prefix: policy.prefix,
                maps: &mut maps,
                packages,
            };
            let site = Site {
                file: file as u32,
                path: tree.path(FileId(file as u32)),
                package: links.package.as_deref(),
            };
            (policy.register)(&mut registry, &site);
        }
        let modules = Modules {
            maps: &maps,
            externals: &externals,
            tree,
            packages,
        };
        links.par_iter_mut().enumerate().for_each(|(file, links)| {
            let facts = tree.facts(FileId(file as u32));
            resolve_imports(&modules, Arc::make_mut(links), &facts, file as u32);
        });
        let mut linker = Linker {
            links,
            maps,
            policies,
            externals,
            package_names: WordMap::default(),
            qualified_types: WordMap::default(),
            namespaces: WordMap::default(),
            outside_members: WordMap::default(),
            bases: WordMap::default(),
            ancestries: WordMap::default(),
            heirs: WordMap::default(),
            fields: HashSet::default(),
            satisfied: WordMap::default(),
        };
        linker.fields = linker
            .links
            .iter()
            .flat_map(|links| links.fields.iter().copied())
            .collect();
        linker.gather_packages();
        linker.gather_qualified_types();
        linker.gather_owners(tree);
        linker.gather_bases(tree);
        linker.gather_satisfied();
        linker
    }

    /// Whether the facts of `file`, which changed, still give the links that are known of it.
    pub fn links_hold(&self, tree: &dyn Tree, file: FileId) -> bool {
        let Some(known) = self.links.get(file.0 as usize) else {
            return false;
        };
        let policy = &ALL[known.language as usize];
        let fresh = Links::new(&tree.facts(file), known.language, policy.overloads);
        policy_of(tree.language(file)) == known.language && known.unresolved() == fresh
    }

    /// The policy of a file's language.
    pub fn policy(&self, file: u32) -> &Compiled {
        &self.policies[self.links[file as usize].language as usize]
    }

    /// What is known of a definition.
    pub fn definition(&self, place: Place) -> Option<&super::links::DefinitionLink> {
        self.links.get(place.file as usize)?.definitions.get(place.id as usize)
    }

    /// What importers of `file` get for `name`.
    pub fn export(&self, file: u32, name: Word) -> Names {
        let mut found = Names::new();
        self.find_export(file, name, MAX_CHAIN, &mut found);
        found
    }

    /// What the module has under `name`.
    pub fn module_member(&self, module: ModuleTarget, name: Word, text: &str) -> Names {
        let mut found = Names::new();
        self.find_member(module, name, text, MAX_CHAIN, &mut found);
        found
    }

    /// What an import binds.
    pub fn imported(&self, file: u32, import: u32) -> Names {
        let mut found = Names::new();
        self.find_import(file, import, true, MAX_CHAIN, &mut found);
        found
    }

    /// What an import names: as [`Linker::imported`], except that `import a.b` names `a.b` and binds `a`.
    pub fn import_target(&self, file: u32, import: u32) -> Names {
        let mut found = Names::new();
        self.find_import(file, import, false, MAX_CHAIN, &mut found);
        found
    }

    /// What the bare `name` means in `file` when the file itself does not bind it: siblings of its package, wildcard
    /// imports, included files.
    pub fn ambient(&self, file: u32, name: Word, text: &str) -> Names {
        let mut found = Names::new();
        if let Some(package) = self.maps.package_of(file) {
            if self.policy(file).policy.links_by_name {
                found = self.linked(file, package, name);
                if found.is_empty() {
                    self.find_in_used_namespaces(file, name, &mut found);
                }
                return found;
            }
            self.find_member(ModuleTarget::Package(package), name, text, MAX_CHAIN, &mut found);
        }
        if found.is_empty() {
            self.find_in_wildcards(file, name, MAX_CHAIN, &mut found);
        }
        if found.is_empty() && self.policy(file).policy.packages_visible {
            let root = Word::of(self.policy(file).policy.prefix).then(Word::of(""));
            if let Some(package) = self.maps.child(root, name) {
                self.push_module(package, &mut found);
            }
        }
        found
    }

    /// The definition of a top-level variable.
    pub fn variable_definition(&self, file: u32, name: Word) -> Option<Place> {
        let links = &self.links[file as usize];
        links.named(name).iter().rev().find_map(|&(_, link)| match link {
            NameLink::Definition(id) => Some(Place { file, id }),
            _ => None,
        })
    }

    /// The members called `name` that `class` itself has.
    pub fn own_members(&self, class: Place, name: Word) -> SmallVec<[Place; 2]> {
        let mut found = SmallVec::new();
        // A namespace is all its parts, whichever file they are in.
        let parts = self
            .namespaces
            .get(&packed(class))
            .and_then(|word| self.qualified_types.get(word));
        match parts {
            Some(parts) => parts.iter().for_each(|&part| self.add_members(part, name, &mut found)),
            None => self.add_members(class, name, &mut found),
        }
        if found.len() > 1 && self.policy(class.file).policy.links_by_name {
            self.drop_declarations(&mut found);
        }
        found
    }

    fn add_members(&self, class: Place, name: Word, found: &mut SmallVec<[Place; 2]>) {
        if let Some(links) = self.links.get(class.file as usize) {
            found.extend(
                links
                    .members_of(class.id, name)
                    .iter()
                    .map(|&(_, _, id)| Place { file: class.file, id }),
            );
        }
        if let Some(outside) = self.outside_members.get(&(packed(class), name)) {
            found.extend(outside.iter().copied());
        }
    }

    /// A class and its ancestors in the order of lookup.
    pub fn ancestry(&self, class: Place) -> Option<&Ancestry> {
        self.ancestries.get(&packed(class))
    }

    /// What runs when an instance of `class` is made: its own constructors, else those of the nearest ancestor.
    pub fn constructors(&self, class: Place) -> SmallVec<[Place; 2]> {
        let alone = [class];
        let classes = self.ancestry(class).map_or(&alone[..], |ancestry| &ancestry.classes);
        for &owner in classes {
            let found = self.own_constructors(owner);
            if !found.is_empty() {
                return found;
            }
        }
        SmallVec::new()
    }

    pub(super) fn own_constructors(&self, class: Place) -> SmallVec<[Place; 2]> {
        let mut found: SmallVec<[Place; 2]> = SmallVec::new();
        for &name in &self.policy(class.file).constructors {
            found.extend(self.own_members(class, name).into_iter().filter(|&member| {
                self.definition(member)
                    .is_some_and(|definition| is_function(definition.kind))
            }));
            if !found.is_empty() {
                return found;
            }
        }
        let links = &self.links[class.file as usize];
        let start = links.members.partition_point(|&(owner, _, _)| owner < class.id);
        for &(owner, _, id) in &links.members[start..] {
            if owner != class.id {
                break;
            }
            if links.definitions[id as usize].kind == Kind::Constructor {
                found.push(Place { file: class.file, id });
            }
        }
        let name = self.definition(class).map_or(Word(0), |link| link.name);
        for member in self.own_members(class, member_name(Kind::Constructor, name, name)) {
            if !found.contains(&member) {
                found.push(member);
            }
        }
        if found.len() > 1 && self.policy(class.file).policy.links_by_name {
            self.drop_declarations(&mut found);
        }
        found
    }

    /// Whether some file assigns a member of this name.
    pub fn is_field(&self, name: Word) -> bool {
        self.fields.contains(&name)
    }

    /// The bases of a class as written.
    pub fn bases(&self, class: Place) -> &[BaseLink] {
        self.bases.get(&packed(class)).map_or(&[], Vec::as_slice)
    }

    /// The classes that name `class` as base.
    pub fn heirs(&self, class: Place) -> &[Place] {
        self.heirs.get(&packed(class)).map_or(&[], Vec::as_slice)
    }

    /// The interfaces that a type implements without saying so.
    pub fn satisfied(&self, class: Place) -> &[Place] {
        self.satisfied.get(&packed(class)).map_or(&[], Vec::as_slice)
    }

    /// Whether `class` is `ancestor` or below it.
    pub fn inherits(&self, class: Place, ancestor: Place) -> bool {
        class == ancestor
            || self
                .ancestry(class)
                .is_some_and(|ancestry| ancestry.classes.contains(&ancestor))
    }

    /// A definition as value; variables have none of their own.
    pub fn as_value(&self, place: Place) -> Option<Value> {
        let kind = self.definition(place)?.kind;
        if is_function(kind) {
            Some(Value::Function(place))
        } else if is_type(kind) {
            Some(Value::Class(place))
        } else {
            None
        }
    }

    pub(super) fn find_export(&self, file: u32, name: Word, depth: u8, found: &mut Names) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        let links = &self.links[file as usize];
        match links.export(name) {
            Some(ExportLink::Definition(id)) => return self.push_definition(Place { file, id }, found),
            Some(ExportLink::Import(import)) => return self.find_import(file, import, true, depth, found),
            Some(ExportLink::Value) => return push(found, Found::Export(file, name)),
            None => {}
        }
        for &(_, link) in links.named(name) {
            match link {
                NameLink::Definition(id) => self.push_definition(Place { file, id }, found),
                NameLink::Import(import) => self.find_import(file, import, true, depth, found),
                NameLink::Variable => push(found, Found::Variable(file, name)),
            }
        }
        if found.is_empty()
            && let Some(container) = self.maps.container_of(file)
            && let Some(module) = self.maps.child(container, name)
        {
            self.push_module(module, found);
        }
        if found.is_empty() {
            self.find_in_wildcards(file, name, depth, found);
        }
    }

    pub(super) fn find_in_wildcards(&self, file: u32, name: Word, depth: u8, found: &mut Names) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        let links = &self.links[file as usize];
        // Of two wildcards that both have the name, the later one wins where they run in order.
        for &import in links.wildcards.iter().rev() {
            match self.target_of(&links.imports[import as usize], depth) {
                ModuleTarget::File(other) if other != file => self.find_export(other, name, depth, found),
                ModuleTarget::Package(package) => {
                    self.find_member(ModuleTarget::Package(package), name, "", depth, found);
                }
                ModuleTarget::Definition(class) => {
                    for member in self.own_members(class, name) {
                        self.push_definition(member, found);
                    }
                }
                _ => {}
            }
            if !found.is_empty() {
                return;
            }
        }
    }

    pub(super) fn find_import(&self, file: u32, import: u32, bound: bool, depth: u8, found: &mut Names) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        let import = &self.links[file as usize].imports[import as usize];
        if let (true, Some(first)) = (bound, import.binds_first) {
            return self.push_module(first, found);
        }
        match (import.form, import.member) {
            (ImportForm::Default, _) => match import.target {
                ModuleTarget::File(other) => {
                    self.find_export(other, Word::of("default"), depth, found);
                    if found.is_empty() {
                        push(found, Found::Value(Value::Module(other)));
                    }
                }
                target => self.find_member(target, Word::of("default"), "default", depth, found),
            },
            (ImportForm::Wildcard | ImportForm::Effect | ImportForm::Include, _) | (_, None) => {
                self.push_module(self.target_of(import, depth), found);
            }
            (_, Some(member)) => {
                self.find_member(self.target_of(import, depth), member, &import.member_text, depth, found)
            }
        }
    }

    pub(super) fn find_member(&self, module: ModuleTarget, name: Word, text: &str, depth: u8, found: &mut Names) {
        match module {
            ModuleTarget::File(file) => {
                self.find_export(file, name, depth, found);
                let links = &self.links[file as usize];
                if found.is_empty() && !links.exports.is_empty() && links.export(Word::of("=")).is_some() {
                    push(found, Found::ExportMember(file, name));
                }
            }
            ModuleTarget::Package(package) => {
                if let Some(places) = self.package_names.get(&(package, name)) {
                    for &place in places {
                        self.push_definition(place, found);
                    }
                }
                if found.is_empty()
                    && let Some(module) = self.maps.child(package, name)
                {
                    self.push_module(module, found);
                }
                // What looks like a package may be a type: a static import, a nested type.
                if found.is_empty()
                    && let Some(types) = self.qualified_types.get(&package)
                {
                    for &class in types {
                        for member in self.inherited_members(class, name) {
                            self.push_definition(member, found);
                        }
                    }
                }
            }
            ModuleTarget::Definition(class) => {
                for member in self.own_members(class, name) {
                    self.push_definition(member, found);
                }
            }
            ModuleTarget::External(external) if !text.is_empty() => {
                push(
                    found,
                    Found::Value(Value::External(self.externals.member(external, name, text))),
                );
            }
            ModuleTarget::External(_) | ModuleTarget::Within { .. } | ModuleTarget::Nothing => {}
        }
    }

    /// The module of an import, after the rest of its path is followed from where its file is.
    fn target_of(&self, import: &ImportLink, depth: u8) -> ModuleTarget {
        let mut target = import.target;
        for &part in &import.rest {
            let mut found = Names::new();
            if let Some(depth) = depth.checked_sub(1) {
                self.find_member(target, part, "", depth, &mut found);
            }
            let module = found.iter().find_map(|found| match *found {
                Found::Value(Value::Module(file)) => Some(ModuleTarget::File(file)),
                Found::Value(Value::Package(package)) => Some(ModuleTarget::Package(package)),
                Found::Value(Value::Class(class)) => Some(ModuleTarget::Definition(class)),
                Found::Value(Value::External(word)) => Some(ModuleTarget::External(word)),
                _ => None,
            });
            match module {
                Some(module) => target = module,
                None => return ModuleTarget::Nothing,
            }
        }
        target
    }

    /// Everything that the files of `package` define under `name`.
    pub(super) fn package_places(&self, package: Word, name: Word) -> Option<&[Place]> {
        self.package_names.get(&(package, name)).map(SmallVec::as_slice)
    }

    /// The members called `name` of `class`, else of the nearest ancestor that has some.
    pub fn inherited_members(&self, class: Place, name: Word) -> SmallVec<[Place; 2]> {
        let alone = [class];
        let classes = self.ancestry(class).map_or(&alone[..], |ancestry| &ancestry.classes);
        let members = classes.iter().map(|&owner| self.own_members(owner, name));
        members
            .into_iter()
            .find(|members| !members.is_empty())
            .unwrap_or_default()
    }

    pub(super) fn push_definition(&self, place: Place, found: &mut Names) {
        let Some(definition) = self.definition(place) else {
            return;
        };
        if let (Kind::EnumMember, Some(owner)) = (definition.kind, definition.owner) {
            return push(found, Found::Value(Value::Instance(owner)));
        }
        match self.as_value(place) {
            Some(value) => {
                push(found, Found::Value(value));
                if definition.decorated {
                    push(found, Found::Variable(place.file, decorated_name(place)));
                }
            }
            None if is_variable(definition.kind) => push(found, Found::Variable(place.file, definition.name)),
            None => {}
        }
    }

    pub(super) fn push_module(&self, module: ModuleTarget, found: &mut Names) {
        match module {
            ModuleTarget::File(file) => push(found, Found::Value(Value::Module(file))),
            ModuleTarget::Package(package) => push(found, Found::Value(Value::Package(package))),
            ModuleTarget::External(word) => push(found, Found::Value(Value::External(word))),
            ModuleTarget::Definition(place) => self.push_definition(place, found),
            ModuleTarget::Within { .. } | ModuleTarget::Nothing => {}
        }
    }

    pub(super) fn gather_packages(&mut self) {
        for (file, links) in self.links.iter().enumerate() {
            let Some(package) = self.maps.package_of(file as u32) else {
                continue;
            };
            for &(name, link) in &links.names {
                // What is private to a file is no one else's, unless the file is there to be included.
                let seen = |id: u32| !links.definitions[id as usize].private || self.maps.is_header(file as u32);
                if let NameLink::Definition(id) = link
                    && (!self.policies[links.language as usize].policy.links_by_name || seen(id))
                {
                    let place = Place { file: file as u32, id };
                    self.package_names.entry((package, name)).or_default().push(place);
                }
            }
        }
    }

    /// Files every type under the word of its qualified name, nested ones under those of their owners.
    pub(super) fn gather_qualified_types(&mut self) {
        for (file, links) in self.links.iter().enumerate() {
            let file = file as u32;
            let Some(package) = self
                .maps
                .package_of(file)
                .or(self.maps.container_of(file))
                .filter(|_| self.policy(file).policy.packages_visible)
            else {
                continue;
            };
            // A definition comes after the one that contains it, so the owner's word is known.
            let mut words: Vec<Option<Word>> = Vec::with_capacity(links.definitions.len());
            for (id, definition) in links.definitions.iter().enumerate() {
                let outer = match definition.parent {
                    NONE => Some(package),
                    parent => words.get(parent as usize).copied().flatten(),
                };
                let word = outer
                    .filter(|_| is_type(definition.kind))
                    .map(|outer| outer.then(definition.name));
                if let Some(word) = word {
                    let place = Place { file, id: id as u32 };
                    self.qualified_types.entry(word).or_default().push(place);
                    if definition.kind == Kind::Module {
                        self.namespaces.insert(packed(place), word);
                    }
                }
                words.push(word);
            }
        }
    }
}

/// Name under which a file contributes what its decorators make of a definition, besides the definition itself.
pub fn decorated_name(place: Place) -> Word {
    Word(u64::from(place.id)).then(Word(4))
}

pub(super) fn push(found: &mut Names, name: Found) {
    if !found.contains(&name) {
        found.push(name);
    }
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
