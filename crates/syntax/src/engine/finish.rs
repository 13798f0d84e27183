//! The last pass: resolves names over the scope tree, drops mentions and expressions that nothing needs, and renumbers
//! what stays.
//!
//! Children come before parents in the list of expressions, so one backward pass finds all that is reachable and one
//! forward pass renumbers it.

use std::collections::HashMap;

use super::lowering::{Lowering, is_type};
use super::rules::Members;
use crate::facts::{
    BindingId, Bound, Definition, DefinitionId, Expression, ExpressionId, FileFacts, Flags, Flow, Kind, List, Name,
    Reference, Role, ScopeId, ScopeKind, Strings,
};
use crate::languages::Depth;
use crate::visible::{LineEnds, push_visible};

const GONE: u32 = u32::MAX;

pub(crate) fn finish(mut lowering: Lowering<'_>, depth: Depth, mut facts: FileFacts) -> FileFacts {
    name_the_nameless(&mut lowering);
    let mut names_bound = vec![false; lowering.names.len()];
    for binding in &lowering.bindings {
        names_bound[binding.name.index()] = true;
    }
    let called = called_names(&lowering);
    for id in 0..lowering.expressions.len() {
        if let Expression::Free { name, scope } = lowering.expressions[id]
            && names_bound[name.index()]
            && let Some(binding) = resolve(
                &lowering,
                name,
                scope,
                lowering.places[id],
                called.get(id) == Some(&true),
            )
        {
            lowering.expressions[id] = Expression::Bound {
                binding,
                at: lowering.places[id],
            };
        }
    }
    settle_keys(&mut lowering);
    for path in std::mem::take(&mut lowering.paths) {
        if let Expression::Free { name, .. } = lowering.expressions[path.index()] {
            lowering.expressions[path.index()] = Expression::Module(name);
        }
    }
    let mut references = std::mem::take(&mut lowering.references);
    references.retain(|reference| matters(&lowering, reference, depth));
    references.sort_by_key(|reference| reference.at);
    lowering.references = references;

    let mut compaction = Compaction {
        expressions: vec![GONE; lowering.expressions.len()],
        names: vec![GONE; lowering.names.len()],
        kept_names: Vec::new(),
    };
    compaction.mark(&lowering);
    compaction.rewrite(&mut lowering, &mut facts);
    facts.generated = says_generated(lowering.source);
    facts
}

/// Numbers what has no name within each named definition in source order, so that a graph can tell it apart: `<lambda1>`,
/// `<class1>`, `<test1>`.
fn name_the_nameless(lowering: &mut Lowering<'_>) {
    let nothing = lowering.names.intern("");
    let mut counts: HashMap<(Option<DefinitionId>, &str), u32> = HashMap::new();
    for index in 0..lowering.definitions.len() {
        let definition = &lowering.definitions[index];
        let word = match definition.kind {
            Kind::Lambda => "lambda",
            _ if definition.name != nothing => continue,
            _ if definition.flags.contains(Flags::TEST) => "test",
            Kind::Class => "class",
            Kind::Struct => "struct",
            Kind::Union => "union",
            Kind::Enum => "enum",
            _ => continue,
        };
        let mut around = definition.parent;
        while let Some(id) = around.filter(|id| lowering.definitions[id.index()].kind == Kind::Lambda) {
            around = lowering.definitions[id.index()].parent;
        }
        let count = counts.entry((around, word)).or_default();
        *count += 1;
        let name = lowering.names.intern(&format!("<{word}{count}>"));
        lowering.definitions[index].name = name;
    }
}

/// Replaces the key of `object[name]` by the text that the name always holds.
fn settle_keys(lowering: &mut Lowering<'_>) {
    let keys = std::mem::take(&mut lowering.named_keys);
    if keys.is_empty() {
        return;
    }
    // By binding: its one text, or nothing once it holds anything else.
    let mut texts: HashMap<BindingId, Option<Name>> = HashMap::new();
    for flow in &lowering.flows {
        let (Flow::Assign { target, .. } | Flow::Typed { target, .. }) = *flow else {
            continue;
        };
        let Expression::Bound { binding, .. } = lowering.expressions[target.index()] else {
            continue;
        };
        let text = match *flow {
            Flow::Assign { value, .. } => match lowering.expressions[value.index()] {
                Expression::Text(text) => Some(text),
                _ => None,
            },
            _ => continue,
        };
        let known = texts.entry(binding).or_insert(text);
        if *known != text {
            *known = None;
        }
    }
    for (index, name) in keys {
        if let Expression::Bound { binding, .. } = lowering.expressions[name.index()]
            && matches!(
                lowering.bindings[binding.index()].to,
                Bound::Local | Bound::Definition(_)
            )
            && let Some(Some(text)) = texts.get(&binding)
            && let Expression::Index { key, .. } = &mut lowering.expressions[index.index()]
        {
            *key = Some(*text);
        }
    }
}

/// Which expressions are called, where that decides what their name means; empty elsewhere.
fn called_names(lowering: &Lowering<'_>) -> Vec<bool> {
    if !lowering.rules.functions_apart {
        return Vec::new();
    }
    let mut called = vec![false; lowering.expressions.len()];
    for reference in lowering
        .references
        .iter()
        .filter(|reference| reference.role == Role::Call)
    {
        called[reference.expression.index()] = true;
    }
    called
}

/// The binding that `name`, used at byte `at` of `scope`, means; `called` skips variables.
fn resolve(lowering: &Lowering<'_>, name: Name, scope: ScopeId, at: u32, called: bool) -> Option<BindingId> {
    let mut current = Some(scope);
    let mut inside_function = false;
    let mut inside_member = false;
    while let Some(id) = current {
        let here = &lowering.scopes[id.index()];
        let visible = here.kind != ScopeKind::Type
            || match lowering.rules.members {
                Members::Hidden | Members::Types | Members::Bare => false,
                Members::Direct => !inside_function,
                Members::Nested => true,
            };
        if !lowering.redirects.is_empty()
            && let Some(&elsewhere) = lowering.redirects.get(&(id, name))
        {
            return lowering.by_name.get(&(elsewhere, name)).copied();
        }
        let names_type = |binding: &BindingId| match lowering.bindings[binding.index()].to {
            Bound::TypeParameter => true,
            Bound::Definition(id) => {
                let kind = lowering.definitions[id.index()].kind;
                matches!(lowering.rules.members, Members::Types | Members::Bare)
                    && (is_type(kind) || kind == Kind::Module)
            }
            _ => false,
        };
        let names_function = |binding: &BindingId| match lowering.bindings[binding.index()].to {
            Bound::Definition(id) => matches!(lowering.definitions[id.index()].kind, Kind::Function | Kind::Method),
            _ => false,
        };
        if !visible {
            // Type parameters are seen throughout, members are not.
            let found = lowering.by_name.get(&(id, name));
            if let Some(binding) = found.copied().filter(names_type) {
                return Some(binding);
            }
            // What a constructor takes is seen by what runs with it.
            let is_local = |binding: &BindingId| lowering.bindings[binding.index()].to == Bound::Local;
            if let Some(binding) = found.copied().filter(is_local)
                && lowering.rules.members == Members::Bare
                && !inside_member
                && !called
            {
                return Some(binding);
            }
            let may_be_function = called || !lowering.rules.functions_apart;
            if lowering.rules.members == Members::Bare && may_be_function && found.is_some_and(names_function) {
                return None;
            }
        } else {
            let mut found = lowering.by_name.get(&(id, name)).copied();
            while let Some(binding) = found {
                let (from, before) = lowering.seen_from[binding.index()];
                let hidden = called
                    && match lowering.bindings[binding.index()].to {
                        Bound::Local => true,
                        Bound::Parameter(function) => !may_be_called(lowering, function, name),
                        _ => false,
                    };
                if from <= at && !hidden {
                    return Some(binding);
                }
                found = before;
            }
        }
        inside_function |= here.kind == ScopeKind::Function || here.kind == ScopeKind::Block;
        let is_lambda = |id: DefinitionId| lowering.definitions[id.index()].kind == Kind::Lambda;
        inside_member |= here.kind == ScopeKind::Function && !here.definition.is_some_and(is_lambda);
        current = here.parent;
    }
    None
}

/// Whether a parameter may hold a function: it has no type, or one without a name.
fn may_be_called(lowering: &Lowering<'_>, function: DefinitionId, name: Name) -> bool {
    let parameters = &lowering.definitions[function.index()].parameters;
    let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
        return false;
    };
    let mut type_ = parameter.type_;
    while let Some(Expression::Wrapped(inner)) = type_.map(|type_| lowering.expressions[type_.index()]) {
        type_ = Some(inner);
    }
    let is_nameless = |type_: ExpressionId| {
        matches!(
            lowering.expressions[type_.index()],
            Expression::Unknown | Expression::FunctionType(_)
        )
    };
    lowering.rules.calls_parameters && type_.is_none_or(is_nameless)
}

/// Whether a mention can become an edge: reads of locals and parameters cannot.
fn matters(lowering: &Lowering<'_>, reference: &Reference, depth: Depth) -> bool {
    match lowering.expressions[reference.expression.index()] {
        Expression::Unknown | Expression::Literal(_) | Expression::Text(_) => false,
        // A table alone does not know all locals, so a bare name that is merely read says nothing.
        Expression::Free { .. } if depth == Depth::Broad => {
            reference.role != Role::Read && reference.role != Role::Write
        }
        Expression::Bound { binding, .. } => match lowering.bindings[binding.index()].to {
            Bound::Definition(_) | Bound::Import(_) => true,
            Bound::Local | Bound::Parameter(_) | Bound::Receiver(_) => {
                matches!(
                    reference.role,
                    Role::Call | Role::Instantiate | Role::Decorate | Role::Inherit
                )
            }
            Bound::TypeParameter => false,
        },
        _ => true,
    }
}

struct Compaction {
    /// New number of each old expression.
    expressions: Vec<u32>,
    /// New number of each old name.
    names: Vec<u32>,
    kept_names: Vec<Name>,
}

impl Compaction {
    fn mark(&mut self, lowering: &Lowering<'_>) {
        let marks = &mut self.expressions;
        let mut mark = |id: ExpressionId| marks[id.index()] = 0;
        for reference in &lowering.references {
            mark(reference.expression);
        }
        for flow in &lowering.flows {
            match *flow {
                Flow::Assign { target, value, .. } => {
                    mark(target);
                    mark(value);
                }
                Flow::Typed { target, type_ } => {
                    mark(target);
                    mark(type_);
                }
                Flow::Return { value, .. } | Flow::Yield { value, .. } => mark(value),
            }
        }
        for definition in &lowering.definitions {
            definition
                .owner
                .into_iter()
                .chain(definition.result)
                .for_each(&mut mark);
            definition.bases.iter().for_each(|base| mark(base.type_));
            definition.decorators.iter().for_each(|&decorator| mark(decorator));
            definition
                .parameters
                .iter()
                .filter_map(|parameter| parameter.type_)
                .for_each(&mut mark);
        }
        for export in &lowering.exports {
            export.value.into_iter().for_each(&mut mark);
        }
        for id in (0..lowering.expressions.len()).rev() {
            let expression = &lowering.expressions[id];
            // Arguments reach parameters through calls, whether or not the result is used.
            if marks[id] == GONE && !matches!(expression, Expression::Call { .. } | Expression::New { .. }) {
                continue;
            }
            marks[id] = 0;
            let mut mark = |child: ExpressionId| marks[child.index()] = 0;
            match *expression {
                Expression::Member { object, .. } | Expression::Index { object, .. } => mark(object),
                Expression::Call { callee: of, arguments }
                | Expression::New { type_: of, arguments }
                | Expression::Generic { base: of, arguments } => {
                    mark(of);
                    entries(lowering, arguments).for_each(mark);
                }
                Expression::Argument { value, .. }
                | Expression::Unwrap(value)
                | Expression::Element(value)
                | Expression::Item(value, _)
                | Expression::Entered(value)
                | Expression::Typed(value)
                | Expression::Wrapped(value) => mark(value),
                Expression::Sequence { elements: list }
                | Expression::Mapping { entries: list }
                | Expression::Choice(list)
                | Expression::FunctionType(list) => entries(lowering, list).for_each(mark),
                Expression::Unknown
                | Expression::Bound { .. }
                | Expression::Free { .. }
                | Expression::Text(_)
                | Expression::Literal(_)
                | Expression::Definition(_)
                | Expression::This(_)
                | Expression::Super(_)
                | Expression::Module(_) => {}
            }
        }
        for (next, number) in (0..).zip(marks.iter_mut().filter(|number| **number != GONE)) {
            *number = next;
        }
    }

    fn name(&mut self, name: &mut Name) {
        let slot = &mut self.names[name.index()];
        if *slot == GONE {
            *slot = self.kept_names.len() as u32;
            self.kept_names.push(*name);
        }
        name.0 = *slot;
    }

    fn option(&mut self, name: &mut Option<Name>) {
        if let Some(name) = name {
            self.name(name);
        }
    }

    fn expression(&self, id: &mut ExpressionId) {
        id.0 = self.expressions[id.index()];
    }

    fn list(&self, lowering: &Lowering<'_>, list: &mut List, lists: &mut Vec<u32>) {
        let start = lists.len() as u32;
        lists.extend(entries(lowering, *list).map(|entry| self.expressions[entry.index()]));
        list.start = start;
    }

    fn rewrite(&mut self, lowering: &mut Lowering<'_>, facts: &mut FileFacts) {
        facts.package = lowering.package;
        self.option(&mut facts.package);
        facts.doc = lowering.doc;
        self.option(&mut facts.doc);

        let mut definitions = std::mem::take(&mut lowering.definitions);
        for definition in &mut definitions {
            self.name(&mut definition.name);
            self.name(&mut definition.signature);
            self.option(&mut definition.doc);
            self.option(&mut definition.result_text);
            for expression in definition
                .owner
                .iter_mut()
                .chain(&mut definition.result)
                .chain(&mut definition.decorators)
            {
                self.expression(expression);
            }
            for base in &mut definition.bases {
                self.expression(&mut base.type_);
            }
            for parameter in &mut definition.parameters {
                self.name(&mut parameter.name);
                self.option(&mut parameter.type_text);
                self.option(&mut parameter.default);
                if let Some(type_) = &mut parameter.type_ {
                    self.expression(type_);
                }
            }
        }
        facts.definitions = definitions;

        facts.bindings = std::mem::take(&mut lowering.bindings);
        for binding in &mut facts.bindings {
            self.name(&mut binding.name);
        }
        facts.imports = std::mem::take(&mut lowering.imports);
        for import in &mut facts.imports {
            self.name(&mut import.module);
            self.option(&mut import.member);
            self.option(&mut import.alias);
        }
        facts.exports = std::mem::take(&mut lowering.exports);
        for export in &mut facts.exports {
            self.name(&mut export.name);
            if let Some(value) = &mut export.value {
                self.expression(value);
            }
        }
        self.rewrite_expressions(lowering, facts);

        facts.flows = std::mem::take(&mut lowering.flows);
        for flow in &mut facts.flows {
            match flow {
                Flow::Assign { target, value, .. } => {
                    self.expression(target);
                    self.expression(value);
                }
                Flow::Typed { target, type_ } => {
                    self.expression(target);
                    self.expression(type_);
                }
                Flow::Return { value, .. } | Flow::Yield { value, .. } => self.expression(value),
            }
        }
        facts.references = std::mem::take(&mut lowering.references);
        for reference in &mut facts.references {
            self.expression(&mut reference.expression);
        }
        facts.scopes = std::mem::take(&mut lowering.scopes);
        facts.problems.append(&mut lowering.problems);
        facts.strings = self.strings(lowering, &facts.definitions);
    }

    fn rewrite_expressions(&mut self, lowering: &Lowering<'_>, facts: &mut FileFacts) {
        let mut lists = Vec::with_capacity(lowering.lists.len());
        for (id, expression) in lowering.expressions.iter().enumerate() {
            if self.expressions[id] == GONE {
                continue;
            }
            let mut expression = *expression;
            match &mut expression {
                Expression::Free { name, .. } | Expression::Text(name) | Expression::Module(name) => self.name(name),
                Expression::Member { object, name } | Expression::Argument { value: object, name } => {
                    self.expression(object);
                    self.name(name);
                }
                Expression::Index { object, key } => {
                    self.expression(object);
                    self.option(key);
                }
                Expression::Call { callee: of, arguments }
                | Expression::New { type_: of, arguments }
                | Expression::Generic { base: of, arguments } => {
                    self.expression(of);
                    self.list(lowering, arguments, &mut lists);
                }
                Expression::Unwrap(value)
                | Expression::Element(value)
                | Expression::Item(value, _)
                | Expression::Entered(value)
                | Expression::Typed(value)
                | Expression::Wrapped(value) => self.expression(value),
                Expression::Sequence { elements: list }
                | Expression::Mapping { entries: list }
                | Expression::Choice(list)
                | Expression::FunctionType(list) => self.list(lowering, list, &mut lists),
                Expression::Unknown
                | Expression::Bound { .. }
                | Expression::Literal(_)
                | Expression::Definition(_)
                | Expression::This(_)
                | Expression::Super(_) => {}
            }
            facts.expressions.push(expression);
        }
        facts.lists = lists;
    }

    fn strings(&self, lowering: &Lowering<'_>, definitions: &[Definition]) -> Strings {
        let total = self.kept_names.iter().map(|&name| lowering.names.get(name).len()).sum();
        let mut strings = Strings {
            blob: String::with_capacity(total),
            ends: Vec::with_capacity(self.kept_names.len()),
        };
        // A name with a line end in it would read as two lines of an answer; literals and documentation have theirs.
        let mut line_ends = vec![LineEnds::Kept; self.kept_names.len()];
        for definition in definitions {
            line_ends[definition.name.index()] = LineEnds::Shown;
        }
        for (&name, line_ends) in self.kept_names.iter().zip(line_ends) {
            push_visible(&mut strings.blob, lowering.names.get(name), line_ends);
            strings.ends.push(strings.blob.len() as u32);
        }
        strings
    }
}

fn entries<'a>(lowering: &'a Lowering<'_>, list: List) -> impl Iterator<Item = ExpressionId> + 'a {
    lowering.lists[list.start as usize..(list.start + list.len) as usize]
        .iter()
        .map(|&entry| ExpressionId(entry))
}

/// Whether the first lines say that a program wrote them.
fn says_generated(source: &str) -> bool {
    let head = &source.as_bytes()[..source.len().min(2048)];
    let has = |words: &[u8]| memchr::memmem::find(head, words).is_some();
    has(b"@generated")
        || ((has(b"enerated") || has(b"ENERATED"))
            && (has(b"DO NOT EDIT") || has(b"do not edit") || has(b"Do not edit")))
}
