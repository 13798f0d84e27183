//! Imports and exports, of both kinds: `import`/`export` and `require`/`module.exports`.

use crate::engine::{Action, Declare, Hoist, Lowering, Parts, UNKNOWN};
use crate::facts::{
    Bound, DefinitionId, Export, Expression, ExpressionId, Flags, Import, ImportForm, ImportId, Kind, Name, Role,
    ScopeId, Visibility,
};
use std::collections::HashMap;
use tree_sitter::Node;

/// The text of a string node, if it is a plain one.
fn literal<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<Name> {
    if !matches!(node.kind(), "string" | "template_string") || node.named_child_count() > 1 {
        return None;
    }
    match node.named_child(0) {
        Some(fragment) if fragment.kind() == "string_fragment" => Some(lowering.name_of(fragment)),
        Some(_) => None,
        None => Some(lowering.names.intern("")),
    }
}

struct From {
    module: Name,
    type_only: bool,
    reexported: bool,
}

fn add<'t>(
    lowering: &mut Lowering<'t>,
    from: &From,
    member: Option<Name>,
    alias: Option<Name>,
    form: ImportForm,
    at: Node<'t>,
) -> ImportId {
    let import = Import {
        module: from.module,
        member,
        alias,
        form,
        level: 0,
        reexported: from.reexported,
        type_only: from.type_only,
        at: Lowering::position(at),
        within: lowering.definition,
    };
    let id = lowering.push_import(import);
    if let Some(alias) = alias {
        lowering.bind_import(lowering.scope, alias, Bound::Import(id), at);
    }
    id
}

fn token<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, token: &str) -> Option<Node<'t>> {
    let children = lowering.children(node);
    children
        .iter()
        .find(|child| !child.named && child.node.kind() == token)
        .map(|child| child.node)
}

fn has_token<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, text: &str) -> bool {
    token(lowering, node, text).is_some()
}

pub(super) fn import<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let mut source = lowering.field(node, "source");
    let children = lowering.children(node);
    let clauses: Vec<Node<'t>> = children.named().map(|child| child.node).collect();
    // `import x = require("y")`.
    if let Some(clause) = clauses.iter().find(|clause| clause.kind() == "import_require_clause") {
        source = lowering.field(*clause, "source");
    }
    let Some(module) = source.and_then(|source| literal(lowering, source)) else {
        return UNKNOWN;
    };
    let from = From {
        module,
        type_only: has_token(lowering, node, "type"),
        reexported: false,
    };
    let mut bound = false;
    for clause in clauses {
        let parts = lowering.children(clause);
        match clause.kind() {
            "import_clause" => {
                bound = true;
                for part in parts.named() {
                    match part.node.kind() {
                        "identifier" => {
                            let alias = lowering.name_of(part.node);
                            let member = lowering.names.intern("default");
                            add(
                                lowering,
                                &from,
                                Some(member),
                                Some(alias),
                                ImportForm::Default,
                                part.node,
                            );
                        }
                        "namespace_import" => {
                            let Some(name) = part.node.named_child(0) else { continue };
                            let alias = lowering.name_of(name);
                            add(lowering, &from, None, Some(alias), ImportForm::Module, name);
                        }
                        "named_imports" => named_imports(lowering, part.node, &from),
                        _ => {}
                    }
                }
            }
            "import_require_clause" => {
                bound = true;
                if let Some(name) = parts.named().find(|part| part.node.kind() == "identifier") {
                    let alias = lowering.name_of(name.node);
                    add(lowering, &from, None, Some(alias), ImportForm::Module, name.node);
                }
            }
            _ => {}
        }
    }
    if !bound {
        add(lowering, &from, None, None, ImportForm::Effect, node);
    }
    UNKNOWN
}

fn named_imports<'t>(lowering: &mut Lowering<'t>, list: Node<'t>, from: &From) {
    let children = lowering.children(list);
    for child in children.named() {
        let Some(name_node) = lowering.field(child.node, "name") else {
            continue;
        };
        let name = lowering.text(name_node).trim_matches(['"', '\'']);
        let member = lowering.names.intern(name);
        let alias = lowering
            .field(child.node, "alias")
            .map_or(member, |alias| lowering.name_of(alias));
        let form = if name == "default" {
            ImportForm::Default
        } else {
            ImportForm::Member
        };
        let from = From {
            type_only: from.type_only || has_token(lowering, child.node, "type"),
            ..*from
        };
        add(lowering, &from, Some(member), Some(alias), form, name_node);
    }
}

/// `import A = B.C`.
pub(super) fn import_alias<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let parts = Parts {
        target: node.named_child(0),
        value: node.named_child(1),
        type_: None,
    };
    lowering.assign_parts(Action::Assign, parts, Declare::new(Hoist::Block, node))
}

pub(super) fn export<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    // Exports of a namespace are its members, not the file's.
    let of_file = lowering.scope == ScopeId(0);
    let is_default = has_token(lowering, node, "default");
    let source = lowering
        .field(node, "source")
        .and_then(|source| literal(lowering, source));
    if let Some(module) = source {
        let from = From {
            module,
            type_only: has_token(lowering, node, "type"),
            reexported: true,
        };
        export_from(lowering, node, &from);
        return UNKNOWN;
    }
    let children = lowering.children(node);
    for child in children.named() {
        if lowering.rule(child.node).action == Action::Decorator {
            lowering.lower(child.node, Role::Read);
        }
    }
    if let Some(declaration) = lowering.field(node, "declaration") {
        export_declaration(lowering, declaration, is_default, of_file);
    } else if let Some(value) = lowering.field(node, "value") {
        export_default(lowering, node, value);
    } else if let Some(clause) = children.named().find(|child| child.node.kind() == "export_clause") {
        let specifiers = lowering.children(clause.node);
        for specifier in specifiers.named() {
            let Some(name_node) = lowering.field(specifier.node, "name") else {
                continue;
            };
            let value = lowering.name_expression(name_node);
            lowering.reference(value, Role::Read, name_node);
            let exported = lowering.field(specifier.node, "alias").unwrap_or(name_node);
            let name = lowering.text(exported).trim_matches(['"', '\'']);
            let name = lowering.names.intern(name);
            lowering.exports.push(Export {
                name,
                value: Some(value),
                from: None,
            });
        }
    } else if has_token(lowering, node, "=") {
        let value = node
            .named_child(0)
            .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
        let name = lowering.names.intern("=");
        lowering.exports.push(Export {
            name,
            value: Some(value),
            from: None,
        });
    } else {
        lowering.walk(&children);
    }
    UNKNOWN
}

fn export_from<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, from: &From) {
    let children = lowering.children(node);
    let mut named = false;
    for child in children.named() {
        match child.node.kind() {
            "export_clause" => {
                named = true;
                let specifiers = lowering.children(child.node);
                for specifier in specifiers.named() {
                    let Some(name_node) = lowering.field(specifier.node, "name") else {
                        continue;
                    };
                    let text = lowering.text(name_node).trim_matches(['"', '\'']);
                    let member = lowering.names.intern(text);
                    let form = if text == "default" {
                        ImportForm::Default
                    } else {
                        ImportForm::Member
                    };
                    let import = add(lowering, from, Some(member), None, form, name_node);
                    let name = lowering.field(specifier.node, "alias").map_or(member, |alias| {
                        let alias = lowering.text(alias).trim_matches(['"', '\'']);
                        lowering.names.intern(alias)
                    });
                    lowering.exports.push(Export {
                        name,
                        value: None,
                        from: Some(import),
                    });
                }
            }
            "namespace_export" => {
                named = true;
                let import = add(lowering, from, None, None, ImportForm::Module, child.node);
                let name = child.node.named_child(0).unwrap_or(child.node);
                let name = lowering.name_of(name);
                lowering.exports.push(Export {
                    name,
                    value: None,
                    from: Some(import),
                });
            }
            _ => {}
        }
    }
    if !named {
        let import = add(lowering, from, None, None, ImportForm::Wildcard, node);
        let name = lowering.names.intern("*");
        lowering.exports.push(Export {
            name,
            value: None,
            from: Some(import),
        });
    }
}

fn export_declaration<'t>(lowering: &mut Lowering<'t>, declaration: Node<'t>, is_default: bool, of_file: bool) {
    let before = lowering.definitions.len();
    let parent = lowering.definition;
    lowering.lower(declaration, Role::Read);
    for at in before..lowering.definitions.len() {
        let definition = &mut lowering.definitions[at];
        if definition.parent != parent || definition.kind == Kind::Lambda {
            continue;
        }
        definition.flags.insert(Flags::EXPORTED);
        let mut name = definition.name;
        if is_default {
            definition.flags.insert(Flags::DEFAULT);
            name = lowering.names.intern("default");
        }
        // Overloads are one export.
        if of_file && !lowering.exports.iter().rev().take(1).any(|export| export.name == name) {
            let value = lowering.push_expression(
                Expression::Definition(DefinitionId(at as u32)),
                declaration.start_byte(),
            );
            lowering.exports.push(Export {
                name,
                value: Some(value),
                from: None,
            });
        }
    }
}

fn export_default<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, value: Node<'t>) {
    let name = lowering.names.intern("default");
    let rule = lowering.rule(value);
    let value = if matches!(rule.action, Action::Lambda | Action::Define) {
        let children = lowering.children(value);
        let own_name = lowering.field(value, "name");
        let keyword = token(lowering, node, "default");
        let id = lowering.define_as(value, rule, &children, own_name.or(keyword), node);
        let definition = &mut lowering.definitions[id.index()];
        definition.flags.insert(Flags::DEFAULT);
        definition.flags.insert(Flags::EXPORTED);
        if own_name.is_some() {
            lowering.bind_definition(lowering.scope, id);
        }
        lowering.push_expression(Expression::Definition(id), value.start_byte())
    } else {
        lowering.lower(value, Role::Read)
    };
    lowering.exports.push(Export {
        name,
        value: Some(value),
        from: None,
    });
}

// ---- CommonJS -------------------------------------------------------------------------------------------------------

/// `require("x")` as a value.
pub(super) fn require<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, arguments: Node<'t>) -> Option<ExpressionId> {
    let module = arguments.named_child(0).and_then(|module| literal(lowering, module))?;
    let from = From {
        module,
        type_only: false,
        reexported: false,
    };
    add(lowering, &from, None, None, ImportForm::Effect, node);
    Some(lowering.push_expression(Expression::Module(module), node.start_byte()))
}

/// `import("x")`: a promise of the module.
pub(super) fn dynamic_import<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    arguments: Node<'t>,
) -> Option<ExpressionId> {
    require(lowering, node, arguments)
}

/// `const x = require("y")` and `const { a, b: c } = require("y")` are imports. Says whether it was one.
pub(super) fn required<'t>(lowering: &mut Lowering<'t>, parts: Parts<'t>) -> bool {
    let (Some(target), Some(value)) = (parts.target, parts.value) else {
        return false;
    };
    if value.kind() != "call_expression"
        || lowering
            .field(value, "function")
            .is_none_or(|name| lowering.text(name) != "require")
    {
        return false;
    }
    let argument = lowering
        .field(value, "arguments")
        .and_then(|arguments| arguments.named_child(0));
    let Some(module) = argument.and_then(|argument| literal(lowering, argument)) else {
        return false;
    };
    let from = From {
        module,
        type_only: false,
        reexported: false,
    };
    if target.kind() == "identifier" {
        let alias = lowering.name_of(target);
        add(lowering, &from, None, Some(alias), ImportForm::Module, target);
        return true;
    }
    if target.kind() != "object_pattern" {
        return false;
    }
    let entries = lowering.children(target);
    let simple = |entry: Node<'t>| match entry.kind() {
        "shorthand_property_identifier_pattern" | "comment" => true,
        "pair_pattern" => entry
            .child_by_field_name("value")
            .is_some_and(|value| value.kind() == "identifier"),
        _ => false,
    };
    if !entries.named().all(|entry| simple(entry.node)) {
        return false;
    }
    for entry in entries.named() {
        let (member, alias) = match entry.node.kind() {
            "pair_pattern" => (lowering.field(entry.node, "key"), lowering.field(entry.node, "value")),
            "comment" => continue,
            _ => (Some(entry.node), Some(entry.node)),
        };
        let (Some(member_node), Some(alias)) = (member, alias) else {
            continue;
        };
        let member = lowering.name_of(member_node);
        let alias = lowering.name_of(alias);
        add(
            lowering,
            &from,
            Some(member),
            Some(alias),
            ImportForm::Member,
            member_node,
        );
    }
    true
}

/// The name under which assigning to `target` exports: `=` for `module.exports`, `x` for `exports.x`.
pub(super) fn exported_by<'t>(lowering: &mut Lowering<'t>, target: Node<'t>) -> Option<Name> {
    if target.kind() != "member_expression" {
        return None;
    }
    if lowering.text(target) == "module.exports" {
        return Some(lowering.names.intern("="));
    }
    let object = lowering.text(lowering.field(target, "object")?);
    if !matches!(object, "exports" | "module.exports") {
        return None;
    }
    lowering.field(target, "property").map(|name| lowering.name_of(name))
}

pub(super) fn common_export(lowering: &mut Lowering<'_>, name: Name, value: ExpressionId) {
    lowering.exports.push(Export {
        name,
        value: Some(value),
        from: None,
    });
    if lowering.names.get(name) != "=" {
        return;
    }
    // The members of `module.exports = { a, b: c }` are exports too.
    if let Expression::Mapping { entries } = lowering.expression(value) {
        let pairs: Vec<u32> = lowering.lists[entries.start as usize..(entries.start + entries.len) as usize].to_vec();
        for pair in pairs.chunks_exact(2) {
            if let Expression::Text(name) = lowering.expression(ExpressionId(pair[0])) {
                lowering.exports.push(Export {
                    name,
                    value: Some(ExpressionId(pair[1])),
                    from: None,
                });
            }
        }
    }
}

/// Marks what exports name, and hides the rest of a module from other files.
pub(super) fn finish(lowering: &mut Lowering<'_>) {
    if lowering.exports.is_empty() {
        return;
    }
    // By name and place, so that overloads, and a type and a value of one name, are exported together.
    let mut exported: HashMap<(Name, Option<DefinitionId>), bool> = HashMap::new();
    for export in &lowering.exports {
        let Some(value) = export.value else { continue };
        let id = match lowering.expression(value) {
            Expression::Definition(id) => Some(id),
            Expression::Free { name, .. } => {
                lowering
                    .binding_in(ScopeId(0), name)
                    .and_then(|binding| match lowering.bindings[binding.index()].to {
                        Bound::Definition(id) => Some(id),
                        _ => None,
                    })
            }
            _ => None,
        };
        if let Some(id) = id {
            let definition = &lowering.definitions[id.index()];
            let is_default = lowering.names.get(export.name) == "default";
            *exported.entry((definition.name, definition.parent)).or_default() |= is_default;
        }
    }
    for definition in &mut lowering.definitions {
        let named = definition.owner.is_none() && definition.kind != Kind::Lambda;
        match exported.get(&(definition.name, definition.parent)) {
            Some(&is_default) if named => {
                definition.flags.insert(Flags::EXPORTED);
                if is_default {
                    definition.flags.insert(Flags::DEFAULT);
                }
            }
            _ if named && definition.parent.is_none() && !definition.flags.contains(Flags::EXPORTED) => {
                definition.visibility = Visibility::Private;
            }
            _ => {}
        }
    }
}
