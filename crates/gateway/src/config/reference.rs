//! The configuration's JSON Schema and its reference page, both derived from the types.

use std::fmt::Write as _;

use serde_json::Value;

use super::GatewayConfig;

/// JSON Schema of the configuration file.
pub fn config_schema() -> Value {
    schemars::schema_for!(GatewayConfig).to_value()
}

/// The reference page: every key with its type, default and meaning, in Markdown.
pub fn reference_page() -> String {
    let root = config_schema();
    let defaults = serde_json::to_value(GatewayConfig::default()).unwrap_or_default();
    let mut page = String::from(
        "# Gateway configuration\n\n\
         Generated from the types in `crates/gateway/src/config.rs`; a test fails when this page is stale.\n\n\
         The file is TOML, or JSON of the same shape, or the `mcpServers` JSON of an MCP client. Any string may hold\n\
         `${env:NAME}` (an error when unset) or `${env:NAME:-default}`. Unknown keys are errors.\n",
    );
    section(&mut page, "", &root, &root, &defaults);
    page
}

/// One table for an object, then one section for each object inside it.
fn section(page: &mut String, place: &str, schema: &Value, root: &Value, defaults: &Value) {
    let title = if place.is_empty() {
        "Top level".to_owned()
    } else {
        format!("`{place}`")
    };
    let _ = write!(page, "\n## {title}\n");
    if let Some(description) = schema
        .get("description")
        .and_then(Value::as_str)
        .filter(|_| !place.is_empty())
    {
        let _ = write!(page, "\n{}\n", one_line(description));
    }
    page.push_str("\n| key | type | default | meaning |\n|---|---|---|---|\n");
    let mut inner = Vec::new();
    for (key, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let target = resolve(property, root);
        let default = defaults
            .get(key)
            .or_else(|| property.get("default"))
            .unwrap_or(&Value::Null);
        let description = property
            .get("description")
            .or_else(|| target.get("description"))
            .and_then(Value::as_str);
        let key_place = if place.is_empty() {
            key.clone()
        } else {
            format!("{place}.{key}")
        };
        let kind = match nested(target, root) {
            Some((nested_schema, suffix)) => {
                let nested_place = format!("{key_place}{suffix}");
                // A map or a list has no entries by default; each entry starts from its own type's defaults.
                let own = nested_schema_defaults(nested_schema, root);
                let start = if suffix.is_empty() && default.is_object() {
                    default.clone()
                } else {
                    own
                };
                inner.push((nested_place.clone(), nested_schema, start));
                format!("see `{nested_place}`")
            }
            None => kind_of(target, root),
        };
        let shown = if kind.starts_with("see") {
            String::new()
        } else {
            shown_default(default)
        };
        let _ = writeln!(
            page,
            "| `{key}` | {kind} | {shown} | {} |",
            one_line(description.unwrap_or_default())
        );
    }
    for (place, schema, defaults) in inner {
        section(page, &place, schema, root, &defaults);
    }
}

/// The object behind a property, if any, and how its place is written: maps by `<name>`, lists by `[]`.
fn nested<'a>(schema: &'a Value, root: &'a Value) -> Option<(&'a Value, &'static str)> {
    let object = |schema: &'a Value| {
        let schema = resolve(schema, root);
        schema.get("properties").is_some().then_some(schema)
    };
    if let Some(found) = object(schema) {
        return Some((found, ""));
    }
    if let Some(found) = schema.get("additionalProperties").and_then(object) {
        return Some((found, ".<name>"));
    }
    if let Some(found) = schema.get("items").and_then(object) {
        return Some((found, "[]"));
    }
    schema
        .get("anyOf")
        .and_then(Value::as_array)?
        .iter()
        .find_map(object)
        .map(|found| (found, ""))
}

fn nested_schema_defaults(schema: &Value, root: &Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter_map(|(key, property)| {
            let default = property
                .get("default")
                .or_else(|| resolve(property, root).get("default"))?;
            Some((key.clone(), default.clone()))
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn kind_of(schema: &Value, root: &Value) -> String {
    let choices = choices_of(schema);
    if !choices.is_empty() {
        return choices
            .iter()
            .map(|choice| format!("`{choice}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(variants) = schema.get("anyOf").and_then(Value::as_array) {
        let kinds: Vec<String> = variants
            .iter()
            .filter(|variant| variant.get("type").and_then(Value::as_str) != Some("null"))
            .map(|variant| kind_of(resolve(variant, root), root))
            .collect();
        return kinds.join(" or ");
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .filter(|kind| *kind != "null")
            .collect::<Vec<_>>()
            .join(" or "),
        _ => "any".to_owned(),
    };
    match kind.as_str() {
        "array" => match schema.get("items") {
            Some(items) => format!("list of {}", kind_of(resolve(items, root), root)),
            None => "list".to_owned(),
        },
        "object" => match schema.get("additionalProperties").filter(|other| other.is_object()) {
            Some(other) => format!("table of {}", kind_of(resolve(other, root), root)),
            None => "table".to_owned(),
        },
        _ => kind + &range_of(schema),
    }
}

/// The words an enum allows. Documented variants come as `const`, the others together as one `enum`.
fn choices_of(schema: &Value) -> Vec<&str> {
    let mut choices: Vec<&str> = Vec::new();
    let variants = schema.get("oneOf").and_then(Value::as_array);
    for schema in std::iter::once(schema).chain(variants.into_iter().flatten()) {
        let listed = schema.get("enum").and_then(Value::as_array);
        choices.extend(listed.into_iter().flatten().filter_map(Value::as_str));
        choices.extend(schema.get("const").and_then(Value::as_str));
    }
    choices
}

fn range_of(schema: &Value) -> String {
    let bound = |key| {
        schema
            .get(key)
            .filter(|value| value.as_f64() != Some(0.0) || key == "maximum")
    };
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!(" {least}–{most}"),
        (Some(least), None) => format!(" ≥ {least}"),
        (None, Some(most)) if most.as_f64().is_some_and(|most| most < 100_000.0) => format!(" ≤ {most}"),
        _ => String::new(),
    }
}

fn shown_default(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Object(map) if map.is_empty() => String::new(),
        value => format!("`{value}`"),
    }
}

fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| root.pointer(reference.strip_prefix('#')?))
        .unwrap_or(schema)
}

fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}
