//! PHP: namespaces and `use`, properties, promoted parameters, traits, and the types that PHPDoc gives where the code is silent.
//!
//! Variables keep their `$` as part of the name, so they never meet functions, classes and constants of the same name;
//! properties are known without it, since `$this->name` is how they are mentioned.

mod declarations;
mod phpdoc;

use crate::engine::{Declare, Hoist, Hooks, Lowering, UNKNOWN};
use crate::facts::{Bound, DefinitionId, Expression, ExpressionId, Import, ImportForm, Kind, Role, ScopeKind};
use tree_sitter::Node;

pub(super) struct Php;

impl Hooks for Php {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "variable_name" => (lowering.text(node) == "$this")
                .then(|| lowering.push_expression(Expression::This(lowering.scope), node.start_byte())),
            "name" | "relative_scope" => relative(lowering, node, role),
            "qualified_name" | "relative_name" => Some(qualified(lowering, node, role)),
            "namespace_definition" => Some(namespace(lowering, node)),
            "namespace_use_declaration" => Some(use_declaration(lowering, node)),
            "const_declaration" => Some(declarations::constants(lowering, node)),
            "property_declaration" => Some(declarations::properties(lowering, node)),
            "use_declaration" => Some(declarations::traits(lowering, node)),
            "anonymous_class" => Some(declarations::anonymous_class(lowering, node)),
            "object_creation_expression" => declarations::new_anonymous(lowering, node),
            "scoped_property_access_expression" => static_property(lowering, node, role),
            "class_constant_access_expression" => class_constant(lowering, node),
            "array_creation_expression" => array(lowering, node),
            "binary_expression" => either(lowering, node),
            "foreach_statement" => Some(for_each(lowering, node)),
            "catch_clause" => Some(catch(lowering, node)),
            "heredoc" => {
                lowering.walk_node(node);
                None
            }
            kind if kind.starts_with("include") || kind.starts_with("require") => include(lowering, node),
            _ => None,
        }
    }

    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        declarations::finish_definition(lowering, id, node);
        phpdoc::apply(lowering, id);
    }
}

/// The class around the current place.
fn enclosing_class(lowering: &Lowering<'_>) -> Option<DefinitionId> {
    lowering.enclosing(|kind| matches!(kind, Kind::Class | Kind::Interface | Kind::Trait | Kind::Enum))
}

/// `self` and `static` are the class around, `parent` its bases. Any other name is a name.
fn relative<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
    let at = node.start_byte();
    match lowering.text(node) {
        "self" | "static" => {
            let class = enclosing_class(lowering)?;
            let value = lowering.push_expression(Expression::Definition(class), at);
            if matches!(role, Role::Instantiate | Role::Type) {
                lowering.reference(value, role, node);
            }
            Some(value)
        }
        "parent" => Some(lowering.push_expression(Expression::Super(lowering.scope), at)),
        _ => None,
    }
}

/// `A\B` starts at an alias or in the current namespace, `\A\B` at the root, `namespace\A` in the current one. Written out as
/// members of members from the root, as resolution knows namespaces.
fn qualified<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let text = lowering.text(node);
    let absolute = text.starts_with('\\');
    let bare = text.trim_start_matches('\\');
    let Some(name_node) = lowering.children(node).named().next_back().map(|child| child.node) else {
        return UNKNOWN;
    };
    let mut parts: Vec<&str> = bare.split('\\').map(str::trim).collect();
    let package = lowering
        .package
        .map(|package| lowering.names.get(package).to_string())
        .unwrap_or_default();
    let inside_namespace = parts.first() == Some(&"namespace");
    if inside_namespace {
        parts.remove(0);
    }
    let mut value = UNKNOWN;
    let first = parts.first().map(|first| lowering.names.intern(first));
    let aliased = !absolute && !inside_namespace && first.is_some_and(|first| lowering.lookup(first).is_some());
    let namespace = if absolute || aliased { "" } else { package.as_str() };
    let owned: Vec<String> = namespace
        .split('\\')
        .filter(|part| !part.is_empty())
        .chain(parts.iter().copied())
        .map(str::to_string)
        .collect();
    for (position, part) in owned.iter().enumerate() {
        let name = lowering.names.intern(part);
        value = if position == 0 {
            lowering.push_expression(
                Expression::Free {
                    name,
                    scope: lowering.scope,
                },
                node.start_byte(),
            )
        } else {
            lowering.member_expression(value, name)
        };
    }
    if value != UNKNOWN {
        lowering.reference(value, role, name_node);
    }
    value
}

/// `namespace A\B;` holds for the rest of the file, `namespace A { … }` for its body.
fn namespace<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let name = lowering.field(node, "name").map(|name| lowering.name_of(name));
    if let Some(name) = name {
        lowering.package = Some(name);
    }
    if let Some(body) = lowering.field(node, "body") {
        lowering.walk_node(body);
    }
    UNKNOWN
}

/// `use A\B\C as D;`, `use A\{B, C as D};`, `use function A\f;`: each takes one member of a namespace.
fn use_declaration<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let children = lowering.children(node);
    let prefix = children
        .named()
        .map(|child| child.node)
        .find(|child| child.kind() == "namespace_name");
    let prefix = prefix
        .map(|prefix| lowering.text(prefix).to_string())
        .unwrap_or_default();
    let mut clauses: Vec<Node<'t>> = Vec::new();
    for child in children.named() {
        match child.node.kind() {
            "namespace_use_clause" => clauses.push(child.node),
            "namespace_use_group" => {
                let group = lowering.children(child.node);
                clauses.extend(
                    group
                        .named()
                        .map(|inner| inner.node)
                        .filter(|inner| inner.kind() == "namespace_use_clause"),
                );
            }
            _ => {}
        }
    }
    for clause in clauses {
        let parts = lowering.children(clause);
        let Some(path_node) = parts
            .named()
            .map(|part| part.node)
            .find(|part| part.kind() != "comment")
        else {
            continue;
        };
        let text = lowering.text(path_node).trim_start_matches('\\');
        let full = if prefix.is_empty() {
            text.to_string()
        } else {
            format!("{prefix}\\{text}")
        };
        let full = full.trim_start_matches('\\').to_string();
        let (module, member) = full.rsplit_once('\\').unwrap_or(("", &full));
        let (module, member) = (lowering.names.intern(module), lowering.names.intern(member));
        let alias = lowering
            .field(clause, "alias")
            .map_or(member, |alias| lowering.name_of(alias));
        let name_node = lowering
            .children(path_node)
            .named()
            .next_back()
            .map_or(path_node, |last| last.node);
        let import = lowering.push_import(Import {
            module,
            member: Some(member),
            alias: Some(alias),
            form: ImportForm::Member,
            level: 0,
            reexported: false,
            type_only: false,
            at: Lowering::position(name_node),
            within: None,
        });
        lowering.bind_import(lowering.scope, alias, Bound::Import(import), clause);
    }
    UNKNOWN
}

/// `require __DIR__ . '/x.php'` takes the text of another file, as far as the text of the name is known.
fn include<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let mut literal = None;
    let mut stack = vec![node];
    while let Some(at) = stack.pop() {
        let children = lowering.children(at);
        for child in children.named() {
            if child.node.kind() == "string_content" {
                literal.get_or_insert(child.node);
            }
            if matches!(
                child.node.kind(),
                "binary_expression" | "string" | "encapsed_string" | "parenthesized_expression"
            ) {
                stack.push(child.node);
            }
        }
    }
    let text = literal?;
    let module = lowering.text(text).trim_start_matches('/').to_string();
    let module = lowering.names.intern(&module);
    lowering.push_import(Import {
        module,
        member: None,
        alias: None,
        form: ImportForm::Include,
        level: 0,
        reexported: false,
        type_only: false,
        at: Lowering::position(text),
        within: lowering.definition,
    });
    None
}

/// `A::$x` is the property `x`.
fn static_property<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
    let name_node = lowering
        .field(node, "name")
        .filter(|name| name.kind() == "variable_name")?;
    let scope = lowering.field(node, "scope")?;
    let object = lowering.lower(scope, Role::Read);
    let name = lowering.text(name_node).trim_start_matches('$');
    let name = lowering.names.intern(name);
    let value = lowering.member_expression(object, name);
    lowering.reference(value, role, name_node);
    Some(value)
}

/// `User::class` is the class itself: frameworks take it for the type.
fn class_constant<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let children = lowering.children(node);
    let name = children.named().next_back().map(|child| child.node)?;
    let object = children.named().next().map(|child| child.node)?;
    (lowering.text(name) == "class" && name != object).then(|| lowering.lower(object, Role::Read))
}

/// `['a' => 1]` maps; `[$object, 'method']` is a callable: the method of the object.
fn array<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let elements: Vec<Node<'t>> = lowering.children(node).named().map(|child| child.node).collect();
    let mut entries: Vec<ExpressionId> = Vec::new();
    let mut keyed = false;
    let mut values: Vec<(ExpressionId, Node<'t>)> = Vec::new();
    for element in elements
        .iter()
        .filter(|element| element.kind() == "array_element_initializer")
    {
        let parts: Vec<Node<'t>> = lowering.children(*element).named().map(|part| part.node).collect();
        match parts.as_slice() {
            [key, value] => {
                keyed = true;
                entries.push(lowering.lower(*key, Role::Read));
                entries.push(lowering.lower(*value, Role::Read));
            }
            [value] => {
                let lowered = lowering.lower(*value, Role::Read);
                values.push((lowered, *value));
            }
            _ => {}
        }
    }
    let at = node.start_byte();
    if keyed {
        let entries = lowering.push_list(&entries);
        return Some(lowering.push_expression(Expression::Mapping { entries }, at));
    }
    if let [(object, object_node), (method, method_node)] = values.as_slice()
        && let Expression::Text(name) = lowering.expression(*method)
        && matches!(
            object_node.kind(),
            "variable_name" | "class_constant_access_expression" | "relative_scope"
        )
    {
        let callable = lowering.member_expression(*object, name);
        lowering.reference(callable, Role::Read, *method_node);
        return Some(callable);
    }
    let values: Vec<ExpressionId> = values.into_iter().map(|(value, _)| value).collect();
    let elements = lowering.push_list(&values);
    Some(lowering.push_expression(Expression::Sequence { elements }, at))
}

/// `a ?? b` and `a ?: b` are one of both; other operators give nothing of interest.
fn either<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let operator = lowering.field(node, "operator")?;
    if lowering.text(operator) != "??" {
        return None;
    }
    let (left, right) = (lowering.field(node, "left")?, lowering.field(node, "right")?);
    let (left, right) = (lowering.lower(left, Role::Read), lowering.lower(right, Role::Read));
    Some(lowering.choice(&[left, right]))
}

/// `foreach ($items as $key => $value)`: the value is an element.
fn for_each<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let body = lowering.field(node, "body");
    let parts: Vec<Node<'t>> = lowering
        .children(node)
        .named()
        .map(|child| child.node)
        .filter(|part| Some(*part) != body)
        .collect();
    if let [items, target, ..] = parts.as_slice() {
        let items = lowering.lower(*items, Role::Read);
        let element = lowering.wrap(items, Expression::Element);
        let declare = Declare::new(Hoist::Function, *target);
        match target.kind() {
            "pair" => {
                let pair: Vec<Node<'t>> = lowering.children(*target).named().map(|child| child.node).collect();
                if let [key, value] = pair.as_slice() {
                    lowering.assign(*key, UNKNOWN, &declare);
                    lowering.assign(*value, element, &declare);
                }
            }
            _ => lowering.assign(*target, element, &declare),
        }
    }
    if let Some(body) = body {
        lowering.walk_node(body);
    }
    UNKNOWN
}

/// `catch (A|B $e)`: the variable holds an instance of either.
fn catch<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let type_ = lowering
        .field(node, "type")
        .map_or(UNKNOWN, |type_| lowering.lower_type(type_));
    if let Some(name) = lowering.field(node, "name") {
        let value = lowering.wrap(type_, Expression::Typed);
        let declare = Declare::new(Hoist::Function, name);
        lowering.assign(name, value, &declare);
    }
    if let Some(body) = lowering.field(node, "body") {
        lowering.walk_node(body);
    }
    UNKNOWN
}

/// Whether the current scope is the body of a type.
fn in_type(lowering: &Lowering<'_>) -> bool {
    lowering.scopes[lowering.scope.index()].kind == ScopeKind::Type
}
