//! Java: imports, fields in groups, anonymous classes, method references, patterns, what annotations say.
//!
//! Bare names of members are left free: which one they mean depends on bases and overloads, so resolution looks them up from
//! the type around them outwards.

mod declarations;
mod patterns;

use crate::engine::{Declare, Hoist, Hooks, Lowering, UNKNOWN};
use crate::facts::{Bound, DefinitionId, Expression, ExpressionId, Import, ImportForm, Role, ScopeKind};
use tree_sitter::Node;

pub(super) struct Java;

impl Hooks for Java {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "type_identifier" => (lowering.text(node) == "var").then_some(UNKNOWN),
            // Their names tell overloads apart; no edge can come of them.
            "integral_type" | "floating_point_type" | "boolean_type" => Some(lowering.name_expression(node)),
            "package_declaration" => {
                lowering.document_file(node);
                None
            }
            "import_declaration" => Some(import(lowering, node)),
            "field_declaration" | "constant_declaration" | "local_variable_declaration" => {
                Some(declarations::variables(lowering, node))
            }
            "enum_constant" => Some(declarations::enum_constant(lowering, node)),
            "spread_parameter" => declarations::rest_parameter(lowering, node),
            "object_creation_expression" => declarations::anonymous_class(lowering, node),
            "method_invocation" => interface_super(lowering, node),
            "field_access" => outer_this(lowering, node),
            "method_reference" => Some(method_reference(lowering, node)),
            "array_creation_expression" => Some(new_array(lowering, node)),
            "resource" => Some(resource(lowering, node)),
            "assignment_expression" => update(lowering, node),
            "enhanced_for_statement" => Some(for_each(lowering, node)),
            "instanceof_expression" => Some(patterns::instance_of(lowering, node)),
            "type_pattern" => Some(patterns::type_pattern(lowering, node)),
            "record_pattern" => Some(patterns::record_pattern(lowering, node, UNKNOWN)),
            "switch_expression" => Some(patterns::switch(lowering, node)),
            "labeled_statement" => {
                let last = lowering.children(node).named().next_back().map(|child| child.node);
                Some(last.map_or(UNKNOWN, |statement| lowering.lower(statement, role)))
            }
            _ => None,
        }
    }

    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        declarations::finish_definition(lowering, id, node);
    }
}

/// `import a.b.C;` takes a member; `import static a.b.C.m;` takes one of a class; `*` takes all.
fn import<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    let Some(path) = children
        .named()
        .map(|child| child.node)
        .find(|child| child.kind().ends_with("identifier"))
    else {
        return UNKNOWN;
    };
    let wildcard = children.named().any(|child| child.node.kind() == "asterisk");
    let text = lowering.text(path);
    let split = text.rsplit_once('.').filter(|_| !wildcard);
    let (module, member) = match split {
        Some((module, member)) => (module, Some(lowering.names.intern(member))),
        None => (text, None),
    };
    let form = if wildcard {
        ImportForm::Wildcard
    } else {
        ImportForm::Member
    };
    let name_node = lowering.field(path, "name").filter(|_| !wildcard).unwrap_or(path);
    let import = Import {
        module: lowering.names.intern(module),
        member,
        alias: member,
        form,
        level: 0,
        reexported: false,
        type_only: false,
        at: Lowering::position(name_node),
        within: None,
    };
    let id = lowering.push_import(import);
    if let Some(name) = member {
        lowering.bind_import(lowering.scope, name, Bound::Import(id), node);
    }
    UNKNOWN
}

/// `Outer.this` is an instance of `Outer`.
fn outer_this<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    lowering.field(node, "field").filter(|field| field.kind() == "this")?;
    let outer = lowering.field(node, "object")?;
    let type_ = lowering.lower_type(outer);
    Some(lowering.wrap(type_, Expression::Typed))
}

/// `Shape.super.draw()` calls what the interface itself gives.
fn interface_super<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let children = lowering.children(node);
    let object = lowering
        .field(node, "object")
        .filter(|object| object.kind() != "super")?;
    children
        .named()
        .find(|child| child.node.kind() == "super" && child.node != object)?;
    let name_node = lowering.field(node, "name")?;
    let arguments = lowering.field(node, "arguments");
    // Through the type itself, as no override is meant.
    let type_ = lowering.lower_type(object);
    let name = lowering.name_of(name_node);
    let callee = lowering.member_expression(type_, name);
    let (listed, count) = lowering.listed_arguments(arguments);
    lowering.call_arguments = count;
    lowering.reference(callee, Role::Call, name_node);
    lowering.call_arguments = 0;
    let arguments = lowering.lower_arguments(arguments, listed.as_ref());
    Some(lowering.push_expression(Expression::Call { callee, arguments }, node.start_byte()))
}

/// `object::name` is the member; `Type::new` is what makes instances, by that name.
fn method_reference<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    let Some(object_node) = children.named().next().map(|child| child.node) else {
        return UNKNOWN;
    };
    let object = lowering.lower(object_node, Role::Read);
    let last = children.iter().next_back().map(|child| child.node);
    match last.filter(|last| last.kind() == "identifier" && *last != object_node) {
        Some(name_node) => {
            let name = lowering.name_of(name_node);
            let member = lowering.member_expression(object, name);
            lowering.reference(member, Role::Read, name_node);
            member
        }
        None => {
            let name = lowering.names.intern("new");
            lowering.member_expression(object, name)
        }
    }
}

/// `try (R r = …)` closes what it opened.
fn resource<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let value = lowering.act(node, lowering.rule(node), Role::Read);
    if lowering.may_be_instance(value) {
        lowering.implicit(value, "close", node);
    }
    value
}

fn new_array<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let (type_node, initial) = (lowering.field(node, "type"), lowering.field(node, "value"));
    let children = lowering.children(node);
    let mut type_ = UNKNOWN;
    let mut value = UNKNOWN;
    for child in children.named() {
        if Some(child.node) == type_node {
            type_ = lowering.lower_type(child.node);
        } else {
            let lowered = lowering.lower(child.node, Role::Read);
            if Some(child.node) == initial {
                value = lowered;
            }
        }
    }
    let declared = lowering.wrap(type_, Expression::Typed);
    lowering.choice(&[declared, value])
}

/// `x += y` reads and writes without saying what of.
fn update<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let operator = lowering.field(node, "operator")?;
    if lowering.text(operator) == "=" {
        return None;
    }
    let (left, right) = (lowering.field(node, "left")?, lowering.field(node, "right")?);
    lowering.lower(right, Role::Read);
    lowering.lower(left, Role::Read);
    lowering.assign(left, UNKNOWN, &Declare::new(Hoist::None, node));
    Some(UNKNOWN)
}

fn for_each<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    lowering.in_scope(ScopeKind::Block, |lowering| {
        let value = lowering
            .field(node, "value")
            .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
        let element = lowering.wrap(value, Expression::Element);
        if let Some(name) = lowering.field(node, "name") {
            let mut declare = Declare::new(Hoist::Block, name);
            if let Some(type_) = lowering.field(node, "type") {
                declare.type_ = Some((lowering.lower_type(type_), lowering.type_text(type_)));
            }
            lowering.assign(name, element, &declare);
        }
        if let Some(body) = lowering.field(node, "body") {
            lowering.lower(body, Role::Read);
        }
    });
    UNKNOWN
}
