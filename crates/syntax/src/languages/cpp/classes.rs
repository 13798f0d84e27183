//! Classes and their members, inside and outside of them, namespaces, and variables that construct.

use super::super::c::declarations::{self, FunctionForm};
use super::super::c::declarators::{self, Declarator, is_declarator};
use super::super::c::{named, records};
use super::{bind_template_parameters, in_class, names};
use crate::engine::{Declare, Hoist, Lowering, NewDefinition, UNKNOWN};
use crate::facts::{BaseKind, DefinitionId, Expression, ExpressionId, Flags, Kind, Role, ScopeKind, Visibility};
use tree_sitter::Node;

/// A class with a body is defined; one without is mentioned.
pub(super) fn class<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let (Some(name_node), Some(body)) = (lowering.field(node, "name"), lowering.field(node, "body")) else {
        return records::record(lowering, node, None);
    };
    let kind = match node.kind() {
        "class_specifier" => Kind::Class,
        "union_specifier" => Kind::Union,
        _ => Kind::Struct,
    };
    let last = names::last_name(name_node);
    let new = NewDefinition {
        kind,
        name: lowering.name_of(last),
        name_at: Lowering::position(last),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.definitions[id.index()].signature = lowering.signature(node, Some(body));
    // A specialisation is the template again, for some arguments.
    if name_node.kind() != "template_type" {
        lowering.bind_definition(lowering.scope, id);
    }
    let scope = lowering.push_scope(ScopeKind::Type, Some(id));
    lowering.definitions[id.index()].body = Some(scope);
    let saved = lowering.enter(id, scope);
    bind_template_parameters(lowering, node);
    for clause in named(lowering, node)
        .into_iter()
        .filter(|child| child.kind() == "base_class_clause")
    {
        lowering.base_clause(id, clause, BaseKind::Extends);
    }
    lowering.pending_doc = None;
    members(lowering, body, id, kind);
    lowering.leave(saved);
    lowering.push_expression(Expression::Definition(id), node.start_byte())
}

/// The members of a class, each as visible as the last access specifier says.
fn members<'t>(lowering: &mut Lowering<'t>, body: Node<'t>, class: DefinitionId, kind: Kind) {
    let mut visibility = if kind == Kind::Class {
        Visibility::Private
    } else {
        Visibility::Public
    };
    let children = lowering.children(body);
    for child in children.named().map(|child| child.node) {
        match child.kind() {
            "comment" => {
                lowering.comment(child);
                continue;
            }
            "access_specifier" => {
                visibility = match lowering.text(child) {
                    "public" => Visibility::Public,
                    "protected" => Visibility::Protected,
                    _ => Visibility::Private,
                };
                continue;
            }
            _ => {}
        }
        let before = lowering.definitions.len();
        lowering.lower(child, Role::Read);
        lowering.pending_doc = None;
        for definition in &mut lowering.definitions[before..] {
            if definition.parent == Some(class) {
                definition.visibility = visibility;
            }
        }
    }
}

pub(super) fn function_definition<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(declarator) = lowering.field(node, "declarator").map(declarators::read) else {
        lowering.walk_node(node);
        return UNKNOWN;
    };
    if declarator.name.is_some_and(|name| is_test_macro(lowering.text(name))) && test_case(lowering, node, declarator) {
        return UNKNOWN;
    }
    let has_body = lowering.field(node, "body").is_some();
    member_function(lowering, node, declarator, has_body);
    UNKNOWN
}

/// Defines or declares a function wherever it stands.
fn member_function<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, declarator: Declarator<'t>, has_body: bool) {
    let Some(name) = declarator.name else { return };
    let class = in_class(lowering);
    let (owner, name) = match name.kind() {
        "qualified_identifier" => names::split(lowering, name),
        _ => (None, name),
    };
    let is_static = declarations::has_specifier(lowering, node, "static");
    let mut flags = Flags::default();
    let text = lowering.text(name);
    let owner_name = match (class, owner) {
        (Some(class), _) => lowering.names.get(lowering.definitions[class.index()].name).to_owned(),
        (None, Some(owner)) => last_word(lowering, owner),
        (None, None) => String::new(),
    };
    let is_member = class.is_some() || owner.is_some();
    let kind = match is_member {
        true if text == owner_name => Kind::Constructor,
        true => Kind::Method,
        false => Kind::Function,
    };
    if is_static && class.is_some() {
        flags.insert(Flags::STATIC);
    }
    if !has_body {
        let pure = named(lowering, node)
            .iter()
            .any(|child| child.kind() == "pure_virtual_clause")
            || lowering
                .field(node, "default_value")
                .is_some_and(|value| lowering.text(value) == "0");
        let given = named(lowering, node)
            .iter()
            .any(|child| child.kind() == "default_method_clause");
        if pure {
            flags.insert(Flags::ABSTRACT);
        } else if !given {
            flags.insert(Flags::DECLARATION);
        }
    }
    let specifiers = declarator
        .function
        .map(|function| named(lowering, function))
        .unwrap_or_default();
    for specifier in specifiers
        .into_iter()
        .filter(|child| child.kind() == "virtual_specifier")
    {
        flags.insert(if lowering.text(specifier) == "final" {
            Flags::FINAL
        } else {
            Flags::OVERRIDE
        });
    }
    let visibility = if is_static && !is_member {
        Visibility::Private
    } else {
        Visibility::Public
    };
    let declarator = Declarator {
        name: Some(name),
        ..declarator
    };
    declarations::function(
        lowering,
        node,
        declarator,
        FunctionForm {
            kind,
            flags,
            visibility,
            owner,
        },
    );
}

fn last_word(lowering: &Lowering<'_>, owner: ExpressionId) -> String {
    match lowering.expression(owner) {
        Expression::Free { name, .. } | Expression::Member { name, .. } => lowering.names.get(name).to_owned(),
        Expression::Generic { base, .. } => last_word(lowering, base),
        _ => String::new(),
    }
}

fn is_test_macro(name: &str) -> bool {
    matches!(name, "TEST" | "TEST_F" | "TEST_P" | "TYPED_TEST" | "TYPED_TEST_P")
}

/// `TEST(Suite, Name) { … }` of GoogleTest.
fn test_case<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, declarator: Declarator<'t>) -> bool {
    let list = declarator
        .function
        .and_then(|function| lowering.field(function, "parameters"));
    let (Some(list), Some(body)) = (list, lowering.field(node, "body")) else {
        return false;
    };
    let parts = named(lowering, list);
    let [suite, name] = parts.as_slice() else { return false };
    let title = format!("{}.{}", lowering.text(*suite), lowering.text(*name));
    let new = NewDefinition {
        kind: Kind::Function,
        name: lowering.names.intern(&title),
        name_at: Lowering::position(*name),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    let signature = lowering.signature(node, Some(body));
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    definition.flags.insert(Flags::TEST);
    // A fixture's members are seen bare in its tests.
    let fixture = lowering.field(*suite, "type");
    if let Some(fixture) = fixture.filter(|_| declarator.name.is_some_and(|name| lowering.text(name) == "TEST_F")) {
        let owner = lowering.lower_type(fixture);
        lowering.definitions[id.index()].owner = Some(owner).filter(|&owner| owner != UNKNOWN);
    }
    let scope = lowering.push_scope(ScopeKind::Function, Some(id));
    lowering.definitions[id.index()].body = Some(scope);
    let saved = lowering.enter(id, scope);
    lowering.walk_node(body);
    lowering.leave(saved);
    true
}

/// Prototypes, variables and what constructs them.
pub(super) fn declaration<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let type_node = lowering.field(node, "type");
    let children = named(lowering, node);
    let declared: Vec<Node<'t>> = children
        .into_iter()
        .filter(|child| Some(*child) != type_node && is_declarator(child.kind()))
        .collect();
    let in_function = lowering.enclosing_function().is_some() && in_class(lowering).is_none();
    let base = type_node.map_or(UNKNOWN, |type_| lowering.lower_type(type_));
    let type_text = type_node.map(|type_| lowering.type_text(type_));
    let is_static = declarations::has_specifier(lowering, node, "static");
    let is_extern = declarations::has_specifier(lowering, node, "extern");
    for child in declared {
        let mut declarator = declarators::read(child);
        if declarator.is_function && !in_function {
            member_function(lowering, node, declarator, false);
            continue;
        }
        let Some(name) = declarator.name else { continue };
        let constructs = type_node.filter(|type_| is_named_type(type_.kind()) && !declarator.wrapped && !is_extern);
        let written = if declarator.is_function {
            declarator.function
        } else {
            None
        };
        declarator.is_function = false;
        // `T x(y);` in a function is nearly always a variable, whatever it looks like.
        let function = declarator.function.take().filter(|_| written.is_some());
        let type_ = declarators::around(lowering, base, declarator);
        let mut declare = Declare::new(Hoist::Block, node);
        declare.type_ = type_text.map(|text| (type_, text)).filter(|_| type_ != UNKNOWN);
        let before = lowering.definitions.len();
        let is_name = lowering.rule(name).action == crate::engine::Action::Name;
        if is_name {
            lowering.assign(name, UNKNOWN, &declare);
        }
        for definition in &mut lowering.definitions[before..] {
            definition.visibility = if is_static {
                Visibility::Private
            } else {
                Visibility::Public
            };
            if is_extern {
                definition.flags.insert(Flags::DECLARATION);
            }
        }
        // In a condition, the value is the declaration's own.
        let value_node = match child.kind() {
            "init_declarator" => lowering.field(child, "value"),
            _ => lowering.field(node, "value"),
        };
        let value = initial_value(lowering, (constructs, base), value_node, function);
        if value != UNKNOWN && is_name {
            let place = lowering.name_expression(name);
            lowering.flow(place, value, name);
        } else if name.kind() == "structured_binding_declarator" {
            lowering.assign(name, value, &Declare::new(Hoist::Block, node));
        }
    }
    UNKNOWN
}

fn is_named_type(kind: &str) -> bool {
    matches!(kind, "type_identifier" | "qualified_identifier" | "template_type")
}

/// What a variable starts with: `= value`, or what its constructor makes of the arguments.
fn initial_value<'t>(
    lowering: &mut Lowering<'t>,
    (constructs, type_): (Option<Node<'t>>, ExpressionId),
    value: Option<Node<'t>>,
    parameters: Option<Node<'t>>,
) -> ExpressionId {
    match (value, constructs) {
        (Some(value), Some(at)) if matches!(value.kind(), "argument_list" | "initializer_list") => {
            let arguments: Vec<ExpressionId> = named(lowering, value)
                .into_iter()
                .map(|argument| lowering.lower(argument, Role::Read))
                .collect();
            construct(lowering, at, type_, &arguments)
        }
        (Some(value), _) if value.kind() == "argument_list" => {
            lowering.walk_node(value);
            UNKNOWN
        }
        (Some(value), _) => lowering.lower(value, Role::Read),
        (None, Some(at)) => {
            let list = parameters.and_then(|function| lowering.field(function, "parameters"));
            let count = list.map_or(0, |list| list.named_child_count());
            let arguments = vec![UNKNOWN; count];
            construct(lowering, at, type_, &arguments)
        }
        (None, None) => UNKNOWN,
    }
}

fn construct<'t>(
    lowering: &mut Lowering<'t>,
    at: Node<'t>,
    type_: ExpressionId,
    arguments: &[ExpressionId],
) -> ExpressionId {
    if type_ == UNKNOWN {
        return UNKNOWN;
    }
    let position = names::last_name(at);
    lowering.call_arguments = arguments.len().min(254) as u8;
    lowering.reference(type_, Role::Instantiate, position);
    lowering.call_arguments = 0;
    let arguments = lowering.push_list(arguments);
    lowering.push_expression(Expression::New { type_, arguments }, at.start_byte())
}

/// Fields and declared methods of a class.
pub(super) fn field_declaration<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(type_node) = lowering.field(node, "type") else {
        lowering.walk_node(node);
        return UNKNOWN;
    };
    let children = named(lowering, node);
    let default = lowering.field(node, "default_value");
    let declared: Vec<Node<'t>> = children
        .into_iter()
        .filter(|child| *child != type_node && Some(*child) != default && is_declarator(child.kind()))
        .collect();
    let is_function = declared
        .first()
        .is_some_and(|first| declarators::read(*first).is_function);
    if is_function {
        for child in declared {
            member_function(lowering, node, declarators::read(child), false);
        }
        return UNKNOWN;
    }
    let base = lowering.lower_type(type_node);
    let is_static = declarations::has_specifier(lowering, node, "static");
    let doc = lowering.pending_doc;
    for child in declared {
        let mut declarator = declarators::read(child);
        declarator.is_function = false;
        let Some(name) = declarator.name else { continue };
        lowering.pending_doc = doc;
        let id = declarations::field(lowering, node, name, base, declarator, type_node);
        if is_static {
            lowering.definitions[id.index()].flags.insert(Flags::STATIC);
        }
        if let Some(default) = default {
            let value = lowering.lower(default, Role::Read);
            if value != UNKNOWN {
                let this = lowering.push_expression(Expression::This(lowering.scope), name.start_byte());
                let field = lowering.name_of(name);
                let place = lowering.member_expression(this, field);
                lowering.flow(place, value, name);
            }
        }
    }
    UNKNOWN
}

/// `name(arguments)` before the body of a constructor: a base is constructed, a field is given a value.
pub(super) fn field_initializer<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let parts = named(lowering, node);
    let Some((&target, rest)) = parts.split_first() else {
        return UNKNOWN;
    };
    let mut arguments = Vec::new();
    for list in rest {
        for argument in named(lowering, *list) {
            arguments.push(lowering.lower(argument, Role::Read));
        }
    }
    let value = match target.kind() {
        "field_identifier" => lowering.name_expression(target),
        _ => lowering.lower_type(target),
    };
    if value != UNKNOWN {
        lowering.call_arguments = arguments.len().min(254) as u8;
        lowering.reference(value, Role::Instantiate, names::last_name(target));
        lowering.call_arguments = 0;
    }
    if let (&[argument], "field_identifier") = (arguments.as_slice(), target.kind())
        && argument != UNKNOWN
    {
        let this = lowering.push_expression(Expression::This(lowering.scope), target.start_byte());
        let name = lowering.name_of(target);
        let place = lowering.member_expression(this, name);
        lowering.flow(place, argument, target);
    }
    let list = lowering.push_list(&arguments);
    lowering.push_expression(
        Expression::New {
            type_: value,
            arguments: list,
        },
        node.start_byte(),
    )
}

/// `namespace a::b { … }`: one module in another. Without a name, what is inside stays in the file.
pub(super) fn namespace<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(body) = lowering.field(node, "body") else {
        return UNKNOWN;
    };
    let Some(name) = lowering.field(node, "name") else {
        let before = lowering.definitions.len();
        lowering.walk_node(body);
        let around = lowering.definition;
        for definition in &mut lowering.definitions[before..] {
            if definition.parent == around {
                definition.visibility = Visibility::Private;
            }
        }
        return UNKNOWN;
    };
    let mut parts = Vec::new();
    flatten(name, &mut parts);
    let mut saved = Vec::new();
    for part in parts {
        let new = NewDefinition {
            kind: Kind::Module,
            name: lowering.name_of(part),
            name_at: Lowering::position(part),
            span: Lowering::span(node),
        };
        let id = lowering.new_definition(new);
        lowering.definitions[id.index()].signature = lowering.signature(node, Some(body));
        let bound = lowering.definitions[id.index()].name;
        if lowering.binding_in(lowering.scope, bound).is_none() {
            lowering.bind_definition(lowering.scope, id);
        }
        let scope = lowering.push_scope(ScopeKind::Module, Some(id));
        lowering.definitions[id.index()].body = Some(scope);
        saved.push(lowering.enter(id, scope));
    }
    lowering.pending_doc = None;
    lowering.walk_node(body);
    for state in saved.into_iter().rev() {
        lowering.leave(state);
    }
    UNKNOWN
}

fn flatten<'t>(name: Node<'t>, parts: &mut Vec<Node<'t>>) {
    if name.kind() == "nested_namespace_specifier" {
        for at in 0..name.named_child_count() as u32 {
            if let Some(child) = name.named_child(at) {
                flatten(child, parts);
            }
        }
    } else {
        parts.push(name);
    }
}
