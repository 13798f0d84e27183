//! Literals and generic types that hold other values.

use super::evaluate::{Evaluation, PAYLOAD, RECEIVER_PART, position_word};
use super::languages::Generic;
use super::value::{Fact, Place, Set, Value};
use super::words::{ALL, Key, UNKEYED, Word};
use crate::model::Evidence;
use syntax::facts::{Expression, ExpressionId};

/// The key of a sequence's last element.
pub(super) const LAST: &str = "-1";

impl Evaluation<'_> {
    pub(super) fn sequence(&mut self, id: ExpressionId, elements: &[u32]) -> Set {
        let object = self.object(id);
        let mut set = Set::of(Value::Object(object), Evidence::Lexical);
        let mut spread = false;
        for (position, &element) in elements.iter().enumerate() {
            let values = self.set_of(ExpressionId(element));
            if let Expression::Argument { .. } = self.facts.expression(ExpressionId(element)) {
                // The elements of a spread container are reached through the container itself, and from here on at any place.
                let containers = self.expand(values.facts());
                for &fact in containers.facts() {
                    if let Value::Object(other) = fact.value
                        && other != object
                    {
                        let mut held = Set::default();
                        self.add_content(other, ALL, fact.evidence, &mut held);
                        self.fill(object, UNKEYED, held.facts());
                    }
                }
                set.extend(values.facts());
                spread = true;
                continue;
            }
            if values.is_empty() {
                continue;
            }
            let key = if spread { UNKEYED } else { position_word(position) };
            self.fill(object, key, values.facts());
            if !spread && position + 1 == elements.len() {
                self.contribute(Key::content(object, Word::of(LAST)), values.facts(), Evidence::Lexical);
            }
        }
        set
    }

    pub(super) fn mapping(&mut self, id: ExpressionId, entries: &[u32]) -> Set {
        let object = self.object(id);
        let mut set = Set::of(Value::Object(object), Evidence::Lexical);
        for pair in entries.chunks(2) {
            let &[key, value] = pair else {
                continue;
            };
            let values = self.set_of(ExpressionId(value));
            if let Expression::Argument { .. } = self.facts.expression(ExpressionId(value)) {
                set.extend(values.facts());
                continue;
            }
            if values.is_empty() {
                continue;
            }
            let part = match *self.facts.expression(ExpressionId(key)) {
                Expression::Text(name) => self.word(name),
                _ => UNKEYED,
            };
            self.fill(object, part, values.facts());
        }
        set
    }

    /// Puts facts into a part of a container.
    pub fn fill(&mut self, object: Place, part: Word, facts: &[Fact]) {
        self.contribute(Key::content(object, part), facts, Evidence::Lexical);
        self.contribute(Key::content(object, ALL), facts, Evidence::Lexical);
    }

    /// Says what a function type passes, for the functions without types of their own that are given for it.
    pub(super) fn declare_parameters(&mut self, id: ExpressionId, parameters: &[u32]) {
        if !self.policy.policy.types_lambdas {
            return;
        }
        let object = self.object(id);
        let mut position = 0;
        for &parameter in parameters {
            let passed = self.instances(self.facts_of(ExpressionId(parameter)));
            let part = match *self.facts.expression(ExpressionId(parameter)) {
                Expression::Argument { .. } => Word::of(RECEIVER_PART),
                _ => {
                    position += 1;
                    position_word(position - 1)
                }
            };
            self.contribute(Key::content(object, part), passed.facts(), Evidence::DeclaredReceiver);
        }
    }

    pub(super) fn generic(&mut self, id: ExpressionId, base: ExpressionId, arguments: &[u32]) -> Set {
        let bases = self.set_of(base);
        let inside = bases
            .facts()
            .iter()
            .any(|fact| matches!(fact.value, Value::Class(_) | Value::Object(_)));
        if inside {
            return bases;
        }
        let name = match *self.facts.expression(base) {
            Expression::Member { name, .. } | Expression::Free { name, .. } => Some(self.word(name)),
            Expression::Bound { binding, .. } => {
                let binding = &self.facts.bindings[binding.index()];
                match binding.to {
                    syntax::facts::Bound::Import(import) => {
                        let import = &self.facts.imports[import.index()];
                        import.member.or(Some(binding.name)).map(|name| self.word(name))
                    }
                    _ => Some(self.word(binding.name)),
                }
            }
            _ => None,
        };
        let generic = name
            .and_then(|name| self.policy.generics.get(&name).copied())
            .unwrap_or(Generic::Holds);
        let object = self.object(id);
        let mut set = Set::default();
        match generic {
            Generic::Any => {
                for &argument in arguments {
                    set.extend(self.facts_of(ExpressionId(argument)));
                }
                return set;
            }
            Generic::First => {
                if let Some(&first) = arguments.first() {
                    set.extend(self.facts_of(ExpressionId(first)));
                }
                return set;
            }
            Generic::TypeOf => {
                for &argument in arguments {
                    for fact in self.facts_of(ExpressionId(argument)) {
                        if let Value::Class(class) = fact.value {
                            set.insert(Fact::new(Value::TypeOf(class), fact.evidence));
                        }
                    }
                }
                return set;
            }
            Generic::Callable => {
                if let Some((&last, parameters)) = arguments.split_last() {
                    self.declare_parameters(id, parameters);
                    let result = self.instances(self.facts_of(ExpressionId(last)));
                    self.contribute(
                        Key::result_of_object(object),
                        result.facts(),
                        Evidence::DeclaredReceiver,
                    );
                }
            }
            Generic::Holds | Generic::HoldsFirst => {
                let held = if generic == Generic::Holds {
                    arguments.last()
                } else {
                    arguments.first()
                };
                if let Some(&held) = held {
                    let held = self.instances(self.facts_of(ExpressionId(held)));
                    self.contribute(Key::content(object, PAYLOAD), held.facts(), Evidence::DeclaredReceiver);
                    self.fill(object, UNKEYED, held.facts());
                }
            }
            Generic::Tuple => {
                for (position, &argument) in arguments.iter().enumerate() {
                    let held = self.instances(self.facts_of(ExpressionId(argument)));
                    self.fill(object, position_word(position), held.facts());
                }
            }
        }
        set.insert(Fact::new(Value::Object(object), Evidence::DeclaredReceiver));
        set
    }
}
