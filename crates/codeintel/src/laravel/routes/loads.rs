//! Which attributes the routes of a file get from whoever loads it.

use std::collections::BTreeMap;

use index::model::FileId;
use syntax::facts::{DefinitionId, Expression};

use super::{Attributes, enclosing, group_options, modify_group, statements};
use crate::descriptors::home::folder;
use crate::descriptors::reading::Reading;
use crate::laravel::values::{arguments, text};
use crate::workspace::{Repository, Workspace};

/// What the files that load route files say of them: a group in a provider, or the routing of `bootstrap/app.php`.
pub(super) fn loads(
    workspace: &Workspace,
    repository: usize,
    readings: &BTreeMap<FileId, Reading>,
) -> BTreeMap<String, Attributes> {
    let mut found: BTreeMap<String, Attributes> = BTreeMap::new();
    let Some(of) = workspace.repository(repository) else {
        return found;
    };
    for (id, reading) in readings {
        let Some(file) = of.snapshot.file(*id) else { continue };
        // The closure of a group, and what the group says.
        let mut groups: BTreeMap<DefinitionId, Attributes> = BTreeMap::new();
        for statement in statements(reading) {
            let mut attributes = enclosing(reading, statement.within, &groups, &Attributes::default());
            for call in &statement.chain.calls {
                if call.name != "group" {
                    modify_group(reading, call, &mut attributes);
                    continue;
                }
                if let Some(options) = call.arguments.first().filter(|_| call.arguments.len() > 1) {
                    group_options(reading, options.value, &mut attributes);
                }
                let Some(last) = call.arguments.last() else { continue };
                let paths = match *reading.facts.expression(last.value) {
                    // `base_path('routes/api.php')`
                    Expression::Call { arguments: list, .. } => {
                        let given = arguments(reading, list);
                        given
                            .first()
                            .and_then(|given| text(reading, given.value))
                            .into_iter()
                            .collect()
                    }
                    // `function () { require base_path('routes/api.php'); }`. What stands in a group inside of this one is found with that
                    // one, which comes later and takes its place.
                    Expression::Definition(closure) => {
                        groups.insert(closure, attributes.clone());
                        let definition = reading.facts.definitions.get(closure.index());
                        let body =
                            definition.map(|definition| reading.bytes(definition.span.start, definition.span.end));
                        required(body.unwrap_or_default())
                    }
                    _ => Vec::from_iter(text(reading, last.value)),
                };
                for path in paths.iter().filter(|path| path.ends_with(".php")) {
                    found.insert(beneath(file.path(), path, of), attributes.clone());
                }
            }
        }
        if file.path().ends_with("bootstrap/app.php") {
            for (path, attributes) in routing(&reading.text) {
                found.insert(beneath(file.path(), &path, of), attributes);
            }
        }
    }
    found
}

/// A path relative to the application, as the index has it.
fn beneath(from: &str, path: &str, of: &Repository) -> String {
    let path = path.trim_start_matches('/');
    let mut above = folder(from);
    loop {
        let candidate = if above.is_empty() {
            path.to_string()
        } else {
            format!("{above}/{path}")
        };
        if of.snapshot.find_file(&candidate).is_some() || above.is_empty() {
            return candidate;
        }
        above = folder(above);
    }
}

/// The files that a piece of code requires, as far as their paths are written there.
fn required(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in ["require", "include"] {
        for (at, _) in code.match_indices(word) {
            let is_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
            let rest = code[at + word.len()..].trim_start_matches("_once");
            let statement = rest.split(';').next().unwrap_or_default();
            if is_word && rest.starts_with([' ', '(', '\n', '\t', '\r']) {
                found.extend(quoted(statement).last().map(from_here));
            }
        }
    }
    found
}

/// The texts in quotes of a piece of code without escapes.
fn quoted(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    std::iter::from_fn(move || {
        let open = rest.find(['\'', '"'])?;
        let quote = rest[open..].chars().next()?;
        let inside = &rest[open + 1..];
        let end = inside.find(quote)?;
        rest = &inside[end + 1..];
        Some(&inside[..end])
    })
}

/// A path behind `__DIR__`, which names folders above before it goes down.
fn from_here(path: &str) -> String {
    let mut path = path.trim_start_matches('/');
    while let Some(rest) = path.strip_prefix("../") {
        path = rest;
    }
    path.to_string()
}

/// `->withRouting(web: __DIR__.'/../routes/web.php', api: …, apiPrefix: 'api/v1')`, read as text: the paths are made at run time.
fn routing(text: &str) -> Vec<(String, Attributes)> {
    let Some((_, given)) = text.split_once("withRouting") else {
        return Vec::new();
    };
    let given = given.split_once("->with").map_or(given, |(given, _)| given);
    let prefix = named(given, "apiPrefix").and_then(|value| quoted(value).next());
    let mut found = Vec::new();
    for (name, prefix) in [("web", ""), ("api", prefix.unwrap_or("api"))] {
        let value = named(given, name).unwrap_or_default();
        // One path, or a list of them.
        let list = value.strip_prefix('[').and_then(|list| list.split(']').next());
        let paths: Vec<&str> = match list {
            Some(list) => quoted(list).collect(),
            None => quoted(value).take(1).collect(),
        };
        for path in paths.into_iter().filter(|path| path.ends_with(".php")) {
            let attributes = Attributes {
                prefix: prefix.to_string(),
                middleware: vec![name.to_string()],
                ..Attributes::default()
            };
            found.push((from_here(path), attributes));
        }
    }
    found
}

/// What follows the name of an argument and its colon, however they are spaced.
fn named<'t>(code: &'t str, name: &str) -> Option<&'t str> {
    code.match_indices(name).find_map(|(at, _)| {
        let is_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '\'' | '"' | '/'));
        let value = code[at + name.len()..].trim_start().strip_prefix(':')?;
        (is_word && !value.starts_with(':')).then(|| value.trim_start())
    })
}

#[cfg(test)]
mod tests {
    use super::{required, routing};

    #[test]
    fn arguments_are_found_however_they_are_spaced() {
        let code = "<?php return Application::configure(basePath: dirname(__DIR__))\n  -> withRouting (\n\
                    web     : __DIR__ . '/../routes/web.php',\n        apiPrefix   :'api/v2' ,\n\
                    api\n: [__DIR__.\"/../routes/api.php\", __DIR__ . '/../routes/more.php'],\n health: '/up')->withMiddleware();";
        let found: Vec<(String, String)> = routing(code)
            .into_iter()
            .map(|(path, attributes)| (path, attributes.prefix))
            .collect();
        let expected = [
            ("routes/web.php", ""),
            ("routes/api.php", "api/v2"),
            ("routes/more.php", "api/v2"),
        ];
        assert_eq!(
            found,
            expected.map(|(path, prefix)| (path.to_string(), prefix.to_string()))
        );
    }

    #[test]
    fn files_that_code_requires() {
        let code = "function ($router) { require base_path('routes/api.php'); require_once __DIR__.'/../routes/web.php';\n\
                    include(\"x.php\"); $required = 'no.php'; requires('no.php'); }";
        assert_eq!(required(code), ["routes/api.php", "routes/web.php", "x.php"]);
    }
}
