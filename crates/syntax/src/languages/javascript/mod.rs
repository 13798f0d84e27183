//! JavaScript and TypeScript: declarations by keyword, functions named by what they are assigned to, object literals and
//! prototypes as owners of methods, `this.x` fields, JSX and test calls. Modules are in [`modules`].

mod modules;
mod objects;
mod second_reading;

use crate::engine::{Action, Declare, Hoist, Hooks, Lowering, MemberAssignment, NewDefinition, Parts, UNKNOWN};
use crate::facts::{
    Bound, DefinitionId, Expression, ExpressionId, Flags, Flow, Kind, Parameter, Passing, Role, ScopeKind, Visibility,
};
use tree_sitter::Node;

pub(super) struct JavaScript;

impl Hooks for JavaScript {
    fn second_reading(&self, text: &str) -> Option<String> {
        second_reading::second_reading(text)
    }

    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, _role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "call_expression" => call(lowering, node),
            "binary_expression" => binary(lowering, node),
            "lexical_declaration" | "variable_declaration" | "using_declaration" => Some(declaration(lowering, node)),
            "assignment_expression" => objects::assignment(lowering, node),
            "object" => Some(objects::literal(lowering, node)),
            "import_statement" => Some(modules::import(lowering, node)),
            "import_alias" => Some(modules::import_alias(lowering, node)),
            "export_statement" => Some(modules::export(lowering, node)),
            "for_in_statement" => Some(for_in(lowering, node)),
            "catch_clause" => {
                let rule = lowering.rule(node);
                Some(lowering.in_scope(ScopeKind::Block, |lowering| lowering.act(node, rule, Role::Read)))
            }
            "yield_expression" => node
                .child(1)
                .is_some_and(|child| child.kind() == "*")
                .then(|| delegate(lowering, node)),
            "jsx_opening_element" | "jsx_self_closing_element" => Some(jsx(lowering, node)),
            "field_definition" | "public_field_definition" => objects::field(lowering, node),
            "property_signature" | "method_signature" => anonymous_member(lowering, node),
            "enum_body" => Some(enum_body(lowering, node)),
            "ambient_declaration" => Some(ambient(lowering, node)),
            "type_assertion" => Some(type_assertion(lowering, node)),
            _ => None,
        }
    }

    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        let definition = &lowering.definitions[id.index()];
        let (flags, kind) = (definition.flags, definition.kind);
        let name = lowering.names.get(definition.name);
        if name.starts_with('#') {
            lowering.definitions[id.index()].visibility = Visibility::Private;
        } else if let Some(computed) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            let bare = computed.trim_matches(['"', '\'', ' ']).to_owned();
            lowering.definitions[id.index()].name = lowering.names.intern(&bare);
        } else if name.starts_with(['"', '\'']) {
            let bare = name.trim_matches(['"', '\'']).to_owned();
            lowering.definitions[id.index()].name = lowering.names.intern(&bare);
        }
        if matches!(kind, Kind::Method) && (flags.contains(Flags::GETTER) || flags.contains(Flags::SETTER)) {
            lowering.definitions[id.index()].kind = Kind::Property;
        }
        match node.kind() {
            "arrow_function" => lowering.definitions[id.index()].flags.insert(Flags::OUTER_RECEIVER),
            "function_signature" => lowering.definitions[id.index()].flags.insert(Flags::DECLARATION),
            "abstract_method_signature" => lowering.definitions[id.index()].flags.insert(Flags::ABSTRACT),
            "method_signature" => {
                let owner = lowering.definitions[id.index()]
                    .parent
                    .map(|owner| lowering.definitions[owner.index()].kind);
                let flag = if owner == Some(Kind::Class) {
                    Flags::DECLARATION
                } else {
                    Flags::ABSTRACT
                };
                lowering.definitions[id.index()].flags.insert(flag);
            }
            _ => {}
        }
        if kind == Kind::Constructor {
            parameter_properties(lowering, id, node);
        }
    }

    fn member_assigned<'t>(&self, lowering: &mut Lowering<'t>, assignment: MemberAssignment<'t>) {
        objects::member_assigned(lowering, assignment);
    }

    fn finish(&self, lowering: &mut Lowering<'_>) {
        collect_arguments(lowering);
        modules::finish(lowering);
    }
}

/// A function without parameters that mentions `arguments` collects what it is given there.
fn collect_arguments(lowering: &mut Lowering<'_>) {
    let mut functions = Vec::new();
    for expression in &lowering.expressions {
        if let Expression::Free { name, scope } = *expression
            && lowering.names.get(name) == "arguments"
        {
            let mut at = Some(scope);
            while let Some(scope) = at.map(|id| lowering.scopes[id.index()]) {
                if let Some(id) = scope.definition.filter(|_| scope.kind == ScopeKind::Function) {
                    let definition = &lowering.definitions[id.index()];
                    let collects = definition.kind != Kind::Lambda && definition.parameters.is_empty();
                    functions.extend(collects.then_some((id, name)));
                    break;
                }
                at = scope.parent;
            }
        }
    }
    for (id, name) in functions {
        let Some(body) = lowering.definitions[id.index()].body else {
            continue;
        };
        if lowering.binding_in(body, name).is_none() {
            let binding = lowering.bind(body, name, Bound::Parameter(id), 0);
            lowering.definitions[id.index()]
                .parameters
                .push(Parameter::untyped(name, Some(binding), Passing::Rest));
        }
    }
}

/// Calls that mean more than a call: `require`, `import()`, `Object.assign` and `create`, `util.inherits`, test cases.
fn call<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let function = lowering.field(node, "function")?;
    let arguments = lowering.field(node, "arguments")?;
    if arguments.kind() == "template_string" {
        return Some(tagged(lowering, node, function, arguments));
    }
    match function.kind() {
        "import" => modules::dynamic_import(lowering, node, arguments),
        "identifier" => match lowering.text(function) {
            "require" => modules::require(lowering, node, arguments),
            name if is_test_word(name) => test_case(lowering, node, name, function, arguments),
            _ => None,
        },
        "member_expression" => {
            let text = lowering.text(function);
            match text {
                "Object.assign" | "Object.create" | "Object.setPrototypeOf" | "util.inherits" => {
                    objects::object_call(lowering, node, text, arguments)
                }
                "require.resolve" => None,
                _ => {
                    let (name, _) = text.split_once('.')?;
                    if is_test_word(name) {
                        test_case(lowering, node, name, function, arguments)
                    } else {
                        None
                    }
                }
            }
        }
        _ => None,
    }
}

/// ``tag`a${b}` `` calls `tag` with the texts and then each value.
fn tagged<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, function: Node<'t>, template: Node<'t>) -> ExpressionId {
    let parts = lowering.children(template);
    let values: Vec<Node<'t>> = parts
        .named()
        .filter(|part| part.node.kind() == "template_substitution")
        .filter_map(|part| part.node.named_child(0))
        .collect();
    lowering.call_arguments = (values.len() + 1).min(usize::from(u8::MAX)) as u8;
    let callee = lowering.lower(function, Role::Call);
    lowering.call_arguments = 0;
    let mut passed = vec![UNKNOWN];
    for value in values {
        passed.push(lowering.lower(value, Role::Read));
    }
    let arguments = lowering.push_list(&passed);
    lowering.push_expression(Expression::Call { callee, arguments }, node.start_byte())
}

fn is_test_word(name: &str) -> bool {
    matches!(name, "it" | "test" | "specify" | "describe" | "context" | "suite")
}

/// `it("does x", () => …)` is a test called `does x`; `describe("y", …)` groups tests.
fn test_case<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    word: &str,
    function: Node<'t>,
    arguments: Node<'t>,
) -> Option<ExpressionId> {
    let title = arguments.named_child(0)?;
    let body = arguments.named_child(1)?;
    let title = title
        .named_child(0)
        .filter(|fragment| fragment.kind() == "string_fragment")?;
    if lowering.rule(body).action != Action::Lambda {
        return None;
    }
    lowering.call_arguments = 2;
    lowering.lower(function, Role::Call);
    lowering.call_arguments = 0;
    let children = lowering.children(body);
    let id = lowering.define_as(body, lowering.rule(body), &children, Some(title), node);
    let signature = lowering.first_line(node);
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    if matches!(word, "it" | "test" | "specify") {
        definition.kind = Kind::Function;
        definition.flags.insert(Flags::TEST);
    } else {
        definition.kind = Kind::Section;
    }
    let rest = lowering.children(arguments);
    for child in rest.named().skip(2) {
        lowering.lower(child.node, Role::Read);
    }
    Some(UNKNOWN)
}

fn binary<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let operator = lowering.text(lowering.field(node, "operator")?);
    if !matches!(operator, "||" | "??" | "&&") {
        return None;
    }
    let left = lowering
        .field(node, "left")
        .map_or(UNKNOWN, |left| lowering.lower(left, Role::Read));
    let right = lowering
        .field(node, "right")
        .map_or(UNKNOWN, |right| lowering.lower(right, Role::Read));
    Some(lowering.choice(&[left, right]))
}

/// `var`, `let`, `const`, `using`: where the names live depends on the keyword.
fn declaration<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let keyword = node.child(0).map_or("", |keyword| lowering.text(keyword));
    let hoist = if keyword == "var" {
        Hoist::Function
    } else {
        Hoist::Block
    };
    let children = lowering.children(node);
    let single = children
        .named()
        .filter(|child| child.node.kind() == "variable_declarator")
        .count()
        == 1;
    for child in children
        .named()
        .filter(|child| child.node.kind() == "variable_declarator")
    {
        let mut declare = Declare::new(hoist, if single { node } else { child.node });
        declare.constant = keyword == "const";
        let parts = Parts {
            target: lowering.field(child.node, "name"),
            value: lowering.field(child.node, "value"),
            type_: lowering.field(child.node, "type"),
        };
        if !modules::required(lowering, parts) {
            lowering.assign_parts(Action::Assign, parts, declare);
        }
    }
    UNKNOWN
}

fn for_in<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    lowering.in_scope(ScopeKind::Block, |lowering| {
        let value = lowering
            .field(node, "right")
            .map_or(UNKNOWN, |right| lowering.lower(right, Role::Read));
        let of = lowering
            .field(node, "operator")
            .is_some_and(|operator| operator.kind() == "of");
        // `for … in` gives keys, which no call resolves through.
        if let Some(right) = lowering.field(node, "right").filter(|_| of) {
            lowering.iterated(value, right);
        }
        let element = if of {
            lowering.wrap(value, Expression::Element)
        } else {
            UNKNOWN
        };
        let hoist = match lowering.field(node, "kind").map(|kind| lowering.text(kind)) {
            None => Hoist::None,
            Some("var") => Hoist::Function,
            Some(_) => Hoist::Block,
        };
        if let Some(target) = lowering.field(node, "left") {
            lowering.assign(target, element, &Declare::new(hoist, node));
        }
        if let Some(body) = lowering.field(node, "body") {
            lowering.lower(body, Role::Read);
        }
    });
    UNKNOWN
}

fn delegate<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let value = node
        .named_child(0)
        .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
    if let Some(function) = lowering.enclosing_function() {
        let value = lowering.wrap(value, Expression::Element);
        lowering.flows.push(Flow::Yield { function, value });
    }
    UNKNOWN
}

/// `<Component a={b}/>` calls `Component` with its attributes as one object; `<div>` is nobody's code.
fn jsx<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(name) = lowering.field(node, "name") else {
        lowering.walk_node(node);
        return UNKNOWN;
    };
    let component =
        name.kind() == "member_expression" || lowering.text(name).starts_with(|first: char| first.is_uppercase());
    let callee = if component {
        lowering.call_arguments = 1;
        let callee = lowering.lower(name, Role::Call);
        lowering.call_arguments = 0;
        callee
    } else {
        UNKNOWN
    };
    let children = lowering.children(node);
    let mut entries = Vec::new();
    for child in children.named().filter(|child| child.node != name) {
        if child.node.kind() != "jsx_attribute" {
            lowering.lower(child.node, Role::Read);
            continue;
        }
        let (key, value) = (child.node.named_child(0), child.node.named_child(1));
        let key = key.map_or(UNKNOWN, |key| {
            let text = lowering.name_of(key);
            lowering.push_expression(Expression::Text(text), key.start_byte())
        });
        let value = value.map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
        entries.extend([key, value]);
    }
    if callee == UNKNOWN {
        return UNKNOWN;
    }
    let entries = lowering.push_list(&entries);
    let properties = lowering.push_expression(Expression::Mapping { entries }, node.start_byte());
    let arguments = lowering.push_list(&[properties]);
    lowering.push_expression(Expression::Call { callee, arguments }, node.start_byte())
}

/// Members of an inline type (`x: { y: number }`) are no definitions; those of a named type are.
fn anonymous_member<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let owner = lowering.definition.map(|id| lowering.definitions[id.index()].kind);
    if matches!(owner, Some(Kind::Interface | Kind::Class | Kind::TypeAlias)) {
        return None;
    }
    let types = ["type", "return_type"].map(|field| lowering.field(node, field));
    for type_ in types.into_iter().flatten() {
        lowering.lower_type(type_);
    }
    Some(UNKNOWN)
}

fn enum_body<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    for child in children.named() {
        if child.node.kind() == "enum_assignment" || lowering.rule(child.node).action == Action::Comment {
            lowering.lower(child.node, Role::Read);
            continue;
        }
        let name = lowering.text(child.node).trim_matches(['"', '\'']);
        let new = NewDefinition {
            kind: Kind::EnumMember,
            name: lowering.names.intern(name),
            name_at: Lowering::position(child.node),
            span: Lowering::span(child.node),
        };
        let id = lowering.new_definition(new);
        lowering.definitions[id.index()].signature = lowering.first_line(child.node);
        lowering.bind_definition(lowering.scope, id);
    }
    UNKNOWN
}

/// `declare …`: everything inside exists elsewhere.
fn ambient<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let before = lowering.definitions.len();
    lowering.walk_node(node);
    for definition in &mut lowering.definitions[before..] {
        definition.flags.insert(Flags::DECLARATION);
    }
    UNKNOWN
}

/// `<Type>value`.
fn type_assertion<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let type_ = node
        .named_child(0)
        .and_then(|types| types.named_child(0))
        .map_or(UNKNOWN, |type_| lowering.lower_type(type_));
    if let Some(value) = node.named_child(1) {
        lowering.lower(value, Role::Read);
    }
    lowering.wrap(type_, Expression::Typed)
}

/// `constructor(private x: T)` declares the field `x` and sets it.
fn parameter_properties<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let Some(parameters) = lowering.field(node, "parameters") else {
        return;
    };
    let Some(class) = lowering.definitions[id.index()].parent else {
        return;
    };
    let Some(body) = lowering.definitions[class.index()].body else {
        return;
    };
    let children = lowering.children(parameters);
    for child in children.named() {
        let parts = lowering.children(child.node);
        let is_property =
            |part: Node<'t>| matches!(part.kind(), "accessibility_modifier" | "readonly" | "override_modifier");
        if !parts.iter().any(|part| is_property(part.node)) {
            continue;
        }
        let (_, visibility) = lowering.modifiers(&parts);
        let Some(name_node) = lowering
            .field(child.node, "pattern")
            .filter(|name| name.kind() == "identifier")
        else {
            continue;
        };
        let name = lowering.name_of(name_node);
        let new = NewDefinition {
            kind: Kind::Field,
            name,
            name_at: Lowering::position(name_node),
            span: Lowering::span(child.node),
        };
        let saved = (lowering.definition, lowering.scope);
        (lowering.definition, lowering.scope) = (Some(class), body);
        let field = lowering.new_definition(new);
        (lowering.definition, lowering.scope) = saved;
        lowering.first_member(class, name);
        let signature = lowering.first_line(child.node);
        let constructor = &lowering.definitions[id.index()];
        let parameter = constructor
            .parameters
            .iter()
            .find(|parameter| parameter.name == name && parameter.passing == Passing::Normal);
        let (type_, type_text) = parameter.map_or((None, None), |parameter| (parameter.type_, parameter.type_text));
        let definition = &mut lowering.definitions[field.index()];
        definition.signature = signature;
        definition.visibility = visibility.unwrap_or(Visibility::Public);
        (definition.result, definition.result_text) = (type_, type_text);
        lowering.bind(body, name, Bound::Definition(field), 0);
        let this = lowering.push_expression(Expression::This(lowering.scope), child.node.start_byte());
        let place = lowering.member_expression(this, name);
        let value = lowering.name_expression(name_node);
        lowering.flow(place, value, child.node);
    }
}
