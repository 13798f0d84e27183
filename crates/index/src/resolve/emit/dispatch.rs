//! What a call may run besides the member found: overrides, implementations, members of heirs, and guesses by name.

use smallvec::SmallVec;
use syntax::facts::{Expression, ExpressionId, Flags};

use super::{Emission, End, Ends, MAX_DISPATCH};
use crate::model::{EdgeKind, Evidence};
use crate::resolve::bindings::Source;
use crate::resolve::languages::Dispatch;
use crate::resolve::links::is_function;
use crate::resolve::value::{Fact, Place, Value};
use crate::resolve::words::Key;

/// Up to how many heirs are asked for a member that a type itself lacks.
const MAX_HEIRS: usize = 64;

impl Emission<'_, '_> {
    /// Adds the members of the called name in the tree, when they are few and nothing is known of the receiver.
    pub(super) fn guess(&mut self, expression: ExpressionId, ends: &mut Ends) {
        let (Expression::Member { name, .. } | Expression::Free { name, .. }) =
            *self.evaluation.facts.expression(expression)
        else {
            return;
        };
        if let Expression::Member { object, .. } = *self.evaluation.facts.expression(expression)
            && self.is_told(object)
        {
            return;
        }
        let policy = self.evaluation.policy.policy;
        let linker = self.evaluation.linker;
        let word = self.evaluation.word(name);
        let mut candidates: SmallVec<[Place; 8]> =
            SmallVec::from_slice(linker.members_named(self.evaluation.file, word));
        self.leave_unreachable(expression, &mut candidates);
        let own = self.own_instance(expression);
        if let Some(class) = own {
            let found = self.members_of_heirs(class, &candidates);
            if !found.is_empty() {
                let run = |&place: &Place| (End::Definition(place), Evidence::Dispatch, EdgeKind::Calls);
                return ends.extend(found.iter().map(run));
            }
            // Of those it has nothing to do with, it can only have mixed in a module.
            candidates.retain(|place| linker.is_mixed_in(*place));
        }
        // What nothing types is of a type with all that is asked of it. The own instance is none of the language's own types.
        let builtin = match own {
            Some(_) => &self.evaluation.policy.universal_members,
            None => &self.evaluation.policy.builtin_members,
        };
        let is_builtin = builtin.contains(&word);
        let fitting = self.fitting_members(expression);
        if !fitting.is_empty() && fitting.len() <= policy.guesses_members {
            candidates = SmallVec::from_slice(&fitting);
        } else if is_builtin {
            return;
        }
        self.leave_doubles(&mut candidates);
        if candidates.len() <= policy.guesses_members || self.is_one_family(&candidates) {
            let guesses = candidates
                .iter()
                .map(|&place| (End::Definition(place), Evidence::Candidate, EdgeKind::Calls));
            ends.extend(guesses);
        }
    }

    /// Whether a receiver is one thing by what is written, known or not: the bases, or a constant.
    fn is_told(&self, object: ExpressionId) -> bool {
        match *self.evaluation.facts.expression(object) {
            Expression::Super(_) => true,
            Expression::Free { name, .. } | Expression::Member { name, .. } => {
                let is_constant = self.evaluation.facts.text(name).starts_with(char::is_uppercase);
                is_constant && self.evaluation.facts_of(object).is_empty()
            }
            _ => false,
        }
    }

    /// Leaves out members of types where an instance is asked, and of instances where a type is.
    fn leave_unreachable(&mut self, callee: ExpressionId, members: &mut SmallVec<[Place; 8]>) {
        let Expression::Member { object, .. } = *self.evaluation.facts.expression(callee) else {
            return;
        };
        let linker = self.evaluation.linker;
        let values = self.evaluation.expanded(object);
        for fact in values.facts() {
            match fact.value {
                Value::Instance(_) => members.retain(|member| !linker.is_of_type(*member)),
                // What a module has for instances, a type that it extends has itself.
                Value::Class(_) => members.retain(|member| linker.is_of_type(*member) || linker.is_mixed_in(*member)),
                _ => {}
            }
        }
    }

    /// The type around whose own instance a callee is looked up in.
    fn own_instance(&self, callee: ExpressionId) -> Option<Place> {
        match *self.evaluation.facts.expression(callee) {
            Expression::Free { scope, .. } => self.evaluation.receiver_of(scope).0,
            Expression::Member { object, .. } => self.own_type(object),
            _ => None,
        }
    }

    /// Of the candidates, what instances of the heirs of `class` have: a mixin is run by whoever mixes it in, a base by its heirs.
    fn members_of_heirs(&self, class: Place, candidates: &[Place]) -> SmallVec<[Place; 4]> {
        let linker = self.evaluation.linker;
        let mut found: SmallVec<[Place; 4]> = SmallVec::new();
        if candidates.is_empty() || candidates.len() > MAX_DISPATCH {
            return found;
        }
        let heirs = self.all_heirs(class);
        let is_theirs = |member: &&Place| {
            let owner = linker.definition(**member).and_then(|link| link.owner);
            owner.is_some_and(|owner| heirs.iter().any(|&heir| linker.inherits(heir, owner)))
        };
        found.extend(candidates.iter().filter(is_theirs).copied());
        // What only tests inherit from it says nothing of what the code itself runs.
        if !linker.has_tests(self.evaluation.file) {
            found.retain(|member| !linker.has_tests(member.file));
        }
        found
    }

    /// The types below `class`, however far, up to a bound.
    pub(super) fn all_heirs(&self, class: Place) -> Vec<Place> {
        let linker = self.evaluation.linker;
        let mut heirs = linker.heirs(class).into_vec();
        let mut next = 0;
        while let Some(&heir) = heirs.get(next).filter(|_| heirs.len() < MAX_HEIRS) {
            next += 1;
            for below in linker.heirs(heir) {
                if !heirs.contains(&below) {
                    heirs.push(below);
                }
            }
        }
        heirs
    }

    /// Whether all members override one of them, and are few enough to dispatch to.
    pub(super) fn is_one_family(&self, members: &[Place]) -> bool {
        if members.len() > MAX_DISPATCH {
            return false;
        }
        let linker = self.evaluation.linker;
        let owner = |member: &Place| linker.definition(*member).and_then(|link| link.owner);
        let owners: Option<SmallVec<[Place; 8]>> = members.iter().map(owner).collect();
        owners.is_some_and(|owners| {
            owners.iter().any(|&root| {
                owners
                    .iter()
                    .all(|&other| other == root || linker.inherits(other, root))
            })
        })
    }

    /// Adds the overrides of those heirs that are known to be the receiver of the code around: `self.step()` runs the heir's
    /// `step` where an heir was told to run what is inherited. Only those with the flags `wanted` count.
    pub(super) fn heirs_given(&mut self, callee: ExpressionId, wanted: Flags, ends: &mut Ends) {
        if self.evaluation.policy.policy.dispatch != Dispatch::Abstract {
            return;
        }
        let Expression::Member { object, name } = *self.evaluation.facts.expression(callee) else {
            return;
        };
        let receivers = self.evaluation.facts_of(object);
        let own = receivers.iter().find_map(|fact| match fact.value {
            Value::Instance(class) => Some(class),
            _ => None,
        });
        let parameter = receivers.iter().find_map(|fact| match fact.value {
            Value::Parameter(function, index) => Some((function, index)),
            _ => None,
        });
        let (Some(own), Some((function, index))) = (own, parameter) else {
            return;
        };
        let linker = self.evaluation.linker;
        if linker.definition(function).and_then(|link| link.owner) != Some(own) || linker.heirs(own).is_empty() {
            return;
        }
        let word = self.evaluation.word(name);
        let given = self.evaluation.read(Key::parameter(function, index));
        let mut run: SmallVec<[Place; 4]> = SmallVec::new();
        for fact in given.facts() {
            let Value::Instance(heir) = fact.value else { continue };
            if heir == own || !linker.inherits(heir, own) {
                continue;
            }
            for found in self.evaluation.find_members(heir, false, word) {
                let end = End::Definition(found.member);
                let runs = linker.definition(found.member).is_some_and(|link| match wanted {
                    accessor if accessor != Flags::default() => link.flags.contains(accessor),
                    _ => is_function(link.kind),
                });
                if runs && !ends.iter().any(|(known, ..)| *known == end) && !run.contains(&found.member) {
                    run.push(found.member);
                }
            }
        }
        self.leave_doubles(&mut run);
        // Several of other files are a part of what the overrides of the member say in full.
        let file = self.evaluation.file;
        if run.iter().filter(|member| member.file != file).count() > 1 {
            run.retain(|member| member.file == file);
        }
        ends.extend(
            run.into_iter()
                .map(|member| (End::Definition(member), Evidence::Dispatch, EdgeKind::Calls)),
        );
    }

    /// Leaves out what stands in for something in tests, where it is not a test that calls and there is something real.
    fn leave_doubles<const N: usize>(&self, members: &mut SmallVec<[Place; N]>)
    where
        [Place; N]: smallvec::Array<Item = Place>,
    {
        let linker = self.evaluation.linker;
        if members.is_empty() || linker.has_tests(self.evaluation.file) {
            return;
        }
        let is_double = |member: &Place| linker.has_tests(member.file);
        if !members.iter().all(is_double) {
            members.retain(|member| !is_double(member));
        }
    }

    /// Adds the constructors of heirs, where a class makes an instance of whatever it is told to be: a bare `new`.
    pub(super) fn heirs_made(&mut self, class: Place, expression: ExpressionId, ends: &mut Ends) {
        let policy = self.evaluation.policy.policy;
        let own = matches!(self.evaluation.facts.expression(expression), Expression::Definition(_));
        if !own || !policy.singletons_apart {
            return;
        }
        let linker = self.evaluation.linker;
        let mut heirs: Vec<Place> = linker.heirs(class).into_vec();
        let mut next = 0;
        while next < heirs.len() && next <= MAX_DISPATCH {
            for below in linker.heirs(heirs[next]) {
                if !heirs.contains(&below) {
                    heirs.push(below);
                }
            }
            next += 1;
        }
        if heirs.len() > MAX_DISPATCH {
            return;
        }
        for heir in heirs {
            for constructor in linker.constructors(heir) {
                let end = End::Definition(constructor);
                if !ends.iter().any(|(known, ..)| *known == end) {
                    ends.push((end, Evidence::Dispatch, EdgeKind::Calls));
                }
            }
        }
    }

    /// The heirs that the receiver of a call may be instead of its declared type, where that is known exactly: it is made in place,
    /// or a variable holds it that nothing but new instances are put into.
    pub(super) fn made_exactly(&self, callee: ExpressionId) -> Option<SmallVec<[Place; 2]>> {
        let facts = self.evaluation.facts;
        let Expression::Member { object, .. } = *facts.expression(callee) else {
            return None;
        };
        let (mut made, mut declared) = (SmallVec::new(), false);
        match *facts.expression(object) {
            Expression::Bound { binding, .. } => {
                for source in self.evaluation.bindings.all(binding.0) {
                    match source {
                        Source::Type(_) => declared = true,
                        Source::Value(value) => self.add_made(value, &mut made)?,
                        _ => return None,
                    }
                }
                if made.is_empty() {
                    return None;
                }
            }
            _ => self.add_made(object, &mut made)?,
        }
        // Without a declared type, the receiver is worth what was made and nothing else.
        if !declared {
            made.clear();
        }
        Some(made)
    }

    /// Adds the type of a new instance; `None` if the expression is anything else.
    fn add_made(&self, expression: ExpressionId, made: &mut SmallVec<[Place; 2]>) -> Option<()> {
        let is_class = |fact: &Fact| matches!(fact.value, Value::Class(_));
        let makes = match *self.evaluation.facts.expression(expression) {
            Expression::New { .. } => true,
            Expression::Call { callee, .. } => self.evaluation.facts_of(callee).iter().all(is_class),
            _ => false,
        };
        let values = self.evaluation.facts_of(expression);
        if !makes || values.is_empty() {
            return None;
        }
        for fact in values {
            match fact.value {
                Value::Instance(class) => made.push(class),
                _ => return None,
            }
        }
        Some(())
    }

    /// What a call of `function` on a `declared` type runs on an instance of one of the types `made`.
    pub(super) fn dispatch_exactly(&mut self, function: Place, declared: Place, made: &[Place], ends: &mut Ends) {
        let linker = self.evaluation.linker;
        let Some(link) = linker.definition(function) else {
            return;
        };
        for &class in made {
            let members = linker.inherited_members(class, link.name);
            if members.contains(&function) || !linker.inherits(class, declared) {
                continue;
            }
            for member in members {
                let fits = !self.evaluation.policy.policy.exact_arguments || linker.overrides(member, function);
                let end = End::Definition(member);
                if fits && !ends.iter().any(|(known, ..)| *known == end) {
                    ends.push((end, Evidence::FollowedValue, EdgeKind::Calls));
                }
            }
        }
    }

    pub(super) fn dispatch_abstract(&mut self, function: Place, owner: Place, ends: &mut Ends) {
        let link = self.evaluation.linker.definition(function);
        if link.is_some_and(|link| link.flags.contains(Flags::ABSTRACT)) {
            self.dispatch(function, owner, ends);
        }
    }

    /// Overrides below the receiver's type that the call may run instead.
    pub(super) fn dispatch(&mut self, function: Place, class: Place, ends: &mut Ends) {
        let linker = self.evaluation.linker;
        let Some(link) = linker.definition(function) else {
            return;
        };
        // Where overloads are told apart, so are members that nothing can override.
        let fixed = link.private || link.flags.contains(Flags::STATIC) || link.flags.contains(Flags::FINAL);
        if fixed && self.evaluation.policy.policy.exact_arguments {
            return;
        }
        // Which extension is meant, the type that is written says.
        if self.evaluation.policy.policy.extensions && linker.is_extension(function) {
            return;
        }
        let bodiless = link.flags.contains(Flags::ABSTRACT) || link.flags.contains(Flags::DECLARATION);
        if !bodiless && self.evaluation.policy.policy.dispatch == Dispatch::Abstract {
            return;
        }
        let mut found: SmallVec<[Place; 8]> = SmallVec::new();
        let mut queue: Vec<Place> = linker.heirs(class).into_vec();
        // Where having the methods is what counts, embedding a type alone does not make another one of it.
        let structural = self.evaluation.policy.policy.structural;
        queue.retain(|&heir| !structural || linker.satisfied(heir).contains(&class));
        let mut next = 0;
        while next < queue.len() && next < 256 {
            let heir = queue[next];
            next += 1;
            // An heir without a member of its own runs what it inherits, from another base perhaps.
            for member in linker.inherited_members(heir, link.name) {
                let runs = linker
                    .definition(member)
                    .is_some_and(|link| !link.flags.contains(Flags::ABSTRACT));
                let runs = runs && !(self.evaluation.policy.policy.extensions && linker.is_extension(member));
                let fits = !self.evaluation.policy.policy.exact_arguments || linker.overrides(member, function);
                if member != function && runs && fits && !found.contains(&member) {
                    found.push(member);
                }
            }
            for below in linker.heirs(heir) {
                if !structural && !queue.contains(&below) {
                    queue.push(below);
                }
            }
        }
        self.leave_doubles(&mut found);
        // Past a handful of implementations the list says nothing about this call.
        if found.len() <= MAX_DISPATCH {
            ends.extend(
                found
                    .into_iter()
                    .map(|member| (End::Definition(member), Evidence::Dispatch, EdgeKind::Calls)),
            );
        }
    }
}
