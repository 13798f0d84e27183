//! `lacon bench blast`: does a change's blast radius hold every direct caller that a language server knows? Random functions and
//! methods are put to both, and every caller that the blast radius lacks is listed with what the graph knows of the symbol.
//!
//! The truth is the server's references that are calls: followed by an opening bracket, type arguments aside. A call counts for the
//! smallest function, method or type around it, or for the file. The other way round, what the blast radius holds one use away is
//! right where the server has any reference in it; what is not is listed too, and counted by the origin of its surest edge.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use codeintel::Workspace;
use codeintel::context::{BlastRadius, Room, blast_radius};
use index::model::{EdgeKind, Origin};
use index::snapshot::{EdgeKinds, Snapshot, SymbolId, SymbolView};
use serde::Serialize;
use syntax::facts::{Flags, Kind};
use terminal::failure::Failure;
use terminal::output::Output;

use super::accuracy::server::Server;
use super::accuracy::{family, rank};
use super::context::{Scratch, indexed};

/// Compare blast radiuses with the callers that a language server knows
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench blast ~/src/celery --language python
  lacon bench blast ~/src/gin --language go --symbols 200 --json

The tree is indexed apart from its own index. Functions and methods that nothing calls are passed over.")]
pub(crate) struct Args {
    /// The project
    #[arg(value_name = "DIR")]
    root: PathBuf,

    /// The language whose functions and methods are asked about
    #[arg(long)]
    language: String,

    /// How many that are called
    #[arg(long, value_name = "N", default_value_t = 60)]
    symbols: usize,

    /// Another seed asks about other symbols
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// The server's command line instead of the usual one
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,

    /// Seconds that the server gets to find its files; answers given before that leave calls out
    #[arg(long, value_name = "N", default_value_t = 30)]
    settle: u64,

    /// Seconds to wait for one answer
    #[arg(long, value_name = "N", default_value_t = 120)]
    patience: u64,

    /// Keep the index of the tree here, to use it again
    #[arg(long, value_name = "DIR")]
    keep_index: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Edges that are calls.
const CALLS: [EdgeKind; 2] = [EdgeKind::Calls, EdgeKind::Instantiates];

/// So many refusals mean that the server does not work.
const MOST_UNANSWERED: usize = 100;

/// Direct callers that the server knows, and how many of them the blast radius has.
#[derive(Default, Serialize)]
struct Score {
    symbols: usize,
    callers: usize,
    found: usize,
    recall: f64,
}

/// A caller that the blast radius lacks.
#[derive(Serialize)]
struct Miss {
    symbol: String,
    caller: String,
    at: String,
    /// The origins of the calls of the symbol that the graph has; nothing where it has none.
    tiers: Vec<&'static str>,
    resolved: bool,
}

/// What the blast radius has one use away by one origin, and how much of it has a reference that the server knows.
#[derive(Default, Serialize)]
struct Precision {
    reached: usize,
    right: usize,
    precision: f64,
}

/// What the blast radius has one use away and the server knows no reference in.
#[derive(Serialize)]
struct Extra {
    symbol: String,
    reached: String,
    /// The surest edge between the two, `dispatch` where none is and another method stands between them.
    tier: &'static str,
}

#[derive(Default, Serialize)]
struct Report {
    all: Score,
    /// Symbols all of whose calls in the graph are resolved.
    resolved: Score,
    /// Symbols that the server refused to answer about.
    unanswered: usize,
    misses: Vec<Miss>,
    precision: BTreeMap<&'static str, Precision>,
    extras: Vec<Extra>,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let root = args
        .root
        .canonicalize()
        .with_context(|| format!("no directory `{}`", args.root.display()))?;
    let (languages, usual) = family(&args.language)?;
    let command: Vec<String> = match &args.server {
        Some(command) => command.split_whitespace().map(str::to_string).collect(),
        None => usual.iter().map(|part| (*part).to_string()).collect(),
    };
    let scratch = Scratch::new()?;
    let index = args.keep_index.clone().unwrap_or_else(|| scratch.path("index"));
    let workspace = indexed(&root, &index)?;
    let snapshot = &workspace.repositories()[0].snapshot;
    let asked = candidates(snapshot, languages, args.seed);
    if asked.is_empty() {
        return Err(anyhow!("no function or method of this language in `{}`", root.display()).into());
    }
    let mut bench = Bench {
        server: Server::start(&command, &root)?,
        patience: Duration::from_secs(args.patience),
        language: args.language.clone(),
        workspace: &workspace,
        root: &root,
        texts: HashMap::new(),
        opened: BTreeSet::new(),
        report: Report::default(),
    };
    // Some servers read a project only when a file of it is open.
    bench.open(asked[0].path())?;
    bench.server.settle(Duration::from_secs(args.settle))?;
    for symbol in asked {
        if bench.report.all.symbols >= args.symbols {
            break;
        }
        bench.ask(symbol)?;
    }
    let mut report = bench.report;
    for score in [&mut report.all, &mut report.resolved] {
        score.recall = score.found as f64 / score.callers.max(1) as f64;
    }
    for part in report.precision.values_mut() {
        part.precision = part.right as f64 / part.reached.max(1) as f64;
    }
    if args.json {
        return output.json(&report);
    }
    for extra in &report.extras {
        output.line(format!(
            "no reference ({}): {} <- {}",
            extra.tier, extra.symbol, extra.reached
        ));
    }
    for miss in &report.misses {
        let tiers = match miss.tiers.is_empty() {
            true => "no call in the graph".to_string(),
            false => miss.tiers.join(", "),
        };
        output.line(format!(
            "miss ({tiers}): {} <- {} {}",
            miss.symbol, miss.caller, miss.at
        ));
    }
    for (name, score) in [("all", &report.all), ("where the tier is resolved", &report.resolved)] {
        output.line(format!(
            "{name}: {} of {} direct callers of {} symbols, {:.3}",
            score.found, score.callers, score.symbols, score.recall
        ));
    }
    for (tier, part) in &report.precision {
        output.line(format!(
            "by {tier}: {} of {} one use away have a reference, {:.3}",
            part.right, part.reached, part.precision
        ));
    }
    if report.unanswered > 0 {
        output.line(format!("the server gave no answer about {} more", report.unanswered));
    }
    Ok(())
}

/// Functions and methods with bodies, outside of tests, in an order that the seed and their ids decide.
fn candidates<'a>(snapshot: &'a Snapshot, languages: &[&str], seed: u64) -> Vec<SymbolView<'a>> {
    let is_asked = |symbol: &SymbolView<'_>| {
        let of_language = symbol.file().is_some_and(|file| languages.contains(&file.language()));
        of_language
            && matches!(symbol.kind(), Kind::Function | Kind::Method)
            && !symbol.flags().contains(Flags::DECLARATION)
            && !codeintel::traverse::is_test_path(symbol.path())
            && !symbol.path().ends_with(".d.ts")
    };
    let mut found: Vec<SymbolView<'a>> = snapshot.symbols().filter(is_asked).collect();
    found.sort_by_cached_key(|symbol| {
        let id = symbol.id_string();
        (rank(format!("{seed} {id}").as_bytes()), id)
    });
    found
}

struct Bench<'a> {
    server: Server,
    patience: Duration,
    language: String,
    workspace: &'a Workspace,
    root: &'a Path,
    texts: HashMap<String, Vec<String>>,
    opened: BTreeSet<String>,
    report: Report,
}

impl Bench<'_> {
    fn lines(&mut self, path: &str) -> Option<&[String]> {
        if !self.texts.contains_key(path) {
            let text = std::fs::read_to_string(self.root.join(path)).ok()?;
            self.texts
                .insert(path.to_string(), text.split('\n').map(str::to_string).collect());
        }
        self.texts.get(path).map(Vec::as_slice)
    }

    fn open(&mut self, path: &str) -> Result<(), Failure> {
        if self.opened.insert(path.to_string()) {
            let text = self
                .lines(path)
                .ok_or_else(|| anyhow!("cannot read `{path}`"))?
                .join("\n");
            let language = match path.rsplit('.').next() {
                Some("tsx") => "typescriptreact",
                Some("jsx") => "javascriptreact",
                _ => self.language.as_str(),
            };
            self.server.open(&self.root.join(path), language, &text)?;
        }
        Ok(())
    }

    /// Asks both about one symbol.
    fn ask(&mut self, symbol: SymbolView<'_>) -> Result<(), Failure> {
        self.open(symbol.path())?;
        let at = symbol.name_at();
        let Some((line, column)) = self.name_of(symbol, at.line, at.column) else {
            return Ok(());
        };
        let path = self.root.join(symbol.path());
        // Of files that no build includes, some servers answer with an error.
        let Ok(Some(sites)) = self.server.references(&path, line, column, self.patience) else {
            self.report.unanswered += 1;
            return match self.report.unanswered > MOST_UNANSWERED {
                true => Err(anyhow!("the server gave no answer for {} symbols", self.report.unanswered).into()),
                false => Ok(()),
            };
        };
        let mut truth: BTreeMap<SymbolId, String> = BTreeMap::new();
        let mut mentions: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for site in sites {
            let Some(path) = Path::new(&site.path)
                .strip_prefix(self.root)
                .ok()
                .and_then(Path::to_str)
                .map(str::to_string)
            else {
                continue;
            };
            let is_definition = path == symbol.path() && site.line == line;
            if !is_definition {
                mentions.entry(path.clone()).or_default().push(site.line + 1);
            }
            if is_definition || !self.is_call(&path, site.line, site.column, symbol.name()) {
                continue;
            }
            let snapshot = &self.workspace.repositories()[0].snapshot;
            if let Some(caller) = around(snapshot, &path, site.line + 1).filter(|caller| *caller != symbol.id()) {
                truth
                    .entry(caller)
                    .or_insert_with(|| format!("{path}:{}", site.line + 1));
            }
        }
        if !truth.is_empty() {
            self.compare(symbol, &truth, &mentions)?;
        }
        Ok(())
    }

    /// Where the name stands, as the server counts.
    fn name_of(&mut self, symbol: SymbolView<'_>, line: u32, column: u32) -> Option<(u32, u32)> {
        let text = self.lines(symbol.path())?.get(line.checked_sub(1)? as usize)?;
        let from = column as usize;
        let place = text.get(from..)?.find(symbol.name()).map(|at| at + from)?;
        Some((line - 1, text[..place].encode_utf16().count() as u32))
    }

    fn is_call(&mut self, path: &str, line: u32, column: u32, name: &str) -> bool {
        let Some(text) = self.lines(path).and_then(|lines| lines.get(line as usize)) else {
            return false;
        };
        let after: Vec<u16> = text.encode_utf16().skip(column as usize).collect();
        let after = String::from_utf16_lossy(&after);
        let Some(rest) = after.strip_prefix(name).map(str::trim_start) else {
            return false;
        };
        let after_arguments = |open: char, close: char| {
            let inner = rest.strip_prefix(open)?;
            inner.split_once(close).map(|(_, rest)| rest.trim_start())
        };
        let rest = after_arguments('<', '>')
            .or_else(|| after_arguments('[', ']'))
            .unwrap_or(rest);
        rest.starts_with('(')
    }

    fn compare(
        &mut self,
        symbol: SymbolView<'_>,
        truth: &BTreeMap<SymbolId, String>,
        mentions: &BTreeMap<String, Vec<u32>>,
    ) -> Result<(), Failure> {
        let snapshot = &self.workspace.repositories()[0].snapshot;
        let ask = BlastRadius {
            symbols: vec![symbol.id_string()],
            depth: Some(1),
            ..BlastRadius::default()
        };
        // Nothing is left out: what is compared is what is found.
        let room = Room {
            budget: usize::MAX / 8,
            measure: &|_| 1,
            base: None,
        };
        let pack = blast_radius(self.workspace, &ask, &room).map_err(|error| anyhow!("{error}"))?;
        let reached: BTreeSet<String> = pack
            .symbols
            .into_iter()
            .filter(|symbol| symbol.distance == 1)
            .map(|symbol| symbol.id)
            .collect();
        for id in &reached {
            let Some(other) = snapshot.find(id) else { continue };
            let (tier, is_right) = (tier_of(snapshot, symbol, other), holds_any(other, mentions));
            let part = self.report.precision.entry(tier).or_default();
            part.reached += 1;
            part.right += usize::from(is_right);
            if !is_right {
                self.report.extras.push(Extra {
                    symbol: symbol.id_string(),
                    reached: id.clone(),
                    tier,
                });
            }
        }
        // A call inside of something nested (a field's initialiser, a lambda) may stand for what is around it.
        let has = |caller: &str| {
            let below = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
            reached.contains(caller) || reached.iter().any(|other| below(other, caller) || below(caller, other))
        };
        let calls = snapshot.incoming(symbol.id(), CALLS.into_iter().collect::<EdgeKinds>());
        let origins: BTreeSet<Origin> = calls.map(|edge| edge.origin).collect();
        let is_sure =
            |origin: &Origin| matches!(origin, Origin::LspResolved | Origin::LspDispatch | Origin::AstResolved);
        let resolved = !origins.is_empty() && origins.iter().all(is_sure);
        let mut found = 0;
        for (caller, at) in truth {
            let Some(caller) = snapshot.symbol(*caller).map(|caller| caller.id_string()) else {
                continue;
            };
            if has(&caller) {
                found += 1;
                continue;
            }
            self.report.misses.push(Miss {
                symbol: symbol.id_string(),
                caller,
                at: at.clone(),
                tiers: origins
                    .iter()
                    .map(|origin| codeintel::kinds::origin_name(*origin))
                    .collect(),
                resolved,
            });
        }
        let scores = [
            Some(&mut self.report.all),
            Some(&mut self.report.resolved).filter(|_| resolved),
        ];
        for score in scores.into_iter().flatten() {
            score.symbols += 1;
            score.callers += truth.len();
            score.found += found;
        }
        Ok(())
    }
}

/// The origin of the surest edge from `user` to a symbol.
fn tier_of(snapshot: &Snapshot, symbol: SymbolView<'_>, user: SymbolView<'_>) -> &'static str {
    let edges = snapshot.incoming(symbol.id(), EdgeKinds::ALL);
    let origins = edges.filter(|edge| edge.from == user.id()).map(|edge| edge.origin);
    origins.min().map_or("dispatch", codeintel::kinds::origin_name)
}

/// Whether any of the lines, by path, is one of the symbol's.
fn holds_any(symbol: SymbolView<'_>, lines: &BTreeMap<String, Vec<u32>>) -> bool {
    let span = symbol.span();
    lines.get(symbol.path()).is_some_and(|lines| {
        symbol.is_file()
            || lines
                .iter()
                .any(|line| (span.start_line..=span.end_line).contains(line))
    })
}

/// The smallest function, method or type around a line, or the file.
fn around(snapshot: &Snapshot, path: &str, line: u32) -> Option<SymbolId> {
    let file = snapshot.find_file(path)?;
    let holds = |symbol: &SymbolView<'_>| {
        let span = symbol.span();
        !symbol.is_file()
            && span.start_line <= line
            && line <= span.end_line
            && !matches!(
                symbol.kind(),
                Kind::Variable | Kind::Constant | Kind::Field | Kind::Property
            )
    };
    let size = |symbol: &SymbolView<'_>| {
        let span = symbol.span();
        (span.end_line - span.start_line, std::cmp::Reverse(span.start_line))
    };
    let inner = file.symbols().filter(holds).min_by_key(size);
    inner.or_else(|| file.symbol()).map(|symbol| symbol.id())
}
