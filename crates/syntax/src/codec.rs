//! Facts as bytes: postcard, then a check that every id points into its vector, so that readers of a damaged or hostile
//! store can index without fear and walk expressions without cycles.

use crate::facts::{Expression, ExpressionId, FileFacts, Flow, List};

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

impl FileFacts {
    /// The facts as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let guess = self.strings.blob.len() + self.expressions.len() * 4 + self.references.len() * 8;
        let buffer = Vec::with_capacity(guess + self.definitions.len() * 48 + 256);
        // Writing to memory cannot fail: every type here has a known length and a plain representation.
        postcard::to_extend(self, buffer).unwrap_or_default()
    }

    /// The facts that `bytes` hold. Memory is bounded by a small multiple of `bytes`, whatever they claim.
    pub fn decode(bytes: &[u8]) -> Result<FileFacts, DecodeError> {
        let facts: FileFacts = postcard::from_bytes(bytes)?;
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
        for (id, node) in self.expressions.iter().enumerate() {
            let before = |child: ExpressionId| child.index() < id;
            let all_before =
                |entries: List| list(entries) && self.list(entries).iter().all(|&child| (child as usize) < id);
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
