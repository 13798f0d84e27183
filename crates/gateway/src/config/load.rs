//! Reads a configuration from TOML, or from the `mcpServers` JSON that MCP clients already have. Everything wrong is
//! reported at once, each with its place and, for an unknown key, the nearest known one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{GatewayConfig, config_schema};
use crate::identity::sanitise_namespace;

/// A configuration that is fit for use, with what was ignored on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    pub config: GatewayConfig,
    /// Not errors: keys of other clients that mean nothing here.
    pub warnings: Vec<ConfigProblem>,
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Dotted path of the key; empty for the file as a whole.
    pub place: String,
    pub message: String,
}

impl std::fmt::Display for ConfigProblem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.place.is_empty() {
            formatter.write_str(&self.message)
        } else {
            write!(formatter, "{}: {}", self.place, self.message)
        }
    }
}

/// All that is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ConfigError {
    pub problems: Vec<ConfigProblem>,
}

/// Reads a TOML configuration. `environment` answers `${env:NAME}`; the library itself reads no environment.
pub fn parse_toml(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Loaded, ConfigError> {
    let table: toml::Table = toml::from_str(text).map_err(|error| whole_file(&error.to_string()))?;
    let value = serde_json::to_value(table).map_err(|error| whole_file(&error.to_string()))?;
    load(value, environment, Dialect::Lacon)
}

/// Reads JSON: this crate's own shape, or a client's `{"mcpServers": {…}}` (also `servers`).
pub fn parse_json(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Loaded, ConfigError> {
    let value: Value = serde_json::from_str(text).map_err(|error| whole_file(&error.to_string()))?;
    for key in ["mcpServers", "servers"] {
        if value.get(key).is_some() {
            let (value, warnings) = from_client(value, key)?;
            return load(value, environment, Dialect::Client).map(|mut loaded| {
                loaded.warnings.extend(warnings);
                loaded
            });
        }
    }
    load(value, environment, Dialect::Lacon)
}

/// Which spellings of a variable are replaced. Clients also write `${NAME}`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Lacon,
    Client,
}

fn load(
    mut value: Value,
    environment: &dyn Fn(&str) -> Option<String>,
    dialect: Dialect,
) -> Result<Loaded, ConfigError> {
    let mut problems = Vec::new();
    substitute(&mut value, "", environment, dialect, &mut problems);
    let schema = config_schema();
    unknown_keys(&value, &schema, &schema, "", &mut problems);
    if problems.is_empty() {
        match jsonschema::validator_for(&schema) {
            Ok(validator) => problems.extend(validator.iter_errors(&value).map(|error| ConfigProblem {
                place: dotted(error.instance_path().as_str()),
                message: hide_value(&error),
            })),
            Err(error) => problems.push(problem("", &format!("the configuration schema is broken: {error}"))),
        }
    }
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    let config: GatewayConfig = serde_json::from_value(value).map_err(|error| whole_file(&error.to_string()))?;
    check(&config, &mut problems);
    if problems.is_empty() {
        Ok(Loaded {
            config,
            warnings: Vec::new(),
        })
    } else {
        Err(ConfigError { problems })
    }
}

/// A validation message that never repeats the value, which may be a secret just read from the environment.
fn hide_value(error: &jsonschema::ValidationError<'_>) -> String {
    error.masked().to_string()
}

/// What types alone cannot say.
fn check(config: &GatewayConfig, problems: &mut Vec<ConfigProblem>) {
    let mut namespaces: BTreeMap<String, &str> = BTreeMap::new();
    for (name, upstream) in &config.upstreams {
        let place = format!("upstreams.{name}");
        if upstream.transport().is_none() {
            problems.push(problem(&place, "needs exactly one of `command` and `url`"));
        }
        if upstream
            .url
            .as_deref()
            .is_some_and(|url| !url.starts_with("http://") && !url.starts_with("https://"))
        {
            problems.push(problem(&format!("{place}.url"), "must start with http:// or https://"));
        }
        for (key, globs) in [("include", &upstream.include), ("exclude", &upstream.exclude)] {
            for glob in globs {
                if let Err(error) = globset::Glob::new(glob) {
                    problems.push(problem(&format!("{place}.{key}"), &error.to_string()));
                }
            }
        }
        let namespace = sanitise_namespace(upstream.namespace.as_deref().unwrap_or(name));
        // Two upstreams may share a namespace on purpose, but not because their names happen to be spelled alike.
        if let Some(other) = namespaces.insert(namespace.clone(), name)
            && upstream.namespace.is_none()
        {
            let message = format!("has the namespace `{namespace}` of `{other}`; set `namespace` on one of them");
            problems.push(problem(&place, &message));
        }
    }
    if let Some(message) = config.retry.problem() {
        problems.push(problem("retry", message));
    }
    problems.extend(
        config
            .policy
            .problems()
            .into_iter()
            .map(|(place, message)| ConfigProblem { place, message }),
    );
}

/// Turns a client's server list into this crate's shape.
fn from_client(value: Value, servers_key: &str) -> Result<(Value, Vec<ConfigProblem>), ConfigError> {
    /// Keys that clients write for themselves.
    const IGNORED: [&str; 12] = [
        "alwaysAllow",
        "autoApprove",
        "description",
        "dev",
        "disabledTools",
        "envFile",
        "gallery",
        "icon",
        "id",
        "title",
        "trust",
        "version",
    ];
    let mut warnings = Vec::new();
    let mut upstreams = Map::new();
    let Value::Object(mut fields) = value else {
        return Err(whole_file("expected an object"));
    };
    let Some(Value::Object(servers)) = fields.shift_remove(servers_key) else {
        return Err(ConfigError {
            problems: vec![problem(servers_key, "expected an object")],
        });
    };
    for key in fields.keys() {
        warnings.push(problem(key, "ignored: only the server list of a client's file is read"));
    }
    for (name, server) in servers {
        let place = format!("{servers_key}.{name}");
        let Value::Object(mut server) = server else {
            return Err(ConfigError {
                problems: vec![problem(&place, "expected an object")],
            });
        };
        for key in ["type", "transport"] {
            if let Some(Value::String(kind)) = server.shift_remove(key)
                && !matches!(kind.as_str(), "stdio" | "http" | "streamable-http" | "streamableHttp")
            {
                let message = format!("transport `{kind}` is not supported; use stdio or streamable HTTP");
                return Err(ConfigError {
                    problems: vec![problem(&format!("{place}.{key}"), &message)],
                });
            }
        }
        if let Some(Value::Bool(disabled)) = server.shift_remove("disabled") {
            server.insert("enabled".into(), (!disabled).into());
        }
        for key in ["serverUrl", "httpUrl"] {
            if let Some(url) = server.shift_remove(key) {
                server.insert("url".into(), url);
            }
        }
        // Clients disagree on the unit: seconds in some, milliseconds in others.
        if let Some(timeout) = server.shift_remove("timeout").and_then(|timeout| timeout.as_f64()) {
            server.insert(
                "timeout_seconds".into(),
                if timeout >= 1000.0 { timeout / 1000.0 } else { timeout }.into(),
            );
        }
        for key in IGNORED {
            if server.shift_remove(key).is_some() {
                warnings.push(problem(
                    &format!("{place}.{key}"),
                    "ignored: it is meant for another client",
                ));
            }
        }
        upstreams.insert(name, Value::Object(server));
    }
    let mut root = Map::new();
    root.insert("upstreams".into(), Value::Object(upstreams));
    Ok((Value::Object(root), warnings))
}

/// Replaces `${env:NAME}` and `${env:NAME:-default}` in every string.
fn substitute(
    value: &mut Value,
    place: &str,
    environment: &dyn Fn(&str) -> Option<String>,
    dialect: Dialect,
    problems: &mut Vec<ConfigProblem>,
) {
    match value {
        Value::String(text) if text.contains("${") => match expand(text, environment, dialect) {
            Ok(expanded) => *text = expanded,
            Err(message) => problems.push(problem(place, &message)),
        },
        Value::Array(items) => {
            for (position, item) in items.iter_mut().enumerate() {
                substitute(item, &format!("{place}[{position}]"), environment, dialect, problems);
            }
        }
        Value::Object(map) => {
            for (key, item) in map.iter_mut() {
                substitute(item, &join(place, key), environment, dialect, problems);
            }
        }
        _ => {}
    }
}

fn expand(text: &str, environment: &dyn Fn(&str) -> Option<String>, dialect: Dialect) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        expanded.push_str(&rest[..start]);
        let inside = &rest[start + 2..];
        let end = inside.find('}').ok_or("`${` without `}`")?;
        let reference = &inside[..end];
        let name = match reference.strip_prefix("env:") {
            Some(name) => Some(name),
            None if dialect == Dialect::Client && !reference.contains(':') => Some(reference),
            None if dialect == Dialect::Client && reference.contains(":-") => Some(reference),
            None => None,
        };
        match name {
            Some(name) => {
                let (name, default) = match name.split_once(":-") {
                    Some((name, default)) => (name, Some(default)),
                    None => (name, None),
                };
                let found = environment(name).or_else(|| default.map(str::to_owned));
                expanded.push_str(&found.ok_or_else(|| format!("the environment variable `{name}` is not set"))?);
            }
            // Something else's placeholder, a shell's for example: passed on as it is.
            None => expanded.push_str(&rest[start..start + 2 + end + 1]),
        }
        rest = &inside[end + 1..];
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Walks value and schema together and reports keys the schema does not know.
fn unknown_keys(value: &Value, schema: &Value, root: &Value, place: &str, problems: &mut Vec<ConfigProblem>) {
    let schema = resolve(schema, root);
    // `Option<T>` becomes `anyOf: [T, null]`.
    if let Some(variants) = schema.get("anyOf").and_then(Value::as_array) {
        for variant in variants {
            if !value.is_null() && variant.get("type").and_then(Value::as_str) != Some("null") {
                unknown_keys(value, variant, root, place, problems);
            }
        }
        return;
    }
    match value {
        Value::Array(items) => {
            if let Some(item_schema) = schema.get("items") {
                for (position, item) in items.iter().enumerate() {
                    unknown_keys(item, item_schema, root, &format!("{place}[{position}]"), problems);
                }
            }
        }
        Value::Object(map) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let others = schema.get("additionalProperties");
            for (key, item) in map {
                let place = join(place, key);
                if let Some(known) = properties.and_then(|properties| properties.get(key)) {
                    unknown_keys(item, known, root, &place, problems);
                } else if let Some(other) = others.filter(|other| other.is_object()) {
                    unknown_keys(item, other, root, &place, problems);
                } else if others == Some(&Value::Bool(false)) {
                    let known = properties.into_iter().flatten().map(|(key, _)| key.as_str());
                    let message = match nearest(key, known) {
                        Some(near) => format!("unknown key; did you mean `{near}`?"),
                        None => "unknown key".to_owned(),
                    };
                    problems.push(ConfigProblem { place, message });
                }
            }
        }
        _ => {}
    }
}

fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| root.pointer(reference.strip_prefix('#')?))
        .unwrap_or(schema)
}

/// The known key fewest edits away: the nearest of several equally near is the first in the alphabet.
pub fn nearest<'a>(key: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|known| (edits(&key.to_lowercase(), known), known))
        .min()
        .map(|(_, known)| known)
}

/// Levenshtein distance in characters.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (position, from_char) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = position + 1;
        for (column, to_char) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(from_char != *to_char);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

fn join(place: &str, key: &str) -> String {
    if place.is_empty() {
        key.to_owned()
    } else {
        format!("{place}.{key}")
    }
}

fn dotted(pointer: &str) -> String {
    pointer
        .trim_start_matches('/')
        .replace('/', ".")
        .replace("~1", "/")
        .replace("~0", "~")
}

fn problem(place: &str, message: &str) -> ConfigProblem {
    ConfigProblem {
        place: place.to_owned(),
        message: message.to_owned(),
    }
}

fn whole_file(message: &str) -> ConfigError {
    ConfigError {
        problems: vec![problem("", message.trim_end())],
    }
}
