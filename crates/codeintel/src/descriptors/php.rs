//! Full names of PHP classes: by import, else by the namespace of the file, as PHP itself resolves them.

use syntax::facts::{Bound, Expression, ExpressionId};

use super::reading::Reading;

/// The full name of the class that an expression names; empty for any other expression.
pub(crate) fn class_name(reading: &Reading, id: ExpressionId) -> String {
    let facts = &reading.facts;
    match *facts.expression(id) {
        Expression::Bound { binding, .. } => {
            let Some(binding) = facts.bindings.get(binding.index()) else {
                return String::new();
            };
            match binding.to {
                Bound::Import(import) => {
                    let Some(import) = facts.imports.get(import.index()) else {
                        return String::new();
                    };
                    let module = facts.text(import.module);
                    match import.member.map(|member| facts.text(member)) {
                        Some(member) if module.is_empty() => member.to_string(),
                        Some(member) => format!("{module}\\{member}"),
                        None => module.to_string(),
                    }
                }
                Bound::Definition(_) => in_namespace(reading, facts.text(binding.name)),
                _ => String::new(),
            }
        }
        Expression::Free { name, .. } => {
            let name = facts.text(name);
            match name.starts_with('$') || is_rooted(reading, id) {
                true => name.to_string(),
                false => in_namespace(reading, name),
            }
        }
        // A name of several parts is resolved already: its first part stands at the root, or is an import.
        Expression::Member { object, name } => match *facts.expression(object) {
            Expression::Free { name: root, .. } => format!("{}\\{}", facts.text(root), facts.text(name)),
            _ => match class_name(reading, object).as_str() {
                "" => String::new(),
                object => format!("{object}\\{}", facts.text(name)),
            },
        },
        Expression::Definition(id) => in_namespace(reading, facts.text(facts.definition(id).name)),
        Expression::Module(name) | Expression::Text(name) => facts.text(name).trim_start_matches('\\').to_string(),
        Expression::Typed(inner) | Expression::Wrapped(inner) => class_name(reading, inner),
        _ => String::new(),
    }
}

/// The last part of a full name.
pub(crate) fn basename(name: &str) -> &str {
    name.rsplit('\\').next().unwrap_or(name)
}

fn in_namespace(reading: &Reading, name: &str) -> String {
    let package = reading
        .facts
        .package
        .map(|package| reading.facts.text(package))
        .unwrap_or("");
    match package.is_empty() {
        true => name.to_string(),
        false => format!("{package}\\{name}"),
    }
}

/// Whether the name is written with a leading backslash, which the facts do not keep.
fn is_rooted(reading: &Reading, id: ExpressionId) -> bool {
    let Some(at) = reading
        .facts
        .references
        .iter()
        .find(|reference| reference.expression == id)
        .map(|reference| reference.at)
    else {
        return false;
    };
    let line = reading
        .text
        .lines()
        .nth((at.line as usize).saturating_sub(1))
        .unwrap_or("");
    line.get(..at.column as usize)
        .is_some_and(|before| before.ends_with('\\'))
}
