//! The JSON Schema of a tool's arguments, made from its parameter type and stripped of what costs tokens and says nothing:
//! a client pays for every word of it in every session.

use std::collections::HashMap;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use wire::layout::{Column, Kind, Rows};
use wire::protocol::Scope;

use super::{Tool, Toolset};

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
        if tool.toolset != Toolset::Core {
            shorten(properties);
        }
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
        // `format` and `if_none_match` are taken by every tool and asked for by programs, which need no list to find them in.
        if tool.toolset == Toolset::Core {
            properties.insert("max_tokens".into(), json!({"type": "integer"}));
        }
    }
    if let Some(inner) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        for properties in inner.values_mut().filter_map(|inner| {
            let inner = inner.as_object_mut()?;
            inner.remove("description");
            inner.remove("additionalProperties");
            inner.get_mut("properties")?.as_object_mut()
        }) {
            properties.values_mut().for_each(simplify);
        }
    }
    name_symbol(&mut schema);
    if several_repositories
        && tool.scope != Scope::Workspace
        && let Some(required) = schema.entry("required").or_insert_with(|| json!([])).as_array_mut()
    {
        required.push("repo".into());
    }
    schema
}

/// Says less of what says itself: a list of all tools is paid for in every session. The reference page has everything.
fn shorten(properties: &mut Map<String, Value>) {
    /// The same as another, or taken by every tool.
    const LEFT_OUT: [&str; 3] = ["output_format", "namespace", "max_wait_ms"];
    /// Whose names say it.
    const PLAIN: &[&str] = &[
        "limit",
        "cursor",
        "line",
        "column",
        "depth",
        "dry_run",
        "exclude_tests",
        "budget",
        "context_lines",
        "max_lines",
        "snippet_lines",
        "start_line",
        "end_line",
        "start_column",
        "end_column",
        "explain",
        "language",
        "file_path",
        "ignore_case",
        "smart_case",
        "word",
        "whole_word",
        "invert",
        "before",
        "after",
        "max_count",
        "count",
        "hidden",
        "symbol",
        "symbols",
        "id",
        "ids",
        "new_name",
        "task",
        "query",
        "package",
        "severity",
        "path",
    ];
    const SHORT: [(&str, &str); 5] = [
        ("snippet", "With @@ at the place."),
        ("session", "From create_session."),
        ("min_tier", "Weakest origin."),
        ("pack_root", "Of an earlier answer."),
        ("base", "Branch or commit."),
    ];
    properties.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
    for (name, property) in properties.iter_mut() {
        let Some(members) = property.as_object_mut() else {
            continue;
        };
        if PLAIN.contains(&name.as_str()) {
            members.remove("description");
        }
        if let Some((_, short)) = SHORT.iter().find(|(known, _)| known == name) {
            members.insert("description".into(), (*short).into());
        }
        if name == "wait" {
            *property = json!({"enum": ["lsp"]});
        }
    }
}

/// A symbol is called by one word, whatever the parameter is called inside.
fn name_symbol(schema: &mut Map<String, Value>) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    if !rename_symbol(properties) {
        return;
    }
    let required = schema.get_mut("required").and_then(Value::as_array_mut);
    for name in required.into_iter().flatten() {
        if let Some(shown) = name.as_str().and_then(shown) {
            *name = shown.into();
        }
    }
}

/// Gives members that are called by an inside word the listed one. A tool that takes both words means two things, and keeps them.
fn rename_symbol(members: &mut Map<String, Value>) -> bool {
    if SYMBOL.iter().any(|(_, shown)| members.contains_key(*shown)) {
        return false;
    }
    let named = std::mem::take(members).into_iter();
    *members = named
        .map(|(name, member)| (shown(&name).map_or(name, str::to_owned), member))
        .collect();
    true
}

/// What parameters are called inside, and what clients are told.
const SYMBOL: [(&str, &str); 2] = [("id", "symbol"), ("ids", "symbols")];

/// What clients are told instead of a word used inside.
fn shown(inside: &str) -> Option<&'static str> {
    SYMBOL.iter().find(|(name, _)| *name == inside).map(|(_, shown)| *shown)
}

/// An argument that the tool does not take, and the nearest one that it does. Parameter types that are made of several cannot refuse
/// it themselves, and a mistyped `dry_run` must not write.
pub(super) fn unknown(tool: &Tool, arguments: &Map<String, Value>) -> Option<(String, Option<String>)> {
    let known = || parameters_of(tool).iter().map(|(name, _)| name.as_str());
    let stranger = arguments.keys().find(|name| !known().any(|known| known == *name))?;
    let nearest = gateway::config::nearest(stranger, known());
    Some((stranger.clone(), nearest.map(str::to_owned)))
}

/// Words for the same thing, of which a tool takes one and understands the others.
const SAME: &[&[&str]] = &[
    &["symbol", "id", "symbols", "ids", "what", "name", "target"],
    &["path", "file", "file_path", "paths", "files"],
    &["query", "q", "pattern", "patterns", "task", "text"],
];

/// Reads arguments as models write them: another word for the same thing, a number or a truth as text, one name where a list is taken.
pub(super) fn as_meant(tool: &Tool, arguments: &mut Map<String, Value>) {
    let known = parameters_of(tool);
    for words in SAME {
        let mut taken = words.iter().filter(|word| known.iter().any(|(name, _)| name == *word));
        // Where a tool takes two of them, they are not the same to it.
        let (Some(meant), None) = (taken.next(), taken.next()) else {
            continue;
        };
        let said = words.iter().find(|word| arguments.contains_key(**word));
        if let Some(said) = said.filter(|said| *said != meant)
            && !arguments.contains_key(*meant)
            && let Some(value) = arguments.remove(*said)
        {
            arguments.insert((*meant).to_owned(), value);
        }
    }
    for (name, shape) in known {
        if let Some(value) = arguments.get_mut(name) {
            shape.fit(value);
        }
    }
}

/// The other way round: rewrites arguments to the words of the listed schema, for whoever checks them against it.
pub(super) fn as_listed(tool: &Tool, arguments: &mut Map<String, Value>) {
    as_meant(tool, arguments);
    let takes = |word: &str| parameters_of(tool).iter().any(|(name, _)| name == word);
    if !SYMBOL.iter().any(|(_, shown)| takes(shown)) {
        rename_symbol(arguments);
    }
}

/// The argument of a tool about one symbol that was given several, and these.
pub(super) fn several(tool: &Tool, arguments: &Map<String, Value>) -> Option<(&'static str, Vec<Value>)> {
    let known = parameters_of(tool);
    ["symbol", "id"].into_iter().find_map(|word| {
        let (_, shape) = known.iter().find(|(name, _)| name == word)?;
        let symbols = arguments.get(word)?.as_array()?;
        (*shape == Shape::Text && symbols.len() > 1).then(|| (word, symbols.clone()))
    })
}

/// What an argument is, as far as that says how to read another spelling of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Integer,
    Number,
    Truth,
    List,
    Text,
    Other,
}

impl Shape {
    fn of(property: &Value) -> Shape {
        match property["type"].as_str() {
            Some("integer") => Shape::Integer,
            Some("number") => Shape::Number,
            Some("boolean") => Shape::Truth,
            Some("array") => Shape::List,
            Some("string") => Shape::Text,
            _ => Shape::Other,
        }
    }

    /// Changes a value whose meaning is plain; leaves what is wrong to be refused.
    fn fit(self, value: &mut Value) {
        let fitting = match (self, &*value) {
            (Shape::Integer, Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
            (Shape::Integer, Value::Number(number)) if !number.is_i64() && !number.is_u64() => number
                .as_f64()
                .filter(|number| number.fract() == 0.0 && number.abs() < 1e15)
                .map(|number| Value::from(number as i64)),
            (Shape::Number, Value::String(text)) => text.trim().parse::<f64>().ok().map(Value::from),
            (Shape::Truth, Value::String(text)) => match text.trim() {
                "true" => Some(true.into()),
                "false" => Some(false.into()),
                _ => None,
            },
            (Shape::List, Value::String(text)) => Some(match serde_json::from_str(text) {
                Ok(list @ Value::Array(_)) => list,
                _ => json!([text]),
            }),
            (Shape::Text, Value::Array(items)) => match items.as_slice() {
                [only @ Value::String(_)] => Some(only.clone()),
                _ => None,
            },
            (Shape::Text, Value::Number(number)) => Some(number.to_string().into()),
            _ => None,
        };
        if let Some(fitting) = fitting {
            *value = fitting;
        }
    }
}

/// The arguments that a tool takes, and what each is.
fn parameters_of(tool: &Tool) -> &'static [(String, Shape)] {
    static KNOWN: OnceLock<HashMap<&'static str, Vec<(String, Shape)>>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let parameters = |tool: &Tool| {
            let schema = (tool.parameters)();
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties
                .map(|(name, property)| (name.clone(), Shape::of(property)))
                .collect()
        };
        super::all().map(|tool| (tool.name, parameters(tool))).collect()
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
        Kind::Json | Kind::Names => return json!({"description": of.about}),
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn meant(tool: &str, arguments: Value) -> Value {
        let tool = super::super::find(tool).unwrap();
        let mut arguments = arguments.as_object().unwrap().clone();
        as_meant(tool, &mut arguments);
        Value::Object(arguments)
    }

    #[test]
    fn arguments_are_read_as_models_write_them() {
        assert_eq!(
            meant("uses", json!({"symbol": ["a"], "limit": "12", "tests": "true"})),
            json!({"symbol": "a", "limit": 12, "tests": true})
        );
        assert_eq!(
            meant("read", json!({"what": "a.py:3-9"})),
            json!({"what": ["a.py:3-9"]})
        );
        assert_eq!(
            meant("read", json!({"symbol": "[\"a\", \"b\"]"})),
            json!({"what": ["a", "b"]})
        );
        assert_eq!(
            meant("get_callers", json!({"symbol": "a", "depth": 2.0})),
            json!({"id": "a", "depth": 2})
        );
        // What is wrong stays, so that it is refused.
        let wrong = json!({"symbol": "a", "limit": "many"});
        assert_eq!(meant("uses", wrong.clone()), wrong);
    }

    #[test]
    fn a_symbol_has_one_name_in_every_list() {
        for tool in super::super::all() {
            let schema = input(tool, true);
            let properties = schema["properties"].as_object().unwrap();
            assert!(
                !properties.contains_key("id") || properties.contains_key("symbol"),
                "{}",
                tool.name
            );
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                assert!(properties.contains_key(name.as_str().unwrap()), "{}: {name}", tool.name);
            }
        }
    }

    #[test]
    fn arguments_are_spelled_as_the_list_has_them() {
        let spelled = |tool: &str, arguments: Value| {
            let mut arguments = arguments.as_object().unwrap().clone();
            as_listed(super::super::find(tool).unwrap(), &mut arguments);
            Value::Object(arguments)
        };
        for word in ["id", "symbol", "name"] {
            assert_eq!(
                spelled("get_callers", json!({word: "a", "depth": "2"})),
                json!({"symbol": "a", "depth": 2})
            );
        }
        assert_eq!(spelled("uses", json!({"id": "a"})), json!({"symbol": "a"}));
    }

    #[test]
    fn several_symbols_are_known_where_one_is_taken() {
        let tool = super::super::find("uses").unwrap();
        let arguments = json!({"symbol": ["a", "b"]});
        assert_eq!(
            several(tool, arguments.as_object().unwrap()),
            Some(("symbol", vec![json!("a"), json!("b")]))
        );
        let tool = super::super::find("change").unwrap();
        assert_eq!(several(tool, json!({"symbols": ["a", "b"]}).as_object().unwrap()), None);
    }
}
