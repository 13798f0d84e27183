//! Which types implement an interface without naming it, in languages where having the methods is enough.
//!
//! The rarest method of an interface decides who is looked at, so common ones (`String`, `Close`) cost nothing. After an edit
//! only interfaces are tried again that ask for a method which came or went.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;
use syntax::facts::{Flags, Kind};

use super::Keys;
use super::linker::{Linker, packed};
use super::value::Place;
use super::view::{Stage, View};
use super::words::{Key, Word, WordMap};

/// Most types that one interface is tried on.
const MAX_CANDIDATES: usize = 4096;

/// What one file has to say about who implements what.
#[derive(Default, Clone, PartialEq)]
pub(super) struct Shapes {
    /// Its interfaces, in order.
    interfaces: Vec<Place>,
    /// Its methods: name, owner, shape, and whether there is code.
    methods: Vec<(Word, Place, Word, bool)>,
}

impl Linker {
    /// Finds every (type, interface) again.
    pub(super) fn gather_satisfied(&mut self) {
        let shapes: Vec<Shapes> = (0..self.links.len() as u32).map(|file| self.shapes_of(file)).collect();
        let pairs = self.find_satisfied(&shapes, |_, _| true);
        self.set_satisfied(pairs);
        if self.follows {
            self.shapes = shapes;
        }
    }

    /// Finds again which types have the methods of interfaces, where files that were searched anew could have changed it.
    /// `lineages`: somebody's bases changed, so methods may have moved anywhere.
    pub(super) fn update_satisfied(&mut self, searched: &[u32], lineages: bool, changed: &mut Keys) {
        // A file that went has no language any more, and still had something to say.
        let newer: Vec<(u32, Shapes)> = searched.iter().map(|&file| (file, self.shapes_of(file))).collect();
        let mut anew = lineages;
        let mut names: WordMap<Word, ()> = WordMap::default();
        let mut differs = false;
        for (file, shapes) in newer {
            let older = std::mem::replace(&mut self.shapes[file as usize], shapes);
            let newer = &self.shapes[file as usize];
            differs |= older != *newer;
            let left = |place: &&Place| !newer.interfaces.contains(place) && self.definition(**place).is_some();
            let came = |place: &&Place| !older.interfaces.contains(place) && self.bases(**place).next().is_some();
            // What turns from type to interface, or back, is not told by methods alone.
            anew |= older.interfaces.iter().any(|place| left(&place));
            anew |= newer.interfaces.iter().any(|place| came(&place));
            let (before, now): (HashSet<_>, HashSet<_>) =
                (older.methods.iter().collect(), newer.methods.iter().collect());
            names.extend(before.symmetric_difference(&now).map(|method| (method.0, ())));
        }
        if !anew && !differs {
            return;
        }
        let in_searched = |place: &Place| searched.contains(&place.file);
        // An interface is concerned if a method that it asks for came or went, or if it or one that it embeds was searched.
        let concerned = |interface: Place, required: &[(Word, Word)]| {
            let lineage = self.ancestries.get(&packed(interface));
            anew || in_searched(&interface)
                || required.iter().any(|(name, _)| names.contains_key(name))
                || lineage.is_some_and(|lineage| lineage.classes.iter().any(in_searched))
        };
        let shapes = std::mem::take(&mut self.shapes);
        let mut left: WordMap<u64, ()> = WordMap::default();
        for &interface in shapes.iter().flat_map(|shapes| &shapes.interfaces) {
            if !concerned(interface, &self.required(interface)) {
                left.insert(packed(interface), ());
            }
        }
        let mut pairs = self.find_satisfied(&shapes, concerned);
        self.shapes = shapes;
        let kept = self
            .pairs
            .iter()
            .filter(|(_, interface)| left.contains_key(&packed(*interface)));
        pairs.extend(kept);
        pairs.sort_unstable();
        let old = self.set_satisfied(pairs);
        for (pairs, twins) in [(&old, &self.pairs), (&self.pairs, &old)] {
            for pair in pairs {
                if twins.binary_search(pair).is_err() {
                    changed.insert(Key::satisfied(pair.0));
                    changed.insert(Key::heirs(pair.1));
                }
            }
        }
    }

    /// Puts the pairs into place and returns those before.
    fn set_satisfied(&mut self, pairs: Vec<(Place, Place)>) -> Vec<(Place, Place)> {
        let old = std::mem::replace(&mut self.pairs, pairs);
        self.satisfied.clear();
        self.implementers.clear();
        for &(class, interface) in &self.pairs {
            self.implementers.entry(packed(interface)).or_default().push(class);
            self.satisfied.entry(packed(class)).or_default().push(interface);
        }
        old
    }

    fn shapes_of(&self, file: u32) -> Shapes {
        let mut shapes = Shapes::default();
        if !self.policy(file).policy.structural {
            return shapes;
        }
        let links = &self.links[file as usize];
        for (position, definition) in links.definitions.iter().enumerate() {
            if definition.kind == Kind::Interface {
                let id = links.numbers.of(position as u32);
                shapes.interfaces.push(Place { file, id });
            } else if let (Kind::Method, Some(owner)) = (definition.kind, definition.owner) {
                let has_code = !definition.flags.contains(Flags::ABSTRACT);
                shapes
                    .methods
                    .push((definition.name, owner, definition.shape, has_code));
            }
        }
        shapes
    }

    /// (type, interface) for every type that has all methods of an interface that `wanted` accepts, in order.
    fn find_satisfied(
        &self,
        shapes: &[Shapes],
        wanted: impl Fn(Place, &[(Word, Word)]) -> bool,
    ) -> Vec<(Place, Place)> {
        let mut owners: WordMap<Word, Vec<Place>> = WordMap::default();
        for &(name, owner, _, has_code) in shapes.iter().flat_map(|shapes| &shapes.methods) {
            if has_code {
                owners.entry(name).or_default().push(owner);
            }
        }
        let view = View::new(self, Stage::Linked, None);
        let mut found = Vec::new();
        // Interfaces that ask for the same methods have the same types, which are looked for once.
        let mut known: HashMap<Vec<(Word, Word)>, Vec<Place>> = HashMap::new();
        for &interface in shapes.iter().flat_map(|shapes| &shapes.interfaces) {
            let required = self.required(interface);
            let rarest = required
                .iter()
                .min_by_key(|(name, _)| owners.get(name).map_or(0, Vec::len));
            let Some(candidates) = rarest.and_then(|(name, _)| owners.get(name)) else {
                continue;
            };
            if !wanted(interface, &required) {
                continue;
            }
            let has_all = |class: &Place| {
                let mut methods = required.iter();
                methods.all(|&(name, shape)| has_method(view, *class, name, shape))
            };
            let find = || self.with_heirs(candidates).into_iter().filter(has_all).collect();
            let classes = known.entry(required.clone()).or_insert_with(find);
            found.extend(classes.iter().map(|&class| (class, interface)));
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
        let mut seen: WordMap<u64, ()> = all.iter().map(|&class| (packed(class), ())).collect();
        let mut next = 0;
        while next < all.len() && all.len() < MAX_CANDIDATES {
            let below: SmallVec<[Place; 4]> = self.heirs(all[next]).collect();
            for heir in below {
                let is_interface = self.definition(heir).is_some_and(|link| link.kind == Kind::Interface);
                if !is_interface && seen.insert(packed(heir), ()).is_none() {
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
