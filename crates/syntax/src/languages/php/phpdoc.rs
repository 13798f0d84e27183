//! Types that a PHPDoc comment gives where the code gives none: `@return`, `@param`, `@var`.
//!
//! Only names of classes count: `User`, `\App\User`, `User|null`, `?User`, `User[]`, `Collection<int, User>`, `static`,
//! `$this`. Anything else says nothing.

use super::enclosing_class;
use crate::engine::{Lowering, UNKNOWN};
use crate::facts::{DefinitionId, Expression, ExpressionId, Flags, Flow, Kind};

/// Fills in what the comment of `id` says and the code does not.
pub(super) fn apply(lowering: &mut Lowering<'_>, id: DefinitionId) {
    let Some((start, end)) = lowering.definitions[id.index()].doc_span else {
        return;
    };
    let source = lowering.source;
    let comment = &source[start as usize..end as usize];
    let at = start as usize;
    for line in comment.lines() {
        let line = line
            .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '/'))
            .trim_end_matches("*/");
        let Some(tag) = line.strip_prefix('@') else { continue };
        let (tag, rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        match tag {
            "deprecated" => lowering.definitions[id.index()].flags.insert(Flags::DEPRECATED),
            "test" => lowering.definitions[id.index()].flags.insert(Flags::TEST),
            "return" | "var" | "phpstan-return" | "psalm-return" => {
                let wants =
                    (tag == "var") == matches!(lowering.definitions[id.index()].kind, Kind::Field | Kind::Constant);
                if wants && lowering.definitions[id.index()].result.is_none() {
                    let text = type_text(rest);
                    let type_ = type_of(lowering, text, at);
                    let spelled = lowering.normalised(text);
                    let definition = &mut lowering.definitions[id.index()];
                    definition.result = (type_ != UNKNOWN).then_some(type_);
                    definition.result_text = definition.result_text.or(Some(spelled));
                }
            }
            "param" => parameter(lowering, id, rest, at),
            _ => {}
        }
    }
}

fn parameter(lowering: &mut Lowering<'_>, id: DefinitionId, rest: &str, at: usize) {
    let text = type_text(rest);
    let Some(variable) = rest[text.len()..]
        .split_whitespace()
        .find(|word| word.starts_with(['$', '.', '&']))
    else {
        return;
    };
    let variable = variable.trim_start_matches(['.', '&']);
    let found = lowering.definitions[id.index()]
        .parameters
        .iter()
        .position(|parameter| lowering.names.get(parameter.name) == variable);
    let Some(position) = found else { return };
    if lowering.definitions[id.index()].parameters[position].type_.is_some() {
        return;
    }
    let type_ = type_of(lowering, text, at);
    let spelled = lowering.normalised(text);
    let parameter = &mut lowering.definitions[id.index()].parameters[position];
    parameter.type_text = parameter.type_text.or(Some(spelled));
    if type_ == UNKNOWN {
        return;
    }
    parameter.type_ = Some(type_);
    if let Some(binding) = parameter.binding {
        let target = lowering.push_expression(Expression::Bound { binding, at: at as u32 }, at);
        lowering.flows.push(Flow::Typed { target, type_ });
    }
}

/// The type at the start of `text`: up to a space that no bracket holds.
fn type_text(text: &str) -> &str {
    let text = text.trim_start();
    let mut depth = 0i32;
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth -= 1,
            c if c.is_whitespace() && depth <= 0 => return &text[..at],
            _ => {}
        }
    }
    text
}

/// Names of types that are no classes.
const PLAIN: &[&str] = &[
    "string",
    "int",
    "integer",
    "bool",
    "boolean",
    "float",
    "double",
    "array",
    "mixed",
    "null",
    "void",
    "callable",
    "iterable",
    "object",
    "resource",
    "true",
    "false",
    "never",
    "scalar",
    "number",
    "numeric",
    "class-string",
    "list",
    "non-empty-array",
    "key-of",
];

fn type_of(lowering: &mut Lowering<'_>, text: &str, at: usize) -> ExpressionId {
    let mut found: Vec<ExpressionId> = Vec::new();
    for part in split_top(text, '|') {
        let part = part.trim().trim_start_matches('?');
        let (part, many) = part.strip_suffix("[]").map_or((part, false), |part| (part, true));
        let (name, arguments) = part
            .split_once('<')
            .map_or((part, ""), |(name, rest)| (name, rest.trim_end_matches('>')));
        let base = named(lowering, name, at);
        let held = if arguments.is_empty() {
            UNKNOWN
        } else {
            split_top(arguments, ',')
                .last()
                .map_or(UNKNOWN, |last| type_of(lowering, last, at))
        };
        let value = match (base, held) {
            (UNKNOWN, UNKNOWN) => continue,
            (UNKNOWN, held) => lowering.wrap(held, Expression::Wrapped),
            (base, UNKNOWN) => base,
            (base, held) => {
                let arguments = lowering.push_list(&[held]);
                lowering.push_expression(Expression::Generic { base, arguments }, at)
            }
        };
        found.push(if many {
            lowering.wrap(value, Expression::Wrapped)
        } else {
            value
        });
    }
    match found.as_slice() {
        [] => UNKNOWN,
        [one] => *one,
        several => lowering.choice(several),
    }
}

fn named(lowering: &mut Lowering<'_>, name: &str, at: usize) -> ExpressionId {
    if matches!(name, "static" | "self" | "$this") {
        return enclosing_class(lowering).map_or(UNKNOWN, |class| {
            lowering.push_expression(Expression::Definition(class), at)
        });
    }
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    let absolute = name.starts_with('\\');
    let parts: Vec<&str> = name.trim_start_matches('\\').split('\\').collect();
    if PLAIN.contains(&name.to_ascii_lowercase().as_str())
        || !parts.iter().all(|part| is_name(part))
        || name.starts_with(char::is_numeric)
    {
        return UNKNOWN;
    }
    // A qualified name without a leading separator starts at an alias; where there is none, the namespace is not known to fit.
    if !absolute && parts.len() > 1 {
        let first = lowering.names.intern(parts[0]);
        if lowering.lookup(first).is_none() {
            return UNKNOWN;
        }
    }
    let mut value = UNKNOWN;
    for (position, part) in parts.iter().enumerate() {
        let name = lowering.names.intern(part);
        value = match position {
            0 => lowering.push_expression(
                Expression::Free {
                    name,
                    scope: lowering.scope,
                },
                at,
            ),
            _ => lowering.member_expression(value, name),
        };
    }
    value
}

/// Splits at `separator` outside of brackets.
fn split_top(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth -= 1,
            c if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
