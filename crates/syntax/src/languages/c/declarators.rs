//! Declarators: C writes the name of what it declares in the middle of its type.

use super::named;
use crate::engine::{Lowering, UNKNOWN};
use crate::facts::{Expression, ExpressionId};
use tree_sitter::Node;

/// What a declarator says, read from the outside in.
#[derive(Clone, Copy, Default)]
pub(in crate::languages) struct Declarator<'t> {
    /// The name itself; abstract declarators have none.
    pub(in crate::languages) name: Option<Node<'t>>,
    /// The innermost part that takes parameters.
    pub(in crate::languages) function: Option<Node<'t>>,
    /// It declares a function, not a pointer to one.
    pub(in crate::languages) is_function: bool,
    /// There is a pointer, reference or array around the type.
    pub(in crate::languages) wrapped: bool,
    /// The name is an array.
    pub(in crate::languages) array: bool,
}

/// Whether a child of a declaration declares something.
pub(in crate::languages) fn is_declarator(kind: &str) -> bool {
    kind.ends_with("declarator")
        || matches!(
            kind,
            "identifier"
                | "field_identifier"
                | "qualified_identifier"
                | "destructor_name"
                | "operator_name"
                | "operator_cast"
                | "template_function"
                | "template_method"
                | "type_identifier"
        )
}

pub(in crate::languages) fn read(node: Node<'_>) -> Declarator<'_> {
    let mut found = Declarator::default();
    let mut at = node;
    for _ in 0..64 {
        let inner = match at.kind() {
            "function_declarator" | "abstract_function_declarator" => {
                found.function = Some(at);
                found.is_function = true;
                found.wrapped = false;
                found.array = false;
                at.child_by_field_name("declarator")
            }
            "pointer_declarator"
            | "abstract_pointer_declarator"
            | "reference_declarator"
            | "abstract_reference_declarator"
            | "pointer_type_declarator" => {
                found.wrapped = true;
                // What stands inside of the parameters' declarator is a pointer to a function.
                found.is_function = false;
                at.child_by_field_name("declarator").or_else(|| last_declarator(at))
            }
            "array_declarator" | "abstract_array_declarator" => {
                found.wrapped = true;
                found.array = true;
                found.is_function = false;
                at.child_by_field_name("declarator")
            }
            "init_declarator" => at.child_by_field_name("declarator"),
            "parenthesized_declarator"
            | "abstract_parenthesized_declarator"
            | "attributed_declarator"
            | "variadic_declarator" => last_declarator(at),
            _ => {
                found.name = Some(at);
                return found;
            }
        };
        match inner {
            Some(inner) => at = inner,
            None => return found,
        }
    }
    found
}

fn last_declarator(node: Node<'_>) -> Option<Node<'_>> {
    (0..node.named_child_count() as u32)
        .filter_map(|at| node.named_child(at))
        .find(|child| is_declarator(child.kind()))
}

/// The type that `base` becomes around `declarator`. Parameters of function types are mentioned on the way.
pub(in crate::languages) fn around<'t>(
    lowering: &mut Lowering<'t>,
    base: ExpressionId,
    declarator: Declarator<'t>,
) -> ExpressionId {
    if let Some(function) = declarator.function.filter(|_| !declarator.is_function) {
        let mut types = Vec::new();
        if let Some(parameters) = lowering.field(function, "parameters") {
            for parameter in named(lowering, parameters) {
                let type_ = lowering
                    .field(parameter, "type")
                    .map_or(UNKNOWN, |type_| lowering.lower_type(type_));
                types.push(type_);
            }
        }
        types.push(base);
        let types = lowering.push_list(&types);
        return lowering.push_expression(Expression::FunctionType(types), function.start_byte());
    }
    if declarator.wrapped {
        lowering.wrap(base, Expression::Wrapped)
    } else {
        base
    }
}

/// `struct foo *(*)(int)`: a type with an abstract declarator.
pub(super) fn described_type<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let base = lowering
        .field(node, "type")
        .map_or(UNKNOWN, |type_| lowering.lower_type(type_));
    match lowering.field(node, "declarator") {
        Some(declarator) => {
            let mut declarator = read(declarator);
            declarator.is_function = false;
            around(lowering, base, declarator)
        }
        None => base,
    }
}
