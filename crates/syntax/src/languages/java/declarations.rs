//! What Java declares: variables in groups, enum constants, record components, anonymous classes, and what annotations and
//! modifiers make of a definition.

use crate::engine::{Declare, Hoist, Lowering, NewDefinition, UNKNOWN};
use crate::facts::{
    BaseKind, DefinitionId, Expression, ExpressionId, Flags, Kind, Name, Passing, Role, ScopeKind, Visibility,
};
use tree_sitter::Node;

/// `T a = …, b[];` as fields or locals.
pub(super) fn variables<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    let (flags, visibility) = lowering.modifiers(&children);
    let type_ = lowering
        .field(node, "type")
        .map(|type_| (lowering.lower_type(type_), lowering.type_text(type_)));
    let is_field = lowering.scopes[lowering.scope.index()].kind == ScopeKind::Type;
    let declarators: Vec<Node<'t>> = children
        .named()
        .map(|child| child.node)
        .filter(|child| child.kind() == "variable_declarator")
        .collect();
    if is_field {
        fields(lowering, node, &declarators, (flags, visibility), type_);
        return UNKNOWN;
    }
    lowering.pending_decorators.clear();
    lowering.decorators_from = None;
    for declarator in declarators {
        let Some(name) = lowering.field(declarator, "name") else {
            continue;
        };
        let value = lowering
            .field(declarator, "value")
            .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
        let mut declare = Declare::new(Hoist::Block, declarator);
        declare.type_ = type_;
        lowering.assign(name, value, &declare);
    }
    UNKNOWN
}

/// Fields share documentation and annotations, and may be called like a method, so they are not bound as other names are.
fn fields<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    declarators: &[Node<'t>],
    (flags, visibility): (Flags, Option<Visibility>),
    type_: Option<(ExpressionId, Name)>,
) {
    let decorators = std::mem::take(&mut lowering.pending_decorators);
    let (from, doc) = (lowering.decorators_from.take(), lowering.pending_doc.take());
    for &declarator in declarators {
        let Some(name_node) = lowering.field(declarator, "name") else {
            continue;
        };
        lowering.pending_decorators.clone_from(&decorators);
        (lowering.decorators_from, lowering.pending_doc) = (from, doc);
        let name = lowering.name_of(name_node);
        let new = NewDefinition {
            kind: Kind::Field,
            name,
            name_at: Lowering::position(name_node),
            span: Lowering::span(node),
        };
        let id = lowering.new_definition(new);
        let signature = lowering.first_line(node);
        let definition = &mut lowering.definitions[id.index()];
        definition.signature = signature;
        definition.flags.insert(flags);
        definition.result = type_.map(|(type_, _)| type_).filter(|&type_| type_ != UNKNOWN);
        definition.result_text = type_.map(|(_, text)| text);
        finish_field(lowering, id, visibility);
        lowering.bind_definition(lowering.scope, id);
        let value = lowering
            .field(declarator, "value")
            .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
        if value != UNKNOWN {
            let this = lowering.push_expression(Expression::This(lowering.scope), name_node.start_byte());
            let place = lowering.member_expression(this, name);
            lowering.flow(place, value, name_node);
        }
    }
}

fn finish_field(lowering: &mut Lowering<'_>, id: DefinitionId, visibility: Option<Visibility>) {
    let in_interface = owner_kind(lowering, id) == Some(Kind::Interface);
    let definition = &mut lowering.definitions[id.index()];
    if in_interface {
        definition.visibility = Visibility::Public;
        definition.flags.insert(Flags::STATIC);
        definition.flags.insert(Flags::FINAL);
    }
    if let Some(visibility) = visibility {
        definition.visibility = visibility;
    }
    annotate(lowering, id);
}

fn owner_kind(lowering: &Lowering<'_>, id: DefinitionId) -> Option<Kind> {
    let parent = lowering.definitions[id.index()].parent?;
    Some(lowering.definitions[parent.index()].kind)
}

/// `NAME(arguments) { body }`: an instance of the enum, or of a class of its own below it.
pub(super) fn enum_constant<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(name) = lowering.field(node, "name") else {
        return UNKNOWN;
    };
    let children = lowering.children(node);
    lowering.modifiers(&children);
    let new = NewDefinition {
        kind: Kind::EnumMember,
        name: lowering.name_of(name),
        name_at: Lowering::position(name),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    let signature = lowering.first_line(node);
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    definition.visibility = Visibility::Public;
    definition.flags.insert(Flags::STATIC);
    annotate(lowering, id);
    lowering.bind_definition(lowering.scope, id);
    let owner = lowering.scopes[lowering.scope.index()].definition;
    let arguments = lowering.field(node, "arguments");
    let (listed, count) = lowering.listed_arguments(arguments);
    if let Some(owner) = owner.filter(|_| arguments.is_some()) {
        // The constant runs the constructor of its enum.
        let type_ = lowering.push_expression(Expression::Definition(owner), node.start_byte());
        lowering.call_arguments = count;
        lowering.reference(type_, Role::Instantiate, name);
        lowering.call_arguments = 0;
        let values = lowering.lower_arguments(arguments, listed.as_ref());
        lowering.push_expression(
            Expression::New {
                type_,
                arguments: values,
            },
            node.start_byte(),
        );
    }
    if let Some(body) = lowering.field(node, "body") {
        let base = owner.map(|owner| lowering.push_expression(Expression::Definition(owner), node.start_byte()));
        class_of(lowering, node, body, base);
    }
    UNKNOWN
}

/// `T... name`.
pub(super) fn rest_parameter<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let function = lowering.definition?;
    let children = lowering.children(node);
    let declarator = children
        .named()
        .map(|child| child.node)
        .find(|child| child.kind() == "variable_declarator")?;
    let is_type = |child: &Node<'t>| {
        !matches!(
            child.kind(),
            "modifiers" | "annotation" | "marker_annotation" | "variable_declarator"
        )
    };
    let type_ = children.named().map(|child| child.node).find(is_type);
    let name = lowering.field(declarator, "name")?;
    lowering.parameter(name, node, type_, None, Passing::Rest, function);
    Some(UNKNOWN)
}

/// `new T(…) { … }` makes an instance of a class without a name below `T`.
pub(super) fn anonymous_class<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let children = lowering.children(node);
    let body = children
        .named()
        .map(|child| child.node)
        .find(|child| child.kind() == "class_body")?;
    let type_node = lowering.field(node, "type")?;
    let arguments = lowering.field(node, "arguments");
    let (listed, count) = lowering.listed_arguments(arguments);
    lowering.call_arguments = count;
    let base = lowering.lower(type_node, Role::Instantiate);
    lowering.call_arguments = 0;
    for child in children.named() {
        if child.node != body && child.node != type_node && Some(child.node) != arguments {
            lowering.lower(child.node, Role::Read);
        }
    }
    let arguments = lowering.lower_arguments(arguments, listed.as_ref());
    let class = class_of(lowering, node, body, Some(base));
    let type_ = lowering.push_expression(Expression::Definition(class), node.start_byte());
    Some(lowering.push_expression(Expression::New { type_, arguments }, node.start_byte()))
}

/// Defines the class of a body that has no name of its own. It is called as the compiler calls it: `$1`, `$2`, ….
fn class_of<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    body: Node<'t>,
    base: Option<ExpressionId>,
) -> DefinitionId {
    let name = anonymous_name(lowering);
    let (doc, decorators) = (
        lowering.pending_doc.take(),
        std::mem::take(&mut lowering.pending_decorators),
    );
    let new = NewDefinition {
        kind: Kind::Class,
        name,
        name_at: Lowering::position(node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.pending_decorators = decorators;
    let signature = lowering.signature(node, Some(body));
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    definition.visibility = Visibility::Private;
    if let Some(base) = base {
        lowering.add_base(id, base, BaseKind::Extends);
    }
    let scope = lowering.push_scope(ScopeKind::Type, Some(id));
    lowering.definitions[id.index()].body = Some(scope);
    let saved = lowering.enter(id, scope);
    lowering.walk_node(body);
    lowering.leave(saved);
    lowering.pending_doc = doc;
    id
}

fn anonymous_name(lowering: &mut Lowering<'_>) -> Name {
    let is_class = |kind| matches!(kind, Kind::Class | Kind::Enum | Kind::Interface | Kind::Struct);
    let owner = lowering.enclosing(is_class);
    let mut number = 1;
    loop {
        let name = lowering.names.intern(&format!("${number}"));
        match owner {
            Some(owner) if !lowering.first_member(owner, name) => number += 1,
            _ => return name,
        }
    }
}

/// What modifiers, annotations and the place say of a definition.
pub(super) fn finish_definition<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let in_interface = owner_kind(lowering, id) == Some(Kind::Interface);
    let has_body = lowering.field(node, "body").is_some();
    let definition = &mut lowering.definitions[id.index()];
    if in_interface && definition.visibility == Visibility::Internal {
        definition.visibility = Visibility::Public;
    }
    if in_interface && definition.kind == Kind::Method && !has_body {
        definition.flags.insert(Flags::ABSTRACT);
    }
    if node.kind() == "interface_declaration" || node.kind() == "annotation_type_declaration" {
        definition.flags.insert(Flags::ABSTRACT);
    }
    annotate(lowering, id);
    let definition = &lowering.definitions[id.index()];
    let name = lowering.names.get(definition.name);
    if definition.kind == Kind::Method && name == "main" && definition.flags.contains(Flags::STATIC) {
        lowering.definitions[id.index()].flags.insert(Flags::ENTRY_POINT);
    } else if definition.kind == Kind::Method && name.starts_with("test") && in_test_case(lowering, id) {
        lowering.definitions[id.index()].flags.insert(Flags::TEST);
    }
    if node.kind() == "record_declaration" {
        components(lowering, node);
    }
    if node.kind() == "constructor_declaration" {
        implicit_super(lowering, node);
    }
}

/// A constructor that names no other one first runs its superclass's.
fn implicit_super<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    let first = lowering.field(node, "body").and_then(|body| body.named_child(0));
    let explicit = first.is_some_and(|first| first.kind() == "explicit_constructor_invocation");
    if let Some(name) = lowering.field(node, "name").filter(|_| !explicit) {
        let bases = lowering.push_expression(Expression::Super(lowering.scope), name.start_byte());
        lowering.reference(bases, Role::Implicit, name);
    }
}

/// JUnit 3: methods called `test…` of a class below `TestCase`.
fn in_test_case(lowering: &Lowering<'_>, id: DefinitionId) -> bool {
    let Some(class) = lowering.definitions[id.index()].parent else {
        return false;
    };
    lowering.definitions[class.index()]
        .bases
        .iter()
        .any(|base| match lowering.expression(base.type_) {
            Expression::Free { name, .. } | Expression::Member { name, .. } => {
                lowering.names.get(name).ends_with("TestCase")
            }
            _ => false,
        })
}

fn annotate(lowering: &mut Lowering<'_>, id: DefinitionId) {
    let definition = &lowering.definitions[id.index()];
    let mut flags = definition.flags;
    if definition.visibility == Visibility::Public {
        flags.insert(Flags::EXPORTED);
    }
    if let Some((start, end)) = definition.doc_span
        && lowering.source[start as usize..end as usize].contains("@deprecated")
    {
        flags.insert(Flags::DEPRECATED);
    }
    for &decorator in &definition.decorators {
        let name = match lowering.expression(decorator) {
            Expression::Free { name, .. } | Expression::Member { name, .. } => lowering.names.get(name),
            _ => continue,
        };
        match name {
            "Test" | "ParameterizedTest" | "RepeatedTest" | "TestFactory" | "TestTemplate" => flags.insert(Flags::TEST),
            "Deprecated" => flags.insert(Flags::DEPRECATED),
            "Override" => flags.insert(Flags::OVERRIDE),
            _ => {}
        }
    }
    lowering.definitions[id.index()].flags = flags;
}

/// The components of a record are its fields; its canonical constructor assigns them.
fn components<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    let Some(parameters) = lowering.field(node, "parameters") else {
        return;
    };
    let children = lowering.children(parameters);
    for component in children
        .named()
        .map(|child| child.node)
        .filter(|child| child.kind() == "formal_parameter")
    {
        let (Some(name), Some(type_)) = (lowering.field(component, "name"), lowering.field(component, "type")) else {
            continue;
        };
        let parts = lowering.children(component);
        lowering.modifiers(&parts);
        let new = NewDefinition {
            kind: Kind::Field,
            name: lowering.name_of(name),
            name_at: Lowering::position(name),
            span: Lowering::span(component),
        };
        let id = lowering.new_definition(new);
        let signature = lowering.first_line(component);
        let definition = &mut lowering.definitions[id.index()];
        definition.signature = signature;
        definition.visibility = Visibility::Private;
        definition.flags.insert(Flags::FINAL);
        lowering.result_type(id, type_);
        lowering.bind_definition(lowering.scope, id);
    }
}
