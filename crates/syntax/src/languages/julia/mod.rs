//! Julia, where `area(c) = …` defines a function as well as `function area(c) … end` does.

use crate::engine::{Hooks, Lowering, NewDefinition, UNKNOWN};
use crate::facts::{ExpressionId, Flow, Kind, Role, ScopeKind};
use tree_sitter::Node;

pub(super) struct Julia;

impl Hooks for Julia {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, _role: Role) -> Option<ExpressionId> {
        let mut head = node.named_child(0)?;
        // `f(x)::T where T = …`.
        while matches!(head.kind(), "where_expression" | "typed_expression") {
            head = head.named_child(0)?;
        }
        let called = (head.kind() == "call_expression")
            .then(|| head.named_child(0))
            .flatten()?;
        let value = node.named_child(node.named_child_count().checked_sub(1)? as u32)?;
        Some(short_function(lowering, node, called, value))
    }
}

/// `called(…) = value`.
fn short_function<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, called: Node<'t>, value: Node<'t>) -> ExpressionId {
    let new = NewDefinition {
        kind: Kind::Function,
        name: lowering.name_of(called),
        name_at: Lowering::position(called),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.definitions[id.index()].signature = lowering.signature(node, Some(value));
    lowering.bind_definition(lowering.scope, id);
    let body = lowering.push_scope(ScopeKind::Function, Some(id));
    lowering.definitions[id.index()].body = Some(body);
    let saved = lowering.enter(id, body);
    let value = lowering.lower(value, Role::Read);
    if value != UNKNOWN {
        lowering.flows.push(Flow::Return { function: id, value });
    }
    lowering.leave(saved);
    UNKNOWN
}
