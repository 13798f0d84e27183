//! What Go declares: fields and embedded types, parameters that share a type, results as lists, variables in groups.

use super::{assign_lists, flags_of, list, named};
use crate::engine::{Declare, Hoist, Lowering, NewDefinition, UNKNOWN};
use crate::facts::{
    BaseKind, Bound, DefinitionId, Expression, ExpressionId, Flags, Flow, Kind, Name, Parameter, Passing, Role,
    ScopeKind,
};
use tree_sitter::Node;

/// Name of the generic type that stands for a list of results.
const TUPLE: &str = "()";

/// What the table does not know of a definition.
pub(super) fn finish_definition<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let flags = flags_of(lowering, id);
    lowering.definitions[id.index()].flags.insert(flags);
    match node.kind() {
        "type_spec" => type_spec(lowering, id, node),
        "type_alias" => {
            prefix_signature(lowering, id, "type ");
            let name = lowering.definitions[id.index()].name;
            let outer = lowering.scopes[lowering.scope.index()].parent.unwrap_or(lowering.scope);
            if let Some(type_) = lowering.definitions[id.index()].result {
                let target = lowering.push_expression(Expression::Free { name, scope: outer }, node.start_byte());
                lowering.flow(target, type_, node);
            }
        }
        "method_elem" => lowering.definitions[id.index()].flags.insert(Flags::ABSTRACT),
        _ => {}
    }
}

fn type_spec<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let Some(type_) = lowering.field(node, "type") else {
        return;
    };
    let kind = match type_.kind() {
        "struct_type" => Kind::Struct,
        "interface_type" => Kind::Interface,
        // A type of its own that can have methods, whatever it is made of. Made of a named one, it has its fields.
        kind => {
            lowering.result_type(id, type_);
            let made_of = lowering.definitions[id.index()].result.unwrap_or(UNKNOWN);
            if matches!(kind, "type_identifier" | "qualified_type" | "generic_type") {
                lowering.definitions[id.index()].result = None;
                lowering.add_base(id, made_of, BaseKind::Embeds);
            }
            Kind::Class
        }
    };
    lowering.definitions[id.index()].kind = kind;
    prefix_signature(lowering, id, "type ");
    let word = match kind {
        Kind::Struct => " struct",
        Kind::Interface => " interface",
        _ => return,
    };
    let signature = format!(
        "{}{word}",
        lowering.names.get(lowering.definitions[id.index()].signature)
    );
    lowering.definitions[id.index()].signature = lowering.names.intern(&signature);
}

fn prefix_signature(lowering: &mut Lowering<'_>, id: DefinitionId, prefix: &str) {
    let signature = format!(
        "{prefix}{}",
        lowering.names.get(lowering.definitions[id.index()].signature)
    );
    lowering.definitions[id.index()].signature = lowering.normalised(&signature);
}

/// The fields of one line of a struct. A type without a name is embedded: a base, and a field called like it.
pub(super) fn fields<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(type_node) = lowering.field(node, "type") else {
        return UNKNOWN;
    };
    let owner = lowering.scopes[lowering.scope.index()].definition;
    let children = lowering.children(node);
    let names: Vec<Node<'t>> = children
        .named()
        .map(|child| child.node)
        .filter(|child| child.kind() == "field_identifier")
        .collect();
    let Some(owner) = owner.filter(|_| lowering.scopes[lowering.scope.index()].kind == ScopeKind::Type) else {
        lowering.lower_type(type_node);
        return UNKNOWN;
    };
    if names.is_empty() {
        let type_ = lowering.lower(type_node, Role::Inherit);
        lowering.add_base(owner, type_, BaseKind::Embeds);
        let name = type_name(type_node);
        field(lowering, node, name, type_, type_node);
        return UNKNOWN;
    }
    let type_ = lowering.lower_type(type_node);
    for name in names {
        field(lowering, node, name, type_, type_node);
    }
    UNKNOWN
}

fn field<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, name: Node<'t>, type_: ExpressionId, type_node: Node<'t>) {
    let new = NewDefinition {
        kind: Kind::Field,
        name: lowering.name_of(name),
        name_at: Lowering::position(name),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    let (text, signature) = (lowering.type_text(type_node), lowering.first_line(node));
    let flags = flags_of(lowering, id);
    let definition = &mut lowering.definitions[id.index()];
    definition.flags.insert(flags);
    definition.signature = signature;
    definition.result = Some(type_);
    definition.result_text = Some(text);
    lowering.bind_definition(lowering.scope, id);
}

/// The last name of a type: what an embedded field is called.
fn type_name(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "qualified_type" => node.child_by_field_name("name").unwrap_or(node),
        "generic_type" => node.child_by_field_name("type").map_or(node, type_name),
        "pointer_type" | "parenthesized_type" => node.named_child(0).map_or(node, type_name),
        _ => node,
    }
}

/// A type alone in an interface is embedded; a union constrains.
pub(super) fn embedded_interface<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    if node.parent()?.kind() != "interface_type" {
        return None;
    }
    let types = named(lowering, node);
    let owner = lowering.scopes[lowering.scope.index()].definition;
    match (types.as_slice(), owner) {
        (&[type_node], Some(owner)) if type_node.kind() != "negated_type" => {
            let type_ = lowering.lower(type_node, Role::Inherit);
            lowering.add_base(owner, type_, BaseKind::Embeds);
        }
        _ => {
            for type_ in types {
                lowering.lower_type(type_);
            }
        }
    }
    Some(UNKNOWN)
}

/// A struct or interface without a name: its types are mentioned, its fields are no one's.
pub(super) fn anonymous_type<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    lowering.in_scope(ScopeKind::Block, |lowering| {
        for child in children.named() {
            anonymous_member(lowering, child.node);
        }
    });
    UNKNOWN
}

fn anonymous_member<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    match node.kind() {
        "field_declaration_list" => {
            for member in named(lowering, node) {
                anonymous_member(lowering, member);
            }
        }
        "field_declaration" => {
            if let Some(type_) = lowering.field(node, "type") {
                lowering.lower_type(type_);
            }
        }
        "method_elem" => {
            for field in ["parameters", "result"] {
                if let Some(list) = lowering.field(node, field) {
                    lowering.lower_type(list);
                }
            }
        }
        "type_elem" => {
            for type_ in named(lowering, node) {
                lowering.lower_type(type_);
            }
        }
        _ => {}
    }
}

/// A parameter list named as a type: the receiver of a method, or several results.
pub(super) fn list_as_type<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
    if role != Role::Type {
        return None;
    }
    let is_receiver = node
        .parent()
        .is_some_and(|parent| lowering.field(parent, "receiver") == Some(node));
    if is_receiver {
        return Some(receiver(lowering, node));
    }
    let mut types = Vec::new();
    for declaration in named(lowering, node) {
        let Some(type_node) = lowering.field(declaration, "type") else {
            continue;
        };
        let type_ = lowering.lower_type(type_node);
        let children = lowering.children(declaration);
        let names: Vec<Node<'t>> = children
            .named()
            .map(|child| child.node)
            .filter(|child| *child != type_node && child.kind() == "identifier")
            .collect();
        for &name in &names {
            named_result(lowering, name, type_);
        }
        types.extend(std::iter::repeat_n(type_, names.len().max(1)));
    }
    if let [single] = types.as_slice() {
        return Some(*single);
    }
    let name = lowering.names.intern(TUPLE);
    let base = lowering.push_expression(
        Expression::Free {
            name,
            scope: lowering.scope,
        },
        node.start_byte(),
    );
    let arguments = lowering.push_list(&types);
    Some(lowering.push_expression(Expression::Generic { base, arguments }, node.start_byte()))
}

/// `(err error)` as result declares a variable of the body.
fn named_result<'t>(lowering: &mut Lowering<'t>, name: Node<'t>, type_: ExpressionId) {
    if lowering.scopes[lowering.scope.index()].kind == ScopeKind::Function && lowering.text(name) != "_" {
        let text = lowering.name_of(name);
        let binding = lowering.bind(lowering.scope, text, Bound::Local, 0);
        typed(lowering, binding, name, type_);
    }
}

fn typed<'t>(lowering: &mut Lowering<'t>, binding: crate::facts::BindingId, at: Node<'t>, type_: ExpressionId) {
    let start = at.start_byte();
    let target = lowering.push_expression(
        Expression::Bound {
            binding,
            at: start as u32,
        },
        start,
    );
    if type_ != UNKNOWN {
        lowering.flows.push(Flow::Typed { target, type_ });
    }
}

fn receiver<'t>(lowering: &mut Lowering<'t>, list: Node<'t>) -> ExpressionId {
    let Some(declaration) = named(lowering, list).first().copied() else {
        return UNKNOWN;
    };
    let Some(type_node) = lowering.field(declaration, "type") else {
        return UNKNOWN;
    };
    bind_receiver_parameters(lowering, type_node);
    if let (Some(name), Some(method)) = (lowering.field(declaration, "name"), lowering.definition) {
        let name = lowering.name_of(name);
        lowering.bind(lowering.scope, name, Bound::Receiver(method), 0);
    }
    lowering.lower_type(type_node)
}

/// `func (s *Stack[T])` declares `T` for the method.
fn bind_receiver_parameters<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    match node.kind() {
        "pointer_type" | "parenthesized_type" => {
            if let Some(inner) = node.named_child(0) {
                bind_receiver_parameters(lowering, inner);
            }
        }
        "generic_type" => {
            let Some(arguments) = lowering.field(node, "type_arguments") else {
                return;
            };
            for argument in named(lowering, arguments) {
                let name = lowering.name_of(argument);
                lowering.bind(lowering.scope, name, Bound::TypeParameter, 0);
            }
        }
        _ => {}
    }
}

/// `a, b T`: several parameters of one type.
pub(super) fn parameters<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let (Some(type_node), Some(function)) = (lowering.field(node, "type"), lowering.definition) else {
        return UNKNOWN;
    };
    let type_ = lowering.lower_type(type_node);
    let type_text = lowering.type_text(type_node);
    let passing = if node.kind() == "variadic_parameter_declaration" {
        Passing::Rest
    } else {
        Passing::Normal
    };
    let children = lowering.children(node);
    let mut names: Vec<Option<Node<'t>>> = children
        .named()
        .map(|child| child.node)
        .filter(|child| *child != type_node && child.kind() == "identifier")
        .map(Some)
        .collect();
    if names.is_empty() {
        names.push(None);
    }
    for name_node in names {
        let name: Name = match name_node {
            Some(name) => lowering.name_of(name),
            None => lowering.names.intern(""),
        };
        let binding = name_node.map(|name_node| {
            let binding = lowering.bind(lowering.scope, name, Bound::Parameter(function), 0);
            typed(lowering, binding, name_node, type_);
            binding
        });
        let parameter = Parameter {
            name,
            binding,
            type_: Some(type_),
            type_text: Some(type_text),
            default: None,
            passing,
        };
        lowering.definitions[function.index()].parameters.push(parameter);
    }
    UNKNOWN
}

/// One line of `var` or `const`.
pub(super) fn variables<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let type_node = lowering.field(node, "type");
    let value = lowering.field(node, "value");
    let children = lowering.children(node);
    let names: Vec<Node<'t>> = children
        .named()
        .map(|child| child.node)
        .filter(|child| Some(*child) != type_node && Some(*child) != value && child.kind() == "identifier")
        .collect();
    let mut declare = Declare::new(Hoist::Block, node);
    declare.constant = node.kind() == "const_spec";
    if let Some(type_node) = type_node {
        declare.type_ = Some((lowering.lower_type(type_node), lowering.type_text(type_node)));
    }
    let values = list(lowering, value);
    let before = lowering.definitions.len();
    assign_lists(lowering, &names, &values, &declare);
    let keyword = if declare.constant { "const " } else { "var " };
    for at in before..lowering.definitions.len() {
        let id = DefinitionId(at as u32);
        if matches!(lowering.definitions[at].kind, Kind::Variable | Kind::Constant) {
            let flags = flags_of(lowering, id);
            lowering.definitions[at].flags.insert(flags);
            prefix_signature(lowering, id, keyword);
        }
    }
    UNKNOWN
}
