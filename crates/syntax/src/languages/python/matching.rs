//! `match` statements: what each pattern binds, and to which part of the subject.

use crate::engine::{Declare, Hoist, Lowering, UNKNOWN};
use crate::facts::{Expression, ExpressionId, Role};
use tree_sitter::Node;

pub(super) fn statement<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    let body = lowering.field(node, "body");
    let mut subject = UNKNOWN;
    for child in children.named() {
        if Some(child.node) != body {
            subject = lowering.lower(child.node, Role::Read);
        }
    }
    let Some(body) = body else { return UNKNOWN };
    let clauses = lowering.children(body);
    for clause in clauses.named() {
        let parts = lowering.children(clause.node);
        for part in parts.named() {
            if part.node.kind() == "case_pattern" {
                pattern(lowering, part.node, subject, 0);
            } else {
                lowering.lower(part.node, Role::Read);
            }
        }
    }
    UNKNOWN
}

/// Binds what `node` captures of `value`; returns the value as the pattern knows it.
fn pattern<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, value: ExpressionId, depth: u32) -> ExpressionId {
    if depth > 64 {
        return UNKNOWN;
    }
    let children = lowering.children(node);
    match node.kind() {
        "dotted_name" => {
            let mut names = children.named();
            match (names.next(), names.next()) {
                (Some(only), None) => capture(lowering, only.node, value),
                (Some(_), Some(_)) => {
                    dotted(lowering, node, Role::Read);
                }
                _ => {}
            }
            value
        }
        "identifier" => {
            capture(lowering, node, value);
            value
        }
        "class_pattern" => {
            let mut type_ = UNKNOWN;
            for child in children.named() {
                if child.node.kind() == "dotted_name" {
                    type_ = dotted(lowering, child.node, Role::Type);
                } else {
                    let instance = lowering.wrap(type_, Expression::Typed);
                    let part = keyword_member(lowering, child.node, instance);
                    pattern(lowering, child.node, part, depth + 1);
                }
            }
            lowering.wrap(type_, Expression::Typed)
        }
        "keyword_pattern" => {
            for child in children.named().skip(1) {
                pattern(lowering, child.node, value, depth + 1);
            }
            value
        }
        "as_pattern" => {
            let mut matched = value;
            for child in children.named() {
                if child.node.kind() == "identifier" {
                    capture(lowering, child.node, matched);
                } else {
                    matched = pattern(lowering, child.node, value, depth + 1);
                }
            }
            matched
        }
        "list_pattern" | "tuple_pattern" => {
            for (position, child) in children.named().enumerate() {
                let item = lowering.wrap(value, |value| Expression::Item(value, position as u32));
                pattern(lowering, child.node, item, depth + 1);
            }
            value
        }
        "dict_pattern" => {
            for child in children
                .iter()
                .filter(|child| child.named && child.node.kind() == "case_pattern")
            {
                pattern(lowering, child.node, UNKNOWN, depth + 1);
            }
            value
        }
        _ => {
            let mut known = value;
            for child in children.named() {
                known = pattern(lowering, child.node, value, depth + 1);
            }
            known
        }
    }
}

/// `Point(x=p)`: the part of the instance that the keyword names.
fn keyword_member<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, instance: ExpressionId) -> ExpressionId {
    let keyword = if node.kind() == "case_pattern" {
        node.named_child(0).unwrap_or(node)
    } else {
        node
    };
    match keyword.named_child(0) {
        Some(name) if keyword.kind() == "keyword_pattern" => {
            let name = lowering.name_of(name);
            lowering.wrap(instance, |object| Expression::Member { object, name })
        }
        _ => UNKNOWN,
    }
}

fn capture<'t>(lowering: &mut Lowering<'t>, name: Node<'t>, value: ExpressionId) {
    if lowering.text(name) != "_" {
        lowering.assign(name, value, &Declare::new(Hoist::Function, name));
    }
}

fn dotted<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let children = lowering.children(node);
    let count = children.named().count();
    let mut value = UNKNOWN;
    for (position, child) in children.named().enumerate() {
        value = if position == 0 {
            lowering.name_expression(child.node)
        } else {
            let name = lowering.name_of(child.node);
            lowering.member_expression(value, name)
        };
        let role = if position + 1 == count { role } else { Role::Read };
        lowering.reference(value, role, child.node);
    }
    value
}
