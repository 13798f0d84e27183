//! Elixir, where definitions and imports are calls of macros: `def`, `defmodule`, `alias`.

use crate::engine::{Hooks, Lowering, NewDefinition, UNKNOWN};
use crate::facts::{Bound, ExpressionId, Flags, Import, ImportForm, Kind, Role, ScopeKind, Visibility};
use tree_sitter::Node;

pub(super) struct Elixir;

impl Hooks for Elixir {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, _role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "call" => call(lowering, node),
            // Attributes hold documentation and types, which are not code.
            "unary_operator" => lowering.text(node).starts_with('@').then_some(UNKNOWN),
            _ => None,
        }
    }
}

fn call<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let target = lowering
        .field(node, "target")
        .filter(|target| target.kind() == "identifier")?;
    let word = lowering.text(target);
    let (kind, scope) = match word {
        "defmodule" => (Kind::Module, ScopeKind::Module),
        // `defimpl P, for: T` gives P more functions.
        "defimpl" => (Kind::Extension, ScopeKind::Module),
        "defprotocol" => (Kind::Interface, ScopeKind::Module),
        "def" | "defp" | "test" => (Kind::Function, ScopeKind::Function),
        "defmacro" | "defmacrop" => (Kind::Macro, ScopeKind::Function),
        "alias" | "import" | "use" | "require" => {
            import(lowering, node, word);
            return Some(UNKNOWN);
        }
        _ => return None,
    };
    let arguments = lowering
        .children(node)
        .named()
        .find(|child| child.node.kind() == "arguments")?
        .node;
    let mut name = arguments.named_child(0)?;
    // `def f(x) when guard`, `def f(x)`, `def f`.
    while let Some(inner) = match name.kind() {
        "binary_operator" => lowering.field(name, "left"),
        "call" => lowering.field(name, "target"),
        _ => None,
    } {
        name = inner;
    }
    let text = lowering.text(name).trim_matches('"');
    let new = NewDefinition {
        kind,
        name: lowering.names.intern(text),
        name_at: Lowering::position(name),
        span: Lowering::span(node),
    };
    let earlier = lowering.clause_of(new);
    let id = earlier.unwrap_or_else(|| lowering.new_definition(new));
    let body = lowering.push_scope(scope, Some(id));
    if earlier.is_none() {
        let signature = lowering.first_line(node);
        let definition = &mut lowering.definitions[id.index()];
        definition.signature = signature;
        definition.body = Some(body);
        if matches!(word, "defp" | "defmacrop") {
            definition.visibility = Visibility::Private;
        }
        if word == "test" {
            definition.flags.insert(Flags::TEST);
        }
        if kind != Kind::Extension {
            lowering.bind_definition(lowering.scope, id);
        }
    }
    let saved = lowering.enter(id, body);
    let children = lowering.children(node);
    for child in children.named() {
        if child.node.kind() == "do_block" {
            lowering.walk_node(child.node);
        } else if child.node == arguments {
            // `def f(x), do: g(x)`.
            let rest = lowering.children(arguments);
            for argument in rest.named().skip(1) {
                lowering.lower(argument.node, Role::Read);
            }
        }
    }
    lowering.leave(saved);
    Some(UNKNOWN)
}

fn import<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, word: &str) {
    let children = lowering.children(node);
    let arguments = children.named().find(|child| child.node.kind() == "arguments");
    let Some(module_node) = arguments.and_then(|arguments| arguments.node.named_child(0)) else {
        return;
    };
    let module = lowering.name_of(module_node);
    let last = lowering.text(module_node).rsplit('.').next().unwrap_or("");
    let form = if word == "import" {
        ImportForm::Wildcard
    } else {
        ImportForm::Module
    };
    let alias = (word == "alias").then(|| lowering.names.intern(last));
    let import = Import {
        module,
        member: None,
        alias,
        form,
        level: 0,
        reexported: false,
        type_only: false,
        at: Lowering::position(module_node),
        within: lowering.definition,
    };
    let id = lowering.push_import(import);
    if let Some(alias) = alias {
        lowering.bind_import(lowering.scope, alias, Bound::Import(id), module_node);
    }
}
