//! Patterns: `instanceof T name`, `case T name`, record deconstruction, and what a switch gives.

use crate::engine::{Declare, Hoist, Lowering, UNKNOWN};
use crate::facts::{Expression, ExpressionId, Role, ScopeKind};
use tree_sitter::Node;

/// `value instanceof T name`: the name is seen from here on, which covers the condition, the branch and what follows a
/// negated test that returns.
pub(super) fn instance_of<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let value = lowering
        .field(node, "left")
        .map_or(UNKNOWN, |left| lowering.lower(left, Role::Read));
    if let Some(type_) = lowering.field(node, "right") {
        match lowering.field(node, "name") {
            Some(name) => declare(lowering, name, type_),
            None => {
                lowering.lower_type(type_);
            }
        }
    } else if let Some(pattern) = lowering.field(node, "pattern") {
        record_pattern(lowering, pattern, value);
    }
    UNKNOWN
}

/// `T name` as a case.
pub(super) fn type_pattern<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    let parts: Vec<Node<'t>> = children.named().map(|child| child.node).collect();
    match parts.as_slice() {
        [.., type_, name] => declare(lowering, *name, *type_),
        [type_] => {
            lowering.lower_type(*type_);
        }
        [] => {}
    }
    UNKNOWN
}

/// `Point(int x, var y)`: each component is declared with its type.
pub(super) fn record_pattern<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, _value: ExpressionId) -> ExpressionId {
    let children = lowering.children(node);
    for child in children.named() {
        match child.node.kind() {
            "record_pattern_body" => {
                let components = lowering.children(child.node);
                for component in components.named() {
                    if component.node.kind() == "record_pattern" {
                        record_pattern(lowering, component.node, UNKNOWN);
                    } else {
                        type_pattern(lowering, component.node);
                    }
                }
            }
            _ => {
                lowering.lower_type(child.node);
            }
        }
    }
    UNKNOWN
}

fn declare<'t>(lowering: &mut Lowering<'t>, name: Node<'t>, type_: Node<'t>) {
    let mut declare = Declare::new(Hoist::Block, name);
    declare.type_ = Some((lowering.lower_type(type_), lowering.type_text(type_)));
    lowering.assign(name, UNKNOWN, &declare);
}

/// A switch, with what its arrows give as value.
pub(super) fn switch<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    if let Some(condition) = lowering.field(node, "condition") {
        lowering.lower(condition, Role::Read);
    }
    let Some(body) = lowering.field(node, "body") else {
        return UNKNOWN;
    };
    let groups = lowering.children(body);
    let mut values: Vec<ExpressionId> = Vec::new();
    lowering.in_scope(ScopeKind::Block, |lowering| {
        for group in groups.named() {
            if group.node.kind() != "switch_rule" {
                lowering.lower(group.node, Role::Read);
                continue;
            }
            let parts = lowering.children(group.node);
            lowering.in_scope(ScopeKind::Block, |lowering| {
                for part in parts.named() {
                    let expression = part
                        .node
                        .named_child(0)
                        .filter(|_| part.node.kind() == "expression_statement");
                    match expression {
                        Some(expression) => values.push(lowering.lower(expression, Role::Read)),
                        None => {
                            lowering.lower(part.node, Role::Read);
                        }
                    }
                }
            });
        }
    });
    let list: Vec<ExpressionId> = values
        .into_iter()
        .filter(|&value| !matches!(lowering.expression(value), Expression::Literal(_)))
        .collect();
    lowering.choice(&list)
}
