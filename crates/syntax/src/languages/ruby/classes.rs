//! Bodies of classes, modules and methods: visibility sections, readers, mixins, singleton methods, and the value of the last
//! expression, which a method returns.

use crate::engine::{Lowering, NewDefinition, UNKNOWN};
use crate::facts::{
    BaseKind, DefinitionId, Expression, ExpressionId, Flags, Flow, Import, ImportForm, Kind, Role, ScopeKind,
    Visibility,
};
use tree_sitter::Node;

/// Whether the current scope is the body of a class or module.
pub(super) fn in_type(lowering: &Lowering<'_>) -> bool {
    matches!(
        lowering.scopes[lowering.scope.index()].kind,
        ScopeKind::Type | ScopeKind::Module
    )
}

/// The class or module around the current place.
pub(super) fn class_around(lowering: &Lowering<'_>) -> Option<DefinitionId> {
    lowering.enclosing(|kind| matches!(kind, Kind::Class | Kind::Module))
}

/// `class A::B` defines `B` in `A`.
pub(super) fn qualified<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let name = lowering
        .field(node, "name")
        .filter(|name| name.kind() == "scope_resolution")?;
    let last = lowering.field(name, "name")?;
    let rule = lowering.rule(node);
    let children = lowering.children(node);
    let id = lowering.define_as(node, rule, &children, Some(last), node);
    if let Some(scope) = lowering.field(name, "scope") {
        let owner = lowering.lower(scope, Role::Read);
        if owner != UNKNOWN {
            lowering.definitions[id.index()].owner = Some(owner);
        }
    }
    Some(lowering.push_expression(Expression::Definition(id), node.start_byte()))
}

/// `class << self`: its methods belong to the class itself.
pub(super) fn singleton<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let before = lowering.definitions.len();
    let owner = lowering.definition;
    if let Some(body) = lowering.field(node, "body") {
        lowering.lower(body, Role::Read);
    }
    for definition in &mut lowering.definitions[before..] {
        if definition.parent == owner && matches!(definition.kind, Kind::Method | Kind::Property) {
            definition.flags.insert(Flags::STATIC);
        }
    }
    UNKNOWN
}

/// Statements in order. In a class, `private` alone holds for the methods after it; in a method, the last value is returned.
pub(super) fn body<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let statements: Vec<Node<'t>> = lowering.children(node).named().map(|child| child.node).collect();
    if !in_type(lowering) {
        let mut last = UNKNOWN;
        for statement in statements {
            match statement.kind() {
                "comment" => lowering.comment(statement),
                "rescue" | "ensure" | "else" => {
                    lowering.lower(statement, Role::Read);
                }
                _ => last = lowering.lower(statement, Role::Read),
            }
        }
        if let Some(function) = lowering.enclosing_function().filter(|_| last != UNKNOWN) {
            lowering.flows.push(Flow::Return { function, value: last });
        }
        return last;
    }
    // The comment of the first member stands before the body, among the children of the class.
    let before = node.prev_named_sibling().filter(|before| before.kind() == "comment");
    if let Some(comment) = before {
        lowering.comment(comment);
    }
    let mut section = Visibility::Public;
    for statement in statements {
        if statement.kind() == "comment" {
            lowering.comment(statement);
            continue;
        }
        let (word, only) = match statement.kind() {
            "identifier" => (visibility_of(lowering.text(statement)), None),
            "call" => {
                let method = lowering
                    .field(statement, "method")
                    .filter(|_| lowering.field(statement, "receiver").is_none());
                (
                    method.and_then(|method| visibility_of(lowering.text(method))),
                    lowering.field(statement, "arguments"),
                )
            }
            _ => (None, None),
        };
        let before = lowering.definitions.len();
        match (word, only) {
            (Some(word), None) => {
                section = word;
                continue;
            }
            // `private def x` and `private :x`.
            (Some(word), Some(arguments)) => {
                let owner = lowering.definition;
                lowering.walk_node(arguments);
                for definition in lowering.definitions[before..]
                    .iter_mut()
                    .filter(|definition| definition.parent == owner)
                {
                    definition.visibility = word;
                }
                continue;
            }
            _ => {}
        }
        lowering.lower(statement, Role::Read);
        if statement.kind() == "method"
            && let Some(definition) = lowering.definitions.get_mut(before)
        {
            definition.visibility = section;
        }
    }
    UNKNOWN
}

fn visibility_of(word: &str) -> Option<Visibility> {
    match word {
        "private" | "private_class_method" => Some(Visibility::Private),
        "protected" => Some(Visibility::Protected),
        "public" | "module_function" => Some(Visibility::Public),
        _ => None,
    }
}

/// `include A, B`: their members become the class's own.
pub(super) fn mix<'t>(lowering: &mut Lowering<'t>, arguments: Option<Node<'t>>) -> ExpressionId {
    let Some(class) = class_around(lowering) else {
        return UNKNOWN;
    };
    let names: Vec<Node<'t>> = arguments
        .map(|list| lowering.children(list).named().map(|child| child.node).collect())
        .unwrap_or_default();
    for name in names {
        let type_ = lowering.lower(name, Role::Inherit);
        lowering.add_base(class, type_, BaseKind::Mixes);
    }
    UNKNOWN
}

/// `alias new old` and `alias_method :new, :old`: another name for a member.
pub(super) fn alias<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, names: [Option<Node<'t>>; 2]) -> ExpressionId {
    let [Some(new), Some(old)] = names else { return UNKNOWN };
    let at = node.start_byte();
    // The member is one of instances, or of the type itself below `class << self`.
    let type_ = lowering.push_expression(Expression::This(lowering.scope), at);
    let arguments = lowering.push_list(&[]);
    let instance = lowering.push_expression(Expression::New { type_, arguments }, at);
    let this = lowering.choice(&[type_, instance]);
    let members = [new, old].map(|name| {
        let bare = lowering.text(name).trim_matches([':', '"', '\'']);
        let name = lowering.names.intern(bare);
        lowering.member_expression(this, name)
    });
    lowering.reference(members[1], Role::Read, old);
    lowering.flow(members[0], members[1], node);
    UNKNOWN
}

/// `define_method(:name) { … }`: a method whose body is the block.
pub(super) fn made_method<'t>(
    lowering: &mut Lowering<'t>,
    node: Node<'t>,
    arguments: Option<Node<'t>>,
) -> Option<ExpressionId> {
    let block = lowering.field(node, "block")?;
    let first = lowering.children(arguments?).named().next()?.node;
    if !matches!(first.kind(), "simple_symbol" | "string") {
        return None;
    }
    let bare = lowering.text(first).trim_matches([':', '"', '\'']);
    let name = lowering.names.intern(bare);
    let (rule, children) = (lowering.rule(block), lowering.children(block));
    let id = lowering.define_as(block, rule, &children, None, node);
    let definition = &mut lowering.definitions[id.index()];
    (definition.name, definition.name_at) = (name, Lowering::position(first));
    definition.kind = Kind::Method;
    lowering.bind_definition(lowering.scope, id);
    Some(UNKNOWN)
}

/// `attr_reader :a, :b`: properties that give `@a` and `@b`.
pub(super) fn attributes<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, arguments: Option<Node<'t>>) -> ExpressionId {
    let names: Vec<Node<'t>> = arguments
        .map(|list| lowering.children(list).named().map(|child| child.node).collect())
        .unwrap_or_default();
    let doc = lowering.pending_doc;
    reopen(lowering, lowering.definition);
    for name_node in names
        .into_iter()
        .filter(|name| matches!(name.kind(), "simple_symbol" | "string"))
    {
        lowering.pending_doc = doc;
        let bare = lowering.text(name_node).trim_matches([':', '"', '\'']);
        let name = lowering.names.intern(bare);
        let hidden = lowering.names.intern(&format!("@{bare}"));
        let new = NewDefinition {
            kind: Kind::Property,
            name,
            name_at: Lowering::position(name_node),
            span: Lowering::span(node),
        };
        let id = lowering.new_definition(new);
        let signature = lowering.first_line(node);
        let definition = &mut lowering.definitions[id.index()];
        definition.signature = signature;
        definition.flags.insert(Flags::GETTER);
        let at = name_node.start_byte();
        let this = lowering.push_expression(Expression::This(lowering.scope), at);
        let value = lowering.member_expression(this, hidden);
        lowering.flows.push(Flow::Return { function: id, value });
    }
    lowering.pending_doc = None;
    UNKNOWN
}

/// What the place says of a definition.
pub(super) fn finish_definition<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let name = lowering.names.get(lowering.definitions[id.index()].name).to_string();
    let parent = lowering.definitions[id.index()].parent;
    let owner = parent.map(|parent| {
        lowering
            .names
            .get(lowering.definitions[parent.index()].name)
            .to_string()
    });
    if lowering.definitions[id.index()].kind == Kind::Module {
        see_reopened(lowering, id, node);
    }
    match lowering.definitions[id.index()].kind {
        Kind::Class if !lowering.definitions[id.index()].bases.is_empty() => reopen(lowering, Some(id)),
        Kind::Method | Kind::Constructor => reopen(lowering, parent),
        _ => {}
    }
    let definition = &mut lowering.definitions[id.index()];
    if node.kind() == "singleton_method" {
        definition.flags.insert(Flags::STATIC);
    }
    if definition.kind == Kind::Method && parent.is_none() {
        definition.kind = Kind::Function;
    }
    if definition.kind == Kind::Method && name.starts_with("test_") && owner.is_some_and(|owner| owner.contains("Test"))
    {
        definition.flags.insert(Flags::TEST);
    }
}

/// A class that is more than a place for others may be written in parts.
fn reopen(lowering: &mut Lowering<'_>, class: Option<DefinitionId>) {
    if let Some(class) = class.filter(|class| lowering.definitions[class.index()].kind == Kind::Class) {
        lowering.definitions[class.index()].flags.insert(Flags::EXTENSION);
    }
}

/// A module is reopened in many files, and code inside sees what each of them adds: recorded as an import of all of it.
fn see_reopened<'t>(lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
    let mut parts: Vec<String> = Vec::new();
    let mut at = Some(id);
    while let Some(module) = at {
        let definition = &lowering.definitions[module.index()];
        parts.push(lowering.names.get(definition.name).to_string());
        at = definition.parent;
    }
    parts.reverse();
    let module = lowering.names.intern(&parts.join("::"));
    if lowering
        .imports
        .iter()
        .any(|import| import.module == module && import.form == ImportForm::Wildcard)
    {
        return;
    }
    lowering.push_import(Import {
        module,
        member: None,
        alias: None,
        form: ImportForm::Wildcard,
        level: 0,
        reexported: false,
        type_only: false,
        at: Lowering::position(node),
        within: None,
    });
}
