//! What Kotlin declares: properties and locals, primary and secondary constructors, companions, enum entries, object
//! expressions, and what modifiers and annotations say.

use super::{enclosing_class, is_type, part, parts};
use crate::engine::{Declare, Hoist, Lowering, NewDefinition, UNKNOWN};
use crate::facts::{
    BaseKind, Bound, DefinitionId, Expression, ExpressionId, Flags, Flow, Kind, List, Parameter, Passing, Role,
    ScopeKind, Visibility,
};
use tree_sitter::Node;

fn in_type(lowering: &Lowering<'_>) -> bool {
    lowering.scopes[lowering.scope.index()].kind == ScopeKind::Type
}

/// Visibility and flags from the `modifiers` of a node; annotations wait for the definition.
fn modifiers<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> (Flags, Visibility) {
    let (mut flags, mut visibility) = (Flags::default(), Visibility::Public);
    let Some(list) = part(lowering, node, "modifiers") else {
        return (flags, visibility);
    };
    for modifier in parts(lowering, list) {
        match lowering.text(modifier) {
            "private" => visibility = Visibility::Private,
            "protected" => visibility = Visibility::Protected,
            "internal" => visibility = Visibility::Internal,
            "abstract" => flags.insert(Flags::ABSTRACT),
            "override" => flags.insert(Flags::OVERRIDE),
            "suspend" => flags.insert(Flags::ASYNC),
            "final" => flags.insert(Flags::FINAL),
            _ => {}
        }
    }
    (flags, visibility)
}

/// Gives `value` to a variable declaration or to the parts of a destructuring one.
pub(super) fn declare<'t>(lowering: &mut Lowering<'t>, target: Node<'t>, value: ExpressionId, hoist: Hoist) {
    if target.kind() == "multi_variable_declaration" {
        for (position, inner) in parts(lowering, target).into_iter().enumerate() {
            let item = lowering.wrap(value, |value| Expression::Item(value, position as u32));
            declare(lowering, inner, item, hoist);
        }
        return;
    }
    let Some(name) = part(lowering, target, "identifier") else {
        return;
    };
    let type_node = parts(lowering, target).into_iter().find(|part| is_type(*part));
    let type_ = type_node.map(|type_| (lowering.lower_type(type_), lowering.type_text(type_)));
    let mut declared = Declare::new(hoist, name);
    declared.type_ = type_.filter(|(type_, _)| *type_ != UNKNOWN);
    lowering.assign(name, value, &declared);
}

/// `val x: T = …`: a property of a class or of the file, or a local.
pub(super) fn property<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let listed = parts(lowering, node);
    let target = listed
        .iter()
        .copied()
        .find(|part| part.kind().ends_with("variable_declaration"));
    let Some(target) = target else { return UNKNOWN };
    let value_node = listed.iter().copied().find(|part| {
        part.start_byte() > target.start_byte() && !matches!(part.kind(), "getter" | "setter" | "type_constraints")
    });
    let local = lowering.enclosing_function().is_some() && !in_type(lowering);
    if local || target.kind() == "multi_variable_declaration" {
        let value = value_node.map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
        declare(lowering, target, value, Hoist::Block);
        return UNKNOWN;
    }
    let Some(name_node) = part(lowering, target, "identifier") else {
        return UNKNOWN;
    };
    let (flags, visibility) = modifiers(lowering, node);
    let name = lowering.name_of(name_node);
    let kind = if in_type(lowering) {
        Kind::Property
    } else {
        Kind::Variable
    };
    let new = NewDefinition {
        kind,
        name,
        name_at: Lowering::position(name_node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    let signature = lowering.first_line(node);
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    definition.flags.insert(flags);
    definition.visibility = visibility;
    if let Some(type_) = parts(lowering, target).into_iter().find(|part| is_type(*part)) {
        lowering.result_type(id, type_);
    }
    lowering.bind_definition(lowering.scope, id);
    let value = value_node.map_or(UNKNOWN, |value| match value.kind() {
        "property_delegate" => {
            lowering.walk_node(value);
            UNKNOWN
        }
        _ => lowering.lower(value, Role::Read),
    });
    if value != UNKNOWN {
        let at = name_node.start_byte();
        let place = if in_type(lowering) {
            let this = lowering.push_expression(Expression::This(lowering.scope), at);
            lowering.member_expression(this, name)
        } else {
            lowering.name_expression(name_node)
        };
        lowering.flow(place, value, name_node);
    }
    for accessor in listed
        .into_iter()
        .filter(|part| matches!(part.kind(), "getter" | "setter"))
    {
        lowering.walk_node(accessor);
    }
    UNKNOWN
}

/// `companion object { … }`: its members are reached through the class, as static ones.
pub(super) fn companion<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let before = lowering.definitions.len();
    let owner = lowering.definition;
    if let Some(body) = part(lowering, node, "class_body") {
        lowering.walk_node(body);
    }
    for definition in lowering.definitions[before..]
        .iter_mut()
        .filter(|definition| definition.parent == owner)
    {
        definition.flags.insert(Flags::STATIC);
    }
    UNKNOWN
}

/// `object : Base() { … }`: an instance of a class without a name.
pub(super) fn object_literal<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let name = lowering.names.intern("<anonymous>");
    let doc = lowering.pending_doc.take();
    let new = NewDefinition {
        kind: Kind::Class,
        name,
        name_at: Lowering::position(node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.pending_doc = doc;
    let body = part(lowering, node, "class_body");
    let signature = lowering.signature(node, body);
    lowering.definitions[id.index()].signature = signature;
    lowering.definitions[id.index()].visibility = Visibility::Private;
    let invocations = bases(lowering, id, node);
    let scope = lowering.push_scope(ScopeKind::Type, Some(id));
    lowering.definitions[id.index()].body = Some(scope);
    let saved = lowering.enter(id, scope);
    call_bases(lowering, &invocations);
    if let Some(body) = body {
        lowering.walk_node(body);
    }
    lowering.leave(saved);
    let type_ = lowering.push_expression(Expression::Definition(id), node.start_byte());
    let arguments = lowering.push_list(&[]);
    lowering.push_expression(Expression::New { type_, arguments }, node.start_byte())
}

/// `constructor(…) : this(…) { … }`.
pub(super) fn secondary_constructor<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(class) = enclosing_class(lowering) else {
        return UNKNOWN;
    };
    let name = lowering.definitions[class.index()].name;
    let new = NewDefinition {
        kind: Kind::Constructor,
        name,
        name_at: Lowering::position(node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    let body = part(lowering, node, "block");
    let signature = lowering.signature(node, body);
    lowering.definitions[id.index()].signature = signature;
    let scope = lowering.push_scope(ScopeKind::Function, Some(id));
    lowering.definitions[id.index()].body = Some(scope);
    let saved = lowering.enter(id, scope);
    if let Some(parameters) = part(lowering, node, "function_value_parameters") {
        lowering.parameters(parameters, id);
    }
    if let Some(delegation) = part(lowering, node, "constructor_delegation_call") {
        let at = delegation.start_byte();
        let to_base = lowering.text(delegation).starts_with("super");
        let scope = lowering.scope;
        let callee = lowering.push_expression(
            if to_base {
                Expression::Super(scope)
            } else {
                Expression::This(scope)
            },
            at,
        );
        let arguments = part(lowering, delegation, "value_arguments");
        let (listed, count) = lowering.listed_arguments(arguments);
        lowering.call_arguments = count;
        lowering.reference(callee, Role::Call, delegation);
        lowering.call_arguments = 0;
        let arguments = lowering.lower_arguments(arguments, listed.as_ref());
        lowering.push_expression(Expression::Call { callee, arguments }, at);
    }
    if let Some(body) = body {
        lowering.walk_node(body);
    }
    lowering.leave(saved);
    UNKNOWN
}

/// `NAME(arguments) { … }`.
pub(super) fn enum_entry<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(name) = part(lowering, node, "identifier") else {
        return UNKNOWN;
    };
    let new = NewDefinition {
        kind: Kind::EnumMember,
        name: lowering.name_of(name),
        name_at: Lowering::position(name),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    let signature = lowering.first_line(node);
    lowering.definitions[id.index()].signature = signature;
    lowering.definitions[id.index()].flags.insert(Flags::STATIC);
    lowering.bind_definition(lowering.scope, id);
    if let Some(arguments) = part(lowering, node, "value_arguments") {
        let this = lowering.push_expression(Expression::This(lowering.scope), name.start_byte());
        (_, lowering.call_arguments) = lowering.listed_arguments(Some(arguments));
        lowering.reference(this, Role::Call, name);
        lowering.call_arguments = 0;
    }
    for child in parts(lowering, node).into_iter().filter(|child| *child != name) {
        lowering.walk_node(child);
    }
    UNKNOWN
}

/// `: Base(…)` runs a constructor of the base. The scope is that of the subclass.
fn call_bases<'t>(lowering: &mut Lowering<'t>, invocations: &[Invocation<'t>]) {
    for &Invocation { node, arguments, count } in invocations {
        let callee = lowering.push_expression(Expression::Super(lowering.scope), node.start_byte());
        lowering.call_arguments = count;
        lowering.reference(callee, Role::Call, node);
        lowering.call_arguments = 0;
        lowering.push_expression(Expression::Call { callee, arguments }, node.start_byte());
    }
}

/// A base whose constructor is run.
struct Invocation<'t> {
    node: Node<'t>,
    arguments: List,
    count: u8,
}

/// `: Base(…), Named, Other by x`. Gives those that are invoked.
fn bases<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) -> Vec<Invocation<'t>> {
    let mut invocations = Vec::new();
    let Some(list) = part(lowering, node, "delegation_specifiers") else {
        return invocations;
    };
    for specifier in parts(lowering, list) {
        for inner in parts(lowering, specifier) {
            match inner.kind() {
                "constructor_invocation" => {
                    let listed = parts(lowering, inner);
                    if let Some(&type_node) = listed.first() {
                        let type_ = lowering.lower(type_node, Role::Inherit);
                        lowering.add_base(id, type_, BaseKind::Extends);
                    }
                    let arguments = listed.into_iter().find(|part| part.kind() == "value_arguments");
                    let (children, count) = lowering.listed_arguments(arguments);
                    let arguments = lowering.lower_arguments(arguments, children.as_ref());
                    invocations.push(Invocation {
                        node: inner,
                        arguments,
                        count,
                    });
                }
                "explicit_delegation" => {
                    let listed = parts(lowering, inner);
                    if let Some(&type_node) = listed.first() {
                        let type_ = lowering.lower(type_node, Role::Inherit);
                        lowering.add_base(id, type_, BaseKind::Implements);
                    }
                }
                _ if is_type(inner) => {
                    let type_ = lowering.lower(inner, Role::Inherit);
                    lowering.add_base(id, type_, BaseKind::Implements);
                }
                _ => {}
            }
        }
    }
    invocations
}

/// What keywords, modifiers, annotations and the place say of a definition.
pub(super) fn finish_definition<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    if lowering.definitions[id.index()].kind == Kind::Lambda {
        return implicit_parameter(lowering, id, node);
    }
    let (flags, visibility) = modifiers(lowering, node);
    let test = ["Test", "ParameterizedTest"]
        .into_iter()
        .any(|name| decorated(lowering, id, name));
    let deprecated = decorated(lowering, id, "Deprecated");
    let definition = &mut lowering.definitions[id.index()];
    definition.flags.insert(flags);
    definition.visibility = visibility;
    if test {
        definition.flags.insert(Flags::TEST);
    }
    if deprecated {
        definition.flags.insert(Flags::DEPRECATED);
    }
    if deprecated && is_hidden(lowering, id) {
        lowering.definitions[id.index()].flags.insert(Flags::HIDDEN);
    }
    match node.kind() {
        "class_declaration" | "object_declaration" => class(lowering, id, node),
        "function_declaration" => function(lowering, id, node),
        _ => {}
    }
}

/// A lambda that names no parameter and says `it` has one.
fn implicit_parameter<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let says_it = |text: &str| text.split(|c| !is_part(c)).any(|word| word == "it");
    if node.kind() != "lambda_literal"
        || !lowering.definitions[id.index()].parameters.is_empty()
        || !says_it(lowering.text(node))
    {
        return;
    }
    let name = lowering.names.intern("it");
    let binding = lowering.bind(lowering.scope, name, Bound::Parameter(id), 0);
    lowering.definitions[id.index()]
        .parameters
        .push(Parameter::untyped(name, Some(binding), Passing::Normal));
}

fn decorated(lowering: &Lowering<'_>, id: DefinitionId, wanted: &str) -> bool {
    lowering.definitions[id.index()].decorators.iter().any(|&decorator| {
        let mut at = decorator;
        loop {
            match lowering.expression(at) {
                Expression::Call { callee, .. } => at = callee,
                Expression::Free { name, .. } | Expression::Member { name, .. } => {
                    return lowering.names.get(name) == wanted;
                }
                _ => return false,
            }
        }
    })
}

/// `@Deprecated(…, level = DeprecationLevel.HIDDEN)`.
fn is_hidden(lowering: &Lowering<'_>, id: DefinitionId) -> bool {
    let says_so = |argument: ExpressionId| {
        let value = match lowering.expression(argument) {
            Expression::Argument { value, .. } => value,
            _ => argument,
        };
        match lowering.expression(value) {
            Expression::Free { name, .. } | Expression::Member { name, .. } => lowering.names.get(name) == "HIDDEN",
            _ => false,
        }
    };
    let mut decorators = lowering.definitions[id.index()].decorators.iter();
    decorators.any(|&decorator| match lowering.expression(decorator) {
        Expression::Call { arguments, .. } => {
            let (start, end) = (arguments.start as usize, (arguments.start + arguments.len) as usize);
            let mut given = lowering.lists.get(start..end).unwrap_or_default().iter();
            given.any(|&argument| says_so(ExpressionId(argument)))
        }
        _ => false,
    })
}

fn class<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let keyword = lowering
        .children(node)
        .iter()
        .map(|child| child.node.kind())
        .find(|kind| *kind == "interface");
    let is_enum = part(lowering, node, "enum_class_body").is_some();
    let definition = &mut lowering.definitions[id.index()];
    if keyword.is_some() {
        definition.kind = Kind::Interface;
        definition.flags.insert(Flags::ABSTRACT);
    } else if is_enum {
        definition.kind = Kind::Enum;
    }
    let invocations = bases(lowering, id, node);
    call_bases(lowering, &invocations);
    let Some(constructor) = part(lowering, node, "primary_constructor") else {
        return;
    };
    let Some(list) = part(lowering, constructor, "class_parameters") else {
        return;
    };
    let name = lowering.definitions[id.index()].name;
    let new = NewDefinition {
        kind: Kind::Constructor,
        name,
        name_at: Lowering::position(constructor),
        span: Lowering::span(constructor),
    };
    let made = lowering.new_definition(new);
    let signature = lowering.first_line(constructor);
    lowering.definitions[made.index()].signature = signature;
    let class_scope = lowering.scope;
    let scope = lowering.push_scope(ScopeKind::Function, Some(made));
    lowering.definitions[made.index()].body = Some(scope);
    for parameter in parts(lowering, list) {
        let Some(name_node) = part(lowering, parameter, "identifier") else {
            continue;
        };
        let listed = parts(lowering, parameter);
        let type_ = listed.iter().copied().find(|part| is_type(*part));
        let default = listed
            .last()
            .copied()
            .filter(|last| Some(*last) != type_ && *last != name_node && !is_type(*last));
        let saved = lowering.enter(made, scope);
        lowering.parameter(name_node, parameter, type_, default, Passing::Normal, made);
        let value = lowering.name_expression(name_node);
        lowering.leave(saved);
        let is_property = lowering
            .children(parameter)
            .iter()
            .any(|child| matches!(child.node.kind(), "val" | "var"));
        if is_property {
            constructor_property(lowering, parameter, name_node, type_, value);
        } else {
            // Initialisers of the class see the parameter too.
            let name = lowering.name_of(name_node);
            if let Some(binding) = lowering.binding_in(scope, name) {
                let to = lowering.bindings[binding.index()].to;
                let bound = lowering.bind(class_scope, name, Bound::Local, 0);
                let at = name_node.start_byte();
                let target = lowering.push_expression(
                    Expression::Bound {
                        binding: bound,
                        at: at as u32,
                    },
                    at,
                );
                if matches!(to, Bound::Parameter(_)) {
                    lowering.flow(target, value, name_node);
                }
                let declared = lowering.definitions[made.index()].parameters.last();
                if let Some(type_) = declared.and_then(|parameter| parameter.type_) {
                    lowering.flows.push(Flow::Typed { target, type_ });
                }
            }
        }
    }
}

fn constructor_property<'t>(
    lowering: &mut Lowering<'t>,
    parameter: Node<'t>,
    name_node: Node<'t>,
    type_: Option<Node<'t>>,
    value: ExpressionId,
) {
    let (_, visibility) = modifiers(lowering, parameter);
    let name = lowering.name_of(name_node);
    let new = NewDefinition {
        kind: Kind::Property,
        name,
        name_at: Lowering::position(name_node),
        span: Lowering::span(parameter),
    };
    let id = lowering.new_definition(new);
    let signature = lowering.first_line(parameter);
    lowering.definitions[id.index()].signature = signature;
    lowering.definitions[id.index()].visibility = visibility;
    if let Some(type_) = type_ {
        lowering.result_type(id, type_);
    }
    lowering.bind_definition(lowering.scope, id);
    let this = lowering.push_expression(Expression::This(lowering.scope), parameter.start_byte());
    let place = lowering.member_expression(this, name);
    lowering.flow(place, value, parameter);
}

/// A parameter that takes all arguments that are left has its modifier beside it.
fn collect_rest<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let Some(list) = part(lowering, node, "function_value_parameters") else {
        return;
    };
    let (mut number, mut is_rest) = (0, false);
    for part in parts(lowering, list) {
        match part.kind() {
            "parameter_modifiers" => is_rest = lowering.text(part).split_whitespace().any(|word| word == "vararg"),
            "parameter" => {
                if let Some(parameter) = lowering.definitions[id.index()].parameters.get_mut(number)
                    && std::mem::take(&mut is_rest)
                {
                    parameter.passing = Passing::Rest;
                }
                number += 1;
            }
            _ => {}
        }
    }
}

/// The receiver type of an extension stands before the name, the result type after the parameters.
fn function<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let Some(name) = lowering.field(node, "name") else {
        return;
    };
    let has_body = part(lowering, node, "function_body").is_some();
    let types: Vec<Node<'t>> = parts(lowering, node)
        .into_iter()
        .filter(|part| is_type(*part))
        .collect();
    for type_ in types {
        if type_.start_byte() < name.start_byte() {
            let owner = lowering.lower_type(type_);
            let definition = &mut lowering.definitions[id.index()];
            definition.flags.insert(Flags::EXTENSION);
            if owner != UNKNOWN {
                definition.owner = Some(owner);
            }
        } else {
            lowering.result_type(id, type_);
        }
    }
    collect_rest(lowering, id, node);
    let parent = lowering.definitions[id.index()]
        .parent
        .map(|parent| lowering.definitions[parent.index()].kind);
    let is_main = lowering.text(name) == "main" && parent.is_none();
    let definition = &mut lowering.definitions[id.index()];
    if matches!(parent, Some(Kind::Class | Kind::Interface | Kind::Enum)) {
        definition.kind = Kind::Method;
    }
    if parent == Some(Kind::Interface) && !has_body {
        definition.flags.insert(Flags::ABSTRACT);
    }
    if is_main {
        definition.flags.insert(Flags::ENTRY_POINT);
    }
}
