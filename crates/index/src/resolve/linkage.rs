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
        let declared = |place: &Place| {
            self.definition(*place)
                .is_none_or(|link| link.flags.contains(Flags::DECLARATION))
        };
        let mut kept: SmallVec<[Place; 2]> = places.iter().copied().filter(|place| !declared(place)).collect();
        if kept.is_empty() {
            kept = places.into();
        }
        if kept.len() > 1 {
            let best = kept.iter().map(|place| self.nearness(file, *place)).max();
            kept.retain(|place| Some(self.nearness(file, *place)) == best);
        }
        if kept.len() > MAX_CANDIDATES {
            kept.clear();
        }
        kept
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

    /// In the file itself, in a file that it includes, then by the number of directories in common.
    fn nearness(&self, file: u32, place: Place) -> (u8, usize) {
        if place.file == file {
            return (2, 0);
        }
        let included = self
            .own(file)
            .imports
            .iter()
            .any(|import| import.target == ModuleTarget::File(place.file));
        let (here, there) = (self.directories_of(file), self.directories_of(place.file));
        let common = here.iter().zip(there).take_while(|(here, there)| here == there).count();
        (u8::from(included), common)
    }
}
