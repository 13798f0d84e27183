//! Functions, prototypes, variables, fields, parameters and typedefs.

use super::declarators::{self, Declarator, is_declarator};
use super::{initializers, named, records};
use crate::engine::{Declare, Hoist, Lowering, NewDefinition, UNKNOWN};
use crate::facts::{
    Bound, DefinitionId, Expression, ExpressionId, Flags, Flow, Kind, Name, Parameter, Passing, Role, ScopeKind,
    Visibility,
};
use tree_sitter::Node;

/// What a function is besides its name and parameters.
#[derive(Clone, Copy)]
pub(in crate::languages) struct FunctionForm {
    pub(in crate::languages) kind: Kind,
    pub(in crate::languages) flags: Flags,
    pub(in crate::languages) visibility: Visibility,
    /// The type that it is a member of, when it is written outside.
    pub(in crate::languages) owner: Option<ExpressionId>,
}

pub(super) fn function_definition<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(declarator) = lowering.field(node, "declarator").map(declarators::read) else {
        lowering.walk_node(node);
        return UNKNOWN;
    };
    let form = FunctionForm {
        kind: Kind::Function,
        flags: Flags::default(),
        visibility: linkage(lowering, node),
        owner: None,
    };
    function(lowering, node, declarator, form);
    UNKNOWN
}

/// `static` keeps a name to its file.
pub(in crate::languages) fn linkage<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Visibility {
    if has_specifier(lowering, node, "static") {
        Visibility::Private
    } else {
        Visibility::Public
    }
}

pub(in crate::languages) fn has_specifier<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, word: &str) -> bool {
    let children = lowering.children(node);
    children.iter().any(|child| {
        matches!(
            child.node.kind(),
            "storage_class_specifier" | "virtual" | "virtual_specifier" | "explicit_function_specifier"
        ) && lowering.text(child.node) == word
    })
}

/// Defines a function: the body when `node` has one, a declaration of it otherwise.
pub(in crate::languages) fn function<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    declarator: Declarator<'t>,
    form: FunctionForm,
) -> Option<DefinitionId> {
    let (name_node, function) = (declarator.name?, declarator.function);
    let body = lowering.field(node, "body");
    let new = NewDefinition {
        kind: form.kind,
        name: lowering.name_of(name_node),
        name_at: Lowering::position(name_node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    let signature = lowering.signature(node, body);
    let is_main = form.kind == Kind::Function && lowering.text(name_node) == "main" && form.owner.is_none();
    let deprecated = lowering.names.get(signature).contains("deprecated");
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    definition.visibility = form.visibility;
    definition.owner = form.owner.filter(|&owner| owner != UNKNOWN);
    definition.flags.insert(form.flags);
    if is_main && body.is_some() {
        definition.flags.insert(Flags::ENTRY_POINT);
    }
    if deprecated {
        definition.flags.insert(Flags::DEPRECATED);
    }
    if form.owner.is_none() {
        bind_function(lowering, id, body.is_some());
    }
    let scope = lowering.push_scope(ScopeKind::Function, Some(id));
    lowering.definitions[id.index()].body = Some(scope);
    let saved = lowering.enter(id, scope);
    super::super::cpp::bind_template_parameters(lowering, node);
    // `auto f() -> T` says its result behind the parameters.
    let trailing = function.map(|function| named(lowering, function)).unwrap_or_default();
    let trailing = trailing
        .into_iter()
        .find(|child| child.kind() == "trailing_return_type");
    if let Some(type_) = trailing
        .and_then(|trailing| trailing.named_child(0))
        .or_else(|| lowering.field(node, "type"))
    {
        lowering.result_type(id, type_);
    }
    if let Some(parameters) = function.and_then(|function| lowering.field(function, "parameters")) {
        lowering.parameters(parameters, id);
        // In C++ the dots of `f(const char*, ...)` are a mere token.
        let children = lowering.children(parameters);
        if children.iter().any(|child| child.node.kind() == "...") {
            add_rest(lowering, id);
        }
    }
    if let Some(body) = body {
        lowering.pending_doc = None;
        let children = lowering.children(node);
        // Initialisers of a C++ constructor stand between its parameters and its body.
        for child in children
            .named()
            .filter(|child| child.node.kind() == "field_initializer_list")
        {
            lowering.lower(child.node, Role::Read);
        }
        lowering.walk_node(body);
    }
    lowering.leave(saved);
    Some(id)
}

/// Binds a function. A definition takes the place of its declaration, and a declaration adds nothing to what is bound.
fn bind_function(lowering: &mut Lowering<'_>, id: DefinitionId, has_body: bool) {
    let name = lowering.definitions[id.index()].name;
    let Some(binding) = lowering.binding_in(lowering.scope, name) else {
        lowering.bind_definition(lowering.scope, id);
        return;
    };
    let Bound::Definition(known) = lowering.bindings[binding.index()].to else {
        return;
    };
    let overloads = !lowering.rules.tags_apart;
    if overloads {
        lowering.bind_definition(lowering.scope, id);
    } else if has_body && lowering.definitions[known.index()].flags.contains(Flags::DECLARATION) {
        lowering.bindings[binding.index()].to = Bound::Definition(id);
    } else if has_body {
        lowering.bind_definition(lowering.scope, id);
    }
}

/// One parameter; `void` alone is none.
pub(super) fn parameter<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(function) = lowering.definition else {
        return UNKNOWN;
    };
    let nameless = lowering.names.intern("");
    if node.kind() == "variadic_parameter" {
        add_rest(lowering, function);
        return UNKNOWN;
    }
    let Some(type_node) = lowering.field(node, "type") else {
        return UNKNOWN;
    };
    let declarator = lowering.field(node, "declarator").map(declarators::read);
    if declarator.is_none() && lowering.text(type_node) == "void" {
        return UNKNOWN;
    }
    let base = lowering.lower_type(type_node);
    let mut declarator = declarator.unwrap_or_default();
    // A parameter of function type is a pointer to one.
    declarator.is_function = false;
    let type_ = declarators::around(lowering, base, declarator);
    let default = lowering.field(node, "default_value").map(|value| {
        lowering.lower(value, Role::Read);
        let text = lowering.text(value);
        lowering.normalised(text)
    });
    let name = declarator.name.map_or(nameless, |name| lowering.name_of(name));
    let binding = declarator.name.map(|name_node| {
        let binding = lowering.bind(lowering.scope, name, Bound::Parameter(function), 0);
        if type_ != UNKNOWN {
            let at = name_node.start_byte();
            let target = lowering.push_expression(Expression::Bound { binding, at: at as u32 }, at);
            lowering.flows.push(Flow::Typed { target, type_ });
        }
        binding
    });
    let type_text = Some(parameter_type(lowering, node, declarator));
    let passing = if node.kind() == "variadic_parameter_declaration" {
        Passing::Rest
    } else {
        Passing::Normal
    };
    let parameter = Parameter {
        name,
        binding,
        type_: Some(type_),
        type_text,
        default,
        passing,
    };
    lowering.definitions[function.index()].parameters.push(parameter);
    UNKNOWN
}

/// `...` takes what is left.
fn add_rest(lowering: &mut Lowering<'_>, function: DefinitionId) {
    let name = lowering.names.intern("");
    let rest = Parameter::untyped(name, None, Passing::Rest);
    lowering.definitions[function.index()].parameters.push(rest);
}

/// The type of a parameter as written, without its name.
fn parameter_type<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, declarator: Declarator<'t>) -> Name {
    let text = lowering.text(node);
    let Some(name) = declarator.name else {
        return lowering.normalised(text);
    };
    let (start, end) = (
        name.start_byte() - node.start_byte(),
        name.end_byte() - node.start_byte(),
    );
    let type_ = format!("{}{}", text[..start].trim_end(), text[end..].trim_end());
    lowering.normalised(type_.split('=').next().unwrap_or(&type_).trim_end())
}

/// Prototypes and variables. `static` variables and functions stay in their file.
pub(super) fn declaration<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(type_node) = lowering.field(node, "type") else {
        lowering.walk_node(node);
        return UNKNOWN;
    };
    let visibility = linkage(lowering, node);
    let is_extern = has_specifier(lowering, node, "extern");
    let base = lowering.lower_type(type_node);
    let type_text = lowering.type_text(type_node);
    let children = named(lowering, node);
    for child in children
        .into_iter()
        .filter(|child| *child != type_node && is_declarator(child.kind()))
    {
        let declarator = declarators::read(child);
        let in_function = lowering.enclosing_function().is_some();
        if declarator.is_function && !in_function {
            let form = FunctionForm {
                kind: Kind::Function,
                flags: Flags::DECLARATION,
                visibility,
                owner: None,
            };
            function(lowering, node, declarator, form);
            continue;
        }
        variable(
            lowering,
            node,
            child,
            declarator,
            (base, type_text),
            visibility,
            is_extern,
        );
    }
    UNKNOWN
}

fn variable<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    child: Node<'t>,
    declarator: Declarator<'t>,
    (base, type_text): (ExpressionId, Name),
    visibility: Visibility,
    is_extern: bool,
) {
    let Some(name) = declarator.name else { return };
    let mut declarator = declarator;
    declarator.is_function = false;
    let type_ = declarators::around(lowering, base, declarator);
    let mut declare = Declare::new(Hoist::Block, node);
    declare.type_ = Some((type_, type_text));
    // The variable comes first, since its own initialiser may mention it.
    let before = lowering.definitions.len();
    if lowering.rule(name).action == crate::engine::Action::Name {
        lowering.assign(name, UNKNOWN, &declare);
    }
    for definition in &mut lowering.definitions[before..] {
        definition.visibility = visibility;
        if is_extern {
            definition.flags.insert(Flags::DECLARATION);
        }
    }
    let Some(value_node) = lowering
        .field(child, "value")
        .filter(|_| child.kind() == "init_declarator")
    else {
        return;
    };
    let value = match value_node.kind() {
        "initializer_list" => initializers::list(lowering, value_node, base, declarator.array),
        _ => lowering.lower(value_node, Role::Read),
    };
    if value != UNKNOWN && lowering.rule(name).action == crate::engine::Action::Name {
        let place = lowering.name_expression(name);
        lowering.flow(place, value, name);
    }
}

/// The fields of one line of a record.
pub(super) fn fields<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(type_node) = lowering.field(node, "type") else {
        lowering.walk_node(node);
        return UNKNOWN;
    };
    let doc = lowering.pending_doc;
    let base = lowering.lower_type(type_node);
    let children = named(lowering, node);
    for child in children
        .into_iter()
        .filter(|child| *child != type_node && is_declarator(child.kind()))
    {
        let mut declarator = declarators::read(child);
        declarator.is_function = false;
        let Some(name) = declarator.name else { continue };
        lowering.pending_doc = doc;
        field(lowering, node, name, base, declarator, type_node);
    }
    UNKNOWN
}

/// Defines one field.
pub(in crate::languages) fn field<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    name: Node<'t>,
    base: ExpressionId,
    declarator: Declarator<'t>,
    type_node: Node<'t>,
) -> DefinitionId {
    let type_ = declarators::around(lowering, base, declarator);
    let new = NewDefinition {
        kind: Kind::Field,
        name: lowering.name_of(name),
        name_at: Lowering::position(name),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    let (signature, text) = (lowering.first_line(node), lowering.type_text(type_node));
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    definition.result = Some(type_).filter(|&type_| type_ != UNKNOWN);
    definition.result_text = Some(text);
    if lowering.scopes[lowering.scope.index()].kind == ScopeKind::Type {
        lowering.bind_definition(lowering.scope, id);
    }
    id
}

/// `typedef T name;`. A record without a tag is called by its typedef; one whose tag is the same needs no alias.
pub(super) fn type_definition<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(type_node) = lowering.field(node, "type") else {
        return UNKNOWN;
    };
    let children = named(lowering, node);
    let declarators: Vec<(Node<'t>, Declarator<'t>)> = children
        .into_iter()
        .filter(|child| *child != type_node && is_declarator(child.kind()))
        .map(|child| (child, declarators::read(child)))
        .collect();
    let first = declarators
        .first()
        .and_then(|(_, declarator)| declarator.name.filter(|_| !declarator.wrapped));
    let tag = lowering.field(type_node, "name");
    let has_body = lowering.field(type_node, "body").is_some();
    let base = match type_node.kind() {
        "struct_specifier" | "union_specifier" | "class_specifier" if has_body => {
            records::record(lowering, type_node, first)
        }
        "enum_specifier" if has_body => records::enumeration(lowering, type_node, first),
        _ => lowering.lower_type(type_node),
    };
    for (child, declarator) in declarators {
        let Some(name) = declarator.name else { continue };
        let text = lowering.name_of(name);
        let is_record = matches!(lowering.expression(base), Expression::Definition(_));
        if is_record && Some(name) == first && tag.is_none() {
            continue;
        }
        if let (true, Some(tag), Expression::Definition(id)) = (!declarator.wrapped, tag, lowering.expression(base))
            && lowering.text(tag) == lowering.text(name)
        {
            records::bind(lowering, text, id);
            continue;
        }
        alias(lowering, node, child, (name, declarator), base);
    }
    UNKNOWN
}

fn alias<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    child: Node<'t>,
    (name_node, declarator): (Node<'t>, Declarator<'t>),
    base: ExpressionId,
) {
    let mut declarator = declarator;
    declarator.is_function = false;
    let type_ = declarators::around(lowering, base, declarator);
    let new = NewDefinition {
        kind: Kind::TypeAlias,
        name: lowering.name_of(name_node),
        name_at: Lowering::position(name_node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.definitions[id.index()].signature = lowering.first_line(node);
    lowering.definitions[id.index()].result = Some(type_).filter(|&type_| type_ != UNKNOWN);
    lowering.bind_definition(lowering.scope, id);
    if type_ != UNKNOWN {
        let target = lowering.name_expression(name_node);
        lowering.flow(target, type_, child);
    }
}
