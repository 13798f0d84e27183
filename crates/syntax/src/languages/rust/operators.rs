//! Operators as calls of the trait methods that they stand for, where an operand's type has them.

use crate::engine::{Lowering, UNKNOWN};
use crate::facts::{Expression, ExpressionId, Role};
use tree_sitter::Node;

/// `a + b` gives what `a.add(b)` gives.
pub(super) fn binary<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let left_node = lowering.field(node, "left")?;
    let right_node = lowering.field(node, "right")?;
    let operator = lowering.text(lowering.field(node, "operator")?);
    let left = lowering.lower(left_node, Role::Read);
    let right = lowering.lower(right_node, Role::Read);
    let (method, gives) = match operator {
        "+" => ("add", true),
        "-" => ("sub", true),
        "*" => ("mul", true),
        "/" => ("div", true),
        "%" => ("rem", true),
        "&" => ("bitand", true),
        "|" => ("bitor", true),
        "^" => ("bitxor", true),
        "<<" => ("shl", true),
        ">>" => ("shr", true),
        "==" | "!=" => ("eq", false),
        "<" | "<=" | ">" | ">=" => ("partial_cmp", false),
        _ => return Some(UNKNOWN),
    };
    if !lowering.may_be_instance(left) {
        return Some(UNKNOWN);
    }
    let callee = lowering.implicit(left, method, left_node);
    if !gives {
        return Some(UNKNOWN);
    }
    let arguments = lowering.push_list(&[right]);
    Some(lowering.push_expression(Expression::Call { callee, arguments }, node.start_byte()))
}

/// `-a`, `!a`; `*a` is `a` for whoever looks into it.
pub(super) fn unary<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let method = match lowering.text(node.child(0)?) {
        "-" => "neg",
        "!" => "not",
        _ => return None,
    };
    let operand = node.named_child(0)?;
    let value = lowering.lower(operand, Role::Read);
    if !lowering.may_be_instance(value) {
        return Some(UNKNOWN);
    }
    let callee = lowering.implicit(value, method, operand);
    let arguments = lowering.push_list(&[]);
    Some(lowering.push_expression(Expression::Call { callee, arguments }, node.start_byte()))
}

/// `a += b`.
pub(super) fn compound<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let target = lowering.field(node, "left")?;
    let method = match lowering.text(lowering.field(node, "operator")?) {
        "+=" => "add_assign",
        "-=" => "sub_assign",
        "*=" => "mul_assign",
        "/=" => "div_assign",
        "%=" => "rem_assign",
        "&=" => "bitand_assign",
        "|=" => "bitor_assign",
        "^=" => "bitxor_assign",
        _ => return None,
    };
    let before = lowering.references.len();
    lowering.act(node, lowering.rule(node), Role::Read);
    let position = Lowering::position(target);
    let written = lowering.references[before..]
        .iter()
        .rfind(|reference| reference.at == position || reference.role == Role::Write)
        .map(|reference| reference.expression);
    if let Some(value) = written.filter(|&value| lowering.may_be_instance(value)) {
        lowering.implicit(value, method, target);
    }
    Some(UNKNOWN)
}

/// `a[i]`.
pub(super) fn index<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let value = lowering.act(node, lowering.rule(node), Role::Read);
    if let Expression::Index { object, .. } = lowering.expression(value)
        && lowering.may_be_instance(object)
    {
        lowering.implicit(object, "index", node);
    }
    value
}
