//! What PHP declares: constants and properties in groups, promoted parameters, traits that a class uses, classes without a name.

use super::{enclosing_class, in_type, phpdoc};
use crate::engine::{Lowering, NewDefinition, UNKNOWN};
use crate::facts::{
    BaseKind, Bound, DefinitionId, Expression, ExpressionId, Flags, Kind, Name, Role, ScopeKind, Visibility,
};
use tree_sitter::Node;

/// Modifiers of a definition, the `public private(set)` of a property included.
fn visibility(lowering: &mut Lowering<'_>, node: Node<'_>) -> Option<Visibility> {
    let mut cursor = node.walk();
    let modifier = node
        .children(&mut cursor)
        .find(|child| child.kind() == "visibility_modifier")?;
    match &lowering.source[modifier.start_byte()..modifier.end_byte()] {
        text if text.starts_with("private") => Some(Visibility::Private),
        text if text.starts_with("protected") => Some(Visibility::Protected),
        _ => Some(Visibility::Public),
    }
}

/// `const A = 1, B = 2;`, in a class or outside of one.
pub(super) fn constants<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let visibility = visibility(lowering, node);
    let elements: Vec<Node<'t>> = lowering.children(node).named().map(|child| child.node).collect();
    for element in elements.into_iter().filter(|element| element.kind() == "const_element") {
        let parts: Vec<Node<'t>> = lowering.children(element).named().map(|part| part.node).collect();
        let Some(&name_node) = parts.first() else { continue };
        let name = lowering.name_of(name_node);
        let id = member(lowering, Kind::Constant, name, name_node, node, visibility);
        lowering.definitions[id.index()].flags.insert(Flags::STATIC);
        if let Some(&value) = parts.get(1) {
            let value = lowering.lower(value, Role::Read);
            set(lowering, name, value, name_node);
        }
    }
    UNKNOWN
}

/// `private ?Type $a = 1, $b;`
pub(super) fn properties<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let visibility = visibility(lowering, node);
    let children = lowering.children(node);
    let (flags, _) = lowering.modifiers(&children);
    let type_ = lowering
        .field(node, "type")
        .map(|type_| (lowering.lower_type(type_), lowering.type_text(type_)));
    let doc = lowering.pending_doc;
    let elements: Vec<Node<'t>> = children.named().map(|child| child.node).collect();
    for element in elements {
        if element.kind() == "property_hook_list" {
            lowering.walk_node(element);
        }
        let Some(name_node) = lowering
            .field(element, "name")
            .filter(|_| element.kind() == "property_element")
        else {
            continue;
        };
        lowering.pending_doc = doc;
        let name = lowering.text(name_node).trim_start_matches('$');
        let name = lowering.names.intern(name);
        let id = member(lowering, Kind::Field, name, name_node, node, visibility);
        let definition = &mut lowering.definitions[id.index()];
        definition.flags.insert(flags);
        definition.result = type_.map(|(type_, _)| type_).filter(|&type_| type_ != UNKNOWN);
        definition.result_text = type_.map(|(_, text)| text);
        phpdoc::apply(lowering, id);
        if let Some(value) = lowering.field(element, "default_value") {
            let value = lowering.lower(value, Role::Read);
            set(lowering, name, value, name_node);
        }
    }
    UNKNOWN
}

fn member<'t>(
    lowering: &mut Lowering<'t>,
    kind: Kind,
    name: Name,
    name_node: Node<'t>,
    whole: Node<'t>,
    visibility: Option<Visibility>,
) -> DefinitionId {
    let new = NewDefinition {
        kind,
        name,
        name_at: Lowering::position(name_node),
        span: Lowering::span(whole),
    };
    let id = lowering.new_definition(new);
    let signature = lowering.first_line(whole);
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    definition.visibility = visibility.unwrap_or(Visibility::Public);
    lowering.bind_definition(lowering.scope, id);
    id
}

/// A member of a class is set through `this`, a constant of the file by its name.
fn set<'t>(lowering: &mut Lowering<'t>, name: Name, value: ExpressionId, at: Node<'t>) {
    if value == UNKNOWN {
        return;
    }
    let place = if in_type(lowering) {
        let this = lowering.push_expression(Expression::This(lowering.scope), at.start_byte());
        lowering.member_expression(this, name)
    } else {
        lowering.push_expression(
            Expression::Free {
                name,
                scope: lowering.scope,
            },
            at.start_byte(),
        )
    };
    lowering.flow(place, value, at);
}

/// `use A, B { … }` in a class: the members of the traits become its own.
pub(super) fn traits<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(class) = enclosing_class(lowering) else {
        return UNKNOWN;
    };
    let names: Vec<Node<'t>> = lowering.children(node).named().map(|child| child.node).collect();
    for name in names.into_iter().filter(|name| name.kind().ends_with("name")) {
        let type_ = lowering.lower(name, Role::Inherit);
        lowering.add_base(class, type_, BaseKind::Mixes);
    }
    UNKNOWN
}

/// `new class (…) extends Base { … }`.
pub(super) fn new_anonymous<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let class = lowering
        .children(node)
        .named()
        .map(|child| child.node)
        .find(|child| child.kind() == "anonymous_class")?;
    let type_ = anonymous_class(lowering, class);
    let arguments = lowering
        .children(class)
        .named()
        .map(|child| child.node)
        .find(|child| child.kind() == "arguments");
    let (listed, _) = lowering.listed_arguments(arguments);
    let arguments = lowering.lower_arguments(arguments, listed.as_ref());
    Some(lowering.push_expression(Expression::New { type_, arguments }, node.start_byte()))
}

/// A class without a name, called `class@anonymous` as the language itself does.
pub(super) fn anonymous_class<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let name = lowering.names.intern("class@anonymous");
    let doc = lowering.pending_doc.take();
    let new = NewDefinition {
        kind: Kind::Class,
        name,
        name_at: Lowering::position(node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.pending_doc = doc;
    let body = lowering.field(node, "body");
    let signature = lowering.signature(node, body);
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    definition.visibility = Visibility::Private;
    let clauses: Vec<Node<'t>> = lowering.children(node).named().map(|child| child.node).collect();
    for clause in clauses {
        match clause.kind() {
            "base_clause" => lowering.base_clause(id, clause, BaseKind::Extends),
            "class_interface_clause" => lowering.base_clause(id, clause, BaseKind::Implements),
            _ => {}
        }
    }
    let scope = lowering.push_scope(ScopeKind::Type, Some(id));
    lowering.definitions[id.index()].body = Some(scope);
    let saved = lowering.enter(id, scope);
    if let Some(body) = body {
        lowering.walk_node(body);
    }
    lowering.leave(saved);
    lowering.push_expression(Expression::Definition(id), node.start_byte())
}

/// What modifiers, attributes and the place say of a definition.
pub(super) fn finish_definition<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let visibility = visibility(lowering, node);
    let has_body = lowering.field(node, "body").is_some();
    let name = lowering.names.get(lowering.definitions[id.index()].name).to_string();
    let parent = lowering.definitions[id.index()].parent;
    let owner = parent.map(|parent| {
        (
            lowering.definitions[parent.index()].kind,
            lowering.definitions[parent.index()].name,
        )
    });
    let in_test_case = owner.is_some_and(|(_, owner)| lowering.names.get(owner).ends_with("Test"));
    let is_test = decorated(lowering, id, "Test") || (name.starts_with("test") && in_test_case);
    let definition = &mut lowering.definitions[id.index()];
    if let Some(visibility) = visibility {
        definition.visibility = visibility;
    }
    if definition.kind == Kind::Method && !has_body {
        definition.flags.insert(Flags::ABSTRACT);
    }
    if definition.kind == Kind::Interface {
        definition.flags.insert(Flags::ABSTRACT);
    }
    if definition.kind == Kind::EnumMember {
        definition.flags.insert(Flags::STATIC);
    }
    if definition.kind == Kind::Method && is_test {
        definition.flags.insert(Flags::TEST);
    }
    if node.kind() == "method_declaration" && name == "__construct" {
        promoted(lowering, id, node);
    }
}

fn decorated(lowering: &Lowering<'_>, id: DefinitionId, wanted: &str) -> bool {
    lowering.definitions[id.index()]
        .decorators
        .iter()
        .any(|&decorator| match lowering.expression(decorator) {
            Expression::Free { name, .. } | Expression::Member { name, .. } => lowering.names.get(name) == wanted,
            _ => false,
        })
}

/// `__construct(private Type $x)` declares the property `x` and sets it.
fn promoted<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let Some(parameters) = lowering.field(node, "parameters") else {
        return;
    };
    let Some(class) = lowering.definitions[id.index()].parent else {
        return;
    };
    let Some(body) = lowering.definitions[class.index()].body else {
        return;
    };
    let listed: Vec<Node<'t>> = lowering.children(parameters).named().map(|child| child.node).collect();
    for parameter in listed
        .into_iter()
        .filter(|parameter| parameter.kind() == "property_promotion_parameter")
    {
        let Some(name_node) = lowering.field(parameter, "name") else {
            continue;
        };
        let variable = lowering.name_of(name_node);
        let bare = lowering.text(name_node).trim_start_matches('$');
        let name = lowering.names.intern(bare);
        let new = NewDefinition {
            kind: Kind::Field,
            name,
            name_at: Lowering::position(name_node),
            span: Lowering::span(parameter),
        };
        let saved = (lowering.definition, lowering.scope);
        (lowering.definition, lowering.scope) = (Some(class), body);
        let field = lowering.new_definition(new);
        (lowering.definition, lowering.scope) = saved;
        let signature = lowering.first_line(parameter);
        let seen = visibility(lowering, parameter);
        let constructor = &lowering.definitions[id.index()];
        let declared = constructor.parameters.iter().find(|declared| declared.name == variable);
        let (type_, type_text) = declared.map_or((None, None), |declared| (declared.type_, declared.type_text));
        let definition = &mut lowering.definitions[field.index()];
        definition.signature = signature;
        definition.visibility = seen.unwrap_or(Visibility::Public);
        (definition.result, definition.result_text) = (type_, type_text);
        lowering.bind(body, name, Bound::Definition(field), 0);
        let this = lowering.push_expression(Expression::This(lowering.scope), parameter.start_byte());
        let place = lowering.member_expression(this, name);
        let value = lowering.name_expression(name_node);
        lowering.flow(place, value, parameter);
    }
}
