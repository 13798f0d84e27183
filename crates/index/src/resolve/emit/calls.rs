//! Calls: from what a callee can be worth to the definitions that run.

use smallvec::SmallVec;
use syntax::facts::{Bound, Expression, ExpressionId, Flags, Kind, List, Reference, Role};

use super::{Emission, End, Ends, arguments_of};
use crate::model::{EdgeKind, Evidence};
use crate::resolve::linker::decorated_name;
use crate::resolve::links::{is_function, is_type, is_variable};
use crate::resolve::scopes::as_sure;
use crate::resolve::value::{Fact, Place, Set, Value};
use crate::resolve::words::Key;

/// Up to how many functions of other files a call of a parameter is told to call.
const MAX_PASSED: usize = 3;

impl Emission<'_, '_> {
    /// What runs when a decorator is applied: the decorator, or what a call of it gives. For decorators of other files the
    /// relation says it all: only a call that is written counts.
    pub(super) fn decoration(&mut self, reference: Reference) {
        let call = self.calls[reference.expression.index()];
        let called = call != u32::MAX;
        let applied = [
            (Some(reference.expression), called),
            (called.then_some(ExpressionId(call)), false),
        ];
        let mut ends = Ends::new();
        for (expression, written) in applied {
            let Some(expression) = expression else { continue };
            for &fact in self.evaluation.expanded(expression).facts() {
                if written || fact.value.file().is_none_or(|file| file == self.evaluation.file) {
                    self.callee(fact, reference, 2, &mut ends);
                }
            }
        }
        self.push(reference.within, reference.at, &ends);
    }

    /// What runs without being named. Only functions of the tree count: nobody looks for the others.
    pub(super) fn implicit(&mut self, reference: Reference) {
        let mut ends = Ends::new();
        for &fact in self.evaluation.expanded(reference.expression).facts() {
            match fact.value {
                Value::Method(function, _) | Value::MethodOf(function, _) => {
                    ends.push((End::Definition(function), fact.evidence, EdgeKind::Calls));
                }
                Value::Function(function) if self.evaluation.policy.policy.unit_values => {
                    ends.push((End::Definition(function), fact.evidence, EdgeKind::Calls));
                }
                Value::Super(_) => self.callee(fact, reference, 0, &mut ends),
                _ => {}
            }
        }
        self.push(reference.within, reference.at, &ends);
    }

    pub(super) fn call(&mut self, reference: Reference) {
        let (count, list) = (arguments_of(reference), self.list_of(reference));
        let values = match self.member_before(reference) {
            Some(values) => values,
            None => self.evaluation.expanded(reference.expression),
        };
        let values = self.evaluation.narrowed(values, reference.expression, count, list);
        let values = self
            .evaluation
            .leave_receivers(values, reference.expression, reference.within);
        let values = self.evaluation.fitting(values, count, list);
        let values = self.as_named(values);
        let mut ends = Ends::new();
        let values = self.made_variable(reference.expression, values, &mut ends);
        if self.evaluation.policy.policy.runs_decorators {
            // `object.property()` reads the property before it calls what that gives.
            let found = self.definitions_of(reference.expression);
            let mut read: Ends = found
                .into_iter()
                .map(|(end, evidence)| (end, evidence, EdgeKind::Reads))
                .collect();
            self.accessors(reference.expression, Flags::GETTER, &mut read);
            ends.extend(read.into_iter().filter(|(_, _, kind)| *kind == EdgeKind::Calls));
        }
        let mut known = false;
        for &fact in values.facts() {
            known |= matches!(fact.value, Value::Foreign | Value::Many);
            self.callee(fact, reference, 2, &mut ends);
        }
        if reference.role == Role::Macro && values.is_empty() {
            self.seen_macros(reference.expression, &mut ends);
        }
        self.made_variants(reference.expression, values.facts(), &mut ends);
        self.ambiguous(reference.expression, &mut ends);
        self.heirs_given(reference.expression, Flags::default(), &mut ends);
        known |= !ends.is_empty() || !values.is_empty();
        let policy = self.evaluation.policy.policy;
        if policy
            .calls_variables
            .contains(&self.evaluation.facts.language.as_str())
        {
            self.variables(reference.expression, &mut ends);
        }
        if !known && policy.guesses_members > 0 {
            self.guess(reference.expression, &mut ends);
        }
        self.callbacks(reference.expression, values.facts(), &mut ends);
        self.set_back(&mut ends);
        if ends.is_empty() {
            if !known {
                self.resolved.unresolved_calls += 1;
            }
            return;
        }
        self.push(reference.within, reference.at, &ends);
    }

    /// The members that a bare call means although the file has a function (or a type) of that name: those that the type around it inherits, or that are
    /// written elsewhere. What the type's own body has was told apart when the file was read.
    fn member_before(&mut self, reference: Reference) -> Option<Set> {
        let facts = self.evaluation.facts;
        if !self.evaluation.policy.policy.bare_members {
            return None;
        }
        let Expression::Bound { binding, .. } = *facts.expression(reference.expression) else {
            return None;
        };
        let binding = facts.bindings.get(binding.index())?;
        let is_outside = |parent| facts.definition(parent).kind == Kind::Module;
        let policy = self.evaluation.policy.policy;
        match binding.to {
            Bound::Definition(function) => {
                let function = facts.definition(function);
                // Nobody calls a type that is called like a member.
                let is_type = policy.members_named_as_types && reference.role == Role::Call && is_type(function.kind);
                if !(is_function(function.kind) || is_type) || !function.parent.is_none_or(is_outside) {
                    return None;
                }
            }
            Bound::Import(_) => {}
            _ => return None,
        }
        let is_method = |fact: &Fact| {
            matches!(
                fact.value,
                Value::Method(..) | Value::MethodOf(..) | Value::ClassMethod(..)
            )
        };
        let mut within = reference.within;
        while let Some(lambda) = within.filter(|&id| facts.definition(id).kind == Kind::Lambda) {
            if self.evaluation.policy.policy.lambda_receivers {
                let (place, text) = (self.evaluation.place(lambda), facts.text(binding.name));
                let word = self.evaluation.word(binding.name);
                let members = self.evaluation.member_of_lambda(place, word, text);
                if members.facts().iter().any(is_method) {
                    let named = self.evaluation.expanded(reference.expression);
                    return Some(as_sure(members, &named));
                }
            }
            within = facts.definition(lambda).parent;
        }
        let around = self.evaluation.place(within?);
        let type_ = self.evaluation.linker.definition(around)?.owner?;
        let name = self.evaluation.word(binding.name);
        let this = [Fact::new(Value::Instance(type_), Evidence::DeclaredReceiver)];
        let members = self.evaluation.member(&this, name, facts.text(binding.name));
        members.facts().iter().any(is_method).then_some(members)
    }

    /// Adds the macros of that name which the file sees without importing them.
    fn seen_macros(&self, callee: ExpressionId, ends: &mut Ends) {
        if let Expression::Free { name, .. } = *self.evaluation.facts.expression(callee) {
            let name = self.evaluation.word(name);
            for &place in self.evaluation.linker.macros_named(self.evaluation.file, name) {
                ends.push((End::Definition(place), Evidence::Package, EdgeKind::Calls));
            }
        }
    }

    /// Adds the members of enums that are called to make a value: `Shape::Circle(1)`.
    fn made_variants(&mut self, callee: ExpressionId, values: &[Fact], ends: &mut Ends) {
        let is_instance = |fact: &Fact| matches!(fact.value, Value::Instance(_));
        if !self.evaluation.policy.policy.unit_values || !values.iter().any(is_instance) {
            return;
        }
        for (end, evidence) in self.definitions_of(callee) {
            let End::Definition(place) = end else { continue };
            let kind = self.evaluation.linker.definition(place).map(|link| link.kind);
            if kind == Some(Kind::EnumMember) {
                ends.push((end, evidence, EdgeKind::Instantiates));
            }
        }
    }

    /// Functions that many files pass for a parameter are candidates and no more: none of them is what this call is about.
    fn ambiguous(&self, callee: ExpressionId, ends: &mut Ends) {
        let file = self.evaluation.file;
        let is_parameter = |fact: &Fact| matches!(fact.value, Value::Parameter(..));
        let passed = |evidence: Evidence, end: End| {
            evidence == Evidence::FollowedValue && matches!(end, End::Definition(place) if place.file != file)
        };
        // A class and its constructor are one candidate.
        let count = ends
            .iter()
            .filter(|(end, evidence, kind)| *kind == EdgeKind::Calls && passed(*evidence, *end))
            .count();
        if count > MAX_PASSED && self.evaluation.facts_of(callee).iter().any(is_parameter) {
            for (_, evidence, _) in ends
                .iter_mut()
                .filter(|(_, evidence, _)| *evidence == Evidence::FollowedValue)
            {
                *evidence = Evidence::Candidate;
            }
        }
    }

    /// Of several definitions of one function, those that no program has together are not equal: what a generator reads, and what is
    /// compiled only where something else is defined, are candidates beside the others.
    fn set_back(&self, ends: &mut Ends) {
        if ends.len() < 2 || !self.evaluation.policy.policy.has_alternatives {
            return;
        }
        let linker = self.evaluation.linker;
        let places: SmallVec<[Place; 4]> = ends
            .iter()
            .filter_map(|(end, _, _)| match end {
                End::Definition(place) => Some(*place),
                _ => None,
            })
            .collect();
        for (end, evidence, _) in ends {
            let End::Definition(place) = *end else { continue };
            let (mut before, mut behind) = (false, false);
            for &other in &places {
                before |= linker.is_template(place.file, other.file) && linker.declares_alike(place, other)
                    || linker.is_alternative(place, other);
                behind |= linker.is_alternative(other, place);
            }
            if before {
                *evidence = Evidence::Candidate;
            } else if behind {
                *evidence = (*evidence).max(Evidence::Dispatch);
            }
        }
    }

    /// Adds the variable of another file that a call names, when it holds nothing but what something made: closures, instances,
    /// results of calls. Gives the values that remain to be called; what was made is still mentioned.
    fn made_variable(&mut self, callee: ExpressionId, values: Set, ends: &mut Ends) -> Set {
        let is_name = matches!(
            self.evaluation.facts.expression(callee),
            Expression::Bound { .. } | Expression::Member { .. }
        );
        let made = |fact: &Fact| match fact.value {
            Value::Function(_) | Value::Method(..) => fact.evidence > Evidence::Inherited,
            Value::Instance(_) | Value::Foreign | Value::Many | Value::Parameter(..) => true,
            _ => false,
        };
        if !self.evaluation.policy.policy.calls_made_variables || !is_name || !values.facts().iter().all(made) {
            return values;
        }
        let mut variables = Ends::new();
        for (end, evidence) in self.definitions_of(callee) {
            if let End::Definition(place) = end
                && place.file != self.evaluation.file
                && self.is_made(place, &values)
            {
                variables.push((end, evidence, EdgeKind::Calls));
            }
        }
        if variables.is_empty() {
            return values;
        }
        ends.extend(variables);
        let mut rest = Set::default();
        for &fact in values.facts() {
            match fact.value {
                Value::Function(function) | Value::Method(function, _) => {
                    ends.push((End::Definition(function), fact.evidence, EdgeKind::References));
                }
                Value::Instance(class) => {
                    let call_member = self.evaluation.policy.call_member;
                    for found in self.evaluation.find_members(class, false, call_member) {
                        ends.push((End::Definition(found.member), fact.evidence, EdgeKind::References));
                    }
                }
                _ => rest.insert(fact),
            }
        }
        rest
    }

    /// Whether a definition is a variable that is no other name of what it holds.
    fn is_made(&self, variable: Place, values: &Set) -> bool {
        let linker = self.evaluation.linker;
        let is_closure = |function: Place| {
            let around = linker.definition(function).and_then(|link| {
                linker.definition(Place {
                    file: function.file,
                    id: link.parent,
                })
            });
            around.is_some_and(|around| is_function(around.kind))
        };
        let Some(link) = linker.definition(variable) else {
            return false;
        };
        if !is_variable(link.kind) || link.flags.contains(Flags::GETTER) {
            return false;
        }
        let made_here = link.owner.is_none() && linker.aliases(variable.file, link.name).is_empty();
        made_here
            || values.facts().iter().all(|fact| match fact.value {
                Value::Function(function) | Value::Method(function, _) => is_closure(function),
                _ => true,
            })
    }

    /// Of a decorated function, the function itself, and what decorators of this file put before it when both are here: what
    /// those of another file do is told there, not by every caller.
    fn as_named(&mut self, values: Set) -> Set {
        let (linker, file) = (self.evaluation.linker, self.evaluation.file);
        let direct = |fact: &Fact| fact.evidence <= Evidence::Inherited;
        let decorated = |fact: &Fact| match fact.value {
            Value::Function(place) | Value::Method(place, _) | Value::ClassMethod(place, _) => {
                let link = linker.definition(place);
                link.is_some_and(|link| link.decorated).then_some(place)
            }
            _ => None,
        };
        let named: SmallVec<[(Place, bool); 2]> = (values.facts().iter())
            .filter_map(|fact| Some((decorated(fact)?, direct(fact))))
            .collect();
        if named.is_empty() {
            return values;
        }
        let is_direct = named.iter().any(|&(_, direct)| direct);
        let here = named.iter().all(|&(place, direct)| !direct || place.file == file);
        // Where the function itself was followed, so was what stands before it: only that is left out.
        let mut before = Set::default();
        for &(place, _) in named.iter().filter(|(place, direct)| !direct && place.file != file) {
            let key = Key::variable(place.file, decorated_name(place));
            before.extend(self.evaluation.read(key).facts());
        }
        let is_before = |fact: &Fact| before.facts().iter().any(|known| known.value == fact.value);
        let mut kept = Set::default();
        for &fact in values.facts() {
            let is_here = fact.value.file().is_none_or(|found| found == file);
            let follows = if is_direct {
                here && is_here
            } else {
                is_here || !is_before(&fact)
            };
            if direct(&fact) || follows {
                kept.insert(fact);
            }
        }
        kept
    }

    /// What calling one value runs.
    pub(super) fn callee(&mut self, fact: Fact, reference: Reference, depth: u8, ends: &mut Ends) {
        let evidence = fact.evidence;
        match fact.value {
            Value::Function(function) => {
                let constructs = reference.role == Role::Instantiate;
                let kind = if constructs {
                    EdgeKind::Instantiates
                } else {
                    EdgeKind::Calls
                };
                ends.push((End::Definition(function), evidence, kind));
                // What an abstract function of a type parameter's bound stands for is told by the implementations.
                if let Some(owner) = self.evaluation.linker.definition(function).and_then(|link| link.owner)
                    && !constructs
                {
                    self.dispatch_abstract(function, owner, &mut *ends);
                }
                if constructs {
                    ends.push((End::Definition(function), evidence, EdgeKind::Calls));
                }
            }
            Value::Method(function, class) => {
                ends.push((End::Definition(function), evidence, EdgeKind::Calls));
                match self.made_exactly(reference.expression) {
                    Some(made) => self.dispatch_exactly(function, class, &made, ends),
                    // What overrides it is passed over.
                    None if self.is_of_bases(reference.expression) => {}
                    None => self.dispatch(function, class, ends),
                }
            }
            Value::ClassMethod(function, _) | Value::MethodOf(function, _) => {
                ends.push((End::Definition(function), evidence, EdgeKind::Calls));
            }
            // A name that means a member as well as a type is called for the member.
            Value::Class(_) if reference.role == Role::Call && self.evaluation.policy.policy.members_named_as_types => {
            }
            Value::Class(class) => {
                ends.push((End::Definition(class), evidence, EdgeKind::Instantiates));
                for constructor in self
                    .evaluation
                    .constructors(class, arguments_of(reference), self.list_of(reference))
                {
                    let owner = self
                        .evaluation
                        .linker
                        .definition(constructor)
                        .and_then(|link| link.owner);
                    let step = if owner == Some(class) {
                        evidence
                    } else {
                        evidence.max(Evidence::Inherited)
                    };
                    ends.push((End::Definition(constructor), step, EdgeKind::Calls));
                }
                self.heirs_made(class, reference.expression, ends);
            }
            // `this(…)` runs another constructor of the type.
            Value::Instance(class) if self.is_this(reference.expression) => {
                // An heir's instance runs the constructors of the type that is written around.
                if self.own_type(reference.expression).is_some_and(|own| own != class) {
                    return;
                }
                for constructor in self
                    .evaluation
                    .constructors(class, arguments_of(reference), self.list_of(reference))
                {
                    ends.push((End::Definition(constructor), evidence, EdgeKind::Calls));
                }
            }
            Value::Instance(class) => {
                for found in self
                    .evaluation
                    .find_members(class, false, self.evaluation.policy.call_member)
                {
                    let evidence = evidence.max(Evidence::DeclaredReceiver);
                    ends.push((End::Definition(found.member), evidence, EdgeKind::Calls));
                }
            }
            Value::Super(class) => {
                let constructors = self.evaluation.base_constructors(class);
                for constructor in
                    self.evaluation
                        .accepting(constructors, arguments_of(reference), self.list_of(reference))
                {
                    ends.push((End::Definition(constructor), Evidence::Inherited, EdgeKind::Calls));
                }
            }
            Value::External(word) => ends.push((End::External(word), evidence, EdgeKind::Calls)),
            Value::Module(file) if depth > 0 => {
                for &fact in self.evaluation.whole_export(file).facts() {
                    self.callee(fact, reference, depth - 1, ends);
                }
            }
            _ => {}
        }
    }

    /// Adds the variable that a call names, unless its definition is the function found already.
    pub(super) fn variables(&mut self, expression: ExpressionId, ends: &mut Ends) {
        for (end, evidence) in self.definitions_of(expression) {
            let End::Definition(place) = end else { continue };
            let link = self.evaluation.linker.definition(place);
            if link.is_some_and(|link| is_variable(link.kind) && !link.flags.contains(Flags::GETTER)) {
                ends.push((end, evidence, EdgeKind::Calls));
            }
        }
    }

    /// The arguments of the call whose callee is mentioned.
    pub(super) fn list_of(&self, reference: Reference) -> Option<List> {
        let call = *self
            .calls
            .get(reference.expression.index())
            .filter(|&&call| call != u32::MAX)?;
        match *self.evaluation.facts.expression(ExpressionId(call)) {
            Expression::Call { arguments, .. } | Expression::New { arguments, .. } => Some(arguments),
            _ => None,
        }
    }

    /// The type around a `this`.
    pub(super) fn own_type(&self, expression: ExpressionId) -> Option<Place> {
        match *self.evaluation.facts.expression(expression) {
            Expression::This(scope) => self.evaluation.receiver_of(scope).0,
            _ => None,
        }
    }

    /// Whether a member is looked up in the bases: `super.close()`.
    fn is_of_bases(&self, callee: ExpressionId) -> bool {
        let Expression::Member { object, .. } = *self.evaluation.facts.expression(callee) else {
            return false;
        };
        let values = self.evaluation.facts_of(object);
        values.iter().any(|fact| matches!(fact.value, Value::Super(_)))
    }

    pub(super) fn is_this(&self, expression: ExpressionId) -> bool {
        matches!(self.evaluation.facts.expression(expression), Expression::This(_))
    }
}
