//! Resources and prompts: the same browsing as tools, on shelves of their own, so that kinds never mix in one answer.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use serde_json::Value;

use crate::browse::Entry;
use crate::card::CardKind;
use crate::catalog::{Problem, ProblemKind};
use crate::errors::{ErrorCode, GatewayError};
use crate::identity::{parse_primitive_id, prompt_id, resolve_collisions, resource_id};
use crate::schema;
use crate::spec::{PromptSpec, ResourceSpec, SpecError};

/// One resource under its catalog key.
#[derive(Debug)]
pub struct ResourceItem {
    pub spec: ResourceSpec,
    pub entry: Arc<Entry>,
}

/// One prompt under its catalog key.
#[derive(Debug)]
pub struct PromptItem {
    pub spec: PromptSpec,
    pub entry: Arc<Entry>,
    schema: Value,
    validator: OnceLock<Result<Validator, String>>,
}

impl PromptItem {
    /// Checks the arguments of `prompt_get`.
    pub fn check_arguments(&self, arguments: &Value) -> Result<(), GatewayError> {
        let validator = self.validator.get_or_init(|| schema::compile(&self.schema)).as_ref();
        let validator = validator.map_err(|problem| GatewayError::new(ErrorCode::SchemaInvalid, problem))?;
        schema::check_arguments(validator, &self.schema, arguments)
    }
}

/// Turns the listings of all servers into items with unique keys.
pub(crate) fn resource_items(listings: Vec<(String, Vec<Value>)>) -> (Vec<ResourceItem>, Vec<Problem>) {
    let identity = |spec: &ResourceSpec| (spec.server.clone(), spec.uri.clone());
    let (specs, problems) = read(listings, ResourceSpec::from_definition, identity);
    let ids: Vec<String> = specs.iter().map(resource_id).collect();
    let items = specs
        .into_iter()
        .zip(ids.iter().zip(resolve_collisions(&ids)))
        .map(|(spec, (id, key))| {
            let description = if spec.description.is_empty() {
                spec.display_name()
            } else {
                &spec.description
            };
            let entry = Entry {
                name: spec.display_name().to_owned(),
                title: spec.title.clone().unwrap_or_default(),
                description: description.to_owned(),
                tags: ["mcp", "read-only", "resource"].map(str::to_owned).to_vec(),
                server: spec.server.clone(),
                kind: CardKind::Resource,
                ..keyed(key, id)
            };
            ResourceItem {
                entry: Arc::new(entry),
                spec,
            }
        });
    (items.collect(), problems)
}

pub(crate) fn prompt_items(listings: Vec<(String, Vec<Value>)>) -> (Vec<PromptItem>, Vec<Problem>) {
    let identity = |spec: &PromptSpec| (spec.server.clone(), spec.name.clone());
    let (specs, problems) = read(listings, PromptSpec::from_definition, identity);
    let ids: Vec<String> = specs.iter().map(prompt_id).collect();
    let items = specs
        .into_iter()
        .zip(ids.iter().zip(resolve_collisions(&ids)))
        .map(|(spec, (id, key))| {
            let entry = Entry {
                name: spec.name.clone(),
                title: spec.title.clone().unwrap_or_default(),
                description: spec.description.clone(),
                tags: ["mcp", "prompt", "read-only"].map(str::to_owned).to_vec(),
                server: spec.server.clone(),
                kind: CardKind::Prompt,
                has_schema: !spec.arguments.is_empty(),
                ..keyed(key, id)
            };
            PromptItem {
                entry: Arc::new(entry),
                schema: spec.arguments_schema(),
                validator: OnceLock::new(),
                spec,
            }
        });
    (items.collect(), problems)
}

/// Reads definitions in order; one listed twice by the same server is kept once.
fn read<S>(
    listings: Vec<(String, Vec<Value>)>,
    from_definition: impl Fn(&str, Value) -> Result<S, SpecError>,
    identity: impl Fn(&S) -> (String, String),
) -> (Vec<S>, Vec<Problem>) {
    let mut seen = BTreeSet::new();
    let mut specs = Vec::new();
    let mut problems = Vec::new();
    for (server, definitions) in listings {
        for definition in definitions {
            match from_definition(&server, definition) {
                Ok(spec) => {
                    if seen.insert(identity(&spec)) {
                        specs.push(spec);
                    }
                }
                Err(error) => problems.push(Problem {
                    server: server.clone(),
                    name: String::new(),
                    kind: ProblemKind::Unusable,
                    message: error.to_string(),
                }),
            }
        }
    }
    (specs, problems)
}

fn keyed(key: String, id: &str) -> Entry {
    let (namespace, label) = match parse_primitive_id(id) {
        Ok((_, parts)) => (parts.namespace, parts.name),
        Err(_) => (String::new(), String::new()),
    };
    Entry {
        id: key,
        namespace,
        label,
        ..Entry::default()
    }
}
