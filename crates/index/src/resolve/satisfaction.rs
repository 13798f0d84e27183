//! Which types implement an interface without naming it, in languages where having the methods is enough.
//!
//! The rarest method of an interface decides who is looked at, so common ones (`String`, `Close`) cost nothing.

use smallvec::SmallVec;
use syntax::facts::{Flags, Kind};

use super::linker::{Linker, packed};
use super::value::Place;
use super::view::{Stage, View};
use super::words::{Word, WordMap};

/// Most types that one interface is tried on.
const MAX_CANDIDATES: usize = 4096;

impl Linker {
    /// (type, interface) for every type that has all methods of an interface, in order.
    pub(super) fn find_satisfied(&self) -> Vec<(Place, Place)> {
        let mut owners: WordMap<Word, Vec<Place>> = WordMap::default();
        let mut interfaces = Vec::new();
        for (file, links) in self.links.iter().enumerate() {
            if !self.policy(file as u32).policy.structural {
                continue;
            }
            for (id, definition) in links.definitions.iter().enumerate() {
                let place = Place {
                    file: file as u32,
                    id: links.numbers.of(id as u32),
                };
                if definition.kind == Kind::Interface {
                    interfaces.push(place);
                } else if definition.kind == Kind::Method
                    && let Some(owner) = definition.owner
                    && !definition.flags.contains(Flags::ABSTRACT)
                {
                    owners.entry(definition.name).or_default().push(owner);
                }
            }
        }
        let view = View::new(self, Stage::Linked, None);
        let mut found = Vec::new();
        for interface in interfaces {
            let required = self.required(interface);
            let rarest = required
                .iter()
                .min_by_key(|(name, _)| owners.get(name).map_or(0, Vec::len));
            let Some(candidates) = rarest.and_then(|(name, _)| owners.get(name)) else {
                continue;
            };
            for class in self.with_heirs(candidates) {
                if required
                    .iter()
                    .all(|&(name, shape)| has_method(view, class, name, shape))
                {
                    found.push((class, interface));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Names and shapes of the methods that `interface` asks for, those of embedded interfaces included.
    fn required(&self, interface: Place) -> Vec<(Word, Word)> {
        let alone = [interface];
        let all = self
            .ancestries
            .get(&packed(interface))
            .map_or(&alone[..], |ancestry| &ancestry.classes);
        let mut required = Vec::new();
        for part in all {
            let links = &self.links[part.file as usize];
            for &(_, name, id) in links.all_members_of(part.id) {
                if let Some(definition) = links.definition(id).filter(|link| link.kind == Kind::Method) {
                    required.push((name, definition.shape));
                }
            }
        }
        required
    }

    /// `classes` and every type that embeds one of them, which has their methods too.
    fn with_heirs(&self, classes: &[Place]) -> Vec<Place> {
        let mut all: Vec<Place> = classes.to_vec();
        all.sort_unstable();
        all.dedup();
        let mut next = 0;
        while next < all.len() && all.len() < MAX_CANDIDATES {
            let below: SmallVec<[Place; 4]> = self.heirs(all[next]).collect();
            for heir in below {
                let is_interface = self.definition(heir).is_some_and(|link| link.kind == Kind::Interface);
                if !is_interface && !all.contains(&heir) {
                    all.push(heir);
                }
            }
            next += 1;
        }
        all
    }
}

fn has_method(view: View<'_>, class: Place, name: Word, shape: Word) -> bool {
    view.inherited_members(class, name).iter().any(|&member| {
        view.definition(member)
            .is_some_and(|link| link.kind == Kind::Method && link.shape == shape)
    })
}
