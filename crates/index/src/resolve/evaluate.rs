//! The abstract evaluator of one file: what each of its expressions can be worth, given what the other files said in the
//! round before.
//!
//! Expressions are stored children first, so one pass over the vector evaluates them all; passes repeat until nothing
//! changes. Names pull from the writes that reach them, members and calls look into [`super::linker`] and the tables, and
//! whatever leaves the file (returns, fields, variables, arguments) is contributed under a [`Key`].

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use smallvec::SmallVec;
use syntax::facts::{DefinitionId, Expression, ExpressionId, FileFacts, Name};

use super::Sought;
use super::bindings::Bindings;
use super::languages::{BaseOrder, Compiled};
use super::linker::Names;
use super::members;
use super::names::is_callable;
use super::passes::{Kept, Ledger};
use super::tables::{Contributions, Round};
use super::value::{Fact, Place, Set, Value};
use super::view::View;
use super::words::{Key, Word, WordMap};
use crate::model::Evidence;

/// Most passes over one file in one round.
const MAX_PASSES: usize = 8;
/// Most parameters that are looked through to find what callers pass.
const MAX_EXPANSION: usize = 32;
/// What `await`, `?` and the like take out of a generic type.
pub const PAYLOAD: Word = Word(5);
/// What a function type holds as receiver.
pub const RECEIVER_PART: &str = "this";
/// What a type that is made of another one holds: `type List []Item`.
pub const UNDERLYING: Word = Word(6);

/// Members by (type, name).
pub(super) type Lookups = WordMap<(Word, Word), SmallVec<[members::Found; 2]>>;

/// Members of a type and of all its ancestors, by (type, name): position among the ancestors, then the member.
pub(super) type Owned = WordMap<(Word, Word), SmallVec<[(u32, Place); 2]>>;

/// One file being evaluated.
pub struct Evaluation<'a> {
    pub linker: View<'a>,
    pub round: &'a Round,
    pub file: u32,
    pub facts: &'a FileFacts,
    pub policy: &'a Compiled,
    /// By [`Name`], found so far: most texts are never looked up.
    words: Vec<Cell<Option<Word>>>,
    pub(super) bindings: Bindings,
    /// The external class whose heirs are classes of classes.
    pub(super) metaclass: Option<Value>,
    /// What was read and said so far.
    pub(super) ledger: Ledger,
    /// Members found so far, by (type, name).
    pub(super) lookups: RefCell<Lookups>,
    /// What bare names mean that the file does not bind, found so far.
    pub(super) ambients: WordMap<Word, Names>,
    /// Members found so far in all ancestors of a type.
    pub(super) owned: RefCell<Owned>,
    /// What imports bind, found so far.
    pub(super) imports: Vec<Option<Names>>,
    /// What runs when an instance is made, found so far.
    pub(super) constructors: RefCell<WordMap<u64, SmallVec<[Place; 2]>>>,
    /// What is being called is only likely.
    pub(super) guesses_callee: bool,
    /// By binding, filled when first asked for.
    pub(super) declared_types: OnceCell<Vec<Option<ExpressionId>>>,
}

/// What an evaluation leaves for the next round.
pub(super) struct Left {
    pass: Kept,
    bindings: Bindings,
    /// What it had looked at by then, sorted; filled in by who keeps it.
    pub(super) reads: Arc<[Key]>,
}

impl Left {
    /// About how much memory it takes.
    pub(super) fn size(&self) -> usize {
        self.pass.size() + self.bindings.size()
    }

    /// Whether [`Evaluation::settled`] can tell what came of it.
    pub(super) fn is_settled(&self) -> bool {
        self.pass.is_settled()
    }
}

impl<'a> Evaluation<'a> {
    /// Evaluates `facts` to a fixed point (or [`MAX_PASSES`]).
    pub fn new(linker: View<'a>, round: &'a Round, file: u32, facts: &'a FileFacts) -> Evaluation<'a> {
        let steps = facts.expressions.len()
            + 2 * facts.definitions.len()
            + facts.flows.len()
            + facts.bindings.len()
            + facts.exports.len();
        let ledger = Ledger::new(steps, facts.expressions.len());
        let bindings = Bindings::new(facts, linker.policy(file).policy.hoists);
        let mut evaluation = Evaluation::with(linker, round, file, facts, ledger, bindings);
        evaluation.run();
        evaluation
    }

    /// As [`Evaluation::new`], with what an evaluation in an earlier round left. Other files have said something new about
    /// `changed` since, or about anything if that is not known.
    pub(super) fn resume(
        linker: View<'a>,
        round: &'a Round,
        file: u32,
        facts: &'a FileFacts,
        left: Left,
        changed: Option<&Sought<'_>>,
    ) -> Evaluation<'a> {
        let ledger = Ledger::follow(left.pass, round, file, changed);
        let mut evaluation = Evaluation::with(linker, round, file, facts, ledger, left.bindings);
        evaluation.run();
        evaluation
    }

    /// What an earlier evaluation came to, which is left, when no other file has said anything new since.
    pub(super) fn settled(
        linker: View<'a>,
        round: &'a Round,
        file: u32,
        facts: &'a FileFacts,
        left: Left,
    ) -> Evaluation<'a> {
        Evaluation::with(linker, round, file, facts, left.pass.settle(), left.bindings)
    }

    fn with(
        linker: View<'a>,
        round: &'a Round,
        file: u32,
        facts: &'a FileFacts,
        ledger: Ledger,
        bindings: Bindings,
    ) -> Evaluation<'a> {
        let policy = linker.policy(file);
        Evaluation {
            linker,
            round,
            file,
            facts,
            policy,
            words: vec![Cell::new(None); facts.strings.len()],
            bindings,
            metaclass: policy
                .builtin_names
                .get(&Word::of("type"))
                .copied()
                .map(Value::External),
            ledger,
            lookups: RefCell::default(),
            ambients: WordMap::default(),
            owned: RefCell::default(),
            imports: vec![None; facts.imports.len()],
            constructors: RefCell::default(),
            guesses_callee: false,
            declared_types: OnceCell::new(),
        }
    }

    fn run(&mut self) {
        for _ in 0..MAX_PASSES {
            while let Some(step) = self.ledger.next() {
                self.ledger.begin(step);
                self.perform(step);
                self.ledger.end();
            }
            self.ledger.end_pass();
            if !self.ledger.is_restless() {
                return;
            }
            self.ledger.begin_pass();
        }
    }

    /// What the file contributes.
    pub fn contributions(&self) -> Contributions {
        Contributions::new(self.ledger.contributions())
    }

    /// Which keys were read.
    pub fn reads(&self) -> Vec<Key> {
        self.ledger.reads()
    }

    /// About how much memory [`Evaluation::leave`] would take.
    pub(super) fn size(&self) -> usize {
        self.ledger.size() + self.bindings.size()
    }

    /// What a later round can start from.
    pub(super) fn leave(self) -> Left {
        Left {
            pass: self.ledger.keep(),
            bindings: self.bindings,
            reads: Arc::new([]),
        }
    }

    /// Ends it, with nothing left but memory for the next one.
    pub(super) fn retire(self) {
        self.ledger.retire();
    }

    /// The word of a text of this file.
    pub fn word(&self, name: Name) -> Word {
        let word = || Word::of(self.facts.text(name));
        let Some(known) = self.words.get(name.index()) else {
            return word();
        };
        known.get().unwrap_or_else(|| {
            let word = word();
            known.set(Some(word));
            word
        })
    }

    /// The facts of an expression.
    pub fn facts_of(&self, expression: ExpressionId) -> &[Fact] {
        self.ledger.value(expression.index())
    }

    /// The facts of an expression, as a set of its own.
    pub fn set_of(&self, expression: ExpressionId) -> Set {
        Set::copied(self.facts_of(expression))
    }

    /// The place of a definition of this file.
    pub fn place(&self, id: DefinitionId) -> Place {
        self.linker.place(self.file, id.0)
    }

    /// What all files say about `key`.
    pub fn read(&mut self, key: Key) -> Set {
        self.ledger.read(key, self.round, self.file)
    }

    /// Adds facts to `key`, leaving out what is of no use elsewhere.
    pub fn contribute(&mut self, key: Key, facts: &[Fact], at_best: Evidence) {
        if !facts.is_empty() {
            self.ledger.say(key, facts, at_best);
        }
    }

    /// The facts of an expression, with parameters replaced by what callers pass for them.
    pub fn expanded(&mut self, expression: ExpressionId) -> Set {
        let set = self.set_of(expression);
        match set
            .facts()
            .iter()
            .any(|fact| matches!(fact.value, Value::Parameter(..)))
        {
            true => self.expand(set.facts()),
            false => set,
        }
    }

    /// Replaces parameters by what callers pass for them.
    pub fn expand(&mut self, facts: &[Fact]) -> Set {
        if !facts.iter().any(|fact| matches!(fact.value, Value::Parameter(..))) {
            return Set::copied(facts);
        }
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

    /// What one step of a pass does: expressions come first, then decorated definitions, flows, definitions, names, exports.
    fn perform(&mut self, step: usize) {
        let facts = self.facts;
        let mut at = step;
        if at < facts.expressions.len() {
            if let Some(set) = self.transfer(ExpressionId(at as u32)) {
                self.ledger.set_value(at, set.facts());
            }
            return;
        }
        at -= facts.expressions.len();
        if at < facts.definitions.len() {
            return self.decorate(DefinitionId(at as u32));
        }
        at -= facts.definitions.len();
        if at < facts.flows.len() {
            return self.flow(facts.flows[at]);
        }
        at -= facts.flows.len();
        if at < facts.definitions.len() {
            return self.publish_definition(DefinitionId(at as u32));
        }
        at -= facts.definitions.len();
        if at < facts.bindings.len() {
            return self.publish_name(at);
        }
        at -= facts.bindings.len();
        if let Some(export) = facts.exports.get(at) {
            self.publish_export(export);
        }
    }

    /// The value of one expression from those of its children; `None` when it never has one.
    pub(super) fn transfer(&mut self, id: ExpressionId) -> Option<Set> {
        let expression = *self.facts.expression(id);
        Some(match expression {
            Expression::Unknown | Expression::Text(_) | Expression::Literal(_) => return None,
            Expression::Bound { binding, at } => self.bound(binding.0, at),
            Expression::Free { name, scope } => self.free(name, scope),
            Expression::Member { object, name } => {
                let objects = self.object_of_member(object);
                let (word, text) = (self.word(name), self.facts.text(name));
                let members = self.member(objects.facts(), word, text);
                self.with_extensions(object, word, members)
            }
            Expression::Call { callee, arguments } => {
                let arguments = self.arguments(arguments);
                self.call(id, callee, &arguments)
            }
            Expression::New { type_, arguments } => {
                let arguments = self.arguments(arguments);
                let types = self.expanded(type_);
                let mut set = Set::default();
                for &fact in types.facts() {
                    self.construct(fact, &arguments, id, &mut set);
                }
                set
            }
            Expression::Argument { value, .. } => self.set_of(value),
            Expression::Index { object, key } => {
                let object = self.expanded(object);
                self.index(object.facts(), key.map(|key| self.word(key)))
            }
            Expression::Sequence { elements } => self.sequence(id, self.facts.list(elements)),
            Expression::Mapping { entries } => self.mapping(id, self.facts.list(entries)),
            Expression::Definition(definition) => {
                let mut set = Set::default();
                self.definition_value(definition, Evidence::Lexical, &mut set);
                set
            }
            Expression::This(scope) => self.this(scope),
            Expression::Super(scope) => {
                let (class, function) = self.receiver_of(scope);
                let mut set = Set::default();
                if let Some(class) = class {
                    set.insert(Fact::new(Value::Super(class), Evidence::DeclaredReceiver));
                    if let Some(function) = function
                        && self.policy.policy.order == BaseOrder::C3
                    {
                        self.sideways(class, self.place(function), &mut set);
                    }
                }
                set
            }
            Expression::Choice(list) => {
                let mut set = Set::default();
                for &choice in self.facts.list(list) {
                    set.extend(self.facts_of(ExpressionId(choice)));
                }
                set
            }
            Expression::Unwrap(inner) => {
                let inner = self.expanded(inner);
                self.unwrap(inner.facts())
            }
            Expression::Element(inner) => {
                let inner = self.expanded(inner);
                self.element(inner.facts())
            }
            Expression::Item(inner, position) => {
                let inner = self.expanded(inner);
                self.item(inner.facts(), position)
            }
            Expression::Entered(inner) => {
                let inner = self.expanded(inner);
                self.entered(inner.facts())
            }
            Expression::Module(name) => self.text_module(self.word(name)),
            Expression::Typed(type_) => self.instances(self.facts_of(type_)),
            Expression::Generic { base, arguments } => self.generic(id, base, self.facts.list(arguments)),
            Expression::Wrapped(inner) => self.set_of(inner),
            Expression::FunctionType(list) => {
                if let Some((&result, parameters)) = self.facts.list(list).split_last() {
                    self.declare_parameters(id, parameters);
                    let result = self.instances(self.facts_of(ExpressionId(result)));
                    let key = Key::result_of_object(self.object(id));
                    self.contribute(key, result.facts(), Evidence::DeclaredReceiver);
                }
                Set::of(Value::Object(self.object(id)), Evidence::DeclaredReceiver)
            }
        })
    }

    /// The values that a member is looked up in. Where functions stand for objects, a name that is read is a variable's: a
    /// method of the same name is not meant.
    fn object_of_member(&self, object: ExpressionId) -> Set {
        let set = self.set_of(object);
        let is_name = matches!(
            self.facts.expression(object),
            Expression::Free { .. } | Expression::Member { .. }
        );
        let direct = |fact: &Fact| is_callable(fact.value) && fact.evidence <= Evidence::Inherited;
        if !is_name || !self.policy.policy.functions_as_objects || !set.facts().iter().any(direct) {
            return set;
        }
        let mut read = Set::default();
        for &fact in set.facts().iter().filter(|fact| !direct(fact)) {
            read.insert(fact);
        }
        read
    }

    /// The object that an expression of this file makes.
    pub fn object(&self, id: ExpressionId) -> Place {
        Place {
            file: self.file,
            id: self.linker.own(self.file).expressions.of(id.0),
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

/// The word of a position in a sequence.
pub fn position_word(position: usize) -> Word {
    let mut text = itoa::Buffer::new();
    Word::of(text.format(position))
}
