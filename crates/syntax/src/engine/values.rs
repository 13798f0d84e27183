//! What each action does: names, members, calls, literals, containers, types, imports and decorators.

use super::children::{Child, Children};
use super::lowering::{Lowering, PendingDoc, UNKNOWN, fixed_literal, is_fixed};
use super::rules::{Action, Rule, Selector};
use crate::facts::{
    Bound, Expression, ExpressionId, Flags, Flow, Import, ImportForm, List, LiteralKind, MAX_TEXT, Name, Reference,
    Role, ScopeKind,
};
use smallvec::SmallVec;
use tree_sitter::Node;

impl<'t> Lowering<'t> {
    /// Does what `rule` says, hooks aside.
    pub(crate) fn act(&mut self, node: Node<'t>, rule: &'static Rule, role: Role) -> ExpressionId {
        match rule.action {
            Action::Walk => {
                if node.is_error() {
                    self.problem(node, "syntax error");
                }
                self.walk_node(node);
                UNKNOWN
            }
            Action::Skip | Action::Comment | Action::KeywordSeparator => UNKNOWN,
            Action::Name => self.name(node, role),
            Action::Literal => fixed_literal(rule.literal.unwrap_or(LiteralKind::Other)),
            Action::Pass => self.pass(node, rule, role),
            Action::Member => self.member(node, rule, role),
            Action::Call | Action::New | Action::Macro => self.call(node, rule),
            Action::Arguments
            | Action::Modifiers
            | Action::Parameter
            | Action::TypeParameters
            | Action::TypeParameter => {
                self.walk_node(node);
                UNKNOWN
            }
            Action::Argument => self.argument(node, rule, role),
            Action::Spread => {
                let value = self.pass(node, rule, role);
                let name = self.names.intern(if rule.flag { "**" } else { "*" });
                self.push_expression(Expression::Argument { name, value }, node.start_byte())
            }
            Action::Index => self.index(node, rule, role),
            Action::Sequence => {
                let children = self.children(node);
                let elements = self.lower_all(&children, role);
                let elements = self.push_list(&elements);
                self.push_expression(Expression::Sequence { elements }, node.start_byte())
            }
            Action::Mapping => self.mapping(node),
            Action::Pair | Action::Default => {
                self.walk_node(node);
                UNKNOWN
            }
            Action::Text => self.string(node, rule),
            Action::Choice => self.choice_of(node, rule, role),
            Action::Unwrap => {
                let value = self.pass(node, rule, Role::Read);
                self.wrap(value, Expression::Unwrap)
            }
            Action::Element => {
                let value = self.pass(node, rule, Role::Read);
                self.wrap(value, Expression::Element)
            }
            Action::Cast => {
                let children = self.children(node);
                let type_node = children.get(&rule.type_);
                let mut type_ = UNKNOWN;
                for child in children.named() {
                    if Some(child.node) == type_node {
                        type_ = self.lower_type(child.node);
                    } else {
                        self.lower_child(child, Role::Read);
                    }
                }
                self.wrap(type_, Expression::Typed)
            }
            Action::Generic => self.generic(node, rule, role),
            Action::Wrapped => {
                let children = self.children(node);
                let inner = children
                    .get(&rule.type_)
                    .or_else(|| children.named().next().map(|child| child.node));
                let mut value = UNKNOWN;
                for child in children.named() {
                    if Some(child.node) == inner {
                        value = self.lower_child(child, role);
                    } else {
                        self.lower_child(child, Role::Read);
                    }
                }
                self.wrap(value, Expression::Wrapped)
            }
            Action::FunctionType => self.function_type(node, rule),
            Action::This | Action::Super => {
                let expression = if rule.action == Action::This {
                    Expression::This(self.scope)
                } else {
                    Expression::Super(self.scope)
                };
                let value = self.push_expression(expression, node.start_byte());
                if role == Role::Call {
                    self.reference(value, role, node);
                }
                value
            }
            Action::Define if rule.levels > 0 && self.definition_depth() >= u32::from(rule.levels) => UNKNOWN,
            Action::Define | Action::Lambda => match self.define(node, rule) {
                Some(id) => self.push_expression(Expression::Definition(id), node.start_byte()),
                None => UNKNOWN,
            },
            Action::Assign | Action::Update | Action::Loop | Action::Enter | Action::Catch => {
                self.assignment(node, rule)
            }
            Action::Decorator => {
                self.decorator(node, rule);
                UNKNOWN
            }
            Action::Base => {
                let children = self.children(node);
                self.lower_all(&children, Role::Inherit);
                UNKNOWN
            }
            Action::Return | Action::Yield => self.return_or_yield(node, rule),
            Action::Block => {
                let children = self.children(node);
                let declares = rule.kinds.is_empty() || children.iter().any(|child| rule.kinds.contains(&child.kind));
                if declares {
                    self.in_scope(ScopeKind::Block, |lowering| lowering.walk(&children));
                } else {
                    self.walk(&children);
                }
                UNKNOWN
            }
            Action::Import => {
                self.import(node, rule);
                UNKNOWN
            }
            Action::Package => {
                let children = self.children(node);
                let name = children
                    .get(&rule.name)
                    .or_else(|| children.named().next().map(|child| child.node));
                if let Some(name) = name {
                    self.package = Some(self.name_of(name));
                }
                UNKNOWN
            }
        }
    }

    pub(crate) fn name(&mut self, node: Node<'t>, role: Role) -> ExpressionId {
        let value = self.name_expression(node);
        self.reference(value, role, node);
        value
    }

    /// The value of the selected child (the last named one otherwise); the others are lowered for their effects.
    fn pass(&mut self, node: Node<'t>, rule: &'static Rule, role: Role) -> ExpressionId {
        let children = self.children(node);
        let not_comment = |child: &&Child<'t>| self.rules.rule(child.kind).action != Action::Comment;
        let chosen = children
            .get(&rule.value)
            .or_else(|| children.named().rfind(not_comment).map(|child| child.node));
        let mut value = UNKNOWN;
        for child in children.named() {
            if Some(child.node) == chosen {
                value = self.lower_child(child, role);
            } else {
                self.lower_child(child, Role::Read);
            }
        }
        value
    }

    fn member(&mut self, node: Node<'t>, rule: &'static Rule, role: Role) -> ExpressionId {
        let children = self.children(node);
        let (Some(object), Some(name)) = (children.get(&rule.object), children.get(&rule.name)) else {
            self.walk(&children);
            return UNKNOWN;
        };
        let object_role = if role == Role::Type || role == Role::Inherit {
            Role::Type
        } else {
            Role::Read
        };
        let arguments = self.call_arguments;
        let object = self.lower(object, object_role);
        self.call_arguments = arguments;
        let member = self.name_of(name);
        let value = self.member_expression(object, member);
        self.reference(value, role, name);
        // Type arguments and the like.
        for child in children.named() {
            if child.node.start_byte() > name.start_byte() {
                self.lower_child(child, Role::Type);
            }
        }
        value
    }

    fn call(&mut self, node: Node<'t>, rule: &'static Rule) -> ExpressionId {
        let children = self.children(node);
        let arguments = children.get(&rule.arguments);
        if let Some(name) = children.get(&rule.name) {
            let object = children.get(&rule.object);
            return self.call_named(node, object, name, arguments, &children);
        }
        let callee = match rule.action {
            Action::New => children.get(&rule.type_).or_else(|| children.get(&rule.object)),
            _ => children.get(&rule.object),
        };
        let Some(callee) = callee else {
            self.walk(&children);
            return UNKNOWN;
        };
        self.call_with(node, rule.action, callee, arguments, &children)
    }

    /// `object.name(…)` where the grammar has no node for `object.name`, or `name(…)`.
    pub(crate) fn call_named(
        &mut self,
        node: Node<'t>,
        object: Option<Node<'t>>,
        name: Node<'t>,
        arguments: Option<Node<'t>>,
        children: &Children<'t>,
    ) -> ExpressionId {
        let target = match object {
            Some(object) => {
                let object = self.lower(object, Role::Read);
                let name = self.name_of(name);
                self.member_expression(object, name)
            }
            None => self.name_expression(name),
        };
        let (listed, count) = self.listed_arguments(arguments);
        self.call_arguments = count;
        self.reference(target, Role::Call, name);
        self.call_arguments = 0;
        for child in children.named() {
            if Some(child.node) != object && child.node != name && Some(child.node) != arguments {
                self.lower_child(child, Role::Read);
            }
        }
        let arguments = self.lower_arguments(arguments, listed.as_ref());
        self.push_expression(
            Expression::Call {
                callee: target,
                arguments,
            },
            node.start_byte(),
        )
    }

    /// A call whose parts are known; `children` of it that are neither part are lowered for their effects.
    pub(crate) fn call_with(
        &mut self,
        node: Node<'t>,
        action: Action,
        callee: Node<'t>,
        arguments: Option<Node<'t>>,
        children: &Children<'t>,
    ) -> ExpressionId {
        let (listed, count) = self.listed_arguments(arguments);
        let role = match action {
            Action::New => Role::Instantiate,
            Action::Macro => Role::Macro,
            _ => Role::Call,
        };
        let before = self.references.len();
        self.call_arguments = count;
        let target = self.lower(callee, role);
        // `new Base<A>()` mentions its base.
        let callee_itself = match self.expression(target) {
            Expression::Generic { base, .. } => base,
            _ => target,
        };
        let mentioned = |reference: &Reference| reference.expression == callee_itself && reference.role == role;
        if !is_fixed(target) && !self.references[before..].iter().any(mentioned) {
            self.call_arguments = count;
            self.reference(target, role, callee);
        }
        self.call_arguments = 0;
        for child in children.named() {
            let holds_arguments = |arguments: Node<'t>| child.node.byte_range().contains(&arguments.start_byte());
            if child.node != callee && !arguments.is_some_and(holds_arguments) {
                self.lower_child(child, Role::Read);
            }
        }
        let arguments = self.lower_arguments(arguments, listed.as_ref());
        let expression = match action {
            Action::New => Expression::New {
                type_: target,
                arguments,
            },
            _ => Expression::Call {
                callee: target,
                arguments,
            },
        };
        self.push_expression(expression, node.start_byte())
    }

    /// The children of an argument list, and how many arguments there are.
    pub(crate) fn listed_arguments(&mut self, arguments: Option<Node<'t>>) -> (Option<Children<'t>>, u8) {
        let list = arguments.filter(|arguments| self.rule(*arguments).action == Action::Arguments);
        let listed = list.map(|arguments| self.children(arguments));
        let count = match &listed {
            Some(children) => self.count_arguments(children),
            None => u8::from(arguments.is_some()),
        };
        (listed, count)
    }

    /// The values of the arguments that [`Lowering::listed_arguments`] listed, or of the lone one.
    pub(crate) fn lower_arguments(&mut self, arguments: Option<Node<'t>>, listed: Option<&Children<'t>>) -> List {
        let values = match listed {
            Some(children) => self.lower_all(children, Role::Read),
            None => arguments
                .into_iter()
                .map(|argument| self.lower(argument, Role::Read))
                .collect(),
        };
        self.push_list(&values)
    }

    fn count_arguments(&self, children: &Children<'t>) -> u8 {
        let mut count = 0usize;
        for child in children.named() {
            match self.rules.rule(child.kind).action {
                Action::Comment | Action::Skip => {}
                Action::Spread => return u8::MAX,
                _ => count += 1,
            }
        }
        count.min(255) as u8
    }

    /// The values of the named children, comments left out.
    pub(crate) fn lower_all(&mut self, children: &Children<'t>, role: Role) -> SmallVec<[ExpressionId; 8]> {
        let mut values = SmallVec::new();
        for child in children.named() {
            if !matches!(self.rules.rule(child.kind).action, Action::Comment | Action::Skip) {
                values.push(self.lower_child(child, role));
            }
        }
        values
    }

    fn argument(&mut self, node: Node<'t>, rule: &'static Rule, role: Role) -> ExpressionId {
        let children = self.children(node);
        let name = children.get(&rule.name);
        let value = children
            .get(&rule.value)
            .or_else(|| children.named().next_back().map(|child| child.node));
        let Some(value) = value else { return UNKNOWN };
        let lowered = self.lower(value, role);
        match name {
            Some(name) if name != value => {
                let name = self.name_of(name);
                self.push_expression(Expression::Argument { name, value: lowered }, node.start_byte())
            }
            _ => lowered,
        }
    }

    fn index(&mut self, node: Node<'t>, rule: &'static Rule, role: Role) -> ExpressionId {
        if matches!(role, Role::Type | Role::Inherit) {
            return self.generic(node, rule, role);
        }
        let children = self.children(node);
        let Some(object) = children.get(&rule.object) else {
            self.walk(&children);
            return UNKNOWN;
        };
        let key_node = children.get(&rule.arguments);
        let value = self.lower(object, Role::Read);
        let mut key = None;
        let mut named = None;
        for child in children.named() {
            if child.node != object {
                let lowered = self.lower_child(child, Role::Read);
                if Some(child.node) == key_node {
                    key = self.literal_key(child.node, lowered);
                    named = Some(lowered).filter(|_| self.rule(child.node).action == Action::Name);
                }
            }
        }
        if value == UNKNOWN {
            return UNKNOWN;
        }
        let index = self.push_expression(Expression::Index { object: value, key }, node.start_byte());
        self.named_keys.extend(named.map(|name| (index, name)));
        index
    }

    /// The text of a literal key: that of a string, or a number as written.
    pub(crate) fn literal_key(&mut self, node: Node<'t>, value: ExpressionId) -> Option<Name> {
        match self.expression(value) {
            Expression::Text(text) => Some(text),
            Expression::Literal(LiteralKind::Number | LiteralKind::Boolean) => Some(self.name_of(node)),
            _ if self.text(node) == super::patterns::LAST => Some(self.name_of(node)),
            _ => None,
        }
    }

    fn mapping(&mut self, node: Node<'t>) -> ExpressionId {
        let children = self.children(node);
        let mut entries: SmallVec<[ExpressionId; 16]> = SmallVec::new();
        for child in children.named() {
            let rule = self.rules.rule(child.kind);
            match rule.action {
                Action::Comment => {}
                Action::Pair => {
                    let parts = self.children(child.node);
                    let key = parts.get(&rule.arguments).map_or(UNKNOWN, |key| {
                        let lowered = self.lower(key, Role::Read);
                        match self.literal_key(key, lowered) {
                            Some(text) => self.push_expression(Expression::Text(text), key.start_byte()),
                            None => lowered,
                        }
                    });
                    let value = parts
                        .get(&rule.value)
                        .map_or(UNKNOWN, |value| self.lower(value, Role::Read));
                    entries.extend([key, value]);
                }
                Action::Spread => {
                    let value = self.lower_child(child, Role::Read);
                    entries.extend([value, value]);
                }
                _ => {
                    self.lower_child(child, Role::Read);
                }
            }
        }
        let entries = self.push_list(&entries);
        self.push_expression(Expression::Mapping { entries }, node.start_byte())
    }

    fn string(&mut self, node: Node<'t>, rule: &'static Rule) -> ExpressionId {
        if node.child_count() == 0 {
            let text = self.text(node).trim_matches(['"', '\'', '`']);
            let text = if text.len() <= MAX_TEXT {
                self.names.intern(text)
            } else {
                return ExpressionId(1);
            };
            return self.push_expression(Expression::Text(text), node.start_byte());
        }
        let children = self.children(node);
        let mut from = None;
        let mut to = 0;
        let mut interpolated = false;
        for child in children.named() {
            if matches(&rule.value, child) {
                from.get_or_insert(child.node.start_byte());
                to = child.node.end_byte();
            } else if self.rules.rule(child.kind).action != Action::Skip {
                interpolated = true;
                self.lower_child(child, Role::Read);
            }
        }
        let start = from.unwrap_or(0);
        if interpolated || to.saturating_sub(start) > MAX_TEXT {
            return ExpressionId(1);
        }
        let text = self.names.slice(start, to.max(start));
        self.push_expression(Expression::Text(text), node.start_byte())
    }

    fn choice_of(&mut self, node: Node<'t>, rule: &'static Rule, role: Role) -> ExpressionId {
        let children = self.children(node);
        let chosen: SmallVec<[Node<'t>; 4]> = rule
            .values
            .iter()
            .filter_map(|selector| children.get(selector))
            .collect();
        let mut values: SmallVec<[ExpressionId; 4]> = SmallVec::new();
        for child in children.named() {
            if rule.values.is_empty() || chosen.contains(&child.node) {
                let inner = if matches!(role, Role::Type | Role::Inherit) {
                    role
                } else {
                    Role::Read
                };
                values.push(self.lower_child(child, inner));
            } else {
                self.lower_child(child, Role::Read);
            }
        }
        self.choice(&values)
    }

    fn generic(&mut self, node: Node<'t>, rule: &'static Rule, role: Role) -> ExpressionId {
        let children = self.children(node);
        let base_node = children
            .get(&rule.object)
            .or_else(|| children.named().next().map(|child| child.node));
        let mut base = UNKNOWN;
        let mut arguments: SmallVec<[ExpressionId; 4]> = SmallVec::new();
        for child in children.named() {
            if Some(child.node) == base_node {
                base = self.lower_child(child, role);
                continue;
            }
            let inner = self.rules.rule(child.kind).action;
            if matches!(inner, Action::Arguments | Action::Sequence | Action::TypeParameters) {
                let list = self.children(child.node);
                arguments.extend(self.lower_all(&list, Role::Type));
            } else {
                arguments.push(self.lower_child(child, Role::Type));
            }
        }
        let arguments = self.push_list(&arguments);
        self.push_expression(Expression::Generic { base, arguments }, node.start_byte())
    }

    fn function_type(&mut self, node: Node<'t>, rule: &'static Rule) -> ExpressionId {
        let children = self.children(node);
        let mut types: SmallVec<[ExpressionId; 4]> = SmallVec::new();
        let result = children.get(&rule.result);
        if let Some(parameters) = children.get(&rule.parameters) {
            let parameters = self.children(parameters);
            for child in parameters.named() {
                let rule = self.rules.rule(child.kind);
                let parts = self.children(child.node);
                let type_ = match parts.get(&rule.type_) {
                    Some(type_) => self.lower_type(type_),
                    None => self.lower_type(child.node),
                };
                let name = parts.get(&rule.name);
                if name.is_none_or(|name| self.rule(name).action != Action::This) {
                    types.push(type_);
                }
            }
        }
        types.push(result.map_or(UNKNOWN, |result| self.lower_type(result)));
        let types = self.push_list(&types);
        self.push_expression(Expression::FunctionType(types), node.start_byte())
    }

    fn return_or_yield(&mut self, node: Node<'t>, rule: &'static Rule) -> ExpressionId {
        let value = self.pass(node, rule, Role::Read);
        let Some(function) = self.enclosing_function() else {
            return UNKNOWN;
        };
        if rule.action == Action::Return {
            if value != UNKNOWN {
                self.flows.push(Flow::Return { function, value });
            }
        } else {
            self.definitions[function.index()].flags.insert(Flags::GENERATOR);
            let value = if rule.flag {
                self.wrap(value, Expression::Element)
            } else {
                value
            };
            self.flows.push(Flow::Yield { function, value });
        }
        UNKNOWN
    }

    fn import(&mut self, node: Node<'t>, rule: &'static Rule) {
        let children = self.children(node);
        let Some(module_node) = children.get(&rule.object) else {
            self.walk(&children);
            return;
        };
        let text = self.text(module_node).trim_matches(['"', '\'', '<', '>', '`', ' ']);
        let module = self.names.intern(text);
        let member = children.get(&rule.name).map(|name| self.name_of(name));
        let alias = children.get(&rule.target).map(|alias| self.name_of(alias));
        let form = rule.form.unwrap_or(if member.is_some() {
            ImportForm::Member
        } else {
            ImportForm::Module
        });
        let last = text.rsplit(['.', '/', ':', '\\']).next().unwrap_or(text);
        let bound = alias
            .or(member)
            .or_else(|| matches!(form, ImportForm::Module | ImportForm::Member).then(|| self.names.intern(last)));
        let import = Import {
            module,
            member,
            alias: bound,
            form,
            level: 0,
            reexported: false,
            type_only: false,
            at: Self::position(module_node),
            within: self.definition,
        };
        let id = self.push_import(import);
        if let Some(name) = bound {
            self.bind(self.scope, name, Bound::Import(id), 0);
        }
    }

    fn decorator(&mut self, node: Node<'t>, rule: &'static Rule) {
        let value = self.decorator_value(node, rule);
        let span = Self::span(node);
        self.decorators_from.get_or_insert((span.start, span.start_line));
        self.pending_decorators.push(value);
    }

    pub(crate) fn decorator_value(&mut self, node: Node<'t>, rule: &'static Rule) -> ExpressionId {
        let before = self.references.len();
        let value = self.pass(node, rule, Role::Decorate);
        // `@decorate(…)` applies what it names, so the mention is a decoration as well as a call.
        if let Expression::Call { callee, .. } = self.expression(value) {
            for reference in &mut self.references[before..] {
                if reference.expression == callee && reference.role == Role::Call {
                    reference.role = Role::Decorate;
                }
            }
        }
        value
    }

    /// The comment that waits documents the file itself, if `node` follows it at once.
    pub(crate) fn document_file(&mut self, node: Node<'t>) {
        let line = Self::position(node).line;
        if let Some(doc) = self.pending_doc.take().filter(|doc| doc.end_line + 1 >= line) {
            self.doc = self.clean_doc(doc.start as usize, doc.end as usize);
        }
    }

    /// Comments on adjoining lines are one documentation; `/**` starts anew.
    pub(crate) fn comment(&mut self, node: Node<'t>) {
        let span = Self::span(node);
        if span.start == 0 && self.text(node).starts_with("#!") {
            return;
        }
        let (start, end, start_line, end_line) = (span.start, span.end, span.start_line, span.end_line);
        // What stands behind code on its line speaks of that code, not of what follows.
        let before = self.source.as_bytes()[..node.start_byte()]
            .iter()
            .rev()
            .find(|byte| !matches!(byte, b' ' | b'\t'));
        if before.is_some_and(|&byte| byte != b'\n' && byte != b'\r') {
            return;
        }
        let starts_anew = self.text(node).starts_with("/**");
        match &mut self.pending_doc {
            Some(doc) if doc.end_line + 1 >= start_line && !starts_anew => (doc.end, doc.end_line) = (end, end_line),
            _ => self.pending_doc = Some(PendingDoc { start, end, end_line }),
        }
    }
}

fn matches(selector: &Selector, child: &Child<'_>) -> bool {
    match selector {
        Selector::Field(field) => child.field == *field,
        Selector::Kind(kind) => child.kind == *kind,
        Selector::First(alternatives) => alternatives.iter().any(|one| matches(one, child)),
        Selector::None | Selector::Nth(_) | Selector::Itself | Selector::Path(_) => false,
    }
}
