//! Types as Python writes them: `"Later"`, `A | B`, `Optional[A]`, `Union[A, B]`, `Annotated[A, …]`.

use super::last_name;
use crate::engine::{Lowering, UNKNOWN};
use crate::facts::{Expression, ExpressionId, Position, Reference, Role};
use tree_sitter::Node;

const MAX_ANNOTATION: usize = 400;

pub(super) fn union<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let left = lowering
        .field(node, "left")
        .map_or(UNKNOWN, |left| lowering.lower(left, Role::Type));
    let right = lowering
        .field(node, "right")
        .map_or(UNKNOWN, |right| lowering.lower(right, Role::Type));
    lowering.choice(&[left, right])
}

pub(super) fn generic<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> Option<ExpressionId> {
    if !matches!(role, Role::Type | Role::Inherit) {
        return None;
    }
    // What follows is data, not types.
    let base = lowering.field(node, "value").or_else(|| node.named_child(0))?;
    let name = lowering.text(base).rsplit('.').next().unwrap_or("");
    if matches!(name, "Literal" | "Annotated") {
        lowering.lower(base, Role::Type);
        let inner = node.named_child(1).filter(|_| name == "Annotated");
        let inner = inner.map(|inner| {
            if inner.kind() == "type_parameter" {
                inner.named_child(0).unwrap_or(inner)
            } else {
                inner
            }
        });
        return Some(inner.map_or(UNKNOWN, |inner| lowering.lower(inner, Role::Type)));
    }
    let rule = lowering.rule(node);
    let value = lowering.act(node, rule, role);
    Some(simplify(lowering, value))
}

/// What the forms of `typing` mean: one of several, or the type itself.
fn simplify(lowering: &mut Lowering<'_>, value: ExpressionId) -> ExpressionId {
    let Expression::Generic { base, arguments } = lowering.expression(value) else {
        return value;
    };
    let first = (arguments.len > 0).then(|| ExpressionId(lowering.lists[arguments.start as usize]));
    match (last_name(lowering, base), first) {
        ("Optional", Some(inner)) => lowering.push_expression(Expression::Wrapped(inner), 0),
        ("Union", Some(_)) => lowering.push_expression(Expression::Choice(arguments), 0),
        ("Annotated" | "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly" | "Unpack", Some(inner)) => inner,
        _ => value,
    }
}

/// A type in a string. It is read here, by hand: these are short, and parsing each anew would cost more than the file.
pub(super) fn string<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, role: Role) -> ExpressionId {
    let content = node.named_child(1).filter(|content| content.kind() == "string_content");
    let Some(content) = content else { return UNKNOWN };
    if content.end_byte() - content.start_byte() > MAX_ANNOTATION {
        return UNKNOWN;
    }
    let mut reader = Reader {
        at: content.start_byte(),
        end: content.end_byte(),
        origin: (content.start_byte(), Lowering::position(content)),
        role,
        depth: 0,
    };
    reader.union(lowering)
}

struct Reader {
    at: usize,
    end: usize,
    /// Byte and position where the text starts; it is on one line.
    origin: (usize, Position),
    role: Role,
    depth: u32,
}

impl Reader {
    fn peek(&mut self, lowering: &Lowering<'_>) -> Option<u8> {
        let bytes = lowering.source.as_bytes();
        while self.at < self.end && bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        (self.at < self.end).then(|| bytes[self.at])
    }

    fn union(&mut self, lowering: &mut Lowering<'_>) -> ExpressionId {
        self.depth += 1;
        let mut parts = vec![self.term(lowering)];
        while self.peek(lowering) == Some(b'|') {
            self.at += 1;
            parts.push(self.term(lowering));
        }
        self.depth -= 1;
        lowering.choice(&parts)
    }

    fn term(&mut self, lowering: &mut Lowering<'_>) -> ExpressionId {
        let Some(first) = self.peek(lowering) else {
            return UNKNOWN;
        };
        if first == b'[' && self.depth < 32 {
            let elements = self.list(lowering);
            let elements = lowering.push_list(&elements);
            return lowering.push_expression(Expression::Sequence { elements }, self.at);
        }
        if !is_word(first) {
            // Quotes, dots, numbers: not a type by name.
            self.at += 1;
            return UNKNOWN;
        }
        let mut value = None;
        loop {
            let start = self.at;
            while self.at < self.end && is_word(lowering.source.as_bytes()[self.at]) {
                self.at += 1;
            }
            let name = lowering.names.slice(start, self.at);
            let last = self.peek(lowering) != Some(b'.');
            let expression = match value {
                None => Expression::Free {
                    name,
                    scope: lowering.scope,
                },
                Some(object) => Expression::Member { object, name },
            };
            let id = lowering.push_expression(expression, start);
            let (from, position) = self.origin;
            let at = Position {
                line: position.line,
                column: position.column + (start - from) as u32,
            };
            let role = if last { self.role } else { Role::Type };
            lowering.references.push(Reference {
                expression: id,
                role,
                at,
                within: lowering.definition,
                arguments: 0,
            });
            value = Some(id);
            if last {
                break;
            }
            self.at += 1;
            if self.peek(lowering).is_none_or(|next| !is_word(next)) {
                break;
            }
        }
        let base = value.unwrap_or(UNKNOWN);
        if self.peek(lowering) != Some(b'[') || self.depth >= 32 {
            return base;
        }
        let arguments = self.list(lowering);
        let arguments = lowering.push_list(&arguments);
        let generic = lowering.push_expression(Expression::Generic { base, arguments }, 0);
        simplify(lowering, generic)
    }

    /// `[a, b]`, from the opening bracket to past the closing one.
    fn list(&mut self, lowering: &mut Lowering<'_>) -> Vec<ExpressionId> {
        self.at += 1;
        let mut elements = Vec::new();
        while let Some(next) = self.peek(lowering) {
            match next {
                b']' => {
                    self.at += 1;
                    break;
                }
                b',' => self.at += 1,
                _ => elements.push(self.union(lowering)),
            }
        }
        elements
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
