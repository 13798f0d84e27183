//! Functions written in place that have a receiver of their own: `block: Scope.() -> Unit`, `apply { … }`. Members of the receiver are
//! visible bare in them, before those of the types around.

use smallvec::SmallVec;
use syntax::facts::{Expression, ExpressionId, Kind, ScopeId, ScopeKind};

use super::calls::Arguments;
use super::evaluate::Evaluation;
use super::overloads::function_of;
use super::value::{Fact, Place, RECEIVER, Set, Value};
use super::words::{Key, Word};
use crate::model::Evidence;

/// The functions of `found` as surely as `named` has them: what the name alone stands for needs no other reason.
pub(super) fn as_sure(found: Set, named: &Set) -> Set {
    let mut sure = Set::default();
    for &fact in found.facts() {
        let mut same = named
            .facts()
            .iter()
            .filter(|known| function_of(known.value) == function_of(fact.value));
        let known = same.next().filter(|_| function_of(fact.value).is_some());
        let evidence = known.map_or(fact.evidence, |known| known.evidence.min(fact.evidence));
        sure.insert(Fact::new(fact.value, evidence));
    }
    sure
}

impl Evaluation<'_> {
    /// The functions written in place that the code of `scope` is in, innermost first, up to the function or type around them.
    pub(super) fn lambdas_around(&self, scope: ScopeId) -> SmallVec<[Place; 2]> {
        let mut lambdas = SmallVec::new();
        let mut at = Some(scope);
        while let Some(scope) = at.and_then(|id| self.facts.scopes.get(id.index())) {
            if let Some(definition) = scope.definition {
                match self.facts.definition(definition).kind {
                    Kind::Lambda => lambdas.push(self.place(definition)),
                    _ if matches!(scope.kind, ScopeKind::Function | ScopeKind::Type) => break,
                    _ => {}
                }
            }
            at = scope.parent;
        }
        lambdas
    }

    /// What a function written in place has as receiver.
    pub(super) fn lambda_receivers(&mut self, lambda: Place) -> Set {
        let given = self.read(Key::parameter(lambda, RECEIVER));
        let mut receivers = Set::default();
        for &fact in given.facts() {
            if matches!(fact.value, Value::Instance(_)) {
                receivers.insert(fact);
            }
        }
        receivers
    }

    /// The member that a bare name means in a function written in place that has a receiver.
    pub(super) fn scoped_member(&mut self, scope: ScopeId, name: Word, text: &str) -> Set {
        for lambda in self.lambdas_around(scope) {
            let found = self.member_of_lambda(lambda, name, text);
            if !found.is_empty() {
                return found;
            }
        }
        Set::default()
    }

    pub(super) fn member_of_lambda(&mut self, lambda: Place, name: Word, text: &str) -> Set {
        let receivers = self.lambda_receivers(lambda);
        let mut found = self.member(receivers.facts(), name, text);
        found.retain(|fact| !matches!(fact.value, Value::Foreign | Value::Many));
        found
    }

    /// Gives what is written in place for a function of the language the receiver that it runs with.
    pub(super) fn pass_to_scope(&mut self, callee: ExpressionId, callees: &[Fact], arguments: &Arguments) {
        let names = self.policy.policy.scope_functions;
        if names.is_empty() || !callees.iter().all(|fact| fact.value == Value::Foreign) {
            return;
        }
        let Some((block, _)) = arguments.positional.last() else {
            return;
        };
        let receivers = match *self.facts.expression(callee) {
            Expression::Member { object, name } if names.contains(&self.facts.text(name)) => self.expanded(object),
            Expression::Free { name, .. }
                if names.contains(&self.facts.text(name)) && arguments.positional.len() > 1 =>
            {
                self.expand(arguments.get(0).facts())
            }
            _ => return,
        };
        let mut known = Set::default();
        for &fact in receivers.facts() {
            if matches!(fact.value, Value::Instance(_)) {
                known.insert(fact);
            }
        }
        for fact in block.facts() {
            if let Value::Function(place) = fact.value
                && place.file == self.file
                && self
                    .linker
                    .definition(place)
                    .is_some_and(|link| link.kind == Kind::Lambda)
            {
                self.contribute(Key::parameter(place, RECEIVER), known.facts(), Evidence::FollowedValue);
            }
        }
    }
}
