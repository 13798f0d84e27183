//! Patterns: what `let`, `if let`, `match` and `for` bind, and to which part of the value.

use crate::engine::{Declare, Hoist, Lowering, UNKNOWN};
use crate::facts::{Expression, ExpressionId, Role, ScopeKind};
use tree_sitter::Node;

pub(super) fn let_declaration<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let mut declare = Declare::new(Hoist::Block, node);
    if let Some(type_) = lowering.field(node, "type") {
        declare.type_ = Some((lowering.lower_type(type_), lowering.type_text(type_)));
    }
    let value = lowering
        .field(node, "value")
        .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
    if let Some(otherwise) = lowering.field(node, "alternative") {
        lowering.lower(otherwise, Role::Read);
    }
    if let Some(pattern) = lowering.field(node, "pattern") {
        bind(lowering, pattern, value, &declare);
    }
    UNKNOWN
}

pub(super) fn let_condition<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let value = lowering
        .field(node, "value")
        .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
    if let Some(pattern) = lowering.field(node, "pattern") {
        bind(lowering, pattern, value, &Declare::new(Hoist::Block, node));
    }
    UNKNOWN
}

pub(super) fn for_loop<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let value = lowering
        .field(node, "value")
        .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
    if let Some(at) = lowering.field(node, "value") {
        lowering.iterated(value, at);
    }
    let element = lowering.wrap(value, Expression::Element);
    lowering.in_scope(ScopeKind::Block, |lowering| {
        if let Some(pattern) = lowering.field(node, "pattern") {
            bind(lowering, pattern, element, &Declare::new(Hoist::Block, pattern));
        }
        if let Some(body) = lowering.field(node, "body") {
            lowering.lower(body, Role::Read);
        }
    });
    UNKNOWN
}

pub(super) fn match_expression<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let value = lowering
        .field(node, "value")
        .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
    let Some(body) = lowering.field(node, "body") else {
        return UNKNOWN;
    };
    let arms = lowering.children(body);
    let mut results = Vec::new();
    for arm in arms
        .named()
        .map(|child| child.node)
        .filter(|child| child.kind() == "match_arm")
    {
        let result = lowering.in_scope(ScopeKind::Block, |lowering| {
            if let Some(pattern) = lowering.field(arm, "pattern") {
                let parts = lowering.children(pattern);
                let condition = lowering.field(pattern, "condition");
                for part in parts.named().map(|child| child.node) {
                    if Some(part) == condition {
                        lowering.lower(part, Role::Read);
                    } else {
                        bind(lowering, part, value, &Declare::new(Hoist::Block, part));
                    }
                }
            }
            lowering
                .field(arm, "value")
                .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read))
        });
        results.push(result);
    }
    results.retain(|&result| !matches!(lowering.expression(result), Expression::Literal(_)));
    lowering.choice(&results)
}

/// Gives each name in `pattern` its part of `value`.
pub(super) fn bind<'t>(lowering: &mut Lowering<'t>, pattern: Node<'t>, value: ExpressionId, declare: &Declare<'t>) {
    match pattern.kind() {
        // Upper case in a pattern is a constant or a variant.
        "identifier" | "shorthand_field_identifier"
            if lowering
                .text(pattern)
                .starts_with(|letter: char| letter.is_lowercase() || letter == '_') =>
        {
            lowering.assign(pattern, value, declare);
        }
        "identifier" | "shorthand_field_identifier" => {
            lowering.lower(pattern, Role::Read);
        }
        "tuple_pattern" | "slice_pattern" => {
            let is_tuple = pattern.kind() == "tuple_pattern";
            let children = lowering.children(pattern);
            for (position, child) in children.named().enumerate() {
                let item = match is_tuple {
                    true => lowering.wrap(value, |value| Expression::Item(value, position as u32)),
                    false => lowering.wrap(value, Expression::Element),
                };
                bind(lowering, child.node, item, &untyped(declare));
            }
        }
        "tuple_struct_pattern" => tuple_struct(lowering, pattern, value, declare),
        "struct_pattern" => {
            if let Some(type_) = lowering.field(pattern, "type") {
                lowering.lower_type(type_);
            }
            let children = lowering.children(pattern);
            for field in children
                .named()
                .map(|child| child.node)
                .filter(|child| child.kind() == "field_pattern")
            {
                let Some(name_node) = lowering.field(field, "name") else {
                    continue;
                };
                let name = lowering.name_of(name_node);
                let member = lowering.wrap(value, |object| Expression::Member { object, name });
                let inner = lowering.field(field, "pattern").unwrap_or(name_node);
                bind(lowering, inner, member, &untyped(declare));
            }
        }
        "or_pattern" => {
            let children = lowering.children(pattern);
            for child in children.named() {
                bind(lowering, child.node, value, declare);
            }
        }
        "captured_pattern" => {
            let children = lowering.children(pattern);
            for child in children.named() {
                bind(lowering, child.node, value, declare);
            }
        }
        "mut_pattern" | "ref_pattern" | "reference_pattern" | "generic_pattern" => {
            let inner = lowering.children(pattern).named().next_back().map(|child| child.node);
            if let Some(inner) = inner {
                bind(lowering, inner, value, declare);
            }
        }
        _ => {
            lowering.lower(pattern, Role::Read);
        }
    }
}

/// `Some(x)` and `Ok(x)` take the payload; `Variant(x)` and `Wrapper(x)` take a position of it.
fn tuple_struct<'t>(lowering: &mut Lowering<'t>, pattern: Node<'t>, value: ExpressionId, declare: &Declare<'t>) {
    let Some(type_) = lowering.field(pattern, "type") else {
        return;
    };
    let text = lowering.text(type_);
    let last = text.rsplit("::").next().unwrap_or(text).split('<').next().unwrap_or("");
    let payload = matches!(last, "Some" | "Ok");
    let opaque = matches!(last, "Err");
    // A path of two parts or more names a variant most of the time; its parts are filed under its name.
    let variant = text.contains("::");
    if !payload && !opaque {
        lowering.lower(type_, Role::Read);
    }
    let children = lowering.children(pattern);
    let parts: Vec<Node<'t>> = children
        .named()
        .map(|child| child.node)
        .filter(|child| *child != type_)
        .collect();
    for (position, part) in parts.into_iter().enumerate() {
        let item = if payload {
            lowering.wrap(value, Expression::Unwrap)
        } else if opaque {
            UNKNOWN
        } else {
            let name = if variant {
                format!("{last}.{position}")
            } else {
                position.to_string()
            };
            let name = lowering.names.intern(&name);
            lowering.wrap(value, |object| Expression::Member { object, name })
        };
        bind(lowering, part, item, &untyped(declare));
    }
}

/// A type declared for the whole is not that of a part.
fn untyped<'t>(declare: &Declare<'t>) -> Declare<'t> {
    Declare {
        type_: None,
        ..*declare
    }
}
