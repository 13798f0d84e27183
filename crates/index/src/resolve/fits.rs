//! What tells functions of one name apart besides the number and the types of their parameters: names of arguments, blocks
//! written after a call, members beside extensions, types beside functions, and the receivers that a bare call can have.

use smallvec::SmallVec;
use syntax::facts::{BindingId, Bound, DefinitionId, Expression, ExpressionId, Flags, Kind, Passing};

use super::calls::receiver_index;
use super::evaluate::Evaluation;
use super::linker::{Found, MAX_CHAIN};
use super::links::{ModuleTarget, NONE, NameLink, ParameterLink, is_type, is_variable};
use super::type_names::TypeName;
use super::value::{Fact, Place, Set, Value};
use super::view::View;
use super::words::{Key, Word};
use crate::model::Evidence;

/// What a bare call may be called on.
enum Receiver {
    /// An instance of a type of the tree.
    Instance(Place),
    /// Something of a type of outside.
    Outside(TypeName),
}

impl View<'_> {
    /// What a function extends that is called as if it were a member of it.
    fn extended(&self, function: Place) -> Option<TypeName> {
        self.note(Key::definition(function));
        self.own(function.file).extended(function.id)
    }

    pub fn is_extension(&self, function: Place) -> bool {
        self.extended(function).is_some()
    }

    fn type_of_variable(&self, place: Place) -> Option<TypeName> {
        let link = self.definition(place)?;
        is_variable(link.kind).then_some(link.result)
    }

    /// What the variable that an import takes is declared to hold.
    fn type_of_import(&self, file: u32, import: u32) -> Option<TypeName> {
        let import = self.own(file).imports.get(import as usize)?;
        let name = import.member?;
        let ModuleTarget::Package(package) = self.target_of(import, MAX_CHAIN) else {
            return None;
        };
        let mut top = self.package_places(package, name).unwrap_or_default().iter();
        let found = top.find_map(|&place| self.type_of_variable(place));
        found.or_else(|| {
            let types = self.types_to_ask(package).unwrap_or_default().into_iter();
            let mut members = types.flat_map(|class| self.inherited_members(class, name));
            members.find_map(|member| self.type_of_variable(member))
        })
    }
}

impl Evaluation<'_> {
    /// Whether as many arguments can be passed.
    pub(super) fn accepts(&self, function: Place, count: usize) -> bool {
        let (mut least, mut most) = (0, 0);
        for parameter in self.linker.parameters(function) {
            match parameter.passing {
                Passing::Receiver | Passing::Block => {}
                Passing::Rest | Passing::KeywordRest => most = usize::MAX,
                Passing::Normal | Passing::Keyword => {
                    least += usize::from(!parameter.optional);
                    most = most.saturating_add(1);
                }
            }
        }
        (least..=most).contains(&count)
    }

    /// Whether a name is a parameter that collects the remaining arguments.
    pub(super) fn collects(&self, binding: BindingId) -> bool {
        let function = match self.facts.bindings.get(binding.index()).map(|binding| binding.to) {
            Some(Bound::Parameter(function)) => self.facts.definition(function),
            _ => return false,
        };
        let mut parameters = function.parameters.iter();
        parameters.any(|parameter| parameter.binding == Some(binding) && parameter.passing == Passing::Rest)
    }

    /// The constructors that the class which `class` extends has itself.
    pub(super) fn constructors_of_base(&self, class: Place) -> SmallVec<[Place; 2]> {
        let is_class = |base: &Place| {
            let link = self.linker.definition(*base);
            link.is_some_and(|link| link.kind != Kind::Interface)
        };
        let bases = self.linker.bases(class).filter_map(|base| match base.value {
            Value::Class(base) => Some(base),
            _ => None,
        });
        let extended = bases.into_iter().find(is_class);
        extended.map(|base| self.linker.constructors(base)).unwrap_or_default()
    }

    /// The name and the value of an argument.
    pub(super) fn passed(&self, argument: ExpressionId) -> (Option<Word>, ExpressionId) {
        match *self.facts.expression(argument) {
            Expression::Argument { name, value } if !matches!(self.facts.text(name), "*" | "**" | "&") => {
                (Some(self.word(name)), value)
            }
            _ => (None, argument),
        }
    }

    /// The parameter for a function that is written after the call, which is the last one whatever was left out before it.
    pub(super) fn takes_block<'p>(
        &self,
        parameters: &'p [ParameterLink],
        type_: TypeName,
        is_last: bool,
    ) -> Option<&'p ParameterLink> {
        if !is_last || type_ != TypeName::Function || !self.policy.policy.blocks_come_last {
            return None;
        }
        parameters.last().filter(|last| last.type_ == TypeName::Function)
    }

    /// The number of the parameter for functions that are written after the call.
    pub(super) fn block_parameter(&self, parameters: &[ParameterLink], values: &Set, is_last: bool) -> Option<usize> {
        if !is_last || !self.policy.policy.blocks_come_last {
            return None;
        }
        let is_block = |fact: &Fact| match fact.value {
            Value::Function(place) => {
                let link = self.linker.definition(place);
                link.is_some_and(|link| link.kind == Kind::Lambda)
            }
            _ => false,
        };
        let type_ = match values.facts() {
            [fact] if is_block(fact) => TypeName::Function,
            _ => TypeName::Unknown,
        };
        let found = self.takes_block(parameters, type_, is_last);
        found.map(|_| parameters.len() - 1)
    }

    /// Whether the file sees a member: an extension that is written outside of all types must be of its package or imported.
    pub(super) fn sees(&self, member: Place) -> bool {
        let linker = self.linker;
        if member.file == self.file || !linker.is_extension(member) {
            return true;
        }
        let Some(link) = linker.definition(member) else {
            return false;
        };
        if link.parent != NONE || receiver_index(linker.parameters(member)).is_some() {
            return true;
        }
        let is_imported = || {
            let names = linker.own(self.file).named(link.name).iter();
            let mut imports = names.filter_map(|(_, link)| match link {
                NameLink::Import(import) => Some(*import),
                _ => None,
            });
            let meant = |found: &Found| matches!(found, Found::Value(Value::Function(place)) if *place == member);
            imports.any(|import| linker.imported(self.file, import).iter().any(meant))
        };
        !link.private && (is_imported() || linker.extensions(self.file, link.name).contains(&member))
    }

    /// Leaves out what is only there for code that was compiled before, where there is something else.
    pub(super) fn leave_hidden(&self, functions: &mut SmallVec<[Place; 4]>) {
        let is_seen = |place: &Place| {
            let link = self.linker.definition(*place);
            link.is_some_and(|link| !link.flags.contains(Flags::HIDDEN))
        };
        if functions.len() > 1 && functions.iter().any(is_seen) {
            functions.retain(|place| is_seen(place));
        }
    }

    /// Of members and extensions that fit alike, the members: no extension hides one.
    pub(super) fn leave_extensions(&self, functions: &mut SmallVec<[Place; 4]>) {
        if functions.len() < 2 || !self.policy.policy.extensions {
            return;
        }
        let is_member = |place: &Place| {
            let owned = self.linker.definition(*place).is_some_and(|link| link.owner.is_some());
            owned && !self.linker.is_extension(*place)
        };
        if functions.iter().any(is_member) {
            functions.retain(|place| is_member(place));
        }
    }

    /// Leaves out the types that a call cannot make an instance of, where functions of the same name fit.
    pub(super) fn leave_types(&self, values: &mut Set, fitting: &[Place], count: usize) {
        if !self.policy.policy.exact_arguments {
            return;
        }
        let is_written = |&place: &Place| {
            let link = self.linker.definition(place);
            link.is_some_and(|link| link.kind == Kind::Function)
        };
        if !fitting.iter().any(is_written) {
            return;
        }
        values.retain(|fact| match fact.value {
            Value::Class(class) => {
                let link = self.linker.definition(class);
                let is_made =
                    link.is_some_and(|link| link.kind == Kind::Class && !link.flags.contains(Flags::ABSTRACT));
                is_made
                    && self
                        .linker
                        .constructors(class)
                        .iter()
                        .any(|&made| self.accepts(made, count))
            }
            _ => true,
        });
    }

    /// Whether one of the classes is said to inherit from a type of outside with that name.
    pub(super) fn inherits_outside(&self, classes: &[Place], wanted: Word) -> bool {
        let is_wanted = |text: &str| {
            let last = text.rsplit(['.', ':']).next().unwrap_or(text);
            Word::of(last) == wanted
        };
        classes.iter().any(|&class| {
            let mut bases = self.linker.bases(class);
            bases.any(|base| match base.value {
                Value::External(word) => is_wanted(&self.linker.externals.text(word)),
                _ => false,
            })
        })
    }

    /// What the definition that a name stands for is declared to hold.
    pub(super) fn type_of_name(&self, binding: BindingId) -> TypeName {
        let found = match self.facts.bindings.get(binding.index()).map(|binding| binding.to) {
            Some(Bound::Definition(id)) => self.linker.type_of_variable(self.place(id)),
            Some(Bound::Import(import)) => self.linker.type_of_import(self.file, import.0),
            _ => None,
        };
        found.unwrap_or_default()
    }

    /// Whether a value is declared to be of a type of outside.
    pub(super) fn is_outside(&self, value: ExpressionId, type_: TypeName) -> bool {
        let is_outside = |fact: &Fact| matches!(fact.value, Value::Foreign | Value::External(_) | Value::Object(_));
        let facts = self.facts_of(value);
        matches!(type_, TypeName::Named(_)) && !facts.is_empty() && facts.iter().all(is_outside)
    }

    /// Leaves out the extensions that nothing around a bare call can be the receiver of.
    pub(super) fn leave_receivers(&self, values: Set, callee: ExpressionId, within: Option<DefinitionId>) -> Set {
        let is_bare = matches!(
            self.facts.expression(callee),
            Expression::Bound { .. } | Expression::Free { .. }
        );
        let extended = |fact: &Fact| match fact.value {
            Value::Function(place) | Value::Method(place, _) => self.linker.extended(place),
            _ => None,
        };
        if !self.policy.policy.extensions || !is_bare || !values.facts().iter().any(|fact| extended(fact).is_some()) {
            return values;
        }
        let Some(receivers) = self.receivers_around(within) else {
            return values;
        };
        let mut kept = Set::default();
        for &fact in values.facts() {
            let fits = match (fact.value, extended(&fact)) {
                (Value::Function(place) | Value::Method(place, _), Some(type_)) => receivers
                    .iter()
                    .any(|receiver| self.may_receive(receiver, place, type_)),
                _ => true,
            };
            if fits {
                kept.insert(fact);
            }
        }
        if kept.is_empty() {
            kept.insert(Fact::new(Value::Foreign, Evidence::DeclaredReceiver));
        }
        kept
    }

    /// Whether a receiver may be of the type that an extension extends.
    fn may_receive(&self, receiver: &Receiver, extension: Place, type_: TypeName) -> bool {
        let TypeName::Named(wanted) = type_ else {
            return match receiver {
                Receiver::Outside(known) => {
                    *known == type_
                        || matches!(type_, TypeName::Any | TypeName::Root | TypeName::Unknown)
                        || matches!(known, TypeName::Any | TypeName::Unknown | TypeName::Named(_))
                }
                Receiver::Instance(_) => true,
            };
        };
        let owner = self.linker.definition(extension).and_then(|link| link.owner);
        match receiver {
            Receiver::Instance(class) => {
                let Some(ancestry) = self.linker.ancestry(*class) else {
                    return true;
                };
                let named = |class: &Place| self.linker.definition(*class).is_some_and(|link| link.name == wanted);
                // What is around may be known to be an heir: `if (this is Heir)`.
                ancestry.classes.iter().any(named)
                    || owner.map_or(ancestry.open, |owner| self.linker.inherits(owner, *class))
            }
            // What is of outside inherits from nothing of the tree, but something of the tree from it.
            Receiver::Outside(TypeName::Named(known)) if *known != wanted => owner.is_none_or(|owner| {
                let ancestry = self.linker.ancestry(owner);
                ancestry.is_some_and(|ancestry| self.inherits_outside(&ancestry.classes, *known))
            }),
            Receiver::Outside(known) => !matches!(
                known,
                TypeName::Text | TypeName::Number(_) | TypeName::Boolean | TypeName::Function
            ),
        }
    }

    /// What the code of a definition has as receivers; `None` where a function written in place may have one that nothing tells.
    fn receivers_around(&self, within: Option<DefinitionId>) -> Option<SmallVec<[Receiver; 4]>> {
        let mut receivers = SmallVec::new();
        let mut at = within;
        while let Some(id) = at {
            let definition = self.facts.definition(id);
            let place = self.place(id);
            if definition.kind == Kind::Lambda {
                return None;
            }
            if is_type(definition.kind) {
                receivers.push(Receiver::Instance(place));
            } else if let Some(type_) = self.linker.extended(place) {
                let owner = self.linker.definition(place).and_then(|link| link.owner);
                receivers.push(owner.map_or(Receiver::Outside(type_), Receiver::Instance));
            }
            at = definition.parent;
        }
        Some(receivers)
    }
}
