//! `lacon bench accuracy`: call edges against a real language server, per origin.
//!
//! Random functions and methods are put to the server ("who calls this?"); its call sites are the truth, ours are compared
//! with them both ways. The sample depends on the seed and the symbols' names alone.
//!
//! A server names the declaration that a call refers to; we also name the overrides that it may run, and what a variable holds that
//! is called. Precision is therefore told three times: as the server sees it, with a call of what a symbol overrides counted as
//! right, and that again without the calls of which the server names no function ([`Refers::Silent`]). The latter two ask the
//! server what is meant at up to [`MAX_DISPATCHED`] of the places that only we know.
//!
//! `--calls` asks the other way round, from random calls to what they mean ([`places`]): for servers whose call hierarchies leave calls out.
//!
//! Where no server knows a language well, a compiler's own knowledge can be given as a file instead ([`truth`]).

mod places;
pub(super) mod server;
mod tree;
mod truth;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use index::model::{EdgeKind, FileId, Origin, ResolvedFile, SymbolRef, Target};
use index::tree::Tree;
use serde::Serialize;
use syntax::facts::{DefinitionId, Flags, Kind, Role};
use terminal::failure::Failure;
use terminal::output::Output;

use self::server::Server;
use self::tree::MemoryTree;

/// Compare call edges with what a language server says, for random functions and methods
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    lacon bench accuracy django --language python\n  \
    lacon bench accuracy . --language go --symbols 200 --server gopls --misses\n  \
    lacon bench accuracy . --language java --calls 400 --settle 120 --misses\n  \
    lacon bench accuracy . --language go --mentions 400\n  \
    lacon bench accuracy . --language csharp --truth calls.jsonl\n\n\
    A truth has one call a line: the lines of a statement, then a line of what it calls and its name.\n  \
    {\"path\":\"a.cs\",\"line\":10,\"end_line\":12,\"to_path\":\"b.cs\",\"to_line\":30,\"to_name\":\"Find\"}\n\
    What is left out is not compared; a call without `to_` goes outside. Other lines are not judged.\n\
    With a `column`, only the call of the name there is judged; docs/guide/accuracy.md has more.")]
pub(crate) struct Args {
    /// The project
    directory: PathBuf,
    /// The language whose files are compared
    #[arg(long)]
    language: String,
    /// How many functions and how many methods are asked about
    #[arg(long, default_value_t = 60)]
    symbols: usize,
    /// Ask what this many random calls mean, instead of who calls random symbols
    #[arg(long, value_name = "N", group = "places", conflicts_with_all = ["truth", "references", "symbols"])]
    calls: Option<usize>,
    /// Ask what this many random mentions mean that are no calls: what is read, written, named as a type, inherited from, decorated with
    #[arg(long, value_name = "N", group = "places", conflicts_with_all = ["truth", "references", "symbols"])]
    mentions: Option<usize>,
    /// Keep what the server says of calls or mentions in this file, and ask only about those that it does not have
    #[arg(long, value_name = "FILE", requires = "places")]
    answers: Option<PathBuf>,
    /// Another seed asks about other symbols and calls
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The server's command line instead of the usual one
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,
    /// Compare with the calls in this file instead of what a server says
    #[arg(long, value_name = "FILE", conflicts_with_all = ["server", "references"])]
    truth: Option<PathBuf>,
    /// Ask only about symbols and calls below this directory of the project; of a truth, judge only the calls from there
    #[arg(long, value_name = "PATH", default_value = "")]
    below: String,
    /// Take the server's references that are calls as the truth, for servers whose call hierarchy leaves calls out
    #[arg(long)]
    references: bool,
    /// Seconds that the server gets to find its files; answers given before that leave calls out
    #[arg(long, default_value_t = 30)]
    settle: u64,
    /// Seconds to wait for one answer
    #[arg(long, default_value_t = 120)]
    patience: u64,
    /// List every call that only one side knows
    #[arg(long)]
    misses: bool,
    /// Print the scores as JSON
    #[arg(long)]
    json: bool,
}

/// Most places at which the server is asked what a call of ours refers to.
const MAX_DISPATCHED: usize = 300;

/// A call site: file and 1-based line.
type Site = (String, u32);

/// Hits and misses of one group of edges.
#[derive(Default, Serialize)]
struct Score {
    symbols: usize,
    truth: usize,
    found: usize,
    agreed: usize,
    /// Calls of what the symbol overrides, by what the server says of them.
    overrides: usize,
    /// Calls of which only we know and that the server was not asked about any more.
    unasked: usize,
    /// Calls of which only we know and of which the server names no function at all.
    silent: usize,
}

impl Score {
    fn precision(&self) -> String {
        let asked = self.found - self.unasked;
        let right = self.agreed + self.overrides;
        format!(
            "precision {:.3} ({}/{}), with overrides {:.3} ({right}/{asked}), where a function is named {:.3} ({right}/{})",
            ratio(self.agreed, self.found),
            self.agreed,
            self.found,
            ratio(right, asked),
            ratio(right, asked - self.silent),
            asked - self.silent,
        )
    }
}

#[derive(Serialize)]
struct Report {
    files: usize,
    resolve_seconds: f64,
    symbols_asked: usize,
    symbols_unknown_to_server: usize,
    functions: Score,
    methods: Score,
    by_origin: BTreeMap<&'static str, Score>,
    precision: f64,
    recall: f64,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let root = args
        .directory
        .canonicalize()
        .with_context(|| format!("no directory `{}`", args.directory.display()))?;
    let (languages, usual) = family(&args.language)?;
    let command: Vec<String> = match &args.server {
        Some(command) => command.split_whitespace().map(str::to_string).collect(),
        None => usual.iter().map(|part| (*part).to_string()).collect(),
    };
    let tree = MemoryTree::read(&root, languages)?;
    let started = Instant::now();
    let resolved = tree.resolve();
    let resolve_seconds = started.elapsed().as_secs_f64();
    let (callers, overridden) = gather(&tree, &resolved);
    if let Some(file) = &args.truth {
        let shown = truth::Shown {
            misses: args.misses,
            json: args.json,
            below: &args.below,
        };
        return truth::compare(file, &tree, &resolved, &overridden, &shown, output);
    }
    let places = match (args.calls, args.mentions) {
        (Some(count), _) => Some((count, places::What::Calls)),
        (None, Some(count)) => Some((count, places::What::Mentions)),
        (None, None) => None,
    };
    if let Some((count, what)) = places {
        let plan = places::Plan {
            count,
            what,
            seed: args.seed,
            below: &args.below,
            command: &command,
            settle: Duration::from_secs(args.settle),
            patience: Duration::from_secs(args.patience),
            answers: args.answers.as_ref(),
            misses: args.misses,
            json: args.json,
        };
        return places::compare(&plan, &root, &tree, &resolved, &overridden, output);
    }
    let mut comparison = Comparison {
        tree: &tree,
        root: &root,
        callers,
        overridden,
        dispatched: 0,
        misses: String::new(),
        report: Report::new(&tree),
    };
    comparison.report.resolve_seconds = resolve_seconds;
    let mut server = Server::start(&command, &root)?;
    server.settle(Duration::from_secs(args.settle))?;
    for (methods, kinds) in [(false, &[Kind::Function][..]), (true, &[Kind::Method][..])] {
        for symbol in sample(&tree, kinds, &args) {
            comparison.ask(&mut server, symbol, methods, &args)?;
        }
    }
    drop(server);
    comparison.finish(&args, output)
}

/// By symbol: where it is called, how that is known, and the column of the call.
type Calls = BTreeMap<SymbolRef, BTreeMap<Site, (Origin, u32)>>;

/// By symbol: what it overrides.
type Overridden = BTreeMap<SymbolRef, Vec<SymbolRef>>;

/// The calls and the overrides among the edges of all files.
fn gather(tree: &MemoryTree, resolved: &[ResolvedFile]) -> (Calls, Overridden) {
    let (mut callers, mut overridden) = (Calls::new(), Overridden::new());
    for (file, resolved) in resolved.iter().enumerate() {
        let path = tree.path(FileId(file as u32));
        for edge in &resolved.edges {
            if let (EdgeKind::Overrides, Target::Symbol(symbol)) = (edge.kind, &edge.to) {
                let from = SymbolRef {
                    file: FileId(file as u32),
                    definition: edge.from,
                };
                overridden.entry(from).or_default().push(*symbol);
            }
            if let (EdgeKind::Calls | EdgeKind::Instantiates, Target::Symbol(symbol)) = (edge.kind, &edge.to) {
                let sites = callers.entry(*symbol).or_default();
                let site = (path.to_string(), edge.at.line);
                let known = sites.entry(site).or_insert((edge.origin, edge.at.column));
                *known = (*known).min((edge.origin, edge.at.column));
            }
        }
    }
    (callers, overridden)
}

/// Everything that `symbol` overrides, through all levels.
fn above(overridden: &Overridden, symbol: SymbolRef) -> Vec<SymbolRef> {
    let mut above = overridden.get(&symbol).cloned().unwrap_or_default();
    let mut next = 0;
    while let Some(&one) = above.get(next) {
        next += 1;
        let higher = overridden.get(&one).into_iter().flatten();
        let news: Vec<SymbolRef> = higher.filter(|symbol| !above.contains(symbol)).copied().collect();
        above.extend(news);
    }
    above
}

/// The languages that are compared together, and the server that knows them.
pub(super) fn family(language: &str) -> anyhow::Result<(&'static [&'static str], &'static [&'static str])> {
    Ok(match language {
        "python" => (&["python"], &["basedpyright-langserver", "--stdio"]),
        "javascript" | "typescript" | "tsx" => (
            &["javascript", "typescript", "tsx"],
            &["typescript-language-server", "--stdio"],
        ),
        "go" => (&["go"], &["gopls"]),
        "rust" => (&["rust"], &["rust-analyzer"]),
        "java" => (&["java"], &["jdtls"]),
        "c" | "cpp" => (&["c", "cpp"], &["clangd", "--background-index"]),
        "csharp" => (&["csharp"], &["csharp-ls"]),
        "php" => (&["php"], &["intelephense", "--stdio"]),
        "ruby" => (&["ruby"], &["ruby-lsp"]),
        "kotlin" => (&["kotlin"], &["kotlin-language-server"]),
        other => bail!("no language server is known for `{other}`; see --help for the languages"),
    })
}

/// `args.symbols` definitions of the given kinds, in an order that depends on names and seed alone.
fn sample(tree: &MemoryTree, kinds: &[Kind], args: &Args) -> Vec<SymbolRef> {
    let mut ranked = Vec::new();
    for file in 0..tree.file_count() as u32 {
        let file = FileId(file);
        if !tree.path(file).starts_with(&args.below) {
            continue;
        }
        let facts = tree.facts(file);
        for (id, definition) in facts.definitions.iter().enumerate() {
            let plain = !definition.flags.contains(Flags::TEST) && !definition.flags.contains(Flags::DECLARATION);
            if kinds.contains(&definition.kind) && plain {
                let name = format!("{} {} {} {id}", args.seed, tree.path(file), facts.text(definition.name));
                let symbol = SymbolRef {
                    file,
                    definition: Some(DefinitionId(id as u32)),
                };
                ranked.push((rank(name.as_bytes()), symbol));
            }
        }
    }
    ranked.sort_unstable();
    ranked
        .into_iter()
        .take(args.symbols)
        .map(|(_, symbol)| symbol)
        .collect()
}

/// FNV-1a with a final mix: any spread will do, as long as it is the same everywhere.
pub(super) fn rank(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

struct Comparison<'a> {
    tree: &'a MemoryTree,
    root: &'a Path,
    callers: Calls,
    overridden: Overridden,
    /// How many places the server was asked about.
    dispatched: usize,
    misses: String,
    report: Report,
}

impl Report {
    fn new(tree: &MemoryTree) -> Report {
        Report {
            files: tree.file_count(),
            resolve_seconds: 0.0,
            symbols_asked: 0,
            symbols_unknown_to_server: 0,
            functions: Score::default(),
            methods: Score::default(),
            by_origin: BTreeMap::new(),
            precision: 0.0,
            recall: 0.0,
        }
    }
}

impl Comparison<'_> {
    fn ask(&mut self, server: &mut Server, symbol: SymbolRef, method: bool, args: &Args) -> anyhow::Result<()> {
        let facts = self.tree.facts(symbol.file);
        let Some(id) = symbol.definition else { return Ok(()) };
        let definition = facts.definition(id);
        let path = self.tree.path(symbol.file);
        let name = format!("{path}::{}", facts.text(definition.name));
        let absolute = self.root.join(path);
        let language = self.tree.language(symbol.file);
        server.open(&absolute, language, self.tree.text(symbol.file))?;
        let at = definition.name_at;
        let patience = Duration::from_secs(args.patience);
        let column = server::column_in_units(self.tree.text(symbol.file), at.line - 1, at.column);
        let answer = if args.references {
            server.references(&absolute, at.line - 1, column, patience)
        } else {
            server.incoming_calls(&absolute, at.line - 1, column, patience)
        };
        server.close(&absolute)?;
        self.report.symbols_asked += 1;
        let sites = match answer {
            Ok(Some(sites)) => sites,
            Ok(None) => {
                self.report.symbols_unknown_to_server += 1;
                return Ok(());
            }
            Err(error) => {
                writeln!(self.misses, "no answer  {name}: {error}")?;
                self.report.symbols_unknown_to_server += 1;
                return Ok(());
            }
        };
        let mut truth: BTreeSet<Site> = BTreeSet::new();
        for site in sites {
            // Calls from files that were not read (stubs, other languages, skipped directories) are nobody's.
            if let Ok(relative) = Path::new(&site.path).strip_prefix(self.root)
                && let Some(relative) = relative.to_str()
                && let Some(file) = self.tree.find(relative)
                && (!args.references || self.is_call(file, site.line + 1, site.column))
            {
                truth.insert((relative.to_string(), site.line + 1));
            }
        }
        let found = self.callers.get(&symbol).cloned().unwrap_or_default();
        let score = if method {
            &mut self.report.methods
        } else {
            &mut self.report.functions
        };
        score.symbols += 1;
        score.truth += truth.len();
        score.found += found.len();
        score.agreed += found.keys().filter(|site| truth.contains(*site)).count();
        for (site, &(origin, column)) in &found {
            let agreed = truth.contains(site);
            let refers = if agreed {
                Refers::ToIt
            } else {
                self.refers(server, symbol, site, column, patience)?
            };
            let tier = self.report.by_origin.entry(origin_name(origin)).or_default();
            tier.found += 1;
            tier.agreed += usize::from(agreed);
            tier.overrides += usize::from(refers == Refers::ToOverridden);
            tier.unasked += usize::from(refers == Refers::Unasked);
            tier.silent += usize::from(refers == Refers::Silent);
            if !agreed {
                let note = match refers {
                    Refers::ToOverridden => ", overrides",
                    Refers::Silent => ", the server names no function",
                    _ => "",
                };
                let (path, line, origin) = (&site.0, site.1, origin_name(origin));
                writeln!(self.misses, "only ours   {name} <- {path}:{line} ({origin}{note})")?;
            }
        }
        for site in truth.iter().filter(|site| !found.contains_key(*site)) {
            writeln!(self.misses, "only theirs {name} <- {}:{}", site.0, site.1)?;
        }
        Ok(())
    }

    /// What the server says that a call of ours refers to.
    fn refers(
        &mut self,
        server: &mut Server,
        symbol: SymbolRef,
        site: &Site,
        column: u32,
        patience: Duration,
    ) -> anyhow::Result<Refers> {
        if self.dispatched >= MAX_DISPATCHED {
            return Ok(Refers::Unasked);
        }
        self.dispatched += 1;
        let Some(file) = self.tree.find(&site.0) else {
            return Ok(Refers::Elsewhere);
        };
        let absolute = self.root.join(&site.0);
        server.open(&absolute, self.tree.language(file), self.tree.text(file))?;
        let units = server::column_in_units(self.tree.text(file), site.1 - 1, column);
        let targets = server.definitions(&absolute, site.1 - 1, units, patience);
        server.close(&absolute)?;
        let above = above(&self.overridden, symbol);
        let is_above = |target: &server::CallSite| {
            above.iter().any(|&symbol| {
                let defined = symbol
                    .definition
                    .map(|id| self.tree.facts(symbol.file).definition(id).name_at);
                let path = self.root.join(self.tree.path(symbol.file));
                path == Path::new(&target.path) && defined.is_some_and(|at| at.line == target.line + 1)
            })
        };
        let targets = targets.unwrap_or_default();
        if targets.iter().any(is_above) {
            return Ok(Refers::ToOverridden);
        }
        let written = word_at(self.tree.text(file), site.1 - 1, column);
        let named = targets.iter().any(|target| self.names_function(target, written));
        let facts = self.tree.facts(symbol.file);
        let follows = symbol.definition.is_some_and(|id| {
            let definition = facts.definition(id);
            definition.kind != Kind::Constructor && facts.text(definition.name) != written
        });
        Ok(if named && !follows {
            Refers::Elsewhere
        } else {
            Refers::Silent
        })
    }

    /// Whether a place that the server names is a function or a type called `written`. Of a name that it cannot place, a server
    /// may name the call around it, and of a variable where that is assigned.
    fn names_function(&self, target: &server::CallSite, written: &str) -> bool {
        // What a server takes out of an archive has an address of its own.
        if target.path.contains("://") {
            return true;
        }
        let relative = Path::new(&target.path).strip_prefix(self.root).ok();
        let Some(file) = relative.and_then(|path| self.tree.find(path.to_str()?)) else {
            let text = std::fs::read_to_string(&target.path).unwrap_or_default();
            return word_at(&text, target.line, target.column) == written;
        };
        let variables = [Kind::Variable, Kind::Constant, Kind::Field, Kind::Property];
        let facts = self.tree.facts(file);
        facts.definitions.iter().any(|definition| {
            definition.name_at.line == target.line + 1
                && facts.text(definition.name) == written
                && !variables.contains(&definition.kind)
        })
    }

    /// Whether something is called at the position.
    fn is_call(&self, file: FileId, line: u32, column: u32) -> bool {
        let column = server::column_in_bytes(self.tree.text(file), line - 1, column);
        self.tree.facts(file).references.iter().any(|reference| {
            (reference.at.line, reference.at.column) == (line, column)
                && matches!(reference.role, Role::Call | Role::Instantiate | Role::Macro)
        })
    }

    fn finish(mut self, args: &Args, output: &mut Output) -> Result<(), Failure> {
        let (functions, methods) = (&self.report.functions, &self.report.methods);
        self.report.precision = ratio(functions.agreed + methods.agreed, functions.found + methods.found);
        self.report.recall = ratio(functions.agreed + methods.agreed, functions.truth + methods.truth);
        if args.misses {
            output.text(&self.misses);
        }
        if args.json {
            return output.json(&self.report);
        }
        let report = &self.report;
        output.line(format!(
            "{} files, resolved in {:.2} s; {} symbols asked, {} unknown to the server",
            report.files, report.resolve_seconds, report.symbols_asked, report.symbols_unknown_to_server
        ));
        for (name, score) in [("functions", &report.functions), ("methods", &report.methods)] {
            output.line(format!(
                "{name:<14} precision {:.3} ({}/{})  recall {:.3} ({}/{})",
                ratio(score.agreed, score.found),
                score.agreed,
                score.found,
                ratio(score.agreed, score.truth),
                score.agreed,
                score.truth
            ));
        }
        for (name, score) in &report.by_origin {
            output.line(format!("{name:<14} {}", score.precision()));
        }
        output.line(format!(
            "all            precision {:.3}  recall {:.3}",
            report.precision, report.recall
        ));
        Ok(())
    }
}

/// What a call that we know of refers to, by the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refers {
    ToIt,
    /// To something that the symbol overrides.
    ToOverridden,
    Elsewhere,
    /// The server says nothing of it, names a variable, or names what is written there while we name what that holds.
    Silent,
    /// The server was asked often enough.
    Unasked,
}

/// The word that begins at a 0-based line and column.
fn word_at(text: &str, line: u32, column: u32) -> &str {
    let line = text.lines().nth(line as usize).unwrap_or_default();
    let rest = line.get(column as usize..).unwrap_or_default();
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
        .unwrap_or(rest.len());
    &rest[..end]
}

/// A symbol by its file, line and name.
fn shown(symbol: SymbolRef, tree: &MemoryTree) -> String {
    let facts = tree.facts(symbol.file);
    let path = tree.path(symbol.file);
    match symbol.definition.map(|id| facts.definition(id)) {
        Some(definition) => format!("{path}:{}::{}", definition.name_at.line, facts.text(definition.name)),
        None => path.to_string(),
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::LspResolved => "lsp_resolved",
        Origin::LspDispatch => "lsp_dispatch",
        Origin::AstResolved => "ast_resolved",
        Origin::AstInferred => "ast_inferred",
        Origin::TextMatched => "text_matched",
    }
}
