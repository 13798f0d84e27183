//! C: declarators, tags, prototypes, designated initialisers, the preprocessor.
//!
//! Tags live apart from other names, so `struct stat` is bound as `struct stat` and never hides `stat()`. C++ shares all of
//! this and binds plain names.

pub(super) mod declarations;
pub(super) mod declarators;
mod initializers;
mod preprocessor;
pub(super) mod records;

use crate::engine::{Declare, Hoist, Hooks, Lowering, UNKNOWN};
use crate::facts::{ExpressionId, Role};
use tree_sitter::Node;

pub(super) struct C;

impl Hooks for C {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
        shared(lowering, node, role)
    }
}

/// What C and C++ have in common.
pub(super) fn shared<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
    match node.kind() {
        "preproc_include" => Some(preprocessor::include(lowering, node)),
        "preproc_def" => Some(preprocessor::constant(lowering, node)),
        "preproc_function_def" => Some(preprocessor::function(lowering, node)),
        "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_elifdef" => {
            Some(preprocessor::conditional(lowering, node))
        }
        "function_definition" => Some(declarations::function_definition(lowering, node)),
        "declaration" => Some(declarations::declaration(lowering, node)),
        "type_definition" => Some(declarations::type_definition(lowering, node)),
        "field_declaration" => Some(declarations::fields(lowering, node)),
        "parameter_declaration" | "optional_parameter_declaration" | "variadic_parameter" => {
            Some(declarations::parameter(lowering, node))
        }
        "struct_specifier" | "union_specifier" | "class_specifier" => Some(records::record(lowering, node, None)),
        "enum_specifier" => Some(records::enumeration(lowering, node, None)),
        "enumerator" => Some(records::enumerator(lowering, node)),
        "type_descriptor" => Some(declarators::described_type(lowering, node)),
        "primitive_type" | "sized_type_specifier" => {
            // Their names tell overloads apart, where there are any.
            let tells = !lowering.rules.tags_apart;
            Some(if tells { lowering.name_expression(node) } else { UNKNOWN })
        }
        "compound_literal_expression" => Some(initializers::compound(lowering, node)),
        "initializer_list" => Some(initializers::untyped(lowering, node)),
        "initializer_pair" => Some(initializers::pair(lowering, node)),
        "sizeof_expression" | "offsetof_expression" => {
            if let Some(type_) = lowering.field(node, "type") {
                lowering.lower_type(type_);
            } else if let Some(value) = lowering.field(node, "value") {
                lowering.lower(value, Role::Read);
            }
            Some(UNKNOWN)
        }
        "assignment_expression" => update(lowering, node),
        _ => {
            let _ = role;
            None
        }
    }
}

/// A parameter of a C++ pack.
pub(super) fn shared_parameter<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    Some(declarations::parameter(lowering, node))
}

/// `x += y` reads and writes without saying what of.
fn update<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let operator = lowering.field(node, "operator")?;
    if lowering.text(operator) == "=" {
        return None;
    }
    let (left, right) = (lowering.field(node, "left")?, lowering.field(node, "right")?);
    lowering.lower(right, Role::Read);
    lowering.lower(left, Role::Read);
    lowering.assign(left, UNKNOWN, &Declare::new(Hoist::None, node));
    Some(UNKNOWN)
}

/// The named children of `node` that are code.
pub(super) fn named<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Vec<Node<'t>> {
    let children = lowering.children(node);
    children
        .named()
        .map(|child| child.node)
        .filter(|child| child.kind() != "comment")
        .collect()
}
