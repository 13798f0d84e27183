//! Imports of everything: Rust's globs, `export * from`, `from x import *`, files that Ruby requires.
//!
//! Such imports make a graph of files, often a cyclic one: a prelude takes all modules, and each of these takes the prelude. What a name
//! means is the first hit of a depth-first search through it. To search it anew for every name costs files × names × files reached, and
//! a name that is nowhere costs most. So the graph is laid out once ([`Stars`]) and condensed into its strongly connected components.
//! A component from which much is reached is *wide*, and has a table from each name to the one node that may have it:
//!
//! ```text
//! lib.rs: pub use a::*; pub use b::*;      lib → a, b      (lib, open) → a.rs      (lib, Vec) → nothing
//! ```
//!
//! A name that is in no table is a miss after one probe, one that is in a single place needs no search either. Only where several nodes
//! have the name does the order decide, and the search goes through the component ([`View::find_in_stars`]).
//!
//! Tables are hints: a node that is found in one is asked as any other, so what they hold too much changes no result. They are made when
//! somebody first asks.
//!
//! For edits, a search notes two keys: where it started, which changes with the graph that is reached from there, and the name, which
//! changes when any file of the graph has something else under it.

use std::sync::OnceLock;

use rayon::prelude::*;
use smallvec::SmallVec;

use super::linker::{Linker, MAX_CHAIN, Names, packed};
use super::links::{ImportLink, Links, ModuleTarget};
use super::relink::each_name;
use super::value::Place;
use super::view::{Notes, Stage, View};
use super::words::{Key, Word, WordMap, WordSet};
use super::{Changed, Keys, Sought, steps};

/// A component is wide when it weighs more than this: a search that enters no wide one ends after a few steps.
const WIDE: u32 = 32;

/// As many names of a node weigh as much as another node.
const NAMES_PER_STEP: usize = 16;

/// Most wide components that one name is looked up in, one behind the other.
const MAX_TABLES: usize = 64;

/// How often paths of imports are followed through the imports of everything that were found by then.
const MAX_PASSES: usize = 3;

const NONE: u32 = u32::MAX;

/// In a table: more than one node may have the name.
const SEVERAL: u32 = u32::MAX - 1;

/// The graph of imports of everything.
#[derive(Default)]
pub(super) struct Stars {
    /// By file.
    node_of: Vec<u32>,
    nodes: Vec<Node>,
    /// Where the edges of each node end in `targets`.
    ends: Vec<u32>,
    targets: Vec<u32>,
    /// By node: its component. A component comes after all that are reached from it.
    component_of: Vec<u32>,
    components: Vec<Component>,
    /// What was looked at to follow paths of imports, sorted; empty where no edits are followed.
    notes: Box<[Key]>,
    /// The types and modules, written in place, of which somebody takes everything.
    definitions: WordSet,
    /// What those have that is written outside of them, by their [`packed`] place.
    outside: WordMap<u64, Vec<Word>>,
    /// By container of a file of the graph: the modules below.
    children: WordMap<Word, Vec<Word>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    File(u32),
    /// A type, or a module that is written in place, in one part.
    Definition(Place),
    /// Anything else that has names.
    Other(ModuleTarget),
}

impl Node {
    fn file(self) -> Option<u32> {
        match self {
            Node::File(file) => Some(file),
            _ => None,
        }
    }
}

struct Component {
    members: Box<[u32]>,
    /// Its table, if it is wide.
    table: Option<OnceLock<Table>>,
}

/// What can be found from one component, as far as no other wide one is passed.
#[derive(Default)]
struct Table {
    names: WordMap<Word, u32>,
    /// Where several nodes may have a name: those, in the order of a search that starts at the component's first node.
    several: WordMap<Word, SmallVec<[u32; 4]>>,
    /// Nodes whose names are not in the table.
    open: Vec<u32>,
    /// The wide components behind.
    beyond: Vec<u32>,
}

/// Where a name may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Possible {
    Nowhere,
    At(u32),
    Several,
}

impl Possible {
    fn and(self, other: Possible) -> Possible {
        match (self, other) {
            (Possible::Nowhere, one) | (one, Possible::Nowhere) => one,
            (one, other) if one == other => one,
            _ => Possible::Several,
        }
    }
}

/// A set of nodes.
#[derive(Default)]
struct Seen {
    few: SmallVec<[u32; 16]>,
    bits: Vec<u64>,
}

impl Seen {
    fn insert(&mut self, node: u32) -> bool {
        if self.bits.is_empty() {
            if self.few.contains(&node) {
                return false;
            }
            self.few.push(node);
            if self.few.len() > 16 {
                for node in std::mem::take(&mut self.few) {
                    self.set(node);
                }
            }
            return true;
        }
        self.set(node)
    }

    fn set(&mut self, node: u32) -> bool {
        let (at, bit) = (node as usize / 64, 1 << (node % 64));
        if self.bits.len() <= at {
            self.bits.resize((at + 1).next_power_of_two(), 0);
        }
        let is_new = self.bits[at] & bit == 0;
        self.bits[at] |= bit;
        is_new
    }

    fn contains(&self, node: u32) -> bool {
        let bits = self.bits.get(node as usize / 64).copied().unwrap_or_default();
        self.few.contains(&node) || bits & 1 << (node % 64) != 0
    }
}

impl Stars {
    fn edges(&self, node: u32) -> &[u32] {
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.targets[start as usize..self.ends[node as usize] as usize]
    }

    fn node(&self, file: u32) -> Option<u32> {
        self.node_of.get(file as usize).copied().filter(|&node| node != NONE)
    }

    fn component(&self, node: u32) -> &Component {
        &self.components[self.component_of[node as usize] as usize]
    }

    /// Whether somebody takes everything of the file, or it takes everything of another one.
    pub(super) fn has(&self, file: u32) -> bool {
        self.node(file).is_some()
    }

    /// Whether somebody takes everything of the definition.
    pub(super) fn has_definition(&self, place: Place) -> bool {
        self.definitions.contains(&Word(packed(place)))
    }

    /// Forgets the tables, because somebody has other names now.
    pub(super) fn forget_tables(&mut self) {
        for component in &mut self.components {
            if let Some(table) = &mut component.table {
                table.take();
            }
        }
    }

    /// What a file takes everything of, in the order in which it is searched.
    fn targets_of(&self, file: u32) -> Vec<Node> {
        let node = self.node(file);
        let edges = node.map_or(&[][..], |node| self.edges(node));
        edges.iter().map(|&target| self.nodes[target as usize]).collect()
    }

    /// The files from which one of these is reached.
    fn above(&self, files: &[u32]) -> Vec<u32> {
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for node in 0..self.nodes.len() as u32 {
            for &target in self.edges(node) {
                sources[target as usize].push(node);
            }
        }
        let mut seen = vec![false; self.nodes.len()];
        let mut stack: Vec<u32> = files.iter().filter_map(|&file| self.node(file)).collect();
        let mut above = files.to_vec();
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            if let Node::File(file) = self.nodes[node as usize] {
                above.push(file);
            }
            stack.extend(&sources[node as usize]);
        }
        above
    }

    /// Tarjan's strongly connected components, without recursion; each comes after all that are reached from it.
    fn find_components(&mut self) -> Vec<Vec<u32>> {
        let count = self.nodes.len();
        let (mut index, mut low) = (vec![NONE; count], vec![0; count]);
        let mut component_of = vec![NONE; count];
        let mut components: Vec<Vec<u32>> = Vec::new();
        let (mut open, mut stack): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
        let mut next = 0;
        for root in 0..count as u32 {
            if index[root as usize] != NONE {
                continue;
            }
            stack.push((root, 0));
            while let Some((node, edge)) = stack.last_mut() {
                let at = *node as usize;
                if *edge == 0 && index[at] == NONE {
                    (index[at], low[at]) = (next, next);
                    next += 1;
                    open.push(*node);
                }
                match self.edges(*node).get(*edge) {
                    Some(&target) => {
                        *edge += 1;
                        let to = target as usize;
                        if index[to] == NONE {
                            stack.push((target, 0));
                        } else if component_of[to] == NONE {
                            low[at] = low[at].min(index[to]);
                        }
                    }
                    None => {
                        if low[at] == index[at] {
                            let mut members = Vec::new();
                            while let Some(member) = open.pop() {
                                component_of[member as usize] = components.len() as u32;
                                members.push(member);
                                if member as usize == at {
                                    break;
                                }
                            }
                            components.push(members);
                        }
                        stack.pop();
                        if let Some(&mut (above, _)) = stack.last_mut() {
                            low[above as usize] = low[above as usize].min(low[at]);
                        }
                    }
                }
            }
        }
        self.component_of = component_of;
        components
    }
}

impl Linker {
    /// Lays out the graph. Imports whose path goes on inside of a file are followed through what is known of the graph by then, until
    /// nothing is new.
    pub(super) fn gather_stars(&mut self) {
        let inside: Vec<(u32, u32)> = (0..)
            .zip(&self.links)
            .flat_map(|(file, links)| {
                let wildcards = links.wildcards.iter().copied();
                let inside = wildcards.filter(move |&import| !links.imports[import as usize].rest.is_empty());
                inside.map(move |import| (file, import))
            })
            .collect();
        let mut paths = Vec::new();
        let mut all_notes: Vec<Key> = Vec::new();
        for _ in 0..=MAX_PASSES {
            self.stars = self.lay_out(&paths);
            if inside.is_empty() {
                break;
            }
            let followed: Vec<_> = inside
                .par_chunks(64)
                .map(|chunk| {
                    let notes = Notes::default();
                    let view = View::new(self, Stage::Names, self.follows.then_some(&notes));
                    let follow = |&(file, import): &(u32, u32)| {
                        let target = view.target_of(&self.links[file as usize].imports[import as usize], MAX_CHAIN);
                        ((file, import), target)
                    };
                    let targets: Vec<_> = chunk.iter().map(follow).collect();
                    self.steps.add();
                    (targets, notes.into_keys([]))
                })
                .collect();
            let mut now = Vec::with_capacity(inside.len());
            for (targets, notes) in followed {
                now.extend(targets);
                all_notes.extend(notes);
            }
            if now == paths {
                break;
            }
            paths = now;
        }
        all_notes.sort_unstable();
        all_notes.dedup();
        self.stars.notes = all_notes.into();
    }

    fn lay_out(&self, paths: &[((u32, u32), ModuleTarget)]) -> Stars {
        let mut stars = Stars {
            node_of: vec![NONE; self.links.len()],
            ..Stars::default()
        };
        let mut others: WordMap<Word, u32> = WordMap::default();
        let mut edges: Vec<(u32, SmallVec<[u32; 4]>)> = Vec::new();
        for (file, links) in (0..).zip(&self.links) {
            if links.wildcards.is_empty() {
                continue;
            }
            let node = stars.add_file(file);
            let mut targets: SmallVec<[u32; 4]> = SmallVec::new();
            // Of two imports that both have the name, the later one wins where they run in order.
            for &import in links.wildcards.iter().rev() {
                let link = &links.imports[import as usize];
                let target = match link.rest.is_empty() {
                    true => link.target,
                    false => match paths.binary_search_by_key(&(file, import), |&(known, _)| known) {
                        Ok(found) => paths[found].1,
                        Err(_) => ModuleTarget::Nothing,
                    },
                };
                let target = match target {
                    ModuleTarget::File(other) => stars.add_file(other),
                    ModuleTarget::Package(word) => stars.add_other(word, Node::Other(target), &mut others),
                    ModuleTarget::Definition(place) => {
                        stars.definitions.insert(Word(packed(place)));
                        let is_alone = !self.namespaces.contains_key(&packed(place));
                        let node = match is_alone {
                            true => Node::Definition(place),
                            false => Node::Other(target),
                        };
                        stars.add_other(Word(packed(place)).then(Word(1)), node, &mut others)
                    }
                    ModuleTarget::External(_) | ModuleTarget::Within { .. } | ModuleTarget::Nothing => continue,
                };
                targets.push(target);
            }
            edges.push((node, targets));
        }
        edges.sort_unstable_by_key(|&(node, _)| node);
        let mut edges = edges.into_iter().peekable();
        for node in 0..stars.nodes.len() as u32 {
            if let Some((_, targets)) = edges.next_if(|&(known, _)| known == node) {
                stars.targets.extend(targets);
            }
            stars.ends.push(stars.targets.len() as u32);
        }
        for file in stars.nodes.iter().filter_map(|node| node.file()) {
            if let Some(container) = self.maps.container_of(file) {
                stars.children.entry(container).or_default();
            }
        }
        for (container, name) in self.maps.children() {
            if let Some(names) = stars.children.get_mut(&container) {
                names.push(name);
            }
        }
        self.weigh(&mut stars);
        stars
    }

    /// Adds a member that is written outside of its owner, if somebody takes everything of that; says so.
    pub(super) fn star_outside(&mut self, owner: Place, name: Word) -> bool {
        let is_taken = self.stars.has_definition(owner);
        if is_taken {
            self.stars.outside.entry(packed(owner)).or_default().push(name);
        }
        is_taken
    }

    /// Adds the names under which searches may find something else in the newer links of a file; says whether there are any, or the
    /// file takes everything of something else.
    pub(super) fn differs_in_stars(&self, file: u32, old: &Links, new: &Links, changed: &mut Keys) -> bool {
        let mut differs = false;
        if self.stars.has(file) {
            each_name(old, new, |name| {
                changed.insert(Key::star(name));
                differs = true;
            });
        }
        if !self.stars.definitions.is_empty() {
            let members = |links: &Links| -> Vec<(Word, u32, u32)> {
                let taken = links.members.iter().filter(|&&(owner, _, _)| {
                    let place = Place { file, id: owner };
                    self.stars.has_definition(place)
                });
                taken.map(|&(owner, name, id)| (name, owner, id)).collect()
            };
            let (before, now) = (members(old), members(new));
            let gone = before.iter().filter(|member| !now.contains(member));
            let come = now.iter().filter(|member| !before.contains(member));
            for &(name, ..) in gone.chain(come) {
                changed.insert(Key::star(name));
                differs = true;
            }
        }
        let taken = |links: &Links| -> Vec<(u32, ImportLink)> {
            let wildcards = links.wildcards.iter();
            wildcards
                .map(|&import| (import, links.imports[import as usize].clone()))
                .collect()
        };
        differs || taken(old) != taken(new)
    }

    /// Finds the components, and which of them are wide.
    fn weigh(&self, stars: &mut Stars) {
        let components = stars.find_components();
        let mut weights: Vec<u32> = Vec::with_capacity(components.len());
        for members in components {
            let own = stars.components.len() as u32;
            let mut weight = 0u32;
            for &member in &members {
                weight = weight.saturating_add(1 + self.names_at(stars.nodes[member as usize]));
                for &target in stars.edges(member) {
                    let component = stars.component_of[target as usize];
                    if component != own {
                        let behind = weights[component as usize];
                        weight = weight.saturating_add(if behind > WIDE { 1 } else { behind });
                    }
                }
            }
            weights.push(weight);
            stars.components.push(Component {
                members: members.into(),
                table: (weight > WIDE).then(OnceLock::new),
            });
        }
    }

    /// What the names of a node weigh.
    fn names_at(&self, node: Node) -> u32 {
        let names = match node {
            Node::File(file) => self.links[file as usize].names.len() + self.links[file as usize].exports.len(),
            Node::Definition(place) => self.links[place.file as usize].all_members_of(place.id).len(),
            Node::Other(_) => 0,
        };
        (names / NAMES_PER_STEP) as u32
    }

    /// Follows edits: lays the graph out anew if it is another one, and forgets the tables if there are other names. Adds the keys that
    /// are answered differently. `names`: files of the graph, or who takes everything, have other names or imports.
    pub(super) fn update_stars(&mut self, names: bool, changed: &mut Keys) {
        let by_nobody: Changed = super::by_nobody(changed);
        let sought = Sought::new(&by_nobody);
        if !names && !sought.is_in(&self.stars.notes, 0) {
            return;
        }
        let before = std::mem::take(&mut self.stars);
        self.gather_stars();
        let outside: Vec<(Place, Word)> = self
            .parts
            .iter()
            .flat_map(|part| &part.outside)
            .map(|&(owned, _)| owned)
            .collect();
        for (owner, name) in outside {
            self.star_outside(owner, name);
        }
        let files = (0..self.links.len() as u32).filter(|&file| before.has(file) || self.stars.has(file));
        let differing: Vec<u32> = files
            .filter(|&file| before.targets_of(file) != self.stars.targets_of(file))
            .collect();
        if !differing.is_empty() {
            changed.extend(before.above(&differing).into_iter().map(Key::stars));
            changed.extend(self.stars.above(&differing).into_iter().map(Key::stars));
        }
    }

    fn table(&self, component: u32) -> Option<&Table> {
        let known = &self.stars.components[component as usize];
        Some(known.table.as_ref()?.get_or_init(|| self.fill_table(component)))
    }

    fn fill_table(&self, component: u32) -> Table {
        let stars = &self.stars;
        let mut table = Table::default();
        let mut seen = Seen::default();
        let mut stack: Vec<u32> = stars.components[component as usize].members.to_vec();
        while let Some(node) = stack.pop() {
            steps::count(1);
            if !seen.insert(node) {
                continue;
            }
            let of = stars.component_of[node as usize];
            if of != component && stars.components[of as usize].table.is_some() {
                if !table.beyond.contains(&of) {
                    table.beyond.push(of);
                }
                continue;
            }
            match stars.nodes[node as usize] {
                Node::File(file) => {
                    let links = &self.links[file as usize];
                    let exports = links.exports.iter().map(|&(name, _)| name);
                    exports
                        .chain(links.names.iter().map(|&(name, _)| name))
                        .for_each(|name| table.add(name, node));
                    let container = self.maps.container_of(file);
                    let children = container.and_then(|container| stars.children.get(&container));
                    children.into_iter().flatten().for_each(|&name| table.add(name, node));
                }
                Node::Definition(place) => {
                    let links = &self.links[place.file as usize];
                    links
                        .all_members_of(place.id)
                        .iter()
                        .for_each(|&(_, name, _)| table.add(name, node));
                    let outside = stars.outside.get(&packed(place)).into_iter().flatten();
                    outside.for_each(|&name| table.add(name, node));
                }
                Node::Other(_) => table.open.push(node),
            }
            stack.extend(stars.edges(node).iter().rev());
        }
        table
    }
}

impl Table {
    fn add(&mut self, name: Word, node: u32) {
        let at = self.names.entry(name).or_insert(node);
        if *at == node {
            return;
        }
        let first = std::mem::replace(at, SEVERAL);
        let several = self.several.entry(name).or_default();
        several.extend(Some(first).filter(|&first| first != SEVERAL));
        if several.last() != Some(&node) {
            several.push(node);
        }
    }
}

impl Stars {
    fn add_file(&mut self, file: u32) -> u32 {
        let node = &mut self.node_of[file as usize];
        if *node == NONE {
            *node = self.nodes.len() as u32;
            self.nodes.push(Node::File(file));
        }
        *node
    }

    fn add_other(&mut self, word: Word, node: Node, others: &mut WordMap<Word, u32>) -> u32 {
        *others.entry(word).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        })
    }
}

impl View<'_> {
    /// What `name` means in `file` by its imports of everything: the first hit of a search through them, later ones first.
    pub(super) fn find_in_stars(&self, file: u32, name: Word, depth: u8, found: &mut Names) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        self.note(Key::stars(file));
        let stars = &self.tables.stars;
        let Some(start) = stars.node(file).filter(|&node| !stars.edges(node).is_empty()) else {
            return;
        };
        self.note(Key::star(name));
        let mut seen = Seen::default();
        seen.insert(start);
        if !self.enters(start, name, depth, &mut seen, found) {
            return;
        }
        let mut stack: SmallVec<[(u32, usize); 16]> = SmallVec::from_elem((start, 0), 1);
        while let Some((node, edge)) = stack.last_mut() {
            let Some(&target) = stars.edges(*node).get(*edge) else {
                stack.pop();
                continue;
            };
            *edge += 1;
            let is_other = stars.component_of[*node as usize] != stars.component_of[target as usize];
            if seen.contains(target) || (is_other && !self.enters(target, name, depth, &mut seen, found)) {
                if found.is_empty() {
                    continue;
                }
                return;
            }
            seen.insert(target);
            let goes_on = self.ask(target, name, depth, found);
            if !found.is_empty() {
                return;
            }
            if goes_on {
                stack.push((target, 0));
            }
        }
    }

    /// Whether the search has to go through a component that it comes to at `node`. Where a table says that the name is at one place at
    /// most, that place is asked instead.
    fn enters(&self, node: u32, name: Word, depth: u8, seen: &mut Seen, found: &mut Names) -> bool {
        let stars = &self.tables.stars;
        if stars.component(node).table.is_none() {
            return true;
        }
        match self.possible(stars.component_of[node as usize], name, depth) {
            Possible::Nowhere => false,
            Possible::Several => self.goes_through(stars.component_of[node as usize], name, depth, seen, found),
            Possible::At(place) => {
                if seen.insert(place) {
                    self.ask(place, name, depth, found);
                }
                false
            }
        }
    }

    /// Whether a name that several nodes may have asks for a search through the component. Where there is one way into it, the order in
    /// which it is searched is always the same, so the nodes are asked in that order.
    fn goes_through(&self, component: u32, name: Word, depth: u8, seen: &Seen, found: &mut Names) -> bool {
        let is_single = self.tables.stars.components[component as usize].members.len() == 1;
        let Some(table) = self.tables.table(component).filter(|_| is_single) else {
            return true;
        };
        let is_elsewhere = |&beyond: &u32| self.possible(beyond, name, depth) != Possible::Nowhere;
        if !table.open.is_empty() || table.beyond.iter().any(is_elsewhere) {
            return true;
        }
        let several = table.several.get(&name).into_iter().flatten();
        for &node in several.filter(|node| !seen.contains(**node)) {
            let goes_on = self.ask(node, name, depth, found);
            if !found.is_empty() {
                return false;
            }
            // What hides everything behind it is left to the search.
            if !goes_on {
                return true;
            }
        }
        false
    }

    fn possible(&self, component: u32, name: Word, depth: u8) -> Possible {
        let mut tables: SmallVec<[u32; 8]> = SmallVec::from_elem(component, 1);
        let mut possible = Possible::Nowhere;
        let mut next = 0;
        while let Some(&component) = tables.get(next) {
            next += 1;
            let Some(table) = self.tables.table(component) else {
                continue;
            };
            let here = match table.names.get(&name) {
                None => Possible::Nowhere,
                Some(&SEVERAL) => Possible::Several,
                Some(&node) => Possible::At(node),
            };
            possible = possible.and(here);
            for &node in &table.open {
                if possible == Possible::Several {
                    return possible;
                }
                let mut found = Names::new();
                self.ask(node, name, depth, &mut found);
                if !found.is_empty() {
                    possible = possible.and(Possible::At(node));
                }
            }
            for beyond in &table.beyond {
                if tables.len() < MAX_TABLES && !tables.contains(beyond) {
                    tables.push(*beyond);
                }
            }
        }
        possible
    }

    /// Asks one node for the name; says whether the name may come from what it takes everything of instead.
    fn ask(&self, node: u32, name: Word, depth: u8, found: &mut Names) -> bool {
        steps::count(1);
        match self.tables.stars.nodes[node as usize] {
            // One without the name has nothing to say, whichever node it is.
            Node::File(file) if !self.may_export(file, name) => true,
            Node::File(file) => self.find_export_here(file, name, depth, found),
            Node::Definition(place) | Node::Other(ModuleTarget::Definition(place)) => {
                for member in self.own_members(place, name) {
                    self.push_definition(member, found);
                }
                false
            }
            Node::Other(target) => {
                self.find_member(target, name, "", depth, found);
                false
            }
        }
    }

    /// Whether the file has something under `name`, which may lead nowhere. Nothing is noted: a file of the graph that has something else
    /// under a name changes the name's own key.
    fn may_export(&self, file: u32, name: Word) -> bool {
        let links: &Links = &self.tables.links[file as usize];
        let maps = &self.tables.maps;
        !links.named(name).is_empty()
            || links.export(name).is_some()
            || maps
                .container_of(file)
                .is_some_and(|container| maps.child(container, name).is_some())
    }
}
