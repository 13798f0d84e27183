//! Ids as distances, for encoding alone: an expression's child mostly stands just before it, and a reference mostly mentions
//! the expression after the one before. Distances take one byte where ids take three.
//!
//! Arithmetic wraps, so that damaged bytes cannot panic here; [`codec`](crate::codec) checks what comes out.

use crate::facts::{DefinitionId, Expression, ExpressionId, Flow, List, Reference};

/// Which way to go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Ids become distances.
    Relative,
    /// Distances become ids.
    Absolute,
}

/// The steps of one column of numbers, each told by its distance from the one before.
struct Column {
    turn: Turn,
    last: u32,
}

impl Column {
    fn new(turn: Turn) -> Column {
        Column { turn, last: 0 }
    }

    fn step(&mut self, value: &mut u32) {
        match self.turn {
            Turn::Relative => {
                let distance = value.wrapping_sub(self.last) as i32;
                self.last = *value;
                // Small distances of either sign become small numbers.
                *value = ((distance << 1) ^ (distance >> 31)) as u32;
            }
            Turn::Absolute => {
                let distance = (*value >> 1) ^ (*value & 1).wrapping_neg();
                *value = self.last.wrapping_add(distance);
                self.last = *value;
            }
        }
    }
}

/// Rewrites the children of all expressions, the lists they own, and the bytes that names stand at.
pub(crate) fn expressions(expressions: &mut [Expression], lists: &mut [u32], turn: Turn) {
    let mut places = Column::new(turn);
    let mut list_starts = Column::new(turn);
    // No two expressions share a list; bytes that claim so must not cost more than honest ones.
    let mut entries_left = lists.len();
    for (id, expression) in expressions.iter_mut().enumerate() {
        let id = id as u32;
        // Its own inverse: distance from the owner, or owner less the distance.
        let flip = |child: &mut ExpressionId| child.0 = id.wrapping_sub(child.0);
        let mut list = |list: &mut List, lists: &mut [u32]| {
            let start = list.start;
            list_starts.step(&mut list.start);
            let start = if turn == Turn::Relative { start } else { list.start } as usize;
            let len = list.len as usize;
            if len > entries_left {
                return;
            }
            entries_left -= len;
            for entry in lists.get_mut(start..start.saturating_add(len)).unwrap_or_default() {
                *entry = id.wrapping_sub(*entry);
            }
        };
        match expression {
            Expression::Bound { at, .. } => places.step(at),
            Expression::Member { object, .. } | Expression::Index { object, .. } => flip(object),
            Expression::Call { callee: of, arguments }
            | Expression::New { type_: of, arguments }
            | Expression::Generic { base: of, arguments } => {
                flip(of);
                list(arguments, lists);
            }
            Expression::Argument { value, .. }
            | Expression::Unwrap(value)
            | Expression::Element(value)
            | Expression::Item(value, _)
            | Expression::Entered(value)
            | Expression::Typed(value)
            | Expression::Wrapped(value) => flip(value),
            Expression::Sequence { elements: entries }
            | Expression::Mapping { entries }
            | Expression::Choice(entries)
            | Expression::FunctionType(entries) => list(entries, lists),
            Expression::Unknown
            | Expression::Free { .. }
            | Expression::Text(_)
            | Expression::Literal(_)
            | Expression::Definition(_)
            | Expression::This(_)
            | Expression::Super(_)
            | Expression::Module(_) => {}
        }
    }
}

/// Rewrites the ends of texts as their lengths.
pub(crate) fn ends(ends: &mut [u32], turn: Turn) {
    let mut column = Column::new(turn);
    ends.iter_mut().for_each(|end| column.step(end));
}

/// Rewrites expression, line and definition of all references.
pub(crate) fn references(references: &mut [Reference], turn: Turn) {
    let (mut mentioned, mut lines, mut within) = (Column::new(turn), Column::new(turn), Column::new(turn));
    for reference in references {
        mentioned.step(&mut reference.expression.0);
        lines.step(&mut reference.at.line);
        if let Some(DefinitionId(id)) = &mut reference.within {
            within.step(id);
        }
    }
}

/// Rewrites expressions, functions and bytes of all flows.
pub(crate) fn flows(flows: &mut [Flow], turn: Turn) {
    let (mut mentioned, mut functions, mut places) = (Column::new(turn), Column::new(turn), Column::new(turn));
    for flow in flows {
        match flow {
            Flow::Assign { target, value, at, .. } => {
                mentioned.step(&mut target.0);
                mentioned.step(&mut value.0);
                places.step(at);
            }
            Flow::Typed { target, type_ } => {
                mentioned.step(&mut target.0);
                mentioned.step(&mut type_.0);
            }
            Flow::Return { function, value } | Flow::Yield { function, value } => {
                functions.step(&mut function.0);
                mentioned.step(&mut value.0);
            }
        }
    }
}
