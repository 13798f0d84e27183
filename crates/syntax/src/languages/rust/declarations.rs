//! What Rust declares: receivers, variants, positional fields, and what attributes, bounds and the place say.

use super::patterns;
use crate::engine::{Lowering, NewDefinition, UNKNOWN};
use crate::facts::{
    BaseKind, Bound, DefinitionId, Expression, ExpressionId, Flags, Flow, Kind, Name, Parameter, Passing, Role,
    Visibility,
};
use tree_sitter::Node;

/// `self`, `&self`, `&mut self`.
pub(super) fn receiver<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    add_receiver(lowering, node);
    UNKNOWN
}

/// `self: Box<Self>` is a receiver all the same; anything else is left to the table.
pub(super) fn typed_receiver<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let pattern = lowering.field(node, "pattern")?;
    if pattern.kind() == "self" {
        add_receiver(lowering, node);
        return Some(UNKNOWN);
    }
    if matches!(pattern.kind(), "struct_pattern" | "tuple_struct_pattern") {
        let function = lowering.definition?;
        let type_ = lowering.field(node, "type");
        let type_text = type_.map(|type_| lowering.type_text(type_));
        let type_ = type_.map(|type_| lowering.lower_type(type_));
        let value = type_.map_or(UNKNOWN, |type_| lowering.wrap(type_, Expression::Typed));
        let declare = crate::engine::Declare::new(crate::engine::Hoist::Block, pattern);
        patterns::bind(lowering, pattern, value, &declare);
        let name = lowering.names.intern("");
        let parameter = Parameter {
            name,
            binding: None,
            type_,
            type_text,
            default: None,
            passing: Passing::Normal,
        };
        lowering.definitions[function.index()].parameters.push(parameter);
        return Some(UNKNOWN);
    }
    None
}

fn add_receiver<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    let Some(function) = lowering.definition else { return };
    let name = lowering.names.intern("self");
    let binding = lowering.bind(lowering.scope, name, Bound::Receiver(function), 0);
    let text = lowering.text(node);
    let type_text = Some(lowering.normalised(text));
    let parameter = Parameter {
        name,
        binding: Some(binding),
        type_: None,
        type_text,
        default: None,
        passing: Passing::Receiver,
    };
    lowering.definitions[function.index()].parameters.push(parameter);
}

/// What the table does not know of a definition.
pub(super) fn finish_definition<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    visibility(lowering, id, node);
    attributes(lowering, id, node);
    where_clause(lowering, node);
    match node.kind() {
        "function_item" | "function_signature_item" => function(lowering, id, node),
        "impl_item" => {
            if let Some(trait_) = lowering.field(node, "trait") {
                let base = lowering.lower(trait_, Role::Inherit);
                lowering.add_base(id, base, BaseKind::Implements);
            }
            if let Some(bound) = blanket_bound(lowering, node) {
                lowering.definitions[id.index()].owner = Some(lowering.lower_type(bound));
            }
        }
        "trait_item" => {
            lowering.definitions[id.index()].flags.insert(Flags::ABSTRACT);
            if let Some(bounds) = lowering.field(node, "bounds") {
                lowering.base_clause(id, bounds, BaseKind::Extends);
            }
        }
        "type_item" => {
            let outer = lowering.scopes[lowering.scope.index()].parent.unwrap_or(lowering.scope);
            let definition = &lowering.definitions[id.index()];
            if let (Some(type_), name) = (definition.result, definition.name) {
                let target = lowering.push_expression(Expression::Free { name, scope: outer }, node.start_byte());
                lowering.flow(target, type_, node);
            }
        }
        _ => {}
    }
}

fn visibility<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let kind = lowering.definitions[id.index()].kind;
    let modifier = (0..node.child_count().min(4))
        .filter_map(|at| node.child(at))
        .find(|child| child.kind() == "visibility_modifier");
    let found = match modifier.map(|modifier| lowering.text(modifier)) {
        Some("pub") => Visibility::Public,
        Some(_) => Visibility::Internal,
        None if is_public_by_place(lowering, id) => Visibility::Public,
        None => Visibility::Private,
    };
    let definition = &mut lowering.definitions[id.index()];
    definition.visibility = found;
    if found == Visibility::Public && kind != Kind::Extension {
        definition.flags.insert(Flags::EXPORTED);
    }
}

/// Members of traits, and of what implements them, are as public as the trait.
fn is_public_by_place(lowering: &Lowering<'_>, id: DefinitionId) -> bool {
    let Some(parent) = lowering.definitions[id.index()].parent else {
        return false;
    };
    let parent = &lowering.definitions[parent.index()];
    parent.kind == Kind::Trait || (parent.kind == Kind::Extension && !parent.bases.is_empty())
}

fn attributes<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    if lowering.definitions[id.index()].decorators.is_empty() {
        return;
    }
    let mut flags = Flags::default();
    let mut before = node.prev_named_sibling();
    while let Some(attribute) = before.filter(|before| matches!(before.kind(), "attribute_item" | "line_comment")) {
        let text = lowering.text(attribute).trim_start_matches("#[");
        let path = text.split(['(', ']', '=']).next().unwrap_or("").trim();
        match path.rsplit("::").next().unwrap_or(path) {
            "test" | "rstest" | "test_case" | "quickcheck" | "wasm_bindgen_test" => flags.insert(Flags::TEST),
            "cfg" if text.contains("(test") => flags.insert(Flags::TEST),
            "deprecated" => flags.insert(Flags::DEPRECATED),
            "main" => flags.insert(Flags::ENTRY_POINT),
            _ => {}
        }
        before = attribute.prev_named_sibling();
    }
    lowering.definitions[id.index()].flags.insert(flags);
}

fn function<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let definition = &lowering.definitions[id.index()];
    let parent = definition
        .parent
        .map(|parent| lowering.definitions[parent.index()].kind);
    let has_receiver = definition
        .parameters
        .first()
        .is_some_and(|first| first.passing == Passing::Receiver);
    let is_main = parent.is_none() && lowering.names.get(definition.name) == "main";
    let bodiless = node.kind() == "function_signature_item";
    let flags = &mut lowering.definitions[id.index()].flags;
    if is_main {
        flags.insert(Flags::ENTRY_POINT);
    }
    if bodiless {
        flags.insert(if parent == Some(Kind::Trait) {
            Flags::ABSTRACT
        } else {
            Flags::DECLARATION
        });
    }
    if !has_receiver && matches!(parent, Some(Kind::Trait | Kind::Extension)) {
        flags.insert(Flags::STATIC);
    }
}

/// The first bound of `T` in `impl<T: Bound> Trait for T`: who has the bound has these members.
fn blanket_bound<'t>(lowering: &Lowering<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let type_ = lowering
        .field(node, "type")
        .filter(|type_| type_.kind() == "type_identifier")?;
    let parameters = lowering.field(node, "type_parameters")?;
    let mut cursor = parameters.walk();
    let parameter = parameters.named_children(&mut cursor).find(|parameter| {
        parameter.kind() == "type_parameter"
            && parameter
                .child_by_field_name("name")
                .is_some_and(|name| lowering.text(name) == lowering.text(type_))
    })?;
    let bounds = parameter.child_by_field_name("bounds")?;
    let mut cursor = bounds.walk();
    bounds.named_children(&mut cursor).find(|bound| {
        matches!(
            bound.kind(),
            "type_identifier" | "scoped_type_identifier" | "generic_type"
        )
    })
}

/// `where T: Trait` bounds type parameters as their declaration would.
fn where_clause<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    let children = lowering.children(node);
    let Some(clause) = children
        .named()
        .map(|child| child.node)
        .find(|child| child.kind() == "where_clause")
    else {
        return;
    };
    let predicates = lowering.children(clause);
    for predicate in predicates.named().map(|child| child.node) {
        let (Some(left), Some(bounds)) = (lowering.field(predicate, "left"), lowering.field(predicate, "bounds"))
        else {
            continue;
        };
        let target = lowering.lower_type(left);
        let type_ = lowering.lower_type(bounds);
        if target != UNKNOWN && type_ != UNKNOWN && left.kind() == "type_identifier" {
            lowering.flows.push(Flow::Typed { target, type_ });
        }
    }
}

/// A variant is a member of its enum. What it carries is filed under `Variant.position` or its field names.
pub(super) fn variant<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(name_node) = lowering.field(node, "name") else {
        return UNKNOWN;
    };
    let new = NewDefinition {
        kind: Kind::EnumMember,
        name: lowering.name_of(name_node),
        name_at: Lowering::position(name_node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    let signature = lowering.first_line(node);
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    definition.visibility = Visibility::Public;
    lowering.bind_definition(lowering.scope, id);
    let owner = lowering.scopes[lowering.scope.index()].definition;
    let (Some(body), Some(owner)) = (lowering.field(node, "body"), owner) else {
        return UNKNOWN;
    };
    let fields = lowering.children(body);
    let mut position = 0;
    for child in fields.named().map(|child| child.node) {
        let (name, type_node): (Name, Node<'t>) = match child.kind() {
            "attribute_item" | "visibility_modifier" | "line_comment" | "block_comment" => continue,
            "field_declaration" => {
                let (Some(name), Some(type_)) = (lowering.field(child, "name"), lowering.field(child, "type")) else {
                    continue;
                };
                (lowering.name_of(name), type_)
            }
            _ => {
                let name = format!("{}.{position}", lowering.text(name_node));
                position += 1;
                (lowering.names.intern(&name), child)
            }
        };
        let type_ = lowering.lower_type(type_node);
        if type_ != UNKNOWN {
            let object = lowering.push_expression(Expression::Definition(owner), child.start_byte());
            let target = lowering.member_expression(object, name);
            lowering.flows.push(Flow::Typed { target, type_ });
        }
    }
    UNKNOWN
}

/// `struct Pair(A, B);` has fields `0` and `1`.
pub(super) fn positional_fields<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    let mut public = false;
    let mut position = 0;
    for child in children.named().map(|child| child.node) {
        match child.kind() {
            "visibility_modifier" => {
                public = lowering.text(child) == "pub";
                continue;
            }
            "attribute_item" | "line_comment" | "block_comment" => continue,
            _ => {}
        }
        let new = NewDefinition {
            kind: Kind::Field,
            name: lowering.names.intern(&position.to_string()),
            name_at: Lowering::position(child),
            span: Lowering::span(child),
        };
        let id = lowering.new_definition(new);
        let signature = lowering.first_line(child);
        let definition = &mut lowering.definitions[id.index()];
        definition.signature = signature;
        definition.visibility = if public {
            Visibility::Public
        } else {
            Visibility::Private
        };
        lowering.result_type(id, child);
        lowering.bind_definition(lowering.scope, id);
        (position, public) = (position + 1, false);
    }
    UNKNOWN
}
