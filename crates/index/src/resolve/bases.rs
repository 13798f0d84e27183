//! Whose members are whose: owners of definitions written elsewhere, bases, and the order in which ancestors are searched.

use super::languages::BaseOrder;
use super::linker::{Ancestry, BaseLink, Linker, packed};
use super::links::{is_type, member_name};
use super::value::{Place, Value};
use super::words::{Word, WordMap};
use crate::model::FileId;
use crate::tree::Tree;
use rayon::prelude::*;
use std::sync::Arc;
use syntax::facts::{BaseKind, FileFacts, Kind};

/// Most ancestors that a class is given.
const MAX_ANCESTORS: usize = 64;

impl Linker {
    pub(super) fn gather_owners(&mut self, tree: &dyn Tree) {
        let owners: Vec<Vec<(u32, Place, bool)>> = (0..self.links.len() as u32)
            .into_par_iter()
            .map(|file| self.owners_of(file, tree))
            .collect();
        for (file, owners) in owners.into_iter().enumerate() {
            if owners.is_empty() {
                continue;
            }
            for (id, owner, outside) in owners {
                let owner_name = self.definition(owner).map_or(Word(0), |link| link.name);
                let links = Arc::make_mut(&mut self.links[file]);
                links.definitions[id as usize].owner = Some(owner);
                if outside {
                    let member = Place { file: file as u32, id };
                    let definition = links.definitions[id as usize];
                    let name = member_name(definition.kind, definition.name, owner_name);
                    self.outside_members
                        .entry((packed(owner), name))
                        .or_default()
                        .push(member);
                }
            }
        }
    }

    /// (definition, owner, whether it is written outside of the owner), for every definition that has an owner.
    pub(super) fn owners_of(&self, file: u32, tree: &dyn Tree) -> Vec<(u32, Place, bool)> {
        let links = &self.links[file as usize];
        let inside = |id: u32, parent: u32| (id, Place { file, id: parent }, false);
        let mut owners = Vec::new();
        let mut facts: Option<Arc<FileFacts>> = None;
        for (id, definition) in links.definitions.iter().enumerate() {
            let id = id as u32;
            let parent = links.definitions.get(definition.parent as usize);
            if definition.kind == Kind::Lambda || definition.kind == Kind::Extension {
                continue;
            }
            if parent.is_some_and(|parent| is_type(parent.kind))
                && links
                    .members_of(
                        definition.parent,
                        member_name(
                            definition.kind,
                            definition.name,
                            parent.map_or(Word(0), |parent| parent.name),
                        ),
                    )
                    .iter()
                    .any(|&(_, _, member)| member == id)
            {
                owners.push(inside(id, definition.parent));
                continue;
            }
            let facts = facts.get_or_insert_with(|| tree.facts(FileId(file)));
            let own = facts
                .definitions
                .get(id as usize)
                .and_then(|definition| definition.owner);
            let around = match parent {
                Some(parent) if parent.kind == Kind::Extension => facts
                    .definitions
                    .get(definition.parent as usize)
                    .and_then(|definition| definition.owner),
                _ => None,
            };
            if let Some(owner) = own.or(around) {
                for value in self.static_values(file, facts, owner, 8) {
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
        let bases: Vec<Vec<(Place, Vec<BaseLink>)>> = (0..self.links.len() as u32)
            .into_par_iter()
            .map(|file| self.bases_of(file, tree))
            .collect();
        let mut classes = Vec::new();
        for (class, bases) in bases.into_iter().flatten() {
            for base in &bases {
                if let Value::Class(base) | Value::Function(base) = base.value {
                    self.heirs.entry(packed(base)).or_default().push(class);
                }
            }
            classes.push(class);
            self.bases.entry(packed(class)).or_default().extend(bases);
        }
        let mut ancestries = WordMap::default();
        for &class in &classes {
            self.linearise(class, &mut ancestries, 0);
        }
        self.ancestries = ancestries;
    }

    pub(super) fn gather_satisfied(&mut self) {
        for (class, interface) in self.find_satisfied() {
            self.heirs.entry(packed(interface)).or_default().push(class);
            self.satisfied.entry(packed(class)).or_default().push(interface);
        }
    }

    pub(super) fn bases_of(&self, file: u32, tree: &dyn Tree) -> Vec<(Place, Vec<BaseLink>)> {
        let links = &self.links[file as usize];
        let mut all = Vec::new();
        if !links
            .definitions
            .iter()
            .any(|definition| is_type(definition.kind) || definition.kind == Kind::Extension)
        {
            return all;
        }
        let facts = tree.facts(FileId(file));
        for (id, definition) in facts.definitions.iter().enumerate() {
            if definition.bases.is_empty() {
                continue;
            }
            let mut bases = Vec::new();
            for base in &definition.bases {
                let values = self.static_values(file, &facts, base.type_, 8);
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
                let owner = definition.owner.map(|owner| self.static_values(file, &facts, owner, 8));
                owner.into_iter().flatten().find_map(|value| match value {
                    Value::Class(place) => Some(place),
                    _ => None,
                })
            } else {
                Some(Place { file, id: id as u32 })
            };
            if let Some(class) = class {
                all.push((class, bases));
            }
        }
        all
    }

    pub(super) fn linearise(&self, class: Place, done: &mut WordMap<u64, Ancestry>, depth: u8) {
        if done.contains_key(&packed(class)) || depth > 40 {
            return;
        }
        // A class that inherits from itself through others is entered first, so the recursion ends.
        done.insert(
            packed(class),
            Ancestry {
                classes: Box::new([class]),
                open: true,
            },
        );
        let mut open = false;
        let mut parents = Vec::new();
        let bases = self.bases(class);
        for base in bases
            .iter()
            .filter(|base| base.kind == BaseKind::Mixes)
            .chain(bases.iter().filter(|base| base.kind != BaseKind::Mixes))
        {
            match base.value {
                Value::Class(parent) | Value::Function(parent) => {
                    self.linearise(parent, done, depth + 1);
                    match done.get(&packed(parent)) {
                        Some(ancestry) => {
                            open |= ancestry.open;
                            parents.push(ancestry.classes.to_vec());
                        }
                        None => parents.push(vec![parent]),
                    }
                }
                Value::External(word) => open |= !self.is_closed_external(word),
                _ => open = true,
            }
        }
        let order = self.policy(class.file).policy.order;
        let mut classes = vec![class];
        match order {
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
        done.insert(
            packed(class),
            Ancestry {
                classes: classes.into(),
                open,
            },
        );
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
