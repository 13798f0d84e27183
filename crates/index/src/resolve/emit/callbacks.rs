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
                if let Value::Instance(class) = fact.value {
                    let runs = |method| (End::Definition(method), Evidence::FollowedValue, EdgeKind::Calls);
                    ends.extend(self.methods_of_nameless(class).map(runs));
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
                    Value::Instance(class) => self.methods_of_nameless(class).next().is_some(),
                    _ => false,
                };
                if runs {
                    called.insert(fact);
                }
            }
        }
        Some(called)
    }

    /// What a class without a name that this file writes can do: like a lambda, it is made for whoever gets it.
    fn methods_of_nameless(&self, class: Place) -> impl Iterator<Item = Place> + use<'_> {
        let evaluation = &self.evaluation;
        let links = evaluation.linker.own(evaluation.file);
        let definition = match class.file == evaluation.file {
            true => evaluation.facts.definitions.get(links.numbers.position(class.id)),
            false => None,
        };
        let is_nameless = definition.is_some_and(|found| evaluation.facts.text(found.name).starts_with(['$', '<']));
        let members = if is_nameless {
            links.all_members_of(class.id)
        } else {
            &[]
        };
        members.iter().filter_map(move |&(_, _, member)| {
            let link = links.definition(member)?;
            (link.kind == Kind::Method && !link.private).then_some(Place {
                file: class.file,
                id: member,
            })
        })
    }
}
