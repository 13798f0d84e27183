//! What is asked: every tool that answers from the index, about symbols spread evenly over a repository.

use std::collections::BTreeSet;

use index::model::EdgeKind;
use index::snapshot::{EdgeKinds, Snapshot, SymbolView};
use serde_json::{Map, Value, json};
use server::tools::{self, Toolset};

/// A symbol to ask about.
pub(super) struct Sample {
    pub(super) id: String,
    name: String,
    path: String,
}

/// A tool and the arguments of each call, or why it is not asked.
pub(super) struct Question {
    pub(super) tool: &'static str,
    pub(super) calls: Vec<Value>,
    /// It puts in as much as fits.
    pub(super) fills_budget: bool,
}

/// Symbols that something uses, evenly spread.
pub(super) fn samples(snapshot: &Snapshot, count: usize) -> Vec<Sample> {
    let used: Vec<_> = snapshot
        .symbols()
        .filter(|symbol| symbol.id_string().contains("::"))
        .filter(|symbol| snapshot.incoming(symbol.id(), EdgeKinds::ALL).next().is_some())
        .collect();
    let step = (used.len() / count.max(1)).max(1);
    used.into_iter()
        .step_by(step)
        .take(count)
        .map(|symbol| Sample {
            id: symbol.id_string(),
            name: symbol.name().to_string(),
            path: symbol.path().to_string(),
        })
        .collect()
}

/// Functions and methods that 33 to 38 others call, as many as the one that peers show; a dozen of them, evenly spread.
pub(super) fn many_callers(snapshot: &Snapshot) -> Vec<String> {
    let callers = |symbol: &SymbolView<'_>| {
        let edges = snapshot.incoming(symbol.id(), EdgeKind::Calls);
        edges.map(|edge| edge.from).collect::<BTreeSet<_>>().len()
    };
    let found: Vec<String> = snapshot
        .symbols()
        .filter(|symbol| symbol.id_string().contains("::") && (33..=38).contains(&callers(symbol)))
        .map(|symbol| symbol.id_string())
        .collect();
    let step = (found.len() / 12).max(1);
    found.into_iter().step_by(step).take(12).collect()
}

/// The questions, and the tools that are not asked: those that write or that wait for a language server.
pub(super) fn questions(samples: &[Sample]) -> (Vec<Question>, Vec<&'static str>) {
    let mut asked = Vec::new();
    let mut left_out = Vec::new();
    for tool in tools::all() {
        let schema = tool.input_schema(false);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if tool.writes || matches!(tool.toolset, Toolset::Edit | Toolset::Lsp) {
            left_out.push(tool.name);
            continue;
        }
        let calls: Option<Vec<Value>> = match tool.name {
            "analyze" => Some(
                ["dead_code", "hotspots", "cycles"]
                    .map(|kind| json!({"kind": kind}))
                    .to_vec(),
            ),
            "session_reset" => None,
            _ if required.is_empty() && !has_property(&schema, "symbols") => Some(vec![json!({})]),
            _ if required.is_empty() => samples.iter().map(|sample| arguments(&["symbols"], sample)).collect(),
            _ => samples.iter().map(|sample| arguments(&required, sample)).collect(),
        };
        match calls {
            Some(calls) if !calls.is_empty() => asked.push(Question {
                tool: tool.name,
                calls,
                fills_budget: has_property(&schema, "budget"),
            }),
            _ => left_out.push(tool.name),
        }
    }
    (asked, left_out)
}

fn has_property(schema: &Map<String, Value>, name: &str) -> bool {
    schema
        .get("properties")
        .is_some_and(|properties| properties.get(name).is_some())
}

/// Arguments made from a sample by what they are called; `None` when one is not known.
fn arguments(required: &[&str], sample: &Sample) -> Option<Value> {
    let mut arguments = Map::new();
    for name in required {
        let value = match *name {
            "id" | "symbol" | "target" => json!(sample.id),
            "ids" | "symbols" => json!([sample.id]),
            "path" | "file" => json!(sample.path),
            "paths" | "files" => json!([sample.path]),
            "query" | "name" | "pattern" => json!(sample.name),
            "task" => json!(format!("change how {} works", sample.name)),
            "action" => json!("list"),
            _ => return None,
        };
        arguments.insert((*name).to_string(), value);
    }
    Some(Value::Object(arguments))
}
