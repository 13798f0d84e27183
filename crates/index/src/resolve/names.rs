//! What a name is worth: the writes that reach it, parameters, receivers, and what the linker finds.

use super::bindings::Source;
use super::evaluate::{Evaluation, add_held};
use super::linker::{Found, Names, decorated_name};
use super::links::{ModuleTarget, exported, is_type};
use super::scopes::as_sure;
use super::value::{Fact, Place, RECEIVER, Set, Value};
use super::words::{Key, Word};
use crate::model::Evidence;
use smallvec::SmallVec;
use syntax::facts::{DefinitionId, Expression, Flags, Kind, Name, ScopeId, ScopeKind};

impl Evaluation<'_> {
    pub(super) fn bound(&mut self, binding: u32, at: u32) -> Set {
        let mut sources: SmallVec<[Source; 4]> = SmallVec::new();
        self.bindings.reaching(binding, at, |source| sources.push(source));
        self.sources(&sources)
    }

    fn holds_interface(&self, set: &Set) -> bool {
        set.facts().iter().any(|fact| match fact.value {
            Value::Instance(class) => self
                .linker
                .definition(class)
                .is_some_and(|link| link.kind == Kind::Interface),
            _ => false,
        })
    }

    /// Whether one of the values is declared by a protocol: what is passed has the members without saying so.
    pub(super) fn holds_protocol(&self, facts: &[Fact]) -> bool {
        let protocols = &self.policy.protocols;
        !protocols.is_empty()
            && facts.iter().any(|fact| match fact.value {
                Value::Instance(class) => self
                    .linker
                    .bases(class)
                    .any(|base| matches!(base.value, Value::External(word) if protocols.contains(&word))),
                _ => false,
            })
    }

    /// What the sources together are worth. A declared type that is known makes undeclared guesses unnecessary.
    pub(super) fn sources(&mut self, sources: &[Source]) -> Set {
        let mut set = Set::default();
        for &source in sources {
            if let Source::Type(type_) = source {
                let instances = self.instances(self.facts_of(type_));
                set.extend(instances.facts());
            }
        }
        // Where every call must fit, a container of a declared type says enough as well.
        let exact = self.policy.policy.exact_arguments && !sources.iter().any(|source| self.declares_function(*source));
        let declared = set.facts().iter().any(|fact| match fact.value {
            Value::Instance(_) => true,
            Value::Object(_) => exact,
            _ => false,
        });
        for &source in sources {
            match source {
                Source::Type(_) => {}
                Source::Value(value) => {
                    let held = self.with_units(self.set_of(value));
                    // Of what a variable with a known type holds, only functions tell more than the type.
                    let told = |fact: &&Fact| !declared || is_callable(fact.value);
                    let held: SmallVec<[Fact; 4]> = held.facts().iter().filter(told).copied().collect();
                    add_held(&mut set, &held, Evidence::Lexical);
                }
                Source::Definition(id) => self.definition_value(id, Evidence::Lexical, &mut set),
                Source::Import(import) => {
                    let found = self.imported(import);
                    self.add_found(&found, Evidence::Import, &mut set);
                }
                Source::Parameter(function, index) => {
                    // An interface may be passed as a function, which tells more than the interface.
                    let interface = self.policy.policy.functions_as_objects && self.holds_interface(&set);
                    if !declared || interface || self.holds_protocol(set.facts()) {
                        self.parameter(function, index, &mut set);
                    }
                }
                Source::Receiver(function, index) => self.receiver(function, index, &mut set),
            }
        }
        set
    }

    /// Whether a source is the type of a function: which function it is, the type does not say.
    fn declares_function(&self, source: Source) -> bool {
        let Source::Type(mut at) = source else { return false };
        while let Expression::Wrapped(inner) = *self.facts.expression(at) {
            at = inner;
        }
        matches!(self.facts.expression(at), Expression::FunctionType(_))
    }

    pub(super) fn parameter(&mut self, function: DefinitionId, index: u32, set: &mut Set) {
        use syntax::facts::Passing;
        let place = self.place(function);
        let passing = self
            .facts
            .definition(function)
            .parameters
            .get(index as usize)
            .map(|parameter| parameter.passing);
        let value = match passing {
            Some(Passing::Rest) => Value::Object(place.object(Place::REST)),
            Some(Passing::KeywordRest) => Value::Object(place.object(Place::KEYWORD_REST)),
            Some(Passing::Receiver) => return self.receiver(function, Some(index), set),
            _ => Value::Parameter(place, index),
        };
        set.insert(Fact::new(value, Evidence::FollowedValue));
    }

    pub(super) fn receiver(&mut self, function: DefinitionId, index: Option<u32>, set: &mut Set) {
        let place = self.place(function);
        let link = self.linker.definition(place);
        let flags = self.facts.definition(function).flags;
        // What an extension extends is what its parameter says, not the type that it is written in.
        let extends = flags.contains(Flags::EXTENSION) && flags.contains(Flags::STATIC);
        if let Some(owner) = link.and_then(|link| link.owner).filter(|_| !extends) {
            let value = if flags.contains(Flags::CLASS_METHOD) || is_metaclass(self, owner) {
                Value::Class(owner)
            } else {
                Value::Instance(owner)
            };
            set.insert(Fact::new(value, Evidence::DeclaredReceiver));
        }
        set.insert(Fact::new(
            Value::Parameter(place, index.unwrap_or(RECEIVER)),
            Evidence::FollowedValue,
        ));
    }

    pub(super) fn this(&mut self, scope: ScopeId) -> Set {
        if self.policy.policy.lambda_receivers {
            let lambdas = self.lambdas_around(scope);
            for lambda in lambdas {
                let receivers = self.lambda_receivers(lambda);
                if !receivers.is_empty() {
                    return receivers;
                }
            }
        }
        let (class, function) = self.receiver_of(scope);
        let mut set = Set::default();
        let in_static = match function {
            Some(function) => self.facts.definition(function).flags.contains(Flags::STATIC),
            None => self.policy.policy.singletons_apart,
        };
        if let Some(class) = class {
            let value = if in_static {
                Value::Class(class)
            } else {
                Value::Instance(class)
            };
            set.insert(Fact::new(value, Evidence::DeclaredReceiver));
        }
        if let Some(function) = function {
            let place = self.place(function);
            if class.is_none() {
                set.insert(Fact::new(Value::Instance(place), Evidence::InferredReceiver));
            }
            set.insert(Fact::new(Value::Parameter(place, RECEIVER), Evidence::FollowedValue));
        }
        set
    }

    pub(super) fn free(&mut self, name: Name, scope: ScopeId) -> Set {
        let mut set = Set::default();
        let word = self.word(name);
        let text = self.facts.text(name);
        if self.policy.policy.lambda_receivers {
            set = self.scoped_member(scope, word, text);
            if !set.is_empty() {
                let mut named = Set::default();
                let found = self.ambient(name);
                self.add_found(&found, Evidence::Package, &mut named);
                return as_sure(set, &named);
            }
        }
        let of_type = self.policy.policy.singletons_apart && self.runs_in_type(scope);
        for class in self.types_around(scope) {
            let receiver = if of_type {
                Value::Class(class)
            } else {
                Value::Instance(class)
            };
            let this = [Fact::new(receiver, Evidence::DeclaredReceiver)];
            set = self.member(&this, word, text);
            if set.facts().iter().any(|fact| fact.value != Value::Foreign) {
                break;
            }
            set = Set::default();
        }
        if set.is_empty() {
            let found = self.ambient(name);
            self.add_found(&found, Evidence::Package, &mut set);
        } else if self.policy.policy.members_named_as_types {
            let types = self.ambient(name);
            let types = types.iter().filter_map(|found| match found {
                Found::Value(value @ Value::Class(_)) => Some(*value),
                _ => None,
            });
            for type_ in types {
                set.insert(Fact::new(type_, Evidence::Package));
            }
        }
        if set.is_empty() && !text.is_empty() && text == self.policy.policy.own_exports {
            set.insert(Fact::new(Value::Module(self.file), Evidence::Lexical));
        }
        if set.is_empty()
            && let Some(&builtin) = self.policy.builtin_names.get(&word)
        {
            set.insert(Fact::new(Value::External(builtin), Evidence::Import));
        }
        // The receiver may be that of a lambda around: `buildString { quote(name) }`.
        if set.is_empty() && self.policy.policy.extensions {
            for place in self.own_extensions(word) {
                set.insert(Fact::new(Value::Function(place), Evidence::InferredReceiver));
            }
        }
        set
    }

    /// Whether code runs with a type itself as receiver: in its body, or in a member of its own.
    fn runs_in_type(&self, scope: ScopeId) -> bool {
        let (class, function) = self.receiver_of(scope);
        match function {
            Some(function) => self.facts.definition(function).flags.contains(Flags::STATIC),
            None => class.is_some(),
        }
    }

    /// What an import binds.
    pub(super) fn imported(&mut self, import: u32) -> Names {
        let linker = self.linker;
        let found = self.imports[import as usize].get_or_insert_with(|| linker.imported(self.file, import));
        found.clone()
    }

    /// What a bare name means that the file does not bind.
    pub(super) fn ambient(&mut self, name: Name) -> Names {
        let (linker, word, text) = (self.linker, self.word(name), self.facts.text(name));
        let found = self.ambients.entry(word);
        found.or_insert_with(|| linker.ambient(self.file, word, text)).clone()
    }

    pub(super) fn text_module(&mut self, name: Word) -> Set {
        let links = self.linker.own(self.file);
        let target = links
            .text_modules
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, target)| target);
        let value = match target {
            Some(ModuleTarget::File(file)) => Value::Module(file),
            Some(ModuleTarget::Package(package)) => Value::Package(package),
            Some(ModuleTarget::External(word)) => Value::External(word),
            _ => return Set::default(),
        };
        Set::of(value, Evidence::Import)
    }

    /// Adds what a name found by the linker is worth.
    pub fn add_found(&mut self, found: &[Found], at_best: Evidence, set: &mut Set) {
        for found in found {
            match *found {
                Found::Value(value) => set.insert(Fact::new(value, at_best)),
                Found::Variable(file, name) => {
                    let values = self.read(Key::variable(file, name));
                    add_held(set, values.facts(), at_best);
                }
                Found::Export(file, name) => {
                    let values = self.read(exported(file, name));
                    add_held(set, values.facts(), at_best);
                }
                Found::ExportMember(file, name) => {
                    let values = self.whole_export(file);
                    let members = self.member(values.facts(), name, "");
                    add_held(set, members.facts(), at_best);
                }
            }
        }
    }

    /// What a file exports as a whole (`module.exports = …`).
    pub fn whole_export(&mut self, file: u32) -> Set {
        let name = Word::of("=");
        let mut set = Set::default();
        if self.linker.exports_whole(file) {
            let found = self.linker.export(file, name);
            self.add_found(&found, Evidence::Import, &mut set);
        }
        set
    }

    /// The type whose members the code of `scope` belongs to, and the function that has the receiver.
    pub fn receiver_of(&self, scope: ScopeId) -> (Option<Place>, Option<DefinitionId>) {
        let mut at = Some(scope);
        while let Some(id) = at {
            let Some(scope) = self.facts.scopes.get(id.index()) else {
                break;
            };
            if let Some(definition) = scope.definition {
                let (kind, flags) = (
                    self.facts.definition(definition).kind,
                    self.facts.definition(definition).flags,
                );
                let owner = self
                    .linker
                    .definition(self.place(definition))
                    .and_then(|link| link.owner);
                match scope.kind {
                    // What extends a type of outside has that as receiver, not the type it is written in.
                    ScopeKind::Function
                        if self.policy.policy.extensions && owner.is_none() && flags.contains(Flags::EXTENSION) =>
                    {
                        return (None, None);
                    }
                    ScopeKind::Function
                        if kind != Kind::Lambda
                            && (owner.is_some() || !flags.contains(Flags::OUTER_RECEIVER))
                            && (owner.is_some() || self.policy.policy.class_member == "constructor") =>
                    {
                        return (owner, Some(definition));
                    }
                    ScopeKind::Type if is_type(kind) => return (Some(self.place(definition)), None),
                    _ => {}
                }
            }
            at = scope.parent;
        }
        (None, None)
    }

    /// The types whose members the code of `scope` sees bare, innermost first.
    pub fn types_around(&self, scope: ScopeId) -> SmallVec<[Place; 2]> {
        let mut types: SmallVec<[Place; 2]> = SmallVec::new();
        if !self.policy.policy.bare_members {
            return types;
        }
        let mut at = Some(scope);
        while let Some(scope) = at.and_then(|id| self.facts.scopes.get(id.index())) {
            if let Some(definition) = scope.definition {
                let place = self.place(definition);
                let found = match scope.kind {
                    ScopeKind::Function => self.linker.definition(place).and_then(|link| link.owner),
                    ScopeKind::Module if self.policy.policy.links_by_name => Some(place),
                    ScopeKind::Type => Some(place).filter(|_| is_type(self.facts.definition(definition).kind)),
                    _ => None,
                };
                types.extend(found.filter(|found| !types.contains(found)));
            }
            at = scope.parent;
        }
        // A member written outside of its class sees what is around the class.
        let mut next = 0;
        while self.policy.policy.links_by_name && next < types.len() && types.len() < 16 {
            let inner = types[next];
            let parent = self.linker.definition(inner).map(|link| Place {
                file: inner.file,
                id: link.parent,
            });
            let outer = parent.filter(|&outer| self.linker.definition(outer).is_some_and(|link| is_type(link.kind)));
            types.extend(outer.filter(|outer| !types.contains(outer)));
            next += 1;
        }
        types
    }

    /// What a definition's name stands for.
    pub fn definition_value(&mut self, id: DefinitionId, at_best: Evidence, set: &mut Set) {
        let place = self.place(id);
        let definition = self.facts.definition(id);
        if self.policy.policy.links_by_name && definition.flags.contains(Flags::DECLARATION) {
            // A declaration stands for what it is linked to.
            let (word, text) = (self.word(definition.name), self.facts.text(definition.name));
            let found = self.linker.ambient(self.file, word, text);
            if !found.is_empty() {
                return self.add_found(&found, at_best.max(Evidence::Package), set);
            }
        }
        if let Some(value) = self.linker.as_value(place) {
            set.insert(Fact::new(value, at_best));
        }
        if definition.decorators.is_empty() {
            return;
        }
        if let Some(extra) = self.ledger.decorated(decorated_name(place)) {
            set.extend_at_best(extra.facts(), Evidence::FollowedValue);
        }
    }
}

fn is_metaclass(evaluation: &Evaluation<'_>, class: Place) -> bool {
    let mut bases = evaluation.linker.bases(class);
    bases.any(|base| Some(base.value) == evaluation.metaclass)
}

pub(super) fn is_callable(value: Value) -> bool {
    matches!(
        value,
        Value::Function(_) | Value::Method(..) | Value::MethodOf(..) | Value::ClassMethod(..)
    )
}
