//! C#: namespaces and what they see, properties, `base` and `this` (which the grammar leaves anonymous), patterns, partial types.
//!
//! Bare names of members are left free, as in Java: which one they mean depends on bases and overloads.

mod conditionals;
mod declarations;

use crate::engine::{Declare, Hoist, Hooks, Lowering, UNKNOWN};
use crate::facts::{Bound, DefinitionId, Expression, ExpressionId, Import, ImportForm, Kind, LiteralKind, Name, Role};
use tree_sitter::Node;

pub(super) struct CSharp;

impl Hooks for CSharp {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "identifier" => (lowering.text(node) == "var").then_some(UNKNOWN),
            "predefined_type" => Some(lowering.name_expression(node)),
            "preproc_if" => Some(conditionals::conditional(lowering, node)),
            "using_directive" => Some(using(lowering, node)),
            "namespace_declaration" | "file_scoped_namespace_declaration" => Some(namespace(lowering, node)),
            "field_declaration" | "event_field_declaration" => Some(declarations::fields(lowering, node)),
            "variable_declaration" => Some(declarations::locals(lowering, node)),
            "property_declaration" => None,
            "arrow_expression_clause" => Some(declarations::arrow(lowering, node)),
            "constructor_initializer" => Some(constructor_initializer(lowering, node)),
            "member_access_expression" => member(lowering, node, role),
            "conditional_access_expression" => Some(conditional_access(lowering, node, role)),
            "invocation_expression" => invocation(lowering, node),
            "qualified_name" => None,
            "argument" => argument(lowering, node),
            "binary_expression" => binary(lowering, node),
            "prefix_unary_expression" => negation(lowering, node),
            "foreach_statement" => Some(for_each(lowering, node)),
            "declaration_pattern" | "recursive_pattern" | "declaration_expression" => Some(pattern(lowering, node)),
            "switch_expression" => Some(switch(lowering, node)),
            _ => None,
        }
    }

    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        declarations::finish_definition(lowering, id, node);
    }
}

fn wildcard<'t>(lowering: &mut Lowering<'t>, module: Name, at: Node<'t>) {
    lowering.push_import(Import {
        module,
        member: None,
        alias: None,
        form: ImportForm::Wildcard,
        level: 0,
        reexported: false,
        type_only: false,
        at: Lowering::position(at),
        within: None,
    });
}

/// `using N;` takes all of a namespace, `using static T;` all of a type, `using A = N.T;` one type under another name.
fn using<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let alias = lowering.field(node, "name");
    let parts: Vec<Node<'t>> = lowering.children(node).named().map(|child| child.node).collect();
    let Some(path) = parts.into_iter().rfind(|part| Some(*part) != alias) else {
        return UNKNOWN;
    };
    let text: String = lowering.text(path).chars().filter(|c| !c.is_whitespace()).collect();
    let text = text.trim_start_matches("global::");
    match alias {
        Some(alias) => {
            let (module, member) = text.rsplit_once('.').unwrap_or(("", text));
            let member = member.split('<').next().unwrap_or(member);
            let (module, member) = (lowering.names.intern(module), lowering.names.intern(member));
            let alias_name = lowering.name_of(alias);
            let import = lowering.push_import(Import {
                module,
                member: Some(member),
                alias: Some(alias_name),
                form: ImportForm::Member,
                level: 0,
                reexported: false,
                type_only: false,
                at: Lowering::position(path),
                within: None,
            });
            lowering.bind_import(lowering.scope, alias_name, Bound::Import(import), node);
        }
        None => {
            let module = lowering.names.intern(text);
            wildcard(lowering, module, path);
        }
    }
    UNKNOWN
}

/// Code in `A.B.C` sees the names of `A.B` and `A` as well. A file's package is its first namespace.
fn namespace<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    if let Some(name) = lowering.field(node, "name") {
        let text = lowering.text(name);
        if lowering.package.is_none() {
            lowering.package = Some(lowering.name_of(name));
        }
        let mut outer = text;
        while let Some((shorter, _)) = outer.rsplit_once('.') {
            let module = lowering.names.intern(shorter);
            wildcard(lowering, module, name);
            outer = shorter;
        }
    }
    let body = lowering.field(node, "body");
    match body {
        Some(body) => lowering.walk_node(body),
        None => {
            let name = lowering.field(node, "name");
            let rest: Vec<Node<'t>> = lowering.children(node).named().map(|child| child.node).collect();
            for child in rest.into_iter().filter(|child| Some(*child) != name) {
                lowering.lower(child, Role::Read);
            }
        }
    }
    UNKNOWN
}

/// `this` and `base` have no node of their own kind that is named.
fn receiver<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    match lowering.text(node) {
        "this" => lowering.push_expression(Expression::This(lowering.scope), node.start_byte()),
        "base" => lowering.push_expression(Expression::Super(lowering.scope), node.start_byte()),
        _ => lowering.lower(node, Role::Read),
    }
}

/// `this` that is passed on, and `ref a` and `out a`, which differ from `a`.
fn argument<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    if node.named_child_count() == 0 && lowering.text(node) == "this" {
        return Some(receiver(lowering, node));
    }
    let first = node.child(0)?;
    if !matches!(first.kind(), "ref" | "out") {
        return None;
    }
    let value = lowering.lower(node.named_child(0)?, Role::Read);
    Some(lowering.wrap(value, Expression::Wrapped))
}

fn member<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
    let object_node = lowering.field(node, "expression")?;
    let name_node = lowering.field(node, "name")?;
    let arguments = lowering.call_arguments;
    let object = receiver(lowering, object_node);
    lowering.call_arguments = arguments;
    let bare = bare_name(lowering, name_node);
    let name = lowering.name_of(bare);
    let value = lowering.member_expression(object, name);
    lowering.reference(value, role, bare);
    type_arguments(lowering, name_node);
    Some(value)
}

/// The identifier of `Name` or `Name<T>`.
fn bare_name<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Node<'t> {
    match node.kind() {
        "generic_name" => lowering.children(node).named().next().map_or(node, |child| child.node),
        _ => node,
    }
}

fn type_arguments<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    if node.kind() == "generic_name" {
        let list = lowering
            .children(node)
            .named()
            .map(|child| child.node)
            .find(|child| child.kind() == "type_argument_list");
        let types: Vec<Node<'t>> = list
            .map(|list| lowering.children(list).named().map(|child| child.node).collect())
            .unwrap_or_default();
        for type_ in types {
            lowering.lower_type(type_);
        }
    }
}

/// `object?.name`: the member of the object, whatever follows.
fn conditional_access<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let arguments = lowering.call_arguments;
    let Some(object_node) = lowering.field(node, "condition") else {
        return UNKNOWN;
    };
    let object = receiver(lowering, object_node);
    let rest: Vec<Node<'t>> = lowering
        .children(node)
        .named()
        .map(|child| child.node)
        .filter(|child| *child != object_node)
        .collect();
    let mut value = UNKNOWN;
    for part in rest {
        let Some(binding) = first_binding(part) else {
            value = lowering.lower(part, Role::Read);
            continue;
        };
        let Some(name_node) = lowering.field(binding, "name") else {
            continue;
        };
        let bare = bare_name(lowering, name_node);
        let name = lowering.name_of(bare);
        lowering.call_arguments = arguments;
        value = lowering.member_expression(object, name);
        lowering.reference(value, if part == binding { role } else { Role::Read }, bare);
        lowering.call_arguments = 0;
        if part != binding {
            value = UNKNOWN;
        }
    }
    value
}

/// The `.name` that a chain after `?.` starts with.
fn first_binding(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node;
    for _ in 0..64 {
        if at.kind() == "member_binding_expression" {
            return Some(at);
        }
        at = at.named_child(0)?;
    }
    None
}

/// `nameof(x)` calls nothing; `base(…)` and `this(…)` are not expressions here.
fn invocation<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let function = lowering.field(node, "function")?;
    if function.kind() == "identifier" && lowering.text(function) == "nameof" {
        return Some(UNKNOWN);
    }
    if function.kind() != "generic_name" {
        return None;
    }
    // `Name<T>(…)`: the name is what is called.
    let bare = bare_name(lowering, function);
    type_arguments(lowering, function);
    let arguments = lowering.field(node, "arguments");
    let children = lowering.children(node);
    let (listed, count) = lowering.listed_arguments(arguments);
    let target = lowering.name_expression(bare);
    lowering.call_arguments = count;
    lowering.reference(target, Role::Call, bare);
    lowering.call_arguments = 0;
    drop(children);
    let arguments = lowering.lower_arguments(arguments, listed.as_ref());
    Some(lowering.push_expression(
        Expression::Call {
            callee: target,
            arguments,
        },
        node.start_byte(),
    ))
}

/// `: base(…)` and `: this(…)` run another constructor.
fn constructor_initializer<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let arguments = lowering
        .children(node)
        .named()
        .map(|child| child.node)
        .find(|child| child.kind() == "argument_list");
    let text = lowering.text(node);
    let at = node.start_byte();
    let is_base = text
        .trim_start_matches([':', ' ', '\t', '\r', '\n'])
        .starts_with("base");
    let expression = if is_base {
        Expression::Super(lowering.scope)
    } else {
        Expression::This(lowering.scope)
    };
    let callee = lowering.push_expression(expression, at);
    let keyword = lowering
        .children(node)
        .iter()
        .map(|child| child.node)
        .find(|child| matches!(child.kind(), "base" | "this"));
    let (listed, count) = lowering.listed_arguments(arguments);
    lowering.call_arguments = count;
    lowering.reference(callee, Role::Call, keyword.unwrap_or(node));
    lowering.call_arguments = 0;
    let arguments = lowering.lower_arguments(arguments, listed.as_ref());
    lowering.push_expression(Expression::Call { callee, arguments }, at)
}

/// `a ?? b` is one of both; comparisons give a truth value, and a sum with text is text.
fn binary<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let operator = lowering.field(node, "operator")?;
    let (left, right) = (lowering.field(node, "left")?, lowering.field(node, "right")?);
    match lowering.text(operator) {
        "??" => {
            let (left, right) = (lowering.lower(left, Role::Read), lowering.lower(right, Role::Read));
            Some(lowering.choice(&[left, right]))
        }
        "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||" => {
            lowering.walk_node(node);
            Some(lowering.push_expression(Expression::Literal(LiteralKind::Boolean), node.start_byte()))
        }
        "+" => {
            let (left, right) = (lowering.lower(left, Role::Read), lowering.lower(right, Role::Read));
            let is_text = |value| {
                matches!(
                    lowering.expression(value),
                    Expression::Text(_) | Expression::Literal(LiteralKind::Text)
                )
            };
            if !is_text(left) && !is_text(right) {
                return Some(UNKNOWN);
            }
            Some(lowering.push_expression(Expression::Literal(LiteralKind::Text), node.start_byte()))
        }
        _ => None,
    }
}

/// `!a` is a truth value.
fn negation<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let operator = lowering.children(node).iter().next().map(|child| child.node)?;
    if operator.kind() != "!" {
        return None;
    }
    lowering.walk_node(node);
    Some(lowering.push_expression(Expression::Literal(LiteralKind::Boolean), node.start_byte()))
}

fn for_each<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    lowering.in_scope(crate::facts::ScopeKind::Block, |lowering| {
        let items = lowering
            .field(node, "right")
            .map_or(UNKNOWN, |items| lowering.lower(items, Role::Read));
        let element = lowering.wrap(items, Expression::Element);
        let type_ = lowering
            .field(node, "type")
            .map(|type_| (lowering.lower_type(type_), lowering.type_text(type_)));
        if let Some(name) = lowering.field(node, "left") {
            let mut declare = Declare::new(Hoist::Block, name);
            declare.type_ = type_.filter(|(type_, _)| *type_ != UNKNOWN);
            lowering.assign(name, element, &declare);
        }
        if let Some(body) = lowering.field(node, "body") {
            lowering.lower(body, Role::Read);
        }
    });
    UNKNOWN
}

/// `Type name` in a pattern or an `out` argument declares the name as an instance of the type.
fn pattern<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let type_node = lowering.field(node, "type");
    let type_ = type_node.map_or(UNKNOWN, |type_| lowering.lower_type(type_));
    let name = lowering.field(node, "name");
    if let Some(name) = name.filter(|name| name.kind() == "identifier") {
        let value = lowering.wrap(type_, Expression::Typed);
        let declare = Declare::new(Hoist::Function, name);
        lowering.assign(name, value, &declare);
    }
    let rest: Vec<Node<'t>> = lowering
        .children(node)
        .named()
        .map(|child| child.node)
        .filter(|child| Some(*child) != type_node && Some(*child) != name)
        .collect();
    for child in rest {
        lowering.lower(child, Role::Read);
    }
    UNKNOWN
}

/// A `switch` expression gives what its arms give.
fn switch<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let parts: Vec<Node<'t>> = lowering.children(node).named().map(|child| child.node).collect();
    let mut values = Vec::new();
    for part in parts {
        let value = lowering.lower(part, Role::Read);
        if part.kind() == "switch_expression_arm" {
            values.push(value);
        }
    }
    lowering.choice(&values)
}

/// Whether the innermost definition is a type.
fn in_type(lowering: &Lowering<'_>) -> bool {
    lowering.definition.is_some_and(|id| {
        matches!(
            lowering.definitions[id.index()].kind,
            Kind::Class | Kind::Struct | Kind::Interface | Kind::Enum
        )
    })
}
