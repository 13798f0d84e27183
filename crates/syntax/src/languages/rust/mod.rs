//! Rust: blocks with a value, patterns, `Self`, paths, attributes.
//!
//! A path is a chain of members. Its first name may be bound in the file, else it names a crate, so it is noted in
//! `lowering.paths` and becomes a module when the file is finished and nothing binds it.

mod declarations;
mod imports;
mod macros;
mod operators;
mod patterns;

use crate::engine::{Hooks, Lowering, UNKNOWN};
use crate::facts::{DefinitionId, Expression, ExpressionId, Kind, Role, ScopeKind};
use tree_sitter::Node;

pub(super) struct Rust;

impl Hooks for Rust {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "line_comment" | "block_comment" => {
                comment(lowering, node);
                Some(UNKNOWN)
            }
            "use_declaration" => Some(imports::declaration(lowering, node)),
            "extern_crate_declaration" => Some(imports::extern_crate(lowering, node)),
            "mod_item" => imports::module_file(lowering, node),
            "parameter" => declarations::typed_receiver(lowering, node),
            "self_parameter" => Some(declarations::receiver(lowering, node)),
            "enum_variant" => Some(declarations::variant(lowering, node)),
            "ordered_field_declaration_list" => Some(declarations::positional_fields(lowering, node)),
            "macro_definition" => Some(macros::definition(lowering, node)),
            "macro_invocation" => Some(macros::invocation(lowering, node)),
            "token_tree" => Some(macros::tokens(lowering, node)),
            "attribute" => Some(attribute(lowering, node, role)),
            "self" => self_module(lowering, node),
            "super" | "crate" => Some(module_word(lowering, node)),
            "scoped_identifier" | "scoped_type_identifier" => Some(path(lowering, node, role)),
            "type_identifier" if lowering.text(node) == "Self" => Some(self_type(lowering, node)),
            // Their names tell implementations apart; no edge can come of them.
            "primitive_type" if role == Role::Type => Some(lowering.name_expression(node)),
            "tuple_type" => Some(tuple_type(lowering, node)),
            "struct_expression" => Some(struct_literal(lowering, node)),
            "let_declaration" => Some(patterns::let_declaration(lowering, node)),
            "let_condition" => Some(patterns::let_condition(lowering, node)),
            "for_expression" => Some(patterns::for_loop(lowering, node)),
            "match_expression" => Some(patterns::match_expression(lowering, node)),
            "if_expression" => Some(if_expression(lowering, node)),
            "binary_expression" => operators::binary(lowering, node),
            "unary_expression" => operators::unary(lowering, node),
            "compound_assignment_expr" => operators::compound(lowering, node),
            "index_expression" => Some(operators::index(lowering, node)),
            "block" => Some(block(lowering, node)),
            _ => None,
        }
    }

    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        declarations::finish_definition(lowering, id, node);
    }

    fn finish(&self, lowering: &mut Lowering<'_>) {
        imports::settle(lowering);
    }
}

/// Only `///` and `/**` document what follows; `//!` documents the file.
fn comment<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    let text = lowering.text(node);
    if (text.starts_with("///") && !text.starts_with("////")) || text.starts_with("/**") {
        lowering.comment(node);
    } else if (text.starts_with("//!") || text.starts_with("/*!"))
        && lowering.doc.is_none()
        && lowering.definition.is_none()
    {
        lowering.doc = lowering.clean_doc(node.start_byte(), node.end_byte());
    }
}

/// The path of an attribute; what it is given is not code.
fn attribute<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    match node.named_child(0) {
        Some(path) => lowering.lower(path, role),
        None => UNKNOWN,
    }
}

/// `self` at the start of a path is the module; elsewhere it is the receiver.
fn self_module<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let starts_path = node.next_sibling().is_some_and(|next| next.kind() == "::");
    starts_path.then(|| module_word(lowering, node))
}

/// `crate`, `super` and `self` as modules, relative to the file's own module.
fn module_word<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let text = lowering.text(node);
    let path = imports::from_file(lowering, text);
    let name = lowering.names.intern(&path);
    lowering.push_expression(Expression::Module(name), node.start_byte())
}

/// `path::name`.
fn path<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let Some(name_node) = lowering.field(node, "name") else {
        return UNKNOWN;
    };
    let object = match lowering.field(node, "path") {
        Some(first) if first.kind() == "identifier" && lowering.text(first) != "Self" => {
            path_start(lowering, first, role)
        }
        Some(first) if first.kind() == "identifier" => self_type(lowering, first),
        // `super::super` nests the words, not the modules they name.
        Some(outer) if name_node.kind() == "super" => {
            let text = format!("{}::super", lowering.text(outer));
            let path = imports::from_file(lowering, &text);
            let name = lowering.names.intern(&path);
            return lowering.push_expression(Expression::Module(name), node.start_byte());
        }
        Some(outer) => {
            let arguments = lowering.call_arguments;
            let inner_role = if matches!(role, Role::Type | Role::Inherit) {
                Role::Type
            } else {
                Role::Read
            };
            let object = lowering.lower(outer, inner_role);
            lowering.call_arguments = arguments;
            object
        }
        None => return path_start(lowering, name_node, role),
    };
    let name = lowering.name_of(name_node);
    let value = lowering.member_expression(object, name);
    lowering.reference(value, role, name_node);
    value
}

/// The first name of a path. It is mentioned only when it names a type: modules on the way are no news.
fn path_start<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let value = lowering.name_expression(node);
    let text = lowering.text(node);
    if text.starts_with(char::is_uppercase) {
        let role = if matches!(role, Role::Type | Role::Inherit) {
            Role::Type
        } else {
            Role::Read
        };
        lowering.reference(value, role, node);
    } else {
        lowering.paths.push(value);
    }
    value
}

/// `Self`: what the `impl` is for, or the trait itself.
pub(super) fn self_type<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let holder = lowering.enclosing(|kind| {
        matches!(
            kind,
            Kind::Extension | Kind::Trait | Kind::Struct | Kind::Enum | Kind::Union
        )
    });
    let Some(holder) = holder else { return UNKNOWN };
    let definition = &lowering.definitions[holder.index()];
    match (definition.kind, definition.owner) {
        (Kind::Extension, Some(owner)) => owner,
        (Kind::Extension, None) => UNKNOWN,
        _ => lowering.push_expression(Expression::Definition(holder), node.start_byte()),
    }
}

/// `(A, B)` as a generic type of positions.
fn tuple_type<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    let types: Vec<ExpressionId> = children.named().map(|child| lowering.lower_type(child.node)).collect();
    let name = lowering.names.intern("()");
    let base = lowering.push_expression(
        Expression::Free {
            name,
            scope: lowering.scope,
        },
        node.start_byte(),
    );
    let arguments = lowering.push_list(&types);
    lowering.push_expression(Expression::Generic { base, arguments }, node.start_byte())
}

/// `Type { field: value, … }`: makes an instance and fills its fields.
fn struct_literal<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let (Some(name), Some(body)) = (lowering.field(node, "name"), lowering.field(node, "body")) else {
        return UNKNOWN;
    };
    let type_ = lowering.lower(name, Role::Instantiate);
    let none = lowering.push_list(&[]);
    let value = lowering.push_expression(Expression::New { type_, arguments: none }, node.start_byte());
    let fields = lowering.children(body);
    for field in fields.named().map(|child| child.node) {
        let (key, content) = match field.kind() {
            "field_initializer" => (lowering.field(field, "field"), lowering.field(field, "value")),
            "shorthand_field_initializer" => {
                let name = lowering.children(field).named().next_back().map(|child| child.node);
                (name, name)
            }
            _ => {
                lowering.lower(field, Role::Read);
                continue;
            }
        };
        let content = content.map_or(UNKNOWN, |content| lowering.lower(content, Role::Read));
        if let (Some(key), false) = (key, content == UNKNOWN) {
            let name = lowering.name_of(key);
            let place = lowering.member_expression(value, name);
            lowering.flow(place, content, field);
        }
    }
    value
}

/// The statements of a block, and its last expression as value.
fn block<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    lowering.in_scope(ScopeKind::Block, |lowering| {
        let mut value = UNKNOWN;
        let (doc, decorators) = (
            lowering.pending_doc.take(),
            std::mem::take(&mut lowering.pending_decorators),
        );
        for child in children.named() {
            let node = child.node;
            match node.kind() {
                "line_comment" | "block_comment" => comment(lowering, node),
                "attribute_item" => {
                    lowering.lower(node, Role::Read);
                }
                kind => {
                    // `match … {}` without a semicolon is a statement to the grammar, and a value all the same.
                    let statement = kind == "expression_statement";
                    let inner = node.named_child(0).filter(|_| statement).unwrap_or(node);
                    value = lowering.lower(inner, Role::Read);
                    if (statement && lowering.text(node).ends_with(';')) || kind.ends_with("_item") {
                        value = UNKNOWN;
                    }
                    lowering.pending_doc = None;
                    lowering.pending_decorators.clear();
                    lowering.decorators_from = None;
                }
            }
        }
        (lowering.pending_doc, lowering.pending_decorators) = (doc, decorators);
        value
    })
}

fn if_expression<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let then = lowering.in_scope(ScopeKind::Block, |lowering| {
        if let Some(condition) = lowering.field(node, "condition") {
            lowering.lower(condition, Role::Read);
        }
        lowering
            .field(node, "consequence")
            .map_or(UNKNOWN, |then| lowering.lower(then, Role::Read))
    });
    let otherwise = lowering
        .field(node, "alternative")
        .map_or(UNKNOWN, |other| lowering.lower(other, Role::Read));
    lowering.choice(&[then, otherwise])
}
