//! JSON Schemas from upstreams are untrusted: their size is bounded at ingest, they are compiled once and without any
//! network, and arguments are checked against them before anything leaves.

use std::fmt::Write as _;

use jsonschema::Validator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

use crate::errors::{ErrorCode, GatewayError, redact_detail};

/// How complex an upstream's schema may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SchemaLimits {
    /// Bytes of its compact JSON.
    pub max_bytes: usize,
    /// Levels of nesting.
    pub max_depth: usize,
    /// Properties in all, at every level.
    pub max_properties: usize,
}

impl Default for SchemaLimits {
    fn default() -> SchemaLimits {
        SchemaLimits {
            max_bytes: 65_536,
            max_depth: 32,
            max_properties: 512,
        }
    }
}

/// What becomes of a tool whose schema is invalid or over a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnInvalidSchema {
    /// It is listed; calling it gives `SCHEMA_INVALID`.
    #[default]
    Flag,
    /// It is left out of the catalog.
    Skip,
    /// The whole catalog is refused.
    Raise,
}

/// Why a schema is over a limit, if it is.
pub fn over_limit(schema: &Value, limits: &SchemaLimits) -> Option<String> {
    let mut size = Size::default();
    size.measure(schema, 1, limits);
    if size.depth > limits.max_depth {
        Some(format!("the schema nests deeper than {}", limits.max_depth))
    } else if size.properties > limits.max_properties {
        Some(format!("the schema has more than {} properties", limits.max_properties))
    } else if size.bytes > limits.max_bytes {
        Some(format!("the schema is larger than {} bytes", limits.max_bytes))
    } else {
        None
    }
}

#[derive(Default)]
struct Size {
    bytes: usize,
    depth: usize,
    properties: usize,
}

impl Size {
    /// Counts what the compact JSON takes without writing it, and stops early once a limit is passed.
    fn measure(&mut self, value: &Value, depth: usize, limits: &SchemaLimits) {
        self.depth = self.depth.max(depth);
        if self.depth > limits.max_depth || self.bytes > limits.max_bytes || self.properties > limits.max_properties {
            return;
        }
        match value {
            Value::Object(map) => {
                self.bytes += 2 + map.len().saturating_sub(1);
                for (key, item) in map {
                    self.bytes += key.len() + 3;
                    if key == "properties" {
                        self.properties += item.as_object().map_or(0, Map::len);
                    }
                    self.measure(item, depth + 1, limits);
                }
            }
            Value::Array(items) => {
                self.bytes += 2 + items.len().saturating_sub(1);
                items.iter().for_each(|item| self.measure(item, depth + 1, limits));
            }
            Value::String(text) => self.bytes += text.len() + 2,
            Value::Bool(_) | Value::Null => self.bytes += 4,
            Value::Number(number) => self.bytes += number.to_string().len(),
        }
    }
}

/// Compiles a schema by its `$schema`, else the latest draft. References to other documents are refused, never fetched.
pub fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .offline()
        .build(schema)
        .map_err(|error| redact_detail(&error.to_string(), 200))
}

/// Most violations told at once.
const VIOLATIONS_SHOWN: usize = 5;

/// `ARGS_INVALID` with what is wrong and what was expected, or nothing.
pub fn check_arguments(validator: &Validator, schema: &Value, arguments: &Value) -> Result<(), GatewayError> {
    if validator.is_valid(arguments) {
        return Ok(());
    }
    let mut violations: Vec<Value> = Vec::new();
    let mut first = String::new();
    for error in validator.iter_errors(arguments).take(VIOLATIONS_SHOWN) {
        let message = redact_detail(&error.to_string(), 160);
        let path = format!("${}", error.instance_path().as_str().replace('/', "."));
        if first.is_empty() {
            first = format!("{path}: {message}");
        }
        violations.push(json!({"path": path, "message": message}));
    }
    Err(GatewayError::new(ErrorCode::ArgsInvalid, first)
        .with_detail("violations", violations)
        .with_detail("expected", signature(schema)))
}

/// A correction that was made to arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArgumentRepair {
    pub path: String,
    pub rule: &'static str,
}

/// Corrects what models often get wrong: a whole object sent as text, and numbers, booleans and null in quotes, where the
/// schema wants exactly that. Top-level fields only; nothing is renamed, guessed or dropped.
pub fn normalize_arguments(mut arguments: Value, schema: Option<&Value>) -> (Value, Vec<ArgumentRepair>) {
    let mut repairs = Vec::new();
    let Some(schema) = schema else {
        return (arguments, repairs);
    };
    if let Value::String(text) = &arguments {
        let trimmed = text.trim_start_matches('\u{feff}').trim();
        if let Ok(object @ Value::Object(_)) = serde_json::from_str(trimmed) {
            arguments = object;
            repairs.push(ArgumentRepair {
                path: "$".to_owned(),
                rule: "parse_stringified_object",
            });
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    if let (Value::Object(fields), Some(properties)) = (&mut arguments, properties) {
        for (key, value) in fields.iter_mut() {
            let Value::String(text) = &*value else { continue };
            let Some((repaired, rule)) = properties.get(key).and_then(|property| repair(text, property)) else {
                continue;
            };
            *value = repaired;
            repairs.push(ArgumentRepair {
                path: format!("$.{key}"),
                rule,
            });
        }
    }
    (arguments, repairs)
}

fn repair(text: &str, property: &Value) -> Option<(Value, &'static str)> {
    let wanted: Vec<&str> = match property.get("type")? {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let wants = |kind: &str| wanted.contains(&kind);
    if wants("string") {
        return None;
    }
    if wants("integer")
        && let Some(integer) = integer_literal(text)
    {
        return Some((integer, "str_to_integer"));
    }
    if wants("number")
        && let Some(number) = number_literal(text)
    {
        return Some((number, "str_to_number"));
    }
    match text {
        "true" if wants("boolean") => Some((Value::Bool(true), "str_to_boolean")),
        "false" if wants("boolean") => Some((Value::Bool(false), "str_to_boolean")),
        "null" if wants("null") => Some((Value::Null, "str_to_null")),
        _ => None,
    }
}

/// `-?[0-9]+`. One too large for 64 bits becomes what reading the same literal as JSON gives.
fn integer_literal(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if let Ok(integer) = text.parse::<i64>() {
        return Some(integer.into());
    }
    if let Ok(integer) = text.parse::<u64>() {
        return Some(integer.into());
    }
    text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number)
}

/// A finite number with digits on both sides of any point.
fn number_literal(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    if !mantissa_ok || !exponent_ok {
        return None;
    }
    text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number)
}

/// Longest signature, in bytes.
const SIGNATURE_LIMIT: usize = 1200;
const SIGNATURE_DEPTH: usize = 3;

/// A schema in few tokens: `{owner: string, labels?: string[]}`. For an agent that guessed wrong, not for validation.
pub fn signature(schema: &Value) -> String {
    let mut text = String::new();
    write_signature(&mut text, schema, 0);
    text
}

fn write_signature(text: &mut String, schema: &Value, depth: usize) {
    if text.len() > SIGNATURE_LIMIT {
        return;
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let shown: Vec<String> = values.iter().take(12).map(Value::to_string).collect();
        text.push_str(&shown.join("|"));
        if values.len() > shown.len() {
            text.push_str("|…");
        }
        return;
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ if schema.get("properties").is_some() => vec!["object"],
        _ => vec!["any"],
    };
    for (position, kind) in kinds.iter().enumerate() {
        if position > 0 {
            text.push('|');
        }
        match *kind {
            "object" => write_object(text, schema, depth),
            "array" => {
                match schema.get("items") {
                    Some(items) if depth < SIGNATURE_DEPTH => write_signature(text, items, depth + 1),
                    _ => text.push_str("any"),
                }
                text.push_str("[]");
            }
            kind => text.push_str(kind),
        }
    }
}

fn write_object(text: &mut String, schema: &Value, depth: usize) {
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .filter(|map| !map.is_empty());
    let Some(properties) = properties.filter(|_| depth < SIGNATURE_DEPTH) else {
        text.push_str("object");
        return;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    text.push('{');
    for (position, (name, property)) in properties.iter().enumerate() {
        if position > 0 {
            text.push_str(", ");
        }
        if text.len() > SIGNATURE_LIMIT {
            text.push('…');
            break;
        }
        let _ = write!(text, "{name}{}: ", if is_required(name) { "" } else { "?" });
        write_signature(text, property, depth + 1);
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_counted_on_compact_json() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array"}}});
        let bytes = schema.to_string().len();
        let limits = |max_bytes, max_depth, max_properties| SchemaLimits {
            max_bytes,
            max_depth,
            max_properties,
        };
        assert_eq!(over_limit(&schema, &limits(bytes, 4, 2)), None);
        assert!(over_limit(&schema, &limits(bytes - 1, 4, 2)).unwrap().contains("bytes"));
        assert!(over_limit(&schema, &limits(bytes, 3, 2)).unwrap().contains("deeper"));
        assert!(
            over_limit(&schema, &limits(bytes, 4, 1))
                .unwrap()
                .contains("properties")
        );
    }

    #[test]
    fn invalid_arguments_say_what_was_expected() {
        let schema = json!({
            "type": "object",
            "properties": {"owner": {"type": "string"}, "labels": {"type": "array", "items": {"type": "string"}}},
            "required": ["owner"],
        });
        let validator = compile(&schema).unwrap();
        check_arguments(&validator, &schema, &json!({"owner": "x"})).unwrap();
        let error = check_arguments(&validator, &schema, &json!({"labels": 3})).unwrap_err();
        assert_eq!(error.code, ErrorCode::ArgsInvalid);
        assert_eq!(error.details["expected"], "{owner: string, labels?: string[]}");
        assert_eq!(error.details["violations"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn a_reference_to_another_document_is_never_fetched() {
        let error = compile(&json!({"$ref": "http://127.0.0.1:9/schema.json"})).unwrap_err();
        assert!(!error.is_empty());
        assert!(compile(&json!({"type": 12})).is_err());
    }

    #[test]
    fn white_space_around_a_literal_is_not_a_literal() {
        let schema = json!({"properties": {"i": {"type": "integer"}}});
        assert_eq!(normalize_arguments(json!({"i": " 42 "}), Some(&schema)).1, []);
    }

    #[test]
    fn an_object_sent_as_text_is_read() {
        let schema = json!({"properties": {"i": {"type": "integer"}}});
        let (arguments, repairs) = normalize_arguments(json!("\u{feff} {\"i\": \"1\"} "), Some(&schema));
        assert_eq!(arguments, json!({"i": 1}));
        let rules: Vec<&str> = repairs.iter().map(|repair| repair.rule).collect();
        assert_eq!(rules, ["parse_stringified_object", "str_to_integer"]);
    }

    #[test]
    fn a_signature_is_bounded() {
        let wide: Map<String, Value> = (0..5000)
            .map(|i| (format!("property_{i}"), json!({"type": "string"})))
            .collect();
        assert!(signature(&json!({"type": "object", "properties": wide})).len() < SIGNATURE_LIMIT + 100);
    }
}
