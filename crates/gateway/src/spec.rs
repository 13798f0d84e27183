//! One tool, resource or prompt as an upstream declares it, read tolerantly: a wrong field is dropped and reported, and
//! only a missing name (or URI) makes a definition unusable.
//!
//! Keys this crate does not know are kept in `extra`, so that hydration gives back what the upstream said.

use serde_json::{Map, Value};

/// A tool definition after ingest. `name` is what the upstream answers to; the id agents see is in `identity`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolSpec {
    /// The configured name of the upstream it came from; empty for a catalog file.
    pub server: String,
    /// The upstream's own name for the tool, unchanged.
    pub name: String,
    pub title: Option<String>,
    /// Empty when the upstream declares none: MCP makes it optional.
    pub description: String,
    /// `None` when absent or not an object.
    pub input_schema: Option<Value>,
    pub output_schema: Option<Value>,
    pub annotations: Annotations,
    /// Tags the definition or the configuration gives; the derived ones are added by the card.
    pub tags: Vec<String>,
    /// A namespace the operator (or a catalog file) fixes; inference is skipped when it is set.
    pub namespace: Option<String>,
    /// The name the operator gave it instead; ids and cards use it, calls do not.
    pub renamed: Option<String>,
    /// `_meta` as declared.
    pub meta: Map<String, Value>,
    /// Everything else that was declared (icons, execution hints, …).
    pub extra: Map<String, Value>,
}

/// Hints an upstream gives about a tool. They are claims, never facts: nothing safety-critical may rest on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    pub title: Option<String>,
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
    pub cost: Option<f64>,
    /// The object as declared.
    pub raw: Map<String, Value>,
}

/// A resource definition after ingest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceSpec {
    pub server: String,
    pub uri: String,
    pub name: Option<String>,
    pub title: Option<String>,
    pub description: String,
    pub mime_type: Option<String>,
    pub extra: Map<String, Value>,
}

/// A prompt definition after ingest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptSpec {
    pub server: String,
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    /// Only arguments with a non-empty name.
    pub arguments: Vec<PromptArgument>,
    pub extra: Map<String, Value>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptArgument {
    pub name: String,
    pub description: String,
    pub required: bool,
}

/// Why a definition cannot be used at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error("the definition is not an object")]
    NotAnObject,
    #[error("the definition has no `{0}`")]
    Missing(&'static str),
}

impl ToolSpec {
    /// Reads one entry of `tools/list` (or of a catalog file). Fields of the wrong type count as absent.
    pub fn from_definition(server: &str, definition: Value) -> Result<ToolSpec, SpecError> {
        let mut fields = into_fields(definition)?;
        let name = take_text(&mut fields, "name")
            .filter(|name| !name.is_empty())
            .ok_or(SpecError::Missing("name"))?;
        let annotations = Annotations::from_map(take_map(&mut fields, "annotations"));
        let mut tags = take_texts(&mut fields, "tags");
        let mut namespace = take_text(&mut fields, "namespace").filter(|namespace| !namespace.is_empty());
        if !server.is_empty() {
            // A live upstream must not place itself in another's namespace, nor under a tag that a policy trusts.
            tags.clear();
            namespace = None;
        }
        Ok(ToolSpec {
            server: server.to_owned(),
            name,
            title: take_text(&mut fields, "title").or_else(|| annotations.title.clone()),
            description: take_text(&mut fields, "description").unwrap_or_default(),
            input_schema: take_schema(&mut fields, "inputSchema"),
            output_schema: take_schema(&mut fields, "outputSchema"),
            annotations,
            tags,
            namespace,
            renamed: None,
            meta: take_map(&mut fields, "_meta"),
            extra: fields,
        })
    }

    /// The definition as MCP spells it: what `tool_hydrate` returns.
    pub fn to_definition(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("name".into(), self.name.clone().into());
        if let Some(title) = &self.title {
            fields.insert("title".into(), title.clone().into());
        }
        if !self.description.is_empty() {
            fields.insert("description".into(), self.description.clone().into());
        }
        let input = self
            .input_schema
            .clone()
            .unwrap_or_else(|| serde_json::json!({"type": "object"}));
        fields.insert("inputSchema".into(), input);
        if let Some(schema) = &self.output_schema {
            fields.insert("outputSchema".into(), schema.clone());
        }
        if !self.annotations.raw.is_empty() {
            fields.insert("annotations".into(), Value::Object(self.annotations.raw.clone()));
        }
        for (key, value) in &self.extra {
            fields.insert(key.clone(), value.clone());
        }
        if !self.meta.is_empty() {
            fields.insert("_meta".into(), Value::Object(self.meta.clone()));
        }
        Value::Object(fields)
    }

    /// The name agents see.
    pub fn shown_name(&self) -> &str {
        self.renamed.as_deref().unwrap_or(&self.name)
    }

    /// Whether calling it may change something: everything that does not claim to be read-only.
    pub fn side_effects(&self) -> bool {
        self.annotations.read_only != Some(true)
    }

    /// Its own tags and those derived from its annotations, sorted and without repeats.
    pub fn all_tags(&self) -> Vec<String> {
        let mut tags = self.tags.clone();
        tags.push("mcp".to_owned());
        if self.annotations.read_only == Some(true) {
            tags.push("read-only".to_owned());
        }
        if self.annotations.destructive == Some(true) {
            tags.push("destructive".to_owned());
        }
        tags.sort_unstable();
        tags.dedup();
        tags
    }

    /// `_meta.version` as text, when declared and not empty, zero or false.
    pub fn declared_version(&self) -> Option<String> {
        match self.meta.get("version")? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            // Ids must equal those of other implementations of the same grammar, which spell a boolean this way.
            Value::Bool(true) => Some("True".to_owned()),
            Value::Number(number) if number.as_f64() != Some(0.0) => Some(number.to_string()),
            _ => None,
        }
    }
}

impl Annotations {
    pub fn from_map(raw: Map<String, Value>) -> Annotations {
        let flag = |key: &str| raw.get(key).and_then(Value::as_bool);
        Annotations {
            title: raw.get("title").and_then(Value::as_str).map(str::to_owned),
            read_only: flag("readOnlyHint"),
            destructive: flag("destructiveHint"),
            idempotent: flag("idempotentHint"),
            open_world: flag("openWorldHint"),
            cost: raw
                .get("costHint")
                .and_then(Value::as_f64)
                .filter(|cost| cost.is_finite()),
            raw,
        }
    }
}

impl ResourceSpec {
    pub fn from_definition(server: &str, definition: Value) -> Result<ResourceSpec, SpecError> {
        let mut fields = into_fields(definition)?;
        let uri = take_text(&mut fields, "uri")
            .filter(|uri| !uri.is_empty())
            .ok_or(SpecError::Missing("uri"))?;
        Ok(ResourceSpec {
            server: server.to_owned(),
            uri,
            name: take_text(&mut fields, "name").filter(|name| !name.is_empty()),
            title: take_text(&mut fields, "title"),
            description: take_text(&mut fields, "description").unwrap_or_default(),
            mime_type: take_text(&mut fields, "mimeType"),
            extra: fields,
        })
    }

    /// What a person calls it: its name, else its URI.
    pub fn display_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.uri)
    }
}

impl PromptSpec {
    pub fn from_definition(server: &str, definition: Value) -> Result<PromptSpec, SpecError> {
        let mut fields = into_fields(definition)?;
        let name = take_text(&mut fields, "name")
            .filter(|name| !name.is_empty())
            .ok_or(SpecError::Missing("name"))?;
        let arguments = match fields.shift_remove("arguments") {
            Some(Value::Array(items)) => items.iter().filter_map(PromptArgument::from_value).collect(),
            _ => Vec::new(),
        };
        Ok(PromptSpec {
            server: server.to_owned(),
            name,
            title: take_text(&mut fields, "title"),
            description: take_text(&mut fields, "description").unwrap_or_default(),
            arguments,
            extra: fields,
        })
    }

    /// The JSON Schema its arguments are checked against. Every prompt argument is a string in MCP.
    pub fn arguments_schema(&self) -> Value {
        let mut properties = Map::new();
        for argument in &self.arguments {
            let mut property = Map::new();
            property.insert("type".into(), "string".into());
            if !argument.description.is_empty() {
                property.insert("description".into(), argument.description.clone().into());
            }
            properties.insert(argument.name.clone(), Value::Object(property));
        }
        let required: Vec<Value> = self
            .arguments
            .iter()
            .filter(|argument| argument.required)
            .map(|argument| argument.name.clone().into())
            .collect();
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".into(), Value::Array(required));
        }
        Value::Object(schema)
    }
}

impl PromptArgument {
    fn from_value(value: &Value) -> Option<PromptArgument> {
        let name = value.get("name")?.as_str().filter(|name| !name.is_empty())?.to_owned();
        Some(PromptArgument {
            name,
            description: value
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            required: value.get("required").and_then(Value::as_bool).unwrap_or(false),
        })
    }
}

fn take_text(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    match fields.shift_remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn take_texts(fields: &mut Map<String, Value>, key: &str) -> Vec<String> {
    match fields.shift_remove(key) {
        Some(Value::Array(items)) => items
            .into_iter()
            .filter_map(|item| Some(item.as_str()?.to_owned()))
            .collect(),
        _ => Vec::new(),
    }
}

fn take_map(fields: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    match fields.shift_remove(key) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn take_schema(fields: &mut Map<String, Value>, key: &str) -> Option<Value> {
    fields.shift_remove(key).filter(Value::is_object)
}

fn into_fields(definition: Value) -> Result<Map<String, Value>, SpecError> {
    match definition {
        Value::Object(fields) => Ok(fields),
        _ => Err(SpecError::NotAnObject),
    }
}
