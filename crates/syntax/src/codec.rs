//! Facts as bytes: postcard over ids written as distances ([`relative`](crate::relative)), then a check that every id points into its vector, so that readers of a damaged or hostile
//! store can index without fear and walk expressions without cycles.

use crate::facts::{
    Binding, Definition, Export, Expression, ExpressionId, FileFacts, Flow, Import, List, Name, Problem, Reference,
    Scope,
};
use crate::relative::{self, Turn};
use serde::Serialize;
use std::cell::RefCell;

/// Why bytes are not facts.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not the encoding at all, or cut short.
    #[error("facts do not decode: {0}")]
    Malformed(#[from] postcard::Error),
    /// Decodes, but an id points nowhere.
    #[error("facts are inconsistent: {0}")]
    Inconsistent(&'static str),
}

/// [`FileFacts`] as they are written: the same fields in the same order, ids as distances.
#[derive(Serialize)]
struct Written<'a> {
    language: &'a str,
    strings: (&'a str, &'a [u32]),
    package: Option<Name>,
    doc: Option<Name>,
    definitions: &'a [Definition],
    scopes: &'a [Scope],
    bindings: &'a [Binding],
    imports: &'a [Import],
    exports: &'a [Export],
    expressions: &'a [Expression],
    lists: &'a [u32],
    flows: &'a [Flow],
    references: &'a [Reference],
    problems: &'a [Problem],
    lines: u32,
    generated: bool,
}

/// Room for the fields that are written otherwise than they are kept, used again for every file of a thread.
#[derive(Default)]
struct Desk {
    package: Option<Name>,
    doc: Option<Name>,
    ends: Vec<u32>,
    definitions: Vec<Definition>,
    scopes: Vec<Scope>,
    bindings: Vec<Binding>,
    imports: Vec<Import>,
    exports: Vec<Export>,
    expressions: Vec<Expression>,
    lists: Vec<u32>,
    flows: Vec<Flow>,
    references: Vec<Reference>,
}

/// A desk that a giant file needed is not kept.
const LARGE_DESK: usize = 1 << 17;

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

impl Desk {
    fn copy(&mut self, facts: &FileFacts) {
        (self.package, self.doc) = (facts.package, facts.doc);
        copy(&facts.strings.ends, &mut self.ends);
        self.definitions.clone_from(&facts.definitions);
        copy(&facts.scopes, &mut self.scopes);
        copy(&facts.bindings, &mut self.bindings);
        copy(&facts.imports, &mut self.imports);
        copy(&facts.exports, &mut self.exports);
        copy(&facts.expressions, &mut self.expressions);
        copy(&facts.lists, &mut self.lists);
        copy(&facts.flows, &mut self.flows);
        copy(&facts.references, &mut self.references);
        let turn = Turn::Relative;
        let mut names = relative::Names::new(turn);
        relative::ends(&mut self.ends, turn);
        names.optional(&mut self.package);
        names.optional(&mut self.doc);
        relative::definitions(&mut self.definitions, &mut names, turn);
        relative::scopes(&mut self.scopes, turn);
        relative::bindings(&mut self.bindings, &mut names, turn);
        relative::imports(&mut self.imports, &mut self.exports, &mut names, turn);
        relative::expressions(&mut self.expressions, &mut self.lists, &mut names, turn);
        relative::flows(&mut self.flows, turn);
        relative::references(&mut self.references, turn);
    }
}

fn copy<T: Copy>(from: &[T], to: &mut Vec<T>) {
    to.clear();
    to.extend_from_slice(from);
}

impl FileFacts {
    /// The facts as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let guess = self.strings.blob.len() + self.expressions.len() * 4 + self.references.len() * 6;
        let mut buffer = Vec::with_capacity(guess + self.definitions.len() * 40 + 256);
        DESK.with_borrow_mut(|desk| {
            desk.copy(self);
            self.write_from(desk, &mut buffer);
            if desk.expressions.len() > LARGE_DESK {
                *desk = Desk::default();
            }
        });
        buffer
    }

    fn write_from(&self, desk: &Desk, buffer: &mut Vec<u8>) {
        let written = Written {
            language: &self.language,
            strings: (&self.strings.blob, &desk.ends),
            package: desk.package,
            doc: desk.doc,
            definitions: &desk.definitions,
            scopes: &desk.scopes,
            bindings: &desk.bindings,
            imports: &desk.imports,
            exports: &desk.exports,
            expressions: &desk.expressions,
            lists: &desk.lists,
            flows: &desk.flows,
            references: &desk.references,
            problems: &self.problems,
            lines: self.lines,
            generated: self.generated,
        };
        // Writing to memory cannot fail: every type here has a known length and a plain representation.
        *buffer = postcard::to_extend(&written, std::mem::take(buffer)).unwrap_or_default();
    }

    /// The facts that `bytes` hold. Memory and time are bounded by a small multiple of `bytes`, whatever they claim.
    pub fn decode(bytes: &[u8]) -> Result<FileFacts, DecodeError> {
        let mut facts: FileFacts = postcard::from_bytes(bytes)?;
        let turn = Turn::Absolute;
        let mut names = relative::Names::new(turn);
        relative::ends(&mut facts.strings.ends, turn);
        names.optional(&mut facts.package);
        names.optional(&mut facts.doc);
        relative::definitions(&mut facts.definitions, &mut names, turn);
        relative::scopes(&mut facts.scopes, turn);
        relative::bindings(&mut facts.bindings, &mut names, turn);
        relative::imports(&mut facts.imports, &mut facts.exports, &mut names, turn);
        relative::expressions(&mut facts.expressions, &mut facts.lists, &mut names, turn);
        relative::flows(&mut facts.flows, turn);
        relative::references(&mut facts.references, turn);
        match facts.inconsistency() {
            Some(what) => Err(DecodeError::Inconsistent(what)),
            None => Ok(facts),
        }
    }

    fn inconsistency(&self) -> Option<&'static str> {
        let definitions = self.definitions.len();
        let scopes = self.scopes.len();
        let bindings = self.bindings.len();
        let imports = self.imports.len();
        let expressions = self.expressions.len();
        let list = |list: List| u64::from(list.start) + u64::from(list.len) <= self.lists.len() as u64;
        let expression = |id: ExpressionId| id.index() < expressions;

        if !self.strings.ends.is_sorted()
            || self
                .strings
                .ends
                .last()
                .is_some_and(|&end| end as usize > self.strings.blob.len())
        {
            return Some("strings");
        }
        for (id, definition) in self.definitions.iter().enumerate() {
            let fits = definition.parent.is_none_or(|parent| parent.index() < id)
                && definition.scope.index() < scopes
                && definition.body.is_none_or(|body| body.index() < scopes)
                && definition.owner.is_none_or(expression)
                && definition.result.is_none_or(expression)
                && definition.bases.iter().all(|base| expression(base.type_))
                && definition.decorators.iter().all(|&decorator| expression(decorator))
                && definition.parameters.iter().all(|parameter| {
                    parameter.binding.is_none_or(|binding| binding.index() < bindings)
                        && parameter.type_.is_none_or(expression)
                });
            if !fits {
                return Some("definitions");
            }
        }
        for (id, scope) in self.scopes.iter().enumerate() {
            if scope.parent.is_some_and(|parent| parent.index() >= id)
                || scope
                    .definition
                    .is_some_and(|definition| definition.index() >= definitions)
            {
                return Some("scopes");
            }
        }
        for binding in &self.bindings {
            use crate::facts::Bound;
            let fits = match binding.to {
                Bound::Local | Bound::TypeParameter => true,
                Bound::Parameter(id) | Bound::Receiver(id) | Bound::Definition(id) => id.index() < definitions,
                Bound::Import(id) => id.index() < imports,
            };
            if !fits || binding.scope.index() >= scopes {
                return Some("bindings");
            }
        }
        let mut entries_left = self.lists.len();
        for (id, node) in self.expressions.iter().enumerate() {
            let before = |child: ExpressionId| child.index() < id;
            let mut all_before = |entries: List| {
                // No two expressions share a list, so that checking them all is linear.
                let Some(left) = entries_left.checked_sub(entries.len as usize) else {
                    return false;
                };
                entries_left = left;
                list(entries) && self.list(entries).iter().all(|&child| (child as usize) < id)
            };
            let fits = match *node {
                Expression::Unknown | Expression::Text(_) | Expression::Literal(_) | Expression::Module(_) => true,
                Expression::Bound { binding, .. } => binding.index() < bindings,
                Expression::Free { scope, .. } | Expression::This(scope) | Expression::Super(scope) => {
                    scope.index() < scopes
                }
                Expression::Member { object, .. } | Expression::Index { object, .. } => before(object),
                Expression::Call { callee: of, arguments }
                | Expression::New { type_: of, arguments }
                | Expression::Generic { base: of, arguments } => before(of) && all_before(arguments),
                Expression::Argument { value, .. }
                | Expression::Unwrap(value)
                | Expression::Element(value)
                | Expression::Item(value, _)
                | Expression::Entered(value)
                | Expression::Typed(value)
                | Expression::Wrapped(value) => before(value),
                Expression::Sequence { elements } => all_before(elements),
                Expression::Mapping { entries } => all_before(entries),
                Expression::Choice(entries) | Expression::FunctionType(entries) => all_before(entries),
                Expression::Definition(definition) => definition.index() < definitions,
            };
            if !fits {
                return Some("expressions");
            }
        }
        for flow in &self.flows {
            let fits = match *flow {
                Flow::Assign { target, value, .. } => expression(target) && expression(value),
                Flow::Typed { target, type_ } => expression(target) && expression(type_),
                Flow::Return { function, value } | Flow::Yield { function, value } => {
                    function.index() < definitions && expression(value)
                }
            };
            if !fits {
                return Some("flows");
            }
        }
        let within = |id: Option<crate::facts::DefinitionId>| id.is_none_or(|id| id.index() < definitions);
        if !self
            .references
            .iter()
            .all(|reference| expression(reference.expression) && within(reference.within))
        {
            return Some("references");
        }
        if !self.imports.iter().all(|import| within(import.within)) {
            return Some("imports");
        }
        let exported = |export: &crate::facts::Export| {
            export.value.is_none_or(expression) && export.from.is_none_or(|from| from.index() < imports)
        };
        if !self.exports.iter().all(exported) {
            return Some("exports");
        }
        None
    }
}
