//! `lacon bench server`: what an agent waits and pays for, measured through the real server: start, memory, latency per tool over
//! stdio, tokens of every answer next to compact JSON, and many HTTP sessions at once.

mod load;
mod questions;
pub(super) mod stdio;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use comfy_table::{CellAlignment, Table};
use index::build::{Indexer, Options};
use index::snapshot::Snapshot;
use index::store::Location;
use serde::Serialize;
use serde_json::{Value, json};
use terminal::failure::Failure;
use terminal::output::Output;
use terminal::usage::size;
use wire::tokens::Tokenizer;

use self::load::{Call, Load};
use self::questions::{Question, many_callers, questions, samples};
use self::stdio::{Client, Follows, heap, resident, text};
use super::context::read_pack;

/// Measure the server: start, memory, latency, tokens, load
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench server ~/src/django ~/src/consul
  lacon bench server ~/src/linux --load-calls 0 --json
  lacon bench server ~/src/django --load

A tree without an index is indexed first, which is not measured. Tools that write or that wait for a language server are left out.")]
pub(crate) struct Args {
    /// The trees
    #[arg(value_name = "DIR", required = true)]
    roots: Vec<PathBuf>,

    /// Symbols asked about, evenly spread over each tree
    #[arg(long, value_name = "N", default_value_t = 60)]
    symbols: usize,

    /// Timed calls per tool
    #[arg(long, value_name = "N", default_value_t = 300)]
    calls: usize,

    /// Only these tools, separated by commas
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    tools: Vec<String>,

    /// Seconds that one tool is timed at most
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    seconds: u64,

    /// Leave start, memory, latency and tokens out: only the load
    #[arg(long)]
    load: bool,

    /// HTTP sessions at once
    #[arg(long, value_name = "N", default_value_t = 100)]
    sessions: usize,

    /// Calls of all sessions together, after as many to warm up as every question takes; 0 leaves the load out
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    load_calls: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Everything measured.
#[derive(Serialize)]
struct Measured {
    trees: Vec<TreeMeasured>,
    /// Over all answers of all trees.
    tokens: Tokens,
}

#[derive(Serialize, Default)]
struct TreeMeasured {
    root: String,
    files: usize,
    lines: u64,
    symbols: usize,
    edges: usize,
    /// From the start of the process to the answer of its first question, median of five.
    first_answer_milliseconds: f64,
    /// Resident after the first answer, and after all questions were asked as often as they were timed.
    resident_bytes: [u64; 2],
    /// The part of the last that no file backs: what is mapped from the index can be dropped and read again.
    heap_bytes: u64,
    /// The same two of a server that keeps the index up to date, as it does unless told otherwise: the time to its first answer,
    /// and resident once it follows changes.
    following_first_answer_milliseconds: f64,
    following_resident_bytes: u64,
    tools_list_tokens: usize,
    /// Answers to "who calls X" for functions with 33 to 38 direct callers: their tokens, fewest first.
    who_calls_tokens: Vec<usize>,
    tools: Vec<ToolMeasured>,
    left_out: Vec<&'static str>,
    load: Option<Load>,
    #[serde(skip)]
    savings: Vec<(f64, String)>,
}

#[derive(Serialize)]
struct ToolMeasured {
    tool: &'static str,
    calls: usize,
    /// Calls that were refused, such as a symbol without a source.
    refused: usize,
    milliseconds: Times,
    /// Resident after its calls, which come after those of the tools before it.
    resident_bytes: u64,
    tokens: Tokens,
}

/// Times in milliseconds.
#[derive(Serialize, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) p50: f64,
    pub(super) p99: f64,
    max: f64,
}

impl Times {
    pub(super) fn of(times: &mut [Duration]) -> Times {
        times.sort_unstable();
        let at = |share: f64| {
            let number = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len().max(1)) - 1;
            times.get(number).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        Times {
            p50: at(0.5),
            p99: at(0.99),
            max: at(1.0),
        }
    }
}

/// Tokens of answers next to compact JSON of the same facts (o200k).
#[derive(Serialize, Clone, Default)]
struct Tokens {
    answers: usize,
    auto: usize,
    json: usize,
    /// Share of JSON's tokens that is saved, in the middle of the answers.
    median_saving: f64,
    /// The least that was saved; below zero an answer is larger than JSON.
    worst_saving: f64,
    /// The answer that saved least.
    worst: String,
}

impl Tokens {
    fn of(savings: &[(f64, String)], auto: usize, json: usize) -> Tokens {
        let mut sorted: Vec<&(f64, String)> = savings.iter().collect();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        Tokens {
            answers: savings.len(),
            auto,
            json,
            median_saving: sorted.get(sorted.len() / 2).map_or(0.0, |saving| saving.0),
            worst_saving: sorted.first().map_or(0.0, |saving| saving.0),
            worst: sorted.first().map_or(String::new(), |saving| saving.1.clone()),
        }
    }
}

/// Longest that the answers of one tool are weighed.
const MOST_WEIGHING: Duration = Duration::from_secs(10);
/// Calls before the timed ones.
const WARM_UP: usize = 20;

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let mut trees = Vec::new();
    for root in &args.roots {
        trees.push(measure(root, &args).with_context(|| format!("`{}`", root.display()))?);
    }
    let savings: Vec<(f64, String)> = trees.iter().flat_map(|tree| tree.savings.clone()).collect();
    let sum = |of: fn(&Tokens) -> usize| -> usize {
        let tools = trees.iter().flat_map(|tree| &tree.tools);
        tools.map(|tool| of(&tool.tokens)).sum()
    };
    let tokens = Tokens::of(&savings, sum(|tokens| tokens.auto), sum(|tokens| tokens.json));
    let measured = Measured { trees, tokens };
    match args.json {
        true => output.json(&measured)?,
        false => output.line(said(&measured)),
    }
    Ok(())
}

fn measure(root: &Path, args: &Args) -> anyhow::Result<TreeMeasured> {
    let location = Location::of(root, None)?;
    let snapshot = match Snapshot::open(&location.snapshot()) {
        Ok(snapshot) => snapshot,
        Err(_) => Indexer::open(root, Options::default())?.build()?.snapshot,
    };
    let samples = samples(&snapshot, args.symbols);
    let first = samples.first().context("nothing in it is used")?.id.clone();
    let (mut questions, left_out) = questions(&samples);
    questions.retain(|question| args.tools.is_empty() || args.tools.iter().any(|name| name == question.tool));
    let all = questions.iter().flat_map(|question| {
        // Analyses of the whole graph are asked as often as the rest, so that they do not drown it.
        question.calls.iter().take(20).map(|call| (question.tool, call.clone()))
    });
    let calls: Vec<Call> = all.collect();
    let mut measured = TreeMeasured {
        root: location.root.display().to_string(),
        files: snapshot.file_count(),
        lines: snapshot.totals().lines,
        symbols: snapshot.symbol_count(),
        edges: snapshot.edge_count(),
        left_out,
        ..TreeMeasured::default()
    };
    if !args.load {
        alone(root, &snapshot, &first, questions, args, &mut measured)?;
    }
    if args.load_calls > 0 {
        measured.load = Some(load::load(root, calls, args.sessions, args.load_calls)?);
    }
    Ok(measured)
}

/// What one client alone sees.
fn alone(
    root: &Path,
    snapshot: &Snapshot,
    first: &str,
    questions: Vec<Question>,
    args: &Args,
    measured: &mut TreeMeasured,
) -> anyhow::Result<()> {
    measured.first_answer_milliseconds = first_answer(root, first, Follows::Nothing)?;
    measured.following_first_answer_milliseconds = first_answer(root, first, Follows::Changes)?;
    measured.following_resident_bytes = following(root, first)?;

    let mut client = Client::start(root, Follows::Nothing)?;
    client.call("get_callers", &json!({"id": first}))?;
    let at_first = resident(client.process());
    let listed = client.request("tools/list", &json!({}))?.result;
    measured.tools_list_tokens = Tokenizer::O200k.count(&json!({"tools": listed["tools"]}).to_string());
    let mut timed_tools = Vec::new();
    for question in questions {
        let milliseconds = timed(&mut client, &question, args)?;
        timed_tools.push((question, milliseconds, resident(client.process())));
    }
    // What is free is given back a moment after the last answer.
    std::thread::sleep(Duration::from_secs(1));
    measured.resident_bytes = [at_first, resident(client.process())];
    measured.heap_bytes = heap(client.process());

    // Another server weighs: answers without a limit are no part of what is measured above.
    let mut client = Client::start(root, Follows::Nothing)?;
    for symbol in many_callers(snapshot) {
        let (text, is_refusal) = text(&client.call("get_callers", &json!({"id": symbol, "depth": 1}))?.result);
        measured
            .who_calls_tokens
            .extend((!is_refusal).then(|| Tokenizer::O200k.count(&text)));
    }
    measured.who_calls_tokens.sort_unstable();
    for (question, milliseconds, resident_bytes) in timed_tools {
        let (tool, saved) = weighed(&mut client, &question, milliseconds, resident_bytes)?;
        measured.tools.push(tool);
        measured.savings.extend(saved);
    }
    Ok(())
}

fn first_answer(root: &Path, symbol: &str, follows: Follows) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        let mut client = Client::start(root, follows)?;
        client.call("get_callers", &json!({"id": symbol}))?;
        times.push(began.elapsed());
    }
    Ok(Times::of(&mut times).p50)
}

/// Resident memory of a server that has looked at the whole tree and follows its changes.
fn following(root: &Path, symbol: &str) -> anyhow::Result<u64> {
    let mut client = Client::start(root, Follows::Changes)?;
    let limit = Instant::now() + Duration::from_secs(120);
    loop {
        let (answer, _) = text(
            &client
                .call("get_callers", &json!({"id": symbol, "format": "json"}))?
                .result,
        );
        if !answer.contains("\"incomplete\"") || Instant::now() > limit {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    // What it prepares for the first edit comes after that.
    std::thread::sleep(Duration::from_secs(5));
    Ok(resident(client.process()))
}

/// Times calls after some to warm up, for as long as one tool may take: an analysis of a whole graph need not run hundreds of times.
fn timed(client: &mut Client, question: &Question, args: &Args) -> anyhow::Result<Times> {
    let limit = Duration::from_secs(args.seconds.max(1));
    let began = Instant::now();
    let mut times = Vec::with_capacity(args.calls);
    for (number, arguments) in question.calls.iter().cycle().take(WARM_UP + args.calls).enumerate() {
        let time = client.call(question.tool, arguments)?.time;
        if number >= WARM_UP || began.elapsed() > limit {
            times.push(time);
        }
        if began.elapsed() > limit && times.len() > 1 {
            break;
        }
    }
    Ok(Times::of(&mut times))
}

/// Asks each question once as `auto` and once as JSON, without a limit, so that both say the same. A tool that fills a budget is
/// asked as users do; what its answer would take as JSON is told by reading it.
fn weighed(
    client: &mut Client,
    question: &Question,
    milliseconds: Times,
    resident_bytes: u64,
) -> anyhow::Result<(ToolMeasured, Vec<(f64, String)>)> {
    let (mut auto_sum, mut json_sum, mut refused) = (0, 0, 0);
    let mut savings = Vec::new();
    let began = Instant::now();
    for arguments in &question.calls {
        if began.elapsed() > MOST_WEIGHING {
            break;
        }
        let mut ask = |format: &str| -> anyhow::Result<Option<Value>> {
            let mut arguments: Value = arguments.clone();
            arguments["format"] = json!(format);
            if !question.fills_budget {
                arguments["max_tokens"] = json!(u32::MAX);
            }
            let result = client.call(question.tool, &arguments)?.result;
            Ok((result["isError"] != json!(true)).then_some(result))
        };
        let auto = ask("auto")?;
        let json = match &auto {
            Some(answer) if question.fills_budget => Some(as_json(answer)?),
            _ => ask("json")?.map(|answer| text(&answer).0),
        };
        match (auto, json) {
            (Some(auto), Some(json)) => {
                let auto = Tokenizer::O200k.count(&text(&auto).0);
                let json = Tokenizer::O200k.count(&json);
                auto_sum += auto;
                json_sum += json;
                let saving = 1.0 - auto as f64 / json.max(1) as f64;
                savings.push((saving, format!("{} {arguments}", question.tool)));
            }
            _ => refused += 1,
        }
    }
    let measured = ToolMeasured {
        tool: question.tool,
        calls: question.calls.len(),
        refused,
        milliseconds,
        resident_bytes,
        tokens: Tokens::of(&savings, auto_sum, json_sum),
    };
    Ok((measured, savings))
}

/// What an answer says, as compact JSON.
fn as_json(answer: &Value) -> anyhow::Result<String> {
    let (said, _) = text(answer);
    if !said.starts_with("GCF profile=graph") {
        return Ok(said);
    }
    let blocks = answer["content"].as_array().into_iter().flatten();
    let texts: Vec<String> = blocks
        .filter_map(|block| Some(block["text"].as_str()?.to_owned()))
        .collect();
    Ok(serde_json::to_string(&read_pack(&texts)?)?)
}

fn said(measured: &Measured) -> String {
    let mut text = String::new();
    for tree in &measured.trees {
        text.push_str(&format!(
            "{}: {} files, {} lines, {} symbols, {} edges\n\
             start to first answer {:.0} ms; resident {} after it, {} after all ({} without what is mapped)\n\
             following changes: {:.0} ms, {}; tools/list {} tokens\n\
             who calls one with 33 to 38 callers: {} tokens\n",
            tree.root,
            tree.files,
            tree.lines,
            tree.symbols,
            tree.edges,
            tree.first_answer_milliseconds,
            size(tree.resident_bytes[0]),
            size(tree.resident_bytes[1]),
            size(tree.heap_bytes),
            tree.following_first_answer_milliseconds,
            size(tree.following_resident_bytes),
            tree.tools_list_tokens,
            tree.who_calls_tokens
                .iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        ));
        text.push_str(&tools_table(&tree.tools));
        text.push_str(&format!("\nleft out: {}\n", tree.left_out.join(", ")));
        if let Some(load) = &tree.load {
            text.push_str(&format!(
                "load: {} sessions, {} calls, {} errors{}, {:.0} calls/s, p50 {:.1} ms, p99 {:.1} ms\n\
                 resident after the warm-up and each tenth: {} ({:+.1} %, in the last half {:+.1} %); without what is mapped: {}\n",
                load.sessions,
                load.calls,
                load.errors,
                load.first_error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default(),
                load.calls_per_second,
                load.milliseconds.p50,
                load.milliseconds.p99,
                sizes(&load.resident_bytes),
                load.growth * 100.0,
                load.late_growth * 100.0,
                sizes(&load.heap_bytes)
            ));
        }
        text.push('\n');
    }
    let tokens = &measured.tokens;
    text.push_str(&format!(
        "tokens of {} answers next to compact JSON: median {:+.1} %, worst {:+.1} % ({}), {} instead of {}",
        tokens.answers,
        -tokens.median_saving * 100.0,
        -tokens.worst_saving * 100.0,
        tokens.worst,
        tokens.auto,
        tokens.json
    ));
    text
}

fn sizes(bytes: &[u64]) -> String {
    bytes.iter().map(|bytes| size(*bytes)).collect::<Vec<_>>().join(", ")
}

fn tools_table(tools: &[ToolMeasured]) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header([
        "tool", "p50 ms", "p99 ms", "max ms", "resident", "answers", "refused", "tokens", "vs JSON", "worst",
    ]);
    for tool in tools {
        let percent = |saving: f64| match tool.tokens.answers {
            0 => String::new(),
            _ => format!("{:+.0} %", -saving * 100.0),
        };
        table.add_row([
            tool.tool.to_string(),
            format!("{:.2}", tool.milliseconds.p50),
            format!("{:.2}", tool.milliseconds.p99),
            format!("{:.2}", tool.milliseconds.max),
            size(tool.resident_bytes),
            tool.tokens.answers.to_string(),
            tool.refused.to_string(),
            tool.tokens.auto.to_string(),
            percent(tool.tokens.median_saving),
            percent(tool.tokens.worst_saving),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}
