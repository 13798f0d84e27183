//! Ruby: bare words that are calls, `new`, blocks as last arguments, mixins, instance variables, what `attr_reader` and
//! `private` say.
//!
//! Instance variables keep their `@` and are members of `self`; a reader is a property that gives the variable's value.

mod classes;

use crate::engine::{Declare, Hoist, Hooks, Lowering, UNKNOWN};
use crate::facts::{
    BindingId, Bound, DefinitionId, Expression, ExpressionId, Flow, Import, ImportForm, Kind, Name, Parameter, Passing,
    Role, ScopeId,
};
use tree_sitter::Node;

pub(super) struct Ruby;

impl Hooks for Ruby {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "identifier" => bare_word(lowering, node, role),
            "instance_variable" | "class_variable" => Some(variable(lowering, node, role)),
            "call" => call(lowering, node),
            "assignment" | "operator_assignment" => set_member(lowering, node),
            "super" => Some(inherited(lowering, node, None)),
            "scope_resolution" => match (lowering.field(node, "scope"), lowering.field(node, "name")) {
                (None, Some(name)) => Some(outermost(lowering, name, role)),
                _ => None,
            },
            "class" | "module" => classes::qualified(lowering, node),
            "singleton_class" => Some(classes::singleton(lowering, node)),
            "body_statement" => Some(classes::body(lowering, node)),
            "block_argument" => Some(block_argument(lowering, node)),
            "binary" => binary(lowering, node),
            "rescue" => Some(rescue(lowering, node)),
            "return" => Some(returned(lowering, node)),
            "yield" => Some(yielded(lowering, node)),
            "alias" => Some(classes::alias(
                lowering,
                node,
                [lowering.field(node, "name"), lowering.field(node, "alias")],
            )),
            _ => None,
        }
    }

    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        classes::finish_definition(lowering, id, node);
    }
}

/// `::Name` is the constant outside of all modules, whatever those around have of that name.
fn outermost<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let (name, scope) = (lowering.name_of(node), ScopeId(0));
    let constant = lowering.push_expression(Expression::Free { name, scope }, node.start_byte());
    lowering.reference(constant, role, node);
    constant
}

/// A word that no variable bears calls a method of `self`.
fn bare_word<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
    let name = lowering.name_of(node);
    let bound = lowering
        .lookup(name)
        .map(|binding| lowering.bindings[binding.index()].to);
    let is_variable = match bound {
        Some(Bound::Local | Bound::Parameter(_) | Bound::Receiver(_)) => true,
        Some(Bound::Definition(id)) => lowering.definitions[id.index()].kind == Kind::Variable,
        _ => false,
    };
    if role != Role::Read || is_variable {
        return None;
    }
    let arguments = lowering.push_list(&[]);
    let at = node.start_byte();
    if let Some(class) = classes::class_around(lowering).filter(|_| lowering.text(node) == "new") {
        let type_ = lowering.push_expression(Expression::Definition(class), at);
        lowering.reference(type_, Role::Instantiate, node);
        return Some(lowering.push_expression(Expression::New { type_, arguments }, at));
    }
    let scope = lowering.scope;
    let callee = lowering.push_expression(Expression::Free { name, scope }, at);
    lowering.reference(callee, Role::Call, node);
    Some(lowering.push_expression(Expression::Call { callee, arguments }, at))
}

/// `@x` is a member of `self`.
fn variable<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, _: Role) -> ExpressionId {
    let this = lowering.push_expression(Expression::This(lowering.scope), node.start_byte());
    let name = lowering.name_of(node);
    lowering.member_expression(this, name)
}

/// Calls that mean more than a call, and the block that goes with any.
fn call<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let method = lowering.field(node, "method")?;
    let receiver = lowering.field(node, "receiver");
    let arguments = lowering.field(node, "arguments");
    let at = node.start_byte();
    let text = lowering.text(method);
    if receiver.is_none() {
        match text {
            "require" | "require_relative" | "load" => return Some(require(lowering, text, arguments)),
            "include" | "extend" | "prepend" if classes::in_type(lowering) => {
                return Some(classes::mix(lowering, arguments));
            }
            "attr_reader" | "attr_accessor" | "attr_writer" if classes::in_type(lowering) => {
                return Some(classes::attributes(lowering, node, arguments));
            }
            "alias_method" if classes::in_type(lowering) => {
                let names: Vec<Node<'t>> = lowering.children(arguments?).named().map(|child| child.node).collect();
                return Some(classes::alias(
                    lowering,
                    node,
                    [names.first().copied(), names.get(1).copied()],
                ));
            }
            "define_method" if classes::in_type(lowering) => {
                if let Some(made) = classes::made_method(lowering, node, arguments) {
                    return Some(made);
                }
            }
            "private" | "protected" | "public" | "module_function" | "private_class_method" => return None,
            "raise" | "puts" | "p" | "print" | "lambda" | "proc" => {}
            _ => {}
        }
    }
    if method.kind() == "super" {
        return Some(inherited(lowering, node, arguments));
    }
    let (listed, count) = lowering.listed_arguments(arguments);
    let block = lowering.field(node, "block");
    let first_symbol = listed
        .as_ref()
        .and_then(|listed| listed.named().next())
        .map(|first| first.node);
    let first_symbol = first_symbol.and_then(|first| symbol(lowering, first));
    if let (Some(name), "method", 1) = (first_symbol, text, count) {
        return Some(named_member(lowering, receiver, name, method));
    }
    // `x.send(:name, …)` is `x.name(…)`.
    let sent = first_symbol.filter(|_| matches!(text, "send" | "__send__" | "public_send"));
    let makes = text == "new" && (receiver.is_some() || classes::class_around(lowering).is_some());
    let target = match (receiver, makes) {
        (Some(receiver), true) => {
            lowering.call_arguments = count;
            let type_ = lowering.lower(receiver, Role::Instantiate);
            lowering.call_arguments = 0;
            type_
        }
        (None, true) => {
            let class = classes::class_around(lowering)?;
            let type_ = lowering.push_expression(Expression::Definition(class), at);
            lowering.reference(type_, Role::Instantiate, method);
            type_
        }
        (Some(receiver), false) => {
            let object = lowering.lower(receiver, Role::Read);
            let name = sent.unwrap_or_else(|| lowering.name_of(method));
            let member = lowering.member_expression(object, name);
            lowering.call_arguments = count;
            lowering.reference(member, Role::Call, method);
            lowering.call_arguments = 0;
            member
        }
        (None, false) => {
            let name = sent.unwrap_or_else(|| lowering.name_of(method));
            let scope = lowering.scope;
            let target = lowering.push_expression(Expression::Free { name, scope }, method.start_byte());
            lowering.call_arguments = count;
            lowering.reference(target, Role::Call, method);
            lowering.call_arguments = 0;
            target
        }
    };
    let mut values: Vec<ExpressionId> = match &listed {
        Some(listed) => lowering.lower_all(listed, Role::Read).to_vec(),
        None => arguments
            .map(|argument| lowering.lower(argument, Role::Read))
            .into_iter()
            .collect(),
    };
    let last = listed.as_ref().and_then(|listed| listed.named().last());
    if let Expression::Member { object, .. } = lowering.expression(target)
        && let Some(block) = last.and_then(|last| symbol_block(lowering, object, last.node))
    {
        values.pop();
        values.push(block);
    }
    if sent.is_some() && !values.is_empty() {
        values.remove(0);
    }
    if let Some(block) = block {
        let value = lowering.lower(block, Role::Read);
        if receiver.is_none() && matches!(text, "lambda" | "proc") && values.is_empty() {
            return Some(value);
        }
        values.push(as_block(lowering, value, block));
    }
    let arguments = lowering.push_list(&values);
    let expression = if makes {
        Expression::New {
            type_: target,
            arguments,
        }
    } else {
        Expression::Call {
            callee: target,
            arguments,
        }
    };
    Some(lowering.push_expression(expression, at))
}

/// `object.name = value` calls the method `name=`, or sets the variable that a writer of that name would.
fn set_member<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let (left, right) = (lowering.field(node, "left")?, lowering.field(node, "right")?);
    if left.kind() != "call" || lowering.field(left, "arguments").is_some() {
        return None;
    }
    let (receiver, method) = (lowering.field(left, "receiver")?, lowering.field(left, "method")?);
    let value = lowering.lower(right, Role::Read);
    let object = if node.kind() == "operator_assignment" {
        // `a.b ||= c` reads first: the object is that of the reader.
        let read = lowering.lower(left, Role::Read);
        let Expression::Call { callee, .. } = lowering.expression(read) else {
            return Some(value);
        };
        match lowering.expression(callee) {
            Expression::Member { object, .. } => object,
            _ => return Some(value),
        }
    } else {
        lowering.lower(receiver, Role::Read)
    };
    if object == UNKNOWN {
        return Some(value);
    }
    let bare = lowering.text(method);
    let names = [bare.to_string(), format!("{bare}="), format!("@{bare}")].map(|name| lowering.names.intern(&name));
    let [reader, writer, variable] = names.map(|name| lowering.member_expression(object, name));
    lowering.reference(reader, Role::Write, method);
    lowering.call_arguments = 1;
    lowering.reference(writer, Role::Call, method);
    lowering.call_arguments = 0;
    let arguments = lowering.push_list(&[value]);
    let call = Expression::Call {
        callee: writer,
        arguments,
    };
    lowering.push_expression(call, node.start_byte());
    lowering.flow(variable, value, node);
    Some(value)
}

/// `super` calls the method of the same name in the bases.
fn inherited<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, arguments: Option<Node<'t>>) -> ExpressionId {
    let method = lowering.enclosing(|kind| matches!(kind, Kind::Method | Kind::Constructor));
    let Some(method) = method else { return UNKNOWN };
    let name = lowering.definitions[method.index()].name;
    let bases = lowering.push_expression(Expression::Super(lowering.scope), node.start_byte());
    let callee = lowering.member_expression(bases, name);
    let (listed, count) = lowering.listed_arguments(arguments);
    lowering.call_arguments = count;
    lowering.reference(callee, Role::Call, node);
    lowering.call_arguments = 0;
    let arguments = lowering.lower_arguments(arguments, listed.as_ref());
    lowering.push_expression(Expression::Call { callee, arguments }, node.start_byte())
}

fn require<'t>(lowering: &mut Lowering<'t>, word: &str, arguments: Option<Node<'t>>) -> ExpressionId {
    let Some(arguments) = arguments else { return UNKNOWN };
    let text = lowering
        .children(arguments)
        .named()
        .next()
        .map(|child| child.node)
        .filter(|child| child.kind() == "string");
    let content = text.and_then(|text| {
        lowering
            .children(text)
            .named()
            .map(|child| child.node)
            .find(|child| child.kind() == "string_content")
    });
    let Some(content) = content else { return UNKNOWN };
    let path = lowering.text(content);
    // A relative path says so, whichever word it came with.
    let path = if word == "require_relative" && !path.starts_with('.') {
        format!("./{path}")
    } else {
        path.to_string()
    };
    let module = lowering.names.intern(&path);
    lowering.push_import(Import {
        module,
        member: None,
        alias: None,
        form: ImportForm::Include,
        level: 0,
        reexported: true,
        type_only: false,
        at: Lowering::position(content),
        within: lowering.definition,
    });
    UNKNOWN
}

/// `&block` passes the block on.
fn block_argument<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let inner = lowering.children(node).named().next().map(|child| child.node);
    let value = inner.map_or(UNKNOWN, |inner| lowering.lower(inner, Role::Read));
    as_block(lowering, value, node)
}

/// `all.each(&:name)` calls that method of every element.
fn symbol_block<'t>(lowering: &mut Lowering<'t>, container: ExpressionId, last: Node<'t>) -> Option<ExpressionId> {
    if last.kind() != "block_argument" {
        return None;
    }
    let inner = lowering.children(last).named().next()?.node;
    let name = symbol(lowering, inner)?;
    let element = lowering.wrap(container, Expression::Element);
    let member = lowering.member_expression(element, name);
    lowering.reference(member, Role::Call, inner);
    Some(as_block(lowering, member, last))
}

/// An argument that is passed as block.
fn as_block<'t>(lowering: &mut Lowering<'t>, value: ExpressionId, node: Node<'t>) -> ExpressionId {
    let name = lowering.names.intern("&");
    lowering.push_expression(Expression::Argument { name, value }, node.start_byte())
}

/// The name that a symbol or a plain text says.
fn symbol<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<Name> {
    let text = lowering.text(node);
    let bare = match node.kind() {
        "simple_symbol" => text.strip_prefix(':')?,
        "string" => text.trim_matches(['"', '\'']),
        _ => return None,
    };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '?' | '!' | '=');
    (!bare.is_empty() && bare.chars().all(plain)).then(|| lowering.names.intern(bare))
}

/// `method(:name)` is the method as a value.
fn named_member<'t>(lowering: &mut Lowering<'t>, receiver: Option<Node<'t>>, name: Name, at: Node<'t>) -> ExpressionId {
    let member = match receiver {
        Some(receiver) => {
            let object = lowering.lower(receiver, Role::Read);
            lowering.member_expression(object, name)
        }
        None => {
            let scope = lowering.scope;
            lowering.push_expression(Expression::Free { name, scope }, at.start_byte())
        }
    };
    lowering.reference(member, Role::Read, at);
    member
}

/// `yield` calls the block that the method around is given, whether it names one or not.
fn yielded<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let arguments = lowering.children(node).named().next().map(|child| child.node);
    let (listed, count) = lowering.listed_arguments(arguments);
    let at = node.start_byte();
    let method = lowering.enclosing(|kind| matches!(kind, Kind::Method | Kind::Constructor | Kind::Function));
    let callee = match method.and_then(|method| block_of(lowering, method)) {
        Some(binding) => lowering.push_expression(Expression::Bound { binding, at: at as u32 }, at),
        None => UNKNOWN,
    };
    if callee != UNKNOWN {
        lowering.call_arguments = count;
        lowering.reference(callee, Role::Call, node);
        lowering.call_arguments = 0;
    }
    let arguments = lowering.lower_arguments(arguments, listed.as_ref());
    lowering.push_expression(Expression::Call { callee, arguments }, at)
}

/// What the block of a method is bound to.
fn block_of(lowering: &mut Lowering<'_>, method: DefinitionId) -> Option<BindingId> {
    let definition = &lowering.definitions[method.index()];
    let named = definition
        .parameters
        .iter()
        .find(|known| known.passing == Passing::Block);
    if let Some(named) = named {
        return named.binding;
    }
    let scope = definition.body?;
    let name = lowering.names.intern("&");
    let binding = lowering.bind(scope, name, Bound::Parameter(method), 0);
    let parameter = Parameter::untyped(name, Some(binding), Passing::Block);
    lowering.definitions[method.index()].parameters.push(parameter);
    Some(binding)
}

/// `a || b` is one of both, `a << b` puts the one into the other, which is what it is worth.
fn binary<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let operator = lowering.field(node, "operator")?;
    let text = lowering.text(operator);
    if !matches!(text, "||" | "or" | "<<") {
        return None;
    }
    let (left, right) = (lowering.field(node, "left")?, lowering.field(node, "right")?);
    let (left, right) = (lowering.lower(left, Role::Read), lowering.lower(right, Role::Read));
    if text != "<<" {
        return Some(lowering.choice(&[left, right]));
    }
    if left != UNKNOWN && lowering.may_be_instance(left) {
        let callee = lowering.implicit(left, text, operator);
        let arguments = lowering.push_list(&[right]);
        lowering.push_expression(Expression::Call { callee, arguments }, node.start_byte());
    }
    Some(left)
}

/// `rescue A, B => e`: the variable holds an instance of any.
fn rescue<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let mut types = Vec::new();
    if let Some(exceptions) = lowering.field(node, "exceptions") {
        let listed: Vec<Node<'t>> = lowering.children(exceptions).named().map(|child| child.node).collect();
        types.extend(listed.into_iter().map(|type_| lowering.lower(type_, Role::Type)));
    }
    let variable = lowering.field(node, "variable");
    let name = variable.and_then(|variable| lowering.children(variable).named().next().map(|child| child.node));
    if let Some(name) = name.filter(|name| name.kind() == "identifier") {
        let type_ = lowering.choice(&types);
        let value = lowering.wrap(type_, Expression::Typed);
        let declare = Declare::new(Hoist::Function, name);
        lowering.assign(name, value, &declare);
    }
    if let Some(body) = lowering.field(node, "body") {
        lowering.walk_node(body);
    }
    UNKNOWN
}

fn returned<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let list = lowering.children(node).named().next().map(|child| child.node);
    let values: Vec<ExpressionId> = match list {
        Some(list) => {
            let children = lowering.children(list);
            lowering.lower_all(&children, Role::Read).to_vec()
        }
        None => Vec::new(),
    };
    if let (Some(function), [value]) = (lowering.enclosing_function(), values.as_slice())
        && *value != UNKNOWN
    {
        lowering.flows.push(Flow::Return {
            function,
            value: *value,
        });
    }
    UNKNOWN
}
