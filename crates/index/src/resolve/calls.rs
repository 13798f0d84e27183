//! Calls: which function runs, what flows into its parameters, what comes back.

use std::borrow::Cow;

use smallvec::SmallVec;
use syntax::facts::{Expression, ExpressionId, Kind, List, Passing};

use super::evaluate::{Evaluation, RECEIVER_PART, UNDERLYING, add_held, position_word};
use super::languages::Operation;
use super::links::{ParameterLink, is_type};
use super::value::{Fact, Place, RECEIVER, Set, Value};
use super::words::{ALL, Key, UNKEYED, Word};
use crate::model::Evidence;

/// The arguments of a call, evaluated.
#[derive(Clone, Default, Debug)]
pub struct Arguments {
    /// In order, and whether each is a spread sequence.
    pub positional: SmallVec<[(Set, bool); 4]>,
    /// By name.
    pub named: SmallVec<[(Word, Set); 2]>,
    /// Spread mappings.
    pub mappings: SmallVec<[Set; 1]>,
    /// The block that is written after the others.
    pub block: Option<Set>,
    /// The first argument when it is a text.
    pub first_text: Option<Word>,
    /// The second argument when it is a text.
    pub second_text: Option<Word>,
    /// As written.
    pub list: Option<List>,
}

impl Arguments {
    /// One positional argument.
    pub fn of_one(value: Set) -> Arguments {
        let mut arguments = Arguments::default();
        arguments.positional.push((value, false));
        arguments
    }

    pub(super) fn get(&self, index: usize) -> Set {
        self.positional
            .get(index)
            .map(|(set, _)| set.clone())
            .unwrap_or_default()
    }

    pub(super) fn after(&self, skip: usize) -> Arguments {
        Arguments {
            positional: self.positional.iter().skip(skip).cloned().collect(),
            named: self.named.clone(),
            mappings: self.mappings.clone(),
            block: self.block.clone(),
            ..Arguments::default()
        }
    }

    /// The argument called `key`.
    pub(super) fn key(&self) -> Option<&Set> {
        let key = Word::of("key");
        self.named.iter().find(|(name, _)| *name == key).map(|(_, set)| set)
    }

    /// How many there are, when that can be told.
    pub(super) fn count(&self) -> Option<usize> {
        let spread = !self.mappings.is_empty() || self.positional.iter().any(|(_, spread)| *spread);
        (!spread).then(|| self.positional.len() + self.named.len())
    }

    /// Every argument, whatever its form.
    pub fn all(&self) -> impl Iterator<Item = &Set> {
        let positional = self.positional.iter().map(|(set, _)| set);
        positional.chain(self.named.iter().map(|(_, set)| set))
    }
}

impl Evaluation<'_> {
    /// The arguments in `list`.
    pub fn arguments(&self, list: List) -> Arguments {
        let mut arguments = Arguments {
            list: Some(list),
            ..Arguments::default()
        };
        for (position, &id) in self.facts.list(list).iter().enumerate() {
            let id = ExpressionId(id);
            match *self.facts.expression(id) {
                Expression::Argument { name, value } => match self.facts.text(name) {
                    "*" => arguments.positional.push((self.set_of(value), true)),
                    "**" => arguments.mappings.push(self.set_of(value)),
                    "&" => arguments.block = Some(self.set_of(value)),
                    _ => arguments.named.push((self.word(name), self.set_of(value))),
                },
                Expression::Text(name) => {
                    match position {
                        0 => arguments.first_text = Some(self.word(name)),
                        1 => arguments.second_text = Some(self.word(name)),
                        _ => {}
                    }
                    arguments.positional.push((Set::default(), false));
                }
                _ => arguments.positional.push((self.argument(id), false)),
            }
        }
        arguments
    }

    /// The value of an argument; literal containers with nothing worth following in them are left out.
    pub(super) fn argument(&self, id: ExpressionId) -> Set {
        let parts = match *self.facts.expression(id) {
            Expression::Sequence { elements } => Some(elements),
            Expression::Mapping { entries } => Some(entries),
            _ => None,
        };
        if let Some(parts) = parts
            && self
                .facts
                .list(parts)
                .iter()
                .all(|&part| self.facts_of(ExpressionId(part)).is_empty())
        {
            return Set::default();
        }
        self.with_units(self.set_of(id))
    }

    /// The arguments with the empty literal containers among them, where the callee puts them into another container: they
    /// are filled where they are taken out (`m.setdefault(k, []).append(v)`).
    fn with_containers<'a>(&self, operation: Operation, arguments: &'a Arguments) -> Cow<'a, Arguments> {
        let mut all = Cow::Borrowed(arguments);
        let only_positional = arguments.named.is_empty() && arguments.mappings.is_empty();
        let Some(list) = arguments.list.filter(|_| operation.puts() && only_positional) else {
            return all;
        };
        for (position, &id) in self.facts.list(list).iter().enumerate() {
            let is_empty = match *self.facts.expression(ExpressionId(id)) {
                Expression::Sequence { elements: parts } | Expression::Mapping { entries: parts } => parts.len == 0,
                _ => false,
            };
            if is_empty {
                all.to_mut().positional[position].0 = self.set_of(ExpressionId(id));
            }
        }
        all
    }

    /// Adds the values that types stand for where a type without fields is its own value.
    pub(super) fn with_units(&self, mut set: Set) -> Set {
        if self.policy.policy.unit_values {
            for &fact in Set::copied(set.facts()).facts() {
                if let Value::Class(class) = fact.value {
                    set.insert(Fact::new(
                        Value::Instance(class),
                        fact.evidence.max(Evidence::DeclaredReceiver),
                    ));
                }
            }
        }
        set
    }

    /// The result of calling `callee`.
    pub fn call(&mut self, id: ExpressionId, callee: ExpressionId, arguments: &Arguments) -> Set {
        let mut set = Set::default();
        let callees = self.expanded(callee);
        let callees = self.narrowed(callees, callee, arguments.count(), arguments.list);
        let callees = self.fitting(callees, arguments.count(), arguments.list);
        for &fact in callees.facts() {
            self.guesses_callee = fact.evidence > Evidence::FollowedValue;
            self.apply(fact, arguments, id, &mut set);
        }
        self.guesses_callee = false;
        self.pass_on_receiver(callee, callees.facts());
        self.pass_to_scope(callee, callees.facts(), arguments);
        self.tell_settled(callee, arguments);
        if let Expression::Member { object, name } = *self.facts.expression(callee)
            && let Some(&operation) = self.policy.methods.get(&self.word(name))
        {
            let objects = self.expanded(object);
            let arguments = &self.with_containers(operation, arguments);
            let unknown = callees.facts().iter().all(|fact| fact.value == Value::Foreign);
            self.operate(operation, objects.facts(), unknown, arguments, id, &mut set);
        }
        set
    }

    /// Calls one value.
    pub fn apply(&mut self, fact: Fact, arguments: &Arguments, id: ExpressionId, set: &mut Set) {
        match fact.value {
            Value::Function(function) => self.invoke(function, None, arguments, set),
            Value::Method(function, class) => {
                let receiver = Fact::new(Value::Instance(class), fact.evidence);
                self.invoke(function, Some(receiver), arguments, set);
            }
            Value::ClassMethod(function, class) => {
                let receiver = Fact::new(Value::Class(class), fact.evidence);
                self.invoke(function, Some(receiver), arguments, set);
                if self
                    .linker
                    .definition(function)
                    .is_some_and(|link| link.kind == Kind::Constructor)
                {
                    set.insert(Fact::new(
                        Value::Instance(class),
                        fact.evidence.max(Evidence::DeclaredReceiver),
                    ));
                }
            }
            Value::MethodOf(function, object) => {
                let receiver = Fact::new(Value::Object(object), fact.evidence);
                self.invoke(function, Some(receiver), arguments, set);
            }
            Value::Class(_) => {
                if self.policy.policy.calls_construct {
                    self.construct(fact, arguments, id, set);
                }
            }
            // `Variant(…)` is a value of its enum.
            Value::Instance(class) if self.is_enum(class) => set.insert(fact),
            Value::Instance(class) => {
                for found in self.find_members(class, false, self.policy.call_member) {
                    let receiver = Fact::new(Value::Instance(class), fact.evidence);
                    self.invoke(found.member, Some(receiver), arguments, set);
                }
                for &underlying in self.read(self.linker.field(class, UNDERLYING)).facts() {
                    if let Value::Object(object) = underlying.value {
                        let held = self.read(Key::result_of_object(object));
                        add_held(set, held.facts(), fact.evidence);
                    }
                }
            }
            Value::Super(class) => {
                let receiver = Fact::new(Value::Instance(class), fact.evidence);
                for constructor in self.base_constructors(class) {
                    self.invoke(constructor, Some(receiver), arguments, &mut Set::default());
                }
            }
            Value::Module(file) => {
                for &fact in self.whole_export(file).facts() {
                    if !matches!(fact.value, Value::Module(_)) {
                        self.apply(fact, arguments, id, set);
                    }
                }
            }
            Value::Object(object) => {
                let held = self.read(Key::result_of_object(object));
                add_held(set, held.facts(), fact.evidence);
            }
            Value::External(word) => match self.policy.builtins.get(&word) {
                Some(&builtin) => self.builtin(builtin, arguments, id, set),
                None => set.insert(Fact::new(Value::Foreign, fact.evidence)),
            },
            Value::Foreign | Value::Many => set.insert(Fact::new(Value::Foreign, fact.evidence)),
            Value::TypeOf(_) | Value::Package(_) | Value::Pairs(_) | Value::Parameter(..) => {}
        }
    }

    fn is_enum(&self, class: Place) -> bool {
        let is_enum = self
            .linker
            .definition(class)
            .is_some_and(|link| link.kind == Kind::Enum);
        is_enum && self.policy.policy.call_member.is_empty()
    }

    /// The constructors of the nearest bases that have one.
    pub fn base_constructors(&self, class: Place) -> SmallVec<[Place; 2]> {
        let linker = self.linker;
        if !self.policy.policy.inherits_constructors {
            return self.constructors_of_base(class);
        }
        let classes = linker.ancestry(class).map_or(&[][..], |ancestry| &ancestry.classes);
        for &base in classes.iter().skip(1) {
            if linker.definition(base).is_some_and(|link| !is_type(link.kind)) {
                return SmallVec::from_slice(&[base]);
            }
            let found = linker.constructors(base);
            if !found.is_empty() {
                return found;
            }
        }
        SmallVec::new()
    }

    /// Makes an instance.
    pub fn construct(&mut self, fact: Fact, arguments: &Arguments, id: ExpressionId, set: &mut Set) {
        let class = match fact.value {
            Value::Class(class) => class,
            Value::Function(function) | Value::Method(function, _) | Value::MethodOf(function, _) => {
                let instance = fact.at_best(Evidence::DeclaredReceiver);
                let receiver = Fact::new(Value::Instance(function), instance.evidence);
                self.invoke(function, Some(receiver), arguments, &mut Set::default());
                set.insert(receiver);
                return;
            }
            Value::Module(file) => {
                for &fact in self.whole_export(file).facts() {
                    if !matches!(fact.value, Value::Module(_)) {
                        self.construct(fact, arguments, id, set);
                    }
                }
                return;
            }
            Value::External(word) => {
                match self.policy.builtins.get(&word) {
                    Some(&builtin) => self.builtin(builtin, arguments, id, set),
                    None => set.insert(Fact::new(Value::Foreign, fact.evidence)),
                }
                return;
            }
            Value::Foreign | Value::Many => {
                set.insert(Fact::new(Value::Foreign, fact.evidence));
                return;
            }
            Value::Instance(class) if self.is_enum(class) => {
                set.insert(fact);
                return;
            }
            _ => return,
        };
        let instance = Fact::new(Value::Instance(class), fact.evidence.max(Evidence::DeclaredReceiver));
        for constructor in self.constructors(class, arguments.count(), arguments.list) {
            self.invoke(constructor, Some(instance), arguments, &mut Set::default());
        }
        set.insert(instance);
    }

    /// Passes the arguments to a function of the tree and adds what it gives back.
    pub fn invoke(&mut self, function: Place, receiver: Option<Fact>, arguments: &Arguments, set: &mut Set) {
        let parameters = self.linker.parameters(function);
        if let Some(receiver) = receiver {
            self.pass_receiver(function, parameters, receiver);
        }
        self.pass_arguments(function, parameters, receiver.is_some(), arguments);
        self.returned(function, receiver, arguments, set);
    }

    pub(super) fn pass_receiver(&mut self, function: Place, parameters: &[ParameterLink], receiver: Fact) {
        // The owner's own instance is known inside; only heirs and objects are news.
        let owner = self.linker.definition(function).and_then(|link| link.owner);
        if let (Value::Instance(class) | Value::Class(class), Some(owner)) = (receiver.value, owner)
            && class == owner
        {
            return;
        }
        let index = receiver_index(parameters).unwrap_or(RECEIVER);
        let receiver = self.told_to(function, &[receiver]);
        self.contribute(Key::parameter(function, index), &receiver, Evidence::FollowedValue);
    }

    /// Says what a function written in place calls its first parameter with: that is what `new Promise(resolve => …)` gives.
    fn tell_settled(&mut self, callee: ExpressionId, arguments: &Arguments) {
        if self.policy.policy.class_member != "constructor" || arguments.positional.is_empty() {
            return;
        }
        let function = self.facts_of(callee).iter().find_map(|fact| match fact.value {
            Value::Parameter(function, 0) if function.file == self.file => Some(function),
            _ => None,
        });
        let is_lambda = |&function: &Place| {
            let link = self.linker.definition(function);
            link.is_some_and(|link| link.kind == Kind::Lambda)
        };
        if let Some(function) = function.filter(is_lambda) {
            let key = Key::content(function.object(Place::GENERATOR), position_word(0));
            self.contribute(key, arguments.get(0).facts(), Evidence::FollowedValue);
        }
    }

    /// What a method asks of its base runs for whichever heir was told to run the method.
    fn pass_on_receiver(&mut self, callee: ExpressionId, callees: &[Fact]) {
        let Expression::Member { object, .. } = *self.facts.expression(callee) else {
            return;
        };
        let Expression::Super(scope) = *self.facts.expression(object) else {
            return;
        };
        let (Some(_), Some(function)) = self.receiver_of(scope) else {
            return;
        };
        let function = self.place(function);
        let index = |parameters: &[ParameterLink]| receiver_index(parameters).unwrap_or(RECEIVER);
        let given = self.read(Key::parameter(function, index(self.linker.parameters(function))));
        for fact in callees {
            if let Value::Method(base, _) = fact.value {
                let key = Key::parameter(base, index(self.linker.parameters(base)));
                self.contribute(key, given.facts(), Evidence::FollowedValue);
            }
        }
    }

    pub(super) fn pass_arguments(
        &mut self,
        function: Place,
        parameters: &[ParameterLink],
        bound: bool,
        arguments: &Arguments,
    ) {
        let mut next = if bound {
            receiver_index(parameters).map_or(0, |index| index as usize + 1)
        } else {
            0
        };
        let count = arguments.positional.len();
        for (position, (values, spread)) in arguments.positional.iter().enumerate() {
            if let Some(block) = self.block_parameter(parameters, values, position + 1 == count) {
                self.pass_one(function, parameters, block, values, None);
                continue;
            }
            if *spread {
                let containers = self.expand(values.facts());
                for (offset, index) in (next..parameters.len()).enumerate() {
                    let mut held = Set::default();
                    for &fact in containers.facts() {
                        if let Value::Object(object) = fact.value {
                            self.add_keyed(object, position_word(offset), fact.evidence, &mut held);
                        }
                    }
                    self.pass_one(function, parameters, index, &held, None);
                }
                next = parameters.len();
                continue;
            }
            let rest = parameters
                .iter()
                .position(|parameter| parameter.passing == Passing::Rest);
            match parameters.get(next).map(|parameter| parameter.passing) {
                Some(Passing::Normal | Passing::Receiver) => {
                    self.pass_one(function, parameters, next, values, None);
                    next += 1;
                }
                _ => {
                    if let Some(rest) = rest {
                        let position = next.saturating_sub(rest);
                        self.pass_one(function, parameters, rest, values, Some(position_word(position)));
                        next += 1;
                    }
                }
            }
        }
        if let Some(block) = &arguments.block
            && let Some(index) = parameters.iter().position(|known| known.passing == Passing::Block)
        {
            self.pass_one(function, parameters, index, block, None);
        }
        for (name, values) in &arguments.named {
            match parameters.iter().position(|parameter| parameter.name == *name) {
                Some(index) => self.pass_one(function, parameters, index, values, None),
                None => {
                    if let Some(rest) = parameters
                        .iter()
                        .position(|known| known.passing == Passing::KeywordRest)
                    {
                        self.pass_one(function, parameters, rest, values, Some(*name));
                    }
                }
            }
        }
        for mapping in &arguments.mappings {
            let containers = self.expand(mapping.facts());
            for (index, parameter) in parameters.iter().enumerate() {
                let mut held = Set::default();
                for &fact in containers.facts() {
                    if let Value::Object(object) = fact.value {
                        if parameter.passing == Passing::KeywordRest {
                            self.add_content(object, ALL, fact.evidence, &mut held);
                        } else {
                            self.add_content(object, parameter.name, fact.evidence, &mut held);
                        }
                    }
                }
                let part = (parameter.passing == Passing::KeywordRest).then_some(UNKEYED);
                self.pass_one(function, parameters, index, &held, part);
            }
        }
    }

    pub(super) fn pass_one(
        &mut self,
        function: Place,
        parameters: &[ParameterLink],
        index: usize,
        values: &Set,
        part: Option<Word>,
    ) {
        let Some(parameter) = parameters.get(index) else {
            return;
        };
        let mut useful: SmallVec<[Fact; 4]> = SmallVec::new();
        for &fact in values.facts() {
            if let Value::Function(given) = fact.value
                && self.policy.policy.types_lambdas
            {
                self.type_lambda(function, index, given);
            }
            let same = fact.value == Value::Parameter(function, index as u32);
            if !same && !matches!(fact.value, Value::External(_) | Value::Foreign) {
                useful.push(fact);
            }
        }
        let useful = self.told_to(function, &useful);
        if useful.is_empty() {
            return;
        }
        let container = match parameter.passing {
            Passing::Rest => Place::REST,
            Passing::KeywordRest => Place::KEYWORD_REST,
            _ => {
                let key = Key::parameter(function, index as u32);
                return self.contribute(key, &useful, Evidence::FollowedValue);
            }
        };
        self.fill(function.object(container), part.unwrap_or(UNKEYED), &useful);
    }

    /// A function that is given for a parameter of function type gets what that type passes.
    fn type_lambda(&mut self, function: Place, index: usize, given: Place) {
        let declared = self.read(Key::content(function.object(Place::DECLARED), position_word(index)));
        for fact in declared.facts() {
            let Value::Object(type_) = fact.value else { continue };
            for position in 0..self.linker.parameters(given).len() {
                let passed = self.read(Key::content(type_, position_word(position)));
                let key = Key::parameter(given, position as u32);
                self.contribute(key, passed.facts(), Evidence::FollowedValue);
            }
            if self.policy.policy.lambda_receivers && !self.guesses_callee {
                let receiver = self.read(Key::content(type_, Word::of(RECEIVER_PART)));
                let key = Key::parameter(given, RECEIVER);
                self.contribute(key, receiver.facts(), Evidence::FollowedValue);
            }
        }
    }

    /// What a spread sequence passes for the parameter at `position`, when the call passes it that way.
    fn spread_argument(&mut self, arguments: &Arguments, position: usize) -> Option<Set> {
        let start = arguments.positional.iter().position(|(_, spread)| *spread)?;
        let offset = position.checked_sub(start)?;
        let containers = self.expand(arguments.positional[start].0.facts());
        let mut held = Set::default();
        for &fact in containers.facts() {
            if let Value::Object(object) = fact.value {
                self.add_keyed(object, position_word(offset), fact.evidence, &mut held);
            }
        }
        Some(held)
    }

    /// What a function gives back, with its parameters replaced by the arguments.
    pub fn returned(&mut self, function: Place, receiver: Option<Fact>, arguments: &Arguments, set: &mut Set) {
        let results = self.read(Key::returned(function));
        if results.is_empty() {
            return;
        }
        let linker = self.linker;
        let parameters = linker.parameters(function);
        let own_receiver = receiver_index(parameters).unwrap_or(RECEIVER);
        let gives_receiver = receiver.is_some()
            && results
                .facts()
                .iter()
                .any(|fact| fact.value == Value::Parameter(function, own_receiver));
        let left_out = arguments.list.is_some() && arguments.mappings.is_empty();
        let makes = receiver.and_then(|receiver| self.made_of_receiver(function, receiver, &results));
        for &fact in results.facts() {
            match (fact.value, receiver) {
                (Value::Instance(class), _)
                    if makes.is_some_and(|(of, owner)| of != class && linker.inherits(class, owner)) => {}
                (Value::Parameter(of, index), Some(receiver)) if of == function && index == own_receiver => {
                    set.insert(receiver);
                }
                (Value::Parameter(of, index), _) if of == function => {
                    let shift = if receiver.is_some() && own_receiver != RECEIVER {
                        own_receiver + 1
                    } else {
                        0
                    };
                    let position = index.checked_sub(shift).map(|position| position as usize);
                    if let Some(spread) = position.and_then(|position| self.spread_argument(arguments, position)) {
                        set.extend_at_best(spread.facts(), Evidence::FollowedValue);
                        continue;
                    }
                    let by_position = position.and_then(|position| arguments.positional.get(position));
                    let name = parameters.get(index as usize).map(|parameter| parameter.name);
                    let by_name = arguments.named.iter().find(|(known, _)| Some(*known) == name);
                    let is_block = |link: &&ParameterLink| link.passing == Passing::Block;
                    let by_block = parameters
                        .get(index as usize)
                        .filter(is_block)
                        .and(arguments.block.as_ref());
                    let value = by_name
                        .map(|(_, set)| set)
                        .or(by_block)
                        .or(by_position.filter(|(_, spread)| !spread).map(|(set, _)| set));
                    match value {
                        Some(value) => set.extend_at_best(value.facts(), Evidence::FollowedValue),
                        // What others pass is not what this call leaves out.
                        None if left_out && parameters.get(index as usize).is_some_and(|link| link.literal) => {}
                        None => set.insert(fact),
                    }
                }
                // A method that gives its receiver back gives the caller's type, not the owner's.
                (
                    Value::Instance(class),
                    Some(Fact {
                        value: Value::Instance(actual),
                        ..
                    }),
                ) if gives_receiver && linker.inherits(actual, class) => {}
                _ => set.insert(fact),
            }
        }
    }
}

impl Evaluation<'_> {
    /// The heir that a method of its base was called on as a class, and that base, when the method makes an instance of
    /// whatever class it is called on: `cls()`, `new this()`.
    fn made_of_receiver(&self, function: Place, receiver: Fact, results: &Set) -> Option<(Place, Place)> {
        let Value::Class(heir) = receiver.value else {
            return None;
        };
        let owner = self.linker.definition(function)?.owner.filter(|&owner| owner != heir)?;
        let made = |fact: &Fact| fact.value == Value::Instance(heir);
        results.facts().iter().any(made).then_some((heir, owner))
    }
}

/// Position of the declared receiver among the parameters.
pub(super) fn receiver_index(parameters: &[ParameterLink]) -> Option<u32> {
    let found = parameters
        .iter()
        .position(|parameter| parameter.passing == Passing::Receiver)?;
    Some(found as u32)
}
