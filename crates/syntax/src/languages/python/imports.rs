//! `import a.b as c`, `from ..a import b as c`, `from a import *`.

use crate::engine::{Lowering, UNKNOWN};
use crate::facts::{Bound, ExpressionId, Import, ImportForm, Name};
use tree_sitter::Node;

pub(super) fn plain<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    for child in children.named() {
        let (module_node, alias) = named(lowering, child.node);
        if module_node.kind() != "dotted_name" {
            continue;
        }
        let module = dotted(lowering, module_node);
        // `import a.b` binds `a`.
        let bound = match alias {
            Some(alias) => Some(lowering.name_of(alias)),
            None => module_node.named_child(0).map(|first| lowering.name_of(first)),
        };
        add(lowering, module, None, bound, ImportForm::Module, 0, module_node);
    }
    UNKNOWN
}

pub(super) fn from<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(module_node) = lowering.field(node, "module_name") else {
        return UNKNOWN;
    };
    let mut level = 0;
    let mut module = lowering.names.intern("");
    if module_node.kind() == "relative_import" {
        let children = lowering.children(module_node);
        for child in children.named() {
            match child.node.kind() {
                "import_prefix" => {
                    level = lowering
                        .text(child.node)
                        .bytes()
                        .filter(|&byte| byte == b'.')
                        .count()
                        .min(255) as u8
                }
                _ => module = dotted(lowering, child.node),
            }
        }
    } else {
        module = dotted(lowering, module_node);
    }
    let children = lowering.children(node);
    for child in children.named() {
        if child.node == module_node {
            continue;
        }
        if child.node.kind() == "wildcard_import" {
            add(lowering, module, None, None, ImportForm::Wildcard, level, child.node);
            continue;
        }
        let (member_node, alias) = named(lowering, child.node);
        if member_node.kind() != "dotted_name" {
            continue;
        }
        let member = lowering.name_of(member_node);
        let bound = alias.map_or(member, |alias| lowering.name_of(alias));
        add(
            lowering,
            module,
            Some(member),
            Some(bound),
            ImportForm::Member,
            level,
            member_node,
        );
    }
    UNKNOWN
}

/// The name and the alias of `name as alias`.
fn named<'t>(lowering: &Lowering<'t>, node: Node<'t>) -> (Node<'t>, Option<Node<'t>>) {
    if node.kind() == "aliased_import" {
        (
            lowering.field(node, "name").unwrap_or(node),
            lowering.field(node, "alias"),
        )
    } else {
        (node, None)
    }
}

/// A dotted name without the white space that the grammar allows inside.
fn dotted<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Name {
    let text = lowering.text(node);
    if text.contains(char::is_whitespace) {
        let text: String = text.split_whitespace().collect();
        lowering.names.intern(&text)
    } else {
        lowering.name_of(node)
    }
}

fn add<'t>(
    lowering: &mut Lowering<'t>,
    module: Name,
    member: Option<Name>,
    alias: Option<Name>,
    form: ImportForm,
    level: u8,
    at: Node<'t>,
) {
    let import = Import {
        module,
        member,
        alias,
        form,
        level,
        // Whatever a Python module binds, importers of the module see.
        reexported: lowering.definition.is_none(),
        type_only: false,
        at: Lowering::position(at),
        within: lowering.definition,
    };
    let id = lowering.push_import(import);
    if let Some(name) = alias {
        let scope = lowering.function_scope();
        let scope = lowering.redirects.get(&(scope, name)).copied().unwrap_or(scope);
        lowering.bind_import(scope, name, Bound::Import(id), at);
    }
}
