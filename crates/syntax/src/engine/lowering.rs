//! The walk itself: its state, the facts that it writes, and what each action does to a node.

use super::children::{Child, Children};
use super::names::Names;
use super::rules::{Action, Rule, Rules};
use super::{Hooks, MAX_NESTING};
use crate::facts::{
    Binding, BindingId, Definition, DefinitionId, Export, Expression, ExpressionId, Flow, Import, ImportId, Kind, List,
    LiteralKind, Name, Problem, Reference, Role, Scope, ScopeId, ScopeKind,
};
use crate::fragments::Fragments;
use crate::languages::Language;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use smallvec::SmallVec;
use tree_sitter::{Node, Tree, TreeCursor};

/// The expression that says nothing. Literals have fixed numbers too, so that they cost no entry each.
pub(crate) const UNKNOWN: ExpressionId = ExpressionId(0);

const FIXED: [Expression; 6] = [
    Expression::Unknown,
    Expression::Literal(LiteralKind::Text),
    Expression::Literal(LiteralKind::Number),
    Expression::Literal(LiteralKind::Boolean),
    Expression::Literal(LiteralKind::Null),
    Expression::Literal(LiteralKind::Other),
];

/// A documentation comment waiting for its definition.
#[derive(Clone, Copy)]
pub(crate) struct PendingDoc {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) end_line: u32,
}

/// The state of lowering one file. Hooks use its verbs; the vectors become [`FileFacts`](crate::FileFacts) when finished.
pub(crate) struct Lowering<'t> {
    pub(crate) source: &'t str,
    pub(crate) rules: &'static Rules,
    pub(crate) hooks: &'static dyn Hooks,
    /// Code that the grammar left as tokens.
    pub(crate) fragments: &'t Fragments,
    pub(super) cursor: TreeCursor<'t>,
    pub(crate) names: Names<'t>,

    pub(crate) package: Option<Name>,
    pub(crate) doc: Option<Name>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) bindings: Vec<Binding>,
    /// For each binding, the byte from which it is seen, and the binding of the same name and scope before it.
    pub(crate) seen_from: Vec<(u32, Option<BindingId>)>,
    pub(crate) by_name: HashMap<(ScopeId, Name), BindingId, FixedState>,
    /// Names that a scope takes from another one: Python's `global` and `nonlocal`, PHP's `global`.
    pub(crate) redirects: HashMap<(ScopeId, Name), ScopeId, FixedState>,
    pub(super) members: HashMap<(DefinitionId, Name), (), FixedState>,
    /// Names that begin a path: what no scope binds is the name of a module.
    pub(crate) paths: Vec<ExpressionId>,
    /// Indexes by a name, which may always hold the same text: the index and the name.
    pub(crate) named_keys: Vec<(ExpressionId, ExpressionId)>,
    pub(crate) imports: Vec<Import>,
    pub(crate) exports: Vec<Export>,
    pub(crate) expressions: Vec<Expression>,
    /// For each expression, the byte it stands at; matters for names.
    pub(crate) places: Vec<u32>,
    pub(crate) lists: Vec<u32>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) references: Vec<Reference>,
    pub(crate) problems: Vec<Problem>,

    /// The scope of what is being lowered.
    pub(crate) scope: ScopeId,
    /// The definition around it.
    pub(crate) definition: Option<DefinitionId>,
    /// How many branches and loops of the current function are around it.
    pub(crate) branches: u32,
    nesting: u32,
    /// How many more nodes may be lowered: a few times the size of the tree, in case a hook lowers something twice at every level.
    work_left: usize,
    /// Number of arguments of the call whose callee is being lowered.
    pub(crate) call_arguments: u8,
    /// The variable that the mapping about to be lowered goes to: owner of the functions in it.
    pub(crate) variable: Option<DefinitionId>,
    /// The type that these functions belong to, where it is written apart: `Foo.prototype = { … }`.
    pub(crate) mapping_owner: Option<ExpressionId>,
    pub(crate) pending_doc: Option<PendingDoc>,
    pub(crate) pending_decorators: Vec<ExpressionId>,
    /// Where the first of them starts: byte and line.
    pub(crate) decorators_from: Option<(u32, u32)>,
}

impl<'t> Lowering<'t> {
    pub(crate) fn new(
        source: &'t str,
        language: &'static Language,
        tree: &'t Tree,
        fragments: &'t Fragments,
    ) -> Lowering<'t> {
        let guess = source.len() / 32 + 16;
        let mut lowering = Lowering {
            source,
            rules: language.rules(),
            hooks: language.hooks,
            fragments,
            cursor: tree.walk(),
            names: Names::new(source),
            package: None,
            doc: None,
            definitions: Vec::new(),
            scopes: Vec::new(),
            bindings: Vec::new(),
            seen_from: Vec::new(),
            by_name: HashMap::default(),
            redirects: HashMap::default(),
            members: HashMap::default(),
            paths: Vec::new(),
            named_keys: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            expressions: Vec::with_capacity(guess),
            places: Vec::with_capacity(guess),
            lists: Vec::new(),
            flows: Vec::new(),
            references: Vec::with_capacity(guess),
            problems: Vec::new(),
            scope: ScopeId(0),
            definition: None,
            branches: 0,
            nesting: 0,
            work_left: (tree.root_node().descendant_count() + fragments.size()).saturating_mul(4) + 10_000,
            call_arguments: 0,
            variable: None,
            mapping_owner: None,
            pending_doc: None,
            pending_decorators: Vec::new(),
            decorators_from: None,
        };
        for fixed in FIXED {
            lowering.push_expression(fixed, 0);
        }
        lowering.scopes.push(Scope {
            parent: None,
            definition: None,
            kind: ScopeKind::File,
        });
        lowering
    }

    pub(crate) fn lower_root(&mut self, root: Node<'t>) {
        if self.rules.rule(root.kind_id()).hook {
            self.lower(root, Role::Read);
        } else {
            let children = self.children(root);
            self.walk(&children);
        }
        self.hooks.finish(self);
        if root.has_error() && self.problems.is_empty() {
            let mut node = root;
            while let Some(child) = self.children(node).iter().find(|child| child.node.has_error()) {
                node = child.node;
            }
            self.problem(node, "syntax error");
        }
    }

    // ---- Writing facts ----------------------------------------------------------------------------------------------

    pub(crate) fn push_expression(&mut self, expression: Expression, at: usize) -> ExpressionId {
        let id = ExpressionId(self.expressions.len() as u32);
        self.expressions.push(expression);
        self.places.push(at as u32);
        id
    }

    pub(crate) fn expression(&self, id: ExpressionId) -> Expression {
        self.expressions[id.index()]
    }

    pub(crate) fn push_list(&mut self, entries: &[ExpressionId]) -> List {
        let start = self.lists.len() as u32;
        self.lists.extend(entries.iter().map(|entry| entry.0));
        List {
            start,
            len: entries.len() as u32,
        }
    }

    /// A use of the name at `node`, as an expression; resolved when the file is finished.
    pub(crate) fn name_expression(&mut self, node: Node<'t>) -> ExpressionId {
        let name = self.name_of(node);
        self.push_expression(
            Expression::Free {
                name,
                scope: self.scope,
            },
            node.start_byte(),
        )
    }

    /// The value of a node that is mentioned elsewhere already: lowers it without counting the mention again.
    pub(crate) fn name_expression_of(&mut self, node: Node<'t>) -> Option<ExpressionId> {
        // What is lowered twice must be short, or nesting would double the work at each level.
        if node.end_byte() - node.start_byte() > 200 {
            return None;
        }
        let before = self.references.len();
        let value = self.lower(node, Role::Read);
        self.references.truncate(before);
        (value != UNKNOWN).then_some(value)
    }

    /// `object.name`, or unknown when nothing can come of it.
    pub(crate) fn member_expression(&mut self, object: ExpressionId, name: Name) -> ExpressionId {
        let at = self.places[object.index()] as usize;
        self.push_expression(Expression::Member { object, name }, at)
    }

    /// One of `values`; a single value stands for itself.
    pub(crate) fn choice(&mut self, values: &[ExpressionId]) -> ExpressionId {
        let mut distinct: SmallVec<[ExpressionId; 4]> = SmallVec::new();
        for &value in values {
            if value != UNKNOWN && !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        match distinct.as_slice() {
            [] => UNKNOWN,
            [value] => *value,
            several => {
                let list = self.push_list(several);
                self.push_expression(Expression::Choice(list), 0)
            }
        }
    }

    /// Wraps `value` unless it is unknown.
    pub(crate) fn wrap(&mut self, value: ExpressionId, wrap: impl FnOnce(ExpressionId) -> Expression) -> ExpressionId {
        if value == UNKNOWN {
            return UNKNOWN;
        }
        let at = self.places[value.index()] as usize;
        self.push_expression(wrap(value), at)
    }

    pub(crate) fn reference(&mut self, expression: ExpressionId, role: Role, at: Node<'t>) {
        let arguments = if matches!(role, Role::Call | Role::Instantiate | Role::Macro) {
            self.call_arguments
        } else {
            0
        };
        let within = self.definition;
        self.references.push(Reference {
            expression,
            role,
            at: Self::position(at),
            within,
            arguments,
        });
    }

    /// Records that a loop over `value` runs the members that iterate, each on the result of the one before.
    pub(crate) fn iterated(&mut self, value: ExpressionId, at: Node<'t>) {
        if !self.may_be_instance(value) {
            return;
        }
        let mut on = value;
        for number in 0..self.rules.iterates.len() {
            if number > 0 {
                let arguments = self.push_list(&[]);
                let made = self.push_expression(Expression::Call { callee: on, arguments }, at.start_byte());
                // An iterator iterates over itself, whether or not it says so.
                on = self.choice(&[made, value]);
            }
            on = self.implicit(on, &self.rules.iterates[number], at);
        }
    }

    /// Records that a context over `value` runs the members that enter and leave it.
    pub(crate) fn entered(&mut self, value: ExpressionId, at: Node<'t>) {
        if self.may_be_instance(value) {
            for member in &self.rules.enters {
                self.implicit(value, member, at);
            }
        }
    }

    /// Records that `member` of `value` is run without being named.
    pub(crate) fn implicit(&mut self, value: ExpressionId, member: &str, at: Node<'t>) -> ExpressionId {
        let name = self.names.intern(member);
        let member = self.member_expression(value, name);
        self.reference(member, Role::Implicit, at);
        member
    }

    /// Whether `value` may turn out to be an instance of a type of the tree.
    pub(crate) fn may_be_instance(&self, value: ExpressionId) -> bool {
        !is_fixed(value)
            && !matches!(
                self.expression(value),
                Expression::Unknown
                    | Expression::Literal(_)
                    | Expression::Text(_)
                    | Expression::Sequence { .. }
                    | Expression::Mapping { .. }
                    | Expression::Definition(_)
            )
    }

    /// Records where a value goes.
    pub(crate) fn flow(&mut self, target: ExpressionId, value: ExpressionId, at: Node<'t>) {
        let conditional = self.branches > 0;
        self.flows.push(Flow::Assign {
            target,
            value,
            at: at.start_byte() as u32,
            conditional,
        });
    }

    pub(crate) fn push_import(&mut self, import: Import) -> ImportId {
        let id = ImportId(self.imports.len() as u32);
        self.imports.push(import);
        id
    }

    // ---- The walk ---------------------------------------------------------------------------------------------------

    /// Lowers the named children as statements: comments become documentation, decorators wait for their definition.
    pub(crate) fn walk(&mut self, children: &Children<'t>) {
        for child in children.named() {
            let rule = self.rules.rule(child.kind);
            match rule.action {
                Action::Skip if !rule.hook => {}
                Action::Comment if !rule.hook => self.comment(child.node),
                _ => {
                    self.lower_child(child, Role::Read);
                    if !rule.keeps_doc && rule.action != Action::Decorator {
                        self.pending_doc = None;
                        self.pending_decorators.clear();
                        self.decorators_from = None;
                    }
                }
            }
        }
    }

    pub(crate) fn walk_node(&mut self, node: Node<'t>) {
        let children = self.children(node);
        self.walk(&children);
    }

    /// Lowers `node`: writes the facts inside it and returns its value. `role` is what happens to the name it ends in.
    pub(crate) fn lower(&mut self, node: Node<'t>, role: Role) -> ExpressionId {
        self.lower_kind(node, node.kind_id(), role)
    }

    /// As [`Lowering::lower`], for a child whose kind is at hand: asking the tree for it costs as much as a short rule.
    pub(crate) fn lower_child(&mut self, child: &Child<'t>, role: Role) -> ExpressionId {
        self.lower_kind(child.node, child.kind, role)
    }

    fn lower_kind(&mut self, node: Node<'t>, kind: u16, role: Role) -> ExpressionId {
        let rule = self.rules.rule(kind);
        // The leaves that make up most trees need neither children nor stack.
        if !rule.hook {
            match rule.action {
                Action::Skip | Action::Comment => return UNKNOWN,
                Action::Name => return self.name(node, rule.role_in(role)),
                Action::Literal => {
                    if node.child_count() > 0 {
                        self.walk_node(node);
                    }
                    return fixed_literal(rule.literal.unwrap_or(LiteralKind::Other));
                }
                Action::Walk if node.child_count() == 0 => return UNKNOWN,
                _ => {}
            }
        }
        self.work_left = self.work_left.saturating_sub(1);
        if self.work_left == 0 {
            self.problem(node, "too much work: not read further");
            return UNKNOWN;
        }
        if self.nesting >= MAX_NESTING {
            self.problem(node, "nested too deeply: not read further");
            return UNKNOWN;
        }
        self.nesting += 1;
        self.branches += u32::from(rule.branch);
        let role = rule.role_in(role);
        // One level takes a few kilobytes of stack at most, so it is enough to look now and then.
        let value = if self.nesting.is_multiple_of(8) {
            stacker::maybe_grow(256 << 10, 2 << 20, || self.dispatch(node, rule, role))
        } else {
            self.dispatch(node, rule, role)
        };
        self.branches -= u32::from(rule.branch);
        self.nesting -= 1;
        value
    }

    /// Lowers a node for its effects, and returns what it says as a type.
    pub(crate) fn lower_type(&mut self, node: Node<'t>) -> ExpressionId {
        self.lower(node, Role::Type)
    }

    fn dispatch(&mut self, node: Node<'t>, rule: &'static Rule, role: Role) -> ExpressionId {
        if rule.hook
            && let Some(value) = self.hooks.node(self, node, role)
        {
            return value;
        }
        self.act(node, rule, role)
    }
}

/// Whether `id` is one of the expressions that every file shares.
pub(crate) fn is_fixed(id: ExpressionId) -> bool {
    id.index() < FIXED.len()
}

pub(crate) fn fixed_literal(kind: LiteralKind) -> ExpressionId {
    ExpressionId(match kind {
        LiteralKind::Text => 1,
        LiteralKind::Number => 2,
        LiteralKind::Boolean => 3,
        LiteralKind::Null => 4,
        LiteralKind::Other => 5,
    })
}

pub(crate) fn is_function(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Function | Kind::Method | Kind::Constructor | Kind::Lambda | Kind::Property | Kind::Macro
    )
}

pub(crate) fn is_type(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Class | Kind::Struct | Kind::Union | Kind::Interface | Kind::Trait | Kind::Enum | Kind::Extension
    )
}
