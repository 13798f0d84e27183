//! The JSON Schema of a tool's arguments, made from its parameter type and stripped of what costs tokens and says nothing:
//! a client pays for every word of it in every session.

use std::collections::HashMap;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use wire::layout::{Column, Kind, Rows};
use wire::protocol::Scope;

use super::Tool;

/// The schema of a parameter type.
pub(super) fn of<P: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(P).to_value();
    if let Some(members) = schema.as_object_mut() {
        for noise in ["$schema", "title", "description", "additionalProperties"] {
            members.remove(noise);
        }
        for property in members
            .get_mut("properties")
            .and_then(Value::as_object_mut)
            .into_iter()
            .flat_map(|properties| properties.values_mut())
        {
            simplify(property);
        }
    }
    schema
}

/// The schema of all that a tool takes.
pub(super) fn input(tool: &Tool, several_repositories: bool) -> Map<String, Value> {
    let mut schema = match (tool.parameters)() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        if several_repositories && tool.scope == Scope::Repo {
            properties.insert(
                "repo".into(),
                json!({"type": "string", "description": "Repository name."}),
            );
        }
        if several_repositories && tool.scope == Scope::FanOut {
            properties.insert(
                "repo".into(),
                json!({"type": "array", "items": {"type": "string"}, "description": "Repository names, or [\"*\"]."}),
            );
        }
        properties.insert(
            "format".into(),
            json!({"enum": ["auto", "json", "gcx", "gcf", "markdown"]}),
        );
        properties.insert(
            "max_tokens".into(),
            json!({"type": "integer", "description": format!("Default {}.", tool.max_tokens)}),
        );
        properties.insert(
            "if_none_match".into(),
            json!({"type": "string", "description": "etag."}),
        );
    }
    if several_repositories
        && tool.scope != Scope::Workspace
        && let Some(required) = schema.entry("required").or_insert_with(|| json!([])).as_array_mut()
    {
        required.push("repo".into());
    }
    schema
}

/// An argument that the tool does not take, and the nearest one that it does. Parameter types that are made of several cannot refuse
/// it themselves, and a mistyped `dry_run` must not write.
pub(super) fn unknown(tool: &Tool, arguments: &Map<String, Value>) -> Option<(String, Option<String>)> {
    let known = names(tool);
    let stranger = arguments.keys().find(|name| !known.contains(name))?;
    let nearest = gateway::config::nearest(stranger, known.iter().map(String::as_str));
    Some((stranger.clone(), nearest.map(str::to_owned)))
}

/// Tools that also take a place call what they are asked about `symbol`, the others `id`: each is understood by either word.
pub(super) fn spell_symbol(tool: &Tool, arguments: &mut Map<String, Value>) {
    let takes = |name: &str| names(tool).iter().any(|known| known == name);
    for (said, meant) in [("id", "symbol"), ("symbol", "id")] {
        if !takes(said)
            && takes(meant)
            && !arguments.contains_key(meant)
            && let Some(value) = arguments.remove(said)
        {
            arguments.insert(meant.to_owned(), value);
        }
    }
}

/// The arguments that a tool takes.
fn names(tool: &Tool) -> &'static [String] {
    static KNOWN: OnceLock<HashMap<&'static str, Vec<String>>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let names = |tool: &Tool| {
            let schema = (tool.parameters)();
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties.map(|(name, _)| name.clone()).collect()
        };
        super::all().map(|tool| (tool.name, names(tool))).collect()
    });
    known.get(tool.name).map_or(&[], Vec::as_slice)
}

/// The schema of what a tool answers, from the table that lays it out; any object where the shape depends on the question.
/// Nothing is required: an answer that is not modified says only that.
pub(super) fn output(tool: &str) -> Map<String, Value> {
    let mut properties = Map::new();
    if let Some(layout) = wire::answers::layout_of(tool) {
        for section in layout.sections {
            let row = object(section.columns);
            if section.member.is_empty() {
                properties.extend(columns(section.columns));
                continue;
            }
            let schema = match section.rows {
                Rows::Many => json!({"type": "array", "items": row}),
                Rows::One => json!({"type": ["object", "null"], "properties": columns(section.columns)}),
                Rows::Values => json!({"type": "array", "items": section.columns.first().map(column)}),
                Rows::Value => section.columns.first().map(column).unwrap_or_default(),
            };
            properties.insert(section.member.into(), schema);
        }
        properties.extend(columns(layout.meta));
    }
    let mut schema = Map::from_iter([("type".to_string(), json!("object"))]);
    if !properties.is_empty() {
        schema.insert("properties".into(), properties.into());
    }
    schema
}

fn object(of: &[Column]) -> Value {
    json!({"type": "object", "properties": columns(of)})
}

fn columns(of: &[Column]) -> Map<String, Value> {
    of.iter().map(|of| (of.name.to_string(), column(of))).collect()
}

fn column(of: &Column) -> Value {
    let name = match of.kind {
        Kind::Text => "string",
        Kind::Integer => "integer",
        Kind::Float => "number",
        Kind::Flag => "boolean",
        Kind::List => "array",
        Kind::Json => return json!({"description": of.about}),
    };
    match of.optional {
        true => json!({"type": [name, "null"], "description": of.about}),
        false => json!({"type": name, "description": of.about}),
    }
}

/// An optional integer is an integer that may be left out: what else schemars says about it follows from that.
fn simplify(property: &mut Value) {
    let Some(members) = property.as_object_mut() else {
        return;
    };
    for noise in ["format", "minimum", "default"] {
        members.remove(noise);
    }
    if let Some(Value::Array(types)) = members.get("type")
        && let [only, Value::String(null)] = types.as_slice()
        && null == "null"
    {
        let only = only.clone();
        members.insert("type".into(), only);
    }
}
