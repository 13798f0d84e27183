//! The rules of identity, paths, cards, selection, arguments, errors and controls, as vectors: an input and what the rules make of it.
//!
//! Ours are in `fixtures/vectors`, a line each with the reason for it; what another implementation of the same rules answered is
//! run in addition where `LACON_SHARED` names it. A vector of an unknown category fails: none is skipped.

#![expect(clippy::unwrap_used, reason = "a failed setup is a failed test")]

use std::collections::BTreeMap;
use std::path::Path;

use gateway::browse::parse_path_value;
use gateway::card::{self, ChoiceCard, HARD_CAP_TOKENS, truncate_description};
use gateway::controls::{Counting, MetaTool, Quota, RateLimiter, RateLimits, RetryPolicy, cache_key};
use gateway::errors::{ErrorCode, Failure, GatewayError, classify, redact_detail};
use gateway::identity::{
    PrimitiveKind, ToolIdParts, canonical_shape, canonical_tool_id, derive_name, format_primitive_id, format_tool_id,
    hash8, parse_primitive_id, parse_tool_id, prompt_id, resolve_collisions, resource_id, tool_id,
};
use gateway::schema::normalize_arguments;
use gateway::selection::{Provider, Repair, selection_schema, validate_selection};
use gateway::spec::{PromptSpec, ResourceSpec, ToolSpec};
use gateway::tokens;
use serde_json::{Value, json};

/// The categories, with how many vectors of each there are at least.
const CATEGORIES: [(&str, usize); 22] = [
    ("cache_key", 6),
    ("card", 16),
    ("classify_upstream", 25),
    ("error_object", 17),
    ("format_tool_id", 10),
    ("hash8", 10),
    ("infer_namespace", 21),
    ("normalize_args", 56),
    ("order", 6),
    ("parse_path", 53),
    ("parse_primitive_id", 13),
    ("parse_tool_id", 41),
    ("prompt_id", 7),
    ("rate_limit", 13),
    ("redact_detail", 9),
    ("resolve_collisions", 5),
    ("resource_id", 13),
    ("retry_backoff", 19),
    ("selection_schema", 6),
    ("tool_id", 81),
    ("truncate_description", 22),
    ("validate_selection", 20),
];

#[test]
fn the_rules_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/vectors");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let mut failures = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        for (number, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            let vector: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            let category = vector["category"].as_str().unwrap();
            *counts.entry(category.to_owned()).or_default() += 1;
            let found = run(category, &vector["input"], &Value::Null);
            let passed = match (&found, vector.get("value"), vector["refused"].as_str()) {
                (Ok(value), Some(expected), None) => value == expected,
                (Err(message), None, Some(part)) => {
                    part.is_empty() || message.contains(&format!("{part} does not match"))
                }
                _ => false,
            };
            if !passed {
                let name = file.file_name().unwrap().display();
                failures.push(format!("{name}:{}: found {found:?} for\n  {line}", number + 1));
            }
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    let counts: Vec<(&str, usize)> = counts
        .iter()
        .map(|(category, count)| (category.as_str(), *count))
        .collect();
    for ((category, count), (known, least)) in counts.iter().zip(CATEGORIES) {
        assert!(*category == known && *count >= least, "{count} vectors of {category}");
    }
    assert_eq!(counts.len(), CATEGORIES.len());
}

#[test]
fn another_implementation_agrees() {
    let Some(path) = testkit::shared("conformance/gateway/vectors.json") else {
        return;
    };
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    let mut failures = Vec::new();
    for vector in vectors {
        let found = run(
            vector["category"].as_str().unwrap(),
            &vector["input"],
            &file["meta"]["schema_refs"],
        );
        let expected = &vector["expected"];
        let passed = match &found {
            Ok(value) => expected["ok"] == true && *value == expected["value"],
            Err(message) => expected["ok"] == false && same_complaint(message, expected["message"].as_str().unwrap()),
        };
        if !passed {
            failures.push(format!("{}: expected {expected}, found {found:?}", vector["id"]));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} fail:\n{}",
        failures.len(),
        vectors.len(),
        failures.join("\n")
    );
    assert_eq!(vectors.len(), 284);
}

/// Messages are worded differently, but an id must be refused for the same part.
fn same_complaint(ours: &str, theirs: &str) -> bool {
    let part = [
        "namespace not matching",
        "name not matching",
        "version not matching",
        "hash8 not matching",
    ]
    .into_iter()
    .find(|phrase| theirs.contains(phrase));
    part.is_none_or(|phrase| ours.contains(&phrase.replace("not matching", "does not match")))
}

fn run(category: &str, input: &Value, schemas: &Value) -> Result<Value, String> {
    match category {
        "tool_id" => strict_tool(input),
        "infer_namespace" => {
            let derived = derive_name(text(input)?);
            Ok(json!({"namespace": derived.namespace, "derived_name": derived.name}))
        }
        "hash8" => {
            let shape = canonical_shape(Some(&input["input_schema"])).map_err(said)?;
            let hash = hash8(text(&input["upstream_name"])?, &shape);
            Ok(json!({"canonical_shape": shape, "hash8": hash}))
        }
        "parse_tool_id" => {
            let parts = parse_tool_id(text(input)?).map_err(said)?;
            let roundtrip = format_tool_id(&parts).map_err(said)? == text(input)?;
            Ok(json!({
                "namespace": parts.namespace, "name": parts.name, "version": parts.version, "hash8": parts.hash8,
                "roundtrip": roundtrip,
            }))
        }
        "format_tool_id" => {
            let optional = |key: &str| input[key].as_str().map(str::to_owned);
            let parts = ToolIdParts {
                namespace: text(&input["namespace"])?.to_owned(),
                name: text(&input["name"])?.to_owned(),
                version: optional("version"),
                hash8: optional("hash8"),
            };
            format_tool_id(&parts).map(Value::from).map_err(said)
        }
        "parse_path" => parse_path_value(input).map(|segments| json!(segments)).map_err(said),
        "truncate_description" => {
            let before = text(&input["text"])?;
            let output = truncate_description(before, input["max_tokens"].as_i64().unwrap());
            let (output_tokens, input_tokens) = (tokens::count(&output), tokens::count(before));
            Ok(json!({"output": output, "output_tokens": output_tokens, "input_tokens": input_tokens}))
        }
        "resource_id" => {
            let spec = ResourceSpec::from_definition("", input.clone()).map_err(said)?;
            let id = resource_id(&spec);
            let (_, parts) = parse_primitive_id(&id).map_err(said)?;
            let source = json!({"resources": [input]});
            let entry = only_entry(source, |catalog| catalog.resources().entries()[0].clone());
            assert_eq!(entry.id, id);
            Ok(json!({
                "id": id, "namespace": parts.namespace, "name": entry.name, "description": entry.description,
                "tags": entry.tags,
            }))
        }
        "prompt_id" => {
            let spec = PromptSpec::from_definition("", input.clone()).map_err(said)?;
            let id = prompt_id(&spec);
            let (_, parts) = parse_primitive_id(&id).map_err(said)?;
            Ok(json!({"id": id, "namespace": parts.namespace, "args_schema": spec.arguments_schema()}))
        }
        "parse_primitive_id" => {
            let (kind, parts) = parse_primitive_id(text(input)?).map_err(said)?;
            assert_eq!(format_primitive_id(kind, &parts).unwrap(), text(input)?);
            let kind = match kind {
                PrimitiveKind::Tool => "tool",
                PrimitiveKind::Resource => "resource",
                PrimitiveKind::Prompt => "prompt",
            };
            Ok(json!({"kind": kind, "namespace": parts.namespace, "name": parts.name, "hash8": parts.hash8}))
        }
        "resolve_collisions" => {
            let keys = resolve_collisions(&texts(input));
            Ok(keys
                .into_iter()
                .enumerate()
                .map(|(index, key)| (index.to_string(), Value::from(key)))
                .collect())
        }
        "validate_selection" => {
            let repair = if input["repair"] == true {
                Repair::Full
            } else {
                Repair::StripOnly
            };
            let validation = validate_selection(text(&input["selected"])?, &texts(&input["candidates"]), repair);
            Ok(serde_json::to_value(validation).unwrap())
        }
        "selection_schema" => {
            let provider = match input["provider"].as_str() {
                None => Provider::JsonSchema,
                Some("anthropic") => Provider::Anthropic,
                Some("openai") => Provider::OpenAi,
                Some(other) => return Err(format!("unknown provider {other}")),
            };
            selection_schema(&texts(&input["candidates"]), provider).map_err(said)
        }
        "normalize_args" => {
            let schema = match input["schema_ref"].as_str() {
                Some(name) => Some(&schemas[name]),
                None => Some(&input["schema"]).filter(|schema| !schema.is_null()),
            };
            let (arguments, repairs) = normalize_arguments(input["args"].clone(), schema);
            Ok(json!({"args": arguments, "repairs": repairs}))
        }
        "classify_upstream" => {
            let failure = match text(&input["exception"])? {
                "TimeoutError" => Failure::Timeout,
                "ConnectionError" | "ConnectionResetError" => Failure::Connection,
                _ => Failure::Text,
            };
            let code = classify(failure, text(&input["message"])?);
            Ok(json!({"code": code.as_str(), "retryable": code.retryable()}))
        }
        "redact_detail" => Ok(redact_detail(text(&input["text"])?, input["max_len"].as_u64().unwrap() as usize).into()),
        "retry_backoff" => {
            let policy: RetryPolicy = serde_json::from_value(input["policy"].clone()).map_err(said)?;
            match policy.problem() {
                Some(problem) => Err(problem.to_owned()),
                None => {
                    let index = input["attempt_index"].as_u64().unwrap() as u32;
                    Ok(policy.delay(index, input["jitter_fraction"].as_f64().unwrap()).into())
                }
            }
        }
        "rate_limit" => rate_limit(input),
        "card" => {
            let file = json!({"tools": [input]});
            let card = only_entry(file, |catalog| {
                catalog.tools().entries()[0].card(HARD_CAP_TOKENS).clone()
            });
            Ok(serde_json::to_value(card).unwrap())
        }
        "order" => {
            let offered = input.as_array().unwrap().iter().map(|card| ChoiceCard {
                id: card[0].as_str().unwrap().to_owned(),
                score: card[1].as_f64(),
                ..ChoiceCard::default()
            });
            let mut cards: Vec<ChoiceCard> = offered.collect();
            card::order(&mut cards);
            Ok(cards.into_iter().map(|card| card.id).collect())
        }
        "error_object" => {
            let code: ErrorCode = serde_json::from_value(input["code"].clone()).unwrap();
            let mut error = GatewayError::new(code, text(&input["message"])?);
            if let Some(path) = input["path"].as_str() {
                error = error.with_path(path);
            }
            for (key, value) in input["details"].as_object().into_iter().flatten() {
                error = error.with_detail(key, value.clone());
            }
            Ok(error.to_json())
        }
        "cache_key" => Ok(cache_key(text(&input["tool_id"])?, &input["args"]).into()),
        other => Err(format!("no runner for the category {other}")),
    }
}

/// The strict reading of a definition: what every implementation of the grammar agrees on. This crate keeps the tools
/// that it refuses, under ids checked here to be well-formed.
fn strict_tool(input: &Value) -> Result<Value, String> {
    let spec = ToolSpec::from_definition("", input.clone()).map_err(said)?;
    parse_tool_id(&tool_id(&spec)).unwrap();
    if spec.description.is_empty() {
        return Err("no description".to_owned());
    }
    let id = canonical_tool_id(&spec).map_err(said)?;
    assert_eq!(tool_id(&spec), id, "an id the grammar accepts is never changed");
    Ok(json!({
        "tool_id": id, "namespace": parse_tool_id(&id).unwrap().namespace, "name": spec.name, "tags": spec.all_tags(),
        "side_effects": spec.side_effects(), "cost_hint": spec.annotations.cost.unwrap_or(0.0),
    }))
}

fn rate_limit(input: &Value) -> Result<Value, String> {
    let limits: RateLimits = serde_json::from_value(input["config"].clone()).map_err(said)?;
    let mut limiter = RateLimiter::new(limits);
    let calls = input["calls"].as_array().unwrap().iter().map(|call| {
        let meta_tool: MetaTool = serde_json::from_value(call[1].clone()).unwrap();
        let counting = if call[3] == true {
            Counting::Consume
        } else {
            Counting::Peek
        };
        match limiter.check(call[0].as_f64().unwrap(), meta_tool, call[2].as_str(), counting) {
            Quota::Allowed => json!({"allowed": true, "retry_after": null, "scope": ""}),
            Quota::Exceeded { scope, retry_after } => {
                json!({"allowed": false, "retry_after": retry_after, "scope": scope})
            }
        }
    });
    Ok(calls.collect())
}

fn only_entry<T>(file: Value, pick: impl Fn(&gateway::catalog::Catalog) -> T) -> T {
    let source = gateway::catalog::source_from_file(file);
    pick(&gateway::catalog::Catalog::build(vec![source], &Default::default(), None).unwrap())
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("{value} is not text"))
}

fn texts(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item.as_str().unwrap())
        .collect()
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
