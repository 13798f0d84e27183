//! Facts as bytes: postcard over ids told as distances ([`relative`](crate::relative)), then a check that every id points into its vector, so that readers of a damaged or hostile
//! store can index without fear and walk expressions without cycles.

use crate::facts::{
    Binding, Definition, Export, Expression, ExpressionId, FileFacts, Flow, Import, List, Name, Problem, Reference,
    Scope,
};
use crate::relative::{self, Turn};
use serde::Serialize;

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
    strings: (&'a str, Vec<u32>),
    package: Option<Name>,
    doc: Option<Name>,
    definitions: &'a [Definition],
    scopes: &'a [Scope],
    bindings: &'a [Binding],
    imports: &'a [Import],
    exports: &'a [Export],
    expressions: Vec<Expression>,
    lists: Vec<u32>,
    flows: Vec<Flow>,
    references: Vec<Reference>,
    problems: &'a [Problem],
    lines: u32,
    generated: bool,
}

impl FileFacts {
    /// The facts as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut written = Written {
            language: &self.language,
            strings: (&self.strings.blob, self.strings.ends.clone()),
            package: self.package,
            doc: self.doc,
            definitions: &self.definitions,
            scopes: &self.scopes,
            bindings: &self.bindings,
            imports: &self.imports,
            exports: &self.exports,
            expressions: self.expressions.clone(),
            lists: self.lists.clone(),
            flows: self.flows.clone(),
            references: self.references.clone(),
            problems: &self.problems,
            lines: self.lines,
            generated: self.generated,
        };
        relative::ends(&mut written.strings.1, Turn::Relative);
        relative::expressions(&mut written.expressions, &mut written.lists, Turn::Relative);
        relative::flows(&mut written.flows, Turn::Relative);
        relative::references(&mut written.references, Turn::Relative);
        let guess = self.strings.blob.len() + self.expressions.len() * 4 + self.references.len() * 6;
        let buffer = Vec::with_capacity(guess + self.definitions.len() * 40 + 256);
        // Writing to memory cannot fail: every type here has a known length and a plain representation.
        postcard::to_extend(&written, buffer).unwrap_or_default()
    }

    /// The facts that `bytes` hold. Memory and time are bounded by a small multiple of `bytes`, whatever they claim.
    pub fn decode(bytes: &[u8]) -> Result<FileFacts, DecodeError> {
        let mut facts: FileFacts = postcard::from_bytes(bytes)?;
        relative::ends(&mut facts.strings.ends, Turn::Absolute);
        relative::expressions(&mut facts.expressions, &mut facts.lists, Turn::Absolute);
        relative::flows(&mut facts.flows, Turn::Absolute);
        relative::references(&mut facts.references, Turn::Absolute);
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
