//! Which attributes the routes of a file get from whoever loads it.

use std::collections::BTreeMap;

use index::model::FileId;
use syntax::facts::Expression;

use super::{Attributes, modify_group, statements};
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
        for statement in statements(reading) {
            let mut attributes = Attributes::default();
            for call in &statement.chain.calls {
                if call.name != "group" {
                    modify_group(reading, call, &mut attributes);
                    continue;
                }
                let Some(last) = call.arguments.last() else { continue };
                let path = match *reading.facts.expression(last.value) {
                    // `base_path('routes/api.php')`
                    Expression::Call { arguments: list, .. } => arguments(reading, list)
                        .first()
                        .and_then(|given| text(reading, given.value)),
                    _ => text(reading, last.value),
                };
                if let Some(path) = path.filter(|path| path.ends_with(".php")) {
                    found.insert(beneath(file.path(), &path, of), attributes.clone());
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

/// `->withRouting(web: __DIR__.'/../routes/web.php', api: …, apiPrefix: 'api/v1')`, read as text: the paths are made at run time.
fn routing(text: &str) -> Vec<(String, Attributes)> {
    let Some((_, given)) = text.split_once("withRouting(") else {
        return Vec::new();
    };
    let given = given.split_once("->with").map_or(given, |(given, _)| given);
    let quoted = |name: &str| -> Option<String> {
        let (_, after) = given.split_once(&format!("{name}:"))?;
        let after = &after[after.find(['\'', '"'])? + 1..];
        after.split(['\'', '"']).next().map(str::to_string)
    };
    let path = |name: &str| quoted(name).map(|path| path.replace("/../", "").trim_start_matches('/').to_string());
    let mut found = Vec::new();
    for (name, prefix) in [
        ("web", String::new()),
        ("api", quoted("apiPrefix").unwrap_or_else(|| "api".to_string())),
    ] {
        if let Some(path) = path(name).filter(|path| path.ends_with(".php")) {
            let attributes = Attributes {
                prefix,
                middleware: vec![name.to_string()],
                ..Attributes::default()
            };
            found.push((path, attributes));
        }
    }
    found
}
