//! Which of several functions of one name a call means: by the number of its arguments, then by what is known of their
//! types.
//!
//! Types are compared by name and kind alone; an argument whose type is unknown fits everywhere. What stays equal stays
//! several candidates.

use smallvec::SmallVec;
use syntax::facts::{Bound, Expression, ExpressionId, FileFacts, Flow, Kind, List, LiteralKind, Name, Passing};

use super::calls::receiver_index;
use super::evaluate::Evaluation;
use super::linker::packed;
use super::links::{ParameterLink, is_function};
use super::value::{Fact, Place, Set, Value};
use super::view::View;
use super::words::Word;
use crate::model::Evidence;

/// What is known of the type of a parameter or an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TypeName {
    /// Nothing.
    #[default]
    Unknown,
    /// A type parameter: any type but a primitive one.
    Any,
    /// The root of all types: takes everything, and is nothing else.
    Root,
    /// A number, boxed or not, by its rank among those that widen into each other; 0 is any.
    Number(u8),
    /// A truth value.
    Boolean,
    /// Text.
    Text,
    /// Nothing there.
    Null,
    /// A function written in place.
    Function,
    /// Several of what has this name; word 0 is anything.
    Array(Word),
    /// A type of this name.
    Named(Word),
}

impl TypeName {
    /// The type that `expression` says, read as a type.
    pub fn of_type(facts: &FileFacts, expression: ExpressionId, wrapped_arrays: bool) -> TypeName {
        let mut at = expression;
        for _ in 0..8 {
            match *facts.expression(at) {
                Expression::Literal(kind) => return TypeName::of_literal(kind),
                Expression::Free { name, .. } | Expression::Member { name, .. } => {
                    return TypeName::of_name(facts.text(name));
                }
                Expression::Bound { binding, .. } => {
                    return match facts.bindings.get(binding.index()) {
                        Some(binding) if binding.to != Bound::TypeParameter => {
                            TypeName::of_name(facts.text(binding.name))
                        }
                        _ => TypeName::Any,
                    };
                }
                Expression::Definition(id) => return TypeName::of_name(facts.text(facts.definition(id).name)),
                Expression::Generic { base, .. } => at = base,
                Expression::Wrapped(inner) if wrapped_arrays => return TypeName::Array(element_name(facts, inner)),
                Expression::Wrapped(inner) => at = inner,
                Expression::FunctionType(_) => return TypeName::Function,
                _ => return TypeName::Unknown,
            }
        }
        TypeName::Unknown
    }

    fn of_literal(kind: LiteralKind) -> TypeName {
        match kind {
            LiteralKind::Text => TypeName::Text,
            LiteralKind::Number | LiteralKind::Other => TypeName::Number(0),
            LiteralKind::Boolean => TypeName::Boolean,
            LiteralKind::Null => TypeName::Null,
        }
    }

    /// The type of an element of an array, by its name.
    fn of_element(name: Word) -> TypeName {
        let primitive = PRIMITIVES.iter().find(|primitive| Word::of(primitive) == name);
        match primitive {
            Some(primitive) => TypeName::of_name(primitive),
            None if name == Word(0) => TypeName::Unknown,
            None if name == PARAMETER => TypeName::Any,
            None if name == Word::of("String") => TypeName::Text,
            None => TypeName::Named(name),
        }
    }

    fn of_name(name: &str) -> TypeName {
        match name {
            "Object" | "Any" | "any" => TypeName::Root,
            "auto" => TypeName::Any,
            "String" | "CharSequence" | "string" | "string_view" | "str" => TypeName::Text,
            "byte" | "Byte" => TypeName::Number(1),
            "short" | "Short" => TypeName::Number(2),
            "char" | "Char" | "Character" => TypeName::Number(CHARACTER),
            "int" | "Int" | "Integer" | "unsigned" => TypeName::Number(3),
            "long" | "Long" | "size_t" => TypeName::Number(4),
            "float" | "Float" => TypeName::Number(5),
            "double" | "Double" => TypeName::Number(6),
            // These do not widen, so their ranks only tell them apart.
            "u8" => TypeName::Number(11),
            "u16" => TypeName::Number(12),
            "u32" => TypeName::Number(13),
            "u64" => TypeName::Number(14),
            "usize" => TypeName::Number(15),
            "i8" => TypeName::Number(16),
            "i16" => TypeName::Number(17),
            "i32" => TypeName::Number(18),
            "i64" => TypeName::Number(19),
            "isize" => TypeName::Number(20),
            "f32" => TypeName::Number(21),
            "f64" => TypeName::Number(22),
            "Number" => TypeName::Number(0),
            "Boolean" | "bool" | "boolean" => TypeName::Boolean,
            name => TypeName::Named(Word::of(name)),
        }
    }
}

/// The rank of characters: they widen into `int` and what follows it, and nothing widens into them.
const CHARACTER: u8 = 10;
const INTEGER: u8 = 3;

/// Types whose arrays are like no other's.
const PRIMITIVES: &[&str] = &["byte", "short", "char", "int", "long", "float", "double", "boolean"];

/// What stands for the name of a type parameter in arrays of it.
const PARAMETER: Word = Word(9);

fn is_primitive(name: Word) -> bool {
    PRIMITIVES.iter().any(|primitive| Word::of(primitive) == name)
}

/// The name of what an array holds; arrays of arrays count their depth in.
fn element_name(facts: &FileFacts, inner: ExpressionId) -> Word {
    match *facts.expression(inner) {
        Expression::Free { name, .. } | Expression::Member { name, .. } => Word::of(facts.text(name)),
        Expression::Bound { binding, .. } => match facts.bindings.get(binding.index()) {
            Some(binding) if binding.to != Bound::TypeParameter => Word::of(facts.text(binding.name)),
            _ => PARAMETER,
        },
        Expression::Generic { base, .. } => element_name(facts, base),
        Expression::Wrapped(inner) => element_name(facts, inner).then(Word(7)),
        _ => Word(0),
    }
}

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
        // That an extension is meant is only likely: one that cannot be called like this is not.
        if self.policy.policy.extensions {
            values.retain(|fact| match fact.value {
                Value::Function(place) if receiver_index(self.linker.parameters(place)).is_some() => true,
                value => function_of(value).is_none_or(|place| {
                    let is_extension = self.linker.own(place.file).extended(place.id).is_some();
                    !is_extension || self.accepts(place, count)
                }),
            });
        }
        // A function written in place is no overload of what is named.
        let overload_of = |value: Value| {
            let named = |place: &Place| {
                let link = self.linker.definition(*place);
                link.is_none_or(|link| link.kind != Kind::Lambda)
            };
            function_of(value).filter(named)
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
        kept
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
                fit = fit.max(self.fit(TypeName::of_element(element), parameter.type_, argument));
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
        use TypeName::{Any, Array, Boolean, Function, Named, Null, Number, Root, Unknown};
        match (argument, parameter) {
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
            (Number(CHARACTER), Number(INTEGER..CHARACTER)) => Fit::Perhaps,
            (Number(CHARACTER), Number(1..)) | (Number(1..), Number(CHARACTER)) => Fit::Never,
            (Number(one), Number(other)) if one == 0 || other == 0 || one < other => Fit::Perhaps,
            (Array(one), Array(other)) if one == other && one != Word(0) => Fit::Surely,
            (Array(one), Array(other)) if one == Word(0) || other == Word(0) => Fit::Perhaps,
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

    /// What is known of the type of a value.
    pub(super) fn type_of(&self, expression: ExpressionId) -> TypeName {
        let arrays = self.policy.policy.wrapped_arrays;
        match *self.facts.expression(expression) {
            Expression::Text(_) => TypeName::Text,
            Expression::Literal(kind) => TypeName::of_literal(kind),
            Expression::Sequence { .. } => TypeName::Array(Word(0)),
            Expression::Typed(type_) | Expression::New { type_, .. } => TypeName::of_type(self.facts, type_, arrays),
            Expression::Definition(_) => TypeName::Function,
            Expression::Bound { binding, .. } => match self.declared_type(binding.0) {
                Some(type_) if arrays && self.collects(binding) => TypeName::Array(element_name(self.facts, type_)),
                Some(type_) => TypeName::of_type(self.facts, type_, arrays),
                None => match self.type_of_value(expression) {
                    TypeName::Unknown => self.type_of_name(binding),
                    known => known,
                },
            },
            _ => self.type_of_value(expression),
        }
    }

    fn type_of_value(&self, expression: ExpressionId) -> TypeName {
        // Of a receiver, its own type is known beside what it is called with.
        if let [
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
        ] = self.facts_of(expression)
        {
            return self
                .linker
                .definition(*class)
                .map_or(TypeName::Unknown, |link| TypeName::Named(link.name));
        }
        match *self.facts.expression(expression) {
            Expression::Call { callee, arguments } => self.type_of_call(callee, arguments),
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
                _ => TypeName::Unknown,
            },
            Expression::Index { object, .. } => match self.type_of(object) {
                TypeName::Array(element) => TypeName::of_element(element),
                _ => TypeName::Unknown,
            },
            _ => TypeName::Unknown,
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

fn function_of(value: Value) -> Option<Place> {
    match value {
        Value::Function(function) | Value::Method(function, _) => Some(function),
        _ => None,
    }
}
