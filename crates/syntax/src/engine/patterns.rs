//! Where values go: assignments, declarations, loops and the patterns they take apart.

use super::lowering::{Lowering, UNKNOWN};
use super::rules::{Action, Declared, Rule};
use super::{MemberAssignment, NewDefinition};
use crate::facts::{
    Bound, DefinitionId, Expression, ExpressionId, Flags, Flow, Kind, Name, Reference, Role, ScopeId, ScopeKind,
};
use tree_sitter::Node;

/// In which scope a target is declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hoist {
    /// Nowhere: the name exists already.
    None,
    /// In the function around.
    Function,
    /// In the current scope.
    Block,
}

impl From<Declared> for Hoist {
    fn from(declared: Declared) -> Hoist {
        match declared {
            Declared::None => Hoist::None,
            Declared::Function => Hoist::Function,
            Declared::Block => Hoist::Block,
        }
    }
}

/// How an assignment declares what it assigns to.
#[derive(Clone, Copy)]
pub(crate) struct Declare<'t> {
    pub(crate) hoist: Hoist,
    /// The whole statement: span and signature of the variables it defines.
    pub(crate) statement: Node<'t>,
    /// The declared type and its text.
    pub(crate) type_: Option<(ExpressionId, Name)>,
    /// Kind and flags of the variables defined at module level.
    pub(crate) constant: bool,
    pub(crate) flags: Flags,
}

impl<'t> Declare<'t> {
    pub(crate) fn new(hoist: Hoist, statement: Node<'t>) -> Declare<'t> {
        Declare {
            hoist,
            statement,
            type_: None,
            constant: false,
            flags: Flags::default(),
        }
    }
}

/// The nodes of an assignment.
#[derive(Clone, Copy, Default)]
pub(crate) struct Parts<'t> {
    pub(crate) target: Option<Node<'t>>,
    pub(crate) value: Option<Node<'t>>,
    pub(crate) type_: Option<Node<'t>>,
}

/// The key of a sequence's last element.
pub(crate) const LAST: &str = "-1";

impl<'t> Lowering<'t> {
    /// The actions `assign`, `update`, `loop`, `enter` and `catch`. Returns the value assigned.
    pub(crate) fn assignment(&mut self, node: Node<'t>, rule: &'static Rule) -> ExpressionId {
        let children = self.children(node);
        let by_token = children.iter().any(|child| rule.kinds.contains(&child.kind));
        if rule.action == Action::Assign && !rule.kinds.is_empty() && !by_token {
            self.walk(&children);
            return UNKNOWN;
        }
        let parts = Parts {
            target: children.get(&rule.target),
            value: children.get(&rule.value),
            type_: children.get(&rule.type_),
        };
        let declare = Declare::new(rule.declare.into(), node);
        let assigned = match parts {
            Parts {
                target: Some(target),
                value: Some(value),
                ..
            } if rule.action == Action::Update && by_token => self.assign_unless(target, value, &declare),
            _ => self.assign_parts(rule.action, parts, declare),
        };
        for child in children.named() {
            if ![parts.target, parts.value, parts.type_].contains(&Some(child.node)) {
                self.lower_child(child, Role::Read);
            }
        }
        assigned
    }

    /// The same, for a hook that knows the parts. Returns the value assigned.
    pub(crate) fn assign_parts(&mut self, action: Action, parts: Parts<'t>, mut declare: Declare<'t>) -> ExpressionId {
        if action == Action::Assign
            && self.rules.name_functions
            && let (Some(target), Some(value)) = (parts.target, parts.value)
            && let (target, value) = (self.only_one(target), self.only_one(value))
            && self.names_function(target, value, declare.hoist)
        {
            return self.assign_function(target, value, &declare);
        }
        if let Some(type_node) = parts.type_.filter(|_| action != Action::Catch) {
            let type_ = self.lower_type(type_node);
            declare.type_ = Some((type_, self.type_text(type_node)));
        }
        // Declared first, so that definitions inside the value come after the variable that contains them.
        let is_name = |lowering: &Self, target: Node<'t>| lowering.rule(target).action == Action::Name;
        let declared = parts
            .target
            .filter(|target| is_name(self, *target) && action != Action::Update);
        self.variable = None;
        let declared = declared.map(|target| self.declare(target, &declare));
        if parts
            .value
            .is_none_or(|value| self.rule(value).action != Action::Mapping)
        {
            self.variable = None;
        }
        let value = match action {
            Action::Catch => self.caught(parts.type_),
            _ => parts.value.map_or(UNKNOWN, |value| self.lower(value, Role::Read)),
        };
        self.variable = None;
        if let Some(at) = parts.value.filter(|_| action == Action::Loop) {
            self.iterated(value, at);
        }
        let assigned = match action {
            Action::Loop => self.wrap(value, Expression::Element),
            Action::Enter => self.wrap(value, Expression::Entered),
            Action::Update => UNKNOWN,
            _ => value,
        };
        match (parts.target, declared) {
            (Some(target), Some(place)) => self.assign_to(place, assigned, target, &declare),
            (Some(target), None) => {
                if action == Action::Update {
                    let _place = self.update(target, &declare);
                } else {
                    self.assign(target, assigned, &declare);
                }
            }
            (None, _) => {}
        }
        assigned
    }

    /// `target ||= value`: the target keeps what it holds or gets the value, and either is the value of the whole.
    fn assign_unless(&mut self, target: Node<'t>, value: Node<'t>, declare: &Declare<'t>) -> ExpressionId {
        let value_at = value;
        let value = self.lower(value, Role::Read);
        let place = self.update(target, declare);
        self.branches += 1;
        self.flow(place, value, target);
        self.branches -= 1;
        let either = self.push_list(&[place, value]);
        self.push_expression(Expression::Choice(either), value_at.start_byte())
    }

    /// `target += …` reads and writes. The target is lowered once: nested ones would double the work at each level.
    fn update(&mut self, target: Node<'t>, declare: &Declare<'t>) -> ExpressionId {
        let before = self.references.len();
        let place = self.lower(target, Role::Read);
        if self.rule(target).action == Action::Name {
            self.declare(target, declare);
        } else if let Some(&read) = self.references[before..]
            .iter()
            .rfind(|reference| reference.expression == place)
        {
            self.references.push(Reference {
                role: Role::Write,
                ..read
            });
        }
        place
    }

    /// An instance of the exception type at `node`, or of one of several.
    pub(crate) fn caught(&mut self, node: Option<Node<'t>>) -> ExpressionId {
        let type_ = node.map_or(UNKNOWN, |type_| self.lower_type(type_));
        let type_ = match self.expression(type_) {
            Expression::Sequence { elements } => self.push_expression(Expression::Choice(elements), 0),
            _ => type_,
        };
        self.wrap(type_, Expression::Typed)
    }

    /// Gives `value` to whatever `target` is: a name, a member, an index or a pattern of these.
    pub(crate) fn assign(&mut self, target: Node<'t>, value: ExpressionId, declare: &Declare<'t>) {
        let rule = self.rule(target);
        match rule.action {
            Action::Name => {
                let name = self.declare(target, declare);
                self.assign_to(name, value, target, declare);
            }
            Action::Member => self.assign_member(target, rule, value, declare),
            Action::Index => {
                let place = self.lower(target, Role::Read);
                if place != UNKNOWN {
                    self.flow(place, value, target);
                }
            }
            Action::Sequence => {
                let children = self.children(target);
                let mut position = 0;
                let mut spread = false;
                let last = children.named().last().map(|child| child.node);
                for child in children.iter() {
                    if !child.named {
                        // Commas count, not children: `[, b]` skips the first.
                        position += u32::from(self.text(child.node) == ",");
                        continue;
                    }
                    let item = match self.rules.rule(child.kind).action {
                        Action::Comment => continue,
                        // What is left is another container of the same elements.
                        Action::Spread if position > 0 => {
                            spread = true;
                            let name = self.names.intern("*");
                            let spread = self.wrap(value, |value| Expression::Argument { name, value });
                            let elements = self.push_list(&[spread]);
                            self.push_expression(Expression::Sequence { elements }, child.node.start_byte())
                        }
                        Action::Spread => {
                            spread = true;
                            value
                        }
                        // After `*rest`, positions count from the end.
                        _ if spread && Some(child.node) == last => {
                            let key = Some(self.names.intern(LAST));
                            self.wrap(value, |object| Expression::Index { object, key })
                        }
                        _ if spread => self.wrap(value, Expression::Element),
                        _ => self.wrap(value, |value| Expression::Item(value, position)),
                    };
                    self.assign(child.node, item, declare);
                }
            }
            Action::Mapping => {
                let children = self.children(target);
                for child in children.named() {
                    self.assign_entry(child.node, value, declare);
                }
            }
            Action::Default => {
                let children = self.children(target);
                let default = children
                    .get(&rule.value)
                    .map_or(UNKNOWN, |default| self.lower(default, Role::Read));
                let either = self.choice(&[value, default]);
                if let Some(inner) = children.get(&rule.target) {
                    self.assign(inner, either, declare);
                }
            }
            Action::Pass | Action::Spread | Action::Wrapped => {
                let children = self.children(target);
                let inner = children
                    .get(&rule.value)
                    .or_else(|| children.named().next().map(|child| child.node));
                if let Some(inner) = inner {
                    self.assign(inner, value, declare);
                }
            }
            Action::Comment | Action::Skip => {}
            _ => {
                self.lower(target, Role::Read);
            }
        }
    }

    /// One entry of an object pattern: `key: pattern`, `name`, `name = default`, `...rest`.
    fn assign_entry(&mut self, entry: Node<'t>, value: ExpressionId, declare: &Declare<'t>) {
        let rule = self.rule(entry);
        match rule.action {
            Action::Comment => {}
            Action::Pair => {
                let children = self.children(entry);
                let key = children.get(&rule.arguments);
                let member = match key {
                    Some(key) => {
                        let name = self.text(key).trim_matches(['"', '\'', '`']);
                        let name = self.names.intern(name);
                        self.wrap(value, |object| Expression::Member { object, name })
                    }
                    None => UNKNOWN,
                };
                if let Some(inner) = children.get(&rule.value) {
                    self.assign(inner, member, declare);
                }
            }
            Action::Name => {
                let name = self.name_of(entry);
                let member = self.wrap(value, |object| Expression::Member { object, name });
                self.assign(entry, member, declare);
            }
            Action::Default => {
                let children = self.children(entry);
                let Some(inner) = children.get(&rule.target) else {
                    return;
                };
                let default = children
                    .get(&rule.value)
                    .map_or(UNKNOWN, |default| self.lower(default, Role::Read));
                let name = self.name_of(inner);
                let member = self.wrap(value, |object| Expression::Member { object, name });
                let either = self.choice(&[member, default]);
                self.assign(inner, either, declare);
            }
            _ => self.assign(entry, value, declare),
        }
    }

    fn assign_member(&mut self, target: Node<'t>, rule: &'static Rule, value: ExpressionId, declare: &Declare<'t>) {
        let children = self.children(target);
        let (Some(object), Some(name_node)) = (children.get(&rule.object), children.get(&rule.name)) else {
            self.lower(target, Role::Read);
            return;
        };
        let object_value = self.lower(object, Role::Read);
        let name = self.name_of(name_node);
        let place = self.member_expression(object_value, name);
        self.reference(place, Role::Write, name_node);
        self.assign_to(place, value, target, declare);
        let assignment = MemberAssignment {
            object,
            name,
            name_node,
            statement: declare.statement,
            type_: declare.type_,
        };
        self.hooks.member_assigned(self, assignment);
    }

    fn assign_to(&mut self, place: ExpressionId, value: ExpressionId, at: Node<'t>, declare: &Declare<'t>) {
        if let Some((type_, _)) = declare.type_.filter(|(type_, _)| *type_ != UNKNOWN) {
            self.flows.push(Flow::Typed { target: place, type_ });
        }
        if value != UNKNOWN {
            self.flow(place, value, at);
        }
    }

    /// Declares the variable at `name_node` where `declare` says, once, and returns its use. At module level it becomes a
    /// variable, in a type a field, in a function a local.
    pub(crate) fn declare(&mut self, name_node: Node<'t>, declare: &Declare<'t>) -> ExpressionId {
        let name = self.name_of(name_node);
        let use_ = self.name_expression(name_node);
        let scope = match declare.hoist {
            Hoist::None => {
                self.reference(use_, Role::Write, name_node);
                return use_;
            }
            Hoist::Function => self.function_scope(),
            Hoist::Block => self.scope,
        };
        let scope = self.redirects.get(&(scope, name)).copied().unwrap_or(scope);
        let kind = self.scopes[scope.index()].kind;
        let exists = self.binding_in(scope, name).is_some();
        match kind {
            ScopeKind::File | ScopeKind::Module | ScopeKind::Type => {
                if exists {
                    self.reference(use_, Role::Write, name_node);
                } else {
                    self.define_variable(name_node, name, scope, declare);
                }
            }
            ScopeKind::Function | ScopeKind::Block => {
                let from = if self.rules.shadowing && declare.hoist == Hoist::Block {
                    declare.statement.end_byte() as u32
                } else {
                    0
                };
                if !exists || from > 0 {
                    let binding = self.bind(scope, name, Bound::Local, from);
                    if from > 0 {
                        let at = name_node.start_byte();
                        return self.push_expression(Expression::Bound { binding, at: at as u32 }, at);
                    }
                }
            }
        }
        use_
    }

    fn define_variable(&mut self, name_node: Node<'t>, name: Name, scope: ScopeId, declare: &Declare<'t>) {
        let constant = declare.constant || (self.rules.constants && is_all_caps(self.names.get(name)));
        let kind = match (self.scopes[scope.index()].kind, constant) {
            (ScopeKind::Type, _) => {
                let owner = self.scopes[scope.index()].definition;
                let in_enum = owner.is_some_and(|owner| self.definitions[owner.index()].kind == Kind::Enum);
                if in_enum { Kind::EnumMember } else { Kind::Field }
            }
            (_, true) => Kind::Constant,
            (_, false) => Kind::Variable,
        };
        let statement = declare.statement;
        let new = NewDefinition {
            kind,
            name,
            name_at: Self::position(name_node),
            span: Self::span(statement),
        };
        let saved = (self.scope, self.definition);
        // `global x` in a function defines a variable of the file.
        if scope != self.scope {
            self.definition = self.scopes[scope.index()].definition;
            self.scope = scope;
        }
        let id = self.new_definition(new);
        (self.scope, self.definition) = saved;
        let signature = self.first_line(statement);
        let definition = &mut self.definitions[id.index()];
        definition.signature = signature;
        definition.flags.insert(declare.flags);
        if let Some((type_, text)) = declare.type_ {
            definition.result = Some(type_);
            definition.result_text = Some(text);
        }
        self.bind(scope, name, Bound::Definition(id), 0);
        self.variable = Some(id);
    }

    /// Whether `target = value` gives a function or class its name.
    fn names_function(&self, target: Node<'t>, value: Node<'t>, hoist: Hoist) -> bool {
        let names = match self.rule(target).action {
            Action::Name => hoist != Hoist::None,
            Action::Member => self.rules.name_members,
            _ => false,
        };
        names && matches!(self.rule(value).action, Action::Define | Action::Lambda)
    }

    /// The node, or what a list of one holds.
    fn only_one(&self, node: Node<'t>) -> Node<'t> {
        let is_list = self.rules.name_members && self.rule(node).action == Action::Sequence;
        let only = (is_list && node.named_child_count() == 1).then(|| node.named_child(0));
        only.flatten().unwrap_or(node)
    }

    fn assign_function(&mut self, target: Node<'t>, value: Node<'t>, declare: &Declare<'t>) -> ExpressionId {
        let member = self.rule(target);
        if member.action == Action::Member {
            return self.name_member(target, member, value, declare.statement);
        }
        let scope = match declare.hoist {
            Hoist::Function => self.function_scope(),
            Hoist::None | Hoist::Block => self.scope,
        };
        let rule = self.rule(value);
        let children = self.children(value);
        let id = self.define_as(value, rule, &children, Some(target), declare.statement);
        let signature = self.definitions[id.index()].body.map(|_| {
            let body = children.get(&rule.body);
            self.signature(declare.statement, body)
        });
        // `const f = function own() {…}`: inside, it goes by its own name as well.
        if let (Some(own), Some(body)) = (children.get(&rule.name), self.definitions[id.index()].body) {
            let own = self.name_of(own);
            if self.binding_in(body, own).is_none() {
                self.bind(body, own, Bound::Definition(id), 0);
            }
        }
        let definition = &mut self.definitions[id.index()];
        definition.flags.insert(declare.flags);
        definition.signature = signature.unwrap_or(definition.signature);
        self.bind_definition(scope, id);
        self.push_expression(Expression::Definition(id), value.start_byte())
    }

    /// `object.name = function…`: a function that belongs to the object.
    fn name_member(
        &mut self,
        target: Node<'t>,
        member: &'static Rule,
        value: Node<'t>,
        statement: Node<'t>,
    ) -> ExpressionId {
        let parts = self.children(target);
        let (object, name) = (parts.get(&member.object), parts.get(&member.name));
        let owner = object.map_or(UNKNOWN, |object| self.lower_type(object));
        let rule = self.rule(value);
        let children = self.children(value);
        let id = self.define_as(value, rule, &children, name, statement);
        let signature = self.signature(statement, children.get(&rule.body));
        let definition = &mut self.definitions[id.index()];
        definition.signature = signature;
        definition.owner = Some(owner).filter(|&owner| owner != UNKNOWN);
        let function = self.push_expression(Expression::Definition(id), value.start_byte());
        self.put_member(id, function, statement);
        function
    }

    /// A function that belongs to an object is found in it by whoever gets the object.
    pub(crate) fn put_member(&mut self, id: DefinitionId, function: ExpressionId, statement: Node<'t>) {
        let definition = &self.definitions[id.index()];
        let name = definition.name;
        if let Some(owner) = definition.owner {
            let target = self.member_expression(owner, name);
            self.flow(target, function, statement);
        }
    }
}

/// Whether a name is written like a constant: capitals, digits and underscores, with at least one letter.
pub(crate) fn is_all_caps(name: &str) -> bool {
    name.bytes().any(|letter| letter.is_ascii_uppercase())
        && name
            .bytes()
            .all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == b'_')
}
