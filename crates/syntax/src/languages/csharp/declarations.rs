//! What C# declares: fields and locals in groups, properties, record components, and what modifiers and attributes say.

use super::in_type;
use crate::engine::{Declare, Hoist, Lowering, NewDefinition, UNKNOWN};
use crate::facts::{Bound, DefinitionId, Expression, ExpressionId, Flags, Flow, Kind, Name, Passing, Role, Visibility};
use tree_sitter::Node;

/// `T a = …, b;` in a type.
pub(super) fn fields<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    let (flags, visibility) = lowering.modifiers(&children);
    let constant = children
        .named()
        .any(|child| child.node.kind() == "modifier" && lowering.text(child.node) == "const");
    let declaration = children
        .named()
        .map(|child| child.node)
        .find(|child| child.kind() == "variable_declaration");
    let Some(declaration) = declaration else { return UNKNOWN };
    let type_ = lowering
        .field(declaration, "type")
        .map(|type_| (lowering.lower_type(type_), lowering.type_text(type_)));
    let doc = lowering.pending_doc;
    for declarator in declarators(lowering, declaration) {
        let Some(name_node) = lowering.field(declarator, "name") else {
            continue;
        };
        lowering.pending_doc = doc;
        let name = lowering.name_of(name_node);
        let kind = if constant { Kind::Constant } else { Kind::Field };
        let new = NewDefinition {
            kind,
            name,
            name_at: Lowering::position(name_node),
            span: Lowering::span(node),
        };
        let id = lowering.new_definition(new);
        let signature = lowering.first_line(node);
        let definition = &mut lowering.definitions[id.index()];
        definition.signature = signature;
        definition.flags.insert(flags);
        definition.visibility = visibility.unwrap_or(Visibility::Private);
        definition.result = type_.map(|(type_, _)| type_).filter(|&type_| type_ != UNKNOWN);
        definition.result_text = type_.map(|(_, text)| text);
        lowering.bind_definition(lowering.scope, id);
        let value = initial_value(lowering, declarator, name_node, type_);
        set_member(lowering, name, value, name_node);
    }
    UNKNOWN
}

/// `T a = …, b;` in a body.
pub(super) fn locals<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let type_ = lowering
        .field(node, "type")
        .map(|type_| (lowering.lower_type(type_), lowering.type_text(type_)));
    for declarator in declarators(lowering, node) {
        let Some(name) = lowering.field(declarator, "name") else {
            continue;
        };
        let value = initial_value(lowering, declarator, name, type_);
        let mut declare = Declare::new(Hoist::Block, declarator);
        declare.type_ = type_.filter(|(type_, _)| *type_ != UNKNOWN);
        lowering.assign(name, value, &declare);
    }
    UNKNOWN
}

fn declarators<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Vec<Node<'t>> {
    lowering
        .children(node)
        .named()
        .map(|child| child.node)
        .filter(|child| child.kind() == "variable_declarator")
        .collect()
}

/// What follows the `=`; `new()` makes an instance of the declared type.
fn initial_value<'t>(
    lowering: &mut Lowering<'t>,
    declarator: Node<'t>,
    name: Node<'t>,
    type_: Option<(ExpressionId, Name)>,
) -> ExpressionId {
    let value = lowering
        .children(declarator)
        .named()
        .map(|child| child.node)
        .rfind(|child| *child != name);
    let Some(value) = value else { return UNKNOWN };
    let lowered = lowering.lower(value, Role::Read);
    match (value.kind(), type_) {
        ("implicit_object_creation_expression", Some((type_, _))) if type_ != UNKNOWN => {
            lowering.reference(type_, Role::Instantiate, value);
            lowering.wrap(type_, Expression::Typed)
        }
        _ => lowered,
    }
}

fn set_member<'t>(lowering: &mut Lowering<'t>, name: Name, value: ExpressionId, at: Node<'t>) {
    if value != UNKNOWN {
        let this = lowering.push_expression(Expression::This(lowering.scope), at.start_byte());
        let place = lowering.member_expression(this, name);
        lowering.flow(place, value, at);
    }
}

/// `=> value`: what the function or property around it returns.
pub(super) fn arrow<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let value_node = lowering.children(node).named().next().map(|child| child.node);
    let value = value_node.map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
    if let Some(function) = lowering.definition.filter(|_| value != UNKNOWN && !in_type(lowering)) {
        lowering.flows.push(Flow::Return { function, value });
    }
    value
}

/// What modifiers, attributes and the place say of a definition.
pub(super) fn finish_definition<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    if let Some(name) = spelled_name(lowering, node) {
        lowering.definitions[id.index()].name = lowering.names.intern(&name);
    }
    let parent = lowering.definitions[id.index()]
        .parent
        .map(|parent| lowering.definitions[parent.index()].kind);
    let has_body = lowering.field(node, "body").is_some();
    let children = lowering.children(node);
    let (flags, visibility) = lowering.modifiers(&children);
    let is_test = [
        "Test",
        "TestCase",
        "TestMethod",
        "Fact",
        "Theory",
        "DataTestMethod",
        "TestCaseSource",
    ]
    .into_iter()
    .any(|name| decorated(lowering, id, name));
    let obsolete = decorated(lowering, id, "Obsolete");
    by_reference(lowering, id, node);
    let extends = extends(lowering, node);
    let for_interface = children
        .named()
        .any(|child| child.node.kind() == "explicit_interface_specifier");
    let is_main = lowering.names.get(lowering.definitions[id.index()].name) == "Main";
    let definition = &mut lowering.definitions[id.index()];
    definition.flags.insert(flags);
    if let Some(first) = definition.parameters.first_mut().filter(|_| extends) {
        first.passing = Passing::Receiver;
        definition.flags.insert(Flags::EXTENSION);
    }
    definition.visibility = match (visibility, parent) {
        (Some(visibility), _) => visibility,
        (None, Some(Kind::Interface | Kind::Enum)) => Visibility::Public,
        (None, Some(_)) => Visibility::Private,
        (None, None) => Visibility::Internal,
    };
    if definition.visibility == Visibility::Public {
        definition.flags.insert(Flags::EXPORTED);
    }
    if definition.kind == Kind::Interface
        || (parent == Some(Kind::Interface) && definition.kind == Kind::Method && !has_body)
    {
        definition.flags.insert(Flags::ABSTRACT);
    }
    if definition.kind == Kind::Property {
        definition.flags.insert(Flags::GETTER);
    }
    if for_interface {
        definition.flags.insert(Flags::FOR_INTERFACE);
    }
    if is_test {
        definition.flags.insert(Flags::TEST);
    }
    if obsolete {
        definition.flags.insert(Flags::DEPRECATED);
    }
    if is_main && definition.kind == Kind::Method && definition.flags.contains(Flags::STATIC) {
        definition.flags.insert(Flags::ENTRY_POINT);
    }
    match node.kind() {
        "record_declaration" | "class_declaration" | "struct_declaration" => components(lowering, node),
        "property_declaration" | "event_declaration" | "indexer_declaration" => property_body(lowering, id, node),
        _ => {}
    }
}

/// The name of a member that is written without an identifier: `operator+`, `operator int`, `this[]`, `~Cart`.
fn spelled_name<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<String> {
    let (before, field) = match node.kind() {
        "operator_declaration" => ("operator", "operator"),
        "conversion_operator_declaration" => ("operator ", "type"),
        "destructor_declaration" => ("~", "name"),
        "indexer_declaration" => return Some("this[]".into()),
        _ => return None,
    };
    let rest = lowering.field(node, field)?;
    Some(format!("{before}{}", lowering.text(rest)))
}

fn decorated(lowering: &Lowering<'_>, id: DefinitionId, wanted: &str) -> bool {
    lowering.definitions[id.index()]
        .decorators
        .iter()
        .any(|&decorator| match lowering.expression(decorator) {
            Expression::Free { name, .. } | Expression::Member { name, .. } => {
                lowering.names.get(name).trim_end_matches("Attribute") == wanted
            }
            _ => false,
        })
}

/// Accessors and the initial value of a property. Only a property whose getter is written out returns what that returns.
fn property_body<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    if let Some(accessors) = lowering.field(node, "accessors") {
        let name = lowering.names.intern("value");
        lowering.bind(lowering.scope, name, Bound::Local, 0);
        if let Some(type_) = lowering.definitions[id.index()].result {
            let scope = lowering.scope;
            let target = lowering.push_expression(Expression::Free { name, scope }, accessors.start_byte());
            lowering.flows.push(Flow::Typed { target, type_ });
        }
        lowering.walk_node(accessors);
    }
    let Some(value) = lowering.field(node, "value") else {
        return;
    };
    let lowered = lowering.lower(value, Role::Read);
    if value.kind() != "arrow_expression_clause" {
        let name = lowering.definitions[id.index()].name;
        set_member(lowering, name, lowered, value);
    }
}

/// Parameters that are passed by reference take nothing else.
fn by_reference<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let Some(list) = lowering.field(node, "parameters") else {
        return;
    };
    let parameters = lowering.children(list);
    let parameters = parameters.named().filter(|part| part.node.kind() == "parameter");
    for (position, parameter) in parameters.enumerate() {
        let is_reference = lowering
            .children(parameter.node)
            .named()
            .any(|part| part.node.kind() == "modifier" && matches!(lowering.text(part.node), "ref" | "out"));
        let known = lowering.definitions[id.index()].parameters.get(position);
        if let Some(type_) = known.and_then(|known| known.type_).filter(|_| is_reference) {
            let type_ = lowering.wrap(type_, Expression::Wrapped);
            lowering.definitions[id.index()].parameters[position].type_ = Some(type_);
        }
    }
}

/// Whether a method is one of its first parameter: `static int Count(this Text text)`.
fn extends<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> bool {
    let Some(list) = lowering.field(node, "parameters") else {
        return false;
    };
    let first = lowering.children(list).named().map(|child| child.node).next();
    first.is_some_and(|first| {
        let parts = lowering.children(first);
        parts
            .named()
            .any(|part| part.node.kind() == "modifier" && lowering.text(part.node) == "this")
    })
}

/// Parameters of a record or of a primary constructor are properties of the type.
fn components<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    let list = lowering
        .children(node)
        .named()
        .map(|child| child.node)
        .find(|child| child.kind() == "parameter_list");
    let parameters: Vec<Node<'t>> = list
        .map(|list| lowering.children(list).named().map(|child| child.node).collect())
        .unwrap_or_default();
    for parameter in parameters
        .into_iter()
        .filter(|parameter| parameter.kind() == "parameter")
    {
        let Some(name_node) = lowering.field(parameter, "name") else {
            continue;
        };
        let new = NewDefinition {
            kind: if node.kind() == "record_declaration" {
                Kind::Property
            } else {
                Kind::Field
            },
            name: lowering.name_of(name_node),
            name_at: Lowering::position(name_node),
            span: Lowering::span(parameter),
        };
        let id = lowering.new_definition(new);
        let signature = lowering.first_line(parameter);
        let definition = &mut lowering.definitions[id.index()];
        definition.signature = signature;
        definition.visibility = if node.kind() == "record_declaration" {
            Visibility::Public
        } else {
            Visibility::Private
        };
        if let Some(type_) = lowering.field(parameter, "type") {
            lowering.result_type(id, type_);
        }
        lowering.bind_definition(lowering.scope, id);
    }
}
