//! The abstract evaluator of one file: what each of its expressions can be worth, given what the other files said in the
//! round before.
//!
//! Expressions are stored children first, so one pass over the vector evaluates them all; passes repeat until nothing
//! changes. Names pull from the writes that reach them, members and calls look into [`super::linker`] and the tables, and
//! whatever leaves the file (returns, fields, variables, arguments) is contributed under a [`Key`].

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use smallvec::SmallVec;
use syntax::facts::{DefinitionId, Expression, ExpressionId, FileFacts, Flags, Flow, Kind, Name, ScopeId, ScopeKind};

use super::bindings::{Bindings, Source};
use super::calls::Arguments;
use super::languages::{Compiled, Generic};
use super::linker::{Found, Linker, decorated_name};
use super::links::{ExportLink, ModuleTarget, exported, is_type, runs};
use super::members;
use super::tables::Round;
use super::value::{Fact, Place, RECEIVER, Set, Value};
use super::words::{ALL, Identity, Key, UNKEYED, Word, WordMap};
use crate::model::Evidence;

/// Most passes over one file in one round.
const MAX_PASSES: usize = 8;
/// Most parameters that are looked through to find what callers pass.
const MAX_EXPANSION: usize = 32;
/// What `await`, `?` and the like take out of a generic type.
pub const PAYLOAD: Word = Word(5);
/// What a type that is made of another one holds: `type List []Item`.
pub const UNDERLYING: Word = Word(6);

/// One file being evaluated.
pub struct Evaluation<'a> {
    pub linker: &'a Linker,
    pub round: &'a Round,
    pub file: u32,
    pub facts: &'a FileFacts,
    pub policy: &'a Compiled,
    /// By [`Name`].
    pub words: Vec<Word>,
    bindings: Bindings,
    /// The external class whose heirs are classes of classes.
    metaclass: Option<Value>,
    /// By expression: a run of `arena`.
    sets: Vec<(u32, u32)>,
    arena: Vec<Fact>,
    /// What decorators make of each decorated definition.
    decorated: WordMap<Word, Set>,
    /// Contributions of the pass before and of this one.
    previous: WordMap<Key, Set>,
    current: WordMap<Key, Set>,
    reads: HashSet<Key, BuildHasherDefault<Identity>>,
    /// Whether the expression being evaluated read anything that can still change.
    unsettled: bool,
    /// By expression: nothing that it depends on can change any more.
    settled: Vec<bool>,
    /// Members found so far, by (type, name).
    pub lookups: RefCell<WordMap<(Word, Word), SmallVec<[members::Found; 2]>>>,
    changed: bool,
    /// By binding, filled when first asked for.
    pub(super) declared_types: OnceCell<Vec<Option<ExpressionId>>>,
}

impl<'a> Evaluation<'a> {
    /// Evaluates `facts` to a fixed point (or [`MAX_PASSES`]).
    pub fn new(linker: &'a Linker, round: &'a Round, file: u32, facts: &'a FileFacts) -> Evaluation<'a> {
        let policy = linker.policy(file);
        let mut evaluation = Evaluation {
            linker,
            round,
            file,
            facts,
            policy,
            words: (0..facts.strings.len())
                .map(|name| Word::of(facts.text(Name(name as u32))))
                .collect(),
            bindings: Bindings::new(facts, policy.policy.hoists),
            metaclass: policy
                .builtin_names
                .get(&Word::of("type"))
                .copied()
                .map(Value::External),
            sets: vec![(0, 0); facts.expressions.len()],
            arena: Vec::new(),
            decorated: WordMap::default(),
            previous: WordMap::default(),
            current: WordMap::default(),
            reads: HashSet::default(),
            unsettled: false,
            settled: vec![false; facts.expressions.len()],
            lookups: RefCell::default(),
            changed: false,
            declared_types: OnceCell::new(),
        };
        for _ in 0..MAX_PASSES {
            evaluation.changed = false;
            evaluation.pass();
            let stable = !evaluation.changed && evaluation.previous == evaluation.current;
            evaluation.previous = std::mem::take(&mut evaluation.current);
            if stable {
                break;
            }
        }
        evaluation
    }

    /// What the file contributes and which keys it read.
    pub fn finish(self) -> (WordMap<Key, Set>, Vec<Key>) {
        let mut reads: Vec<Key> = self.reads.into_iter().collect();
        reads.sort_unstable();
        (self.previous, reads)
    }

    /// The facts of an expression.
    pub fn facts_of(&self, expression: ExpressionId) -> &[Fact] {
        match self.sets.get(expression.index()) {
            Some(&(start, end)) => &self.arena[start as usize..end as usize],
            None => &[],
        }
    }

    /// The facts of an expression, as a set of its own.
    pub fn set_of(&self, expression: ExpressionId) -> Set {
        let mut set = Set::default();
        set.extend(self.facts_of(expression));
        set
    }

    /// The place of a definition of this file.
    pub fn place(&self, id: DefinitionId) -> Place {
        Place {
            file: self.file,
            id: id.0,
        }
    }

    /// What all files say about `key`.
    pub fn read(&mut self, key: Key) -> Set {
        self.reads.insert(key);
        self.unsettled = true;
        let mut set = Set::default();
        if let Some(known) = self.previous.get(&key) {
            set.extend(known.facts());
        }
        if let Some(known) = self.current.get(&key) {
            set.extend(known.facts());
        }
        self.round.read(key, self.file, &mut set);
        set
    }

    /// Adds facts to `key`, leaving out what is of no use elsewhere.
    pub fn contribute(&mut self, key: Key, facts: &[Fact], at_best: Evidence) {
        if facts.is_empty() {
            return;
        }
        let set = self.current.entry(key).or_default();
        set.extend_at_best(facts, at_best);
    }

    /// Replaces parameters by what callers pass for them.
    pub fn expand(&mut self, facts: &[Fact]) -> Set {
        let mut expanded = Set::default();
        let mut seen: SmallVec<[(Place, u32); 8]> = SmallVec::new();
        for &fact in facts {
            match fact.value {
                Value::Parameter(function, index) => {
                    if !seen.contains(&(function, index)) {
                        seen.push((function, index));
                    }
                }
                _ => expanded.insert(fact),
            }
        }
        let mut next = 0;
        while next < seen.len() && next < MAX_EXPANSION {
            let (function, index) = seen[next];
            next += 1;
            for &fact in self.read(Key::parameter(function, index)).facts() {
                match fact.value {
                    Value::Parameter(function, index) => {
                        if !seen.contains(&(function, index)) {
                            seen.push((function, index));
                        }
                    }
                    _ => expanded.insert(fact.at_best(Evidence::FollowedValue)),
                }
            }
        }
        expanded
    }

    /// Adds what a name found by the linker is worth.
    pub fn add_found(&mut self, found: &[Found], at_best: Evidence, set: &mut Set) {
        for found in found {
            match *found {
                Found::Value(value) => set.insert(Fact::new(value, at_best)),
                Found::Variable(file, name) => {
                    let values = self.read(Key::variable(file, name));
                    add_held(set, values.facts(), at_best);
                }
                Found::Export(file, name) => {
                    let values = self.read(exported(file, name));
                    add_held(set, values.facts(), at_best);
                }
                Found::ExportMember(file, name) => {
                    let values = self.whole_export(file);
                    let members = self.member(values.facts(), name, "");
                    add_held(set, members.facts(), at_best);
                }
            }
        }
    }

    /// What a file exports as a whole (`module.exports = …`).
    pub fn whole_export(&mut self, file: u32) -> Set {
        let name = Word::of("=");
        let mut set = Set::default();
        if self.linker.links[file as usize].export(name).is_some() {
            let found = self.linker.export(file, name);
            self.add_found(&found, Evidence::Import, &mut set);
        }
        set
    }

    /// Instances of the types in `facts`.
    pub fn instances(&self, facts: &[Fact]) -> Set {
        let mut set = Set::default();
        for fact in facts {
            let fact = fact.at_best(Evidence::DeclaredReceiver);
            match fact.value {
                Value::Class(class) => set.insert(Fact::new(Value::Instance(class), fact.evidence)),
                Value::TypeOf(class) => set.insert(Fact::new(Value::Class(class), fact.evidence)),
                Value::Function(function) => {
                    // A constructor function of a prototype language named as a type.
                    set.insert(Fact::new(Value::Instance(function), fact.evidence));
                }
                Value::Object(_) | Value::Instance(_) => set.insert(fact),
                Value::External(_) | Value::Foreign => set.insert(Fact::new(Value::Foreign, fact.evidence)),
                _ => {}
            }
        }
        set
    }

    /// The type whose members the code of `scope` belongs to, and the function that has the receiver.
    pub fn receiver_of(&self, scope: ScopeId) -> (Option<Place>, Option<DefinitionId>) {
        let mut at = Some(scope);
        while let Some(id) = at {
            let Some(scope) = self.facts.scopes.get(id.index()) else {
                break;
            };
            if let Some(definition) = scope.definition {
                let kind = self.facts.definition(definition).kind;
                let owner = self
                    .linker
                    .definition(self.place(definition))
                    .and_then(|link| link.owner);
                match scope.kind {
                    ScopeKind::Function if kind != Kind::Lambda => {
                        if owner.is_some() || self.policy.policy.class_member == "constructor" {
                            return (owner, Some(definition));
                        }
                    }
                    ScopeKind::Type if is_type(kind) => return (Some(self.place(definition)), None),
                    _ => {}
                }
            }
            at = scope.parent;
        }
        (None, None)
    }

    /// The types whose members the code of `scope` sees bare, innermost first.
    pub fn types_around(&self, scope: ScopeId) -> SmallVec<[Place; 2]> {
        let mut types: SmallVec<[Place; 2]> = SmallVec::new();
        if !self.policy.policy.bare_members {
            return types;
        }
        let mut at = Some(scope);
        while let Some(scope) = at.and_then(|id| self.facts.scopes.get(id.index())) {
            if let Some(definition) = scope.definition {
                let place = self.place(definition);
                let found = match scope.kind {
                    ScopeKind::Function => self.linker.definition(place).and_then(|link| link.owner),
                    ScopeKind::Type => Some(place).filter(|_| is_type(self.facts.definition(definition).kind)),
                    _ => None,
                };
                types.extend(found.filter(|found| !types.contains(found)));
            }
            at = scope.parent;
        }
        types
    }

    /// What a definition's name stands for.
    pub fn definition_value(&mut self, id: DefinitionId, at_best: Evidence, set: &mut Set) {
        let place = self.place(id);
        if let Some(value) = self.linker.as_value(place) {
            set.insert(Fact::new(value, at_best));
        }
        if let Some(extra) = self.decorated.get(&decorated_name(place)) {
            set.extend_at_best(extra.facts(), Evidence::FollowedValue);
        }
    }

    fn pass(&mut self) {
        for index in 0..self.facts.expressions.len() {
            if self.settled[index] {
                continue;
            }
            self.unsettled = false;
            match self.transfer(ExpressionId(index as u32)) {
                Some(set) => self.store(index, set.facts()),
                None => self.settled[index] = true,
            }
            if !self.unsettled {
                self.settled[index] = self.settles(ExpressionId(index as u32));
            }
        }
        self.decorate();
        for flow in 0..self.facts.flows.len() {
            self.flow(self.facts.flows[flow]);
        }
        self.publish_definitions();
        self.publish_names();
        self.publish_exports();
    }

    /// Whether an expression that read no table has its final value. What contributes on its own never settles.
    fn settles(&self, id: ExpressionId) -> bool {
        let settled = |id: ExpressionId| self.settled.get(id.index()).copied().unwrap_or(false);
        match *self.facts.expression(id) {
            Expression::Unknown | Expression::Text(_) | Expression::Literal(_) => true,
            Expression::Free { .. } | Expression::This(_) | Expression::Super(_) | Expression::Module(_) => true,
            Expression::Bound { binding, at } => {
                let mut all = true;
                self.bindings.reaching(binding.0, at, |source| {
                    all &= match source {
                        Source::Value(value) | Source::Type(value) => settled(value),
                        Source::Definition(id) => self.facts.definition(id).decorators.is_empty(),
                        Source::Import(_) | Source::Parameter(..) | Source::Receiver(..) => true,
                    };
                });
                all
            }
            Expression::Member { object: inner, .. }
            | Expression::Argument { value: inner, .. }
            | Expression::Index { object: inner, .. }
            | Expression::Unwrap(inner)
            | Expression::Element(inner)
            | Expression::Item(inner, _)
            | Expression::Entered(inner)
            | Expression::Typed(inner)
            | Expression::Wrapped(inner) => settled(inner),
            Expression::Choice(list) => self
                .facts
                .list(list)
                .iter()
                .all(|&choice| settled(ExpressionId(choice))),
            _ => false,
        }
    }

    fn store(&mut self, index: usize, facts: &[Fact]) {
        let (start, end) = self.sets[index];
        if self.arena[start as usize..end as usize] == *facts {
            return;
        }
        self.changed = true;
        let start = self.arena.len() as u32;
        self.arena.extend_from_slice(facts);
        self.sets[index] = (start, self.arena.len() as u32);
    }

    /// The value of one expression from those of its children; `None` when it never has one.
    fn transfer(&mut self, id: ExpressionId) -> Option<Set> {
        let expression = *self.facts.expression(id);
        Some(match expression {
            Expression::Unknown | Expression::Text(_) | Expression::Literal(_) => return None,
            Expression::Bound { binding, at } => self.bound(binding.0, at),
            Expression::Free { name, scope } => self.free(name, scope),
            Expression::Member { object, name } => {
                let object = self.set_of(object);
                let text = self.facts.text(name);
                self.member(object.facts(), self.words[name.index()], text)
            }
            Expression::Call { callee, arguments } => {
                let arguments = self.arguments(arguments);
                self.call(id, callee, &arguments)
            }
            Expression::New { type_, arguments } => {
                let arguments = self.arguments(arguments);
                let types = self.expand(self.set_of(type_).facts());
                let mut set = Set::default();
                for &fact in types.facts() {
                    self.construct(fact, &arguments, id, &mut set);
                }
                set
            }
            Expression::Argument { value, .. } => self.set_of(value),
            Expression::Index { object, key } => {
                let object = self.expand(self.set_of(object).facts());
                self.index(object.facts(), key.map(|key| self.words[key.index()]))
            }
            Expression::Sequence { elements } => self.sequence(id, self.facts.list(elements)),
            Expression::Mapping { entries } => self.mapping(id, self.facts.list(entries)),
            Expression::Definition(definition) => {
                let mut set = Set::default();
                self.definition_value(definition, Evidence::Lexical, &mut set);
                set
            }
            Expression::This(scope) => self.this(scope),
            Expression::Super(scope) => match self.receiver_of(scope).0 {
                Some(class) => Set::of(Value::Super(class), Evidence::DeclaredReceiver),
                None => Set::default(),
            },
            Expression::Choice(list) => {
                let mut set = Set::default();
                for &choice in self.facts.list(list) {
                    set.extend(self.facts_of(ExpressionId(choice)));
                }
                set
            }
            Expression::Unwrap(inner) => {
                let inner = self.expand(self.set_of(inner).facts());
                self.unwrap(inner.facts())
            }
            Expression::Element(inner) => {
                let inner = self.expand(self.set_of(inner).facts());
                self.element(inner.facts())
            }
            Expression::Item(inner, position) => {
                let inner = self.expand(self.set_of(inner).facts());
                self.item(inner.facts(), position)
            }
            Expression::Entered(inner) => {
                let inner = self.expand(self.set_of(inner).facts());
                self.entered(inner.facts())
            }
            Expression::Module(name) => self.text_module(self.words[name.index()]),
            Expression::Typed(type_) => self.instances(self.facts_of(type_)),
            Expression::Generic { base, arguments } => self.generic(id, base, self.facts.list(arguments)),
            Expression::Wrapped(inner) => self.set_of(inner),
            Expression::FunctionType(list) => {
                if let Some(&result) = self.facts.list(list).last() {
                    let result = self.instances(self.facts_of(ExpressionId(result)));
                    let key = Key::result_of_object(self.object(id));
                    self.contribute(key, result.facts(), Evidence::DeclaredReceiver);
                }
                Set::of(Value::Object(self.object(id)), Evidence::DeclaredReceiver)
            }
        })
    }

    /// The object that an expression of this file makes.
    pub fn object(&self, id: ExpressionId) -> Place {
        Place {
            file: self.file,
            id: id.0,
        }
    }

    fn bound(&mut self, binding: u32, at: u32) -> Set {
        let mut sources: SmallVec<[Source; 4]> = SmallVec::new();
        self.bindings.reaching(binding, at, |source| sources.push(source));
        self.sources(&sources)
    }

    /// What the sources together are worth. A declared type that is known makes undeclared guesses unnecessary.
    fn sources(&mut self, sources: &[Source]) -> Set {
        let mut set = Set::default();
        for &source in sources {
            if let Source::Type(type_) = source {
                let instances = self.instances(self.facts_of(type_));
                set.extend(instances.facts());
            }
        }
        let declared = set.facts().iter().any(|fact| matches!(fact.value, Value::Instance(_)));
        for &source in sources {
            match source {
                Source::Type(_) => {}
                Source::Value(value) => {
                    let held = self.set_of(value);
                    // Of what a variable with a known type holds, only functions tell more than the type.
                    let told = |fact: &&Fact| !declared || is_callable(fact.value);
                    let held: SmallVec<[Fact; 4]> = held.facts().iter().filter(told).copied().collect();
                    add_held(&mut set, &held, Evidence::Lexical);
                }
                Source::Definition(id) => self.definition_value(id, Evidence::Lexical, &mut set),
                Source::Import(import) => {
                    let found = self.linker.imported(self.file, import);
                    self.add_found(&found, Evidence::Import, &mut set);
                }
                Source::Parameter(function, index) => {
                    if !declared {
                        self.parameter(function, index, &mut set);
                    }
                }
                Source::Receiver(function, index) => self.receiver(function, index, &mut set),
            }
        }
        set
    }

    fn parameter(&mut self, function: DefinitionId, index: u32, set: &mut Set) {
        use syntax::facts::Passing;
        let place = self.place(function);
        let passing = self
            .facts
            .definition(function)
            .parameters
            .get(index as usize)
            .map(|parameter| parameter.passing);
        let value = match passing {
            Some(Passing::Rest) => Value::Object(place.object(Place::REST)),
            Some(Passing::KeywordRest) => Value::Object(place.object(Place::KEYWORD_REST)),
            Some(Passing::Receiver) => return self.receiver(function, Some(index), set),
            _ => Value::Parameter(place, index),
        };
        set.insert(Fact::new(value, Evidence::FollowedValue));
    }

    fn receiver(&mut self, function: DefinitionId, index: Option<u32>, set: &mut Set) {
        let place = self.place(function);
        let link = self.linker.definition(place);
        let flags = self.facts.definition(function).flags;
        if let Some(owner) = link.and_then(|link| link.owner) {
            let value = if flags.contains(Flags::CLASS_METHOD) || is_metaclass(self, owner) {
                Value::Class(owner)
            } else {
                Value::Instance(owner)
            };
            set.insert(Fact::new(value, Evidence::DeclaredReceiver));
        }
        set.insert(Fact::new(
            Value::Parameter(place, index.unwrap_or(RECEIVER)),
            Evidence::FollowedValue,
        ));
    }

    fn this(&mut self, scope: ScopeId) -> Set {
        let (class, function) = self.receiver_of(scope);
        let mut set = Set::default();
        let in_static = function.is_some_and(|function| self.facts.definition(function).flags.contains(Flags::STATIC));
        if let Some(class) = class {
            let value = if in_static {
                Value::Class(class)
            } else {
                Value::Instance(class)
            };
            set.insert(Fact::new(value, Evidence::DeclaredReceiver));
        }
        if let Some(function) = function {
            let place = self.place(function);
            if class.is_none() {
                set.insert(Fact::new(Value::Instance(place), Evidence::InferredReceiver));
            }
            set.insert(Fact::new(Value::Parameter(place, RECEIVER), Evidence::FollowedValue));
        }
        set
    }

    fn free(&mut self, name: Name, scope: ScopeId) -> Set {
        let mut set = Set::default();
        let word = self.words[name.index()];
        let text = self.facts.text(name);
        for class in self.types_around(scope) {
            let this = [Fact::new(Value::Instance(class), Evidence::DeclaredReceiver)];
            set = self.member(&this, word, text);
            if set.facts().iter().any(|fact| fact.value != Value::Foreign) {
                break;
            }
            set = Set::default();
        }
        if set.is_empty() {
            let found = self.linker.ambient(self.file, word, text);
            self.add_found(&found, Evidence::Package, &mut set);
        }
        if set.is_empty()
            && let Some(&builtin) = self.policy.builtin_names.get(&word)
        {
            set.insert(Fact::new(Value::External(builtin), Evidence::Import));
        }
        set
    }

    fn text_module(&mut self, name: Word) -> Set {
        let links = &self.linker.links[self.file as usize];
        let target = links
            .text_modules
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, target)| target);
        let value = match target {
            Some(ModuleTarget::File(file)) => Value::Module(file),
            Some(ModuleTarget::Package(package)) => Value::Package(package),
            Some(ModuleTarget::External(word)) => Value::External(word),
            _ => return Set::default(),
        };
        Set::of(value, Evidence::Import)
    }

    fn sequence(&mut self, id: ExpressionId, elements: &[u32]) -> Set {
        let object = self.object(id);
        let mut set = Set::of(Value::Object(object), Evidence::Lexical);
        let mut spread = false;
        for (position, &element) in elements.iter().enumerate() {
            let values = self.set_of(ExpressionId(element));
            if let Expression::Argument { .. } = self.facts.expression(ExpressionId(element)) {
                // The elements of a spread container are reached through the container itself.
                set.extend(values.facts());
                spread = true;
                continue;
            }
            if values.is_empty() {
                continue;
            }
            let key = if spread { UNKEYED } else { position_word(position) };
            self.fill(object, key, values.facts());
        }
        set
    }

    fn mapping(&mut self, id: ExpressionId, entries: &[u32]) -> Set {
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
                Expression::Text(name) => self.words[name.index()],
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

    fn generic(&mut self, id: ExpressionId, base: ExpressionId, arguments: &[u32]) -> Set {
        let bases = self.set_of(base);
        let inside = bases
            .facts()
            .iter()
            .any(|fact| matches!(fact.value, Value::Class(_) | Value::Object(_)));
        if inside {
            return bases;
        }
        let name = match *self.facts.expression(base) {
            Expression::Member { name, .. } | Expression::Free { name, .. } => Some(self.words[name.index()]),
            Expression::Bound { binding, .. } => {
                let binding = &self.facts.bindings[binding.index()];
                match binding.to {
                    syntax::facts::Bound::Import(import) => {
                        let import = &self.facts.imports[import.index()];
                        import
                            .member
                            .or(Some(binding.name))
                            .map(|name| self.words[name.index()])
                    }
                    _ => Some(self.words[binding.name.index()]),
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
                if let Some(&last) = arguments.last() {
                    let result = self.instances(self.facts_of(ExpressionId(last)));
                    self.contribute(
                        Key::result_of_object(object),
                        result.facts(),
                        Evidence::DeclaredReceiver,
                    );
                }
            }
            Generic::Holds => {
                if let Some(&last) = arguments.last() {
                    let held = self.instances(self.facts_of(ExpressionId(last)));
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

    /// Applies the decorators of every decorated definition, the innermost first.
    fn decorate(&mut self) {
        for index in 0..self.facts.definitions.len() {
            let definition = &self.facts.definitions[index];
            if definition.decorators.is_empty() {
                continue;
            }
            let place = Place {
                file: self.file,
                id: index as u32,
            };
            let Some(plain) = self.linker.as_value(place) else {
                continue;
            };
            let mut value = Set::of(plain, Evidence::Lexical);
            for &decorator in definition.decorators.iter().rev() {
                let arguments = Arguments::of_one(value.clone());
                let decorators = self.expand(self.set_of(decorator).facts());
                let mut next = Set::default();
                for &fact in decorators.facts() {
                    self.apply(fact, &arguments, decorator, &mut next);
                }
                let known = next
                    .facts()
                    .iter()
                    .any(|fact| !matches!(fact.value, Value::Foreign | Value::External(_)));
                if known && !next.is_many() {
                    value = next;
                }
            }
            let mut extra = Set::default();
            for &fact in value.facts() {
                if fact.value != plain {
                    extra.insert(fact.at_best(Evidence::FollowedValue));
                }
            }
            let name = decorated_name(place);
            if self
                .decorated
                .get(&name)
                .map_or(!extra.is_empty(), |known| *known != extra)
            {
                self.changed = true;
            }
            self.contribute(Key::variable(self.file, name), extra.facts(), Evidence::FollowedValue);
            self.decorated.insert(name, extra);
        }
    }

    fn flow(&mut self, flow: Flow) {
        match flow {
            Flow::Assign { target, value, .. } => {
                let values = self.set_of(value);
                if !values.is_empty() {
                    self.assign(target, values.facts());
                }
            }
            Flow::Typed { target, type_ } => {
                let values = self.instances(self.facts_of(type_));
                if !values.is_empty() {
                    self.assign(target, values.facts());
                }
            }
            Flow::Return { function, value } => {
                let definition = self.facts.definition(function);
                let declared = definition
                    .result
                    .is_some_and(|result| !self.instances(self.facts_of(result)).is_empty());
                if definition.flags.contains(Flags::GENERATOR) {
                    return;
                }
                let values = self.set_of(value);
                let key = Key::returned(self.place(function));
                for &fact in values
                    .facts()
                    .iter()
                    .filter(|fact| !declared || is_callable(fact.value))
                {
                    let at_best = match fact.value {
                        Value::Instance(_) => Evidence::InferredReceiver,
                        _ => Evidence::FollowedValue,
                    };
                    self.contribute(key, &[fact], at_best);
                }
            }
            Flow::Yield { function, value } => {
                let values = self.set_of(value);
                let object = self.place(function).object(Place::GENERATOR);
                self.fill(object, UNKEYED, values.facts());
            }
        }
    }

    /// Puts values into a member or an index; names pull for themselves.
    fn assign(&mut self, target: ExpressionId, facts: &[Fact]) {
        match *self.facts.expression(target) {
            Expression::Member { object, name } => {
                let word = self.words[name.index()];
                let objects = self.expand(self.set_of(object).facts());
                for object in objects.facts() {
                    match object.value {
                        Value::Instance(class) | Value::Class(class) | Value::Function(class) => {
                            self.contribute(Key::field(class, word), facts, Evidence::Lexical);
                        }
                        Value::Object(object) => self.fill(object, word, facts),
                        Value::Module(file) => self.contribute(Key::variable(file, word), facts, Evidence::Lexical),
                        _ => {}
                    }
                }
            }
            Expression::Index { object, key } => {
                let part = key.map_or(UNKEYED, |key| self.words[key.index()]);
                let objects = self.expand(self.set_of(object).facts());
                for object in objects.facts() {
                    if let Value::Object(object) = object.value {
                        self.fill(object, part, facts);
                    }
                }
            }
            _ => {}
        }
    }

    fn publish_definitions(&mut self) {
        for index in 0..self.facts.definitions.len() {
            let definition = &self.facts.definitions[index];
            let place = Place {
                file: self.file,
                id: index as u32,
            };
            let owner = self.linker.definition(place).and_then(|link| link.owner);
            let word = self.words[definition.name.index()];
            if runs(definition) {
                let key = Key::returned(place);
                if let Some(result) = definition.result {
                    let values = self.instances(self.facts_of(result));
                    self.contribute(key, values.facts(), Evidence::DeclaredReceiver);
                }
                if definition.flags.contains(Flags::GENERATOR) {
                    let generator = Fact::new(Value::Object(place.object(Place::GENERATOR)), Evidence::FollowedValue);
                    self.contribute(key, &[generator], Evidence::FollowedValue);
                }
                continue;
            }
            if is_type(definition.kind)
                && let Some(type_) = definition.result
            {
                let values = self.instances(self.facts_of(type_));
                self.contribute(
                    Key::field(place, UNDERLYING),
                    values.facts(),
                    Evidence::DeclaredReceiver,
                );
                continue;
            }
            match (definition.kind, definition.result, owner) {
                (Kind::EnumMember, _, Some(owner)) => {
                    let member = Fact::new(Value::Instance(owner), Evidence::DeclaredReceiver);
                    self.contribute(Key::field(owner, word), &[member], Evidence::DeclaredReceiver);
                }
                (Kind::TypeAlias, Some(type_), None) => {
                    let types = self.set_of(type_);
                    self.contribute(Key::variable(self.file, word), types.facts(), Evidence::Lexical);
                }
                (Kind::TypeAlias, Some(type_), Some(owner)) => {
                    let types = self.set_of(type_);
                    self.contribute(Key::field(owner, word), types.facts(), Evidence::Lexical);
                }
                (_, Some(type_), Some(owner)) => {
                    let values = self.instances(self.facts_of(type_));
                    self.contribute(Key::field(owner, word), values.facts(), Evidence::DeclaredReceiver);
                }
                _ => {}
            }
        }
    }

    /// Contributes what variables of the file and of its types hold in the end.
    fn publish_names(&mut self) {
        for number in 0..self.facts.bindings.len() {
            let binding = self.facts.bindings[number];
            let Some(scope) = self.facts.scopes.get(binding.scope.index()) else {
                continue;
            };
            let word = self.words[binding.name.index()];
            let key = match (scope.kind, scope.definition) {
                (ScopeKind::File, _) => Key::variable(self.file, word),
                (ScopeKind::Type | ScopeKind::Module, Some(class)) => Key::field(self.place(class), word),
                _ => continue,
            };
            let mut sources: SmallVec<[Source; 4]> = SmallVec::new();
            self.bindings.lasting(number as u32, |source| {
                if !matches!(source, Source::Import(_)) {
                    sources.push(source);
                }
            });
            // A name that only ever is one definition is found by the linker.
            if let [Source::Definition(_)] = sources.as_slice() {
                continue;
            }
            let values = self.sources(&sources);
            self.contribute(key, values.facts(), Evidence::Lexical);
        }
    }

    fn publish_exports(&mut self) {
        let links = &self.linker.links[self.file as usize];
        for export in &self.facts.exports {
            let word = self.words[export.name.index()];
            if let (Some(value), Some(ExportLink::Value)) = (export.value, links.export(word)) {
                let values = self.set_of(value);
                self.contribute(exported(self.file, word), values.facts(), Evidence::Lexical);
            }
        }
    }
}

/// Adds what a variable holds: instances keep the evidence of their type, everything else was followed.
pub fn add_held(set: &mut Set, facts: &[Fact], at_best: Evidence) {
    for &fact in facts {
        let followed = match fact.value {
            Value::Function(_) | Value::Class(_) | Value::Method(..) | Value::MethodOf(..) | Value::ClassMethod(..) => {
                Evidence::FollowedValue
            }
            _ => at_best,
        };
        set.insert(fact.at_best(followed));
    }
}

fn is_callable(value: Value) -> bool {
    matches!(
        value,
        Value::Function(_) | Value::Method(..) | Value::MethodOf(..) | Value::ClassMethod(..)
    )
}

/// The word of a position in a sequence.
pub fn position_word(position: usize) -> Word {
    let mut text = itoa::Buffer::new();
    Word::of(text.format(position))
}

fn is_metaclass(evaluation: &Evaluation<'_>, class: Place) -> bool {
    let bases = evaluation.linker.bases(class);
    bases.iter().any(|base| Some(base.value) == evaluation.metaclass)
}
