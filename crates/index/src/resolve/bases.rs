//! Whose members are whose: owners of definitions written elsewhere, bases, and the order in which ancestors are searched.

use super::languages::BaseOrder;
use super::linker::{Ancestry, BaseLink, Linker, packed};
use super::links::{is_type, member_name};
use super::value::{Place, Value};
use super::view::{Notes, Stage, View};
use super::words::{Key, Word, WordMap};
use crate::model::FileId;
use crate::tree::Tree;
use rayon::prelude::*;
use std::sync::Arc;
use syntax::facts::{BaseKind, Definition, FileFacts, Flags, Kind};

/// Most ancestors that a class is given.
const MAX_ANCESTORS: usize = 64;

/// What the search for owners found, and what it looked at.
pub(super) type Owners = (Vec<(u32, Place, bool)>, Box<[Key]>);

/// What the search for bases found, and what it looked at.
pub(super) type Bases = (Vec<(Place, Vec<BaseLink>)>, Box<[Key]>);

impl Linker {
    pub(super) fn gather_owners(&mut self, tree: &dyn Tree) {
        let owners: Vec<Owners> = (0..self.links.len() as u32)
            .into_par_iter()
            .map(|file| self.owners_of(file, tree))
            .collect();
        for (file, (owners, notes)) in owners.into_iter().enumerate() {
            self.parts[file].owner_notes = notes;
            if owners.is_empty() {
                continue;
            }
            self.set_owners(file as u32, &owners);
            let outside = self.outside_part(file as u32, &owners);
            for &((owner, name), member) in &outside {
                self.outside_members
                    .entry((packed(owner), name))
                    .or_default()
                    .push(member);
            }
            if self.follows {
                self.parts[file].outside = outside;
                self.parts[file].owners = owners;
            }
        }
    }

    /// Writes the owners into the links of a file.
    pub(super) fn set_owners(&mut self, file: u32, owners: &[(u32, Place, bool)]) {
        let links = Arc::make_mut(&mut self.links[file as usize]);
        for definition in &mut links.definitions {
            definition.owner = None;
        }
        for &(id, owner, _) in owners {
            let position = links.numbers.position(id);
            if let Some(definition) = links.definitions.get_mut(position) {
                definition.owner = Some(owner);
            }
        }
    }

    /// What a file adds to members written outside of their owner.
    pub(super) fn outside_part(&self, file: u32, owners: &[(u32, Place, bool)]) -> Vec<((Place, Word), Place)> {
        let outside = owners.iter().filter(|(_, _, outside)| *outside);
        outside
            .filter_map(|&(id, owner, _)| {
                let member = Place { file, id };
                let definition = self.definition(member)?;
                let owner_name = self.definition(owner).map_or(Word(0), |link| link.name);
                let name = member_name(definition.kind, definition.name, owner_name);
                Some(((owner, name), member))
            })
            .collect()
    }

    /// (definition, owner, whether it is written outside of the owner), for every definition that has an owner.
    pub(super) fn owners_of(&self, file: u32, tree: &dyn Tree) -> Owners {
        let notes = Notes::default();
        let view = View::new(self, Stage::Names, self.follows.then_some(&notes));
        let owners = self.find_owners(file, tree, view);
        (owners, notes.into_keys([]))
    }

    fn find_owners(&self, file: u32, tree: &dyn Tree, view: View<'_>) -> Vec<(u32, Place, bool)> {
        let links = &self.links[file as usize];
        let inside = |id: u32, parent: u32| (id, Place { file, id: parent }, false);
        let mut owners = Vec::new();
        let mut facts: Option<Arc<FileFacts>> = None;
        for (position, definition) in links.definitions.iter().enumerate() {
            let id = links.numbers.of(position as u32);
            let around = links.numbers.position(definition.parent);
            let parent = links.definitions.get(around);
            if definition.kind == Kind::Lambda || definition.kind == Kind::Extension {
                continue;
            }
            if parent.is_some_and(|parent| is_type(parent.kind))
                && links
                    .members
                    .binary_search(&(
                        definition.parent,
                        member_name(
                            definition.kind,
                            definition.name,
                            parent.map_or(Word(0), |parent| parent.name),
                        ),
                        id,
                    ))
                    .is_ok()
            {
                owners.push(inside(id, definition.parent));
                continue;
            }
            let facts = facts.get_or_insert_with(|| tree.facts(FileId(file)));
            let own = facts.definitions.get(position).and_then(|definition| definition.owner);
            let extended = match parent {
                Some(parent) if parent.kind == Kind::Extension => {
                    facts.definitions.get(around).and_then(|definition| definition.owner)
                }
                _ => None,
            };
            if let Some(owner) = own.or(extended) {
                for value in view.static_values(file, facts, owner, 8) {
                    if let Value::Class(place) | Value::Function(place) = value {
                        owners.push((id, place, true));
                        break;
                    }
                }
            }
        }
        owners
    }

    pub(super) fn gather_bases(&mut self, tree: &dyn Tree) {
        let bases: Vec<Bases> = (0..self.links.len() as u32)
            .into_par_iter()
            .map(|file| self.bases_of(file, tree))
            .collect();
        let mut classes = Vec::new();
        for (file, (part, notes)) in bases.into_iter().enumerate() {
            for (class, bases) in &part {
                for &base in bases {
                    if let Value::Class(parent) | Value::Function(parent) = base.value
                        && !base.part
                    {
                        self.heirs
                            .entry(packed(parent))
                            .or_default()
                            .push((file as u32, *class));
                    }
                    self.bases.entry(packed(*class)).or_default().push((file as u32, base));
                }
                classes.push(*class);
            }
            self.parts[file].base_notes = notes;
            if self.follows {
                self.parts[file].bases = part;
            }
        }
        let mut ancestries = WordMap::default();
        for &class in &classes {
            self.linearise(class, &mut ancestries);
        }
        self.ancestries = ancestries;
    }

    pub(super) fn bases_of(&self, file: u32, tree: &dyn Tree) -> Bases {
        let notes = Notes::default();
        let view = View::new(self, Stage::Owners, self.follows.then_some(&notes));
        let bases = self.find_bases(file, tree, view);
        (bases, notes.into_keys([]))
    }

    fn find_bases(&self, file: u32, tree: &dyn Tree, view: View<'_>) -> Vec<(Place, Vec<BaseLink>)> {
        let links = &self.links[file as usize];
        let mut all = Vec::new();
        if !links
            .definitions
            .iter()
            .any(|definition| is_type(definition.kind) || definition.kind == Kind::Extension)
            && !self.policy(file).policy.runs_decorators
        {
            return all;
        }
        let facts = tree.facts(FileId(file));
        for (id, definition) in facts.definitions.iter().enumerate() {
            let place = view.place(file, id as u32);
            let mut bases = other_parts(view, place, definition);
            if definition.bases.is_empty() && bases.is_empty() {
                continue;
            }
            for base in &definition.bases {
                let values = view.static_values(file, &facts, base.type_, 8);
                let known = values
                    .iter()
                    .copied()
                    .find(|value| matches!(value, Value::Class(_) | Value::Function(_)));
                bases.push(BaseLink {
                    value: known.or(values.first().copied()).unwrap_or(Value::Foreign),
                    kind: base.kind,
                    part: false,
                });
            }
            let class = if definition.kind == Kind::Extension {
                let owner = definition.owner.map(|owner| view.static_values(file, &facts, owner, 8));
                owner.into_iter().flatten().find_map(|value| match value {
                    Value::Class(place) => Some(place),
                    _ => None,
                })
            } else {
                Some(place)
            };
            if let Some(class) = class {
                all.push((class, bases));
            }
        }
        all
    }

    /// Gives `class` and everything above it an order of lookup. Parents first, without recursion: a chain of classes may be
    /// as long as a file.
    pub(super) fn linearise(&self, class: Place, done: &mut WordMap<u64, Ancestry>) {
        let mut stack: Vec<(Place, Vec<BaseLink>, usize)> = Vec::new();
        let mut entered = Some(class);
        loop {
            if let Some(class) = entered.take()
                && !done.contains_key(&packed(class))
            {
                // A class that inherits from itself through others is entered first, so the search ends.
                let alone = Ancestry {
                    classes: Box::new([class]),
                    open: true,
                };
                done.insert(packed(class), alone);
                let parts = self.other_parts(class).flat_map(|part| self.bases(part));
                let bases = self.bases(class).chain(parts).filter(|base| !base.part);
                let (mut mixed, other): (Vec<BaseLink>, _) = bases.partition(|base| base.kind == BaseKind::Mixes);
                // What is mixed in last is asked first.
                mixed.reverse();
                stack.push((class, [mixed, other].concat(), 0));
            }
            let Some((class, bases, next)) = stack.last_mut() else {
                return;
            };
            match bases.get(*next) {
                Some(base) => {
                    *next += 1;
                    if let Value::Class(parent) | Value::Function(parent) = base.value {
                        entered = Some(parent);
                    }
                }
                None => {
                    let ancestry = self.order_ancestors(*class, bases, done);
                    done.insert(packed(*class), ancestry);
                    stack.pop();
                }
            }
        }
    }

    fn order_ancestors(&self, class: Place, bases: &[BaseLink], done: &WordMap<u64, Ancestry>) -> Ancestry {
        let mut open = false;
        let mut parents = Vec::new();
        for base in bases {
            match base.value {
                Value::Class(parent) | Value::Function(parent) => match done.get(&packed(parent)) {
                    Some(ancestry) => {
                        open |= ancestry.open;
                        parents.push(ancestry.classes.to_vec());
                    }
                    None => parents.push(vec![parent]),
                },
                Value::External(word) => open |= !self.is_closed_external(word),
                _ => open = true,
            }
        }
        let mut classes = vec![class];
        match self.policy(class.file).policy.order {
            BaseOrder::C3 => merge(&mut classes, parents),
            BaseOrder::DepthFirst => {
                for place in parents.into_iter().flatten() {
                    if !classes.contains(&place) {
                        classes.push(place);
                    }
                }
            }
        }
        classes.truncate(MAX_ANCESTORS);
        Ancestry {
            classes: classes.into(),
            open,
        }
    }

    /// External bases that bring no members worth waiting for.
    pub(super) fn is_closed_external(&self, word: Word) -> bool {
        matches!(
            &*self.externals.text(word),
            "py:builtins::object" | "py:abc::ABC" | "py:typing::Protocol" | "py:typing::Generic"
        )
    }
}

/// The other parts of a type that is written in several.
fn other_parts(view: View<'_>, place: Place, definition: &Definition) -> Vec<BaseLink> {
    if !is_type(definition.kind) || !definition.flags.contains(Flags::EXTENSION) {
        return Vec::new();
    }
    let others = view.parts(place).iter().filter(|&&part| part != place);
    let as_base = |&part: &Place| BaseLink {
        value: Value::Class(part),
        kind: BaseKind::Extends,
        part: true,
    };
    others.map(as_base).collect()
}

/// C3: repeatedly takes the first head that is in no other list's tail. When the hierarchy is inconsistent, falls back to
/// the first head, so that every class still gets an order.
fn merge(classes: &mut Vec<Place>, parents: Vec<Vec<Place>>) {
    let direct: Vec<Place> = parents.iter().filter_map(|list| list.first().copied()).collect();
    let mut lists: Vec<std::collections::VecDeque<Place>> = parents.into_iter().map(Into::into).collect();
    lists.push(direct.into());
    loop {
        lists.retain(|list| !list.is_empty());
        let Some(first) = lists.first().map(|list| list[0]) else {
            return;
        };
        let good = lists
            .iter()
            .map(|list| list[0])
            .find(|head| !lists.iter().any(|list| list.iter().skip(1).any(|other| other == head)));
        let next = good.unwrap_or(first);
        if !classes.contains(&next) {
            classes.push(next);
        }
        for list in &mut lists {
            list.retain(|place| *place != next);
        }
    }
}
