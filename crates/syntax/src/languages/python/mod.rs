//! Python: receivers, instance attributes, docstrings, imports, comprehensions, `match`, string annotations.

mod annotations;
mod imports;
mod matching;

use crate::engine::{Action, Declare, Hoist, Hooks, Lowering, MemberAssignment, NewDefinition, UNKNOWN};
use crate::facts::{
    Bound, DefinitionId, Export, Expression, ExpressionId, Flags, Flow, Kind, Name, Passing, Role, ScopeId, ScopeKind,
    Visibility,
};
use tree_sitter::Node;

pub(super) struct Python;

impl Hooks for Python {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
        let kind = lowering.kind(node);
        match kind {
            "call" => call(lowering, node),
            "string" => {
                (role == Role::Type || role == Role::Inherit).then(|| annotations::string(lowering, node, role))
            }
            "binary_operator" if role == Role::Type => lowering
                .text(node)
                .contains('|')
                .then(|| annotations::union(lowering, node)),
            "binary_operator" => joined(lowering, node),
            "subscript" if is_slice(lowering, node) && role == Role::Read => Some(sliced(lowering, node)),
            "subscript" | "generic_type" => annotations::generic(lowering, node, role),
            "assignment" | "augmented_assignment" => {
                let extended = (kind == "augmented_assignment").then(|| extended(lowering, node));
                let value = match extended.flatten() {
                    Some(value) => value,
                    None => lowering.act(node, lowering.rule(node), role),
                };
                declared_exports(lowering, node);
                Some(value)
            }
            "yield" => {
                let from = node.child(1).is_some_and(|child| child.kind() == "from");
                from.then(|| delegate(lowering, node))
            }
            "list_comprehension" | "set_comprehension" | "generator_expression" | "dictionary_comprehension" => {
                Some(comprehension(lowering, node))
            }
            "with_item" => with_item(lowering, node),
            "except_clause" => except_clause(lowering, node),
            "global_statement" => Some(redirect(lowering, node, |_, _| ScopeId(0))),
            "nonlocal_statement" => Some(redirect(lowering, node, enclosing_function_with)),
            "if_statement" => if_statement(lowering, node),
            "match_statement" => Some(matching::statement(lowering, node)),
            "import_statement" => Some(imports::plain(lowering, node)),
            "import_from_statement" => Some(imports::from(lowering, node)),
            "type_alias_statement" => Some(type_alias(lowering, node)),
            "module" => {
                if let Some(docstring) = docstring(lowering, node) {
                    lowering.doc = lowering.clean_doc(docstring.start_byte(), docstring.end_byte());
                }
                None
            }
            _ => None,
        }
    }

    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        if let Some(docstring) = lowering.field(node, "body").and_then(|body| docstring(lowering, body)) {
            let doc = lowering.clean_doc(docstring.start_byte(), docstring.end_byte());
            let definition = &mut lowering.definitions[id.index()];
            definition.doc = doc.or(definition.doc);
            definition.doc_span = Some((docstring.start_byte() as u32, docstring.end_byte() as u32));
        }
        match lowering.definitions[id.index()].kind {
            Kind::Class => class(lowering, id),
            Kind::Function | Kind::Method | Kind::Constructor => function(lowering, id),
            _ => {}
        }
    }

    /// `self.x = …` declares the field `x` of the class, once.
    fn member_assigned<'t>(&self, lowering: &mut Lowering<'t>, assignment: MemberAssignment<'t>) {
        if assignment.object.kind() != "identifier" {
            return;
        }
        let is_method = |kind| matches!(kind, Kind::Method | Kind::Constructor | Kind::Property);
        let Some(method) = lowering.enclosing(is_method) else {
            return;
        };
        let receiver = lowering.definitions[method.index()].parameters.first();
        let object = lowering.text(assignment.object);
        if receiver
            .is_none_or(|receiver| receiver.passing != Passing::Receiver || lowering.names.get(receiver.name) != object)
        {
            return;
        }
        let Some(class) = lowering.definitions[method.index()].parent else {
            return;
        };
        let Some(body) = lowering.definitions[class.index()].body else {
            return;
        };
        if lowering.binding_in(body, assignment.name).is_some() || !lowering.first_member(class, assignment.name) {
            return;
        }
        let saved = (lowering.definition, lowering.scope);
        (lowering.definition, lowering.scope) = (Some(class), body);
        let new = NewDefinition {
            kind: Kind::Field,
            name: assignment.name,
            name_at: Lowering::position(assignment.name_node),
            span: Lowering::span(assignment.statement),
        };
        let id = lowering.new_definition(new);
        (lowering.definition, lowering.scope) = saved;
        let signature = lowering.first_line(assignment.statement);
        let definition = &mut lowering.definitions[id.index()];
        definition.signature = signature;
        if let Some((type_, text)) = assignment.type_ {
            definition.result = Some(type_);
            definition.result_text = Some(text);
        }
    }

    fn finish(&self, lowering: &mut Lowering<'_>) {
        for export in 0..lowering.exports.len() {
            let name = lowering.exports[export].name;
            let bound = lowering
                .binding_in(ScopeId(0), name)
                .map(|binding| lowering.bindings[binding.index()].to);
            if let Some(Bound::Definition(id)) = bound {
                let definition = &mut lowering.definitions[id.index()];
                definition.flags.insert(Flags::EXPORTED);
                definition.visibility = Visibility::Public;
            }
        }
    }
}

fn is_slice<'t>(lowering: &Lowering<'t>, node: Node<'t>) -> bool {
    let key = lowering.field(node, "subscript");
    key.is_some_and(|key| key.kind() == "slice")
}

/// `items[1:]` holds what `items` holds.
fn sliced<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let mut value = UNKNOWN;
    let object = lowering.field(node, "value");
    let children = lowering.children(node);
    for child in children.named().map(|child| child.node) {
        let lowered = lowering.lower(child, Role::Read);
        if Some(child) == object {
            value = lowered;
        }
    }
    value
}

/// The string that opens a body.
fn docstring<'t>(lowering: &Lowering<'t>, body: Node<'t>) -> Option<Node<'t>> {
    let mut at = 0;
    let mut statement = body.named_child(at)?;
    while lowering.rule(statement).action == Action::Comment {
        at += 1;
        statement = body.named_child(at)?;
    }
    let string = (statement.kind() == "expression_statement")
        .then(|| statement.named_child(0))
        .flatten()?;
    if string.kind() != "string" {
        return None;
    }
    let content = string.named_child(1)?;
    (content.kind() == "string_content").then_some(content)
}

fn class(lowering: &mut Lowering<'_>, id: DefinitionId) {
    let definition = &lowering.definitions[id.index()];
    let base_is = |accepts: fn(&str) -> bool| {
        definition
            .bases
            .iter()
            .any(|base| accepts(last_name(lowering, base.type_)))
    };
    let kind = if base_is(|base| {
        base.ends_with("Enum") || matches!(base, "Flag" | "IntFlag" | "Choices" | "TextChoices" | "IntegerChoices")
    }) {
        Kind::Enum
    } else if base_is(|base| base == "Protocol") {
        Kind::Interface
    } else if definition
        .decorators
        .iter()
        .any(|&decorator| last_name(lowering, decorator) == "dataclass")
    {
        Kind::Struct
    } else {
        Kind::Class
    };
    lowering.definitions[id.index()].kind = kind;
}

fn function(lowering: &mut Lowering<'_>, id: DefinitionId) {
    let definition = &lowering.definitions[id.index()];
    let is_method = definition.kind != Kind::Function;
    let name = lowering.names.get(definition.name);
    let mut flags = definition.flags;
    let mut kind = definition.kind;
    if name.starts_with("test_") || (is_method && name.starts_with("test") && in_test_case(lowering, id)) {
        flags.insert(Flags::TEST);
    }
    if is_method && matches!(name, "__new__" | "__init_subclass__" | "__class_getitem__") {
        flags.insert(Flags::CLASS_METHOD);
    }
    for &decorator in &definition.decorators {
        match last_name(lowering, decorator) {
            "staticmethod" => flags.insert(Flags::STATIC),
            "classmethod" => flags.insert(Flags::CLASS_METHOD),
            "abstractmethod" => flags.insert(Flags::ABSTRACT),
            "overload" => flags.insert(Flags::DECLARATION),
            "override" => flags.insert(Flags::OVERRIDE),
            "final" => flags.insert(Flags::FINAL),
            "deprecated" => flags.insert(Flags::DEPRECATED),
            "property" | "cached_property" | "abstractproperty" | "classproperty" if is_method => {
                kind = Kind::Property;
                flags.insert(Flags::GETTER);
            }
            "setter" | "deleter" if is_method => {
                kind = Kind::Property;
                flags.insert(Flags::SETTER);
            }
            _ => {}
        }
    }
    let definition = &mut lowering.definitions[id.index()];
    definition.flags = flags;
    definition.kind = kind;
    if !is_method || flags.contains(Flags::STATIC) {
        return;
    }
    let first = definition
        .parameters
        .first_mut()
        .filter(|first| first.passing == Passing::Normal);
    if let Some(first) = first {
        first.passing = Passing::Receiver;
        if let Some(binding) = first.binding {
            lowering.bindings[binding.index()].to = Bound::Receiver(id);
        }
    }
}

fn in_test_case(lowering: &Lowering<'_>, id: DefinitionId) -> bool {
    let Some(class) = lowering.definitions[id.index()].parent else {
        return false;
    };
    let class = &lowering.definitions[class.index()];
    lowering.names.get(class.name).starts_with("Test")
        || class
            .bases
            .iter()
            .any(|base| last_name(lowering, base.type_).contains("Test"))
}

/// The last name of `a.b.c`, `c`, `c(…)` or `c[…]`; empty for anything else.
fn last_name<'a>(lowering: &'a Lowering<'_>, id: ExpressionId) -> &'a str {
    match lowering.expression(id) {
        Expression::Free { name, .. } | Expression::Member { name, .. } => lowering.names.get(name),
        Expression::Call { callee: of, .. } | Expression::Generic { base: of, .. } => last_name(lowering, of),
        _ => "",
    }
}

/// Calls that mean more than a call: `super()`, `import_module("x")`, `cast(T, x)`, `getattr(x, "name")`.
fn call<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    const MEANINGFUL: [&str; 5] = ["super", "import_module", "__import__", "cast", "getattr"];
    let callee = node.child(0)?;
    // Nearly every call ends here, before anything is looked for in the tree.
    let text = lowering.text(callee);
    if !MEANINGFUL.iter().any(|name| text.ends_with(name)) {
        return None;
    }
    let name = match lowering.kind(callee) {
        "identifier" => text,
        "attribute" => lowering.text(lowering.field(callee, "attribute")?),
        _ => return None,
    };
    if !MEANINGFUL.contains(&name) {
        return None;
    }
    let rule = lowering.rule(node);
    let value = lowering.act(node, rule, Role::Read);
    let Expression::Call { arguments, .. } = lowering.expression(value) else {
        return Some(value);
    };
    let argument = |lowering: &Lowering<'t>, at: u32| {
        (at < arguments.len).then(|| ExpressionId(lowering.lists[(arguments.start + at) as usize]))
    };
    let (first, second) = (argument(lowering, 0), argument(lowering, 1));
    let text = |lowering: &Lowering<'t>, id: Option<ExpressionId>| match id.map(|id| lowering.expression(id)) {
        Some(Expression::Text(text)) => Some(text),
        _ => None,
    };
    let meaning = match name {
        // `super(Other, self)` goes on after another class than the one around: the call itself says which.
        "super" if !means_own_class(lowering, node) => return Some(value),
        "super" => Expression::Super(lowering.scope),
        "import_module" | "__import__" => Expression::Module(text(lowering, first)?),
        "cast" => {
            let type_ = lowering
                .field(node, "arguments")
                .and_then(|arguments| arguments.named_child(0));
            let type_ = match type_.filter(|type_| type_.kind() == "string") {
                Some(string) => annotations::string(lowering, string, Role::Type),
                None => first?,
            };
            second?;
            Expression::Typed(type_)
        }
        _ => Expression::Member {
            object: first?,
            name: text(lowering, second)?,
        },
    };
    let meaning = lowering.push_expression(meaning, node.start_byte());
    Some(meaning)
}

/// Whether a call of `super` names no class, or the one around.
fn means_own_class<'t>(lowering: &Lowering<'t>, call: Node<'t>) -> bool {
    let arguments = lowering.field(call, "arguments");
    let Some(named) = arguments.and_then(|arguments| arguments.named_child(0)) else {
        return true;
    };
    let Some(own) = lowering.enclosing(|kind| kind == Kind::Class) else {
        return true;
    };
    named.kind() != "identifier" || lowering.text(named) == lowering.names.get(lowering.definitions[own.index()].name)
}

fn delegate<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let value = node
        .named_child(0)
        .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
    if let Some(function) = lowering.enclosing_function() {
        lowering.definitions[function.index()].flags.insert(Flags::GENERATOR);
        let value = lowering.wrap(value, Expression::Element);
        lowering.flows.push(Flow::Yield { function, value });
    }
    UNKNOWN
}

/// The clauses come first, since they bind what the body mentions.
fn comprehension<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    lowering.in_scope(ScopeKind::Block, |lowering| {
        let body = lowering.field(node, "body");
        for child in children.named() {
            if Some(child.node) != body {
                lowering.lower(child.node, Role::Read);
            }
        }
        let Some(body) = body else { return UNKNOWN };
        if body.kind() == "pair" {
            let key = lowering
                .field(body, "key")
                .map_or(UNKNOWN, |key| lowering.lower(key, Role::Read));
            let value = lowering
                .field(body, "value")
                .map_or(UNKNOWN, |value| lowering.lower(value, Role::Read));
            let entries = lowering.push_list(&[key, value]);
            return lowering.push_expression(Expression::Mapping { entries }, node.start_byte());
        }
        let value = lowering.lower(body, Role::Read);
        let elements = lowering.push_list(&[value]);
        lowering.push_expression(Expression::Sequence { elements }, node.start_byte())
    })
}

fn is_sequence(node: &Node<'_>) -> bool {
    matches!(node.kind(), "list" | "tuple" | "list_comprehension")
}

/// `a += [b]` puts into `a` a container of what both hold.
fn extended<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let (left, right) = (lowering.field(node, "left")?, lowering.field(node, "right")?);
    if !is_sequence(&right) || left.kind() != "identifier" {
        return None;
    }
    let value = spread_together(lowering, node, [left, right]);
    lowering.assign(left, value, &Declare::new(Hoist::Function, node));
    Some(value)
}

/// `[a] + b` holds what both hold, `[a] * n` what the list holds.
fn joined<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    // A list or tuple stands at an end and has brackets around it.
    let text = lowering.text(node);
    if !text.starts_with(['[', '(']) && !text.ends_with([']', ')']) {
        return None;
    }
    let operator = lowering.field(node, "operator")?;
    let sides = [lowering.field(node, "left")?, lowering.field(node, "right")?];
    if !sides.iter().any(is_sequence) {
        return None;
    }
    match lowering.text(operator) {
        "+" => {}
        "*" => {
            let values = sides.map(|side| (is_sequence(&side), lowering.lower(side, Role::Read)));
            return values.iter().find(|(is_list, _)| *is_list).map(|(_, value)| *value);
        }
        _ => return None,
    }
    Some(spread_together(lowering, node, sides))
}

/// A container with the elements of both.
fn spread_together<'t>(lowering: &mut Lowering<'t>, at: Node<'t>, sides: [Node<'t>; 2]) -> ExpressionId {
    let name = lowering.names.intern("*");
    let spread = sides.map(|side| {
        let value = lowering.lower(side, Role::Read);
        lowering.wrap(value, |value| Expression::Argument { name, value })
    });
    let elements = lowering.push_list(&spread);
    lowering.push_expression(Expression::Sequence { elements }, at.start_byte())
}

fn with_item<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let item = lowering.field(node, "value")?;
    let statement = node.parent().and_then(|clause| clause.parent());
    let is_async = statement
        .and_then(|statement| statement.child(0))
        .is_some_and(|first| first.kind() == "async");
    if item.kind() != "as_pattern" {
        let manager = lowering.lower(item, Role::Read);
        enter(lowering, manager, item, is_async);
        return Some(UNKNOWN);
    }
    let manager = lowering.lower(item.named_child(0)?, Role::Read);
    let asynchronous = enter(lowering, manager, item, is_async);
    let mut entered = lowering.wrap(manager, Expression::Entered);
    if let Some(asynchronous) = asynchronous {
        entered = lowering.choice(&[asynchronous, entered]);
    }
    if let Some(target) = lowering.field(item, "alias").and_then(|alias| alias.named_child(0)) {
        lowering.assign(target, entered, &Declare::new(Hoist::Function, node));
    }
    Some(UNKNOWN)
}

/// Records what entering and leaving runs; for `async with`, gives what entering gives.
fn enter<'t>(lowering: &mut Lowering<'t>, manager: ExpressionId, at: Node<'t>, is_async: bool) -> Option<ExpressionId> {
    if !is_async {
        lowering.entered(manager, at);
        return None;
    }
    if !lowering.may_be_instance(manager) {
        return None;
    }
    let callee = lowering.implicit(manager, "__aenter__", at);
    lowering.implicit(manager, "__aexit__", at);
    let arguments = lowering.push_list(&[]);
    let entered = lowering.push_expression(Expression::Call { callee, arguments }, at.start_byte());
    Some(lowering.wrap(entered, Expression::Unwrap))
}

/// `except E as e`, whose pattern the grammar nests.
fn except_clause<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let children = lowering.children(node);
    let pattern = children.named().find(|child| child.node.kind() == "as_pattern")?.node;
    let caught = lowering.caught(pattern.named_child(0));
    if let Some(target) = lowering.field(pattern, "alias").and_then(|alias| alias.named_child(0)) {
        lowering.assign(target, caught, &Declare::new(Hoist::Function, node));
    }
    for child in children.named().filter(|child| child.node != pattern) {
        lowering.lower(child.node, Role::Read);
    }
    Some(UNKNOWN)
}

fn redirect<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, to: fn(&Lowering<'t>, Name) -> ScopeId) -> ExpressionId {
    let scope = lowering.function_scope();
    let children = lowering.children(node);
    for child in children.named() {
        let name = lowering.name_of(child.node);
        let target = to(lowering, name);
        if target != scope {
            lowering.redirects.insert((scope, name), target);
        }
    }
    UNKNOWN
}

/// The function around the current one that binds `name`; the nearest when none does so yet.
fn enclosing_function_with(lowering: &Lowering<'_>, name: Name) -> ScopeId {
    let mut nearest = None;
    let mut current = lowering.scopes[lowering.function_scope().index()].parent;
    while let Some(scope) = current {
        let here = &lowering.scopes[scope.index()];
        if here.kind == ScopeKind::Function {
            if lowering.binding_in(scope, name).is_some() {
                return scope;
            }
            nearest.get_or_insert(scope);
        }
        current = here.parent;
    }
    nearest.unwrap_or(ScopeId(0))
}

/// `if TYPE_CHECKING:` imports for types alone; what `if __name__ == "__main__":` calls is where the program starts.
fn if_statement<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let condition = lowering.text(lowering.field(node, "condition")?);
    let (imports, references) = (lowering.imports.len(), lowering.references.len());
    if condition.ends_with("TYPE_CHECKING") {
        let rule = lowering.rule(node);
        lowering.act(node, rule, Role::Read);
        let end = lowering
            .field(node, "consequence")
            .map_or(0, |body| body.end_position().row as u32 + 1);
        for import in &mut lowering.imports[imports..] {
            import.type_only = import.at.line <= end;
        }
        return Some(UNKNOWN);
    }
    if condition.contains("__name__") && condition.contains("__main__") {
        // It runs whenever the file is the program, so nothing in it is conditional.
        lowering.branches -= 1;
        let rule = lowering.rule(node);
        lowering.act(node, rule, Role::Read);
        lowering.branches += 1;
        for at in references..lowering.references.len() {
            let reference = lowering.references[at];
            if reference.role == Role::Call
                && let Expression::Free { name, .. } = lowering.expression(reference.expression)
                && let Some(binding) = lowering.binding_in(ScopeId(0), name)
                && let Bound::Definition(id) = lowering.bindings[binding.index()].to
            {
                lowering.definitions[id.index()].flags.insert(Flags::ENTRY_POINT);
            }
        }
        return Some(UNKNOWN);
    }
    None
}

fn type_alias<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let (Some(left), Some(right)) = (lowering.field(node, "left"), lowering.field(node, "right")) else {
        return UNKNOWN;
    };
    let mut name_node = left;
    while let Some(inner) = name_node.named_child(0) {
        name_node = inner;
    }
    let new = NewDefinition {
        kind: Kind::TypeAlias,
        name: lowering.name_of(name_node),
        name_at: Lowering::position(name_node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.definitions[id.index()].signature = lowering.first_line(node);
    lowering.bind_definition(lowering.scope, id);
    lowering.result_type(id, right);
    UNKNOWN
}

/// `__all__ = […]` and `__all__ += […]` say what importers see.
fn declared_exports<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) {
    let (Some(left), Some(right)) = (lowering.field(node, "left"), lowering.field(node, "right")) else {
        return;
    };
    if lowering.scope != ScopeId(0) || lowering.text(left) != "__all__" {
        return;
    }
    let mut pending = vec![right];
    while let Some(list) = pending.pop() {
        let children = lowering.children(list);
        for child in children.named() {
            match child.node.kind() {
                "string" => {
                    let Some(content) = child
                        .node
                        .named_child(1)
                        .filter(|content| content.kind() == "string_content")
                    else {
                        continue;
                    };
                    let name = lowering.name_of(content);
                    let value = lowering.push_expression(
                        Expression::Free {
                            name,
                            scope: ScopeId(0),
                        },
                        lowering.source.len(),
                    );
                    lowering.exports.push(Export {
                        name,
                        value: Some(value),
                        from: None,
                    });
                }
                "list" | "tuple" => pending.push(child.node),
                _ => {}
            }
        }
    }
}
