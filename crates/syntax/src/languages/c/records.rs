//! Structs, unions, classes and enums.

use super::named;
use crate::engine::{Lowering, NewDefinition, UNKNOWN};
use crate::facts::{Bound, DefinitionId, Expression, ExpressionId, Flags, Kind, Name, Role, ScopeKind};
use tree_sitter::Node;

/// A record with a body is defined, called by its tag or by `other` (the name a `typedef` gives it); one without is mentioned.
pub(in crate::languages) fn record<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    other: Option<Node<'t>>,
) -> ExpressionId {
    let kind = match node.kind() {
        "union_specifier" => Kind::Union,
        "class_specifier" => Kind::Class,
        _ => Kind::Struct,
    };
    let tag = lowering.field(node, "name");
    let Some(body) = lowering.field(node, "body") else {
        return mention(lowering, node, tag);
    };
    match tag.or(other) {
        Some(name) => define(lowering, node, kind, name, tag, Some(body)),
        None => {
            // Members of a record without a name are members of the one around it.
            lowering.walk_node(body);
            UNKNOWN
        }
    }
}

fn mention<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, tag: Option<Node<'t>>) -> ExpressionId {
    let Some(tag) = tag else { return UNKNOWN };
    if tag.kind() != "type_identifier" {
        return lowering.lower_type(tag);
    }
    let name = tag_name(lowering, node, tag);
    let value = lowering.push_expression(
        Expression::Free {
            name,
            scope: lowering.scope,
        },
        tag.start_byte(),
    );
    lowering.reference(value, Role::Type, tag);
    value
}

/// What a tag is bound as: `struct foo` in C, `foo` in C++.
fn tag_name<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, tag: Node<'t>) -> Name {
    if !lowering.rules.tags_apart {
        return lowering.name_of(tag);
    }
    let word = node.kind().trim_end_matches("_specifier");
    let text = format!("{word} {}", lowering.text(tag));
    lowering.names.intern(&text)
}

/// Defines the record or enum at `node` under `name_node`, and walks its body.
pub(in crate::languages) fn define<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    kind: Kind,
    name_node: Node<'t>,
    tag: Option<Node<'t>>,
    body: Option<Node<'t>>,
) -> ExpressionId {
    let new = NewDefinition {
        kind,
        name: lowering.name_of(name_node),
        name_at: Lowering::position(name_node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.definitions[id.index()].signature = lowering.signature(node, body);
    let bound = match tag {
        Some(tag) => tag_name(lowering, node, tag),
        None => lowering.name_of(name_node),
    };
    bind(lowering, bound, id);
    let scope = lowering.push_scope(ScopeKind::Type, Some(id));
    lowering.definitions[id.index()].body = Some(scope);
    let saved = lowering.enter(id, scope);
    if let Some(body) = body {
        lowering.pending_doc = None;
        lowering.walk_node(body);
    } else {
        lowering.definitions[id.index()].flags.insert(Flags::DECLARATION);
    }
    lowering.leave(saved);
    lowering.push_expression(Expression::Definition(id), node.start_byte())
}

/// Binds `name` to `id` where it stands, unless the scope has it already: of repeated definitions the first one counts.
pub(in crate::languages) fn bind(lowering: &mut Lowering<'_>, name: Name, id: DefinitionId) {
    // A record declared inside of another one is seen outside of it in C.
    let mut scope = lowering.scope;
    while lowering.rules.tags_apart && lowering.scopes[scope.index()].kind == ScopeKind::Type {
        let Some(parent) = lowering.scopes[scope.index()].parent else {
            break;
        };
        scope = parent;
    }
    if lowering.binding_in(scope, name).is_none() {
        lowering.bind(scope, name, Bound::Definition(id), 0);
    }
}

pub(in crate::languages) fn enumeration<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    other: Option<Node<'t>>,
) -> ExpressionId {
    let tag = lowering.field(node, "name");
    let Some(body) = lowering.field(node, "body") else {
        return mention(lowering, node, tag);
    };
    match tag.or(other) {
        Some(name) => define(lowering, node, Kind::Enum, name, tag, Some(body)),
        None => {
            for item in named(lowering, body) {
                lowering.lower(item, Role::Read);
            }
            UNKNOWN
        }
    }
}

/// Enumerators are seen where their enum is, except in a C++ `enum class`.
pub(super) fn enumerator<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(name_node) = lowering.field(node, "name") else {
        return UNKNOWN;
    };
    let name = lowering.name_of(name_node);
    let in_enum = lowering
        .definition
        .is_some_and(|id| lowering.definitions[id.index()].kind == Kind::Enum);
    let new = NewDefinition {
        kind: if in_enum { Kind::EnumMember } else { Kind::Constant },
        name,
        name_at: Lowering::position(name_node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.definitions[id.index()].signature = lowering.first_line(node);
    let scoped = node.parent().and_then(|list| list.parent()).is_some_and(|around| {
        (0..around.child_count().min(3))
            .filter_map(|at| around.child(at))
            .any(|child| child.kind() == "class")
    });
    let mut scope = lowering.scope;
    if in_enum && !scoped {
        scope = lowering.scopes[scope.index()].parent.unwrap_or(scope);
    }
    if lowering.binding_in(scope, name).is_none() {
        lowering.bind(scope, name, Bound::Definition(id), 0);
    }
    if let Some(value) = lowering.field(node, "value") {
        lowering.lower(value, Role::Read);
    }
    UNKNOWN
}
