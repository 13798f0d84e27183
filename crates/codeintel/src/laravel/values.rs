//! Values of PHP code, as far as one file tells them: texts, lists, maps, class names, and chains of calls unwound.

use syntax::facts::{DefinitionId, Expression, ExpressionId, Flow, Kind, List};

use crate::descriptors::php;
use crate::descriptors::reading::Reading;

/// `base->one(…)->two(…)`, in the order that it runs.
pub(super) struct Chain {
    /// What the first call is made on.
    pub(super) base: ExpressionId,
    /// The calls.
    pub(super) calls: Vec<Called>,
}

/// One call of a chain.
pub(super) struct Called {
    /// The method's name.
    pub(super) name: String,
    /// What it is given.
    pub(super) arguments: Vec<Argument>,
    /// The callee, by which its place can be found.
    pub(super) callee: ExpressionId,
}

/// One argument.
#[derive(Clone)]
pub(super) struct Argument {
    /// Its name, empty for one given in order.
    pub(super) name: String,
    /// Its value.
    pub(super) value: ExpressionId,
}

/// Longest chain that is unwound.
const MAX_CHAIN: usize = 64;

/// The chain that ends in the call `id`.
pub(super) fn chain(reading: &Reading, id: ExpressionId) -> Option<Chain> {
    let facts = &reading.facts;
    let mut calls = Vec::new();
    let mut current = id;
    while let Expression::Call { callee, arguments } = *facts.expression(current) {
        let Expression::Member { object, name } = *facts.expression(callee) else {
            break;
        };
        calls.push(Called {
            name: facts.text(name).to_string(),
            arguments: self::arguments(reading, arguments),
            callee,
        });
        current = object;
        if calls.len() > MAX_CHAIN {
            return None;
        }
    }
    calls.reverse();
    (!calls.is_empty()).then_some(Chain { base: current, calls })
}

/// The arguments of a call.
pub(super) fn arguments(reading: &Reading, list: List) -> Vec<Argument> {
    let facts = &reading.facts;
    let one = |id: &u32| match *facts.expression(ExpressionId(*id)) {
        Expression::Argument { name, value } => Argument {
            name: facts.text(name).to_string(),
            value,
        },
        _ => Argument {
            name: String::new(),
            value: ExpressionId(*id),
        },
    };
    facts.list(list).iter().map(one).collect()
}

/// The argument of this name, or at this place among those given in order.
pub(super) fn argument(arguments: &[Argument], name: &str, place: usize) -> Option<ExpressionId> {
    let named = arguments.iter().find(|argument| argument.name == name);
    let placed = || arguments.get(place).filter(|argument| argument.name.is_empty());
    named.or_else(placed).map(|argument| argument.value)
}

/// A text, or a constant of the same file that holds one.
pub(super) fn text(reading: &Reading, id: ExpressionId) -> Option<String> {
    let facts = &reading.facts;
    match *facts.expression(id) {
        Expression::Text(text) => Some(facts.text(text).to_string()),
        Expression::Definition(constant) => constant_value(reading, facts.text(facts.definition(constant).name)),
        Expression::Member { name, .. } => constant_value(reading, facts.text(name)),
        _ => None,
    }
}

/// The text that a constant of this name is declared to be.
fn constant_value(reading: &Reading, name: &str) -> Option<String> {
    let facts = &reading.facts;
    facts.flows.iter().find_map(|flow| {
        let Flow::Assign { target, value, .. } = *flow else {
            return None;
        };
        let Expression::Member { object, name: member } = *facts.expression(target) else {
            return None;
        };
        let is_own = matches!(facts.expression(object), Expression::This(_)) && facts.text(member) == name;
        match *facts.expression(value) {
            Expression::Text(text) if is_own => Some(facts.text(text).to_string()),
            _ => None,
        }
    })
}

/// A text or the full name of a class.
pub(super) fn text_or_class(reading: &Reading, id: ExpressionId) -> Option<String> {
    text(reading, id)
        .or_else(|| Some(php::class_name(reading, id)).filter(|name| !name.is_empty() && !name.starts_with('$')))
}

/// One text or a list of them; classes by their full names.
pub(super) fn texts(reading: &Reading, id: ExpressionId) -> Vec<String> {
    let facts = &reading.facts;
    match *facts.expression(id) {
        Expression::Sequence { elements } => {
            let elements = facts.list(elements).iter();
            elements.flat_map(|id| texts(reading, ExpressionId(*id))).collect()
        }
        Expression::Mapping { entries } => {
            let pairs = facts.list(entries).chunks_exact(2);
            pairs.flat_map(|pair| texts(reading, ExpressionId(pair[1]))).collect()
        }
        // `[Some::class, 'text']` reads as a method of the class; in a list of names it is two names.
        Expression::Member { object, name }
            if constant_value(reading, facts.text(name)).is_none() && names_class(reading, object) =>
        {
            let class = php::class_name(reading, object);
            vec![class, facts.text(name).to_string()]
        }
        _ => text_or_class(reading, id).into_iter().collect(),
    }
}

/// Whether an expression is the name of a class by itself, not the first part of a longer name.
fn names_class(reading: &Reading, id: ExpressionId) -> bool {
    matches!(
        reading.facts.expression(id),
        Expression::Bound { .. } | Expression::Definition(_)
    )
}

/// The entries of a map whose keys are texts.
pub(super) fn entries(reading: &Reading, id: ExpressionId) -> Vec<(String, ExpressionId)> {
    let facts = &reading.facts;
    match *facts.expression(id) {
        Expression::Mapping { entries } => facts
            .list(entries)
            .chunks_exact(2)
            .filter_map(|pair| Some((text_or_class(reading, ExpressionId(pair[0]))?, ExpressionId(pair[1]))))
            .collect(),
        // `array_merge(parent::casts(), […])`: the literal parts.
        Expression::Call { arguments, .. } => facts
            .list(arguments)
            .iter()
            .flat_map(|id| self::entries(reading, ExpressionId(*id)))
            .collect(),
        Expression::Choice(list) => facts
            .list(list)
            .iter()
            .flat_map(|id| self::entries(reading, ExpressionId(*id)))
            .collect(),
        _ => Vec::new(),
    }
}

/// The first value of a property that the class `of` declares.
pub(super) fn property(reading: &Reading, of: DefinitionId, name: &str) -> Option<ExpressionId> {
    let facts = &reading.facts;
    let field = facts.definitions.iter().find(|definition| {
        definition.parent == Some(of)
            && definition.kind == Kind::Field
            && facts.text(definition.name).trim_start_matches('$') == name
    })?;
    facts.flows.iter().find_map(|flow| match *flow {
        Flow::Assign { target, value, at, .. } if field.span.start <= at && at < field.span.end => {
            let Expression::Member { name: member, .. } = *facts.expression(target) else {
                return None;
            };
            (facts.text(member).trim_start_matches('$') == name).then_some(value)
        }
        _ => None,
    })
}

/// What follows the `=` of a property, as written.
pub(super) fn property_text(reading: &Reading, of: DefinitionId, name: &str) -> Option<String> {
    let facts = &reading.facts;
    let field = facts.definitions.iter().find(|definition| {
        definition.parent == Some(of)
            && definition.kind == Kind::Field
            && facts.text(definition.name).trim_start_matches('$') == name
    })?;
    let (_, value) = reading.bytes(field.span.start, field.span.end).split_once('=')?;
    Some(value.trim().trim_end_matches(';').trim_matches(['\'', '"']).to_string())
}

/// What a function returns, locals followed to what they were given.
pub(super) fn returned(reading: &Reading, function: DefinitionId) -> Vec<ExpressionId> {
    let facts = &reading.facts;
    let mut values = Vec::new();
    for flow in &facts.flows {
        let Flow::Return { function: of, value } = *flow else {
            continue;
        };
        if of == function {
            follow(reading, value, &mut values, 0);
        }
    }
    values
}

/// The values that a local may have been given; the value itself for anything else.
pub(super) fn followed(reading: &Reading, id: ExpressionId) -> Vec<ExpressionId> {
    let mut values = Vec::new();
    follow(reading, id, &mut values, 0);
    values
}

fn follow(reading: &Reading, id: ExpressionId, values: &mut Vec<ExpressionId>, depth: usize) {
    let facts = &reading.facts;
    if depth > 8 {
        return;
    }
    match *facts.expression(id) {
        Expression::Choice(list) => {
            for id in facts.list(list) {
                follow(reading, ExpressionId(*id), values, depth + 1);
            }
        }
        Expression::Bound { binding, .. } => {
            for flow in &facts.flows {
                if let Flow::Assign { target, value, .. } = *flow
                    && matches!(*facts.expression(target), Expression::Bound { binding: other, .. } if other == binding)
                    && value != id
                {
                    follow(reading, value, values, depth + 1);
                }
            }
        }
        _ => values.push(id),
    }
}

/// The attributes (`#[…]`) that stand before a definition: name and what is in the parentheses, as written.
pub(super) fn attributes(reading: &Reading, definition: &syntax::facts::Definition) -> Vec<(String, String)> {
    let text = reading.bytes(definition.span.start, definition.span.end);
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(inside) = rest.strip_prefix("#[") {
        let Some(end) = closing(inside) else { break };
        for part in split_attributes(&inside[..end]) {
            let (name, given) = part.split_once('(').unwrap_or((part, ""));
            let given = given.trim_end().strip_suffix(')').unwrap_or(given);
            found.push((php::basename(name.trim()).to_string(), given.trim().to_string()));
        }
        rest = inside[end + 1..].trim_start();
    }
    found
}

/// Where the bracket that is open closes.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '[' | '(') => depth += 1,
            (None, ']') if depth == 0 => return Some(at),
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn split_attributes(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The classes that an attribute names (`X::class`), by their full names.
pub(super) fn named_classes(reading: &Reading, given: &str) -> Vec<String> {
    let names = given.split("::class").filter_map(|part| {
        let start = part
            .rfind(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '\\')
            .map_or(0, |at| at + 1);
        Some(&part[start..]).filter(|name| !name.is_empty())
    });
    let count = given.matches("::class").count();
    names.take(count).map(|name| written_class(reading, name)).collect()
}

/// The full name of a class as written in text: by import, else by namespace.
pub(super) fn written_class(reading: &Reading, name: &str) -> String {
    let facts = &reading.facts;
    if let Some(rooted) = name.strip_prefix('\\') {
        return rooted.to_string();
    }
    let (first, rest) = name.split_once('\\').map_or((name, ""), |(first, rest)| (first, rest));
    let import = facts
        .imports
        .iter()
        .find(|import| import.alias.is_some_and(|alias| facts.text(alias) == first));
    let base = match import {
        Some(import) => match (
            facts.text(import.module),
            import.member.map(|member| facts.text(member)),
        ) {
            ("", Some(member)) => member.to_string(),
            (module, Some(member)) => format!("{module}\\{member}"),
            (module, None) => module.to_string(),
        },
        None => match facts.package.map(|package| facts.text(package)) {
            Some(package) if !package.is_empty() => format!("{package}\\{first}"),
            _ => first.to_string(),
        },
    };
    if rest.is_empty() {
        base
    } else {
        format!("{base}\\{rest}")
    }
}
