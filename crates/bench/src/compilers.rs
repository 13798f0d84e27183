//! `lacon bench compilers`: what language servers answer through Lacon next to the same servers asked directly, and how many tokens
//! their answers take next to compact JSON of the same facts. Every difference is listed.

mod cold;
mod direct;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use comfy_table::{CellAlignment, Table};
use index::build::{Indexer, Options};
use index::snapshot::{EdgeKinds, Snapshot};
use index::store::Location;
use lsp::{Adapter, Encoding};
use serde::Serialize;
use serde_json::{Value, json};
use terminal::failure::Failure;
use terminal::output::Output;
use wire::tokens::Tokenizer;

use self::cold::Cold;
use self::direct::{Direct, Spot};
use super::server::Times;
use super::server::stdio::{Client, Follows, resident, text};

/// Compare answers of language servers through Lacon with their own, and count tokens
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench compilers ~/src/project
  lacon bench compilers ~/src/project --language go --symbols 100 --json

The server of the language with the most lines is asked, unless another language is named. A tree without an index is indexed first.
Asked directly, a server runs outside of the sandbox: the repository must be trusted (`lacon trust`).")]
pub(crate) struct Args {
    /// The trees
    #[arg(value_name = "DIR", required = true)]
    roots: Vec<PathBuf>,

    /// The language
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,

    /// Symbols asked about, evenly spread over each tree
    #[arg(long, value_name = "N", default_value_t = 40)]
    symbols: usize,

    /// Seconds to wait for a server to be ready
    #[arg(long, value_name = "N", default_value_t = 300)]
    seconds: u64,

    /// Only count tokens: do not ask the server directly
    #[arg(long)]
    tokens_only: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was measured on one tree.
#[derive(Serialize)]
struct Measured {
    root: String,
    language: String,
    server: String,
    symbols: usize,
    /// Questions before any server runs.
    cold: Cold,
    /// From the first question that waits to its answer.
    ready_seconds: f64,
    /// Mentions of a symbol, once the server is ready.
    warm_milliseconds: Times,
    references: Equality,
    definitions: Equality,
    tokens: Vec<Tokens>,
    /// Of Lacon's own process, at the end.
    resident_bytes: u64,
}

/// How many answers are the server's own.
#[derive(Serialize, Default)]
struct Equality {
    asked: usize,
    equal: usize,
    /// Answers that were not the server's at all.
    by_graph: usize,
    /// Answers that are the server's own inside of the tree, where it contradicts itself outside: started anew and asked the same
    /// directly, it says something else there.
    unsettled: usize,
    differences: Vec<Difference>,
}

#[derive(Serialize)]
struct Difference {
    of: String,
    only_lacon: Vec<String>,
    only_server: Vec<String>,
    note: String,
}

/// Tokens of one tool's answers (o200k), as they are sent and as compact JSON of the same facts.
#[derive(Serialize)]
struct Tokens {
    tool: &'static str,
    answers: usize,
    sent: usize,
    json: usize,
    /// Shares; none without answers.
    saved: Option<f64>,
    worst_saved: Option<f64>,
    worst: String,
}

/// One symbol, and what was answered about it through Lacon.
struct Asked {
    id: String,
    at: Spot,
    references: Answer,
    /// A mention elsewhere, and where that is defined.
    definition: Option<(Spot, Answer)>,
}

struct Answer {
    tier: String,
    note: String,
    places: BTreeSet<Spot>,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let mut trees = Vec::new();
    for root in &args.roots {
        let measured = measure(root, &args).with_context(|| format!("`{}`", root.display()))?;
        if !args.json {
            output.line(said(&measured));
        }
        trees.push(measured);
    }
    if args.json {
        output.json(&trees)?;
    }
    Ok(())
}

fn measure(root: &Path, args: &Args) -> Result<Measured> {
    let location = Location::of(root, None)?;
    let root = &location.root;
    let snapshot = match Snapshot::open(&location.snapshot()) {
        Ok(snapshot) => snapshot,
        Err(_) => Indexer::open(root, Options::default())?.build()?.snapshot,
    };
    let (language, adapter, command) = chosen(&snapshot, root, args.language.as_deref())?;
    let ids = samples(&snapshot, &language, args.symbols);
    let first = ids.first().context("nothing of this language is used")?;

    let question = |id: &str| json!({"symbol": id, "include_declaration": true, "limit": 1000, "format": "json"});
    let cold = cold::measure(root, &question(first))?;
    let mut client = Client::start(root, Follows::Nothing)?;
    let waiting = |mut question: Value| {
        question["wait"] = "lsp".into();
        question["max_wait_ms"] = (args.seconds * 1000).into();
        question["max_tokens"] = u32::MAX.into();
        question
    };
    let began = Instant::now();
    client.call("find_references", &waiting(question(first)))?;
    let ready_seconds = began.elapsed().as_secs_f64();

    let mut asked = Vec::new();
    let mut times: Vec<Duration> = Vec::new();
    for id in &ids {
        let answered = client.call("find_references", &waiting(question(id)))?;
        times.push(answered.time);
        let (said, is_refusal) = text(&answered.result);
        let value: Value = serde_json::from_str(&said).unwrap_or_default();
        if is_refusal {
            continue;
        }
        let Some(at) = value["of"].as_str().and_then(|of| spot_of(root, of)) else {
            continue;
        };
        let mut references = mentions(root, &value);
        // Long lists come in pages.
        let mut page = value.clone();
        while let Some(cursor) = page["next_cursor"].as_str() {
            let mut next = waiting(question(id));
            next["cursor"] = cursor.into();
            page = serde_json::from_str(&text(&client.call("find_references", &next)?.result).0).unwrap_or_default();
            references.places.extend(mentions(root, &page).places);
        }
        let elsewhere = references
            .places
            .iter()
            .find(|spot| **spot != at && spot.0.starts_with(root));
        let definition = match elsewhere {
            Some(spot) => {
                let answered = client.call("go_to_definition", &waiting(pointer(root, spot)))?;
                let value: Value = serde_json::from_str(&text(&answered.result).0).unwrap_or_default();
                Some((spot.clone(), targets(root, &value)))
            }
            None => None,
        };
        asked.push(Asked {
            id: id.clone(),
            at,
            references,
            definition,
        });
    }
    let tokens = weigh(&mut client, &ids, &waiting)?;
    let resident_bytes = resident(client.process());
    drop(client);

    let (mut references, mut definitions) = (Equality::default(), Equality::default());
    if !args.tokens_only {
        let folder = project(&adapter, root, &asked);
        let start = || -> Result<Direct> {
            let mut direct = Direct::start(&adapter, &command, &folder)?;
            settle(&mut direct, &asked, &language, Duration::from_secs(args.seconds))?;
            Ok(direct)
        };
        let mut twice = Twice::new(root, &start)?;
        for asked in &asked {
            let own = |direct: &mut Direct| direct.references(&asked.at, &language);
            references.compare(&asked.id, &asked.references, &mut twice, own)?;
            if let Some((spot, answer)) = &asked.definition {
                let of = shown(root, spot);
                definitions.compare(&of, answer, &mut twice, |direct| direct.definition(spot, &language))?;
            }
        }
    }
    Ok(Measured {
        root: root.display().to_string(),
        language,
        server: adapter.name,
        symbols: asked.len(),
        cold,
        ready_seconds,
        warm_milliseconds: Times::of(&mut times),
        references,
        definitions,
        tokens,
        resident_bytes,
    })
}

/// The language with the most lines whose server is here, and that server.
fn chosen(snapshot: &Snapshot, root: &Path, only: Option<&str>) -> Result<(String, Adapter, (PathBuf, Vec<String>))> {
    let config = server::tools::lsp::config();
    // Asked directly, a server has neither a sandbox nor settings that keep it from running the project's code.
    if !config.trust.covers(root) {
        bail!("untrusted: no server was asked; `lacon trust` or --trust allows it");
    }
    let mut languages: Vec<(u64, String)> = snapshot
        .languages()
        .map(|language| (language.lines(), language.name().to_string()))
        .filter(|(_, name)| only.is_none_or(|only| only == name))
        .collect();
    languages.sort_by(|one, other| other.cmp(one));
    for (_, language) in languages {
        for adapter in config.adapters(&language) {
            if let Some(command) = config.find(&adapter, root) {
                return Ok((language, adapter, command));
            }
        }
    }
    bail!("no language server for it is on PATH")
}

/// Functions, methods and types that something uses, evenly spread.
fn samples(snapshot: &Snapshot, language: &str, count: usize) -> Vec<String> {
    let used: Vec<String> = snapshot
        .symbols()
        .filter(|symbol| symbol.file().is_some_and(|file| file.language() == language))
        .filter(|symbol| {
            matches!(
                codeintel::kinds::kind(*symbol),
                "function" | "method" | "type" | "interface"
            )
        })
        .filter(|symbol| snapshot.incoming(symbol.id(), EdgeKinds::ALL).next().is_some())
        .map(|symbol| symbol.id_string())
        .collect();
    let step = (used.len() / count.max(1)).max(1);
    used.into_iter().step_by(step).take(count).collect()
}

/// The folder that the server is opened on, as Lacon does.
fn project(adapter: &Adapter, root: &Path, asked: &[Asked]) -> PathBuf {
    let file = asked.first().map(|asked| asked.at.0.as_path());
    adapter.root(root, file)
}

/// Asks until the answers no longer change: a server asked directly does not say when it has read everything.
fn settle(direct: &mut Direct, asked: &[Asked], language: &str, limit: Duration) -> Result<()> {
    const QUIET: usize = 3;
    let began = Instant::now();
    let mut before = Vec::new();
    let mut same = 0;
    while same < QUIET && began.elapsed() < limit {
        let mut now = Vec::new();
        for asked in asked.iter().take(3) {
            // One that is not ready may refuse.
            now.push(direct.references(&asked.at, language).unwrap_or_default());
        }
        same = if now == before && now.iter().any(|places| !places.is_empty()) {
            same + 1
        } else {
            0
        };
        before = now;
        std::thread::sleep(Duration::from_secs(2));
    }
    Ok(())
}

/// The server asked directly; where its answer is not Lacon's, also a second one that is started only then.
struct Twice<'a> {
    root: &'a Path,
    start: &'a dyn Fn() -> Result<Direct>,
    first: Direct,
    second: Option<Direct>,
}

impl<'a> Twice<'a> {
    fn new(root: &'a Path, start: &'a dyn Fn() -> Result<Direct>) -> Result<Twice<'a>> {
        Ok(Twice {
            root,
            start,
            first: start()?,
            second: None,
        })
    }

    fn second(&mut self) -> Result<&mut Direct> {
        if self.second.is_none() {
            self.second = Some((self.start)()?);
        }
        self.second.as_mut().context("it was just started")
    }
}

impl Equality {
    /// Compares one answer; where it differs, the server is asked once more a little later, and then another one of its kind.
    fn compare(
        &mut self,
        of: &str,
        answer: &Answer,
        twice: &mut Twice<'_>,
        ask: impl Fn(&mut Direct) -> Result<BTreeSet<Spot>>,
    ) -> Result<()> {
        self.asked += 1;
        if answer.tier != "lsp" {
            self.by_graph += 1;
        }
        let mut own = ask(&mut twice.first)?;
        if own != answer.places {
            std::thread::sleep(Duration::from_secs(2));
            own = ask(&mut twice.first)?;
        }
        if own == answer.places && answer.tier == "lsp" {
            self.equal += 1;
            return Ok(());
        }
        let inside = |places: &BTreeSet<Spot>| -> BTreeSet<Spot> {
            let inside = places.iter().filter(|spot| spot.0.starts_with(twice.root));
            inside.cloned().collect()
        };
        let same_inside = answer.tier == "lsp" && inside(&own) == inside(&answer.places);
        let mut note = answer.note.clone();
        if same_inside {
            let other = ask(twice.second()?)?;
            if other != own {
                self.unsettled += 1;
                note = format!(
                    "the server itself says {} places at one start and {} at the next, the same ones in the tree",
                    own.len(),
                    other.len()
                );
            }
        }
        let name = |spot: &Spot| format!("{}:{}:{}", spot.0.display(), spot.1 + 1, spot.2 + 1);
        self.differences.push(Difference {
            of: of.to_string(),
            only_lacon: answer.places.difference(&own).take(5).map(name).collect(),
            only_server: own.difference(&answer.places).take(5).map(name).collect(),
            note,
        });
        Ok(())
    }
}

fn tier(value: &Value) -> String {
    value["tier"].as_str().unwrap_or("none").to_string()
}

fn mentions(root: &Path, value: &Value) -> Answer {
    let mut places = BTreeSet::new();
    for row in value["references"].as_array().into_iter().flatten() {
        for at in row["at"].as_array().into_iter().flatten() {
            let of = format!(
                "{}:{}",
                row["path"].as_str().unwrap_or_default(),
                at.as_str().unwrap_or_default()
            );
            places.extend(spot_of(root, &of));
        }
    }
    answer(value, places)
}

fn targets(root: &Path, value: &Value) -> Answer {
    let mut places = BTreeSet::new();
    for row in value["places"].as_array().into_iter().flatten() {
        let of = format!(
            "{}:{}:{}",
            row["path"].as_str().unwrap_or_default(),
            row["line"],
            row["column"]
        );
        places.extend(spot_of(root, &of));
    }
    answer(value, places)
}

fn answer(value: &Value, places: BTreeSet<Spot>) -> Answer {
    Answer {
        tier: tier(value),
        note: value["note"].as_str().unwrap_or_default().to_string(),
        places,
    }
}

/// `path:line:column` as Lacon says it, in the protocol's units.
fn spot_of(root: &Path, of: &str) -> Option<Spot> {
    let (rest, column) = of.rsplit_once(':')?;
    let (path, line) = rest.rsplit_once(':')?;
    let (line, column): (u64, u32) = (line.parse().ok()?, column.parse().ok()?);
    let path = root.join(path);
    if !path.starts_with(root) {
        // There, columns are the server's own.
        return Some((path, line - 1, u64::from(column) - 1));
    }
    let written = std::fs::read_to_string(&path).ok()?;
    let written = written.split('\n').nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let bytes = Encoding::Utf32.to_bytes(written, column.checked_sub(1)?);
    Some((path, line - 1, u64::from(Encoding::Utf16.from_bytes(written, bytes))))
}

/// A place of the protocol as Lacon is asked about it.
fn pointer(root: &Path, (path, line, column): &Spot) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let written = text.split('\n').nth(*line as usize).unwrap_or_default();
    let bytes = Encoding::Utf16.to_bytes(written, *column as u32);
    let inner = path.strip_prefix(root).unwrap_or(path);
    json!({"path": inner, "line": line + 1, "column": Encoding::Utf32.from_bytes(written, bytes) + 1, "format": "json"})
}

fn shown(root: &Path, (path, line, column): &Spot) -> String {
    let inner = path.strip_prefix(root).unwrap_or(path);
    format!("{}:{}:{}", inner.display(), line + 1, column + 1)
}

/// The tools with a promise about their tokens, each asked twice.
fn weigh(client: &mut Client, ids: &[String], waiting: &impl Fn(Value) -> Value) -> Result<Vec<Tokens>> {
    let symbols = |member: &str| -> Vec<Value> { ids.iter().map(|id| json!({member: id})).collect() };
    let files: BTreeSet<&str> = ids.iter().filter_map(|id| Some(id.split_once("::")?.0)).collect();
    let of_files = |more: Value| -> Vec<Value> {
        let with = |path: &&str| {
            let mut question = more.clone();
            question["path"] = (*path).into();
            question
        };
        files.iter().map(with).collect()
    };
    let targets = ids
        .iter()
        .map(|id| json!({"symbols": [id], "max_tokens": u32::MAX}))
        .collect();
    let questions = [
        ("list_symbols", of_files(json!({}))),
        ("find_references", symbols("symbol")),
        ("blast_radius", targets),
        ("get_diagnostics", of_files(json!({"severity": "hint"}))),
        ("explore_symbol", symbols("symbol")),
    ];
    let mut weighed = Vec::new();
    for (tool, calls) in questions {
        let (mut answers, mut sent, mut json_sum) = (0, 0, 0);
        let mut worst = (f64::INFINITY, String::new());
        for call in calls {
            let mut ask = |format: &str| -> Result<Option<(String, usize)>> {
                let mut question = if tool == "blast_radius" {
                    call.clone()
                } else {
                    waiting(call.clone())
                };
                question["format"] = format.into();
                let (said, is_refusal) = text(&client.call(tool, &question)?.result);
                let count = Tokenizer::O200k.count(&said);
                Ok((!is_refusal).then_some((said, count)))
            };
            // What a first answer teaches the graph may change the second.
            ask("auto")?;
            let (Some((_, auto)), Some((said, json))) = (ask("auto")?, ask("json")?) else {
                continue;
            };
            // A file without findings says nothing about how findings are said.
            let value: Value = serde_json::from_str(&said).unwrap_or_default();
            if tool == "get_diagnostics" && value["total"] == 0 {
                continue;
            }
            answers += 1;
            sent += auto;
            json_sum += json;
            let saved = 1.0 - auto as f64 / json.max(1) as f64;
            if saved < worst.0 {
                worst = (saved, call.to_string());
            }
        }
        weighed.push(Tokens {
            tool,
            answers,
            sent,
            json: json_sum,
            saved: (answers > 0).then(|| 1.0 - sent as f64 / json_sum.max(1) as f64),
            worst_saved: (answers > 0).then_some(worst.0),
            worst: worst.1,
        });
    }
    Ok(weighed)
}

fn said(measured: &Measured) -> String {
    let mut text = format!(
        "{}: {} by {}, {} symbols\n\
         cold, first question of a process: p50 {:.1} ms, p99 {:.1} ms, from its start p50 {:.1} ms; later p50 {:.1} ms, p99 {:.1} ms ({})\n\
         ready after {:.1} s, warm p50 {:.0} ms, p99 {:.0} ms, resident {} MB\n",
        measured.root,
        measured.language,
        measured.server,
        measured.symbols,
        measured.cold.first_milliseconds.p50,
        measured.cold.first_milliseconds.p99,
        measured.cold.from_start_milliseconds.p50,
        measured.cold.later_milliseconds.p50,
        measured.cold.later_milliseconds.p99,
        measured.cold.tiers.join(", "),
        measured.ready_seconds,
        measured.warm_milliseconds.p50,
        measured.warm_milliseconds.p99,
        measured.resident_bytes >> 20,
    );
    for (name, equality) in [
        ("references", &measured.references),
        ("definitions", &measured.definitions),
    ] {
        text.push_str(&format!(
            "{name} equal to the server's own: {} of {} ({} answered by the graph, {} where the server contradicts itself)\n",
            equality.equal, equality.asked, equality.by_graph, equality.unsettled
        ));
        for difference in &equality.differences {
            text.push_str(&format!(
                "  {}: only through Lacon {:?}, only directly {:?} {}\n",
                difference.of, difference.only_lacon, difference.only_server, difference.note
            ));
        }
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["tool", "answers", "tokens", "as JSON", "saved", "least saved"]);
    let percent = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{:.1} %", share * 100.0));
    for row in &measured.tokens {
        table.add_row([
            row.tool.to_string(),
            row.answers.to_string(),
            row.sent.to_string(),
            row.json.to_string(),
            percent(row.saved),
            percent(row.worst_saved),
        ]);
    }
    for column in 1..6 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{text}{table}\n")
}
