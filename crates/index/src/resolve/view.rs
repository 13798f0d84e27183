//! The linked files as one reader sees them. Every lookup notes what it looked at, found or not, so that after an edit only
//! the readers of what changed look again.

use std::cell::RefCell;

use smallvec::SmallVec;
use syntax::facts::{Flags, ImportForm, Kind};

use super::languages::Compiled;
use super::linker::{
    Ancestry, BaseLink, EXTENSIONS, Found, Linker, MAX_CHAIN, MAX_NAMES, MEMBERS, Names, decorated_name, packed, push,
};
use super::links::{
    DefinitionLink, ExportLink, ImportLink, Links, ModuleTarget, NameLink, ParameterLink, is_function, is_type,
    is_variable, member_name,
};
use super::value::{Place, Value};
use super::words::{Externals, Key, Word};
use super::{Keys, steps};

/// How much of the linking is done, as far as a lookup may use it: each stage reads only the stages before, in a build from
/// nothing and after an edit alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// Names and imports.
    Names,
    /// Owners as well.
    Owners,
    /// Everything.
    Linked,
}

/// What a reader looked at.
#[derive(Default)]
pub struct Notes(RefCell<Keys>);

impl Notes {
    /// Notes that the reader looked at `key`.
    pub(super) fn add(&self, key: Key) {
        self.0.borrow_mut().insert(key);
    }

    /// The keys, sorted, together with `more`.
    pub fn into_keys(self, more: impl IntoIterator<Item = Key>) -> Box<[Key]> {
        let mut keys: Vec<Key> = self.0.into_inner().into_iter().chain(more).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.into()
    }
}

/// A reader's view of the linked files.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Texts of external names.
    pub externals: &'a Externals,
    pub(super) tables: &'a Linker,
    pub(super) stage: Stage,
    notes: Option<&'a Notes>,
}

impl<'a> View<'a> {
    /// A view for lookups of `stage`; without notes, nobody will ask what was looked at.
    pub fn new(tables: &'a Linker, stage: Stage, notes: Option<&'a Notes>) -> View<'a> {
        View {
            externals: &tables.externals,
            tables,
            stage,
            notes,
        }
    }

    pub(super) fn note(&self, key: Key) {
        steps::count(1);
        if let Some(notes) = self.notes {
            notes.add(key);
        }
    }

    /// The links of the reader's own file. A reader always looks again when its own file changes, so nothing is noted.
    pub fn own(&self, file: u32) -> &'a Links {
        &self.tables.links[file as usize]
    }

    /// The number that stands for a definition of a file in places.
    pub fn place(&self, file: u32, position: u32) -> Place {
        let id = self.tables.links[file as usize].numbers.of(position);
        Place { file, id }
    }

    /// The position of a definition in the facts of its file.
    pub fn position(&self, place: Place) -> Option<u32> {
        let links = self.tables.links.get(place.file as usize)?;
        let position = links.numbers.position(place.id);
        (position < links.definitions.len()).then_some(position as u32)
    }

    /// The parameters of a definition.
    pub fn parameters(&self, place: Place) -> &'a [ParameterLink] {
        self.note(Key::definition(place));
        match self.tables.links.get(place.file as usize) {
            Some(links) => links.parameters_of(place.id),
            None => &[],
        }
    }

    /// Whether some definition of the file is a test, or the file lies among tests.
    pub fn has_tests(&self, file: u32) -> bool {
        self.note(Key::tests(file));
        self.tables.links[file as usize].has_tests
    }

    /// Whether the file exports one value as a whole (`module.exports = …`).
    pub fn exports_whole(&self, file: u32) -> bool {
        let whole = Word::of("=");
        self.note(Key::named(file, whole));
        let links = &self.tables.links[file as usize];
        !links.exports.is_empty() && links.export(whole).is_some()
    }

    /// The top-level variables of the file called `name` that are another name of some path.
    pub fn aliases(&self, file: u32, name: Word) -> &'a [(Word, Box<[Word]>)] {
        self.note(Key::named(file, name));
        let aliases = &self.tables.links[file as usize].aliases;
        let start = aliases.partition_point(|(known, _)| *known < name);
        let end = start + aliases[start..].partition_point(|(known, _)| *known == name);
        &aliases[start..end]
    }

    /// The module that `container` has under `name`.
    fn child(&self, container: Word, name: Word) -> Option<ModuleTarget> {
        self.note(Key::child(container, name));
        self.tables.maps.child(container, name)
    }

    /// Whether a generator makes `made` of `template`; their names never change.
    pub fn is_template(&self, template: u32, made: u32) -> bool {
        self.tables.maps.is_template(template, made)
    }

    /// The directories that a file is in; they never change.
    pub fn directories_of(&self, file: u32) -> &'a [Word] {
        self.tables.maps.directories_of(file)
    }

    /// The policy of a file's language.
    pub fn policy(&self, file: u32) -> &'a Compiled {
        self.tables.policy(file)
    }

    /// What is known of a definition.
    pub fn definition(&self, place: Place) -> Option<&'a DefinitionLink> {
        self.note(Key::definition(place));
        self.tables.definition(place)
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

    /// What a module that is written in place has imported under `name`.
    pub fn held(&self, module: Place, name: Word) -> Names {
        let mut found = Names::new();
        self.find_held(module, name, MAX_CHAIN, &mut found);
        found
    }

    fn find_held(&self, module: Place, name: Word, depth: u8, found: &mut Names) {
        self.note(Key::member(module, name));
        let links = &self.tables.links[module.file as usize];
        for &(_, _, import) in links.held_by(module.id, name) {
            self.find_import(module.file, import, true, depth, found);
        }
    }

    /// What an import binds.
    pub fn imported(&self, file: u32, import: u32) -> Names {
        let mut found = Names::new();
        self.find_import(file, import, true, MAX_CHAIN, &mut found);
        self.by_project(file, found)
    }

    /// What an import names: as [`Linker::imported`], except that `import a.b` names `a.b` and binds `a`.
    pub fn import_target(&self, file: u32, import: u32) -> Names {
        let mut found = Names::new();
        self.find_import(file, import, false, MAX_CHAIN, &mut found);
        self.by_project(file, found)
    }

    /// What the bare `name` means in `file` when the file itself does not bind it: siblings of its package, wildcard
    /// imports, included files.
    pub fn ambient(&self, file: u32, name: Word, text: &str) -> Names {
        let mut found = Names::new();
        if let Some(package) = self.tables.maps.package_of(file) {
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
            self.find_in_stars(file, name, MAX_CHAIN, &mut found);
        }
        let policy = self.policy(file).policy;
        let root = Word::of(policy.prefix).then(Word::of(""));
        if found.is_empty() && policy.global_functions {
            for &place in self.package_places(root, name).into_iter().flatten() {
                let kind = self.definition(place).map(|definition| definition.kind);
                if kind.is_some_and(|kind| is_function(kind) || kind == Kind::Constant) {
                    self.push_definition(place, &mut found);
                }
            }
        }
        if found.is_empty()
            && policy.packages_visible
            && let Some(package) = self.child(root, name)
        {
            self.push_module(package, &mut found);
        }
        self.by_project(file, found)
    }

    /// Of definitions of one name in several projects, those that `file` is nearest to.
    fn by_project(&self, file: u32, mut found: Names) -> Names {
        if found.len() < 2 {
            return found;
        }
        if !self.tables.maps.has_projects() {
            return self.whole(found);
        }
        let distance = |found: &Found| match found {
            Found::Value(Value::Function(place) | Value::Class(place)) => self.tables.maps.distance(file, place.file),
            _ => 0,
        };
        let least = found.iter().map(distance).min().unwrap_or(0);
        found.retain(|found| distance(found) == least);
        self.whole(found)
    }

    /// The definition of a top-level variable.
    pub fn variable_definition(&self, file: u32, name: Word) -> Option<Place> {
        let links = &self.tables.links[file as usize];
        self.note(Key::named(file, name));
        links.named(name).iter().rev().find_map(|&(_, link)| match link {
            NameLink::Definition(id) => Some(Place { file, id }),
            _ => None,
        })
    }

    /// The members called `name` that `class` itself has.
    pub fn own_members(&self, class: Place, name: Word) -> SmallVec<[Place; 2]> {
        let mut found = SmallVec::new();
        // A namespace is all its parts, whichever file they are in, and so is a partial type.
        match self.container(class) {
            None => {
                self.note(Key::member(class, name));
                self.add_members(class, name, &mut found);
            }
            Some(container) => {
                if let Some(part) = self.canonical(container.then(name)) {
                    return SmallVec::from_elem(part, 1);
                }
                for part in self.holders(class, container, name) {
                    self.add_members(part, name, &mut found);
                }
            }
        }
        if found.len() > 1 && self.policy(class.file).policy.links_by_name {
            self.drop_declarations(&mut found);
        }
        found
    }

    /// One part stands for a type that is written in several: the first that has a constructor, else the first.
    fn whole(&self, mut found: Names) -> Names {
        let class_of = |found: &Found| match found {
            Found::Value(Value::Class(place)) => Some(*place),
            _ => None,
        };
        let classes: SmallVec<[Place; 4]> = found.iter().filter_map(class_of).collect();
        if classes.len() < 2 {
            return found;
        }
        let standing = self.standing(&classes);
        found.retain(|found| class_of(found).is_none_or(|class| standing.contains(&class)));
        found
    }

    /// Adds the members of one part alone; who asks notes it.
    fn add_members(&self, class: Place, name: Word, found: &mut SmallVec<[Place; 2]>) {
        steps::count(1);
        if let Some(links) = self.tables.links.get(class.file as usize) {
            let members = links.members_of(class.id, name);
            // The last ones, because the last one counts where there are no overloads.
            let members = &members[members.len().saturating_sub(MAX_NAMES)..];
            found.extend(members.iter().map(|&(_, _, id)| Place { file: class.file, id }));
        }
        if self.stage >= Stage::Owners
            && let Some(outside) = self.tables.outside_members.get(&(packed(class), name))
        {
            found.extend(outside.iter().copied());
        }
    }

    /// A class and its ancestors in the order of lookup.
    pub fn ancestry(&self, class: Place) -> Option<&'a Ancestry> {
        if self.stage < Stage::Linked {
            return None;
        }
        self.note(Key::ancestry(class));
        self.tables.ancestries.get(&packed(class))
    }

    /// What runs when an instance of `class` is made: its own constructors, else those of the nearest ancestor where these are
    /// inherited.
    pub fn constructors(&self, class: Place) -> SmallVec<[Place; 2]> {
        if !self.policy(class.file).policy.inherits_constructors {
            return self.own_constructors(class);
        }
        let alone = [class];
        let classes = self
            .ancestry(class)
            .map_or(&alone[..], |ancestry| &ancestry.classes[..]);
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
        for part in self.making_parts(class) {
            found.extend(self.made_by(part));
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

    /// The constructors that are written in the type itself.
    fn made_by(&self, class: Place) -> SmallVec<[Place; 2]> {
        let links = &self.tables.links[class.file as usize];
        self.note(Key::members(class));
        let members = links.all_members_of(class.id).iter();
        let constructors = members.filter(|&&(_, _, id)| {
            let link = links.definition(id);
            link.is_some_and(|link| link.kind == Kind::Constructor)
        });
        constructors.map(|&(_, _, id)| Place { file: class.file, id }).collect()
    }

    /// Whether some file assigns a member of this name.
    pub fn is_field(&self, name: Word) -> bool {
        self.note(Key::field_name(name));
        self.tables.fields.contains_key(&name)
    }

    /// The bases of a class as written.
    pub fn bases(&self, class: Place) -> impl Iterator<Item = BaseLink> + 'a {
        self.note(Key::ancestry(class));
        self.tables.bases(class)
    }

    /// The classes that name `class` as base.
    pub fn heirs(&self, class: Place) -> SmallVec<[Place; 4]> {
        self.note(Key::heirs(class));
        let satisfying = self
            .tables
            .implementers
            .get(&packed(class))
            .into_iter()
            .flatten()
            .copied();
        let mut heirs: SmallVec<[Place; 4]> = self.tables.heirs(class).chain(satisfying).collect();
        for part in self.extended_parts(class) {
            self.note(Key::heirs(part));
            heirs.extend(self.tables.heirs(part));
        }
        heirs
    }

    /// The interfaces that a type implements without saying so.
    pub fn satisfied(&self, class: Place) -> &'a [Place] {
        self.note(Key::satisfied(class));
        self.tables.satisfied.get(&packed(class)).map_or(&[], Vec::as_slice)
    }

    /// Whether `class` is `ancestor` or below it.
    pub fn inherits(&self, class: Place, ancestor: Place) -> bool {
        class == ancestor
            || self.ancestry(class).is_some_and(|ancestry| {
                ancestry.classes.contains(&ancestor) || self.has_part_among(ancestor, &ancestry.classes)
            })
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
        if self.find_export_here(file, name, depth, found) {
            self.find_in_stars(file, name, depth, found);
        }
    }

    /// What the file itself exports under `name`; says whether it may come through a wildcard instead.
    pub(super) fn find_export_here(&self, file: u32, name: Word, depth: u8, found: &mut Names) -> bool {
        self.note(Key::named(file, name));
        let links = &self.tables.links[file as usize];
        if let Some(export) = links.export(name) {
            match export {
                ExportLink::Definition(id) => self.push_definition(Place { file, id }, found),
                ExportLink::Import(import) => self.find_import(file, import, true, depth, found),
                ExportLink::Value => push(found, Found::Export(file, name)),
            }
            return false;
        }
        for &(_, link) in links.named(name) {
            match link {
                NameLink::Definition(id) => self.push_definition(Place { file, id }, found),
                NameLink::Import(import) => self.find_import(file, import, true, depth, found),
                NameLink::Variable => push(found, Found::Variable(file, name)),
            }
        }
        if found.is_empty()
            && let Some(container) = self.tables.maps.container_of(file)
            && let Some(module) = self.child(container, name)
        {
            self.push_module(module, found);
        }
        found.is_empty()
    }

    pub(super) fn find_import(&self, file: u32, import: u32, bound: bool, depth: u8, found: &mut Names) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        let import = &self.tables.links[file as usize].imports[import as usize];
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
                if found.is_empty() && self.exports_whole(file) {
                    push(found, Found::ExportMember(file, name));
                }
            }
            ModuleTarget::Package(package) => {
                for &place in self.package_places(package, name).unwrap_or_default() {
                    if found.len() >= MAX_NAMES {
                        break;
                    }
                    self.push_definition(place, found);
                }
                if found.is_empty()
                    && let Some(module) = self.child(package, name)
                {
                    self.push_module(module, found);
                }
                // What looks like a package may be a type: a static import, a nested type.
                if found.is_empty()
                    && let Some(types) = self.types_to_ask(package)
                {
                    for class in types {
                        for member in self.inherited_members(class, name) {
                            self.push_definition(member, found);
                        }
                    }
                    let extensions = self.package_places(package.then(EXTENSIONS), name);
                    for &extension in extensions.unwrap_or_default() {
                        self.push_definition(extension, found);
                    }
                }
            }
            ModuleTarget::Definition(class) => {
                for member in self.own_members(class, name) {
                    self.push_definition(member, found);
                }
                if found.is_empty() {
                    self.find_held(class, name, depth, found);
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
    pub(super) fn target_of(&self, import: &ImportLink, depth: u8) -> ModuleTarget {
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
    pub(super) fn package_places(&self, package: Word, name: Word) -> Option<&'a [Place]> {
        self.note(Key::package(package, name));
        self.tables.package_names.get(&(package, name)).map(SmallVec::as_slice)
    }

    /// The macros called `name` that `file` sees without naming their module: those of the nearest module that has some.
    pub fn macros_named(&self, file: u32, name: Word) -> &'a [Place] {
        let seen = self.tables.maps.macros_seen(file);
        seen.iter()
            .find_map(|&module| self.package_places(module, name))
            .unwrap_or_default()
    }

    /// Whether a member is one of the type itself.
    pub fn is_of_type(&self, member: Place) -> bool {
        let link = self.definition(member);
        link.is_some_and(|link| link.flags.contains(Flags::STATIC))
    }

    /// Whether a member is one of a module, and so of whoever mixes that in.
    pub fn is_mixed_in(&self, member: Place) -> bool {
        let owner = self.definition(member).and_then(|link| self.definition(link.owner?));
        owner.is_some_and(|owner| owner.kind == Kind::Module)
    }

    /// All members called `name` in the package of `file`, whatever their owner.
    pub fn members_named(&self, file: u32, name: Word) -> &'a [Place] {
        let package = self.tables.maps.package_of(file);
        package
            .and_then(|package| self.package_places(package.then(MEMBERS), name))
            .unwrap_or_default()
    }

    /// The types of this qualified name.
    pub(super) fn qualified_types(&self, word: Word) -> Option<&'a [Place]> {
        self.note(Key::qualified(word));
        self.tables.qualified_types.get(&word).map(SmallVec::as_slice)
    }

    /// The members called `name` of `class`, else of the nearest ancestor that has some.
    pub fn inherited_members(&self, class: Place, name: Word) -> SmallVec<[Place; 2]> {
        let alone = [class];
        let classes = self
            .ancestry(class)
            .map_or(&alone[..], |ancestry| &ancestry.classes[..]);
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
        let owner = definition.owner.filter(|_| self.stage >= Stage::Owners);
        if let (Kind::EnumMember, Some(owner)) = (definition.kind, owner) {
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
}
