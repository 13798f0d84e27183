//! Values that Go writes with their type: composite literals, `make`, `new`, `append`.

use super::named;
use crate::engine::{Lowering, UNKNOWN};
use crate::facts::{Expression, ExpressionId, Role};
use tree_sitter::Node;

/// What the elements of a literal are.
#[derive(Clone, Copy)]
enum Shape<'t> {
    /// Fields of the type.
    Fields(ExpressionId),
    /// Elements, with the type that an element without one has.
    Elements(Option<Node<'t>>),
    /// Keys and values, with the type that a value without one has.
    Entries(Option<Node<'t>>),
    /// Fields of a type without a name.
    Anonymous,
}

/// `T{…}`, `[]T{…}`, `map[K]V{…}`.
pub(super) fn composite<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let (Some(type_node), Some(body)) = (lowering.field(node, "type"), lowering.field(node, "body")) else {
        return UNKNOWN;
    };
    let shape = shape(lowering, type_node, true);
    literal(lowering, body, shape)
}

/// `mention`: the type is written here; an elided one was mentioned by the literal around it.
fn shape<'t>(lowering: &mut Lowering<'t>, type_node: Node<'t>, mention: bool) -> Shape<'t> {
    match type_node.kind() {
        "slice_type" | "array_type" | "implicit_length_array_type" => {
            if mention {
                lowering.lower_type(type_node);
            }
            Shape::Elements(lowering.field(type_node, "element"))
        }
        "map_type" => {
            if mention {
                lowering.lower_type(type_node);
            }
            Shape::Entries(lowering.field(type_node, "value"))
        }
        "struct_type" => {
            if mention {
                lowering.lower_type(type_node);
            }
            Shape::Anonymous
        }
        "pointer_type" => match type_node.named_child(0) {
            Some(inner) => shape(lowering, inner, mention),
            None => Shape::Anonymous,
        },
        _ => {
            let before = lowering.references.len();
            let role = if mention { Role::Instantiate } else { Role::Type };
            let type_ = lowering.lower(type_node, role);
            // The type is named once, by the literal around this one; what happens here is that it is made.
            for reference in &mut lowering.references[before..] {
                if reference.expression == type_ {
                    reference.role = Role::Instantiate;
                }
            }
            if !mention {
                lowering.references.truncate(before);
            }
            Shape::Fields(type_)
        }
    }
}

fn literal<'t>(lowering: &mut Lowering<'t>, body: Node<'t>, shape: Shape<'t>) -> ExpressionId {
    let at = body.start_byte();
    let elements = named(lowering, body);
    match shape {
        Shape::Fields(type_) => {
            let arguments = lowering.push_list(&[]);
            let value = lowering.push_expression(Expression::New { type_, arguments }, at);
            for element in elements {
                let (key, content) = parts(lowering, element);
                let content = content.map_or(UNKNOWN, |content| element_value(lowering, content, None));
                if let (Some(key), false) = (key, content == UNKNOWN) {
                    let name = lowering.name_of(key);
                    let place = lowering.member_expression(value, name);
                    lowering.flow(place, content, element);
                }
            }
            value
        }
        Shape::Anonymous => {
            let mut entries = Vec::new();
            for element in elements {
                let (key, content) = parts(lowering, element);
                let content = content.map_or(UNKNOWN, |content| element_value(lowering, content, None));
                if let Some(key) = key {
                    let name = lowering.name_of(key);
                    entries.push(lowering.push_expression(Expression::Text(name), key.start_byte()));
                    entries.push(content);
                }
            }
            let entries = lowering.push_list(&entries);
            lowering.push_expression(Expression::Mapping { entries }, at)
        }
        Shape::Elements(inner) => {
            let mut values = Vec::new();
            for element in elements {
                let (key, content) = parts(lowering, element);
                if let Some(key) = key {
                    lowering.lower(key, Role::Read);
                }
                values.push(content.map_or(UNKNOWN, |content| element_value(lowering, content, inner)));
            }
            let elements = lowering.push_list(&values);
            lowering.push_expression(Expression::Sequence { elements }, at)
        }
        Shape::Entries(inner) => {
            let mut entries = Vec::new();
            for element in elements {
                let (key, content) = parts(lowering, element);
                entries.push(key.map_or(UNKNOWN, |key| element_value(lowering, key, None)));
                entries.push(content.map_or(UNKNOWN, |content| element_value(lowering, content, inner)));
            }
            let entries = lowering.push_list(&entries);
            lowering.push_expression(Expression::Mapping { entries }, at)
        }
    }
}

/// Key and value of an element, each without the node around it.
fn parts<'t>(lowering: &Lowering<'t>, element: Node<'t>) -> (Option<Node<'t>>, Option<Node<'t>>) {
    let bare = |node: Option<Node<'t>>| match node {
        Some(node) if node.kind() == "literal_element" => node.named_child(0),
        node => node,
    };
    if element.kind() == "keyed_element" {
        (
            bare(lowering.field(element, "key")),
            bare(lowering.field(element, "value")),
        )
    } else {
        (None, bare(Some(element)))
    }
}

/// An element: a value, or a literal whose type is elided.
fn element_value<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, type_: Option<Node<'t>>) -> ExpressionId {
    if node.kind() != "literal_value" {
        return lowering.lower(node, Role::Read);
    }
    let shape = match type_ {
        Some(type_) => shape(lowering, type_, false),
        None => Shape::Anonymous,
    };
    literal(lowering, node, shape)
}

/// `map[K]V`, as a generic type that holds its last argument.
pub(super) fn map_type<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let key = lowering
        .field(node, "key")
        .map_or(UNKNOWN, |key| lowering.lower_type(key));
    let value = lowering
        .field(node, "value")
        .map_or(UNKNOWN, |value| lowering.lower_type(value));
    let name = lowering.names.intern("map");
    let base = lowering.push_expression(
        Expression::Free {
            name,
            scope: lowering.scope,
        },
        node.start_byte(),
    );
    let arguments = lowering.push_list(&[key, value]);
    lowering.push_expression(Expression::Generic { base, arguments }, node.start_byte())
}

/// Calls of predeclared functions that take a type or give an argument back.
pub(super) fn builtin_call<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let callee = lowering
        .field(node, "function")
        .filter(|callee| callee.kind() == "identifier")?;
    let name = lowering.text(callee);
    if !matches!(name, "new" | "make" | "append") {
        return None;
    }
    let arguments = lowering.field(node, "arguments")?;
    let arguments = named(lowering, arguments);
    let (&first, rest) = arguments.split_first()?;
    let first = if name == "append" {
        lowering.lower(first, Role::Read)
    } else {
        lowering.lower_type(first)
    };
    let mut values = vec![first];
    for &argument in rest {
        values.push(lowering.lower(argument, Role::Read));
    }
    if name != "append" {
        return Some(lowering.wrap(first, Expression::Typed));
    }
    let elements = lowering.push_list(&values[1..]);
    let added = lowering.push_expression(Expression::Sequence { elements }, node.start_byte());
    Some(lowering.choice(&[first, added]))
}

/// `f[T](x)` reads like a conversion to a generic type: it may as well be a call of a generic function, or of an element.
pub(super) fn instantiated_call<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let generic = lowering
        .field(node, "type")
        .filter(|type_| type_.kind() == "generic_type")?;
    let name = lowering.field(generic, "type")?;
    let before = lowering.references.len();
    let object = lowering.lower_type(name);
    let position = if name.kind() == "qualified_type" {
        lowering.field(name, "name")?
    } else {
        name
    };
    // What is called is recorded by the call alone.
    if lowering.references[before..]
        .last()
        .is_some_and(|reference| reference.expression == object)
    {
        lowering.references.pop();
    }
    if let Some(arguments) = lowering.field(generic, "type_arguments") {
        for argument in named(lowering, arguments) {
            lowering.lower_type(argument);
        }
    }
    let callee = lowering.push_expression(Expression::Index { object, key: None }, node.start_byte());
    lowering.call_arguments = 1;
    lowering.reference(callee, Role::Call, position);
    lowering.call_arguments = 0;
    let operand = lowering
        .field(node, "operand")
        .map_or(UNKNOWN, |operand| lowering.lower(operand, Role::Read));
    let arguments = lowering.push_list(&[operand]);
    Some(lowering.push_expression(Expression::Call { callee, arguments }, node.start_byte()))
}
