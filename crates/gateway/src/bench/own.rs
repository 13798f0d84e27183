//! The catalog and the queries that ship with the program, so that browsing can be measured without any file.
//!
//! Both are text that a person can read and extend: `catalog.toml` has a line per tool, `queries.toml` one per query.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Query;
use crate::catalog::Source;

const CATALOG: &str = include_str!("catalog.toml");
const QUERIES: &str = include_str!("queries.toml");

/// The queries, in the half that ranking may be tuned on and the half that is only ever measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Queries {
    pub tuning: Vec<Query>,
    pub held_out: Vec<Query>,
}

impl Queries {
    pub fn all(self) -> Vec<Query> {
        [self.tuning, self.held_out].concat()
    }
}

/// A line of the catalog or the queries that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OwnDataError {
    #[error("not the expected TOML: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("tool `{tool}`: {problem}")]
    Tool { tool: String, problem: String },
}

/// What each server of the catalog lists, as it would list it.
pub fn sources() -> Result<Vec<Source>, OwnDataError> {
    let servers: BTreeMap<String, BTreeMap<String, Vec<String>>> = toml::from_str(CATALOG)?;
    let source = |(server, tools): (String, BTreeMap<String, Vec<String>>)| {
        let tools = tools.iter().map(|(name, parts)| {
            definition(name, parts).map_err(|problem| OwnDataError::Tool {
                tool: format!("{server}.{name}"),
                problem,
            })
        });
        Ok(Source {
            tools: tools.collect::<Result<_, _>>()?,
            server,
            ..Source::default()
        })
    };
    servers.into_iter().map(source).collect()
}

pub fn queries() -> Result<Queries, OwnDataError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        tuning: BTreeMap<String, Vec<String>>,
        held_out: BTreeMap<String, Vec<String>>,
    }
    let file: File = toml::from_str(QUERIES)?;
    let half = |asked: BTreeMap<String, Vec<String>>| {
        let queries = asked.into_iter().map(|(query, expected)| Query { query, expected });
        queries.collect()
    };
    Ok(Queries {
        tuning: half(file.tuning),
        held_out: half(file.held_out),
    })
}

/// A tool's definition as MCP spells it: the first part describes it, the others are parameters and hints.
fn definition(name: &str, parts: &[String]) -> Result<Value, String> {
    let (description, parts) = parts.split_first().ok_or("it has no description")?;
    let (mut properties, mut required, mut annotations) = (Map::new(), Vec::new(), Map::new());
    for part in parts {
        match part.strip_prefix('@') {
            Some("read") => annotations.insert("readOnlyHint".to_owned(), true.into()),
            Some("destructive") => annotations.insert("destructiveHint".to_owned(), true.into()),
            Some(hint) => return Err(format!("no hint is called `{hint}`: read or destructive")),
            None => {
                let (parameter, must, schema) = parameter(part)?;
                if must {
                    required.push(Value::from(parameter));
                }
                properties.insert(parameter.to_owned(), schema)
            }
        };
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    let mut tool = json!({"name": name, "description": description, "inputSchema": schema});
    if !annotations.is_empty() {
        tool["annotations"] = annotations.into();
    }
    Ok(tool)
}

/// `name! type: description` as name, whether it is required, and schema.
fn parameter(text: &str) -> Result<(&str, bool, Value), String> {
    let unreadable = || format!("`{text}` is not `name: description`");
    let (head, description) = text.split_once(": ").ok_or_else(unreadable)?;
    let (name, kind) = head.split_once(' ').unwrap_or((head, "string"));
    let choices = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']'));
    let mut schema = match (choices, kind) {
        (Some(choices), _) => json!({"type": "string", "enum": choices.split('|').collect::<Vec<_>>()}),
        (None, "string[]") => json!({"type": "array", "items": {"type": "string"}}),
        (None, "string" | "integer" | "number" | "boolean" | "object") => json!({"type": kind}),
        (None, _) => return Err(format!("`{text}`: no type is called `{kind}`")),
    };
    schema["description"] = description.into();
    let (name, required) = match name.strip_suffix('!') {
        Some(name) => (name, true),
        None => (name, false),
    };
    if name.is_empty() {
        return Err(unreadable());
    }
    Ok((name, required, schema))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::browse::words_that_count;

    #[test]
    fn a_line_becomes_a_definition() {
        let parts = [
            "Say it.",
            "text!: Words",
            "times integer: How often",
            "tone [warm|cool]: How",
            "to string[]: Whom",
            "@read",
        ];
        let tool = definition("say", &parts.map(str::to_owned)).unwrap();
        assert_eq!(
            tool,
            json!({
                "name": "say",
                "description": "Say it.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "description": "Words"},
                        "times": {"type": "integer", "description": "How often"},
                        "tone": {"type": "string", "enum": ["warm", "cool"], "description": "How"},
                        "to": {"type": "array", "items": {"type": "string"}, "description": "Whom"},
                    },
                    "required": ["text"],
                },
                "annotations": {"readOnlyHint": true},
            })
        );
        for wrong in ["no colon", "n decimal: What", "!: Nameless", "@write"] {
            assert!(
                definition("say", &["Say it.".to_owned(), wrong.to_owned()]).is_err(),
                "{wrong}"
            );
        }
        assert!(definition("say", &[]).is_err());
    }

    /// What the figures mean depends on this: enough tools, names that several servers use, and queries in other words.
    #[test]
    fn the_data_is_as_large_and_as_hard_as_it_says() {
        let sources = sources().unwrap();
        let mut text_of = BTreeMap::new();
        let mut servers_by_name: BTreeMap<String, usize> = BTreeMap::new();
        for source in &sources {
            for tool in &source.tools {
                let (name, description) = (tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap());
                text_of.insert(format!("{}.{name}", source.server), format!("{name} {description}"));
                *servers_by_name.entry(name.to_owned()).or_default() += 1;
            }
        }
        assert!(
            sources.len() >= 30 && text_of.len() >= 300,
            "{} tools of {} servers",
            text_of.len(),
            sources.len()
        );
        assert!(servers_by_name["search_issues"] >= 5);
        assert!(servers_by_name.values().filter(|servers| **servers > 1).count() >= 20);

        let Queries { tuning, held_out } = queries().unwrap();
        assert!(
            tuning.len() >= 75 && held_out.len() >= 75,
            "{} and {}",
            tuning.len(),
            held_out.len()
        );
        for half in [&tuning, &held_out] {
            let other_words = half.iter().filter(|query| {
                let asked: BTreeSet<String> = words_that_count(&query.query).into_iter().collect();
                query.expected.iter().all(|tool| {
                    let text = text_of
                        .get(tool)
                        .unwrap_or_else(|| panic!("`{}`: no tool `{tool}`", query.query));
                    words_that_count(text).iter().all(|word| !asked.contains(word))
                })
            });
            let count = other_words.count();
            assert!(count * 3 >= half.len(), "{count} of {} are in other words", half.len());
        }
        assert!(
            tuning
                .iter()
                .all(|query| held_out.iter().all(|other| other.query != query.query))
        );
    }
}
