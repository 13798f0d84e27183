//! Namespaces and types that are written in several places: C++'s and C#'s namespaces, C#'s partial types, Ruby's modules and
//! classes that are opened again.
//!
//! All parts of one such *container* have their members in common, so a lookup in one part is a lookup in all of them. A
//! namespace may have thousands of parts, nearly each of its names is in one of them: to ask every part for every name costs files
//! × names × parts. So there is one table for all containers, from (container, name) to the parts that have members of that name,
//! which is filled once and exchanged file by file when edits are followed. A container goes by the word of its qualified name:
//!
//! ```text
//! a.cpp: namespace cv { void read(); }     (cv, read)  → [a.cpp's part]
//! b.cpp: namespace cv { void write(); }    (cv, write) → [b.cpp's part]
//! ```
//!
//! Where many parts of a container are themselves members of another one (`namespace cv { namespace detail { … } }` in every file), one
//! of them stands for all: the *canonical* part. What the parts hold as values is contributed under one key of the container
//! ([`View::field`]).

use smallvec::SmallVec;
use syntax::facts::{Flags, Kind};

use super::Keys;
use super::linker::{Linker, packed};
use super::links::{DefinitionLink, Links, has_parts, is_type};
use super::value::{MAX_SET, Place, Value};
use super::view::{Stage, View};
use super::words::{Key, Word, WordMap, WordSet};

/// Instead of the name of a member: the parts that have constructors written inside.
const MAKERS: Word = Word(0x10);
/// The parts that are named as bases.
const EXTENDED: Word = Word(0x11);
/// The types of the container's name that do not say that there is more of them.
const UNMARKED: Word = Word(0x12);
/// The parts that inherit something.
const INHERITING: Word = Word(0x13);

/// Most parts of one container that a name stands for; past that, the canonical part stands for all. A set of values could not tell
/// more of them apart either.
const MAX_PARTS: usize = MAX_SET;

/// Qualified names of one file, and what they name.
type Qualified<'a> = &'a [(Word, Place)];

/// The table of all containers.
#[derive(Default)]
pub(super) struct Merged {
    /// The containers that have, or once had, several parts.
    containers: WordSet,
    /// By container and name: the parts that have such members, in order. After edits some may have none any more, which costs a look
    /// at them and changes no result.
    parts: WordMap<(Word, Word), SmallVec<[Place; 1]>>,
    /// By part, those included that do not say that there is more of them: its container.
    words: WordMap<u64, Word>,
    /// Parts that joined a container in the edit that is being followed, and those that left one.
    joined: WordMap<u64, Place>,
    left: WordMap<u64, Word>,
}

/// What an edit did to containers.
#[derive(Default)]
pub(super) struct Touched {
    /// Containers whose parts are others now.
    pub(super) containers: Vec<Word>,
    /// Of partial types, the parts that came, went or changed.
    pub(super) parts: Vec<Place>,
    /// Files that others take everything of have other names, or take everything of others.
    pub(super) stars: bool,
}

/// Which parts stand for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    /// The one for all, where there are more than [`MAX_PARTS`].
    canonical: Option<Place>,
    /// The first part, and the first that inherits nothing: those have nothing but what all parts have in common.
    plain: [Option<Place>; 2],
}

impl Merged {
    fn get(&self, container: Word, name: Word) -> &[Place] {
        self.parts.get(&(container, name)).map_or(&[], SmallVec::as_slice)
    }

    /// Says whether a part has members of this name. Returns whether that is new.
    fn set(&mut self, container: Word, name: Word, part: Place, has: bool) -> bool {
        use std::collections::hash_map::Entry;
        match self.parts.entry((container, name)) {
            Entry::Vacant(place) if has => {
                place.insert(SmallVec::from_elem(part, 1));
            }
            Entry::Vacant(_) => return false,
            Entry::Occupied(mut parts) => match (parts.get().binary_search(&part), has) {
                (Err(at), true) => parts.get_mut().insert(at, part),
                (Ok(at), false) => {
                    parts.get_mut().remove(at);
                    if parts.get().is_empty() {
                        parts.remove();
                    }
                }
                _ => return false,
            },
        }
        true
    }

    /// As [`Merged::set`], for what is no name of a member; notes what changed.
    fn mark(&mut self, container: Word, what: Word, part: Place, has: bool, changed: &mut Keys) {
        if self.set(container, what, part, has) {
            changed.insert(Key::merged(container, what));
        }
    }
}

fn is_partial(link: &DefinitionLink) -> bool {
    is_type(link.kind) && link.flags.contains(Flags::EXTENSION)
}

/// The names of the members that are written inside a part, and [`MAKERS`] where one is a constructor.
fn names_inside(links: &Links, part: u32) -> impl Iterator<Item = Word> + '_ {
    let members = links.all_members_of(part);
    let names = members.chunk_by(|one, next| one.1 == next.1).map(|same| same[0].1);
    let is_maker = |id: u32| links.definition(id).is_some_and(|link| link.kind == Kind::Constructor);
    let makes = members.iter().any(|&(_, _, id)| is_maker(id));
    names.chain(makes.then_some(MAKERS))
}

impl Linker {
    fn types_called(&self, container: Word) -> &[Place] {
        self.qualified_types.get(&container).map_or(&[], SmallVec::as_slice)
    }

    fn is_marked(&self, part: Place) -> bool {
        self.namespaces.contains_key(&packed(part))
    }

    /// Finds the containers, and which of their parts have which members inside.
    pub(super) fn gather_merged(&mut self) {
        let mut merged = Merged::default();
        // In which order containers are met cannot be seen in what is gathered: each has a part of the table for itself.
        #[expect(clippy::iter_over_hash_type, reason = "each container has entries of its own")]
        for (&word, types) in &self.qualified_types {
            if types.len() < 2 || !types.iter().any(|&part| self.is_marked(part)) {
                continue;
            }
            merged.containers.insert(word);
            for &part in types {
                merged.words.insert(packed(part), word);
                if !self.is_marked(part) {
                    merged.set(word, UNMARKED, part, true);
                }
                for name in names_inside(&self.links[part.file as usize], part.id) {
                    merged.set(word, name, part, true);
                }
            }
        }
        self.merged = merged;
    }

    /// Adds a member that is written outside of its owner; says the container that it is a member of.
    pub(super) fn merge_outside(&mut self, owner: Place, name: Word) -> Option<Word> {
        let word = self.merged.words.get(&packed(owner)).copied();
        if let Some(word) = word {
            self.merged.set(word, name, owner, true);
        }
        word.or_else(|| self.namespaces.get(&packed(owner)).copied())
    }

    /// Finds whether a part is named as base; heirs are known by now.
    pub(super) fn merge_extended(&mut self, part: Place, changed: &mut Keys) {
        if let Some(&word) = self.merged.words.get(&packed(part)) {
            let has = self.heirs(part).next().is_some();
            self.merged.mark(word, EXTENDED, part, has, changed);
        }
    }

    /// Finds whether a part inherits something; ancestors are known by now.
    pub(super) fn merge_inheriting(&mut self, part: Place, changed: &mut Keys) {
        if let Some(&word) = self.merged.words.get(&packed(part)) {
            let ancestry = self.ancestries.get(&packed(part));
            let inherits = ancestry.is_some_and(|ancestry| ancestry.classes.len() > 1);
            if self.merged.set(word, INHERITING, part, inherits) {
                changed.extend([Key::merged(word, INHERITING), Key::shape(word)]);
            }
        }
    }

    /// The other parts of which a partial type takes the bases for its own, by their container.
    pub(super) fn group_of(&self, class: Place) -> Option<Word> {
        let word = *self.merged.words.get(&packed(class))?;
        let counts = self.types_called(word).len() > 1 && self.definition(class).is_some_and(is_partial);
        counts.then_some(word)
    }

    /// The container that a type is a part of, whether it says so or not.
    pub(super) fn container_of(&self, part: Place) -> Option<Word> {
        self.merged.words.get(&packed(part)).copied()
    }

    /// All parts of containers, in order.
    pub(super) fn merged_parts(&self) -> Vec<Place> {
        let words = self.merged.containers.iter();
        let mut parts: Vec<Place> = words.flat_map(|&word| self.types_called(word)).copied().collect();
        parts.sort_unstable();
        parts
    }

    /// The parts of a container that take each other's bases, be there one or several.
    pub(super) fn partial_parts(&self, container: Word) -> impl Iterator<Item = Place> + '_ {
        let parts = self.types_called(container).iter().copied();
        parts.filter(|&part| self.definition(part).is_some_and(is_partial))
    }

    /// The types of a group that take each other's bases, and those that only give theirs.
    pub(super) fn parts_of_group(&self, group: Word) -> &[Place] {
        self.types_called(group)
    }

    fn shape(&self, container: Word) -> Shape {
        let types = self.types_called(container);
        let makers = self.merged.get(container, MAKERS);
        let canonical = makers.first().or(types.first()).filter(|_| types.len() > MAX_PARTS);
        let inheriting = self.merged.get(container, INHERITING);
        let mut marked = types.iter().filter(|part| self.is_marked(**part));
        let first = marked.clone().next();
        let plain = marked.find(|part| inheriting.binary_search(part).is_err());
        Shape {
            canonical: canonical.copied(),
            plain: [first.copied(), plain.copied()],
        }
    }

    /// Follows an edit of one file, whose names are exchanged already: `before` and `now` are its qualified names in the `old` and
    /// the `new` links.
    pub(super) fn exchange_merged(
        &mut self,
        (before, now): (Qualified<'_>, Qualified<'_>),
        (old, new): (&Links, &Links),
        changed: &mut Keys,
        touched: &mut Touched,
    ) {
        let mut words: Vec<Word> = before.iter().chain(now).map(|&(word, _)| word).collect();
        words.sort_unstable();
        words.dedup();
        let of_word = |list: &[(Word, Place)], word: Word| -> SmallVec<[Place; 4]> {
            let places = list.iter().filter(|(known, _)| *known == word);
            places.map(|&(_, place)| place).collect()
        };
        for word in words {
            let (before, now) = (of_word(before, word), of_word(now, word));
            let parts = FileParts {
                word,
                before: &before,
                now: &now,
                old,
                new,
            };
            self.exchange_container(&parts, changed, touched);
        }
    }

    fn exchange_container(&mut self, parts: &FileParts<'_>, changed: &mut Keys, touched: &mut Touched) {
        let word = parts.word;
        let mut types = self.types_called(word).iter();
        let was_marked = parts.before.iter().any(|&part| parts.is_marked(parts.old, part));
        let is_known = self.merged.containers.contains(&word);
        if !is_known && !was_marked && !types.any(|&part| self.is_marked(part)) {
            return;
        }
        parts.difference(word, changed);
        let marks = |links: &Links, places: &[Place]| -> SmallVec<[(Place, bool); 4]> {
            places
                .iter()
                .map(|&part| (part, parts.is_marked(links, part)))
                .collect()
        };
        if marks(parts.old, parts.before) != marks(parts.new, parts.now) {
            touched.containers.push(word);
            let before = parts.before.iter().filter(|part| parts.is_partial(parts.old, **part));
            let now = parts.now.iter().filter(|part| parts.is_partial(parts.new, **part));
            touched.parts.extend(before.chain(now));
        }
        if is_known {
            self.exchange_parts(parts, changed);
        } else {
            self.found_container(parts, changed);
        }
    }

    /// Puts what one file has of a container into the table, in place of what it had.
    fn exchange_parts(&mut self, parts: &FileParts<'_>, changed: &mut Keys) {
        let word = parts.word;
        for &part in parts.before {
            for name in names_inside(parts.old, part.id) {
                let is_outside = || self.outside_members.contains_key(&(packed(part), name));
                let stays = parts.now.contains(&part) && is_outside();
                if name != MAKERS && !stays {
                    self.merged.set(word, name, part, false);
                }
            }
            if !parts.now.contains(&part) {
                self.merged.words.remove(&packed(part));
                self.merged.left.insert(packed(part), word);
                for what in [MAKERS, EXTENDED, UNMARKED, INHERITING] {
                    self.merged.mark(word, what, part, false, changed);
                }
            }
        }
        for &part in parts.now {
            self.put_part(word, part, parts.new, changed);
        }
    }

    fn put_part(&mut self, word: Word, part: Place, links: &Links, changed: &mut Keys) {
        if self.merged.words.insert(packed(part), word) != Some(word) {
            self.merged.joined.insert(packed(part), part);
        }
        let is_marked = self.is_marked(part);
        self.merged.mark(word, UNMARKED, part, !is_marked, changed);
        let mut makes = false;
        for name in names_inside(links, part.id) {
            if name == MAKERS {
                makes = true;
            } else {
                self.merged.set(word, name, part, true);
            }
        }
        self.merged.mark(word, MAKERS, part, makes, changed);
    }

    /// Makes a container of types that were one before.
    fn found_container(&mut self, parts: &FileParts<'_>, changed: &mut Keys) {
        let word = parts.word;
        let types: SmallVec<[Place; 4]> = self.types_called(word).into();
        if types.len() < 2 {
            return;
        }
        self.merged.containers.insert(word);
        for &part in &types {
            if parts.now.contains(&part) {
                self.put_part(word, part, parts.new, changed);
            } else {
                let links = self.links[part.file as usize].clone();
                self.put_part(word, part, &links, changed);
            }
        }
    }

    /// Ends the exchange of names: what is known already of the parts that joined a container is put into the table.
    pub(super) fn settle_merged(&mut self, touched: &mut Touched, before: &Shapes, changed: &mut Keys) {
        let (joined, left) = (
            std::mem::take(&mut self.merged.joined),
            std::mem::take(&mut self.merged.left),
        );
        if !joined.is_empty() || !left.is_empty() {
            for &((owner, name), _) in self.parts.iter().flat_map(|part| &part.outside) {
                if let Some(&word) = left.get(&packed(owner)) {
                    self.merged.set(word, name, owner, false);
                }
                if joined.contains_key(&packed(owner))
                    && let Some(&word) = self.merged.words.get(&packed(owner))
                {
                    self.merged.set(word, name, owner, true);
                }
            }
            let mut parts: Vec<Place> = joined.into_values().collect();
            parts.sort_unstable();
            for part in parts {
                self.merge_extended(part, changed);
                self.merge_inheriting(part, changed);
            }
        }
        touched.containers.sort_unstable();
        touched.containers.dedup();
        let containers = before.0.keys().chain(&touched.containers);
        let others = containers.filter(|word| before.0.get(*word) != Some(&self.shape(**word)));
        changed.extend(others.map(|&word| Key::shape(word)));
    }

    /// The shapes of all containers that an edit of these files may touch, as they are before it.
    pub(super) fn shapes_before(&self, files: &[u32]) -> Shapes {
        let mut shapes = Shapes::default();
        for &file in files {
            for (word, _) in self.qualified_part(file, &self.links[file as usize]) {
                if self.merged.containers.contains(&word) {
                    shapes.0.entry(word).or_insert_with(|| self.shape(word));
                }
            }
        }
        shapes
    }
}

/// The shapes of some containers.
#[derive(Default, Debug)]
pub(super) struct Shapes(WordMap<Word, Shape>);

/// What one file has of a container before and after an edit.
struct FileParts<'a> {
    word: Word,
    before: &'a [Place],
    now: &'a [Place],
    old: &'a Links,
    new: &'a Links,
}

impl FileParts<'_> {
    fn is_marked(&self, links: &Links, part: Place) -> bool {
        links.definition(part.id).is_some_and(has_parts)
    }

    fn is_partial(&self, links: &Links, part: Place) -> bool {
        links.definition(part.id).is_some_and(is_partial)
    }

    /// Adds the names under which the file has other members now.
    fn difference(&self, word: Word, changed: &mut Keys) {
        let inside = |links: &Links, places: &[Place]| -> Vec<(Word, Place, u32, Option<u8>)> {
            let members = places
                .iter()
                .flat_map(|&place| links.all_members_of(place.id).iter().map(move |member| (place, member)));
            let kind = |id: u32| links.definition(id).map(|link| link.kind as u8);
            let mut all: Vec<_> = members
                .map(|(place, &(_, name, id))| (name, place, id, kind(id)))
                .collect();
            all.sort_unstable();
            all
        };
        let (had, has) = (inside(self.old, self.before), inside(self.new, self.now));
        for (list, other) in [(&had, &has), (&has, &had)] {
            let differing = list.iter().filter(|entry| other.binary_search(entry).is_err());
            changed.extend(differing.map(|&(name, ..)| Key::merged(word, name)));
        }
    }
}

impl<'a> View<'a> {
    /// The container of a type that says that there may be more of it.
    pub(super) fn container(&self, class: Place) -> Option<Word> {
        if !self.policy(class.file).policy.packages_visible {
            return None;
        }
        self.note(Key::definition(class));
        self.tables.namespaces.get(&packed(class)).copied()
    }

    /// The parts of a container that may have members of this name.
    fn parts_with(&self, container: Word, name: Word) -> &'a [Place] {
        self.note(Key::merged(container, name));
        self.tables.merged.get(container, name)
    }

    /// The parts in which to look for members of this name; `class` is one of them.
    pub(super) fn holders(&self, class: Place, container: Word, name: Word) -> SmallVec<[Place; 2]> {
        let parts = self.parts_with(container, name);
        match self.tables.merged.containers.contains(&container) {
            true => parts.into(),
            false => SmallVec::from_elem(class, 1),
        }
    }

    /// The part that stands for all of a container with too many.
    pub(super) fn canonical(&self, container: Word) -> Option<Place> {
        if !self.tables.merged.containers.contains(&container) {
            return None;
        }
        self.note(Key::shape(container));
        match self.tables.types_called(container).len() > MAX_PARTS {
            true => self.tables.shape(container).canonical,
            false => None,
        }
    }

    /// The types to ask for what those of this qualified name have: one part for all that inherit nothing.
    pub(super) fn types_to_ask(&self, name: Word) -> Option<SmallVec<[Place; 4]>> {
        if !self.tables.merged.containers.contains(&name) {
            return self.qualified_types(name).map(SmallVec::from);
        }
        self.note(Key::shape(name));
        let [first, plain] = self.tables.shape(name).plain;
        let mut types: SmallVec<[Place; 4]> = self.parts_with(name, UNMARKED).into();
        if self.stage >= Stage::Linked {
            types.extend_from_slice(self.parts_with(name, INHERITING));
            types.extend(plain);
        } else {
            types.extend(first);
        }
        types.sort_unstable();
        types.dedup();
        (!types.is_empty()).then_some(types)
    }

    /// Where the values are found that `class` holds under `name`: all parts of a container hold theirs together.
    pub(super) fn field(&self, class: Place, name: Word) -> Key {
        match self.container(class) {
            Some(container) => Key::merged_field(container, name),
            None => Key::field(class, name),
        }
    }

    /// The types that belong to the container of `class` without saying so, which hold values of their own.
    pub(super) fn unmarked_parts(&self, class: Place) -> &'a [Place] {
        let container = self.container(class);
        container.map_or(&[], |container| self.parts_with(container, UNMARKED))
    }

    /// The other parts of the container of `class` that types name as base.
    pub(super) fn extended_parts(&self, class: Place) -> impl Iterator<Item = Place> + 'a {
        let container = self.container(class);
        let parts = container.map_or(&[][..], |container| self.parts_with(container, EXTENDED));
        parts.iter().copied().filter(move |&part| part != class)
    }

    /// The parts of the container of `class` that have constructors inside; `class` itself where it has no container.
    pub(super) fn making_parts(&self, class: Place) -> SmallVec<[Place; 2]> {
        match self.container(class) {
            Some(container) => self.holders(class, container, MAKERS),
            None => SmallVec::from_elem(class, 1),
        }
    }

    /// The values without those that are parts of one container with an earlier one: they have the same members.
    pub(super) fn distinct(&self, mut values: SmallVec<[Value; 2]>) -> SmallVec<[Value; 2]> {
        if values.len() > 1 {
            let mut seen: SmallVec<[Word; 4]> = SmallVec::new();
            values.retain(|value| {
                let Value::Class(class) = *value else { return true };
                let container = self.container(class);
                container.is_none_or(|container| {
                    let is_new = !seen.contains(&container);
                    seen.extend(Some(container).filter(|_| is_new));
                    is_new
                })
            });
        }
        values
    }

    /// Whether one of these is a part of the container of `class`.
    pub(super) fn has_part_among(&self, class: Place, others: &[Place]) -> bool {
        let Some(container) = self.container(class) else {
            return false;
        };
        self.note(Key::merged(container, UNMARKED));
        others.iter().any(|&other| self.is_part(other, container))
    }

    fn is_part(&self, part: Place, container: Word) -> bool {
        self.note(Key::definition(part));
        self.tables.merged.words.get(&packed(part)) == Some(&container)
    }

    /// Of several classes those that stand for the others of their containers: the first that has a constructor, else the first.
    pub(super) fn standing(&self, classes: &[Place]) -> SmallVec<[Place; 4]> {
        let mut known: SmallVec<[(Word, Option<Place>); 4]> = SmallVec::new();
        let stands = classes.iter().filter(|&&class| {
            let Some(container) = self.container(class) else {
                return true;
            };
            let chosen = match known.iter().find(|(word, _)| *word == container) {
                Some(&(_, chosen)) => chosen,
                None => {
                    self.note(Key::merged(container, UNMARKED));
                    let makers = self.parts_with(container, MAKERS);
                    let parts = classes.iter().filter(|part| self.is_part(**part, container));
                    let chosen = parts.min_by_key(|part| (makers.binary_search(part).is_err(), **part));
                    known.push((container, chosen.copied()));
                    chosen.copied()
                }
            };
            chosen.is_none_or(|chosen| chosen == class)
        });
        stands.copied().collect()
    }
}
