//! From evaluated expressions to edges.
//!
//! A call becomes edges to what its callee can be worth; every other mention becomes an edge to the definition that the
//! name itself stands for. Structure (containment, inheritance, overrides, imports, decorators) is added from the links.

use smallvec::SmallVec;
use syntax::facts::{
    BaseKind, Bound, DefinitionId, Expression, ExpressionId, FileFacts, Flags, ImportForm, Kind, List, Position,
    Reference, Role,
};

use super::evaluate::Evaluation;
use super::languages::{Builtin, Callbacks, Dispatch, Operation};
use super::linker::Found;
use super::links::{ModuleTarget, NONE, is_function, is_type, is_variable};
use super::value::{Fact, Place, Value};
use super::words::{Key, Word};
use crate::model::{Edge, EdgeKind, Evidence, FileId, ResolvedFile, SymbolRef, Target};

/// Most implementations that one call is dispatched to.
const MAX_DISPATCH: usize = 24;

/// A possible end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Definition(Place),
    File(u32),
    External(Word),
}

type Ends = SmallVec<[(End, Evidence, EdgeKind); 4]>;

/// The edges of the evaluated file.
pub(super) fn edges(evaluation: &mut Evaluation<'_>) -> ResolvedFile {
    let mut emission = Emission {
        calls: vec![u32::MAX; evaluation.facts.expressions.len()],
        decorated: decorated(evaluation.facts),
        evaluation,
        resolved: ResolvedFile::default(),
    };
    emission.index_calls();
    emission.structure();
    emission.imports();
    for index in 0..emission.evaluation.facts.references.len() {
        emission.reference(emission.evaluation.facts.references[index]);
    }
    let mut resolved = emission.resolved;
    resolved.edges.sort_unstable_by(|left, right| {
        let by_place = (left.from, left.kind, &left.to, left.at).cmp(&(right.from, right.kind, &right.to, right.at));
        by_place
            .then_with(|| left.origin.cmp(&right.origin))
            .then_with(|| right.confidence.cmp(&left.confidence))
    });
    resolved.edges.dedup_by(|later, first| {
        (later.from, later.kind, &later.to, later.at) == (first.from, first.kind, &first.to, first.at)
    });
    resolved
}

struct Emission<'e, 'a> {
    evaluation: &'e mut Evaluation<'a>,
    /// By callee: the call.
    calls: Vec<u32>,
    /// By the expression of a decorator: the definition that it decorates. Empty when there is none.
    decorated: Vec<u32>,
    resolved: ResolvedFile,
}

fn decorated(facts: &FileFacts) -> Vec<u32> {
    if facts
        .definitions
        .iter()
        .all(|definition| definition.decorators.is_empty())
    {
        return Vec::new();
    }
    let mut decorated = vec![NONE; facts.expressions.len()];
    for (id, definition) in facts.definitions.iter().enumerate() {
        for &decorator in &definition.decorators {
            let mut at = decorator;
            decorated[at.index()] = id as u32;
            if let Expression::Call { callee, .. } = *facts.expression(at) {
                at = callee;
                decorated[at.index()] = id as u32;
            }
        }
    }
    decorated
}

impl Emission<'_, '_> {
    fn index_calls(&mut self) {
        for (index, expression) in self.evaluation.facts.expressions.iter().enumerate() {
            if let Expression::Call { callee, .. } | Expression::New { type_: callee, .. } = *expression
                && let Some(slot) = self.calls.get_mut(callee.index())
            {
                *slot = index as u32;
            }
        }
    }

    fn reference(&mut self, reference: Reference) {
        match reference.role {
            Role::Call | Role::Instantiate | Role::Macro => self.call(reference),
            // Applying a decorator is a relation of its own, and where decorators run, a call that the code around makes.
            Role::Decorate => {
                let within = self
                    .decorated
                    .get(reference.expression.index())
                    .copied()
                    .unwrap_or(NONE);
                let within = if within == NONE {
                    reference.within
                } else {
                    Some(DefinitionId(within))
                };
                self.mention(Reference { within, ..reference }, EdgeKind::Decorated);
                if let Some(id) = within.filter(|_| self.evaluation.policy.policy.runs_decorators) {
                    let around = self.evaluation.facts.definition(id).parent;
                    self.decoration(Reference {
                        within: around,
                        ..reference
                    });
                }
            }
            Role::Implicit => self.implicit(reference),
            Role::Read => self.mention(reference, EdgeKind::Reads),
            Role::Write => self.mention(reference, EdgeKind::Writes),
            Role::Type => self.mention(reference, EdgeKind::References),
            Role::Inherit => {}
        }
    }

    /// What runs when a decorator is applied: the decorator, or what a call of it gives. For decorators of other files the
    /// relation says it all: only a call that is written counts.
    fn decoration(&mut self, reference: Reference) {
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
    fn implicit(&mut self, reference: Reference) {
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

    /// Adds the accessors that a mention of a property runs.
    fn accessors(&mut self, expression: ExpressionId, flag: Flags, ends: &mut Ends) {
        let Expression::Member { object, name } = *self.evaluation.facts.expression(expression) else {
            return;
        };
        let linker = self.evaluation.linker;
        let has = |place: Place| linker.definition(place).is_some_and(|link| link.flags.contains(flag));
        for (end, evidence, _) in ends.clone() {
            let End::Definition(place) = end else { continue };
            let Some(link) = linker.definition(place) else { continue };
            let accessor = match link.owner {
                _ if has(place) => Some(place),
                Some(owner) => linker
                    .own_members(owner, link.name)
                    .into_iter()
                    .find(|&member| has(member)),
                None => None,
            };
            ends.extend(accessor.map(|accessor| (End::Definition(accessor), evidence, EdgeKind::Calls)));
        }
        let word = self.evaluation.word(name);
        for fact in self.evaluation.expanded(object).facts() {
            let Value::Object(object) = fact.value else { continue };
            for held in self.evaluation.read(Key::content(object, word)).facts() {
                if let Value::Function(function) = held.value
                    && has(function)
                {
                    ends.push((End::Definition(function), Evidence::FollowedValue, EdgeKind::Calls));
                }
            }
        }
    }

    fn call(&mut self, reference: Reference) {
        let values = self.evaluation.expanded(reference.expression);
        let values = self
            .evaluation
            .fitting(values, arguments_of(reference), self.list_of(reference));
        let values = self.as_named(values);
        let mut ends = Ends::new();
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
        self.heirs_given(reference.expression, &mut ends);
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
        if ends.is_empty() {
            if !known {
                self.resolved.unresolved_calls += 1;
            }
            return;
        }
        self.push(reference.within, reference.at, &ends);
    }

    /// Of a decorated function that another file defines, the function itself: what its decorators put before it is told
    /// there, not by every caller.
    fn as_named(&self, values: super::value::Set) -> super::value::Set {
        let linker = self.evaluation.linker;
        let elsewhere = |fact: &Fact| {
            let decorated = |place: Place| linker.definition(place).is_some_and(|link| link.decorated);
            fact.evidence <= Evidence::Inherited
                && match fact.value {
                    Value::Function(place) | Value::Method(place, _) | Value::ClassMethod(place, _) => {
                        place.file != self.evaluation.file && decorated(place)
                    }
                    _ => false,
                }
        };
        if !values.facts().iter().any(elsewhere) {
            return values;
        }
        let mut named = super::value::Set::default();
        for &fact in values
            .facts()
            .iter()
            .filter(|fact| fact.evidence <= Evidence::Inherited)
        {
            named.insert(fact);
        }
        named
    }

    /// What calling one value runs.
    fn callee(&mut self, fact: Fact, reference: Reference, depth: u8, ends: &mut Ends) {
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
                self.dispatch(function, class, ends);
            }
            Value::ClassMethod(function, _) | Value::MethodOf(function, _) => {
                ends.push((End::Definition(function), evidence, EdgeKind::Calls));
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

    /// Adds the members of the called name in the tree, when they are few and nothing is known of the receiver.
    fn guess(&mut self, expression: ExpressionId, ends: &mut Ends) {
        let (Expression::Member { name, .. } | Expression::Free { name, .. }) =
            *self.evaluation.facts.expression(expression)
        else {
            return;
        };
        let policy = self.evaluation.policy.policy;
        if policy.builtin_members.contains(&self.evaluation.facts.text(name)) {
            return;
        }
        let word = self.evaluation.word(name);
        let candidates = self.evaluation.linker.members_named(self.evaluation.file, word);
        if candidates.len() <= policy.guesses_members || self.is_one_family(candidates) {
            let guesses = candidates
                .iter()
                .map(|&place| (End::Definition(place), Evidence::Candidate, EdgeKind::Calls));
            ends.extend(guesses);
        }
    }

    /// Whether all members override one of them, and are few enough to dispatch to.
    fn is_one_family(&self, members: &[Place]) -> bool {
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

    /// Adds the variable that a call names, unless its definition is the function found already.
    fn variables(&mut self, expression: ExpressionId, ends: &mut Ends) {
        for (end, evidence) in self.definitions_of(expression) {
            let End::Definition(place) = end else { continue };
            let link = self.evaluation.linker.definition(place);
            if link.is_some_and(|link| is_variable(link.kind) && !link.flags.contains(Flags::GETTER)) {
                ends.push((end, evidence, EdgeKind::Calls));
            }
        }
    }

    /// The arguments of the call whose callee is mentioned.
    fn list_of(&self, reference: Reference) -> Option<List> {
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
    fn own_type(&self, expression: ExpressionId) -> Option<Place> {
        match *self.evaluation.facts.expression(expression) {
            Expression::This(scope) => self.evaluation.receiver_of(scope).0,
            _ => None,
        }
    }

    fn is_this(&self, expression: ExpressionId) -> bool {
        matches!(self.evaluation.facts.expression(expression), Expression::This(_))
    }

    /// Adds the overrides of those heirs that are known to be the receiver of the code around: `self.step()` runs the heir's
    /// `step` where an heir was told to run what is inherited.
    fn heirs_given(&mut self, callee: ExpressionId, ends: &mut Ends) {
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
        for fact in given.facts() {
            let Value::Instance(heir) = fact.value else { continue };
            if heir == own || !linker.inherits(heir, own) {
                continue;
            }
            for found in self.evaluation.find_members(heir, false, word) {
                let end = End::Definition(found.member);
                let is_function = linker
                    .definition(found.member)
                    .is_some_and(|link| is_function(link.kind));
                if is_function && !ends.iter().any(|(known, ..)| *known == end) {
                    ends.push((end, Evidence::Dispatch, EdgeKind::Calls));
                }
            }
        }
    }

    /// Adds the constructors of heirs, where a class makes an instance of whatever it is told to be: a bare `new`.
    fn heirs_made(&mut self, class: Place, expression: ExpressionId, ends: &mut Ends) {
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

    fn dispatch_abstract(&mut self, function: Place, owner: Place, ends: &mut Ends) {
        let link = self.evaluation.linker.definition(function);
        if link.is_some_and(|link| link.flags.contains(Flags::ABSTRACT)) {
            self.dispatch(function, owner, ends);
        }
    }

    /// Overrides below the receiver's type that the call may run instead.
    fn dispatch(&mut self, function: Place, class: Place, ends: &mut Ends) {
        let linker = self.evaluation.linker;
        let Some(link) = linker.definition(function) else {
            return;
        };
        // Where overloads are told apart, so are members that nothing can override.
        let fixed = link.private || link.flags.contains(Flags::STATIC) || link.flags.contains(Flags::FINAL);
        if fixed && self.evaluation.policy.policy.exact_arguments {
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
        // Past a handful of implementations the list says nothing about this call.
        if found.len() <= MAX_DISPATCH {
            ends.extend(
                found
                    .into_iter()
                    .map(|member| (End::Definition(member), Evidence::Dispatch, EdgeKind::Calls)),
            );
        }
    }

    /// Functions that a known higher-order function or method calls for us.
    fn callbacks(&mut self, callee: ExpressionId, values: &[Fact], ends: &mut Ends) {
        let call = self.calls[callee.index()];
        if call == u32::MAX {
            return;
        }
        let policy = self.evaluation.policy;
        let builtin = values.iter().find_map(|fact| match fact.value {
            Value::External(word) => policy.builtins.get(&word).copied(),
            _ => None,
        });
        let method = match *self.evaluation.facts.expression(callee) {
            Expression::Member { name, .. } => policy.methods.get(&self.evaluation.word(name)).copied(),
            _ => None,
        };
        let of_tree = values
            .iter()
            .any(|fact| matches!(fact.value, Value::Method(..) | Value::Function(_)));
        let (Expression::Call { arguments, .. } | Expression::New { arguments, .. }) =
            *self.evaluation.facts.expression(ExpressionId(call))
        else {
            return;
        };
        let arguments = self.evaluation.arguments(arguments);
        let mut invoked = SmallVec::<[super::value::Set; 2]>::new();
        match builtin {
            Some(Builtin::Map(index) | Builtin::Filter(index)) => {
                invoked.extend(arguments.positional.get(index).map(|(set, _)| set.clone()));
            }
            Some(Builtin::Keyed(name)) => {
                let word = Word::of(name);
                invoked.extend(
                    arguments
                        .named
                        .iter()
                        .filter(|(known, _)| *known == word)
                        .map(|(_, set)| set.clone()),
                );
            }
            Some(Builtin::Invokes) => invoked.extend(arguments.all().cloned()),
            Some(Builtin::Applies | Builtin::Calls(_)) => {
                invoked.extend(arguments.positional.first().map(|(set, _)| set.clone()))
            }
            Some(Builtin::Copies) => invoked.extend(arguments.positional.get(1).map(|(set, _)| set.clone())),
            _ => {}
        }
        if let (Some(Operation::Call | Operation::Apply), Expression::Member { object, .. }) =
            (method, *self.evaluation.facts.expression(callee))
        {
            invoked.push(self.evaluation.set_of(object));
        }
        if method == Some(Operation::Sort) && !of_tree {
            invoked.extend(arguments.key().cloned());
        }
        if method.is_some_and(Operation::invokes) && !of_tree {
            invoked.extend(arguments.positional.iter().map(|(set, _)| set.clone()));
        }
        if builtin.is_none() && method.is_none() && !of_tree {
            invoked.extend(self.called_outside(values, ExpressionId(call)));
        }
        for set in invoked {
            for fact in self.evaluation.expand(set.facts()).facts() {
                if let Value::Function(function)
                | Value::Method(function, _)
                | Value::MethodOf(function, _)
                | Value::ClassMethod(function, _) = fact.value
                {
                    ends.push((End::Definition(function), Evidence::FollowedValue, EdgeKind::Calls));
                }
            }
        }
    }

    /// The functions among the arguments of a call that a function of outside gets to call.
    fn called_outside(&self, callees: &[Fact], call: ExpressionId) -> Option<super::value::Set> {
        let calls = self.evaluation.policy.policy.libraries_call;
        let outside = |fact: &Fact| matches!(fact.value, Value::External(_) | Value::Foreign);
        let (Expression::Call { arguments, .. } | Expression::New { arguments, .. }) =
            *self.evaluation.facts.expression(call)
        else {
            return None;
        };
        if calls == Callbacks::None || !callees.iter().all(outside) {
            return None;
        }
        let linker = self.evaluation.linker;
        let mut called = super::value::Set::default();
        for &argument in self.evaluation.facts.list(arguments) {
            for &fact in self.evaluation.facts_of(ExpressionId(argument)) {
                let runs = match fact.value {
                    Value::Function(function) | Value::Method(function, _) | Value::ClassMethod(function, _) => {
                        let link = linker.definition(function);
                        link.is_some_and(|link| link.kind == Kind::Lambda) || calls == Callbacks::Functions
                    }
                    _ => false,
                };
                if runs {
                    called.insert(fact);
                }
            }
        }
        Some(called)
    }

    /// A mention other than a call.
    fn mention(&mut self, reference: Reference, kind: EdgeKind) {
        let found = self.definitions_of(reference.expression);
        let mut ends = Ends::new();
        for (end, evidence) in found {
            let kind = match (end, kind) {
                (End::Definition(place), EdgeKind::Reads) => {
                    let link = self.evaluation.linker.definition(place);
                    let reads = link.is_some_and(|link| is_variable(link.kind) || link.flags.contains(Flags::GETTER));
                    if reads { EdgeKind::Reads } else { EdgeKind::References }
                }
                (End::External(_), EdgeKind::Reads | EdgeKind::Writes | EdgeKind::References) => continue,
                (End::File(_), EdgeKind::Reads | EdgeKind::Writes) => EdgeKind::References,
                (_, kind) => kind,
            };
            ends.push((end, evidence, kind));
        }
        if self.evaluation.policy.policy.runs_decorators {
            match reference.role {
                Role::Read => self.accessors(reference.expression, Flags::GETTER, &mut ends),
                Role::Write => self.accessors(reference.expression, Flags::SETTER, &mut ends),
                _ => {}
            }
        }
        self.push(reference.within, reference.at, &ends);
    }

    /// The definitions that a name or member itself stands for, whatever its value.
    fn definitions_of(&mut self, expression: ExpressionId) -> SmallVec<[(End, Evidence); 2]> {
        let mut found = SmallVec::new();
        let facts = self.evaluation.facts;
        let linker = self.evaluation.linker;
        match *facts.expression(expression) {
            Expression::Bound { binding, .. } => match facts.bindings.get(binding.index()).map(|binding| binding.to) {
                Some(Bound::Definition(id)) => {
                    found.push((End::Definition(self.evaluation.place(id)), Evidence::Lexical));
                }
                Some(Bound::Import(import)) => {
                    let names = self.evaluation.imported(import.0);
                    self.add_names(&names, Evidence::Import, &mut found);
                }
                _ => {}
            },
            Expression::Free { name, scope } => {
                let word = self.evaluation.word(name);
                for class in self.evaluation.types_around(scope) {
                    if found.is_empty() {
                        self.add_members(class, false, word, Evidence::DeclaredReceiver, &mut found);
                    }
                }
                if found.is_empty() {
                    let names = self.evaluation.ambient(name);
                    self.add_names(&names, Evidence::Package, &mut found);
                }
            }
            Expression::Member { object, name } => {
                let word = self.evaluation.word(name);
                let text = facts.text(name);
                let plain = self.evaluation.set_of(object);
                let mut objects = plain.clone();
                if plain
                    .facts()
                    .iter()
                    .all(|fact| matches!(fact.value, Value::Parameter(..)))
                {
                    objects = self.evaluation.expand(plain.facts());
                }
                for fact in objects.facts() {
                    match fact.value {
                        Value::Module(module) => {
                            let names = linker.module_member(ModuleTarget::File(module), word, text);
                            self.add_names(&names, fact.evidence.max(Evidence::Import), &mut found);
                        }
                        Value::Package(package) => {
                            let names = linker.module_member(ModuleTarget::Package(package), word, text);
                            self.add_names(&names, fact.evidence.max(Evidence::Import), &mut found);
                        }
                        Value::Class(class) | Value::Instance(class) | Value::Function(class) => {
                            self.add_members(class, false, word, fact.evidence, &mut found);
                        }
                        Value::Super(class) => self.add_members(class, true, word, fact.evidence, &mut found),
                        Value::External(external) => {
                            let member = linker.externals.member(external, word, text);
                            found.push((End::External(member), fact.evidence));
                        }
                        _ => {}
                    }
                }
            }
            Expression::Call { callee, .. } | Expression::Generic { base: callee, .. } => {
                return self.definitions_of(callee);
            }
            Expression::Wrapped(inner) => return self.definitions_of(inner),
            _ => {}
        }
        found
    }

    fn add_members(
        &mut self,
        class: Place,
        after_itself: bool,
        name: Word,
        known: Evidence,
        found: &mut SmallVec<[(End, Evidence); 2]>,
    ) {
        for member in self.evaluation.find_members(class, after_itself, name) {
            let step = if member.inherited {
                Evidence::Inherited
            } else {
                Evidence::DeclaredReceiver
            };
            found.push((End::Definition(member.member), known.max(step)));
        }
    }

    fn add_names(&self, names: &[Found], evidence: Evidence, found: &mut SmallVec<[(End, Evidence); 2]>) {
        for name in names {
            let end = match *name {
                Found::Value(Value::Function(place) | Value::Class(place)) => End::Definition(place),
                Found::Value(Value::Module(file)) => End::File(file),
                Found::Value(Value::External(word)) => End::External(word),
                Found::Variable(file, name) => match self.evaluation.linker.variable_definition(file, name) {
                    Some(place) => End::Definition(place),
                    None => continue,
                },
                _ => continue,
            };
            if !found.iter().any(|(known, _)| *known == end) {
                found.push((end, evidence));
            }
        }
    }

    fn structure(&mut self) {
        let facts = self.evaluation.facts;
        let linker = self.evaluation.linker;
        for (index, definition) in facts.definitions.iter().enumerate() {
            let id = DefinitionId(index as u32);
            let place = self.evaluation.place(id);
            if !matches!(definition.kind, Kind::Lambda | Kind::Extension) {
                let end = (End::Definition(place), Evidence::Structure, EdgeKind::Contains);
                self.push(definition.parent, definition.name_at, &[end]);
            }
            if is_type(definition.kind) || definition.kind == Kind::Extension {
                self.inheritance(id, place);
                self.satisfied(id, place);
            }
            let owner = linker.definition(place).and_then(|link| link.owner);
            if let Some(owner) = owner
                && is_function(definition.kind)
                && definition.kind != Kind::Constructor
            {
                let name = self.evaluation.word(definition.name);
                let overridden = self.evaluation.find_members(owner, true, name);
                for found in overridden.iter().take(1) {
                    if linker
                        .definition(found.member)
                        .is_some_and(|link| is_function(link.kind))
                    {
                        let end = (End::Definition(found.member), Evidence::Structure, EdgeKind::Overrides);
                        self.push(Some(id), definition.name_at, &[end]);
                    }
                }
            }
        }
    }

    fn inheritance(&mut self, id: DefinitionId, place: Place) {
        let facts = self.evaluation.facts;
        let linker = self.evaluation.linker;
        let definition = facts.definition(id);
        for base in &definition.bases {
            let values = linker.static_values(self.evaluation.file, facts, base.type_, 8);
            for value in values {
                let (end, interface) = match value {
                    Value::Class(target) | Value::Function(target) => {
                        let kind = linker.definition(target).map(|link| link.kind);
                        (
                            End::Definition(target),
                            matches!(kind, Some(Kind::Interface | Kind::Trait)),
                        )
                    }
                    Value::External(word) => (End::External(word), false),
                    _ => continue,
                };
                if end == End::Definition(place) {
                    continue;
                }
                let is_interface = matches!(definition.kind, Kind::Interface | Kind::Trait);
                let kind = match base.kind {
                    BaseKind::Implements => EdgeKind::Implements,
                    BaseKind::Extends if interface && !is_interface => EdgeKind::Implements,
                    BaseKind::Extends | BaseKind::Mixes | BaseKind::Embeds => EdgeKind::Extends,
                };
                let from = if definition.kind == Kind::Extension {
                    self.extension_owner(id)
                } else {
                    Some(id)
                };
                self.push(from, definition.name_at, &[(end, Evidence::Structure, kind)]);
            }
        }
    }

    /// Interfaces that a type implements by having their methods.
    fn satisfied(&mut self, id: DefinitionId, place: Place) {
        let at = self.evaluation.facts.definition(id).name_at;
        for &interface in self.evaluation.linker.satisfied(place) {
            self.push(
                Some(id),
                at,
                &[(End::Definition(interface), Evidence::Dispatch, EdgeKind::Implements)],
            );
        }
    }

    /// The type that an extension extends, when it is of this file.
    fn extension_owner(&self, id: DefinitionId) -> Option<DefinitionId> {
        let owner = self.evaluation.facts.definition(id).owner?;
        let values = self
            .evaluation
            .linker
            .static_values(self.evaluation.file, self.evaluation.facts, owner, 8);
        values.into_iter().find_map(|value| match value {
            Value::Class(place) if place.file == self.evaluation.file => {
                self.evaluation.linker.position(place).map(DefinitionId)
            }
            _ => None,
        })
    }

    fn imports(&mut self) {
        let facts = self.evaluation.facts;
        let linker = self.evaluation.linker;
        let file = self.evaluation.file;
        for (index, import) in facts.imports.iter().enumerate() {
            let link = &linker.own(file).imports[index];
            let mut ends = Ends::new();
            let whole = match link.target {
                ModuleTarget::File(target) => Some(End::File(target)),
                ModuleTarget::External(word) if import.member.is_none() => Some(End::External(word)),
                ModuleTarget::Definition(place) => Some(End::Definition(place)),
                _ => None,
            };
            let mut found = SmallVec::new();
            if !matches!(
                import.form,
                ImportForm::Wildcard | ImportForm::Include | ImportForm::Effect
            ) {
                self.add_names(&linker.import_target(file, index as u32), Evidence::Import, &mut found);
            }
            if let Some(whole) = whole
                && !found.iter().any(|(known, _)| *known == whole)
            {
                ends.push((whole, Evidence::Import, EdgeKind::Imports));
            }
            ends.extend(
                found
                    .into_iter()
                    .map(|(end, evidence)| (end, evidence, EdgeKind::Imports)),
            );
            for end in ends {
                self.push(import.within, import.at, &[end]);
            }
        }
    }

    /// Adds edges for the ends of one mention, sharing confidence among those known equally well.
    fn push(&mut self, within: Option<DefinitionId>, at: Position, ends: &[(End, Evidence, EdgeKind)]) {
        let from = self.named(within);
        let direct = |evidence: Evidence| evidence <= Evidence::Inherited;
        let count = |wanted: bool| {
            let mut seen: SmallVec<[End; 8]> = SmallVec::new();
            for &(end, evidence, kind) in ends {
                // A class and its constructor are one candidate.
                let companion =
                    kind == EdgeKind::Calls && ends.iter().any(|(_, _, kind)| *kind == EdgeKind::Instantiates);
                if direct(evidence) == wanted && !companion && !seen.contains(&end) {
                    seen.push(end);
                }
            }
            seen.len()
        };
        let (certain, inferred) = (count(true), count(false));
        for &(end, evidence, kind) in ends {
            // Several constructors of one class are several candidates all the same.
            let alike = ends
                .iter()
                .filter(|(_, other, known)| *known == kind && direct(*other) == direct(evidence))
                .count();
            let candidates = if direct(evidence) { certain } else { inferred }.max(alike);
            let (origin, confidence) = evidence.weigh(candidates);
            let to = match end {
                End::Definition(place) => {
                    let Some(place) = self.symbol(place) else {
                        continue;
                    };
                    Target::Symbol(place)
                }
                End::File(file) => Target::Symbol(SymbolRef {
                    file: FileId(file),
                    definition: None,
                }),
                End::External(word) => Target::External(self.evaluation.linker.externals.text(word)),
            };
            if matches!(kind, EdgeKind::Calls | EdgeKind::Instantiates)
                && let End::Definition(place) = end
                && self.tests(from, place)
            {
                self.resolved.edges.push(Edge {
                    from,
                    to: to.clone(),
                    kind: EdgeKind::Tests,
                    at,
                    origin,
                    confidence,
                });
            }
            self.resolved.edges.push(Edge {
                from,
                to,
                kind,
                at,
                origin,
                confidence,
            });
        }
    }

    /// The symbol of a definition; an extension is none.
    fn symbol(&self, place: Place) -> Option<SymbolRef> {
        let link = self.evaluation.linker.definition(place)?;
        if link.kind == Kind::Extension {
            return None;
        }
        Some(SymbolRef {
            file: FileId(place.file),
            definition: self.evaluation.linker.position(place).map(DefinitionId),
        })
    }

    /// The nearest definition around that is a symbol.
    fn named(&self, within: Option<DefinitionId>) -> Option<DefinitionId> {
        let mut at = within;
        while let Some(id) = at {
            let definition = self.evaluation.facts.definition(id);
            if definition.kind != Kind::Extension {
                return Some(id);
            }
            at = definition.parent;
        }
        None
    }

    /// Whether a call from `from` to `target` says that a test exercises it.
    fn tests(&self, from: Option<DefinitionId>, target: Place) -> bool {
        let mut at = from;
        let mut test = false;
        while let Some(id) = at {
            let definition = self.evaluation.facts.definition(id);
            test |= definition.flags.contains(Flags::TEST);
            at = definition.parent;
        }
        test && !self.evaluation.linker.has_tests(target.file)
    }
}

/// How many arguments a mention passes, when that can be told.
fn arguments_of(reference: Reference) -> Option<usize> {
    (reference.arguments < u8::MAX).then_some(usize::from(reference.arguments))
}
