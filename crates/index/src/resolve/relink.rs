//! Follows edits in the linked files: exchanges what the edited files add to the tables, searches again for owners and bases
//! where the old search looked at something that changed, and says which keys are answered differently now.

use std::sync::Arc;

use rayon::prelude::*;
use smallvec::SmallVec;
use syntax::facts::Kind;

use super::bases::Lineages;
use super::languages::policy_of;
use super::linker::{BaseLink, Linker, packed, register, resolve_imports};
use super::links::{DefinitionLink, ExportLink, ImportLink, Links, NameLink, has_parts, is_of_tests, shapes};
use super::merged::Touched;
use super::modules::Modules;
use super::numbers::{DEFINITION_BITS, EXPRESSION_BITS, Numbers, match_ends};
use super::value::Place;
use super::view::Notes;
use super::words::{Key, Word, WordMap, WordSet};
use super::{Keys, Sought, by_nobody};
use crate::model::FileId;
use crate::packages::Packages;
use crate::tree::{Change, Tree};

/// A name of a member, below the number of its owner.
type Owned = (u32, Word);

/// What a file added to a table before, and what it adds now.
type Parts<K, V> = (Vec<(K, V)>, Vec<(K, V)>);

impl Linker {
    /// Follows a change of files, those that came and went included; adds to what is modified the files whose imports lead
    /// elsewhere now. Returns the keys that are answered differently now; `None` when everything must be linked anew.
    pub(super) fn update(&mut self, tree: &dyn Tree, packages: &Packages, change: &mut Change) -> Option<Keys> {
        let files = self.parts.iter().filter(|part| part.path.is_some()).count();
        if !self.follows || change.modified.len() > 64 + files / 8 {
            return None;
        }
        let mut changed = Keys::default();
        let edited: Vec<u32> = change.modified.iter().map(|file| file.0).collect();
        let shapes = self.shapes_before(&edited);
        let mut touched = Touched::default();
        let mut newer: Vec<(u32, Links)> = Vec::with_capacity(change.modified.len());
        for &file in &change.modified {
            newer.push((file.0, self.newer_links(tree, change, file, &mut changed)?));
        }
        if !change.added.is_empty() || !change.removed.is_empty() {
            self.follow_files(tree, packages, change, &mut newer, &mut changed, &mut touched);
        }
        let resolved: Vec<(u32, Links, Box<[Key]>)> = newer
            .into_par_iter()
            .map(|(file, mut links)| {
                let notes = Notes::default();
                let modules = Modules {
                    maps: &self.maps,
                    externals: &self.externals,
                    tree,
                    packages,
                    notes: Some(&notes),
                };
                resolve_imports(&modules, &mut links, &tree.facts(FileId(file)), file);
                (file, links, notes.into_keys([]))
            })
            .collect();
        for (file, links, notes) in resolved {
            self.parts[file as usize].import_notes = notes;
            self.exchange(file, links, &mut changed, &mut touched);
        }
        self.settle_merged(&mut touched, &shapes, &mut changed);
        self.update_stars(touched.stars, &mut changed);
        let modified: Vec<u32> = change.modified.iter().map(|file| file.0).collect();
        let searched = self.update_owners(tree, &modified, &mut changed);
        let classes = self.update_bases(tree, &modified, &touched, &mut changed);
        self.update_ancestries(&classes, &mut changed);
        let structural = |class: &Place| self.policy(class.file).policy.structural;
        let lineages = classes.iter().any(structural);
        self.update_satisfied(&searched, lineages, &mut changed);
        Some(changed)
    }

    /// Takes files that went out of the tables, registers those that came, and adds the files whose imports could lead elsewhere
    /// now to those that are exchanged.
    fn follow_files(
        &mut self,
        tree: &dyn Tree,
        packages: &Packages,
        change: &mut Change,
        newer: &mut Vec<(u32, Links)>,
        changed: &mut Keys,
        touched: &mut Touched,
    ) {
        // What a file added to the tables is told by where it stands, so it leaves before the others are registered.
        let (gone, mut others): (Vec<_>, Vec<_>) = std::mem::take(newer)
            .into_iter()
            .partition(|(file, _)| change.removed.contains(&FileId(*file)));
        for (file, links) in gone {
            self.parts[file as usize].import_notes = Box::default();
            self.exchange(file, links, changed, touched);
        }
        let mut moved: Vec<u32> = change.added.iter().chain(&change.removed).map(|file| file.0).collect();
        moved.sort_unstable();
        self.maps.withdraw(&moved);
        for (file, links) in others.iter().filter(|(file, _)| moved.binary_search(file).is_ok()) {
            register(&mut self.maps, tree, packages, *file, links);
        }
        let mut led = self.maps.settle();
        touched.stars |= !led.is_empty();
        for &file in &moved {
            let path = Some(tree.path(FileId(file))).filter(|path| !path.is_empty());
            self.maps.set_project(file, path.unwrap_or_default());
            let now = path.map(Word::of);
            let before = std::mem::replace(&mut self.parts[file as usize].path, now);
            led.extend(before.into_iter().chain(now).map(Key::path));
        }
        let known: Vec<u32> = change.modified.iter().map(|file| file.0).collect();
        let led_elsewhere = by_nobody(&led);
        let sought = Sought::new(&led_elsewhere);
        let concerned: Vec<u32> = (0..self.links.len() as u32)
            .into_par_iter()
            .filter(|file| sought.is_in(&self.parts[*file as usize].import_notes, *file))
            .collect();
        for file in concerned.into_iter().filter(|file| known.binary_search(file).is_err()) {
            others.push((file, Links::clone(&self.links[file as usize])));
            change.modified.push(FileId(file));
        }
        change.modified.sort_unstable();
        changed.extend(led);
        *newer = others;
    }

    /// The links of a newer version of a file, with imports and owners still unknown.
    fn newer_links(&self, tree: &dyn Tree, change: &Change, file: FileId, changed: &mut Keys) -> Option<Links> {
        let old = self.links.get(file.0 as usize)?;
        let facts = tree.facts(file);
        let language = policy_of(tree.language(file));
        let moved = change.added.contains(&file) || change.removed.contains(&file);
        if language != old.language && !moved {
            return None;
        }
        let kept = change.kept.iter().find(|(known, _)| *known == file);
        let kept = kept.map_or(&[][..], |(_, kept)| kept);
        let followed = match kept.len() == facts.definitions.len() {
            true => old.numbers.follow(kept, DEFINITION_BITS),
            false => None,
        };
        let all_new = vec![None; facts.definitions.len()];
        let (numbers, kept) = match followed {
            Some(numbers) => (numbers, kept),
            None => {
                let fresh = Numbers::fresh(facts.definitions.len(), DEFINITION_BITS);
                for position in 0..old.definitions.len() as u32 {
                    changed.insert(definition_key(file.0, old.numbers.of(position)));
                }
                (fresh, &all_new[..])
            }
        };
        // The number of a definition that went may be the one of a new definition, which looks just like it in the links.
        for (position, _) in (0..).zip(kept).filter(|(_, older)| older.is_none()) {
            changed.insert(definition_key(file.0, numbers.of(position)));
        }
        let shapes = shapes(&facts);
        let followed = match moved {
            true => None,
            false => old
                .expressions
                .follow(&match_ends(&old.shapes, &shapes), EXPRESSION_BITS),
        };
        let expressions = followed.unwrap_or_else(|| Numbers::fresh(facts.expressions.len(), EXPRESSION_BITS));
        let mut links = Links::with_numbers(&facts, language, numbers, expressions);
        links.has_tests |= is_of_tests(tree.path(file));
        // Where a file stands among modules may depend on the package that it declares, and so may every import of it.
        if links.package != old.package && !moved {
            return None;
        }
        links.shapes = shapes;
        Some(links)
    }

    /// Puts the links of a newer version into place, with the names that the file adds to the tables.
    fn exchange(&mut self, file: u32, links: Links, changed: &mut Keys, touched: &mut Touched) {
        let old = self.links[file as usize].clone();
        touched.stars |= self.differs_in_stars(file, &old, &links, changed);
        difference(file, &old, &links, changed);
        for (less, more) in [(&old.fields, &links.fields), (&links.fields, &old.fields)] {
            let is_new = std::ptr::eq(less, &old.fields);
            for &name in more.iter().filter(|name| less.binary_search(name).is_err()) {
                let count = self.fields.entry(name).or_default();
                if is_new {
                    *count += 1;
                } else {
                    *count -= 1;
                }
                if *count == u32::from(is_new) {
                    changed.insert(Key::field_name(name));
                }
                if *count == 0 {
                    self.fields.remove(&name);
                }
            }
        }
        let parts = (self.package_part(file, &old), self.package_part(file, &links));
        exchange_places(
            &mut self.package_names,
            file,
            parts,
            |key| key,
            |(package, name)| {
                changed.insert(Key::package(package, name));
            },
        );
        let parts = (self.qualified_part(file, &old), self.qualified_part(file, &links));
        self.exchange_namespaces(&parts, &old, &links, changed);
        exchange_places(
            &mut self.qualified_types,
            file,
            parts.clone(),
            |word| word,
            |word| {
                changed.insert(Key::qualified(word));
            },
        );
        self.exchange_merged((&parts.0, &parts.1), (&old, &links), changed, touched);
        self.links[file as usize] = Arc::new(links);
    }

    fn exchange_namespaces(
        &mut self,
        (before, now): &Parts<Word, Place>,
        old: &Links,
        new: &Links,
        changed: &mut Keys,
    ) {
        let is_namespace = |links: &Links, place: Place| links.definition(place.id).is_some_and(has_parts);
        for &(word, place) in before.iter().filter(|(_, place)| is_namespace(old, *place)) {
            self.namespaces.remove(&packed(place));
            if !now.contains(&(word, place)) {
                changed.insert(Key::definition(place));
            }
        }
        for &(word, place) in now.iter().filter(|(_, place)| is_namespace(new, *place)) {
            self.namespaces.insert(packed(place), word);
            if !before.contains(&(word, place)) {
                changed.insert(Key::definition(place));
            }
        }
    }

    /// Searches for owners again where it is needed; returns the files where it was.
    fn update_owners(&mut self, tree: &dyn Tree, modified: &[u32], changed: &mut Keys) -> Vec<u32> {
        let files = self.to_search(modified, changed, |linker, file| &linker.parts[file].owner_notes);
        let found: Vec<_> = files.par_iter().map(|&file| self.owners_of(file, tree)).collect();
        for (&file, (owners, notes)) in files.iter().zip(found) {
            let part = &mut self.parts[file as usize];
            part.owner_notes = notes;
            let old = std::mem::take(&mut part.owners);
            let before = std::mem::take(&mut part.outside);
            self.set_owners(file, &owners);
            let (one, other) = (owner_map(&old), owner_map(&owners));
            for (map, twin) in [(&one, &other), (&other, &one)] {
                for (number, owner) in map {
                    if twin.binary_search(&(*number, *owner)).is_err() {
                        changed.insert(definition_key(file, *number));
                    }
                }
            }
            let outside = self.outside_part(file, &owners);
            let parts = (before, outside.clone());
            let mut exchanged: Vec<(Place, Word)> = Vec::new();
            exchange_places(
                &mut self.outside_members,
                file,
                parts,
                |(owner, name)| (packed(owner), name),
                |owned| exchanged.push(owned),
            );
            for (owner, name) in exchanged {
                changed.insert(Key::member(owner, name));
                changed.insert(Key::members(owner));
                if self.star_outside(owner, name) {
                    changed.insert(Key::star(name));
                    self.stars.forget_tables();
                }
                if let Some(container) = self.merge_outside(owner, name) {
                    changed.insert(Key::merged(container, name));
                }
            }
            let part = &mut self.parts[file as usize];
            part.owners = owners;
            part.outside = outside;
        }
        files
    }

    /// Searches for bases again where it is needed; returns the classes whose bases or heirs changed.
    fn update_bases(&mut self, tree: &dyn Tree, modified: &[u32], touched: &Touched, changed: &mut Keys) -> Vec<Place> {
        let files = self.to_search(modified, changed, |linker, file| &linker.parts[file].base_notes);
        let found: Vec<_> = files.par_iter().map(|&file| self.bases_of(file, tree)).collect();
        let mut classes = touched.parts.clone();
        let mut extended = Vec::new();
        for (&file, (bases, notes)) in files.iter().zip(found) {
            let part = &mut self.parts[file as usize];
            part.base_notes = notes;
            if part.bases == bases {
                continue;
            }
            let old = std::mem::replace(&mut part.bases, bases.clone());
            let of_class = |part: &[(Place, Vec<BaseLink>)]| -> Vec<(Place, BaseLink)> {
                let all = part.iter();
                all.flat_map(|(class, bases)| bases.iter().map(|&base| (*class, base)))
                    .collect()
            };
            let of_base = |part: &[(Place, BaseLink)]| -> Vec<(Place, Place)> {
                let known = part.iter().filter_map(|&(class, base)| Some((base.class()?, class)));
                known.collect()
            };
            let (before, now) = (of_class(&old), of_class(&bases));
            exchange_all(&mut self.heirs, file, (of_base(&before), of_base(&now)), |base| {
                changed.insert(Key::heirs(base));
                classes.push(base);
                extended.push(base);
            });
            exchange_all(&mut self.bases, file, (before, now), |class| {
                changed.insert(Key::ancestry(class));
                classes.push(class);
            });
        }
        for base in extended {
            self.merge_extended(base, changed);
        }
        classes.extend(touched.containers.iter().flat_map(|&word| self.partial_parts(word)));
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Orders the ancestors of these classes and of everything below them anew.
    fn update_ancestries(&mut self, classes: &[Place], changed: &mut Keys) {
        if classes.is_empty() {
            return;
        }
        let mut below: Vec<Place> = classes.to_vec();
        let mut seen: WordMap<u64, ()> = below.iter().map(|&class| (packed(class), ())).collect();
        let mut groups = WordSet::default();
        let mut next = 0;
        while next < below.len() {
            // Of two parts of a type, one alone may say that it is a part: the other does not know it.
            let group = self.container_of(below[next]).filter(|group| groups.insert(*group));
            let parts = group.into_iter().flat_map(|group| self.partial_parts(group));
            for heir in self.heirs(below[next]).chain(parts).collect::<SmallVec<[Place; 4]>>() {
                if seen.insert(packed(heir), ()).is_none() {
                    below.push(heir);
                }
            }
            next += 1;
        }
        let mut lineages = Lineages::of(std::mem::take(&mut self.ancestries));
        let before: Vec<_> = below
            .iter()
            .map(|&class| lineages.done.remove(&packed(class)))
            .collect();
        // Classes that inherit from themselves have their order from who comes first, so everybody comes as in a build from
        // nothing; those without bases have one as long as somebody inherits from them.
        for (class, _) in self.parts.iter().flat_map(|part| &part.bases) {
            if seen.contains_key(&packed(*class)) && self.has_bases(*class) {
                self.linearise(*class, &mut lineages);
            }
        }
        for &class in &below {
            if self.heirs(class).next().is_some() {
                self.linearise(class, &mut lineages);
            }
        }
        let ancestries = lineages.done;
        for (class, before) in below.iter().zip(before) {
            if ancestries.get(&packed(*class)) != before.as_ref() {
                changed.insert(Key::ancestry(*class));
            }
        }
        self.ancestries = ancestries;
        for class in below {
            self.merge_inheriting(class, changed);
        }
    }

    /// The modified files and those that looked at something that changed.
    fn to_search(&self, modified: &[u32], changed: &Keys, notes: impl Fn(&Linker, usize) -> &[Key] + Sync) -> Vec<u32> {
        let changed = by_nobody(changed);
        let sought = Sought::new(&changed);
        (0..self.links.len() as u32)
            .into_par_iter()
            .filter(|file| modified.contains(file) || sought.is_in(notes(self, *file as usize), *file))
            .collect()
    }
}

fn definition_key(file: u32, number: u32) -> Key {
    Key::definition(Place { file, id: number })
}

/// The owner of each definition as it ends up in the links, sorted.
fn owner_map(owners: &[(u32, Place, bool)]) -> Vec<(u32, Place)> {
    let mut map: Vec<(u32, Place)> = owners.iter().map(|&(number, owner, _)| (number, owner)).collect();
    map.sort_unstable();
    map
}

/// Entries of one key, for each key that has other entries in the one list than in the other.
fn each_difference<K: Ord + Copy, V: PartialEq + Copy>(
    (mut before, mut now): Parts<K, V>,
    mut differs: impl FnMut(K, &[(K, V)]),
) {
    before.sort_by_key(|&(key, _)| key);
    now.sort_by_key(|&(key, _)| key);
    let run = |list: &[(K, V)], start: usize, key: K| start + list[start..].partition_point(|(known, _)| *known == key);
    let (mut left, mut right) = (0, 0);
    while left < before.len() || right < now.len() {
        let key = match (before.get(left), now.get(right)) {
            (Some(&(one, _)), Some(&(other, _))) => one.min(other),
            (Some(&(key, _)), None) | (None, Some(&(key, _))) => key,
            (None, None) => return,
        };
        let (left_end, right_end) = (run(&before, left, key), run(&now, right, key));
        if before[left..left_end] != now[right..right_end] {
            differs(key, &now[right..right_end]);
        }
        (left, right) = (left_end, right_end);
    }
}

/// Exchanges what one file adds to a table of places, and tells the keys that differ.
fn exchange_places<K: Ord + Copy, M: std::hash::Hash + Eq>(
    table: &mut WordMap<M, SmallVec<[Place; 1]>>,
    file: u32,
    parts: Parts<K, Place>,
    at: impl Fn(K) -> M,
    mut changed: impl FnMut(K),
) {
    each_difference(parts, |key, now| {
        let entry = table.entry(at(key)).or_default();
        entry.retain(|place| place.file != file);
        let start = entry.partition_point(|place| place.file < file);
        entry.insert_many(start, now.iter().map(|&(_, place)| place));
        if entry.is_empty() {
            table.remove(&at(key));
        }
        changed(key);
    });
}

/// Exchanges what one file adds to a table by class, and tells the classes that differ.
fn exchange_all<V: PartialEq + Copy>(
    table: &mut WordMap<u64, Vec<(u32, V)>>,
    file: u32,
    parts: Parts<Place, V>,
    mut changed: impl FnMut(Place),
) {
    each_difference(parts, |class, now| {
        let entry = table.entry(packed(class)).or_default();
        entry.retain(|(known, _)| *known != file);
        let start = entry.partition_point(|(known, _)| *known < file);
        entry.splice(start..start, now.iter().map(|&(_, value)| (file, value)));
        if entry.is_empty() {
            table.remove(&packed(class));
        }
        changed(class);
    });
}

/// An entry of a file's names, compared by what it leads to.
#[derive(Clone, Copy, PartialEq)]
enum Entry<'a> {
    Definition(u32),
    Import(Option<&'a ImportLink>),
    Variable,
    ExportedValue,
    Alias(&'a [Word]),
}

/// Everything that a file's names lead to, by word.
fn entries(links: &Links) -> Vec<(Word, Entry<'_>)> {
    let import = |import: u32| Entry::Import(links.imports.get(import as usize));
    let names = links.names.iter().map(|&(word, link)| {
        let entry = match link {
            NameLink::Definition(number) => Entry::Definition(number),
            NameLink::Import(number) => import(number),
            NameLink::Variable => Entry::Variable,
        };
        (word, entry)
    });
    let exports = links.exports.iter().map(|&(word, link)| {
        let entry = match link {
            ExportLink::Definition(number) => Entry::Definition(number),
            ExportLink::Import(number) => import(number),
            ExportLink::Value => Entry::ExportedValue,
        };
        (word, entry)
    });
    let aliases = links.aliases.iter().map(|(word, path)| (*word, Entry::Alias(path)));
    names.chain(exports).chain(aliases).collect()
}

/// The names under which the links of two versions of a file lead elsewhere.
pub(super) fn each_name(old: &Links, new: &Links, mut differs: impl FnMut(Word)) {
    each_difference((entries(old), entries(new)), |word, _| differs(word));
    // Whether a name is exported or only bound decides who sees it.
    let exported = |links: &Links| -> Vec<(Word, ())> { links.exports.iter().map(|&(word, _)| (word, ())).collect() };
    each_difference((exported(old), exported(new)), |word, _| differs(word));
}

/// The keys about which the links of two versions of a file give different answers. Owners are not looked at.
fn difference(file: u32, old: &Links, new: &Links, changed: &mut Keys) {
    each_name(old, new, |word| {
        changed.insert(Key::named(file, word));
    });
    let wildcards = |links: &Links| -> Vec<ImportLink> {
        let all = links.wildcards.iter();
        all.filter_map(|&import| links.imports.get(import as usize).cloned())
            .collect()
    };
    if wildcards(old) != wildcards(new) {
        changed.insert(Key::wildcards(file));
    }
    if old.has_tests != new.has_tests {
        changed.insert(Key::tests(file));
    }
    let place = |id: u32| Place { file, id };
    let numbered = |links: &Links| -> Vec<u32> {
        (0..links.definitions.len() as u32)
            .map(|at| links.numbers.of(at))
            .collect()
    };
    for (mine, theirs) in [(old, new), (new, old)] {
        for number in numbered(mine) {
            let same = match (mine.definition(number), theirs.definition(number)) {
                (Some(one), Some(other)) => {
                    let bare = |link: &DefinitionLink| DefinitionLink {
                        owner: None,
                        parameters: (0, 0),
                        ..*link
                    };
                    bare(one) == bare(other) && mine.parameters_of(number) == theirs.parameters_of(number)
                }
                _ => false,
            };
            if !same {
                changed.insert(definition_key(file, number));
            }
        }
    }
    let members = |links: &Links| -> Vec<(Owned, (u32, Option<Kind>))> {
        let all = links.members.iter();
        all.map(|&(owner, name, member)| {
            let kind = links.definition(member).map(|link| link.kind);
            ((owner, name), (member, kind))
        })
        .collect()
    };
    each_difference((members(old), members(new)), |(owner, name), _| {
        changed.insert(Key::member(place(owner), name));
        changed.insert(Key::members(place(owner)));
    });
    each_difference((held(old), held(new)), |(owner, name), _| {
        changed.insert(Key::member(place(owner), name));
    });
}

/// What modules that are written in place import, by the module and the name.
fn held(links: &Links) -> Vec<(Owned, Option<&ImportLink>)> {
    let all = links.held.iter();
    all.map(|&(owner, name, import)| ((owner, name), links.imports.get(import as usize)))
        .collect()
}
