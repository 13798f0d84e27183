//! Lua, where a module is the value that its file returns: a table, into which functions are put one by one.

use crate::engine::{Hooks, Lowering, UNKNOWN};
use crate::facts::{Export, Expression, ExpressionId, Import, ImportForm, Role, ScopeKind};
use tree_sitter::Node;

pub(super) struct Lua;

impl Hooks for Lua {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, _role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "function_call" => require(lowering, node),
            "function_declaration" => put(lowering, node),
            "return_statement" => export(lowering, node),
            _ => None,
        }
    }
}

/// `require("a.b")`, `require "a.b"`: the value of another file.
fn require<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    lowering
        .field(node, "name")
        .filter(|name| name.kind() == "identifier" && lowering.text(*name) == "require")?;
    let arguments = lowering.field(node, "arguments")?;
    let only = arguments
        .named_child(0)
        .filter(|_| arguments.named_child_count() == 1)?;
    let content = lowering.field(only, "content").filter(|_| only.kind() == "string")?;
    let module = lowering.names.intern(lowering.text(content));
    lowering.push_import(Import {
        module,
        member: None,
        alias: None,
        form: ImportForm::Effect,
        level: 0,
        reexported: false,
        type_only: false,
        at: Lowering::position(content),
        within: lowering.definition,
    });
    Some(lowering.push_expression(Expression::Module(module), node.start_byte()))
}

/// `function M.f()` is `M.f = function()`: whoever has the table finds the function in it.
fn put<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let name = lowering.field(node, "name")?;
    lowering.field(name, "table")?;
    let rule = lowering.rule(node);
    let id = lowering.define(node, rule)?;
    let value = lowering.push_expression(Expression::Definition(id), node.start_byte());
    lowering.put_member(id, value, node);
    Some(value)
}

/// `return M` at the end of a file is what `require` gives.
fn export<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let is_outside = lowering.scopes[lowering.scope.index()].kind == ScopeKind::File;
    let first = node.named_child(0).filter(|_| is_outside)?;
    let first = match first.kind() {
        "expression_list" => first.named_child(0)?,
        _ => first,
    };
    let name = lowering.names.intern("=");
    let value = lowering.lower(first, Role::Read);
    lowering.exports.push(Export {
        name,
        value: Some(value),
        from: None,
    });
    Some(UNKNOWN)
}
