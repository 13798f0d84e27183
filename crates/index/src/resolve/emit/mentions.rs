//! Mentions: the definitions that a name or member itself stands for, and the accessors that using a property runs.

use smallvec::SmallVec;
use syntax::facts::{Bound, Expression, ExpressionId, Flags, Reference, Role};

use super::{Emission, End, Ends};
use crate::model::{EdgeKind, Evidence};
use crate::resolve::linker::Found;
use crate::resolve::links::{ModuleTarget, is_variable};
use crate::resolve::value::{Place, Value};
use crate::resolve::words::{Key, Word};

impl Emission<'_, '_> {
    /// Adds the accessors that a mention of a property runs.
    pub(super) fn accessors(&mut self, expression: ExpressionId, flag: Flags, ends: &mut Ends) {
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
        if ends.iter().any(|(_, _, kind)| *kind == EdgeKind::Calls) {
            self.heirs_given(expression, flag, ends);
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

    /// A mention other than a call.
    pub(super) fn mention(&mut self, reference: Reference, kind: EdgeKind) {
        let mut found = self.definitions_of(reference.expression);
        if matches!(reference.role, Role::Read | Role::Write) {
            self.variables_first(&mut found);
        }
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

    /// Of a field and a method of one name, what is read or written without a call is the field.
    fn variables_first(&self, found: &mut SmallVec<[(End, Evidence); 2]>) {
        let linker = self.evaluation.linker;
        let kept = |(end, _): &(End, Evidence)| match end {
            End::Definition(place) => linker.definition(*place).is_some_and(|link| {
                is_variable(link.kind) || link.flags.contains(Flags::GETTER) || link.flags.contains(Flags::SETTER)
            }),
            _ => true,
        };
        let has_variable = found.len() > 1 && found.iter().any(|end| matches!(end.0, End::Definition(_)) && kept(end));
        if has_variable {
            found.retain(|end| kept(end));
        }
    }

    /// The definitions that a name or member itself stands for, whatever its value.
    pub(super) fn definitions_of(&mut self, expression: ExpressionId) -> SmallVec<[(End, Evidence); 2]> {
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

    pub(super) fn add_members(
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

    pub(super) fn add_names(&self, names: &[Found], evidence: Evidence, found: &mut SmallVec<[(End, Evidence); 2]>) {
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
}
