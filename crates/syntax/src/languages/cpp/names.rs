//! Names: paths, templates, members, `using`, and calls that say a type.

use super::super::c::named;
use crate::engine::{Lowering, NewDefinition, UNKNOWN};
use crate::facts::{Bound, Expression, ExpressionId, Import, ImportForm, Kind, Role, ScopeId};
use tree_sitter::Node;

/// The node of the last name of a path, without template arguments.
pub(super) fn last_name(node: Node<'_>) -> Node<'_> {
    let mut at = node;
    for _ in 0..32 {
        let inner = match at.kind() {
            "qualified_identifier" => last_part(at),
            "template_type" | "template_function" | "template_method" => at.child_by_field_name("name"),
            "dependent_name" | "dependent_type" => at.named_child(0),
            _ => None,
        };
        match inner {
            Some(inner) => at = inner,
            None => break,
        }
    }
    at
}

/// The `name` of a path; `template` before it is a word of its own there.
fn last_part(node: Node<'_>) -> Option<Node<'_>> {
    (0..node.named_child_count() as u32)
        .rev()
        .find_map(|at| node.named_child(at))
}

/// The function that `::name` calls, as opposed to a bare name, which may mean a member of the type around.
fn outermost<'t>(lowering: &mut Lowering<'t>, value: ExpressionId, role: Role, name: Node<'t>) -> ExpressionId {
    let reference = lowering.references.last().map(|reference| reference.expression);
    if role != Role::Call || value == UNKNOWN || reference != Some(value) {
        return value;
    }
    let apart = lowering.push_expression(Expression::Wrapped(value), name.start_byte());
    if let Some(reference) = lowering.references.last_mut() {
        reference.expression = apart;
    }
    apart
}

/// `scope::name`: a member of what the scope names.
pub(super) fn qualified<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let Some(name) = last_part(node) else { return UNKNOWN };
    let Some(scope) = lowering.field(node, "scope") else {
        // `::name` is nothing of the types and namespaces around.
        let around = lowering.scope;
        if matches!(name.kind(), "identifier" | "type_identifier") {
            lowering.scope = ScopeId(0);
        }
        let value = lowering.lower(name, role);
        lowering.scope = around;
        return outermost(lowering, value, role, name);
    };
    let arguments = lowering.call_arguments;
    let object = lowering.lower_type(scope);
    lowering.call_arguments = arguments;
    member_path(lowering, object, name, role)
}

/// The rest of a path, below `object`.
fn member_path<'t>(lowering: &mut Lowering<'t>, object: ExpressionId, name: Node<'t>, role: Role) -> ExpressionId {
    match name.kind() {
        "qualified_identifier" => {
            let (Some(scope), Some(last)) = (lowering.field(name, "scope"), last_part(name)) else {
                return UNKNOWN;
            };
            let scope_name = last_name(scope);
            let text = lowering.name_of(scope_name);
            let mut inner = lowering.member_expression(object, text);
            if scope.kind() == "template_type" {
                let arguments = template_arguments(lowering, scope);
                let arguments = lowering.push_list(&arguments);
                inner = lowering.push_expression(Expression::Generic { base: inner, arguments }, scope.start_byte());
            }
            member_path(lowering, inner, last, role)
        }
        "template_type" | "template_function" | "template_method" | "dependent_name" | "dependent_type" => {
            let inner = last_name(name);
            let text = lowering.name_of(inner);
            let value = lowering.member_expression(object, text);
            lowering.reference(value, role, inner);
            let arguments = template_arguments(lowering, name);
            if matches!(role, Role::Type | Role::Inherit | Role::Instantiate) && !arguments.is_empty() {
                let arguments = lowering.push_list(&arguments);
                return lowering.push_expression(Expression::Generic { base: value, arguments }, name.start_byte());
            }
            value
        }
        _ => {
            let text = lowering.name_of(name);
            let value = lowering.member_expression(object, text);
            lowering.reference(value, role, name);
            value
        }
    }
}

/// The types that a template is applied to.
fn template_arguments<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Vec<ExpressionId> {
    let holder = if node.kind().starts_with("dependent") {
        node.named_child(0).unwrap_or(node)
    } else {
        node
    };
    let Some(list) = lowering.field(holder, "arguments") else {
        return Vec::new();
    };
    let arguments = lowering.call_arguments;
    let types = named(lowering, list)
        .into_iter()
        .map(|argument| lowering.lower_type(argument))
        .collect();
    lowering.call_arguments = arguments;
    types
}

/// The first name of a path. `std` is no one's but the library's.
pub(super) fn path_start<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let text = lowering.text(node);
    if text == "std" {
        let name = lowering.names.intern(text);
        return lowering.push_expression(Expression::Module(name), node.start_byte());
    }
    let value = lowering.name_expression(node);
    if text.starts_with(char::is_uppercase) {
        lowering.reference(value, Role::Type, node);
    }
    value
}

/// Splits `a::B::name` into the value of `a::B` and the node of `name`.
pub(super) fn split<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> (Option<ExpressionId>, Node<'t>) {
    let mut object: Option<ExpressionId> = None;
    let mut at = node;
    while at.kind() == "qualified_identifier" {
        if let Some(scope) = lowering.field(at, "scope") {
            object = Some(match object {
                None => lowering.lower_type(scope),
                Some(outer) => {
                    let name = last_name(scope);
                    let text = lowering.name_of(name);
                    lowering.member_expression(outer, text)
                }
            });
        }
        let Some(name) = last_part(at) else { break };
        at = name;
    }
    (object, last_name(at))
}

/// `name<T>` called or named: the function is what counts, the types are mentioned.
pub(super) fn template_name<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let Some(name) = lowering.field(node, "name") else {
        return UNKNOWN;
    };
    let value = lowering.lower(name, role);
    template_arguments(lowering, node);
    value
}

/// `object.name`, where the name may carry template arguments or a path.
pub(super) fn member<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let (Some(object), Some(name)) = (lowering.field(node, "argument"), lowering.field(node, "field")) else {
        return UNKNOWN;
    };
    let arguments = lowering.call_arguments;
    let object = lowering.lower(object, Role::Read);
    lowering.call_arguments = arguments;
    let last = last_name(name);
    let text = lowering.name_of(last);
    let value = lowering.member_expression(object, text);
    lowering.reference(value, role, last);
    if last != name {
        template_arguments(lowering, name);
    }
    value
}

/// Casts and makers are calls of templates that say the type of what they give.
pub(super) fn known_call<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let callee = lowering.field(node, "function")?;
    let template = match callee.kind() {
        "template_function" => callee,
        "qualified_identifier" => last_part(callee).filter(|last| last.kind() == "template_function")?,
        _ => return None,
    };
    let name = lowering.field(template, "name").map(|name| lowering.text(name))?;
    let makes = matches!(
        name,
        "make_unique" | "make_shared" | "make_optional" | "allocate_shared"
    );
    if !makes
        && !matches!(
            name,
            "static_cast"
                | "dynamic_cast"
                | "const_cast"
                | "reinterpret_cast"
                | "static_pointer_cast"
                | "dynamic_pointer_cast"
                | "any_cast"
                | "get_if"
        )
    {
        return None;
    }
    let list = lowering.field(template, "arguments")?;
    let first = named(lowering, list).first().copied()?;
    let arguments = lowering.field(node, "arguments");
    let (listed, count) = lowering.listed_arguments(arguments);
    let type_ = lowering.lower_type(first);
    if makes && type_ != UNKNOWN {
        let at = lowering.field(first, "type").map_or(first, last_name);
        lowering.call_arguments = count;
        lowering.reference(type_, Role::Instantiate, at);
        lowering.call_arguments = 0;
    }
    let arguments = lowering.lower_arguments(arguments, listed.as_ref());
    if makes {
        return Some(lowering.push_expression(Expression::New { type_, arguments }, node.start_byte()));
    }
    Some(lowering.wrap(type_, Expression::Typed))
}

pub(super) fn new_expression<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(type_node) = lowering.field(node, "type") else {
        return UNKNOWN;
    };
    let arguments = lowering.field(node, "arguments");
    let (listed, count) = match arguments {
        Some(list) if list.kind() == "argument_list" => lowering.listed_arguments(arguments),
        _ => (None, 0),
    };
    lowering.call_arguments = count;
    let type_ = lowering.lower(type_node, Role::Instantiate);
    lowering.call_arguments = 0;
    if let Some(placement) = lowering.field(node, "placement") {
        lowering.walk_node(placement);
    }
    let arguments = lowering.lower_arguments(arguments, listed.as_ref());
    if type_ == UNKNOWN {
        return UNKNOWN;
    }
    lowering.push_expression(Expression::New { type_, arguments }, node.start_byte())
}

/// `using a::b;` and `using namespace a;`.
pub(super) fn using<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    let whole = children.iter().any(|child| child.node.kind() == "namespace");
    let Some(path) = children.named().next_back().map(|child| child.node) else {
        return UNKNOWN;
    };
    let text: String = lowering
        .text(path)
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    let text = text.trim_start_matches("::");
    if whole {
        import(lowering, path, text, None, None, ImportForm::Wildcard);
    } else if let Some((module, member)) = text.rsplit_once("::") {
        import(lowering, path, module, Some(member), Some(member), ImportForm::Member);
    }
    UNKNOWN
}

/// `namespace short = a::b;`.
pub(super) fn namespace_alias<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(name) = lowering.field(node, "name") else {
        return UNKNOWN;
    };
    let target = named(lowering, node).into_iter().rfind(|child| *child != name);
    let Some(target) = target else { return UNKNOWN };
    let (alias, module) = (lowering.text(name), lowering.text(target));
    import(lowering, target, module, None, Some(alias), ImportForm::Module);
    UNKNOWN
}

fn import<'t>(
    lowering: &mut Lowering<'t>,
    at: Node<'t>,
    module: &str,
    member: Option<&str>,
    alias: Option<&str>,
    form: ImportForm,
) {
    let member = member.map(|member| lowering.names.intern(member));
    let alias = alias.map(|alias| lowering.names.intern(alias));
    let import = Import {
        module: lowering.names.intern(module),
        member,
        alias,
        form,
        // Distinct from includes, which have a path.
        level: 2,
        reexported: true,
        type_only: false,
        at: Lowering::position(last_name(at)),
        within: lowering.definition,
    };
    let id = lowering.push_import(import);
    if let Some(alias) = alias {
        lowering.bind_import(lowering.scope, alias, Bound::Import(id), at);
    }
}

/// `using Name = Type;`.
pub(super) fn alias<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let (Some(name), Some(type_node)) = (lowering.field(node, "name"), lowering.field(node, "type")) else {
        return UNKNOWN;
    };
    let new = NewDefinition {
        kind: Kind::TypeAlias,
        name: lowering.name_of(name),
        name_at: Lowering::position(name),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.definitions[id.index()].signature = lowering.first_line(node);
    lowering.bind_definition(lowering.scope, id);
    lowering.result_type(id, type_node);
    let type_ = lowering.definitions[id.index()].result.unwrap_or(UNKNOWN);
    if type_ != UNKNOWN {
        let target = lowering.name_expression(name);
        lowering.flow(target, type_, name);
    }
    UNKNOWN
}
