//! Includes, macros and conditionals. Both branches of a conditional count.

use crate::engine::{Lowering, NewDefinition, UNKNOWN};
use crate::facts::{
    DefinitionId, Expression, ExpressionId, Import, ImportForm, Kind, Parameter, Passing, Position, Reference, Role,
};
use tree_sitter::Node;

/// Numbers defined by one file beyond this many say nothing: register maps have ten thousand of them.
const MAX_NUMBERS: usize = 4000;

pub(super) fn include<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(path) = lowering.field(node, "path").filter(|path| path.kind() != "identifier") else {
        return UNKNOWN;
    };
    let text = lowering.text(path);
    let import = Import {
        module: lowering.names.intern(text.trim_matches(['"', '<', '>'])),
        member: None,
        alias: None,
        form: ImportForm::Include,
        // Tells `"…"`, looked up beside the file first, from `<…>`.
        level: u8::from(text.starts_with('"')),
        reexported: true,
        type_only: false,
        at: Lowering::position(path),
        within: None,
    };
    lowering.push_import(import);
    UNKNOWN
}

/// `#define NAME value`. A guard without a value is no one's business.
pub(super) fn constant<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let (Some(name), Some(value)) = (lowering.field(node, "name"), lowering.field(node, "value")) else {
        return UNKNOWN;
    };
    let text = lowering.text(value).trim();
    let is_number = text.starts_with(|letter: char| letter.is_ascii_digit());
    if is_number && lowering.definitions.len() > MAX_NUMBERS {
        return UNKNOWN;
    }
    define(lowering, node, name, Kind::Constant);
    // Another name of something: what it names is followed.
    let is_name =
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !is_number;
    if is_name && text != lowering.text(name) {
        let other = lowering.names.intern(text);
        let value = lowering.push_expression(
            Expression::Free {
                name: other,
                scope: lowering.scope,
            },
            value.start_byte(),
        );
        let target = lowering.name_expression(name);
        lowering.flow(target, value, node);
    }
    UNKNOWN
}

/// `#define NAME(a, b) body`: what the body calls is called by the macro.
pub(super) fn function<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(name) = lowering.field(node, "name") else {
        return UNKNOWN;
    };
    let id = define(lowering, node, name, Kind::Macro);
    let mut parameters = Vec::new();
    if let Some(list) = lowering.field(node, "parameters") {
        let children = lowering.children(list);
        for child in children.iter() {
            let passing = if child.node.kind() == "..." {
                Passing::Rest
            } else {
                Passing::Normal
            };
            if child.named || passing == Passing::Rest {
                let name = lowering.name_of(child.node);
                parameters.push(Parameter::untyped(name, None, passing));
            }
        }
    }
    if let Some(value) = lowering.field(node, "value") {
        calls_in(lowering, value, id, &parameters);
    }
    lowering.definitions[id.index()].parameters = parameters;
    UNKNOWN
}

fn define<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, name: Node<'t>, kind: Kind) -> DefinitionId {
    let new = NewDefinition {
        kind,
        name: lowering.name_of(name),
        name_at: Lowering::position(name),
        span: Lowering::span(node),
    };
    let id = lowering.new_definition(new);
    let value = lowering.field(node, "value").filter(|_| kind == Kind::Macro);
    lowering.definitions[id.index()].signature = match value {
        Some(value) => lowering.signature(node, Some(value)),
        None => lowering.first_line(node),
    };
    let (scope, bound) = (lowering.scope, lowering.definitions[id.index()].name);
    if lowering.binding_in(scope, bound).is_none() {
        lowering.bind_definition(scope, id);
    }
    id
}

/// The grammar leaves a macro's body as text: names followed by a parenthesis are calls.
fn calls_in<'t>(lowering: &mut Lowering<'t>, value: Node<'t>, id: DefinitionId, parameters: &[Parameter]) {
    let text = lowering.text(value);
    let bytes = text.as_bytes();
    let start = Lowering::position(value);
    let (mut line, mut line_start, mut at) = (start.line, 0, 0);
    let mut column = start.column;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte == b'\n' {
            (line, line_start, column) = (line + 1, at + 1, 0);
        }
        if byte == b'"' || byte == b'\'' {
            at = skip_literal(bytes, at);
            continue;
        }
        if !(byte.is_ascii_alphabetic() || byte == b'_') {
            at += 1;
            continue;
        }
        let from = at;
        while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
            at += 1;
        }
        let word = &text[from..at];
        let after = bytes[at..]
            .iter()
            .position(|byte| !byte.is_ascii_whitespace())
            .map(|skip| bytes[at + skip]);
        let before = bytes[..from]
            .iter()
            .rev()
            .find(|byte| !byte.is_ascii_whitespace())
            .copied();
        let is_member = before == Some(b'.') || (before == Some(b'>') && text[..from].trim_end().ends_with("->"));
        let is_parameter = parameters
            .iter()
            .any(|parameter| lowering.names.get(parameter.name) == word);
        if after != Some(b'(') || is_member || is_parameter || is_keyword(word) {
            continue;
        }
        let name = lowering.names.slice(value.start_byte() + from, value.start_byte() + at);
        let callee = Expression::Free {
            name,
            scope: lowering.scope,
        };
        let expression = lowering.push_expression(callee, value.start_byte() + from);
        let position = Position {
            line,
            column: column + (from - line_start) as u32,
        };
        // How many arguments there are depends on what the macro is given.
        lowering.references.push(Reference {
            expression,
            role: Role::Call,
            at: position,
            within: Some(id),
            arguments: u8::MAX,
        });
    }
}

fn skip_literal(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "while"
            | "for"
            | "switch"
            | "return"
            | "sizeof"
            | "typeof"
            | "__typeof__"
            | "defined"
            | "__attribute__"
            | "do"
            | "else"
            | "case"
            | "alignof"
            | "_Alignof"
            | "_Generic"
            | "__builtin_offsetof"
            | "decltype"
            | "static_assert"
    )
}

/// A conditional's own condition is no code of the program.
pub(super) fn conditional<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let condition = lowering
        .field(node, "condition")
        .or_else(|| lowering.field(node, "name"));
    let children = lowering.children(node);
    for child in children.named() {
        if Some(child.node) == condition {
            continue;
        }
        if child.node.kind() == "comment" {
            lowering.comment(child.node);
            continue;
        }
        lowering.lower(child.node, Role::Read);
        lowering.pending_doc = None;
    }
    UNKNOWN
}
