//! Structure: containment, inheritance, overrides and imports, from the links alone.

use smallvec::SmallVec;
use syntax::facts::{BaseKind, DefinitionId, Expression, ExpressionId, ImportForm, Kind, Position};

use super::{Emission, End, Ends, MAX_DISPATCH};
use crate::model::{EdgeKind, Evidence};
use crate::resolve::languages::LibraryInterface;
use crate::resolve::links::{ModuleTarget, is_function, is_type, shape_of};
use crate::resolve::value::{Place, Value};
use crate::resolve::words::Word;

impl Emission<'_, '_> {
    pub(super) fn structure(&mut self) {
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
                self.library_interfaces(id, place);
            }
            let owner = linker.definition(place).and_then(|link| link.owner);
            if let Some(owner) = owner
                && is_function(definition.kind)
                && definition.kind != Kind::Constructor
            {
                let name = self.evaluation.word(definition.name);
                if let Some(member) = self.overridden(place, owner, name) {
                    let end = (End::Definition(member), Evidence::Structure, EdgeKind::Overrides);
                    self.push(Some(id), definition.name_at, &[end]);
                }
                self.overridden_by_shape(id, owner);
            }
        }
    }

    /// The member of an ancestor that a method of `owner` takes the place of. Among overloads it is the one with the same parameters.
    fn overridden(&self, method: Place, owner: Place, name: Word) -> Option<Place> {
        let linker = self.evaluation.linker;
        let found = self.evaluation.find_members(owner, true, name);
        let members = || found.iter().map(|found| found.member);
        let first = members().next()?;
        let exact = self.evaluation.policy.policy.exact_arguments;
        let member = if found.len() > 1 || exact {
            let mut alike = members().filter(|&member| linker.may_override(method, member));
            let only = alike.next().filter(|_| alike.next().is_none());
            let same = members().find(|&member| linker.overrides(method, member));
            same.or(only).or(Some(first).filter(|_| !exact))?
        } else {
            first
        };
        let link = linker.definition(member)?;
        is_function(link.kind).then_some(member)
    }

    /// The methods of interfaces that a method stands for because its type has all methods of them.
    fn overridden_by_shape(&mut self, id: DefinitionId, owner: Place) {
        let facts = self.evaluation.facts;
        let linker = self.evaluation.linker;
        let policy = self.evaluation.policy.policy;
        if !policy.structural {
            return;
        }
        let definition = facts.definition(id);
        let name = self.evaluation.word(definition.name);
        let mut overridden: SmallVec<[End; 4]> = SmallVec::new();
        for &interface in linker.satisfied(owner) {
            for member in linker.inherited_members(interface, name) {
                let end = End::Definition(member);
                if overridden.len() < MAX_DISPATCH && !overridden.contains(&end) {
                    overridden.push(end);
                }
            }
        }
        for end in overridden {
            let end = (end, Evidence::Dispatch, EdgeKind::Overrides);
            self.push(Some(id), definition.name_at, &[end]);
        }
    }

    /// Interfaces of the library that a type implements by having their methods, and its own methods that stand for theirs.
    fn library_interfaces(&mut self, id: DefinitionId, place: Place) {
        let facts = self.evaluation.facts;
        let linker = self.evaluation.linker;
        let policy = self.evaluation.policy.policy;
        let definition = facts.definition(id);
        if matches!(definition.kind, Kind::Interface | Kind::Module) {
            return;
        }
        for interface in policy.library_interfaces {
            let methods = interface.methods.iter().map(|method| {
                let name = Word::of(method.0);
                let shape = shape_of(method.1, method.2);
                let found = linker.inherited_members(place, name).into_iter();
                let mut fitting =
                    found.filter(|&member| linker.definition(member).is_some_and(|link| link.shape == shape));
                fitting.next()
            });
            let Some(members) = methods.collect::<Option<SmallVec<[Place; 4]>>>() else {
                continue;
            };
            let word = self.library_word(interface);
            let end = (End::External(word), Evidence::Dispatch, EdgeKind::Implements);
            self.push(Some(id), definition.name_at, &[end]);
            for (member, (name, ..)) in members.into_iter().zip(interface.methods) {
                let of_file = Some(member).filter(|member| member.file == self.evaluation.file);
                let Some(method) = of_file.and_then(|member| linker.position(member)).map(DefinitionId) else {
                    continue;
                };
                let overridden = linker.externals.member(word, Word::of(name), name);
                let end = (End::External(overridden), Evidence::Dispatch, EdgeKind::Overrides);
                self.push(Some(method), facts.definition(method).name_at, &[end]);
            }
        }
    }

    fn library_word(&self, interface: &LibraryInterface) -> Word {
        let policy = self.evaluation.policy;
        let name = Word::of(interface.name);
        match interface.module {
            "" => policy.builtin_names.get(&name).copied().unwrap_or(name),
            module => {
                let externals = self.evaluation.linker.externals;
                let module = externals.intern(&format!("{}:{module}", policy.policy.prefix));
                externals.member(module, name, interface.name)
            }
        }
    }

    pub(super) fn inheritance(&mut self, id: DefinitionId, place: Place) {
        let facts = self.evaluation.facts;
        let linker = self.evaluation.linker;
        let definition = facts.definition(id);
        for base in &definition.bases {
            let at = self.base_at(base.type_).unwrap_or(definition.name_at);
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
                self.push(from, at, &[(end, Evidence::Structure, kind)]);
            }
        }
    }

    /// Where the name of a base stands; `None` for what is a base without being named.
    fn base_at(&self, mut type_: ExpressionId) -> Option<Position> {
        let facts = self.evaluation.facts;
        loop {
            let known = self.bases.binary_search_by_key(&type_, |(expression, _)| *expression);
            if let Some((_, at)) = known.ok().and_then(|found| self.bases.get(found)) {
                return Some(*at);
            }
            type_ = match *facts.expression(type_) {
                Expression::Generic { base: inner, .. }
                | Expression::Call { callee: inner, .. }
                | Expression::Wrapped(inner) => inner,
                _ => return None,
            };
        }
    }

    /// Interfaces that a type implements by having their methods.
    pub(super) fn satisfied(&mut self, id: DefinitionId, place: Place) {
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
    pub(super) fn extension_owner(&self, id: DefinitionId) -> Option<DefinitionId> {
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

    pub(super) fn imports(&mut self) {
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
}
