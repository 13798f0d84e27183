//! Controllers: classes that routes lead to. What a controller is follows from its inheritance, its namespace and the routes.

use serde_json::{Value, json};
use syntax::facts::{Expression, ExpressionId};

use super::lineage::lineage;
use super::routes::{Route, line, routes, runs};
use super::values::{chain, returned, texts};
use crate::descriptors::ClassDescriptor;
use crate::descriptors::class::Readings;
use crate::descriptors::home::Homes;
use crate::descriptors::reading::Reading;
use crate::error::QuestionError;
use crate::workspace::{SymbolKey, Workspace};

const RESOURCE_ACTIONS: [&str; 7] = ["index", "create", "store", "show", "edit", "update", "destroy"];

/// Adds to the descriptor of a class what it is as a controller, if it is one.
pub(super) fn enrich(
    workspace: &Workspace,
    key: SymbolKey,
    homes: &mut Homes<'_>,
    readings: &mut Readings,
    found: &mut ClassDescriptor,
) -> Result<(), QuestionError> {
    let lineage = lineage(workspace, key, homes, readings, |name| name.starts_with("Illuminate\\"))?;
    let inherits = lineage.names.iter().any(|name| {
        matches!(
            name.as_str(),
            "Illuminate\\Routing\\Controller"
                | "Laravel\\Lumen\\Routing\\Controller"
                | "App\\Http\\Controllers\\Controller"
        )
    });
    let is_placed = found.namespace.contains("Http\\Controllers");
    if !inherits && !is_placed {
        return Ok(());
    }
    found
        .tags
        .extend(["framework:laravel".to_string(), "laravel:controller".to_string()]);
    let has = |action: &str| {
        found
            .methods
            .iter()
            .any(|method| method.name == action && method.visibility == "public")
    };
    let actions = RESOURCE_ACTIONS.iter().filter(|action| has(action)).count();
    if actions >= 4 {
        found.metadata.insert("is_resource".into(), json!(true));
    }
    if found.namespace.split('\\').any(|part| part.eq_ignore_ascii_case("api")) {
        found.metadata.insert("is_api".into(), json!(true));
    }
    if has("__invoke") {
        found.metadata.insert("is_invokable".into(), json!(true));
    }
    if let Some(symbol) = workspace.symbol(key)
        && let Some(reading) = readings.get(&symbol.file_id())
    {
        let middleware = middleware(reading, symbol.name());
        if !middleware.is_empty() {
            found.metadata.insert("middleware".into(), json!(middleware));
        }
    }
    let routes = routes(workspace, key.repository)?;
    let own: Vec<&Route> = routes
        .iter()
        .filter(|route| runs(route, &found.full_name, None))
        .collect();
    for method in &mut found.methods {
        let lines: Vec<String> = own
            .iter()
            .filter(|route| runs(route, &found.full_name, Some(&method.name)))
            .map(|route| line(route))
            .collect();
        if !lines.is_empty() {
            method.metadata.insert("routes".into(), json!(lines));
        }
    }
    if !own.is_empty() {
        let all: Vec<Value> = own.iter().map(|route| json!(line(route))).collect();
        found.metadata.insert("routes".into(), all.into());
    }
    Ok(())
}

/// `$this->middleware('auth')` of a constructor, and what a static `middleware()` lists.
fn middleware(reading: &Reading, class: &str) -> Vec<String> {
    let facts = &reading.facts;
    let mut found = Vec::new();
    let is_of_class = |function: syntax::facts::DefinitionId| {
        let parent = facts
            .definitions
            .get(function.index())
            .and_then(|definition| definition.parent);
        parent.is_some_and(|parent| facts.text(facts.definition(parent).name) == class)
    };
    for (number, definition) in facts.definitions.iter().enumerate() {
        let id = syntax::facts::DefinitionId(number as u32);
        if facts.text(definition.name) == "middleware" && is_of_class(id) {
            found.extend(
                returned(reading, id)
                    .into_iter()
                    .flat_map(|value| listed(reading, value)),
            );
        }
    }
    for reference in &facts.references {
        let Some(within) = reference.within.filter(|within| is_of_class(*within)) else {
            continue;
        };
        if facts.text(facts.definition(within).name) != "__construct" {
            continue;
        }
        let Expression::Member { object, name } = *facts.expression(reference.expression) else {
            continue;
        };
        if facts.text(name) != "middleware" || !matches!(facts.expression(object), Expression::This(_)) {
            continue;
        }
        let call = facts.expressions.iter().position(
            |expression| matches!(expression, Expression::Call { callee, .. } if *callee == reference.expression),
        );
        if let Some(chain) = call.and_then(|call| chain(reading, ExpressionId(call as u32))) {
            found.extend(
                chain.calls[0]
                    .arguments
                    .iter()
                    .flat_map(|argument| texts(reading, argument.value)),
            );
        }
    }
    found
}

/// `['auth', new Middleware('log', only: ['index'])]`.
fn listed(reading: &Reading, id: ExpressionId) -> Vec<String> {
    let facts = &reading.facts;
    match *facts.expression(id) {
        Expression::Sequence { elements } => facts
            .list(elements)
            .iter()
            .flat_map(|id| listed(reading, ExpressionId(*id)))
            .collect(),
        Expression::New { arguments, .. } => {
            let first = facts.list(arguments).first().map(|id| ExpressionId(*id));
            first.map(|id| texts(reading, id)).unwrap_or_default()
        }
        _ => texts(reading, id),
    }
}
