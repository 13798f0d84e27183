//! Laravel: what its conventions make of plain PHP classes and calls. Models, controllers and routes, read from the facts of
//! the files in question when they are asked for.

mod controllers;
mod eloquent;
pub mod inflect;
mod lineage;
mod relations;
pub mod routes;
mod values;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use syntax::facts::Kind;

use crate::descriptors::class::Readings;
use crate::descriptors::home::Homes;
use crate::descriptors::{ClassDescriptor, FunctionDescriptor};
use crate::error::QuestionError;
use crate::page::{self, Page};
use crate::workspace::{SymbolKey, Workspace};
use eloquent::Model;
use routes::Route;

/// What `laravel_routes` is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaravelRoutes {
    /// Only routes whose path, name or handler holds this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Only this verb: GET, POST, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Routes per page (default 200).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// The routes of the workspace, by file and line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoutesFound {
    /// The routes.
    pub routes: Vec<Route>,
    /// How many there are in all.
    pub total: usize,
    /// Whether there are more.
    pub truncated: bool,
    /// Where to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What the index still lacks, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// The routes that are asked for.
pub fn laravel_routes(workspace: &Workspace, ask: &LaravelRoutes) -> Result<RoutesFound, QuestionError> {
    let mut all = Vec::new();
    for repository in 0..workspace.repositories().len() {
        all.extend(routes::routes(workspace, repository)?);
    }
    if let Some(filter) = ask.filter.as_deref() {
        all.retain(|route| {
            [&route.uri, &route.name, &route.action]
                .iter()
                .any(|text| text.contains(filter))
        });
    }
    if let Some(method) = ask.method.as_deref().map(str::to_ascii_uppercase) {
        all.retain(|route| route.method == "ANY" || route.method.split('|').any(|verb| verb == method));
    }
    let total = all.len();
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 200)?;
    let end = page.offset.saturating_add(page.limit);
    Ok(RoutesFound {
        routes: page.take(all),
        total,
        truncated: end < total,
        next_cursor: (end < total).then(|| page::cursor(workspace, end)),
        incomplete: workspace.incomplete(),
    })
}

/// Adds to the descriptor of a class what it is to Laravel.
pub(crate) fn enrich_class(
    workspace: &Workspace,
    key: SymbolKey,
    homes: &mut Homes<'_>,
    readings: &mut Readings,
    found: &mut ClassDescriptor,
) -> Result<(), QuestionError> {
    if found.language != "php" || found.kind != "class" {
        return Ok(());
    }
    match Model::of(workspace, key, homes, readings)? {
        Some(model) => eloquent::enrich(workspace, key, &model, homes, readings, found),
        None => controllers::enrich(workspace, key, homes, readings, found),
    }
}

/// Adds to the descriptor of a function what it is to Laravel.
pub(crate) fn enrich_function(
    workspace: &Workspace,
    key: SymbolKey,
    homes: &mut Homes<'_>,
    readings: &mut Readings,
    found: &mut FunctionDescriptor,
) -> Result<(), QuestionError> {
    if found.language != "php" {
        return Ok(());
    }
    if let Some(role) = eloquent::role_of(workspace, key, homes, readings)? {
        eloquent::describe_role(found, &role);
        if let eloquent::Role::Relation(relation) = &role {
            found.metadata.insert("relation".into(), json!(relation));
        }
        return Ok(());
    }
    let class = workspace
        .symbol(key)
        .and_then(|symbol| symbol.parent())
        .filter(|parent| parent.kind() == Kind::Class);
    let Some(class) = class else { return Ok(()) };
    let class_name = homes.full_name(key.repository, class);
    // Routes are read only for what may be a controller: they take a look at every file.
    if class_name.contains("Controller") {
        let all = routes::routes(workspace, key.repository)?;
        let own: Vec<String> = all
            .iter()
            .filter(|route| routes::runs(route, &class_name, Some(&found.name)))
            .map(routes::line)
            .collect();
        if !own.is_empty() {
            found.metadata.insert("routes".into(), json!(own));
            found.tags.push("laravel:action".to_string());
        }
    }
    Ok(())
}
