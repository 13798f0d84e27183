//! What a file asks of whatever bears a name. Where nothing types a receiver, it is of a type that has all of it: of few types at most
//! when enough is asked.

use std::collections::HashMap;

use smallvec::SmallVec;
use syntax::facts::{Expression, ExpressionId, FileFacts, Name, Role};

use super::{Emission, MAX_DISPATCH};
use crate::resolve::value::Place;
use crate::resolve::words::Word;

/// Up to how many members are remembered to be asked of a name.
const MAX_ASKED: usize = 32;

/// The members asked of each name, and the types that fit those names that were looked up.
pub(super) struct Uses {
    asked: HashMap<Name, SmallVec<[Name; 8]>>,
    fitting: HashMap<Name, SmallVec<[Place; 2]>>,
}

impl Uses {
    fn gather(facts: &FileFacts) -> Uses {
        let mut asked: HashMap<Name, SmallVec<[Name; 8]>> = HashMap::new();
        for reference in facts.references.iter() {
            if !matches!(reference.role, Role::Call | Role::Write) {
                continue;
            }
            let Expression::Member { object, name } = *facts.expression(reference.expression) else {
                continue;
            };
            // The writer of a member is beside the member that it sets.
            let Some(receiver) = spoken(facts, object).filter(|_| !facts.text(name).ends_with('=')) else {
                continue;
            };
            let names = asked.entry(receiver).or_default();
            if names.len() < MAX_ASKED && !names.contains(&name) {
                names.push(name);
            }
        }
        let fitting = HashMap::new();
        Uses { asked, fitting }
    }
}

/// The name that a receiver bears: of a variable, or of the member that gives it.
fn spoken(facts: &FileFacts, object: ExpressionId) -> Option<Name> {
    match *facts.expression(object) {
        Expression::Bound { binding, .. } => facts.bindings.get(binding.index()).map(|binding| binding.name),
        Expression::Free { name, .. } | Expression::Member { name, .. } => Some(name),
        Expression::Call { callee, .. } => match *facts.expression(callee) {
            Expression::Free { name, .. } | Expression::Member { name, .. } => Some(name),
            _ => None,
        },
        _ => None,
    }
}

impl Emission<'_, '_> {
    /// The members of the called name in the types that have everything that this file asks of the receiver's name.
    pub(super) fn fitting_members(&mut self, callee: ExpressionId) -> SmallVec<[Place; 4]> {
        let facts = self.evaluation.facts;
        let mut found = SmallVec::new();
        let Expression::Member { object, name } = *facts.expression(callee) else {
            return found;
        };
        let Some(receiver) = spoken(facts, object) else {
            return found;
        };
        let linker = self.evaluation.linker;
        let word = self.evaluation.word(name);
        for class in self.fitting_types(receiver) {
            for member in linker.inherited_members(class, word) {
                if !found.contains(&member) {
                    found.push(member);
                }
            }
        }
        found
    }

    fn fitting_types(&mut self, receiver: Name) -> SmallVec<[Place; 2]> {
        let facts = self.evaluation.facts;
        let uses = self.uses.get_or_insert_with(|| Uses::gather(facts));
        if let Some(known) = uses.fitting.get(&receiver) {
            return known.clone();
        }
        let policy = self.evaluation.policy;
        let asked = uses.asked.get(&receiver).into_iter().flatten();
        let mut asked: SmallVec<[Word; 8]> = asked.map(|&name| Word::of(facts.text(name))).collect();
        asked.retain(|name| !policy.universal_members.contains(name));
        // What the language's own types have as well tells nothing by itself.
        let tells = asked.len() > 1 && asked.iter().any(|name| !policy.builtin_members.contains(name));
        let fitting = if tells {
            self.types_with(&asked)
        } else {
            SmallVec::new()
        };
        if let Some(uses) = &mut self.uses {
            uses.fitting.insert(receiver, fitting.clone());
        }
        fitting
    }

    /// The types whose instances have all members of these names, their heirs left out.
    fn types_with(&self, names: &[Word]) -> SmallVec<[Place; 2]> {
        let linker = self.evaluation.linker;
        let file = self.evaluation.file;
        let named = names.iter().map(|&name| linker.members_named(file, name));
        let rarest = named.min_by_key(|members| members.len()).unwrap_or_default();
        let mut types = SmallVec::new();
        if rarest.len() > MAX_DISPATCH {
            return types;
        }
        let has_all = |class: &Place| {
            names
                .iter()
                .all(|&name| !linker.inherited_members(*class, name).is_empty())
        };
        for owner in rarest.iter().filter_map(|&member| linker.definition(member)?.owner) {
            let family = if has_all(&owner) {
                vec![owner]
            } else {
                self.all_heirs(owner)
            };
            for class in family.into_iter().filter(has_all) {
                if !types.contains(&class) {
                    types.push(class);
                }
            }
        }
        types
    }
}
