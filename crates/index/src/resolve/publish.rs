//! What leaves a file: results, fields, variables, exports, and what decorators make of definitions.

use super::bindings::Source;
use super::calls::Arguments;
use super::evaluate::UNDERLYING;
use super::evaluate::{Evaluation, position_word};
use super::linker::decorated_name;
use super::links::{ExportLink, exported, is_type, runs};
use super::names::is_callable;
use super::value::{Fact, Place, Set, Value};
use super::words::{Key, UNKEYED};
use crate::model::Evidence;
use smallvec::SmallVec;
use syntax::facts::{DefinitionId, Export, Expression, ExpressionId, Flags, Flow, Kind, ScopeKind};

impl Evaluation<'_> {
    /// Applies the decorators of a definition, the innermost first.
    pub(super) fn decorate(&mut self, id: DefinitionId) {
        let definition = self.facts.definition(id);
        if definition.decorators.is_empty() {
            return;
        }
        let place = self.place(id);
        let Some(plain) = self.linker.as_value(place) else {
            return;
        };
        let mut value = Set::of(plain, Evidence::Lexical);
        for &decorator in definition.decorators.iter().rev() {
            let arguments = Arguments::of_one(value.clone());
            let decorators = self.expanded(decorator);
            let mut next = Set::default();
            for &fact in decorators.facts() {
                self.apply(fact, &arguments, decorator, &mut next);
            }
            let known = next
                .facts()
                .iter()
                .any(|fact| !matches!(fact.value, Value::Foreign | Value::External(_)));
            if known && !next.is_many() {
                value = next;
            }
        }
        let mut extra = Set::default();
        // What becomes of a class is a class: a decorator that is applied with and without arguments only seems to give itself.
        let is_class = matches!(plain, Value::Class(_));
        for &fact in value.facts() {
            if fact.value != plain && (!is_class || matches!(fact.value, Value::Class(_))) {
                extra.insert(fact.at_best(Evidence::FollowedValue));
            }
        }
        let name = decorated_name(place);
        self.contribute(Key::variable(self.file, name), extra.facts(), Evidence::FollowedValue);
        self.ledger.decorate(name, extra);
    }

    pub(super) fn flow(&mut self, flow: Flow) {
        match flow {
            Flow::Assign { target, value, .. } => {
                let values = self.set_of(value);
                if !values.is_empty() {
                    self.assign(target, values.facts());
                }
            }
            Flow::Typed { target, type_ } => {
                let values = self.instances(self.facts_of(type_));
                if !values.is_empty() {
                    self.assign(target, values.facts());
                }
            }
            Flow::Return { function, value } => {
                let definition = self.facts.definition(function);
                let declared = definition
                    .result
                    .is_some_and(|result| !self.instances(self.facts_of(result)).is_empty());
                if definition.flags.contains(Flags::GENERATOR) {
                    return;
                }
                let values = self.with_units(self.set_of(value));
                let key = Key::returned(self.place(function));
                for &fact in values
                    .facts()
                    .iter()
                    .filter(|fact| !declared || is_callable(fact.value))
                {
                    let at_best = match fact.value {
                        Value::Instance(_) => Evidence::InferredReceiver,
                        _ => Evidence::FollowedValue,
                    };
                    self.contribute(key, &[fact], at_best);
                }
            }
            Flow::Yield { function, value } => {
                let values = self.set_of(value);
                let object = self.place(function).object(Place::GENERATOR);
                self.fill(object, UNKEYED, values.facts());
            }
        }
    }

    /// Puts values into a member or an index; names pull for themselves.
    pub(super) fn assign(&mut self, target: ExpressionId, facts: &[Fact]) {
        match *self.facts.expression(target) {
            Expression::Member { object, name } => {
                let word = self.word(name);
                let objects = self.expanded(object);
                for object in objects.facts() {
                    match object.value {
                        Value::Instance(class) | Value::Class(class) | Value::Function(class) => {
                            let facts = self.told_to(class, facts);
                            self.contribute(self.linker.field(class, word), &facts, Evidence::Lexical);
                        }
                        Value::Object(object) => self.fill(object, word, facts),
                        Value::Module(file) => self.contribute(Key::variable(file, word), facts, Evidence::Lexical),
                        _ => {}
                    }
                }
            }
            Expression::Index { object, key } => {
                let part = key.map_or(UNKEYED, |key| self.word(key));
                let objects = self.expanded(object);
                for object in objects.facts() {
                    if let Value::Object(object) = object.value {
                        self.fill(object, part, facts);
                    }
                }
            }
            _ => {}
        }
    }

    /// Of what is put into something of another file, what counts there: the doubles of a test are of no use to what it tests.
    pub(super) fn told_to(&self, target: Place, facts: &[Fact]) -> SmallVec<[Fact; 4]> {
        let linker = self.linker;
        let from_test = target.file != self.file && linker.has_tests(self.file) && !linker.has_tests(target.file);
        let is_double = |value: Value| from_test && value.file().is_some_and(|file| linker.has_tests(file));
        facts.iter().filter(|fact| !is_double(fact.value)).copied().collect()
    }

    /// Contributes the types of parameters that are functions.
    fn publish_function_types(&mut self, id: DefinitionId) {
        let place = self.place(id);
        for (position, parameter) in self.facts.definition(id).parameters.iter().enumerate() {
            let Some(type_) = parameter.type_ else { continue };
            let mut types = self.instances(self.facts_of(type_));
            types.retain(|fact| matches!(fact.value, Value::Object(_)));
            let key = Key::content(place.object(Place::DECLARED), position_word(position));
            self.contribute(key, types.facts(), Evidence::DeclaredReceiver);
        }
    }

    pub(super) fn publish_definition(&mut self, id: DefinitionId) {
        let definition = self.facts.definition(id);
        let place = self.place(id);
        let owner = self.linker.definition(place).and_then(|link| link.owner);
        let word = self.word(definition.name);
        if runs(definition) {
            let key = Key::returned(place);
            if let Some(result) = definition.result {
                let values = self.instances(self.facts_of(result));
                self.contribute(key, values.facts(), Evidence::DeclaredReceiver);
            }
            if self.policy.policy.types_lambdas {
                self.publish_function_types(id);
            }
            if definition.flags.contains(Flags::GENERATOR) {
                let generator = Fact::new(Value::Object(place.object(Place::GENERATOR)), Evidence::FollowedValue);
                self.contribute(key, &[generator], Evidence::FollowedValue);
            }
            return;
        }
        if is_type(definition.kind)
            && let Some(type_) = definition.result
        {
            let values = self.instances(self.facts_of(type_));
            self.contribute(
                self.linker.field(place, UNDERLYING),
                values.facts(),
                Evidence::DeclaredReceiver,
            );
            return;
        }
        match (definition.kind, definition.result, owner) {
            (Kind::EnumMember, _, Some(owner)) => {
                let member = Fact::new(Value::Instance(owner), Evidence::DeclaredReceiver);
                self.contribute(self.linker.field(owner, word), &[member], Evidence::DeclaredReceiver);
            }
            (Kind::TypeAlias, Some(type_), None) => {
                let types = self.set_of(type_);
                self.contribute(Key::variable(self.file, word), types.facts(), Evidence::Lexical);
            }
            (Kind::TypeAlias, Some(type_), Some(owner)) => {
                let types = self.set_of(type_);
                self.contribute(self.linker.field(owner, word), types.facts(), Evidence::Lexical);
            }
            (_, Some(type_), Some(owner)) => {
                let values = self.instances(self.facts_of(type_));
                self.contribute(
                    self.linker.field(owner, word),
                    values.facts(),
                    Evidence::DeclaredReceiver,
                );
            }
            _ => {}
        }
    }

    /// Contributes what a variable of the file or of one of its types holds in the end.
    pub(super) fn publish_name(&mut self, number: usize) {
        let binding = self.facts.bindings[number];
        let Some(scope) = self.facts.scopes.get(binding.scope.index()) else {
            return;
        };
        let word = self.word(binding.name);
        let key = match (scope.kind, scope.definition) {
            (ScopeKind::File, _) => Key::variable(self.file, word),
            (ScopeKind::Type | ScopeKind::Module, Some(class)) => self.linker.field(self.place(class), word),
            _ => return,
        };
        let mut sources: SmallVec<[Source; 4]> = SmallVec::new();
        self.bindings.lasting(number as u32, |source| {
            if !matches!(source, Source::Import(_)) {
                sources.push(source);
            }
        });
        // A name that only ever is one definition is found by the linker.
        if let [Source::Definition(_)] = sources.as_slice() {
            return;
        }
        let values = self.sources(&sources);
        self.contribute(key, values.facts(), Evidence::Lexical);
    }

    pub(super) fn publish_export(&mut self, export: &Export) {
        let links = self.linker.own(self.file);
        let word = self.word(export.name);
        if let (Some(value), Some(ExportLink::Value)) = (export.value, links.export(word)) {
            let values = self.set_of(value);
            self.contribute(exported(self.file, word), values.facts(), Evidence::Lexical);
        }
    }
}
