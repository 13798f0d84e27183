//! Macros: items in braces are items ([`fragments`](crate::fragments)); what the grammar leaves as tokens is read as far as
//! names, members and calls go.
//!
//! Most macros take expressions (`vec!`, `assert_eq!`, `println!`), so a path followed by parentheses is a call there as
//! anywhere else. What a macro makes of its tokens is not known; a list of expressions stands for a sequence.

use crate::engine::{Lowering, NewDefinition, UNKNOWN};
use crate::facts::{Expression, ExpressionId, Kind, Role};
use tree_sitter::{Node, Tree};

pub(super) fn definition<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(name_node) = lowering.field(node, "name") else {
        return UNKNOWN;
    };
    let new = NewDefinition {
        kind: Kind::Macro,
        name: lowering.name_of(name_node),
        name_at: Lowering::position(name_node),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    lowering.definitions[id.index()].signature = lowering.first_line(node);
    lowering.bind_definition(lowering.scope, id);
    UNKNOWN
}

pub(super) fn invocation<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(name) = lowering.field(node, "macro") else {
        return UNKNOWN;
    };
    lowering.lower(name, Role::Macro);
    let body = lowering.children(node).named().next_back().map(|child| child.node);
    let Some(body) = body.filter(|body| body.kind() == "token_tree") else {
        return UNKNOWN;
    };
    if items(lowering, body) {
        return UNKNOWN;
    }
    let values = list(lowering, body);
    // `vec![a, b]` and the like hold what they are given; the others are opaque.
    if lowering.text(name).ends_with("vec") {
        let elements = lowering.push_list(&values);
        return lowering.push_expression(Expression::Sequence { elements }, node.start_byte());
    }
    UNKNOWN
}

pub(super) fn tokens<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    list(lowering, node);
    UNKNOWN
}

/// Lowers a macro's braces, or those of the branches in them, that hold items. `false` where none do.
fn items<'t>(lowering: &mut Lowering<'t>, body: Node<'t>) -> bool {
    let trees: Vec<&'t Tree> = match lowering.fragments.of(body) {
        Some(tree) => vec![tree],
        None => {
            let parts = lowering.children(body);
            parts
                .named()
                .filter_map(|part| lowering.fragments.of(part.node))
                .collect()
        }
    };
    for tree in &trees {
        let children = lowering.children(tree.root_node());
        lowering.walk(&children);
    }
    !trees.is_empty()
}

/// The expressions in a token tree, one for each part between commas.
fn list<'t>(lowering: &mut Lowering<'t>, tree: Node<'t>) -> Vec<ExpressionId> {
    let children = lowering.children(tree);
    let tokens: Vec<Node<'t>> = children.iter().map(|child| child.node).collect();
    let mut values = Vec::new();
    let mut value = UNKNOWN;
    let mut at = 1;
    let end = tokens.len().saturating_sub(1);
    while at < end {
        let kind = tokens[at].kind();
        if matches!(kind, "," | ";") {
            values.push(value);
            value = UNKNOWN;
            at += 1;
        } else if kind == "fn" {
            // What follows is named, not called.
            at += 2;
        } else if starts_value(kind) {
            let (found, next) = chain(lowering, &tokens[..end], at);
            value = found;
            at = next.max(at + 1);
        } else {
            if kind == "token_tree" {
                list(lowering, tokens[at]);
            }
            // Operators and keywords: what they give is not what stands beside them.
            if !matches!(kind, "&" | "mut" | "mutable_specifier" | "*") {
                value = UNKNOWN;
            }
            at += 1;
        }
    }
    values.push(value);
    values
}

fn starts_value(kind: &str) -> bool {
    matches!(kind, "identifier" | "self" | "crate" | "super")
}

/// A path, member or call that starts at `at`; gives its value and the token after it.
fn chain<'t>(lowering: &mut Lowering<'t>, tokens: &[Node<'t>], at: usize) -> (ExpressionId, usize) {
    let first = tokens[at];
    let text = lowering.text(first);
    let kind_at = |at: usize| tokens.get(at).map_or("", |token: &Node<'t>| token.kind());
    let opens = |at: usize| {
        tokens
            .get(at)
            .and_then(|token| token.child(0))
            .map_or("", |open| open.kind())
    };
    let is_call = |at: usize| kind_at(at) == "token_tree" && opens(at) == "(";
    // `name!(…)` inside of another macro.
    if kind_at(at + 1) == "!" && kind_at(at + 2) == "token_tree" {
        let value = lowering.name_expression(first);
        lowering.reference(value, Role::Macro, first);
        list(lowering, tokens[at + 2]);
        return (UNKNOWN, at + 3);
    }
    let starts_path = kind_at(at + 1) == "::";
    let mut value = match text {
        "Self" => super::self_type(lowering, first),
        "self" if !starts_path => lowering.name_expression(first),
        "self" | "super" | "crate" => super::module_word(lowering, first),
        _ => lowering.name_expression(first),
    };
    if starts_path && first.kind() == "identifier" && text.starts_with(char::is_lowercase) {
        lowering.paths.push(value);
    }
    let mut position = first;
    let mut next = at + 1;
    // A name followed by `:` is a field or a type, one followed by `=` a named argument.
    let is_label = kind_at(next) == ":" || (kind_at(next) == "=" && kind_at(at.wrapping_sub(1)) == ",");
    if is_label {
        return (UNKNOWN, next);
    }
    if is_call(next) {
        (value, next) = call(lowering, tokens, value, position, next);
    } else if !starts_path && first.kind() == "identifier" && kind_at(next) != "." {
        lowering.reference(value, Role::Read, first);
    }
    loop {
        let step = kind_at(next);
        if (step == "." || step == "::") && matches!(kind_at(next + 1), "identifier" | "integer_literal" | "super") {
            position = tokens[next + 1];
            let name = lowering.name_of(position);
            value = lowering.member_expression(value, name);
            next += 2;
            // `collect::<Vec<_>>()`: the type arguments are tokens up to the parentheses.
            let mut after = next;
            if kind_at(after) == "::" && kind_at(after + 1) == "<" {
                let parenthesis = (after..tokens.len().min(after + 24)).find(|&at| is_call(at));
                after = parenthesis.unwrap_or(after);
            }
            if is_call(after) {
                (value, next) = call(lowering, tokens, value, position, after);
            } else if kind_at(next) != "::" && kind_at(next) != "." {
                lowering.reference(value, Role::Read, position);
            }
        } else if step == "?" {
            value = lowering.wrap(value, Expression::Unwrap);
            next += 1;
        } else if step == "." && kind_at(next + 1) == "await" {
            value = lowering.wrap(value, Expression::Unwrap);
            next += 2;
        } else if step == "token_tree" && opens(next) == "{" && lowering.text(position).starts_with(char::is_uppercase)
        {
            // `Type { field: value }` makes an instance; what is put into its fields is walked, not followed.
            list(lowering, tokens[next]);
            lowering.reference(value, Role::Instantiate, position);
            let none = lowering.push_list(&[]);
            let made = Expression::New {
                type_: value,
                arguments: none,
            };
            value = lowering.push_expression(made, first.start_byte());
            next += 1;
        } else if step == "token_tree" && opens(next) == "[" {
            list(lowering, tokens[next]);
            value = lowering.wrap(value, |object| Expression::Index { object, key: None });
            next += 1;
        } else {
            return (value, next);
        }
    }
}

fn call<'t>(
    lowering: &mut Lowering<'t>,
    tokens: &[Node<'t>],
    callee: ExpressionId,
    position: Node<'t>,
    at: usize,
) -> (ExpressionId, usize) {
    let mut values = list(lowering, tokens[at]);
    if values.last() == Some(&UNKNOWN) && tokens[at].named_child_count() == 0 {
        values.pop();
    }
    lowering.call_arguments = values.len().min(254) as u8;
    lowering.reference(callee, Role::Call, position);
    lowering.call_arguments = 0;
    let arguments = lowering.push_list(&values);
    let value = lowering.push_expression(Expression::Call { callee, arguments }, position.start_byte());
    (value, at + 1)
}
