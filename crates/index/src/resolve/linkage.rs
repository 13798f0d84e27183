//! Names that a linker would join: C and C++ have no modules, so a name means the one definition of it that the program
//! could be built with.
//!
//! A tree often holds several programs (or several architectures of one), so of many definitions the ones nearest to the
//! caller count: those it includes itself, then those that share most of its directory.

use smallvec::SmallVec;
use syntax::facts::{FileFacts, Flags, ImportForm, ScopeId, ScopeKind};

use super::linker::Names;
use super::links::ModuleTarget;
use super::value::Place;
use super::view::View;
use super::words::Word;

/// Most definitions of one name that are kept as candidates.
const MAX_CANDIDATES: usize = 4;

impl View<'_> {
    /// What `name` means in `file` by linkage.
    pub(super) fn linked(&self, file: u32, package: Word, name: Word) -> Names {
        let mut found = Names::new();
        if let Some(places) = self.package_places(package, name) {
            for place in self.nearest(file, places) {
                self.push_definition(place, &mut found);
            }
        }
        found
    }

    /// What the namespaces that the file uses as a whole have under `name`. Included files are not searched: the program has
    /// all their names already.
    pub(super) fn find_in_used_namespaces(&self, file: u32, name: Word, found: &mut Names) {
        let links = self.own(file);
        for &import in &links.wildcards {
            let import = &links.imports[import as usize];
            if import.form == ImportForm::Wildcard {
                self.find_member(import.target, name, "", 2, found);
            }
        }
    }

    /// The namespaces written around `scope`, innermost first.
    pub(super) fn namespaces_around(&self, file: u32, facts: &FileFacts, scope: ScopeId) -> SmallVec<[Place; 2]> {
        let mut around = SmallVec::new();
        let mut at = Some(scope);
        while let Some(scope) = at.and_then(|id| facts.scopes.get(id.index())) {
            if let (ScopeKind::Module, Some(definition)) = (scope.kind, scope.definition) {
                around.push(self.place(file, definition.0));
            }
            at = scope.parent;
        }
        around
    }

    /// Of several definitions, those nearest to `file`; none when too many are equally near.
    pub(super) fn nearest(&self, file: u32, places: &[Place]) -> SmallVec<[Place; 2]> {
        let is_defined = |place: &Place| {
            let link = self.definition(*place);
            link.is_some_and(|link| !link.flags.contains(Flags::DECLARATION))
        };
        if places.iter().any(is_defined) {
            self.nearest_of(file, places, is_defined)
        } else {
            self.nearest_of(file, places, |_| true)
        }
    }

    /// Of the places that count, those nearest to `file`. Places are in the order of their paths, so those of one file are together, and
    /// so are those with the most directories in common, around where the file itself would be: a namespace may be opened in thousands
    /// of files, of which only these are looked at.
    fn nearest_of(&self, file: u32, places: &[Place], counts: impl Fn(&Place) -> bool) -> SmallVec<[Place; 2]> {
        let of_file = |file: u32| {
            let start = places.partition_point(|place| place.file < file);
            let end = start + places[start..].partition_point(|place| place.file == file);
            (start, end)
        };
        let (start, end) = of_file(file);
        let mut kept: SmallVec<[Place; 2]> = places[start..end].iter().copied().filter(&counts).collect();
        if kept.is_empty() {
            kept = self.included(file, |other| {
                let (start, end) = of_file(other);
                places[start..end].iter().copied().filter(&counts).collect()
            });
        }
        if kept.is_empty() {
            let common = |place: &Place| self.common_directories(file, place.file);
            let before = || places[..start].iter().rev().filter(|place| counts(place));
            let after = || places[end..].iter().filter(|place| counts(place));
            let best = before().next().into_iter().chain(after().next()).map(common).max();
            let is_near = |place: &&Place| Some(common(place)) == best;
            kept.extend(before().take_while(is_near).take(MAX_CANDIDATES + 1).copied());
            kept.reverse();
            kept.extend(after().take_while(is_near).take(MAX_CANDIDATES + 1).copied());
        }
        if kept.len() > MAX_CANDIDATES {
            kept.clear();
        }
        kept
    }

    /// Of what `found` gives for the files that `file` includes itself, that of those with the most directories in common.
    fn included(&self, file: u32, found: impl Fn(u32) -> SmallVec<[Place; 2]>) -> SmallVec<[Place; 2]> {
        let targets = self.own(file).imports.iter().filter_map(|import| match import.target {
            ModuleTarget::File(other) if other != file => Some(other),
            _ => None,
        });
        let mut targets: SmallVec<[u32; 16]> = targets.collect();
        targets.sort_unstable();
        targets.dedup();
        let (mut best, mut kept) = (0, SmallVec::new());
        for other in targets {
            let places = found(other);
            let common = self.common_directories(file, other);
            if places.is_empty() || (common < best && !kept.is_empty()) {
                continue;
            }
            if common > best {
                kept.clear();
            }
            best = common;
            kept.extend(places);
        }
        kept
    }

    fn common_directories(&self, one: u32, other: u32) -> usize {
        let (one, other) = (self.directories_of(one), self.directories_of(other));
        one.iter().zip(other).take_while(|(one, other)| one == other).count()
    }

    /// Leaves out declarations whose definition is there too.
    pub(super) fn drop_declarations(&self, places: &mut SmallVec<[Place; 2]>) {
        let is_declaration = |place: Place| {
            self.definition(place)
                .is_some_and(|link| link.flags.contains(Flags::DECLARATION))
        };
        let parameters = |place: Place| self.parameters(place).len();
        let defined: SmallVec<[usize; 4]> = places
            .iter()
            .copied()
            .filter(|&place| !is_declaration(place))
            .map(parameters)
            .collect();
        places.retain(|place| !is_declaration(*place) || !defined.contains(&parameters(*place)));
    }
}
