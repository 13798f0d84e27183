//! What the language's own functions and methods do with values: `map`, `partial`, `append`, `then`.

use super::calls::{Arguments, receiver_index};
use super::evaluate::{Evaluation, add_held, position_word};
use super::languages::{Builtin, Operation};
use super::value::{Fact, Place, RECEIVER, Set, Value};
use super::words::{ALL, APPENDED, Key, UNKEYED, Word};
use crate::model::Evidence;
use syntax::facts::{Expression, ExpressionId};

impl Evaluation<'_> {
    pub(super) fn builtin(&mut self, builtin: Builtin, arguments: &Arguments, id: ExpressionId, set: &mut Set) {
        match builtin {
            Builtin::Super => self.super_call(arguments, id, set),
            Builtin::Same(index) => set.extend(arguments.get(index).facts()),
            Builtin::Container => {
                set.insert(Fact::new(Value::Object(self.object(id)), Evidence::Lexical));
                for &fact in self.expand(arguments.get(0).facts()).facts() {
                    if matches!(fact.value, Value::Object(_) | Value::Pairs(_)) {
                        set.insert(fact);
                    }
                }
            }
            Builtin::Element(index) => {
                let container = self.expand(arguments.get(index).facts());
                set.extend(self.element(container.facts()).facts());
            }
            Builtin::Map(index) => {
                let results = self.call_with_elements(arguments, index, id);
                let object = self.object(id);
                self.fill(object, UNKEYED, results.facts());
                set.insert(Fact::new(Value::Object(object), Evidence::FollowedValue));
            }
            Builtin::Filter(index) => {
                self.call_with_elements(arguments, index, id);
                set.extend(arguments.get(index + 1).facts());
            }
            Builtin::Keyed(name) => {
                let elements = self.expand(arguments.get(0).facts());
                let elements = self.element(elements.facts());
                let word = Word::of(name);
                for (known, function) in &arguments.named {
                    if *known == word {
                        self.call_all(function, &Arguments::of_one(elements.clone()), id);
                    }
                }
                set.extend(arguments.get(0).facts());
            }
            Builtin::Invokes => {
                for function in arguments.all() {
                    self.call_all(function, &Arguments::default(), id);
                }
                set.insert(Fact::new(Value::Foreign, Evidence::Import));
            }
            Builtin::Settles => {
                for fact in self.expand(arguments.get(0).facts()).facts() {
                    if let Value::Function(function) = fact.value {
                        let passed = self.read(Key::content(function.object(Place::GENERATOR), position_word(0)));
                        add_held(set, passed.facts(), Evidence::FollowedValue);
                    }
                }
                self.call_all(&arguments.get(0), &Arguments::default(), id);
                set.insert(Fact::new(Value::Foreign, Evidence::Import));
            }
            Builtin::Calls(from) => {
                let passed = arguments.after(from);
                set.extend(self.call_all(&arguments.get(0), &passed, id).facts());
                set.insert(Fact::new(Value::Foreign, Evidence::Import));
            }
            Builtin::Partial => {
                let bound = arguments.after(1);
                self.call_all(&arguments.get(0), &bound, id);
                set.extend_at_best(arguments.get(0).facts(), Evidence::FollowedValue);
            }
            Builtin::Copies => {
                let container = self.expand(arguments.get(0).facts());
                let mut held = self.element(container.facts());
                if arguments.positional.len() > 1 {
                    held = self.call_all(&arguments.get(1), &Arguments::of_one(held), id);
                }
                let object = self.object(id);
                self.fill(object, UNKEYED, held.facts());
                set.insert(Fact::new(Value::Object(object), Evidence::FollowedValue));
            }
            Builtin::Applies => {
                let mut inner = Arguments::default();
                inner
                    .positional
                    .extend(arguments.positional.last().map(|(last, _)| (last.clone(), true)));
                set.extend(self.call_all(&arguments.get(0), &inner, id).facts());
            }
            Builtin::TypeOf => {
                for fact in self.expand(arguments.get(0).facts()).facts() {
                    if let Value::Instance(class) = fact.value {
                        set.insert(Fact::new(Value::Class(class), fact.evidence));
                    }
                }
            }
            Builtin::GetMember => {
                if let Some(name) = arguments.second_text {
                    let object = arguments.get(0);
                    set.extend_at_best(self.member(object.facts(), name, "").facts(), Evidence::FollowedValue);
                }
                set.extend(arguments.get(2).facts());
            }
            Builtin::SetMember => {
                if let Some(name) = arguments.second_text {
                    let values = arguments.get(2);
                    for object in self.expand(arguments.get(0).facts()).facts() {
                        if let Value::Instance(class) | Value::Class(class) = object.value {
                            self.contribute(self.linker.field(class, name), values.facts(), Evidence::FollowedValue);
                        }
                    }
                }
            }
            Builtin::Enumerate => {
                for fact in self.expand(arguments.get(0).facts()).facts() {
                    if let Value::Object(object) = fact.value {
                        set.insert(Fact::new(Value::Pairs(object), fact.evidence));
                    }
                }
            }
            Builtin::Zip => {
                let object = self.object(id);
                for (position, (container, _)) in arguments.positional.iter().enumerate() {
                    let container = self.expand(container.facts());
                    let elements = self.element(container.facts());
                    let key = Key::content(object, position_word(position));
                    self.contribute(key, elements.facts(), Evidence::FollowedValue);
                }
                let tuple = Fact::new(Value::Object(object), Evidence::FollowedValue);
                self.contribute(Key::content(object, ALL), &[tuple], Evidence::FollowedValue);
                set.insert(tuple);
            }
            Builtin::Mapping => {
                let object = self.object(id);
                for (name, values) in &arguments.named {
                    self.fill(object, *name, values.facts());
                }
                set.insert(Fact::new(Value::Object(object), Evidence::Lexical));
                set.extend(arguments.get(0).facts());
            }
            Builtin::Defaults => {
                let object = self.object(id);
                if let Some(&first) = arguments.list.and_then(|list| self.facts.list(list).first()) {
                    let made = self.call_all(&arguments.get(0), &Arguments::default(), ExpressionId(first));
                    self.fill(object, UNKEYED, made.facts());
                }
                set.insert(Fact::new(Value::Object(object), Evidence::Lexical));
            }
            Builtin::FromPairs => {
                let object = self.object(id);
                let container = self.expand(arguments.get(0).facts());
                let pairs = self.element(container.facts());
                let held = self.item(pairs.facts(), 1);
                self.fill(object, UNKEYED, held.facts());
                set.insert(Fact::new(Value::Object(object), Evidence::Lexical));
            }
            Builtin::Assign => {
                for values in arguments.all() {
                    set.extend(values.facts());
                }
            }
        }
    }

    pub(super) fn super_call(&mut self, arguments: &Arguments, id: ExpressionId, set: &mut Set) {
        let named = arguments.get(0);
        let explicit = named.facts().iter().find_map(|fact| match fact.value {
            Value::Class(class) => Some(class),
            _ => None,
        });
        let class = explicit.or_else(|| {
            let Expression::Call { callee, .. } = *self.facts.expression(id) else {
                return None;
            };
            match *self.facts.expression(callee) {
                Expression::Free { scope, .. } => self.receiver_of(scope).0,
                _ => None,
            }
        });
        if let Some(class) = class {
            set.insert(Fact::new(Value::Super(class), Evidence::DeclaredReceiver));
        }
    }

    /// Adds what comes after `class` for those heirs that are known to run `function`: where bases are merged, that may be
    /// a class of which `class` knows nothing.
    pub(super) fn sideways(&mut self, class: Place, function: Place, set: &mut Set) {
        let linker = self.linker;
        let above = |class: Place| linker.ancestry(class).map_or(&[][..], |ancestry| &ancestry.classes);
        let index = receiver_index(linker.parameters(function)).unwrap_or(RECEIVER);
        let given = self.read(Key::parameter(function, index));
        for fact in given.facts() {
            let Value::Instance(heir) = fact.value else { continue };
            let mut after = above(heir).iter().skip_while(|&&other| other != class).skip(1);
            if let Some(&next) = after.next()
                && !above(class).contains(&next)
            {
                set.insert(Fact::new(Value::Instance(next), Evidence::Dispatch));
            }
        }
    }

    /// Calls argument `index` with the elements of the next one; gives what comes back.
    pub(super) fn call_with_elements(&mut self, arguments: &Arguments, index: usize, id: ExpressionId) -> Set {
        let mut inner = Arguments::default();
        for (container, _) in arguments.positional.iter().skip(index + 1) {
            let container = self.expand(container.facts());
            inner.positional.push((self.element(container.facts()), false));
        }
        self.call_all(&arguments.get(index), &inner, id)
    }

    pub(super) fn call_all(&mut self, functions: &Set, arguments: &Arguments, id: ExpressionId) -> Set {
        let mut set = Set::default();
        for &fact in self.expand(functions.facts()).facts() {
            self.apply(fact, arguments, id, &mut set);
        }
        set
    }

    /// A method of the language's own containers, promises and functions.
    pub(super) fn operate(
        &mut self,
        operation: Operation,
        objects: &[Fact],
        unknown: bool,
        arguments: &Arguments,
        id: ExpressionId,
        set: &mut Set,
    ) {
        if operation.invokes() {
            let of_tree = objects
                .iter()
                .any(|fact| matches!(fact.value, Value::Instance(_) | Value::Class(_)));
            if !of_tree || unknown || operation == Operation::Then {
                self.higher_order(operation, objects, arguments, id, set);
            }
            return;
        }
        if operation == Operation::Zip {
            let object = self.object(id);
            let other = self.expand(arguments.get(0).facts());
            for (position, container) in [objects, other.facts()].into_iter().enumerate() {
                let elements = self.element(container);
                let key = Key::content(object, position_word(position));
                self.contribute(key, elements.facts(), Evidence::FollowedValue);
            }
            let tuple = Fact::new(Value::Object(object), Evidence::FollowedValue);
            self.contribute(Key::content(object, ALL), &[tuple], Evidence::FollowedValue);
            return set.insert(tuple);
        }
        for &fact in objects {
            match fact.value {
                Value::Object(_) if operation == Operation::Sort => {
                    let elements = Arguments::of_one(self.element(&[fact]));
                    if let Some(function) = arguments.key() {
                        self.call_all(function, &elements, id);
                    }
                }
                Value::Class(class) if operation == Operation::Instance && unknown => {
                    let evidence = fact.evidence.max(Evidence::DeclaredReceiver);
                    set.insert(Fact::new(Value::Instance(class), evidence));
                }
                Value::Instance(class) if operation == Operation::ClassOf => {
                    set.insert(Fact::new(Value::Class(class), fact.evidence));
                }
                Value::Object(_) if operation == Operation::Step => {
                    let made = self.object(id);
                    let elements = self.element(&[fact]);
                    self.contribute(
                        Key::content(made, Word::of("value")),
                        elements.facts(),
                        Evidence::FollowedValue,
                    );
                    set.insert(Fact::new(Value::Object(made), Evidence::FollowedValue));
                }
                Value::Object(object) => self.container_method(operation, object, fact, arguments, set),
                Value::Function(_) | Value::Method(..) | Value::MethodOf(..) | Value::ClassMethod(..) => {
                    self.function_method(operation, fact, arguments, id, set);
                }
                // An instance that lacks the method is what an array, a pointer or the like holds: those pass such calls on.
                Value::Instance(_)
                    if unknown
                        && self.policy.policy.transparent_elements
                        && matches!(operation, Operation::Same | Operation::Element) =>
                {
                    set.insert(fact);
                }
                _ => {}
            }
        }
    }

    pub(super) fn container_method(
        &mut self,
        operation: Operation,
        object: Place,
        fact: Fact,
        arguments: &Arguments,
        set: &mut Set,
    ) {
        match operation {
            Operation::Append(index) => self.fill(object, APPENDED, arguments.get(index).facts()),
            Operation::Insert(index) => self.fill(object, UNKEYED, arguments.get(index).facts()),
            Operation::Extend => {
                for (name, values) in &arguments.named {
                    self.fill(object, *name, values.facts());
                }
                let container = self.expand(arguments.get(0).facts());
                let mut held = Set::default();
                for &fact in container.facts() {
                    if let Value::Object(other) = fact.value
                        && other != object
                    {
                        self.add_content(other, ALL, fact.evidence, &mut held);
                    }
                }
                self.fill(object, UNKEYED, held.facts());
            }
            Operation::Put => {
                self.fill(
                    object,
                    arguments.first_text.unwrap_or(UNKEYED),
                    arguments.get(1).facts(),
                );
            }
            Operation::Get => {
                match arguments.first_text {
                    Some(key) => self.add_keyed(object, key, fact.evidence, set),
                    None => self.add_content(object, ALL, fact.evidence, set),
                }
                set.extend(arguments.get(1).facts());
            }
            Operation::GetOrPut => {
                let part = arguments.first_text.unwrap_or(UNKEYED);
                self.fill(object, part, arguments.get(1).facts());
                self.add_content(object, part, fact.evidence, set);
                set.extend(arguments.get(1).facts());
            }
            Operation::Element => self.add_content(object, ALL, fact.evidence, set),
            Operation::Same => set.insert(fact),
            Operation::Concat => {
                set.insert(fact);
                for (values, _) in &arguments.positional {
                    set.extend_at_best(self.expand(values.facts()).facts(), Evidence::FollowedValue);
                }
            }
            Operation::Pairs => set.insert(Fact::new(Value::Pairs(object), fact.evidence)),
            _ => {}
        }
    }

    pub(super) fn function_method(
        &mut self,
        operation: Operation,
        fact: Fact,
        arguments: &Arguments,
        id: ExpressionId,
        set: &mut Set,
    ) {
        let (Value::Function(function) | Value::Method(function, _) | Value::MethodOf(function, _)) = fact.value else {
            return;
        };
        let receivers = self.expand(arguments.get(0).facts());
        let receiver = receivers
            .facts()
            .iter()
            .copied()
            .find(|fact| matches!(fact.value, Value::Instance(_) | Value::Object(_)));
        match operation {
            Operation::Run => {
                let receiver = match fact.value {
                    Value::Method(_, class) => Some(Fact::new(Value::Instance(class), fact.evidence)),
                    Value::MethodOf(_, object) => Some(Fact::new(Value::Object(object), fact.evidence)),
                    _ => None,
                };
                self.invoke(function, receiver, arguments, set);
            }
            Operation::Call => self.invoke(function, receiver, &arguments.after(1), set),
            Operation::Apply => {
                let mut inner = Arguments::default();
                inner.positional.push((arguments.get(1), true));
                self.invoke(function, receiver, &inner, set);
            }
            Operation::Bind => {
                if arguments.positional.len() > 1 {
                    self.invoke(function, receiver, &arguments.after(1), &mut Set::default());
                }
                let value = match receiver.map(|receiver| receiver.value) {
                    Some(Value::Instance(class)) => Value::Method(function, class),
                    Some(Value::Object(object)) => Value::MethodOf(function, object),
                    _ => Value::Function(function),
                };
                set.insert(Fact::new(value, fact.evidence.max(Evidence::FollowedValue)));
            }
            _ => {
                let _ = id;
            }
        }
    }

    pub(super) fn higher_order(
        &mut self,
        operation: Operation,
        objects: &[Fact],
        arguments: &Arguments,
        id: ExpressionId,
        set: &mut Set,
    ) {
        let mut containers = Set::default();
        for &fact in objects {
            let wrapped = self.policy.policy.transparent_elements && matches!(fact.value, Value::Instance(_));
            if wrapped || matches!(fact.value, Value::Object(_) | Value::Pairs(_)) {
                containers.insert(fact);
            }
        }
        if operation == Operation::Then {
            let payload = self.unwrap(objects);
            let mut inner = Arguments::of_one(Set::default());
            for &fact in payload.facts() {
                if !matches!(fact.value, Value::Foreign | Value::External(_)) {
                    inner.positional[0].0.insert(fact);
                }
            }
            for (function, _) in &arguments.positional {
                let results = self.call_all(function, &inner, id);
                set.extend(results.facts());
            }
            set.extend(inner.positional[0].0.facts());
            return;
        }
        let elements = self.element(containers.facts());
        let mut inner = Arguments::default();
        // A block comes after the value that folding starts from.
        let start = arguments.get(usize::from(arguments.block.is_none()));
        if operation == Operation::Fold {
            inner.positional.push((start.clone(), false));
        }
        inner.positional.push((elements.clone(), false));
        let function = arguments.block.clone().unwrap_or_else(|| arguments.get(0));
        let results = self.call_all(&function, &inner, id);
        match operation {
            Operation::Map => {
                let object = self.object(id);
                self.fill(object, UNKEYED, results.facts());
                set.insert(Fact::new(Value::Object(object), Evidence::FollowedValue));
            }
            Operation::Filter | Operation::Or => set.extend(containers.facts()),
            Operation::Else => {
                set.extend(elements.facts());
                set.extend(results.facts());
            }
            Operation::Find => set.extend(elements.facts()),
            Operation::Fold => {
                set.extend(results.facts());
                set.extend(start.facts());
            }
            _ => {}
        }
    }
}
