//! How the links of a file are gathered from its facts: one pass over the definitions, bindings, imports, exports and flows
//! each. Nothing here looks at another file.

use syntax::facts::{
    Bound, Definition, DefinitionId, Expression, ExpressionId, FileFacts, Flags, Flow, ImportForm, Kind, Name, Passing,
    ScopeId, ScopeKind, Visibility,
};

use super::{
    DefinitionLink, ExportLink, ImportLink, Links, ModuleTarget, NONE, NameLink, ParameterLink, is_function, is_type,
    is_variable, member_name,
};
use crate::resolve::languages::ALL;
use crate::resolve::numbers::{DEFINITION_BITS, EXPRESSION_BITS, Numbers};
use crate::resolve::type_names::TypeName;
use crate::resolve::words::Word;

/// What happens to a name after it is bound.
#[derive(Clone, Default)]
struct Later {
    /// Definitions of the same name.
    definitions: Vec<u32>,
    /// One of them certainly replaces what was bound first.
    replaced: bool,
    /// Some other value is assigned.
    assigned: bool,
}

impl Links {
    /// The links of `facts`; imports have no target yet.
    pub fn new(facts: &FileFacts, language: u8) -> Links {
        let numbers = Numbers::fresh(facts.definitions.len(), DEFINITION_BITS);
        let expressions = Numbers::fresh(facts.expressions.len(), EXPRESSION_BITS);
        Links::with_numbers(facts, language, numbers, expressions)
    }

    /// As [`Links::new`], where definitions and expressions have numbers already.
    pub fn with_numbers(facts: &FileFacts, language: u8, numbers: Numbers, expressions: Numbers) -> Links {
        // Where overloads exist, a repeated definition does not replace the first.
        let overloads = ALL[language as usize].overloads;
        let words: Vec<Word> = (0..facts.strings.len())
            .map(|name| Word::of(facts.text(Name(name as u32))))
            .collect();
        let mut links = Links {
            language,
            has_tests: facts
                .definitions
                .iter()
                .any(|definition| definition.flags.contains(Flags::TEST)),
            package: facts.package.map(|name| facts.text(name).into()),
            numbers,
            expressions,
            ..Links::default()
        };
        links.add_definitions(facts, &words);
        links.add_names(facts, &words, overloads);
        links.add_imports(facts, &words);
        links.add_exports(facts, &words);
        links.add_fields(facts, &words);
        links.shrink();
        links
    }

    /// Gives back what the vectors reserved while they grew: there are links of every file at once.
    fn shrink(&mut self) {
        self.names.shrink_to_fit();
        self.exports.shrink_to_fit();
        self.definitions.shrink_to_fit();
        self.members.shrink_to_fit();
        self.held.shrink_to_fit();
        self.parameters.shrink_to_fit();
        self.imports.shrink_to_fit();
        self.wildcards.shrink_to_fit();
        self.aliases.shrink_to_fit();
        self.paths.shrink_to_fit();
        self.extensions.shrink_to_fit();
        self.fields.shrink_to_fit();
    }

    fn add_definitions(&mut self, facts: &FileFacts, words: &[Word]) {
        for (id, definition) in facts.definitions.iter().enumerate() {
            if let Some(extended) = extended(facts, definition, ALL[self.language as usize].wrapped_arrays) {
                self.extensions.push((self.numbers.of(id as u32), extended));
            }
            let start = self.parameters.len() as u32;
            self.parameters
                .extend(definition.parameters.iter().map(|parameter| ParameterLink {
                    name: words[parameter.name.index()],
                    passing: parameter.passing,
                    optional: parameter.default.is_some(),
                    literal: parameter.default.is_some_and(|text| is_literal(facts.text(text))),
                    type_: parameter.type_.map_or(TypeName::Unknown, |type_| {
                        TypeName::of_type(facts, type_, ALL[self.language as usize].wrapped_arrays)
                    }),
                }));
            self.definitions.push(DefinitionLink {
                kind: definition.kind,
                flags: definition.flags,
                name: words[definition.name.index()],
                parent: definition.parent.map_or(NONE, |parent| self.numbers.of(parent.0)),
                owner: None,
                parameters: (start, self.parameters.len() as u32),
                decorated: !definition.decorators.is_empty(),
                private: definition.visibility == Visibility::Private,
                result: definition.result.map_or(TypeName::Unknown, |type_| {
                    TypeName::of_type(facts, type_, ALL[self.language as usize].wrapped_arrays)
                }),
                shape: shape(facts, definition),
            });
            if let Some(parent) = definition.parent
                && definition.owner.is_none()
                && is_type(facts.definition(parent).kind)
                && definition.kind != Kind::Lambda
                && definition.kind != Kind::Extension
            {
                let owner = words[facts.definition(parent).name.index()];
                let name = member_name(definition.kind, words[definition.name.index()], owner);
                let (owner, member) = (self.numbers.of(parent.0), self.numbers.of(id as u32));
                self.members.push((owner, name, member));
            }
        }
        self.members.sort_unstable();
        self.extensions.sort_unstable_by_key(|&(number, _)| number);
    }

    fn add_names(&mut self, facts: &FileFacts, words: &[Word], overloads: bool) {
        let mut later = vec![Later::default(); facts.bindings.len()];
        for flow in &facts.flows {
            if let Flow::Assign {
                target,
                value,
                conditional,
                ..
            } = *flow
                && let Expression::Bound { binding, .. } = *facts.expression(target)
                && let Some(later) = later.get_mut(binding.index())
            {
                match *facts.expression(value) {
                    Expression::Definition(id) if !is_variable(facts.definition(id).kind) => {
                        if !conditional && !overloads {
                            later.definitions.clear();
                            later.replaced = true;
                        }
                        later.definitions.push(id.0);
                    }
                    _ => later.assigned = true,
                }
            }
        }
        for (binding, later) in facts.bindings.iter().zip(later) {
            let word = words[binding.name.index()];
            if !at_top(facts, binding.scope) {
                if let (Bound::Import(import), Some(module)) = (binding.to, module_of(facts, binding.scope)) {
                    self.held.push((self.numbers.of(module.0), word, import.0));
                }
                continue;
            }
            match binding.to {
                Bound::Definition(id) if !later.replaced => {
                    self.names.push((word, NameLink::Definition(self.numbers.of(id.0))));
                }
                Bound::Import(id) if !later.replaced => self.names.push((word, NameLink::Import(id.0))),
                Bound::Definition(_) | Bound::Import(_) => {}
                _ => self.names.push((word, NameLink::Variable)),
            }
            for &id in &later.definitions {
                self.names.push((word, NameLink::Definition(self.numbers.of(id))));
            }
            if later.assigned && !matches!(binding.to, Bound::Definition(id) if is_variable(facts.definition(id).kind))
            {
                self.names.push((word, NameLink::Variable));
            }
        }
        self.held.sort_unstable();
        self.names.sort_by_key(|&(word, _)| word);
        self.names.dedup();
        self.add_aliases(facts, words);
    }

    fn add_aliases(&mut self, facts: &FileFacts, words: &[Word]) {
        for flow in &facts.flows {
            if let Flow::Assign { target, value, .. } = *flow
                && let Expression::Bound { binding, .. } = *facts.expression(target)
                && let Some(binding) = facts.bindings.get(binding.index())
                && at_top(facts, binding.scope)
                && let Some(path) = path_of(facts, words, value)
            {
                self.aliases.push((words[binding.name.index()], path));
            }
        }
        self.aliases.sort();
        for (id, definition) in facts.definitions.iter().enumerate() {
            if is_type(definition.kind)
                && let Some(path) = definition
                    .owner
                    .and_then(|owner| written_path(facts, words, owner, |_| true))
            {
                self.paths.push((self.numbers.of(id as u32), path));
            }
        }
        self.paths.sort();
    }

    fn add_imports(&mut self, facts: &FileFacts, words: &[Word]) {
        for (id, import) in facts.imports.iter().enumerate() {
            self.imports.push(ImportLink {
                member: import.member.map(|name| words[name.index()]),
                member_text: import.member.map_or("", |name| facts.text(name)).into(),
                form: import.form,
                reexported: import.reexported,
                target: ModuleTarget::Nothing,
                rest: Box::default(),
                binds_first: None,
            });
            if matches!(import.form, ImportForm::Wildcard | ImportForm::Include) {
                self.wildcards.push(id as u32);
            }
        }
    }

    fn add_fields(&mut self, facts: &FileFacts, words: &[Word]) {
        for flow in &facts.flows {
            if let Flow::Assign { target, .. } | Flow::Typed { target, .. } = *flow
                && let Expression::Member { name, .. } = *facts.expression(target)
            {
                self.fields.push(words[name.index()]);
            }
        }
        for binding in &facts.bindings {
            let kind = facts.scopes.get(binding.scope.index()).map(|scope| scope.kind);
            if matches!(kind, Some(ScopeKind::Type | ScopeKind::Module)) {
                self.fields.push(words[binding.name.index()]);
            }
        }
        for definition in facts
            .definitions
            .iter()
            .filter(|definition| is_variable(definition.kind))
        {
            self.fields.push(words[definition.name.index()]);
        }
        for expression in &facts.expressions {
            // What `setattr(x, "name", …)` and the like name.
            if let Expression::Call { arguments, .. } = *expression
                && let [_, second, _] = *facts.list(arguments)
                && let Expression::Text(name) = *facts.expression(ExpressionId(second))
            {
                self.fields.push(words[name.index()]);
            }
        }
        self.fields.sort_unstable();
        self.fields.dedup();
    }

    fn add_exports(&mut self, facts: &FileFacts, words: &[Word]) {
        for export in &facts.exports {
            let word = words[export.name.index()];
            let link = match (export.from, export.value) {
                (Some(import), _) => {
                    if facts.text(export.name) == "*" {
                        if !self.wildcards.contains(&import.0) {
                            self.wildcards.push(import.0);
                        }
                        continue;
                    }
                    ExportLink::Import(import.0)
                }
                // A listed name that is not bound here comes through a wildcard import.
                (None, Some(value)) if matches!(facts.expression(value), Expression::Free { .. }) => continue,
                // One that is bound here is found by its name, with every definition that it may stand for.
                (None, Some(value)) if is_same_name(facts, value, export.name) => continue,
                (None, Some(value)) => self.exported_value(facts, value),
                (None, None) => {
                    self.listed.get_or_insert_default().push(word);
                    continue;
                }
            };
            self.exports.push((word, link));
        }
        // Of two exports of one name the later wins, as assignments to `exports.name` do.
        self.exports.reverse();
        self.exports.sort_by_key(|&(word, _)| word);
        self.exports.dedup_by_key(|&mut (word, _)| word);
    }

    fn exported_value(&self, facts: &FileFacts, value: ExpressionId) -> ExportLink {
        match *facts.expression(value) {
            Expression::Definition(id) => self.direct(facts, id),
            Expression::Bound { binding, .. } => match facts.bindings.get(binding.index()).map(|binding| binding.to) {
                Some(Bound::Definition(id)) => self.direct(facts, id),
                Some(Bound::Import(id)) => ExportLink::Import(id.0),
                _ => ExportLink::Value,
            },
            _ => ExportLink::Value,
        }
    }

    fn direct(&self, facts: &FileFacts, id: DefinitionId) -> ExportLink {
        if is_variable(facts.definition(id).kind) {
            ExportLink::Value
        } else {
            ExportLink::Definition(self.numbers.of(id.0))
        }
    }
}

/// Whether a default as written is a literal.
fn is_literal(text: &str) -> bool {
    let first = text.bytes().next().unwrap_or(b'"');
    matches!(first, b'0'..=b'9' | b'"' | b'\'' | b'-')
        || matches!(
            text,
            "None" | "null" | "nil" | "NULL" | "undefined" | "True" | "False" | "true" | "false" | "()" | "[]" | "{}"
        )
}

/// Whether names of this scope are names of the file: the file's own scope, and modules or namespaces that the whole file
/// declares are not told apart here.
fn at_top(facts: &FileFacts, scope: ScopeId) -> bool {
    let Some(known) = facts.scopes.get(scope.index()) else {
        return false;
    };
    match known.kind {
        ScopeKind::File => true,
        // Blocks at the top (`if`, `try`) in languages with block scopes keep their names to themselves.
        _ => false,
    }
}

/// The module written in place whose scope this is.
fn module_of(facts: &FileFacts, scope: ScopeId) -> Option<DefinitionId> {
    let module = facts.scopes.get(scope.index())?.definition?;
    (facts.definition(module).kind == Kind::Module).then_some(module)
}

/// Whether the value is the top-level name `name` itself.
fn is_same_name(facts: &FileFacts, value: ExpressionId, name: Name) -> bool {
    match *facts.expression(value) {
        Expression::Bound { binding, .. } => facts
            .bindings
            .get(binding.index())
            .is_some_and(|binding| binding.name == name && at_top(facts, binding.scope)),
        Expression::Definition(id) => {
            let definition = facts.definition(id);
            is_variable(definition.kind) && definition.name == name && at_top(facts, definition.scope)
        }
        _ => false,
    }
}

/// `a.b.c` as words, when the expression is nothing but that and starts at a top-level name.
pub fn path_of(facts: &FileFacts, words: &[Word], expression: ExpressionId) -> Option<Box<[Word]>> {
    written_path(facts, words, expression, |scope| at_top(facts, scope))
}

/// The same, where the first name is bound in a scope that is `wanted`.
fn written_path(
    facts: &FileFacts,
    words: &[Word],
    expression: ExpressionId,
    wanted: impl Fn(ScopeId) -> bool,
) -> Option<Box<[Word]>> {
    let mut path = Vec::new();
    let mut at = expression;
    for _ in 0..16 {
        match *facts.expression(at) {
            Expression::Member { object, name } => {
                path.push(words[name.index()]);
                at = object;
            }
            Expression::Generic { base, .. } => at = base,
            Expression::Wrapped(inner) => at = inner,
            Expression::Bound { binding, .. } => {
                let binding = facts.bindings.get(binding.index())?;
                if !wanted(binding.scope) {
                    return None;
                }
                path.push(words[binding.name.index()]);
                path.reverse();
                return Some(path.into());
            }
            Expression::Free { name, .. } => {
                path.push(words[name.index()]);
                path.reverse();
                return Some(path.into());
            }
            _ => return None,
        }
    }
    None
}

/// What two methods must share for one to stand for the other: types of the parameters as written, without the packages
/// that qualify them (which differ by where they are written), and the number of results.
fn shape(facts: &FileFacts, definition: &Definition) -> Word {
    if definition.kind != Kind::Method {
        // A change of what it extends is a change of the definition.
        let extended = extended(facts, definition, false);
        return extended.map_or(Word(0), |extended| Word::of(&format!("{extended:?}")));
    }
    let results = match definition.result.map(|result| facts.expression(result)) {
        None => 0,
        Some(Expression::Generic { base, arguments }) if matches!(*facts.expression(*base), Expression::Free { name, .. } if facts.text(name) == "()") => {
            arguments.len
        }
        Some(_) => 1,
    };
    let types = definition.parameters.iter().filter_map(|parameter| parameter.type_text);
    types.fold(Word(u64::from(results)), |word, text| {
        word.then(Word::of(&unqualified(facts.text(text))))
    })
}

/// What a function of its own adds to, where it is called as if it were a member: the type before its name, or that of the
/// parameter which stands for the receiver.
fn extended(facts: &FileFacts, definition: &Definition, wrapped_arrays: bool) -> Option<TypeName> {
    if !definition.flags.contains(Flags::EXTENSION) || !is_function(definition.kind) {
        return None;
    }
    let named = |type_: Option<ExpressionId>| {
        type_.map_or(TypeName::Unknown, |type_| {
            TypeName::of_type(facts, type_, wrapped_arrays)
        })
    };
    let receiver = definition
        .parameters
        .first()
        .filter(|first| first.passing == Passing::Receiver);
    match receiver {
        Some(receiver) => Some(named(receiver.type_)),
        None => Some(named(definition.owner)),
    }
}

/// The shape of a method that takes these types, told without packages, and gives so many results.
pub fn shape_of(types: &[&str], results: u32) -> Word {
    let results = Word(u64::from(results));
    types.iter().fold(results, |word, type_| word.then(Word::of(type_)))
}

fn unqualified(type_: &str) -> String {
    let mut bare = String::with_capacity(type_.len());
    let mut start = 0;
    for letter in type_.chars() {
        match letter {
            '.' if !bare.ends_with('.') => bare.truncate(start),
            letter if letter.is_whitespace() => {}
            letter => {
                bare.push(letter);
                if !letter.is_alphanumeric() && letter != '_' {
                    start = bare.len();
                }
            }
        }
    }
    bare.replace("interface{}", "any")
}

/// What each expression looks like by itself, hashed. Equal neighbourhoods in two versions of a file are the same code.
pub fn shapes(facts: &FileFacts) -> Box<[u16]> {
    let word = |name: Name| Word::of(facts.text(name)).0;
    let shape = |expression: &Expression| {
        let kind = match *expression {
            Expression::Unknown => 0,
            Expression::Bound { binding, .. } => {
                1 ^ facts.bindings.get(binding.index()).map_or(0, |known| word(known.name))
            }
            Expression::Free { name, .. } => 2 ^ word(name),
            Expression::Member { name, .. } => 3 ^ word(name),
            Expression::Call { arguments, .. } => 4 + (u64::from(arguments.len) << 8),
            Expression::New { arguments, .. } => 5 + (u64::from(arguments.len) << 8),
            Expression::Sequence { elements } => 6 + (u64::from(elements.len) << 8),
            Expression::Mapping { entries } => 7 + (u64::from(entries.len) << 8),
            Expression::Generic { arguments, .. } => 8 + (u64::from(arguments.len) << 8),
            Expression::Text(name) => 9 ^ word(name),
            Expression::Index { key, .. } => 10 ^ key.map_or(0, word),
            Expression::Module(name) => 11 ^ word(name),
            Expression::FunctionType(list) => 12 + (u64::from(list.len) << 8),
            Expression::Choice(list) => 13 + (u64::from(list.len) << 8),
            _ => 14,
        };
        (Word(kind).then(Word(9)).0 >> 48) as u16
    };
    facts.expressions.iter().map(shape).collect()
}

/// Whether a file lies where tests keep what they need, by its path.
pub fn is_of_tests(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let mut before = "src";
    folders.split('/').any(|folder| {
        // A package may well be called `test`: that it holds tests is certain at the top, or beside the sources.
        let found = matches!(folder, "tests" | "__tests__" | "spec") || (folder == "test" && before == "src");
        before = folder;
        found
    })
}
