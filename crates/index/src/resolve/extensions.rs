//! Functions that are called as if they were members of a type of outside: Kotlin's `fun String.cut()`, C#'s
//! `static string Cut(this string text)`.
//!
//! An extension of a type of the tree is a member of it. This is for all others: where the receiver has no such member, or
//! nothing is known of it, the extensions that the file sees are compared with what is known of the receiver's type.

use smallvec::SmallVec;
use syntax::facts::{ExpressionId, Flags};

use super::calls::receiver_index;
use super::evaluate::Evaluation;
use super::linker::{EXTENSIONS, Found, MAX_CHAIN};
use super::links::{ModuleTarget, NONE, NameLink};
use super::overloads::Fit;
use super::steps;
use super::type_names::TypeName;
use super::value::{Fact, Place, Set, Value};
use super::view::View;
use super::words::{Key, Word};
use crate::model::Evidence;

/// So many places are copied in a step.
const STEP: usize = 64;

/// Of how many types the extensions of one name may be, where nothing is known of the receiver: past that the name says nothing.
const MAX_GUESSED: usize = 4;

impl View<'_> {
    /// The extensions called `name` of the file's package and of those that it takes all names of.
    pub(super) fn extensions(&self, file: u32, name: Word) -> SmallVec<[Place; 4]> {
        let mut found: SmallVec<[Place; 4]> = SmallVec::new();
        let mut add = |package: Word| {
            let places = self.package_places(package.then(EXTENSIONS), name);
            steps::count(places.map_or(0, <[Place]>::len) / STEP);
            found.extend_from_slice(places.unwrap_or_default());
        };
        if let Some(package) = self.tables.maps.package_of(file) {
            add(package);
        }
        self.note(Key::wildcards(file));
        let links = self.own(file);
        for &import in &links.wildcards {
            if let ModuleTarget::Package(package) = self.target_of(&links.imports[import as usize], MAX_CHAIN) {
                add(package);
            }
        }
        if !found.is_sorted_by(|one, next| one < next) {
            found.sort_unstable();
            found.dedup();
        }
        found
    }
}

impl Evaluation<'_> {
    /// What `object.name` means besides the members found: the extensions that the file sees, when those are none.
    pub(super) fn with_extensions(&mut self, object: ExpressionId, name: Word, members: Set) -> Set {
        let is_outside = |fact: &Fact| matches!(fact.value, Value::Foreign | Value::Many);
        let is_value = |fact: &Fact| {
            !matches!(
                fact.value,
                Value::Class(_) | Value::Module(_) | Value::Package(_) | Value::External(_)
            )
        };
        if !self.policy.policy.extensions
            || !members.facts().iter().all(is_outside)
            || !self.facts_of(object).iter().all(is_value)
        {
            return members;
        }
        let extensions = self.extensions(object, name);
        if extensions.is_empty() { members } else { extensions }
    }

    fn extensions(&mut self, object: ExpressionId, name: Word) -> Set {
        let mut seen: SmallVec<[Place; 4]> = self.imported_functions(name);
        let is_imported = !seen.is_empty();
        if !is_imported {
            seen = self.linker.extensions(self.file, name);
        }
        seen.extend(self.own_extensions(name));
        let mut set = Set::default();
        if seen.is_empty() {
            return set;
        }
        let type_ = self.type_of(object);
        // A name that the language's own containers have says too little about an unknown receiver.
        let guessed = type_ == TypeName::Unknown && !is_imported;
        if guessed && self.policy.methods.contains_key(&name) {
            return set;
        }
        let mut best = Fit::Perhaps;
        let mut types: SmallVec<[TypeName; 4]> = SmallVec::new();
        let is_outside = self.is_outside(object, type_);
        for place in seen {
            let Some(extended) = self.extended(place) else { continue };
            // What is of outside inherits from nothing of the tree.
            let owner = || self.linker.definition(place).and_then(|link| link.owner);
            if is_outside && extended != type_ && owner().is_some() {
                continue;
            }
            // What is only known as a type parameter has what everything has.
            let fit = match (type_, extended) {
                (TypeName::Any, TypeName::Any | TypeName::Root) => Fit::Perhaps,
                (TypeName::Any, _) if !is_imported => Fit::Never,
                _ => self.fit(type_, extended, object),
            };
            if fit < best {
                continue;
            }
            if fit > best {
                best = fit;
                set = Set::default();
            }
            if !types.contains(&extended) {
                types.push(extended);
            }
            if guessed && types.len() > MAX_GUESSED {
                return Set::default();
            }
            // Where it is left out, the library has such a member itself.
            let is_left_out = self
                .linker
                .definition(place)
                .is_some_and(|link| link.flags.contains(Flags::ALTERNATIVE));
            let evidence = match fit {
                _ if is_left_out => Evidence::Candidate,
                Fit::Surely => Evidence::DeclaredReceiver,
                _ if is_imported || place.file == self.file => Evidence::InferredReceiver,
                _ => Evidence::UniqueName,
            };
            set.insert(Fact::new(self.as_extension(place), evidence));
        }
        // Which of several types is extended, nothing tells: the name alone agrees.
        match types.len() {
            0 | 1 => set,
            _ if !guessed => set,
            _ => {
                let mut candidates = Set::default();
                candidates.extend_at_best(set.facts(), Evidence::Candidate);
                candidates
            }
        }
    }

    /// The extensions called `name` that types of this file have for themselves.
    pub(super) fn own_extensions(&self, name: Word) -> SmallVec<[Place; 4]> {
        let (file, links) = (self.file, self.linker.own(self.file));
        let own = links.extensions.iter().filter(|&&(id, _)| {
            let link = links.definition(id);
            link.is_some_and(|link| link.name == name && link.parent != NONE)
                && receiver_index(links.parameters_of(id)).is_none()
        });
        own.map(|&(id, _)| Place { file, id }).collect()
    }

    /// What an extension extends, if this file may use it.
    fn extended(&self, place: Place) -> Option<TypeName> {
        let link = self.linker.definition(place)?;
        if link.private && place.file != self.file {
            return None;
        }
        self.linker.own(place.file).extended(place.id)
    }

    /// The extension with its receiver bound, where it has a parameter for that.
    fn as_extension(&self, place: Place) -> Value {
        let owner = self.linker.definition(place).and_then(|link| link.owner);
        match (receiver_index(self.linker.parameters(place)), owner) {
            (Some(_), Some(owner)) => Value::Method(place, owner),
            _ => Value::Function(place),
        }
    }

    /// The functions that the file imports under `name`.
    fn imported_functions(&mut self, name: Word) -> SmallVec<[Place; 4]> {
        let mut functions = SmallVec::new();
        let linker = self.linker;
        for &(_, link) in linker.own(self.file).named(name) {
            let NameLink::Import(import) = link else { continue };
            for found in self.imported(import) {
                if let Found::Value(Value::Function(place)) = found {
                    functions.push(place);
                }
            }
        }
        functions
    }
}
