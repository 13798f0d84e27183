//! What is known of the type of an argument: what it is declared as, what a call of it is declared to give, what the language's
//! library gives.

use syntax::facts::{BindingId, Expression, ExpressionId, Flow, Kind, List, Name};

use super::bindings::Source;
use super::evaluate::Evaluation;
use super::languages::Argument;
use super::overloads::function_of;
use super::type_names::{TypeName, element_name};
use super::value::{Fact, Place, Set, Value};
use super::words::Word;

/// Through how many expressions a type is followed.
const MAX_DEPTH: u8 = 8;

impl Evaluation<'_> {
    /// What is known of the type of a value.
    pub(super) fn type_of(&self, expression: ExpressionId) -> TypeName {
        self.type_within(expression, MAX_DEPTH)
    }

    fn type_within(&self, expression: ExpressionId, depth: u8) -> TypeName {
        let arrays = self.policy.policy.wrapped_arrays;
        let Some(depth) = depth.checked_sub(1) else {
            return TypeName::Unknown;
        };
        match *self.facts.expression(expression) {
            Expression::Text(_) => TypeName::Text,
            Expression::Literal(kind) => TypeName::of_literal(kind),
            Expression::Sequence { .. } => TypeName::Array(Word(0)),
            Expression::Typed(type_) | Expression::New { type_, .. } => TypeName::of_type(self.facts, type_, arrays),
            Expression::Wrapped(passed) if arrays => self.type_by_reference(passed),
            Expression::Definition(_) => TypeName::Function,
            Expression::Choice(values) => match self.type_of_choice(values, depth) {
                TypeName::Unknown => self.type_of_value(expression, depth),
                known => known,
            },
            Expression::Bound { binding, .. } => match self.declared_type(binding.0) {
                Some(type_) if arrays && self.collects(binding) => TypeName::Array(element_name(self.facts, type_)),
                Some(type_) => TypeName::of_type(self.facts, type_, arrays),
                None => match self.type_of_value(expression, depth) {
                    TypeName::Unknown => match self.type_of_name(binding) {
                        TypeName::Unknown => self.type_of_initial(binding, depth),
                        known => known,
                    },
                    known => known,
                },
            },
            _ => self.type_of_value(expression, depth),
        }
    }

    /// What is passed by reference is told apart as arrays are: no plain value stands for it.
    fn type_by_reference(&self, passed: ExpressionId) -> TypeName {
        let declared = match *self.facts.expression(passed) {
            Expression::Bound { binding, .. } => self.declared_type(binding.0),
            _ => None,
        };
        TypeName::Array(declared.map_or(Word(0), |type_| element_name(self.facts, type_)))
    }

    /// What all of several values are that are known and there.
    fn type_of_choice(&self, values: List, depth: u8) -> TypeName {
        let types = self.facts.list(values).iter();
        let mut found = TypeName::Unknown;
        for type_ in types.map(|&value| self.type_within(ExpressionId(value), depth)) {
            match type_ {
                TypeName::Unknown | TypeName::Null => {}
                type_ if found == TypeName::Unknown || found == type_ => found = type_,
                _ => return TypeName::Unknown,
            }
        }
        found
    }

    /// What a name without a declared type is first given, where that fixes its type.
    fn type_of_initial(&self, binding: BindingId, depth: u8) -> TypeName {
        if !self.policy.policy.fixed_types {
            return TypeName::Unknown;
        }
        match self.bindings.all(binding.0).next() {
            Some(Source::Value(value)) => self.type_within(value, depth),
            _ => TypeName::Unknown,
        }
    }

    fn type_of_value(&self, expression: ExpressionId, depth: u8) -> TypeName {
        // Of a receiver, its own type is known beside what it is called with.
        let instance = match self.facts_of(expression) {
            [
                Fact {
                    value: Value::Instance(class),
                    ..
                },
            ]
            | [
                Fact {
                    value: Value::Instance(class),
                    ..
                },
                Fact {
                    value: Value::Parameter(..),
                    ..
                },
            ] => self.linker.definition(*class).map(|link| TypeName::Named(link.name)),
            _ => None,
        };
        match instance {
            // What an array holds is followed through it, so an instance does not tell that it is one.
            Some(instance) if self.policy.policy.wrapped_arrays => match self.type_declared(expression, depth) {
                array @ TypeName::Array(_) => array,
                _ => instance,
            },
            Some(instance) => instance,
            None => self.type_declared(expression, depth),
        }
    }

    /// What the members and functions that an expression names are declared as.
    fn type_declared(&self, expression: ExpressionId, depth: u8) -> TypeName {
        match *self.facts.expression(expression) {
            Expression::Call { callee, arguments } => match self.type_of_call(callee, arguments) {
                TypeName::Unknown => self.type_of_library(callee, true, depth),
                known => known,
            },
            Expression::Free { name, scope } => {
                let types = self.types_around(scope);
                let word = self.word(name);
                types
                    .iter()
                    .map(|&class| self.type_of_field(class, word))
                    .find(|&found| found != TypeName::Unknown)
                    .unwrap_or_default()
            }
            Expression::Member { object, name } => match self.facts_of(object) {
                [
                    Fact {
                        value: Value::Instance(class) | Value::Class(class),
                        ..
                    },
                    ..,
                ] => self.type_of_field(*class, self.word(name)),
                _ => match self.type_of_held(object, name) {
                    TypeName::Unknown => self.type_of_library(expression, false, depth),
                    known => known,
                },
            },
            Expression::Index { object, .. } => match self.type_within(object, depth) {
                TypeName::Array(element) => TypeName::of_element(element),
                _ => self.type_argument(object, Argument::Last),
            },
            _ => TypeName::Unknown,
        }
    }

    /// What a member of a generic type of outside is that is one of the types which that is made of: `pair.Key`, `task.Result`.
    fn type_of_held(&self, object: ExpressionId, name: Name) -> TypeName {
        let held = self.policy.policy.held_types;
        let text = self.facts.text(name);
        match held.iter().find(|(known, _)| *known == text) {
            Some(&(_, argument)) => self.type_argument(object, argument),
            None => TypeName::Unknown,
        }
    }

    /// An argument of the generic type of outside that a name is declared as.
    fn type_argument(&self, object: ExpressionId, argument: Argument) -> TypeName {
        let Expression::Bound { binding, .. } = *self.facts.expression(object) else {
            return TypeName::Unknown;
        };
        let declared = self.declared_type(binding.0).map(|type_| *self.facts.expression(type_));
        let Some(Expression::Generic { arguments, .. }) = declared else {
            return TypeName::Unknown;
        };
        let arguments = self.facts.list(arguments);
        let argument = match argument {
            Argument::First => arguments.first(),
            Argument::Last => arguments.last(),
        };
        let arrays = self.policy.policy.wrapped_arrays;
        let is_outside = !self.policy.policy.held_types.is_empty()
            && !(self.facts_of(object).iter()).any(|fact| matches!(fact.value, Value::Instance(_)));
        argument.filter(|_| is_outside).map_or(TypeName::Unknown, |&argument| {
            TypeName::of_type(self.facts, ExpressionId(argument), arrays)
        })
    }

    /// What the language's library gives for a member of one of its types.
    fn type_of_library(&self, member: ExpressionId, is_called: bool, depth: u8) -> TypeName {
        let Expression::Member { object, name } = *self.facts.expression(member) else {
            return TypeName::Unknown;
        };
        let text = self.facts.text(name);
        let mut named = (self.policy.policy.library_types.iter())
            .filter(|known| known.name == text && known.is_called == is_called)
            .peekable();
        if named.peek().is_none() {
            return TypeName::Unknown;
        }
        let of = match self.type_within(object, depth) {
            TypeName::Unknown => self.type_named(object).unwrap_or_default(),
            known => known,
        };
        let fits = |receiver: &str| receiver.is_empty() || TypeName::of_name(receiver) == of;
        named
            .find(|known| fits(known.of))
            .map_or(TypeName::Unknown, |known| match known.gives.strip_suffix("[]") {
                Some(element) => TypeName::Array(Word::of(element)),
                None => TypeName::of_name(known.gives),
            })
    }

    /// The type of outside that an expression may be the name of.
    fn type_named(&self, expression: ExpressionId) -> Option<TypeName> {
        let (Expression::Free { name, .. } | Expression::Member { name, .. }) = *self.facts.expression(expression)
        else {
            return None;
        };
        let is_outside = |fact: &Fact| matches!(fact.value, Value::External(_) | Value::Foreign);
        let facts = self.facts_of(expression);
        (facts.iter().all(is_outside)).then(|| TypeName::of_name(self.facts.text(name)))
    }

    /// The type of outside that a value is written as a member of, and that it likely is of: `Color.Red`, `string.Empty`.
    pub(super) fn type_around(&self, expression: ExpressionId) -> Option<TypeName> {
        match *self.facts.expression(expression) {
            Expression::Member { object, .. } => self.type_named(object),
            _ => None,
        }
    }

    /// The declared result of what is called, when all that may be called agree on it.
    fn type_of_call(&self, callee: ExpressionId, arguments: List) -> TypeName {
        let mut set = Set::default();
        set.extend(self.facts_of(callee));
        let set = self.fitting(set, Some(self.facts.list(arguments).len()), None);
        let mut found = None;
        for function in set.facts().iter().filter_map(|fact| function_of(fact.value)) {
            let result = self
                .linker
                .definition(function)
                .map_or(TypeName::Unknown, |link| link.result);
            if found.is_some_and(|known| known != result) {
                return TypeName::Unknown;
            }
            found = Some(result);
        }
        found.unwrap_or_default()
    }

    fn type_of_field(&self, class: Place, name: Word) -> TypeName {
        let field = self.find_members(class, false, name).into_iter().find_map(|found| {
            self.linker
                .definition(found.member)
                .filter(|link| matches!(link.kind, Kind::Field | Kind::Property | Kind::Constant))
        });
        field.map_or(TypeName::Unknown, |link| link.result)
    }

    /// The type that the file declares for a name.
    fn declared_type(&self, binding: u32) -> Option<ExpressionId> {
        let types = self.declared_types.get_or_init(|| {
            let mut types = vec![None; self.facts.bindings.len()];
            for flow in &self.facts.flows {
                if let Flow::Typed { target, type_ } = *flow
                    && let Expression::Bound { binding, .. } = *self.facts.expression(target)
                    && let Some(slot) = types.get_mut(binding.index())
                {
                    *slot = Some(type_);
                }
            }
            types
        });
        types.get(binding as usize).copied().flatten()
    }
}
