//! C++: what it adds to C — classes, namespaces, templates, members written outside of their class, constructors.

mod classes;
mod names;

use super::c::{self, declarators, named};
use crate::engine::{Declare, Hoist, Hooks, Lowering, UNKNOWN};
use crate::facts::{DefinitionId, Expression, ExpressionId, Role, ScopeKind};
use tree_sitter::Node;

pub(super) struct Cpp;

impl Hooks for Cpp {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "class_specifier" | "struct_specifier" | "union_specifier" => Some(classes::class(lowering, node)),
            "function_definition" => Some(classes::function_definition(lowering, node)),
            "declaration" => Some(classes::declaration(lowering, node)),
            "field_declaration" => Some(classes::field_declaration(lowering, node)),
            "field_initializer" => Some(classes::field_initializer(lowering, node)),
            "variadic_parameter_declaration" => c::shared_parameter(lowering, node),
            "namespace_definition" => Some(classes::namespace(lowering, node)),
            "template_declaration" => Some(template(lowering, node)),
            "alias_declaration" => Some(names::alias(lowering, node)),
            "using_declaration" => Some(names::using(lowering, node)),
            "namespace_alias_definition" => Some(names::namespace_alias(lowering, node)),
            "qualified_identifier" => Some(names::qualified(lowering, node, role)),
            "namespace_identifier" => Some(names::path_start(lowering, node)),
            "template_function" | "template_method" => Some(names::template_name(lowering, node, role)),
            "field_expression" => Some(names::member(lowering, node, role)),
            "call_expression" => names::known_call(lowering, node),
            "new_expression" => Some(names::new_expression(lowering, node)),
            "for_range_loop" => Some(range_loop(lowering, node)),
            "catch_clause" => Some(catch_clause(lowering, node)),
            _ => c::shared(lowering, node, role),
        }
    }

    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        if node.kind() != "lambda_expression" {
            return;
        }
        let Some(declarator) = lowering.field(node, "declarator") else {
            return;
        };
        if let Some(parameters) = lowering.field(declarator, "parameters") {
            lowering.parameters(parameters, id);
        }
        let result = named(lowering, declarator)
            .into_iter()
            .find(|child| child.kind() == "trailing_return_type");
        if let Some(result) = result.and_then(|result| result.named_child(0)) {
            lowering.result_type(id, result);
        }
    }
}

/// What a template declares is declared where the template stands; its parameters are bound by what it declares.
fn template<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let parameters = lowering.field(node, "parameters");
    for child in named(lowering, node) {
        if Some(child) != parameters && child.kind() != "requires_clause" {
            lowering.lower(child, Role::Read);
        }
    }
    UNKNOWN
}

/// `for (T x : container)`.
fn range_loop<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    lowering.in_scope(ScopeKind::Block, |lowering| {
        let container = lowering
            .field(node, "right")
            .map_or(UNKNOWN, |right| lowering.lower(right, Role::Read));
        let element = lowering.wrap(container, Expression::Element);
        let declarator = lowering.field(node, "declarator").map(declarators::read);
        if let Some(name) = declarator.and_then(|declarator| declarator.name) {
            let mut declare = Declare::new(Hoist::Block, node);
            if let Some(type_) = lowering.field(node, "type") {
                let lowered = lowering.lower_type(type_);
                declare.type_ = Some((lowered, lowering.type_text(type_))).filter(|_| lowered != UNKNOWN);
            }
            lowering.assign(name, element, &declare);
        }
        if let Some(body) = lowering.field(node, "body") {
            lowering.lower(body, Role::Read);
        }
    });
    UNKNOWN
}

fn catch_clause<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    lowering.in_scope(ScopeKind::Block, |lowering| {
        let parameters = lowering
            .field(node, "parameters")
            .map(|list| named(lowering, list))
            .unwrap_or_default();
        for parameter in parameters {
            let Some(type_node) = lowering.field(parameter, "type") else {
                continue;
            };
            let type_ = lowering.lower_type(type_node);
            let name = lowering
                .field(parameter, "declarator")
                .map(declarators::read)
                .and_then(|declarator| declarator.name);
            if let Some(name) = name {
                let mut declare = Declare::new(Hoist::Block, parameter);
                declare.type_ = Some((type_, lowering.type_text(type_node)));
                lowering.assign(name, UNKNOWN, &declare);
            }
        }
        if let Some(body) = lowering.field(node, "body") {
            lowering.walk_node(body);
        }
    });
    UNKNOWN
}

/// Binds the parameters of the template that declares `node`, if one does, in the current scope.
pub(super) fn bind_template_parameters<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    let mut at = node.parent();
    while let Some(template) = at.filter(|parent| parent.kind() == "template_declaration") {
        if let Some(parameters) = lowering.field(template, "parameters") {
            lowering.bind_type_parameters(parameters);
        }
        at = template.parent();
    }
}

/// Whether the current scope is the body of a type.
fn in_class(lowering: &Lowering<'_>) -> Option<DefinitionId> {
    let scope = &lowering.scopes[lowering.scope.index()];
    scope.definition.filter(|_| scope.kind == ScopeKind::Type)
}
