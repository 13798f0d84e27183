//! Whose members are whose: owners of definitions written elsewhere, bases, and the order in which ancestors are searched.

use super::Keys;
use super::languages::BaseOrder;
use super::linker::{Ancestry, BaseLink, Linker, packed};
use super::links::{is_type, member_name};
use super::value::{Place, Value};
use super::view::{Notes, Stage, View};
use super::words::{Key, Word, WordMap};
use crate::model::FileId;
use crate::tree::Tree;
use rayon::prelude::*;
use smallvec::SmallVec;
use std::collections::HashSet;
use std::sync::Arc;
use syntax::facts::{BaseKind, FileFacts, Flags, Kind};

/// Most ancestors that a class is given.
const MAX_ANCESTORS: usize = 64;

/// What the search for owners found, and what it looked at.
pub(super) type Owners = (Vec<(u32, Place, bool)>, Box<[Key]>);

/// What the search for bases found, and what it looked at.
pub(super) type Bases = (Vec<(Place, Vec<BaseLink>)>, Box<[Key]>);

/// Orders of lookup as far as they are found, and the bases of partial types, which are put together once for all parts.
#[derive(Default)]
pub(super) struct Lineages {
    pub(super) done: WordMap<u64, Ancestry>,
    groups: WordMap<Word, Box<[BaseLink]>>,
}

impl Lineages {
    /// Goes on with orders that are known already.
    pub(super) fn of(done: WordMap<u64, Ancestry>) -> Lineages {
        Lineages {
            done,
            groups: WordMap::default(),
        }
    }
}

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
                self.merge_outside(owner, name);
                self.star_outside(owner, name);
            }
            if self.follows {
                self.parts[file].outside = outside;
                self.parts[file].owners = owners;
            }
        }
        self.stars.forget_tables();
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
        self.steps.add();
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
                    if let Some(parent) = base.class() {
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
        let mut lineages = Lineages::default();
        for &class in &classes {
            if self.has_bases(class) {
                self.linearise(class, &mut lineages);
            }
        }
        self.ancestries = lineages.done;
        let mut nobody = Keys::default();
        for class in self.merged_parts() {
            self.merge_extended(class, &mut nobody);
            self.merge_inheriting(class, &mut nobody);
        }
    }

    /// Whether the order of lookup of `class` holds more than itself by what it says, or by what other parts of it say.
    pub(super) fn has_bases(&self, class: Place) -> bool {
        self.bases.contains_key(&packed(class)) || self.group_of(class).is_some()
    }

    pub(super) fn bases_of(&self, file: u32, tree: &dyn Tree) -> Bases {
        let notes = Notes::default();
        let view = View::new(self, Stage::Owners, self.follows.then_some(&notes));
        let bases = self.find_bases(file, tree, view);
        self.steps.add();
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
            // Other parts may say what this one does not.
            let is_partial = is_type(definition.kind) && definition.flags.contains(Flags::EXTENSION);
            if definition.bases.is_empty() && !is_partial {
                continue;
            }
            let mut bases = Vec::with_capacity(definition.bases.len());
            for base in &definition.bases {
                let values = view.static_values(file, &facts, base.type_, 8);
                let known = values
                    .iter()
                    .copied()
                    .find(|value| matches!(value, Value::Class(_) | Value::Function(_)));
                bases.push(BaseLink {
                    value: known.or(values.first().copied()).unwrap_or(Value::Foreign),
                    kind: base.kind,
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
    pub(super) fn linearise(&self, class: Place, lineages: &mut Lineages) {
        let Lineages { done, groups } = lineages;
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
                let group = self.group_of(class).map(|group| {
                    let bases = groups.entry(group).or_insert_with(|| self.bases_of_group(group));
                    &bases[..]
                });
                let is_mixed = |base: &&BaseLink| base.kind == BaseKind::Mixes;
                // What is mixed in last is asked first.
                let own: SmallVec<[BaseLink; 4]> = self.bases(class).collect();
                let mixed = group.unwrap_or(&own[..]).iter().rev().filter(is_mixed);
                let other = own
                    .iter()
                    .chain(group.unwrap_or_default())
                    .filter(|base| !is_mixed(base));
                let bases = mixed.chain(other).copied().collect();
                stack.push((class, bases, 0));
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

    /// The bases of all parts of a type, each once: the last place counts of what is mixed in, and the first of others.
    fn bases_of_group(&self, group: Word) -> Box<[BaseLink]> {
        let all: Vec<BaseLink> = self
            .parts_of_group(group)
            .iter()
            .flat_map(|&part| self.bases(part))
            .collect();
        let mut seen: HashSet<(Value, bool)> = HashSet::new();
        let mixed = all.iter().rev().filter(|base| base.kind == BaseKind::Mixes);
        let mut mixed: Vec<BaseLink> = mixed.filter(|base| seen.insert((base.value, true))).copied().collect();
        mixed.reverse();
        let others = all.iter().filter(|base| base.kind != BaseKind::Mixes);
        mixed.extend(others.filter(|base| seen.insert((base.value, false))));
        mixed.into()
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
