//! Kotlin: primary constructors, properties, companions, extension functions, trailing lambdas, `when` and `if` as values.
//!
//! The grammar names few fields, so most of what the table cannot reach by kind is found here by position.

mod classes;
mod second_reading;

use crate::engine::{Declare, Hoist, Hooks, Lowering, UNKNOWN};
use crate::facts::{Bound, DefinitionId, Expression, ExpressionId, Flow, Import, ImportForm, Kind, Role, ScopeKind};
use tree_sitter::Node;

pub(super) struct Kotlin;

impl Hooks for Kotlin {
    fn second_reading(&self, text: &str) -> Option<String> {
        second_reading::second_reading(text)
    }

    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "import" => Some(import(lowering, node)),
            "user_type" => Some(user_type(lowering, node, role)),
            "modifiers" => None,
            "companion_object" => Some(classes::companion(lowering, node)),
            "object_literal" => Some(classes::object_literal(lowering, node)),
            "secondary_constructor" => Some(classes::secondary_constructor(lowering, node)),
            "enum_entry" => Some(classes::enum_entry(lowering, node)),
            "property_declaration" => Some(classes::property(lowering, node)),
            "delegation_specifiers" => Some(UNKNOWN),
            "this_expression" => labelled_this(lowering, node),
            "function_type" => Some(function_type(lowering, node)),
            "function_body" => Some(function_body(lowering, node)),
            "lambda_literal" => None,
            "call_expression" => Some(call(lowering, node)),
            "value_argument" => Some(argument(lowering, node)),
            "is_expression" => Some(narrowed(lowering, node)),
            "if_expression" => Some(one_of(lowering, node)),
            "when_expression" => Some(when(lowering, node)),
            "binary_expression" => either(lowering, node),
            "callable_reference" => Some(callable_reference(lowering, node)),
            "for_statement" => Some(for_each(lowering, node)),
            "catch_block" => Some(catch(lowering, node)),
            _ => None,
        }
    }

    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        classes::finish_definition(lowering, id, node);
    }
}

/// The named children, comments left out.
fn parts<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Vec<Node<'t>> {
    let children = lowering.children(node);
    children
        .named()
        .map(|child| child.node)
        .filter(|child| !child.kind().ends_with("comment"))
        .collect()
}

fn part<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    parts(lowering, node).into_iter().find(|part| part.kind() == kind)
}

fn is_type(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "user_type" | "nullable_type" | "non_nullable_type" | "parenthesized_type" | "function_type"
    )
}

/// `import a.b.C as D`, `import a.b.*`.
fn import<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let listed = parts(lowering, node);
    let Some(&path) = listed.first() else { return UNKNOWN };
    let text: String = lowering.text(path).chars().filter(|c| !c.is_whitespace()).collect();
    let wildcard = lowering.text(node).trim_end().ends_with('*');
    let alias = listed.get(1).copied();
    let last = parts(lowering, path).last().copied().unwrap_or(path);
    let (module, member) = match text.rsplit_once('.').filter(|_| !wildcard) {
        Some((module, member)) => (module, Some(lowering.names.intern(member))),
        None => (text.as_str(), None),
    };
    let bound = alias.map(|alias| lowering.name_of(alias)).or(member);
    // The members of a companion are those of its class.
    let module = lowering
        .names
        .intern(module.strip_suffix(".Companion").unwrap_or(module));
    let import = lowering.push_import(Import {
        module,
        member,
        alias: bound,
        form: if wildcard {
            ImportForm::Wildcard
        } else {
            ImportForm::Member
        },
        level: 0,
        reexported: false,
        type_only: false,
        at: Lowering::position(last),
        within: None,
    });
    if let Some(name) = bound.filter(|_| !wildcard) {
        lowering.bind_import(lowering.scope, name, Bound::Import(import), node);
    }
    UNKNOWN
}

/// `a.b.Type<T>`: a name, members of it, and what it is applied to.
fn user_type<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let role = if role == Role::Read { Role::Type } else { role };
    let listed = parts(lowering, node);
    let names: Vec<Node<'t>> = listed
        .iter()
        .copied()
        .filter(|part| part.kind() == "identifier")
        .collect();
    let mut value = UNKNOWN;
    for (position, name_node) in names.iter().enumerate() {
        value = if position == 0 {
            lowering.name_expression(*name_node)
        } else {
            let name = lowering.name_of(*name_node);
            lowering.member_expression(value, name)
        };
        if value != UNKNOWN {
            let is_last = position + 1 == names.len();
            lowering.reference(value, if is_last { role } else { Role::Type }, *name_node);
        }
    }
    let Some(list) = listed.into_iter().find(|part| part.kind() == "type_arguments") else {
        return value;
    };
    let types = parts(lowering, list);
    let types: Vec<ExpressionId> = types.into_iter().map(|type_| lowering.lower_type(type_)).collect();
    if value == UNKNOWN {
        return UNKNOWN;
    }
    let arguments = lowering.push_list(&types);
    lowering.push_expression(Expression::Generic { base: value, arguments }, node.start_byte())
}

/// `this@Name`: the receiver of the type or function of that name around; what a label of a call means, nothing here tells.
fn labelled_this<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let (_, label) = lowering.text(node).split_once('@')?;
    let mut at = Some(lowering.scope);
    while let Some(id) = at {
        let scope = &lowering.scopes[id.index()];
        let named = |id: DefinitionId| lowering.names.get(lowering.definitions[id.index()].name) == label;
        if scope.definition.is_some_and(named) {
            return Some(lowering.push_expression(Expression::This(id), node.start_byte()));
        }
        at = scope.parent;
    }
    Some(UNKNOWN)
}

/// `Receiver.(A, name: B) -> Result`.
fn function_type<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let listed = parts(lowering, node);
    let last = listed.last().copied();
    let (mut types, mut result) = (Vec::new(), UNKNOWN);
    for inner in listed {
        if inner.kind() == "function_type_parameters" {
            for parameter in parts(lowering, inner) {
                let type_ = match parameter.kind() {
                    "parameter" => parts(lowering, parameter).last().copied(),
                    _ => Some(parameter),
                };
                types.push(type_.map_or(UNKNOWN, |type_| lowering.lower_type(type_)));
            }
        } else if Some(inner) == last {
            result = lowering.lower_type(inner);
        } else {
            // What is called as if it were a member of this type.
            let value = lowering.lower_type(inner);
            let name = lowering.names.intern("this");
            types.push(lowering.push_expression(Expression::Argument { name, value }, inner.start_byte()));
        }
    }
    types.push(result);
    let types = lowering.push_list(&types);
    lowering.push_expression(Expression::FunctionType(types), node.start_byte())
}

/// `= value` returns the value; `{ … }` is walked.
fn function_body<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let listed = parts(lowering, node);
    let is_block = listed.first().is_some_and(|first| first.kind() == "block");
    let mut value = UNKNOWN;
    for child in listed {
        value = lowering.lower(child, Role::Read);
    }
    if let Some(function) = lowering.enclosing_function().filter(|_| !is_block && value != UNKNOWN) {
        lowering.flows.push(Flow::Return { function, value });
    }
    value
}

/// `callee(arguments) { trailing lambda }`.
fn call<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    fn of_kind<'t>(parts: &[Node<'t>], kind: &str) -> Option<Node<'t>> {
        parts.iter().copied().find(|part| part.kind() == kind)
    }
    let mut listed = parts(lowering, node);
    let trailing = of_kind(&listed, "annotated_lambda");
    // To the grammar, `f(x) { … }` calls what `f(x)` gives; the lambda is an argument of `f`.
    if let (Some(_), Some(called)) = (
        trailing,
        listed.first().filter(|first| first.kind() == "call_expression"),
    ) && of_kind(&listed, "value_arguments").is_none()
    {
        let inner = parts(lowering, *called);
        if of_kind(&inner, "annotated_lambda").is_none() {
            listed = inner;
        }
    }
    let Some(&callee) = listed.first() else { return UNKNOWN };
    let arguments = of_kind(&listed, "value_arguments");
    let (children, count) = lowering.listed_arguments(arguments);
    let count = if arguments.is_none() { 0 } else { count }.saturating_add(u8::from(trailing.is_some()));
    lowering.call_arguments = count;
    let target = lowering.lower(callee, Role::Call);
    lowering.call_arguments = 0;
    if matches!(
        callee.kind(),
        "this_expression" | "super_expression" | "call_expression" | "parenthesized_expression" | "index_expression"
    ) {
        lowering.reference(target, Role::Call, callee);
    }
    let mut types = Vec::new();
    for list in listed.iter().copied().filter(|part| part.kind() == "type_arguments") {
        for type_ in parts(lowering, list) {
            types.push(lowering.lower_type(type_));
        }
    }
    let mut values: Vec<ExpressionId> = match &children {
        Some(children) => lowering.lower_all(children, Role::Read).to_vec(),
        None => Vec::new(),
    };
    if let Some(trailing) = trailing {
        values.push(lowering.lower(trailing, Role::Read));
    }
    let arguments = lowering.push_list(&values);
    let at = node.start_byte();
    let call = lowering.push_expression(
        Expression::Call {
            callee: target,
            arguments,
        },
        at,
    );
    if trailing.is_some()
        && let Some(receiver) = given_back(lowering, callee, target)
    {
        return receiver;
    }
    if types.is_empty() || !holds_types(lowering.text(callee)) {
        return call;
    }
    let types = lowering.push_list(&types);
    let generic = Expression::Generic {
        base: target,
        arguments: types,
    };
    let generic = lowering.push_expression(generic, at);
    let made = lowering.wrap(generic, Expression::Typed);
    lowering.choice(&[call, made])
}

/// `apply { … }` and `also { … }` give what they are called on.
fn given_back<'t>(lowering: &mut Lowering<'t>, callee: Node<'t>, target: ExpressionId) -> Option<ExpressionId> {
    match *lowering.expressions.get(target.index())? {
        Expression::Member { object, name } if matches!(lowering.names.get(name), "apply" | "also") => Some(object),
        _ if callee.kind() == "identifier" && matches!(lowering.text(callee), "apply" | "also") => {
            let this = Expression::This(lowering.scope);
            Some(lowering.push_expression(this, callee.start_byte()))
        }
        _ => None,
    }
}

/// Whether what is called makes something of the types that it is given: `ArrayDeque<Call>()`, `mutableListOf<Call>()`.
fn holds_types(callee: &str) -> bool {
    let name = callee.rsplit('.').next().unwrap_or(callee);
    name.starts_with(char::is_uppercase) || name.ends_with("Of") || name.starts_with("empty")
}

/// `name = value` or `value`.
fn argument<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let listed = parts(lowering, node);
    match listed.as_slice() {
        [name, value] if name.kind() == "identifier" => {
            let lowered = lowering.lower(*value, Role::Read);
            let name = lowering.name_of(*name);
            lowering.push_expression(Expression::Argument { name, value: lowered }, node.start_byte())
        }
        [.., value] => lowering.lower(*value, Role::Read),
        [] => UNKNOWN,
    }
}

/// `x is T`: from here on the name may hold a `T`.
fn narrowed<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let (Some(left), Some(right)) = (lowering.field(node, "left"), lowering.field(node, "right")) else {
        return UNKNOWN;
    };
    let subject = lowering.lower(left, Role::Read);
    let type_ = lowering.lower_type(right);
    if left.kind() == "identifier" && subject != UNKNOWN && type_ != UNKNOWN {
        let value = lowering.wrap(type_, Expression::Typed);
        lowering.flow(subject, value, node);
    }
    UNKNOWN
}

/// The values of the branches of an `if`.
fn one_of<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let condition = lowering.field(node, "condition");
    let mut values = Vec::new();
    for child in parts(lowering, node) {
        let value = branch(lowering, child);
        if Some(child) != condition {
            values.push(value);
        }
    }
    lowering.choice(&values)
}

/// A branch gives its last expression.
fn branch<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    if node.kind() != "block" {
        return lowering.lower(node, Role::Read);
    }
    lowering.in_scope(ScopeKind::Block, |lowering| {
        let mut last = UNKNOWN;
        for statement in parts(lowering, node) {
            last = lowering.lower(statement, Role::Read);
        }
        last
    })
}

/// The values of the entries of a `when`; `is T` narrows the subject.
fn when<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let mut values = Vec::new();
    let mut subject = None;
    for child in parts(lowering, node) {
        if child.kind() != "when_entry" {
            subject = parts(lowering, child)
                .last()
                .copied()
                .filter(|inner| inner.kind() == "identifier");
            lowering.walk_node(child);
            continue;
        }
        let mut value = UNKNOWN;
        for inner in parts(lowering, child) {
            if inner.kind() == "type_test" {
                let type_ = parts(lowering, inner)
                    .first()
                    .map_or(UNKNOWN, |type_| lowering.lower_type(*type_));
                if let Some(subject) = subject.filter(|_| type_ != UNKNOWN) {
                    let place = lowering.name_expression(subject);
                    let typed = lowering.wrap(type_, Expression::Typed);
                    lowering.flow(place, typed, inner);
                }
                continue;
            }
            value = branch(lowering, inner);
        }
        values.push(value);
    }
    lowering.choice(&values)
}

/// `a ?: b` is one of both.
fn either<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let operator = lowering.field(node, "operator")?;
    if lowering.text(operator) != "?:" {
        return None;
    }
    let (left, right) = (lowering.field(node, "left")?, lowering.field(node, "right")?);
    let (left, right) = (lowering.lower(left, Role::Read), lowering.lower(right, Role::Read));
    Some(lowering.choice(&[left, right]))
}

/// `::name` is the function, `Type::name` its member.
fn callable_reference<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let listed = parts(lowering, node);
    let Some((&name_node, before)) = listed.split_last() else {
        return UNKNOWN;
    };
    let value = match before.first() {
        Some(&owner) => {
            let owner = if is_type(owner) {
                lowering.lower_type(owner)
            } else {
                lowering.lower(owner, Role::Read)
            };
            let name = lowering.name_of(name_node);
            lowering.member_expression(owner, name)
        }
        None => lowering.name_expression(name_node),
    };
    lowering.reference(value, Role::Read, name_node);
    value
}

fn for_each<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    lowering.in_scope(ScopeKind::Block, |lowering| {
        let listed = parts(lowering, node);
        let target = listed
            .iter()
            .copied()
            .find(|part| part.kind().ends_with("variable_declaration"));
        let mut seen_items = false;
        for child in listed
            .into_iter()
            .filter(|child| Some(*child) != target && child.kind() != "annotation")
        {
            let value = lowering.lower(child, Role::Read);
            if !seen_items && let Some(target) = target {
                let element = lowering.wrap(value, Expression::Element);
                classes::declare(lowering, target, element, Hoist::Block);
            }
            seen_items = true;
        }
    });
    UNKNOWN
}

fn catch<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    lowering.in_scope(ScopeKind::Block, |lowering| {
        let listed = parts(lowering, node);
        let name = listed.iter().copied().find(|part| part.kind() == "identifier");
        let type_ = listed
            .iter()
            .copied()
            .find(|part| is_type(*part))
            .map_or(UNKNOWN, |type_| lowering.lower_type(type_));
        if let Some(name) = name {
            let value = lowering.wrap(type_, Expression::Typed);
            let declare = Declare::new(Hoist::Block, name);
            lowering.assign(name, value, &declare);
        }
        if let Some(body) = listed.into_iter().find(|part| part.kind() == "block") {
            lowering.walk_node(body);
        }
    });
    UNKNOWN
}

/// The class or object around the current place.
fn enclosing_class(lowering: &Lowering<'_>) -> Option<DefinitionId> {
    lowering.enclosing(|kind| matches!(kind, Kind::Class | Kind::Interface | Kind::Enum | Kind::Struct))
}
