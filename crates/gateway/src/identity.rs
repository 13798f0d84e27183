//! The stable id of a tool, resource or prompt: `namespace:name[@version][#hash8]`, with `resource::` or `prompt::` before
//! it for the other two kinds.
//!
//! Ids depend on a definition's name and the shape of its input alone, so prose edits never change them. A name the
//! grammar refuses is not dropped: it gets a sanitised name plus the hash of the real one.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::spec::{PromptSpec, ResourceSpec, ToolSpec};

/// Longest id, in characters.
pub const ID_LIMIT: usize = 240;
const NAMESPACE_LIMIT: usize = 64;
const NAME_LIMIT: usize = 128;
const VERSION_LIMIT: usize = 32;
/// The namespace of a tool whose name suggests none.
pub const FALLBACK_NAMESPACE: &str = "mcp";

/// A `tool_id` taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolIdParts {
    pub namespace: String,
    pub name: String,
    pub version: Option<String>,
    /// Required when there is no version.
    pub hash8: Option<String>,
}

/// Which MCP primitive an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrimitiveKind {
    Tool,
    Resource,
    Prompt,
}

/// Why a text is not an id, or a definition has no canonical one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    #[error("tool_id is longer than {ID_LIMIT} characters")]
    TooLong,
    #[error("tool_id has no namespace separator `:`")]
    NoNamespace,
    #[error("tool_id namespace does not match the grammar: `{0}`")]
    Namespace(String),
    #[error("tool_id name does not match the grammar: `{0}`")]
    Name(String),
    #[error("tool_id version does not match the grammar: `{0}`")]
    Version(String),
    #[error("tool_id hash8 does not match the grammar: `{0}`")]
    Hash8(String),
    #[error("tool_id needs a hash8 when it has no version")]
    HashRequired,
    #[error("primitive id has an unknown kind prefix `{0}`; expected resource or prompt")]
    Kind(String),
    #[error("the input schema's `{0}` has the wrong type")]
    Shape(&'static str),
}

/// Splits a `tool_id`. `format_tool_id` is its inverse.
pub fn parse_tool_id(text: &str) -> Result<ToolIdParts, IdentityError> {
    if text.chars().count() > ID_LIMIT {
        return Err(IdentityError::TooLong);
    }
    let (namespace, rest) = text.split_once(':').ok_or(IdentityError::NoNamespace)?;
    let (rest, hash8) = match rest.rsplit_once('#') {
        Some((rest, hash8)) => (rest, Some(hash8.to_owned())),
        None => (rest, None),
    };
    let (name, version) = match rest.rsplit_once('@') {
        Some((name, version)) => (name, Some(version.to_owned())),
        None => (rest, None),
    };
    let parts = ToolIdParts {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        version,
        hash8,
    };
    check(&parts)?;
    Ok(parts)
}

/// Joins the parts of a `tool_id`, refusing parts the grammar does not allow.
pub fn format_tool_id(parts: &ToolIdParts) -> Result<String, IdentityError> {
    check(parts)?;
    let mut text = format!("{}:{}", parts.namespace, parts.name);
    if let Some(version) = &parts.version {
        text.push('@');
        text.push_str(version);
    }
    if let Some(hash8) = &parts.hash8 {
        text.push('#');
        text.push_str(hash8);
    }
    Ok(text)
}

fn check(parts: &ToolIdParts) -> Result<(), IdentityError> {
    if !is_namespace(&parts.namespace) {
        return Err(IdentityError::Namespace(parts.namespace.clone()));
    }
    if !is_name(&parts.name) {
        return Err(IdentityError::Name(parts.name.clone()));
    }
    match &parts.version {
        Some(version) if !is_version(version) => return Err(IdentityError::Version(version.clone())),
        None if parts.hash8.is_none() => return Err(IdentityError::HashRequired),
        _ => {}
    }
    match &parts.hash8 {
        Some(hash8) if !is_hash8(hash8) => Err(IdentityError::Hash8(hash8.clone())),
        _ => Ok(()),
    }
}

/// `[a-z][a-z0-9_-]{0,63}`
pub fn is_namespace(text: &str) -> bool {
    text.len() <= NAMESPACE_LIMIT
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

fn is_name(text: &str) -> bool {
    text.len() <= NAME_LIMIT
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(is_name_byte)
}

fn is_version(text: &str) -> bool {
    !text.is_empty() && text.len() <= VERSION_LIMIT && text.bytes().all(is_name_byte)
}

fn is_hash8(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Where an upstream name's namespace ends, and what is left of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedName<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
}

/// Infers a namespace from an upstream name: before the first `.`, else the first `/`, else the first of three or more
/// `_` segments, else `mcp`. Only `.` and `/` are cut from the name; an underscore may belong to it.
pub fn derive_name(upstream_name: &str) -> DerivedName<'_> {
    for separator in ['.', '/'] {
        if let Some((namespace, rest)) = upstream_name.split_once(separator)
            && !namespace.is_empty()
        {
            return DerivedName {
                namespace,
                name: if rest.is_empty() { upstream_name } else { rest },
            };
        }
    }
    let namespace = match upstream_name.split_once('_') {
        Some((first, rest)) if !first.is_empty() && rest.contains('_') => first,
        _ => FALLBACK_NAMESPACE,
    };
    DerivedName {
        namespace,
        name: upstream_name,
    }
}

/// The shape that a tool's hash covers: its top-level property names and `required`, nothing else.
pub fn canonical_shape(input_schema: Option<&Value>) -> Result<String, IdentityError> {
    let field = |key| {
        input_schema
            .and_then(|schema| schema.get(key))
            .filter(|value| !value.is_null())
    };
    let properties = match field("properties") {
        None => Vec::new(),
        Some(Value::Object(map)) => map.keys().map(String::as_str).collect(),
        Some(_) => return Err(IdentityError::Shape("properties")),
    };
    let required = match field("required") {
        None => Vec::new(),
        Some(Value::Array(items)) => items
            .iter()
            .map(Value::as_str)
            .collect::<Option<Vec<_>>>()
            .ok_or(IdentityError::Shape("required"))?,
        Some(_) => return Err(IdentityError::Shape("required")),
    };
    Ok(shape_text(properties, required))
}

/// The same for a schema of any kind: what cannot be read counts as absent.
fn tolerant_shape(input_schema: Option<&Value>) -> String {
    canonical_shape(input_schema).unwrap_or_else(|_| {
        let field = |key| input_schema.and_then(|schema| schema.get(key));
        let properties = field("properties").and_then(Value::as_object);
        let required = field("required").and_then(Value::as_array);
        shape_text(
            properties.into_iter().flatten().map(|(key, _)| key.as_str()).collect(),
            required.into_iter().flatten().filter_map(Value::as_str).collect(),
        )
    })
}

fn shape_text(mut properties: Vec<&str>, mut required: Vec<&str>) -> String {
    // Byte order of UTF-8 is code point order.
    properties.sort_unstable();
    required.sort_unstable();
    let mut text = String::from("{\"properties\":");
    write_texts(&mut text, &properties);
    text.push_str(",\"required\":");
    write_texts(&mut text, &required);
    text.push('}');
    text
}

/// First eight hex digits over a tool's upstream name and shape.
pub fn hash8(upstream_name: &str, shape: &str) -> String {
    sha256_hex8(&[upstream_name, "\n", shape])
}

/// The id exactly as the grammar defines it, for a tool without a known server; refuses what the grammar refuses.
pub fn canonical_tool_id(spec: &ToolSpec) -> Result<String, IdentityError> {
    let derived = derive_name(&spec.name);
    let version = spec.declared_version();
    let hash8 = match version {
        Some(_) => None,
        None => Some(hash8(&spec.name, &canonical_shape(spec.input_schema.as_ref())?)),
    };
    let (namespace, name) = (derived.namespace.to_owned(), derived.name.to_owned());
    format_tool_id(&ToolIdParts {
        namespace,
        name,
        version,
        hash8,
    })
}

/// The id of any tool: canonical where the grammar allows it, sanitised and hashed where it does not.
///
/// The namespace is the configured one, else the server's name, else inferred: a known server is never overruled by
/// what its tools call themselves.
pub fn tool_id(spec: &ToolSpec) -> String {
    let fixed = spec
        .namespace
        .as_deref()
        .or((!spec.server.is_empty()).then_some(spec.server.as_str()));
    let derived = match fixed {
        Some(namespace) => DerivedName {
            namespace,
            name: without_prefix(spec.shown_name(), namespace),
        },
        None => derive_name(spec.shown_name()),
    };
    place(spec, &sanitise_namespace(derived.namespace), derived)
}

fn place(spec: &ToolSpec, namespace: &str, derived: DerivedName<'_>) -> String {
    let name = sanitise_name(derived.name, "_");
    let declared = spec.declared_version();
    let version = declared.as_deref().map(sanitise_version);
    // A configured namespace may be spelled freely; only what the upstream says must survive unchanged.
    let lossless =
        name == derived.name && version == declared && (namespace == derived.namespace || spec_is_placed(spec));
    let hash8 =
        (version.is_none() || !lossless).then(|| hash8(&spec.name, &tolerant_shape(spec.input_schema.as_ref())));
    let parts = ToolIdParts {
        namespace: namespace.to_owned(),
        name,
        version,
        hash8,
    };
    join(&parts)
}

fn spec_is_placed(spec: &ToolSpec) -> bool {
    spec.namespace.is_some() || !spec.server.is_empty()
}

/// A shorter id for a tool whose canonical one would not fit a card: the start of the name and the hash of all of it.
pub fn shortened_tool_id(spec: &ToolSpec, name_limit: usize) -> String {
    let full = tool_id(spec);
    let Ok(mut parts) = parse_tool_id(&full) else {
        return full;
    };
    parts.name.truncate(name_limit.max(1));
    parts.namespace.truncate(name_limit.max(1));
    parts.version = None;
    parts.hash8 = Some(hash8(&spec.name, &tolerant_shape(spec.input_schema.as_ref())));
    join(&parts)
}

/// The id of a resource: namespace from the URI scheme, hash over the URI.
pub fn resource_id(spec: &ResourceSpec) -> String {
    let scheme = spec
        .uri
        .split_once(':')
        .map_or(FALLBACK_NAMESPACE, |(scheme, _)| scheme);
    let label = spec.name.as_deref().unwrap_or_else(|| {
        let trimmed = spec.uri.trim_end_matches('/');
        trimmed.rsplit_once('/').map_or(trimmed, |(_, last)| last)
    });
    let parts = ToolIdParts {
        namespace: sanitise_namespace(scheme),
        name: sanitise_name(label, "r_"),
        version: None,
        hash8: Some(sha256_hex8(&["resource\n", &spec.uri])),
    };
    format!("resource::{}", join(&parts))
}

/// The id of a prompt: hash over its name and its sorted argument names.
pub fn prompt_id(spec: &PromptSpec) -> String {
    let name = sanitise_name(&spec.name, "r_");
    let mut arguments: Vec<&str> = spec.arguments.iter().map(|argument| argument.name.as_str()).collect();
    arguments.sort_unstable();
    let mut listed = String::new();
    write_texts(&mut listed, &arguments);
    let parts = ToolIdParts {
        namespace: sanitise_namespace(derive_name(&spec.name).namespace),
        hash8: Some(sha256_hex8(&["prompt\n", &name, "\n", &listed])),
        name,
        version: None,
    };
    format!("prompt::{}", join(&parts))
}

/// Splits any primitive's id into its kind and the parts of its body.
pub fn parse_primitive_id(text: &str) -> Result<(PrimitiveKind, ToolIdParts), IdentityError> {
    let (kind, body) = match text.split_once("::") {
        None => (PrimitiveKind::Tool, text),
        Some(("resource", body)) => (PrimitiveKind::Resource, body),
        Some(("prompt", body)) => (PrimitiveKind::Prompt, body),
        Some((other, _)) => return Err(IdentityError::Kind(other.to_owned())),
    };
    Ok((kind, parse_tool_id(body)?))
}

/// The inverse of `parse_primitive_id`.
pub fn format_primitive_id(kind: PrimitiveKind, parts: &ToolIdParts) -> Result<String, IdentityError> {
    let body = format_tool_id(parts)?;
    Ok(match kind {
        PrimitiveKind::Tool => body,
        PrimitiveKind::Resource => format!("resource::{body}"),
        PrimitiveKind::Prompt => format!("prompt::{body}"),
    })
}

/// Makes keys unique: the first of several equal ids keeps it, later ones get `~2`, `~3`, … in order.
/// Such a key is opaque; it is not an id and must not be parsed as one.
pub fn resolve_collisions<S: AsRef<str>>(ids: &[S]) -> Vec<String> {
    let mut seen: std::collections::HashMap<&str, usize> = std::collections::HashMap::with_capacity(ids.len());
    ids.iter()
        .map(|id| {
            let id = id.as_ref();
            let count = seen.entry(id).or_insert(0);
            *count += 1;
            if *count == 1 {
                id.to_owned()
            } else {
                format!("{id}~{count}")
            }
        })
        .collect()
}

/// Turns any text into a namespace the grammar accepts; one it already accepts is returned unchanged.
pub fn sanitise_namespace(text: &str) -> String {
    if is_namespace(text) {
        return text.to_owned();
    }
    let mut namespace: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    if !namespace.bytes().any(|b| b.is_ascii_alphanumeric()) {
        // Nothing readable is left: only a hash keeps two such names apart.
        return if text.is_empty() {
            FALLBACK_NAMESPACE.to_owned()
        } else {
            format!("mcp-{}", sha256_hex8(&[text]))
        };
    }
    if !namespace.starts_with(|c: char| c.is_ascii_lowercase()) {
        namespace.insert_str(0, "mcp-");
    }
    namespace.truncate(NAMESPACE_LIMIT);
    namespace
}

fn sanitise_name(text: &str, prefix: &str) -> String {
    let mut name: String = text
        .chars()
        .map(|c| {
            if u8::try_from(c).is_ok_and(is_name_byte) {
                c
            } else {
                '_'
            }
        })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert_str(0, prefix);
    }
    name.truncate(NAME_LIMIT);
    name
}

fn sanitise_version(text: &str) -> String {
    text.chars()
        .take(VERSION_LIMIT)
        .map(|c| {
            if u8::try_from(c).is_ok_and(is_name_byte) {
                c
            } else {
                '_'
            }
        })
        .collect()
}

fn without_prefix<'a>(name: &'a str, namespace: &str) -> &'a str {
    name.strip_prefix(namespace)
        .and_then(|rest| rest.strip_prefix(['.', '/']))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name)
}

/// Joins parts known to fit the grammar.
fn join(parts: &ToolIdParts) -> String {
    debug_assert!(check(parts).is_ok(), "{parts:?}");
    let version = parts
        .version
        .as_ref()
        .map(|version| format!("@{version}"))
        .unwrap_or_default();
    let hash8 = parts
        .hash8
        .as_ref()
        .map(|hash8| format!("#{hash8}"))
        .unwrap_or_default();
    format!("{}:{}{version}{hash8}", parts.namespace, parts.name)
}

/// Compact JSON with sorted keys and ASCII escapes: one spelling for one value, as hash input.
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(&mut text, value);
    text
}

fn write_canonical(text: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (position, (key, value)) in entries.into_iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                write_text(text, key);
                text.push(':');
                write_canonical(text, value);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                write_canonical(text, item);
            }
            text.push(']');
        }
        Value::String(string) => write_text(text, string),
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

fn write_texts(text: &mut String, items: &[&str]) {
    text.push('[');
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        write_text(text, item);
    }
    text.push(']');
}

/// A JSON string with every character outside printable ASCII escaped, astral ones as surrogate pairs.
fn write_text(text: &mut String, string: &str) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            ' '..='~' => text.push(c),
            _ => {
                let mut units = [0u16; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
    }
    text.push('"');
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn sha256_hex8(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize()[..4])
}
