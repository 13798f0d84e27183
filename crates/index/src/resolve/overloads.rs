//! Which of several functions of one name a call means: by the number of its arguments, then by what is known of their
//! types.
//!
//! Types are compared by name and kind alone; an argument whose type is unknown fits everywhere. What stays equal stays
//! several candidates.

use smallvec::SmallVec;
use syntax::facts::{Expression, ExpressionId, Flags, Kind, List, Name, Passing};

use super::calls::receiver_index;
use super::evaluate::Evaluation;
use super::linker::packed;
use super::links::{ParameterLink, is_function};
use super::type_names::{PARAMETER, TypeName, is_primitive, widens};
use super::value::{Fact, Place, Set, Value};
use super::view::View;
use super::words::Word;
use crate::model::Evidence;

/// The type of C's lists of arguments.
const ARGUMENT_LIST: &str = "va_list";

/// What an argument that hardly fits weighs: more than all that surely do.
const HARDLY: isize = 1 << 16;

/// How well an argument fits a parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    Never,
    /// Only if nothing else does.
    Hardly,
    Perhaps,
    Surely,
}

impl View<'_> {
    /// Whether as many parameters are declared by both, and those of plain types by the same ones: what stands for a type parameter
    /// may be written in many ways.
    pub fn may_override(&self, nearer: Place, farther: Place) -> bool {
        let (near, far) = (self.parameters(nearer), self.parameters(farther));
        let is_plain = |type_| matches!(type_, TypeName::Number(_) | TypeName::Boolean | TypeName::Text);
        let mut pairs = near.iter().zip(far).map(|(near, far)| (near.type_, far.type_));
        near.len() == far.len() && pairs.all(|(near, far)| near == far || !(is_plain(near) && is_plain(far)))
    }

    /// Whether two definitions are of one function: the same name, owner and parameters.
    pub fn declares_alike(&self, one: Place, other: Place) -> bool {
        let (Some(link), Some(known)) = (self.definition(one), self.definition(other)) else {
            return false;
        };
        let (parameters, others) = (self.parameters(one), self.parameters(other));
        one != other
            && (link.name, link.kind, link.owner) == (known.name, known.kind, known.owner)
            && parameters.len() == others.len()
            && (parameters.iter().zip(others)).all(|(one, other)| one.type_ == other.type_)
    }

    /// Whether both are one function of a file, and the first is compiled only where something is defined from outside.
    pub fn is_alternative(&self, one: Place, other: Place) -> bool {
        let is_left_out = |place: Place| {
            let link = self.definition(place);
            link.is_some_and(|link| link.flags.contains(Flags::ALTERNATIVE))
        };
        one.file == other.file && is_left_out(one) && !is_left_out(other) && self.declares_alike(one, other)
    }

    /// Whether `nearer` takes the place of the member `farther` of an ancestor: the same parameters, where type parameters
    /// of the ancestor stand for anything. In one type, nothing overrides.
    pub fn overrides(&self, nearer: Place, farther: Place) -> bool {
        let (Some(near), Some(far)) = (self.definition(nearer), self.definition(farther)) else {
            return false;
        };
        let in_namespace = far
            .owner
            .and_then(|owner| self.definition(owner))
            .is_some_and(|owner| owner.kind == Kind::Module);
        if (near.owner == far.owner && near.owner.is_some()) || in_namespace || !is_function(far.kind) {
            return false;
        }
        // A field leaves a function of its name alone.
        if !is_function(near.kind) {
            return false;
        }
        let (near, far) = (self.parameters(nearer), self.parameters(farther));
        let same = |(near, far): (&ParameterLink, &ParameterLink)| {
            match far.type_ {
                TypeName::Unknown => true,
                // A type parameter stands for no primitive type.
                TypeName::Any => !matches!(near.type_, TypeName::Number(_) | TypeName::Boolean),
                type_ => near.type_ == type_,
            }
        };
        near.len() == far.len() && near.iter().zip(far).all(same)
    }
}

impl Evaluation<'_> {
    /// Of several functions that one name stands for, those that a call with these arguments means. Where calls must pass
    /// what functions declare and no function fits, the call means something that is not in the tree.
    pub fn fitting(&self, mut values: Set, count: Option<usize>, arguments: Option<List>) -> Set {
        let Some(count) = count.filter(|_| self.policy.policy.overloads) else {
            return values;
        };
        // Called by its own name, an extension is passed what it extends.
        let extends = self.policy.policy.extensions;
        let is_by_name = |value: Value| match value {
            Value::Function(place) if extends => receiver_index(self.linker.parameters(place)).is_some(),
            _ => false,
        };
        if extends {
            values.retain(|fact| {
                let Some(place) = function_of(fact.value) else {
                    return true;
                };
                let link = self.linker.definition(place);
                if is_by_name(fact.value) {
                    return self.accepts(place, count) || (count > 0 && self.accepts(place, count - 1));
                }
                // Only who has the interface at hand calls what is written for it alone.
                if link.is_some_and(|link| link.flags.contains(Flags::FOR_INTERFACE)) {
                    return fact.evidence > Evidence::Inherited;
                }
                // That an extension is meant is only likely: one that cannot be called like this is not.
                let is_extension = self.linker.own(place.file).extended(place.id).is_some();
                !is_extension || self.accepts(place, count)
            });
        }
        // A function written in place is no overload of what is named.
        let overload_of = |value: Value| {
            let named = |place: &Place| {
                let link = self.linker.definition(*place);
                link.is_none_or(|link| link.kind != Kind::Lambda)
            };
            function_of(value).filter(named).filter(|_| !is_by_name(value))
        };
        let functions: SmallVec<[Place; 4]> = values
            .facts()
            .iter()
            .filter_map(|fact| overload_of(fact.value))
            .collect();
        if functions.is_empty() || (functions.len() == 1 && !self.policy.policy.exact_arguments) {
            return values;
        }
        let kept = self.best(&functions, count, arguments);
        if !kept.is_empty() {
            self.leave_types(&mut values, &kept, count);
        }
        if kept.len() == functions.len() {
            return values;
        }
        if kept.is_empty() && !self.policy.policy.exact_arguments {
            return values;
        }
        let mut set = Set::default();
        for &fact in values.facts() {
            if overload_of(fact.value).is_none_or(|function| kept.contains(&function)) {
                set.insert(fact);
            }
        }
        if kept.is_empty() {
            set.insert(Fact::new(Value::Foreign, Evidence::DeclaredReceiver));
        }
        set
    }

    /// The functions that a call means among more of one name than a set tells apart.
    pub fn narrowed(
        &mut self,
        values: Set,
        callee: ExpressionId,
        count: Option<usize>,
        arguments: Option<List>,
    ) -> Set {
        let Some(count) = count.filter(|_| self.policy.policy.overloads && values.is_full()) else {
            return values;
        };
        let (name, receivers): (Name, SmallVec<[Fact; 2]>) = match *self.facts.expression(callee) {
            Expression::Member { object, name } => (name, SmallVec::from_slice(self.facts_of(object))),
            Expression::Free { name, scope } => {
                let word = self.word(name);
                let around = self.types_around(scope);
                let mut having = around
                    .iter()
                    .filter(|class| !self.find_members(**class, false, word).is_empty());
                let this = having.next().map(|&class| Value::Instance(class));
                let this = this.map(|this| Fact::new(this, Evidence::DeclaredReceiver));
                (name, this.into_iter().collect())
            }
            _ => return values,
        };
        let word = self.word(name);
        let mut set = Set::default();
        for receiver in receivers {
            let (class, after_itself) = match receiver.value {
                Value::Instance(class) | Value::Class(class) => (class, false),
                Value::Super(class) => (class, true),
                _ => continue,
            };
            let found = self.find_members(class, after_itself, word);
            let functions: SmallVec<[Place; 4]> = found.iter().map(|found| found.member).collect();
            let kept = self.best(&functions, count, arguments);
            for found in found.iter().filter(|found| kept.contains(&found.member)) {
                self.add_member(*found, receiver, class, &mut set);
            }
        }
        if set.is_empty() { values } else { set }
    }

    /// The constructors of `class` that fit; all when none does.
    pub fn constructors(&self, class: Place, count: Option<usize>, arguments: Option<List>) -> SmallVec<[Place; 2]> {
        let linker = self.linker;
        let mut known = self.constructors.borrow_mut();
        let constructors = known
            .entry(packed(class))
            .or_insert_with(|| linker.constructors(class))
            .clone();
        drop(known);
        self.accepting(constructors, count, arguments)
    }

    /// Those of `functions` that fit; all when none does.
    pub fn accepting(
        &self,
        functions: SmallVec<[Place; 2]>,
        count: Option<usize>,
        arguments: Option<List>,
    ) -> SmallVec<[Place; 2]> {
        let Some(count) = count.filter(|_| self.policy.policy.overloads && functions.len() > 1) else {
            return functions;
        };
        let kept = self.best(&functions, count, arguments);
        if kept.is_empty() {
            functions
        } else {
            kept.into_iter().collect()
        }
    }

    fn best(&self, functions: &[Place], count: usize, arguments: Option<List>) -> SmallVec<[Place; 4]> {
        let mut kept: SmallVec<[Place; 4]> = functions
            .iter()
            .copied()
            .filter(|&function| self.accepts(function, count))
            .collect();
        self.leave_hidden(&mut kept);
        let Some(arguments) = arguments.filter(|_| kept.len() > 1) else {
            return kept;
        };
        let types: SmallVec<[TypeName; 4]> = self
            .facts
            .list(arguments)
            .iter()
            .map(|&argument| self.type_of(self.passed(ExpressionId(argument)).1))
            .collect();
        let scores: SmallVec<[Option<isize>; 4]> = kept
            .iter()
            .map(|&function| self.score(function, &types, arguments))
            .collect();
        let Some(best) = scores.iter().copied().max().flatten() else {
            return kept;
        };
        let mut score = scores.iter();
        kept.retain(|_| score.next() == Some(&Some(best)));
        self.leave_extensions(&mut kept);
        if self.policy.policy.exact_arguments {
            self.leave_collecting(&mut kept, &types);
        }
        kept
    }

    /// Collecting what is left is the last thing a language tries: where another function takes each of those arguments by itself, that is
    /// meant. One that nothing is known of may be all of them at once.
    fn leave_collecting(&self, functions: &mut SmallVec<[Place; 4]>, types: &[TypeName]) {
        let declared = |function: Place| {
            let parameters = self.linker.parameters(function).iter();
            parameters.filter(|parameter| parameter.passing != Passing::Receiver)
        };
        let collects_from =
            |function: Place| declared(function).position(|parameter| parameter.passing == Passing::Rest);
        let takes_each = |function: Place, from: usize| {
            let mut passed = declared(function).zip(types).skip(from);
            passed.all(|(parameter, &type_)| type_ != TypeName::Unknown || parameter.type_ == TypeName::Root)
        };
        let plain: SmallVec<[Place; 4]> = (functions.iter().copied())
            .filter(|&function| collects_from(function).is_none())
            .collect();
        functions.retain(|function| {
            let from = collects_from(*function);
            from.is_none_or(|from| !plain.iter().any(|&plain| takes_each(plain, from)))
        });
    }

    /// Number of arguments that surely fit, less those that hardly do; `None` when one never does.
    fn score(&self, function: Place, types: &[TypeName], arguments: List) -> Option<isize> {
        let parameters = self.linker.parameters(function);
        let mut declared = parameters
            .iter()
            .filter(|parameter| parameter.passing != Passing::Receiver);
        let mut last: Option<&ParameterLink> = None;
        let mut sure = 0;
        let arguments = self.facts.list(arguments);
        for (position, (&type_, &argument)) in types.iter().zip(arguments).enumerate() {
            let (name, argument) = self.passed(ExpressionId(argument));
            let parameter = if let Some(name) = name {
                let known = parameters.iter().find(|parameter| parameter.name == name);
                let rest = || parameters.iter().any(|known| known.passing == Passing::KeywordRest);
                match known {
                    Some(known) => known,
                    None if rest() => continue,
                    None => return None,
                }
            } else if let Some(block) = self.takes_block(parameters, type_, position + 1 == arguments.len()) {
                block
            } else {
                last = match last {
                    Some(rest) if rest.passing == Passing::Rest => Some(rest),
                    _ => declared.next(),
                };
                let Some(parameter) = last else { break };
                parameter
            };
            let mut fit = self.fit(type_, parameter.type_, argument);
            // What collects the rest also takes all of it at once.
            if let (TypeName::Array(element), Passing::Rest) = (type_, parameter.passing) {
                fit = fit.max(match parameter.type_ {
                    TypeName::Root if !is_primitive(element) => Fit::Surely,
                    parameter => self.fit(TypeName::of_element(element), parameter, argument),
                });
            }
            match fit {
                Fit::Never if !self.policy.policy.converts_arguments => return None,
                Fit::Never => {}
                Fit::Hardly => sure -= HARDLY,
                Fit::Perhaps => {}
                // Collecting what is left is the last thing a language tries.
                Fit::Surely => sure += 1 + isize::from(parameter.passing != Passing::Rest),
            }
        }
        Some(sure)
    }

    pub(super) fn fit(&self, argument: TypeName, parameter: TypeName, expression: ExpressionId) -> Fit {
        use TypeName::{Any, Array, Boolean, Function, Named, Null, Number, Root, Text, Unknown};
        let converts = self.policy.policy.converts_arguments;
        match (argument, parameter) {
            (one, Named(list)) if converts && one != parameter && list == Word::of(ARGUMENT_LIST) => {
                self.fit_list(one, expression)
            }
            // Enums, constants and the like are most often of the type that they are written in.
            (Unknown, Text | Number(1..) | Named(_)) if self.type_around(expression) == Some(parameter) => Fit::Surely,
            (Unknown, _) | (_, Unknown) => Fit::Perhaps,
            (Any, Any) | (Root, Root) => Fit::Surely,
            (Any, Number(_) | Boolean) => Fit::Never,
            (Any, Array(_)) => Fit::Never,
            (Any, _) | (_, Any | Root) => Fit::Perhaps,
            (Root, _) => Fit::Never,
            (Named(one), Named(other)) if one == other => Fit::Surely,
            (Named(_), Named(wanted)) => {
                let instance = self.facts_of(expression).iter().find_map(|fact| match fact.value {
                    Value::Instance(class) => Some(class),
                    _ => None,
                });
                match instance.and_then(|class| self.linker.ancestry(class)) {
                    Some(ancestry) => {
                        let named =
                            |class: &Place| self.linker.definition(*class).is_some_and(|link| link.name == wanted);
                        let outside = || ancestry.open && self.inherits_outside(&ancestry.classes, wanted);
                        if ancestry.classes.iter().any(named) || outside() {
                            Fit::Surely
                        } else if ancestry.open {
                            Fit::Perhaps
                        } else {
                            Fit::Never
                        }
                    }
                    None => Fit::Perhaps,
                }
            }
            // Boxed, it may be nothing.
            (Null, Number(_) | Boolean) => Fit::Hardly,
            (Null, _) => Fit::Perhaps,
            (Number(one), Number(other)) if one == other && one > 0 => Fit::Surely,
            (Number(one), Number(other)) if widens(one, other) => Fit::Perhaps,
            (Array(one), Array(other)) if one == other && one != Word(0) => Fit::Surely,
            (Array(one), Array(other)) if one == Word(0) || other == Word(0) => Fit::Perhaps,
            (Array(_), Array(PARAMETER)) if self.policy.policy.generic_primitives => Fit::Perhaps,
            (Array(one), Array(other)) => {
                if is_primitive(one) || is_primitive(other) {
                    Fit::Never
                } else {
                    Fit::Perhaps
                }
            }
            // Functions stand for any interface of one method.
            (Function, Named(_)) => Fit::Perhaps,
            (one, other) if one == other => Fit::Surely,
            _ => Fit::Never,
        }
    }

    /// Nothing becomes a list of arguments: only a variable that is one is passed for it.
    fn fit_list(&self, argument: TypeName, expression: ExpressionId) -> Fit {
        let is_name = matches!(
            self.facts.expression(expression),
            Expression::Bound { .. } | Expression::Free { .. } | Expression::Member { .. }
        );
        if argument == TypeName::Unknown && is_name {
            Fit::Perhaps
        } else {
            Fit::Hardly
        }
    }
}

/// The function that a value is.
pub(super) fn function_of(value: Value) -> Option<Place> {
    match value {
        Value::Function(function) | Value::Method(function, _) => Some(function),
        _ => None,
    }
}
