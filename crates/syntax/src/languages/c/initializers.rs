//! Initialisers: the tables of functions that C programs are driven by.

use super::named;
use crate::engine::{Lowering, UNKNOWN};
use crate::facts::{DefinitionId, Expression, ExpressionId, Kind, Name, Role};
use tree_sitter::Node;

/// `{ … }` for a variable of type `type_`, or of an array of it: an instance with its fields filled, or a sequence of them.
pub(super) fn list<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, type_: ExpressionId, array: bool) -> ExpressionId {
    let items = named(lowering, node);
    let is_record = items.iter().any(|item| {
        item.kind() == "initializer_pair"
            && item
                .named_child(0)
                .is_some_and(|first| first.kind() == "field_designator")
    });
    if array && !is_record {
        let mut values = Vec::new();
        for item in items {
            let content = content_of(lowering, item);
            values.push(match content {
                Some(content) if content.kind() == "initializer_list" => list(lowering, content, type_, false),
                Some(content) => lowering.lower(content, Role::Read),
                None => UNKNOWN,
            });
        }
        let elements = lowering.push_list(&values);
        return lowering.push_expression(Expression::Sequence { elements }, node.start_byte());
    }
    if type_ == UNKNOWN {
        return untyped(lowering, node);
    }
    let none = lowering.push_list(&[]);
    let value = lowering.push_expression(Expression::New { type_, arguments: none }, node.start_byte());
    for (position, item) in items.into_iter().enumerate() {
        let name = match designated(lowering, item) {
            Some(name) => Some(name),
            None => field_at(lowering, type_, position),
        };
        let Some(content) = content_of(lowering, item) else {
            continue;
        };
        let content = lowering.lower(content, Role::Read);
        if let (Some(name), false) = (name, content == UNKNOWN) {
            let place = lowering.member_expression(value, name);
            lowering.flow(place, content, item);
        }
    }
    value
}

/// `{ … }` whose type is not known here: fields by name where they are named, positions otherwise.
pub(super) fn untyped<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let items = named(lowering, node);
    let mut entries = Vec::new();
    let mut values = Vec::new();
    for item in items {
        let name = designated(lowering, item);
        let value = content_of(lowering, item).map_or(UNKNOWN, |content| lowering.lower(content, Role::Read));
        match name {
            Some(name) => {
                entries.push(lowering.push_expression(Expression::Text(name), item.start_byte()));
                entries.push(value);
            }
            None => values.push(value),
        }
    }
    if entries.is_empty() {
        let elements = lowering.push_list(&values);
        return lowering.push_expression(Expression::Sequence { elements }, node.start_byte());
    }
    let entries = lowering.push_list(&entries);
    lowering.push_expression(Expression::Mapping { entries }, node.start_byte())
}

/// `(struct foo){ … }`.
pub(super) fn compound<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let type_ = lowering
        .field(node, "type")
        .map_or(UNKNOWN, |type_| lowering.lower_type(type_));
    let array = lowering
        .field(node, "type")
        .is_some_and(|type_| lowering.text(type_).ends_with(']'));
    match lowering.field(node, "value") {
        Some(value) if value.kind() == "initializer_list" => list(lowering, value, type_, array),
        _ => lowering.wrap(type_, Expression::Typed),
    }
}

/// A pair outside of a list that knows what to do with it.
pub(super) fn pair<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    content_of(lowering, node).map_or(UNKNOWN, |content| lowering.lower(content, Role::Read))
}

fn content_of<'t>(lowering: &Lowering<'t>, item: Node<'t>) -> Option<Node<'t>> {
    if item.kind() == "initializer_pair" {
        lowering.field(item, "value")
    } else {
        Some(item)
    }
}

/// The name in `.name = …`.
fn designated<'t>(lowering: &mut Lowering<'t>, item: Node<'t>) -> Option<Name> {
    if item.kind() != "initializer_pair" {
        return None;
    }
    let designator = item.named_child(0)?;
    let name = match designator.kind() {
        "field_designator" => designator.named_child(0)?,
        "field_identifier" => designator,
        _ => return None,
    };
    Some(lowering.name_of(name))
}

/// The field at `position` of a record that this file defines.
fn field_at(lowering: &Lowering<'_>, type_: ExpressionId, position: usize) -> Option<Name> {
    let id: DefinitionId = match lowering.expression(type_) {
        Expression::Definition(id) => id,
        Expression::Free { name, scope } => {
            let mut at = Some(scope);
            loop {
                let scope = at?;
                if let Some(binding) = lowering.binding_in(scope, name)
                    && let crate::facts::Bound::Definition(id) = lowering.bindings[binding.index()].to
                {
                    break id;
                }
                at = lowering.scopes[scope.index()].parent;
            }
        }
        _ => return None,
    };
    let is_field =
        |definition: &&crate::facts::Definition| definition.parent == Some(id) && definition.kind == Kind::Field;
    let from = id.index().min(lowering.definitions.len());
    lowering.definitions[from..]
        .iter()
        .filter(is_field)
        .nth(position)
        .map(|field| field.name)
}
