//! Ids as distances, for encoding alone: an expression's child mostly stands just before it, and a reference mostly mentions
//! the expression after the one before. Distances take one byte where ids take three. Names are numbered in the order in
//! which they are first mentioned, so one that is new is written as a zero ([`Names`]).
//!
//! Arithmetic wraps, so that damaged bytes cannot panic here; [`codec`](crate::codec) checks what comes out.

use crate::facts::{
    Binding, Bound, Definition, DefinitionId, Export, Expression, ExpressionId, Flow, Import, List, Name, Reference,
    Scope,
};

/// Which way to go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Ids become distances.
    Relative,
    /// Distances become ids.
    Absolute,
}

/// The steps of one column of numbers, each written as its distance from the one before.
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

/// Names in the order of their first mention: the next new one is 0, any other is one more than its number.
pub(crate) struct Names {
    turn: Turn,
    next: u32,
}

impl Names {
    pub(crate) fn new(turn: Turn) -> Names {
        Names { turn, next: 0 }
    }

    pub(crate) fn step(&mut self, name: &mut Name) {
        let is_new = match self.turn {
            Turn::Relative => name.0 == self.next,
            Turn::Absolute => name.0 == 0,
        };
        name.0 = match (self.turn, is_new) {
            (Turn::Relative, true) => 0,
            (Turn::Relative, false) => name.0.wrapping_add(1),
            (Turn::Absolute, true) => self.next,
            (Turn::Absolute, false) => name.0.wrapping_sub(1),
        };
        self.next = self.next.wrapping_add(u32::from(is_new));
    }

    pub(crate) fn optional(&mut self, name: &mut Option<Name>) {
        if let Some(name) = name {
            self.step(name);
        }
    }
}

/// Rewrites the ids, texts and places of all definitions.
pub(crate) fn definitions(definitions: &mut [Definition], names: &mut Names, turn: Turn) {
    let (mut parents, mut scopes, mut expressions) = (Column::new(turn), Column::new(turn), Column::new(turn));
    let (mut starts, mut lines, mut bindings) = (Column::new(turn), Column::new(turn), Column::new(turn));
    for definition in definitions {
        names.step(&mut definition.name);
        names.step(&mut definition.signature);
        names.optional(&mut definition.doc);
        names.optional(&mut definition.result_text);
        if let Some(parent) = &mut definition.parent {
            parents.step(&mut parent.0);
        }
        scopes.step(&mut definition.scope.0);
        if let Some(body) = &mut definition.body {
            scopes.step(&mut body.0);
        }
        for expression in definition.owner.iter_mut().chain(&mut definition.result) {
            expressions.step(&mut expression.0);
        }
        // Each place is written relative to the one before: start, end, and the comment, which is near to both.
        starts.step(&mut definition.span.start);
        starts.step(&mut definition.span.end);
        if let Some((start, end)) = &mut definition.doc_span {
            starts.step(start);
            starts.step(end);
        }
        lines.step(&mut definition.span.start_line);
        lines.step(&mut definition.name_at.line);
        lines.step(&mut definition.span.end_line);
        for parameter in &mut definition.parameters {
            names.step(&mut parameter.name);
            names.optional(&mut parameter.type_text);
            names.optional(&mut parameter.default);
            if let Some(binding) = &mut parameter.binding {
                bindings.step(&mut binding.0);
            }
            if let Some(type_) = &mut parameter.type_ {
                expressions.step(&mut type_.0);
            }
        }
        for base in &mut definition.bases {
            expressions.step(&mut base.type_.0);
        }
        for decorator in &mut definition.decorators {
            expressions.step(&mut decorator.0);
        }
    }
}

/// Rewrites the parents and definitions of all scopes.
pub(crate) fn scopes(scopes: &mut [Scope], turn: Turn) {
    let (mut parents, mut definitions) = (Column::new(turn), Column::new(turn));
    for scope in scopes {
        if let Some(parent) = &mut scope.parent {
            parents.step(&mut parent.0);
        }
        if let Some(definition) = &mut scope.definition {
            definitions.step(&mut definition.0);
        }
    }
}

/// Rewrites all bindings.
pub(crate) fn bindings(bindings: &mut [Binding], names: &mut Names, turn: Turn) {
    let (mut scopes, mut definitions, mut imports) = (Column::new(turn), Column::new(turn), Column::new(turn));
    for binding in bindings {
        scopes.step(&mut binding.scope.0);
        names.step(&mut binding.name);
        match &mut binding.to {
            Bound::Parameter(id) | Bound::Receiver(id) | Bound::Definition(id) => definitions.step(&mut id.0),
            Bound::Import(id) => imports.step(&mut id.0),
            Bound::Local | Bound::TypeParameter => {}
        }
    }
}

/// Rewrites the names and lines of all imports and exports.
pub(crate) fn imports(imports: &mut [Import], exports: &mut [Export], names: &mut Names, turn: Turn) {
    let mut lines = Column::new(turn);
    for import in imports {
        names.step(&mut import.module);
        names.optional(&mut import.member);
        names.optional(&mut import.alias);
        lines.step(&mut import.at.line);
    }
    for export in exports {
        names.step(&mut export.name);
    }
}

/// Rewrites the children of all expressions, the lists they own, their names and scopes, and the bytes that names stand at.
pub(crate) fn expressions(expressions: &mut [Expression], lists: &mut [u32], names: &mut Names, turn: Turn) {
    let mut places = Column::new(turn);
    let mut list_starts = Column::new(turn);
    let (mut scopes, mut bindings) = (Column::new(turn), Column::new(turn));
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
            Expression::Bound { binding, at } => {
                bindings.step(&mut binding.0);
                places.step(at);
            }
            Expression::Free { name, scope } => {
                names.step(name);
                scopes.step(&mut scope.0);
            }
            Expression::This(scope) | Expression::Super(scope) => scopes.step(&mut scope.0),
            Expression::Text(name) | Expression::Module(name) => names.step(name),
            Expression::Member { object, name } => {
                flip(object);
                names.step(name);
            }
            Expression::Index { object, key } => {
                flip(object);
                names.optional(key);
            }
            Expression::Argument { name, value } => {
                names.step(name);
                flip(value);
            }
            Expression::Call { callee: of, arguments }
            | Expression::New { type_: of, arguments }
            | Expression::Generic { base: of, arguments } => {
                flip(of);
                list(arguments, lists);
            }
            Expression::Unwrap(value)
            | Expression::Element(value)
            | Expression::Item(value, _)
            | Expression::Entered(value)
            | Expression::Typed(value)
            | Expression::Wrapped(value) => flip(value),
            Expression::Sequence { elements: entries }
            | Expression::Mapping { entries }
            | Expression::Choice(entries)
            | Expression::FunctionType(entries) => list(entries, lists),
            Expression::Unknown | Expression::Literal(_) | Expression::Definition(_) => {}
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
