//! Conditionals of C#'s preprocessor: all branches count, and what stands in one that is left out unless something is defined
//! from outside is marked as an alternative.

use crate::engine::{Lowering, UNKNOWN};
use crate::facts::{ExpressionId, Flags, Role};
use tree_sitter::Node;

/// Conditions that are nested deeper than this are not read.
const MAX_DEPTH: u32 = 32;
/// In how many lines a file says what it defines.
const MAX_LINES: usize = 300;

/// `#if … #elif … #else`: the first branch whose condition holds is compiled, when only what the file itself defines is.
pub(super) fn conditional<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let mut branch = Some(node);
    let mut is_settled = false;
    while let Some(node) = branch {
        let condition = lowering.field(node, "condition");
        let next = lowering.field(node, "alternative");
        let holds = condition.is_none_or(|condition| holds(lowering, condition, 0) == Some(true));
        let first = lowering.definitions.len();
        let children = lowering.children(node);
        let is_code = |child: Node<'t>| Some(child) != condition && Some(child) != next;
        for child in children.named().filter(|child| is_code(child.node)) {
            if child.node.kind() == "comment" {
                lowering.comment(child.node);
                continue;
            }
            lowering.lower(child.node, Role::Read);
            lowering.pending_doc = None;
        }
        if is_settled || !holds {
            for definition in &mut lowering.definitions[first..] {
                definition.flags.insert(Flags::ALTERNATIVE);
            }
        }
        is_settled |= holds;
        branch = next;
    }
    UNKNOWN
}

/// Whether a condition holds; `None` if it cannot be read.
fn holds<'t>(lowering: &Lowering<'t>, condition: Node<'t>, depth: u32) -> Option<bool> {
    if depth > MAX_DEPTH {
        return None;
    }
    let part = |field| holds(lowering, lowering.field(condition, field)?, depth + 1);
    match condition.kind() {
        "identifier" => Some(defines(lowering.source, lowering.text(condition))),
        "boolean_literal" => Some(lowering.text(condition) == "true"),
        "parenthesized_expression" => holds(lowering, condition.named_child(0)?, depth + 1),
        "unary_expression" => Some(!part("argument")?),
        "binary_expression" => {
            let (left, right) = (part("left")?, part("right")?);
            match lowering.text(lowering.field(condition, "operator")?) {
                "&&" => Some(left && right),
                "||" => Some(left || right),
                "==" => Some(left == right),
                "!=" => Some(left != right),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether the file defines `name`. Definitions stand before everything else in a file.
fn defines(source: &str, name: &str) -> bool {
    let lines = source.lines().take(MAX_LINES).map(str::trim_start);
    lines
        .filter_map(|line| line.strip_prefix('#')?.trim_start().strip_prefix("define"))
        .any(|defined| defined.trim() == name)
}
