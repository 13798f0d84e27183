//! `lacon bench session`: a scripted exploration of a real repository, call by call: what is sent in a conversation, what the
//! same facts cost as compact and as indented JSON, and what would be sent without a conversation.
//!
//! The script starts at the symbol that most of the code goes through, so it is the same for everyone and tuned to nothing.

use std::path::PathBuf;

use anyhow::anyhow;
use serde_json::{Map, Value, json};
use server::tools::answer::answer;
use server::tools::failure;
use server::tools::trees::Trees;
use server::tools::{self, Desk, Services, Wish};
use terminal::failure::Failure;
use terminal::output::Output;
use wire::Format;
use wire::session::SessionReader;
use wire::tokens::Tokenizer;

/// Tokens of a scripted exploration in one conversation
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The root of a tree that is indexed
    #[arg(default_value = ".", value_name = "DIR")]
    root: PathBuf,

    /// Where the index is kept, if not in `.lacon` inside the tree
    #[arg(long, value_name = "DIR", env = "LACON_DIR")]
    index_dir: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Where the long exploration ends.
const CALLS: usize = 20;
/// What is read where the short one ends.
const SHORT: usize = 5;
/// Large enough that no answer is cut: the same facts in every form.
const MOST_TOKENS: u64 = 200_000;

#[derive(Default, Clone, Copy)]
struct Cost {
    sent: usize,
    alone: usize,
    json: usize,
    indented: usize,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let trees = Trees::open(&[args.root], args.index_dir.as_deref())?;
    let workspace = trees.workspace().map_err(failure)?;
    let services = Services::default();
    let conversation = services.memory.conversation("bench");
    let alone = Desk {
        workspace: &workspace,
        services: &services,
        caller: "bench",
        wish: Wish::default(),
    };
    let together = Desk {
        wish: Wish::in_conversation(Some(&conversation)),
        ..alone
    };
    let ask = |desk: &Desk, tool: &str, arguments: &Value, format: Format| {
        let tool = tools::find(tool).ok_or_else(|| anyhow!("no tool `{tool}`"))?;
        let mut arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        arguments.insert("max_tokens".into(), MOST_TOKENS.into());
        answer(tool, desk, arguments, format).map_err(failure)
    };
    let count = |text: &str| Tokenizer::O200k.count(text);
    let mut reader = SessionReader::new();
    let mut sum = Cost::default();
    let mut rows: Vec<Value> = Vec::new();
    for (tool, arguments) in script(|tool, arguments| {
        let said = ask(&alone, tool, arguments, Format::Json)?;
        Ok(serde_json::from_str(&said.text)?)
    })? {
        let json = ask(&alone, tool, &arguments, Format::Json)?.text;
        let value: Value = serde_json::from_str(&json)?;
        let plain = ask(&alone, tool, &arguments, Format::Auto)?;
        let said = ask(&together, tool, &arguments, Format::Auto)?;
        // The reader has only what was sent; if it cannot give the answer back, the figure is worth nothing.
        let read = reader.read(&said.text).map_err(|error| anyhow!("{tool}: {error}"))?;
        if !wire::same(&read, &value) {
            return Err(anyhow!("{tool}: what the client reads is not what was said").into());
        }
        let cost = Cost {
            sent: count(&said.text) + said.note.as_deref().map_or(0, count),
            alone: count(&plain.text) + plain.note.as_deref().map_or(0, count),
            json: count(&json),
            indented: count(&serde_json::to_string_pretty(&value)?),
        };
        sum.sent += cost.sent;
        sum.alone += cost.alone;
        sum.json += cost.json;
        sum.indented += cost.indented;
        rows.push(row(rows.len() + 1, tool, &arguments, cost, sum));
    }
    if args.json {
        return output.json(&rows);
    }
    output.line(format!(
        "{:>4} {:<22}{:>8}{:>8}{:>8}{:>10}{:>12}{:>12}",
        "call", "tool", "sent", "alone", "JSON", "indented", "of JSON", "of indented"
    ));
    for row in &rows {
        // A JSON value does not keep to a width.
        let cell = |name: &str| row[name].to_string();
        output.line(format!(
            "{:>4} {:<22}{:>8}{:>8}{:>8}{:>10}{:>11}%{:>11}%",
            cell("call"),
            row["tool"].as_str().unwrap_or_default(),
            cell("sent"),
            cell("alone"),
            cell("json"),
            cell("indented"),
            cell("fewer_than_json"),
            cell("fewer_than_indented")
        ));
    }
    output.line(format!(
        "cumulative after {SHORT} and {} calls: fewer tokens than the same facts as JSON, in percent",
        rows.len()
    ));
    Ok(())
}

fn row(call: usize, tool: &str, arguments: &Value, cost: Cost, sum: Cost) -> Value {
    let fewer = |of: usize| ((1.0 - sum.sent as f64 / of.max(1) as f64) * 1000.0).round() / 10.0;
    json!({
        "call": call, "tool": tool, "arguments": arguments, "sent": cost.sent, "alone": cost.alone, "json": cost.json,
        "indented": cost.indented, "sum_sent": sum.sent, "sum_json": sum.json, "sum_indented": sum.indented,
        "fewer_than_json": fewer(sum.json), "fewer_than_indented": fewer(sum.indented),
    })
}

/// The calls of someone who has to change a central function: find it, see what uses it and what it uses, then the same for
/// what stands next to it.
fn script(mut ask: impl FnMut(&str, &Value) -> Result<Value, Failure>) -> Result<Vec<(&'static str, Value)>, Failure> {
    let hottest = ask("analyze", &json!({"kind": "hotspots", "limit": 1}))?;
    let start = &hottest["symbols"][0];
    let (Some(id), Some(name), Some(path)) = (start["id"].as_str(), start["name"].as_str(), start["path"].as_str())
    else {
        return Err(anyhow!("no symbol of this tree stands out: nothing to explore").into());
    };
    let mut calls = vec![
        ("search_symbols", json!({"query": name})),
        ("get_callers", json!({"id": id, "depth": 1})),
        ("find_usages", json!({"id": id})),
        ("get_dependents", json!({"id": id, "depth": 1})),
        ("get_editing_context", json!({"id": id})),
        ("get_call_chain", json!({"id": id, "depth": 2})),
        ("get_dependencies", json!({"id": id, "depth": 1})),
        ("get_file_summary", json!({"path": path})),
    ];
    let callers = ask("get_callers", &json!({"id": id, "depth": 1}))?;
    let around: Vec<String> = callers["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .skip(1)
        .filter_map(|node| Some(node["id"].as_str()?.to_string()))
        .collect();
    for next in &around {
        if calls.len() >= CALLS {
            break;
        }
        calls.push(("get_callers", json!({"id": next, "depth": 2})));
        calls.push(("get_editing_context", json!({"id": next})));
        calls.push(("get_dependencies", json!({"id": next, "depth": 1})));
    }
    calls.truncate(CALLS);
    Ok(calls)
}
