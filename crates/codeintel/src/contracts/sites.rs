//! The calls and decorators of one file that some rule is about, each with its receiver, its arguments and what it stands in.

use std::collections::HashMap;

use syntax::facts::{
    BindingId, Bound, Definition, DefinitionId, Expression, ExpressionId, FileFacts, Flow, Kind, Position, Role,
};

use super::arguments::{self, Arguments};

/// One file, ready to be asked about its calls.
pub(super) struct Source<'a> {
    pub(super) facts: &'a FileFacts,
    pub(super) text: &'a str,
    line_starts: Vec<usize>,
    /// What was put into a variable, where only one value was.
    assigned: HashMap<BindingId, ExpressionId>,
    /// What was put into a member of `this`, by the member's name.
    members: HashMap<&'a str, ExpressionId>,
    /// Texts that names stand for.
    constants: HashMap<&'a str, &'a str>,
    /// The arguments of a call, by its callee.
    called: HashMap<ExpressionId, Vec<ExpressionId>>,
    /// The definition that a decorator belongs to, by the decorator's callee.
    decorated: HashMap<ExpressionId, DefinitionId>,
}

/// A call or decorator.
#[derive(Clone)]
pub(super) struct Site<'a> {
    /// The callee's own name.
    pub(super) name: &'a str,
    /// What is called.
    pub(super) callee: ExpressionId,
    /// Byte where the name starts.
    pub(super) start: usize,
    /// Its line.
    pub(super) line: u32,
    pub(super) arguments: Arguments<'a>,
    /// The definition it decorates.
    pub(super) decorates: Option<DefinitionId>,
    /// Whether it makes a value of a type.
    pub(super) is_new: bool,
}

/// Languages whose attributes are constants.
fn reads_attributes(language: &str) -> bool {
    matches!(language, "java" | "kotlin" | "csharp" | "php")
}

impl<'a> Source<'a> {
    pub(super) fn new(facts: &'a FileFacts, text: &'a str) -> Source<'a> {
        let line_starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
            .collect();
        let mut source = Source {
            facts,
            text,
            line_starts,
            assigned: HashMap::new(),
            members: HashMap::new(),
            constants: HashMap::new(),
            called: HashMap::new(),
            decorated: HashMap::new(),
        };
        for expression in &facts.expressions {
            if let Expression::Call { callee: of, arguments } | Expression::New { type_: of, arguments } = *expression {
                let arguments = facts.list(arguments).iter().map(|&id| ExpressionId(id)).collect();
                source.called.insert(of, arguments);
            }
        }
        for (number, definition) in facts.definitions.iter().enumerate() {
            for &decorator in &definition.decorators {
                let callee = match *facts.expression(decorator) {
                    Expression::Call { callee, .. } => callee,
                    Expression::New { type_, .. } => type_,
                    _ => decorator,
                };
                source.decorated.insert(callee, DefinitionId(number as u32));
            }
        }
        for flow in &facts.flows {
            let Flow::Assign { target, value, .. } = *flow else {
                continue;
            };
            match *facts.expression(target) {
                Expression::Bound { binding, .. } => {
                    source.assigned.entry(binding).or_insert(value);
                }
                Expression::Member { name, .. } => {
                    source.members.entry(facts.text(name)).or_insert(value);
                }
                _ => {}
            }
            if let Expression::Text(text) = *facts.expression(value) {
                let name = source.name_of(target);
                if !name.is_empty() {
                    source.constants.entry(name).or_insert(facts.text(text));
                }
            }
        }
        source
    }

    /// The calls and decorators whose name `wanted` knows, in source order.
    pub(super) fn sites(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<Site<'a>> {
        let mut found = Vec::new();
        let by_text = reads_attributes(&self.facts.language);
        for reference in &self.facts.references {
            if by_text && reference.role == Role::Decorate {
                continue;
            }
            let decorates = self.decorated.get(&reference.expression).copied();
            let fits = decorates.is_some()
                || matches!(
                    reference.role,
                    Role::Call | Role::Instantiate | Role::Decorate | Role::Macro
                )
                || (reference.role == Role::Type && self.called.contains_key(&reference.expression));
            let name = self.name_of(reference.expression);
            if !fits || name.is_empty() || !wanted(name) {
                continue;
            }
            let Some(start) = self.offset(reference.at) else {
                continue;
            };
            let rest = &self.text[start..];
            let length = rest
                .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '$')))
                .unwrap_or(rest.len());
            let is_new = reference.role == Role::Instantiate;
            let after = start + length;
            let literal = is_new || reference.role == Role::Type;
            let mut read = arguments::read(self.text, after).unwrap_or(Arguments {
                items: Vec::new(),
                end: after,
            });
            if literal && read.items.is_empty() && self.text[after..].starts_with('{') {
                let members = arguments::closing(self.text, after).and_then(|end| self.text.get(after + 1..end - 1));
                read.items = arguments::split(members.unwrap_or(""));
            }
            found.push(Site {
                name,
                callee: reference.expression,
                start,
                line: reference.at.line,
                arguments: read,
                decorates,
                is_new: literal,
            });
        }
        if by_text {
            found.retain(|site: &Site<'_>| site.decorates.is_none());
            self.attributes(wanted, &mut found);
        }
        found.sort_by_key(|site| site.start);
        found.dedup_by_key(|site| site.start);
        found
    }

    /// Attributes and annotations, from the text between the start of a definition and its name: they are constants, so the text
    /// says all there is to know.
    fn attributes(&self, wanted: &dyn Fn(&str) -> bool, found: &mut Vec<Site<'a>>) {
        for (number, definition) in self.facts.definitions.iter().enumerate() {
            let start = definition.span.start as usize;
            let Some(end) = self.offset(definition.name_at).filter(|&end| end > start) else {
                continue;
            };
            let mut at = start;
            while at < end {
                let rest = &self.text[at..end];
                let marked =
                    rest.starts_with('@') || rest.starts_with('[') || rest.starts_with("#[") || rest.starts_with(',');
                if !marked {
                    at += rest.chars().next().map_or(1, char::len_utf8);
                    continue;
                }
                at += rest
                    .find(|letter: char| letter.is_alphabetic() || letter == '_')
                    .unwrap_or(rest.len());
                let rest = self.text.get(at..end).unwrap_or("");
                let length = rest
                    .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '.' | '\\')))
                    .unwrap_or(rest.len());
                let path = &rest[..length];
                let name = path.rsplit(['.', '\\']).next().unwrap_or(path);
                let after = at + length;
                let Some(arguments) = arguments::read(self.text, after) else {
                    break;
                };
                if !name.is_empty() && wanted(name) {
                    found.push(Site {
                        name,
                        callee: ExpressionId(u32::MAX),
                        start: after - name.len(),
                        line: self.line(at),
                        arguments: arguments.clone(),
                        decorates: Some(DefinitionId(number as u32)),
                        is_new: false,
                    });
                }
                // Without arguments, what follows may be a block or a modifier.
                at = match self.text[after..].trim_start().starts_with('(') {
                    true => arguments.end.max(after + 1),
                    false => after.max(at + 1),
                };
            }
        }
    }

    /// The last name of an expression; what an import brings, not what it is called here.
    pub(super) fn name_of(&self, expression: ExpressionId) -> &'a str {
        let facts = self.facts;
        match *facts.expression(expression) {
            Expression::Member { name, .. } | Expression::Free { name, .. } | Expression::Module(name) => {
                facts.text(name)
            }
            Expression::Bound { binding, .. } => {
                let Some(binding) = facts.bindings.get(binding.index()) else {
                    return "";
                };
                match binding.to {
                    Bound::Import(import) => facts
                        .imports
                        .get(import.index())
                        .and_then(|import| import.member)
                        .map_or(facts.text(binding.name), |member| facts.text(member)),
                    _ => facts.text(binding.name),
                }
            }
            Expression::Generic { base, .. } => self.name_of(base),
            Expression::Unwrap(inner) | Expression::Wrapped(inner) | Expression::Typed(inner) => self.name_of(inner),
            _ => "",
        }
    }

    /// The receiver of a callee.
    pub(super) fn receiver(&self, callee: ExpressionId) -> Option<ExpressionId> {
        match *self.facts.expression(callee) {
            Expression::Member { object, .. } => Some(object),
            Expression::Generic { base, .. } => self.receiver(base),
            _ => None,
        }
    }

    /// Names that tell what an expression is: its own, the module it comes from, what made it.
    pub(super) fn known_as(&self, expression: ExpressionId) -> Vec<&'a str> {
        let facts = self.facts;
        let mut names = vec![self.name_of(expression)];
        match *facts.expression(expression) {
            Expression::Bound { binding, .. } => {
                if let Some(Bound::Import(import)) = facts.bindings.get(binding.index()).map(|binding| binding.to)
                    && let Some(import) = facts.imports.get(import.index())
                {
                    names.push(facts.text(import.module));
                }
                if let Some(&value) = self.assigned.get(&binding) {
                    names.extend(self.maker(value));
                }
            }
            Expression::Member { object, name } => {
                if let Some(&value) = self.members.get(facts.text(name)) {
                    names.extend(self.maker(value));
                }
                if matches!(
                    facts.expression(object),
                    Expression::Free { .. } | Expression::Bound { .. }
                ) {
                    names.push(self.name_of(object));
                }
            }
            _ => names.extend(self.maker(expression)),
        }
        names.retain(|name| !name.is_empty());
        names
    }

    /// The names of the call that makes a value: `axios.create()` is create and axios.
    fn maker(&self, value: ExpressionId) -> Vec<&'a str> {
        match *self.facts.expression(value) {
            Expression::Call { callee: of, .. } | Expression::New { type_: of, .. } => {
                let mut names = vec![self.name_of(of)];
                names.extend(self.receiver(of).map(|object| self.name_of(object)));
                names
            }
            Expression::Unwrap(inner) | Expression::Entered(inner) => self.maker(inner),
            _ => Vec::new(),
        }
    }

    /// What was put into the variable or member that an expression names.
    pub(super) fn value_of(&self, expression: ExpressionId) -> Option<ExpressionId> {
        match *self.facts.expression(expression) {
            Expression::Bound { binding, .. } => self.assigned.get(&binding).copied(),
            Expression::Member { name, .. } => self.members.get(self.facts.text(name)).copied(),
            _ => None,
        }
    }

    /// The arguments of the call with this callee, as expressions.
    pub(super) fn arguments_of(&self, callee: ExpressionId) -> &[ExpressionId] {
        self.called.get(&callee).map_or(&[], Vec::as_slice)
    }

    /// The text that a name stands for.
    pub(super) fn constant(&self, name: &str) -> Option<String> {
        self.constants.get(name).map(|text| (*text).to_string())
    }

    /// The definition and those around it, from the inside out.
    pub(super) fn around(&self, definition: DefinitionId) -> impl Iterator<Item = (DefinitionId, &'a Definition)> + '_ {
        let facts = self.facts;
        let get = move |id: DefinitionId| facts.definitions.get(id.index()).map(|found| (id, found));
        std::iter::successors(get(definition), move |(id, current)| {
            // A definition comes after the one that contains it, so this ends.
            current.parent.filter(|parent| parent < id).and_then(get)
        })
    }

    /// The end of the block that a call opens at the end of its line, where blocks are functions: `namespace :api do … end`.
    pub(super) fn block_behind(&self, from: usize, to: usize) -> Option<usize> {
        let lambdas = self
            .facts
            .definitions
            .iter()
            .filter(|definition| definition.kind == Kind::Lambda);
        let mut opened = lambdas.filter(|definition| {
            let start = definition.span.start as usize;
            start >= from && start <= to.saturating_add(4)
        });
        opened.next_back().map(|definition| definition.span.end as usize)
    }

    pub(super) fn offset(&self, at: Position) -> Option<usize> {
        let start = self.line_starts.get((at.line as usize).checked_sub(1)?)?;
        let offset = start + at.column as usize;
        self.text.is_char_boundary(offset).then_some(offset)
    }

    /// The line that holds a byte.
    pub(super) fn line(&self, offset: usize) -> u32 {
        self.line_starts.partition_point(|&start| start <= offset) as u32
    }
}
