//! Go: receivers, embedded fields, results in lists, type switches, composite literals.
//!
//! Lists are where Go differs from the table: `a, b := f()` takes a tuple apart while `a, b := c, d` pairs up, so every
//! statement with lists on both sides goes through [`assign_lists`].

mod declarations;
mod literals;

use crate::engine::{Declare, Hoist, Hooks, Lowering, UNKNOWN};
use crate::facts::{
    Bound, DefinitionId, Expression, ExpressionId, Flags, Flow, Import, ImportForm, Kind, Name, Role, ScopeKind,
    Visibility,
};
use tree_sitter::Node;

pub(super) struct Go;

impl Hooks for Go {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "identifier" => (lowering.text(node) == "_").then_some(UNKNOWN),
            "type_identifier" => is_predeclared_type(lowering.text(node)).then_some(UNKNOWN),
            "package_clause" => {
                lowering.document_file(node);
                None
            }
            "import_spec" => Some(import(lowering, node)),
            "field_declaration" => Some(declarations::fields(lowering, node)),
            "type_elem" => declarations::embedded_interface(lowering, node),
            "type_constraint" => (named(lowering, node).len() > 1).then(|| {
                lowering.walk_node(node);
                UNKNOWN
            }),
            "parameter_list" => declarations::list_as_type(lowering, node, role),
            "parameter_declaration" | "variadic_parameter_declaration" => {
                Some(declarations::parameters(lowering, node))
            }
            "var_spec" | "const_spec" => Some(declarations::variables(lowering, node)),
            "struct_type" | "interface_type" => {
                let named = node.parent().is_some_and(|parent| parent.kind() == "type_spec");
                (!named).then(|| declarations::anonymous_type(lowering, node))
            }
            "call_expression" => literals::builtin_call(lowering, node),
            "type_conversion_expression" => literals::instantiated_call(lowering, node),
            "composite_literal" => Some(literals::composite(lowering, node)),
            "map_type" => Some(literals::map_type(lowering, node)),
            "unary_expression" => unary(lowering, node),
            "expression_list" => match named(lowering, node).as_slice() {
                [single] => Some(lowering.lower(*single, role)),
                _ => None,
            },
            "short_var_declaration" => Some(assignment(lowering, node, Hoist::Block)),
            "assignment_statement" => Some(assignment(lowering, node, Hoist::None)),
            "range_clause" => Some(range(lowering, node)),
            "receive_statement" => Some(assignment(lowering, node, hoist_of(node))),
            "send_statement" => Some(send(lowering, node)),
            "type_switch_statement" => Some(type_switch(lowering, node)),
            _ => None,
        }
    }

    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        declarations::finish_definition(lowering, id, node);
    }
}

/// The named children of `node`, comments left out.
fn named<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Vec<Node<'t>> {
    let children = lowering.children(node);
    children
        .named()
        .map(|child| child.node)
        .filter(|child| child.kind() != "comment")
        .collect()
}

/// The expressions of a list, or the lone expression that stands for one.
fn list<'t>(lowering: &mut Lowering<'t>, node: Option<Node<'t>>) -> Vec<Node<'t>> {
    match node {
        Some(node) if node.kind() == "expression_list" => named(lowering, node),
        Some(node) => vec![node],
        None => Vec::new(),
    }
}

fn import<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(path) = lowering.field(node, "path") else {
        return UNKNOWN;
    };
    let module = lowering.text(path).trim_matches(['"', '`']);
    let name = lowering.field(node, "name");
    let (form, alias) = match name.map(|name| lowering.text(name)) {
        Some(".") => (ImportForm::Wildcard, None),
        Some("_") => (ImportForm::Effect, None),
        Some(alias) => (ImportForm::Module, Some(alias)),
        None => (ImportForm::Module, Some(package_name(module))),
    };
    let alias = alias.map(|alias| lowering.names.intern(alias));
    let import = Import {
        module: lowering.names.intern(module),
        member: None,
        alias,
        form,
        level: 0,
        reexported: false,
        type_only: false,
        at: Lowering::position(path),
        within: None,
    };
    let id = lowering.push_import(import);
    if let Some(alias) = alias {
        lowering.bind_import(lowering.scope, alias, Bound::Import(id), node);
    }
    UNKNOWN
}

/// The name that a package at `path` most likely has: the last component without version and `go` affixes.
fn package_name(path: &str) -> &str {
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let (parent, mut last) = path.rsplit_once('/').unwrap_or(("", path));
    if is_version(last) && !parent.is_empty() {
        last = parent.rsplit('/').next().unwrap_or(parent);
    }
    if let Some((name, version)) = last.rsplit_once('.')
        && is_version(version)
    {
        last = name;
    }
    let last = last
        .strip_suffix(".go")
        .or_else(|| last.strip_suffix("-go"))
        .unwrap_or(last);
    let last = last.strip_prefix("go-").unwrap_or(last);
    // A hyphen cannot be part of a name; what follows the last one usually is the name.
    last.rsplit('-').next().unwrap_or(last)
}

fn hoist_of(node: Node<'_>) -> Hoist {
    let declares = (0..node.child_count())
        .filter_map(|at| node.child(at))
        .any(|child| child.kind() == ":=");
    if declares { Hoist::Block } else { Hoist::None }
}

fn assignment<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, hoist: Hoist) -> ExpressionId {
    let targets = list(lowering, lowering.field(node, "left"));
    let values = list(lowering, lowering.field(node, "right"));
    let updates = lowering
        .field(node, "operator")
        .is_some_and(|operator| lowering.text(operator) != "=");
    if updates {
        for &target in &targets {
            lowering.lower(target, Role::Read);
        }
        let unknown = vec![UNKNOWN; targets.len()];
        for &value in &values {
            lowering.lower(value, Role::Read);
        }
        assign_values(lowering, &targets, &unknown, &Declare::new(Hoist::None, node));
    } else {
        assign_lists(lowering, &targets, &values, &Declare::new(hoist, node));
    }
    UNKNOWN
}

/// Pairs targets with values, or takes the one value apart.
fn assign_lists<'t>(lowering: &mut Lowering<'t>, targets: &[Node<'t>], values: &[Node<'t>], declare: &Declare<'t>) {
    let items: Vec<ExpressionId> = match values {
        [single] if targets.len() > 1 => {
            let value = lowering.lower(*single, Role::Read);
            // `v, ok := x.(T)`, `m[k]`, `<-c`: the first is the value itself.
            let with_ok = matches!(
                single.kind(),
                "type_assertion_expression" | "index_expression" | "unary_expression"
            );
            (0..targets.len() as u32)
                .map(|position| match (with_ok, position) {
                    (true, 0) => value,
                    (true, _) => UNKNOWN,
                    (false, _) => lowering.wrap(value, |value| Expression::Item(value, position)),
                })
                .collect()
        }
        _ => values.iter().map(|&value| lowering.lower(value, Role::Read)).collect(),
    };
    assign_values(lowering, targets, &items, declare);
}

fn assign_values<'t>(
    lowering: &mut Lowering<'t>,
    targets: &[Node<'t>],
    values: &[ExpressionId],
    declare: &Declare<'t>,
) {
    for (position, &target) in targets.iter().enumerate() {
        if lowering.text(target) != "_" {
            lowering.assign(target, values.get(position).copied().unwrap_or(UNKNOWN), declare);
        }
    }
}

/// `for key, value := range container`: of one name alone it is a channel's element that has methods worth following.
fn range<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let container = lowering
        .field(node, "right")
        .map_or(UNKNOWN, |container| lowering.lower(container, Role::Read));
    let element = lowering.wrap(container, Expression::Element);
    let targets = list(lowering, lowering.field(node, "left"));
    let values = if targets.len() > 1 {
        [UNKNOWN, element]
    } else {
        [element, UNKNOWN]
    };
    assign_values(lowering, &targets, &values, &Declare::new(hoist_of(node), node));
    UNKNOWN
}

fn send<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let channel = lowering
        .field(node, "channel")
        .map_or(UNKNOWN, |channel| lowering.lower(channel, Role::Read));
    let value = lowering
        .field(node, "value")
        .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
    if channel != UNKNOWN && value != UNKNOWN {
        let place = lowering.push_expression(
            Expression::Index {
                object: channel,
                key: None,
            },
            node.start_byte(),
        );
        lowering.flow(place, value, node);
    }
    UNKNOWN
}

/// Addresses and what they point to are the same to a reader; a received value is an element of its channel.
fn unary<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let operator = lowering
        .field(node, "operator")
        .map_or("", |operator| lowering.text(operator));
    if matches!(operator, "&" | "*") {
        return None;
    }
    let value = lowering
        .field(node, "operand")
        .map_or(UNKNOWN, |operand| lowering.lower(operand, Role::Read));
    Some(if operator == "<-" {
        lowering.wrap(value, Expression::Element)
    } else {
        UNKNOWN
    })
}

/// In each case of `switch x := y.(type)` the name has the case's type.
fn type_switch<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    lowering.in_scope(ScopeKind::Block, |lowering| {
        let alias = lowering.field(node, "alias").and_then(|alias| alias.named_child(0));
        let mut value = UNKNOWN;
        for child in children.named() {
            match child.node.kind() {
                "type_case" | "default_case" => {
                    lowering.in_scope(ScopeKind::Block, |lowering| {
                        type_case(lowering, child.node, alias, value)
                    });
                }
                "comment" => {}
                _ if Some(child.node) == alias.and_then(|alias| alias.parent()) => {}
                _ => value = lowering.lower(child.node, Role::Read),
            }
        }
    });
    UNKNOWN
}

fn type_case<'t>(lowering: &mut Lowering<'t>, case: Node<'t>, alias: Option<Node<'t>>, value: ExpressionId) {
    let children = lowering.children(case);
    let mut types = Vec::new();
    for child in children.named() {
        if child.node.kind() == "statement_list" {
            if let Some(alias) = alias {
                let name = lowering.name_of(alias);
                let binding = lowering.bind(lowering.scope, name, Bound::Local, 0);
                let at = alias.start_byte();
                let target = lowering.push_expression(Expression::Bound { binding, at: at as u32 }, at);
                match types.as_slice() {
                    &[type_] if type_ != UNKNOWN => lowering.flows.push(Flow::Typed { target, type_ }),
                    _ if value != UNKNOWN => lowering.flow(target, value, alias),
                    _ => {}
                }
            }
            lowering.walk_node(child.node);
        } else {
            types.push(lowering.lower_type(child.node));
        }
    }
}

fn is_predeclared_type(name: &str) -> bool {
    matches!(
        name,
        "any"
            | "bool"
            | "byte"
            | "comparable"
            | "complex64"
            | "complex128"
            | "float32"
            | "float64"
            | "int"
            | "int8"
            | "int16"
            | "int32"
            | "int64"
            | "rune"
            | "string"
            | "uint"
            | "uint8"
            | "uint16"
            | "uint32"
            | "uint64"
            | "uintptr"
    )
}

/// Whether `name` is followed by an upper-case letter or nothing after `prefix`, as `go test` asks.
fn is_test_name(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

fn flags_of(lowering: &Lowering<'_>, id: DefinitionId) -> Flags {
    let definition = &lowering.definitions[id.index()];
    let mut flags = Flags::default();
    if definition.visibility == Visibility::Public {
        flags.insert(Flags::EXPORTED);
    }
    if let Some((start, end)) = definition.doc_span
        && lowering.source[start as usize..end as usize].contains("Deprecated: ")
    {
        flags.insert(Flags::DEPRECATED);
    }
    let name: Name = definition.name;
    let name = lowering.names.get(name);
    if definition.kind == Kind::Function {
        let package = lowering.package.map_or("", |package| lowering.names.get(package));
        if name == "init" || (name == "main" && package == "main") {
            flags.insert(Flags::ENTRY_POINT);
        }
        let takes = |type_: &str| {
            let first = definition.parameters.first().and_then(|parameter| parameter.type_text);
            first.is_some_and(|text| lowering.names.get(text) == type_)
        };
        let is_test = (is_test_name(name, "Test") && takes("*testing.T"))
            || (is_test_name(name, "Benchmark") && takes("*testing.B"))
            || (is_test_name(name, "Fuzz") && takes("*testing.F"))
            || (is_test_name(name, "Example") && definition.parameters.is_empty() && in_test_file(lowering, package));
        if is_test {
            flags.insert(Flags::TEST);
        }
    }
    flags
}

fn in_test_file(lowering: &Lowering<'_>, package: &str) -> bool {
    package.ends_with("_test")
        || lowering
            .imports
            .iter()
            .any(|import| lowering.names.get(import.module) == "testing")
}
