//! Definitions: functions, types and modules with their parameters, bases, decorators, modifiers and scopes.

use super::children::{Child, Children};
use super::lowering::{Lowering, UNKNOWN, is_function, is_type};
use super::patterns::{Declare, Hoist};
use super::rules::{Action, Modifier, Rule, Selector, VisibilityRule};
use crate::facts::{
    Base, BaseKind, Bound, Definition, DefinitionId, Expression, ExpressionId, Flags, Flow, Kind, Name, Parameter,
    Passing, Position, Role, ScopeId, ScopeKind, Span, Visibility,
};
use tree_sitter::Node;

/// What a definition starts from; the rest is filled in as it is found.
#[derive(Clone, Copy)]
pub(crate) struct NewDefinition {
    pub(crate) kind: Kind,
    pub(crate) name: Name,
    pub(crate) name_at: Position,
    pub(crate) span: Span,
}

impl<'t> Lowering<'t> {
    /// The function before that `new` is a further clause of, now as long as both.
    pub(crate) fn clause_of(&mut self, new: NewDefinition) -> Option<DefinitionId> {
        if !self.rules.clauses || !is_function(new.kind) || new.kind == Kind::Lambda {
            return None;
        }
        let before = self
            .definitions
            .iter()
            .rposition(|before| before.parent == self.definition)?;
        let definition = &mut self.definitions[before];
        if definition.name != new.name || definition.kind != new.kind {
            return None;
        }
        (definition.span.end, definition.span.end_line) = (new.span.end, new.span.end_line);
        Some(DefinitionId(before as u32))
    }

    /// Adds a definition inside the current one. Takes the documentation and the decorators that wait.
    pub(crate) fn new_definition(&mut self, new: NewDefinition) -> DefinitionId {
        let id = DefinitionId(self.definitions.len() as u32);
        let mut span = new.span;
        let decorators = if new.kind == Kind::Lambda {
            Vec::new()
        } else {
            std::mem::take(&mut self.pending_decorators)
        };
        if new.kind != Kind::Lambda
            && let Some((start, line)) = self.decorators_from.take()
            && start < span.start
        {
            (span.start, span.start_line) = (start, line);
        }
        let signature = self.names.intern("");
        let visibility = match self.rules.visibility {
            VisibilityRule::Always(visibility) => visibility,
            VisibilityRule::Underscore => underscore_visibility(self.names.get(new.name)),
            VisibilityRule::Capital => capital_visibility(self.names.get(new.name)),
        };
        let mut definition = Definition {
            kind: new.kind,
            name: new.name,
            parent: self.definition,
            owner: None,
            scope: self.scope,
            body: None,
            span,
            name_at: new.name_at,
            signature,
            doc: None,
            doc_span: None,
            visibility,
            flags: Flags::default(),
            parameters: Vec::new(),
            result: None,
            result_text: None,
            bases: Vec::new(),
            decorators,
        };
        if new.kind != Kind::Lambda
            && let Some(doc) = self.pending_doc
            && doc.end_line + 1 >= span.start_line
            && doc.start < span.start
        {
            definition.doc = self.clean_doc(doc.start as usize, doc.end as usize);
            definition.doc_span = Some((doc.start, doc.end));
            self.pending_doc = None;
        }
        self.definitions.push(definition);
        id
    }

    /// Binds the name of `id` in `scope`. A name that the scope binds to another definition already keeps its binding, and
    /// the new definition is a value that flows into it: overloads, conditional and repeated definitions.
    pub(crate) fn bind_definition(&mut self, scope: ScopeId, id: DefinitionId) {
        let definition = &self.definitions[id.index()];
        let (name, at) = (definition.name, definition.span.start);
        let scope = self.redirects.get(&(scope, name)).copied().unwrap_or(scope);
        match self.binding_in(scope, name) {
            // Members are found by their owner, accessors and overloads included.
            Some(_) if self.scopes[scope.index()].kind == ScopeKind::Type => {}
            Some(_) => {
                let target = self.push_expression(
                    Expression::Free {
                        name,
                        scope: self.scope,
                    },
                    at as usize,
                );
                let value = self.push_expression(Expression::Definition(id), at as usize);
                self.flows.push(Flow::Assign {
                    target,
                    value,
                    at,
                    conditional: self.branches > 0,
                });
            }
            None => {
                self.bind(scope, name, Bound::Definition(id), 0);
            }
        }
    }

    /// The definition that `rule` says `node` is. A member without a name, as of a tuple, is none: nothing could mention it.
    pub(crate) fn define(&mut self, node: Node<'t>, rule: &'static Rule) -> Option<DefinitionId> {
        let children = self.children(node);
        let name = children.get(&rule.name);
        if name.is_none() && rule.kind == Some(Kind::Field) && rule.name != Selector::None {
            self.lower_all(&children, Role::Read);
            return None;
        }
        Some(self.define_as(node, rule, &children, name, node))
    }

    /// The same, with a name that may stand elsewhere (`name = function …`) and a span that may be wider.
    pub(crate) fn define_as(
        &mut self,
        node: Node<'t>,
        rule: &'static Rule,
        children: &Children<'t>,
        name_node: Option<Node<'t>>,
        whole: Node<'t>,
    ) -> DefinitionId {
        let name = match name_node {
            // Names that are strings: keys of data, titles of tests.
            Some(name) if self.text(name).starts_with(['"', '\'']) => {
                let bare = self.text(name).trim_matches(['"', '\'']);
                self.names.intern(bare)
            }
            Some(name) => self.name_of(name),
            None => self.names.intern(""),
        };
        let stated = self
            .rules
            .has_kind_modifiers
            .then(|| self.kind_by_modifier(children))
            .flatten();
        let kind = stated.unwrap_or_else(|| self.kind_here(rule, name, name_node.is_some()));
        let (flags, visibility) = self.modifiers(children);
        let new = NewDefinition {
            kind,
            name,
            name_at: Self::position(name_node.unwrap_or(node)),
            span: Self::span(whole),
        };
        if let Some(id) = self.clause_of(new) {
            self.further_clause(id, rule, children);
            return id;
        }
        let id = self.new_definition(new);
        let definition = &mut self.definitions[id.index()];
        definition.flags.insert(flags);
        if let Some(visibility) = visibility {
            definition.visibility = visibility;
        }
        let outer = self.scope;
        let bound_in = if rule.hoist { self.function_scope() } else { outer };
        // A named function expression is seen inside itself alone; one that takes its name from a variable is bound by it.
        // A member written outside of its type is found through its owner.
        // An extension goes by the name of what it extends.
        let extended = name_node.filter(|_| stated == Some(Kind::Extension));
        let owner = children.get(&rule.owner).or(extended);
        let bindable =
            kind != Kind::Lambda && kind != Kind::Extension && name_node.is_some() && whole == node && owner.is_none();
        // Methods of object literals are members of something that is not a scope.
        let bindable =
            bindable && (rule.kind != Some(Kind::Method) || self.scopes[outer.index()].kind == ScopeKind::Type);
        if bindable && rule.action == Action::Define {
            self.bind_definition(bound_in, id);
        }
        let body = children.get(&rule.body);
        self.definitions[id.index()].signature = match rule.body {
            Selector::Itself => self.first_line(node),
            _ => self.signature(node, body),
        };

        let scope_kind = match kind {
            kind if is_function(kind) => ScopeKind::Function,
            kind if is_type(kind) || kind == Kind::TypeAlias => ScopeKind::Type,
            Kind::Module => ScopeKind::Module,
            _ => ScopeKind::Block,
        };
        let scope = self.push_scope(scope_kind, Some(id));
        self.definitions[id.index()].body = Some(scope);
        let saved = self.enter(id, scope);
        if bindable && rule.action == Action::Lambda {
            self.bind_definition(scope, id);
        }
        self.type_parameters(children);
        if let Some(owner) = owner {
            let type_ = self.lower_type(owner);
            self.definitions[id.index()].owner = Some(type_).filter(|&type_| type_ != UNKNOWN);
        }
        if let Some(parameters) = children.get(&rule.parameters) {
            self.parameters(parameters, id);
        }
        if let Some(result) = children.get(&rule.result) {
            self.result_type(id, result);
        }
        self.bases(id, rule, children, outer);
        self.hooks.definition(self, id, node);

        if rule.body == Selector::Itself {
            // All children but the name and what is lowered already.
            for child in children.named().filter(|child| name_node != Some(child.node)) {
                if !matches!(
                    self.rules.rule(child.kind).action,
                    Action::Decorator | Action::Base | Action::Modifiers
                ) {
                    self.lower_child(child, Role::Read);
                }
            }
        }
        if let Some(body) = body {
            if is_function(kind) && self.rule(body).action != Action::Block && !self.is_statement_list(body) {
                let value = self.lower(body, Role::Read);
                if value != UNKNOWN {
                    self.flows.push(Flow::Return { function: id, value });
                }
            } else {
                self.pending_doc = None;
                if self.rule(body).hook {
                    self.lower(body, Role::Read);
                } else {
                    self.walk_node(body);
                }
            }
        }
        if let Some(value) = children.get(&rule.value) {
            let value = self.lower(value, Role::Read);
            if value != UNKNOWN {
                let at = node.start_byte();
                let target = match self.scopes[outer.index()].kind {
                    ScopeKind::Type => {
                        let object = self.push_expression(Expression::This(outer), at);
                        self.push_expression(Expression::Member { object, name }, at)
                    }
                    _ => self.push_expression(Expression::Free { name, scope: outer }, at),
                };
                self.flow(target, value, node);
            }
        }
        self.leave(saved);
        id
    }

    /// What the function `id` does in a clause after its first: the first one says what it is called with.
    fn further_clause(&mut self, id: DefinitionId, rule: &'static Rule, children: &Children<'t>) {
        let scope = self.push_scope(ScopeKind::Function, Some(id));
        let saved = self.enter(id, scope);
        if let Some(body) = children.get(&rule.body) {
            let value = self.lower(body, Role::Read);
            if value != UNKNOWN {
                self.flows.push(Flow::Return { function: id, value });
            }
        }
        self.leave(saved);
    }

    /// The kind that a token among `children` tells.
    fn kind_by_modifier(&self, children: &Children<'t>) -> Option<Kind> {
        children
            .iter()
            .find_map(|child| match self.rules.modifier(child.kind)? {
                Modifier::Kind(kind) => Some(kind),
                Modifier::Flag(_) | Modifier::Visibility(_) => None,
            })
    }

    /// How many definitions are around the current place.
    pub(crate) fn definition_depth(&self) -> u32 {
        let mut depth = 0;
        let mut current = self.definition;
        while let Some(id) = current {
            depth += 1;
            current = self.definitions[id.index()].parent;
        }
        depth
    }

    /// Makes `id` and `scope` current; [`Lowering::leave`] undoes it.
    pub(crate) fn enter(&mut self, id: DefinitionId, scope: ScopeId) -> (Option<DefinitionId>, ScopeId, u32) {
        let saved = (self.definition, self.scope, self.branches);
        self.definition = Some(id);
        self.scope = scope;
        // A branch around a function does not make what happens inside it conditional.
        self.branches = 0;
        saved
    }

    pub(crate) fn leave(&mut self, (definition, scope, branches): (Option<DefinitionId>, ScopeId, u32)) {
        self.definition = definition;
        self.scope = scope;
        self.branches = branches;
    }

    fn is_statement_list(&self, body: Node<'t>) -> bool {
        self.rule(body).action == Action::Walk
    }

    fn kind_here(&self, rule: &Rule, name: Name, named: bool) -> Kind {
        let in_type = self.scopes[self.scope.index()].kind == ScopeKind::Type;
        match rule.kind.unwrap_or(Kind::Function) {
            Kind::Function | Kind::Lambda if rule.action == Action::Lambda && !named => Kind::Lambda,
            Kind::Function | Kind::Method | Kind::Lambda if in_type => {
                let text = self.names.get(name);
                if self.rules.constructors.iter().any(|constructor| constructor == text) {
                    Kind::Constructor
                } else {
                    Kind::Method
                }
            }
            Kind::Lambda => Kind::Function,
            Kind::Variable | Kind::Constant if in_type => Kind::Field,
            kind => kind,
        }
    }

    /// Flags and visibility that tokens among `children` give. Decorators among them join those that wait.
    pub(crate) fn modifiers(&mut self, children: &Children<'t>) -> (Flags, Option<Visibility>) {
        let mut flags = Flags::default();
        let mut visibility = None;
        self.collect_modifiers(children, &mut flags, &mut visibility);
        (flags, visibility)
    }

    fn collect_modifiers(&mut self, children: &Children<'t>, flags: &mut Flags, visibility: &mut Option<Visibility>) {
        for child in children.iter() {
            match self.rules.modifier(child.kind) {
                Some(Modifier::Flag(flag)) => flags.insert(flag),
                Some(Modifier::Visibility(found)) => *visibility = Some(found),
                Some(Modifier::Kind(_)) | None => {}
            }
            if !child.named {
                continue;
            }
            let rule = self.rules.rule(child.kind);
            match rule.action {
                Action::Modifiers => {
                    let inner = self.children(child.node);
                    self.collect_modifiers(&inner, flags, visibility);
                }
                Action::Decorator => {
                    self.lower_child(child, Role::Read);
                }
                _ => {}
            }
        }
    }

    fn type_parameters(&mut self, children: &Children<'t>) {
        for child in children.named() {
            if self.rules.rule(child.kind).action == Action::TypeParameters {
                self.bind_type_parameters(child.node);
            }
        }
    }

    /// Binds the type parameters that `list` declares in the current scope.
    pub(crate) fn bind_type_parameters(&mut self, list: Node<'t>) {
        let children = self.children(list);
        for child in children.named() {
            let mut node = child.node;
            while self.rule(node).action == Action::Pass
                && let Some(inner) = node.named_child(0)
            {
                node = inner;
            }
            let rule = self.rule(node);
            let (name, bound) = match rule.action {
                Action::TypeParameter => {
                    let parts = self.children(node);
                    (
                        parts
                            .get(&rule.name)
                            .or_else(|| parts.named().next().map(|part| part.node)),
                        parts.get(&rule.type_),
                    )
                }
                Action::Name => (Some(node), None),
                _ => {
                    self.lower(node, Role::Type);
                    continue;
                }
            };
            let Some(name_node) = name else { continue };
            let name = self.name_of(name_node);
            self.bind(self.scope, name, Bound::TypeParameter, 0);
            if let Some(bound) = bound {
                let target = self.name_expression(name_node);
                let type_ = self.lower_type(bound);
                self.flows.push(Flow::Typed { target, type_ });
            }
        }
    }

    /// Sets the declared type of `id`.
    pub(crate) fn result_type(&mut self, id: DefinitionId, node: Node<'t>) {
        let type_ = self.lower_type(node);
        let text = self.type_text(node);
        let definition = &mut self.definitions[id.index()];
        definition.result = Some(type_);
        definition.result_text = Some(text);
    }

    /// A type as written, without the colon or arrow that some grammars put into its node.
    pub(crate) fn type_text(&mut self, node: Node<'t>) -> Name {
        let text = self.text(node).trim_start_matches([':', '-', '>', ' ']).trim_end();
        self.normalised(text)
    }

    fn bases(&mut self, id: DefinitionId, rule: &'static Rule, children: &Children<'t>, outer: ScopeId) {
        let (inner, definition) = (self.scope, self.definition);
        let before = self.references.len();
        // What a base calls is called by the code around the type.
        self.definition = self.definitions[id.index()].parent;
        let generic = children
            .named()
            .any(|child| self.rules.rule(child.kind).action == Action::TypeParameters);
        // Bases are named from outside of the type; its own type parameters are the exception.
        if !generic {
            self.scope = outer;
        }
        if let Some(list) = children.get(&rule.bases) {
            self.base_clause(id, list, BaseKind::Extends);
        }
        for child in children.named() {
            let rule = self.rules.rule(child.kind);
            if rule.action == Action::Base && !rule.hook {
                self.base_clause(id, child.node, rule.base.unwrap_or(BaseKind::Extends));
            } else if rule.action == Action::Base {
                self.lower_child(child, Role::Inherit);
            }
        }
        (self.scope, self.definition) = (inner, definition);
        for reference in &mut self.references[before..] {
            if matches!(reference.role, Role::Inherit | Role::Type) {
                reference.within = Some(id);
            }
        }
    }

    /// Adds the types named in `clause` to the bases of `id`.
    pub(crate) fn base_clause(&mut self, id: DefinitionId, clause: Node<'t>, kind: BaseKind) {
        let children = self.children(clause);
        for child in children.named() {
            let rule = self.rules.rule(child.kind);
            match rule.action {
                Action::Comment | Action::Skip => {}
                Action::Base => self.base_clause(id, child.node, rule.base.unwrap_or(kind)),
                // Keyword arguments of a Python class, constructor arguments of a Kotlin base.
                Action::Argument | Action::Spread | Action::Arguments | Action::Modifiers => {
                    self.lower_child(child, Role::Read);
                }
                _ => {
                    let type_ = self.lower_child(child, Role::Inherit);
                    self.add_base(id, type_, kind);
                }
            }
        }
    }

    pub(crate) fn add_base(&mut self, id: DefinitionId, type_: ExpressionId, kind: BaseKind) {
        if type_ != UNKNOWN {
            self.definitions[id.index()].bases.push(Base { type_, kind });
        }
    }

    /// Lowers a parameter list, or the lone name that stands for one (`x => …`).
    pub(crate) fn parameters(&mut self, list: Node<'t>, id: DefinitionId) {
        if self.rule(list).action == Action::Name {
            self.parameter(list, list, None, None, Passing::Normal, id);
            return;
        }
        let children = self.children(list);
        let mut keyword = false;
        let mut listed = children.iter().peekable();
        while let Some(child) = listed.next() {
            let rule = self.rules.rule(child.kind);
            if !child.named {
                if rule.action == Action::Parameter {
                    self.collecting(&mut listed, id);
                }
                continue;
            }
            // Some grammars put a parameter and its default side by side.
            let beside = match listed.next_if(|next| next.node.kind() == "=") {
                Some(_) => listed.next().map(|default| default.node),
                None => None,
            };
            match rule.action {
                Action::Comment | Action::Skip => {}
                Action::KeywordSeparator => keyword = true,
                Action::Parameter => {
                    let passing = match rule.passing {
                        Passing::Normal if keyword => Passing::Keyword,
                        passing => passing,
                    };
                    if rule.hook && self.hooks.node(self, child.node, Role::Read).is_some() {
                        continue;
                    }
                    let parts = self.children(child.node);
                    self.modifiers(&parts);
                    let type_ = parts.get(&rule.type_);
                    let default = parts.get(&rule.value).or(beside);
                    let not_type = |part: Node<'t>| Some(part) != type_ && Some(part) != default;
                    let name = parts.get(&rule.name);
                    // A type for the receiver is no parameter: nothing is passed for it.
                    if name.is_some_and(|name| self.rule(name).action == Action::This) {
                        if let Some(type_) = type_ {
                            self.lower_type(type_);
                        }
                        continue;
                    }
                    let pattern = name.or_else(|| {
                        // Without a name selector, whatever is neither type nor default is the pattern.
                        let unnamed = rule.name == super::rules::Selector::None;
                        parts
                            .named()
                            .map(|part| part.node)
                            .find(|&part| not_type(part))
                            .filter(|_| unnamed)
                    });
                    self.parameter(pattern.unwrap_or(child.node), child.node, type_, default, passing, id);
                    self.pending_decorators.clear();
                    self.decorators_from = None;
                    let last = self.definitions[id.index()].parameters.last();
                    keyword |= last.is_some_and(|last| last.passing == Passing::Rest);
                }
                Action::Spread => {
                    let inner = self.children(child.node).named().next().map(|inner| inner.node);
                    let passing = if rule.flag { Passing::KeywordRest } else { Passing::Rest };
                    self.parameter(inner.unwrap_or(child.node), child.node, None, None, passing, id);
                    keyword |= !rule.flag;
                }
                Action::Default => {
                    let parts = self.children(child.node);
                    let target = parts.get(&rule.target).unwrap_or(child.node);
                    self.parameter(target, child.node, None, parts.get(&rule.value), Passing::Normal, id);
                }
                _ => {
                    let passing = if keyword { Passing::Keyword } else { Passing::Normal };
                    self.parameter(child.node, child.node, None, None, passing, id);
                }
            }
        }
    }

    /// A parameter whose parts stand side by side in the list behind a word, as those of `params Type[] name` do: it collects what is left. Its type is that
    /// of one argument, as where a language writes `Type... name`.
    fn collecting<'c>(&mut self, listed: &mut impl Iterator<Item = &'c Child<'t>>, id: DefinitionId)
    where
        't: 'c,
    {
        let mut named = listed.filter(|part| part.named);
        if let (Some(type_), Some(name)) = (named.next(), named.next()) {
            let is_array = self.rules.rule(type_.kind).action == Action::Wrapped;
            let element = self.field(type_.node, "type").filter(|_| is_array);
            let type_ = element.unwrap_or(type_.node);
            self.parameter(name.node, name.node, Some(type_), None, Passing::Rest, id);
        }
    }

    /// Adds one parameter to `id`: binds its name, or destructures its pattern.
    pub(crate) fn parameter(
        &mut self,
        pattern: Node<'t>,
        whole: Node<'t>,
        type_: Option<Node<'t>>,
        default: Option<Node<'t>>,
        passing: Passing,
        id: DefinitionId,
    ) {
        let rule = self.rule(pattern);
        let (pattern, passing) = match rule.action {
            Action::Spread => {
                let inner = self
                    .children(pattern)
                    .named()
                    .next()
                    .map_or(pattern, |inner| inner.node);
                (inner, if rule.flag { Passing::KeywordRest } else { Passing::Rest })
            }
            _ => (pattern, passing),
        };
        let simple = self.rule(pattern).action == Action::Name || pattern.child_count() == 0;
        let name = if simple {
            self.name_of(pattern)
        } else {
            self.names.intern("")
        };
        let binding = self.bind(self.scope, name, Bound::Parameter(id), 0);
        let target = self.push_expression(
            Expression::Bound {
                binding,
                at: pattern.start_byte() as u32,
            },
            pattern.start_byte(),
        );
        let type_text = type_.map(|type_| self.type_text(type_));
        let type_ = type_.map(|type_| self.lower_type(type_));
        if let Some(type_) = type_.filter(|&type_| type_ != UNKNOWN) {
            self.flows.push(Flow::Typed { target, type_ });
        }
        let default_text = default.map(|default| {
            let text = self.text(default);
            self.normalised(text)
        });
        if let Some(default) = default {
            let inside = (self.definition, self.scope);
            if self.rules.defaults_outside {
                let definition = &self.definitions[id.index()];
                (self.definition, self.scope) = (definition.parent, definition.scope);
            }
            let value = self.lower(default, Role::Read);
            (self.definition, self.scope) = inside;
            if value != UNKNOWN {
                let at = default.start_byte() as u32;
                self.flows.push(Flow::Assign {
                    target,
                    value,
                    at,
                    conditional: true,
                });
            }
        }
        if !simple {
            self.assign(pattern, target, &Declare::new(Hoist::Block, whole));
        }
        let parameter = Parameter {
            name,
            binding: Some(binding),
            type_,
            type_text,
            default: default_text,
            passing,
        };
        self.definitions[id.index()].parameters.push(parameter);
    }
}

fn underscore_visibility(name: &str) -> Visibility {
    let dunder = name.len() > 4 && name.starts_with("__") && name.ends_with("__");
    if name.starts_with('_') && !dunder {
        Visibility::Private
    } else {
        Visibility::Public
    }
}

fn capital_visibility(name: &str) -> Visibility {
    if name.chars().next().is_some_and(char::is_uppercase) {
        Visibility::Public
    } else {
        Visibility::Internal
    }
}
