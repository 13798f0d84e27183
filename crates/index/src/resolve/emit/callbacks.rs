//! Functions that somebody else calls for us: the language's own functions and methods, and libraries.

use smallvec::SmallVec;
use syntax::facts::{Expression, ExpressionId, Kind};

use super::{Emission, End, Ends};
use crate::model::{EdgeKind, Evidence};
use crate::resolve::languages::{Builtin, Callbacks, Operation};
use crate::resolve::value::{Fact, Place, Set, Value};
use crate::resolve::words::Word;

impl Emission<'_, '_> {
    /// Functions that a known higher-order function or method calls for us.
    pub(super) fn callbacks(&mut self, callee: ExpressionId, values: &[Fact], ends: &mut Ends) {
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
        let mut invoked = SmallVec::<[Set; 2]>::new();
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
            Some(Builtin::Invokes | Builtin::Settles) => invoked.extend(arguments.all().cloned()),
            Some(Builtin::Applies | Builtin::Calls(_)) => {
                invoked.extend(arguments.positional.first().map(|(set, _)| set.clone()))
            }
            Some(Builtin::Copies) => invoked.extend(arguments.positional.get(1).map(|(set, _)| set.clone())),
            _ => {}
        }
        if let (Some(Operation::Run | Operation::Call | Operation::Apply), Expression::Member { object, .. }) =
            (method, *self.evaluation.facts.expression(callee))
        {
            invoked.push(self.evaluation.set_of(object));
        }
        if method == Some(Operation::Sort) && !of_tree {
            invoked.extend(arguments.key().cloned());
        }
        if method.is_some_and(Operation::invokes) && !of_tree {
            invoked.extend(arguments.positional.iter().map(|(set, _)| set.clone()));
            invoked.extend(arguments.block.clone());
        }
        if builtin.is_none() && method.is_none() && !of_tree {
            invoked.extend(self.called_outside(values, ExpressionId(call)));
        }
        if !of_tree && let Expression::Member { object, name } = *self.evaluation.facts.expression(callee) {
            self.run_by_library(object, self.evaluation.word(name), ends);
        }
        for set in invoked {
            for fact in self.evaluation.expand(set.facts()).facts() {
                if let Value::Instance(class) = fact.value {
                    let runs = |method| (End::Definition(method), Evidence::FollowedValue, EdgeKind::Calls);
                    ends.extend(self.methods_given(class).into_iter().map(runs));
                }
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

    /// What a method of outside runs of the heir that it is called on: `Worker().start()` runs `Worker.run`.
    fn run_by_library(&mut self, object: ExpressionId, called: Word, ends: &mut Ends) {
        if !self.evaluation.policy.runs.contains_key(&called) {
            return;
        }
        for fact in self.evaluation.expanded(object).facts() {
            let evidence = fact.evidence.max(Evidence::FollowedValue);
            if let Value::Instance(class) = fact.value {
                for method in self.run_of(class, called) {
                    ends.push((End::Definition(method), evidence, EdgeKind::Calls));
                }
            }
        }
    }

    /// The methods of `class` that classes of outside above it run when `called` is; without a name, when it is given away.
    fn run_of(&self, class: Place, called: Word) -> SmallVec<[Place; 2]> {
        let linker = self.evaluation.linker;
        let runs = self.evaluation.policy.runs.get(&called).map_or(&[][..], Vec::as_slice);
        let mut found = SmallVec::new();
        if runs.is_empty() {
            return found;
        }
        let alone = [class];
        let lineage = linker.ancestry(class).map_or(&alone[..], |ancestry| &ancestry.classes);
        let extends = |base: Word| {
            let mut bases = lineage.iter().flat_map(|&class| linker.bases(class));
            bases.any(|known| known.value == Value::External(base))
        };
        for &(_, run) in runs.iter().filter(|(base, _)| extends(*base)) {
            found.extend(linker.inherited_members(class, run));
        }
        found
    }

    /// The functions among the arguments of a call that a function of outside gets to call.
    pub(super) fn called_outside(&self, callees: &[Fact], call: ExpressionId) -> Option<Set> {
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
        let mut called = Set::default();
        for &argument in self.evaluation.facts.list(arguments) {
            for &fact in self.evaluation.facts_of(ExpressionId(argument)) {
                let runs = match fact.value {
                    Value::Function(function) | Value::Method(function, _) | Value::ClassMethod(function, _) => {
                        let link = linker.definition(function);
                        link.is_some_and(|link| link.kind == Kind::Lambda) || calls == Callbacks::Functions
                    }
                    Value::Instance(class) => !self.methods_given(class).is_empty(),
                    _ => false,
                };
                if runs {
                    called.insert(fact);
                }
            }
        }
        Some(called)
    }

    /// What whoever gets an instance of this class runs: all that a class without a name can do, which like a lambda is written
    /// for nobody else, and what is asked of it by a class of outside.
    fn methods_given(&self, class: Place) -> SmallVec<[Place; 2]> {
        let evaluation = &self.evaluation;
        let links = evaluation.linker.own(evaluation.file);
        let definition = match class.file == evaluation.file {
            true => evaluation.facts.definitions.get(links.numbers.position(class.id)),
            false => None,
        };
        if !definition.is_some_and(|found| is_nameless(evaluation.facts.text(found.name))) {
            return self.run_of(class, Word::of(""));
        }
        let is_open = |id: u32| {
            links
                .definition(id)
                .is_some_and(|link| link.kind == Kind::Method && !link.private)
        };
        let members = links.all_members_of(class.id).iter().filter(|(_, _, id)| is_open(*id));
        members.map(|&(_, _, id)| Place { id, ..class }).collect()
    }
}

/// Whether a name is a number in the place of one: `<class1>`, and `$1` where the language itself numbers such classes. Names
/// that people write may begin with a dollar too.
fn is_nameless(name: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    name.starts_with('<') || name.strip_prefix('$').is_some_and(is_number)
}
