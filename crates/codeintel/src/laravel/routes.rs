//! `laravel_routes`: every route of a Laravel application with its prefixes, names, middleware and handler, groups applied.
//!
//! Each statement on the router is a chain of calls. What a group says counts for every chain inside its closure, and for
//! every file that a group loads. Resources are spelled out as the routes that they make.

mod loads;
mod resources;

use std::collections::BTreeMap;

use index::model::FileId;
use index::scan::read_source;
use index::snapshot::FileView;
use serde::{Deserialize, Serialize};
use syntax::facts::{DefinitionId, Expression, ExpressionId, Position};

use super::values::{Called, Chain, argument, chain, entries, text, text_or_class, texts};
use crate::descriptors::php::{self, basename};
use crate::descriptors::reading::Reading;
use crate::error::QuestionError;
use crate::workspace::Workspace;
use loads::loads;
use resources::{resource_kind, resources};

/// One route.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Route {
    /// Verbs, separated by `|`; `ANY` for all.
    pub method: String,
    /// Path with its prefixes, starting with `/`.
    pub uri: String,
    /// Name with its prefixes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `Full\Class@method`, `Full\Class` for one that is invoked, `Closure`, or what a redirect or view leads to.
    pub action: String,
    /// Middleware of its groups, then its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub middleware: Vec<String>,
    /// Host it is bound to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub domain: String,
    /// Patterns of its parameters.
    #[serde(rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub patterns: BTreeMap<String, String>,
    /// The resource that makes it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource: String,
    /// File that declares it.
    pub path: String,
    /// Line of the declaration.
    pub line: u32,
}

/// What groups say, from the outermost in.
#[derive(Clone, Default)]
struct Attributes {
    prefix: String,
    name: String,
    middleware: Vec<String>,
    without: Vec<String>,
    controller: String,
    namespace: String,
    domain: String,
    patterns: BTreeMap<String, String>,
}

/// The routes of a repository, by file and line.
pub fn routes(workspace: &Workspace, repository: usize) -> Result<Vec<Route>, QuestionError> {
    let Some(of) = workspace.repository(repository) else {
        return Ok(Vec::new());
    };
    let mut readings: BTreeMap<FileId, Reading> = BTreeMap::new();
    for file in of.snapshot.files().filter(|file| file.language() == "php") {
        if workspace.is_stopped() {
            return Ok(Vec::new());
        }
        // A file that says neither word declares no route; most are told by that without being parsed.
        let mentions = read_source(&of.root, file.path()).is_ok_and(|(text, _)| {
            memchr::memmem::find(text.as_bytes(), b"Route::").is_some()
                || memchr::memmem::find(text.as_bytes(), b"$router->").is_some() && is_route_file(&file)
                || memchr::memmem::find(text.as_bytes(), b"withRouting").is_some()
        });
        if mentions {
            readings.insert(file.id(), Reading::of(workspace, repository, file)?);
        }
    }
    let loads = loads(workspace, repository, &readings);
    let mut found = Vec::new();
    for (id, reading) in &readings {
        let Some(file) = of.snapshot.file(*id) else { continue };
        let outer = loads.get(file.path()).cloned().unwrap_or_default();
        let path = workspace.path(repository, file.path());
        found.extend(file_routes(reading, &outer).into_iter().map(|route| Route {
            path: path.clone(),
            ..route
        }));
    }
    Ok(found)
}

fn is_route_file(file: &FileView<'_>) -> bool {
    file.path().contains("routes/") || file.path().contains("Routes/") || file.path().ends_with("routes.php")
}

/// A chain on the router, with its place.
struct Statement {
    chain: Chain,
    at: Position,
    within: Option<DefinitionId>,
}

/// The chains of a file whose first call is made on the router, in source order.
fn statements(reading: &Reading) -> Vec<Statement> {
    let facts = &reading.facts;
    // A call on which another is made is part of that one's chain.
    let mut is_inner = vec![false; facts.expressions.len()];
    for expression in &facts.expressions {
        if let Expression::Call { callee, .. } = expression
            && let Expression::Member { object, .. } = facts.expression(*callee)
            && let Some(inner) = is_inner.get_mut(object.index())
        {
            *inner = true;
        }
    }
    let places: BTreeMap<u32, (Position, Option<DefinitionId>)> = facts
        .references
        .iter()
        .map(|reference| (reference.expression.0, (reference.at, reference.within)))
        .collect();
    let mut found = Vec::new();
    for (number, expression) in facts.expressions.iter().enumerate() {
        if is_inner[number] || !matches!(expression, Expression::Call { .. }) {
            continue;
        }
        let Some(chain) = chain(reading, ExpressionId(number as u32)) else {
            continue;
        };
        if !is_router(reading, chain.base) {
            continue;
        }
        let place = chain.calls.first().and_then(|call| places.get(&call.callee.0)).copied();
        if let Some((at, within)) = place {
            found.push(Statement { chain, at, within });
        }
    }
    found.sort_by_key(|statement| statement.at);
    found
}

fn is_router(reading: &Reading, id: ExpressionId) -> bool {
    let facts = &reading.facts;
    match *facts.expression(id) {
        Expression::Free { name, .. } if facts.text(name).starts_with('$') => facts.text(name) == "$router",
        Expression::Bound { binding, .. }
            if facts
                .bindings
                .get(binding.index())
                .is_some_and(|one| facts.text(one.name) == "$router") =>
        {
            true
        }
        Expression::Free { .. } | Expression::Bound { .. } | Expression::Member { .. } => {
            let name = php::class_name(reading, id);
            name == "Illuminate\\Support\\Facades\\Route" || name == "Route"
        }
        _ => false,
    }
}

fn file_routes(reading: &Reading, outer: &Attributes) -> Vec<Route> {
    let statements = statements(reading);
    // The closure of a group, and what the group says.
    let mut groups: BTreeMap<DefinitionId, Attributes> = BTreeMap::new();
    let mut found = Vec::new();
    for statement in &statements {
        let mut attributes = enclosing(reading, statement.within, &groups, outer);
        let mut made: Vec<Route> = Vec::new();
        for call in &statement.chain.calls {
            if let Some(resource) = resource_kind(&call.name) {
                made.extend(resources(reading, call, resource, &statement.chain, &attributes));
            } else if let Some(routes) = verb(reading, call, &attributes) {
                made.extend(routes);
            } else if call.name == "group" {
                if let Some(options) = call.arguments.first().filter(|_| call.arguments.len() > 1) {
                    group_options(reading, options.value, &mut attributes);
                }
                if let Some(Expression::Definition(closure)) = call
                    .arguments
                    .last()
                    .map(|argument| *reading.facts.expression(argument.value))
                {
                    groups.insert(closure, attributes.clone());
                }
            } else if made.is_empty() {
                modify_group(reading, call, &mut attributes);
            } else {
                modify_routes(reading, call, &attributes, &mut made);
            }
        }
        for mut route in made {
            route.line = statement.at.line;
            found.push(route);
        }
    }
    found
}

/// What the groups around a place say.
fn enclosing(
    reading: &Reading,
    within: Option<DefinitionId>,
    groups: &BTreeMap<DefinitionId, Attributes>,
    outer: &Attributes,
) -> Attributes {
    let mut current = within;
    for _ in 0..64 {
        let Some(id) = current else { break };
        if let Some(attributes) = groups.get(&id) {
            return attributes.clone();
        }
        current = reading
            .facts
            .definitions
            .get(id.index())
            .and_then(|definition| definition.parent);
    }
    outer.clone()
}

/// `prefix`, `name`, `middleware` and the like before a verb or a group.
fn modify_group(reading: &Reading, call: &Called, attributes: &mut Attributes) {
    let all = || -> Vec<String> {
        call.arguments
            .iter()
            .flat_map(|argument| texts(reading, argument.value))
            .collect()
    };
    let one = || all().into_iter().next().unwrap_or_default();
    match call.name.as_str() {
        "prefix" => attributes.prefix = join(&attributes.prefix, &one()),
        "name" | "as" => attributes.name.push_str(&one()),
        "middleware" => attributes.middleware.extend(all()),
        "withoutMiddleware" => attributes.without.extend(all()),
        "controller" => attributes.controller = one(),
        "namespace" => attributes.namespace = namespaced(&attributes.namespace, &one()),
        "domain" => attributes.domain = one(),
        _ => attributes.patterns.extend(patterns(reading, call)),
    }
}

/// `Route::group(['prefix' => …, 'middleware' => …], …)`.
fn group_options(reading: &Reading, options: ExpressionId, attributes: &mut Attributes) {
    for (key, value) in entries(reading, options) {
        let all = texts(reading, value);
        let one = all.first().cloned().unwrap_or_default();
        match key.as_str() {
            "prefix" => attributes.prefix = join(&attributes.prefix, &one),
            "as" | "name" => attributes.name.push_str(&one),
            "middleware" => attributes.middleware.extend(all),
            "excluded_middleware" => attributes.without.extend(all),
            "namespace" => attributes.namespace = namespaced(&attributes.namespace, &one),
            "controller" => attributes.controller = one,
            "domain" => attributes.domain = one,
            "where" => attributes.patterns.extend(
                entries(reading, value)
                    .into_iter()
                    .filter_map(|(key, value)| Some((key, text(reading, value)?))),
            ),
            _ => {}
        }
    }
}

/// `name`, `middleware`, `where` and the like after a verb.
fn modify_routes(reading: &Reading, call: &Called, attributes: &Attributes, routes: &mut [Route]) {
    let all: Vec<String> = call
        .arguments
        .iter()
        .flat_map(|argument| texts(reading, argument.value))
        .collect();
    let patterns = patterns(reading, call);
    for route in routes {
        let one = || all.first().cloned().unwrap_or_default();
        match call.name.as_str() {
            // The names of a resource's routes are its own affair.
            "name" | "as" if route.resource.is_empty() => {
                route.name = format!(
                    "{}{}",
                    if route.name.is_empty() {
                        &attributes.name
                    } else {
                        &route.name
                    },
                    one()
                );
            }
            "middleware" => route.middleware.extend(all.iter().cloned()),
            "withoutMiddleware" => route.middleware.retain(|middleware| !all.contains(middleware)),
            "prefix" => route.uri = shown_uri(&join(&one(), &route.uri)),
            "domain" => route.domain = one(),
            _ => route.patterns.extend(patterns.clone()),
        }
    }
}

/// `where('id', '[0-9]+')`, `where([…])`, `whereNumber('id')` and its kin.
fn patterns(reading: &Reading, call: &Called) -> BTreeMap<String, String> {
    let known = match call.name.as_str() {
        "where" => {
            let Some(first) = call.arguments.first() else {
                return BTreeMap::new();
            };
            let pairs = entries(reading, first.value);
            if !pairs.is_empty() {
                return pairs
                    .into_iter()
                    .filter_map(|(key, value)| Some((key, text(reading, value)?)))
                    .collect();
            }
            let pattern = call.arguments.get(1).and_then(|argument| text(reading, argument.value));
            return text(reading, first.value).zip(pattern).into_iter().collect();
        }
        "whereNumber" => "[0-9]+",
        "whereAlpha" => "[a-zA-Z]+",
        "whereAlphaNumeric" => "[a-zA-Z0-9]+",
        "whereUuid" => "[\\da-fA-F]{8}-[\\da-fA-F]{4}-[\\da-fA-F]{4}-[\\da-fA-F]{4}-[\\da-fA-F]{12}",
        "whereUlid" => "[0-7][0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{25}",
        "whereIn" => {
            let mut given = call.arguments.iter();
            let names = given
                .next()
                .map(|argument| texts(reading, argument.value))
                .unwrap_or_default();
            let values: Vec<String> = given.flat_map(|argument| texts(reading, argument.value)).collect();
            return names.into_iter().map(|name| (name, values.join("|"))).collect();
        }
        _ => return BTreeMap::new(),
    };
    let names = call
        .arguments
        .iter()
        .flat_map(|argument| texts(reading, argument.value));
    names.map(|name| (name, known.to_string())).collect()
}

/// The routes of a verb; `None` if the call is not one.
fn verb(reading: &Reading, call: &Called, attributes: &Attributes) -> Option<Vec<Route>> {
    let given = &call.arguments;
    let at = |name: &str, place: usize| argument(given, name, place);
    let uri_at = |place: usize| at("uri", place).and_then(|id| text(reading, id));
    let (method, uri, mut route) = match call.name.as_str() {
        verb @ ("get" | "post" | "put" | "patch" | "delete" | "options" | "any") => {
            let uri = uri_at(0)?;
            (
                verb.to_ascii_uppercase(),
                uri,
                action(reading, at("action", 1), attributes),
            )
        }
        "match" => {
            let verbs: Vec<String> = at("methods", 0)
                .map(|id| texts(reading, id))
                .unwrap_or_default()
                .iter()
                .map(|verb| verb.to_ascii_uppercase())
                .collect();
            (
                verbs.join("|"),
                uri_at(1)?,
                action(reading, at("action", 2), attributes),
            )
        }
        "redirect" | "permanentRedirect" => {
            let to = at("destination", 1)
                .and_then(|id| text(reading, id))
                .unwrap_or_default();
            let route = Route {
                action: format!(
                    "{} {to}",
                    if call.name == "redirect" {
                        "Redirect"
                    } else {
                        "PermanentRedirect"
                    }
                ),
                ..Route::default()
            };
            ("ANY".to_string(), uri_at(0)?, route)
        }
        "view" => {
            let view = at("view", 1).and_then(|id| text(reading, id)).unwrap_or_default();
            let route = Route {
                action: format!("View {view}"),
                ..Route::default()
            };
            ("GET".to_string(), uri_at(0)?, route)
        }
        "fallback" => (
            "GET".to_string(),
            "{fallbackPlaceholder}".to_string(),
            action(reading, at("action", 0), attributes),
        ),
        _ => return None,
    };
    route.method = method;
    route.uri = shown_uri(&join(&attributes.prefix, &uri));
    Some(vec![placed(route, attributes)])
}

/// A route with what its groups say; a name of its own is added to theirs.
fn placed(mut route: Route, attributes: &Attributes) -> Route {
    let mut middleware = attributes.middleware.clone();
    middleware.append(&mut route.middleware);
    middleware.retain(|one| !attributes.without.contains(one));
    route.middleware = middleware;
    route.domain.clone_from(&attributes.domain);
    let mut patterns = attributes.patterns.clone();
    patterns.append(&mut route.patterns);
    route.patterns = patterns;
    if !route.name.is_empty() {
        route.name = format!("{}{}", attributes.name, route.name);
    }
    route
}

/// What a route runs: `[C::class, 'm']`, `C::class`, `'C@m'`, `'m'` of a group's controller, a closure, or an array of options.
fn action(reading: &Reading, id: Option<ExpressionId>, attributes: &Attributes) -> Route {
    let facts = &reading.facts;
    let mut route = Route::default();
    let Some(id) = id else {
        route.action = attributes.controller.clone();
        return route;
    };
    route.action = match *facts.expression(id) {
        Expression::Definition(_) => "Closure".to_string(),
        Expression::Text(_) => {
            let said = text(reading, id).unwrap_or_default();
            match said.contains('@') || said.contains('\\') {
                true => namespaced(&attributes.namespace, &said),
                false if !attributes.controller.is_empty() => format!("{}@{said}", attributes.controller),
                false => namespaced(&attributes.namespace, &said),
            }
        }
        Expression::Sequence { elements } => {
            let parts: Vec<String> = facts
                .list(elements)
                .iter()
                .filter_map(|id| text_or_class(reading, ExpressionId(*id)))
                .collect();
            parts.join("@")
        }
        Expression::Member { object, name } => {
            let class = php::class_name(reading, object);
            let method = facts.text(name);
            // `[C::class, 'm']` reads as a member of the class; `\Full\Name::class` as a name of several parts.
            match matches!(
                facts.expression(object),
                Expression::Bound { .. } | Expression::Definition(_)
            ) || method.starts_with(|letter: char| letter.is_lowercase())
            {
                true => format!("{class}@{method}"),
                false => php::class_name(reading, id),
            }
        }
        Expression::Mapping { .. } => {
            let mut used = String::new();
            for (key, value) in entries(reading, id) {
                match key.as_str() {
                    "uses" => used = action(reading, Some(value), attributes).action,
                    "as" => route.name = text(reading, value).unwrap_or_default(),
                    "middleware" => route.middleware = texts(reading, value),
                    _ => {}
                }
            }
            if used.is_empty() { "Closure".to_string() } else { used }
        }
        _ => php::class_name(reading, id),
    };
    route
}

fn join(before: &str, after: &str) -> String {
    let (before, after) = (before.trim_matches('/'), after.trim_matches('/'));
    match (before.is_empty(), after.is_empty()) {
        (true, _) => after.to_string(),
        (_, true) => before.to_string(),
        _ => format!("{before}/{after}"),
    }
}

fn shown_uri(uri: &str) -> String {
    format!("/{}", uri.trim_matches('/'))
}

fn namespaced(namespace: &str, name: &str) -> String {
    match name.strip_prefix('\\') {
        Some(rooted) => rooted.to_string(),
        None if namespace.is_empty() => name.to_string(),
        None => format!("{}\\{name}", namespace.trim_matches('\\')),
    }
}

/// Whether a route runs a method of this class; for the class alone, any of its methods.
pub(super) fn runs(route: &Route, class: &str, method: Option<&str>) -> bool {
    let (of, action) = route
        .action
        .split_once('@')
        .unwrap_or((route.action.as_str(), "__invoke"));
    // Routes that name controllers by text leave their namespace to a provider.
    let is_class = of == class || (!of.contains('\\') && basename(class) == of) || class.ends_with(&format!("\\{of}"));
    is_class && method.is_none_or(|method| method == action)
}

/// A route in one line: `GET /users/{id} users.show [auth]`.
pub(super) fn line(route: &Route) -> String {
    let mut line = format!("{} {}", route.method, route.uri);
    if !route.name.is_empty() {
        line.push_str(&format!(" {}", route.name));
    }
    if !route.middleware.is_empty() {
        line.push_str(&format!(" [{}]", route.middleware.join(", ")));
    }
    line
}
