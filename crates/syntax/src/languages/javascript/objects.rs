//! Who owns a function: object literals, prototypes, `this.x = …`, class fields.

use super::modules;
use crate::engine::{Action, Lowering, MemberAssignment, NewDefinition, UNKNOWN};
use crate::facts::{BaseKind, Bound, DefinitionId, Expression, ExpressionId, Kind, Role};
use tree_sitter::Node;

/// The member that holds what an object falls back to for members that it lacks.
const FALLBACK: &str = "__proto__";

fn is_function<'t>(lowering: &Lowering<'t>, node: Node<'t>) -> bool {
    matches!(lowering.rule(node).action, Action::Lambda | Action::Define)
}

/// The node that spells a property's name, without quotes.
fn key_name(key: Node<'_>) -> Option<Node<'_>> {
    match key.kind() {
        "property_identifier" | "private_property_identifier" => Some(key),
        "string" => key
            .named_child(0)
            .filter(|fragment| fragment.kind() == "string_fragment"),
        "number" => Some(key),
        // `['name']` is that name; `[Symbol.iterator]` goes by what it says.
        "computed_property_name" => {
            let inner = key.named_child(0)?;
            match inner.kind() {
                "member_expression" => Some(inner),
                "string" => key_name(inner),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `{ a, b: c, d() {…}, e: () => … }`: functions in it are methods of the variable it goes to.
pub(super) fn literal<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let variable = lowering.variable.take();
    let owner = lowering.mapping_owner.take();
    let children = lowering.children(node);
    let mut entries = Vec::new();
    for child in children.named() {
        let node = child.node;
        match node.kind() {
            "pair" => {
                let (Some(key), Some(value)) = (lowering.field(node, "key"), lowering.field(node, "value")) else {
                    continue;
                };
                let name = key_name(key);
                let key = match name {
                    Some(name) => text(lowering, name),
                    None => lowering.lower(key, Role::Read),
                };
                let value = match name {
                    Some(name) if is_function(lowering, value) => member(lowering, value, name, node, variable, owner),
                    Some(name) if variable.is_some() && value.kind() == "object" && holds_functions(value) => {
                        lowering.variable = Some(nested(lowering, name, node, variable));
                        lowering.lower(value, Role::Read)
                    }
                    _ => lowering.lower(value, Role::Read),
                };
                entries.extend([key, value]);
            }
            "method_definition" => match lowering.field(node, "name").and_then(key_name) {
                Some(name) => {
                    let key = text(lowering, name);
                    let value = member(lowering, node, name, node, variable, owner);
                    entries.extend([key, value]);
                }
                None => {
                    lowering.lower(node, Role::Read);
                }
            },
            "shorthand_property_identifier" => {
                let key = text(lowering, node);
                let value = lowering.lower(node, Role::Read);
                entries.extend([key, value]);
            }
            "spread_element" => {
                let value = lowering.lower(node, Role::Read);
                entries.extend([value, value]);
            }
            _ => {
                lowering.lower(node, Role::Read);
            }
        }
    }
    let entries = lowering.push_list(&entries);
    lowering.push_expression(Expression::Mapping { entries }, node.start_byte())
}

fn text<'t>(lowering: &mut Lowering<'t>, name: Node<'t>) -> ExpressionId {
    let text = lowering.name_of(name);
    lowering.push_expression(Expression::Text(text), name.start_byte())
}

/// A function in an object literal.
fn member<'t>(
    lowering: &mut Lowering<'t>,
    function: Node<'t>,
    name: Node<'t>,
    whole: Node<'t>,
    variable: Option<DefinitionId>,
    owner: Option<ExpressionId>,
) -> ExpressionId {
    let saved = lowering.definition;
    lowering.definition = variable.or(saved);
    let children = lowering.children(function);
    let id = lowering.define_as(function, lowering.rule(function), &children, Some(name), whole);
    lowering.definition = saved;
    let definition = &mut lowering.definitions[id.index()];
    // Accessors of an object are functions among its values.
    if matches!(definition.kind, Kind::Function | Kind::Property) {
        definition.kind = Kind::Method;
    }
    definition.owner = owner;
    lowering.push_expression(Expression::Definition(id), function.start_byte())
}

/// The field of an object literal that holds another one with functions in it.
fn nested<'t>(
    lowering: &mut Lowering<'t>,
    name: Node<'t>,
    whole: Node<'t>,
    variable: Option<DefinitionId>,
) -> DefinitionId {
    let saved = lowering.definition;
    lowering.definition = variable;
    let new = NewDefinition {
        kind: Kind::Field,
        name: lowering.name_of(name),
        name_at: Lowering::position(name),
        span: Lowering::span(whole),
    };
    let id = lowering.new_definition(new);
    lowering.definition = saved;
    lowering.definitions[id.index()].signature = lowering.first_line(whole);
    id
}

fn holds_functions(object: Node<'_>) -> bool {
    let mut cursor = object.walk();
    object.named_children(&mut cursor).any(|child| {
        child.kind() == "method_definition"
            || child
                .child_by_field_name("value")
                .is_some_and(|value| matches!(value.kind(), "arrow_function" | "function_expression" | "object"))
    })
}

/// `a.b = function …`, `Foo.prototype = …`, `module.exports = …`; anything else is an ordinary assignment.
pub(super) fn assignment<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let left = lowering.field(node, "left")?;
    let right = lowering.field(node, "right")?;
    let exported = modules::exported_by(lowering, left);
    let value = if is_function(lowering, right) {
        assign_function(lowering, node, left, right, exported.is_some())
    } else {
        if let Some(object) = prototype_of(lowering, left) {
            if right.kind() == "object" {
                lowering.mapping_owner = lowering.name_expression_of(object);
            } else if right.kind() == "call_expression"
                && lowering.text(right).starts_with("Object.create(")
                && let Some(base) = right
                    .child_by_field_name("arguments")
                    .and_then(|arguments| arguments.named_child(0))
            {
                inherits(lowering, object, base);
            } else if right.kind() == "new_expression"
                && let Some(base) = right.child_by_field_name("constructor")
            {
                inherits(lowering, object, base);
            }
        }
        lowering.act(node, lowering.rule(node), Role::Read)
    };
    if let Some(name) = exported {
        modules::common_export(lowering, name, value);
    }
    Some(value)
}

/// `Foo` of `Foo.prototype`.
fn prototype_of<'t>(lowering: &Lowering<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let property = (node.kind() == "member_expression")
        .then(|| lowering.field(node, "property"))
        .flatten()?;
    if lowering.text(property) == "prototype" {
        lowering.field(node, "object")
    } else {
        None
    }
}

fn assign_function<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    left: Node<'t>,
    right: Node<'t>,
    exported: bool,
) -> ExpressionId {
    let rule = lowering.rule(right);
    let (object, name) = match left.kind() {
        "member_expression" => (lowering.field(left, "object"), lowering.field(left, "property")),
        "identifier" => (None, Some(left)),
        _ => return lowering.act(node, lowering.rule(node), Role::Read),
    };
    let Some(mut name_node) = name else { return UNKNOWN };
    // What a module is as a whole goes by its own name where it has one.
    if let Some(own) = lowering.field(right, "name")
        && lowering.text(left) == "module.exports"
    {
        name_node = own;
    }
    let prototype = object.and_then(|object| prototype_of(lowering, object));
    let mut owner = None;
    let place = match object {
        Some(object) => {
            let object = lowering.lower(object, Role::Read);
            owner = match lowering.expression(object) {
                Expression::Member { object: type_, .. } if prototype.is_some() => Some(type_),
                _ => Some(object),
            };
            let name = lowering.name_of(name.unwrap_or(name_node));
            lowering.member_expression(object, name)
        }
        None => lowering.name_expression(name_node),
    };
    let children = lowering.children(right);
    let id = lowering.define_as(right, rule, &children, Some(name_node), node);
    let signature = lowering.first_line(node);
    lowering.definitions[id.index()].signature = signature;
    if let Some(owner) = owner.filter(|&owner| !exported && owner != UNKNOWN) {
        let definition = &mut lowering.definitions[id.index()];
        definition.owner = Some(owner);
        if definition.kind == Kind::Function {
            definition.kind = Kind::Method;
        }
    }
    let value = lowering.push_expression(Expression::Definition(id), right.start_byte());
    lowering.flow(place, value, node);
    value
}

/// `this.x = …` declares the field `x` of the class or constructor function around it, once.
pub(super) fn member_assigned<'t>(lowering: &mut Lowering<'t>, assignment: MemberAssignment<'t>) {
    if assignment.object.kind() != "this" {
        return;
    }
    let Some(function) =
        lowering.enclosing(|kind| matches!(kind, Kind::Method | Kind::Constructor | Kind::Property | Kind::Function))
    else {
        return;
    };
    let definition = &lowering.definitions[function.index()];
    let class = definition
        .parent
        .filter(|parent| lowering.definitions[parent.index()].kind == Kind::Class);
    let is_constructor = lowering
        .names
        .get(definition.name)
        .starts_with(|first: char| first.is_uppercase());
    let Some(owner) = class.or((definition.kind == Kind::Function && is_constructor).then_some(function)) else {
        return;
    };
    let Some(body) = lowering.definitions[owner.index()].body else {
        return;
    };
    let declared = class.is_some() && lowering.binding_in(body, assignment.name).is_some();
    if declared || !lowering.first_member(owner, assignment.name) {
        return;
    }
    let saved = (lowering.definition, lowering.scope);
    (lowering.definition, lowering.scope) = (Some(owner), body);
    let new = NewDefinition {
        kind: Kind::Field,
        name: assignment.name,
        name_at: Lowering::position(assignment.name_node),
        span: Lowering::span(assignment.statement),
    };
    let id = lowering.new_definition(new);
    (lowering.definition, lowering.scope) = saved;
    lowering.definitions[id.index()].signature = lowering.first_line(assignment.statement);
}

/// A class field that holds a function is a method.
pub(super) fn field<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let value = lowering
        .field(node, "value")
        .filter(|value| is_function(lowering, *value))?;
    let name = lowering
        .field(node, "name")
        .or_else(|| lowering.field(node, "property"))?;
    let name = key_name(name)?;
    let parts = lowering.children(node);
    let (flags, visibility) = lowering.modifiers(&parts);
    let children = lowering.children(value);
    let id = lowering.define_as(value, lowering.rule(value), &children, Some(name), node);
    let signature = lowering.first_line(node);
    let definition = &mut lowering.definitions[id.index()];
    definition.signature = signature;
    definition.flags.insert(flags);
    if let Some(visibility) = visibility {
        definition.visibility = visibility;
    }
    lowering.bind_definition(lowering.scope, id);
    Some(UNKNOWN)
}

/// `Object.assign`, `Object.create`, `Object.setPrototypeOf`, `util.inherits`.
pub(super) fn object_call<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    function: &str,
    arguments: Node<'t>,
) -> Option<ExpressionId> {
    let first = arguments.named_child(0)?;
    let second = arguments.named_child(1);
    match (function, second) {
        ("Object.assign", Some(second)) => {
            let prototype = prototype_of(lowering, first);
            if let Some(owner) = prototype.or((first.kind() == "identifier").then_some(first))
                && second.kind() == "object"
            {
                lowering.mapping_owner = lowering.name_expression_of(owner);
            }
            let value = lowering.act(node, lowering.rule(node), Role::Read);
            lowering.mapping_owner = None;
            // What is assigned can be found on the target from now on; on a prototype, it is what instances fall back to.
            if prototype.is_some()
                && let Expression::Call { arguments, .. } = lowering.expression(value)
                && arguments.len > 1
            {
                let argument = |at: u32| ExpressionId(lowering.lists[(arguments.start + at) as usize]);
                let (target, given) = (argument(0), argument(1));
                let name = lowering.names.intern(FALLBACK);
                let place = lowering.member_expression(target, name);
                lowering.flow(place, given, node);
                return Some(target);
            }
            if let Expression::Call { arguments, .. } = lowering.expression(value) {
                let arguments: Vec<ExpressionId> = (0..arguments.len)
                    .map(|at| ExpressionId(lowering.lists[(arguments.start + at) as usize]))
                    .collect();
                return Some(lowering.choice(&arguments));
            }
            Some(value)
        }
        ("Object.create", _) => {
            let value = lowering.act(node, lowering.rule(node), Role::Read);
            match lowering.expression(value) {
                Expression::Call { arguments, .. } if arguments.len > 0 => {
                    let base = ExpressionId(lowering.lists[arguments.start as usize]);
                    let key = lowering.names.intern(FALLBACK);
                    let key = lowering.push_expression(Expression::Text(key), node.start_byte());
                    let entries = lowering.push_list(&[key, base]);
                    Some(lowering.push_expression(Expression::Mapping { entries }, node.start_byte()))
                }
                _ => Some(value),
            }
        }
        ("Object.setPrototypeOf" | "util.inherits", Some(base)) => {
            let subtype = prototype_of(lowering, first).unwrap_or(first);
            inherits(lowering, subtype, base);
            None
        }
        _ => None,
    }
}

/// `subtype` takes its prototype from `base` (or `base.prototype`).
fn inherits<'t>(lowering: &mut Lowering<'t>, subtype: Node<'t>, base: Node<'t>) {
    let base = prototype_of(lowering, base).unwrap_or(base);
    if subtype.end_byte() - subtype.start_byte() > 200 || base.end_byte() - base.start_byte() > 200 {
        return;
    }
    let name = lowering.name_of(subtype);
    let bound = lowering
        .lookup(name)
        .map(|binding| lowering.bindings[binding.index()].to);
    if let Some(Bound::Definition(id)) = bound {
        let type_ = lowering.lower(base, Role::Inherit);
        lowering.add_base(id, type_, BaseKind::Extends);
    }
}
