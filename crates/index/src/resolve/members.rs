//! Looking into values: members, elements, positions, payloads.

use smallvec::SmallVec;
use syntax::facts::{Flags, Kind};

use super::calls::Arguments;
use super::containers::LAST;
use super::evaluate::{Evaluation, PAYLOAD, UNDERLYING, add_held, position_word};
use super::linker::packed;
use super::links::{ModuleTarget, is_function, is_type};
use super::names::is_callable;
use super::value::{Fact, Place, Set, Value};
use super::words::{ALL, APPENDED, Key, UNKEYED, Word};
use crate::model::Evidence;

/// Through what a member is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Type,
    Instance,
}

/// The member that holds what a prototype language's object falls back to.
const FALLBACK: &str = "__proto__";

/// A member found in a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// The definition.
    pub member: Place,
    /// It was found in an ancestor.
    pub inherited: bool,
}

impl Evaluation<'_> {
    /// The member `name` of the values. Parameters are looked through only when what is known otherwise has no such member, or
    /// has it for somebody else.
    pub fn member(&mut self, facts: &[Fact], name: Word, text: &str) -> Set {
        let mut set = Set::default();
        let mut parameters: SmallVec<[Fact; 2]> = SmallVec::new();
        for &fact in facts {
            match fact.value {
                Value::Parameter(..) => parameters.push(fact),
                _ => self.member_of(fact, name, text, 3, &mut set),
            }
        }
        let is_outside = |fact: &Fact| matches!(fact.value, Value::Foreign | Value::Many);
        if !parameters.is_empty() && (set.facts().iter().all(is_outside) || self.holds_protocol(facts)) {
            for &fact in self.expand(&parameters).facts() {
                self.member_of(fact, name, text, 3, &mut set);
            }
        } else if !parameters.is_empty() && self.policy.policy.functions_as_objects {
            for &fact in self.expand(&parameters).facts() {
                if is_callable(fact.value) {
                    set.insert(fact.at_best(Evidence::FollowedValue));
                }
            }
        }
        set
    }

    fn member_of(&mut self, fact: Fact, name: Word, text: &str, depth: u8, set: &mut Set) {
        match fact.value {
            Value::Module(file) => {
                let found = self.linker.module_member(ModuleTarget::File(file), name, text);
                self.add_found(&found, fact.evidence.max(Evidence::Import), set);
                if found.is_empty() && depth > 0 && self.linker.exports_whole(file) {
                    for &fact in self.whole_export(file).facts() {
                        self.member_of(fact, name, text, depth - 1, set);
                    }
                }
            }
            Value::Package(package) => {
                let found = self.linker.module_member(ModuleTarget::Package(package), name, text);
                self.add_found(&found, fact.evidence.max(Evidence::Import), set);
            }
            Value::External(word) => {
                let member = self.linker.externals.member(word, name, text);
                set.insert(Fact::new(Value::External(member), fact.evidence));
            }
            Value::Foreign | Value::Many => set.insert(fact),
            Value::Class(class) => self.class_member(class, fact.evidence, name, text, set),
            _ if self.policy.policy.functions_as_objects && is_callable(fact.value) => {
                set.insert(fact.at_best(Evidence::FollowedValue));
            }
            Value::Function(function) => {
                self.class_member(function, fact.evidence, name, text, set);
            }
            Value::Instance(class) => self.instance_member(class, false, fact.evidence, name, set),
            Value::Super(class) => self.instance_member(class, true, fact.evidence, name, set),
            Value::Object(object) => {
                let held = self.read(Key::content(object, name));
                if held.is_empty() && self.policy.policy.walking_types.contains(&text) {
                    self.add_content(object, ALL, fact.evidence, set);
                }
                if held.is_empty() && depth > 0 && self.policy.policy.class_member == "constructor" {
                    self.fallback_member(fact, object, name, text, depth, set);
                }
                for held in held.facts() {
                    if let Value::Function(function) = held.value
                        && self
                            .linker
                            .definition(function)
                            .is_some_and(|link| link.flags.contains(Flags::GETTER))
                    {
                        let receiver = Fact::new(Value::Object(object), fact.evidence);
                        self.returned(function, Some(receiver), &Arguments::default(), set);
                        continue;
                    }
                    let value = match held.value {
                        Value::Function(function) => Value::MethodOf(function, object),
                        value => value,
                    };
                    let evidence = held.evidence.max(fact.evidence).max(Evidence::FollowedValue);
                    set.insert(Fact::new(value, evidence));
                }
            }
            Value::Method(..)
            | Value::MethodOf(..)
            | Value::ClassMethod(..)
            | Value::TypeOf(_)
            | Value::Pairs(_)
            | Value::Parameter(..) => {}
        }
    }

    /// The member `name` of what an object falls back to, with the object as receiver.
    fn fallback_member(&mut self, fact: Fact, object: Place, name: Word, text: &str, depth: u8, set: &mut Set) {
        let behind = self.read(Key::content(object, Word::of(FALLBACK)));
        for &base in behind.facts() {
            let mut found = Set::default();
            if base.value != Value::Object(object) {
                self.member_of(base, name, text, depth - 1, &mut found);
            }
            for &found in found.facts() {
                let value = match found.value {
                    Value::MethodOf(function, _) => Value::MethodOf(function, object),
                    value => value,
                };
                let evidence = found.evidence.max(fact.evidence).max(Evidence::FollowedValue);
                set.insert(Fact::new(value, evidence));
            }
        }
    }

    /// The first definitions called `name` in the type or its ancestors.
    pub fn find_members(&self, class: Place, after_itself: bool, name: Word) -> SmallVec<[Found; 2]> {
        let key = (Word(packed(class) ^ u64::from(after_itself)), name);
        if let Some(found) = self.lookups.borrow().get(&key) {
            return found.clone();
        }
        let found = self.search_members(class, after_itself, name);
        self.lookups.borrow_mut().insert(key, found.clone());
        found
    }

    fn search_members(&self, class: Place, after_itself: bool, name: Word) -> SmallVec<[Found; 2]> {
        let alone = [class];
        let classes = self
            .linker
            .ancestry(class)
            .map_or(&alone[..], |ancestry| &ancestry.classes);
        let mut found: SmallVec<[Found; 2]> = SmallVec::new();
        for &owner in &classes[usize::from(after_itself).min(classes.len())..] {
            let members = self.chosen(self.linker.own_members(owner, name));
            let inherited = owner != class;
            for member in members {
                // Further up, only overloads that nothing nearer overrides are news.
                if !found.iter().any(|nearer| self.linker.overrides(nearer.member, member)) {
                    found.push(Found { member, inherited });
                }
            }
            if !found.is_empty() && !self.policy.policy.exact_arguments {
                break;
            }
        }
        found
    }

    /// Of several definitions of one name in one type: all where they are overloads, else the getter or the last.
    fn chosen(&self, mut members: SmallVec<[Place; 2]>) -> SmallVec<[Place; 2]> {
        if members.len() > 1 && self.policy.policy.links_by_name {
            self.leave_other_programs(&mut members);
        }
        if !members.is_empty() && self.policy.policy.extensions {
            members.retain(|member| self.sees(*member));
        }
        if members.len() < 2 || self.policy.policy.overloads {
            return members;
        }
        let flags = |place: &Place| {
            self.linker
                .definition(*place)
                .map_or(Flags::default(), |link| link.flags)
        };
        if self.policy.policy.singletons_apart {
            let last = |of_type: bool| {
                members
                    .iter()
                    .rfind(|place| flags(place).contains(Flags::STATIC) == of_type)
            };
            return [last(true), last(false)].into_iter().flatten().copied().collect();
        }
        let getter = members
            .iter()
            .find(|place| flags(place).contains(Flags::GETTER))
            .copied();
        getter.or(members.last().copied()).into_iter().collect()
    }

    /// Leaves out what other files define for a member that this file defines itself: no program holds both.
    fn leave_other_programs(&self, members: &mut SmallVec<[Place; 2]>) {
        let linker = self.linker;
        let is_here = |member: &Place| {
            let link = linker.definition(*member);
            member.file == self.file && link.is_some_and(|link| !link.flags.contains(Flags::DECLARATION))
        };
        let here: SmallVec<[Place; 2]> = members.iter().copied().filter(is_here).collect();
        let same = |one: Place, other: Place| {
            let (one, other) = (linker.parameters(one), linker.parameters(other));
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.type_ == other.type_)
        };
        members.retain(|member| member.file == self.file || !here.iter().any(|&own| same(own, *member)));
    }

    fn class_member(&mut self, class: Place, known: Evidence, name: Word, text: &str, set: &mut Set) {
        if text == "prototype" && self.policy.policy.class_member == "constructor" {
            return set.insert(Fact::new(Value::Instance(class), known.max(Evidence::DeclaredReceiver)));
        }
        if text == "new" && self.policy.policy.functions_as_objects {
            for constructor in self.linker.constructors(class) {
                set.insert(Fact::new(Value::ClassMethod(constructor, class), known));
            }
            return;
        }
        let known_before = known_facts(set);
        self.type_member(class, false, known, name, set, Reach::Type);
        // A module that is written in place has what it imports as well: `pub mod inner;`, `pub use …`.
        if known_facts(set) == known_before {
            let found = self.linker.held(class, name);
            self.add_found(&found, known.max(Evidence::Import), set);
        }
    }

    fn instance_member(&mut self, class: Place, after_itself: bool, known: Evidence, name: Word, set: &mut Set) {
        if name == self.policy.class_member {
            return set.insert(Fact::new(Value::Class(class), known));
        }
        let known_before = known_facts(set);
        self.type_member(class, after_itself, known, name, set, Reach::Instance);
        if self.policy.policy.class_member == "constructor" && known_facts(set) == known_before {
            let behind = self.read(self.linker.field(class, Word::of(FALLBACK)));
            for base in behind.facts() {
                let Value::Object(object) = base.value else { continue };
                for held in self.read(Key::content(object, name)).facts() {
                    let value = match held.value {
                        Value::Function(function) => Value::Method(function, class),
                        value => value,
                    };
                    set.insert(Fact::new(value, Evidence::FollowedValue));
                }
            }
        }
        if let Some(deref) = self.policy.deref_member.filter(|_| known_facts(set) == known_before)
            && deref != name
        {
            let mut behind = Set::default();
            self.call_member(class, deref, known, &mut behind);
            for fact in behind.facts() {
                if let Value::Instance(other) = fact.value
                    && other != class
                {
                    self.type_member(other, false, fact.evidence, name, set, Reach::Instance);
                }
            }
        }
    }

    /// Looks for `name` in the type and its ancestors, definitions and contributed values alike; the first that has it wins.
    fn type_member(
        &mut self,
        class: Place,
        after_itself: bool,
        known: Evidence,
        name: Word,
        set: &mut Set,
        reach: Reach,
    ) {
        let add = match reach {
            Reach::Type => Self::add_static_member,
            Reach::Instance => Self::add_instance_member,
        };
        let linker = self.linker;
        let ancestry = linker.ancestry(class);
        let mut hit = false;
        let mut overloads: SmallVec<[Place; 4]> = SmallVec::new();
        if linker.is_field(name) || self.policy.policy.singletons_apart {
            let alone = [class];
            let classes = ancestry.map_or(&alone[..], |ancestry| &ancestry.classes);
            let owned = self.owned_members(class, classes, name);
            let skipped = usize::from(after_itself).min(classes.len());
            for (position, &owner) in classes.iter().enumerate().skip(skipped) {
                let evidence = known.max(step(owner != class));
                let here: SmallVec<[Place; 2]> = owned
                    .iter()
                    .filter(|(at, _)| *at == position as u32)
                    .map(|(_, member)| *member)
                    .collect();
                for member in self.told_apart(here, reach) {
                    if overloads.iter().any(|&nearer| linker.overrides(nearer, member)) {
                        continue;
                    }
                    hit |= add(self, member, class, evidence, set);
                    overloads.push(member);
                }
                // What a partial type holds may be declared in any of its parts.
                let mut held = self.read(linker.field(owner, name));
                for &part in linker.unmarked_parts(owner) {
                    let more = self.read(Key::field(part, name));
                    add_held(&mut held, more.facts(), evidence);
                }
                add_held(set, held.facts(), evidence);
                hit |= !held.is_empty();
                // Overloads of ancestors count beside those nearer by; nothing else does.
                if hit && (!self.policy.policy.exact_arguments || !held.is_empty()) {
                    return;
                }
            }
        } else {
            for found in self.find_members(class, after_itself, name) {
                hit |= add(self, found.member, class, known.max(step(found.inherited)), set);
            }
        }
        if !hit && ancestry.is_some_and(|ancestry| ancestry.open) {
            set.insert(Fact::new(Value::Foreign, known));
        }
    }

    /// Of members of one name, those that are reached this way, where members of a type and of its instances are told apart. What a module
    /// has for instances, types that are extended by it have themselves.
    fn told_apart(&self, mut members: SmallVec<[Place; 2]>, reach: Reach) -> SmallVec<[Place; 2]> {
        if !self.policy.policy.singletons_apart {
            return members;
        }
        let linker = self.linker;
        members.retain(|&mut member| {
            let kind = linker.definition(member).map(|link| link.kind);
            if !matches!(kind, Some(Kind::Method | Kind::Property)) {
                return true;
            }
            match reach {
                Reach::Type => linker.is_of_type(member) || linker.is_mixed_in(member),
                Reach::Instance => !linker.is_of_type(member),
            }
        });
        members
    }

    /// The members called `name` of each of the `classes`, which are `class` and its ancestors.
    fn owned_members(&self, class: Place, classes: &[Place], name: Word) -> SmallVec<[(u32, Place); 2]> {
        let key = (Word(packed(class)), name);
        if let Some(known) = self.owned.borrow().get(&key) {
            return known.clone();
        }
        let mut owned = SmallVec::new();
        for (position, &owner) in (0..).zip(classes) {
            let members = self.chosen(self.linker.own_members(owner, name));
            owned.extend(members.into_iter().map(|member| (position, member)));
        }
        self.owned.borrow_mut().insert(key, owned.clone());
        owned
    }

    /// Adds a member of `class` that was found through a receiver.
    pub(super) fn add_member(&mut self, found: Found, receiver: Fact, class: Place, set: &mut Set) {
        let evidence = receiver.evidence.max(step(found.inherited));
        match receiver.value {
            Value::Class(_) => self.add_static_member(found.member, class, evidence, set),
            _ => self.add_instance_member(found.member, class, evidence, set),
        };
    }

    /// Adds a member reached through the type itself; whether it has a value of its own.
    fn add_static_member(&mut self, member: Place, class: Place, evidence: Evidence, set: &mut Set) -> bool {
        let Some(link) = self.linker.definition(member) else {
            return false;
        };
        if link.kind == Kind::EnumMember {
            let owner = link.owner.unwrap_or(class);
            set.insert(Fact::new(Value::Instance(owner), evidence));
        } else if is_type(link.kind) {
            set.insert(Fact::new(Value::Class(member), evidence));
        } else if link.flags.contains(Flags::GETTER) && self.policy.policy.calls_properties {
            set.insert(Fact::new(Value::ClassMethod(member, class), evidence));
        } else if link.flags.contains(Flags::GETTER) && link.flags.contains(Flags::STATIC) {
            let receiver = Fact::new(Value::Class(class), evidence);
            self.returned(member, Some(receiver), &Arguments::default(), set);
        } else if is_function(link.kind) {
            // Where a static function has a receiver, that is the type it is called on.
            let on_type = self.policy.policy.class_member == "constructor" && link.flags.contains(Flags::STATIC);
            let value = if on_type || link.flags.contains(Flags::CLASS_METHOD) {
                Value::ClassMethod(member, class)
            } else {
                Value::Function(member)
            };
            set.insert(Fact::new(value, evidence));
            self.add_decorated(member, set);
        } else {
            return false;
        }
        true
    }

    /// Adds a member reached through an instance; whether it has a value of its own.
    fn add_instance_member(&mut self, member: Place, receiver: Place, evidence: Evidence, set: &mut Set) -> bool {
        let Some(link) = self.linker.definition(member) else {
            return false;
        };
        if is_type(link.kind) {
            set.insert(Fact::new(Value::Class(member), evidence));
        } else if link.flags.contains(Flags::GETTER) && self.policy.policy.calls_properties {
            set.insert(Fact::new(Value::Method(member, receiver), evidence));
        } else if link.flags.contains(Flags::GETTER) {
            let receiver = Fact::new(Value::Instance(receiver), evidence);
            self.pass_receiver(member, self.linker.parameters(member), receiver);
            self.returned(member, Some(receiver), &Arguments::default(), set);
        } else if is_function(link.kind) {
            let value = if link.flags.contains(Flags::STATIC) {
                Value::Function(member)
            } else if link.flags.contains(Flags::CLASS_METHOD) {
                Value::ClassMethod(member, receiver)
            } else {
                Value::Method(member, receiver)
            };
            set.insert(Fact::new(value, evidence));
            self.add_decorated(member, set);
        } else {
            return false;
        }
        true
    }

    fn add_decorated(&mut self, member: Place, set: &mut Set) {
        if self.linker.definition(member).is_some_and(|link| link.decorated) {
            let extra = self.read(Key::variable(member.file, super::linker::decorated_name(member)));
            set.extend_at_best(extra.facts(), Evidence::FollowedValue);
        }
    }

    /// `object[key]`.
    pub fn index(&mut self, facts: &[Fact], key: Option<Word>) -> Set {
        let mut set = Set::default();
        for &fact in facts {
            match fact.value {
                Value::Object(object) => match key {
                    // A container filled otherwise than by a literal does not know its last element.
                    Some(key) if key == Word::of(LAST) => {
                        let before = set.facts().len();
                        self.add_content(object, key, fact.evidence, &mut set);
                        if set.facts().len() == before {
                            self.add_content(object, ALL, fact.evidence, &mut set);
                        } else {
                            self.add_content(object, UNKEYED, fact.evidence, &mut set);
                            self.add_content(object, APPENDED, fact.evidence, &mut set);
                        }
                    }
                    Some(key) => self.add_keyed(object, key, fact.evidence, &mut set),
                    None => self.add_content(object, ALL, fact.evidence, &mut set),
                },
                Value::Pairs(object) => self.add_content(object, ALL, fact.evidence, &mut set),
                // Where members are keys, a key is a member.
                Value::Instance(class) if key.is_some() && self.policy.policy.class_member == "constructor" => {
                    let before = set.facts().len();
                    self.instance_member(class, false, fact.evidence, key.unwrap_or(UNKEYED), &mut set);
                    if set.facts().len() == before {
                        set.insert(fact);
                    }
                }
                Value::Instance(class) => {
                    let found = self.call_member(class, self.policy.index_member, fact.evidence, &mut set)
                        || self.add_underlying(class, fact.evidence, &mut set);
                    if !found && self.policy.policy.transparent_elements {
                        set.insert(fact);
                    }
                }
                Value::Class(class) if self.policy.policy.singletons_apart => {
                    self.call_member_of(fact.value, class, self.policy.index_member, fact.evidence, &mut set);
                }
                // A generic class or function applied to its arguments outside of a type position.
                Value::Class(_) | Value::Function(_) | Value::Method(..) | Value::Foreign | Value::Many => {
                    set.insert(fact)
                }
                Value::External(_) => set.insert(Fact::new(Value::Foreign, fact.evidence)),
                _ => {}
            }
        }
        set
    }

    /// What iterating gives.
    pub fn element(&mut self, facts: &[Fact]) -> Set {
        let mut set = Set::default();
        for &fact in facts {
            match fact.value {
                Value::Object(object) => self.add_content(object, ALL, fact.evidence, &mut set),
                Value::Pairs(_) | Value::Foreign | Value::Many => set.insert(fact),
                Value::External(_) => set.insert(Fact::new(Value::Foreign, fact.evidence)),
                Value::Instance(class) => {
                    let (iterate, next) = self.policy.iterate_members;
                    let mut iterators = Set::default();
                    let found = self.call_member(class, iterate, fact.evidence, &mut iterators);
                    for &iterator in iterators.facts() {
                        match iterator.value {
                            Value::Object(object) => self.add_content(object, ALL, iterator.evidence, &mut set),
                            Value::Instance(class) => {
                                self.call_member(class, next, iterator.evidence, &mut set);
                            }
                            _ => {}
                        }
                    }
                    let found = found || self.add_underlying(class, fact.evidence, &mut set);
                    if !found && self.policy.policy.transparent_elements {
                        set.insert(fact);
                    }
                }
                _ => {}
            }
        }
        set
    }

    /// The elements of the type that `class` is made of: instances stand for themselves, as arrays of them leave no trace.
    fn add_underlying(&mut self, class: Place, known: Evidence, set: &mut Set) -> bool {
        let underlying = self.read(self.linker.field(class, UNDERLYING));
        for &fact in underlying.facts() {
            match fact.value {
                Value::Object(object) => self.add_content(object, ALL, known.max(fact.evidence), set),
                _ => set.insert(fact.at_best(known)),
            }
        }
        !underlying.is_empty()
    }

    /// What destructuring position `position` gives.
    pub fn item(&mut self, facts: &[Fact], position: u32) -> Set {
        let mut set = Set::default();
        for &fact in facts {
            match fact.value {
                Value::Object(object) => {
                    self.add_keyed(object, position_word(position as usize), fact.evidence, &mut set);
                }
                Value::Pairs(object) if position == 1 => self.add_content(object, ALL, fact.evidence, &mut set),
                Value::Foreign | Value::Many => set.insert(fact),
                Value::External(_) => set.insert(Fact::new(Value::Foreign, fact.evidence)),
                Value::Instance(_) if position == 0 && self.policy.policy.transparent_elements => set.insert(fact),
                _ => {}
            }
        }
        set
    }

    /// What awaiting or unwrapping gives.
    pub fn unwrap(&mut self, facts: &[Fact]) -> Set {
        let mut set = Set::default();
        for &fact in facts {
            match fact.value {
                Value::Object(object) => {
                    let payload = self.read(Key::content(object, PAYLOAD));
                    if payload.is_empty() {
                        set.insert(fact);
                    } else {
                        add_held(&mut set, payload.facts(), fact.evidence);
                    }
                }
                Value::External(_) => set.insert(Fact::new(Value::Foreign, fact.evidence)),
                _ => set.insert(fact),
            }
        }
        set
    }

    /// What entering a context manager gives.
    pub fn entered(&mut self, facts: &[Fact]) -> Set {
        let mut set = Set::default();
        for &fact in facts {
            match fact.value {
                Value::Instance(class) => {
                    let before = set.clone();
                    self.call_member(class, self.policy.enter_member, fact.evidence, &mut set);
                    // One that says nothing nearly always gives itself.
                    if set == before {
                        set.insert(fact.at_best(Evidence::InferredReceiver));
                    }
                }
                Value::Object(object) => self.add_content(object, ALL, fact.evidence, &mut set),
                Value::External(_) => set.insert(Fact::new(Value::Foreign, fact.evidence)),
                _ => set.insert(fact),
            }
        }
        set
    }

    /// Adds a part of a container's contents.
    pub fn add_content(&mut self, object: Place, part: Word, known: Evidence, set: &mut Set) {
        let held = self.read(Key::content(object, part));
        add_held(set, held.facts(), known);
    }

    /// Adds what a container may hold under a key: what is behind all else only where nothing else is known to be.
    pub fn add_keyed(&mut self, object: Place, key: Word, known: Evidence, set: &mut Set) {
        let held = self.read(Key::content(object, key));
        add_held(set, held.facts(), known);
        self.add_content(object, UNKEYED, known, set);
        if held.is_empty() {
            self.add_content(object, APPENDED, known, set);
        }
    }

    /// Calls a special member without arguments; whether there is one.
    fn call_member(&mut self, class: Place, name: Word, known: Evidence, set: &mut Set) -> bool {
        self.call_member_of(Value::Instance(class), class, name, known, set)
    }

    /// As `call_member`, of the type itself or of its instance.
    fn call_member_of(&mut self, receiver: Value, class: Place, name: Word, known: Evidence, set: &mut Set) -> bool {
        let found = self.find_members(class, false, name);
        let reach = match receiver {
            Value::Class(_) => Reach::Type,
            _ => Reach::Instance,
        };
        let members = self.told_apart(found.iter().map(|found| found.member).collect(), reach);
        for &member in &members {
            let receiver = Fact::new(receiver, known.max(Evidence::DeclaredReceiver));
            self.returned(member, Some(receiver), &Arguments::default(), set);
        }
        !members.is_empty()
    }
}

/// How many values of a set are of the tree.
fn known_facts(set: &Set) -> usize {
    let of_tree = |fact: &&Fact| !matches!(fact.value, Value::Foreign);
    set.facts().iter().filter(of_tree).count()
}

/// The evidence that finding a member adds.
fn step(inherited: bool) -> Evidence {
    if inherited {
        Evidence::Inherited
    } else {
        Evidence::DeclaredReceiver
    }
}
